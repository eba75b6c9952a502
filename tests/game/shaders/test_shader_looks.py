"""What a shader comes to: its picture, how it lets show through, what lights it."""

import pytest

from io_idtech_models.game.shaders import material, script
from io_idtech_models.game.shaders.index import scan
from io_idtech_models.game.shaders.model import AlphaTest, Blend
from io_idtech_models.game.shaders.shader_looks import (
    Transparency,
    base_image,
    base_stage,
    blend_kind,
    bump_stage,
    is_height,
    specular_stage,
    transparency,
)
from tests.game.packs import packed


def shader(*stages, general=""):
    """Return a shader of stages, a line of words each; `;` parts the lines of one."""
    text = "".join("{\n" + stage.replace(";", "\n") + "\n}\n" for stage in stages)
    return script.parse(general + "\n" + text, "models/own")


def doom(text):
    return material.parse(text.replace(";", "\n"), "models/own")


# -- Quake III's kin


@pytest.mark.parametrize(
    ("stages", "image"),
    [
        (["map a"], "a"),
        (["map $lightmap", "map a; blendFunc filter"], "a"),
        (["map env; tcGen environment", "map a; blendFunc blend"], "a"),
        (["map a; blendFunc add", "map b; blendFunc blend", "map c; blendFunc filter", "map d"], "d"),
        (["map a; blendFunc add", "map b; blendFunc blend", "map c; blendFunc GL_ZERO GL_SRC_COLOR"], "c"),
        (["map a; blendFunc add", "map b; blendFunc blend"], "b"),
        (["map a; blendFunc add"], "a"),
        (["map a; blendFunc add", "map b; blendFunc blend; alphaFunc GE128"], "b"),
        (["map a; blendFunc GL_ONE GL_ZERO", "map b"], "a"),
        (["map $whiteimage; rgbGen entity", "map a; blendFunc blend"], "a"),  # a team's colour behind
        (["animMap 5 a b"], "a"),
        (["map $lightmap"], "models/own"),
        ([], "models/own"),
    ],
)
def test_the_picture_that_shows_best(stages, image):
    assert base_image(shader(*stages)) == image


def test_pictures_of_no_stage():
    assert base_image(shader("map $lightmap", general="qer_editorimage e.tga")) == "e.tga"
    assert base_image(shader(general="implicitMask x")) == "x"
    assert base_image(shader("map a; blendFunc blend", general="implicitMap -")) == "models/own"
    assert base_stage(shader("map $whiteimage")) is None
    assert base_image(shader("map a", general="diffuseMap d")) == "d"


@pytest.mark.parametrize(
    ("stages", "expected"),
    [
        (["map a"], Transparency("opaque")),
        (["map a; alphaFunc GT0"], Transparency("clip", AlphaTest("GT", 0))),
        (["map a; alphaFunc LT128"], Transparency("clip", AlphaTest("LT", 0.5))),
        (["map a; blendFunc blend"], Transparency("alpha")),
        (["map a; blendFunc blend; alphaFunc GE128"], Transparency("alpha", AlphaTest("GE", 0.5))),
        (["map a; blendFunc add"], Transparency("additive")),
        (["map a; blendFunc filter"], Transparency("multiply")),
        (["map a; blendFunc GL_ZERO GL_ONE_MINUS_SRC_ALPHA"], Transparency("darken")),
        (["map a; blendFunc GL_ONE GL_ONE_MINUS_SRC_ALPHA"], Transparency("alpha", premultiplied=True)),
        (["map a; blendFunc GL_ONE_MINUS_SRC_ALPHA GL_SRC_ALPHA"], Transparency("alpha", inverted=True)),
        (["map $whiteimage; rgbGen entity", "map a; blendFunc blend"], Transparency("opaque")),
        (["map a; blendFunc add", "map b"], Transparency("additive")),
        (["rgbGen vertex", "map a; blendFunc add"], Transparency("additive")),  # a stage without a picture
        ([], Transparency("opaque")),
    ],
)
def test_the_first_stage_decides_what_shows_through(stages, expected):
    assert transparency(shader(*stages)) == expected


@pytest.mark.parametrize(
    ("blend", "kind"),
    [
        ("ONE ZERO", "opaque"), ("SRC_ALPHA ZERO", "opaque"), ("ZERO ZERO", "opaque"), ("ONE ONE", "additive"),
        ("SRC_ALPHA ONE", "additive"), ("ONE ONE_MINUS_SRC_COLOR", "additive"), ("DST_COLOR ONE", "multiply"),
        ("DST_COLOR ONE_MINUS_DST_ALPHA", "multiply"), ("DST_COLOR SRC_COLOR", "multiply"),
        ("ZERO SRC_COLOR", "multiply"),
        ("ZERO ONE_MINUS_SRC_COLOR", "darken"), ("ZERO ONE_MINUS_SRC_ALPHA", "darken"), ("ZERO ONE", "unseen"),
        ("ONE_MINUS_DST_COLOR ONE", "additive"), ("ONE_MINUS_DST_COLOR ZERO", "multiply"),
        ("DST_ALPHA ONE", "additive"),
        ("SRC_ALPHA ONE_MINUS_SRC_ALPHA", "alpha"),
    ],
)  # fmt: skip
def test_kinds_of_blends(blend, kind):
    source, target = blend.split()
    assert blend_kind(Blend("GL_" + source, "GL_" + target)) == kind
    assert blend_kind(None) == "opaque"


def test_nodraw():
    assert shader("map a", general="surfaceparm nodraw").nodraw
    assert not shader("map a").nodraw
    assert doom("noshadows").nodraw
    assert not doom("diffusemap a").nodraw


@pytest.mark.skipif(not packed(".shader"), reason="no real packs here")
def test_real_shaders_come_to_something():
    kinds = set()
    for data in packed(".shader").values():
        text, found = scan(data.decode("latin-1"))
        for each in found:
            read = script.parse(text[each.start : each.end], each.name)
            kinds.add(transparency(read).kind)
            assert base_image(read)
    assert kinds == {"opaque", "clip", "alpha", "additive", "multiply", "darken"}


# -- Doom 3's kin


@pytest.mark.parametrize(
    ("text", "image"),
    [
        ("bumpmap b; diffusemap d; qer_editorimage e", "d"),
        ("{ blend diffusemap; map add(d, x) }", "d"),
        ("qer_editorimage e; { blend add; map a }", "e"),
        ("{ blend add; map _white }; { blend add; map a }", "a"),
        ("{ map env; texgen reflect }; { map a }", "a"),
        ("bumpmap b", "_white"),  # AddImplicitStages
        ("bumpmap b; qer_editorimage e", "_white"),
        ("bumpmap b; specularmap s; qer_editorimage e", "e"),
        ("noshadows", "models/own"),
    ],
)
def test_the_picture_of_a_material(text, image):
    assert base_image(doom(text)) == image


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("diffusemap d; { blend add; map a }", Transparency("opaque")),
        ("{ map a }", Transparency("opaque")),
        ("{ blend add; map a }", Transparency("additive")),
        ("{ blend filter; map a }", Transparency("multiply")),
        ("{ blend GL_SRC_ALPHA, GL_ZERO; map a }", Transparency("opaque")),
        ("{ blend blend; map a }", Transparency("alpha")),
        ("translucent; diffusemap d", Transparency("additive")),
        ("translucent; { blend blend; map a }; specularmap s", Transparency("alpha")),
        ("translucent; { map a }", Transparency("opaque")),
        ("forceOpaque; { blend add; map a }", Transparency("opaque")),
        ("{ blend diffusemap; map d; alphaTest 0.5 }", Transparency("clip", AlphaTest("GT", 0.5))),
        ("{ blend none; map m; alphaTest 0.25 }; diffusemap d", Transparency("clip", AlphaTest("GT", 0.25))),
        ("{ blend none; map m }", Transparency("unseen")),
        ("noshadows", Transparency("unseen")),
        ("diffusemap d; { map _currentRender }", Transparency("additive")),
        ("{ if ( 0 ); blend add; map a }", Transparency("unseen")),
    ],
)
def test_what_shows_through_a_material(text, expected):
    """The coverage of idMaterial::Parse."""
    assert transparency(doom(text)) == expected


def test_maps_of_a_material():
    found = doom("bumpmap heightmap(h, 4); specularmap s; { blend add; map g }; diffusemap d")
    normals, height = bump_stage(doom("bumpmap addnormals(n, heightmap(h, 1))")), bump_stage(found)
    assert height and height.map == "h" and is_height(height)
    assert normals and normals.map == "n" and not is_height(normals)
    shiny = specular_stage(found)
    assert shiny and shiny.map == "s"
    assert bump_stage(doom("diffusemap d; bumpmap _flat")) is None
    assert specular_stage(doom("diffusemap d")) is None
    assert doom("twosided").two_sided
