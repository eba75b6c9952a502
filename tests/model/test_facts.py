"""Sentences."""

import pytest

from io_idtech_models.reporting import listed, once


@pytest.mark.parametrize(
    ("count", "text"),
    [(1, "'0'"), (6, "'0', '1', '2', '3', '4', '5'"), (8, "'0', '1', '2', '3', '4', '5', and 2 more")],
)
def test_lists_are_cut(count, text):
    assert listed(list(map(str, range(count)))) == text


def test_what_is_said_of_several_things_is_said_once():
    said = ["'a' is odd", "x is 1", "'b' is odd", "'c' is bad", "x is 1"]
    assert once(said) == ["each of 'a', 'b' is odd", "x is 1", "'c' is bad"]
