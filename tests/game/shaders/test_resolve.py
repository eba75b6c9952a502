"""What an engine makes of a name, with and without scripts and pictures."""

from functools import partial

import pytest

from io_idtech_models.game.lexer import without_suffix
from io_idtech_models.game.search import SearchPath
from io_idtech_models.game.shaders.library import DOOM3, ShaderLibrary
from io_idtech_models.game.shaders.resolve import resolve
from io_idtech_models.game.shaders.shader_looks import base_image, transparency
from io_idtech_models.game.skin import read_skin
from tests.game.packs import packed
from tests.stores import held

SCRIPT = b"""
models/a { { map models/one.tga } { map $whiteimage } { map models/two.tga } { map models/two.tga } }
models/odd { nosuchword { map models/one.tga } }
models/empty { nomipmaps }
models/sky { skyParms - 512 - }
models/mask { implicitMask - }
"""
LIBRARY = ShaderLibrary([("scripts/a.shader", partial(bytes, SCRIPT))])
DOOM = ShaderLibrary([("materials/a.mtr", lambda: b"models/a { diffusemap models/one nosuchword }")], DOOM3)
PICTURES = {"models/one.tga": 1, "models/one": 1, "models/bare.jpg": 2, "models/mask": 3}


def look(name, library=LIBRARY, **options):
    return resolve(name, library, PICTURES.get, **options)


def test_a_script():
    found = look("Models/A.TGA")
    assert (found.kind, found.shader.name, found.shows) == ("script", "models/a", "default")
    assert found.absent == ("models/two.tga",), "one that is missing makes the whole shader the default one"


def test_scripts_that_engines_refuse():
    """ParseShader fails: an unknown word, or no stages unless it is a sky."""
    assert look("models/odd").shows == "default"
    assert look("models/empty").shows == "default"
    assert look("models/sky").shows == ""
    assert (look("models/mask").shows, look("models/mask").absent) == ("", ())


def test_a_bare_picture():
    """R_FindShader: opaque, lit, from the front; the name is looked up as it is given."""
    found = look("models/bare.jpg")
    assert (found.kind, found.picture, found.shows) == ("picture", 2, "")
    assert base_image(found.shader) == "models/bare.jpg"
    assert transparency(found.shader).kind == "opaque"
    assert found.shader.cull == "front"
    assert look("models/bare.jpg", None) == found


def test_the_two_ways_to_be_missing():
    """A skin's shader has no stages, a model's own is the default one."""
    assert (look("nodraw", worn=True).kind, look("nodraw", worn=True).shows) == ("missing", "nothing")
    assert look("nodraw").shows == "default"
    assert look("", worn=True).shows == "default"
    assert look("nodraw").shader is None


def test_doom_3():
    """idMaterial::SetDefaultText: any name is a material."""
    found = look("models/bare.jpg", DOOM)
    assert (found.kind, found.picture, found.shader.stages[0].role) == ("picture", 2, "diffuse")
    assert look("nothing", DOOM, worn=True).shows == "default"
    assert (look("models/a", DOOM).shows, look("models/a", DOOM).shader.unknown) == ("", ("nosuchword",))


def test_pictures_that_are_none_of_a_file():
    text = b"a { { cameraCubeMap env/x } { map _white } { map _x/y } { videoMap v } { map $none } }"
    library = ShaderLibrary([("materials/a.mtr", lambda: text)], DOOM3)
    assert look("a", library).absent == ("_x/y",), "a cube's pictures have six names of their own"


@pytest.mark.parametrize("name", ["models/x/skin.tga", "models/x/SKIN", "models/x/skin.jpg"])
def test_with_a_games_search(name):
    model = held({"models/x/x.md3": b"", "models/x/skin.png": b"picture"}, "models/x/x.md3")
    found = resolve(name, LIBRARY, SearchPath(model).find_image)
    assert found.kind == "picture"
    assert found.picture and found.picture.name == "skin.png"


@pytest.mark.skipif(not packed(".skin"), reason="no real packs here")
def test_real_players_are_dressed():
    """Every surface of every default skin has a look, and every picture that it takes is there."""
    pictures = {name.partition("/")[2].rpartition(".")[0].lower() for name in [*packed(".tga"), *packed(".jpg")]}
    library = ShaderLibrary(
        [(name.partition("/")[2], partial(bytes, data)) for name, data in reversed(packed(".shader").items())]
    )
    kinds = []
    for name, data in packed("_default.skin").items():
        for shader in read_skin(data).shaders().values():
            found = resolve(shader, library, lambda image: without_suffix(image).lower() in pictures or None, worn=True)
            assert (found.absent, found.shows) == ((), ""), f"{name}: {shader}"
            kinds.append(found.kind)
    assert {"script", "picture"} == set(kinds)
