"""Strut, a rigged mannequin as anyone makes them in Blender: one mesh, an armature with IK and constraints, actions.

What "Make Quake III Player" starts from. Strut is 1.8 units high and faces -Y; its feet follow two bones by IK, its
chest turns with its spine. Needs Blender, as a program or as a module:

blender --python examples/strut.py
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import bpy as blender
import numpy as np

bpy: Any = blender
SIDES = 10
Point = tuple[float, float, float]
Ring = tuple[Point, float, float, Mapping[str, float]]  # its middle, its half-widths, and what moves it
Keys = Mapping[str, Sequence[tuple[float, ...]]]  # of a bone's channel: where it is, at even times

# Each bone's head and tail, and the bone that it hangs on; those of a side are of the left.
BONES: dict[str, tuple[Point, Point, str]] = {
    "hips": ((0, 0, 0.95), (0, 0, 1.08), ""),
    "spine": ((0, 0, 1.08), (0, 0, 1.28), "hips"),
    "chest": ((0, 0, 1.28), (0, 0, 1.5), "spine"),
    "neck": ((0, 0, 1.5), (0, 0, 1.58), "chest"),
    "head": ((0, 0, 1.58), (0, 0, 1.8), "neck"),
    "upper_arm.L": ((0.2, 0, 1.44), (0.44, 0.02, 1.44), "chest"),
    "forearm.L": ((0.44, 0.02, 1.44), (0.67, 0, 1.44), "upper_arm.L"),
    "hand.L": ((0.67, 0, 1.44), (0.78, 0, 1.44), "forearm.L"),
    "foot_ik.L": ((0.1, 0, 0.09), (0.1, 0, 0.2), ""),
    "thigh.L": ((0.1, 0, 0.92), (0.1, -0.03, 0.5), "hips"),
    "shin.L": ((0.1, -0.03, 0.5), (0.1, 0, 0.09), "thigh.L"),
    "foot.L": ((0.1, 0, 0.09), (0.1, -0.16, 0.03), "foot_ik.L"),
}
TRUNK: list[Ring] = [
    ((0, 0, 0.86), 0.12, 0.09, {"hips": 1}), ((0, 0, 0.98), 0.16, 0.11, {"hips": 1}),
    ((0, 0, 1.08), 0.14, 0.1, {"hips": 0.6, "spine": 0.4}), ((0, 0, 1.18), 0.14, 0.1, {"hips": 0.1, "spine": 0.9}),
    ((0, 0, 1.28), 0.17, 0.11, {"spine": 0.5, "chest": 0.5}), ((0, 0, 1.42), 0.2, 0.12, {"chest": 1}),
    ((0, 0, 1.5), 0.09, 0.08, {"chest": 0.7, "neck": 0.3}), ((0, 0, 1.57), 0.06, 0.06, {"neck": 1}),
    ((0, -0.01, 1.61), 0.09, 0.1, {"head": 1}), ((0, -0.01, 1.7), 0.11, 0.12, {"head": 1}),
    ((0, 0, 1.8), 0.06, 0.07, {"head": 1}),
]  # fmt: skip
ARM: list[Ring] = [
    ((0.16, 0, 1.44), 0.06, 0.06, {"chest": 0.7, "upper_arm.L": 0.3}),
    ((0.26, 0, 1.44), 0.06, 0.06, {"upper_arm.L": 1}),
    ((0.44, 0.02, 1.44), 0.05, 0.05, {"upper_arm.L": 0.5, "forearm.L": 0.5}),
    ((0.64, 0, 1.44), 0.04, 0.04, {"forearm.L": 0.8, "hand.L": 0.2}), ((0.78, 0, 1.44), 0.045, 0.025, {"hand.L": 1}),
]  # fmt: skip
LEG: list[Ring] = [
    ((0.1, 0, 0.9), 0.08, 0.08, {"hips": 0.5, "thigh.L": 0.5}), ((0.1, -0.01, 0.72), 0.08, 0.08, {"thigh.L": 1}),
    ((0.1, -0.03, 0.5), 0.06, 0.06, {"thigh.L": 0.5, "shin.L": 0.5}), ((0.1, -0.01, 0.25), 0.05, 0.055, {"shin.L": 1}),
    ((0.1, 0, 0.1), 0.045, 0.05, {"shin.L": 0.5, "foot.L": 0.5}), ((0.1, -0.05, 0.0), 0.05, 0.13, {"foot.L": 1}),
]  # fmt: skip
SWING, LIFT = 0.28, 0.22  # of feet in a run


def mirrored(name: str) -> str:
    """Return what is called so on the right."""
    return name.removesuffix(".L") + ".R" if name.endswith(".L") else name


def both_sides(rings: list[Ring]) -> tuple[list[Ring], list[Ring]]:
    """Return a limb of the left, and the one of the right, whose rings come in the other order."""
    other: list[Ring] = [
        ((-x, y, z), wide, deep, {mirrored(bone): share for bone, share in shares.items()})
        for (x, y, z), wide, deep, shares in rings
    ]
    return rings, other


def tube(rings: list[Ring], first: int) -> tuple[list[Point], list[list[int]], list[Mapping[str, float]]]:
    """Return the points, faces and shares of a closed tube whose first point has the number `first`."""
    way = np.subtract(rings[-1][0], rings[0][0])
    upright = abs(float(way[2])) > abs(float(way[0]))
    turn = 1 if (way[2] > 0 if upright else way[0] > 0) else -1
    points: list[Point] = []
    shares: list[Mapping[str, float]] = []
    for (x, y, z), wide, deep, moved in rings:
        for n in range(SIDES):
            angle = turn * 2 * math.pi * n / SIDES
            across, along = wide * math.cos(angle), deep * math.sin(angle)
            points.append((x + across, y + along, z) if upright else (x, y + across, z + along))
            shares.append(moved)
    faces = [list(range(first + SIDES))[first:][::-1]]
    for ring in range(len(rings) - 1):
        low = first + ring * SIDES
        faces += [
            [low + n, low + (n + 1) % SIDES, low + SIDES + (n + 1) % SIDES, low + SIDES + n] for n in range(SIDES)
        ]
    top = first + (len(rings) - 1) * SIDES
    faces.append(list(range(top, top + SIDES)))
    return points, faces, shares


def make_mesh(armature: Any) -> Any:
    """Return the mannequin's one mesh, which the armature bends."""
    points: list[Point] = []
    faces: list[list[int]] = []
    shares: list[Mapping[str, float]] = []
    for rings in [*both_sides(ARM), *both_sides(LEG), TRUNK]:
        own, around, moved = tube(rings, len(points))
        points, faces, shares = points + own, faces + around, shares + moved
    mesh = bpy.data.meshes.new("strut")
    mesh.from_pydata(points, [], faces)
    mesh.polygons.foreach_set("use_smooth", np.ones(len(faces), np.bool_))
    layer = mesh.uv_layers.new(name="UVMap")
    flat = np.array([points[corner] for face in faces for corner in face])
    layer.data.foreach_set(
        "uv", np.stack((0.5 + flat[:, 0] / 1.7, flat[:, 2] / 1.85), axis=1).astype(np.float32).ravel()
    )
    mesh.materials.append(make_material())
    block = bpy.data.objects.new("strut", mesh)
    bpy.context.scene.collection.objects.link(block)
    groups = {name: block.vertex_groups.new(name=name) for name in sorted({n for moved in shares for n in moved})}
    for number, weights in enumerate(shares):
        for name, share in weights.items():
            groups[name].add([number], share, "REPLACE")
    block.parent = armature
    block.modifiers.new("Armature", "ARMATURE").object = armature
    return block


def make_material() -> Any:
    """Return a material with a picture: stripes, which show how the mesh is bent."""
    image = bpy.data.images.new("strut", 64, 64)
    rows, columns = np.mgrid[0:64, 0:64]
    pixels = np.ones((64, 64, 4), np.float32)
    pixels[..., :3] = np.where((rows // 4 % 2 == 0)[..., None], (0.85, 0.5, 0.15), (0.2, 0.3, 0.55))
    pixels[..., :3] *= (0.8 + 0.2 * (columns // 8 % 2))[..., None]
    image.pixels.foreach_set(pixels.ravel())
    image.pack()
    material = bpy.data.materials.new("Strut Stripes")
    if material.node_tree is None:
        material.use_nodes = True
    nodes = material.node_tree.nodes
    texture = nodes.new("ShaderNodeTexImage")
    texture.image = image
    surface = next(node for node in nodes if node.type == "BSDF_PRINCIPLED")
    material.node_tree.links.new(texture.outputs["Color"], surface.inputs["Base Color"])
    return material


def make_armature() -> Any:
    """Return the armature, with IK in the legs and a chest that follows the spine."""
    block = bpy.data.objects.new("Strut", bpy.data.armatures.new("Strut"))
    bpy.context.scene.collection.objects.link(block)
    bpy.context.view_layer.objects.active = block
    bpy.ops.object.mode_set(mode="EDIT")
    bones = block.data.edit_bones
    for name, (head, tail, above) in BONES.items():
        for side in dict.fromkeys((name, mirrored(name))):
            flip = -1.0 if side != name else 1.0
            bone = bones.new(side)
            bone.head, bone.tail = ((flip * place[0], *place[1:]) for place in (head, tail))
            if above:
                bone.parent = bones[mirrored(above) if side != name else above]
            bone.use_deform = not name.startswith("foot_ik")
    bpy.ops.object.mode_set(mode="OBJECT")
    for side in "LR":
        follow = block.pose.bones[f"shin.{side}"].constraints.new("IK")
        follow.target, follow.subtarget, follow.chain_count = block, f"foot_ik.{side}", 2
    turn = block.pose.bones["chest"].constraints.new("COPY_ROTATION")
    turn.target, turn.subtarget, turn.influence = block, "spine", 0.5
    turn.owner_space = turn.target_space = "LOCAL"
    turn.mix_mode = "ADD"
    for bone in block.pose.bones:
        bone.rotation_mode = "XYZ"
    return block


def gait(length: float, lift: float) -> Keys:
    """Return the keys of a step that repeats: feet by turns, arms against them."""
    steps = [(0.0, 0.0, length), (0.0, 0.0, 0.0), (0.0, 0.0, -length), (0.0, lift, 0.0), (0.0, 0.0, length)]
    arms = [(0.0, 0.0, turn) for turn in (0.8, 0.0, -0.8, 0.0, 0.8)]
    return {
        "foot_ik.L.location": steps,
        "foot_ik.R.location": [*steps[2:], *steps[1:3]],
        "hips.location": [(0, -0.04, 0), (0, 0.0, 0), (0, -0.04, 0), (0, 0.0, 0), (0, -0.04, 0)],
        "spine.rotation_euler": [(0.2, turn, 0) for turn in (0.2, 0.0, -0.2, 0.0, 0.2)],
        "upper_arm.L.rotation_euler": [(-0.9, 0.0, turn) for _, _, turn in arms],
        "upper_arm.R.rotation_euler": [(-0.9, 0.0, turn) for _, _, turn in arms],
    }


ACTIONS: dict[str, tuple[int, Keys]] = {  # how many frames from one key to the next
    "Idle": (12, {
        "hips.location": [(0, 0, 0), (0, -0.02, 0), (0, 0, 0)],
        "upper_arm.L.rotation_euler": [(-1.1, 0, 0), (-1.0, 0, 0), (-1.1, 0, 0)],
        "upper_arm.R.rotation_euler": [(-1.1, 0, 0), (-1.0, 0, 0), (-1.1, 0, 0)],
    }),
    "Walk": (6, gait(0.18, 0.1)),
    "Run": (4, gait(SWING, LIFT)),
    "Shoot": (4, {
        "spine.rotation_euler": [(0, 0.2, 0), (-0.1, 0.2, 0), (0, 0.2, 0)],
        "upper_arm.R.rotation_euler": [(-0.2, 0, 1.3), (0, 0, 1.3), (-0.2, 0, 1.3)],
        "upper_arm.L.rotation_euler": [(-0.5, 0, -0.7), (-0.4, 0, -0.7), (-0.5, 0, -0.7)],
    }),
    "Jump": (4, {
        "hips.location": [(0, -0.15, 0), (0, 0.1, 0), (0, 0.1, 0)],
        "foot_ik.L.location": [(0, 0, 0), (0, 0.2, 0), (0, 0.3, 0.1)],
        "foot_ik.R.location": [(0, 0, 0), (0, 0.15, 0), (0, 0.2, -0.1)],
    }),
    "Death": (6, {
        "hips.location": [(0, 0, 0), (0, -0.4, -0.1), (0, -0.8, -0.3)],
        "hips.rotation_euler": [(0, 0, 0), (-0.5, 0, 0), (-1.45, 0, 0)],
        "head.rotation_euler": [(0, 0, 0), (0.5, 0, 0), (0.2, 0.6, 0)],
    }),
}  # fmt: skip


def make_action(armature: Any, name: str, step: int, keys: Keys) -> None:
    """Make an action of the armature."""
    armature.animation_data_create()
    armature.animation_data.action = action = bpy.data.actions.new(name)
    action.use_fake_user = True
    for path, values in keys.items():
        bone, _, channel = path.rpartition(".")
        for number, value in enumerate(values):
            setattr(armature.pose.bones[bone], channel, value)
            armature.pose.bones[bone].keyframe_insert(channel, frame=1 + number * step)
        setattr(armature.pose.bones[bone], channel, (0.0, 0.0, 0.0))


def build() -> Any:
    """Make the mannequin in the scene; returns its armature."""
    armature = make_armature()
    make_mesh(armature)
    for name, (step, keys) in ACTIONS.items():
        make_action(armature, name, step, keys)
    armature.animation_data.action = bpy.data.actions["Idle"]
    bpy.context.view_layer.objects.active = armature
    return armature


if __name__ == "__main__":
    if not blender.data.filepath:  # Blender's first scene: Strut would stand in its cube
        blender.data.batch_remove(
            [block for block in blender.data.objects if block.name in {"Camera", "Cube", "Light"}]
        )
    build()
