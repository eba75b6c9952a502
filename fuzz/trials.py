"""A child that tries inputs one by one, killed where it hangs; and making inputs smaller that fail."""

from __future__ import annotations

import selectors
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

PATIENCE = 30.0  # seconds


class Trials:
    """A process of `worker.py serve`, replaced when it ends."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str]) -> None:
        self.command, self.environ = command, environ
        self.child: subprocess.Popen[str] | None = None
        self.folder = tempfile.TemporaryDirectory()

    def result(self, kind: str, data: bytes) -> tuple[str, str]:
        """Return a finding's name and what was wrong with an input; two empty texts if nothing was."""
        path = Path(self.folder.name) / "input"
        path.write_bytes(data)
        child = self._child()
        assert child.stdin is not None and child.stdout is not None
        child.stdin.write(f"{kind} {path}\n")
        child.stdin.flush()
        with selectors.DefaultSelector() as selector:
            selector.register(child.stdout, selectors.EVENT_READ)
            if not selector.select(PATIENCE):
                self.stop()
                return "Hang", f"no answer within {PATIENCE:g} s"
        answer = child.stdout.readline()
        if not answer:
            status = child.wait()
            self.stop()
            return f"Crash{status}", f"the process ended with {status}"
        if answer.startswith("stale"):
            self.stop()
        name, _, text = answer.partition(" ")[2].strip().partition(" | ")
        return name, text

    def fails_so(self, kind: str, name: str, data: bytes) -> bool:
        """Tell whether an input gives the finding of that name."""
        return self.result(kind, data)[0] == name

    def _child(self) -> subprocess.Popen[str]:
        if self.child is None:
            self.child = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                env=self.environ,
            )  # fmt: skip
        return self.child

    def stop(self) -> None:
        """End the present process."""
        if self.child is not None:
            self.child.kill()
            self.child.communicate()
            self.child = None

    def close(self) -> None:
        """End the process and remove what it was given."""
        self.stop()
        self.folder.cleanup()


def minimised(data: bytes, fails: Callable[[bytes], bool], most: int) -> bytes:
    """Return a smaller input that fails in the same way: pieces are left out, then set to zero, ever smaller ones.

    At most so many inputs are tried.
    """
    tries = 0
    for filler in (False, True):
        size = len(data) // 2
        while size and tries < most:
            place = 0
            while place < len(data) and tries < most:
                piece = data[place : place + size]
                smaller = data[:place] + (bytes(len(piece)) if filler else b"") + data[place + size :]
                if smaller != data:
                    tries += 1
                    if fails(smaller):
                        data = smaller
                        place += size if filler else 0
                        continue
                place += size
            size //= 2
    return data
