"""Where an export's files go: some games want them in a folder of their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ...assets.storage import write_files
from ...model.limits.games import GAMES
from ...reporting import LimitError, reason


def in_game_folder(path: Path, game: str) -> Path:
    """Return where a game wants a file: for some in a folder of its own."""
    folder = GAMES[game].folder
    if not folder or path.parent.name.lower() == folder:
        return path
    return path.parent / folder / path.name


def folder_notes(target: Path, path: Path) -> list[str]:
    """Say that a file was written elsewhere than at the path that was asked for."""
    if target.parent == path.parent:
        return []
    return [f"written into the folder '{target.parent.name}', where the game looks for it"]


def write_into_folders(files: Mapping[Path, bytes]) -> None:
    """Write files, all or none, into folders that a game may want; raises ModelError."""
    wanted = {game.folder for game in GAMES.values() if game.folder}
    for folder in {target.parent: None for target in files}:
        asked = folder.parent if folder.name.lower() in wanted else folder  # which is made like any other, if need be
        try:
            if asked.parent.is_dir():
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LimitError(f"can't make the folder '{folder}': {reason(error)}") from error
    write_files(list(files.items()))
