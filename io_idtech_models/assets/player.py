"""A player of Quake III and its kin, read with all that its files hold, and written, into a folder or an archive.

What a save writes back without an edit is kept as it was read: the texts' bytes here, the models' in their sources.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from ..formats import VERTEX, Format
from ..game.dress import NONE, Dress
from ..game.player.animation_cfg import AnimationTable, read
from ..game.player.files import PartFiles, PlayerFiles
from ..game.skin import read_skin
from ..game.store import GameFile, name_parts, split_at_archive
from ..model.vertex import VertexModel
from ..reporting import LimitError, ModelError, reason
from .load import load
from .packs import write_members
from .storage import Target, write_files

PLAYERS = ("models", "players")
PACK = ".pk3"
MOST_NAMED = 4  # rows in a sentence


@dataclass
class LoadedPart:
    """A part: its model as its file has it, and what it wears."""

    name: str  # lower, upper, head, or nonseg
    files: PartFiles
    file: GameFile  # the model's, which a skin may have of its own
    row: Format
    model: VertexModel
    dress: Dress | None

    def levels(self) -> Iterator[tuple[int, GameFile, VertexModel]]:
        """Yield the levels of detail, the finest first, each read when it is asked for.

        Raises:
            ModelError: one can't be read; the sentence names it.
        """
        for nth, file in sorted(self.files.levels.items()):
            yield nth, file, _model(file)[1]


@dataclass
class LoadedPlayer:
    """What was read of a player."""

    files: PlayerFiles
    skin: str  # "" without one
    parts: dict[str, LoadedPart] = field(default_factory=dict)
    table: AnimationTable | None = None
    texts: dict[str, bytes] = field(default_factory=dict)  # the table and all skins of all parts, by the files' names
    complaints: list[str] = field(default_factory=list)  # what is missing, broken, or shown otherwise, a sentence each

    @property
    def pictures(self) -> dict[str, GameFile]:
        """Return the icons by their files' names, which a player needs wherever it is written."""
        return {file.name: file for file in self.files.icons.values()}


def load_player(files: PlayerFiles, skin: str = "") -> LoadedPlayer:
    """Return a player in a skin: of a name, `none`, or "" for the one to show first.

    What can't be read is left out, and said among the complaints.

    Raises:
        ModelError: no part has a skin of that name, or no part's model can be read.
    """
    chosen = _choose(files, skin)
    found = LoadedPlayer(files, chosen, complaints=[*files.missing, *([files.iconless] if files.bare else [])])
    errors = []
    for name, part in files.parts.items():
        file = part.model(chosen)
        try:
            row, model = _model(file)
        except ModelError as error:
            errors.append(str(error))
            continue
        found.parts[name] = LoadedPart(name, part, file, row, model, _dress(part, chosen, skin, found.complaints))
    if not found.parts:
        raise ModelError("; ".join(errors) or f"'{files.name}' has no model")
    found.complaints += errors
    _read_table(found)
    _read_texts(found)
    return found


def _choose(files: PlayerFiles, skin: str) -> str:
    """Return the skin to wear, in lower case; "" for none."""
    wanted = skin.lower()
    if wanted == NONE:
        return ""
    there = {name for part in files.parts.values() for name in part.skins}
    if wanted and wanted not in there:
        names = ", ".join([*files.skins, *sorted(there - set(files.skins))]) or "none"
        raise LimitError(f"there is no skin '{skin}' for '{files.name}': {names}")
    return wanted or next(iter(files.skins), "")


def _dress(part: PartFiles, chosen: str, asked: str, complaints: list[str]) -> Dress | None:
    """Return what a part wears: of a player without a skin for all parts its own first one."""
    name = chosen or ("" if asked.lower() == NONE else next(iter(part.skins), ""))
    file = part.skins.get(name)
    if file is None:
        return None
    try:
        return Dress(name, file, read_skin(file.read()))
    except ModelError as error:
        complaints.append(f"'{file.name}': {error}")
        return None


def _model(file: GameFile) -> tuple[Format, VertexModel]:
    """Return a file's format and model; raises ModelError, whose sentence names the file."""
    try:
        loaded = load(file, wanted=VERTEX)
    except ModelError as error:
        raise ModelError(f"'{file.name}': {error}") from error
    assert isinstance(loaded.model, VertexModel)
    return loaded.row, loaded.model


def _read_table(player: LoadedPlayer) -> None:
    file = player.files.table
    if file is None:
        return
    try:
        player.texts[file.name] = file.read()
        player.table = read(player.texts[file.name])
    except ModelError as error:
        player.complaints.append(f"'{file.name}': {error}")
        return
    lacking = player.table.lacking()
    player.complaints += [f"'{file.name}': {lacking}"] if lacking else []
    outside = (frames_outside(player.table, part) for part in player.parts.values())
    player.complaints += [f"'{file.name}': {text}" for text in outside if text]


def frames_outside(table: AnimationTable, part: LoadedPart) -> str:
    """Return which rows go beyond the frames of a part's model, in a sentence; "" if none does."""
    num_frames = len(part.model.frame_names)
    names = [row.name for row in table.of_part(part.name) if row.outside(num_frames)]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    rows = f"{', '.join(names[:MOST_NAMED])}{more}"
    return f"rows go beyond the {num_frames} frames of '{part.file.name}', games show frame 0: {rows}" if names else ""


def other_frames(part: LoadedPart, file: GameFile, level: VertexModel) -> str:
    """Return what is wrong with a level of detail of other frames than its part's model has; "" if nothing."""
    wanted, found = len(part.model.frame_names), len(level.frame_names)
    if wanted == found:
        return ""
    return f"'{file.name}' has {found} frames, '{part.file.name}' {wanted}: games ask both for the same, and may crash"


def _read_texts(player: LoadedPlayer) -> None:
    """Keep all skins as they are, for a save: those that can't be read were said where they are worn, if they are."""
    worn = {part.dress.file for part in player.parts.values() if part.dress is not None}
    for part in player.files.parts.values():
        for file in part.skins.values():
            try:
                player.texts[file.name] = file.read()
            except ModelError as error:
                if file not in worn:
                    player.complaints.append(f"'{file.name}': {error}")


def write_player(
    target: Target, name: str, files: Mapping[str, bytes], besides: Mapping[str, bytes] | None = None
) -> None:
    """Write a player's files, by their names in its folder: all of them or, if one can't be, none.

    `besides` are others, by their paths in the game, which an archive takes along.

    `target` is the player's folder, made if it is not there; or a .pk3, there or not, in which the files lie in
    `models/players/NAME`, or in the folder that `target` leads to (`mod.pk3/models/players/x`). What is there in
    another case is replaced, what has these bytes already not touched, and whatever else is there stays as it is.

    Raises:
        ModelError: something can't be written: all that was there is as it was.
    """
    odd = next((each for each in files if not each or "/".join(name_parts(each)) != each), None)
    if odd is not None:
        raise LimitError(f"'{odd}' can't be the name of a player's file")
    found = split_at_archive(target, lambda path: not os.path.isdir(path))  # noqa: PTH112 - a path's parts, as strings
    if found is None:
        _write_folder(target, files)
        return
    place, inner = found
    if not place.lower().endswith(PACK):
        raise LimitError(f"can't write '{place}': of archives only {PACK} can be written")
    folders = "/".join(inner or (*PLAYERS, name))
    write_members(Target(place), {f"{folders}/{each}": data for each, data in files.items()} | dict(besides or {}))


def _write_folder(folder: Target, files: Mapping[str, bytes]) -> None:
    made = []
    changed = []
    try:
        for name, data in files.items():
            path = _spelt(folder, name)
            for place in (*reversed(path.parents),):
                if not place.exists():
                    place.mkdir()
                    made.append(place)
            if not (path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data):
                changed.append((path, data))
        write_files(changed)
    except BaseException as error:
        for place in reversed(made):
            with suppress(OSError):
                place.rmdir()
        if isinstance(error, OSError):
            raise ModelError(f"can't write into '{folder}': {reason(error)}") from error
        raise


def _spelt(folder: Target, name: str) -> Target:
    """Return where a file is, as it is called there if that differs in case alone."""
    for part in name.split("/"):
        exact = folder / part
        same = (
            []
            if exact.exists() or not folder.is_dir()
            else sorted(each for each in folder.iterdir() if each.name.lower() == part.lower())
        )
        folder = same[0] if same else exact
    return folder
