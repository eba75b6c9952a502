"""Run the command line without Blender: python -m io_idtech_models, or idtech: info | check | convert | try."""

import sys

from .cli.main import main


def run() -> int:
    """Run the command that this process was started with, and return its exit status."""
    return main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(run())
