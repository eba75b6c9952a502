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

    def placed(self, block: Block, worlds: Matrices, root_worlds: Matrices) -> Matrices:
        """Return where an object is whose evaluated transforms are `worlds` (..., 4, 4), while the root's are those."""
        if self.root is None:
            return worlds
        found = self.strangers.get(block)
        return steady.products(_inverse(root_worlds), worlds) if found is None else np.broadcast_to(found, worlds.shape)


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
    worlds = worlds_of(space, export, blocks)
    return [space.placed(block, world, worlds[-1]) for block, world in zip(blocks, worlds, strict=False)]


def worlds_of(space: Space, export: ExportScene[Any], blocks: list[Block]) -> Matrices:
    """Return where objects are in the world just now, and the root of a space behind them, if it has one: (n, 4, 4)."""
    asked = blocks if space.root is None else [*blocks, space.root]
    return _world_matrices(export.depsgraph, [export.evaluated(block) for block in asked])


def standing(block: Block, view_layer: Any) -> Matrices:
    """Return where an object stands in the world, (4, 4): Blender doesn't tell of one in a collection that is hidden.

    Of that constraints don't count, and what hangs on a bone stands as it stood when it was seen last.
    """
    if block.visible_get(view_layer=view_layer) or block.parent_type not in ("OBJECT", "ARMATURE"):
        return np.array(block.matrix_world, np.float64)
    own = np.array(block.matrix_basis, np.float64)
    if block.parent is None:
        return own
    above = standing(block.parent, view_layer)
    return steady.products(above, np.array(block.matrix_parent_inverse, np.float64), own)


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


def _inverse(matrices: Matrices) -> Matrices:
    """Return the inverses of affine transforms (..., 4, 4); of flat ones the identity's turn."""
    turns = steady.inverses(matrices[..., :3, :3])
    turns[~np.isfinite(turns).all(axis=(-1, -2))] = np.eye(3)
    found = np.zeros(matrices.shape)
    found[..., 3, 3] = 1.0
    found[..., :3, :3] = turns
    found[..., :3, 3] = -steady.applied(turns, matrices[..., :3, 3])
    return found
