"""The surfaces of the active model: what they and their shaders are called in the file, and which picture they show.

What knows pictures is imported when it is first drawn: everyone who starts Blender waits for this module.
"""

from __future__ import annotations

from typing import Any

import bpy

from ...blender import names
from ...blender.compat import Context
from ...blender.provenance import is_stand_in
from ...tasks.export.subject import Subject, subject_of
from ..translations import CONTEXT
from .main import ACTIVE_PART, OfModel, on_both_levels
from .tags import shown_kind

List: Any = bpy.types.UIList


class IDTECH_UL_surfaces(List):  # type: ignore[misc]
    """The meshes among a collection's objects."""

    bl_idname = "IDTECH_UL_surfaces"

    def filter_items(self, _context: Context, data: Any, name: str) -> tuple[list[int], list[int]]:
        """Show meshes alone, by the name that is searched for."""
        return shown_kind(self, getattr(data, name), lambda block: block.type == "MESH"), []

    def draw_item(self, _context: Context, layout: Any, _data: Any, item: Any, _icon: int, _active: Any) -> None:
        """Show one: its name to edit, the end of its shader's, and whether that shows a picture."""
        from ...blender.shading.images import images_in

        split = layout.split(factor=0.4, align=True)
        split.prop(item, "name", text="", emboss=False, icon="MESH_DATA")
        material = _worn(item)
        if material is None:
            split.label(text="No Material", icon="ERROR")
            return
        shader = names.file_name_of(material).replace("\\", "/").rpartition("/")[2]
        split.label(text=shader, icon="IMAGE_DATA" if images_in([material]) else "ERROR", translate=False)


class SurfacesPanel(OfModel):
    """The surfaces of the model."""

    bl_label = "Surfaces"

    @classmethod
    def applies(cls, subject: Subject) -> bool:
        """Show it where there are surfaces."""
        return bool(subject.meshes)

    def draw(self: Any, context: Context) -> None:
        """List them; a click selects one, a double click renames it; below is what the file gets."""
        subject, layout = subject_of(context), self.layout
        if subject is None:
            return
        if subject.home is not None:
            manager = context.window_manager
            layout.template_list(
                IDTECH_UL_surfaces.bl_idname, "", subject.home, "objects", manager, ACTIVE_PART, rows=4, sort_lock=True
            )
        if subject.active.type == "MESH":
            _draw_file(layout, subject.active)


def _worn(block: Any) -> Any:
    """Return the material of the slot that a surface wears, which is the active one, or of the first."""
    first = next((slot.material for slot in block.material_slots), None)
    return block.active_material or first


def _draw_file(layout: Any, block: Any) -> None:
    """Show what the file gets of a surface, and what its material shows."""
    from ...blender.shading.images import image_of
    from ...blender.shading.materials import worn_by

    material = _worn(block)
    if material is None:
        layout.label(text="Give it a material, called as the shader", icon="ERROR")
        return
    shader, worn, image = names.file_name_of(material), worn_by(material), image_of(material)
    layout.prop(material, "name", text="", icon="MATERIAL")
    lines = [("Surface", names.file_name_of(block))]
    if is_stand_in(material):
        layout.label(text="The file names no shader: rename it", icon="INFO")
    else:
        lines.append(("Shader", shader))
    if worn != shader:
        lines.append(("By Skin", worn))
    if image is not None:
        lines.append(("Picture", image.name))
    split = layout.split(factor=0.3)
    labels, values = split.column(align=True), split.column(align=True)
    for label, text in lines:
        labels.label(text=label, text_ctxt=CONTEXT)
        values.label(text=text, translate=False)
    if image is None:
        layout.label(text="No picture found", icon="ERROR")


VIEW3D_PT_idtech_surfaces, VIEW3D_PT_idtech_part_surfaces = on_both_levels(SurfacesPanel, "surfaces")
CLASSES = (IDTECH_UL_surfaces,)
PANELS = (VIEW3D_PT_idtech_surfaces,)
PARTS = (VIEW3D_PT_idtech_part_surfaces,)
