"""What a modeller does to armatures and their bones: at rest, in a pose, by constraints, and to the objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import bpy as blender
from mathutils import Vector

from tests.ui.scene import activate

bpy: Any = blender
Operation = Callable[[Random], object]
# Operators on selected bones at rest, with their options.
AT_REST: tuple[tuple[str, dict[str, Any]], ...] = (
    ("align", {}), ("calculate_roll", {"type": "GLOBAL_POS_X"}), ("calculate_roll", {"type": "POS_Z"}),
    ("delete", {}), ("dissolve", {}), ("duplicate", {}),
    ("extrude_move", {"TRANSFORM_OT_translate": {"value": (1, 2, 3)}}), ("fill", {}),
    ("parent_clear", {"type": "CLEAR"}), ("parent_clear", {"type": "DISCONNECT"}), ("parent_set", {"type": "OFFSET"}),
    ("parent_set", {"type": "CONNECTED"}), ("roll_clear", {}), ("separate", {}), ("split", {}), ("subdivide", {}),
    ("switch_direction", {}), ("symmetrize", {}), ("flip_names", {}), ("autoside_names", {"type": "XAXIS"}),
    ("hide", {}),
)  # fmt: skip
# Operators on selected bones in pose mode.
IN_A_POSE: tuple[tuple[str, dict[str, Any]], ...] = (
    ("armature_apply", {}), ("armature_apply", {"selected": True}), ("transforms_clear", {}), ("loc_clear", {}),
    ("rot_clear", {}), ("visual_transform_apply", {}), ("quaternions_flip", {}), ("rotation_mode_set", {"type": "XYZ"}),
    ("rotation_mode_set", {"type": "AXIS_ANGLE"}), ("constraints_clear", {}), ("ik_add", {"with_targets": True}),
    ("user_transforms_clear", {}), ("hide", {}), ("flip_names", {}),
)  # fmt: skip


def rigs() -> list[Any]:
    """Return the armatures of the scene."""
    return [block for block in bpy.context.scene.objects if block.type == "ARMATURE"]


def _apply_modifiers() -> None:
    for block in [block for block in bpy.context.scene.objects if block.type == "MESH"]:
        activate(block)
        for modifier in [modifier.name for modifier in block.modifiers if modifier.type == "ARMATURE"]:
            bpy.ops.object.modifier_apply(modifier=modifier)


# Operators on armatures, and all that is selected with them.
ON_OBJECTS: dict[str, Callable[[], object]] = {
    "apply": bpy.ops.object.transform_apply,
    "apply deltas": lambda: bpy.ops.object.transforms_to_deltas(mode="ALL"),
    "duplicate": bpy.ops.object.duplicate,
    "duplicate linked": lambda: bpy.ops.object.duplicate(linked=True),
    "join": bpy.ops.object.join,
    "single user": lambda: bpy.ops.object.make_single_user(object=True, obdata=True, animation=True),
    "parent by bones": lambda: bpy.ops.object.parent_set(type="BONE"),
    "parent by weights": lambda: bpy.ops.object.parent_set(type="ARMATURE_ENVELOPE"),
    "parent by names": lambda: bpy.ops.object.parent_set(type="ARMATURE_NAME"),
    "clear parent": lambda: bpy.ops.object.parent_clear(type="CLEAR_KEEP_TRANSFORM"),
    "clear inverse": lambda: bpy.ops.object.parent_clear(type="CLEAR_INVERSE"),
    "visual": bpy.ops.object.visual_transform_apply,
    "bake": lambda: bpy.ops.nla.bake(frame_start=0, frame_end=4, bake_types={"POSE"}, only_selected=False),
    "bake what shows": lambda: bpy.ops.nla.bake(
        frame_start=0, frame_end=4, visual_keying=True, clear_constraints=True, use_current_action=True,
        bake_types={"POSE"}, only_selected=False,
    ),
    "origin": lambda: bpy.ops.object.origin_set(type="ORIGIN_GEOMETRY"),
    "apply the modifier": _apply_modifiers,
}  # fmt: skip


@contextmanager
def _mode(rng: Random, mode: str) -> Iterator[None]:
    """Be in a mode of some armature, with some of its bones selected."""
    rig = rng.choice(rigs())
    names = [bone.name for bone in rig.data.bones]
    wanted = set(rng.sample(names, rng.randint(1, min(3, len(names)))))
    activate(rig)
    bpy.ops.object.mode_set(mode=mode)
    try:
        if mode == "EDIT":
            for bone in rig.data.edit_bones:
                bone.select = bone.select_head = bone.select_tail = bone.name in wanted
            rig.data.edit_bones.active = rig.data.edit_bones[min(wanted)]
        else:
            for bone in rig.pose.bones:  # which of the two has it depends on the version
                (bone if hasattr(bone, "select") else bone.bone).select = bone.name in wanted
            rig.data.bones.active = rig.data.bones[min(wanted)]
        yield
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")


def _at_rest(name: str, options: dict[str, Any]) -> Operation:
    def operation(rng: Random) -> None:
        with _mode(rng, "EDIT"):
            getattr(bpy.ops.armature, name)(**options)

    return operation


def _in_a_pose(name: str, options: dict[str, Any]) -> Operation:
    def operation(rng: Random) -> None:
        with _mode(rng, "POSE"):
            getattr(bpy.ops.pose, name)(**options)

    return operation


def _on_objects(call: Callable[[], object]) -> Operation:
    def operation(rng: Random) -> None:
        rig = rng.choice(rigs())
        every = [block for block in bpy.context.scene.objects if block != rig]
        activate(rig, *rng.sample(every, rng.randint(0, len(every))))
        rig.data.bones.active = rng.choice(list(rig.data.bones))
        call()

    return operation


def _constraint(kind: str) -> Operation:
    """Return an operation that gives a bone a constraint, whose target is a bone, an armature, or another object."""

    def operation(rng: Random) -> None:
        rig = rng.choice(rigs())
        made = rng.choice(list(rig.pose.bones)).constraints.new(kind)
        # What the armature moves would turn in a circle with it, and show what Blender looked at first.
        others = [b for b in bpy.context.scene.objects if b.parent is None and not b.modifiers and b.type != "ARMATURE"]
        target = rng.choice([b for b in others if b.type == "MESH"] if kind == "SHRINKWRAP" else [rig, *others])
        if hasattr(made, "target"):
            made.target = target
            if target.type == "ARMATURE":
                made.subtarget = rng.choice(list(target.data.bones)).name
        if kind == "ARMATURE":
            target = made.targets.new()
            target.target, target.subtarget = rig, rng.choice(list(rig.data.bones)).name
        for name in ("use_min_x", "use_max_x", "use_min_y", "use_max_z", "use_limit_x"):
            if hasattr(made, name):
                setattr(made, name, True)
        made.influence = rng.choice((0.5, 1.0))

    return operation


def edit_bones(rng: Random) -> None:
    """Move, roll, add, rename or delete a bone at rest."""
    with _mode(rng, "EDIT"):
        bones = bpy.context.object.data.edit_bones
        bone = bones.active
        what = rng.randrange(5)
        if what == 0:
            bone.head = bone.head + Vector([rng.uniform(-2.0, 2.0) for _ in range(3)])
        elif what == 1:
            bone.roll += 0.5
        elif what == 2:
            made = bones.new("added")
            made.head, made.tail, made.parent = bone.head, bone.head + Vector((0, 0, 3)), bone
        elif what == 3:
            bone.name = "renamed"
        else:
            bones.remove(bone)


def called(kind: str, name: str, options: dict[str, Any]) -> str:
    """Return what an operator is called here."""
    return " ".join([kind, name, *map(str, options.values())])


BONES: dict[str, Operation] = {
    "edit_bones": edit_bones,
    **{called("bones", name, options): _at_rest(name, options) for name, options in AT_REST},
    **{called("pose", name, options): _in_a_pose(name, options) for name, options in IN_A_POSE},
    **{f"rig {name}": _on_objects(call) for name, call in ON_OBJECTS.items()},
    **{
        f"constraint {kind.identifier}": _constraint(kind.identifier)
        for kind in bpy.types.Constraint.bl_rna.properties["type"].enum_items
    },
}
