"""Our player, imported."""

from __future__ import annotations

import pytest

from tests.ui.player.players import brought, game


@pytest.fixture
def own(tmp_path):
    return brought(game(tmp_path) / "upper.md3")
