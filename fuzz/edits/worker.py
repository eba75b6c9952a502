"""What runs inside a Blender: sequences of edits by number, a line of JSON for each that begins and each finding."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import astuple
from functools import cache
from random import Random

from fuzz.edits.session import Finding, Step, Subject, all_operations, run, subjects

MOST_STEPS = 6
OTHER_WAYS = 3  # of how many sequences one is imported, or exported, in another way


def sequence(number: int, wanted: list[str], first: tuple[str, ...] = ()) -> tuple[Subject, list[Step]]:
    """Return the model and the edits of a number; the same for the same formats, wherever it runs.

    For each part of a name in `first` it begins with an edit whose name has that.
    """
    rng = Random(f"{number} {' '.join(wanted)}")
    subject = rng.choice(subjects(wanted))
    names = sorted(all_operations())
    own = [name for name in names if " " not in name and name.islower()]
    count = rng.randint(1, MOST_STEPS)
    steps = [(rng.choice(rng.choice((names, own))), rng.randrange(1 << 20)) for _ in range(count)]
    known = [[name for name in names if part in name] for part in first]
    steps = [(rng.choice(each), rng.randrange(1 << 20)) for each in known] + steps
    return subject.otherwise(rng) if number % OTHER_WAYS == 0 else subject, steps


@cache
def is_odd(subject: Subject) -> bool:
    """Tell whether Blender can't show a model as its file has it: without faces, or with some twice."""
    return bool(run(subject, []).kind)


def shortened(subject: Subject, steps: list[Step], finding: Finding) -> list[Step]:
    """Return as few of the steps as show a finding of the same kind."""
    place = 0
    while place < len(steps):
        fewer = steps[:place] + steps[place + 1 :]
        if run(subject, fewer).kind == finding.kind:
            steps = fewer
        else:
            place += 1
    return steps


def findings(
    begin: int, end: float, most: int, wanted: list[str], first: tuple[str, ...] = ()
) -> Iterator[dict[str, object]]:
    """Run sequences from a number on, until a time or so many of them; yields what happens."""
    number = begin
    while time.monotonic() < end and number < begin + most:
        subject, steps = sequence(number, wanted, first)
        yield {"begins": number, "subject": astuple(subject), "steps": steps}
        found = Finding("") if is_odd(subject) else run(subject, steps)
        if found.kind:
            fewer = shortened(subject, steps, found)
            last = run(subject, fewer)
            yield {
                "subject": repr(subject), "steps": fewer, "number": number,
                "finding": found.kind, "text": last.text or found.text, "said": last.said,
            }  # fmt: skip
        number += 1


def main() -> None:
    """Run what the command line says: the first number, seconds, the most sequences, a format, and what comes first."""
    import io_idtech_models

    io_idtech_models.register()
    begin, seconds, most, wanted, *first = sys.argv[1:]
    for part in first:
        if not any(part in name for name in all_operations()):
            print("@" + json.dumps({"unknown": part}))
            return
    for line in findings(int(begin), time.monotonic() + float(seconds), int(most), [wanted], tuple(first)):
        print("@" + json.dumps(line), flush=True)
    io_idtech_models.unregister()


if __name__ == "__main__":
    main()
