"""Which vertices of skinned meshes are still the source's, and what their weights say where bones and meshes are now.

A file says of each weight where the vertex lies in the space of a joint. Those places disagree a little, and weights
may be more and smaller than those that an export gives to new vertices. So a vertex whose groups are those of import
has the source's weights, whatever was moved, and what is left to find are offsets:

- the source's, where they show the vertex in its place, and disagree no more than they did: always while nothing moved,
  and when joints that went as one took it along;
- else each weight's place in the bind pose is taken along with the vertex, and lies where it then does in the space of
  its joint. Blender moves a vertex by what joints do to places at rest, so that what files show is what it shows.

A vertex goes along with its object, and in that with a part that one map moved as a whole. The places of one that was
moved alone go where it went. One whose groups were edited has no such places: it gets weights anew.

Letters in shapes: V vertices, n weights, s of those vertices that are the source's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.edits import affine
from ...model.skeletal import SkeletalSource, Weights, skin
from ...model.source import MeshSource, split_by_part
from ...model.transforms import conjugate, rotate
from ..compat import Block
from ..mesh.parts import Part
from ..vertex_groups import summed
from .rig_scene import ExportRig

SAME_PLACE = 1e-5  # of a coordinate: numpy's own rounding between two machines
ROUNDED = 16 * 2.0**-24  # of a coordinate: what single precision loses on the way through matrices of objects
TURNED = 2e-5  # of an axis: Blender's own rounding of a bone that was moved in edit mode
LEAST_MOVE = 1e-3  # game units: no rounding is more
ODD_SUM = 0.02  # how far weights' sum may be off 1, as rounding has it in real files; else games show them elsewhere
Doubles = NDArray[np.float64]
Bools = NDArray[np.bool_]
Entries = tuple[NDArray[Any], NDArray[Any], NDArray[np.float32]]  # vertex, joint and weight (n,)


@dataclass(eq=False)
class Untouched:
    """Vertices with the source's weights: those `kept` as they are, those `carried`, and the weights of both."""

    kept: Bools  # (V,) bit for bit
    carried: Bools  # (V,) with offsets of their own
    owners: NDArray[np.int64]  # (n,)
    joints: NDArray[np.int64]  # (n,)
    factors: NDArray[np.float32]  # (n,)
    offsets: NDArray[np.float32]  # (n, 3)
    off: Doubles  # (V,) units that games show them at rest from where they are: weights need not sum to 1

    @property
    def any_way(self) -> Bools:
        """Tell which vertices (V,) have the source's weights."""
        return self.kept | self.carried


def stand(positions: NDArray[np.float32], mesh: MeshSource, own: NDArray[Any], scale: float) -> Bools:
    """Tell which places (n, 3) are those in which import put a mesh's vertices `own` (n,)."""
    there = mesh.decoded_positions(slice(None), own)[0]
    near = np.abs(positions - there) <= SAME_PLACE * np.maximum(np.abs(there), scale)
    return np.asarray(near.all(axis=1))


def find(
    block: Block, weighted: Entries, part: Part, positions: NDArray[np.float32], rig: ExportRig, scale: float
) -> Untouched:
    """Return which of a part's vertices are the source's, and their weights.

    `weighted` says all groups of its vertices, `positions` (V, 3) where these are in the object; `scale`: the export's.
    """
    count = len(part.vertices.numbers)
    nobody, nothing = np.zeros(count, np.bool_), np.zeros(0, np.int64)
    empty = np.zeros((0, 3), np.float32)
    found = Untouched(nobody, nobody.copy(), nothing, nothing, empty[:, 0], empty, np.zeros(count))
    source, skeleton = rig.source, rig.skeleton
    if source is None or rig.rest is None or skeleton.sources is None or skeleton.kept is None:
        return found
    way = _Way(block, rig, scale)
    tables = []
    for index, all_places, all_own in split_by_part(part.vertices.numbers, source.first_vertices):
        weights, mesh = source.meshes[index].weights, rig.rest.surfaces[index]
        wanted = summed(weights, np.arange(len(weights.counts)))
        same = _same_groups(weighted, all_places, all_own, wanted, np.append(skeleton.sources, -1), count)
        same &= way.has_joints(weights)[all_own]
        places, own = all_places[same], all_own[same]
        moves = _moves(part, positions, places, own, mesh, rig.import_scale)
        tables.append(_put(found, places, way.weights(weights.of(own), positions[places], moves)))
    return _joined(found, tables)


def _put(found: Untouched, places: NDArray[Any], table: _Table) -> tuple[NDArray[Any], ...]:
    """Note which vertices, `places` (s,), a table's are; return what it says of those that have the source's."""
    found.kept[places], found.carried[places], found.off[places] = table.kept, table.carried, table.off
    owners = places[table.owners]
    chosen = found.any_way[owners]
    return owners[chosen], table.joints[chosen], table.factors[chosen], table.offsets[chosen]


def _joined(found: Untouched, tables: list[tuple[NDArray[Any], ...]]) -> Untouched:
    if tables:
        owners, joints, factors, offsets = (np.concatenate(parts) for parts in zip(*tables, strict=True))
        order = np.argsort(owners, kind="stable")
        found.owners, found.joints = owners[order], joints[order]
        found.factors, found.offsets = factors[order], offsets[order]
    return found


@dataclass(eq=False)
class _Moves:
    """What became of some vertices (s,) in their object."""

    stands: Bools  # (s,) nothing
    known: Bools  # (s,) that, or one map moved its part as a whole
    maps: Doubles  # (s, 3, 3) which did this to what lies about it


def _moves(
    part: Part,
    positions: NDArray[np.float32],
    places: NDArray[Any],
    own: NDArray[Any],
    mesh: MeshSource,
    scale: float,
) -> _Moves:
    """Return what became of the vertices `own` (s,) of a mesh, which are the part's `places` (s,)."""
    stands = stand(positions[places], mesh, own, scale)
    known, maps = stands.copy(), np.tile(np.eye(3), (len(own), 1, 1))
    moved = np.flatnonzero(~stands)
    if len(moved) and np.isfinite(positions).all():
        was, row = positions.copy(), np.full(len(positions), -1, np.int64)
        was[places] = mesh.decoded_positions(slice(None), own)[0]
        row[places] = np.arange(len(places))
        triangles = part.triangles.vertices[(row[part.triangles.vertices] >= 0).all(axis=1)]
        slack = SAME_PLACE * max(scale, float(np.abs(was).max(initial=0.0)))
        maps[moved], known[moved] = affine.linear_maps_at(was, positions, triangles, places[moved], slack)
        if not known.all() and 2 * int(stands.sum()) < len(own):  # all but some that were edited as well
            common, follows = affine.common_map(was[places], positions[places], slack)
            if follows.any():
                maps[~known], known[follows] = common, True
    return _Moves(stands, known, maps)


@dataclass(eq=False)
class _Table:
    """What the weights of some vertices (s,) of a source's mesh have become."""

    kept: Bools  # (s,)
    carried: Bools  # (s,)
    owners: NDArray[np.int64]  # (n,)
    joints: NDArray[np.int64]  # (n,)
    factors: NDArray[np.float32]  # (n,)
    offsets: NDArray[np.float32]  # (n, 3)
    off: Doubles  # (s,)


class _Way:
    """How an object's places and the source's joints came to where they are exported."""

    def __init__(self, block: Block, rig: ExportRig, scale: float) -> None:
        assert rig.source is not None
        assert rig.skeleton.sources is not None
        assert rig.skeleton.kept is not None
        self.bind, self.before = rig.skeleton.bind, rig.source.skeleton.bind
        worlds = [np.array(rig.block.matrix_world), rig.place_of(block)]
        self.world = worlds[1][:3]
        self.scale, self.import_scale = scale, rig.import_scale
        self.still = scale == rig.import_scale and all(np.array_equal(world, np.eye(4)) for world in worlds)
        count = rig.source.skeleton.num_joints
        self.joint_of = np.full(count, -1, np.int64)  # the present joint that each of the source's is, or -1
        known = np.flatnonzero((rig.skeleton.sources >= 0) & (rig.skeleton.sources < count))
        self.joint_of[rig.skeleton.sources[known]] = known
        self.held = np.append(rig.skeleton.kept, False)[self.joint_of]

    def has_joints(self, weights: Weights) -> Bools:
        """Tell of which vertices all joints are still there."""
        if (self.joint_of >= 0).all():
            return np.ones(len(weights.counts), np.bool_)
        owners, entries = weights.entries()
        return np.asarray(np.bincount(owners, self.joint_of[weights.joints[entries]] < 0, len(weights.counts)) == 0)

    def weights(self, table: Weights, positions: NDArray[np.float32], moves: _Moves) -> _Table:
        """Return what the source's weights of some vertices (s,), which are at `positions` (s, 3), have become."""
        owners, entries = table.entries()
        before, offsets = table.joints[entries], table.offsets[entries]
        joints, factors = self.joint_of[before], table.factors[entries]
        count = len(positions)
        kept = np.zeros(count, np.bool_)
        if self.still:
            kept = moves.stands & (np.bincount(owners, ~self.held[before], count) == 0)
        if kept.all():
            return _Table(kept, np.zeros(count, np.bool_), owners, joints, factors, offsets, np.zeros(count))
        wanted = steady.applied(self.world, positions.astype(np.float64)) / self.scale
        places = rotate(self.bind.rotations[joints], offsets.astype(np.float64)) + self.bind.positions[joints]
        turned = np.where(self.held[before], 0.0, TURNED) * np.abs(offsets).max(axis=1, initial=0.0)
        slack = _slack(places, self.bind.positions[joints], self.before.positions[before])
        total = _sums(owners, factors, places - wanted[owners], count)
        most = np.zeros(count)
        np.maximum.at(most, owners, np.minimum(slack + turned, LEAST_MOVE))
        kept |= (table.counts > 0) & (np.abs(total) <= most[:, None]).all(axis=1) & self._agree(table, places, most)
        movable, ways = self._carried(positions, table, moves)
        fresh = rotate(conjugate(self.bind.rotations[joints]), ways - self.bind.positions[joints])
        off = ~(np.abs(fresh - offsets).max(axis=1, initial=0.0) <= slack)  # what is no number is off
        kept |= movable & (np.bincount(owners, off, count) == 0)
        carried = movable & ~kept
        offsets = np.where(carried[owners, None], fresh, offsets).astype(np.float32)
        named = np.where(carried[owners, None], ways, places)
        off = steady.lengths(_sums(owners, factors, named, count) - wanted)
        off[~(kept | carried) | moves.stands & self.still] = 0.0
        if table.still is not None:
            off[table.counts == 0] = 0.0
        return _Table(kept, carried, owners, joints, factors, offsets, off)

    def _agree(self, table: Weights, places: Doubles, slack: Doubles) -> Bools:
        """Tell of which vertices (s,) the weights' places (n, 3) at rest disagree no more than they did in the source.

        Where joints went apart and took the vertex along their sum still fits, and moves otherwise from there on.
        """
        owners, entries = table.entries()
        joints, offsets = table.joints[entries], table.offsets[entries].astype(np.float64)
        before = rotate(self.before.rotations[joints], offsets) + self.before.positions[joints]
        factors, count = table.factors[entries], len(table.counts)
        more = _apart(owners, factors, places, count) - _apart(owners, factors, before, count)
        return np.asarray(np.bincount(owners, ~(more <= 2 * slack[owners]), count) == 0)

    def _carried(self, positions: NDArray[np.float32], table: Weights, moves: _Moves) -> tuple[Bools, Doubles]:
        """Return which vertices (s,) take their weights along, and where the places (n, 3) of these at rest are then.

        In the file's units. Those of one that was moved alone go as far as it did, by the sum of its weights.
        """
        owners, entries = table.entries()
        sums = np.bincount(owners, table.factors[entries], len(positions))
        alone = ~moves.known & (np.abs(sums - 1.0) <= ODD_SUM) & np.isfinite(positions).all(axis=1)
        before, offsets = table.joints[entries], table.offsets[entries].astype(np.float64)
        named = (rotate(self.before.rotations[before], offsets) + self.before.positions[before]) * self.import_scale
        went = (moves.known | alone)[owners] & ~moves.stands[owners]
        middle = skin(table, self.before.positions, self.before.rotations) * self.import_scale
        apart = steady.applied(moves.maps[owners[went]], named[went] - middle[owners[went]])
        shifted = middle + (positions - middle) / np.where(alone, sums, 1.0)[:, None]
        named[went] = np.where(alone[:, None], shifted, positions)[owners[went]] + apart
        return moves.known | alone, np.asarray(steady.applied(self.world, named) / self.scale)


def disagreement(source: SkeletalSource, numbers: NDArray[Any], sizes: Doubles) -> Doubles:
    """Return how far the source's weights alone may show its vertices `numbers` (V,) from where Blender does, (V,).

    They name places of their own, and need not sum to 1, which counts the more the farther from the origin, `sizes`
    (V,), a vertex is. What is none of the source's, -1, is not off.
    """
    found, bind = np.zeros(len(numbers)), source.skeleton.bind
    for index, places, own in split_by_part(numbers, source.first_vertices):
        table, count = source.meshes[index].weights.of(own), len(own)
        owners, entries = table.entries()
        joints, factors = table.joints[entries], table.factors[entries]
        named = rotate(bind.rotations[joints], table.offsets[entries].astype(np.float64)) + bind.positions[joints]
        apart = np.bincount(owners, np.abs(factors) * _apart(owners, factors, named, count), count)
        found[places] = apart + np.abs(np.bincount(owners, factors, count) - 1.0) * sizes[places]
    return found


def _slack(*points: Doubles) -> Doubles:
    """Return how far a place that comes of some points (n, 3) may be off by rounding alone, (n,)."""
    sizes = np.max([np.abs(p).max(axis=1, initial=0.0) for p in points], axis=0)
    return np.asarray(np.minimum(ROUNDED * np.maximum(sizes, 1.0), LEAST_MOVE))


def _apart(owners: NDArray[Any], factors: NDArray[Any], places: Doubles, count: int) -> Doubles:
    """Return how far each weight's place (n, 3) is from the middle of its vertex's, (n,)."""
    sums = np.bincount(owners, factors, count)
    middle = _sums(owners, factors, places, count) / np.where(sums == 0.0, 1.0, sums)[:, None]
    return steady.lengths(places - middle[owners])


def _sums(owners: NDArray[Any], factors: NDArray[Any], values: Doubles, count: int) -> Doubles:
    """Return the weighted sums (count, 3) of values (n, 3) by their vertices."""
    return np.stack([np.bincount(owners, factors * values[:, axis], count) for axis in range(3)], axis=1)


def _same_groups(
    weighted: Entries, places: NDArray[Any], own: NDArray[Any], wanted: Entries, origin: NDArray[Any], count: int
) -> NDArray[np.bool_]:
    """Tell which vertices `places` (n,) have just the groups that import gave the source's vertices `own` (n,)."""
    row = np.full(count, -1, np.int64)
    row[places] = np.arange(len(places))
    mine = row[weighted[0]] >= 0
    start, end = (np.searchsorted(wanted[0], own, side=side) for side in ("left", "right"))
    owners, entries = Weights(start, end - start, wanted[1], wanted[2], np.zeros((0, 3), np.float32)).entries()
    now = row[weighted[0][mine]], origin[weighted[1][mine]], _bits(weighted[2][mine])
    then = owners, wanted[1][entries], _bits(np.clip(wanted[2][entries], 0.0, 1.0))
    if all(map(np.array_equal, now, then)):  # as mostly: nothing was edited
        return np.ones(len(places), np.bool_)
    # One row for each group of a vertex, now and at import: those that are the same come in pairs.
    owner, joint, weight = (np.concatenate(pair) for pair in zip(now, then, strict=True))
    order = np.lexsort((weight, owner * (len(origin) + int(joint.max(initial=0)) + 2) + joint))
    owner, joint, weight = owner[order], joint[order], weight[order]
    starts = np.ones(len(order), np.bool_)
    starts[1:] = (owner[1:] != owner[:-1]) | (joint[1:] != joint[:-1]) | (weight[1:] != weight[:-1])
    firsts = np.flatnonzero(starts)
    same = np.ones(len(places), np.bool_)
    same[owner[firsts[np.diff(firsts, append=len(order)) != 2]]] = False
    return same


def _bits(weights: NDArray[np.float32]) -> NDArray[np.int64]:
    return np.ascontiguousarray(weights, np.float32).view(np.int32).astype(np.int64)
