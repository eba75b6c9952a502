"""Converting in several processes: a line of JSON for each file to a worker's standard input, one back with what came.

A worker that dies fails its present file alone, and another takes its place. Ctrl-C lets the workers finish the files
that they have; a second one ends them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

ANSWER = "\x1didtech "  # Blender's own chatter shares the worker's standard output
TICK = 0.5  # seconds; Windows lets nobody interrupt a wait without an end


@dataclass(frozen=True)
class Job:
    """One file to convert."""

    source: Path
    target: Path


Report = Callable[[Job, str, str], None]  # of a file a line, or an error's sentence


@dataclass
class Crew:
    """Worker processes that `command` starts, called as `program` in sentences."""

    command: Sequence[str]
    program: str
    report: Report
    waiting: deque[Job] = field(default_factory=deque)
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    def work(self, jobs: Sequence[Job], count: int, check: Callable[[], None]) -> None:
        """Convert files in at most so many processes, until `check` raises KeyboardInterrupt.

        Raises:
            KeyboardInterrupt: the files at hand are done, unless a second interruption came.
            Exception: of `report`; no further file is begun then.
        """
        self.waiting.extend(jobs)
        count = min(count, len(jobs))
        with ThreadPoolExecutor(count) as threads:
            futures = [threads.submit(self._serve) for _ in range(count)]
            is_stopped = False
            try:
                while wait(futures, TICK).not_done:
                    if self.waiting and _is_interrupted(check):  # the last files are let finish
                        self.waiting.clear()
                        is_stopped = True
            except KeyboardInterrupt:  # the second one
                self.waiting.clear()
                for process in list(self.processes):
                    process.kill()
                raise
            if is_stopped:
                raise KeyboardInterrupt
            for future in futures:
                future.result()

    def _serve(self) -> None:
        """Feed one process after another with the files that wait."""
        try:
            while self.waiting:
                with tempfile.TemporaryFile() as errors, self._start(errors) as process:
                    self.processes.append(process)
                    self._feed(process, errors)
                    _close(process)
                    self.processes.remove(process)
        except BaseException:
            self.waiting.clear()
            raise

    def _feed(self, process: subprocess.Popen[str], errors: IO[bytes]) -> None:
        """Let a process convert files as long as it lives, and any wait."""
        with suppress(IndexError):  # no file waits any more
            while self._ask(process, self.waiting.popleft(), errors):
                pass

    def _start(self, errors: IO[bytes]) -> subprocess.Popen[str]:
        """Start a process that the terminal's Ctrl-C does not reach: we say when it ends."""
        pipe = subprocess.PIPE
        alone: dict[str, Any] = {"start_new_session": True}
        if sys.platform == "win32":
            alone = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
        return subprocess.Popen(
            self.command, stdin=pipe, stdout=pipe, stderr=errors, text=True, encoding="utf-8", **alone
        )

    def _ask(self, process: subprocess.Popen[str], job: Job, errors: IO[bytes]) -> bool:
        """Let a process convert one file; returns whether it still lives."""
        answered = _answer_of(process, job)
        if answered:
            self.report(job, *json.loads(answered))
            return True
        process.wait()
        errors.seek(0)
        lines = errors.read().decode("utf-8", errors="replace").strip().splitlines()
        self.report(job, "", f"{self.program} ended on it: {lines[-1] if lines else f'status {process.returncode}'}")
        return False


def _is_interrupted(check: Callable[[], None]) -> bool:
    try:
        check()
    except KeyboardInterrupt:
        return True
    return False


def _answer_of(process: subprocess.Popen[str], job: Job) -> str:
    """Return what a process answers to a job, in JSON; "" if it ends on it."""
    assert process.stdin is not None and process.stdout is not None
    with suppress(OSError):
        process.stdin.write(json.dumps([str(job.source), str(job.target)]) + "\n")
        process.stdin.flush()
        return next((line[len(ANSWER) :] for line in process.stdout if line.startswith(ANSWER)), "")
    return ""


def _close(process: subprocess.Popen[str]) -> None:
    """Let a worker end: its input does."""
    try:
        if process.stdin is not None:
            process.stdin.close()
    except OSError:
        pass  # it died with something unread
    process.wait()


def answer(convert: Callable[[Job], tuple[str, str]]) -> None:
    """Be a worker: convert what lines on standard input name, from where and to where, until that ends."""
    for line in sys.stdin:
        job = Job(*map(Path, json.loads(line)))
        sys.stdout.write(ANSWER + json.dumps(convert(job)) + "\n")
        sys.stdout.flush()
