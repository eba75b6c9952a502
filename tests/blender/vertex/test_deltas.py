"""Models whose source is base frames and steps away from them, through Blender: nobody asks for codes."""

from typing import Any

import bpy
import numpy as np
import pytest

from io_idtech_models.blender.shading.materials import Materials
from io_idtech_models.blender.vertex.build import BuildSettings, build
from tests import mdc
from tests.blender.case import CONTEXT, Case, reopen
from tests.samples import corpus_params


def shown(data: bytes) -> Case:
    scene = CONTEXT.scene
    built = build(mdc.to_model(data), BuildSettings(), Materials(), scene, scene.collection)
    CONTEXT.view_layer.update()
    return Case(data, built)


def written(case: Case) -> bytes:
    """Return what an export writes, both ways, which must agree."""
    direct, stepped = (mdc.from_model(case.gather(uv_splits_vertices=True, direct=direct)) for direct in (True, False))
    assert direct == stepped
    return direct


def sources(data: bytes) -> list[Any]:
    return list(mdc.to_model(data).source.surfaces)


def test_a_file_comes_back():
    assert written(shown(mdc.rope())) == mdc.rope()


def test_a_file_comes_back_from_a_saved_blend():
    case = shown(mdc.rope())
    reopen(case)
    assert written(case) == mdc.rope()


def test_meshes_know_it_without_their_collection():
    case = shown(mdc.rope())
    other = bpy.data.collections.new("other")
    for block in list(case.collection.objects):
        other.objects.link(block)
        case.collection.objects.unlink(block)
    CONTEXT.scene.collection.children.link(other)
    case.built.collection = other
    model = case.gather(uv_splits_vertices=True)
    for one, wanted in zip(model.source.surfaces, sources(mdc.rope()), strict=True):
        for name in mdc.TABLES:
            assert getattr(one, name).tobytes() == getattr(wanted, name).tobytes()


def test_points_at_one_place_in_all_frames_are_welded():
    assert len(shown(mdc.rope()).surface().data.vertices) == 5, "one of six"


def test_a_moved_point_is_coded_anew_in_its_frame_and_nothing_else():
    case = shown(mdc.rope())
    keys = case.surface(1).data.shape_keys.key_blocks
    keys[2].points[3].co.z += 0.1  # a frame of deltas
    before, after = sources(mdc.rope()), sources(written(case))
    changed = np.argwhere((after[1].deltas != before[1].deltas)[..., :3])
    frame, vertex, axis = changed[0].tolist()
    assert (len(changed), frame, axis) == (1, 1, 2)
    assert int(after[1].deltas[frame, vertex, 2]) - int(before[1].deltas[frame, vertex, 2]) == 2
    assert after[1].bases.tobytes() == before[1].bases.tobytes()
    assert after[0].deltas.tobytes() == before[0].deltas.tobytes()


@pytest.mark.parametrize("file", corpus_params(".mdc"))
def test_real_files_come_back(file):
    if file.data.startswith(b"IDP3"):
        pytest.skip("an MD3 by another name")
    if not mdc.to_model(file.data).surfaces:
        pytest.skip("tags alone, which this MDC does not show")
    assert written(shown(file.data)) == file.data
