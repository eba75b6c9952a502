"""How far meshes reach: what moving every vertex in every frame says, at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_idtech_models.model.bounds import AT_ONCE, reach
from io_idtech_models.model.skeletal import Weights, skin
from io_idtech_models.model.transforms import to_matrices


def made(seed: int, vertices: int, frames: int, joints: int = 4):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 4, vertices)
    size = max(int(counts.sum()), 3)
    starts = rng.integers(0, size - 2, vertices)  # shared, and in no order
    table = Weights(
        starts, counts, rng.integers(0, joints, size), rng.random(size).astype(np.float32),
        rng.normal(size=(size, 3)).astype(np.float32),
    )  # fmt: skip
    turns = rng.normal(size=(frames, joints, 4))
    turns /= np.linalg.norm(turns, axis=-1, keepdims=True)
    return table, rng.normal(size=(frames, joints, 3)), turns, rng.random((frames, joints)) * 3


@given(st.integers(0, 99), st.integers(1, 30), st.integers(1, 2 * AT_ONCE + 1), st.booleans())
def test_it_is_what_all_vertices_say(seed, vertices, frames, scaled):
    table, positions, turns, scales = made(seed, vertices, frames)
    found = reach(table, positions, to_matrices(turns) * (scales[..., None, None] if scaled else 1))
    for frame in range(frames):
        points = skin(table, positions[frame], turns[frame], scales[frame] if scaled else None)
        np.testing.assert_allclose(found[frame], [points.min(axis=0), points.max(axis=0)], atol=1e-12)


def test_vertices_that_nothing_moves_do_not_count():
    table, positions, turns, _ = made(1, 5, 3)
    table.counts[2] = 0
    others, axes = np.array([0, 1, 3, 4]), to_matrices(turns)
    np.testing.assert_array_equal(reach(table, positions + 100, axes), reach(table.of(others), positions + 100, axes))


@pytest.mark.parametrize("frames", [0, 2])
def test_nothing_reaches_nowhere(frames):
    table, positions, turns, _ = made(1, 5, frames)
    found = reach(table.of(np.zeros(0, int)), positions, to_matrices(turns))
    assert found.shape == (frames, 2, 3)
    assert (found[:, 0] > found[:, 1]).all()
