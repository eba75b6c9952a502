"""Many files at once: where each goes, how they are converted, and what is reported of it."""

from __future__ import annotations

import argparse
import glob
import json
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import formats
from ..assets.levels import level_targets
from ..assets.storage import claiming
from ..game.folders import Disk
from ..game.player.files import player_in
from ..game.store import real_path
from ..reporting import LimitError, ModelError, listed, reason
from .claims import Claims
from .console import say, warn
from .inputs import SUFFIXES, Input, exists, expand, is_dir, is_in_archive
from .workers import Crew, Job, Report, answer

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130
FOLDS_CASE = sys.platform in {"win32", "darwin"}  # there `A.md3` and `a.md3` are one file, as a rule
MODEL_SUFFIXES = tuple(suffix for row in formats.ROWS if row.has_model for suffix in row.suffixes)
ANIMATION_SUFFIXES = tuple(suffix for suffix in SUFFIXES if suffix not in MODEL_SUFFIXES)


NOT_PASSED = {"run", "files", "jobs", "report"}


@dataclass
class Converter:
    """What converts a job; Blender's offers more suffixes. `convert` returns one line for the summary."""

    readable: tuple[str, ...]
    writable: tuple[str, ...]
    convert: Callable[[Job, argparse.Namespace], str]
    worker: Callable[[str], list[str]]  # the command that starts a process which runs `serve` with these options
    program: str = "Python"  # that runs it
    hint: str = ""  # where else to turn for another suffix
    players: bool = False  # whether it converts whole players, which are folders
    add_options: Callable[[argparse.ArgumentParser], None] | None = None


def plan_jobs(options: argparse.Namespace, converter: Converter) -> list[Job]:
    """Return the files to convert and where each goes.

    Raises:
        ModelError: the arguments do not say where, or a suffix can't be written.
    """
    files = list(options.files)
    output = _output(files, options.to, converter)
    suffix = "." + options.to.lower().lstrip(".") if options.to else str(output.suffix if output else "").lower()
    written = dict.fromkeys((*converter.writable, *ANIMATION_SUFFIXES))
    if suffix not in written:
        raise LimitError(f"can't write '{suffix or output}', only {', '.join(written)}{_hint(converter)}")
    if output is not None and len(files) == 1 and not options.to and is_player(Path(files[0]), converter):
        return _distinct([Job(Path(files[0]), output)], 0)
    kept = MODEL_SUFFIXES if output is not None else ()  # in a folder, what is of that kind already is no input
    readable = ANIMATION_SUFFIXES if suffix in ANIMATION_SUFFIXES else converter.readable
    sources, without_models = expand(files, tuple(s for s in readable if s != suffix or s in kept))
    for name, why in without_models.items():
        raise LimitError(f"'{name}': {why}" if why else f"nothing to convert in '{name}'")
    if options.to:
        jobs = [Job(source.path, _target(source, output, suffix)) for source in sources]
        return _distinct(jobs, len(options.levels))
    if len(sources) > 1:
        raise LimitError("several inputs need --to SUFFIX and an output folder")
    return _distinct([Job(source.path, output) for source in sources if output], len(options.levels))


def _output(files: list[str], suffix: str | None, converter: Converter) -> Path | None:
    """Take the output, a file or (with a suffix, where there is one) a folder, off the arguments; raises LimitError."""
    if suffix:
        return Path(files.pop()) if len(files) > 1 and _is_folder(files[-1], converter) else None
    if len(files) < 2:
        raise LimitError("say where to write: an output file, or --to SUFFIX")
    output = Path(files.pop())
    if is_dir(output):
        raise LimitError(f"'{output}' is a folder: say with --to SUFFIX what to write into it")
    return output


def is_player(path: Path, converter: Converter) -> bool:
    """Tell whether a path is a whole player's folder, on disk or in an archive, for one who converts such."""
    if not converter.players or path.suffix.lower() in SUFFIXES or not (is_dir(path) or is_in_archive(path)):
        return False
    found = player_in(Disk().store(path))
    return found is not None and found.folder.name.lower() == path.name.lower()


def _hint(converter: Converter) -> str:
    return f"; {converter.hint}" if converter.hint else ""


def _is_folder(name: str, converter: Converter) -> bool:
    """Tell whether the last argument is the output folder, and not one more input."""
    path = Path(name)
    if is_dir(path):
        return True
    return not exists(path) and not glob.has_magic(name) and path.suffix.lower() not in converter.readable


def _target(source: Input, output: Path | None, suffix: str) -> Path:
    """Return where a file goes: beside itself, or into the output folder, there below the folder it was found in."""
    return (source.path if output is None else output / source.below).with_suffix(suffix)


def _distinct(jobs: list[Job], levels: int) -> list[Job]:
    """Return the jobs if no file would be written twice or over an input, with so many levels; raises LimitError."""
    taken: dict[str, Path] = {}
    sources = {_one_case(real_path(job.source)) for job in jobs}
    numbers = range(1, levels + 1)
    every = [(job.source, each) for job in jobs for each in (job.target, *level_targets(job.target, numbers))]
    for source, target in every:
        place = _one_case(real_path(target))
        if is_in_archive(target):
            raise LimitError(f"'{target}' is in an archive, which is only read: say where to write")
        if place in sources:
            raise LimitError(f"'{target}' is an input: it would be written over")
        if place in taken:
            raise LimitError(f"'{taken[place]}' and '{source}' would both become '{target}'")
        taken[place] = source
    return jobs


def _one_case(place: str) -> str:
    """Return a spelling that two places share where the system takes them for one."""
    return place.casefold() if FOLDS_CASE else place


def convert(options: argparse.Namespace, converter: Converter) -> int:
    """Convert what the arguments mean, one file after another or several at once; returns the exit status."""
    try:
        jobs = plan_jobs(options, converter)
        with ExitStack() as stack:
            log = Log(len(jobs), _open_report(options, converter, stack))
            waiting = [job for job in jobs if not (options.skip_existing and exists(job.target))]
            log.skipped = len(jobs) - len(waiting)
            options.claims = stack.enter_context(tempfile.TemporaryDirectory())
            stack.enter_context(leaving_no_empty_folders(waiting))
            try:
                work(waiting, options, converter, log.report)
            except KeyboardInterrupt:
                warn(f"stopped: {log.summary()}; --skip-existing goes on from here")
                raise
            except LimitError as error:  # no file's, which is reported
                warn(f"stopped: {error}; {log.summary()}; --skip-existing goes on from here")
                return FAILED
    except ModelError as error:
        warn(f"convert: {error}")
        return USAGE
    if len(jobs) > 1:
        say(log.summary())
    return FAILED if log.failed else OK


@contextmanager
def leaving_no_empty_folders(jobs: list[Job]) -> Iterator[None]:
    """Remove, in the end, the folders that were made for files which then could not be written.

    Each job makes its folder first, for what Blender writes needs it. No job removes one: another may be about to write
    there.
    """
    made = {folder for job in jobs for folder in job.target.parents if not exists(folder)}
    try:
        yield
    finally:
        for folder in sorted(made, key=lambda each: len(each.parts), reverse=True):
            with suppress(OSError):  # something is in it, or it was never made
                folder.rmdir()


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
    """Let Ctrl-C wait for the file at hand: what is yielded raises KeyboardInterrupt then.

    A second one raises it where it comes, and so does the first, if that is to be `at_once`.

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


def _open_report(options: argparse.Namespace, converter: Converter, stack: ExitStack) -> Any:
    """Return the file to write a report to, or None; a run that goes on from another one goes on with its report.

    Raises:
        LimitError: it can't be written, or is called as models are: its own name was forgotten.
    """
    name: str | None = options.report
    if name is None:
        return None
    if Path(name).suffix.lower() in {*converter.readable, *converter.writable, *ANIMATION_SUFFIXES}:
        raise LimitError(f"'{name}' would be written over by the report: --report takes the name of a new file first")
    try:
        mode = "ab" if options.skip_existing else "wb"
        # Unbuffered: who looks at it while we work, or after we were stopped, sees all.
        return stack.enter_context(Path(name).open(mode, buffering=0))
    except OSError as error:
        raise LimitError(f"can't write '{name}': {reason(error)}") from error


class Log:
    """What is reported of each file while it is worked on, and of all at the end; several threads may report."""

    def __init__(self, total: int, file: Any) -> None:
        self.total, self.file = total, file
        self.done = self.failed = self.skipped = 0
        self._start, self._lock = time.monotonic(), threading.Lock()

    def report(self, job: Job, line: str, error: str) -> None:
        """Say what came of a file: a line, or an error's sentence; raises LimitError where a report can't go on."""
        with self._lock:
            self.done += 1
            self.failed += bool(error)
            if self.file is not None:  # first, for the terminal may have gone
                record = {"source": str(job.source), "target": str(job.target), "done": line, "error": error}
                try:
                    self.file.write(json.dumps(record).encode() + b"\n")
                except OSError as failed:
                    raise LimitError(f"can't write '{self.file.name}': {reason(failed)}") from failed
            place = f"[{self.skipped + self.done}/{self.total}] " if self.total > 1 else ""
            if error:
                warn(f"{place}{job.source}: {error}")
            else:
                say(f"{place}{job.source} -> {job.target}: {line}")

    def summary(self) -> str:
        """Return the line for all files."""
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        seconds = time.monotonic() - self._start
        return f"{self.done - self.failed} converted, {self.failed} failed{skipped}, {seconds:.1f} s"


def _refusal(job: Job, converter: Converter) -> str:
    """Return why a file can't be converted, as its name alone tells; "" where it may be."""
    suffix, packed = job.source.suffix.lower(), is_in_archive(job.source)
    if is_player(job.source, converter):
        return ""
    if not (exists(job.source) or (packed and Disk().file(job.source).is_file())):
        return "no such file in the archive" if packed else "no such file"
    to = formats.by_suffix(job.target)
    if suffix in ANIMATION_SUFFIXES and not (to is not None and (to.family is formats.MOTION or to.motion.apart)):
        return f"an animation is no model: convert a model with '--anim {job.source.name}'"
    if packed and suffix not in SUFFIXES:
        return f"can't read '{suffix or job.source.name}' in an archive, only {', '.join(SUFFIXES)}: unpack it"
    if suffix not in (*converter.readable, *ANIMATION_SUFFIXES):
        return f"can't read '{suffix or job.source.name}', only {', '.join(converter.readable)}{_hint(converter)}"
    return ""


def run_job(job: Job, options: argparse.Namespace, converter: Converter) -> tuple[str, str]:
    """Convert one file; returns a line for the summary, and an error's sentence or ""."""
    refusal = _refusal(job, converter)
    if refusal:
        return "", refusal
    claims = Claims(Path(options.claims), str(job.source), lambda path: _one_case(real_path(path)))
    try:
        job.target.parent.mkdir(parents=True, exist_ok=True)
        with claiming(claims.claim):
            line = converter.convert(job, options)
        named = None if options.to else real_path(job.target)
        over = [path.name for path in claims.replaced if real_path(path) != named]
        return (f"{line}; written over: {listed(over)}" if over else line), ""
    except ModelError as error:
        return "", str(error)
    except OSError as error:
        return "", f"can't write '{job.target}': {reason(error)}"
