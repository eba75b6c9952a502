"""The part of a source that a mesh has to do with: the surfaces from which its elements come.

A mesh of a model may hold elements of any of the source's surfaces, but mostly holds one surface' own. Who asks all of
the source about each mesh takes the square of the number of surfaces for all meshes together. So a mesh is compared
with a source of those surfaces alone, and with numbers that count within that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..source import Meshes, MeshSet, split_by_part

Numbers = NDArray[np.int64]


@dataclass(eq=False)
class Near:
    """Some surfaces of a source as a source of their own; model-wide numbers to numbers in it (`own_`), and back."""

    whole: Meshes
    source: Meshes
    surfaces: NDArray[np.int64]  # (n,) which of the whole's they are, rising

    def own_vertices(self, numbers: Numbers) -> Numbers:
        """Return the numbers (n,) in `source` of vertices, -1 for those of other surfaces."""
        return _translated(numbers, self.whole.first_vertices, self.source.first_vertices, self.surfaces)

    def own_triangles(self, numbers: Numbers) -> Numbers:
        """Return the numbers (n,) in `source` of triangles, -1 for those of other surfaces."""
        return _translated(numbers, self.whole.first_triangles, self.source.first_triangles, self.surfaces)

    def vertices(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return model-wide numbers (n,) of vertices; inverse of `own_vertices`."""
        return _restored(numbers, self.whole.first_vertices, self.source.first_vertices, self.surfaces)

    def triangles(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return model-wide numbers (n,) of triangles; inverse of `own_triangles`."""
        return _restored(numbers, self.whole.first_triangles, self.source.first_triangles, self.surfaces)


def near(source: Meshes, numbers: Numbers) -> Near:
    """Return the surfaces of a source whose vertices have the model-wide `numbers` (n,), -1 = none."""
    found = np.array([part for part, _, _ in split_by_part(numbers, source.first_vertices)], np.int64)
    if len(found) == len(source.surfaces):
        return Near(source, source, found)
    return Near(source, MeshSet([source.surfaces[surface] for surface in found.tolist()]), found)


def _translated(numbers: Numbers, firsts: Numbers, own_firsts: Numbers, parts: Numbers) -> Numbers:
    found = np.full(len(numbers), -1, np.int64)
    place = np.full(len(firsts), -1, np.int64)
    place[parts] = np.arange(len(parts))
    for part, places, own in split_by_part(numbers, firsts):
        if place[part] >= 0:
            found[places] = own + own_firsts[place[part]]
    return found


def _restored(numbers: NDArray[Any], firsts: Numbers, own_firsts: Numbers, parts: Numbers) -> NDArray[Any]:
    found = np.full_like(numbers, -1)
    for part, places, own in split_by_part(numbers, own_firsts):
        found[places] = own + firsts[parts[part]]
    return found
