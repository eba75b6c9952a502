"""A rig as a model that a skeleton moves, with an animation for each that frames' names tell of.

What bones can't say of the frames is lost there: it is told how much that is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import steady
from ..clips import Clip, group
from ..edits.conform import split_surface
from ..skeletal import Animation, JointTag, SkeletalModel, Skeleton, SkinnedMesh
from ..torso import nearest_turns
from ..transforms import conjugate, from_matrices, multiply, rotate, to_matrices, unchain
from ..vertex import Surface, Tag, VertexModel
from ..weights import Weights
from .points import points_of
from .rig import Doubles, FrameRig, Report, RigSettings, explained
from .solve import Progress, make_rig

FRAME_RATE = 10.0  # of games that say none: what Quake's and Quake II's monsters play at


def to_skeletal(
    model: VertexModel, settings: RigSettings, frame_rate: float = 0.0, advance: Progress = lambda done: None
) -> tuple[SkeletalModel, list[Animation], Report]:
    """Return a model of frames as one that a skeleton moves, its animations, and what bones say of the frames.

    `frame_rate` is that of animations that say none themselves, 0 where nobody knows.

    Raises:
        LimitError: nothing can be made of it; see `make_rig`.
    """
    surfaces = [split_surface(surface) for surface in model.surfaces]
    positions, triangles, starts = points_of(surfaces, model.num_frames)
    rig = make_rig(positions, triangles, model.tags, settings, advance)
    places, turns = _rest_of(rig)
    skeleton = Skeleton(list(rig.names), rig.parents.astype(np.int32), places, turns)
    parts = zip(surfaces, starts, strict=False)
    meshes = [_mesh(surface, rig, skeleton, slice(start, start + surface.num_vertices)) for surface, start in parts]
    clips = model.animations or group(list(model.frame_names))
    animations = [_animation(clip, rig, skeleton, clip.frame_rate or frame_rate or FRAME_RATE) for clip in clips]
    made = SkeletalModel(model.name, skeleton, meshes, tags=_tags(model.tags, rig, skeleton))
    return made, animations, explained(rig, positions)


def _tags(tags: Sequence[Tag], rig: FrameRig, skeleton: Skeleton) -> list[JointTag]:
    """Return the tags of frames as tags on the bones that they became."""
    found = []
    for tag, bone in zip(tags, rig.tag_bones.tolist(), strict=True):
        pose = rig.poses[rig.rest_frame, bone]
        back, turn = steady.inverses(pose[None, :, :3])[0], conjugate(skeleton.rotations[bone])
        origin = steady.applied(back, tag.origins[rig.rest_frame] - pose[:, 3]) - skeleton.positions[bone]
        axes = steady.applied(back[None], tag.axes[rig.rest_frame].astype(np.float64))
        axes /= np.maximum(steady.lengths(axes), steady.TINY)[:, None]
        found.append(
            JointTag(tag.name, bone, rotate(turn, origin).astype(np.float32), rotate(turn, axes).astype(np.float32))
        )
    return found


def _rest_of(rig: FrameRig) -> tuple[Doubles, Doubles]:
    """Return where bones are at rest, (B, 3), and how they are turned, (B, 4): their X axis points along them."""
    ways = rig.tails - rig.heads
    along = ways / np.maximum(steady.lengths(ways), steady.TINY)[:, None]
    across = np.where(np.abs(along[:, 1:2]) < 0.9, [[0.0, 1.0, 0.0]], [[0.0, 0.0, 1.0]])
    up = steady.crossed(along, across)
    up /= steady.lengths(up)[:, None]
    axes = np.stack([along, steady.crossed(up, along), up], axis=2)
    return rig.heads.copy(), from_matrices(axes)


def _mesh(surface: Surface, rig: FrameRig, skeleton: Skeleton, own: slice) -> SkinnedMesh:
    """Return a surface as a mesh on the bones, with the normals of the frame that is at rest, turned back."""
    points = rig.of_vertex[own]
    factors = rig.weights[points]
    vertices, joints = np.nonzero(factors)
    order = np.lexsort((joints, -factors[vertices, joints], vertices))  # the strongest first: it turns the normal
    vertices, joints = vertices[order], joints[order]
    counts = np.bincount(vertices, minlength=len(points))
    back = conjugate(skeleton.rotations[joints])
    offsets = rotate(back, rig.rest[points[vertices]] - skeleton.positions[joints])
    weights = Weights(
        np.cumsum(counts) - counts,
        counts,
        joints.astype(np.int32),
        factors[vertices, joints].astype(np.float32),
        offsets.astype(np.float32),
    )
    found = surface.some_normals(slice(rig.rest_frame, rig.rest_frame + 1))
    normals = None
    if found is not None:
        first = weights.first_joints()
        blend = rig.blends(rig.rest_frame)[points, :, :3]
        at_rest = steady.applied(np.swapaxes(to_matrices(nearest_turns(blend)), 1, 2), found[0])
        normals = rotate(conjugate(skeleton.rotations[first]), at_rest).astype(np.float32)
    shader = surface.shaders[0] if surface.shaders else ""
    return SkinnedMesh(surface.name, shader, surface.uvs, surface.triangles, weights, normals=normals, blended=True)


def _animation(clip: Clip, rig: FrameRig, skeleton: Skeleton, frame_rate: float) -> Animation:
    """Return the poses of a run of frames, in the order in which they play."""
    poses = rig.poses[list(clip.frames)]
    places = steady.applied(poses[..., :3], skeleton.positions) + poses[..., 3]
    turns = multiply(nearest_turns(poses[..., :3].reshape(-1, 3, 3)).reshape(*poses.shape[:2], 4), skeleton.rotations)
    positions, rotations = unchain(skeleton.parents, places, turns)
    count = len(poses)
    return Animation(
        clip.name, list(skeleton.names), skeleton.parents, positions, rotations, frame_rate, np.zeros((count, 2, 3)),
        loops=clip.loop > 0,
    )  # fmt: skip
