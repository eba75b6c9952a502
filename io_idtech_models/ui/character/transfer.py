"""The import operator of characters.

What does the work is imported when it is first needed: everyone who starts Blender waits for this module.
"""

from typing import Any

import bpy
from bpy.props import BoolProperty, StringProperty

from ...blender.compat import Context
from ...blender.scene import room_for_others
from ...formats import by_name
from ...game.character import ENDS, MESHES
from ...game.store import ARCHIVES
from ...reporting import ModelError
from ..bases import CANCELLED, FINISHED, Operator, draw_group, file_filter, settings_from, takes_drops
from ..import_.operators import DressOptions, ImportFiles
from ..import_.showing import import_and_show, open_collection, select
from ..import_.vertex import WeldOption
from ..reports import report_done

LABEL = "Character"
DROPPED = (".char", ".def")  # .cfg is taken by what players are dropped on, and models are by their own formats


class IMPORT_SCENE_OT_idtech_character(DressOptions, WeldOption, ImportFiles, Operator):  # type: ignore[misc]
    """Import a character: its body with bones and animations, dressed, its head and gear on tags."""

    bl_idname = "import_scene.idtech_character"
    bl_label = "Import Character"
    bl_description = (
        "Import a character with animations, head and gear: a .char, a .def, a wolfanim.cfg, a character.cfg, a player's"
        " tris.md2, or an archive"
    )
    row = by_name("mdm")

    filter_glob: file_filter((*ENDS, *MESHES, *ARCHIVES))
    character: StringProperty(
        name="Character",
        description="Which character, by name (medic, axis/medic, monster_imp), where a file or an archive has several",
    )
    animations: BoolProperty(
        name="Animations", description="Bring all animations of the character's group along", default=True
    )
    weapon: StringProperty(
        name="Weapon",
        description="Of a player of Quake II: which gun it holds, by its file (w_bfg); empty: weapon.md2, none: none",
    )
    remaster: BoolProperty(
        name="Remaster",
        description="Of a player of Quake II: the model with bones that the remaster shows in place of tris.md2",
        default=False,
    )

    def draw(self, context: Context) -> None:
        """Show the options in groups."""
        draw_group(
            self.layout, self, "idtech_character", "Character", ("character", "animations", "weapon", "remaster")
        )
        draw_group(self.layout, self, "idtech_mesh", "Mesh", ("scale", "weld", "side_by_side"))
        draw_group(self.layout, self, "idtech_time", "Animation", ("fit_range", "replace_range"))
        self.draw_dress()

    def execute(self, context: Context) -> Any:
        """Import the characters of the chosen files."""
        return import_and_show(context, self.side_by_side, lambda: _import_all(self, context))


def _import_all(operator: Any, context: Context) -> set[str]:
    """Import the characters of an operator's files, as its options say, and report."""
    from ...tasks.character.imports import CharacterOptions, character_at, import_character
    from ...tasks.import_.dressing import Dressing
    from ...tasks.import_.games import user_disk

    disk = user_disk()
    done, failed, made = [], [], []
    options, dressing = settings_from(operator, CharacterOptions), settings_from(operator, Dressing)
    for path in operator.paths():
        try:
            files = character_at(path, disk, operator.character, operator.skin)
            with room_for_others(context.scene, operator.replace_range):
                built, summary = import_character(files, options, dressing, context, open_collection(context))
        except ModelError as error:
            failed.append(f"{path.name}: {error}")
            continue
        done.append((files.name, summary))
        made += built.objects
    select(context, made)
    report_done(operator, done, failed)
    return FINISHED if done else CANCELLED


class IO_FH_idtech_character(bpy.types.FileHandler):
    """Lets characters be dropped on a window."""

    bl_idname = "IO_FH_idtech_character"
    bl_label = LABEL
    bl_import_operator = "import_scene.idtech_character"
    bl_file_extensions = ";".join(DROPPED)

    @classmethod
    def poll_drop(cls, context: Context) -> bool:
        """Take what is dropped where objects show."""
        return takes_drops(context)


CLASSES = (IMPORT_SCENE_OT_idtech_character, IO_FH_idtech_character)


def draw_import(self: Any, context: Context) -> None:
    """Add the entry to a menu."""
    self.layout.operator(IMPORT_SCENE_OT_idtech_character.bl_idname, text="Character (.char, .def, .cfg)")
