"""Skins that lie in a model's own file, as Quake's do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .palette import TRANSPARENT, Palette, quake

OPAQUE = 128  # of 255: from there on an alpha is seen
Picture = NDArray[np.uint8]  # (H, W) numbers of a palette, or (H, W, 3 or 4) colours; the top row first


@dataclass(eq=False)
class Skin:
    """A picture, or several that a game shows in turn.

    Its `name` is that of the shader that shows it: files have none. `times` are the ends of its pictures, in seconds
    from the first one's beginning; a lone picture has none.
    """

    name: str
    pictures: list[Picture]
    times: tuple[float, ...] = ()
    source_index: int = -1  # the source's skin that this one was

    @property
    def names(self) -> list[str]:
        """Return what its pictures are called: as the skin, or numbered from 0 where it may have several."""
        return [f"{self.name}_{i}" for i in range(len(self.pictures))] if self.times else [self.name]


def skin_names(model_name: str, count: int) -> list[str]:
    """Return what the skins of a model are called: as engines call the files that may take their places."""
    return [f"{model_name}_{i}" for i in range(count)]


def colors_of(picture: Picture, palette: Palette | None = None) -> NDArray[np.uint8]:
    """Return the colours (H, W, 3 or 4) of a picture; of numbers those of a palette, or else of Quake's."""
    return (quake() if palette is None else palette)[picture] if picture.ndim == 2 else picture


def is_opaque(picture: Picture) -> NDArray[np.bool_]:
    """Tell which pixels (H, W) of a picture are seen."""
    if picture.ndim == 2:
        return np.asarray(picture != TRANSPARENT)
    return np.ones(picture.shape[:2], np.bool_) if picture.shape[2] == 3 else np.asarray(picture[..., 3] >= OPAQUE)
