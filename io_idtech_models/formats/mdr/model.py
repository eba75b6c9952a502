"""MDR structs to models and back; the files themselves are `file`, their motion is `frames`.

A model that was just read stands in the file's first frame, whose bones are its skeleton: nothing in the file says in
which pose its meshes are bound. `model.bind_pose` finds one that suits it better.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.skeletal import (
    Animation,
    JointTag,
    SkeletalModel,
    SkeletalSource,
    Skeleton,
    SkinnedMesh,
    SkinnedMeshSource,
    at_rest,
)
from ...model.source import Facts
from ...model.transforms import conjugate, rotate, to_matrices
from ...model.weights import summed, turned_alike, weighted_turns
from ...reporting import LimitError, listed
from ..common.joint_tags import NewJoints, axes_of, warn_of_bent
from ..common.records import (
    Wanted,
    all_fit,
    as_bytes,
    decode_name,
    encode_name,
    finite,
    header_name,
    layout_of,
    records_of,
    sound,
)
from ..common.skinned import Bones, encode_vertices, mesh_source, name_surface, wanted_facts
from .axes import turns_of, with_own_axes
from .file import HEADER, IDENT, LOD, NAME_SIZE, SURFACE, TAG, TAG_NAME_SIZE, VERSION, VERTEX, Mdr, MdrLod, MdrSurface
from .frames import FORMAT, encode_frames, to_animation

log = logging.getLogger(__name__)

__all__ = ["from_model", "problems", "to_animations", "to_model", "turns_of"]
MOST_BONES = 128  # MDR_MAX_BONES (qfiles.h)
SAME_NORMAL = 2e-5  # of a normal: Blender's own rounding of a bone's axes
OFF_BONE = 1e-5  # units and parts of an axis that a tag may be off its bone: rounding


def to_model(mdr: Mdr, name: str = "") -> SkeletalModel:
    """Return the model of a file, its source included; inverse of `from_model`."""
    rest = to_animation(replace(mdr, frames=mdr.frames[:1]), name)
    skeleton = Skeleton(list(rest.joint_names), rest.parents, rest.positions[0], rest.rotations[0])
    levels = [(level, surface) for level, lod in enumerate(mdr.lods) for surface in lod.surfaces]
    facts: Facts = {
        "header": as_bytes(mdr.header),
        "empty_lods": np.array([level for level, lod in enumerate(mdr.lods) if not lod.surfaces], np.int32),
        "tags": as_bytes(mdr.tags),
    }
    facts |= mdr.layout
    meshes = [_mesh_source(surface, skeleton) for _, surface in levels]
    tags = [_decode_tag(tag, index) for index, tag in enumerate(mdr.tags)]
    source = SkeletalSource(FORMAT, skeleton, meshes, facts, tags)
    shown = [replace(source.mesh(index), level=level) for index, (level, _) in enumerate(levels)]
    return SkeletalModel(
        name, source.shown_skeleton(), shown, source, [_decode_tag(t, i) for i, t in enumerate(mdr.tags)]
    )


def to_animations(mdr: Mdr, name: str = "") -> list[Animation]:
    """Return the motion of a file: all of its frames."""
    return [to_animation(mdr, name)]


def _mesh_source(surface: MdrSurface, skeleton: Skeleton) -> SkinnedMeshSource:
    facts: Facts = {"header": as_bytes(surface.header), "bone_refs": surface.bone_refs}
    names = decode_name(surface.header["name"]), decode_name(surface.header["shader"])
    made = mesh_source(names, surface.vertices, surface.weights, surface.triangles, facts)
    assert made.normals is not None
    shown = steady.applied(weighted_turns(made.weights, to_matrices(skeleton.bind.rotations)), made.normals)
    made.normals = _in_first(_unit(shown), made, skeleton)
    made.alike = True
    return made


def _unit(vectors: NDArray[Any]) -> NDArray[np.float64]:
    """Return vectors (V, 3) of length 1; those of no length as they are."""
    lengths = steady.lengths(vectors)[:, None]
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0))


def _in_first(normals: NDArray[Any], mesh: SkinnedMesh | SkinnedMeshSource, skeleton: Skeleton) -> NDArray[np.float32]:
    """Return normals (V, 3) of the bind pose in the space of each vertex's first weight's bone."""
    turns = skeleton.bind.rotations[mesh.weights.first_joints()] if skeleton.num_joints else np.zeros((0, 4))
    return rotate(conjugate(turns), normals).astype(np.float32)


def _decode_tag(tag: Any, index: int) -> JointTag:
    return JointTag(
        decode_name(tag["name"]), int(tag["bone"]), np.zeros(3, np.float32), np.eye(3, dtype=np.float32), index, True
    )


def _fits(source: SkeletalSource) -> bool:
    """Tell whether the facts are what `to_model` writes: a .blend can come from a stranger."""
    wanted: Wanted = {
        "header": (HEADER, ()), "empty_lods": ("i4", (-1,)), "tags": (TAG, (len(source.tags),)),
    }  # fmt: skip
    return all_fit(source.facts, wanted) and all(_mesh_fits(mesh) for mesh in source.meshes)


def _mesh_fits(mesh: SkinnedMeshSource) -> bool:
    wanted: Wanted = {"header": (SURFACE, ()), "bone_refs": ("i4", (-1,))}
    if not all_fit(mesh.facts, wanted | wanted_facts(mesh)) or mesh.normals is None:
        return False
    refs = mesh.facts["bone_refs"]
    return bool(((refs >= 0) & (refs < 1 << 16)).all())


def from_model(
    model: SkeletalModel, options: Mapping[str, Any] | None = None, animations: list[Animation] | None = None
) -> Mdr:
    """Return the structs of a model and of its motions, which follow one another in one file; inverse of `to_model`.

    Options: `pack_frames`, to store matrices of bones in half the room, a little coarser; what came packed stays so.

    Raises:
        LimitError: there is no bone.
    """
    if not model.skeleton.num_joints:
        raise LimitError(f"'{model.name}' has no bones: MDR holds one or more")
    source = sound(model.source_of(FORMAT), _fits, model.name)
    model, takes = with_own_axes(model, animations or [at_rest(model.skeleton, model.name)])
    tags, carriers = _tags_on_bones(model)
    if carriers:
        further = NewJoints.of(carriers, [tag.name for tag in carriers])
        takes = [further.in_motion(each) for each in takes]
    if takes[0].positions.shape[1] > MOST_BONES:
        text = "%d bones, those of tags that stand off their bone included: games take %d"
        log.warning(text, takes[0].positions.shape[1], MOST_BONES)
    header, layout = np.zeros((), HEADER), Facts()
    header["name"] = header_name(model.name, NAME_SIZE)
    if source is not None:
        header, layout = records_of(source.facts, "header", HEADER), layout_of(source.facts)
    header["ident"], header["version"] = IDENT, VERSION
    frames = encode_frames(takes, bool((options or {}).get("pack_frames", False)))
    bones = Bones(model.skeleton, source)
    numbers = _levels_of(model, source)
    levels = [[mesh for mesh in model.meshes if mesh.level == number] for number in numbers]
    lods = [MdrLod(np.zeros((), LOD), [_encode_mesh(mesh, bones) for mesh in meshes]) for meshes in levels]
    places, surfaces = [-1] * len(lods), [-1] * len(model.meshes)
    if source is not None:
        places = list(numbers)
        surfaces = [mesh.source_index for meshes in levels for mesh in meshes]
    return Mdr(header, frames, _encode_tags(tags, source), lods, layout, places, surfaces)


def _levels_of(model: SkeletalModel, source: SkeletalSource | None) -> list[int]:
    """Return the numbers of the levels to write, one after another: games know no gaps."""
    found = {mesh.level for mesh in model.meshes} | ({0} if source is None else set())
    if source is not None:
        empty = source.facts["empty_lods"].tolist()
        found |= {level for level in empty if 0 <= level <= max(found, default=-1) + len(empty)}
    return sorted(found)


def _encode_mesh(mesh: SkinnedMesh, bones: Bones) -> MdrSurface:
    own, numbers = bones.own_mesh(mesh)
    vertices, weights = encode_vertices(mesh, bones, VERTEX)
    kept: NDArray[np.bool_] = np.zeros(mesh.num_vertices, np.bool_)
    if own is not None and mesh.kept_normals is not None:
        kept = mesh.kept_normals & (numbers >= 0)
    fresh = vertices.copy()
    fresh["normal"][kept] = mesh.normals[kept] if mesh.normals is not None else 0.0  # the source's may be no numbers
    stored = _stored_normals(fresh, weights, bones.skeleton)
    written = _unit(finite(vertices["normal"]).astype(np.float64))  # the source's, which need be no numbers
    near = np.asarray((np.abs(written - stored) <= SAME_NORMAL).all(axis=1))
    kept &= _turn_alike(mesh, vertices["num_weights"], weights["bone"], bones.skeleton) | near
    vertices["normal"][~kept] = stored[~kept]
    header = np.zeros((), SURFACE) if own is None else records_of(own.facts, "header", SURFACE)
    name_surface(header, mesh, own)
    triangles = np.ascontiguousarray(mesh.triangles[:, ::-1], np.int32)
    return MdrSurface(header, vertices, weights, triangles, bones.refs_of(np.unique(weights["bone"]), own))


def _turn_alike(mesh: SkinnedMesh, counts: NDArray[Any], joints: NDArray[Any], skeleton: Skeleton) -> NDArray[np.bool_]:
    """Tell which vertices (V,) have the source's weights, on joints that rest as there: all of them turn a normal."""
    held = np.zeros(skeleton.num_joints, np.bool_) if skeleton.kept is None else skeleton.kept
    same = np.bincount(np.repeat(np.arange(len(counts)), counts), ~held[joints], len(counts)) == 0
    weighed = np.zeros(len(counts), np.bool_) if mesh.kept is None else mesh.kept
    return np.asarray(same & (weighed if mesh.carried is None else weighed | mesh.carried))


def _stored_normals(vertices: NDArray[Any], weights: NDArray[Any], skeleton: Skeleton) -> NDArray[np.float32]:
    """Return the normals (V, 3) that the sum of weight x turn takes to those of the bind pose; see `file`."""
    counts = vertices["num_weights"].astype(np.int64)
    starts = np.cumsum(counts) - counts
    joints = np.append(weights["bone"], 0)[starts.clip(max=len(weights))]
    shown = rotate(skeleton.bind.rotations[joints], vertices["normal"])
    owners = np.repeat(np.arange(len(counts)), counts)
    turns = to_matrices(skeleton.bind.rotations)
    parts = turns[weights["bone"]] * weights["weight"][:, None, None]
    return _unit(turned_alike(shown, summed(owners, parts, len(counts)), turns[joints])).astype(np.float32)


def _tags_on_bones(model: SkeletalModel) -> tuple[list[JointTag], list[JointTag]]:
    """Return the tags on bones of their own where they stand off theirs, and those tags: MDR's are bones themselves."""
    found: list[JointTag] = []
    carriers: list[JointTag] = []
    for tag in model.tags:
        off = max(float(np.abs(tag.origin).max()), float(np.abs(tag.axes - np.eye(3)).max()))
        if off <= OFF_BONE:
            found.append(tag)
            continue
        found.append(replace(tag, joint=model.skeleton.num_joints + len(carriers), kept=False))
        carriers.append(tag)
    warn_of_bent([tag.name for tag in carriers], axes_of(carriers), "MDR")
    return found, carriers


def _encode_tags(tags: list[JointTag], source: SkeletalSource | None) -> NDArray[Any]:
    """Return the tags' records, (N,)."""
    found = np.zeros(len(tags), TAG)
    own = np.zeros(0, TAG) if source is None else records_of(source.facts, "tags", TAG)
    for record, tag in zip(found, tags, strict=True):
        hint = bytes(own["name"][tag.source_index]) if 0 <= tag.source_index < len(own) else b""
        record["bone"], record["name"] = tag.joint, encode_name(tag.name, TAG_NAME_SIZE, "tag", hint)
    return found


def problems(model: SkeletalModel) -> list[str]:
    """Return what games trip over in a model that was just read."""
    source = model.source_of(FORMAT)
    names = [mesh.name for mesh in source.meshes if mesh.name != mesh.name.lower()] if source is not None else []
    return [f"skins name surfaces in lower case and do not find {listed(names)}"] if names else []
