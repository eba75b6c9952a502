"""What an export's choice of objects leaves out, or takes along, in sentences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy

from ...blender.animated import moving_curves
from ...blender.compat import Context
from ...blender.frame_rigs import is_frame_rig
from ...blender.scene import bending
from ...reporting import listed, plural
from .selection import Choice, is_written

MOST, MOST_NAMED = 6, 100  # objects, and where all are to be named


def left_out(chosen: Choice, written: Iterable[bpy.types.Object] = ()) -> list[str]:
    """Name the objects that an export leaves out; it may have `written` more than the choice."""
    known = set(written)
    hidden = [block for block in chosen.hidden if is_written(block)]
    own = _rigs(chosen.whole)
    apart = own and _rigs(chosen.strange) - own  # a file has one skeleton
    passing = [block for block in chosen.whole if _is_shown_at_times(block)]
    said = [
        (
            _names(chosen.others),
            "nothing is selected: the imported model alone is written (select what else belongs to it); left out",
        ),
        (
            _names([block for block in chosen.beside if block not in known]),
            "left out, they hang together with the model and are none of its own (select them, too, to write them)",
        ),
        (
            _names([block for block in chosen.partly if block not in known]),
            "left out, constraints let them follow the model in part (Export: Selection takes what is selected)",
        ),
        (
            _names([block for block in chosen.weightless if block not in known]),
            "left out, they hang together with the model and no bone moves them (give them weights and an Armature "
            "modifier, or Ctrl+P > Bone)",
        ),
        (
            _names(chosen.away),
            "left out, parts of the model that lie in other collections (move them back, or select them, too)",
        ),
        (
            _names(chosen.led),
            "left out, bones of the model move them, and they lie in other collections (move them to the model's)",
        ),
        (
            _names(chosen.parts),
            "left out, other parts of the player, which stand in spaces of their own (Export Player writes them all, "
            "Export: Selection what is selected)",
        ),
        (
            _names(chosen.strange),
            "left out, they are selected but no part of the active model "
            f"({'export them on their own' if apart else 'Export: Selection takes them'})",
        ),
        (
            _names([block for block in chosen.blocks if is_written(block)], MOST_NAMED) if chosen.guessed else "",
            "nothing is selected, and no single model imported: all that is visible is meant (select what to write)",
        ),
        (_names(hidden), f"{plural(len(hidden), 'hidden object')} left out"),
        (_names(passing), "shown in some frames alone, which no file can say, written as they show now"),
        (
            _names(chosen.shapes),
            "only meshes are written (Object > Convert > Mesh; a collection that is shown as an instance, link it into "
            "the scene, or Apply > Make Instances Real, which leaves out animations); left out",
        ),
    ]
    return [f"{text}: {called}" for called, text in said if called]


def _rigs(blocks: list[bpy.types.Object]) -> set[Any]:
    """Return the armatures among objects, and those that bend some of them, of which a file has one."""
    rigs = {rig for block in blocks for rig in (block, *bending(block)) if rig.type == "ARMATURE"}
    return {rig for rig in rigs if not is_frame_rig(rig)}


def _is_shown_at_times(block: bpy.types.Object) -> bool:
    """Tell whether curves hide an object at some of their keys and not at others, or a driver may do so.

    Whenever that is: which frames are written is the export's choice, and strips show keys at other times.
    """
    if block.animation_data is None:
        return False
    drivers: Iterable[Any] = (curve for curve in block.animation_data.drivers if _hides(curve))
    if any(each.driver.variables or "frame" in each.driver.expression for each in drivers):
        return True
    curves = filter(_hides, moving_curves(block))
    return any(len({bool(curve.evaluate(key.co.x)) for key in curve.keyframe_points}) > 1 for curve in curves)


def _hides(curve: Any) -> bool:
    return bool(curve.data_path == "hide_viewport" and not curve.mute)


def instances_left_out(context: Context, chosen: Choice) -> list[str]:
    """Name the objects that show others as instances, by nodes, particles or their own faces: no meshes of theirs."""
    shown = {
        each.parent.original
        for each in context.evaluated_depsgraph_get().object_instances
        if each.is_instance and each.parent is not None
    }
    found = [block for block in chosen.blocks if block in shown and block not in chosen.shapes]
    how = "Realize Instances in its nodes, or Object > Apply > Make Instances Real"
    return [f"instances are left out, only meshes are written ({how}): those of {_names(found)}"] if found else []


def taken_along(chosen: Choice) -> list[str]:
    """Name the objects that an export takes though nobody has selected them, but for meshes of a selected armature."""
    rigs = {block for block in chosen.blocks if block.type == "ARMATURE"} - set(chosen.taken)
    taken = [block for block in chosen.taken if rigs.isdisjoint(bending(block))]
    text = "taken along, they hang together with what is selected (Export: Selection leaves them out)"
    return [f"{text}: {_names(taken)}"] if taken else []


def unselected_tags(chosen: Choice, bones: bool) -> list[str]:
    """Name the tags that are left out because they are not selected; `bones`: also those that are bones."""
    found = [tag.bone or tag.block.name for tag in chosen.tags if bones or not tag.bone]
    return [f"tags left out, they are not selected (select them, too): {listed(found)}"] if found else []


def _names(blocks: list[bpy.types.Object], most: int = MOST) -> str:
    return listed([block.name for block in blocks], most)
