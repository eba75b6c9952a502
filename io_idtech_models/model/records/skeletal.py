"""Records of skeletal sources: see `records`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import LARGEST
from ..skeletal import AnimationSource, JointTag, Pose, SkeletalSource, Skeleton, SkinnedMeshSource, Weights
from . import Arrays, RecordError, checked, facts_among, pack, pack_facts, pack_names, unpack, unpack_names

MAX_JOINTS = 1 << 16


def mesh_record(source: SkinnedMeshSource, extra: Arrays) -> bytes:
    """Return the record of one mesh with `extra` arrays; inverse of `mesh_source`."""
    table = source.weights
    arrays: Arrays = {
        "name": pack_names([source.name]),
        "shader": pack_names([source.shader]),
        "uvs": source.uvs,
        "triangles": source.triangles,
        "starts": table.starts,
        "counts": table.counts,
        "joints": table.joints,
        "factors": table.factors,
        "offsets": table.offsets,
    }
    optional = {"normals": source.normals, "colors": source.colors, "still": table.still, "points": source.points}
    arrays |= {name: array for name, array in optional.items() if array is not None}
    if source.blended:
        arrays["blended"] = np.ones(1, np.uint8)
    if source.alike:
        arrays["alike"] = np.ones(1, np.uint8)
    return pack(arrays | pack_facts(source.facts) | extra)


def mesh_source(record: bytes | memoryview) -> tuple[SkinnedMeshSource, Arrays]:
    """Read a mesh's record, checked; returns the source and all arrays (for what the writer added).

    Raises:
        RecordError: the record is damaged, or its arrays contradict one another.
    """
    arrays = unpack(record)
    name, shader = (unpack_names(checked(arrays, n, "u", -1)) for n in ("name", "shader"))
    uvs = _numbers(arrays, "uvs", -1, 2)
    triangles = _indices(arrays, "triangles", len(uvs), -1, 3)
    joints = _indices(arrays, "joints", MAX_JOINTS, -1)
    starts, counts = (_indices(arrays, n, len(joints) + 1, len(uvs)) for n in ("starts", "counts"))
    if len(name) != 1 or len(shader) != 1 or (len(uvs) and int((starts.astype(np.int64) + counts).max()) > len(joints)):
        raise RecordError("record of a mesh contradicts itself")
    if int(counts.sum(dtype=np.int64)) > 64 * (len(joints) + len(uvs)):
        raise RecordError("record of a mesh shares weights without end")
    table = Weights(
        starts,
        counts,
        joints,
        _numbers(arrays, "factors", len(joints)),
        _numbers(arrays, "offsets", len(joints), 3),
        _numbers(arrays, "still", len(uvs), 3) if "still" in arrays else None,
    )
    normals = _numbers(arrays, "normals", len(uvs), 3) if "normals" in arrays else None
    colors = _numbers(arrays, "colors", len(uvs), 4) if "colors" in arrays else None
    points = _indices(arrays, "points", len(uvs), len(uvs)) if "points" in arrays else None
    own = (name[0], shader[0], uvs, triangles, table, facts_among(arrays), normals, colors, "blended" in arrays)
    return SkinnedMeshSource(*own, points, "alike" in arrays), arrays


def _indices(arrays: Arrays, name: str, limit: int, *shape: int) -> NDArray[Any]:
    values = checked(arrays, name, "i", *shape)
    if values.size and not 0 <= int(values.min()) <= int(values.max()) < limit:
        raise RecordError(f"record's '{name}' are out of their range")
    return values.astype(np.int32, copy=False)


def _numbers(arrays: Arrays, name: str, *shape: int) -> NDArray[Any]:
    values = checked(arrays, name, "f", *shape)
    if not (np.abs(values) <= LARGEST).all():  # nor is anything that is no number
        raise RecordError(f"record's '{name}' are no numbers that a model has")
    return values


def _joint_arrays(names: list[str], parents: NDArray[Any], positions: NDArray[Any], rotations: NDArray[Any]) -> Arrays:
    return {"names": pack_names(names), "parents": parents, "positions": positions, "rotations": rotations}


def _joints(arrays: Arrays) -> tuple[list[str], NDArray[np.int32]]:
    """Return names and parents; raises RecordError."""
    names = unpack_names(checked(arrays, "names", "u", -1))
    parents = checked(arrays, "parents", "i", len(names))
    if len(names) > MAX_JOINTS or ((parents < -1) | (parents >= np.arange(len(names)))).any():
        raise RecordError("record's joints contradict themselves")
    return names, parents.astype(np.int32, copy=False)


def model_record(source: SkeletalSource, meshes: list[bytes], extra: Arrays) -> bytes:
    """Return the record of a model, holding its meshes' records and `extra` arrays; inverse of `model_source`."""
    skeleton = source.skeleton
    arrays: Arrays = {"format": pack_names([source.format]), "num_meshes": np.array([len(meshes)], np.int32)}
    arrays |= _joint_arrays(skeleton.names, skeleton.parents, skeleton.positions, skeleton.rotations)
    arrays |= {f"mesh.{i}": np.frombuffer(record, np.uint8) for i, record in enumerate(meshes)}
    if source.tags:
        arrays |= _tag_arrays(source.tags)
    if skeleton.scales is not None:
        arrays["scales"] = skeleton.scales
    if skeleton.bound is not None:
        arrays |= {"bound_positions": skeleton.bound.positions, "bound_rotations": skeleton.bound.rotations}
    return pack(arrays | pack_facts(source.facts) | extra)


def model_source(record: bytes | memoryview) -> tuple[SkeletalSource, Arrays]:
    """Read a model's record, checked; returns the source and all arrays (for what the writer added).

    Raises:
        RecordError: the record is damaged, or its arrays contradict one another.
    """
    arrays = unpack(record)
    formats = unpack_names(checked(arrays, "format", "u", -1))
    names, parents = _joints(arrays)
    positions, rotations = _numbers(arrays, "positions", len(names), 3), _numbers(arrays, "rotations", len(names), 4)
    count = int(_indices(arrays, "num_meshes", 1 << 31, 1)[0])
    meshes = [mesh_source(checked(arrays, f"mesh.{i}", "u", -1).data)[0] for i in range(count)]
    if len(formats) != 1 or any(len(m.weights.joints) and int(m.weights.joints.max()) >= len(names) for m in meshes):
        raise RecordError("record of a model contradicts itself")
    skeleton = Skeleton(names, parents, positions.astype(np.float64), rotations.astype(np.float64))
    if "scales" in arrays:
        skeleton.scales = _numbers(arrays, "scales", len(names), 3).astype(np.float64)
    if "bound_positions" in arrays:
        bound = _numbers(arrays, "bound_positions", len(names), 3), _numbers(arrays, "bound_rotations", len(names), 4)
        skeleton.bound = Pose(*(values.astype(np.float64) for values in bound))
    tags = _tags(arrays, len(names)) if "tag_names" in arrays else []
    return SkeletalSource(formats[0], skeleton, meshes, facts_among(arrays), tags), arrays


def _tag_arrays(tags: list[JointTag]) -> Arrays:
    """Return tags as arrays; inverse of `_tags`."""
    return {
        "tag_names": pack_names([tag.name for tag in tags]),
        "tag_joints": np.array([tag.joint for tag in tags], np.int32),
        "tag_origins": np.array([tag.origin for tag in tags], np.float32),
        "tag_axes": np.array([tag.axes for tag in tags], np.float32),
    }


def _tags(arrays: Arrays, joints: int) -> list[JointTag]:
    """Return the tags that arrays say; raises RecordError."""
    names = unpack_names(checked(arrays, "tag_names", "u", -1))
    on = _indices(arrays, "tag_joints", joints, len(names)).tolist()
    origins, axes = _numbers(arrays, "tag_origins", len(names), 3), _numbers(arrays, "tag_axes", len(names), 3, 3)
    found = zip(names, on, origins.astype(np.float32), axes.astype(np.float32), strict=True)
    return [JointTag(*parts, index, True) for index, parts in enumerate(found)]


def animation_record(source: AnimationSource, extra: Arrays) -> bytes:
    """Return the record of an animation with `extra` arrays; inverse of `animation_source`."""
    arrays: Arrays = {"format": pack_names([source.format]), "frame_rate": np.array([source.frame_rate])}
    arrays |= _joint_arrays(source.joint_names, source.parents, source.positions, source.rotations)
    if source.scales is not None:
        arrays["scales"] = source.scales
    return pack(arrays | pack_facts(source.facts) | extra)


def animation_source(record: bytes | memoryview) -> tuple[AnimationSource, Arrays]:
    """Read an animation's record, checked; returns the source and all arrays (for what the writer added).

    Raises:
        RecordError: the record is damaged, or its arrays contradict one another.
    """
    arrays = unpack(record)
    formats = unpack_names(checked(arrays, "format", "u", -1))
    names, parents = _joints(arrays)
    positions = _numbers(arrays, "positions", -1, len(names), 3)
    rotations = _numbers(arrays, "rotations", len(positions), len(names), 4)
    rate = _numbers(arrays, "frame_rate", 1)
    if len(formats) != 1 or not len(positions):
        raise RecordError("record of an animation contradicts itself")
    source = AnimationSource(formats[0], names, parents, positions, rotations, float(rate[0]), facts_among(arrays))
    if "scales" in arrays:
        source.scales = _numbers(arrays, "scales", len(positions), len(names), 3)
    return source, arrays
