"""The Bloom, an IQM: what it has that other examples have not."""

import numpy as np
import pytest

from examples.bloom import FRAMES, HEAD_SCALE
from io_idtech_models.formats import by_name
from io_idtech_models.model.bake import bake
from tests.samples import PROJECT

FILE = PROJECT / "examples" / "bloom" / "bloom.iqm"
ROW = by_name("iqm")


@pytest.fixture(scope="module")
def bloom():
    return ROW.unpack(ROW.read(FILE.read_bytes()), "bloom")


def test_what_the_bloom_plays(bloom):
    assert [(a.name, a.loops, a.num_frames) for a in bloom.animations] == [
        ("sway", True, FRAMES), ("bloom", False, FRAMES)
    ]  # fmt: skip


def test_its_head_is_scaled_at_rest_and_opens(bloom):
    assert bloom.model.skeleton.scales[-1].tolist() == [HEAD_SCALE] * 3
    (mesh,) = bake(bloom.model, bloom.animations[1:]).surfaces
    widths = np.abs(mesh.positions[:, :, :2]).max(axis=(1, 2))
    assert widths[0] < widths[-1] / 2
    assert widths[-1] == pytest.approx(6, abs=0.01)
    heights = mesh.positions[:, :, 2].max(axis=1)
    assert heights[0] < heights[-1] == pytest.approx(31, abs=0.01)
