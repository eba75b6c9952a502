"""One model through every step, next to the floor; and what the operators and enabling the extension take."""

from __future__ import annotations

import contextlib
import cProfile
import gc
import io
import os
import pstats
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import bpy

import io_idtech_models
from benchmarks import floor
from benchmarks.models import PROJECT, Model
from io_idtech_models.blender.scene import ExportScene
from io_idtech_models.blender.shading.materials import Materials
from io_idtech_models.blender.vertex.build import BuildSettings, build
from io_idtech_models.blender.vertex.frame_plan import GatherSettings
from io_idtech_models.blender.vertex.gather import gather
from io_idtech_models.formats import identify
from io_idtech_models.game.pictures import pcx
from io_idtech_models.tasks.export.plain import holds_of

STEPS = ("read", "to_model", "build", "gather", "from_model", "write")
IMPORT, PURE = ("read", "to_model", "build"), ("read", "to_model", "from_model", "write")
ENABLE = """
import gc
import os
import bpy
import time
start = time.perf_counter()
import numpy
took = time.perf_counter() - start
gc.collect()  # else collecting what Blender's start left behind falls to whoever comes next
start = time.perf_counter()
import io_idtech_models
io_idtech_models.register()
print("took", took, time.perf_counter() - start, flush=True)
os._exit(0)  # what stays registered crashes some Blenders when they clean up
"""


@dataclass
class Times:
    """Durations of something, in seconds, one for each repetition."""

    seconds: list[float] = field(default_factory=list)

    @property
    def best(self) -> float:
        """The shortest."""
        return min(self.seconds)

    @property
    def median(self) -> float:
        """The one in the middle."""
        return statistics.median(self.seconds)


class Clock:
    """Durations by name."""

    def __init__(self, profile: cProfile.Profile | None = None, profiled: tuple[str, ...] = ()) -> None:
        self.times: dict[str, Times] = {}
        self.profile = profile
        self.profiled = profiled

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Measure what happens within."""
        profile = self.profile if name in self.profiled else None
        if profile is not None:
            profile.enable()
        start = perf_counter()
        yield
        self.add(name, perf_counter() - start)
        if profile is not None:
            profile.disable()

    def add(self, name: str, seconds: float) -> None:
        """Note one duration."""
        self.times.setdefault(name, Times()).seconds.append(seconds)


def empty_scene() -> tuple[Any, Any]:
    """Start from an empty factory scene; returns the scene and its view layer."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    gc.collect()
    return bpy.context.scene, bpy.context.view_layer


def run_steps(model: Model, clock: Clock, look: bool = False) -> floor.ReadyModel | None:
    """Take a model through every step once, in an empty scene; the file must come out as it went in."""
    scene, view_layer = empty_scene()
    row = identify(model.data, model.path)
    with clock.of("read"):
        structs = row.read(model.data)
    with clock.of("to_model"):
        decoded = row.to_model(structs, model.path.stem)
    with clock.of("build"):
        built = build(decoded, BuildSettings(), Materials(), scene, scene.collection)
    ready = floor.look(built, decoded) if look else None
    with clock.of("first update"):
        view_layer.update()
    blocks = list(built.collection.all_objects)
    asked = GatherSettings(holds=holds_of(row))
    with clock.of("gather"):
        gathered = gather(
            blocks,
            built.collection,
            ExportScene(scene, view_layer, asked),
        )
    with clock.of("from_model"):
        structs = row.from_model(row.shape(gathered), {})
    with clock.of("write"):
        data = row.write(structs)
    if data != model.data:
        raise SystemExit(f"{model.name}: the file that came out is not the one that went in")
    return ready


def run_floor(ready: floor.ReadyModel, clock: Clock) -> None:
    """Make the floor of an import and of an export once, in an empty scene."""
    scene, view_layer = empty_scene()
    with clock.of("floor of import"):
        parts = floor.make(ready, scene, scene.collection)
    for name, seconds in parts.seconds.items():
        clock.add("floor: " + name, seconds)
    view_layer.update()
    with clock.of("floor of export"):
        floor.read(scene.collection.children[0])


def check_floor(model: Model) -> floor.ReadyModel:
    """Return a model's arrays, after making sure that the floor makes what an import makes."""
    ready = run_steps(model, Clock(), look=True)
    assert ready is not None
    scene, _ = empty_scene()
    floor.make(ready, scene, scene.collection)
    again = floor.look_again(scene.collection.children[0], ready)
    found = floor.differences(ready, again)
    if found:
        raise SystemExit(f"{model.name}: the floor makes something else than the import: {', '.join(found)}")
    return ready


def run_operators(model: Model, folder: Path, clock: Clock) -> None:
    """Import and export a file through the operators: with textures, checks, and writing to the disk."""
    empty_scene()
    ops: Any = bpy.ops  # the stubs don't know ours
    name = identify(model.data, model.path).name
    target = folder / f"out.{name}"
    with clock.of("import operator"):
        getattr(ops.import_scene, f"idtech_{name}")(filepath=str(model.path))
    with clock.of("export operator"):
        getattr(ops.export_scene, f"idtech_{name}")(filepath=str(target))
    if target.read_bytes() != model.data:
        raise SystemExit(f"{model.name}: the file that the operators wrote is not the one that they read")


def measure(model: Model, folder: Path, repeat: int) -> dict[str, Times]:
    """Return how long everything takes with a model, package and floor in turns."""
    ready = check_floor(model)
    clock = Clock()
    for _ in range(repeat):
        run_steps(model, clock)
        run_floor(ready, clock)
    silent = io.StringIO()
    with registered(), contextlib.redirect_stdout(silent):
        for _ in range(max(3, repeat // 3)):
            run_operators(model, folder, clock)
    return clock.times


@contextmanager
def registered() -> Iterator[None]:
    """Enable the extension for a while: what stays registered at exit crashes some Blenders."""
    io_idtech_models.register()
    try:
        yield
    finally:
        io_idtech_models.unregister()


def profile(model: Model, steps: tuple[str, ...], repeat: int, lines: int) -> str:
    """Return the functions in which steps spend their time."""
    run_steps(model, Clock())
    profiler = cProfile.Profile()
    clock = Clock(profiler, steps)
    for _ in range(repeat):
        run_steps(model, clock)
    text = io.StringIO()
    statistics_ = pstats.Stats(profiler, stream=text).strip_dirs()
    statistics_.sort_stats("tottime").print_stats(lines)
    return text.getvalue()


def measure_enabling(folder: Path, repeat: int) -> dict[str, Times]:
    """Return how long importing numpy takes in a fresh process, and then importing and enabling the extension.

    As on every start of Blender but the first, which compiles the extension; `folder` takes what that compiles.
    """
    clock = Clock()
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environ["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")
    for nth in range(repeat + 1):
        command = [sys.executable, "-P", "-c", ENABLE]
        result = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, cwd=PROJECT, env=environ, check=True
        )
        words = next(line.split() for line in result.stdout.splitlines() if line.startswith("took "))
        if nth:
            clock.add("import numpy", float(words[1]))
            clock.add("enable", float(words[2]))
    return clock.times


def measure_pictures(files: dict[str, bytes], repeat: int) -> dict[str, Times]:
    """Return how long decoding PCX files takes."""
    clock = Clock()
    for _ in range(repeat):
        for name, data in files.items():
            with clock.of(name):
                pcx.decode(data, name)
    return clock.times


def total(times: dict[str, Times], names: tuple[str, ...]) -> float:
    """Return the sum of the best times of several steps."""
    return sum(times[name].best for name in names)


def total_median(times: dict[str, Times], names: tuple[str, ...]) -> float:
    """Return the sum of the median times of several steps."""
    return sum(times[name].median for name in names)
