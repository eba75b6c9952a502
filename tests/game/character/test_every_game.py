"""Characters of every game are found wherever their files lie: in folders, archives, and the user's other games."""

import pytest

from io_idtech_models.game.character.kinds import character_of, characters_in, place_of
from io_idtech_models.game.folders import Disk, Game
from tests.game.character.test_damaged import CHARACTERS
from tests.packs import put_files, put_pack

NAMES = {"doom3": "monster_newt"}  # of which its file declares several
LISTED = {"doom3": ["hat.def", "newt.def"]}  # all that declares something
PACKS = {"doom3": ".pk4", "quake2": ".pak"}
each_game = pytest.mark.parametrize("game", CHARACTERS)


def found(place, game, games=()):
    """Return what there is of a character, without where it lies."""
    character = character_of(Disk(games).file(place), name=NAMES.get(game, ""))
    motions = [(motion.file.name, [row.name for row in motion.rows]) for motion in character.motions]
    pieces = [(piece.kind, piece.on, piece.tag, piece.file.name) for piece in character.pieces]
    return character.missing, character.name, character.body and character.body.name, motions, pieces


@each_game
def test_the_same_from_an_archive(tmp_path, game):
    path, files = CHARACTERS[game]
    put_files(tmp_path / "loose", files())
    pack = put_pack(tmp_path / f"game/pak0{PACKS.get(game, '.pk3')}", files())
    there = found(tmp_path / "loose" / path, game)
    assert there[0] == []
    assert found(pack / path, game) == there
    listed = list(characters_in(Disk().store(pack)))
    assert [file.name for file in listed] == LISTED.get(game, [path.rpartition("/")[2]])
    assert all(place_of(file) for file in listed)


@each_game
def test_a_loose_file_of_an_archive_of_its_game(tmp_path, game):
    path, files = CHARACTERS[game]
    put_files(tmp_path / "loose", files())
    put_pack(tmp_path / f"game/pak0{PACKS.get(game, '.pk3')}", {n: data for n, data in files().items() if n != path})
    put_files(tmp_path / "game", {path: files()[path]})
    assert found(tmp_path / "game" / path, game) == found(tmp_path / "loose" / path, game)


@pytest.mark.parametrize(("game", "lacking"), [("et", "body.mdm"), ("rtcw", "face.md3"), ("doom3", "newt.md5mesh")])
def test_what_a_mod_lacks_is_found_in_the_users_games(tmp_path, game, lacking):
    path, files = CHARACTERS[game]
    put_files(tmp_path / "game", files())
    put_files(tmp_path / "mod", files(), {lacking.replace(".", "_"): None})
    alone, there = found(tmp_path / "mod" / path, game), found(tmp_path / "game" / path, game)
    assert alone != there and lacking in str(alone[0])
    assert found(tmp_path / "mod" / path, game, [Game("a game", (str(tmp_path / "game"),))]) == there
