"""Look for edits that an export gets wrong in silence: `python3 build.py fuzz edits [--minutes N] [--format F]`.

Random sequences of one to six edits are done to a model in Blender, which is exported then; what the file shows, by the
project's codecs and the engines' formulas, is held against what Blender shows. A difference that no message names is a
finding, as are a traceback, and a file that can't be read. Each is shortened, and printed as a script.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from threading import Timer
from typing import Any

from fuzz.edits.script import SCRIPT

FORMATS = ("md2", "md3", "mdc", "mdl", "ase", "lwo", "md5mesh", "mdm", "mds", "iqm", "mdr", "player", "character")
LONGEST = 120.0  # seconds that a sequence may take


def arguments(given: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="build.py fuzz edits", description="Look for edits that exports get wrong.")
    parser.add_argument("--minutes", type=float, default=1.0, metavar="N", help="for each format (1)")
    parser.add_argument("--format", choices=FORMATS, action="append", metavar="F", help=f"one of {', '.join(FORMATS)}")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="the number of the first sequence (0)")
    parser.add_argument("--most", type=int, default=1 << 30, metavar="N", help="sequences of each format")
    parser.add_argument(
        "--edit", action="append", default=[], metavar="E",
        help="part of an edit's name: sequences begin with such a one, and with one of each further --edit",
    )  # fmt: skip
    options = parser.parse_args(given)
    if options.minutes <= 0:
        parser.error("--minutes is more than 0")
    return options


def main(given: list[str]) -> int:
    """Fuzz, print what came of it, and return the exit status: 1 where something is wrong."""
    options = arguments(given)
    found = 0
    for name in options.format or FORMATS:
        found += run_format(name, options.minutes * 60, options.seed, options.most, options.edit)
    return 1 if found else 0


def run_format(name: str, seconds: float, first: int, most: int, edits: list[str]) -> int:
    """Run sequences on models of a format for some seconds; returns how many findings there are."""
    end, number, count, kept, crashes = time.monotonic() + seconds, first, 0, [], 0
    while time.monotonic() < end and count < most:
        last: dict[str, Any] = {}
        for line in lines_of([str(number), str(end - time.monotonic()), str(most - count), name, *edits]):
            if "unknown" in line:
                sys.exit(f"no edit's name has '{line['unknown']}'")
            if "begins" in line:
                last, count = line, count + 1
            else:
                kept.append(line)
                report(line)
        if not last:
            break
        if time.monotonic() < end and count < most:
            crashes += 1
            report_end(last)
        number = int(last["begins"]) + 1
    print(f"{name}: {count} sequences, {len(kept)} findings, Blender itself ended {crashes} times", flush=True)
    return len(kept)


def report_end(last: dict[str, Any]) -> None:
    """Print the sequence at which Blender itself ended, which may be its own doing."""
    shown = {"subject": f"Subject{tuple(last['subject'])}", "steps": last["steps"], "number": last["begins"]}
    report({**shown, "finding": "ended", "text": "Blender itself", "said": ""})


def lines_of(command: list[str]) -> Any:
    """Yield what a worker says, a dictionary a line, until it ends, by itself or with Blender."""
    start = [sys.executable, "-P", "-W", "ignore", "-m", "fuzz.edits.worker", *command]
    with subprocess.Popen(start, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        waiting = Timer(LONGEST, process.kill)  # some of Blender's own modifiers never end
        waiting.start()
        for text in process.stdout:
            waiting.cancel()
            if text.startswith("@"):
                yield json.loads(text[1:])
            waiting = Timer(LONGEST, process.kill)
            waiting.start()
        waiting.cancel()


def report(line: dict[str, Any]) -> None:
    """Print a finding with the script that shows it again."""
    print(f"-- {line['finding']}: {line['text']} (sequence {line['number']})")
    print("".join(f"   {text}\n" for text in str(line["said"]).strip().splitlines()), end="")
    print(SCRIPT.format(**line), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
