"""What shaders come to: layers, what shows through, and how textures lie on surfaces."""

from math import cos, pi, sin
from pathlib import Path
from typing import Any

import pytest

from io_idtech_models.assets.script_looks import look_of
from io_idtech_models.assets.surface_looks import Looks
from io_idtech_models.game.folders import Disk
from io_idtech_models.game.search import SearchPath
from io_idtech_models.model.surface_look import ADD, ALPHA, DARKEN, MULTIPLY, OPAQUE, UNSEEN, Clip, Layer, Look, Motion
from tests.packs import put_files
from tests.samples import CORPUS
from tests.stores import held

OPENARENA = CORPUS / "openarena" / "baseoa"


def looks(scripts: str, *pictures: str, doom: bool = False) -> Looks:
    """Return the looks of a game that has one script and some pictures."""
    script = "materials/a.mtr" if doom else "scripts/a.shader"
    names = [script, "models/x.md3", *pictures]
    files = {name: scripts.encode() if name == script else b"" for name in names}
    return Looks(SearchPath(held(files, "models/x.md3")))


def look(stages: str, *, general: str = "", doom: bool = False) -> Any:
    """Return the look of a shader whose pictures are all there."""
    return looks(f"a\n{{\n{general}\n{stages}\n}}", *(f"{n}.tga" for n in "pqrs"), doom=doom).find("a")


def drawn(found: Any) -> list[tuple[str, str]]:
    """Return the pictures of layers, and how they are drawn."""
    return [("" if one.texture is None else one.texture.picture.name, one.drawn) for one in found.layers]


@pytest.mark.parametrize(
    ("stages", "wanted"),
    [
        ("{ map p.tga }", [("p.tga", OPAQUE)]),
        ("{ map p.tga\nblendFunc blend }", [("p.tga", ALPHA)]),
        ("{ map p.tga\nblendFunc add }", [("p.tga", ADD)]),
        ("{ map p.tga\nblendFunc filter }", [("p.tga", MULTIPLY)]),
        ("{ map p.tga\nblendFunc GL_ZERO GL_ONE_MINUS_SRC_ALPHA }", [("p.tga", DARKEN)]),
        ("{ map $lightmap }\n{ map p.tga\nblendFunc filter }", [("", OPAQUE), ("p.tga", MULTIPLY)]),
        ("{ map $whiteimage\nrgbGen entity }\n{ map p.tga\nblendFunc blend }", [("", OPAQUE), ("p.tga", ALPHA)]),
        ("{ map p.tga }\n{ map q.tga\nblendFunc add\ntcGen environment }", [("p.tga", OPAQUE), ("q.tga", ADD)]),
        ("{ animMap 5 p.tga q.tga }", [("p.tga", OPAQUE)]),
        ("{ map p.tga }\n{ map q.tga\nblendFunc add\nalphaGen lightingSpecular }", [("p.tga", OPAQUE), ("q.tga", ADD)]),
    ],
)
def test_layers(stages, wanted):
    assert drawn(look(stages)) == wanted


def test_a_reflection_is_no_base():
    found = look("{ map p.tga\ntcGen environment }\n{ map q.tga\nblendFunc blend }")
    assert [layer.texture.reflects for layer in found.layers if layer.texture] == [True, False]
    assert found.base.picture.name == "q.tga"


@pytest.mark.parametrize(
    ("gen", "color", "lit"),
    [
        ("", (1, 1, 1), False),
        ("rgbGen lightingDiffuse", (1, 1, 1), True),
        ("rgbGen const ( 0.5 0.25 1 )", (0.5, 0.25, 1), False),
        ("rgbGen wave sin 0.5 0.5 0 1", (0.5, 0.5, 0.5), False),
        ("rgbGen wave sin 3 0.5 0 1", (1, 1, 1), False),
        ("rgbGen wave inversesawtooth 0 1 0 1.3", (0.5, 0.5, 0.5), False),
        ("rgbGen wave sawtooth 0.5 0.5 0 1.3", (0.75, 0.75, 0.75), False),
        ("rgbGen vertex", (1, 1, 1), True),
    ],
)
def test_colours_at_rest(gen, color, lit):
    (layer,) = look(f"{{ map p.tga\n{gen} }}").layers
    assert (layer.color, layer.lit) == (color, lit)


@pytest.mark.parametrize(
    ("func", "clip"),
    [("GT0", Clip(0.0, below=False)), ("LT128", Clip(0.5, below=True)), ("GE128", Clip(0.5 - 1e-9, below=False))],
)
def test_what_is_tested_for_alpha(func, clip):
    assert look(f"{{ map p.tga\nalphaFunc {func} }}").layers[0].clip == clip


def test_how_much_is_seen():
    for gen, alpha in (("const 0.25", 0.25), ("wave sawtooth 0 1 0 1", 0.5)):
        (layer,) = look(f"{{ map p.tga\nblendFunc blend\nalphaGen {gen} }}").layers
        assert layer.alpha == alpha
    (layer,) = look("{ map p.tga\nblendFunc GL_ONE_MINUS_SRC_ALPHA GL_SRC_ALPHA }").layers
    assert (layer.drawn, layer.inverted) == (ALPHA, True)
    (layer,) = look("{ map p.tga\nblendFunc GL_SRC_ALPHA GL_ONE }").layers
    assert (layer.drawn, layer.weighted) == (ADD, True)


def test_what_shines():
    stages = "{ map p.tga }\n{ map q.tga\nblendFunc GL_SRC_ALPHA GL_ONE\nalphaGen lightingSpecular }"
    plain, shining = look(stages).layers
    assert (plain.shines, shining.shines, shining.weighted) == (False, True, True)
    (alone,) = look("{ map p.tga\nrgbGen lightingDiffuse\nalphaGen lightingSpecular }").layers
    assert alone.texture is not None, "an opaque stage is there whatever its alpha"


@pytest.mark.parametrize("blend", ["GL_DST_COLOR GL_DST_ALPHA", "GL_DST_COLOR GL_ONE"])
def test_what_brightens(blend):
    (layer,) = look(f"{{ map p.tga\nblendFunc {blend} }}").layers
    assert (layer.drawn, layer.keeps) == (MULTIPLY, True)
    assert not look("{ map p.tga\nblendFunc filter }").layers[0].keeps


@pytest.mark.parametrize(("alpha", "inverted"), [("GL_SRC_ALPHA", True), ("GL_ONE_MINUS_SRC_ALPHA", False)])
def test_what_is_added_whole(alpha, inverted):
    (layer,) = look(f"{{ map p.tga\nblendFunc GL_ONE {alpha} }}").layers
    assert (layer.drawn, layer.whole, layer.inverted) == (ALPHA, True, inverted)
    assert not look("{ map p.tga\nblendFunc blend }").layers[0].whole


def test_sides():
    assert not look("{ map p.tga }").two_sided
    assert look("{ map p.tga }", general="cull none").two_sided
    assert look("{ map p.tga }", general="deformVertexes autosprite").two_sided, "it always faces the viewer"
    assert not look("{ map p.tga }", general="deformVertexes wave 100 sin 0 1 0 1").two_sided


def test_what_is_not_drawn():
    unseen = (Layer(drawn=UNSEEN),)
    assert looks("a\n{\nsurfaceparm nodraw\n}").find("a", worn=True) == Look(unseen)
    meant_for_levels = look("{ map p.tga }", general="surfaceparm nodraw")
    assert drawn(meant_for_levels) == [("p.tga", OPAQUE)], "engines draw it on a model all the same"
    empty = looks("", "p.tga")
    assert empty.find("nothing", worn=True) == Look(unseen), "a skin's shader that there is not"
    assert empty.find("textures/common/nodraw", worn=True) == Look(unseen)
    assert empty.find("a/nothing.tga", worn=True) == Look(unseen, lacking=("a/nothing.tga",)), "which is said"
    assert looks("a\n{\n}").find("a/nothing.tga", worn=True) == Look(unseen, lacking=("a/nothing.tga",))
    assert empty.find("nothing") is None
    plain: Any = empty.find("p")
    assert drawn(plain) == [("p.tga", OPAQUE)]
    assert plain.layers[0].lit


def test_pictures_that_are_not_there():
    found: Any = looks("a\n{\n{ map p.tga }\n{ map far/z.tga\nblendFunc add }\n}", "p.tga").find("a")
    assert drawn(found) == [("p.tga", OPAQUE)]
    assert found.lacking == ("far/z.tga",)
    assert looks("a\n{\n{ map far/z.tga }\n}", "p.tga").find("a") is None


def test_what_is_left_with_one_picture():
    layered = look("{ map p.tga\nalphaFunc GE128\nrgbGen lightingDiffuse }\n{ map q.tga\nblendFunc add }").plain()
    assert drawn(layered) == [("p.tga", OPAQUE)]
    assert (layered.layers[0].clip, layered.layers[0].lit) == (Clip(0.5 - 1e-9, below=False), True)
    glow = look("{ map p.tga\nblendFunc add\ntcMod scroll 1 0 }").plain()
    assert drawn(glow) == [("p.tga", OPAQUE)]
    assert not glow.layers[0].lit
    assert glow.base.motions == ()
    unseen = Look((Layer(drawn=UNSEEN),))
    assert unseen.plain() == unseen


# -- texture coordinates, with v counted from below


LOOKED_UP = {
    "scale counts from the top": ("tcMod scale 2 3", (0.25, 1.0), (0.5, 1.0)),
    "and goes down": ("tcMod scale 2 3", (0.25, 0.5), (0.5, -0.5)),
    # s' = 0 s + 1 t + 0.25, t' = 2 s + 0 t + 0.5 where s = 0.5, t = 1 - 0.75.
    "transform": ("tcMod transform 0 2 1 0 0.25 0.5", (0.5, 0.75), (0.5, 1.0 - 1.5)),
    "stretch": ("tcMod stretch sin 2 0.1 0 1", (1.0, 0.5), (0.75, 0.5)),
    "what swings": ("tcMod stretch sawtooth 1 2 0 1", (1.0, 0.5), (0.75, 0.5)),
    "one after another": ("tcMod scale 2 2\ntcMod transform 1 0 0 1 0.5 0", (0.25, 1.0), (1.0, 1.0)),
}


@pytest.mark.parametrize(("mods", "place", "found"), LOOKED_UP.values(), ids=LOOKED_UP)
def test_where_a_texture_is_looked_up(mods, place, found):
    rows = look(f"{{ map p.tga\n{mods} }}").base.rows
    assert [row[0] * place[0] + row[1] * place[1] + row[2] for row in rows] == pytest.approx(found, abs=1e-9)


def test_what_scrolls():
    texture = look("{ map p.tga\ntcMod scroll 0.5 0.25\ntcMod scale 2 1 }").base
    assert texture.rows == ((2, 0, 0), (0, 1, 0))
    assert texture.motions[0][2] == Motion(speed=1.0)
    assert texture.motions[1][2] == Motion(speed=-0.25), "down is up"


def test_what_turns():
    texture = look("{ map p.tga\ntcMod rotate 90 }").base
    assert texture.turn == pytest.approx(-pi / 2)
    assert texture.rows == ((1, 0, 0), (0, 1, 0))
    # After one second RB_CalcRotateTexCoords has s' = t, t' = 1 - s.

    def now(row: int, column: int) -> Any:
        one, turn = texture.motions[row][column], texture.turn
        return texture.rows[row][column] - one.cosine + one.cosine * cos(turn) + one.sine * sin(turn)

    u, v = 0.25, 1.0
    found = [now(row, 0) * u + now(row, 1) * v + now(row, 2) for row in range(2)]
    assert found == pytest.approx([1 - v, 1 - (1 - u)])


def test_what_stands_still_has_no_motion():
    texture = look("{ map p.tga\ntcMod scale 2 2\ntcMod turb 0 0.1 0 1 }").base
    assert texture.motions == ()


# -- Doom 3


def test_a_material_of_doom():
    found = look("diffusemap p.tga\nbumpmap addnormals(q.tga, heightmap(r.tga, 4))\nspecularmap s.tga", doom=True)
    assert drawn(found) == [("p.tga", OPAQUE)]
    assert found.layers[0].lit
    assert [each.picture.name for each in (found.normal, found.specular)] == ["q.tga", "s.tga"]
    assert not found.normal_is_height
    assert look("diffusemap p.tga\nbumpmap heightmap(r.tga, 4)", doom=True).normal_is_height


def test_a_masked_material_of_doom():
    found = look("{ blend diffusemap\nmap p.tga\nalphaTest 0.5 }", doom=True)
    assert found.layers[0].clip == Clip(0.5, below=False)
    assert found.layers[0].drawn == OPAQUE


def test_a_glow_of_doom_is_bright():
    found = look("diffusemap p.tga\n{ blend add\nmap q.tga }", doom=True)
    assert drawn(found) == [("p.tga", OPAQUE), ("q.tga", ADD)]
    assert [layer.lit for layer in found.layers] == [True, False]


# -- libraries


def test_a_library_is_kept_while_its_scripts_do_not_change(tmp_path):
    script = tmp_path / "scripts/a.shader"
    put_files(tmp_path, {"models/p.tga": b"", "scripts/a.shader": b"a\n{\n{ map models/p.tga }\n}\n"})

    def library():
        return Looks(SearchPath(Disk().file(tmp_path / "models" / "x.md3"))).library

    first = library()
    assert first is not None and library() is first
    script.write_bytes(b"b\n{\n{ map models/p.tga }\n}\n// longer\n")
    again = library()
    assert again is not first
    assert again is not None and again.shader("b") is not None


@pytest.mark.skipif(not OPENARENA.is_dir(), reason="the corpus of real files is not here")
def test_every_real_shader_comes_to_a_look():
    model = Disk().file(OPENARENA / "pak0.pk3/models/players/sarge/upper.md3")
    found = Looks(SearchPath(model))
    assert found.library is not None
    names = found.library.names()
    assert len(names) > 1000
    shown = [look_of(shader, found.find_image) for shader in map(found.library.shader, names) if shader is not None]
    assert all(one.layers for one in shown)
    assert {layer.drawn for one in shown for layer in one.layers} >= {OPAQUE, ALPHA, ADD, MULTIPLY, UNSEEN}
    assert Path(model.place).name == "upper.md3"
