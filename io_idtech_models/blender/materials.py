"""Materials: one per shader, showing the picture that the game would show.

A picture of a kind that Blender can't load becomes a packed image. Its path stands in a property and not in `filepath`:
there Blender would write a PNG over the game's own file when the user saves the image.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import bpy
import numpy as np
from numpy.typing import NDArray

from ..reporting import ModelError
from . import names
from .compat import Block

log = logging.getLogger(__name__)

Pixels = NDArray[np.uint8]  # (height, width, 3 or 4), top row first
FindImage = Callable[[str], Path | None]
OwnImage = Callable[[], Path | None]
# Decodes what Blender can't load; None for any other file. Raises ModelError.
ReadPixels = Callable[[Path], Pixels | None]

STAND_IN = "idtech_stand_in"  # on a material: the name that import gave it
FILE, CONTENT = "idtech_file", "idtech_content"  # on a packed image: where it came from, and a hash of its pixels


@dataclass
class Materials:
    """The materials of one import, made when first asked for; `missing` lists shaders without a picture."""

    find_image: FindImage
    read_pixels: ReadPixels | None = None
    own_image: OwnImage | None = None  # the picture of a model that names none
    worn: dict[str, str] = field(default_factory=dict)  # what surfaces without a shader wear, by name in lower case
    made: dict[str, bpy.types.Material] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    _stand_in: bpy.types.Material | None = field(default=None, init=False)
    _worn: dict[str, bpy.types.Material] = field(default_factory=dict, init=False)

    def get(self, shader: str) -> bpy.types.Material:
        """Return the material of a shader."""
        if shader not in self.made:
            self.made[shader] = self._make(shader)
        return self.made[shader]

    def _make(self, shader: str) -> bpy.types.Material:
        material = bpy.data.materials.new(names.fit(shader))
        names.remember(material, shader)
        path = self.find_image(shader) if shader else None
        image = None if path is None else load_image(path, self.read_pixels)
        if image is not None:
            show_image(material, image)
        elif shader:
            self.missing.append(shader)
        return material

    def stand_in(self) -> bpy.types.Material | None:
        """Return the material of a model without a stored skin, called after the picture it shows; None without one."""
        path = self.own_image() if self.own_image is not None and self._stand_in is None else None
        image = None if path is None else load_image(path, self.read_pixels)
        if path is not None and image is not None:
            self._stand_in = bpy.data.materials.new(names.fit(path.stem))
            self._stand_in[STAND_IN] = self._stand_in.name
            show_image(self._stand_in, image)
        return self._stand_in

    def wear(self, surface: str) -> bpy.types.Material | None:
        """Return the material of a surface that names no shader: what a skin file says that it wears."""
        shader = self.worn.get(surface.lower(), "")
        if not shader:
            return self.stand_in()
        if shader not in self._worn:
            material = self._make(shader)
            material[STAND_IN] = material.name
            self._worn[shader] = material
        return self._worn[shader]


def is_stand_in(material: Block) -> bool:
    """Tell whether a material is not of the model's file, but one of `Materials.stand_in` that nobody has renamed."""
    given = material.get(STAND_IN)
    return isinstance(given, str) and names.is_untouched(material.name, given)


def load_image(path: Path, read_pixels: ReadPixels | None = None) -> bpy.types.Image | None:
    """Load a picture, or the one already loaded from there; None if neither `read_pixels` nor Blender can read it."""
    try:
        pixels = None if read_pixels is None else read_pixels(path)
    except ModelError as error:
        log.warning("'%s' can't be shown: %s", path.name, error)
        return None
    return _load_file(path) if pixels is None else _pack(path, pixels)


def _load_file(path: Path) -> bpy.types.Image | None:
    known = len(bpy.data.images)
    try:
        image = bpy.data.images.load(str(path), check_existing=True)
    except RuntimeError:
        return None
    if image.size[0] == 0:  # Blender takes any file, and shows nothing of those that it can't read
        if len(bpy.data.images) > known:
            bpy.data.images.remove(image)
        return None
    return image


def _pack(path: Path, pixels: Pixels) -> Block:
    """Return a packed image of a file's pixels: the one already made of it, if the file is still the same."""
    file = os.path.abspath(path)  # noqa: PTH100 - links stay
    content = hashlib.sha256(repr(pixels.shape).encode() + pixels.tobytes()).hexdigest()
    for known in bpy.data.images:
        if known.get(FILE) == file and known.get(CONTENT) == content and known.size[0]:
            return known
    height, width, channels = pixels.shape
    image: Block = bpy.data.images.new(names.fit(path.name), width, height, alpha=channels == 4)
    shown = np.ones((height, width, 4), np.float32)
    np.multiply(pixels[::-1], np.float32(1 / 255), out=shown[..., :channels])
    image.pixels.foreach_set(shown.ravel())
    image.pack()
    image[FILE], image[CONTENT] = file, content
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


def image_of(material: Block) -> Block | None:
    """Return the image that a material shows: behind its base colour, else of its active or only image node."""
    nodes = [] if material.node_tree is None else list(material.node_tree.nodes)
    for surface in (node for node in nodes if node.type == "BSDF_PRINCIPLED"):
        for node in _nodes_behind(surface.inputs["Base Color"]):
            if _has_image(node):
                return node.image
    found = [node for node in nodes if _has_image(node)]
    active = [node for node in found if node == material.node_tree.nodes.active]
    return (active or found)[0].image if active or len(found) == 1 else None


def _has_image(node: Block) -> bool:
    return node.type == "TEX_IMAGE" and node.image is not None


def _nodes_behind(socket: Block) -> Iterator[Block]:
    """Yield the nodes that lead to a socket, each once, the nearest first."""
    sockets, seen = [socket], set()
    for place in sockets:  # which grows
        for link in place.links:
            if link.from_node not in seen:
                seen.add(link.from_node)
                sockets += link.from_node.inputs
                yield link.from_node


def texture_size(material: Block) -> tuple[int, int] | None:
    """Return width and height of the image that a material shows; None without one, or if its file can't be read."""
    image = image_of(material)
    return (image.size[0], image.size[1]) if image is not None and image.size[0] else None
