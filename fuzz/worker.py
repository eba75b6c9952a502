"""A process that tries inputs: it imports the pure layers only, so that its memory can be limited.

`worker.py serve` tries the files that it is told of, a line each, and answers with a line: the finding's name and what
was wrong, or nothing. `worker.py fuzz KIND FOLDER ...` lets Atheris make inputs, which keeps those that reach new code.
`worker.py short COUNT KIND ...` tries so many mutations of the samples of each kind, always the same, and prints what
fails.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import re
import sys
import time
import traceback
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
PACKAGE = "io_idtech_models"
MOST_BYTES = 1 << 20
STALE, TOO_STALE = 32 << 20, 512 << 20  # bytes that a process may grow by, serving and fuzzing
SLACK = 5  # how much slower code is that counts its own branches
REPLACED = 17  # exit status
LARGE_SELDOM = 500  # one input in so many is made of a large file
COUNT_SECONDS = 2.0  # how often the count of inputs is written


def finding_of(error: BaseException) -> tuple[str, str]:
    """Return a name for an error, the same for all inputs that fail alike, and one line of what was wrong."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if PACKAGE in f.filename]
    where = f"{Path(frames[-1].filename).stem}-{frames[-1].name}" if frames else "property"
    text = f"{type(error).__name__}: {error}".splitlines()[0][:300]
    if type(error).__name__ == "BrokenError":
        where = re.sub(r"[^a-z]+", "-", str(error).split(": ")[0].lower())[:60]
        if "came back" in text:
            where += re.sub(r"[^a-z0-9_.]+", "", str(error).split(": ")[-1])
    at = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}-{where}", text + at


def serve() -> int:
    """Try the inputs that lines of the standard input name, "KIND PATH"; answer with a line each."""
    from fuzz.guard import Budget, mapped_bytes
    from fuzz.properties import check
    from fuzz.seeds import samples

    warmed: set[str] = set()
    start = 0
    for line in sys.stdin:
        kind, path = line.rstrip("\n").split(" ", 1)
        if kind not in warmed:  # what numpy maps when it is first used is not the input's
            for data in samples(kind):
                check(kind, data, Budget(60.0, 1000, 1 << 30))
            warmed.add(kind)
            start = mapped_bytes()
        answer = ""
        try:
            check(kind, Path(path).read_bytes(), Budget())
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
            answer = " | ".join(finding_of(error))
        grown = mapped_bytes() - start > STALE
        sys.stdout.write(f"{'stale' if grown else 'ready'} {answer}\n")
        sys.stdout.flush()
        if grown:
            return REPLACED
    return 0


def short(count: int, kind: str) -> int:
    """Try so many inputs; returns 1 if one fails. The limits are wide: this is no measurement."""
    from fuzz.guard import Budget
    from fuzz.mutate import mutated
    from fuzz.properties import check
    from fuzz.seeds import samples

    rng, files, status = Random(kind), samples(kind), 0
    for _ in range(count):
        data = mutated(kind, rng.choice(files), rng.choice(files), rng, MOST_BYTES)
        try:
            check(kind, data, Budget(60.0, 100, 1 << 28))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
            status = 1
            print(kind, *finding_of(error), len(data), data[:2000].hex(), flush=True)
    return status


class Target:
    """What Atheris calls: tries an input, and keeps the smallest that fails in each way."""

    def __init__(self, kind: str, folder: Path) -> None:
        from fuzz.guard import Budget, mapped_bytes
        from fuzz.seeds import samples

        self.kind, self.findings = kind, folder / "findings"
        self.budget = Budget(2.0 * SLACK)
        self.count = self.read = 0
        self.counts = folder / f"count-{os.getpid()}"
        self.told = 0.0
        for data in samples(kind):
            self(data)
        self.start = mapped_bytes()

    def __call__(self, data: bytes) -> None:
        """Try an input."""
        from fuzz.guard import mapped_bytes
        from fuzz.properties import check

        self.count += 1
        try:
            self.read += check(self.kind, data, self.budget)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
            self._keep(data, error)
        if time.monotonic() - self.told > COUNT_SECONDS:
            self.told = time.monotonic()
            self.tell()
            if mapped_bytes() - getattr(self, "start", 1 << 60) > TOO_STALE:
                os._exit(REPLACED)

    def tell(self) -> None:
        """Write how many inputs there were, and how many of them were read."""
        self.counts.write_text(f"{self.count} {self.read}", encoding="ascii")

    def _keep(self, data: bytes, error: BaseException) -> None:
        name, _ = finding_of(error)
        digest = hashlib.sha256(name.encode()).hexdigest()[:8]
        path = self.findings / f"{re.sub(r'[^A-Za-z0-9_.-]+', '', name)[:80]}-{digest}.bin"
        with contextlib.suppress(OSError):
            if not path.exists() or path.stat().st_size > len(data):
                path.write_bytes(data)


def blind(kind: str, folder: Path, options: list[str]) -> int:
    """Try mutations of the seeds, so many or until the time is over: where no branches are counted, none is kept."""
    from fuzz.mutate import mutated
    from fuzz.seeds import large, samples

    given = dict(option[1:].split("=", 1) for option in options if option.startswith("-"))
    rng, end = Random(int(given["seed"])), time.monotonic() + float(given.get("max_total_time", math.inf))
    target, files, many = Target(kind, folder), samples(kind), large(kind)
    for _ in range(int(given["runs"])) if "runs" in given else count():
        if time.monotonic() >= end:
            break
        data = rng.choice(many if many and rng.randrange(LARGE_SELDOM) == 0 else files)
        target(mutated(kind, data, rng.choice(files), rng, MOST_BYTES))
    target.tell()
    return 0


def fuzz(kind: str, folder: Path, options: list[str]) -> int:
    """Let Atheris run until it is told to stop; options are libFuzzer's. Without it inputs are made blindly."""
    try:
        import atheris
    except ImportError:
        return blind(kind, folder, options)
    with atheris.instrument_imports(include=[PACKAGE]):
        import fuzz.properties  # noqa: F401 - and with it the package
    from fuzz.mutate import mutated, spliced
    from fuzz.seeds import large, samples

    others, many = samples(kind), large(kind)

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        rng = Random(seed)
        if many and rng.randrange(LARGE_SELDOM) == 0:
            return mutated(kind, rng.choice(many), rng.choice(others), rng, most)
        if rng.random() < 0.25:
            changed: bytes = atheris.Mutate(data, most)
            return changed
        return mutated(kind, data, rng.choice(others), rng, most)

    def cross(data: bytes, other: bytes, most: int, seed: int) -> bytes:
        return spliced(data, other, Random(seed))[:most]

    target: Any = Target(kind, folder)
    atheris.Setup([sys.argv[0], *options], target, custom_mutator=mutate, custom_crossover=cross)
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        sys.exit(serve())
    if sys.argv[1] == "short":
        sys.exit(max(short(int(sys.argv[2]), kind) for kind in sys.argv[3:]))
    sys.exit(fuzz(sys.argv[2], Path(sys.argv[3]), sys.argv[4:]))
