"""Tags that stand off their joints, for formats whose tags are joints: what a joint can say of a tag's axes."""

from __future__ import annotations

import logging

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.skeletal import JointTag
from ...model.torso import nearest_turns
from ...reporting import listed

log = logging.getLogger(__name__)

Doubles = NDArray[np.float64]
FARTHEST = 1e9  # of a number that is squared
BENT = 1e-3  # by which products of axes may differ from those of a rotation before it is worth a word


def turns_of(tags: list[JointTag]) -> Doubles:
    """Return how joints that stand where tags do are turned against the tags' joints, (n, 4) as w, x, y, z.

    Of mirrored axes forward and up stay, so that what hangs there faces the same way.
    """
    axes = axes_of(tags)
    axes[steady.determinants(axes) < 0, 1] *= -1.0
    return nearest_turns(np.swapaxes(axes, -1, -2))  # a tag's axes are rows


def axes_of(tags: list[JointTag]) -> Doubles:
    """Return the axes of tags, (n, 3, 3) as rows."""
    return np.array([tag.axes for tag in tags], np.float64).reshape(-1, 3, 3)


def warn_of_bent(names: list[str], axes: Doubles, label: str) -> None:
    """Name the tags whose axes (n, 3, 3) are scaled, sheared or mirrored: turns say none of that.

    `label` is what the format is called.
    """
    clipped = np.clip(axes, -FARTHEST, FARTHEST)
    products = steady.products(clipped, np.swapaxes(clipped, -1, -2))
    wrong = (np.abs(products - np.eye(3)).max(axis=(1, 2)) > BENT) | (steady.determinants(clipped) < 0)
    bent = list(dict.fromkeys(name for name, is_wrong in zip(names, wrong.tolist(), strict=True) if is_wrong))
    if bent:
        log.warning(
            "tags are scaled, sheared or mirrored, which %s can't hold: written without: %s", label, listed(bent)
        )
