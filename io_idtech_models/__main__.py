"""Run the command line without Blender: python -m io_idtech_models, or idtech: info | check | convert | try."""

import sys

INTERRUPTED = 130  # by Ctrl-C, as shells have it


def run() -> int:
    """Run the command that this process was started with, and return its exit status."""
    try:
        from .cli.main import main  # numpy and all formats: half a second, in which a user may change their mind
    except KeyboardInterrupt:
        return INTERRUPTED
    return main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(run())
