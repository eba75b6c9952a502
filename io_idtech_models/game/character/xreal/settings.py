"""What a player's `character.cfg` of XreaL and Unvanquished says.

Facts (CG_ParseCharacterFile of XreaL and of Unvanquished): words of Quake III's scripts, keywords whatever their case.
`sex`, `footsteps`, `firstTorsoBoneName`, `lastTorsoBoneName`, `torsoControlBoneName` and `neckControlBoneName` have one
word, `headoffset` three numbers, `fixedlegs` and `fixedtorso` none. `modelScale` has three numbers in XreaL; in
Unvanquished it is one. XreaL reads 20,000 bytes at most. Unvanquished has `modifiers { NAME ... }`, whose own words may
follow anywhere in the file. What a game does not know it tells of and leaves out, word by word; here with its line.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....reporting import FormatError
from ...lexer import WORDS, Cursor, clean, decode, fold, number, shown, unquoted

MOST_BYTES = 20000
WORD_KEYS = frozenset((
    "sex", "footsteps", "firsttorsobonename", "lasttorsobonename", "torsocontrolbonename", "neckcontrolbonename",
))  # fmt: skip
BONE_KEYS = ("firsttorsobonename", "lasttorsobonename", "torsocontrolbonename", "neckcontrolbonename")
FLAGS = frozenset(("fixedlegs", "fixedtorso"))
OFFSET, SCALE, MODIFIERS = "headoffset", "modelscale", "modifiers"


@dataclass(frozen=True)
class Settings:
    """What a player's file says, and what is wrong with it: a sentence each, which names the line."""

    words: dict[str, str]  # by keys in lower case; of one that comes again the last counts
    flags: frozenset[str] = frozenset()
    modifiers: tuple[str, ...] = ()
    head_offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    complaints: tuple[str, ...] = ()

    @property
    def bones(self) -> list[str]:
        """Return the joints that the game asks for, in the order of `BONE_KEYS`."""
        return [self.words[key] for key in BONE_KEYS if self.words.get(key)]


def read(data: bytes) -> Settings:
    """Return what a player's file says.

    Raises:
        FormatError: it is longer than the games read.
    """
    if len(data) >= MOST_BYTES:
        raise FormatError("it is too long for a player's file", "", f"less than {MOST_BYTES} bytes", len(data))
    return _Reader(Cursor(WORDS.findall(clean(decode(data)[0], keeps_lines=True)))).read()


class _Reader:
    """Reads a player's file, word by word."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.words: dict[str, str] = {}
        self.flags: set[str] = set()
        self.modifiers: list[str] = []
        self.triples: dict[str, tuple[float, float, float]] = {}
        self.complaints: list[str] = []
        self.line, self.counted = 1, 0  # up to where line ends were counted

    def read(self) -> Settings:
        """Return what the file says."""
        while word := self.cursor.word():
            self.entry(word, fold(unquoted(word)))
        none, one = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
        offset, scale = self.triples.get(OFFSET, none), self.triples.get(SCALE, one)
        modifiers, complaints = tuple(self.modifiers), tuple(self.complaints)
        return Settings(self.words, frozenset(self.flags), modifiers, offset, scale, complaints)

    def complain(self, sentence: str) -> None:
        """Say what is wrong at the word before."""
        place = min(self.cursor.place, len(self.cursor.words))
        self.line += self.cursor.words[self.counted : place].count("\n")
        self.counted = place
        self.complaints.append(f"line {self.line}: {sentence}")

    def entry(self, word: str, key: str) -> None:
        """Read what belongs to a word."""
        if key in FLAGS:
            self.flags.add(key)
        elif key in WORD_KEYS:
            value = self.cursor.argument()
            if value:
                self.words[key] = value
            else:
                self.complain(f"'{shown(word)}' has no value")
        elif key in {OFFSET, SCALE}:
            self.numbers(word, key)
        elif key == MODIFIERS and self.cursor.peek() == "{":
            self.cursor.word()
            self.modifiers += self.block()
        elif word in {"{", "}"}:
            self.complain(f"a '{word}' that belongs to nothing is left out")
        else:
            self.cursor.rest()
            self.complain(f"'{shown(word)}' is nothing that every such game knows: its line is left out")

    def numbers(self, word: str, key: str) -> None:
        """Read three numbers, or of a scale one that stands for all three."""
        found = [number(each) for each in self.cursor.rest()]
        if key == SCALE and len(found) == 1:
            found *= 3
        if len(found) != 3 or (key == SCALE and 0.0 in found):
            self.complain(f"'{shown(word)}' needs three numbers" + (", none of them 0" if key == SCALE else ""))
            return
        self.triples[key] = (found[0], found[1], found[2])

    def block(self) -> list[str]:
        """Return the words up to the brace that closes a block."""
        found = []
        while (word := self.cursor.word()) and word != "}":
            found.append(unquoted(word))
        if not word:
            self.complain("the closing brace is missing")
        return found
