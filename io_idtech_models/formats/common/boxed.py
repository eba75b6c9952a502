"""Positions of an edited model as bytes in boxes: where the source's boxes and bytes hold they stay.

A box is a frame's own (MD2) or that of all frames (MDL): see `boxes`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...model.edits.normals import (
    CodedView,
    Motion,
    NormalCoding,
    filled_frames,
    settle_codes,
    turned_over,
    view_codes,
)
from ...model.source import CodedSource
from ...model.vertex import ModelSource, Surface, VertexModel
from ...reporting import LimitError
from .boxes import Boxes, fit_boxes
from .hints import finite

Codes = NDArray[np.uint8]
Floats = NDArray[np.float32]
FARTHEST = np.float32(1e36)  # of a box's numbers that are shown: 255 steps of it and once more are still a float32


@dataclass(frozen=True)
class Boxing:
    """What a format, and an export, want of boxes."""

    shared: bool = False  # fresh ones are the same for all frames
    together: bool = False  # frames keep the source's, or lose it, all together
    refit: bool = False  # none is kept


def shown_box(numbers: NDArray[np.float32]) -> Floats:
    """Return scales or offsets of boxes as numbers that can be shown."""
    return np.clip(finite(numbers), -FARTHEST, FARTHEST)


def settle_positions(
    model: VertexModel, own: CodedSource | None, coding: NormalCoding, how: Boxing
) -> tuple[Boxes, Codes, NDArray[np.bool_]]:
    """Return the boxes of a model's frames, the codes (F, V, 4), and which frames (F,) keep the source's box.

    A frame keeps it while all its vertices fit in and some vertex is where it was; else it gets one of its own.

    Raises:
        LimitError: a position is no number.
    """
    surface, source = model.surfaces[0], model.source
    positions = surface.positions
    if positions.size and not np.isfinite(positions).all():
        frame, vertex = np.argwhere(~np.isfinite(positions))[0, :2].tolist()
        raise LimitError(f"'{surface.name}' has a vertex ({vertex}) in frame {frame} whose place is no number")
    view = None if own is None or source is None else view_codes(model, surface, source)
    every = np.ones(model.num_frames, np.bool_)
    if own is None or source is None or (view is None and surface.num_vertices):
        boxes = fit_boxes(positions, how.shared)
        return boxes, _with_normals(surface, boxes.encode(positions), None, None, coding), ~every
    origins = filled_frames(model)
    old = Boxes(*(np.broadcast_to(each, (own.num_frames, 3))[origins] for each in (own.scale, own.offset)))
    if view is None:
        return old, np.zeros((*positions.shape[:2], 4), np.uint8), every
    if not how.refit and _is_source(surface, view, own):
        return old, own.codes, every
    before = _source_positions(surface, source, origins)
    unmoved: NDArray[np.bool_] = np.asarray(view.known & old.agree(positions, before))
    kept = _kept(unmoved | old.hold(positions), unmoved & (source.own_vertices(surface) >= 0), how)
    fresh = fit_boxes(positions, how.shared)
    boxes = Boxes(np.where(kept[:, None], old.scale, fresh.scale), np.where(kept[:, None], old.offset, fresh.offset))
    codes = boxes.encode(positions)
    held = unmoved & kept[:, None] & (source.own_vertices(surface) >= 0)
    codes[held] = view.positions[held]
    motion = Motion(view.known & ~unmoved, before, positions, _slack(before))
    return boxes, _with_normals(surface, codes, view, motion, coding), kept


def _kept(fits: NDArray[np.bool_], stays: NDArray[np.bool_], how: Boxing) -> NDArray[np.bool_]:
    """Tell which frames (F,) keep their box, whose vertices (F, V) fit in, and stay where they were."""
    kept: NDArray[np.bool_] = np.asarray(fits.all(axis=1) & stays.any(axis=1))
    if how.together:
        kept[:] = fits.all() and stays.any()
    if how.refit:
        kept[:] = False
    return kept


def _with_normals(
    surface: Surface, codes: Codes, view: CodedView | None, motion: Motion | None, coding: NormalCoding
) -> Codes:
    """Return codes (F, V, 4) of positions coded in (F, V, 3), with their normals."""
    whole = np.zeros((*codes.shape[:2], 4), np.uint8)
    whole[..., :3] = codes
    return settle_codes(surface, whole, view, coding, motion)


def _is_source(surface: Surface, view: CodedView, own: CodedSource) -> bool:
    """Tell whether nothing differs from the source in any frame: the usual case, and quickly found out."""
    edited = surface.own_normals is not None and bool(surface.own_normals.any())
    if view.codes is not own.codes or edited or turned_over(surface, view).any():
        return False
    return Boxes(own.scale, own.offset).show(own.positions, surface.positions)


def _slack(positions: Floats) -> float:
    """Return how far single precision may put such positions."""
    return 1e-5 * max(1.0, float(np.abs(positions).max(initial=0.0)))


def _source_positions(surface: Surface, source: ModelSource, frames: NDArray[np.int64]) -> Floats:
    """Return where the source has a surface's vertices in its `frames` (F,), (F, V, 3); 0 for those that it lacks."""
    assert surface.source_vertices is not None
    before = np.zeros((len(frames), surface.num_vertices, 3), np.float32)
    for part, places, indices in source.vertex_parts(surface.source_vertices):
        before[:, places] = part.decoded_positions(frames, indices)
    return before
