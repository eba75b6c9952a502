"""Keys that Blender's own buttons remove, copy or time anew, and what frame operators and exports make of these."""

from typing import Any

import numpy as np
import pytest

from io_idtech_models.tasks.animations.find import need_animations
from tests.samples import PROJECT, SENTINEL, put
from tests.ui.scene import activate, bpy, error_of, export_bytes, export_model, import_model

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
STILT = next(PROJECT.glob("examples/stilt/**/*.md2"))
insert, delete = bpy.ops.object.idtech_insert_frame, bpy.ops.object.idtech_delete_frame


def surfaces() -> list[Any]:
    return [block for block in bpy.context.scene.objects if block.type == "MESH"]


def with_keys(do: Any) -> None:
    """Do something with the keys of each surface."""
    for block in surfaces():
        activate(block)
        do(block)


def remove_key(place: int) -> None:
    bpy.context.scene.frame_set(place)

    def remove(block: Any) -> None:
        block.active_shape_key_index = place
        assert bpy.ops.object.shape_key_remove() == {"FINISHED"}

    with_keys(remove)
    bpy.context.view_layer.update()


def shown() -> list[Any]:
    """Return what the scene shows in each of its frames: vertices of surfaces, and where tags stand."""
    found = []
    for frame in range(bpy.context.scene.frame_end + 1):
        bpy.context.scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        meshes = [block.evaluated_get(depsgraph).data.vertices for block in surfaces()]
        places = [np.array([vertex.co[:] for vertex in mesh]) for mesh in meshes]
        tags = [np.array(block.matrix_world) for block in bpy.context.scene.objects if block.type == "EMPTY"]
        found.append([*places, *tags])
    return found


def assert_same(found: list[Any], wanted: list[Any]) -> None:
    assert len(found) == len(wanted)
    for frame, (one, other) in enumerate(zip(found, wanted, strict=True)):
        assert all(np.allclose(a, b, atol=1e-5) for a, b in zip(one, other, strict=True)), frame


@pytest.mark.parametrize("file", [STILT, SENTINEL], ids=["md2", "md3"])
@pytest.mark.parametrize("gap", [4, 0], ids=["within", "in front"])
@pytest.mark.parametrize("at", [8, None], ids=["elsewhere", "there"])
@pytest.mark.parametrize("operator", [insert, delete], ids=["insert", "delete"])
def test_a_frame_whose_key_was_removed_stays_a_frame(file, gap, at, operator):
    """So tags and actions, which have it still, agree with the keys; Delete Frame there closes the gap alone."""
    import_model(file)
    remove_key(gap)
    before = shown()
    place = gap if at is None else at
    wanted = [*before[: place + 1], *before[place:]] if operator == insert else [*before[:place], *before[place + 1 :]]
    bpy.context.scene.frame_set(place)
    assert operator() == {"FINISHED"}
    assert_same(shown(), wanted)


def test_animations_keep_their_frames():
    import_model(STILT)
    before = [(row.label, row.first, row.last) for row in need_animations(bpy.context).rows()]
    remove_key(4)
    bpy.context.scene.frame_set(8)
    assert insert() == {"FINISHED"}
    rows = [(row.label, row.first, row.last) for row in need_animations(bpy.context).rows()]
    assert rows == [(name, first + (first > 8), last + 1) for name, first, last in before]


@pytest.mark.parametrize("change", ["remove", "duplicate", "move"])
def test_so_they_do_where_the_list_moves_frames(change):
    import_model(STILT)
    remove_key(4)
    options = {"direction": "UP"} if change == "move" else {}
    assert getattr(bpy.ops.object, f"idtech_animation_{change}")(name="attack", **options) == {"FINISHED"}
    rows = {row.label: (row.first, row.last) for row in need_animations(bpy.context).rows()}
    names = [key.name for key in surfaces()[0].data.shape_keys.key_blocks]
    for name, (first, last) in rows.items():
        if name not in ("All Frames", "stand", "attack_copy"):
            assert all(each.startswith(name) for each in names[first : last + 1]), name


def test_keys_at_one_place_or_all_apart_are_refused():
    import_model(SENTINEL)
    with_keys(lambda _: bpy.ops.object.shape_key_retime())
    assert "lie more than a frame apart (Re-Time Shape Keys?): undo that" in error_of(insert)
    if bpy.app.version < (5, 0):
        return
    bpy.ops.wm.read_homefile(use_empty=True)
    import_model(SENTINEL)
    with_keys(lambda _: bpy.ops.object.shape_key_copy())
    said = (
        "lie at one place of the time (remove one of each pair, Insert Frame makes a frame of a copy): 'hover01' and '"
    )
    assert said in error_of(insert)
    assert said in error_of(bpy.ops.export_scene.idtech_md3, filepath="a.md3")


@pytest.mark.parametrize("file", [STILT, SENTINEL], ids=["md2", "md3"])
def test_keys_that_are_timed_anew_are_written_as_the_scene_shows_them(tmp_path, capfd, file):
    import_model(file)
    with_keys(lambda _: bpy.ops.object.shape_key_retime())
    wanted = shown()
    capfd.readouterr()
    model = export_model(tmp_path / f"a{file.suffix}")
    assert "it does not play the keys of" in capfd.readouterr().out
    assert model.num_frames == len(wanted)
    for frame, each in enumerate(wanted):
        own = np.concatenate([surface.positions[frame] for surface in model.surfaces])
        assert np.allclose(own.min(axis=0), np.concatenate(each[: len(surfaces())]).min(axis=0), atol=0.2), frame


def test_a_first_key_that_was_removed_is_said(tmp_path, capfd):
    import_model(STILT)
    remove_key(0)
    capfd.readouterr()
    export_bytes(tmp_path / "a.md2")
    assert "Scene Range' writes what is shown): before 'stand02'" in capfd.readouterr().out


@pytest.mark.parametrize("name", ["a.md2", "a.md3", "a.mdl"])
def test_frames_of_a_model_whose_keys_were_all_deleted(tmp_path, name):
    """It is one of a frame, which Insert Frame gives keys."""
    import_model(put(tmp_path / name))
    with_keys(lambda block: block.shape_key_clear())
    assert insert() == {"FINISHED"}
    assert all(len(block.data.shape_keys.key_blocks) == 2 for block in surfaces())
    assert export_model(tmp_path / f"b{name[1:]}").num_frames == 2
