"""Which frames an export writes: a model's keys, what its actions or markers name, or a stretch of the timeline."""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise, zip_longest
from typing import Any

import bpy
import numpy as np

from ...model.clips import FRAME_NAME_BYTES, group, numbered
from ...reporting import LimitError, plural
from ...reporting import listed as listing
from .. import names
from ..compat import Block, action_parts, playing_curves
from ..curves import curve_points, is_still, stays_put
from ..frame_rigs import RIG, plays_another, rigs_of
from ..playback import still
from ..properties import PREVIEW
from ..provenance import MODEL_ID
from ..roots import follows_frame, frame_root, parts_of, plays_rows
from ..scene import ExportScene
from ..space import WORLD, Space
from ..takes import (
    Take,
    influences,
    make_take,
    moved_by,
    unplayed_actions,
    used_actions,
    warn_of_beside,
    warn_of_dead_turns,
)
from .clips import WHOLE, find_actions, label, model_actions, model_ids
from .frame_plan import FramePlan, GatherSettings
from .known_frames import source_frames
from .movement import is_moving
from .shape_keys import KeyFinder, frame_blocks, positions, read
from .shown_keys import (
    NEAR,
    covers,
    is_driven,
    key_times,
    keys_at,
    keys_stand_still,
    out_of_step,
    plays_before,
    plays_otherwise,
    refuse_doubled,
    strip_times,
)
from .source import StoredSource, listed_frames

log = logging.getLogger(__name__)

MARKS = (MODEL_ID, WHOLE, RIG, PREVIEW)  # on actions that are some model's, or no animation
STILL = "frame0"  # of a model in which nothing moves, whichever frame of the scene it is seen in


Stretch = tuple[str, list[float], Take | None]  # an animation's name, its times, and the action that is played for it


def plan_frames(
    blocks: list[Block],
    tag_sources: Sequence[Any],
    collection: bpy.types.Collection | None,
    known: StoredSource | None,
    export: ExportScene[GatherSettings],
    space: Space = WORLD,
) -> FramePlan:
    """Return the frames to export.

    Raises:
        LimitError: keyed meshes whose keys disagree, no frame at all, or an action that is not there or does nothing.
    """
    scene, settings = export.scene, export.settings
    keyed = _keyed(blocks, known)
    ids = model_ids(blocks, collection)
    mode = settings.frames
    now = scene.frame_current + scene.frame_subframe
    tags = [tag.block for tag in tag_sources]
    listed = listed_frames(collection, known, [] if keyed else tags)
    movers = [*blocks, *tags]
    if mode == "AUTO":
        mode = _automatic(keyed, 0 if listed is None else len(listed[0]), movers, export, space)
    if mode == "KEYS" and keyed:
        planned = _key_plan(keyed, known, ids, export)
        if settings.frames == "AUTO" and not any(follows_frame(block.data.shape_keys) for block in keyed):
            _warn_of_more(planned, blocks, tags, export, space)
            keys = keyed[0].data.shape_keys
            _warn_of_gaps(planned, _warn_of_unplayed(keys, ids), plays_before(keys, export))
        return planned
    if mode == "KEYS" and listed is not None:
        return _listed_plan(*listed, known, now)
    base = KeyFrames(_key_plan(keyed[:1], known, ids, export) if keyed else None)
    if mode == "ACTIONS":
        owners = moved_by(movers)
        return _stretches_plan(_takes(owners, ids, base, settings), base)
    if mode == "MARKERS":
        return _stretches_plan(_marked(scene), base)
    if mode in ("CURRENT", "KEYS"):  # of which it has none
        plan = base.plan([now], present=True)
        plan.names = [STILL]
        return plan if settings.frames == "AUTO" else _named_by_time(plan, base, blocks, scene)
    return _named_by_time(base.plan(_stretch(scene, settings)), base, blocks, scene)


def _automatic(
    keyed: list[Block], num_listed: int, movers: list[Block], export: ExportScene[GatherSettings], space: Space
) -> str:
    """Return what AUTO means: the model's own frames, or the scene's range where that shows something else."""
    if keyed:
        lengths = {block: len(frame_blocks(block.data.shape_keys)) for block in keyed}
        several = [block for block, length in lengths.items() if length > 1]
        parts = parts_of(several)
        unlike = len(parts) > 1 and len({lengths[block] for block in several}) > 1
        own = [] if space.root is None else [frame_root(space.root)]
        if unlike or (parts != own and any(plays_rows(part, max(lengths.values())) for part in parts)):
            text = "the scene's range is written, frame %d to %d, as its parts play there: not all their frames"
            log.warning(text, export.scene.frame_start, export.scene.frame_end)
            return "SCENE"
        for block in several:
            if not block.data.shape_keys.use_relative:
                refuse_doubled(block)
        still = [block for block in several if keys_stand_still(block, export)]
        odd = _played_otherwise([block for block in keyed if block not in still], export)
        if odd is not None:
            log.warning(
                "the scene's range is written, frame %d to %d: it does not play the keys of '%s' one after another; "
                "Frames: 'Model's Keys' writes those",
                export.scene.frame_start, export.scene.frame_end, odd.name,
            )  # fmt: skip
            return "SCENE"
        if 0 < len(still) < len(keyed):
            text = "keys that stand still while others play are written as frames, Scene Range writes what is shown: %s"
            log.warning(text, listing([block.name for block in still]))
        return "KEYS"
    if num_listed > 1:
        return "KEYS"
    if is_moving(movers, export, space):  # import animates no model of one frame: that is the modeller's work
        return "SCENE"
    return "KEYS" if num_listed else "CURRENT"


def _warn_of_more(
    plan: FramePlan, blocks: list[Block], tags: list[Block], export: ExportScene[GatherSettings], space: Space
) -> None:
    """Name what moves beside a model's keys, if these don't play, or at other times, or before or behind their frames.

    What moves a model besides is written as the scene shows it when all keys play, one after another.
    """
    meshes = [b for b in blocks if b.parent or b.modifiers or not stays_put(b)]
    movers = [*meshes, *tags]
    lists = [block.data.shape_keys for block in plan.held]
    if plan.held and len(plan.times) > 1 and all(keys_stand_still(block, export) for block in plan.held):
        log.warning(
            "%s, all are written as frames: Frames: 'Scene Range' writes what is shown",
            "a driver holds its keys still" if any(map(is_driven, lists)) else "nothing plays its keys",
        )
        return
    if not movers:
        return
    first, last = int(min(plan.times)), int(max(plan.times))
    played = range(max(first, export.scene.frame_start), min(last, export.scene.frame_end) + 1)
    elsewhen = bool(meshes) and any(_play_at_other_times(block, plan, played) for block in plan.held)
    if elsewhen and _moves_besides(meshes, played, export, space):
        log.warning(
            "more than keys moves it, and they play at other times than all of them one after another, as they are "
            "written: Frames: 'Scene Range' writes what is shown"
        )
        return
    before, after = range(export.scene.frame_start, first + 1), range(last, export.scene.frame_end + 1)
    if any(is_moving(movers, export, space, frames) for frames in (before, after) if len(frames) > 1):
        log.warning("it moves beyond the frames of its keys, which are written: Frames: 'Scene Range' writes more")


def _moves_besides(meshes: list[Block], frames: range, export: ExportScene[GatherSettings], space: Space) -> bool:
    """Tell whether more than keys, and rigs of frames that are written with them, moves meshes in some frames."""
    with still([rig for rig in rigs_of(meshes) if plays_another(rig) is None]):
        return is_moving(meshes, export, space, frames, keys=False)


def _play_at_other_times(block: Block, plan: FramePlan, frames: range) -> bool:
    """Tell whether some of the frames shows a mesh's key that is written as another one shows it."""
    times = [float(frame) for frame in frames]
    shown = keys_at(KeyFinder(block.data.shape_keys), times)
    return any(key >= 0 and abs(plan.times[key] - time) > NEAR for key, time in zip(shown, times, strict=True))


def _warn_of_unplayed(keys: Block, ids: set[str]) -> list[int]:
    """Name absolute keys behind all that any action shows, as Blender's own button adds them: they are frames, too.

    Returns which these are.
    """
    if keys.use_relative or follows_frame(keys) or is_driven(keys):
        return []
    parts = [part for action in model_actions(ids, whole=True) for part in action_parts(action)]
    curves = [*playing_curves(keys), *(curve for _, kind, own in parts if kind in ("", keys.id_type) for curve in own)]
    tops = [curve_points(c)[1].max() for c in curves if c.data_path == "eval_time" and len(c.keyframe_points)]
    blocks = frame_blocks(keys)
    beyond = [place for place, at in enumerate(positions(blocks)) if tops and at > max(tops) + NEAR]
    if beyond:
        text = "keys that no action shows are written as frames, too (Insert Frame adds one that plays): %s"
        log.warning(text, listing([blocks[place].name for place in beyond]))
    return beyond


def _warn_of_gaps(plan: FramePlan, unplayed: list[int], is_before: bool) -> None:
    """Name the frames behind which the scene plays on without a key: Blender's own button leaves a gap of one.

    Those that are `unplayed` lie behind all that plays. Frames before the first key may play, too.
    """
    gaps = np.diff(plan.times[: len(plan.times) - len(unplayed)])
    places = [f"behind '{plan.names[place]}'" for place in np.flatnonzero(gaps > 1.0 + NEAR)]
    places = [f"before '{plan.names[0]}'", *places] if is_before else places
    if places:
        text = (
            "the scene plays on where keys are missing, the file does not (Delete Frame closes such a gap, "
            "Frames: 'Scene Range' writes what is shown): %s"
        )
        log.warning(text, listing(places, quoted=False))


def _keyed(blocks: list[Block], known: StoredSource | None) -> list[Block]:
    """Return the meshes whose shape keys are frames: absolute ones, and those that import made.

    Relative keys of a model that came without frames, or that has none of these any more, are its modeller's: a smile,
    a fist.
    """
    moves = known is not None and known.source.num_frames > 1
    found = []
    for block in blocks:
        keys = block.data.shape_keys
        own = [] if keys is None else frame_blocks(keys)
        relative = bool(own) and keys.use_relative
        given = known.frames_of_keys(block.data) if known is not None and moves and block.data in known.places else {}
        of_import = not given.keys().isdisjoint(key.name for key in own)
        if own and (not relative or of_import):
            found.append(block)
    return found


def _played_otherwise(moving: list[Block], export: ExportScene[GatherSettings]) -> Block | None:
    """Return a mesh whose keys the scene plays, but not one after another: what plays is what an animator means."""
    odd = next((block for block in moving if plays_otherwise(block.data.shape_keys, export)), None)
    return out_of_step(moving, export) if odd is None else odd


def _key_plan(
    keyed: list[Block], known: StoredSource | None, ids: set[str], export: ExportScene[GatherSettings]
) -> FramePlan:
    lists = [[key.name for key in frame_blocks(block.data.shape_keys)] for block in keyed]
    separated = [each[:-1] in lists and _ends_in_first(block) for block, each in zip(keyed, lists, strict=True)]
    lead, listed = next(pair[:2] for pair in zip(keyed, lists, separated, strict=True) if not pair[2])
    blocks = frame_blocks(lead.data.shape_keys)
    for other, theirs, more in zip(keyed, lists, separated, strict=True):
        if theirs != listed and not (more and theirs[:-1] == listed):
            pairs = zip([*listed, "nothing"], [*theirs, "nothing"], strict=False)
            place, (a, b) = next((i, pair) for i, pair in enumerate(pairs) if pair[0] != pair[1])
            raise LimitError(
                f"'{lead.name}' and '{other.name}' list different frames, the first at {place}: '{a}' and '{b}'; "
                "all keyed meshes of a model need the same"
            )
    others = [block.data for block in keyed if block != lead]
    sources = source_frames(lead.data, blocks, positions(blocks), known, others)
    shown = [_frame_name(name, s, known) for name, s in zip(listed, sources.tolist(), strict=True)]
    keys = lead.data.shape_keys
    if follows_frame(keys):
        times = positions(blocks)
    else:
        shown_at = strip_times(keys, export) if any(map(_is_carried, keyed)) else None
        times = shown_at or key_times(keys, _whole_curves(keys, ids))
    return FramePlan(shown, times, list(range(len(blocks))), sources, keyed, whole=True)


def _is_carried(block: Block) -> bool:
    """Tell whether more than its keys may move a mesh, so that it matters when the scene shows which of them."""
    others = (owner for owner in influences(block) if owner != block.data.shape_keys)
    return bool(block.modifiers) or not stays_put(block) or not all(map(is_still, others))


def _ends_in_first(block: Block) -> bool:
    """Tell whether a mesh's last key copies its first, as Blender 4.5 puts one behind those of a separated part."""
    blocks = frame_blocks(block.data.shape_keys)
    first, last = blocks[0], blocks[-1]
    if first == last or names.stem_of(last.name) != names.stem_of(first.name):
        return False
    return bool(np.ptp(read([first, last], len(block.data.vertices)), axis=0).max(initial=0.0) == 0.0)


def _whole_curves(keys: Block, ids: set[str]) -> list[Any]:
    """Return the curves that say when the timeline shows which frame: those that play, if they play all frames.

    Else those of the action that import made for that: the modeller looks at one animation just now.
    """
    playing = playing_curves(keys)
    if covers(keys, playing):
        return playing
    for action in bpy.data.actions:
        if action.get(WHOLE) and action.get(MODEL_ID) in ids:
            parts = [curves for _, kind, curves in action_parts(action) if kind in ("", keys.id_type)]
            return next((curves for curves in parts if covers(keys, curves)), [])
    return playing


def _frame_name(key_name: str, source: int, known: StoredSource | None) -> str:
    """Return a frame's name in the file: the source's while the key has the name that import gave it."""
    if known is not None and source >= 0 and source < len(known.key_names) and key_name == known.key_names[source]:
        return known.source.frame_names[source]
    return names.stem_of(key_name)


def _listed_plan(listed: list[str], frames: list[int], known: StoredSource | None, now: float) -> FramePlan:
    """Plan the frames of a model without keys: its collection says how many there are, and their names.

    One alone is what shows `now`: whatever moves it beyond the scene's range would be elsewhere in frame 0.
    """
    count = len(listed)
    source_names = [] if known is None else known.source.frame_names
    sources = np.array([f if 0 <= f < len(source_names) else -1 for f in frames], np.int32)
    shown = []
    for name, source in zip(listed, sources.tolist(), strict=True):
        same = source >= 0 and source_names[source].replace("\n", " ") == name
        shown.append(source_names[source] if same else name)
    times = [now] if count == 1 else [float(i) for i in range(count)]
    return FramePlan(shown, times, [-1] * count, sources, whole=True, present=count == 1)


def _stretch(scene: bpy.types.Scene, settings: GatherSettings) -> list[float]:
    """Return the times of a stretch of the timeline: of the scene's range, or of the one that is asked for."""
    start, end, step = scene.frame_start, scene.frame_end, scene.frame_step
    if settings.frames == "RANGE":
        start, end, step = settings.frame_start, settings.frame_end, settings.frame_step
    times = [float(time) for time in range(start, end + 1, max(step, 1))]
    if not times:
        raise LimitError(f"no frame to export: the range {start} to {end} is empty")
    return times


def _named_by_time(plan: FramePlan, base: KeyFrames, blocks: list[Block], scene: bpy.types.Scene) -> FramePlan:
    """Name the frames of a plan: by the keys that they show, and where there is none by markers."""
    shown = [base.names[key] if key >= 0 else "" for key in plan.keys]
    if base.finder is None:
        shown = _lone_keys(blocks, plan.times)
    markers = {marker.frame: marker.name for marker in scene.timeline_markers}
    named = zip(plan.times, shown, strict=True)
    plan.names = [name or markers.get(int(time), f"frame{time:.0f}") for time, name in named]
    return plan


def _lone_keys(blocks: list[Block], times: list[float]) -> list[str]:
    """Return the relative key that alone shows at each time, else "": many importers make frames so.

    A mesh that shows no two of its keys alone has keys for something else: a smile, a fist.
    """
    for block in blocks:
        keys = block.data.shape_keys
        shown = [] if keys is None else keys_at(KeyFinder(keys), times)
        if len(set(shown) - {-1}) > 1:
            listed = frame_blocks(keys)
            return [names.stem_of(listed[key].name) if key >= 0 else "" for key in shown]
    return [""] * len(times)


def _takes(owners: list[Block], ids: set[str], base: KeyFrames, settings: GatherSettings) -> list[Stretch]:
    """Return the actions to export as animations; if all, in the order of the frames that they begin with."""
    named = bool(names.called(settings.actions))
    loose = [] if named else unplayed_actions(owners)
    played = [action for owner in owners for action in used_actions(owner)]
    fitting = [a for a in dict.fromkeys([*played, *loose]) if a.users and not any(k in a for k in MARKS[1:])]
    chosen = find_actions(settings.actions, ids, settings.keep_suffixes, fitting)
    takes, apart = [], names.called_apart(chosen, settings.keep_suffixes)
    for action in chosen:
        name = apart.get(action) or names.file_name_of(action, settings.keep_suffixes)
        takes.append(make_take(name, action, owners, base.count(name) if action.get(MODEL_ID) in ids else 0))
    warn_of_beside(owners, takes, MARKS)
    warn_of_dead_turns(takes)
    if not named:

        def rank(take: Take) -> tuple[Any, ...]:
            first = base.keys_at(take.times[:1], take)[0]
            return first < 0, first, names.is_renamed(take.action), take.action.name

        takes.sort(key=rank)
        left = [action for action in loose if action not in chosen and not any(mark in action for mark in MARKS)]
        strangers = [action.name for action in left if action.users]
        if strangers:
            text = "actions that this model did not bring are left out, name them to write them: %s"
            log.warning(text, listing(strangers))
        lost = [action.name for action in left if not action.users]
        if lost:
            text = "actions that nothing uses are left out, give them a fake user to keep them: %s"
            log.warning(text, listing(lost))
    return [(take.name, take.times, take) for take in takes]


def _marked(scene: bpy.types.Scene) -> list[Stretch]:
    """Return the stretches of the timeline that begin at markers.

    Raises:
        LimitError: the scene's range has none.
    """
    start, end, step = scene.frame_start, scene.frame_end, max(scene.frame_step, 1)
    markers = sorted(scene.timeline_markers, key=lambda marker: marker.frame)
    stretches: list[Stretch] = []
    lost = []
    for marker, following in zip_longest(markers, markers[1:]):
        last = end if following is None else following.frame - 1
        times = range(max(marker.frame, start), min(last, end) + 1, step)
        stretches += [(marker.name, [float(time) for time in times], None)] if times else []
        lost += [] if times else [marker.name]
    if not stretches:
        raise LimitError(f"no frame to export: there is no marker in the scene's range {start} to {end}")
    before = len(range(start, int(stretches[0][1][0]), step))
    if before:
        log.warning("%s before the first marker left out", plural(before, "frame"))
    if lost:
        log.warning("markers without a frame in the scene's range left out: %s", listing(lost))
    return stretches


class KeyFrames:
    """What a model's keys are as frames, for plans whose frames may show them; empty without keys."""

    def __init__(self, planned: FramePlan | None) -> None:
        plan = planned or FramePlan([], [], [], np.zeros(0, np.int32))
        self.names, self.times, self.sources = plan.names, plan.times, plan.sources
        self.finder = KeyFinder(plan.held[0].data.shape_keys) if plan.held else None
        self.animations = group(plan.names)  # which follow one another
        self.firsts = [animation.first for animation in self.animations]

    def count(self, animation: str) -> int:
        """Return how many frames the animation of a name has; 0 if there is none."""
        return next((a.count for a in self.animations if a.name == animation), 0)

    def keys_at(self, times: list[float], take: Take | None = None, present: bool = False) -> list[int]:
        """Return which key the scene shows at each time, while it plays a take, or -1; see `shown_keys.keys_at`."""
        return [-1] * len(times) if self.finder is None else keys_at(self.finder, times, take, present)

    def plan(self, times: list[float], take: Take | None = None, present: bool = False) -> FramePlan:
        """Plan frames, without names."""
        keys = self.keys_at(times, take, present)
        sources = np.array([self.sources[key] if key >= 0 else -1 for key in keys], np.int32)
        plan = FramePlan([], times, keys, sources, present=present)
        if take is not None:
            plan.takes = [take] * len(times)
            plan.whole_times = [self.times[k] if k >= 0 else t for t, k in zip(times, plan.keys, strict=True)]
        return plan

    def frame_names(self, animation: str, keys: list[int]) -> list[str]:
        """Return the names of an animation's frames if it shows its keys in order: theirs; else none."""
        place = bisect_right(self.firsts, keys[0]) - 1
        home = self.animations[place] if place >= 0 else None
        rising = all(before < after for before, after in pairwise(keys))
        if home is not None and rising and keys[-1] < home.first + home.count and label(home.name) == label(animation):
            return [self.names[key] for key in keys]
        return []


def _fitting(counts: Mapping[str, int]) -> dict[str, str]:
    """Return other names for animations with so many frames, where theirs leave no room for numbers, and say which."""
    long = {name: n for name, n in counts.items() if not numbered(name, n)[0].startswith(name)}
    if not long:
        return {}
    from ...model.edits.short_names import short_names  # which most exports do without

    rooms = {name: FRAME_NAME_BYTES - max(len(str(count)), 2) for name, count in long.items()}
    found = short_names(counts, rooms.get)
    for name, short in found.items():
        first = numbered(short, counts[name])[0]
        log.warning("animation '%s' is cut to fit its frames' names: '%s' and so on", name, first)
    return found


def _stretches_plan(stretches: list[Stretch], base: KeyFrames) -> FramePlan:
    """Plan animations, one after the other, with frames named as games expect it."""
    parts = [base.plan(times, take) for _, times, take in stretches]
    plan = FramePlan([], [], [], np.concatenate([part.sources for part in parts]))
    own = [base.frame_names(name, part.keys) for (name, _, _), part in zip(stretches, parts, strict=True)]
    called = _fitting({name: len(times) for (name, times, _), known in zip(stretches, own, strict=True) if not known})
    for (name, times, _), known, part in zip(stretches, own, parts, strict=True):
        plan.names += known or numbered(called.get(name, name), len(times))
        plan.times += part.times
        plan.keys += part.keys
        plan.takes += part.takes
        plan.whole_times += part.whole_times
    return plan
