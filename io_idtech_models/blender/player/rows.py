"""Animations of a player by name: each row of its table an action on its parts' roots, and back.

The action has one curve, of the root's property `FRAME`, which shows the row at its own frames per second. Where the
game repeats the last frames a Cycles modifier does; the game blends from the last frame to the first of those, where
one number can only hold. Keys say no more than first and last frame: they are easy to edit. What the file said is
noted, and what still shows that is written as it was (see `read_row`).
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...model.clips import Clip
from .. import names, spans
from ..compat import Block, action_parts, new_curves, play, prefer_slot
from ..curves import CONSTANT, LINEAR, add_points, curve_points
from ..properties import FPS, LOOP, number, show
from ..provenance import PLAYER
from ..roots import FRAME_PATH
from ..takes import own_motions

log = logging.getLogger(__name__)

SLOT = "part"  # the name of the slot of all rows, which Blender chooses on every root then
ROW, NOTED = "idtech_row", "idtech_row_source"  # on a row's action: its name, and its numbers in the file
OWN = "idtech_rows"  # on rows' actions, and the roots, of one of several copies of a player: an id that they share
WHOLE_ROW = "All Frames"  # shows the frames of the file one by one, each in the scene's frame of that number
NEAR = 1e-3  # of a frame
UNEVEN = 0.5  # frames: a key that holds its frame until the next is off by as much, and shows the same frames
MOST_LOOKS = 4096  # frames of a row: more than any has
SAME_RATE = 5e-3  # of a slope: what differs less was not meant


@dataclass(frozen=True, eq=False)
class RowKeys:
    """What the curve of a row is made of."""

    points: NDArray[np.float32]  # (n, 2) times and values
    kinds: NDArray[np.int32]  # of interpolation, (n,)
    cyclic: bool
    end: float  # the scene's frame at which it ends, or begins again


def keys_of(row: Clip, step: float, num_frames: int) -> RowKeys:
    """Return the keys that show a row, `step` frames of the scene each, of a part with so many frames.

    A frame that the part has not is its first, as in games (R_AddMD3Surfaces).
    """
    frames, count = np.array(row.frames), row.length
    loop = min(row.loop, count)
    start = count - loop if loop > 1 else 0
    inside = (frames >= 0) & (frames < num_frames)
    if inside.all():
        places = np.array([start, count - 1] if count > 1 else [0])
        kinds = [LINEAR, CONSTANT][: len(places)]
    else:
        frames, start = np.where(inside, frames, 0), 0
        places, kinds = np.arange(count), [CONSTANT] * count
    times, values = places * step, frames[places]
    if loop > 1:
        times, values, kinds = np.append(times, count * step), np.append(values, frames[start]), [*kinds, CONSTANT]
    end = (count if loop > 1 else count - 1) * step
    points = np.stack((times, values), axis=1).astype(np.float32)
    return RowKeys(points, np.array(kinds, np.int32), loop > 1, end)


def make_row(row: Clip, player: str, step: float, num_frames: int) -> bpy.types.Action:
    """Make the action of a row."""
    action = bpy.data.actions.new(names.fit(row.name))
    keys = keys_of(row, step, num_frames)
    curve = new_curves(action, "OBJECT", SLOT).new(FRAME_PATH)
    _fill(curve, keys)
    spans.set_range(action, 0, float(np.float32(keys.end)))
    action.use_cyclic = keys.cyclic
    action.use_fake_user = True
    names.remember(action, row.name)
    action[PLAYER], action[ROW] = player, row.name
    _note(action, row, step, num_frames)
    return action


def _note(action: bpy.types.Action, row: Clip, step: float, num_frames: int) -> None:
    """Note on an action the row that its curve shows, and show what of it is edited as numbers."""
    action[NOTED] = [float(value) for value in (row.first, row.count, row.loop, row.frame_rate, step, num_frames)]
    show(action, FPS, float(row.frame_rate))
    show(action, LOOP, row.loop)


def _fill(curve: Any, keys: RowKeys) -> None:
    add_points(curve, keys.points[:, 0], keys.points[:, 1])
    curve.keyframe_points.foreach_set("interpolation", keys.kinds)
    if keys.cyclic:
        cycles = curve.modifiers.new("CYCLES")
        cycles.mode_before, cycles.mode_after = "NONE", "REPEAT"
        curve.extrapolation = "LINEAR"  # what comes before the frames that repeat
    curve.update()


def make_whole(root: Block, num_frames: int, player: str) -> bpy.types.Action:
    """Let a root play the action that shows all frames of its part, one by one."""
    action = bpy.data.actions.new(WHOLE_ROW)
    new_curves(action, "OBJECT", SLOT).new(FRAME_PATH)
    show_all(action, num_frames)
    action.use_fake_user = True
    action[PLAYER], action[ROW] = player, ""
    root.animation_data_create()
    prefer_slot(root, SLOT)
    play(root, action)
    return action


def rows_of(player: str, roots: Sequence[Block]) -> dict[str, bpy.types.Action]:
    """Return the actions of a player's rows by the rows' names: its own, and others of a row's name on its roots."""
    kept = {s.action for r in roots if r.animation_data for t in r.animation_data.nla_tracks for s in t.strips}
    playing = [r.animation_data.action for r in roots if r.animation_data]
    own = _actions_of(player, roots)
    new = [a for a in bpy.data.actions if a.get(PLAYER) is None and frame_curve(a) is not None]
    found: dict[str, bpy.types.Action] = {}
    candidates = dict.fromkeys(action for action in (*own, *kept, *playing, *new) if action is not None)
    # Of several of a name the one that these roots keep, for a player may be there twice, and no copy of it.
    for action in sorted(candidates, key=lambda action: (action not in kept, names.is_renamed(action))):
        if frame_curve(action) is not None and action.get(ROW) != "":
            found.setdefault(names.file_name_of(action).upper(), action)
    return found


def own_id(roots: Iterable[Block]) -> str:
    """Return the id of the rows that one of several copies of a player has for itself, by its roots; "" for none."""
    return next((str(root[OWN]) for root in roots if OWN in root), "")


def _actions_of(player: str, roots: Sequence[Block]) -> list[bpy.types.Action]:
    own = own_id(roots)
    return [a for a in bpy.data.actions if a.get(PLAYER) == player and a.get(OWN, "") == own]


def wholes_of(player: str, roots: Sequence[Block]) -> list[bpy.types.Action]:
    """Return the actions that show all frames of a player's parts."""
    return [action for action in _actions_of(player, roots) if action.get(ROW) == ""]


def give_own(player: str, roots: Sequence[Block]) -> None:
    """Give one of several copies of a player rows, actions of all frames, and of its tags: copies share those else."""
    played = {root: root.animation_data.action for root in roots if root.animation_data is not None}
    identity = uuid.uuid4().hex
    rows = rows_of(player, roots)
    copies = {action: action.copy() for action in [*rows.values(), *wholes_of(player, roots)]}
    for copy in copies.values():
        copy[OWN], copy.use_fake_user = identity, True
    for root in roots:
        root[OWN] = identity
    for root, action in played.items():
        if action is None or action.get(PLAYER) != player:
            continue
        # What plays may be a copy that Blender made along with the player.
        row = action if action in copies else rows.get(names.file_name_of(action).upper())
        if row in copies:
            play(root, copies[row])
        for strip in (s for track in root.animation_data.nla_tracks for s in track.strips if s.action in copies):
            strip.action = copies[strip.action]
    hung = {block for root in roots for block in root.children_recursive} - {*roots}
    own_motions(hung, hung)


def frame_curve(action: bpy.types.Action) -> Any | None:
    """Return the curve of an action that says which frame a root shows; None if it has none."""
    for _, kind, curves in action_parts(action):
        if kind in ("", "OBJECT"):
            found = next((curve for curve in curves if curve.data_path == FRAME_PATH), None)
            if found is not None:
                return found
    return None


def read_row(action: bpy.types.Action, row: Clip, rate: float) -> Clip:
    """Return what an action says of a row: its numbers in the file where they still show, else what its curve shows.

    Frames are those of the part. Frames per second and what repeats are the action's properties, unless the curve's
    slope was changed and not the property, or the mark of a cycle, or what repeats the curve.
    """
    noted = _noted(action, row)
    curve = frame_curve(action)
    if curve is None:
        return row
    was, step, num_frames = noted if noted is not None else (row, 0.0, 0)
    fps, loop = number(action, FPS, was.frame_rate), int(number(action, LOOP, was.loop))
    found, own_step = was, 0.0
    if noted is None or not _is_as_made(action, curve, keys_of(was, step, num_frames)):
        found, own_step = _measured(action, curve, was)
        if noted is None:
            fps = number(action, FPS, round(rate / own_step, 3) if own_step else was.frame_rate)
        elif fps == was.frame_rate and own_step and abs(own_step / step - 1) > SAME_RATE:
            fps = round(was.frame_rate * step / own_step, 3)
    if noted is None:
        loop = abs(found.count) if action.get(LOOP) is None and action.use_cyclic else loop
    elif loop == was.loop:
        loop = _loop(action, curve, was, found, own_step)
    return replace(found, name=row.name, parts=row.parts, frame_rate=fps, loop=loop)


def _noted(action: bpy.types.Action, row: Clip) -> tuple[Clip, float, int] | None:
    """Return the row as the file had it when it was imported, see `keys_of` for the other two."""
    try:
        first, count, loop, fps, step, num_frames = (float(value) for value in action.get(NOTED, ()))
    except (TypeError, ValueError):  # not as `make_row` writes it
        return None
    if not step > 0:
        return None
    return Clip(row.name, int(first), int(count), fps, int(loop), parts=row.parts), step, int(num_frames)


def _is_as_made(action: Any, curve: Any, keys: RowKeys) -> bool:
    points = np.stack(curve_points(curve), axis=1)
    if points.shape != keys.points.shape or not spans.is_imported(action):
        return False
    kinds = np.empty(len(points), np.int32)
    curve.keyframe_points.foreach_get("interpolation", kinds)
    eased = (kinds != keys.kinds)[:-1]  # the last is held, whatever it is
    return bool(np.abs(points - keys.points).max(initial=0.0) < NEAR) and not eased.any()


def _loop(action: Any, curve: Any, was: Clip, found: Clip, step: float) -> int:
    """Return how many of the last frames repeat: by the mark of a cycle or what repeats the curve if that changed.

    Else as long as the curve's keys last, where these were changed, at a `step` of the scene's frames each; or all of a
    range that was set by hand, where all repeated.
    """
    repeated = min(was.loop, abs(was.count)) > 1
    if any(repeats != repeated for repeats in (bool(action.use_cyclic), _wraps(curve))):
        return 0 if repeated else abs(found.count)
    if repeated:
        _warn_of_cycles(action.name, curve)
    if not repeated or not step:
        return was.loop
    if action.use_frame_range and not spans.is_imported(action):
        return abs(found.count) if was.loop == abs(was.count) else was.loop
    first, last = curve.range()
    return min(round(float(last - first) / step), abs(found.count))


def _warn_of_cycles(name: str, curve: Any) -> None:
    """Say where a curve repeats otherwise than games do: mirrored, some times, or each time other frames."""
    cycles = next(modifier for modifier in curve.modifiers if modifier.type == "CYCLES" and not modifier.mute)
    if cycles.mode_after != "REPEAT" or cycles.cycles_after:
        log.warning("'%s' repeats otherwise than a table can say, written as repeating for ever as it is", name)


def _wraps(curve: Any) -> bool:
    return any(modifier.type == "CYCLES" and not modifier.mute for modifier in curve.modifiers)


def _measured(action: Any, curve: Any, was: Clip) -> tuple[Clip, float]:
    """Return the frames that a curve shows, and how many of the scene's each lasts; 0 where it shows one alone.

    From where it begins, or the action's range does if that was set by hand, to the last key before the one at which it
    begins again.
    """
    times, reach, step = _pace(curve)
    wraps = len(times) < len(curve.keyframe_points)
    start = 0.0 if curve.extrapolation == "LINEAR" else float(times[0])
    end, by_hand = float(times[-1]), action.use_frame_range and not spans.is_imported(action)
    if by_hand:
        start, end = float(action.frame_start), float(action.frame_end) - (step if action.use_cyclic else 0.0)
    first, count = curve.evaluate(start), (end - start) / step + 1 if reach else 1.0
    if abs(first - round(first)) > 0.05 or abs(count - round(count)) > 0.05:
        log.warning("'%s' begins or ends between frames: written from the nearest", action.name)
    length = max(round(count), 1)
    # With what shows until it begins again.
    until = float(curve.range()[1]) - step / 2 if wraps and not by_hand else end + NEAR
    steps = np.arange(min(max((until - start) / step, 1.0), MOST_LOOKS) if step else 1)
    at = np.concatenate((start + steps * step, times[(times >= start) & (times < until)]))
    _warn_of_uneven(action.name, curve, at, first + np.sign(reach) * ((at - start) / (step or 1.0) % length))
    low = round(first) - (length - 1 if reach < 0 else 0)
    return replace(was, first=low, count=-length if reach < 0 else length), step


def _pace(curve: Any) -> tuple[NDArray[np.float64], float, float]:
    """Return the times of a curve's keys, how far its frames reach, and how long each lasts; 0 where it shows one.

    The key at which a curve begins again is left out.
    """
    points = np.stack(curve_points(curve), axis=1).astype(float)
    times, values = (points[:-1] if len(points) > 2 and _wraps(curve) else points).T
    span, reach = times[-1] - times[0], float(values[-1] - values[0])
    return times, reach, float(abs(span / reach)) if span > 0 and reach else 0.0


def _warn_of_uneven(name: str, curve: Any, times: NDArray[Any], wanted: NDArray[Any]) -> None:
    """Say where a curve shows other frames at some times (n,) than those wanted: a table's, one after another."""
    shown = np.array([curve.evaluate(time) for time in times.tolist()])
    worst = int(np.abs(shown - wanted).argmax())
    if abs(shown[worst] - wanted[worst]) > UNEVEN:
        numbers = times[worst], shown[worst], wanted[worst]
        text = "'%s' shows frames unevenly, a table plays all as long: in frame %.4g frame %.4g shows, %.4g is written"
        log.warning(text + "; hold a frame by copies of it (Insert Frame)", name, *numbers)


def show_row(action: bpy.types.Action, row: Clip, rate: float, num_frames: int) -> None:
    """Let an action show other frames than before, as fast as it did, and know them for the row's own."""
    noted, curve = _noted(action, row), frame_curve(action)
    if curve is None:
        return
    # A slope that was changed by hand is the row's frames per second by now, what the property says is not the slope.
    as_was = noted is not None and row.frame_rate in (noted[0].frame_rate, action.get(FPS))
    step = noted[1] if noted is not None and as_was else rate / (row.frame_rate if row.frame_rate > 0 else 1.0)
    imported = spans.is_imported(action)
    keys = keys_of(row, step, num_frames)
    curve.keyframe_points.clear()
    for modifier in list(curve.modifiers):
        curve.modifiers.remove(modifier)
    curve.extrapolation = "CONSTANT"
    _fill(curve, keys)
    if imported:
        spans.set_range(action, 0, float(np.float32(keys.end)))
    elif action.use_frame_range:
        action.frame_start, action.frame_end = 0, keys.end
    action.use_cyclic = keys.cyclic
    _note(action, row, step, num_frames)


def show_all(action: bpy.types.Action, num_frames: int) -> None:
    """Let the action that shows all frames of a part show so many."""
    curve, last = frame_curve(action), float(max(num_frames - 1, 0))
    if curve is not None:
        ends = np.array([0.0, last][: 1 + (last > 0)])
        curve.keyframe_points.clear()
        add_points(curve, ends, ends)
        curve.update()


def retime(action: bpy.types.Action, rate: float) -> None:
    """Let a row play as fast as its property says, at the rate of the scene, and as long as its keys do."""
    row = Clip(str(action.get(ROW, "")), 0, 1)
    noted, curve = _noted(action, row), frame_curve(action)
    if noted is None or curve is None:
        return
    was, step, made_of = noted
    fps = number(action, FPS, was.frame_rate)
    wanted = rate / (fps if fps > 0 else 1.0)
    if not _is_as_made(action, curve, keys_of(was, step, made_of)):
        _retime_edited(action, curve, noted, rate)
    elif abs(wanted - step) >= NEAR:
        keys = keys_of(was, wanted, made_of)
        curve.keyframe_points.foreach_set("co", keys.points.ravel())
        curve.update()
        spans.set_range(action, 0, float(np.float32(keys.end)))
        action[NOTED] = [*action[NOTED][:4], wanted, made_of]


def _retime_edited(action: bpy.types.Action, curve: Any, noted: tuple[Clip, float, int], rate: float) -> None:
    """Let a row whose keys were edited play as fast as a table would say of it by now: see `read_row`."""
    was, step, made_of = noted
    fps, (_, _, own) = number(action, FPS, was.frame_rate), _pace(curve)
    by_hand = action.use_frame_range and not spans.is_imported(action)
    made_for = rate / (was.frame_rate if was.frame_rate > 0 else 1.0)
    wanted = rate / (fps if fps > 0 else 1.0) if fps != was.frame_rate else made_for * own / step
    if own and abs(wanted / own - 1) > SAME_RATE:
        for key in curve.keyframe_points:
            for place in (key.handle_left, key.co, key.handle_right):
                place.x *= wanted / own
        curve.update()
        if by_hand:
            action.frame_start, action.frame_end = (
                end * wanted / own for end in (action.frame_start, action.frame_end)
            )
    if not by_hand:
        spans.set_range(action, 0, float(curve.range()[1]))
    action[NOTED] = [*action[NOTED][:4], made_for, made_of]
