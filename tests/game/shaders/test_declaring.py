"""Materials as text: what is written is what a game reads, and a text that someone changed is theirs."""

import pytest

from io_idtech_models.game.shaders.declaring import Declared, can_be_named, is_own, text_of
from io_idtech_models.game.shaders.library import DOOM3, ShaderLibrary
from io_idtech_models.game.shaders.model import BUMP, COLOR, DIFFUSE, PERFORATED, SPECULAR
from io_idtech_models.game.shaders.shader_looks import transparency

CRATE = Declared(
    "textures/base/crate", "textures/base/crate.tga", "textures/base/crate_local.tga", "textures/base/s.tga"
)
LEAF = Declared("models/leaf", "models/leaf.tga", tested=True)
LAMP = Declared("models/lamp", "models/lamp.tga", glow="models/lamp_g.tga", shine=(1.0, 1.0, 1.0))
LIGHT = Declared("models/light", "models/light.tga", shine=(0.0, 0.5, 1.0))
PLAIN = Declared("a name with blanks", color=(1.0, 0.5, 0.25))


def library(text):
    return ShaderLibrary([("materials/a.mtr", lambda: text)], DOOM3)


def test_a_game_reads_what_is_written():
    found = library(text_of([CRATE, LEAF, PLAIN, LAMP, LIGHT]))
    crate = found.shader(CRATE.name)
    assert [(stage.role, stage.maps[0]) for stage in crate.stages] == [
        (DIFFUSE, CRATE.diffuse), (BUMP, CRATE.bump), (SPECULAR, CRATE.specular),
    ]  # fmt: skip
    leaf = found.shader(LEAF.name)
    assert [(stage.role, stage.maps[0]) for stage in leaf.stages] == [(DIFFUSE, LEAF.diffuse)]
    assert leaf.stages[0].alpha_test is not None
    assert leaf.coverage == PERFORATED and transparency(leaf).clip is not None
    added = [found.shader(each.name).stages[-1] for each in (LAMP, LIGHT)]
    assert [(stage.maps[0], stage.role) for stage in added] == [("models/lamp_g.tga", COLOR), ("_white", COLOR)]
    assert text_of([LAMP]).endswith(b"{\n\t\tblend add\n\t\tmap models/lamp_g.tga\n\t}\n}\n\n")
    assert b"map _white\n\t\tred 0\n\t\tgreen 0.5\n\t\tblue 1\n" in text_of([LIGHT])
    assert b"red 1\n\t\tgreen 1\n\t\tblue 1\n" in text_of([Declared("a")])
    plain = found.shader(PLAIN.name)
    assert [(stage.role, stage.maps[0], stage.alpha_test) for stage in plain.stages] == [(DIFFUSE, "_white", None)]


def test_a_text_is_ones_own_until_somebody_changes_it():
    text = text_of([CRATE])
    assert is_own(text)
    assert is_own(text.replace(b"\n", b"\r\n"))
    assert is_own(text_of([]))
    changes = (text + b" ", text.replace(b"crate_local", b"crate_loc"), text[1:], b"", b"textures/x { }\n", text[:40])
    assert not any(map(is_own, changes))


@pytest.mark.parametrize(("name", "can"), [("a b", True), ("", False), ('a"b', False), ("a\nb", False), ("{", True)])
def test_names_that_no_text_holds(name, can):
    assert can_be_named(name) == can
    if can:
        assert library(text_of([Declared(name, "x")])).shader(name) is not None
