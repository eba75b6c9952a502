"""MDC: the compressed models of Return to Castle Wolfenstein and Wolfenstein: Enemy Territory.

A header, then four lumps that it points to: frames (bounds), names of tags, tags (F x N, frame by frame) and surfaces.
A surface is a header and lumps addressed from the surface's start: triangles, shaders, texture coordinates, base
frames, compressed frames, and two tables that say which of these each frame of the model is made of. Surfaces follow
one another at `ofs_end`; everything is little-endian. The records below are the structs of the game's `qfiles.h`
(`mdcHeader_t`, `mdcTagName_t`, `mdcTag_t`, `mdcSurface_t`, `mdcXyzCompressed_t`), field by field; those of frames and
shaders are in `common.quake3`.

Facts (iortcw's `R_LoadMDC`, `LerpCMeshVertexes` and `R_LerpTag`; measured on the games' own files):

- A vertex of a base frame is one of MD3. A frame whose number in `comp_frames` is 0 or more adds a compressed one to
  its base frame: (byte - 127) x 0.05 units along each axis. The fourth byte is its normal, see `surfaces`.
- Base frames need not be shown by any frame of the model, and all surfaces of real files share their tables.
- Front faces are clockwise. Texture coordinates count from the top left.
- A tag's place is three int16 / 64; its axes are three angles, see `model`.
- A surface's ident (7 in real files) and flags (garbage in some) are not looked at.
- Of models named `mg42` or `sherman` the game puts 128 units and a radius of 256 in the places of the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...reporting import FormatError
from ..common import chunks, quake3
from ..common.chunks import Arrays, Chain, File, Lump, Place
from ..common.records import Array, check_indices

IDENT = b"IDPC"
VERSION = 2
SURFACE_IDENT = 7  # in the games' files
NAME_SIZE, FRAME, SHADER = quake3.NAME_SIZE, quake3.FRAME, quake3.SHADER
MOST_SHARED = 64  # frames of the model to each that a surface stores: what a .blend's record takes
MOST_REPEATED, MOST_TIMES = 4 << 20, 4  # bytes of vertices that frames share, or so many times the file's size

HEADER = np.dtype([
    ("ident", "S4"), ("version", "<i4"), ("name", "S64"), ("flags", "<i4"),
    ("num_frames", "<i4"), ("num_tags", "<i4"), ("num_surfaces", "<i4"), ("num_skins", "<i4"),
    ("ofs_frames", "<i4"), ("ofs_tag_names", "<i4"), ("ofs_tags", "<i4"), ("ofs_surfaces", "<i4"), ("ofs_end", "<i4"),
])  # fmt: skip
TAG_NAME = np.dtype("S64")
TAG = np.dtype([("xyz", "<i2", 3), ("angles", "<i2", 3)])
SURFACE = np.dtype([
    ("ident", "<i4"), ("name", "S64"), ("flags", "<i4"),
    ("num_comp_frames", "<i4"), ("num_base_frames", "<i4"), ("num_shaders", "<i4"), ("num_verts", "<i4"),
    ("num_triangles", "<i4"), ("ofs_triangles", "<i4"), ("ofs_shaders", "<i4"), ("ofs_st", "<i4"),
    ("ofs_xyz_normals", "<i4"), ("ofs_xyz_compressed", "<i4"), ("ofs_frame_base_frames", "<i4"),
    ("ofs_frame_comp_frames", "<i4"), ("ofs_end", "<i4"),
])  # fmt: skip
INDEX = np.dtype("<i4")
ST = np.dtype("<f4")
VERTEX = np.dtype("<i2")  # X, Y, Z and normal
STEP = np.dtype("u1")  # likewise
SHOWN_SIZE, STEPS_SIZE = 4 * VERTEX.itemsize, 4 * STEP.itemsize  # of a vertex in a frame
NUMBER = np.dtype("<i2")


@dataclass(eq=False)
class MdcSurface:
    """One surface as the file has it."""

    header: Any  # SURFACE
    triangles: NDArray[np.int32]  # (T, 3), clockwise
    shaders: Array  # SHADER (S,)
    st: NDArray[np.float32]  # (V, 2)
    bases: NDArray[np.int16]  # (B, V, 4)
    steps: NDArray[np.uint8]  # (C, V, 4)
    base_frames: NDArray[np.int16]  # (F,) which base frame each frame has
    comp_frames: NDArray[np.int16]  # (F,) which compressed frame; -1: none


@dataclass(eq=False)
class Mdc:
    """A file as structs. `layout` says where the lumps lay; `source_surfaces` which of its surfaces each one was."""

    header: Any  # HEADER
    frames: Array  # FRAME (F,)
    tag_names: Array  # TAG_NAME (N,)
    tags: Array  # TAG (F, N)
    surfaces: list[MdcSurface]
    layout: Arrays = field(default_factory=dict)
    source_surfaces: list[int] = field(default_factory=list)


def _check_surface(found: dict[str, Array], place: Place) -> None:
    offset = place.start + place.number("ofs_triangles")
    check_indices(found["triangles"], place.number("num_verts"), offset, f"triangle {{}}{place.of}", "vertices")
    for name, low, limit in (
        ("base_frames", 0, place.number("num_base_frames")),
        ("comp_frames", -1, place.number("num_comp_frames")),
    ):
        numbers = found[name]
        bad = np.flatnonzero((numbers < low) | (numbers >= limit))
        if len(bad):
            byte = f"byte {place.start + place.number(f'ofs_frame_{name}') + int(bad[0]) * NUMBER.itemsize}"
            what = f"{name[:4]} frame of frame {bad[0]}{place.of}"
            raise FormatError(what, byte, f"{low} to {limit - 1}", int(numbers[bad[0]]))
    stored, count = len(found["bases"]) + len(found["steps"]), place.number("file.num_frames")
    place.sums["repeated"] += max(count - stored, 0) * place.number("num_verts") * SHOWN_SIZE
    if count > MOST_SHARED * stored or place.sums["repeated"] > max(MOST_TIMES * len(place.data), MOST_REPEATED):
        raise FormatError(f"surface {place.index} lacks frames", f"byte {place.start}", count, stored)


SURFACES = Chain(
    MdcSurface,
    SURFACE,
    (
        Lump("triangles", INDEX, ("num_triangles", 3)),
        Lump("shaders", SHADER, ("num_shaders",)),
        Lump("st", ST, ("num_verts", 2), "texture coordinates"),
        Lump("bases", VERTEX, ("num_base_frames", "num_verts", 4), "base frames", "ofs_xyz_normals"),
        Lump("steps", STEP, ("num_comp_frames", "num_verts", 4), "compressed frames", "ofs_xyz_compressed"),
        Lump("base_frames", NUMBER, ("file.num_frames",), "table of base frames", "ofs_frame_base_frames"),
        Lump("comp_frames", NUMBER, ("file.num_frames",), "table of compressed frames", "ofs_frame_comp_frames"),
    ),
    "surfaces",
    "surface",
    keeps_end=True,
    check=_check_surface,
)
LUMPS = (
    Lump("frames", FRAME, ("num_frames",)),
    Lump("tag_names", TAG_NAME, ("num_tags",), "names of tags"),
    Lump("tags", TAG, ("num_frames", "num_tags")),
    SURFACES,
)
MDC = File(Mdc, HEADER, LUMPS, "MDC", IDENT, VERSION, needs_frames=True)


def read(data: bytes) -> Mdc:
    """Read a file.

    Raises:
        FormatError: the file is no MDC, is cut off, or its counts, offsets or indices contradict it.
    """
    return chunks.read(MDC, data)


def write(mdc: Mdc) -> bytes:
    """Return the file of a model; inverse of `read`, byte for byte while the layout's hint applies."""
    return chunks.write(MDC, mdc)
