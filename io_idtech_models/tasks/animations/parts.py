"""Animations of what hangs on a character's tag and has frames of its own: a head's."""

from __future__ import annotations

import bpy

from ...blender.compat import Block
from ...blender.player.build import play_row
from ...blender.player.rows import ROW, read_row, retime, rows_of
from ...blender.provenance import MODEL_ID, PLAYER
from ...model.clips import Clip
from ..import_.dressing import rate_of
from .listed import Animations, ListedClip, fit_scene

OF_HEAD = "rows of a head's table are sixteen, in the order that the game knows, and are not written"


def has_rows(root: Block) -> bool:
    """Tell whether a part plays rows of a table of its own."""
    return root.animation_data is not None and bool(rows_of(str(root.get(MODEL_ID, "")), [root]))


class PartAnimations(Animations):
    """The rows of a part's table."""

    can = frozenset()
    why = OF_HEAD

    def __init__(self, root: Block, scene: bpy.types.Scene) -> None:
        self.root, self.scene, self.identity = root, scene, str(root.get(MODEL_ID, ""))

    def playing(self) -> list[Block]:
        """Return what the part plays."""
        animation = self.root.animation_data
        return [] if animation is None or animation.action is None else [animation.action]

    def rows(self) -> list[ListedClip]:
        """Return all frames, and the rows in their order."""
        rate = rate_of(self.scene)
        actions = rows_of(self.identity, [self.root])
        tracks = [strip.action for track in self.root.animation_data.nla_tracks for strip in track.strips]
        listed = sorted(actions.items(), key=lambda pair: tracks.index(pair[1]) if pair[1] in tracks else len(tracks))
        found = []
        for name, action in listed:
            row = read_row(action, Clip(name, 0, 1), rate)
            found.append(ListedClip(name, row.first, row.count, row.frame_rate, row.loop, action=action))
        every = next((a for a in bpy.data.actions if a.get(PLAYER) == self.identity and a.get(ROW) == ""), None)
        if every is None:
            return found
        return [ListedClip("", 0, round(every.frame_range[1]) + 1, action=every, whole=True), *found]

    def play(self, row: ListedClip, scene: bpy.types.Scene) -> None:
        """Let the part play a row, while all else goes on; of all frames the scene shows each."""
        play_row(self.root, row.action)
        if row.whole:
            fit_scene(scene, 0, row.last)
        else:
            retime(row.action, rate_of(scene))
