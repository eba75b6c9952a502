"""Faces that are turned over, or mirrored and turned: normals point the way they do, in whatever format."""

from __future__ import annotations

import numpy as np
import pytest

from tests.samples import PROJECT, SENTINEL
from tests.ui.scene import activate, bpy, export_model, import_model

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
STILT = PROJECT / "examples/stilt/players/stilt/tris.md2"


def turn(mirrored):
    """Turn all faces of the selected meshes over, and mirror what has them, if that is wanted."""
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    if mirrored:
        bpy.ops.transform.mirror(constraint_axis=(False, True, False))
    bpy.ops.mesh.flip_normals()
    bpy.ops.object.mode_set(mode="OBJECT")


def inward(surface):
    """Return how large a part of the faces has normals that point to its back, in the first frame and in the last."""
    found = []
    for positions, normals in ((surface.positions[i], surface.normals[i]) for i in (0, -1)):
        corners = positions[surface.triangles].astype(np.float64)
        ways = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        ahead = (ways * normals[surface.triangles].sum(axis=1)).sum(axis=1)
        found.append(float((ahead[np.linalg.norm(ways, axis=1) > 1e-6] < 0).mean()))
    return found


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize(
    ("source", "kind"),
    [(SENTINEL, "md3"), (SENTINEL, "mdc"), (SENTINEL, "ase"), (STILT, "md2"), (STILT, "mdl"), (STILT, "md3")],
)
def test_normals_follow_their_faces(source, kind, mirrored, tmp_path):
    blocks = [block for block in import_model(source).objects if block.type == "MESH"]
    activate(*blocks)
    turn(mirrored)
    found = export_model(tmp_path / f"a.{kind}", **({} if kind == "ase" else {"frames": "KEYS"}))
    assert max(max(inward(surface)) for surface in found.surfaces) < 0.02
