"""What players of the scene play: rows of their tables, the legs' and the torso's apart, as games do it."""

from __future__ import annotations

from math import ceil
from typing import Any

import bpy

from ...blender.playback import changing_over, drop_solo
from ...blender.player.build import play_row
from ...blender.player.parts import PlayerFound
from ...blender.player.rows import ROW, retime, rows_of, wholes_of
from ...blender.roots import FRAME, curve_of_frame, follows_frame, tag_frames
from ...blender.vertex.shape_keys import frame_blocks
from ...blender.vertex.shown_keys import has_frames
from ...blender.vertex.source import frame_list
from ...game.player.animation_cfg import LOWER, UPPER, WHOLE
from ...game.player.animation_edits import rank
from ...reporting import LimitError
from ..import_.dressing import rate_of

LEGS, TORSO, BOTH = "LEGS_", "TORSO_", "BOTH_"
STARTS = {LOWER: (LEGS, BOTH), UPPER: (TORSO, BOTH), WHOLE: ("",)}


def offered(player: PlayerFound, part: str) -> list[str]:
    """Return the names of the rows that a part may play."""
    actions = rows_of(player.identity, list(player.parts.values()))
    return sorted((name for name in actions if name.startswith(STARTS[part])), key=lambda name: (rank(name), name))


def played(player: PlayerFound, part: str) -> str:
    """Return the name of the row that a part plays; "" for all frames of its file, and for what is no row."""
    root = player.parts.get(part)
    action = None if root is None or root.animation_data is None else root.animation_data.action
    rows = rows_of(player.identity, list(player.parts.values()))
    return next((name for name in offered(player, part) if rows[name] == action), "")


def shown_frame(root: Any, scene: bpy.types.Scene) -> int:
    """Return which frame of its file a part shows now."""
    curve = curve_of_frame(root)
    value = float(root.get(FRAME, 0.0) if curve is None else curve.evaluate(scene.frame_current))
    return min(max(round(value), 0), num_frames(root) - 1)


def play(
    player: PlayerFound, legs: str, torso: str, scene: bpy.types.Scene, fit_range: bool = True, lead: Any = None
) -> None:
    """Let a player's legs and torso play rows, "": all frames of their files, one by one, and the scene show them.

    A BOTH row of one part is played by both. Where all frames are shown the scene goes to the one that `lead`, a part's
    root, showed before, or where that has one alone another part: what was seen in a row is at hand to be edited.

    Raises:
        LimitError: there is no such row.
    """
    actions = rows_of(player.identity, list(player.parts.values()))
    wanted = {LOWER: legs.upper(), UPPER: torso.upper()}
    both = next((name for name in wanted.values() if name.startswith(BOTH)), "")
    rate = rate_of(scene)
    leads = [root for root in (lead, *player.parts.values()) if root is not None and num_frames(root) > 1]
    at = None if lead is None or legs or torso or not leads else shown_frame(leads[0], scene)
    for part, root in player.parts.items():
        if part not in STARTS:
            continue
        name = both or wanted.get(part, legs.upper())
        action = actions.get(name) if name else whole(player, root)
        if action is None and name:
            raise LimitError(f"there is no animation {name}")
        with changing_over([root]):
            drop_solo(root)
            play_row(root, action)
        if name and action is not None:
            retime(action, rate)
    if fit_range and not STARTS.keys().isdisjoint(player.parts):
        scene.frame_start, scene.frame_end = 0, last_frame(player)
        at = 0 if at is None and not 0 <= scene.frame_current <= scene.frame_end else at
    if at is not None:
        scene.frame_set(at)
    else:  # who follows the frame that shows is told of frames alone
        scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)


def last_frame(player: PlayerFound) -> int:
    """Return the scene's last frame of what a player's legs and torso play, which begins at 0."""
    ends = [1]
    for root in (root for part, root in player.parts.items() if part in STARTS):
        action = None if root.animation_data is None else root.animation_data.action
        of_row = action if action is not None and action.get(ROW) else None
        ends.append(num_frames(root) - 1 if of_row is None else ceil(of_row.frame_end - of_row.use_cyclic))
    return max(ends)


def whole(player: PlayerFound, root: Any) -> bpy.types.Action | None:
    """Return the action that shows all frames of a part; None if it has one frame, or the action is gone."""
    last = num_frames(root) - 1
    own = wholes_of(player.identity, list(player.parts.values()))
    fitting = [action for action in own if action.frame_range[1] == last] if last > 0 else []
    present = None if root.animation_data is None else root.animation_data.action
    others = {b.animation_data.action for b in bpy.data.objects if b != root and b.animation_data is not None}
    # A player may be there twice: its own first, then what no other part plays.
    return min(fitting, key=lambda action: (action != present, action in others), default=None)


def num_frames(root: Any) -> int:
    """Return how many frames a part has."""
    keyed = [block.data.shape_keys for block in root.children if has_frames(block)]
    keys = next((keys for keys in keyed if follows_frame(keys)), next(iter(keyed), None))
    if keys is not None:
        return len(frame_blocks(keys))
    home = next((c for c in root.users_collection if frame_list(c) is not None), None)
    found = None if home is None else frame_list(home)
    return tag_frames(root.children) if found is None else len(found[0])
