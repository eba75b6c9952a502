"""md5mesh: the meshes and joints of Doom 3, Quake 4, Prey, the Quake II remaster, and many free games.

A text: a heading, the joints in their bind pose (model space), and the meshes, in this order (dhewm3,
`idRenderModelMD5::LoadModel` and `idMD5Mesh::ParseMesh`; keywords are case-sensitive):

    MD5Version 10
    commandline "..."
    numJoints J
    numMeshes M
    joints {
        "name" parent ( x y z ) ( qx qy qz )
    }
    mesh {
        shader "..."
        numverts V
        vert index ( s t ) start count
        numtris T
        tri index a b c
        numweights W
        weight index joint bias ( x y z )
    }

- A quaternion's w is not stored: see `_md5`. A parent comes before its children; -1 for a root.
- A vertex has `count` weights from `start` on. Real files share ranges, and starts need not rise.
- Lines are read by position: dhewm3 ignores the written index, Q2PRO uses it; files where they differ get a warning.
- Front faces are clockwise. Texture coordinates count from the top left. Normals are not stored.
- id's exporter names each mesh in a comment, `// meshes: NAME`: the name that it is called by here.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..common.text import Reader, decode_text, encode_text, format_rows
from .common import IDENT, VERSION, read_heading

log = logging.getLogger(__name__)

NAME = re.compile(rb"\s*//[ \t]*meshes:[ \t]*([^\r\n]*)")
MOST_SHARED = 1 << 18  # weights of vertices, counted for each: a small file must not decode to a huge model
MAX_JOINTS = 4096  # more than any game takes; Blender needs time that grows with their square


@dataclass(eq=False)
class Md5Part:
    """One mesh as the file has it."""

    name: str  # of the comment, "" without one
    shader: str
    st: NDArray[np.float64]  # (V, 2)
    starts: NDArray[np.int32]  # (V,)
    counts: NDArray[np.int32]  # (V,)
    triangles: NDArray[np.int32]  # (T, 3), clockwise
    joints: NDArray[np.int32]  # (W,)
    biases: NDArray[np.float64]  # (W,)
    offsets: NDArray[np.float64]  # (W, 3)


@dataclass(eq=False)
class Md5Mesh:
    """A file as arrays."""

    command_line: str | None
    names: list[str]
    parents: NDArray[np.int32]  # (J,)
    positions: NDArray[np.float64]  # (J, 3)
    orientations: NDArray[np.float64]  # (J, 3) x, y, z
    parts: list[Md5Part] = field(default_factory=list)


def read(data: bytes) -> Md5Mesh:
    """Read a file.

    Raises:
        FormatError: the file is no md5mesh, is cut off, or its counts or indices contradict it; with the line.
    """
    reader = Reader(data)
    command_line = read_heading(reader)
    num_joints, num_meshes = reader.count(b"numJoints"), reader.count(b"numMeshes")
    if num_joints > MAX_JOINTS:
        reader.fail("too many joints", f"{MAX_JOINTS} at most", num_joints)
    reader.expect(b"joints")
    names, parents, numbers = read_joints(reader, num_joints, 6)
    mesh = Md5Mesh(command_line, names, parents, numbers[:, :3], numbers[:, 3:])
    for _ in range(num_meshes):
        mesh.parts.append(_read_part(reader, data, num_joints))
    return mesh


def read_joints(reader: Reader, count: int, width: int) -> tuple[list[str], NDArray[np.int32], NDArray[np.float64]]:
    """Read a block of joints: names, parents (J,), and `width` numbers each, (J, width); raises FormatError."""
    reader.expect(b"{")
    found = [_read_joint(reader, joint, width) for joint in range(count)]
    while reader.peek() == b")":
        reader.next(")")
    reader.expect(b"}")
    parents, rows = [row[1] for row in found], [row[2] for row in found]
    return (
        [row[0] for row in found],
        np.array(parents, np.int32),
        np.array(rows, np.float64).reshape(count, width),
    )


def joint_place(reader: Reader, start: int, joint: int, width: int) -> int:
    """Return where a joint of the block that `read_joints` read from `start` on is: only errors ask for it."""
    reader.place = start
    reader.expect(b"{")
    for each in range(joint + 1):
        _read_joint(reader, each, width)
    return reader.place


def _read_joint(reader: Reader, joint: int, width: int) -> tuple[str, int, list[float]]:
    while reader.peek() == b")":
        reader.next(")")
    name = reader.string("a joint's name")
    parent = reader.integer("a joint's parent")
    if not -1 <= parent < joint:
        reader.fail(f"the parent of joint {joint} '{name}'", f"-1 to {joint - 1}", parent)
    return name, parent, [_number(reader) for _ in range(width)]


def _number(reader: Reader) -> float:
    token = reader.next("a number")
    while token in {b"(", b")"}:
        token = reader.next("a number")
    return reader.as_float(token)


def _read_part(reader: Reader, data: bytes, num_joints: int) -> Md5Part:
    reader.expect(b"mesh")
    reader.expect(b"{")
    comment = NAME.match(data, reader.place)
    reader.expect(b"shader")
    shader = reader.string("a shader")
    num_verts = reader.count(b"numverts")
    verts = _Rows(reader, b"vert", num_verts, 5, b"numtris")
    num_tris = reader.count(b"numtris")
    tris = _Rows(reader, b"tri", num_tris, 4, b"numweights")
    num_weights = reader.count(b"numweights")
    weights = _Rows(reader, b"weight", num_weights, 6, b"}")
    reader.expect(b"}")
    for rows in (verts, tris, weights):
        rows.warn_of_disorder(shader)
    part = Md5Part(
        decode_text(comment.group(1).strip()) if comment else "",
        shader,
        verts.values[:, 1:3],
        verts.whole(3, num_weights + 1, "first weight of a vertex"),
        verts.whole(4, num_weights + 1, "number of a vertex's weights"),
        np.stack([tris.whole(1 + i, num_verts, "vertex of a triangle") for i in range(3)], axis=1),
        weights.whole(1, num_joints, "joint of a weight"),
        weights.values[:, 2],
        weights.values[:, 3:],
    )
    ends = part.starts.astype(np.int64) + part.counts
    if len(ends) and int(ends.max()) > num_weights:
        bad = int(ends.argmax())
        verts.fail(bad, f"weights of vertex {bad}", f"below {num_weights}", int(ends[bad]) - 1)
    total, count = int(part.counts.sum(dtype=np.int64)), num_verts + num_weights
    most = min(64 * count, MOST_SHARED + 4 * count)  # of the former a record holds no more either
    if total > most:
        reader.fail("vertices share weights without end", f"{most} at most in all", total)
    return part


class _Rows:
    """The rows of a list, (n, width), and where they are in the text."""

    def __init__(self, reader: Reader, keyword: bytes, count: int, width: int, until: bytes) -> None:
        self.reader, self.keyword, self.start = reader, keyword, reader.place
        self.values = reader.rows(keyword, count, width, until)

    def fail(self, row: int, what: str, expected: str, found: object) -> NoReturn:
        """Raise a FormatError that names the row's line."""
        self.reader.fail(what, expected, found, self.reader.row_place(self.start, self.keyword, row))

    def warn_of_disorder(self, shader: str) -> None:
        """Warn of rows whose numbers are not their places."""
        if not np.array_equal(self.values[:, 0], np.arange(len(self.values))):
            text = "the lines '%s' of shader '%s' are not numbered in order; read as they stand"
            log.warning(text, self.keyword.decode(), shader)

    def whole(self, column: int, limit: int, what: str) -> NDArray[np.int32]:
        """Return a column (n,) as indices from 0 to below `limit`; raises FormatError."""
        values = self.values[:, column]
        bad = np.flatnonzero((values < 0) | (values >= limit) | (values != np.rint(values)))
        if len(bad):
            expected = f"0 to {limit - 1}" if limit else "none"
            self.fail(int(bad[0]), f"{what} ({bad[0]})", expected, f"{values[bad[0]]:g}")
        return values.astype(np.int32)


def write(mesh: Md5Mesh) -> bytes:
    """Return the file of a model; inverse of `read`."""
    lines = [b"%s %d\n" % (IDENT, VERSION)]
    if mesh.command_line is not None:
        lines.append(b'commandline "%s"\n' % encode_text(mesh.command_line))
    lines.append(b"\nnumJoints %d\nnumMeshes %d\n\njoints {\n" % (len(mesh.names), len(mesh.parts)))
    numbers = np.concatenate((mesh.positions, mesh.orientations), axis=1)
    rows = format_rows("( %s %s %s ) ( %s %s %s )\n", numbers).splitlines()
    for name, parent, row in zip(mesh.names, mesh.parents.tolist(), rows, strict=True):
        above = b"\t// " + encode_text(mesh.names[parent]) if parent >= 0 else b""
        lines.append(b'\t"%s"\t%d %s%s\n' % (encode_text(name), parent, row, above))
    lines.append(b"}\n")
    lines += [_write_part(part) for part in mesh.parts]
    return b"".join(lines)


def _write_part(part: Md5Part) -> bytes:
    head = b"\nmesh {\n"
    name = encode_text(part.name).replace(b"\0", b"").strip()
    if name:  # as it is read
        head += b"\t// meshes: %s\n" % name
    head += b'\tshader "%s"\n\n' % encode_text(part.shader)
    verts = _numbered(b"vert", format_rows("( %s %s )\n", part.st), np.stack((part.starts, part.counts), axis=1))
    tris = [b"\ttri %d %d %d %d\n" % (i, *row) for i, row in enumerate(part.triangles.tolist())]
    values = np.concatenate((part.biases[:, None], part.offsets), axis=1)
    bodies = format_rows("%s ( %s %s %s )\n", values).splitlines()
    weights = [
        b"\tweight %d %d %s\n" % (i, j, body)
        for i, (j, body) in enumerate(zip(part.joints.tolist(), bodies, strict=True))
    ]
    return b"".join(
        (
            head,
            b"\tnumverts %d\n" % len(part.st), verts,
            b"\n\tnumtris %d\n" % len(tris), *tris,
            b"\n\tnumweights %d\n" % len(weights), *weights,
            b"}\n",
        )
    )  # fmt: skip


def _numbered(keyword: bytes, bodies: bytes, tails: NDArray[Any]) -> bytes:
    rows = zip(bodies.splitlines(), tails.tolist(), strict=True)
    return b"".join(b"\t%s %d %s %d %d\n" % (keyword, i, body, *tail) for i, (body, tail) in enumerate(rows))
