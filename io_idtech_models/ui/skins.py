"""Skins: which of its material slots a model wears, and pictures of its folder that can become further ones.

The slots of an imported model are its file's list of skins, in order; faces show one of them. What does the work is
imported when it is first needed: everyone who starts Blender waits for this module.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty

from ..blender.compat import Block, Context
from ..reporting import LimitError, ModelError
from .frames import CANCELLED, FINISHED, Operator

if TYPE_CHECKING:
    from ..game.search import SearchPath
    from ..game.store import GameFile

Item = tuple[str, str, str]  # identifier, label, description

# Blender keeps no copy of the strings of an enum that is made when asked for: they must outlive the menu that shows it.
_kept: dict[str, str] = {}


def list_items(_operator: Any, context: Context | None) -> list[Item]:
    """Return the slots of the active mesh, called by numbers, and the pictures beside its file, called by names."""
    block = None if context is None else context.view_layer.objects.active
    if block is None or block.type != "MESH":
        return []
    worn = [(str(i), _label(slot.material), f"Wear slot {i}") for i, slot in enumerate(block.material_slots)]
    found = [(file.name, file.name, "Add this picture as a further skin, and wear it") for file in offered(block)]
    return [(_keep(name), _keep(label), _keep(text)) for name, label, text in (*worn, *found)]


def _keep(text: str) -> str:
    return _kept.setdefault(text, text)


def _label(material: Block | None) -> str:
    from ..blender import names

    return "No material" if material is None else names.file_name_of(material) or str(material.name)


def model_file(block: Block) -> Path | None:
    """Return the file that an object's model was imported from; None if there is none, or it is not there any more."""
    from ..blender.provenance import FILE, MODEL_ID

    model_id = block.data.get(MODEL_ID)
    own = [c for c in bpy.data.collections if model_id is not None and c.get(MODEL_ID) == model_id]
    holders: list[Any] = [*own, *block.users_collection, block.data]
    found = next((holder[FILE] for holder in holders if isinstance(holder.get(FILE), str)), None)
    path = None if found is None else Path(found)
    return path if path is not None and path.is_file() else None


def offered(block: Block) -> "list[GameFile]":
    """Return the pictures beside the model's file that none of an object's slots names or shows."""
    from ..game.search import SearchPath
    from ..game.store import Disk

    path = model_file(block)
    if path is None:
        return []
    search = SearchPath(Disk().file(path))
    taken = {_place(place) for slot in block.material_slots for place in _pictures_of(slot.material, search)}
    # What can't be printed, a name that is no UTF-8 for one, can't be the name of an item or a material either.
    return [file for file in search.other_skins() if file.name.isprintable() and _place(file.place) not in taken]


def _place(path: str) -> str:
    """Return one spelling for a picture and those that games take in its place: case and extension do not count."""
    absolute = os.path.abspath(path)  # noqa: PTH100 - links stay
    return os.path.splitext(absolute)[0].lower()  # noqa: PTH122 - Path's own raises where there is no name


def _pictures_of(material: Block | None, search: "SearchPath") -> list[str]:
    """Return where the picture is that a slot's name means, and the one that it shows; none of what only stands in."""
    from ..blender import materials, names

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
    import numpy as np

    from ..blender.mesh import attributes as meshes

    mesh = block.data
    if not chosen.isdecimal():
        mesh.materials.append(_new_skin(block, chosen))
    slot = int(chosen) if chosen.isdecimal() else len(mesh.materials) - 1
    if slot >= len(block.material_slots):
        raise LimitError(f"'{block.name}' has no slot {slot}")
    meshes.set_attribute(mesh, "material_index", "INT", "FACE", np.full(len(mesh.polygons), slot, np.int32))
    mesh.update()
    block.active_material_index = slot
    return _label(block.material_slots[slot].material)


def _new_skin(block: Block, name: str) -> Block:
    """Return a new material of a picture beside the model's file, called as games call the picture."""
    from ..blender.materials import Materials
    from ..game import pcx
    from ..game.search import game_name
    from ..reporting import collected_warnings

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


class OBJECT_OT_idtech_show_skin(Operator):  # type: ignore[misc]
    """Let the model wear one of its skins, or a picture of its folder that becomes a further one."""

    bl_idname = "object.idtech_show_skin"
    bl_label = "Show Skin"
    bl_description = "Let the model wear one of its skins, or a picture of its folder that becomes a further one"
    bl_options = {"UNDO"}  # to adjust it afterwards would mean other numbers: a picture has become a slot
    bl_property = "skin"

    skin: EnumProperty(
        name="Skin",
        description="A slot's number, or the name of a picture that lies beside the model's file",
        items=list_items,
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Offer it on meshes that have a skin to choose."""
        lack = _lack(context)
        if lack:
            cls.poll_message_set(lack)
        return not lack

    def invoke(self, context: Context, event: Any) -> set[str]:
        """Ask which, with a field to search in, unless a menu's entry has said it."""
        if self.properties.is_property_set("skin"):
            return self.execute(context)
        context.window_manager.invoke_search_popup(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: Context) -> set[str]:
        """Show the chosen skin; what hinders it is said, and the object is as it was."""
        from ..tasks.vertex import object_mode

        active = context.view_layer.objects.active
        try:
            with object_mode(context):
                name = show(active, self.skin)
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        self.report({"INFO"}, f"'{active.name}' wears '{name}'")
        return FINISHED


def _lack(context: Context) -> str:
    """Return why there is no skin to choose, or ""."""
    active = context.view_layer.objects.active
    if active is None or active.type != "MESH":
        return "no mesh is active"
    if active.data.library is not None:
        return f"the mesh of '{active.name}' belongs to another .blend"
    if list_items(None, context):
        return ""
    file = model_file(active)
    if file is None:
        return f"'{active.name}' has no material, and no file that it was imported from"
    return f"'{active.name}' has no material, and no picture lies in '{file.parent}'"


CLASSES = (OBJECT_OT_idtech_show_skin,)


def draw_menu(self: Any, context: Context) -> None:
    """Add the choice of skins to the menu beside the list of material slots."""
    self.layout.separator()
    self.layout.operator_menu_enum(OBJECT_OT_idtech_show_skin.bl_idname, "skin")


def draw_object_menu(self: Any, context: Context) -> None:
    """Add the choice of skins to the menu of objects, where an imported mesh is active."""
    active = context.view_layer.objects.active
    if active is not None and active.type == "MESH" and model_file(active) is not None:
        draw_menu(self, context)
