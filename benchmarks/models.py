"""The models that are measured: made by a script, the example, and real ones where they are at hand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from io_idtech_models.formats import by_name
from io_idtech_models.model.normals import smooth_normals
from io_idtech_models.model.vertex import Surface, Tag, VertexModel

PROJECT = Path(__file__).resolve().parent.parent
CORPUS = PROJECT.parent / "shared" / "corpus"  # real models; not part of the project
REAL = "glasses.md3"  # 401 frames, 555 vertices
EXAMPLE = PROJECT / "examples" / "sentinel" / "sentinel.md3"

FRAMES, SIDES = 200, 50
CUTS = range(5, 40 + 1, 5)  # where the torus is cut besides its two closing seams
LAST_CUT = 42  # vertices along the last cut, so that there are 3,000 in all
RADIUS, THICKNESS, RIPPLE = 200.0, 80.0, 12.0


@dataclass(frozen=True)
class Model:
    """A file to measure, in memory; `path` is where the operators find it."""

    name: str
    data: bytes
    path: Path


def from_file(path: Path) -> Model:
    """Return a model that lies on disk."""
    return Model(path.name, path.read_bytes(), path)


def known(folder: Path) -> list[Model]:
    """Return the models that every run measures; `folder` takes the one that is made by script, for the operators."""
    made = folder / "torus.md3"
    made.write_bytes(torus())
    found = sorted(CORPUS.rglob(REAL))[:1] if CORPUS.is_dir() else []
    return [from_file(path) for path in (*found, made, EXAMPLE)]


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
    positions = _positions(rows, columns)
    normals = smooth_normals(positions, triangles)
    surface = Surface("torus", positions, triangles, uvs, ["models/bench/torus"], normals)
    model = VertexModel("torus", [f"run{i:03}" for i in range(FRAMES)], [surface], _tags())
    return by_name("md3").dump(model)


def _positions(rows: NDArray[Any], columns: NDArray[Any]) -> NDArray[np.float32]:
    """Return where the vertices stand in each frame, (F, V, 3), in the format's steps; seams are closed exactly."""
    time = np.arange(FRAMES)[:, None] / FRAMES * 2 * np.pi
    around, across = (2 * np.pi / SIDES * (places % SIDES) for places in (columns, rows))
    thickness = THICKNESS + RIPPLE * np.sin(5 * around + time) * np.cos(3 * across - 2 * time)
    reach = RADIUS + thickness * np.cos(across)
    turned = around + 0.2 * np.sin(time)
    xyz = np.stack((reach * np.cos(turned), reach * np.sin(turned), thickness * np.sin(across)), axis=-1)
    steps: NDArray[np.float32] = (np.rint(xyz * 64) / 64).astype(np.float32)
    return steps


def _tags() -> list[Tag]:
    """Return two tags that swing."""
    angles = 0.5 * np.sin(np.arange(FRAMES) / FRAMES * 2 * np.pi)
    zeros, ones, cos, sin = np.zeros(FRAMES), np.ones(FRAMES), np.cos(angles), np.sin(angles)
    axes = np.stack((cos, sin, zeros, -sin, cos, zeros, zeros, zeros, ones), axis=1).reshape(-1, 3, 3)
    origins = np.stack((100 * cos, 100 * sin, zeros), axis=1)
    return [Tag(name, (origins * way).astype(np.float32), axes.astype(np.float32)) for name, way in
            (("tag_front", 1), ("tag_back", -1))]  # fmt: skip
