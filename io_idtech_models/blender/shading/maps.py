"""Which pictures a material shows for what: colour, bumps, shine. The way back of what `nodes` makes of a game's."""

from __future__ import annotations

from dataclasses import dataclass

from ..compat import Block
from .images import image_behind, image_of

SHINE = ("Specular Tint", "Specular IOR Level")  # inputs of the node, the picture that colours the shine first


@dataclass(frozen=True)
class Maps:
    """Images, or None: what light makes of the surface is in the second and third."""

    diffuse: Block | None = None
    bump: Block | None = None
    specular: Block | None = None
    tested: bool = False  # the first one's alpha says where there is a surface


def maps_of(material: Block) -> Maps:
    """Return the pictures of a material, which lead to the inputs of its surface."""
    nodes = [] if material.node_tree is None else material.node_tree.nodes
    surface = next((node for node in nodes if node.type == "BSDF_PRINCIPLED"), None)
    if surface is None:
        return Maps(image_of(material))
    diffuse = image_of(material)
    bump = image_behind(surface.inputs["Normal"])
    specular = next((found for name in SHINE if (found := image_behind(surface.inputs[name])) is not None), None)
    diffuse = None if diffuse in (bump, specular) and image_behind(surface.inputs["Base Color"]) is None else diffuse
    tested = diffuse is not None and image_behind(surface.inputs["Alpha"]) == diffuse
    return Maps(diffuse, bump, specular, tested)
