"""Small hand-made LWO files, packed by code of their own: see `samples`."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

Three = tuple[float, float, float]
SMOOTH, FLAT = 1.5620697, 0.0  # 89.5 degrees, none


def name(text: str) -> bytes:
    """Return a name, ended and padded."""
    raw = text.encode("latin-1") + b"\0"
    return raw + b"\0" * (len(raw) % 2)


def index(number: int, long: bool = False) -> bytes:
    """Return an index, of four bytes where it has to be, or is asked for."""
    return struct.pack(">I", 0xFF000000 | number) if long or number >= 0xFF00 else struct.pack(">H", number)


def chunk(ident: bytes, data: bytes) -> bytes:
    """Return a chunk, padded."""
    return ident + struct.pack(">I", len(data)) + data + b"\0" * (len(data) % 2)


def small(ident: bytes, data: bytes) -> bytes:
    """Return a chunk in a surface."""
    return ident + struct.pack(">H", len(data)) + data + b"\0" * (len(data) % 2)


def form(*chunks: bytes, kind: bytes = b"LWO2", tail: bytes = b"") -> bytes:
    """Return a file."""
    body = kind + b"".join(chunks)
    return b"FORM" + struct.pack(">I", len(body)) + body + tail


def tags(*names: str) -> bytes:
    """Return a list of names."""
    return chunk(b"TAGS", b"".join(map(name, names)))


def surf(title: str, smooth: float | None = SMOOTH, more: bytes = b"") -> bytes:
    """Return a surface."""
    data = name(title) + name("") + small(b"COLR", struct.pack(">3fH", 0.75, 0.5, 0.25, 0))
    return chunk(b"SURF", data + (b"" if smooth is None else small(b"SMAN", struct.pack(">f", smooth))) + more)


@dataclass
class LayerSpec:
    """A layer."""

    points: Sequence[Three]
    polygons: Sequence[Sequence[int]]
    surfaces: Sequence[int]  # of each polygon
    uvs: dict[str, dict[int, tuple[float, ...]]] = field(default_factory=dict)  # by point
    corners: dict[str, dict[tuple[int, int], tuple[float, ...]]] = field(default_factory=dict)  # by point and polygon
    parts: dict[int, int] = field(default_factory=dict)  # by polygon
    groups: dict[int, int] = field(default_factory=dict)
    title: str = ""
    kind: bytes = b"TXUV"
    long: bool = False

    def pack(self, number: int = 0, more: bytes = b"", flags: int = 0) -> bytes:
        """Return the chunks."""
        head = struct.pack(">2H3f", number, 0, 1.5, -2.0, 0.25) + name(self.title)
        out = chunk(b"LAYR", head) + chunk(b"PNTS", b"".join(struct.pack(">3f", *point) for point in self.points))
        box = [side(axis) for side in (min, max) for axis in zip(*self.points, strict=True)]
        out += chunk(b"BBOX", struct.pack(">6f", *box)) + more
        for title, rows in self.uvs.items():
            out += self.map(b"VMAP", title, [(index(p, self.long), values) for p, values in rows.items()])
        faces = [struct.pack(">H", flags | len(f)) + b"".join(index(p, self.long) for p in f) for f in self.polygons]
        out += chunk(b"POLS", b"FACE" + b"".join(faces))
        for kind, rows_of in ((b"SURF", dict(enumerate(self.surfaces))), (b"PART", self.parts), (b"SMGP", self.groups)):
            rows_data = b"".join(index(p, self.long) + index(tag, self.long) for p, tag in rows_of.items())
            out += chunk(b"PTAG", kind + rows_data) if rows_of else b""
        for title, corners in self.corners.items():
            found = [(index(p, self.long) + index(of, self.long), values) for (p, of), values in corners.items()]
            out += self.map(b"VMAD", title, found)
        return out

    def map(self, ident: bytes, title: str, rows: Sequence[tuple[bytes, tuple[float, ...]]]) -> bytes:
        """Return a map."""
        width = len(rows[0][1])
        kind = {2: b"TXUV", 3: b"RGB ", 4: b"RGBA"}.get(width, b"WGHT")
        data = b"".join(head + struct.pack(f">{width}f", *values) for head, values in rows)
        return chunk(ident, kind + struct.pack(">H", width) + name(title) + data)


# Clockwise from outside, with Y up.
CORNERS: list[Three] = [(-8, 1.25, -6.5), (8, 1.25, -6.25), (8.5, 1.25, 6), (-8.5, 1.25, 7), (0, 9.125, 0.5)]
FACES = [(0, 1, 2), (0, 2, 3), (0, 4, 1), (1, 4, 2), (2, 4, 3), (3, 4, 0)]
UVS: dict[int, tuple[float, ...]] = {0: (0, 0), 1: (1, 0.0625), 2: (1.25, 1), 3: (0.1, 0.9), 4: (0.5, 0.5)}
CLIP = chunk(b"CLIP", struct.pack(">I", 1) + small(b"STIL", name("textures/stone.tga")))


def pyramid() -> bytes:
    """Return a pyramid with hard edges and a seam, an image, and chunks that nobody knows."""
    layer = LayerSpec(CORNERS, FACES, [0] * 6, {"UV": UVS}, {"UV": {(3, 4): (2, 3)}})
    odd = chunk(b"XYZW", b"odd")
    return form(
        tags("textures\\stone.tga"),
        layer.pack(),
        CLIP,
        odd,
        surf("textures\\stone.tga", 0.7, small(b"XYZ ", b"odd")),
        tail=b"behind the form",
    )


def smooth() -> bytes:
    """Return one that is smooth but for the smoothing group of its base, with colours and a second set of UVs."""
    others: dict[int, tuple[float, ...]] = {i: (i / 8, 1 - i / 8) for i in range(5)}
    colors: dict[int, tuple[float, ...]] = {0: (1, 0.5, 0.25, 1), 4: (0, 0, 1, 0.5)}
    layer = LayerSpec(CORNERS, FACES, [1] * 6, {"Light": others, "Colour": colors, "UV": UVS})
    layer.corners = {"Colour": {(1, 0): (0.125, 0.5, 0.75, 1)}}
    layer.groups = {0: 3, 1: 3}
    layer.title = "one"
    return form(tags("unused", "textures/smooth"), layer.pack(), surf("textures/smooth", 3.1415925))


def several() -> bytes:
    """Return polygons of all sorts: parts, two materials, four corners and more, a dent; curves; a second layer."""
    points = [
        *CORNERS, (20, 0, 0), (20, 0, 8), (28, 0, 8), (28, 0, 0), (23, 0, 5), (24, 6, 4), (0, -5, 0), (3, -5, 1),
        (9, 9, 9),
    ]  # fmt: skip
    polygons = [(0, 1, 2, 3), *FACES[2:], (5, 6, 7, 9), (5, 9, 7, 8), (5, 6, 7, 10, 9), (11, 12), (4,)]
    layer = LayerSpec(points, polygons, [0, 0, 0, 4, 4, 0, 1, 0, 0, 0], {"UV": {**UVS, 5: (0, 0), 7: (1, 1)}})
    layer.parts = {0: 2, 1: 2, 2: 2, 3: 2, 4: 2, 5: 3, 6: 3}
    curve = chunk(b"POLS", b"CURV" + struct.pack(">4H", 3, 0, 1, 2)) + chunk(
        b"PTAG", b"SURF" + struct.pack(">2H", 0, 1)
    )
    other = LayerSpec(CORNERS, FACES, [0] * 6, title="far")
    return form(
        tags("textures/wood", "textures/iron", "left part", "right"), surf("textures/iron", None), layer.pack(), curve,
        other.pack(1), tags("textures/b\xe9e"), surf("textures/wood", SMOOTH), surf("textures/wood", FLAT),
        surf("textures/b\xe9e", FLAT),
    )  # fmt: skip


def long_indices() -> bytes:
    """Return a file all of whose indices have four bytes."""
    layer = LayerSpec(CORNERS, FACES, [0] * 6, {"UV": UVS}, {"UV": {(3, 4): (2, 3)}}, long=True)
    return form(tags("long"), layer.pack(flags=0xFC00), surf("long", None))


def old_object() -> bytes:
    """Return an LWOB, one of whose polygons has details."""
    pols = [struct.pack(">5h", 3, *face, 1 + number % 2) for number, face in enumerate(FACES)]
    pols[1] = struct.pack(">4h2h", 3, *FACES[1], -2, 1)
    points = chunk(b"PNTS", b"".join(struct.pack(">3f", *point) for point in CORNERS))
    flags = small(b"COLR", b"\xc8\x64\x32\0") + small(b"FLAG", b"\0\4")
    return form(
        points, chunk(b"SRFS", name("first") + name("second one")), chunk(b"POLS", b"".join(pols)),
        chunk(b"SURF", name("first") + flags), chunk(b"SURF", name("second one") + small(b"FLAG", b"\0\0")),
        kind=b"LWOB",
    )  # fmt: skip


def several_sets(detailed: Sequence[int] = range(9)) -> bytes:
    """Return a pyramid of two surfaces with three sets of texture coordinates, and a quad that is drawn by a fourth.

    One of the sets has rows of the `detailed` points alone.
    """
    points = [*CORNERS, (20, 0, 0), (20, 0, 8), (28, 0, 8), (28, 0, 0)]
    light: dict[int, tuple[float, ...]] = {i: (i / 8, 1 - i / 16) for i in range(9)}
    detail: dict[int, tuple[float, ...]] = {i: (4 * i, i / 4) for i in detailed}
    surfaces = [0, 0, 0, 1, 1, 1, 1]
    layer = LayerSpec(points, [*FACES, (5, 6, 7, 8)], surfaces, {"Light": light, "Detail": detail, "UV": UVS})
    layer.uvs["Own"] = {i: (i / 16, i / 32) for i in range(5, 9)}
    layer.corners = {"Light": {(0, 0): (0.75, 0.75), (7, 6): (3, 3)}, "UV": {(3, 4): (2, 3), (0, 0): (0, 0)}}
    layer.corners["Own"] = {(7, 6): (7 / 16, 7 / 32)}
    names = ("textures/stone", "textures/wood")
    return form(tags(*names), layer.pack(), *(surf(title, 0.7) for title in names))


def many_sets(count: int) -> bytes:
    """Return a pyramid with so many sets of texture coordinates, of which the last is drawn."""
    layer = LayerSpec(CORNERS, FACES, [0] * 6)
    for n in range(1, count + 1):
        layer.uvs[f"UVChannel_{n}"] = {i: (u + n, v) for i, (u, v) in UVS.items()}
    return form(tags("many"), layer.pack(), surf("many"))


def nothing() -> bytes:
    """Return a file without polygons."""
    return form(chunk(b"LAYR", bytes(18)))


FILES: tuple[Callable[[], bytes], ...] = (
    pyramid, smooth, several, long_indices, several_sets, old_object, nothing,
)  # fmt: skip
