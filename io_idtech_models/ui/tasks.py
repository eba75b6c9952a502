"""Files to scene and scene to files: what operators, drop handlers and the command line share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy

from .. import formats
from ..blender import gather as gathering
from ..blender.compat import Context
from ..blender.materials import Materials
from ..blender.plan import GatherSettings
from ..blender.vertex import BuildSettings, Built, build
from ..errors import LimitError, collected_warnings
from ..formats import Format
from ..game.files import SearchPath
from ..model import limits
from ..model.words import describe, joined, listed, plural
from ..storage import read_file, write_file
from .choice import Choice


@dataclass
class Summary:
    """What a task did, in words: the facts, and the warnings."""

    facts: str
    warnings: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """One line."""
        return joined([self.facts, *self.warnings], most=7)


def import_file(
    path: Path, settings: BuildSettings, scene: bpy.types.Scene, into: bpy.types.Collection
) -> tuple[Built, Summary]:
    """Bring a file into the scene.

    Raises:
        ModelError: the file can't be read; the .blend is as it was.
    """
    with collected_warnings() as warnings:
        data = read_file(path)
        model = formats.identify(data, path).load(data, path.stem)
        materials = Materials(SearchPath(path).find_image)
        built = build(model, settings, materials, scene, into)
        if materials.missing:
            warnings.append(f"{plural(len(materials.missing), 'texture')} not found: {listed(materials.missing)}")
    return built, Summary(describe(model), warnings)


def export_file(
    path: Path, row: Format, chosen: Choice, context: Context, settings: GatherSettings, game: str
) -> Summary:
    """Write objects to a file.

    Raises:
        ModelError: the model can't be written, or the game would refuse it; the file is as it was.
    """
    with collected_warnings() as warnings, object_mode(context):
        model = gathering.gather(chosen.blocks, chosen.collection, context.scene, context.view_layer, settings)
        problems = limits.check(model, game)
        errors = [str(problem) for problem in problems if problem.severity == limits.ERROR]
        if errors:
            raise LimitError(joined(errors))
        warnings += [str(problem) for problem in problems]
        write_file(path, row.dump(model))
    warnings += left_out(chosen)
    return Summary(describe(model), warnings)


@contextmanager
def object_mode(context: Context) -> Iterator[None]:
    """Leave edit mode (and its like) meanwhile: what is edited reaches the data only then."""
    mode: Any = "OBJECT" if context.mode == "OBJECT" else context.view_layer.objects.active.mode
    if mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    try:
        yield
    finally:
        if mode != "OBJECT":
            bpy.ops.object.mode_set(mode=mode)


def left_out(chosen: Choice) -> list[str]:
    """Name the objects that an export leaves out."""
    texts = []
    if chosen.hidden:
        texts.append(f"{plural(len(chosen.hidden), 'hidden object')} left out: {_names(chosen.hidden)}")
    if chosen.shapes:
        texts.append(f"only meshes are written; left out: {_names(chosen.shapes)}")
    return texts


def _names(blocks: list[bpy.types.Object]) -> str:
    return listed([block.name for block in blocks])
