"""Which lines of the package inputs reach."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from fuzz.guard import Budget

PARTS = ("formats", "model", "game")
LONGEST = 1 << 14  # bytes of inputs that are replayed: counting lines is slow


class Lines:
    """Counts the lines of `formats`, `model` and `game` that run, and those that could."""

    def __init__(self, package: Path) -> None:
        self.package = package
        self.seen: dict[str, set[int]] = {str(p): set() for part in PARTS for p in (package / part).rglob("*.py")}

    def run(self, folders: dict[str, Path]) -> None:
        """Try the inputs in folders, by kind, once more, and count."""
        sys.settrace(self._enter)
        try:
            from fuzz.properties import check

            for kind, folder in folders.items():
                for path in sorted(folder.glob("*")):
                    with suppress(Exception):  # what fails was said before
                        if path.stat().st_size <= LONGEST:
                            check(kind, path.read_bytes(), Budget(600.0, 1000, 1 << 31))
        finally:
            sys.settrace(None)

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        lines = self.seen.get(frame.f_code.co_filename)
        if lines is None:
            return None
        lines.add(frame.f_lineno)

        def step(frame: FrameType, event: str, argument: Any) -> Any:
            if event == "line":
                lines.add(frame.f_lineno)
            return step

        return step

    def table(self) -> list[str]:
        """Return a line for each module with its per cent of lines that ran, and one for all."""
        rows, ran, all_lines = [], 0, 0
        for name, seen in sorted(self.seen.items()):
            possible = _lines_of(compile(Path(name).read_text(encoding="utf-8"), name, "exec"))
            hit = len(seen & possible)
            ran, all_lines = ran + hit, all_lines + len(possible)
            if possible:
                path = Path(name).relative_to(self.package).as_posix()
                rows.append(f"  {path}: {100 * hit / len(possible):.0f} % of {len(possible)} lines")
        return ["lines that inputs reached:", *rows, f"  in all {100 * ran / max(all_lines, 1):.1f} % of {all_lines}"]


def _lines_of(code: CodeType) -> set[int]:
    """Return the lines of functions in a code object, and in those within."""
    found: set[int] = set()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_flags & CO_OPTIMIZED:
                found |= {line for _, _, line in constant.co_lines() if line}
            found |= _lines_of(constant)
    return found
