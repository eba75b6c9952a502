"""Doom 3's image programs: pictures made of pictures, such as `addnormals(a, heightmap(b, 4))`.

Facts (`R_ParseImageProgram_r` and `idImage::ImageProgramStringToCompressedFileName` of dhewm3): functions are called in
any case, `heightmap(I, scale)`, `addnormals(I, I)`, `smoothnormals(I)`, `add(I, I)`, `scale(I, r, g, b, a)`,
`invertAlpha(I)`, `invertColor(I)`, `makeIntensity(I)` (red to all channels) and `makeAlpha(I)` (mean to alpha, white).
Whatever else is called with parentheses is read in the same way, for games that know more functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..lexer import NUMBER, Cursor, fold, number, unquoted

DEEPEST = 32  # an image's name has 256 characters (MAX_IMAGE_NAME), and a function at least 5
MOST_ARGUMENTS = 64


@dataclass(frozen=True)
class Picture:
    """A picture of a file, or one that the engine makes (`_white`)."""

    name: str


@dataclass(frozen=True)
class Call:
    """What a function makes of pictures and numbers."""

    function: str  # in lower case
    pictures: tuple[Program, ...]
    spelt: tuple[str, ...] = ()  # its numbers, which come last

    @property
    def numbers(self) -> tuple[float, ...]:
        """Return its numbers."""
        return tuple(map(number, self.spelt))


Program = Picture | Call


def parse(words: Cursor) -> Program | None:
    """Return the program that begins with the next word, and go on behind it; None where none begins.

    One that is nested too deep, or not closed, gives what can be read of it.
    """
    return _parse(words, 0)


def _parse(words: Cursor, depth: int) -> Program | None:
    word = words.word()
    if word in {"", "{", "}", "(", ")", ","}:
        words.back()
        return None
    name = unquoted(word)
    if word.startswith('"') or words.peek() != "(" or depth == DEEPEST:
        return Picture(name)
    words.word()
    pictures: list[Program] = []
    numbers: list[str] = []
    for _ in range(MOST_ARGUMENTS):
        sign = "-" if words.peek() == "-" else ""
        if sign:
            words.word()
        if NUMBER.fullmatch(words.peek()):
            numbers.append(sign + words.word())
        else:
            found = _parse(words, depth + 1)
            pictures += [] if found is None else [found]
        if words.peek() != ",":
            break
        words.word()
    _close(words)
    return Call(fold(name), tuple(pictures), tuple(numbers))


def _close(words: Cursor) -> None:
    """Go on behind the parenthesis that ends a call; one that is missing ends with the line."""
    if words.peek() == ")":
        words.word()
        return
    depth = 1
    while depth and words.at_argument():
        depth += {"(": 1, ")": -1}.get(words.word(), 0)


def names(program: Program) -> Iterator[str]:
    """Yield the names of the pictures in a program, first the one that shows best what it looks like."""
    if isinstance(program, Picture):
        yield program.name
    else:
        for picture in program.pictures:
            yield from names(picture)


def is_normal_map(program: Program) -> bool:
    """Tell whether the first picture of a program is a normal map where it is used as one.

    It is a height, from which the engine makes normals, where `heightmap` is all that is done to it.
    """
    while isinstance(program, Call):
        if program.function == "heightmap" or not program.pictures:
            return False
        program = program.pictures[0]
    return True


def text(program: Program) -> str:
    """Return a program as the engine calls the picture that it makes (R_ParsePastImageProgram)."""
    if isinstance(program, Picture):
        return program.name
    arguments = [text(picture) for picture in program.pictures] + list(program.spelt)
    return f"{program.function}( {', '.join(arguments)})"
