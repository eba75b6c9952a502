"""Make Quake II Player: of a rigged character a folder, or an archive, that the game takes.

What does the work is imported when it is first needed: everyone who starts Blender waits for this module.
"""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, StringProperty

from ...blender.compat import Context
from ...reporting import ModelError
from ..bases import CANCELLED, FINISHED, Operator, draw_group, file_filter, settings_from
from ..import_.showing import open_collection, select
from ..reports import report_done, showing_progress
from .making import OBJECT_OT_idtech_make_player, Placing

ARCHIVES = (".pak", ".pkz")


class OBJECT_OT_idtech_make_quake2_player(Placing, Operator):  # type: ignore[misc]
    """Make a player of Quake II of a rigged character."""

    bl_idname = "object.idtech_make_quake2_player"
    bl_label = "Make Player"
    bl_description = "Make model, gun, skin and icon of a player of Quake II, of one rigged character and its actions"
    bl_options = {"REGISTER", "UNDO", "PRESET"}
    filename_ext = ""
    check_extension = None

    filter_glob: file_filter((*ARCHIVES, ".md2", ".pcx"))
    rows: StringProperty(
        name="Animations",
        description="Actions for animations of the game: run=Trot, death1=Fall; for all others by their names",
    )
    gun: StringProperty(
        name="Gun",
        description="Meshes that become weapon.md2, by name: rifle, scope; empty: those called weapon, gun or rifle",
    )
    skin: StringProperty(name="Skin", description="What the skin is called", default="default")
    remaster: BoolProperty(
        name="Remaster",
        description="Make the model with bones, too (md5/tris.md5mesh), which the remaster and Q2PRO show in its place",
    )
    open_result: BoolProperty(name="Open the Result", description="Import the player that was made", default=True)

    poll = OBJECT_OT_idtech_make_player.poll

    def invoke(self, context: Context, event: Any) -> Any:
        """Show the file browser."""
        self.propose_path(context)
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def draw(self, context: Context) -> None:
        """Show the options in groups."""
        draw_group(self.layout, self, "idtech_player", "Player", ("player", "skin", "gun", "remaster", "open_result"))
        draw_group(self.layout, self, "idtech_time", "Animation", ("rows", "in_place"))
        placing = ("fit", "facing") if self.fit else ("fit", "scale", "facing")
        draw_group(self.layout, self, "idtech_mesh", "Mesh", placing)

    def execute(self, context: Context) -> Any:
        """Make and write the player; what hinders it leaves every file as it was."""
        from ...assets.player import write_player
        from ...game.character.quake2 import HOME
        from ...tasks.player.making_quake2 import Quake2Options, make_quake2_player, open_player

        target = Path(bpy.path.abspath(self.filepath))
        try:
            with showing_progress(context, target.name):
                options = settings_from(self, Quake2Options)
                made, summary = make_quake2_player(self.player or target.stem, target, options, context)
            write_player(target, made.name, made.files, home=(HOME,))
            if self.open_result:
                select(context, open_player(target, made.name, context, open_collection(context)))
        except ModelError as error:
            self.report({"ERROR"}, f"{target.name}: {error}")
            return CANCELLED
        report_done(self, [(made.name, summary)])
        return FINISHED


CLASSES = (OBJECT_OT_idtech_make_quake2_player,)
