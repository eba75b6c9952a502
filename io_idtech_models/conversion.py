"""Files to models and files of other formats, whatever their family; without Blender."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import formats
from .errors import LimitError, ModelError, collected_warnings
from .formats import AnimationFormat, AnyFormat, Format, SkeletalFormat
from .game.files import model_name
from .model import limits, skeletal_limits
from .model.bake import bake
from .model.limits import Problem
from .model.skeletal import Animation
from .model.words import describe, describe_animation, describe_skeletal, joined
from .storage import read_file, write_file

# Every game that some format knows; what a game does not read is said when it is asked for.
GAMES = tuple(dict.fromkeys((*limits.GAMES, *skeletal_limits.GAMES)))


def load(path: Path) -> tuple[AnyFormat, Any]:
    """Return a file's format and model, or animation; raises ModelError."""
    data = read_file(path)
    row: AnyFormat = formats.identify(data, path)
    name = path.stem if isinstance(row, AnimationFormat) else model_name(path)
    return row, row.load(data, name)


def problems(row: AnyFormat, model: Any, game: str) -> list[Problem]:
    """Return what a game, one of GAMES, refuses or changes of a model of a format."""
    if game not in row.games:
        return [Problem(limits.ERROR, "", f"is {row.name.upper()}, which {_label(game)} does not read")]
    if isinstance(row, Format):
        return limits.check(model, game, row.name)
    check = skeletal_limits.check if isinstance(row, SkeletalFormat) else skeletal_limits.check_animation
    return check(model, game)


def _label(game: str) -> str:
    known = limits.GAMES.get(game) or skeletal_limits.GAMES[game]
    return known.label


def described(row: AnyFormat, model: Any) -> str:
    """Return what a model holds, in words."""
    if isinstance(row, Format):
        return describe(model)
    return describe_skeletal(model) if isinstance(row, SkeletalFormat) else describe_animation(model)


def convert(
    source: Path,
    target: Path,
    game: str,
    options: Mapping[str, Any],
    animations: Sequence[Path] = (),
    tags: Sequence[str] = (),
) -> str:
    """Convert a file; returns a line that says what came of it.

    A skeletal model becomes a vertex-animated one by posing it in all frames of `animations`; joints called in `tags`
    become tags.

    Raises:
        ModelError: the file can't be read, or not become one of that kind, or the game would refuse it.
    """
    to = formats.by_suffix(target)
    if to is None:
        raise LimitError(f"can't write '{target.suffix}'")
    with collected_warnings() as warnings:
        row, model = load(source)
        if isinstance(row, SkeletalFormat) and isinstance(to, Format):
            model = bake(model, [_animation(row, path) for path in animations], list(tags))
        elif type(row) is not type(to) or (row is not to and not isinstance(to, Format)):
            reason = ": that takes a skeleton" if isinstance(row, Format) else ""
            raise LimitError(f"{row.name.upper()} can't become {to.name.upper()}{reason}")
        elif animations or tags:
            raise LimitError("only a skeletal model that becomes a vertex-animated one takes animations and tags")
        if isinstance(to, Format):
            written = formats.dump_for(to, model, game, options)
            data, model, notes = written.data, written.model, written.notes
        else:
            notes = _refused(problems(to, model, game))
            data = to.dump(model)
        write_file(target, data)
    return joined([described(to, model), *warnings, *notes], most=7)


def _refused(found: list[Problem]) -> list[str]:
    errors = [str(problem) for problem in found if problem.severity == limits.ERROR]
    if errors:
        raise LimitError(joined(errors))
    return [str(problem) for problem in found]


def _animation(row: SkeletalFormat, path: Path) -> Animation:
    """Return the animation in a file; raises ModelError, which names the file: it is not the one that is converted."""
    try:
        data = read_file(path)
        found: AnyFormat = formats.identify(data, path)
        if found.name == row.animation and isinstance(found, AnimationFormat):
            return found.load(data, path.stem)
    except ModelError as error:
        raise ModelError(f"'{path.name}': {error}") from error
    raise LimitError(f"'{path.name}' is no animation for {row.name.upper()}")
