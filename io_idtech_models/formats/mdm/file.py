"""MDM: the skinned meshes of Wolfenstein: Enemy Territory, which the skeletons of `mdx` move.

A header, then surfaces, which follow one another at `ofs_end`, then tags, likewise. A surface is a header and lumps
addressed from the surface's start: vertices, triangles, collapse map, and bone references. A tag is a header and its
bone references. A vertex is a record that is followed by its weights, so vertices have no common size. Everything is
little-endian. The records are the structs of the game's `qfiles.h` (`mdmHeader_t`, `mdmSurface_t`, `mdmVertex_t`,
`mdmWeight_t`, `mdmTriangle_t`, `mdmTag_t`), field by field.

Facts (ET: Legacy's `R_LoadMDM`, `RB_MDM_SurfaceAnim`, `R_MDM_GetBoneTag`; measured on the games' own files):

- Files have version 3, whatever documents say.
- A vertex stands at the sum over its weights of weight x (bone x offset); a weight's bone is a number among all of the
  MDX. Its normal is turned by the bone of its first weight alone. Front faces are clockwise, texture coordinates count
  from the top left.
- A tag's origin and axes, as rows, are in the space of its bone.
- From afar the first max(num_verts x lod, min_lod) vertices are drawn; a triangle's other corners become what
  `collapse` says, again and again. See `model.lod.collapse`.
- Bone references list the bones to be computed: ancestors first.
- `ofs_header` is minus the surface's place in the file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...reporting import FormatError
from ..common import reader
from ..common.chunks import MAX_PARTS, Chain, File, Lump, Place
from ..common.layout import Arrays
from ..common.records import Array, check_indices, place_of
from ..common.weighted import WeightedVertices

IDENT = b"MDMW"
VERSION = 3
NAME_SIZE = 64
MAX_BONES = 1 << 16  # no engine has more than 128: a weight's bone beyond this is damage

HEADER = np.dtype([
    ("ident", "S4"), ("version", "<i4"), ("name", "S64"), ("lod_scale", "<f4"), ("lod_bias", "<f4"),
    ("num_surfaces", "<i4"), ("ofs_surfaces", "<i4"), ("num_tags", "<i4"), ("ofs_tags", "<i4"), ("ofs_end", "<i4"),
])  # fmt: skip
SURFACE = np.dtype([
    ("ident", "<i4"), ("name", "S64"), ("shader", "S64"), ("shader_index", "<i4"), ("min_lod", "<i4"),
    ("ofs_header", "<i4"), ("num_verts", "<i4"), ("ofs_verts", "<i4"), ("num_triangles", "<i4"),
    ("ofs_triangles", "<i4"), ("ofs_collapse", "<i4"), ("num_bone_refs", "<i4"), ("ofs_bone_refs", "<i4"),
    ("ofs_end", "<i4"),
])  # fmt: skip
VERTEX = np.dtype([("normal", "<f4", 3), ("st", "<f4", 2), ("num_weights", "<i4")])
INDEX = np.dtype("<i4")
TAG = np.dtype([
    ("name", "S64"), ("axis", "<f4", (3, 3)), ("bone", "<i4"), ("offset", "<f4", 3),
    ("num_bone_refs", "<i4"), ("ofs_bone_refs", "<i4"), ("ofs_end", "<i4"),
])  # fmt: skip
SURFACE_IDENT = 9  # in the games' files; no game looks at it


@dataclass(eq=False)
class MdmSurface:
    """One surface as the file has it; its vertices' weights are one table, vertex after vertex."""

    header: Any  # SURFACE
    vertices: Array  # VERTEX (V,)
    weights: Array  # WEIGHT (W,)
    triangles: NDArray[np.int32]  # (T, 3), clockwise
    collapse: NDArray[np.int32]  # (V,)
    bone_refs: NDArray[np.int32]  # (R,)


@dataclass(eq=False)
class MdmTag:
    """One tag as the file has it."""

    header: Any  # TAG
    bone_refs: NDArray[np.int32]  # (R,)


@dataclass(eq=False)
class Mdm:
    """A file as structs. `layout` says where the lumps lay; `source_*` which of its parts each one was."""

    header: Any  # HEADER
    surfaces: list[MdmSurface]
    tags: list[MdmTag]
    layout: Arrays = field(default_factory=dict)
    source_surfaces: list[int] = field(default_factory=list)
    source_tags: list[int] = field(default_factory=list)


def _check_surface(found: dict[str, Array], place: Place) -> None:
    for name, limit, what, kind in (
        ("triangles", len(found["vertices"]), "triangle {}", "vertices"),
        ("collapse", len(found["vertices"]), "place {} of the collapse map", "vertices"),
        ("bone_refs", MAX_BONES, "bone reference {}", "bones"),
    ):
        check_indices(found[name], limit, place.start + place.number(f"ofs_{name}"), what + place.of, kind)


def _check_tag(found: dict[str, Array], place: Place) -> None:
    header, start = place.header, place.start
    offset = start + place.number("ofs_bone_refs")
    check_indices(found["bone_refs"], MAX_BONES, offset, f"bone reference {{}}{place.of}", "bones")
    if not 0 <= int(header["bone"]) < MAX_BONES:
        byte = f"byte {start + place_of(TAG, 'bone')}"
        raise FormatError(f"bone{place.of}", byte, f"0 to {MAX_BONES - 1}", int(header["bone"]))
    if not (np.isfinite(header["axis"]).all() and np.isfinite(header["offset"]).all()):
        raise FormatError(f"place{place.of}", f"byte {start}", "numbers", header["offset"].tolist())


BONE_REFS = Lump("bone_refs", INDEX, ("num_bone_refs",), "bone references")
SURFACES = Chain(
    MdmSurface,
    SURFACE,
    (
        WeightedVertices("vertices", VERTEX, ("num_verts",), offset="ofs_verts", most_bones=MAX_BONES),
        Lump("triangles", INDEX, ("num_triangles", 3)),
        Lump("collapse", INDEX, ("num_verts",), "collapse map"),
        BONE_REFS,
    ),
    "surfaces",
    "surface",
    back="ofs_header",
    most=MAX_PARTS,
    check=_check_surface,
)
TAGS = Chain(MdmTag, TAG, (BONE_REFS,), "tags", "tag", heading="", most=MAX_PARTS, check=_check_tag)
MDM = File(Mdm, HEADER, (SURFACES, TAGS), "MDM", IDENT, VERSION)


def read(data: bytes) -> Mdm:
    """Read a file.

    Raises:
        FormatError: the file is no MDM, is cut off, or its counts, offsets or indices contradict it.
    """
    return reader.read(MDM, data)


def write(mdm: Mdm) -> bytes:
    """Return the file of a model; inverse of `read`, byte for byte while the layout's hint applies."""
    from ..common.writer import write as write_file  # which an import does without

    return write_file(MDM, mdm)
