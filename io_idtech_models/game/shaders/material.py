"""Materials of Doom 3 and Quake 4: the body of a declaration, by the engine's rules.

Facts (`ParseMaterial`, `ParseStage`, `ParseBlend`, `ParseDeform`, `Parse` of dhewm3's Material.cpp): words are
compared in any case; `diffusemap`, `bumpmap` and `specularmap` before a picture are stages of their own. A stage `{
blend ... map ... }` is lit by `blend diffusemap`, `bumpmap` or `specularmap`, else drawn as it is; two blend factors
are joined by a comma. `twoSided` is seen from both sides. `alphaTest` makes a material perforated, `translucent` and
`forceOpaque` the other two; the last such word counts. Games of this kin know further words: these are noted, and the
rest of their line is skipped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
    Shader,
    Stage,
    TcMod,
    grown,
)

ROLES = {"diffusemap": DIFFUSE, "bumpmap": BUMP, "specularmap": SPECULAR}
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
class _State:
    shader: Shader
    words: Cursor
    stage: Stage
    clamp: bool = False
    colours: list[list[str]] | None = None  # expressions of red, green, blue and alpha

    def unknown(self, word: str) -> None:
        """Note a word that the engine does not know, and skip its line."""
        if word not in self.shader.unknown:
            self.shader.unknown = grown(self.shader.unknown, word)
        self.words.rest()


def parse(body: str, name: str) -> Shader:
    """Return the material whose body, without its outer braces and without comments, is a text. Never fails."""
    words = Cursor(DECL_WORDS.findall(body))
    state = _State(Shader(name, MATERIAL), words, Stage())
    while word := words.word():
        if word == "{":
            _parse_stage(state)
        elif word != "}":
            _parse_general(state, fold(unquoted(word)))
    return state.shader


def _parse_general(state: _State, word: str) -> None:
    shader, words = state.shader, state.words
    if word in GENERAL:
        GENERAL[word](state)
    elif word in ROLES:
        state.stage = Stage(role=ROLES[word], clamp=state.clamp)
        _map(state)
        shader.stages.append(state.stage)
    elif word in COVERAGES:
        shader.coverage = COVERAGES[word]
    elif word in CLAMPS:
        state.clamp = CLAMPS[word]
    elif word in FLAGS:
        shader.flags = grown(shader.flags, word)
    elif word in SKIPPED or word.startswith("qer"):
        words.rest()
    else:
        state.unknown(word)


def _two_sided(state: _State) -> None:
    state.shader.cull = NONE


def _back_sided(state: _State) -> None:
    state.shader.cull = BACK


def _sort(state: _State) -> None:
    state.shader.sort = fold(state.words.argument())


def _polygon_offset(state: _State) -> None:
    word = "".join(state.words.rest()[:2])  # a sign is a word of its own
    state.shader.polygon_offset = number(word) if word else 1.0


def _editor_image(state: _State) -> None:
    program = image_programs.parse(state.words) if state.words.at_argument() else None
    state.shader.editor_image = "" if program is None else next(image_programs.names(program), "")
    state.words.rest()


def _gui_surface(state: _State) -> None:
    state.shader.flags = grown(state.shader.flags, "guisurf")
    state.words.rest()


def _deform(state: _State) -> None:
    kind = fold(state.words.argument())
    if kind not in DEFORMS:
        state.words.rest()
        return
    values = [expressions.value(expressions.read(state.words)) or 0.0 for _ in range(DEFORMS[kind])]
    state.shader.deforms = grown(state.shader.deforms, Deform(kind, tuple(values)))
    if kind in SPRITES:
        state.shader.cull = NONE
    if kind in {"turbulent", "particle", "particle2"}:
        state.words.rest()


GENERAL: dict[str, Callable[[_State], None]] = {
    "twosided": _two_sided, "backsided": _back_sided, "sort": _sort, "polygonoffset": _polygon_offset,
    "qer_editorimage": _editor_image, "deform": _deform,
    "guisurf": _gui_surface,
}  # fmt: skip


# -- stages


def _parse_stage(state: _State) -> None:
    state.stage, state.colours = Stage(clamp=state.clamp), None
    words = state.words
    while (word := words.word()) != "}":
        if word in {"", "{"}:
            state.shader.faults = grown(state.shader.faults, f"'{state.shader.name}': a stage is not closed")
            words.back()
            break
        _parse_word(state, fold(unquoted(word)))
    _set_colours(state)
    state.shader.stages.append(state.stage)


def _parse_word(state: _State, word: str) -> None:
    stage = state.stage
    if word in STAGE:
        STAGE[word](state)
    elif word in CLAMPS:
        stage.clamp = CLAMPS[word]
    elif word in CHANNELS:
        _channel(state, CHANNELS[word])
    elif word in MOVES:
        _move(state, MOVES[word])
    elif word in {"screen", "screen2", "glasswarp"}:
        stage.tc_gen = word
    elif word in STAGE_SKIPPED:
        state.words.rest()
    elif word not in STAGE_FLAGS:
        state.unknown(word)


def _blend(state: _State) -> None:
    words, stage = state.words, state.stage
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


def _map(state: _State) -> None:
    state.stage.program = image_programs.parse(state.words)
    found = () if state.stage.program is None else tuple(image_programs.names(state.stage.program))
    state.stage.maps = found


def _cube_map(state: _State) -> None:
    _map(state)
    state.stage.is_cube = True


def _video_map(state: _State) -> None:
    word = state.words.argument()
    state.stage.video = state.words.argument() if fold(word) == "loop" else word


def _alpha_test(state: _State) -> None:
    found = expressions.value(expressions.read(state.words))
    state.stage.alpha_test = AlphaTest(GREATER, 0.5 if found is None else found)
    state.shader.coverage = PERFORATED


def _tex_gen(state: _State) -> None:
    state.stage.tc_gen = fold(state.words.argument()) or "base"
    if state.stage.tc_gen == "wobblesky":
        state.words.rest()


def _expressions(state: _State, count: int) -> list[list[str]]:
    found = []
    for nth in range(count):
        if nth and state.words.peek() == ",":
            state.words.word()
        found.append(expressions.read(state.words))
    return found


def _move(state: _State, kind: str) -> None:
    default = 1.0 if "scale" in kind else 0.0
    state.stage.tc_mods = grown(state.stage.tc_mods, _tc_mod(kind, _expressions(state, 2), default))


def _rotate(state: _State) -> None:
    state.stage.tc_mods = grown(state.stage.tc_mods, _tc_mod("turn", _expressions(state, 1), 0.0))


def _tc_mod(kind: str, terms: list[list[str]], default: float) -> TcMod:
    return TcMod(kind, *_values(terms, default))


def _values(terms: list[list[str]], default: float) -> tuple[tuple[float, ...], None, tuple[str, ...]]:
    """Return what expressions are at rest, and their texts if one changes: the last fields of `TcMod` and `Gen`."""
    values = [expressions.value(term) for term in terms]
    texts = () if all(map(expressions.is_constant, terms)) else tuple(map(" ".join, terms))
    return tuple(default if value is None else value for value in values), None, texts


def _channel(state: _State, channels: tuple[int, ...]) -> None:
    found = expressions.read(state.words)
    state.colours = state.colours or [WHITE] * 4
    for channel in channels:
        state.colours[channel] = found


def _color(state: _State) -> None:
    state.colours = _expressions(state, 4)


def _colored(state: _State) -> None:
    state.colours = [[f"parm{nth}"] for nth in range(4)]


def _set_colours(state: _State) -> None:
    if state.colours is None:
        return
    if state.colours == [[f"parm{nth}"] for nth in range(4)]:
        state.stage.rgb_gen = state.stage.alpha_gen = Gen("entity")
        return
    gens = []
    for terms in (state.colours[:3], state.colours[3:]):
        numbers, wave, texts = _values(terms, 1.0)
        kind = "expression" if texts else "const"
        gens.append(Gen("identity") if all(term == WHITE for term in terms) else Gen(kind, numbers, wave, texts))
    state.stage.rgb_gen, state.stage.alpha_gen = gens


def _if(state: _State) -> None:
    words = expressions.read(state.words)
    state.stage.condition = " ".join(words)
    state.stage.enabled = expressions.value(words) != 0.0  # what is not known is drawn


def _mask_depth(state: _State) -> None:
    state.stage.depth_write = False


def _vertex_color(state: _State) -> None:
    state.stage.vertex_color = "vertex"


def _inverse_vertex_color(state: _State) -> None:
    state.stage.vertex_color = "inverse"


STAGE: dict[str, Callable[[_State], None]] = {
    "blend": _blend, "map": _map, "cubemap": _cube_map, "cameracubemap": _cube_map, "videomap": _video_map,
    "alphatest": _alpha_test, "texgen": _tex_gen, "rotate": _rotate, "color": _color, "colored": _colored, "if": _if,
    "maskdepth": _mask_depth, "vertexcolor": _vertex_color, "inversevertexcolor": _inverse_vertex_color,
}  # fmt: skip
