"""MD3: the models of Quake III Arena, Return to Castle Wolfenstein, Enemy Territory and their kin.

A header, then three lumps that it points to: frames (bounds), tags (F x N, frame by frame) and surfaces. A surface is a
header and four lumps, addressed from the surface's start: shaders, triangles, texture coordinates, and the vertices of
all frames. Surfaces follow one another at `ofs_end`; everything is little-endian. The records below are the structs of
id's `qfiles.h` (`md3Header_t`, `md3Frame_t`, `md3Tag_t`, `md3Surface_t`, `md3Shader_t`, `md3Triangle_t`, `md3St_t`,
`md3XyzNormal_t`), field by field.

Facts (engine source, ioquake3's `R_LoadMD3` and `LerpMeshVertexes` unless another is named):

- A coordinate is an int16 / 64 (`MD3_XYZ_SCALE`), so a model spans -512 to 511.98 units. Normals: see `common.normals`.
- Front faces are clockwise. Texture coordinates count from the top left.
- Offsets alone say where a lump lies: every order, and any bytes between lumps, occur in real files.
- A surface's own `num_frames` is not looked at. Real files have 0 there with the vertices present: the header's number
  is used if that many frames fit into the file, else the surface's own, the last one repeated.
- `ofs_end` of the last surface is not looked at either; real files have 0 or a negative number.
- Names end at the first NUL; real files hold garbage behind it, or no NUL at all.
- A frame's bounds, local origin and radius are q3data's (`P3DExport`): extents, 0, distance of the farthest corner.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...reporting import FormatError
from ..common.chunks import Arrays, Lump, assemble, check_overlap, plan, survey
from ..common.records import Array, decode_name, take

log = logging.getLogger(__name__)

IDENT = b"IDP3"
VERSION = 15
SCALE = 1.0 / 64.0
NAME_SIZE = 64
FRAME_NAME_SIZE = 16
MOST_REPEATED = 4 << 20  # bytes of vertices that repeat a surface's last frame, or four times the file's size

HEADER = np.dtype([
    ("ident", "S4"), ("version", "<i4"), ("name", "S64"), ("flags", "<i4"),
    ("num_frames", "<i4"), ("num_tags", "<i4"), ("num_surfaces", "<i4"), ("num_skins", "<i4"),
    ("ofs_frames", "<i4"), ("ofs_tags", "<i4"), ("ofs_surfaces", "<i4"), ("ofs_eof", "<i4"),
])  # fmt: skip
FRAME = np.dtype([
    ("mins", "<f4", 3), ("maxs", "<f4", 3), ("local_origin", "<f4", 3), ("radius", "<f4"), ("name", "S16"),
])  # fmt: skip
TAG = np.dtype([("name", "S64"), ("origin", "<f4", 3), ("axis", "<f4", (3, 3))])
SURFACE = np.dtype([
    ("ident", "S4"), ("name", "S64"), ("flags", "<i4"),
    ("num_frames", "<i4"), ("num_shaders", "<i4"), ("num_verts", "<i4"), ("num_triangles", "<i4"),
    ("ofs_triangles", "<i4"), ("ofs_shaders", "<i4"), ("ofs_st", "<i4"), ("ofs_xyznormal", "<i4"), ("ofs_end", "<i4"),
])  # fmt: skip
SHADER = np.dtype([("name", "S64"), ("index", "<i4")])
TRIANGLE = np.dtype("<i4")  # three each
ST = np.dtype("<f4")  # two each
VERTEX = np.dtype([("xyz", "<i2", 3), ("normal", "<u2")])

# Lumps of a surface in the order that we write; `lump_key` numbers them for the layout.
SURFACE_LUMPS = ("header", "shaders", "triangles", "st", "vertices")
HEADER_KEY, FRAMES_KEY, TAGS_KEY, SURFACES_KEY, FIRST_SURFACE_KEY = range(5)
OFFSET_FIELDS = {"shaders": "ofs_shaders", "triangles": "ofs_triangles", "st": "ofs_st", "vertices": "ofs_xyznormal"}


def lump_key(surface: int, lump: str) -> int:
    """Return the layout's number of a surface's lump."""
    return FIRST_SURFACE_KEY + surface * len(SURFACE_LUMPS) + SURFACE_LUMPS.index(lump)


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


def read(data: bytes) -> Md3:
    """Read a file.

    Raises:
        FormatError: the file is no MD3, is cut off, or its counts, offsets or indices contradict it.
    """
    header = take(data, HEADER, (1,), 0, "header")[0]
    if header["ident"] != IDENT:
        raise FormatError("not an MD3 file", "byte 0", IDENT.decode(), repr(bytes(header["ident"]))[1:])
    if header["version"] != VERSION:
        raise FormatError("unsupported MD3 version", "byte 4", VERSION, header["version"])
    num_frames, num_tags = int(header["num_frames"]), int(header["num_tags"])
    if num_frames < 1:
        raise FormatError("model without frames", "byte 76", "1 or more", num_frames)
    frames = take(data, FRAME, (num_frames,), int(header["ofs_frames"]), "frames")
    tags = take(data, TAG, (num_frames, num_tags), int(header["ofs_tags"]), "tags")
    lumps = [
        Lump(HEADER_KEY, 0, HEADER.itemsize),
        Lump(FRAMES_KEY, int(header["ofs_frames"]), frames.nbytes),
        Lump(TAGS_KEY, int(header["ofs_tags"]), tags.nbytes),
    ]
    surfaces = _read_surfaces(data, header, lumps)
    if not surfaces:
        lumps.append(Lump(SURFACES_KEY, int(header["ofs_surfaces"]), 0))
    layout = survey(lumps, data)
    last_end = int(surfaces[-1].header["ofs_end"]) if surfaces else 0
    true_end = _end_of_surface(lumps) if surfaces else 0
    layout["layout_ends"] = np.array([int(header["ofs_eof"]) - len(data), last_end, last_end - true_end], np.int64)
    return Md3(header, frames, tags, surfaces, layout, list(range(len(surfaces))))


def _end_of_surface(lumps: list[Lump]) -> int:
    """Return where the last surface's last lump ends, from the surface's start."""
    own = lumps[-len(SURFACE_LUMPS) :]
    return max(lump.offset + lump.size for lump in own if lump.size) - own[0].offset


def _read_surfaces(data: bytes, header: Any, lumps: list[Lump]) -> list[Md3Surface]:
    count, start = int(header["num_surfaces"]), int(header["ofs_surfaces"])
    if count < 0:
        raise FormatError("negative number of surfaces", "byte 84", "0 or more", count)
    num_frames = int(header["num_frames"])
    repeated, most, checked = 0, max(4 * len(data), MOST_REPEATED), 0
    surfaces: list[Md3Surface] = []
    for index in range(count):
        known = len(lumps) if index else 0
        surface = _read_surface(data, index, start, num_frames, lumps)
        surfaces.append(surface)
        checked = check_overlap(lumps[known:], len(data), checked)
        repeated += (num_frames - len(surface.vertices)) * surface.vertices.itemsize * len(surface.st)
        if repeated > most:
            raise FormatError(f"surface {index} lacks frames", f"byte {start}", num_frames, len(surface.vertices))
        end = int(surface.header["ofs_end"])
        if index + 1 < count and end < SURFACE.itemsize:
            raise FormatError(f"surface {index} ends inside its header", f"byte {start}", SURFACE.itemsize, end)
        start += end
    return surfaces


def _read_surface(data: bytes, index: int, start: int, num_frames: int, lumps: list[Lump]) -> Md3Surface:
    header = take(data, SURFACE, (1,), start, f"header of surface {index}")[0]
    what = f"of surface {index} '{decode_name(header['name'])}'"
    offsets = {name: start + int(header[offset]) for name, offset in OFFSET_FIELDS.items()}
    verts = int(header["num_verts"])
    shaders = take(data, SHADER, (int(header["num_shaders"]),), offsets["shaders"], f"shaders {what}")
    triangles = take(data, TRIANGLE, (int(header["num_triangles"]), 3), offsets["triangles"], f"triangles {what}")
    st = take(data, ST, (verts, 2), offsets["st"], f"texture coordinates {what}")
    found = _frames_present(data, header, offsets["vertices"], num_frames)
    vertices = take(data, VERTEX, (found, verts), offsets["vertices"], f"vertices {what}")
    if triangles.size and not 0 <= int(triangles.min()) <= int(triangles.max()) < verts:
        bad = int(np.flatnonzero(((triangles < 0) | (triangles >= verts)).any(axis=1))[0])
        place = f"byte {offsets['triangles'] + 12 * bad}"
        raise FormatError(f"triangle {bad} {what}", place, f"vertices 0 to {verts - 1}", triangles[bad].tolist())
    lumps.append(Lump(lump_key(index, "header"), start, SURFACE.itemsize))
    arrays = {"shaders": shaders, "triangles": triangles, "st": st, "vertices": vertices}
    for name, array in arrays.items():
        # The offset of an empty lump is kept as written, from the surface's start.
        offset = offsets[name] if array.nbytes else int(header[OFFSET_FIELDS[name]])
        lumps.append(Lump(lump_key(index, name), offset, array.nbytes))
    return Md3Surface(header, shaders, triangles, st, vertices)


def _frames_present(data: bytes, header: Any, offset: int, num_frames: int) -> int:
    """Return how many frames of vertices a surface has: the header's number if that many fit, else its own."""
    own, verts = int(header["num_frames"]), int(header["num_verts"])
    if own == num_frames or offset + num_frames * verts * VERTEX.itemsize <= len(data):
        return num_frames
    if 1 <= own < num_frames:
        log.warning("surface '%s' has %d frames, the model %d", decode_name(header["name"]), own, num_frames)
        return own
    return num_frames


def write(md3: Md3) -> bytes:
    """Return the file of a model; inverse of `read`, byte for byte while the layout's hint applies."""
    header = np.array(md3.header, HEADER)
    lumps = {HEADER_KEY: b"", FRAMES_KEY: md3.frames.tobytes(), TAGS_KEY: md3.tags.tobytes()}
    lumps[SURFACES_KEY] = b""
    for i, surface in enumerate(md3.surfaces):
        lumps |= {lump_key(i, name): getattr(surface, name).tobytes() for name in SURFACE_LUMPS}
    sizes = {key: len(lump) for key, lump in lumps.items()} | {HEADER_KEY: HEADER.itemsize}
    renamed = {key: key for key in range(FIRST_SURFACE_KEY)}
    for new, old in enumerate(md3.source_surfaces):
        renamed |= {lump_key(old, name): lump_key(new, name) for name in SURFACE_LUMPS if old >= 0}
    layout = plan(list(lumps), sizes, md3.layout, renamed)
    offsets, size = layout.places(sizes)
    if not _in_order(md3, offsets):
        layout = plan(list(lumps), sizes, {}, {})
        offsets, size = layout.places(sizes)
    if _reads_on(md3, offsets, size):
        return write(replace(md3, surfaces=[_filled(surface, len(md3.frames)) for surface in md3.surfaces]))
    ends = md3.layout["layout_ends"].tolist() if md3.layout else (0, 0, 0)
    for key, name in ((FRAMES_KEY, "ofs_frames"), (TAGS_KEY, "ofs_tags")):
        following = lump_key(0, "header") if md3.surfaces else -1
        header[name] = offsets.get(key, layout.empty.get(key, offsets.get(following, size)))
    header["ofs_surfaces"] = _surface_chain(md3, lumps, layout.empty, offsets, (size - len(layout.tail), *ends[1:]))
    header["ofs_eof"] = _as_int32(size + ends[0])
    lumps[HEADER_KEY] = header.tobytes()
    return assemble(lumps, layout, offsets, size)


def _in_order(md3: Md3, offsets: dict[int, int]) -> bool:
    """Tell whether the file begins with its header and the surfaces follow one another, as their chain demands."""
    starts = [offsets[lump_key(i, "header")] for i in range(len(md3.surfaces))]
    return offsets[HEADER_KEY] == 0 and all(b - a >= SURFACE.itemsize for a, b in pairwise(starts))


def _reads_on(md3: Md3, offsets: dict[int, int], size: int) -> bool:
    """Tell whether readers would take what lies behind a surface that lacks frames for these: see `_frames_present`."""
    count = len(md3.frames)
    short = [i for i, surface in enumerate(md3.surfaces) if 0 < surface.vertices.size < count * len(surface.st)]
    bytes_of = VERTEX.itemsize * count
    return any(offsets[lump_key(i, "vertices")] + bytes_of * len(md3.surfaces[i].st) <= size for i in short)


def _filled(surface: Md3Surface, count: int) -> Md3Surface:
    """Return a surface with so many frames, the last one repeated."""
    return replace(surface, vertices=surface.vertices[np.minimum(np.arange(count), len(surface.vertices) - 1)])


def _as_int32(value: int) -> int:
    return min(max(value, -(2**31)), 2**31 - 1)


def _surface_chain(
    md3: Md3, lumps: dict[int, bytes], empty: dict[int, int], offsets: dict[int, int], ends: tuple[int, int, int]
) -> int:
    """Write the surfaces' offsets into their headers in `lumps`; return the offset of the first.

    `ends`: the end of all lumps, and of the source's last surface its `ofs_end` and how far that was off.
    """
    starts = [offsets[lump_key(i, "header")] for i in range(len(md3.surfaces))]
    for i, (surface, start) in enumerate(zip(md3.surfaces, starts, strict=True)):
        header = np.array(surface.header, SURFACE)
        place = start + SURFACE.itemsize
        for name, offset in OFFSET_FIELDS.items():
            key = lump_key(i, name)
            header[offset] = offsets[key] - start if key in offsets else empty.get(key, place - start)
            place = offsets.get(key, place) + len(lumps[key])
        own = [offsets[lump_key(i, n)] + len(lumps[lump_key(i, n)]) for n in SURFACE_LUMPS if lumps[lump_key(i, n)]]
        header["ofs_end"] = _surface_end(starts, i, max(own) - start, ends)
        lumps[lump_key(i, "header")] = header.tobytes()
    return starts[0] if starts else empty.get(SURFACES_KEY, ends[0])


def _surface_end(starts: list[int], index: int, true_end: int, ends: tuple[int, int, int]) -> int:
    """Return `ofs_end`: the way to the next surface; of the last one as far off the truth as the source's was."""
    if index + 1 < len(starts):
        return starts[index + 1] - starts[index]
    _, written, off = ends
    return _as_int32(written if written <= 0 and off else true_end + off)
