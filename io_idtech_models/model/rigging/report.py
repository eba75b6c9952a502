"""What bones say of frames, in figures and in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..wording import plural
from .rig import Rig


@dataclass(frozen=True)
class Report:
    """How far bones alone are from the frames, in the model's units; torn frames don't count."""

    bones: int
    rms: float
    worst: float
    worst_frame: int
    torn: int  # frames left out of joints and rest

    def sentence(self, frame_names: Sequence[str] = ()) -> str:
        """Return it in words."""
        named = self.worst_frame < len(frame_names)
        frame = f"'{frame_names[self.worst_frame]}'" if named else f"frame {self.worst_frame}"
        said = f"{plural(self.bones, 'bone')}, {self.rms:.3g} units off (rms), {self.worst:.3g} at worst in {frame}"
        return said + (f"; {plural(self.torn, 'frame')} in which it comes apart left out" if self.torn else "")


def explained(rig: Rig, positions: NDArray[np.float32]) -> Report:
    """Return what bones say of vertices (F, V, 3)."""
    squares = ((rig.shown() - positions) ** 2).sum(axis=2)
    squares[rig.torn] = 0
    mean = squares.sum() / max(int((~rig.torn).sum()) * squares.shape[1], 1)
    frame = int(squares.max(axis=1, initial=0).argmax())
    worst = float(np.sqrt(squares[frame].max(initial=0)))
    return Report(rig.num_bones - len(rig.tag_bones), float(np.sqrt(mean)), worst, frame, int(rig.torn.sum()))
