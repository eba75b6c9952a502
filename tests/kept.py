"""What tests found before, kept in a .json beside them: that exports write the same bytes, and readers say the same.

A test hands what it found to the fixture `as_before`: bytes, of which a digest is kept, or sentences, which are kept as
they are. What was meant to change is kept anew where the environment variable `IDTECH_KEEP` is set; a diff of the .json
then says of what, and the changelog to whom it matters.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

KEEP = "IDTECH_KEEP"


class Kept:
    """What one test found, call by call."""

    def __init__(self, item: Any) -> None:
        self.module, self.name = item.module, item.name
        self.file = Path(item.path).with_suffix(".json")
        self.found: list[Any] = []

    def __call__(self, found: bytes | Sequence[str]) -> None:
        """Assert that bytes or sentences are those of before."""
        nth = len(self.found)
        self.found.append(hashlib.sha256(found).hexdigest()[:12] if isinstance(found, bytes) else list(found))
        if os.environ.get(KEEP):
            self._keep()
        before = json.loads(self.file.read_text(encoding="utf-8")).get(self.name, [])
        assert self.found[nth:] == before[nth : nth + 1], (
            "what is written or said is not what it was: see tests/kept.py"
        )

    def _keep(self) -> None:
        known = json.loads(self.file.read_text(encoding="utf-8")) if self.file.exists() else {}
        known = {name: found for name, found in known.items() if hasattr(self.module, name.partition("[")[0])}
        rows = [f"{_row(name)}: {_rows(found)}" for name, found in sorted((known | {self.name: self.found}).items())]
        self.file.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


def _row(found: Any) -> str:
    return json.dumps(found, ensure_ascii=False)


def _rows(found: list[Any]) -> str:
    """Return what is kept of a test as JSON: digests in its line, each sentence in one of its own."""
    parts = [_row(each) if isinstance(each, str) else "[\n" + ",\n".join(map(_row, each)) + "\n]" for each in found]
    return f"[{', '.join(parts)}]"
