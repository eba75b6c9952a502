"""The meshes of a source file, as code asks of them that needn't know how a format stores them.

Files say where vertices are in many ways: as codes of their own in each frame (MD3, MD2), as codes in some frames and
as small steps away from these in others (MDC), or as weights on joints (MD5, MDM). Who compares an edited model with
its source asks a `MeshSource`: for triangles, texture coordinates, and where vertices are in which frames. Three
kinds answer: `CodedSource`, `DeltaSource` and `RestSource`.

Elements of an edited model name the source's by numbers that count through all meshes of the source: see `Numbering`.

A mesh of a model may hold elements of any of the source's surfaces, but mostly holds one surface's own. Who asks all of
the source about each mesh takes the square of the number of surfaces for all meshes together. So a mesh is compared
with a source of those surfaces alone that are `near` it, and with numbers that count within that.

Letters in shapes: F frames, V vertices of a mesh, T its triangles, n some of either.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from .arrays import Choice, Floats, chosen_vertices, decode_positions, equal_rows, numbers_in, places_of

Facts = dict[str, NDArray[Any]]
Ints = NDArray[np.int32]
EVERY = slice(None)
DELTA_NORMAL = 1 << 16  # added to the code of a normal that a frame of deltas has
Numbers = NDArray[np.int64]


def unsigned(codes: NDArray[Any]) -> NDArray[Any]:
    """Return integer codes as unsigned ones of the same bits."""
    return codes.view(f"<u{codes.itemsize}")


def corner_uvs(uvs: Floats, triangles: NDArray[Any]) -> Floats:
    """Return texture coordinates (V, 2) or (T, 3, 2) as those of corners, (T, 3, 2)."""
    return uvs if uvs.ndim == 3 else uvs[triangles]


def are_solid(triangles: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which triangles (T, 3) have three different vertices, (T,)."""
    a, b, c = triangles.T
    solid: NDArray[np.bool_] = (a != b) & (b != c) & (c != a)
    return solid


def split_by_part(
    numbers: NDArray[Any], firsts: NDArray[np.int64]
) -> list[tuple[int, NDArray[np.int64], NDArray[Any]]]:
    """Split numbers (n,), -1 = none, by the part that they are of: (part, places in `numbers`, numbers in the part).

    `firsts` (parts + 1,) are the first number of each part, and the end. Parts come in their order, without those of
    which no number is: the work does not grow with their count.
    """
    known = np.flatnonzero((numbers >= 0) & (numbers < firsts[-1]))
    if not len(known):
        return []
    inside = numbers if len(known) == len(numbers) else numbers[known]
    low, high = (int(np.searchsorted(firsts, n, side="right")) - 1 for n in (inside.min(), inside.max()))
    if low == high:
        return [(low, known, inside - firsts[low])]
    owners = np.searchsorted(firsts, inside, side="right") - 1
    order = np.argsort(owners, kind="stable")
    ordered = owners[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    parts = zip(ordered[starts].tolist(), np.split(order, starts[1:]), strict=True)
    return [(part, known[places], inside[places] - firsts[part]) for part, places in parts]


class Counted(Protocol):
    """A mesh of a source, as far as its elements are counted."""

    triangles: Ints

    @property
    def num_vertices(self) -> int:
        """Return V."""


class Descendant(Protocol):
    """A mesh of an edited model, as far as it says which mesh of the source it was, and which of its vertices."""

    source_index: int
    source_vertices: Ints | None

    @property
    def num_vertices(self) -> int:
        """Return V."""


CountedT_co = TypeVar("CountedT_co", bound=Counted, covariant=True)


class Numbering(ABC, Generic[CountedT_co]):
    """Model-wide numbers of vertices and triangles: those of the first mesh, then those of the second, and so on."""

    @property
    @abstractmethod
    def parts(self) -> Sequence[CountedT_co]:
        """Return the meshes that are counted, in their order."""

    @cached_property
    def first_vertices(self) -> NDArray[np.int64]:
        """Return the number of each mesh's first vertex, and how many there are: (meshes + 1,)."""
        return np.cumsum([0] + [part.num_vertices for part in self.parts])

    @cached_property
    def first_triangles(self) -> NDArray[np.int64]:
        """Return the number of each mesh's first triangle, and how many there are: (meshes + 1,)."""
        return np.cumsum([0] + [len(part.triangles) for part in self.parts])

    @property
    def every_vertex(self) -> range:
        """Return the numbers of all vertices."""
        return range(int(self.first_vertices[-1]))

    @property
    def every_triangle(self) -> range:
        """Return the numbers of all triangles."""
        return range(int(self.first_triangles[-1]))

    def place(self, index: int) -> NDArray[np.int64]:
        """Return where a mesh begins, as its record says it: its index, its first vertex and its first triangle."""
        return np.array([index, self.first_vertices[index], self.first_triangles[index]], np.int64)

    def numbers(self, index: int) -> tuple[Ints, Ints]:
        """Return the numbers of all vertices (V,) and of all triangles (T,) of a mesh."""
        ends = (self.first_vertices[index : index + 2], self.first_triangles[index : index + 2])
        vertices, triangles = (np.arange(*end, dtype=np.int32) for end in ends)
        return vertices, triangles

    def vertex_parts(self, numbers: NDArray[Any]) -> list[tuple[CountedT_co, NDArray[Any], NDArray[Any]]]:
        """Split numbers (n,), -1 = new, by mesh: (mesh, places in `numbers`, its own vertices)."""
        parts = split_by_part(numbers, self.first_vertices)
        return [(self.parts[part], places, own) for part, places, own in parts]

    def own_vertices(self, mesh: Descendant) -> NDArray[np.int64]:
        """Return which vertex of its own mesh of the source each vertex was, (V,), or -1."""
        return numbers_in(mesh.source_vertices, self.first_vertices, mesh.source_index, mesh.num_vertices)


@dataclass(eq=False)
class MeshSource(ABC):
    """One mesh of the source file."""

    name: str
    triangles: Ints  # (T, 3), counter-clockwise
    uvs: Floats  # (V, 2), or (T, 3, 2) of corners, as the model shows them
    # (V,) which of the points that import showed each vertex became part of; None: each is one
    points: NDArray[Any] | None = field(default=None, kw_only=True)

    @property
    @abstractmethod
    def num_frames(self) -> int:
        """Return F."""

    @property
    @abstractmethod
    def num_vertices(self) -> int:
        """Return V."""

    @property
    @abstractmethod
    def step(self) -> float:
        """Return by how much positions differ whose codes do by one; 0 where they are no codes."""

    @abstractmethod
    def decoded_positions(self, frames: Choice = EVERY, vertices: Choice = EVERY) -> Floats:
        """Return positions of the given frames and vertices, float32 (F, n, 3), bit for bit as import gave them."""

    def places(self) -> NDArray[np.int64]:
        """Return a number for each vertex, (V,), shared by those that are at one place in all frames."""
        return places_of(self.decoded_positions().view(np.int32))

    @property
    def vertex_uvs(self) -> Floats | None:
        """Return the texture coordinates of vertices, (V, 2); None where they belong to corners."""
        return self.uvs if self.uvs.ndim == 2 else None

    @property
    def corner_uvs(self) -> Floats:
        """Return the texture coordinates of the triangles' corners, (T, 3, 2)."""
        return corner_uvs(self.uvs, self.triangles)


@dataclass(eq=False)
class RestSource(MeshSource):
    """A mesh that joints move, where import showed it: in its bind pose, the one frame."""

    rest: Floats  # (V, 3)

    @property
    def num_frames(self) -> int:
        """Return 1."""
        return 1

    @property
    def num_vertices(self) -> int:
        """Return V."""
        return len(self.rest)

    @property
    def step(self) -> float:
        """Return 0."""
        return 0.0

    def decoded_positions(self, frames: Choice = EVERY, vertices: Choice = EVERY) -> Floats:
        """Return the places of vertices, float32 (1, n, 3)."""
        return np.array(self.rest[None][frames][:, vertices], order="C")


@dataclass(eq=False)
class SurfaceSource(MeshSource):
    """A mesh that is animated vertex by vertex, in the file's codes."""

    shaders: list[str]
    facts: Facts = field(default_factory=dict, kw_only=True)  # what only the format knows

    @abstractmethod
    def normal_codes(self, frames: Choice = EVERY, vertices: Choice = EVERY) -> NDArray[Any]:
        """Return the codes of normals of the given frames and vertices, unsigned, (F, n)."""


@dataclass(eq=False)
class CodedSource(SurfaceSource):
    """A surface with a code for each vertex in each frame: position = code * scale + offset."""

    codes: NDArray[Any]  # (F, V, 4) of one integer type: X, Y, Z and normal of each vertex, as files have them
    scale: Floats  # (1 or F, 3)
    offset: Floats  # (1 or F, 3)

    @property
    def positions(self) -> NDArray[Any]:
        """Return the codes of positions, (F, V, 3)."""
        return self.codes[..., :3]

    @property
    def normals(self) -> NDArray[Any]:
        """Return the codes of normals, unsigned, (F, V)."""
        return unsigned(self.codes)[..., 3]

    @property
    def num_frames(self) -> int:
        """Return F."""
        return len(self.codes)

    @property
    def num_vertices(self) -> int:
        """Return V."""
        return int(self.codes.shape[1])

    @property
    def step(self) -> float:
        """Return by how much positions differ whose codes do by one."""
        return float(self.scale.max(initial=0.0))

    def decoded_positions(self, frames: Choice = EVERY, vertices: Choice = EVERY) -> Floats:
        """Return positions of the given frames and vertices, float32 (F, n, 3), bit for bit as import gave them."""
        scale, offset = (a if len(a) == 1 else a[frames] for a in (self.scale, self.offset))
        return decode_positions(chosen_vertices(self.codes[frames], vertices)[..., :3], scale, offset)

    def normal_codes(self, frames: Choice = EVERY, vertices: Choice = EVERY) -> NDArray[Any]:
        """Return the codes of normals of the given frames and vertices, unsigned, (F, n)."""
        return self.normals[frames][:, vertices]

    def places(self) -> NDArray[np.int64]:
        """Return a number for each vertex, (V,), shared by those that are at one place in all frames."""
        return places_of(self.positions)


@dataclass(eq=False)
class DeltaSource(SurfaceSource):
    """A surface with codes in some base frames, and in others small steps away from one of these, as MDC has it.

    A vertex is at base * scale + (delta - middle) * delta_scale, in a frame without deltas at base * scale. Deltas have
    normals in a code of their own, so the code of such a one is that and `DELTA_NORMAL`.
    """

    bases: NDArray[Any]  # (bases, V, 4) of one integer type: X, Y, Z and normal
    deltas: NDArray[Any]  # (deltas, V, 4) of another
    base_frames: NDArray[Any]  # (F,) which base each frame has
    delta_frames: NDArray[Any]  # (F,) which deltas; -1: none
    scale: Floats  # (1, 3)
    delta_scale: Floats  # (1, 3)
    middle: int  # the delta that is none

    @property
    def num_frames(self) -> int:
        """Return F."""
        return len(self.base_frames)

    @property
    def num_vertices(self) -> int:
        """Return V."""
        return int(self.bases.shape[1])

    @property
    def step(self) -> float:
        """Return by how much positions differ whose codes do by one: the base's or the deltas', whichever is more."""
        return float(max(self.scale.max(initial=0.0), self.delta_scale.max(initial=0.0)))

    def _stepped(self, frames: Choice) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return which of the frames (F,) have deltas, (n,), and which deltas these are, (n,)."""
        deltas = self.delta_frames[frames].astype(np.int64)
        stepped = np.flatnonzero(deltas >= 0)
        return stepped, deltas[stepped]

    def decoded_positions(self, frames: Choice = EVERY, vertices: Choice = EVERY) -> Floats:
        """Return positions of the given frames and vertices, float32 (F, n, 3), bit for bit as import gave them."""
        nothing, numbers = np.zeros((1, 3), np.float32), self.base_frames[frames].tolist()
        used = self.bases if numbers else self.bases[:0]
        bases = decode_positions(chosen_vertices(used, vertices)[..., :3], self.scale, nothing)
        positions = np.empty((len(numbers), *bases.shape[1:]), np.float32)
        chosen = chosen_vertices(self.deltas if numbers else self.deltas[:0], vertices)[..., :3]
        for position, base, delta in zip(positions, numbers, self.delta_frames[frames].tolist(), strict=True):
            if delta < 0:
                position[:] = bases[base]
                continue
            step = chosen[delta].astype(np.float32)  # frame by frame: what is small stays near the processor
            step -= np.float32(self.middle)
            step *= self.delta_scale
            np.add(bases[base], step, out=position)
        return positions

    def places(self) -> NDArray[np.int64]:
        """Return a number for each vertex, (V,), shared by those that all base frames and deltas have at one place."""
        places = places_of(self.bases[..., :3])
        # Only those that share their places in all base frames can share all.
        shared = np.flatnonzero(np.bincount(places)[places] > 1) if len(places) else places
        if len(shared) and len(self.deltas):
            steps = self.deltas[:, shared, :3].astype(np.int64).transpose(1, 0, 2).reshape(len(shared), -1)
            places[shared] = equal_rows(np.column_stack((places[shared], steps))) + len(places)
        return np.unique(places, return_inverse=True)[1].reshape(-1)

    def normal_codes(self, frames: Choice = EVERY, vertices: Choice = EVERY) -> NDArray[Any]:
        """Return the codes of normals of the given frames and vertices, unsigned, (F, n)."""
        bases, deltas = (unsigned(codes)[..., 3][:, vertices].astype(np.uint32) for codes in (self.bases, self.deltas))
        codes: NDArray[np.uint32] = bases[self.base_frames[frames]]
        stepped, of_stepped = self._stepped(frames)
        codes[stepped] = deltas[of_stepped] + np.uint32(DELTA_NORMAL)
        return codes


MeshT_co = TypeVar("MeshT_co", bound=MeshSource, covariant=True)


@dataclass(eq=False)
class MeshSet(Numbering[MeshT_co]):
    """Some meshes of a source, and what is asked of all of them together."""

    surfaces: list[MeshT_co]

    @property
    def parts(self) -> Sequence[MeshT_co]:
        """Return the meshes that are counted, in their order."""
        return self.surfaces

    @cached_property
    def triangles(self) -> Ints:
        """Return all triangles as model-wide vertex numbers, (T, 3)."""
        parts = [s.triangles + np.int32(base) for s, base in zip(self.surfaces, self.first_vertices, strict=False)]
        return np.concatenate([np.zeros((0, 3), np.int32), *parts], dtype=np.int32)

    @cached_property
    def corner_uvs(self) -> Floats:
        """Return the texture coordinates of all triangles' corners, (T, 3, 2)."""
        return np.concatenate([np.zeros((0, 3, 2), np.float32), *(s.corner_uvs for s in self.surfaces)])

    @cached_property
    def solid(self) -> NDArray[np.bool_]:
        """Tell which triangles have three different vertices, (T,); Blender is shown no others, some crash it."""
        return are_solid(self.triangles)

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Return a number for each vertex, shared by vertices of its surface that are at one place in all frames."""
        parts = [s.places() + base for s, base in zip(self.surfaces, self.first_vertices, strict=False)]
        return np.concatenate(parts or [np.zeros(0, np.int64)])

    @cached_property
    def shown_points(self) -> NDArray[np.int64]:
        """Return a number for each vertex of the model, shared by those that import showed as one point."""
        parts = [np.arange(s.num_vertices) if s.points is None else s.points for s in self.surfaces]
        return np.concatenate(
            [np.zeros(0, np.int64), *(p + b for p, b in zip(parts, self.first_vertices, strict=False))]
        )


Meshes = MeshSet[MeshSource]  # of any kind


@dataclass(eq=False)
class Near:
    """Some surfaces of a source as a source of their own; model-wide numbers to numbers in it (`own_`), and back."""

    whole: Meshes
    source: Meshes
    surfaces: NDArray[np.int64]  # (n,) which of the whole's they are, rising

    def own_vertices(self, numbers: Numbers) -> Numbers:
        """Return the numbers (n,) in `source` of vertices, -1 for those of other surfaces."""
        return _translated(numbers, self.whole.first_vertices, self.source.first_vertices, self.surfaces)

    def own_triangles(self, numbers: Numbers) -> Numbers:
        """Return the numbers (n,) in `source` of triangles, -1 for those of other surfaces."""
        return _translated(numbers, self.whole.first_triangles, self.source.first_triangles, self.surfaces)

    def vertices(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return model-wide numbers (n,) of vertices; inverse of `own_vertices`."""
        return _restored(numbers, self.whole.first_vertices, self.source.first_vertices, self.surfaces)

    def triangles(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return model-wide numbers (n,) of triangles; inverse of `own_triangles`."""
        return _restored(numbers, self.whole.first_triangles, self.source.first_triangles, self.surfaces)


def near(source: Meshes, numbers: Numbers) -> Near:
    """Return the surfaces of a source whose vertices have the model-wide `numbers` (n,), -1 = none."""
    found = np.array([part for part, _, _ in split_by_part(numbers, source.first_vertices)], np.int64)
    if len(found) == len(source.surfaces):
        return Near(source, source, found)
    return Near(source, MeshSet([source.surfaces[surface] for surface in found.tolist()]), found)


def _translated(numbers: Numbers, firsts: Numbers, own_firsts: Numbers, parts: Numbers) -> Numbers:
    found = np.full(len(numbers), -1, np.int64)
    place = np.full(len(firsts), -1, np.int64)
    place[parts] = np.arange(len(parts))
    for part, places, own in split_by_part(numbers, firsts):
        if place[part] >= 0:
            found[places] = own + own_firsts[place[part]]
    return found


def _restored(numbers: NDArray[Any], firsts: Numbers, own_firsts: Numbers, parts: Numbers) -> NDArray[Any]:
    found = np.full_like(numbers, -1)
    for part, places, own in split_by_part(numbers, own_firsts):
        found[places] = own + firsts[parts[part]]
    return found
