"""Rows of files of frames that an armature keeps: kept by an import, and made into actions when they are asked for."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import bpy
import numpy as np

from ... import formats
from ...blender.compat import Block, play_action, played_action
from ...blender.provenance import FILE
from ...blender.skeletal import kept_frames
from ...blender.skeletal.build import SkeletalSettings, add_animations
from ...blender.skeletal.kept_frames import KeptFile, KeptRow, Key
from ...formats import Format
from ...game import aninc
from ...game.store import GameFile
from ...model.clips import Clip
from ...model.skeletal import Animation
from ...model.transforms import chain
from . import aninc as animation_tables

log = logging.getLogger(__name__)

Motions = Sequence[tuple[Animation, GameFile]]
QUIET = SkeletalSettings(fit_range=False, frame_rate=False)  # the scene stays as it is
CALM = ("idle", "stand")  # in the names of rows that may be shown at first, the best first
UPRIGHT = 0.8  # of the height of the tallest of them: what has that stands


def keep_frames(
    rig: Block,
    motions: Motions,
    row: Format,
    rows: Mapping[GameFile, Sequence[animation_tables.Named]],
    scale: float,
    named: Mapping[GameFile, str],
) -> list[KeptFile]:
    """Let an armature keep the files of its motions, with the rows of each; returns what it keeps.

    `row` is the format of the files, `named` what they are called in their game.
    """
    found = []
    for animation, file in motions:
        every = KeptRow(Clip(animation.name, 0, animation.num_frames, animation.frame_rate))
        runs = animation_tables.runs_of(animation.name, animation.num_frames, rows.get(file, ()))
        own = [KeptRow(_clip_of(frames, each), _said(each)) for frames, each in runs]
        found.append((KeptFile(file.place, named.get(file, ""), row.name, (every, *own)), file.read()))
    kept_frames.keep(rig, found, scale)
    return [file for file, _ in found]


def _clip_of(frames: range, row: animation_tables.Named) -> Clip:
    rate = float(animation_tables.meant(row).frame_rate)
    return Clip(row.name, frames.start, len(frames), rate, max(row.loop, 0))


FIELDS = (*aninc.FIELDS, "text", "before", "after")


def _said(row: animation_tables.Named) -> list[Any]:
    """Return all that a table says of a row, as plain values; inverse of `table_row`."""
    return [row.first, row.count] if isinstance(row, Clip) else [getattr(row, name) for name in FIELDS]


def table_row(row: KeptRow) -> animation_tables.Named | None:
    """Return what a table said of a row, checked: a .blend can come from a stranger; None of all frames."""
    said = row.said
    if not isinstance(said, list) or len(said) not in (2, len(FIELDS)):
        return None
    try:
        if len(said) == 2:
            return replace(row.clip, first=int(said[0]), count=int(said[1]))
        found = aninc.Row(row.clip.name, int(said[0]), int(said[1]))
        for name, value in zip(FIELDS[2:], said[2:], strict=True):
            kind = {"fps": float, "reversed": bool, "text": str, "before": str, "after": str}.get(name, int)
            setattr(found, name, None if value is None and name == "priority" else kind(value))
    except (TypeError, ValueError, OverflowError):
        return None
    return found


def first_row(files: Sequence[KeptFile], motions: Sequence[Animation], wanted: str = "") -> Key | None:
    """Return the row of a name, or else the one to show at first: one that stands, else the first of a table.

    Names alone don't say what stands: `prone_rifle_idle` lies, `wounded_idle_1` does. `motions` are the files' frames.
    """
    every = [((nth, place), row) for nth, file in enumerate(files) for place, row in enumerate(file.rows)]
    if wanted:
        found = next((key for key, row in every if row.clip.name.lower() == wanted.lower()), None)
        if found is not None:
            return found
        log.warning("there is no animation '%s' to show at first", wanted)
    own = [(key, row) for key, row in every if row.said is not None]
    calm = [(key, row) for word in CALM for key, row in own if word in row.clip.name.lower()]
    heights = [_height(motions[key[0]], row.clip.frames[0]) for key, row in calm]
    upright = [key for (key, _), high in zip(calm, heights, strict=True) if high >= UPRIGHT * max(heights)]
    return next(iter([*upright, *(key for key, _ in own), *(key for key, _ in every)]), None)


def _height(animation: Animation, frame: int) -> float:
    """Return how high the joints reach above the lowest of them in a frame."""
    at = min(frame, animation.num_frames - 1)
    places, _ = chain(animation.parents, animation.positions[at], animation.rotations[at])
    return float(np.ptp(places[:, 2]))


def make_rows(
    rig: Block, keys: Iterable[Key], scene: bpy.types.Scene, settings: SkeletalSettings = QUIET
) -> dict[Key, Any]:
    """Make the actions of rows that an armature keeps; it goes on playing what it played, or plays the first.

    Raises:
        LimitError: the frames are lost, or are of other bones than the armature has by now.
    """
    files, scale = kept_frames.kept_files(rig), kept_frames.scale_of(rig)
    made: dict[Key, Any] = {}
    playing = None if rig.animation_data is None or rig.animation_data.action is None else played_action(rig)
    for number, wanted in groupby(sorted(dict.fromkeys(keys)), key=lambda key: key[0]):
        places = [place for _, place in wanted]
        parts = read_rows(rig, files, number, places)
        actions = add_animations(rig, parts, replace(settings, scale=scale), scene)
        for place, action in zip(places, actions, strict=True):
            made[number, place] = action
            show_kept(action, files[number], (number, place))
    if playing is not None:
        play_action(rig, *playing)
    return made


def read_rows(rig: Block, files: Sequence[KeptFile], number: int, places: Sequence[int]) -> list[Animation]:
    """Return animations of rows of a kept file; raises LimitError."""
    file = files[number]
    row = formats.by_name(file.format)
    structs = row.read(kept_frames.data_of(rig, number))
    clips = [file.rows[place].clip for place in places]
    pairs = zip(places, clips, strict=True)
    return [row.motion_in(structs, clip.name, clip if place else None) for place, clip in pairs]


def show_kept(action: Any, file: KeptFile, key: Key) -> None:
    """Give an action what its row says, and note whose it is."""
    kept_frames.note_row(action, key)
    said = table_row(file.rows[key[1]])
    if said is not None:
        animation_tables.show_row(action, said)
    else:
        action[FILE] = file.place
