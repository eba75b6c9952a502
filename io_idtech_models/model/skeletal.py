"""Models that a skeleton moves: MD5, MDM with MDX, and their kin.

Model space is that of `model.vertex`: right-handed, +X forward, +Z up, game units, triangles counter-clockwise, texture
coordinates from the bottom left. Poses are positions (..., 3) and quaternions (..., 4) as w, x, y, z; a joint's own X
axis points along the bone in these formats.

A vertex has no place of its own: it is the sum of what its weights say, each an offset in a joint's space and a factor
(`Weights`). In real files they disagree a little in every pose, and factors need not sum to 1.

**Sources.** As in `model.vertex`: a model that came from a file carries the facts of that file (`SkeletalSource`), its
elements name the source's that they were, and say whether they still are: a kept joint has the source's bind pose, a
kept vertex the source's weights. An animation's joints name in each frame the source's frame whose pose they have.

Letters in shapes: J joints, V vertices of a mesh, T its triangles, W weights, F frames.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .transforms import chain, to_matrices

Facts = dict[str, NDArray[Any]]
Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Ints = NDArray[np.int32]


@dataclass(eq=False)
class Skeleton:
    """Joints, parents before children, and where they are while the meshes are bound to them (model space)."""

    names: list[str]
    parents: Ints  # (J,) -1 for a root
    positions: Doubles  # (J, 3)
    rotations: Doubles  # (J, 4)
    sources: Ints | None = None  # (J,) the source's joint that each was, or -1; None: all new
    kept: NDArray[np.bool_] | None = None  # (J,) its bind pose is the source's; None: none is

    @property
    def num_joints(self) -> int:
        """Return J."""
        return len(self.names)


@dataclass(eq=False)
class Weights:
    """What moves a mesh's vertices: vertex v has the weights starts[v] to starts[v] + counts[v] of one table."""

    starts: NDArray[Any]  # (V,) whole numbers, as are
    counts: NDArray[Any]  # (V,)
    joints: NDArray[Any]  # (W,)
    factors: Floats  # (W,) the file's biases
    offsets: Floats  # (W, 3) in the joint's space

    def of(self, vertices: NDArray[Any]) -> Weights:
        """Return the weights of some vertices (n,), in the same table."""
        return Weights(self.starts[vertices], self.counts[vertices], self.joints, self.factors, self.offsets)

    def entries(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the vertex and the weight (n,) of everything that moves a vertex, vertex by vertex."""
        counts = self.counts.astype(np.int64)
        vertices = np.repeat(np.arange(len(counts)), counts)
        steps = np.arange(len(vertices)) - np.repeat(np.cumsum(counts) - counts, counts)
        return vertices, self.starts.astype(np.int64)[vertices] + steps


@dataclass(eq=False)
class SkinnedMesh:
    """A triangle mesh with one shader."""

    name: str
    shader: str
    uvs: Floats  # (V, 2), origin bottom left
    triangles: Ints  # (T, 3), counter-clockwise
    weights: Weights  # of a kept vertex too; those of the source say the same, but bit for bit
    source_index: int = -1  # the source's mesh that it was
    source_vertices: Ints | None = None  # (V,) model-wide number or -1; None: all new
    source_triangles: Ints | None = None  # (T,) model-wide number or -1; None: all new
    kept: NDArray[np.bool_] | None = None  # (V,) its weights are the source's; None: none are

    @property
    def num_vertices(self) -> int:
        """Return V."""
        return len(self.uvs)


@dataclass(eq=False)
class Animation:
    """A skeleton in motion: poses relative to the parent, frame by frame."""

    name: str
    joint_names: list[str]
    parents: Ints  # (J,)
    positions: Doubles  # (F, J, 3)
    rotations: Doubles  # (F, J, 4)
    frame_rate: float
    bounds: Doubles  # (F, 2, 3): what the meshes reach, low and high
    source: AnimationSource | None = None
    # (F, J, 2) the source's frames whose position and whose rotation a joint has, or -1; None: none
    source_frames: Ints | None = None
    source_joints: Ints | None = None  # (J,) the source's joint that each was, or -1; None: all new
    keep_bounds: bool = True  # the source's, where the pose is the source's, and no smaller ones elsewhere

    @property
    def num_frames(self) -> int:
        """Return F."""
        return len(self.positions)


@dataclass(eq=False)
class MeshSource:
    """One mesh of the source file."""

    name: str
    shader: str
    uvs: Floats  # (V, 2), as the model shows them
    triangles: Ints  # (T, 3), counter-clockwise
    weights: Weights
    facts: Facts = field(default_factory=dict)  # what only the format knows

    @property
    def num_vertices(self) -> int:
        """Return V."""
        return len(self.uvs)


@dataclass(eq=False)
class SkeletalSource:
    """The facts of the file that a model was read from; `format` says whose facts they are."""

    format: str
    skeleton: Skeleton
    meshes: list[MeshSource]
    facts: Facts = field(default_factory=dict)

    @cached_property
    def first_vertices(self) -> NDArray[np.int64]:
        """Return the model-wide number of each mesh's first vertex, and the total: (meshes + 1,)."""
        return np.cumsum([0] + [m.num_vertices for m in self.meshes])

    @cached_property
    def first_triangles(self) -> NDArray[np.int64]:
        """Return the model-wide number of each mesh's first triangle, and the total: (meshes + 1,)."""
        return np.cumsum([0] + [len(m.triangles) for m in self.meshes])


@dataclass(eq=False)
class AnimationSource:
    """The facts of the file that an animation was read from."""

    format: str
    joint_names: list[str]
    parents: Ints  # (J,)
    positions: Doubles  # (F, J, 3)
    rotations: Doubles  # (F, J, 4)
    frame_rate: float
    facts: Facts = field(default_factory=dict)


@dataclass(eq=False)
class SkeletalModel:
    """A skeleton and the meshes that it moves."""

    name: str
    skeleton: Skeleton
    meshes: list[SkinnedMesh]
    source: SkeletalSource | None = None

    def source_of(self, format_name: str) -> SkeletalSource | None:
        """Return the source if it is of that format: the facts of another one are no hints."""
        return self.source if self.source is not None and self.source.format == format_name else None


def skin(weights: Weights, positions: NDArray[Any], rotations: NDArray[Any]) -> Doubles:
    """Return where a pose of the joints, positions (J, 3) and rotations (J, 4) in model space, puts vertices, (V, 3).

    The sum of factor x (rotation x offset + position) over a vertex' weights (dhewm3, `TransformVerts`).
    """
    vertices, entries = weights.entries()
    joints = weights.joints[entries]
    turned = np.einsum("nij,nj->ni", to_matrices(rotations)[joints], weights.offsets[entries].astype(np.float64))
    moved = (turned + positions[joints]) * weights.factors[entries, None].astype(np.float64)
    return np.stack([np.bincount(vertices, moved[:, axis], len(weights.starts)) for axis in range(3)], axis=1)


def mismatch(skeleton: Skeleton, animation: Animation) -> str:
    """Return a sentence that names the first joint in which an animation differs from a skeleton, or ""."""
    if skeleton.num_joints != len(animation.joint_names):
        return f"the animation has {len(animation.joint_names)} joints, the model {skeleton.num_joints}"
    pairs = zip(skeleton.names, animation.joint_names, strict=True)
    for joint, (own, other) in enumerate(pairs):
        if own != other:
            return f"joint {joint} is '{other}' in the animation, '{own}' in the model"
        a, b = (int(p[joint]) for p in (animation.parents, skeleton.parents))
        if a != b:
            there, here = (_name_of(parent, skeleton.names) for parent in (a, b))
            return f"the parent of '{own}' is {there} in the animation, {here} in the model"
    return ""


def _name_of(joint: int, names: list[str]) -> str:
    if joint < 0:
        return "none"
    return f"'{names[joint]}'" if names.count(names[joint]) == 1 else f"joint {joint} '{names[joint]}'"


def changed_frames(animation: Animation) -> NDArray[np.bool_]:
    """Tell which frames (F,) are not, in all joints that the source has, one and the same of the source's."""
    hints = animation.source_frames
    if animation.source is None or hints is None or animation.source_joints is None:
        return np.ones(animation.num_frames, np.bool_)
    own = hints[:, animation.source_joints >= 0].reshape(animation.num_frames, -1)
    return np.asarray((own < 0).any(axis=1) | (own != own[:, :1]).any(axis=1))


def set_bounds(animation: Animation, model: SkeletalModel) -> None:
    """Make the bounds of frames that changed those of the model's deformed meshes, or of its joints without any."""
    frames = np.flatnonzero(changed_frames(animation) | (not animation.keep_bounds))
    if not len(frames):
        return
    positions, rotations = chain(animation.parents, animation.positions[frames], animation.rotations[frames])
    for frame, places, turns in zip(frames.tolist(), positions, rotations, strict=True):
        parts = [skin(mesh.weights, places, turns) for mesh in model.meshes if mesh.num_vertices]
        points = np.concatenate(parts) if parts else places
        if len(points):
            animation.bounds[frame] = points.min(axis=0), points.max(axis=0)


def looped(animation: Animation) -> Animation:
    """Return an animation that ends with its first frame: games loop over one frame less than there are."""
    frames = np.append(np.arange(animation.num_frames), 0)
    hints = None if animation.source_frames is None else animation.source_frames[frames]
    return replace(
        animation,
        positions=animation.positions[frames],
        rotations=animation.rotations[frames],
        bounds=animation.bounds[frames],
        source_frames=hints,
    )


ORIGIN = "origin"
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


def _under_origin(parents: Ints) -> Ints:
    return np.concatenate((np.array([-1], np.int32), parents + np.int32(1)))


def skeleton_with_origin(model: SkeletalModel) -> SkeletalModel:
    """Return a model whose roots hang on a joint `origin` that stays where it is; itself if it has one root."""
    skeleton = model.skeleton
    if int((skeleton.parents < 0).sum()) <= 1:
        return model
    sources, kept = skeleton.sources, skeleton.kept
    hung = Skeleton(
        [ORIGIN, *skeleton.names],
        _under_origin(skeleton.parents),
        np.concatenate((np.zeros((1, 3)), skeleton.positions)),
        np.concatenate((UPRIGHT[None], skeleton.rotations)),
        None if sources is None else np.append(np.int32(-1), sources).astype(np.int32),
        None if kept is None else np.append(False, kept),
    )
    meshes = []
    for mesh in model.meshes:
        table = mesh.weights
        weights = Weights(table.starts, table.counts, table.joints + np.int32(1), table.factors, table.offsets)
        meshes.append(replace(mesh, weights=weights))
    return replace(model, skeleton=hung, meshes=meshes)


def animation_with_origin(animation: Animation) -> Animation:
    """Return an animation whose roots hang on a joint `origin`, as `skeleton_with_origin` does for its model."""
    if int((animation.parents < 0).sum()) <= 1:
        return animation
    frames = animation.num_frames
    still = np.broadcast_to(UPRIGHT, (frames, 1, 4))
    hints, joints = animation.source_frames, animation.source_joints
    return replace(
        animation,
        joint_names=[ORIGIN, *animation.joint_names],
        parents=_under_origin(animation.parents),
        positions=np.concatenate((np.zeros((frames, 1, 3)), animation.positions), axis=1),
        rotations=np.concatenate((still, animation.rotations), axis=1),
        source_frames=None if hints is None else np.concatenate((np.full((frames, 1, 2), -1, np.int32), hints), axis=1),
        source_joints=None if joints is None else np.append(np.int32(-1), joints).astype(np.int32),
    )
