"""Character files are read as the game does, and what is wrong with one is said with its line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_idtech_models.game.character.et.definition import Entry, read
from io_idtech_models.reporting import FormatError
from tests.samples_character import DEFINITION, TOYS


def test_keys_values_and_lines():
    found = read(DEFINITION.encode())
    assert found.complaints == ()
    assert found.entries[:2] == (Entry("skin", "field", 4), Entry("mesh", f"{TOYS}/body.mdm", 6))
    assert found.value("animationgroup") == "animations/toys.anim"
    assert (found.line("hudhead"), found.value("weaponskin"), found.line("weaponskin")) == (13, "", 0)


def test_case_comments_quotes_and_line_ends_mean_nothing():
    text = '/* a\nb */ CHARACTERDEF {\r\n MESH a/b.mdm // "c"\r\n"Skin"\n\n"x y" } left out'
    found = read(text.encode())
    assert found.entries == (Entry("MESH", "a/b.mdm", 3), Entry("Skin", "x y", 4))
    assert (found.value("mesh"), found.value("skin"), found.complaints) == ("a/b.mdm", "x y", ())


def test_of_a_key_that_comes_again_the_last_counts():
    found = read(b"characterDef {\nskin a\nSKIN b\n}")
    assert (found.value("skin"), found.line("skin")) == ("b", 3)


def test_keys_of_mods_are_told_of():
    found = read(b'characterDef {\nskin a\nweaponskin "b.skin"\n}')
    assert found.unknown() == [Entry("weaponskin", "b.skin", 3)]


@pytest.mark.parametrize(
    ("text", "complaint", "entries"),
    [
        ("{ skin\n}", "line 1: 'skin' has no value", 0),
        ("{\nskin\nmesh a.mdm\n}", "line 2: 'skin' has no value", 1),
        ("{\nskin a", "line 2: the closing brace is missing, for which games refuse the file", 1),
        ("{\nskin a\nmesh", "line 3: 'mesh' has no value", 1),
        ('{\n#include "x.h"\nskin a\n}', "line 2: '#include' is not followed here: its line is left out", 1),
        ("{" + "\na b" * 1001 + "\n}", "line 1002: more than 1000 entries: the rest is not read", 1000),
    ],
)
def test_what_is_wrong_is_said_once_and_the_rest_is_read(text, complaint, entries):
    found = read(b"characterDef " + text.encode())
    assert complaint in found.complaints
    assert len(found.entries) == entries


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "line 1: expected characterDef {, found the end"),
        (b"\n\nanimgroup {", "line 3: expected characterDef {, found 'animgroup'"),
        (b"characterDef", "line 1: expected characterDef {, found the end"),
        (b"characterDef\nskin", "line 2: expected characterDef {, found 'skin'"),
        (b'characterDef "{"', "line 1: expected characterDef {, found '{'"),
        (b"\0" + DEFINITION.encode(), "line 1: expected characterDef {, found the end"),
    ],
)
def test_what_is_no_character_file(data, message):
    with pytest.raises(FormatError) as caught:
        read(data)
    assert str(caught.value) == f"this is no character file at {message}"


def test_a_file_that_is_too_long_is_refused():
    with pytest.raises(FormatError, match="too long for a character file"):
        read(b"characterDef {" + b" " * (1 << 20))


@given(st.binary(max_size=200), st.integers(0, len(DEFINITION)))
def test_broken_files_are_one_sentence(data, place):
    for each in (data, DEFINITION[:place].encode() + data + DEFINITION[place:].encode()):
        try:
            found = read(each)
        except FormatError as error:
            assert "\n" not in str(error)
        else:
            assert all(entry.line >= 1 for entry in found.entries)
