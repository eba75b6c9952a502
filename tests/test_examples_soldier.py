"""The Trooper as a whole character: what his `.char` names is there, and a game has nothing to say of it."""

from __future__ import annotations

from pathlib import Path

from examples import soldier
from io_idtech_models.assets.character import problems
from io_idtech_models.game.character.files import BODY, HEAD
from io_idtech_models.game.character.kinds import character_of
from io_idtech_models.game.folders import Disk
from tests.samples import PROJECT

GAME = PROJECT / "examples/trooper"


def test_he_is_whole():
    found = character_of(Disk().file(Path(GAME / soldier.CHAR)))
    assert not found.missing and not problems(found, "et")
    assert {piece.kind: (piece.on, piece.tag) for piece in found.pieces} == {
        "head": (BODY, "tag_head"), "md3_back": (BODY, "tag_back"), "md3_hat": (HEAD, "tag_mouth"),
    }  # fmt: skip
    assert [row.name for motion in found.motions for row in motion.rows] == ["stand", "walk", "salute"]
    assert len(found.head_rows) == 16 and found.head_rows[1].last == soldier.LOOK


def test_his_head_comes_back_to_where_it_looked():
    turns = soldier.looks()
    assert len(turns) == 1 + 2 * soldier.LOOK == len(soldier.head().frame_names)
    assert max(turns) == -min(turns) > 30 and abs(turns[soldier.LOOK]) < 1e-9
