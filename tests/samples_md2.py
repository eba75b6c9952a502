"""Small MD2 files, packed field by field with `struct`: see `samples`."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

Xyzn = tuple[int, int, int, int]  # position in steps of the frame's box, normal
Three = tuple[int, int, int]
Floats = tuple[float, float, float]
Run = tuple[int, list[tuple[float, float, int]]]  # OpenGL commands: a count, and s, t, vertex of each

NAN, INFINITY = float("nan"), float("inf")
CRATE_SKIN = b"models/crate/crate.pcx"


@dataclass
class FrameSpec:
    """One frame as it will stand in the file."""

    name: bytes
    vertices: list[Xyzn]
    scale: Floats = (0.25, 0.375, 0.5)
    translate: Floats = (-20.5, -30.25, -10.125)
    padding: bytes = b""

    def pack(self) -> bytes:
        """Return the frame's bytes."""
        head = struct.pack("<6f16s", *self.scale, *self.translate, self.name)
        return head + b"".join(struct.pack("<4B", *v) for v in self.vertices) + self.padding


@dataclass
class Md2Spec:
    """A whole file."""

    frames: list[FrameSpec]
    triangles: list[tuple[Three, Three]]  # vertices and texture coordinates, clockwise as files have them
    st: list[tuple[int, int]]
    skins: list[bytes] = field(default_factory=lambda: [b"models/test/skin.pcx"])
    size: tuple[int, int] = (64, 32)
    runs: list[Run] | None = None  # None: a strip for each triangle
    end: bytes = bytes(4)  # of the commands
    order: Sequence[str] = ("skins", "st", "triangles", "frames", "commands")
    gap: bytes = b""  # before each lump
    tail: bytes = b""
    eof: int = 0  # added to the true size
    header_size: int = 68
    places: dict[str, int] = field(default_factory=dict)  # offsets of empty lumps

    def pack(self) -> bytes:
        """Return the file."""
        lumps = {
            "skins": b"".join(struct.pack("64s", name) for name in self.skins),
            "st": b"".join(struct.pack("<hh", *st) for st in self.st),
            "triangles": b"".join(struct.pack("<6H", *xyz, *st) for xyz, st in self.triangles),
            "frames": b"".join(frame.pack() for frame in self.frames),
            "commands": self.commands(),
        }
        body, offsets = b"", {}
        for name in self.order:
            body += self.gap
            offsets[name] = self.header_size + len(body)
            body += lumps[name]
        body += self.tail
        offsets |= self.places
        counts = (len(self.skins), len(self.frames[0].vertices), len(self.st), len(self.triangles))
        numbers = (len(self.frames[0].pack()), *counts, len(lumps["commands"]) // 4, len(self.frames))
        at = [offsets[name] for name in ("skins", "st", "triangles", "frames", "commands")]
        end = self.header_size + len(body) + self.eof
        header = struct.pack("<4s16i", b"IDP2", 8, *self.size, *numbers, *at, end)
        return header[: self.header_size] + body

    def commands(self) -> bytes:
        """Return the OpenGL commands, which name each texel at its middle."""
        runs = self.runs
        if runs is None:
            runs = [(3, [(*self.middle(s), v) for v, s in zip(*t, strict=True)]) for t in self.triangles]
        packed = [struct.pack("<i", n) + b"".join(struct.pack("<ffi", *v) for v in run) for n, run in runs]
        return b"".join(packed) + self.end

    def middle(self, number: int) -> tuple[float, float]:
        """Return the coordinates at which commands name a texel."""
        (s, t), (width, height) = self.st[number] if number < len(self.st) else (0, 0), self.size
        return (s + 0.5) / max(width, 1), (t + 0.5) / max(height, 1)

    def run(self, count: int, *corners: tuple[int, int]) -> Run:
        """Return commands for corners: a vertex and the texture coordinate there."""
        return count, [(*self.middle(st), vertex) for vertex, st in corners]


def minimal() -> Md2Spec:
    """Return a triangle with one frame; no two numbers are equal."""
    vertices = [(7, 131, 250, 5), (17, 90, 33, 77), (201, 64, 120, 161)]
    frame = FrameSpec(b"stand01", vertices, (0.5, 0.125, 0.0625), (-3.5, 11.25, 97.75))
    triangle = (2, 0, 1), (1, 2, 0)
    skin = b"models/minimal/skin.pcx"
    return Md2Spec([frame], [triangle], [(3, 29), (41, 13), (22, 8)], [skin], (48, 36))


STRIP: Sequence[Xyzn] = (
    (100, 5, 10, 11), (150, 9, 20, 47), (160, 80, 30, 77), (104, 82, 40, 130), (50, 84, 41, 90), (48, 3, 51, 151),
)  # fmt: skip
STRIP_TRIANGLES: Sequence[tuple[Three, Three]] = (
    ((0, 1, 2), (4, 0, 1)), ((2, 3, 0), (1, 5, 4)), ((5, 0, 3), (2, 4, 5)), ((3, 4, 5), (5, 3, 2)),
)  # fmt: skip
STRIP_ST: Sequence[tuple[int, int]] = ((60, 4), (57, 29), (3, 6), (1, 27), (31, 2), (30, 25))


def _wave(vertices: Sequence[Xyzn], frame: int) -> list[Xyzn]:
    return [(x + 4 * frame, y + frame * i, z + 3 * frame * frame, (n + frame) % 162) for i, (x, y, z, n) in
            enumerate(vertices)]  # fmt: skip


def animated() -> Md2Spec:
    """Return five frames of two animations, two skins, a box of its own for each frame, garbage behind names' NULs."""
    names = (b"stand01", b"stand02", b"stand03\0left", b"run1", b"run2\0over")
    frames = [
        FrameSpec(name, _wave(STRIP, f), (0.25 + f / 16, 0.375, 0.5 - f / 32), (-20.5 + f, -30.25, -10.125 - f))
        for f, name in enumerate(names)
    ]
    skins = [b"models/animated/body.pcx\0left over", b"models/animated/other.tga"]
    spec = Md2Spec(frames, list(STRIP_TRIANGLES), list(STRIP_ST), skins)
    fan = spec.run(-5, (0, 4), (1, 0), (2, 1), (3, 5), (5, 2))
    spec.runs = [fan, spec.run(3, (3, 5), (4, 3), (5, 2))]
    return spec


# A corner of the cube: its side on each axis, and the closest of the 162 directions.
CUBE_CORNERS = (
    (0, 0, 0, 159), (1, 0, 0, 99), (1, 1, 0, 73), (0, 1, 0, 156), (0, 0, 1, 125), (1, 0, 1, 138), (1, 1, 1, 45),
    (0, 1, 1, 17),
)  # fmt: skip
CUBE_FACES = ((3, 2, 1, 0), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))


def seams() -> Md2Spec:
    """Return a cube of 8 vertices with a picture on each face; it grows in its second frame."""
    vertices = [(255 * x, 255 * y, 255 * z, n) for x, y, z, n in CUBE_CORNERS]
    sizes = ((10.0, 12.0, 14.0), (11.0, 12.5, 16.0))
    frames = [
        FrameSpec(b"small" if f == 0 else b"large", vertices, *_box(size)) for f, size in enumerate(sizes)
    ]  # fmt: skip
    st, triangles = [], []
    for i, (a, b, c, d) in enumerate(CUBE_FACES):
        left, top = 20 * (i % 3), 16 * (i // 3)
        st += [(left, top + 15), (left + 19, top + 15), (left + 19, top), (left, top)]
        p, q, r, s = range(4 * i, 4 * i + 4)
        triangles += [((a, c, b), (p, r, q)), ((a, d, c), (p, s, r))]
    return Md2Spec(frames, triangles, st, [CRATE_SKIN], (60, 32))


def _box(size: Floats) -> tuple[Floats, Floats]:
    x, y, z = size
    return (x / 255, y / 255, z / 255), (-x / 2, -y / 2, -z / 2)


def unused() -> Md2Spec:
    """Return vertices and texture coordinates that no triangle uses, before, between and behind the others."""
    spec = animated()
    for frame in spec.frames:
        first, second, *further = frame.vertices
        frame.vertices = [(9, 8, 7, 6), first, (99, 98, 97, 96), second, *further, (0, 0, 0, 0)]
    moved = (1, 3, 4, 5, 6, 7)
    spec.triangles = [(_renamed(xyz, moved), _renamed(st, moved)) for xyz, st in spec.triangles]
    a, b, *others = spec.st
    spec.st = [(7, 7), a, (60, 4), b, *others, (-5, 40)]
    spec.runs = None
    return spec


def _renamed(corners: Three, names: Sequence[int]) -> Three:
    a, b, c = corners
    return names[a], names[b], names[c]


def degenerate() -> Md2Spec:
    """Return triangles that use a vertex twice or three times, with texture coordinates that no other has."""
    spec = animated()
    spec.st = [*STRIP_ST, (11, 12), (13, 14), (15, 16)]
    flat: list[tuple[Three, Three]] = [((3, 3, 4), (6, 7, 8)), ((5, 5, 5), (8, 8, 7)), ((0, 1, 0), (4, 0, 4))]
    spec.triangles = [flat[0], *STRIP_TRIANGLES[:2], flat[1], *STRIP_TRIANGLES[2:], flat[2]]
    spec.runs = None
    return spec


def duplicates() -> Md2Spec:
    """Return a triangle again, turned, from behind, and with other texture coordinates: validate() deletes these."""
    spec = animated()
    again: list[tuple[Three, Three]] = [
        ((0, 1, 2), (4, 0, 1)), ((1, 2, 0), (0, 1, 4)), ((2, 1, 0), (1, 0, 4)), ((0, 1, 2), (3, 2, 5)),
    ]  # fmt: skip
    spec.triangles = [*STRIP_TRIANGLES, *again]
    spec.runs = None
    return spec


def outside() -> Md2Spec:
    """Return texels outside the skin, to the ends of their range."""
    spec = animated()
    spec.st = [(-1, -32768), (32767, 400), (64, 32), (-300, -2), (63, 31), (128, 5)]
    spec.runs = None
    return spec


def no_size() -> Md2Spec:
    """Return `animated` with a skin of no size."""
    return replace(animated(), size=(0, 0), runs=None)


def no_skins() -> Md2Spec:
    """Return `animated` without a skin, and a wrong place for it."""
    return replace(animated(), skins=[], places={"skins": 12345})


def many_skins() -> Md2Spec:
    """Return `animated` with more skins than a game takes, some of one name."""
    return replace(animated(), skins=[b"models/many/skin%d.pcx" % (i % 33) for i in range(40)])


def odd_names() -> Md2Spec:
    """Return names without a NUL, empty, equal, in UTF-8 and Latin-1, and cut inside a character."""
    names = (b"0123456789abcdef", b"", b"l\xe4uft01\0\xff", b"", "ü".encode() * 7 + b"x" + "ü".encode()[:1])
    frames = [replace(frame, name=name) for frame, name in zip(animated().frames, names, strict=True)]
    skins = [b"players/male/" + b"y" * 51, "models/Körper_ß.pcx".encode(), b"models/gr\xfcn.tga\0\xfe", b"", b""]
    return replace(animated(), frames=frames, skins=skins)


def repeated_names() -> Md2Spec:
    """Return frames of one name, which keys can't have."""
    names = (b"run1", b"run1\0again", b"run1", b"run1.001", b"run2")
    frames = [replace(frame, name=name) for frame, name in zip(animated().frames, names, strict=True)]
    return replace(animated(), frames=frames)


def odd_layout() -> Md2Spec:
    """Return a file with every lump where no writer of ours would put it, and a wrong end."""
    order = ("commands", "frames", "triangles", "skins", "st")
    return replace(animated(), order=order, gap=b"gap", tail=b"the end", eof=9)


def short_header() -> Md2Spec:
    """Return `minimal` without the header's last field: the skins lie there."""
    return replace(minimal(), header_size=64)


def padded_frames() -> Md2Spec:
    """Return frames with bytes behind their vertices, other ones in each."""
    spec = animated()
    spec.frames = [replace(frame, padding=b"pad%03d!" % f) for f, frame in enumerate(spec.frames)]
    return spec


def no_commands() -> Md2Spec:
    """Return `animated` without OpenGL commands: Quake II would not show it."""
    return replace(animated(), runs=[], end=b"", places={"commands": 0})


def damaged_commands() -> Md2Spec:
    """Return `animated` with commands that name vertices that are not there, and run past their end."""
    spec = animated()
    spec.runs = [(3, [(0.5, 0.25, 99), (0.125, NAN, 1), (0.75, 0.5, -4)])]
    spec.end = struct.pack("<iff", 1000, 0.5, 0.5)
    return spec


def fine_commands() -> Md2Spec:
    """Return `animated` with commands that name texels at their corners, some a quarter beside them."""
    spec = animated()
    width, height = spec.size
    places = [(s / width, t / height) for s, t in spec.st]
    places[4] = ((spec.st[4][0] + 0.25) / width, spec.st[4][1] / height)
    spec.runs = [(3, [(*places[s], v) for v, s in zip(*t, strict=True)]) for t in spec.triangles]
    return spec


def beyond() -> Md2Spec:
    """Return `animated` with triangles that name texture coordinates beyond the last."""
    spec = animated()
    spec.triangles = [*STRIP_TRIANGLES[:2], ((5, 0, 3), (2, 6, 5)), ((3, 4, 5), (65535, 300, 40000))]
    spec.runs = None
    return spec


def no_vertices() -> Md2Spec:
    """Return two frames of nothing."""
    frames = [FrameSpec(b"nothing%d" % f, [], (0.5, f, 0.25)) for f in range(2)]
    return Md2Spec(frames, [], [], end=b"")


def no_triangles() -> Md2Spec:
    """Return `animated` without triangles: vertices alone."""
    return replace(animated(), triangles=[], runs=[])


def flat() -> Md2Spec:
    """Return a model without depth: the box has no size along an axis, in one frame along all."""
    spec = animated()
    for i, frame in enumerate(spec.frames):
        frame.vertices = [(x, 0 if i % 2 else y, z, n) for x, y, z, n in frame.vertices]
        frame.scale = (frame.scale[0], 0.0, frame.scale[2]) if i != 3 else (0.0, 0.0, -0.0)
    return spec


def mirrored() -> Md2Spec:
    """Return boxes that run backwards along an axis or two."""
    spec = animated()
    for frame, signs in zip(spec.frames, ((-1, 1, 1), (1, -1, -1), (1, 1, 1), (-1, -1, -1), (1, 1, -1)), strict=True):
        x, y, z = (s * sign for s, sign in zip(frame.scale, signs, strict=True))
        frame.scale = (x, y, z)
    return spec


def odd_numbers() -> Md2Spec:
    """Return boxes whose numbers are none, far too large or tiny, and normals beyond the table."""
    spec = animated()
    odd: list[tuple[Floats, Floats]] = [
        ((NAN, 0.5, INFINITY), (-0.0, NAN, 1.0)), ((1e-42, 1e30, 0.5), (1e-38, -1e37, -INFINITY)),
        ((3e38, 3e38, -3e38), (3e38, 3e38, -3e38)), ((-0.0, 1e-20, 2e-8), (5.0, 4096.5, 1e6)),
    ]  # fmt: skip
    for frame, (scale, translate) in zip(spec.frames, odd, strict=False):
        frame.scale, frame.translate = scale, translate
        frame.vertices = [(*v[:3], 162 + 17 * i) for i, v in enumerate(frame.vertices)]
    return spec


SPECS: tuple[Callable[[], Md2Spec], ...] = (
    minimal, animated, seams, unused, degenerate, duplicates, outside, no_size, no_skins, many_skins, odd_names,
    repeated_names, odd_layout, short_header, padded_frames, no_commands, damaged_commands, fine_commands, beyond,
    no_vertices, no_triangles, flat, mirrored, odd_numbers,
)  # fmt: skip
