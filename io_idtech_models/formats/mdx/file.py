"""MDX: the skeletons and animations of Wolfenstein: Enemy Territory, for the meshes of `mdm`.

A header points to two lumps: frames, and bone infos. A frame is a record of bounds, followed by codes of every bone; a
bone's info says what is the same in all frames. Everything is little-endian. The records are the structs of the
game's `qfiles.h` (`mdxHeader_t`, `mdxFrame_t`, `mdxBoneFrameCompressed_t`, `mdxBoneInfo_t`), field by field.

Facts (ET: Legacy's `R_LoadMDX`, `R_CalcBone` and `G_RegisterModel`; measured on the games' own files):

- Files have version 2, whatever documents say.
- Angles are int16 codes of 360 / 65536 degrees in the order pitch, yaw, roll, absolute in model space; `angles[3]` is
  not looked at. See `_angles`.
- A bone lies at its parent's place plus `parent_dist` times the direction of `ofs_angles`, in model space: the way to
  the parent has one length in all frames, which may be 0 or negative. A root lies at the frame's `parent_offset`.
- `torso_weight` says whether a bone follows the frame of the legs (0), that of the torso (1), or both.
- A parent comes before its children: the game server refuses other files.
- A frame's bounds are a cube around `local_origin`, and in real files the first corner is the upper one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...reporting import FormatError
from ..common import reader
from ..common.chunks import File, Lump, Place
from ..common.layout import Arrays
from ..common.records import Array, decode_name, place_of

IDENT = b"MDXW"
VERSION = 2
NAME_SIZE = 64

HEADER = np.dtype([
    ("ident", "S4"), ("version", "<i4"), ("name", "S64"), ("num_frames", "<i4"), ("num_bones", "<i4"),
    ("ofs_frames", "<i4"), ("ofs_bones", "<i4"), ("torso_parent", "<i4"), ("ofs_end", "<i4"),
])  # fmt: skip
FRAME_INFO = np.dtype([
    ("bounds", "<f4", (2, 3)), ("local_origin", "<f4", 3), ("radius", "<f4"), ("parent_offset", "<f4", 3),
])  # fmt: skip
BONE_FRAME = np.dtype([("angles", "<i2", 4), ("ofs_angles", "<i2", 2)])
BONE = np.dtype([
    ("name", "S64"), ("parent", "<i4"), ("torso_weight", "<f4"), ("parent_dist", "<f4"), ("flags", "<i4"),
])  # fmt: skip


@cache
def frame_dtype(num_bones: int) -> np.dtype[Any]:
    """Return the layout of a frame with that many bones."""
    return np.dtype([("info", FRAME_INFO), ("bones", BONE_FRAME, (num_bones,))])


@dataclass(eq=False)
class Mdx:
    """A file as structs; `layout` says where the lumps lay."""

    header: Any  # HEADER
    frames: Array  # frame_dtype(B) (F,)
    bones: Array  # BONE (B,)
    layout: Arrays = field(default_factory=dict)


def _frames_of(header: Any) -> np.dtype[Any]:
    """Return the layout of a file's frames; raises FormatError where there are none, or of no bones."""
    for name, field_name in (("bones", "num_bones"), ("frames", "num_frames")):
        if header[field_name] < 1:
            place = f"byte {place_of(HEADER, field_name)}"
            raise FormatError(f"animation without {name}", place, "1 or more", int(header[field_name]))
    return frame_dtype(int(header["num_bones"]))


def _check(found: dict[str, Array], place: Place) -> None:
    _check_bones(found["bones"], place.number("ofs_bones"))
    _check_numbers(found["frames"], place.number("ofs_frames"))


def _check_bones(bones: Array, offset: int) -> None:
    parents = bones["parent"]
    wrong = np.flatnonzero((parents < -1) | (parents >= np.arange(len(bones))))
    if len(wrong):
        bone = int(wrong[0])
        what = f"parent of bone {bone} '{decode_name(bones['name'][bone])}'"
        start = offset + bone * BONE.itemsize + NAME_SIZE
        raise FormatError(what, f"byte {start}", f"an earlier bone or -1 (-1 to {bone - 1})", int(parents[bone]))
    for kind in ("torso_weight", "parent_dist"):
        bad = np.flatnonzero(~np.isfinite(bones[kind]))
        if len(bad):
            what = f"{kind} of bone {bad[0]} '{decode_name(bones['name'][bad[0]])}'"
            place = offset + int(bad[0]) * BONE.itemsize + place_of(BONE, kind)
            raise FormatError(what, f"byte {place}", "a number", bones[kind][bad[0]])


def _check_numbers(frames: Array, offset: int) -> None:
    offsets = frames["info"]["parent_offset"]
    bad = np.flatnonzero(~np.isfinite(offsets).all(axis=1))
    if len(bad):
        place = offset + int(bad[0]) * frames.dtype.itemsize + place_of(FRAME_INFO, "parent_offset")
        raise FormatError(f"parent_offset of frame {bad[0]}", f"byte {place}", "numbers", offsets[bad[0]].tolist())


LUMPS = Lump("frames", _frames_of, ("num_frames",), last=True), Lump("bones", BONE, ("num_bones",))
MDX = File(Mdx, HEADER, LUMPS, "MDX", IDENT, VERSION, check=_check)


def read(data: bytes) -> Mdx:
    """Read a file.

    Raises:
        FormatError: the file is no MDX, is cut off, or its counts, offsets or parents contradict it.
    """
    return reader.read(MDX, data)


def write(mdx: Mdx) -> bytes:
    """Return the file of an animation; inverse of `read`, byte for byte while the layout's hint applies."""
    from ..common.writer import write as write_file  # which an import does without

    return write_file(MDX, mdx)


def parents_of(mdx: Mdx) -> NDArray[np.int32]:
    """Return the parent of each bone, (B,), -1 for a root."""
    return np.ascontiguousarray(mdx.bones["parent"], np.int32)


def names_of(mdx: Mdx) -> list[str]:
    """Return the names of the bones, as the game sees them."""
    return [decode_name(name) for name in mdx.bones["name"].tolist()]
