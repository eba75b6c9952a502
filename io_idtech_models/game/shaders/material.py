"""Materials of Doom 3 and Quake 4: the body of a declaration, by the engine's rules.

Facts (`ParseMaterial`, `ParseStage`, `ParseBlend`, `ParseDeform`, `Parse` of dhewm3's Material.cpp): words are
compared in any case; `diffusemap`, `bumpmap` and `specularmap` before a picture are stages of their own. A stage `{
blend ... map ... }` is lit by `blend diffusemap`, `bumpmap` or `specularmap`, else drawn as it is; two blend factors
are joined by a comma. `twoSided` is seen from both sides. `alphaTest` makes a material perforated, `translucent` and
`forceOpaque` the other two; the last such word counts. XreaL (`ParseShader`, tr_shader.c) calls a bumpmap `normalmap`,
too. Games of this kin know further words: these are noted, and the rest of their line is skipped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..lexer import DECL_WORDS, Cursor, fold, number, unquoted
from . import expressions, image_programs
from .model import (
    ADD,
    ALPHA,
    BACK,
    BUMP,
    DIFFUSE,
    FILTER,
    GREATER,
    MATERIAL,
    NONE,
    OPAQUE,
    PERFORATED,
    SPECULAR,
    TRANSLUCENT,
    UNDRAWN,
    AlphaTest,
    Blend,
    Deform,
    Gen,
    Reading,
    Shader,
    Stage,
    TcMod,
    grown,
    read_sort,
)

ROLES = {"diffusemap": DIFFUSE, "bumpmap": BUMP, "normalmap": BUMP, "specularmap": SPECULAR}
BLENDS = {"blend": ALPHA, "add": ADD, "filter": FILTER, "modulate": FILTER, "none": UNDRAWN}
COVERAGES = {"translucent": TRANSLUCENT, "forceopaque": OPAQUE, "mirror": OPAQUE}
CLAMPS = {"clamp": True, "zeroclamp": True, "alphazeroclamp": True, "noclamp": False}
FLAGS = frozenset((
    "noshadows", "noselfshadow", "noportalfog", "forceshadows", "nooverlays", "forceoverlays", "suppressinsubview",
    "portalsky", "foglight", "blendlight", "ambientlight", "nofog", "unsmoothedtangents", "decal_macro",
    # what surfaces are made of (infoParms)
    "solid", "water", "playerclip", "monsterclip", "moveableclip", "ikclip", "blood", "trigger", "aassolid",
    "aasobstacle", "flashlight_trigger", "nonsolid", "nullnormal", "areaportal", "qer_nocarve", "discrete",
    "nofragment", "slick", "collision", "noimpact", "nodamage", "ladder", "nosteps", "metal", "stone", "flesh", "wood",
    "cardboard", "liquid", "glass", "plastic", "ricochet", *(f"surftype{nth}" for nth in range(10, 16)),
))  # fmt: skip
SKIPPED = frozenset(("description", "renderbump", "spectrum", "decalinfo", "lightfalloffimage"))
DEFORMS = {"sprite": 0, "tube": 0, "flare": 1, "expand": 1, "move": 1, "eyeball": 0, "particle": 0, "particle2": 0,
           "turbulent": 0}  # fmt: skip
SPRITES = frozenset(("sprite", "tube", "flare"))  # which are seen from both sides (ParseDeform)
STAGE_FLAGS = frozenset((
    "ignorealphatest", "nearest", "linear", "uncompressed", "highquality", "forcehighquality", "nopicmip", "maskred",
    "maskgreen", "maskblue", "maskalpha", "maskcolor",
))  # fmt: skip
STAGE_SKIPPED = frozenset((
    "name", "remoterendermap", "mirrorrendermap", "xrayrendermap", "program", "fragmentprogram", "vertexprogram",
    "megatexture", "vertexparm", "fragmentmap", "privatepolygonoffset", "soundmap",
))  # fmt: skip
CHANNELS = {"red": (0,), "green": (1,), "blue": (2,), "alpha": (3,), "rgb": (0, 1, 2), "rgba": (0, 1, 2, 3)}
MOVES = {"scroll": "translate", "translate": "translate", "scale": "scale", "centerscale": "centerscale",
         "shear": "shear"}  # fmt: skip
WHITE = ["1"]


@dataclass
class _Reading(Reading):
    clamp: bool = False
    colours: list[list[str]] | None = field(init=False)  # of the stage: expressions of red, green, blue and alpha


def parse(body: str, name: str) -> Shader:
    """Return the material whose body, without its outer braces and without comments, is a text. Never fails."""
    words = Cursor(DECL_WORDS.findall(body))
    reading = _Reading(Shader(name, MATERIAL), words)
    while word := words.word():
        if word == "{":
            _parse_stage(reading)
        elif word != "}":
            _parse_general(reading, fold(unquoted(word)))
    return reading.shader


def _parse_general(reading: _Reading, word: str) -> None:
    shader, words = reading.shader, reading.words
    if word in GENERAL:
        GENERAL[word](reading)
    elif word in ROLES:
        reading.stage = Stage(role=ROLES[word], clamp=reading.clamp)
        _map(reading)
        shader.stages.append(reading.stage)
    elif word in COVERAGES:
        shader.coverage = COVERAGES[word]
    elif word in CLAMPS:
        reading.clamp = CLAMPS[word]
    elif word in FLAGS:
        shader.flags = grown(shader.flags, word)
    elif word in SKIPPED or word.startswith("qer"):
        words.rest()
    else:
        reading.unknown(word)


def _two_sided(reading: _Reading) -> None:
    reading.shader.cull = NONE


def _back_sided(reading: _Reading) -> None:
    reading.shader.cull = BACK


def _polygon_offset(reading: _Reading) -> None:
    word = "".join(reading.words.rest()[:2])  # a sign is a word of its own
    reading.shader.polygon_offset = number(word) if word else 1.0


def _editor_image(reading: _Reading) -> None:
    program = image_programs.parse(reading.words) if reading.words.at_argument() else None
    reading.shader.editor_image = "" if program is None else next(image_programs.names(program), "")
    reading.words.rest()


def _gui_surface(reading: _Reading) -> None:
    reading.shader.flags = grown(reading.shader.flags, "guisurf")
    reading.words.rest()


def _deform(reading: _Reading) -> None:
    kind = fold(reading.words.argument())
    if kind not in DEFORMS:
        reading.words.rest()
        return
    values = [expressions.value(expressions.read(reading.words)) or 0.0 for _ in range(DEFORMS[kind])]
    reading.shader.deforms = grown(reading.shader.deforms, Deform(kind, tuple(values)))
    if kind in SPRITES:
        reading.shader.cull = NONE
    if kind in {"turbulent", "particle", "particle2"}:
        reading.words.rest()


GENERAL: dict[str, Callable[[_Reading], None]] = {
    "twosided": _two_sided, "backsided": _back_sided, "sort": read_sort, "polygonoffset": _polygon_offset,
    "qer_editorimage": _editor_image, "deform": _deform,
    "guisurf": _gui_surface,
}  # fmt: skip


# -- stages


def _parse_stage(reading: _Reading) -> None:
    reading.stage, reading.colours = Stage(clamp=reading.clamp), None
    for word in reading.stage_words():
        _parse_word(reading, word)
    _set_colours(reading)
    reading.shader.stages.append(reading.stage)


def _parse_word(reading: _Reading, word: str) -> None:
    stage = reading.stage
    if word in STAGE:
        STAGE[word](reading)
    elif word in CLAMPS:
        stage.clamp = CLAMPS[word]
    elif word in CHANNELS:
        _channel(reading, CHANNELS[word])
    elif word in MOVES:
        _move(reading, MOVES[word])
    elif word in {"screen", "screen2", "glasswarp"}:
        stage.tc_gen = word
    elif word in STAGE_SKIPPED:
        reading.words.rest()
    elif word not in STAGE_FLAGS:
        reading.unknown(word)


def _blend(reading: _Reading) -> None:
    words, stage = reading.words, reading.stage
    word = unquoted(words.word())
    if fold(word) in ROLES:
        stage.role = ROLES[fold(word)]
    elif fold(word) in BLENDS:
        stage.blend = BLENDS[fold(word)]
    elif word in {"{", "}", ""}:
        words.back()
    else:
        if words.peek() == ",":
            words.word()
        stage.blend = Blend(word.upper(), words.argument().upper() or "GL_ONE")
    if stage.blend == ("GL_ONE", "GL_ZERO"):
        stage.blend = None


def _map(reading: _Reading) -> None:
    reading.stage.program = image_programs.parse(reading.words)
    found = () if reading.stage.program is None else tuple(image_programs.names(reading.stage.program))
    reading.stage.maps = found


def _cube_map(reading: _Reading) -> None:
    _map(reading)
    reading.stage.is_cube = True


def _video_map(reading: _Reading) -> None:
    word = reading.words.argument()
    reading.stage.video = reading.words.argument() if fold(word) == "loop" else word


def _alpha_test(reading: _Reading) -> None:
    found = expressions.value(expressions.read(reading.words))
    reading.stage.alpha_test = AlphaTest(GREATER, 0.5 if found is None else found)
    reading.shader.coverage = PERFORATED


def _tex_gen(reading: _Reading) -> None:
    reading.stage.tc_gen = fold(reading.words.argument()) or "base"
    if reading.stage.tc_gen == "wobblesky":
        reading.words.rest()


def _expressions(reading: _Reading, count: int) -> list[list[str]]:
    found = []
    for nth in range(count):
        if nth and reading.words.peek() == ",":
            reading.words.word()
        found.append(expressions.read(reading.words))
    return found


def _move(reading: _Reading, kind: str) -> None:
    default = 1.0 if "scale" in kind else 0.0
    reading.stage.tc_mods = grown(reading.stage.tc_mods, _tc_mod(kind, _expressions(reading, 2), default))


def _rotate(reading: _Reading) -> None:
    reading.stage.tc_mods = grown(reading.stage.tc_mods, _tc_mod("turn", _expressions(reading, 1), 0.0))


def _tc_mod(kind: str, terms: list[list[str]], default: float) -> TcMod:
    return TcMod(kind, *_values(terms, default))


def _values(terms: list[list[str]], default: float) -> tuple[tuple[float, ...], None, tuple[str, ...]]:
    """Return what expressions are at rest, and their texts if one changes: the last fields of `TcMod` and `Gen`."""
    values = [expressions.value(term) for term in terms]
    texts = () if all(map(expressions.is_constant, terms)) else tuple(map(" ".join, terms))
    return tuple(default if value is None else value for value in values), None, texts


def _channel(reading: _Reading, channels: tuple[int, ...]) -> None:
    found = expressions.read(reading.words)
    reading.colours = reading.colours or [WHITE] * 4
    for channel in channels:
        reading.colours[channel] = found


def _color(reading: _Reading) -> None:
    reading.colours = _expressions(reading, 4)


def _colored(reading: _Reading) -> None:
    reading.colours = [[f"parm{nth}"] for nth in range(4)]


def _set_colours(reading: _Reading) -> None:
    if reading.colours is None:
        return
    if reading.colours == [[f"parm{nth}"] for nth in range(4)]:
        reading.stage.rgb_gen = reading.stage.alpha_gen = Gen("entity")
        return
    gens = []
    for terms in (reading.colours[:3], reading.colours[3:]):
        numbers, wave, texts = _values(terms, 1.0)
        kind = "expression" if texts else "const"
        gens.append(Gen("identity") if all(term == WHITE for term in terms) else Gen(kind, numbers, wave, texts))
    reading.stage.rgb_gen, reading.stage.alpha_gen = gens


def _if(reading: _Reading) -> None:
    words = expressions.read(reading.words)
    reading.stage.condition = " ".join(words)
    reading.stage.enabled = expressions.value(words) != 0.0  # what is not known is drawn


def _mask_depth(reading: _Reading) -> None:
    reading.stage.depth_write = False


def _vertex_color(reading: _Reading) -> None:
    reading.stage.vertex_color = "vertex"


def _inverse_vertex_color(reading: _Reading) -> None:
    reading.stage.vertex_color = "inverse"


STAGE: dict[str, Callable[[_Reading], None]] = {
    "blend": _blend, "map": _map, "cubemap": _cube_map, "cameracubemap": _cube_map, "videomap": _video_map,
    "alphatest": _alpha_test, "texgen": _tex_gen, "rotate": _rotate, "color": _color, "colored": _colored, "if": _if,
    "maskdepth": _mask_depth, "vertexcolor": _vertex_color, "inversevertexcolor": _inverse_vertex_color,
}  # fmt: skip
