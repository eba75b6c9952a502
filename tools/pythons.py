"""Find the Python interpreters of this machine: the running one, those on PATH and those under pyenv."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from .common import BuildError, MissingPythonError, Version, dotted, either

PROBE = (
    "import json, sys, importlib.util as u; "
    "print(json.dumps([sys.executable, sys.version_info[:2], all(map(u.find_spec, ['venv', 'ensurepip']))]))"
)
PROBE_SECONDS = 20


@dataclass(frozen=True)
class Interpreter:
    """A Python that was run and answered."""

    path: str
    version: Version
    makes_environments: bool  # Debian and Ubuntu keep the module "ensurepip" in a package of its own


def running_version() -> Version:
    """Return the version of the Python that runs this."""
    return sys.version_info[0], sys.version_info[1]


@lru_cache(maxsize=None)
def probe(command: tuple[str, ...]) -> Interpreter | None:
    """Run a would-be interpreter: a pyenv shim, for one, may exist for a version that does not work."""
    try:
        result = subprocess.run(
            [*command, "-c", PROBE], stdin=subprocess.DEVNULL, capture_output=True, timeout=PROBE_SECONDS, check=False
        )
        path, version, makes_environments = json.loads(result.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return Interpreter(path, (version[0], version[1]), makes_environments)


def pyenv_versions(version: Version, environ: Mapping[str, str]) -> list[Path]:
    """List pyenv's interpreters of a version, newest patch release first."""
    pattern = re.compile(re.escape(dotted(version)) + r"(\.(\d+))?")
    roots = [Path(environ["PYENV_ROOT"])] if environ.get("PYENV_ROOT") else []
    roots.append(Path(environ.get("HOME") or Path.home()) / ".pyenv")
    found = []
    for root in dict.fromkeys(roots):
        for folder in (root / "versions").glob(dotted(version) + "*"):
            match = pattern.fullmatch(folder.name)
            if match:
                found.append((int(match.group(2) or 0), folder / "bin" / "python"))
    return [path for _patch, path in sorted(found, reverse=True)]


def names(version: Version, system: str = os.name) -> list[str]:
    """Return what a Python of a version may be called, the surest first; on Windows nearly all are called alike."""
    if system == "nt":
        return [f"python{dotted(version)}.exe", "python3.exe", "python.exe"]
    return [f"python{dotted(version)}", "python3"]


def candidates(version: Version, environ: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    """Yield commands that may start a Python of this version, the most likely first; none was run yet."""
    if version == running_version():
        yield (sys.executable,)
    folders = [Path(folder) for folder in environ.get("PATH", "").split(os.pathsep) if folder]
    for name in names(version):
        for folder in folders:
            path = folder / name
            if path.is_file() and os.access(path, os.X_OK):
                yield (str(path),)
        if dotted(version) in name:
            yield from ((str(path),) for path in pyenv_versions(version, environ))
    if os.name == "nt":
        yield ("py", f"-{dotted(version)}")


def find(versions: Sequence[Version], environ: Mapping[str, str] | None = None) -> Interpreter:
    """Return an interpreter of the first of the versions that is found here, or raise ``MissingPythonError``."""
    incapable = None
    for version in versions:
        for command in candidates(version, os.environ if environ is None else environ):
            interpreter = probe(command)
            if interpreter is None or interpreter.version != version:
                continue
            if interpreter.makes_environments:
                return interpreter
            incapable = incapable or interpreter
    if incapable:
        raise BuildError(no_ensurepip(incapable))
    raise MissingPythonError(f"Python {either([dotted(v) for v in versions])} was not found on PATH or under pyenv.")


def no_ensurepip(interpreter: Interpreter) -> str:
    """Say what an interpreter without ``ensurepip`` lacks."""
    version = dotted(interpreter.version)
    return (
        f"Python {version} ({interpreter.path}) can't make virtual environments: its module 'venv' or 'ensurepip' is "
        f"missing. On Debian and Ubuntu: apt-get install python{version}-venv"
    )
