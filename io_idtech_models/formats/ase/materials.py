"""Names of materials as games take them from an ASE, and where these put texture coordinates.

Doom 3 (`ASE_KeyMAP_DIFFUSE`, dhewm3) takes `*BITMAP`, from behind the game's folder `base` on, without what a picture's
name ends in; of several maps in a material's block the last. picomodel (`pm_ase.c`) takes `*BITMAP` from `models/` or
`textures/` on, up to its last dot, else `*MATERIAL_NAME`; of a material of several parts the parts' `*MATERIAL_NAME`.
Both turn backslashes round. What is written here says the same to both.

Doom 3 (`ConvertASEToModelSurfaces`) shows texture coordinates, counted from the top, as
u * tiling - u_offset and v * tiling + v_offset, turned by the angle in radians; picomodel knows none of these.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from .file import Material, Object

Doubles = NDArray[np.float64]
PICTURE = re.compile(r"\.(tga|dds|jpg|jpeg|png|bmp|pcx|psd|tif|tiff)$", re.IGNORECASE)
GAME = re.compile(r"^(?:.*?/)?base/", re.IGNORECASE)
FOLDER = re.compile(r"^.*?((?:models|textures)/.*)$", re.IGNORECASE)
BASE = "//base/"  # before a name, where both engines cut it off


def shader_of(material: Material) -> str:
    """Return a material's name as games look it up."""
    path = material.bitmap.replace("\\", "/")
    if not path:
        return material.name.replace("\\", "/")
    for pattern in (GAME, FOLDER):
        match = pattern.match(path)
        if match:
            path = match.group(1) if pattern is FOLDER else path[match.end() :]
            break
    return PICTURE.sub("", path)


def shaders_of(materials: list[Material], shape: Object, part: int) -> str:
    """Return the name of the material that a part of an object wears; "" if there is none."""
    if shape.ref >= len(materials):
        return ""
    material = materials[shape.ref]
    if not material.parts:
        return shader_of(material)
    inner = next((m for wanted in (part, 0) for m in material.parts if m.number == wanted), None)
    return shader_of(material) if inner is None else (inner.name or shader_of(inner)).replace("\\", "/")


def placed(material: Material | None, tverts: Doubles) -> NDArray[np.float32]:
    """Return texture coordinates of a file (n, 2) as a model has them: from the bottom left, as Doom 3 shows them."""
    u, v = tverts[:, 0], 1.0 - tverts[:, 1]
    if material is not None and not plain(material):
        u, v = u * material.u_tiling - material.u_offset, v * material.v_tiling + material.v_offset
        cosine, sine = _turn(material)
        u, v = u * cosine + v * sine, v * cosine - u * sine
    with np.errstate(over="ignore"):
        return np.stack((u, 1.0 - v), axis=1).astype(np.float32)


def unplaced(material: Material | None, uvs: NDArray[np.float32]) -> Doubles | None:
    """Return texture coordinates (n, 2) of a model as the file has them; None where its tiling leaves none."""
    u, v = uvs[:, 0].astype(np.float64), 1.0 - uvs[:, 1].astype(np.float64)
    if material is not None and not plain(material):
        if not (material.u_tiling and material.v_tiling):
            return None
        cosine, sine = _turn(material)
        u, v = u * cosine - v * sine, u * sine + v * cosine
        u, v = (u + material.u_offset) / material.u_tiling, (v - material.v_offset) / material.v_tiling
    return np.stack((u, 1.0 - v), axis=1)


def plain(material: Material) -> bool:
    """Tell whether a material leaves texture coordinates where they are."""
    moved = material.u_offset or material.v_offset or material.angle
    return not moved and material.u_tiling == material.v_tiling == 1.0


def _turn(material: Material) -> tuple[float, float]:
    cosine, sine = steady.cosines_and_sines(np.array([material.angle]))
    return float(cosine[0]), float(sine[0])
