"""How a skeleton is looked for in frames; operators and the command line declare the same options."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RigSettings:
    """What a user may ask for."""

    bones: int = 0  # how many at most; 0: as many as it takes
    detail: float = 1.0  # how closely bones follow where their number isn't given: 2 twice as closely
    turn_only: bool = False  # bones turn about their joints alone; what that doesn't say is the keys'
    rest: int = -1  # the frame to begin the rest from; -1: the one found best
    symmetric: bool = True  # joints that nearly are the other side's mirror image are made so
