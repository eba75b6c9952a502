"""Pictures of games as Blender's images, and which image a material shows.

A picture of a kind that Blender can't load becomes a packed image. Its path stands in a property and not in `filepath`:
there Blender would write a PNG over the game's own file when the user saves the image.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, Protocol

import bpy
import numpy as np
from numpy.typing import NDArray

from ...reporting import ModelError
from .. import names
from ..compat import Block, uses_nodes
from ..provenance import GROUP

log = logging.getLogger(__name__)

Pixels = NDArray[np.uint8]  # (height, width, 3 or 4), top row first


class Picture(Protocol):
    """A file with a picture: `game.store.GameFile` is one."""

    @property
    def name(self) -> str:
        """Return the file's name."""

    @property
    def stem(self) -> str:
        """Return the name without its suffix."""

    @property
    def place(self) -> str:
        """Return where it is, as a path."""

    @property
    def path(self) -> os.PathLike[str] | None:
        """Return where on disk Blender can open it; None in an archive."""

    def read(self) -> bytes:
        """Return its bytes; raises ModelError."""


# Decodes what Blender can't load of a Picture's file; None for any other. Raises ModelError.
ReadPixels = Callable[[Any], Pixels | None]
# Of all pictures: a stage that is opaque shows its colours also where alpha, a mask for something else, is 0. So does
# Solid view, where no shader counts, and which shows holes where alpha is "STRAIGHT".
ALPHA_APART: Final = "CHANNEL_PACKED"
NEW: Final = (0.8, 0.8, 0.8)  # the base colour of Blender's new materials
FILE, CONTENT = "idtech_file", "idtech_content"  # on a packed image: where it came from, and a hash of its pixels


def load_image(picture: Picture, read_pixels: ReadPixels | None = None, name: str = "") -> bpy.types.Image | None:
    """Load a picture, or the one already loaded from there; None if neither `read_pixels` nor Blender can read it.

    Blender opens it where it lies. What lies in an archive is packed into the .blend, under the game's `name` for it.
    """
    try:
        pixels = None if read_pixels is None else read_pixels(picture)
        if pixels is None and picture.path is not None:
            return _load_file(os.fspath(picture.path))
        image: bpy.types.Image | None = (
            _pack_file(picture, name or picture.name) if pixels is None else _pack(picture, pixels)
        )
    except ModelError as error:
        log.warning("'%s' can't be shown: %s", picture.name, error)
        return None
    return image


def _load_file(path: str) -> bpy.types.Image | None:
    known = len(bpy.data.images)
    try:
        image = bpy.data.images.load(path, check_existing=True)
    except RuntimeError:
        return None
    if image.size[0] == 0:  # Blender takes any file, and shows nothing of those that it can't read
        if len(bpy.data.images) > known:
            bpy.data.images.remove(image)
        return None
    if len(bpy.data.images) > known:
        image.alpha_mode = ALPHA_APART
    return image


def _pack(picture: Picture, pixels: Pixels) -> Block:
    """Return a packed image of a file's pixels: the one already made of it, if the file is still the same."""
    content = content_of(pixels)
    known = _packed(picture, content)
    if known is not None:
        return known
    height, width, channels = pixels.shape
    image: Block = bpy.data.images.new(names.fit(picture.name), width, height, alpha=channels == 4)
    shown = np.ones((height, width, 4), np.float32)
    np.multiply(pixels[::-1], np.float32(1 / 255), out=shown[..., :channels])
    image.pixels.foreach_set(shown.ravel())
    image.pack()
    return _noted(image, picture, content)


def content_of(pixels: Pixels) -> str:
    """Return what tells the content of an image from others."""
    return hashlib.sha256(repr(pixels.shape).encode() + pixels.tobytes()).hexdigest()


def _pack_file(picture: Picture, name: str) -> Block | None:
    """Return a packed image of a file's bytes, as `_pack` does; None if Blender can't read them."""
    data = picture.read()
    content = hashlib.sha256(data).hexdigest()
    known = _packed(picture, content)
    if known is not None:
        return known
    image: Block = bpy.data.images.new(names.fit(name), 1, 1)
    image.pack(data=data, data_len=len(data))
    image.source = "FILE"  # it shows what is packed from now on, and has its size
    if image.size[0] == 0:
        bpy.data.images.remove(image)
        return None
    return _noted(image, picture, content)


def _packed(picture: Picture, content: str) -> Block | None:
    """Return the image that was packed of a file when it had the same content."""
    file = _absolute(picture)
    same = (i for i in bpy.data.images if i.get(FILE) == file and i.get(CONTENT) == content and i.size[0])
    return next(same, None)


def _noted(image: Block, picture: Picture, content: str) -> Block:
    image[FILE], image[CONTENT] = _absolute(picture), content
    image.alpha_mode = ALPHA_APART
    return image


def _absolute(picture: Picture) -> str:
    return os.path.abspath(picture.place)  # noqa: PTH100 - links stay


def tree_of(material: Block) -> Block | None:
    """Return the nodes of a material; None where it has none, or shows a colour instead that was chosen.

    One whose nodes are off, and whose colour nobody chose, is as its nodes have it: a skin is no plain grey.
    """
    tree: Block | None = material.node_tree
    return tree if uses_nodes(material) or is_new(material.diffuse_color) else None


def images_in(materials: Iterable[Block]) -> list[Block]:
    """Return the images in the nodes of materials, and in groups of these, each once."""
    trees = [tree for material in materials if (tree := tree_of(material)) is not None]
    found: dict[Block, None] = {}
    for tree in trees:  # which grows
        found |= dict.fromkeys(node.image for node in tree.nodes if _has_image(node))
        groups = (node.node_tree for node in tree.nodes if node.type == "GROUP" and node.node_tree is not None)
        trees += [group for group in groups if group not in trees]
    return list(found)


def image_of(material: Block) -> Block | None:
    """Return the image that a material shows, or None."""
    node = image_node_of(material)
    return None if node is None else node.image


def image_node_of(material: Block) -> Block | None:
    """Return the node whose image a material shows: behind its base colour or what shines, else the active or only one.

    That one gives no number: how rough a surface is, or how uneven. None where other nodes make the base colour, or
    somebody chose one.
    """
    surfaces = surfaces_of(material)
    for surface in surfaces:
        found = _image_node_behind(surface.inputs["Base Color"])
        if found is not None:
            return found
    if makers_of(material):
        return None
    colors = [tuple(surface.inputs["Base Color"].default_value)[:3] for surface in surfaces]
    for surface, color in zip(surfaces, colors, strict=True):
        found = _image_node_behind(surface.inputs["Emission Color"]) if shines(surface) else None
        if found is not None and (is_new(color) or not any(color)):  # an import of what only shines leaves black
            return found
    if any(not is_new(color) for color in colors):
        return None
    plain = [s for surface in surfaces for s in surface.inputs if s.type != "RGBA" and s.name != "Alpha"]
    numbers = {node for socket in plain for node in _nodes_behind(socket)}
    tree = tree_of(material)
    others = [node for node in ([] if tree is None else tree.nodes) if _has_image(node) and node not in numbers]
    active = [node for node in others if tree is not None and node == tree.nodes.active]
    return (active or others)[0] if active or len(others) == 1 else None


def shines(surface: Block) -> bool:
    """Tell whether what a surface's node emits is seen."""
    strength = number_of(surface.inputs["Emission Strength"])
    return strength is None or strength > 0.0


def kinds_behind(material: Block) -> str:
    """Return the kinds of nodes that lead to the base colours of a material, as far as its pictures, in a text."""
    found = [node for surface in surfaces_of(material) for node in _nodes_behind(surface.inputs["Base Color"], True)]
    return " ".join(node.type for node in found if not (node.mute or node.type == "REROUTE"))


def number_of(socket: Block) -> float | None:
    """Return the number that an input has, of its own or of a Value node; None where other nodes make it."""
    source = source_of(socket)
    if source is not None and source.type != "VALUE":
        return None
    return float(socket.default_value if source is None else source.outputs[0].default_value)


def is_new(color: Sequence[float]) -> bool:
    """Tell whether a colour is what Blender's new materials have, which nobody chose."""
    return bool(np.allclose(color[:3], NEW))


def makers_of(material: Block) -> list[Block]:
    """Return the nodes that make the base colours of a material, of those that no picture gives as it is."""
    found = [source_of(surface.inputs["Base Color"]) for surface in surfaces_of(material)]
    return [node for node in found if node is not None and node.type != "TEX_IMAGE"]


def surfaces_of(material: Block) -> list[Block]:
    """Return the nodes of a material that have a base colour, and lead to what it shows; none of one without nodes.

    The nearest comes first; those of a material that has no output, or nothing there, are all.
    """
    tree = tree_of(material)
    nodes = shown_by(material) or ([] if tree is None else tree.nodes)
    return [node for node in nodes if node.type == "BSDF_PRINCIPLED"]


def shown_by(material: Block) -> list[Block]:
    """Return the nodes that lead to the surface of a material's active output, the nearest first."""
    tree = tree_of(material)
    output = None if tree is None else tree.get_output_node("ALL")
    return [] if output is None else list(_nodes_behind(output.inputs["Surface"]))


def image_behind(socket: Block) -> Block | None:
    """Return the image that leads to an input of a node, the nearest of several; None without any."""
    node = _image_node_behind(socket)
    return None if node is None else node.image


def _image_node_behind(socket: Block) -> Block | None:
    return next((node for node in _nodes_behind(socket) if _has_image(node)), None)


def _has_image(node: Block) -> bool:
    return node.type == "TEX_IMAGE" and node.image is not None and not node.mute


def _nodes_behind(socket: Block, to_pictures: bool = False) -> Iterator[Block]:
    """Yield the nodes that lead to a socket by links that count, the nearest first; what is in groups, too."""
    places: list[tuple[Block, tuple[Block, ...]]] = [(socket, ())]
    seen = set()
    for place, groups in places:  # which grows
        for node, _, inside in sources(place, groups):
            if (node, inside) not in seen:
                seen.add((node, inside))
                if not (to_pictures and node.type == "TEX_IMAGE"):
                    places += [(each, inside) for each in node.inputs]
                yield node


def sources(socket: Block, groups: tuple[Block, ...] = ()) -> Iterator[tuple[Block, Block, tuple[Block, ...]]]:
    """Yield the nodes that are linked to a socket, by which of their outputs, and the groups that they are in.

    A group is what is in it, but for those that an import made. `groups` are those that the socket is in.
    """
    for link in socket.links:
        node, way = link.from_node, link.from_socket
        if not link.is_valid or link.is_muted:
            continue
        if node.type == "GROUP_INPUT" and groups:
            outside = next((each for each in groups[-1].inputs if each.identifier == way.identifier), None)
            yield from () if outside is None else sources(outside, groups[:-1])
        elif node.type == "GROUP" and node.node_tree is not None and GROUP not in node.node_tree and not node.mute:
            ends = [end for end in node.node_tree.nodes if end.type == "GROUP_OUTPUT" and end.is_active_output]
            inside = (each for end in ends for each in end.inputs if each.identifier == way.identifier)
            for each in inside:
                yield from sources(each, (*groups, node))
        else:
            yield node, way, groups


def source_of(socket: Block) -> Block | None:
    """Return the node that says what a socket is, whatever its links go round; None where none does."""
    return next((node for node in _nodes_behind(socket) if node.type != "REROUTE" and not node.mute), None)


def texture_size(material: Block) -> tuple[int, int] | None:
    """Return width and height of the image that a material shows; None if it shows none, or its file can't be read."""
    image = image_of(material)
    return (image.size[0], image.size[1]) if image is not None and image.size[0] else None
