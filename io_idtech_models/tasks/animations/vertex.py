"""Animations of models whose frames are shape keys: actions over runs of them, and the names of the frames.

A file has nothing but its frames, in their order and with their names, so that is what the list changes: an animation
moves with its frames, goes with those that no other shows, and is copied with them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Any

import bpy

from ... import formats
from ...blender import names, rig_clips, rig_settling, spans
from ...blender.compat import (
    Block,
    Context,
    action_parts,
    play,
    playing_curves,
    share_action,
)
from ...blender.frame_rigs import is_frame_rig, partner_of, posed_by, rig_of, rigs_of, whole_of
from ...blender.playback import call_tracks, changing_over, drop_solo, let_go
from ...blender.player.parts import find_player
from ...blender.properties import TIMES, numbers
from ...blender.provenance import FILE, MODEL_ID, collection_of, model_of
from ...blender.scene import scenes_of
from ...blender.takes import used_actions
from ...blender.vertex import clips, edit_frames
from ...blender.vertex.apart import stand_alone
from ...blender.vertex.shape_keys import KeyFinder, frame_blocks
from ...blender.vertex.shown_keys import covers, has_frames, key_times
from ...game.player.animation_cfg import LOWER, UPPER, WHOLE, read
from ...model.clips import Clip, group, numbered
from ...reporting import LimitError, ModelError, listed
from ..export.selection import Choice, choose, part_of
from ..import_.games import user_disk
from .listed import MOVE, Animations, ListedClip, fit_scene, free_name, name_action, named_key, said, swapped

log = logging.getLogger(__name__)

TABLE = "animation.cfg"
OF_TABLE = "they are rows of the animation.cfg beside the file, so import the whole player to edit them"


def keyed_blocks(context: Context, active: Block) -> Choice | None:
    """Return the model of an object if it has frames as shape keys, else None."""
    rig = active if is_frame_rig(active) else rig_of(active)
    own: list[Block] = posed_by(rig) if rig is not None else [active] if has_frames(active) else []
    leading = leading_model(context, active)
    if leading is not None:
        return leading
    known = any(model_of(block) for block in (active, *own))
    if (active.type not in ("MESH", "EMPTY") and rig is None) or not (own or known):
        return None
    chosen = choose(context, "AUTO") if known else Choice([*own])
    return chosen if any(has_frames(block) for block in chosen.whole) else None


def leading_model(context: Context, active: Block) -> Choice | None:
    """Return the model whose frames an object shows, as a player's gun does its body's; None if it shows its own."""
    leader = edit_frames.leading(active)
    if leader is None:
        return None
    home = collection_of(leader)
    return Choice([leader]) if home is None else choose(context, "AUTO", home.name)


def fill_gaps(context: Context) -> None:
    """Let the keys of the active object's model lie one in each frame, before its frames change; raises LimitError."""
    active = context.view_layer.objects.active
    player = None if active is None else find_player(active)
    if player is not None:
        edit_frames.fill_gaps([block for root in player.parts.values() for block in part_of(context, root).whole])
        return
    chosen = None if active is None else keyed_blocks(context, active)
    if chosen is not None:
        edit_frames.fill_gaps([*chosen.whole])


class VertexAnimations(Animations):
    """The animations of a model with frames."""

    why = "its frames are no run of their own"

    def __init__(self, chosen: Choice, context: Context) -> None:
        self.chosen, self.context = chosen, context
        self.keyed: list[Block] = [block for block in chosen.whole if has_frames(block)]
        self.lead = self.keyed[0].data.shape_keys
        self.ids = clips.model_ids(self.keyed, chosen.collection)
        self.finder = KeyFinder(self.lead)
        self.num_frames = len(frame_blocks(self.lead))

    def stand_alone(self) -> None:
        """Have actions that no copy of the model has."""
        self.chosen.keep_apart(self.context)
        stand_alone(self.chosen.whole, self.chosen.collection)
        self.ids = clips.model_ids(self.keyed, self.chosen.collection)

    def playing(self) -> list[Block]:
        """Return the action that the model plays."""
        animation = self.lead.animation_data
        return [] if animation is None or animation.action is None else [animation.action]

    def rows(self) -> list[ListedClip]:
        """Return the whole first, and the animations by their first frames."""
        rate = _rate_of(self.chosen)
        used = used_actions(self.lead)
        kept = dict.fromkeys([*clips.model_actions(self.ids), *used])
        twins = [clips.copied_from(action, kept) for action in used]  # a copy of a mesh plays a copy
        own = [self._row(action, rate) for action in kept if not self._is_whole(action) and action not in twins]
        own.sort(key=lambda row: (row.first < 0, row.first, row.last, row.action.name))
        whole = self.whole()
        if whole is None:
            return own
        return [
            ListedClip("", 0, self.num_frames, rate, action=whole, whole=True),
            *(own or self._named_rows(whole, rate)),
        ]

    def _named_rows(self, whole: Block, rate: float) -> list[ListedClip]:
        """Return the runs of frames that are named alike; none where names say nothing, being all alike or all other.

        They need no action: the whole plays them, tags and all, while the scene's range is theirs.
        """
        of_part = part_rows(self.chosen.collection, whole, self.num_frames)
        if of_part:
            self.why = OF_TABLE
            return of_part
        found = group([names.stem_of(key.name) for key in frame_blocks(self.lead)])
        if not 1 < len(found) < self.num_frames:
            return []
        return [ListedClip(c.name, c.first, c.count, rate, action=whole, by_names=True) for c in found]

    def playing_row(self, rows: list[ListedClip]) -> ListedClip | None:
        """Return which of the animations plays: of those by names the one whose frames are the scene's."""
        scene, playing = self.context.scene, self.playing()
        span = scene.frame_start, scene.frame_end
        named = [row for row in rows if row.by_names and row.action in playing and (row.first, row.last) == span]
        return next(iter(named), None) or super().playing_row([row for row in rows if not row.by_names])

    def whole(self) -> Block | None:
        """Return the action that shows all frames, one by one: not an animation's, of which there is but one."""
        marked = [action for action in bpy.data.actions if action.get(clips.WHOLE) and action.get(MODEL_ID) in self.ids]
        playing = [action for action in self.playing() if covers(self.lead, playing_curves(self.lead))]
        return next((action for action in (*filter(self._is_whole, playing), *marked, *playing)), None)

    def _is_whole(self, action: Block) -> bool:
        return bool(action.get(clips.WHOLE)) or (
            action in self.playing() and covers(self.lead, playing_curves(self.lead)) and MODEL_ID not in action
        )

    def _curves(self, action: Block) -> list[Any]:
        parts = [curves for _, kind, curves in action_parts(action) if kind in ("", "KEY") and curves]
        return parts[0] if parts else []

    def _row(self, action: Block, rate: float) -> ListedClip:
        """Return what an action shows of the frames; the scene's where it shows none of them alone."""
        curves = self._curves(action)
        span = spans.span_of(action, curves)
        first, last = (0, 0) if span is None else (span.first_key, span.last_key)
        shown = self.finder.at(curves, [float(first), float(last)])
        times = numbers(action, TIMES)
        if times and times[-1] > 0:
            rate = len(times) / times[-1]
        loop = last - first + 1 if action.use_cyclic or times else 0
        if min(shown) >= 0:
            first, last = min(shown), max(shown)
        return ListedClip(
            names.file_name_of(action), first, last + 1 - first, action=action, **said(action, rate, loop)
        )

    def _covers(self, row: ListedClip) -> bool:
        """Tell whether an animation shows a run of frames, one by one."""
        if row.by_names:
            return True
        curves = self._curves(row.action)
        span = spans.span_of(row.action, curves)
        if span is None or span.last_key - span.first_key != row.last - row.first:
            return False
        times = [float(time) for time in range(span.first_key, span.last_key + 1)]
        return self.finder.at(curves, times) == list(range(row.first, row.last + 1))

    def default_range(self, first: int, last: int) -> tuple[int, int]:
        """Return the model's frames that the scene shows at its frames."""
        shown = self.finder.at(playing_curves(self.lead), [float(first), float(last)])
        ends = [
            key if key >= 0 else min(max(time, 0), self.num_frames - 1)
            for key, time in zip(shown, (first, last), strict=True)
        ]
        return min(ends), max(ends)

    def players(self) -> list[Block]:
        """Return the shape keys of all surfaces, and the armatures that move these."""
        return [*(block.data.shape_keys for block in self.keyed), *rigs_of(self.keyed)]

    def play(self, row: ListedClip, scene: bpy.types.Scene) -> None:
        """Let all surfaces play an action; of all frames the scene shows the one that was shown before."""
        shown = self.finder.at(playing_curves(self.lead), [float(scene.frame_current)])[0] if row.whole else -1
        self.lead.animation_data_create()
        self.demand_no_tweak()
        rigs = rigs_of(self.keyed)
        rig_settling.settle(rigs)
        if any(whole_of(rig) is not None and partner_of(rig, row.action) is None for rig in rigs):
            self.pair_rigs()  # somebody deleted an animation's poses
        owners = self.players()
        with changing_over(owners):
            for owner in owners:
                drop_solo(owner)
            play(self.lead, row.action)
            self.play_together()
            rig_settling.play_partners(rigs, row.action, row.whole)
        if row.by_names:
            fit_scene(scene, row.first, row.last)
            return
        curves = self._curves(row.action)
        span = spans.span_of(row.action, curves)
        fit_scene(scene, *((0, 0) if span is None else (span.first_key, span.last_key)))
        if shown >= 0:
            scene.frame_set(round(key_times(self.lead, curves)[shown]))

    @contextmanager
    def markers_at_home(self) -> Iterator[None]:
        """Let markers stand at the model's frames meanwhile, and then where the animation that plays has these."""
        self._shift_markers(0)
        try:
            yield
        finally:
            self._look_again()
            self._shift_markers(self._shift(self.playing_row(self.rows())))

    def _shift_markers(self, to: int) -> None:
        rows = [row for row in self.rows() if not row.whole]
        homes = {(clips.label(row.name), row.first) for row in rows}
        for scene in self._scenes():
            clips.shift_markers(scene, homes, [self._shift(row) for row in rows], to)

    def _shift(self, row: ListedClip | None) -> int:
        """Return how far from the model's frames an animation has these in the scene."""
        if row is None or row.whole or row.by_names or row.first < 0:
            return 0
        span = spans.span_of(row.action, self._curves(row.action))
        return 0 if span is None else int(span.first_key) - row.first

    def play_together(self) -> None:
        """Let all surfaces, and other models that the same rig poses, play what the first one does."""
        posed = [block for rig in rigs_of(self.keyed) for block in posed_by(rig)]
        for block in dict.fromkeys([*self.keyed[1:], *posed]):
            if block != self.keyed[0]:
                share_action(block.data.shape_keys, self.lead)

    def pair_rigs(self) -> None:
        """Give armatures that were made of the frames an action for each animation, and for no other."""
        rigs = rigs_of(self.keyed)
        if not rigs:
            return
        whole = self.whole()
        times = key_times(self.lead, [] if whole is None else self._curves(whole))
        wanted = []
        for row in self.rows():
            is_there = row.first >= 0 and row.last < len(times)  # a key may be gone
            in_a_row = is_there and times[row.last] - times[row.first] == row.last - row.first
            if not row.whole and in_a_row and self._covers(row):
                keys = None if row.by_names else row.action
                wanted.append(rig_clips.ClipWanted(row.name, int(times[row.first]), row.count, keys))
        for rig in rigs:
            rig_settling.settle([rig])  # a copy has none of its own before
            rig_clips.pair(rig, wanted)

    def let_rigs_play(self) -> None:
        """Let armatures that were just made of the frames play what these play."""
        playing = self.playing_row(self.rows())
        if playing is not None and not playing.by_names:
            rig_settling.play_along(rigs_of(self.keyed), playing.action, playing.whole)

    def demand_own(self) -> None:
        """Refuse a model of another .blend, also one that is overridden: frames are named after an animation."""
        edit_frames.refuse_linked_frames(self._model())
        self.demand_no_tweak()

    def add(self, name: str, first: int, last: int) -> str:
        """Make an animation of frames; those that are no other's are named after it."""
        key = self._add(name, first, last)
        self.pair_rigs()
        return key

    def _add(self, name: str, first: int, last: int) -> str:
        if not 0 <= first <= last < self.num_frames:
            raise LimitError(f"there are no frames {first} to {last}: the model has 0 to {self.num_frames - 1}")
        rows = [row for row in self.rows() if not row.whole]
        tagged = not rows and any(block.type == "EMPTY" for block in self.chosen.whole)
        if any(row.of_table for row in rows):
            self.refuse("added")
        if tagged and last + 1 - first == self.num_frames:
            raise LimitError(
                "these are all frames of the model: the list tells by names of frames, choose some of them"
            )
        if tagged or any(row.by_names for row in rows):  # tags move as the whole says, which an action leaves alone
            self._name_frames(name, first, last)
            return self._named_at(name, first)
        action = clips.make_action(self.lead, Clip(name, first, last + 1 - first), min(self.ids, default=""))
        if not self.ids:
            action.pop(MODEL_ID, None)
            _keep(self.lead, action)
        shared = [row.name for row in rows if row.first <= last and first <= row.last]
        if not shared:
            self._name_frames(name, first, last)
        else:
            text = "'%s' shows frames of %s, whose names those keep: files of the model's keys tell nothing of it; %s"
            log.warning(text, name, listed(shared), "Duplicate Animation gives one frames of its own")
        self._mark(name, first, last + 1 - first)
        return str(action.name)

    def remove(self, row: ListedClip) -> None:
        """Delete an animation, and its frames that no other animation shows; what showed it shows all frames."""
        frames = set(range(row.first, row.last + 1)) if self._covers(row) else set()
        for other in self.rows():
            if other.key != row.key and not other.whole:
                frames -= set(range(other.first, other.last + 1))
        if len(frames) == self.num_frames:
            raise LimitError("these are all frames of the model: it needs one")
        self._show_whole()
        self._unmark(row)
        if not row.by_names:
            let_go(self.lead, row.action)
            bpy.data.actions.remove(row.action)
        if frames:
            self._rewrite([frame for frame in range(self.num_frames) if frame not in frames], range(0))
        self.pair_rigs()

    def duplicate(self, row: ListedClip, name: str) -> str:
        """Copy an animation with its frames, which stand behind it and are edited apart."""
        key = self._duplicate(row, name)
        self.pair_rigs()
        return key

    def _duplicate(self, row: ListedClip, name: str) -> str:
        if not self._covers(row):
            self.refuse("duplicated")
        rows = [each for each in self.rows() if not each.whole]
        name = name or free_name(row.name, rows)
        at = row.last + 1
        for other in rows:  # which rise
            at = max(at, other.last + 1) if other.first < at <= other.last else at
        order = list(range(self.num_frames))
        order[at:at] = range(row.first, row.last + 1)
        new = range(at, at + row.count)
        self._show_whole()
        times = numbers(row.action, TIMES)
        self._rewrite(order, new)
        if row.by_names:
            self._name_frames(name, new.start, new.stop - 1)
            return self._named_at(name, new.start)
        model_id = min(self.ids, default="")
        action = clips.make_action(self.lead, Clip(name, new.start, row.count, times=times), model_id)
        self._name_frames(name, new.start, new.stop - 1)
        action.use_cyclic = row.action.use_cyclic
        self._mark(name, new.start, row.count)
        return str(action.name)

    def _named_at(self, name: str, first: int) -> str:
        """Return the key of the animation that frames are named after from `first` on; it may be called shorter."""
        found = next((row for row in self.rows() if row.by_names and row.first <= first <= row.last), None)
        if found is None:  # they are named as all others are
            return named_key(name, first)
        if found.name != name:
            log.warning("names of frames can't say '%s': it is called '%s'", name, found.name)
        return found.key

    def move(self, row: ListedClip, step: int) -> None:
        """Move an animation's frames before, or behind, those of the next."""
        rows = self.rows()
        a, b = swapped(rows, row, step)
        for each in (a, b):
            if not self._covers(each):
                raise LimitError(f"'{each.name}' shows no run of the model's frames, and has no place among them")
        if a.last >= b.first:
            raise LimitError(f"'{a.name}' and '{b.name}' share frames: neither can come before the other")
        both = range(a.first, b.last + 1)
        for other in rows:
            inside = set(both) & set(range(other.first, other.last + 1))
            if other.whole or other.key in (a.key, b.key) or not inside:
                continue
            raise LimitError(f"'{other.name}' shows frames of '{a.name}' or '{b.name}', which can't be moved then")
        order = list(range(self.num_frames))
        between = range(a.last + 1, b.first)
        order[both.start : both.stop] = [*range(b.first, b.last + 1), *between, *range(a.first, a.last + 1)]
        self._rewrite(order, range(0))
        self.pair_rigs()

    def rename(self, row: ListedClip, name: str) -> None:
        """Rename an animation, and the frames and the marker that are named after it."""
        old = clips.label(row.name)
        markers = [marker for _, marker in self._markers(row)]
        if self._covers(row):
            keys = [names.stem_of(key.name) for key in frame_blocks(self.lead)]
            own = [c for c in group(keys) if c.first <= row.first and row.last <= c.last]
            if own and own[0].name.casefold() == old.casefold():
                self._name_frames(name, row.first, row.last)
        if not row.by_names:
            called = row.action.name
            name_action(row.action, name)
            call_tracks(self.lead, called, row.action)
        for marker in markers:
            marker.name = clips.label(name)
        self.pair_rigs()

    def _scenes(self) -> list[bpy.types.Scene]:
        """Return the scenes that show the model: each has markers of its own."""
        return scenes_of(self.chosen.whole, self.context.scene)

    def _mark(self, name: str, first: int, count: int) -> None:
        for scene in self._scenes():
            clips.mark(scene, [Clip(name, first, count)])

    def _markers(self, row: ListedClip) -> list[tuple[bpy.types.Scene, Any]]:
        """Return an animation's markers, and the scenes that have them."""
        place = clips.label(row.name), row.first
        every = [(scene, marker) for scene in self._scenes() for marker in scene.timeline_markers]
        return [(scene, marker) for scene, marker in every if (marker.name, marker.frame) == place]

    def _unmark(self, row: ListedClip) -> None:
        for scene, marker in self._markers(row):
            scene.timeline_markers.remove(marker)

    def _name_frames(self, name: str, first: int, last: int) -> None:
        """Name frames after an animation, as games number them."""
        frames = range(first, last + 1)
        edit_frames.rename(self._model().meshes, dict(zip(frames, numbered(name, len(frames)), strict=True)))

    def _model(self) -> edit_frames.FrameModel:
        return edit_frames.model_frames(self.chosen.whole, self.chosen.collection, self.context.scene)

    def _show_whole(self) -> None:
        """Let the model show all its frames, which is where they can be changed."""
        whole = next((row for row in self.rows() if row.whole), None)
        if whole is not None and whole.action not in self.playing():
            self.play(whole, self.context.scene)

    def _rewrite(self, order: list[int], new: range) -> None:
        """Give the model other frames; `new` are the places of copies."""
        self.chosen.keep_apart(self.context)
        edit_frames.rewrite(self._model(), order, new)
        self._look_again()
        self.context.scene.frame_set(self.context.scene.frame_current)  # keys have other places: what shows is active

    def _look_again(self) -> None:
        """Know the frames that there are now."""
        self.lead = self.keyed[0].data.shape_keys
        self.finder, self.num_frames = KeyFinder(self.lead), len(frame_blocks(self.lead))

    def can_do(self, what: str, row: ListedClip) -> bool:
        """Tell whether something can be done: what shows no run of frames has no place among them."""
        return super().can_do(what, row) and (what != MOVE or row.first >= 0)


def _keep(keys: Block, action: Block) -> None:
    """Keep an action with shape keys that no import made, in a muted track."""
    animation = keys.animation_data or keys.animation_data_create()
    track = animation.nla_tracks.new()
    track.name = action.name
    track.strips.new(action.name, 0, action)
    track.mute = True


def _rate_of(chosen: Choice) -> float:
    """Return the frames per second at which the games of a model's format play."""
    file = None if chosen.collection is None else chosen.collection.get(FILE)
    suffix = PurePath(file).suffix.lower() if isinstance(file, str) else ""
    row = next((row for row in formats.ROWS if suffix and suffix in row.suffixes), None)
    return 0.0 if row is None else float(row.vertex.frame_rate)


def part_rows(collection: bpy.types.Collection | None, whole: Block, num_frames: int) -> list[ListedClip]:
    """Return the rows of the table beside a part's file that the part has frames for; none where there is no such."""
    file = None if collection is None else collection.get(FILE)
    part = Path(file).stem.lower() if isinstance(file, str) else ""
    if not isinstance(file, str) or part not in (LOWER, UPPER, WHOLE):
        return []
    try:
        own = user_disk().file(Path(file))
        found = own.folder.find_first((), [TABLE]) if own.is_file() else None
        table = None if found is None else read(found.read())
    except ModelError:
        return []
    named = [] if table is None else [clip for clip in table.clips if part in clip.parts]
    return [
        ListedClip(c.name, c.first, c.length, c.frame_rate, c.loop, action=whole, by_names=True, of_table=True)
        for c in named
        if c.first >= 0 and c.last < num_frames
    ]
