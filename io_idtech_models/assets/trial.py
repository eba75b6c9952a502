"""Running a game with files of ours above its own: in a folder for this alone, which is gone when the game has ended.

Nothing is written into the game's folders, or the user's: the engine's home is the folder of ours (`fs_homepath`). Only
the program that the user has named is run, without a shell.
"""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
import weakref
import zipfile
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from ..game.folders import Game
from ..game.store import real_path
from ..game.trial import command, log, room, script
from ..game.trial.subject import Subject, check_names, out_of_reach
from ..reporting import LimitError, ModelError, listed, reason
from .storage import Target

PACK = "zzz-idtech-try.pk3"
OUTPUT = "output.txt"  # what the program prints
LOGS = "*console.log"  # qconsole.log, etconsole.log, rtcwconsole.log
MOST_READ = 1 << 26  # bytes of a log
GRACE = 3.0  # seconds that a program has to end by itself
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip file can hold
PLAIN_FILE = 0o644 << 16
WINDOWS = 0  # what made a member, as far as attributes go: the same everywhere
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
STEP = 0.1  # seconds between two looks at it


@dataclass(frozen=True)
class Program:
    """A game as it is started."""

    game: Game
    executable: str
    arguments: str = ""  # a template, see `command`; "" is the usual one
    map: str = ""  # "" is a plain room


@dataclass(frozen=True)
class Settings:
    """How a model is shown, and for how long."""

    view: script.View = field(default_factory=script.View)
    time_limit: float = 0.0  # seconds after which the game is ended; 0: none


@dataclass
class Outcome:
    """What came of it."""

    seconds: float
    complaints: list[str] = field(default_factory=list)
    picture: bytes | None = None  # a TGA, as the game took it
    log: str = ""


def run(
    files: Mapping[str, bytes], subject: Subject, program: Program, settings: Settings, about: Collection[str] = ()
) -> Outcome:
    """Show a model in a game, wait until that ends, and return what came of it; see `Trial`; raises ModelError."""
    with Trial(files, subject, program, settings, about) as trial:
        return trial.wait()


class Trial:
    """A game that runs with files above its own, by their paths in it; `about`: what complaints may be about besides.

    Raises:
        ModelError: the program can't be run so; nothing is left behind.
    """

    def __init__(
        self,
        files: Mapping[str, bytes],
        subject: Subject,
        program: Program,
        settings: Settings,
        about: Collection[str] = (),
    ) -> None:
        self.subject, self.program, self.settings = subject, program, settings
        self._about = {*about, *map(log.known, files)}
        self._ending = ""
        _check(program, files)
        import tempfile  # as in `storage`

        self._folder = tempfile.TemporaryDirectory(prefix="idtech-try-", ignore_cleanup_errors=True)
        try:
            self._process = self._start(files)
        except (OSError, ModelError) as error:
            self._folder.cleanup()
            if isinstance(error, ModelError):
                raise
            raise ModelError(f"can't run '{program.executable}': {reason(error)}") from error
        self._since = time.monotonic()
        self._last = weakref.finalize(self, _end_for_good, self._process)  # at the end of this process, too

    def __enter__(self) -> Trial:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the game, and remove the folder."""
        self.close()

    @property
    def _home(self) -> Target:
        return Target(self._folder.name)

    def _start(self, files: Mapping[str, bytes]) -> subprocess.Popen[bytes]:
        base, game, mod = places(self.program.game)
        chosen = self.program.map or room.NAME
        own = self._home / (mod or game)
        own.mkdir()
        whole = {**({} if self.program.map else room.files()), **files}
        (own / PACK).write_bytes(pack(whole))
        (own / script.SETTINGS).write_text(
            script.settings(self.subject, self.settings.view, not self.program.map), "ascii"
        )
        (own / script.SCRIPT).write_text(script.commands(self.subject, self.settings.view), "ascii")
        values = {"base": base, "game": game, "mod": mod, "home": str(self._home), "map": chosen}
        words = command.arguments(self.program.arguments, {**values, "script": script.SCRIPT})
        with (self._home / OUTPUT).open("wb") as output:
            return subprocess.Popen(
                [os.path.abspath(self.program.executable), *words],  # noqa: PTH100 - links stay
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self._home,
                start_new_session=True,
            )

    def is_running(self) -> bool:
        """Tell whether the game runs; one whose time is over is ended."""
        if self._process.poll() is not None:
            return False
        limit = self.settings.time_limit
        if limit and time.monotonic() - self._since > limit:
            self.stop(f"the game was ended after {limit:g} seconds, the time limit")
            return False
        return True

    def wait(self) -> Outcome:
        """Wait until the game ends, and return what came of it."""
        while self.is_running():
            self._wait(STEP)
        return self.outcome()

    def _wait(self, seconds: float) -> None:
        """Wait until the program ends, or so long."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)

    def stop(self, why: str = "the game was ended") -> None:
        """End the game."""
        if self._process.poll() is None:
            self._ending = why
            _end(self._process, signal.SIGTERM)
            until = time.monotonic() + GRACE
            self._wait(GRACE)
            while _is_there(self._process) and time.monotonic() < until:
                time.sleep(STEP / 4)
            if _is_there(self._process):
                _end(self._process, KILL)
            self._process.wait()

    def close(self) -> None:
        """End the game, if it runs, and remove the folder."""
        self.stop()
        self._last.detach()
        self._folder.cleanup()

    def outcome(self) -> Outcome:
        """Return what came of it, once the game has ended."""
        found = Outcome(time.monotonic() - self._since, log=self._log().decode("latin-1"))
        lines = log.lines_of(found.log.encode("latin-1"), self._ending != "")
        shots = sorted(self._home.glob(f"*/{script.SCREENSHOTS}/*.tga"))
        if self.settings.view.picture and shots:
            found.picture = script.picture(shots[0].read_bytes(), self.settings.view)
        elif self.settings.view.picture:
            found.complaints.append("the game took no picture")
        found.complaints += [*self._endings(), *self._lacking(lines), *log.complaints(lines, self._about)]
        return found

    def _log(self) -> bytes:
        """Return what the game wrote into its log, and what it printed, which may be more."""
        parts = []
        for path in [*sorted(self._home.glob(f"*/{LOGS}")), self._home / OUTPUT]:
            with suppress(OSError), path.open("rb") as stream:
                parts.append(stream.read(MOST_READ))
        return b"\n".join(parts)

    def _endings(self) -> list[str]:
        if self._ending:
            return [self._ending]
        status = self._process.returncode
        return [f"the game ended with status {status}"] if status else []

    def _lacking(self, lines: list[str]) -> list[str]:
        lacking = log.not_loaded(lines, self.subject.models)
        if lacking is None:
            return ["the game's log does not tell whether it loaded the model: it ended too early, or has no such list"]
        return [f"the game did not load {listed(lacking)}"] if lacking else []


def places(game: Game) -> tuple[str, str, str]:
    """Return the folder that holds a game's, the name of that, and the name of its mod's, "" for none.

    Raises:
        LimitError: a mod does not lie beside its game, where alone engines look for it.
    """
    *mods, own = [os.path.abspath(folder) for folder in game.folders]  # noqa: PTH100 - links stay: the game sees them
    base, name = os.path.split(own)
    if not mods:
        return base, name, ""
    around, mod = os.path.split(mods[0])
    if len(mods) > 1 or real_path(around) != real_path(base):
        raise LimitError(f"'{mods[0]}' does not lie beside '{own}', where games look for mods: it can't be tried there")
    return base, name, mod


def _check(program: Program, files: Mapping[str, bytes]) -> None:
    """Refuse what can't be run; raises LimitError."""
    if not program.executable:
        raise LimitError(f"no executable is set for the game '{program.game.name}'")
    if not os.path.isfile(program.executable):  # noqa: PTH113 - Path's own raises where a name is too long
        raise LimitError(f"there is no program '{program.executable}'")
    if not os.access(program.executable, os.X_OK):
        raise LimitError(f"'{program.executable}' is no program that can be run")
    check_names([program.map])
    long = out_of_reach(files)
    if long:
        raise LimitError(f"games open no paths of more than 63 characters: {listed(long)}")


def _end_for_good(process: subprocess.Popen[bytes]) -> None:
    """End a program that still runs, and what it has started, at once."""
    if process.poll() is None:  # else the number may be another's by now
        _end(process, KILL)
        process.wait()


def _is_there(process: subprocess.Popen[bytes]) -> bool:
    """Tell whether a program, or what it has started, still runs."""
    if process.poll() is None or sys.platform == "win32":
        return process.poll() is None
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return False
    return True


def _end(process: subprocess.Popen[bytes], how: int) -> None:
    """Send a signal to a program and what it has started, which a script that runs a game does."""
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.terminate()
        else:
            os.killpg(process.pid, how)


def pack(files: Mapping[str, bytes]) -> bytes:
    """Return a .pk3 with files by their paths in the game, stored, in order of their names.

    The same bytes for the same files, wherever and whenever it is made.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.create_system, entry.external_attr = WINDOWS, PLAIN_FILE
            archive.writestr(entry, files[name])
    return buffer.getvalue()
