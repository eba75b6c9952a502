"""A player of XreaL: the example's newt, with what its folder has to hold."""

from __future__ import annotations

from pathlib import Path

from tests.packs import put_files

EXAMPLE = Path(__file__).resolve().parent.parent / "examples/newt/models/md5/newt"
FOLDER = "models/players/newt"
CFG = """// a toy
sex n
headoffset 0 0 0
firstTorsoBoneName "spine"
neckControlBoneName head
modelScale 0.83 0.83 0.83
"""


def files() -> dict[str, bytes]:
    """Return the player's files by their names in the game."""
    return {
        f"{FOLDER}/character.cfg": CFG.encode(),
        f"{FOLDER}/body_default.skin": f"newt,{FOLDER}/skin\n".encode(),
        f"{FOLDER}/body_ice.skin": f"newt,{FOLDER}/ice\n".encode(),
        f"{FOLDER}/body.md5mesh": (EXAMPLE / "newt.md5mesh").read_bytes(),
        f"{FOLDER}/idle.md5anim": (EXAMPLE / "idle.md5anim").read_bytes(),
        f"{FOLDER}/walk.md5anim": (EXAMPLE / "walk.md5anim").read_bytes(),
        f"{FOLDER}/picture.tga": (EXAMPLE / "newt.tga").read_bytes(),
        "materials/newt.mtr": f"{FOLDER}/skin {{ diffusemap {FOLDER}/picture.tga }}".encode(),
    }


def put_player(folder: Path, **changed: bytes | None) -> Path:
    """Write a player's files below a game's folder; `changed` by the file's name: other bytes, None for no file."""
    put_files(folder, files(), changed)
    return folder / FOLDER / "character.cfg"
