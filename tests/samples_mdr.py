"""Small hand-made MDR files: a walker of flat bones, in plain and in packed frames, with levels of detail.

The writers pack each field with `struct` in the order of ioquake3's `qfiles.h`, and know nothing of the package.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field

Vector = tuple[float, float, float]
Matrix = tuple[tuple[float, ...], ...]  # 3 rows of 4
Weight = tuple[int, float, Vector]  # bone, weight, offset in the bone's space


def turned(angle: float, tilt: float, place: Vector) -> Matrix:
    """Return a matrix that tilts about X, turns about Z and moves; single precision, as files have it."""
    c, s, ct, st = math.cos(angle), math.sin(angle), math.cos(tilt), math.sin(tilt)
    rows = ((c, -s * ct, s * st, place[0]), (s, c * ct, -c * st, place[1]), (0.0, st, ct, place[2]))
    return tuple(struct.unpack("<4f", struct.pack("<4f", *row)) for row in rows)


def packed(matrix: Matrix) -> Matrix:
    """Return a matrix as packed frames say it."""
    return tuple((*(round(v * 32766) / 32766 for v in row[:3]), round(row[3] * 64) / 64) for row in matrix)


def pack_matrix(matrix: Matrix) -> bytes:
    """Return a matrix' twelve codes (`MC_UnCompress`)."""
    places = [round(row[3] * 64) + 32768 for row in matrix]
    return struct.pack("<12H", *places, *(round(v * 32766) + 32768 for row in matrix for v in row[:3]))


def to_bone(matrix: Matrix, point: Vector) -> Vector:
    """Return where a point of model space lies in the space of a bone that does not scale; single precision."""
    away = [p - row[3] for p, row in zip(point, matrix, strict=True)]
    local = [sum(matrix[i][k] * away[i] for i in range(3)) for k in range(3)]
    return struct.unpack("<3f", struct.pack("<3f", *local))


@dataclass
class Surface:
    """A surface; a vertex is its normal, its texture coordinates and its weights."""

    name: bytes
    shader: bytes
    verts: list[tuple[Vector, tuple[float, float], list[Weight]]]
    tris: list[tuple[int, int, int]]
    refs: list[int]
    ident: int = 7
    shader_index: int = 3

    def pack(self, start: int, gap: bytes) -> bytes:
        verts = b"".join(
            struct.pack("<5fi", *normal, *st, len(weights))
            + b"".join(struct.pack("<if3f", bone, weight, *offset) for bone, weight, offset in weights)
            for normal, st, weights in self.verts
        )
        tris = b"".join(struct.pack("<3i", *tri) for tri in self.tris)
        refs = struct.pack(f"<{len(self.refs)}i", *self.refs)
        body, places = b"", []
        for lump in (verts, tris, refs):
            body += gap
            places.append(168 + len(body))
            body += lump
        counts = (len(self.verts), places[0], len(self.tris), places[1], len(self.refs), places[2], 168 + len(body))
        return struct.pack("<i64s64s9i", self.ident, self.name, self.shader, self.shader_index, -start, *counts) + body


@dataclass
class MdrSpec:
    """A whole MDR; `gap` bytes lie between its lumps."""

    name: bytes = b"models/players/walker.mdr\0left over"
    frames: list[list[Matrix]] = field(default_factory=list)
    lods: list[list[Surface]] = field(default_factory=list)
    tags: list[tuple[int, bytes]] = field(default_factory=list)
    packs: bool = False
    gap: bytes = b""

    def pack(self) -> bytes:
        body = self.gap
        start = 104 + len(body)
        for number, matrices in enumerate(self.frames):
            reach = 30.0 + number
            body += struct.pack("<10f", -reach, -reach, -1.0, reach, reach, 60.0 + number, 0.5, 0.25, number, reach)
            body += b"" if self.packs else f"walk{number}".encode().ljust(15, b"\0") + b"\x07"
            bones = (
                pack_matrix(m) if self.packs else struct.pack("<12f", *(v for row in m for v in row)) for m in matrices
            )
            body += b"".join(bones)
        body += self.gap
        lods = 104 + len(body)
        for surfaces in self.lods:
            head, inside = 104 + len(body), b""
            for surface in surfaces:
                inside += surface.pack(head + 12 + len(self.gap) + len(inside), self.gap)
            body += struct.pack("<3i", len(surfaces), 12 + len(self.gap), 12 + len(self.gap) + len(inside))
            body += self.gap + inside
        body += self.gap
        tags = 104 + len(body)
        body += b"".join(struct.pack("<i32s", bone, name) for bone, name in self.tags) + self.gap
        frames = len(self.frames), len(self.frames[0]), -start if self.packs else start
        others = len(self.lods), lods, len(self.tags), tags, 104 + len(body)
        return struct.pack("<4si64s8i", b"RDM5", 2, self.name, *frames, *others) + body


def moving(count: int, bones: int = 4) -> list[list[Matrix]]:
    """Return frames of bones that all move."""
    return [
        [
            turned(0.3 * bone + 0.2 * frame, 0.1 * bone - 0.15 * frame, (2.0 * bone, frame - bone, 12.0 * bone + 0.25))
            for bone in range(bones)
        ]
        for frame in range(count)
    ]


def ring(matrices: list[Matrix], sides: int, name: bytes, shader: bytes) -> Surface:
    """Return a tube from bone to bone with a seam; in between it hangs on two of them."""
    verts: list[tuple[Vector, tuple[float, float], list[Weight]]] = []
    levels = 2 * len(matrices) - 1
    for level in range(levels):
        pull = [(level // 2, 1.0)] if level % 2 == 0 else [(level // 2, 0.625), (level // 2 + 1, 0.375)]
        centre = [sum(w * matrices[bone][axis][3] for bone, w in pull) for axis in range(3)]
        for side in range(sides + 1):
            angle = 2 * math.pi * (side % sides) / sides
            out = math.cos(angle), math.sin(angle), 0.0
            point = centre[0] + 4 * out[0], centre[1] + 4 * out[1], centre[2] + out[0]
            weights = [(bone, weight, to_bone(matrices[bone], point)) for bone, weight in pull]
            verts.append((to_bone(_only_turned(matrices[pull[0][0]]), out), (side / sides, level / levels), weights))
    tris = []
    for level in range(levels - 1):
        for side in range(sides):
            a, b = level * (sides + 1) + side, (level + 1) * (sides + 1) + side
            tris += [(a, b, a + 1), (a + 1, b, b + 1)]
    return Surface(name, shader, verts, tris, list(range(len(matrices))))


def _only_turned(matrix: Matrix) -> Matrix:
    return tuple((*row[:3], 0.0) for row in matrix)


def walker() -> bytes:
    """Return plain frames, three levels of detail, and two tags on bones."""
    frames = moving(5)
    lods = [[ring(frames[0], sides, b"tube\0rest", b"models/walker/skin"), ring(frames[0][:2], 3, b"foot", b"")]
            for sides in (6, 4, 3)]  # fmt: skip
    return MdrSpec(frames=frames, lods=lods, tags=[(3, b"tag_head\0?"), (1, b"tag_hand")]).pack()


def packed_walker() -> bytes:
    """Return packed frames, one level, gaps between lumps."""
    frames = [[packed(matrix) for matrix in frame] for frame in moving(4)]
    lods = [[ring(frames[0], 5, b"tube", b"models/walker/skin")]]
    return MdrSpec(frames=frames, lods=lods, tags=[(0, b"tag_root")], packs=True, gap=b"gap").pack()


def handles() -> bytes:
    """Return tags alone, on bones that scale, and mirror."""
    frames = moving(3, 2)
    frames[1] = [tuple((*(1.5 * v for v in row[:3]), row[3]) for row in frames[1][0]), frames[1][1]]
    frames[2] = [frames[2][0], tuple((*(-v for v in row[:3]), row[3]) for row in frames[2][1])]
    return MdrSpec(frames=frames, lods=[[]], tags=[(0, b"tag_a"), (1, b"tag_b")]).pack()


MODELS = (walker, packed_walker, handles)
