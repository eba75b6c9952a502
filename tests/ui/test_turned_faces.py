"""Faces that are turned over, or mirrored and turned: normals point the way they do, in whatever format."""

from __future__ import annotations

import numpy as np
import pytest

from io_idtech_models.assets.convert import Posing, convert
from io_idtech_models.assets.export_request import ExportRequest
from io_idtech_models.game.folders import Disk
from tests.samples import PROJECT, SENTINEL, load
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


@pytest.mark.parametrize("kind", ["md2", "mdl"])
def test_vertices_that_become_one_have_the_mean_of_their_normals(tmp_path, kind):
    """As where a file is converted without Blender: hard edges are several vertices of an MD3, and one of an MD2."""
    convert(Disk().file(SENTINEL), ExportRequest(tmp_path / f"plain.{kind}", shorten=True), Posing())
    (plain,) = load((tmp_path / f"plain.{kind}").read_bytes()).surfaces
    import_model(SENTINEL)
    (found,) = export_model(tmp_path / f"a.{kind}").surfaces
    assert max(inward(found)) < 0.02
    places, there = (s.positions[0][s.triangles].reshape(-1, 3) for s in (plain, found))
    wanted, normals = (s.normals[0][s.triangles].reshape(-1, 3) for s in (plain, found))
    near = ((places[:, None] - there[None]) ** 2).sum(axis=2)
    apart = np.array([(normals[row <= row.min() + 0.3] @ want).max() for row, want in zip(near, wanted, strict=True)])
    assert np.mean(apart > 0.98) > 0.97
