"""Imports of motions, and what those of skeletal models share. Options are declared here.

What does the work is imported when it is first needed: everyone who starts Blender waits for this module.
"""

from typing import TYPE_CHECKING, Any

from bpy.props import BoolProperty, StringProperty

from ...blender.compat import Context
from ...blender.window import active_rig
from ..bases import CANCELLED, FINISHED, draw_group, settings_from
from ..reports import report_done
from .operators import ImportFiles, file_of
from .showing import open_collection, select

if TYPE_CHECKING:
    from pathlib import Path


class ImportPosed(ImportFiles):
    """What imports of models that skeletons move, and of motions, share."""

    frame_rate: BoolProperty(
        name="Frame Rate", description="Let the scene play at the animation's frames per second", default=True
    )


class TableOption:
    """The option of animations that a table takes apart."""

    table: StringProperty(
        name="Table", description="The .aninc that says which frames are which animation; empty: the one beside",
        subtype="FILE_PATH",
        options={"SKIP_SAVE"},
    )  # fmt: skip


class NumberedOption:
    """The option of animations whose files may know joints by number alone."""

    numbered: BoolProperty(
        name="Joints by Number",
        description="Match joints and bones by their numbers, whatever they are called; without names always",
        default=False,
    )


class ImportSkeletalAnimation(ImportPosed):
    """Options and work of an import operator of animations."""

    def draw(self, context: Context) -> None:
        """Show the options."""
        shown = ("scale", "table", "numbered", "fit_range", "replace_range", "frame_rate")
        draw_group(self.layout, self, "idtech_time", "Animation", shown)

    def one_by_one(self, paths: "list[Path]") -> bool:
        """Tell that motions come together, onto one armature."""
        return False

    def import_files(self, context: Context) -> Any:
        """Bring the files onto the active armature, or onto one that is made of the first."""
        from ...blender.skeletal.build import SkeletalSettings
        from ...tasks.import_.games import user_disk
        from ...tasks.import_.motion import Matching, import_animation

        settings, disk = settings_from(self, SkeletalSettings), user_disk()
        rig = active_rig(context)
        files, into = [disk.file(path) for path in self.paths()], open_collection(context)
        how = settings_from(self, Matching, table=file_of(disk, getattr(self, "table", "")))
        rig, made, summary, failed = import_animation(files, rig, settings, context, into, how)
        if made:
            select(context, [rig])
        report_done(self, [("", summary)], failed)
        return FINISHED if made else CANCELLED
