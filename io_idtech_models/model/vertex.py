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

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import Choice, Floats, chosen_vertices
from .clips import Clip
from .pictures import Palette, Skin
from .source import EVERY, Facts, Ints, MeshSet, SurfaceSource, corner_uvs

Decoder = Callable[[Choice, Choice], Floats]  # (frames, vertices) -> (F, n, 3)
Stored = Floats | Decoder  # what is (F, V, 3), or gives it when it is asked for
Traits = dict[str, int | float | tuple[float, ...]]


@dataclass(eq=False)
class ModelSource(MeshSet[SurfaceSource]):
    """The facts of the file that a model was read from; `format` says whose facts they are.

    Among `facts` what is called `tags` (F, N, ...) is the tags', and what begins with `layout_` says where the parts
    of the whole file lay; all else is the model's, and of a size that its parts don't change.
    """

    format: str
    frame_names: list[str]
    tag_names: list[str]
    tag_origins: Floats  # (F, N, 3)
    tag_axes: Floats  # (F, N, 3, 3), rows forward, left, up
    facts: Facts = field(default_factory=dict)
    strangers: frozenset[int] = frozenset()  # surfaces of other files: where they lay there says nothing of this one

    @property
    def num_frames(self) -> int:
        """Return F."""
        return len(self.frame_names)

    def surface(self, index: int, decode: Callable[[NDArray[Any]], Floats]) -> Surface:
        """Return a surface as the source has it, sharing nothing with it; `decode` makes normals of their codes."""
        own = self.surfaces[index]
        vertices, triangles = self.numbers(index)
        return Surface(
            own.name,
            own.decoded_positions,
            own.triangles.copy(),
            own.uvs.copy(),
            list(own.shaders),
            lambda frames, vertices: decode(own.normal_codes(frames, vertices)),
            source_index=index,
            source_vertices=vertices,
            source_triangles=triangles,
        )

    def shown(self, name: str, decode: Callable[[NDArray[Any]], Floats]) -> VertexModel:
        """Return the model as the source has it, sharing nothing with it, so that it can be edited in place."""
        surfaces = [self.surface(index, decode) for index in range(len(self.surfaces))]
        places = enumerate(self.tag_names)
        tags = [Tag(tag, self.tag_origins[:, i].copy(), self.tag_axes[:, i].copy(), i) for i, tag in places]
        return VertexModel(
            name, list(self.frame_names), surfaces, tags, self, np.arange(self.num_frames, dtype=np.int32)
        )


class SharedPoints:
    """Positions of vertices that lie at shared points: a decoder, and a short cut for encoders."""

    def __init__(self, points: Floats, of_vertex: NDArray[Any]) -> None:
        self.points = points  # (F, P, 3)
        self.of_vertex = of_vertex  # (V,)

    def __call__(self, frames: Choice, vertices: Choice) -> Floats:
        """Return the positions of vertices, (F, n, 3): the points themselves where each is a vertex."""
        if isinstance(frames, slice) and isinstance(vertices, slice) and frames == vertices == EVERY and self._plain():
            return self.points
        return np.ascontiguousarray(self.points[frames].take(self.of_vertex[vertices], axis=1))

    def _plain(self) -> bool:
        count = self.points.shape[1]
        return len(self.of_vertex) == count and np.array_equal(self.of_vertex, np.arange(count))


@dataclass(frozen=True, eq=False)
class BaseNormals:
    """The frame whose normals a modeller sees as they are, while those of others follow from them."""

    frame: int
    normals: Floats  # (V, 3) as shown

    def of(self, vertices: Choice) -> BaseNormals:
        """Return the same of some vertices."""
        return BaseNormals(self.frame, self.normals[vertices])


@dataclass(eq=False)
class Surface:
    """An animated triangle mesh with one or more shaders.

    Positions and normals may be stored as decoders. Who reads `positions` or `normals` gets arrays, decoded once; who
    needs but a part asks for `some_positions` or `some_normals`.
    """

    name: str
    stored_positions: Stored
    triangles: Ints  # (T, 3), counter-clockwise
    uvs: Floats  # (V, 2), or (T, 3, 2) where they belong to corners; origin bottom left
    shaders: list[str]
    stored_normals: Stored | None = None  # unit; None where every vertex keeps its source's
    source_index: int = -1  # the surface of the source whose name, flags and so on this one keeps; -1 = none
    source_vertices: Ints | None = None  # (V,) model-wide number or -1; None: all new
    source_triangles: Ints | None = None  # (T,) model-wide number or -1; None: all new
    own_normals: NDArray[np.bool_] | None = None  # (V,) True: `normals` were edited and beat the source's
    mirrored: bool = False  # a reflection lies between the source and the positions
    as_shown: bool = False  # every normal is coded anew, also where the source's code says nearly the same
    base: BaseNormals | None = None  # what one of the frames shows, if that is more than its neighbours turned along
    # (V, 4) red, green, blue and opacity, 0 to 1, of formats that hold some; None: those of its source, if any
    colors: Floats | None = None
    uv_name: str = ""  # of the set of texture coordinates that games draw; "": as its source has it, or the format
    # (T, 3, 2) of corners: sets beside the drawn one, by name, of formats that hold several.
    further_uvs: dict[str, Floats] = field(default_factory=dict)
    # Of its source: those that its owner was shown, the drawn one too. One that is neither any more was deleted.
    shown_uvs: tuple[str, ...] = ()
    # (T, 3) which corner of its owner's mesh each is, of which quads have fewer; -1: none shows it. None: each its own
    shown_corners: Ints | None = None
    # (T, 3) the source's vertex that each corner is, or -1, where several are one vertex. None: its vertex's
    corner_sources: Ints | None = None
    copies: Ints | None = None  # (V,) of which of the source's vertices new ones are whole faces' copies, or -1
    # (F or 1, 3, 3) what its owner, an object, makes of its points: all that moved a surface that was not edited.
    placed: NDArray[np.float64] | None = None

    @property
    def positions(self) -> Floats:
        """Return where vertices are, (F, V, 3)."""
        if not isinstance(self.stored_positions, np.ndarray):
            self.stored_positions = self.stored_positions(EVERY, EVERY)
        return self.stored_positions

    @positions.setter
    def positions(self, positions: Floats) -> None:
        """Store where vertices are, (F, V, 3)."""
        self.stored_positions = positions

    @property
    def normals(self) -> Floats | None:
        """Return the normals of vertices, (F, V, 3) unit; None where every vertex keeps its source's."""
        if self.stored_normals is not None and not isinstance(self.stored_normals, np.ndarray):
            self.stored_normals = self.stored_normals(EVERY, EVERY)
        return self.stored_normals

    @normals.setter
    def normals(self, normals: Floats | None) -> None:
        """Store the normals of vertices, (F, V, 3) unit, or None."""
        self.stored_normals = normals

    def some_positions(self, frames: Choice, vertices: Choice = EVERY) -> Floats:
        """Return where some vertices are in some frames, (F, n, 3), without decoding the others."""
        return _some(self.stored_positions, frames, vertices)

    def some_normals(self, frames: Choice, vertices: Choice = EVERY) -> Floats | None:
        """Return the normals of some vertices in some frames, (F, n, 3), without decoding the others."""
        return None if self.stored_normals is None else _some(self.stored_normals, frames, vertices)

    @property
    def num_vertices(self) -> int:
        """Return V."""
        if self.uvs.ndim == 2:
            return len(self.uvs)
        return len(self.source_vertices) if self.source_vertices is not None else int(self.positions.shape[1])

    @property
    def corner_uvs(self) -> Floats:
        """Return the texture coordinates of the triangles' corners, (T, 3, 2)."""
        return corner_uvs(self.uvs, self.triangles)

    @property
    def points(self) -> Floats:
        """Return all positions that occur, (F, n, 3): shared points once."""
        stored = self.stored_positions
        return stored.points if isinstance(stored, SharedPoints) else self.positions

    def encoded(self, encode: Callable[[Floats, str], NDArray[Any]]) -> NDArray[Any]:
        """Return what `encode(positions (F, n, 3), name)` makes of the positions, (F, V, 4): once for shared points."""
        codes = encode(self.points, self.name)
        stored = self.stored_positions
        return chosen_vertices(codes, stored.of_vertex) if isinstance(stored, SharedPoints) else codes


def _some(stored: Stored, frames: Choice, vertices: Choice) -> Floats:
    """Return some of what is stored, (F, n, 3)."""
    if isinstance(stored, np.ndarray):
        return chosen_vertices(stored[frames], vertices)
    return stored(frames, vertices)


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
    animations: list[Clip] = field(default_factory=list)  # stretches of the frames, where a format names them
    texture_size: tuple[int, int] | None = None  # width and height of the picture that it wears, where it is known
    skins: list[Skin] = field(default_factory=list)  # of formats whose files hold them: one for each shader
    palette: Palette | None = None  # of these pictures' numbers, where it is not Quake's
    # Numbers that games read, one or several each, by their names in the format's header.
    traits: Traits = field(default_factory=dict)
    # Frames that a game plays by itself, as if they were one; None: those that were so in the source.
    groups: list[Clip] | None = None

    @property
    def num_frames(self) -> int:
        """Return F."""
        return len(self.frame_names)

    def scaled(self, factor: float) -> VertexModel:
        """Return the model so many times as large, from the origin: surfaces and tags."""
        size = np.float32(factor)
        surfaces = [replace(each, stored_positions=each.positions * size) for each in self.surfaces]
        tags = [replace(tag, origins=tag.origins * size) for tag in self.tags]
        return replace(self, surfaces=surfaces, tags=tags)

    def tags_alone(self) -> VertexModel:
        """Return a model of the tags alone, as they stand in the first frame; its source is not theirs."""
        tags = [Tag(tag.name, tag.origins[:1], tag.axes[:1]) for tag in self.tags]
        return VertexModel(self.name, self.frame_names[:1], [], tags)

    def source_of(self, format_name: str) -> ModelSource | None:
        """Return the source if it is of that format: the codes of another one are no hints."""
        return self.source if self.source is not None and self.source.format == format_name else None

    def keeps_shape(self) -> bool:
        """Tell whether in each frame that the source has all surfaces are what it has there, but for tags and names."""
        source, frames = self.source, self.frames_from()
        there = np.flatnonzero(frames >= 0)
        if source is None or len(self.surfaces) != len(source.parts) or not len(there):
            return False
        for index, surface in enumerate(self.surfaces):
            part, (own, _) = source.parts[index], source.numbers(index)
            if surface.source_vertices is None or (surface.own_normals is not None and surface.own_normals.any()):
                return False
            pairs = (surface.source_vertices, own), (surface.triangles, part.triangles), (surface.uvs, part.uvs)
            if not all(np.array_equal(*pair) for pair in pairs):
                return False
            if not np.array_equal(surface.some_positions(there), part.decoded_positions(frames[there])):
                return False
        return True

    def frames_from(self) -> NDArray[np.int64]:
        """Return `frame_sources` as an array (F,), -1 everywhere if there are none."""
        if self.frame_sources is None:
            return np.full(self.num_frames, -1, np.int64)
        return self.frame_sources.astype(np.int64)
