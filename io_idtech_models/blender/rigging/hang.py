"""A mesh of one's own on a rig that was made of another model's frames: weights of the nearest surface at rest.

Such a mesh as it looks in the player's frames is what another player is made of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ...model import steady
from ...model.player.regions import LEGS, TORSO, Parts
from ...model.rigging.fit import LEAST_WEIGHT
from ...model.transforms import inverse
from ...reporting import LimitError
from .. import names
from ..compat import Block
from ..curves import is_still
from ..frame_rigs import bind, posed_by
from ..mesh import attributes
from ..playback import showing_all, value_takes
from ..player.parts import find_player
from ..player.rig import CharacterRig, Sampled, sample
from ..provenance import PART
from ..roots import FRAME, FRAME_PATH, bone_root, frame_root, is_tag, root_of
from ..scene import ExportScene, bending, positioned
from ..vertex.shape_keys import frame_blocks, read
from ..vertex_groups import read_groups, write_groups
from .read import moved, triangles_of

SMOOTHED = 3  # times
TAGS = ((LEGS, "tag_torso"), (TORSO, "tag_head"), (TORSO, "tag_weapon"))  # what hangs on them: torso, head, weapon


def hang(block: Block, rig: Block, export: ExportScene[Any]) -> float:
    """Let a rig pose a mesh object: each point as the nearest place of what the rig was made of, where both rest.

    Weights of the rig's bones that it has go. Returns how far its points lie from that surface in the median, in units
    of the scene.

    Raises:
        LimitError: another armature bends it, or nothing is left of what the rig was made of.
    """
    if not len(block.data.vertices):
        raise LimitError(f"'{block.name}' has no vertices")
    other = next((each for each in bending(block) if each != rig), None)
    if other is not None:
        raise LimitError(f"'{block.name}' is bent by '{other.name}': remove that modifier first")
    names = [bone.name for bone in rig.data.bones if bone.use_deform]
    for name in names:
        old = block.vertex_groups.get(name)
        if old is not None:
            block.vertex_groups.remove(old)
    before = len(block.vertex_groups)
    with _at_rest(rig, names, export) as source:
        points, groups, weights = _transferred(block, source, names, export)
        off = _distance(block, source)
    write_groups(block, names, points, groups + before, weights)
    held = any(not constraint.mute for constraint in block.constraints)
    follows = block.parent is not None or held or not is_still(block)
    if rig.parent is not None and not follows and find_player(rig) is None:  # it is none of a player's parts
        _go_along(block, rig, export)
    if not any(m.type == "ARMATURE" for m in block.modifiers):
        bind(block, rig)
    return off


def _go_along(block: Block, rig: Block, export: ExportScene[Any]) -> None:
    """Let an object hang where a rig does, and stay where it stands: else bones move it otherwise once that moves."""
    place = np.array(block.matrix_basis, np.float64)
    block.parent, block.parent_type, block.parent_bone = rig.parent, rig.parent_type, rig.parent_bone
    export.view_layer.update()
    above = steady.products(np.array(block.matrix_world, np.float64), inverse(place[None])[0])
    block.matrix_parent_inverse = Matrix(inverse(above[None])[0].tolist())


@contextmanager
def _at_rest(rig: Block, names: list[str], export: ExportScene[Any]) -> Iterator[Block]:
    """Give an object of all that a rig was made of, at rest in the middle of its frames, with its weights."""
    made = posed_by(rig)
    if not made:
        raise LimitError(f"nothing is left of what '{rig.name}' was made of: import that model, and make its rig anew")
    whole = _moved_as_wholes(rig)
    places, owners, numbers, shares = [], [], [], []
    count = 0
    with positioned(rig, "REST"):
        export.view_layer.update()
        for mesh in made:
            frames = read(frame_blocks(mesh.data.shape_keys), len(mesh.data.vertices))
            places.append(_in_world(mesh, np.median(frames, axis=0)))
        places += [_in_world(mesh, attributes.positions(mesh.data)) for mesh in whole]
    for mesh in made:
        number = np.array([names.index(g.name) if g.name in names else -1 for g in mesh.vertex_groups] or [-1])
        owner, groups, weights = read_groups(mesh.data)
        own = number[groups] >= 0
        owners.append(owner[own] + count)
        numbers.append(number[groups][own])
        shares.append(weights[own])
        count += len(mesh.data.vertices)
    for mesh, bone in whole.items():
        owners.append(np.arange(len(mesh.data.vertices)) + count)
        numbers.append(np.full(len(mesh.data.vertices), names.index(bone)))
        shares.append(np.ones(len(mesh.data.vertices), np.float32))
        count += len(mesh.data.vertices)
    faces = triangles_of([*made, *whole])
    data = attributes.make("idtech", np.concatenate(places), faces, np.zeros((faces.size, 2), np.float32))
    data.update(calc_edges=True)
    source: Block = bpy.data.objects.new("idtech", data)
    try:
        write_groups(source, names, np.concatenate(owners), np.concatenate(numbers), np.concatenate(shares))
        export.scene.collection.objects.link(source)
        yield source
    finally:
        bpy.data.objects.remove(source)
        bpy.data.meshes.remove(data)


def _moved_as_wholes(rig: Block) -> dict[Block, str]:
    """Return meshes of a player's parts that have one frame, each with the bone that it goes along with."""
    player = find_player(rig)
    begin = {str(bone[PART]): bone.name for bone in rig.data.bones if bone.use_deform and bone.get(PART)}
    roots = {} if player is None else {kind: root for kind, root in player.parts.items() if kind in begin}
    found: dict[Block, str] = {}
    for kind, root in roots.items():
        own = [block for block in root.children_recursive if block.type == "MESH" and root_of(block) == root]
        found |= dict.fromkeys(own, begin[kind])
    return found


def _transferred(
    block: Block, source: Block, names: list[str], export: ExportScene[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """Return point, bone and weight (n,) of a mesh's points, as the nearest place of another surface has them."""
    first = len(block.vertex_groups)
    made = [block.vertex_groups.new(name=name) for name in names]
    shown = [(modifier, modifier.show_viewport) for modifier in block.modifiers]
    for modifier, _ in shown:
        modifier.show_viewport = False
    transfer: Any = block.modifiers.new("idtech", "DATA_TRANSFER")
    try:
        transfer.object = source
        transfer.use_vert_data, transfer.data_types_verts = True, {"VGROUP_WEIGHTS"}
        transfer.vert_mapping = "POLYINTERP_NEAREST"
        transfer.layers_vgroup_select_src, transfer.layers_vgroup_select_dst = "ALL", "NAME"
        export.view_layer.update()
        points, groups, weights = read_groups(export.evaluated(block).data)
    finally:
        block.modifiers.remove(transfer)
        for modifier, before in shown:
            modifier.show_viewport = before
        for group in made:
            block.vertex_groups.remove(group)
    own = groups >= first
    table: NDArray[np.float64] = np.zeros((len(names), len(block.data.vertices)))
    table[groups[own] - first, points[own]] = weights[own]
    table = _smoothed(table, block)
    kept = table >= LEAST_WEIGHT
    bones, vertices = np.nonzero(kept)
    return (
        vertices,
        bones,
        (table / np.maximum(np.where(kept, table, 0).sum(axis=0), 1e-9))[bones, vertices].astype(np.float32),
    )


def _smoothed(table: NDArray[np.float64], block: Block) -> NDArray[np.float64]:
    """Return weights (B, P) as a mesh's points have them in the mean with those that edges join them to.

    The nearest place of another shape is sometimes that of another limb, for single points.
    """
    edges = np.empty(2 * len(block.data.edges), np.int32)
    block.data.edges.foreach_get("vertices", edges)
    a, b = edges[0::2], edges[1::2]
    count = table.shape[1]
    degrees = np.maximum(np.bincount(edges, minlength=count), 1)
    for _ in range(SMOOTHED):
        for bone, own in enumerate(table):
            if own.any():
                around = np.bincount(a, weights=own[b], minlength=count) + np.bincount(
                    b, weights=own[a], minlength=count
                )
                table[bone] = 0.5 * own + 0.5 * around / degrees
    return table


def _distance(block: Block, source: Block) -> float:
    """Return how far a mesh's points lie from another's, in the median of some."""
    points, others = _in_world(block, attributes.positions(block.data)), attributes.positions(source.data)
    some, others = points[:: max(1, len(points) // 500)], others[:: max(1, len(others) // 2000)]
    return float(np.sqrt(np.median(((some[:, None] - others[None]) ** 2).sum(axis=2).min(axis=1))))


def _in_world(block: Block, points: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return points of an object (P, 3) in the world."""
    return moved(points, np.array(block.matrix_world, np.float64))


def parts_of(rig: CharacterRig) -> Parts:
    """Return which part of a player each bone is of, and the bones that are its tags, "" for those it lacks."""
    regions = {}
    for bone in rig.armature.pose.bones:
        root = bone_root(bone)
        regions[bone.name] = str(bone.bone.get(PART, "")) if root is None else str(root[PART])
    tags = {(part, name.lower()): bone for part, name, bone in _tags_of(rig, regions)}
    return Parts(regions, *(tags.get(tag, "") for tag in TAGS))


def further_tags(rig: CharacterRig, parts: Parts) -> list[tuple[str, str, str]]:
    """Return part, name and bone of the tags that no part of a player hangs on, nor its weapon: a flag's."""
    return [(part, name, bone) for part, name, bone in _tags_of(rig, parts.regions) if (part, name.lower()) not in TAGS]


def _tags_of(rig: CharacterRig, regions: Mapping[str, str]) -> list[tuple[str, str, str]]:
    empties = [block for block in rig.armature.children if block.parent_type == "BONE" and is_tag(block)]
    return [(regions.get(b.parent_bone, ""), names.file_name_of(b), b.parent_bone) for b in empties]


def sample_frames(
    rig: CharacterRig,
    parts: Parts,
    further: Sequence[str],
    roots: Mapping[str, Block],
    passes: Sequence[Sequence[Mapping[str, int]]],
    export: ExportScene[Any],
) -> Sampled:
    """Return what the rig makes of its meshes while parts show frames of their files: in each shot, by part.

    `further` are bones to follow beside those of the parts' tags. The shots of a pass are the scene's frames 0, 1, 2
    ...: what else moves a mesh does so as where all frames play.

    Raises:
        LimitError: a mesh has other points or faces in some frames, or no faces at all.
    """
    playing = {kind: frame_root(root) for kind, root in roots.items() if FRAME in frame_root(root)}
    values = [{root: [shot.get(kind, 0) for shot in shots] for kind, root in playing.items()} for shots in passes]
    bones = [*(bone for bone in (parts.torso, parts.head, parts.hand) if bone), *further]
    with value_takes(FRAME_PATH, values) as takes, showing_all([rig.armature]):
        shown = [(take, float(time)) for take, shots in zip(takes, passes, strict=True) for time in range(len(shots))]
        return sample(rig, parts, shown, bones, export)
