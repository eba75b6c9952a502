"""Whose animations are meant: those of the model that an object belongs to."""

from __future__ import annotations

from ...blender.compat import Block, Context
from ...blender.player.parts import find_player
from ...blender.roots import root_of
from ...blender.skeletal.kept_frames import keeps_frames
from ...reporting import LimitError
from .kept import KeptAnimations
from .listed import Animations
from .parts import PartAnimations, has_rows
from .players import PlayerAnimations
from .rigs import RigAnimations
from .vertex import VertexAnimations, keyed_blocks


def rig_of(block: Block | None) -> Block | None:
    """Return the armature that an object is, that deforms it, or that it hangs on."""
    if block is None or block.type == "ARMATURE":
        return block
    rigs = [m.object for m in block.modifiers if m.type == "ARMATURE" and m.object is not None]
    rig = rigs[0] if rigs else block.parent
    return rig if rig is not None and rig.type == "ARMATURE" else None


def animations_of(context: Context) -> Animations | None:
    """Return the animations of the active object's model; None where it is of no kind that has any."""
    active = context.view_layer.objects.active
    if active is None:
        return None
    root = root_of(active)
    player = None if root is None else find_player(active)
    if player is not None and root is not None:
        return PlayerAnimations(player, root, context.scene)
    if root is not None and has_rows(root):
        return PartAnimations(root, context.scene)
    keyed = keyed_blocks(context, active)
    if keyed:
        return VertexAnimations(keyed, context)
    rig = rig_of(active)
    return None if rig is None else of_rig(rig)


def of_rig(rig: Block) -> RigAnimations:
    """Return the animations of an armature: of one that keeps files of frames all of their rows."""
    return KeptAnimations(rig) if keeps_frames(rig) else RigAnimations(rig)


def need_animations(context: Context) -> Animations:
    """Return the animations of the active object's model.

    Raises:
        LimitError: it has none, and can't.
    """
    found = animations_of(context)
    if found is None:
        raise LimitError("no model that can be animated is active: choose an armature, or a mesh with frames")
    return found
