"""How several runs of the tests share their cases: each has a part of every test, but for what marks say."""

import zlib
from collections import defaultdict
from typing import Any

# The environment variable that asks for a share of each test's cases, "1/3": the first third; two runs have the others.
SHARE = "IDTECH_SHARE"
MARKS = {
    "everywhere": "each run has all cases: what has to hold of each file with each Blender",
    "once": "one run has it: what takes long, and is less about Blender than about us",
}


def others_share(items: list[Any], nth: int, runs: int) -> set[Any]:
    """Return the cases that are for other runs: of `runs` each has every test, and of its cases every `runs`-th.

    Of a test with fewer cases each run has one, unless it is marked as one that a single run has.
    Cases are dealt in an order that has nothing to do with their parameters': else one run would have all of a kind.
    """
    tests: dict[Any, list[Any]] = defaultdict(list)
    others = set()
    for item in items:
        if item.get_closest_marker("once"):
            others |= {item} if _number(item) % runs != nth else set()
        elif not item.get_closest_marker("everywhere"):
            tests[item.path, getattr(item, "originalname", item.name)].append(item)
    dealt = [sorted(cases, key=_number) for cases in tests.values()]
    return others | {case for cases in dealt for i, case in enumerate(cases) if i % runs != nth % min(runs, len(cases))}


def _number(item: Any) -> int:
    return zlib.crc32(item.nodeid.encode())
