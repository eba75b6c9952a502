"""Which actions of a character the rows of a player play that is made of it; those that have none yet are made."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...blender.compat import Context
from ...blender.playback import Take, used_actions
from ...blender.player.rig import Rig
from ...blender.skeletal.kept_frames import kept_files, unmade_of
from ...game.player.row_matching import Match, Rows, chosen_rows, match_rows
from ...reporting import LimitError
from ..import_.kept_frames import make_each


@dataclass(frozen=True, eq=False)
class Played:
    """What a player plays of a character's actions."""

    takes: dict[str, Take]  # all that the character has, by name
    matches: dict[str, Match]  # by row
    left: list[str]  # the names of those that no row plays


def played(rig: Rig, text: str, rows: Rows, context: Context) -> Played:
    """Return which action each row plays: those that `text` says, others by their names.

    Of animations that the armature keeps (`blender.skeletal.kept_frames`) those are made that a row plays.

    Raises:
        LimitError: the text makes no sense, or an animation can't be made.
    """
    takes = rig.takes()
    kept = unmade_of(kept_files(rig.armature), used_actions(rig.armature))
    unmade = {row.clip.name: key for key, row in kept.items() if row.said is not None and row.clip.name not in takes}
    called = sorted({*takes, *unmade})
    matches = match_rows(called, chosen_rows(text, called, rows), rows)
    wanted = {match.action for match in matches.values()}
    made, failed = make_each(rig.armature, [key for name, key in unmade.items() if name in wanted], context.scene)
    if failed:
        raise LimitError("; ".join(failed))
    if made:
        takes = rig.takes()
        given = {name: str(made[key].name) for name, key in unmade.items() if key in made}
        matches = {row: replace(match, action=given.get(match.action, match.action)) for row, match in matches.items()}
    return Played(takes, matches, [name for name in called if name not in wanted])
