"""Characters of Enemy Territory: what they need, and what a game would miss; without Blender."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..game.character.files import BODY, BODY_TAGS, HEAD, HEAD_TAGS, CharacterFiles
from ..game.store import GameFile
from ..model.limits.games import ERROR, WARNING
from ..model.wording import listed
from ..reporting import ModelError
from .load import load

CHARACTER = "char"
STRICT = "et"  # the game that refuses a file for a key that it does not know


def facts(character: CharacterFiles) -> dict[str, Any]:
    """Return what `info` shows of a character, as plain values."""
    return {
        "format": CHARACTER,
        "name": character.name,
        "entries": {entry.key: entry.value for entry in character.definition.entries},
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
    for entry in character.definition.unknown():
        text = f"'{character.file.name}', line {entry.line}: stock Enemy Territory refuses the key '{entry.key}'"
        found.append((ERROR if game == STRICT else WARNING, text))
    if character.body is not None:
        found += _faults(character.body, BODY, BODY_TAGS, [motion.file for motion in character.motions[:1]])
    for piece in character.pieces:
        found += _faults(piece.file, piece.kind, HEAD_TAGS if piece.kind == HEAD else ())
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
