"""A .blend of some years ago, opened by the Blender of today: what nobody edited comes back as it was."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import bpy as blender
import pytest

from io_idtech_models.blender.frame_rigs import is_frame_rig
from tests import facts
from tests.blender.case import CONTEXT
from tests.blends.make import KINDS
from tests.samples_player import player_files

bpy: Any = blender  # the stubs make each object's data a union
pytestmark = pytest.mark.usefixtures("empty_scene")
FOLDER = Path(__file__).resolve().parent.parent / "blends"
FIRST = {".md2", ".md3", ".md5mesh", ".mdm"}  # what was there before the first release
MODELS = sorted(p.name for p in FOLDER.iterdir() if p.suffix[1:] in KINDS)
MOTIONS = {"wave.md5anim": "arm", "figure.mdx": "figure"}


def version_of(path: Path) -> tuple[int, ...]:
    """Return the version of the Blender that saved a file."""
    found = re.search(r"(\d+)\.(\d+)\.blend$", path.name)
    assert found is not None
    return tuple(int(part) for part in found.groups())


# Blender opens files of later versions only in part.
FILES = sorted(p.name for p in FOLDER.glob("*.blend") if version_of(p) <= bpy.app.version[:2])
EACH = [
    (file, model)
    for file in FILES
    for model in MODELS
    if Path(model).suffix in FIRST or not file.startswith(("first", "saved"))
    if not (file.startswith("first") and model == "flap.md3")
]
# What the first version had noted does not tell whether another Blender shows it otherwise: its own does.
EACH += [
    (file, "flap.md3")
    for file in FILES
    if file.startswith("first") and version_of(FOLDER / file) == bpy.app.version[:2]
]


def opened(file: str, name: str) -> Any:
    """Open a .blend and make the model of a name the active one."""
    bpy.ops.wm.open_mainfile(filepath=str(FOLDER / file), load_ui=False)
    collection = next(c for c in bpy.data.collections if Path(c.get("idtech_file", "")).name == name)
    active = next((b for b in collection.objects if b.type == "ARMATURE"), collection.objects[0])
    for block in CONTEXT.view_layer.objects:
        block.select_set(False)
    CONTEXT.view_layer.objects.active = active
    return active


@pytest.mark.parametrize(("file", "name"), [*EACH, *((file, name) for file in FILES for name in MOTIONS)])
def test_models_and_animations_come_back(tmp_path, file, name):
    opened(file, name if name in MODELS else next(n for n in MODELS if n.startswith(MOTIONS[name])))
    target, wanted = tmp_path / name, FOLDER / name
    space = bpy.ops.export_anim if name in MOTIONS else bpy.ops.export_scene
    getattr(space, f"idtech_{wanted.suffix[1:]}")(filepath=str(target))
    if wanted.suffix.startswith(".md5"):
        assert facts.differences(wanted.read_bytes(), target.read_bytes()) == set()
    else:
        assert target.read_bytes() == wanted.read_bytes()


@pytest.mark.parametrize("file", [file for file in FILES if not file.startswith(("first", "saved"))])
def test_a_player_with_a_rig_comes_back(tmp_path, file):
    bpy.ops.wm.open_mainfile(filepath=str(FOLDER / file), load_ui=False)
    assert len([block for block in bpy.data.objects if is_frame_rig(block)]) == 2
    bpy.ops.export_scene.idtech_player(filepath=str(tmp_path / "saved"))
    wanted = player_files()
    found = {path.name: path.read_bytes() for path in (tmp_path / "saved").iterdir() if path.name in wanted}
    assert found == wanted
