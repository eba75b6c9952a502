"""MD2: the models of Quake II, and of many free games since.

A header that points to six lumps: skins (paths of pictures), texture coordinates, triangles, frames, and OpenGL
commands. Everything is little-endian. The records below are the structs of id's `qfiles.h` (`dmdl_t`, `dstvert_t`,
`dtriangle_t`, `daliasframe_t`, `dtrivertx_t`), field by field.

Facts (engine source, Yamagi Quake II's `Mod_LoadMD2` and `R_DrawAliasFrameLerp`, Q2PRO, and id's qdata):

- Each frame has a box of its own: position = byte x scale + translate. `frame_size` is the way from frame to frame.
- A vertex's normal is an index into the 162 directions of id's `anorms.h`: see `common.normals`.
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
from ..common import chunks
from ..common.chunks import Arrays, File, Lump, Place
from ..common.records import Array, raw_bytes

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


class _Frames(Lump):
    """The frames: each one's own record, its vertices, and what fills it up to `frame_size`."""

    def taken(self, place: Place, offset: int) -> dict[str, Array]:
        """Return the records (F,), vertices (F, V, 4) and what is left (F, n); raises FormatError."""
        num_xyz, size = place.number("num_xyz"), place.number("frame_size")
        if num_xyz < 0:
            raise FormatError("negative number of vertices", "byte 24", "0 or more", num_xyz)
        own = FRAME.itemsize + 4 * num_xyz
        if size < own:
            raise FormatError("frames smaller than their vertices", "byte 16", f"{own} bytes or more", size)
        rows = super().taken(place, offset)["frames"]
        return {
            "frames": np.ascontiguousarray(rows[:, : FRAME.itemsize]).view(FRAME)[:, 0],
            "vertices": np.ascontiguousarray(rows[:, FRAME.itemsize : own]).reshape(len(rows), num_xyz, 4),
            "padding": np.ascontiguousarray(rows[:, own:]),
        }

    def packed(self, struct: Md2) -> NDArray[np.uint8]:
        """Return the rows' bytes."""
        rows = (struct.frames[:, None].view("u1"), struct.vertices.reshape(len(struct.frames), -1), struct.padding)
        return raw_bytes(np.concatenate(rows, axis=1))

    def count(self, header: Any, struct: Md2) -> None:
        """Write how many frames there are, of how many vertices and bytes."""
        header["num_frames"], header["num_xyz"] = struct.vertices.shape[:2]
        header["frame_size"] = FRAME.itemsize + 4 * struct.vertices.shape[1] + struct.padding.shape[1]


def _check(found: dict[str, Array], place: Place) -> None:
    corners, count = found["triangles"]["xyz"], place.number("num_xyz")
    bad = np.flatnonzero((corners >= count).any(axis=1))
    if len(bad):
        at, indices = f"byte {place.number('ofs_tris') + 12 * int(bad[0])}", corners[bad[0]].tolist()
        raise FormatError(f"triangle {int(bad[0])}", at, f"indices below {count}", indices)


LUMPS = (  # in the order that id's tools write
    Lump("skins", SKIN, ("num_skins",)),
    Lump("st", ST, ("num_st", 2), "texture coordinates"),
    Lump("triangles", TRIANGLE, ("num_tris",), offset="ofs_tris"),
    _Frames("frames", VERTEX, ("num_frames", "frame_size"), last=True),
    Lump("glcmds", GLCMD, ("num_glcmds",), "OpenGL commands"),
)
MD2 = File(Md2, HEADER, LUMPS, "MD2", IDENT, VERSION, needs_frames=True, may_lack_end=True, check=_check)


def read(data: bytes) -> Md2:
    """Read a file.

    Raises:
        FormatError: the file is no MD2, is cut off, or its counts, offsets or indices contradict it.
    """
    return chunks.read(MD2, data)


def write(md2: Md2) -> bytes:
    """Return the file of a model; inverse of `read`, byte for byte while the layout's hint applies."""
    return chunks.write(MD2, md2)
