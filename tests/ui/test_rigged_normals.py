"""The normals that a rigged model's file has are those that Blender shows: at rest, and in a pose.

The file that an export wrote is read again, and moved by the games' formulas.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bmesh
import numpy as np
import pytest
from mathutils import Matrix, Vector
from numpy.typing import NDArray

from io_idtech_models.assets.load import load
from io_idtech_models.blender.mesh import attributes as meshes
from io_idtech_models.game.folders import Disk
from io_idtech_models.model.bake import bake
from tests.blender.case import in_edit_mode
from tests.blender.skeletal.rigged import tree_of
from tests.samples import PROJECT, corpus, put, sample
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


def corners(triangles: Any, places: Any, normals: Any) -> dict[Any, NDArray[Any]]:
    """Return the normals (3, 3) of triangles (n, 3) by the places of their corners, in an order that these have."""
    rounded = np.round(places * 50).astype(int)
    found = {}
    for each in triangles.tolist():
        order = sorted(each, key=lambda at: tuple(rounded[at].tolist()))
        found[tuple(tuple(rounded[at].tolist()) for at in order)] = normals[order]
    return found


def off_by_corner(model: Any, frame: int, blocks: list[Any]) -> float:
    """Return how far a corner of a triangle is off what Blender shows there, in degrees, of those that are found."""
    written: dict[Any, NDArray[Any]] = {}
    for surface in model.surfaces:
        written |= corners(surface.triangles, surface.positions[frame], meshes.unit(surface.normals[frame]))
    shown: dict[Any, NDArray[Any]] = {}
    depsgraph = bpy.context.evaluated_depsgraph_get()
    for block in blocks:
        mesh = block.evaluated_get(depsgraph).data
        mesh.calc_loop_triangles()
        triangles = np.array([each.loops for each in mesh.loop_triangles])
        places = meshes.positions(mesh)[meshes.corner_points(mesh)]
        shown |= corners(triangles, places, meshes.unit(meshes.corner_normals(mesh)))
    both = written.keys() & shown.keys()
    assert len(both) > 0.9 * len(shown)
    return max(float(np.degrees(np.arccos(np.clip((written[k] * shown[k]).sum(axis=1), -1, 1))).max()) for k in both)


@pytest.mark.parametrize("target", ["iqm", "mds"])
@pytest.mark.parametrize("edit", ["flat", "sharp"])
def test_what_a_file_without_normals_shows_is_written_corner_by_corner(tmp_path, target, edit):
    """A vertex of it has no normal, and so as many as are shown."""
    collection = import_model(PROJECT / "examples/newt/models/md5/newt/newt.md5mesh", animations=False)
    blocks = [block for block in collection.all_objects if block.type == "MESH"]
    for block in blocks:
        EDITS[edit](None, block)
    bpy.context.view_layer.update()
    activate(first("ARMATURE", collection.all_objects), *blocks)
    export_bytes(tmp_path / f"a.{target}", motions="REST")
    model = bake(load(Disk().file(tmp_path / f"a.{target}")).model.nearest(), [])
    assert off_by_corner(model, 0, blocks) < 2.0


@pytest.mark.parametrize("torn", [1, 3])
def test_what_stays_where_faces_were_torn_off_has_the_normals_that_it_shows(tmp_path, torn):
    """The faces that were moved away tell that their points were the others', too."""
    collection = import_model(PROJECT / "examples/bloom/bloom.iqm", animations=False)
    block = next(block for block in collection.all_objects if block.type == "MESH")
    faces = bmesh.new()
    faces.from_mesh(block.data)
    faces.faces.ensure_lookup_table()
    away = [faces.faces[nth] for nth in range(0, 40 * torn, 40)]
    bmesh.ops.split_edges(faces, edges=[edge for face in away for edge in face.edges])
    for face in away:
        bmesh.ops.translate(faces, verts=face.verts[:], vec=face.normal * 0.7)
    faces.to_mesh(block.data)
    faces.free()
    activate(first("ARMATURE", collection.all_objects), block)
    export_bytes(tmp_path / "a.iqm", motions="REST")
    model = bake(load(Disk().file(tmp_path / "a.iqm")).model.nearest(), [])
    assert off_by_corner(model, 0, [block]) < 2.0


KEYBOARD = [case for case in corpus("iqm") if case.path.parts[-2:] == ("keyboard", "mesh.iqm")]


@pytest.mark.parametrize("case", KEYBOARD, ids=lambda case: case.path.name)
@pytest.mark.parametrize("moved", [6, 18, 78])
def test_a_triangle_beside_one_that_moved_keeps_its_normals_where_an_edge_parts_them(tmp_path, case, moved):
    """Both had one vertex of the file; now it shows two normals."""
    made = import_model(case.path, animations=False)
    block = first("MESH", made.all_objects)
    for vertex in block.data.polygons[moved].vertices:
        block.data.vertices[vertex].co += Vector((0.34, 0.14, 0))
    block.data.update()
    activate(first("ARMATURE", made.all_objects), block)
    export_bytes(tmp_path / "a.iqm", motions="REST")
    model = bake(load(Disk().file(tmp_path / "a.iqm")).model.nearest(), [])
    assert off_by_corner(model, 0, [block]) < 5.0


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
