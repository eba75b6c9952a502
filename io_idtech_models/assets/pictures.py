"""Pictures of models whose files hold them, and of those whose files name them: from one kind to the other."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..game.folders import home_of
from ..game.pictures import pcx, png, tga
from ..game.search import SearchPath
from ..game.store import GameFile
from ..model.pictures import Skin, colors_of
from ..model.vertex import VertexModel
from ..reporting import ModelError, listed
from .storage import Target
from .surface_looks import Looks

log = logging.getLogger(__name__)

READERS: Mapping[str, Callable[[bytes], NDArray[np.uint8]]] = {
    ".pcx": pcx.decode, ".tga": tga.decode, ".png": png.decode,
}  # fmt: skip


def with_pictures(model: VertexModel, file: GameFile) -> VertexModel:
    """Return a model of a file that names its pictures, with these as skins of its own; warnings name those missing.

    What Blender alone can read (JPEG) is missing, too.
    """
    if model.skins:
        return model
    looks, missing = Looks(SearchPath(file)), list[str]()
    skins = []
    for shader in dict.fromkeys(shader for surface in model.surfaces for shader in surface.shaders):
        picture = _picture_of(shader, looks)
        if picture is None:
            missing.append(shader)
        skins.append(Skin(shader, [] if picture is None else [picture]))
    if missing:
        log.warning("no picture that can be read: %s", listed(missing))
    return replace(model, skins=skins, texture_size=None if len(missing) < len(skins) else model.texture_size)


def _picture_of(shader: str, looks: Looks) -> NDArray[np.uint8] | None:
    look = looks.find(shader) if shader else None
    file: GameFile | None = None if look is None or look.base is None else look.base.picture
    reader = None if file is None else READERS.get(file.suffix.lower())
    if file is None or reader is None:
        return None
    try:
        return reader(file.read())
    except ModelError as error:
        log.warning("'%s' can't be read: %s", file.name, error)
        return None


def without_pictures(
    model: VertexModel, target: Target, file: GameFile | None
) -> tuple[VertexModel, list[tuple[Target, bytes]]]:
    """Return a model as one that names its pictures, and these as files beside the target.

    `file` is the one that the model was read from: beside that, in a game's folder, shaders are called as the game
    calls the pictures. Of a skin of several pictures the first is the one that a shader shows.
    """
    known = None if file is None or file.path != target.with_name(file.name) else home_of(file.layer)
    folder = "" if known is None else "".join(f"{name}/" for name in known[1])
    files, names = list[tuple[Target, bytes]](), dict[str, str]()
    for skin in model.skins:
        for name, picture in zip(skin.names, skin.pictures, strict=False):
            colors = colors_of(picture, model.palette)[::-1, :, :3]
            files.append((target.with_name(f"{name}.tga"), tga.encode(colors)))
            names.setdefault(skin.name, f"{folder}{name}")
    surfaces = [replace(s, shaders=[names.get(shader, shader) for shader in s.shaders]) for s in model.surfaces]
    return replace(model, surfaces=surfaces, skins=[]), files


def game_palette(file: GameFile) -> NDArray[np.uint8] | None:
    """Return the colours (256, 3) that stock Quake II shows: those of its game's `pics/colormap.pcx`; None without.

    It is looked for in the game that a file lies in, or would, and in those that the user has named. (`LoadPCX` and
    `Draw_GetPalette` of ref_gl.)
    """
    home = home_of(file.layer)
    games = [home[0].around] if home is not None else []
    for game in (*games, *file.layer.elsewhere):
        found = game.find_first(["pics"], ["colormap.pcx"])
        if found is None:
            continue
        try:
            data = found.read()
        except ModelError as error:
            log.warning("'%s' can't be read: %s", found.name, error)
            continue
        if len(data) > pcx.PALETTE_SIZE:
            return np.frombuffer(data[-pcx.PALETTE_SIZE :], np.uint8).reshape(256, 3)
    return None
