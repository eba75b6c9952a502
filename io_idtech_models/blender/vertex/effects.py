"""Which objects do their modifiers change: then what Blender shows is the modeller's word, normals included.

Modifiers that move, cut or add faces leave their meshes' custom normals to Blender, which turns and blends them in its
own way, and some exist to change normals alone. So an object whose modifiers change anything is written as it is shown.
One whose modifiers do nothing (a decimation by nothing, a wave that has not come yet) is written as without them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compat import Block
from ..mesh.edited_normals import shows_the_same
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
            points = plain[block]
            if points is None or not shows_the_same(block.data, shown, points[min(frame, len(points) - 1)]):
                changed.add(block)
    return changed


def _plain_positions(block: Block, plan: sampling.Plan) -> NDArray[np.float32] | None:
    """Return where the mesh has its points in each frame without modifiers, (F or 1, P, 3); None if that is unknown."""
    keys = block.data.shape_keys
    if keys is not None and (not shape_keys.frame_blocks(keys) or min(sampling.shown_keys(block, plan)) < 0):
        return None
    return sampling.keyed_positions(block, plan)
