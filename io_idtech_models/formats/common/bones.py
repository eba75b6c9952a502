"""Bones of a model on its way into a file of MDM's kin: in which order they are computed; whose weights come first."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.arrays import LARGEST
from ...model.edits.normals import smooth_normals
from ...model.skeletal import (
    SkeletalSource,
    Skeleton,
    SkinnedMesh,
    SkinnedMeshSource,
    Weights,
    skin,
)
from ...model.transforms import conjugate, rotate


def heaviest_first(
    mesh: SkinnedMesh, skeleton: Skeleton, kept: NDArray[np.bool_]
) -> tuple[Weights, NDArray[np.float32]]:
    """Return a mesh's weights, the heaviest of a vertex first but for `kept` ones (V,), and its normals (V, 3).

    A normal is in the space of its first weight's joint; where the mesh has none they are smooth over what lies
    together in the bind pose.
    """
    table = mesh.weights
    owners, entries = table.entries()
    rank = np.arange(len(owners))
    order = np.lexsort((rank, np.where(kept[owners], 0, -table.factors[entries]), owners))
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
