"""Icons of a player's skins, which games ask for: pictures of the head as it stands in the scene."""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path
from typing import Any

import bpy

from ...blender.exchange.picture import render_still
from ...blender.exchange.scene_files import ExchangeError
from ...blender.player.parts import PlayerFound, all_shown
from ...blender.roots import root_of
from ...blender.shading.pixels import pixels_of
from ...game.pictures import tga
from ...game.player.files import HEAD
from ...model.pictures import resized

log = logging.getLogger(__name__)

TIMES = 4  # as large as the icon is what is rendered


def head_icon(player: PlayerFound) -> bytes:
    """Return the file of an icon that shows a player's head, or else all of it; b"" if there is no picture."""
    context: Any = bpy.context
    root: Any = player.parts.get(HEAD, player.root)
    blocks = [b for b in root.children_recursive if b.type == "MESH" and root_of(b) == root]
    size = TIMES * tga.ICON
    with tempfile.TemporaryDirectory() as folder, all_shown(context.view_layer, blocks):
        path = Path(folder) / "icon.png"
        try:
            render_still(path, context.scene.frame_current, (size, size), blocks)
        except ExchangeError as error:
            log.warning("no icon could be rendered: %s", error.what)
            return b""
        image = bpy.data.images.load(str(path))
        try:
            found = pixels_of(image)
        finally:
            bpy.data.images.remove(image)
    return b"" if found is None else tga.encode(resized(found[:, :, :3], tga.ICON, tga.ICON))
