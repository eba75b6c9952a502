"""Run steps side by side without mixing their output, count tests, and sum up."""

from __future__ import annotations

import threading
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Callable

from .common import BuildError, MissingPythonError, indented

PASSED, FAILED, LEFT_OUT = "passed", "FAILED", "left out"
SHORT_SUMMARY = "short test summary info"


@dataclass(frozen=True)
class Counts:
    """How many tests passed, failed and were skipped."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Counts) -> Counts:
        """Sum two counts."""
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self) -> str:
        """Write the counts as the run's last line does."""
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"

    @property
    def total(self) -> int:
        """How many tests were run or skipped."""
        return self.passed + self.failed + self.skipped


@dataclass(frozen=True)
class Outcome:
    """How a step ended."""

    result: str
    output: str = ""
    counts: Counts | None = None  # None for a step that runs no tests
    seconds: float = 0.0

    @classmethod
    def of(cls, status: int, output: str, counts: Counts | None = None) -> Outcome:
        """Judge a step by its exit status and its tests.

        A program that fails with no failed test in its report (a crash, an error of collection) counts as one.
        """
        if counts is not None and not counts.total and not status:
            status, output = 1, output + "\nno tests were run\n"
        if status and counts is not None and not counts.failed:
            counts += Counts(failed=1)
            output += f"\npytest ended with exit status {status}\n"
        return cls(FAILED if status else PASSED, output, counts)


def read_junit(path: Path) -> Counts:
    """Count the tests of a JUnit report; a report that a crash left unwritten counts none."""
    try:
        suites = list(ElementTree.parse(path).getroot().iter("testsuite"))
    except (OSError, ElementTree.ParseError):
        return Counts()
    total = Counts()
    for suite in suites:
        tests, failures, errors, skipped = (int(suite.get(k, 0)) for k in ("tests", "failures", "errors", "skipped"))
        total += Counts(tests - failures - errors - skipped, failures + errors, skipped)
    return total


def run_steps(steps: Sequence[tuple[str, Callable[[], Outcome]]], workers: int) -> dict[str, Outcome]:
    """Run steps in parallel, print each one's output in one piece when it ends, and return the outcomes in order."""
    printing = threading.Lock()
    interrupted = threading.Event()

    def run(step: tuple[str, Callable[[], Outcome]]) -> tuple[str, Outcome]:
        name, outcome = step[0], timed(step[1])
        with printing:
            if not interrupted.is_set():
                show(name, outcome)
        return name, outcome

    with ThreadPoolExecutor(workers) as pool:
        try:
            return dict(pool.map(run, steps))
        except KeyboardInterrupt:  # the steps' programs got the same signal and are ending
            interrupted.set()
            raise


def timed(step: Callable[[], Outcome]) -> Outcome:
    """Run one step; what it can't do becomes its outcome."""
    start = time.monotonic()
    try:
        outcome = step()
    except MissingPythonError as error:
        outcome = Outcome(LEFT_OUT, str(error))
    except BuildError as error:
        outcome = Outcome(FAILED, str(error))
    return replace(outcome, seconds=time.monotonic() - start)


def show(name: str, outcome: Outcome) -> None:
    """Print how a step ended: everything if it failed, else pytest's remarks (what was skipped and why)."""
    print(f"== {name}: {outcome.result} in {outcome.seconds:.1f} s", flush=True)
    output = outcome.output if outcome.result != PASSED else remarks(outcome.output)
    if output.strip():
        print(indented(output.strip("\n")), flush=True)


def remarks(output: str) -> str:
    """Return the end of pytest's output: its short summary if there is one, and its last line."""
    lines = output.rstrip().splitlines()
    if not lines or "pytest" not in lines[0]:
        return ""
    start = next((i for i, line in enumerate(lines) if SHORT_SUMMARY in line), len(lines) - 1)
    return "\n".join(lines[start:])


def summarise(results: Mapping[str, Outcome], tests_expected: bool, strict: bool) -> int:
    """Print the table and the counts, and return the exit status; ``strict`` allows nothing to be left out."""
    width = max([len("step"), *map(len, results)])
    print(f"\n{'step':{width}}  {'result':8}  {'seconds':>7}  tests")
    for name, outcome in results.items():
        note = outcome.output if outcome.result == LEFT_OUT else str(outcome.counts or "")
        print(f"{name:{width}}  {outcome.result:8}  {outcome.seconds:7.1f}  {note}".rstrip())
    failures = [name for name, outcome in results.items() if outcome.result == FAILED]
    left_out = [name for name, outcome in results.items() if outcome.result == LEFT_OUT]
    if left_out and strict:
        print("\nCI is set, so nothing may be left out: " + ", ".join(left_out))
    total = sum((outcome.counts for outcome in results.values() if outcome.counts), Counts())
    no_tests = tests_expected and not total.total
    if no_tests:
        print("\nNo test was run.")
    print(f"\n{total}", flush=True)
    return int(bool(failures or (left_out and strict) or no_tests))
