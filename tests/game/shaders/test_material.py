"""Materials of Doom 3 and Quake 4: every word that is understood, by the engine's rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_idtech_models.game.shaders.image_programs import Call, Picture
from io_idtech_models.game.shaders.index import scan_decls
from io_idtech_models.game.shaders.material import parse
from io_idtech_models.game.shaders.model import ADD, ALPHA, FILTER, UNDRAWN, AlphaTest, Blend, Deform, Gen, TcMod


def stage(text):
    material = parse("{\n" + text + "\n}", "name")
    assert not material.unknown
    return material.stages[0]


# -- stages: idMaterial::ParseStage


def test_pictures():
    found = stage("map addnormals(a.tga, heightmap(b, 4))")
    assert found.maps == ("a.tga", "b")
    assert isinstance(found.program, Call)
    assert stage("Map _white").is_builtin
    cube = stage("cameraCubeMap env/x\ntexGen reflect")
    assert (cube.is_cube, cube.maps, cube.is_environment) == (True, ("env/x",), True)
    assert stage("videoMap loop video/a.roq").video == "video/a.roq"
    assert stage("videoMap video/a.roq").video == "video/a.roq"


@pytest.mark.parametrize(
    ("text", "blend"),
    [("add", ADD), ("Blend", ALPHA), ("filter", FILTER), ("modulate", FILTER), ("none", UNDRAWN),
     ("gl_one, gl_zero", None), ("GL_ONE,GL_ONE_MINUS_SRC_ALPHA", Blend("GL_ONE", "GL_ONE_MINUS_SRC_ALPHA")),
     ("GL_ZERO GL_SRC_COLOR", Blend("GL_ZERO", "GL_SRC_COLOR"))],
)  # fmt: skip
def test_blends(text, blend):
    """ParseBlend."""
    found = stage(f"map a\nblend {text}")
    assert (found.blend, found.role) == (blend, "color")


def test_roles():
    roles = [stage(f"blend {word}\nmap a").role for word in ("diffusemap", "BumpMap", "specularmap")]
    assert roles == ["diffuse", "bump", "specular"]
    found = parse("diffusemap a\nbumpmap heightmap(b, 2)\nspecularmap c", "x")
    assert [(each.role, each.map) for each in found.stages] == [("diffuse", "a"), ("bump", "b"), ("specular", "c")]


def test_colours():
    assert stage("map a").rgb_gen == stage("map a\nrgba 1").rgb_gen == Gen("identity")
    assert stage("map a\ncolored").rgb_gen == stage("map a\ncolored").alpha_gen == Gen("entity")
    red = stage("map a\nred 0.5\nalpha 0.25")
    assert (red.rgb_gen, red.alpha_gen) == (Gen("const", (0.5, 1, 1)), Gen("const", (0.25,)))
    assert stage("map a\nrgb 2 * 0.25").rgb_gen == Gen("const", (0.5, 0.5, 0.5))
    assert stage("map a\ncolor 1, 2, 3, 4").rgb_gen == Gen("const", (1, 2, 3))
    moving = stage("map a\nrgba parm0 * 0.5").rgb_gen
    assert (moving.kind, moving.numbers, moving.terms) == ("expression", (0.5,) * 3, ("parm0 * 0.5",) * 3)
    assert stage("map a\nrgb table[ time ]").rgb_gen.numbers == (1, 1, 1), "what is not known does not darken"
    assert stage("vertexColor").vertex_color == "vertex"
    assert stage("inverseVertexColor").vertex_color == "inverse"


def test_texture_coordinates():
    text = "map a\nscroll time * 0.1, 2\ntranslate 1, 2\nscale 2, 3\ncenterScale 4, 5\nshear 6, 7\nrotate 0.25"
    assert stage(text).tc_mods == (
        TcMod("translate", (0, 2), terms=("time * 0.1", "2")), TcMod("translate", (1, 2)), TcMod("scale", (2, 3)),
        TcMod("centerscale", (4, 5)), TcMod("shear", (6, 7)), TcMod("turn", (0.25,)),
    )  # fmt: skip
    assert stage("map a\nscale table[ 1 ], 2").tc_mods[0].numbers == (1, 2)
    assert stage("screen").tc_gen == "screen"


def test_the_rest_of_a_stage():
    found = stage("map a\nclamp\nmaskDepth\nalphaTest 0.6\nif ( parm7 == 1 )\nnearest\nname x y\nvertexParm 0 1, 2")
    assert (found.clamp, found.depth_write, found.alpha_test) == (True, False, AlphaTest("GT", 0.6))
    assert (found.condition, found.enabled) == ("( parm7 == 1 )", False)
    assert stage("map a\nif ( table[ time ] )").enabled
    assert stage("map a\nalphaTest parm3 * 0").alpha_test == ("GT", 0)


# -- general words: idMaterial::ParseMaterial


def test_general_words():
    found = parse(
        'qer_editorimage textures/e.tga\ndescription "{ a }"\nnoShadows\ntwoSided\nsort Decal\npolygonOffset 2\nglass\n'
        "guisurf guis/a.gui\nrenderbump -size 1 2 x y\nspectrum 1\nzeroclamp\n{\nmap a\n}",
        "x",
    )
    assert (found.editor_image, found.cull, found.sort, found.polygon_offset) == ("textures/e.tga", "none", "decal", 2)
    assert (found.flags, found.unknown, found.stages[0].clamp) == (("noshadows", "glass", "guisurf"), (), True)
    assert parse("polygonOffset\nbackSided", "x").polygon_offset == 1
    assert parse("polygonOffset -3.5\nbackSided", "x").polygon_offset == -3.5
    assert parse("guisurf entity", "x").nodraw is False
    assert parse("qer_editorimage addnormals(a, b)", "x").editor_image == "a"


def test_what_covers():
    """idMaterial::Parse: the last word counts."""
    covers = [parse(text, "x").coverage for text in ("translucent", "forceOpaque", "{ alphaTest 1 }\ntranslucent", "")]
    assert covers == ["translucent", "opaque", "translucent", ""]
    assert parse("translucent\n{ alphaTest 1 }", "x").coverage == "perforated"


def test_deforms():
    """ParseDeform: sprites are seen from both sides."""
    found = parse("deform sprite", "x")
    assert (found.deforms, found.cull, found.is_sprite) == ((Deform("sprite"),), "none", True)
    assert parse("deform expand 2 * 3", "x").deforms == (Deform("expand", (6,)),)
    assert parse("deform expand", "x").deforms == (Deform("expand", (0,)),)
    assert not parse("deform turbulent tab 1 2 3\ndeform odd 1", "x").unknown


def test_words_that_are_not_known():
    found = parse("oddWord 1 2\n{\nmap a\nodder x y\nblend add\n}\nmaterialType foo\n{ map b }", "x")
    assert found.unknown == ("oddword", "odder", "materialtype")
    assert [each.map for each in found.stages] == ["a", "b"]
    assert found.stages[0].blend == ADD


def test_types_of_surfaces_are_known_by_their_numbers():
    assert parse("surftype10\nsurftype15\nsurftype16", "x").unknown == ("surftype16",)


def test_everything_in_one_line():
    found = parse("twosided{blend add map models/a.tga clamp}diffusemap b bumpmap c", "x")
    assert [(each.map, each.role, each.clamp) for each in found.stages] == [
        ("models/a.tga", "color", True), ("b", "diffuse", False), ("c", "bump", False),
    ]  # fmt: skip
    assert found.stages[1].program == Picture("b")


def test_braces_that_do_not_match():
    found = parse("{\nmap a\n{\nmap b\n}\n", "x")
    assert [each.map for each in found.stages] == ["a", "b"]
    assert "not closed" in found.faults[0]
    assert parse("}\n{ map a", "x").stages[0].map == "a"


words = st.sampled_from([
    "{", "}", "\n", "map", "a", "blend", "add", "diffusemap", "(", ")", ",", "1", "time", "rgb", "scale", "if",
    "rotate", "alphatest", "deform", "flare", "color", "texgen", "[", "]", "-", '"', "//", "table", "material", "x/y",
])  # fmt: skip


@given(st.lists(words, max_size=40).map(" ".join) | st.text(max_size=40))
def test_any_text_gives_a_material(text):
    clean, found = scan_decls(text, "material")
    for each in found:
        parse(clean[each.start : each.end], each.name)
    assert parse(text, "x").name == "x"


def test_hostile_bodies_take_linear_time():
    for piece in ("{ ", "} ", "map add( ", "rgb ( ", "color 1, ", "scale 1 ", "odd\n", "blend ", "if - "):
        parse(piece * 15_000, "x")
        parse("{ " + piece * 15_000, "x")
