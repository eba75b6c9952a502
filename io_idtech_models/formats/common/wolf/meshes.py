"""Surfaces of MDM and MDS to meshes of a model, and back."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....model.lod import collapse
from ....model.skeletal import SkeletalModel, SkeletalSource, Skeleton, SkinnedMesh, SkinnedMeshSource, Weights
from ....model.source import Facts
from ..hints import Wanted, all_fit, as_bytes, finite, records_of
from ..records import decode_name, encode_name
from ..uv import flipped
from .levels import draw_all, with_lod
from .surface import MAX_BONES, NAME_SIZE, SURFACE, VERTEX, WEIGHT, SkinnedSurface
from .weights import Bones, fill_weights, heaviest_first, in_space_of

log = logging.getLogger(__name__)

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Meshes:
    """How a format has its surfaces."""

    vertex: np.dtype[Any]
    ident: int  # in the games' files; no game looks at it

    @property
    def own(self) -> list[str]:
        """Return the fields of a vertex that are the format's own."""
        return [name for name in self.vertex.names or () if name not in (VERTEX.names or ())]


def mesh_source(surface: SkinnedSurface, kind: Meshes) -> SkinnedMeshSource:
    """Return what a file says of a surface."""
    counts = surface.vertices["num_weights"]
    table = surface.weights
    weights = Weights(
        (np.cumsum(counts) - counts).astype(np.int32),
        np.ascontiguousarray(counts, np.int32),
        np.ascontiguousarray(table["bone"], np.int32),
        np.ascontiguousarray(table["weight"], np.float32),
        np.ascontiguousarray(table["offset"], np.float32),
    )
    normals, st = (np.ascontiguousarray(surface.vertices[n]) for n in ("normal", "st"))
    facts: Facts = {
        "header": as_bytes(surface.header),
        "normals": normals.view(np.int32),
        "st": st.view(np.int32),
        "collapse": surface.collapse,
        "bone_refs": surface.bone_refs,
    }
    facts |= {name: np.ascontiguousarray(surface.vertices[name]).view(np.int32) for name in kind.own}
    triangles = np.ascontiguousarray(surface.triangles[:, ::-1], np.int32)
    name, shader = (decode_name(surface.header[n]) for n in ("name", "shader"))
    return SkinnedMeshSource(name, shader, flipped(finite(st)), triangles, weights, facts, finite(normals))


def decode_mesh(source: SkeletalSource, index: int) -> SkinnedMesh:
    """Return a mesh as the source has it, which shares nothing with it."""
    header = records_of(source.meshes[index].facts, "header", SURFACE)
    return replace(source.mesh(index), min_lod=int(header["min_lod"]))


def mesh_fits(mesh: SkinnedMeshSource, kind: Meshes) -> bool:
    """Tell whether the facts are what `mesh_source` writes: a .blend can come from a stranger."""
    count = mesh.num_vertices
    wanted: Wanted = {
        "header": (SURFACE, ()), "normals": ("i4", (count, 3)), "st": ("i4", (count, 2)),
        "collapse": ("i4", (count,)), "bone_refs": ("i4", (-1,)),
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
    source = bones.source
    own = source.meshes[mesh.source_index] if source is not None and mesh.source_index >= 0 else None
    numbers = np.full(mesh.num_vertices, -1, np.int64) if source is None else source.own_vertices(mesh)
    weights, counts, normals = _encode_weights(mesh, bones, own, numbers)
    vertices = np.zeros(mesh.num_vertices, kind.vertex)
    vertices["normal"] = normals
    vertices["st"] = flipped(finite(mesh.uvs))
    vertices["num_weights"] = counts
    if own is not None:
        known = np.flatnonzero(numbers >= 0)
        for name in kind.own:
            vertices[name][known] = own.facts[name].view(kind.vertex[name])[numbers[known]]
        same = own.same_uvs(mesh.uvs, numbers)
        vertices["st"][same] = own.facts["st"].view(np.float32)[numbers[same]]
        if mesh.kept_normals is not None:
            same = np.flatnonzero(mesh.kept_normals & (numbers >= 0))
            vertices["normal"][same] = own.facts["normals"].view(np.float32)[numbers[same]]
    triangles = np.ascontiguousarray(mesh.triangles[:, ::-1], np.int32)
    header = _surface_header(mesh, own, kind)
    written = None if own is None else own.facts["bone_refs"]
    before = np.zeros(0, np.int64) if own is None else own.weights.joints
    refs = bones.refs(np.unique(weights["bone"]), written, before)
    whole = own is not None and np.array_equal(numbers, np.arange(own.num_vertices))
    surface = SkinnedSurface(header, vertices, weights, triangles, np.zeros(0, np.int32), refs)
    if own is not None and whole and _same_faces(mesh.triangles, own.triangles):
        surface.collapse = own.facts["collapse"]
        if mesh.min_lod is not None:
            header["min_lod"] = mesh.min_lod
    elif make_lod and len(triangles):
        surface = with_lod(surface, mesh, bones.skeleton)
    else:
        if own is not None and header["min_lod"] < own.num_vertices:
            log.warning("surface '%s' changed: its levels of detail are gone, all is drawn from afar", mesh.name)
        draw_all(surface, mesh, bones.skeleton)
    return surface


def _same_faces(triangles: NDArray[Any], source: NDArray[Any]) -> bool:
    """Tell whether triangles (T, 3) are the source's, all as they were or, of a mirrored surface, all turned over."""
    return np.array_equal(triangles, source) or np.array_equal(triangles[:, ::-1], source)


def _surface_header(mesh: SkinnedMesh, own: SkinnedMeshSource | None, kind: Meshes) -> Any:
    header = np.zeros((), SURFACE)
    header["ident"] = kind.ident
    if own is not None:
        header = records_of(own.facts, "header", SURFACE)
    name = mesh.name
    if (own is None or name != own.name) and name != name.lower():
        log.warning("surface '%s' is written in lower case: skins name it so", name)
        name = name.lower()
    for key, value in (("name", name), ("shader", mesh.shader)):
        header[key] = encode_name(value, NAME_SIZE, "surface" if key == "name" else key, bytes(header[key]))
    return header


def _encode_weights(
    mesh: SkinnedMesh, bones: Bones, own: SkinnedMeshSource | None, numbers: Numbers
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float32]]:
    """Return weights, WEIGHT (W,), how many each vertex has, (V,), and its normal in the space of the first, (V, 3).

    Vertices that are kept have the source's weights, those carried too but for offsets, in its order; others the
    heaviest first.
    """
    kept: NDArray[np.bool_] = np.zeros(mesh.num_vertices, np.bool_)
    if own is not None and mesh.kept is not None:
        kept = mesh.kept & (numbers >= 0)
        known = np.flatnonzero(kept)
        owners, entries = own.weights.of(numbers[known]).entries()
        lost = bones.of_source[own.weights.joints[entries]] < 0
        kept[known[owners[lost]]] = False
    table, normals = heaviest_first(mesh, bones.skeleton, kept if mesh.carried is None else kept | mesh.carried)
    counts = table.counts.astype(np.int64)
    if own is not None:
        counts[kept] = own.weights.counts[numbers[kept]]
    weights = np.zeros(int(counts.sum()), WEIGHT)
    starts = np.cumsum(counts) - counts
    fresh = np.flatnonzero(~kept)
    fill_weights(weights, starts[fresh], table.of(fresh), None)
    if own is not None:
        known = np.flatnonzero(kept)
        fill_weights(weights, starts[known], own.weights.of(numbers[known]), bones.of_source)
        first = table.first_joints()
        first[known] = bones.of_source[own.weights.of(numbers[known]).first_joints()]
        normals = in_space_of(first, normals, table.first_joints(), bones.skeleton)
    return weights, counts, normals


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
