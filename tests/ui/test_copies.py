"""Copies of a model with frames: each has animations of its own once its frames, or the other's, change."""

from typing import Any

import numpy as np
import pytest

from io_idtech_models.blender.provenance import PART
from io_idtech_models.formats.md2 import file as md2
from io_idtech_models.tasks.animations.find import need_animations
from tests.samples import put
from tests.samples_player import player_files
from tests.ui.player.players import brought, game, saved
from tests.ui.scene import activate, bpy, error_of, export_bytes, import_frames

pytestmark = pytest.mark.usefixtures("empty_scene")
add, remove, play, move, duplicate, rename = (
    getattr(bpy.ops.object, f"idtech_animation_{name}")
    for name in ("add", "remove", "play", "move", "duplicate", "rename")
)


@pytest.fixture(params=[False, True], ids=["absolute", "relative"])
def monster(request, tmp_path):
    """Return the folder of an MD2 with animations, which is in the scene."""
    import_frames(put(tmp_path / "a.md2"), relative_keys=request.param)
    return tmp_path


def rows() -> list[Any]:
    return need_animations(bpy.context).rows()


def names() -> list[str]:
    return [row.label for row in rows()]


def written(folder: Any) -> list[Any]:
    """Return the names and places of an MD2's frames, written as its animations."""
    file = md2.read(export_bytes(folder / "b.md2", frames="ACTIONS"))
    return [(frame["name"], places.tobytes()) for frame, places in zip(file.frames, file.vertices, strict=True)]


def copied(played: str, home: bool) -> tuple[Any, Any]:
    """Return the model's mesh and a copy of it, made while an animation plays, in a collection of its own."""
    mesh = bpy.context.view_layer.objects.active
    assert play(name=played) == {"FINISHED"}
    activate(mesh)
    assert bpy.ops.object.duplicate() == {"FINISHED"}
    copy, variant = bpy.context.view_layer.objects.active, bpy.data.collections.new("variant")
    mesh.users_collection[0].objects.unlink(copy)
    if home:
        bpy.context.scene.collection.children.link(variant)
        variant.objects.link(copy)
    else:
        bpy.context.scene.collection.objects.link(copy)
    return mesh, copy


CHANGES = {
    "remove": lambda name: remove(name=name),
    "move": lambda name: move(name=name, direction="DOWN"),
    "duplicate": lambda name: duplicate(name=name),
    "rename": lambda name: rename(name=name, to="other"),
    "insert": lambda _name: bpy.ops.object.idtech_insert_frame(),
    "delete": lambda _name: bpy.ops.object.idtech_delete_frame(),
}


@pytest.mark.parametrize("edited", ["copy", "original"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_copy_of_a_model_has_animations_of_its_own_once_its_frames_change(monster, change, edited):
    found = names()
    pair = copied(found[1] if change in {"move", "delete"} else found[0], home=True)
    changed, other = pair[::-1] if edited == "copy" else pair
    activate(other)
    before, whole = written(monster), rows()
    activate(changed)
    assert CHANGES[change](found[1]) == {"FINISHED"}
    after = written(monster)
    assert after != before
    activate(other)
    same = [(row.label, row.first, row.last) for row in rows()]
    assert same == [(row.label, row.first, row.last) for row in whole]
    assert written(monster) == before
    activate(changed)
    assert written(monster) == after
    called = sorted(a.name for a in bpy.data.actions if a in [row.action for row in rows()])
    assert any(".0" in name for name in called) == (edited == "copy"), "numbers are the copy's"


def test_so_has_a_copy_that_lies_in_no_models_collection(monster):
    found = names()
    mesh, copy = copied(found[0], home=False)
    activate(copy)
    assert remove(name=found[1]) == {"FINISHED"}
    assert names() == [found[0], *found[2:]]
    activate(mesh)
    assert names() == found


@pytest.mark.parametrize("change", ["remove", "move", "rename"])
@pytest.mark.parametrize("muted", [False, True])
def test_strips_of_a_copy_play_its_own_animations(monster, change, muted):
    found = names()
    track = bpy.context.view_layer.objects.active.data.shape_keys.animation_data.nla_tracks.new()
    track.strips.new(found[1], 16, need_animations(bpy.context).find(found[1]).action)
    track.mute = muted
    mesh, copy = copied(found[0], home=True)
    activate(mesh)
    before = written(monster)
    activate(copy)
    assert CHANGES[change](found[1]) == {"FINISHED"}
    assert len(names()) == len(found) - (change == "remove")
    assert written(monster) != before
    activate(mesh)
    assert names() == found
    assert written(monster) == before
    assert [strip.action for strip in track.strips] == [need_animations(bpy.context).find(found[1]).action]


def test_a_copy_in_a_collection_inside_the_models_has_to_be_moved_out_of_it(monster):
    found = names()
    mesh, copy = copied(found[0], home=True)
    variant = copy.users_collection[0]
    bpy.context.scene.collection.children.unlink(variant)
    mesh.users_collection[0].children.link(variant)
    activate(mesh)
    before = written(monster)
    activate(copy)
    assert "move them out of it, into a collection of their own" in error_of(rename, name=found[1], to="bite")
    assert "move them out of it" in error_of(bpy.ops.object.idtech_insert_frame)
    activate(mesh)
    assert names() == found
    assert written(monster) == before


def test_a_root_that_is_made_for_a_copy_is_the_copys(monster):
    found = names()
    mesh, copy = copied(found[0], home=True)
    before = written(monster)
    activate(copy)
    assert bpy.ops.object.idtech_make_root() == {"FINISHED"}
    assert copy.parent is not None and set(copy.parent.users_collection) == set(copy.users_collection)
    assert remove(name=found[1]) == {"FINISHED"}
    activate(mesh)
    assert names() == found
    assert written(monster) == before


def shown() -> dict[str, Any]:
    """Return where the active mesh has its points in each frame of each of its animations."""
    found, block = {}, bpy.context.view_layer.objects.active
    for label in names():
        assert play(name=label) == {"FINISHED"}
        scene, points = bpy.context.scene, []
        for frame in range(scene.frame_start, scene.frame_end + 1):
            scene.frame_set(frame)
            mesh = block.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
            points.append([tuple(vertex.co) for vertex in mesh.vertices])
        found[label] = np.array(points)
    return found


@pytest.mark.parametrize("played", [0, 1])
@pytest.mark.parametrize("edited", ["copy", "original"])
def test_so_has_a_copy_with_an_armature_that_was_made_of_its_frames(tmp_path, played, edited):
    mesh = import_frames(put(tmp_path / "a.md2"))
    activate(mesh)
    assert bpy.ops.object.idtech_make_rig() == {"FINISHED"}
    home, rig = mesh.users_collection[0], mesh.modifiers[0].object
    activate(mesh)
    found = names()
    assert play(name=found[played]) == {"FINISHED"}
    activate(mesh, rig, *(block for block in home.all_objects if block not in (mesh, rig)))
    assert bpy.ops.object.duplicate() == {"FINISHED"}
    copy, variant = bpy.context.view_layer.objects.active, bpy.data.collections.new("variant")
    bpy.context.scene.collection.children.link(variant)
    for block in bpy.context.selected_objects:
        variant.objects.link(block)
        home.objects.unlink(block)
    changed, other = (copy, mesh) if edited == "copy" else (mesh, copy)
    activate(other)
    before = shown()
    activate(changed)
    wanted = shown()
    assert remove(name=found[1]) == {"FINISHED"}
    activate(other)
    after = shown()
    assert after.keys() == before.keys()
    assert all(np.allclose(points, after[label], atol=1e-5) for label, points in before.items())
    activate(changed)
    assert names() == [found[0], *found[2:]]
    assert all(np.allclose(points, wanted[label], atol=1e-5) for label, points in shown().items() if label != found[0])


def test_a_row_that_a_copy_of_a_player_gets_is_its_own(tmp_path):
    table = player_files()["animation.cfg"].partition(b"35 2 0 15 // TORSO_GETFLAG")[0]
    player = brought(game(tmp_path, animation_cfg=table))
    before = names()
    activate(*player.root.children_recursive, player.root)
    assert bpy.ops.object.duplicate() == {"FINISHED"}
    copy = next(block for block in bpy.context.selected_objects if block.get(PART) == "upper")
    activate(copy)
    assert add(name="TORSO_GETFLAG", first=2, last=3) == {"FINISHED"}
    assert names() == [*before, "TORSO_GETFLAG"]
    activate(player.root)
    assert names() == before
    assert b"TORSO_GETFLAG" not in saved(tmp_path / "first")["animation.cfg"]
    activate(copy)
    assert b"TORSO_GETFLAG" in saved(tmp_path / "second")["animation.cfg"]
    assert remove(name="TORSO_GETFLAG") == {"FINISHED"}
    assert names() == before
