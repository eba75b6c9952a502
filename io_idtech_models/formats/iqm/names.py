"""The text of an IQM: names as offsets, the source's where they still say what they did."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..common.records import decode_name

STEP = 4  # bytes that text is padded to


def name_at(text: NDArray[np.uint8], offset: int) -> str:
    """Return the name at an offset; what lies outside the text has none."""
    return decode_name(text[offset:].tobytes()) if offset < len(text) else ""


def names_at(text: NDArray[np.uint8], offsets: NDArray[Any]) -> list[str]:
    """Return the names at offsets (n,)."""
    raw = text.tobytes()
    return [decode_name(raw[o : raw.find(b"\0", o) if raw.find(b"\0", o) >= 0 else None]) if o < len(raw) else ""
            for o in offsets.tolist()]  # fmt: skip


class TextWriter:
    """A text that names are added to."""

    def __init__(self, source: NDArray[np.uint8] | None) -> None:
        self._source = source
        self._raw = bytearray(b"\0" if source is None else source.tobytes())
        self._known: dict[str, int] = {"": 0} if source is None else {}
        self._grown = source is None

    def offset(self, name: str, written: int = -1) -> int:
        """Return a name's offset: the one that the source has `written` where that names it still."""
        if self._source is not None and written >= 0 and name_at(self._source, written) == name:
            return written
        if name not in self._known:
            if self._raw and self._raw[-1]:
                self._raw += b"\0"  # the last name of the source may lack it
            self._known[name], self._grown = len(self._raw), True
            self._raw += name.encode("utf-8", errors="replace").replace(b"\0", b"") + b"\0"
        return self._known[name]

    @property
    def text(self) -> NDArray[np.uint8]:
        """Return the bytes (n,)."""
        padding = bytes(-len(self._raw) % STEP) if self._grown else b""
        return np.frombuffer(bytes(self._raw) + padding, np.uint8)
