"""Sentences."""

import pytest

from io_idtech_models.reporting import SHOWN, Summary, listed, once


@pytest.mark.parametrize(
    ("count", "text"),
    [(1, "'0'"), (6, "'0', '1', '2', '3', '4', '5'"), (8, "'0', '1', '2', '3', '4', '5', and 2 more")],
)
def test_lists_are_cut(count, text):
    assert listed(list(map(str, range(count)))) == text


def test_what_is_said_of_several_things_is_said_once():
    said = ["'a' is odd", "x is 1", "'b' is odd", "'c' is bad", "x is 1"]
    assert once(said) == ["each of 'a', 'b' is odd", "x is 1", "'c' is bad"]


def test_a_line_says_the_same_once_where_not_all_has_room():
    hard = [f"a.md3: '{name}': hard edges at {count} vertices" for count, name in enumerate("abcdefgh", 1)]
    summary = Summary("1 surface", [*hard, "'x' is lost"], ["3 frames"])
    such = "a.md3: 'a': hard edges at 1 vertices (and 7 such: 'b', 'c', 'd', 'e', 'f', 'g', and 1 more)"
    assert str(summary) == f"1 surface; {such}; 'x' is lost; 3 frames"
    assert summary.rest == hard[1:], "which are said apart"
    assert str(Summary("1 surface", [hard[0]] * 20)) == f"1 surface; {hard[0]}"
    few = Summary("1 surface", hard[: SHOWN - 1])
    assert str(few) == "; ".join(["1 surface", *hard[: SHOWN - 1]])
    assert not few.rest


def test_a_line_counts_what_it_has_no_room_for():
    ways = ["up", "down", "left", "right", "in", "out", "far", "near"]
    summary = Summary("1 surface", [f"it goes {way}" for way in ways] + ["it has 1", "it has 2"])
    assert str(summary).endswith("it goes out; and 4 more")
    assert summary.rest == ["it goes far", "it goes near", "it has 1", "it has 2"]
