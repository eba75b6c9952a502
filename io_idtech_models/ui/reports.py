"""What operators report of files, their own or those of operators that they call; and how far they are meanwhile."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import bpy

from ..reporting import listed, watched

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


def report_failed(operator: Any, error: RuntimeError) -> None:
    """Report as an operator's own error what one that it called has reported, which Blender raises."""
    operator.report({"ERROR"}, str(error).removeprefix("Error: ").strip())


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
    odd = any(summary.is_odd for _, summary in done)
    if texts:
        operator.report({"ERROR" if failed else "WARNING" if odd else "INFO"}, "\n".join(texts))
    names = [name for name, _ in done if name]
    if len(names) > 1 and not failed and not odd:  # Blender's status bar has one line, for what was reported last
        operator.report({"INFO"}, f"{len(names)} files: {listed(names)}")


BEGIN, STEP = 0.5, 0.1  # seconds after which progress is shown, and between two looks of it
CONSOLE_STEP = 2.0


class _Progress:
    """Shows how far an operator is: at the mouse, or without a window in the console."""

    def __init__(self, manager: Any, name: str) -> None:
        self.manager, self.name, self.begun = manager, name, False
        self.next = time.monotonic() + BEGIN

    def __call__(self, done: int, total: int) -> None:
        """Show it, if it is time."""
        now = time.monotonic()
        if now < self.next:
            return
        percent = 100 * done // max(total, 1)
        if bpy.app.background:
            self.next = now + CONSOLE_STEP
            print(f"{self.name}: {percent} %")  # noqa: T201 - the console is the only place that shows it
            return
        self.next = now + STEP
        if not self.begun:
            self.manager.progress_begin(0, 100)
            self.begun = True
        self.manager.progress_update(percent)

    def end(self) -> None:
        """Show nothing more."""
        if self.begun:
            self.manager.progress_end()


@contextmanager
def showing_progress(context: Any, name: str) -> Iterator[None]:
    """Show how far work is that takes more than half a second; `name` is what it is done to."""
    progress = _Progress(context.window_manager, name)
    try:
        with watched(progress):
            yield
    finally:
        progress.end()
