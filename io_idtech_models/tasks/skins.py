"""Skins of a model: which of its material slots it wears, pictures of its folder that become further ones, skin files.

Skin files (`upper_red.skin`) say what all surfaces of a model wear; see `blender.shading.materials` for how that shows.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from .. import formats
from ..assets.storage import write_file
from ..blender import names
from ..blender.compat import Block
from ..blender.mesh import attributes
from ..blender.mesh.surface_names import worn_materials
from ..blender.player.parts import PlayerFound, find_player
from ..blender.provenance import FILE, MODEL_ID, SKIN, STAND_IN, WORN_GIVEN, is_stand_in
from ..blender.provenance import model_of as model_id_of
from ..blender.roots import root_of
from ..blender.shading.images import FILE as IMAGE_FILE
from ..blender.shading.images import image_of
from ..blender.shading.materials import Materials, worn_by
from ..game import pcx
from ..game.dress import Wardrobe
from ..game.search import DIFFUSE_ENDINGS, SearchPath, game_name
from ..game.skin import make, read_skin, surface_key
from ..game.store import GameFile
from ..model.surface_look import Layer, Look, Texture
from ..model.wording import listed, plural
from ..reporting import LimitError, Summary, collected_warnings
from .import_.dressing import lacking, materials_of, note_skin, rate_of, wardrobe
from .import_.games import user_disk

log = logging.getLogger(__name__)
SKIN_ENDING = ".skin"  # of what `show` takes for a skin


def label(material: Block | None) -> str:
    """Return what to call a slot in a menu."""
    return "No material" if material is None else names.file_name_of(material) or str(material.name)


def model_file(block: Block) -> Path | None:
    """Return the file that an object's model was imported from; None if there is none, or it is not there any more."""
    model_id = block.data.get(MODEL_ID)
    own = [c for c in bpy.data.collections if model_id is not None and c.get(MODEL_ID) == model_id]
    holders: list[Any] = [*own, *block.users_collection, block.data]
    found = next((holder[FILE] for holder in holders if isinstance(holder.get(FILE), str)), None)
    path = None if found is None else Path(found)
    return path if path is not None and user_disk().file(path).is_file() else None


def offered(block: Block) -> list[GameFile]:
    """Return the pictures beside the model's file that none of an object's slots names or shows."""
    path = model_file(block)
    if path is None:
        return []
    search = SearchPath(user_disk().file(path))
    taken = {_place(place) for slot in block.material_slots for place in _pictures_of(slot.material, search)}
    # What can't be printed, a name that is no UTF-8 for one, can't be the name of an item or a material either.
    return [file for file in search.other_skins() if file.name.isprintable() and _place(file.place) not in taken]


def _place(path: str) -> str:
    """Return one spelling for a picture and those that games take in its place: case and extension do not count."""
    absolute = os.path.abspath(path)  # noqa: PTH100 - links stay
    return os.path.splitext(absolute)[0].lower()  # noqa: PTH122 - Path's own raises where there is no name


def _pictures_of(material: Block | None, search: SearchPath) -> list[str]:
    """Return where the picture is that a slot's name means, and the one that it shows; none of what only stands in."""
    if material is None or is_stand_in(material):
        return []
    image, meant = image_of(material), search.find_image(names.file_name_of(material))
    shown = "" if image is None else image.get(IMAGE_FILE) or bpy.path.abspath(image.filepath)
    return [place for place in ("" if meant is None else meant.place, shown) if place]


def _wardrobe(block: Block) -> Wardrobe | None:
    """Return the skins of an object's model; None if its file is not there, or of a format without skins."""
    path = model_file(block)
    file = None if path is None else user_disk().file(path)
    row = None if file is None else formats.by_suffix(file)
    return wardrobe(file, row) if file is not None and row is not None and row.skins else None


def skins_of(block: Block) -> list[str]:
    """Return the names of the skin files and declarations that there are for an object's model."""
    found = _wardrobe(block)
    return [] if found is None else found.names()


def show(block: Block, chosen: str) -> str:
    """Let all surfaces of an object's model wear a slot, a picture that becomes one, or a skin. Returns its name.

    `chosen` is the slot's number, the picture's name, or the skin's with `SKIN_ENDING`. Surfaces that have no slot of
    that number stay as they are. Call it outside edit mode.

    Raises:
        ModelError: the picture or skin is not there, or can't be read; the objects are as they were.
    """
    if chosen.endswith(SKIN_ENDING):
        return _show_on_parts(block, chosen.removesuffix(SKIN_ENDING))
    if chosen.isdecimal() and int(chosen) >= len(block.material_slots):
        raise LimitError(f"'{block.name}' has no slot {chosen}")
    made = None if chosen.isdecimal() else _new_skin(block, chosen)
    for each in model_of(block):
        slot = len(each.data.materials) if made is not None else int(chosen)
        if made is not None and each.data.library is None:
            each.data.materials.append(made)
        if slot < len(each.material_slots) and each.data.library is None:
            _wear_slot(each, slot)
    return label(block.material_slots[block.active_material_index].material)


def _show_on_parts(block: Block, name: str) -> str:
    """Let a model wear a skin, and the other parts of the player that it belongs to, as far as these have it."""
    shown = _show_skin(block, name)
    player = find_player(block)
    for root in () if player is None else player.parts.values():
        other = next((b for b in root.children_recursive if b.type == "MESH" and root_of(b) == root), None)
        if other is not None and root_of(block) != root and name in skins_of(other):
            _show_skin(other, name)
    if player is not None and player.collection is not None:
        player.collection[SKIN] = name
    return shown


def skin_worn_by(player: PlayerFound, kind: str, own: Collection[str]) -> str:
    """Return the skin that a part of a player wears, which may have those of `own`; "" for none.

    One that was imported wears what it was dressed in; others the player's skin, and if they have none a new one.
    """
    home = next((c for c in player.parts[kind].users_collection if c.get(MODEL_ID)), None)
    if home is not None and (SKIN in home or FILE in home):
        return str(home.get(SKIN, ""))
    worn = "" if player.collection is None else str(player.collection.get(SKIN, ""))
    return worn if worn or own else "default"


def _wear_slot(block: Block, slot: int) -> None:
    mesh = block.data
    attributes.set_attribute(mesh, "material_index", "INT", "FACE", np.full(len(mesh.polygons), slot, np.int32))
    mesh.update()
    block.active_material_index = slot


def model_of(block: Block) -> list[Block]:
    """Return the mesh objects of the model that an object belongs to, itself among them."""
    model_id = block.data.get(MODEL_ID)
    if model_id is None:
        return [block]
    home = next((c for c in block.users_collection if c.get(MODEL_ID) == model_id), None)
    if home is not None:  # a copy in a collection of its own is another model
        own: list[Any] = [b for b in home.all_objects if b.type == "MESH" and b.library is None]
        return [b for b in own if b.data.get(MODEL_ID) == model_id]
    every: list[Any] = [b for b in bpy.data.objects if b.type == "MESH" and b.library is None]
    return [b for b in every if b.data.get(MODEL_ID) == model_id]


def _show_skin(block: Block, name: str) -> str:
    """Let a model wear a skin: materials that import made are made anew, and what a modeller has chosen stays."""
    skins = _wardrobe(block)
    if skins is None:
        raise LimitError(f"'{block.name}' has no file that it was imported from, or one without skins")
    row = formats.by_suffix(skins.model)
    endings = DIFFUSE_ENDINGS if row is not None and row.family is formats.SKELETAL else ("",)
    dress = skins.choose(name)
    materials = materials_of(skins.model, dress, rate_of(bpy.context.scene), endings)
    kept = []
    for each in model_of(block):
        first = each.data.materials[0] if each.data.materials else None
        if not _is_imports(first):
            kept.append(each.name)
            continue
        shader = "" if first is None or is_stand_in(first) else names.file_name_of(first)
        made = materials.of_surface(names.file_name_of(each), [shader] if shader else [])
        if made and each.data.materials:
            each.data.materials[0] = made[0]
        elif made:
            each.data.materials.append(made[0])
        if first is not None and not first.users:
            bpy.data.materials.remove(first)
    for collection in block.users_collection:
        note_skin(collection, dress)
    for sentence in lacking(materials, dress):
        log.warning("%s", sentence)
    if kept:
        log.warning("%s: materials that were not the import's stay", listed(kept))
    return name


def _is_imports(material: Block | None) -> bool:
    """Tell whether a material is still what an import made of a shader or a skin."""
    if material is None:
        return True
    given = material.get(STAND_IN) or material.get(WORN_GIVEN) or material.get(names.GIVEN)
    return isinstance(given, str) and names.is_untouched(material.name, given)


def skin_worn(block: Block) -> GameFile | None:
    """Return the file of the skin that an object's model wears; None if it wears none, or it is not there any more."""
    skins = _wardrobe(block)
    name = next((c[SKIN] for c in block.users_collection if isinstance(c.get(SKIN), str)), None)
    return None if skins is None or name is None else skins.files.get(name)


def proposed_skin(block: Block) -> Path:
    """Return what to call the file of a model's skin: as that which it wears, on disk, or beside the .blend."""
    worn, path = skin_worn(block), model_file(block)
    if worn is not None:
        return Path(worn.path) if worn.path is not None else Path(bpy.data.filepath).parent / worn.name
    stem = names.stem_of(block.name) if path is None else path.stem
    folder = Path(bpy.data.filepath).parent
    beside = folder if path is None or user_disk().file(path).path is None else path.parent
    return beside / f"{stem}_default.skin"


def write_skin(blocks: list[Block], target: Path, source: GameFile | None = None) -> Summary:
    """Write what a model's surfaces wear now as a skin file: see `skin_file`; raises ModelError."""
    data, summary = skin_file(blocks, target, source)
    write_file(target, data)
    return summary


def skin_file(
    blocks: list[Block], target: Path, source: GameFile | None = None, pieces: Mapping[str, list[str]] | None = None
) -> tuple[bytes, Summary]:
    """Return a skin file of what a model's surfaces wear now, and `pieces` of those, by their names.

    A file that is there keeps all that the surfaces do not say otherwise: comments, attached models, order, spelling. A
    new one is like `source`, the skin that the model wore, or made anew.

    Raises:
        ModelError: the file that is there can't be read, or a name can't be written.
    """
    old: GameFile | None = user_disk().file(target)
    old = old if old is not None and old.is_file() else source
    data, count = skin_of(blocks, None if old is None else old.read(), pieces)
    return data, Summary(f"{plural(count, 'surface')} of '{target.name}'")


def skin_of(blocks: list[Block], old: bytes | None, pieces: Mapping[str, list[str]] | None = None) -> tuple[bytes, int]:
    """Return a skin file of what surfaces wear now, and how many they are: an old one with what they say otherwise.

    Raises:
        ModelError: a name can't be written.
    """
    every = pieces or {}
    now = [(piece, shader) for name, shader in _worn_now(blocks) if shader for piece in every.get(name, [name])]
    worn = _first_of_each(now)
    document = make(worn) if old is None else read_skin(old)
    for surface, shader in worn.items():
        document = document.set_shader(surface, shader)
    return document.write(), len(worn)


def _first_of_each(worn: list[tuple[str, str]]) -> dict[str, str]:
    """Return what surfaces wear, of those that a skin can't tell apart the first; others are named."""
    first: dict[str, tuple[str, str]] = {}
    for surface, shader in worn:
        shown = first.setdefault(surface_key(surface), (surface, shader))[1]
        if shader != shown:
            text = "'%s': a skin has one line for all of a name: '%s', not '%s'; rename one of these surfaces"
            log.warning(text, surface, shown, shader)
    return dict(first.values())


def skin_with(
    blocks: list[Block], old: bytes, pieces: Mapping[str, list[str]] | None = None
) -> tuple[bytes, list[str]]:
    """Return a skin file that surfaces do not wear now, with new ones that it does not list, and their names.

    Raises:
        ModelError: a name can't be written.
    """
    document, came = read_skin(old), {surface_key(name) for name in map(_name_in_source, blocks) if name}
    own, added, every = document.shaders(), [], pieces or {}
    if came and own and came.isdisjoint(own):  # it is of another model, as heads of players may have
        return old, []
    for surface, shader in _worn_now(blocks):
        for piece in every.get(surface, [surface]):
            if shader and surface_key(piece) not in own and surface_key(piece) not in came:
                document = document.set_shader(piece, own.get(surface_key(surface), shader))
                added.append(piece)
    return document.write(), added


def _name_in_source(block: Block) -> str:
    """Return what an object's surface is called in the file that it came from; "" of one that came from none."""
    name = block.get(names.SOURCE) if model_id_of(block) else None
    return name if isinstance(name, str) else ""


def _worn_now(blocks: list[Block]) -> list[tuple[str, str]]:
    return [(surface, "" if m is None else worn_by(m)) for surface, m in worn_materials(blocks)]


def _new_skin(block: Block, name: str) -> Block:
    """Return a new material of a picture beside the model's file, called as games call the picture."""
    file = next((file for file in offered(block) if file.name == name), None)
    if file is None:
        raise LimitError(f"no picture '{name}' lies beside the file of '{block.name}' that is no skin yet")
    with collected_warnings() as warnings:
        made = Materials(lambda name, worn=False: Look((Layer(Texture(file)),)), pcx.read)
        material = made.get(game_name(file))
    if made.missing:
        bpy.data.materials.remove(material)
        raise LimitError("; ".join(warnings) or f"'{name}' is no picture that Blender can read")
    return material
