"""Which motions of an armature an export means."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, floor, inf
from typing import Any

import bpy
import numpy as np

from ... import formats
from ...blender import names
from ...blender.compat import Block, action_parts, played_action, playing_curves, slot_claim, slot_label, strip_curves
from ...blender.curves import is_still, moved_bones, playing_strips, playing_tracks, plays, same_curves
from ...blender.frame_rigs import RIG_ALL, RIG_WHOLE
from ...blender.leaders import cast, curves_of, fits, fitting_slots, players, slot_of
from ...blender.properties import PREVIEW
from ...blender.provenance import MODEL_ID
from ...blender.rig_clips import frames_in_whole
from ...blender.scene import positioned, say_stretched
from ...blender.selfcheck import some
from ...blender.skeletal import gather_motion, runs
from ...blender.skeletal.gather import gather_rig
from ...blender.skeletal.rig_scene import RigScene
from ...blender.skeletal.selfcheck import Motion
from ...blender.skeletal.source import MADE_FOR
from ...blender.space import WORLD
from ...blender.spans import span_of
from ...blender.takes import POSE, Take, key_roles, used_actions, warn_of_dead_turns, warn_of_others
from ...blender.vertex.movement import is_moving
from ...formats import Format
from ...model.clips import Clip
from ...model.skeletal import Animation, at_rest
from ...reporting import LimitError, collected_warnings, listed
from ..import_ import aninc as animation_tables
from .advice import of_unmade

log = logging.getLogger(__name__)
ORDER = "idtech_order"  # on actions of an armature: their places among its animations, once someone moved one


Names = str | tuple[str, ...]  # of actions; a text has commas between


class NoActionError(LimitError):
    """An armature has no action, or plays none."""


class RowsAloneError(NoActionError):
    """An armature has rows of a table, and no action of all frames of their file."""


@dataclass(frozen=True)
class Source:
    """One motion to write: what it is called, how to gather it, how to see it, and the action that it is, if one."""

    name: str
    gather: Callable[[], Animation]
    action: Any = None
    play: Callable[[], AbstractContextManager[None]] = nullcontext


def sources_of(export: RigScene, row: Format, what: str, asked: Names) -> list[Source]:
    """Return the motions that `what` means: AUTO, ACTIVE, CHOSEN (the actions `asked` for), ALL, NLA, SCENE, or REST.

    FILE is the action that plays, or that of all frames of the file where it is a row of this.
    AUTO is what an animator sees: the action that plays, or the scene's range where more than that moves the bones.

    Raises:
        NoActionError: there is none.
        LimitError: it is not to be exported, or the scene has no frames.
    """
    rig, scene = export.rig, export.scene
    if what == "AUTO":
        what = "SCENE" if automatic(export) == "SCENE" else "ACTIVE"
    if what == "SCENE":
        clip = Clip(rig.name, scene.frame_start, scene.frame_end + 1 - scene.frame_start, export.frame_rate)
        if clip.count < 1:
            raise LimitError("the scene's range is empty")
        return [Source(rig.name, lambda: gather_motion.gather_scene(export, clip))]
    if what == "REST":
        return [Source(rig.name, lambda: at_rest(gather_rig(export).skeleton, rig.name))]
    say_stretched(scene)
    if what == "NLA":
        return _strip_sources(export)
    chosen = _actions(rig, row, what, asked)
    if what == "ALL":
        _warn_of_unwritten(rig, row)
    if _plays_strips(rig):
        text = "NLA strips play on '%s': actions are written as each plays alone; 'Scene Range' writes what is shown"
        log.warning(text, rig.name)
    elif what == "ALL":
        _warn_of_more(export)
    nameless = row.has_model and not (row.motion.apart or row.motion.table)
    called = names.called_apart(chosen, export.settings.keep_suffixes, is_said=not nameless)
    takes = {action: cast(rig, action) for action in chosen}
    _refuse_or_say_still(takes.values(), is_chosen=what == "CHOSEN")
    warn_of_others(rig, takes.values())
    warn_of_dead_turns(takes.values())
    if what not in {"ACTIVE", "FILE"}:
        _warn_of_left_slots(takes.values())
    return [_action_source(export, take, called.get(action)) for action, take in takes.items()]


def _warn_of_more(export: RigScene) -> None:
    """Say where the scene goes on to move an armature before or after the action that plays."""
    animation = export.rig.animation_data
    action = None if animation is None else animation.action
    if action is not None and PREVIEW not in action and _goes_on(export, action):
        text = "'%s' moves beyond the frames of '%s', which are written as they play: 'Scene Range' writes more"
        log.warning(text, export.rig.name, action.name)


def _warn_of_unwritten(rig: Any, row: Format) -> None:
    """Name what all actions lack: animations without one, and what a rig made of frames plays that is none of its own.

    That is a copy of all frames: its animations are another's.
    """
    for text in of_unmade([rig], row.motion.joins_clips):
        log.warning("%s", text)
    playing = None if rig.animation_data is None else rig.animation_data.action
    wholes = {action.get(RIG_ALL) for action in bpy.data.actions} - {None}
    if playing is not None and RIG_WHOLE in playing and playing not in wholes and wholes:
        text = "'%s' plays '%s', which is no animation of its model: written as without it; 'Scene Range' writes %s"
        log.warning(text, rig.name, playing.name, "what is shown")


def _warn_of_slot(rig: Any, action: Any, slot: Any) -> None:
    """Say which slot of an action is written where an armature plays none of them, or another might be meant."""
    fitting = fitting_slots(rig, action)
    if slot is None or slot not in fitting:
        return
    others = [each for each in fitting if each != slot]
    plays, played, _ = (None, None, "") if rig.animation_data is None else played_action(rig)
    if plays == action and played is None:
        said = f"'{rig.name}' plays no slot of '{action.name}', so that nothing moves"
    elif others and not slot_claim(rig, action, slot):
        said = f"'{rig.name}' plays none of the slots of '{action.name}' yet"
    else:
        return
    least = f", not {listed([slot_label(each) for each in others])}" if others else ""
    log.warning("%s: '%s' is written%s, choose the slot in the Action Editor", said, slot_label(slot), least)


def _warn_of_left_slots(takes: Iterable[Take]) -> None:
    """Name slots of actions that move an armature's bones, and that neither it nor anything else plays."""
    for take in takes:
        rig, action, slot = take.roles[0].owner, take.action, take.roles[0].slot
        others = [each for each in fitting_slots(rig, action) if each != slot]
        blocks = [block for block in bpy.data.objects if block != rig and block.animation_data is not None]
        left = [each for each in others if not any(slot_claim(block, action, each) for block in blocks)]
        if left and slot_claim(rig, action, slot):
            text = (
                "of '%s' the slot '%s' is written, which '%s' plays, others that move its bones are left out: %s "
                "(in the Action Editor, Action > Move Slots to new Action makes animations of them)"
            )
            log.warning(text, action.name, slot_label(slot), rig.name, listed([slot_label(each) for each in left]))


def _action_source(export: RigScene, take: Take, called: str | None) -> Source:
    """Return an action as a motion, `called` otherwise than it calls itself where that is not None."""
    rig, action, lead = export.rig, take.action, take.roles[0]
    _warn_of_slot(lead.owner, action, lead.slot)

    def gather() -> Animation:
        found = gather_motion.gather_action(export, take)
        found.in_place = action.get(ORDER) is not None
        return found if called is None else replace(found, name=called)

    return Source(called or names.file_name_of(action), gather, action, partial(playing_with_keys, rig, take))


def playing_with_keys(rig: Any, take: Take) -> AbstractContextManager[None]:
    """Let a take be played for an armature, and by keys that it was made of what goes along with it: for who looks."""
    return gather_motion.playing(rig, replace(take, roles=[*take.roles, *key_roles(rig, take.action)]))


def automatic(export: RigScene) -> str:
    """Return what of an armature an animator sees move: ACTIVE, SCENE, which is said, or nothing: REST."""
    rig = export.rig
    animation = rig.animation_data
    action = None if animation is None else animation.action
    if _plays_strips(rig):
        reason = "NLA strips play"
    elif action is None and is_moving([rig], export, WORLD):
        reason = "no action, but something else moves it"
    elif action is not None and PREVIEW not in action and _goes_on(export, action):
        reason = f"it moves beyond the frames of '{action.name}'"
    else:
        return "REST" if action is None else "ACTIVE"
    text, scene = "'%s': the scene's range is written, frame %d to %d: %s", export.scene
    log.warning(text, rig.name, scene.frame_start, scene.frame_end, reason)
    return "SCENE"


def _plays_strips(rig: Any) -> bool:
    """Tell whether NLA strips have a say in how an armature moves: not where its action moves all that they move."""
    animation = rig.animation_data
    if animation is None or not animation.use_nla:
        return False
    if animation.use_tweak_mode:  # its action is the strip's that is tweaked, at the strip's time
        return True
    strips = playing_strips(animation)
    is_on_top = animation.action_blend_type == "REPLACE" and animation.action_influence == 1.0
    is_held = animation.action_extrapolation == "HOLD" and not any(track.is_solo for track in animation.nla_tracks)
    own = _channels(curve for curve in playing_curves(rig) if plays(curve)) if is_on_top and is_held else set()
    return not all(strip.action is not None and _channels(strip_curves(strip)) <= own for strip in strips)


def _channels(curves: Iterable[Any]) -> set[tuple[str, int]]:
    return {(curve.data_path, curve.array_index) for curve in curves}


def _goes_on(export: RigScene, action: Any) -> bool:
    """Tell whether the scene moves an armature before or after its action, by constraints, drivers or parents."""
    rig, scene = export.rig, export.scene
    if gather_motion.is_free(rig, export.bones):
        return False
    span = span_of(action, curves_of(action, slot_of(rig, action)))
    if span is None:
        return is_moving([rig], export, WORLD)
    before, after = range(scene.frame_start, span.first + 1), range(span.last, scene.frame_end + 1)
    return any(is_moving([rig], export, WORLD, frames) for frames in (before, after))


def shown_by(export: RigScene, row: Format) -> list[Motion]:
    """Return what poses an armature, for who only looks: the scene; a few kept actions where that plays none."""
    scene = export.scene
    play = partial(positioned, export.rig, "POSE")
    found = [Motion(scene.name, play, np.arange(scene.frame_start, scene.frame_end + 1))]
    return [*found, *kept_beside(export, row)] if is_still(export.rig) else found


def kept_beside(export: RigScene, row: Format) -> list[Motion]:
    """Return a few of the actions that an armature keeps and does not play.

    To play another action is dear: Blender copies the first anew, all of its keys, when that comes back.
    """
    rig, found = export.rig, list[Motion]()
    known = None if rig.animation_data is None else rig.animation_data.action
    with collected_warnings(), suppress(NoActionError):
        for action in some([action for action in actions_of(rig, row) if action != known]):
            take = cast(rig, action)
            span = span_of(action, take.roles[0].curves)
            if span is not None:
                times = np.arange(span.first, span.last + 1)
                play = partial(playing_with_keys, rig, take)
                found.append(Motion(action.name, play, times))
    return found


def actions_of(rig: Any, row: Format) -> list[Any]:
    """Return all animations of an armature, as `sources` means them; raises NoActionError where there is none."""
    return _meant(rig, row, "ALL", "")


def plays_its_actions(scene: bpy.types.Scene) -> bool:
    """Tell whether an armature has actions, and nothing else in the scene is animated."""
    blocks: list[Any] = list(scene.objects)
    rigs = [block for block in blocks if block.type == "ARMATURE"]
    if len(rigs) != 1 or _plays_strips(rigs[0]):
        return False
    keys = [getattr(block.data, "shape_keys", None) for block in blocks]
    if any(used_actions(owner) for owner in (*blocks, *keys) if owner is not None and owner != rigs[0]):
        return False
    with collected_warnings(), suppress(NoActionError):
        return bool(actions_of(rigs[0], formats.by_name("iqm")))
    return False


def _actions(rig: Any, row: Format, what: str, asked: Names) -> list[Any]:
    found = _meant(rig, row, what, asked)
    previews = [action.name for action in found if PREVIEW in action]
    if previews:
        said = "shows how the game mixes others, and is no animation of its own: choose another action"
        raise LimitError(f"{listed(previews)} {said}")
    return found


def _meant(rig: Any, row: Format, what: str, asked: Names) -> list[Any]:
    if what in {"ACTIVE", "FILE"}:
        every = [each.animation_data for each in players(rig) if each.animation_data is not None]
        playing = [animation.action for animation in every if animation.action is not None]
        if not playing:
            raise NoActionError(f"'{rig.name}' plays no action: let it play one, or choose All Actions or Scene Range")
        whole = animation_tables.whole_of(playing[0], animation_tables.known_actions(rig)) if what == "FILE" else None
        return playing[:1] if whole is None else [whole]
    if what == "CHOSEN":
        called = list(dict.fromkeys(names.called(asked)))
        missing = [name for name in called if name not in bpy.data.actions]
        if missing or not called:
            raise LimitError(
                f"no action is called {listed(missing)}" if missing else "no action is named: tick or name some"
            )
        return [bpy.data.actions[name] for name in called]
    every = [action for action in _all(rig) if PREVIEW not in action]
    parts = dict.fromkeys(a for a in every if row.motion.joins_clips and animation_tables.is_part(a))
    kept = [action for action in every if action not in parts]
    # Of a character's rows the files are kept beside.
    loose = [action for action in parts if animation_tables.table_id(action)] if kept else parts
    alone = [action for action in loose if animation_tables.whole_of(action, kept) is None]
    if alone:
        how = "export those that you want as Chosen Actions"
        rows = listed([names.file_name_of(action) for action in alone])
        text = f"rows of a table are left, and no action of all frames of their file ({how}): {rows}"
        if not kept:
            raise RowsAloneError(text)
        log.warning(text)
    if not kept:
        raise NoActionError(f"'{rig.name}' has no action to write: key its pose first")
    ordered = in_order([action for action in kept if RIG_WHOLE not in action] or kept)  # which is all others together
    first = runs.whole_of(ordered) if row.motion.table else None  # rows of a table count from the file's begin
    return ordered if first is None else [first, *(action for action in ordered if action != first)]


def _all(rig: Any) -> list[Any]:
    """Return the actions that an armature keeps and plays, and those that fit it and are no other object's.

    One that plays none has those of armatures that it follows, too. What fits but is used by nothing, which Blender
    forgets with the next saving, is left out, and said. So is what a model left behind that was deleted: actions that
    import made for it, or Blender's Duplicate Objects.
    """
    own = players(rig)
    kept = [action for each in own for action in used_actions(each) if each == rig or fits(each, action)]
    found = list(dict.fromkeys(kept))
    loose = _loose(own, found)
    lost = [action.name for action in loose if not action.users]
    if lost:
        text = "actions that nothing uses are left out, give them a fake user to keep them: %s"
        log.warning(text, listed(lost))
    left = [action for action in loose if action.users and _is_left_over(rig, action, found)]
    if left:
        text = (
            "actions that another model came with, or unchanged copies, are left out, keep them in NLA tracks of '%s' "
            "to write them: %s"
        )
        log.warning(text, rig.name, listed([action.name for action in left]))
    _say_unfitting(rig, {*found, *loose})
    return [*found, *(action for action in loose if action.users and action not in left)]


def _loose(rigs: list[Any], own: list[Any]) -> list[Any]:
    """Return the actions that fit one of some armatures, and are neither their `own` nor another object's."""
    others = {action for block in bpy.data.objects if block not in rigs for action in used_actions(block)}
    every: list[Any] = list(bpy.data.actions)
    free = [action for action in every if action not in own and action not in others and PREVIEW not in action]
    return [action for action in free if any(fits(rig, action) for rig in rigs)]


def _refuse_or_say_still(takes: Iterable[Take], is_chosen: bool) -> None:
    """Name the actions that move bones, and none that their armatures have: Blender shows nothing of them.

    Raises:
        LimitError: someone chose them.
    """
    still, called = list[str](), dict[str, None]()
    for take in takes:
        lead = take.roles[0]
        bones = moved_bones(lead.curves)
        moves = len(take.roles) > 1 or any(not curve.data_path.startswith(POSE) for curve in lead.curves)
        if bones and not moves and not any(bone in lead.owner.data.bones for bone in bones):
            still.append(take.action.name)
            called |= dict.fromkeys(sorted(bones))
    if not still:
        return
    said = f"moves nothing of this model, whose bones are not called so (rename these curves): {listed(list(called))}"
    if is_chosen:
        raise LimitError(f"action {listed(still)} {said}")
    log.warning("action %s %s", listed(still), said)


def _say_unfitting(rig: Any, known: set[Any]) -> None:
    """Name the actions that are meant for an armature as it seems, and move bones that it has not.

    Blender renames what moves a bone in the actions alone that its armature plays or keeps in tracks. What another tool
    made names bones as that does.
    """
    others = [block for block in bpy.data.objects if block.type == "ARMATURE" and block != rig]
    seen = known | {action for block in bpy.data.objects for action in used_actions(block)}
    every: list[Any] = list(bpy.data.actions)
    missing, found, strangers = dict[str, None](), list[str](), list[str]()
    for action in every:
        if action in seen or PREVIEW in action or not action.users:
            continue
        bones = sorted(moved_bones(curves_of(action, slot_of(rig, action))))
        lacks = [bone for bone in bones if bone not in rig.data.bones]
        is_strange = action.get(MADE_FOR) not in (None, rig.data.get(MODEL_ID))
        is_others = any(fits(other, action) for other in others)
        if lacks and not (is_strange or is_others):
            (strangers if len(lacks) == len(bones) else found).append(action.name)
            missing |= dict.fromkeys(lacks)
    if strangers:
        text = "actions that move none of the bones of '%s' are left out, rename what their curves move (%s): %s"
        log.warning(text, rig.name, listed(list(missing)), listed(strangers))
    if found:
        text = "actions that move bones which '%s' has not (%s) are left out, choose them, or rename these curves: %s"
        log.warning(text, rig.name, listed(list(missing)), listed(found))


def warn_of_unplayed(rig: Any) -> None:
    """Name the actions that only a fake user keeps, for who writes those alone that an armature keeps and plays."""
    own = used_actions(rig)
    left = [a.name for a in _loose([rig], own) if a.use_fake_user and not _is_left_over(rig, a, own)]
    if left:
        text = "actions that a fake user alone keeps are left out, keep them in NLA tracks of '%s' to write them: %s"
        log.warning(text, rig.name, listed(left))


def _is_left_over(rig: Any, action: Any, own: list[Any]) -> bool:
    """Tell whether an action that nothing plays is what an import made for another model.

    Or a copy of an `own` one with all frames of a model, which a table takes apart: who copies that copies the objects.
    """
    made_for = action.get(MADE_FOR)
    if made_for is None or not own:
        return False
    if made_for != rig.data.get(MODEL_ID):
        return True
    copied = next((each for each in own if each.name == action.get(names.GIVEN)), None)
    if copied is None or copied.get(MADE_FOR) != made_for or not runs.runs_of(copied):
        return False
    parts, others = action_parts(action), action_parts(copied)
    return len(parts) == len(others) and all(map(same_curves, (part[2] for part in parts), (o[2] for o in others)))


def _strip_sources(export: RigScene) -> list[Source]:
    rig = export.rig
    animation = rig.animation_data
    tracks = [] if animation is None else playing_tracks(animation)
    strips = [(track, strip) for track in tracks for strip in track.strips if not strip.mute]
    if not strips:
        raise LimitError(f"'{rig.name}' has no NLA strip that plays: push its actions down, or choose All Actions")
    left = [
        strip.name for track in animation.nla_tracks if not (track.mute or track in tracks) for strip in track.strips
    ]
    if left:
        text = "'%s': the track '%s' is solo, strips of others are left out, turn that off to write them: %s"
        log.warning(text, rig.name, tracks[0].name, listed(left))
    found = []
    for track, strip in strips:
        first, last, rate = ceil(strip.frame_start), floor(strip.frame_end), export.frame_rate
        if strip.action is not None and strip.scale == 1 and not strip.use_animated_time:  # its frames are the scene's
            rate = gather_motion.rate_of(strip.action, export)
            if strip.frame_end - strip.frame_start <= 1 and _is_pose(strip):
                last = first  # Blender's strips are a frame long or more
        clip = Clip(strip.name, first, last + 1 - first, rate)

        def gather_one(t: Any = track, c: Clip = clip) -> Animation:
            with gather_motion.playing_track(rig, t):
                return gather_motion.gather_scene(export, c)

        play = partial(gather_motion.playing_track, rig, track)
        found.append(Source(strip.name, gather_one, strip.action, play))
    return found


def _is_pose(strip: Any) -> bool:
    """Tell whether what an NLA strip plays of its action has keys at one frame alone, and nothing varies it."""
    curves = strip_curves(strip)
    if any(len(curve.modifiers) for curve in curves):
        return False
    return not np.ptp([end for curve in curves for end in curve.range()] or [0.0])


def in_order(actions: list[Block]) -> list[Block]:
    """Return actions in the order that someone gave them; those without a place stay behind the others.

    Animations of frames are in these' order.
    """
    return sorted(actions, key=_place)


def _place(action: Block) -> tuple[float, float]:
    found, (first, count) = action.get(ORDER), frames_in_whole(action)
    return float(found) if isinstance(found, int | float) else inf, first if count else inf
