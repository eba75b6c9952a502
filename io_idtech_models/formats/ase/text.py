"""The text of an ASE: what is written of new things, and changes in what a file had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..common.text import encode_text, format_rows
from .file import BASE_CHANNEL
from .materials import BASE

HEAD = b"""*3DSMAX_ASCIIEXPORT\t200
*COMMENT ""
*SCENE {
\t*SCENE_FILENAME ""
\t*SCENE_FIRSTFRAME 0
\t*SCENE_LASTFRAME 100
\t*SCENE_FRAMESPEED 30
\t*SCENE_TICKSPERFRAME 160
\t*SCENE_BACKGROUND_STATIC 0.0000\t0.0000\t0.0000
\t*SCENE_AMBIENT_STATIC 0.0000\t0.0000\t0.0000
}
"""
MATERIAL = """\t*MATERIAL %d {
\t\t*MATERIAL_NAME "%s"
\t\t*MATERIAL_CLASS "Standard"
\t\t*MATERIAL_AMBIENT 0.0000\t0.0000\t0.0000
\t\t*MATERIAL_DIFFUSE 1.0000\t1.0000\t1.0000
\t\t*MATERIAL_SPECULAR 0.0000\t0.0000\t0.0000
\t\t*MATERIAL_SHINE 0.0000
\t\t*MATERIAL_SHINESTRENGTH 0.0000
\t\t*MATERIAL_TRANSPARENCY 0.0000
\t\t*MATERIAL_WIRESIZE 1.0000
\t\t*MATERIAL_SHADING Blinn
\t\t*MAP_DIFFUSE {
\t\t\t*MAP_NAME "%s"
\t\t\t*MAP_CLASS "Bitmap"
\t\t\t*MAP_SUBNO 1
\t\t\t*MAP_AMOUNT 1.0000
\t\t\t*BITMAP "%s"
\t\t\t*MAP_TYPE Screen
\t\t\t*UVW_U_OFFSET 0.0000
\t\t\t*UVW_V_OFFSET 0.0000
\t\t\t*UVW_U_TILING 1.0000
\t\t\t*UVW_V_TILING 1.0000
\t\t\t*UVW_ANGLE 0.0000
\t\t}
\t}
"""
OBJECT = """*GEOMOBJECT {
\t*NODE_NAME "%s"
\t*NODE_TM {
\t\t*NODE_NAME "%s"
\t\t*INHERIT_POS 0 0 0
\t\t*INHERIT_ROT 0 0 0
\t\t*INHERIT_SCL 0 0 0
\t\t*TM_ROW0 1.0000\t0.0000\t0.0000
\t\t*TM_ROW1 0.0000\t1.0000\t0.0000
\t\t*TM_ROW2 0.0000\t0.0000\t1.0000
\t\t*TM_ROW3 0.0000\t0.0000\t0.0000
\t\t*TM_POS 0.0000\t0.0000\t0.0000
\t\t*TM_ROTAXIS 0.0000\t0.0000\t0.0000
\t\t*TM_ROTANGLE 0.0000
\t\t*TM_SCALE 1.0000\t1.0000\t1.0000
\t\t*TM_SCALEAXIS 0.0000\t0.0000\t0.0000
\t\t*TM_SCALEAXISANG 0.0000
\t}
\t"""
OBJECT_END = """
\t*PROP_MOTIONBLUR 0
\t*PROP_CASTSHADOW 1
\t*PROP_RECVSHADOW 1
\t*MATERIAL_REF %d
}
"""
FACE = "\t\t\t*MESH_FACE %d: A: %d B: %d C: %d AB: 1 BC: 1 CA: 1\t*MESH_SMOOTHING 1\t*MESH_MTLID 0\n"
NORMALS = "\t\t\t*MESH_FACENORMAL %d\t%.6f\t%.6f\t%.6f\n" + "\t\t\t\t*MESH_VERTEXNORMAL %d\t%.6f\t%.6f\t%.6f\n" * 3


@dataclass(eq=False)
class NewMesh:
    """What is written of a mesh: V vertices, each of which is a point and a texture coordinate; T faces."""

    points: NDArray[np.float64]  # (V, 3)
    tverts: NDArray[np.float64]  # (V, 2)
    faces: NDArray[Any]  # (T, 3)
    normals: NDArray[np.float64]  # (V, 3)
    face_normals: NDArray[np.float64]  # (T, 3)
    colors: NDArray[np.float32] | None = None  # (V, 4)
    drawn: int = BASE_CHANNEL  # the channel of `tverts`
    further: dict[int, NDArray[np.float32]] = field(default_factory=dict)  # by channel, (T, 3, 2) of corners


def quoted(name: str) -> str:
    """Return a name as it stands between quotes."""
    return encode_text(name).decode()


def material_text(number: int, shader: str) -> bytes:
    """Return the block of a material."""
    name = quoted(shader)
    return (MATERIAL % (number, name, name, BASE + name if name else "")).encode()


def materials_text(shaders: Sequence[str]) -> bytes:
    """Return the list of materials."""
    blocks = b"".join(material_text(number, shader) for number, shader in enumerate(shaders))
    return b"*MATERIAL_LIST {\n\t*MATERIAL_COUNT %d\n%s}\n" % (len(shaders), blocks)


def object_text(name: str, mesh: NewMesh, ref: int) -> bytes:
    """Return the block of an object."""
    node = quoted(name)
    return (OBJECT % (node, node)).encode() + mesh_text(mesh) + (OBJECT_END % ref).encode()


def mesh_text(mesh: NewMesh) -> bytes:
    """Return the block of a mesh, without the blanks before it."""
    count, faces = len(mesh.points), len(mesh.faces)
    numbers = np.arange(faces)[:, None]
    corners = np.concatenate((mesh.faces[..., None], mesh.normals[mesh.faces]), axis=2).reshape(faces, 12)
    normal_rows = np.concatenate((numbers, mesh.face_normals, corners), axis=1)
    parts = [
        b"*MESH {\n\t\t*TIMEVALUE 0\n\t\t*MESH_NUMVERTEX %d\n\t\t*MESH_NUMFACES %d\n\t\t*MESH_VERTEX_LIST {\n"
        % (count, faces),
        _filled(
            "\t\t\t*MESH_VERTEX %d\t%.6f\t%.6f\t%.6f\n",
            np.concatenate((np.arange(count)[:, None], mesh.points), axis=1),
        ),
        b"\t\t}\n\t\t*MESH_FACE_LIST {\n",
        _filled(FACE, np.concatenate((numbers, mesh.faces), axis=1)),
        b"\t\t}\n",
        *(text for channel, corners in mesh.further.items() for text in set_texts(channel, corners)),
        *_set_texts(mesh.drawn, mesh.tverts, mesh.faces),
        _color_lists(mesh, numbers),
        b"\t\t*MESH_NORMALS {\n",
        _filled(NORMALS, normal_rows),
        b"\t\t}\n\t}",
    ]
    return b"".join(parts)


def set_texts(channel: int, corners: NDArray[np.float32]) -> list[bytes]:
    """Return a set of texture coordinates of corners (T, 3, 2): the head of its block, its four parts, and its end."""
    flat = np.ascontiguousarray(corners.reshape(-1, 2) + np.float32(0))  # -0 and 0 are one
    _, first, inverse = np.unique(flat.view(np.int64), return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return _set_texts(channel, flat[first[order]].astype(np.float64), rank[inverse.reshape(-1)].reshape(-1, 3))


def _set_texts(channel: int, tverts: NDArray[np.float64], tfaces: NDArray[Any]) -> list[bytes]:
    """Return the same of rows (n, 2) that faces (T, 3) name; what is the mesh's own has neither head nor end."""
    rows = np.concatenate((np.arange(len(tfaces))[:, None], tfaces), axis=1)
    parts = [
        b"\t\t*MESH_NUMTVERTEX %d\n" % len(tverts),
        b"\t\t*MESH_TVERTLIST {\n" + _tverts(tverts) + b"\t\t}\n",
        b"\t\t*MESH_NUMTVFACES %d\n" % len(tfaces),
        b"\t\t*MESH_TFACELIST {\n" + _filled("\t\t\t*MESH_TFACE %d\t%d\t%d\t%d\n", rows) + b"\t\t}\n",
    ]
    if channel == BASE_CHANNEL:
        return [b"", *parts, b""]
    deeper = [part.replace(b"\t\t", b"\t\t\t") for part in parts]
    return [b"\t\t*MESH_MAPPINGCHANNEL %d {\n" % channel, *deeper, b"\t\t}\n"]


def _color_lists(mesh: NewMesh, numbers: NDArray[Any]) -> bytes:
    """Return the lists of colours and of the faces (T, 1) that name them; nothing without any."""
    if mesh.colors is None:
        return b""
    rows = np.concatenate((np.arange(len(mesh.colors))[:, None], mesh.colors[:, :3]), axis=1)
    parts = [
        b"\t\t*MESH_NUMCVERTEX %d\n\t\t*MESH_CVERTLIST {\n" % len(rows),
        _filled("\t\t\t*MESH_VERTCOL %d\t%.6f\t%.6f\t%.6f\n", rows),
        b"\t\t}\n\t\t*MESH_NUMCVFACES %d\n\t\t*MESH_CFACELIST {\n" % len(mesh.faces),
        _filled("\t\t\t*MESH_CFACE %d\t%d\t%d\t%d\n", np.concatenate((numbers, mesh.faces), axis=1)),
        b"\t\t}\n",
    ]
    return b"".join(parts)


def _filled(pattern: str, values: NDArray[Any]) -> bytes:
    """Return a line per row of values (n, k)."""
    values = values + 0.0  # no "-0"
    return (pattern * len(values) % tuple(values.ravel().tolist())).encode()


def _tverts(values: NDArray[np.float64]) -> bytes:
    """Return the rows of texture coordinates (n, 2)."""
    lines = format_rows("%s\t%s\n", values).decode().splitlines()
    return "".join(f"\t\t\t*MESH_TVERT {i}\t{line}\t0.0000\n" for i, line in enumerate(lines)).encode()


class Edits:
    """Changes of a text, each of which replaces what stands in a span."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self._changes: list[tuple[int, int, bytes]] = []

    def put(self, start: int, end: int, words: bytes) -> None:
        """Replace what stands from `start` up to `end`."""
        self._changes.append((start, end, words))

    def drop(self, start: int, end: int) -> None:
        """Leave out what stands from `start` up to `end`, changed or not."""
        inside = [change for change in self._changes if start <= change[0] and change[1] <= end]
        self._changes = [change for change in self._changes if change not in inside]
        self.put(start, end, b"")

    def line_start(self, place: int) -> int:
        """Return where the line of a place begins, if nothing stands before it there; else the place."""
        start = self.text.rfind(b"\n", 0, place) + 1
        return place if self.text[start:place].strip() else start

    def lines_of(self, start: int, end: int) -> tuple[int, int]:
        """Return a span with the whole lines that it fills, if it does."""
        close = self.text.find(b"\n", end)
        close = len(self.text) if close < 0 else close + 1
        first = self.line_start(start)
        alone = (first == 0 or self.text[first - 1 : first] == b"\n") and not self.text[end:close].strip()
        return (first, close) if alone else (start, end)

    def numbers(self, spans: NDArray[np.int64], values: NDArray[np.float64]) -> None:
        """Replace the numbers in spans (n, 2) by values (n,), as precise as texture coordinates are."""
        self._words(spans, format_rows("%s\n", values[:, None]))

    def millionths(self, spans: NDArray[np.int64], codes: NDArray[np.int64]) -> None:
        """Replace the numbers in spans (n, 2) by codes (n,), which count millionths."""
        self._words(spans, ("%.6f\n" * len(codes) % tuple((codes / 1e6).tolist())).encode())

    def _words(self, spans: NDArray[np.int64], lines: bytes) -> None:
        for (start, end), word in zip(spans.tolist(), lines.split(), strict=True):
            # As 3ds Max writes them, where that says the same.
            whole, _, part = word.partition(b".")
            self.put(start, end, whole + b"." + part.rstrip(b"0").ljust(4, b"0"))

    def applied(self) -> bytes:
        """Return the changed text."""
        parts: list[bytes] = []
        done = 0
        for start, end, words in sorted(self._changes, key=lambda change: change[:2]):
            parts += (self.text[done:start], words)
            done = max(end, done)
        return b"".join((*parts, self.text[done:]))
