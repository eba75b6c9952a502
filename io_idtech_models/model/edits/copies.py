"""Copies of parts of a surface inside one mesh: their normals go along with what made them of the source's.

Of several points that were one vertex of the source one stays that, and the others are new (`corners.group_corners`).
Blender shows new vertices normals of its own making in every frame but the base. Where whole faces were copied, the
source knows better: a copy was moved there from where the source has it, as a part that was moved is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import steady
from ..vertex import BaseNormals, Surface, VertexModel
from . import affine
from .corners import source_faces
from .normals import SHOWN, NormalCoding, facing_out, filled_frames, plain_normals

Indices = NDArray[np.int64]


def with_copied_normals(model: VertexModel, coding: NormalCoding | None) -> VertexModel:
    """Return a model whose copies of its source's vertices have the source's normals, turned along.

    Of copies that one map made of the source's frame that is the base, rotated, scaled or mirrored: those of others are
    as Blender shows them, and so are those that somebody chose. `coding` says what the codes of normals mean.
    """
    if model.source is None or all(surface.copies is None for surface in model.surfaces):
        return model
    return replace(model, surfaces=[_with_normals(surface, model, coding) for surface in model.surfaces])


def _with_normals(surface: Surface, model: VertexModel, coding: NormalCoding | None) -> Surface:
    copies, normals = surface.copies, surface.normals
    if copies is None or normals is None:
        return surface
    normals, left = normals.copy(), copies >= 0
    for vertices in _pieces(surface, copies):
        piece = _piece(surface, vertices, copies[vertices], model)
        found = plain_normals(model, replace(piece, own_normals=None), coding).normals
        if found is not None:
            follow = _follows(piece, found, normals[:, vertices], model)
            normals[:, vertices[follow]] = found[:, follow]
            left[vertices[follow]] = False
    return replace(surface, stored_normals=facing_out(surface, normals, left), copies=None)


def _pieces(surface: Surface, copies: NDArray[Any]) -> list[Indices]:
    """Return the vertices of pieces in each of which every vertex of the source is copied once, as a rule.

    `copies` (V,) are the source's vertices, -1 of what is no copy. What hangs together stays together.
    """
    inside = np.flatnonzero(copies >= 0)
    whole = surface.triangles[(copies[surface.triangles] >= 0).all(axis=1)]
    parts = affine.connected(whole, affine.places_of(surface.positions[0]))[inside]
    order = np.argsort(parts, kind="stable")
    runs = np.split(inside[order], np.flatnonzero(np.diff(parts[order])) + 1)
    turns = np.zeros(int(copies.max(initial=-1)) + 1, np.int64)  # how many pieces have each vertex of the source so far
    found: list[list[Indices]] = []
    for run in sorted(runs, key=lambda run: int(run[0])) if len(inside) else []:  # what was copied together lies so
        turn = int(turns[copies[run]].max())
        turns[copies[run]] = turn + 1
        found += [[] for _ in range(turn + 1 - len(found))]
        found[turn].append(run)
    return [np.concatenate(each) for each in found]


def _piece(surface: Surface, vertices: Indices, numbers: NDArray[Any], model: VertexModel) -> Surface:
    """Return the part of a surface that some vertices (n,) are, as if they were the source's `numbers` (n,)."""
    place = np.full(surface.num_vertices, -1, np.int32)
    place[vertices] = np.arange(len(vertices))
    triangles = place[surface.triangles]
    inside = (triangles >= 0).all(axis=1)
    triangles, of_corners = triangles[inside], surface.corner_sources
    of_corners = None if of_corners is None else of_corners[inside]
    corners = (numbers[triangles] if of_corners is None else of_corners).astype(np.int64)
    source = np.zeros((0, 3), np.int32) if model.source is None else model.source.triangles
    return replace(
        surface,
        stored_positions=surface.positions[:, vertices],
        stored_normals=None,
        triangles=triangles,
        uvs=surface.uvs[vertices] if surface.uvs.ndim == 2 else surface.uvs[inside],
        source_vertices=numbers.astype(np.int32),
        source_triangles=source_faces(corners, source).astype(np.int32),
        corner_sources=of_corners,
        own_normals=None if surface.own_normals is None else surface.own_normals[vertices],
        base=None if surface.base is None else surface.base.of(vertices),
        copies=None,
    )


def _follows(
    piece: Surface, turned: NDArray[np.float32], shown: NDArray[np.float32], model: VertexModel
) -> NDArray[np.bool_]:
    """Tell of which vertices of a piece (n,) the source's normals, `turned` along, go before those `shown`, (F, n, 3).

    That is where one map made the copy, and nobody chose another normal for it. Blender can't mirror normals, and shows
    others where faces are missing: what the base shows tells of those alone that may have been chosen. In the only
    frame that there is nothing has to go with what others show, but for what is mirrored.
    """
    base = BaseNormals(0, shown[0]) if piece.base is None else piece.base
    numbers, source = piece.source_vertices, model.source
    assert numbers is not None
    assert source is not None
    before = np.zeros((len(numbers), 3), np.float32)
    for part, places, own in source.vertex_parts(numbers):
        before[places] = part.decoded_positions(filled_frames(model)[base.frame][None], own)[0]
    every, after = np.arange(len(numbers)), piece.positions[base.frame]
    maps, moved = affine.linear_maps_at(before, after, piece.triangles, every, affine.rounding(before))
    if len(piece.positions) == 1:
        moved &= steady.determinants(maps) < 0
    sizes = steady.lengths(turned[base.frame]) * steady.lengths(base.normals)
    follows = steady.dots(turned[base.frame], base.normals) >= SHOWN * sizes
    return np.asarray(moved & (follows | (True if piece.own_normals is None else ~piece.own_normals)))
