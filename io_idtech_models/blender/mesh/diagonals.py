"""Faces to triangles as the source had them: diagonals of quads and n-gons, and corners that quads took away."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...model.edits.corners import restored_numbers, source_cuts
from ...model.source import Meshes
from . import attributes

Numbers = NDArray[np.int64]


def cut_like_source(
    mesh: bpy.types.Mesh, topology: attributes.Topology, numbers: Numbers, source: Meshes | None
) -> tuple[attributes.Ints, attributes.Ints]:
    """Triangulate, larger faces along the diagonals that the source had where it had any."""
    corners, faces = attributes.triangulated(mesh)
    sizes = topology.face_sizes
    if source is None or not len(source.triangles) or not (sizes > 3).any():
        return corners, faces
    corners = corners.copy()
    starts = topology.face_starts[np.flatnonzero(sizes == 4)]
    halves = starts[:, None, None] + np.array([[(0, 1, 2), (0, 2, 3)], [(0, 1, 3), (1, 2, 3)]]).reshape(4, 3)
    # Seams of texture coordinates don't count.
    places: Numbers = np.where(numbers >= 0, source.places[np.maximum(numbers, 0)], -1)
    wanted = source.places[source.triangles]
    cuts = source_cuts(places[halves.reshape(-1, 3)], wanted).reshape(-1, 4)
    place = np.searchsorted(faces, np.flatnonzero(sizes == 4))
    score = np.stack((cuts[:, 0] * 1 + cuts[:, 1], cuts[:, 2] * 1 + cuts[:, 3]), axis=1)
    better = np.flatnonzero(score.max(axis=1) > 0)
    chosen = np.where((score[:, 1] > score[:, 0])[:, None], [2, 3], [0, 1])
    for half in range(2):
        corners[place[better] + half] = halves[better, chosen[better, half]]
    larger = np.flatnonzero(sizes > 4)
    known = set(map(tuple, np.sort(wanted, axis=1).tolist())) if len(larger) else set()
    # Looked up for all together: for a single number numpy may copy all that it is looked up in.
    found = np.searchsorted(faces, larger), topology.face_starts[larger], sizes[larger]
    for at, first, count in zip(*(part.tolist() for part in found), strict=True):
        ears = _source_ears(places[first : first + count].tolist(), known)
        if ears is not None:
            corners[at : at + count - 2] = first + np.array(ears)
    return corners, faces


def _source_ears(places: list[int], known: set[tuple[int, ...]]) -> list[tuple[int, int, int]] | None:
    """Cut an n-gon into triangles of its corners, all of `known` places (sorted); None if it can't be done.

    `places` are those of its corners, which are numbered from 0.
    """
    loop, ears = list(range(len(places))), []

    def triple(at: int) -> tuple[int, int, int]:
        return loop[at - 1], loop[at], loop[(at + 1) % len(loop)]

    def is_known(at: int) -> bool:
        return tuple(sorted(places[corner] for corner in triple(at))) in known

    cuts = [is_known(at) for at in range(len(loop))]
    while len(loop) > 3:
        if True not in cuts:
            return None
        ear = cuts.index(True)
        ears.append(triple(ear))
        del loop[ear], cuts[ear]
        for at in (ear - 1, ear % len(loop)):  # its neighbours alone are others now
            cuts[at] = is_known(at)
    return [*ears, (loop[0], loop[1], loop[2])]


def restore(
    corners: attributes.Ints, numbers: Numbers, uvs: NDArray[np.float32], source: Meshes
) -> tuple[attributes.Ints, dict[str, NDArray[Any]]]:
    """Return triangles as corners, and the numbers and texture coordinates that they had before quads took some.

    Only where the coordinates shown are those of the vertex that the corner claims: edited ones stay.
    """
    own = numbers[corners]
    vertex_uvs = [s.vertex_uvs for s in source.surfaces if s.vertex_uvs is not None]
    if not len(source.triangles) or len(vertex_uvs) < len(source.surfaces):
        return corners, {}
    known = np.concatenate(vertex_uvs)
    unedited = (uvs[corners] == known[own]).all(axis=(1, 2))
    restored, origin, changed = restored_numbers(
        np.where(unedited[:, None], own, -1), source.places, source.triangles[source.solid]
    )
    if not changed.any():
        return corners, {}
    shown = uvs[corners]
    shown[changed] = known[restored[changed]]
    corners = corners.ravel()[origin]
    return corners, {"numbers": np.where(changed[:, None], restored, own), "uvs": shown}


def is_run(numbers: Numbers, source: Meshes) -> bool:
    """Tell whether triangles (T, 3) are just a run of the source's: the usual case, and quickly found out."""
    if not numbers.size or numbers[0, 0] < 0:
        return False
    surface = int(np.searchsorted(source.first_vertices, numbers[0, 0], side="right")) - 1
    base, end = source.first_triangles[surface : surface + 2].tolist()
    return np.array_equal(numbers, source.triangles[base:end][source.solid[base:end]])
