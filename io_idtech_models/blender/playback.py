"""Actions that an export plays for a while, or a list for good, and that all is as it was afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import bpy
import numpy as np

from . import names
from .animated import moved_paths, moving_curves
from .compat import (
    Block,
    action_parts,
    fill_slot,
    new_curves,
    play_action,
    played_action,
    refuse_tweak_mode,
)
from .curves import add_curve, curve_points, playing_strips, plays, value_path
from .data_paths import reset_value, set_value, value_at
from .frame_rigs import RIG, whole_of
from .properties import PREVIEW
from .provenance import MODEL_ID, PLAYER
from .scene import showing
from .simulations import begin_anew
from .takes import POSE, Role, Take, moved_by, poses, rig_roles

OWN = '["'  # what the path of an own custom property begins with


def drop_solo(owner: Block) -> None:
    """Let no NLA track of a data-block play alone, whatever action it is to play."""
    for track in () if owner.animation_data is None else owner.animation_data.nla_tracks:
        track.is_solo = False


@contextmanager
def playing(take: Take) -> Iterator[None]:
    """Let all of a take's owners play it; what they played, and where they stood, comes back.

    What the take leaves alone rests, if anything else moves it: what that shows is by chance. See `_Moved`.
    """
    moved = [_Moved(role.owner) for role in take.roles]
    own = [[curve.data_path for curve in role.curves] for role in take.roles]
    with _restored([(each.owner, [*paths, *each.starts]) for each, paths in zip(moved, own, strict=True)]):
        for role, each in zip(take.roles, moved, strict=True):
            role.owner.animation_data.use_nla = False
            action = role.partner or take.action
            play_action(role.owner, action, role.slot)
            each.let_rest(action, role.curves)
        yield


class _Moved:
    """What the action and the NLA strips of a data-block move, and where that is while something else plays.

    Bones, shape keys and custom properties are at rest. All else, as an armature's own place, has no rest that Blender
    would know: that is where the animation begins which moves it, so that no frame that is shown by chance counts.
    """

    def __init__(self, owner: Block) -> None:
        self.owner = owner
        self.action = None if owner.animation_data is None else owner.animation_data.action
        curves = moving_curves(owner)
        self.channels = dict.fromkeys((curve.data_path, curve.array_index) for curve in curves)
        self.starts: dict[str, Any] = dict.fromkeys(path for path, _ in self.channels)  # by path; None: its default
        begun = [path for path in self.starts if owner.id_type != "KEY" and not path.startswith((POSE, OWN))]
        if begun:
            self.starts |= {path: value_at(owner, path) for path in begun}
            for curve in reversed(curves):  # what comes first is what counts
                if curve.data_path in begun and plays(curve):
                    self.starts[curve.data_path] = _value_at_begin(self.starts[curve.data_path], curve)

    def let_rest(self, action: Block | None, curves: Iterable[Any]) -> None:
        """Let it rest, but for what the curves of an action move that plays by now.

        What that has muted, or no keys for, rests as well; where the action played before it stands as it is shown.
        """
        played = {(curve.data_path, curve.array_index) for curve in curves if action == self.action or plays(curve)}
        for path in dict.fromkeys(channel[0] for channel in self.channels if channel not in played):
            start = self.starts[path]
            if start is None:
                reset_value(self.owner, path)
            else:
                set_value(self.owner, path, start)

    def begins(self) -> float:
        """Return the scene's frame in which what moves it begins."""
        animation = self.owner.animation_data
        strips = [float(strip.frame_start) for strip in playing_strips(animation)]
        return min(strips) if animation.action is None else float(animation.action.frame_range[0])


def _value_at_begin(value: Any, curve: Any) -> Any:
    """Return a property's value as a curve has it where its action begins."""
    kind, start = type(value), curve.evaluate(float(curve.id_data.frame_range[0]))
    if not isinstance(value, tuple):
        return kind(start) if isinstance(value, bool | int | float) else value
    before, after = value[: curve.array_index], value[curve.array_index + 1 :]
    return (*before, start, *after) if curve.array_index < len(value) else value


@contextmanager
def at_begin(rigs: Iterable[Block], scene: bpy.types.Scene) -> Iterator[None]:
    """Let armatures stand meanwhile where what moves them as a whole begins, whatever frame the scene shows.

    That is where their skeletons rest.
    """
    moved = [_Moved(owner) for owner in moved_by(rigs) if owner.id_type == "OBJECT"]
    first = [each.begins() for each in moved if any(start is not None for start in each.starts.values())]
    with showing(scene) if first else nullcontext() as show:
        if show is not None:
            show(min(first))
        yield


@contextmanager
def changing_over(owners: Iterable[Block]) -> Iterator[None]:
    """Let data-blocks be given something else to play.

    What this leaves alone, and what played before moved, rests then, as exports have it. An action that nothing uses
    any more stays with its owner, or it would be gone from lists, and with the next saving; not one that moves nothing
    of it, as a new one before its first key.
    """
    before = [(_Moved(owner), _played(owner)) for owner in owners]
    yield
    for moved, action in before:
        owner = moved.owner
        moved.let_rest(None if owner.animation_data is None else owner.animation_data.action, moving_curves(owner))
        if action is not None and action.users <= action.use_fake_user and _has_motion(owner, action):
            keep(owner, action)


def _played(owner: Block) -> Block | None:
    """Return the action that a data-block plays, if its list could not find that again: of the user's own.

    A copy has the marks of an import, too, but no fake user.
    """
    action: Block | None = None if owner.animation_data is None else owner.animation_data.action
    if action is None or PREVIEW in action:
        return None
    is_known = any(mark in action for mark in (MODEL_ID, PLAYER, RIG))
    return None if is_known and (action.use_fake_user or _is_like_its_original(action)) else action


def _is_like_its_original(action: Block) -> bool:
    """Tell whether a copy of an action still says all that the one does of which it is a copy, and which is there."""
    called, said = names.file_name_of(action), _said_by(action)
    every = [each for each in bpy.data.actions if each.use_fake_user and names.file_name_of(each) == called]
    return any(_said_by(each) == said for each in every if each != action)


def _said_by(action: Block) -> tuple[Any, ...]:
    """Return an action's keys and how they are joined, its range, and what is noted on it."""
    parts = [(kind, curve) for _, kind, curves in action_parts(action) for curve in curves]
    keys = {(kind, c.data_path, c.array_index): _curve_says(c) for kind, c in parts}
    span = action.use_frame_range, action.frame_start, action.frame_end, action.use_cyclic
    noted = {key: str(value.to_list() if hasattr(value, "to_list") else value) for key, value in action.items()}
    return keys, span, noted


def _curve_says(curve: Any) -> tuple[Any, ...]:
    kinds = np.empty(len(curve.keyframe_points), np.int32)
    curve.keyframe_points.foreach_get("interpolation", kinds)
    modifiers = [modifier.type for modifier in curve.modifiers]
    return np.stack(curve_points(curve)).tobytes(), kinds.tobytes(), curve.extrapolation, curve.mute, modifiers


@contextmanager
def playing_instead(owner: Block, action: Block, slot: Any) -> Iterator[None]:
    """Let a data-block play an action beside its NLA tracks; what it played, and where it stood, comes back.

    What the action leaves alone rests meanwhile, and what played before moved.
    """
    before, moved = _Moved(owner), {curve.data_path for _, _, curves in action_parts(action) for curve in curves}
    with _restored([(owner, [*before.starts, *moved])]):
        play_action(owner, action, slot)
        before.let_rest(action, moving_curves(owner))
        yield


def _has_motion(owner: Block, action: Block) -> bool:
    """Tell whether an action moves something that a model shows: of armatures bones."""
    is_rig = owner.id_type == "OBJECT" and owner.type == "ARMATURE"
    return any(poses(curves) if is_rig else curves for _, _, curves in action_parts(action))


def let_go(owner: Block, action: Block) -> None:
    """Keep an action with a data-block no more: its strips go, and tracks that are empty then."""
    for track in [] if owner.animation_data is None else list(owner.animation_data.nla_tracks):
        own = [strip for strip in track.strips if strip.action == action]
        for strip in own:
            track.strips.remove(strip)
        if own and not len(track.strips):
            owner.animation_data.nla_tracks.remove(track)


def call_tracks(owner: Block, old: str, action: Block) -> None:
    """Call the tracks that keep an action as it is called by now, where they had its `old` name."""
    for track in () if owner.animation_data is None else owner.animation_data.nla_tracks:
        if track.name == old and any(strip.action == action for strip in track.strips):
            track.name = action.name


def keep(owner: Block, action: Block) -> None:
    """Keep an action with a data-block: in a muted track, for Blender renames bones only in what an object uses."""
    track = (owner.animation_data or owner.animation_data_create()).nla_tracks.new()
    track.name = action.name
    fill_slot(track.strips.new(action.name, 0, action), action)
    track.mute = True


@contextmanager
def showing_all(rigs: list[Block]) -> Iterator[None]:
    """Let armatures that were made of frames play all of these; what they played comes back."""
    nothing: Any = None
    roles = [role for rig in rigs for role in rig_roles(rig, whole_of(rig))]
    with playing(Take("", nothing, roles, [])):
        yield


@contextmanager
def still(rigs: list[Block]) -> Iterator[None]:
    """Let armatures play no action, so that they keep the pose that they have; what they played comes back."""
    with _restored([(rig, moved_paths(rig)) for rig in rigs]):
        for rig in rigs:
            play_action(rig, None, None)
        yield


@contextmanager
def playing_values(owner: Block, path: str, values: Sequence[float]) -> Iterator[None]:
    """Let a property of an object have these values in the scene's frames 0, 1, 2 ...; all comes back."""
    with value_takes(path, [{owner: values}]) as takes, playing(takes[0]):
        yield


@contextmanager
def value_takes(path: str, wanted: Sequence[Mapping[Block, Sequence[float]]]) -> Iterator[list[Take]]:
    """Give takes in which a property of some objects has these values in the scene's frames 0, 1, 2 ..."""
    nothing: Any = None
    made = []
    try:
        takes = []
        for values_of in wanted:
            roles = []
            for owner, values in values_of.items():
                made.append(bpy.data.actions.new("idtech"))
                times = np.arange(len(values), dtype=np.float32)
                curves = new_curves(made[-1], owner.id_type, "idtech")
                add_curve(curves, path, 0, times, np.array(values, np.float32))
                roles += [Role(owner, slot, own, made[-1]) for slot, _, own in action_parts(made[-1])]
            takes.append(Take("", nothing, roles, []))
        yield takes
    finally:
        for action in made:
            bpy.data.actions.remove(action)


@contextmanager
def at_rest(keys: list[Block]) -> Iterator[None]:
    """Let shape keys play nothing, nor follow drivers, so that they show what one sets; all comes back."""
    paths = [[value_path(b.name) for b in k.key_blocks] if k.use_relative else ["eval_time"] for k in keys]
    with _restored(list(zip(keys, paths, strict=True))):
        for key, own in zip(keys, paths, strict=True):
            key.animation_data.use_nla = False
            play_action(key, None, None)
            for curve in _drivers(key, own):
                curve.mute = True
        yield


@contextmanager
def _restored(owners: list[tuple[Block, list[str]]]) -> Iterator[None]:
    """Give data-blocks animation data if they have none, and in the end back what they had; and the values at paths.

    Raises:
        LimitError: one is in the tweak mode of the NLA editor, where its action can't be changed.
    """
    before = [_Kept(owner, paths) for owner, paths in owners]
    try:
        for owner, _ in owners:
            owner.animation_data_create()
        begin_anew()
        yield
    finally:
        for each in before:
            each.restore()
        begin_anew()


def _drivers(owner: Block, paths: list[str]) -> list[Block]:
    """Return the drivers of what a data-block has at some data paths."""
    animation = owner.animation_data
    return [] if animation is None else [curve for curve in animation.drivers if curve.data_path in paths]


class _Kept:
    """What a data-block plays, the values that it has at some data paths, and which of these drivers lead."""

    def __init__(self, owner: Block, paths: list[str]) -> None:
        animation = owner.animation_data
        refuse_tweak_mode(owner)
        self.owner = owner
        self.played = None if animation is None else (played_action(owner), animation.use_nla)
        self.muted = [(curve, curve.mute) for curve in _drivers(owner, paths)]
        values = {path: value_at(owner, path) for path in dict.fromkeys(paths)}
        self.values = {path: value for path, value in values.items() if value is not None}

    def restore(self) -> None:
        """Undo what was done to the data-block since."""
        if self.played is None:
            self.owner.animation_data_clear()
        else:
            action, use_nla = self.played
            play_action(self.owner, *action)
            self.owner.animation_data.use_nla = use_nla
        for curve, mute in self.muted:
            curve.mute = mute
        for path, value in self.values.items():
            set_value(self.owner, path, value)
