"""Animations of players: the rows of their table, on legs and torso."""

from __future__ import annotations

from contextlib import suppress

import bpy

from ...blender.compat import Block
from ...blender.playback import keep, let_go
from ...blender.player.parts import PlayerFound, is_copied
from ...blender.player.rows import OWN, give_own, make_row, own_id, read_row, rows_of
from ...blender.provenance import PART
from ...game.player.animation_cfg import LOWER, NAMES, UPPER, WHOLE, WHOLE_NAMES, AnimationTable
from ...game.player.animation_edits import rank, with_clip
from ...model.clips import Clip
from ...reporting import LimitError
from ..import_.dressing import rate_of
from ..player.play import BOTH, LEGS, STARTS, TORSO, num_frames, play, whole
from ..player.tables import ADDED_RATE, blank, table_of
from .listed import ADD, REMOVE, Animations, ListedClip

LONE = {LOWER: LEGS, UPPER: TORSO}  # what the names of rows begin with that one part plays alone


class PlayerAnimations(Animations):
    """The rows of a player's table."""

    can = frozenset((ADD, REMOVE))
    why = "rows of a player's table have the names and places that the game knows"

    def __init__(self, player: PlayerFound, root: Block, scene: bpy.types.Scene) -> None:
        self.player, self.root, self.scene = player, root, scene
        self.table = table_of(player)
        self.known = {} if self.table is None else {row.name: row for row in self.table.by_name.values()}
        self.actions = rows_of(player.identity, list(player.parts.values()))

    def stand_alone(self) -> None:
        """Have rows that no copy of the player has."""
        if is_copied(self.player):
            give_own(self.player.identity, self.owners())
            self.actions = rows_of(self.player.identity, self.owners())

    def playing(self) -> list[Block]:
        """Return what the active part plays, and behind it what the others do."""
        roots = [self.root, *(root for root in self.player.parts.values() if root != self.root)]
        found = [root.animation_data.action for root in roots if root.animation_data is not None]
        return [action for action in dict.fromkeys(found) if action is not None]

    def rows(self) -> list[ListedClip]:
        """Return all frames, the table's rows in their order, and new ones behind.

        All frames are the active part's; where that has one alone they are the first part's that has more.
        """
        own = [name for name in self.known if name in self.actions]
        listed = [*own, *sorted(name for name in self.actions if name not in self.known)]
        found = [self._row(name) for name in listed]
        roots = [self.root, *(root for root in self.player.parts.values() if root != self.root)]
        wholes = ((whole(self.player, root), num_frames(root)) for root in roots)
        every = [ListedClip("", 0, count, action=action, whole=True) for action, count in wholes if action is not None]
        return [*every[:1], *found]

    def own_rows(self) -> list[ListedClip]:
        """Return the rows that the active part plays: others count another part's frames."""
        own = STARTS.get(str(self.root[PART]), ())
        return [row for row in super().own_rows() if row.name.startswith(own)]

    def _row(self, name: str) -> ListedClip:
        known = self.known.get(name)
        before = blank(name) if known is None or self.table is None else self.table.clip(known)
        row = read_row(self.actions[name], before, rate_of(self.scene))
        return ListedClip(name, row.first, row.count, row.frame_rate, row.loop, action=self.actions[name])

    def default_range(self, first: int, last: int) -> tuple[int, int]:
        """Return frames of the part: those of the scene where it plays them one by one."""
        most = num_frames(self.root) - 1
        return min(max(first, 0), most), min(max(last, 0), most)

    def play(self, row: ListedClip, scene: bpy.types.Scene) -> None:
        """Let the parts that have a row play it, while the others go on."""
        if row.whole:
            play(self.player, "", "", scene, lead=self.root)
            return
        shown = {kind: self._row_on(kind) for kind in (LOWER, UPPER)}
        starts = {kind: row.name.startswith(STARTS[kind]) for kind in (LOWER, UPPER)}
        if WHOLE in self.player.parts:
            play(self.player, row.name, row.name, scene)
            return
        legs, torso = (row.name if starts[kind] else shown[kind] for kind in (LOWER, UPPER))
        if not row.name.startswith(BOTH):  # what both did one no longer does
            legs, torso = ("" if name.startswith(BOTH) else name for name in (legs, torso))
        play(self.player, legs, torso, scene)

    def _row_on(self, kind: str) -> str:
        root = self.player.parts.get(kind)
        action = None if root is None or root.animation_data is None else root.animation_data.action
        return "" if action is None else next((name for name, own in self.actions.items() if own == action), "")

    def owners(self) -> list[Block]:
        """Return the roots of the parts."""
        return list(self.player.parts.values())

    def players(self) -> list[Block]:
        """Return the roots of the parts, which play rows."""
        return self.owners()

    def add(self, name: str, first: int, last: int) -> str:
        """Make a row of frames of the active part; its name says which parts play it."""
        name = name.upper()
        if not name:
            raise LimitError("the table has all animations that its game knows: let one's action show other frames")
        if name in self.actions:
            raise LimitError(f"there is a row {name} already")
        kinds = [kind for kind in (LOWER, UPPER) if name.startswith(STARTS[kind])]
        kinds = [WHOLE] if WHOLE in self.player.parts else kinds
        roots = {kind: self.player.parts[kind] for kind in kinds if kind in self.player.parts}
        if kinds and not roots:
            raise LimitError(f"the player has no part that plays {name}")
        if not roots:
            raise LimitError(f"'{name}' is no name for a row: it begins with LEGS_, TORSO_ or BOTH_")
        count = max(num_frames(root) for root in roots.values())
        if not 0 <= first <= last < count:
            raise LimitError(f"there are no frames {first} to {last}: the part has 0 to {count - 1}")
        row = Clip(name, first, last + 1 - first, ADDED_RATE, parts=tuple(roots))
        if self.table is None:
            raise LimitError("the player has no animation.cfg that could be read, to add a row to")
        with_clip(self._written(self.table), row)
        action = make_row(row, self.player.identity, rate_of(self.scene) / ADDED_RATE, count)
        own = own_id(self.player.parts.values())
        if own:
            action[OWN] = own
        for root in roots.values():
            if root.animation_data is None:
                root.animation_data_create()
            keep(root, action)
        self.actions[name] = action
        return str(action.name)

    def _written(self, table: AnimationTable) -> AnimationTable:
        """Return the table with the rows that are new by now, as a save writes it."""
        added = sorted(self.actions.keys() - self.known.keys(), key=rank)
        for name in added:
            with suppress(LimitError):  # a save names it
                table = with_clip(table, self._row(name))
        return table

    def default_name(self) -> str:
        """Return the first row that the table lacks and a part of the player could play."""
        taken = self.actions.keys() | self.known.keys()
        if self.table is not None and self.table.is_named:
            start = next((own for kind, own in LONE.items() if self.player.parts.get(kind) == self.root), BOTH)
            free = (f"{start}NEW{nth or ''}" for nth in range(len(taken) + 1))
            return next(name for name in free if name not in taken)
        order = WHOLE_NAMES if WHOLE in self.player.parts else NAMES
        return next((name for name in order if name not in taken), "")

    def remove(self, row: ListedClip) -> None:
        """Delete a row that the table has not; those that it has games ask for."""
        if row.whole or row.name in self.known:
            self.refuse("removed")
        for root in self.player.parts.values():
            let_go(root, row.action)
        self.actions.pop(row.name, None)
        bpy.data.actions.remove(row.action)

    def can_do(self, what: str, row: ListedClip) -> bool:
        """Tell whether something can be done: only new rows can be removed."""
        return super().can_do(what, row) and (what != REMOVE or row.name not in self.known)
