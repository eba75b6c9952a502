"""A player is found from any of its files, as the game sees it, and what it lacks is said."""

import pytest

from io_idtech_models.game.folders import Disk, led
from io_idtech_models.game.player.files import named_by, player_in, player_of, players_in
from tests.game.packs import PACKS
from tests.packs import put_files, put_pack

SARGE = "models/players/sarge/"


def player_files(*skins, parts=("lower", "upper", "head")):
    names = [f"{part}.md3" for part in parts] + [f"{part}_{skin}.skin" for part in parts for skin in skins]
    return dict.fromkeys([*names, "animation.cfg", *(f"icon_{skin}.tga" for skin in skins)], b"x")


def below(folder, files):
    return {folder + name: data for name, data in files.items()}


def put(folder, *skins, without=(), more=(), **options):
    files = {name: b"x" for name in (*player_files(*skins, **options), *more) if name not in without}
    put_files(folder, below(SARGE, files))
    found = player_in(Disk().store(folder / SARGE))
    assert found is not None
    return found


def player(path):
    found = player_of(Disk().file(path))
    assert found is not None
    return found


ALL = ["lower.md3", "HEAD_1.MD3", "upper_red.skin", "Icon_default.tga", "animation.cfg", "notes/readme.txt"]


@pytest.mark.parametrize("where", ["base", "base/pak0.pk3"])
@pytest.mark.parametrize("name", ALL)
def test_a_player_is_found_from_any_of_its_files(tmp_path, where, name):
    files = player_files("blue", "default", "red") | dict.fromkeys(
        ("HEAD_1.MD3", "Icon_default.tga", "notes/readme.txt"), b"x"
    )
    del files["icon_default.tga"]
    if where.endswith("pk3"):
        put_pack(tmp_path / where, below(SARGE, files))
    else:
        put_files(tmp_path / where, below(SARGE, files))
    found = player(tmp_path / where / SARGE / name)
    assert (found.name, found.path) == ("sarge", SARGE.rstrip("/"))
    assert [(part, files.base.name) for part, files in found.parts.items()] == [
        ("lower", "lower.md3"), ("upper", "upper.md3"), ("head", "head.md3"),
    ]  # fmt: skip
    assert found.parts["head"].levels[1].name == "HEAD_1.MD3"
    assert found.skins == ["default", "red", "blue"]
    assert found.parts["upper"].skins["red"].name == "upper_red.skin"
    icons = {skin: icon.name for skin, icon in found.icons.items()}
    assert icons == {"default": "Icon_default.tga", "red": "icon_red.tga", "blue": "icon_blue.tga"}
    assert found.table and found.table.name == "animation.cfg"
    assert found.missing == []


def test_the_strongest_layers_files_count(tmp_path):
    put_pack(tmp_path / "base/pak0.pk3", below("models/players/Sarge/", player_files("default", "red")))
    put_pack(tmp_path / "base/pak1.pk3", {SARGE + "HEAD.md3": b"y", SARGE + "head_2.md3": b"y"})
    put_files(tmp_path / "base", {SARGE + "animation.cfg": b"z", SARGE + "head_1.md3": b"z"})
    for place in ("base/pak0.pk3/models/players/Sarge/upper.md3", "base/pak1.pk3/models/players/sarge/HEAD.md3"):
        found = player(tmp_path / place)
        assert found.parts["lower"].base.place == str(tmp_path / "base/pak0.pk3/models/players/Sarge/lower.md3")
        head = found.parts["head"]
        assert [file.read() for file in (head.base, *head.levels.values(), found.table) if file] == [b"y", b"z"] * 2
        assert found.missing == []


def test_a_player_in_a_folder_of_no_game(tmp_path):
    put_files(tmp_path / "sarge", player_files("default"))
    found = named_by(Disk().file(tmp_path / "sarge" / "head.md3"))
    assert found is not None and sorted(found.parts) == ["head", "lower", "upper"]


def test_players_of_a_game(tmp_path):
    put_pack(tmp_path / "base/pak0.pk3", below(SARGE, player_files("default")))
    put_pack(tmp_path / "base/pak1.pk3", below("models/wop_players/Padman/", player_files("default")))
    body = player_files("red", parts=("lower", "upper"))
    put_files(tmp_path / "base", below("models/players/characters/janet/", body))
    put_files(tmp_path / "base", {"models/players/grism/a.tga": b"x", "models/players/heads/x/x.md3": b"x"})
    put_files(tmp_path / "mymod", below("models/players/arachna/", player_files("default")))
    put_files(tmp_path / "base", below("models/players/Characters/Zoe/", body))
    names = ["arachna", "janet", "sarge", "Zoe", "Padman"]
    put_pack(tmp_path / "mymod/z.pk3", {"readme.txt": b""})
    for folder in (Disk().folder(tmp_path / "mymod"), Disk().store(tmp_path / "mymod/z.pk3").around):
        found = players_in(folder)
        assert [player.name for player in found] == names
        assert found[1].path == "models/players/characters/janet"
        assert found[4].path == "models/wop_players/Padman"
    assert [player.name for player in players_in(Disk().store(tmp_path / "base" / "pak0.pk3"))] == ["sarge"]


def test_no_player(tmp_path):
    put_files(tmp_path, {"models/players/readme.txt": b"", "models/players/grism/a.tga": b"", "a/lower.tga": b""})
    for name in ("models/players/readme.txt", "models/players/grism/a.tga", "a/lower.tga", "none/lower.md3"):
        assert player_of(Disk().file(tmp_path / name)) is None


def test_a_player_outside_of_any_game(tmp_path):
    put_files(tmp_path, below("mine/", player_files("default")))
    found = player(tmp_path / "mine/head.md3")
    assert found.path == "models/players/mine"
    assert found.missing == []


# -- what is missing


def test_a_player_without_head_and_table(tmp_path):
    found = put(tmp_path, "default", without=["head.md3", "animation.cfg"])
    assert set(found.parts) == {"lower", "upper"}
    assert found.table is None
    assert found.skins == ["default"]
    assert found.missing == [
        "'sarge' has no head.md3: games refuse a player without",
        "'sarge' has no animation.cfg: games refuse a player without, and no frame has a name",
    ]


def test_skins_of_some_parts(tmp_path):
    found = put(tmp_path, "default", "red", without=["upper_red.skin", "icon_default.tga"])
    assert found.skins == ["default"]
    assert found.missing == ["'sarge' has no upper_red.skin: games refuse the skin 'red'"]
    assert found.without_icon == ["default"]
    assert put(tmp_path / "b").missing == [
        "'sarge' has no skin: games refuse a player without; its models wear what they name themselves"
    ]


def test_gaps_among_levels_of_detail(tmp_path):
    found = put(tmp_path, "default", more=["head_2.md3", "lower_1.md3", "lower_2.md3", "upper_3.md3"])
    assert list(found.parts["head"].levels) == [2]
    assert found.missing == [
        "'sarge' has upper_3.md3, but no upper_1.md3: games crash where a level of detail is left out",
        "'sarge' has head_2.md3, but no head_1.md3: games crash where a level of detail is left out",
    ]
    lone = put(tmp_path / "b", "default", without=["head.md3"], more=["head_1.md3"])
    assert lone.missing == [
        "'sarge' has no head.md3 for head_1.md3 to be a level of: games crash, and refuse the player"
    ]
    last = put(tmp_path / "d", "default", without=["head.md3"], more=["head_3.md3"])
    assert last.missing == [
        "'sarge' has no head.md3 for head_3.md3 to be a level of: games crash, and refuse the player"
    ]
    other = put(tmp_path / "c", "default", without=["head.md3"], more=["head.mdc"])
    assert other.missing == ["'sarge' has 'head.mdc', which is of a format that can't be read here"]


# -- other games


def test_a_head_for_each_skin(tmp_path):
    more = ["head_red.md3", "head_1.md3"]
    head = put(tmp_path, "default", "red", "1", more=more).parts["head"]
    worn = [head.model(skin).name for skin in ("default", "RED", "1", "")]
    assert worn == ["head.md3", "head_red.md3", "head.md3", "head.md3"]
    head = put(tmp_path / "b", "default", "red", without=["head.md3"], more=[*more, "head_default.md3"]).parts["head"]
    assert (head.base.name, head.model("red").name) == ("head_default.md3", "head_red.md3")


def test_a_head_among_the_heads(tmp_path):
    heads = {"Sarge.md3": b"x", "head_default.skin": b"x", "head_red.skin": b""}
    put_files(tmp_path, below("models/players/heads/sarge/", heads))
    found = put(tmp_path, "default", without=["head.md3", "head_default.skin"])
    assert found.parts["head"].base.place == str(tmp_path / "models/players/heads/sarge/Sarge.md3")
    assert list(found.parts["head"].skins) == ["default", "red"]
    assert found.skins == ["default"]
    alone = player(tmp_path / "models/players/heads/sarge/head_red.skin")
    assert {part: files.base.name for part, files in alone.parts.items()} == {"head": "Sarge.md3"}
    assert alone.missing[:2] == [
        "'sarge' has no lower.md3: games refuse a player without",
        "'sarge' has no upper.md3: games refuse a player without",
    ]
    body = below("models/players/characters/sarge/", player_files("default", parts=("lower", "upper")))
    put_files(tmp_path, body)
    other = player(tmp_path / "models/players/characters/sarge/lower.md3")
    assert other.parts["head"].base.name == "Sarge.md3"
    assert other.missing == ["'sarge' has no lower_red.skin and upper_red.skin: games refuse the skin 'red'"]


def test_wolfensteins_players(tmp_path):
    skin = b'md3_part "heads/old.mdc"\nface,models/face\n'
    files = {"lower.md3": b"", "upper.md3": b"", "body_blue.skin": b"", "head_blue.skin": skin, "wolfanim.cfg": b""}
    put_files(tmp_path, below("models/players/boss/", {**files, "heads/old.md3": b"", "lower_red.skin": b""}))
    found = player(tmp_path / "models/players/boss/wolfanim.cfg")
    assert found.parts["head"].model("blue").name == "old.md3"
    assert found.parts["upper"].skins["blue"].name == "body_blue.skin"
    assert (found.skins, found.table and found.table.name) == (["blue"], "wolfanim.cfg")
    assert found.missing == ["'boss' has no upper_red.skin and head_red.skin: games refuse the skin 'red'"]


def test_a_player_of_one_part(tmp_path):
    put_files(tmp_path, below("models/players/goon/", player_files("default", parts=("nonseg",))))
    found = player(tmp_path / "models/players/goon/nonseg.md3")
    assert (list(found.parts), found.skins, found.missing) == (["nonseg"], ["default"], [])


# -- real players


@pytest.mark.skipif(not PACKS.exists(), reason="no real packs")
def test_real_players():
    found = players_in(Disk().folder(PACKS))
    assert [player.name for player in found] == ["assassin", "liz", "penguin", "sarge", "tony"]
    assert all(player.missing == [] for player in found)
    assassin, liz, _, sarge, _ = found
    assert "ghost" in assassin.skins, "its files lie in a patch"
    assert {"pak6-patch088.pk3" in part.base.place for part in liz.parts.values()} == {True, False}
    assert sarge.skins == ["default", "red", "blue", "classic", "classicblue", "classicred", "indigo"]
    assert all(list(part.levels) == [1, 2] for part in sarge.parts.values())
    assert list(sarge.icons) == sarge.skins


def test_what_the_game_takes_from_elsewhere_is_named(tmp_path):
    """A file that is named is read from where it lies; of an archive that is named all are."""
    old, new = tmp_path / "base/pak0.pk3", tmp_path / "base/pak1.pk3"
    files = below(SARGE, player_files("default"))
    put_pack(old, files | {SARGE + "lower_1.md3": b"x"})
    others = [SARGE + name for name in ("head.md3", "lower_1.md3", "icon_default.tga")]
    put_pack(new, files | dict.fromkeys(others, b"y"))
    said = f"the game takes other files than '{old}' has, "
    shown = {"head.md3": "lower_1.md3", "lower_1.md3": "head.md3", "upper.md3": "head.md3, lower_1.md3"}
    for name, rest in shown.items():
        file = Disk().file(old / SARGE / name)
        found = named_by(file)
        assert found is not None
        assert found.missing == [f"{said}which are shown: {rest}"]
        places = {each.base for each in found.parts.values()} | set(found.parts["lower"].levels.values())
        assert file in places and sum(str(each.place).startswith(str(old)) for each in places) == 1
        assert [f"{kind}.md3" for kind in found.parts] == [part.base.name for part in found.parts.values()]
    (found,) = players_in(led(Disk().store(old)))
    assert found.missing == [f"{said}whose own are shown: head.md3, icon_default.tga, lower_1.md3"]
    assert {each.base.read() for each in found.parts.values()} == {b"x"}
    (found,) = players_in(led(Disk().store(new)))
    assert found.missing == []
    strongest = named_by(Disk().file(new / SARGE / "head.md3"))
    assert strongest is not None and strongest.missing == []
