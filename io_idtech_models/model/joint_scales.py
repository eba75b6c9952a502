"""How large joints are, at rest and frame by frame: what a game scales beside turning and moving.

There are two kinds. Of one (Quake II remaster) a joint's scale is its own: what hangs on it neither grows nor moves
with it. It scales the offsets of weights, and the joint's own way from its parent if it is marked so. The other (IQM)
is inherited: a joint is scaled along its axes, and all that hangs on it with it.

**Rest.** Formats of inherited scales have joints that are scaled where the meshes are bound to them, and poses that
hold this scale again. Models don't: their skeletons have a place and a turn, and poses what differs from these. So with
B a joint of the file at rest in model space, R the same without its scale, P its pose: a model's pose is P x inverse(B)
x R, which moves vertices just as the file's does. D = inverse(R) x B is what a joint at rest does to its space, its
stretch; of poses relative to parents L the model's are D(parent) x L x inverse(D). Where D is uneven and a joint turns
below it that is sheared: what is no turn and scale along the joint's axes is lost, the nearest of these is shown.

Letters in shapes: F frames, J joints.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import steady
from .skeletal import LEAST, Animation, Scales, Skeleton
from .source import Ints
from .transforms import chain, conjugate, from_matrices, multiply, to_matrices, unchain

log = logging.getLogger(__name__)

Doubles = NDArray[np.float64]
Bools = NDArray[np.bool_]


BENT = 1e-3  # of axes: how far from upright to one another what is said
UPRIGHT = 1e-7  # closer is rounding
ROUNDED = 1e-6  # of a scale: closer to none is rounding, and shows none


def posed(animation: Animation) -> tuple[Doubles, Doubles]:
    """Return where joints are in model space, (F, J, 3), and what they do to what lies in their space, (F, J, 3, 3)."""
    scales = animation.scales
    if scales is None or not scales.inherited:
        ways = animation.positions if scales is None else animation.positions * scales.of_ways()[..., None]
        places, turns = chain(animation.parents, ways, animation.rotations)
        axes = to_matrices(turns)
        return places, axes if scales is None else axes * scales.values[..., None, None]
    places, axes = animation.positions.copy(), to_matrices(animation.rotations) * scales.values[..., None, :]
    for joint, parent in enumerate(animation.parents.tolist()):
        if parent >= 0:
            places[:, joint] = places[:, parent] + steady.applied(axes[:, parent], places[:, joint])
            axes[:, joint] = steady.products(axes[:, parent], axes[:, joint])
    return places, axes


def taken_apart(axes: NDArray[Any]) -> tuple[Doubles, Doubles, Bools]:
    """Return turns (..., 4) and scales (..., 3) of axes (..., 3, 3), and which are sheared, (...): the nearest.

    Axes are the columns of a turn, each scaled. Mirrored ones have a negative scale along X.
    """
    scales = steady.lengths(np.swapaxes(axes, -1, -2))
    scales[..., 0] *= np.where(steady.determinants(axes) < 0, -1.0, 1.0)
    turns = axes / np.where(scales == 0, 1.0, scales)[..., None, :]
    off = np.abs(steady.products(np.swapaxes(turns, -1, -2), turns) - np.eye(3)).max(axis=(-1, -2))
    bent = off > UPRIGHT
    if bent.any():
        nearest = steady.nearest_rotations(turns[bent])
        turns[bent] = nearest
        scales[bent] = (nearest * axes[bent]).sum(axis=-2)
    return from_matrices(turns), scales, np.asarray(off > BENT)


def stretches(skeleton: Skeleton) -> Doubles:
    """Return what a skeleton's joints do to their space while they rest, (J, 3, 3)."""
    count = skeleton.num_joints
    found = np.tile(np.eye(3), (count, 1, 1))
    if skeleton.scales is None or (skeleton.scales == 1).all():
        return found
    turns = skeleton.bind.rotations
    for joint, parent in enumerate(skeleton.parents.tolist()):
        own = np.where(np.abs(skeleton.scales[joint]) < LEAST, LEAST, skeleton.scales[joint])
        if parent >= 0:
            way = to_matrices(multiply(conjugate(turns[parent]), turns[joint]))
            found[joint] = steady.products(way.T, found[parent], way)
        found[joint] = found[joint] * own
    return found


def warn_of_shear(animation: Animation, sheared: Bools) -> None:
    """Name the first joint and frame, of (F, J), that an uneven scale shears more than a pose can say."""
    if sheared.any():
        frame, joint = np.argwhere(sheared)[0].tolist()
        name = animation.joint_names[joint] or f"joint {joint}"
        text = "'%s': '%s' is sheared in frame %d by the uneven scale of joints: shown, and if edited written, without"
        log.warning(text, animation.name, name, frame)


def warn_of_lost_scales(animation: Animation) -> None:
    """Name the first joint and frame whose scale no file holds."""
    if animation.scales is None:
        return
    frame, joint = np.argwhere(animation.scales.values != 1)[0].tolist()
    text = "'%s': scale of bones is lost, joints have none: in frame %d of the file that of '%s'"
    log.warning(text, animation.name, frame, animation.joint_names[joint])


def without_rest_scale(animation: Animation, skeleton: Skeleton) -> Animation:
    """Return an animation, and its source, as a skeleton's: without the scale of joints at rest that is in both.

    What an animation knows of its file says from then on which this was, as "rest".
    """
    if not animation.holds_rest_scale:
        return animation
    rest = stretches(skeleton)
    found, sheared = _stretched(animation, rest, steady.inverses(rest))
    warn_of_shear(animation, sheared)
    made = replace(found, holds_rest_scale=False)
    if made.source is not None and made.scales is not None:
        poses = made.positions.copy(), made.rotations.copy()
        facts = made.source.facts | {"rest": rest}
        made.source = replace(made.source, positions=poses[0], rotations=poses[1], scales=made.scales.values.copy(),
                              facts=facts)  # fmt: skip
    return made


def with_rest_scale(animation: Animation, rest: Doubles) -> tuple[Animation, Bools]:
    """Return an animation whose poses hold the scale of joints at rest, and which are sheared, (F, J).

    The inverse of `without_rest_scale`; `rest` are the `stretches` of its skeleton.
    """
    return _stretched(animation, steady.inverses(rest), rest)


def _stretched(animation: Animation, before: Doubles, after: Doubles) -> tuple[Animation, Bools]:
    """Return an animation whose poses are before(parent) x pose x after, and which are sheared, (F, J)."""
    shape = animation.positions.shape
    sheared = np.zeros(shape[:2], np.bool_)
    values = np.ones(shape) if animation.scales is None else animation.scales.values
    scales = values.copy()
    above = (
        np.where((animation.parents >= 0)[:, None, None], before[animation.parents], np.eye(3)) if shape[1] else before
    )
    positions, rotations = steady.applied(above, animation.positions), animation.rotations.copy()
    even = _even(above) & _even(after)
    scales *= (above[:, 0, 0] * after[:, 0, 0])[:, None]
    for joint in np.flatnonzero(~even).tolist():
        axes = to_matrices(animation.rotations[:, joint]) * values[:, joint, None, :]
        whole = steady.products(above[joint], axes, after[joint])
        turns, scales[:, joint], sheared[:, joint] = taken_apart(whole)
        rotations[:, joint] = turns * np.where(steady.dots(turns, rotations[:, joint]) < 0, -1.0, 1.0)[:, None]
    scales[np.abs(scales - 1.0) <= ROUNDED] = 1.0
    made = Scales(scales, np.zeros(shape[1], np.bool_), True)
    return replace(animation, positions=positions, rotations=rotations, scales=made), sheared


def _even(axes: Doubles) -> Bools:
    """Tell which axes (J, 3, 3) scale all directions alike, (J,)."""
    sizes = axes[:, 0, 0]
    return np.asarray((axes == np.eye(3) * sizes[:, None, None]).all(axis=(1, 2)))


def as_inherited(animation: Animation) -> Animation:
    """Return an animation whose joints' scales are inherited; itself if they are, or nothing is scaled."""
    if animation.scales is None or animation.scales.inherited:
        return animation
    places, axes = posed(animation)
    return hung_on(animation, animation.parents, places, axes)


def hung_on(animation: Animation, parents: Ints, places: Doubles, axes: Doubles) -> Animation:
    """Return an animation with other parents, of joints in model space as `posed` gives them, with inherited scales."""
    children = np.flatnonzero(parents >= 0)
    sizes = steady.lengths(np.swapaxes(axes, -1, -2))
    axes = np.where((sizes < LEAST)[..., None, :], LEAST * np.eye(3), axes)  # of no size: nothing comes back from there
    ways, own = places.copy(), axes.copy()
    back = steady.inverses(axes[:, parents[children]])
    ways[:, children] = steady.applied(back, places[:, children] - places[:, parents[children]])
    own[:, children] = steady.products(back, axes[:, children])
    turns, scales, _ = taken_apart(own)
    made = Scales(scales, np.zeros(len(parents), np.bool_), True)
    return replace(animation, parents=parents, positions=ways, rotations=turns, scales=made, source_frames=None)


def as_own(animation: Animation) -> tuple[Animation, bool]:
    """Return an animation whose joints' scales are their own, and whether uneven ones were lost.

    Joints stay where they are; what an uneven scale did to what lies about them is lost.
    """
    scales = animation.scales
    if scales is None or not scales.inherited:
        return animation, False
    places, axes = posed(animation)
    turns, sizes, bent = taken_apart(axes)
    size = steady.cube_roots(np.abs(sizes).prod(axis=-1))
    size = np.where(np.abs(size - 1) <= LEAST, 1.0, size)
    lost = bool((bent | (np.abs(sizes - size[..., None]).max(axis=-1, initial=0.0) > BENT)).any())
    ways, own = unchain(animation.parents, places, turns)
    made = None if (size == 1).all() else Scales(size, np.zeros(len(animation.parents), np.bool_))
    return replace(animation, positions=ways, rotations=own, scales=made, source_frames=None), lost


def skeleton_of(animation: Animation) -> Skeleton:
    """Return an animation's joints as they are in its first frame."""
    places, axes = posed(animation.of_frames(np.array([0])))
    positions, rotations = places[0], taken_apart(axes[0])[0]
    return Skeleton(list(animation.joint_names), animation.parents, positions, rotations, traits=animation.traits)
