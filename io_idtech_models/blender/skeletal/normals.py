"""Normals of skinned meshes back to a model's: the source's while nothing about them changed, else those shown.

A file has a normal in the space of the joint of its vertex's first weight, which alone turns it in the game.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.edits import affine
from ...model.skeletal import SkeletalSource, Skeleton, SkinnedMesh
from ...model.transforms import conjugate, rotate
from ...model.weights import normal_turns
from ..compat import Block
from ..mesh import attributes
from ..mesh.parts import Part, turned_normals
from ..mesh.read import Shape
from .rig_scene import ExportRig

NOBODY = -2  # no joint turns a normal
SHOWN_NEAR = math.cos(math.radians(8.0))  # of what is shown at rest: blended corners of a vertex, and rounding
SAME_NORMAL = 2e-5  # of a normal, as of a bone's axes: see `bones.SAME_AXES`
Bools = NDArray[np.bool_]
Floats = NDArray[np.float32]


@dataclass(eq=False)
class Moved:
    """Where the vertices of a part were at import, and are, in the object, and which of the mesh's points moved."""

    points: Bools  # (P,)
    before: Floats  # (V, 3)
    after: Floats  # (V, 3)
    triangles: NDArray[np.int32]  # (T, 3) of the source
    as_shown: bool = False  # all normals are asked for as Blender shows them
    carried: Bools | None = None  # (V,) whose normals one map took along with them: found by `gather`


@dataclass(eq=False)
class SourceNormals:
    """What the source says of a part's vertices: which have a normal there, of which joint, and that at rest."""

    known: Bools  # (V,)
    joints: NDArray[np.int64]  # (V,) the source's joint that turns each
    stored: Floats  # (V, 3) in that joint's space
    shown: Floats  # (V, 3) in the bind pose


def of_source(source: SkeletalSource | None, numbers: NDArray[np.integer]) -> SourceNormals:
    """Return the normals of the source's vertices that a part's are, by number (V,), -1 for none."""
    count = len(numbers)
    found = SourceNormals(np.zeros(count, np.bool_), np.full(count, -1, np.int64), *np.zeros((2, count, 3), np.float32))
    if source is None:
        return found
    for mesh, places, own in source.vertex_parts(numbers):
        if mesh.normals is None:
            continue
        weights = mesh.weights.of(own)
        found.known[places] = True
        found.joints[places] = np.where(weights.counts > 0, weights.first_joints(), NOBODY)
        found.stored[places] = mesh.normals[own]
        found.shown[places] = rotate(normal_turns(weights, source.skeleton.bind.rotations), mesh.normals[own])
    return found


def gather(
    block: Block, shape: Shape, part: Part, made: SkinnedMesh, rig: ExportRig, moved: Moved
) -> tuple[Floats, Bools]:
    """Return a part's normals (V, 3), in the space of each first weight's joint, and which are the source's, (V,).

    Where points do not stand where import put them, and at their neighbours, the normals that Blender turned along
    count; but those of what was moved as a whole are turned exactly: Blender mirrors its own wrongly. Where Blender
    still shows the source's these are the modeller's, too, unless he asked for what is shown.
    """
    skeleton, of = rig.skeleton, of_source(rig.source, part.vertices.numbers)
    world, shown = _at_rest(shape, part, of, moved)
    matrix = rig.place_of(block)
    joints, bare = made.weights.first_joints(), made.weights.counts == 0
    bind = normal_turns(made.weights, skeleton.bind.rotations)
    normals = rotate(conjugate(bind), turned_normals(world[None], matrix[None])[0]).astype(np.float32)
    kept = _stay(normals, of, made, skeleton) & ~shown
    normals[kept] = of.stored[kept]
    if skeleton.sources is not None and skeleton.kept is not None and np.array_equal(matrix[:3, :3], np.eye(3)):
        same = ~shown & bare & (of.joints == NOBODY)
        hung = np.flatnonzero(~bare)
        own = skeleton.kept[joints[hung]] & (skeleton.sources[joints[hung]] == of.joints[hung])
        same[hung] = ~shown[hung] & own
        normals[same] = of.stored[same]
        # Of a kept vertex the source's weights count, whose first joint may be another than the heaviest.
        kept |= same if made.kept is None else same | (~shown & made.kept)
    return normals, kept


def off_shown(
    block: Block, shape: Shape, part: Part, made: SkinnedMesh, rig: ExportRig, moved: Moved
) -> tuple[int, float]:
    """Return of how many vertices normals are written that are off what Blender shows at rest, and how far: degrees.

    Neither what has been said counts, nor what was moved as a whole: Blender mirrors normals wrongly.
    """
    assert made.normals is not None
    if shape.lost or (made.kept_normals is not None and made.kept_normals.all()):
        return 0, 0.0
    matrix = rig.place_of(block)
    present = turned_normals(part.normals(attributes.corner_normals(shape.mesh)[None]), matrix[None])[0]
    written = rotate(normal_turns(made.weights, rig.skeleton.bind.rotations), made.normals)
    lengths = steady.lengths(present) * steady.lengths(written)
    near = np.clip(steady.dots(present, written) / np.maximum(lengths, steady.TINY), -1.0, 1.0)
    off = (near < SHOWN_NEAR) & (lengths > 0) & (part.vertices.corners >= 0)
    if moved.carried is not None:
        off &= ~moved.carried
    return int(off.sum()), math.degrees(math.acos(near[off].min())) if off.any() else 0.0


def _at_rest(shape: Shape, part: Part, of: SourceNormals, moved: Moved) -> tuple[Floats, Bools]:
    """Return the normals (V, 3) of a part's vertices in its object, and which are not the source's any more, (V,)."""
    triangles, numbers, faces = part.triangles.vertices, part.vertices.numbers, part.triangles.numbers
    over = affine.turned_over(triangles, numbers, faces, moved.triangles)
    near = affine.beside(moved.points[part.vertices.points], triangles)
    near = affine.with_twins(near & of.known, part.vertices.points, of.shown) | near | over
    world, own = of.shown.copy(), part.own
    if not (own | ~of.known | near).any():
        return world, near
    corners = attributes.corner_normals(shape.mesh) if not shape.normals.any() else shape.normals
    present = part.normals(corners[None])[0]
    carried = moved.carried = _carry(world, near & of.known, moved, triangles, over)
    if not moved.as_shown:
        same = steady.dots(present, attributes.unit(world)) >= attributes.NEAR
        own = own & ~(of.known & same & (carried | ~near))
    as_shown = own | ~of.known | (near & ~carried)
    as_shown &= ~(of.known & (part.vertices.corners < 0))  # no corner shows those that no triangle uses
    world[as_shown] = present[as_shown]
    return world, own | ~of.known | near


def _stay(normals: Floats, of: SourceNormals, made: SkinnedMesh, skeleton: Skeleton) -> Bools:
    """Tell which normals (V, 3) are the source's still, (V,): those that joints took along with their vertices."""
    joints = made.weights.first_joints()
    if skeleton.sources is None or not len(skeleton.sources):
        return np.zeros(len(normals), np.bool_)
    lengths = steady.lengths(of.stored)
    unit = of.stored / np.where(lengths > 0, lengths, 1.0)[:, None]
    near = (np.abs(normals - unit) <= SAME_NORMAL).all(axis=1)
    return np.asarray(of.known & near & (made.weights.counts > 0) & (skeleton.sources[joints] == of.joints))


def _carry(world: Floats, wanted: Bools, moved: Moved, triangles: NDArray[np.int32], over: Bools) -> Bools:
    """Turn normals (V, 3) that are `wanted` (V,) in place where one map moved the part; tells where, (V,)."""
    vertices = np.flatnonzero(wanted)
    slack = affine.rounding(moved.before)
    maps, found = affine.maps_at(moved.before, moved.after, triangles, vertices, slack)
    own = vertices[found]
    turned = steady.applied(maps[found], world[own]) * np.where(over[own], -1.0, 1.0)[:, None]
    world[own] = turned / np.maximum(steady.lengths(turned), steady.TINY)[:, None]
    carried = np.zeros(len(world), np.bool_)
    carried[own] = True
    return carried
