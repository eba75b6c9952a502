"""A player's legs and torso play different animations at once: how that looks in the game."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import FloatProperty, StringProperty

from ...blender.compat import Context
from ...blender.window import active_rig
from ...reporting import ModelError, collected_warnings
from ..bases import CANCELLED, FINISHED, Operator, may
from ..translations import say
from . import shown


class OBJECT_OT_idtech_preview_torso(Operator):  # type: ignore[misc]
    """Make an action that shows what Enemy Territory makes of two: one on the legs, one on the torso, which aims."""

    bl_idname = "object.idtech_preview_torso"
    bl_label = "Preview Torso"
    bl_description = "Make an action of two as Enemy Territory mixes them on legs and torso; it is never exported"
    bl_options = {"REGISTER", "UNDO"}

    legs: StringProperty(name="Legs", description="The action, or the row, that the legs play")
    torso: StringProperty(name="Torso", description="The action, or the row, that the torso plays")
    pitch: FloatProperty(name="Pitch", description="Where the player aims, degrees down", soft_min=-90, soft_max=90)
    yaw: FloatProperty(name="Yaw", description="Where the player aims, degrees to the left", soft_min=-90, soft_max=90)

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Offer it on armatures that know their bones' torso weights."""
        from ...blender.skeletal.torso import gather_traits

        rig = active_rig(context)
        weighted = rig is not None and gather_traits(list(rig.data.bones)) is not None
        return may(cls, "" if weighted else say("No armature whose bones have torso weights is active"))

    def invoke(self, context: Context, event: Any) -> Any:
        """Ask which actions; the one that plays now is the torso's."""
        rig = active_rig(context)
        action = None if rig.animation_data is None else rig.animation_data.action
        if action is not None:
            self.legs, self.torso = self.legs or action.name, self.torso or action.name
        return context.window_manager.invoke_props_dialog(self)

    def draw(self, context: Context) -> None:
        """Show the options."""
        self.layout.use_property_split = True
        listing = shown.listing(context)
        rows: tuple[Any, str] = (bpy.data, "actions") if listing is None or not listing.unmade else (listing, "rows")
        for name in ("legs", "torso"):
            self.layout.prop_search(self, name, *rows)
        for name in ("pitch", "yaw"):
            self.layout.prop(self, name)

    def execute(self, context: Context) -> set[str]:
        """Make the action, and let the armature play it."""
        from ...tasks.animations.torso import preview_torso

        try:
            with collected_warnings() as warnings:
                action = preview_torso(active_rig(context), self.legs, self.torso, self.pitch, self.yaw, context)
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        self.report({"WARNING" if warnings else "INFO"}, "; ".join([f"'{action.name}' plays", *warnings]))
        return FINISHED


CLASSES = (OBJECT_OT_idtech_preview_torso,)


def draw_entry(self: Any, context: Context) -> None:
    """Add the operator to a menu, where the armature has torso weights."""
    if OBJECT_OT_idtech_preview_torso.poll(context):
        self.layout.operator(OBJECT_OT_idtech_preview_torso.bl_idname)


def draw_menu(self: Any, context: Context) -> None:
    """Add the operator to the menu of poses."""
    if OBJECT_OT_idtech_preview_torso.poll(context):
        self.layout.separator()
        draw_entry(self, context)
