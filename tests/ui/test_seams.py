"""Where texture coordinates have a seam Blender shows one smooth point, which is several vertices of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy as blender
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.ui.scene import activate, export_bytes, import_model

bpy: Any = blender  # the stubs make each object's data a union
pytestmark = pytest.mark.usefixtures("empty_scene")
COARSE = {"mdc": 6.0}  # degrees that codes of normals are off at most, of a vertex that moved


def sheet(creased: bool) -> Any:
    """Add a grid of 5 by 5 points, of which the half to the right is an island of its own; `creased`: bent there."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=4, y_subdivisions=4, size=40)
    block = bpy.context.object
    block.data.shade_smooth()
    for face in (face for face in block.data.polygons if face.center.x > 0):
        for corner in face.loop_indices:
            block.data.uv_layers[0].uv[corner].vector.y += 1.5
    if creased:
        for vertex in block.data.vertices:
            vertex.co.z = -abs(vertex.co.x)
        for edge in block.data.edges:
            edge.use_edge_sharp = all(abs(block.data.vertices[each].co.x) < 1 for each in edge.vertices)
    return block


def bound(block: Any) -> None:
    data = bpy.data.armatures.new("bones")
    rig = bpy.data.objects.new("bones", data)
    bpy.context.scene.collection.objects.link(rig)
    activate(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    data.edit_bones.new("root").tail = (0, 0, 8)
    bpy.ops.object.mode_set(mode="OBJECT")
    block.vertex_groups.new(name="root").add(range(len(block.data.vertices)), 1.0, "REPLACE")
    block.modifiers.new("bones", "ARMATURE").object = rig
    block.parent = rig


def mesh() -> Any:
    return next(block for block in bpy.context.scene.objects if block.type == "MESH")


def corners(block: Any) -> NDArray[np.float64]:
    """Return places and normals of the corners that Blender shows, (C, 6)."""
    data = block.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    normals = [data.corner_normals[loop.index].vector for loop in data.loops]
    return np.array([[*data.vertices[loop.vertex_index].co, *n] for loop, n in zip(data.loops, normals, strict=True)])


def apart(shown: NDArray[np.float64], file: NDArray[np.float64]) -> float:
    """Return how far a normal of the file is at most, in degrees, from all that Blender shows at its place."""
    cosines = []
    for row in file:
        near = shown[np.abs(shown[:, :3] - row[:3]).max(axis=1) < 0.1]
        assert len(near)
        cosines.append((near[:, 3:] @ row[3:]).max())
    return float(np.degrees(np.arccos(np.clip(min(cosines), -1.0, 1.0))))


@pytest.mark.parametrize("creased", [False, True])
@pytest.mark.parametrize("kind", ["md3", "mdc", "ase", "iqm", "mdr", "mds"])
def test_a_vertex_beside_it_turns_both_sides(kind: str, creased: bool, tmp_path: Path):
    block = sheet(creased)
    if kind in {"iqm", "mdr", "mds"}:
        bound(block)
    first, edited = tmp_path / f"first.{kind}", tmp_path / f"edited.{kind}"
    export_bytes(first)
    bpy.ops.wm.read_homefile(use_empty=True)
    import_model(first)
    block = mesh()
    beside = min(block.data.vertices, key=lambda vertex: (vertex.co.x + 10) ** 2 + vertex.co.y**2)
    beside.co.z += 12
    bpy.context.view_layer.update()
    shown = corners(block)
    export_bytes(edited)
    bpy.ops.wm.read_homefile(use_empty=True)
    import_model(edited)
    assert apart(shown, corners(mesh())) < COARSE.get(kind, 2.0)
