"""Declarations of models and entities: what they say, what is wrong with them, and what they inherit."""

from functools import partial
from typing import Any

import pytest

from io_idtech_models.game.character.doom3.declarations import ENTITY, MODEL, Command, read_entity, read_model
from io_idtech_models.game.character.doom3.library import Declarations, declarations_of
from io_idtech_models.game.folders import Disk
from io_idtech_models.game.shaders.library import DOOM3, ShaderLibrary
from tests.samples import CORPUS

REAL = CORPUS / "DarkRadiant/test/resources/tdm"
IMP = """
    mesh    models/md5/imp/imp.md5mesh
    skin    skins/imp/burnt
    offset  ( 0 -1.5 .25 )
    channel torso ( *Spine -Head loc-hand )
    channel legs  ( origin *Hips)

    anim idle1  models/md5/imp/idle.md5anim
    anim walk   models/md5/imp/walk.md5anim, "models/md5/imp/limp it.md5anim" {
        random_cycle_start prevent_idle_override
        frame 1   sound_body  snd_footstep
        frame 12  call step_left   frame 13 melee x
        rate      0.5
    }
"""


def declared(**files):
    """Return what files declare, by their names without the suffix."""
    return Declarations(ShaderLibrary([(f"def/{n}.def", partial(str.encode, t)) for n, t in files.items()], DOOM3))


def test_all_that_a_model_has():
    model = declared(a=f"model imp {{{IMP}}}").model("IMP")
    assert (model.name, model.mesh, model.skin) == ("imp", "models/md5/imp/imp.md5mesh", "skins/imp/burnt")
    assert model.offset == (0.0, -1.5, 0.25)
    assert model.channels == {"torso": ("*Spine", "-Head", "loc", "-hand"), "legs": ("origin", "*Hips")}
    idle, walk = model.anims.values()
    assert (idle.name, idle.set_name, idle.files, idle.flags) == ("idle1", "idle", ("models/md5/imp/idle.md5anim",), ())
    assert walk.files == ("models/md5/imp/walk.md5anim", "models/md5/imp/limp it.md5anim")
    assert walk.flags == ("random_cycle_start", "prevent_idle_override", "rate 0.5")
    assert walk.commands == (
        Command(1, "sound_body snd_footstep", 11), Command(12, "call step_left", 12), Command(13, "melee x", 12),
    )  # fmt: skip
    assert model.complaints == []


def statements(body, line=1):
    """Return the statements of a model."""
    return read_model(body, line).statements


def test_statements_know_where_they_stand():
    first, *_, walk = statements(IMP, 7)
    assert IMP[walk.start : walk.end].startswith("anim walk ")
    assert IMP[walk.end - 1] == "}"
    assert IMP[slice(*walk.anim.span)] == 'models/md5/imp/walk.md5anim, "models/md5/imp/limp it.md5anim"'
    assert first.line == 8


def test_what_comes_behind_an_inherit_counts_over_what_is_inherited():
    found = declared(
        a=f"model imp {{{IMP}}}",
        b="model b { mesh x.md5mesh offset ( 9 9 9 ) inherit imp remove idle anim walk w.md5anim anim new n.md5anim }",
    )
    model = found.model("b")
    assert {name: anim.files for name, anim in model.anims.items()} == {"walk": ("w.md5anim",), "new": ("n.md5anim",)}
    assert (model.mesh, model.offset) == ("models/md5/imp/imp.md5mesh", (0.0, -1.5, 0.25))
    assert model.complaints == []
    assert found.mesh_of("b") == model.mesh


def test_the_first_definition_counts_in_files_sorted_by_name():
    found = declared(b="model m { mesh b.md5mesh }", a="model M.x { mesh a.md5mesh } model m { mesh c.md5mesh }")
    assert found.model("m").mesh == "a.md5mesh"


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("anim a x.md5anim", "line 1: 'a' comes before the mesh: the game refuses the model"),
        ("mesh a.ma", "line 1: 'a.ma' is no .md5mesh: the game refuses the model"),
        ("mesh a.md5mesh\nchannel arms ( a )", "line 2: there is no channel 'arms': the game refuses the model"),
        ("mesh a.md5mesh anim it x.md5anim anim it y.md5anim", "line 1: the animation 'it' is there already"),
        ("mesh a.md5mesh anim 12 x.md5anim", "line 1: without digits at its end the animation '12' has less"),
        ("mesh a.md5mesh anim a b, c, d, e", "line 1: the animation 'a' has 4 files: the game takes 3"),
        ("mesh a.md5mesh remove a", "line 1: the animation 'a' to remove is not there: the game refuses it"),
        ("mesh a.md5mesh anim a b\nremove a", "line 2: the animation 'a' to remove is none that it inherits: the game"),
        ("mesh a.md5mesh anim a b { frame -3 x }", "line 1: 'frame' is followed by -, not by a number from 1 on"),
        ("mesh a.md5mesh anim a b { frame", "line 1: 'frame' is followed by nothing, not by a number from 1 on"),
        ("mesh a.md5mesh anim a b { x", "line 1: the block of the animation 'a' is not closed"),
        ("mesh a.md5mesh anim a b { { x } }", "line 1: a block within that of the animation 'a' is left out"),
        ("mesh", "line 1: 'mesh' has no value"),
        ("offset 1 2 3\n", "line 1: 'offset' lacks its '('"),
        ("offset ( 1 2", "line 1: 'offset' lacks its ')'"),
        ("offset ( 1 2 )", "line 1: 'offset' has 2 numbers, not 3"),
        ("\nragdoll x { y { z } }", "line 2: 'ragdoll' is nothing that a model has: Doom 3 refuses it"),
    ],
)  # fmt: skip
def test_what_the_game_refuses_is_told_and_the_rest_is_read(body, complaint):
    end = "" if body.count("{") > body.count("}") else "\n}"
    model = declared(a=f"model m {{{body}{end}").model("m")
    assert any(f"'def/a.def', {complaint}" in each for each in model.refused), model.refused


def test_what_is_behind_a_fault_is_read():
    model = declared(a="model m { mesh a.md5mesh ragdoll x { y { z } }\n anim walk w.md5anim }").model("m")
    assert list(model.anims) == ["walk"]


@pytest.mark.parametrize("kind", [MODEL, ENTITY])
def test_circles_and_missing_parents(kind):
    spelt = '"inherit" "{}"' if kind == ENTITY else "inherit {}"
    text = "".join(f"{kind} {name} {{ {spelt.format(other)} }}\n" for name, other in ("ab", "bc", "ca"))
    found = declared(x=text + f"{kind} d {{ {spelt.format('nobody')} }}")
    read = found.model if kind == MODEL else found.entity
    assert read("a").complaints == ["'def/x.def', line 3: 'c' inherits 'a', which is in a circle: left out"]
    assert read("d").complaints == ["'def/x.def', line 4: 'd' inherits 'nobody', which is not there"]
    assert read("nobody") is None


@pytest.mark.parametrize("kind", [MODEL, ENTITY])
def test_a_chain_without_end_is_cut(kind):
    spelt = '"inherit" "n{}"' if kind == ENTITY else "inherit n{}"
    text = "\n".join(f"{kind} n{nth} {{ {spelt.format(nth + 1)} }}" for nth in range(5000))
    found = declared(x=text)
    read = found.model if kind == MODEL else found.entity
    (complaint,) = read("n0").complaints
    assert "50" in complaint and "left out" in complaint


def test_an_entity_with_what_it_inherits():
    found = declared(
        a='entityDef a { "Model" "own" "inherit2" "c" "inherit" "b" "def_attach1" "" "def_attach2" "x" }\n'
        'entityDef b { "model" "b" "health" "1" "only_b" "1" } entityDef c { "health" "2" "inherit" "d" }\n'
        'entityDef d { "health" "3" "only_d" "1" }'
    )
    entity = found.entity("a")
    assert entity.values == {
        "model": "own", "def_attach1": "", "def_attach2": "x", "health": "2", "only_d": "1", "only_b": "1",
    }  # fmt: skip
    assert entity.starting("def_attach") == [("def_attach2", "x")]
    assert (found.value_of("b", "model"), found.value_of("c", "model")) == ("b", "")


def test_of_a_key_that_comes_again_the_last_counts_and_bare_words_are_told_of():
    found = declared(a='entityDef a { "model" "x" "MODEL" "y" }')
    assert found.entity("a").value("model") == "y"
    assert read_entity('model "y"', 3).complaints == (
        "line 3: 'model' needs quotes, without which the game drops the rest",
    )
    assert read_entity('"model"', 3).complaints == ("line 3: 'model' has no value",)


def test_more_statements_than_any_game_has():
    body = read_model("skin s\n" * 20_001)
    assert len(body.statements) == 20_000
    assert "the rest is not read" in body.complaints[0]


def test_models_and_entities_of_a_mesh():
    found = declared(
        a="model kid { inherit own } model own { mesh models/A.md5mesh } model other { mesh b.md5mesh }",
        b='entityDef e { "inherit" "f" } entityDef f { "model" "kid" } entityDef g { "model" "OWN" }',
    )
    models = found.models_of(lambda name: name.lower() == "models/a.md5mesh")
    assert models == ["own", "kid"]
    assert found.entities_of(models) == [("g", "OWN"), ("e", "kid"), ("f", "kid")]


@pytest.mark.skipif(not REAL.is_dir(), reason="no corpus")
def test_a_real_chain():
    """665 keys over a chain of four entities, models in a circle, skins among them, a NUL at an end."""
    found: Any = declarations_of(Disk().folder(REAL))
    guard = found.entity("atdm:ai_builder_guard")
    assert len(guard.values) > 600
    assert guard.value("model") == "tdm_ai_builderguard"
    assert [value for _, value in guard.starting("def_attach")] == [
        "atdm:moveable_warhammer", "pauldron_builder_right", "pauldron_builder_left",
    ]  # fmt: skip
    assert guard.complaints == []
    model = found.model("tdm_ai_builderguard")
    assert model.complaints == [
        "'def/tdm_ai.def', line 1159: 'tdm_ai_builderguard' inherits 'tdm_ai_proguard', which is not there"
    ]
    assert model.anims["walk1"].commands
    cooler = found.model("a_cooler_model")
    assert (cooler.mesh, cooler.anims["idle"].files) == (
        "an_overridden_mesh.md5mesh", ("models/md5/a_cooler_idle.md5anim",)
    )  # fmt: skip
    assert any("in a circle" in each for each in found.model("recursive_inheritance").complaints)
    assert found.skin("swap_flag_pirate_with_nodraw") is not None
