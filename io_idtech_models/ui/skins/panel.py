"""Which skin the active model wears, the choice of another, and skin files."""

from __future__ import annotations

from typing import Any

from ...blender import names
from ...blender.compat import Context
from ...blender.provenance import SKIN
from ...tasks.export.subject import Subject, subject_of
from ..panel.main import OfModel, draw_skin, on_both_levels
from ..translations import CONTEXT
from .operators import OBJECT_OT_idtech_write_skin


def worn_by(subject: Subject) -> str:
    """Return what to call what a model wears: its skin, or the slot that it shows; "" where it wears none."""
    skin = None if subject.home is None else subject.home.get(SKIN)
    if isinstance(skin, str) and skin:
        return skin
    if subject.row is not None and not subject.row.skins_in_slots:
        return ""
    block = next(iter(subject.meshes), None) if subject.active.type != "MESH" else subject.active
    material = None if block is None else block.active_material
    return "" if material is None else names.file_name_of(material)


class SkinsPanel(OfModel):
    """The skin of the whole model."""

    bl_label = "Skins"

    @classmethod
    def applies(cls, subject: Subject) -> bool:
        """Show it where there is a mesh to dress, in a format that has skins."""
        has_skins = subject.row is None or bool(subject.row.skins) or subject.row.skins_in_slots
        return has_skins and bool(subject.meshes)

    def draw(self: Any, context: Context) -> None:
        """Show what the model wears, as a menu of what it may wear; and the button that writes it."""
        subject = subject_of(context)
        if subject is None:
            return
        split = self.layout.split(factor=0.3)
        split.label(text="Skin", text_ctxt=CONTEXT)
        draw_skin(split, worn_by(subject))
        if OBJECT_OT_idtech_write_skin.poll(context):
            self.layout.operator(OBJECT_OT_idtech_write_skin.bl_idname, icon="FILE_TICK", text="Write Skin...")


VIEW3D_PT_idtech_skins, VIEW3D_PT_idtech_part_skins = on_both_levels(SkinsPanel, "skins")
CLASSES = (VIEW3D_PT_idtech_skins,)
PARTS = (VIEW3D_PT_idtech_part_skins,)
