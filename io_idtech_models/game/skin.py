"""Skin files of Quake III's kin: which shader each surface of a model wears.

Pairs of a surface and a shader, with a comma between. Facts (`RE_RegisterSkin` and `CommaParse` of ioquake3, RtCW, ET
and ET: Legacy; 1,395 real files):

- A word ends at a blank (bytes up to 32) or a comma, or stands in quotes. `//` and `/* */` are comments where a word
  could begin, and no line end means anything. A comma is taken only directly behind the first word of a pair: `a ,b`
  names the shader `,b`. An empty first word, which only `""` can be, and a NUL end the file.
- A name with `tag_` in it is skipped, without its value: `tag_head,"x"` makes `x` the next surface.
- Return to Castle Wolfenstein and Enemy Territory have models to attach (`md3_hat, models/...`) and `playerscale 1.1`
  among the pairs. RtCW takes 5 models and ET 7: where one more comes they stop reading.
- Surfaces' names are compared in lower case; of several entries the first counts. ioquake3 takes 256, 1.32 only 32.

A file is kept as it was read. An edit changes the line that it is about and no other, in the style of the file: quotes,
what stands between the words of a pair, and line ends.

A part's skin is called PART_SKIN.skin: `upper_default.skin` of `upper.md3`, `body_soldier.skin` of `body.mdm`. Facts
(CG_FindClientModelFile of Quake III): for a team TEAM (`red`, `blue`, or `default` without teams) PART_SKIN_TEAM.skin
comes first, then in games of teams PART_TEAM.skin, else PART_SKIN.skin.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..reporting import LimitError
from .lexer import BLANKS, BYTE_ORDER_MARK, decode, encode, fold, number, without_suffix

BLANK = re.compile(r"(?:[\x01-\x20]+|//[^\n\0]*|/\*(?:[^*\0]|\*(?!/))*(?:\*/)?)*")
WORD = re.compile(r'"(?P<text>[^"\0]*)"?|(?P<word>[^\x00-\x20][^\x00-\x20,]*)')
REST_OF_LINE = re.compile(r"(?:[\x01-\x09\x0b-\x20]|//[^\n\0]*|/\*(?:[^*\n\0]|\*(?!/))*\*/)*(?:\n|\Z)")
PLAIN = re.compile(r'(?!//|/\*)[^\x00-\x20,"\ufeff][^\x00-\x20,]*\Z')  # a word that means itself without quotes
SURFACE, TAG, ATTACHED, SCALE = "surface", "tag", "attached", "scale"
MARKS = ((TAG, "tag_"), (ATTACHED, "md3_"), (SCALE, "playerscale"))
MOST = 256  # surfaces of a skin (MAX_SKIN_SURFACES of ioquake3; 1.32's MD3_MAX_SURFACES is 32)
MOST_ATTACHED = {"rtcw": 5, "et": 7}  # (MAX_PART_MODELS)
SUFFIX = ".skin"
MODELS = (".md3", ".mdc", ".mds", ".mdm", ".mdr", ".iqm", ".md5mesh")
FIRST = ("default", "red")  # which to show, before any other


class Entry(NamedTuple):
    """A pair of a skin file, or a tag, and where it stands in the text."""

    kind: str  # surface, tag, attached (a model), or scale
    name: str
    value: str  # "" of a tag, or where the file ends before it
    start: int
    name_end: int
    value_start: int  # where there is no value: `end`
    end: int  # behind the value; of a tag behind its comma

    @property
    def key(self) -> str:
        """Return the name as it is compared."""
        return fold(self.name)


class SkinFile(NamedTuple):
    """A skin file: its text, and the entries in it; edits return another one.

    `encoding` gives the file's bytes again: they are UTF-8, or Latin-1 where they can't be.
    """

    text: str
    entries: tuple[Entry, ...]
    encoding: str = "utf-8"

    def write(self) -> bytes:
        """Return the file; raises LimitError if a name has letters that its encoding lacks."""
        return encode(self.text, self.encoding, "the skin file")

    def read_by(self, game: str = "") -> tuple[Entry, ...]:
        """Return the entries that a game reads: `rtcw` and `et` stop at one more model than they take."""
        models = [nth for nth, entry in enumerate(self.entries) if entry.kind == ATTACHED]
        most = MOST_ATTACHED.get(game, len(models))
        return self.entries[: models[most]] if len(models) > most else self.entries

    def shaders(self, most: int = MOST, game: str = "") -> dict[str, str]:
        """Return what the engine reads: the shader of each surface, by the name in lower case."""
        found: dict[str, str] = {}
        surfaces = (entry for entry in self.read_by(game) if entry.kind == SURFACE)
        for entry, _ in zip(surfaces, range(most), strict=False):  # repeated ones count too
            found.setdefault(entry.key, entry.value)
        return found

    def attached(self, game: str = "et") -> dict[str, str]:
        """Return the models that `rtcw` or `et` attach, by their type (`md3_hat`); of several of a type the first."""
        found: dict[str, str] = {}
        for entry in self.read_by(game):
            if entry.kind == ATTACHED:
                found.setdefault(entry.name, entry.value)
        return found

    @property
    def scale(self) -> float:
        """Return the size of the player; 1 where the file does not say."""
        return next((number(entry.value) for entry in reversed(self.entries) if entry.kind == SCALE), 1.0)

    def set_shader(self, surface: str, shader: str) -> SkinFile:
        """Return the file with another shader for a model's surface, which is added if the file lacks it.

        It is looked up as the engine calls it, see `surface_key`: an entry `arm_l` is of no surface.

        Raises:
            LimitError: a name can't be written in such a file.
        """
        entry = self._entry(surface)
        if entry is None:
            return self.add(surface, shader)
        if entry.value == shader and entry.value_start < entry.end:
            return self
        return self._with_value(entry, shader)

    def _with_value(self, entry: Entry, shader: str) -> SkinFile:
        """Return the file with another shader in an entry, which may have none yet; raises LimitError."""
        quoted = self.text[entry.value_start : entry.value_start + 1] == '"'
        word = _spelt(shader, quoted=quoted)
        if entry.value_start < entry.end:
            return self._changed(entry.value_start, entry.end, word)
        before = '",' if self._is_open(entry.start, entry.name_end) else ","
        place = entry.name_end
        if self.text[place : place + 1] == ",":
            before, place = "", place + 1
        apart = " " if self.text[place : place + 1] == "/" else ""  # a comment, which the word would take in
        return self._changed(place, place, before + word + apart)

    def set_in_order(self, worn: Sequence[tuple[str, str]]) -> SkinFile:
        """Return the file with other shaders in its first lines of surfaces, whatever these are called.

        `worn` are surfaces with the shader of each, who get lines of their own behind the others where there are none.

        Raises:
            LimitError: a name can't be written in such a file.
        """
        changed = self
        for nth, (surface, shader) in enumerate(worn):
            lines = [entry for entry in changed.entries if entry.kind == SURFACE]
            if nth == len(lines):
                changed = changed.add(surface, shader)
                continue
            entry = lines[nth]
            # What comes behind a line that is open would become part of it.
            is_open = (
                nth + 1 < len(worn) and entry.value_start < entry.end and changed._is_open(entry.value_start, entry.end)
            )
            if entry.value != shader or entry.value_start == entry.end or is_open:
                changed = changed._with_value(entry, shader)
        return changed

    def add(self, surface: str, shader: str) -> SkinFile:
        """Return the file with a further surface, in a line of its own behind the last one's.

        Raises:
            LimitError: a name can't be written in such a file.
        """
        surfaces = [entry for entry in self.entries if entry.kind == SURFACE]
        model = next((entry for entry in reversed(surfaces) if entry.value_start < entry.end), None)
        line = self._like(model, surface_key(surface), shader)
        if not surfaces:
            first = self.entries[0].start if self.entries else self._begin()
            return self._inserted_before(first, line)
        last = surfaces[-1]
        # Such a one would take the new line's name for its shader.
        if last.value_start == last.end or self._is_open(last.value_start, last.end):
            return self._inserted_before(last.start, line)
        return self._with_line_behind(last.end, line)

    def remove(self, surface: str) -> SkinFile:
        """Return the file without a surface, however often it is there; its line goes if there is nothing else."""
        key = surface_key(surface)
        return self._removed([entry for entry in self.entries if entry.kind == SURFACE and entry.key == key])

    def detach(self, kind: str) -> SkinFile:
        """Return the file without the models of a type that it attaches, `md3_hat`."""
        return self._removed([entry for entry in self.entries if entry.kind == ATTACHED and entry.key == fold(kind)])

    def with_attached(self, gone: Iterable[str], added: Mapping[str, str], game: str = "et") -> SkinFile:
        """Return the file without the models of some types, and with others, by their types; raises as `attach`."""
        skin = self
        for kind in (*gone, *added):
            skin = skin.detach(kind)
        for kind, model in added.items():
            skin = skin.attach(kind, model, game)
        return skin

    def attach(self, kind: str, model: str, game: str = "et") -> SkinFile:
        """Return the file with another model attached, in a line of its own behind the last one's.

        Raises:
            LimitError: the model can't be written in such a file, or the game reads no more of them.
        """
        models = [entry for entry in self.entries if entry.kind == ATTACHED]
        if len(models) >= MOST_ATTACHED[game]:
            raise LimitError(f"a skin attaches {MOST_ATTACHED[game]} models at most: {kind} would be one more")
        if not models:
            first = self.entries[0].start if self.entries else self._begin()
            return self._inserted_before(first, f"{kind},{_spelt(model)}")
        last = models[-1]
        between = self.text[last.name_end : last.value_start]
        between = between if between.strip(" \t") == "," else ","
        name = _spelt(kind, quoted=self.text[last.start] == '"')
        line = name + between + _spelt(model, quoted=self.text[last.value_start : last.value_start + 1] == '"')
        if self._is_open(last.start, last.name_end) or self._is_open(last.value_start, last.end):
            return self._inserted_before(last.start, line)
        return self._with_line_behind(last.end, line)

    def _with_line_behind(self, place: int, line: str) -> SkinFile:
        """Return the file with a line behind the one in which an entry ends, at a place in the text."""
        rest = REST_OF_LINE.match(self.text, place)
        if rest is None:
            return self._changed(place, place, self.line_end + line + self._apart(place))
        ended = rest[0].endswith("\n")
        return self._changed(rest.end(), rest.end(), line + self.line_end if ended else self.line_end + line)

    def _removed(self, gone: Sequence[Entry]) -> SkinFile:
        """Return the file without entries; their lines go if there is nothing else."""
        text = self.text
        parts, place = [], 0
        for start, end, instead in map(self._without, gone):
            parts += [text[place:start], instead]
            place = end
        return self._changed(0, place, "".join(parts)) if gone else self

    @property
    def line_end(self) -> str:
        """Return how its lines end."""
        return "\r\n" if "\r\n" in self.text else "\n"

    def _entry(self, surface: str) -> Entry | None:
        key = surface_key(surface)
        return next((entry for entry in self.entries if entry.kind == SURFACE and entry.key == key), None)

    def _is_open(self, start: int, end: int) -> bool:
        """Tell whether a word's quote is not closed."""
        return self.text[start] == '"' and (end - start == 1 or self.text[end - 1] != '"')

    def _changed(self, start: int, end: int, text: str) -> SkinFile:
        changed = self.text[:start] + text + self.text[end:]
        return SkinFile(changed, tuple(_entries(changed)), self.encoding)

    def _begin(self) -> int:
        """Return where the text begins, behind a byte order mark."""
        return len(BYTE_ORDER_MARK) if self.text.startswith(BYTE_ORDER_MARK) else 0

    def _inserted_before(self, place: int, line: str) -> SkinFile:
        start = max(self.text.rfind("\n", 0, place) + 1, self._begin())
        if self.text[start:place].strip(BLANKS):
            apart = "" if self.text[place - 1] <= " " else self.line_end
            return self._changed(place, place, apart + line + self.line_end)
        return self._changed(start, start, line + self.line_end)

    def _like(self, model: Entry | None, surface: str, shader: str) -> str:
        """Return an entry in the style of another one."""
        if model is None:
            return f"{_spelt_surface(surface)},{_spelt(shader)}"
        before = self.text[self.text.rfind("\n", 0, model.start) + 1 : model.start]
        between = self.text[model.name_end : model.value_start]
        if between.strip(" \t,") or not between:  # comments or line ends are of that entry
            between = ","
        name = _spelt_surface(surface, quoted=self.text[model.start] == '"')
        value = _spelt(shader, quoted=self.text[model.value_start] == '"')
        return ("" if before.strip(" \t") else before) + name + between + value

    def _apart(self, place: int) -> str:
        """Return what keeps a word from what follows."""
        return self.line_end if place < len(self.text) and self.text[place] not in "\r\n" else ""

    def _without(self, entry: Entry) -> tuple[int, int, str]:
        """Return where what goes with an entry begins and ends, and what stays in its place."""
        text = self.text
        start = max(text.rfind("\n", 0, entry.start) + 1, self._begin())
        rest = REST_OF_LINE.match(text, entry.end)
        if rest is not None and not text[start : entry.start].strip(" \t\r"):
            return start, rest.end(), ""
        return entry.start, entry.end, " "


def read(text: str) -> dict[str, str]:
    """Return the shader of each surface, by its name in lower case."""
    return SkinFile(text, tuple(_entries(text))).shaders()


def read_skin(data: bytes) -> SkinFile:
    """Return a skin file; never fails. `SkinFile.write` gives the same bytes."""
    text, encoding = decode(data)
    return SkinFile(text, tuple(_entries(text)), encoding)


def make(shaders: Mapping[str, str], tags: Iterable[str] = (), line_end: str = "\n") -> SkinFile:
    """Return a new skin file: a line for each surface, then one for each tag.

    Surfaces are called as the engine calls them, see `surface_key`; of several that it can't tell apart the first
    counts.

    Raises:
        LimitError: a name can't be written in such a file.
    """
    worn: dict[str, str] = {}
    for surface, shader in shaders.items():
        worn.setdefault(surface_key(surface), shader)
    lines = [f"{_spelt_surface(surface)},{_spelt(shader)}" for surface, shader in worn.items()]
    lines += [_spelt(tag) + "," for tag in tags]
    text = "".join(line + line_end for line in lines)
    return SkinFile(text, tuple(_entries(text)))


def surface_key(name: str) -> str:
    """Return what skins call a model's surface: in lower case, and cut by two characters if the second last is `_`.

    Source: R_LoadMD3 and its kin, which drop the `_1` of levels of detail so, and `arm_l` becomes `arm`.
    """
    name = fold(name)
    return name[:-2] if len(name) > 2 and name[-2] == "_" else name


def _spelt(word: str, *, quoted: bool = False) -> str:
    """Return a word as a file spells it; raises LimitError for what no file can hold."""
    if '"' in word or "\0" in word:
        raise LimitError(f"'{word}' can't be written in a skin file: it has a quote or a NUL in it")
    return word if PLAIN.match(word) and not quoted else f'"{word}"'


def _spelt_surface(word: str, *, quoted: bool = False) -> str:
    """Return a surface's name as a file spells it; raises LimitError for what a skin takes for something else."""
    if not word or any(mark in word for _, mark in MARKS):
        raise LimitError(f"'{word}' is no surface to a skin file: rename the surface")
    return _spelt(word, quoted=quoted)


def _entries(text: str) -> Iterator[Entry]:
    """Yield what an engine reads, in order."""
    place = len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0
    while True:
        name = _word(text, place)
        if name is None or not name[2]:
            return
        start, name_end, spelt = name
        place = name_end + (text[name_end : name_end + 1] == ",")
        kind = next((kind for kind, mark in MARKS if mark in spelt), SURFACE)
        value = None if kind == TAG else _word(text, place)
        if value is None:
            yield Entry(kind, spelt, "", start, name_end, place, place)
        else:
            place = value[1]
            yield Entry(kind, spelt, value[2], start, name_end, value[0], place)


def _word(text: str, place: int) -> tuple[int, int, str] | None:
    """Return where the next word begins and ends, and what it is; None at the end (CommaParse)."""
    blank = BLANK.match(text, place)
    match = WORD.match(text, blank.end() if blank else place)
    if match is None:
        return None
    word = match["word"] if match["text"] is None else match["text"]
    return match.start(), match.end(), word


def skins_of(part: str, files: Iterable[str]) -> dict[str, str]:
    """Return the skins of a part (`upper`), the one to choose first: names in lower case, and the files' names.

    What is called after a longer name of a model in the folder is that model's: `head_big_red.skin` beside
    `head_big.md3`.
    """
    files = list(files)
    start = fold(part) + "_"
    models = (without_suffix(fold(file)) for file in files if fold(file).endswith(MODELS))
    others = [stem + "_" for stem in models if stem.startswith(start)]
    found: dict[str, str] = {}
    for file in sorted(files, key=lambda name: (fold(name), name)):
        name = fold(file)
        if name.startswith(start) and name.endswith(SUFFIX) and not name.startswith(tuple(others)):
            found.setdefault(name[len(start) : -len(SUFFIX)], file)
    return {name: found[name] for name in sorted(found, key=rank)}


def rank(name: str) -> tuple[int, str]:
    """Return by what to sort skins: `default`, then `red`, then all others by name."""
    name = fold(name)
    return (FIRST.index(name) if name in FIRST else len(FIRST)), name


def choose(names: Iterable[str]) -> str | None:
    """Return which of several skins to show; None if there is none."""
    return min(names, key=rank, default=None)
