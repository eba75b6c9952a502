"""A file of frames that a table takes apart, with what was edited in the actions of its rows.

An action that shows what its row's frames did changes nothing, nor does one whose keys nobody has changed where all
frames are shown otherwise, as on bones that were rolled. What it shows otherwise takes the place of these frames,
unless there are more or fewer by now, or another row shows some of them, too: then they go behind all frames, and the
row says where. So an edit of one row is an edit of no other. A new row is of the frames that show it already, if some
do, as those of a copy that nobody edited; else its own go behind all frames.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...blender import names
from ...blender.leaders import cast
from ...blender.skeletal import gather_motion
from ...blender.skeletal.kept_frames import KeptFile, KeptRow
from ...blender.skeletal.made_keys import frames_as_made
from ...blender.skeletal.rig_scene import RigScene
from ...blender.skeletal.source_frames import SAME_PLACE, SAME_TURN
from ...game.aninc import Row, RowEdit
from ...model import alignment
from ...model.bounds import nowhere, set_bounds
from ...model.clips import Clip
from ...model.joint_scales import warn_of_lost_scales
from ...model.skeletal import Animation, SkeletalModel
from ...model.transforms import same_turns
from ...reporting import LimitError, listed, plural
from ..import_ import aninc as animation_tables
from ..import_.kept_frames import table_row

log = logging.getLogger(__name__)
SAME_RATE = 1e-3  # frames per second
ALL_GONE = "all frames of '%s' are without those that '%s' shows: its own are behind all others now"
AS_MANY = "'%s' has %s in all frames of '%s' now, and these are written (not the %d that it had)"


@dataclass(frozen=True, eq=False)
class Part:
    """Frames that an action shows otherwise than its file had them."""

    first: int  # where they begin in the file
    animation: Animation
    began: int  # where those of its source began; -1: nowhere
    action: Any = None
    some: NDArray[np.int64] | None = None  # (n,) which of its frames those are; None: all

    @property
    def frames(self) -> NDArray[np.int64]:
        """Return which frames of the animation are meant, (n,)."""
        return np.arange(self.animation.num_frames) if self.some is None else self.some


class FileEdits:
    """A file of frames on its way out.

    `read` gives all its frames: as they came, or as an action shows them.
    """

    keeps_rest = False  # frames behind those that an action of all shows stay in the file

    def __init__(
        self, export: RigScene, model: SkeletalModel, file: KeptFile, read: Callable[[], Animation], game: str
    ) -> None:
        self.export, self.model, self.file, self.game = export, model, file, game
        self.read = read
        self.action: Any = None  # of all frames, if they are as one shows them
        self.rows: list[RowEdit] = []
        self.parts: list[Part] = []
        self.following: list[str] = []  # rows whose frames were edited where all are, and not in their own actions
        self.end = file.num_frames
        self.names = {row.clip.name.lower() for row in file.rows[1:]}
        self.now: dict[KeptRow, str] = {}  # what rows are called by now

    @property
    def name(self) -> str:
        """Return what the file is called in messages."""
        return PurePath(self.file.place).name

    @cached_property
    def whole(self) -> Animation:
        """All frames, without what the actions of rows show."""
        return self.read()

    def gather(self, action: Any) -> Animation:
        """Return what an action is on the armature, with bounds where it was edited."""
        found = gather_motion.gather_action(self.export, cast(self.export.rig, action))
        warn_of_lost_scales(found)
        found.keep_bounds = True
        set_bounds(found, self.model)
        return found

    def called(self, own: Mapping[int, Any]) -> dict[int, str]:
        """Return what rows are called by now, by their places; one that took another's name keeps its own: said."""
        before = {place: row.clip.name for place, row in enumerate(self.file.rows) if row.said is not None}
        found = before | {place: names.file_name_of(action) for place, action in own.items()}
        while True:
            others = Counter(name.lower() for place, name in found.items() if place in before)
            is_other = {place for place in own if place in before and found[place].lower() != before[place].lower()}
            twice = next((place for place in sorted(is_other) if others[found[place].lower()] > 1), None)
            if twice is None:
                break
            text = "'%s' keeps its name in the table, '%s' has a row '%s' already: rename the action"
            log.warning(text, before[twice], self.name, found[twice])
            found[twice] = before[twice]
        self.names = {name.lower() for name in found.values()}
        self.now = {self.file.rows[place]: name for place, name in found.items()}
        return found

    def take(self, row: KeptRow, action: Any, name: str) -> None:
        """Take what an action of a row shows, and says; the row is to be called so."""
        animation = self.gather(action)
        said, span, clip = table_row(row), self._span_of(row, lambda: animation), row.clip
        shown, is_as_made = animation, is_source(animation, clip.length)
        made = None if is_as_made else self._made(animation, action)
        is_as_made |= made is not None and len(made) == clip.length and bool(made.all())
        if not span:
            log.warning(ALL_GONE, self.name, name)
            first = self._append(animation, clip.first, action)
        elif is_as_made:
            first, shown = span[0], self._of_whole(row, span, animation)
        elif len(span) != clip.length:
            text = "'%s' was edited, and has another number of frames in all of '%s': its own are behind all others now"
            log.warning(text, name, self.name)
            first = self._append(animation, clip.first, action)
        elif self._is_shown(animation, span[0], clip, made):
            first = span[0]
        else:
            first = self._place(row, Part(span[0], animation, clip.first, action), made)
        if isinstance(said, Row):
            new = self._row(action, shown, first, said)
            new.name = name
            if new != said:
                self.rows.append(RowEdit(self.file.game_name, said, new))

    def take_along(self, row: KeptRow) -> None:
        """Let a row that no action shows be where its frames are by now, or behind all others where they are gone."""
        said, clip = table_row(row), row.clip
        if self.spans is None or not isinstance(said, Row):
            return
        came = self.whole.of_frames(np.arange(clip.first, clip.first + clip.length))
        span = self._span_of(row, lambda: came)
        if not span:
            log.warning(ALL_GONE, self.name, clip.name)
            span = range(self._append(came, 0, None), self.end)  # which are told by all frames' numbers
        elif len(span) != clip.length:
            log.warning(AS_MANY, clip.name, plural(len(span), "frame"), self.name, clip.length)
        if (span[0], len(span)) != (clip.first, clip.length):
            new = replace(said, first=span[0], loop=animation_tables.fitting_loop(said, len(span)))
            new.length = said.length if len(span) == clip.length == self._shown(said) else len(span)
            self.rows.append(RowEdit(self.file.game_name, said, new))

    def _span_of(self, row: KeptRow, shown: Callable[[], Animation]) -> range:
        """Return which of all frames are a row's: they may have moved, or be more or fewer; none if all are gone.

        `shown` gives what the row shows.
        """
        first, length = row.clip.first, row.clip.length
        homes = self.homes
        if homes is None or self.spans is None:
            return range(first, first + length)
        begins, ends = self.spans
        found, wanted = range(begins[first], ends[first + length - 1]), np.arange(first, first + length)
        if len(found) == length:
            return found
        left = wanted[wanted < len(homes)]
        if self.keeps_rest and (homes[left] == left).all():
            return range(first, first + length)
        moved = [
            at for at in np.flatnonzero(homes == first).tolist() if np.array_equal(homes[at : at + length], wanted)
        ]
        elsewhere = moved[0] if moved else self._found(shown())  # poses may be in the file more than once
        return found if elsewhere is None else range(elsewhere, elsewhere + length)

    def _is_in_whole(self, animation: Animation, first: int) -> bool:
        """Tell whether all frames, if an action shows them otherwise than the file, have an animation at some place."""
        whole = self.edited_whole
        if whole is None or is_source(whole, self.file.num_frames) or first + animation.num_frames > whole.num_frames:
            return True
        return bool(_shown_from(first, whole, animation).all())

    def _of_whole(self, row: KeptRow, span: range, animation: Animation) -> Animation:
        """Return what a row's action shows if all frames have as many of the row, or else those, which is said."""
        if len(span) == row.clip.length:
            if not self._is_in_whole(animation, span[0]):
                self.following.append(self.now[row])
            return animation
        log.warning(AS_MANY, self.now[row], plural(len(span), "frame"), self.name, row.clip.length)
        as_many = np.minimum(np.arange(len(span)), animation.num_frames - 1)  # which is all that a table says
        return animation.of_frames(as_many)

    @property
    def edited_whole(self) -> Animation | None:
        """All frames, if an action shows them otherwise than the file had them."""
        return self.whole

    @cached_property
    def homes(self) -> NDArray[np.int64] | None:
        """Which frame of the file each of all frames is, (F,); None where they are the file's, in its order."""
        whole = self.edited_whole
        origin = None if whole is None else gather_motion.origin_of(self.export, self.action, whole)
        return None if origin is None else origin.homes

    @cached_property
    def spans(self) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
        """Where runs of the file's frames begin, and are over, in all frames, or None: `alignment.spans`."""
        return None if self.homes is None else alignment.spans(self.homes, self.file.num_frames)

    def _made(self, animation: Animation, action: Any) -> NDArray[np.bool_] | None:
        """Tell in which frames (F,) nobody has changed a key of a row's action, an `animation` on the bones by now.

        None where all frames are those of the file, on whatever bones.
        """
        if self.edited_whole is None or animation.times is None:
            return None
        return frames_as_made(self.export.rig, action, animation.times)

    def _is_shown(self, animation: Animation, first: int, clip: Clip, made: NDArray[np.bool_] | None) -> bool:
        """Tell whether all frames have an animation from some place on, as the bones move by now."""
        self.demand_bones(animation)
        return animation.num_frames == clip.length and bool(self._is_as_whole(animation, first, made).all())

    def _place(self, row: KeptRow, part: Part, made: NDArray[np.bool_] | None) -> int:
        """Put the frames of an edited row, a `part` where they were, where they belong; returns where they begin.

        Nobody has changed a key of those that are `made` (F,).
        """
        clip, animation = row.clip, part.animation
        others = [
            other.clip.name
            for other in self.file.rows[1:]
            if other is not row and other.clip.first <= clip.last and clip.first <= other.clip.last
        ]
        if animation.num_frames == clip.length and not others:
            shown = self._is_as_whole(animation, part.first, made)
            if not self._shows(animation, part.first)[shown].all() and self.edited_whole is not None:
                self.following.append(self.now[row])
            self.parts.append(replace(part, some=np.flatnonzero(~shown)))
            return part.first
        if others:
            text = "'%s' shares frames of '%s' with %s, which stay: its own are behind all others now"
            log.warning(text, self.now[row], self.name, listed(others))
        return self._append(animation, clip.first, part.action)

    def _append(self, animation: Animation, began: int, action: Any) -> int:
        first = self.end
        self.parts.append(Part(first, animation, began, action))
        self.end += animation.num_frames
        return first

    def add(self, action: Any, began: int = -1) -> None:
        """Take an action that is no row yet: a new one; the frames that it was a copy of `began` there."""
        name = names.file_name_of(action)
        if name.lower() in self.names:
            text = "'%s' is left out: '%s' has a row of that name already, rename the action"
            log.warning(text, action.name, self.name)
            return
        self.names.add(name.lower())
        animation = self.gather(action)
        self.demand_bones(animation)
        first = self._found(animation)
        first = self._append(animation, began, action) if first is None else first
        row = animation_tables.row_of(action, animation, first, self.game)
        self.rows.append(RowEdit(self.file.game_name, None, row))

    def _found(self, animation: Animation) -> int | None:
        """Return where all frames have a new animation already, as copies are that nobody edited; None: nowhere."""
        count, whole = animation.num_frames, self.whole if self.edited_whole is None else self.edited_whole
        taken = np.zeros(whole.num_frames, np.bool_)
        edited = [part for part in self.parts if self.action is None or part.action != self.action]
        for part in edited:
            taken[part.first : part.first + part.animation.num_frames] = True
        begins = np.flatnonzero(alike(whole, slice(None), animation, slice(1)))
        fitting = (first for first in begins.tolist() if not taken[first : first + count].any())
        return next((first for first in fitting if self._shows(animation, first).all()), None)

    def _row(self, action: Any, animation: Animation, first: int, said: Row) -> Row:
        """Return what a table is to say of a row, in its own words where these mean the same."""
        clip = said.clip
        if abs(animation.frame_rate - clip.frame_rate) <= SAME_RATE:
            animation = replace(animation, frame_rate=clip.frame_rate)
            new = animation_tables.row_of(action, animation, first, "")
            new.fps = said.fps
        else:
            new = animation_tables.row_of(action, animation, first, self.game)
        moved = (first, animation.num_frames) != (max(said.first, 0), self._shown(said))
        if not moved:  # a row may begin, or end, where there are no frames, and repeat more than there are
            new.first, new.length = said.first, said.length
            new.loop = said.loop if new.loop == animation_tables.fitting_loop(said, animation.num_frames) else new.loop
        new.text = said.text
        return new

    def _shown(self, said: Row) -> int:
        return min(said.clip.last + 1, self.file.num_frames) - max(said.clip.first, 0)

    def demand_bones(self, animation: Animation) -> None:
        """Refuse an animation of other bones than the file's; raises LimitError."""
        whole = self.whole
        if animation.joint_names != whole.joint_names or not np.array_equal(animation.parents, whole.parents):
            raise other_bones(animation.name, self.file)

    def finish(self) -> None:
        """Let rows that reach beyond the end of the file end there still, where frames are behind it now.

        Name rows that show what all frames do, and not what their own actions did.
        """
        if self.following:
            text = (
                "rows are written as all frames of '%s' show them, which were edited, where nobody edited their own "
                "actions: %s"
            )
            log.warning(text, self.name, listed(self.following))
        changed = {edit.old.key for edit in self.rows if edit.old is not None}
        for row in self.file.rows[1:] if self.end > self.file.num_frames else ():
            said = table_row(row)
            if isinstance(said, Row) and said.key not in changed and said.clip.last >= self.file.num_frames:
                self.rows.append(RowEdit(self.file.game_name, said, replace(said, length=row.clip.length)))

    def merged(self) -> Animation:
        """Return all frames, with what was edited in actions of rows: such frames have no time of the whole's own."""
        whole, count = self.whole, self.end
        grown = whole.of_frames(np.minimum(np.arange(count), whole.num_frames - 1))
        grown.edited = nowhere(count)
        for part in self.parts:
            shown, hints = part.animation, part.animation.source_frames
            frames = part.frames
            own = part.first + frames
            grown.positions[own], grown.rotations[own] = shown.positions[frames], shown.rotations[frames]
            grown.bounds[own] = shown.bounds[frames]
            if shown.edited is not None:
                grown.edited[own] = shown.edited[frames]
            if grown.times is not None:
                grown.times[own] = np.nan
            if grown.source_frames is not None:
                known = -1 if hints is None or part.began < 0 else hints[frames]
                grown.source_frames[own] = np.where(np.asarray(known) >= 0, known + part.began, -1)
        return grown

    def _is_as_whole(self, animation: Animation, first: int, made: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
        """Tell which frames of an animation (F,) are those that its source had, or as all frames show them there.

        Or are `made` (F,): nobody has changed a key of them.
        """
        count = animation.num_frames
        found = np.zeros(count, np.bool_) if made is None else made.copy()
        if animation.source is not None and animation.source_frames is not None:
            found |= (animation.source_frames == np.arange(count)[:, None, None]).all(axis=(1, 2))
        return found | self._shows(animation, first)

    def _shows(self, animation: Animation, first: int) -> NDArray[np.bool_]:
        """Tell which frames of an animation (F,) all frames show from some place on; none beyond their end."""
        whole = self.whole if self.edited_whole is None else self.edited_whole
        if first + animation.num_frames > whole.num_frames:
            return np.zeros(animation.num_frames, np.bool_)
        return _shown_from(first, whole, animation)


def _shown_from(first: int, whole: Animation, animation: Animation) -> NDArray[np.bool_]:
    """Tell which frames of an animation (F,) another shows, which has so many, from its frame `first` on."""
    return alike(whole, slice(first, first + animation.num_frames), animation, slice(None))


def alike(
    one: Animation, frames: slice, other: Animation, others: slice, place: float = SAME_PLACE, turn: float = SAME_TURN
) -> NDArray[np.bool_]:
    """Tell which frames of two animations, of so many frames each or one, show the same poses.

    Joints may be off by a `place`, in units, and a `turn`, in radians.
    """
    away = np.abs(one.positions[frames] - other.positions[others]).max(axis=(1, 2), initial=0.0)
    turned = same_turns(one.rotations[frames], other.rotations[others]).max(axis=1, initial=0.0)
    return np.asarray((away <= place) & (turned <= turn))


def is_source(animation: Animation, count: int) -> bool:
    """Tell whether an animation is, frame by frame, what its row was in its file."""
    hints, joints = animation.source_frames, animation.source_joints
    if hints is None or joints is None or animation.source is None or animation.num_frames != count:
        return False
    if len(joints) != len(animation.source.joint_names) or not np.array_equal(joints, np.arange(len(joints))):
        return False
    return bool((hints == np.arange(count)[:, None, None]).all())


def other_bones(name: str, file: KeptFile) -> LimitError:
    """Return what says that an animation is of other bones than a file's frames."""
    return LimitError(
        f"'{name}' has other bones than '{PurePath(file.place).name}': bones that were added, removed or renamed can't"
        " go into a character's frames, export them as files of their own"
    )
