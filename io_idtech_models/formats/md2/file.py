"""MD2: the models of Quake II, and of many free games since.

A header that points to six lumps: skins (paths of pictures), texture coordinates, triangles, frames, and OpenGL
commands. Everything is little-endian. The records below are the structs of id's `qfiles.h` (`dmdl_t`, `dstvert_t`,
`dtriangle_t`, `daliasframe_t`, `dtrivertx_t`), field by field.

Facts (engine source, Yamagi Quake II's `Mod_LoadMD2` and `R_DrawAliasFrameLerp`, Q2PRO, and id's qdata):

- Each frame has a box of its own: position = byte x scale + translate. `frame_size` is the way from frame to frame.
- A vertex' normal is an index into the 162 directions of id's `anorms.h`: see `common.normals`.
- Triangles index vertices and texture coordinates separately; front faces are clockwise. Texture coordinates are whole
  texels of a skin of `skin_width` x `skin_height`, from the top left.
- Quake II's own GL renderers draw nothing but the OpenGL commands: see `strips`. Other engines look at the triangles.
- Skin paths count from the game's folder; a name that fills its 64 bytes, or a frame's 16, has no NUL.
- Offsets alone say where a lump lies. Real files have wrong numbers for empty lumps and for `ofs_end`, and one kind
  of writer leaves `ofs_end` out: there a lump begins at byte 64.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...reporting import FormatError
from ..common.chunks import Arrays, Lump, assemble, check_overlap, plan, survey
from ..common.records import Array, take

IDENT = b"IDP2"
VERSION = 8
SKIN_SIZE = 64
FRAME_NAME_SIZE = 16
MAX_INDEX = 65535  # of a vertex or texture coordinate: unsigned shorts

HEADER = np.dtype([
    ("ident", "S4"), ("version", "<i4"), ("skin_width", "<i4"), ("skin_height", "<i4"), ("frame_size", "<i4"),
    ("num_skins", "<i4"), ("num_xyz", "<i4"), ("num_st", "<i4"), ("num_tris", "<i4"), ("num_glcmds", "<i4"),
    ("num_frames", "<i4"), ("ofs_skins", "<i4"), ("ofs_st", "<i4"), ("ofs_tris", "<i4"), ("ofs_frames", "<i4"),
    ("ofs_glcmds", "<i4"), ("ofs_end", "<i4"),
])  # fmt: skip
SKIN = np.dtype("S64")
ST = np.dtype("<i2")  # two each
TRIANGLE = np.dtype([("xyz", "<u2", 3), ("st", "<u2", 3)])
FRAME = np.dtype([("scale", "<f4", 3), ("translate", "<f4", 3), ("name", "S16")])
VERTEX = np.dtype("u1")  # four each: X, Y, Z, normal
GLCMD = np.dtype("<i4")

# Lumps in the order that id's tools write, numbered so for the layout; the header is number 0.
LUMPS = ("skins", "st", "tris", "frames", "glcmds")
HEADER_KEY = 0


@dataclass(eq=False)
class Md2:
    """A file as structs. `layout` says where the lumps lay."""

    header: Any  # HEADER
    skins: Array  # SKIN (S,)
    st: NDArray[np.int16]  # (U, 2), texels
    triangles: Array  # TRIANGLE (T,), clockwise
    frames: Array  # FRAME (F,)
    vertices: NDArray[np.uint8]  # (F, V, 4)
    glcmds: NDArray[np.int32]  # (n,)
    padding: NDArray[np.uint8]  # (F, n), the bytes behind each frame
    layout: Arrays = field(default_factory=dict)


def read(data: bytes) -> Md2:
    """Read a file.

    Raises:
        FormatError: the file is no MD2, is cut off, or its counts, offsets or indices contradict it.
    """
    header = take(data, HEADER, (1,), 0, "header")[0]
    if header["ident"] != IDENT:
        raise FormatError("not an MD2 file", "byte 0", IDENT.decode(), repr(bytes(header["ident"]))[1:])
    if header["version"] != VERSION:
        raise FormatError("unsupported MD2 version", "byte 4", VERSION, header["version"])
    num = {name: int(header[f"num_{name}"]) for name in ("skins", "xyz", "st", "tris", "glcmds", "frames")}
    at = {name: int(header[f"ofs_{name}"]) for name in LUMPS}
    if num["frames"] < 1:
        raise FormatError("model without frames", "byte 40", "1 or more", num["frames"])
    skins = take(data, SKIN, (num["skins"],), at["skins"], "skins")
    st = take(data, ST, (num["st"], 2), at["st"], "texture coordinates")
    triangles = take(data, TRIANGLE, (num["tris"],), at["tris"], "triangles")
    glcmds = take(data, GLCMD, (num["glcmds"],), at["glcmds"], "OpenGL commands")
    rows = _read_frames(data, header)
    bad = np.flatnonzero((triangles["xyz"] >= num["xyz"]).any(axis=1))
    if len(bad):
        place, found = f"byte {at['tris'] + 12 * int(bad[0])}", triangles["xyz"][bad[0]].tolist()
        raise FormatError(f"triangle {int(bad[0])}", place, f"indices below {num['xyz']}", found)
    lumps = {"skins": skins, "st": st, "tris": triangles, "frames": rows, "glcmds": glcmds}
    own = FRAME.itemsize + 4 * num["xyz"]
    return Md2(
        header,
        skins,
        st,
        triangles,
        np.ascontiguousarray(rows[:, : FRAME.itemsize]).view(FRAME)[:, 0],
        np.ascontiguousarray(rows[:, FRAME.itemsize : own]).reshape(len(rows), num["xyz"], 4),
        glcmds,
        np.ascontiguousarray(rows[:, own:]),
        _read_layout(data, header, lumps),
    )


def _read_frames(data: bytes, header: Any) -> NDArray[np.uint8]:
    """Return the frames as rows of bytes, (F, frame size)."""
    num_xyz, size = int(header["num_xyz"]), int(header["frame_size"])
    if num_xyz < 0:
        raise FormatError("negative number of vertices", "byte 24", "0 or more", num_xyz)
    own = FRAME.itemsize + 4 * num_xyz
    if size < own:
        raise FormatError("frames smaller than their vertices", "byte 16", f"{own} bytes or more", size)
    return take(data, VERTEX, (int(header["num_frames"]), size), int(header["ofs_frames"]), "frames")


def _read_layout(data: bytes, header: Any, arrays: dict[str, Array]) -> Arrays:
    places = {name: (int(header[f"ofs_{name}"]), array.nbytes) for name, array in arrays.items()}
    first = min((offset for offset, size in places.values() if size), default=HEADER.itemsize)
    size = HEADER.itemsize - 4 if first == HEADER.itemsize - 4 else HEADER.itemsize
    lumps = [Lump(HEADER_KEY, 0, size)]
    lumps += [Lump(i, *places[name]) for i, name in enumerate(LUMPS, 1)]
    check_overlap(lumps, len(data))
    end = int(header["ofs_end"]) - len(data) if size == HEADER.itemsize else 0
    return survey(lumps, data) | {"layout_ends": np.array([end, size], np.int64)}


def write(md2: Md2) -> bytes:
    """Return the file of a model; inverse of `read`, byte for byte while the layout's hint applies."""
    header = np.array(md2.header, HEADER)
    rows = (md2.frames[:, None].view("u1"), md2.vertices.reshape(len(md2.frames), -1), md2.padding)
    lumps = {0: b"", 1: md2.skins.tobytes(), 2: md2.st.tobytes(), 3: md2.triangles.tobytes()}
    lumps |= {4: np.concatenate(rows, axis=1).tobytes(), 5: md2.glcmds.tobytes()}
    end, header_size = md2.layout["layout_ends"].tolist() if md2.layout else (0, HEADER.itemsize)
    sizes = {key: len(lump) for key, lump in lumps.items()} | {HEADER_KEY: header_size}
    layout = plan(list(lumps), sizes, md2.layout, {key: key for key in lumps})
    if layout.order[0] != HEADER_KEY or layout.gaps[HEADER_KEY]:
        layout = plan(list(lumps), sizes, {}, {})
    offsets, size = layout.places(sizes)
    following = size
    for key, name in reversed(list(enumerate(LUMPS, 1))):
        following = offsets.get(key, following)
        header[f"ofs_{name}"] = offsets.get(key, layout.empty.get(key, following))
    header["ofs_end"] = min(max(size + end, -(2**31)), 2**31 - 1)
    lumps[HEADER_KEY] = header.tobytes()[:header_size]
    return assemble(lumps, layout, offsets, size)
