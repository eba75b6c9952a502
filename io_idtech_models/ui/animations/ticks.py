"""Which of a model's animations an export writes: ticks in its dialog, where scripts and presets name them."""

from typing import Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, IntProperty, StringProperty

from ...reporting import LimitError

PropertyGroup: Any = bpy.types.PropertyGroup
UIList: Any = bpy.types.UIList
NONE = ","  # what `actions` says where nothing is ticked: empty, it means what it is without ticks
MOST_ROWS = 8
Names = str | tuple[str, ...]


class IDTECH_PG_tick(PropertyGroup):  # type: ignore[misc]
    """An animation that may be written."""

    name: StringProperty(name="Name", description="The animation")
    action: StringProperty()
    use: BoolProperty(name="Write", description="Write this animation", default=True)


class IDTECH_UL_ticks(UIList):  # type: ignore[misc]
    """Animations with a box before each."""

    def draw_item(self, _context: Any, layout: Any, _data: Any, item: Any, _icon: Any, _active: Any) -> None:
        """Show an animation."""
        layout.use_property_split = False
        layout.prop(item, "use", text=item.name, translate=False)


class TickedAnimations:
    """What exports share that write some of a model's animations: the option `actions`, as ticks in a window."""

    ticks: CollectionProperty(type=IDTECH_PG_tick, options={"HIDDEN", "SKIP_SAVE"})
    tick: IntProperty(name="What has a tick is written", options={"HIDDEN", "SKIP_SAVE"})
    ticked: StringProperty(options={"HIDDEN", "SKIP_SAVE"})  # what `actions` said when the ticks did, too
    all_named: BoolProperty(options={"HIDDEN", "SKIP_SAVE"})  # all are named: `actions` may not be empty then
    actions: Any

    def fill_ticks(self, context: Any) -> None:
        """Offer the animations of the active object's model; those of the last time are ticked, or else all."""
        from ...tasks.animations.find import animations_of

        self._fill_ticks(animations_of(context))

    def fill_ticks_of(self, rig: Any, all_named: bool = True) -> None:
        """Offer the actions of an armature in the same way; unless `all_named` none is named where all are ticked."""
        from ...tasks.animations.rigs import RigAnimations

        self._fill_ticks(RigAnimations(rig), all_named)

    def _fill_ticks(self, animations: Any, all_named: bool = True) -> None:
        from ...tasks.animations.vertex import VertexAnimations

        self.ticks.clear()
        for row in () if animations is None else animations.rows():
            if not (row.whole or row.by_names or row.unmade):
                item = self.ticks.add()
                item.name, item.action = row.name, row.key
        if not self.ticks:
            return
        self.all_named = all_named and not (isinstance(animations, VertexAnimations) and animations.ids)
        asked = set(_names(self.actions))
        if not asked <= {item.action for item in self.ticks}:
            self.actions = ""
        self._from_text()

    def _from_text(self) -> None:
        """Tick what `actions` names, all where it is empty."""
        asked = set(_names(self.actions))
        for item in self.ticks:
            item.use = item.action in asked if self.actions else True
        self.ticked = self.actions = self._text()

    def _text(self) -> str:
        """Return what `actions` is to say of the ticks."""
        wanted = [item.action for item in self.ticks if item.use]
        if len(wanted) == len(self.ticks) and not self.all_named:
            return ""
        return ", ".join(wanted) or NONE

    def keep_in_step(self) -> None:
        """Let `actions` say what is ticked, or the ticks what a preset has made it say."""
        if not self.ticks:
            return
        if self.actions != self.ticked:
            self._from_text()
        elif self._text() != self.ticked:
            self.ticked = self.actions = self._text()

    def asked_actions(self) -> Names:
        """Return the names of the actions that are to be written, see `GatherSettings.actions`.

        Raises:
            LimitError: none is ticked.
        """
        self.keep_in_step()
        wanted = tuple(item.action for item in self.ticks if item.use)
        if self.ticks and not wanted:
            raise LimitError("no animation is ticked: tick those to write in the dialog")
        return wanted if self.ticks and self.actions else str(self.actions)

    def draw_ticks(self, layout: Any) -> None:
        """Show the animations with their ticks; their names, to be typed, where it is not known which there are."""
        self.keep_in_step()
        if not self.ticks:
            layout.prop(self, "actions")
            return
        rows = min(len(self.ticks), MOST_ROWS)
        layout.template_list("IDTECH_UL_ticks", "", self, "ticks", self, "tick", rows=rows, maxrows=MOST_ROWS)
        row = layout.row(align=True)
        row.operator("export_anim.idtech_tick", text="All").on = True
        row.operator("export_anim.idtech_tick", text="None").on = False


class EXPORT_ANIM_OT_idtech_tick(bpy.types.Operator):
    """Tick all animations, or none, in the export dialog that is open."""

    bl_idname = "export_anim.idtech_tick"
    bl_label = "Tick All Animations"
    bl_description = "Tick all animations in this dialog, or none"
    bl_options: Any = {"INTERNAL"}

    on: BoolProperty(name="On", description="Tick them", default=True)

    def execute(self, context: Any) -> Any:
        """Set the ticks of the operator that the file browser is open for."""
        operator = getattr(context.space_data, "active_operator", None)
        for item in getattr(operator, "ticks", ()):
            item.use = self.on
        return {"FINISHED"}


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


CLASSES = (IDTECH_PG_tick, IDTECH_UL_ticks, EXPORT_ANIM_OT_idtech_tick)
