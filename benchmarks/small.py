"""What a small model costs: 400 of a game's files through the operator, each beside its floor; the first of a session.

The floor is that of `floor`, with what else there is no import without: an operator that is called, pictures that are
loaded and shown, a scene that is told of what is new, and that selected.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import bpy

from benchmarks import floor
from benchmarks.models import CORPUS, PROJECT
from benchmarks.steps import empty_scene, registered
from io_idtech_models.blender.vertex.build import Built
from io_idtech_models.formats import by_name
from io_idtech_models.reporting import ModelError

Block = Any  # a data-block of Blender; the stubs take each of its pointers for optional
COUNT, LARGEST, HEAD = 400, 200_000, 11_000  # files; bytes of one, and of a player's head
TARGET, FIRST_LIMIT = 2.0, 0.040
EXAMPLES = (
    "stilt/players/stilt/tris.md2",
    "newt/models/md5/newt/newt.md5mesh",
    "trooper/models/players/toys/trooper/body.mdm",
)
FIRST = """
import contextlib, io, os, time
import numpy, bpy
import io_idtech_models
io_idtech_models.register()
bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
bpy.ops.object.empty_add()
took = []
for _ in range(3):
    start = time.perf_counter(), time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        bpy.ops.import_scene.idtech_{name}(filepath={path!r})
    took.append(min(time.perf_counter() - start[0], time.process_time() - start[1]))
print("took", took[0], min(took[1:]), flush=True)
os._exit(0)  # what stays registered crashes some Blenders when they clean up
"""


@dataclass
class Took:
    """How long something took, and its floor: the best of some, seconds."""

    path: Path | None = None  # None: all files together
    seconds: float = float("inf")
    bare: float = float("inf")  # the floor
    ready: tuple[floor.ReadyModel, dict[str, str]] | None = (
        None  # what the import made: arrays, and pictures by material
    )


class Bare(bpy.types.Operator):
    """The floor as an operator: that it is one costs something too."""

    bl_idname = "import_scene.idtech_bare"
    bl_label = "Bare"
    bl_options: Any = {"REGISTER", "UNDO"}  # noqa: RUF012 - as Blender wants it
    made: Any = ()  # what it makes

    def execute(self, context: Any) -> Any:
        """Make everything, and let the scene show and select it."""
        blocks = [block for ready, pictures in type(self).made for block in _make(ready, pictures)]
        context.scene.frame_float = 0.0
        context.view_layer.update()
        for block in blocks:
            block.select_set(True)
        context.view_layer.objects.active = blocks[0]
        self.report({"INFO"}, "done")
        return {"FINISHED"}


def _make(ready: floor.ReadyModel, pictures: dict[str, str]) -> list[Block]:
    """Make a model and its pictures bare; returns its objects."""
    scene: Block = bpy.context.scene
    floor.make(ready, scene, scene.collection)
    blocks = list(scene.collection.children[-1].objects)
    materials = {m.name: m for block in blocks if block.type == "MESH" for m in block.data.materials}
    for material in materials.values():
        path = pictures.get(material[floor.GIVEN])
        if path is not None:
            _show(material, path)
    return blocks


def _show(material: Block, path: str) -> None:
    image: Block = bpy.data.images.load(path, check_existing=True)
    if not image.size[0]:
        return
    if material.node_tree is None:
        material.use_nodes = True
    tree = material.node_tree
    texture = tree.nodes.new("ShaderNodeTexImage")
    texture.image = image
    shader = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
    tree.links.new(texture.outputs["Color"], shader.inputs["Base Color"])


def known(folder: Path) -> list[Path]:
    """Return small models of games: those of the corpus, and of the packs in it, which `folder` takes."""
    for pack in sorted(CORPUS.rglob("*.pk3")):
        with zipfile.ZipFile(pack) as archive:
            archive.extractall(folder / pack.parent.name)
    found = sorted(path for place in (CORPUS, folder) for path in place.rglob("*") if path.suffix.lower() == ".md3")
    return usable(found)


def usable(paths: list[Path]) -> list[Path]:
    """Return those of files that are small, and models that show something: the floor knows no empty mesh."""
    return [path.resolve() for path in paths if path.stat().st_size <= LARGEST and _is_model(path)]


def _is_model(path: Path) -> bool:
    try:
        surfaces = by_name("md3").load(path.read_bytes(), path.stem).surfaces
        return len(surfaces) > 0 and all(surface.num_vertices for surface in surfaces)
    except ModelError:
        return False


def measure(paths: list[Path], repeat: int) -> tuple[list[Took], Took]:
    """Return what each file takes, alone in a scene, and what 400 take in one call, package and floor in turns."""
    found, every = [Took(path) for path in paths], Took()
    many = [found[i % len(found)] for i in range(COUNT)]
    bpy.utils.register_class(Bare)
    with registered(), contextlib.redirect_stdout(io.StringIO()):
        for _ in range(repeat):
            for took in found:
                _measure(took, [took])
            _measure(every, many)
    bpy.utils.unregister_class(Bare)
    return found, every


def _measure(whole: Took, files: list[Took]) -> None:
    empty_scene()
    listed = [{"name": os.path.relpath(took.path or "", "/")} for took in files]
    ops: Any = bpy.ops  # the stubs don't know ours
    whole.seconds = min(whole.seconds, _seconds(partial(ops.import_scene.idtech_md3, directory="/", files=listed)))
    for took in files:
        took.ready = took.ready or _look(took)
    Bare.made = [took.ready for took in files]
    empty_scene()
    whole.bare = min(whole.bare, _seconds(ops.import_scene.idtech_bare))


def _seconds(run: Callable[[], Any]) -> float:
    """Return how long something takes: of the seconds that pass and those of the processors the lesser."""
    start = perf_counter(), process_time()
    run()
    return min(perf_counter() - start[0], process_time() - start[1])


def _look(took: Took) -> tuple[floor.ReadyModel, dict[str, str]]:
    """Return the arrays of what is in the scene, and the picture of each material that shows one."""
    assert took.path is not None
    model = by_name("md3").load(took.path.read_bytes(), took.path.stem)
    (collection,) = bpy.data.collections
    blocks: list[Block] = list(collection.objects)
    tags, surfaces = ([b for b in blocks if (b.data is None) == empty] for empty in (True, False))
    surfaces.sort(key=lambda block: block.data["idtech_surface"])
    tags.sort(key=lambda block: block["idtech_tag"])
    pictures = {}
    for material in bpy.data.materials:
        nodes: Any = [] if material.node_tree is None else material.node_tree.nodes
        images = [node.image for node in nodes if getattr(node, "image", None) is not None]
        if images:
            pictures[material.name] = images[0].filepath
    return floor.look(Built(collection, model.num_frames, surfaces, tags), model), pictures


def firsts(paths: list[Path]) -> list[Path]:
    """Return files to import first in a session: the head of a player, and the examples."""
    chosen = sorted(paths, key=lambda path: (path.stem != "head", abs(path.stat().st_size - HEAD)))[:1]
    return chosen + [PROJECT / "examples" / name for name in EXAMPLES]


def measure_first(path: Path, folder: Path, repeat: int) -> tuple[float, float]:
    """Return how long the first import of a session takes, and another one right after it.

    Of a process in which the extension is enabled; what Python compiles is in `folder`.
    """
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environ["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")
    code = FIRST.format(name=path.suffix[1:].lower(), path=str(path))
    best = float("inf"), float("inf")
    for nth in range(repeat + 1):
        result = subprocess.run(
            [sys.executable, "-P", "-c", code], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
            cwd=PROJECT, env=environ, check=True,
        )  # fmt: skip
        words = next(line.split() for line in result.stdout.splitlines() if line.startswith("took "))
        if nth:
            best = min(best[0], float(words[1])), min(best[1], float(words[2]))
    return best


def figures(alone: list[Took], together: Took, first: dict[str, tuple[float, float]]) -> dict[str, Any]:
    """Return what was measured, in seconds for 400 files."""
    part = COUNT / len(alone)
    return {
        "files": len(alone),
        "alone": {"seconds": part * sum(t.seconds for t in alone), "floor": part * sum(t.bare for t in alone)},
        "together": {"seconds": together.seconds, "floor": together.bare},
        "first": first,
    }


def table(alone: list[Took], together: Took, first: dict[str, tuple[float, float]]) -> list[str]:
    """Return the lines that tell of small models."""
    found = figures(alone, together, first)
    lines = [f"{COUNT} small models, {found['files']} different ones", f"  {'seconds':<38}{'import':>9}{'floor':>9}"]
    for name, what in (("alone", "each alone in a scene"), ("together", "all in one call, into one scene")):
        seconds, bare = found[name]["seconds"], found[name]["floor"]
        judged = "kept" if seconds <= TARGET * bare else "MISSED"
        lines.append(f"  {what:<38}{seconds:9.2f}{bare:9.2f}   {seconds / bare:5.2f}   target {TARGET:.2f}: {judged}")
    lines.append(f"  {'milliseconds':<38}{'first':>9}{'second':>9}")
    for name, (once, again) in first.items():
        judged = "kept" if once <= FIRST_LIMIT else "MISSED"
        limit = f"   target {1000 * FIRST_LIMIT:.0f}: {judged}" if name.endswith(".md3") else ""
        lines.append(f"  {'in a session, ' + name:<38}{1000 * once:9.1f}{1000 * again:9.1f}{limit}")
    return lines
