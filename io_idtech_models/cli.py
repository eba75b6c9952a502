"""The command line: info, check, convert. numpy only; inside Blender `ui.cli` adds what needs Blender to `convert`."""

from __future__ import annotations

import argparse
import glob
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import conversion, formats
from .errors import LimitError, ModelError, collected_warnings
from .model import limits
from .sheet import facts, table
from .storage import reason

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130
MODEL_SUFFIXES = tuple(s for row in formats.ALL if not isinstance(row, formats.AnimationFormat) for s in row.suffixes)
SUFFIXES = tuple(suffix for row in formats.ALL for suffix in row.suffixes)


@dataclass(frozen=True)
class Job:
    """One file to convert."""

    source: Path
    target: Path


@dataclass
class Converter:
    """What converts a job; Blender's offers more suffixes. `convert` returns one line for the summary."""

    readable: tuple[str, ...]
    writable: tuple[str, ...]
    convert: Callable[[Job, argparse.Namespace], str]
    hint: str = ""  # where else to turn for another suffix
    workers: Callable[[list[Job], argparse.Namespace, Callable[[Job, str, str], None]], None] | None = None
    add_options: Callable[[argparse.ArgumentParser], None] | None = None


def convert_plain(job: Job, options: argparse.Namespace) -> str:
    """Convert between formats, without Blender; returns a line. Raises ModelError."""
    own = own_options(formats.by_suffix(job.target), options)
    animations = [Path(name) for name in options.anim]
    return conversion.convert(job.source, job.target, options.game, own, animations, options.tags)


def own_options(row: formats.AnyFormat | None, options: argparse.Namespace) -> dict[str, Any]:
    """Return a format's own options of an export as the command line gives them."""
    return {option.name: getattr(options, option.name) for option in getattr(row, "options", ())}


PLAIN = Converter(
    MODEL_SUFFIXES,
    MODEL_SUFFIXES,
    convert_plain,
    "use Blender for other formats: python3 build.py convert, or blender -c idtech convert",
)


def main(argv: list[str], converter: Converter = PLAIN) -> int:
    """Run a command; returns the exit status: 0, 1 if a file failed, 2 for a usage error, 130 after Ctrl-C."""
    try:
        options = _parse(argv, converter)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else USAGE
    try:
        status = int(options.run(options, converter))
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # who reads our output has seen enough: `info ... | head`
        return FAILED
    return status


def _parse(argv: list[str], converter: Converter) -> argparse.Namespace:
    """Return the options; raises SystemExit. Options may stand between the files, which subparsers can't do."""
    parser, commands = _parsers(converter)
    if argv and argv[0] in commands:
        return commands[argv[0]].parse_intermixed_args(argv[1:])
    return parser.parse_args(argv)


def _parsers(converter: Converter) -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    parser = argparse.ArgumentParser(prog="idtech", description="Models of id Software's engines.")
    commands = parser.add_subparsers(required=True, metavar="info | check | convert")
    info = commands.add_parser("info", help="show what a model holds")
    check = commands.add_parser("check", help="tell what is broken, or what a game would refuse")
    convert = commands.add_parser("convert", help="convert files", description=_convert_help(converter))
    for command, run in ((info, _info), (check, _check)):
        command.add_argument("files", nargs="+", metavar="FILE")
        command.add_argument("--json", action="store_true", help="for programs")
        command.set_defaults(run=run)
    check.add_argument("--game", choices=conversion.GAMES, default="format")
    convert.add_argument("files", nargs="+", metavar="FILE", help="inputs (files, folders, globs), then the output")
    convert.add_argument("--to", metavar="SUFFIX", help="write this format; the output is then a folder, or left out")
    convert.add_argument("--game", choices=conversion.GAMES, default="format", help="whose limits to keep")
    for row in formats.FORMATS:
        for option in row.options:
            _add_option(convert, row, option)
    anim = "an animation for a skeletal model that becomes a vertex-animated one; may come several times"
    convert.add_argument("--anim", metavar="FILE", action="append", default=[], help=anim)
    convert.add_argument("--tags", metavar="JOINTS", type=_names, default=[], help="joints that become tags: a,b,c")
    convert.set_defaults(jobs=1)
    if converter.workers is not None:
        convert.add_argument("--jobs", type=_count, metavar="N", help="work on N files at once (1)")
    if converter.add_options is not None:
        converter.add_options(convert)
    convert.set_defaults(run=_convert)
    return parser, {"info": info, "check": check, "convert": convert}


def _add_option(parser: argparse.ArgumentParser, row: formats.Format, option: formats.Option) -> None:
    """Declare an option that one format has."""
    flag, said = "--" + option.name.replace("_", "-"), f"{row.suffixes[0]}: {option.description}"
    if isinstance(option.default, bool):
        parser.add_argument(flag, dest=option.name, action="store_true", help=said)
        return

    def number(text: str) -> int:
        if not text.isdecimal() or int(text) > option.most:
            raise argparse.ArgumentTypeError(f"'{text}' is no number from 0 to {option.most}")
        return int(text)

    parser.add_argument(flag, dest=option.name, type=number, default=option.default, metavar="N", help=said)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 1 on")
    return int(text)


def _convert_help(converter: Converter) -> str:
    read, write = ("  ".join(dict.fromkeys(s)) for s in (converter.readable, converter.writable))
    return f"Reads {read}; writes {write}. One input and an output file, or inputs, --to SUFFIX and an output folder."


def _say(text: str, stream: Any = None) -> None:
    """Print a line: what a terminal might obey, and what its encoding lacks, is replaced; names come from strangers."""
    stream = stream or sys.stdout
    plain = "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)
    encoding = getattr(stream, "encoding", None) or "utf-8"
    print(plain.encode(encoding, errors="replace").decode(encoding), file=stream, flush=True)


def _warn(text: str) -> None:
    _say(text, sys.stderr)


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


def _models(options: argparse.Namespace) -> tuple[list[Path], list[str]]:
    """Return the files of `info` and `check`, and a complaint for each argument that means none."""
    paths, barren = expand(options.files, SUFFIXES)
    return paths, [f"{name}: no model there" for name in barren]


def _info(options: argparse.Namespace, converter: Converter) -> int:
    paths, complaints = _models(options)
    for complaint in complaints:
        _warn(complaint)
    records, failed = [], bool(complaints)
    for path in paths:
        try:
            with collected_warnings():
                found = facts(*conversion.load(path))
        except ModelError as error:
            failed = True
            _warn(f"{path}: {error}")
            continue
        records.append({"file": str(path)} | found)
        if not options.json:
            _say("\n".join(table(path, found)))
    if options.json:
        _say(json.dumps(records, indent=2))
    return FAILED if failed else OK


def _check(options: argparse.Namespace, converter: Converter) -> int:
    paths, complaints = _models(options)
    for complaint in complaints:
        _warn(complaint)
    records, failed = [], bool(complaints)
    for path in paths:
        found = _problems(path, options.game)
        failed |= any(severity == limits.ERROR for severity, _ in found)
        records.append({"file": str(path), "problems": [{"severity": s, "text": t} for s, t in found]})
        if not options.json:
            _say("\n".join([f"{path}:" if found else f"{path}: ok", *(f"  {s}: {t}" for s, t in found)]))
    if options.json:
        _say(json.dumps(records, indent=2))
    return FAILED if failed else OK


def _problems(path: Path, game: str) -> list[tuple[str, str]]:
    """Return what is broken or odd in a file, and what a game refuses or changes of it: severity and text."""
    with collected_warnings() as warnings:
        try:
            found = [(p.severity, str(p)) for p in conversion.problems(*conversion.load(path), game)]
        except ModelError as error:
            found = [(limits.ERROR, str(error))]
    return [*((limits.WARNING, text) for text in warnings), *found]


def plan_jobs(options: argparse.Namespace, converter: Converter) -> list[Job]:
    """Return the files to convert and where each goes.

    Raises:
        ModelError: the arguments do not say where, or a suffix can't be written.
    """
    files = list(options.files)
    output = _output(files, options.to, converter)
    suffix = "." + options.to.lower().lstrip(".") if options.to else str(output.suffix if output else "").lower()
    if suffix not in converter.writable:
        written = ", ".join(dict.fromkeys(converter.writable))
        raise LimitError(f"can't write '{suffix or output}', only {written}{_hint(converter)}")
    kept = MODEL_SUFFIXES if output is not None else ()  # in a folder, what is of that kind already is no input
    sources, barren = expand(files, tuple(s for s in converter.readable if s != suffix or s in kept))
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


def _convert(options: argparse.Namespace, converter: Converter) -> int:
    try:
        jobs = plan_jobs(options, converter)
    except ModelError as error:
        _warn(f"convert: {error}")
        return USAGE
    done = failed = 0
    start, lock = time.monotonic(), threading.Lock()

    def report(job: Job, line: str, error: str) -> None:
        nonlocal done, failed
        with lock:
            done += 1
            place = f"[{done}/{len(jobs)}] " if len(jobs) > 1 else ""
            if error:
                failed += 1
                _warn(f"{place}{job.source}: {error}")
            else:
                _say(f"{place}{job.source} -> {job.target}: {line}")

    if converter.workers is not None and min(options.jobs, len(jobs)) > 1:
        converter.workers(jobs, options, report)
    else:
        for job in jobs:
            report(job, *run_job(job, options, converter))
    if len(jobs) > 1:
        _say(f"{done - failed} converted, {failed} failed, {time.monotonic() - start:.1f} s")
    return FAILED if failed else OK


def run_job(job: Job, options: argparse.Namespace, converter: Converter) -> tuple[str, str]:
    """Convert one file; returns a line for the summary, and an error's sentence or ""."""
    suffix = job.source.suffix.lower()
    if not _exists(job.source):
        return "", "no such file"
    if suffix not in converter.readable:
        return "", f"can't read '{suffix or job.source.name}', only {', '.join(converter.readable)}{_hint(converter)}"
    try:
        job.target.parent.mkdir(parents=True, exist_ok=True)
        return converter.convert(job, options), ""
    except ModelError as error:
        return "", str(error)
    except OSError as error:
        return "", f"can't write '{job.target}': {reason(error)}"
