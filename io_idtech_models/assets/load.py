"""Files to models, with the files that lie with them; without Blender. No other module reads models or animations."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import formats
from ..formats import AnimationFormat, AnyFormat, Row, SkeletalFormat
from ..game.search import SearchPath, model_name
from ..game.store import GameFile
from ..reporting import FormatError, LimitError, ModelError

if TYPE_CHECKING:
    from ..model.skeletal import Animation, SkeletalModel

log = logging.getLogger(__name__)


@dataclass
class Loaded:
    """What was read: a model or an animation, and of a model whose bones lie in another file that one's animation."""

    row: AnyFormat
    model: Any
    animation: Animation | None = None
    bones: GameFile | None = None  # that file


def load(file: GameFile, companions: Sequence[GameFile] = (), kind: type[Row] = Row) -> Loaded:
    """Return what a file holds; a model whose bones lie in another file has them of the `companions`, or of one found.

    Raises:
        ModelError: the file, or all companions that are named, can't be read, or its format's row is of another `kind`.
    """
    loaded = _load(file, companions)
    if not isinstance(loaded.row, kind):
        found = loaded.row.name.upper()
        raise LimitError(f"its content is {found}, whatever its name: rename it, and import it as that")
    return loaded


def _load(file: GameFile, companions: Sequence[GameFile]) -> Loaded:
    data = file.read()
    row: AnyFormat = formats.identify(data, file)
    if isinstance(row, AnimationFormat):
        return Loaded(row, _animation(row, data, file))
    if isinstance(row, SkeletalFormat) and row.companions:
        return _with_bones(file, row.read(data), row, companions)
    return Loaded(row, row.load(data, model_name(file)))


def load_animation(file: GameFile, row: SkeletalFormat) -> Animation:
    """Return the animation in a file for a model of a format.

    Raises:
        ModelError: the file can't be read, or holds something else; the sentence names it.
    """
    try:
        data = file.read()
        found: AnyFormat = formats.identify(data, file)
        if found.name == row.animation and isinstance(found, AnimationFormat):
            return _animation(found, data, file)
    except ModelError as error:
        raise ModelError(f"'{file.name}': {error}") from error
    raise LimitError(f"'{file.name}' is no animation for {row.name.upper()}")


def animations_beside(
    file: GameFile, row: AnimationFormat, model: SkeletalModel, besides: GameFile | None = None
) -> list[tuple[Animation, GameFile]]:
    """Return the animations in a model's folder whose joints are the model's, by name; what can't be read is said."""
    from ..model.skeletal import mismatch

    found = []
    for other in map(file.beside, file.folder.names()):
        if other.suffix.lower() not in row.suffixes or not other.is_file() or other == besides:
            continue
        try:
            animation = _animation(row, other.read(), other)
        except ModelError as error:
            log.warning("%s: %s", other.name, error)
            continue
        if not mismatch(model.skeleton, animation):
            found.append((animation, other))
    return found


def _animation(row: AnimationFormat, data: bytes, file: GameFile) -> Animation:
    """Return the animation in a file's bytes, called as the file is, with what lies beside it; raises ModelError."""
    from .beside import with_scales  # which models without a skeleton do without

    return with_scales(row.load(data, file.stem), row, file)


def _with_bones(file: GameFile, structs: Any, row: SkeletalFormat, companions: Sequence[GameFile]) -> Loaded:
    """Return the model of a file's structs with the bones of the first companion that has them all."""
    other: AnimationFormat = formats.by_name(row.companions[0])
    search = SearchPath(file)
    said = []
    for each in companions or search.companions(other.suffixes[0], row.usual_companion):
        try:
            bones = other.read(each.read())
            model = row.to_model(structs, bones, model_name(file))
            return Loaded(row, model, other.to_model(bones, each.stem), each)
        except ModelError as error:
            said.append(f"'{each.name}': {error}")
    if companions:
        raise FormatError("; ".join(said[:3]))
    places = " and ".join(search.companion_places(row.usual_companion))
    log.warning("%s", "; ".join([f"no {other.suffixes[0]} with its bones in {places}: they have no names", *said[:3]]))
    return Loaded(row, row.to_model(structs, None, model_name(file)))
