"""An armature and its meshes to a skeletal model: the way back of `build`.

Bones become joints (`gather_rig`); meshes vertices with weights, of which some are still the source's (`gather_mesh`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.skeletal import Pose, SkeletalModel, Skeleton, SkinnedMesh, Weights
from ...model.source import MeshSource
from ...model.transforms import conjugate, from_matrices, inverse, rotate
from ...reporting import LimitError, listed, plural
from .. import losses, names
from ..budgets import refuse_to_write
from ..compat import Block
from ..frame_rigs import is_posed_alone, rig_of
from ..joints import TURN, TURN_BACK
from ..leaders import leaders
from ..mesh import attributes, levels
from ..mesh.edited_normals import shows_smooth, shows_the_same
from ..mesh.held_once import HeldOnce
from ..mesh.parts import Evidence, Part, split
from ..mesh.read import Origin, Shape, has_gone, read_shape, warn_of_cuts, warn_of_layers, warn_of_loose
from ..mesh.surface_names import Wanted, settle_and_say, shaders_of, surface_name
from ..provenance import Claims, Place
from ..scene import bending, held_by, upward
from ..vertex_groups import read_groups
from . import armature, lost_weights, normals, source_weights, torso
from . import tags as joint_tags
from .bones import BonesAtRest, same_axes, same_heads
from .rig_scene import ExportRig, Loss, RigScene, SkeletalGatherSettings, WeightSettings, WrittenMesh
from .source import StoredRig, place_of, rest_source
from .source_weights import Entries

log = logging.getLogger(__name__)
Doubles = NDArray[np.float64]


def find_rig(blocks: list[Block]) -> Block:
    """Return the armature among objects, or the one that deforms them.

    Of several the one that does, if it follows all others, which are its controls then.

    Raises:
        LimitError: there is none, or more than one.
    """
    bent = list(dict.fromkeys(rig for block in blocks if block.type == "MESH" for rig in bending(block)))
    rigs = [block for block in blocks if block.type == "ARMATURE"] or bent
    if not rigs:
        raise LimitError(f"nothing to export: no armature among the objects; {_remedy(blocks)}")
    if len(rigs) > 1:
        if len(bent) == 1 and {*bent, *leaders(bent[0])}.issuperset(rigs):
            return bent[0]
        found = f"{len(rigs)}: {listed([rig.name for rig in rigs])}"
        how = "export them one by one (select one with its meshes, Export: Selection)"
        raise LimitError(f"a skeletal model has one armature, {how}: there are {found}")
    return rigs[0]


def _remedy(blocks: list[Block]) -> str:
    """Return what to do where objects have no armature."""
    for block in blocks:
        carriers = [each for above in upward(block) for each in (above, held_by(above)[0]) if each is not None]
        rig = next((each for each in carriers if each.type == "ARMATURE"), None)
        if rig is not None:
            return f"'{block.name}' hangs on '{rig.name}', select both, or make it active"
    shown = [block.name for block in blocks if block.instance_type == "COLLECTION"]
    if shown:
        how = "link them into the scene, or Object > Apply > Make Instances Real, which leaves out animations"
        return f"collections are shown as instances ({how}): {listed(shown)}"
    if any(b.type == "MESH" and b.data.shape_keys is not None and not b.data.shape_keys.use_relative for b in blocks):
        return "Object > id Tech > Make Rig from Frames makes one of the shape keys"
    return "select it with its meshes, or make it active"


def gather(blocks: list[Block], export: RigScene, name: str = "", measured: bool = True) -> SkeletalModel:
    """Return the model that objects show at rest, with its source's facts if the .blend knows them.

    `measured`: a warning is logged of what a file can't hold of how bones move vertices, with how far they are off.

    Raises:
        LimitError: no bone to export, or vertices without weights.
    """
    export.update(blocks)
    block, known, scale = export.rig, export.stored, export.settings.scale
    rig = gather_rig(export)
    found: list[SkinnedMesh] = []
    export.written.clear()
    surfaces: list[Wanted] = []
    meshes = _in_order([b for b in blocks if b.type == "MESH"], known, block)
    rig.look_at_rest(meshes, export.view_layer)
    for mesh in meshes:
        made = gather_mesh(mesh, rig, place_of(known, block, mesh), export)
        surfaces += [Wanted(mesh, nth, each.name) for nth, each in enumerate(made)]
        found += made
    if export.settings.holds.worn_by_name:
        for each, called in zip(found, settle_and_say(surfaces), strict=True):
            each.name = called
    if measured:
        lost_weights.say(rig, found, export)
    tags = joint_tags.gather(blocks, rig, scale, export.settings.keep_suffixes)
    lod = torso.gather_lod(block)
    return SkeletalModel(name or block.name, rig.skeleton, _claimed(found), rig.source, tags, lod)


def _in_order(blocks: list[Block], known: StoredRig | None, rig: Block) -> list[Block]:
    """Return meshes in the source's order; copies and new ones follow."""

    def number_of(block: Block) -> int:
        place = place_of(known, rig, block)
        return -1 if place is None else place.surface

    return names.in_source_order(blocks, number_of)


def _claimed(meshes: list[SkinnedMesh]) -> list[SkinnedMesh]:
    """Leave each of the source's meshes to the first that claims it: a copy, or a part, is a further mesh.

    Raises:
        LimitError: there are more than an import would take back.
    """
    refuse_to_write(len(meshes))
    claims, copies = Claims(), list[str]()
    for mesh in meshes:
        if claims.repeats(mesh.source_index, mesh.source_triangles):
            copies.append(mesh.name)
        if not claims.take(mesh.source_index):
            mesh.source_index, mesh.source_vertices, mesh.kept = -1, None, None
    if copies:
        many = len(copies) > 1
        text = "are copies: written as further meshes" if many else "is a copy: written as a further mesh"
        log.warning("%s %s", listed(copies), text)
    return meshes


def gather_rig(export: RigScene) -> ExportRig:
    """Return an armature's bones as joints, in their rest pose."""
    block, known, settings, bones = export.rig, export.stored, export.settings, export.listed
    rest, world = bones.rest, export.place()
    matrices = steady.products(rest, TURN_BACK)
    sources: NDArray[np.int32] = np.full(len(bones.names), -1, np.int32)
    kept: NDArray[np.bool_] = np.zeros(len(bones.names), np.bool_)
    if known is not None:
        sources, in_place, turned, matrices = _known_joints(bones, matrices, known)
        kept = in_place & turned & (settings.scale == known.scale and np.array_equal(world, np.eye(4)))
    matrices, lost = armature.placed(matrices, world)
    positions, rotations = matrices[:, :3, 3] / settings.scale, from_matrices(matrices[:, :3, :3])
    if known is not None and np.array_equal(world, np.eye(4)):
        rotations[turned] = known.source.skeleton.rotations[sources[turned]]
        positions[in_place] = known.source.skeleton.positions[sources[in_place]] * (known.scale / settings.scale)
    skeleton = Skeleton(list(bones.joints), bones.parents, positions, rotations, sources, kept, bones.traits)
    skeleton.scales = bones.rest_scales
    if known is not None and known.source.skeleton.bound is not None:
        skeleton.bound = _bound_pose(rest, sources, kept, known, world, settings.scale)
    source = None if known is None else known.source
    shown = None if known is None else rest_source(known.source, known.scale)
    joints = {name: joint for joint, name in enumerate(bones.names)}
    return ExportRig(block, skeleton, joints, source, shown, 1.0 if known is None else known.scale, bool(lost.any()))


def _bound_pose(
    rest: Doubles, sources: NDArray[np.int32], kept: NDArray[np.bool_], known: StoredRig, world: Doubles, scale: float
) -> Pose:
    """Return where joints are while the meshes are bound, which is not where the file has them: see `_known_joints`."""
    bound = known.source.skeleton.bind
    own = np.flatnonzero(sources >= 0)
    matrices = steady.products(rest, TURN_BACK)
    matrices[own] = _carried(bound, sources[own], rest[own], known)
    matrices = armature.placed(matrices, world)[0]
    positions, rotations = matrices[:, :3, 3] / scale, from_matrices(matrices[:, :3, :3])
    positions[kept], rotations[kept] = bound.positions[sources[kept]], bound.rotations[sources[kept]]
    return Pose(positions, rotations)


def _carried(pose: Pose, joints: NDArray[np.int32], rest: Doubles, known: StoredRig) -> Doubles:
    """Return a pose of the source's joints (n,) as matrices (n, 4, 4), moved as their bones' rest was since import."""
    file = armature.joint_matrices(pose.positions[joints], pose.rotations[joints], known.scale)
    before = inverse(known.rest[joints])
    return steady.products(file, TURN, before, rest, TURN_BACK)


def _known_joints(
    bones: BonesAtRest, matrices: Doubles, known: StoredRig
) -> tuple[NDArray[np.int32], NDArray[np.bool_], NDArray[np.bool_], Doubles]:
    """Return the source's joint of each bone, which keep its place, which its axes, and the matrices (J, 4, 4) of all.

    An edited rest bone's joint is the file's joint x inverse(rest at import) x rest now.
    """
    skeleton, rest, rounded = known.source.skeleton, bones.rest, bones.rounded
    sources = np.where(bones.numbers < skeleton.num_joints, bones.numbers, -1).astype(np.int32)
    own = np.flatnonzero(sources >= 0)
    before = known.rest[sources[own]]
    in_place, turned = np.zeros((2, len(rest)), np.bool_)
    in_place[own] = same_heads(rest[own], before, known.scale, rounded[own])
    turned[own] = same_axes(rest[own], before, rounded[own])
    matrices = matrices.copy()
    matrices[own] = _carried(Pose(skeleton.positions, skeleton.rotations), sources[own], rest[own], known)
    return sources, in_place, turned, matrices


def _shader_of(part: Part, shape: Shape, rig: ExportRig, settings: SkeletalGatherSettings) -> str:
    """Return the shader of a part, "" if it has none."""
    is_source = rig.source is None or settings.holds.format in ("", rig.source.format)
    return next(iter(shaders_of(part, shape, settings.keep_suffixes, is_source)), "")


def gather_mesh(block: Block, rig: ExportRig, place: Place | None, export: RigScene) -> list[SkinnedMesh]:
    """Return an object's meshes, one for each material that its faces use.

    Raises:
        LimitError: vertices without weights.
    """
    with _at_rest(block, export) as mesh:
        settings = export.settings
        source = rig.rest if place is not None else None
        shape = _shape_of(block, mesh, Origin(source, place, 0, True), settings)
        if has_gone(shape, place):
            log.warning("'%s' has no faces: left out", block.name)
            return []
        positions = attributes.positions(mesh)
        export.homes[block] = rig.place_of(block)
        found = []
        groups = _joint_groups(block, mesh, rig)
        colors = attributes.point_colors(mesh) if settings.holds.colors else None
        held = HeldOnce(block, mesh) if any(modifier.type != "ARMATURE" for modifier in block.modifiers) else None
        for nth, part in enumerate(split(shape, Evidence(positions[None], np.zeros(1, np.int64), shape.normals), True)):
            made = _to_mesh(block, part, groups, positions, rig, settings)
            made.name = surface_name(block, part, shape, nth, settings.keep_suffixes)
            made.shader = _shader_of(part, shape, rig, settings)
            made.source_index = place.surface if place is not None and nth == 0 else -1
            off_shown = 0, 0.0
            if settings.normals != "NONE":
                moved = _moved(part, positions, rig)
                moved.as_shown = settings.normals == "SHOWN"
                made.normals, made.kept_normals = normals.gather(block, shape, part, made, rig, moved)
                off_shown = normals.off_shown(block, shape, part, made, rig, moved)
            made.min_lod, made.level = torso.gather_min_lod(block), levels.number_of(block)
            made.blended = settings.holds.stretches
            if colors is not None:
                made.colors = colors[part.vertices.points]
            found.append(made)
            points = part.vertices.points
            worn = shape.materials[part.slots[0]] if part.slots else None
            export.written.append(
                WrittenMesh(
                    block, made, points, shape.topology, positions, groups, worn, _of_source(made), held, off_shown
                )
            )
        if settings.normals == "NONE":
            known = None if source is None or place is None or place.surface < 0 else source.surfaces[place.surface]
            _warn_of_normals(block, mesh, known)
        warn_of_loose(block, shape)
        warn_of_cuts(block, shape, positions[None])
        warn_of_layers(block, settings.holds.colors)
        losses.warn_of_keys(block)
        return found


def _of_source(mesh: SkinnedMesh) -> NDArray[np.bool_] | None:
    """Return which vertices (V,) have their source's weights, None for none."""
    masks = [mask for mask in (mesh.kept, mesh.carried) if mask is not None]
    return np.logical_or.reduce(masks) if masks else None


def _warn_of_normals(block: Block, mesh: Block, known: MeshSource | None) -> None:
    """Say what a mesh shows otherwise than a game whose model has no normals.

    Not the seams of one that is `known`, and as import showed it where its seams are not welded.
    """
    count = 0 if mesh.has_custom_normals else int(_sharp_edges(mesh).sum())
    if count:
        text = "'%s': %d sharp edges will be smooth in the game, which merges by place"
        log.warning(text, block.name, count)
    elif (mesh.has_custom_normals or _is_split(block, mesh, known)) and not shows_smooth(mesh):
        log.warning("'%s' has normals of its own, the file none: the game makes smooth ones", block.name)


def _is_split(block: Block, mesh: Block, known: MeshSource | None) -> bool:
    """Tell whether an object shows a mesh that has points at one place beside the seams of one that is `known`."""
    if known is None:
        # One sum of a point's coordinates: equal ones are hardly ever of two places, and then only time is lost.
        sums = (attributes.positions(mesh).astype(np.float64) * (1.0, np.e, np.pi)).sum(axis=1)
        return len(np.unique(sums)) < len(sums)
    given = known.num_vertices if known.points is None else int(known.points.max(initial=-1)) + 1
    return len(block.data.vertices) > given or (mesh != block.data and shows_smooth(block.data))


@contextmanager
def _at_rest(block: Block, export: RigScene) -> Iterator[Block]:
    """Give an object's mesh as it is without its armature: its own, or what its other modifiers make of it.

    That of a rig that was made of frames is what its keys are at rest on the average: what its bones don't say of one
    frame is no other's.
    """
    if rig_of(block) == export.rig and is_posed_alone(block):
        with _average_key(block) as mesh:
            yield mesh
        return
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


@contextmanager
def _average_key(block: Block) -> Iterator[Block]:
    """Give a copy of a mesh whose points lie where its keys have them in the middle."""
    keys = block.data.shape_keys.key_blocks
    frames = np.empty((len(keys), len(block.data.vertices), 3), np.float32)
    for key, points in zip(keys, frames, strict=True):
        key.points.foreach_get("co", points.ravel())
    copy: Block = bpy.data.meshes.new_from_object(block)  # without keys
    try:
        attributes.write_positions(copy, np.median(frames, axis=0))
        copy.update()
        yield copy
    finally:
        bpy.data.meshes.remove(copy, do_unlink=False, do_ui_user=False)


def _shape_of(block: Block, mesh: Block, origin: Origin, settings: WeightSettings) -> Shape:
    """Read a mesh; where the format has no normals these part no vertices."""
    if settings.normals == "NONE":
        shape = read_shape(block, mesh, None, origin, "SOURCE")
        shape.normals = np.zeros((len(shape.numbers), 3), np.float32)
        shape.normals[:, 2] = 1.0
        return shape
    own = block.data
    same = attributes.topology(own) == attributes.topology(mesh)
    # Of an object whose modifiers change anything all that Blender shows counts.
    others = any(modifier.type != "ARMATURE" and modifier.show_viewport for modifier in block.modifiers)
    changed = others and not shows_the_same(own, mesh, attributes.positions(own))
    return read_shape(block, mesh, own if same else None, origin, "SHOWN" if changed else settings.normals)


def _moved(part: Part, positions: NDArray[np.float32], rig: ExportRig) -> normals.Moved:
    """Tell which points (P,) do not stand where import put the source's vertices that they are, and where those are."""
    after = positions[part.vertices.points]
    source = rig.rest
    triangles = np.zeros((0, 3), np.int32) if source is None else source.triangles
    moved = normals.Moved(np.zeros(len(positions), np.bool_), after.copy(), after, triangles)
    for surface, places, own in source.vertex_parts(part.vertices.numbers) if source is not None else ():
        points = part.vertices.points[places]
        moved.points[points[~source_weights.stand(positions[points], surface, own, rig.import_scale)]] = True
        moved.before[places] = surface.decoded_positions(slice(None), own)[0]
    return moved


def _joint_groups(block: Block, mesh: Block, rig: ExportRig) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float32]]:
    """Return point, joint and weight (n,) of a mesh, of the groups that are called as a joint's bone.

    What hangs on a bone as a whole goes with that.
    """
    carrier = rig.carrier(block)
    if carrier >= 0:
        count = len(mesh.vertices)
        return np.arange(count), np.full(count, carrier), np.ones(count, np.float32)
    points, groups, weights = read_groups(mesh)
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
    rig: ExportRig,
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
    own = source_weights.find(block, weighted, part, positions[of_vertex], rig, settings.scale)
    same = own.any_way
    losses.warn_of_off(block, own.off)
    rest = ~same[owners]
    full = weighted[0][rest], weighted[1][rest], weighted[2][rest]
    owners, joints, weights = _limited(full, count, settings)
    missing = np.setdiff1d(np.flatnonzero(~same), owners)
    world = rig.place_of(block)
    places = steady.applied(world[:3], positions[of_vertex].astype(np.float64)) / settings.scale  # in the model
    if settings.holds.bare_vertices and not settings.orphan_bone:
        missing = missing[:0] if not rig.joints else _newly_bare(block, rig, missing, numbers)
        settings = replace(settings, orphan_bone=next(iter(rig.joints), ""))
    if len(missing):
        bare = len(np.unique(of_vertex[missing]))
        owners, joints, weights = _bound(block, rig, missing, bare, (owners, joints, weights), settings)
    fresh = _with_offsets(places, rig.skeleton.bind, (owners, joints, weights))
    _note_losses(block, rig, places, full, fresh)
    table = _table(count, (own.owners, own.joints, own.factors, own.offsets), fresh)
    if settings.holds.bare_vertices:
        table.still = places.astype(np.float32)
    mirrored = steady.determinants(world[:3, :3]) < 0
    triangles = part.triangles.vertices[:, ::-1] if mirrored else part.triangles.vertices
    sources = numbers.astype(np.int32), part.triangles.numbers
    triangles = np.ascontiguousarray(triangles, np.int32)
    return SkinnedMesh("", "", part.uvs, triangles, table, -1, *sources, kept=own.kept, carried=own.carried)


Rows = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]  # vertex, joint, factor and offset (n, 3)


def _with_offsets(places: Doubles, bind: Pose, weighted: Entries) -> Rows:
    """Return weights with where vertices at `places` (V, 3) lie in the space of their joints."""
    owners, joints, _ = weighted
    return *weighted, rotate(conjugate(bind.rotations[joints]), places[owners] - bind.positions[joints])


def _note_losses(block: Block, rig: ExportRig, places: Doubles, full: Entries, written: Rows) -> None:
    """Note which vertices, at `places` (V, 3), are written with fewer weights than they have."""
    count, positive = len(places), full[2] > 0
    fewer = np.bincount(full[0][positive], minlength=count) > np.bincount(written[0], minlength=count)
    if fewer.any():
        lost = positive & fewer[full[0]]
        owners, joints, factors = full[0][lost], full[1][lost], full[2][lost]
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
    """Return what to write of `count` vertices: the largest of each, without the small, heaviest first, their sum 1.

    How large one is counts as a share of all that its vertex has: so Blender shows them.
    """
    owners, joints, weights = weighted
    order = np.lexsort((joints, -weights, owners))
    owners, joints, weights = owners[order], joints[order], weights[order].astype(np.float64)
    first = np.searchsorted(owners, owners)
    rank = np.arange(len(owners)) - first
    least = (settings.least_weight - 1e-6) * np.bincount(owners, weights, count)[owners]
    chosen = (weights > 0) & ((weights >= least) | (rank == 0))
    if settings.most_weights:
        chosen &= rank < settings.most_weights
    owners, joints, weights = owners[chosen], joints[chosen], weights[chosen]
    sums = np.bincount(owners, weights, count)
    return owners, joints, (weights / sums[owners]).astype(np.float32)


def _newly_bare(block: Block, rig: ExportRig, missing: NDArray[Any], numbers: NDArray[Any]) -> NDArray[Any]:
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
    block: Block, rig: ExportRig, missing: NDArray[Any], bare: int, table: Entries, settings: WeightSettings
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
            else "weight them (Weights > Assign Automatic), or name a bone where there is the option 'Default Bone'"
        )
        raise LimitError(f"'{block.name}' has {found} on any bone that is exported: {hint}")
    joint = np.full(len(missing), rig.joints[settings.orphan_bone])
    parts = zip(table, (missing, joint, np.ones(len(missing), np.float32)), strict=True)
    owners, joints, weights = (np.concatenate(pair) for pair in parts)
    order = np.argsort(owners, kind="stable")
    return owners[order], joints[order], weights[order]


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
