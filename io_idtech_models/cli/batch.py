"""Many files at once: which files arguments mean, where each goes, and what is said of it."""

from __future__ import annotations

import argparse
import glob
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import formats
from ..reporting import LimitError, ModelError, reason
from .workers import Crew, Job, Report, answer

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130
MODEL_SUFFIXES = tuple(suffix for row in formats.ROWS if row.has_model for suffix in row.suffixes)
SUFFIXES = tuple(suffix for row in formats.ROWS for suffix in row.suffixes)
ANIMATION_SUFFIXES = tuple(suffix for suffix in SUFFIXES if suffix not in MODEL_SUFFIXES)


NOT_PASSED = {"run", "files", "jobs", "to", "report"}


@dataclass
class Converter:
    """What converts a job; Blender's offers more suffixes. `convert` returns one line for the summary."""

    readable: tuple[str, ...]
    writable: tuple[str, ...]
    convert: Callable[[Job, argparse.Namespace], str]
    worker: Callable[[str], list[str]]  # the command that starts a process which runs `serve` with these options
    program: str = "Python"  # that runs it
    hint: str = ""  # where else to turn for another suffix
    add_options: Callable[[argparse.ArgumentParser], None] | None = None


def say(text: str, stream: Any = None) -> None:
    """Print a line: what a terminal might obey, and what its encoding lacks, is replaced; names come from strangers."""
    stream = stream or sys.stdout
    plain = "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)
    encoding = getattr(stream, "encoding", None) or "utf-8"
    print(plain.encode(encoding, errors="replace").decode(encoding), file=stream, flush=True)


def warn(text: str) -> None:
    """Print a line to standard error; see `say`."""
    say(text, sys.stderr)


def expand(files: Iterable[str], suffixes: tuple[str, ...]) -> tuple[list[Path], list[str]]:
    """Return the files that names, folders (whole trees) and globs mean, and the folders and globs without any.

    A name that is no file stays, to fail later. Files that several arguments mean come once.
    """
    found: dict[str, Path] = {}
    barren = []
    for name in files:
        path = Path(name)
        if _is_dir(path):
            here = sorted(p for p in path.rglob("*") if p.suffix.lower() in suffixes and p.is_file())
        elif glob.has_magic(name) and not _exists(path):
            here = sorted(Path(match) for match in glob.glob(name, recursive=True))  # noqa: PTH207 - takes any root
        else:
            here = [path]
        if not here:
            barren.append(name)
        for each in here:
            found.setdefault(_place(each), each)
    return list(found.values()), barren


def _exists(path: Path) -> bool:
    return os.path.exists(path)  # noqa: PTH110 - Path's own raises where a name is too long


def _is_dir(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - as above


def _place(path: Path) -> str:
    """Return one spelling for each place: where a path leads, links followed."""
    return os.path.normcase(os.path.realpath(path))


def plan_jobs(options: argparse.Namespace, converter: Converter) -> list[Job]:
    """Return the files to convert and where each goes.

    Raises:
        ModelError: the arguments do not say where, or a suffix can't be written.
    """
    files = list(options.files)
    output = _output(files, options.to, converter)
    suffix = "." + options.to.lower().lstrip(".") if options.to else str(output.suffix if output else "").lower()
    if suffix not in (*converter.writable, *ANIMATION_SUFFIXES):
        written = ", ".join(dict.fromkeys(converter.writable))
        raise LimitError(f"can't write '{suffix or output}', only {written}{_hint(converter)}")
    kept = MODEL_SUFFIXES if output is not None else ()  # in a folder, what is of that kind already is no input
    readable = ANIMATION_SUFFIXES if _is_animation(suffix) else converter.readable
    sources, barren = expand(files, tuple(s for s in readable if s != suffix or s in kept))
    if barren:
        raise LimitError(f"nothing to convert in '{barren[0]}'")
    if options.to:
        return _distinct([Job(source, _target(source, output, files, suffix)) for source in sources])
    if len(sources) > 1:
        raise LimitError("several inputs need --to SUFFIX and an output folder")
    return _distinct([Job(source, output) for source in sources if output])


def _output(files: list[str], suffix: str | None, converter: Converter) -> Path | None:
    """Take the output, a file or (with a suffix, where there is one) a folder, off the arguments; raises LimitError."""
    if suffix:
        return Path(files.pop()) if len(files) > 1 and _is_folder(files[-1], converter) else None
    if len(files) < 2:
        raise LimitError("say where to write: an output file, or --to SUFFIX")
    output = Path(files.pop())
    if _is_dir(output):
        raise LimitError(f"'{output}' is a folder: say with --to SUFFIX what to write into it")
    return output


def _is_animation(suffix: str) -> bool:
    return suffix in ANIMATION_SUFFIXES


def _hint(converter: Converter) -> str:
    return f"; {converter.hint}" if converter.hint else ""


def _is_folder(name: str, converter: Converter) -> bool:
    """Tell whether the last argument is the output folder, and not one more input."""
    path = Path(name)
    if _is_dir(path):
        return True
    return not _exists(path) and not glob.has_magic(name) and path.suffix.lower() not in converter.readable


def _target(source: Path, output: Path | None, files: list[str], suffix: str) -> Path:
    """Return where a file goes: beside itself, or into the output folder, there below the folder it was found in."""
    if output is None:
        return source.with_suffix(suffix)
    roots = [Path(name) for name in files if _is_dir(Path(name))]
    root = next((root for root in roots if source.is_relative_to(root)), source.parent)
    return (output / source.relative_to(root)).with_suffix(suffix)


def _distinct(jobs: list[Job]) -> list[Job]:
    """Return the jobs if no file would be written twice or over an input; raises LimitError."""
    taken: dict[str, Path] = {}
    sources = {_place(job.source): job.source for job in jobs}
    for job in jobs:
        place = _place(job.target)
        if place in sources:
            raise LimitError(f"'{job.target}' is an input: it would be written over")
        if place in taken:
            raise LimitError(f"'{taken[place]}' and '{job.source}' would both become '{job.target}'")
        taken[place] = job.source
    return jobs


def convert(options: argparse.Namespace, converter: Converter) -> int:
    """Convert what the arguments mean, one file after another or several at once; returns the exit status."""
    try:
        jobs = plan_jobs(options, converter)
        with ExitStack() as stack:
            log = Log(len(jobs), _open_report(options.report, stack))
            waiting = [job for job in jobs if not (options.skip_existing and _exists(job.target))]
            log.skipped = len(jobs) - len(waiting)
            try:
                work(waiting, options, converter, log.report)
            except KeyboardInterrupt:
                warn(f"stopped: {log.summary()}; --skip-existing goes on from here")
                raise
    except ModelError as error:
        warn(f"convert: {error}")
        return USAGE
    if len(jobs) > 1:
        say(log.summary())
    return FAILED if log.failed else OK


def work(jobs: list[Job], options: argparse.Namespace, converter: Converter, report: Report) -> None:
    """Convert files, one after another or several at once, as the options say; raises KeyboardInterrupt."""
    with interruptible(at_once=len(jobs) < 2) as check:
        if min(options.jobs, len(jobs)) > 1:
            Crew(converter.worker(_passed(options)), converter.program, report).work(jobs, options.jobs, check)
            return
        for job in jobs:
            report(job, *run_job(job, options, converter))
            check()


@contextmanager
def interruptible(at_once: bool) -> Iterator[Callable[[], None]]:
    """Let Ctrl-C wait for the file at hand: what is yielded raises KeyboardInterrupt then. A second one does `at_once`.

    Blender without a window would have its own answer, and its operators take the exception for an error of theirs.
    """
    seen = False

    def stop(_number: int, _frame: Any) -> None:
        nonlocal seen
        if seen or at_once:
            raise KeyboardInterrupt
        seen = True

    def check() -> None:
        if seen:
            raise KeyboardInterrupt

    # The main thread alone may handle signals; and a shell's background jobs are told to ignore this one.
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield check
        return
    before = signal.signal(signal.SIGINT, stop)
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, before if before is not None else signal.default_int_handler)


def _passed(options: argparse.Namespace) -> str:
    """Return the options that a worker process needs."""
    return json.dumps({name: value for name, value in vars(options).items() if name not in NOT_PASSED})


def serve(passed: str, converter: Converter) -> int:
    """Be a worker process; returns the exit status."""
    options = argparse.Namespace(**json.loads(passed))
    answer(lambda job: run_job(job, options, converter))
    return OK


def _open_report(name: str | None, stack: ExitStack) -> Any:
    """Return the file to write a report to, or None; raises LimitError."""
    if name is None:
        return None
    try:
        return stack.enter_context(Path(name).open("w", encoding="utf-8", newline="\n"))
    except OSError as error:
        raise LimitError(f"can't write '{name}': {reason(error)}") from error


class Log:
    """What is said of each file while it is worked on, and of all at the end; several threads may report."""

    def __init__(self, total: int, file: Any) -> None:
        self.total, self.file = total, file
        self.done = self.failed = self.skipped = 0
        self._start, self._lock = time.monotonic(), threading.Lock()

    def report(self, job: Job, line: str, error: str) -> None:
        """Say what came of a file: a line, or an error's sentence."""
        with self._lock:
            self.done += 1
            self.failed += bool(error)
            place = f"[{self.skipped + self.done}/{self.total}] " if self.total > 1 else ""
            if error:
                warn(f"{place}{job.source}: {error}")
            else:
                say(f"{place}{job.source} -> {job.target}: {line}")
            if self.file is not None:
                record = {"source": str(job.source), "target": str(job.target), "done": line, "error": error}
                self.file.write(json.dumps(record) + "\n")
                self.file.flush()  # who looks at it while we work, or after we were stopped, sees all

    def summary(self) -> str:
        """Return the line for all files."""
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        seconds = time.monotonic() - self._start
        return f"{self.done - self.failed} converted, {self.failed} failed{skipped}, {seconds:.1f} s"


def run_job(job: Job, options: argparse.Namespace, converter: Converter) -> tuple[str, str]:
    """Convert one file; returns a line for the summary, and an error's sentence or ""."""
    suffix = job.source.suffix.lower()
    if not _exists(job.source):
        return "", "no such file"
    if _is_animation(suffix) and not _is_animation(job.target.suffix.lower()):
        return "", f"an animation is no model: convert a model with '--anim {job.source.name}'"
    if suffix not in (*converter.readable, *ANIMATION_SUFFIXES):
        return "", f"can't read '{suffix or job.source.name}', only {', '.join(converter.readable)}{_hint(converter)}"
    try:
        job.target.parent.mkdir(parents=True, exist_ok=True)
        return converter.convert(job, options), ""
    except ModelError as error:
        return "", str(error)
    except OSError as error:
        return "", f"can't write '{job.target}': {reason(error)}"
