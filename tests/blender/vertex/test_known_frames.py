"""A key is the frame of its file that has its shape, whatever it is called now."""

from __future__ import annotations

import numpy as np
import pytest

from tests.blender.case import open_case
from tests.samples import SENTINEL, load, sample_params

pytestmark = pytest.mark.usefixtures("empty_scene")
MODELS = [*sample_params("animated"), pytest.param(SENTINEL.read_bytes(), id="sentinel")]


def shifted(names):
    return [f"{names[0]}_before", *names[:-1]]


def swapped(names):
    return [names[0], names[2], names[1], *names[3:]]


def counted(names):
    return [f"new{number}" for number in range(len(names))]


def rename(case, how):
    """Rename the keys of all meshes in Blender's own list."""
    for block in case.built.surfaces:
        keys = block.data.shape_keys.key_blocks
        wanted = how([key.name for key in keys])
        for number, key in enumerate(keys):
            key.name = f"between {number}"
        for key, name in zip(keys, wanted, strict=True):
            key.name = name


def of_frames(data):
    """Return what a file has of each frame of its surfaces."""
    model = load(data)
    rows = range(model.num_frames)
    return [[(s.positions[row].tobytes(), s.normals[row].tobytes()) for s in model.surfaces] for row in rows]


@pytest.mark.parametrize("how", [shifted, swapped, counted])
@pytest.mark.parametrize("data", MODELS)
def test_renamed_keys_keep_their_normals(data, how):
    case = open_case(data)
    rename(case, how)
    assert of_frames(case.dump()) == of_frames(data)


def test_frames_counted_through_after_one_went():
    data = SENTINEL.read_bytes()
    case, names = open_case(data), load(data).frame_names
    for block in case.built.surfaces:
        block.shape_key_remove(block.data.shape_keys.key_blocks[5])
    rename(case, lambda keys: names[: len(keys)])
    wanted = of_frames(data)
    assert of_frames(case.dump(frames="KEYS")) == wanted[:5] + wanted[6:]


def test_a_frame_that_was_edited_is_what_it_is_called():
    """Also where others were renamed, and where it was made like another one."""
    case = open_case(SENTINEL.read_bytes())
    lead, *others = case.built.surfaces
    keys = lead.data.shape_keys.key_blocks
    rename(case, lambda names: [names[0], names[2], names[1], *names[3:]])
    for point in keys[7].points:
        point.co.z += 3.0
    case.built.surfaces[0].data.update()
    plan = case.gather()
    assert plan.frame_sources.tolist() == list(range(len(keys)))
    for block in (lead, *others):
        blocks = block.data.shape_keys.key_blocks
        moved = np.empty(3 * len(block.data.vertices), np.float32)
        blocks[11].points.foreach_get("co", moved)
        blocks[7].points.foreach_set("co", moved)
    assert case.gather().frame_sources.tolist() == list(range(len(keys)))


@pytest.mark.parametrize("how", [None, shifted])
def test_a_copy_of_a_frame_takes_its_place_from_none(how):
    """Nor where all were renamed meanwhile."""
    case = open_case(SENTINEL.read_bytes())
    for block in case.built.surfaces:
        keys = block.data.shape_keys.key_blocks
        moved = np.empty(3 * len(block.data.vertices), np.float32)
        keys[5].points.foreach_get("co", moved)
        block.shape_key_add(name="mine", from_mix=False).points.foreach_set("co", moved)
    if how is not None:
        rename(case, how)
    assert case.gather(frames="KEYS").frame_sources.tolist() == [*range(20), 5]


def test_frames_that_were_made_alike_are_what_they_are_called():
    """As Hold Still makes them."""
    case = open_case(SENTINEL.read_bytes())
    for block in case.built.surfaces:
        keys = block.data.shape_keys.key_blocks
        held = np.empty(3 * len(block.data.vertices), np.float32)
        keys[5].points.foreach_get("co", held)
        for key in keys:
            key.points.foreach_set("co", held)
    assert case.gather().frame_sources.tolist() == list(range(20))


def test_a_mesh_that_was_changed_in_all_frames_goes_by_names():
    case = open_case(SENTINEL.read_bytes())
    for block in case.built.surfaces:
        for key in block.data.shape_keys.key_blocks:
            for point in key.points:
                point.co *= 1.5
    rename(case, swapped)
    assert case.gather().frame_sources.tolist()[:4] == [0, 2, 1, 3]
