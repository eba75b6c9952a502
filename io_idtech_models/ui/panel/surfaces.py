"""The surfaces of the active model: what they and their shaders are called in the file, and which picture they show."""

from __future__ import annotations

from typing import Any

import bpy

from ...blender import names
from ...blender.compat import Context
from ...blender.provenance import is_stand_in
from ...blender.shading.images import image_of
from ...blender.shading.materials import worn_by
from ...tasks.sidebar.subject import subject_of
from . import state
from .main import Child, Panel
from .tags import shown_kind

List: Any = bpy.types.UIList


class IDTECH_UL_surfaces(List):  # type: ignore[misc]
    """The meshes among a collection's objects."""

    bl_idname = "IDTECH_UL_surfaces"

    def filter_items(self, _context: Context, data: Any, name: str) -> tuple[list[int], list[int]]:
        """Show meshes alone, by the name that is searched for."""
        return shown_kind(self, getattr(data, name), "MESH"), []

    def draw_item(self, _context: Context, layout: Any, _data: Any, item: Any, _icon: int, _active: Any) -> None:
        """Show one: its name, and its material's, to edit; and whether that shows a picture."""
        split = layout.split(factor=0.4, align=True)
        split.prop(item, "name", text="", emboss=False, icon="MESH_DATA")
        material = item.data.materials[0] if item.data.materials else None
        if material is None:
            split.label(text="No Material", icon="ERROR")
            return
        missing = image_of(material) is None
        split.prop(material, "name", text="", emboss=False, icon="ERROR" if missing else "IMAGE_DATA")


class VIEW3D_PT_idtech_surfaces(Child, Panel):  # type: ignore[misc]
    """The surfaces of the model."""

    bl_idname = "VIEW3D_PT_idtech_surfaces"
    bl_label = "Surfaces"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Show it where there are surfaces."""
        subject = subject_of(context)
        return subject is not None and bool(subject.meshes)

    def draw(self, context: Context) -> None:
        """List them; a click selects one, a double click renames it, or its shader; below is what the file gets."""
        subject, layout = subject_of(context), self.layout
        if subject is None:
            return
        if subject.home is not None:
            manager = context.window_manager
            layout.template_list(
                IDTECH_UL_surfaces.bl_idname, "", subject.home, "objects", manager, state.PART, rows=4, sort_lock=True
            )
        if subject.active.type == "MESH":
            _draw_file(layout.column(align=True), subject.active)


def _draw_file(column: Any, block: Any) -> None:
    """Show what the file gets of a surface, and what its material shows."""
    _pair(column, "Surface", names.file_name_of(block))
    material = block.data.materials[0] if block.data.materials else None
    if material is None:
        column.label(text="Give it a material, called as the shader", icon="ERROR")
        return
    if is_stand_in(material):
        column.label(text="The file names no shader: rename the material to give it one", icon="INFO")
    else:
        _pair(column, "Shader", names.file_name_of(material))
    worn = worn_by(material)
    if worn != names.file_name_of(material):
        _pair(column, "By Skin", worn)
    image = image_of(material)
    if image is None:
        column.label(text="No picture found", icon="ERROR")
    else:
        _pair(column, "Picture", image.name)


def _pair(column: Any, label: str, text: str) -> None:
    split = column.split(factor=0.3)
    split.label(text=label)
    split.label(text=text, translate=False)


CLASSES = (IDTECH_UL_surfaces, VIEW3D_PT_idtech_surfaces)
