"""What must hold of the texts around a model: shader scripts, materials, skins, and a player's animations."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

from fuzz.guard import BrokenError
from io_idtech_models.game import dress, skin
from io_idtech_models.game.character.doom3 import declarations, edits
from io_idtech_models.game.character.doom3.library import Declarations
from io_idtech_models.game.character.xreal import settings
from io_idtech_models.game.lexer import decl_key, fold
from io_idtech_models.game.player import animation_cfg, animation_edits
from io_idtech_models.game.shaders import library, resolve, shader_looks
from io_idtech_models.game.shaders.model import Shader
from io_idtech_models.reporting import LimitError

SHADERS = b"""// stages
textures/own/a
{
	qer_editorimage textures/own/e.tga
	surfaceparm nodraw
	cull none
	deformVertexes wave 100 sin 0 1 .5 2
	{
		map $whiteimage
		rgbGen const ( 1 0.5 0 )
	}
	{
		clampMap textures/own/a.tga
		blendFunc GL_SRC_ALPHA GL_ONE_MINUS_SRC_ALPHA
		tcMod scroll 0.1 -1
		tcMod stretch sin 1 .5 0 2
		tcGen vector ( 1 0 0 ) ( 0 1 0 )
		alphaFunc GE128
		rgbGen wave triangle 0 1 0 1
	}
}
"own/b" { implicitMask - }
own/c { { animMap 5 x y z blendFunc add depthWrite } }
"""
MATERIALS = b"""table own { snap { 0, 1, 0.5 } }
material own/a
{
	qer_editorimage own/e.tga
	bumpmap addnormals( own/n.tga, heightmap( own/h.tga, 4 ) )
	{ blend diffusemap map own/d.tga alphaTest 0.5 }
	{ if ( parm7 == 0 && time > 1 ) blend GL_ONE, GL_ONE map makeAlpha( own/g ) scroll time * 0.1, 2 rgb own[ time ] }
	deform expand 1 + 2 * 3
}
own/b { twoSided translucent { blend add map _white colored } }
skin own/red { model own.md5mesh own/a own/b * "own/c d" }
"""
SKINS = (
    b'md3_part "models/players/a.md3"\nu_body, "models/players/body.tga"\nl_legs,models/legs\n,,\n',
    b"head,models/head.tga // x\r\ntag_head,\r\nplayerscale 1.5\r\n/* y */ arm_l models/arm\r\n",
)
ANIMATIONS = (
    b"// x\r\nsex m\r\nheadoffset 0 0 -1.5\r\n"
    + b"".join(b"%d\t%d\t%d\t15 // %s\r\n" % (nth * 3, 3 - 6 * (nth == 4), nth % 3, name.encode())
               for nth, name in enumerate(animation_cfg.NAMES[:27])),
    b"sex f\nBOTH_DEATH1 0 9 -1 20\nTORSO_GESTURE   9 5 0 15\nLEGS_WALKCR 14 -6 6 12.5 /* x */\nfixedlegs true\n",
    b"nonsegmented\nfootsteps none\n" + b"0 10 10 20 5 5 0 0\n" * 14,
    b"VERSION 3\nSTARTANIMS\nidle_01 0 10 10 15 0\nover table 9 8 7 6 -1 5\nENDANIMS\n",
)  # fmt: skip
DECLARATIONS = (
    b"""// an imp
model own_base
{
	mesh	models/md5/own/a.md5mesh
	skin	own/red
	offset	( 0 -1.5 2 )
	channel	torso	( *Spine -Head )
	anim idle1	models/md5/own/idle.md5anim
	anim walk	models/md5/own/walk.md5anim, models/md5/own/limp.md5anim { random_cycle_start
		frame 1	sound_body	snd_footstep
		frame 12	call	step // left
	}
}
model own/imp { inherit own_base remove idle anim jump "models/md5/own/jump it.md5anim" rate 2 }
""",
    b'entityDef own_a\r\n{\r\n\t"inherit"\t"own_b"\r\n\t"model" "own/imp"\r\n\t"def_attach1" "own_c"\r\n}\r\n'
    b'entityDef own_b { "inherit1" "own_c" "inherit2" "own_a" "def_head" "own_base" "head_joint" "Head" }\r\n'
    b'entityDef own_c { "joint" "Head" "origin" "1 2 3" "angles" "0 90 0" "model" "a.ase" }\r\n'
    b"model own_d { inherit own_e }\r\nmodel own_e { inherit own_d }\r\n\0",
)
SETTINGS = (
    b'// a player\nsex\tm\nheadoffset 0 0 -1.5\nfirstTorsoBoneName "Torso"\nlastTorsoBoneName chest\n'
    b"fixedlegs\nmodelScale 0.83 0.83 0.83 /* x */\n",
    b"footsteps flesh\r\nmodelScale 1.2\r\nmodifiers\r\n{\r\n\tHandDelta Segmented\r\n}\r\nhandBones a b\r\n",
)
SHOWN = 1 << 10
EDITED = 1 << 14  # bytes: each edit reads a file anew


def check_shaders(data: bytes) -> None:
    """Read a script, and all that is in it; raises BrokenError."""
    _check_library(library.ShaderLibrary([("scripts/a.shader", partial(bytes, data))]))


def check_materials(data: bytes) -> None:
    """Read a file of declarations, and all that is in it; raises BrokenError."""
    found = library.ShaderLibrary([("materials/a.mtr", partial(bytes, data))], library.DOOM3)
    _check_library(found)
    for name in found.names(library.SKIN):
        definition = found.find(name, library.SKIN)
        if definition is None:
            raise BrokenError("a skin is lost")
        worn = dress.parse_decl(definition.body, name)
        if not isinstance(worn.worn(name), str):
            raise BrokenError("a material without a name")


def _check_library(found: library.ShaderLibrary) -> None:
    for name in found.names():
        shader = found.shader(name)
        if shader is None:
            if "." not in name:
                raise BrokenError("a shader is lost")
            continue
        _check_shader(shader)
        if resolve.resolve(name, found, lambda image: image, worn=True).absent:
            raise BrokenError("a picture is lost")


def _check_shader(shader: Shader) -> None:
    _check_numbers(shader)
    if shader_looks.transparency(shader).kind not in {
        "opaque",
        "clip",
        "alpha",
        "additive",
        "multiply",
        "darken",
        "unseen",
    }:
        raise BrokenError("an odd kind of transparency")
    base = shader_looks.base_stage(shader)
    if base is not None and not (base.map and shader_looks.base_image(shader) == base.map):
        raise BrokenError("a base without a picture")


def _check_numbers(value: Any) -> None:
    """Raise BrokenError for a number that is not finite, anywhere within."""
    if isinstance(value, float) and not math.isfinite(value):
        raise BrokenError("a number is not finite")
    if isinstance(value, (tuple, list)):
        for item in value:
            _check_numbers(item)
    elif is_dataclass(value):
        for field in fields(value):
            _check_numbers(getattr(value, field.name))


def check_declarations(data: bytes) -> None:
    """Read models and entities with all that they inherit, and add animations; raises BrokenError."""
    found = Declarations(library.ShaderLibrary([("def/a.def", partial(bytes, data))], library.DOOM3))
    for name in found.names(declarations.ENTITY)[:SHOWN]:
        entity = found.entity(name)
        if entity is None or any(key != fold(key) for key in entity.values):
            raise BrokenError("an entity is lost, or has a key in another case")
        if entity.value("model") != found.value_of(name, "model"):
            raise BrokenError("an entity looks like two models")
    models = found.names(declarations.MODEL)[:SHOWN]
    for name in models:
        model = found.model(name)
        if model is None or model.mesh != found.mesh_of(name):
            raise BrokenError("a model is lost, or has two meshes")
        _check_numbers(model.offset)
        if any(anim.name != key or not anim.files for key, anim in model.anims.items()):
            raise BrokenError("an animation without a file")
    if len(data) <= EDITED:
        for name in ("brand_new", *models[:1], *models[-1:]):
            _check_added(found, data, name)


def _check_added(found: Declarations, data: bytes, name: str) -> None:
    """Add an animation to a model, and look whether it is there, and everything else still is."""
    try:
        edited = edits.with_anims(data, name, {"brand_new": ["models/n.md5anim", "models/m n.md5anim"]})
    except LimitError:
        return
    changed = Declarations(library.ShaderLibrary([("def/a.def", partial(bytes, edited))], library.DOOM3))
    model, before = changed.model(name), found.model(name)
    if model is None or model.anims["brand_new"].files != ("models/n.md5anim", "models/m n.md5anim"):
        raise BrokenError("an edit did not take")
    if before is not None and {**before.anims, "brand_new": None}.keys() != model.anims.keys():
        raise BrokenError("an edit changed another animation")
    others = [each for each in found.names(declarations.MODEL) if decl_key(each) != decl_key(name)]
    if [each for each in changed.names(declarations.MODEL) if each in others] != others:
        raise BrokenError("an edit lost a model")


def check_settings(data: bytes) -> None:
    """Read a player's file; raises BrokenError."""
    read = settings.read(data)
    _check_numbers((read.head_offset, read.scale))
    if 0.0 in read.scale or any(key != fold(key) for key in read.words):
        raise BrokenError("a player without a size, or a key in another case")


def check_skin(data: bytes) -> None:
    """Read a skin, write it, and edit it; raises BrokenError."""
    read = skin.read_skin(data)
    if read.write() != data:
        raise BrokenError("a skin came back otherwise")
    worn = read.shaders()
    if any(surface != fold(surface) or not isinstance(shader, str) for surface, shader in worn.items()):
        raise BrokenError("a surface in another case")
    if len(data) > EDITED:
        return
    many = len(data) + 2
    before = read.shaders(many)
    for surface in ("new", *list(before)[:2], *list(before)[-1:]):
        try:
            changed = read.set_shader(surface, "models/x y.tga")
        except LimitError:
            continue
        if changed.shaders(many) != {**before, skin.surface_key(surface): "models/x y.tga"}:
            raise BrokenError("an edit changed another surface")
        rest = {key: shader for key, shader in before.items() if key != skin.surface_key(surface)}
        if read.remove(surface).shaders(many) != rest:
            raise BrokenError("a surface took another along")


def check_animations(data: bytes) -> None:
    """Read a table of animations, write it, and edit it; raises BrokenError."""
    read = animation_cfg.read(data)
    if read.write() != data:
        raise BrokenError("a table came back otherwise")
    for part in (animation_cfg.LOWER, animation_cfg.UPPER, animation_cfg.WHOLE):
        for row in read.of_part(part)[:40]:
            if not row.rate > 0 or not 0 <= row.outside(100) <= max(abs(row.count), 1):
                raise BrokenError("a row without a rate, or with more frames outside than it has")
    if len(data) <= EDITED:
        _check_edits(read)


def _check_edits(read: animation_cfg.AnimationTable) -> None:
    for row in (read.rows[0], read.rows[-1]):
        changed = read.edited(row, first=77, count=-3, fps=12.5)
        rest = [(each.first, each.count, each.loop, each.fps) for each in changed.rows if each.nth != row.nth]
        if rest != [(each.first, each.count, each.loop, each.fps) for each in read.rows if each.nth != row.nth]:
            raise BrokenError("an edit changed another row")
        new = changed.rows[row.nth]
        if (new.first, new.count, new.loop, new.fps) != (77, -3, row.loop, 12.5):
            raise BrokenError("an edit did not take")
    for name in ("LEGS_IDLE", "TORSO_PATROL"):
        try:
            animation_edits.with_row(read, name, first=1, count=2)
        except LimitError:
            continue
