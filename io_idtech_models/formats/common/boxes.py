"""Positions as bytes in a box per frame: MD2's, as id's qdata quantises them.

A frame's box is scale (3) and offset (3): position = byte x scale + offset in float32. qdata takes the frame's extents,
scale = (max - min) / 255 and offset = min, and the closest byte. A flat axis has scale 0 here, and bytes 0. Files may
have negative scales, whose boxes run backwards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
STEPS = np.float32(255.0)
THINNEST = np.finfo(np.float32).tiny  # a box's step of which there is a reciprocal
NEAR = np.float32(1e-6)  # of a coordinate: float32's own rounding, where a box is too thin to round to


@dataclass(eq=False)
class Boxes:
    """The boxes of all frames."""

    scale: Floats  # (F, 3)
    offset: Floats  # (F, 3)

    def encode(self, positions: Floats, frames: NDArray[np.int64] | slice = slice(None)) -> NDArray[np.uint8]:
        """Return the closest bytes (n, V, 3) of positions (n, V, 3) in the given frames' boxes; cut to what fits."""
        codes = np.empty(positions.shape, np.uint8)
        for axis in range(3):  # numpy is slow along an axis of three
            scale = self.scale[frames, axis]
            steps = positions[..., axis] - self.offset[frames, axis][:, None]
            solid = np.abs(scale) >= THINNEST
            steps *= np.where(solid, 1 / np.where(solid, scale, 1), 0)[:, None].astype(np.float32)
            np.rint(steps, out=steps)
            codes[..., axis] = np.clip(steps, 0, STEPS)
        return codes

    def show(self, codes: NDArray[np.uint8], positions: Floats) -> bool:
        """Tell whether bytes (F, V, 3) decode to just these positions; quickly, for it is the usual case."""
        scratch = np.empty(positions.shape[:2], np.float32)
        for axis in range(3):
            np.multiply(codes[..., axis], self.scale[:, axis, None], out=scratch, dtype=np.float32)
            np.add(scratch, self.offset[:, axis, None], out=scratch)
            if not np.array_equal(scratch, positions[..., axis]):
                return False
        return True

    def hold(self, positions: Floats) -> NDArray[np.bool_]:
        """Tell which positions (F, V, 3) lie in their frame's box, or within half a step of it, (F, V)."""
        inside = np.ones(positions.shape[:2], np.bool_)
        for axis in range(3):
            scale, offset = self.scale[:, axis, None], self.offset[:, axis, None]
            steps = positions[..., axis] - offset
            half = np.maximum(np.abs(scale) / 2, NEAR * np.maximum(np.abs(offset), 1))
            far = scale * STEPS
            inside &= (steps >= np.minimum(far, 0) - half) & (steps <= np.maximum(far, 0) + half)
        return inside

    def agree(self, positions: Floats, others: Floats) -> NDArray[np.bool_]:
        """Tell which positions (F, V, 3) are within half a step of others, (F, V)."""
        near = np.ones(positions.shape[:2], np.bool_)
        for axis in range(3):
            half = np.abs(self.scale[:, axis, None]) / 2
            slack = np.maximum(half, NEAR * np.maximum(np.abs(others[..., axis]), 1))
            near &= np.abs(positions[..., axis] - others[..., axis]) <= slack
        return near


def fit_boxes(positions: Floats, shared: bool = False) -> Boxes:
    """Return the boxes of frames (F, V, 3): each one's own, or one that is `shared` by all."""
    frames, vertices = positions.shape[:2]
    if not vertices:
        return Boxes(np.zeros((frames, 3), np.float32), np.zeros((frames, 3), np.float32))
    low = np.stack([positions[..., axis].min(axis=1) for axis in range(3)], axis=1)
    high = np.stack([positions[..., axis].max(axis=1) for axis in range(3)], axis=1)
    if shared:
        low, high = (np.tile(side, (frames, 1)) for side in (low.min(axis=0), high.max(axis=0)))
    return Boxes((high - low) / STEPS, low)
