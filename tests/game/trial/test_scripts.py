"""What a game is told: how a model is shown, by which arguments and scripts, and that no name can say more."""

import struct

import pytest

from io_idtech_models.game.trial import room, script
from io_idtech_models.game.trial.command import ARGUMENTS, arguments
from io_idtech_models.game.trial.script import View, commands, settings
from io_idtech_models.game.trial.subject import Player, Thing, Weapon, subject_of
from io_idtech_models.reporting import LimitError

VALUES = {"base": "/games/oa", "game": "baseoa", "mod": "mymod", "home": "/tmp/t", "map": "oa_dm1", "script": "try.cfg"}


@pytest.mark.parametrize(
    ("path", "subject"),
    [
        ("models/players/sarge/upper.md3", Player("sarge", "red")),
        ("Models/Players/Sarge/HEAD_2.MD3", Player("Sarge", "red")),
        ("models/players/sarge/hat.md3", Thing("models/players/sarge/hat.md3")),
        ("models/players/heads/sarge/head.md3", Thing("models/players/heads/sarge/head.md3")),
        ("models/weapons2/railgun/railgun.md3", Weapon("models/weapons2/railgun/railgun.md3", 7)),
        ("models/weapons2/railgun/railgun_flash.md3", Weapon("models/weapons2/railgun/railgun.md3", 7)),
        ("models/weapons2/railgun/stand.md3", Thing("models/weapons2/railgun/stand.md3")),
        ("models/weapons2/spork/spork.md3", Thing("models/weapons2/spork/spork.md3")),
        ("models/powerups/ammo/railgunam.md3", Thing("models/powerups/ammo/railgunam.md3")),
    ],
)
def test_how_a_model_is_shown(path, subject):
    assert subject_of(path, "red") == subject


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("models/a.md2", "only .md3 can be tried"),
        ("models/../a.md3", "only .md3 can be tried"),
        ("models/a;quit.md3", "';'"),
        ('models/a"b.md3', "'\"'"),
        ("models/a b.md3", "' '"),
        ("models/a\nquit.md3", r"'\\n'"),
        ("models/ä.md3", "'ä'"),
        ("models/players/a$b/head.md3", "'\\$'"),
        ("models/" + "a" * 60 + ".md3", "71 characters"),
    ],
)
def test_a_name_that_a_console_would_take_for_more(path, why):
    with pytest.raises(LimitError, match=why):
        subject_of(path)


def test_a_skin_that_a_console_would_take_for_more():
    with pytest.raises(LimitError, match="can't name it"):
        subject_of("models/players/sarge/head.md3", 'red"; quit')


# -- arguments


def test_the_usual_arguments():
    found = arguments("", VALUES)
    assert found[:6] == ["+set", "fs_basepath", "/games/oa", "+set", "fs_homepath", "/tmp/t"]
    assert found[-7:] == ["+set", "fs_game", "mymod", "+devmap", "oa_dm1", "+exec", "try.cfg"]
    assert arguments(f"  {ARGUMENTS} ", VALUES) == found


def test_what_would_set_a_mod_is_left_out_without_one():
    assert "fs_game" not in arguments("", {**VALUES, "mod": ""})
    assert arguments("-x {mod}y +a {mod} {map} +b {map}", {**VALUES, "mod": ""}) == ["+b", "oa_dm1"]


def test_words_are_words_whatever_stands_in_their_place():
    assert arguments('"a b" {home}/x +y', {**VALUES, "home": "/tmp/my home"}) == ["a b", "/tmp/my home/x", "+y"]
    assert arguments("{map}", {**VALUES, "map": "{home}"}) == ["{home}"], "once"


@pytest.mark.parametrize(
    ("template", "values", "why"),
    [
        ('+set a "b', {}, "quote without its partner"),
        ("{hoem}", {}, r"have \{hoem\}, there are only \{base\}"),
        ("{home.__class__} {}", {}, r"have \{\}"),
        ("", {"base": "/games/c++"}, "can't hold a path"),
        ("", {"home": '/tmp/a"b'}, "can't hold a path"),
        ("", {"base": "/a\n+quit"}, "can't hold a path"),
        ("", {"home": "/" + "a" * 300}, "takes 1023"),
    ],
)
def test_arguments_that_can_not_be(template, values, why):
    with pytest.raises(LimitError, match=why):
        arguments(template, {**VALUES, **values})


# -- scripts


def test_weapons_have_the_games_numbers():
    """In the order of `weapon_t` (bg_public.h), from 1 on."""
    folders = ("gauntlet", "machinegun", "shotgun", "grenadel", "rocketl", "lightning", "railgun", "plasma", "bfg")
    found = [subject_of(f"models/weapons2/{folder}/{folder}.md3") for folder in folders]
    assert [each.number for each in found if isinstance(each, Weapon)] == list(range(1, 10))


def test_settings_of_the_user_count_above_ours():
    view = View(picture=True, cvars={"r_mode": "4", "cg_fov": "90"})
    said = settings(Thing("models/a.md3"), view).splitlines()
    assert [line for line in said if " r_mode " in line] == ['set r_mode "4"']
    assert 'set cg_fov "90"' in commands(Thing("models/a.md3"), view)


@pytest.mark.parametrize(
    "setting", [("a b", "1"), ("a;b", "1"), ("", "1"), ("a", '1"'), ("a", "1;quit"), ("a", "1\n2")]
)
def test_settings_that_are_more_than_one(setting):
    with pytest.raises(LimitError, match="no setting of a game"):
        settings(Thing("models/a.md3"), View(cvars=dict([setting])))


def test_a_picture_keeps_its_lowest_rows():
    rows = [bytes([row]) * 3 * 2 for row in range(5)]
    shot = struct.pack("<3B5x4H2B", 2, 0, 2, 0, 0, 2, 5, 24, 0) + b"id" + b"".join(rows)
    found = script.picture(shot, View(size=(2, 3)))
    assert found == struct.pack("<3B5x4H2B", 2, 0, 2, 0, 0, 2, 3, 24, 0) + b"id" + b"".join(rows[:3])
    assert script.picture(found, View(size=(2, 3))) == found


VIEWS = {
    "usual": View(), "picture": View(picture=True), "beside": View(90.0, 40.0, (640, 400)),
    "own settings": View(cvars={"r_gamma": "2", "cg_fov": "90"}), "high": View(size=(300, 900), picture=True),
}  # fmt: skip


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("path", ["players/sarge/upper.md3", "weapons2/shotgun/shotgun.md3", "powerups/ammo.md3"])
def test_a_game_is_told_what_it_was(path, view, as_before):
    """A player in third person, a weapon in the hands, any other model before the eyes; a picture at the end."""
    subject = subject_of(f"models/{path}", "red")
    for in_room in (True, False):
        as_before(settings(subject, VIEWS[view], in_room).splitlines())
    as_before([subject.label, *subject.models, *commands(subject, VIEWS[view]).splitlines()])


def test_the_room_is_what_it_was(as_before):
    for data in room.files().values():
        as_before(data)
