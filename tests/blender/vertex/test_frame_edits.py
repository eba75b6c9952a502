"""F2 of frames, whichever the format: those that stay keep every bit when others come, go or are renamed."""

from typing import Any

import bpy
import pytest

from io_idtech_models.reporting import LimitError
from tests.blender.case import CONTEXT, activate, add_playing_key, open_case
from tests.blender.vertex.test_modifiers import still
from tests.facts import facts, moved_frames
from tests.samples import SENTINEL, corpus, sample_params

ops: Any = bpy.ops.object  # the stubs know nothing of our own operators
pytestmark = pytest.mark.usefixtures("empty_scene")
REAL = [file for file in corpus(".md2") if file.path.as_posix().endswith("v_blast/tris.md2")]  # has odd triangles
FILES = [
    *sample_params("animated", "odd_layout", "unused"),
    pytest.param(SENTINEL.read_bytes(), id="sentinel"),
    *(pytest.param(file.data, id=file.entry["path"]) for file in REAL),
]


@pytest.fixture(params=FILES)
def case(request):
    found = open_case(request.param)
    activate(found.surface())
    return found


def test_a_renamed_key_is_a_renamed_frame(case):
    for block in case.built.surfaces:
        block.data.shape_keys.key_blocks[1].name = "jump07"
    assert case.changed() == {"frames[1].name"}
    assert facts(case.dump())["frames[1].name"].startswith(b"jump07\0")


@pytest.mark.parametrize("count", [True, 1, 99])
def test_a_number_of_frames_of_another_model_is_none(case, count):
    case.built.collection["idtech_frames"] = count
    before = len(case.surface().data.shape_keys.key_blocks)
    assert ops.idtech_insert_frame() == {"FINISHED"}
    assert len(case.surface().data.shape_keys.key_blocks) == before + 1


def test_a_key_that_one_surface_alone_lost_is_said_also_where_frames_are_called_alike():
    """As 3ds Max calls them; then each last key has the name of a copy of the first."""
    case = open_case(SENTINEL.read_bytes())
    first, *others = case.built.surfaces
    assert others
    for block in case.built.surfaces:
        for key in block.data.shape_keys.key_blocks:
            key.name = "(from 3DSMax)"
    first.shape_key_remove(first.data.shape_keys.key_blocks[-1])
    with pytest.raises(LimitError, match="list different frames"):
        case.dump()


def test_an_inserted_frame(case):
    CONTEXT.scene.frame_set(1)
    assert ops.idtech_insert_frame() == {"FINISHED"}
    count = len(case.surface().data.shape_keys.key_blocks)
    found, wanted = facts(case.both()), moved_frames(case.data, lambda frame: frame + (frame > 1), count)
    assert {path: found[path] for path in wanted} == wanted
    new = found.keys() - wanted.keys()
    assert new == {path for path in found if "frames[2]" in path}
    made_anew = (".name", ".mins", ".maxs", ".radius", ".axis")
    copied = [path for path in new if not path.endswith(made_anew)]
    assert [path for path in copied if found[path] != found[path.replace("frames[2]", "frames[1]")]] == []


def test_a_surface_that_is_there_twice_gets_a_frame_once(case):
    """Linked objects share a mesh, and its keys."""
    block = case.surface()
    twin = block.copy()
    case.built.collection.objects.link(twin)
    count = len(block.data.shape_keys.key_blocks)
    for operator, more in ((ops.idtech_insert_frame, 1), (ops.idtech_delete_frame, 0)):
        assert operator() == {"FINISHED"}
        assert twin.data == block.data
        assert {len(each.data.shape_keys.key_blocks) for each in case.built.surfaces} == {count + more}


@pytest.mark.parametrize("by_hand", [False, True], ids=["operator", "keys"])
@pytest.mark.parametrize("frame", [0, 2, -1])
def test_a_deleted_frame(case, frame, by_hand):
    count = len(case.surface().data.shape_keys.key_blocks)
    frame %= count
    if by_hand:
        for block in case.built.surfaces:
            block.shape_key_remove(block.data.shape_keys.key_blocks[frame])
    else:
        CONTEXT.scene.frame_set(frame)
        assert ops.idtech_delete_frame() == {"FINISHED"}
    left = moved_frames(case.data, lambda old: None if old == frame else old - (old > frame), count - 1)
    assert facts(case.both()) == left


def smile(block: Any) -> None:
    add_playing_key(block, "smile", 8.0, {0: 0.0, 1: 1.0, 2: 0.5})


def test_relative_keys_of_ones_own_are_no_frames_and_stay_when_one_is_inserted():
    case = open_case(still(SENTINEL.read_bytes()))
    smile(case.surface(0))
    keys = case.surface(0).data.shape_keys
    activate(case.surface(0))
    assert ops.idtech_insert_frame() == {"FINISHED"}
    assert [key.name for key in keys.key_blocks] == ["Basis", "smile"]
    assert len(case.surface(1).data.shape_keys.key_blocks) == 2
    after = case.after()
    assert len(after.frames) == 2
    heights = after.surfaces[0].vertices["xyz"][:, :, 2].astype(int)
    assert (heights[1] - heights[0]).max() == 512, "it plays, as the scene shows it"


def test_no_frame_is_inserted_where_all_keys_are_ones_own():
    case = open_case(still(SENTINEL.read_bytes()))
    for block in case.built.surfaces:
        smile(block)
    activate(case.surface(0))
    with pytest.raises(RuntimeError, match="relative shape keys are no frames: with Relative off"):
        ops.idtech_insert_frame()
