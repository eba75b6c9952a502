"""The export operator of declarations of Doom 3: new animations of a model, and what tells the game of them.

What does the work is imported when it is first needed: everyone who starts Blender waits for this module.
"""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import FloatProperty, StringProperty

from ...blender.compat import RELATIVE_PATHS, Context
from ...game.character.doom3 import SUFFIX
from ...reporting import ModelError
from ..bases import CANCELLED, FINISHED, Exporting, Operator, draw_group, file_filter, settings_from
from ..reports import report_done, showing_progress


class EXPORT_SCENE_OT_idtech_declaration(Exporting, Operator):  # type: ignore[misc]
    """Write new animations of a model of Doom 3, and a declaration that tells the game of them."""

    bl_idname = "export_scene.idtech_declaration"
    bl_label = "Export Declaration"
    bl_description = (
        "Write new animations of the active armature, and a declaration of a model of Doom 3 that inherits the old one"
        " and has them"
    )
    bl_options = {"REGISTER", "PRESET"}
    filename_ext = SUFFIX

    filter_glob: file_filter((SUFFIX,))
    filepath: StringProperty(
        name="File Path",
        description="The file of declarations, in the folder def of the game: a new one, or one that has the model",
        maxlen=1024,
        subtype="FILE_PATH",
        options=RELATIVE_PATHS,
    )
    model: StringProperty(name="Model", description="What the new model is called; empty: as the file")
    inherits: StringProperty(
        name="Inherits", description="The model that the new one goes on from; empty: the one that it was imported as"
    )
    actions: StringProperty(
        name="Actions", description="Actions to write, by name: dance, sit; empty: all that the old model has not"
    )
    scale: FloatProperty(
        name="Scale", description="Size of a game unit in the scene", default=1.0, min=0.0001, max=10000.0, precision=4
    )

    def draw(self, context: Context) -> None:
        """Show the options in groups."""
        draw_group(self.layout, self, "idtech_declaration", "Declaration", ("model", "inherits"))
        draw_group(self.layout, self, "idtech_time", "Animation", ("actions", "scale"))

    def execute(self, context: Context) -> Any:
        """Write all files; what hinders it leaves every file as it was."""
        from ...tasks.character.declare import DeclareOptions, declare

        target = Path(bpy.path.abspath(self.filepath))
        try:
            with showing_progress(context, target.name):
                summary = declare(target, settings_from(self, DeclareOptions), context, self.scale)
        except ModelError as error:
            self.report({"ERROR"}, f"{target.name}: {error}")
            return CANCELLED
        report_done(self, [(target.name, summary)])
        return FINISHED


CLASSES = (EXPORT_SCENE_OT_idtech_declaration,)


def draw_export(self: Any, context: Context) -> None:
    """Add the entry to a menu."""
    self.layout.operator(EXPORT_SCENE_OT_idtech_declaration.bl_idname, text="Doom 3 Declaration (.def)")
