"""Character files of Wolfenstein: Enemy Territory: `characters/TERRAIN/TEAM/CLASS.char`, which say what a soldier is.

`characterDef { KEY VALUE ... }`: a body, what it wears, its animations, its head. Facts (BG_ParseCharacterFile of ET
2.60 and ET: Legacy, whose words are those of the precompiler; 60 real files):

- Line ends mean nothing, `//` and `/* */` are comments, values may be quoted. Paths count from the game's folder.
- Keys count whatever their case; of one that comes again the last counts. ET refuses the file for a key that it does
  not know. Mods have some of their own (`weaponskin` of East Front), so that here those are only told of.
- A skin is a bare word: it is in MESH_SKIN.skin, where MESH is the body's path without its extension.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ....reporting import FormatError
from ...lexer import WORDS, clean, decode, fold, shown, unquoted

MESH, SKIN, GROUP, SCRIPT = "mesh", "skin", "animationgroup", "animationscript"
HEAD, HEAD_SKIN, HEAD_ANIMATIONS = "hudhead", "hudheadskin", "hudheadanims"
CORPSE, CORPSE_SKIN = "undressedcorpsemodel", "undressedcorpseskin"
KEYS = frozenset((MESH, SKIN, GROUP, SCRIPT, HEAD, HEAD_SKIN, HEAD_ANIMATIONS, CORPSE, CORPSE_SKIN))
START = "characterdef"
MOST_ENTRIES = 1000  # the games' files have 10
MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class Entry:
    """A key with its value, and the line that the key stands in, from 1 on."""

    key: str  # as it is spelt
    value: str
    line: int


@dataclass(frozen=True)
class Definition:
    """What a character file says, and what is wrong with it: a sentence each, which names the line."""

    entries: tuple[Entry, ...]
    complaints: tuple[str, ...] = ()

    def value(self, key: str) -> str:
        """Return the value of a key, which is given in lower case; "" where it has none."""
        return next((entry.value for entry in reversed(self.entries) if fold(entry.key) == key), "")

    def line(self, key: str) -> int:
        """Return the line that says it; 0 where none does."""
        return next((entry.line for entry in reversed(self.entries) if fold(entry.key) == key), 0)

    def unknown(self) -> list[Entry]:
        """Return the entries whose keys the game does not know."""
        return [entry for entry in self.entries if fold(entry.key) not in KEYS]


@dataclass(frozen=True)
class Word:
    """A word of a script as it is meant, and its line."""

    text: str
    line: int
    quoted: bool

    def is_brace(self, brace: str) -> bool:
        """Tell whether it is that brace."""
        return self.text == brace and not self.quoted


def words_of(text: str) -> Iterator[Word]:
    """Yield the words of a script, without its comments."""
    line = 1
    for match in WORDS.finditer(clean(text, keeps_lines=True)):
        if match[0] == "\n":
            line += 1
            continue
        yield Word(unquoted(match[0]), line, match[0].startswith('"'))


def read(data: bytes) -> Definition:
    """Return what a character file says, as far as it can be understood.

    Raises:
        FormatError: it does not begin as such a file does.
    """
    if len(data) > MOST_BYTES:
        raise FormatError("it is too long for a character file", "", f"{MOST_BYTES} bytes at most", len(data))
    words = list(words_of(decode(data)[0]))
    if not words or fold(words[0].text) != START or len(words) < 2 or not words[1].is_brace("{"):
        found = next((word for nth, word in enumerate(words) if nth or fold(word.text) != START), None)
        line = 1 if found is None else found.line
        what = "the end" if found is None else f"'{shown(found.text)}'"
        raise FormatError("this is no character file", f"line {line}", "characterDef {", what)
    return _entries(words)


def _entries(words: list[Word]) -> Definition:
    entries: list[Entry] = []
    complaints: list[str] = []
    place = 2
    while place < len(words) and not words[place].is_brace("}"):
        key, value = words[place], words[place + 1] if place + 1 < len(words) else None
        if len(entries) == MOST_ENTRIES:
            complaints.append(f"line {key.line}: more than {MOST_ENTRIES} entries: the rest is not read")
            break
        if key.text.startswith("#") and not key.quoted:
            complaints.append(f"line {key.line}: '{shown(key.text)}' is not followed here: its line is left out")
            place = next((n for n in range(place, len(words)) if words[n].line != key.line), len(words))
        elif value is None or value.is_brace("}") or _is_next_key(key, value):
            complaints.append(f"line {key.line}: '{shown(key.text)}' has no value")
            place += 1
        else:
            entries.append(Entry(key.text, value.text, key.line))
            place += 2
    else:
        if place >= len(words):
            complaints.append(f"line {words[-1].line}: the closing brace is missing, for which games refuse the file")
    return Definition(tuple(entries), tuple(complaints))


def _is_next_key(key: Word, value: Word) -> bool:
    """Tell whether what follows a key is no value of it, but the key of the next line."""
    return value.line != key.line and not value.quoted and fold(value.text) in KEYS
