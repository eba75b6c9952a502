"""Animations of armatures: the actions that one plays and keeps in its tracks."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import PurePath
from typing import Any

import bpy
import numpy as np

from ... import formats
from ...blender import names, spans
from ...blender.compat import (
    Block,
    is_muted,
    new_curves,
    play_action,
    slot_name,
)
from ...blender.curves import add_points, curve_points
from ...blender.frame_rigs import whole_of
from ...blender.leaders import cast, curves_of, fits, slot_of
from ...blender.playback import call_tracks, changing_over, drop_solo, keep, let_go
from ...blender.properties import FRAME_RATE, LOOP, PREVIEW, number, show
from ...blender.provenance import FILE
from ...blender.rig_settling import settle_near
from ...blender.skeletal import gather_motion, runs
from ...blender.skeletal.rig_scene import SkeletalGatherSettings, rig_scene
from ...blender.skeletal.source import find_action
from ...blender.takes import used_actions
from ...model.clips import Clip
from ...reporting import LimitError, collected_warnings
from ..export.motion_sources import ORDER, in_order
from ..import_ import aninc as animation_tables
from .listed import (
    ADD,
    DONE,
    DUPLICATE,
    MOVE,
    REMOVE,
    RENAME,
    Animations,
    ListedClip,
    fit_scene,
    free_name,
    name_action,
    named_key,
    said,
    swapped,
)

log = logging.getLogger(__name__)
NO_ORDER = "each is a file of its own, they have no order"
OF_TABLE = "it is a row of the table that came with the model, and its frames are among All Frames: edit them there"


class RigAnimations(Animations):
    """The animations of an armature."""

    def __init__(self, rig: Block) -> None:
        self.rig = rig
        own = _format_of(rig)
        # Where each animation is a file of its own their order is nobody's.
        ordered = own is None or own.skeletal.motions is not None or (own.skeletal.animation or own).motion.joins_clips
        self.can = frozenset((ADD, REMOVE, DUPLICATE, RENAME, *((MOVE,) if ordered else ())))
        self.why = NO_ORDER

    def lack_of(self, name: str) -> str:
        """Return what to do where an action is called so that the armature could play."""
        action = bpy.data.actions.get(name)
        able = action is not None and fits(self.rig, action)
        way = f", choose the action once in the Action Editor while '{self.rig.name}' is active" if able else ""
        return super().lack_of(name) + way

    def playing(self) -> list[Block]:
        """Return the action that the armature plays."""
        animation = self.rig.animation_data
        return [] if animation is None or animation.action is None else [animation.action]

    def rows(self) -> list[ListedClip]:
        """Return what the armature keeps and plays; first the whole of one that was made of frames."""
        whole = whole_of(self.rig)
        actions = [action for action in used_actions(self.rig) if PREVIEW not in action and action != whole]
        rows = [row for action in in_order(actions) for row in self._rows_of(action)]
        return rows if whole is None else [replace(self._row(whole), whole=True), *rows]

    def _rows_of(self, action: Block) -> list[ListedClip]:
        """Return an action, and behind it the animations that a table makes of its frames."""
        every, found = self._row(action), runs.runs_of(action)
        if not (found or runs.is_saved(action)):
            return [every]
        named = [
            ListedClip(
                run.name, run.first, run.count, run.frame_rate, run.loop, action=action, by_names=True, of_table=True
            )
            for run in found
        ]
        return [replace(every, whole=True), *named]

    def _row(self, action: Block) -> ListedClip:
        stated = action.use_frame_range
        first, last = (action.frame_start, action.frame_end) if stated else action.frame_range
        loop = round(last) - round(first) + 1 if action.use_cyclic else 0
        more = said(action, number(action, FRAME_RATE, 0.0), loop)
        count = round(last) + 1 - round(first)
        return ListedClip(names.file_name_of(action), round(first), count, action=action, **more)

    def _span(self, action: Block) -> spans.Span | None:
        """Return the frames that an action has for the armature; None if it has none."""
        return spans.span_of(action, curves_of(action, slot_of(self.rig, action)))

    def play(self, row: ListedClip, scene: bpy.types.Scene) -> None:
        """Let the armature play an action, and the scene show it."""
        self.demand_no_tweak()
        self.rig.animation_data_create()
        settle_near([self.rig])
        row = self._followed(row, scene) if row.of_table else row
        played = slot_of(self.rig, row.action)
        with changing_over([self.rig]):
            drop_solo(self.rig)
            play_action(self.rig, row.action, played)
        span = self._span(row.action)
        if row.of_table:
            begin = 0 if span is None else span.first_key
            last = begin + row.last if span is None else min(begin + row.last, span.last_key)
            fit_scene(scene, min(begin + row.first, last), last)
            return
        fit_scene(scene, *((row.first, row.last) if span is None else (span.first_key, span.last_key)))

    def _followed(self, row: ListedClip, scene: bpy.types.Scene) -> ListedClip:
        """Return a table's row where its frames are by now, if frames were inserted or deleted since anyone looked.

        Where more than curves moves the bones that takes too long for a click: the next export looks.
        """
        span, known = self._span(row.action), find_action(row.action)
        if span is None or known is None or not runs.is_stale(row.action, span.last_key + 1 - span.first_key):
            return row
        export = rig_scene(scene, scene.view_layers[0], SkeletalGatherSettings(scale=known.scale), self.rig)
        if not gather_motion.is_free(self.rig, export.bones):
            return row
        with collected_warnings():  # the export says them
            shown = gather_motion.gather_action(export, cast(self.rig, row.action))
            runs.follow(row.action, shown, gather_motion.origin_of(export, row.action, shown))
        return next((each for each in self._rows_of(row.action) if each.of_table and each.name == row.name), row)

    def playing_row(self, rows: list[ListedClip]) -> ListedClip | None:
        """Return which of the animations plays: of a table's rows the one whose frames are the scene's."""
        scene = self.rig.users_scene[0] if self.rig.users_scene else None
        count = 0 if scene is None else scene.frame_end + 1 - scene.frame_start
        playing = [row for row in rows if row.action in self.playing()]
        own = playing[0].first if playing else 0
        named = (r for r in playing if r.of_table and scene and (own + r.first, r.length) == (scene.frame_start, count))
        return next(named, None) or super().playing_row([row for row in rows if not row.of_table])

    def can_do(self, what: str, row: ListedClip) -> bool:
        """Tell whether something can be done with an animation: a row of a table that is saved has a name, or goes."""
        if row.of_table and what in (REMOVE, RENAME):
            return runs.is_saved(row.action)
        return super().can_do(what, row)

    def owners(self) -> list[Block]:
        """Return the armature."""
        return [self.rig]

    def players(self) -> list[Block]:
        """Return the armature."""
        return [self.rig]

    def demand(self, what: str, row: ListedClip) -> None:
        """Refuse what can't be done with an animation; raises LimitError."""
        if row.of_table and not self.can_do(what, row):
            raise LimitError(f"'{row.name}' can't be {DONE[what]}: {OF_TABLE}")
        super().demand(what, row)

    def add(self, name: str, first: int, last: int) -> str:
        """Make an action of some frames of the one that plays; it begins at 0."""
        playing = self.playing()
        if not playing:
            raise LimitError(f"'{self.rig.name}' plays no action to take frames of: click one in the list")
        if runs.is_saved(playing[0]):
            return self._add_run(playing[0], name, first, last)
        action = _cut(self.rig, playing[0], name, first, last)
        if animation_tables.is_part(playing[0]) or any(map(animation_tables.is_part, used_actions(self.rig))):
            animation_tables.make_part(action, playing[0])
        keep(self.rig, action)
        self._behind(action, None)
        return str(action.name)

    def _add_run(self, action: Block, name: str, first: int, last: int) -> str:
        """Make frames of an action a row of its table."""
        every, span = self._row(action), self._span(action)
        end = every.count - 1 if span is None else max(every.count - 1, span.last - every.first)  # keys may lie behind
        if not 0 <= first <= last <= end:
            raise LimitError(f"there are no frames {first} to {last}: the action has 0 to {end}")
        scene = self.rig.users_scene[0].render
        runs.add(action, Clip(name, first, last + 1 - first, scene.fps / scene.fps_base))
        return named_key(name, first)

    def default_range(self, first: int, last: int) -> tuple[int, int]:
        """Return the numbers that rows would have: of a table's those of the action's own frames."""
        saved = next((self._row(action).first for action in self.playing() if runs.is_saved(action)), 0)
        return first - saved, last - saved

    def remove(self, row: ListedClip) -> None:
        """Delete an action, and the tracks that keep it alone, or a table's row; what plays then is another.

        One that others play or keep, too, stays with them, which is said.
        """
        if row.of_table:
            runs.remove(row.action, row)
            return
        self.demand_no_tweak()
        let_go(self.rig, row.action)
        animation = self.rig.animation_data
        if animation.action == row.action:
            animation.action = None
        if row.action.users > row.action.use_fake_user:
            log.warning(
                "'%s' stays with other objects, which play or keep it: '%s' alone lost it", row.name, self.rig.name
            )
        else:
            bpy.data.actions.remove(row.action)

    def duplicate(self, row: ListedClip, name: str) -> str:
        """Copy an action, with all that is known of its file."""
        action: Block = row.action.copy()
        name_action(action, name or free_name(row.name, self.rows()))
        action.use_fake_user = True
        keep(self.rig, action)
        self._behind(action, row)
        return str(action.name)

    def move(self, row: ListedClip, step: int) -> None:
        """Move an action in the order in which files have several."""
        if MOVE not in self.can:
            self.refuse("moved")
        rows = self.rows()
        a, b = swapped(rows, row, step)
        order = [each.action for each in rows]
        here, there = order.index(a.action), order.index(b.action)
        order[here], order[there] = order[there], order[here]
        for place, action in enumerate(order):
            action[ORDER] = place

    def _behind(self, action: Block, row: ListedClip | None) -> None:
        """Give an action its place behind another's, or behind all, where actions have places."""
        others = [each.action for each in self.rows() if each.action != action]
        action.pop(ORDER, None)
        if row is None or MOVE not in self.can:
            return
        order = [*others]
        order.insert(order.index(row.action) + 1, action)
        for place, each in enumerate(order):
            each[ORDER] = place

    def rename(self, row: ListedClip, name: str) -> None:
        """Rename an action, and the track that keeps it; or a table's row."""
        if row.of_table:
            runs.rename(row.action, row, name)
            return
        old = row.action.name
        name_action(row.action, name)
        call_tracks(self.rig, old, row.action)


def _format_of(rig: Block) -> Any:
    """Return the format of the file that an armature came from, by its name; None where that is not known."""
    file = rig.data.get(FILE)
    suffix = PurePath(file).suffix.lower() if isinstance(file, str) else ""
    return next((row for row in formats.ROWS if suffix and suffix in row.suffixes), None)


def _cut(rig: Block, action: Block, name: str, first: int, last: int) -> Block:
    """Return a new action that shows some frames of another from 0 on."""
    if last < first:
        raise LimitError(f"there is no frame from {first} to {last}")
    curves = curves_of(action, slot_of(rig, action))
    made: Block = bpy.data.actions.new(names.fit(name))
    own = new_curves(made, "OBJECT", slot_name(rig))
    grid = np.arange(first, last + 1, dtype=np.float32)
    for curve in curves:
        copied = own.new(curve.data_path, index=curve.array_index)
        add_points(copied, grid - first, _values(curve, grid))
        copied.mute = is_muted(curve)
    name_action(made, name)
    made.use_fake_user = True
    spans.set_range(made, 0, last - first)
    if FRAME_RATE in action:
        show(made, FRAME_RATE, number(action, FRAME_RATE, 0.0))
    if LOOP in action:
        show(made, LOOP, 0)
    return made


def _values(curve: Any, grid: Any) -> Any:
    """Return a curve's values at whole frames: its keys' own where it has one in each, and nothing changes them."""
    times, values = curve_points(curve)
    place = np.searchsorted(times, grid)
    if len(times) and not curve.modifiers and place.max() < len(times) and np.array_equal(times[place], grid):
        return values[place]
    return np.array([curve.evaluate(time) for time in grid.tolist()], np.float32)
