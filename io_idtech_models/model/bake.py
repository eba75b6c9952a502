"""From a skeleton to frames: a skeletal model in motion as a vertex-animated one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..reporting import LimitError, listed
from . import steady
from .arrays import LARGEST
from .clips import Clip, numbered
from .edits.normals import smooth_normals
from .joint_scales import posed, without_rest_scale
from .skeletal import Animation, JointTag, SkeletalModel, Skeleton, SkinnedMesh, mismatch
from .transforms import to_matrices
from .vertex import Surface, Tag, VertexModel
from .weights import alike_normals, blended_normals, skin_by

Doubles = NDArray[np.float64]
TAG = "tag_"  # what games call their tags


def bake(
    model: SkeletalModel, animations: list[Animation], tags: list[str] | None = None, frames: range | None = None
) -> VertexModel:
    """Return the model in all frames of the animations, one after another; without any in its bind pose.

    `tags` names joints that become tags, called `tag_NAME` unless their names begin so. `frames` chooses among all
    frames. A model's own tags come first. Where it has no normals they are smooth over what lies together in the first
    frame: MD5 stores none, and engines make them so.

    Raises:
        LimitError: an animation is of another skeleton, or a joint or frame does not exist.
    """
    for animation in animations:
        reason = mismatch(model.skeleton, animation)
        if reason:
            raise LimitError(f"'{animation.name}' does not fit '{model.name}': {reason}")
    poses, names, stretches = _poses(model, animations)
    if frames is not None:
        if frames.start < 0 or frames.stop > len(names) or not len(frames):
            raise LimitError(f"there are no frames {frames.start} to {frames.stop - 1}: it has 0 to {len(names) - 1}")
        chosen = slice(frames.start, frames.stop)
        poses = _Poses(poses.places[chosen], poses.axes[chosen], poses.turns[chosen])
        names, stretches = names[chosen], []
    surfaces = [_surface(mesh, poses, model.skeleton.bind.rotations) for mesh in model.meshes]
    made = [_joint_tag(tag, poses) for tag in model.tags]
    made += [_tag(model, name, poses) for name in tags or []]
    return VertexModel(model.name, names, surfaces, made, animations=stretches)


@dataclass(eq=False)
class _Poses:
    """Where joints are in all frames, in model space."""

    places: Doubles  # (F, J, 3)
    axes: Doubles  # (F, J, 3, 3) what they do to their space
    turns: Doubles  # (F, J, 3, 3) the same without their size


def _poses(model: SkeletalModel, animations: list[Animation]) -> tuple[_Poses, list[str], list[Clip]]:
    """Return the poses of all frames, the frames' names, and the animations."""
    skeleton = model.skeleton
    if not animations:
        turns = to_matrices(skeleton.bind.rotations[None])
        return _Poses(skeleton.bind.positions[None], turns, turns), ["bind"], []
    posed = [_posed(animation, skeleton) for animation in animations]
    names: list[str] = []
    stretches: list[Clip] = []
    for animation in animations:
        stretches.append(Clip(animation.name, len(names), animation.num_frames))
        names += numbered(animation.name, animation.num_frames)
    return _Poses(*(np.concatenate(part) for part in zip(*posed, strict=True))), names, stretches


def _posed(animation: Animation, skeleton: Skeleton) -> tuple[Doubles, Doubles, Doubles]:
    """Return an animation's places, axes and turns in model space."""
    moving = without_rest_scale(animation, skeleton)
    places, axes = posed(moving)
    if moving.scales is None:
        return places, axes, axes
    sizes = steady.lengths(np.swapaxes(axes, -1, -2))
    return places, axes, axes / np.where(sizes > 0, sizes, 1.0)[..., None, :]


def _surface(mesh: SkinnedMesh, poses: _Poses, bind: Doubles) -> Surface:
    frames = np.empty((len(poses.places), mesh.num_vertices, 3), np.float32)
    for frame, places, axes in zip(frames, poses.places, poses.axes, strict=True):
        frame[:] = np.clip(skin_by(mesh.weights, places, axes), -LARGEST, LARGEST)
    if mesh.normals is None:
        normals = smooth_normals(frames, mesh.triangles)
    elif mesh.alike:
        normals = alike_normals(mesh.weights, mesh.normals, bind, poses.axes).astype(np.float32)
    elif mesh.blended:
        normals = blended_normals(mesh.weights, mesh.normals, bind, poses.axes).astype(np.float32)
    else:
        turns = poses.turns[:, mesh.weights.first_joints()]
        normals = np.clip(steady.applied(turns, mesh.normals), -LARGEST, LARGEST).astype(np.float32)
    return Surface(mesh.name, frames, mesh.triangles.copy(), mesh.uvs.copy(), [mesh.shader], normals)


def _joint_tag(tag: JointTag, poses: _Poses) -> Tag:
    """Return a tag of the model in all frames: where its joint takes it."""
    turns = poses.turns[:, tag.joint]
    origins = poses.places[:, tag.joint] + steady.applied(turns, tag.origin)
    axes = steady.products(tag.axes, np.swapaxes(turns, 1, 2))
    return Tag(tag.name, origins.astype(np.float32), axes.astype(np.float32))


def joints_called_tags(model: SkeletalModel) -> list[str]:
    """Return the joints that are tags by their names."""
    return [name for name in model.skeleton.names if name.lower().startswith(TAG)]


def _tag(model: SkeletalModel, name: str, poses: _Poses) -> Tag:
    if name not in model.skeleton.names:
        raise LimitError(f"no joint is called '{name}'; there are {listed(model.skeleton.names)}")
    joint = model.skeleton.names.index(name)
    axes = np.swapaxes(poses.turns[:, joint], 1, 2)  # a joint's axes are the columns, a tag's the rows
    called = name if name.lower().startswith(TAG) else f"{TAG}{name}"
    return Tag(called, poses.places[:, joint].astype(np.float32), axes.astype(np.float32))
