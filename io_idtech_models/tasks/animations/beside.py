"""Animations of a player's part that was imported alone: the rows of the table beside its file."""

from __future__ import annotations

from pathlib import Path

import bpy

from ...blender.compat import Block
from ...blender.provenance import FILE
from ...game.player.animation_cfg import LOWER, UPPER, WHOLE, read
from ...reporting import ModelError
from ..import_.games import user_disk
from .rows import ListedClip

TABLE = "animation.cfg"


def part_rows(collection: bpy.types.Collection | None, whole: Block, num_frames: int) -> list[ListedClip]:
    """Return the rows of the table beside a part's file that the part has frames for; none where there is no such."""
    file = None if collection is None else collection.get(FILE)
    part = Path(file).stem.lower() if isinstance(file, str) else ""
    if not isinstance(file, str) or part not in (LOWER, UPPER, WHOLE) or not Path(file).is_file():
        return []
    try:
        found = user_disk().file(Path(file)).folder.find_first((), [TABLE])
        table = None if found is None else read(found.read())
    except ModelError:
        return []
    named = [] if table is None else [clip for clip in table.clips if part in clip.parts]
    return [
        ListedClip(c.name, c.first, c.length, c.frame_rate, c.loop, action=whole, by_names=True, of_table=True)
        for c in named
        if c.first >= 0 and c.last < num_frames
    ]
