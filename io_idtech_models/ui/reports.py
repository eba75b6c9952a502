"""What operators report of files: their own, or those of operators that they call."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

# What operators say that another one has called, which says it with its own: Blender drops reports of those called.
_listeners: list[tuple[list[tuple[str, Any]], list[str]]] = []


@contextmanager
def listening() -> Iterator[tuple[list[tuple[str, Any]], list[str]]]:
    """Collect what operators that are called within have done, and what failed, rather than let them report it."""
    _listeners.append(([], []))
    try:
        yield _listeners[-1]
    finally:
        _listeners.pop()


def report_done(operator: Any, done: Sequence[tuple[str, Any]], failed: Sequence[str] = ()) -> None:
    """Report what came of files, names ("" for none) and summaries: an error if one failed, a warning if some are odd.

    What has no room in that comes before, for the Info editor and the console: Blender shows the last report longest.
    """
    if _listeners:
        _listeners[-1][0].extend(done)
        _listeners[-1][1].extend(failed)
        return
    heads = [f"{name}: " if name else "" for name, _ in done]
    texts = [*failed, *(f"{head}{summary}" for head, (_, summary) in zip(heads, done, strict=True))]
    rest = [f"{head}{text}" for head, (_, summary) in zip(heads, done, strict=True) for text in summary.rest]
    if rest:
        operator.report({"INFO"}, "\n".join(rest))
    odd = any(summary.warnings for _, summary in done)
    if texts:
        operator.report({"ERROR" if failed else "WARNING" if odd else "INFO"}, "\n".join(texts))
