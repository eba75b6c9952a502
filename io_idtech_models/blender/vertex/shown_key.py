"""Which shape key shows now, and when another one does: so that the frame that is seen is the one that is edited."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ..compat import Block, playing_curves
from ..provenance import MODEL_ID
from .shape_keys import KeyFinder, num_before

NEAR = 1e-3  # of a key's place: Blender stores hundredths


def has_frames(block: Block | None) -> bool:
    """Tell whether an object is a mesh whose shape keys are frames: absolute ones, or an import's."""
    if block is None or block.type != "MESH" or block.data.shape_keys is None:
        return False
    keys = block.data.shape_keys
    return len(keys.key_blocks) > 1 and (not keys.use_relative or MODEL_ID in block.data)


def shown_key(keys: Block) -> int:
    """Return the number of the key that shows now, -1 where it is none alone. Blender is asked for whole arrays."""
    blocks = keys.key_blocks
    values = np.empty(len(blocks), np.float32)
    if keys.use_relative:
        blocks.foreach_get("value", values)
        lone = np.flatnonzero(values[1:] > 0) + 1
        return int(lone[0]) if len(lone) == 1 and values[lone[0]] == 1.0 else -1
    blocks.foreach_get("frame", values)
    nearest = int(np.abs(values - keys.eval_time).argmin())
    return nearest if abs(float(values[nearest]) - keys.eval_time) < NEAR else -1


def follow(blocks: list[Block]) -> None:
    """Make the key that shows the active one of each object, where it is not."""
    for block in filter(has_frames, blocks):
        index = shown_key(block.data.shape_keys)
        if index not in (-1, block.active_shape_key_index):
            block.active_shape_key_index = index


def frame_that_shows(block: Block, scene: bpy.types.Scene) -> int | None:
    """Return the first frame of a scene's range that shows an object's active key; None if that shows now, or never."""
    keys: Any = block.data.shape_keys
    index = block.active_shape_key_index
    if shown_key(keys) == index:
        return None
    based = num_before(keys)
    frames = range(scene.frame_start, scene.frame_end + 1)
    shown = KeyFinder(keys).at(playing_curves(keys), [float(frame) for frame in frames])
    return next((frame for frame, key in zip(frames, shown, strict=True) if key == index - based), None)
