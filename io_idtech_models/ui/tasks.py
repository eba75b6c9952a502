"""Files to scene and scene to files: what operators, drop handlers and the command line share."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import bpy

from .. import formats
from ..blender import gather as gathering
from ..blender.materials import Materials
from ..blender.plan import GatherSettings
from ..blender.vertex import Built, BuildSettings, build
from ..errors import LimitError
from ..formats import Format
from ..game.files import SearchPath
from ..model import limits
from ..model.vertex import VertexModel
from ..storage import read_file, write_file

PACKAGE = __package__.rpartition(".")[0] if __package__ else ""
MAX_TEXTS = 6


class _Collector(logging.Handler):
    """Keeps the warnings of the package's loggers."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record's text, once."""
        text = record.getMessage()
        if text not in self.texts:
            self.texts.append(text)


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect the texts of warnings that the package logs within; they are not printed."""
    logger, collector = logging.getLogger(PACKAGE), _Collector()
    propagate = logger.propagate
    logger.addHandler(collector)
    logger.propagate = False
    try:
        yield collector.texts
    finally:
        logger.removeHandler(collector)
        logger.propagate = propagate


@dataclass
class Summary:
    """What a task did, in words: `facts` and the warnings."""

    facts: str
    warnings: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """One line."""
        if not self.warnings:
            return self.facts
        shown = self.warnings[:MAX_TEXTS]
        more = [f"and {len(self.warnings) - MAX_TEXTS} more"] if len(self.warnings) > MAX_TEXTS else []
        return f"{self.facts}; {'; '.join([*shown, *more])}"


def plural(count: int, noun: str) -> str:
    """Return "1 frame", "2 frames"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def describe(model: VertexModel) -> str:
    """Return what a model has, in words."""
    counts = ((len(model.surfaces), "surface"), (len(model.tags), "tag"), (model.num_frames, "frame"))
    return ", ".join(plural(count, noun) for count, noun in counts)


def model_name(path: Path) -> str:
    """Return the name of a model's collection: the file's, without its suffix."""
    return path.stem


def import_file(
    path: Path, settings: BuildSettings, scene: bpy.types.Scene, into: bpy.types.Collection, row: Format | None = None
) -> tuple[Built, Summary]:
    """Bring a file into the scene.

    Raises:
        ModelError: the file can't be read; the .blend is as it was.
    """
    with collected_warnings() as warnings:
        data = read_file(path)
        row = row or formats.identify(data, path)
        model = row.load(data, model_name(path))
        materials = Materials(SearchPath(path).find_image)
        built = build(model, settings, materials, scene, into)
        if materials.missing:
            listed = ", ".join(f"'{name}'" for name in materials.missing[:MAX_TEXTS])
            warnings.append(f"{plural(len(materials.missing), 'texture')} not found: {listed}")
    return built, Summary(f"{path.name}: {describe(model)}", warnings)


def export_file(
    path: Path,
    row: Format,
    blocks: list[bpy.types.Object],
    collection: bpy.types.Collection | None,
    context: bpy.types.Context,
    settings: GatherSettings,
    game: str,
) -> Summary:
    """Write objects to a file.

    Raises:
        ModelError: the model can't be written, or the game would refuse it; the file is as it was.
    """
    with collected_warnings() as warnings:
        model = gathering.gather(blocks, collection, context.scene, context.view_layer, settings)
        problems = limits.check(model, game)
        errors = [str(problem) for problem in problems if problem.severity == limits.ERROR]
        if errors:
            raise LimitError("; ".join(errors[:MAX_TEXTS]))
        warnings += [str(problem) for problem in problems]
        write_file(path, row.dump(model))
    return Summary(f"{path.name}: {describe(model)}", warnings)
