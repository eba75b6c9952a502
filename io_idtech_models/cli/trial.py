"""`try`: a model, as it lies on disk, shown in its game, and what the game says of it."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from ..game.folders import Disk, Game, Union, led
from ..game.player.files import players_in
from ..game.store import ARCHIVES, GameFile, Store, name_parts
from ..game.trial.command import ARGUMENTS, PLACEHOLDERS
from ..game.trial.script import View
from ..game.trial.subject import PARTS
from ..reporting import LimitError, ModelError, collected_warnings, listed
from .console import say, warn

PICTURE = ".tga"
MOST_NAMED = 20  # players in a message


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command; those of the surroundings are others'."""
    add, view = parser.add_argument, View()
    add("model", metavar="MODEL", help="a player's folder, or an .md3; on disk, in an archive, or a path in the game")
    add("--executable", metavar="PROGRAM", required=True, help="the game's program; nothing else is ever run")
    known = "; ".join(f"{{{name}}}: {meaning}" for name, meaning in PLACEHOLDERS.items())
    add("--arguments", metavar="WORDS", default="", help=f"what the program is told ({ARGUMENTS}). {known}")
    add("--map", metavar="NAME", default="", help="a map of the game (a plain room of its own)")
    add("--skin", metavar="NAME", default="", help="what a player wears (default)")
    add("--angle", type=_number, default=view.angle, metavar="DEGREES", help="around a player: 0 sees its back (180)")
    add("--distance", type=_number, default=view.distance, metavar="UNITS", help="of the camera from a player (80)")
    add("--size", type=_size, default=view.size, metavar="WxH", help="of the game's window, in pixels (1280x720)")
    add("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the engine; several times")
    add("--shot", metavar=f"FILE{PICTURE}", help="take a picture of the model, and end the game")
    add("--time-limit", type=_number, default=0.0, metavar="SECONDS", help="after which the game is ended (none)")


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not abs(value) <= 1e6:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number")
    return value


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.lower().partition("x")
    if not (width.isdecimal() and height.isdecimal() and 64 <= int(width) <= 8192 and 64 <= int(height) <= 8192):
        raise argparse.ArgumentTypeError(f"'{text}' is not WIDTHxHEIGHT, 64 to 8192 pixels each")
    return int(width), int(height)


def try_model(options: argparse.Namespace) -> bool:
    """Show a model in a game, and say what that says; returns whether all was well."""
    try:
        with collected_warnings() as warnings:
            complaints = _run(options)
    except ModelError as error:
        warn(f"{options.model}: {error}")
        return False
    for text in (*warnings, *complaints):
        warn(f"{options.model}: {text}")
    return not complaints


def _run(options: argparse.Namespace) -> list[str]:
    from ..assets.belongings import belongings  # which other commands do without
    from ..assets.storage import write_file
    from ..assets.trial import Program, Settings, run

    if not options.game_folder:
        raise LimitError("say with --game-folder where the game is")
    shot = Path(options.shot) if options.shot else None
    if shot is not None and shot.suffix.lower() != PICTURE:
        raise LimitError(f"games take pictures as {PICTURE}: '{shot}' is another")
    game = Game(Path(options.game_folder[-1]).name, tuple(options.game_folder), options.engine or "")
    disk = Disk([game])
    seen = disk.game(game)
    found = belongings(_file(options.model, disk, seen), seen, options.skin)
    cvars = dict(_setting(text) for text in options.set)
    view = View(options.angle, options.distance, options.size, shot is not None, cvars)
    executable = shutil.which(options.executable) or options.executable  # a name, as in a terminal, or a path
    program = Program(game, executable, options.arguments, options.map)
    outcome = run(found.files, found.subject, program, Settings(view, options.time_limit), found.about)
    if shot is not None and outcome.picture is not None:
        write_file(shot, outcome.picture)
    say(f"{found.subject.label} in '{game.name}': {outcome.seconds:.1f} seconds")
    return outcome.complaints


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise LimitError(f"'{text}' is not NAME=VALUE")
    return name, value


def _file(name: str, disk: Disk, game: Union) -> GameFile:
    """Return the model that an argument means: a file, or a part of the player in a folder; raises LimitError.

    What lies beside it is read from where it lies itself, though the game would take another archive's; not so where
    the argument is a path in the game.
    """
    file = disk.file(Path(name))
    if file.is_file() and file.suffix.lower() in ARCHIVES:
        players = [player.name for player in players_in(disk.store(Path(name)))]
        known = f"players of it: {listed(players, MOST_NAMED)}" if players else "it has no players"
        raise LimitError(f"that is an archive, name a model in it ({file.name}/models/players/NAME); {known}")
    if file.is_file():
        return GameFile(led(file.layer), file.name)
    parts = name_parts(name)
    folders: list[Store] = [led(disk.store(Path(name))), *(game.below(parts) if parts else ())]
    inside = game.find_first(parts[:-1], parts[-1:]) if parts else None
    found = inside or next((each for each in map(_part_in, folders) if each is not None), None)
    if found is None:
        raise LimitError(f"there is neither such a file nor a folder with {', '.join(f'{part}.md3' for part in PARTS)}")
    return found


def _part_in(folder: Store) -> GameFile | None:
    parts = [folder.find_first((), [f"{part}.md3"]) for part in PARTS]
    return GameFile(folder, parts[0].name) if parts[0] is not None and all(parts) else None
