"""Which models archives hold, and the games of the preferences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ... import formats
from ...game.folders import Game
from ...game.listing import ANY_DEPTH, Found, models_in
from ...game.store import Store
from ...reporting import LimitError, ModelError, collected_warnings, joined, listed, plural
from .games import configured, user_disk


def kinds_in(space: str) -> dict[str, str]:
    """Return the formats' names by lower-case suffix of what the operators of a space import: `scene` or `anim`."""
    rows = [row for row in formats.ROWS if (row.has_model if space == "scene" else row.has_motions)]
    return {suffix: row.name for row in rows for suffix in row.suffixes}


@dataclass
class Models:
    """Models of archives or of a game, in order of their paths, and what there is to say of them."""

    place: str  # what a sentence calls where they lie
    found: list[Found]
    notes: list[str] = field(default_factory=list)


def in_archives(
    paths: Sequence[Path], kinds: Mapping[str, str], patterns: Sequence[str] = (), noun: str = "model"
) -> Models:
    """Return the models of archives; `kinds` are formats' names by lower-case suffix, `patterns` say which, else all.

    `noun` is what a sentence calls them.

    Raises:
        ModelError: one can't be read, or holds no model, or a pattern fits none.
    """
    disk = user_disk()
    stores: list[Store] = []
    notes = []
    for path in paths:
        archive = disk.archive(disk.file(path))
        try:
            refused = archive.directory().refused
        except ModelError as error:
            raise LimitError(f"{path.name}: {error}") from error
        if refused:
            notes.append(f"{path.name}: {plural(len(refused), 'file')} left out, no game can reach such names")
        stores.append(archive.folder())
    names = listed([path.name for path in paths])
    return Models(names, _chosen(f"{names} has no {noun}", stores, kinds, patterns), notes)


def in_game(game: Game, kinds: Mapping[str, str], patterns: Sequence[str] = ()) -> Models:
    """Return the models that a game sees, of those of one name the strongest; see `in_archives`."""
    with collected_warnings() as warnings:
        store = user_disk().game(game)
        try:
            found = _chosen(f"'{game.name}' has no model", [store], kinds, patterns)
        except ModelError as error:
            raise LimitError(joined([str(error), *warnings])) from error
    return Models(f"'{game.name}'", found, warnings)


def game_called(name: str) -> Game:
    """Return the game that the preferences call so, the first one for ""; raises LimitError."""
    found = next((game for game in configured() if name in {"", game.name}), None)
    if found is None:
        shown = f" '{name}'" if name else ""
        raise LimitError(f"the preferences name no game{shown} whose folder is there")
    return found


def models_of(name: str, patterns: Sequence[str] = ()) -> Models:
    """Return models of the game that the preferences call so; raises ModelError."""
    return in_game(game_called(name), kinds_in("scene"), patterns)


def _chosen(lack: str, stores: Sequence[Store], kinds: Mapping[str, str], patterns: Sequence[str]) -> list[Found]:
    """Return the models that patterns mean, each once: what one matches may be a folder. `lack` says that none fits."""
    found: dict[Found, None] = {}
    for pattern in patterns or [ANY_DEPTH]:
        wanted = (pattern, f"{pattern}/{ANY_DEPTH}") if patterns else (pattern,)
        here = [each for store in stores for part in wanted for each in models_in(store, kinds, part)]
        if not here:
            raise LimitError(f"{lack} '{pattern}'" if patterns else f"{lack}s")
        found.update(dict.fromkeys(here))
    return sorted(found, key=lambda each: f"{each.folder}/{each.file.name}".lower())
