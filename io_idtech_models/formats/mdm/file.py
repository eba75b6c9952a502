"""MDM: the skinned meshes of Wolfenstein: Enemy Territory, which the skeletons of `mdx` move.

A header, then surfaces, which follow one another at `ofs_end`, then tags, likewise. A surface is a header and lumps
addressed from the surface's start: see `common.wolf.surface`. A tag is a header and its bone references. A vertex is a
record that is followed by its weights, so vertices have no common size. Everything is little-endian. The records are
the structs of the game's `qfiles.h` (`mdmHeader_t`, `mdmVertex_t`, `mdmTag_t`), field by field.

Facts (ET: Legacy's `R_LoadMDM`, `RB_MDM_SurfaceAnim`, `R_MDM_GetBoneTag`; measured on the games' own files):

- Files have version 3, whatever documents say.
- A tag's origin and axes, as rows, are in the space of its bone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...reporting import FormatError
from ..common import chunks
from ..common.chunks import MAX_PARTS, Arrays, Chain, File, Place
from ..common.records import Array, check_indices, place_of
from ..common.wolf import meshes

IDENT = b"MDMW"
VERSION = 3
NAME_SIZE = 64
MAX_BONES = meshes.MAX_BONES

HEADER = np.dtype([
    ("ident", "S4"), ("version", "<i4"), ("name", "S64"), ("lod_scale", "<f4"), ("lod_bias", "<f4"),
    ("num_surfaces", "<i4"), ("ofs_surfaces", "<i4"), ("num_tags", "<i4"), ("ofs_tags", "<i4"), ("ofs_end", "<i4"),
])  # fmt: skip
SURFACE, VERTEX = meshes.SURFACE, meshes.VERTEX
TAG = np.dtype([
    ("name", "S64"), ("axis", "<f4", (3, 3)), ("bone", "<i4"), ("offset", "<f4", 3),
    ("num_bone_refs", "<i4"), ("ofs_bone_refs", "<i4"), ("ofs_end", "<i4"),
])  # fmt: skip
SURFACE_IDENT = 9  # in the games' files; no game looks at it


@dataclass(eq=False)
class MdmTag:
    """One tag as the file has it."""

    header: Any  # TAG
    bone_refs: NDArray[np.int32]  # (R,)


@dataclass(eq=False)
class Mdm:
    """A file as structs. `layout` says where the lumps lay; `source_*` which of its parts each one was."""

    header: Any  # HEADER
    surfaces: list[meshes.SkinnedSurface]
    tags: list[MdmTag]
    layout: Arrays = field(default_factory=dict)
    source_surfaces: list[int] = field(default_factory=list)
    source_tags: list[int] = field(default_factory=list)


def _check_tag(found: dict[str, Array], place: Place) -> None:
    header, start = place.header, place.start
    offset = start + place.number("ofs_bone_refs")
    check_indices(found["bone_refs"], MAX_BONES, offset, f"bone reference {{}}{place.of}", "bones")
    if not 0 <= int(header["bone"]) < MAX_BONES:
        byte = f"byte {start + place_of(TAG, 'bone')}"
        raise FormatError(f"bone{place.of}", byte, f"0 to {MAX_BONES - 1}", int(header["bone"]))
    if not (np.isfinite(header["axis"]).all() and np.isfinite(header["offset"]).all()):
        raise FormatError(f"place{place.of}", f"byte {start}", "numbers", header["offset"].tolist())


TAGS = Chain(MdmTag, TAG, (meshes.BONE_REFS,), "tags", "tag", heading="", most=MAX_PARTS, check=_check_tag)
MDM = File(Mdm, HEADER, (meshes.chain(VERTEX), TAGS), "MDM", IDENT, VERSION)


def read(data: bytes) -> Mdm:
    """Read a file.

    Raises:
        FormatError: the file is no MDM, is cut off, or its counts, offsets or indices contradict it.
    """
    return chunks.read(MDM, data)


def write(mdm: Mdm) -> bytes:
    """Return the file of a model; inverse of `read`, byte for byte while the layout's hint applies."""
    return chunks.write(MDM, mdm)
