"""Rows of files of frames that an armature keeps: kept by an import, and made into actions when they are asked for."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import PurePath
from typing import Any

import bpy
import numpy as np

from ... import formats
from ...blender import properties
from ...blender.compat import Block, play_action, played_action
from ...blender.provenance import FILE
from ...blender.skeletal import kept_frames
from ...blender.skeletal.bones import bones_now
from ...blender.skeletal.build import SkeletalSettings, add_animations
from ...blender.skeletal.kept_frames import KeptFile, KeptRow, Key
from ...blender.skeletal.moved_rest import moved_rest
from ...formats import MOTION, Format
from ...game import aninc
from ...game.character.files import COMMANDS, FLAGS
from ...game.store import GameFile
from ...model.clips import Clip
from ...model.edits.matched import onto
from ...model.skeletal import Animation, Outline
from ...model.transforms import chain
from ...reporting import FormatError, LimitError, ModelError
from . import aninc as animation_tables

log = logging.getLogger(__name__)

Motions = Sequence[tuple[Animation | Outline, GameFile]]
Said = Mapping[str, Mapping[str, str]]  # what a game says of animations, by their names: values by keys
QUIET = SkeletalSettings(fit_range=False, frame_rate=False)  # the scene stays as it is
CALM = ("idle", "stand")  # in the names of rows that may be shown at first, the best first
UPRIGHT = 0.8  # of the height of the tallest of them: what has that stands
NOTES = {FLAGS: properties.ANIM_FLAGS, COMMANDS: properties.FRAME_COMMANDS}  # where actions show what games say


@dataclass(frozen=True)
class Kept:
    """How files of frames are kept with their armature; see `blender.skeletal.kept_frames`."""

    named: Mapping[GameFile, str]  # what they are called in their game
    first: str = ""  # the row to show at first; "": one that stands
    make_all: bool = False  # actions of all rows at once; else each is made when it is asked for
    # Where each file is an animation: under which names, and what the game says of these; else tables take them apart.
    names: Mapping[GameFile, Sequence[str]] | None = None
    said: Said = field(default_factory=dict)


def keep_frames(
    rig: Block,
    motions: Motions,
    row: Format,
    rows: Mapping[GameFile, Sequence[animation_tables.Named]],
    scale: float,
    kept: Kept,
) -> list[KeptFile]:
    """Let an armature keep the files of its motions, with the rows of each; returns what it keeps.

    `row` is the format of the files.
    """
    found = []
    for motion, file in motions:
        every = Clip(file.stem, 0, motion.num_frames, motion.frame_rate)
        if kept.names is None:
            own = rows_of_file(every, animation_tables.runs_of(every.name, every.count, rows.get(file, ())))
        else:
            called = kept.names.get(file) or [file.stem]
            own = [KeptRow(replace(every, name=name), dict(kept.said.get(name, {}))) for name in called]
        found.append((KeptFile(file.place, kept.named.get(file, ""), row.name, tuple(own)), file.read()))
    kept_frames.keep(rig, found, scale)
    return [file for file, _ in found]


def rows_of_file(every: Clip, runs: Iterable[tuple[range, animation_tables.Named]]) -> list[KeptRow]:
    """Return all frames of a file as a row, and the runs of them that a table makes rows."""
    return [KeptRow(every), *(KeptRow(_clip_of(frames, each), _said(each)) for frames, each in runs)]


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


def first_row(files: Sequence[KeptFile], frames_of: Callable[[int], Animation], wanted: str = "") -> Key | None:
    """Return the row of a name, or else the one to show at first: one that stands, else the first of a table.

    Names alone don't say what stands: `prone_rifle_idle` lies, `wounded_idle_1` does. `frames_of` gives the frames of a
    file; it raises ModelError.
    """
    every = [((nth, place), row) for nth, file in enumerate(files) for place, row in enumerate(file.rows)]
    if wanted:
        found = next((key for key, row in every if row.clip.name.lower() == wanted.lower()), None)
        if found is not None:
            return found
        log.warning("there is no animation '%s' to show at first", wanted)
    own = [(key, row) for key, row in every if row.said is not None]
    calm = [(key, row) for word in CALM for key, row in own if word in row.clip.name.lower()]
    plain = next((key for key, row in calm if row.is_file and row.clip.name.lower() in CALM), None)
    if plain is not None:
        return plain
    heights = []
    for key, row in calm:
        with suppress(ModelError):  # it is said when that is played
            heights.append((_height(frames_of(key[0]), row.clip.frames[0]), key))
    most = max((high for high, _ in heights), default=0.0)
    upright = [key for high, key in heights if high >= UPRIGHT * most]
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
        LimitError: the frames are lost or damaged, or are of other bones than the armature has by now.
    """
    made: dict[Key, Any] = {}
    with _going_on(rig):
        for each in _each_file(rig, keys, scene, settings):
            made |= each()
    return made


def make_each(rig: Block, keys: Iterable[Key], scene: bpy.types.Scene) -> tuple[dict[Key, Any], list[str]]:
    """Make the actions of rows as `make_rows` does, those that can be made; returns why others can't, in sentences."""
    made: dict[Key, Any] = {}
    failed: list[str] = []
    with _going_on(rig):
        for each in _each_file(rig, keys, scene, QUIET):
            try:
                made |= each()
            except ModelError as error:
                failed.append(str(error))
    return made, list(dict.fromkeys(failed))


@contextmanager
def _going_on(rig: Block) -> Iterator[None]:
    """Let an armature play afterwards what it played before."""
    playing = None if rig.animation_data is None or rig.animation_data.action is None else played_action(rig)
    try:
        yield
    finally:
        if playing is not None:
            play_action(rig, *playing)


def _each_file(
    rig: Block, keys: Iterable[Key], scene: bpy.types.Scene, settings: SkeletalSettings
) -> Iterator[Callable[[], dict[Key, Any]]]:
    """Yield what makes the actions of rows, file by file; each raises ModelError."""
    files, data = kept_frames.kept_files(rig), kept_frames.kept_data(rig)
    settings = replace(settings, scale=kept_frames.scale_of(rig))
    skeleton, rest = bones_now(rig, settings.scale), moved_rest(rig)
    for number, wanted in groupby(sorted(dict.fromkeys(keys)), key=lambda key: key[0]):
        file, places = files[number], [place for _, place in wanted]

        def make(number: int = number, file: KeptFile = file, places: list[int] = places) -> dict[Key, Any]:
            parts = read_rows(file, places, data.of(number))
            parts = parts if rest is None else [rest.of(part) for part in parts]
            if file.is_animation:
                parts = [onto(part, skeleton) for part in parts]
            made = {}
            for place, action in zip(places, add_animations(rig, parts, settings, scene), strict=True):
                made[number, place] = action
                show_kept(action, file, (number, place))
            return made

        yield make


def read_rows(file: KeptFile, places: Sequence[int], data: bytes) -> list[Animation]:
    """Return animations of rows of a kept file, whose `data` these are; raises LimitError."""
    row = format_of(file)
    rows = [file.rows[place] for place in places]
    try:
        structs = row.read(data)
        return [row.motion_in(structs, each.clip.name, None if each.is_whole else each.clip) for each in rows]
    except FormatError as error:
        raise LimitError(f"'{PurePath(file.place).name}': {error}") from error


def format_of(file: KeptFile) -> Format:
    """Return the format of a kept file; raises LimitError for another: a .blend can come from a stranger."""
    row = next((row for row in formats.rows_of(MOTION) if row.name == file.format), None)
    if row is None:
        raise LimitError(f"'{PurePath(file.place).name}' is of no format with frames: '{file.format}'")
    return row


def show_kept(action: Any, file: KeptFile, key: Key) -> None:
    """Give an action what its row says, and note whose it is."""
    kept_frames.note_row(action, key)
    row = file.rows[key[1]]
    said = table_row(row)
    if said is not None:
        animation_tables.show_row(action, said)
        return
    for name, text in row.said.items() if row.is_file else ():
        if name in NOTES and isinstance(text, str):
            properties.show(action, NOTES[name], text)
    if not row.is_file or len(file.rows) == 1:  # of several names of a file none is asked for alone
        action[FILE] = file.place
