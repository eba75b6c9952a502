"""Small MD3 files, packed field by field with `struct`: see `samples`."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

Xyzn = tuple[int, int, int, int, int]  # position in 1/64 units, zenith, azimuth
Origin = tuple[float, float, float]

UPRIGHT = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
CRATE_SHADER = b"models/crate/crate.tga"


@dataclass
class FrameSpec:
    """One frame as it will stand in the file."""

    name: bytes
    mins: Origin = (-1.5, -2.25, -3.125)
    maxs: Origin = (4.5, 5.25, 6.125)
    local_origin: Origin = (0.5, 0.25, 0.125)
    radius: float = 9.75


@dataclass
class TagSpec:
    """One tag in one frame."""

    name: bytes
    origin: Origin = (11.0, 12.0, 13.0)
    axis: Sequence[float] = UPRIGHT


@dataclass
class SurfaceSpec:
    """One surface; `frames` holds its vertices frame by frame."""

    name: bytes
    frames: list[list[Xyzn]]
    triangles: list[tuple[int, int, int]]  # clockwise, as files have them
    st: list[tuple[float, float]]
    shaders: list[tuple[bytes, int]] = field(default_factory=lambda: [(b"models/test/skin.tga", 0)])
    flags: int = 0
    ident: bytes = b"IDP3"
    num_frames: int | None = None  # what the header says, if not the truth
    order: Sequence[str] = ("shaders", "triangles", "st", "vertices")
    gap: bytes = b""  # before each of its lumps

    def pack(self, num_frames: int, end: int | None) -> bytes:
        """Return the surface's bytes; `end` is written as `ofs_end`, if not the truth."""
        vertices = [struct.pack("<hhhBB", *v) for frame in self.frames for v in frame]
        lumps = {
            "shaders": b"".join(struct.pack("<64si", *shader) for shader in self.shaders),
            "triangles": b"".join(struct.pack("<iii", *t) for t in self.triangles),
            "st": b"".join(struct.pack("<ff", *st) for st in self.st),
            "vertices": b"".join(vertices),
        }
        body, offsets = b"", {}
        for name in self.order:
            body += self.gap
            offsets[name] = 108 + len(body)
            body += lumps[name]
        counts = (num_frames, len(self.shaders), len(self.st), len(self.triangles))
        places = [offsets[n] for n in ("triangles", "shaders", "st", "vertices")]
        end = 108 + len(body) if end is None else end
        return struct.pack("<4s64si4i5i", self.ident, self.name, self.flags, *counts, *places, end) + body


@dataclass
class Md3Spec:
    """A whole file."""

    frames: list[FrameSpec]
    tags: list[list[TagSpec]] = field(default_factory=list)  # per frame
    surfaces: list[SurfaceSpec] = field(default_factory=list)
    name: bytes = b"models/test/model.md3"
    flags: int = 0
    num_skins: int = 0
    order: Sequence[str] = ("frames", "tags", "surfaces")
    gap: bytes = b""  # before each lump, and between surfaces
    tail: bytes = b""
    last_end: int | None = None
    eof: int = 0  # added to the true size

    def pack(self) -> bytes:
        """Return the file."""
        frames = [struct.pack("<10f16s", *f.mins, *f.maxs, *f.local_origin, f.radius, f.name) for f in self.frames]
        tags = [struct.pack("<64s12f", t.name, *t.origin, *t.axis) for row in self.tags for t in row]
        lumps = {"frames": b"".join(frames), "tags": b"".join(tags), "surfaces": self._pack_surfaces()}
        body, offsets = b"", {}
        for name in self.order:
            body += self.gap
            offsets[name] = 108 + len(body)
            body += lumps[name]
        body += self.tail
        counts = (len(self.frames), len(self.tags[0]) if self.tags else 0, len(self.surfaces), self.num_skins)
        places = (offsets["frames"], offsets["tags"], offsets["surfaces"], 108 + len(body) + self.eof)
        return struct.pack("<4si64si4i4i", b"IDP3", 15, self.name, self.flags, *counts, *places) + body

    def _pack_surfaces(self) -> bytes:
        packed = b""
        for i, surface in enumerate(self.surfaces):
            last = i + 1 == len(self.surfaces)
            count = len(self.frames) if surface.num_frames is None else surface.num_frames
            body = surface.pack(count, self.last_end if last else None)
            if not last:
                body = surface.pack(count, len(body) + len(self.gap)) + self.gap
            packed += body
        return packed


def minimal() -> Md3Spec:
    """Return a triangle with one frame and one tag; no two numbers are equal."""
    surface = SurfaceSpec(
        b"tri", [[(64, 131, -197, 7, 201), (-1000, 2003, 3011, 64, 33), (517, -523, 541, 120, 250)]], [(2, 0, 1)],
        [(0.125, 0.25), (0.375, 0.75), (0.875, 0.0625)], [(b"models/minimal/skin.tga", 21)], flags=0x01020304,
    )  # fmt: skip
    bounds = (-15.625, -8.171875, -3.078125), (8.078125, 31.296875, 47.046875)
    frame = FrameSpec(b"stand", *bounds, (1.5, 2.5, 3.5), 58.5)
    axis = (0.0, 1.0, 0.25, -1.0, 0.0, 0.5, 0.75, 0.125, 2.0)
    tag = TagSpec(b"tag_top", (5.5, 6.25, -7.125), axis)
    return Md3Spec([frame], [[tag]], [surface], b"models/minimal/minimal.md3", 0x0A0B0C0D, 77)


def _wave(vertices: Sequence[Xyzn], frame: int) -> list[Xyzn]:
    moved = enumerate(vertices)
    return [(x + 40 * frame, y - 11 * frame * i, z + 3 * frame * frame, n, a) for i, (x, y, z, n, a) in moved]


STRIP: Sequence[Xyzn] = (
    (0, 0, 0, 3, 11), (640, 10, 20, 5, 77), (650, 660, 30, 9, 140), (5, 670, 40, 13, 201),
    (-630, 680, 50, 17, 90), (-640, 15, 60, 21, 47),
)  # fmt: skip
STRIP_TRIANGLES = [(0, 1, 2), (2, 3, 0), (5, 0, 3), (3, 4, 5)]
STRIP_ST = [(0.5, 0.9), (0.95, 0.85), (0.9, 0.1), (0.45, 0.15), (0.05, 0.2), (0.1, 0.8)]


def animated() -> Md3Spec:
    """Return two surfaces, three frames, two tags, flags, and garbage behind the NULs of names."""
    flag: list[Xyzn] = [
        (100, 200, 300, 64, 0), (900, 210, 310, 66, 3), (910, 1000, 320, 70, 8), (110, 1010, 330, 75, 250),
    ]  # fmt: skip
    surfaces = [
        SurfaceSpec(b"h_body\0garbage", [_wave(STRIP, f) for f in range(3)], STRIP_TRIANGLES, STRIP_ST,
                    [(b"models/animated/body.tga\0left over", 3)], flags=5),
        SurfaceSpec(b"flag.002", [_wave(flag, f) for f in range(3)], [(0, 2, 1), (2, 0, 3)],
                    [(0.3, 1.3), (1.7, 0.2), (1.1, -0.4), (-0.2, 0.6)], [(b"models/animated/flag", -1)]),
    ]  # fmt: skip
    boxes = [((-10.0 + f, 0.0, 0.5 * f), (14.5 + f, 15.75, 5.25)) for f in range(3)]
    frames = [FrameSpec(b"wave%02d\0%c" % (f, 65 + f), *boxes[f], (0.0, f, 0.0), 30.0 + f) for f in range(3)]
    tags = [[
        TagSpec(b"tag_weapon\0trash", (1.1 + f, 2.2, 3.3), UPRIGHT),
        TagSpec(b"tag_head", (0.1, 0.2, 10.7 + f), (0.6, 0.8, 0.1 * f, -0.8, 0.6, 0.0, 0.0, 0.0, 1.1)),
    ] for f in range(3)]  # fmt: skip
    return Md3Spec(frames, tags, surfaces, b"models/animated/animated.md3\0xyz", 9, 2)


def tags_only() -> Md3Spec:
    """Return three frames of two tags with one name, as weapons' hand models have them, and no surface."""
    tags = [
        [TagSpec(b"tag_hand", (f, 2.5, 3.5)), TagSpec(b"tag_hand", (-4.5, f + 0.5, 6.5), (0.5, 0.5) * 4 + (0.75,))]
        for f in range(3)
    ]
    return Md3Spec([FrameSpec(b"idle%d" % f) for f in range(3)], tags, [], b"hand")


def nothing() -> Md3Spec:
    """Return two frames of no surface and no tag, as what games must not show has it, with bounds of their own."""
    frames = [FrameSpec(b"still\0x", (-1.5, -2.5, -3.5), (4.5, 5.5, 6.5), (0.5, 0.25, 0.125), 9.5), FrameSpec(b"b")]
    return Md3Spec(frames, name=b"models/null.md3\0left over", flags=3, num_skins=1, gap=b"gap", tail=b"end")


# A face of the cube: the axis that it looks along, its direction, and the zenith and azimuth of its normal.
CUBE_FACES = ((0, 1, 64, 0), (0, -1, 64, 128), (1, 1, 64, 64), (1, -1, 64, 192), (2, 1, 0, 0), (2, -1, 128, 0))


def _cube_face(axis: int, sign: int, normal: tuple[int, int], size: Sequence[int]) -> list[Xyzn]:
    corners = []
    for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
        place = [0, 0, 0]
        place[axis], place[(axis + 1) % 3], place[(axis + 2) % 3] = sign, a * sign, b
        x, y, z = (p * s for p, s in zip(place, size, strict=True))
        corners.append((x, y, z, *normal))
    return corners


def seamed_cube() -> Md3Spec:
    """Return a cube of 24 vertices with hard edges and a picture on each face; it grows in its second frame."""
    sizes = ((320, 384, 448), (352, 400, 512))
    frames = [[v for axis, sign, *n in CUBE_FACES for v in _cube_face(axis, sign, (n[0], n[1]), s)] for s in sizes]
    triangles = [t for i in range(0, 24, 4) for t in ((i, i + 2, i + 1), (i, i + 3, i + 2))]
    surface = SurfaceSpec(b"crate", frames, triangles, [(0.0, 1.0), (1.0, 1.0), (1.0, 0.0), (0.0, 0.0)] * 6)
    surface.shaders = [(CRATE_SHADER, 0)]
    return Md3Spec([FrameSpec(b"small"), FrameSpec(b"large")], [], [surface])


def duplicates() -> Md3Spec:
    """Return equal, turned, back-to-back and degenerate triangles, which validate() deletes, and unused vertices."""
    vertices: list[Xyzn] = [
        (0, 0, 0, 1, 2), (640, 0, 0, 3, 4), (0, 640, 0, 5, 6), (640, 640, 64, 7, 8), (700, 0, 128, 9, 10),
        (1, 2, 3, 11, 12), (-77, -78, -79, 13, 14), (0, 0, 0, 15, 16), (640, 0, 0, 17, 18), (0, 640, 0, 19, 20),
    ]  # fmt: skip
    triangles = [
        (0, 1, 2), (0, 1, 2), (1, 2, 0), (2, 1, 0),  # once, again, turned, from behind
        (3, 3, 4), (5, 5, 5),  # without an area
        (7, 8, 9), (1, 3, 2),  # where the first is, of other vertices; a neighbour
    ]  # fmt: skip
    st = [(i / 16, 1 - i / 32) for i in range(len(vertices))]
    return Md3Spec([FrameSpec(b"base")], [], [SurfaceSpec(b"twice", [vertices], triangles, st)])


def flap() -> Md3Spec:
    """Return a flap with two sides on the edge of a face: versions of Blender show its normals each in its own way."""
    places = [(-512, 128, -192), (256, -192, 256), (64, 0, -64), (448, 320, 576), (640, 320, 448), (-320, -384, 0)]
    triangles = [(5, 0, 4), (2, 3, 5), (5, 3, 2), (2, 1, 3)]
    frames: list[list[Xyzn]] = [[(x, y, z + 32 * f, 0, 0) for x, y, z in places] for f in range(2)]
    st = [(i / 8, 1 - i / 16) for i in range(len(places))]
    surface = SurfaceSpec(b"flap", frames, triangles, st)
    return Md3Spec([FrameSpec(b"down"), FrameSpec(b"up")], [], [surface])


def split_later() -> Md3Spec:
    """Return two triangles whose edge is one in the first frame and opens in the second."""
    shut: list[Xyzn] = [
        (0, 0, 0, 0, 0), (64, 0, 0, 0, 0), (0, 64, 0, 0, 0), (64, 0, 0, 4, 9), (0, 64, 0, 4, 9), (64, 64, 0, 0, 0),
    ]  # fmt: skip
    wide = [*shut[:3], (80, 0, 0, 4, 9), *shut[4:]]
    surface = SurfaceSpec(b"door", [shut, wide], [(0, 2, 1), (3, 4, 5)], [(0.1 * i, 0.2) for i in range(6)])
    return Md3Spec([FrameSpec(b"shut"), FrameSpec(b"open")], [], [surface])


def no_shaders() -> Md3Spec:
    """Return `minimal` without a shader."""
    spec = minimal()
    spec.surfaces[0].shaders = []
    return spec


def many_shaders() -> Md3Spec:
    """Return `animated` with three shaders on one surface, one of them twice, and none on the other."""
    spec = animated()
    names = (b"models/a/one.tga", b"models/a/two.jpg\0old", b"models/a/one.tga\0again")
    spec.surfaces[0].shaders = [(name, 7 + i) for i, name in enumerate(names)]
    spec.surfaces[1].shaders = []
    return spec


def odd_layout() -> Md3Spec:
    """Return a file with every lump where no writer of ours would put it, and every derived number wrong."""
    spec = replace(animated(), order=("surfaces", "tags", "frames"), gap=b"gap", tail=b"the end", last_end=-12, eof=5)
    order = ("vertices", "st", "triangles", "shaders")
    spec.surfaces[0] = replace(spec.surfaces[0], order=order, gap=b"!", ident=b"\1\2\3\4")
    spec.surfaces[1] = replace(spec.surfaces[1], order=("triangles", "shaders", "vertices", "st"), num_frames=0)
    return spec


def zero_end() -> Md3Spec:
    """Return `animated` with an end of 0 on its last surface and a wrong frame count on its first."""
    spec = replace(animated(), last_end=0)
    spec.surfaces[0] = replace(spec.surfaces[0], num_frames=1)
    return spec


def short_surface() -> Md3Spec:
    """Return `animated` whose last surface has one frame only: the file ends behind it."""
    spec = animated()
    last = spec.surfaces[1]
    spec.surfaces[1] = replace(last, num_frames=1, frames=last.frames[:1])
    return spec


def empty_surface() -> Md3Spec:
    """Return `animated` with a surface in the middle that has neither vertices nor triangles."""
    spec = animated()
    spec.surfaces.insert(1, SurfaceSpec(b"nothing", [[], [], []], [], []))
    return spec


def odd_names() -> Md3Spec:
    """Return names in UTF-8 and Latin-1, cut inside a character, without a NUL, empty, and equal ones."""
    spec = animated()
    cut = "ü".encode() * 31 + b"x" + "ü".encode()[:1]
    spec.surfaces[0].name, spec.surfaces[1].name = "Körper_ß".encode(), cut
    spec.surfaces[0].shaders = [(b"textures/gr\xfcn.tga", 1), (b"y" * 64, 2)]
    spec.surfaces.append(replace(spec.surfaces[1], name=b"", frames=[_wave(STRIP[:4], f) for f in range(3)]))
    for i, frame in enumerate(spec.frames):
        frame.name = (b"", b"0123456789abcdef", b"l\xe4uft\0\xff")[i]
    for row in spec.tags:
        row[0].name, row[1].name = b"tag_" + b"\xe9" * 60, "tag_日本".encode() + b"\0\xfe"
    spec.name = b"\xff" * 64
    return spec


def odd_numbers() -> Md3Spec:
    """Return coordinates at both ends of their range, and floats that are not numbers."""
    spec = animated()
    first = spec.surfaces[0]
    first.frames[1] = [(-32768, 32767, 0, 255, 255), (32767, -32768, -1, 0, 255), *first.frames[1][2:]]
    first.st = [(float("nan"), -0.0), (float("inf"), float("-inf")), (1e-42, 1e38), *STRIP_ST[3:]]
    spec.frames[0] = replace(spec.frames[0], mins=(float("inf"),) * 3, radius=float("nan"))
    spec.frames[2] = replace(spec.frames[2], maxs=(-1e30, -0.0, 3e-40))
    spec.tags[1][0] = TagSpec(b"tag_weapon", (float("nan"), -0.0, float("inf")), (float("nan"),) * 9)
    spec.tags[2][1] = TagSpec(b"tag_other_name", (0.0,) * 3, (0.0,) * 9)
    return spec


SPECS: tuple[Callable[[], Md3Spec], ...] = (
    minimal, animated, tags_only, nothing, seamed_cube, duplicates, flap, split_later, no_shaders, many_shaders,
    odd_layout, zero_end, short_surface, empty_surface, odd_names, odd_numbers,
)  # fmt: skip
