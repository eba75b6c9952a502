"""The normals that a rigged model's file has are those that Blender shows: at rest, and in a pose.

The file that an export wrote is read again, and moved by the games' formulas.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mathutils import Matrix
from numpy.typing import NDArray

from io_idtech_models.assets.load import load
from io_idtech_models.blender.mesh import attributes as meshes
from io_idtech_models.game.folders import Disk
from io_idtech_models.model.bake import bake
from tests.blender.case import in_edit_mode
from tests.blender.skeletal.rigged import tree_of
from tests.samples import put, sample
from tests.ui.scene import activate, add_tag, bpy, export_bytes, first, import_model

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
MODELS = {"iqm": "animated", "mds": "figure", "mdm": "figure", "mdr": "packed_walker"}
CLOSE = 0.5  # degrees; Blender itself rounds those that it was given
NEAR = 0.02  # units, as far as a vertex may be off its place
TURN = (0.3, 1.2, -0.5)


def turned(block: Any) -> None:
    block.rotation_euler = TURN


def parent_turned(rig: Any, block: Any) -> None:
    rig.parent = add_tag("holder", "PLAIN_AXES")
    turned(rig.parent)


def bone_rolled(rig: Any, block: Any) -> None:
    def roll() -> None:
        rig.data.edit_bones[1].roll += 0.6

    in_edit_mode(rig, roll)


def own_normals(rig: Any, block: Any) -> None:
    normals = meshes.corner_normals(block.data)
    normals[meshes.corner_points(block.data) % 3 == 0, 2] += 1.5
    block.data.normals_split_custom_set(meshes.unit(normals).tolist())


def turned_with_own_normals(rig: Any, block: Any) -> None:
    own_normals(rig, block)
    turned(rig)


def flat(rig: Any, block: Any) -> None:
    activate(block)
    bpy.ops.object.shade_flat()


def sharp(rig: Any, block: Any) -> None:
    for edge in block.data.edges:
        edge.use_edge_sharp |= edge.index % 3 == 0


def no_custom_normals(rig: Any, block: Any) -> None:
    activate(block)
    bpy.ops.mesh.customdata_custom_splitnormals_clear()


def edited_by_modifier(rig: Any, block: Any) -> None:
    block.modifiers.new("radial", "NORMAL_EDIT").mode = "RADIAL"
    block.modifiers.move(len(block.modifiers) - 1, 0)


def moved(rig: Any, block: Any) -> None:
    for point in list(block.data.vertices)[::4]:
        point.co.x += 2.0


EDITS: dict[str, Callable[[Any, Any], object]] = {
    "nothing": lambda rig, block: None,
    "armature turned": lambda rig, block: turned(rig),
    "object turned": lambda rig, block: turned(block),
    "weighted": lambda rig, block: block.modifiers.new("weighted", "WEIGHTED_NORMAL"),
}
OTHERS = (
    parent_turned, bone_rolled, own_normals, turned_with_own_normals, flat, sharp, no_custom_normals,
    edited_by_modifier, moved,
)  # fmt: skip
EDITS |= {edit.__name__.replace("_", " "): edit for edit in OTHERS}


def bring(folder: Path, name: str) -> tuple[Any, list[Any]]:
    """Return an imported model's armature, without its animations, and its meshes."""
    path = put(folder / f"model.{name}", MODELS[name])
    if name == "mdm":
        path.with_suffix(".mdx").write_bytes(sample("walk", "mdx"))
    collection = import_model(path, animations=False)
    rig = first("ARMATURE", collection.all_objects)
    rig.animation_data_clear()
    for bone in rig.pose.bones:
        bone.matrix_basis = Matrix()
    return rig, [block for block in collection.all_objects if block.type == "MESH"]


def pose(rig: Any, blocks: list[Any]) -> None:
    """Hang each mesh on a bone alone, and key two frames: the rest, and that bone turned."""
    rig.animation_data_create().action = bpy.data.actions.new("turn")
    for nth, block in enumerate(blocks):
        block.vertex_groups.clear()
        bone = rig.pose.bones[1 + nth]
        block.vertex_groups.new(name=bone.name).add(range(len(block.data.vertices)), 1.0, "REPLACE")
        for frame, turn in ((1, (1.0, 0.0, 0.0, 0.0)), (2, (0.8, 0.4, -0.2, 0.4))):
            bone.rotation_quaternion = turn
            bone.keyframe_insert("rotation_quaternion", frame=frame)


def write_and_bake(folder: Path, name: str, rig: Any, blocks: list[Any]) -> Any:
    """Return the model that an export writes, in the frames of its animation."""
    activate(rig, *blocks)
    asked: dict[str, Any] = {"write_animation": True} if name == "mdm" else {"motions": "ACTIVE"}
    target = folder / f"out.{name}"
    export_bytes(target, **asked)
    loaded = load(Disk().file(target))
    return bake(loaded.model.nearest(), loaded.animations)


def angles(model: Any, frame: int, blocks: list[Any]) -> NDArray[Any]:
    """Return how far the normals of a file are off those that corners show, in degrees."""
    positions, normals = (
        np.concatenate([getattr(surface, what)[frame] for surface in model.surfaces])
        for what in ("positions", "normals")
    )
    tree = tree_of(positions)
    found, depsgraph = [], bpy.context.evaluated_depsgraph_get()
    for block in blocks:
        evaluated = block.evaluated_get(depsgraph)
        world = np.array(evaluated.matrix_world)
        places = meshes.positions(evaluated.data)[meshes.corner_points(evaluated.data)] @ world[:3, :3].T + world[:3, 3]
        shown = meshes.unit(meshes.corner_normals(evaluated.data) @ np.linalg.inv(world[:3, :3]))
        for place, normal in zip(places.tolist(), shown, strict=True):
            there = [index for _, index, _ in tree.find_range(place, NEAR)]
            cosines = meshes.unit(normals[there]) @ normal
            found.append(np.degrees(np.arccos(np.clip(cosines.max(initial=-1.0), -1, 1))))
    return np.array(found)


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("name", MODELS)
def test_normals_are_those_shown(tmp_path, name, edit):
    rig, blocks = bring(tmp_path, name)
    rig.rotation_mode = "XYZ"
    for block in blocks:
        EDITS[edit](rig, block)
    bpy.context.view_layer.update()
    at_rest = write_and_bake(tmp_path, name, rig, blocks)
    assert angles(at_rest, 0, blocks).max() < CLOSE
    pose(rig, blocks)
    posed = write_and_bake(tmp_path, name, rig, blocks)
    for frame in (0, 1):
        bpy.context.scene.frame_set(1 + frame)
        assert angles(posed, frame, blocks).max() < CLOSE
