"""Shader scripts: every word that is understood, by the engines' rules, and what real files do wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_idtech_models.game.shaders.index import scan
from io_idtech_models.game.shaders.model import ADD, ALPHA, FILTER, AlphaTest, Blend, Deform, Gen, Stage, TcMod, Wave
from io_idtech_models.game.shaders.script import parse
from tests.game.packs import packed


def stage(text):
    shader = parse("{\n" + text + "\n}", "name")
    assert not shader.unknown
    assert len(shader.stages) == 1
    return shader.stages[0]


def shader(text):
    return parse(text, "models/name")


# -- stages: ParseStage


def test_pictures():
    assert stage("map Models/A.tga").maps == ("Models/A.tga",)
    assert stage("CLAMPMAP a") == Stage(("a",), clamp=True, rgb_gen=Gen("identitylighting"))
    moving = stage("animMap 7.5 a b c")
    assert (moving.fps, moving.maps, moving.map) == (7.5, ("a", "b", "c"), "a")
    assert len(stage("animMap 1 a b c d e f g h i j").maps) == 8, "MAX_IMAGE_ANIMATIONS"
    assert stage("videoMap x.roq").video == "x.roq"
    light = stage("map $LightMap")
    assert (light.role, light.tc_gen, light.is_builtin) == ("lightmap", "lightmap", True)
    assert stage("map $whiteimage").is_builtin
    assert stage("map *white").is_builtin
    assert not stage("map").is_drawn


@pytest.mark.parametrize(
    ("text", "blend"),
    [
        ("add", ADD), ("FILTER", FILTER), ("blend", ALPHA), ("GL_ONE GL_ZERO", None),
        ("gl_zero gl_src_color", Blend("GL_ZERO", "GL_SRC_COLOR")),
        ("GL_DST_COLOR GL_ONE_MINUS_DST_ALPHA", Blend("GL_DST_COLOR", "GL_ONE_MINUS_DST_ALPHA")),
        ("GL_ODD GL_ZERO", None), ("GL_SRC_COLOR GL_ODD", ADD), ("GL_ZERO", Blend("GL_ZERO", "GL_ONE")), ("", None),
    ],
)  # fmt: skip
def test_blends(text, blend):
    """NameToSrcBlendMode and NameToDstBlendMode: what is not known is GL_ONE; GL_ONE GL_ZERO is no blending."""
    found = stage(f"map a\nblendFunc {text}")
    assert found.blend == blend
    assert found.depth_write is (blend is None)
    assert stage(f"map a\nblendFunc {text}\ndepthWrite").depth_write


@pytest.mark.parametrize(
    ("text", "test"), [("GT0", ("GT", 0)), ("lt128", ("LT", 0.5)), ("GE128", ("GE", 0.5)), ("GE129", None), ("", None)]
)
def test_alpha_tests(text, test):
    """NameToAFunc."""
    assert stage(f"map a\nalphaFunc {text}").alpha_test == (test and AlphaTest(*test))


def test_colours():
    wave = Wave("sin", 0.5, 0.25, 0, 1)
    assert stage("map a\nrgbGen wave Sin .5 .25 0 1").rgb_gen == Gen("wave", wave=wave)
    for text in ("( 1 0.5 0 )", "(1 0.5 0)", "( 1 0.5 0 ) alphaGen const 0.25", "(1 0.5 0)alphaGen"):
        assert parse("{ rgbGen const " + text + "\n}", "").stages[0].rgb_gen == Gen("const", (1, 0.5, 0))
    assert stage("map a\nalphaGen const 0.25").alpha_gen == Gen("const", (0.25,))
    assert stage("map a\nalphaGen portal 512").alpha_gen == Gen("portal", (512,))
    assert stage("map a\nalphaGen lightingSpecular").alpha_gen == Gen("lightingspecular")
    assert stage("map a\nrgbGen lightingDiffuse").rgb_gen == Gen("lightingdiffuse")
    vertex = stage("map a\nrgbGen vertex")
    assert (vertex.rgb_gen, vertex.alpha_gen) == (Gen("vertex"), Gen("vertex"))
    assert stage("map a\nrgbGen vertex\nalphaGen const 1").alpha_gen.kind == "const"


@pytest.mark.parametrize(
    ("blend", "kind"),
    [("", "identitylighting"), ("add", "identitylighting"), ("blend", "identitylighting"), ("filter", "identity")],
)
def test_the_colour_of_a_stage_that_names_none(blend, kind):
    assert stage("map a\nblendFunc " + blend).rgb_gen.kind == kind
    assert stage("map a\nrgbGen").rgb_gen.kind == "identitylighting"


def test_texture_coordinates():
    assert stage("map a\ntcGen environment").is_environment
    assert stage("map a\ntexGen TEXTURE").tc_gen == "base"
    assert stage("map a\ntcGen vector ( 1 2 3 ) ( 4 5 6 )").tc_vectors == (1, 2, 3, 4, 5, 6)
    text = """map a
        tcMod scroll .1 -2
        tcMod scale 2 3
        tcMod rotate 45
        tcMod turb 0 .2 .5 1
        tcMod stretch sin 1 .5 0 2
        tcMod transform 1 2 3 4 5 6
        tcMod entityTranslate
        tcMod odd 1 2
        tcMod scale 1"""
    assert stage(text).tc_mods == (
        TcMod("scroll", (0.1, -2)), TcMod("scale", (2, 3)), TcMod("rotate", (45,)), TcMod("turb", (0, 0.2, 0.5, 1)),
        TcMod("stretch", wave=Wave("sin", 1, 0.5, 0, 2)), TcMod("transform", (1, 2, 3, 4, 5, 6)),
        TcMod("entitytranslate"), TcMod("scale", (1, 0)),
    )  # fmt: skip


def test_the_rest_of_a_stage():
    found = stage("map a\ndepthFunc Equal\ndetail\nglow")
    assert (found.depth_func, found.detail, found.glow) == ("equal", True, True)


def test_arguments_stand_in_the_line_of_their_word():
    """COM_ParseExt without line breaks; what is left of a line is words again."""
    assert stage("map\na/b.tga rgbGen vertex blendFunc add".replace("\na", " a")).blend == ADD
    found = parse("{ map\na }", "x")
    assert (found.stages[0].maps, found.unknown) == ((), ("a",))


# -- general words: ParseShader


@pytest.mark.parametrize(
    ("text", "cull"),
    [("", "front"), ("none", "none"), ("TwoSided", "none"), ("disable", "none"), ("back", "back"), ("backside", "back"),
     ("backsided", "back"), ("front", "front"), ("odd", "front")],
)  # fmt: skip
def test_culls(text, cull):
    found = shader("cull " + text)
    assert (found.cull, found.two_sided) == (cull, cull == "none")


def test_general_words():
    found = shader(
        "qer_editorimage textures/e.tga rest\nqer_trans 0.4\nqer_nocarve\nq3map_surfacelight 100 200\n"
        "surfaceparm NoDraw\nsurfaceparm trans\nsort Additive\npolygonOffset\nnomipmaps\nskyParms env/x 512 -\n"
        "tessSize 64\n"
        "fogparms ( 1 0 0 ) 300\nlight 1\n"
    )
    assert (found.editor_image, found.editor_trans, found.surface_parms) == ("textures/e.tga", 0.4, ("nodraw", "trans"))
    assert (found.sort, found.polygon_offset, found.flags, found.sky) == ("additive", 1, ("nomipmaps",), True)
    assert found.nodraw
    assert not found.unknown


def test_deforms():
    text = "deformVertexes wave 100 sin 0 1 2 3\ndeformVertexes move 1 2 3 sin 4 5 6 7\ndeformVertexes bulge 1 2 3\n"
    found = shader(
        text + "deformVertexes normal 1 2\ndeformVertexes AutoSprite2\ndeformVertexes text3\ndeformVertexes odd more"
    )
    assert found.deforms == (
        Deform("wave", (100,), Wave("sin", 0, 1, 2, 3)), Deform("move", (1, 2, 3), Wave("sin", 4, 5, 6, 7)),
        Deform("bulge", (1, 2, 3)), Deform("normal", (1, 2)), Deform("autosprite2"), Deform("text3"),
    )  # fmt: skip
    assert found.is_sprite and not found.unknown


def test_words_that_no_engine_knows_are_noted():
    found = shader("oddWord 1 2 map\ncull none\n{\nmap a\nodder x\nblendFunc add\n}\noddword\n")
    assert found.unknown == ("oddword", "odder")
    assert (found.cull, found.stages[0].blend) == ("none", ADD), "the rest is read"


@pytest.mark.parametrize(
    ("text", "cull", "blend", "test"),
    [
        ("implicitMap -", "front", None, None),
        ("implicitMask -", "none", None, ("GE", 0.5)),
        ("implicitBlend -", "none", ALPHA, None),
        ("implicitBlend", "none", ALPHA, None),
        ("cull back\nimplicitMask -", "back", None, ("GE", 0.5)),
    ],
)
def test_implicit_stages(text, cull, blend, test):
    """SetImplicitShaderStages of ET."""
    found = shader(text)
    (only,) = found.stages
    assert (found.cull, only.blend, only.alpha_test) == (cull, blend, test)
    assert (only.maps, only.rgb_gen, only.depth_write) == (("models/name",), Gen("lightingdiffuse"), True)
    assert found.implicit == "models/name"


def test_an_implicit_stage_takes_the_place_of_the_first():
    found = shader("{\nmap a\n}\nimplicitMap x.tga\n{\nmap b\n}")
    assert [each.map for each in found.stages] == ["x.tga", "b"]


def test_doom_3s_words_in_such_scripts():
    found = shader(
        "diffuseMap a\nnormalMap b\nspecularMap c\n{\nstage diffuseMap\nmap d\n}\n{\nblend specularMap\nmap e\n}"
    )
    assert [(each.role, each.map) for each in found.stages] == [
        ("diffuse", "a"), ("bump", "b"), ("specular", "c"), ("diffuse", "d"), ("specular", "e"),
    ]  # fmt: skip


# -- what real files do wrong


def test_braces_that_do_not_match():
    found = shader("{\nmap a\n{\nmap b\n}\n")
    assert [each.map for each in found.stages] == ["a", "b"]
    assert "not closed" in found.faults[0]
    assert [each.map for each in shader("{map a\n}\n{ map b }}").stages] == ["a", "b"]
    assert [each.map for each in shader("{\nmap a").stages] == ["a"]


@pytest.mark.skipif(not packed(".shader"), reason="no real packs here")
def test_real_shaders_are_understood():
    count = 0
    for file, data in packed(".shader").items():
        text, found = scan(data.decode("latin-1"))
        for each in found:
            read = parse(text[each.start : each.end], each.name)
            assert not read.unknown, f"{file}: {each.name}"
            assert not read.faults, f"{file}: {each.name}"
            count += 1
    assert count > 2000


words = st.sampled_from([
    "{", "}", "\n", "map", "a", '"', "blendfunc", "add", "tcmod", "scroll", "1", "rgbgen", "const", "(", ")", "wave",
    "implicitmask", "-", "deformvertexes", "animmap", "//", "/*", "cull", "none", "qer_trans", "x{", "}}",
])  # fmt: skip


@given(st.lists(words, max_size=40).map(" ".join) | st.text(max_size=40))
def test_any_text_gives_a_shader(text):
    clean, found = scan(text)
    for each in found:
        parse(clean[each.start : each.end], each.name)
    assert parse(text, "x").name == "x"


def test_hostile_bodies_take_linear_time():
    for piece in ("{ ", "} ", "}", "{", "a}", "tcMod scale ", "map a ", "rgbGen const ( ", "implicitmap ", "odd\n"):
        parse(piece * 15_000, "x")
