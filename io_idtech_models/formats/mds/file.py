"""MDS: the players of Return to Castle Wolfenstein: meshes, their skeleton, and all its frames in one file.

A header points to four lumps: frames, bones, surfaces, which follow one another at `ofs_end`, and tags. Frames and
bones are those of an MDX (`common.wolf.bones`), surfaces those of an MDM (`common.wolf.surface`), but for two fields of
a vertex. Everything is little-endian. The records are the structs of the game's `qfiles.h` (`mdsHeader_t`,
`mdsVertex_t`, `mdsTag_t`), field by field.

Facts (iortcw's `R_LoadMDS`, `RB_SurfaceAnim`, `R_GetBoneTag`; measured on the games' own files):

- A tag names a bone, and how much that follows the torso. All bones with the flag 1 are tags, and no others.
- A tag's axes are the rows of its bone's matrix, where vertices are moved by the columns: see `model`.
- A vertex' `fixed_parent` and `fixed_dist` are used by nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..common import chunks
from ..common.chunks import Arrays, File, Lump, Place
from ..common.records import Array, check_indices
from ..common.wolf import bones, meshes

IDENT = b"MDSW"
VERSION = 4
NAME_SIZE = 64
SURFACE_IDENT = 8  # in the games' files; no game looks at it

HEADER = np.dtype([
    ("ident", "S4"), ("version", "<i4"), ("name", "S64"), ("lod_scale", "<f4"), ("lod_bias", "<f4"),
    ("num_frames", "<i4"), ("num_bones", "<i4"), ("ofs_frames", "<i4"), ("ofs_bones", "<i4"),
    ("torso_parent", "<i4"), ("num_surfaces", "<i4"), ("ofs_surfaces", "<i4"), ("num_tags", "<i4"),
    ("ofs_tags", "<i4"), ("ofs_end", "<i4"),
])  # fmt: skip
SURFACE = meshes.SURFACE
VERTEX = np.dtype([*meshes.VERTEX.descr, ("fixed_parent", "<i4"), ("fixed_dist", "<f4")])
TAG = np.dtype([("name", "S64"), ("torso_weight", "<f4"), ("bone", "<i4")])


@dataclass(eq=False)
class Mds:
    """A file as structs. `layout` says where the lumps lay; `source_surfaces` which of its surfaces each one was."""

    header: Any  # HEADER
    frames: Array  # bones.frame_dtype(B) (F,)
    bones: Array  # bones.BONE (B,)
    surfaces: list[meshes.SkinnedSurface]
    tags: Array  # TAG (N,)
    layout: Arrays = field(default_factory=dict)
    source_surfaces: list[int] = field(default_factory=list)


def _check(found: dict[str, Array], place: Place) -> None:
    bones.check_bones(found["bones"], place.number("ofs_bones"))
    bones.check_frames(found["frames"], place.number("ofs_frames"))
    check_indices(found["tags"]["bone"], len(found["bones"]), place.number("ofs_tags"), "bone of tag {}", "bones")


def _check_surface(mds: Mds) -> None:
    """Refuse weights and references of bones that the file does not have; raises FormatError."""
    for index, each in enumerate(mds.surfaces):
        for what, numbers in (("weight", each.weights["bone"]), ("bone reference", each.bone_refs)):
            check_indices(numbers, len(mds.bones), 0, f"{what} {{}} of surface {index}", "bones")


LUMPS = (
    Lump("frames", bones.frames_of, ("num_frames",), last=True),
    Lump("bones", bones.BONE, ("num_bones",)),
    meshes.chain(VERTEX),
    Lump("tags", TAG, ("num_tags",)),
)
MDS = File(Mds, HEADER, LUMPS, "MDS", IDENT, VERSION, check=_check)


def read(data: bytes) -> Mds:
    """Read a file.

    Raises:
        FormatError: the file is no MDS, is cut off, or its counts, offsets or indices contradict it.
    """
    found = chunks.read(MDS, data)
    _check_surface(found)
    return found


def write(mds: Mds) -> bytes:
    """Return the file of a model; inverse of `read`, byte for byte while the layout's hint applies."""
    return chunks.write(MDS, mds)
