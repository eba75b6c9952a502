"""Run the package's command line in an environment's Python or in an installed Blender."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from . import environments
from .common import PACKAGE, PROJECT, BuildError, say

NEEDS_BLENDER = ("convert",)
INTERRUPTED = 130


def child_environ() -> dict[str, str]:
    """Return the variables for a child: it finds the package here and modules nowhere but in its environment."""
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONHOME"}
    environ["PYTHONPATH"] = str(PROJECT)
    return environ


def python_command(python: str, command: str, arguments: Sequence[str]) -> list[str]:
    """Write the command line that runs one of the package's commands in a Python.

    ``-P`` keeps the user's folder out of the import path: a ``numpy.py`` that lies there is not ours.
    """
    module = f"{PACKAGE}.ui.cli" if command in NEEDS_BLENDER else PACKAGE
    return [python, "-P", "-m", module, command, *arguments]


def blender_command(blender: str, expression: str) -> list[str]:
    """Write the command line that runs Python code in an installed Blender, without the user's settings."""
    return [blender, "--background", "--factory-startup", "--python-exit-code", "1", "--python-expr", expression]


def package_expression(arguments: Sequence[str]) -> str:
    """Write the code that runs one of the package's commands inside Blender."""
    return (
        f"import sys; sys.path.insert(0, {str(PROJECT)!r}); "
        f"from {PACKAGE}.ui.cli import main; sys.exit(main({list(arguments)!r}))"
    )


def find_blender(path: str) -> str:
    """Return the program of an installed Blender, given as a file, a folder or a name on PATH."""
    folder = Path(path).expanduser()
    places = [folder, folder / "blender", folder / "blender.exe", folder / "Contents" / "MacOS" / "Blender"]
    program = next((str(place.absolute()) for place in places if place.is_file()), None) or shutil.which(path)
    if program is None:
        raise BuildError(f"--blender {path}: there is no such program.")
    return program


def run_command(command: str, arguments: Sequence[str], blender: str | None = None) -> int:
    """Run ``info``, ``check``, ``try`` or ``convert`` and return its exit status."""
    if blender is not None:
        return run(blender_command(find_blender(blender), package_expression([command, *arguments])))
    needs_blender = command in NEEDS_BLENDER
    environment = environments.for_conversion() if needs_blender else environments.for_numpy()
    python = environments.prepare(environment)
    status = run(python_command(python, command, arguments))
    if status and needs_blender:
        explain_failure(environment)
    return status


def run_benchmarks(arguments: Sequence[str], every_version: bool) -> int:
    """Run the benchmarks in the bpy environment that ``convert`` would use, or in all of them."""
    script = PROJECT / "benchmarks" / "run.py"
    chosen = list(environments.BLENDERS.values()) if every_version else [environments.for_conversion()]
    worst = 0
    for environment in chosen:
        python = environments.prepare(environment)
        if every_version:
            say(f"{environment.title}:")
        worst = max(worst, run([python, "-P", str(script), *arguments]))
    return worst


def run_fuzzer(arguments: Sequence[str]) -> int:
    """Run the fuzzer of the pure layers, with the numpy of one Blender after another; or that of edits, in one Blender.

    Returns the worst exit status.
    """
    if arguments[:1] == ["edits"]:
        python = environments.prepare(environments.for_conversion(), tests=True)
        return run([python, "-P", "-m", "fuzz.edits.run", *arguments[1:]])
    worst = 0
    for environment in environments.for_fuzzing():
        python = environments.prepare(environment)
        say(f"With {environment.title}:")
        status = run([python, "-P", str(PROJECT / "fuzz" / "run.py"), "--under", environment.name, *arguments])
        worst = max(worst, status)
        if status not in {0, 1}:  # interrupted, or nothing to run
            break
    return worst


def run_mutants(arguments: Sequence[str]) -> int:
    """Change code at random and run the tests that reach it: without Blender, and in the one of ``convert``."""
    blender = environments.prepare(environments.for_conversion(), tests=True)
    python = environments.prepare(environments.for_numpy(), tests=True)
    return run([python, "-P", "-m", "mutants.run", "--blender", blender, *arguments])


def run(command: Sequence[str]) -> int:
    """Run a child in the user's folder, on the user's terminal, and return its exit status as a shell would."""
    with subprocess.Popen(command, env=child_environ()) as process:
        try:
            status = process.wait()
        except KeyboardInterrupt:  # the child got the same signal from the terminal and is ending by itself
            process.wait()
            return INTERRUPTED
    if status >= 0:
        return status
    if -status == signal.SIGINT:
        return INTERRUPTED
    say(f"The program ended by signal {-status} ({signal.Signals(-status).name}).")
    return 128 - status


def explain_failure(environment: environments.Environment) -> None:
    """Say so if a failed run is due to system libraries that have gone since the environment was made."""
    from . import libraries

    if any(library.needed_for == "import" for library in libraries.missing()):
        environments.check_import(environment)
