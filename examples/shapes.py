"""Shapes that example models are made of: rigid parts with a place in the picture, and transforms that move them.

Texture coordinates are in pixels from a picture's top left: what is drawn there is seen there, whatever its size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Rect = tuple[float, float, float, float]  # of a picture, in pixels from its top left: left, top, right, bottom
Point = tuple[float, float, float]


@dataclass
class Part:
    """A rigid piece of the model, at rest in the space of its joint."""

    points: Array  # (V, 3)
    normals: Array  # (V, 3)
    uvs: Array  # (V, 2), pixels
    triangles: Array  # (T, 3)


def joined(parts: Sequence[Part]) -> Part:
    """Return several parts as one."""
    bases = np.cumsum([0] + [len(p.points) for p in parts])
    triangles = np.concatenate([p.triangles + base for p, base in zip(parts, bases, strict=False)])
    points, normals, uvs = (np.concatenate([getattr(p, n) for p in parts]) for n in ("points", "normals", "uvs"))
    return Part(points, normals, uvs, triangles)


def moved(part: Part, pose: Array) -> Part:
    """Return a part after a transform (4, 4)."""
    turn = pose[:3, :3]
    return Part(part.points @ turn.T + pose[:3, 3], part.normals @ turn.T, part.uvs, part.triangles)


def grid(points: Array, normals: Array, rect: Rect, repeat: float = 1.0) -> Part:
    """Return a sheet of quads through points (rows, columns, 3) that shows `rect`, `repeat` times along each row."""
    rows, columns = points.shape[:2]
    left, top, right, bottom = rect
    u = left + (right - left) * repeat * np.arange(columns) / (columns - 1)
    v = top + (bottom - top) * np.arange(rows) / (rows - 1)
    uvs = np.stack(np.broadcast_arrays(u[None, :], v[:, None]), axis=2)
    a = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    quads = np.stack((a, a + 1, a + columns + 1, a + columns), axis=1)
    triangles = np.concatenate((quads[:, :3], quads[:, [0, 2, 3]]), axis=1).reshape(-1, 3)
    part = Part(points.reshape(-1, 3), normals.reshape(-1, 3), uvs.reshape(-1, 2), triangles)
    return outward(part)


def outward(part: Part) -> Part:
    """Drop triangles without an area, and turn the others counter-clockwise as their normals see them."""
    a, b, c = (part.points[part.triangles[:, i]] for i in range(3))
    faces = np.cross(b - a, c - a)
    seen = (faces * part.normals[part.triangles].sum(axis=1)).sum(axis=1)
    solid = np.abs(seen) > 1e-6
    triangles = np.where(seen[:, None] < 0, part.triangles[:, ::-1], part.triangles)[solid]
    used = np.unique(triangles)
    place = np.zeros(len(part.points), np.int64)
    place[used] = np.arange(len(used))
    return Part(part.points[used], part.normals[used], part.uvs[used], place[triangles])


def lathe(profile: Sequence[tuple[float, float]], rect: Rect, sides: int, repeat: float = 1.0) -> Part:
    """Turn a profile of (radius, height), smooth along itself, about Z; the outside is right of its way up."""
    slopes = [(z1 - z0, r0 - r1) for (r0, z0), (r1, z1) in pairwise(profile)]
    slopes = [(x / math.hypot(x, y), y / math.hypot(x, y)) for x, y in slopes]
    ends = [slopes[0], *slopes], [*slopes, slopes[-1]]
    leans = [(a[0] + b[0], a[1] + b[1]) for a, b in zip(*ends, strict=True)]
    angles = [2 * math.pi * (i + 0.5) / sides for i in range(sides + 1)]
    points = [[(r * math.cos(a), r * math.sin(a), z) for a in angles] for r, z in profile]
    normals = [[(x * math.cos(a), x * math.sin(a), y) for a in angles] for x, y in leans]
    return grid(np.array(points), np.array(normals), rect, repeat)


def quad(corners: Sequence[Point], rect: Rect) -> Part:
    """Return a flat quad, counter-clockwise from its top left."""
    a, b, c, d = np.array(corners, np.float64)
    points = np.array([[a, d], [b, c]])
    normal = np.cross(c - a, d - b)
    return grid(points, np.broadcast_to(normal, points.shape), rect)


def beam(near: Sequence[Point], far: Sequence[Point], rects: Sequence[Rect]) -> Part:
    """Return a tapered bar without ends between two quads; a rect for each side."""
    centre = np.array((*near, *far), np.float64).mean(axis=0)
    sides = [quad((near[i], far[i], far[i - 1], near[i - 1]), rect) for i, rect in enumerate(rects)]
    for side in sides:
        if ((side.points.mean(axis=0) - centre) * side.normals[0]).sum() < 0:
            side.normals = -side.normals
    return joined([outward(side) for side in sides])


def turn(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Array:
    """Return the rotation (4, 4) about X, then Y, then Z, in degrees."""
    result = np.eye(4)
    for axis, degrees in enumerate((x, y, z)):
        sine, cosine = math.sin(math.radians(degrees)), math.cos(math.radians(degrees))
        one = np.eye(4)
        i, j = (axis + 1) % 3, (axis + 2) % 3
        one[i, i], one[i, j], one[j, i], one[j, j] = cosine, -sine, sine, cosine
        result = one @ result
    return result


def shift(x: float, y: float, z: float) -> Array:
    """Return the translation (4, 4)."""
    result = np.eye(4)
    result[:3, 3] = x, y, z
    return result


ALONG_X = turn(y=90.0)
