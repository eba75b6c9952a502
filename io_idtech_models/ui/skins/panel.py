"""Which skin the active model wears, the choice of another, and skin files."""

from __future__ import annotations

from typing import Any

from ...blender import names
from ...blender.compat import Context
from ...blender.provenance import SKIN
from ...tasks.export.subject import Subject, subject_of
from ..panel.main import Child, Panel
from .operators import IDTECH_MT_skins, skinned


def worn_by(subject: Subject) -> str:
    """Return what to call what a model wears: its skin, else the active object's material."""
    skin = None if subject.home is None else subject.home.get(SKIN)
    if isinstance(skin, str) and skin:
        return skin
    block = next(iter(subject.meshes), None) if subject.active.type != "MESH" else subject.active
    material = None if block is None else block.active_material
    return "" if material is None else names.file_name_of(material)


class VIEW3D_PT_idtech_skins(Child, Panel):  # type: ignore[misc]
    """The skin of the whole model."""

    bl_idname = "VIEW3D_PT_idtech_skins"
    bl_label = "Skins"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Show it where there is a mesh to dress."""
        return skinned(context) is not None

    def draw(self, context: Context) -> None:
        """Show what the model wears, as a menu of what it may wear; and the button that writes it."""
        subject = subject_of(context)
        if subject is None:
            return
        layout: Any = self.layout
        split = layout.split(factor=0.3)
        split.label(text="Wears")
        worn = worn_by(subject)
        if worn:
            split.menu(IDTECH_MT_skins.bl_idname, text=worn, translate=False)
        else:
            split.menu(IDTECH_MT_skins.bl_idname, text="No Skin")
        layout.operator("object.idtech_write_skin", icon="FILE_TICK", text="Write Skin...")


CLASSES = (VIEW3D_PT_idtech_skins,)
