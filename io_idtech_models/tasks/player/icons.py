"""Icons of a player's skins: `icon_SKIN.tga`, without which games refuse a skin.

Those that are made show the head. What is made says so, for who draws another one in its place wants to keep that.
"""

from __future__ import annotations

import logging
import tempfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import bpy

from ...blender.exchange.picture import render_still
from ...blender.exchange.scene_files import ExchangeError
from ...blender.player.build import stored_files
from ...blender.player.parts import PlayerFound, all_shown
from ...blender.provenance import SKIN as WORN_SKIN
from ...blender.roots import root_of
from ...blender.shading.pixels import pixels_of
from ...game.pictures import tga
from ...game.player.files import HEAD, PlayerFiles
from ...game.search import IMAGE_SUFFIXES
from ...game.skin import skins_of
from ...game.store import GameFile, Store, split_name
from ...model.pictures import resized
from ...reporting import ModelError, listed

log = logging.getLogger(__name__)

PREFIX = "icon_"
MADE = b"id Tech Models %08x"  # the text in a file that was made here, with the check sum of the same without a text
TIMES = 4  # as large as the icon is what is rendered


def icons_of(
    player: PlayerFound,
    source: PlayerFiles | None,
    files: Iterable[str],
    skin: str,
    place: Store,
    renamed: bool,
) -> dict[str, bytes]:
    """Return the icons of the skins among a player's files, from its `source` if it has one; warns of what is missing.

    Those of new skins, as `skin` is, and of a player with a new name, are made of the head as it is worn. What lies in
    the `place` where the player is written stays if it was not made here, or if its skin came with the player.
    """
    skins, there = skins_of(HEAD, files), {} if source is None else source.icons
    found = _read(there.values())
    stored = {each.lower() for each in stored_files(player.collection)}
    brought = {each for each in skins if skins[each].lower() in stored}
    lying, old = _lying(place), set() if renamed else brought
    stay = {each for each in skins if each.lower() in lying and (each in old or not lying[each.lower()])}
    without_icon = [each for each in skins if each not in there and each not in stay]
    new = [each for each in without_icon if renamed or source is None or each not in brought]
    picture = head_icon(player) if new else b""
    found |= {f"{PREFIX}{each}.tga": picture for each in new if picture}
    worn = skin or player.kept(WORN_SKIN)
    alike = [f"{PREFIX}{each}.tga" for each in new if picture and each != worn and len(skins) > 1]
    if alike:
        log.warning("icons that were missing show the head as it is worn now, of other skins, too: %s", listed(alike))
    came = set() if source is None else {each for part in source.parts.values() for each in part.skins}
    lacking = [f"{PREFIX}{each}.tga" for each in without_icon if each not in came]
    lacking = [icon for icon in lacking if icon not in found]
    if lacking:
        log.warning("games refuse a skin without its icon, which is no model's to make: put %s beside", listed(lacking))
    return found


def _lying(place: Store) -> dict[str, bool]:
    """Return the skins, in lower case, whose icons lie in a folder, and whether these were made here."""
    found: dict[str, bool] = {}
    for name in place.names():
        stem, suffix = split_name(name.lower())
        if stem.startswith(PREFIX) and suffix in IMAGE_SUFFIXES:
            skin = stem.removeprefix(PREFIX)
            found[skin] = found.get(skin, True) and _is_made(GameFile(place, name))
    return found


def _is_made(icon: GameFile) -> bool:
    """Tell whether an icon is as `head_icon` made it: one who draws over it leaves another check sum, or no text."""
    try:
        data = icon.read()
    except ModelError:
        return False
    return tga.text_of(data) == _mark(tga.without_text(data))


def _mark(plain: bytes) -> bytes:
    return MADE % zlib.crc32(plain)


def _read(icons: Iterable[GameFile]) -> dict[str, bytes]:
    found = {}
    for icon in icons:
        try:
            found[icon.name] = icon.read()
        except ModelError as error:
            log.warning("%s: %s", icon.name, error)
    return found


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
    if found is None:
        return b""
    plain = tga.encode(resized(found[:, :, :3], tga.ICON, tga.ICON))
    return tga.with_text(plain, _mark(plain))
