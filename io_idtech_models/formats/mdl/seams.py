"""Texture coordinates of an MDL: one for each vertex, and half a skin further right on the back of its seam.

Models have texture coordinates at corners. Where the corners of a vertex differ it is split, as id's tools do, but for
seams of the source: there a vertex has one pair of numbers for the front and the back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...model.edits.conform import with_vertices
from ...model.source import CodedSource
from ...model.vertex import ModelSource, Surface
from ...reporting import LimitError
from ..common.quake import Size, decode_texels, exact_texels, matching_corners, size_of
from ..common.records import records_of
from .file import HEADER, ST

Ints = NDArray[np.int64]
FARTHEST = 2**31 - 1


def encode_texels(uvs: NDArray[np.float32], size: Size) -> tuple[Ints, NDArray[np.bool_]]:
    """Return the texels (..., 2) closest to texture coordinates, and which of these are numbers in reach, (...,)."""
    with np.errstate(invalid="ignore", over="ignore"):
        texels = np.rint(exact_texels(uvs, size) - 0.5)
        near = np.asarray((np.abs(texels) < FARTHEST).all(axis=-1))
    return np.where(near[..., None], texels, 0.0).astype(np.int64), near


def corner_texels(st: NDArray[np.void], triangles: NDArray[np.int32], front: NDArray[np.int32], width: int) -> Ints:
    """Return the texels of the triangles' corners, (T, 3, 2): what engines look up (`BuildTris`)."""
    texels: Ints = st["st"].astype(np.int64)[triangles]
    beyond = (st["on_seam"][triangles] != 0) & (front == 0)[:, None]
    texels[..., 0] += np.where(beyond, width // 2, 0)
    return texels


@dataclass(eq=False)
class Corners:
    """What the source says of the corners of an edited surface."""

    triangles: NDArray[np.int64]  # (T,) which of the source's each was, or -1
    front: NDArray[np.int32]  # (T,) the source's `faces_front`; 1 of new ones
    texels: Ints  # (T, 3, 2) as they were
    known: NDArray[np.bool_]  # (T, 3) whether they were
    vertices: Ints  # (V,) which of the source's each vertex was, or -1


def source_corners(surface: Surface, own: CodedSource | None, source: ModelSource | None, width: int) -> Corners:
    """Return what the source's own mesh says of a surface's corners: those of the same vertices of its triangles.

    Flipped and mirrored triangles have their corners in another order than the source.
    """
    count = len(surface.triangles)
    found = Corners(
        np.full(count, -1, np.int64),
        np.ones(count, np.int32),
        np.zeros((count, 3, 2), np.int64),
        np.zeros((count, 3), np.bool_),
        np.full(surface.num_vertices, -1, np.int64),
    )
    if own is None or source is None or surface.source_triangles is None or surface.source_vertices is None:
        return found
    found.vertices = _once(source.own_vertices(surface))
    numbers = surface.source_triangles.astype(np.int64) - source.first_triangles[surface.source_index]
    known = (numbers >= 0) & (numbers < len(own.triangles))
    found.triangles[known] = numbers[known]
    numbers = numbers[known]
    st, front = records_of(own.facts, "st", ST), own.facts["faces_front"]
    found.front[known] = front[numbers]
    mine = found.vertices[surface.triangles[known]]
    corners, same = matching_corners(mine, own.triangles[numbers])
    texels = corner_texels(st, own.triangles, front, width)[numbers]
    found.texels[known] = np.take_along_axis(texels, corners[..., None], axis=1)
    found.known[known] = same & (mine >= 0)
    return found


def _once(vertices: Ints) -> Ints:
    """Return which of the source's vertices each one is (V,), or -1: those that were split off are on no seam."""
    again = vertices >= 0
    again[np.unique(vertices, return_index=True)[1]] = False
    found: Ints = np.where(again, -1, vertices)
    return found


def settle_texels(
    surface: Surface, own: CodedSource | None, source: ModelSource | None, size: Size
) -> tuple[Surface, NDArray[np.void], NDArray[np.int32]]:
    """Return a surface whose vertices have one pair of texels each, these ST (V,), and `faces_front` (T,).

    A vertex stays as it was while a corner of it does, or where all go the same way; else its first corner keeps it.
    Others become vertices at the end, which are on no seam.

    Raises:
        LimitError: a texture coordinate that is no number, or far out of reach.
    """
    old_size = size if own is None else size_of(records_of(own.facts, "header", HEADER))
    corners = source_corners(surface, own, source, old_size[0])
    wanted, near = encode_texels(surface.uvs, size)
    unchanged = corners.known & (old_size == size)
    if unchanged.any():
        shown = (decode_texels(corners.texels, size) == surface.uvs).all(axis=2)
        unchanged &= shown | (near & (corners.texels == wanted).all(axis=2))
        wanted = np.where(unchanged[..., None], corners.texels, wanted)
    if not (near | unchanged).all():
        u, v = surface.uvs[~(near | unchanged)][0].tolist()
        raise LimitError(f"'{surface.name}' has the texture coordinate ({u:g}, {v:g}), which no texel of a skin has")
    st = np.zeros(surface.num_vertices, ST)
    if own is not None:
        had = corners.vertices >= 0
        st[had] = records_of(own.facts, "st", ST)[corners.vertices[had]]
        if old_size != size:
            st["st"][had] = encode_texels(decode_texels(st["st"][had].astype(np.int64), old_size), size)[0]
    return _split(surface, st, corners.front, wanted, unchanged, size[0])


def _split(
    surface: Surface,
    st: NDArray[np.void],
    front: NDArray[np.int32],
    wanted: Ints,
    unchanged: NDArray[np.bool_],
    width: int,
) -> tuple[Surface, NDArray[np.void], NDArray[np.int32]]:
    """Return what `settle_texels` does, of the texels (T, 3, 2) that corners are to have."""
    flat = surface.triangles.ravel()
    beyond = (st["on_seam"][surface.triangles] != 0) & (front == 0)[:, None]
    raw = wanted.copy()
    raw[..., 0] -= np.where(beyond, width // 2, 0)
    raw = raw.reshape(-1, 2)
    kept = unchanged.ravel() | (raw == st["st"][flat]).all(axis=1)
    lead = np.full(len(st), -1, np.int64)  # the corner that says what its vertex has
    order = np.concatenate((np.flatnonzero(~kept)[::-1], np.flatnonzero(kept)[::-1]))
    lead[flat[order]] = order  # the last assignment counts: the first kept corner, else the first one
    leaders = np.flatnonzero(lead >= 0)
    leaders = leaders[~kept[lead[leaders]]]
    st["st"][leaders] = np.clip(raw[lead[leaders]], -FARTHEST, FARTHEST)
    apart = ~(raw == raw[lead[flat]]).all(axis=1)
    if not apart.any():
        return surface_with(surface, np.arange(len(st)), surface.triangles), st, front
    rows = np.column_stack((flat[apart], wanted.reshape(-1, 2)[apart]))
    _, first, place = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first, kind="stable"), kind="stable")  # in the order in which they appear
    triangles = flat.astype(np.int64)
    triangles[apart] = len(st) + rank[place.reshape(-1)]
    origins = np.concatenate((np.arange(len(st)), flat[apart][np.sort(first)]))
    further = np.zeros(len(first), ST)
    further["st"] = np.clip(rows[np.sort(first)][:, 1:], -FARTHEST, FARTHEST)
    split = surface_with(surface, origins, triangles.reshape(-1, 3).astype(np.int32))
    return split, np.concatenate((st, further)), front


def surface_with(surface: Surface, origins: NDArray[np.int64], triangles: NDArray[np.int32]) -> Surface:
    """Return a surface with the vertices `origins` (n,) of another, and that one's texture coordinates of corners."""
    if len(origins) == surface.num_vertices:
        return surface
    return with_vertices(surface, origins, triangles, surface.uvs)
