"""Small hand-made IQM files, packed field by field, so that a slip of the package's layout can't hide here."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

HALF = 0.5**0.5
Rows = Sequence[tuple[float, ...]]
# struct's letters for an array's format: bytes, shorts, ints, half, float and double.
LETTERS = "bBhHiIefd"
LUMPS = (
    "text", "meshes", "vertexarrays", "triangles", "adjacency", "joints", "poses", "anims", "frames", "bounds",
    "comment", "extensions",
)  # fmt: skip


@dataclass
class IqmSpec:
    """A file as rows; names are in the text's order, lumps in the header's."""

    names: list[str] = field(default_factory=lambda: [""])
    meshes: list[tuple[str, str, int, int, int, int]] = field(default_factory=list)
    arrays: list[Any] = field(default_factory=list)  # type, flags, format, rows
    triangles: list[tuple[int, int, int]] = field(default_factory=list)
    adjacency: list[tuple[int, int, int]] = field(default_factory=list)
    joints: list[tuple[str, int, tuple[float, ...]]] = field(default_factory=list)
    poses: list[tuple[int, int, tuple[float, ...], tuple[float, ...]]] = field(default_factory=list)
    anims: list[tuple[str, int, int, float, int]] = field(default_factory=list)
    frames: list[tuple[int, ...]] = field(default_factory=list)
    bounds: Rows = ()
    comment: bytes = b""
    extensions: list[tuple[str, bytes]] = field(default_factory=list)
    padding: int = 4
    flags: int = 0
    tail: bytes = b""
    backwards: bool = False  # the last array lies first

    def offset(self, name: str) -> int:
        """Return where a name begins in the text."""
        place = self.names.index(name)
        return sum(len(other.encode()) + 1 for other in self.names[:place])

    def pack(self) -> bytes:
        vertices = len(self.arrays[0][3]) if self.arrays else 0
        text = b"".join(name.encode() + b"\0" for name in self.names)
        lumps = dict.fromkeys(LUMPS, b"") | {"text": text + bytes(-len(text) % self.padding)}
        lumps["meshes"] = b"".join(
            struct.pack("<6I", self.offset(name), self.offset(material), *numbers)
            for name, material, *numbers in self.meshes
        )
        lumps["triangles"] = b"".join(struct.pack("<3I", *row) for row in self.triangles)
        lumps["adjacency"] = b"".join(struct.pack("<3I", *row) for row in self.adjacency)
        lumps["joints"] = b"".join(struct.pack("<Ii10f", self.offset(n), p, *row) for n, p, row in self.joints)
        lumps["poses"] = b"".join(struct.pack("<iI20f", parent, mask, *o, *s) for parent, mask, o, s in self.poses)
        lumps["anims"] = b"".join(struct.pack("<3IfI", self.offset(name), *row) for name, *row in self.anims)
        lumps["frames"] = b"".join(struct.pack(f"<{len(row)}H", *row) for row in self.frames)
        lumps["bounds"] = b"".join(struct.pack("<8f", *row) for row in self.bounds)
        lumps["comment"] = self.comment
        return self._join(lumps, vertices)

    def _join(self, lumps: dict[str, bytes], vertices: int) -> bytes:
        end, places, body = 124, {}, b""

        def put(data: bytes) -> int:
            nonlocal body, end
            gap = bytes(-end % self.padding)
            body, end = body + gap + data, end + len(gap) + len(data)
            return end - len(data)

        for name in LUMPS:
            if name == "vertexarrays" and self.arrays:
                table = put(bytes(20 * len(self.arrays)))
                records, places[name] = [], table
                for kind, flags, form, rows in self.arrays[:: -1 if self.backwards else 1]:
                    code = f"<{len(rows[0]) if rows else 1}{LETTERS[form]}"
                    start = put(b"".join(struct.pack(code, *row) for row in rows))
                    number = 16 + self.offset(kind) if isinstance(kind, str) else kind
                    records.append(struct.pack("<5I", number, flags, form, len(rows[0]), start))
                whole = b"".join(records[:: -1 if self.backwards else 1])
                body = body[: table - 124] + whole + body[table - 124 + 20 * len(records) :]
            elif name == "extensions":
                for index, (called, data) in enumerate(self.extensions):
                    start = end + -end % self.padding
                    following = 0 if index + 1 == len(self.extensions) else start + 16 + len(data)
                    following += -following % self.padding if following else 0
                    record = struct.pack("<4I", self.offset(called), len(data), start + 16, following)
                    places.setdefault(name, put(record + data))
            elif lumps[name]:
                places[name] = put(lumps[name])
        offsets = [places.get(name, 0) for name in LUMPS]
        size = end + len(self.tail)
        channels = len(self.frames[0]) if self.frames else 0
        frames = max([first + count for _, first, count, *_ in self.anims] + [len(self.frames)])
        header = struct.pack(
            "<16s27I", b"INTERQUAKEMODEL", 2, size, self.flags, len(lumps["text"]), offsets[0], len(self.meshes),
            offsets[1], len(self.arrays), vertices, offsets[2], len(self.triangles), offsets[3], offsets[4],
            len(self.joints), offsets[5], len(self.poses), offsets[6], len(self.anims), offsets[7], frames, channels,
            offsets[8], offsets[9], len(self.comment), offsets[10], len(self.extensions), offsets[11],
        )  # fmt: skip
        return header + body + self.tail


STRAIGHT = (0.0, 0.0, 0.0, -1.0)  # w is at most 0, as all writers have it
# An arm of three joints along X: the upper arm is twice as large, the hand, turned by a right angle, half again.
ARM: list[tuple[str, int, tuple[float, ...]]] = [
    ("base", -1, (0.0, 0.0, 1.0, *STRAIGHT, 1.0, 1.0, 1.0)),
    ("upper", 0, (8.0, 0.0, 0.0, *STRAIGHT, 2.0, 2.0, 2.0)),
    ("hand", 1, (6.0, 0.5, 0.0, 0.0, 0.0, -HALF, -HALF, 0.75, 0.75, 0.75)),
]
# Two boxes' ends of quads around the arm, each corner with texture coordinates of its own.
PLACES: Rows = [(x, y, z) for x in (4.0, 12.0, 20.0) for y, z in ((-3.0, -1.0), (5.0, -1.5), (5.5, 5.0), (-3.5, 4.0))]
UVS: Rows = [(i / 16, (i * 5 % 16) / 16) for i in range(12)]
NORMALS: Rows = [(0.0, -HALF, -HALF), (0.0, HALF, -HALF), (0.0, HALF, HALF), (0.0, -HALF, HALF)] * 3
TANGENTS: Rows = [(1.0, 0.0, 0.0, 1.0 if i % 3 else -1.0) for i in range(12)]
INDICES: Rows = [(0, 0, 0, 0)] * 4 + [(1, 0, 0, 0)] * 4 + [(2, 1, 0, 0)] * 3 + [(0, 0, 0, 0)]
WEIGHTS: Rows = [(255, 0, 0, 0)] * 4 + [(200, 55, 0, 0)] * 4 + [(128, 127, 0, 0)] * 3 + [(0, 0, 0, 0)]
FACES = [(0, 4, 1), (1, 4, 5), (1, 5, 2), (2, 5, 6), (4, 8, 5), (5, 8, 9), (5, 9, 6), (6, 9, 10), (6, 10, 11)]
NOBODY = 0xFFFFFFFF


def poses() -> list[tuple[int, int, tuple[float, ...], tuple[float, ...]]]:
    """Return poses of the arm: the base moves, the upper arm turns, the hand grows."""
    still, grows = (0.0,) * 10, (1 / 65536, 1 / 65536, 1 / 32768)
    turned = (8.0, 0.0, 0.0, -0.5, 0.0, 0.0, -1.0, 2.0, 2.0, 2.0)
    return [
        (-1, 0b11, (-1.0, -2.0, 1.0, *STRAIGHT, 1.0, 1.0, 1.0), (1 / 4096, 1 / 8192, *still[2:])),
        (0, 0b1101000, turned, (*still[:3], 1 / 65535, 0.0, 1 / 131070, 1 / 65535, *still[7:])),
        (1, 0b1110000000, (6.0, 0.5, 0.0, 0.0, 0.0, -HALF, -HALF, 0.75, 0.75, 0.5), (*still[:7], *grows)),
    ]


def frames(count: int) -> list[tuple[int, ...]]:
    """Return codes of eight channels: in the first frame the arm is as at rest, nearly."""
    return [
        (4096 + 900 * f, 16384 - 70 * f, 32768 + 2000 * f, 300 * f, 40 * f, 100 * f, 10 * f, 8192 + 90 * f)
        for f in range(count)
    ]


def arm() -> IqmSpec:
    """Return a model with all that a file may have: colours, an array of its own, two animations, spare frames."""
    names = ["", "sleeve", "models/arm.png", "glove", "base", "upper", "hand", "wave", "grow", "wetness", "FTE_MESH"]
    colors: Rows = [(10 * i, 255 - i, i, 255 - 20 * i) for i in range(12)]
    arrays: list[Any] = [
        (0, 0, 7, PLACES), (1, 0, 7, UVS), (2, 0, 7, NORMALS), (3, 0, 7, TANGENTS), (4, 0, 1, INDICES),
        (5, 0, 1, WEIGHTS), (6, 0, 1, colors), ("wetness", 3, 2, [(i * 1000 - 6000, i) for i in range(12)]),
    ]  # fmt: skip
    return IqmSpec(
        names, [("sleeve", "models/arm.png", 0, 8, 0, 4), ("glove", "", 8, 4, 4, 5)], arrays, FACES,
        [(NOBODY, t, (t + 1) % 9) for t in range(9)], ARM, poses(),
        [("wave", 0, 3, 24.0, 0), ("grow", 4, 2, 0.0, 1)], frames(7),
        [(-4.0 - f, -5.0, -2.0, 21.0, 6.0 + f, 7.0, 22.0, 23.0 + f) for f in range(7)],
        b"made by hand\0", [("FTE_MESH", b"12345678"), ("hand", b"")],
    )  # fmt: skip


def animated() -> IqmSpec:
    """Return the arm as writers usually make it: one animation, nothing odd."""
    spec = arm()
    weights: Rows = [row if any(row) else (255, 0, 0, 0) for row in WEIGHTS]
    arrays: list[Any] = [*spec.arrays[:5], (5, 0, 1, weights)]
    names = ["", "arm", "arm.png", "base", "upper", "hand", "wave"]
    return IqmSpec(names, [("arm", "arm.png", 0, 12, 0, 9)], arrays, FACES, spec.adjacency, ARM, poses(),
                   [("wave", 0, 7, 24.0, 0)], frames(7), spec.bounds)  # fmt: skip


def alone() -> IqmSpec:
    """Return animations without meshes and joints, unaligned, as older files have them."""
    return IqmSpec(["", "wave"], poses=poses(), anims=[("wave", 0, 5, 0.0, 0)], frames=frames(5), padding=1)


def stills() -> IqmSpec:
    """Return a pose of two frames that have no codes."""
    rest: list[Any] = [(parent, 0, offset, (0.0,) * 10) for parent, _, offset, _ in poses()]
    return IqmSpec(["", "idle"], poses=rest, anims=[("idle", 0, 2, 12.0, 0)])


def static() -> IqmSpec:
    """Return a mesh that nothing moves, which borrows vertices of the one before it, in arrays of odd kinds."""
    arrays: list[Any] = [
        (0, 0, 8, PLACES), (1, 0, 6, [(u, v, 0.5) for u, v in UVS]),
        (2, 0, 0, [tuple(round(127 * c) for c in n) for n in NORMALS]),
        (6, 0, 7, [(i / 12, 0.5, 0.25) for i in range(12)]),
    ]  # fmt: skip
    return IqmSpec(["", "a", "b.tga"], [("a", "b.tga", 0, 6, 0, 4), ("a", "b.tga", 6, 5, 4, 4)], arrays, FACES)


def uneven() -> IqmSpec:
    """Return an arm whose joints are scaled unevenly, and weights as shares of a short."""
    spec = animated()
    spec.joints = [(name, parent, (*row[:8], row[8] * 1.25, row[9])) for name, parent, row in spec.joints]
    shares: Any = (5, 0, 3, [tuple(257 * int(w) for w in row) for row in spec.arrays[5][3]])
    fewer: Any = (4, 0, 1, [row[:3] for row in INDICES])
    spec.arrays, spec.flags, spec.tail = [*spec.arrays[:4], fewer, shares], 7, b"behind"
    return spec


SPECS = (animated, arm, alone, stills, static, uneven)
