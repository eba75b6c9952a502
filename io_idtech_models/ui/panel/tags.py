"""The tags of the active model, and new ones."""

from collections.abc import Callable
from typing import Any

import bpy
from bpy.props import EnumProperty, StringProperty

from ...blender.compat import Context
from ...blender.window import mode_of
from ...reporting import ModelError
from ...tasks.export.subject import Subject, subject_of
from ..bases import CANCELLED, FINISHED, Operator, may
from ..check.panel import OBJECT_OT_idtech_select_part
from ..import_.showing import select
from ..translations import say
from .main import ACTIVE_PART, OfModel, on_both_levels

List: Any = bpy.types.UIList


def _offered(_operator: Any, _context: Context, _text: str) -> list[tuple[str, str]]:
    """Return names of tags that games know, each with what sits on it."""
    from ...tasks.panel.tags import OFFERED

    return list(OFFERED)


class OBJECT_OT_idtech_add_tag(Operator):  # type: ignore[misc]
    """Add a tag to the model of the active object."""

    bl_idname = "object.idtech_add_tag"
    bl_label = "Add Tag"
    bl_description = "Add a tag to the active object's model: an empty, whose place and turn exports write"
    bl_options = {"REGISTER", "UNDO"}

    name: StringProperty(
        name="Name",
        description="What games look for: tag_weapon, tag_head, ...",
        default="tag_weapon",
        search=_offered,
        search_options={"SUGGESTION"},
        options={"SKIP_SAVE"},
    )
    place: EnumProperty(
        name="Place",
        description="Where the tag stands, and what it moves with",
        items=(
            ("CURSOR", "3D Cursor", "Where the 3D cursor is; of a rig it moves with the active bone"),
            ("OBJECT", "Active Object", "At the active object's origin, and moving with that"),
            ("BONE", "Active Bone", "On the armature's active bone, turned and moved with it"),
        ),
        default="CURSOR",
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Offer it where a model, or what may become one, is active."""
        active = context.view_layer.objects.active
        lack = "" if mode_of(context) in {"OBJECT", "POSE"} else say("Only in object or pose mode")
        return may(cls, say("No object is active") if active is None else lack)

    def invoke(self, context: Context, event: Any) -> Any:
        """Ask for name and place."""
        rig = getattr(subject_of(context), "rig", None)
        if rig is not None and rig.data.bones.active is not None and not self.properties.is_property_set("place"):
            self.place = "BONE"
        return context.window_manager.invoke_props_dialog(self)

    def execute(self, context: Context) -> set[str]:
        """Add it, and select it."""
        from ...tasks.panel.tags import add_tag, is_twin

        if not self.name.strip():
            self.report({"ERROR"}, "a tag needs a name: games look for 'tag_head', 'tag_weapon' and the like")
            return CANCELLED
        try:
            made = add_tag(context, self.name.strip(), self.place)
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        select(context, [made])
        if is_twin(subject_of(context), made):
            said = f"the model has a tag '{self.name.strip()}' already: games find the first, so rename or delete one"
            self.report({"WARNING"}, said)
        return FINISHED


class IDTECH_UL_tags(List):  # type: ignore[misc]
    """The tags among a collection's objects."""

    bl_idname = "IDTECH_UL_tags"

    def filter_items(self, _context: Context, data: Any, name: str) -> tuple[list[int], list[int]]:
        """Show tags alone, by the name that is searched for."""
        from ...blender.roots import is_tag

        return shown_kind(self, getattr(data, name), is_tag), []

    def draw_item(self, _context: Context, layout: Any, _data: Any, item: Any, _icon: int, _active: Any) -> None:
        """Show one: its name to edit, and the bone that it hangs on."""
        from ...blender.roots import is_on_bone

        layout.prop(item, "name", text="", emboss=False, icon="EMPTY_ARROWS")
        if is_on_bone(item):
            layout.label(text=item.parent_bone, translate=False)


def shown_kind(shown: Any, objects: Any, is_kind: Callable[[Any], bool]) -> list[int]:
    """Return which objects a list shows: those of a kind, by the name that the user searches for."""
    wanted, bit = shown.filter_name.lower(), shown.bitflag_filter_item
    return [bit if is_kind(block) and wanted in block.name.lower() else 0 for block in objects]


class TagsPanel(OfModel):
    """The tags of the model."""

    bl_label = "Tags"

    @classmethod
    def applies(cls, subject: Subject) -> bool:
        """Show it where the model's format has tags, or no format is known."""
        return subject.row is None or subject.row.tags

    def draw(self: Any, context: Context) -> None:
        """List them; a click selects one, a double click renames it."""
        subject, layout = subject_of(context), self.layout
        if subject is not None and subject.home is not None:
            manager = context.window_manager
            layout.template_list(
                IDTECH_UL_tags.bl_idname, "", subject.home, "objects", manager, ACTIVE_PART, rows=3, sort_lock=True
            )
        row = layout.row(align=True)
        row.operator(OBJECT_OT_idtech_add_tag.bl_idname, icon="ADD", text="Add Tag...")
        if subject is not None and subject.active.type == "EMPTY":
            view = row.operator(OBJECT_OT_idtech_select_part.bl_idname, text="", icon="ZOOM_SELECTED")
            view.name, view.jump = subject.active.name, True


VIEW3D_PT_idtech_tags, VIEW3D_PT_idtech_part_tags = on_both_levels(TagsPanel, "tags")
CLASSES = (OBJECT_OT_idtech_add_tag, IDTECH_UL_tags)
PANELS = (VIEW3D_PT_idtech_tags,)
PARTS = (VIEW3D_PT_idtech_part_tags,)
