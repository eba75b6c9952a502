"""How several runs of the tests share their cases: each test is in all of them, and most cases in one."""

import zlib
from collections import defaultdict
from typing import Any

# The environment variable that asks for a share of each test's cases, "1/3": the first third; two runs have the others.
SHARE = "IDTECH_SHARE"


def others_share(items: list[Any], nth: int, runs: int) -> set[Any]:
    """Return the cases that are for other runs: of `runs` each has every test, and of its cases every `runs`-th.

    Of a test with fewer cases each run has one.
    Cases are dealt in an order that has nothing to do with their parameters': else one run would have all of a kind.
    """
    tests: dict[Any, list[Any]] = defaultdict(list)
    for item in items:
        tests[item.path, getattr(item, "originalname", item.name)].append(item)
    dealt = [sorted(cases, key=lambda item: zlib.crc32(item.nodeid.encode())) for cases in tests.values()]
    return {case for cases in dealt for i, case in enumerate(cases) if i % runs != nth % min(runs, len(cases))}
