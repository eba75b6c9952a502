r"""Doom 3's and Quake 4's skins: `skin NAME { model M ... FROM TO ... }`, which change a model's materials to others.

Facts (`idDeclSkin::Parse` and `RemapShaderBySkin` of dhewm3): the first pair counts whose FROM is the material, or `*`;
what no pair names stays as it is, and so does a material that is not drawn. `model` names models for editors. Materials
are compared as names of declarations: whatever their case, `\` as `/`, without what follows the last dot.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..lexer import DECL_WORDS, Cursor, fold, unquoted
from .library import decl_key

ANY = "*"


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


def parse(body: str, name: str) -> SkinDecl:
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
