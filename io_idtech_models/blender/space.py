"""In whose space a model is written: that of the root that it hangs on, or the world's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model import steady
from .compat import Block
from .provenance import MODEL_ID
from .roots import IDENTITY, hangs_on, is_carried, owner_of, root_of
from .scene import ExportScene

Matrices = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Space:
    """Where a model's coordinates begin: at a part's root, or (None) at the world's origin."""

    root: Block | None = None
    strangers: dict[Any, Matrices] = field(default_factory=dict)  # what does not hang on the root: where it stood

    def is_plain(self, block: Block) -> bool:
        """Tell whether nothing but an object itself moves it against the space: it hangs there by plain parents."""
        if self.root is None or block == self.root:
            return block.parent is None or block == self.root
        return not is_carried(block, self.root)

    def place(self, block: Block) -> Matrices:
        """Return where a plain object that stands still is in the space, (4, 4), as it is stored."""
        if self.root is None:
            return np.array(block.matrix_world, np.float64)
        matrix = IDENTITY
        while block != self.root:
            own = steady.products(np.array(block.matrix_parent_inverse), np.array(block.matrix_basis))
            matrix, block = steady.products(own, matrix), block.parent
        return matrix

    def brought(self, block: Block, matrices: Matrices) -> Matrices:
        """Return what brings points of an object that stands at (..., 4, 4) in the space to its own place there."""
        return steady.products(_inverse(self.place(block)), matrices)

    @property
    def reach(self) -> float:
        """Return how far from the world's origin the space lies: what is shown there is exact by so much less."""
        return 0.0 if self.root is None else float(np.abs(np.array(self.root.matrix_world)[:3, 3]).max())

    def placed(self, block: Block, world: Matrices, root_world: Matrices) -> Matrices:
        """Return where an object is whose evaluated transform is `world` (4, 4), while the root's is `root_world`."""
        if self.root is None:
            return world
        found = self.strangers.get(block)
        return steady.products(_inverse(root_world), world) if found is None else found


WORLD = Space()


def space_of(blocks: Iterable[Block], collection: Any, shown: Any) -> Space:
    """Return the space that a model's objects lie in: of the part that they hang on, if that is one.

    What does not go along with it stays where it stands now. `shown` gives an object as Blender shows it.
    """
    wanted = list(blocks)
    roots = list(dict.fromkeys(root for root in map(root_of, wanted) if root is not None))
    own = [] if collection is None else [r for r in roots if r.get(MODEL_ID) == collection.get(MODEL_ID, r)]
    chosen = own if len(own) == 1 else roots
    if len(chosen) != 1:
        return Space()
    root = chosen[0]
    strangers = [block for block in wanted if not hangs_on(block, root) and owner_of(block) != root]
    inverse = _inverse(np.array(shown(root).matrix_world, np.float64)) if strangers else IDENTITY
    stands = {b: steady.products(inverse, np.array(shown(b).matrix_world, np.float64)) for b in strangers}
    return Space(root, stands)


def places_in(space: Space, export: ExportScene[Any], blocks: list[Block]) -> list[Matrices]:
    """Return where objects are in a space just now, (4, 4) each."""
    asked = blocks if space.root is None else [*blocks, space.root]
    worlds = _world_matrices(export.depsgraph, [export.evaluated(block) for block in asked])
    return [space.placed(block, world, worlds[-1]) for block, world in zip(blocks, worlds, strict=False)]


def _world_matrices(depsgraph: Any, evaluated: list[Any]) -> Matrices:
    """Return the transforms in the world of evaluated objects, (n, 4, 4): one by one Blender is slow to tell them."""
    objects = depsgraph.objects
    flat = np.empty((len(objects), 16), np.float32)
    if len(objects):
        objects.foreach_get("matrix_world", flat.ravel())
    places = {block.as_pointer(): place for place, block in enumerate(objects)}
    found = [places.get(block.as_pointer(), -1) for block in evaluated]
    worlds = np.zeros((len(found), 4, 4))
    if len(objects):
        worlds[:] = flat.reshape(-1, 4, 4).transpose(0, 2, 1)[found]
    for place, index in enumerate(found):
        if index < 0:
            worlds[place] = np.array(evaluated[place].matrix_world, np.float64)
    return worlds


def _inverse(matrix: Matrices) -> Matrices:
    """Return the inverse of an affine transform (4, 4); of a flat one the identity's turn."""
    turn = steady.inverses(matrix[:3, :3])
    if not np.isfinite(turn).all():
        turn = np.eye(3)
    inverse = np.eye(4)
    inverse[:3, :3] = turn
    inverse[:3, 3] = -steady.applied(turn, matrix[:3, 3])
    return inverse
