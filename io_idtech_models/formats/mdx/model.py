"""MDX structs to animations and back; the files themselves are `file`, and what is in them is `common.wolf`'s."""

from __future__ import annotations

import numpy as np

from ...model.skeletal import Animation
from ...model.source import Facts
from ..common.records import header_name, layout_of, records_of
from ..common.wolf import motion
from ..common.wolf.bones import Kind
from .file import HEADER, IDENT, NAME_SIZE, VERSION, Mdx

KIND = Kind("mdx", HEADER, coarse=True, cubes=True)
part, cut = motion.part, motion.cut


def to_model(mdx: Mdx, name: str = "") -> Animation:
    """Return the animation of a file, its source included; inverse of `from_model`."""
    return motion.to_animation(mdx, KIND, name, motion.nothing_turned(len(mdx.bones)), mdx.layout)


def from_model(animation: Animation) -> Mdx:
    """Return the structs of an animation; inverse of `to_model`."""
    return join([animation])


def join(animations: list[Animation]) -> Mdx:
    """Return the structs of animations of one skeleton, one after another in one file.

    Raises:
        LimitError: they differ in their bones, or have none.
    """
    first = animations[0]
    coded = motion.join(animations, KIND, motion.nothing_turned(len(first.joint_names)))
    header = np.zeros((), HEADER)
    layout: Facts = {}
    if coded.source is not None:
        header, layout = records_of(coded.source.facts, "header", HEADER), layout_of(coded.source.facts)
    else:
        header["name"] = header_name(first.name, NAME_SIZE)
    header["ident"], header["version"], header["torso_parent"] = IDENT, VERSION, coded.torso_parent
    return Mdx(header, coded.frames, coded.bones, layout)


def mixed(legs: Animation, torso: Animation, name: str, aim: tuple[float, float] = (0.0, 0.0)) -> Animation:
    """Return what a player shows whose legs and torso play two animations: see `motion.mixed`."""
    return motion.mixed(legs, torso, name, aim, KIND, motion.nothing_turned(len(legs.joint_names)))
