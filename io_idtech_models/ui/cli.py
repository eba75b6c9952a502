"""The command line inside Blender: what `cli` does, and conversions that need Blender.

Runs as `blender -c idtech ...` in an installed Blender, and as `python -m io_idtech_models.ui.cli ...` where `bpy` is a
Python package.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import bpy

from .. import cli, formats
from ..blender import exchange, still
from ..blender.plan import GatherSettings
from ..blender.vertex import BuildSettings
from ..cli import Converter, Job
from ..errors import LimitError
from .choice import Choice, choose
from .tasks import Summary, export_file, import_file

PICTURE = ".png"
ENTRY = f"{__package__}.cli"  # a worker runs this module again


def main(argv: list[str]) -> int:
    """Run a command; returns the exit status."""
    readable = (*cli.MODEL_SUFFIXES, *exchange.READABLE)
    writable = (*cli.MODEL_SUFFIXES, *exchange.WRITABLE, PICTURE)
    converter = Converter(readable, writable, convert, workers=work_in_processes, add_options=add_options)
    if argv[:1] == ["work"]:
        return _work(argv[1:], converter)
    return cli.main(argv, converter)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `convert` that only Blender can serve."""
    parser.add_argument("--frame", type=int, default=0, help="which frame a picture shows (0)")
    parser.add_argument("--size", default="960x720", metavar="WxH", help="of a picture, in pixels (960x720)")
    parser.add_argument("--scale", type=float, default=1.0, help="size of a game unit in the other file (1)")
    parser.add_argument("--fps", type=int, default=0, help="frames per second of a model that does not say (24)")
    parser.add_argument("--no-weld", action="store_true", help="keep vertices apart that lie together in every frame")
    parser.add_argument(
        "--frames", default="AUTO", metavar="WHICH", help="what a model gets: auto, keys, scene, current or FIRST-LAST"
    )
    parser.add_argument("--normals", choices=("source", "shown", "smooth"), default="source")


def convert(job: Job, options: argparse.Namespace) -> str:
    """Convert one file; returns its summary. Raises ModelError."""
    if not job.source.exists():
        raise LimitError("no such file")
    row = formats.by_suffix(job.target)
    if row is not None and job.source.suffix.lower() in cli.MODEL_SUFFIXES and not _changes_model(options):
        return cli.convert_plain(job, options)
    summary = _open(job.source, options)
    suffix = job.target.suffix.lower()
    if row is not None:
        summary = export_file(job.target, row, *_chosen(), bpy.context, gather_settings(options), options.game)
    elif suffix == PICTURE:
        still.render_still(job.target, options.frame, _size(options.size))
    else:
        exchange.save_scene(job.target)
    return str(summary).partition(": ")[2]


def _changes_model(options: argparse.Namespace) -> bool:
    """Tell whether an option asks for what only the way through Blender does."""
    return options.scale != 1.0 or options.frames.upper() not in ("AUTO", "KEYS") or options.normals != "source"


def _open(path: Path, options: argparse.Namespace) -> Summary:
    """Bring a file, and nothing else, into memory."""
    if path.suffix.lower() not in cli.MODEL_SUFFIXES:
        exchange.open_scene(path)
        return Summary(f"{path.name}: {len(bpy.context.scene.objects)} objects")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    settings = BuildSettings(scale=options.scale, weld=not options.no_weld, frame_rate=options.fps)
    return import_file(path, settings, bpy.context.scene, bpy.context.scene.collection)[1]


def _chosen() -> tuple[list[bpy.types.Object], bpy.types.Collection | None]:
    found: Choice = choose(bpy.context, "VISIBLE")
    return found.blocks, found.collection


def gather_settings(options: argparse.Namespace) -> GatherSettings:
    """Return how a scene becomes a model.

    Raises:
        LimitError: `--frames` is none of the words and no range.
    """
    which = options.frames.upper()
    common: dict[str, Any] = {"scale": options.scale, "normals": options.normals.upper()}
    if which in ("AUTO", "KEYS", "SCENE", "CURRENT"):
        return GatherSettings(frames=which, **common)
    first, dash, last = which.partition("-")
    if not (first.isdigit() and (last.isdigit() or not dash)):
        raise LimitError(f"--frames '{options.frames}': expected auto, keys, scene, current or FIRST-LAST")
    return GatherSettings(frames="RANGE", frame_start=int(first), frame_end=int(last or first), **common)


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.lower().partition("x")
    if not (width.isdigit() and height.isdigit() and 16 <= int(width) <= 16384 and 16 <= int(height) <= 16384):
        raise LimitError(f"--size '{text}': expected WIDTHxHEIGHT, 16 to 16384 pixels each")
    return int(width), int(height)


def work_in_processes(
    jobs: list[Job], options: argparse.Namespace, report: Callable[[Job, str, str], None]
) -> None:
    """Convert files in `--jobs` processes of their own; a process that dies fails its present file, and is replaced."""
    waiting = list(reversed(jobs))
    with ThreadPoolExecutor(options.jobs) as threads:
        workers = [threads.submit(_serve, waiting, options, report) for _ in range(min(options.jobs, len(jobs)))]
        for worker in workers:
            worker.result()


def _serve(waiting: list[Job], options: argparse.Namespace, report: Callable[[Job, str, str], None]) -> None:
    """Feed one worker process after another with the files that wait, one line each way per file."""
    while waiting:
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(
                _command(options), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, encoding="utf-8"
            )
            assert process.stdin is not None and process.stdout is not None
            alive = True
            while alive and waiting:
                job = waiting.pop()
                alive = _ask(process, job, report)
            process.stdin.close()
            process.wait()


def _ask(process: "subprocess.Popen[str]", job: Job, report: Callable[[Job, str, str], None]) -> bool:
    """Let a worker convert one file; returns whether it still lives."""
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(json.dumps([str(job.source), str(job.target)]) + "\n")
        process.stdin.flush()
        for line in process.stdout:
            if line.startswith(ANSWER):
                report(job, *json.loads(line[len(ANSWER) :]))
                return True
    except OSError:
        pass
    report(job, "", "the worker process died")
    return False


ANSWER = "\x1didtech "  # Blender's own chatter shares the worker's standard output


def _command(options: argparse.Namespace) -> list[str]:
    """Return the command that starts a worker: this Python with `bpy`, or the Blender that runs."""
    given = {k: v for k, v in vars(options).items() if k not in ("run", "files", "jobs", "to")}
    words = ["work", json.dumps(given)]
    if not bpy.app.binary_path:
        return [sys.executable, "-m", ENTRY, *words]
    root = str(Path(__file__).resolve().parents[2])
    code = f"import sys; sys.path.insert(0, {root!r}); import importlib; " if not ENTRY.startswith("bl_ext.") else "import sys, importlib; "
    code += f"sys.exit(importlib.import_module({ENTRY!r}).main({words!r}))"
    return [bpy.app.binary_path, "--background", "--python-exit-code", "1", "--python-expr", code]


def _work(argv: list[str], converter: Converter) -> int:
    """Be a worker: convert the files named on standard input, a line of JSON each, answer with a line each."""
    options = argparse.Namespace(**json.loads(argv[0]))
    for line in sys.stdin:
        source, target = json.loads(line)
        result = cli.run_job(Job(Path(source), Path(target)), options, converter)
        print(ANSWER + json.dumps(result), flush=True)
    return cli.OK


def _leave(status: int) -> None:
    """End the process without Blender's own clean-up, which crashes 4.2 and hangs 4.5 while an add-on is enabled."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    _leave(main(sys.argv[1:]))
