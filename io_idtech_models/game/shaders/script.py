"""Shader scripts of Quake III, Return to Castle Wolfenstein and Enemy Territory: the body of a shader.

Facts (`ParseShader`, `ParseStage`, `ParseTexMod`, `ParseDeform`, `ParseWaveForm` of ioquake3's, ET's and ET: Legacy's
tr_shader.c): words are compared in any case; arguments stand behind their word in its line, and what is left of a line
is words again. `q3map...` and `qer...` are for tools, other words that the engine does not know make the whole shader
the default one. GL_ONE GL_ZERO is no blending; a blend that is not known is GL_ONE; a stage that blends writes no
depth unless it says `depthWrite`. Without rgbGen a stage has its own colour, without light.

Here a word that is not known is noted, and the rest of its line skipped. Doom 3's words that some engines of this kin
took over (`diffuseMap`, `normalMap`, `specularMap`) are read as stages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..lexer import WORDS, Cursor, fold, number, unquoted
from .model import (
    ADD,
    ALPHA,
    AT_LEAST,
    BACK,
    BUMP,
    DIFFUSE,
    FILTER,
    FRONT,
    GREATER,
    LESS,
    LIGHTMAP,
    NONE,
    SCRIPT,
    SPECULAR,
    AlphaTest,
    Blend,
    Deform,
    Gen,
    Reading,
    Shader,
    Stage,
    TcMod,
    Wave,
    grown,
    read_sort,
)

MOST_FRAMES = 8  # of an animMap (MAX_IMAGE_ANIMATIONS)
OWN_NAME = "-"  # of ET's implicitMap
BLENDS = {"add": ADD, "filter": FILTER, "blend": ALPHA}
SOURCES = frozenset((
    "GL_ONE", "GL_ZERO", "GL_DST_COLOR", "GL_ONE_MINUS_DST_COLOR", "GL_SRC_ALPHA", "GL_ONE_MINUS_SRC_ALPHA",
    "GL_DST_ALPHA", "GL_ONE_MINUS_DST_ALPHA", "GL_SRC_ALPHA_SATURATE",
))  # fmt: skip
DESTINATIONS = frozenset((
    "GL_ONE", "GL_ZERO", "GL_SRC_ALPHA", "GL_ONE_MINUS_SRC_ALPHA", "GL_DST_ALPHA", "GL_ONE_MINUS_DST_ALPHA",
    "GL_SRC_COLOR", "GL_ONE_MINUS_SRC_COLOR",
))  # fmt: skip
ALPHA_FUNCS = {"gt0": AlphaTest(GREATER, 0.0), "lt128": AlphaTest(LESS, 0.5), "ge128": AlphaTest(AT_LEAST, 0.5)}
CULLS = {
    **dict.fromkeys(("none", "twosided", "disable"), NONE), **dict.fromkeys(("back", "backside", "backsided"), BACK),
    "front": FRONT,
}  # fmt: skip
ROLES = {
    "diffusemap": DIFFUSE, "normalmap": BUMP, "bumpmap": BUMP, "specularmap": SPECULAR,
}  # fmt: skip
TC_MODS = {"scroll": 2, "scale": 2, "rotate": 1, "turb": 4, "transform": 6, "entitytranslate": 0, "swap": 0}
DEFORMS = {"bulge": 3, "normal": 2, "autosprite": 0, "autosprite2": 0, "projectionshadow": 0}
FLAGS = frozenset((
    "nomipmaps", "nomipmap", "nopicmip", "entitymergable", "portal", "nofog", "allowcompress", "nocompress",
))  # fmt: skip
# Whose arguments say nothing of how a model looks.
SKIPPED = frozenset((
    "tesssize", "clamptime", "light", "fogparms", "fogvars", "skyfogvars", "waterfogvars", "sunshader",
    "lightgridmulamb", "lightgridmuldir", "distancecull",
))  # fmt: skip


@dataclass
class _Reading(Reading):
    wants_depth: bool = field(init=False)  # this and what follows of the stage
    has_rgb: bool = field(init=False)
    implicit: Stage | None = None


def parse(body: str, name: str) -> Shader:
    """Return the shader whose body, without its outer braces and without comments, is a text. Never fails."""
    words = Cursor(WORDS.findall(body))
    reading = _Reading(Shader(name, SCRIPT), words)
    while word := words.word():
        if word == "{":
            _parse_stage(reading)
        elif word != "}":
            _parse_general(reading, fold(unquoted(word)))
    _set_implicit(reading)
    return reading.shader


# -- general words


def _parse_general(reading: _Reading, word: str) -> None:
    shader, words = reading.shader, reading.words
    if word in GENERAL:
        GENERAL[word](reading)
    elif word.startswith("implicit"):
        _implicit(reading, word)
    elif word in FLAGS:
        shader.flags = grown(shader.flags, word)
    elif word in ROLES:
        stage = Stage((words.argument(),), role=ROLES[word])
        shader.stages += [stage] if stage.map else []
        words.rest()
    elif word in SKIPPED or word.startswith(("q3map", "qer")):
        words.rest()
    else:
        reading.unknown(word)


def _cull(reading: _Reading) -> None:
    reading.shader.cull = CULLS.get(fold(reading.words.argument()), reading.shader.cull)


def _surface_parm(reading: _Reading) -> None:
    reading.shader.surface_parms = grown(reading.shader.surface_parms, fold(reading.words.argument()))


def _polygon_offset(reading: _Reading) -> None:
    reading.shader.polygon_offset = 1.0


def _editor_image(reading: _Reading) -> None:
    reading.shader.editor_image = reading.words.argument()
    reading.words.rest()


def _editor_trans(reading: _Reading) -> None:
    reading.shader.editor_trans = number(reading.words.argument())
    reading.words.rest()


def _sky(reading: _Reading) -> None:
    reading.shader.sky = True
    reading.words.rest()


def _wave(words: Cursor) -> Wave:
    return Wave(fold(words.argument()), *words.numbers(4))


def _deform(reading: _Reading) -> None:
    words = reading.words
    kind = fold(words.argument())
    if kind == "wave":
        found = Deform(kind, words.numbers(1), _wave(words))
    elif kind == "move":
        found = Deform(kind, words.numbers(3), _wave(words))
    elif kind in DEFORMS or kind.startswith("text"):
        found = Deform(kind, words.numbers(DEFORMS.get(kind, 0)))
    else:
        words.rest()
        return
    reading.shader.deforms = grown(reading.shader.deforms, found)


def _implicit(reading: _Reading, word: str) -> None:
    """Read ET's short forms: `implicitMask` and `implicitBlend` show both sides, unless `cull` says otherwise."""
    stage = Stage(rgb_gen=Gen("lightingdiffuse"))
    if word == "implicitblend":
        stage.blend = ALPHA
    elif word == "implicitmask":
        stage.alpha_test = ALPHA_FUNCS["ge128"]
    stage.maps = (reading.words.argument() or OWN_NAME,)
    reading.implicit = stage


def _set_implicit(reading: _Reading) -> None:
    """Put an implicit stage in place of the first (SetImplicitShaderStages)."""
    stage, shader = reading.implicit, reading.shader
    if stage is None:
        return
    if stage.map == OWN_NAME:
        stage.maps = (shader.name,)
    shader.implicit = stage.map
    shader.stages[:1] = [stage]
    if shader.cull == FRONT and (stage.blend or stage.alpha_test):  # `cull front` can't be told from none
        shader.cull = NONE


GENERAL: dict[str, Callable[[_Reading], None]] = {
    "cull": _cull, "surfaceparm": _surface_parm, "sort": read_sort, "polygonoffset": _polygon_offset,
    "qer_editorimage": _editor_image, "qer_trans": _editor_trans, "skyparms": _sky, "deformvertexes": _deform,
}  # fmt: skip


# -- stages


def _parse_stage(reading: _Reading) -> None:
    reading.stage, reading.wants_depth, reading.has_rgb = Stage(), False, False
    for word in reading.stage_words():
        if word in STAGE:
            STAGE[word](reading)
        else:
            reading.unknown(word)
    _finish_stage(reading)


def _finish_stage(reading: _Reading) -> None:
    stage = reading.stage
    if stage.blend is not None:
        stage.depth_write = reading.wants_depth
    if not reading.has_rgb:
        src = stage.blend.src if stage.blend else "GL_ONE"
        stage.rgb_gen = Gen("identitylighting" if src in {"GL_ONE", "GL_SRC_ALPHA"} else "identity")
    if stage.blend == ("GL_ONE", "GL_ZERO"):
        stage.blend, stage.depth_write = None, True
    if fold(stage.map) == "$lightmap":
        stage.role = LIGHTMAP
        stage.tc_gen = "lightmap" if stage.tc_gen == "base" else stage.tc_gen
    reading.shader.stages.append(stage)


def _map(reading: _Reading) -> None:
    name = reading.words.argument()
    reading.stage.maps = (name,) if name else ()


def _clamp_map(reading: _Reading) -> None:
    _map(reading)
    reading.stage.clamp = True


def _anim_map(reading: _Reading) -> None:
    stage = reading.stage
    stage.fps = number(reading.words.argument())
    stage.maps = tuple(reading.words.rest()[:MOST_FRAMES])


def _video_map(reading: _Reading) -> None:
    reading.stage.video = reading.words.argument()


def _blend(reading: _Reading) -> None:
    """Read Doom 3's word, which stands for a blend or says what the stage is for."""
    role = ROLES.get(fold(unquoted(reading.words.peek())))
    if role is None:
        _blend_func(reading)
    else:
        reading.words.word()
        reading.stage.role = role


def _alpha_func(reading: _Reading) -> None:
    reading.stage.alpha_test = ALPHA_FUNCS.get(fold(reading.words.argument()))


def _blend_func(reading: _Reading) -> None:
    word = reading.words.argument()
    known = BLENDS.get(fold(word))
    if known is None:
        source, target = word.upper(), reading.words.argument().upper()
        known = Blend(source if source in SOURCES else "GL_ONE", target if target in DESTINATIONS else "GL_ONE")
    reading.stage.blend = known if word else reading.stage.blend


def _vector(words: Cursor, count: int) -> tuple[float, ...]:
    """Return numbers in parentheses (ParseVector), which need not stand apart from these here."""
    found: list[str] = []
    while len(found) < count and words.at_argument():
        found += words.argument().replace("(", " ").replace(")", " ").split()
    if words.at_argument() and words.peek() == ")":
        words.word()
    return tuple(number(word) for word in (found + ["0"] * count)[:count])


def _gen(words: Cursor, *, is_alpha: bool) -> Gen | None:
    kind = fold(words.argument())
    if kind == "wave":
        return Gen(kind, wave=_wave(words))
    if kind == "const":
        return Gen(kind, words.numbers(1) if is_alpha else _vector(words, 3))
    if kind == "portal":
        return Gen(kind, words.numbers(1))
    return Gen(kind) if kind else None


def _rgb_gen(reading: _Reading) -> None:
    found = _gen(reading.words, is_alpha=False)
    if found is not None:
        reading.stage.rgb_gen, reading.has_rgb = found, True
        if found.kind == "vertex" and reading.stage.alpha_gen.kind == "identity":
            reading.stage.alpha_gen = Gen("vertex")


def _alpha_gen(reading: _Reading) -> None:
    reading.stage.alpha_gen = _gen(reading.words, is_alpha=True) or reading.stage.alpha_gen


def _tc_gen(reading: _Reading) -> None:
    kind = fold(reading.words.argument())
    reading.stage.tc_gen = "base" if kind in {"texture", ""} else kind
    if kind == "vector":
        reading.stage.tc_vectors = (*_vector(reading.words, 3), *_vector(reading.words, 3))


def _tc_mod(reading: _Reading) -> None:
    words = Cursor(reading.words.rest())
    kind = fold(words.argument())
    if kind == "stretch":
        reading.stage.tc_mods = grown(reading.stage.tc_mods, TcMod(kind, wave=_wave(words)))
    elif kind in TC_MODS:
        reading.stage.tc_mods = grown(reading.stage.tc_mods, TcMod(kind, words.numbers(TC_MODS[kind])))


def _depth_write(reading: _Reading) -> None:
    reading.wants_depth = reading.stage.depth_write = True


def _depth_func(reading: _Reading) -> None:
    reading.stage.depth_func = fold(reading.words.argument()) or reading.stage.depth_func


def _detail(reading: _Reading) -> None:
    reading.stage.detail = True


def _glow(reading: _Reading) -> None:
    reading.stage.glow = True


def _role(reading: _Reading) -> None:
    reading.stage.role = ROLES.get(fold(reading.words.argument()), reading.stage.role)


STAGE: dict[str, Callable[[_Reading], None]] = {
    "map": _map, "clampmap": _clamp_map, "animmap": _anim_map, "videomap": _video_map, "alphafunc": _alpha_func,
    "blendfunc": _blend_func, "rgbgen": _rgb_gen, "alphagen": _alpha_gen, "tcgen": _tc_gen, "texgen": _tc_gen,
    "tcmod": _tc_mod, "depthwrite": _depth_write, "depthfunc": _depth_func, "detail": _detail, "glow": _glow,
    "stage": _role, "blend": _blend,
}  # fmt: skip
