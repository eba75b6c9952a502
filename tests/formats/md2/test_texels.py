"""Texture coordinates in whole texels: decoded, encoded, and fitted into the entries of a source."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from io_idtech_models.formats.common.quake import decode_texels
from io_idtech_models.formats.md2.texels import TexelTable, encode_st
from io_idtech_models.reporting import LimitError

SIZE = (64, 32)


def table(*entries, used=None, size=SIZE):
    texels = np.array(entries, np.int16).reshape(-1, 2)
    return TexelTable(texels, size, np.ones(len(texels), np.bool_) if used is None else np.array(used, np.bool_))


def settle(source, corners, size=SIZE):
    """Settle corners (texel, entry); returns the entries, and the entry of each corner."""
    texels = np.array([texel for texel, _ in corners], np.int16).reshape(-1, 2)
    hints = np.array([hint for _, hint in corners], np.int64)
    found, indices = source.settle(decode_texels(texels, size), hints, size, "thing")
    assert found.dtype == np.int16 and indices.dtype == np.uint16
    return [tuple(row) for row in found.tolist()], indices.tolist()


def test_a_texel_is_shown_at_its_middle_from_the_bottom():
    assert decode_texels(np.array([[0, 0], [63, 31], [-1, 32]], np.int16), SIZE).tolist() == [
        [0.5 / 64, 1 - 0.5 / 32], [63.5 / 64, 0.5 / 32], [-0.5 / 64, -0.5 / 32],
    ]  # fmt: skip


@given(hnp.arrays(np.int16, (5, 2)), st.tuples(st.integers(-5, 2048), st.integers(-5, 2048)))
def test_encoding_undoes_decoding(texels, size):
    found, near = encode_st(decode_texels(texels, size), size)
    inside = np.abs(texels.astype(int)).max(axis=1) < 32767
    np.testing.assert_array_equal(found[inside], texels[inside])
    assert near[inside].all()


def test_a_skins_edge_is_its_last_texel():
    corners = np.array([(0, 0), (-1e-4, 1), (1, 0), (1, 1.001), (1.01, -0.01)], np.float32)
    texels, near = encode_st(corners, (256, 64))
    assert texels.tolist() == [[0, 63], [0, 0], [255, 63], [255, 0], [258, 64]]
    assert near.all()


def test_what_no_texel_reaches_is_told():
    uvs = np.array([[0.5, 0.5], [512.1, 0.5], [0.5, -1100], [np.nan, 0.5], [-np.inf, 0.5]], np.float32)
    texels, near = encode_st(uvs, SIZE)
    assert near.tolist() == [True, False, False, False, False]
    assert texels[[0, 1, 2]].tolist() == [[32, 16], [32767, 16], [32, 32767]]


# -- settling


SETTLED = {
    "nothing changes where nothing moved": (
        table((1, 2), (3, 4), (1, 2)), [((1, 2), 2), ((3, 4), 1), ((1, 2), 0)],
        [(1, 2), (3, 4), (1, 2)], [2, 1, 0]),
    "an entry all of whose corners moved to one texel changes in place": (
        table((1, 2), (3, 4)), [((9, 9), 1), ((1, 2), 0), ((9, 9), 1)],
        [(1, 2), (9, 9)], [1, 0, 1]),
    "corners that part get entries of their own": (
        table((1, 2), (3, 4)), [((9, 9), 1), ((3, 4), 1), ((1, 2), 0), ((8, 8), 1), ((9, 9), 1)],
        [(1, 2), (3, 4), (9, 9), (8, 8)], [2, 1, 0, 3, 2]),
    "entries whose corners part for two places go": (
        table((1, 2), (3, 4), (5, 6)), [((8, 8), 0), ((9, 9), 0), ((3, 4), 1), ((5, 6), 2)],
        [(3, 4), (5, 6), (8, 8), (9, 9)], [2, 3, 0, 1]),
    "new corners take the entry of an equal texel": (
        table((1, 2), (3, 4)), [((1, 2), 0), ((3, 4), 1), ((3, 4), -1), ((7, 7), -1), ((7, 7), -1)],
        [(1, 2), (3, 4), (7, 7)], [0, 1, 1, 2, 2]),
    "new corners keep an entry that lost its own": (
        table((1, 2), (3, 4), (1, 2)), [((1, 2), -1), ((3, 4), 1)], [(1, 2), (3, 4)], [0, 1]),
    "one in use first": (
        table((1, 2), (3, 4), (1, 2)), [((1, 2), -1), ((3, 4), 1), ((1, 2), 2)], [(3, 4), (1, 2)], [1, 0, 1]),
    "entries without corners go unless they never had any": (
        table((1, 2), (3, 4), (5, 6), used=[True, False, True]), [((5, 6), 2)], [(3, 4), (5, 6)], [1]),
    "all go but those that never had any": (
        table((1, 2), (3, 4), (5, 6), used=[True, False, True]), [], [(3, 4)], []),
    "a corner may take an entry that never had any": (
        table((1, 2), (3, 4), used=[True, False]), [((1, 2), 0), ((3, 4), -1)], [(1, 2), (3, 4)], [0, 1]),
    "a corner that moved from beyond the table gets an entry": (
        table((1, 2)), [((5, 5), 700), ((1, 2), 0)], [(1, 2), (5, 5)], [1, 0]),
}  # fmt: skip


@pytest.mark.parametrize(("source", "corners", "entries", "indices"), SETTLED.values(), ids=SETTLED)
def test_what_becomes_of_entries(source, corners, entries, indices):
    assert settle(source, corners) == (entries, indices)


def test_indices_beyond_the_table_are_kept_and_nothing_is_renumbered():
    source = table((1, 2), (3, 4))
    uvs = np.array([[0, 0], decode_texels(np.array((3, 4), np.int16), SIZE)], np.float32)
    found, indices = source.settle(uvs, np.array([700, 1]), SIZE, "thing")
    assert (found.tolist(), indices.tolist()) == ([[1, 2], [3, 4]], [700, 1])


def test_another_size_moves_all_entries():
    source = table((10, 10), (20, 20))
    uvs = decode_texels(source.st, SIZE)
    found, indices = source.settle(uvs, np.array([0, 1]), (128, 32), "thing")
    assert (found.tolist(), indices.tolist()) == ([[20, 10], [40, 20]], [0, 1])


def test_a_corner_that_left_the_last_texel_outward_is_refused():
    source = table((32767, 5))
    last = decode_texels(source.st, SIZE)
    assert source.settle(last, np.array([0]), SIZE, "thing")[0].tolist() == [[32767, 5]]
    with pytest.raises(LimitError, match=r"'thing' has the texture coordinate \(611.992, "):
        source.settle(last + np.array((100, 0), np.float32), np.array([0]), SIZE, "thing")


def test_too_many():
    texels = np.stack(np.divmod(np.arange(65537), 300), axis=1).astype(np.int16)
    uvs = decode_texels(texels, (300, 300))
    empty = table(size=(300, 300))
    with pytest.raises(LimitError, match="'thing' has 65537 texture coordinates, MD2 holds 65536"):
        empty.settle(uvs, np.full(65537, -1), (300, 300), "thing")
    found, indices = empty.settle(uvs[:-1], np.full(65536, -1), (300, 300), "thing")
    assert (len(found), int(indices.max())) == (65536, 65535)


small = st.integers(-3, 3)
corner = st.tuples(st.tuples(small, small), st.integers(-1, 7))


@given(st.lists(st.tuples(small, small), max_size=6), st.lists(corner, max_size=20))
def test_every_corner_shows_its_texel(entries, corners):
    used = [any(hint == i for _, hint in corners) for i in range(len(entries))]
    corners = [(texel, hint if hint < len(entries) else -1) for texel, hint in corners]
    source = table(*entries, used=used)
    found, indices = settle(source, corners)
    assert [found[i] for i in indices] == [texel for texel, _ in corners]
    kept = {entry for entry, use in zip(entries, used, strict=True) if not use}
    assert kept <= set(found), "what nobody used stays"
    assert len(found) <= len(entries) + len({texel for texel, _ in corners})
    for i, entry in enumerate(entries):
        own = [texel for texel, hint in corners if hint == i]
        if own and all(texel == entry for texel in own):
            assert entry in found
    if all(hint >= 0 and entries[hint] == texel for texel, hint in corners):
        alive = [e for i, e in enumerate(entries) if not used[i] or any(h == i for _, h in corners)]
        assert found == alive, "nothing moved"
