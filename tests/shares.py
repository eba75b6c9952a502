"""How several runs of the tests share their cases: each has a part of every test, but for what marks say."""

import zlib
from collections import defaultdict
from typing import Any

# The environment variable that asks for a share of each test's cases, "1/3": the first third; two runs have the others.
SHARE = "IDTECH_SHARE"
BLENDERS = 3  # that CI has
MARKS = {
    "everywhere": "each run has all cases: what has to hold of each file with each Blender",
    "once": "one run has it: what takes long, and is less about Blender than about us",
}


def others_share(items: list[Any], nth: int, runs: int) -> set[Any]:
    """Return the cases that are for other runs: of `runs` each has every `runs`-th of each test's.

    Of a test with fewer cases each run has one, and a test that has but one the first and the last run have: the oldest
    Blender and the newest; more runs than there are Blenders deal those, too. `MARKS` say otherwise of some tests.
    Cases are dealt in an order that has nothing to do with their parameters': else one run would have all of a kind.
    """
    tests: dict[Any, list[Any]] = defaultdict(list)
    others = set()
    for item in items:
        if item.get_closest_marker("once"):
            others |= {item} if _number(item) % runs != nth else set()
        elif not item.get_closest_marker("everywhere"):
            tests[item.path, getattr(item, "originalname", item.name)].append(item)
    for cases in tests.values():
        if len(cases) == 1:
            here = nth in {0, runs - 1} if runs <= BLENDERS else _number(cases[0]) % runs == nth
            others |= set() if here else set(cases)
        else:
            dealt = sorted(cases, key=_number)
            others |= {case for i, case in enumerate(dealt) if i % runs != nth % min(runs, len(cases))}
    return others


def _number(item: Any) -> int:
    return zlib.crc32(item.nodeid.encode())
