"""Meshes of an IQM: slices of its vertices and triangles to skinned meshes; `vertices` is the way back.

All vertices of a file are one list, and triangles name vertices of all of it: some real files have triangles whose
vertices lie in another mesh's part. A model's mesh has its own vertices, and these behind them. What is written keeps
the file's numbers while every mesh has the source's vertices and triangles; else meshes follow one another.

What a vertex has lies in arrays, whose components are numbers of any kind. Whole numbers of weights and colours are
parts of the largest; elsewhere they mean themselves. Tangents and neighbours are made anew.

Letters in shapes: V vertices, T triangles, J joints, k components.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.arrays import LARGEST
from ...model.skeletal import (
    SkeletalSource,
    Skeleton,
    SkinnedMeshSource,
    Weights,
)
from ...model.source import Facts
from ...model.transforms import conjugate, rotate
from ...model.weights import normal_turns
from ...reporting import FormatError
from ..common.records import Wanted, all_fit, as_bytes, finite, flipped, passes, records_of
from .file import (
    ARRAY,
    BLENDINDEXES,
    BLENDWEIGHTS,
    COLOR,
    FORMATS,
    MESH,
    MOST_ARRAYS,
    MOST_COMPONENTS,
    NORMAL,
    POSITION,
    TEXCOORD,
    Iqm,
    check_ranges,
    name_at,
)

Doubles = NDArray[np.float64]
NOBODY = 0xFFFFFFFF  # the neighbour of an edge that has none
Numbers = NDArray[np.int64]
WEIGHTS = 4  # that games take of a vertex


def decode_array(components: NDArray[Any], width: int, parts: bool, missing: float) -> NDArray[Any]:
    """Return components (V, k) as finite numbers (V, width); `missing` ones are filled in.

    `parts`: whole numbers are parts of the largest of their kind.
    """
    found: NDArray[np.float32] = np.full((len(components), width), missing, np.float32)
    most = np.iinfo(components.dtype).max if parts and components.dtype.kind in "iu" else 1
    own = components[:, :width]
    with np.errstate(over="ignore", invalid="ignore"):
        found[:, : own.shape[1]] = finite(own.astype(np.float64) / most if most != 1 else own)
    return found


def encode_array(values: NDArray[Any], dtype: np.dtype[Any], size: int, parts: bool = False) -> NDArray[Any]:
    """Return numbers (V, width) as components (V, size) of a kind; inverse of `decode_array`."""
    found = np.zeros((len(values), size), dtype)
    own = values[:, :size].astype(np.float64)
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            found[:, : own.shape[1]] = own
        return found
    limits = np.iinfo(dtype)
    own = np.rint(own * limits.max) if parts else np.rint(own)
    found[:, : own.shape[1]] = np.clip(own, limits.min, limits.max)
    return found


def make_tangents(
    places: NDArray[Any], normals: NDArray[Any], uvs: NDArray[Any], triangles: NDArray[Any]
) -> NDArray[np.float32]:
    """Return tangents (V, 4) with the sign of the bitangent (the iqm compiler, `calctangents`).

    A triangle's are the ways in which s and t grow, as long as its area in them; those of a vertex are added up and
    made upright to its normal. `uvs` are as in the file.
    """
    places, normals, uvs = (values.astype(np.float64) for values in (places, normals, uvs))
    sums = np.zeros((2, len(places), 3))
    a, b, c = triangles.T
    edges = places[b] - places[a], places[c] - places[a]
    ways = uvs[b] - uvs[a], uvs[c] - uvs[a]
    tangent = ways[0][:, 1:] * edges[1] - ways[1][:, 1:] * edges[0]
    bitangent = ways[0][:, :1] * edges[1] - ways[1][:, :1] * edges[0]
    turned = steady.dots(steady.crossed(bitangent, tangent), steady.crossed(edges[1], edges[0])) < 0
    for total, values in zip(sums, (tangent, bitangent), strict=True):
        signed = np.where(turned[:, None], -values, values)
        for axis in range(3):
            parts = [np.bincount(corner, signed[:, axis], len(places)) for corner in (a, b, c)]
            total[:, axis] = parts[0] + parts[1] + parts[2]
    along = sums[0] - normals * steady.dots(normals, sums[0])[:, None]
    found = np.zeros((len(places), 4), np.float32)
    lengths = steady.lengths(along)
    found[:, :3] = np.where(lengths[:, None] > 0, along / np.where(lengths > 0, lengths, 1.0)[:, None], (1.0, 0.0, 0.0))
    found[:, 3] = np.where(steady.dots(steady.crossed(normals, along), sums[1]) < 0, -1.0, 1.0)
    return found


def make_adjacency(triangles: NDArray[Any], places: NDArray[Any]) -> NDArray[Any]:
    """Return each triangle's neighbours over its three edges, (T, 3): by place, where just two triangles share one."""
    alike = np.unique(np.ascontiguousarray(places, np.float32).view("V12"), return_inverse=True)[1].reshape(-1)
    points = alike[triangles.astype(np.int64)]
    ends = np.stack((points, np.roll(points, -1, axis=1)), axis=-1).reshape(-1, 2)
    keys = ends.min(axis=1) * (len(places) + 1) + ends.max(axis=1)
    order = np.argsort(keys, kind="stable")
    _, firsts, counts = np.unique(keys[order], return_index=True, return_counts=True)
    pairs = firsts[counts == 2]
    one, other = order[pairs], order[pairs + 1]
    found = np.full(len(keys), NOBODY, np.uint32)
    found[one], found[other] = other // 3, one // 3
    return found.reshape(-1, 3)


def rounded_weights(factors: Doubles, total: int) -> NDArray[np.int64]:
    """Return weights (V, k), heaviest first, as whole numbers that add up to `total` where there are any.

    They are rounded; what that takes or adds too much is taken from or added to the heaviest, one each in turn.
    """
    sums = factors.sum(axis=1, keepdims=True)
    found: NDArray[np.int64] = np.rint(factors / np.where(sums > 0, sums, 1.0) * total).astype(np.int64)
    left = np.where(sums[:, 0] > 0, total - found.sum(axis=1), 0)
    for nth in range(found.shape[1]):  # it is half of as many at most, and what was rounded up has something to give
        step = np.sign(left)
        found[:, nth] += step
        left -= step
    return found


def array_of(records: NDArray[Any], kind: int) -> int:
    """Return which array is of a type, the first, or -1."""
    found = np.flatnonzero(records["type"] == kind)
    return int(found[0]) if len(found) else -1


# -- from a file


def mesh_sources(iqm: Iqm, skeleton: Skeleton) -> list[SkinnedMeshSource]:
    """Return the meshes of a file; raises FormatError."""
    return [_mesh_source(iqm, record, skeleton, index) for index, record in enumerate(iqm.meshes)]


def _mesh_source(iqm: Iqm, record: Any, skeleton: Skeleton, index: int) -> SkinnedMeshSource:
    first, count = int(record["first_triangle"]), int(record["num_triangles"])
    corners = iqm.triangles[first : first + count].astype(np.int64)
    begin, size = int(record["first_vertex"]), int(record["num_vertexes"])
    used = np.unique(corners)
    outside = used[(used < begin) | (used >= begin + size)]
    vertices = np.concatenate((np.arange(begin, begin + size), outside))
    inside = (corners >= begin) & (corners < begin + size)
    places = np.where(inside, corners - begin, size + np.searchsorted(outside, corners))
    triangles = np.ascontiguousarray(places[:, ::-1], np.int32)
    facts: Facts = {"mesh": as_bytes(record), "vertices": vertices, "triangles": np.arange(first, first + count)}
    facts |= {f"va{nth}": np.ascontiguousarray(data[vertices]) for nth, data in enumerate(iqm.data)}
    own = Vertices(iqm.arrays, facts)
    weights = _decode_weights(own, skeleton, index)
    normals = own.decoded(NORMAL, 3)
    if normals is not None:
        turns = normal_turns(weights, skeleton.rotations)
        normals = np.clip(rotate(conjugate(turns), normals), -LARGEST, LARGEST).astype(np.float32)
    name, material = (name_at(iqm.text, int(record[n])) for n in ("name", "material"))
    uvs = own.decoded(TEXCOORD, 2)
    uvs = np.zeros((len(vertices), 2), np.float32) if uvs is None else flipped(uvs)
    colors = own.decoded(COLOR, 4, True, 1.0)
    return SkinnedMeshSource(name, material, uvs, triangles, weights, facts, normals, colors, blended=True)


@dataclass(eq=False)
class Vertices:
    """The vertex arrays of a mesh."""

    records: NDArray[Any]  # ARRAY
    facts: Facts  # of the mesh: vaN

    def raw(self, kind: int) -> NDArray[Any] | None:
        """Return the components (V, k) of the array of a type, or None."""
        nth = array_of(self.records, kind)
        return None if nth < 0 else self.facts[f"va{nth}"]

    def decoded(self, kind: int, width: int, parts: bool = False, missing: float = 0.0) -> NDArray[np.float32] | None:
        """Return an array as numbers (V, width), or None: see `decode_array`."""
        raw = self.raw(kind)
        return None if raw is None else decode_array(raw, width, parts, missing)

    def places(self) -> NDArray[np.float32]:
        """Return where vertices lie, (V, 3)."""
        found = self.decoded(POSITION, 3)
        return np.zeros((len(self.facts["vertices"]), 3), np.float32) if found is None else found


def _decode_weights(own: Vertices, skeleton: Skeleton, index: int) -> Weights:
    """Return the weights of vertices; those without any stay where they lie. Raises FormatError."""
    places = own.places()
    joints, factors = _influences(own, skeleton.num_joints, index)
    used = factors > 0
    owners, columns = np.nonzero(used)
    chosen, parts = joints[owners, columns], factors[owners, columns].astype(np.float64)
    sums = np.bincount(owners, parts, len(places))
    ways = places[owners].astype(np.float64) - skeleton.positions[chosen]
    turned = rotate(conjugate(skeleton.rotations[chosen]), ways)
    offsets = np.clip(turned, -LARGEST, LARGEST).astype(np.float32)
    counts = used.sum(axis=1)
    return Weights(
        (np.cumsum(counts) - counts).astype(np.int32), counts.astype(np.int32), chosen.astype(np.int32),
        (parts / np.where(sums > 0, sums, 1.0)[owners]).astype(np.float32), offsets, places.copy(),
    )  # fmt: skip


def _influences(own: Vertices, count: int, index: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return joints, of so many, and weights (V, k) of a mesh's vertices; 0 is none. Raises FormatError."""
    joints, factors = own.raw(BLENDINDEXES), own.decoded(BLENDWEIGHTS, WEIGHTS, True)
    if joints is None or factors is None or not count:
        vertices = len(own.facts["vertices"])
        return np.zeros((vertices, 1), np.int64), np.zeros((vertices, 1), np.float32)
    with np.errstate(invalid="ignore"):
        joints = joints[:, : factors.shape[1]].astype(np.int64)
    factors = factors[:, : joints.shape[1]]
    bad = np.argwhere((factors > 0) & ((joints < 0) | (joints >= count)))
    if len(bad):
        vertex, nth = bad[0].tolist()
        text, wanted = f"joint of vertex {vertex} of mesh {index}", f"0 to {count - 1}"
        raise FormatError(text, expected=wanted, found=int(joints[vertex, nth]))
    return joints, factors


def file_facts(iqm: Iqm) -> Facts:
    """Return what a file has that belongs to no mesh."""
    inside = np.zeros(iqm.num_vertices, np.bool_)
    meant = np.zeros(len(iqm.triangles), np.bool_)
    for record in iqm.meshes:
        inside[int(record["first_vertex"]) :][: int(record["num_vertexes"])] = True
        meant[int(record["first_triangle"]) :][: int(record["num_triangles"])] = True
    vertices, triangles = np.flatnonzero(~inside), np.flatnonzero(~meant)
    facts: Facts = {"arrays": as_bytes(iqm.arrays), "adjacency": iqm.adjacency.copy(), "spare_vertices": vertices}
    facts |= {"spare_triangles": triangles, "spare_corners": iqm.triangles[triangles]}
    return facts | {f"spare{nth}": np.ascontiguousarray(data[vertices]) for nth, data in enumerate(iqm.data)}


def facts_fit(source: SkeletalSource) -> bool:
    """Tell whether the facts of meshes are what reading writes: a .blend can come from a stranger."""
    if not all_fit(source.facts, {"arrays": (ARRAY, (-1,)), "spare_vertices": ("i8", (-1,))}):
        return False
    records = records_of(source.facts, "arrays", ARRAY)
    usual = (records["format"] < len(FORMATS)) & (records["size"] >= 1) & (records["size"] <= MOST_COMPONENTS)
    if len(records) > MOST_ARRAYS or not usual.all():
        return False
    count = len(source.facts["spare_vertices"])
    wanted: Wanted = {
        "adjacency": ("u4", (-1, 3)), "spare_triangles": ("i8", (-1,)),
        "spare_corners": ("u4", (-1, 3)), **_components(records, "spare", count),
    }  # fmt: skip
    if not all_fit(source.facts, wanted) or len(source.facts["spare_triangles"]) != len(source.facts["spare_corners"]):
        return False
    for index, mesh in enumerate(source.meshes):
        own: Wanted = {
            "mesh": (MESH, ()), "vertices": ("i8", (mesh.num_vertices,)), "triangles": ("i8", (len(mesh.triangles),)),
            **_components(records, "va", mesh.num_vertices),
        }  # fmt: skip
        vertices = Vertices(records, mesh.facts)
        if not all_fit(mesh.facts, own) or not passes(_influences, vertices, source.skeleton.num_joints, index):
            return False
    return _numbers_fit(source)


def _components(records: NDArray[Any], name: str, count: int) -> Wanted:
    return {
        f"{name}{nth}": (FORMATS[record["format"]], (count, int(record["size"]))) for nth, record in enumerate(records)
    }


def _numbers_fit(source: SkeletalSource) -> bool:
    """Tell whether vertices and triangles have numbers that a file of so many has, and meshes their ranges of these."""
    meshes = np.array([records_of(mesh.facts, "mesh", MESH) for mesh in source.meshes], MESH)
    if not np.array_equal(meshes["num_triangles"], [len(mesh.triangles) for mesh in source.meshes]):
        return False
    ends: list[int] = []
    for one, many, called, every in (
        ("vertex", "vertexes", "vertices", source.every_vertex),
        ("triangle", "triangles", "triangles", source.every_triangle),
    ):
        spare, own = source.facts[f"spare_{called}"], [mesh.facts[called] for mesh in source.meshes]
        numbers = np.concatenate((spare, *own))
        if ((numbers < 0) | (numbers >= len(every) + len(spare))).any():
            return False
        ends.append(1 + int(numbers.max(initial=-1)))
        if not passes(check_ranges, meshes, one, many, ends[-1], "mesh"):
            return False
        for record, numbers in zip(meshes, own, strict=True):
            first, count = int(record[f"first_{one}"]), int(record[f"num_{many}"])
            if not np.array_equal(numbers[:count], np.arange(first, first + count)):
                return False
    return not (source.facts["spare_corners"] >= ends[0]).any()
