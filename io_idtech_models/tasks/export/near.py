"""What hangs together with objects: by parents, bones, constraints, or in a collection of theirs."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

import bpy

from ...blender.compat import Context
from ...blender.frame_rigs import is_frame_rig
from ...blender.leaders import controls
from ...blender.mesh.levels import number_of as level_number
from ...blender.provenance import model_of
from ...blender.roots import is_on_bone, is_tag, poses_parts
from ...blender.scene import FACED, SHAPES, bending, bone_under, followed_by, held_by, upward

KINDS = frozenset(("MESH", "EMPTY", "ARMATURE"))


def together(context: Context, blocks: list[bpy.types.Object]) -> list[bpy.types.Object]:
    """Return the visible objects that hang together with some, and are not among them."""
    return [block for block in together_or_hidden(context, blocks) if block.visible_get(view_layer=context.view_layer)]


def together_or_hidden(context: Context, blocks: list[bpy.types.Object]) -> list[bpy.types.Object]:
    """Return the objects that hang together with some, and are not among them, hidden or not.

    That is what hangs on them or follows them by constraints, but for what does so by their tags, which is other
    models; meshes that the same armature deforms, those of another file, too, where the armature is the model's own;
    tags on that armature's bones; and those that lie in a collection with none but their meshes, and don't carry them.
    Not what such an armature is posed by.
    """
    own = set(blocks)
    ids = {model_of(block) for block in blocks} | {""}
    meshes = [block for block in blocks if block.type == "MESH"]
    rigs = {rig for block in meshes for rig in bending(block)} | {b for b in blocks if b.type == "ARMATURE"}
    brought = {rig for rig in rigs if model_of(rig) in ids - {""} or (rig in own and is_frame_rig(rig))}
    shared = set(filter(poses_parts, rigs))  # which other models of a player have in common
    brought -= shared
    aids = controls(rigs - shared)
    homes = {home for block in meshes for home in block.users_collection}
    bodies = {home: {block for block in home.objects if block.type == "MESH"} for home in homes}
    carriers = {above for block in blocks for above in upward(block.parent)}
    found = []
    for block in context.scene.objects:
        if block in own or block in carriers or block in aids or block.type not in KINDS | SHAPES:
            continue
        bent_by = bending(block)
        on_bone = is_tag(block) and block.parent in rigs - shared and is_on_bone(block)
        if model_of(block) not in ids and brought.isdisjoint(bent_by) and not on_bone:
            continue
        skinned = not rigs.isdisjoint(bent_by)
        hung = hangs_short_of_tags(block, own) or _is_worn(block, rigs - shared) or _is_held(block, own, rigs - shared)
        on_tag = is_tag(block) and model_of(block) in ids and _below_tags(block).parent in rigs - shared
        beside = is_tag(block) and any(bodies.get(home, {block}) <= own for home in block.users_collection)
        if (hung or skinned or beside or on_bone or on_tag) and not level_number(block):
            found.append(block)
    return found


def _is_worn(block: bpy.types.Object, rigs: set[Any]) -> bool:
    """Tell whether an object is a mesh that a bone of some armatures carries as a whole, and games are to show."""
    on_bone = block.type == "MESH" and block.parent in rigs and is_on_bone(block)
    return on_bone and not bending(block) and not block.hide_render


def _is_held(block: bpy.types.Object, own: set[bpy.types.Object], rigs: set[Any]) -> bool:
    """Tell whether an object with faces, which no bones bend, goes wholly with one of some by a constraint.

    Or hangs on what does; with a tag goes another model. Of bones of `rigs` it is as of those that it hangs on.
    """
    if block.type not in FACED or bending(block):
        return False
    held = [held_by(above) for above in takewhile(lambda above: not is_tag(above), upward(block))]
    holders = {holder for holder, bone in held if holder in own or (bone and not block.hide_render and holder in rigs)}
    return any(not is_tag(holder) for holder in holders)


def followers(context: Context, own: set[bpy.types.Object]) -> list[bpy.types.Object]:
    """Return the visible objects with faces, of no model, that a constraint lets follow one of some.

    Be it in part, or others, too; with a tag goes another model.
    """
    faces = [b for b in context.scene.objects if b.type in FACED and not (b.hide_render or model_of(b))]
    found = [block for block in faces if any(led in own and not is_tag(led) for led in followed_by(block))]
    return [block for block in found if block.visible_get(view_layer=context.view_layer)]


def _below_tags(block: bpy.types.Object) -> bpy.types.Object:
    """Return the last of the tags that a tag hangs on, one on another: itself, if it hangs on none."""
    found: list[bpy.types.Object] = [block, *takewhile(is_tag, upward(block.parent))]
    return found[-1]


def is_led(block: bpy.types.Object, rigs: set[bpy.types.Object]) -> bool:
    """Tell whether bones of some armatures bend or carry an object."""
    bent_by = bending(block)
    return not rigs.isdisjoint(bent_by) if bent_by else any(bone_under(block, rig) for rig in rigs)


def hangs_short_of_tags(block: bpy.types.Object, own: set[bpy.types.Object]) -> bool:
    """Tell whether an object hangs on one of some, by parents of which none is a tag."""
    return any(above in own for above in takewhile(lambda above: not is_tag(above), upward(block.parent)))
