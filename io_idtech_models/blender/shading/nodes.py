"""A look to a material's nodes, as close as nodes get: what a game adds, filters and blends layer by layer.

Two sums are kept: what the scene's lights light, and what is as bright as it is. Games reckon with the numbers of
pictures, Blender with light, which is about their 2.2th power: several layers are reckoned with as numbers, and become
light at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import bpy

from ...model.surface_look import ADD, ALPHA, DARKEN, MULTIPLY, OPAQUE, STILL, UNSEEN, Layer, Look, Motion, Texture
from ..compat import Block
from . import node_groups

Color = tuple[float, float, float]
Value = Any  # a node's output, or a Color or float
LoadImage = Callable[[Texture], Any]  # to an image, None if it can't be shown
WHITE, BLACK = (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)
GAMMA = 2.2  # of light over a picture's numbers
BEHIND = frozenset((ALPHA, ADD, MULTIPLY, DARKEN, UNSEEN))  # drawn so, what lies behind shows through


def show_look(material: Block, look: Look, load_image: LoadImage, frame_rate: float = 0.0) -> bool:
    """Make the nodes of a new material; tells whether all its pictures could be shown.

    `frame_rate` lets textures move that do in the game, 0 does not.
    """
    nodes = _Nodes(material, load_image, frame_rate, in_numbers=len(look.layers) > 1)
    nodes.fades = look.drawn == ALPHA
    total = _Sum()
    cover: Value = 1.0
    for nth, layer in enumerate(look.layers):
        color, alpha = nodes.sample(layer)
        share = nodes.share(layer, alpha)
        if nth == 0:
            cover = share
        total = nodes.over(total, layer, color, share, first=nth == 0)
    if look.drawn in {OPAQUE, ALPHA}:
        nodes.finish_surface(total, cover, look)
    else:
        nodes.finish_through(total, look.drawn)
    nodes.add_beyond(total.beyond)
    material.use_backface_culling = not look.two_sided
    if look.drawn in BEHIND:
        material.surface_render_method = "BLENDED"
    base = nodes.textures.get(look.base) if look.base is not None else None
    if base is not None:
        nodes.tree.nodes.active = base  # which the viewport shows without materials, and painting uses
    return not nodes.unread


class _Sum(NamedTuple):
    """What layers come to: what lights light, and what is always so bright."""

    lit: Value = BLACK
    bright: Value = BLACK
    beyond: Value = BLACK  # as bright, and added to what lies behind also where the surface lets that show through


class _Nodes:
    def __init__(self, material: Block, load_image: LoadImage, frame_rate: float, *, in_numbers: bool) -> None:
        if material.node_tree is None:
            material.use_nodes = True  # 5.x has the tree from the start, and warns where this is touched
        self.tree: Block = material.node_tree
        self.load_image, self.frame_rate, self.in_numbers = load_image, frame_rate, in_numbers
        self.surface = next(node for node in self.tree.nodes if node.type == "BSDF_PRINCIPLED")
        self.textures: dict[Texture, Block] = {}
        self.powers: dict[Any, Any] = {}
        self.unread = self.fades = False  # whether as much of the surface is seen as an alpha says
        self.row = 0  # of nodes, from top to bottom

    # -- values

    def node(self, kind: str, column: int) -> Block:
        """Return a new node, so many columns left of the surface's."""
        made: Block = self.tree.nodes.new(f"ShaderNode{kind}")
        x, y = self.surface.location
        made.location = (x - 220.0 * column, y - 60.0 * self.row)
        self.row += 1
        return made

    def put(self, value: Value, socket: Block) -> None:
        """Let a socket have a value."""
        if isinstance(value, bpy.types.NodeSocket):
            self.tree.links.new(value, socket)
        elif isinstance(value, float):
            socket.default_value = value if socket.type == "VALUE" else (value, value, value, 1.0)
        else:
            socket.default_value = (*value, 1.0)

    def mixed(self, kind: str, a: Value, b: Value, factor: Value = 1.0, *, most: bool = True) -> Value:
        """Return two colours that are mixed, added (up to white, if that is the `most`) or multiplied.

        What needs no node has none.
        """
        if factor == 0.0 or (kind == "ADD" and b == BLACK) or (kind == "MULTIPLY" and b == WHITE):
            return a
        if kind == "MULTIPLY" and factor == 1.0 and BLACK in (a, b):
            return BLACK
        if (kind == "MIX" and factor == 1.0) or (factor == 1.0 and (kind, a) in {("MULTIPLY", WHITE), ("ADD", BLACK)}):
            return b
        mix = self.node("Mix", 1)
        mix.data_type, mix.blend_type, mix.clamp_result = "RGBA", kind, kind == "ADD" and most
        for name, value in (("Factor_Float", factor), ("A_Color", a), ("B_Color", b)):
            self.put(value, next(socket for socket in mix.inputs if socket.identifier == name))
        return next(socket for socket in mix.outputs if socket.identifier == "Result_Color")

    def number(self, operation: str, a: Value, b: Value) -> Value:
        """Return what a sum comes to."""
        if isinstance(a, float) and isinstance(b, float):
            return {
                "MULTIPLY": a * b, "SUBTRACT": a - b, "GREATER_THAN": float(a > b), "LESS_THAN": float(a < b),
            }[operation]  # fmt: skip
        if operation == "MULTIPLY" and 1.0 in (a, b):
            return a if b == 1.0 else b
        math = self.node("Math", 1)
        math.operation = operation
        self.put(a, math.inputs[0])
        self.put(b, math.inputs[1])
        return math.outputs[0]

    def power(self, color: Value, exponent: float) -> Value:
        """Return a colour to a power."""
        if not isinstance(color, bpy.types.NodeSocket):
            return tuple(part**exponent for part in color)
        if color not in self.powers:
            node = self.node("Gamma", 1)
            self.put(exponent, node.inputs["Gamma"])
            self.tree.links.new(color, node.inputs["Color"])
            self.powers[color] = node.outputs["Color"]
        return self.powers[color]

    def light(self, total: _Sum) -> _Sum:
        """Return what layers come to as light."""
        if not self.in_numbers:
            return total
        return self.each(total, lambda part: self.power(part, GAMMA))

    # -- layers

    def sample(self, layer: Layer) -> tuple[Value, Value]:
        """Return the colour and the alpha of a layer."""
        tint = layer.color if self.in_numbers else _light(layer.color)
        level = self.shine() if layer.shines and (layer.drawn == ALPHA or layer.weighted or layer.clip) else layer.alpha
        if layer.texture is None:
            return tint, level
        node = self.texture(layer.texture)
        shown = self.power(node.outputs["Color"], 1.0 / GAMMA) if self.in_numbers else node.outputs["Color"]
        color = self.mixed("MULTIPLY", shown, tint)
        return color, self.number("MULTIPLY", node.outputs["Alpha"], level)

    def shine(self) -> Value:
        """Return how strongly the surface reflects the game's light."""
        node = self.node("Group", 2)
        node.node_tree = node_groups.shine()
        return node.outputs["Value"]

    def share(self, layer: Layer, alpha: Value) -> Value:
        """Return how much of a layer is seen, 0 to 1."""
        found: Value = 1.0
        if layer.drawn == ALPHA or layer.weighted:
            found = self.number("SUBTRACT", 1.0, alpha) if layer.inverted else alpha
        if layer.clip is not None:
            kind = "LESS_THAN" if layer.clip.below else "GREATER_THAN"
            found = self.number("MULTIPLY", self.number(kind, alpha, layer.clip.threshold), found)
        return found

    def over(self, below: _Sum, layer: Layer, color: Value, share: Value, *, first: bool) -> _Sum:
        """Return what a layer over others comes to. Of the first its share is the whole look's, not the colour's."""
        if layer.drawn == ADD:
            return self.added(below, layer, color, share, beyond=self.fades and not first)
        if layer.drawn in {OPAQUE, ALPHA}:
            if layer.whole and not layer.lit:
                below = below if first else self.each(below, lambda part: self.mixed("MIX", part, BLACK, share))
                return self.added(below, layer, color, 1.0, beyond=first)
            part = 1.0 if first else share
            lit, bright = (color, BLACK) if layer.lit else (BLACK, color)
            beyond = BLACK if below.beyond == BLACK else self.mixed("MIX", below.beyond, BLACK, part)
            return _Sum(self.mixed("MIX", below.lit, lit, part), self.mixed("MIX", below.bright, bright, part), beyond)
        dark = self.mixed("MIX", WHITE, BLACK, share) if layer.drawn == DARKEN and share != 1.0 else color
        if first:
            return _Sum(BLACK, self.mixed("ADD", WHITE, dark, most=False) if layer.keeps else dark)
        return self.each(below, lambda part: self.times(part, dark, keeps=layer.keeps))

    def added(self, below: _Sum, layer: Layer, color: Value, share: Value, *, beyond: bool) -> _Sum:
        """Return a sum with so much of a colour added: to what is lit, is bright, or shines `beyond` the surface."""
        name = "lit" if layer.lit else "beyond" if beyond else "bright"
        return below._replace(**{name: self.mixed("ADD", getattr(below, name), color, share)})

    def each(self, total: _Sum, change: Callable[[Value], Value]) -> _Sum:
        """Return a sum with every part of it changed that is there."""
        parts = (total.lit, total.bright, total.beyond)
        return _Sum(*(part if part == BLACK else change(part) for part in parts))

    def times(self, below: Value, color: Value, *, keeps: bool) -> Value:
        """Return what lies below times a colour, or times more than 1."""
        found = self.mixed("MULTIPLY", below, color)
        return self.mixed("ADD", below, found) if keeps else found

    def finish_surface(self, total: _Sum, cover: Value, look: Look) -> None:
        """Let the surface's node show what layers come to; as much of it as `cover` says."""
        inputs, total = self.surface.inputs, self.light(total)
        inputs["Roughness"].default_value = 1.0
        inputs["Specular IOR Level"].default_value = 0.0
        self.put(total.lit, inputs["Base Color"])
        if total.bright != BLACK:
            self.put(total.bright, inputs["Emission Color"])
            inputs["Emission Strength"].default_value = 1.0
        if cover != 1.0:
            self.put(cover, inputs["Alpha"])
        if look.normal is not None:
            self.normal(look.normal, is_height=look.normal_is_height)
        if look.specular is not None:
            self.tree.links.new(self.texture(look.specular).outputs["Color"], inputs["Specular Tint"])
            inputs["Specular IOR Level"].default_value, inputs["Roughness"].default_value = 0.5, 0.5

    def finish_through(self, total: _Sum, drawn: str) -> None:
        """Let what lies behind the surface show through, with what layers come to."""
        color = self.mixed("ADD", total.lit, total.bright)
        color = self.power(color, GAMMA) if self.in_numbers else color
        node = self.node("Group", 0)
        node.node_tree = node_groups.additive() if drawn == ADD else node_groups.filtering()
        self.put(WHITE if drawn == UNSEEN else color, node.inputs["Color"])
        output = next(node for node in self.tree.nodes if node.type == "OUTPUT_MATERIAL")
        self.tree.links.new(node.outputs["Shader"], output.inputs["Surface"])
        node.location = self.surface.location
        self.tree.nodes.remove(self.surface)

    def add_beyond(self, color: Value) -> None:
        """Add light to all that the surface shows, and lets show through."""
        if color == BLACK:
            return
        output = next(node for node in self.tree.nodes if node.type == "OUTPUT_MATERIAL")
        light, both = self.node("Emission", 0), self.node("AddShader", -1)
        self.put(self.power(color, GAMMA) if self.in_numbers else color, light.inputs["Color"])
        self.tree.links.new(output.inputs["Surface"].links[0].from_socket, both.inputs[0])
        self.tree.links.new(light.outputs[0], both.inputs[1])
        self.tree.links.new(both.outputs[0], output.inputs["Surface"])
        output.location = (output.location[0] + 220.0, output.location[1])

    def normal(self, texture: Texture, *, is_height: bool) -> None:
        """Let the surface have the bumps of a normal map, or of heights."""
        node = self.texture(texture)
        if node.image is not None:
            node.image.colorspace_settings.name = "Non-Color"
        bump = self.node("Bump" if is_height else "NormalMap", 1)
        self.tree.links.new(node.outputs["Color"], bump.inputs["Height" if is_height else "Color"])
        self.tree.links.new(bump.outputs["Normal"], self.surface.inputs["Normal"])

    # -- textures

    def texture(self, texture: Texture) -> Block:
        """Return the node that shows a texture; each is there once."""
        if texture not in self.textures:
            node = self.node("TexImage", 2)
            node.image = self.load_image(texture)
            self.unread = self.unread or node.image is None
            node.extension = "EXTEND" if texture.clamp else "REPEAT"
            place = self.coordinates(texture)
            if place is not None:
                self.tree.links.new(place, node.inputs["Vector"])
            self.textures[texture] = node
        return self.textures[texture]

    def coordinates(self, texture: Texture) -> Value:
        """Return where a texture is looked up; None for the surface's own coordinates."""
        place = None
        if texture.reflects:
            place = self.node("Group", 4)
            place.node_tree = node_groups.reflection()
        moves = self.frame_rate > 0 and bool(texture.motions)
        if texture.rows == STILL and not moves:
            return None if place is None else place.outputs["Vector"]
        own = self.node("TexCoord", 4).outputs["UV"] if place is None else place.outputs["Vector"]
        matrix = self.node("Group", 3)
        matrix.node_tree = node_groups.matrix()
        self.tree.links.new(own, matrix.inputs["Vector"])
        for nth, name in enumerate(("U", "V")):
            matrix.inputs[name].default_value = texture.rows[nth]
            if moves:
                self.move(matrix.inputs[name], texture.rows[nth], texture.motions[nth], texture.turn)
        return matrix.outputs["Vector"]

    def move(self, socket: Block, row: tuple[float, ...], motions: tuple[Motion, ...], turn: float) -> None:
        """Let a row of a matrix follow the scene's time; a simple expression, which runs without trust in scripts."""
        time = f"frame / {self.frame_rate:g}"
        for index, (value, motion) in enumerate(zip(row, motions, strict=True)):
            if motion == Motion():
                continue
            driver = socket.driver_add("default_value", index).driver
            terms = [f"{value - motion.cosine:.9g}"]
            terms += [f"{motion.cosine:.9g} * cos({turn:.9g} * {time})"] if motion.cosine else []
            terms += [f"{motion.sine:.9g} * sin({turn:.9g} * {time})"] if motion.sine else []
            terms += [f"fmod({motion.speed:.9g} * {time}, 1.0)"] if motion.speed else []
            driver.expression = " + ".join(terms)


def _light(color: Color) -> Color:
    """Return the light that a colour's numbers mean."""
    r, g, b = (part**GAMMA for part in color)
    return r, g, b
