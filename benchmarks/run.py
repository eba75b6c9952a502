"""How fast is it? `python3 build.py bench [--all] [OPTIONS] [FILE.md3 ...]`.

Measures each step of an import and an export against the *floor*: the same bpy calls, made bare from ready arrays (see
`benchmarks.floor`). Each repetition starts from an empty scene. All times are of one process and in milliseconds.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from benchmarks import models
from benchmarks.steps import IMPORT, PURE, STEPS, Times, measure, measure_enabling, profile, total, total_median

GROUPS = {"import": IMPORT, "export": ("gather", "from_model", "write"), "all": STEPS}
EXPORT = ("gather", "from_model")  # the file's writing apart
ENABLE_LIMIT = 0.030


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="build.py bench", description="Measure each step against the floor.")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE.md3", help="measure these, not the usual ones")
    parser.add_argument("--repeat", type=int, default=15, metavar="N", help="repetitions of each step (15)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write figures here, in seconds, by Blender version")
    steps = (*STEPS, *GROUPS)
    parser.add_argument(
        "--profile", choices=steps, metavar="STEP", help=f"show the slow functions of {', '.join(steps)}"
    )
    parser.add_argument("--lines", type=int, default=25, metavar="N", help="of the profile (25)")
    return parser.parse_args()


def main() -> int:
    """Measure, print, and return the exit status: 0 also where a target is missed."""
    options = arguments()
    print(f"Blender {bpy.app.version_string}, numpy {np.__version__}, Python {sys.version.split()[0]}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        chosen = [models.from_file(path) for path in options.files] or models.known(folder)
        if not options.files and models.REAL not in [model.name for model in chosen]:
            print(f"{models.REAL} is left out: there is no folder of real models beside the project")
        if options.profile:
            show_profiles(chosen, options)
            return 0
        results = measure_all(chosen, folder, options.repeat)
    if options.json:
        store(results, options.json)
    return 0


def store(results: dict[str, Any], file: Path) -> None:
    """Write figures beside those of other Blender versions, for `benchmarks/page.py`."""
    stored = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    stored[bpy.app.version_string] = results
    file.write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")


def show_profiles(chosen: list[models.Model], options: argparse.Namespace) -> None:
    """Print where each model spends the time of a step."""
    steps = GROUPS.get(options.profile, (options.profile,))
    for model in chosen:
        print(f"\n{model.name}: {options.profile}\n{profile(model, steps, options.repeat, options.lines).strip()}")


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
    times = measure_enabling(folder, max(3, repeat // 2))
    print("\n".join(["", *enabling(times)]))
    results["enabling"] = figures(times)
    return results


def title(model: models.Model) -> str:
    """Return a model's name and size."""
    from io_idtech_models.formats import md3

    structs = md3.read(model.data)
    vertices = sum(len(surface.st) for surface in structs.surfaces)
    triangles = sum(len(surface.triangles) for surface in structs.surfaces)
    numbers = (len(structs.surfaces), len(structs.frames), vertices, triangles, structs.tags.shape[1])
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
        limit = TARGETS[name]
        verdict = "kept" if value <= limit else "MISSED"
        lines.append(f"  {name:<54}{value:5.2f}   target {limit:.2f}: {verdict}")
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


def enabling(times: dict[str, Times]) -> list[str]:
    """Return the lines that tell of enabling the extension."""
    took = times["enable"]
    verdict = "kept" if took.best <= ENABLE_LIMIT else "MISSED"
    return [
        "Enabling the extension in a fresh process",
        line("importing numpy", times["import numpy"].best, times["import numpy"].median),
        line("importing and registering", took.best, took.median, f"target {1000 * ENABLE_LIMIT:.0f}: {verdict}"),
    ]


def figures(times: dict[str, Times]) -> dict[str, dict[str, float]]:
    """Return best and median of everything, in seconds."""
    return {name: {"best": t.best, "median": t.median} for name, t in times.items()}


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)  # without Blender's own clean-up, which hangs in 4.5 if anything still refers to Blender's data
