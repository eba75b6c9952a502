"""A model, or a part of it, that is mirrored, turned or scaled as a whole keeps its normals, which go along exactly."""

from __future__ import annotations

from typing import Any

import bmesh
import bpy as blender
import numpy as np
import pytest
from mathutils import Matrix

from io_idtech_models.formats import by_name
from io_idtech_models.model.skeletal import skin
from io_idtech_models.model.transforms import chain, rotate
from tests.blender.case import activate, angle, in_edit_mode
from tests.blender.skeletal.mdm_case import open_figure
from tests.blender.vertex.md3_case import open_case
from tests.samples import PROJECT, SENTINEL

bpy: Any = blender  # the stubs make each object's data a union
pytestmark = pytest.mark.usefixtures("empty_scene")
STILT = PROJECT / "examples" / "stilt" / "players" / "stilt" / "tris.md2"
# A code's worst error, and of positions that are rounded, too.
CLOSE = {"md3": 1.6, "md2": 10.5}


MODELS = [pytest.param(SENTINEL, id="sentinel"), pytest.param(STILT, id="stilt")]


def applied(case: Any, **change: Any) -> None:
    activate(*case.built.surfaces)
    for block in case.built.surfaces:
        for name, value in change.items():
            setattr(block, name, value)
    bpy.ops.object.transform_apply(location=False, rotation=True, scale=True)


def script(case: Any, flip: bool) -> None:
    for block in case.built.surfaces:
        block.data.transform(Matrix.Scale(-1, 4, (1, 0, 0)), shape_keys=True)
        if flip:
            block.data.flip_normals()


def mirror() -> None:
    bpy.ops.transform.mirror(constraint_axis=(True, False, False), orient_type="GLOBAL", center_override=(0, 0, 0))


def unapplied(case: Any, scale: Any) -> None:
    for block in case.built.surfaces:
        block.scale = scale


X = np.diag([-1.0, 1.0, 1.0])
TURN = np.array(Matrix.Rotation(0.7, 3, "Z"))
STRETCH = (1.5, 0.75, 0.5)
# What is done, and the map that it is.
WAYS: dict[str, tuple[Any, Any]] = {
    "mirrored": (lambda case: unapplied(case, (-1, 1, 1)), X),
    "mirrored and applied": (lambda case: applied(case, scale=(-1, 1, 1)), X),
    "mirrored in edit mode": (lambda case: in_edit_mode(case.built.surfaces, mirror), X),
    "mirrored in edit mode, flipped": (
        lambda case: in_edit_mode(case.built.surfaces, mirror, bpy.ops.mesh.flip_normals),
        X,
    ),
    "mirrored by a script": (lambda case: script(case, flip=False), X),
    "mirrored by a script, flipped": (lambda case: script(case, flip=True), X),
    "turned and applied": (lambda case: applied(case, rotation_euler=(0, 0, 0.7)), TURN),
    "stretched": (lambda case: unapplied(case, STRETCH), np.diag(STRETCH)),
    "stretched and applied": (lambda case: applied(case, scale=STRETCH), np.diag(STRETCH)),
    "flipped": (lambda case: in_edit_mode(case.built.surfaces, bpy.ops.mesh.flip_normals), np.eye(3)),
}


def sides(before: Any, after: Any) -> float:
    """Return -1 where the triangles run the other way round, else 1."""
    same = [any(np.array_equal(np.roll(b, s), a) for s in range(3)) for a, b in zip(after, before, strict=True)]
    assert all(same) or not any(same)
    return 1.0 if all(same) else -1.0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("path", MODELS)
def test_normals_go_along(path, way):
    data = path.read_bytes()
    case = open_case(data)
    edit, matrix = WAYS[way]
    edit(case)
    row = by_name(path.suffix[1:])
    before, after = (row.load(bytes(found), "x") for found in (data, case.both()))
    upright = np.linalg.det(matrix) * np.linalg.inv(matrix).T
    frames = [0] if "edit mode" in way else [0, before.num_frames - 1]  # there the active key alone is moved
    for old, new in zip(before.surfaces, after.surfaces, strict=True):
        assert new.positions.shape == old.positions.shape
        side = sides(old.triangles, new.triangles)
        for frame in frames:
            wanted = side * old.normals[frame].astype(np.float64) @ upright.T
            assert angle(new.normals[frame], wanted).max() < CLOSE[row.name]
            moved = old.positions[frame].astype(np.float64) @ matrix.T
            assert np.abs(new.positions[frame] - moved).max() < (0.02 if row.name == "md3" else 0.3)


def test_a_part_that_is_mirrored_in_edit_mode():
    """The others stay as they are, bit for bit."""
    case = open_case(SENTINEL.read_bytes())

    def select() -> None:
        bpy.ops.mesh.select_all(action="DESELECT")
        next(iter(bmesh.from_edit_mesh(case.surface().data).verts)).select_set(True)
        bpy.ops.mesh.select_linked()

    in_edit_mode(case.surface(), select, mirror, bpy.ops.mesh.flip_normals)
    before, after = (case.row.load(found, "x").surfaces[0] for found in (case.data, case.both()))
    assert before.positions.shape == after.positions.shape
    moved = (before.positions[0] != after.positions[0]).any(axis=1)
    assert moved.any() and not moved.all()
    assert angle(after.normals[0], before.normals[0] * (-1, 1, 1))[moved].max() < CLOSE["md3"]
    still = ~(before.positions[0, :, None] == before.positions[0, moved][None]).all(axis=2).any(axis=1)
    assert np.array_equal(after.normals[0][still], before.normals[0][still])


@pytest.mark.parametrize("flip", [False, True])
def test_a_skinned_mesh_that_is_mirrored(flip):
    figure = open_figure(bind=0)
    in_edit_mode(figure.mesh(), mirror, *[bpy.ops.mesh.flip_normals] * flip)
    row, bones = by_name("mdm"), next(iter(figure.motions.values()))
    shown = []
    for data in (figure.data, figure.dump()):
        mesh = row.load(data, "x", {"mdx": bones}).meshes[0]
        motion = by_name("mdx").load(bones, "x")
        places, turns = chain(motion.parents, motion.positions[:1], motion.rotations[:1])
        normals = rotate(turns[0][mesh.weights.first_joints()], mesh.normals)
        shown.append((skin(mesh.weights, places[0], turns[0]), normals))
    (before, straight), (after, turned) = shown
    assert np.abs(after - before * (-1, 1, 1)).max() < 0.05
    side = 1.0 if flip else -1.0
    assert angle(turned, side * straight * (-1, 1, 1)).max() < 0.1
