r"""All scripts of a game: which of several definitions of a name counts, found and read when it is asked for.

Facts: Quake III and its kin list files by their search path, those of the highest priority first, and join their texts
in reverse; the first place in the text counts (`ScanAndLoadShaderFiles`, `FindShaderInShaderText`). So of two files it
is the one listed later, and inside a file the first. Of files with the same name only the one with the highest
priority is read. (1.32 puts the first shader of each file before all others, and ET with `r_cacheShaders` may turn
round the order of equal names: neither is followed here.) Doom 3 reads all files of a folder sorted by name, and the
first definition counts (`idDeclFile::LoadAndParse`); names lose what follows their last dot, and `\` is `/`
(`MakeNameCanonical`).
"""

from __future__ import annotations

import bisect
import logging
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ...reporting import ModelError
from ..lexer import decl_key, decode, fold, without_suffix
from ..store import GameFile
from . import index
from .model import Shader

log = logging.getLogger(__name__)

QUAKE3, DOOM3 = "quake3", "doom3"  # rules
SHADER, MATERIAL, SKIN = "shader", "material", "skin"  # kinds of definitions
KINDS = {".skin": SKIN, ".def": "entitydef"}  # of what names no kind, by how its file ends; else materials


class Source(Protocol):
    """Something with bytes: `game.store.GameFile` is one."""

    def read(self) -> bytes:
        """Return them; raises ModelError."""


Reads = Source | Callable[[], bytes]
MOST_KEPT = 8  # libraries: two for each game that is at hand
_kept: dict[Hashable, ShaderLibrary] = {}


@dataclass(frozen=True)
class Definition:
    """A name's place in a script."""

    kind: str
    name: str
    file: str
    line: int
    body: str
    faults: tuple[str, ...]
    body_line: int = 0  # the line of its brace


@dataclass
class _Script:
    file: str
    source: Reads

    def read(self) -> str:
        """Return its text; one that can't be read is empty, and a warning is logged."""
        try:
            data = self.source() if callable(self.source) else self.source.read()
        except ModelError as error:
            log.warning("'%s' can't be read: %s", self.file, error)
            return ""
        return decode(data)[0]


@dataclass
class _Place:
    """Where a name's definition is: parsed only when it is asked for."""

    file: str
    text: str
    lines: Callable[[int], int]
    found: index.Found

    def definition(self) -> Definition:
        """Return it."""
        found = self.found
        line = self.lines(found.place)
        faults = tuple(f"{self.file}, line {line}: {fault}" for fault in found.faults)
        body = self.text[found.start : found.end]
        return Definition(found.kind, found.name, self.file, line, body, faults, self.lines(found.start))


def shader_key(name: str) -> str:
    """Return what engines of Quake III's kin look a shader's name up by: without extension, whatever its case."""
    return fold(without_suffix(name))


class ShaderLibrary:
    """The scripts of a game, by the rules of QUAKE3 or DOOM3.

    `files` are pairs of a script's name (`scripts/x.shader`) and what reads it, a `GameFile` or a function that
    returns its bytes and may raise ModelError; the highest priority comes first, as the game's search path has them.
    `near` tells of what reads a script whether it belongs to the model, for who does not know the true order: what
    such a script defines counts before all others.
    """

    def __init__(
        self, files: Iterable[tuple[str, Reads]], rules: str = QUAKE3, near: Callable[[Any], bool] | None = None
    ) -> None:
        self.rules = rules
        named: dict[str, _Script] = {}
        for name, source in files:
            named.setdefault(fold(name.replace("\\", "/")), _Script(name, source))
        waiting = [named[key] for key in sorted(named)] if rules == DOOM3 else list(named.values())[::-1]
        if near is not None:
            waiting.sort(key=lambda script: not near(script.source))
        self._waiting = waiting[::-1]  # from its end on, in the order in which definitions count
        self._known: dict[tuple[str, str], _Place] = {}
        self._shaders: dict[str, Shader | None] = {}

    def find(self, name: str, kind: str = "") -> Definition | None:
        """Return the definition of a name that counts, or None; scripts are read until it is found.

        `kind` is what a name is defined as, of Doom 3's declarations; "" means shaders and materials.
        """
        place = self._place(self._key(name, kind))
        return None if place is None else place.definition()

    def shader(self, name: str) -> Shader | None:
        """Return the shader or material of a name, with or without extension; None if no script defines it."""
        key = self._key(name)[1]
        if key not in self._shaders:
            found = self.find(name)
            self._shaders[key] = None if found is None else self._parse(found)
        return self._shaders[key]

    def names(self, kind: str = "") -> list[str]:
        """Return all names of a kind as they are spelt, those first that count before others; reads all scripts."""
        while self._waiting:
            self._read_next()
        wanted = self._key("", kind)[0]
        return [place.found.name for (own, _), place in self._known.items() if own == wanted]

    def _key(self, name: str, kind: str = "") -> tuple[str, str]:
        if self.rules == DOOM3:
            return kind or MATERIAL, decl_key(name)
        return kind or SHADER, shader_key(name)

    def _place(self, key: tuple[str, str]) -> _Place | None:
        while key not in self._known and self._waiting:
            self._read_next()
        return self._known.get(key)

    def _read_next(self) -> None:
        """Note where the definitions of the next script are."""
        waiting = self._waiting.pop()
        text = waiting.read()
        if self.rules == DOOM3:
            default = KINDS.get(waiting.file[waiting.file.rfind(".") :].lower(), MATERIAL)
            shown, found = index.scan_decls(text, default)
        else:
            shown, found = index.scan(text)
        lines = _lines(shown)
        for each in found:
            # A shader's name counts as it is spelt in the script: one with an extension is never found (R_FindShader).
            key = decl_key(each.name) if self.rules == DOOM3 else fold(each.name)
            self._known.setdefault((each.kind, key), _Place(waiting.file, shown, lines, each))

    def _parse(self, found: Definition) -> Shader:
        # A model that needs no script waits for neither.
        if self.rules == DOOM3:
            from .material import parse
        else:
            from .script import parse
        shader = parse(found.body, found.name)
        shader.file, shader.line = found.file, found.line
        shader.faults = found.faults + shader.faults
        return shader


def library_of(folder: str, files: Sequence[GameFile], rules: str) -> ShaderLibrary:
    """Return the library of a folder's scripts, strongest first: the one made before, while none of them changes."""
    stamps = [file.stamp for file in files]
    places = {layer: layer.place for layer in dict.fromkeys(file.layer for file in files)}  # a few; hundreds of files
    key = (rules, folder, *((places[file.layer], file.name, stamp) for file, stamp in zip(files, stamps, strict=True)))
    if key in _kept:
        return _kept[key]
    library = ShaderLibrary([(f"{folder}/{file.name}", file) for file in files], rules)
    if None not in stamps:
        while len(_kept) >= MOST_KEPT:
            del _kept[next(iter(_kept))]
        _kept[key] = library
    return library


def _lines(text: str) -> Callable[[int], int]:
    """Return a function that gives the line of a place in a text."""
    starts: list[int] = []

    def line(place: int) -> int:
        if not starts:
            at = -1
            starts.append(0)
            while (at := text.find("\n", at + 1)) >= 0:
                starts.append(at + 1)
        return bisect.bisect_right(starts, place)

    return line
