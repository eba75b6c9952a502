"""Surfaces as MDM and MDS have them: vertices with their weights, triangles, a collapse map, and bone references.

The records are the structs of Enemy Territory's `qfiles.h` (`mdmSurface_t`, `mdmWeight_t`, `mdmTriangle_t`), which
repeat those of Return to Castle Wolfenstein (`mdsSurface_t` and so on); a vertex differs.

Facts (ET: Legacy's `R_LoadMDM` and `RB_MDM_SurfaceAnim`, iortcw's `RB_SurfaceAnim`; measured on the games' own files):

- A vertex stands at the sum over its weights of weight x (bone x offset); a weight's bone is a number among all. Its
  normal is turned by the bone of its first weight alone. Front faces are clockwise, texture coordinates count from the
  top left.
- From afar the first max(num_verts x lod, min_lod) vertices are drawn; a triangle's other corners become what
  `collapse` says, again and again. See `model.lod.collapse`.
- Bone references list the bones to be computed: ancestors first.
- `ofs_header` is minus the surface's place in the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..chunks import MAX_PARTS, Chain, Lump, Place
from ..records import Array, check_indices
from ..weighted import WeightedVertices

NAME_SIZE = 64
MAX_BONES = 1 << 16  # no engine has more than 128: a weight's bone beyond this is damage

SURFACE = np.dtype([
    ("ident", "<i4"), ("name", "S64"), ("shader", "S64"), ("shader_index", "<i4"), ("min_lod", "<i4"),
    ("ofs_header", "<i4"), ("num_verts", "<i4"), ("ofs_verts", "<i4"), ("num_triangles", "<i4"),
    ("ofs_triangles", "<i4"), ("ofs_collapse", "<i4"), ("num_bone_refs", "<i4"), ("ofs_bone_refs", "<i4"),
    ("ofs_end", "<i4"),
])  # fmt: skip
VERTEX = np.dtype([("normal", "<f4", 3), ("st", "<f4", 2), ("num_weights", "<i4")])  # and what is a format's own
INDEX = np.dtype("<i4")
BONE_REFS = Lump("bone_refs", INDEX, ("num_bone_refs",), "bone references")


@dataclass(eq=False)
class SkinnedSurface:
    """One surface as the file has it; its vertices' weights are one table, vertex after vertex."""

    header: Any  # SURFACE
    vertices: Array  # VERTEX (V,), with what is the format's own
    weights: Array  # WEIGHT (W,)
    triangles: NDArray[np.int32]  # (T, 3), clockwise
    collapse: NDArray[np.int32]  # (V,)
    bone_refs: NDArray[np.int32]  # (R,)


def _check(found: dict[str, Array], place: Place) -> None:
    for name, limit, what, kind in (
        ("triangles", len(found["vertices"]), "triangle {}", "vertices"),
        ("collapse", len(found["vertices"]), "place {} of the collapse map", "vertices"),
        ("bone_refs", MAX_BONES, "bone reference {}", "bones"),
    ):
        check_indices(found[name], limit, place.start + place.number(f"ofs_{name}"), what + place.of, kind)


def chain(vertex: np.dtype[Any]) -> Chain:
    """Return the surfaces of a file whose vertices are so."""
    vertices = WeightedVertices("vertices", vertex, ("num_verts",), offset="ofs_verts", most_bones=MAX_BONES)
    lumps = (
        vertices,
        Lump("triangles", INDEX, ("num_triangles", 3)),
        Lump("collapse", INDEX, ("num_verts",), "collapse map"),
        BONE_REFS,
    )
    return Chain(SkinnedSurface, SURFACE, lumps, "surfaces", "surface", back="ofs_header", most=MAX_PARTS, check=_check)
