"""Silence for Blender's own importers and exporters, which print what the command line's users do not want to read."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO


@contextmanager
def quiet() -> Iterator[None]:
    """Keep what Blender and its add-ons print, in Python and in compiled code, off standard output and error."""
    _flush_compiled()
    try:
        saved = [os.dup(1), os.dup(2)]
    except OSError:  # no such descriptors, as in Blender's window on Windows: nothing to keep quiet
        yield
        return
    sink = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(sink, descriptor)
    os.close(sink)
    try:
        # In memory and never closed: the glTF add-on's loggers hold on to the stream that they find.
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            yield
    finally:
        _flush_compiled()
        for descriptor, copy in enumerate(saved, start=1):
            os.dup2(copy, descriptor)
            os.close(copy)


def _flush_compiled() -> None:
    """Write out what compiled code has printed so far."""
    if os.name == "posix":
        ctypes.CDLL(None).fflush(None)
