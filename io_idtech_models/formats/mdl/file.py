"""MDL: the models of Quake, and of what descends from it.

A header, then without any offsets: skins, texture coordinates, triangles, frames. Everything is little-endian. The
records below are the structs of id's `modelgen.h` (`mdl_t`, `stvert_t`, `dtriangle_t`, `daliasframe_t`, `trivertx_t`),
field by field; numbers of bytes are from the file's start.

Facts (engine source: GLQuake's `Mod_LoadAliasModel` and `BuildTris`, WinQuake's, QuakeSpasm's, Ironwail's and
DarkPlaces' loaders):

- All frames have one box: position = byte x scale + scale_origin. A vertex's normal is an index into the 162 directions
  of id's `anorms.h`: see `common.normals`.
- Skins are `skin_width` x `skin_height` numbers of Quake's palette (see `model.pictures`), rows from the top. A
  skin, and a frame, may be a group of such that a game plays by itself: see `parts`. A frame's group has bounds.
- Texture coordinates belong to vertices, in whole texels. Of triangles on the back (`faces_front` 0) those of vertices
  on the seam (`on_seam` not 0) lie `skin_width` / 2, rounded down, further right. Engines sample the middle of a texel.
- Front faces are clockwise. Bounds are bytes in the box, with a fourth one that says nothing.
- A frame's name is 16 bytes that need not end in a NUL. Editors leave bytes of their own behind the last frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...reporting import FormatError
from ..common.records import Array, check_indices, place_of, take
from . import parts
from .parts import Parts

IDENT = b"IDPO"
VERSION = 6
HALF_LIFE = (b"IDST", b"IDSQ")  # models and their motions, of the same suffix
FRAME_NAME_SIZE = 16
GROUP_HEAD = 8  # bytes of a group of frames before its times: its bounds

HEADER = np.dtype([
    ("ident", "S4"), ("version", "<i4"), ("scale", "<f4", 3), ("scale_origin", "<f4", 3), ("bounding_radius", "<f4"),
    ("eye_position", "<f4", 3), ("num_skins", "<i4"), ("skin_width", "<i4"), ("skin_height", "<i4"),
    ("num_verts", "<i4"), ("num_tris", "<i4"), ("num_frames", "<i4"), ("sync_type", "<i4"), ("flags", "<i4"),
    ("size", "<f4"),
])  # fmt: skip
ST = np.dtype([("on_seam", "<i4"), ("st", "<i4", 2)])
TRIANGLE = np.dtype([("faces_front", "<i4"), ("vertices", "<i4", 3)])
POSE = np.dtype([("bounds", "u1", (2, 4)), ("name", "S16")])


@dataclass(eq=False)
class Mdl:
    """A file as structs. A pose is what a frame shows, or one of a group's frames: F poses in all."""

    header: Any  # HEADER
    skins: Parts  # payloads are pictures, (P, skin_height * skin_width)
    st: Array  # ST (V,)
    triangles: Array  # TRIANGLE (T,), clockwise
    frames: Parts  # kinds and groups; its payloads are taken apart below
    poses: Array  # POSE (F,)
    vertices: NDArray[np.uint8]  # (F, V, 4): X, Y, Z, normal
    tail: NDArray[np.uint8]  # (n,) what follows the last frame

    @property
    def pictures(self) -> NDArray[np.uint8]:
        """Return all pictures of skins, (P, H, W): numbers of the palette, the top row first."""
        size = int(self.header["skin_height"]), int(self.header["skin_width"])
        return self.skins.payloads.reshape(-1, *size) if all(size) else np.zeros((0, *size), np.uint8)


def read(data: bytes) -> Mdl:
    """Read a file.

    Raises:
        FormatError: the file is no MDL, is cut off, or its counts or indices contradict it.
    """
    header = _read_header(data)
    numbers = dict(zip(header.dtype.names, header.item(), strict=True))
    width, height = numbers["skin_width"], numbers["skin_height"]
    if min(width, height) < 0:
        raise FormatError("negative size of skins", "byte 52", "0 or more", f"{width} x {height}")
    skins, place = parts.read(data, HEADER.itemsize, numbers["num_skins"], width * height, 0, "skins")
    st = take(data, ST, (numbers["num_verts"],), place, "texture coordinates")
    place += st.nbytes
    triangles = take(data, TRIANGLE, (numbers["num_tris"],), place, "triangles")
    _check_triangles(triangles, len(st), place)
    place += triangles.nbytes
    if numbers["num_frames"] < 1:
        raise FormatError("no frames", "byte 68", "1 or more", numbers["num_frames"])
    size = POSE.itemsize + 4 * len(st)
    frames, place = parts.read(data, place, numbers["num_frames"], size, GROUP_HEAD, "frames")
    poses = np.ascontiguousarray(frames.payloads[:, : POSE.itemsize]).view(POSE)[:, 0]
    vertices = np.ascontiguousarray(frames.payloads[:, POSE.itemsize :]).reshape(len(poses), len(st), 4)
    return Mdl(header, skins, st, triangles, frames, poses, vertices, np.frombuffer(data[place:], np.uint8))


def _read_header(data: bytes) -> Any:
    """Return the header, checked as far as that goes alone; raises FormatError."""
    ident = data[:4]
    if ident in HALF_LIFE:
        raise FormatError("a model of Half-Life, another format of the same suffix", "byte 0", IDENT, ident)
    if ident != IDENT:
        raise FormatError("not an MDL file", "byte 0", IDENT.decode(), repr(bytes(ident))[1:])
    header = take(data, HEADER, (1,), 0, "header")[0]
    if header["version"] != VERSION:
        raise FormatError("unknown version of MDL", "byte 4", VERSION, int(header["version"]))
    return header


def _check_triangles(triangles: Array, count: int, place: int) -> None:
    """Refuse triangles that name vertices that are not there; raises FormatError."""
    corners = triangles["vertices"]
    if corners.size and not 0 <= int(corners.min()) <= int(corners.max()) < count:
        first = int(np.flatnonzero(((corners < 0) | (corners >= count)).any(axis=1))[0])
        at = place + first * TRIANGLE.itemsize + place_of(TRIANGLE, "vertices")
        check_indices(corners[first : first + 1], count, at, f"triangle {first}", "vertices")


def write(mdl: Mdl) -> bytes:
    """Return the file of a model; inverse of `read`, byte for byte."""
    header = np.array(mdl.header, HEADER)
    header["num_skins"], header["num_frames"] = len(mdl.skins.kinds), len(mdl.frames.kinds)
    header["num_verts"], header["num_tris"] = len(mdl.st), len(mdl.triangles)
    own = np.ascontiguousarray(mdl.poses).view(np.uint8).reshape(len(mdl.poses), POSE.itemsize)
    payloads = np.concatenate((own, mdl.vertices.reshape(len(mdl.poses), -1)), axis=1)
    frames = Parts(mdl.frames.kinds, mdl.frames.counts, mdl.frames.heads, mdl.frames.times, payloads)
    pieces = (header.tobytes(), parts.write(mdl.skins), mdl.st.tobytes(), mdl.triangles.tobytes(), parts.write(frames))
    return b"".join([*pieces, mdl.tail.tobytes()])
