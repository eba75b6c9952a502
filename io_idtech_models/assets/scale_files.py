"""The file beside an animation that says how large joints are, for the game that reads it."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np

from ..formats import Format
from ..formats.md5 import scale_file
from ..game.store import GameFile
from ..model.joint_scales import warn_of_lost_scales
from ..model.limits.games import GAMES
from ..model.skeletal import Animation, Scales
from ..reporting import ModelError, unheard
from .storage import Target

log = logging.getLogger(__name__)


def with_scales(animation: Animation, row: Format, file: GameFile) -> Animation:
    """Return an animation with the scale of joints beside its file; a warning names one that can't be read."""
    beside = file.beside(file.stem + row.motion.scales)
    if not row.motion.scales or not beside.is_file():
        return animation
    try:
        scales = scale_file.read(beside.read(), animation.joint_names, animation.num_frames)
    except ModelError as error:
        log.warning("'%s' is left out: %s", beside.name, error)
        return animation
    return replace(animation, scales=scales)


def scale_data(animation: Animation) -> bytes:
    """Return the file beside an animation that says how large its joints are; of one that scales none, too."""
    count = len(animation.joint_names)
    plain = Scales(np.ones((animation.num_frames, count)), np.zeros(count, np.bool_))
    return scale_file.write(animation.scales or plain, animation.joint_names)


def says_the_same(data: bytes, animation: Animation) -> bool:
    """Tell whether the file beside an animation says what it would say by now, in whatever words."""
    with unheard():
        try:
            scales = scale_file.read(data, animation.joint_names, animation.num_frames)
        except ModelError:
            return False
        return scale_file.write(scales, animation.joint_names) == scale_data(animation)


def scale_files(animation: Animation, row: Format, target: Target, game: str) -> list[tuple[Target, bytes]]:
    """Return what to write beside an animation's file, whose name is `target`: nothing unless joints are scaled."""
    beside = target.with_suffix(row.motion.scales) if row.motion.scales and GAMES[game].scales else None
    if beside is None:
        warn_of_lost_scales(animation)
    elif animation.scales is not None:
        return [(beside, scale_data(animation))]
    elif beside.exists():
        log.warning(
            "'%s' is from before, no joint is scaled now: the game reads it all the same, remove it", beside.name
        )
    return []
