"""How fast is it? `python3 build.py bench [--all] [OPTIONS] [FILE ...]`.

Measures each step of an import and an export against the *floor*: the same bpy calls, made bare from ready arrays (see
`benchmarks.floor`). Each repetition starts from an empty scene. All times are of one process and in milliseconds.
With `--growth`: how the time of whole operators grows with the size of files and scenes (see `benchmarks.growth`).
With `--small`: what many small models cost, and the first import of a session (see `benchmarks.small`).
With `--rig`: what bones that are found in frames say of these, and how long that takes (see `benchmarks.rigs`).
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from benchmarks import growth, growth_cases, models, rigs, skeletal, small
from benchmarks.steps import (
    IMPORT,
    PURE,
    STEPS,
    Times,
    measure,
    measure_enabling,
    measure_pictures,
    profile,
    total,
    total_median,
)
from io_idtech_models.formats import VERTEX, by_suffix, identify
from io_idtech_models.reporting import ModelError

GROUPS = {"import": IMPORT, "export": ("gather", "from_model", "write"), "all": STEPS}
EXPORT = ("gather", "from_model")  # the file's writing apart
INTERRUPTED = 130  # the exit status after Ctrl-C
ENABLE_LIMIT = 0.030
PICTURE_LIMIT = 0.020


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="build.py bench", description="Measure each step against the floor.")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="measure these, not the usual ones")
    parser.add_argument("--repeat", type=int, default=15, metavar="N", help="repetitions of each step (15)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write figures here, in seconds, by Blender version")
    steps = (*STEPS, *GROUPS)
    parser.add_argument(
        "--profile", choices=steps, metavar="STEP", help=f"show the slow functions of {', '.join(steps)}"
    )
    parser.add_argument("--growth", action="store_true", help="show how time grows with size, and the exponent")
    parser.add_argument("--small", action="store_true", help="show what small models cost, and the first of a session")
    parser.add_argument("--rig", action="store_true", help="show what bones that are found in frames say of these")
    parser.add_argument("--only", metavar="TEXT", default="", help="of --growth the cases that have it in their names")
    parser.add_argument("--lines", type=int, default=25, metavar="N", help="of the profile (25)")
    options = parser.parse_args()
    if options.rig:
        return options
    skeletal_ones = [path for path in options.files if (row := by_suffix(path)) is None or row.family is not VERTEX]
    try:
        options.skeletal = skeletal.from_files(skeletal_ones)
    except (OSError, ValueError, ModelError) as error:
        parser.error(str(error))
    if options.skeletal and options.small:
        parser.error(f"{skeletal_ones[0].name}: small models are those animated vertex by vertex")
    options.files = [path for path in options.files if path not in skeletal_ones]
    options.all = not options.files and not options.skeletal
    return options


def main() -> int:
    """Measure, print, and return the exit status: 0 also where a target is missed."""
    options = arguments()
    print(f"Blender {bpy.app.version_string}, numpy {np.__version__}, Python {sys.version.split()[0]}", flush=True)
    if options.rig:
        rigs.measure(options.files or rigs.known())
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measured = measure_growth if options.growth else measure_small if options.small else measure_steps
        results = measured(folder, options)
    if options.json and results:
        store(results, options.json)
    return 0


def measure_steps(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Measure each step of models, or show where they spend their time; returns what was measured."""
    chosen = models.known(folder) if options.all else [models.from_file(path) for path in options.files]
    posed = skeletal.known() if options.all else options.skeletal
    if options.all and not models.CORPUS.is_dir():
        print("real models are left out: there is no folder of them beside the project")
    if options.profile:
        show_profiles(chosen, posed, options)
        return {}
    results = measure_all(chosen, folder, options.repeat) if chosen else {}
    results |= measure_skeletal(posed, max(3, options.repeat // 3)) if posed else {}
    return results | (measure_text(max(3, options.repeat // 3)) if options.all else {})


def measure_growth(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Measure how time grows, print what is found as soon as it is, and return it."""
    found: dict[str, Any] = {}
    for case in growth_cases.CASES:
        if options.only.lower() in case.what.lower():
            rows = growth.measure(case, folder, max(2, options.repeat // 5))
            print("\n".join(["", *growth.table(case, rows)]), flush=True)
            found[case.what] = {name: vars(row) | {"exponent": row.exponent} for name, row in rows.items()}
    return {"growth": found}


def measure_small(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Measure small models beside their floor, and the first import of a session; print and return it."""
    paths = small.usable(options.files) if options.files else small.known(folder)
    if not paths:
        print("small models are left out: there is no folder of real ones beside the project")
        return {}
    repeat = max(2, options.repeat // 5)
    alone, together = small.measure(paths, repeat)
    first = {path.name: small.measure_first(path, folder, repeat) for path in small.firsts(paths)}
    print("\n".join(["", *small.table(alone, together, first)]), flush=True)
    return {"small": small.figures(alone, together, first)}


def store(results: dict[str, Any], file: Path) -> None:
    """Write figures beside those of other Blender versions, for `benchmarks/page.py`."""
    stored = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    known = stored.setdefault(bpy.app.version_string, {})
    if "growth" in results:  # of which `--only` measures a part
        results = results | {"growth": known.get("growth", {}) | results["growth"]}
    known.update(results)
    file.write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")


def show_profiles(chosen: list[models.Model], posed: list[skeletal.Files], options: argparse.Namespace) -> None:
    """Print where each model spends the time of a step."""
    steps = GROUPS.get(options.profile, (options.profile,))
    for model in chosen:
        print(f"\n{model.name}: {options.profile}\n{profile(model, steps, options.repeat, options.lines).strip()}")
    for files in posed:
        found = skeletal.profile(files, steps, max(1, options.repeat // 5), options.lines)
        print(f"\n{files.name}: {options.profile}\n{found.strip()}")


def measure_all(chosen: list[models.Model], folder: Path, repeat: int) -> dict[str, Any]:
    """Measure models and enabling, print what is found as soon as it is, and return it."""
    results: dict[str, Any] = {"numpy": np.__version__, "models": {}}
    for model in chosen:
        times = measure(model, folder, repeat)
        print("\n".join(["", title(model), *table(times)]), flush=True)
        results["models"][title(model)] = {
            "seconds": figures(times),
            "ratios": dict(ratios(times)),
            "targets": TARGETS,
        }
    times = measure_pictures(models.painted(), repeat)
    print("\n".join(["", *pictures(times)]))
    results["pictures"] = figures(times)
    times = measure_enabling(folder, max(3, repeat // 2))
    print("\n".join(["", *enabling(times)]))
    results["enabling"] = figures(times)
    return results


def measure_skeletal(posed: list[skeletal.Files], repeat: int) -> dict[str, Any]:
    """Measure skeletal models, print what is found, and return it."""
    results: dict[str, Any] = {"skeletal": {}}
    for files in posed:
        times, targets = skeletal.measure(files, repeat), skeletal.TARGETS
        size = (len(files.mesh) + sum(map(len, files.animations))) / 1e6
        called = f"{files.name}, {files.joints} joints, {files.frames} frames, {size:.1f} MB"
        lines = [line(name, took.best, took.median) for name, took in times.items()]
        found = skeletal.ratios(times)
        lines += [verdict(name, value, targets[name]) for name, value in found.items()]
        print("\n".join(["", called, *lines]), flush=True)
        results["skeletal"][called] = {"seconds": figures(times), "ratios": found, "targets": targets}
    return results


def measure_text(repeat: int) -> dict[str, Any]:
    """Measure the reading and writing of a long text, print what is found, and return it."""
    size, times = skeletal.measure_text(repeat)
    speeds = {way: size / 1e6 / took.best for way, took in times.items()}
    print(f"\nThe text of an .md5anim of {size / 1e6:.1f} MB, MB/s, target of reading {skeletal.SPEED:.0f}")
    print("\n".join(f"  {way:<36}{speed:9.1f}" for way, speed in speeds.items()))
    return {"text": {"megabytes": size / 1e6, "speeds": speeds, "target": skeletal.SPEED}}


def verdict(name: str, value: float, limit: float) -> str:
    """Return a line that tells whether a target is kept."""
    return f"  {name:<54}{value:5.2f}   target {limit:.2f}: {'kept' if value <= limit else 'MISSED'}"


def title(model: models.Model) -> str:
    """Return a model's name and size."""
    found = identify(model.data, model.path).load(model.data, model.name)
    vertices = sum(surface.num_vertices for surface in found.surfaces)
    triangles = sum(len(surface.triangles) for surface in found.surfaces)
    numbers = (len(found.surfaces), found.num_frames, vertices, triangles, len(found.tags))
    counts = "surfaces {}, frames {}, vertices {}, triangles {}, tags {}".format(*numbers)
    return f"{model.name}: {counts}, {len(model.data) / 1e6:.1f} MB"


def line(name: str, best: float, median: float, note: str = "") -> str:
    """Return a line of a table."""
    return f"  {name:<36}{1000 * best:9.2f}{1000 * median:9.2f}  {note}".rstrip()


def table(times: dict[str, Times]) -> list[str]:
    """Return the lines that tell of a model."""
    lines = [f"  {'milliseconds':<36}{'best':>9}{'median':>9}"]
    floor_of_import = times["floor of import"]
    for step in STEPS:
        lines.append(line(step, times[step].best, times[step].median))
    for name, steps in (("import: read to build", IMPORT), ("export: gather, from_model", EXPORT)):
        lines.append(line(name, total(times, steps), total_median(times, steps)))
    lines.append(line("floor of import", floor_of_import.best, floor_of_import.median))
    lines += [line("  " + n.partition(": ")[2], t.best, t.median) for n, t in times.items() if n.startswith("floor: ")]
    for name in ("floor of export", "first update", "import operator", "export operator"):
        lines.append(line(name, times[name].best, times[name].median, INFORMATION[name]))
    for name, value in ratios(times):
        lines.append(verdict(name, value, TARGETS[name]))
    return lines


INFORMATION = {
    "floor of export": "for information: the arrays read back, bare",
    "first update": "for information: Blender's own, after import",
    "import operator": "with textures and selecting",
    "export operator": "with the game's limits and the disk",
}
TARGETS = {
    "import / floor of import": 1.5,
    "export without writing / floor of import": 1.0,
    "read, to_model, from_model, write / all steps": 1 / 3,
}


def ratios(times: dict[str, Times]) -> list[tuple[str, float]]:
    """Return what the targets speak of, from the best times."""
    floor = times["floor of import"].best
    values = (total(times, IMPORT) / floor, total(times, EXPORT) / floor, total(times, PURE) / total(times, STEPS))
    return list(zip(TARGETS, values, strict=True))


def pictures(times: dict[str, Times]) -> list[str]:
    """Return the lines that tell of decoding pictures."""
    size = f"{models.PICTURE_WIDTH} x {models.PICTURE_HEIGHT}"
    lines = [f"Decoding a PCX of {size}, target {1000 * PICTURE_LIMIT:.0f}"]
    verdicts = {name: "kept" if took.best <= PICTURE_LIMIT else "MISSED" for name, took in times.items()}
    return lines + [line(name, took.best, took.median, verdicts[name]) for name, took in times.items()]


def enabling(times: dict[str, Times]) -> list[str]:
    """Return the lines that tell of enabling the extension."""
    took = times["enable"]
    judged = "kept" if took.best <= ENABLE_LIMIT else "MISSED"
    return [
        "Enabling the extension in a fresh process",
        line("importing numpy", times["import numpy"].best, times["import numpy"].median),
        line("importing and registering", took.best, took.median, f"target {1000 * ENABLE_LIMIT:.0f}: {judged}"),
    ]


def figures(times: dict[str, Times]) -> dict[str, dict[str, float]]:
    """Return best and median of everything, in seconds."""
    return {name: {"best": t.best, "median": t.median} for name, t in times.items()}


def ended(work: Callable[[], int]) -> int:
    """Run something and return the exit status, whichever way it ends; what went wrong is told."""
    try:
        return work()
    except SystemExit as end:  # of the command line, or with a sentence
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception:
        logging.exception("The benchmark failed")
        return 1


if __name__ == "__main__":
    status = ended(main)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # without Blender's own clean-up, which hangs in 4.5 if anything still refers to Blender's data
