"""Which objects do their modifiers change: then what Blender shows is the modeller's word, normals included.

Modifiers that move, cut or add faces leave their meshes' custom normals to Blender, which turns and blends them in its
own way, and some exist to change normals alone. So an object whose modifiers change anything is written as it is shown.
One whose modifiers do nothing (a decimation by nothing, a wave that has not come yet) is written as without them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ..compat import Block
from ..mesh import attributes
from ..mesh.edited_normals import SAME
from . import sampling, shape_keys
from .stage import Stage

LOOKS = 5  # frames that are looked at


def changed_by_modifiers(blocks: list[Block], stage: Stage) -> set[Any]:
    """Return the mesh objects (of some that are stepped) whose modifiers show in one of the plan's frames."""
    open_ = [block for block in blocks if any(modifier.show_viewport for modifier in block.modifiers)]
    if not open_:
        return set()
    plain = {block: _plain_positions(block, stage.plan) for block in open_}
    count = len(stage.plan.times)
    changed = set()
    for frame in sorted(set(np.linspace(0, count - 1, min(count, LOOKS)).astype(int).tolist())):
        stage.show(frame)
        for block in [b for b in open_ if b not in changed]:
            shown = stage.export.evaluated(block).data
            if not _is_as_without(block.data, shown, plain[block], frame):
                changed.add(block)
    return changed


def _plain_positions(block: Block, plan: sampling.Plan) -> NDArray[np.float32] | None:
    """Return where the mesh has its points in each frame without modifiers, (F or 1, P, 3); None if that is unknown."""
    keys = block.data.shape_keys
    if keys is not None and (not shape_keys.frame_blocks(keys) or min(sampling.shown_keys(block, plan)) < 0):
        return None
    return sampling.keyed_positions(block, plan)


def _is_as_without(own: Block, shown: Block, plain: NDArray[np.float32] | None, frame: int) -> bool:
    """Tell whether an evaluated mesh shows just what its object's own does: faces, points, and normals at its base."""
    if plain is None or not attributes.topology(own).is_of(shown):
        return False
    points = plain[min(frame, len(plain) - 1)]
    if not np.array_equal(attributes.positions(shown), points):
        return False
    if not len(own.loops) or not np.array_equal(points, attributes.positions(own)):
        return True  # normals of other frames than the base turn along, with nothing to compare them with
    return bool((steady.dots(attributes.corner_normals(own), attributes.corner_normals(shown)) >= SAME).all())
