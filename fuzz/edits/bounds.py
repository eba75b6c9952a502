"""Do the bounds that a file gives its frames hold what it shows in them? Games cull models by these, and pick them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuzz.edits.held import Frames, Points
from io_idtech_models.formats import by_name

Corners = NDArray[np.floating[Any]]  # (F, 2, 3): the least and the most of each axis
LOOKS = 8  # frames of a file that are looked at
ROUNDED = 0.03  # units: by how much bounds of few digits may be off; frames of an MDC are by 0.025,
PART = 1 / 32766  # and of the farthest coordinate: what packed frames of MDR have of a turn


def _pair(records: Any, low: str, high: str) -> Corners:
    return np.stack([records[low], records[high]], axis=1)


def _played(iqm: Any) -> NDArray[Any]:
    """Return the frames that an animation has, one animation after another."""
    runs = [np.arange(int(row["first_frame"]), int(row["first_frame"] + row["num_frames"])) for row in iqm.anims]
    return np.concatenate([np.zeros(0, np.int64), *runs])


# Formats whose frames have bounds: what of a file's structs they are.
BOUNDS: dict[str, Callable[[Any], Corners]] = {
    "md3": lambda md3: _pair(md3.frames, "mins", "maxs"),
    "mdc": lambda mdc: _pair(mdc.frames, "mins", "maxs"),
    "mdr": lambda mdr: mdr.frames["info"]["bounds"],
    "mds": lambda mds: mds.frames["info"]["bounds"],
    "mdx": lambda mdx: mdx.frames["info"]["bounds"],
    "iqm": lambda iqm: _pair(iqm.bounds, "min", "max")[_played(iqm)] if len(iqm.bounds) else np.zeros((0, 2, 3)),
    "md5anim": lambda anim: anim.bounds,
}


def of_file(format_name: str, path: Path) -> Corners | None:
    """Return the bounds of a file's frames; None where it has none."""
    if format_name not in BOUNDS or not path.is_file():
        return None
    found = BOUNDS[format_name](by_name(format_name).read(path.read_bytes()))
    return found if len(found) else None


def beyond(points: Points, corners: Corners) -> float:
    """Return how far points (n, 3) reach beyond a frame's bounds (2, 3)."""
    ends = corners.astype(np.float64)  # those of Enemy Territory have the most first
    low, high = ends.min(axis=0), ends.max(axis=0)
    rounded = PART * float(np.abs(points).max(initial=0.0))
    return max(0.0, float(np.maximum(low - points, points - high).max(initial=0.0)) - rounded)


def excess(format_name: str, path: Path, frames: Frames) -> tuple[float, int]:
    """Return how far a file shows things beyond its frames' bounds, in units, and in which frame most."""
    corners = of_file(format_name, path)
    if corners is None:
        return 0.0, 0
    every = np.unique(np.linspace(0, min(frames.count, len(corners)) - 1, LOOKS).astype(int)).tolist()
    return max((beyond(frames.points(frame), corners[frame]), frame) for frame in every)
