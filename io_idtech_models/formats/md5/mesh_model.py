"""MD5 structs to models and back; the file itself is `mesh_file`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.records import pack_names, unpack_names
from ...model.skeletal import Pose, SkeletalModel, SkeletalSource, Skeleton, SkinnedMesh, SkinnedMeshSource, Weights
from ...model.source import Facts
from ..common.records import Wanted, all_fit, flipped, sound
from .common import command_line_of, could_be_read, full_quaternions, short_quaternions
from .mesh_file import Md5Mesh, Md5Part

FORMAT = "md5mesh"
SAME = 1e-5  # of an offset: rounding of who shares a weight


def to_model(mesh: Md5Mesh, name: str = "") -> SkeletalModel:
    """Return the model of a file, its source included; inverse of `from_model`.

    Raises:
        FormatError: the orientation of a joint is no rotation.
    """
    rotations = full_quaternions(mesh.orientations, mesh.names, "orientation")
    skeleton = Skeleton(list(mesh.names), mesh.parents, mesh.positions, rotations)
    facts: Facts = {"orientations": mesh.orientations}
    if mesh.command_line is not None:
        facts["command_line"] = pack_names([mesh.command_line])
    source = SkeletalSource(FORMAT, skeleton, [_part_source(part, i) for i, part in enumerate(mesh.parts)], facts)
    return SkeletalModel(name, source.shown_skeleton(), [source.mesh(i) for i in range(len(mesh.parts))], source)


def _part_source(part: Md5Part, index: int) -> SkinnedMeshSource:
    shown = part.shader.replace("\\", "/").rsplit("/", 1)[-1].split(".")[0]
    weights = Weights(
        part.starts, part.counts, part.joints, part.biases.astype(np.float32), part.offsets.astype(np.float32)
    )
    facts: Facts = {
        "name": pack_names([part.name]),
        "st": part.st,
        "biases": part.biases,
        "offsets": part.offsets,
    }
    triangles = np.ascontiguousarray(part.triangles[:, ::-1])
    name = part.name or shown or f"mesh{index}"
    return SkinnedMeshSource(name, part.shader, flipped(part.st).astype(np.float32), triangles, weights, facts)


def from_model(model: SkeletalModel, options: Mapping[str, Any] | None = None) -> Md5Mesh:
    """Return the structs of a model; inverse of `to_model`. MD5 has no options of its own."""
    source = sound(model.source_of(FORMAT), _fits, model.name)
    skeleton = model.skeleton
    # Joints of another format lie where its meshes were bound to them.
    pose = skeleton.bind if source is None else Pose(skeleton.positions, skeleton.rotations)
    positions, orientations = pose.positions.copy(), short_quaternions(pose.rotations)
    command_line = command_line_of(source)
    if source is not None and skeleton.kept is not None:
        joints = skeleton.joints_in(source)
        known = np.flatnonzero(joints >= 0)
        own = joints[known]
        kept = skeleton.kept[known]
        turned = kept | (skeleton.rotations[known] == source.skeleton.rotations[own]).all(axis=1)
        positions[known[kept]] = source.skeleton.positions[own[kept]]
        orientations[known[turned]] = source.facts["orientations"][own[turned]]
    parts = [_encode_mesh(mesh, skeleton, source) for mesh in model.meshes]
    return Md5Mesh(command_line, list(skeleton.names), skeleton.parents, positions, orientations, parts)


def _fits(source: SkeletalSource) -> bool:
    """Tell whether the facts are what `to_model` writes: a .blend can come from a stranger."""
    if not all_fit(source.facts, {"orientations": ("f8", (source.skeleton.num_joints, 3))}):
        return False
    orientations = source.facts["orientations"]
    if not could_be_read(source.facts, orientations):
        return False
    for mesh in source.meshes:
        count, table = mesh.num_vertices, len(mesh.weights.joints)
        wanted: Wanted = {
            "name": ("u1", (-1,)),
            "st": ("f8", (count, 2)),
            "biases": ("f8", (table,)),
            "offsets": ("f8", (table, 3)),
        }
        if not all_fit(mesh.facts, wanted) or not could_be_read(mesh.facts, orientations[:0]):
            return False
    return True


def _encode_mesh(mesh: SkinnedMesh, skeleton: Skeleton, source: SkeletalSource | None) -> Md5Part:
    own = source.meshes[mesh.source_index] if source is not None and mesh.source_index >= 0 else None
    triangles = np.ascontiguousarray(mesh.triangles[:, ::-1])
    numbers = np.full(mesh.num_vertices, -1, np.int64) if source is None else source.own_vertices(mesh)
    name = mesh.name
    if own is not None and mesh.name == own.name:
        name = next(iter(unpack_names(own.facts["name"])), "")
    starts, counts, joints, biases, offsets = _encode_weights(mesh, skeleton, own, numbers)
    return Md5Part(
        name, mesh.shader, _encode_st(mesh, own, numbers), starts, counts, triangles, joints, biases, offsets
    )


def _encode_st(mesh: SkinnedMesh, own: SkinnedMeshSource | None, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return st (V, 2): the source's while it still decodes to the present coordinate."""
    st: NDArray[np.float64] = flipped(mesh.uvs).astype(np.float64)
    if own is not None:
        same = own.same_uvs(mesh.uvs, numbers)
        st[same] = own.facts["st"][numbers[same]]
    return st


def _encode_weights(
    mesh: SkinnedMesh, skeleton: Skeleton, own: SkinnedMeshSource | None, numbers: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return starts, counts (V,), joints, biases (W,) and offsets (W, 3).

    Kept vertices keep their ranges of the source's table, shared or not, and so do carried ones, with offsets of their
    own there, as long as those who share a range agree. A changed one stays in its range where that is
    its own and large enough, else it gets one behind the table. While the source's vertices are all there the table
    loses nothing, so that no other range moves.
    """
    table = mesh.weights
    kept: NDArray[np.bool_] = np.zeros(mesh.num_vertices, np.bool_)
    starts: NDArray[Any] = np.zeros(mesh.num_vertices, np.int64)
    counts: NDArray[Any] = table.counts.astype(np.int64)
    joints: NDArray[Any] = np.zeros(0, np.int64)
    biases: NDArray[Any] = np.zeros(0)
    offsets: NDArray[Any] = np.zeros((0, 3))
    place: NDArray[Any] = np.zeros(0, np.int64)
    if own is not None and mesh.kept is not None and skeleton.sources is not None:
        own, kept = _with_carried(mesh, own, numbers)
        starts, counts, joints, biases, offsets, place = _kept_table(mesh, own, skeleton.sources, kept, numbers)
    fresh = np.flatnonzero(~kept)
    sizes = counts[fresh]
    inside = place[fresh] >= 0 if len(place) else np.zeros(len(fresh), np.bool_)
    outside = np.where(inside, 0, sizes)
    starts[fresh] = np.where(inside, place[fresh] if len(place) else 0, len(joints) + np.cumsum(outside) - outside)
    total = len(joints) + int(outside.sum())
    joints, biases = np.resize(joints, total), np.resize(biases, total)
    offsets = np.concatenate((offsets, np.zeros((int(outside.sum()), 3))))
    entries = table.of(fresh).entries()[1]
    targets = Weights(starts[fresh], sizes, table.joints, table.factors, table.offsets).entries()[1]
    joints[targets], biases[targets], offsets[targets] = (
        table.joints[entries],
        table.factors[entries],
        table.offsets[entries],
    )
    return starts.astype(np.int32), counts.astype(np.int32), joints.astype(np.int32), biases, offsets


def _with_carried(
    mesh: SkinnedMesh, own: SkinnedMeshSource, numbers: NDArray[np.int64]
) -> tuple[SkinnedMeshSource, NDArray[np.bool_]]:
    """Return a mesh's source with offsets of carried vertices in place of its own, and who keeps a range there, (V,).

    Those do not whose offsets others that share a weight have otherwise.
    """
    known, carried = numbers >= 0, mesh.carried
    assert mesh.kept is not None
    kept = mesh.kept & known
    if carried is None or not (carried & known).any():
        return own, kept
    vertices = np.flatnonzero(carried & known)
    rows, entries = own.weights.of(numbers[vertices]).entries()[1], mesh.weights.of(vertices).entries()[1]
    owners = np.repeat(vertices, own.weights.counts[numbers[vertices]])
    offsets = own.facts["offsets"].copy()
    offsets[rows] = mesh.weights.offsets[entries]
    others = own.weights.of(numbers[kept]).entries()[1]
    offsets[others] = own.facts["offsets"][others]
    apart = np.abs(offsets[rows] - mesh.weights.offsets[entries]).max(axis=1, initial=0.0)
    kept[vertices] = True
    kept[owners[apart > SAME * np.maximum(1.0, np.abs(offsets[rows]).max(axis=1, initial=0.0))]] = False
    return replace(own, facts=own.facts | {"offsets": offsets}), kept


def _kept_table(
    mesh: SkinnedMesh,
    own: SkinnedMeshSource,
    sources: NDArray[np.int32],
    kept: NDArray[np.bool_],
    numbers: NDArray[np.int64],
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], NDArray[np.int64]]:
    """Return starts and counts (V,), the source's table, and where a changed vertex may stay in it, (V,), or -1."""
    source = own.weights
    joint_of = np.full(int(max(source.joints.max(initial=0), sources.max(initial=0))) + 1, -1, np.int64)
    joint_of[sources[sources >= 0]] = np.flatnonzero(sources >= 0)
    users = np.bincount(source.entries()[1], minlength=len(source.joints))
    staying = joint_of[source.joints] >= 0
    known = np.flatnonzero(numbers >= 0)
    if len(np.unique(numbers[known])) < own.num_vertices:  # vertices are gone: so is what only they had
        now = np.zeros(len(source.joints), np.bool_)
        now[source.of(numbers[known]).entries()[1]] = True
        staying &= now | (users == 0)
    limit = np.append(np.cumsum(staying) - staying, staying.sum()).astype(np.int64)
    starts, counts = np.zeros(len(kept), np.int64), mesh.weights.counts.astype(np.int64)
    chosen = numbers[kept]
    starts[kept], counts[kept] = limit[np.minimum(source.starts[chosen], len(staying))], source.counts[chosen]
    if staying.all():
        starts[kept] = source.starts[chosen]  # whatever an empty range begins at
    place: NDArray[np.int64] = np.full(len(kept), -1, np.int64)
    for vertex in known[~kept[known]].tolist():  # few: those that were edited
        first, size = int(source.starts[numbers[vertex]]), int(source.counts[numbers[vertex]])
        own_range = slice(first, first + size)
        if size == counts[vertex] and (users[own_range] == 1).all() and staying[own_range].all():
            place[vertex] = limit[first]
    return (
        starts,
        counts,
        joint_of[source.joints[staying]],
        own.facts["biases"][staying].copy(),
        own.facts["offsets"][staying].copy(),
        place,
    )
