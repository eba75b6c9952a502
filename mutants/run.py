"""Change code at random and see whether a test notices: `python3 build.py mutate [--count N] [--seed S] [--only F]`.

Each mutant is one small change (see `mutants.changes`) in a copy of the project, on which the tests that reach its line
are run, the quickest first, until one fails. Which reach what is measured and kept in `dist/mutants`: of all tests if
the package has changed, else of changed ones. Rooms that need Blender have their tests in it. The folder of real models
is not used: what is noticed is so in a clone as well.

Tools for this (mutmut, cosmic-ray) start the whole suite, or all of a module's tests, for each mutant of a whole room,
want their own settings and state, and know neither Blender's Python nor two environments: an hour for what takes
minutes here, where a sample is all that is asked.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from mutants.changes import Mutant, mutants, mutated
from mutants.reach import CHOSEN, REACH

PROJECT = Path(__file__).resolve().parent.parent
PACKAGE = "io_idtech_models"
KEPT = PROJECT / "dist" / "mutants"
LEFT_OUT = shutil.ignore_patterns(".*", "dist", "__pycache__")
FIRST = 30  # tests that are tried before the rest, whose files need not be read if one of them fails
PATIENCE = 30.0  # seconds that a mutant has beyond five times what its tests take: more is an endless loop
NO_TESTS = 5  # pytest's exit status
COMPILING = {"PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE"}
SHARE = 0.95


@dataclass
class Room:
    """Folders and modules of the package, the tests that are for them, and the Python that runs these."""

    name: str
    folders: tuple[str, ...]
    tests: tuple[str, ...]
    python: str
    without: tuple[str, ...] = ()  # folders within those: others' rooms, and what is still being made
    reach: dict[str, dict[int, list[str]]] = field(default_factory=dict)  # of each file read so far
    times: dict[str, float] = field(default_factory=dict)  # of tests
    measured: Path = KEPT

    def sources(self, project: Path) -> list[str]:
        """List the files that mutants are made of, from the project's folder."""
        places = (project / PACKAGE / name for name in self.folders)
        files = (file for place in places for file in ([place] if place.is_file() else place.rglob("*.py")))
        paths = sorted(file.relative_to(project).as_posix() for file in files)
        return [path for path in paths if not any(path.startswith(f"{PACKAGE}/{folder}/") for folder in self.without)]

    def measure(self, project: Path, kept: Path) -> None:
        """Learn which tests reach which lines: from what is kept of this code, and by running what tests are new."""
        file = kept / f"{self.name}-{_digest(sorted((project / PACKAGE).rglob('*.py')))}.coverage"
        known: dict[str, Any] = {"times": {}, "files": {}}
        if file.with_suffix(".json").exists():
            known = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
        tests = sorted(path for place in self.tests for path in _tests(project / place))
        files = {path.relative_to(project).as_posix(): _digest([path]) for path in tests}
        new = [path for path, digest in files.items() if known["files"].get(path) != digest]
        self.times = {name: t for name, t in known["times"].items() if name.split("::")[0] in set(files) - set(new)}
        if new:
            kept.mkdir(parents=True, exist_ok=True)
            for old in (path for path in kept.glob(f"{self.name}-*") if path.stem != file.stem):
                old.unlink()
            print(f"Measuring what {len(new)} files of tests reach ({self.name}) ...", flush=True)
            self.run_tests(project, new, {REACH: str(file)}, 3600.0)
            self.times |= json.loads((file.with_suffix(".times")).read_text(encoding="utf-8"))
            text = json.dumps({"times": self.times, "files": files})
            file.with_suffix(".json").write_text(text, encoding="utf-8")
        self.measured = file

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Return the tests that reach a mutant, the quickest first.

        What is computed once, as a module is imported or as a cached function is first called, is reached by all that
        reach anything of the module, or of any: that a test was the first to ask for it is chance.
        """
        from coverage import CoverageData

        if mutant.path not in self.reach:
            data = CoverageData(str(self.measured))
            data.read()
            self.reach[mutant.path] = data.contexts_by_lineno(mutant.path)
        lines = self.reach[mutant.path]
        own = [name for line in range(mutant.lines[0], mutant.lines[1] + 1) for name in lines.get(line, ())]
        if "" in own or mutant.at_import:
            own += [name for names in lines.values() for name in names]
            own = own if any(own) else list(self.times)
        return sorted({name for name in own if name in self.times}, key=lambda name: (self.times[name], name))

    def run_tests(self, project: Path, paths: Sequence[str], variables: dict[str, str], seconds: float) -> int | None:
        """Run pytest on a copy of the project and return its exit status, or nothing if it takes too long."""
        options = ["-q", "-x", "--no-header", "--tb=no"] if CHOSEN in variables else ["-q", "--no-header", "--tb=line"]
        command = [self.python, "-P", "-m", "pytest", "-p", "mutants.reach", "-p", "no:cacheprovider", *options, *paths]
        # Modules are compiled beside the copy's sources, where `_write` finds them.
        own = {name: value for name, value in os.environ.items() if name not in COMPILING}
        environ = {**own, "PYTHONPATH": str(project), "OPENBLAS_NUM_THREADS": "1", **variables}
        log = (project / "output.txt").open("wb")
        with (
            log,
            subprocess.Popen(
                command,
                cwd=project,
                env=environ,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            ) as process,
        ):
            try:
                return process.wait(seconds)
            except subprocess.TimeoutExpired:
                return None
            finally:
                _end(process)

    def catches(self, project: Path, mutant: Mutant) -> bool:
        """Return whether a test notices a mutant."""
        names = self.tests_of(mutant)
        file = project / mutant.path
        text = file.read_text(encoding="utf-8")
        try:
            _write(file, mutated(text, mutant.number))
            return any(self._fails(project, part) for part in (names[:FIRST], names[FIRST:]) if part)
        finally:
            _write(file, text)

    def _fails(self, project: Path, names: list[str]) -> bool:
        chosen = project / "chosen.json"
        chosen.write_text(json.dumps(names), encoding="utf-8")
        seconds = PATIENCE + 5 * sum(self.times[name] for name in names)
        paths = sorted({name.split("::")[0] for name in names})
        status = self.run_tests(project, paths, {CHOSEN: str(chosen)}, seconds)
        if status == NO_TESTS:
            raise RuntimeError(f"pytest does not find {names[0]}; see {KEPT}")
        return status != 0


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a run with all that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (AttributeError, ProcessLookupError):
        process.kill()


def _write(file: Path, text: str) -> None:
    """Write a module, whose compiled form would else be taken for the text's if both are of one second."""
    file.write_text(text, encoding="utf-8")
    for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*"):
        compiled.unlink()


def _below(*names: str) -> tuple[str, ...]:
    return tuple(f"tests/{name}" for name in names)


def _tests(place: Path) -> list[Path]:
    return [place] if place.is_file() else list(place.rglob("test_*.py"))


def _digest(files: Sequence[Path]) -> str:
    """Return what stands for files as they are."""
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()[:16]


def choose(rooms: Sequence[Room], project: Path, count: int, seed: int, only: str = "") -> list[tuple[Room, Mutant]]:
    """Choose mutants: always the same of the same code and seed.

    There is at most one of a statement: a table of a thousand numbers counts no more than a line of code.
    """
    statements: dict[object, list[tuple[Room, Mutant]]] = {}
    for room in rooms:
        for path in (path for path in room.sources(project) if only in path):
            for mutant in mutants(path, (project / path).read_text(encoding="utf-8")):
                statements.setdefault((path, mutant.lines), []).append((room, mutant))
    random = Random(seed)
    return [random.choice(each) for each in random.sample(list(statements.values()), min(count, len(statements)))]


def run(rooms: Sequence[Room], project: Path, kept: Path, chosen: Sequence[tuple[Room, Mutant]]) -> list[Mutant]:
    """Try mutants in a copy of the project, tell of each, and return those that survived."""
    survivors = []
    for room in rooms:
        if any(room is its for its, _ in chosen):
            room.measure(project, kept)
    for number, (room, mutant) in enumerate(chosen, 1):
        start = time.monotonic()
        caught = room.catches(project, mutant)
        tests = len(room.tests_of(mutant))
        verdict = "caught" if caught else "SURVIVED" if tests else "SURVIVED, no test reaches it"
        print(f"{number:4} {time.monotonic() - start:4.0f} s  {mutant}: {verdict} ({tests})", flush=True)
        if not caught:
            survivors.append(mutant)
    return survivors


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="build.py mutate", description="See whether the tests notice changed code.")
    parser.add_argument("--count", type=int, default=100, metavar="N", help="how many mutants (100)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of the choice (1)")
    parser.add_argument("--only", default="", metavar="F", help="in files with this in their path: formats/md3")
    parser.add_argument("--list", action="store_true", help="only say which")
    parser.add_argument("--blender", help=argparse.SUPPRESS)  # the Python that has bpy
    return parser.parse_args()


def main() -> int:
    """Try mutants, list who survived, and return the exit status: 1 where too many did."""
    options = arguments()
    pure, blender = ("formats", "model", "game"), options.blender or sys.executable
    characters = _below("game/character", "assets", "cli", "ui/character")  # what is saved of them is a task's
    players = _below("ui/player", "ui/making", "ui/test_player_files.py", "ui/test_player_rigs.py")
    players += _below("ui/character/test_kept.py")  # what is kept of characters is played by players made of them
    players += _below("ui/test_frames.py", "ui/test_apply_change.py", "ui/test_animations.py")  # frames, of players too
    players += _below("ui/trial/test_operators.py")  # what is tried is what a save would write
    players += _below("ui/character/test_quake2.py")  # whose body and gun have frames together
    rooms = (
        Room(
            "unit",
            pure,
            _below(*pure, "assets", "cli", "test_library.py"),
            sys.executable,
            ("model/rigging", "game/character"),
        ),
        Room("characters", ("game/character",), characters, blender),
        Room("players", ("tasks/player", "tasks/frames.py"), players, blender),
    )
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        project = Path(folder) / PROJECT.name
        shutil.copytree(PROJECT, project, ignore=LEFT_OUT)
        chosen = choose(rooms, project, options.count, options.seed, options.only)
        if options.list:
            print(*(mutant for _, mutant in chosen), sep="\n")
            return 0
        survivors = run(rooms, project, KEPT, chosen)
    caught = len(chosen) - len(survivors)
    print(f"\nseed {options.seed}: {caught} of {len(chosen)} mutants caught", *survivors, sep="\n  ")
    return int(caught < SHARE * len(chosen))


if __name__ == "__main__":
    sys.exit(main())
