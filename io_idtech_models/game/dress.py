r"""Which skins there are for a model, and what its surfaces wear by one of them.

Of Quake III's kin a skin is a file beside the model, PART_SKIN.skin, and says what each surface wears; levels of detail
(`head_1.md3` of `head.md3`) wear what their model does. Of Doom 3 it is a declaration that names models, and says which
material becomes which: `skin NAME { model M ... FROM TO ... }`.

Facts of those (`idDeclSkin::Parse` and `RemapShaderBySkin` of dhewm3): the first pair counts whose FROM is the
material, or `*`; what no pair names stays as it is, and so does a material that is not drawn. `model` names models for
editors. Materials are compared as names of declarations: whatever their case, `\` as `/`, without what follows the
last dot.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

from ..reporting import LimitError, ModelError
from .lexer import DECL_WORDS, Cursor, decl_key, fold, unquoted
from .search import SearchPath, game_name
from .skin import SUFFIX, SkinFile, read_skin, skins_of, surface_key
from .store import GameFile

LEVEL = re.compile(r"_[1-3]\Z")  # of detail: what such a model's name ends in
ANY = "*"  # any material, in a declaration
NONE = "none"  # a wish for what the model's own file says


@dataclass(frozen=True)
class SkinDecl:
    """A skin: pairs of a material and the one that is shown in its place, in order."""

    name: str
    models: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]

    def worn(self, material: str) -> str:
        """Return the material that is shown in place of one that is drawn."""
        key = decl_key(material)
        return next((shown for worn, shown in self.pairs if worn == ANY or decl_key(worn) == key), material)


def parse_decl(body: str, name: str) -> SkinDecl:
    """Return the skin whose body, without its braces and without comments, is a text. Never fails.

    A word without a second ends it, as does a brace.
    """
    words = Cursor(DECL_WORDS.findall(body))
    models: list[str] = []
    pairs: list[tuple[str, str]] = []
    while True:
        first, second = words.word(), words.word()
        if {first, second} & {"", "{", "}"}:
            break
        if fold(unquoted(first)) == "model":
            models.append(unquoted(second))
        else:
            pairs.append((unquoted(first), unquoted(second)))
    return SkinDecl(name, tuple(models), tuple(pairs))


@dataclass(frozen=True)
class Dress:
    """What a model wears: a skin's file (`file` and `skin`), or a declaration (`decl`)."""

    name: str
    file: GameFile | None = None
    skin: SkinFile | None = None
    decl: SkinDecl | None = None

    def worn(self, surface: str, shader: str) -> str | None:
        """Return what a surface wears whose model's file gives it a shader; None if the skin does not list it."""
        if self.skin is not None:
            return self._listed.get(surface_key(surface))
        return shader if self.decl is None else self.decl.worn(shader)

    @cached_property
    def _listed(self) -> dict[str, str]:
        return {} if self.skin is None else self.skin.shaders()


@dataclass
class Wardrobe:
    """The skins of a model: files beside it, or (`by_decls`) declarations of its game."""

    model: GameFile
    by_decls: bool = False
    search: SearchPath = field(init=False)

    def __post_init__(self) -> None:
        """Know where to look."""
        self.search = SearchPath(self.model)

    @property
    def part(self) -> str:
        """Return what the names of its skins begin with."""
        stem = self.model.stem
        base = LEVEL.sub("", stem)
        wanted = (base + self.model.suffix).lower()
        return base if base != stem and any(name.lower() == wanted for name in self._names) else stem

    @cached_property
    def _names(self) -> list[str]:
        return self.model.folder.names()

    @cached_property
    def files(self) -> dict[str, GameFile]:
        """Files of skins by the skins' names, the one to choose first."""
        if self.by_decls or not any(name.lower().endswith(SUFFIX) for name in self._names):
            return {}  # most folders: who imports many models without skins waits for none of this
        found = skins_of(self.part, self._names)
        files = {name: self.model.folder.find_first((), [file]) for name, file in found.items()}
        return {name: file for name, file in files.items() if file is not None}

    @cached_property
    def decls(self) -> dict[str, SkinDecl]:
        """Declarations of skins of Doom 3 that name the model, by their names."""
        if not self.by_decls:
            return {}
        # With all that reads scripts, which other models need not wait for:
        from .shaders.library import DOOM3, SKIN, library_of

        scripts = self.search.scripts("skins", ".skin")
        library = library_of("skins", scripts, DOOM3)
        own = decl_key(game_name(self.model))
        found = {}
        for name in library.names(SKIN):
            place = library.find(name, SKIN)
            decl = None if place is None else parse_decl(place.body, place.name)
            if decl is not None and own in map(decl_key, decl.models):
                found[name] = decl
        return found

    def names(self) -> list[str]:
        """Return the names of all skins."""
        return [*self.files, *self.decls]

    def choose(self, wanted: str = "") -> Dress | None:
        """Return the skin of a name, or "": the one to choose first, of Doom 3 none; None if there is none to wear.

        Raises:
            ModelError: there is no skin of that name, or it can't be read.
        """
        if wanted.lower() == NONE:
            return None
        name = wanted.lower() or next(iter(self.files), "")
        if name in self.files:
            file = self.files[name]
            try:
                return Dress(name, file, read_skin(file.read()))
            except ModelError as error:
                raise ModelError(f"'{file.name}': {error}") from error
        decl = next((decl for own, decl in self.decls.items() if own.lower() == name), None) if name else None
        if decl is not None:
            return Dress(decl.name, decl=decl)
        if not name:
            return None
        there = ", ".join(self.names()) or "none"
        raise LimitError(f"there is no skin '{wanted}' for '{self.part}': {there}")
