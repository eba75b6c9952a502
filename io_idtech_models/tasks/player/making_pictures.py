"""What a character wears, as pictures beside its models that every game of Quake III's kin reads.

For models that wear one picture each, as Quake II's players do, all materials are laid out in one.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...blender import names
from ...blender.shading.pixels import picture_of
from ...game.pictures import tga
from ...model.pictures import fitting, resized

MOST_LETTERS = 24  # of a picture's name
LONGEST = 63  # bytes of a path in the game (MAX_QPATH)
PICTURE = re.compile(r"\.(?:tga|jpe?g|png)\Z", re.IGNORECASE)
OTHER = re.compile(r"[^a-z0-9]+")
log = logging.getLogger(__name__)
SIZE = 256  # pixels of an edge: a power of two, below the 480 lines that Quake II's models may have
Pixels = tuple[int, int, int, int]  # left, top, right, bottom


def plain_name(name: str) -> str:
    """Return a name as files of games have it: small letters, digits and underscores."""
    return OTHER.sub("_", name.lower()).strip("_")


def picture_name(name: str, suffix: str, folder: str, taken: Container[str], most: int = MOST_LETTERS) -> str:
    """Return what a new picture in a folder of the game is called there: no path is too long, none is `taken`."""
    room, plain = min(most, LONGEST - len(f"{folder}/{suffix}")), plain_name(name) or "plain"
    numbers = (f"{number or ''}" for number in count() if number != 1)  # "", "2", "3" ...
    files = (f"{plain[: room - len(number)]}{number}{suffix}" for number in numbers)
    return next(file for file in files if file not in taken)


@dataclass(eq=False)
class Wardrobe:
    """The shaders of materials, and the files that these ask for."""

    folder: str  # in the game
    keep_shaders: bool  # materials that are called as a path are shaders that the game has
    files: dict[str, bytes] = field(default_factory=dict)
    icon: bytes = b""
    _known: dict[Any, str] = field(default_factory=dict)  # shaders, by material
    _made: dict[tuple[str, bytes], str] = field(default_factory=dict)  # files, by a material's name and its picture

    def shader(self, material: Any) -> str:
        """Return the shader of a material (None: of what has none): a picture's, or its own name."""
        if material not in self._known:
            name = "" if material is None else names.file_name_of(material)
            self._known[material] = name if self.keep_shaders and "/" in name else self._picture(name, material)
        if not self.icon:
            self.icon = tga.encode(resized(picture_of(material), tga.ICON, tga.ICON))
        return self._known[material]

    def _picture(self, name: str, material: Any) -> str:
        """Return a picture's shader: `Skin` and `Skin.001` have one if they look alike."""
        data = tga.encode(fitting(picture_of(material), tga.LARGEST))
        if (name, data) not in self._made:
            file = picture_name(PICTURE.sub("", name.rpartition("/")[2]), ".tga", self.folder, self.files)
            self._made[name, data], self.files[file] = file, data
        return f"{self.folder}/{self._made[name, data]}"


class Atlas:
    """Cells of a picture for materials, in as many columns as it takes to be near a square."""

    def __init__(self, materials: Sequence[Any]) -> None:
        self.materials = list(dict.fromkeys(materials))  # None for what has none
        self.columns = int(np.ceil(np.sqrt(len(self.materials))))
        self.lines = -(-len(self.materials) // self.columns)

    def picture(self, times: int = 1) -> NDArray[np.uint8]:
        """Return the picture, of `times` its size, (SIZE, SIZE, 3), from the top."""
        found = np.zeros((SIZE * times, SIZE * times, 3), np.uint8)
        for material in self.materials:
            left, top, right, bottom = (place * times for place in self._cell(material))
            shown = np.ascontiguousarray(picture_of(material)[::-1, :, :3])
            found[top:bottom, left:right] = resized(shown, right - left, bottom - top)
        return found

    def _cell(self, material: Any) -> Pixels:
        """Return where a material is in the picture."""
        nth = self.materials.index(material)
        left, right = (SIZE * place // self.columns for place in (nth % self.columns, nth % self.columns + 1))
        top, bottom = (SIZE * place // self.lines for place in (nth // self.columns, nth // self.columns + 1))
        return left, top, right, bottom

    def uvs(self, uvs: NDArray[np.float32], material: Any, name: str) -> NDArray[np.float32]:
        """Return texture coordinates (..., 2) of a material in the picture; what repeats itself is said."""
        left, top, right, bottom = self._cell(material)
        found = uvs.astype(np.float64)
        low, high = (edge(found.reshape(-1, 2), axis=0) for edge in (np.min, np.max))
        if len(self.materials) > 1 and ((low < -1e-3).any() or (high > 1.001).any()):
            log.warning("'%s': its texture repeats itself, which one picture for all can't: it is stretched", name)
            found = (found - low) / np.maximum(high - low, 1e-9)
        scale = np.array(((right - left) / SIZE, (bottom - top) / SIZE))
        begin = np.array((left / SIZE, 1.0 - bottom / SIZE))
        placed: NDArray[np.float64] = begin + found * scale
        if len(self.materials) > 1:  # what lies at a cell's edge is shown by the texel there, and not by its neighbour
            placed = np.clip(placed, begin + 0.5 / SIZE, begin + scale - 0.5 / SIZE)
        return np.asarray(placed, np.float32)
