"""What a shader comes to where one picture and one kind of transparency must do: for materials of other programs.

The choices are made for models, on which `$lightmap` is white. Of Doom 3's materials they follow `idMaterial::Parse`
and `AddImplicitStages`: what is lit is opaque unless it says `translucent`; else the first stage decides.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..lexer import fold
from . import image_programs
from .model import (
    ALPHA,
    BUMP,
    COLOR,
    DIFFUSE,
    LIGHTMAP,
    LIT,
    MATERIAL,
    PERFORATED,
    SPECULAR,
    TRANSLUCENT,
    UNDRAWN,
    AlphaTest,
    Blend,
    Shader,
    Stage,
    is_builtin,
)

OPAQUE, CLIP, BLENDED, ADDITIVE, MULTIPLY, DARKEN, UNSEEN = (
    "opaque", "clip", "alpha", "additive", "multiply", "darken", "unseen",
)  # fmt: skip
LIGHT = ("lighting", "vertex", "exactvertex", "oneminusvertex")  # what rgbGen that is light begins with
WHITE, CURRENT_RENDER = "_white", "_currentrender"  # Doom 3's pictures
ADDING = frozenset((
    Blend("GL_ONE", "GL_ONE"), Blend("GL_SRC_ALPHA", "GL_ONE"), Blend("GL_ONE", "GL_ONE_MINUS_SRC_COLOR"),
    Blend("GL_ONE_MINUS_DST_COLOR", "GL_ONE"),
))  # fmt: skip


@dataclass(frozen=True)
class Transparency:
    """How a shader lets show through what lies behind it.

    `kind` is `opaque`; `clip`, opaque where the alpha passes the test; `alpha`; `additive`, its colour added to what
    lies behind; `multiply`, what lies behind times its colour; `darken`, what lies behind times what its alpha, or
    colour, lacks; or `unseen`. `clip` is the test of any of these. `inverted`: what is transparent is where alpha is
    1. `premultiplied`: the colour is not to be multiplied with the alpha.
    """

    kind: str
    clip: AlphaTest | None = None
    inverted: bool = False
    premultiplied: bool = False


def blend_kind(blend: Blend | None) -> str:
    """Return the kind of transparency that a stage's blend is."""
    if blend is None or blend.is_opaque:
        return OPAQUE
    if blend in ADDING:
        return ADDITIVE
    if blend.src == "GL_ZERO":
        return {"GL_SRC_COLOR": MULTIPLY, "GL_ONE": UNSEEN, "GL_ZERO": OPAQUE}.get(blend.dst, DARKEN)
    if blend.src == "GL_DST_COLOR" or blend == ("GL_ONE_MINUS_DST_COLOR", "GL_ZERO"):
        return MULTIPLY
    if "SRC_ALPHA" in blend.dst:
        return BLENDED
    return ADDITIVE if blend.dst == "GL_ONE" else BLENDED


def drawn_stages(shader: Shader) -> list[Stage]:
    """Return the stages that show something, in order."""
    return [stage for stage in shader.stages if stage.is_drawn]


def _is_texture(stage: Stage) -> bool:
    """Tell whether a stage shows a picture by the surface's own texture coordinates."""
    return bool(stage.map) and stage.role not in {LIGHTMAP, BUMP, SPECULAR} and not (
        stage.is_builtin or stage.is_environment or stage.is_cube
    )  # fmt: skip


def base_stage(shader: Shader) -> Stage | None:
    """Return the stage whose picture shows best what a surface is: None where there is none with such a picture.

    Of Quake III's kin the first that is no light map, no reflection and no picture of the engine, and opaque or tested
    for alpha; else the first that multiplies; else that blends; else that adds. Of Doom 3 the first diffuse stage;
    else, without a picture for editors, the first of an unlit stage.
    """
    if shader.kind == MATERIAL:
        diffuse = next((stage for stage in shader.stages if stage.role == DIFFUSE and stage.map), None)
        if diffuse is not None or shader.editor_image or bump_stage(shader) is not None:
            return diffuse
        return next((stage for stage in shader.stages if stage.role == COLOR and _is_texture(stage)), None)
    stages = [stage for stage in shader.stages if _is_texture(stage)]
    diffuse = next((stage for stage in stages if stage.role == DIFFUSE), None)
    ranks = {OPAQUE: 0, MULTIPLY: 1, BLENDED: 2, ADDITIVE: 3}
    ranked = [(0 if stage.alpha_test else ranks.get(blend_kind(stage.blend), 4), stage) for stage in stages]
    return diffuse or min(ranked, key=lambda pair: pair[0], default=(0, None))[1]


def base_image(shader: Shader) -> str:
    """Return the name of the picture that shows best what a surface is.

    Where no stage has one it is `implicit`, the one for editors, or the shader's own name. Of a material of Doom 3 with
    nothing but a normal map it is `_white`, as in the game.
    """
    stage = base_stage(shader)
    if stage is not None:
        return stage.map
    if shader.editor_image and not (shader.kind == MATERIAL and _only_bump(shader)):
        return shader.editor_image
    if shader.kind == MATERIAL and _only_bump(shader):
        return WHITE
    return shader.implicit or shader.name


def _only_bump(shader: Shader) -> bool:
    """Tell whether the game adds a white diffuse stage (AddImplicitStages)."""
    roles = {stage.role for stage in shader.stages}
    return BUMP in roles and not roles & {DIFFUSE, SPECULAR} and all(s.tc_gen != "reflect" for s in shader.stages)


def bump_stage(shader: Shader) -> Stage | None:
    """Return the first stage with a normal map that is no picture of the engine, or None: the surface is flat."""
    found = (stage for stage in shader.stages if stage.role == BUMP and stage.map)
    return next((stage for stage in found if not is_builtin(stage.map)), None)


def is_height(stage: Stage) -> bool:
    """Tell whether the picture of a stage with a normal map is a height, of which the game makes normals."""
    return stage.program is not None and not image_programs.is_normal_map(stage.program)


def specular_stage(shader: Shader) -> Stage | None:
    """Return the first stage with a picture of how much a surface shines."""
    return next((stage for stage in shader.stages if stage.role == SPECULAR and stage.map), None)


def transparency(shader: Shader) -> Transparency:
    """Return how a shader lets show through what lies behind it."""
    stages = drawn_stages(shader)
    if shader.kind == MATERIAL:
        return _material_transparency(shader, stages)
    return _stage_transparency(stages[0]) if stages else Transparency(OPAQUE)


def _stage_transparency(stage: Stage) -> Transparency:
    kind = blend_kind(stage.blend)
    if kind == OPAQUE:
        return Transparency(CLIP if stage.alpha_test else OPAQUE, stage.alpha_test)
    blend = stage.blend or ALPHA
    inverted = kind == BLENDED and blend.dst == "GL_SRC_ALPHA"
    return Transparency(kind, stage.alpha_test, inverted, kind == BLENDED and blend.src == "GL_ONE")


def _material_transparency(shader: Shader, stages: list[Stage]) -> Transparency:
    if _is_translucent(shader):
        drawn = [stage for stage in stages if stage.role == COLOR and not stage.is_builtin]
        first = next((s for s in drawn if blend_kind(s.blend) != OPAQUE), drawn[0] if drawn else None)
        if first is not None:
            return _stage_transparency(first)
        lit = any(stage.role in LIT for stage in stages)  # what is lit is added, and nothing else is drawn
        return Transparency(ADDITIVE if lit else UNSEEN)
    tests = [stage for stage in shader.stages if stage.alpha_test]
    test = next((stage.alpha_test for stage in tests if stage.role == DIFFUSE), tests[0].alpha_test if tests else None)
    return Transparency(CLIP, test) if test and shader.coverage == PERFORATED else Transparency(OPAQUE)


def _is_translucent(shader: Shader) -> bool:
    """Tell whether a material of Doom 3 lets show through what lies behind it (the coverage of idMaterial::Parse)."""
    if any(fold(stage.map) == CURRENT_RENDER for stage in shader.stages):
        return True
    if shader.coverage:
        return shader.coverage == TRANSLUCENT
    if any(stage.role in LIT for stage in shader.stages):
        return False
    first = shader.stages[0].blend if shader.stages else UNDRAWN
    return first is not None and not first.is_opaque
