"""One mesh object to the surfaces of a file: corners to vertices, faces to triangles, in the source's order."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.vertex import BaseNormals, SharedPoints, Surface
from ..mesh.parts import Looks, Part, turned_normals
from ..mesh.read import Shape
from .sampling import Samples

log = logging.getLogger(__name__)

MOST_LOOKS = 32  # frames whose normals decide whether corners make one vertex


def looks_of(samples: Samples, frames: NDArray[Any], shape: Shape) -> Looks:
    """Return what samples of all frames say; of their normals some, evenly spread."""
    assert samples.positions is not None
    normals = shape.normals
    if samples.normals is not None and shape.shows_normals:
        count = len(samples.normals)
        some = np.unique(np.linspace(0, count - 1, min(count, MOST_LOOKS)).astype(int))
        normals = np.ascontiguousarray(samples.normals[some].transpose(1, 0, 2))
    return Looks(samples.positions, frames, normals)


def to_surface(name: str, part: Part, shape: Shape, samples: Samples, num_frames: int, scale: float) -> Surface:
    """Return the surface of a part, still without shaders: its positions and normals in the world, in every frame."""
    assert samples.positions is not None
    transforms = samples.matrices
    moved = _moved(samples.positions, transforms, scale)
    points = np.ascontiguousarray(np.broadcast_to(moved, (num_frames, *moved.shape[1:])))
    normals = None
    if part.needs_normals:
        shown = shape.normals[None] if samples.normals is None else samples.normals
        turned = turned_normals(part.normals(shown), transforms)
        normals = np.broadcast_to(turned, (num_frames, len(part.own), 3))
    turned_over = steady.determinants(transforms[:, :3, :3]) < 0
    mirrored = bool(turned_over[0])
    if mirrored != turned_over.all() or mirrored != turned_over.any():
        log.warning("'%s' is mirrored in some frames only: there its faces show their backs", name)
    triangles = part.triangles.vertices
    uvs = part.uvs
    if mirrored:
        triangles = triangles[:, ::-1]
        uvs = uvs[:, ::-1] if uvs.ndim == 3 else uvs
    numbers = part.vertices.numbers.astype(np.int32)
    return Surface(
        name,
        SharedPoints(points, part.vertices.points),
        np.ascontiguousarray(triangles, np.int32),
        np.ascontiguousarray(uvs),
        [],
        normals,
        source_vertices=numbers,
        source_triangles=part.triangles.numbers,
        own_normals=part.own,
        mirrored=mirrored,
        base=_base(part, shape, samples),
    )


def _base(part: Part, shape: Shape, samples: Samples) -> BaseNormals | None:
    """Return the normals of the frame in which an object that was edited stands as its own mesh, if there is one."""
    assert samples.positions is not None
    if shape.base is None:
        return None
    for frame, points in enumerate(samples.positions):
        if np.array_equal(points, shape.base.points):
            transforms = samples.matrices[frame if len(samples.matrices) > 1 else 0][None]
            return BaseNormals(frame, turned_normals(part.normals(shape.base.normals[None]), transforms)[0])
    return None


def _moved(local: NDArray[np.float32], transforms: NDArray[np.float64], scale: float) -> NDArray[np.float32]:
    """Return positions (F, V, 3) in the world; untouched bit for bit where nothing moves them."""
    if len(transforms) == 1 and scale == 1.0 and np.array_equal(transforms[0], np.eye(4)):
        return local
    stacked = transforms.copy()
    stacked[:, :3] *= scale
    if (stacked == np.eye(4)).all():
        return local
    return np.asarray(steady.applied(stacked[:, None, :3], local.astype(np.float64)), np.float32)
