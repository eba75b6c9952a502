"""Sentences."""

import pytest

from io_idtech_models.model.wording import listed


@pytest.mark.parametrize(
    ("count", "text"),
    [(1, "'0'"), (6, "'0', '1', '2', '3', '4', '5'"), (8, "'0', '1', '2', '3', '4', '5', and 2 more")],
)
def test_lists_are_cut(count, text):
    assert listed(list(map(str, range(count)))) == text
