"""Texts of games with a line, or a word, gone or another: what is read of them is what was."""

import pytest

from io_idtech_models.assets.script_looks import look_of
from io_idtech_models.game import aninc, skin
from io_idtech_models.game.character.doom3.edits import with_anims
from io_idtech_models.game.character.et.texts import with_value
from io_idtech_models.game.dress import parse_decl
from io_idtech_models.game.lexer import DECL_WORDS, Cursor
from io_idtech_models.game.player import animation_cfg, animation_edits
from io_idtech_models.game.shaders import image_programs, material, script, shader_looks
from io_idtech_models.game.shaders.index import scan, scan_decls
from io_idtech_models.game.store import GameFile
from io_idtech_models.model.clips import Clip
from io_idtech_models.reporting import ModelError
from tests import samples_character, samples_doom3, samples_player
from tests.damaged import damaged, outcomes
from tests.stores import Held

SHADER = b"""\
cull twosided
surfaceparm trans
surfaceparm nodraw
polygonOffset
qer_editorimage textures/a.tga
qer_trans 0.5
deformVertexes wave 100 sin 3 0.25 0 1.5
deformVertexes move 1 2 3 square 0 1 0.5 2
deformVertexes bulge 3 10 1
deformVertexes normal 1 2 3
deformVertexes autosprite 1
sort additive
nopicmip
skyParms env/sky 512 -
diffuseMap textures/d.tga more
implicitMask textures/m.tga
{
	animMap 0.5 a.tga b.tga c.tga
	blendFunc GL_SRC_ALPHA GL_ONE_MINUS_SRC_ALPHA
	rgbGen wave triangle 0.5 0.25 0 2
	alphaGen const 0.5
	tcMod scroll 0.5 -1
	tcMod stretch sin 1 0.5 0 1
	tcMod transform 1 0 0 1 0.5 0.25
	tcMod turb 0 0.25 0 1
	tcMod rotate 45 1
	tcMod scale 1 2 3
	tcMod entityTranslate 1
	tcMod swap 1
	tcGen vector ( 1 0 0 ) ( 0 1 0.5 )
	alphaFunc GE128
	depthWrite
	depthFunc equal
}
{
	clampMap $lightmap
	blend filter
	rgbGen const ( 0.5 0.25 1 )
	detail
	glow
}
{
	map env.tga
	blendFunc add
	tcGen environment
	alphaGen portal 256
	rgbGen vertex
	stage normalMap
}
"""
MATERIAL = b"""\
qer_editorimage addnormals( a.tga, heightmap( b.tga, 4 ) )
twoSided
polygonOffset -1.5
deform expand 2 * 0.5
deform move 1 2
deform flare 1 2
deform eyeball 1
deform tube 1
sort postProcess
translucent
noshadows
surftype10
description "a thing"
clamp
bumpmap addnormals( models/local.tga, heightmap( models/h.tga, 3 ) )
diffusemap models/d.tga
specularmap makeIntensity( models/s.tga )
{
	blend gl_src_alpha, gl_one
	map scale( models/x.tga, 0.5, 1, 1 )
	alphaTest 0.25 + 0.25
	scroll time * 0.1 , 0.5
	centerScale 2 , 1 - 0.5
	rotate time * 0.25
	rgb 0.5
	alpha t2[ time * 2 ]
	if ( parm7 == 0 )
	maskDepth
	vertexColor
	zeroClamp
}
{
	blend diffusemap
	cubeMap env/cube
	texGen reflect
	color 1 , parm1 , 0.5 , 1
	translate 1 , 2
	shear 0.5 , time
}
{
	blend add
	videoMap loop video/a.roq
	colored
	inverseVertexColor
	texGen wobblesky 1 2 3
	noclamp
}
"""
SKIN = b"""\
// a skin
l_legs,models/a/legs.tga
"u_body", "models/a/torso"
tag_head,
md3_back,models/a/acc/pack.md3

playerscale, 1.1
h_head , models/a/head.tga // the last
"""
NAMED = b"""\
sex m
headoffset 1 2 3
footsteps metal
both_death1  0 10 0 20 // dies
torso_stand  10 1 0 10
	torso_attack 11 5 0 15
legs_walk    16 8 8 15
legs_run     24 -4 4 15
"""
PROGRAM = b"addnormals( a/local.tga , heightmap( smoothnormals( b.tga ) , 3.5 ) )\n"


def looks(shader):
    """Return what a shader shows, beside what it holds."""
    chosen = (shader_looks.base_stage, shader_looks.bump_stage, shader_looks.specular_stage)
    return [
        shader, shader_looks.base_image(shader), shader_looks.transparency(shader), *(find(shader) for find in chosen),
        [shader_looks.is_height(stage) for stage in shader.stages],
        look_of(shader, lambda name: GameFile(Held({}), name)),
    ]  # fmt: skip


def edited(read):
    """Return a skin's entries, and its text after an edit of each kind."""
    edits = [
        lambda s: s.set_shader("l_legs", "new/shader"), lambda s: s.set_shader("u_body", "new"),
        lambda s: s.set_shader("h_other", "a b"), lambda s: s.set_in_order([("v", "x"), ("w", "y")]),
        lambda s: s.add("z", "w"), lambda s: s.remove("u_body"), lambda s: s.detach("md3_back"),
        lambda s: s.attach("md3_hat", "models/hat.md3"),
    ]  # fmt: skip
    asked = read.shaders(), read.attached(), read.scale
    return [read.entries, *asked, *(attempt(lambda edit=edit: edit(read).write().decode("latin-1")) for edit in edits)]


def with_rows(table):
    """Return a table's rows, and its text after an edit of each kind."""
    row = next(iter(table.rows))
    clip, other = Clip("LEGS_RUN", 3, 4, 20.0, 4), Clip("LEGS_RUN", 5, 2, 10.0, 0)
    new = [("TORSO_NEGATIVE", {"first": 7, "count": -2}), ("LEGS_NEW", {"first": 1, "count": 2, "loop": 1, "fps": 9.5})]
    edits = [
        *(lambda name=name, numbers=numbers: animation_edits.with_row(table, name, **numbers) for name, numbers in new),
        lambda: animation_edits.with_clip(table, clip), lambda: animation_edits.with_change(table, row, clip, other),
        lambda: animation_edits.with_row(table, row.name, first=9, count=1),
    ]  # fmt: skip
    parts = [[(each.name, each.first, each.count) for each in table.of_part(part)] for part in ("lower", "upper")]
    texts = [attempt(lambda edit=edit: edit().text) for edit in edits]
    return [table.rows, parts, table.lacking(), texts]


def with_declared(data):
    """Return a file of declarations after animations were added to its models, and to new ones."""
    blocks = {"jump": ["frame 3 call up", "random_cycle_start"]}
    anims = {"walk1": ["a.md5anim"], "jump": ["b c.md5anim", "d.md5anim"]}
    edits = [
        lambda: with_anims(data, "newt_base", anims, blocks=blocks),
        lambda: with_anims(data, "new", {"a": ["x"]}, "old"),
    ]  # fmt: skip
    return [attempt(lambda edit=edit: edit().decode()) for edit in edits]


def attempt(make):
    """Return what comes of something, an error's sentence where that is it."""
    try:
        return make()
    except ModelError as error:
        return str(error)


TEXTS = {
    "shader": (SHADER, lambda data: looks(script.parse(data.decode(), "models/a"))),
    "material": (MATERIAL, lambda data: looks(material.parse(data.decode(), "models/a"))),
    "shaders": (b"a/b\n{\n" + SHADER + b"}\nc\n{\n{\n}\n}\n", lambda data: scan(data.decode())[1]),
    "declarations": (samples_doom3.TEXT.encode(), lambda data: scan_decls(data.decode(), "entityDef")[1]),
    "program": (PROGRAM, lambda data: image_programs.parse(Cursor(DECL_WORDS.findall(data.decode())))),
    "skin": (SKIN, lambda data: edited(skin.read_skin(data))),
    "skin declaration": (samples_doom3.SKIN.encode(), lambda data: parse_decl(data.decode(), "a")),
    "aninc": (samples_character.files()[samples_character.TABLE], lambda data: aninc.read_rows(data.decode())),
    "animation.cfg": (samples_player.player_files()["animation.cfg"], lambda data: with_rows(animation_cfg.read(data))),
    "named animation.cfg": (NAMED, lambda data: with_rows(animation_cfg.read(data))),
    "bare animation.cfg": (b"torso_stand 10 1 0 10 // TORSO_STAND", lambda data: with_rows(animation_cfg.read(data))),
    "declared animations": (samples_doom3.TEXT.encode(), with_declared),
    "aninc again": (
        samples_character.files()[samples_character.TABLE],
        lambda data: aninc.write_rows(aninc.read_rows(data.decode())[::-1]),
    ),
    "character": (
        samples_character.files()[samples_character.CHAR],
        lambda data: [attempt(lambda key=key: with_value(data, key, "a/b c").decode()) for key in ("mesh", "skin")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_read_of_a_damaged_text_is_what_was(name, as_before):
    text, read = TEXTS[name]
    for found in outcomes([("nothing", text), *damaged(text)], read):
        as_before(found)
