"""Characters: what they need, and what a game would miss or refuse; without Blender."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..game.character.files import BODY, CharacterFiles
from ..game.store import GameFile
from ..model.limits.games import ERROR, WARNING
from ..model.wording import listed
from ..reporting import ModelError
from .load import load

CHARACTER = "character"


def facts(character: CharacterFiles) -> dict[str, Any]:
    """Return what `info` shows of a character, as plain values."""
    return {
        "format": CHARACTER,
        "name": character.name,
        "game": character.game,
        "entries": dict(character.entries),
        "skin": character.skin_name,
        "body": _place(character.body),
        "worn": _place(character.skin),
        "motions": [{"file": motion.file.place, "animations": len(motion.rows)} for motion in character.motions],
        "pieces": [
            {
                "kind": piece.kind,
                "on": piece.on,
                "tag": piece.tag,
                "file": piece.file.place,
                "worn": _place(piece.skin),
            }
            for piece in character.pieces
        ],
        "missing": list(character.missing),
    }


def _place(file: GameFile | None) -> str | None:
    return None if file is None else file.place


def problems(character: CharacterFiles, game: str) -> list[tuple[str, str]]:
    """Return what is missing, and what a game would refuse or not find: severity and text."""
    found = [(WARNING, sentence) for sentence in character.missing]
    found += [(ERROR if game == character.game else WARNING, sentence) for sentence in character.refused]
    if character.body is not None:
        found += _faults(
            character.body, BODY, character.tags.get(BODY, ()), [motion.file for motion in character.motions[:1]]
        )
    for piece in character.pieces:
        found += _faults(piece.file, piece.kind, character.tags.get(piece.kind, ()))
    return list(dict.fromkeys(found))


def _faults(
    file: GameFile, what: str, wanted: tuple[str, ...], bones: Sequence[GameFile] = ()
) -> list[tuple[str, str]]:
    """Return what is broken in a model, and which tags it lacks that the game's own code asks for."""
    try:
        model = load(file, bones).model
    except ModelError as error:
        return [(ERROR, f"'{file.name}': {error}")]
    there = {tag.name.lower() for tag in getattr(model, "tags", ())}
    lacking = [tag for tag in wanted if tag not in there]
    return (
        [(WARNING, f"the {what} '{file.name}' lacks tags that the game asks for: {listed(lacking)}")] if lacking else []
    )
