"""Models whose source is base frames and steps away from them, through Blender: nobody asks for codes."""

import bpy
import numpy as np
import pytest
from mathutils import Vector

from tests.blender.case import CONTEXT, open_case
from tests.samples import sample

ROPE = sample("animated", "mdc")


def test_meshes_know_it_without_their_collection():
    case = open_case(ROPE)
    other = bpy.data.collections.new("other")
    for block in list(case.collection.objects):
        other.objects.link(block)
        case.collection.objects.unlink(block)
    CONTEXT.scene.collection.children.link(other)
    case.built.collection = other
    assert case.both() == ROPE


def test_points_at_one_place_in_all_frames_are_welded():
    assert len(open_case(ROPE).surface().data.vertices) == 5, "one of six"


def moved(frame, vertex, way, index=0):
    """Return what changes where a point is moved in one frame."""
    case = open_case(ROPE)
    case.surface(index).data.shape_keys.key_blocks[frame].points[vertex].co += Vector(way)
    return case.changed()


def test_a_moved_point_is_coded_anew_in_its_frame_and_nothing_else():
    changed = moved(2, 3, (0, 0, 0.1), 1)
    assert {path for path in changed if "xyz" in path} == {"surfaces[1].frames[2].xyz[3]"}
    assert all(path.startswith(("surfaces[1].frames[2].normal", "frames[2]")) for path in changed if "xyz" not in path)


def bases_of(data):
    file = open_case(ROPE).row.read(data)
    return [len(surface.bases) for surface in file.surfaces], file


@pytest.mark.parametrize("frame", [0, 2])
def test_no_other_frame_follows_where_a_base_frame_changes(frame):
    """A base frame that others start from stays behind for them; steps that no longer reach get one of their own."""
    case = open_case(ROPE)
    before = case.row.load(ROPE, "x")
    case.surface().data.shape_keys.key_blocks[frame].points[2].co.z += 20
    counts, file = bases_of(case.both())
    assert counts == [3, 3], "for all surfaces alike"
    after = case.row.to_model(file, "x")
    for index, (one, other) in enumerate(zip(before.surfaces, after.surfaces, strict=True)):
        wanted = one.positions.copy()
        if index == 0:
            places = np.abs(other.positions[frame] - wanted[frame]).max(axis=1)
            assert (places > 0).sum() in {1, 2}, "the point is one vertex, or two"
            which = places > 0
            wanted[frame, which, 2] += 20
        np.testing.assert_allclose(other.positions, wanted, atol=1 / 127)
        where = np.ones(wanted.shape, np.bool_)
        where[frame] = index > 0
        np.testing.assert_array_equal(other.positions[where], one.positions[where])
