"""Which game a model is for, as far as the folder that it lies in tells, or its format."""

from __future__ import annotations

from collections.abc import Sequence

from .games import GAMES

UNKNOWN, OF_PLAYERS = "format", "quake3"
# The folders of games' own files (FS_InitFilesystem and its like; COM_InitFilesystem), and the games that have one of
# that name, the likeliest first. Of several engines of a game it is one that takes what the game's own files hold.
FOLDERS: dict[str, tuple[str, ...]] = {
    "id1": ("quakespasm",),
    "hipnotic": ("quakespasm",),
    "rogue": ("quakespasm",),
    "baseq2": ("quake2", "quake2remaster"),
    "xatrix": ("quake2", "quake2remaster"),
    "baseq3": ("quake3", "ioquake3"),
    "missionpack": ("quake3", "ioquake3"),
    "baseoa": ("ioquake3",),
    "baseef": ("eliteforce",),
    "main": ("rtcw",),
    "etmain": ("et",),
    "legacy": ("etlegacy",),
    "base": ("doom3",),
    "d3xp": ("doom3",),
}
# Formats that one game's modders make, though other engines read them.
FORMATS = {
    "mdl": "quakespasm",
    "md2": "quake2",
    "md5mesh": "doom3",
    "md5anim": "doom3",
    "mds": "rtcw",
    "mdm": "et",
    "mdx": "et",
    "tag": "et",
}


def game_for(format_name: str, folders: Sequence[str]) -> str:
    """Return the key in `GAMES` of the game of a model, by the folders above it, outermost first, or by its format.

    `UNKNOWN` where neither tells. A folder that no game of the format has says nothing.
    """
    for folder in reversed(folders):
        found = next((key for key in FOLDERS.get(folder.lower(), ()) if format_name in GAMES[key].formats), "")
        if found:
            return found
    below_md5 = bool(folders) and folders[-1].lower() == GAMES["quake2remaster"].folder
    if below_md5 and format_name in GAMES["quake2remaster"].formats:
        return "quake2remaster"
    return FORMATS.get(format_name, UNKNOWN)


def game_of_player(folders: Sequence[str]) -> str:
    """Return the key in `GAMES` of the game of a player of MD3 files: where no folder above it tells, Quake III."""
    found = game_for("md3", folders)
    return OF_PLAYERS if found == UNKNOWN else found
