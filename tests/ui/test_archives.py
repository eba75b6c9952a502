"""Models and their files in archives: what Blender shows of them, and what comes back."""

from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from io_idtech_models.game.folders import Disk
from io_idtech_models.tasks import skins
from io_idtech_models.tasks.export.selection import choose
from io_idtech_models.ui import cli
from io_idtech_models.ui.export import proposals
from io_idtech_models.ui.export.operators import ExportFile
from tests.packs import put_files, put_pack
from tests.samples import CORPUS, PROJECT, sample
from tests.ui.scene import bpy, error_of, export_bytes, import_model, operator, png

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
EXAMPLES = PROJECT / "examples"
STILT, NEWT, TROOPER = (
    EXAMPLES / place for place in ("stilt/players/stilt", "newt/models/md5/newt", "trooper/models/players/toys/trooper")
)
PACK = CORPUS / "openarena/baseoa/pak0.pk3"


def below(folder: Path, root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in folder.iterdir() if path.is_file()}


def images(collection):
    """Return the images that a model's materials show, by material."""
    found = {}
    for block in collection.objects:
        for slot in block.material_slots:
            nodes = () if slot.material.node_tree is None else slot.material.node_tree.nodes
            found[slot.material.name] = next((node.image for node in nodes if node.type == "TEX_IMAGE"), None)
    return found


def picture(tmp_path: Path, rgb: tuple[int, int, int]) -> bytes:
    return png(tmp_path / "made.png", rgb).read_bytes()


def test_a_damaged_archive_leaves_nothing_behind(tmp_path):
    (tmp_path / "pak0.pk3").write_bytes(b"PK\3\4 damaged")
    text = error_of(operator("import", Path("a.md3")), filepath=str(tmp_path / "pak0.pk3/models/a.md3"))
    assert "a.md3: it is no archive, or its end is missing" in text
    assert not bpy.data.objects


@pytest.mark.parametrize("name", ["pak0.pk3", "pak0.pak"])
def test_a_model_and_its_pictures_in_an_archive(tmp_path, name):
    files = {"models/x/a.md3": sample("animated"), "models/animated/body.png": picture(tmp_path, (10, 200, 30))}
    pack = put_pack(tmp_path / "base" / name, files)
    collection = import_model(pack / "models/x/a.md3")
    found = images(collection)["models/animated/body.tga"]
    assert found.packed_file is not None
    assert tuple(found.size) == (4, 4)
    assert found["idtech_file"] == str(pack / "models/animated/body.png")
    assert collection["idtech_file"] == str(pack / "models/x/a.md3")
    assert export_bytes(tmp_path / "back.md3") == sample("animated")


def test_pictures_lie_elsewhere_than_their_model(tmp_path):
    """Loose ones of a model in an archive stay where they lie; a loose model has those of archives."""
    name, shown = "models/x/a.md3", "models/animated/body.png"
    pack = put_pack(tmp_path / "a/base/pak0.pk3", {name: sample("animated")})
    place = png(tmp_path / "a/base" / shown)
    found = images(import_model(pack / name))["models/animated/body.tga"]
    assert (found.packed_file, Path(found.filepath)) == (None, place)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    put_files(tmp_path / "b", {f"base/{name}": sample("animated")})
    put_pack(tmp_path / "b/base/pak0.pk3", {shown: place.read_bytes()})
    found = images(import_model(tmp_path / "b/base" / name))["models/animated/body.tga"]
    assert found.packed_file is not None


def test_an_armature_and_its_animations_in_archives(tmp_path):
    files = below(NEWT, EXAMPLES / "newt")
    mesh, walk = (f"models/md5/newt/{name}" for name in ("newt.md5mesh", "walk.md5anim"))
    pack = put_pack(tmp_path / "base/pak000.pk4", {name: data for name, data in files.items() if name != walk})
    put_pack(tmp_path / "base/pak001.pk4", {walk: files[walk]})
    collection = import_model(pack / mesh)
    assert sorted(action.name for action in bpy.data.actions) == ["idle", "walk"]
    assert all(image is not None and image.packed_file for image in images(collection).values())


def test_a_player_of_enemy_territory_in_archives(tmp_path):
    files = below(TROOPER, EXAMPLES / "trooper")
    folder = "models/players/toys/trooper"
    put_pack(tmp_path / "etmain/pak0.pk3", {name: data for name, data in files.items() if not name.endswith(".mdm")})
    put_files(tmp_path, {f"etmain/{folder}/body.mdm": files[f"{folder}/body.mdm"]})
    collection = import_model(tmp_path / "etmain" / folder / "body.mdm")
    assert len(bpy.data.actions) > 2, "the table's rows among them"
    assert any(image is not None and image.packed_file for image in images(collection).values()), "the skin's"


def test_skins_of_a_player_in_an_archive(tmp_path):
    pack = put_pack(tmp_path / "baseq2/pak0.pak", below(STILT, EXAMPLES / "stilt"))
    collection = import_model(pack / "players/stilt/tris.md2")
    (block,) = [block for block in collection.objects if block.type == "MESH"]
    assert [file.name for file in skins.offered(block)] == ["frost.pcx"]
    assert skins.show(block, "frost.pcx") == "players/stilt/frost.pcx"
    pack.unlink()
    assert skins.offered(block) == []


def test_from_an_archive_to_other_formats(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    put_pack(tmp_path / "pak0.pk3", {"models/x/a.md3": sample("animated"), "models/y/b.md3": sample("animated")})
    put_pack(tmp_path / "game/z.pk3", {"models/animated/body.png": picture(tmp_path, (9, 8, 7))})
    status = cli.main(["convert", "pak0.pk3", "out", "--to", "glb", "--game-folder", "game"])
    assert (status, capfd.readouterr().err) == (0, "")
    made = sorted(path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.glb"))
    assert made == ["models/x/a.glb", "models/y/b.glb"]
    assert b"image/png" in (tmp_path / "out/models/x/a.glb").read_bytes()
    assert cli.main(["convert", "pak0.pk3/models/x/a.md3", "plain.glb"]) == 0
    assert b"image/png" not in (tmp_path / "plain.glb").read_bytes()


# -- exporting what came from an archive


@pytest.fixture
def packed(tmp_path) -> Path:
    """An archive whose model is imported."""
    pack = put_pack(tmp_path / "base/pak0.pk3", {"models/x/a.md3": sample("animated")})
    import_model(pack / "models/x/a.md3")
    return pack


@pytest.mark.parametrize("saved", [True, False])
@pytest.mark.parametrize("whole", [True, False])
def test_a_name_for_it_is_proposed_beside_the_blend(packed, tmp_path, saved, whole):
    if saved:
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "work.blend"))
    chosen = choose(bpy.context, "AUTO" if whole else "SELECTION")
    own = SimpleNamespace(is_property_set=lambda name: False)
    browser: Any = SimpleNamespace(filepath="", filename_ext=".md3", properties=own)
    ExportFile.propose(browser, proposals.proposed_stem(chosen))
    assert Path(browser.filepath) == (tmp_path if saved else Path()) / "a.md3"


@pytest.mark.parametrize("target", ["models/x/a.md3", "new.md3", "new/b.md3", ""])
def test_no_export_goes_into_an_archive_or_replaces_it(packed, target):
    before, path = packed.read_bytes(), str(packed / target)
    text = error_of(bpy.ops.export_scene.idtech_md3, filepath=path)
    read_only = f"can't write '{path}': it is in an archive, which is only read; choose another folder"
    assert text.endswith(read_only) if target else "it is an archive, which is only read" in text
    assert packed.read_bytes() == before
    assert [path.name for path in packed.parent.iterdir()] == ["pak0.pk3"]


def test_the_collection_exporter_does_not_write_into_an_archive(packed, capfd):
    layer = bpy.context.view_layer
    (own,) = [child for child in layer.layer_collection.children if child.name == "a"]
    layer.active_layer_collection = own
    bpy.ops.collection.exporter_add(name="IO_FH_idtech_md3")
    exporter = own.collection.exporters[0]
    assert ".pk3" not in exporter.export_properties.filepath
    exporter.export_properties.filepath = str(packed / "models/x/a.md3")
    before = packed.read_bytes()
    with suppress(RuntimeError):
        bpy.ops.collection.exporter_export(index=0)
    assert "it is in an archive" in "".join(capfd.readouterr())
    assert packed.read_bytes() == before
    exporter.export_properties.filepath = str(packed.parent / "a.md3")
    bpy.ops.collection.exporter_export(index=0)
    assert (packed.parent / "a.md3").read_bytes() == sample("animated")


@pytest.mark.skipif(not PACK.is_file(), reason="the corpus of real files is not here")
def test_a_real_player(tmp_path):
    file = PACK / "models/weapons2/machinegun/machinegun.md3"
    collection = import_model(file)
    assert any(image is not None and image.packed_file and image.size[0] for image in images(collection).values())
    assert export_bytes(tmp_path / "gun.md3") == Disk().file(file).read()
