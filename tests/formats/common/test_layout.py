"""Where lumps lie: surveyed, and laid out again."""

import numpy as np
import pytest

from io_idtech_models.formats.common.chunks import Piece, assemble, check_overlap, plan_layout, survey
from io_idtech_models.reporting import FormatError

DATA = b"HHHH..bbb-aaaa!!!tail"
LUMPS = [Piece(0, 0, 4), Piece(10, 10, 4), Piece(11, 6, 3), Piece(12, 99, 0)]
BYTES = {0: b"HHHH", 10: b"aaaa", 11: b"bbb", 12: b""}


KEPT = {key: key for key in BYTES}
# What becomes of lumps: their bytes, what those of the source are called now, and the file.
LAID_OUT = {
    "a surveyed file comes back": (BYTES, KEPT, DATA),
    "lumps that grow push the later ones": (BYTES | {11: b"BBBBB"}, KEPT, b"HHHH..BBBBB-aaaa!!!tail"),
    "lumps that are gone take the gap before them along": (
        {0: b"HHHH", 10: b"aaaa"}, {0: 0, 10: 10}, b"HHHH-aaaa!!!tail"),
    "a lump that became empty is no lump": (BYTES | {11: b""}, KEPT, b"HHHH-aaaa!!!tail"),
    "new lumps follow their neighbour": (
        {0: b"HHHH", 10: b"aaaa", 5: b"new", 11: b"bbb"}, {0: 0, 10: 10, 11: 11}, b"HHHH..bbb-aaaanew!!!tail"),
    "an empty lump that grew is new": (BYTES | {12: b"full"}, KEPT, b"HHHH..bbbfull-aaaa!!!tail"),
    "renamed lumps take their place along": ({0: b"HHHH", 7: b"aaaa", 8: b"bbb"}, {0: 0, 10: 7, 11: 8}, DATA),
    "two lumps that claim one place": (
        {0: b"HHHH", 7: b"aaaa", 8: b"bbb"}, {0: 0, 10: 7, 11: 7}, b"HHHH..aaaabbb!!!tail"),
}  # fmt: skip


def laid_out(lumps, hint, renamed):
    """Return the file, and the layout; every lump lies where it says."""
    layout = plan_layout(list(lumps), {k: len(v) for k, v in lumps.items()}, hint, renamed)
    offsets, size = layout.places({k: len(v) for k, v in lumps.items()})
    data = assemble(lumps, layout)
    assert len(data) == size
    found = {key: data[at : at + len(lumps[key])] for key, at in offsets.items()}
    assert found == {key: raw for key, raw in lumps.items() if raw}
    return data, layout


def test_survey_says_order_gaps_and_what_stands_behind():
    hint = survey(LUMPS, DATA)
    assert hint["layout_order"].tolist() == [0, 11, 10]
    assert hint["layout_gaps"].tolist() == [0, 2, 1]
    assert hint["layout_filler"].tobytes() == b"..-"
    assert hint["layout_tail"].tobytes() == b"!!!tail"
    assert hint["layout_empty"].tolist() == [[12, 99]]


@pytest.mark.parametrize(("lumps", "renamed", "wanted"), LAID_OUT.values(), ids=LAID_OUT)
def test_what_becomes_of_lumps(lumps, renamed, wanted):
    data, layout = laid_out(lumps, survey(LUMPS, DATA), renamed)
    assert data == wanted
    assert layout.empty == ({12: 99} if lumps.get(12) == b"" else {})


def test_without_a_hint_lumps_follow_one_another():
    data, layout = laid_out(BYTES, {}, {})
    assert data == b"HHHHaaaabbb"
    assert (layout.tail, layout.empty) == (b"", {})


def test_lumps_that_overlap_are_laid_out_apart():
    hint = survey([Piece(0, 0, 4), Piece(1, 2, 4), Piece(2, 2, 4)], b"abcdef")
    assert hint["layout_gaps"].tolist() == [0, 0, 0]
    assert laid_out({0: b"abcd", 1: b"cdef", 2: b"cdef"}, hint, {k: k for k in range(3)})[0] == b"abcdcdefcdef"


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
