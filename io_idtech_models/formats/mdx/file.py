"""MDX: the skeletons and animations of Wolfenstein: Enemy Territory, for the meshes of `mdm`.

A header points to two lumps: frames, and bone infos. A frame is a record of bounds, followed by codes of every bone; a
bone's info says what is the same in all frames. Everything is little-endian. The records are the structs of the
game's `qfiles.h` (`mdxHeader_t`, ...), field by field.

Facts (ET: Legacy's `R_LoadMDX`, `R_CalcBone` and `G_RegisterModel`; measured on the games' own files):

- Files have version 2, whatever documents say.
- What frames and bones say is in `common.wolf.bones`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..common import chunks
from ..common.chunks import Arrays, File, Lump, Place
from ..common.records import Array
from ..common.wolf import bones

IDENT = b"MDXW"
VERSION = 2
NAME_SIZE = 64

HEADER = np.dtype([
    ("ident", "S4"), ("version", "<i4"), ("name", "S64"), ("num_frames", "<i4"), ("num_bones", "<i4"),
    ("ofs_frames", "<i4"), ("ofs_bones", "<i4"), ("torso_parent", "<i4"), ("ofs_end", "<i4"),
])  # fmt: skip
FRAME_INFO, BONE_FRAME, BONE, frame_dtype = bones.FRAME_INFO, bones.BONE_FRAME, bones.BONE, bones.frame_dtype


@dataclass(eq=False)
class Mdx:
    """A file as structs; `layout` says where the lumps lay."""

    header: Any  # HEADER
    frames: Array  # frame_dtype(B) (F,)
    bones: Array  # BONE (B,)
    layout: Arrays = field(default_factory=dict)


def _check(found: dict[str, Array], place: Place) -> None:
    bones.check_bones(found["bones"], place.number("ofs_bones"))
    bones.check_frames(found["frames"], place.number("ofs_frames"))


LUMPS = Lump("frames", bones.frames_of, ("num_frames",), last=True), Lump("bones", BONE, ("num_bones",))
MDX = File(Mdx, HEADER, LUMPS, "MDX", IDENT, VERSION, check=_check)


def read(data: bytes) -> Mdx:
    """Read a file.

    Raises:
        FormatError: the file is no MDX, is cut off, or its counts, offsets or parents contradict it.
    """
    return chunks.read(MDX, data)


def write(mdx: Mdx) -> bytes:
    """Return the file of an animation; inverse of `read`, byte for byte while the layout's hint applies."""
    return chunks.write(MDX, mdx)
