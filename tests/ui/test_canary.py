"""Names in files are data: whatever a model calls its pictures, nothing outside its game folder is opened."""

import dataclasses
import tempfile
from pathlib import Path

import numpy as np
import pytest

from io_idtech_models.assets.load import load
from io_idtech_models.formats import by_name
from io_idtech_models.game.folders import Disk
from tests.samples import PROJECT
from tests.ui.scene import bpy, import_model, png

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
EXAMPLES = {
    "md2": PROJECT / "examples/stilt/players/stilt/tris.md2",
    "md3": PROJECT / "examples/sentinel/sentinel.md3",
    "md5mesh": PROJECT / "examples/newt/models/md5/newt/newt.md5mesh",
    "mdm": PROJECT / "examples/trooper/models/players/toys/trooper/body.mdm",
}


def hostile(canary: Path, game: Path) -> list[str]:
    """Return names that would lead to a picture outside the game folder, if someone followed them."""
    steps = "../" * 12
    return [
        str(canary),
        "/" + str(canary),
        steps + str(canary).lstrip("/"),
        (steps + str(canary).lstrip("/")).replace("/", "\\"),
        f"models/../../{canary.name}",
        f"models/./../..//{canary.name}",
        "file://" + str(canary),
        "C:" + str(canary),
        "\\\\?\\C:\\" + canary.name,
        "\\\\server\\share\\" + canary.name,
        "~/" + canary.name,
        "$HOME/" + canary.name,
        "link/" + canary.name,
        "models/link.png",
        "con",
        "nul.png",
        "aux.tga",
        "a" * 40 + "/" + canary.name,
    ]


@pytest.fixture
def place():
    """Return a folder whose path is short: names in most formats have 63 bytes."""
    with tempfile.TemporaryDirectory(prefix="c") as folder:
        yield Path(folder).resolve()


@pytest.mark.parametrize("name", EXAMPLES)
def test_no_name_leads_out(place, name):
    row, game = by_name(name), place / "game"
    (game / "models").mkdir(parents=True)
    canary = png(place / "canary.png")
    (game / "link").symlink_to(place, target_is_directory=True)
    (game / "models" / "link.png").symlink_to(canary)
    inside = png(game / "models" / "inside.png")
    model = load(Disk().file(EXAMPLES[name])).model
    for index, shader in enumerate([*hostile(canary, game), "models/inside"]):
        path = game / "models" / f"m{index}.{name}"
        path.write_bytes(with_shader(model, shader, row))
        import_model(path)
    found = {Path(bpy.path.abspath(image.filepath)).resolve() for image in bpy.data.images if image.filepath}
    assert found == {inside}, "the one name that is meant is found"


def with_shader(model, shader: str, row) -> bytes:
    """Return a file whose surfaces all wear one shader."""
    if hasattr(model, "meshes"):
        meshes = [dataclasses.replace(mesh, shader=shader) for mesh in model.meshes]
        return bytes(row.dump(dataclasses.replace(model, meshes=meshes)))
    surfaces = [
        dataclasses.replace(s, shaders=[shader], stored_positions=np.array(s.positions)) for s in model.surfaces
    ]
    return bytes(row.dump(dataclasses.replace(model, surfaces=surfaces)))
