"""Run the command line without Blender: python -m io_idtech_models info | check | convert | try."""

import sys

from .cli.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
