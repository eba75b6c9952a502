"""Pictures that lie in a model's file, as bare calls of bpy make and read them: part of the floor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

Block = Any


@dataclass(eq=False)
class ReadyPicture:
    """An image of a material, with its pixels (H W 4,) as floats."""

    material: str
    name: str
    size: tuple[int, int]
    pixels: NDArray[np.float32]


def look(materials: list[Block]) -> list[ReadyPicture]:
    """Return the pictures of materials."""
    found = []
    for material in materials:
        nodes = [] if material.node_tree is None else material.node_tree.nodes
        for image in (node.image for node in nodes if node.type == "TEX_IMAGE" and node.image is not None):
            found.append(ReadyPicture(material.name, image.name, tuple(image.size), pixels_of(image)))
    return found


def pixels_of(image: Block) -> NDArray[np.float32]:
    """Return the pixels of an image."""
    pixels = np.empty(4 * image.size[0] * image.size[1], np.float32)
    image.pixels.foreach_get(pixels)
    return pixels


def make(ready: ReadyPicture, material: Block) -> None:
    """Make a packed image, and a node that shows it."""
    image: Block = bpy.data.images.new(ready.name, *ready.size)
    image.pixels.foreach_set(ready.pixels)
    image.pack()
    if material.node_tree is None:
        material.use_nodes = True
    tree = material.node_tree
    node = tree.nodes.new("ShaderNodeTexImage")
    node.image = image
    surface = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
    tree.links.new(node.outputs["Color"], surface.inputs["Base Color"])


def differences(first: list[ReadyPicture], second: list[ReadyPicture]) -> list[str]:
    """Return the names of pictures that differ."""
    same = [a.size == b.size and np.array_equal(a.pixels, b.pixels) for a, b in zip(first, second, strict=True)]
    return [picture.name for picture, equal in zip(first, same, strict=True) if not equal]
