"""Characters as their files are found, of every game."""

from pathlib import Path
from typing import Any

from io_idtech_models.game.character.kinds import character_of
from io_idtech_models.game.folders import Disk


def found(path: object, skin: str = "", name: str = "") -> Any:
    return character_of(Disk().file(Path(str(path))), skin, name)
