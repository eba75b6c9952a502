"""Parts of a player put together: a root for each, hung on another part's tag as games hang it.

Games multiply a part's place with the axes of the tag that it hangs on, each made one unit long before (R_LerpTag,
CG_PositionRotatedEntityOnTag): the tag's scale is dropped. Here the part's root is a child of the tag's empty, and a
constraint limits its scale to 1 as the player's own root sees it, so that whoever scales the player scales all of it.

Which frame of its file a part shows is its root's property `FRAME`: the shape keys' time follows it by a driver. Tags
keep the curves of all their frames. Two constraints let them play these at the root's frame, and are off in the frame
that the scene stands at: there a tag plays its own curves, moves under the hand, and its keys land in the right frame.
In others it is locked, for a key would go to the scene's frame, unseen.

Others stand where another model stands and show the frame that it shows, as a player's gun in Quake II does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np

from .. import names
from ..compat import HAS_SLOTS, Block, played_slot, playing_curves, slot_curves
from ..curves import add_curve
from ..provenance import MODEL_ID, PART
from ..roots import FRAME, FRAME_PATH, HOME, LEVEL, POSE, follow, follow_keys
from ..vertex.build import Built

# The time in which a constraint plays a tag's whole action, from frame -1 on. A power of two: (frame + 1) / SPAN is
# exact. Blender 5.2 takes a driven time below 0.0001 for 0: frame 0 is above that.
SPAN = 4096
APART = "f != frame"  # a root shows another frame than the scene stands at
# What keeps keys out where a holder shows another frame, and how many axes each has; auto-key would set those of one
# that is free, though nothing moves.
LOCKS = {"lock_location": 3, "lock_rotation": 3, "lock_rotation_w": 0, "lock_scale": 3}
LOWER, UPPER, HEAD = "lower", "upper", "head"
ON_TAGS = {UPPER: "tag_torso", HEAD: "tag_head"}  # which tag of the part before a part hangs on
BEFORE = {UPPER: LOWER, HEAD: UPPER}  # whose tag that is


@dataclass(eq=False)
class PartBuilt:
    """A part of a player in the scene."""

    kind: str  # LOWER, UPPER, HEAD, or what else hangs on tags
    root: Block
    built: Built
    tags: dict[str, Block] = field(default_factory=dict)  # by the file's names, in small letters


def make_root(built: Built, kind: str, level_of: Block | None = None) -> PartBuilt:
    """Hang a model on a new root, an empty in its collection; `level_of` is the root whose level of detail it is."""
    root: Block = bpy.data.objects.new(names.fit(built.collection.name), None)
    root.empty_display_type, root.empty_display_size = "PLAIN_AXES", 4.0
    root[PART] = kind
    root[MODEL_ID] = built.collection.get(MODEL_ID, "")
    part = PartBuilt(kind, root, built, {names.file_name_of(tag).lower(): tag for tag in built.tags})
    built.collection.objects.link(root)
    for block in (*built.surfaces, *built.tags):
        block.parent = root
    if level_of is None:
        declare_frame(root)
        for tag in built.tags:
            follow_root(tag, root)
    else:
        root[LEVEL] = int(names.file_name_of(built.collection).rpartition("_")[2] or 0)
        root.parent = level_of
    for block in built.surfaces:
        if block.data.shape_keys is not None:
            follow(block.data.shape_keys, "eval_time", level_of or root)
    return part


def declare_frame(root: Block) -> None:
    """Give a root the property that says which frame it shows, and the action that shows frame after frame."""
    root[FRAME] = 0.0
    root.id_properties_ui(FRAME).update(description="The frame of the part's file that is shown", min=0.0, soft_min=0.0)
    root.property_overridable_library_set(FRAME_PATH, True)


def hang(root: Block, tag: Block, player: Block, size: float = 1.0) -> None:
    """Hang a part's root on a tag of a player, whose own root sees no scale of it but its `size`."""
    root.parent = tag
    limit: Any = root.constraints.new("LIMIT_SCALE")
    limit.name = "Length of Tag"
    limit.owner_space, limit.space_object = "CUSTOM", player
    for axis in "xyz":
        setattr(limit, f"use_min_{axis}", True)
        setattr(limit, f"use_max_{axis}", True)
        setattr(limit, f"min_{axis}", size)
        setattr(limit, f"max_{axis}", size)


def follow_root(tag: Block, root: Block) -> None:
    """Let a tag show its root's frame, unless that is the scene's."""
    if not playing_curves(tag):
        return
    show_frame(tag, tag.animation_data, root)
    _key_identity(tag)


def show_frame(holder: Any, animation: Any, root: Block) -> Any:
    """Let a tag, or a bone, show a root's frame of the action that plays, and be locked, unless that is the scene's.

    Returns the constraint that takes it home first.
    """
    home: Any = holder.constraints.new("COPY_TRANSFORMS")
    home.name, home.target = HOME, root
    pose: Any = holder.constraints.new("ACTION")
    pose.name, pose.target = POSE, root
    pose.action = animation.action
    if HAS_SLOTS:
        pose.action_slot = animation.action_slot
    pose.use_eval_time, pose.frame_start, pose.frame_end = True, -1, SPAN - 1
    pose.owner_space = pose.target_space = "LOCAL"
    pose.mix_mode = "BEFORE_FULL"
    follow(pose, "eval_time", root, f"(f + 1) / {SPAN}")
    for constraint in (home, pose):
        follow(constraint, "influence", root, APART)
    for path, axes in LOCKS.items():
        for axis in range(axes) if axes else (-1,):
            follow(holder, path, root, APART, axis)
    return home


def lock(holder: Any, locked: bool) -> None:
    """Let nobody move a tag or a bone, or let everybody."""
    for path, axes in LOCKS.items():
        setattr(holder, path, (locked,) * axes if axes else locked)


def let_go(tag: Block) -> None:
    """Let a tag no longer show its root's frame: something else does."""
    for constraint in [constraint for constraint in tag.constraints if constraint.name in (HOME, POSE)]:
        for path in ("influence", "eval_time"):
            tag.driver_remove(f'constraints["{constraint.name}"].{path}')
        tag.constraints.remove(constraint)
    for path in LOCKS:
        tag.driver_remove(path)
    lock(tag, locked=False)


def _key_identity(tag: Block) -> None:
    """Key a tag's delta rotation as none: without, an Action constraint turns objects in quaternion mode around."""
    animation = tag.animation_data
    curves = slot_curves(animation.action, played_slot(animation))
    add_curve(curves, "delta_rotation_quaternion", 0, np.zeros(1), np.ones(1))


def stand_with(built: Built, kind: str, body: Built) -> PartBuilt:
    """Hang a model on a new root where another model stands, and let it show the frame of that one's number."""
    root: Block = bpy.data.objects.new(names.fit(built.collection.name), None)
    root.empty_display_type, root.empty_display_size = "PLAIN_AXES", 4.0
    root[PART] = kind
    root[MODEL_ID] = built.collection.get(MODEL_ID, "")
    built.collection.objects.link(root)
    for block in (*built.surfaces, *built.tags):
        block.parent = root
    keyed = [block for block in body.surfaces if block.data.shape_keys is not None]
    root.parent = next(iter([*keyed, *body.surfaces]), None)
    for block in built.surfaces if keyed else ():
        if block.data.shape_keys is not None:
            follow_keys(block.data.shape_keys, keyed[0].data.shape_keys)
    return PartBuilt(kind, root, built)
