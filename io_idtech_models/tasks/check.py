"""What a game would refuse of objects: the checker of exports, without an export."""

from __future__ import annotations

from typing import Any

from ..blender import names
from ..blender.compat import Context
from ..blender.scene import ExportScene
from ..blender.skeletal import gather_rig as skeletal_gather
from ..blender.skeletal.rig_scene import SkeletalGatherSettings, rig_scene
from ..blender.vertex import gather as gathering
from ..blender.vertex.frame_plan import GatherSettings
from ..formats import Format, SkeletalFormat
from ..model.limits.games import Problem
from .selection import Choice
from .skeletal_exports import whole_model


def problems_of(chosen: Choice, row: Format | SkeletalFormat, game: str, context: Context) -> list[Problem]:
    """Return what a game refuses of objects in a format, or shows otherwise than meant.

    Raises:
        ModelError: the objects are no model that the format can hold at all.
    """
    layer = context.view_layer
    if isinstance(row, SkeletalFormat):
        settings = SkeletalGatherSettings(normals="SOURCE" if row.normals else "NONE")
        blocks = whole_model(chosen.blocks, context)
        model = skeletal_gather.gather(
            blocks, rig_scene(context.scene, layer, settings, skeletal_gather.find_rig(blocks))
        )
        return row.check(model, game)
    plan = GatherSettings(splits=row.splits)
    shaped = row.shape(gathering.gather(chosen.blocks, chosen.collection, ExportScene(context.scene, layer, plan)))
    return row.check(shaped, game)


def offenders(blocks: list[Any], problems: list[Problem]) -> list[Any]:
    """Return the objects that problems name; those of a joint mean its armature."""
    subjects = {problem.subject for problem in problems}
    found = []
    for block in blocks:
        called = {block.name, names.file_name_of(block)}
        if block.type == "ARMATURE":
            called |= {bone.name for bone in block.data.bones}
        if called & subjects:
            found.append(block)
    return found
