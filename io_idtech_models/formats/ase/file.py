"""ASE: the text that 3ds Max exports, of which Doom 3 and map compilers read meshes and materials.

    *3DSMAX_ASCIIEXPORT 200
    *MATERIAL_LIST { *MATERIAL_COUNT 1  *MATERIAL 0 { *MATERIAL_NAME "..."  *MAP_DIFFUSE { *BITMAP "..." } } }
    *GEOMOBJECT { *NODE_NAME "..."  *NODE_TM {...}  *MESH {...}  *MATERIAL_REF 0 }

A `*MESH` has counts (`*MESH_NUMVERTEX` and so on) before lists of rows: `*MESH_VERTEX` number x y z, `*MESH_FACE`
number `A:` a `B:` b `C:` c and more, `*MESH_TVERT` number u v w, `*MESH_TFACE` number a b c, and in `*MESH_NORMALS` a
`*MESH_FACENORMAL` number x y z for each face, with three `*MESH_VERTEXNORMAL` vertex x y z. Colours of vertices are
`*MESH_VERTCOL` number red green blue, 0 to 1, which a `*MESH_CFACE` number a b c names for each face.

What engines read (dhewm3's `Model_ase.cpp`, and `ConvertASEToModelSurfaces` in its `Model.cpp`; GtkRadiant's and so
q3map2's picomodel, `pm_ase.c`):

- Doom 3 wants keywords in capitals, picomodel in any case; picomodel refuses a file that does not begin with
  `*3DSMAX_ASCIIEXPORT`. Words end at blanks, braces stand alone. Neither knows comments; both skip keywords that they
  don't know, Doom 3 but those within lists.
- Doom 3 reads rows in their order and refuses more than announced; picomodel goes by their numbers. Here the rows have
  to be numbered in their order, and to be as many as announced.
- Braces within a `*MESH` are only counted: what a `*MESH_MAPPINGCHANNEL` holds replaces the texture coordinates that
  were read before. 3ds Max's exporter (`ExportMesh` in its SDK) writes one for each further set, with its number from
  2 on and lists of its own, behind the mesh's: so of several sets the last is drawn. Doom 3 refuses a set whose
  `*MESH_NUMTVFACES` is not `*MESH_NUMFACES`.
- Objects lie at the top or in a `*GROUP`. Vertices lie in the world: `*NODE_TM`, which has to stand before the `*MESH`,
  turns normals alone, in Doom 3 (where without one they have no length; picomodel takes them as they stand).
- Colours without faces that name them make all black in Doom 3, which takes no opacity; picomodel reads the same rows.
- A `*MATERIAL_REF` that is missing is 0.
- Meshes in a `*MESH_ANIMATION` are no part of the static model.

Nothing is left out of the struct: the text is kept, and every number that means something knows where it stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ...reporting import FormatError
from ..common.text import decode_text

IDENT = b"*3DSMAX_ASCIIEXPORT"
LARGEST = 1e9  # a coordinate, which is more than any map
LONGEST = 48  # characters of a number
MOST_SHOWN = 40
BLANKS = bytes(range(33))
TO_BLANKS = bytes.maketrans(BLANKS, b" " * len(BLANKS))
SKIPPED = (b"*SCENE", b"*SHAPEOBJECT", b"*CAMERAOBJECT", b"*HELPEROBJECT", b"*LIGHTOBJECT")
COUNTS = (
    b"*MESH_NUMVERTEX", b"*MESH_NUMFACES", b"*MESH_NUMTVERTEX", b"*MESH_NUMTVFACES", b"*MESH_NUMCVERTEX",
    b"*MESH_NUMCVFACES",
)  # fmt: skip
UVW = {
    b"*UVW_U_OFFSET": "u_offset", b"*UVW_V_OFFSET": "v_offset", b"*UVW_U_TILING": "u_tiling",
    b"*UVW_V_TILING": "v_tiling", b"*UVW_ANGLE": "angle",
}  # fmt: skip
BASE_CHANNEL = 1  # the set whose lists lie in the mesh itself
SET_KEYWORDS = (b"*MESH_NUMTVERTEX", b"*MESH_TVERTLIST", b"*MESH_NUMTVFACES", b"*MESH_TFACELIST")
Doubles = NDArray[np.float64]
Span = tuple[int, int]  # of the text


@dataclass(eq=False)
class Material:
    """A material, or one of those that it is made of."""

    name: str = ""
    bitmap: str = ""
    number: int = 0  # of a part, by which faces name it
    u_offset: float = 0.0
    v_offset: float = 0.0
    u_tiling: float = 1.0
    v_tiling: float = 1.0
    angle: float = 0.0  # Doom 3: radians
    parts: list[Material] = field(default_factory=list)


@dataclass(eq=False)
class Rows:
    """The rows of a list, as numbers, and where in the text each of these stands."""

    values: Doubles  # (n, k)
    spans: NDArray[np.int64]  # (n, k, 2)


NO_ROWS = Rows(np.zeros((0, 3)), np.zeros((0, 3, 2), np.int64))


@dataclass(eq=False)
class UvSet:
    """A set of texture coordinates, as far as its lists were read."""

    channel: int
    span: Span | None = None  # of its `*MESH_MAPPINGCHANNEL`, from the keyword to behind the brace
    channel_span: Span | None = None  # of the number behind that
    tverts: Rows = field(default_factory=lambda: NO_ROWS)  # (n, 2)
    tfaces: NDArray[np.int64] | None = None  # (T, 3)
    # By keyword: where it stands with what belongs to it, a number or a list.
    pieces: dict[bytes, Span] = field(default_factory=dict)

    def fits(self, num_faces: int) -> bool:
        """Tell whether faces can have these coordinates."""
        if self.tfaces is None or len(self.tfaces) != num_faces or self.pieces.keys() != set(SET_KEYWORDS):
            return False
        return int(self.tfaces.max(initial=-1)) < len(self.tverts.values)


@dataclass(eq=False)
class Mesh:
    """A mesh: P points, T faces."""

    span: Span = field(init=False)  # from its keyword to behind its brace
    announced: dict[bytes, int] = field(default_factory=dict)
    points: Rows = field(default_factory=lambda: NO_ROWS)  # (P, 3)
    faces: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 3), np.int64))  # (T, 3) counter-clockwise
    part_ids: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))  # (T,) which part of a material
    tverts: Rows = field(default_factory=lambda: NO_ROWS)  # (n, 2) of the set that is drawn
    tfaces: NDArray[np.int64] | None = None  # (T, 3)
    drawn: UvSet | None = None  # None: there is none, or it is made of several
    further: list[UvSet] = field(default_factory=list)  # that faces can have
    misfits: list[UvSet] = field(default_factory=list)  # all others, of several
    face_normals: Rows | None = None  # (T, 3)
    normals: Rows | None = None  # (T * 3, 3), by corners of faces
    colors: Rows = field(default_factory=lambda: NO_ROWS)  # (n, 3)
    cfaces: NDArray[np.int64] | None = None  # (T, 3) of the colours


@dataclass(eq=False)
class Object:
    """A `*GEOMOBJECT`."""

    span: Span
    name: str = ""
    name_spans: list[Span] = field(default_factory=list)
    ref: int = 0
    ref_span: Span | None = None
    turn: Doubles = field(default_factory=lambda: np.eye(3))  # rows of its `*NODE_TM`
    mesh: Mesh | None = None
    placed: bool = False  # rows of its `*NODE_TM` stand before its `*MESH`


@dataclass(eq=False)
class Ase:
    """A file: its text, and what is in it."""

    text: bytes
    materials: list[Material] = field(default_factory=list)
    objects: list[Object] = field(default_factory=list)
    list_end: int | None = None  # where the brace of the list of materials closes
    count_span: Span | None = None


def read(data: bytes) -> Ase:
    """Read a file.

    Raises:
        FormatError: it is no ASE, ends too early, or its lists contradict what it announces; the line is named.
    """
    return _Parser(data).file()


def write(ase: Ase) -> bytes:
    """Return the file of an ASE; inverse of `read`."""
    return ase.text


class _Parser:
    """A text that is read word by word, and its lists whole."""

    def __init__(self, text: bytes) -> None:
        self.text, self.plain = text, text.translate(TO_BLANKS)
        self.place = self.start = 0

    def fail(self, what: str, expected: object = "", found: object = "", place: int | None = None) -> NoReturn:
        """Raise a FormatError that names a line."""
        line = self.text.count(b"\n", 0, self.start if place is None else place) + 1
        raise FormatError(what, f"line {line}", expected, found)

    def word(self) -> bytes:
        """Return the next word and go on behind it, b"" at the end; a quoted one may have blanks."""
        plain, start = self.plain, self.place
        while start < len(plain) and plain[start] == 32:
            start += 1
        end = plain.find(b" ", start)
        end = len(plain) if end < 0 else end
        if plain[start : start + 1] == b'"':
            close = self.text.find(b'"', start + 1)
            broken = self.text.find(b"\n", start)
            if close >= 0 and (broken < 0 or close < broken):
                end = close + 1
        self.start, self.place = start, end
        return self.text[start:end]

    def needed(self, what: str) -> bytes:
        """Return the next word; raises FormatError at the end."""
        found = self.word()
        if not found:
            self.fail("the file ends too early", what, "the end")
        return found

    def opening(self) -> None:
        """Go on behind the brace that must open now."""
        found = self.needed("'{'")
        if found != b"{":
            self.fail("unexpected text", "'{'", shown(found))

    def block(self) -> Iterator[bytes]:
        """Yield the words, in capitals, of a block whose brace opens now, at any depth, up to its end."""
        self.opening()
        depth = 1
        while depth:
            found = self.needed("'}'")
            if found == b"{":
                depth += 1
            elif found == b"}":
                depth -= 1
            else:
                yield found.upper()

    def skip(self) -> None:
        """Go on behind a block."""
        for _ in self.block():
            pass

    def line(self) -> None:
        """Go on to the next line."""
        end = self.text.find(b"\n", self.place)
        self.place = len(self.text) if end < 0 else end

    def number(self, what: str) -> float:
        """Return the number that comes now; raises FormatError."""
        token = self.needed(what)
        try:
            value = float(token)
        except ValueError:
            value = np.inf
        if not abs(value) <= LARGEST:
            self.fail(f"bad {what}", "a number", shown(token))
        return value

    def integer(self, what: str) -> int:
        """Return the whole number, 0 or more, that comes now; raises FormatError."""
        value = self.number(what)
        if not (value.is_integer() and value >= 0):
            self.fail(f"bad {what}", "a whole number, 0 or more", f"{value:g}")
        return int(value)

    def string(self) -> str:
        """Return the text that comes now, without quotes, and NULs, which no name in Blender has."""
        return decode_text(self.needed("a name").strip(b'"').replace(b"\0", b""))

    def file(self) -> Ase:
        """Return all."""
        first = self.word()
        if first.upper() != IDENT:
            text = first[:MOST_SHOWN].decode("utf-8", errors="replace")
            self.fail("not an ASE file", IDENT[1:].decode(), f"'{text}'")
        self.line()
        ase, depth = Ase(self.text), 0
        while found := self.word():
            if found == b"}":
                depth -= 1
                if depth < 0:
                    self.fail("a brace closes that never opened")
            elif found.upper() == b"*GROUP":
                self.needed("the group's name")
                self.opening()
                depth += 1
            else:
                self.outer(ase, found.upper())
        if depth:
            self.fail("the file ends too early", "'}' of a *GROUP", "the end")
        return ase

    def outer(self, ase: Ase, keyword: bytes) -> None:
        """Read what a keyword at the top or in a group begins."""
        if keyword == b"*GEOMOBJECT":
            ase.objects.append(self.object())
        elif keyword == b"*MATERIAL_LIST":
            self.materials(ase)
        elif keyword in SKIPPED:
            self.skip()
        elif keyword == b"*COMMENT":
            self.line()
        elif keyword == b"{":
            self.place = self.start
            self.skip()

    def materials(self, ase: Ase) -> None:
        """Read the list of materials."""
        for keyword in self.block():
            if keyword == b"*MATERIAL_COUNT":
                self.integer("*MATERIAL_COUNT")
                ase.count_span = self.start, self.place
            elif keyword == b"*MATERIAL":
                self.needed("the material's number")
                ase.materials.append(self.material())
        ase.list_end = self.start

    def material(self) -> Material:
        """Read a material's block."""
        found = Material()
        for keyword in self.block():
            if keyword == b"*MATERIAL_NAME":
                found.name = self.string()
            elif keyword == b"*SUBMATERIAL":
                number = self.integer("*SUBMATERIAL")
                found.parts.append(self.material())
                found.parts[-1].number = number
            elif keyword == b"*MAP_DIFFUSE":
                for key in self.block():
                    if key == b"*BITMAP":
                        found.bitmap = self.string()
                    elif key in UVW:
                        setattr(found, UVW[key], self.number(key.decode()))
        return found

    def object(self) -> Object:
        """Read an object's block, whose keyword was the last word."""
        start = self.start
        found, placed = Object((start, start)), False
        for keyword in self.block():
            if keyword == b"*NODE_NAME":
                found.name = self.string()
                found.name_spans.append((self.start, self.place))
            elif keyword == b"*MATERIAL_REF":
                found.ref = self.integer("*MATERIAL_REF")
                found.ref_span = self.start, self.place
            elif keyword in (b"*TM_ROW0", b"*TM_ROW1", b"*TM_ROW2"):
                found.turn[keyword[-1] - ord("0")] = [self.number(keyword.decode()) for _ in range(3)]
                placed = True
            elif keyword in (b"*MESH_ANIMATION", b"*TM_ANIMATION"):
                self.skip()
            elif keyword == b"*MESH":
                found.mesh, found.placed = self.mesh(), placed
        found.span = start, self.place
        return found

    def mesh(self) -> Mesh:
        """Read a mesh's block, whose keyword was the last word."""
        start, mesh = self.start, Mesh()
        base, sets = UvSet(BASE_CHANNEL), dict[int, UvSet]()
        for keyword in self.block():
            if keyword == b"*MESH_MAPPINGCHANNEL":
                self.channel(mesh, sets)
            else:
                self.mesh_part(mesh, keyword, base, sets)
        mesh.span = start, self.place
        self.check(mesh)
        self.sort(mesh, list(sets.values()))
        return mesh

    def sort(self, mesh: Mesh, sets: list[UvSet]) -> None:
        """Tell which of the sets of a mesh is drawn, and which are further ones; of one channel the last counts."""
        last = {each.channel: each for each in sets if each.fits(len(mesh.faces))}
        fitting = [each for each in sets if last.get(each.channel) is each]
        if fitting and fitting[-1].tverts is mesh.tverts and fitting[-1].tfaces is mesh.tfaces:
            mesh.drawn, mesh.further = fitting[-1], fitting[:-1]
        elif len(sets) == 1:
            return
        mesh.misfits = [each for each in sets if mesh.drawn is None or last.get(each.channel) is not each]

    def channel(self, mesh: Mesh, sets: dict[int, UvSet]) -> None:
        """Read the block of a further set of texture coordinates, which engines take for the mesh's own."""
        start = self.start
        found = UvSet(self.integer("*MESH_MAPPINGCHANNEL"))
        found.channel_span = self.start, self.place
        for keyword in self.block():
            self.mesh_part(mesh, keyword, found, sets)
        found.span = start, self.place

    def mesh_part(self, mesh: Mesh, keyword: bytes, own: UvSet, sets: dict[int, UvSet]) -> None:
        """Read what a keyword begins in a mesh, or in a block of the set `own`; `sets` are those in their order."""
        start = self.start
        if keyword in COUNTS:
            mesh.announced[keyword] = self.integer(keyword.decode())
        elif keyword == b"*MESH_VERTEX_LIST":
            mesh.points = self.numbered(b"*MESH_VERTEX", mesh.announced.get(b"*MESH_NUMVERTEX"), 3)
        elif keyword == b"*MESH_FACE_LIST":
            self.faces(mesh)
        elif keyword == b"*MESH_TVERTLIST":
            mesh.tverts = own.tverts = self.numbered(b"*MESH_TVERT", mesh.announced.get(b"*MESH_NUMTVERTEX"), 2)
            sets.pop(id(own), None)
            sets[id(own)] = own
        elif keyword == b"*MESH_TFACELIST":
            rows = self.numbered(b"*MESH_TFACE", mesh.announced.get(b"*MESH_NUMTVFACES"), 3)
            mesh.tfaces = own.tfaces = self.indices(rows.values, b"*MESH_TFACE")
        elif keyword == b"*MESH_NORMALS":
            self.normals(mesh)
        elif keyword == b"*MESH_CVERTLIST":
            mesh.colors = self.numbered(b"*MESH_VERTCOL", mesh.announced.get(b"*MESH_NUMCVERTEX"), 3)
        elif keyword == b"*MESH_CFACELIST":
            rows = self.numbered(b"*MESH_CFACE", mesh.announced.get(b"*MESH_NUMCVFACES"), 3)
            mesh.cfaces = self.indices(rows.values, b"*MESH_CFACE")
        if keyword in SET_KEYWORDS:
            own.pieces[keyword] = start, self.place

    def check(self, mesh: Mesh) -> None:
        """Refuse a mesh whose faces name what it has not."""
        if mesh.faces.size and int(mesh.faces.max()) >= len(mesh.points.values):
            self.fail("a face names a vertex that the mesh lacks", f"below {len(mesh.points.values)}", mesh.faces.max())
        mesh.tfaces = self.named(mesh, mesh.tfaces, len(mesh.tverts.values), "*MESH_NUMTVFACES", "texture coordinate")
        mesh.cfaces = self.named(mesh, mesh.cfaces, len(mesh.colors.values), "*MESH_NUMCVFACES", "colour")

    def named(
        self, mesh: Mesh, faces: NDArray[np.int64] | None, count: int, keyword: str, what: str
    ) -> NDArray[np.int64] | None:
        """Return faces (T, 3) that name rows of a list; None without such; raises FormatError."""
        if faces is None or not count:
            return None
        if len(faces) != len(mesh.faces):
            self.fail(f"{keyword} is not *MESH_NUMFACES", len(mesh.faces), len(faces))
        if faces.size and int(faces.max()) >= count:
            self.fail(f"a face names a {what} that the mesh lacks", f"below {count}", faces.max())
        return faces

    def rows(self, keyword: bytes) -> tuple[NDArray[np.bytes_], NDArray[np.int64], NDArray[np.int64], int]:
        """Return a list's words, where each stands (n, 2), which of them begin rows, and where the list begins."""
        self.opening()
        begin = self.place
        end = self.plain.find(b"}", begin)
        if end < 0:
            self.fail("the file ends too early", "'}'", "the end")
        raw = np.frombuffer(self.plain, np.uint8, end - begin, begin) != 32
        edges = np.flatnonzero(np.diff(raw, prepend=False, append=False)).reshape(-1, 2)
        words = self.plain[begin:end].split()
        if len(words) and int((edges[:, 1] - edges[:, 0]).max()) > LONGEST:
            place = begin + int(edges[np.argmax(edges[:, 1] - edges[:, 0]), 0])
            self.fail("damaged list", f"rows '{keyword.decode()}'", shown(self.text[place:end]), place)
        self.place = end + 1
        found: NDArray[np.bytes_] = np.array(words, f"S{LONGEST}") if words else np.zeros(0, f"S{LONGEST}")
        heads = np.flatnonzero(found == words[0]) if words else np.zeros(0, np.int64)
        if words and words[0].upper() != keyword:
            self.fail("damaged list", shown(keyword), shown(words[0]), begin + int(edges[0, 0]))
        return found, edges + begin, heads, begin

    def floats(self, words: NDArray[np.bytes_], spans: NDArray[np.int64]) -> Doubles:
        """Return the numbers that words (...) are; raises FormatError."""
        try:
            values = words.astype(np.float64)
        except ValueError:
            values = np.full(words.shape, np.nan)
        if not (np.abs(values) <= LARGEST).all():
            place, word = next(
                (int(span[0]), word)
                for word, span in zip(words.ravel().tolist(), spans.reshape(-1, 2), strict=True)
                if not _is_number(word)
            )
            self.fail("not a number", f"a number within {LARGEST:g}", shown(word), place)
        return values

    def indices(self, values: Doubles, keyword: bytes) -> NDArray[np.int64]:
        """Return numbers of rows (n, k) as indices; raises FormatError."""
        bad = values[(values < 0) | (values != np.floor(values))]
        if len(bad):
            self.fail(f"{keyword.decode()} has a number that is no index", "a whole number, 0 or more", f"{bad[0]:g}")
        return values.astype(np.int64)

    def in_order(self, numbers: Doubles, spans: NDArray[np.int64], announced: int | None, keyword: bytes) -> None:
        """Refuse rows (n,) that are not numbered in their order, or more or fewer than announced."""
        if announced is not None and announced != len(numbers):
            self.fail("damaged list", f"{announced} rows '{keyword.decode()}'", len(numbers))
        wrong = np.flatnonzero(numbers != np.arange(len(numbers)))
        if len(wrong):
            where = int(spans[wrong[0], 0])
            self.fail(f"'{keyword.decode()}' out of order", wrong[0], f"{numbers[wrong[0]]:g}", where)

    def numbered(self, keyword: bytes, announced: int | None, width: int) -> Rows:
        """Return a list of rows that have a number of their own and (at least) `width` others, without the former."""
        words, spans, heads, _ = self.rows(keyword)
        sizes = np.diff(np.append(heads, len(words)))
        short = np.flatnonzero(sizes < 2 + width)
        if len(short):
            place = int(spans[heads[short[0]], 0])
            self.fail(f"damaged '{keyword.decode()}'", f"{1 + width} numbers", sizes[short[0]] - 1, place)
        places = heads[:, None] + np.arange(1, 2 + width)
        values = self.floats(words[places], spans[places])
        self.in_order(values[:, 0], spans[places[:, 0]], announced, keyword)
        return Rows(values[:, 1:], spans[places[:, 1:]])

    def faces(self, mesh: Mesh) -> None:
        """Read the list of faces: its labels are skipped, whatever they say, as both engines do."""
        keyword = b"*MESH_FACE"
        words, spans, heads, _ = self.rows(keyword)
        sizes = np.diff(np.append(heads, len(words)))
        short = np.flatnonzero(sizes < 8)
        if len(short):
            self.fail("damaged '*MESH_FACE'", "three vertices", "fewer", int(spans[heads[short[0]], 0]))
        numbers = np.char.rstrip(words[heads + 1], b":")
        values = self.floats(numbers, spans[heads + 1])
        self.in_order(values, spans[heads + 1], mesh.announced.get(b"*MESH_NUMFACES"), keyword)
        places = heads[:, None] + np.array([3, 5, 7])
        mesh.faces = self.indices(self.floats(words[places], spans[places]), keyword)
        mesh.part_ids = np.zeros(len(heads), np.int64)
        ids = np.flatnonzero(np.char.upper(words) == b"*MESH_MTLID")
        ids = ids[(ids + 1 < len(words)) & (ids > heads[0] if len(heads) else False)]
        if len(ids):
            owners = np.searchsorted(heads, ids) - 1
            mesh.part_ids[owners] = self.indices(self.floats(words[ids + 1], spans[ids + 1]), b"*MESH_MTLID")

    def normals(self, mesh: Mesh) -> None:
        """Read the normals: a face's, and those of its corners, each named by its vertex."""
        words, spans, _, begin = self.rows(b"*MESH_FACENORMAL")
        count = len(mesh.faces)
        kinds = np.char.upper(words[::5])
        usual = np.tile(np.array([b"*MESH_FACENORMAL", *[b"*MESH_VERTEXNORMAL"] * 3]), count)
        if len(words) != 20 * count or (kinds != usual).any():
            text = f"a *MESH_FACENORMAL and three *MESH_VERTEXNORMAL for each of {count} faces"
            self.fail("damaged *MESH_NORMALS", text, f"{len(words)} words", begin)
        places = np.arange(len(words)).reshape(count, 4, 5)[..., 1:]
        values = self.floats(words[places], spans[places])
        self.in_order(values[:, 0, 0], spans[places[:, 0, 0]], None, b"*MESH_FACENORMAL")
        same = values[:, 1:, :1] == mesh.faces[:, None, :]  # row, corner
        wrong = np.argwhere(~same.any(axis=2))
        if len(wrong):
            face, row = wrong[0].tolist()
            where = int(spans[places[face, row + 1, 0], 0])
            one, two, three = mesh.faces[face].tolist()
            found = f"{values[face, row + 1, 0]:g}"
            self.fail("a normal of a vertex that its face lacks", f"{one}, {two} or {three}", found, where)
        # A vertex that a face has twice: the first row is the first corner's.
        corner = (same * 2 + np.eye(3, dtype=np.int64)).argmax(axis=2)
        rows = np.tile(np.arange(3), (count, 1))
        np.put_along_axis(rows, corner, np.arange(3)[None, :].repeat(count, axis=0), axis=1)
        chosen = np.take_along_axis(values[:, 1:, 1:], rows[..., None], axis=1)
        where_at = np.take_along_axis(spans[places[:, 1:, 1:]], rows[..., None, None], axis=1)
        mesh.face_normals = Rows(values[:, 0, 1:], spans[places[:, 0, 1:]])
        mesh.normals = Rows(chosen.reshape(-1, 3), where_at.reshape(-1, 3, 2))


def _is_number(word: Any) -> bool:
    try:
        return bool(abs(float(word)) <= LARGEST)
    except ValueError:
        return False


def shown(raw: bytes) -> str:
    """Return some of a text as a message shows it."""
    text = raw[:MOST_SHOWN].split(b"\n")[0].decode("utf-8", errors="replace").strip()
    return f"'{text}'" if text else "the end"
