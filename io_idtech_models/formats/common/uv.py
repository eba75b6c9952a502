"""Texture coordinates, which count from the top left in files and from the bottom left in models."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def flipped(uvs: NDArray[Any]) -> NDArray[Any]:
    """Return texture coordinates (V, 2) from the other side, as precise; its own inverse but for rounding."""
    with np.errstate(invalid="ignore"):  # signalling NaNs; they travel as a hint
        return np.stack((uvs[:, 0], uvs.dtype.type(1) - uvs[:, 1]), axis=1)
