"""Which frame of its file a shape key is: by its name, and by its shape where names were given anew.

Who deletes a frame and counts the others through gives names to keys that other frames had. What of a frame is not
edited (its normals, its numbers) is then where its shape is.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ...model.source import SurfaceSource
from ..compat import Block
from ..frame_rigs import modifier_of
from ..mesh import attributes
from ..mesh.attributes import Floats
from ..provenance import unit_of
from .shape_keys import frame_blocks
from .source import StoredSource

Numbers = NDArray[np.int32]
ASKED = 4  # meshes, the largest of a model
CANDIDATES, LOOKED = 24, 16  # vertices, of which those that move most in some frames are looked at
FEW, GROUPS, IN_GROUP = 1, 4, 4  # how many are enough to see that a key is its frame; and to find another one
NEAR = 2e-6  # of a model's size: float32's rounding, and what edit mode does to keys that it does not show
COARSE = 16.0  # times that: so far apart are shapes that are looked up
TINY = 1e-30  # of a model that has no size
SEVERAL = 8  # frames that are alike tell nothing


def source_frames(
    mesh: Block, keys: list[Any], at: list[float], known: StoredSource | None, others: Sequence[Block] = ()
) -> Numbers:
    """Return the source frame of each key of a mesh: by its shape and name, its neighbours, or its position.

    `at` are the keys' positions, of which one counts that is free; `others` are meshes that have the same frames, whose
    shapes may tell more: glasses are the same in many frames, what a head does below them is not. A key that was edited
    and renamed in Blender's own list, between two that are known, is what the source has there if that are as many
    frames.
    """
    if known is None:
        return np.full(len(keys), -1, np.int32)
    given = known.frames_of_keys(mesh)
    named = np.array([given.get(key.name, -1) for key in keys], np.int32)
    sources = _by_shape([mesh, *others], named, known)
    taken = set(sources.tolist())
    found = [-1, *np.flatnonzero(sources >= 0).tolist(), len(keys)]
    for before, after in pairwise(found):
        first = int(sources[before]) + 1 if before >= 0 else 0
        end = int(sources[after]) if after < len(keys) else known.source.num_frames
        if end - first == after - before - 1 and taken.isdisjoint(range(first, end)):
            sources[before + 1 : after] = range(first, end)
            taken.update(range(first, end))
    for place in np.flatnonzero(sources < 0).tolist():
        position = place if mesh.shape_keys.use_relative else at[place]
        if position == int(position) and 0 <= position < known.source.num_frames and int(position) not in taken:
            sources[place] = int(position)
            taken.add(int(position))
    return sources


def _by_shape(meshes: list[Block], named: Numbers, known: StoredSource) -> Numbers:
    """Return the frames whose shape keys have, else those that they are `named` after, unless another one is that.

    Of several keys that have the shape of one frame those were edited that are named after others.
    Where no key has the shape of any frame the whole mesh was changed, and names are all there is; so they are where a
    rig that was made of the frames holds most of their shapes.
    """
    largest = sorted(meshes, key=lambda mesh: -len(mesh.vertices))[:ASKED]
    found = [moving for mesh in largest if (moving := _moving(mesh, len(named), known)) is not None]
    moving = max(found, key=lambda each: each.reach, default=None)
    if moving is None:
        return named
    keys, there = moving.keys, moving.places(FEW)
    few = np.abs(_shown(keys, moving.points[:FEW]) - there[np.clip(named, 0, len(there) - 1)])
    same = (named >= 0) & (named < len(there)) & (few <= moving.near).all(axis=(1, 2))
    if same.all() or any(block.data in meshes and modifier_of(block) is not None for block in bpy.data.objects):
        return named
    frames = _of_shapes(_shown(keys, moving.points), moving.places(), named, moving.near)
    same = (frames >= 0) & (frames == named)
    claims = np.bincount(frames[(frames >= 0) & (named >= 0)], minlength=known.source.num_frames)
    claims[frames[same]] = 2  # so that nobody else is that frame
    moved = (frames >= 0) & ((named < 0) | (claims[frames] == 1))
    others = set(frames[moved & (named >= 0)].tolist())  # what is called otherwise may be a copy
    if len(others) > int(same.sum()):  # most names are wrong: so they are where shapes tell nothing
        return frames
    left = [-1 if frame in others else frame for frame in named.tolist()]
    return np.where(moved | same, frames, np.array(left, np.int32))


class _Moving(NamedTuple):
    """Some points of a mesh, those that move most first, and what they are in its file."""

    keys: list[Any]
    points: NDArray[np.int64]  # (n,)
    surface: SurfaceSource
    vertices: NDArray[np.int64]  # (n,) of the surface
    unit: np.float32
    near: float  # so far off a place is the same
    reach: float  # how far the first one moves

    def places(self, count: int | None = None) -> Floats:
        """Return where the file has the points, or the first `count`, (F, n, 3)."""
        return self.surface.decoded_positions(vertices=self.vertices[:count]) * self.unit


def _moving(mesh: Block, count: int, known: StoredSource) -> _Moving | None:
    """Return points of a mesh with `count` frames, those that move most first; None where its file tells nothing."""
    keys, told = frame_blocks(mesh.shape_keys)[:count], known.vertices_of(mesh)
    if len(keys) < count or told is None:
        return None
    surface, numbers = told
    theirs = np.flatnonzero(numbers >= 0)
    chosen = theirs[np.unique(np.linspace(0, max(len(theirs) - 1, 0), CANDIDATES).astype(np.int64))[: len(theirs)]]
    if not len(chosen):
        return None
    unit = np.float32(unit_of(mesh))
    looked = slice(None, None, max(surface.num_frames // LOOKED, 1))
    places = surface.decoded_positions(looked, numbers[chosen]) * unit
    reach = np.ptp(places, axis=0).max(axis=1)
    order = np.argsort(-reach, kind="stable")[: GROUPS * IN_GROUP]
    points = attributes.corner_points(mesh)[chosen[order]].astype(np.int64)
    near = NEAR * float(np.ptp(places.reshape(-1, 3), axis=0).max())
    return _Moving(keys, points, surface, numbers[chosen[order]], unit, near, float(reach.max()))


def _shown(keys: list[Any], points: NDArray[np.int64]) -> Floats:
    """Return where keys have some points, (keys, n, 3)."""
    numbers = points.tolist()
    return np.array([[key.points[n].co[:] for n in numbers] for key in keys], np.float32).reshape(len(keys), -1, 3)


def _of_shapes(shown: Floats, places: Floats, named: Numbers, near: float) -> Numbers:
    """Return the frame that most groups of points say a key is, -1 for none.

    Of several alike that is the one which it is named after, where most names are right, else the one behind the last.
    Shapes are looked up, rounded: what lies at an edge between two numbers is another one in some group alone.
    """
    found = np.full(len(shown), -1, np.int32)
    votes: list[dict[int, int]] = [{} for _ in shown]
    grid = max(near * COARSE, TINY)
    for first in range(min(GROUPS, shown.shape[1])):
        frames: dict[bytes, list[int]] = {}
        for frame, row in enumerate(_rounded(places[:, first::GROUPS], grid)):
            frames.setdefault(row.tobytes(), []).append(frame)
        for key, row in enumerate(_rounded(shown[:, first::GROUPS], grid)):
            alike = frames.get(row.tobytes(), [])
            for frame in alike if len(alike) <= SEVERAL else []:
                votes[key][frame] = votes[key].get(frame, 0) + 1
    most = [max(counts.values(), default=0) for counts in votes]
    best = [[frame for frame, n in counts.items() if n == top] for counts, top in zip(votes, most, strict=True)]
    sure = [of_key[0] == name for of_key, name in zip(best, named.tolist(), strict=True) if len(of_key) == 1]
    are_named = 2 * sum(sure) >= len(sure)
    last = -1
    for key, of_key in enumerate(best):
        if of_key:
            is_named = are_named and named[key] in of_key
            last = int(named[key]) if is_named else min(of_key, key=lambda frame: abs(frame - last - 1))
            found[key] = last
    return found


def _rounded(values: Floats, grid: float) -> NDArray[np.int64]:
    return np.rint(values.astype(np.float64) / grid).astype(np.int64)
