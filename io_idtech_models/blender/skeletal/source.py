"""The facts of skeletal sources in the .blend: on the armature, on each mesh (its own part), and on each action.

A record that is damaged or does not fit is dropped with a warning: a .blend can come from a stranger.
"""

from __future__ import annotations

import logging
import uuid
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import records
from ...model.records import skeletal as skeletal_record
from ...model.skeletal import AnimationSource, SkeletalSource, Weights, skin
from ...model.source import Meshes, MeshSet, RestSource
from ..compat import Block
from ..properties import write_bytes
from ..provenance import MODEL_ID, SKELETON, SURFACE_INDEX, Place

log = logging.getLogger(__name__)

# Other names than vertex-animated models' records have: exporters of those look for theirs alone.
SKINNED, MOTION = "idtech_skinned", "idtech_motion"
MADE_FOR = "idtech_made_for"  # on an action: the MODEL_ID of the armature that an import made it for


@dataclass(eq=False)
class StoredRig:
    """What an armature knows of its file: the facts, where Blender had its bones after import, and at which scale."""

    source: SkeletalSource
    rest: NDArray[np.float64]  # (J, 4, 4)
    scale: float


@dataclass(eq=False)
class StoredAction:
    """What an action knows of its file: the facts, and the channels that import wrote."""

    source: AnimationSource
    channels: NDArray[np.float32]  # (F, J, 7), or (F, J, 10) with inherited scales
    scale: float


def attach(source: SkeletalSource, rig: Block, meshes: list[Block], rest: NDArray[Any], scale: float) -> None:
    """Store a model's facts on its armature, and each mesh's on that; `rest` (J, 4, 4) in the file's order."""
    model_id = uuid.uuid4().hex
    rig.data[MODEL_ID] = model_id
    for index, block in enumerate(meshes):
        block.data[MODEL_ID], block.data[SURFACE_INDEX] = model_id, index
    renew(source, rig, meshes, rest, scale)


def renew(source: SkeletalSource, rig: Block, meshes: list[Block], rest: NDArray[Any], scale: float) -> None:
    """Store a model's facts on its armature, and on those of its meshes that are there; see `attach`."""
    packed = []
    for index, mesh in enumerate(source.meshes):
        packed.append(skeletal_record.mesh_record(mesh, {"place": source.place(index)}))
    for block in meshes:
        number = block.data.get(SURFACE_INDEX)
        if isinstance(number, int) and 0 <= number < len(packed):
            write_bytes(block.data, SKINNED, packed[number])
    extra = {"rest": np.asarray(rest, np.float32), "scale": np.array([scale])}
    write_bytes(rig.data, SKELETON, skeletal_record.model_record(source, packed, extra))


def find(rig: Block) -> StoredRig | None:
    """Return what an armature knows of its file, or None."""
    data = rig.data.get(SKELETON)
    if not isinstance(data, bytes):
        return None
    try:
        source, arrays = skeletal_record.model_source(data)
        rest = records.checked(arrays, "rest", "f", source.skeleton.num_joints, 4, 4).astype(np.float64)
        scale = float(records.checked(arrays, "scale", "f", 1)[0])
        if not np.isfinite(rest).all() or not 1e-6 <= scale <= 1e6:
            raise records.RecordError("numbers that no import writes")
    except records.RecordError as error:
        log.warning("the source of armature '%s' is ignored: %s", rig.name, error)
        return None
    return StoredRig(source, rest, scale)


def place_of(known: StoredRig | None, rig: Block, block: Block) -> Place | None:
    """Return where a mesh's numbers lie among its model's; None for one of another model, or of none."""
    if known is None or block.data.get(MODEL_ID) != rig.data.get(MODEL_ID):
        return None
    source = known.source
    return Place.among_own(block.data, len(source.meshes), source.every_vertex, source.every_triangle)


def attach_action(source: AnimationSource, action: Block, channels: NDArray[np.float32], scale: float) -> None:
    """Store an animation's facts on its action."""
    extra = {"channels": channels, "scale": np.array([scale])}
    write_bytes(action, MOTION, skeletal_record.animation_record(source, extra))


def find_action(action: Block) -> StoredAction | None:
    """Return what an action knows of its file, or None."""
    data = action.get(MOTION)
    if not isinstance(data, bytes):
        return None
    try:
        source, arrays = skeletal_record.animation_source(data)
        frames, joints = source.positions.shape[:2]
        width = 7 if source.scales is None else 10
        channels = records.checked(arrays, "channels", "f", frames, joints, width)
        scale = float(records.checked(arrays, "scale", "f", 1)[0])
    except records.RecordError as error:
        log.warning("the source of action '%s' is ignored: %s", action.name, error)
        return None
    return StoredAction(source, channels, scale)


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
