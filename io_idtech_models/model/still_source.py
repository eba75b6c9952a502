"""What of a model is still its source's, told by what it holds: for who changes arrays and leaves the rest as it was.

An export from Blender knows what was edited, and says so (`kept`, `source_frames`, `own_normals`). A script that puts
other numbers into an array says nothing: what is not what the source has there is an edit.

Letters in shapes: F frames, V vertices, J joints, n some of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .edits.normals import NormalCoding
from .skeletal import Animation, JointTag, SkeletalModel, SkeletalSource, Skeleton, SkinnedMesh
from .vertex import ModelSource, Surface, VertexModel
from .weights import Weights

Numbers = NDArray[np.int32]
ROUNDED = 1e-6  # of a normal: by what decoding it in another way may be off


def vertex_model(model: VertexModel, coding: NormalCoding | None) -> VertexModel:
    """Return a model that says which frames and normals are no longer its source's, whose normals `coding` decodes."""
    source, surfaces = model.source, model.surfaces
    if source is None or not any(isinstance(each.stored_positions, np.ndarray) for each in surfaces):
        frames = model.frames_from()
    else:
        frames = _frames(surfaces, model)
    if source is not None and coding is not None:
        surfaces = [_with_own_normals(surface, source, frames, coding) for surface in surfaces]
    return replace(model, surfaces=surfaces, frame_sources=frames.astype(np.int32))


def _frames(surfaces: list[Surface], model: VertexModel) -> NDArray[np.int64]:
    """Return which of the source's frames each frame of a model was, (F,) or -1.

    That is the one of which it shows all points, the next of several: who moves frames about may leave their numbers as
    they were. Of one that shows no frame of the source, its number tells.
    """
    found, parts = model.frames_from(), [] if model.source is None else model.source.parts
    known = [(surface, parts[surface.source_index]) for surface in surfaces if 0 <= surface.source_index < len(parts)]
    if len(known) < max(len(surfaces), 1):
        return found
    there, last = defaultdict[bytes, list[int]](list), -1
    for place, frame in enumerate(_by_frame([part.decoded_positions(slice(None)) for _, part in known])):
        there[frame].append(place)
    for index, frame in enumerate(_by_frame([surface.positions for surface, _ in known])):
        places = there.get(frame, [])
        if places and found[index] not in places:
            found[index] = next((place for place in places if place > last), places[0])
        last = int(found[index])
    return found


def _by_frame(positions: list[NDArray[np.float32]]) -> list[bytes]:
    """Return what surfaces (F, V, 3) show in each frame, as bytes, which are compared as a whole."""
    return [b"".join(each[frame].tobytes() for each in positions) for frame in range(len(positions[0]))]


def _with_own_normals(
    surface: Surface, source: ModelSource, frames: NDArray[np.int64], coding: NormalCoding
) -> Surface:
    """Return a surface that says whose normals are not the source's: others than there, or in frames that are new.

    A vertex that is elsewhere, too, is another one: who moves vertices about may leave their numbers as they were.
    """
    normals, numbers = surface.stored_normals, surface.source_vertices
    if not isinstance(normals, np.ndarray) or numbers is None or surface.own_normals is not None:
        return surface
    known, own, moved = frames >= 0, *np.zeros((2, len(numbers)), np.bool_)
    for part, places, vertices in source.vertex_parts(numbers):
        codes = part.normal_codes(frames[known], vertices)
        there = coding.decode(codes).reshape(*codes.shape, 3)
        own[places] = (np.abs(there - normals[known][:, places]) > ROUNDED).any(axis=(0, 2))
        before = part.decoded_positions(frames[known], vertices)
        moved[places] = (before != surface.some_positions(np.flatnonzero(known), places)).any(axis=(0, 2))
    numbers = np.where(own & moved, -1, numbers).astype(np.int32)
    own |= (frames < 0).any()
    return replace(surface, own_normals=own, source_vertices=numbers) if own.any() else surface


def skeletal_model(model: SkeletalModel) -> SkeletalModel:
    """Return a model that says which joints, weights and normals are no longer its source's."""
    if model.source is None:
        return model
    skeleton = _skeleton(model.skeleton, model.source.skeleton)
    numbers = np.full(skeleton.num_joints, -1, np.int32) if skeleton.sources is None else skeleton.sources
    meshes, tags = model.meshes, model.source.tags
    return replace(
        model,
        skeleton=skeleton,
        meshes=[_mesh(mesh, model.source, numbers) for mesh in meshes],
        tags=[replace(tag, kept=tag.kept and _is_still(tag, tags)) for tag in model.tags],
    )


def _is_still(tag: JointTag, tags: Sequence[JointTag]) -> bool:
    """Tell whether a tag stands on its joint as that of the source does which it was."""
    own = tags[tag.source_index] if 0 <= tag.source_index < len(tags) else None
    return own is not None and np.array_equal(tag.origin, own.origin) and np.array_equal(tag.axes, own.axes)


def _skeleton(skeleton: Skeleton, source: Skeleton) -> Skeleton:
    if skeleton.sources is None or skeleton.kept is None:
        return skeleton
    numbers, same = _joints(skeleton.names, source.names, skeleton.sources), np.zeros(skeleton.num_joints, np.bool_)
    known = np.flatnonzero(numbers >= 0)
    same[known] = _same(skeleton.positions[known], source.positions[numbers[known]])
    same[known] &= _same(skeleton.rotations[known], source.rotations[numbers[known]])
    return replace(skeleton, sources=numbers, kept=skeleton.kept & same)


def _joints(names: Sequence[str], before: Sequence[str], numbers: Numbers) -> Numbers:
    """Return which joint of the source each was: the one that is called so, where its number has another name."""
    places = {name: place for place, name in enumerate(before)}
    found = np.where(numbers < len(before), numbers, -1).astype(np.int32)
    for joint, name in enumerate(names):
        if found[joint] >= 0 and before[found[joint]] != name and name in places:
            found[joint] = places[name]
    return found


def _mesh(mesh: SkinnedMesh, source: SkeletalSource, joints: Numbers) -> SkinnedMesh:
    if mesh.source_vertices is None:
        return mesh
    same, same_normals = np.zeros((2, mesh.num_vertices), np.bool_)
    for part, places, vertices in source.vertex_parts(mesh.source_vertices):
        same[places] = _same_weights(mesh.weights.of(places), part.weights.of(vertices), joints)
        if mesh.normals is not None and part.normals is not None:
            same_normals[places] = _same(mesh.normals[places], part.normals[vertices])
    kept, kept_normals = (
        None if mask is None else mask & own for mask, own in ((mesh.kept, same), (mesh.kept_normals, same_normals))
    )
    return replace(mesh, kept=kept, kept_normals=kept_normals)


def _same_weights(weights: Weights, source: Weights, joints: Numbers) -> NDArray[np.bool_]:
    """Tell of which vertices (n,) the weights are the source's, whose number each joint (J,) has."""
    same: NDArray[np.bool_] = weights.counts == source.counts
    if weights.still is not None and source.still is not None:
        same &= _same(weights.still, source.still)
    alike = np.flatnonzero(same)
    owners, own = weights.of(alike).entries()
    _, theirs = source.of(alike).entries()
    equal = (joints[weights.joints[own]] == source.joints[theirs]) & (weights.factors[own] == source.factors[theirs])
    equal &= _same(weights.offsets[own], source.offsets[theirs])
    same[alike] &= np.bincount(owners, ~equal, len(alike)) == 0
    return same


def motion(animation: Animation) -> Animation:
    """Return an animation that says which of its joints' poses are no longer its source's."""
    source, hints = animation.source, animation.source_frames
    if source is None or hints is None or animation.source_joints is None:
        return animation
    joints = _joints(animation.joint_names, source.joint_names, animation.source_joints)
    scales = None if animation.scales is None else animation.scales.values
    pairs = [(animation.positions, source.positions), (animation.rotations, source.rotations), (scales, source.scales)]
    hints = np.where((joints >= 0)[:, None] & (hints < len(source.positions)), hints, -1)
    for channel, (values, before) in enumerate(pairs[: hints.shape[2]]):
        if values is not None and before is not None:
            frames = np.maximum(hints[..., channel], 0)
            there = before[frames, np.maximum(joints, 0)]
            hints[..., channel] = np.where((values == there).all(axis=2), hints[..., channel], -1)
    return replace(animation, source_frames=hints.astype(np.int32), source_joints=joints)


def _same(values: NDArray[Any], others: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which rows (n, k) are the same; what is no number is like its kind."""
    return np.asarray(((values == others) | ((values != values) & (others != others))).all(axis=1))
