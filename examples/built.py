"""Surfaces and tags of example models, made of shapes and transforms, one for each frame."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from examples.shapes import Array, Part
from io_idtech_models.model.vertex import Surface, Tag


def surface_of(name: str, frames: Sequence[Part], size: int | tuple[int, int], shader: str) -> Surface:
    """Return a surface of the package's model, with the positions and normals of every frame.

    `size` is the picture's, in pixels: the side of a square, or width and height.
    """
    positions = np.round(np.array([frame.points for frame in frames]), 4).astype(np.float32)
    normals = np.array([frame.normals for frame in frames])
    normals = np.round(normals / np.sqrt((normals**2).sum(axis=2))[..., None], 4)
    # A symmetric shape has normals halfway between two codes: lean them all a little, or noise would choose.
    normals = (normals + np.array((0.00011, 0.00023, 0.00017))).astype(np.float32)
    u, v = (frames[0].uvs / size).T
    uvs = np.round(np.stack((u, 1 - v), axis=1), 6).astype(np.float32)
    return Surface(name, positions, frames[0].triangles.astype(np.int32), uvs, [shader], normals)


def tag_of(name: str, places: Sequence[Array]) -> Tag:
    """Return a tag of the package's model; the columns of a transform (4, 4) are the tag's forward, left and up."""
    frames = np.round(np.array(places), 5) + 0.0
    axes = np.ascontiguousarray(np.swapaxes(frames[:, :3, :3], 1, 2), np.float32)
    return Tag(name, frames[:, :3, 3].astype(np.float32), axes)
