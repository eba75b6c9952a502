"""Small MDL files, packed field by field with `struct`: see `samples`."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from tests.samples_md2 import CUBE_CORNERS, CUBE_FACES, INFINITY, NAN, STRIP, Xyzn, _wave

Three = tuple[int, int, int]
Floats = tuple[float, float, float]
Four = tuple[int, int, int, int]


@dataclass
class PoseSpec:
    """What a frame shows, or one of a group's frames."""

    name: bytes
    vertices: list[Xyzn]
    bounds: tuple[Four, Four] | None = None  # None: what holds the vertices, and 0

    def pack(self) -> bytes:
        """Return the pose's bytes."""
        low, high = self.bounds or extents([self])
        head = struct.pack("<4B4B16s", *low, *high, self.name)
        return head + b"".join(struct.pack("<4B", *v) for v in self.vertices)


@dataclass
class GroupSpec:
    """Frames that a game plays by itself."""

    poses: list[PoseSpec]
    times: list[float]
    kind: int = 1
    bounds: tuple[Four, Four] | None = None

    def pack(self) -> bytes:
        """Return the group's bytes."""
        low, high = self.bounds or extents(self.poses)
        head = struct.pack("<ii4B4B", self.kind, len(self.poses), *low, *high)
        return head + struct.pack(f"<{len(self.times)}f", *self.times) + b"".join(p.pack() for p in self.poses)


def extents(poses: Sequence[PoseSpec]) -> tuple[Four, Four]:
    """Return the lowest and highest numbers on each axis, with 0 behind them."""
    axes = list(zip(*((x, y, z) for pose in poses for x, y, z, _ in pose.vertices), strict=True)) or [(0,)] * 3
    low, high = ((side(axes[0]), side(axes[1]), side(axes[2]), 0) for side in (min, max))
    return low, high


@dataclass
class SkinSpec:
    """A skin's pictures; without times it is a lone one."""

    pictures: list[bytes]
    times: list[float] = field(default_factory=list)
    kind: int = 0

    def pack(self) -> bytes:
        """Return the skin's bytes."""
        if not self.kind:
            return struct.pack("<i", 0) + self.pictures[0]
        head = struct.pack(f"<ii{len(self.times)}f", self.kind, len(self.pictures), *self.times)
        return head + b"".join(self.pictures)


@dataclass
class MdlSpec:
    """A whole file."""

    frames: list[PoseSpec | GroupSpec]
    triangles: list[tuple[int, Three]]  # whether they face the front, and vertices, clockwise as files have them
    st: list[Three]  # whether on the seam, and texels
    skins: list[SkinSpec]
    size: tuple[int, int] = (16, 8)
    scale: Floats = (0.25, 0.375, 0.5)
    origin: Floats = (-20.5, -30.25, -10.125)
    radius: float = 81.5
    eye: Floats = (1.25, -2.5, 22.75)
    sync: int = 0
    flags: int = 0
    area: float = 7.625
    tail: bytes = b""

    def pack(self) -> bytes:
        """Return the file."""
        counts = (len(self.skins), *self.size, len(self.st), len(self.triangles), len(self.frames))
        header = struct.pack("<4si3f3ff3f", b"IDPO", 6, *self.scale, *self.origin, self.radius, *self.eye)
        header += struct.pack("<6i2if", *counts, self.sync, self.flags, self.area)
        st = b"".join(struct.pack("<3i", *each) for each in self.st)
        triangles = b"".join(struct.pack("<4i", front, *corners) for front, corners in self.triangles)
        skins = b"".join(skin.pack() for skin in self.skins)
        kinds = (bytes(4 * isinstance(frame, PoseSpec)) for frame in self.frames)  # a pose alone is of kind 0
        frames = b"".join(kind + frame.pack() for kind, frame in zip(kinds, self.frames, strict=True))
        return header + skins + st + triangles + frames + self.tail


def picture(first: int, size: tuple[int, int] = (16, 8)) -> bytes:
    """Return a picture of rising numbers."""
    return bytes((first + 3 * i) % 256 for i in range(size[0] * size[1]))


def minimal() -> MdlSpec:
    """Return a triangle with one frame; no two numbers are equal."""
    vertices = [(7, 131, 250, 5), (17, 90, 33, 77), (201, 64, 120, 161)]
    st = [(0, 3, 7), (0, 15, 1), (0, 9, 5)]
    return MdlSpec(
        [PoseSpec(b"stand01", vertices)], [(1, (2, 0, 1))], st, [SkinSpec([picture(1)])],
        scale=(0.5, 0.125, 0.0625), origin=(-3.5, 11.25, 97.75),
    )  # fmt: skip


STRIP_TRIANGLES: Sequence[Three] = ((0, 1, 2), (2, 3, 0), (5, 0, 3), (3, 4, 5))
STRIP_ST: Sequence[Three] = ((0, 15, 1), (0, 14, 7), (0, 1, 2), (0, 0, 6), (0, 8, 0), (0, 7, 5))


def animated() -> MdlSpec:
    """Return five frames of two animations, two skins, garbage behind names' NULs."""
    names = (b"stand01", b"stand02", b"stand03\0left", b"run1", b"run2\0over")
    poses: list[PoseSpec | GroupSpec] = [PoseSpec(name, _wave(STRIP, f)) for f, name in enumerate(names)]
    skins = [SkinSpec([picture(2)]), SkinSpec([picture(101)])]
    return MdlSpec(poses, [(1, corners) for corners in STRIP_TRIANGLES], list(STRIP_ST), skins, flags=8, sync=1)


def seams() -> MdlSpec:
    """Return a cube of 8 vertices in a skin of a front and a back half; it grows in its second frame."""
    poses: list[PoseSpec | GroupSpec] = []
    for name, size in ((b"small", 200), (b"large", 255)):
        poses.append(PoseSpec(name, [(size * x, size * y, size * z, n) for x, y, z, n in CUBE_CORNERS]))
    triangles = []
    for i, (a, b, c, d) in enumerate(CUBE_FACES):
        triangles += [(int(i % 3 != 1), (a, c, b)), (int(i % 3 != 1), (a, d, c))]
    st = [(32 * (i % 4 > 0), 1 + 3 * (i % 4), 2 * (i // 4) + 3 * (i % 2)) for i in range(8)]
    return MdlSpec(poses, triangles, st, [SkinSpec([picture(7, (32, 8))])], size=(32, 8), scale=(0.1, 0.12, 0.14))


def odd_seams() -> MdlSpec:
    """Return `seams` with a skin of odd width, and numbers for front and seam that are none."""
    spec = seams()
    triangles = [(-1637888 if front else 0, corners) for front, corners in spec.triangles]
    st = [(7 * seam, s, t) for seam, s, t in spec.st]
    return replace(spec, triangles=triangles, st=st, size=(31, 8), skins=[SkinSpec([picture(7, (31, 8))])])


def groups() -> MdlSpec:
    """Return frames alone and in groups, skins alone and in groups, with times that repeat, fall and are none."""
    poses = [PoseSpec(b"%s%d" % (name, f), _wave(STRIP, f)) for name in (b"burn", b"glow") for f in range(3)]
    frames: list[PoseSpec | GroupSpec] = [
        poses[0], GroupSpec(poses[1:3], [0.1, 0.1], 7), GroupSpec(poses[3:4], [-0.5], -1, ((9, 8, 7, 6), (5, 4, 3, 2))),
        *poses[4:],
    ]  # fmt: skip
    skins = [
        SkinSpec([picture(5), picture(50)], [0.25, NAN], 1), SkinSpec([picture(9)]), SkinSpec([picture(1)], [0.5], 3),
    ]  # fmt: skip
    return replace(animated(), frames=frames, skins=skins)


def torch() -> MdlSpec:
    """Return what burns: one group of three frames and nothing else."""
    poses = [PoseSpec(b"flame%d" % (f + 1), _wave(STRIP, f)) for f in range(3)]
    return replace(animated(), frames=[GroupSpec(poses, [0.1, 0.2, 0.30000001])], skins=[SkinSpec([picture(0)])])


def unused() -> MdlSpec:
    """Return vertices that no triangle uses, before, between and behind the others."""
    spec = animated()
    for frame in spec.frames:
        assert isinstance(frame, PoseSpec)
        first, second, *further = frame.vertices
        frame.vertices = [(9, 8, 7, 6), first, (99, 98, 97, 96), second, *further, (0, 0, 0, 0)]
    moved = (1, 3, 4, 5, 6, 7)
    spec.triangles = [(front, (moved[a], moved[b], moved[c])) for front, (a, b, c) in spec.triangles]
    a, b, *others = spec.st
    spec.st = [(32, 7, 7), a, (0, 60, 4), b, *others, (0, -5, 40)]
    return spec


def degenerate() -> MdlSpec:
    """Return triangles that use a vertex twice or three times."""
    spec = animated()
    flat: list[tuple[int, Three]] = [(1, (3, 3, 4)), (0, (5, 5, 5)), (1, (0, 1, 0))]
    spec.triangles = [flat[0], *spec.triangles[:2], flat[1], *spec.triangles[2:], flat[2]]
    return spec


def duplicates() -> MdlSpec:
    """Return triangles that are there twice, once with another first corner, once turned over."""
    spec = animated()
    return replace(spec, triangles=[*spec.triangles, (1, (0, 1, 2)), (1, (3, 0, 2)), (1, (4, 3, 5))])


def beyond_skin() -> MdlSpec:
    """Return texels outside the skin, to the ends of what single precision tells apart."""
    st = [(0, -1, -32768), (32, 8388607, 400), (0, 64, 32), (0, -300, -2), (0, 63, 31), (0, 128, 5)]
    return replace(animated(), st=st)


def far_texels() -> MdlSpec:
    """Return texels that single precision can't tell from their neighbours."""
    st = [(0, -2147483648, 2147483647), (32, 2147483647, 99999999), *STRIP_ST[2:]]
    return replace(animated(), st=st)


def no_size() -> MdlSpec:
    """Return `animated` with a skin of no size."""
    return replace(animated(), size=(0, 8), skins=[SkinSpec([b""]), SkinSpec([b"", b""], [0.5, 1.0], 1)])


def no_skins() -> MdlSpec:
    """Return `animated` without a skin."""
    return replace(animated(), skins=[])


def odd_names() -> MdlSpec:
    """Return names without a NUL, empty, equal, in UTF-8 and Latin-1, and cut inside a character."""
    names = (b"0123456789abcdef", b"", b"l\xe4uft01\0\xff", b"", "ü".encode() * 7 + b"x" + "ü".encode()[:1])
    frames: list[PoseSpec | GroupSpec] = [PoseSpec(name, _wave(STRIP, f)) for f, name in enumerate(names)]
    return replace(animated(), frames=frames)


def odd_bounds() -> MdlSpec:
    """Return bounds that hold less or more than the vertices, with something in their fourth bytes."""
    spec = animated()
    for f, frame in enumerate(spec.frames):
        frame.bounds = ((f, 1, 2, 3), (200, 201, 202, 4 + f))
    return spec


def tailed() -> MdlSpec:
    """Return `animated` with what an editor left behind its last frame."""
    return replace(animated(), tail=b"IDPO and more, from an editor")


def no_vertices() -> MdlSpec:
    """Return two frames of nothing."""
    frames: list[PoseSpec | GroupSpec] = [PoseSpec(b"nothing%d" % f, []) for f in range(2)]
    return MdlSpec(frames, [], [], [SkinSpec([picture(3)])])


def no_triangles() -> MdlSpec:
    """Return `animated` without triangles: vertices alone."""
    return replace(animated(), triangles=[])


def flat() -> MdlSpec:
    """Return a model without depth: the box has no size along an axis."""
    return replace(animated(), scale=(0.25, 0.0, 0.5))


def mirrored() -> MdlSpec:
    """Return a box that runs backwards along two axes."""
    return replace(animated(), scale=(-0.25, 0.375, -0.5))


def odd_numbers() -> MdlSpec:
    """Return a header whose numbers are none or far too large, and normals beyond the table."""
    spec = animated()
    for frame in spec.frames:
        assert isinstance(frame, PoseSpec)
        frame.vertices = [(*v[:3], 162 + 17 * i) for i, v in enumerate(frame.vertices)]
    odd = replace(spec, scale=(NAN, 0.5, INFINITY), origin=(-0.0, NAN, 1e37), radius=NAN, eye=(NAN, INFINITY, -0.0))
    return replace(odd, flags=-(2**31), sync=2**31 - 1, area=-INFINITY)


SPECS: tuple[Callable[[], MdlSpec], ...] = (
    minimal, animated, seams, odd_seams, groups, torch, unused, degenerate, duplicates, beyond_skin, far_texels,
    no_size, no_skins, odd_names, odd_bounds, tailed, no_vertices, no_triangles, flat, mirrored, odd_numbers,
)  # fmt: skip
