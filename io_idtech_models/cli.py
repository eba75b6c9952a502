"""The command line: info, check, convert. numpy only; inside Blender `ui.cli` adds what needs Blender to `convert`."""

from __future__ import annotations

import argparse
import glob
import json
import logging
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import formats
from .errors import LimitError, ModelError
from .model import limits
from .model.vertex import VertexModel
from .storage import read_file, write_file

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130
MODEL_SUFFIXES = tuple(suffix for row in formats.FORMATS for suffix in row.suffixes)


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
    add_options: Callable[[argparse.ArgumentParser], None] | None = field(default=None)


def load(path: Path) -> tuple[formats.Format, VertexModel]:
    """Return a file's format and model; raises ModelError."""
    data = read_file(path)
    row = formats.identify(data, path)
    return row, row.load(data, path.stem)


def convert_plain(job: Job, options: argparse.Namespace) -> str:
    """Convert between formats of one family, without Blender; raises ModelError."""
    row = formats.by_suffix(job.target)
    if row is None:
        raise LimitError(f"can't write '{job.target.suffix}'")
    _, model = load(job.source)
    refuse(model, options.game)
    write_file(job.target, row.dump(model))
    return describe(model)


def refuse(model: VertexModel, game: str) -> None:
    """Raise LimitError if the game would refuse the model."""
    errors = [str(problem) for problem in limits.check(model, game) if problem.severity == limits.ERROR]
    if errors:
        raise LimitError("; ".join(errors[:6]))


def describe(model: VertexModel) -> str:
    """Return what a model has, in words."""
    counts = ((len(model.surfaces), "surface"), (len(model.tags), "tag"), (model.num_frames, "frame"))
    return ", ".join(f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts)


PLAIN = Converter(
    MODEL_SUFFIXES,
    MODEL_SUFFIXES,
    convert_plain,
    "use Blender for other formats: python3 build.py convert, or blender -c idtech convert",
)


def main(argv: list[str], converter: Converter = PLAIN) -> int:
    """Run a command; returns the exit status: 0, 1 if a file failed, 2 for a usage error, 130 after Ctrl-C."""
    parser = _parser(converter)
    try:
        options = parser.parse_args(argv)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else USAGE
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("  note: %(message)s"))
    logger = logging.getLogger(__package__)
    logger.addHandler(handler)
    try:
        return int(options.run(options, converter))
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return FAILED
    finally:
        logger.removeHandler(handler)


def _parser(converter: Converter) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="idtech", description="Models of id Software's engines.")
    commands = parser.add_subparsers(required=True, metavar="info | check | convert")
    info = commands.add_parser("info", help="show what a model holds")
    check = commands.add_parser("check", help="tell what is broken, or what a game would refuse")
    convert = commands.add_parser("convert", help="convert files", description=_convert_help(converter))
    for command, run in ((info, _info), (check, _check)):
        command.add_argument("files", nargs="+", metavar="FILE")
        command.add_argument("--json", action="store_true", help="for programs")
        command.set_defaults(run=run)
    check.add_argument("--game", choices=tuple(limits.GAMES), default="format")
    convert.add_argument("files", nargs="+", metavar="FILE", help="inputs (files, folders, globs), then the output")
    convert.add_argument("--to", metavar="SUFFIX", help="write this format; the output is then a folder, or left out")
    convert.add_argument("--game", choices=tuple(limits.GAMES), default="format", help="whose limits to keep")
    convert.add_argument("--jobs", type=int, default=1, metavar="N", help="work on N files at once")
    if converter.add_options is not None:
        converter.add_options(convert)
    convert.set_defaults(run=_convert)
    return parser


def _convert_help(converter: Converter) -> str:
    read, write = ("  ".join(dict.fromkeys(s)) for s in (converter.readable, converter.writable))
    return f"Reads {read}; writes {write}. One input and an output file, or inputs, --to SUFFIX and an output folder."


def _warn(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def expand(files: Iterable[str], suffixes: tuple[str, ...]) -> list[Path]:
    """Return the files that names, folders (whole trees) and globs mean; a name that is no file stays, to fail later."""
    found: list[Path] = []
    for name in files:
        path = Path(name)
        if path.is_dir():
            found += sorted(p for p in path.rglob("*") if p.suffix.lower() in suffixes and p.is_file())
        elif not path.exists() and glob.has_magic(name):
            found += sorted(Path(match) for match in glob.glob(name, recursive=True))  # noqa: PTH207 - takes any root
        else:
            found.append(path)
    return list(dict.fromkeys(found))


def _info(options: argparse.Namespace, converter: Converter) -> int:
    records, failed = [], False
    for path in expand(options.files, MODEL_SUFFIXES):
        try:
            row, model = load(path)
        except ModelError as error:
            failed = True
            _warn(f"{path}: {error}")
            continue
        if options.json:
            records.append({"file": str(path)} | facts(row, model))
        else:
            print("\n".join(table(path, facts(row, model))))
    if options.json:
        print(json.dumps(records, indent=2))
    return FAILED if failed else OK


def facts(row: formats.Format, model: VertexModel) -> dict[str, Any]:
    """Return what `info` shows of a model, as plain values."""
    boxes = [(s.positions[0].min(axis=0), s.positions[0].max(axis=0)) for s in model.surfaces if s.positions.shape[1]]
    surfaces = [
        {
            "name": surface.name,
            "vertices": surface.positions.shape[1],
            "triangles": len(surface.triangles),
            "shaders": surface.shaders,
        }
        for surface in model.surfaces
    ]
    return {
        "format": row.name,
        "frames": model.num_frames,
        "frame_names": model.frame_names,
        "mins": [min(float(low[i]) for low, _ in boxes) for i in range(3)] if boxes else None,
        "maxs": [max(float(high[i]) for _, high in boxes) for i in range(3)] if boxes else None,
        "surfaces": surfaces,
        "tags": [{"name": tag.name, "origin": [float(x) for x in tag.origins[0]]} for tag in model.tags],
    }


def table(path: Path, found: dict[str, Any]) -> list[str]:
    """Return the lines that `info` prints of a model."""
    surfaces, tags, listed = found["surfaces"], found["tags"], found["frame_names"]
    ends = f" ({listed[0]} ... {listed[-1]})" if len(listed) > 1 else ""
    lines = [f"{path}: {found['format'].upper()}, {found['frames']} frames{ends}"]
    if found["mins"]:
        low, high = (" ".join(f"{x:.2f}" for x in found[side]) for side in ("mins", "maxs"))
        lines.append(f"  first frame from ({low}) to ({high})")
    if surfaces:
        width = max(len("surface"), *(len(s["name"]) for s in surfaces))
        lines.append(f"  {'surface':{width}}  vertices  triangles  shaders")
        for s in surfaces:
            shaders = ", ".join(s["shaders"]) or "-"
            lines.append(f"  {s['name']:{width}}  {s['vertices']:8}  {s['triangles']:9}  {shaders}")
    if tags:
        width = max(len("tag"), *(len(t["name"]) for t in tags))
        lines.append(f"  {'tag':{width}}  origin in the first frame")
        lines += [f"  {t['name']:{width}}  {' '.join(f'{x:.2f}' for x in t['origin'])}" for t in tags]
    return lines


def _check(options: argparse.Namespace, converter: Converter) -> int:
    records, failed = [], False
    for path in expand(options.files, MODEL_SUFFIXES):
        try:
            found = [(p.severity, str(p)) for p in limits.check(load(path)[1], options.game)]
        except ModelError as error:
            found = [(limits.ERROR, str(error))]
        failed |= any(severity == limits.ERROR for severity, _ in found)
        records.append({"file": str(path), "problems": [{"severity": s, "text": t} for s, t in found]})
        if not options.json:
            print(f"{path}: {'ok' if not found else ''}".rstrip())
            for severity, text in found:
                print(f"  {severity}: {text}")
    if options.json:
        print(json.dumps(records, indent=2))
    return FAILED if failed else OK


def plan_jobs(options: argparse.Namespace, converter: Converter) -> list[Job]:
    """Return the files to convert and where each goes.

    Raises:
        ModelError: the arguments do not say where, or a suffix can't be written.
    """
    files, suffix = list(options.files), options.to
    if suffix:
        suffix = "." + suffix.lower().lstrip(".")
        output = Path(files.pop()) if len(files) > 1 and _is_folder(files[-1], converter) else None
    else:
        output = Path(files.pop())
        suffix = output.suffix.lower()
        if not files:
            raise LimitError("say where to write: an output file, or --to SUFFIX")
    if suffix not in converter.writable:
        written = ", ".join(dict.fromkeys(converter.writable))
        raise LimitError(f"can't write '{suffix or output}', only {written}; {converter.hint}".rstrip("; "))
    readable = tuple(s for s in converter.readable if s != suffix or s in MODEL_SUFFIXES)
    sources = expand(files, readable)
    if not sources:
        raise LimitError("no file to convert was found")
    if not options.to:
        if len(sources) > 1:
            raise LimitError("several inputs need --to SUFFIX and an output folder")
        return [Job(sources[0], output)] if output is not None else []
    roots = [Path(name) for name in files if Path(name).is_dir()]
    return _distinct([Job(source, _target(source, output, roots, suffix)) for source in sources])


def _is_folder(name: str, converter: Converter) -> bool:
    """Tell whether the last argument is the output folder, and not one more input."""
    path = Path(name)
    if path.is_dir():
        return True
    return not path.exists() and not glob.has_magic(name) and path.suffix.lower() not in converter.readable


def _target(source: Path, output: Path | None, roots: list[Path], suffix: str) -> Path:
    """Return where a file goes: beside itself, or into the output folder, there below the folder it was found in."""
    if output is None:
        return source.with_suffix(suffix)
    root = next((root for root in roots if source.is_relative_to(root)), source.parent)
    return (output / source.relative_to(root)).with_suffix(suffix)


def _distinct(jobs: list[Job]) -> list[Job]:
    taken: dict[Path, Path] = {}
    for job in jobs:
        if job.target in taken:
            raise LimitError(f"'{taken[job.target]}' and '{job.source}' would both become '{job.target}'")
        taken[job.target] = job.source
    return jobs


def _convert(options: argparse.Namespace, converter: Converter) -> int:
    try:
        jobs = plan_jobs(options, converter)
    except ModelError as error:
        _warn(f"convert: {error}")
        return USAGE
    done = failed = 0
    start = time.monotonic()

    def report(job: Job, line: str, error: str) -> None:
        nonlocal done, failed
        done += 1
        place = f"[{done}/{len(jobs)}] " if len(jobs) > 1 else ""
        if error:
            failed += 1
            _warn(f"{place}{job.source}: {error}")
        else:
            print(f"{place}{job.source} -> {job.target}: {line}", flush=True)

    if options.jobs > 1 and len(jobs) > 1 and converter.workers is not None:
        converter.workers(jobs, options, report)
    else:
        for job in jobs:
            report(job, *run_job(job, options, converter))
    if len(jobs) > 1:
        print(f"{done - failed} converted, {failed} failed, {time.monotonic() - start:.1f} s", flush=True)
    return FAILED if failed else OK


def run_job(job: Job, options: argparse.Namespace, converter: Converter) -> tuple[str, str]:
    """Convert one file; returns a line for the summary, and an error's sentence or ""."""
    suffix = job.source.suffix.lower()
    if job.source.exists() and suffix not in converter.readable:
        return "", f"can't read '{suffix}', only {', '.join(converter.readable)}; {converter.hint}".rstrip("; ")
    try:
        job.target.parent.mkdir(parents=True, exist_ok=True)
        return converter.convert(job, options), ""
    except ModelError as error:
        return "", str(error)
    except OSError as error:
        return "", f"can't write '{job.target}': {(error.strerror or str(error)).lower()}"
