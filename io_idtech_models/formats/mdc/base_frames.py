"""Which frames of a model become base frames, and which are steps away from one.

A new model is coded as RtCW does (`R_MDC_ConvertMD3`): frame 0 is a base frame, and so is each frame in which any
vertex of any surface is 6.35 units or more away, along an axis, from where the last base frame has it; all surfaces
share the two tables.

An edited model keeps the source's choice. A base frame that was edited goes on to be one; where other frames take
steps from it that were not edited alike, what it was stays behind for these, shown by no frame: so each vertex that
nobody moved stays where it was, in the source's code. Likewise a frame whose steps no longer reach gets a base frame of
its own that differs from the source's in what is out of reach alone.

Letters in shapes: F frames, V vertices of a surface, B base frames of the source.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..common.quake3 import SCALE, encode_places

STEP = 0.05  # MDC_DIST_SCALE
MIDDLE = 127  # MDC_MAX_OFS: the byte that is no step
MOST = 254  # the last byte that real files have
REACH = 6.35  # units, beyond which the encoder makes a base frame
TRIED = 3  # base frames of one of the source's that a frame is tried with

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]


@dataclass(eq=False)
class Moving:
    """A surface on its way into a file: where its vertices are, and what of the source they keep."""

    name: str
    positions: Floats  # (F, V, 3)
    moved: Mask  # (F, V) a vertex has not the source's code in this frame, or there is none
    bases: NDArray[np.int16]  # (B, V, 4) the source's; of new vertices anything

    @cached_property
    def places(self) -> Floats:
        """Return the positions in 1/64 units, whole numbers (F, V, 3); raises LimitError."""
        return encode_places(self.positions, self.name, "MDC")


@dataclass(eq=False)
class BaseFrame:
    """A base frame that will be written."""

    origin: int  # the source's that it comes from; -1: none
    places: list[NDArray[Any]]  # of each surface, (V, 3) in 1/64 units
    is_source: bool = False  # it is the source's, but for new vertices


@dataclass(eq=False)
class BasePlan:
    """Which base frame each frame has, and which take steps from it."""

    of_frame: list[BaseFrame]  # F of them
    stepped: list[bool]  # F of them

    def apart(self, most: int) -> BasePlan:
        """Return the plan with as many copies of a base frame as let none be that of more than so many frames."""
        uses: dict[int, int] = {}
        copies: dict[int, BaseFrame] = {}
        found = []
        for base in self.of_frame:
            used = uses[id(base)] = uses.get(id(base), 0) + 1
            if used % most == 1:
                copies[id(base)] = base if used == 1 else replace(base)
            found.append(copies[id(base)])
        return BasePlan(found, self.stepped)

    def tables(self) -> tuple[NDArray[np.int16], NDArray[np.int16], list[BaseFrame]]:
        """Return which base frame each frame has (F,), which compressed one, or -1, (F,), and the base frames."""
        bases = list({id(base): base for base in self.of_frame}.values())  # each once
        numbers = {id(base): number for number, base in enumerate(bases)}
        stepped = np.array(self.stepped)
        comp = np.where(stepped, np.cumsum(stepped) - 1, -1)
        base = np.array([numbers[id(base)] for base in self.of_frame])
        return base.astype(np.int16), comp.astype(np.int16), bases


def steps_to(positions: NDArray[Any], places: NDArray[Any]) -> NDArray[np.float64]:
    """Return the bytes, whole numbers of any size, that lead from places (..., 3) in 1/64 units to positions."""
    way = positions.astype(np.float64) - places.astype(np.float64) * SCALE
    return np.asarray(np.rint(way / STEP) + MIDDLE)


def fitting(steps: NDArray[np.float64]) -> Mask:
    """Tell which of the steps (..., 3) are bytes that files have, (...,)."""
    return np.asarray(((steps >= 0) & (steps <= MOST)).all(axis=-1))


class Planner:
    """Frames of surfaces that share their tables, taken one after another."""

    def __init__(self, surfaces: list[Moving], origins: NDArray[Any], base_frames: Any, comp_frames: Any) -> None:
        """`origins` (F,) is which frame of the source each one was, or -1; the tables (F of the source,) are its."""
        self.surfaces, self.origins = surfaces, origins.tolist()
        self.source_bases = [int(base_frames[o]) if o >= 0 else -1 for o in self.origins]
        self.was_stepped = [o >= 0 and int(comp_frames[o]) >= 0 for o in self.origins]
        self.known: dict[int, list[BaseFrame]] = {}  # by the source's base frame

    def plan(self) -> BasePlan:
        """Return what becomes of the frames."""
        count = len(self.origins)
        found = BasePlan([BaseFrame(-1, [])] * count, [False] * count)
        for frame in range(count):
            if self.origins[frame] >= 0 and not self.was_stepped[frame]:
                found.of_frame[frame] = self._shown(frame)
        for frame in range(count):
            if self.was_stepped[frame]:
                found.of_frame[frame], found.stepped[frame] = self._stepped(frame)
            elif self.origins[frame] < 0:
                before = found.of_frame[frame - 1] if frame else None
                near = before is not None and self._is_near(frame, before)
                found.stepped[frame] = near
                found.of_frame[frame] = before if near and before is not None else self._fresh(frame, -1)
        return found

    def _fresh(self, frame: int, origin: int) -> BaseFrame:
        """Return a base frame that shows a frame."""
        base = BaseFrame(origin, [surface.places[frame] for surface in self.surfaces])
        self.known.setdefault(origin, []).append(base)
        return base

    def _shown(self, frame: int) -> BaseFrame:
        """Return the base frame of a frame that is one in the source."""
        origin = self.source_bases[frame]
        unmoved = not any(surface.moved[frame].any() for surface in self.surfaces)
        if unmoved:
            return self._source(origin, frame)
        for base in self.known.get(origin, [])[-TRIED:]:
            if all(np.array_equal(p, s.places[frame]) for p, s in zip(base.places, self.surfaces, strict=True)):
                return base
        return self._fresh(frame, origin)

    def _source(self, origin: int, frame: int) -> BaseFrame:
        """Return the source's base frame; new vertices are where they are in `frame`, or in the one that shows it."""
        known = self.known.setdefault(origin, [])
        for base in known:
            if base.is_source:
                return base
        places = []
        for index, surface in enumerate(self.surfaces):
            new = surface.moved.all(axis=0)
            own = surface.bases[origin, :, :3].astype(np.float32)
            own[new] = known[0].places[index][new] if known else surface.places[frame, new]
            places.append(own)
        known.append(BaseFrame(origin, places, True))
        return known[-1]

    def _stepped(self, frame: int) -> tuple[BaseFrame, bool]:
        """Return the base frame of a frame that takes steps in the source, and whether it goes on to do so."""
        origin = self.source_bases[frame]
        for base in self._candidates(origin):
            if self._holds(frame, base):
                return base, True
        own = self._source(origin, frame)
        if self._holds(frame, own):
            return own, True
        if all(surface.moved[frame].all() for surface in self.surfaces):
            return self._fresh(frame, origin), False
        places = [np.array(part) for part in own.places]
        for surface, part in zip(self.surfaces, places, strict=True):
            far = surface.moved[frame] & ~fitting(steps_to(surface.positions[frame], part))
            part[far] = surface.places[frame, far]
        self.known[origin].append(BaseFrame(origin, places))
        return self.known[origin][-1], True

    def _candidates(self, origin: int) -> Iterator[BaseFrame]:
        """Yield the first base frames that were made of the source's, and the last."""
        known = self.known.get(origin, [])
        yield from known[: TRIED - 1]
        yield from known[max(TRIED - 1, len(known) - 1) :]

    def _holds(self, frame: int, base: BaseFrame) -> bool:
        """Tell whether a base frame has what did not move as the source has it, and all else within reach."""
        for surface, places in zip(self.surfaces, base.places, strict=True):
            moved = surface.moved[frame]
            own = surface.bases[base.origin, :, :3]
            if not base.is_source and not (own[~moved] == places[~moved]).all():
                return False
            if moved.any() and not fitting(steps_to(surface.positions[frame, moved], places[moved])).all():
                return False
        return True

    def _is_near(self, frame: int, base: BaseFrame) -> bool:
        """Tell whether the encoder would have a frame take steps from a base frame."""
        return all(
            float(np.abs(surface.positions[frame] - places * np.float32(SCALE)).max(initial=0.0)) < REACH
            for surface, places in zip(self.surfaces, base.places, strict=True)
        )
