"""A plain room to look at a model in: a map of Quake III's kin, with the picture on its walls.

Layout (IBSP, version 46; qfiles.h, little-endian): a header with the place and length of 17 lumps, and these. The room
is one node with two leafs that hold all of it; each wall is a brush for who walks and a quad for who looks. Walls are
lit by their vertices, and all else by a grid with the same light everywhere, from the front above. Lines on the walls
are 32 units apart.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from itertools import product

NAME = "idtech-room"
WALL = "textures/idtech/room"
HALF, HEIGHT, THICK = 512.0, 768.0, 32.0  # units
LINES, TEXELS = 128.0, 64  # units that the picture covers, and its size
GRID = 128.0  # units between points of light
FACES = 6  # of a box
SOLID = 1  # CONTENTS_SOLID
PLANAR, BY_VERTEX = 1, -3  # MST_PLANAR, LIGHTMAP_BY_VERTEX
AMBIENT, DIRECTED = (70, 70, 74), (170, 165, 155)
ZENITH, AZIMUTH = 34, 18  # of where light comes from, in turns of 255: the face of who stands there, and looks along +X
ENTITIES = """{{
"classname" "worldspawn"
"message" "A room"
"gridsize" "{0:g} {0:g} {0:g}"
}}
{{
"classname" "info_player_deathmatch"
"origin" "0 0 25"
"angle" "0"
}}
{{
"classname" "info_player_intermission"
"origin" "-200 0 80"
"angle" "0"
}}
"""
Point = tuple[float, float, float]
LOW: Point = (-HALF, -HALF, 0.0)
HIGH: Point = (HALF, HALF, HEIGHT)
OUTER_LOW: Point = (-HALF - THICK, -HALF - THICK, -THICK)
OUTER_HIGH: Point = (HALF + THICK, HALF + THICK, HEIGHT + THICK)


def files() -> dict[str, bytes]:
    """Return the room's files by their paths in the game."""
    return {f"maps/{NAME}.bsp": level(), f"{WALL}.tga": picture()}


def level() -> bytes:
    """Return the map."""
    brushes, sides, planes = _brushes()
    quads = list(_quads())
    node_plane = len(planes)
    planes.append((1.0, 0.0, 0.0, 0.0))
    bounds = [int(value) for value in (*OUTER_LOW, *OUTER_HIGH)]
    leaf = struct.pack("<2i6i4i", 0, 0, *bounds, 0, len(quads), 0, len(brushes))
    lumps = [
        ENTITIES.format(GRID).encode("ascii") + b"\0",
        struct.pack("<64s2i", WALL.encode("ascii"), 0, SOLID),
        b"".join(struct.pack("<4f", *plane) for plane in planes),
        struct.pack("<3i6i", node_plane, -1, -2, *bounds),
        leaf * 2,
        struct.pack(f"<{len(quads)}i", *range(len(quads))),
        struct.pack(f"<{len(brushes)}i", *range(len(brushes))),
        struct.pack("<6f4i", *OUTER_LOW, *OUTER_HIGH, 0, len(quads), 0, len(brushes)),
        b"".join(struct.pack("<3i", first, FACES, 0) for first in brushes),
        b"".join(struct.pack("<2i", plane, 0) for plane in sides),
        b"".join(vertices for vertices, _, _ in quads),
        b"".join(struct.pack("<6i", *corners) for _, corners, _ in quads),
        b"",  # fogs
        b"".join(_surface(number, normal) for number, (_, _, normal) in enumerate(quads)),
        b"",  # lightmaps
        _light(),
        b"",  # which leafs see each other: without it all do
    ]
    place, header = 8 + 8 * len(lumps), b"IBSP" + struct.pack("<i", 46)
    for lump in lumps:
        header += struct.pack("<2i", place, len(lump))
        place += _padded(len(lump))
    return header + b"".join(lump.ljust(_padded(len(lump)), b"\0") for lump in lumps)


def picture() -> bytes:
    """Return the picture on the walls: a TGA, light, with four lines either way."""
    cell = TEXELS // 4
    texels = [170 if x % cell == 0 or y % cell == 0 else 235 for y, x in product(range(TEXELS), repeat=2)]
    header = struct.pack("<3B5x4H2B", 0, 0, 2, 0, 0, TEXELS, TEXELS, 24, 0)
    return header + bytes(value for value in texels for _ in range(3))


def _padded(length: int) -> int:
    return (length + 3) & ~3


def _walls() -> Iterator[tuple[int, int]]:
    """Yield the walls: an axis, and at which of its ends they stand."""
    yield from product(range(3), (0, 1))


def _brushes() -> tuple[list[int], list[int], list[tuple[float, ...]]]:
    """Return each brush's first side, each side's plane, and the planes: of a box -x, +x, -y, ... (CM_BoundBrush)."""
    brushes: list[int] = []
    planes: list[tuple[float, ...]] = []
    for axis, end in _walls():
        low, high = list(OUTER_LOW), list(OUTER_HIGH)
        if end:
            low[axis] = HIGH[axis]
        else:
            high[axis] = LOW[axis]
        brushes.append(len(planes))
        for way, (sign, corner) in product(range(3), ((-1.0, low), (1.0, high))):
            planes.append((*_along(way, sign), sign * corner[way]))
    return brushes, list(range(len(planes))), planes


def _along(axis: int, length: float) -> Point:
    x, y, z = (length if axis == each else 0.0 for each in range(3))
    return x, y, z


def _quads() -> Iterator[tuple[bytes, tuple[int, ...], Point]]:
    """Yield each wall's vertices, its triangles, which are clockwise for who is inside, and its normal."""
    for axis, end in _walls():
        u, v = (axis + 1) % 3, (axis + 2) % 3
        normal = _along(axis, -1.0 if end else 1.0)
        shade = 105 if normal[2] > 0 else 90 if normal[2] < 0 else 120 if axis == 0 else 100
        vertices = b""
        for right, up in ((0, 0), (1, 0), (1, 1), (0, 1)):
            point = [0.0, 0.0, 0.0]
            point[axis], point[u], point[v] = (LOW, HIGH)[end][axis], (LOW, HIGH)[right][u], (LOW, HIGH)[up][v]
            st = point[u] / LINES, point[v] / LINES
            vertices += struct.pack("<3f4f3f4B", *point, *st, 0.0, 0.0, *normal, shade, shade, shade + 8, 255)
        yield vertices, (0, 1, 2, 0, 2, 3) if end else (0, 2, 1, 0, 3, 2), normal


def _surface(number: int, normal: Point) -> bytes:
    counts = struct.pack("<8i4i", 0, -1, PLANAR, number * 4, 4, number * 6, 6, BY_VERTEX, 0, 0, 0, 0)
    return counts + struct.pack("<3f9f2i", *[0.0] * 9, *normal, 0, 0)


def _light() -> bytes:
    """Return the grid of light: its points lie at whole multiples of GRID within the room (R_LoadLightGrid)."""
    ends = zip(OUTER_LOW, OUTER_HIGH, strict=True)
    counts = [math.floor(high / GRID) - math.ceil(low / GRID) + 1 for low, high in ends]
    return struct.pack("<8B", *AMBIENT, *DIRECTED, ZENITH, AZIMUTH) * math.prod(counts)
