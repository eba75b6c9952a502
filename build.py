#!/usr/bin/env python3
"""The project's entry point: ``python3 build.py --help``.

This file alone is written so that any Python, however old, can read it and say what it needs.
"""

import sys

if sys.version_info < (3, 8):
    sys.exit("build.py needs Python 3.11 or 3.13; this is Python %d.%d." % sys.version_info[:2])

from tools.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
