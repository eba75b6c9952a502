"""Whose files are that the jobs of a batch write, one after another or in several processes, and which were there."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..assets.storage import Target, holds
from ..reporting import LimitError

OWNER = "owner"  # in the folder of a claim


@dataclass(frozen=True)
class Claims:
    """What one source claims, in a folder that all processes share: nothing goes in place of what another became."""

    folder: Path
    source: str
    spelled: Callable[[Path], str]  # one spelling for each place
    replaced: list[Path] = field(default_factory=list)  # that were there with other bytes

    def claim(self, files: Sequence[tuple[Target, bytes]]) -> None:
        """Claim files, all or none; the same bytes are no dispute. Raises LimitError."""
        made: list[Path] = []
        for path, data in files:
            place = self.folder / _digest(self.spelled(path).encode("utf-8", "surrogateescape"))
            content = _digest(data)
            # A folder comes to its name with all in it, and to none that is there: no process reads half a claim.
            own = Path(tempfile.mkdtemp(dir=self.folder))
            (own / OWNER).write_text(f"{content} {self.source}", encoding="utf-8", errors="surrogateescape")
            try:
                own.rename(place)
                made.append(place)
            except OSError:
                theirs, _, other = (place / OWNER).read_text("utf-8", "surrogateescape").partition(" ")
                if other == self.source or theirs == content:
                    continue
                for each in made:
                    shutil.rmtree(each)
                text = f"'{path}' is what '{other}' became, and would be written over: convert it into another folder"
                raise LimitError(text) from None
        self.replaced.extend(path for path, data in files if path.exists() and not holds(path, data))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
