"""A root for a model: an empty that all of it hangs on, in whose space it is written wherever it stands."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from ...model import steady
from ...model.transforms import inverse
from ...reporting import LimitError
from .. import names
from ..compat import Block
from ..provenance import MODEL_ID, PART, model_of
from ..roots import root_of
from .hanging import Hanging, find_hanging, to_joint

SIZE = 8.0  # game units across: seen, and smaller than what hangs there


def make_root(name: str, blocks: Iterable[Block], into: bpy.types.Collection) -> Block:
    """Return a new root, an empty in a collection, on which a model's objects hang.

    It takes the place of the model: on another's tag where that hangs on one, else at the world's origin. Tags that
    lay behind while the rest was hung up unmoved come along.

    Raises:
        LimitError: the model has a root, or parts of it hang on different things.
    """
    whole = list(blocks)
    known = next((root for root in map(root_of, whole) if root is not None), None)
    if known is not None:
        raise LimitError(f"the model hangs on a root already: '{known.name}'")
    hanging = find_hanging(whole)
    tops = _tops(whole)
    root: Any = bpy.data.objects.new(names.fit(name), None)
    root.empty_display_type, root.empty_display_size = "PLAIN_AXES", SIZE
    root[PART] = name
    own = next((found for found in map(model_of, whole) if found), "")
    if own:
        root[MODEL_ID] = own
    into.objects.link(root)
    if hanging is None:
        root.parent = next((block.parent for block in tops if block.parent is not None), None)
        for block in tops:
            _hang(block, root, block.matrix_parent_inverse.copy() if block.parent else Matrix())
    else:
        _take_place(root, hanging, tops)
    return root


def _tops(whole: list[Block]) -> list[Block]:
    """Return a model's objects that hang on none of its own; raises LimitError where they hang on different things."""
    inner = set(whole)
    tops = [block for block in whole if block.parent is None or block.parent not in inner]
    above = {block.parent for block in tops if block.parent is not None}
    if len(above) > 1:
        called = " and ".join(sorted(f"'{block.name}'" for block in above))
        raise LimitError(f"parts of the model hang on different objects, parent them to one: {called}")
    return tops


def _take_place(root: Any, hanging: Hanging, tops: list[Block]) -> None:
    """Hang a root where a model hangs, and the model on the root."""
    edge = hanging.edges[0]
    root.parent, root.parent_type, root.parent_bone = edge.parent, edge.parent_type, edge.parent_bone
    if hanging.at_home:
        root.matrix_parent_inverse = edge.matrix_parent_inverse.copy()
        for block in tops:
            _hang(block, root, Matrix())
        return
    turn = np.eye(4)
    if hanging.carrier.bone:
        turn = to_joint(hanging.carrier)
        root.matrix_basis = Matrix(inverse(turn).tolist())
    for block in hanging.edges:
        own = np.array(block.matrix_parent_inverse, np.float64)
        _hang(block, root, Matrix(steady.products(turn, own).tolist()))


def _hang(block: Block, root: Block, inverse: Matrix) -> None:
    block.parent, block.parent_type, block.parent_bone = root, "OBJECT", ""
    block.matrix_parent_inverse = inverse
