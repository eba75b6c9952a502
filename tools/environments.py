"""Virtual environments in ``.venvs/``, one per purpose, made when they are first needed.

An environment grows in layers: what it needs to run, the proof that ``import bpy`` works, the test tools.
A stamp file per layer, written last, says what the layer holds, so that an interrupted installation is
never taken for a ready one and a later run needs nothing but to read the stamp.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from . import libraries, pythons
from .common import PROJECT, BuildError, MissingPythonError, Version, dotted, indented, say

FOLDER = PROJECT / ".venvs"
TEST_TOOLS = ("pytest==9.*", "hypothesis==6.*", "coverage==7.*")  # the last tells which tests reach a mutant
BLENDER_ARCHIVE = "https://download.blender.org/pypi/"  # for bpy versions that PyPI no longer keeps
OUTPUT_TAIL = 15  # lines of pip's output that are shown when it fails


@dataclass(frozen=True)
class Environment:
    """What an environment holds and which Pythons it can be made with."""

    name: str
    title: str
    pythons: tuple[Version, ...]
    requirements: tuple[str, ...]
    seconds: int  # about how long the installation takes, to tell the user

    @property
    def folder(self) -> Path:
        """Where the environment lies."""
        return FOLDER / self.name

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    @property
    def shown_folder(self) -> str:
        """The folder as the user knows it."""
        return f"{FOLDER.name}/{self.name}"

    def contents(self, layer: str) -> tuple[str, ...]:
        """Return what a layer is made of; a layer whose stamp says otherwise is made anew."""
        return {"runtime": self.requirements, "import": ("bpy",), "tests": TEST_TOOLS}[layer]

    def has(self, layer: str) -> bool:
        """Return whether a layer is there, complete and up to date."""
        try:
            version, *contents = self._stamp(layer).read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError):
            return False
        known = version in map(dotted, self.pythons)
        return known and tuple(contents) == self.contents(layer) and self.python.exists()

    def stamp(self, layer: str, version: str) -> None:
        """Say that a layer is complete."""
        self._stamp(layer).write_text("\n".join([version, *self.contents(layer)]) + "\n", encoding="utf-8")

    def _stamp(self, layer: str) -> Path:
        return self.folder / f"ready-{layer}"


def blender_environment(blender: str, python: Version, numpy: str) -> Environment:
    """Describe the environment of one Blender version."""
    requirements = (f"bpy=={blender}.*", numpy)
    return Environment(f"bpy-{blender}", f"bpy {blender}", (python,), requirements, seconds=20)


# Each numpy is of the generation that the Blender version itself ships or requires. That of 2.5.5 crashes: its OpenBLAS
# (0.3.34) ends the process in products as plain as (64, 486) @ (486, 4) on processors without AVX-512.
NUMPY_2 = "numpy>=2.2,<2.5"
BLENDERS = {
    "4.2": blender_environment("4.2", (3, 11), "numpy==1.24.*"),
    "4.5": blender_environment("4.5", (3, 11), "numpy==1.26.*"),
    "5.2": blender_environment("5.2", (3, 13), NUMPY_2),
}
BETWEEN = {  # which people have, too: tested where they are asked for by name
    "4.3": blender_environment("4.3", (3, 11), "numpy==1.24.*"),
    "4.4": blender_environment("4.4", (3, 11), "numpy==1.26.*"),
    "5.0": blender_environment("5.0", (3, 11), "numpy==1.26.*"),
    "5.1": blender_environment("5.1", (3, 13), NUMPY_2),
}
EVERY_BLENDER = dict(sorted((BLENDERS | BETWEEN).items()))
PREFERRED = {(3, 11): BLENDERS["4.5"], (3, 13): BLENDERS["5.2"]}

# numpy 2.2 is the last whose type stubs can be read as Python 3.11; bpy must not be in here beside its stubs.
LINT = Environment(
    "lint",
    "ruff, mypy and type stubs",
    ((3, 11), (3, 13)),
    ("ruff==0.17.*", "mypy==2.4.*", "check-jsonschema==0.39.*", "fake-bpy-module-4.5", "numpy==2.2.*", *TEST_TOOLS),
    seconds=15,
)

# The user's guide as a site. The pages are plain Markdown; MkDocs, which also reads that, is not kept up any more.
DOCS = Environment(
    "docs",
    "Sphinx",
    ((3, 11), (3, 13)),
    ("sphinx==9.*", "myst-parser==5.*", "furo==2025.12.*"),
    seconds=10,
)


def numpy_environment(python: Version) -> Environment:
    """Describe an environment without bpy: for the commands that need numpy alone, and to prove that they do."""
    numpy = "numpy==1.24.*" if python == (3, 11) else NUMPY_2
    return Environment(f"numpy-{dotted(python)}", "numpy", (python,), (numpy,), seconds=5)


def layers(environment: Environment, tests: bool = False) -> list[str]:
    """List the layers that an environment needs."""
    checked = ["import"] if environment in EVERY_BLENDER.values() else []
    return ["runtime", *checked, *(["tests"] if tests else [])]


def prepare(environment: Environment, tests: bool = False) -> str:
    """Make what is missing of an environment and return the path of its Python."""
    wanted = layers(environment, tests)
    if not all(environment.has(layer) for layer in wanted):
        with locked(environment):
            for layer in wanted:
                if not environment.has(layer):
                    make_layer(environment, layer)
    return str(environment.python)


def make_layer(environment: Environment, layer: str) -> None:
    """Make one layer of an environment, the stamp last."""
    if layer == "runtime":
        make_runtime(environment)
    elif layer == "import":
        check_import(environment)
        environment.stamp(layer, python_version(environment))
    else:
        tools = environment.contents(layer)
        say(f"Adding {' and '.join(tools)} to {environment.shown_folder} ...")
        install(environment, tools)
        environment.stamp(layer, python_version(environment))


def make_runtime(environment: Environment) -> None:
    """Create an environment and install what it runs."""
    interpreter = pythons.find(environment.pythons)
    version = dotted(interpreter.version)
    say(
        f"Preparing {environment.title} for Python {version} in {environment.shown_folder} "
        f"(about {environment.seconds} s, once) ..."
    )
    start = time.monotonic()
    shutil.rmtree(environment.folder, ignore_errors=True)
    command = [interpreter.path, "-m", "venv", str(environment.folder)]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if result.returncode:
        raise BuildError(
            f"Python {version} ({interpreter.path}) could not make a virtual environment in {environment.folder}:\n"
            + indented(result.stdout + result.stderr)
        )
    install(environment, environment.requirements)
    environment.stamp("runtime", version)
    say(f"Prepared {environment.title} in {time.monotonic() - start:.0f} s.")


def python_version(environment: Environment) -> str:
    """Return the Python version that the runtime layer was made with."""
    return (environment.folder / "ready-runtime").read_text(encoding="utf-8").splitlines()[0]


def install(environment: Environment, requirements: Sequence[str], *options: str) -> None:
    """Install requirements with pip; bpy from Blender's own archive where PyPI has it no more."""
    status, tail = run_pip(environment, requirements, *options)
    if status and "No matching distribution found for bpy" in tail:
        say(f"PyPI has no {requirements[0]} for this system; asking {BLENDER_ARCHIVE} ...")
        status, tail = run_pip(environment, requirements, *options, "--extra-index-url", BLENDER_ARCHIVE)
    if status:
        raise BuildError(
            f"pip could not install {' '.join(requirements)} in {environment.shown_folder} (exit status {status}). "
            "The next run tries again. The end of pip's output:\n" + indented(tail)
        )


def run_pip(environment: Environment, requirements: Sequence[str], *options: str) -> tuple[int, str]:
    """Run pip, tell of large downloads, and return its exit status and the end of its output."""
    command = [str(environment.python), "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]
    command += ["--only-binary=:all:", *options, *requirements]
    tail: deque[str] = deque(maxlen=OUTPUT_TAIL)
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            tail.append(line.rstrip())
            if line.lstrip().startswith("Downloading") and "MB)" in line:
                say("  " + line.strip())
    return process.returncode, "\n".join(tail)


def check_import(environment: Environment) -> None:
    """Raise a ``BuildError`` if bpy can't be imported, with the system libraries to install."""
    command = [str(environment.python), "-c", "import bpy"]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if result.returncode == 0:
        return
    output = result.stdout + result.stderr
    missing = libraries.missing() if libraries.named_in(output) else []
    text = libraries.advice(output, missing, libraries.os_release_text())
    raise BuildError(text or f"Blender can't be started in {environment.shown_folder}:\n{indented(output)}")


def for_conversion() -> Environment:
    """Choose the bpy environment for the Python that runs this, or for another one that is at hand."""
    running = pythons.running_version()
    if running in PREFERRED:
        return PREFERRED[running]
    chosen = next((e for e in PREFERRED.values() if e.has("runtime")), None) or for_other_python(running)
    say(f"There is no bpy for Python {dotted(running)}: using {chosen.title} with Python {dotted(chosen.pythons[0])}.")
    return chosen


def for_other_python(running: Version) -> Environment:
    """Find a Python that bpy has a wheel for."""
    try:
        return PREFERRED[pythons.find(list(PREFERRED)).version]
    except MissingPythonError:
        raise BuildError(
            f"PyPI has no bpy wheel for Python {dotted(running)} ({sys.executable}), and no Python 3.11 or 3.13 was "
            "found on PATH or under pyenv. Install one of them, or use an installed Blender: --blender PATH."
        ) from None


def for_numpy() -> Environment:
    """Choose the environment of the commands that need no Blender: any Python from 3.11 on will do."""
    running = pythons.running_version()
    if running >= (3, 11):
        return numpy_environment(running)
    try:
        return numpy_environment(pythons.find(list(PREFERRED)).version)
    except MissingPythonError:
        raise BuildError(
            f"This needs Python 3.11 or later; it was run by {dotted(running)} ({sys.executable}), and no Python 3.11 "
            "or 3.13 was found on PATH or under pyenv. Install one, or use an installed Blender: --blender PATH."
        ) from None


def for_fuzzing() -> list[Environment]:
    """Choose the fuzzer's environments: with the numpy of each Blender whose Python is at hand.

    And with Atheris on Linux; elsewhere PyPI has no wheels of it.
    """
    atheris = ("atheris==3.*",) if sys.platform == "linux" else ()
    found = []
    for name, blender in BLENDERS.items():
        try:
            pythons.find(blender.pythons)
        except MissingPythonError as error:
            say(f"Not with the numpy of Blender {name}: {error}")
            continue
        numpy = tuple(each for each in blender.requirements if each.startswith("numpy"))
        title = f"the numpy of Blender {name}"
        found.append(replace(blender, name=f"fuzz-{name}", title=title, requirements=(*numpy, *atheris), seconds=5))
    if not found:
        raise BuildError("The fuzzer needs a Python that a Blender has: 3.11 or 3.13.")
    return found


@contextmanager
def locked(environment: Environment) -> Iterator[None]:
    """Keep other processes from preparing the same environment; the system unlocks when a process dies."""
    try:
        FOLDER.mkdir(exist_ok=True)
    except OSError as error:
        raise BuildError(f"the environments' folder {FOLDER} can't be made: {error.strerror}.") from error
    with (FOLDER / f"{environment.name}.lock").open("w", encoding="utf-8") as file:
        if not try_lock(file):
            say(f"Waiting for {environment.shown_folder}, which is being prepared already ...")
            while not try_lock(file):
                time.sleep(0.2)
        yield


def try_lock(file: IO[str]) -> bool:
    """Lock an open file until it is closed; return False if it is locked already."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
