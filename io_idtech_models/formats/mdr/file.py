"""MDR: skinned meshes in levels of detail, tags and frames of Star Trek: Elite Force, which ioquake3 plays, too.

A header points to frames, levels of detail and tags. A frame is a record of bounds, followed by the matrix of every
bone; there are plain frames, and packed ones, which a negative offset marks. Levels follow one another at `ofs_end`,
and hold surfaces, which do so likewise. A surface is a header and lumps addressed from its start: vertices, each
followed by its weights, triangles, and bone references. Everything is little-endian. The records are the structs of
ioquake3's `qfiles.h` (`mdrHeader_t`, `mdrFrame_t`, `mdrCompFrame_t`, `mdrCompBone_t`, `mdrLOD_t`, `mdrSurface_t`,
`mdrVertex_t`, `mdrWeight_t`, `mdrTag_t`), field by field.

Facts (ioquake3's `R_LoadMDR`, `MC_UnCompress`, `RB_MDRSurfaceAnim`, `R_GetAnimTag`):

- A bone has no name and no parent: its matrix, 3 rows of 4, takes what lies in its space to the model's.
- A packed matrix has 12 codes of 16 bits: the place (code - 32768) / 64, then row by row (code - 32768) / 32766. Packed
  frames have no names.
- A vertex stands at the sum over its weights of weight x (matrix x offset), its normal at that of weight x (turn x
  normal). Front faces are clockwise, texture coordinates count from the top left.
- A weight's bone is a number among all, whatever the header's comment on bone references says.
- A tag is a bone with a name: its axes are the columns of the bone's turn.
- `ofs_header` is minus the surface's place in the file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...reporting import FormatError
from ..common import chunks
from ..common.chunks import MAX_PARTS, Arrays, Chain, File, Lump, Place
from ..common.records import Array, check_indices, place_of
from ..common.weighted import WeightedVertices

IDENT = b"RDM5"
VERSION = 2
MAX_BONES = 1 << 16  # no engine has more than 128: more is damage
NAME_SIZE, TAG_NAME_SIZE, FRAME_NAME_SIZE = 64, 32, 16

HEADER = np.dtype([
    ("ident", "S4"), ("version", "<i4"), ("name", "S64"), ("num_frames", "<i4"), ("num_bones", "<i4"),
    ("ofs_frames", "<i4"), ("num_lods", "<i4"), ("ofs_lods", "<i4"), ("num_tags", "<i4"), ("ofs_tags", "<i4"),
    ("ofs_end", "<i4"),
])  # fmt: skip
INFO = [("bounds", "<f4", (2, 3)), ("local_origin", "<f4", 3), ("radius", "<f4")]
PACKED_INFO = np.dtype(INFO)
PLAIN_INFO = np.dtype([*INFO, ("name", "S16")])
LOD = np.dtype([("num_surfaces", "<i4"), ("ofs_surfaces", "<i4"), ("ofs_end", "<i4")])
SURFACE = np.dtype([
    ("ident", "<i4"), ("name", "S64"), ("shader", "S64"), ("shader_index", "<i4"), ("ofs_header", "<i4"),
    ("num_verts", "<i4"), ("ofs_verts", "<i4"), ("num_triangles", "<i4"), ("ofs_triangles", "<i4"),
    ("num_bone_refs", "<i4"), ("ofs_bone_refs", "<i4"), ("ofs_end", "<i4"),
])  # fmt: skip
VERTEX = np.dtype([("normal", "<f4", 3), ("st", "<f4", 2), ("num_weights", "<i4")])
INDEX = np.dtype("<i4")
TAG = np.dtype([("bone", "<i4"), ("name", "S32")])


@cache
def frame_dtype(num_bones: int, packed: bool) -> np.dtype[Any]:
    """Return the layout of a frame with that many bones."""
    bones = ("bones", "<u2", (num_bones, 12)) if packed else ("bones", "<f4", (num_bones, 3, 4))
    return np.dtype([("info", PACKED_INFO if packed else PLAIN_INFO), bones])


def are_packed(frames: Array) -> bool:
    """Tell whether frames are packed."""
    return bool(frames.dtype["info"] == PACKED_INFO)


@dataclass(eq=False)
class MdrSurface:
    """One surface as the file has it; its vertices' weights are one table, vertex after vertex."""

    header: Any  # SURFACE
    vertices: Array  # VERTEX (V,)
    weights: Array  # WEIGHT (W,)
    triangles: NDArray[np.int32]  # (T, 3), clockwise
    bone_refs: NDArray[np.int32]  # (R,)


@dataclass(eq=False)
class MdrLod:
    """One level of detail as the file has it."""

    header: Any  # LOD
    surfaces: list[MdrSurface]


@dataclass(eq=False)
class Mdr:
    """A file as structs. `layout` says where the lumps lay; `source_*` which of its parts each one was."""

    header: Any  # HEADER
    frames: Array  # frame_dtype(B, packed) (F,)
    tags: Array  # TAG (N,)
    lods: list[MdrLod]
    layout: Arrays = field(default_factory=dict)
    source_lods: list[int] = field(default_factory=list)
    source_surfaces: list[int] = field(default_factory=list)  # of all levels, one after another


class Frames(Lump):
    """The frames, whose offset is negative where they are packed."""

    def begin(self, place: Place) -> int:
        """Return their offset."""
        return abs(super().begin(place))

    def count(self, header: Any, struct: Any) -> None:
        """Write into a header how many frames there are, and bones in each."""
        super().count(header, struct)
        header["num_bones"] = struct.frames["bones"].shape[1]


def _frames_of(header: Any) -> np.dtype[Any]:
    """Return the layout of a file's frames; raises FormatError where there are none, or of no bones."""
    for name, field_name in (("bones", "num_bones"), ("frames", "num_frames")):
        if header[field_name] < 1:
            place = f"byte {place_of(HEADER, field_name)}"
            raise FormatError(f"model without {name}", place, "1 or more", int(header[field_name]))
    if header["num_bones"] > MAX_BONES:
        raise FormatError(
            "bones", f"byte {place_of(HEADER, 'num_bones')}", f"1 to {MAX_BONES}", int(header["num_bones"])
        )
    return frame_dtype(int(header["num_bones"]), bool(header["ofs_frames"] < 0))


def _check(found: dict[str, Array], place: Place) -> None:
    bones, tags, frames = place.number("num_bones"), found["tags"], found["frames"]
    check_indices(tags["bone"], bones, place.number("ofs_tags"), "bone of tag {}", "bones")
    bad = np.flatnonzero(~np.isfinite(frames["bones"].reshape(len(frames), -1)).all(axis=1))
    if len(bad):
        start = abs(place.number("ofs_frames")) + int(bad[0]) * frames.dtype.itemsize
        raise FormatError(f"matrix of a bone in frame {bad[0]}", f"byte {start}", "numbers", "none")


def _check_surface(found: dict[str, Array], place: Place) -> None:
    bones = place.number("file.num_bones")
    for name, limit, what, kind in (
        ("triangles", len(found["vertices"]), "triangle {}", "vertices"),
        ("bone_refs", bones, "bone reference {}", "bones"),
    ):
        check_indices(found[name], limit, place.start + place.number(f"ofs_{name}"), what + place.of, kind)
    used = found["weights"]["bone"]
    if len(used) and int(used.max()) >= bones:
        byte = f"byte {place.start + place.number('ofs_verts')}"
        raise FormatError(f"weight{place.of}", byte, f"bones 0 to {bones - 1}", int(used.max()))


SURFACES = Chain(
    MdrSurface,
    SURFACE,
    (
        WeightedVertices("vertices", VERTEX, ("num_verts",), offset="ofs_verts", most_bones=MAX_BONES),
        Lump("triangles", INDEX, ("num_triangles", 3)),
        Lump("bone_refs", INDEX, ("num_bone_refs",), "bone references"),
    ),
    "surfaces",
    "surface",
    back="ofs_header",
    most=MAX_PARTS,
    check=_check_surface,
)
LODS = Chain(MdrLod, LOD, (SURFACES,), "lods", "level of detail", most=MAX_PARTS)
LUMPS = Frames("frames", _frames_of, ("num_frames",)), Lump("tags", TAG, ("num_tags",))
MDR = File(Mdr, HEADER, (LUMPS[0], LODS, LUMPS[1]), "MDR", IDENT, VERSION, check=_check)


def read(data: bytes) -> Mdr:
    """Read a file.

    Raises:
        FormatError: the file is no MDR, is cut off, or its counts, offsets or indices contradict it.
    """
    return chunks.read(MDR, data)


def write(mdr: Mdr) -> bytes:
    """Return the file of a model; inverse of `read`, byte for byte while the layout's hint applies."""
    data = chunks.write(MDR, mdr)
    if not are_packed(mdr.frames):
        return data
    at = place_of(HEADER, "ofs_frames")
    offset = -int.from_bytes(data[at : at + 4], "little")
    return data[:at] + offset.to_bytes(4, "little", signed=True) + data[at + 4 :]
