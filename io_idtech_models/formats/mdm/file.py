"""MDM: the skinned meshes of Wolfenstein: Enemy Territory, which the skeletons of `mdx` move.

A header, then surfaces, which follow one another at `ofs_end`, then tags, likewise. A surface is a header and lumps
addressed from the surface's start: vertices, triangles, collapse map, and bone references. A tag is a header and its
bone references. A vertex is a record that is followed by its weights, so vertices have no common size. Everything is
little-endian. The records are the structs of the game's `qfiles.h` (`mdmHeader_t`, `mdmSurface_t`, `mdmVertex_t`,
`mdmWeight_t`, `mdmTriangle_t`, `mdmTag_t`), field by field.

Facts (ET: Legacy's `R_LoadMDM`, `RB_MDM_SurfaceAnim`, `R_MDM_GetBoneTag`; measured on the games' own files):

- Files have version 3, whatever documents say.
- A vertex stands at the sum over its weights of weight x (bone x offset); a weight's bone is a number among all of the
  MDX. Its normal is turned by the bone of its first weight alone. Front faces are clockwise, texture coordinates count
  from the top left.
- A tag's origin and axes, as rows, are in the space of its bone.
- From afar the first max(num_verts x lod, min_lod) vertices are drawn; a triangle's other corners become what
  `collapse` says, again and again. See `model.lod.collapse`.
- Bone references list the bones to be computed: ancestors first.
- `ofs_header` is minus the surface's place in the file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...reporting import FormatError
from ..common.chunks import Arrays, Lump, assemble, check_overlap, plan, survey
from ..common.records import Array, decode_name, place_of, take

IDENT = b"MDMW"
VERSION = 3
NAME_SIZE = 64
MAX_BONES = 1 << 16  # no engine has more than 128: a weight's bone beyond this is damage

HEADER = np.dtype([
    ("ident", "S4"), ("version", "<i4"), ("name", "S64"), ("lod_scale", "<f4"), ("lod_bias", "<f4"),
    ("num_surfaces", "<i4"), ("ofs_surfaces", "<i4"), ("num_tags", "<i4"), ("ofs_tags", "<i4"), ("ofs_end", "<i4"),
])  # fmt: skip
SURFACE = np.dtype([
    ("ident", "<i4"), ("name", "S64"), ("shader", "S64"), ("shader_index", "<i4"), ("min_lod", "<i4"),
    ("ofs_header", "<i4"), ("num_verts", "<i4"), ("ofs_verts", "<i4"), ("num_triangles", "<i4"),
    ("ofs_triangles", "<i4"), ("ofs_collapse", "<i4"), ("num_bone_refs", "<i4"), ("ofs_bone_refs", "<i4"),
    ("ofs_end", "<i4"),
])  # fmt: skip
VERTEX = np.dtype([("normal", "<f4", 3), ("st", "<f4", 2), ("num_weights", "<i4")])
WEIGHT = np.dtype([("bone", "<i4"), ("weight", "<f4"), ("offset", "<f4", 3)])
INDEX = np.dtype("<i4")
TAG = np.dtype([
    ("name", "S64"), ("axis", "<f4", (3, 3)), ("bone", "<i4"), ("offset", "<f4", 3),
    ("num_bone_refs", "<i4"), ("ofs_bone_refs", "<i4"), ("ofs_end", "<i4"),
])  # fmt: skip
SURFACE_IDENT = 9  # in the games' files; no game looks at it

HEADER_KEY, SURFACES_KEY, TAGS_KEY, FIRST_KEY = range(4)
SURFACE_LUMPS = ("header", "vertices", "triangles", "collapse", "bone_refs")
TAG_LUMPS = ("header", "bone_refs")
OFFSET_FIELDS = {
    "vertices": "ofs_verts", "triangles": "ofs_triangles", "collapse": "ofs_collapse", "bone_refs": "ofs_bone_refs",
}  # fmt: skip
MAX_PARTS = 1 << 20  # in the numbering of lumps: more surfaces than a file can have


def surface_key(surface: int, lump: str) -> int:
    """Return the layout's number of a surface's lump."""
    return FIRST_KEY + surface * len(SURFACE_LUMPS) + SURFACE_LUMPS.index(lump)


def tag_key(tag: int, lump: str) -> int:
    """Return the layout's number of a tag's lump."""
    return FIRST_KEY + MAX_PARTS * len(SURFACE_LUMPS) + tag * len(TAG_LUMPS) + TAG_LUMPS.index(lump)


@dataclass(eq=False)
class MdmSurface:
    """One surface as the file has it; its vertices' weights are one table, vertex after vertex."""

    header: Any  # SURFACE
    vertices: Array  # VERTEX (V,)
    weights: Array  # WEIGHT (W,)
    triangles: NDArray[np.int32]  # (T, 3), clockwise
    collapse: NDArray[np.int32]  # (V,)
    bone_refs: NDArray[np.int32]  # (R,)


@dataclass(eq=False)
class MdmTag:
    """One tag as the file has it."""

    header: Any  # TAG
    bone_refs: NDArray[np.int32]  # (R,)


@dataclass(eq=False)
class Mdm:
    """A file as structs. `layout` says where the lumps lay; `source_*` which of its parts each one was."""

    header: Any  # HEADER
    surfaces: list[MdmSurface]
    tags: list[MdmTag]
    layout: Arrays = field(default_factory=dict)
    source_surfaces: list[int] = field(default_factory=list)
    source_tags: list[int] = field(default_factory=list)


def read(data: bytes) -> Mdm:
    """Read a file.

    Raises:
        FormatError: the file is no MDM, is cut off, or its counts, offsets or indices contradict it.
    """
    header = take(data, HEADER, (1,), 0, "header")[0]
    if header["ident"] != IDENT:
        raise FormatError("not an MDM file", "byte 0", IDENT.decode(), repr(bytes(header["ident"]))[1:])
    if header["version"] != VERSION:
        raise FormatError("unsupported MDM version", "byte 4", VERSION, header["version"])
    lumps = [Lump(HEADER_KEY, 0, HEADER.itemsize)]
    surfaces = _read_surfaces(data, header, lumps)
    tags = _read_tags(data, header, lumps)
    for key, parts, name in ((SURFACES_KEY, surfaces, "ofs_surfaces"), (TAGS_KEY, tags, "ofs_tags")):
        if not parts:
            lumps.append(Lump(key, int(header[name]), 0))
    check_overlap(lumps, len(data))
    layout = survey(lumps, data)
    layout["layout_ends"] = np.array([int(header["ofs_end"]) - len(data)], np.int64)
    return Mdm(header, surfaces, tags, layout, list(range(len(surfaces))), list(range(len(tags))))


def _count(header: Any, name: str) -> int:
    count = int(header[name])
    if not 0 <= count <= MAX_PARTS:
        raise FormatError(f"{name}", f"byte {place_of(HEADER, name)}", f"0 to {MAX_PARTS}", count)
    return count


def _read_surfaces(data: bytes, header: Any, lumps: list[Lump]) -> list[MdmSurface]:
    count, start = _count(header, "num_surfaces"), int(header["ofs_surfaces"])
    surfaces: list[MdmSurface] = []
    checked = 0
    for index in range(count):
        known = len(lumps) if index else 0
        surface = _read_surface(data, index, start, lumps)
        surfaces.append(surface)
        checked = check_overlap(lumps[known:], len(data), checked)
        end = int(surface.header["ofs_end"])
        if index + 1 < count and end < SURFACE.itemsize:
            raise FormatError(f"surface {index} ends inside its header", f"byte {start}", SURFACE.itemsize, end)
        start += end
    return surfaces


def _read_surface(data: bytes, index: int, start: int, lumps: list[Lump]) -> MdmSurface:
    header = take(data, SURFACE, (1,), start, f"header of surface {index}")[0]
    what = f"of surface {index} '{decode_name(header['name'])}'"
    offsets = {name: start + int(header[offset]) for name, offset in OFFSET_FIELDS.items()}
    verts = int(header["num_verts"])
    vertices, weights = _read_vertices(data, verts, offsets["vertices"], what)
    triangles = take(data, INDEX, (int(header["num_triangles"]), 3), offsets["triangles"], f"triangles {what}")
    collapse = take(data, INDEX, (verts,), offsets["collapse"], f"collapse map {what}")
    refs = take(data, INDEX, (int(header["num_bone_refs"]),), offsets["bone_refs"], f"bone references {what}")
    _check_indices(triangles, verts, offsets["triangles"], f"triangle {{}} {what}", "vertices")
    _check_indices(collapse, verts, offsets["collapse"], f"place {{}} of the collapse map {what}", "vertices")
    _check_indices(refs, MAX_BONES, offsets["bone_refs"], f"bone reference {{}} {what}", "bones")
    lumps.append(Lump(surface_key(index, "header"), start, SURFACE.itemsize))
    sizes = {
        "vertices": vertices.nbytes + weights.nbytes, "triangles": triangles.nbytes, "collapse": collapse.nbytes,
        "bone_refs": refs.nbytes,
    }  # fmt: skip
    for name, size in sizes.items():
        # The offset of an empty lump is kept as written, from the surface's start.
        offset = offsets[name] if size else int(header[OFFSET_FIELDS[name]])
        lumps.append(Lump(surface_key(index, name), offset, size))
    return MdmSurface(header, vertices, weights, triangles, collapse, refs)


def _check_indices(values: Array, limit: int, offset: int, what: str, kind: str) -> None:
    """Refuse indices that are no vertices or bones; raises FormatError."""
    if values.size and not 0 <= int(values.min()) <= int(values.max()) < limit:
        rows = values.reshape(len(values), -1)
        bad = int(np.flatnonzero(((rows < 0) | (rows >= limit)).any(axis=1))[0])
        place = f"byte {offset + bad * rows.shape[1] * INDEX.itemsize}"
        raise FormatError(what.replace("{}", str(bad), 1), place, f"{kind} 0 to {limit - 1}", rows[bad].tolist())


def _read_vertices(data: bytes, count: int, offset: int, what: str) -> tuple[Array, Array]:
    """Return the vertices (V,) and their weights (W,), vertex after vertex; raises FormatError."""
    take(data, VERTEX, (count,), offset, f"vertices {what}")  # so many fit at least, without any weight
    if not count:
        return np.zeros(0, VERTEX), np.zeros(0, WEIGHT)
    words = np.frombuffer(data, INDEX, (len(data) - offset) // INDEX.itemsize, offset)
    starts = _starts(words, count)
    ends = starts + VERTEX.itemsize // INDEX.itemsize
    sizes = words[np.minimum(ends - 1, len(words) - 1)].astype(np.int64)
    # A start beyond the file follows from an earlier vertex: the first that does not fit is the one to name.
    weight = WEIGHT.itemsize // INDEX.itemsize
    bad = np.flatnonzero((ends > len(words)) | (sizes < 0) | (ends + np.maximum(sizes, 0) * weight > len(words)))
    if len(bad):
        place = f"byte {offset + int(ends[bad[0]] - 1) * INDEX.itemsize}"
        found = "end of file" if ends[bad[0]] > len(words) else int(sizes[bad[0]])
        raise FormatError(f"number of weights of vertex {bad[0]} {what}", place, "as many as the file holds", found)
    columns = np.arange(VERTEX.itemsize // INDEX.itemsize)
    vertices = np.ascontiguousarray(words[starts[:, None] + columns]).view(VERTEX)[:, 0]
    first = np.repeat(ends - (np.cumsum(sizes) - sizes) * weight, sizes) + np.arange(int(sizes.sum())) * weight
    weights = np.ascontiguousarray(words[first[:, None] + np.arange(weight)]).view(WEIGHT).reshape(-1)
    _check_weights(vertices, weights, offset, first, what)
    return vertices, weights


def _starts(words: Array, count: int) -> NDArray[np.int64]:
    """Return where vertices start among 32-bit words, (V,), of which each says how long it is.

    What leads out of the file starts at its end. Only as many words are looked at as it takes: a file of many small
    surfaces must not be looked through once for each.
    """
    window = 8 * WEIGHT.itemsize * count
    while True:
        starts = _chain(words[:window], count)
        if window >= len(words) or starts[-1] < window:
            return starts
        window *= 4


def _chain(words: Array, count: int) -> NDArray[np.int64]:
    """Return `_starts` among few words, by doubling: `jump` leads from a vertex' first word 1, 2, 4 ... vertices on."""
    vertex, weight, end = VERTEX.itemsize // INDEX.itemsize, WEIGHT.itemsize // INDEX.itemsize, len(words)
    jump: NDArray[np.int64] = np.full(end + 1, end, np.int64)
    sizes = words[vertex - 1 :].astype(np.int64)
    fits = (sizes >= 0) & (sizes <= end)
    places = np.arange(len(sizes)) + vertex + np.where(fits, sizes, 0) * weight
    jump[: len(sizes)] = np.where(fits & (places <= end), places, end)
    starts: NDArray[np.int64] = np.zeros(1, np.int64)
    while len(starts) < count:
        starts = np.concatenate((starts, jump[starts]))
        jump = jump[jump]
    return starts[:count]


def _check_weights(vertices: Array, weights: Array, offset: int, first: NDArray[np.int64], what: str) -> None:
    """Refuse weights on bones that can't be, and such as are no numbers; raises FormatError."""
    wrong = (weights["bone"] < 0) | (weights["bone"] >= MAX_BONES)
    bad = np.flatnonzero(wrong | ~np.isfinite(weights["weight"]) | ~np.isfinite(weights["offset"]).all(axis=1))
    if len(bad):
        weight = int(bad[0])
        vertex = int(np.searchsorted(np.cumsum(vertices["num_weights"]), weight, side="right"))
        place = f"byte {offset + int(first[weight]) * INDEX.itemsize}"
        expected = f"bones 0 to {MAX_BONES - 1}" if wrong[weight] else "numbers"
        raise FormatError(f"weight of vertex {vertex} {what}", place, expected, weights[weight].tolist())


def _read_tags(data: bytes, header: Any, lumps: list[Lump]) -> list[MdmTag]:
    count, start = _count(header, "num_tags"), int(header["ofs_tags"])
    tags: list[MdmTag] = []
    checked = 0
    for index in range(count):
        known = len(lumps) if index else 0
        tag = take(data, TAG, (1,), start, f"tag {index}")[0]
        what = f"of tag {index} '{decode_name(tag['name'])}'"
        offset, end = start + int(tag["ofs_bone_refs"]), int(tag["ofs_end"])
        refs = take(data, INDEX, (int(tag["num_bone_refs"]),), offset, f"bone references {what}")
        _check_indices(refs, MAX_BONES, offset, f"bone reference {{}} {what}", "bones")
        if not 0 <= int(tag["bone"]) < MAX_BONES:
            place = f"byte {start + place_of(TAG, 'bone')}"
            raise FormatError(f"bone {what}", place, f"0 to {MAX_BONES - 1}", int(tag["bone"]))
        if not (np.isfinite(tag["axis"]).all() and np.isfinite(tag["offset"]).all()):
            raise FormatError(f"place {what}", f"byte {start}", "numbers", tag["offset"].tolist())
        lumps.append(Lump(tag_key(index, "header"), start, TAG.itemsize))
        lumps.append(Lump(tag_key(index, "bone_refs"), offset if len(refs) else int(tag["ofs_bone_refs"]), refs.nbytes))
        checked = check_overlap(lumps[known:], len(data), checked)
        if index + 1 < count and end < TAG.itemsize:
            raise FormatError(f"tag {index} ends inside its header", f"byte {start}", TAG.itemsize, end)
        tags.append(MdmTag(tag, refs))
        start += end
    return tags


def write(mdm: Mdm) -> bytes:
    """Return the file of a model; inverse of `read`, byte for byte while the layout's hint applies."""
    lumps = _lumps_of(mdm)
    sizes = {key: len(lump) for key, lump in lumps.items()}
    renamed = {key: key for key in range(FIRST_KEY)}
    for names, key_of, sources in (
        (SURFACE_LUMPS, surface_key, mdm.source_surfaces), (TAG_LUMPS, tag_key, mdm.source_tags),
    ):  # fmt: skip
        for new, old in enumerate(sources):
            renamed |= {key_of(old, name): key_of(new, name) for name in names if old >= 0}
    layout = plan(list(lumps), sizes, mdm.layout, renamed)
    offsets, size = layout.places(sizes)
    if not _in_order(mdm, offsets):
        layout = plan(list(lumps), sizes, {}, {})
        offsets, size = layout.places(sizes)
    header = np.array(mdm.header, HEADER)
    end = size - len(layout.tail)
    chain = Chain(lumps, layout.empty, offsets, end)
    for i, surface in enumerate(mdm.surfaces):
        _place_surface(chain, surface, i, len(mdm.surfaces))
    for i, tag in enumerate(mdm.tags):
        _place_tag(chain, tag, i, len(mdm.tags))
    header["num_surfaces"], header["num_tags"] = len(mdm.surfaces), len(mdm.tags)
    first_tag = offsets.get(tag_key(0, "header"), layout.empty.get(TAGS_KEY, end))
    header["ofs_tags"] = first_tag
    header["ofs_surfaces"] = offsets.get(surface_key(0, "header"), layout.empty.get(SURFACES_KEY, first_tag))
    off = int(mdm.layout["layout_ends"][0]) if mdm.layout else 0
    header["ofs_end"] = min(max(size + off, -(2**31)), 2**31 - 1)
    lumps[HEADER_KEY] = header.tobytes()
    return assemble(lumps, layout, offsets, size)


def _lumps_of(mdm: Mdm) -> dict[int, bytes]:
    """Return all lumps, in the order that we write; the headers without their offsets."""
    lumps = {HEADER_KEY: np.array(mdm.header, HEADER).tobytes(), SURFACES_KEY: b"", TAGS_KEY: b""}
    for i, surface in enumerate(mdm.surfaces):
        lumps[surface_key(i, "header")] = np.array(surface.header, SURFACE).tobytes()
        lumps[surface_key(i, "vertices")] = _vertex_bytes(surface)
        for name in SURFACE_LUMPS[2:]:
            lumps[surface_key(i, name)] = np.ascontiguousarray(getattr(surface, name), INDEX).tobytes()
    for i, tag in enumerate(mdm.tags):
        lumps[tag_key(i, "header")] = np.array(tag.header, TAG).tobytes()
        lumps[tag_key(i, "bone_refs")] = np.ascontiguousarray(tag.bone_refs, INDEX).tobytes()
    return lumps


def _vertex_bytes(surface: MdmSurface) -> bytes:
    """Return vertices, each followed by its weights."""
    vertex, weight = VERTEX.itemsize // INDEX.itemsize, WEIGHT.itemsize // INDEX.itemsize
    sizes = surface.vertices["num_weights"].astype(np.int64)
    before = np.cumsum(sizes) - sizes
    words = np.empty(len(sizes) * vertex + len(surface.weights) * weight, INDEX)
    starts = np.arange(len(sizes)) * vertex + before * weight
    words[starts[:, None] + np.arange(vertex)] = np.ascontiguousarray(surface.vertices).view(INDEX).reshape(-1, vertex)
    first = np.repeat(starts + vertex - before * weight, sizes) + np.arange(len(surface.weights)) * weight
    words[first[:, None] + np.arange(weight)] = np.ascontiguousarray(surface.weights).view(INDEX).reshape(-1, weight)
    return words.tobytes()


def _in_order(mdm: Mdm, offsets: dict[int, int]) -> bool:
    """Tell whether the file begins with its header, and surfaces and tags follow one another as their chains demand."""
    surfaces = [offsets[surface_key(i, "header")] for i in range(len(mdm.surfaces))]
    tags = [offsets[tag_key(i, "header")] for i in range(len(mdm.tags))]
    good = all(b - a >= SURFACE.itemsize for a, b in pairwise(surfaces))
    return offsets[HEADER_KEY] == 0 and good and all(b - a >= TAG.itemsize for a, b in pairwise(tags))


@dataclass(eq=False)
class Chain:
    """Lumps on their way into a file, and where they lie."""

    lumps: dict[int, bytes]
    empty: dict[int, int]  # what the offsets of empty lumps were
    offsets: dict[int, int]
    end: int


def _place_surface(chain: Chain, surface: MdmSurface, index: int, count: int) -> None:
    """Write a surface's offsets into its header."""
    header = np.array(surface.header, SURFACE)
    start = chain.offsets[surface_key(index, "header")]
    place = start + SURFACE.itemsize
    for name, offset in OFFSET_FIELDS.items():
        key = surface_key(index, name)
        header[offset] = chain.offsets[key] - start if key in chain.offsets else chain.empty.get(key, place - start)
        place = max(place, chain.offsets.get(key, place) + len(chain.lumps[key]))
    following = chain.offsets[surface_key(index + 1, "header")] if index + 1 < count else place
    header["ofs_header"], header["ofs_end"] = -start, following - start
    chain.lumps[surface_key(index, "header")] = header.tobytes()


def _place_tag(chain: Chain, tag: MdmTag, index: int, count: int) -> None:
    """Write a tag's offsets into its header."""
    header = np.array(tag.header, TAG)
    start, key = chain.offsets[tag_key(index, "header")], tag_key(index, "bone_refs")
    place = start + TAG.itemsize
    refs = chain.offsets.get(key)
    header["ofs_bone_refs"] = chain.empty.get(key, place - start) if refs is None else refs - start
    place = max(place, 0 if refs is None else refs + len(chain.lumps[key]))
    following = chain.offsets[tag_key(index + 1, "header")] if index + 1 < count else place
    header["ofs_end"] = following - start
    chain.lumps[tag_key(index, "header")] = header.tobytes()
