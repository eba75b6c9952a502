"""Lines on the terminal: names in them come from strangers."""

from __future__ import annotations

import sys
from typing import Any


def say(text: str, stream: Any = None) -> None:
    """Print a line: what a terminal might obey, and what its encoding lacks, is replaced."""
    stream = stream or sys.stdout
    plain = "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)
    encoding = getattr(stream, "encoding", None) or "utf-8"
    print(plain.encode(encoding, errors="replace").decode(encoding), file=stream, flush=True)


def warn(text: str) -> None:
    """Print a line to standard error; see `say`."""
    say(text, sys.stderr)
