"""MD3: the models of Quake III Arena, Return to Castle Wolfenstein, Enemy Territory and their kin.

A header, then three lumps that it points to: frames (bounds), tags (F x N, frame by frame) and surfaces. A surface is a
header and four lumps, addressed from the surface's start: shaders, triangles, texture coordinates, and the vertices of
all frames. Surfaces follow one another at `ofs_end`; everything is little-endian. The records below are the structs of
id's `qfiles.h` (`md3Header_t`, `md3Surface_t`, `md3Triangle_t`, `md3St_t`, `md3XyzNormal_t`), field by
field; those of frames, tags and shaders are in `common.quake3`.

Facts (engine source, ioquake3's `R_LoadMD3` and `LerpMeshVertexes` unless another is named):

- A coordinate is an int16 / 64 (`MD3_XYZ_SCALE`), so a model spans -512 to 511.98 units. Normals: see `common.normals`.
- Front faces are clockwise. Texture coordinates count from the top left.
- Offsets alone say where a lump lies: every order, and any bytes between lumps, occur in real files.
- A surface's own `num_frames` is not looked at. Real files have 0 there with the vertices present: the header's number
  is used if that many frames fit into the file, else the surface's own, the last one repeated.
- `ofs_end` of the last surface is not looked at either; real files have 0 or a negative number.
- Names end at the first NUL; real files hold garbage behind it, or no NUL at all.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...reporting import FormatError
from ..common import chunks, quake3
from ..common.chunks import Arrays, Chain, File, Lump, Place
from ..common.records import Array, check_indices, decode_name

log = logging.getLogger(__name__)

IDENT = b"IDP3"
VERSION = 15
SCALE, NAME_SIZE, FRAME_NAME_SIZE = quake3.SCALE, quake3.NAME_SIZE, quake3.FRAME_NAME_SIZE
MOST_REPEATED = 4 << 20  # bytes of vertices that repeat a surface's last frame, or four times the file's size

HEADER = np.dtype([
    ("ident", "S4"), ("version", "<i4"), ("name", "S64"), ("flags", "<i4"),
    ("num_frames", "<i4"), ("num_tags", "<i4"), ("num_surfaces", "<i4"), ("num_skins", "<i4"),
    ("ofs_frames", "<i4"), ("ofs_tags", "<i4"), ("ofs_surfaces", "<i4"), ("ofs_eof", "<i4"),
])  # fmt: skip
FRAME, SHADER, TAG = quake3.FRAME, quake3.SHADER, quake3.TAG
SURFACE = np.dtype([
    ("ident", "S4"), ("name", "S64"), ("flags", "<i4"),
    ("num_frames", "<i4"), ("num_shaders", "<i4"), ("num_verts", "<i4"), ("num_triangles", "<i4"),
    ("ofs_triangles", "<i4"), ("ofs_shaders", "<i4"), ("ofs_st", "<i4"), ("ofs_xyznormal", "<i4"), ("ofs_end", "<i4"),
])  # fmt: skip
TRIANGLE = np.dtype("<i4")  # three each
ST = np.dtype("<f4")  # two each
VERTEX = np.dtype([("xyz", "<i2", 3), ("normal", "<u2")])


@dataclass(eq=False)
class Md3Surface:
    """One surface as the file has it. F is the number of frames that were found, not the header's."""

    header: Any  # SURFACE
    shaders: Array  # SHADER (S,)
    triangles: NDArray[np.int32]  # (T, 3), clockwise
    st: NDArray[np.float32]  # (V, 2)
    vertices: Array  # VERTEX (F, V)


@dataclass(eq=False)
class Md3:
    """A file as structs. `layout` says where the lumps lay; `source_surfaces` which of its surfaces each one was."""

    header: Any  # HEADER
    frames: Array  # FRAME (F,)
    tags: Array  # TAG (F, N)
    surfaces: list[Md3Surface]
    layout: Arrays = field(default_factory=dict)
    source_surfaces: list[int] = field(default_factory=list)


class _Vertices(Lump):
    """The vertices of as many frames as a surface has."""

    def taken(self, place: Place, offset: int) -> dict[str, Array]:
        """Return the vertices of the file's number of frames if that many fit, else of the surface's own."""
        own, model, shape = place.number("num_frames"), place.number("file.num_frames"), self.shape
        fits = offset + model * place.number("num_verts") * VERTEX.itemsize <= len(place.data)
        if not fits and 1 <= own < model:
            name = decode_name(place.header["name"])
            log.warning("surface '%s' has %d frames, the model %d", name, own, model)
            shape = ("num_frames", "num_verts")
        return Lump.taken(replace(self, shape=shape), place, offset)


def _check_surface(found: dict[str, Array], place: Place) -> None:
    verts, vertices, count = place.number("num_verts"), found["vertices"], place.number("file.num_frames")
    offset = place.start + place.number("ofs_triangles")
    check_indices(found["triangles"], verts, offset, f"triangle {{}}{place.of}", "vertices")
    place.sums["repeated"] += (count - len(vertices)) * VERTEX.itemsize * verts
    if place.sums["repeated"] > max(4 * len(place.data), MOST_REPEATED):
        raise FormatError(f"surface {place.index} lacks frames", f"byte {place.start}", count, len(vertices))


SURFACES = Chain(
    Md3Surface,
    SURFACE,
    (
        Lump("shaders", SHADER, ("num_shaders",)),
        Lump("triangles", TRIANGLE, ("num_triangles", 3)),
        Lump("st", ST, ("num_verts", 2), "texture coordinates"),
        _Vertices("vertices", VERTEX, ("file.num_frames", "num_verts"), offset="ofs_xyznormal"),
    ),
    "surfaces",
    "surface",
    keeps_end=True,
    check=_check_surface,
)
LUMPS = Lump("frames", FRAME, ("num_frames",)), Lump("tags", TAG, ("num_frames", "num_tags")), SURFACES
MD3 = File(Md3, HEADER, LUMPS, "MD3", IDENT, VERSION, needs_frames=True, end="ofs_eof")


def read(data: bytes) -> Md3:
    """Read a file.

    Raises:
        FormatError: the file is no MD3, is cut off, or its counts, offsets or indices contradict it.
    """
    return chunks.read(MD3, data)


def write(md3: Md3) -> bytes:
    """Return the file of a model; inverse of `read`, byte for byte while the layout's hint applies."""
    placed = chunks.Placed(MD3, md3)
    if _reads_on(md3, placed):
        filled = [replace(surface, vertices=_filled(surface, len(md3.frames))) for surface in md3.surfaces]
        placed = chunks.Placed(MD3, replace(md3, surfaces=filled))
    return placed.data()


def _reads_on(md3: Md3, placed: chunks.Placed) -> bool:
    """Tell whether readers would take what lies behind a surface that lacks frames for these: see `_Vertices`."""
    count = len(md3.frames)
    short = [i for i, surface in enumerate(md3.surfaces) if 0 < surface.vertices.size < count * len(surface.st)]
    return any(
        placed.begin("surfaces", i, "vertices") + VERTEX.itemsize * count * len(md3.surfaces[i].st) <= placed.size
        for i in short
    )


def _filled(surface: Md3Surface, count: int) -> Array:
    """Return the vertices of so many frames, the last one repeated."""
    vertices: Array = surface.vertices[np.minimum(np.arange(count), len(surface.vertices) - 1)]
    return vertices
