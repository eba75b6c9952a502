"""The steps of ``build.py test``: linters, the tests in every environment, and the extension's zip."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Callable

from . import children, environments, installed_blender, package, report, site
from .common import PACKAGE, PROJECT, BuildError, MissingPythonError, say
from .environments import BLENDERS, EVERY_BLENDER, LINT, Environment
from .pythons import find
from .report import Outcome

REPORTS = environments.FOLDER / "reports"
STEP_SECONDS = 3600  # a class left registered makes Blender 4.5 hang at exit: end such a run some day
PURE_TESTS = ("tests/formats", "tests/model", "tests/game", "tests/assets", "tests/cli", "tests/test_*.py")
PURE_AGAIN = ("tests/formats", "tests/model", "tests/game")  # what may differ with another Python and numpy
AGAIN = "1/12"  # of each such test: all cases are the step "unit"'s
BLENDER_TESTS = ("tests/blender", "tests/ui")
SHARE = "IDTECH_SHARE"  # tests.shares.SHARE
TEST_VARIABLES = {
    "OPENBLAS_NUM_THREADS": "1",  # steps run beside one another, and its threads only wait for each other then
    # What Python and pytest compile, seconds of each run and of each process that tests start, is compiled once, even
    # where Python was told to write nothing beside the sources.
    "PYTHONPYCACHEPREFIX": str(environments.FOLDER / "compiled"),
    "PYTHONDONTWRITEBYTECODE": "",
}
UNIT_PYTHONS = [(3, 11), (3, 13)]  # the first that is there runs the tests without Blender

# What a user does with the zip: install from disk, enabled, then disable. Blender reports errors of register() on
# stderr only, so the state is asked for.
INSTALL_CHECK = """
import sys
import bpy  # before addon_utils: it makes the folder of Blender's own modules known
import addon_utils
name = "bl_ext.user_default.{package}"
bpy.ops.extensions.package_install_files(filepath={zip!r}, repo="user_default", enable_on_install=True)
if addon_utils.check(name) != (True, True):
    sys.exit("the extension could not be enabled")
addon_utils.disable(name, default_set=True)
if addon_utils.check(name)[1]:
    sys.exit("the extension could not be disabled")
"""


@dataclass(frozen=True)
class Options:
    """What the user chose for a run of the checks."""

    only: tuple[str, ...] = ()
    versions: tuple[str, ...] = tuple(BLENDERS)
    pytest: tuple[str, ...] = ()
    blender: str | None = None
    every_case: bool = False

    @property
    def chosen_paths(self) -> list[str]:
        """The pytest arguments that name tests, in place of the step's own."""
        return [a for a in self.pytest if not a.startswith("-") and (PROJECT / a.split("::")[0]).exists()]


@dataclass(frozen=True)
class Step:
    """One line of the summary."""

    name: str
    run: Callable[[Options], Outcome]
    tests: bool = False  # runs pytest
    last: bool = False  # needs what other steps make, so it runs after them


@dataclass
class Transcript:
    """The output of a step's commands, kept until the step is over, so that parallel steps don't mix."""

    text: str = ""
    status: int = 0
    variables: Mapping[str, str] = field(default_factory=dict)

    def run(self, command: Sequence[str], shown: str) -> int:
        """Run a command in the project's folder and return its exit status; the first failure is kept."""
        environ = {**children.child_environ(), **self.variables}
        try:
            result = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=PROJECT,
                env=environ,
                timeout=STEP_SECONDS,
                check=False,
            )
            output, status = result.stdout, result.returncode
        except subprocess.TimeoutExpired as error:
            output, status = (error.stdout or b"") + b"\nstopped: it took more than an hour\n", 1
        self.text += f"$ {shown}\n" + output.decode("utf-8", errors="replace")
        self.status = self.status or status
        return status


def ruff(_options: Options) -> Outcome:
    """Check style and format."""
    python = environments.prepare(LINT, tests=False)
    transcript = Transcript()
    transcript.run([python, "-m", "ruff", "check", "."], "ruff check .")
    transcript.run([python, "-m", "ruff", "format", "--check", "."], "ruff format --check .")
    return Outcome.of(transcript.status, transcript.text)


def mypy(_options: Options) -> Outcome:
    """Check types; which files and how strictly is set in pyproject.toml."""
    python = environments.prepare(LINT, tests=False)
    transcript = Transcript()
    # Beside the environments its cache outlives the checkout; mypy trusts it by the contents of files.
    transcript.run([python, "-m", "mypy", "--cache-dir", str(environments.FOLDER / "mypy")], "mypy")
    return Outcome.of(transcript.status, transcript.text)


def workflows(_options: Options) -> Outcome:
    """Check what runs the tests on other systems against the schema of GitHub's workflows."""
    python = environments.prepare(LINT, tests=False)
    transcript = Transcript()
    options = ["--builtin-schema", "vendor.github-workflows"]
    for path in existing_tests([".github/workflows/*.yml"]):
        transcript.run([python, "-m", "check_jsonschema", *options, path], f"check-jsonschema {path}")
    return Outcome.of(transcript.status, transcript.text)


def unit_tests(options: Options) -> Outcome:
    """Run the tests of the layers that must not need Blender, in an environment without it."""
    environment = environments.numpy_environment(find(UNIT_PYTHONS).version)
    paths = options.chosen_paths or existing_tests(PURE_TESTS)
    if not paths:
        return Outcome.of(1, "there are no tests")
    python = environments.prepare(environment, tests=True)
    return run_pytest("unit", [python, "-P", "-m", "pytest"], options, paths)


def existing_tests(patterns: Sequence[str]) -> list[str]:
    """Return the paths that the patterns find in the project."""
    return sorted(path.relative_to(PROJECT).as_posix() for p in patterns for path in PROJECT.glob(p))


def blender_tests(environment: Environment) -> Callable[[Options], Outcome]:
    """Return the step that runs the tests with one Blender version from PyPI.

    The Blenders that are at hand share the cases of each test, see `tests.shares`, unless each is to have every case.
    """

    def step(options: Options) -> Outcome:
        python = environments.prepare(environment, tests=True)
        paths = options.chosen_paths or existing_tests(BLENDER_TESTS)
        among, share = at_hand(options), {}
        if environment in among and not options.chosen_paths and not options.every_case:
            share = {SHARE: f"{among.index(environment) + 1}/{len(among)}"}
        return run_pytest(environment.name, [python, "-P", "-m", "pytest"], options, paths, share)

    return step


def unit_again(environment: Environment) -> Step:
    """Return the step that runs a share of the tests of codecs and models with the Python and numpy of a Blender."""

    def run(options: Options) -> Outcome:
        python = environments.prepare(environment, tests=True)
        paths = options.chosen_paths or existing_tests(PURE_AGAIN)
        share = {} if options.chosen_paths or options.every_case else {SHARE: AGAIN}
        return run_pytest(name, [python, "-P", "-m", "pytest"], options, paths, share)

    name = f"unit-{environment.name}"
    return Step(name, run, tests=True)


def installed_blender_tests(options: Options) -> Outcome:
    """Run all tests inside an installed Blender."""
    blender = children.find_blender(options.blender or "blender")
    tools = installed_blender.borrow_test_tools(installed_blender.python_version(blender))

    def command(arguments: Sequence[str]) -> list[str]:
        return installed_blender.pytest_command(blender, tools, arguments)

    return run_pytest("blender", command, options, options.chosen_paths)


def run_pytest(
    name: str,
    start: list[str] | Callable[[Sequence[str]], list[str]],
    options: Options,
    paths: Sequence[str],
    variables: Mapping[str, str] = MappingProxyType({}),
) -> Outcome:
    """Run pytest, with environment variables, and count its tests from the report that it writes."""
    REPORTS.mkdir(parents=True, exist_ok=True)
    junit = REPORTS / f"{name}.xml"
    junit.unlink(missing_ok=True)
    free = [argument for argument in options.pytest if argument not in options.chosen_paths]
    arguments = [f"--junitxml={junit}", "-o", f"cache_dir={REPORTS / ('cache-' + name)}", *free, *paths]
    with tempfile.TemporaryDirectory() as resources:
        transcript = Transcript(variables={**TEST_VARIABLES, "BLENDER_USER_RESOURCES": resources, **variables})
        command = start(arguments) if callable(start) else [*start, *arguments]
        transcript.run(command, " ".join(["pytest", *free, *paths]))
    return Outcome.of(transcript.status, transcript.text, report.read_junit(junit))


def extension_zip(options: Options) -> Outcome:
    """Build the zip, validate it, and install, enable and disable it in every Blender version at hand."""
    blenders = [environment for environment in chosen_blenders(options) if environment.has("import")]
    if not blenders:
        blenders = [environments.for_conversion()]
    path = package.build_zip()
    package.validate(path, blenders[-1])
    transcript = Transcript(f"built and validated {path.name}\n")
    for environment in blenders:
        python = environments.prepare(environment)
        with tempfile.TemporaryDirectory() as resources:
            transcript.variables = {"BLENDER_USER_RESOURCES": resources, "PYTHONPATH": ""}
            code = INSTALL_CHECK.format(package=PACKAGE, zip=str(path))
            transcript.run([python, "-c", code], f"install {path.name} in {environment.title}, enable, disable")
    if "Traceback" in transcript.text:  # Blender prints what goes wrong in register() and goes on
        transcript.status = transcript.status or 1
    return Outcome.of(transcript.status, transcript.text)


def guide(_options: Options) -> Outcome:
    """Build the user's guide; what Sphinx warns of, a link into nothing say, is an error."""
    transcript = Transcript()
    with tempfile.TemporaryDirectory() as folder:
        transcript.run(site.command(Path(folder) / "docs"), "sphinx -W docs")
    return Outcome.of(transcript.status, transcript.text)


def chosen_blenders(options: Options) -> list[Environment]:
    """Return the environments of the Blender versions that were asked for."""
    return [EVERY_BLENDER[version] for version in options.versions]


def at_hand(options: Options) -> list[Environment]:
    """Return those of the chosen Blenders for which there is a Python; all where there is for none."""
    chosen = chosen_blenders(options)
    return [environment for environment in chosen if has_python(environment)] or chosen


def has_python(environment: Environment) -> bool:
    """Tell whether an environment can be made here."""
    try:
        find(environment.pythons)
    except MissingPythonError:
        return False
    return True


def steps(options: Options) -> list[Step]:
    """List what a run does, in the summary's order."""
    if options.blender is not None:
        blender_steps = [Step("blender", installed_blender_tests, tests=True)]
    else:
        blender_steps = [Step(e.name, blender_tests(e), tests=True) for e in chosen_blenders(options)]
        unit = find(UNIT_PYTHONS).version
        blender_steps += [unit_again(e) for e in at_hand(options) if unit not in e.pythons][-1:]
    every = [Step("ruff", ruff), Step("mypy", mypy), Step("workflows", workflows), Step("docs", guide)]
    every += [Step("unit", unit_tests, tests=True)]
    every += [*blender_steps, Step("zip", extension_zip, last=True)]
    unknown = set(options.only) - {step.name for step in every}
    if unknown:
        names = ", ".join(step.name for step in every)
        raise BuildError(f"--only {' '.join(sorted(unknown))}: there is no such step. The steps are {names}.")
    return [step for step in every if not options.only or step.name in options.only]


def run_checks(options: Options) -> int:
    """Run the chosen steps and report; the exit status says whether everything passed."""
    chosen = steps(options)
    say("Steps: " + ", ".join(step.name for step in chosen))
    workers = min(2, os.cpu_count() or 1)
    results: dict[str, Outcome] = {}
    for last in (False, True):
        # The newest Blender's takes longest: what begins first ends together with the rest.
        group = sorted((s for s in chosen if s.last is last), key=lambda s: s.name != chosen_blenders(options)[-1].name)
        results.update(report.run_steps([(s.name, bind(s, options)) for s in group], workers))
    results = {step.name: results[step.name] for step in chosen}
    tests_expected = any(step.tests for step in chosen)
    return report.summarise(results, tests_expected, strict=bool(os.environ.get("CI")))


def bind(step: Step, options: Options) -> Callable[[], Outcome]:
    """Give a step its options."""
    return lambda: step.run(options)
