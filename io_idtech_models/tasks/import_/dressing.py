"""What a model wears: the materials of an import, by its skin, its game's scripts, and its pictures."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from ...assets.surface_looks import Looks
from ...blender.provenance import SKIN
from ...blender.shading.materials import Materials
from ...formats import SKIN_DECLS, VERTEX, Format
from ...game.dress import Dress, SkinDecl, Wardrobe
from ...game.search import SearchPath
from ...game.skin import read_skin
from ...game.store import GameFile
from ...reporting import ModelError, listed, plural

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Dressing:
    """How to dress a model; the import operators declare the same options."""

    skin: str = ""  # a skin's name; "" the usual one, "none" the model's own shaders
    plain_materials: bool = False  # one picture each, which is what formats of other programs can hold
    moving_textures: bool = False  # textures that move in the game do in the scene


AS_USUAL = Dressing()
Worn = tuple[Materials, Dress | None]  # what makes the materials of a model, and the skin that it wears


def materials_for(
    file: GameFile,
    row: Format,
    wanted: Dressing,
    frame_rate: float,
    endings: tuple[str, ...] = ("",),
    skin: GameFile | SkinDecl | None = None,
) -> Worn:
    """Return what makes the materials of a model, and the skin that it wears; a warning names one that can't be.

    `skin` is the file of that, or its declaration, where who asks knows it.
    """
    search = SearchPath(file)
    dress = Dress(skin.name, decl=skin) if isinstance(skin, SkinDecl) else None
    if row.skins and dress is None:
        try:
            known = Dress(wanted.skin, skin, read_skin(skin.read())) if isinstance(skin, GameFile) else None
            dress = known or wardrobe(file, row).choose(wanted.skin)
        except ModelError as error:
            log.warning("%s", error)
    rate = frame_rate if wanted.moving_textures else 0.0
    materials = materials_of(file, dress, rate, endings)
    materials.plain = wanted.plain_materials
    if row.family is VERTEX:
        materials.own_image = search.own_image
    return materials, dress


def materials_of(file: GameFile, dress: Dress | None, frame_rate: float, endings: tuple[str, ...]) -> Materials:
    """Return what makes the materials of a model in a skin; textures move at a `frame_rate`, if it is not 0."""
    looks = Looks(SearchPath(file), endings)
    return Materials(looks.find, read_picture, None, None if dress is None else dress.worn, frame_rate=frame_rate)


def wardrobe(file: GameFile, row: Format) -> Wardrobe:
    """Return the skins of a model of a format."""
    return Wardrobe(file, by_decls=row.skins == SKIN_DECLS)


def rate_of(scene: Any, frame_rate: float = 0.0) -> float:
    """Return the frames per second of a scene, or those that an import gives it."""
    return float(frame_rate or scene.render.fps / scene.render.fps_base)


def note_skin(collection: Any, dress: Dress | None) -> None:
    """Note on a model's collection which skin it wears, and what that attaches and scales, for users to see."""
    if dress is None:
        return
    collection[SKIN] = dress.name
    if dress.skin is None:
        return
    for kind, model in dress.skin.attached().items():
        collection[kind] = model
    if dress.skin.scale != 1.0:
        collection["playerscale"] = dress.skin.scale


def lacking(materials: Materials, dress: Dress | None) -> list[str]:
    """Return what a model's materials lack, in sentences."""
    found = []
    if materials.missing:
        found.append(f"{plural(len(materials.missing), 'texture')} not found: {listed(materials.missing)}")
    if materials.unlisted and dress is not None:
        found.append(f"skin '{dress.name}' has nothing for {listed(materials.unlisted)}: games show these grey")
    materials.missing.clear()  # said once, though more models may wear the same
    materials.unlisted.clear()
    return found


def read_picture(file: GameFile) -> Any:
    """Return the pixels of a picture that Blender can't load, None for any other; raises ModelError."""
    if file.suffix.lower() != ".pcx":
        return None
    from ...game.pictures import pcx

    return pcx.read(file)
