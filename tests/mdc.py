"""MDC, a format that the project does not have: its layout, declared, and its meaning, on a source of deltas.

Frames are base frames, coded as MD3's, or a base frame and small steps away from it. What there is here is what a codec
of it would be, as far as unchanged frames go: that no room asks for codes of its own is what it proves.
"""

from __future__ import annotations

import struct
from dataclasses import field, make_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from io_idtech_models.formats.common import reader, writer
from io_idtech_models.formats.common.chunks import Chain, File, Lump
from io_idtech_models.formats.common.hints import as_bytes, layout_of, records_of
from io_idtech_models.formats.common.normals import decode_latlong, encode_latlong
from io_idtech_models.model.edits.normals import Motion, NormalCoding, filled_frames, settle_normals, view_source
from io_idtech_models.model.source import DELTA_NORMAL, DeltaSource, SurfaceSource
from io_idtech_models.model.vertex import ModelSource, Surface, VertexModel

FRAME = np.dtype([("bounds", "<f4", (2, 3)), ("origin", "<f4", 3), ("radius", "<f4"), ("name", "S16")])
NAME, INDEX, SHORT = np.dtype("S64"), np.dtype("<i4"), np.dtype("<i2")
STEP, MIDDLE = np.float32(0.05), 127  # of deltas
SCALE, DELTA_SCALE = np.full((1, 3), 1 / 64, np.float32), np.full((1, 3), STEP, np.float32)
TABLES = ("bases", "deltas", "base_frames", "delta_frames")


def structs(names: str, *chains: str, inner: tuple[str, ...] = (), whole: bool = False) -> Any:
    """Return a dataclass of a header and what is named; of a whole file with its layout and its parts' sources."""
    fields: list[Any] = ["header", *names.split(), *chains]
    extra: list[Any] = [("layout", dict, field(default_factory=dict))] * whole
    sources: list[Any] = [(f"source_{name}", list, field(default_factory=list)) for name in (*chains, *inner) if whole]
    return make_dataclass("Structs", [*fields, *extra, *sources], eq=False)


def record(*fields: Any) -> np.dtype[Any]:
    """Return a record; what has no type is an int32."""
    return np.dtype([(f, "<i4") if isinstance(f, str) else f for f in fields])


SHADER = record(("name", "S64"), "index")
MDC_SURFACE = Chain(
    structs("triangles shaders st bases deltas base_frames delta_frames"),
    record(
        "ident", ("name", "S64"), "flags", "num_deltas", "num_bases", "num_shaders", "num_verts", "num_triangles",
        "ofs_triangles", "ofs_shaders", "ofs_st", "ofs_bases", "ofs_deltas", "ofs_base_frames", "ofs_delta_frames",
        "ofs_end",
    ),
    (
        Lump("triangles", INDEX, ("num_triangles", 3)),
        Lump("shaders", SHADER, ("num_shaders",)),
        Lump("st", np.dtype("<f4"), ("num_verts", 2)),
        Lump("bases", SHORT, ("num_bases", "num_verts", 4), "base frames"),
        Lump("deltas", np.dtype("u1"), ("num_deltas", "num_verts", 4)),
        Lump("base_frames", SHORT, ("file.num_frames",)),
        Lump("delta_frames", SHORT, ("file.num_frames",)),
    ),
    "surfaces",
    "surface",
)  # fmt: skip
MDC = File(
    structs("frames tag_names tags", "surfaces", whole=True),
    record(
        ("ident", "S4"), "version", ("name", "S64"), "flags", "num_frames", "num_tags", "num_surfaces", "num_skins",
        "ofs_frames", "ofs_tag_names", "ofs_tags", "ofs_surfaces", "ofs_end",
    ),
    (
        Lump("frames", FRAME, ("num_frames",)),
        Lump("tag_names", NAME, ("num_tags",), "names of tags"),
        Lump("tags", SHORT, ("num_frames", "num_tags", 6)),
        MDC_SURFACE,
    ),
    "MDC",
    b"IDPC",
    2,
    needs_frames=True,
)  # fmt: skip


def numbers(text: bytes, *rest: int) -> bytes:
    return text + struct.pack(f"<{len(rest)}i", *rest)


def mdc(tail: bytes = b"") -> bytes:
    """Return an MDC of two frames, the second a delta, with a gap before its tags and a tail."""
    triangle, shader = numbers(b"", 0, 2, 1), numbers(b"skin".ljust(64, b"\0"), 3)
    lumps = [triangle, shader, struct.pack("<6f", *range(6)), struct.pack("<12h", *range(12)), bytes(range(12))]
    lumps += [struct.pack("<2h", 0, 0), struct.pack("<2h", -1, 0)]
    places = [124]
    for lump in lumps:
        places.append(places[-1] + len(lump))
    head = numbers(numbers(b"", 7) + b"box".ljust(64, b"\0"), 0, 1, 1, 1, 3, 1, *places)
    surface = head + b"".join(lumps)
    frames = 2 * struct.pack("<10f16s", *range(10), b"(from ASE)")
    tags = b"tag_gun".ljust(64, b"\0"), struct.pack("<12h", *range(12))
    at = [112, 112 + len(frames), 112 + len(frames) + 64 + 3, 112 + len(frames) + 64 + 3 + 24]
    header = numbers(b"IDPC" + numbers(b"", 2) + b"m".ljust(64, b"\0"), 0, 2, 1, 1, 0, *at, at[3] + len(surface))
    return header + frames + tags[0] + b"gap" + tags[1] + surface + tail


def rope() -> bytes:
    """Return an MDC of five frames and two surfaces: bases in the first and the fourth, twins along a seam."""
    random = np.random.default_rng(7)
    surfaces = []
    for index, count in enumerate((6, 4)):
        bases = random.integers(-3000, 3000, (2, count, 4)).astype(np.int16)
        bases[..., 3] = encode_latlong(random.normal(size=(2 * count, 3))).reshape(2, count).view(np.int16)
        deltas = random.integers(0, 255, (3, count, 4)).astype(np.uint8)
        bases[:, 1, :3], deltas[:, 1, :3] = bases[:, 0, :3], deltas[:, 0, :3]  # at one place in all frames
        bases[:, 3, :3] = bases[:, 2, :3]  # in the base frames alone
        triangles = np.array([[0, 3, 2], [1, 2, 4], [4, 5, 3]] if count > 4 else [[0, 3, 2], [1, 2, 3]], np.int32)
        header = np.zeros((), MDC_SURFACE.header)
        header["ident"], header["name"] = 7, f"part{index}".encode()
        shaders = np.array([(b"rope", 0)], SHADER)
        st, frames = random.random((count, 2)).astype(np.float32), np.array([[0, 0, 0, 1, 1], [-1, 0, 1, -1, 2]])
        surfaces.append(MDC_SURFACE.struct(header, triangles, shaders, st, bases, deltas, *frames.astype(np.int16)))
    header = np.zeros((), MDC.header)
    header["ident"], header["version"], header["name"] = b"IDPC", 2, b"rope"
    frames = np.zeros(5, FRAME)
    frames["name"] = [f"f{i}".encode() for i in range(5)]
    tags = np.zeros(0, NAME), np.zeros((5, 0, 6), np.int16)
    return writer.write(MDC, MDC.struct(header, frames, *tags, surfaces, source_surfaces=[-1, -1]))


# -- its meaning


def delta_normals() -> NDArray[np.float32]:
    """Return the 256 normals of deltas: rings of 32, 28, ... of them, from the equator down, then up."""
    rings = [-k for k in range(8)] + list(range(1, 8))
    turns = [(np.radians(11.25 * k), 2 * np.pi * j / n) for k in rings for n in [32 - 4 * abs(k)] for j in range(n)]
    z, a = np.array(turns).T
    return np.stack((np.cos(z) * np.cos(a), np.cos(z) * np.sin(a), np.sin(z)), axis=1).astype(np.float32)


def decode(codes: NDArray[Any]) -> NDArray[np.float32]:
    """Return the normals (..., 3) of codes (...): of base frames, and of deltas those from `DELTA_NORMAL` on."""
    of_deltas = codes >= DELTA_NORMAL
    found = decode_latlong(np.where(of_deltas, 0, codes))
    found[of_deltas] = delta_normals()[codes[of_deltas] - DELTA_NORMAL]
    return found


def encode(normals: NDArray[Any], hint: NDArray[Any] | None) -> NDArray[Any]:
    """Return the codes (n,) of normals (n, 3): where the hint is a delta's the nearest of these."""
    codes = encode_latlong(normals).astype(np.uint32)
    if hint is not None:
        of_deltas = hint >= DELTA_NORMAL
        nearest = (normals[of_deltas][:, None] * delta_normals()).sum(axis=2).argmax(axis=1)
        codes[of_deltas] = nearest + DELTA_NORMAL
    return codes


CODING = NormalCoding(decode, encode, DELTA_NORMAL + 256)


def to_model(data: bytes) -> Any:
    """Return the model of a file, without tags; Any, so that tests need not ask whether its source is there."""
    file = reader.read(MDC, data)
    names = [name.decode() for name in file.frames["name"].tolist()]
    facts = {n: as_bytes(getattr(file, n)) for n in ("header", "frames", "tag_names")} | {"tag_codes": file.tags}
    nothing = np.zeros((len(names), 0, 3), np.float32), np.zeros((len(names), 0, 3, 3), np.float32)
    surfaces: list[SurfaceSource] = [_surface_source(surface) for surface in file.surfaces]
    source = ModelSource(surfaces, "mdc", names, [], *nothing, facts | file.layout)
    shown = [source.surface(index, decode) for index in range(len(surfaces))]
    return VertexModel("model", list(names), shown, [], source, np.arange(len(names), dtype=np.int32))


def _surface_source(surface: Any) -> DeltaSource:
    facts = {"header": as_bytes(surface.header), "shaders": as_bytes(surface.shaders), "st": surface.st}
    uvs = np.stack((surface.st[:, 0], 1 - surface.st[:, 1]), axis=1)
    shaders = [shader.decode() for shader in surface.shaders["name"].tolist()]
    triangles = np.ascontiguousarray(surface.triangles[:, ::-1])
    name, bases, deltas = surface.header["name"].decode(), surface.bases, surface.deltas
    frames = surface.base_frames, surface.delta_frames
    return DeltaSource(name, triangles, uvs, shaders, bases, deltas, *frames, SCALE, DELTA_SCALE, MIDDLE, facts=facts)


def from_model(model: VertexModel) -> bytes:
    """Return the file of a model that has the frames of its source, whose vertices are the source's."""
    source = model.source
    assert source is not None
    surfaces = [_encode_surface(model, surface, source) for surface in model.surfaces]
    whole = records_of(source.facts, "header", MDC.header), records_of(source.facts, "frames", FRAME)
    tags = np.ascontiguousarray(source.facts["tag_names"]).view(NAME).reshape(-1), source.facts["tag_codes"]
    indices = [surface.source_index for surface in model.surfaces]
    return writer.write(MDC, MDC.struct(*whole, *tags, surfaces, layout_of(source.facts), indices))


def _encode_surface(model: VertexModel, surface: Surface, source: ModelSource) -> Any:
    own = source.surfaces[surface.source_index]
    assert isinstance(own, DeltaSource)
    assert surface.source_vertices is not None
    view, origins = view_source(model, surface, source), filled_frames(model)
    assert view is not None
    before = np.zeros(surface.positions.shape, np.float32)
    for part, places, indices in source.vertex_parts(surface.source_vertices):
        before[:, places] = part.decoded_positions(origins, indices)
    moved = (np.abs(surface.positions - before) > 1e-5 * np.maximum(np.abs(before), 1.0)).any(axis=2)
    motion = Motion(moved, before, surface.positions, 1e-4)
    normals = settle_normals(surface, np.empty_like(view.normals), view, CODING, motion)
    vertices = source.own_vertices(surface)
    bases, deltas = own.bases[:, vertices].copy(), own.deltas[:, vertices].copy()
    for frame, (base, delta) in enumerate(zip(own.base_frames, own.delta_frames, strict=True)):
        which, places = moved[frame], surface.positions[frame]
        if delta < 0:
            bases[base, which, :3] = np.rint(places[which] * 64)
            bases[base, :, 3] = normals[frame].astype(np.uint16).view(np.int16)
        else:
            steps = np.rint((places - bases[base, :, :3] / 64) / STEP) + MIDDLE
            assert ((steps[which] >= 0) & (steps[which] <= 254)).all()
            deltas[delta, which, :3] = steps[which]
            deltas[delta, :, 3] = normals[frame] - DELTA_NORMAL
    triangles = np.ascontiguousarray(surface.triangles[:, ::-1])
    header, shaders = records_of(own.facts, "header", MDC_SURFACE.header), records_of(own.facts, "shaders", SHADER)
    tables = (own.base_frames, own.delta_frames)
    return MDC_SURFACE.struct(header, triangles, shaders, own.facts["st"][vertices], bases, deltas, *tables)
