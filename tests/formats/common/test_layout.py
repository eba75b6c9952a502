"""Where lumps lie: surveyed, and laid out again."""

import numpy as np
import pytest

from io_idtech_models.formats.common.chunks import Piece, assemble, check_overlap, plan_layout, survey
from io_idtech_models.reporting import FormatError

DATA = b"HHHH..bbb-aaaa!!!tail"
LUMPS = [Piece(0, 0, 4), Piece(10, 10, 4), Piece(11, 6, 3), Piece(12, 99, 0)]
BYTES = {0: b"HHHH", 10: b"aaaa", 11: b"bbb", 12: b""}


def laid_out(lumps, hint, renamed):
    """Return the file, and where every lump begins."""
    layout = plan_layout(list(lumps), {k: len(v) for k, v in lumps.items()}, hint, renamed)
    offsets, size = layout.places({k: len(v) for k, v in lumps.items()})
    data = assemble(lumps, layout)
    assert len(data) == size
    return data, offsets, layout


def test_survey_says_order_gaps_and_what_stands_behind():
    hint = survey(LUMPS, DATA)
    assert hint["layout_order"].tolist() == [0, 11, 10]
    assert hint["layout_gaps"].tolist() == [0, 2, 1]
    assert hint["layout_filler"].tobytes() == b"..-"
    assert hint["layout_tail"].tobytes() == b"!!!tail"
    assert hint["layout_empty"].tolist() == [[12, 99]]


def test_a_surveyed_file_comes_back():
    data, offsets, layout = laid_out(BYTES, survey(LUMPS, DATA), {k: k for k in BYTES})
    assert data == DATA
    assert offsets == {0: 0, 11: 6, 10: 10}
    assert layout.empty == {12: 99}


def test_without_a_hint_lumps_follow_one_another():
    data, offsets, layout = laid_out(BYTES, {}, {})
    assert data == b"HHHHaaaabbb"
    assert offsets == {0: 0, 10: 4, 11: 8}
    assert (layout.tail, layout.empty) == (b"", {})


def test_lumps_that_grow_push_the_later_ones():
    data, _, _ = laid_out(BYTES | {11: b"BBBBB"}, survey(LUMPS, DATA), {k: k for k in BYTES})
    assert data == b"HHHH..BBBBB-aaaa!!!tail"


def test_lumps_that_are_gone_take_the_gap_before_them_along():
    data, _, _ = laid_out({0: b"HHHH", 10: b"aaaa"}, survey(LUMPS, DATA), {0: 0, 10: 10})
    assert data == b"HHHH-aaaa!!!tail"


def test_a_lump_that_became_empty_is_no_lump():
    data, offsets, _ = laid_out(BYTES | {11: b""}, survey(LUMPS, DATA), {k: k for k in BYTES})
    assert data == b"HHHH-aaaa!!!tail"
    assert 11 not in offsets


def test_new_lumps_follow_their_neighbour():
    data, _, _ = laid_out({0: b"HHHH", 10: b"aaaa", 5: b"new", 11: b"bbb"}, survey(LUMPS, DATA), {0: 0, 10: 10, 11: 11})
    assert data == b"HHHH..bbb-aaaanew!!!tail"


def test_an_empty_lump_that_grew_is_new():
    data, _, layout = laid_out(BYTES | {12: b"full"}, survey(LUMPS, DATA), {k: k for k in BYTES})
    assert data == b"HHHH..bbbfull-aaaa!!!tail"
    assert layout.empty == {}


def test_renamed_lumps_take_their_place_along():
    data, offsets, _ = laid_out({0: b"HHHH", 7: b"aaaa", 8: b"bbb"}, survey(LUMPS, DATA), {0: 0, 10: 7, 11: 8})
    assert data == DATA
    assert offsets == {0: 0, 8: 6, 7: 10}


def test_two_lumps_that_claim_one_place():
    data, _, _ = laid_out({0: b"HHHH", 7: b"aaaa", 8: b"bbb"}, survey(LUMPS, DATA), {0: 0, 10: 7, 11: 7})
    assert data == b"HHHH..aaaabbb!!!tail"


def test_lumps_that_overlap_are_laid_out_apart():
    hint = survey([Piece(0, 0, 4), Piece(1, 2, 4), Piece(2, 2, 4)], b"abcdef")
    assert hint["layout_gaps"].tolist() == [0, 0, 0]
    data, _, _ = laid_out({0: b"abcd", 1: b"cdef", 2: b"cdef"}, hint, {k: k for k in range(3)})
    assert data == b"abcdcdefcdef"


def test_overlaps_are_refused_only_where_they_multiply_the_file():
    check_overlap([Piece(i, 0, 10) for i in range(3)], 10)
    with pytest.raises(FormatError, match="lumps overlap: expected 10 bytes in all, found 40"):
        check_overlap([Piece(i, 0, 10) for i in range(4)], 10)


def test_a_file_of_nothing():
    hint = survey([], b"")
    assert {name: array.shape for name, array in hint.items()} == {
        "layout_order": (0,), "layout_gaps": (0,), "layout_filler": (0,), "layout_tail": (0,), "layout_empty": (0, 2),
    }  # fmt: skip
    assert hint["layout_gaps"].dtype == np.int64


def inserted(order, solid):
    """Return an order with those of `solid` that it lacks, put in one by one."""
    found = list(order)
    for i, key in enumerate(solid):
        if key not in found:
            found.insert(found.index(solid[i - 1]) + 1 if i else 0, key)
    return found


@pytest.mark.parametrize("seed", range(30))
def test_many_new_lumps_follow_their_neighbours_wherever_these_lie(seed):
    random = np.random.default_rng(seed)
    solid = random.permutation(12).tolist()
    known = random.permutation(solid)[: random.integers(0, 13)].tolist()
    hint = survey([Piece(key, 4 * place, 4) for place, key in enumerate(known)], bytes(4 * len(known)))
    layout = plan_layout(solid, dict.fromkeys(solid, 4), hint, {key: key for key in known})
    assert layout.order == inserted(known, solid)
    assert set(layout.gaps) == set(solid)
