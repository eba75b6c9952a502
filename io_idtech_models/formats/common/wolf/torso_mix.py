"""How the game mixes two animations of a skeleton, as an animation of its own: see `model.torso`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....model import torso
from ....model.skeletal import Animation, Traits
from ....model.transforms import unchain
from ....reporting import LimitError
from .bones import Kind
from .frames import turned_back
from .motion import Coded, join


def mixed(
    legs: Animation, upper: Animation, name: str, aim: tuple[float, float], kind: Kind, turned: NDArray[np.bool_]
) -> Animation:
    """Return what a player shows whose legs and torso play two animations, each again when it has ended.

    `aim` is down and to the left against the legs, in degrees. `turned` (B,) are the bones that `frames.Take` has so;
    of an MDS the game turns these in a way of their own.

    Raises:
        LimitError: the animations are of different skeletons, or no bone follows the torso.
    """
    traits = legs.traits
    if traits is None or not (traits.torso_weights > 0).any():
        raise LimitError("no bone has a torso weight above 0: nothing would follow the torso")
    if upper.joint_names != legs.joint_names or not np.array_equal(upper.parents, legs.parents):
        raise LimitError(f"'{upper.name}' has other bones than '{legs.name}'")
    frames = max(legs.num_frames, upper.num_frames)
    lower, above = (join([animation], kind, turned) for animation in (legs, upper))  # as the game has them: in codes
    places, matrices = torso.play(
        _codes(lower, np.arange(frames) % legs.num_frames),
        _codes(above, np.arange(frames) % upper.num_frames),
        torso.Bones(
            legs.parents,
            lower.bones["parent_dist"].astype(np.float64),
            traits.torso_weights,
            _torso_parent(traits, len(legs.parents)),
        ),
        *aim,
        turned,
    )
    poses = unchain(legs.parents, places, turned_back(torso.nearest_turns(matrices), turned))
    names, bounds = list(legs.joint_names), np.zeros((frames, 2, 3))
    return Animation(name, names, legs.parents, *poses, legs.frame_rate, bounds, traits=traits)


def _torso_parent(traits: Traits, count: int) -> int:
    return traits.torso_parent if 0 <= traits.torso_parent < count else 0


def _codes(coded: Coded, frames: NDArray[np.int64]) -> torso.Codes:
    part = coded.frames[frames]
    return torso.Codes(part["bones"]["angles"][..., :3], part["bones"]["ofs_angles"], part["info"]["parent_offset"])
