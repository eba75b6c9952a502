"""What must hold of the texts of Enemy Territory's characters: as they are read, and with what is edited in them."""

from __future__ import annotations

from dataclasses import replace

from fuzz.guard import BrokenError
from io_idtech_models.game.aninc import Row, RowEdit
from io_idtech_models.game.character.et import definition, group, texts
from io_idtech_models.game.lexer import decode
from io_idtech_models.reporting import FormatError, LimitError, ModelError

DEFINITION = b"""// x
characterDef
{
	Skin "medic"
	mesh "models/a/body.mdm" /* b */ animationgroup animations/a.anim
	hudhead "models/h.md3"
	weaponskin "odd" // c
}
"""
GROUPS = (
    b'animgroup\n{\n\tanimfile "a.mdx"\n\t{\n\t\t#include "t.aninc"\n\t\tone 1 2 3 4 5 6 0 // x\n\t}\n'
    b'\tanimfile b.mdx { two 1 2 3 4 5 6 1 "thr ee" 3 4 5 6.5 7 8 0 50 }\n}\n',
    b'animgroup {\n animfile "a.mdx" { #include "g.anim"\n#include "deep.aninc"\n }\n}',
)
TABLES = {
    "t.aninc": b"stand 0 40 40 20 0 0 0 // \xff\r\nwalk 41 10 10 20 60 0 0\r\nstand 1 2 3 4 5 6 0",
    "deep.aninc": b'#include "t.aninc"\n#include "deep.aninc"\nlast 1 2 3 4 5 6 0\n',
}
NAME, SKIN = "g.anim", "other"


def check_definition(data: bytes) -> None:
    """Read a character's file, and let it name another skin."""
    known = definition.read(data)
    if not all(isinstance(each, str) for each in known.complaints):
        raise BrokenError("what is wrong is no sentence")
    if not known.value(definition.SKIN):
        return
    try:
        changed = texts.with_skin(data, SKIN)
    except LimitError:
        return
    again = definition.read(changed)
    if again.value(definition.SKIN) != SKIN:
        raise BrokenError("another skin is not what is read")
    others = [[e for e in found.entries if e.key.lower() != definition.SKIN] for found in (known, again)]
    if others[0] != others[1]:
        raise BrokenError("another skin has changed something else")


def check_group(data: bytes) -> None:
    """Read an animation group, write its rows as they are, and with another name each."""
    every = {NAME: data} | TABLES
    found = _read(every)
    rows = [(motion.name, row) for motion in found.motions for row in motion.rows]
    for name, row in (*rows[:1], *rows[-1:]):  # each reads all again
        same = _edited(every, name, row, row)
        if any(every[name] != text for name, text in (same or {}).items()):
            raise BrokenError("a row that was not edited came back otherwise")
        _check_renamed(every, found, name, row)


def _check_renamed(every: dict[str, bytes], found: group.Group, motion: str, row: Row) -> None:
    new = replace(row, name="renamed_by_fuzz", first=7)
    changed = _edited(every, motion, row, new)
    if changed is None:
        return
    again = _read(every | changed)
    if len(again.motions) != len(found.motions):
        raise BrokenError("an edited row has changed what files there are")
    named = [each for other in again.motions for each in other.rows if each.name == new.name]
    if not named or any(each != new for each in named):
        raise BrokenError("an edited row is not what is read")


def _read(every: dict[str, bytes]) -> group.Group:
    def include(name: str) -> bytes:
        if name not in every:
            raise ModelError(f"there is no '{name}'")
        return every[name]

    return group.read_group(decode(every[NAME])[0], NAME, include)


def _edited(every: dict[str, bytes], motion: str, old: Row, new: Row) -> dict[str, bytes] | None:
    try:
        return texts.with_rows(every, NAME, [RowEdit(motion, old, new)])
    except (LimitError, FormatError):
        return None
