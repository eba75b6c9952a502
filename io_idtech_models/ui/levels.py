"""Make Levels of Detail: what games draw from afar in a model's place.

What does the work is imported when it is first needed: everyone who starts Blender waits for this module.
"""

from typing import Any

from bpy.props import EnumProperty, FloatProperty, StringProperty

from ..blender.compat import Context
from ..reporting import ModelError
from .bases import CANCELLED, FINISHED, Operator, may, propose_scale, scale_said
from .export.proposals import proposed_stem
from .reports import report_done
from .translations import say


class OBJECT_OT_idtech_make_levels(Operator):  # type: ignore[misc]
    """Make the same model with fewer triangles, as collections NAME_1 and NAME_2: what games draw from afar."""

    bl_idname = "object.idtech_make_levels"
    bl_label = "Make Levels of Detail"
    bl_description = (
        "Make NAME_1 and NAME_2, the model with fewer triangles, which games draw from afar; anew each time"
    )
    bl_options = {"REGISTER", "UNDO"}

    percentages: StringProperty(
        name="Percentages", description="How many of the model's triangles each level keeps", default="50, 25"
    )
    what: EnumProperty(
        name="Of",
        description="Which objects make the model",
        items=(
            ("AUTO", "Model", "The imported model that the active object belongs to, else the selection"),
            ("COLLECTION", "Collection", "Each model in the active collection, or all that lies in it"),
            ("SELECTION", "Selection", "Selected objects"),
        ),
        default="AUTO",
    )
    collection: StringProperty(name="Collection", options={"HIDDEN", "SKIP_SAVE"})
    scale: FloatProperty(
        name="Scale", description="Size of a game unit in the scene", default=1.0, min=0.0001, max=10000.0, precision=4
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Offer it where there are objects."""
        return may(cls, "" if context.scene.objects else say("The scene has no objects"))

    def invoke(self, context: Context, event: Any) -> Any:
        """Ask how many."""
        propose_scale(self, context)
        return context.window_manager.invoke_props_dialog(self)

    def draw(self, context: Context) -> None:
        """Show the options."""
        self.layout.use_property_split = True
        for name in ("percentages", "what", "scale"):
            if name != "what" or not self.collection:
                self.layout.prop(self, name)

    def execute(self, context: Context) -> set[str]:
        """Make them; what hinders a model is reported, and its levels are as they were."""
        from ..model.lod.levels import shares_of
        from ..tasks.levels import LevelSettings, make_levels, models_in

        done, failed = [], []
        try:
            settings = LevelSettings(shares_of(self.percentages), scale_said(self))
            models = models_in(context, self.what, self.collection)
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        for chosen in models:
            stem = _stem_of(chosen)
            try:
                done.append((stem, make_levels(chosen, stem, settings, context)))
            except ModelError as error:
                failed.append(f"{stem}: {error}")
        report_done(self, done, failed)
        return FINISHED if done else CANCELLED


def _stem_of(chosen: Any) -> str:
    """Return what levels are called after: the model's file, or its first object."""
    from ..blender.names import stem_of

    own = chosen.collection is not None or not chosen.blocks
    return proposed_stem(chosen) if own else stem_of(chosen.blocks[0].name)


CLASSES = (OBJECT_OT_idtech_make_levels,)


def draw_collection_menu(self: Any, context: Context) -> None:
    """Add the operator to the Outliner's menu of collections."""
    self.layout.separator()
    self.layout.operator(OBJECT_OT_idtech_make_levels.bl_idname).what = "COLLECTION"
