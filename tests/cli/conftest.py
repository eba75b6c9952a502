"""What tests of the command line share."""

from collections.abc import Callable

import pytest

from io_idtech_models.cli import main as cli


@pytest.fixture
def run(capsys) -> Callable[..., tuple[int, list[str], list[str]]]:
    """Return what runs a command: (status, lines of standard output, lines of standard error)."""

    def call(*argv: object) -> tuple[int, list[str], list[str]]:
        status = cli.main([str(a) for a in argv])
        out, err = capsys.readouterr()
        return status, out.splitlines(), err.splitlines()

    return call
