"""What a surface looks like in a game, as far as it can be shown elsewhere: textures in layers.

Texture coordinates have their origin at the bottom left, as in `model.vertex`. Time is in seconds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

# How a layer is drawn over those below it, and a whole look over what lies behind it.
OPAQUE = "opaque"
ALPHA = "alpha"  # as much of it as its alpha says
ADD = "add"
MULTIPLY = "multiply"
DARKEN = "darken"  # what lies behind, times what its alpha or its colour lacks
UNSEEN = "unseen"

# Where the light comes from that layers shine in: of a model as it stands (RB_CalcSpecularAlpha's lightOrigin).
SHINE = (-960.0, 1980.0, 96.0)
SHARPNESS = 4.0  # the power of the cosine between that light's reflection and the viewer

Row = tuple[float, float, float]
STILL: tuple[Row, Row] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))


class Motion(NamedTuple):
    """How a number of a texture's matrix moves: speed * time + cosine * cos(w * time) + sine * sin(w * time)."""

    speed: float = 0.0
    cosine: float = 0.0
    sine: float = 0.0


class Texture(NamedTuple):
    """A picture on a surface: at (u, v) it shows what it has at (row . (u, v, 1) of both rows)."""

    picture: Any  # a file, as `game.store.GameFile` is one
    name: str = ""  # what the game calls it
    clamp: bool = False  # beyond its edges it shows these, and does not repeat
    reflects: bool = False  # it is seen as a reflection, wherever the surface's own coordinates are
    rows: tuple[Row, Row] = STILL  # at rest
    motions: tuple[tuple[Motion, Motion, Motion], ...] = ()  # of both rows' numbers; () if it never moves
    turn: float = 0.0  # w of these motions, radians a second


class Clip(NamedTuple):
    """Which texels are drawn: those whose alpha is above the threshold, or (`below`) under it."""

    threshold: float
    below: bool


class Layer(NamedTuple):
    """A texture, or plain white, times a colour, and how it is drawn over the layers below."""

    texture: Texture | None = None
    drawn: str = OPAQUE  # OPAQUE, ALPHA, ADD, MULTIPLY or DARKEN
    color: tuple[float, float, float] = (1.0, 1.0, 1.0)
    alpha: float = 1.0
    lit: bool = True  # lights of the scene light it; else it is always as bright as it is
    clip: Clip | None = None
    inverted: bool = False  # its alpha says how much of it is not seen
    weighted: bool = False  # of ADD: as much of it is added as its alpha says
    whole: bool = False  # of ALPHA: its alpha says what is seen of what lies below, and all of its colour is added
    keeps: bool = False  # of MULTIPLY: what lies below stays, and as much more of it as the colour says is added
    shines: bool = False  # its alpha is as strong as a light is reflected: see `SHINE`


class Look(NamedTuple):
    """What a shader comes to. The first layer says how it is drawn over what lies behind: `drawn` of the whole."""

    layers: tuple[Layer, ...]
    two_sided: bool = True
    normal: Texture | None = None
    normal_is_height: bool = False
    specular: Texture | None = None
    lacking: tuple[str, ...] = ()  # names of pictures that it should show, and that are not there

    @property
    def drawn(self) -> str:
        """Return how it is drawn over what lies behind it."""
        return self.layers[0].drawn if self.layers else UNSEEN

    @property
    def textures(self) -> list[Texture]:
        """Return its textures, each once."""
        found = [*(layer.texture for layer in self.layers), self.normal, self.specular]
        return list(dict.fromkeys(texture for texture in found if texture is not None))

    @property
    def base(self) -> Texture | None:
        """Return the texture that shows best what the surface is: the first of its own, or else any."""
        found = [layer.texture for layer in self.layers if layer.texture is not None]
        return next((texture for texture in found if not texture.reflects), next(iter(found), None))

    def plain(self) -> Look:
        """Return what comes nearest with one picture, which is all that many programs' formats hold."""
        if self.base is None or self.drawn == UNSEEN:
            return self
        first = self.layers[0]
        own = next(layer for layer in self.layers if layer.texture == self.base)
        drawn = ALPHA if first.drawn == ALPHA else OPAQUE
        still = self.base._replace(rows=STILL, motions=(), reflects=False)
        clip = first.clip if first.texture == self.base else None
        return self._replace(layers=(Layer(still, drawn, lit=own.lit, clip=clip),))


HIDDEN = Look((Layer(drawn=UNSEEN),))
