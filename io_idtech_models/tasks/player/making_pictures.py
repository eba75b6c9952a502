"""What a character wears, as pictures beside its models that every game of Quake III's kin reads."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from ...blender import names
from ...blender.shading.pixels import picture_of
from ...game.pictures import tga
from ...model.pictures import fitting, resized

MOST_LETTERS = 24  # of a picture's name: a shader's has 63 with the folder
PICTURE = re.compile(r"\.(?:tga|jpe?g|png)\Z", re.IGNORECASE)
OTHER = re.compile(r"[^a-z0-9]+")


def plain_name(name: str) -> str:
    """Return a name as files of games have it: small letters, digits and underscores."""
    return OTHER.sub("_", name.lower()).strip("_")


@dataclass(eq=False)
class Wardrobe:
    """The shaders of materials, and the files that these ask for."""

    folder: str  # in the game
    keep_shaders: bool = False  # materials that are called as a path are shaders that the game has
    files: dict[str, bytes] = field(default_factory=dict)
    icon: bytes = b""
    _known: dict[str, str] = field(default_factory=dict)

    def shader(self, material: Any) -> str:
        """Return the shader of a material (None: of what has none): a picture's, or its own name."""
        name = "" if material is None else names.file_name_of(material)
        if name not in self._known:
            self._known[name] = name if self.keep_shaders and "/" in name else self._picture(name, material)
        if not self.icon:
            self.icon = tga.encode(resized(picture_of(material), tga.ICON, tga.ICON))
        return self._known[name]

    def _picture(self, name: str, material: Any) -> str:
        stem = first = plain_name(PICTURE.sub("", name.rpartition("/")[2]))[:MOST_LETTERS] or "plain"
        number = 1
        while f"{stem}.tga" in self.files:
            number += 1
            stem = f"{first}{number}"
        self.files[f"{stem}.tga"] = tga.encode(fitting(picture_of(material), tga.LARGEST))
        return f"{self.folder}/{stem}.tga"
