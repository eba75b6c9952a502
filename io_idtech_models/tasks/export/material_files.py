"""The `.mtr` beside a model: materials that its game does not have, with the pictures that Blender shows of them."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...assets.storage import Target
from ...assets.surface_looks import Looks
from ...blender import names
from ...blender.compat import Block
from ...blender.mesh.surface_names import worn_materials
from ...blender.provenance import is_stand_in
from ...blender.shading.pixels import Maps, color_of, maps_of, origin_of, written_color
from ...game.search import SearchPath
from ...game.shaders import declaring
from ...game.shaders.declaring import Declared, can_be_named, is_own, text_of
from ...reporting import listed
from ..import_.games import user_disk

if TYPE_CHECKING:
    from ...assets.export_request import ExportRequest

log = logging.getLogger(__name__)

PICTURES = re.compile(r"^.*?((?:models|textures)/[^/].*)$", re.IGNORECASE)  # as games name them
ENDING = re.compile(r"\.[^./]*$")


def material_files(asked: ExportRequest, blocks: Sequence[Any]) -> list[tuple[Target, bytes]]:
    """Return the text of materials that an export is to write beside its model, if it asks for one.

    A file of that name that somebody made or changed stays as it is; that, and what else there is to do, is said.

    Raises:
        ModelError: the file that is there can't be read.
    """
    if not asked.materials:
        return []
    target = asked.target.with_suffix(declaring.SUFFIX)
    there = user_disk().file(target)
    if there.is_file() and not is_own(there.read()):
        log.warning("'%s' was made or changed by hand: it stays as it is, and no materials are written", target.name)
        return []
    looks = Looks(SearchPath(user_disk().file(asked.target)))
    found = [each for each in _worn(blocks) if looks.library is None or looks.library.shader(each[0]) is None]
    if not found:
        log.warning("the game has all materials of the model: no '%s' is written", target.name)
        return []
    unnamed = [name for name, _ in found if not can_be_named(name)]
    if unnamed:
        log.warning("no text of materials can name them, left out: %s", listed(unnamed))
    named = [(name, material, maps_of(material)) for name, material in found if can_be_named(name)]
    through = [material.name for _, material, maps in named if maps.through]
    if through:
        text = (
            "seen through in Blender, not so in the text: link the picture's alpha to Alpha, or add a blend stage: %s"
        )
        log.warning(text, listed(through))
    declared = [_declared(name, material, maps) for name, material, maps in named]
    log.warning("'%s' goes into the game's folder 'materials': Doom 3 reads no other", target.name)
    return [(target, text_of(declared))]


def _worn(blocks: Sequence[Any]) -> list[tuple[str, Block]]:
    """Return the materials that meshes wear, by the names that the file has for them, each once."""
    meshes = [block for block in blocks if block.type == "MESH"]
    worn = [material for _, material in worn_materials(meshes) if material is not None and not is_stand_in(material)]
    called = [(names.file_name_of(material), material) for material in worn]
    first = {_as_games_have_it(name): (name, material) for name, material in reversed(called)}
    others = [name for name, _ in called if name != first[_as_games_have_it(name)][0]]
    if others:
        text = "Doom 3 takes these for names of other materials of the model, by whatever case, slashes and ending: %s"
        log.warning(text, listed(list(dict.fromkeys(others))))
    return list(first.values())[::-1]


def _as_games_have_it(name: str) -> str:
    """Return the one spelling of a material's name: see `shaders.md`."""
    return ENDING.sub("", name.replace("\\", "/")).lower()


def _declared(name: str, material: Block, maps: Maps) -> Declared:
    """Return what a text says of a material, whose pictures `maps` are."""
    colour = written_color(material) if maps.diffuse is None and maps.lit else color_of(material)
    red, green, blue = (int(each) / 255 if maps.lit else 0.0 for each in colour)
    pictures = ((maps.diffuse, ""), (maps.bump, "_local"), (maps.specular, "_s"), (maps.glow, "_glow"))
    diffuse, bump, specular, glow = (_named(image, name, ending) for image, ending in pictures)
    color = red, green, blue
    return Declared(ENDING.sub("", name), diffuse, bump, specular, color, maps.tested, glow, maps.shine)


def _named(image: Block | None, name: str, ending: str) -> str:
    """Return how the game is to look for an image: where it lies, if that is in a game's folders, else by the material.

    Doom 3 reads TGA and JPEG: where the image's file is none that is said.
    """
    if image is None:
        return ""
    came = origin_of(image).replace("\\", "/")
    match = PICTURES.match(came)
    suffix = ENDING.search(came)
    reads = suffix is not None and suffix[0].lower() in declaring.READ
    path = ENDING.sub("", match[1]) if match is not None else ENDING.sub("", name.replace("\\", "/")) + ending
    path += suffix[0].lower() if reads and suffix is not None else declaring.READ[0]
    if match is None or not reads:
        log.warning("the picture '%s' has to lie in the game as '%s'", image.name, path)
    return path
