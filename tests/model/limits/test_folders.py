"""Which game a model is for."""

import pytest

from io_idtech_models.model.limits.games import FOLDERS, GAME_OF_FORMAT, GAMES, game_for, game_of_player


@pytest.mark.parametrize(
    ("name", "place", "game"),
    [
        ("md3", "/games/quake3/baseq3/pak0.pk3/models/players/sarge", "quake3"),
        ("md3", "C:/ET/ETMAIN/models/players/axis", "et"),
        ("md3", "/home/me/models", "format"),
        ("md3", "/games/baseq3/../etmain/models", "et"),  # the innermost
        ("md2", "/home/me", "quake2"),
        ("md5mesh", "/q2re/baseq2/models/monsters/soldier/md5", "quake2remaster"),
        ("md5mesh", "/home/me/models/soldier/md5", "quake2remaster"),
        ("md5mesh", "/doom3/base/models/md5", "doom3"),
        ("iqm", "/oa/baseoa/models", "ioquake3"),
        ("mdl", "/quake/id1/progs", "quakespasm"),
        ("mdc", "/rtcw/main/models", "rtcw"),
        ("mdc", "/somewhere", "format"),
        ("mdc", "/quake3/baseq3/models", "format"),  # which has no MDC
    ],
)
def test_the_game(name, place, game):
    assert game_for(name, place.split("/")) == game


def test_every_game_is_one():
    assert all(key in GAMES for keys in FOLDERS.values() for key in keys)
    assert all(name in GAMES[key].formats for name, key in GAME_OF_FORMAT.items())


def test_a_player_of_nowhere_is_quake_threes():
    openarena = ("games", "openarena", "baseoa")
    assert game_of_player(("home", "models", "players", "x")) == "quake3"
    assert game_of_player((*openarena, "models")) == game_for("md3", openarena)
