"""Small MDC files, packed field by field with `struct`: see `samples`."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from tests.samples_md3 import FrameSpec, Xyzn

Steps = tuple[int, int, int, int]  # along the axes, 127 for none, and the normal's number
TagCodes = tuple[int, int, int, int, int, int]  # place in 1/64 units, pitch, yaw, roll
LUMPS = ("triangles", "shaders", "st", "bases", "steps", "base_frames", "comp_frames")


def directions() -> list[tuple[float, float, float]]:
    """Return the 256 normals of steps: rings of 32, 28, ... of them, from the equator down, then up."""
    rings = [-k for k in range(8)] + list(range(1, 8))
    turns = [(math.radians(11.25 * k), 2 * math.pi * j / n) for k in rings for n in [32 - 4 * abs(k)] for j in range(n)]
    return [(math.cos(a) * math.cos(b), math.cos(a) * math.sin(b), math.sin(a)) for a, b in turns]


@dataclass
class SurfaceSpec:
    """One surface as it will stand in the file."""

    name: bytes
    bases: list[list[Xyzn]]
    steps: list[list[Steps]]
    base_frames: list[int]
    comp_frames: list[int]
    triangles: list[tuple[int, int, int]]  # clockwise, as files have them
    st: list[tuple[float, float]]
    shaders: list[tuple[bytes, int]] = field(default_factory=lambda: [(b"models/test/skin.tga", 0)])
    flags: int = 0
    ident: int = 7
    order: Sequence[str] = LUMPS
    gap: bytes = b""  # before each of its lumps

    def pack(self, end: int | None) -> bytes:
        """Return the surface's bytes; `end` is written as `ofs_end`, if not the truth."""
        lumps = {
            "triangles": b"".join(struct.pack("<iii", *t) for t in self.triangles),
            "shaders": b"".join(struct.pack("<64si", *shader) for shader in self.shaders),
            "st": b"".join(struct.pack("<ff", *st) for st in self.st),
            "bases": b"".join(struct.pack("<hhhBB", *v) for base in self.bases for v in base),
            "steps": b"".join(struct.pack("<4B", *v) for steps in self.steps for v in steps),
            "base_frames": struct.pack(f"<{len(self.base_frames)}h", *self.base_frames),
            "comp_frames": struct.pack(f"<{len(self.comp_frames)}h", *self.comp_frames),
        }
        body, offsets = b"", {}
        for name in self.order:
            body += self.gap
            offsets[name] = 124 + len(body)
            body += lumps[name]
        counts = (len(self.steps), len(self.bases), len(self.shaders), len(self.st), len(self.triangles))
        places = [offsets[name] for name in LUMPS]
        end = 124 + len(body) if end is None else end
        return struct.pack("<i64si5i8i", self.ident, self.name, self.flags, *counts, *places, end) + body


@dataclass
class MdcSpec:
    """A whole file."""

    frames: list[FrameSpec]
    surfaces: list[SurfaceSpec] = field(default_factory=list)
    tag_names: list[bytes] = field(default_factory=list)
    tags: list[list[TagCodes]] = field(default_factory=list)  # per frame
    name: bytes = b"models/test/model.mdc"
    flags: int = 0
    num_skins: int = 0
    order: Sequence[str] = ("frames", "tag_names", "tags", "surfaces")
    gap: bytes = b""  # before each lump, and between surfaces
    tail: bytes = b""
    last_end: int | None = None

    def pack(self) -> bytes:
        """Return the file."""
        frames = [struct.pack("<10f16s", *f.mins, *f.maxs, *f.local_origin, f.radius, f.name) for f in self.frames]
        lumps = {
            "frames": b"".join(frames),
            "tag_names": b"".join(struct.pack("<64s", name) for name in self.tag_names),
            "tags": b"".join(struct.pack("<6h", *codes) for row in self.tags for codes in row),
            "surfaces": self._pack_surfaces(),
        }
        body, offsets = b"", {}
        for name in self.order:
            body += self.gap
            offsets[name] = 112 + len(body)
            body += lumps[name]
        body += self.tail
        counts = (len(self.frames), len(self.tag_names), len(self.surfaces), self.num_skins)
        places = [offsets[name] for name in ("frames", "tag_names", "tags", "surfaces")]
        return struct.pack("<4si64s10i", b"IDPC", 2, self.name, self.flags, *counts, *places, 112 + len(body)) + body

    def _pack_surfaces(self) -> bytes:
        packed = b""
        for i, surface in enumerate(self.surfaces):
            last = i + 1 == len(self.surfaces)
            body = surface.pack(self.last_end if last else None)
            if not last:
                body = surface.pack(len(body) + len(self.gap)) + self.gap
            packed += body
        return packed


def minimal() -> MdcSpec:
    """Return a triangle of two frames, the second of steps, and a tag; no two numbers are equal."""
    surface = SurfaceSpec(
        b"tri", [[(64, 131, -197, 7, 201), (-1000, 2003, 3011, 64, 33), (517, -523, 541, 120, 250)]],
        [[(127, 128, 126, 5), (0, 254, 100, 77), (130, 99, 251, 255)]], [0, 0], [-1, 0], [(2, 0, 1)],
        [(0.125, 0.25), (0.375, 0.75), (0.875, 0.0625)], [(b"models/minimal/skin.tga", 21)], flags=0x01020304,
    )  # fmt: skip
    frames = [FrameSpec(b"(from ASE)"), FrameSpec(b"b\0left", (-1.0, -2.0, -3.0), (4.0, 5.0, 6.0), (1.5, 2.5, 3.5), 58)]
    tags: list[list[TagCodes]] = [[(10, -20, 30, 4000, 16000, -12000)], [(11, 21, -31, -32700, 32700, 16350)]]
    return MdcSpec(frames, [surface], [b"tag_top"], tags, b"models/minimal/minimal.mdc", 0x0A0B0C0D, 77)


def _part(index: int, count: int, triangles: list[tuple[int, int, int]]) -> SurfaceSpec:
    """Return a surface of five frames, bases in the first and the fourth, with twins along a seam."""
    random = Random(7 + index)
    bases: list[list[Xyzn]] = []
    for _ in range(2):
        x, y, z = (random.sample(range(-3000, 3000), count) for _ in range(3))
        bases.append([(x[v], y[v], z[v], random.randrange(1, 128), random.randrange(256)) for v in range(count)])
    steps: list[list[Steps]] = []
    for _ in range(3):
        a, b, c, n = (random.choices(range(90, 165), k=count) for _ in range(4))
        steps.append([(a[v], b[v], c[v], n[v]) for v in range(count)])
    for rows in bases:
        rows[1] = (*rows[0][:3], *rows[1][3:])  # at one place in all frames
        rows[3] = (*rows[2][:3], *rows[3][3:])  # in the base frames alone
    for moved in steps:
        moved[1] = (*moved[0][:3], moved[1][3])
    st = [(0.125 * v, 1 - 0.0625 * v) for v in range(count)]
    names = (b"h_body\0garbage", b"flag.002")
    shaders = [(b"models/animated/body.tga\0left over", 3)] if index == 0 else [(b"models/animated/flag", -1)]
    tables = [0, 0, 0, 1, 1], [-1, 0, 1, -1, 2]
    return SurfaceSpec(names[index], bases, steps, *tables, triangles, st, shaders, 5 + index)


def animated() -> MdcSpec:
    """Return two surfaces, five frames, two tags, flags, and garbage behind the NULs of names."""
    surfaces = [_part(0, 6, [(2, 3, 0), (4, 2, 1), (3, 5, 4)]), _part(1, 4, [(2, 3, 0), (3, 2, 1)])]
    frames = [FrameSpec(b"wave%02d\0%c" % (f, 65 + f), (-10.0 + f, 0, f), (14.5, 15.75 + f, 9), radius=30.0)
              for f in range(5)]  # fmt: skip
    tags: list[list[TagCodes]] = [[(64 + f, 128, 192, 0, 0, 0), (6, 12, 684 + f, 900 * f, -3000 + f, 40 * f)]
                                  for f in range(5)]  # fmt: skip
    names = [b"tag_weapon\0trash", b"tag_head"]
    return MdcSpec(frames, surfaces, names, tags, b"models/animated/animated.mdc\0xyz", 9, 2)


def tags_only() -> MdcSpec:
    """Return three frames of two tags with one name and no surface, as weapons' hand models have them."""
    tags: list[list[TagCodes]] = [[(f, 2, 3, 8175, 0, f), (-4, f, 6, -8175, 300, 0)] for f in range(3)]
    return MdcSpec([FrameSpec(b"idle%d" % f) for f in range(3)], [], [b"tag_hand", b"tag_hand"], tags, b"hand")


def nothing() -> MdcSpec:
    """Return two frames of no surface and no tag."""
    frames = [FrameSpec(b"still\0x", (-1.5, -2.5, -3.5), (4.5, 5.5, 6.5), (0.5, 0.25, 0.125), 9.5), FrameSpec(b"b")]
    return MdcSpec(frames, name=b"models/null.mdc\0left over", flags=3, num_skins=1, gap=b"gap", tail=b"end")


def no_shaders() -> MdcSpec:
    """Return `minimal` without a shader."""
    spec = minimal()
    spec.surfaces[0].shaders = []
    return spec


def unshown_base() -> MdcSpec:
    """Return `animated` whose first base frame no frame shows, and whose second compressed one two frames do."""
    spec = animated()
    for surface in spec.surfaces:
        surface.steps.append([(127, 127, 127, v) for v in range(len(surface.st))])
        surface.comp_frames = [3, 1, 1, -1, 2]
    return spec


def own_tables() -> MdcSpec:
    """Return `animated` whose surfaces have tables of their own."""
    spec = animated()
    spec.surfaces[1].base_frames, spec.surfaces[1].comp_frames = [1, 1, 1, 0, 0], [2, 1, -1, -1, 0]
    return spec


def odd_layout() -> MdcSpec:
    """Return a file with every lump where no writer of ours would put it, and every derived number wrong."""
    spec = replace(animated(), order=("surfaces", "tags", "frames", "tag_names"), gap=b"gap", tail=b"end", last_end=-12)
    spec.surfaces[0] = replace(spec.surfaces[0], order=LUMPS[::-1], gap=b"!", ident=-3)
    return spec


def empty_surface() -> MdcSpec:
    """Return `animated` with a surface in the middle that has neither vertices nor triangles."""
    spec = animated()
    spec.surfaces.insert(1, SurfaceSpec(b"nothing", [[], []], [[], [], []], [0, 0, 0, 1, 1], [-1, 0, 1, -1, 2], [], []))
    return spec


SPECS: tuple[Callable[[], MdcSpec], ...] = (
    minimal, animated, tags_only, nothing, no_shaders, unshown_base, own_tables, odd_layout, empty_surface,
)  # fmt: skip
