"""What MDL asks of an export, and the numbers of its header that a modeller may edit: what id's tools make of them."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.arrays import LARGEST
from ...model.source import CodedSource
from ...model.vertex import Surface, Traits, VertexModel
from ..common.records import records_of
from .file import HEADER

log = logging.getLogger(__name__)

Value = int | float | tuple[float, ...]
INTEGERS = ("sync_type", "flags")
FLOATS = ("eye_position", "bounding_radius", "size")
LOWEST, HIGHEST = -(2**31), 2**31 - 1
# By how much of itself a number that id's rule gives may be off: tools reckon before places are rounded to 256 steps,
# which is up to 0.0053 of the radius and 0.011 of the size in the 22 files of three games that were looked at.
ROUNDED = {"bounding_radius": 0.01, "size": 0.02}
LEAST = 1e-3  # units; of less nothing is known
# By how much of itself what a number is computed of has to change so that it follows: the mean area says roughly how
# large triangles are, which a vertex that moves does not change.
ENOUGH = {"bounding_radius": 1e-6, "size": 0.1}


def traits_of(header: Any) -> Traits:
    """Return the numbers of a header, as plain ones."""
    found: Traits = {name: int(header[name]) for name in INTEGERS}
    for name in FLOATS:
        value = np.asarray(header[name], np.float32)
        found[name] = tuple(value.tolist()) if value.ndim else float(value)
    return found


def settle_header(header: Any, model: VertexModel, surface: Surface, own: CodedSource | None) -> None:
    """Write a model's numbers into a header: those that were edited, else the source's, as long as its rule holds.

    The radius and the size that id's tools compute follow what they are computed of; others stay as they are.
    """
    before = {} if own is None else traits_of(records_of(own.facts, "header", HEADER))
    for name, make in COMPUTED.items():
        fresh = min(make(surface), LARGEST)
        if own is None or _follows(name, float(header[name]), own, fresh):
            header[name] = fresh
    for name in (*INTEGERS, *FLOATS):
        value = model.traits.get(name)
        if value is None or (name in before and _same(value, before[name])):
            continue
        written = _fitting(name, value)
        if written is None:
            log.warning("'%s' can't be %s: left as it was", name.replace("_", " "), value)
        else:
            header[name] = written


def _same(value: Any, before: Value) -> bool:
    """Tell whether a number, or several, is what it was, as single precision has it."""
    try:
        one, other = (np.asarray(each, np.float64).ravel() for each in (value, before))
    except (TypeError, ValueError):
        return False
    return len(one) == len(other) and bool(((one == other) | (np.isnan(one) & np.isnan(other))).all())


def _fitting(name: str, value: Any) -> Any:
    """Return a value as the header holds it; None if it can't."""
    shape = HEADER[name].shape
    try:
        array = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        return None
    if array.shape != shape or not np.isfinite(array).all():
        return None
    if name in INTEGERS:
        whole = float(np.rint(array))
        return int(whole) if LOWEST <= whole <= HIGHEST else None
    return array.astype(np.float32) if np.abs(array).max() <= LARGEST else None


def _follows(name: str, value: float, own: CodedSource, fresh: float) -> bool:
    """Tell whether the source's number was computed so, and is to change with what it was computed of."""
    old = COMPUTED[name](Surface(own.name, own.decoded_positions(), own.triangles, own.uvs, []))
    if not np.isfinite(value) or abs(old - value) > ROUNDED[name] * max(abs(value), LEAST):
        return False
    return bool(abs(fresh - old) > ENOUGH[name] * max(abs(old), 1.0))


def bounding_radius(surface: Surface) -> float:
    """Return how far the corner of a box around the origin is that holds all frames (modelgen's `mins` and `maxs`)."""
    points = surface.points
    if not points.size:
        return 0.0
    reach = np.array([float(np.abs(points[..., axis]).max()) for axis in range(3)])
    return float(steady.lengths(reach[None])[0])


def mean_area(surface: Surface) -> float:
    """Return the mean area of the triangles in the first frame: `size`, by which the software renderer saves work."""
    if not len(surface.triangles) or not surface.num_vertices:
        return 0.0
    corners: NDArray[np.float64] = surface.some_positions(slice(0, 1))[0].astype(np.float64)[surface.triangles]
    normals = steady.crossed(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return math.fsum(steady.lengths(normals).tolist()) / (2 * len(normals))


COMPUTED = {"bounding_radius": bounding_radius, "size": mean_area}


@dataclass(frozen=True)
class MdlOptions:
    """The options of the format's row, by their names."""

    skin_width: int = 0  # 0: the picture's, or else the source's
    skin_height: int = 0
    refit_grid: bool = False
    dither: bool = False
    avoid_full_brights: bool = False
    player_colors: bool = False
    drop_tail: bool = False
