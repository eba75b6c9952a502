"""A head's own frames in motion: each row of its table an action on the root of the head, as rows of a player are."""

from __future__ import annotations

from collections.abc import Sequence

from ...blender.player.assembly import PartBuilt
from ...blender.player.build import play_row
from ...blender.player.rows import WHOLE_ROW, keep, make_row, make_whole
from ...blender.provenance import MODEL_ID
from ...model.clips import Clip


def animate_head(head: PartBuilt, rows: Sequence[Clip], rate: float) -> None:
    """Make the actions of a head's rows, at the scene's frames per second, and let it play the first, as games do."""
    count, identity = head.built.num_frames, str(head.root.get(MODEL_ID, ""))
    if count < 2 or not identity or not rows:
        return
    every = make_whole(head.root, count, identity)
    every.name = f"{WHOLE_ROW} ({head.kind})"
    actions = [make_row(row, identity, rate / row.frame_rate, count) for row in rows]
    keep(head.root, actions)
    play_row(head.root, actions[0])
