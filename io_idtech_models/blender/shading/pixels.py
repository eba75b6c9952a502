"""The pixels that materials show: their pictures, or their colours.

Which pictures it shows for what (colour, bumps, shine) is the way back of what `nodes` makes of a game's.
"""

from __future__ import annotations

import hashlib
import logging
import os
from typing import Any, NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from .. import names
from ..compat import Block
from .images import (
    CONTENT,
    FILE,
    content_of,
    image_behind,
    image_of,
    is_new,
    makers_of,
    number_of,
    shines,
    shown_by,
    source_of,
    surfaces_of,
)

log = logging.getLogger(__name__)

Pixels = NDArray[np.uint8]  # (H, W, 3 or 4), the bottom row first
PLAIN = 8  # texels of a side of a picture in one colour
Color = tuple[float, float, float]
BLACK, GREY, WHITE = (0.0, 0.0, 0.0), (0.5, 0.5, 0.5), (1.0, 1.0, 1.0)
MIXING = frozenset(("MIX_SHADER", "ADD_SHADER", "BSDF_TRANSPARENT", "REROUTE"))  # nodes that add nothing of their own
LIGHT = frozenset(("EMISSION", "MIX_SHADER", "ADD_SHADER", "REROUTE"))  # nodes of what shines, and no light falls on
CLEAR = frozenset(("BSDF_TRANSPARENT", "BSDF_GLASS", "BSDF_REFRACTION"))  # that show what lies behind
SHINE = ("Specular Tint", "Specular IOR Level")  # inputs of the node, the picture that colours the shine first


def picture_of(material: Any) -> Pixels:
    """Return the picture that a material shows as its base colour, (H, W, 3), or that colour."""
    image = None if material is None else image_of(material)
    if image is not None:
        found = pixels_of(image)
        if found is not None:
            warn_of_nodes(material, image)
            return found[:, :, :3]
        log.warning("'%s': its picture '%s' can't be read: a plain colour is written", material.name, image.name)
    return np.broadcast_to(written_color(material), (PLAIN, PLAIN, 3))


def pixels_of(image: Block) -> Pixels | None:
    """Return the pixels of an image, as screens show them; None if its file can't be read, or it has no colours."""
    width, height = image.size
    if not width or not height or image.channels < 3:
        return None
    values = np.empty(width * height * image.channels, np.float32)
    image.pixels.foreach_get(values)
    if image.is_float:  # what has eight bits lies between 0 and 1
        values = np.clip(np.nan_to_num(values), 0.0, 1.0)
        if not image.colorspace_settings.is_data:
            return _of_linear(values.reshape(height, width, -1))[:, :, :4]
    values *= np.float32(255.0)
    values += np.float32(0.5)
    return values.astype(np.uint8).reshape(height, width, -1)[:, :, :4]


def _of_linear(values: NDArray[np.float32]) -> Pixels:
    """Return linear colours (H, W, C), 0 to 1, as screens show them; alpha is linear there, too.

    Each number of a pixel begins where the one before it ends: so no processor rounds otherwise.
    """
    begins = np.array([_linear((number - 0.5) / 255) for number in range(1, 256)], np.float32)
    found: Pixels = np.searchsorted(begins, values, side="right").astype(np.uint8)
    found[:, :, 3:] = (values[:, :, 3:] * np.float32(255.0) + np.float32(0.5)).astype(np.uint8)
    return found


def origin_of(image: Block) -> str:
    """Return the path of the file that an image was made of, absolute; "" for none."""
    found = image.get(FILE)
    if not isinstance(found, str):
        found = _path_of(image) if image.source == "FILE" and image.filepath else ""
    return os.path.abspath(found) if found else ""  # noqa: PTH100 - links stay


def file_of(image: Block) -> str:
    """Return the path of the file that an image shows, absolute: another than its origin once it was unpacked."""
    unpacked = image.source == "FILE" and image.packed_file is None and image.filepath
    return os.path.abspath(_path_of(image)) if unpacked else origin_of(image)  # noqa: PTH100


def _path_of(image: Block) -> str:
    """Return the path that an image names, which may begin where the .blend lies that has it."""
    return str(bpy.path.abspath(image.filepath, library=image.library))


def is_changed(image: Block) -> bool:
    """Tell whether an image shows what is no file's: it was painted, or made here."""
    if image.is_dirty or image.source == "GENERATED":
        return True
    if image.packed_file is None:
        return False
    known = image.get(CONTENT)
    if not isinstance(known, str):
        return not _holds_its_file(image)
    if hashlib.sha256(image.packed_file.data).hexdigest() == known:
        return False
    shown = pixels_of(image)
    same = [] if shown is None else [content_of(shown[::-1, :, :count]) for count in (3, 4)]
    return known not in same


def _holds_its_file(image: Block) -> bool:
    """Tell whether what is packed is what the image's file holds, as *Pack Resources* leaves it."""
    try:
        with open(_path_of(image), "rb") as file:  # noqa: PTH123 - no game's file, the one that Blender packed
            return bool(file.read() == image.packed_file.data)
    except OSError:
        return False


def color_of(material: Any) -> NDArray[np.uint8]:
    """Return a material's base colour, (3,), as pictures have it."""
    return np.array([round(255 * _shown(value)) for value in _colour(material)], np.uint8)


def has_no_color(material: Any) -> bool:
    """Tell whether a material has the base colour of Blender's new ones, which nobody chose."""
    return is_new(_colour(material))


def _colour(material: Any) -> tuple[float, ...]:
    """Return a material's base colour, linear."""
    if material is None:
        return GREY
    surfaces = surfaces_of(material)
    if not surfaces:
        return tuple(material.diffuse_color)[:3]
    return _colour_at(surfaces[0].inputs["Base Color"])


def _colour_at(socket: Block) -> tuple[float, ...]:
    """Return the colour that an input has, linear, of its own or of an RGB node."""
    given = source_of(socket)
    shown = given.outputs[0] if given is not None and given.type == "RGB" else socket
    return tuple(shown.default_value)[:3]


def written_color(material: Any) -> NDArray[np.uint8]:
    """Return what `color_of` does, for a file that is to show it; that nodes make another is said."""
    surfaces = [] if material is None else surfaces_of(material)
    made_by = (source_of(surface.inputs["Base Color"]) for surface in surfaces)
    if any(node is not None and node.type != "RGB" for node in made_by) or _is_made_of_more(material):
        log.warning("'%s': nodes make its base colour, bake them into a picture: a plain one is written", material.name)
    return color_of(material)


def _shown(linear: float) -> float:
    """Return a colour's share as screens show it (IEC 61966-2-1, sRGB)."""
    value = min(max(linear, 0.0), 1.0)
    return 12.92 * value if value <= 0.0031308 else 1.055 * float(value ** (1 / 2.4)) - 0.055


def _linear(shown: float) -> float:
    """Return what `_shown` shows so."""
    return shown / 12.92 if shown <= 0.04045 else float(((shown + 0.055) / 1.055) ** 2.4)


def warn_of_nodes(material: Any, image: Block) -> None:
    """Say that nodes change the picture of a material, which is written as it is."""
    if is_made_otherwise(material):
        text = "'%s': nodes change its picture '%s', bake them into one: it is written as it is"
        log.warning(text, material.name, image.name)


def is_made_otherwise(material: Any) -> bool:
    """Tell whether what one's own material shows is more than a picture, or none as it is."""
    return bool(makers_of(material)) or _is_made_of_more(material)


def _is_made_of_more(material: Any) -> bool:
    """Tell whether another kind of surface than a Principled BSDF, or several, make what one's own material shows.

    Of what import made of a game's script that is what the script says, which is there.
    """
    shown = [] if material is None or names.GIVEN in material else shown_by(material)
    makers = [node for node in shown if node.type not in MIXING and any(out.type == "SHADER" for out in node.outputs)]
    if len(makers) != 1 or makers[0].type == "BSDF_PRINCIPLED":
        return len(makers) > 1
    source = source_of(makers[0].inputs["Color"]) if "Color" in makers[0].inputs else None
    return source is None or source.type != "TEX_IMAGE"


class Maps(NamedTuple):
    """Images, or None: what light makes of the surface is in the second and third."""

    diffuse: Block | None = None
    bump: Block | None = None
    specular: Block | None = None
    tested: bool = False  # the first one's alpha says where there is a surface
    glow: Block | None = None  # what is as bright as it is
    shine: Color = BLACK  # times this, as pictures have it; without an image the light itself
    lit: bool = True  # what has no first image has a colour of its own that lights light
    through: bool = False  # what lies behind is seen through it, otherwise than where it is `tested`


def maps_of(material: Block) -> Maps:
    """Return the pictures of a material, which lead to the inputs of its surface."""
    surface, through = next(iter(surfaces_of(material)), None), is_seen_through(material)
    if surface is None:
        shown = [node for node in shown_by(material) if any(out.type == "SHADER" for out in node.outputs)]
        lights = [node for node in shown if node.type == "EMISSION"]
        if not lights or any(node.type not in LIGHT for node in shown):
            return Maps(image_of(material), through=through)
        glow, shine = _glow_of(material, lights[0], "")
        return Maps(None, None, None, False, glow, shine, False, through)
    diffuse = image_of(material)
    bump = image_behind(surface.inputs["Normal"])
    specular = next((found for name in SHINE if (found := image_behind(surface.inputs[name])) is not None), None)
    glow, shine = _glow_of(material, surface) if shines(surface) else (None, BLACK)
    others = (bump, specular, glow)
    diffuse = None if diffuse in others and image_behind(surface.inputs["Base Color"]) is None else diffuse
    tested = diffuse is not None and image_behind(surface.inputs["Alpha"]) == diffuse
    return Maps(diffuse, bump, specular, tested, glow, shine, True, through and not tested)


def is_seen_through(material: Block) -> bool:
    """Tell whether a material shows what lies behind it: by a shader that does, or by an input of its surface."""
    inputs = [surface.inputs[name] for surface in surfaces_of(material) for name in ("Alpha", "Transmission Weight")]
    clear = any(number_of(socket) != (1.0 if socket.name == "Alpha" else 0.0) for socket in inputs)
    return clear or any(node.type in CLEAR and not node.mute for node in shown_by(material))


def _glow_of(material: Block, surface: Block, prefix: str = "Emission ") -> tuple[Block | None, Color]:
    """Return the picture of what shines of a surface, and how brightly that does; its inputs' names have a prefix."""
    socket, power = surface.inputs[f"{prefix}Color"], number_of(surface.inputs[f"{prefix}Strength"])
    image, source = image_behind(socket), source_of(socket)
    if power is None or (source is not None and source.type not in {"RGB", "TEX_IMAGE"}):
        text = "'%s': nodes make what shines, bake that into a picture: it is written without them"
        log.warning(text, material.name)
    if source is not None and source.type not in {"RGB", "TEX_IMAGE"}:
        return None, BLACK
    color = WHITE if image is not None else _colour_at(socket)
    red, green, blue = (_shown(part * (1.0 if power is None else power)) for part in color)
    return image, (red, green, blue)
