"""What a whole player does now, found so quickly that a panel may ask whenever it is drawn."""

from __future__ import annotations

from ...blender.compat import Block
from ...blender.player.rows import ROW
from ...game.player.animation_cfg import LOWER, UPPER, WHOLE
from ..export.subject import WholePlayer

PLAYING = {LOWER: "Legs", UPPER: "Torso", WHOLE: "Plays"}  # what plays animations of its own, and what to call it


def playing(player: WholePlayer) -> list[tuple[str, str]]:
    """Return what legs and torso play, each a label and an animation's name; "" for all frames of the file."""
    parts = player.parts
    return [(label, _played(parts[kind])) for kind, label in PLAYING.items() if kind in parts]


def _played(root: Block) -> str:
    action = None if root.animation_data is None else root.animation_data.action
    if action is None:
        return ""
    row = action.get(ROW)
    return row if isinstance(row, str) else str(action.name)
