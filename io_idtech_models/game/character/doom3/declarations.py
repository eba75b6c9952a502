r"""Declarations of models and entities of Doom 3 and its kin: what stands between the braces of a `.def`'s names.

`model NAME { inherit M  mesh F  skin S  offset ( X Y Z )  channel C ( JOINTS )  remove A  anim A F, F { ... } }`, and
`entityDef NAME { "KEY" "VALUE" ... }`. Facts (idDeclModelDef::Parse and ParseAnim, idDeclEntityDef::Parse of dhewm3):

- Line ends mean nothing but in an animation's block, where `frame N COMMAND ...` goes to the end of its line. Other
  words there are flags. Frames are counted from 1 on.
- Names of animations are compared letter by letter. One that comes again within a declaration makes the game drop the
  whole of it, as do a name of one letter and digits, more than three files, an animation or a channel before the mesh,
  `remove` of what was not inherited, and any word that the game does not know. What was inherited may be declared anew.
- In an entity each key counts once, the last time; whatever begins with `inherit` names another entity. Keys count
  whatever their case. Quotes are asked for.

Here all of that is told and the rest is read. Quake 4 has further flags and commands, which are kept as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ...lexer import DECL_WORDS, fold, number, shown, unquoted

MODEL, ENTITY = "model", "entitydef"  # kinds of declarations, as `game.shaders.index` calls them
CHANNELS = ("torso", "legs", "head", "eyelids")  # (channelNames of dhewm3)
FLAGS = frozenset(("prevent_idle_override", "random_cycle_start", "ai_no_turn", "anim_turn"))
MOST_FILES = 3  # of one animation (ANIM_MaxSyncedAnims)
MOST_STATEMENTS = 20000  # of a declaration; the games' have 200
INHERIT = "inherit"
MESH_SUFFIX = ".md5mesh"
FRAME = "frame"
WHOLE = re.compile(r"[0-9]+\Z")
NO_NAME = re.compile(r".?[0-9]*\Z", re.DOTALL)  # of an animation: less than two letters once digits at its end are cut


@dataclass(frozen=True)
class Command:
    """What the game does when an animation comes to a frame, from 1 on; 0 where that is no number."""

    frame: int
    text: str
    line: int


@dataclass(frozen=True)
class Anim:
    """An animation of a model: its name, and the files whose frames it plays, several in step."""

    name: str
    files: tuple[str, ...]
    line: int
    span: tuple[int, int]  # where its files stand in the body, from the first to the last
    flags: tuple[str, ...] = ()
    commands: tuple[Command, ...] = ()

    @property
    def set_name(self) -> str:
        """Return what it is one of several of, from which the game takes any: the name without digits at its end."""
        return self.name.rstrip("0123456789") or self.name


@dataclass(frozen=True)
class Statement:
    """A word of a model's declaration with what belongs to it, and where that stands in the body."""

    word: str  # in lower case
    values: tuple[str, ...]
    line: int
    start: int
    end: int
    anim: Anim | None = None


@dataclass(frozen=True)
class Body:
    """What a declaration says: of a model statements, of an entity pairs; and what is wrong, which names the line."""

    statements: tuple[Statement, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()  # of a key that comes again, each
    complaints: tuple[str, ...] = ()


class _Word(NamedTuple):
    text: str  # as it is spelt
    line: int
    start: int
    end: int

    @property
    def is_brace(self) -> bool:
        return self.text in {"{", "}"}


def words_of(body: str, line: int) -> Iterator[_Word]:
    """Yield the words of a text without comments, whose first line has a number."""
    for match in DECL_WORDS.finditer(body):
        if match[0] == "\n":
            line += 1
        else:
            yield _Word(match[0], line, match.start(), match.end())


def read_model(body: str, line: int = 1) -> Body:
    """Return what a model's declaration says; `line` is that of its brace. Never fails."""
    return _ModelReader(list(words_of(body, line))).read()


def read_entity(body: str, line: int = 1) -> Body:
    """Return what an entity's declaration says; `line` is that of its brace. Never fails."""
    words = [word for word in words_of(body, line) if not word.is_brace]
    pairs, complaints = [], []
    bare = next((word for word in words if not word.text.startswith('"')), None)
    if bare is not None:
        complaints.append(f"line {bare.line}: '{shown(bare.text)}' needs quotes, without which the game drops the rest")
    for key, value in zip(words[::2], words[1::2], strict=False):
        pairs.append((unquoted(key.text), unquoted(value.text)))
    if len(words) % 2:
        complaints.append(f"line {words[-1].line}: '{shown(unquoted(words[-1].text))}' has no value")
    return Body((), tuple(pairs), tuple(complaints))


@dataclass
class _ModelReader:
    """Reads a model's declaration, word by word."""

    words: list[_Word]
    place: int = 0
    statements: list[Statement] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def read(self) -> Body:
        """Return what it says."""
        while self.place < len(self.words):
            if len(self.statements) == MOST_STATEMENTS:
                self.complain(self.words[self.place], f"more than {MOST_STATEMENTS} statements: the rest is not read")
                break
            self.statement()
        return Body(tuple(self.statements), (), tuple(self.complaints))

    def complain(self, word: _Word, sentence: str) -> None:
        """Say what is wrong at a word."""
        self.complaints.append(f"line {word.line}: {sentence}")

    def peek(self) -> _Word | None:
        """Return the next word; None at the end."""
        return self.words[self.place] if self.place < len(self.words) else None

    def take(self, text: str) -> bool:
        """Go past the next word if it is that one; tells whether it is."""
        word = self.peek()
        if word is None or word.text != text:
            return False
        self.place += 1
        return True

    def value(self, word: _Word) -> tuple[str, ...]:
        """Return the next word as it is meant; none, and say so, where there is none."""
        found = self.peek()
        if found is None or found.is_brace:
            self.complain(word, f"'{shown(word.text)}' has no value")
            return ()
        self.place += 1
        return (unquoted(found.text),)

    def statement(self) -> None:
        """Read a word and what belongs to it."""
        word = self.words[self.place]
        self.place += 1
        kind, anim = fold(unquoted(word.text)), None
        values: tuple[str, ...] = ()
        if kind in {INHERIT, "mesh", "skin", "remove"}:
            values = self.value(word)
        elif kind == "offset":
            values = self.listed(word)
        elif kind == "channel":
            values = self.value(word)
            if values:
                values += self.listed(word)
        elif kind == "anim":
            values = self.value(word)
            anim = self.anim(word, values[0]) if values else None
        else:
            self.skip(word)
            return
        if values:
            last = self.words[self.place - 1]
            self.statements.append(Statement(kind, values, word.line, word.start, last.end, anim))

    def skip(self, word: _Word) -> None:
        """Leave out a word that no game knows here, with the rest of its line, and a block that follows."""
        self.complain(word, f"'{shown(unquoted(word.text))}' is nothing that a model has: Doom 3 refuses it")
        if word.is_brace:
            return
        while (found := self.peek()) is not None and found.line == word.line and not found.is_brace:
            self.place += 1
        if self.take("{"):
            self.block_end()

    def block_end(self) -> None:
        """Go past the brace that closes a block."""
        depth = 1
        while depth and (found := self.peek()) is not None:
            depth += {"{": 1, "}": -1}.get(found.text, 0)
            self.place += 1

    def listed(self, word: _Word) -> tuple[str, ...]:
        """Return what stands between parentheses; signs belong to the word that follows them."""
        if not self.take("("):
            self.complain(word, f"'{shown(word.text)}' lacks its '('")
            return ()
        found: list[str] = []
        before = ""
        while (each := self.peek()) is not None and not each.is_brace:
            self.place += 1
            if each.text == ")":
                return tuple(found)
            before += unquoted(each.text)
            if each.text not in {"*", "-", "+"}:
                found.append(before)
                before = ""
        self.complain(word, f"'{shown(word.text)}' lacks its ')'")
        return tuple(found)

    def anim(self, word: _Word, name: str) -> Anim:
        """Return an animation: its files, and what its block says."""
        first = self.peek()
        files = list(self.value(word))
        while files and self.take(","):
            files += self.value(word)
        if NO_NAME.match(name):
            self.complain(
                word,
                f"without digits at its end the animation '{shown(name)}' has less than 2 letters: the game refuses it",
            )
        if len(files) > MOST_FILES:
            self.complain(word, f"the animation '{shown(name)}' has {len(files)} files: the game takes {MOST_FILES}")
        span = (0, 0) if first is None else (first.start, self.words[self.place - 1].end)
        anim = Anim(name, tuple(files), word.line, span)
        return self.block(anim) if self.take("{") else anim

    def block(self, anim: Anim) -> Anim:
        """Return an animation with the flags and commands of its block."""
        flags: list[str] = []
        commands: list[Command] = []
        while (word := self.peek()) is not None:
            self.place += 1
            if word.text == "}":
                return replace(anim, flags=tuple(flags), commands=tuple(commands))
            if word.text == "{":
                self.complain(word, f"a block within that of the animation '{shown(anim.name)}' is left out")
                self.block_end()
            elif fold(word.text) == FRAME:
                commands.append(self.command(word))
            else:
                flags.append(self.flag(word))
        self.complain(self.words[-1], f"the block of the animation '{shown(anim.name)}' is not closed")
        return replace(anim, flags=tuple(flags), commands=tuple(commands))

    def rest(self, line: int) -> list[str]:
        """Return all further words of a line up to a brace, or to where another command begins."""
        found: list[str] = []
        while (word := self.peek()) is not None and word.line == line and not word.is_brace:
            if fold(word.text) == FRAME and found:
                break
            found.append(word.text)
            self.place += 1
        return found

    def command(self, word: _Word) -> Command:
        """Return what happens at a frame."""
        words = self.rest(word.line)
        if not words or not WHOLE.match(words[0]):
            found = shown(words[0]) if words else "nothing"
            self.complain(word, f"'frame' is followed by {found}, not by a number from 1 on: the game stops there")
            return Command(0, " ".join(words), word.line)
        return Command(int(words[0][:9]), " ".join(words[1:]), word.line)

    def flag(self, word: _Word) -> str:
        """Return a flag; of those that Doom 3 does not know (Quake 4's `rate F`) with the rest of their line."""
        name = unquoted(word.text)
        return name if fold(name) in FLAGS else " ".join([name, *self.rest(word.line)])


@dataclass
class Model:
    """A model as the game has it in the end: with all that it inherits."""

    name: str
    mesh: str = ""
    skin: str = ""
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    channels: dict[str, tuple[str, ...]] = field(default_factory=dict)  # joints, `*` with children, `-` without
    anims: dict[str, Anim] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)  # what it inherits and is not there
    refused: list[str] = field(default_factory=list)  # for which the game drops the declaration, or stops
    sets: dict[str, dict[str, None]] = field(default_factory=dict)  # names of animations by `Anim.set_name`

    def apply(self, statements: tuple[Statement, ...], where: str) -> None:
        """Do what statements say, in order; `where` names their file, for what is complained of."""
        inherited = set(self.anims)
        for each in statements:
            if each.word == "mesh":
                self.set_mesh(each, where)
            elif each.word == "skin":
                self.skin = each.values[0]
            elif each.word == "offset":
                self.set_offset(each, where)
            elif each.word == "channel":
                self.set_channel(each, where)
            elif each.word == "remove":
                self.remove(each, inherited, where)
            elif each.anim is not None:
                self.add(each.anim, inherited, where)

    def complain(self, line: int, where: str, sentence: str) -> None:
        """Say what is wrong."""
        self.refused.append(f"'{where}', line {line}: {sentence}")

    def set_mesh(self, each: Statement, where: str) -> None:
        """Take another mesh."""
        if not fold(each.values[0]).endswith(MESH_SUFFIX):
            self.complain(
                each.line, where, f"'{shown(each.values[0])}' is no {MESH_SUFFIX}: the game refuses the model"
            )
        self.mesh = each.values[0]

    def set_offset(self, each: Statement, where: str) -> None:
        """Take another offset."""
        if len(each.values) != 3:
            self.complain(each.line, where, f"'offset' has {len(each.values)} numbers, not 3")
        x, y, z = ([number(value) for value in each.values] + [0.0] * 3)[:3]
        self.offset = (x, y, z)

    def set_channel(self, each: Statement, where: str) -> None:
        """Take the joints of a channel."""
        name = fold(each.values[0])
        if name not in CHANNELS:
            self.complain(
                each.line, where, f"there is no channel '{shown(each.values[0])}': the game refuses the model"
            )
        self.need_mesh(each, where)
        self.channels[name] = each.values[1:]

    def need_mesh(self, each: Statement, where: str) -> None:
        """Say so where something comes before the mesh that it is about."""
        if not self.mesh:
            self.complain(each.line, where, f"'{each.word}' comes before the mesh: the game refuses the model")

    def remove(self, each: Statement, inherited: set[str], where: str) -> None:
        """Forget an inherited animation, or all of a set."""
        wanted = each.values[0]
        gone = [name for name in dict.fromkeys([wanted, *self.sets.get(wanted, ())]) if name in self.anims]
        if not gone or not inherited.issuperset(gone):
            lack = "is none that it inherits" if gone else "is not there"
            self.complain(each.line, where, f"the animation '{shown(wanted)}' to remove {lack}: the game refuses it")
        for name in gone:
            self.sets[self.anims.pop(name).set_name].pop(name, None)
            inherited.discard(name)

    def add(self, anim: Anim, inherited: set[str], where: str) -> None:
        """Take an animation; one that was inherited gives way, of two of one declaration the first stays."""
        if not self.mesh:
            self.complain(anim.line, where, f"'{shown(anim.name)}' comes before the mesh: the game refuses the model")
        if not anim.files:
            return
        if anim.name in self.anims and anim.name not in inherited:
            self.complain(anim.line, where, f"the animation '{shown(anim.name)}' is there already: the game refuses it")
            return
        self.anims[anim.name] = anim
        self.sets.setdefault(anim.set_name, {})[anim.name] = None
