"""Skinned meshes back to a model's: vertices, their weights, and which of them are still the source's."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.skeletal import Pose, SkeletalSource, Skeleton, SkinnedMesh, Weights, skin
from ...model.source import Meshes, MeshSet, RestSource
from ...model.transforms import conjugate, rotate
from ...model.wording import plural
from ...reporting import LimitError
from .. import losses
from ..compat import Block
from ..mesh import attributes, levels
from ..mesh import groups as vertex_groups
from ..mesh.edited_normals import shows_the_same
from ..mesh.parts import Looks, Part, shaders_of, split, surface_name
from ..mesh.read import Origin, Shape, read_shape, warn_of_loose
from ..provenance import Place
from . import normals as skinned_normals
from .rig_scene import RigScene, SkeletalGatherSettings, WeightSettings, WrittenMesh
from .torso import gather_min_lod
from .weights import untouched
from .weights.losses import Loss
from .weights.untouched import Entries

log = logging.getLogger(__name__)

Doubles = NDArray[np.float64]


def rest_source(source: SkeletalSource, scale: float) -> Meshes:
    """Return a source's meshes in the bind pose, in Blender's units."""
    return MeshSet(
        [
            RestSource(m.name, m.triangles, m.uvs, rest_places(source, m.weights, scale), points=m.points)
            for m in source.meshes
        ]
    )


def rest_places(source: SkeletalSource, weights: Weights, scale: float) -> NDArray[np.float32]:
    """Return where import put vertices, (V, 3)."""
    bind = source.skeleton.bind
    places = skin(weights, bind.positions, bind.rotations) * scale
    return places.astype(np.float32)


@dataclass(eq=False)
class Rig:
    """The skeleton that meshes are exported with."""

    block: Block
    skeleton: Skeleton  # in the file's units
    joints: dict[str, int]  # by bone name
    source: SkeletalSource | None
    rest: Meshes | None  # the source's meshes where import put them
    import_scale: float
    uneven: bool = False  # the armature's scale, which joints can't have
    losses: list[Loss] = field(default_factory=list)  # filled by who gathers meshes


def gather_mesh(block: Block, rig: Rig, place: Place | None, export: RigScene) -> list[SkinnedMesh]:
    """Return an object's meshes, one for each material that its faces use.

    Raises:
        LimitError: vertices without weights.
    """
    with _at_rest(block, export) as mesh:
        return _gather(block, mesh, rig, place, export)


@contextmanager
def _at_rest(block: Block, export: RigScene) -> Iterator[Block]:
    """Give an object's mesh as it is without its armature: its own, or what its other modifiers make of it."""
    others = [m for m in block.modifiers if m.type != "ARMATURE" and m.show_viewport]
    if not others and block.data.shape_keys is None:
        yield block.data
        return
    shown = [(m, m.show_viewport) for m in block.modifiers if m.type == "ARMATURE"]
    for modifier, _ in shown:
        modifier.show_viewport = False
    try:
        export.view_layer.update()
        yield export.evaluated(block).data
    finally:
        for modifier, before in shown:
            modifier.show_viewport = before


def _gather(block: Block, mesh: Block, rig: Rig, place: Place | None, export: RigScene) -> list[SkinnedMesh]:
    settings = export.settings
    source = rig.rest if place is not None else None
    shape = _shape_of(block, mesh, Origin(source, place, 0, True), settings)
    positions = attributes.positions(mesh)
    found = []
    groups = _joint_groups(block, mesh, rig)
    colors = attributes.point_colors(mesh) if settings.holds.colors else None
    for nth, part in enumerate(split(shape, Looks(positions[None], np.zeros(1, np.int64), shape.normals), True)):
        if not len(part.triangles.vertices) and place is None:
            continue
        made = _to_mesh(block, part, groups, positions, rig, settings)
        made.name = surface_name(block, part, shape, nth, settings.keep_suffixes)
        made.shader = next(iter(shaders_of(part, shape, settings.keep_suffixes)), "")
        made.source_index = place.surface if place is not None and nth == 0 else -1
        normals = 0, 0.0
        if settings.normals != "NONE":
            moved = _moved(part, positions, rig)
            moved.as_shown = settings.normals == "SHOWN"
            made.normals, made.kept_normals = skinned_normals.gather(block, shape, part, made, rig, moved)
            normals = skinned_normals.off_shown(block, shape, part, made, rig, moved)
        made.min_lod, made.level = gather_min_lod(block), levels.number_of(block)
        made.blended = settings.holds.stretches
        if colors is not None:
            made.colors = colors[part.vertices.points]
        found.append(made)
        points = part.vertices.points
        export.written.append(WrittenMesh(block, made, points, shape.topology, positions, groups, normals))
    if not found:
        log.warning("'%s' has no faces: left out", block.name)
    if settings.normals == "NONE":
        _warn_of_sharp(block, mesh)
    warn_of_loose(block, shape)
    losses.warn_of_layers(block, settings.holds.colors)
    losses.warn_of_skinned(block, settings.normals != "NONE")
    return found


def _shape_of(block: Block, mesh: Block, origin: Origin, settings: WeightSettings) -> Shape:
    """Read a mesh; where the format has no normals these part no vertices."""
    if settings.normals == "NONE":
        shape = read_shape(block, mesh, None, origin, "SOURCE")
        shape.normals = np.zeros((len(shape.numbers), 3), np.float32)
        shape.normals[:, 2] = 1.0
        return shape
    own = block.data
    same = attributes.topology(own) == attributes.topology(mesh)
    return read_shape(block, mesh, own if same else None, origin, _which_normals(block, mesh, settings))


def _which_normals(block: Block, mesh: Block, settings: WeightSettings) -> str:
    """Return which of the normals count: of an object whose modifiers change anything all that Blender shows."""
    others = any(modifier.type != "ARMATURE" and modifier.show_viewport for modifier in block.modifiers)
    if others and not shows_the_same(block.data, mesh, attributes.positions(block.data)):
        return "SHOWN"
    return settings.normals


def _moved(part: Part, positions: NDArray[np.float32], rig: Rig) -> skinned_normals.Moved:
    """Tell which points (P,) do not stand where import put the source's vertices that they are, and where those are."""
    after = positions[part.vertices.points]
    source = rig.rest
    triangles = np.zeros((0, 3), np.int32) if source is None else source.triangles
    moved = skinned_normals.Moved(np.zeros(len(positions), np.bool_), after.copy(), after, triangles)
    for surface, places, own in source.vertex_parts(part.vertices.numbers) if source is not None else ():
        points = part.vertices.points[places]
        moved.points[points[~untouched.stand(positions[points], surface, own, rig.import_scale)]] = True
        moved.before[places] = surface.decoded_positions(slice(None), own)[0]
    return moved


def _joint_groups(block: Block, mesh: Block, rig: Rig) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float32]]:
    """Return point, joint and weight (n,) of a mesh, of the groups that are called as a joint's bone."""
    points, groups, weights = vertex_groups.read_groups(mesh)
    joint_of = np.array([rig.joints.get(group.name, -1) for group in block.vertex_groups] + [-1], np.int64)
    joints = joint_of[np.minimum(groups, len(joint_of) - 1)]
    losses.warn_of_groups(block, groups, weights, set(rig.joints))
    known = joints >= 0
    return points[known], joints[known], weights[known]


def _to_mesh(
    block: Block,
    part: Part,
    groups: tuple[NDArray[Any], NDArray[Any], NDArray[np.float32]],
    positions: NDArray[np.float32],
    rig: Rig,
    settings: SkeletalGatherSettings,
) -> SkinnedMesh:
    """Return a part of a mesh as a model's, without a name."""
    of_vertex, count = part.vertices.points, len(part.vertices.points)
    order = np.argsort(groups[0], kind="stable")
    points, joints, factors = (values[order] for values in groups)
    start, end = (np.searchsorted(points, of_vertex, side=side) for side in ("left", "right"))
    owners, entries = Weights(start, end - start, joints, factors, np.zeros((0, 3), np.float32)).entries()
    weighted = (owners, joints[entries], factors[entries])
    numbers = part.vertices.numbers
    own = untouched.find(block, weighted, part, positions[of_vertex], rig, settings.scale)
    same = own.any_way
    losses.warn_of_off(block, own.off)
    rest = ~same[owners]
    full = weighted[0][rest], weighted[1][rest], weighted[2][rest]
    owners, used, weights = _limited(full, count, settings)
    missing = np.setdiff1d(np.flatnonzero(~same), owners)
    places = _in_model(block, rig, positions[of_vertex], settings.scale)
    if settings.holds.bare_vertices and not settings.orphan_bone:
        missing = missing[:0] if not rig.joints else _newly_bare(block, rig, missing, numbers)
        settings = replace(settings, orphan_bone=next(iter(rig.joints), ""))
    if len(missing):
        bare = len(np.unique(of_vertex[missing]))
        owners, used, weights = _bound(block, rig, missing, bare, (owners, used, weights), settings)
    fresh = _with_offsets(places, rig.skeleton.bind, (owners, used, weights))
    _note_losses(block, rig, places, full, fresh)
    table = _table(count, (own.owners, own.joints, own.factors, own.offsets), fresh)
    if settings.holds.bare_vertices:
        table.still = places.astype(np.float32)
    mirrored = steady.determinants(np.array(block.matrix_world, np.float64)[:3, :3]) < 0
    triangles = part.triangles.vertices[:, ::-1] if mirrored else part.triangles.vertices
    sources = numbers.astype(np.int32), part.triangles.numbers
    triangles = np.ascontiguousarray(triangles, np.int32)
    return SkinnedMesh("", "", part.uvs, triangles, table, -1, *sources, kept=own.kept, carried=own.carried)


Rows = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]  # vertex, joint, factor and offset (n, 3)


def _with_offsets(places: Doubles, bind: Pose, weighted: Entries) -> Rows:
    """Return weights with where vertices at `places` (V, 3) lie in the space of their joints."""
    owners, joints, _ = weighted
    return *weighted, rotate(conjugate(bind.rotations[joints]), places[owners] - bind.positions[joints])


def _note_losses(block: Block, rig: Rig, places: Doubles, full: Entries, written: Rows) -> None:
    """Note which vertices, at `places` (V, 3), are written with fewer weights than they have."""
    count, used = len(places), full[2] > 0
    fewer = np.bincount(full[0][used], minlength=count) > np.bincount(written[0], minlength=count)
    if fewer.any():
        used &= fewer[full[0]]
        owners, joints, factors = full[0][used], full[1][used], full[2][used]
        parts = (factors / np.bincount(owners, factors, count)[owners]).astype(np.float32)  # as Blender does
        before = _table(count, _with_offsets(places, rig.skeleton.bind, (owners, joints, parts)))
        which = np.flatnonzero(fewer)
        rig.losses.append(Loss(block.name, before.of(which), _table(count, written).of(which)))


def _table(count: int, *parts: Rows) -> Weights:
    """Return the weights of so many vertices, in several parts."""
    owners, joints, factors, offsets = (np.concatenate(values) for values in zip(*parts, strict=True))
    order = np.argsort(owners, kind="stable")
    counts = np.bincount(owners, minlength=count)
    return Weights(
        (np.cumsum(counts) - counts).astype(np.int32),
        counts.astype(np.int32),
        joints[order].astype(np.int32),
        factors[order].astype(np.float32),
        offsets[order].astype(np.float32),
    )


def _limited(weighted: Entries, count: int, settings: WeightSettings) -> Entries:
    """Return what to write of `count` vertices: the largest of each, without the small, heaviest first, their sum 1."""
    owners, joints, weights = weighted
    order = np.lexsort((joints, -weights, owners))
    owners, joints, weights = owners[order], joints[order], weights[order].astype(np.float64)
    first = np.searchsorted(owners, owners)
    rank = np.arange(len(owners)) - first
    chosen = (weights > 0) & ((weights >= settings.least_weight) | (rank == 0))
    if settings.most_weights:
        chosen &= rank < settings.most_weights
    owners, joints, weights = owners[chosen], joints[chosen], weights[chosen]
    sums = np.bincount(owners, weights, count)
    return owners, joints, (weights / sums[owners]).astype(np.float32)


def _newly_bare(block: Block, rig: Rig, missing: NDArray[Any], numbers: NDArray[Any]) -> NDArray[Any]:
    """Return those of vertices without weights, `missing` (n,), that had some in the source, or are new: said."""
    before = np.full(len(numbers), -1, np.int64)
    for mesh, places, own in rig.source.vertex_parts(numbers) if rig.source is not None else ():
        before[places] = mesh.weights.counts[own]
    found = np.asarray(missing[before[missing] != 0])
    if len(found):
        text = "'%s': %s without weights are written as moved by '%s': games differ in what they do with such"
        log.warning(text, block.name, plural(len(found), "vertex", "vertices"), next(iter(rig.joints)))
    return found


def _bound(
    block: Block, rig: Rig, missing: NDArray[Any], bare: int, table: Entries, settings: WeightSettings
) -> Entries:
    """Return weights in which vertices without any hang on the bone that the settings name.

    Raises:
        LimitError: they name none; the sentence counts Blender's vertices, `bare`.
    """
    if settings.orphan_bone not in rig.joints:
        found = f"{plural(bare, 'vertex', 'vertices')} without weights"
        hint = (
            f"no bone is called '{settings.orphan_bone}'"
            if settings.orphan_bone
            else "name a bone to bind them to as 'Default Bone'"
        )
        raise LimitError(f"'{block.name}' has {found} on any bone that is exported: {hint}")
    joint = np.full(len(missing), rig.joints[settings.orphan_bone])
    parts = zip(table, (missing, joint, np.ones(len(missing), np.float32)), strict=True)
    owners, joints, weights = (np.concatenate(pair) for pair in parts)
    order = np.argsort(owners, kind="stable")
    return owners[order], joints[order], weights[order]


def _in_model(block: Block, rig: Rig, positions: NDArray[np.float32], scale: float) -> Doubles:
    """Return places (V, 3) of an object in the world, in the file's units."""
    matrix = np.array(block.matrix_world, np.float64)
    return steady.applied(matrix[:3], positions.astype(np.float64)) / scale


def _sharp_edges(mesh: Block) -> NDArray[np.bool_]:
    """Tell which edges (E,) between faces are sharp: themselves, or because a face is flat."""
    sharp = attributes.get_attribute(mesh, "sharp_edge", "BOOLEAN", "EDGE")
    flat = attributes.get_attribute(mesh, "sharp_face", "BOOLEAN", "FACE")
    found = np.zeros(len(mesh.edges), np.bool_) if sharp is None else sharp.copy()
    edges = attributes.get_attribute(mesh, ".corner_edge", "INT", "CORNER")
    if edges is None or not len(edges):
        return np.zeros_like(found)
    if flat is not None and flat.any():
        found[edges[flat[attributes.topology(mesh).corner_faces]]] = True
    between: NDArray[np.bool_] = np.bincount(edges, minlength=len(found)) > 1
    return found & between


def _warn_of_sharp(block: Block, mesh: bpy.types.Mesh) -> None:
    count = int(_sharp_edges(mesh).sum())
    if count:
        log.warning("'%s': %s smooth in the game, which merges by place", block.name, f"{count} sharp edges will be")
