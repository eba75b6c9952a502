"""Actions that an export plays for a while: whom of a model they move, and that all is as it was afterwards."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import bpy
import numpy as np

from ..reporting import LimitError, listed
from . import names
from .animated import moved_paths
from .compat import (
    Block,
    action_parts,
    fill_slot,
    new_curves,
    play_action,
    play_copy,
    played_action,
    refuse_tweak_mode,
    slot_claim,
)
from .curves import add_curve, curve_points, value_path
from .data_paths import reset_value, set_value, value_at
from .frame_rigs import RIG, RIG_KEYS, is_frame_rig, partner_of, pose_part, posed_by, whole_of
from .properties import PREVIEW
from .provenance import MODEL_ID, PART, PLAYER
from .spans import span_of, warn_of_length

log = logging.getLogger(__name__)
POSE = "pose.bones["
OWN = '["'  # what the path of an own custom property begins with


@dataclass(frozen=True, eq=False)
class Role:
    """A data-block that an action moves, with the slot that it plays (None before 4.4) and the slot's curves."""

    owner: Block
    slot: Any
    curves: list[Any]
    partner: Block | None = None  # the action that it plays instead of the take's, along with that


@dataclass(eq=False)
class Take:
    """An action as an animation of a model: its frames are shown at `times`."""

    name: str
    action: bpy.types.Action
    roles: list[Role]
    times: list[float]

    def curves_of(self, owner: Block) -> list[Any] | None:
        """Return the curves that move a data-block; None if the action leaves it alone."""
        return next((role.curves for role in self.roles if role.owner == owner), None)

    def moves(self, owners: Iterable[Block]) -> bool:
        """Tell whether the action moves one of some data-blocks."""
        own = {role.owner for role in self.roles}
        return any(owner in own for owner in owners)


def make_take(name: str, action: bpy.types.Action, owners: list[Block], frames: int = 0) -> Take:
    """Return an action as an animation of the model that `owners` (see `influences`) belong to.

    `frames` is how many the file had, 0 where that is not known.

    Raises:
        LimitError: the action moves nothing of the model, or nobody can tell what.
    """
    roles = _cast(action, owners)
    if not roles:
        raise LimitError(f"action '{action.name}' moves nothing of this model")
    times = _times(action, roles, frames)
    moved = {role.owner for role in roles}
    rigs = [owner for owner in owners if owner not in moved and isinstance(owner, bpy.types.Object)]
    for rig in rigs:
        if is_frame_rig(rig) and posed_by(rig):  # no copy of one, as controls of it are
            partner = partner_of(rig, action)
            roles += rig_roles(rig, partner)
            if partner is None and not moved.isdisjoint(block.data.shape_keys for block in posed_by(rig)):
                text = "'%s' has no poses along with '%s', bones are as they stand: click that if the list has it"
                log.warning(text, rig.name, action.name)
    return Take(name, action, roles, times)


def rig_roles(rig: Block, action: Block | None) -> list[Role]:
    """Return the role of an armature that was made of frames in what its keys play, while it plays an action."""
    if action is None:
        return []
    slot, curves = pose_part(action)
    return [Role(rig, slot, curves, partner=action)] if curves else []


def key_roles(rig: Block, action: Block) -> list[Role]:
    """Return the roles of keys in what an armature that was made of them plays; see `frame_rigs.partner_of`."""
    keys = action.get(RIG_KEYS)
    if not isinstance(keys, bpy.types.Action):
        return []
    owners = [mesh.data.shape_keys for mesh in posed_by(rig) if mesh.data.shape_keys is not None]
    return [replace(role, partner=keys) for role in _cast(keys, owners)]


def warn_of_others(rig: Block, takes: Iterable[Take]) -> None:
    """Name what an armature follows and that plays an action of its own, whichever of several takes is written."""
    animation = rig.animation_data
    shown = None if animation is None else animation.action
    for owner in influences(rig):
        played = None if owner == rig or owner.animation_data is None else owner.animation_data.action
        left = [t.action.name for t in takes if t.action not in (shown, played) and not t.moves([owner])]
        if played is not None and left:
            log.warning(
                "'%s', which '%s' follows, plays '%s' whatever is written: so it does in %s; give it a slot of each "
                "action, or bake them (Pose > Animation > Bake Action, with Visual Keying and Clear Constraints)",
                owner.name, rig.name, played.name, listed(left),
            )  # fmt: skip


def warn_of_beside(owners: list[Block], takes: Sequence[Take], marks: Sequence[str]) -> None:
    """Name what plays an action of its own whichever of several takes is written; see also `warn_of_others`.

    Not one of those that have one of the `marks` of the model's own.
    """
    rigs = [owner for owner in owners if owner.id_type == "OBJECT" and owner.type == "ARMATURE"]
    for rig in rigs:
        warn_of_others(rig, takes)
    followed = {each for rig in rigs for each in influences(rig) if each != rig}
    for owner in (each for each in owners if each not in followed and each.animation_data is not None):
        played = owner.animation_data.action
        if played is None or any(mark in played for mark in marks):
            continue
        beside = [take.action.name for take in takes if not take.moves([owner])]
        if beside and played.frame_range[1] > played.frame_range[0]:
            text = "'%s' plays '%s' from the beginning beside each action that is written (Frames: Scene goes on): %s"
            log.warning(text, owner.name, played.name, listed(beside))


def loose_actions(owners: list[Block]) -> list[Block]:
    """Return the actions that show frames of a model's keys, or pose its armature, and that nothing plays or keeps.

    Those of the model that `owners` (see `influences`) belong to; what any object moves by may be of anything.
    """
    holders: list[Block] = [*bpy.data.objects, *bpy.data.shape_keys]
    used = {action for holder in holders for action in used_actions(holder)}
    found: list[Block] = []
    for action in bpy.data.actions:
        parts = [] if action in used else action_parts(action)
        wanted = [(kind, curves) for _, kind, curves in parts if kind == "KEY" or _poses(curves)]
        if any(kind in ("", owner.id_type) and _fits(owner, curves) for kind, curves in wanted for owner in owners):
            found.append(action)
    return found


def unplayed_actions(owners: list[Block]) -> list[Block]:
    """Return the loose actions of a model, and those that its keys and armatures keep in tracks and do not play."""
    holders = [owner for owner in owners if owner.id_type == "KEY" or getattr(owner, "type", "") == "ARMATURE"]
    playing = {None if owner.animation_data is None else owner.animation_data.action for owner in owners}
    kept = [action for owner in holders for action in used_actions(owner) if action not in playing]
    return [*loose_actions(owners), *dict.fromkeys(kept)]


def used_actions(owner: Block) -> list[Block]:
    """Return the actions that an ID keeps in its NLA tracks, and the one that it plays."""
    animation = owner.animation_data
    if animation is None:
        return []
    kept = [strip.action for track in animation.nla_tracks for strip in track.strips]
    return list(dict.fromkeys(action for action in (*kept, animation.action) if action is not None))


def own_motions(blocks: Iterable[Block], inside: Collection[Block]) -> None:
    """Give objects a copy of each action that they play with others than those `inside`."""
    movers: list[Block] = [block for block in bpy.data.objects if block.animation_data is not None]
    others = {block.animation_data.action for block in movers if block not in inside}
    made: dict[Block, Block] = {}
    for animation in (block.animation_data for block in blocks if block.animation_data is not None):
        action = animation.action
        if action is not None and action in others:
            made[action] = made.get(action) or action.copy()
            play_copy(animation, made[action])


def influences(block: Block) -> list[Block]:
    """Return the data-blocks whose curves can move an object: its own, its parents', its modifiers' and constraints'.

    Another object's shape counts only for modifiers, and for what hangs on its vertices.
    """
    shaped: dict[Block, bool] = {}
    waiting = [(block, True)]
    while waiting:
        current, by_shape = waiting.pop()
        if shaped.get(current, False) or (current in shaped and not by_shape):
            continue
        shaped[current] = by_shape
        if PART in current:  # a part moves in its own space
            continue
        if current.parent is not None:
            waiting.append((current.parent, current.parent_type.startswith("VERTEX")))
        bones = current.pose.bones if current.pose is not None else ()
        waiting += [(target, True) for modifier in current.modifiers for target in pointed_at(modifier)]
        constraints = [*current.constraints, *(c for bone in bones for c in bone.constraints)]
        held = [c for c in constraints if not c.mute]
        waiting += [(t, bool(getattr(c, "subtarget", ""))) for c in held for t in pointed_at(c)]
    return [owner for current, by_shape in shaped.items() for owner in _animated(current, by_shape)]


def moved_by(blocks: Iterable[Block]) -> list[Block]:
    """Return the data-blocks whose curves can move some objects; see `influences`."""
    return list(dict.fromkeys(owner for block in blocks for owner in influences(block)))


def pointed_at(thing: Any) -> list[Block]:
    """Return the objects that a modifier or a constraint points at."""
    pointers = [p.identifier for p in thing.bl_rna.properties if p.type == "POINTER"]
    found = [getattr(thing, name) for name in pointers] + [
        getattr(t, "target", None) for t in getattr(thing, "targets", ())
    ]
    return [target for target in found if isinstance(target, bpy.types.Object)]


def _animated(block: Block, by_shape: bool) -> list[Block]:
    keys = getattr(block.data, "shape_keys", None) if by_shape else None
    return [owner for owner in (block, block.data, keys) if owner is not None]


class _Claim(NamedTuple):
    """Why an object plays a part of an action."""

    strength: int  # see `compat.slot_claim`; 0: it could
    part: int


def _cast(action: bpy.types.Action, owners: list[Block]) -> list[Role]:
    """Return whom an action moves: who plays it, or did, or has a slot of that name; else those whom it fits."""
    parts = [(slot, kind, curves) for slot, kind, curves in action_parts(action) if curves]
    best: dict[Block, _Claim] = {}
    for index, (slot, kind, curves) in enumerate(parts):
        for owner in owners:
            if kind in ("", owner.id_type) and _fits(owner, curves):
                claim = _Claim(slot_claim(owner, action, slot), index)
                if owner not in best or claim.strength > best[owner].strength:
                    best[owner] = claim
    roles = []
    for index, (slot, kind, curves) in enumerate(parts):
        fitting = [owner for owner, claim in best.items() if claim.part == index]
        sure = [owner for owner in fitting if best[owner].strength]
        lone = sum(k == kind for _, k, _ in parts) == 1
        if fitting and fitting[0].id_type == "KEY":  # a model's surfaces move together
            sure = fitting if lone else sure
        elif not sure and lone:
            sure = fitting if _poses(curves) else _foremost(action, fitting)
        roles += [Role(owner, slot, curves) for owner in sure]
    return roles


def _poses(curves: list[Any]) -> bool:
    return any(curve.data_path.startswith(POSE) for curve in curves)


def _fits(owner: Block, curves: list[Any]) -> bool:
    """Tell whether a data-block has what curves move: for poses an armature with one of the bones."""
    paths = [curve.data_path for curve in curves]
    if _poses(curves):
        paths = [path for path in paths if path.startswith(POSE)]
    if owner.id_type == "KEY":
        paths = [path for path in paths if (path == "eval_time") != owner.use_relative]
    return any(has_path(owner, path) for path in dict.fromkeys(paths))


def has_path(owner: Block, path: str) -> bool:
    """Tell whether a data-block has what a path of curves says."""
    try:
        owner.path_resolve(path)
    except ValueError:
        return False
    return True


def _foremost(action: bpy.types.Action, fitting: list[Block]) -> list[Block]:
    """Return the one object that carries all others, or that alone is animated at all.

    Raises:
        LimitError: there is none such.
    """
    tops = [owner for owner in fitting if getattr(owner, "parent", None) not in fitting]
    moving = [owner for owner in fitting if owner.animation_data is not None]
    found = next((group for group in (tops, moving) if len(group) == 1), [])
    if fitting and not found:
        names = listed([owner.name for owner in tops])
        raise LimitError(f"action '{action.name}' may be meant for any of {names}: assign it to the one that it moves")
    return found


def _times(action: bpy.types.Action, roles: list[Role], frames: int) -> list[float]:
    """Return the whole frames of an action; see `spans`. One without any shows where it begins."""
    span = span_of(action, (curve for role in roles for curve in role.curves), frames)
    if span is None:
        return [float(action.frame_range[0])]
    warn_of_length(action, span.first_key, span.last_key, frames)
    return [float(time) for time in range(span.first_key, span.last_key + 1)]


def drop_solo(owner: Block) -> None:
    """Let no NLA track of a data-block play alone, whatever action it is to play."""
    for track in () if owner.animation_data is None else owner.animation_data.nla_tracks:
        track.is_solo = False


@contextmanager
def playing(take: Take) -> Iterator[None]:
    """Let all of a take's owners play it; what they played, and where they stood, comes back.

    Bones, shape keys and custom properties that the take leaves alone rest, if anything else moves them: what they show
    is by chance.
    """
    own = [{curve.data_path for curve in role.curves} for role in take.roles]
    stale = [_other_paths(role.owner) - paths for role, paths in zip(take.roles, own, strict=True)]
    with _restored([(r.owner, [*paths, *others]) for r, paths, others in zip(take.roles, own, stale, strict=True)]):
        for role, others in zip(take.roles, stale, strict=True):
            role.owner.animation_data.use_nla = False
            play_action(role.owner, role.partner or take.action, role.slot)
            for path in others:
                reset_value(role.owner, path)
        yield


def _other_paths(owner: Block) -> set[str]:
    """Return the paths of bones, shape keys and own custom properties that a data-block's action or NLA strips move."""
    return {path for path in moved_paths(owner) if owner.id_type == "KEY" or path.startswith((POSE, OWN))}


@contextmanager
def changing_over(owners: Iterable[Block]) -> Iterator[None]:
    """Let data-blocks be given something else to play.

    Bones, shape keys and custom properties that this leaves alone, and what played before moved, rest then, as exports
    have it. An action that nothing uses any more stays with its owner, or it would be gone from lists, and with the
    next saving; not one that moves nothing of it, as a new one before its first key.
    """
    before = [(owner, _other_paths(owner), _played(owner)) for owner in owners]
    yield
    for owner, paths, action in before:
        for path in paths - _other_paths(owner):
            reset_value(owner, path)
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

    Bones, shape keys and custom properties rest meanwhile that the action leaves alone, and what played before moved.
    """
    before, moved = _other_paths(owner), {curve.data_path for _, _, curves in action_parts(action) for curve in curves}
    with _restored([(owner, [*before, *moved])]):
        play_action(owner, action, slot)
        for path in before - _other_paths(owner):
            reset_value(owner, path)
        yield


def _has_motion(owner: Block, action: Block) -> bool:
    """Tell whether an action moves something that a model shows: of armatures bones."""
    is_rig = owner.id_type == "OBJECT" and owner.type == "ARMATURE"
    return any(_poses(curves) if is_rig else curves for _, _, curves in action_parts(action))


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
    kept = [_Kept(owner, paths) for owner, paths in owners]
    try:
        for owner, _ in owners:
            owner.animation_data_create()
        yield
    finally:
        for each in kept:
            each.restore()


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
