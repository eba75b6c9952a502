"""Processes that tests start."""

from __future__ import annotations

import sys

# Runs the command that follows so that it hears Ctrl-C, which background jobs of a shell are told to ignore.
HEARING = [
    sys.executable,
    "-c",
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])",
]
