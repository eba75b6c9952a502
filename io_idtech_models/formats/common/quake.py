"""What MD2 and MDL write alike: one surface for all, and positions as bytes in a box, as id's qdata quantises them.

A box is a frame's own (MD2) or that of all frames (MDL). It is scale (3) and offset (3): position = byte x scale +
offset in float32. qdata takes the frame's extents, scale = (max - min) / 255 and offset = min, and the closest byte. A
flat axis has scale 0 here, and bytes 0. Files may have negative scales, whose boxes run backwards. Of an edited model
the source's boxes and bytes stay where they hold.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.edits import affine
from ...model.edits.conform import joined
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
from ...reporting import LimitError, listed, plural
from .normals import decode_direction, encode_direction
from .records import finite, warn_damaged

log = logging.getLogger(__name__)

Floats = NDArray[np.float32]
Size = tuple[int, int]  # of a skin: width and height, in texels
HALF = np.float32(0.5)
STEPS = np.float32(255.0)
THINNEST = np.finfo(np.float32).tiny  # a box's step of which there is a reciprocal
NEAR = np.float32(1e-6)  # of a coordinate: float32's own rounding, where a box is too thin to round to
DEFAULT_SIZE = 256  # texels, of a skin of which nothing is known
Codes = NDArray[np.uint8]
CODING = NormalCoding(decode_direction, encode_direction, 1 << 8)  # of both: a number in id's table of directions
FARTHEST = np.float32(1e36)  # of a box's numbers that are shown: 255 steps of it and once more are still a float32


def as_one(model: VertexModel, label: str) -> VertexModel:
    """Return a model as one surface, without tags, for a format that is called so.

    Raises:
        LimitError: there is no surface.
    """
    if not model.surfaces:
        raise LimitError(f"nothing to export: {label} holds one mesh, and there is none")
    if model.tags:
        log.warning("%s holds no tags, left out: %s", label, listed([tag.name for tag in model.tags]))
    if len({tuple(surface.shaders) for surface in model.surfaces}) > 1:
        log.warning("%s become one, which wears one skin at a time", plural(len(model.surfaces), "surface"))
    return replace(joined(model, CODING), tags=[])


def size_of(header: Any) -> Size:
    """Return width and height of the skins that a header tells of."""
    return int(header["skin_width"]), int(header["skin_height"])


def lone_source(model: VertexModel, format_name: str, fits: Callable[[CodedSource], bool]) -> CodedSource | None:
    """Return the one surface of the source of a model of a format, if the model's goes back to it and its facts fit."""
    source = model.source_of(format_name)
    index = next((s.source_index for s in model.surfaces if s.source_index >= 0), -1)
    if source is None or not 0 <= index < len(source.surfaces):
        return None
    own = source.surfaces[index]
    return own if isinstance(own, CodedSource) and fits(own) else None


def warn_if_damaged(model: VertexModel, format_name: str, own: CodedSource | None) -> None:
    """Warn of a model that goes back to a source of a format whose facts, `own`, don't fit."""
    if model.source_of(format_name) is not None and own is None and model.surfaces[0].source_index >= 0:
        warn_damaged(model.name)


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

    def decode_to(self, codes: NDArray[np.uint8], positions: Floats) -> bool:
        """Tell whether bytes (F, V, 3) decode to just these positions; quickly, for it is the usual case."""
        scratch = np.empty(positions.shape[:2], np.float32)
        for axis in range(3):
            np.multiply(codes[..., axis], self.scale[:, axis, None], out=scratch, dtype=np.float32)
            np.add(scratch, self.offset[:, axis, None], out=scratch)
            if not np.array_equal(scratch, positions[..., axis]):
                return False
        return True

    def near_box(self, positions: Floats) -> NDArray[np.bool_]:
        """Tell which positions (F, V, 3) lie in their frame's box, or within half a step of it, (F, V)."""
        inside = np.ones(positions.shape[:2], np.bool_)
        for axis in range(3):
            scale, offset = self.scale[:, axis, None], self.offset[:, axis, None]
            steps = positions[..., axis] - offset
            half = np.maximum(np.abs(scale) / 2, NEAR * np.maximum(np.abs(offset), 1))
            far = scale * STEPS
            inside &= (steps >= np.minimum(far, 0) - half) & (steps <= np.maximum(far, 0) + half)
        return inside

    def within_half_step(self, positions: Floats, others: Floats) -> NDArray[np.bool_]:
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
    model: VertexModel, own: CodedSource | None, how: Boxing
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
        return boxes, _with_normals(surface, boxes.encode(positions), None, None), ~every
    origins = filled_frames(model)
    old = Boxes(*(np.broadcast_to(each, (own.num_frames, 3))[origins] for each in (own.scale, own.offset)))
    if view is None:
        return old, np.zeros((model.num_frames, 0, 4), np.uint8), every
    if not how.refit and _is_source(surface, view, own):
        return old, own.codes, every
    before = _source_positions(surface, source, origins)
    unmoved: NDArray[np.bool_] = np.asarray(view.known & old.within_half_step(positions, before))
    sourced = source.own_vertices(surface) >= 0
    kept = _kept(unmoved | old.near_box(positions), unmoved & sourced, how)
    fresh = fit_boxes(positions, how.shared)
    boxes = Boxes(np.where(kept[:, None], old.scale, fresh.scale), np.where(kept[:, None], old.offset, fresh.offset))
    codes = boxes.encode(positions)
    held = unmoved & kept[:, None] & sourced
    codes[held] = view.positions[held]
    motion = Motion(view.known & ~unmoved, before, positions, affine.rounding(before))
    return boxes, _with_normals(surface, codes, view, motion), kept


def _kept(fits: NDArray[np.bool_], stays: NDArray[np.bool_], how: Boxing) -> NDArray[np.bool_]:
    """Tell which frames (F,) keep their box, whose vertices (F, V) fit in, and stay where they were."""
    kept: NDArray[np.bool_] = np.asarray(fits.all(axis=1) & stays.any(axis=1))
    if how.together:
        kept[:] = fits.all() and stays.any()
    if how.refit:
        kept[:] = False
    return kept


def _with_normals(surface: Surface, codes: Codes, view: CodedView | None, motion: Motion | None) -> Codes:
    """Return codes (F, V, 4) of positions coded in (F, V, 3), with their normals."""
    whole = np.zeros((*codes.shape[:2], 4), np.uint8)
    whole[..., :3] = codes
    return settle_codes(surface, whole, view, CODING, motion)


def _is_source(surface: Surface, view: CodedView, own: CodedSource) -> bool:
    """Tell whether nothing differs from the source in any frame: the usual case, and quickly found out."""
    edited = surface.own_normals is not None and bool(surface.own_normals.any())
    if view.codes is not own.codes or edited or turned_over(surface, view).any():
        return False
    return Boxes(own.scale, own.offset).decode_to(own.positions, surface.positions)


def _source_positions(surface: Surface, source: ModelSource, frames: NDArray[np.int64]) -> Floats:
    """Return where the source has a surface's vertices in its `frames` (F,), (F, V, 3); 0 for those that it lacks."""
    assert surface.source_vertices is not None
    before = np.zeros((len(frames), surface.num_vertices, 3), np.float32)
    for part, places, indices in source.vertex_parts(surface.source_vertices):
        before[:, places] = part.decoded_positions(frames, indices)
    return before


# -- texels: (s, t) from a skin's top left, shown at their middles


def skin_size(size: Size) -> NDArray[np.float32]:
    """Return a skin's width and height; one without a size counts as one of 1 x 1."""
    return np.maximum(np.array(size, np.float32), np.float32(1.0))


def decode_texels(texels: NDArray[Any], size: Size) -> NDArray[np.float32]:
    """Return texture coordinates, their origin at the bottom left, of the middles of texels (..., 2)."""
    uvs = (texels.astype(np.float32) + HALF) / skin_size(size)
    uvs[..., 1] = np.float32(1.0) - uvs[..., 1]
    return uvs


def exact_texels(uvs: NDArray[np.float32], size: Size) -> NDArray[np.float64]:
    """Return where texture coordinates lie on a skin, in texels (..., 2); the middle of its first is at 0.5."""
    flipped = uvs.astype(np.float64)
    flipped[..., 1] = 1.0 - flipped[..., 1]
    return flipped * skin_size(size)


def matching_corners(
    vertices: NDArray[np.int64], triangles: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return at which corner of `triangles` (n, 3) each of some `vertices` (n, 3) is, and whether it is at any.

    Flipped and mirrored triangles have their corners in another order than the source. What is at none, or at several,
    counts as at its own.
    """
    same = vertices[:, :, None] == triangles[:, None, :]
    return (same * 2 + np.eye(3, dtype=np.int64)).argmax(axis=2), same.any(axis=2)
