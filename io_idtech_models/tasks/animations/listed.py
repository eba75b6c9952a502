"""What a list of animations is: its clips, and what can be done with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from typing import Any, NoReturn

import bpy

from ...blender import names
from ...blender.compat import Block, refuse_tweak_mode
from ...blender.linked import THERE, is_linked, refuse_linked
from ...blender.properties import FPS, LOOP, number
from ...model.clips import Clip
from ...reporting import LimitError

ADD, REMOVE, DUPLICATE, MOVE, RENAME = "ADD", "REMOVE", "DUPLICATE", "MOVE", "RENAME"
EVERYTHING = frozenset((ADD, REMOVE, DUPLICATE, MOVE, RENAME))
DONE = {REMOVE: "removed", DUPLICATE: "duplicated", MOVE: "moved", RENAME: "renamed"}
ALL_FRAMES = "All Frames"


@dataclass(frozen=True, eq=False, kw_only=True)
class ListedClip(Clip):
    """An animation in the list: frames of the model, or of the action where it has none."""

    action: Block  # None of one that is not made yet
    unmade: tuple[int, int] | None = None  # which row of which file that the rig keeps: see `kept`
    whole: bool = False  # all frames of the model one by one, which is no animation of its own
    by_names: bool = False  # frames that are named alike; no action plays them alone, but the whole's
    of_table: bool = False  # so are these, and it is a table beside the file that names them

    @property
    def key(self) -> str:
        """Return what tells it from the others: the name of its action, or where it has none its own and its place."""
        if self.unmade is not None:
            return f"{self.name}@{self.unmade[0]}/{self.unmade[1]}"
        return named_key(self.name, self.first) if self.by_names else str(self.action.name)

    @property
    def label(self) -> str:
        """Return what to show."""
        return ALL_FRAMES if self.whole else self.name


class Animations:
    """The animations of a model. What a kind of model can't do is not among its `can`, and refused in a sentence."""

    can = EVERYTHING
    why = ""  # it can't do the rest

    def rows(self) -> list[ListedClip]:
        """Return all animations, in the order in which files have them."""
        raise NotImplementedError

    def own_rows(self) -> list[ListedClip]:
        """Return the animations whose frames are the active object's, without that of all frames."""
        return [row for row in self.rows() if not row.whole]

    def playing(self) -> list[Block]:
        """Return the actions that the model plays now."""
        raise NotImplementedError

    def default_name(self) -> str:
        """Return what an animation that is added may be called."""
        return "new"

    def default_range(self, first: int, last: int) -> tuple[int, int]:
        """Return the numbers that rows would have for frames of the scene."""
        return first, last

    def play(self, row: ListedClip, scene: bpy.types.Scene) -> None:
        """Let the model play an animation, and the scene show it from its first frame to its last."""
        raise NotImplementedError

    def make(self, rows: Iterable[ListedClip], scene: bpy.types.Scene) -> tuple[int, list[str]]:
        """Make the actions of rows that have none yet, see `kept`; others have theirs.

        Returns how many, and why others can't be made, in sentences.
        """
        return 0, []

    def playing_row(self, rows: list[ListedClip]) -> ListedClip | None:
        """Return which of the animations plays."""
        playing = self.playing()
        return next((row for action in playing for row in rows if row.action == action), None)

    def add(self, name: str, first: int, last: int) -> str:
        """Make an animation of some frames; returns its key."""
        self.refuse("made of frames")

    def remove(self, row: ListedClip) -> None:
        """Remove an animation."""
        self.refuse("removed")

    def duplicate(self, row: ListedClip, name: str) -> str:
        """Make a copy of an animation behind it, to be edited apart; returns its key."""
        self.refuse("duplicated")

    def move(self, row: ListedClip, step: int) -> None:
        """Move an animation up (-1) or down (1) in the order of the file."""
        self.refuse("moved")

    def rename(self, row: ListedClip, name: str) -> None:
        """Give an animation, and what is named after it, another name in files."""
        self.refuse("renamed")

    def refuse(self, what: str) -> NoReturn:
        """Refuse what this kind of model can't do."""
        raise LimitError(f"animations of this model can't be {what}: {self.why}")

    def demand(self, what: str, row: ListedClip) -> None:
        """Refuse what can't be done with an animation, or would not last; raises LimitError."""
        if what == DUPLICATE:
            self.demand_own()
        elif is_linked(row.action):
            way = f"{THERE}, or duplicate it"
            raise LimitError(f"'{row.name}' can't be {DONE[what]}: it is linked from another .blend; {way}")
        if not self.can_do(what, row):
            if row.whole:
                raise LimitError(f"all frames can't be {DONE[what]}: click an animation in the list")
            self.refuse(DONE[what])

    def stand_alone(self) -> None:
        """Have animations of their own from now on, where a copy of the model has the same."""

    def owners(self) -> list[Block]:
        """Return the objects that keep the animations: to them one is added."""
        return []

    def demand_own(self) -> None:
        """Refuse, with LimitError, to add where that would not last, to a model of another .blend, or in tweak mode."""
        refuse_linked(self.owners(), THERE, overridden=False)
        self.demand_no_tweak()

    def demand_no_tweak(self) -> None:
        """Refuse, with LimitError, what can't be played while the NLA editor tweaks a strip."""
        for player in self.players():
            refuse_tweak_mode(player)

    def players(self) -> list[Block]:
        """Return the data-blocks that play the animations: to one that is added, too."""
        return []

    def can_do(self, what: str, row: ListedClip) -> bool:
        """Tell whether something can be done with an animation: rows of a table beside the file stay as they are."""
        return what in self.can and not row.whole and not row.of_table

    @contextmanager
    def markers_at_home(self) -> Iterator[None]:
        """Let markers of the model's animations stand at its frames meanwhile, and then where what plays has these."""
        yield

    def find(self, name: str) -> ListedClip:
        """Return the animation of a name, that of its action or the one in files; "": the one that plays.

        Raises:
            LimitError: there is none.
        """
        rows = self.rows()
        if name == ALL_FRAMES:
            found = next((row for row in rows if row.whole), None)
        elif not name:
            found = self.playing_row(rows)
        else:
            called = [row for row in rows if name in {row.key, row.name}]
            found = min(called, key=lambda row: (row.whole, row.key != name), default=None)
        if found is None:
            raise LimitError(self.lack_of(name) if name else "no animation plays: click one in the list")
        return found

    def lack_of(self, name: str) -> str:
        """Return that no animation is called so, in words."""
        return f"there is no animation '{name}'"


def named_key(name: str, first: int) -> str:
    """Return the key of an animation that has no action."""
    return f"{name}@{first}"


def name_action(action: Block, name: str) -> None:
    """Give an action the name of an animation in files: Blender may put a number behind it, which no file gets."""
    action.name = names.fit(name) or "frames"
    names.remember(action, name)


def free_name(name: str, rows: list[ListedClip]) -> str:
    """Return a name that no animation has yet: another number at its end."""
    taken = {row.name.casefold() for row in rows}
    found, number_ = f"{name}_copy", 1
    while found.casefold() in taken:
        number_ += 1
        found = f"{name}_copy{number_}"
    return found


def fit_scene(scene: bpy.types.Scene, first: float, last: float) -> None:
    """Let a scene play from a frame to another, and stand between them."""
    start, end = ceil(first), max(ceil(first), int(last))
    if scene.use_preview_range:
        scene.frame_preview_start, scene.frame_preview_end = start, end
    scene.frame_start, scene.frame_end = start, end
    scene.frame_set(scene.frame_current if start <= scene.frame_current <= end else start)


def said(action: Block, rate: float = 0.0, loop: int = 0) -> dict[str, Any]:
    """Return rate and loop as an action's properties say; the given where they say nothing."""
    return {"frame_rate": number(action, FPS, rate), "loop": int(number(action, LOOP, loop))}


def swapped(rows: list[ListedClip], row: ListedClip, step: int) -> tuple[ListedClip, ListedClip]:
    """Return an animation and its neighbour, in the order of the list.

    Raises:
        LimitError: it is the first, or the last.
    """
    own = [each for each in rows if not each.whole]
    place = next(nth for nth, each in enumerate(own) if each.key == row.key)
    other = place + (1 if step > 0 else -1)
    if not 0 <= other < len(own):
        raise LimitError(f"'{row.name}' is the {'last' if step > 0 else 'first'} animation already")
    return own[min(place, other)], own[max(place, other)]
