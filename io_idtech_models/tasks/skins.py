"""Skins of a model: which of its material slots it wears, pictures of its folder that become further ones, skin files.

Skin files (`upper_red.skin`) say what all surfaces of a model wear; see `blender.shading.materials` for how that shows,
and `export.skin_files` for how they are written.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Collection
from typing import Any

import bpy
import numpy as np

from .. import formats
from ..blender import names
from ..blender.compat import Block, Context
from ..blender.mesh import attributes
from ..blender.mesh.levels import levels_of
from ..blender.mesh.surface_names import name_in_source
from ..blender.player.build import store_files, stored_files
from ..blender.player.parts import PlayerFound, find_player
from ..blender.provenance import FILE, MODEL_ID, SKIN, STAND_IN, WORN_GIVEN, collection_of, is_stand_in
from ..blender.roots import root_of
from ..blender.scene import objects_in
from ..blender.shading.edited import Waiting
from ..blender.shading.images import image_of
from ..blender.shading.materials import Materials
from ..blender.shading.pixels import origin_of
from ..game.dress import NONE, Dress
from ..game.pictures import pcx
from ..game.search import DIFFUSE_ENDINGS, SearchPath, game_name
from ..game.store import GameFile
from ..model.surface_look import Layer, Look, Texture
from ..reporting import LimitError, collected_warnings, listed
from .export.last_export import forget_skins
from .export.selection import choose
from .export.skin_files import model_file, noted_skin, wardrobe_of
from .import_.dressing import lacking, materials_of, note_skin, rate_of
from .import_.games import user_disk

log = logging.getLogger(__name__)
SKIN_ENDING = ".skin"  # of what `show` takes for a skin


def label(material: Block | None) -> str:
    """Return what to call a slot in a menu."""
    return "No material" if material is None else names.file_name_of(material) or str(material.name)


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
    shown = "" if image is None else origin_of(image)
    return [place for place in ("" if meant is None else meant.place, shown) if place]


def skins_of(block: Block) -> list[str]:
    """Return the names of the skin files and declarations that there are for an object's model."""
    found = wardrobe_of(_dressed(block))
    return [] if found is None else found.names()


def _dressed(block: Block) -> Block:
    """Return an object, or where it is none of a file's, and hangs on a player's part, a surface of that."""
    root = root_of(block)
    return block if root is None or model_file(block) is not None else _surface_of(root) or block


def _surface_of(root: Block) -> Block | None:
    """Return a surface that a player's part came with; None if there is none."""
    own = (block for block in root.children_recursive if block.type == "MESH" and root_of(block) == root)
    return next((block for block in own if model_file(block) is not None), None)


def show(block: Block, chosen: str) -> str:
    """Let all surfaces of an object's model wear a slot, a picture that becomes one, or a skin. Returns its name.

    `chosen` is the slot's number, the picture's name, or the skin's with `SKIN_ENDING`. Surfaces that have no slot of
    that number stay as they are. Call it outside edit mode.

    Raises:
        ModelError: the picture or skin is not there, or can't be read; the objects are as they were.
    """
    if chosen.endswith(SKIN_ENDING):
        shown = _show_on_parts(block, chosen.removesuffix(SKIN_ENDING))
        forget_skins(_holders_of(block))
        return shown
    if chosen.isdecimal() and int(chosen) >= len(block.material_slots):
        raise LimitError(f"'{block.name}' has no slot {chosen}")
    made = None if chosen.isdecimal() else _new_skin(block, chosen)
    for each in _with_levels(model_of(block)):
        slot = len(each.data.materials) if made is not None else int(chosen)
        if made is not None and each.data.library is None:
            each.data.materials.append(made)
        if slot < len(each.material_slots) and each.data.library is None:
            _wear_slot(each, slot)
    forget_skins(_holders_of(block))
    return label(block.material_slots[block.active_material_index].material)


def _holders_of(block: Block) -> list[Any]:
    """Return all that may remember how an object's model was exported, or the player that this is a part of."""
    player = find_player(block)
    own = [*model_of(block), *(() if player is None else (player.holder, *player.parts.values()))]
    return list(dict.fromkeys(holder for each in own for holder in (each, *getattr(each, "users_collection", ()))))


def _show_on_parts(block: Block, name: str) -> str:
    """Let a model wear a skin, and the other parts of the player that it belongs to, as far as these have it."""
    shown = _show_skin(_dressed(block), name)
    player = find_player(block)
    for root in () if player is None else player.parts.values():
        other = _surface_of(root)
        if other is not None and root_of(block) != root and name in skins_of(other):
            _show_skin(other, name)
    if player is not None and player.collection is not None:
        player.collection[SKIN] = name
        store_files(player.collection, stored_files(player.collection) | _skin_bytes(player, name))
    return shown


def _skin_bytes(player: PlayerFound, name: str) -> dict[str, bytes]:
    """Return the files of a skin that parts of a player have, as they are by now: what it is saved with."""
    found = {}
    for surface in filter(None, map(_surface_of, player.parts.values())):
        skins = wardrobe_of(surface)
        file = None if skins is None else skins.files.get(name)
        if file is not None:
            found[file.name] = file.read()
    return found


def skin_worn_by(player: PlayerFound, kind: str, own: Collection[str]) -> str:
    """Return the skin that a part of a player wears, which may have those of `own`; "" for none.

    One that was imported wears what it was dressed in; others the player's skin, and if they have none a new one.
    """
    home = collection_of(player.parts[kind])
    if home is not None and (SKIN in home or FILE in home):
        return str(home.get(SKIN, ""))
    worn = player.kept(SKIN)
    return worn if worn or own else "default"


def _wear_slot(block: Block, slot: int) -> None:
    mesh = block.data
    attributes.set_attribute(mesh, "material_index", "INT", "FACE", np.full(len(mesh.polygons), slot, np.int32))
    mesh.update()
    block.active_material_index = slot


def surfaces_of(block: Block, context: Context) -> list[Block]:
    """Return the mesh objects that an export of an object's model writes, itself among them."""
    known = model_of(block)
    chosen: list[Block] = [*choose(context, "AUTO").whole]
    if block not in chosen:
        return known
    added = [b for b in chosen if b.type == "MESH" and b.library == block.library and b not in known]
    return [*known, *added]


def model_of(block: Block) -> list[Block]:
    """Return the mesh objects of the model that an object belongs to, itself among them, in the same .blend as it."""
    model_id = block.data.get(MODEL_ID)
    if model_id is None:
        return [block]
    home = next((c for c in block.users_collection if c.get(MODEL_ID) == model_id), None)
    if home is not None:  # a copy in a collection of its own is another model
        own: list[Any] = [b for b in objects_in(home) if b.type == "MESH" and b.library == block.library]
        return [b for b in own if b.data.get(MODEL_ID) == model_id]
    every: list[Any] = [b for b in bpy.data.objects if b.type == "MESH" and b.library == block.library]
    return [b for b in every if b.data.get(MODEL_ID) == model_id]


def _with_levels(blocks: list[Block]) -> list[Block]:
    """Return the mesh objects of a model, and behind them those of its levels of detail, which wear what it wears."""
    holders = dict.fromkeys(each for block in blocks for each in (*block.users_collection, block, block.parent) if each)
    levels = dict.fromkeys(level for holder in holders for level in levels_of(holder).values())
    meshes: list[Any] = [b for level in levels for b in objects_in(level) if b.type == "MESH" and b.library is None]
    return [*blocks, *(mesh for mesh in meshes if mesh not in blocks)]


def _show_skin(block: Block, name: str) -> str:
    """Let a model wear a skin: materials that import made are made anew, and what a modeller has chosen stays.

    Those of them that were edited wait until the model wears the skin again that they are of.
    """
    skins = wardrobe_of(block)
    if skins is None:
        raise LimitError(f"'{block.name}' has no file that it was imported from, or one without skins")
    row = formats.by_suffix(skins.model)
    endings = DIFFUSE_ENDINGS if row is not None and row.family is formats.SKELETAL else ("",)
    dress = skins.choose(name)
    rate = rate_of(bpy.context.scene)
    materials = materials_of(skins.model, dress, rate, endings)
    ways = [materials_of(skins.model, None, each, endings) for each in (rate, 0.0, 0.0)]  # of Show Skin, of imports
    search = SearchPath(skins.model)
    for way in ways:
        way.own_image = search.own_image
    ways[-1].plain = True
    worn = noted_skin(block)
    waiting = Waiting(ways, NONE if worn is None else worn, name)
    kept, whole = [], _with_levels(model_of(block))
    called = _listed_as(whole, dress)
    for each in whole:
        if _is_imports(_first_of(each)):
            _dress(each, called[each], materials, waiting)
        else:
            kept.append(each.name)
    for collection in dict.fromkeys(home for each in whole for home in each.users_collection):
        note_skin(collection, dress)
    for sentence in (*lacking(materials, dress), *waiting.said()):
        log.warning("%s", sentence)
    if kept:
        log.warning("%s: materials that were not the import's stay", listed(kept))
    return name


def _listed_as(blocks: list[Block], dress: Dress | None) -> dict[Block, str]:
    """Return what a skin calls the surfaces of objects: their names, if it lists them, or those that they came with.

    Else that of a surface which shows the same: a piece of it, or what was made like it.
    """
    found = {block: names.file_name_of(block) for block in blocks}
    if dress is None:
        return found
    for block, name in found.items():
        own = name_in_source(block)
        if dress.worn(name, "") is None and own and dress.worn(own, "") is not None:
            found[block] = own
    listed_ones = {block: name for block, name in found.items() if dress.worn(name, "") is not None}
    alike = {_first_of(block): name for block, name in listed_ones.items()}
    alike.pop(None, None)
    return {block: listed_ones.get(block) or alike.get(_first_of(block), name) for block, name in found.items()}


def _first_of(block: Block) -> Block | None:
    slot = next(iter(block.material_slots), None)  # of the mesh, or of this object alone
    return None if slot is None else slot.material


def _dress(block: Block, surface: str, materials: Materials, waiting: Waiting) -> None:
    """Let an object show what a surface wears by a skin, in place of its first material, which import made."""
    first = _first_of(block)
    shader = "" if first is None or is_stand_in(first) else names.file_name_of(first)
    edited = first is not None and waiting.is_edited(first)
    own = names.file_name_of(block)
    made = waiting.of(block, own)
    if made is None:
        made = next(iter(materials.of_surface(surface, [shader] if shader else [])), None)
    if made is not None and len(block.material_slots):
        block.material_slots[0].material = made
    elif made is not None:
        block.data.materials.append(made)
    if first is not None and edited:
        waiting.keep(first, block, own)
    elif first is not None and not first.users:
        bpy.data.materials.remove(first)


def _is_imports(material: Block | None) -> bool:
    """Tell whether a material is still what an import made of a shader or a skin."""
    if material is None:
        return True
    given = material.get(STAND_IN) or material.get(WORN_GIVEN) or material.get(names.GIVEN)
    return isinstance(given, str) and names.is_untouched(material.name, given)


def _new_skin(block: Block, name: str) -> Block:
    """Return a new material of a picture beside the model's file, called as games call the picture."""
    file = next((file for file in offered(block) if file.name == name), None)
    if file is None:
        raise LimitError(f"no picture '{name}' lies beside the file of '{block.name}' that is no skin yet")
    with collected_warnings() as warnings:
        made = Materials(lambda name, worn=False: Look((Layer(Texture(file)),)), pcx.read)
        material = made.get(_called(block, file))
    if made.missing:
        bpy.data.materials.remove(material)
        raise LimitError("; ".join(warnings) or f"'{name}' is no picture that Blender can read")
    return material


def _called(block: Block, file: GameFile) -> str:
    """Return what a model is to call a picture beside its file: where no game is, in the folder of its other skins."""
    called, worn = game_name(file), (slot.material for slot in block.material_slots if slot.material is not None)
    folder = next((folder for folder, slash, _ in (names.file_name_of(m).rpartition("/") for m in worn) if slash), "")
    return f"{folder}/{called}" if folder and "/" not in called else called
