"""The benchmarks end, whichever way, and measure what is named. How fast anything is no test says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import skeletal

pytestmark = pytest.mark.once

PROJECT = Path(__file__).parents[2]
NEWT = PROJECT / "examples" / "newt" / "models" / "md5" / "newt"
LONGEST = 120  # seconds; some Blenders clean up for ever once something refers to their data


def bench(*arguments):
    command = [sys.executable, "-P", str(PROJECT / "benchmarks" / "run.py"), *map(str, arguments)]
    env = os.environ | {"PYTHONPATH": str(PROJECT)}
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=env, timeout=LONGEST, check=False
    )


@pytest.mark.parametrize(("arguments", "status"), [(["--help"], 0), (["nowhere.md3", "--small", "x.md5mesh"], 2)])
def test_it_ends_without_blenders_clean_up(arguments, status):
    result = bench(*arguments)
    assert result.returncode == status
    assert "usage: build.py bench" in result.stdout + result.stderr


def test_skeletal_models_can_be_named():
    result = bench("--repeat", "1", NEWT / "newt.md5mesh", *sorted(NEWT.glob("*.md5anim")))
    assert result.returncode == 0, result.stderr
    assert "export / floor of export" in result.stdout


def test_motions_follow_their_model():
    motion = next(iter(sorted(NEWT.glob("*.md5anim"))))
    with pytest.raises(ValueError, match="name the model that it moves before it"):
        skeletal.from_files([motion])
    (files,) = skeletal.from_files([NEWT / "newt.md5mesh", motion])
    assert len(files.animations) == 1
    assert files.frames > 1
