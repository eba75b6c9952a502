"""How much time and memory something takes, and a stop to what takes too much.

The address space is limited to what is mapped before, and so much more: what asks for more gets a MemoryError. Not for
processes with Blender in them, which crash then.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

STATM = Path("/proc/self/statm")


class BrokenError(AssertionError):
    """A promise that an input breaks."""


@dataclass(frozen=True)
class Budget:
    """What a step may take."""

    seconds: float = 2.0  # of the processor
    times: int = 50  # the input's size, of memory, and
    spare: int = 64 << 20  # so many bytes

    @contextmanager
    def spent(self, step: str, size: int) -> Iterator[None]:
        """Run a step on an input of some size; raises BrokenError or MemoryError where it takes too much."""
        start = time.process_time()
        with _limited_memory(self.times * size + self.spare):
            yield
        seconds = time.process_time() - start
        if seconds > self.seconds:
            raise BrokenError(f"{step} takes more than {self.seconds:g} s")


def mapped_bytes() -> int:
    """Return the size of this process' address space; 0 where the system does not say."""
    if not STATM.exists():
        return 0
    import resource

    return int(STATM.read_text(encoding="ascii").split()[0]) * resource.getpagesize()


@contextmanager
def _limited_memory(more: int) -> Iterator[None]:
    """Keep the address space from growing by more than so many bytes, where the system can do that."""
    if sys.platform != "linux":
        yield
        return
    import resource

    old, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (mapped_bytes() + more, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (old, hard))
