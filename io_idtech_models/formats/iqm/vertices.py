"""Meshes as vertices and triangles of an IQM, the way back of `geometry`: the source's where they say what they did.

Letters in shapes: V vertices of a mesh, T triangles, k components.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.arrays import LARGEST
from ...model.edits.normals import smooth_normals
from ...model.skeletal import (
    SkeletalModel,
    SkeletalSource,
    SkinnedMesh,
    SkinnedMeshSource,
    skin,
)
from ...model.source import Facts
from ...model.transforms import rotate
from ...model.weights import normal_turns
from ..common.records import as_bytes, flipped, records_of
from .file import (
    ARRAY,
    BLENDINDEXES,
    BLENDWEIGHTS,
    COLOR,
    FORMATS,
    INDEX,
    MESH,
    NORMAL,
    POSITION,
    TANGENT,
    TEXCOORD,
    TextWriter,
)
from .geometry import WEIGHTS, Vertices, encode_array, make_adjacency, make_tangents, rounded_weights

Numbers = NDArray[np.int64]
Bools = NDArray[np.bool_]
SAME_PLACE = 4e-7  # of the largest coordinate: single precision's own rounding
SAME_NORMAL = 2e-5  # of a normal: Blender's own rounding of a bone's axes
ONE_NORMAL = math.cos(math.radians(5.0))  # of what two meshes show of a vertex: farther apart, each has its own vertex
SAME_COLOR = 0.51 / 255  # half a step of the bytes that Blender has
# Of new files, as all writers have them: type, format, components.
USUAL = ((POSITION, 7, 3), (TEXCOORD, 7, 2), (NORMAL, 7, 3), (TANGENT, 7, 4))
MOVED, PAINTED = ((BLENDINDEXES, 1, WEIGHTS), (BLENDWEIGHTS, 1, WEIGHTS)), ((COLOR, 1, 4),)
SHADED = (NORMAL, TANGENT)  # what a vertex has of the triangles that use it
WIDE = 3  # the format of indices of joints that do not fit a byte


@dataclass(eq=False)
class Rows:
    """A mesh on its way into a file."""

    mesh: SkinnedMesh
    own: SkinnedMeshSource | None
    numbers: Numbers  # (V,) the vertex of `own` that each was, or -1
    data: list[NDArray[Any]]  # (V, k) of each array
    same: Bools  # (V,) it lies where the source's does, and is moved alike

    @cached_property
    def used(self) -> Bools:
        """Tell which vertices (V,) a triangle uses."""
        found = np.zeros(len(self.numbers), np.bool_)
        found[self.mesh.triangles] = True
        return found

    @cached_property
    def inside(self) -> Bools:
        """Tell which vertices (V,) were in the range of the source's mesh that this one was."""
        # Those that it borrowed come behind its own.
        count = 0 if self.own is None else int(records_of(self.own.facts, "mesh", MESH)["num_vertexes"])
        return np.asarray((self.numbers >= 0) & (self.numbers < count))


def encode_vertices(
    mesh: SkinnedMesh,
    model: SkeletalModel,
    source: SkeletalSource | None,
    records: NDArray[Any],
    source_arrays: list[int],
) -> Rows:
    """Return a mesh's vertices in arrays, ARRAY (A,), which are the source's of some numbers, or new, -1."""
    own = source.meshes[mesh.source_index] if source is not None and mesh.source_index >= 0 else None
    numbers = np.full(mesh.num_vertices, -1, np.int64) if source is None else source.own_vertices(mesh)
    made = Encoder(mesh, model, source, own, numbers)
    data = [made.array(record, nth) for record, nth in zip(records, source_arrays, strict=True)]
    return Rows(mesh, own, numbers, data, made.same)


class Encoder:
    """A mesh's vertices as components: the source's where they say what they did."""

    def __init__(
        self, mesh: SkinnedMesh, model: SkeletalModel, source: SkeletalSource | None, own: SkinnedMeshSource | None,
        numbers: Numbers,
    ) -> None:  # fmt: skip
        self.mesh, self.model, self.source, self.own, self.numbers = mesh, model, source, own, numbers
        bind = model.skeleton.bind
        self.known = np.flatnonzero(numbers >= 0)
        self.there = numbers[self.known]
        places = np.clip(skin(mesh.weights, bind.positions, bind.rotations), -LARGEST, LARGEST)
        self.places = places.astype(np.float32)
        self.uvs = flipped(mesh.uvs)
        self.normals = self._model_normals()
        self.joints, self.factors, moved = self._weights()
        self.stored = (
            None if own is None or source is None else Vertices(records_of(source.facts, "arrays", ARRAY), own.facts)
        )
        near, upright, mapped = self._same_places(), self._same_normals(), self._same_uvs()
        self.same = near & moved
        self.alike = {POSITION: near, NORMAL: upright, TEXCOORD: mapped, TANGENT: near & upright & mapped,
                      BLENDINDEXES: moved, BLENDWEIGHTS: moved, COLOR: self._same_colors()}  # fmt: skip

    def _mask(self, same: Any) -> Bools:
        """Return a mask (V,) that says of known vertices what `same` does, and of others no."""
        found = np.zeros(len(self.numbers), np.bool_)
        found[self.known] = same
        return np.asarray(found)

    def _model_normals(self) -> NDArray[Any]:
        mesh, bind = self.mesh, self.model.skeleton.bind
        if mesh.normals is None:
            return np.asarray(smooth_normals(self.places[None], mesh.triangles)[0])
        return np.asarray(rotate(normal_turns(mesh.weights, bind.rotations), mesh.normals))

    def _same_places(self) -> Bools:
        if self.stored is None:
            return self._mask(False)
        there = self.stored.places()[self.there]
        joints = np.abs(self.model.skeleton.bind.positions).max(initial=0.0)
        slack = SAME_PLACE * float(np.abs(self.places).max(initial=joints))
        return self._mask((np.abs(self.places[self.known] - there) <= slack).all(axis=1))

    def _same_normals(self) -> Bools:
        kept = self.mesh.kept_normals
        if self.own is not None and self.own.normals is None:  # smooth ones, which come of the rest
            return self._mask(True)
        if kept is None or self.own is None or self.source is None or self.own.normals is None:
            return self._mask(False)
        # A model's says where a joint's space has it, the file where that was at rest: which joints may have left.
        bind = self.source.skeleton.bind.rotations
        before = rotate(normal_turns(self.own.weights.of(self.there), bind), self.own.normals[self.there])
        near = np.abs(self.normals[self.known] - before) <= SAME_NORMAL * np.maximum(np.abs(before), 1.0)
        return self._mask(kept[self.known] & near.all(axis=1))

    def _same_uvs(self) -> Bools:
        return self._mask(
            False if self.own is None else (self.own.uvs[self.there] == self.mesh.uvs[self.known]).all(axis=1)
        )

    def _same_colors(self) -> Bools:
        if self.own is None or self.own.colors is None or self.mesh.colors is None:
            return self._mask(False)
        shown = np.clip(self.own.colors[self.there], 0.0, 1.0)
        off = np.abs(shown - np.clip(self.mesh.colors[self.known], 0.0, 1.0)).max(axis=1)
        return self._mask(off < SAME_COLOR)

    def _weights(self) -> tuple[NDArray[Any], NDArray[Any], Bools]:
        """Return joints and weights (V, 4) of all vertices, heaviest first, and which have the source's, (V,)."""
        table = self.mesh.weights
        owners, entries = table.entries()
        factors = table.factors[entries].astype(np.float64)
        order = np.lexsort((np.arange(len(owners)), -factors, owners))
        owners, entries, factors = owners[order], entries[order], factors[order]
        rank = np.arange(len(owners)) - np.searchsorted(owners, owners)
        chosen = (rank < WEIGHTS) & (factors > 0)
        joints, parts = np.zeros((len(table.counts), WEIGHTS), np.int64), np.zeros((len(table.counts), WEIGHTS))
        joints[owners[chosen], rank[chosen]] = table.joints[entries[chosen]]
        parts[owners[chosen], rank[chosen]] = factors[chosen]
        mesh = self.mesh
        if self.own is None or mesh.kept is None or self.source is None:
            return joints, parts, self._mask(False)
        held = mesh.kept if mesh.carried is None else mesh.kept | mesh.carried
        return joints, parts, self._mask(held[self.known] & self._has_joints())

    def _has_joints(self) -> Bools:
        """Tell of which known vertices (n,) all joints of the source are still there."""
        assert self.own is not None
        now = self._present()
        table = self.own.weights
        owners, entries = table.entries()
        lost = np.bincount(owners, now[table.joints[entries]] < 0, len(table.counts)) > 0
        return np.asarray(~lost[self.there])

    def _present(self) -> Numbers:
        """Return the present joint that each of the source's is, or -1."""
        assert self.source is not None
        found = np.full(self.source.skeleton.num_joints, -1, np.int64)
        joints = self.model.skeleton.joints_in(self.source)
        found[joints[joints >= 0]] = np.flatnonzero(joints >= 0)
        return found

    def array(self, record: Any, nth: int) -> NDArray[Any]:
        """Return an array (V, k) of a kind and layout, a `record`; `nth` says which of the source's it was, or -1."""
        kind, dtype, size = int(record["type"]), FORMATS[record["format"]], int(record["size"])
        found = self._fresh(kind, dtype, size)
        if nth >= 0 and self.own is not None:
            same = self.alike.get(kind, self.numbers >= 0)
            raw = self.own.facts[f"va{nth}"][self.numbers[same]]
            if kind == BLENDINDEXES:
                raw = self._renumbered(raw)
            found[same] = raw
        return found

    def _renumbered(self, raw: NDArray[Any]) -> NDArray[Any]:
        """Return the source's indices with the numbers that joints have now; what moves nothing stays if it may."""
        now = self._present()
        if np.array_equal(now, np.arange(len(now))) or self.own is None:
            return raw
        indices = raw.astype(np.int64)
        inside = (indices >= 0) & (indices < len(now))
        mapped = np.where(inside, now[np.where(inside, indices, 0)], indices)
        return np.where(mapped >= 0, mapped, 0).astype(raw.dtype)

    def _fresh(self, kind: int, dtype: np.dtype[Any], size: int) -> NDArray[Any]:
        """Return an array (V, k) of what vertices are now; of other types what the vertex had, or nothing."""
        count = len(self.numbers)
        if kind == BLENDWEIGHTS:
            most = 1 if dtype.kind == "f" else int(np.iinfo(dtype).max)
            whole = self.factors if most == 1 else rounded_weights(self.factors, most)
            return encode_array(whole, dtype, size)
        if kind == TANGENT:
            tangents = make_tangents(self.places, self.normals, self.uvs, self.mesh.triangles)
            return encode_array(tangents, dtype, size, True)
        if kind == COLOR:
            colors = self.mesh.colors
            return encode_array(np.ones((count, 4)) if colors is None else colors, dtype, size, True)
        values = {POSITION: self.places, TEXCOORD: self.uvs, NORMAL: self.normals, BLENDINDEXES: self.joints}.get(kind)
        return np.zeros((count, size), dtype) if values is None else encode_array(values, dtype, size)


@dataclass(eq=False)
class Geometry:
    """What comes of meshes: the lumps that hold them."""

    meshes: NDArray[Any]  # MESH (meshes,)
    arrays: NDArray[Any]  # ARRAY (A,)
    data: list[NDArray[Any]]  # (V, k) of each array
    source_arrays: list[int]
    triangles: NDArray[Any]  # (T, 3), clockwise
    adjacency: NDArray[Any]  # (T, 3) or (0, 3)
    num_vertices: int
    unchanged: bool  # no vertex lies elsewhere, or is moved otherwise, than in the source


def from_meshes(model: SkeletalModel, source: SkeletalSource | None, text: TextWriter) -> Geometry:
    """Return what comes of a model's meshes."""
    records, source_arrays = _arrays(model, source)
    all_rows = [encode_vertices(mesh, model, source, records, source_arrays) for mesh in model.meshes]
    if source is not None and _is_whole(all_rows, source):
        found = _in_place(all_rows, source, records, text) if -1 not in source_arrays else None
        if found is not None:
            return found
    return _one_after_another(all_rows, source, records, source_arrays, text)


def _arrays(model: SkeletalModel, source: SkeletalSource | None) -> tuple[NDArray[Any], list[int]]:
    """Return which arrays to write, ARRAY (A,), and which of the source's each one was; -1: none.

    Colours without opacity give way to some that have it where it was painted.
    """
    records = np.zeros(0, ARRAY) if source is None else records_of(source.facts, "arrays", ARRAY)
    colored = any(mesh.colors is not None for mesh in model.meshes)
    bare = colored or source is None or not any(mesh.colors is not None for mesh in source.meshes)
    faint = any(mesh.colors is not None and (mesh.colors[:, 3] < 1.0).any() for mesh in model.meshes)
    opaque = (records["type"] == COLOR) & (records["size"] < 4)
    left_out = ((records["type"] == COLOR) & (not bare)) | (opaque & faint)
    numbers = np.flatnonzero(~left_out).tolist()
    wanted = list(USUAL) if source is None or not source.meshes else []
    wanted += list(MOVED) if any(mesh.weights.counts.any() for mesh in model.meshes) else []
    wanted += [(COLOR, int(form), 4) for form in records["format"][opaque]] if faint else []
    wanted += list(PAINTED) if colored and not (faint and opaque.any()) else []
    present = set(records["type"][numbers].tolist())
    if not model.meshes:
        return records[numbers], numbers
    more = [(kind, form, size) for kind, form, size in wanted if kind not in present]
    made = np.zeros(len(more), ARRAY)
    for record, (kind, form, size) in zip(made, more, strict=True):
        wide = kind == BLENDINDEXES and model.skeleton.num_joints > 256
        record["type"], record["format"], record["size"] = kind, WIDE if wide else form, size
    return np.concatenate((records[numbers], made)), [*numbers, *([-1] * len(made))]


def _is_whole(all_rows: Sequence[Rows], source: SkeletalSource) -> bool:
    """Tell whether every mesh has the vertices and triangles of the source's, in its order."""
    if [rows.mesh.source_index for rows in all_rows] != list(range(len(source.meshes))):
        return False
    for rows in all_rows:
        own = rows.own
        if own is None or not np.array_equal(rows.numbers, np.arange(own.num_vertices)):
            return False
        if len(rows.mesh.triangles) != len(own.triangles):
            return False
    return True


def _in_place(
    all_rows: Sequence[Rows], source: SkeletalSource, records: NDArray[Any], text: TextWriter
) -> Geometry | None:
    """Return what comes of meshes whose vertices and triangles keep their numbers; None where two disagree."""
    facts = source.facts
    if len(records) != len(facts["arrays"]):
        return None
    counts = [_count(all_rows, facts, kind) for kind in ("vertices", "triangles")]
    data = [np.zeros((counts[0], int(record["size"])), FORMATS[record["format"]]) for record in records]
    triangles = np.zeros((counts[1], 3), INDEX)
    for nth, (array, record) in enumerate(zip(data, records, strict=True)):
        array[facts["spare_vertices"]] = facts[f"spare{nth}"]
        if not _fill(array, [(rows, rows.data[nth]) for rows in all_rows], int(record["type"])):
            return None
    triangles[facts["spare_triangles"]] = facts["spare_corners"]
    for rows in all_rows:
        assert rows.own is not None
        triangles[rows.own.facts["triangles"]] = rows.own.facts["vertices"][rows.mesh.triangles[:, ::-1]]
    meshes = np.array([_mesh_record(rows, text) for rows in all_rows], MESH)
    same_faces = all(np.array_equal(r.mesh.triangles, r.own.triangles) for r in all_rows if r.own)
    adjacency = facts["adjacency"]
    if len(adjacency) and (not same_faces or len(adjacency) != len(triangles)):
        adjacency = _neighbours(triangles, data, records)
    unchanged = all(rows.same.all() for rows in all_rows)
    return Geometry(meshes, records, data, list(range(len(records))), triangles, adjacency, counts[0], unchanged)


def _fill(array: NDArray[Any], parts: list[tuple[Rows, NDArray[Any]]], kind: int) -> bool:
    """Write meshes' rows (V, k) where the source has their vertices; tells whether those who share one agree.

    Of normals those have to, about, whose triangles use it. Tangents, which come of the triangles, each has its own:
    there the mesh counts in whose range a vertex lies.
    """
    for used, inside in ((False, False), (False, True), (True, False), (True, True)):
        for rows, values in parts:
            assert rows.own is not None
            mask = (rows.used == used) & (rows.inside == inside)
            array[rows.own.facts["vertices"][mask]] = values[mask]
    pairs = [(array[rows.own.facts["vertices"]], values, rows.used) for rows, values in parts if rows.own is not None]
    if kind == NORMAL:
        return all(_are_one(there, values)[used].all() for there, values, used in pairs)
    return kind == TANGENT or all(there.tobytes() == values.tobytes() for there, values, _ in pairs)


def _are_one(a: NDArray[Any], b: NDArray[Any]) -> Bools:
    """Tell which normals (V, 3) are about those of others."""
    lengths = steady.lengths(a.astype(np.float64)) * steady.lengths(b.astype(np.float64))
    same = steady.dots(a.astype(np.float64), b.astype(np.float64)) >= ONE_NORMAL * lengths
    return np.asarray(same | (a == b).all(axis=1))


def _count(all_rows: Sequence[Rows], facts: Facts, kind: str) -> int:
    """Return how many vertices or triangles the source has, by their numbers."""
    numbers = [facts[f"spare_{kind}"], *(rows.own.facts[kind] for rows in all_rows if rows.own is not None)]
    return 1 + max(int(values.max(initial=-1)) for values in numbers)


def _mesh_record(rows: Rows, text: TextWriter) -> Any:
    """Return the record of a mesh, MESH, with the source's ranges."""
    record, written = np.zeros((), MESH), (-1, -1)
    if rows.own is not None:
        record = records_of(rows.own.facts, "mesh", MESH)
        written = int(record["name"]), int(record["material"])
    record["name"] = text.offset(rows.mesh.name, written[0])
    record["material"] = text.offset(rows.mesh.shader, written[1])
    return record


def _neighbours(triangles: NDArray[Any], data: list[NDArray[Any]], records: NDArray[Any]) -> NDArray[Any]:
    places = [array[:, :3] for array, record in zip(data, records, strict=True) if record["type"] == POSITION]
    return make_adjacency(triangles, places[0].astype(np.float32)) if places and len(triangles) else triangles[:0]


def _one_after_another(
    all_rows: Sequence[Rows], source: SkeletalSource | None, records: NDArray[Any], source_arrays: list[int],
    text: TextWriter,
) -> Geometry:  # fmt: skip
    """Return what comes of meshes whose vertices and triangles follow one another."""
    data = []
    for nth, record in enumerate(records):
        empty = np.zeros((0, int(record["size"])), FORMATS[record["format"]])
        data.append(np.concatenate((empty, *(rows.data[nth] for rows in all_rows))))
    lenders = _lenders(all_rows, records, data)
    own = lenders < 0
    numbers = np.where(own, np.cumsum(own) - 1, -1)
    numbers[~own] = numbers[lenders[~own]]
    data = [array[own] for array in data]
    bases = np.cumsum([0, *(len(rows.numbers) for rows in all_rows)])
    counts = [int(own[first:last].sum()) for first, last in pairwise(bases.tolist())]
    firsts = np.cumsum([0, *counts])
    meshes, first_triangle = np.zeros(len(all_rows), MESH), 0
    triangles: list[NDArray[Any]] = [np.zeros((0, 3), np.int64)]
    for nth, rows in enumerate(all_rows):
        record = _mesh_record(rows, text)
        record["first_vertex"], record["num_vertexes"] = firsts[nth], counts[nth]
        record["first_triangle"], record["num_triangles"] = first_triangle, len(rows.mesh.triangles)
        meshes[nth] = record
        first_triangle += len(rows.mesh.triangles)
        triangles.append(numbers[bases[nth] + rows.mesh.triangles[:, ::-1].astype(np.int64)])
    corners = np.concatenate(triangles).astype(INDEX)
    wanted = source is None or len(source.facts["adjacency"]) or not len(source.meshes)
    adjacency = _neighbours(corners, data, records) if wanted else corners[:0]
    return Geometry(meshes, records, data, source_arrays, corners, adjacency, int(firsts[-1]), False)


def _lenders(all_rows: Sequence[Rows], records: NDArray[Any], data: Sequence[NDArray[Any]]) -> Numbers:
    """Return which vertex of all meshes, (N,), lends its place to one that is still another mesh's, as in the source.

    `data`: each array of all meshes, (N, k). -1 where a vertex has a place of its own: that of a lender, or of one
    that shows something else than it.
    """
    files: list[Numbers] = [np.zeros(0, np.int64)]
    inside: list[Bools] = [np.zeros(0, np.bool_)]
    for rows in all_rows:
        found = np.full(len(rows.numbers), -1, np.int64)
        if rows.own is not None:
            claimed = rows.numbers >= 0
            found[claimed] = rows.own.facts["vertices"][rows.numbers[claimed]]
        files.append(found)
        inside.append(rows.inside)
    file, lends = np.concatenate(files), np.concatenate(inside)
    lenders = np.full(len(file), -1, np.int64)
    seekers = np.flatnonzero((file >= 0) & ~lends)
    if not len(seekers):
        return lenders
    owners = np.full(int(file.max()) + 1, -1, np.int64)
    lent, first = np.unique(file[lends], return_index=True)
    owners[lent] = np.flatnonzero(lends)[first]
    mesh = np.repeat(np.arange(len(all_rows)), [len(rows.numbers) for rows in all_rows])
    seekers = seekers[owners[file[seekers]] >= 0]
    wanted = owners[file[seekers]]
    used = np.concatenate([rows.used for rows in all_rows])[seekers]
    same = mesh[wanted] != mesh[seekers]
    for array, kind in zip(data, records["type"].tolist(), strict=True):
        if kind == NORMAL:
            same &= _are_one(array[seekers], array[wanted]) | ~used
        elif kind not in SHADED:
            same &= (as_bytes(array[seekers]) == as_bytes(array[wanted])).all(axis=(1, 2))
    lenders[seekers[same]] = wanted[same]
    return lenders
