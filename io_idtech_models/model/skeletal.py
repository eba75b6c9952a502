"""Models that a skeleton moves: MD5, MDM with MDX, and their kin.

Model space is that of `model.vertex`: right-handed, +X forward, +Z up, game units, triangles counter-clockwise, texture
coordinates from the bottom left. Poses are positions (..., 3) and quaternions (..., 4) as w, x, y, z; a joint's own X
axis points along the bone in these formats.

A vertex has no place of its own: it is the sum of what its weights say, each an offset in a joint's space and a factor
(`Weights`). In real files they disagree a little in every pose, and factors need not sum to 1.

**Sources.** As in `model.vertex`: a model that came from a file carries the facts of that file (`SkeletalSource`), its
elements name the source's that they were, and say whether they still are: a kept joint has the source's bind pose, a
kept vertex the source's weights, a carried one these too, in their order, but with offsets of its own. An animation's
joints name in each frame the source's frame whose pose they have.

Letters in shapes: J joints, V vertices of a mesh, T its triangles, W weights, F frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import steady
from .arrays import numbers_below
from .source import Facts, Ints, Numbering
from .transforms import unchain
from .weights import Weights, skin

__all__ = [
    "LEAST", "Animation", "AnimationSource", "Doubles", "Floats", "JointTag", "Pose", "Scales", "SkeletalModel",
    "SkeletalSource", "Skeleton", "SkinnedMesh", "SkinnedMeshSource", "Traits", "Weights", "at_rest", "changed_frames",
    "looped", "mismatch", "skin",
]  # fmt: skip

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
ON_JOINT = 1e-4  # units, and of an axis: nearer a tag stands on its joint
NEAR = 0.01  # of the longest way from a joint to its parent: of shorter ones rounding shows
ROUNDED = 1e-5  # of the farthest place of a joint: shorter ways are rounding alone
# Parts by which joints differ that are scaled alike, and by which a skeleton is of another size: a real model's
# animations have all its joints 1.2 % farther apart (xsarge of XreaL).
ALIKE, ANOTHER_SIZE = 0.01, 0.1
LEAST = 1e-5  # stands for 0 where ways are multiplied: what 0 swallowed could not come back


@dataclass(eq=False)
class Traits:
    """What Enemy Territory knows of joints beside their poses: how a player's legs and torso move apart."""

    torso_weights: Floats  # (J,) 0: a joint plays the legs' frame, 1: the torso's, between: both
    flags: Ints  # (J,) 1: a tag
    torso_parent: int  # the joint about which the torso turns; -1 or more than there are: none

    def of(self, joints: NDArray[Any]) -> Traits:
        """Return the traits of some joints (n,), -1 for one that has none."""
        inside = joints >= 0
        place = {int(old): new for new, old in enumerate(joints.tolist()) if old >= 0}
        return Traits(
            np.where(inside, self.torso_weights[joints], 0).astype(np.float32),
            np.where(inside, self.flags[joints], 0).astype(np.int32),
            place.get(self.torso_parent, -1),
        )

    def differences(self, other: Traits) -> int:
        """Return in how much traits of as many joints differ, of what can be shown.

        Weights that are no numbers show as none, as does a joint about which the torso turns that is none.
        """
        weights = [np.where(np.isfinite(each), each, 0) for each in (self.torso_weights, other.torso_weights)]
        parents = {each.torso_parent if 0 <= each.torso_parent < len(each.flags) else -1 for each in (self, other)}
        return int((weights[0] != weights[1]).sum() + (self.flags != other.flags).sum()) + len(parents) - 1

    def with_edits(self, before: Traits, after: Traits) -> Traits:
        """Return traits with what others have otherwise by now than they had."""
        return Traits(
            np.where(after.torso_weights != before.torso_weights, after.torso_weights, self.torso_weights),
            np.where(after.flags != before.flags, after.flags, self.flags),
            self.torso_parent if after.torso_parent == before.torso_parent else after.torso_parent,
        )


@dataclass(eq=False)
class Scales:
    """The scale of joints in every frame, and whose ways from their parents it scales, too."""

    values: NDArray[np.float64]  # (F, J); inherited: (F, J, 3), along each joint's axes
    ways: NDArray[np.bool_]  # (J,)
    inherited: bool = False  # what hangs on a joint is scaled with it

    def shown(self) -> NDArray[np.float64]:
        """Return the scale (F, J) with something very small for 0."""
        return np.where(np.abs(self.values) < LEAST, LEAST, self.values)

    def of_ways(self) -> NDArray[np.float64]:
        """Return what joints' positions relative to their parents are multiplied by, (F, J)."""
        return np.where(self.ways, self.shown(), 1.0)

    def of_frames(self, frames: NDArray[Any]) -> Scales:
        """Return the scale in some frames (n,)."""
        return replace(self, values=self.values[frames])

    def of_joints(self, joints: NDArray[Any]) -> Scales:
        """Return the scale of some joints (n,), -1 for one that has none."""
        known = joints >= 0
        values = np.where(known[:, None] if self.inherited else known, self.values[:, joints], 1.0)
        return Scales(values, np.where(known, self.ways[joints], False), self.inherited)


def from_shown(shown: NDArray[Any], ways: NDArray[np.bool_]) -> Scales | None:
    """Return scales of what is shown (F, J), inverse of `Scales.shown`; None if nothing is scaled."""
    values = np.where(np.abs(shown) <= LEAST * 1.001, 0.0, shown.astype(np.float64))
    return None if (values == 1.0).all() else Scales(values, ways)


@dataclass(frozen=True, eq=False)
class Pose:
    """Where joints are, in model space."""

    positions: Doubles  # (J, 3)
    rotations: Doubles  # (J, 4)


@dataclass(eq=False)
class Skeleton:
    """Joints, parents before children, and where the file has them (model space)."""

    names: list[str]
    parents: Ints  # (J,) -1 for a root
    positions: Doubles  # (J, 3)
    rotations: Doubles  # (J, 4)
    sources: Ints | None = None  # (J,) the source's joint that each was, or -1; None: all new
    kept: NDArray[np.bool_] | None = None  # (J,) its bind pose is the source's; None: none is
    traits: Traits | None = None
    scales: Doubles | None = None  # (J, 3) how large joints are while meshes are bound to them: see `joint_scales`
    bound: Pose | None = None  # where meshes are bound to them; None: where the file has them

    @property
    def bind(self) -> Pose:
        """Return where the joints are while the meshes are bound to them."""
        return self.bound or Pose(self.positions, self.rotations)

    @property
    def num_joints(self) -> int:
        """Return J."""
        return len(self.names)

    def joints_in(self, source: SkeletalSource | None) -> NDArray[np.int64]:
        """Return which joint of a source each joint is, (J,), or -1."""
        return numbers_below(self.sources, 0 if source is None else source.skeleton.num_joints, self.num_joints)


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
    normals: Floats | None = None  # (V, 3) in the space of each vertex's first weight's joint, which alone turns it
    kept_normals: NDArray[np.bool_] | None = None  # (V,) its normal is the source's; None: none is
    min_lod: int | None = None  # the fewest vertices that a game may draw of it from afar; None: not the format's
    carried: NDArray[np.bool_] | None = None  # (V,) its weights are the source's but for their offsets; None: none are
    colors: Floats | None = None  # (V, 4) red, green, blue and opacity, from 0 to 1; None: it has none
    blended: bool = False  # all joints turn a normal, by their weights; else that of the first weight alone
    level: int = 0  # of detail: games draw meshes of a higher one from afar, instead of those of level 0
    alike: bool = False  # all joints turn one and the same vector, by their weights, which is the normal at rest (MDR)

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
    # (F, J, 2 or 3) the source's frames whose position, rotation and inherited scale a joint has, or -1; None: none
    source_frames: Ints | None = None
    source_joints: Ints | None = None  # (J,) the source's joint that each was, or -1; None: all new
    keep_bounds: bool = True  # the source's, where the pose is the source's, and no smaller ones elsewhere
    edited: Doubles | None = None  # (F, 2, 3): what vertices that were edited reach, low and high; None: none was
    traits: Traits | None = None
    lengths: Doubles | None = None  # (J,) the way to the parent at rest, for formats that store one for all frames
    scales: Scales | None = None  # how large joints are, for games that scale them
    holds_rest_scale: bool = False  # in its poses, which only a model tells apart: see `joint_scales`
    loops: bool = False  # the game is told to repeat it
    in_place: bool = False  # a modeller has put it in its place among others, which is not the source's
    times: Doubles | None = None  # (F,) when a scene showed its frames; None: it came from none

    @property
    def num_frames(self) -> int:
        """Return F."""
        return len(self.positions)

    def source_of(self, format_name: str) -> AnimationSource | None:
        """Return the source if it is of that format: the facts of another one are no hints."""
        return self.source if self.source is not None and self.source.format == format_name else None

    def joints_in(self, source: AnimationSource | None) -> NDArray[np.int64]:
        """Return which joint of a source each joint is, (J,), or -1."""
        return numbers_below(self.source_joints, 0 if source is None else len(source.joint_names), len(self.parents))

    def of_frames(self, frames: NDArray[Any]) -> Animation:
        """Return an animation of some of the frames (n,), in that order."""
        return replace(
            self,
            positions=self.positions[frames],
            rotations=self.rotations[frames],
            bounds=self.bounds[frames],
            source_frames=None if self.source_frames is None else self.source_frames[frames],
            scales=None if self.scales is None else self.scales.of_frames(frames),
            times=None if self.times is None else self.times[frames],
            edited=None if self.edited is None else self.edited[frames],
        )


@dataclass(frozen=True, eq=False)
class Outline:
    """What a file of motion says before its frames."""

    joint_names: list[str]
    parents: Ints  # (J,)
    num_frames: int
    frame_rate: float


@dataclass(eq=False)
class SkinnedMeshSource:
    """One mesh of the source file."""

    name: str
    shader: str
    uvs: Floats  # (V, 2), as the model shows them
    triangles: Ints  # (T, 3), counter-clockwise
    weights: Weights
    facts: Facts = field(default_factory=dict)  # what only the format knows
    normals: Floats | None = None  # (V, 3), as a mesh has them
    colors: Floats | None = None  # (V, 4), as a mesh has them
    blended: bool = False
    points: Ints | None = (
        None  # (V,) which of the points that import showed each vertex became part of; None: each is one
    )
    alike: bool = False

    @property
    def num_vertices(self) -> int:
        """Return V."""
        return len(self.uvs)

    def same_uvs(self, uvs: Floats, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the vertices (n,) whose texture coordinates (V, 2) are those of the `numbers` (V,) that they were."""
        known = np.flatnonzero(numbers >= 0)
        same: NDArray[np.int64] = known[(self.uvs[numbers[known]] == uvs[known]).all(axis=1)]
        return same


@dataclass(eq=False)
class JointTag:
    """A named place on a joint, to which games attach other models."""

    name: str
    joint: int
    origin: Floats  # (3,) in the joint's space
    axes: Floats  # (3, 3) the tag's axes as rows, in the joint's space
    source_index: int = -1  # the source's tag that it was
    kept: bool = False  # it stands on its joint as the source's does

    @property
    def stands_on_joint(self) -> bool:
        """Tell whether it stands right on its joint, turned as that is."""
        return bool(np.abs(self.origin).max() <= ON_JOINT and np.abs(self.axes - np.eye(3)).max() <= ON_JOINT)

    def is_joint_of(self, skeleton: Skeleton) -> bool:
        """Tell whether it is one with its joint: called as that is, where that is.

        Or as another joint is, with a number behind that name: of the parts of one player several have a tag of a name.
        """
        name, called = self.name.lower(), skeleton.names[self.joint].lower()
        again = called.startswith(f"{name}.") and called[len(name) + 1 :].isdigit()
        return self.stands_on_joint and (called == name or (again and name in map(str.lower, skeleton.names)))


@dataclass(eq=False)
class SkeletalSource(Numbering[SkinnedMeshSource]):
    """The facts of the file that a model was read from; `format` says whose facts they are."""

    format: str
    skeleton: Skeleton
    meshes: list[SkinnedMeshSource]
    facts: Facts = field(default_factory=dict)
    tags: list[JointTag] = field(default_factory=list)

    @property
    def parts(self) -> Sequence[SkinnedMeshSource]:
        """Return the meshes that are counted, in their order."""
        return self.meshes

    def shown_skeleton(self) -> Skeleton:
        """Return the skeleton as the source has it, which shares nothing with it."""
        own, count = self.skeleton, self.skeleton.num_joints
        places = own.positions.copy(), own.rotations.copy()
        sources, kept = np.arange(count, dtype=np.int32), np.ones(count, np.bool_)
        scales = None if own.scales is None else own.scales.copy()
        return Skeleton(list(own.names), own.parents.copy(), *places, sources, kept, own.traits, scales)

    def mesh(self, index: int) -> SkinnedMesh:
        """Return a mesh as the source has it, which shares nothing with it."""
        own = self.meshes[index]
        return SkinnedMesh(
            own.name,
            own.shader,
            own.uvs.copy(),
            own.triangles.copy(),
            own.weights.copy(),
            index,
            *self.numbers(index),
            np.ones(own.num_vertices, np.bool_),
            None if own.normals is None else own.normals.copy(),
            None if own.normals is None else np.ones(own.num_vertices, np.bool_),
            colors=None if own.colors is None else own.colors.copy(),
            blended=own.blended,
            alike=own.alike,
        )


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
    scales: Doubles | None = None  # (F, J, 3), inherited; None: the format has none

    def animation(self, name: str) -> Animation:
        """Return the animation as its file has it, so far as its source says: what is written of that is the file."""
        frames, joints = self.positions.shape[:2]
        scaled = None if self.scales is None else Scales(self.scales, np.ones(joints, np.bool_), inherited=True)
        hints = np.arange(frames, dtype=np.int32)[:, None, None]
        return Animation(
            name,
            list(self.joint_names),
            self.parents,
            self.positions,
            self.rotations,
            self.frame_rate,
            np.zeros((frames, 2, 3)),
            self,
            np.tile(hints, (1, joints, 2 if scaled is None else 3)),
            np.arange(joints, dtype=np.int32),
            scales=scaled,
        )


@dataclass(eq=False)
class SkeletalModel:
    """A skeleton and the meshes that it moves."""

    name: str
    skeleton: Skeleton
    meshes: list[SkinnedMesh]
    source: SkeletalSource | None = None
    tags: list[JointTag] = field(default_factory=list)
    lod: tuple[float, float] | None = None  # scale and bias of the distance at which vertices go
    lists_tags: bool = False  # its file says which tags there are: no joint is one by its name

    def source_of(self, format_name: str) -> SkeletalSource | None:
        """Return the source if it is of that format: the facts of another one are no hints."""
        return self.source if self.source is not None and self.source.format == format_name else None

    def nearest(self) -> SkeletalModel:
        """Return the model without the meshes that games draw from afar."""
        return replace(self, meshes=[mesh for mesh in self.meshes if not mesh.level])


def mismatch(skeleton: Skeleton, animation: Animation | Outline) -> str:
    """Return a sentence that names the first joint in which an animation differs from a skeleton, or ""."""
    if skeleton.num_joints != len(animation.joint_names):
        return f"the animation has {len(animation.joint_names)} joints, the model {skeleton.num_joints}"
    pairs = zip(skeleton.names, animation.joint_names, strict=True)
    for joint, (own, other) in enumerate(pairs):
        if own != other and other:  # one without a name is known by its number
            return f"joint {joint} is '{other}' in the animation, '{own}' in the model"
        a, b = (int(p[joint]) for p in (animation.parents, skeleton.parents))
        if a != b:
            of_animation, of_model = (_name_of(parent, skeleton.names) for parent in (a, b))
            return f"the parent of '{own}' is {of_animation} in the animation, {of_model} in the model"
    return ""


def size_of(animation: Animation, ways: NDArray[Any]) -> float:
    """Return how many times as far from their parents an animation has joints as they are at rest, all and always.

    `ways` (J, 3) are those from the parents at rest; joints without one don't count. It is 1 where most don't agree,
    for some may move on purpose, as a single one does, where that is hardly to be seen, and where joints are scaled.
    """
    before = steady.lengths(ways) * (animation.parents >= 0)
    reach = float(np.abs(animation.positions).max(initial=0.0))
    far = before > max(before.max(initial=0.0) * NEAR, reach * ROUNDED)
    is_scaled = animation.scales is not None and bool((np.abs(animation.scales.values - 1.0) > ALIKE).any())
    if is_scaled or far.sum() < 2 or not animation.num_frames:
        return 1.0
    factors = steady.lengths(animation.positions[:, far]) / before[far]
    factor = float(np.median(factors))
    agree = np.abs(factors - factor) <= ALIKE * factor
    return factor if factor > 0 and abs(factor - 1.0) > ANOTHER_SIZE and 2 * agree.sum() > agree.size else 1.0


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


def at_rest(skeleton: Skeleton, name: str) -> Animation:
    """Return an animation of one frame, the bind pose."""
    positions, rotations = unchain(skeleton.parents, skeleton.bind.positions[None], skeleton.bind.rotations[None])
    return Animation(
        name,
        list(skeleton.names),
        skeleton.parents,
        positions,
        rotations,
        1.0,
        np.zeros((1, 2, 3)),
        traits=skeleton.traits,
    )


def looped(animation: Animation) -> Animation:
    """Return an animation that ends with its first frame: games loop over one frame less than there are."""
    return animation.of_frames(np.append(np.arange(animation.num_frames), 0))
