"""How Wolfenstein: Enemy Territory plays two animations at once: one on the legs, one on the torso, which aims.

Facts, from ET: Legacy's `tr_animation_mdm.c` (`R_CalcBone`, `R_CalcBones`), where no other place is named:

- A bone's `torso_weight` says which frame it follows: 0 that of the legs, 1 that of the torso. Between, each angle is
  blended on its own, the shorter way round unless it is exactly half a turn; the direction from the parent is blended
  as a vector, and made a unit vector again.
- A weight of 1 sticks: bones behind such a bone take the torso's frame too if they have any weight, up to the next
  bone of weight 0. The game computes the bones that a surface or tag refers to, in that order; here it is the order of
  the skeleton, which those of real files follow.
- A root lies where the **legs'** frame says, whatever its weight.
- Then the bones of positive weight w are turned about the torso parent's place by (1 - w) I + w A, their own weight
  again, where A is the player's aim: `torsoAxis`, made by `AnglesToAxis` of pitch and yaw relative to the legs
  (`CG_PlayerAngles`), transposed to act on columns. For 0 < w < 1 this is no rotation, but shrinks across the axis.
- Tags are bones like others. Only the MDS of Return to Castle Wolfenstein turns those with `BONEFLAG_TAG` in another
  way (`tr_animation_mds.c`): their matrices hold the axes as rows, so it turns the rows.

Enemy Territory takes the sines of directions from a table of 4,096, and its inverse roots are fast ones: who knows how
says so (`Bones.direction`, `Bones.inverse_root`), else both are exact, as in Return to Castle Wolfenstein.

Letters in shapes: F frames, J joints.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import steady
from .transforms import Doubles, axes_of_angles, from_matrices

DEGREES = 360.0 / 65536.0  # of a code (SHORT2ANGLE)
HALF_TURN, TURN = 32768, 65536
OPPOSITE = 1e-9  # length of a sum of two directions whose own direction is noise
SQUARE = 1e-12  # how far products of columns may be off for the matrix to be taken for a rotation


@dataclass(eq=False)
class Codes:
    """The frames of an animation in the codes of an MDX."""

    angles: NDArray[np.int16]  # (F, J, 3) pitch, yaw, roll in model space
    offset_angles: NDArray[np.int16]  # (F, J, 2) pitch, yaw of the way from the parent, in model space
    roots: NDArray[Any]  # (F, 3) where roots lie (`parent_offset`)


@dataclass(eq=False)
class Bones:
    """What a file says of the bones that two animations move."""

    parents: NDArray[Any]  # (J,) each before its children; a root's is negative
    parent_dists: NDArray[Any]  # (J,) units to the parent
    torso_weights: NDArray[Any]  # (J,)
    torso_parent: int  # the bone about which the torso turns; out of range, it turns about the model's origin
    direction: Callable[[NDArray[Any]], Doubles] | None = None  # the vectors (..., 3) of offset angles (..., 2)
    inverse_root: Callable[[NDArray[Any]], Doubles] | None = None  # of squares


def axes(angles: NDArray[Any]) -> Doubles:
    """Return forward, left and up as rows (..., 3, 3) of pitch, yaw and roll (..., 3) in degrees (`AnglesToAxis`)."""
    return axes_of_angles(np.deg2rad(np.asarray(angles, np.float64)))


def play(
    legs: Codes,
    torso: Codes,
    bones: Bones,
    pitch: float = 0.0,
    yaw: float = 0.0,
    mds_tags: NDArray[np.bool_] | None = None,
) -> tuple[Doubles, Doubles]:
    """Return the pose that the game makes of two animations in model space: places (F, J, 3), matrices (F, J, 3, 3).

    A matrix is the game's: it takes an offset in the bone, as a column, to model space. Where the torso turns and the
    weight lies between 0 and 1 it is no rotation; see `nearest_turns`.

    Args:
        legs: F frames.
        torso: as many frames.
        bones: of the legs' file, whichever animation a bone follows.
        pitch: the aim in degrees, down; like the yaw relative to the legs.
        yaw: the aim in degrees, to the left.
        mds_tags: (J,) the bones that are tags, of an MDS; of an MDX the game ignores this flag.

    Raises:
        ValueError: the animations have different numbers of frames or joints.
    """
    if legs.angles.shape != torso.angles.shape or legs.angles.shape[1] != len(bones.parents):
        raise ValueError(f"codes {legs.angles.shape} of the legs, {torso.angles.shape} of the torso do not fit")
    shares = shares_of(bones.torso_weights)
    matrices = axes(_blended_angles(legs.angles, torso.angles, shares))
    ways = _blended_ways(legs.offset_angles, torso.offset_angles, shares, bones)
    ways *= np.asarray(bones.parent_dists)[:, None]
    places = np.empty(legs.angles.shape)
    for joint, parent in enumerate(np.asarray(bones.parents).tolist()):
        places[:, joint] = places[:, parent] + ways[:, joint] if parent >= 0 else legs.roots
    turn = axes(np.array((pitch, yaw, 0.0))).T
    _aim(places, matrices, bones.torso_weights, bones.torso_parent, turn, mds_tags)
    return places, matrices


def shares_of(torso_weights: NDArray[Any]) -> Doubles:
    """Return how much of the torso's frame each joint takes, (J,): the weights, once those of 1 have stuck."""
    shares, full = np.array(torso_weights, np.float64), False
    for joint, weight in enumerate(shares.tolist()):
        full = weight != 0.0 and (full or weight == 1.0)
        if full:
            shares[joint] = 1.0
    return shares


def _blended_angles(legs: NDArray[Any], torso: NDArray[Any], shares: Doubles) -> Doubles:
    """Return angles (F, J, 3) in degrees."""
    start = legs.astype(np.int32)
    ways = torso.astype(np.int32) - start
    ways -= np.sign(ways) * TURN * (np.abs(ways) > HALF_TURN)
    return np.asarray((start + shares[:, None] * ways) * DEGREES)


def _blended_ways(legs: NDArray[Any], torso: NDArray[Any], shares: Doubles, bones: Bones) -> Doubles:
    """Return unit vectors (F, J, 3) from the parent; zero where two opposite ones are blended half and half."""
    mixed, rest, forward = shares[:, None], 1.0 - shares[:, None], bones.direction or _forward
    ways = rest * forward(legs) + mixed * forward(torso)
    between = (shares != 0.0) & (shares != 1.0)
    squares = steady.dots(ways[:, between], ways[:, between])
    roots = (bones.inverse_root or _inverse_roots)(squares)
    ways[:, between] *= np.where(squares > OPPOSITE * OPPOSITE, roots, 0.0)[..., None]
    return np.asarray(ways)


def _inverse_roots(squares: NDArray[Any]) -> Doubles:
    return np.asarray(1.0 / np.maximum(np.sqrt(squares), OPPOSITE))


def _forward(codes: NDArray[Any]) -> Doubles:
    (cp, cy), (sp, sy) = (np.moveaxis(p, -1, 0) for p in steady.cosines_and_sines(np.deg2rad(codes * DEGREES)))
    return np.stack((cp * cy, cp * sy, -sp), axis=-1)


def _aim(
    places: Doubles,
    matrices: Doubles,
    torso_weights: NDArray[Any],
    torso_parent: int,
    turn: Doubles,
    mds_tags: NDArray[np.bool_] | None,
) -> None:
    """Turn the joints of positive weight, in place, by the matrix `turn` (3, 3); the torso parent stays where it is."""
    centre = places[:, torso_parent] if 0 <= torso_parent < places.shape[1] else np.zeros((len(places), 3))
    for joint, weight in enumerate(np.asarray(torso_weights, np.float64).tolist()):
        if not weight > 0.0:
            continue
        scaled = (1.0 - weight) * np.eye(3) + weight * turn
        places[:, joint] = centre + steady.applied(scaled, places[:, joint] - centre)
        rows_turn = mds_tags is not None and mds_tags[joint]
        own = matrices[:, joint]
        matrices[:, joint] = steady.products(own, scaled.T) if rows_turn else steady.products(scaled, own)


def nearest_turns(matrices: NDArray[Any]) -> Doubles:
    """Return unit quaternions (..., 4) of the rotations nearest to matrices (..., 3, 3), by least squares.

    These are what the matrices are but for the shrinking (the polar decomposition's rotation).
    """
    flat = np.array(matrices, np.float64).reshape(-1, 3, 3)
    bent = np.abs(steady.products(np.swapaxes(flat, -1, -2), flat) - np.eye(3)).max(axis=(-1, -2), initial=0.0) > SQUARE
    flat[bent] = steady.nearest_rotations(flat[bent])
    return from_matrices(flat).reshape(*np.shape(matrices)[:-2], 4)
