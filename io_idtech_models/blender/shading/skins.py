"""Skins that lie in a model's file as materials, and back.

A picture becomes a packed image. A skin of several shows them in turn, as the game does: each in an image node whose
label numbers it, "turn 1", "turn 2", of which a driver chooses by the scene's frame. When they end says a property of
the material.
"""

from __future__ import annotations

import logging
import re
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...model.clips import fitted_times
from ...model.pictures import Palette, Picture, Skin, quake_palette
from ...model.surface_look import Layer, Look, Texture
from ...reporting import listed
from .. import names
from ..compat import Block
from ..properties import TIMES, numbers, show
from ..provenance import NODES
from .images import ALPHA_APART, image_of, kinds_behind
from .nodes import show_look
from .pixels import has_no_color, pixels_of, warn_of_nodes, written_color

log = logging.getLogger(__name__)

SKIN = "idtech_skin_number"  # on a material: which of its file's skins it is
TURN = re.compile(r"turn ([0-9]{1,6})\Z")
RATE = 10.0  # frames a second, where the scene's are not known
SHORTEST = 1e-3  # seconds in which a skin's pictures go round


def show_skin(material: Block, skin: Skin, palette: Palette | None, rate: float = RATE, *, plain: bool = False) -> None:
    """Let a new material show a skin, all its pictures in turn (of `plain` ones the first); `rate` is the scene's."""
    images = [_make_image(*pair, palette) for pair in zip(skin.names, skin.pictures, strict=False)]
    material[SKIN] = skin.source_index
    if skin.times:
        show(material, TIMES, list(skin.times))
    if not images:
        return
    show_look(material, Look((Layer(Texture(None)),)), lambda _: images[0])
    first = next(node for node in material.node_tree.nodes if node.type == "TEX_IMAGE")
    if skin.times:
        first.label = "turn 1"
        _show_turns(material, first, images[1:], fitted_times(skin.times, len(images)), rate, plain=plain)
    material[NODES] = kinds_behind(material)


def _make_image(name: str, picture: Picture, palette: Palette | None) -> Block:
    """Return a new packed image of a picture, which keeps holes that are painted into it, too."""
    height, width = picture.shape[:2]
    image: Block = bpy.data.images.new(names.fit(name), width, height, alpha=True)
    shown: NDArray[np.float32] = np.ones((height, width, 4), np.float32)
    if picture.ndim == 2:
        table = np.ones((256, 4), np.float32)
        np.multiply(quake_palette() if palette is None else palette, np.float32(1 / 255), out=table[:, :3])
        shown = table.take(picture[::-1], axis=0)
    else:
        np.multiply(picture[::-1], np.float32(1 / 255), out=shown[..., : picture.shape[2]])
    image.pixels.foreach_set(shown.ravel())
    image.pack()
    image.alpha_mode = ALPHA_APART
    return image


def _show_turns(
    material: Block, first: Block, images: list[Block], times: tuple[float, ...], rate: float, *, plain: bool
) -> None:
    """Add the further pictures of a skin, and what chooses one of them by the scene's frame."""
    tree, shown = material.node_tree, first.outputs["Color"]
    target = shown.links[0].to_socket
    whole = times[-1] if np.isfinite(times).all() else 0.0
    for nth, image in enumerate(images, 1):
        node = tree.nodes.new("ShaderNodeTexImage")
        node.image, node.label = image, f"turn {nth + 1}"
        node.location = (first.location[0], first.location[1] - 300.0 * nth)
        if plain or whole < SHORTEST:
            continue
        mix = tree.nodes.new("ShaderNodeMix")
        mix.data_type, mix.location = "RGBA", (first.location[0] + 300.0, node.location[1])
        inputs = {socket.identifier: socket for socket in mix.inputs}
        driver = inputs["Factor_Float"].driver_add("default_value").driver
        driver.expression = f"fmod(frame / {rate:g}, {whole:.9g}) >= {times[nth - 1]:.9g}"
        tree.links.new(shown, inputs["A_Color"])
        tree.links.new(node.outputs["Color"], inputs["B_Color"])
        shown = next(socket for socket in mix.outputs if socket.identifier == "Result_Color")
    tree.links.new(shown, target)


def read_skin(material: Block, name: str) -> Skin:
    """Return what a material shows as a skin of a name; inverse of `show_skin`.

    A material without an image gives a picture of one pixel, of its colour. An image that can't be read gives none.
    """
    number = material.get(SKIN)
    index = number if isinstance(number, int) else -1
    times = numbers(material, TIMES)
    turns = _turns(material)
    images = turns if times else []
    if not times and len(turns) > 1:
        text = "'%s' has %d pictures that take turns, and no times: the one that shows is written (%s: when each ends)"
        log.warning(text, material.name, len(turns), TIMES)
    if not images:
        image = image_of(material)
        images, times = ([] if image is None else [image]), ()
        if image is None:
            return Skin(name, [written_color(material).reshape(1, 1, 3)], (), index)
        warn_of_nodes(material, image)
    pictures = [_picture(image) for image in images]
    lost = [image.name for image, picture in zip(images, pictures, strict=True) if picture is None]
    if lost:
        log.warning("'%s': pictures can't be read, what the model's file had stays: %s", material.name, listed(lost))
    return Skin(name, [picture for picture in pictures if picture is not None], times, index)


def lacks_picture(material: Block) -> bool:
    """Tell whether import found no picture for a material that it made, and nobody has given it one, or a colour."""
    is_ours = names.GIVEN in material and SKIN not in material
    return is_ours and image_of(material) is None and has_no_color(material)


def _turns(material: Block) -> list[Any]:
    """Return the images of a skin of several, in their order."""
    nodes = [] if material.node_tree is None else material.node_tree.nodes
    found = [(TURN.match(node.label), node) for node in nodes if node.type == "TEX_IMAGE" and node.image is not None]
    turns = sorted((int(match[1]), n) for n, (match, _) in enumerate(found) if match is not None)
    return [found[n][1].image for _, n in turns]


def _picture(image: Block) -> NDArray[np.uint8] | None:
    """Return the pixels of an image, the top row first, without an alpha that is 1 everywhere."""
    pixels = pixels_of(image)
    if pixels is None:
        return None
    whole = pixels.shape[2] == 4 and bool((pixels[..., 3] == 255).all())
    return np.ascontiguousarray(pixels[::-1, :, :3] if whole else pixels[::-1])
