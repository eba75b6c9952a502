"""Does a file of frames show what Blender shows? Compared in a few of them; see `blender.selfcheck`.

What export has stepped through it has seen; what it has read from keys and curves is shown here, in the same frames.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.vertex import Surface
from ..compat import Block
from ..mesh import attributes
from ..roots import places_in
from ..scene import ExportScene
from ..selfcheck import is_beyond, spread, tolerance
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
    """Return what of the surfaces that were gathered last is not as it is shown, in sentences."""
    written: list[WrittenSurface] = export.written
    if not written:
        return []
    plan = written[0].plan
    worst: dict[Any, tuple[float, str]] = {}
    blocks = list(dict.fromkeys(each.block for each in written))
    with stepping(export, plan, blocks) as stage:
        for frame in spread(np.arange(len(plan.times))):
            stage.show(frame)
            places = dict(zip(blocks, places_in(plan.space, export, blocks), strict=True))
            for each in written:
                off = _off(each, frame, export.evaluated(each.block).data, places[each.block], export.settings.scale)
                if is_beyond(off, worst.get(each.block, (0.0, ""))[0]):
                    worst[each.block] = off, plan.names[frame]
    text = (
        "is written up to {:.3g} units off what Blender shows, in frame '{}': apply what moves it, or choose Frames: {}"
    )
    return [f"'{block.name}' " + text.format(off, name, "Scene Range") for block, (off, name) in worst.items()]


def _off(each: WrittenSurface, frame: int, shown: Block, place: NDArray[np.float64], scale: float) -> float:
    """Return how far a surface is off an evaluated mesh at most, units; 0 within tolerance."""
    written = each.surface.positions[min(frame, len(each.surface.positions) - 1)]
    if len(shown.vertices) <= int(each.points.max(initial=-1)):
        return float("nan")
    points = attributes.positions(shown)[each.points].astype(np.float64)
    far = float(steady.lengths(steady.applied(place[:3], points) / scale - written).max(initial=0.0))
    return far if is_beyond(far, tolerance(written)) else 0.0
