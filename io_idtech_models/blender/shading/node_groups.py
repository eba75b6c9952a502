"""Node groups that materials of games share: one for each thing that a plain node can't do.

A group is made when it is first needed, and found again by its mark: who renames or edits it keeps that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy

from ...model.surface_look import SHARPNESS, SHINE
from ..compat import Block
from ..provenance import GROUP

VERSION = 2


def additive() -> Block:
    """Return the group that adds a colour to what lies behind the surface."""
    return _group("Additive", _additive)


def filtering() -> Block:
    """Return the group that lets through what lies behind the surface, times a colour; with white all of it."""
    return _group("Filter", _filter)


def reflection() -> Block:
    """Return the group whose coordinates show a texture as a reflection."""
    return _group("Reflection", _reflection)


def shine() -> Block:
    """Return the group that tells how strongly the surface reflects the game's light towards the viewer, 0 to 1."""
    return _group("Shine", _shine)


def matrix() -> Block:
    """Return the group that moves texture coordinates: U and V are each a row . (u, v, 1)."""
    return _group("Texture Matrix", _matrix)


def _group(kind: str, fill: Callable[[Any, Block, Block], None]) -> Block:
    mark = f"{kind} {VERSION}"
    for known in bpy.data.node_groups:
        if known.get(GROUP) == mark and known.library is None:
            return known
    group: Block = bpy.data.node_groups.new(f"Game {kind}", "ShaderNodeTree")
    group[GROUP] = mark
    given, result = group.nodes.new("NodeGroupInput"), group.nodes.new("NodeGroupOutput")
    given.location, result.location = (-400.0, 0.0), (400.0, 0.0)
    fill(group, given, result)
    return group


def _socket(group: Block, name: str, way: str, kind: str, default: Any = None) -> None:
    made = group.interface.new_socket(name, in_out=way, socket_type=f"NodeSocket{kind}")
    if default is not None:
        made.default_value = default


def _additive(group: Block, given: Block, result: Block) -> None:
    _socket(group, "Color", "INPUT", "Color", (1.0, 1.0, 1.0, 1.0))
    _socket(group, "Shader", "OUTPUT", "Shader")
    through, light, both = (group.nodes.new(f"ShaderNode{n}") for n in ("BsdfTransparent", "Emission", "AddShader"))
    through.location, light.location, both.location = (-100.0, 100.0), (-100.0, -50.0), (150.0, 0.0)
    group.links.new(given.outputs["Color"], light.inputs["Color"])
    group.links.new(through.outputs[0], both.inputs[0])
    group.links.new(light.outputs[0], both.inputs[1])
    group.links.new(both.outputs[0], result.inputs["Shader"])


def _filter(group: Block, given: Block, result: Block) -> None:
    _socket(group, "Color", "INPUT", "Color", (1.0, 1.0, 1.0, 1.0))
    _socket(group, "Shader", "OUTPUT", "Shader")
    through = group.nodes.new("ShaderNodeBsdfTransparent")
    group.links.new(given.outputs["Color"], through.inputs["Color"])
    group.links.new(through.outputs[0], result.inputs["Shader"])


def _reflection(group: Block, given: Block, result: Block) -> None:
    """As RB_CalcEnvironmentTexCoords: y and z of the reflected view in the object's space, from -1 to 1, as 0 to 1."""
    group.nodes.remove(given)
    _socket(group, "Vector", "OUTPUT", "Vector")
    seen, turn = group.nodes.new("ShaderNodeTexCoord"), group.nodes.new("ShaderNodeVectorTransform")
    turn.vector_type, turn.convert_from, turn.convert_to = "NORMAL", "WORLD", "OBJECT"  # of length 1, however scaled
    apart, halves = group.nodes.new("ShaderNodeSeparateXYZ"), group.nodes.new("ShaderNodeCombineXYZ")
    scale = group.nodes.new("ShaderNodeVectorMath")
    scale.operation = "MULTIPLY_ADD"
    scale.inputs[1].default_value, scale.inputs[2].default_value = (0.5, 0.5, 0.0), (0.5, 0.5, 0.0)
    for place, node in enumerate((seen, turn, apart, halves, scale)):
        node.location = (-600.0 + 200.0 * place, 0.0)
    group.links.new(seen.outputs["Reflection"], turn.inputs["Vector"])
    group.links.new(turn.outputs["Vector"], apart.inputs[0])
    group.links.new(apart.outputs["Y"], halves.inputs["X"])
    group.links.new(apart.outputs["Z"], halves.inputs["Y"])
    group.links.new(halves.outputs[0], scale.inputs[0])
    group.links.new(scale.outputs[0], result.inputs["Vector"])


def _shine(group: Block, given: Block, result: Block) -> None:
    """As RB_CalcSpecularAlpha, with a light so far away that its direction is the same everywhere."""
    group.nodes.remove(given)
    _socket(group, "Value", "OUTPUT", "Float")
    seen, turn = group.nodes.new("ShaderNodeTexCoord"), group.nodes.new("ShaderNodeVectorTransform")
    turn.vector_type, turn.convert_from, turn.convert_to = "NORMAL", "WORLD", "OBJECT"
    near, some, sharp = (group.nodes.new(f"ShaderNode{n}") for n in ("VectorMath", "Math", "Math"))
    near.operation, some.operation, sharp.operation = "DOT_PRODUCT", "MAXIMUM", "POWER"
    length = sum(part * part for part in SHINE) ** 0.5
    near.inputs[1].default_value = tuple(part / length for part in SHINE)
    some.inputs[1].default_value, sharp.inputs[1].default_value = 0.0, SHARPNESS
    for place, node in enumerate((seen, turn, near, some, sharp)):
        node.location = (-600.0 + 200.0 * place, 0.0)
    group.links.new(seen.outputs["Reflection"], turn.inputs["Vector"])
    group.links.new(turn.outputs["Vector"], near.inputs[0])
    group.links.new(near.outputs["Value"], some.inputs[0])
    group.links.new(some.outputs[0], sharp.inputs[0])
    group.links.new(sharp.outputs[0], result.inputs["Value"])


def _matrix(group: Block, given: Block, result: Block) -> None:
    _socket(group, "Vector", "INPUT", "Vector")
    _socket(group, "U", "INPUT", "Vector", (1.0, 0.0, 0.0))
    _socket(group, "V", "INPUT", "Vector", (0.0, 1.0, 0.0))
    _socket(group, "Vector", "OUTPUT", "Vector")
    flat, one = group.nodes.new("ShaderNodeVectorMath"), group.nodes.new("ShaderNodeVectorMath")
    flat.operation, one.operation = "MULTIPLY", "ADD"
    flat.inputs[1].default_value, one.inputs[1].default_value = (1.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    both = group.nodes.new("ShaderNodeCombineXYZ")
    flat.location, one.location, both.location = (-250.0, 0.0), (-100.0, 0.0), (200.0, 0.0)
    group.links.new(given.outputs["Vector"], flat.inputs[0])
    group.links.new(flat.outputs[0], one.inputs[0])
    for nth, name in enumerate(("U", "V")):
        row = group.nodes.new("ShaderNodeVectorMath")
        row.operation, row.location = "DOT_PRODUCT", (50.0, -150.0 * nth)
        group.links.new(one.outputs[0], row.inputs[0])
        group.links.new(given.outputs[name], row.inputs[1])
        group.links.new(row.outputs["Value"], both.inputs[nth])
    group.links.new(both.outputs[0], result.inputs["Vector"])
