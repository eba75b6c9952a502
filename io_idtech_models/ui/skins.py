"""Skins: which of its material slots a model wears, pictures of its folder that can become further ones, skin files.

The slots of an imported model are its file's list of skins, in order; faces show one of them. What does the work is
imported when it is first needed: everyone who starts Blender waits for this module.
"""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import EnumProperty, StringProperty

from ..blender import names
from ..blender.compat import PATH_OPTIONS, Context
from ..blender.linked import is_from_library
from ..blender.provenance import SKIN
from ..formats import SKIN_FILES
from ..reporting import ModelError, collected_warnings
from ..tasks.export.subject import Subject, subject_of
from .bases import CANCELLED, FINISHED, Exporting, Operator, may
from .panel.main import SKINS_MENU, OfModel, draw_skin, on_both_levels
from .reports import report_done
from .translations import CONTEXT, say

Item = tuple[str, str, str]  # identifier, label, description

# Blender keeps no copy of the strings of an enum that is made when asked for: they must outlive the menu that shows it.
_kept: dict[str, str] = {}


def list_items(_operator: Any, context: Context | None) -> list[Item]:
    """Return the active mesh's slots by their numbers, its model's skins, and pictures beside its file by name."""
    block = None if context is None else skinned(context)
    if block is None:
        return []
    from ..tasks.skins import SKIN_ENDING, label, offered, skins_of

    worn = [(str(i), label(slot.material), f"Wear slot {i}") for i, slot in enumerate(block.material_slots)]
    found = [(file.name, file.name, "Add this picture as a further skin, and wear it") for file in offered(block)]
    skins = [(name + SKIN_ENDING, name, "Let all surfaces of the model wear this skin") for name in skins_of(block)]
    return [(_keep(name), _keep(shown), _keep(text)) for name, shown, text in (*worn, *skins, *found)]


def skinned(context: Context) -> Any | None:
    """Return the mesh whose model skins are chosen for: the active object, or the first of its model's; else None."""
    active = context.view_layer.objects.active
    if active is None or active.type == "MESH":
        return active
    subject = subject_of(context)
    return next(iter(subject.meshes if subject is not None else ()), None)


def _keep(text: str) -> str:
    return _kept.setdefault(text, text)


class OBJECT_OT_idtech_show_skin(Operator):  # type: ignore[misc]
    """Let the model wear one of its skins, or a picture of its folder that becomes a further one."""

    bl_idname = "object.idtech_show_skin"
    bl_label = "Show Skin"
    bl_description = "Let the model wear one of its skins, or a picture of its folder that becomes a further one"
    bl_options = {"UNDO"}  # to adjust it afterwards would mean other numbers: a picture has become a slot
    bl_property = "skin"

    skin: EnumProperty(
        name="Skin",
        translation_context=CONTEXT,
        description="A slot's number, or the name of a picture or skin file (red.skin) beside the model's file",
        items=list_items,
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Offer it on meshes that have a skin to choose."""
        return may(cls, _lack(context))  # whether there are any says a folder, which takes longer

    def invoke(self, context: Context, event: Any) -> set[str]:
        """Ask which, with a field to search in, unless a menu's entry has said it."""
        if self.properties.is_property_set("skin"):
            return self.execute(context)
        context.window_manager.invoke_search_popup(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: Context) -> set[str]:
        """Show the chosen skin; what hinders it is reported, and the object is as it was."""
        from ..blender.player.parts import find_player
        from ..blender.window import object_mode
        from ..reporting import Summary
        from ..tasks.skins import SKIN_ENDING, show

        lack, active = _lack_of_skins(context), skinned(context)
        if lack or active is None:
            self.report({"ERROR"}, lack)
            return CANCELLED
        try:
            with object_mode(context), collected_warnings() as warnings:
                name = show(active, self.skin)
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        player = find_player(active) if self.skin.endswith(SKIN_ENDING) else None
        dressed = active if player is None or player.collection is None else player.collection
        report_done(self, [("", Summary(f"'{dressed.name}' wears '{name}'", warnings))])
        return FINISHED


class OBJECT_OT_idtech_write_skin(Exporting, Operator):  # type: ignore[misc]
    """Write what the surfaces of the active object's model wear now as a skin file."""

    bl_idname = "object.idtech_write_skin"
    bl_label = "Write Skin"
    bl_description = "Write what the surfaces of this model wear now as a skin file; one that is there keeps all else"
    bl_options: Any = {"REGISTER"}
    filename_ext = ".skin"

    filepath: StringProperty(
        name="File Path",
        description="The file to write: PART_SKIN.skin beside the model, upper_red.skin for upper.md3",
        maxlen=1024,
        subtype="FILE_PATH",
        options=PATH_OPTIONS,
    )
    filter_glob: StringProperty(default="*.skin", options={"HIDDEN"})

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Offer it on meshes, and what belongs to one's model, unless its format has no skin files."""
        subject = subject_of(context)
        lack = "" if skinned(context) is not None else say("No model with a mesh is active")
        if subject is not None and subject.row is not None and subject.row.skins != SKIN_FILES:
            lack = say("Models of this format have no skin files")
        return may(cls, lack)

    def invoke(self, context: Context, event: Any) -> Any:
        """Show the file browser, with the name of the skin that the model wears."""
        from ..tasks.export.skin_files import proposed_skin

        if not self.properties.is_property_set("filepath"):  # what Blender remembers is of another skin
            self.filepath = str(proposed_skin(skinned(context)))
        return super().invoke(context, event)

    def execute(self, context: Context) -> set[str]:
        """Write the file; what hinders it is reported, and the file is as it was."""
        from ..tasks.export.skin_files import skin_worn, write_skin
        from ..tasks.skins import surfaces_of

        active, target = skinned(context), Path(bpy.path.abspath(self.filepath))
        try:
            with collected_warnings() as warnings:
                summary = write_skin(surfaces_of(active, context), target, skin_worn(active))
        except ModelError as error:
            self.report({"ERROR"}, f"{target.name}: {error}")
            return CANCELLED
        summary.warnings.extend(warnings)
        report_done(self, [(target.name, summary)])
        return FINISHED


def _lack(context: Context) -> str:
    """Return why no skin can be chosen, or ""."""
    active = skinned(context)
    if active is None:
        return say("No model with a mesh is active")
    if is_from_library(active.data):
        return say("The mesh belongs to another .blend")
    return ""


def _lack_of_skins(context: Context) -> str:
    """Return why there is no skin to choose, or ""."""
    active: Any = skinned(context)
    if list_items(None, context):
        return ""
    from ..tasks.export.skin_files import model_file

    file = model_file(active)
    if file is None:
        return f"'{active.name}' has no material, and no file that it was imported from"
    return f"'{active.name}' has no material, and no picture lies in '{file.parent}'"


class IDTECH_MT_skins(bpy.types.Menu):
    """The skins of the active model: choosing one shows it at once."""

    bl_idname = SKINS_MENU
    bl_label = "Show Skin"

    def draw(self, context: Context) -> None:
        """List them; a menu is drawn once, when it is opened."""
        layout: Any = self.layout
        layout.operator_context = "EXEC_DEFAULT"
        lack = _lack(context) or _lack_of_skins(context)
        if lack:
            layout.label(text=lack, translate=False)
            return
        every = list_items(None, context)
        skins = [item for item in every if item[0].endswith(".skin")]
        others = [item for item in every if item not in skins]
        for name, shown, _ in (*skins, *others):
            if skins and others and name == others[0][0]:
                layout.separator()
            layout.operator(OBJECT_OT_idtech_show_skin.bl_idname, text=shown, translate=False).skin = name


CLASSES = (OBJECT_OT_idtech_show_skin, OBJECT_OT_idtech_write_skin, IDTECH_MT_skins)


def draw_menu(self: Any, context: Context) -> None:
    """Add the choice of skins to a menu: Object > id Tech, and the one beside the list of material slots."""
    self.layout.separator()
    self.layout.menu(IDTECH_MT_skins.bl_idname)
    self.layout.operator(OBJECT_OT_idtech_write_skin.bl_idname)


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
PANELS = (VIEW3D_PT_idtech_skins,)
PARTS = (VIEW3D_PT_idtech_part_skins,)
