"""What nodes do to a picture between its file and the surface."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest

from io_idtech_models.blender import names
from io_idtech_models.blender.provenance import NODES, PICTURE
from io_idtech_models.blender.shading.between import is_placed_by, is_recoloured
from io_idtech_models.blender.shading.images import image_node_of, image_of, images_in, kinds_behind
from io_idtech_models.blender.shading.pixels import color_of, maps_of
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


def by_a_mapping_out_of_the_plane(nodes):
    mapping = nodes.before("Mapping")
    nodes.before("TexCoord", "UV", mapping.inputs[0])
    mapping.inputs["Scale"].default_value = (1.0, 1.0, 4.0)


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
        by_a_reroute, by_a_muted_link, by_a_mapping_out_of_the_plane,
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


def in_a_group(material: Any, *, turned: bool = False) -> None:
    """Put the picture into a group of one's own, perhaps with what changes its colours."""
    nodes = Nodes(material)
    group: Any = bpy.data.node_groups.new("mine", "ShaderNodeTree")
    group.interface.new_socket("Color", in_out="OUTPUT", socket_type="NodeSocketColor")
    inside, end = group.nodes.new("ShaderNodeTexImage"), group.nodes.new("NodeGroupOutput")
    inside.image = nodes.picture.image
    nodes.tree.nodes.remove(nodes.picture)
    way = inside.outputs["Color"]
    if turned:
        hue = group.nodes.new("ShaderNodeHueSaturation")
        group.links.new(way, hue.inputs["Color"])
        way = hue.outputs["Color"]
    group.links.new(way, end.inputs[0])
    made = nodes.tree.nodes.new("ShaderNodeGroup")
    made.node_tree = group
    nodes.tree.links.new(made.outputs[0], nodes.tree.nodes["Principled BSDF"].inputs["Base Color"])


@pytest.mark.parametrize("turned", [False, True])
def test_a_picture_in_a_group(turned, material):
    image = image_of(material)
    in_a_group(material, turned=turned)
    node = image_node_of(material)
    assert node is not None and node.image == image and images_in([material]) == [image]
    assert is_placed_by(node, UV_MAP)
    assert is_recoloured(material) == turned
    node.projection = "BOX"
    assert not is_placed_by(node, UV_MAP)


@pytest.mark.skipif(bpy.app.version >= (5, 0), reason="materials always use their nodes")
def test_nodes_that_are_not_used(material):
    image = image_of(material)
    assert image is not None
    material.use_nodes = False
    assert image_of(material) == image, "no colour was chosen instead"
    material.diffuse_color = (1.0, 0.0, 0.0, 1.0)
    assert image_of(material) is None
    assert color_of(material).tolist() == [255, 0, 0]


@pytest.mark.parametrize(("given", "power"), [(None, 0.0), (0.0, 0.0), (0.25, 0.25)])
def test_the_strength_of_what_shines_is_a_number_of_its_own_or_of_a_node(given, power, material):
    tree: Any = material.node_tree
    strength = tree.nodes["Principled BSDF"].inputs["Emission Strength"]
    strength.default_value = 0.0
    if given is not None:
        value = tree.nodes.new("ShaderNodeValue")
        value.outputs[0].default_value = given
        tree.links.new(value.outputs[0], strength)
    shown = color_shown(power)
    assert np.allclose(maps_of(material).shine, (shown,) * 3, atol=2e-3)


def color_shown(linear: float) -> float:
    return 12.92 * linear if linear <= 0.0031308 else 1.055 * float(linear ** (1 / 2.4)) - 0.055


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


def test_nodes_that_were_added_to_those_of_an_import(material):
    """Of any kind, as the import notes what it made."""
    names.remember(material, "textures/a")
    material[NODES] = kinds_behind(material)
    assert not is_recoloured(material)
    mixed(material, "MULTIPLY", of_pictures=False)
    assert is_recoloured(material)
