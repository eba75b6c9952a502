"""Models animated vertex by vertex: MD3, MD2 and their kin.

Model space: right-handed, +X forward, +Z up, game units; triangles counter-clockwise seen from outside; texture
coordinates with their origin at the bottom left. Codecs convert into and out of this space in `to_model` and
`from_model` and nowhere else.

Letters in shapes: F frames, V vertices of a surface, T its triangles, N tags.

**Sources.** A model that came from a file carries a `ModelSource`: the facts of that file in the file's own codes.
Elements of an edited model name the source element they came from by a number that is unique in the model
(`Surface.source_vertices`, `source_triangles`; -1 = new). On export a codec writes the source's code wherever it still
decodes to the present value, and a fresh code elsewhere: hinted encoding, element by element.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Facts = dict[str, NDArray[Any]]
Floats = NDArray[np.float32]
Ints = NDArray[np.int32]


@dataclass(eq=False)
class SurfaceSource:
    """One surface of the source file, in the file's codes."""

    name: str
    positions: NDArray[Any]  # (F, V, 3) integer codes
    normals: NDArray[Any]  # (F, V) codes
    triangles: Ints  # (T, 3), counter-clockwise
    uvs: Floats  # (V, 2), as the model shows them
    shaders: list[str]
    scale: Floats  # (1 or F, 3): position = code * scale + offset
    offset: Floats  # (1 or F, 3)
    facts: Facts = field(default_factory=dict)  # what only the format knows

    @property
    def num_vertices(self) -> int:
        """Return V."""
        return int(self.positions.shape[1])

    def decoded_positions(self, frames: NDArray[Any] | slice = slice(None)) -> Floats:
        """Return the positions of the given frames, float32 (F, V, 3), bit for bit as the importer gave them."""
        scale, offset = (a if len(a) == 1 else a[frames] for a in (self.scale, self.offset))
        return decode_positions(self.positions[frames], scale, offset)


def equal_rows(rows: NDArray[Any]) -> NDArray[np.int64]:
    """Return a class number (n,) for each row of integers (n, k): equal rows, equal numbers."""
    if not rows.size:
        return np.zeros(len(rows), np.int64)
    rows = np.ascontiguousarray(rows)
    packed = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))
    return np.unique(packed, return_inverse=True)[1].reshape(-1)


def decode_positions(codes: NDArray[Any], scale: Floats, offset: Floats) -> Floats:
    """Return code * scale + offset as float32 (F, V, 3) for integer codes of that shape."""
    positions: Floats = np.multiply(codes, scale[:, None, :], dtype=np.float32)
    if offset.any():
        positions += offset[:, None, :]
    return positions


@dataclass(eq=False)
class ModelSource:
    """The facts of the file that a model was read from; `format` says whose facts they are."""

    format: str
    surfaces: list[SurfaceSource]
    frame_names: list[str]
    tag_names: list[str]
    tag_origins: Floats  # (F, N, 3)
    tag_axes: Floats  # (F, N, 3, 3), rows forward, left, up
    facts: Facts = field(default_factory=dict)

    @property
    def num_frames(self) -> int:
        """Return F."""
        return len(self.frame_names)

    @cached_property
    def first_vertices(self) -> NDArray[np.int64]:
        """Return the model-wide number of each surface's first vertex, and the total: (surfaces + 1,)."""
        return np.cumsum([0] + [s.num_vertices for s in self.surfaces])

    @cached_property
    def first_triangles(self) -> NDArray[np.int64]:
        """Return the model-wide number of each surface's first triangle, and the total: (surfaces + 1,)."""
        return np.cumsum([0] + [len(s.triangles) for s in self.surfaces])

    @cached_property
    def triangles(self) -> Ints:
        """Return all triangles as model-wide vertex numbers, (T, 3)."""
        parts = [s.triangles + np.int32(base) for s, base in zip(self.surfaces, self.first_vertices, strict=False)]
        return np.concatenate([np.zeros((0, 3), np.int32), *parts], dtype=np.int32)

    @cached_property
    def solid(self) -> NDArray[np.bool_]:
        """Tell which triangles have three different vertices, (T,); Blender is shown no others, some crash it."""
        a, b, c = self.triangles.T
        solid: NDArray[np.bool_] = (a != b) & (b != c) & (c != a)
        return solid

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Return a number for each vertex, shared by vertices of its surface that are at one place in all frames."""
        rows = [np.swapaxes(s.positions, 0, 1).reshape(s.num_vertices, 3 * self.num_frames) for s in self.surfaces]
        parts = [equal_rows(r) + base for r, base in zip(rows, self.first_vertices, strict=False)]
        return np.concatenate(parts or [np.zeros(0, np.int64)])

    def vertex_parts(self, numbers: NDArray[Any]) -> list[tuple[SurfaceSource, NDArray[Any], NDArray[Any]]]:
        """Split model-wide numbers (V,), -1 = new, by surface: (source, places in `numbers`, its own indices)."""
        parts = []
        for source, base in zip(self.surfaces, self.first_vertices, strict=False):
            places = np.flatnonzero((numbers >= base) & (numbers < base + source.num_vertices))
            if len(places):
                parts.append((source, places, numbers[places] - base))
        return parts


@dataclass(eq=False)
class Surface:
    """An animated triangle mesh with one or more shaders."""

    name: str
    positions: Floats  # (F, V, 3)
    triangles: Ints  # (T, 3), counter-clockwise
    uvs: Floats  # (V, 2), origin bottom left
    shaders: list[str]
    normals: Floats | None = None  # (F, V, 3) unit; None where every vertex keeps its source's
    source_index: int = -1  # the surface of the source whose name, flags and so on this one keeps; -1 = none
    source_vertices: Ints | None = None  # (V,) model-wide number or -1; None: all new
    source_triangles: Ints | None = None  # (T,) model-wide number or -1; None: all new
    own_normals: NDArray[np.bool_] | None = None  # (V,) True: `normals` were edited and beat the source's
    mirrored: bool = False  # a reflection lies between the source and the positions


@dataclass(eq=False)
class Tag:
    """An attachment point with one transform per frame."""

    name: str
    origins: Floats  # (F, 3)
    axes: Floats  # (F, 3, 3), rows forward, left, up
    source_index: int = -1  # the source's tag that this one was


@dataclass(eq=False)
class VertexModel:
    """Frames, surfaces and tags; in model space (see the module's docstring)."""

    name: str
    frame_names: list[str]
    surfaces: list[Surface]
    tags: list[Tag]
    source: ModelSource | None = None
    frame_sources: Ints | None = None  # (F,) the source frame that each frame was, or -1; None: all new

    @property
    def num_frames(self) -> int:
        """Return F."""
        return len(self.frame_names)

    def source_of(self, format_name: str) -> ModelSource | None:
        """Return the source if it is of that format: the codes of another one are no hints."""
        return self.source if self.source is not None and self.source.format == format_name else None

    def frames_from(self) -> NDArray[np.int64]:
        """Return `frame_sources` as an array (F,), -1 everywhere if there are none."""
        if self.frame_sources is None:
            return np.full(self.num_frames, -1, np.int64)
        return self.frame_sources.astype(np.int64)
