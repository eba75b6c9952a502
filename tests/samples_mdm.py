"""Small hand-made MDM and MDX files: a figure with a skeleton, whose poses are the engine's formula in plain Python.

The writers pack each field with `struct` in the order of the game's headers, and know nothing of the package.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from random import Random
from typing import Any

Vector = tuple[float, float, float]
Rows = tuple[Vector, Vector, Vector]
Weight = tuple[int, float, Vector]  # bone, weight, offset in the bone's space
TURN = 360.0 / 65536.0  # degrees of a code


def directions(pitch: float, yaw: float, roll: float) -> Rows:
    """Return forward, left and up of angles in degrees (`AngleVectors`)."""
    sp, sy, sr = (math.sin(math.radians(a)) for a in (pitch, yaw, roll))
    cp, cy, cr = (math.cos(math.radians(a)) for a in (pitch, yaw, roll))
    forward = cp * cy, cp * sy, -sp
    left = sr * sp * cy - cr * sy, sr * sp * sy + cr * cy, sr * cp
    return forward, left, (cr * sp * cy + sr * sy, cr * sp * sy - sr * cy, cr * cp)


SINES = [struct.unpack("<f", struct.pack("<f", math.sin(math.radians(i * 360 / 4095))))[0] for i in range(4096)]


def way_of(pitch: int, yaw: int) -> Vector:
    """Return the engine's vector of two codes, from its table of sines (`LocalIngleVector`)."""
    sp, sy = (SINES[(code & 65535) >> 4] for code in (pitch, yaw))
    cp, cy = (SINES[(((code & 65535) >> 4) + 1024) & 4095] for code in (pitch, yaw))
    return cp * cy, cp * sy, -sp


def fast_unit(way: Vector) -> Vector:
    """Return a vector that the engine has made a unit vector (`VectorNormalizeFast`)."""
    square = sum(x * x for x in way)
    (bits,) = struct.unpack("<i", struct.pack("<f", square))
    (guess,) = struct.unpack("<f", struct.pack("<i", 0x5F3759DF - (bits >> 1)))
    root = guess * (1.5 - 0.5 * square * guess * guess)
    return way[0] * root, way[1] * root, way[2] * root


@dataclass
class Bone:
    """A bone as the file has it."""

    name: bytes
    parent: int
    torso_weight: float
    parent_dist: float
    flags: int = 0


# Lengths that are 0 and below; a root's, which means nothing; a tag; bytes that are no UTF-8, and some behind a NUL.
BONES = [
    Bone(b"Bip01", -1, 0.0, 3.5),
    Bone(b"Bip01 Spine\0rest", 0, 0.5, 9.0),
    Bone(b"Bip01 Head", 1, 1.0, 12.0),
    Bone(b"Bip01 L Leg", 0, 0.0, -11.0),
    Bone(b"Bip01 R Leg", 0, 0.0, 11.0),
    Bone(b"hip", 0, 0.0, 0.0),
    Bone(b"tag_hand", 2, 1.0, 6.25, 1),
    Bone(b"fu\xdf", 3, 0.0, 8.0, 0),
]
# pitch, yaw, roll and the offset's pitch and yaw, in degrees, of a pose: Z is up, and the left leg's length is negative
STANCE: list[tuple[float, float, float, float, float]] = [
    (-5.0, 10.0, 2.0, 0.0, 0.0), (-80.0, 15.0, 5.0, -88.0, 20.0), (-70.0, 12.0, -9.0, -85.0, 7.0),
    (75.0, -20.0, 12.0, -60.0, -85.0), (78.0, 25.0, -14.0, 55.0, -80.0), (3.0, 4.0, 5.0, 0.0, 0.0),
    (10.0, 80.0, 30.0, 20.0, 85.0), (20.0, -5.0, 7.0, 82.0, 15.0),
]  # fmt: skip


@dataclass
class Frame:
    """A frame: `codes` are pitch, yaw, roll, unused, and the offset's pitch and yaw of each bone."""

    codes: list[tuple[int, ...]]
    parent_offset: Vector
    local_origin: Vector
    radius: float
    bounds: tuple[float, ...] = ()

    def pack(self) -> bytes:
        high, low = ([o + s * self.radius for o in self.local_origin] for s in (1, -1))
        bounds = self.bounds or (*high, *low)
        info = struct.pack("<13f", *bounds, *self.local_origin, self.radius, *self.parent_offset)
        return info + b"".join(struct.pack("<6h", *codes) for codes in self.codes)


def moving_frames(count: int, bones: int = len(STANCE), seed: int = 3) -> list[Frame]:
    """Return the stance in motion; what no game looks at is full of rubbish."""
    rng = Random(seed)
    found: list[Frame] = []
    for number in range(count):
        codes: list[tuple[int, ...]] = []
        for bone in range(bones):
            angles = [angle + 4.0 * math.sin(0.7 * number + bone + k) for k, angle in enumerate(STANCE[bone])]
            p, y, r, op, oy = (round(angle / TURN) for angle in angles)
            codes.append((p, y, r, rng.randint(-32768, 32767), op, oy))
        codes[0] = (*codes[0][:4], rng.randint(-32768, 32767), rng.randint(-32768, 32767))
        place = 0.5 * number, -0.25 * number, 24.0 + 0.125 * number
        found.append(Frame(codes, place, (1.0 + number, 2.0, 20.0), 60.0 + number))
    return found


@dataclass
class MdxSpec:
    """A whole MDX; `gap` bytes lie before each lump."""

    name: bytes = b"animations/figure.mdx\0left over"
    bones: list[Bone] = field(default_factory=lambda: list(BONES))
    frames: list[Frame] = field(default_factory=lambda: moving_frames(6))
    torso_parent: int = 1
    gap: bytes = b""
    bones_first: bool = False
    end_off: int = 0
    version: int = 2

    def pack(self) -> bytes:
        bones = b"".join(
            struct.pack("<64siffi", b.name, b.parent, b.torso_weight, b.parent_dist, b.flags) for b in self.bones
        )
        frames = b"".join(frame.pack() for frame in self.frames)
        lumps = [("bones", bones), ("frames", frames)] if self.bones_first else [("frames", frames), ("bones", bones)]
        body, places = b"", {}
        for key, lump in lumps:
            body += self.gap
            places[key] = 96 + len(body)
            body += lump
        body += self.gap
        counts = len(self.frames), len(self.bones), places["frames"], places["bones"], self.torso_parent
        end = 96 + len(body) + self.end_off
        return struct.pack("<4si64s6i", b"MDXW", self.version, self.name, *counts, end) + body


def pose_of(spec: MdxSpec, frame: int, exact: bool = False) -> list[tuple[Rows, Vector]]:
    """Return the matrix, as rows, and the place of each bone in a frame (`R_CalcBone`).

    In Return to Castle Wolfenstein directions are `exact`.
    """
    shown = spec.frames[frame]
    found: list[tuple[Rows, Vector]] = []
    full = False
    for bone, codes in zip(spec.bones, shown.codes, strict=True):
        rows = directions(*(code * TURN for code in codes[:3]))
        full = bool(bone.torso_weight) and (full or bone.torso_weight == 1)
        place = shown.parent_offset
        if bone.parent >= 0:
            way = directions(codes[4] * TURN, codes[5] * TURN, 0.0)[0] if exact else way_of(codes[4], codes[5])
            if bone.torso_weight and not full and bone.torso_weight != 1 and not exact:
                way = fast_unit(way)
            above = found[bone.parent][1]
            place = tuple(p + bone.parent_dist * w for p, w in zip(above, way, strict=True))  # type: ignore[assignment]
        found.append((rows, place))
    return found


def to_bone(pose: list[tuple[Rows, Vector]], bone: int, point: Vector) -> Vector:
    """Return where a point of model space lies in the space of a bone; single precision, as files have it."""
    rows, place = pose[bone]
    away = [p - q for p, q in zip(point, place, strict=True)]
    local = [sum(rows[i][k] * away[i] for i in range(3)) for k in range(3)]  # the inverse of a rotation
    return struct.unpack("<3f", struct.pack("<3f", *local))


def from_bone(pose: list[tuple[Rows, Vector]], bone: int, point: Vector) -> Vector:
    """Return the inverse of `to_bone`."""
    rows, place = pose[bone]
    found = [place[i] + sum(rows[i][k] * point[k] for k in range(3)) for i in range(3)]
    return found[0], found[1], found[2]


@dataclass
class Surface:
    """A surface: `verts` are normal, texture coordinate and weights; triangles are clockwise seen from outside."""

    name: bytes = b"u_body"
    shader: bytes = b"models/figure/body"
    verts: list[tuple[Vector, tuple[float, float], list[Weight]]] = field(default_factory=list)
    tris: list[tuple[int, int, int]] = field(default_factory=list)
    collapse: list[int] = field(default_factory=list)
    refs: list[int] = field(default_factory=list)
    min_lod: int = 0
    shader_index: int = 0
    ident: int = 9

    def lumps(self) -> dict[str, bytes]:
        verts = b""
        for normal, st, weights in self.verts:
            verts += struct.pack("<5fi", *normal, *st, len(weights))
            verts += b"".join(struct.pack("<i4f", bone, weight, *offset) for bone, weight, offset in weights)
        return {
            "verts": verts,
            "tris": b"".join(struct.pack("<3i", *tri) for tri in self.tris),
            "collapse": struct.pack(f"<{len(self.collapse)}i", *self.collapse),
            "refs": struct.pack(f"<{len(self.refs)}i", *self.refs),
        }

    def pack(self, start: int, order: tuple[str, ...], gap: bytes) -> bytes:
        lumps, body, places = self.lumps(), b"", {}
        for key in order:
            body += gap
            places[key] = 176 + len(body)
            body += lumps[key]
        numbers = (
            self.shader_index, self.min_lod, -start, len(self.verts), places["verts"], len(self.tris), places["tris"],
            places["collapse"], len(self.refs), places["refs"], 176 + len(body),
        )  # fmt: skip
        return struct.pack("<i64s64s11i", self.ident, self.name, self.shader, *numbers) + body


@dataclass
class Tag:
    """A tag."""

    name: bytes
    bone: int
    offset: Vector
    axis: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    refs: list[int] = field(default_factory=list)

    def pack(self, gap: bytes) -> bytes:
        refs = struct.pack(f"<{len(self.refs)}i", *self.refs)
        start = 128 + len(gap)
        head = struct.pack("<64s9fi3f3i", self.name, *self.axis, self.bone, *self.offset, len(self.refs), start,
                           start + len(refs))  # fmt: skip
        return head + gap + refs


OUR_ORDER = ("verts", "tris", "collapse", "refs")


@dataclass
class MdmSpec:
    """A whole MDM; `gap` bytes lie before each lump of a surface and of a tag, and between them."""

    name: bytes = b"models/players/figure.mdm\0left over"
    lod: tuple[float, float] = (1.0, 0.0)
    surfaces: list[Surface] = field(default_factory=list)
    tags: list[Tag] = field(default_factory=list)
    order: tuple[str, ...] = OUR_ORDER
    gap: bytes = b""
    tags_first: bool = False
    end_off: int = 0
    version: int = 3

    def pack(self) -> bytes:
        body, places = b"", {}
        for kind in ("tags", "surfaces") if self.tags_first else ("surfaces", "tags"):
            body += self.gap
            places[kind] = 100 + len(body)
            for surface in self.surfaces if kind == "surfaces" else ():
                body += surface.pack(100 + len(body), self.order, self.gap)
            for tag in self.tags if kind == "tags" else ():
                body += tag.pack(self.gap)
        body += self.gap
        counts = len(self.surfaces), places["surfaces"], len(self.tags), places["tags"], 100 + len(body) + self.end_off
        return struct.pack("<4si64s2f5i", b"MDMW", self.version, self.name, *self.lod, *counts) + body


# -- the figure

Pull = list[tuple[int, float]]  # bones and weights


def tube(pose: Any, rings: list[tuple[Vector, float, Pull]], sides: int) -> Surface:
    """Return a tube along Z around centres of rings; a seam of the texture runs along it."""
    made = Surface()
    for level, (centre, radius, pull) in enumerate(rings):
        for side in range(sides + 1):
            angle = 2 * math.pi * (side % sides) / sides
            out = math.cos(angle), math.sin(angle), 0.0
            point = centre[0] + radius * out[0], centre[1] + radius * out[1], centre[2]
            weights = [(bone, weight, to_bone(pose, bone, point)) for bone, weight in pull]
            rows = pose[pull[0][0]][0]
            normal = tuple(sum(rows[i][k] * out[i] for i in range(3)) for k in range(3))
            made.verts.append((normal, (side / sides, 0.125 + level / len(rings)), weights))
    for level in range(len(rings) - 1):
        for side in range(sides):
            a, b = level * (sides + 1) + side, (level + 1) * (sides + 1) + side
            made.tris += [(a, b, a + 1), (a + 1, b, b + 1)]
    made.collapse = [max(0, j - 1 - j % 3) for j in range(len(made.verts))]
    made.min_lod = len(made.verts) // 2
    return made


def body(pose: Any) -> Surface:
    """Return the upper body: rings of one to five weights, the heaviest not first, sums of 1."""
    middle = [pose[bone][1] for bone in (0, 1, 2)]
    pulls: list[Pull] = [
        [(0, 1.0)], [(5, 0.25), (0, 0.75)], [(1, 0.5), (0, 0.25), (5, 0.25)], [(1, 1.0)],
        [(0, 0.0625), (1, 0.5), (2, 0.25), (5, 0.125), (6, 0.0625)], [(2, 1.0)],
    ]  # fmt: skip
    rings = []
    for step, pull in enumerate(pulls):
        x, y, z = (a + (c - a) * step / 5 for a, c in zip(middle[0], middle[2], strict=True))
        rings.append(((x, y, z), 6.0 - 0.5 * step, pull))
    made = tube(pose, rings, 6)
    made.refs = [0, 1, 2, 5, 6]
    return made


def legs(pose: Any) -> Surface:
    """Return two legs in one surface."""
    made = Surface()
    for hip, knee in ((3, 7), (4, 4)):
        low, high = pose[knee][1], pose[0][1]
        rings: list[tuple[Vector, float, Pull]] = []
        for step, pull in enumerate(([(knee, 1.0)], [(hip, 0.75), (0, 0.25)], [(0, 1.0)])):
            x, y, z = (a + (c - a) * step / 2 for a, c in zip(low, high, strict=True))
            rings.append(((x, y, z), 3.0, pull))
        part, first = tube(pose, rings, 4), len(made.verts)
        made.verts += part.verts
        made.tris += [(a + first, b + first, c + first) for a, b, c in part.tris]
    made.collapse = [max(0, j - 1) for j in range(len(made.verts))]
    made.min_lod, made.refs = 9, [0, 3, 7, 4]
    made.name, made.shader = b"l_legs\0\xffodd", b""
    return made


SHEARED = (0.5, 0.0, 0.0, 0.25, -2.0, 0.0, 0.0, 0.5, 1.0)
AXES = (0.0, 1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 1.0)


def figure_spec() -> MdmSpec:
    """Return the figure: two surfaces that agree in frame 0 of its MDX, and three tags."""
    pose = pose_of(MdxSpec(), 0)
    tags = [
        Tag(b"tag_head", 2, (1.5, -2.5, 3.5), refs=[0, 1, 2]),
        Tag(b"tag_weapon\0junk", 6, (0.25, 0.5, 0.75), SHEARED, [0, 1, 2, 6]),
        Tag(b"tag_ubelt", 1, (-4.0, 5.0, 6.0), AXES, [0, 1]),
    ]
    return MdmSpec(surfaces=[body(pose), legs(pose)], tags=tags)


def figure() -> bytes:
    """Return the figure."""
    return figure_spec().pack()


def odd_weights() -> bytes:
    """Return weights as real files have them: sums that are not 1, of 0, below 0, a bone twice, places far apart."""
    spec = figure_spec()
    verts = spec.surfaces[0].verts
    for vertex, change in {
        3: [(0, 0.75, (1.0, 2.0, 3.0))],
        8: [(5, 0.25, (1.0, 2.0, 3.0)), (0, 0.75, (4.0, 5.0, 6.0)), (1, 0.0, (7.0, 8.0, 9.0))],
        9: [(0, 0.5, (4.0, 5.0, 6.0)), (0, 0.5, (4.5, 5.0, 6.0))],
        16: [(1, 1.125, (1.0, 1.0, 1.0)), (0, -0.125, (9.0, 9.0, 9.0))],
        17: [(2, 0.2, (1.0, 1.0, 1.0)), (1, 0.3, (30.0, 9.0, 9.0)), (0, 0.4, (9.0, 9.0, 9.0))],
    }.items():
        normal, st, _ = verts[vertex]
        verts[vertex] = normal, st, change
    return spec.pack()


def odd_numbers() -> bytes:
    """Return normals of no length, or that are no numbers, and such texture coordinates."""
    spec = figure_spec()
    verts = spec.surfaces[0].verts
    nan, inf = float("nan"), float("inf")
    for vertex, normal, st in (
        (0, (0.0, 0.0, 0.0), (3.25, -7.5)), (1, (nan, 1.0, 0.0), (nan, 0.5)), (2, (5.0, 0.0, 12.0), (inf, -inf)),
        (10, (-0.0, 1e-30, 1.0), (1e30, 1e-30)),
    ):  # fmt: skip
        verts[vertex] = normal, st, verts[vertex][2]
    spec.tags[0].axis = (0.0,) * 9
    return spec.pack()


def odd_layout() -> bytes:
    """Return lumps in another order, with bytes between them, tags first, and a wrong end."""
    spec = figure_spec()
    spec.order, spec.gap, spec.tags_first, spec.end_off = ("refs", "collapse", "tris", "verts"), b"\1\2\3\4", True, -40
    return spec.pack()


def odd_facts() -> bytes:
    """Return what a header may say: other LOD, indices, names with bytes that are no UTF-8, empty or full."""
    spec = figure_spec()
    spec.lod, spec.name = (0.75, -0.125), b"\xe4\xf6"
    one, two = spec.surfaces
    one.name, one.shader, one.shader_index, one.ident = b"K\xf6rper.001", b"s" * 63, 7, 1234
    two.name, two.min_lod = b"", 10_000
    spec.tags.append(Tag(b"tag_head", 2, (9.0, 8.0, 7.0), AXES, [2, 1, 0]))  # the second of that name
    one.refs = [6, 5, 2, 1, 0, 0]  # in no order, one twice
    return spec.pack()


def degenerate() -> bytes:
    """Return a triangle with a vertex twice, one that is there twice, and vertices that no triangle uses."""
    spec = figure_spec()
    part = spec.surfaces[0]
    part.tris += [(1, 1, 2), part.tris[0]]
    for _ in range(2):
        part.verts.append(part.verts[-1])
        part.collapse.append(0)
    return spec.pack()


def bare() -> bytes:
    """Return a surface without vertices, and no tags."""
    spec = figure_spec()
    spec.surfaces[1] = Surface(b"nothing", b"none")
    spec.tags = []
    return spec.pack()


def nothing() -> bytes:
    """Return a header alone."""
    return MdmSpec().pack()


def walk() -> bytes:
    """Return the figure's skeleton in motion."""
    return MdxSpec().pack()


def one_frame() -> bytes:
    """Return a pose."""
    return MdxSpec(frames=moving_frames(1)).pack()


def odd_file() -> bytes:
    """Return an MDX with bones before frames, bytes between, a torso parent that is no bone, and other bounds."""
    spec = MdxSpec(name=b"", gap=b"\7\7\7\7\7", bones_first=True, torso_parent=-7, end_off=12)
    spec.frames[2].bounds = (-1.0, -2.0, -3.0, 4.0, 5.0, 6.0)
    spec.frames[3].bounds = (float("nan"),) * 6
    return spec.pack()


def near_the_pole() -> bytes:
    """Return angles where one rotation has many spellings: pitch 90 degrees, and beyond."""
    spec = MdxSpec(frames=moving_frames(4))
    for number, pitch in enumerate((16384, -16384, 20000, -32768)):
        codes = spec.frames[number].codes
        codes[1] = (pitch, 100, -3000, 5, pitch, 700)
        codes[4] = (pitch, -8000, 20000, -5, 16384, 32767)
    return spec.pack()


def two_roots() -> bytes:
    """Return a second root, which lies where the first does."""
    spec = MdxSpec(bones=[*BONES[:7], Bone(b"other", -1, 0.0, 0.0)])
    return spec.pack()


MESHES: tuple[Any, ...] = (figure, odd_weights, odd_numbers, odd_layout, odd_facts, degenerate, bare, nothing)
ANIMS: tuple[Any, ...] = (walk, one_frame, odd_file, near_the_pole, two_roots)
