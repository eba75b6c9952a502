"""Make Quake III Player, and Make Quake II Player: of a rigged character a folder, or an archive, that the game takes.

What does the work is imported when it is first needed: everyone who starts Blender waits for this module.
"""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty

from ...blender.compat import PATH_OPTIONS, Context
from ...reporting import ModelError
from ..bases import CANCELLED, FINISHED, Exporting, Operator, draw_group, file_filter, may, settings_from
from ..import_.showing import open_collection, select
from ..reports import report_done, showing_progress
from ..translations import CONTEXT, say

PACK = ".pk3"
ARCHIVES = (".pak", ".pkz")


class Placing(Exporting):  # type: ignore[misc]
    """Where a player goes that is made of a character, and how the character stands in its game."""

    filepath: StringProperty(
        name="File Path",
        description="The player's folder, called as the player, or an archive",
        maxlen=1024,
        subtype="FILE_PATH",
        options=PATH_OPTIONS,
    )
    player: StringProperty(name="Name", description="What the player is called; empty: as the folder or the archive")
    fit: BoolProperty(
        name="Fit to the Game",
        description="Make the character as high as players are (56 units), with its feet on the ground",
        default=True,
    )
    scale: FloatProperty(
        name="Scale", description="Game units of a unit in the scene", default=1.0, min=0.0001, max=10000.0, precision=4
    )
    facing: EnumProperty(
        name="Faces",
        translation_context=CONTEXT,  # Blender's own are a mesh's
        description="Where the character looks in the scene",
        items=(
            ("AUTO", "By Its Bones", "What is left and right says it; -Y where nothing does"),
            ("-Y", "-Y", "Ahead in Blender's front view"),
            ("X", "X", "As in the game"),
            ("Y", "Y", "Away in Blender's front view"),
            ("-X", "-X", "Against the game's"),
        ),
        default="AUTO",
    )

    in_place: BoolProperty(
        name="Keep in Place",
        description="Let walks and runs that go along stay where they begin: games move players by themselves",
        default=True,
    )

    # What is said of one character: presets keep it, and Blender remembers it for the next one.
    of_one: tuple[str, ...] = ("player",)

    def begin(self, context: Context) -> None:
        """Forget what was said of another character, and propose a folder that is called as the active object."""
        from ...tasks.player.making_pictures import plain_name

        for name in self.of_one:
            if not self.properties.is_property_set(name):
                self.properties.property_unset(name)
        if not self.properties.is_property_set("filepath"):  # what Blender remembers is of another player
            active = context.view_layer.objects.active
            name = plain_name("" if active is None else active.name) or "player"
            self.filepath = str(Path(bpy.data.filepath).parent / name)


class OBJECT_OT_idtech_make_player(Placing, Operator):  # type: ignore[misc]
    """Make a player of Quake III of a rigged character."""

    bl_idname = "object.idtech_make_player"
    bl_label = "Make Player"  # the file dialog's button has room for some twenty letters
    bl_description = (
        "Make the three models, skins and table of animations of a player, of one rigged character and its actions"
    )
    bl_options = {"REGISTER", "UNDO", "PRESET"}
    filename_ext = ""
    check_extension = None

    of_one = ("player", "torso", "head", "hand", "rows")
    filter_glob: file_filter((PACK, ".md3", ".skin", ".cfg"))
    torso: StringProperty(
        name="Torso", description="The bone that the torso begins with (spine, waist); empty: by the bones' names"
    )
    head: StringProperty(
        name="Head", description="The bone that the head begins with (neck, head); empty: by the bones' names"
    )
    hand: StringProperty(name="Right Hand", description="The bone that holds the weapon; empty: by the bones' names")
    rows: StringProperty(
        name="Animations",
        description="Actions for rows of the table, and their frames per second if they are others: "
        "LEGS_RUN=Trot, BOTH_DEATH1=Fall @ 20; for all others actions are found by their names",
    )
    fps: FloatProperty(name="FPS", description="How often actions are looked at", default=15.0, min=1.0, max=120.0)
    close_seams: BoolProperty(
        name="Close Seams",
        description="Let the edges at waist and neck stay with the tags, so that no gap opens between different "
        "animations of legs, torso and head",
        default=True,
    )
    levels: StringProperty(
        name="Levels of Detail",
        description="Percentages of triangles in coarser models (50, 25), which games draw from afar; empty: none",
    )
    keep_shaders: BoolProperty(
        name="Keep Shader Names",
        description="Let materials whose name is a path (models/players/x/skin) be shaders that the game has; "
        "else a picture is written for each material",
        default=False,
    )
    open_result: BoolProperty(
        name="Open the Result", description="Import the player that was made, put together", default=True
    )

    keeps_frames = False  # all that the dialog need not ask is that of the player whose rig poses the character

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Offer it where there is an armature."""
        rigged = any(block.type == "ARMATURE" for block in context.scene.objects)
        return may(cls, "" if rigged else say("The scene has no armature: players are made of rigged characters"))

    def invoke(self, context: Context, event: Any) -> Any:
        """Show the file browser, with the bones that are proposed."""
        from ...tasks.player.making import keeps_frames, proposed_bones

        self.begin(context)
        self.keeps_frames = keeps_frames(context)
        self.torso, self.head, self.hand = proposed_bones(context)
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def draw(self, context: Context) -> None:
        """Show the options in groups."""
        draw_group(self.layout, self, "idtech_player", "Player", ("player", "open_result"))
        placing: tuple[str, ...] = ()
        if not self.keeps_frames:
            draw_group(self.layout, self, "idtech_bones", "Bones", ("torso", "head", "hand"))
            draw_group(self.layout, self, "idtech_time", "Animation", ("rows", "fps", "in_place"))
            placing = ("fit", "facing") if self.fit else ("fit", "scale", "facing")
        draw_group(self.layout, self, "idtech_mesh", "Mesh", (*placing, "close_seams", "levels", "keep_shaders"))

    def execute(self, context: Context) -> Any:
        """Make and write the player; what hinders it leaves every file as it was."""
        from ...assets.player import write_player
        from ...tasks.player.making import MakingOptions, make_player, stale_files

        target = Path(bpy.path.abspath(self.filepath))
        try:
            with showing_progress(context, target.name):
                made, summary = make_player(self.player, target, settings_from(self, MakingOptions), context)
            summary.warnings += stale_files(target, made)
            write_player(target, made.name, made.files)
            if self.open_result:
                self._open(target, made.name, context)
        except ModelError as error:
            self.report({"ERROR"}, f"{target.name}: {error}")
            return CANCELLED
        report_done(self, [(made.name, summary)])
        return FINISHED

    def _open(self, target: Path, name: str, context: Context) -> None:
        """Bring the player that was written into the scene."""
        from ...blender.vertex.build import BuildSettings
        from ...tasks.import_.dressing import Dressing
        from ...tasks.import_.games import user_disk
        from ...tasks.player.files import players_at
        from ...tasks.player.imports import PlayerImport, PlayerOptions

        files = players_at(target, user_disk(), name if target.suffix.lower() == PACK else "")
        settings = BuildSettings(fit_range=False)
        wanted = PlayerImport(files, settings, Dressing(), PlayerOptions(), context.scene)
        built, _ = wanted.run(open_collection(context))
        select(context, [built.root])


class OBJECT_OT_idtech_make_quake2_player(Placing, Operator):  # type: ignore[misc]
    """Make a player of Quake II of a rigged character."""

    bl_idname = "object.idtech_make_quake2_player"
    bl_label = "Make Player"
    bl_description = "Make model, gun, skin and icon of a player of Quake II, of one rigged character and its actions"
    bl_options = {"REGISTER", "UNDO", "PRESET"}
    filename_ext = ""
    check_extension = None

    of_one = ("player", "rows", "gun", "skin")
    filter_glob: file_filter((*ARCHIVES, ".md2", ".pcx"))
    rows: StringProperty(
        name="Animations",
        description="Actions for animations of the game: run=Trot, death1=Fall; for all others by their names",
    )
    gun: StringProperty(
        name="Gun",
        description="Meshes that become weapon.md2, by name: rifle, scope; empty: those called weapon, gun or rifle",
    )
    skin: StringProperty(
        name="Skin", translation_context=CONTEXT, description="What the skin is called", default="default"
    )
    remaster: BoolProperty(
        name="Remaster",
        description="Make the model with bones, too (md5/tris.md5mesh), which the remaster and Q2PRO show in its place",
    )
    open_result: BoolProperty(name="Open the Result", description="Import the player that was made", default=True)

    poll = OBJECT_OT_idtech_make_player.poll

    def invoke(self, context: Context, event: Any) -> Any:
        """Show the file browser."""
        self.begin(context)
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
                made, summary = make_quake2_player(self.player, target, options, context)
            write_player(target, made.name, made.files, home=(HOME,))
            if self.open_result:
                select(context, open_player(target, made.name, context, open_collection(context)))
        except ModelError as error:
            self.report({"ERROR"}, f"{target.name}: {error}")
            return CANCELLED
        report_done(self, [(made.name, summary)])
        return FINISHED


CLASSES = (
    OBJECT_OT_idtech_make_player,
    OBJECT_OT_idtech_make_quake2_player,
)
