"""Blender's own life around imports and exports: modes, collections, scenes, undo, libraries, odd settings.

Each example model, of every format, goes in and out in a situation that a user may be in: it comes back as it was, and
the situation is what it was.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import io_idtech_models
from tests.blender.case import append
from tests.samples import PROJECT, load
from tests.ui.scene import activate, add_cube, bpy, export_bytes, import_model, operator

pytestmark = pytest.mark.usefixtures("empty_scene")
EXAMPLES = {
    "md2": PROJECT / "examples/stilt/players/stilt/tris.md2",
    "md3": PROJECT / "examples/sentinel/sentinel.md3",
    "md5mesh": PROJECT / "examples/newt/models/md5/newt/newt.md5mesh",
    "mdm": PROJECT / "examples/trooper/models/players/toys/trooper/body.mdm",
}
every_model = pytest.mark.parametrize("model", [pytest.param(path, id=name) for name, path in EXAMPLES.items()])


@pytest.fixture
def comes_back(model, tmp_path) -> Callable[..., bool]:
    """Return what tells whether an export of an imported model, or of the active one, gives its file."""

    def call(collection: Any = None) -> bool:
        if collection is not None:
            activate_model(collection)
        return bool(export_bytes(tmp_path / f"copy{model.suffix}") == model.read_bytes())

    return call


def activate_model(collection: Any) -> None:
    """Make an imported model's first object active."""
    activate(min(collection.objects, key=lambda block: block.type != "ARMATURE"))


@every_model
@pytest.mark.parametrize("mode", ["EDIT", "SCULPT", "WEIGHT_PAINT"])
def test_import_in_another_mode(model, mode, comes_back):
    add_cube()
    bpy.ops.object.mode_set(mode=mode)
    before = bpy.context.mode
    collection = import_model(model)
    assert bpy.context.mode == before
    bpy.ops.object.mode_set(mode="OBJECT")
    assert comes_back(collection)


@every_model
def test_import_and_export_in_pose_mode(model, comes_back):
    bpy.ops.object.armature_add()
    bpy.ops.object.mode_set(mode="POSE")
    collection = import_model(model)
    assert bpy.context.mode == "POSE"
    bpy.ops.object.mode_set(mode="OBJECT")
    activate_model(collection)
    if bpy.context.view_layer.objects.active.type == "ARMATURE":
        bpy.ops.object.mode_set(mode="POSE")
    assert comes_back()


@every_model
@pytest.mark.parametrize("state", ["exclude", "hide_viewport", "hide_select"])
def test_an_active_collection_that_is_out_of_reach(model, state, comes_back):
    own = bpy.data.collections.new("away")
    bpy.context.scene.collection.children.link(own)
    layer = bpy.context.view_layer.layer_collection.children["away"]
    bpy.context.view_layer.active_layer_collection = layer
    if state == "hide_select":
        own.hide_select = True
    else:
        setattr(layer, state, True)
    collection = import_model(model)
    for back in (layer, own):
        if hasattr(back, state):
            setattr(back, state, False)
    assert comes_back(collection)


@every_model
def test_odd_settings_of_the_scene(model, comes_back):
    scene = bpy.context.scene
    scene.frame_set(100)
    scene.render.fps, scene.render.fps_base = 30, 1.001
    scene.unit_settings.scale_length = 0.01
    scene.tool_settings.use_keyframe_insert_auto = True
    try:
        assert comes_back(import_model(model))
    finally:
        scene.tool_settings.use_keyframe_insert_auto = False


@every_model
def test_twice_in_a_row(model, comes_back):
    assert all(comes_back(collection) for collection in [import_model(model), import_model(model)])


@every_model
def test_after_disabling_and_enabling(model, comes_back):
    collection = import_model(model)
    io_idtech_models.unregister()
    io_idtech_models.register()
    assert comes_back(collection)


@every_model
def test_in_another_scene(model, comes_back):
    import_model(model)
    first = bpy.context.window.scene
    other = bpy.data.scenes.new("other")
    bpy.context.window.scene = other
    try:
        collection = import_model(model)
        assert set(collection.objects) <= set(other.objects)
        assert not set(collection.objects) & set(first.objects)
        assert comes_back(collection)
    finally:
        bpy.context.window.scene = first


@every_model
def test_undo_and_redo(model, comes_back):
    bpy.ops.ed.undo_push(message="before")
    import_model(model)
    bpy.ops.ed.undo_push(message="imported")
    names = sorted(block.name for block in bpy.data.objects)
    for block in (block for block in bpy.data.objects if block.type == "MESH"):
        keys = block.data.shape_keys
        (keys.key_blocks[1].points if keys else block.data.vertices)[0].co.x += 5
    bpy.ops.ed.undo_push(message="edited")
    assert not comes_back()
    bpy.ops.ed.undo()
    assert comes_back()
    bpy.ops.ed.undo()
    assert not bpy.data.objects
    bpy.ops.ed.redo()
    assert sorted(block.name for block in bpy.data.objects) == names
    assert comes_back(next(c for c in bpy.data.collections if c.objects))
    bpy.ops.ed.undo_push(message="exported")
    assert sorted(block.name for block in bpy.data.objects) == names


@every_model
@pytest.mark.parametrize("kind", ["linked", "override"])
def test_objects_of_a_library(model, kind, tmp_path, comes_back):
    (linked,) = append(tmp_path, "collections", [import_model(model).name], link=True)
    scene = bpy.context.scene
    if kind == "linked":
        scene.collection.children.link(linked)
    else:
        linked.override_hierarchy_create(scene, bpy.context.view_layer)
        linked = next(c for c in scene.collection.children_recursive if c.override_library is not None)
    assert comes_back(linked)
    bpy.data.batch_remove(list(bpy.data.libraries))  # else an undo in a later test brings them back


@every_model
def test_objects_that_can_not_be_selected(model, comes_back):
    collection = import_model(model)
    activate_model(collection)
    for block in collection.objects:
        block.hide_select = True
    assert comes_back()


@every_model
def test_hidden_objects_are_named(model, tmp_path, capfd):
    collection = import_model(model)
    activate_model(collection)
    meshes = [block for block in collection.objects if block.type == "MESH"]
    meshes[-1].hide_set(True)
    path = tmp_path / f"copy{model.suffix}"
    try:
        operator("export", path)(filepath=str(path))
    except RuntimeError as error:  # nothing else is left
        assert len(meshes) == 1 or "hidden" in str(error)
    assert f"left out: '{meshes[-1].name}'" in capfd.readouterr().out


@pytest.mark.parametrize("name", ["md2", "md3"])
def test_a_root_that_is_scaled_moves_everything(name, tmp_path):
    model = EXAMPLES[name]
    collection = import_model(model)
    root = bpy.data.objects.new("root", None)
    bpy.context.scene.collection.objects.link(root)
    root.scale = (0.5, 0.5, 0.5)
    for block in collection.objects:
        block.parent = root
    bpy.context.view_layer.update()
    activate_model(collection)
    before, after = (load(data, "") for data in (model.read_bytes(), export_bytes(tmp_path / f"copy{model.suffix}")))
    for old, new in zip(before.surfaces, after.surfaces, strict=True):
        assert new.positions == pytest.approx(old.positions / 2, abs=0.1)


@pytest.mark.parametrize("name", ["md3", "mdm"])
def test_a_script_ends_well_without_disabling_it(tmp_path, name):
    """Blender as a module crashed at its end on 4.2, and hung on 4.5."""
    script = tmp_path / "script.py"
    script.write_text(
        "import bpy, io_idtech_models\n"
        "io_idtech_models.register()\n"
        f"bpy.ops.import_scene.idtech_{name}(filepath={str(EXAMPLES[name])!r})\n"
        f"bpy.ops.export_scene.idtech_{name}(filepath={str(tmp_path / 'out')!r})\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        check=False,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0
