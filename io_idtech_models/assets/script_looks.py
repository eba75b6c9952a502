"""Scripts of shaders to looks.

What is approximated: texture coordinates that wobble (`turb`) or follow a light do not; what swings (`wave`) stands
still at its middle; of an animation the first picture is shown; cube maps are left out. Faces that turn to the viewer,
and vertices that move, do neither. The alpha of what is drawn (GL_DST_ALPHA) is 1: engines ask for none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import cos, pi, sin

from ..game.search import game_name
from ..game.shaders import shader_looks
from ..game.shaders.model import (
    AT_LEAST,
    BUMP,
    LESS,
    LIGHTMAP,
    LIT,
    MATERIAL,
    SPECULAR,
    AlphaTest,
    Blend,
    Gen,
    Shader,
    Stage,
    TcMod,
    Wave,
)
from ..game.store import GameFile
from ..model.surface_look import (
    ADD,
    ALPHA,
    DARKEN,
    HIDDEN,
    MULTIPLY,
    OPAQUE,
    STILL,
    UNSEEN,
    Clip,
    Layer,
    Look,
    Motion,
    Row,
    Texture,
)

FindImage = Callable[[str], GameFile | None]
Rows = tuple[Row, Row]  # of what becomes of (s, t, 1)
DRAWN = {
    shader_looks.OPAQUE: OPAQUE, shader_looks.BLENDED: ALPHA, shader_looks.ADDITIVE: ADD,
    shader_looks.MULTIPLY: MULTIPLY, shader_looks.DARKEN: DARKEN, shader_looks.UNSEEN: UNSEEN,
}  # fmt: skip
Motions = tuple[Motion, Motion, Motion]
FLIP: Rows = (1.0, 0.0, 0.0), (0.0, -1.0, 1.0)  # t is counted from the top, v not
SHINING = "lightingspecular"  # alphaGen that shows a stage where light is reflected
RISING = frozenset(("sawtooth", "inversesawtooth"))  # waves from 0 to 1; the others go from -1 to 1
BRIGHTENING = frozenset(("GL_ONE", "GL_DST_ALPHA"))  # what lies below times 1, and more of it
SLIGHT = 1e-9
TWICE = Blend("GL_DST_COLOR", "GL_SRC_COLOR")  # which multiplies and doubles: a grey of one half changes nothing


def look_of(shader: Shader, find_image: FindImage) -> Look:
    """Return what a script comes to; `find_image` returns the picture that a name means, or None."""
    stages = shader_looks.drawn_stages(shader)
    if not stages or (shader.kind == MATERIAL and shader.nodraw):
        return HIDDEN
    layers = [_layer(stage, find_image) for stage in stages if stage.role not in {BUMP, SPECULAR}]
    shown = [layer for layer in layers if layer is not None]
    if shader.kind == MATERIAL:
        shown = _of_material(shader, shown)
    bump, shine = shader_looks.bump_stage(shader), shader_looks.specular_stage(shader)
    return Look(
        tuple(shown) or HIDDEN.layers,
        two_sided=shader.two_sided or shader.is_sprite,  # which here does not turn, and is not to vanish
        normal=None if bump is None else _texture(bump, find_image),
        normal_is_height=bump is not None and shader_looks.is_height(bump),
        specular=None if shine is None else _texture(shine, find_image),
    )


def _of_material(shader: Shader, layers: list[Layer]) -> list[Layer]:
    """Return the layers of a material of Doom 3: of lit ones the diffuse first, tested as one of them is."""
    if not layers and shader_looks.base_image(shader) == shader_looks.WHITE:
        layers = [Layer()]
    whole = shader_looks.transparency(shader)
    if whole.kind == shader_looks.CLIP and whole.clip is not None and layers:
        first = layers[0]
        layers[0] = Layer(first.texture, OPAQUE, first.color, first.alpha, first.lit, _clip(whole.clip))
    return layers


def _layer(stage: Stage, find_image: FindImage) -> Layer | None:
    """Return what a stage comes to; None for one that shows nothing that can be shown."""
    alpha = _level(stage.alpha_gen)
    if stage.is_cube or stage.video:
        return None
    texture = None if stage.is_builtin or stage.role == LIGHTMAP else _texture(stage, find_image)
    if texture is None and not (stage.is_builtin or stage.role == LIGHTMAP):
        return None
    blend, drawn = stage.blend, DRAWN[shader_looks.blend_kind(stage.blend)]
    if drawn == UNSEEN:
        return None
    return Layer(
        texture,
        drawn,
        _color(stage.rgb_gen, 2.0 if stage.blend == TWICE else 1.0),
        alpha,
        lit=stage.role in LIT or stage.rgb_gen.kind.startswith(shader_looks.LIGHT),
        clip=None if stage.alpha_test is None else _clip(stage.alpha_test),
        inverted=drawn == ALPHA and blend is not None and blend.dst == "GL_SRC_ALPHA",
        weighted=blend is not None
        and ((drawn == ADD and blend.src == "GL_SRC_ALPHA") or (drawn == DARKEN and "SRC_ALPHA" in blend.dst)),
        whole=drawn == ALPHA and blend is not None and blend.src == "GL_ONE",
        keeps=blend is not None and blend.src == "GL_DST_COLOR" and blend.dst in BRIGHTENING,
        shines=stage.alpha_gen.kind == SHINING,
    )


def _texture(stage: Stage, find_image: FindImage) -> Texture | None:
    picture = next((found for found in map(find_image, stage.maps) if found is not None), None)
    if picture is None:
        return None
    rows, motions, turn = _movement(stage.tc_mods)
    return Texture(picture, game_name(picture), stage.clamp, stage.is_environment, rows, motions, turn)


def _clip(test: AlphaTest) -> Clip:
    return Clip(test.value - SLIGHT if test.func == AT_LEAST else test.value, below=test.func == LESS)


def _middle(wave: Wave) -> float:
    """Return the middle of what a wave goes through."""
    return wave.base + (0.5 * wave.amplitude if wave.func in RISING else 0.0)


def _level(gen: Gen) -> float:
    """Return an alpha at rest."""
    if gen.wave is not None:
        return min(max(_middle(gen.wave), 0.0), 1.0)
    return gen.numbers[0] if gen.kind in {"const", "expression"} and gen.numbers else 1.0


def _color(gen: Gen, times: float) -> tuple[float, float, float]:
    """Return a colour at rest, what swings at its middle, so many times as bright."""
    r, g, b = _color_once(gen)
    return times * r, times * g, times * b


def _color_once(gen: Gen) -> tuple[float, float, float]:
    if gen.wave is not None:
        level = min(max(_middle(gen.wave), 0.0), 1.0)
        return level, level, level
    if gen.kind in {"const", "expression"} and len(gen.numbers) >= 3:
        r, g, b = (min(max(number, 0.0), 1.0) for number in gen.numbers[:3])
        return r, g, b
    return 1.0, 1.0, 1.0


# -- texture coordinates


def _movement(mods: Sequence[TcMod]) -> tuple[tuple[Row, Row], tuple[Motions, ...], float]:
    """Return the rows of `Texture`, their motions (() if nothing moves), and the speed of what turns."""
    speeds = [mod.numbers[0] for mod in mods if mod.kind == "rotate" and mod.numbers]
    turn = -speeds[0] * pi / 180.0 if speeds else 0.0
    rest, scrolled = _matrix(mods), _matrix(mods, time=1.0)
    quarter, half = _matrix(mods, angle=pi / 2), _matrix(mods, angle=pi)

    def motion(row: int, column: int) -> Motion:
        still, later, at_quarter, at_half = (m[row][column] for m in (rest, scrolled, quarter, half))
        numbers = (later - still, (still - at_half) / 2.0, at_quarter - (still + at_half) / 2.0)
        return Motion(*(number if abs(number) > SLIGHT else 0.0 for number in numbers))

    motions = tuple((motion(row, 0), motion(row, 1), motion(row, 2)) for row in range(2))
    moves = any(each != Motion() for row in motions for each in row)
    return rest, motions if moves else (), turn


def _matrix(mods: Sequence[TcMod], time: float = 0.0, angle: float = 0.0) -> Rows:
    """Return what changes of texture coordinates come to, from (u, v) to (u, v): t is counted from the top, v not."""
    whole = FLIP
    for mod in mods:
        whole = _after(_step(mod, time, angle), whole)
    return _after(FLIP, whole)


def _step(mod: TcMod, time: float, angle: float) -> Rows:
    """Return one change of (s, t): RB_CalcScrollTexCoords and its kin, and Doom 3's RB_GetShaderTextureMatrix."""
    numbers = mod.numbers
    if mod.kind == "scroll":
        numbers = tuple(number * time for number in numbers)
    elif mod.kind == "rotate":
        numbers = (angle,)
    elif mod.kind == "stretch":
        size = 0.0 if mod.wave is None else _middle(mod.wave)
        numbers = () if abs(size) < SLIGHT else (1.0 / size,) * 2
    count, make = STEPS.get(mod.kind, (0, None))
    return STILL if make is None or len(numbers) < count else make(*numbers[:count])


def _after(second: Rows, first: Rows) -> Rows:
    """Return one change and then another."""

    def row(own: Row) -> Row:
        u, v, one = (own[0] * first[0][n] + own[1] * first[1][n] for n in range(3))
        return u, v, one + own[2]

    return row(second[0]), row(second[1])


def _shifted(s: float, t: float) -> Rows:
    return (1.0, 0.0, s), (0.0, 1.0, t)


def _about_middle(a: float, b: float, c: float, d: float) -> Rows:
    """Return s' = a s + b t, t' = c s + d t, with (0.5, 0.5) where it was."""
    return _after(_shifted(0.5, 0.5), _after(((a, b, 0.0), (c, d, 0.0)), _shifted(-0.5, -0.5)))


def _turned(angle: float) -> Rows:
    return _about_middle(cos(angle), -sin(angle), sin(angle), cos(angle))


def _stretched(s: float, t: float) -> Rows:
    return _about_middle(s, 0.0, 0.0, t)


STEPS: dict[str, tuple[int, Callable[..., Rows]]] = {  # how many numbers a change has, and what it is
    "scroll": (2, _shifted),
    "translate": (2, _shifted),
    "scale": (2, lambda s, t: ((s, 0.0, 0.0), (0.0, t, 0.0))),
    "rotate": (1, _turned),
    "turn": (1, lambda cycles: _turned(2.0 * pi * cycles)),
    "centerscale": (2, _stretched),
    "stretch": (2, _stretched),
    "shear": (2, lambda s, t: _about_middle(1.0, s, t, 1.0)),
    "transform": (6, lambda a, b, c, d, s, t: ((a, c, s), (b, d, t))),
    "swap": (0, lambda: ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0))),
}
