"""Materials: one per shader, showing the picture that the game would show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import bpy

from . import names
from .compat import Block

FindImage = Callable[[str], Path | None]


@dataclass
class Materials:
    """The materials of one import, made when first asked for; `missing` lists shaders without a picture."""

    find_image: FindImage
    made: dict[str, bpy.types.Material] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)

    def get(self, shader: str) -> bpy.types.Material:
        """Return the material of a shader."""
        if shader not in self.made:
            self.made[shader] = self._make(shader)
        return self.made[shader]

    def _make(self, shader: str) -> bpy.types.Material:
        material = bpy.data.materials.new(names.fit(shader))
        names.remember(material, shader)
        path = self.find_image(shader) if shader else None
        image = None if path is None else load_image(path)
        if image is not None:
            show_image(material, image)
        elif shader:
            self.missing.append(shader)
        return material


def load_image(path: Path) -> bpy.types.Image | None:
    """Load a picture, or the one already loaded from there; None if Blender can't read it."""
    known = set(bpy.data.images)
    try:
        image = bpy.data.images.load(str(path), check_existing=True)
    except RuntimeError:
        return None
    if image.size[0] == 0:  # Blender takes any file, and shows nothing of those that it can't read
        if image not in known:
            bpy.data.images.remove(image)
        return None
    return image


def show_image(material: Block, image: bpy.types.Image) -> None:
    """Show a picture opaque and matt, as games show a texture without a shader script."""
    if material.node_tree is None:
        material.use_nodes = True  # 5.x has the tree from the start, and warns where this is touched
    tree = material.node_tree
    surface = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
    texture = tree.nodes.new("ShaderNodeTexImage")
    texture.image = image
    texture.location = (surface.location.x - 300.0, surface.location.y)
    tree.links.new(texture.outputs["Color"], surface.inputs["Base Color"])
    surface.inputs["Roughness"].default_value = 1.0
    surface.inputs["Specular IOR Level"].default_value = 0.0
