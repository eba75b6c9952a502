"""The vertices of a mesh as components of an IQM's arrays: the source's where they say what they did.

Letters in shapes: V vertices of a mesh, k components.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.arrays import LARGEST
from ...model.edits.normals import smooth_normals
from ...model.skeletal import (
    SkeletalModel,
    SkeletalSource,
    SkinnedMesh,
    SkinnedMeshSource,
    skin,
)
from ...model.transforms import rotate
from ...model.weights.table import normal_turns
from ..common.hints import records_of
from ..common.uv import flipped
from .arrays import encode_array, make_tangents, rounded_weights
from .file import ARRAY, BLENDINDEXES, BLENDWEIGHTS, COLOR, FORMATS, NORMAL, POSITION, TANGENT, TEXCOORD
from .geometry import WEIGHTS, Vertices

Numbers = NDArray[np.int64]
Bools = NDArray[np.bool_]
SAME_PLACE = 4e-7  # of the largest coordinate: single precision's own rounding
SAME_NORMAL = 2e-5  # of a normal: Blender's own rounding of a bone's axes
SAME_COLOR = 0.51 / 255  # half a step of the bytes that Blender has


@dataclass(eq=False)
class Rows:
    """A mesh on its way into a file."""

    mesh: SkinnedMesh
    own: SkinnedMeshSource | None
    numbers: Numbers  # (V,) the vertex of `own` that each was, or -1
    data: list[NDArray[Any]]  # (V, k) of each array
    same: Bools  # (V,) it lies where the source's does, and is moved alike


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
    if own is None:
        numbers[:] = -1
    made = Encoder(mesh, model, source, own, numbers)
    data = [made.array(record, nth) for record, nth in zip(records, source_arrays, strict=True)]
    return Rows(mesh, own, numbers, data, made.same)


class Encoder:
    """A mesh' vertices as components: the source's where they say what they did."""

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
        """Return an array (V, k), which is one of the source's, or -1."""
        kind, dtype, size = int(record["type"]), FORMATS[record["format"]], int(record["size"])
        found = self._fresh(kind, dtype, size)
        if nth >= 0 and self.own is not None:
            same = self.alike.get(kind, self.numbers >= 0)
            raw = self.own.facts[f"va{nth}"][self.numbers[same]]
            if kind == BLENDINDEXES:
                raw = self._renumbered(raw, np.flatnonzero(same))
            found[same] = raw
        return found

    def _renumbered(self, raw: NDArray[Any], vertices: Numbers) -> NDArray[Any]:
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
