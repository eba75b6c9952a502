"""How several runs of the tests share their cases: each has a part of every test, but for what marks say."""

import zlib
from collections import defaultdict
from typing import Any

# The environment variable that asks for a share of each test's cases, "1/3": the first third; two runs have the others.
SHARE = "IDTECH_SHARE"
MARKS = {
    "once": "one run has it: what takes long, and is less about Blender than about us",
}


def others_share(items: list[Any], nth: int, runs: int) -> set[Any]:
    """Return the cases that are for other runs: of `runs` each has every `runs`-th of each test's.

    Cases are dealt in an order that has nothing to do with their parameters', else one run would have all of a kind.
    Who has the first of a test has nothing to do with the test. What is marked `once` is dealt by itself.
    """
    tests: dict[Any, list[Any]] = defaultdict(list)
    others = set()
    for item in items:
        if item.get_closest_marker("once"):
            others |= {item} if _number(item) % runs != nth else set()
        else:
            tests[item.path, getattr(item, "originalname", item.name)].append(item)
    for cases in tests.values():
        dealt = sorted(cases, key=_number)
        others |= {case for i, case in enumerate(dealt, _number(dealt[0])) if i % runs != nth}
    return others


def _number(item: Any) -> int:
    return zlib.crc32(item.nodeid.encode())
