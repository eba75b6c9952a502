"""The command line of ``build.py``."""

from __future__ import annotations

from collections.abc import Sequence

from . import children
from .common import BuildError, say
from .environments import BLENDERS, EVERY_BLENDER

HELP = """\
usage: python3 build.py COMMAND [ARGUMENTS]

  convert INPUT... OUTPUT    convert models (convert --help lists formats and options)
  info FILE...               tell what is in model files
  check FILE...              look for errors in model files
  try MODEL ...              show a model in its game (try --help)
  test                       run everything that CI checks (test --help)
  zip                        build dist/io_idtech_models-VERSION.zip, the extension for Blender
  release                    build dist/release: a repository for Blender, the guide, notes and checksums (--dirty:
                             with changes that are not committed)
  docs                       build dist/docs, the user's guide as a site with navigation and search
  bench                      measure the speed (--all: with every Blender version)
  fuzz                       look for files that crash, hang or change, or (fuzz edits) edits that go wrong
  mutate                     change the code at random and see whether a test notices (mutate --help)

  --blender PATH             use an installed Blender (convert, info, check, try, test)

Needs Python 3.11 or 3.13 and nothing else. Blender itself comes from PyPI (package bpy): what a command
needs is installed in .venvs/ on its first run, which takes about 20 seconds per Blender version and 1 GB.
"""

TEST_HELP = """\
usage: python3 build.py test [--only STEP]... [--versions 4.5,5.2] [--every-case] [--blender PATH]
                            [-- PYTEST-ARGUMENTS]

Runs ruff, mypy, a check of GitHub's workflows (workflows), the tests without Blender (unit), the others with
every Blender version that the Pythons at hand allow (bpy-4.2, bpy-4.5, bpy-5.2; where Python is another than
for "unit", all tests), and builds, validates and installs the extension (zip) and the user's guide (docs).

  --only STEP                run this step only; may be repeated
  --versions V,V             use these Blender versions only; 4.3, 4.4, 5.0 and 5.1, too
  --every-case               run all cases with each Blender, which share them else; for releases
  --blender PATH             run the tests in an installed Blender in place of PyPI's (step "blender")
  -- ARGUMENTS               the rest is for pytest: -k, -x, or the tests to run

Where the environment variable CI is set, nothing may be left out.
"""


def main(arguments: Sequence[str]) -> int:
    """Run a command and return the exit status."""
    try:
        return dispatch(list(arguments))
    except BuildError as error:
        say(f"build.py: {error}")
        return 1
    except KeyboardInterrupt:
        return children.INTERRUPTED


def dispatch(arguments: list[str]) -> int:
    """Choose what to do by the first argument that is no option."""
    blender = take_option(arguments, "--blender")
    command, rest = (arguments[0], arguments[1:]) if arguments else ("help", [])
    if command in ("help", "--help", "-h"):
        print(HELP, end="")
        return 0
    if command in ("convert", "info", "check", "try"):
        return children.run_command(command, rest, blender)
    if command == "test":
        return test(rest, blender)
    if blender is not None:
        raise BuildError(f"{command} does not know --blender.")
    commands = {
        "zip": build_zip,
        "docs": build_docs,
        "release": build_release,
        "bench": benchmarks,
        "fuzz": children.run_fuzzer,
        "mutate": children.run_mutants,
    }
    if command not in commands:
        raise BuildError(f"there is no command {command!r}. python3 build.py --help lists them.")
    return commands[command](rest)


def benchmarks(arguments: Sequence[str]) -> int:
    """Measure the speed."""
    return children.run_benchmarks([a for a in arguments if a != "--all"], "--all" in arguments)


def take_option(arguments: list[str], name: str) -> str | None:
    """Remove an option with its value from the arguments (up to ``--``) and return the value."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    for i, argument in enumerate(arguments[:end]):
        if argument.startswith(name + "="):
            return arguments.pop(i).split("=", 1)[1]
        if argument == name:
            if i + 1 == end:
                raise BuildError(f"{name} needs a value.")
            del arguments[i]
            return arguments.pop(i)
    return None


def build_zip(arguments: Sequence[str]) -> int:
    """Build the extension."""
    from . import package

    if arguments:
        raise BuildError(f"zip takes no arguments; got {' '.join(arguments)}.")
    print(package.build_zip())
    return 0


def build_release(arguments: Sequence[str]) -> int:
    """Build all that goes out with a version."""
    from . import release

    if set(arguments) - {"--dirty"}:
        raise BuildError(f"release takes --dirty alone; got {' '.join(arguments)}.")
    print(release.build(dirty=bool(arguments)))
    return 0


def build_docs(arguments: Sequence[str]) -> int:
    """Build the user's guide as a site."""
    from . import site

    if arguments:
        raise BuildError(f"docs takes no arguments; got {' '.join(arguments)}.")
    print(site.build())
    return 0


def test(arguments: list[str], blender: str | None) -> int:
    """Run the checks."""
    from . import checks

    end = arguments.index("--") if "--" in arguments else len(arguments)
    own, pytest_arguments = arguments[:end], arguments[end + 1 :]
    if "--help" in own or "-h" in own:
        print(TEST_HELP, end="")
        return 0
    only = []
    while (name := take_option(own, "--only")) is not None:
        only.append(name)
    versions = take_option(own, "--versions")
    every_case = "--every-case" in own
    own = [argument for argument in own if argument != "--every-case"]
    if own:
        raise BuildError(f"test does not know {' '.join(own)}. Arguments for pytest come after --.")
    chosen = tuple(versions.split(",")) if versions else tuple(BLENDERS)
    unknown = set(chosen) - set(EVERY_BLENDER)
    if unknown:
        raise BuildError(f"--versions {','.join(sorted(unknown))}: the versions are {', '.join(EVERY_BLENDER)}.")
    return checks.run_checks(checks.Options(tuple(only), chosen, tuple(pytest_arguments), blender, every_case))
