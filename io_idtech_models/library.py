"""Models of id Software's engines in Python, with numpy alone: what scripts may rely on, now and in later versions.

    from io_idtech_models.library import load, save

    model = load("sentinel.md3")
    save(model, "sentinel.mdc")

A model is a `VertexModel`, animated vertex by vertex, or a `SkeletalModel`, which a skeleton moves; what its arrays are
is said in `model/vertex.py` and `model/skeletal.py`. One that was loaded knows its file: saved in the same format it is
the same bytes but for what was changed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from . import formats
from .assets import convert as conversion
from .assets.export_request import ExportRequest
from .assets.load import Loaded
from .assets.load import load as load_file
from .formats import SKELETAL, VERTEX, Format
from .game.folders import Disk, Game
from .model import still_source
from .model.limits.games import GAMES, NO_GAME, Problem
from .model.shapes import settled_motion, settled_skeletal, settled_vertex
from .model.skeletal import Animation, SkeletalModel
from .model.vertex import VertexModel
from .reporting import FormatError, LimitError, ModelError, collected_warnings, listed

__all__ = [
    "Animation",
    "FormatError",
    "LimitError",
    "Model",
    "ModelError",
    "Problem",
    "SkeletalModel",
    "VertexModel",
    "check",
    "load",
    "load_animations",
    "save",
]  # fmt: skip

Model = VertexModel | SkeletalModel
AnyPath = str | os.PathLike[str]


def load(path: AnyPath, *, bones: AnyPath | None = None, game_folders: Sequence[AnyPath] = ()) -> Model:
    """Return the model in a file of any of the formats.

    Args:
        path: The file, on disk or in an archive (`pak0.pk3/models/a.md3`).
        bones: The file with its bones, of formats that keep them apart (an MDM's `.mdx`); else it is looked for.
        game_folders: Where a game lies with its archives, the strongest first: what is not beside the model is looked
            for there.

    Raises:
        ModelError: It can't be read, is broken (`FormatError`, which says where), or holds animations alone. What can
            be survived is a warning of the logger `io_idtech_models`.
    """
    loaded = _loaded(path, bones, game_folders)
    if loaded.model is None:
        raise LimitError(f"'{path}' holds animations alone: load_animations reads them")
    model: Model = loaded.model
    return model if isinstance(model, SkeletalModel) else _with_own_arrays(model)


def load_animations(
    path: AnyPath, *, bones: AnyPath | None = None, game_folders: Sequence[AnyPath] = ()
) -> list[Animation]:
    """Return the animations of skeletons in a file, none if it has none; arguments and errors as `load` has them."""
    return [
        replace(each, positions=each.positions.copy(), rotations=each.rotations.copy())
        for each in _loaded(path, bones, game_folders).animations
    ]


def save(
    model: Model,
    path: AnyPath,
    *,
    animations: Sequence[Animation] = (),
    game: str = NO_GAME,
    shorten: bool = False,
    options: Mapping[str, Any] | None = None,
) -> list[str]:
    """Write a model in the format that the path's suffix names, whole or not at all.

    Args:
        model: What is written. It may come from another format, or from nowhere. What of it still is its file's is told
            by what it holds; where it has another number of vertices, triangles or joints, all of these are new.
        path: The file; what was there is replaced when all is well.
        animations: Of a skeletal model: they go into the file, or beside it where the format has files of their own;
            into a format without bones they pose it, one after another.
        game: Whose limits to keep, a key of `io_idtech_models.model.limits.games.GAMES`.
        shorten: Make names shorter that the format has no room for, and say so; else they are an error.
        options: Of the format's own, as the command line calls them, with `_` for `-`: `{"split_surfaces": True}`.

    Returns:
        What there is to say: names made shorter, what the format has no place for, what the game shows otherwise.

    Raises:
        ModelError: Arrays don't go together, the format can't hold it, the game would refuse it, there is no such game
            or option, or the file can't be written: it is as it was.
    """
    target = Path(path)
    to = _by_suffix(target)
    _refuse_unknown(game, to, options or {})
    if isinstance(model, VertexModel):
        coding = None if model.source is None else formats.by_name(model.source.format).coding
        model = still_source.vertex_model(settled_vertex(model), coding)
    else:
        model = still_source.skeletal_model(settled_skeletal(model))
    animations = [still_source.motion(settled_motion(each)) for each in animations]
    row = _row_of(model, to)
    if row is not to and row.skeletal.bind_pose_missing and to.family is SKELETAL and not animations:
        raise LimitError(f"a model of an {row.name.upper()} has no pose of its own: its bones lie in its animations")
    asked = ExportRequest(target, game, options or {}, shorten)
    with collected_warnings() as warnings:
        loaded = Loaded(row, model, animations)
        done = conversion.write(loaded, to, asked, conversion.Posing(motions=tuple(animations)))
    return [*warnings, *done.notes]


def check(path: AnyPath, *, game: str = NO_GAME, game_folders: Sequence[AnyPath] = ()) -> list[Problem]:
    """Return what a game, a key of `GAMES`, refuses of a file or shows otherwise; raises what `load` does.

    Raises:
        ModelError: There is no such game, too.
    """
    _refuse_unknown(game)
    return conversion.problems(_loaded(path, None, game_folders), game)


def _with_own_arrays(model: VertexModel) -> VertexModel:
    """Return a model that shares nothing with its source which a script might write into."""
    surfaces = [replace(each, triangles=each.triangles.copy(), uvs=each.uvs.copy()) for each in model.surfaces]
    return replace(model, surfaces=surfaces)


def _loaded(path: AnyPath, bones: AnyPath | None, game_folders: Sequence[AnyPath]) -> Loaded:
    disk = Disk([Game("", tuple(str(Path(folder)) for folder in game_folders))] if game_folders else [])
    return load_file(disk.file(Path(path)), [] if bones is None else [disk.file(Path(bones))])


def _by_suffix(path: Path) -> Format:
    row = formats.by_suffix(path)
    if row is None:
        raise LimitError(f"can't write '{path.suffix}'")
    return row


def _refuse_unknown(game: str, to: Format | None = None, options: Mapping[str, Any] = MappingProxyType({})) -> None:
    """Refuse a game that is none, and options that a format has not; raises LimitError."""
    if game not in GAMES:
        raise LimitError(f"there is no game '{game}', only {', '.join(GAMES)}")
    known = [] if to is None else [option.name for option in to.options]
    unknown = [name for name in options if name not in known]
    if to is not None and unknown:
        has = f"only {', '.join(known)}" if known else "it has none"
        raise LimitError(f"{to.name.upper()} has no option {listed(unknown)}, {has}")


def _row_of(model: Model, to: Format) -> Format:
    """Return the format that a model came from; of one that came from nowhere that of the file, or one like it."""
    if model.source is not None:
        return formats.by_name(model.source.format)
    family = VERTEX if isinstance(model, VertexModel) else SKELETAL
    return to if to.family is family else formats.rows_of(family)[0]
