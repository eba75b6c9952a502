"""Animations of armatures that keep files of frames: all rows of these, whether their actions are made or not."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import bpy

from ...blender.compat import Block
from ...blender.skeletal import kept_frames
from ...blender.skeletal.kept_frames import KeptFile, Key
from ..import_.kept_frames import make_each, make_rows
from .listed import ADD, DUPLICATE, REMOVE, RENAME, ListedClip
from .rigs import RigAnimations

OF_FILES = "animations of its game's files stay in their places, and games ask for them by name"


class KeptAnimations(RigAnimations):
    """The rows of the files that an armature keeps, in their order, and its other actions behind."""

    def __init__(self, rig: Block) -> None:
        super().__init__(rig)
        self.can = frozenset((ADD, REMOVE, DUPLICATE, RENAME))
        self.why = OF_FILES

    @cached_property
    def files(self) -> list[KeptFile]:
        """The files."""
        return kept_frames.kept_files(self.rig)

    @property
    def keys(self) -> list[Key]:
        """Return the numbers of all rows, in their order."""
        return [(nth, place) for nth, file in enumerate(self.files) for place in range(len(file.rows))]

    def rows(self) -> list[ListedClip]:
        """Return the rows of the files, and behind them what the armature has of its own."""
        own = super().rows()
        made = {row.action: row for row in own}
        of_row = kept_frames.made_of(self.files, [row.action for row in own])
        listed = [made[of_row[key]] if key in of_row else self._unmade(key) for key in self.keys]
        taken = {of_row[key] for key in self.keys if key in of_row}
        return [*listed, *(row for row in own if row.action not in taken)]

    def _unmade(self, key: Key) -> ListedClip:
        clip = self.files[key[0]].rows[key[1]].clip
        nothing: Any = None
        return ListedClip(
            clip.name, 0, clip.length, clip.frame_rate, clip.loop, action=nothing, unmade=key
        )  # frames as its action will have them

    def make(self, rows: Iterable[ListedClip], scene: bpy.types.Scene) -> tuple[int, list[str]]:
        """Make the actions of rows that have none yet; returns how many, and why others can't be made, in sentences."""
        made, failed = make_each(self.rig, [row.unmade for row in rows if row.unmade is not None], scene)
        return len(made), failed

    def made(self, row: ListedClip, scene: bpy.types.Scene | None = None) -> ListedClip:
        """Return a row with its action, which is made if it has none."""
        if row.unmade is None:
            return row
        context: Any = bpy.context
        return self._row(make_rows(self.rig, [row.unmade], scene or context.scene)[row.unmade])

    def play(self, row: ListedClip, scene: bpy.types.Scene) -> None:
        """Let the armature play a row, whose action is made if it has none."""
        super().play(self.made(row, scene), scene)

    def duplicate(self, row: ListedClip, name: str) -> str:
        """Copy a row's action: a row that is new."""
        copied = super().duplicate(self.made(row), name)
        action = bpy.data.actions[copied]
        origin = kept_frames.origin_of(action)
        if origin is not None:
            kept_frames.note_row(action, origin, is_copy=True)
        return copied

    def add(self, name: str, first: int, last: int) -> str:
        """Make an action of some frames of the one that plays: a row that is new, of the same file."""
        playing = self.playing()
        added = super().add(name, first, last)
        origin = kept_frames.origin_of(playing[0])
        if origin is not None and added in bpy.data.actions:
            kept_frames.note_row(bpy.data.actions[added], origin, is_copy=True)
        return added

    def rename(self, row: ListedClip, name: str) -> None:
        """Rename a row; an animation that is a file stays, and what is called otherwise is a new one."""
        super().rename(self.made(row), name)

    def can_do(self, what: str, row: ListedClip) -> bool:
        """Tell whether something can be done: no row of the files can be removed, nor all frames of one renamed."""
        key = row.unmade or (None if row.action is None else kept_frames.stands_for(self.files, row.action))
        is_all = key is not None and self.files[key[0]].rows[key[1]].said is None
        refused = () if key is None else (REMOVE, RENAME) if is_all else (REMOVE,)
        return super().can_do(what, row) and what not in refused
