"""A program that stands for a game, and players small enough to read: what tests of trials share."""

from __future__ import annotations

import json
import os
import stat
import sys
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from io_idtech_models.game.folders import Game
from tests.packs import put_files
from tests.samples import sample

# It notes what it was told and what it found, complains as it is asked to, and lists models as loaded.
PROGRAM = r"""
import json, os, pathlib, shutil, struct, sys, time, zipfile
home = pathlib.Path(sys.argv[sys.argv.index("fs_homepath") + 1])
(folder,) = (path for path in home.iterdir() if path.is_dir())
(pack,) = folder.glob("*.pk3")
with zipfile.ZipFile(pack) as archive:
    files = {name: len(archive.read(name)) for name in archive.namelist()}
scripts = {path.name: path.read_text() for path in folder.glob("*.cfg")}
told = {"arguments": sys.argv[1:], "folder": folder.name, "files": files, "scripts": scripts, "cwd": os.getcwd(),
        "home": str(home), "pid": os.getpid()}
notes = pathlib.Path(__file__).with_suffix(".json")
shutil.copyfile(pack, notes.with_suffix(".pk3"))
print("^1printed: ERROR: of the program" if os.environ.get("TRIAL_PRINTS") else "all is well", flush=True)
lines = [line for line in os.environ.get("TRIAL_LOG", "").splitlines()]
if not os.environ.get("TRIAL_LISTS_NONE"):
    lines += [f"  99 : (1) {name}" for name in files if name.endswith(".md3")]
(folder / "qconsole.log").write_text("\n".join(lines))
if any("screenshot" in text for text in scripts.values()) and not os.environ.get("TRIAL_NO_SHOT"):
    (folder / "screenshots").mkdir()
    (folder / "screenshots/shot0000.tga").write_bytes(struct.pack("<3B5x4H2B", 0, 0, 2, 0, 0, 1, 1, 24, 0) + b"abc")
notes.write_text(json.dumps(told))
if os.environ.get("TRIAL_STAYS"):
    time.sleep(60)
sys.exit(int(os.environ.get("TRIAL_STATUS", "0")))
"""
TABLE = b"0 1 0 10\n" * 25


def player(skin: str = "default") -> dict[str, bytes]:
    """Return the files of a player called toy, by their paths in the game."""
    parts = ("lower", "upper", "head")
    found = {f"{part}.md3": sample("minimal") for part in parts}
    worn = (
        b"tri,models/players/toy/band.tga\n" if skin == "default" else f"tri,models/players/toy/{skin}.tga\n".encode()
    )
    found |= {f"{part}_{skin}.skin": worn for part in parts}
    found |= {"animation.cfg": TABLE, f"icon_{skin}.tga": b"icon", "head_2.md3": sample("minimal"), "toy.blend": b"x"}
    return {f"models/players/toy/{name}": data for name, data in found.items()}


@dataclass
class Toy:
    """A game folder, and the program that stands for its game; `notes` is what that was told."""

    folder: Path
    script: Path

    @property
    def game(self) -> Game:
        return Game("toy game", (str(self.folder),))

    @property
    def notes(self) -> Path:
        return self.script.with_suffix(".json")

    @property
    def told(self) -> Any:
        return json.loads(self.notes.read_text(encoding="utf-8"))

    @property
    def packed(self) -> dict[str, bytes]:
        """Return the files that it was given."""
        with zipfile.ZipFile(self.script.with_suffix(".pk3")) as archive:
            return {name: archive.read(name) for name in archive.namelist()}

    @property
    def executable(self) -> str:
        return sys.executable

    @property
    def arguments(self) -> str:
        return (
            f'"{self.script}" +set fs_basepath {{base}} +set fs_homepath {{home}} +set fs_game {{mod}} +devmap {{map}}'
        )


def toy(folder: Path) -> Toy:
    """Make a game folder with a model in it, and a program."""
    put_files(folder / "games" / "base", {"models/thing.md3": sample("minimal")})
    script = folder / "program.py"
    script.write_text(PROGRAM, encoding="utf-8")
    return Toy(folder / "games" / "base", script)


def shell_script(folder: Path, text: str) -> Path:
    """Make a program that a shell runs."""
    path = folder / "run.sh"
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def is_gone(pid: int) -> bool:
    """Tell whether a process that is not ours to wait for ends within a moment."""
    limit = time.monotonic() + 10
    while time.monotonic() < limit:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        state = Path(f"/proc/{pid}/stat")
        if state.exists() and state.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.02)
    return False
