"""The models that are measured: made by a script, the example, and real ones where they are at hand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examples import pictures
from io_idtech_models.formats import by_name
from io_idtech_models.game.folders import Disk
from io_idtech_models.game.search import model_name
from io_idtech_models.model.clips import numbered
from io_idtech_models.model.edits.normals import smooth_normals
from io_idtech_models.model.vertex import Surface, Tag, VertexModel

PROJECT = Path(__file__).resolve().parent.parent
CORPUS = PROJECT.parent / "shared" / "corpus"  # real models; not part of the project
REAL = (
    "**/glasses.md3",  # 401 frames, 555 vertices
    "AC/packages/models/playermodels/tris.md2",  # 198 frames, 280 vertices
    "LibreQuake/lq1/progs/dog.mdl",  # 86 frames, 303 vertices, a picture of 256 x 256
)
EXAMPLES = (
    PROJECT / "examples" / "brazier" / "progs" / "brazier.mdl",
    PROJECT / "examples" / "sentinel" / "sentinel.md3",
    PROJECT / "examples" / "stilt" / "players" / "stilt" / "tris.md2",
)

FRAMES, SIDES = 200, 50
CUTS = range(5, 40 + 1, 5)  # where the torus is cut besides its two closing seams
LAST_CUT = 42  # vertices along the last cut, so that there are 3,000 in all
RADIUS, THICKNESS, RIPPLE = 200.0, 80.0, 12.0
RING_FRAMES, RING_ROWS, RING_COLUMNS, RING_ANIMATIONS = 731, 25, 40, 20  # of the MD2
PICTURE_WIDTH, PICTURE_HEIGHT = 640, 480


@dataclass(frozen=True)
class Model:
    """A file to measure, in memory; `path` is where the operators find it."""

    name: str
    data: bytes
    path: Path


def from_file(path: Path) -> Model:
    """Return a model that lies on disk."""
    return Model(model_name(Disk().file(path)) + path.suffix, path.read_bytes(), path)


def known(folder: Path) -> list[Model]:
    """Return the models that every run measures; `folder` takes those that are made by script, for the operators."""
    found = [path for pattern in REAL for path in (sorted(CORPUS.glob(pattern))[:1] if CORPUS.is_dir() else [])]
    for name, data in (("torus.md3", torus()), ("ring.md2", ring())):
        (folder / name).write_bytes(data)
    return [from_file(path) for path in (*found, folder / "torus.md3", folder / "ring.md2", *EXAMPLES)]


def painted() -> dict[str, bytes]:
    """Return PCX files of 640 x 480 pixels: of one colour, as skins are painted, and with a run for every pixel."""
    height, width = PICTURE_HEIGHT, PICTURE_WIDTH
    grain = pictures.noise(1, 16, height, width) + pictures.noise(2, 4, height, width)
    skin = np.floor(grain * 20).astype(np.uint8) + np.arange(height, dtype=np.uint8)[:, None] // 30 * 16
    worst = (0xC0 + np.add.outer(np.arange(height), np.arange(width)) % 2).astype(np.uint8)
    found = {"one colour": np.full((height, width), 7, np.uint8), "a skin": skin, "the worst": worst}
    return {name: pictures.pcx(indices, np.zeros((256, 3))) for name, indices in found.items()}


def ring() -> bytes:
    """Return an MD2 of 731 frames, 1,000 vertices, 2,000 triangles and 20 animations: a rippling ring."""
    rows, columns = (a.ravel() for a in np.mgrid[0:RING_ROWS, 0:RING_COLUMNS])
    ids = np.arange(RING_ROWS * RING_COLUMNS).reshape(RING_ROWS, RING_COLUMNS)
    a, b = ids, np.roll(ids, -1, axis=1)
    d, c = np.roll(a, -1, axis=0), np.roll(b, -1, axis=0)
    triangles = np.stack((a, b, c, a, c, d), axis=-1).reshape(-1, 3).astype(np.int32)
    u, v = np.stack((columns, columns + 1)) / RING_COLUMNS, np.stack((rows, rows + 1)) / RING_ROWS
    corners = np.stack((u[0], v[0], u[1], v[0], u[1], v[1], u[0], v[0], u[1], v[1], u[0], v[1]), axis=-1)
    positions = _positions(rows, columns, RING_FRAMES, RING_ROWS, RING_COLUMNS)
    counts = [len(part) for part in np.array_split(np.arange(RING_FRAMES), RING_ANIMATIONS)]
    names = [name for nth, count in enumerate(counts) for name in numbered(f"move{chr(ord('a') + nth)}", count)]
    uvs = corners.reshape(-1, 3, 2).astype(np.float32)
    surface = Surface(
        "ring", positions, triangles, uvs, ["players/ring/ring.pcx"], smooth_normals(positions, triangles)
    )
    data: bytes = by_name("md2").dump(VertexModel("ring", names, [surface], [], texture_size=(256, 256)))
    return data


def torus() -> bytes:
    """Return an MD3 of 200 frames, 3,000 vertices and 5,000 triangles: a torus with seams, rippling and turning."""
    rows, columns = (a.ravel() for a in np.mgrid[0 : SIDES + 1, 0 : SIDES + 1])
    ids = np.arange((SIDES + 1) ** 2).reshape(SIDES + 1, SIDES + 1)
    right = ids.copy()  # the vertex that a quad on the right of its left edge has there
    for cut in CUTS:
        count = LAST_CUT if cut == CUTS[-1] else SIDES + 1
        right[:count, cut] = len(rows) + np.arange(count)
        rows, columns = np.append(rows, np.arange(count)), np.append(columns, np.full(count, cut))
    a, b, c, d = right[:-1, :-1], ids[:-1, 1:], ids[1:, 1:], right[1:, :-1]
    triangles = np.stack((a, b, c, a, c, d), axis=-1).reshape(-1, 3).astype(np.int32)
    charts = 1.0 + np.searchsorted(np.array(CUTS), columns) / 8.0  # each chart has texture coordinates of its own
    uvs = np.stack((columns / SIDES * charts, rows / SIDES), axis=1).astype(np.float32)
    # In the format's steps, so that seams are closed exactly.
    positions = (np.rint(_positions(rows, columns, FRAMES, SIDES, SIDES) * 64) / 64).astype(np.float32)
    normals = smooth_normals(positions, triangles)
    surface = Surface("torus", positions, triangles, uvs, ["models/bench/torus"], normals)
    model = VertexModel("torus", [f"run{i:03}" for i in range(FRAMES)], [surface], _tags())
    data: bytes = by_name("md3").dump(model)
    return data


def _positions(rows: NDArray[Any], columns: NDArray[Any], frames: int, sides: int, cuts: int) -> NDArray[np.float32]:
    """Return where the vertices of a torus of `sides` x `cuts` quads stand in each frame, (F, V, 3)."""
    time = np.arange(frames)[:, None] / frames * 2 * np.pi
    around, across = 2 * np.pi / cuts * (columns % cuts), 2 * np.pi / sides * (rows % sides)
    thickness: NDArray[np.float64] = THICKNESS + RIPPLE * np.sin(5 * around + time) * np.cos(3 * across - 2 * time)
    reach = RADIUS + thickness * np.cos(across)
    turned = around + 0.2 * np.sin(time)
    xyz = (reach * np.cos(turned), reach * np.sin(turned), thickness * np.sin(across))
    return np.stack(xyz, axis=-1).astype(np.float32)


def _tags() -> list[Tag]:
    """Return two tags that swing."""
    angles = 0.5 * np.sin(np.arange(FRAMES) / FRAMES * 2 * np.pi)
    zeros, ones, cos, sin = np.zeros(FRAMES), np.ones(FRAMES), np.cos(angles), np.sin(angles)
    axes = np.stack((cos, sin, zeros, -sin, cos, zeros, zeros, zeros, ones), axis=1).reshape(-1, 3, 3)
    origins = np.stack((100 * cos, 100 * sin, zeros), axis=1)
    return [Tag(name, (origins * way).astype(np.float32), axes.astype(np.float32)) for name, way in
            (("tag_front", 1), ("tag_back", -1))]  # fmt: skip
