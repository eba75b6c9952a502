"""Files to models, with the files that lie with them; without Blender."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import formats
from ..formats import AnimationFormat, AnyFormat, SkeletalFormat
from ..game.search import SearchPath, model_name
from ..model.skeletal import Animation
from ..reporting import FormatError, ModelError
from .beside import with_scales
from .storage import read_file

log = logging.getLogger(__name__)


@dataclass
class Loaded:
    """What was read: a model or an animation, and of a model whose bones lie in another file that one's animation."""

    row: AnyFormat
    model: Any
    animation: Animation | None = None
    path: Path | None = None  # of that file


def load(path: Path, companions: Sequence[Path] = ()) -> Loaded:
    """Return what a file holds; a model whose bones lie in another file has them of the `companions`, or of one found.

    Raises:
        ModelError: the file, or all companions that are named, can't be read.
    """
    data = read_file(path)
    row: AnyFormat = formats.identify(data, path)
    if isinstance(row, AnimationFormat):
        return Loaded(row, with_scales(row.load(data, path.stem), row, path))
    if isinstance(row, SkeletalFormat) and row.companions:
        return _with_bones(path, row.read(data), row, companions)
    return Loaded(row, row.load(data, model_name(path)))


def _with_bones(path: Path, structs: Any, row: SkeletalFormat, companions: Sequence[Path]) -> Loaded:
    """Return the model of a file's structs with the bones of the first companion that has them all."""
    other: AnimationFormat = formats.by_name(row.companions[0])
    search = SearchPath(path)
    said = []
    for file in companions or search.companions(other.suffixes[0], row.usual_companion):
        try:
            bones = other.read(read_file(file))
            model = row.to_model(structs, bones, model_name(path))
            return Loaded(row, model, other.to_model(bones, file.stem), file)
        except ModelError as error:
            said.append(f"'{file.name}': {error}")
    if companions:
        raise FormatError("; ".join(said[:3]))
    places = " and ".join(search.companion_places(row.usual_companion))
    log.warning("%s", "; ".join([f"no {other.suffixes[0]} with its bones in {places}: they have no names", *said[:3]]))
    return Loaded(row, row.to_model(structs, None, model_name(path)))
