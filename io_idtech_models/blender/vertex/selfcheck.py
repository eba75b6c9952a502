"""Does a file of frames show what Blender shows? Compared in a few of them; see `blender.selfcheck`.

What export has stepped through it has seen; what it has read from keys and curves is shown here, in the same frames.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.vertex import Surface
from ..compat import Block
from ..mesh import attributes
from ..scene import ExportScene
from ..selfcheck import Off, is_beyond, spread, tolerance
from ..space import places_in
from .frame_plan import FramePlan, GatherSettings
from .sampling import stepping


@dataclass(eq=False)
class WrittenSurface:
    """A surface that was read from keys, and where it came from."""

    block: Block
    surface: Surface
    points: NDArray[np.integer]  # (V,) of the object's mesh
    plan: FramePlan


def differences(export: ExportScene[GatherSettings]) -> list[str]:
    """Return what of the surfaces that were gathered last is not as it is shown, in sentences.

    What is hidden, as levels of detail are, Blender does not evaluate, and shows in no frame.
    """
    every: list[WrittenSurface] = export.written
    written = [each for each in every if each.block.visible_get(view_layer=export.view_layer)]
    if not written:
        return []
    plan, scale = written[0].plan, export.settings.scale
    worst = {each.block: Off() for each in written}
    with stepping(export, plan, list(worst)) as stage:
        for frame in spread(np.arange(len(plan.times))):
            stage.show(frame)
            places = dict(zip(worst, places_in(plan.space, export, list(worst)), strict=True))
            for each in written:
                far = _distance(each, frame, export.evaluated(each.block).data, places[each.block], scale)
                worst[each.block].note(far, f"in frame '{plan.names[frame]}'")
    remedy = "apply what moves it, or choose Frames: Scene Range"
    return [off.sentence(f"'{block.name}' is", remedy) for block, off in worst.items() if off.where]


def _distance(each: WrittenSurface, frame: int, shown: Block, place: NDArray[np.float64], scale: float) -> float:
    """Return how far a surface is off an evaluated mesh at most, units; 0 within tolerance."""
    written = each.surface.positions[min(frame, len(each.surface.positions) - 1)]
    if len(shown.vertices) <= int(each.points.max(initial=-1)):
        return float("nan")
    points = attributes.positions(shown)[each.points].astype(np.float64)
    far = float(steady.lengths(steady.applied(place[:3], points) / scale - written).max(initial=0.0))
    return far if is_beyond(far, tolerance(written)) else 0.0
