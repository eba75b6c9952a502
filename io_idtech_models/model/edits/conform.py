"""Bringing a model into the shape that a format asks for: vertices split along seams, or one surface for all.

Formats differ in what a vertex is. In MD3 it has one texture coordinate, so that files repeat vertices along seams;
in MD2 texture coordinates belong to the triangles' corners, and a model is one surface.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..source import Meshes, are_solid
from ..vertex import BaseNormals, Surface, VertexModel
from .normals import NormalCoding, mean_normals, plain_normals
from .weld import weld

Ints = NDArray[np.int32]


def split_surface(surface: Surface) -> Surface:
    """Return a surface whose vertices have one texture coordinate each: further ones become vertices at the end."""
    if surface.uvs.ndim == 2:
        return surface
    flat = surface.triangles.ravel()
    uvs = np.ascontiguousarray(surface.uvs.reshape(-1, 2) + np.float32(0.0))  # -0 and 0 are one
    rows = np.column_stack((flat, uvs.view(np.int32))).astype(np.int64)
    _, first, group = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    first = first[order]  # kinds of corners in the order in which they appear
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    count = surface.num_vertices
    lead = np.zeros(len(first), np.bool_)  # the first kind at its vertex
    lead[np.unique(flat[first], return_index=True)[1]] = True
    vertex = np.where(lead, flat[first], 0)
    vertex[~lead] = count + np.arange(int((~lead).sum()))
    origins = np.concatenate((np.arange(count), flat[first[~lead]]))
    shown = np.zeros((len(origins), 2), np.float32)
    shown[vertex] = uvs[first]
    triangles = vertex[rank[group.reshape(-1)]].reshape(-1, 3).astype(np.int32)
    return with_vertices(surface, origins, triangles, shown)


def with_vertices(surface: Surface, origins: NDArray[Any], triangles: Ints, uvs: NDArray[np.float32]) -> Surface:
    """Return a surface with the vertices `origins` (n,) of another."""
    numbers, own, normals = surface.source_vertices, surface.own_normals, surface.normals
    return Surface(
        surface.name,
        surface.positions[:, origins],
        triangles,
        uvs,
        list(surface.shaders),
        None if normals is None else normals[:, origins],
        surface.source_index,
        None if numbers is None else numbers[origins],
        surface.source_triangles,
        None if own is None else own[origins],
        surface.mirrored,
        surface.as_shown,
        None if surface.base is None else surface.base.of(origins),
        None if surface.colors is None else surface.colors[origins],
    )


def join_vertices(surface: Surface) -> Surface:
    """Return a surface whose texture coordinates belong to corners: vertices at one place in all frames become one.

    The vertex that stays takes the mean of their normals.
    """
    if surface.uvs.ndim == 3:
        return surface
    uvs = surface.corner_uvs
    lowest = weld(surface.positions.view(np.int32), surface.triangles)
    kept, group = np.unique(lowest, return_inverse=True)
    group = group.reshape(-1)
    joined = with_vertices(surface, kept, group[surface.triangles].astype(np.int32), uvs)
    if surface.normals is not None and len(kept) < len(group):
        joined.normals = mean_normals(surface.normals, group, len(kept))
    if surface.own_normals is not None:
        joined.own_normals = np.bincount(group, surface.own_normals, len(kept)) > 0
    return joined


def joined(model: VertexModel, coding: NormalCoding) -> VertexModel:
    """Return a model of one surface whose texture coordinates belong to corners; its shaders are those of all, once.

    Vertices that claim the same source vertex become one where they go the same way, and are told apart elsewhere: a
    further one is new, with the source's normal turned along, whose code `coding` tells.
    """
    if len(model.surfaces) == 1 and model.surfaces[0].uvs.ndim == 3:
        return model
    parts = [join_vertices(surface) for surface in model.surfaces]
    if len(parts) > 1:
        whole = _concatenated(parts, model, coding)
        parts = [whole if model.source is None else _with_degenerate(whole, model.source)]
    return replace(model, surfaces=parts)


def _concatenated(parts: list[Surface], model: VertexModel, coding: NormalCoding) -> Surface:
    lead = next((part for part in parts if part.source_index >= 0), parts[0])
    name = f"{lead.name} and {len(parts) - 1} more"  # for what is said of it: such files name no surfaces
    positions = np.concatenate([part.positions for part in parts], axis=1)
    claimed = np.concatenate([_numbers(p.source_vertices, p.num_vertices) for p in parts])
    faces = np.concatenate([_numbers(p.source_triangles, len(p.triangles)) for p in parts])
    bases = np.cumsum([0] + [part.num_vertices for part in parts])
    triangles = np.concatenate([p.triangles + b for p, b in zip(parts, bases, strict=False)]).astype(np.int64)
    # Parts of one mesh bring back the same triangles without area; a copy's are new ones, and so are its vertices.
    again = _repeats(faces)
    kept_faces = np.flatnonzero(~again | are_solid(triangles))
    faces[again] = -1
    copied = np.zeros(len(claimed), np.bool_)
    copied[triangles[kept_faces[again[kept_faces]]]] = True
    target, numbers = _claims(claimed, positions, copied)
    kept = np.flatnonzero(target == np.arange(len(target)))
    order = kept[np.argsort(_last_if_new(numbers[kept]), kind="stable")]
    place = np.full(len(target), -1, np.int64)
    place[order] = np.arange(len(order))
    triangles = place[target][triangles]
    turn = kept_faces[np.argsort(_last_if_new(faces[kept_faces]), kind="stable")]
    uvs = np.concatenate([part.uvs for part in parts])
    own = [np.zeros(p.num_vertices, np.bool_) if p.own_normals is None else p.own_normals for p in parts]
    lost = (numbers < 0) & (claimed >= 0) & ~np.concatenate(own)
    normals = _all_normals(_with_normals(parts, lost, model, coding), positions)
    return Surface(
        name,
        positions[:, order],
        triangles[turn].astype(np.int32),
        uvs[turn],
        list(dict.fromkeys(shader for part in parts for shader in part.shaders)),
        None if normals is None else normals[:, order],
        lead.source_index,
        numbers[order],
        faces[turn],
        np.concatenate(own)[order],
        lead.mirrored,
        lead.as_shown,
        _all_bases(parts, order),
    )


def _all_bases(parts: list[Surface], order: NDArray[Any]) -> BaseNormals | None:
    """Return what is shown of all parts in the base, of the vertices `order` of all; None where some don't say."""
    bases = [part.base for part in parts if part.base is not None]
    if len(bases) < len(parts) or len({base.frame for base in bases}) > 1:
        return None
    return BaseNormals(bases[0].frame, np.concatenate([base.normals for base in bases])[order])


def _last_if_new(numbers: Ints) -> Ints:
    """Return numbers to sort by: source elements in their order, new ones (-1) behind them."""
    return np.where(numbers < 0, np.iinfo(np.int32).max, numbers)


def _repeats(numbers: Ints) -> NDArray[np.bool_]:
    """Tell which source numbers (n,) an earlier element has already."""
    again = numbers >= 0
    again[np.unique(numbers, return_index=True)[1]] = False
    return again


def _with_degenerate(surface: Surface, source: Meshes) -> Surface:
    """Return a surface with the source's triangles without area whose vertices are here, and no one part had all."""
    numbers, faces = surface.source_vertices, surface.source_triangles
    assert numbers is not None and faces is not None
    place = np.full(int(source.first_vertices[-1]), -1, np.int32)
    place[numbers[numbers >= 0]] = np.flatnonzero(numbers >= 0)
    missing = np.setdiff1d(np.flatnonzero(~source.solid), faces)
    missing = missing[(place[source.triangles[missing]] >= 0).all(axis=1)]
    faces = np.concatenate((faces, missing.astype(np.int32)))
    turn = np.argsort(_last_if_new(faces), kind="stable")
    triangles = np.concatenate((surface.triangles, place[source.triangles[missing]]))
    uvs = np.concatenate((surface.uvs, source.corner_uvs[missing]))
    return replace(surface, triangles=triangles[turn], uvs=uvs[turn], source_triangles=faces[turn])


def _numbers(numbers: Ints | None, count: int) -> Ints:
    return np.full(count, -1, np.int32) if numbers is None else numbers


def _claims(numbers: Ints, positions: NDArray[np.float32], copied: NDArray[np.bool_]) -> tuple[NDArray[np.int64], Ints]:
    """Return which vertex each one becomes, (V,), and the numbers (V,): each source vertex is claimed once.

    Those of faces that are `copied` (V,) stay what they are: their faces may go another way than the others', and show
    other normals.
    """
    target, numbers = np.arange(len(numbers)), numbers.copy()
    order = np.flatnonzero(numbers >= 0)
    _, first, group = np.unique(numbers[order], return_index=True, return_inverse=True)
    leaders = order[first][group.reshape(-1)]
    later = order != leaders
    own, leaders = order[later], leaders[later]
    numbers[own] = -1
    same = ~copied[own] & (positions[:, own] == positions[:, leaders]).all(axis=(0, 2))
    target[own[same]] = leaders[same]
    return target, numbers


def _with_normals(
    parts: list[Surface], lost: NDArray[np.bool_], model: VertexModel, coding: NormalCoding
) -> list[Surface]:
    """Return parts in which vertices that have `lost` their number, (V,) of all, have normals: the source's."""
    found = []
    for part, own in zip(parts, np.split(lost, np.cumsum([part.num_vertices for part in parts])[:-1]), strict=True):
        if not own.any():
            found.append(part)
            continue
        normals = np.zeros(part.positions.shape, np.float32) if part.normals is None else part.normals.copy()
        kept = plain_normals(model, replace(part, stored_normals=None, own_normals=None), coding).normals
        if kept is not None:
            normals[:, own] = kept[:, own]
        found.append(replace(part, stored_normals=normals))
    return found


def _all_normals(parts: list[Surface], positions: NDArray[np.float32]) -> NDArray[np.float32] | None:
    """Return the normals of all parts, (F, V, 3); zeros where they are the source's, which are coded anyway."""
    if all(part.normals is None for part in parts):
        return None
    frames = len(positions)
    return np.concatenate(
        [np.zeros((frames, p.num_vertices, 3), np.float32) if p.normals is None else p.normals for p in parts], axis=1
    )
