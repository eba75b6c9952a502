"""Animations: the list of those that the active object's model has, of whatever kind it is."""

from __future__ import annotations

from typing import Any

import bpy

from ...blender.compat import Context
from ..panel.main import Child, Panel
from ..translations import CONTEXT
from . import shown

UIList: Any = bpy.types.UIList
OPERATOR = "object.idtech_animation_"
# On actions, by the names of `blender/properties.py`: what games are told of an animation.
WIDE = 330  # pixels of the sidebar, in which rows have room for all numbers
RATES, LOOP = ("idtech_fps", "idtech_frame_rate"), "idtech_loop"


class IDTECH_UL_animations(UIList):  # type: ignore[misc]
    """Name, first and last frame, frames per second, and whether it repeats."""

    def draw_item(self, context: Any, layout: Any, _data: Any, item: Any, _icon: Any, _active: Any) -> None:
        """Show an animation."""
        row = layout.row(align=True)
        if "RENAME" in item.can:
            row.prop(item, "name", text="", emboss=False)
        else:
            row.label(text=item.name, translate=False)
        numbers = row.row(align=True)
        numbers.alignment = "RIGHT"
        numbers.label(text=f"{item.first}-{item.last}", translate=False)
        if context.region.width > WIDE:
            numbers.label(text=f"{item.rate:g}" if item.rate else "", translate=False)
            numbers.label(text="", icon="FILE_REFRESH" if item.loop else "BLANK1")


class VIEW3D_PT_idtech_animations(Child, Panel):  # type: ignore[misc]
    """The animations of the active object's model."""

    bl_idname = "VIEW3D_PT_idtech_animations"
    bl_label = "Animations"
    bl_options: Any = set()  # open: what whoever has some uses most

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Show it where something can be animated: a mesh with frames, an armature, or a part of a player."""
        active = context.view_layer.objects.active
        if active is None or active.type not in ("MESH", "ARMATURE", "EMPTY"):
            return False
        if active.type == "MESH":
            return active.data.shape_keys is not None or active.parent is not None or bool(active.modifiers)
        return True

    def draw(self, context: Context) -> None:
        """Draw the list, what can be done with it, and what games are told of the animation that plays."""
        layout, listing = self.layout, shown.listing(context)
        if listing is None:
            return
        row = layout.row()
        row.template_list("IDTECH_UL_animations", "", listing, "rows", listing, "index", rows=5)
        item = listing.rows[listing.index] if 0 <= listing.index < len(listing.rows) else None
        self.draw_buttons(row.column(align=True), listing, item)
        if listing.unmade:
            layout.operator(OPERATOR + "make", icon="ACTION")
        if item is not None:
            draw_facts(layout, item, None if item.whole else playing(context.view_layer.objects.active, item.action))

    def draw_buttons(self, column: Any, listing: Any, item: Any) -> None:
        """Draw what can be done."""
        can = [] if item is None else item.can.split()
        name = "" if item is None else item.action
        add = column.row(align=True)
        add.enabled = listing.can_add
        add.operator_context = "INVOKE_DEFAULT"
        add.operator(OPERATOR + "add", text="", icon="ADD")
        for what, icon in (("remove", "REMOVE"), ("duplicate", "DUPLICATE")):
            button = column.row(align=True)
            button.enabled = what.upper() in can
            button.operator(OPERATOR + what, text="", icon=icon).name = name
        if "MOVE" in can:
            column.separator()
            for direction, icon in (("UP", "TRIA_UP"), ("DOWN", "TRIA_DOWN")):
                operator = column.operator(OPERATOR + "move", text="", icon=icon)
                operator.name, operator.direction = name, direction


def playing(active: Any, name: str) -> Any:
    """Return the action of a name that an object, its shape keys, or what carries or deforms it plays; or None.

    Whoever looks for it among all actions of the file compares thousands of names.
    """
    deforming = [modifier.object for modifier in active.modifiers if modifier.type == "ARMATURE"]
    holders = [active, active.parent, *deforming, getattr(active.data, "shape_keys", None)]
    played = [holder.animation_data for holder in holders if holder is not None]
    actions = [animation.action for animation in played if animation is not None]
    return next((action for action in actions if action is not None and action.name == name), None)


def draw_facts(layout: Any, item: Any, action: Any) -> None:
    """Draw the numbers of an animation: those that its action keeps for its game as properties, to be edited."""
    column = layout.column(align=True)
    column.use_property_split, column.use_property_decorate = True, False
    draw_fact(column, "Frames", f"{item.first}-{item.last} ({item.last - item.first + 1})")
    rates = [name for name in RATES if action is not None and name in action]
    for name in rates:
        column.prop(action, f'["{name}"]', text="Frame Rate")
    if not rates and item.rate:
        draw_fact(column, "Frame Rate", f"{item.rate:g}")
    if action is not None and LOOP in action:
        column.prop(action, f'["{LOOP}"]', text="Loop Frames")
    elif item.loop:
        draw_fact(column, "Loop Frames", str(item.loop))
    if action is not None and RATES[1] in action and LOOP not in action:
        column.prop(action, "use_cyclic")


def draw_fact(column: Any, label: str, value: str) -> None:
    """Draw a number that can't be edited here."""
    split = column.split(factor=0.4)
    name = split.row()
    name.alignment = "RIGHT"
    name.label(text=label, text_ctxt=CONTEXT)
    split.label(text=value, translate=False)


CLASSES = (IDTECH_UL_animations,)
PANELS = (VIEW3D_PT_idtech_animations,)
