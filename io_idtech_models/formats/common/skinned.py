"""Skinned meshes of MDM's kin: vertices with a normal, texture coordinates and weights, to a model's and back."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.skeletal import SkinnedMesh, SkinnedMeshSource, Weights
from .bones import Bones, heaviest_first, in_space_of
from .hints import Wanted, finite
from .records import encode_name
from .uv import flipped
from .weighted import WEIGHT

log = logging.getLogger(__name__)


def mesh_source(
    names: tuple[str, str],
    vertices: NDArray[Any],
    table: NDArray[Any],
    triangles: NDArray[Any],
    facts: Mapping[str, NDArray[Any]],
) -> SkinnedMeshSource:
    """Return a file's mesh, its name and shader given: vertices (V,), WEIGHT (W,), clockwise triangles (T, 3)."""
    counts = vertices["num_weights"]
    weights = Weights(
        (np.cumsum(counts) - counts).astype(np.int32),
        np.ascontiguousarray(counts, np.int32),
        np.ascontiguousarray(table["bone"], np.int32),
        np.ascontiguousarray(table["weight"], np.float32),
        np.ascontiguousarray(table["offset"], np.float32),
    )
    normals, st = (np.ascontiguousarray(vertices[n]) for n in ("normal", "st"))
    own = {"normals": normals.view(np.int32), "st": st.view(np.int32)} | dict(facts)
    turned = np.ascontiguousarray(triangles[:, ::-1], np.int32)
    return SkinnedMeshSource(*names, flipped(finite(st)), turned, weights, own, finite(normals))


def wanted_facts(mesh: SkinnedMeshSource) -> Wanted:
    """Return which facts `mesh_source` notes of a mesh itself."""
    return {"normals": ("i4", (mesh.num_vertices, 3)), "st": ("i4", (mesh.num_vertices, 2))}


def name_surface(header: Any, mesh: SkinnedMesh, own: SkinnedMeshSource | None) -> None:
    """Write a surface's name, in lower case if it is new, and its shader; raises LimitError where one is too long."""
    name = mesh.name
    if (own is None or name != own.name) and name != name.lower():
        log.warning("surface '%s' is written in lower case: skins name it so", name)
        name = name.lower()
    for key, what, value in (("name", "surface", name), ("shader", "shader", mesh.shader)):
        header[key] = encode_name(value, header.dtype[key].itemsize, what, bytes(header[key]))


def encode_vertices(mesh: SkinnedMesh, bones: Bones, dtype: np.dtype[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return vertices (V,) of a dtype with normals, texture coordinates and numbers of weights, and WEIGHT (W,).

    What is still the source's has its numbers, bit for bit.
    """
    own, numbers = bones.own_mesh(mesh)
    weights, counts, normals = _encode_weights(mesh, bones, own, numbers)
    vertices = np.zeros(mesh.num_vertices, dtype)
    vertices["normal"] = normals
    vertices["st"] = flipped(finite(mesh.uvs))
    vertices["num_weights"] = counts
    if own is not None:
        same = own.same_uvs(mesh.uvs, numbers)
        vertices["st"][same] = own.facts["st"].view(np.float32)[numbers[same]]
        if mesh.kept_normals is not None:
            same = np.flatnonzero(mesh.kept_normals & (numbers >= 0))
            vertices["normal"][same] = own.facts["normals"].view(np.float32)[numbers[same]]
    return vertices, weights


def _encode_weights(
    mesh: SkinnedMesh, bones: Bones, own: SkinnedMeshSource | None, numbers: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float32]]:
    """Return weights, WEIGHT (W,), how many each vertex has, (V,), and its normal in the space of the first, (V, 3).

    Vertices that are kept have the source's weights, those carried too but for offsets, in its order; others the
    heaviest first.
    """
    kept: NDArray[np.bool_] = np.zeros(mesh.num_vertices, np.bool_)
    if own is not None and mesh.kept is not None:
        kept = mesh.kept & (numbers >= 0)
        known = np.flatnonzero(kept)
        owners, entries = own.weights.of(numbers[known]).entries()
        lost = bones.of_source[own.weights.joints[entries]] < 0
        kept[known[owners[lost]]] = False
    table, normals = heaviest_first(mesh, bones.skeleton, kept if mesh.carried is None else kept | mesh.carried)
    counts = table.counts.astype(np.int64)
    if own is not None:
        counts[kept] = own.weights.counts[numbers[kept]]
    weights = np.zeros(int(counts.sum()), WEIGHT)
    starts = np.cumsum(counts) - counts
    fresh = np.flatnonzero(~kept)
    _fill(weights, starts[fresh], table.of(fresh), None)
    if own is not None:
        known = np.flatnonzero(kept)
        _fill(weights, starts[known], own.weights.of(numbers[known]), bones.of_source)
        first = table.first_joints()
        first[known] = bones.of_source[own.weights.of(numbers[known]).first_joints()]
        normals = in_space_of(first, normals, table.first_joints(), bones.skeleton)
    return weights, counts, normals


def _fill(weights: NDArray[Any], starts: NDArray[np.int64], table: Weights, joints: NDArray[np.int64] | None) -> None:
    """Write vertices' weights to where each one's start, (n,)."""
    entries = table.entries()[1]
    places = Weights(starts, table.counts, table.joints, table.factors, table.offsets).entries()[1]
    found = table.joints[entries]
    weights["bone"][places] = found if joints is None else joints[found]
    weights["weight"][places], weights["offset"][places] = table.factors[entries], table.offsets[entries]
