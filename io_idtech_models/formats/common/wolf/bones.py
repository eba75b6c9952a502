"""Bones and their frames as MDX and MDS have them.

The records are the structs of Enemy Territory's `qfiles.h` (`mdxBoneInfo_t`, `mdxFrame_t`, `mdxBoneFrameCompressed_t`),
which repeat those of Return to Castle Wolfenstein (`mdsBoneInfo_t`, `mdsFrame_t`, `mdsBoneFrameCompressed_t`).

Facts (ET: Legacy's `R_CalcBone` and `G_RegisterModel`, iortcw's `R_CalcBone`; measured on the games' own files):

- Angles are int16 codes of 360 / 65536 degrees in the order pitch, yaw, roll, absolute in model space; `angles[3]` is
  not looked at. See `wolf.ways`.
- A bone lies at its parent's place plus `parent_dist` times the direction of `ofs_angles`, in model space: the way to
  the parent has one length in all frames, which may be 0 or negative. A root lies at the frame's `parent_offset`.
- `torso_weight` says whether a bone follows the frame of the legs (0), that of the torso (1), or both.
- A parent comes before its children: the game server refuses other files.
- A frame's bounds are in model space, `local_origin` is their middle. In MDS they are those of the meshes, the lower
  corner first, and `radius` is how far their farthest corner is from the model's origin. In MDX they are a cube around
  the sphere of `radius` about their middle, the upper corner first.
- The flag 1 says that a bone is a tag. Of MDS alone that means something: see `mds.model`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ....reporting import FormatError
from ..records import Array, decode_name, place_of

NAME_SIZE = 64
TAG_FLAG = 1

FRAME_INFO = np.dtype([
    ("bounds", "<f4", (2, 3)), ("local_origin", "<f4", 3), ("radius", "<f4"), ("parent_offset", "<f4", 3),
])  # fmt: skip
BONE_FRAME = np.dtype([("angles", "<i2", 4), ("ofs_angles", "<i2", 2)])
BONE = np.dtype([
    ("name", "S64"), ("parent", "<i4"), ("torso_weight", "<f4"), ("parent_dist", "<f4"), ("flags", "<i4"),
])  # fmt: skip


class Moved(Protocol):
    """A file as structs, as far as it has bones and frames of these."""

    @property
    def header(self) -> Any:
        """Return its header, which has a `torso_parent`."""

    @property
    def frames(self) -> Array:
        """Return the frames, frame_dtype(B) (F,)."""

    @property
    def bones(self) -> Array:
        """Return the bones, BONE (B,)."""


@dataclass(frozen=True)
class Kind:
    """A format whose files have bones, and what is its own of them."""

    name: str
    header: np.dtype[Any]
    coarse: bool = False  # its game looks directions up in a table: see `wolf.ways`
    cubes: bool = False  # a frame's bounds are a cube around its origin, the upper corner first; else as they are


@cache
def frame_dtype(num_bones: int) -> np.dtype[Any]:
    """Return the layout of a frame with that many bones."""
    return np.dtype([("info", FRAME_INFO), ("bones", BONE_FRAME, (num_bones,))])


def frames_of(header: Any) -> np.dtype[Any]:
    """Return the layout of a file's frames; raises FormatError where there are none, or of no bones."""
    for name, field_name in (("bones", "num_bones"), ("frames", "num_frames")):
        if header[field_name] < 1:
            place = f"byte {place_of(header.dtype, field_name)}"
            raise FormatError(f"animation without {name}", place, "1 or more", int(header[field_name]))
    return frame_dtype(int(header["num_bones"]))


def check_bones(bones: Array, offset: int) -> None:
    """Refuse bones before their parents, and numbers that are none; raises FormatError."""
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


def check_frames(frames: Array, offset: int) -> None:
    """Refuse places of roots that are no numbers; raises FormatError."""
    offsets = frames["info"]["parent_offset"]
    bad = np.flatnonzero(~np.isfinite(offsets).all(axis=1))
    if len(bad):
        place = offset + int(bad[0]) * frames.dtype.itemsize + place_of(FRAME_INFO, "parent_offset")
        raise FormatError(f"parent_offset of frame {bad[0]}", f"byte {place}", "numbers", offsets[bad[0]].tolist())


def parents_of(file: Moved) -> NDArray[np.int32]:
    """Return the parent of each bone, (B,), -1 for a root."""
    return np.ascontiguousarray(file.bones["parent"], np.int32)


def names_of(file: Moved) -> list[str]:
    """Return the names of the bones, as the game sees them."""
    return [decode_name(name) for name in file.bones["name"].tolist()]
