"""Surfaces as MDM and MDS have them: vertices with their weights, triangles, a collapse map, and bone references.

The records are the structs of Enemy Territory's `qfiles.h` (`mdmSurface_t`, `mdmWeight_t`, `mdmTriangle_t`), which
repeat those of Return to Castle Wolfenstein (`mdsSurface_t` and so on); a vertex differs. Here they become meshes of a
model, and these surfaces again, with new levels of detail or none where they changed.

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

import logging
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....model.lod import collapse
from ....model.skeletal import SkeletalModel, SkeletalSource, Skeleton, SkinnedMesh, SkinnedMeshSource, Weights, skin
from ....model.source import Facts
from ..chunks import MAX_PARTS, Chain, Lump, Place
from ..records import Array, Wanted, all_fit, as_bytes, check_indices, decode_name, records_of
from ..skinned import Bones, encode_vertices, mesh_source, name_surface, wanted_facts
from ..weighted import WeightedVertices

log = logging.getLogger(__name__)


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
Numbers = NDArray[np.int64]
NEAREST = 4096  # vertices of a surface, beyond which the nearest of each takes too long to find


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


@dataclass(frozen=True)
class Meshes:
    """How a format has its surfaces."""

    vertex: np.dtype[Any]
    ident: int  # in the games' files; no game looks at it

    @property
    def own(self) -> list[str]:
        """Return the fields of a vertex that are the format's own."""
        return [name for name in self.vertex.names or () if name not in (VERTEX.names or ())]


def surface_source(surface: SkinnedSurface, kind: Meshes) -> SkinnedMeshSource:
    """Return what a file says of a surface."""
    facts: Facts = {"header": as_bytes(surface.header), "collapse": surface.collapse, "bone_refs": surface.bone_refs}
    facts |= {name: np.ascontiguousarray(surface.vertices[name]).view(np.int32) for name in kind.own}
    name, shader = (decode_name(surface.header[n]) for n in ("name", "shader"))
    return mesh_source((name, shader), surface.vertices, surface.weights, surface.triangles, facts)


def decode_mesh(source: SkeletalSource, index: int) -> SkinnedMesh:
    """Return a mesh as the source has it, which shares nothing with it."""
    header = records_of(source.meshes[index].facts, "header", SURFACE)
    return replace(source.mesh(index), min_lod=int(header["min_lod"]))


def mesh_fits(mesh: SkinnedMeshSource, kind: Meshes) -> bool:
    """Tell whether the facts are what `surface_source` writes: a .blend can come from a stranger."""
    count = mesh.num_vertices
    wanted: Wanted = wanted_facts(mesh) | {
        "header": (SURFACE, ()), "collapse": ("i4", (count,)), "bone_refs": ("i4", (-1,)),
    }  # fmt: skip
    wanted |= dict.fromkeys(kind.own, ("i4", (count,)))
    if not all_fit(mesh.facts, wanted) or mesh.normals is None or not are_bones(mesh.facts["bone_refs"]):
        return False
    inside = (mesh.facts["collapse"] >= 0) & (mesh.facts["collapse"] < max(count, 1))
    return bool(inside.all())


def are_bones(refs: NDArray[Any]) -> bool:
    """Tell whether numbers of bones are such as a file may have."""
    return bool(((refs >= 0) & (refs < MAX_BONES)).all())


def encode_mesh(mesh: SkinnedMesh, bones: Bones, kind: Meshes, make_lod: bool) -> SkinnedSurface:
    """Return the surface of a mesh; `make_lod`: order changed ones anew, for drawing fewer vertices from afar."""
    own, numbers = bones.own_mesh(mesh)
    vertices, weights = encode_vertices(mesh, bones, kind.vertex)
    if own is not None:
        known = np.flatnonzero(numbers >= 0)
        for name in kind.own:
            vertices[name][known] = own.facts[name].view(kind.vertex[name])[numbers[known]]
    triangles = np.ascontiguousarray(mesh.triangles[:, ::-1], np.int32)
    header = _surface_header(mesh, own, kind)
    refs = bones.refs_of(np.unique(weights["bone"]), own)
    surface = SkinnedSurface(header, vertices, weights, triangles, np.zeros(0, np.int32), refs)
    if own is not None and _is_whole(mesh, own, numbers):
        # What a vertex was split into, where a normal or a texture coordinate jumps now, goes first, and back to it.
        surface.collapse = np.concatenate((own.facts["collapse"], numbers[own.num_vertices :].astype(np.int32)))
        if mesh.min_lod is not None:
            header["min_lod"] = mesh.min_lod
    elif make_lod and len(triangles):
        surface = with_lod(surface, mesh, bones.skeleton)
    else:
        if own is not None and header["min_lod"] < own.num_vertices:
            log.warning("surface '%s' changed: its levels of detail are gone, all is drawn from afar", mesh.name)
        draw_all(surface, mesh, bones.skeleton)
    return surface


def _is_whole(mesh: SkinnedMesh, own: SkinnedMeshSource, numbers: Numbers) -> bool:
    """Tell whether a mesh has the source's triangles, and its vertices in their order; `numbers` (V,) says which.

    Further ones, behind those, are parts of vertices that were split.
    """
    count = own.num_vertices
    if not np.array_equal(numbers[:count], np.arange(count)) or (numbers < 0).any():
        return False
    corners = np.sort(numbers[mesh.triangles], axis=1)  # though triangles be turned over
    return np.array_equal(corners, np.sort(own.triangles, axis=1))


def _surface_header(mesh: SkinnedMesh, own: SkinnedMeshSource | None, kind: Meshes) -> Any:
    header = np.zeros((), SURFACE)
    header["ident"] = kind.ident
    if own is not None:
        header = records_of(own.facts, "header", SURFACE)
    name_surface(header, mesh, own)
    return header


def problems(model: SkeletalModel, source: SkeletalSource, known: bool) -> list[str]:
    """Return what the engine trips over in a model that was just read; `known`: its bones have parents."""
    found = []
    for mesh in source.meshes:
        header = records_of(mesh.facts, "header", SURFACE)
        for text in collapse.problems(mesh.facts["collapse"], mesh.num_vertices, int(header["min_lod"])):
            found.append(f"surface '{mesh.name}': {text}")
        refs = mesh.facts["bone_refs"].tolist()
        lost = sorted(set(mesh.weights.joints.tolist()) - set(refs))
        if lost:
            found.append(f"surface '{mesh.name}': bone {lost[0]} moves vertices, but is no bone reference")
        if known:
            found += [f"surface '{mesh.name}': {text}" for text in _misplaced(refs, model.skeleton)]
        if mesh.name != mesh.name.lower():
            found.append(f"surface '{mesh.name}': skins name it '{mesh.name.lower()}' and do not find it")
    return found


def _misplaced(refs: list[int], skeleton: Skeleton) -> list[str]:
    """Return which bone comes too early: `R_CalcBones` computes a parent that was not, but not that one's own."""
    done = {-1}
    for bone in refs:
        parent = int(skeleton.parents[bone])
        if parent not in done and int(skeleton.parents[parent]) not in done:
            return [f"bone reference '{skeleton.names[bone]}' comes without its ancestors before it"]
        done |= {parent, bone}
    return []


def draw_all(surface: SkinnedSurface, mesh: SkinnedMesh, skeleton: Skeleton) -> None:
    """Let games draw all of a surface from afar; `mesh` says where its vertices stand."""
    near = _places(mesh, skeleton) if mesh.num_vertices <= NEAREST else None
    surface.collapse = collapse.identity(mesh.num_vertices, near)
    surface.header["min_lod"] = mesh.num_vertices


def with_lod(surface: SkinnedSurface, mesh: SkinnedMesh, skeleton: Skeleton) -> SkinnedSurface:
    """Return a surface whose vertices are ordered so that the last can go first; `mesh` says where they stand."""
    ordered = collapse.simplify(_places(mesh, skeleton), mesh.uvs, None, mesh.triangles)
    new_of = np.empty(len(ordered.order), np.int64)
    new_of[ordered.order] = np.arange(len(ordered.order))
    counts = surface.vertices["num_weights"].astype(np.int64)
    nothing = np.zeros(0, np.float32)
    table = Weights(np.cumsum(counts) - counts, counts, nothing, nothing, nothing.reshape(0, 3))
    entries = table.of(ordered.order).entries()[1]
    surface.header["min_lod"] = ordered.min_lod
    return SkinnedSurface(
        surface.header,
        surface.vertices[ordered.order],
        surface.weights[entries],
        new_of[surface.triangles].astype(np.int32),
        ordered.collapse.astype(np.int32),
        surface.bone_refs,
    )


def _places(mesh: SkinnedMesh, skeleton: Skeleton) -> NDArray[np.float64]:
    return skin(mesh.weights, skeleton.bind.positions, skeleton.bind.rotations)
