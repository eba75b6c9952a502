"""Skins of a model: which of its material slots it wears, and pictures of its folder that become further ones."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ..blender import materials, names
from ..blender.compat import Block
from ..blender.materials import Materials
from ..blender.mesh import attributes
from ..blender.provenance import FILE, MODEL_ID
from ..game import pcx
from ..game.search import SearchPath, game_name
from ..game.store import GameFile
from ..reporting import LimitError, collected_warnings
from .games import user_disk


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
    if material is None or materials.is_stand_in(material):
        return []
    image, meant = materials.image_of(material), search.find_image(names.file_name_of(material))
    shown = "" if image is None else image.get(materials.FILE) or bpy.path.abspath(image.filepath)
    return [place for place in ("" if meant is None else meant.place, shown) if place]


def show(block: Block, chosen: str) -> str:
    """Let all faces of a mesh object wear a slot, or a picture that becomes one; returns the skin's name.

    `chosen` is the slot's number or the picture's name, as `list_items` says. Call it outside edit mode.

    Raises:
        LimitError: the picture is not there, or can't be read; the object is as it was.
    """
    mesh = block.data
    if not chosen.isdecimal():
        mesh.materials.append(_new_skin(block, chosen))
    slot = int(chosen) if chosen.isdecimal() else len(mesh.materials) - 1
    if slot >= len(block.material_slots):
        raise LimitError(f"'{block.name}' has no slot {slot}")
    attributes.set_attribute(mesh, "material_index", "INT", "FACE", np.full(len(mesh.polygons), slot, np.int32))
    mesh.update()
    block.active_material_index = slot
    return label(block.material_slots[slot].material)


def _new_skin(block: Block, name: str) -> Block:
    """Return a new material of a picture beside the model's file, called as games call the picture."""
    file = next((file for file in offered(block) if file.name == name), None)
    if file is None:
        raise LimitError(f"no picture '{name}' lies beside the file of '{block.name}' that is no skin yet")
    with collected_warnings() as warnings:
        made = Materials(lambda _: file, pcx.read)
        material = made.get(game_name(file))
    if made.missing:
        bpy.data.materials.remove(material)
        raise LimitError("; ".join(warnings) or f"'{name}' is no picture that Blender can read")
    return material
