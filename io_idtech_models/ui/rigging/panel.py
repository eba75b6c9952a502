"""The rig of the active model: made of its frames, or to be made."""

from __future__ import annotations

from typing import Any

from ...blender.compat import Context
from ..panel.main import Child, Panel
from .operators import OBJECT_OT_idtech_hang_on_rig, OBJECT_OT_idtech_make_rig, OBJECT_OT_idtech_remove_rig


class VIEW3D_PT_idtech_rig(Child, Panel):  # type: ignore[misc]
    """The rig of a model that has frames."""

    bl_idname = "VIEW3D_PT_idtech_rig"
    bl_label = "Rig"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Show it where a model with frames is active, by whichever of its objects, or a rig that was made of some."""
        from ...tasks.rigging import frames_meant, rig_meant

        return frames_meant(context) or rig_meant(context) is not None

    def draw(self, context: Context) -> None:
        """Name the armature, and offer what can be done."""
        from ...tasks.rigging import rig_meant

        layout: Any = self.layout
        rig = rig_meant(context)
        if rig is None:
            layout.operator(OBJECT_OT_idtech_make_rig.bl_idname, icon="ARMATURE_DATA")
            return
        split = layout.split(factor=0.3)
        labels, values = split.column(), split.column()
        labels.label(text="Armature")
        values.label(text=rig.name, translate=False)
        labels.label(text="Bones")
        values.label(text=str(len(rig.data.bones)), translate=False)
        layout.operator(OBJECT_OT_idtech_hang_on_rig.bl_idname, icon="MOD_ARMATURE")
        layout.operator(OBJECT_OT_idtech_remove_rig.bl_idname, icon="X")


CLASSES = (VIEW3D_PT_idtech_rig,)
