"""Projects that are moved, or copied, with their .blends: what models remember of places goes along."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from io_idtech_models.tasks.moved import follow
from tests.packs import put_pack
from tests.samples import sample
from tests.ui.character.games import GAMES, changed, listed, opened, rig, saved
from tests.ui.scene import activate, add_cube, add_tag, bpy, export_model, first, import_model

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture
def project(tmp_path):
    """Return a project's folder, with a model in a folder of its own and another for .blends."""
    for name in ("models", "blends"):
        (tmp_path / "mod" / name).mkdir(parents=True)
    (tmp_path / "mod/models/box.md3").write_bytes(sample("seamed_cube"))
    return tmp_path / "mod"


def save(folder: Path) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "blends/a.blend"))


def reopen(folder: Path) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(folder / "blends/a.blend"))


def moved_model(project: Path) -> None:
    """Save a .blend with a model that was imported, and moved since."""
    import_model(project / "models/box.md3")
    first("MESH").location.x = 5.0
    save(project)


def export_again() -> None:
    activate(first("MESH"))
    assert bpy.ops.object.idtech_export_again() == {"FINISHED"}


def test_while_the_original_is_there_it_is_written(project, tmp_path):
    """A .blend that was moved alone may lie beside another model whose file has the same name."""
    moved_model(project)
    copy = shutil.copytree(project, tmp_path / "copy")
    reopen(copy)
    export_again()
    assert (copy / "models/box.md3").read_bytes() == sample("seamed_cube") != (project / "models/box.md3").read_bytes()


@pytest.mark.parametrize("to", ["renamed", "elsewhere/deep/mod"])
def test_a_moved_project_goes_on(project, tmp_path, to):
    moved_model(project)
    (tmp_path / to).parent.mkdir(parents=True, exist_ok=True)
    project.rename(tmp_path / to)
    reopen(tmp_path / to)
    export_again()
    assert not project.exists()
    assert (tmp_path / to / "models/box.md3").read_bytes() != sample("seamed_cube")


def test_a_blend_that_was_moved_alone_writes_what_it_did(project, tmp_path):
    moved_model(project)
    (tmp_path / "other/blends").mkdir(parents=True)
    shutil.move(project / "blends/a.blend", tmp_path / "other/blends/a.blend")
    reopen(tmp_path / "other")
    export_again()
    assert (project / "models/box.md3").read_bytes() != sample("seamed_cube")
    assert not (tmp_path / "other/models").exists()


def test_saving_elsewhere_moves_no_project(project, tmp_path):
    moved_model(project)
    copy = shutil.copytree(project, tmp_path / "copy")
    save(copy)
    reopen(copy)
    export_again()
    assert (copy / "models/box.md3").read_bytes() == sample("seamed_cube") != (project / "models/box.md3").read_bytes()


@pytest.mark.parametrize("is_there", [True, False])
def test_what_was_made_there_is_written_there(project, tmp_path, is_there):
    add_cube()
    export_model(project / "models/cube.md3")
    save(project)
    target = tmp_path / "copy"
    project.rename(target)
    if not is_there:
        (target / "models/cube.md3").unlink()
    reopen(target)
    first("MESH").location.x = 5.0
    export_again()
    assert (target / "models/cube.md3").is_file()
    assert not project.exists()


def test_parts_of_a_game_that_lie_in_an_archive_lie_in_its_copy(project, tmp_path):
    put_pack(project / "models/pak0.pk3", {"models/box.md3": sample("seamed_cube")})
    inside = project / "models/pak0.pk3/models/box.md3"
    collection = import_model(inside)
    assert collection["idtech_file"] == str(inside)
    save(project)
    copy = project.rename(tmp_path / "copy")
    reopen(copy)
    assert bpy.data.collections["box"]["idtech_file"] == str(copy / "models/pak0.pk3/models/box.md3")


@pytest.mark.parametrize(
    ("blend", "file"),
    [
        ("D:\\mods\\mod\\blends\\a.blend", "d:\\Mods\\mod\\models\\box.md3"),
        ("\\\\host\\share\\mod\\blends\\a.blend", "\\\\host\\share\\mod/models/box.md3"),
        ("/home/me/mod/blends/a.blend", "/home/me/mod/models/box.md3"),
    ],
)
def test_what_comes_from_another_machine(project, blend, file):
    moved_model(project)
    noted(blend, file)
    assert places() == {str(project / "models/box.md3")}


@pytest.mark.parametrize(
    ("blend", "file"),
    [
        ("D:\\mods\\mod\\blends\\a.blend", "E:\\mods\\mod\\models\\box.md3"),
        ("/mod/blends/a.blend", "/models/box.md3"),  # nothing but the root is common
        ("/home/me/mod/blends/a.blend", "/home/me/mod/models/other.md3"),  # not there, nor is its folder
        ("/home/me/mod/blends/a.blend", "/home/models/box.md3"),
        ("", "/home/me/mod/models/box.md3"),
        ("a.blend", "models/box.md3"),
    ],
)
def test_places_of_which_nothing_is_known_stay(project, blend, file):
    moved_model(project)
    if file.endswith("other.md3"):
        shutil.rmtree(project / "models")
    noted(blend, file)
    assert places() == {file}


def noted(blend: str, file: str) -> None:
    """Let the .blend say that it was saved elsewhere, and be opened."""
    bpy.context.scene["idtech_blend"] = blend
    for holder in holders():
        holder["idtech_file"] = file
    follow()


def holders() -> list[Any]:
    return [block for kind in (bpy.data.collections, bpy.data.meshes) for block in kind]


def places() -> set[str]:
    return {holder["idtech_file"] for holder in holders()}


@pytest.mark.parametrize("name", GAMES)
def test_all_of_a_character_goes_along(tmp_path, name):
    """Also what of it lies beside, and is in no scene, and animations that are played for the first time then."""
    opened(GAMES[name].put(tmp_path / "mod"), name)
    (tmp_path / "mod/blends").mkdir()
    save(tmp_path / "mod")
    (tmp_path / "mod").rename(tmp_path / "renamed")
    reopen(tmp_path / "renamed")
    assert str(tmp_path / "mod") not in "".join(noted_texts())
    bpy.context.view_layer.objects.active = rig()
    for row in listed() if rig() is not None else ():  # frames of a Quake II player are keys
        bpy.ops.object.idtech_animation_play(name=row)
    assert str(tmp_path / "mod") not in "".join(noted_texts())
    files = saved(tmp_path / "out")
    assert not [path for path in changed(files, name) if path not in GAMES[name].own]
    assert files.keys() >= GAMES[name].files().keys() - GAMES[name].others


def noted_texts() -> list[str]:
    """Return all texts that data-blocks of models remember, but for the scene's."""
    kinds = (bpy.data.collections, bpy.data.objects, bpy.data.meshes, bpy.data.armatures, bpy.data.actions)
    blocks: list[Any] = [block for kind in kinds for block in kind]
    return [value for block in blocks for value in block.values() if isinstance(value, str)]


def test_undo_does_not_lead_back(project, tmp_path):
    moved_model(project)
    copy = project.rename(tmp_path / "copy")
    reopen(copy)
    for name in ("one", "two"):
        bpy.context.scene.name = name
        bpy.ops.ed.undo_push(message=name)
    bpy.ops.ed.undo()
    assert bpy.context.scene.name == "one"
    assert places() == {str(copy / "models/box.md3")}


def test_nothing_is_noted_in_a_blend_without_models(project):
    add_cube()
    add_tag("tag_x")
    save(project)
    assert "idtech_blend" not in bpy.context.scene
    bpy.context.scene.objects[0]["idtech_export"] = "{}"
    save(project)
    assert "idtech_blend" not in bpy.context.scene
