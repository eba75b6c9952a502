"""Tags of MDC: a place in 1/64 units, and axes as three angles.

An angle's code is 360 / 32700 degrees (`R_LerpTag`), so that several codes mean one. Pitch, yaw and roll are those of
`AnglesToAxis`: forward = (cp cy, cp sy, -sp), left = (sr sp cy - cr sy, sr sp sy + cr cy, sr cp),
up = (cr sp cy + sr sy, cr sp sy - sr cy, cr cp).
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.vertex import Tag
from ...model.wording import listed
from ...reporting import LimitError
from ..common.quake3 import SCALE
from .file import TAG

log = logging.getLogger(__name__)

Doubles = NDArray[np.float64]
CODE = 2 * np.pi / 32700.0  # radians
HALF_CODE = CODE / 2
UPRIGHT = 1e-7  # nearer to straight up or down an axis has no yaw
FARTHEST = 1e9  # of a number that is squared
BENT = 1e-3  # by which products of axes may differ from those of a rotation before it is worth a word


def decode_origins(codes: NDArray[Any]) -> NDArray[np.float32]:
    """Return the places (..., 3) of codes (..., 3)."""
    return codes.astype(np.float32) * np.float32(SCALE)


def decode_axes(codes: NDArray[Any]) -> NDArray[np.float32]:
    """Return the axes (..., 3, 3), as rows, of codes (..., 3): pitch, yaw and roll."""
    return _axes(codes).astype(np.float32)


def _axes(codes: NDArray[Any]) -> Doubles:
    (cp, cy, cr), (sp, sy, sr) = (np.moveaxis(part, -1, 0) for part in steady.cosines_and_sines(codes * CODE))
    rows = (
        (cp * cy, cp * sy, -sp),
        (sr * sp * cy - cr * sy, sr * sp * sy + cr * cy, sr * cp),
        (cr * sp * cy + sr * sy, cr * sp * sy - sr * cy, cr * cp),
    )
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def encode_axes(axes: NDArray[Any]) -> NDArray[np.int16]:
    """Return the nearest codes (n, 3) of rotations (n, 3, 3); inverse of `decode_axes`.

    Roll is what the coded yaw leaves of the turn: where the tag looks straight up only both together say how it stands.
    """
    forward, left, up = (np.asarray(axes[:, row], np.float64) for row in range(3))
    codes = np.empty((len(axes), 3), np.int64)
    level = np.sqrt(forward[:, 0] * forward[:, 0] + forward[:, 1] * forward[:, 1])
    codes[:, 0] = steady.whole_steps(-forward[:, 2], level, CODE)
    codes[:, 1] = np.where(level > UPRIGHT, steady.whole_steps(forward[:, 1], forward[:, 0], CODE), 0)
    cosine, sine = steady.cosines_and_sines(codes[:, 1] * CODE)
    # The level direction across the yaw, (-sine, cosine, 0): left says cos roll along it, up says -sin roll.
    across = [axis[:, 1] * cosine - axis[:, 0] * sine for axis in (left, up)]
    codes[:, 2] = steady.whole_steps(-across[1], across[0], CODE)
    return codes.astype(np.int16)


def encode_tags(tags: list[Tag], hints: NDArray[Any], known: NDArray[np.bool_]) -> NDArray[Any]:
    """Return tags' records, TAG (F, N): those of the `hints` (F, N) where they are `known` (N,) and say the same.

    Raises:
        LimitError: one lies beyond what the format holds.
    """
    found = np.zeros(hints.shape, TAG)
    if not tags:
        return found
    origins, axes = (np.stack(each, axis=1) for each in ([t.origins for t in tags], [t.axes for t in tags]))
    places = np.rint(origins.astype(np.float64) / SCALE)
    bad = ~((places >= -32768) & (places <= 32767))
    if bad.any():
        frame, tag, axis = np.argwhere(bad)[0].tolist()
        value = f"{'XYZ'[axis]} = {float(origins[frame, tag, axis]):g}"
        raise LimitError(f"'{tags[tag].name}' is a tag at {value} in frame {frame}: MDC holds -512 to 511.98 units")
    found["xyz"], found["angles"] = places, hints["angles"]
    off = np.abs(_axes(hints["angles"]) - axes).max(axis=(2, 3))
    fresh = ~((off < HALF_CODE) & known)
    if fresh.any():
        turned = _numbers(axes[fresh])
        _warn_of_bent([tags[tag].name for tag in np.argwhere(fresh)[:, 1]], turned)
        found["angles"][fresh] = encode_axes(steady.nearest_rotations(turned))
    return found


def _numbers(axes: NDArray[Any]) -> Doubles:
    """Return axes (n, 3, 3), upright where they are no numbers."""
    wrong = ~np.isfinite(axes).all(axis=(1, 2))
    found = axes.astype(np.float64)
    found[wrong] = np.eye(3)
    return found


def _warn_of_bent(names: list[str], axes: Doubles) -> None:
    """Name the tags whose axes (n, 3, 3) are scaled, sheared or mirrored: angles say none of that."""
    clipped = np.clip(axes, -FARTHEST, FARTHEST)
    products = steady.products(clipped, np.swapaxes(clipped, -1, -2))
    wrong = (np.abs(products - np.eye(3)).max(axis=(1, 2)) > BENT) | (steady.determinants(clipped) < 0)
    bent = list(dict.fromkeys(name for name, is_wrong in zip(names, wrong.tolist(), strict=True) if is_wrong))
    if bent:
        log.warning("tags are scaled, sheared or mirrored, which MDC can't hold: written without: %s", listed(bent))
