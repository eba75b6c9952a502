"""The command line: info, check, convert, try. numpy only; inside Blender `ui.cli` adds to `convert` what needs it."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from .. import formats
from ..assets import character
from ..assets import convert as conversion
from ..assets.export_request import ExportRequest
from ..assets.load import load
from ..game.character.files import CharacterFiles
from ..game.character.kinds import character_of, kind_of, names_in
from ..game.families import FAMILIES
from ..game.folders import Disk, Game
from ..game.store import GameFile
from ..model.limits.games import ERROR, GAMES, NO_GAME, WARNING
from ..model.rigging.rig import RigSettings
from ..reporting import ModelError, collected_warnings, listed, reason
from . import batch
from .batch import FAILED, INTERRUPTED, MODEL_SUFFIXES, OK, USAGE, Converter
from .console import say, warn
from .info import facts, table
from .inputs import WITH_CHARACTERS, expand
from .trial import declare as declare_trial
from .trial import try_model
from .workers import Job

SHORTEN = "shorten"


def convert_plain(job: Job, options: argparse.Namespace, bounds: tuple[int, int] | None = None) -> str:
    """Convert between formats, without Blender; returns a line. Raises ModelError.

    `bounds` are the first and the last frame that are chosen of a model's animations.
    """
    own = own_options(formats.by_suffix(job.target), options)
    disk = disk_of(options)
    animations = [disk.file(Path(name)) for name in options.anim]
    frames = None if bounds is None else range(bounds[0], bounds[1] + 1)
    asked = ExportRequest(job.target, options.game, own, shortens(options), levels=options.levels)
    smooth = options.normals == "smooth"
    posing = conversion.Posing(animations, options.tags, frames, rig_of(options), scale=options.scale, smooth=smooth)
    return conversion.convert(disk.file(job.source), asked, posing)


def disk_of(options: argparse.Namespace) -> Disk:
    """Return what files are read from, with the game that the options tell of."""
    if not options.game_folder:
        return Disk()
    return Disk([Game("", tuple(options.game_folder), options.engine or "")])


def shortens(options: argparse.Namespace) -> bool:
    """Tell whether names that are too long are to be made shorter, rather than refused."""
    return bool(options.long_names == SHORTEN)


def own_options(row: formats.Format | None, options: argparse.Namespace) -> dict[str, Any]:
    """Return a format's own options of an export as the command line gives them."""
    return {} if row is None else {option.name: getattr(options, option.name) for option in row.options}


def work(passed: str) -> None:
    """Be a worker process of `convert --jobs`."""
    sys.exit(batch.serve(passed, PLAIN))


def _worker(passed: str) -> list[str]:
    """Return the command that starts a worker: no module of the user's folder comes before Python's own."""
    package = str(Path(__file__).resolve().parents[2])  # where the package lies
    code = f"import sys; sys.path.insert(0, {package!r}); from {__name__} import work; work({passed!r})"
    return [sys.executable, "-P", "-c", code]


PLAIN = Converter(
    MODEL_SUFFIXES,
    MODEL_SUFFIXES,
    lambda job, options: convert_plain(job, options, options.range),
    _worker,
    hint="use Blender for other formats: python3 build.py convert, or blender -c idtech convert",
)


def main(argv: list[str], converter: Converter = PLAIN) -> int:
    """Run a command; returns the exit status: 0, 1 if a file failed, 2 for a usage error, 130 after Ctrl-C."""
    try:
        options = _parse(argv, converter)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else USAGE
    try:
        status = int(options.run(options, converter))
        if sys.stdout is not None:  # a process can be started without
            sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # who reads our output has seen enough: `info ... | head`
        return FAILED
    except OSError as error:  # of files it is in words by now
        with suppress(OSError):
            warn(f"can't write to the terminal, or where that leads: {reason(error)}")
        return FAILED
    return status


def _parse(argv: list[str], converter: Converter) -> argparse.Namespace:
    """Return the options; raises SystemExit. Options may stand between the files, which subparsers can't do.

    Behind `--` are files alone, whatever they begin with, which argparse bears in no place but the first.
    """
    parser, commands = _parsers(converter)
    if "--" in argv:
        end = argv.index("--")
        argv = [*argv[:end], *(f".{os.sep}{name}" if name.startswith("-") else name for name in argv[end + 1 :])]
    if argv and argv[0] in commands:
        return commands[argv[0]].parse_intermixed_args(argv[1:])
    return parser.parse_args(argv)


def _parsers(converter: Converter) -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    parser = argparse.ArgumentParser(prog="idtech", description="Models of id Software's engines.")
    commands = parser.add_subparsers(required=True, metavar="info | check | convert | try")
    info = commands.add_parser("info", help="show what a model holds")
    check = commands.add_parser("check", help="tell what is broken, or what a game would refuse")
    convert = commands.add_parser("convert", help="convert files", description=_convert_help(converter))
    for command, run in ((info, _info), (check, _check)):
        command.add_argument("files", nargs="+", metavar="FILE")
        command.add_argument("--json", action="store_true", help="for programs")
        command.set_defaults(run=run)
    trial = commands.add_parser("try", help="show a model in its game, and tell what that says of it")
    trial.set_defaults(run=_try)
    for command in (info, check, convert, trial):
        _add_surroundings(command)
    declare_trial(trial)
    check.add_argument("--game", choices=tuple(GAMES), default=NO_GAME)
    convert.add_argument("files", nargs="+", metavar="FILE", help="inputs (files, folders, globs), then the output")
    convert.add_argument("--to", metavar="SUFFIX", help="write this format; the output is then a folder, or left out")
    convert.add_argument("--game", choices=tuple(GAMES), default=NO_GAME, help="whose limits to keep")
    for option, rows in _own_options():
        _add_option(convert, rows, option)
    anim = "an animation of a skeletal model, which goes along or poses it for formats without bones; several times"
    convert.add_argument("--anim", metavar="FILE", action="append", default=[], help=anim)
    convert.add_argument("--tags", metavar="JOINTS", type=_names, default=[], help="joints that become tags: a,b,c")
    description = "make a skeleton for a model of frames (MD2, MD3, MDC, MDL) that becomes one of bones"
    convert.add_argument("--rig", action="store_true", help=description)
    convert.add_argument("--bones", type=_count, default=0, metavar="N", help="of --rig: at most so many (automatic)")
    description = "write NAME_1, NAME_2 beside a model, with so many percent of its triangles: 50,25"
    convert.add_argument("--levels", metavar="PERCENT", type=_levels, default=[], help=description)
    description = f"names that are too long: {SHORTEN} them, and say so, or refuse the file ({SHORTEN})"
    convert.add_argument("--long-names", choices=(SHORTEN, "refuse"), default=SHORTEN, help=description)
    convert.add_argument("--report", metavar="FILE", help="write what came of each file, one JSON object a line")
    convert.add_argument("--skip-existing", action="store_true", help="leave out files whose output is there already")
    convert.add_argument("--jobs", type=_count, default=1, metavar="N", help="work on N files at once (1)")
    if converter.add_options is not None:
        converter.add_options(convert)
    else:
        description = "of a skeletal model's animations, for formats without bones"
        convert.add_argument("--frames", dest="range", type=_range, metavar="FIRST-LAST", help=description)
        description = "a model that becomes one of frames is so many times as large"
        convert.add_argument("--scale", type=scale_of, default=1.0, metavar="X", help=f"{description} (1)")
        description = "where normals of a model that becomes one of frames come from"
        convert.add_argument(
            "--normals", choices=("source", "smooth"), default="source", help=f"{description} (source)"
        )
    convert.set_defaults(run=batch.convert)
    return parser, {"info": info, "check": check, "convert": convert, "try": trial}


def rig_of(options: argparse.Namespace) -> RigSettings | None:
    """Return how a skeleton is made for frames; None where none is asked for."""
    return RigSettings(bones=options.bones) if options.rig or options.bones else None


def _add_surroundings(parser: argparse.ArgumentParser) -> None:
    """Declare the options that say where else the files of a model may lie."""
    said = (
        "a game's folder, with its archives, where files of models are looked for; several times, the strongest first"
    )
    parser.add_argument("--game-folder", metavar="DIR", action="append", default=[], help=said)
    said = "by whose rules game folders are read (told by what lies there)"
    parser.add_argument("--engine", choices=tuple(FAMILIES), help=said)


def _own_options() -> list[tuple[formats.Option, list[formats.Format]]]:
    """Return the options that formats have of their own, each once, and the formats that have it."""
    found: dict[str, tuple[formats.Option, list[formats.Format]]] = {}
    for row in formats.ROWS:
        for option in row.options:
            found.setdefault(option.name, (option, []))[1].append(row)
    return list(found.values())


def _add_option(parser: argparse.ArgumentParser, rows: list[formats.Format], option: formats.Option) -> None:
    """Declare an option that some formats have."""
    suffixes = ", ".join(row.suffixes[0] for row in rows)
    flag, description = "--" + option.name.replace("_", "-"), f"{suffixes}: {option.description}"
    if isinstance(option.default, bool):
        parser.add_argument(flag, dest=option.name, action="store_true", help=description)
        return

    def number(text: str) -> int:
        if not text.isdecimal() or int(text) > option.most:
            raise argparse.ArgumentTypeError(f"'{text}' is no number from 0 to {option.most}")
        return int(text)

    parser.add_argument(flag, dest=option.name, type=number, default=option.default, metavar="N", help=description)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _levels(text: str) -> list[float]:
    from ..model.lod.levels import shares_of

    try:
        return shares_of(text)
    except ModelError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _range(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last)):
        raise argparse.ArgumentTypeError(f"'{text}' is not FIRST-LAST, two numbers of frames")
    return int(first), int(last)


def scale_of(text: str) -> float:
    """Return a factor that an option names."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 1e-4 <= value <= 1e4:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 0.0001 to 10000")
    return value


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 1 on")
    return int(text)


def _convert_help(converter: Converter) -> str:
    read, write = ("  ".join(dict.fromkeys(s)) for s in (converter.readable, converter.writable))
    return f"Reads {read}; writes {write}. One input and an output file, or inputs, --to SUFFIX and an output folder."


def _models(options: argparse.Namespace) -> tuple[list[Path], bool]:
    """Return the files of `info` and `check`, and tell whether an argument means none, which is said."""
    inputs, without_models = expand(options.files, WITH_CHARACTERS)
    for name, why in without_models.items():
        warn(f"{name}: {why or 'no model there'}")
    return [each.path for each in inputs], bool(without_models)


def _info(options: argparse.Namespace, converter: Converter) -> int:
    paths, failed = _models(options)
    records = []
    for path in paths:
        try:
            with collected_warnings():
                every = _facts(path, options)
        except ModelError as error:
            failed = True
            warn(f"{path}: {error}")
            continue
        for found in every:
            records.append({"file": str(path)} | found)
            if not options.json:
                say("\n".join(table(path, found)))
    if options.json:
        say(json.dumps(records, indent=2))
    return FAILED if failed else OK


def _facts(path: Path, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return what `info` shows of a file: of one that names characters of each of these; raises ModelError."""
    file = disk_of(options).file(path)
    kind = kind_of(file)
    own = [facts(load(file))] if kind is None or kind.is_model else []
    return own if kind is None else own + [character.facts(found) for found in _characters(file, options)]


def _characters(file: GameFile, options: argparse.Namespace) -> Iterator[CharacterFiles]:
    """Yield the characters that a file names: none of one in a folder that names things of other kinds alone."""
    names = names_in(file)
    asked = any(Path(each) == file.path for each in options.files)
    for name in names or ([""] if asked else []):
        yield character_of(file, "", name)


def _try(options: argparse.Namespace, converter: Converter) -> int:
    return OK if try_model(options) else FAILED


def _check(options: argparse.Namespace, converter: Converter) -> int:
    paths, failed = _models(options)
    records = []
    for path in paths:
        found = _problems(path, options)
        failed |= any(severity == ERROR for severity, _ in found)
        records.append({"file": str(path), "problems": [{"severity": s, "text": t} for s, t in found]})
        if not options.json:
            say("\n".join([f"{path}:" if found else f"{path}: ok", *(f"  {s}: {t}" for s, t in found)]))
    if options.json:
        say(json.dumps(records, indent=2))
    return FAILED if failed else OK


def _of_characters(characters: list[CharacterFiles], game: str) -> list[tuple[str, str]]:
    """Return what is wrong with the characters of a file; what is not of all of them names those that it is of."""
    whose: dict[tuple[str, str], list[str]] = {}
    for each in characters:
        for problem in character.problems(each, game):
            whose.setdefault(problem, []).append(each.name)
    return [
        (severity, text if len(names) == len(characters) else f"{listed(names)}: {text}")
        for (severity, text), names in whose.items()
    ]


def _problems(path: Path, options: argparse.Namespace) -> list[tuple[str, str]]:
    """Return what is broken or odd in a file, and what a game refuses or changes of it: severity and text."""
    with collected_warnings() as warnings:
        found: list[tuple[str, str]] = []
        try:
            file = disk_of(options).file(path)
            kind = kind_of(file)
            if kind is not None:
                found = _of_characters(list(_characters(file, options)), options.game)
            if kind is None or kind.is_model:
                found = [(p.severity, str(p)) for p in conversion.problems(load(file), options.game)] + found
        except ModelError as error:
            found = [(ERROR, str(error))]
    return [*((WARNING, text) for text in warnings), *found]
