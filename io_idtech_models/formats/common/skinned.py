"""Skinned meshes of MDM's kin: vertices with a normal, texture coordinates and weights, to a model's and back.

On the way back the bones of a model are put in the order in which they are computed, and the heaviest weights first.
"""

from __future__ import annotations

import heapq
import logging
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.arrays import LARGEST
from ...model.edits.normals import smooth_normals
from ...model.skeletal import SkeletalSource, Skeleton, SkinnedMesh, SkinnedMeshSource, Weights, skin
from ...model.transforms import conjugate, rotate
from .records import Wanted, encode_name, finite, flipped
from .weighted import WEIGHT

log = logging.getLogger(__name__)


def heaviest_first(
    mesh: SkinnedMesh, skeleton: Skeleton, kept: NDArray[np.bool_], as_read: bool = False
) -> tuple[Weights, NDArray[np.float32]]:
    """Return a mesh's weights, the heaviest of a vertex first but for `kept` ones (V,), and its normals (V, 3).

    A normal is in the space of its first weight's joint; where the mesh has none they are smooth over what lies
    together in the bind pose. Of a mesh `as_read` from a file that one stays the first whose joint alone turns it.
    """
    table = mesh.weights
    owners, entries = table.entries()
    rank = np.arange(len(owners))
    turns_normal = np.zeros(len(owners), np.bool_)
    if as_read and mesh.normals is not None and not (mesh.blended or mesh.alike):
        turns_normal[1:] = owners[1:] != owners[:-1]
        turns_normal[:1] = True
    order = np.lexsort((rank, np.where(kept[owners], 0, -table.factors[entries]), ~turns_normal, owners))
    chosen = entries[order]
    counts = table.counts.astype(np.int64)
    starts = np.cumsum(counts) - counts
    made = Weights(starts, counts, table.joints[chosen], table.factors[chosen], table.offsets[chosen])
    if not skeleton.num_joints:
        return made, np.zeros((mesh.num_vertices, 3), np.float32)
    after = skeleton.bind.rotations[made.first_joints()]
    if mesh.normals is None:
        places = skin(table, skeleton.bind.positions, skeleton.bind.rotations)
        normals = smooth_normals(np.clip(places[None], -LARGEST, LARGEST).astype(np.float32), mesh.triangles)[0]
        return made, rotate(conjugate(after), normals).astype(np.float32)
    return made, in_space_of(made.first_joints(), mesh.normals, table.first_joints(), skeleton)


def in_space_of(
    joints: NDArray[Any], normals: NDArray[np.float32], before: NDArray[Any], skeleton: Skeleton
) -> NDArray[np.float32]:
    """Return normals (V, 3) in the space of other `joints` (V,), -1 for the same, than `before`: there bit for bit."""
    found, turns = normals.copy(), skeleton.bind.rotations
    moved = np.flatnonzero((before != joints) & (joints >= 0))
    found[moved] = rotate(conjugate(turns[joints[moved]]), rotate(turns[before[moved]], normals[moved]))
    return found


def bone_order(used: NDArray[Any], skeleton: Skeleton) -> NDArray[np.int32]:
    """Return the bones to be computed for those used, with their ancestors, in an order that the engine gets right.

    Parents come before children. While a torso bone is listed the torso parent is, too: its place is needed. Bones
    that follow legs and torso in parts come before those that follow the torso alone: after one of these the engine
    takes all for such (ET: Legacy, `R_CalcBone`).
    """
    parents, traits = skeleton.parents, skeleton.traits
    weights = np.zeros(skeleton.num_joints) if traits is None else traits.torso_weights
    wanted: set[int] = set()

    def add(joint: int) -> None:
        while joint >= 0 and joint not in wanted:
            wanted.add(joint)
            joint = int(parents[joint])

    for joint in used.tolist():
        add(int(joint))
    if traits is not None and 0 <= traits.torso_parent < skeleton.num_joints and any(weights[j] > 0 for j in wanted):
        add(traits.torso_parent)
    children: dict[int, list[int]] = {}
    for joint in wanted:
        children.setdefault(int(parents[joint]), []).append(joint)

    def rank(joint: int) -> tuple[int, int]:
        return (0 if weights[joint] <= 0 else 2 if weights[joint] >= 1 else 1), joint

    ready = [rank(joint) for joint in children.get(-1, [])]
    heapq.heapify(ready)
    order = []
    while ready:
        joint = heapq.heappop(ready)[1]
        order.append(joint)
        for child in children.get(joint, []):
            heapq.heappush(ready, rank(child))
    return np.array(order, np.int32)


class Bones:
    """The bones of a model on its way into a file, and what the source's have become."""

    def __init__(self, skeleton: Skeleton, source: SkeletalSource | None) -> None:
        self.skeleton, self.source = skeleton, source
        count = 0 if source is None else source.skeleton.num_joints
        self.of_source = np.full(count, -1, np.int64)  # the present bone that each of the source's is, or -1
        joints = skeleton.joints_in(source)
        self.of_source[joints[joints >= 0]] = np.flatnonzero(joints >= 0)

    def own_mesh(self, mesh: SkinnedMesh) -> tuple[SkinnedMeshSource | None, NDArray[np.int64]]:
        """Return the source's mesh that a mesh was, if any, and which of its vertices each vertex was, (V,), or -1."""
        if self.source is None:
            return None, np.full(mesh.num_vertices, -1, np.int64)
        own = self.source.meshes[mesh.source_index] if mesh.source_index >= 0 else None
        return own, self.source.own_vertices(mesh)

    def refs_of(self, used: NDArray[Any], own: SkinnedMeshSource | None) -> NDArray[np.int32]:
        """Return the bones to be computed for a mesh by those used: as the source's mesh lists them, see `refs`."""
        nothing = np.zeros(0, np.int64)
        return self.refs(used, *(None, nothing) if own is None else (own.facts["bone_refs"], own.weights.joints))

    def refs(self, used: NDArray[Any], written: NDArray[Any] | None, used_before: NDArray[Any]) -> NDArray[np.int32]:
        """Return the bones to be computed for those used: as the source has `written` them, while that will do.

        That is: no bone is used that the source does not list, but for those `used_before` without being listed there.
        """
        if written is not None and (written < len(self.of_source)).all():
            now = self.of_source[written]
            if (now >= 0).all() and np.isin(used, np.append(now, self.of_source[used_before])).all():
                return np.asarray(now, np.int32)
        return bone_order(used, self.skeleton)


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
    stay = kept if mesh.carried is None else kept | mesh.carried
    table, normals = heaviest_first(mesh, bones.skeleton, stay, own is None and mesh.source_vertices is not None)
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
