"""How time grows with size: each case over four sizes, and the exponent k of time ~ size^k.

The exponent is the slope of a straight line through the logarithms (least squares). With 1 twice the work takes twice
the time; a constant part makes it less. Where Blender itself grows faster its bare calls stand beside it: operators
can only be as good.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks.steps import empty_scene, registered

TARGET = 1.1
NOISE = 0.05  # what two fits of the same differ by
BARE = "bare"  # begins the names of what is Blender's own
ENOUGH = 10.0  # seconds: what takes as long is not repeated


@dataclass(frozen=True)
class Prepared:
    """Something that is measured of which the first part, `make`, does not count: `run` gets what that returns."""

    make: Callable[[], Any]
    run: Callable[[Any], None]


Work = dict[str, Callable[[], Any] | Prepared]  # what is measured, in this order, each with what the one before it left


@dataclass(frozen=True)
class Case:
    """Something that grows: `prepare` makes ready, in an empty scene, what is measured at a size."""

    what: str
    sizes: tuple[int, ...]
    prepare: Callable[[int, Path], Work]


@dataclass
class Row:
    """What was measured of one operation: the best seconds at each size, and those of all processors together."""

    sizes: Sequence[int]
    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    @property
    def exponent(self) -> float:
        """Return k of time ~ size^k.

        Of the lesser time at each size: others' work on the machine adds to the seconds that pass, and threads that
        wait for work to those of the processors.
        """
        return float(np.polyfit(np.log(self.sizes), np.log(np.minimum(self.seconds, self.processor)), 1)[0])


def measure(case: Case, folder: Path, repeat: int) -> dict[str, Row]:
    """Return what a case takes at its sizes."""
    rows: dict[str, Row] = {}
    with registered():
        _once(case, case.sizes[0], folder)  # what is imported when first used
        for size in case.sizes:
            best: dict[str, tuple[float, float]] = {}
            for _ in range(repeat):
                for name, took in _once(case, size, folder).items():
                    before = best.get(name, took)
                    best[name] = min(before[0], took[0]), min(before[1], took[1])
                if sum(seconds for seconds, _ in best.values()) > ENOUGH:
                    break
            for name, (seconds, processor) in best.items():
                row = rows.setdefault(name, Row(case.sizes))
                row.seconds.append(seconds)
                row.processor.append(processor)
    return rows


def _once(case: Case, size: int, folder: Path) -> dict[str, tuple[float, float]]:
    """Return the seconds that each operation took, and the processors'."""
    empty_scene()
    found = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for name, run in case.prepare(size, folder).items():
            todo = partial(run.run, run.make()) if isinstance(run, Prepared) else run
            start = perf_counter(), process_time()
            todo()
            found[name] = perf_counter() - start[0], process_time() - start[1]
    return found


def limit(rows: dict[str, Row]) -> float:
    """Return the largest exponent that operators may have: no more than Blender itself has beside them."""
    return max([TARGET, *(row.exponent + NOISE for name, row in rows.items() if name.startswith(BARE))])


def table(case: Case, rows: dict[str, Row]) -> list[str]:
    """Return the lines that tell of a case: seconds, those of the processors behind a stroke, and the exponent."""
    sizes = "".join(f"{size:>16,}" for size in case.sizes)
    lines = [f"{case.what:<22}{sizes}"]
    for name, row in rows.items():
        figures = "".join(f"{a:>8.3f} /{b:>6.2f}" for a, b in zip(row.seconds, row.processor, strict=True))
        judged = "" if name.startswith(BARE) else f"  target {TARGET:.2f}: {_verdict(row, limit(rows))}"
        lines.append(f"  {name:<20}{figures}   k {row.exponent:5.2f}{judged}")
    return lines


def _verdict(row: Row, most: float) -> str:
    if row.exponent <= TARGET:
        return "kept"
    return "Blender's own" if row.exponent <= most else "MISSED"
