"""Materials of Doom 3 as text: what an export offers beside a model for materials that the game does not have yet.

Facts (`idMaterial::ParseMaterial` and `ParseStage`, dhewm3; `R_LoadImage`, Image_files.cpp): `diffusemap`,
`bumpmap` and `specularmap` before a picture are stages of their own; a stage in braces may test alpha and have a
colour; what one adds (`blend add`) no light changes; `_white` is a picture that the engine makes. Pictures are looked
for as TGA, then JPEG, whatever suffix a name has of these two. The engine reads `.mtr` files in the game's folder
`materials` alone.

A text says in its first line what the rest of it sums up to, so that who writes it anew knows whether somebody changed
it meanwhile: then it is theirs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from zlib import crc32

SUFFIX = ".mtr"
HEAD = "// Written by an export, which leaves it alone once you change it: %08x\n"
OWN = re.compile(rb"// Written by an export, which leaves it alone once you change it: ([0-9a-f]{8})\r?\n")
WHITE = "_white"
READ = (".tga", ".jpg")  # suffixes of pictures that the engine reads; of others it is told the first
PLAIN = re.compile(r"[^\s(){}\",]+$")  # a name that is a word by itself


@dataclass(frozen=True)
class Declared:
    """A material: its name, and pictures as the game looks for them, "" for none."""

    name: str
    diffuse: str = ""
    bump: str = ""
    specular: str = ""
    color: tuple[float, float, float] = (1.0, 1.0, 1.0)  # of one without a diffuse picture, 0 to 1
    tested: bool = False  # what is half transparent, or more, is not drawn
    glow: str = ""  # a picture that is as bright as it is
    shine: tuple[float, float, float] = (0.0, 0.0, 0.0)  # how bright, 0 to 1; without a picture the light itself


def text_of(materials: Iterable[Declared]) -> bytes:
    """Return the text of materials, which `is_own` knows again."""
    body = "".join(map(_block, materials)).encode()
    return (HEAD % crc32(body)).encode() + body


def is_own(data: bytes) -> bool:
    """Tell whether a file is as `text_of` gave it: nobody has changed it since."""
    head = OWN.match(data)
    return head is not None and int(head[1], 16) == crc32(data[head.end() :].replace(b"\r\n", b"\n"))


def can_be_named(name: str) -> bool:
    """Tell whether a name can stand in a text: games read a word, or what stands between quotes."""
    return bool(name) and not set(name) & set('"\r\n\0')


def _word(name: str) -> str:
    return name if PLAIN.match(name) else f'"{name}"'


def _colored(color: tuple[float, float, float]) -> str:
    """Return the lines that give a stage a colour."""
    red, green, blue = color
    return f"\t\tred {red:.4g}\n\t\tgreen {green:.4g}\n\t\tblue {blue:.4g}\n"


def _block(material: Declared) -> str:
    """Return the declaration of a material."""
    lines = []
    if material.diffuse and not material.tested:
        lines.append(f"\tdiffusemap\t{_word(material.diffuse)}\n")
    else:
        shown = "" if material.diffuse else _colored(material.color)
        test = "\t\talphaTest 0.5\n" if material.tested else ""
        lines.append(f"\t{{\n\t\tblend diffusemap\n\t\tmap {_word(material.diffuse or WHITE)}\n{shown}{test}\t}}\n")
    lines += [f"\tbumpmap\t\t{_word(material.bump)}\n"] if material.bump else []
    lines += [f"\tspecularmap\t{_word(material.specular)}\n"] if material.specular else []
    if any(material.shine):
        shown = "" if material.glow and material.shine == (1.0, 1.0, 1.0) else _colored(material.shine)
        lines.append(f"\t{{\n\t\tblend add\n\t\tmap {_word(material.glow or WHITE)}\n{shown}\t}}\n")
    return f"{_word(material.name)}\n{{\n{''.join(lines)}}}\n\n"
