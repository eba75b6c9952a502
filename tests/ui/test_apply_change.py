"""Apply Change to Frames: what was moved in one frame moves in others, and nothing else does."""

from typing import Any

import bmesh
import numpy as np
import pytest

from io_idtech_models.blender.vertex.spread import Spread
from io_idtech_models.formats.md2 import file as md2
from io_idtech_models.formats.md3 import file as md3
from tests.samples import PROJECT, corpus, put, sample
from tests.ui.player.players import brought, game, mesh_of
from tests.ui.scene import activate, add_cube, bpy, error_of, export_bytes, import_frames

pytestmark = pytest.mark.usefixtures("empty_scene")
UP = np.array((0, 0, 8))
apply = bpy.ops.object.idtech_apply_change


def frames_of(block: Any) -> Any:
    """Return the positions of all frames, (F, P, 3)."""
    keys = [key for key in block.data.shape_keys.key_blocks if key.name != "Basis"]
    found = np.empty((len(keys), len(block.data.vertices) * 3), np.float32)
    for key, row in zip(keys, found, strict=True):
        key.points.foreach_get("co", row)
    return found.reshape(len(keys), -1, 3)


def move(block: Any, frame: int, point: int, by: Any) -> None:
    keys = [key for key in block.data.shape_keys.key_blocks if key.name != "Basis"]
    keys[frame].points[point].co = [float(x) for x in frames_of(block)[frame, point] + by]


def changed_frames(block: Any, before: Any) -> list[int]:
    """Return in which frames points are elsewhere."""
    return np.unique(np.argwhere(frames_of(block) != before)[:, 0]).tolist()  # type: ignore[no-any-return]


def shown(frame: int) -> None:
    bpy.context.scene.frame_set(frame)


@pytest.fixture(params=["absolute", "relative", "scaled"])
def block(request, tmp_path):
    options = {"relative_keys": request.param == "relative", "scale": 0.03 if request.param == "scaled" else 1.0}
    return import_frames(put(tmp_path / "a.md3"), **options)


def test_what_moved_of_meshes_that_are_edited_together(tmp_path):
    meshes = import_frames(put(tmp_path / "a.md3")).users_collection[0].objects[:2]
    before = [frames_of(block) for block in meshes]
    shown(1)
    activate(*meshes)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.transform.translate(value=(0, 0, 8))
    assert apply(frames="ALL") == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    for block, was in zip(meshes, before, strict=True):
        assert np.allclose(frames_of(block), was + UP, atol=1e-4)


def test_what_moved_moves_in_all_frames_once(block):
    before = frames_of(block)
    shown(1)
    move(block, 1, 0, (1, 2, 3))
    wanted = before.copy()
    wanted[:, 0] += (1, 2, 3)
    for _ in range(2):
        assert apply(frames="ALL", selected_only=False) == {"FINISHED"}
        assert np.allclose(frames_of(block), wanted, atol=1e-4), "and not twice"
    if not block.data.shape_keys.use_relative:
        assert np.allclose([tuple(vertex.co) for vertex in block.data.vertices], wanted[0], atol=1e-4)
    shown(0)
    assert apply(frames="ALL", selected_only=False) == {"FINISHED"}
    assert np.allclose(frames_of(block), wanted, atol=1e-4), "what came to a frame is no change of it"
    shown(1)
    move(block, 1, 0, (1, 0, 0))
    assert apply(frames="ALL", selected_only=False) == {"FINISHED"}
    wanted[:, 0] += (1, 0, 0)
    assert np.allclose(frames_of(block), wanted, atol=1e-4), "what moved since, and no more"


def test_only_selected_points_and_frames_of_a_range(block):
    before = frames_of(block)
    shown(0)
    block.data.vertices.foreach_set("select", [point == 0 for point in range(len(block.data.vertices))])
    for point in (0, 1):
        move(block, 0, point, (4, 0, 0))
    assert apply(frames="RANGE", first=0, last=1) == {"FINISHED"}
    after = frames_of(block)
    assert np.allclose(after[1, 0], before[1, 0] + (4, 0, 0), atol=1e-4)
    assert np.array_equal(after[2:], before[2:])
    assert np.array_equal(after[1, 1:], before[1, 1:])
    assert "there is no frame from 9 to 3" in error_of(apply, frames="RANGE", first=9, last=3)


@pytest.mark.parametrize("every", [False, True])
def test_all_surfaces_change_only_where_it_is_asked_for(tmp_path, every):
    first = import_frames(put(tmp_path / "a.md3"))
    second = next(b for b in first.users_collection[0].objects if b.type == "MESH" and b != first)
    shown(1)
    before = frames_of(second)
    for block in (first, second):
        move(block, 1, 0, UP)
    assert apply(frames="ALL", selected_only=False, all_surfaces=every) == {"FINISHED"}
    assert changed_frames(second, before) == ([0, 1, 2] if every else [1])


@pytest.mark.parametrize(("first", "last", "wanted"), [(0, 1, [0, 1]), (1, 99, [1, 2]), (2, 2, [1, 2])])
def test_frames_of_a_range_change_with_the_present_one(tmp_path, first, last, wanted):
    block = import_frames(put(tmp_path / "a.md3"))
    before = frames_of(block)
    shown(1)
    move(block, 1, 0, UP)
    assert apply(frames="RANGE", first=first, last=last, selected_only=False) == {"FINISHED"}
    assert changed_frames(block, before) == wanted


@pytest.mark.parametrize(
    ("row", "frame", "wanted"),
    [
        ("", 14, range(14, 20)),  # LEGS_RUN
        ("", 19, range(14, 20)),
        ("", 38, range(36, 39)),  # LEGS_TURN, the last one
        ("", 1, range(1, 2)),  # BOTH_DEAD1, which is shorter than BOTH_DEATH1
        ("BOTH_DEATH1", 1, range(2)),
    ],
)
def test_frames_of_an_animation_change_of_the_one_that_plays_or_is_shortest(tmp_path, row, frame, wanted, capfd):
    player = brought(game(tmp_path), frame_rate=10)
    if row:
        bpy.ops.object.idtech_play(legs=row, torso=row)
    block = mesh_of(player, "lower")
    activate(block)
    before = frames_of(block)
    shown(frame)
    move(block, frame, 0, UP)
    assert apply(selected_only=False) == {"FINISHED"}
    assert changed_frames(block, before) == list(wanted)
    capfd.readouterr()
    for selected_only, which in ((True, "of the selected vertices "), (False, "")):
        assert apply(selected_only=selected_only) == {"FINISHED"}
        assert f"none {which}was moved in this frame since" in capfd.readouterr().out


def test_in_edit_mode_what_is_edited_counts(tmp_path):
    block = import_frames(put(tmp_path / "a.md3"))
    before = frames_of(block)
    shown(2)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.transform.translate(value=(0, 0, 8))
    assert apply(frames="ALL") == {"FINISHED"}
    assert block.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert np.allclose(frames_of(block), before + UP, atol=1e-4)
    assert np.allclose([tuple(v.co) for v in block.data.vertices], before[0] + UP, atol=1e-4)


def test_falloffs_reach_the_ends():
    assert Spread(4, range(9), "LINEAR").weights().tolist() == [0, 0.25, 0.5, 0.75, 1, 0.75, 0.5, 0.25, 0]
    assert Spread(0, range(3), "LINEAR").weights().tolist() == [1, 0.5, 0]
    assert Spread(2, range(5), "SMOOTH").weights().tolist() == [0, 0.5, 1, 0.5, 0]
    assert Spread(2, range(3, 5)).weights().tolist() == [1, 1]


def test_frames_that_no_file_had_are_remembered(capfd):
    block = add_cube()
    for _ in range(3):
        block.shape_key_add(name="pose")
    keys = block.data.shape_keys
    keys.use_relative = False
    keys.eval_time = keys.key_blocks[1].frame
    assert apply(frames="ALL", selected_only=False) == {"FINISHED"}
    assert "it is remembered now" in capfd.readouterr().out
    before = frames_of(block)
    move(block, 1, 5, (0, 0, 1))
    assert apply(frames="ALL", selected_only=False) == {"FINISHED"}
    before[:, 5] += (0, 0, 1)
    assert np.allclose(frames_of(block), before)


def test_a_file_changes_where_vertices_were_moved_alone(tmp_path):
    block = import_frames(put(tmp_path / "a.md3"))
    shown(1)
    move(block, 1, 0, (2, 0, 0))
    assert apply(frames="RANGE", first=1, last=2, selected_only=False) == {"FINISHED"}
    before, after = md3.read(sample("animated")), md3.read(export_bytes(tmp_path / "b.md3"))
    moved = [np.argwhere((a.vertices["xyz"] != b.vertices["xyz"]).any(axis=-1)) for a, b in
             zip(after.surfaces, before.surfaces, strict=True)]  # fmt: skip
    assert sum(len(np.unique(places[:, 1])) > 0 for places in moved) == 1, "of one surface"
    assert {frame for places in moved for frame in places[:, 0].tolist()} == {1, 2}


def test_a_real_file_changes_in_its_frames_alone(tmp_path):
    file = next((file for file in corpus(".md2") if int.from_bytes(file.data[40:44], "little") > 4), None)
    if file is None:
        pytest.skip("the corpus of real files is not here")
    block = import_frames(put(tmp_path / "a.md2", file.data))
    before = frames_of(block)
    first = len(before) // 2
    last = min(first + 3, len(before) - 1)
    shown(first)
    move(block, first, 0, (1, 1, 1))
    assert apply(frames="RANGE", first=first, last=last, selected_only=False) == {"FINISHED"}
    frames = list(range(first, last + 1))
    assert np.argwhere((before != frames_of(block)).any(axis=-1)).tolist() == [[frame, 0] for frame in frames]
    old, new = md2.read(file.data).vertices, md2.read(export_bytes(tmp_path / "b.md2")).vertices
    assert [nth for nth, (a, b) in enumerate(zip(old, new, strict=True)) if a.tobytes() != b.tobytes()] == frames


def test_every_change_is_applied(block):
    """Again and again: what is kept of the frames lasts."""
    before = frames_of(block)
    shown(1)
    for nth in range(4):
        move(block, 1, 5, UP)
        assert apply(frames="ALL", selected_only=False) == {"FINISHED"}
        moved = frames_of(block) - before
        assert np.allclose(moved[:, 5], UP * (nth + 1), atol=1e-3)
        assert np.allclose(np.delete(moved, 5, axis=1), 0, atol=1e-3)


def moved_at(block: Any, frame: int, point: int) -> Any:
    """Move a point in a frame, and apply that; returns how far points of all frames went."""
    before = frames_of(block)
    move(block, frame, point, UP)
    assert apply(frames="ALL", selected_only=False) == {"FINISHED"}
    return np.abs(frames_of(block) - before).max(axis=2) > 1e-3


def edit(block: Any, change: Any) -> None:
    activate(block)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    change(bmesh.from_edit_mesh(block.data))
    bmesh.update_edit_mesh(block.data)
    bpy.ops.object.mode_set(mode="OBJECT")


def gone(mesh: Any) -> None:
    mesh.verts.ensure_lookup_table()
    bmesh.ops.delete(mesh, geom=[mesh.verts[2]], context="VERTS")


def turned(mesh: Any) -> None:
    for vertex in mesh.verts:
        vertex.index = len(mesh.verts) - 1 - vertex.index
    mesh.verts.sort()


def another(mesh: Any) -> None:
    """Delete a vertex, and make one that has its number then."""
    gone(mesh)
    mesh.verts.new((0, 0, 20))


def nothing() -> None:
    pass


def renamed() -> None:
    assert bpy.ops.object.idtech_animation_rename(name="run", to="rush") == {"FINISHED"}


def made() -> None:
    assert bpy.ops.object.idtech_make_rig() == {"FINISHED"}


@pytest.mark.parametrize("meanwhile", [nothing, renamed, made])
@pytest.mark.parametrize("change", [gone, turned, another])
def test_after_other_vertices_the_next_change_counts_again(change, meanwhile, capfd):
    block = import_frames(PROJECT / "examples/stilt/players/stilt/tris.md2")
    shown(1)
    assert moved_at(block, 1, 5).any(axis=0).nonzero()[0].tolist() == [5]
    meanwhile()
    edit(block, change)
    shown(1)
    assert moved_at(block, 1, 4).any(axis=1).nonzero()[0].tolist() == [1]
    assert "nothing tells where the vertices of this frame were: it is remembered now" in capfd.readouterr().out
    assert moved_at(block, 1, 4).any(axis=0).nonzero()[0].tolist() == [4], "in all frames"
    assert moved_at(block, 1, 3)[:, 3].all()


def test_a_rig_that_comes_or_goes_is_no_change(tmp_path):
    block = import_frames(PROJECT / "examples/stilt/players/stilt/tris.md2")
    shown(3)
    moved_at(block, 3, 5)
    assert bpy.ops.object.idtech_make_rig() == {"FINISHED"}
    activate(block)
    shown(3)
    assert moved_at(block, 3, 5).any(axis=0).nonzero()[0].tolist() == [5]
    assert bpy.ops.object.idtech_remove_rig() == {"FINISHED"}
    shown(3)
    assert moved_at(block, 3, 5).any(axis=0).nonzero()[0].tolist() == [5]
