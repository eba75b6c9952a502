"""Without a window: scripts' timers and handlers have none, nor has a Blender that never opened one."""

from pathlib import Path
from typing import Any

import pytest

from tests import samples_md5, samples_mdm
from tests.facts import differences
from tests.samples import put, sample
from tests.ui.scene import activate, bpy, first, import_model, operator

pytestmark = pytest.mark.usefixtures("empty_scene")
FILES = {
    "a.md2": sample("animated", "md2"),
    "a.md3": sample("animated"),
    "null.md3": sample("nothing"),
    "arm.md5mesh": samples_md5.arm(),
    "wave.md5anim": samples_md5.wave(),
    "figure.mdm": samples_mdm.figure(),
    "figure.mdx": samples_mdm.walk(),
}


@pytest.fixture
def folder(tmp_path):
    for name, data in FILES.items():
        put(tmp_path / name, data)
    return tmp_path


def run(way: str, path: Path, **options: Any) -> None:
    """Call an operator for a file as a timer does."""
    with bpy.context.temp_override(window=None):
        assert bpy.context.window is None
        assert operator(way, path)(filepath=str(path), **options) == {"FINISHED"}


@pytest.mark.parametrize("name", FILES)
def test_there_and_back(folder, name):
    run("import", folder / name)
    again = folder / f"again-{name}"
    run("export", again)
    if "md5" in name:
        assert differences(FILES[name], again.read_bytes()) == set()
    else:
        assert again.read_bytes() == FILES[name]


@pytest.mark.parametrize("name", ["wave.md5anim", "figure.mdx"])
def test_animations_onto_the_armature_that_is_selected(folder, name):
    import_model(folder / ("arm.md5mesh" if "md5" in name else "figure.mdm"), animations=False)
    rig = first("ARMATURE")
    activate(rig)
    bpy.context.view_layer.objects.active = None
    run("import", folder / name)
    assert len([block for block in bpy.data.objects if block.type == "ARMATURE"]) == 1
    assert bpy.context.view_layer.objects.active == rig
    assert rig.select_get()


def test_in_edit_mode(folder):
    """What is edited is written, and what is imported does not become part of it."""
    import_model(folder / "arm.md5mesh", animations=False)
    mesh = first("MESH")
    for mode in ("EDIT", "OBJECT"):
        activate(mesh)
        bpy.ops.object.mode_set(mode=mode)
        run("export", folder / "b.md5mesh")
        assert differences(FILES["arm.md5mesh"], (folder / "b.md5mesh").read_bytes()) == set()
        run("import", folder / "a.md3")
        assert mesh.mode == mode


def test_operators_on_a_model(folder):
    import_model(folder / "a.md3")
    activate(bpy.data.objects["h_body"])
    with bpy.context.temp_override(window=None):
        assert bpy.ops.object.idtech_check_game(target="md3:quake3") == {"FINISHED"}
        assert bpy.ops.object.idtech_show_skin(skin="0") == {"FINISHED"}
        assert bpy.ops.object.idtech_insert_frame() == {"FINISHED"}
        assert bpy.ops.object.idtech_delete_frame() == {"FINISHED"}
        assert bpy.ops.object.idtech_hold_still(selected_only=False) == {"FINISHED"}
