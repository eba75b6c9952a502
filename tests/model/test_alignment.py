"""Where frames of a file are by now: what is inserted, deleted, moved, or edited in place."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_idtech_models.model.alignment import homes, spans

# What became of a file of eight frames, a run of them, and where that is now; None: gone.
CASES = {
    "nothing": ([0, 1, 2, 3, 4, 5, 6, 7], (2, 4), (2, 5)),
    "frames in front": ([-1, -1, 0, 1, 2, 3, 4, 5, 6, 7], (0, 1), (2, 4)),
    "copies in front": ([0, 1, 0, 1, 2, 3, 4, 5, 6, 7], (0, 1), (2, 4)),
    "frames behind": ([0, 1, 2, 3, 4, 5, 6, 7, 6, 7], (6, 7), (6, 8)),
    "frames right before": ([0, 1, -1, -1, 2, 3, 4, 5, 6, 7], (2, 4), (4, 7)),
    "frames right behind": ([0, 1, 2, 3, 4, -1, 5, 6, 7], (2, 4), (2, 5)),
    "frames within": ([0, 1, 2, 3, -1, -1, 4, 5, 6, 7], (2, 4), (2, 7)),
    "deleted within": ([0, 1, 2, 4, 5, 6, 7], (2, 4), (2, 4)),
    "its first deleted": ([0, 1, 3, 4, 5, 6, 7], (2, 4), (2, 4)),
    "its last deleted": ([0, 1, 2, 3, 5, 6, 7], (2, 4), (2, 4)),
    "all deleted": ([0, 1, 5, 6, 7], (2, 4), None),
    "all deleted at the end": ([0, 1, 2, 3], (5, 7), None),
    "all deleted in front": ([4, 5, 6, 7], (0, 2), None),
    "edited": ([0, 1, 2, -1, 4, 5, 6, 7], (2, 4), (2, 5)),
    "its first edited": ([0, 1, -1, 3, 4, 5, 6, 7], (2, 4), (2, 5)),
    "all edited": ([-1] * 8, (2, 4), (2, 5)),
    "a pose held": ([0, 1, 2, 2, 4, 5, 6, 7], (2, 4), (2, 5)),
    "a pose taken from behind": ([0, 1, 3, 3, 4, 5, 6, 7], (2, 4), (2, 5)),
    "a pose taken from afar": ([0, 1, 7, 3, 4, 5, 6, 7], (2, 4), (2, 5)),
    "its first held for longer": ([0, 1, 2, 2, 2, 2, 3, 4, 5, 6, 7], (2, 4), (2, 8)),
    "its last held for longer": ([0, 1, 2, 3, 4, 4, 4, 5, 6, 7], (2, 4), (2, 7)),
    "one within held for longer": ([0, 1, 2, 3, 3, 3, 4, 5, 6, 7], (2, 4), (2, 7)),
    "the one before held for longer": ([0, 1, 1, 1, 2, 3, 4, 5, 6, 7], (2, 4), (4, 7)),
    "the one behind held for longer": ([0, 1, 2, 3, 4, 5, 5, 5, 6, 7], (2, 4), (2, 5)),
    "one far behind held for longer": ([0, 1, 2, 3, 4, 5, 6, 6, 6, 6, 6, 6, 6, 7], (2, 4), (2, 5)),
    "one far before held for longer": ([0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7], (2, 4), (9, 12)),
    "frames swapped within": ([0, 1, 2, 4, 3, 5, 6, 7], (2, 5), (2, 6)),
    "edited behind frames in front": ([-1, 0, 1, 2, -1, 4, 5, 6, 7], (2, 4), (3, 6)),
    "twice as many": ([0, -1, 1, -1, 2, -1, 3, -1, 4, -1, 5, -1, 6, -1, 7, -1], (2, 4), (4, 9)),
    "the halves swapped, of the longer": ([5, 6, 7, 0, 1, 2, 3, 4], (2, 4), (5, 8)),
    "of another file": ([0, 1, 90, 3, 4, 5, 6, 7], (2, 4), (2, 5)),
    "none left": ([], (0, 7), None),
}


@pytest.mark.parametrize(
    ("hints", "count", "wanted"),
    [
        ([[-1, 0], [1, -1], [5, 2]], 3, None),  # one part says that each is where it was
        ([[0], [2], [1]], 3, [0, 2, 1]),
        ([[0], [1]], 3, [0, 1]),
        ([[2, 0, 2], [-1, -1, -1], [-1, 1, -1]], 3, [2, -1, 1]),
    ],
)
def test_where_frames_come_from(hints, count, wanted):
    found = homes(np.array(hints), count)
    assert (None if found is None else found.tolist()) == wanted


@pytest.mark.parametrize("case", CASES)
def test_a_run_is_where_its_frames_are(case):
    homes, (first, last), wanted = CASES[case]
    begins, ends = spans(np.array(homes, np.int64), 8)
    found = (int(begins[first]), int(ends[last]))
    assert found == wanted if wanted is not None else found[1] <= found[0]


@given(st.lists(st.integers(-1, 12), max_size=20), st.integers(1, 12))
def test_what_is_found_lies_in_order_and_within(homes, count):
    begins, ends = spans(np.array(homes, np.int64), count)
    assert len(begins) == len(ends) == count
    assert (np.diff(begins) >= 0).all() and (np.diff(ends) >= 0).all()
    assert begins.min() >= 0 and ends.max() <= len(homes)


@given(st.integers(1, 12), st.integers(0, 12), st.integers(0, 6))
def test_frames_inserted_anywhere_move_what_is_behind_them(count, at, more):
    at = min(at, count)
    homes = np.insert(np.arange(count), at, [-1] * more)
    begins, ends = spans(homes, count)
    wanted = np.arange(count) + more * (np.arange(count) >= at)
    assert begins.tolist() == wanted.tolist() and (ends - 1).tolist() == wanted.tolist()
