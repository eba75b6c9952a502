"""What the user's guide tells to do is done: first steps, tutorials and recipes, block by block."""

from pathlib import Path

import numpy as np
import pytest

from io_idtech_models.formats.md3 import file as md3
from tests.recipes import follow, lay_out

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in a folder with the examples."""
    lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(path):
    return md3.read(Path(path).read_bytes())


def test_first_steps():
    follow("getting-started")
    (hull, glow), (new_hull, new_glow) = read("examples/sentinel/sentinel.md3").surfaces, read("mine.md3").surfaces
    assert (hull.vertices["xyz"] != new_hull.vertices["xyz"]).any((1, 2)).tolist() == [True] + [False] * 19
    assert np.ptp(new_hull.vertices["xyz"][0, :, 2]) == pytest.approx(
        1.5 * np.ptp(hull.vertices["xyz"][0, :, 2]), abs=2
    )
    assert np.abs(new_glow.vertices["xyz"] - 1.3 * glow.vertices["xyz"]).max() <= 0.51
    assert np.array_equal(read("examples/sentinel/sentinel.md3").tags, read("mine.md3").tags)
