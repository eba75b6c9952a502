"""Faces copied inside one mesh show the source's normals in every frame, turned along with what made the copy."""

from typing import Any

import bmesh
import bpy
import numpy as np
import pytest

from io_idtech_models import formats
from io_idtech_models.blender.mesh import attributes as meshes
from tests.blender.case import Case, angle, edited, in_edit_mode, open_case, select_faces
from tests.samples import SENTINEL, format_of

pytestmark = pytest.mark.usefixtures("empty_scene")

SHIFT = (0.0, 150.0, 0.0)
MOVES = {
    "moved": (np.eye(3), SHIFT, False),
    "mirrored": (np.diag((1.0, -1.0, 1.0)), SHIFT, True),
    "the other side": (np.eye(3), (0, 0, 0), True),
}
NEAR = 0.1  # degrees


@pytest.fixture(params=["md3", "mdl"])
def case(request) -> Case:
    model = format_of(SENTINEL.read_bytes()).load(SENTINEL.read_bytes(), "sentinel")
    return open_case(formats.by_name(request.param).dump(model))


def copy_faces(block: Any, axes: Any, shift: Any, flipped: bool) -> None:
    """Copy the mesh's faces; in all keys the copy is turned by `axes` (3, 3), and moved."""
    first, faces = len(block.data.vertices), len(block.data.polygons)
    edited(block, lambda bm: bmesh.ops.duplicate(bm, geom=bm.faces))
    if flipped:
        chosen = range(faces, len(block.data.polygons))
        in_edit_mode(block, lambda: select_faces(block, chosen), bpy.ops.mesh.flip_normals)
    for key in [block.data, *block.data.shape_keys.key_blocks]:
        points = key.vertices if key == block.data else key.points
        places = np.empty(3 * len(points), np.float32)
        points.foreach_get("co", places)
        rows = places.reshape(-1, 3)
        rows[first:] = rows[first:] @ np.asarray(axes).T + shift
        points.foreach_set("co", rows.ravel())
    block.data.update()


def normals_of(case: Case) -> tuple[Any, Any, Any]:
    """Return the source's vertices (n,) that were copied, and the normals (F, n, 3) of these and of the copies."""
    gathered = case.gather()
    surface = case.row.shape(gathered).surfaces[0]
    numbers = gathered.surfaces[0].copies
    assert numbers is not None
    made = np.flatnonzero(numbers >= 0)
    before = case.row.load(case.data, "before").surfaces[0].normals
    return numbers[made], before[:, numbers[made]], surface.normals[:, made]


@pytest.mark.parametrize("move", MOVES)
def test_normals_of_copied_faces_go_along(case, move):
    axes, shift, flipped = MOVES[move]
    copy_faces(case.surface(), axes, shift, flipped)
    copied, before, after = normals_of(case)
    assert len(copied) > 100
    sign = np.linalg.det(axes) * (-1 if flipped else 1)
    assert angle(after, sign * (before @ axes.T)).max() < NEAR


@pytest.mark.parametrize("move", ["moved", "mirrored"])
def test_normals_that_were_chosen_for_a_copy_stay(case, move):
    block = case.surface()
    copy_faces(block, *MOVES[move])
    chosen = meshes.corner_normals(block.data).copy()
    far = meshes.positions(block.data)[meshes.corner_points(block.data), 1] > SHIFT[1] / 2
    chosen[far] = (0.6, 0.0, 0.8)
    block.data.normals_split_custom_set(chosen)
    after = normals_of(case)[2]
    assert angle(after[0], np.broadcast_to((0.6, 0.0, 0.8), after[0].shape)).max() < 1.0


def test_normals_that_were_chosen_before_go_along_with_the_copy_as_shown(case):
    block = case.surface()
    block.data.normals_split_custom_set([(0.6, 0.0, 0.8)] * len(block.data.loops))
    copy_faces(block, *MOVES["moved"])
    after = normals_of(case)[2]
    assert angle(after[0], np.broadcast_to((0.6, 0.0, 0.8), after[0].shape)).max() < 1.0


def test_a_copy_that_something_was_built_on_shows_there_what_blender_does(case):
    block = case.surface()
    points = len(block.data.vertices)
    copy_faces(block, *MOVES["moved"])
    free = case.gather().surfaces[0].copies

    def build(bm: Any) -> None:
        bm.faces.new([bm.verts[points], bm.verts.new((0.0, 200.0, 0.0)), bm.verts.new((0.0, 200.0, 9.0))])

    edited(block, build)
    left = case.gather().surfaces[0].copies
    lost = np.setdiff1d(free, left)
    assert 0 < len(lost) < 9, "the vertices of one point"
