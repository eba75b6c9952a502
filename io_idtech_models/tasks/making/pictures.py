"""What a character wears, as pictures beside its models that every game of Quake III's kin reads."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...blender import names
from ...blender.shading.images import image_of
from ...game.player import tga

log = logging.getLogger(__name__)

PLAIN = 8  # texels of a side of a picture in one colour
GREY = (0.5, 0.5, 0.5)
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
            self.icon = tga.write(tga.resized(_pixels(material), tga.ICON, tga.ICON))
        return self._known[name]

    def _picture(self, name: str, material: Any) -> str:
        stem = first = plain_name(PICTURE.sub("", name.rpartition("/")[2]))[:MOST_LETTERS] or "plain"
        number = 1
        while f"{stem}.tga" in self.files:
            number += 1
            stem = f"{first}{number}"
        self.files[f"{stem}.tga"] = tga.write(tga.fitting(_pixels(material)))
        return f"{self.folder}/{stem}.tga"


def _pixels(material: Any) -> tga.Picture:
    """Return the picture that a material shows as its base colour, or that colour."""
    image = None if material is None else image_of(material)
    if image is not None:
        width, height = image.size
        if width and height and image.channels >= 3:
            values = np.empty(width * height * image.channels, np.float32)
            image.pixels.foreach_get(values)
            shown = np.clip(values.reshape(height, width, -1)[:, :, :3], 0.0, 1.0)
            return np.asarray(np.rint(shown * 255.0), np.uint8)
        log.warning("'%s': its picture '%s' can't be read: a plain colour is written", material.name, image.name)
    colour = [round(255 * _shown(value)) for value in _colour(material)]
    return np.broadcast_to(np.array(colour, np.uint8), (PLAIN, PLAIN, 3))


def _colour(material: Any) -> tuple[float, ...]:
    """Return a material's base colour, linear."""
    if material is None:
        return GREY
    nodes = [] if material.node_tree is None else material.node_tree.nodes
    surface = next((node for node in nodes if node.type == "BSDF_PRINCIPLED"), None)
    found = material.diffuse_color if surface is None else surface.inputs["Base Color"].default_value
    return tuple(found)[:3]


def _shown(linear: float) -> float:
    """Return a colour's share as screens show it (IEC 61966-2-1, sRGB)."""
    value = min(max(linear, 0.0), 1.0)
    return 12.92 * value if value <= 0.0031308 else 1.055 * float(value ** (1 / 2.4)) - 0.055
