"""From a skeleton to frames: a skeletal model in motion as a vertex-animated one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..reporting import LimitError
from . import steady
from .clips import Clip, numbered
from .edits.normals import smooth_normals
from .skeletal import LARGEST, Animation, JointTag, SkeletalModel, SkinnedMesh, mismatch, skin
from .transforms import chain, rotate, to_matrices
from .vertex import Surface, Tag, VertexModel
from .wording import listed

Doubles = NDArray[np.float64]


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
    positions, rotations, sizes, names, stretches = _poses(model, animations)
    if frames is not None:
        if frames.start < 0 or frames.stop > len(names) or not len(frames):
            raise LimitError(f"frames {frames.start} to {frames.stop - 1} of {len(names)}")
        chosen = slice(frames.start, frames.stop)
        positions, rotations, sizes = positions[chosen], rotations[chosen], sizes[chosen]
        names, stretches = names[chosen], []
    surfaces = [_surface(mesh, positions, rotations, sizes) for mesh in model.meshes]
    made = [_joint_tag(tag, positions, rotations) for tag in model.tags]
    made += [_tag(model, name, positions, rotations) for name in tags or []]
    return VertexModel(model.name, names, surfaces, made, animations=stretches)


def _poses(
    model: SkeletalModel, animations: list[Animation]
) -> tuple[Doubles, Doubles, Doubles, list[str], list[Clip]]:
    """Return positions (F, J, 3) and rotations (F, J, 4) in model space of all frames, how large joints are (F, J).

    And the frames' names and the animations.
    """
    skeleton = model.skeleton
    if not animations:
        sizes = np.ones((1, skeleton.num_joints))
        return skeleton.bind.positions[None], skeleton.bind.rotations[None], sizes, ["bind"], []
    posed = [_posed(animation) for animation in animations]
    names: list[str] = []
    stretches: list[Clip] = []
    for animation in animations:
        stretches.append(Clip(animation.name, len(names), animation.num_frames))
        names += numbered(animation.name, animation.num_frames)
    positions, rotations, sizes = (np.concatenate(part) for part in zip(*posed, strict=True))
    return positions, rotations, sizes, names, stretches


def _posed(animation: Animation) -> tuple[Doubles, Doubles, Doubles]:
    """Return an animation's positions and rotations in model space, and how large its joints are."""
    scales = animation.scales
    if scales is None:
        ways, sizes = animation.positions, np.ones(animation.positions.shape[:2])
    else:
        ways, sizes = animation.positions * scales.of_ways()[..., None], scales.values
    return (*chain(animation.parents, ways, animation.rotations), sizes)


def _surface(mesh: SkinnedMesh, positions: Doubles, rotations: Doubles, sizes: Doubles) -> Surface:
    frames = np.empty((len(positions), mesh.num_vertices, 3), np.float32)
    for frame, places, turns, scale in zip(frames, positions, rotations, sizes, strict=True):
        frame[:] = np.clip(skin(mesh.weights, places, turns, scale), -LARGEST, LARGEST)
    if mesh.normals is None:
        normals = smooth_normals(frames, mesh.triangles)
    else:
        turned = rotate(rotations[:, mesh.weights.first_joints()], mesh.normals)
        normals = np.clip(turned, -LARGEST, LARGEST).astype(np.float32)
    return Surface(mesh.name, frames, mesh.triangles.copy(), mesh.uvs.copy(), [mesh.shader], normals)


def _joint_tag(tag: JointTag, positions: NDArray[Any], rotations: NDArray[Any]) -> Tag:
    """Return a tag of the model in all frames: where its joint takes it."""
    turns = to_matrices(rotations[:, tag.joint])
    origins = positions[:, tag.joint] + steady.applied(turns, tag.origin)
    axes = steady.products(tag.axes, np.swapaxes(turns, 1, 2))
    return Tag(tag.name, origins.astype(np.float32), axes.astype(np.float32))


def _tag(model: SkeletalModel, name: str, positions: NDArray[Any], rotations: NDArray[Any]) -> Tag:
    if name not in model.skeleton.names:
        raise LimitError(f"no joint is called '{name}'; there are {listed(model.skeleton.names)}")
    joint = model.skeleton.names.index(name)
    axes = np.swapaxes(to_matrices(rotations[:, joint]), 1, 2)  # a joint's axes are the columns, a tag's the rows
    called = name if name.lower().startswith("tag_") else f"tag_{name}"
    return Tag(called, positions[:, joint].astype(np.float32), axes.astype(np.float32))
