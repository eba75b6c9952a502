"""How an MD3 looks in Blender; what all formats have in common is in test_round_trip."""

import bpy
import numpy as np
import pytest

from io_idtech_models.blender.compat import HAS_SLOTS, playing_curves
from io_idtech_models.blender.empties import decompose
from tests.blender.case import CONTEXT, open_case, positions_at, vertices_of
from tests.samples import SENTINEL

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_scene_frame_is_file_frame():
    case = open_case(SENTINEL.read_bytes())
    scene = CONTEXT.scene
    assert (scene.frame_start, scene.frame_end) == (0, len(case.before.frames) - 1)
    for surface, block in zip(case.before.surfaces, case.built.surfaces, strict=True):
        points, numbers = vertices_of(block)
        numbers = numbers - numbers.min()
        for frame in (0, 5, len(case.before.frames) - 1):
            wanted = surface.vertices["xyz"][frame].astype(np.float32) / 64
            assert np.array_equal(positions_at(block, frame)[points], wanted[numbers])
    for index, tag in enumerate(case.built.tags):
        CONTEXT.scene.frame_set(7)
        shown = np.array(tag.matrix_world, np.float32)
        assert np.array_equal(shown[:3, 3], case.before.tags["origin"][7, index])
        assert np.allclose(shown[:3, :3].T, case.before.tags["axis"][7, index], atol=1e-5)


def test_objects_are_named_after_surfaces_share_materials_and_play_one_action():
    case = open_case(SENTINEL.read_bytes())
    keys = [block.data.shape_keys for block in case.built.surfaces]
    actions = {key.animation_data.action for key in keys}
    assert len(actions) == 1
    assert [curve.data_path for curve in playing_curves(keys[1])] == ["eval_time"]
    if HAS_SLOTS:
        assert {tag.animation_data.action for tag in case.built.tags} == actions
        assert len(bpy.data.actions) == 1
    names = [s.header["name"].decode() for s in case.before.surfaces]
    assert [block.name for block in case.built.surfaces] == names
    assert [tag.name for tag in case.built.tags] == [n.decode() for n in case.before.tags[0]["name"]]
    assert all(tag.empty_display_type == "ARROWS" for tag in case.built.tags)
    shaders = {e.decode() for s in case.before.surfaces for e in s.shaders["name"]}
    assert {m.name for m in bpy.data.materials if m.users} == shaders


def test_the_axes_of_several_tags_are_taken_apart_as_each_alone():
    random = np.random.default_rng(5)
    axes = random.normal(size=(9, 4, 3, 3))
    axes[:, 1] = np.eye(3)
    axes[3, 2] = 0.0
    together = decompose(axes)
    for index in range(4):
        alone = decompose(axes[:, index])
        assert all(np.allclose(a[:, index], b, rtol=0, atol=2e-7) for a, b in zip(together, alone, strict=True))
        assert (alone[0].shape, alone[1].shape) == ((9, 4), (9, 3))
