"""IQM: meshes, their skeleton, and animations of it in one file; or animations alone.

Little-endian (iqm.h and iqm.txt, Lee Salzman): a header of 124 bytes, whose counts and offsets name lumps.

| lump | one of it |
| --- | --- |
| text | bytes; names are offsets into it and end with a NUL, the first is empty |
| meshes | name, material; where its vertices and triangles begin, and how many there are |
| vertexarrays | type, flags, format, components, offset: what every vertex of the file has |
| triangles, adjacency | three vertices of the file, clockwise; their neighbours' triangles, which may be missing |
| joints | name, parent; translation, rotation (x y z w) and scale in the parent's space |
| poses | parent, mask, and offset and scale of ten channels: see `poses` |
| anims | name, first frame and how many, frames per second, flags |
| frames | a 16-bit code for every channel that a mask has, frame by frame |
| bounds | of every frame; may be missing |
| comment, extensions | bytes; a list in which each names the next |

- Every offset counts from the file's start; lumps lie in any order, also unaligned. A lump of none has any offset.
- Types of arrays: 0 position, 1 texture coordinate, 2 normal, 3 tangent, 4 blend indices, 5 blend weights, 6 colour,
  from 16 on others, whose name stands in the text at what the type is beyond 16.
- Files of animations alone have neither meshes nor joints, so that only the poses say who is whose parent.
- Version 1, which has rotations without w and which but one engine reads, is refused.
- Names that are written have the source's offsets where these still say what they did.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...reporting import FormatError
from ..common.chunks import Arrays, File, LayoutPlan, Lump, Piece, Place, assemble, check_overlap, plan_layout, survey
from ..common.records import Array, check_indices, decode_name, raw_bytes, take

MAGIC = b"INTERQUAKEMODEL\0"
VERSION = 2
COUNTS = (
    "version", "filesize", "flags", "num_text", "ofs_text", "num_meshes", "ofs_meshes", "num_vertexarrays",
    "num_vertexes", "ofs_vertexarrays", "num_triangles", "ofs_triangles", "ofs_adjacency", "num_joints", "ofs_joints",
    "num_poses", "ofs_poses", "num_anims", "ofs_anims", "num_frames", "num_framechannels", "ofs_frames", "ofs_bounds",
    "num_comment", "ofs_comment", "num_extensions", "ofs_extensions",
)  # fmt: skip
HEADER = np.dtype([("magic", "S16"), *((name, "<u4") for name in COUNTS)])
MESH = np.dtype([(name, "<u4") for name in (
    "name", "material", "first_vertex", "num_vertexes", "first_triangle", "num_triangles")])  # fmt: skip
ARRAY = np.dtype([(name, "<u4") for name in ("type", "flags", "format", "size", "ofs_data")])
INDEX, BYTE = np.dtype("<u4"), np.dtype("u1")
JOINT = np.dtype([
    ("name", "<u4"), ("parent", "<i4"), ("translate", "<f4", 3), ("rotate", "<f4", 4), ("scale", "<f4", 3),
])  # fmt: skip
CHANNELS = 10
POSE = np.dtype([("parent", "<i4"), ("mask", "<u4"), ("offset", "<f4", CHANNELS), ("scale", "<f4", CHANNELS)])
ANIM = np.dtype(
    [("name", "<u4"), ("first_frame", "<u4"), ("num_frames", "<u4"), ("framerate", "<f4"), ("flags", "<u4")]
)
LOOP = 1  # of an animation's flags
BOUNDS = np.dtype([("min", "<f4", 3), ("max", "<f4", 3), ("xyradius", "<f4"), ("radius", "<f4")])
EXTENSION = np.dtype([("name", "<u4"), ("num_data", "<u4"), ("ofs_data", "<u4"), ("ofs_next", "<u4")])
# By an array's format: what a component is.
FORMATS = tuple(np.dtype(kind) for kind in ("i1", "u1", "<i2", "<u2", "<i4", "<u4", "<f2", "<f4", "<f8"))
POSITION, TEXCOORD, NORMAL, TANGENT, BLENDINDEXES, BLENDWEIGHTS, COLOR, CUSTOM = 0, 1, 2, 3, 4, 5, 6, 16
MOST_ARRAYS = 64  # real files have seven
MOST_PARTS = 2048  # meshes, and animations: real files have some dozens; each takes its time
MOST_COMPONENTS = 64  # of an array: real ones have four
MOST_POSES = 1 << 18  # of joints in frames: what stands still takes no bytes, but a thousand when it is read
MOST_BARE = 1 << 20  # vertices of a file that says nothing of them
MOST_NUMBER = 1e9  # of a joint's place or scale: what is a thousand times farther than any game can show
PLACED = {"joint": ("translate", "rotate", "scale"), "pose": ("offset", "scale")}  # fields that have such numbers
ALIGNMENTS = (8, 4, 1)  # of the iqm compiler, of Blender's exporter, of older files without a mesh
TABLE = 3  # the number of the lump that lists arrays, which follow it
FIRST_ARRAY, FIRST_EXTENSION = 1 << 8, 1 << 24  # numbers in the layout: of data of arrays; of extensions, two each
STEP = 4  # bytes that text is padded to


@dataclass(frozen=True, eq=False)
class Absent(Lump):
    """A lump whose length is another's, and which is not there if its offset is 0."""

    def taken(self, place: Place, offset: int) -> dict[str, Array]:
        """Return the lump, without any rows where there is none; raises FormatError."""
        if offset:
            return super().taken(place, offset)
        dtype: Any = self.dtype
        return {self.name: np.zeros((0, *(n for n in self.shape[1:] if isinstance(n, int))), dtype)}

    def count(self, header: Any, struct: Any) -> None:
        """Leave the length to the lump that it is of."""


# In the order that we write; a lump's number in the layout is its place here, from 1 on: 0 is the header.
LUMPS: tuple[Lump, ...] = (
    Lump("text", BYTE, ("num_text",)),
    Lump("meshes", MESH, ("num_meshes",)),
    Lump("arrays", ARRAY, ("num_vertexarrays",), "vertex arrays", "ofs_vertexarrays"),
    Lump("triangles", INDEX, ("num_triangles", 3)),
    Absent("adjacency", INDEX, ("num_triangles", 3)),
    Lump("joints", JOINT, ("num_joints",)),
    Lump("poses", POSE, ("num_poses",)),
    Lump("anims", ANIM, ("num_anims",), "animations"),
    Lump("frames", np.dtype("<u2"), ("num_frames", "num_framechannels")),
    Absent("bounds", BOUNDS, ("num_frames",)),
    Lump("comment", BYTE, ("num_comment",)),
)
UNALIGNED = {1, len(LUMPS)}  # text and comment: of bytes


@dataclass(eq=False)
class Iqm:
    """A file as structs. `layout` says where the lumps lay; `source_arrays` which of its arrays each one was."""

    header: Any  # HEADER
    text: NDArray[np.uint8]
    meshes: Array  # MESH (meshes,)
    arrays: Array  # ARRAY (A,)
    triangles: Array  # (T, 3), clockwise
    adjacency: Array  # (T, 3) or (0, 3)
    joints: Array  # JOINT (J,)
    poses: Array  # POSE (J,)
    anims: Array  # ANIM (anims,)
    frames: Array  # (F, channels)
    bounds: Array  # BOUNDS (F,) or (0,)
    comment: NDArray[np.uint8]
    data: list[Array]  # (V, components) of every array
    extensions: Array  # EXTENSION (E,)
    extension_data: list[NDArray[np.uint8]]
    layout: Arrays = field(default_factory=dict)
    source_arrays: list[int] = field(default_factory=list)

    @property
    def num_vertices(self) -> int:
        """Return V."""
        return int(self.header["num_vertexes"])


# Arrays and extensions, which lie where lumps of their own say, are this module's business.
IQM = File(Iqm, HEADER, LUMPS, label="IQM", ident=MAGIC, version=VERSION, end="filesize")


def read(data: bytes) -> Iqm:
    """Read a file.

    Raises:
        FormatError: the file is no IQM of version 2, is cut off, or its counts, offsets or indices contradict it.
    """
    if bytes(data[: len(MAGIC)]) != MAGIC:
        raise FormatError("not an IQM file", "byte 0", MAGIC[:-1].decode(), repr(bytes(data[:16]))[1:])
    header = take(data, HEADER, (1,), 0, "header")[0]
    if header["version"] != VERSION:
        raise FormatError("unsupported IQM version", "byte 16", VERSION, int(header["version"]))
    if header["filesize"] > len(data):
        raise FormatError("file is cut off", "byte 20", f"{header['filesize']} bytes", len(data))
    place = Place(data, header, 0, 0, "")
    found: dict[str, Array] = {}
    pieces = [Piece(0, 0, HEADER.itemsize)]
    _check_poses(place, len(data))
    for number, lump in IQM.lumps:
        offset = lump.begin(place)
        found |= lump.taken(place, offset)
        pieces.append(_piece(number, offset, found[lump.name].nbytes, lump.called))
    arrays, of_arrays = _read_arrays(data, found["arrays"], int(header["num_vertexes"]))
    extensions, extension_data, of_extensions = _read_extensions(data, header)
    pieces += of_arrays + of_extensions
    check_overlap(pieces, len(data))
    _check(found, place)
    ends = [int(header["filesize"]) - len(data), _alignment(pieces)]
    layout = survey(pieces, data) | {"layout_ends": np.array(ends, np.int64)}
    numbers = list(range(len(arrays)))
    return Iqm(header, **found, data=arrays, extensions=extensions, extension_data=extension_data, layout=layout,
               source_arrays=numbers)  # fmt: skip


def _piece(key: int, offset: int, size: int, called: str) -> Piece:
    """Return a lump of the layout; raises FormatError if it lies in the header."""
    if size and offset < HEADER.itemsize:
        raise FormatError(f"{called} begin inside the header", f"byte {offset}", HEADER.itemsize, offset)
    return Piece(key, offset, size)


def _check_poses(place: Place, size: int) -> None:
    """Refuse what would take far more than a file of this size has a use for: frames without motion, empty meshes."""
    if not place.number("num_vertexarrays") and place.number("num_vertexes") > MOST_BARE:
        raise FormatError("vertices without arrays", "byte 44", f"{MOST_BARE} at most", place.number("num_vertexes"))
    for kind, byte in (("meshes", 36), ("anims", 84)):
        if place.number(f"num_{kind}") > MOST_PARTS:
            raise FormatError(f"num_{kind}", f"byte {byte}", f"{MOST_PARTS} at most", place.number(f"num_{kind}"))
    frames, most = place.number("num_frames"), MOST_POSES + size // 4
    if frames * max(place.number("num_poses"), 1) > most:
        raise FormatError("too many poses for a file of this size", "byte 92", f"{most} at most", frames)


def _read_arrays(data: bytes, records: Array, vertices: int) -> tuple[list[Array], list[Piece]]:
    """Return the components of every vertex array, and where they lie; raises FormatError."""
    found, pieces, total = [], [], 0
    if len(records) > MOST_ARRAYS:
        raise FormatError("vertex arrays", "byte 48", f"{MOST_ARRAYS} at most", len(records))
    for index, record in enumerate(records):
        of = f"vertex array {index}"
        if record["format"] >= len(FORMATS) or not 1 <= record["size"] <= MOST_COMPONENTS:
            wanted = f"a format below {len(FORMATS)} and 1 to {MOST_COMPONENTS} components"
            raise FormatError(of, "", wanted, f"format {record['format']}, {record['size']} components")
        shape, offset = (vertices, int(record["size"])), int(record["ofs_data"])
        found.append(take(data, FORMATS[record["format"]], shape, offset, of))
        pieces.append(_piece(FIRST_ARRAY + index, offset, found[-1].nbytes, of))
        total = check_overlap(pieces[-1:], len(data), total)
    return found, pieces


def _read_extensions(data: bytes, header: Any) -> tuple[Array, list[Array], list[Piece]]:
    """Return the extensions, what is in each, and where they lie; raises FormatError."""
    offset, records, contents, pieces, total = int(header["ofs_extensions"]), [], list[Array](), list[Piece](), 0
    for index in range(int(header["num_extensions"])):
        of = f"extension {index}"
        record = take(data, EXTENSION, (1,), offset, of)[0]
        contents.append(take(data, np.uint8, (int(record["num_data"]),), int(record["ofs_data"]), of))
        key = FIRST_EXTENSION + 2 * index
        own = [_piece(key, offset, EXTENSION.itemsize, of)]
        own.append(_piece(key + 1, int(record["ofs_data"]), contents[-1].nbytes, of))
        records.append(record)
        pieces += own
        total = check_overlap(own, len(data), total)
        offset = int(record["ofs_next"])
    return np.array(records, EXTENSION), contents, pieces


def _check(found: dict[str, Array], place: Place) -> None:
    """Refuse structs that name what is not there."""
    vertices, triangles = place.number("num_vertexes"), len(found["triangles"])
    check_indices(found["triangles"], vertices, place.number("ofs_triangles"), "triangle {}", "vertices")
    check_ranges(found["meshes"], "vertex", "vertexes", vertices, "mesh")
    check_ranges(found["meshes"], "triangle", "triangles", triangles, "mesh")
    check_ranges(found["anims"], "frame", "frames", len(found["frames"]), "animation")
    joints, poses = found["joints"], found["poses"]
    check_joints(joints, "joint", PLACED["joint"])
    check_joints(poses, "pose", PLACED["pose"])
    if len(joints) and len(poses) and len(joints) != len(poses):
        raise FormatError("poses of another skeleton", "byte 76", f"{len(joints)}, as joints", len(poses))
    channels = int(channels_of(poses).sum())
    if len(found["frames"]) and channels != found["frames"].shape[1]:
        raise FormatError(
            "channels of a frame", "byte 96", f"{channels}, as the poses' masks", found["frames"].shape[1]
        )


def check_joints(records: Array, what: str, fields: Sequence[str]) -> None:
    """Refuse joints or poses (J,) that come before their parents, or whose `fields` no game can show.

    Raises:
        FormatError: names the first that is wrong; `what` says what they are.
    """
    bad = np.flatnonzero((records["parent"] < -1) | (records["parent"] >= np.arange(len(records))))
    if len(bad):
        wanted = f"-1 to {bad[0] - 1}: parents come first"
        raise FormatError(f"parent of {what} {bad[0]}", "", wanted, int(records["parent"][bad[0]]))
    if not all((np.abs(records[name]) <= MOST_NUMBER).all() for name in fields):
        raise FormatError(f"places of {what}s", "", f"numbers up to {MOST_NUMBER:g}", "others")


def check_ranges(records: Array, one: str, many: str, limit: int, what: str) -> None:
    """Refuse records (n,) whose parts do not lie among what there is, or that share so much that they would be huge.

    Raises:
        FormatError: names the first that is wrong; `what` says what they are.
    """
    first, count = (records[name].astype(np.int64) for name in (f"first_{one}", f"num_{many}"))
    bad = np.flatnonzero(first + count > limit)
    if len(bad):
        found = f"{first[bad[0]]} to {first[bad[0]] + count[bad[0]] - 1}"
        raise FormatError(f"{many} of {what} {bad[0]}", "", f"below {limit}", found)
    if int(count.sum()) > 4 * max(limit, 1):
        raise FormatError(f"{many} that {what}s share", "", f"{4 * limit} in all at most", int(count.sum()))


def channels_of(poses: Array) -> NDArray[np.bool_]:
    """Tell which channels of poses frames have codes of, (J, CHANNELS)."""
    found: NDArray[np.bool_] = (poses["mask"][:, None] >> np.arange(CHANNELS, dtype=np.uint32) & 1).astype(np.bool_)
    return found


def _alignment(pieces: Sequence[Piece]) -> int:
    """Return to how many bytes the source aligned its lumps."""
    offsets = [piece.offset for piece in pieces if piece.size and piece.key not in UNALIGNED]
    return next(step for step in ALIGNMENTS if all(offset % step == 0 for offset in offsets))


def write(iqm: Iqm) -> bytes:
    """Return the file of structs; inverse of `read`, byte for byte while the layout's hint applies."""
    header = np.array(iqm.header, HEADER).reshape(1)
    header["magic"], header["version"] = MAGIC, VERSION
    for lump in LUMPS:
        lump.count(header, iqm)
    header["num_extensions"] = len(iqm.extensions)
    arrays, extensions = iqm.arrays.copy(), iqm.extensions.copy()
    lumps: dict[int, Any] = {0: raw_bytes(header)}
    for number, lump in enumerate(LUMPS, 1):
        lumps[number] = raw_bytes(arrays) if number == TABLE else lump.packed(iqm)
        if number == TABLE:
            lumps |= {FIRST_ARRAY + index: raw_bytes(data) for index, data in enumerate(iqm.data)}
    for index, data in enumerate(iqm.extension_data):
        lumps[FIRST_EXTENSION + 2 * index] = raw_bytes(extensions[index : index + 1])
        lumps[FIRST_EXTENSION + 2 * index + 1] = data
    sizes = {key: len(data) for key, data in lumps.items()}
    laid, ends = _laid_out(iqm, sizes)
    offsets, size = laid.places(sizes)
    header["filesize"] = size + ends if size + ends >= HEADER.itemsize else size
    for number, lump in enumerate(LUMPS, 1):
        absent = isinstance(lump, Absent) and int(header[str(lump.shape[0])][0]) > 0  # what is told by 0 alone
        header[str(lump.offset)] = offsets.get(number, 0 if absent else laid.empty.get(number, 0))
    arrays["ofs_data"] = [offsets.get(FIRST_ARRAY + i, laid.empty.get(FIRST_ARRAY + i, 0)) for i in range(len(arrays))]
    _link(header, extensions, offsets, laid)
    return assemble(lumps, laid)


def _laid_out(iqm: Iqm, sizes: dict[int, int]) -> tuple[LayoutPlan, int]:
    """Return where lumps lie: as the source's, aligned like them; and by how much the written size is off the true."""
    hint = iqm.layout
    renamed = {key: key for key in sizes if key < FIRST_ARRAY or key >= FIRST_EXTENSION}
    renamed |= {FIRST_ARRAY + old: FIRST_ARRAY + new for new, old in enumerate(iqm.source_arrays) if old >= 0}
    laid = plan_layout(list(sizes), sizes, hint, renamed)
    ends, step = hint["layout_ends"].tolist()[:2] if hint else (0, ALIGNMENTS[1])
    if laid.order[0] != 0:  # nothing lies before the header
        laid = plan_layout(list(sizes), sizes, {}, {})
    end = 0
    for key in laid.order:
        gap = laid.gaps[key]
        if key not in UNALIGNED and ((end + len(gap)) % step or len(gap) < step):
            padding = len(gap) < step and not gap.strip(b"\0")  # no more than the present sizes ask for
            gap = bytes(-end % step) if padding else gap + bytes(-(end + len(gap)) % step)
            laid.gaps[key] = gap
        end += len(gap) + sizes[key]
    return laid, ends


def _link(header: Any, extensions: Array, offsets: dict[int, int], laid: LayoutPlan) -> None:
    """Write where extensions lie, and what is in them."""
    for index, extension in enumerate(extensions):
        key = FIRST_EXTENSION + 2 * index
        extension["ofs_data"] = offsets.get(key + 1, laid.empty.get(key + 1, 0))
        if index + 1 < len(extensions):
            extension["ofs_next"] = offsets[key + 2]
    header["ofs_extensions"] = offsets.get(FIRST_EXTENSION, header["ofs_extensions"][0])


def name_at(text: NDArray[np.uint8], offset: int) -> str:
    """Return the name at an offset; what lies outside the text has none."""
    return decode_name(text[offset:].tobytes()) if offset < len(text) else ""


def names_at(text: NDArray[np.uint8], offsets: NDArray[Any]) -> list[str]:
    """Return the names at offsets (n,)."""
    raw = text.tobytes()
    return [decode_name(raw[o : raw.find(b"\0", o) if raw.find(b"\0", o) >= 0 else None]) if o < len(raw) else ""
            for o in offsets.tolist()]  # fmt: skip


class TextWriter:
    """A text that names are added to."""

    def __init__(self, source: NDArray[np.uint8] | None) -> None:
        self._source = source
        self._raw = bytearray(b"\0" if source is None else source.tobytes())
        self._known: dict[str, int] = {"": 0} if source is None else {}
        self._grown = source is None

    def offset(self, name: str, written: int = -1) -> int:
        """Return a name's offset: the one that the source has `written` where that names it still."""
        if self._source is not None and written >= 0 and name_at(self._source, written) == name:
            return written
        if name not in self._known:
            if self._raw and self._raw[-1]:
                self._raw += b"\0"  # the last name of the source may lack it
            self._known[name], self._grown = len(self._raw), True
            self._raw += name.encode("utf-8", errors="replace").replace(b"\0", b"") + b"\0"
        return self._known[name]

    @property
    def text(self) -> NDArray[np.uint8]:
        """Return the bytes (n,)."""
        padding = bytes(-len(self._raw) % STEP) if self._grown else b""
        return np.frombuffer(bytes(self._raw) + padding, np.uint8)
