"""File > Append and Link bring along all animations of a model with frames, also those that nothing plays."""

from typing import Any

import pytest

from io_idtech_models.blender.held_actions import HELD
from io_idtech_models.tasks.animations.find import need_animations
from tests.samples import put, sample
from tests.ui.scene import activate, bpy, export_bytes, import_frames

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
play: Any = bpy.ops.object.idtech_animation_play


def labels() -> list[str]:
    return [row.label for row in need_animations(bpy.context).rows()]


def held() -> list[str]:
    return [block.name for block in (*bpy.data.meshes, *bpy.data.armatures) if HELD in block]


def saved(folder, suffix="md2", rigged=False):
    """Save a .blend with a model that plays the last of its animations; returns its name and its list."""
    block = import_frames(put(folder / f"a.{suffix}"))
    if rigged:
        activate(block)
        assert bpy.ops.object.idtech_make_rig() == {"FINISHED"}
        activate(block)
    shown = labels()
    assert play(name=shown[-1]) == {"FINISHED"}
    name = block.users_collection[0].name
    assert bpy.ops.wm.save_as_mainfile(filepath=str(folder / "a.blend")) == {"FINISHED"}
    assert held() == []
    return name, shown


def brought(folder, name, link=False):
    """Append a collection to a new scene; returns its first surface."""
    bpy.ops.wm.read_homefile(use_empty=True)
    bring: Any = bpy.ops.wm.link if link else bpy.ops.wm.append
    options = {"instance_collections": False} if link else {}
    assert bring(directory=str(folder / "a.blend/Collection") + "/", filename=name, **options) == {"FINISHED"}
    return next(block for block in bpy.data.collections[name].all_objects if block.type == "MESH")


@pytest.mark.parametrize("rigged", [False, True], ids=["frames", "rigged"])
def test_all_animations_come_along_with_append_and_stay(tmp_path, rigged):
    name, shown = saved(tmp_path, rigged=rigged)
    count = len(bpy.data.actions)
    activate(brought(tmp_path, name))
    assert labels() == shown and len(bpy.data.actions) == count
    assert play(name="All Frames") == {"FINISHED"}
    assert export_bytes(tmp_path / "b.md2") == sample("animated", "md2")
    for _ in range(2):
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "b.blend"))
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "b.blend"))
        assert labels() == shown and held() == []
        assert all(action.use_fake_user for action in bpy.data.actions)


@pytest.mark.parametrize("rigged", [False, True], ids=["frames", "rigged"])
def test_a_model_that_is_appended_twice_has_its_own_each_time(tmp_path, rigged):
    name, shown = saved(tmp_path, rigged=rigged)
    brought(tmp_path, name)
    directory = str(tmp_path / "a.blend/Collection") + "/"
    assert bpy.ops.wm.append(directory=directory, filename=name) == {"FINISHED"}
    blocks = [next(b for b in c.all_objects if b.type == "MESH") for c in bpy.data.collections if name in c.name]
    assert len(blocks) == 2
    for block in blocks:
        activate(block)
        assert export_bytes(tmp_path / "b.md2", frames="ACTIONS") == sample("animated", "md2")
        assert labels() == shown
    assert bpy.ops.object.idtech_animation_remove(name=shown[1]) == {"FINISHED"}
    assert labels() == [label for label in shown if label != shown[1]]
    activate(blocks[0])
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "b.blend"))
    assert labels() == shown
    assert export_bytes(tmp_path / "b.md2", frames="ACTIONS") == sample("animated", "md2")


def test_with_link_too(tmp_path):
    name, shown = saved(tmp_path)
    block = brought(tmp_path, name, link=True)
    activate(block)
    assert labels() == shown
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "b.blend"))


def test_what_is_removed_is_not_held(tmp_path):
    """Nor what another model's is, nor what a modder let go of."""
    name, shown = saved(tmp_path)
    assert bpy.ops.object.idtech_animation_remove(name=shown[1]) == {"FINISHED"}
    bpy.data.actions[shown[2]].use_fake_user = False
    left = labels()
    import_frames(put(tmp_path / "other.md2"))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    activate(brought(tmp_path, name))
    assert sorted(labels()) == sorted(set(left) - {shown[2]})
    bpy.data.meshes[0][HELD] = 5  # a stranger's
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "b.blend"))
    assert held() == []
