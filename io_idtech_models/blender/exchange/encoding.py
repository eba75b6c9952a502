"""Pixels as the bytes of a picture's file, by Blender's own writers."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]  # (H, W, 3 or 4), the bottom row first
KINDS = {".jpg": "JPEG", ".jpeg": "JPEG", ".png": "PNG"}
QUALITY = 95  # of a JPEG, in percent


def write(picture: Pixels, suffix: str) -> bytes:
    """Return the file of a picture (H, W, 3 or 4), the bottom row first; `suffix` is one of KINDS."""
    height, width, channels = picture.shape
    shown = np.ones((height, width, 4), np.float32)
    np.multiply(picture, np.float32(1 / 255), out=shown[..., :channels])
    image: Any = bpy.data.images.new("encoded", width, height, alpha=channels == 4)
    try:
        image.pixels.foreach_set(shown.ravel())
        image.file_format = KINDS[suffix]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"picture{suffix}"
            image.save(filepath=str(path), quality=QUALITY)
            return path.read_bytes()
    finally:
        bpy.data.images.remove(image)
