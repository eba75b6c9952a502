"""What nodes do to a picture between its file and the surface."""

from __future__ import annotations

from typing import Any

import bpy
import pytest

from io_idtech_models.blender import names
from io_idtech_models.blender.provenance import PICTURE
from io_idtech_models.blender.shading.between import is_placed_by, is_recoloured
from tests.blender.case import show_image

UV_MAP = "UVMap"


@pytest.fixture
def material():
    made = bpy.data.materials.new("textures/a")
    show_image(made, bpy.data.images.new("a", 4, 4))
    return made


class Nodes:
    """The nodes of a material, of which some lead to where its picture is looked up."""

    def __init__(self, material: Any) -> None:
        self.tree = material.node_tree
        self.picture = next(node for node in self.tree.nodes if node.type == "TEX_IMAGE")

    def before(self, kind: str, way: Any = 0, to: Any = None, **settings: Any) -> Any:
        """Add a node that leads to an input, the picture's unless another is given."""
        node = self.tree.nodes.new(f"ShaderNode{kind}")
        for name, value in settings.items():
            setattr(node, name, value)
        socket = self.picture.inputs["Vector"] if to is None else to
        self.tree.links.new(node.outputs[way], socket)
        return node


def by_nothing(nodes):
    """Leave the picture as a new node has it."""


def by_uvs(nodes):
    nodes.before("TexCoord", "UV")


def by_the_rendered_map(nodes):
    nodes.before("UVMap", uv_map=UV_MAP)


def by_its_attribute(nodes):
    nodes.before("Attribute", "Vector", attribute_name=UV_MAP)


def by_a_mapping_that_does_nothing(nodes):
    mapping = nodes.before("Mapping")
    nodes.before("TexCoord", "UV", mapping.inputs[0])


def by_what_is_muted(nodes):
    scale = nodes.before("VectorMath", operation="MULTIPLY", mute=True)
    nodes.before("TexCoord", "UV", scale.inputs[0])


def by_a_reroute(nodes):
    reroute = nodes.tree.nodes.new("NodeReroute")
    nodes.tree.links.new(reroute.outputs[0], nodes.picture.inputs["Vector"])
    nodes.before("TexCoord", "UV", reroute.inputs[0])


def by_a_muted_link(nodes):
    nodes.before("TexCoord", "Generated")
    nodes.picture.inputs["Vector"].links[0].is_muted = True


@pytest.mark.parametrize(
    "way",
    [
        by_nothing, by_uvs, by_the_rendered_map, by_its_attribute, by_a_mapping_that_does_nothing, by_what_is_muted,
        by_a_reroute, by_a_muted_link,
    ],
)  # fmt: skip
def test_a_picture_lies_where_the_uv_map_has_it(way, material):
    nodes = Nodes(material)
    way(nodes)
    assert is_placed_by(nodes.picture, UV_MAP)


def by_a_scale(nodes):
    mapping = nodes.before("Mapping")
    nodes.before("TexCoord", "UV", mapping.inputs[0])
    mapping.inputs["Scale"].default_value = (4.0, 4.0, 1.0)


def by_a_turn_before_a_reroute(nodes):
    reroute = nodes.tree.nodes.new("NodeReroute")
    nodes.tree.links.new(reroute.outputs[0], nodes.picture.inputs["Vector"])
    mapping = nodes.before("Mapping", to=reroute.inputs[0])
    nodes.before("TexCoord", "UV", mapping.inputs[0])
    mapping.inputs["Rotation"].default_value = (0.0, 0.0, 1.0)


def by_a_mapping_of_nothing(nodes):
    nodes.before("Mapping")


def by_another_map(nodes):
    nodes.before("UVMap", uv_map="second")


def by_a_sum(nodes):
    scale = nodes.before("VectorMath", operation="MULTIPLY")
    nodes.before("TexCoord", "UV", scale.inputs[0])


def by_generated(nodes):
    nodes.before("TexCoord", "Generated")


def by_a_box(nodes):
    nodes.picture.projection = "BOX"


def by_a_moving_scale(nodes):
    mapping = nodes.before("Mapping")
    nodes.before("TexCoord", "UV", mapping.inputs[0])
    nodes.before("CombineXYZ", to=mapping.inputs["Scale"])


@pytest.mark.parametrize(
    "way",
    [
        by_a_scale, by_a_turn_before_a_reroute, by_a_mapping_of_nothing, by_another_map, by_a_sum, by_generated,
        by_a_box, by_a_moving_scale,
    ],
)  # fmt: skip
def test_a_picture_lies_elsewhere(way, material):
    nodes = Nodes(material)
    way(nodes)
    assert not is_placed_by(nodes.picture, UV_MAP)


def mixed(material: bpy.types.Material, kind: str, *, of_pictures: bool) -> None:
    """Mix the picture with a colour, or with another picture."""
    nodes = Nodes(material)
    mix = nodes.tree.nodes.new("ShaderNodeMix")
    mix.data_type, mix.blend_type = "RGBA", kind
    colors = [socket for socket in mix.inputs if socket.type == "RGBA"]
    nodes.tree.links.new(nodes.picture.outputs["Color"], colors[0])
    if of_pictures:
        nodes.before("TexImage", to=colors[1], image=bpy.data.images.new("b", 4, 4))
    result = next(socket for socket in mix.outputs if socket.type == "RGBA")
    nodes.tree.links.new(result, nodes.tree.nodes["Principled BSDF"].inputs["Base Color"])


def test_a_picture_alone_keeps_its_colours(material):
    assert not is_recoloured(material)


@pytest.mark.parametrize("came", [False, True])
@pytest.mark.parametrize(("kind", "of_pictures"), [("MULTIPLY", True), ("MULTIPLY", False), ("MIX", False)])
def test_nodes_make_other_colours(kind, of_pictures, came, material):
    """A game's script tints pictures, too, and an import shows that."""
    if came:
        material["idtech_given"] = material.name
    mixed(material, kind, of_pictures=of_pictures)
    is_a_games = came and kind == "MULTIPLY" and not of_pictures
    assert is_recoloured(material) != is_a_games


@pytest.mark.parametrize("name", ["textures/a", "textures/a.001", "textures/b"])
def test_a_picture_that_an_import_showed_and_that_leads_nowhere(name, material):
    """Who renames the material says what the surface wears, and no game shows that picture."""
    names.remember(material, "textures/a")
    material[PICTURE] = "a"
    tree: Any = material.node_tree
    tree.links.clear()
    tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (1.0, 0.0, 0.0, 1.0)
    material.name = name
    assert is_recoloured(material) == (name != "textures/b")
