"""Normals count as edited where what Blender stores of them changed, or what is sharp, and then as they are shown."""

from __future__ import annotations

from typing import Any

import bpy as blender
import numpy as np
import pytest

from io_idtech_models.blender import compat
from io_idtech_models.blender.mesh import attributes as meshes
from io_idtech_models.blender.mesh import normal_codes
from io_idtech_models.formats.common import normals as _normals
from tests import samples_md3
from tests.blender.case import CONTEXT, activate, in_edit_mode
from tests.blender.vertex.md3_case import open_case
from tests.samples import SENTINEL, sample

bpy: Any = blender  # the stubs make each object's data a union
pytestmark = pytest.mark.usefixtures("empty_scene")
CLOSE = np.cos(np.radians(1.5))  # a code's worst error, and a little


@pytest.fixture(params=["flap", "sentinel"])
def case(request):
    return open_case(sample("flap") if request.param == "flap" else SENTINEL.read_bytes())


def written(case: Any, surface: int = 0) -> Any:
    """Return positions (V, 3) and normals (V, 3) of the first frame of what an export writes."""
    found = case.after().surfaces[surface].vertices[0]
    normals = _normals.decode_latlong(found["normal"]).astype(np.float64)
    return found["xyz"] / 64.0, normals / np.linalg.norm(normals, axis=1)[:, None]


def assert_as_shown(case: Any, block: Any) -> None:
    """Each corner's place and normal is one of the file's vertices."""
    places, normals = written(case)
    mesh = block.data
    points = meshes.positions(mesh)[meshes.corner_points(mesh)]
    for place, normal in zip(points, meshes.corner_normals(mesh), strict=True):
        near = (np.abs(places - place) < 1e-3).all(axis=1)
        assert (normals[near] @ normal).max() > CLOSE


def test_nothing_is_changed_by_import_and_edit_mode(case):
    for block in case.built.surfaces:
        if compat.NORMAL_CODES or block.data.attributes.get(normal_codes.CODE) is not None:
            assert not normal_codes.changed(block.data).any()
    in_edit_mode(case.surface(), lambda: bpy.ops.mesh.select_mode(type="FACE"))
    assert case.changed() == set()


@pytest.mark.parametrize("how", ["flat", "sharp"])
def test_what_is_made_sharp_is_written_as_shown(case, how):
    block = case.surface()
    if how == "flat":
        activate(block)
        bpy.ops.object.shade_flat()
    else:
        in_edit_mode(block, bpy.ops.mesh.mark_sharp)
    assert normal_codes.changed(block.data).any()
    if len(block.data.polygons) > 10:
        assert case.changed()
        assert_as_shown(case, block)


def test_normals_set_by_hand_are_written_as_shown():
    case = open_case(SENTINEL.read_bytes())
    block = case.surface()
    mesh = block.data
    normals = meshes.corner_normals(mesh)
    normals[meshes.corner_points(mesh) == 3] = (0.6, 0.0, 0.8)
    mesh.normals_split_custom_set(normals)
    assert case.changed()
    places, found = written(case)
    here = (np.abs(places - meshes.positions(mesh)[3]) < 1e-3).all(axis=1)
    assert (found[here] @ (0.6, 0.0, 0.8)).max() > CLOSE


def test_normals_beside_a_triangle_without_area_are_written_where_nothing_else_was_edited():
    """Where faces change as well, Blender shows others there than anyone chose."""
    spec = samples_md3.flap()
    surface = spec.surfaces[0]
    surface.frames = [[*frame, (-32, -288, 128 + 32 * f, 0, 0)] for f, frame in enumerate(surface.frames)]
    surface.st.append((0.75, 0.25))  # at the middle of two vertices, and not theirs
    surface.triangles.append((1, 6, 5))
    case = open_case(spec.pack())
    mesh = case.surface().data
    mesh.normals_split_custom_set([(0.6, 0.0, 0.8)] * len(mesh.loops))
    assert (written(case)[1] @ (0.6, 0.0, 0.8)).min() > CLOSE


def test_a_torn_copy_tells_what_changed():
    """As older Blenders need it, which have no attribute."""
    case = open_case(sample("flap"))
    mesh = case.surface().data
    before = normal_codes._torn_normals(mesh)
    assert (normal_codes._torn_normals(mesh) == before).all()
    normals = meshes.corner_normals(mesh)
    normals[4] = (0.0, 0.6, 0.8)
    mesh.normals_split_custom_set(normals)
    after = normal_codes._torn_normals(mesh)
    assert (np.abs(after - before).max(axis=1) > normal_codes.SAME).any()
    assert CONTEXT.scene is not None and not [m for m in bpy.data.meshes if m.name.startswith("torn")]
