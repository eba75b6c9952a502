"""What shader scripts say, of Quake III's kin and of Doom 3's alike: a shader, its stages, and how these are drawn.

Names of kinds are in lower case, as engines compare them; names of pictures stay as they are spelt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from ..lexer import Cursor, fold, unquoted
from .image_programs import Program

SCRIPT, MATERIAL, IMPLICIT = "script", "material", "implicit"  # of Quake III's kin, of Doom 3's, and of a bare picture
COLOR, LIGHTMAP, DIFFUSE, BUMP, SPECULAR = "color", "lightmap", "diffuse", "bump", "specular"
LIT = (DIFFUSE, BUMP, SPECULAR)
FRONT, BACK, NONE = "front", "back", "none"  # which faces are seen: what faces the viewer, what turns away, both
TRANSLUCENT, PERFORATED, OPAQUE = "translucent", "perforated", "opaque"
GREATER, LESS, AT_LEAST = "GT", "LT", "GE"
MOST = 64  # words of a kind that count; engines take 3 deforms and 4 tcMods (MAX_SHADER_DEFORMS, TR_MAX_TEXMODS)
T = TypeVar("T")
ENVIRONMENT = frozenset(("environment", "reflect"))  # texture coordinates that show a reflection


def grown(items: tuple[T, ...], item: T) -> tuple[T, ...]:
    """Return some items with a further one, as long as there are not too many for any engine."""
    return (*items, item) if len(items) < MOST else items


class Blend(NamedTuple):
    """What a stage's colour, and what lies behind it, are multiplied with before they are added: OpenGL's names."""

    src: str
    dst: str

    @property
    def is_opaque(self) -> bool:
        """Tell whether nothing shows through: GL_ONE GL_ZERO is no blending (ParseStage)."""
        return self.dst == "GL_ZERO" and "DST" not in self.src


ADD, FILTER = Blend("GL_ONE", "GL_ONE"), Blend("GL_DST_COLOR", "GL_ZERO")
ALPHA = Blend("GL_SRC_ALPHA", "GL_ONE_MINUS_SRC_ALPHA")
UNDRAWN = Blend("GL_ZERO", "GL_ONE")  # Doom 3's `blend none`: an alpha mask


class AlphaTest(NamedTuple):
    """Which texels are drawn: those whose alpha is greater (GT), less (LT) or at least (GE) the value, 0 to 1."""

    func: str
    value: float


class Wave(NamedTuple):
    """A value that swings: base + amplitude * func(phase + time * frequency)."""

    func: str  # sin, square, triangle, sawtooth, inversesawtooth, noise
    base: float
    amplitude: float
    phase: float
    frequency: float


@dataclass(frozen=True)
class Gen:
    """Where a colour, or an alpha, comes from.

    Kinds are Quake III's `identity`, `identitylighting`, `const`, `wave`, `vertex`, `exactvertex`, `entity`,
    `lightingdiffuse`, ... ; of Doom 3 `identity`, `const`, and `expression` for what is no constant. There `entity` is
    `colored`, the colour that the game gives a thing.
    """

    kind: str
    numbers: tuple[float, ...] = ()  # of `const` and `expression`: what they are at rest; of `portal` the range
    wave: Wave | None = None
    terms: tuple[str, ...] = ()  # of `expression`


@dataclass(frozen=True)
class TcMod:
    """A change of texture coordinates; they apply one after another.

    Of Quake III: `scroll` s t (per second), `scale` s t, `rotate` degrees per second about the middle, `turb` base
    amplitude phase frequency, `stretch` with a wave, `transform` m00 m01 m10 m11 t0 t1, `entitytranslate`, ET's `swap`.
    Of Doom 3: `translate` s t (its `scroll` too, whose motion is in the expression), `scale`, `centerscale` and `shear`
    s t, `turn` by cycles about the middle. What is no constant there has its `terms`, and its `numbers` at rest.
    """

    kind: str
    numbers: tuple[float, ...] = ()
    wave: Wave | None = None
    terms: tuple[str, ...] = ()


@dataclass(frozen=True)
class Deform:
    """A change of vertices: `autosprite`, `autosprite2`, `wave` div, `bulge` width height speed, `move` x y z, ..."""

    kind: str
    numbers: tuple[float, ...] = ()
    wave: Wave | None = None


@dataclass
class Stage:
    """A layer. `maps` are names of pictures: one, or the frames of an animation, or those within a `program`."""

    maps: tuple[str, ...] = ()
    fps: float = 0.0  # of several frames
    program: Program | None = None  # of Doom 3: how pictures are made into one
    video: str = ""
    is_cube: bool = False
    clamp: bool = False
    role: str = COLOR
    blend: Blend | None = None
    alpha_test: AlphaTest | None = None
    rgb_gen: Gen = field(default_factory=lambda: Gen("identity"))
    alpha_gen: Gen = field(default_factory=lambda: Gen("identity"))
    vertex_color: str = ""  # of Doom 3: "vertex" or "inverse"
    tc_gen: str = "base"  # base, lightmap, environment, vector; of Doom 3 reflect, skybox, normal, screen, ...
    tc_vectors: tuple[float, ...] = ()  # of `vector`: three for s, three for t
    tc_mods: tuple[TcMod, ...] = ()
    depth_write: bool = True
    depth_func: str = "lequal"
    detail: bool = False
    glow: bool = False  # it is marked as glowing
    condition: str = ""  # of Doom 3: when it is drawn
    enabled: bool = True  # whether that holds at rest

    @property
    def map(self) -> str:
        """Return its picture, the first of several; "" without one."""
        return self.maps[0] if self.maps else ""

    @property
    def is_builtin(self) -> bool:
        """Tell whether its picture is none of a file: `$whiteimage`, `*white`, `_white`, ..."""
        return is_builtin(self.map)

    @property
    def is_environment(self) -> bool:
        """Tell whether it shows a reflection, and no texture of the surface."""
        return self.tc_gen in ENVIRONMENT

    @property
    def is_drawn(self) -> bool:
        """Tell whether it shows something: a stage without a picture does not (FinishShader)."""
        return bool(self.maps or self.video) and self.enabled and self.blend != UNDRAWN


@dataclass
class Shader:
    """What a script says of a name."""

    name: str
    kind: str = SCRIPT
    file: str = ""  # the script's name
    line: int = 0  # in which its name stands there
    stages: list[Stage] = field(default_factory=list)
    cull: str = FRONT
    sort: str = ""
    polygon_offset: float = 0.0
    surface_parms: tuple[str, ...] = ()
    deforms: tuple[Deform, ...] = ()
    editor_image: str = ""
    editor_trans: float | None = None  # how opaque editors show it
    implicit: str = ""  # the picture of ET's implicitMap, implicitMask or implicitBlend, which is its first stage
    coverage: str = ""  # of Doom 3: translucent, perforated or opaque, as the words say
    sky: bool = False
    flags: tuple[str, ...] = ()  # words without arguments: nomipmaps, noshadows, ...
    unknown: tuple[str, ...] = ()  # words that no engine of its kind knows: most show their default picture then
    faults: tuple[str, ...] = ()  # what is wrong with its text, in words

    @property
    def nodraw(self) -> bool:
        """Tell whether it is meant not to be seen: by `surfaceparm nodraw`, or as a material without a stage.

        The former counts where levels are compiled: engines draw what stages such a shader has on a model.
        """
        seen = self.kind != MATERIAL or self.stages or self.faults or "guisurf" in self.flags
        return "nodraw" in self.surface_parms or not seen

    @property
    def two_sided(self) -> bool:
        """Tell whether both sides of a face are seen."""
        return self.cull == NONE

    @property
    def is_sprite(self) -> bool:
        """Tell whether its faces turn to the viewer."""
        return any(deform.kind in {"autosprite", "autosprite2", "sprite", "tube", "flare"} for deform in self.deforms)


def is_builtin(name: str) -> bool:
    """Tell whether a picture's name means one that engines make themselves; Doom 3's begin with `_`, in no folder."""
    return name[:1] in {"$", "*"} or (name[:1] == "_" and "/" not in name)


@dataclass
class Reading:
    """A shader and a stage of it, while they are read."""

    shader: Shader
    words: Cursor
    stage: Stage = field(default_factory=Stage)

    def stage_words(self) -> Iterator[str]:
        """Yield the words of a stage up to behind its closing brace, in lower case.

        One that opens within it is the next: a brace is missing.
        """
        while (word := self.words.word()) != "}":
            if word in {"", "{"}:
                self.shader.faults = grown(self.shader.faults, f"'{self.shader.name}': a stage is not closed")
                self.words.back()
                return
            yield fold(unquoted(word))

    def unknown(self, word: str) -> None:
        """Note a word that the engine does not know, and skip its line."""
        if word not in self.shader.unknown:
            self.shader.unknown = grown(self.shader.unknown, word)
        self.words.rest()


def read_sort(reading: Reading) -> None:
    """Read which surfaces are drawn before."""
    reading.shader.sort = fold(reading.words.argument())
