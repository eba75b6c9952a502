"""How time grows with size: each case over four sizes, and the exponent k of time ~ size^k.

The exponent is the slope of a straight line through the logarithms (least squares). With 1 twice the work takes twice
the time; a constant part makes it less. Where Blender itself grows faster, its bare calls stand beside it.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks.steps import empty_scene, registered

TARGET = 1.1
ENOUGH = 10.0  # seconds: what takes as long is not repeated
Work = dict[str, Callable[[], Any]]  # what is measured, in this order, each with what the one before it left


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
        """Return k of time ~ size^k, of the processors' time: others' work on the machine says nothing about it."""
        return float(np.polyfit(np.log(self.sizes), np.log(self.processor), 1)[0])


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
            start = perf_counter(), process_time()
            run()
            found[name] = perf_counter() - start[0], process_time() - start[1]
    return found


def table(case: Case, rows: dict[str, Row]) -> list[str]:
    """Return the lines that tell of a case: seconds, those of the processors behind a stroke, and the exponent."""
    sizes = "".join(f"{size:>16,}" for size in case.sizes)
    lines = [f"{case.what:<22}{sizes}"]
    for name, row in rows.items():
        figures = "".join(f"{a:>8.3f} /{b:>6.2f}" for a, b in zip(row.seconds, row.processor, strict=True))
        judged = "kept" if row.exponent <= TARGET else "MISSED"
        lines.append(f"  {name:<20}{figures}   k {row.exponent:5.2f}  target {TARGET:.2f}: {judged}")
    return lines
