"""What is written is what Blender shows, in every frame, whatever modifiers make of a mesh, live or applied."""

from __future__ import annotations

from typing import Any

import bpy as blender
import numpy as np
import pytest

from io_idtech_models.blender.mesh import attributes as meshes
from io_idtech_models.blender.scene import ExportScene
from io_idtech_models.blender.vertex.frame_plan import GatherSettings
from io_idtech_models.blender.vertex.gather import gather
from io_idtech_models.formats import by_name
from io_idtech_models.tasks.export.plain import holds_of
from tests.blender.case import CONTEXT, activate, geometry_nodes, in_edit_mode, subdividing_nodes
from tests.blender.skeletal.rigged import tree_of
from tests.blender.vertex.md3_case import open_case
from tests.samples import SENTINEL
from tests.ui.scene import CUBE_FACES, CUBE_POINTS

bpy: Any = blender  # the stubs make each object's data a union
pytestmark = pytest.mark.usefixtures("empty_scene")
MD3 = by_name("md3")
# A normal's code is 1.0 degrees off at worst, and one that Blender is still said to show another 0.5; positions round
# to 1/64.
CLOSE, NEAR = 1.6, 0.012


def helper(name: str, kind: str, **settings: Any) -> Any:
    """Return another object, for modifiers that need one."""
    if kind == "ARMATURE":
        data = bpy.data.armatures.new(name)
    elif kind == "LATTICE":
        data = bpy.data.lattices.new(name)
    elif kind == "EMPTY":
        data = None
    elif kind == "CURVE":
        data = bpy.data.curves.new(name, "CURVE")
        spline = data.splines.new("POLY")
        spline.points.add(2)
        for point, place in zip(spline.points, ((-30, 0, 0, 1), (0, 6, 0, 1), (30, 0, 4, 1)), strict=True):
            point.co = place
    else:
        data, size = bpy.data.meshes.new(name), settings.pop("size", 20.0)
        data.from_pydata((np.array(CUBE_POINTS) * size / 8).tolist(), [], CUBE_FACES)
    block = bpy.data.objects.new(name, data)
    CONTEXT.scene.collection.objects.link(block)
    for key, value in settings.items():
        setattr(block, key, value)
    return block


def bent_rig(block: Any) -> Any:
    rig = helper("rig", "ARMATURE")

    def bones() -> None:
        for name, x in (("left", -8), ("right", 8)):
            bone = rig.data.edit_bones.new(name)
            bone.head, bone.tail = (x, 0, 0), (x, 0, 10)

    in_edit_mode(rig, bones)
    rig.pose.bones["right"].rotation_mode = "XYZ"
    rig.pose.bones["right"].rotation_euler = (0.4, 0.2, 0.5)
    points = meshes.positions(block.data)
    share = np.clip(points[:, 0] / 40 + 0.5, 0, 1)
    for name, weights in (("left", 1 - share), ("right", share)):
        group = block.vertex_groups.new(name=name)
        for point, weight in enumerate(weights.tolist()):
            group.add([point], weight, "REPLACE")
    return rig


def set_hook(block: Any, modifier: Any) -> None:
    modifier.object = helper("hook", "EMPTY", location=(0, 0, 5))
    modifier.vertex_indices_set([0, 1, 2, 3, 4, 5])


def set_lattice(block: Any, modifier: Any) -> None:
    modifier.object = lattice = helper("lattice", "LATTICE", scale=(60, 60, 60))
    lattice.data.points[0].co_deform.x += 0.3
    lattice.data.points[7].co_deform.z += 0.2


def set_bound(block: Any, modifier: Any) -> None:
    """Bind to a box around, and move a corner of that."""
    box = helper("box", "MESH", size=60.0)
    if modifier.type == "MESH_DEFORM":
        modifier.object, operator = box, bpy.ops.object.meshdeform_bind
        modifier.precision = 2  # of the grid, which is a hundred times as slow at 5
    else:
        modifier.target, operator = box, bpy.ops.object.surfacedeform_bind
    activate(block)
    operator(modifier=modifier.name)
    box.data.vertices[7].co.z += 20.0


def set_laplace(block: Any, modifier: Any) -> None:
    block.vertex_groups.new(name="anchors").add([0, 5, 9, 20], 1.0, "REPLACE")
    modifier.vertex_group = "anchors"
    activate(block)
    bpy.ops.object.laplaciandeform_bind(modifier=modifier.name)


def set_transfer(block: Any, modifier: Any) -> None:
    modifier.object = helper("from", "MESH")
    modifier.use_loop_data, modifier.data_types_loops = True, {"CUSTOM_NORMAL"}


def set_mask(block: Any, modifier: Any) -> None:
    block.vertex_groups.new(name="some").add(range(30), 1.0, "REPLACE")
    modifier.vertex_group = "some"


def set_warp(block: Any, modifier: Any) -> None:
    modifier.object_from, modifier.object_to = helper("a", "EMPTY"), helper("b", "EMPTY", location=(0, 0, 6))
    modifier.falloff_radius = 30.0


def with_object(kind: str, name: str = "object", **settings: Any) -> Any:
    return lambda block, modifier: setattr(modifier, name, helper("helper", kind, **settings))


# What each modifier is told; a function may do more.
MODIFIERS: dict[str, Any] = {
    "DATA_TRANSFER": set_transfer,
    "NORMAL_EDIT": {"mode": "RADIAL"},
    "WEIGHTED_NORMAL": {"weight": 100, "thresh": 1.0},
    "ARRAY": {"count": 2},
    "BEVEL": {"width": 0.4, "limit_method": "NONE"},
    "BOOLEAN": with_object("MESH", size=9.0, location=(5, 5, 5)),
    "BUILD": {"frame_start": 0, "frame_duration": 1},
    "DECIMATE": {"ratio": 0.5},
    "EDGE_SPLIT": {"split_angle": 0.3},
    "MASK": set_mask,
    "MIRROR": {"use_axis": (False, True, False)},
    "NODES": lambda block, modifier: setattr(modifier, "node_group", subdividing_nodes()),
    "REMESH": {"mode": "VOXEL", "voxel_size": 3.0},
    "SCREW": {"steps": 3, "render_steps": 3, "angle": 1.0},
    "SOLIDIFY": {"thickness": 0.7},
    "SUBSURF": {"levels": 1},
    "TRIANGULATE": {},
    "WELD": {"merge_threshold": 1.5},
    "WIREFRAME": {"thickness": 0.5},
    "ARMATURE": lambda block, modifier: setattr(modifier, "object", bent_rig(block)),
    "CAST": {"factor": 0.6},
    "CURVE": with_object("CURVE"),
    "DISPLACE": {"strength": 1.5},
    "HOOK": set_hook,
    "LAPLACIANDEFORM": set_laplace,
    "LATTICE": set_lattice,
    "MESH_DEFORM": set_bound,
    "SHRINKWRAP": with_object("MESH", "target", size=8.0),
    "SIMPLE_DEFORM": {"deform_method": "TWIST", "angle": 0.8},
    "SMOOTH": {"iterations": 3},
    "CORRECTIVE_SMOOTH": {"iterations": 3},
    "LAPLACIANSMOOTH": {"iterations": 2, "lambda_factor": 0.5},
    "SURFACE_DEFORM": set_bound,
    "WARP": set_warp,
    "WAVE": {"height": 2.0, "width": 4.0, "time_offset": -30.0},
    "CLOTH": {},
    "SOFT_BODY": {},
}
# They read files, replay other objects, or make no mesh that has the model's faces to compare.
OTHERS = {
    "MESH_CACHE", "MESH_SEQUENCE_CACHE", "MULTIRES", "SKIN", "MESH_TO_VOLUME", "VOLUME_TO_MESH", "VOLUME_DISPLACE",
    "EXPLODE", "FLUID", "OCEAN", "PARTICLE_INSTANCE", "PARTICLE_SYSTEM", "DYNAMIC_PAINT", "COLLISION", "SURFACE",
    "UV_PROJECT", "UV_WARP", "VERTEX_WEIGHT_EDIT", "VERTEX_WEIGHT_MIX", "VERTEX_WEIGHT_PROXIMITY",
}  # fmt: skip


def add(block: Any, kind: str) -> Any:
    modifier = block.modifiers.new("more", kind)
    setting = MODIFIERS[kind]
    if callable(setting):
        setting(block, modifier)
    else:
        for name, value in setting.items():
            setattr(modifier, name, value)
    CONTEXT.view_layer.update()
    return modifier


def still(data: bytes) -> bytes:
    """Return the model in its first frame alone, whose modifiers can be applied."""
    model = MD3.load(data, "still")
    for surface in model.surfaces:
        surface.positions, surface.normals = surface.positions[:1], surface.normals[:1]
        surface.source_vertices = surface.source_triangles = None
        surface.source_index = -1
    for tag in model.tags:
        tag.origins, tag.axes, tag.source_index = tag.origins[:1], tag.axes[:1], -1
    model.frame_names, model.source = model.frame_names[:1], None
    return bytes(MD3.dump(model))


def compare(block: Any, frames: list[int], looks: Any = None, close: float = CLOSE) -> None:
    """Assert that the file has each corner that Blender shows, in some frames: its place and its normal."""
    settings = GatherSettings(frames="KEYS" if len(frames) > 1 else "CURRENT")
    model = gather([block], block.users_collection[0], ExportScene(CONTEXT.scene, CONTEXT.view_layer, settings))
    written = MD3.load(MD3.dump(model), "x")
    assert written.num_frames == len(frames)
    places = np.concatenate([surface.positions for surface in written.surfaces], axis=1)
    normals = np.concatenate([surface.normals for surface in written.surfaces], axis=1).astype(np.float64)
    normals /= np.linalg.norm(normals, axis=2, keepdims=True)
    for index in looks or sorted({0, 1, len(frames) // 2, len(frames) - 1} & set(range(len(frames)))):
        frame = frames[index]
        CONTEXT.scene.frame_set(frame)
        shown = block.evaluated_get(CONTEXT.evaluated_depsgraph_get()).data
        points = meshes.positions(shown)[meshes.corner_points(shown)]
        wanted = meshes.corner_normals(shown)
        firm = wanted.any(axis=1) & ~flat_corners(shown)
        off = nearest(points[firm], wanted[firm], places[index], normals[index])
        assert off.max(initial=0.0) < close, f"frame {frame}: {(off > close).sum()} of {len(off)} corners"


def flat_corners(mesh: Any) -> Any:
    """Tell which corners belong to faces without area, of which nobody knows where they look."""
    areas = np.empty(len(mesh.polygons), np.float32)
    mesh.polygons.foreach_get("area", areas)
    sizes = np.diff(meshes.face_starts(mesh), append=len(mesh.loops))
    return np.repeat(areas < 1e-4, sizes)


def nearest(points: Any, wanted: Any, places: Any, normals: Any) -> Any:
    """Return how far, in degrees, each corner's normal is from the closest of the vertices at its place."""
    spots, spot_of = np.unique(places, axis=0, return_inverse=True)
    tree = tree_of(spots)
    found, corner_spots = np.unique(points, axis=0, return_inverse=True)
    at_spot = np.split(np.argsort(spot_of.reshape(-1)), np.cumsum(np.bincount(spot_of.reshape(-1)))[:-1])
    near = [[at_spot[index] for _, index, _ in tree.find_range(point, 2 * NEAR)] for point in found.tolist()]
    vertices = [np.concatenate([np.zeros(0, np.int64), *lists]) for lists in near]
    off = np.full(len(points), 180.0)
    for corner, (spot, normal) in enumerate(zip(corner_spots.reshape(-1).tolist(), wanted, strict=True)):
        here = vertices[spot]
        here = here[np.abs(places[here] - points[corner]).max(axis=1) < NEAR]
        if len(here):
            off[corner] = np.degrees(np.arccos(np.clip(normals[here] @ normal, -1, 1).max()))
    return off


# Where they cut depends on the pose, so that a model would have other faces in each frame, which is refused.
CUTTING = {"BOOLEAN", "REMESH", "WELD", "DECIMATE", "BUILD", "BEVEL", "NORMAL_EDIT", "MIRROR"}
BUILT_ON = {"BOOLEAN", "NODES", "SCREW"}  # they leave vertices where they are and change faces around them
IDLE = {"TRIANGULATE", "SOFT_BODY"}  # they find nothing to do: see `test_modifiers_without_an_effect_change_nothing`


@pytest.mark.parametrize("kind", MODIFIERS)
def test_live(kind):
    """On an animated model, or on one of one frame."""
    alone = kind in CUTTING | IDLE
    block = open_case(still(SENTINEL.read_bytes()) if alone else SENTINEL.read_bytes()).surface()
    add(block, kind)
    compare(block, [CONTEXT.scene.frame_current] if alone else list(range(20)))


@pytest.mark.parametrize("kind", [kind for kind in MODIFIERS if kind not in {"CLOTH", "SOFT_BODY", "MASK"}])
def test_applied(kind):
    """Around faces that are built on old vertices their normals hold within 5 degrees, as when a modeller cuts one."""
    block = open_case(still(SENTINEL.read_bytes())).surface()
    add(block, kind)
    activate(block)
    bpy.ops.object.modifier_apply(modifier="more")
    assert not block.modifiers
    compare(block, [CONTEXT.scene.frame_current], close=5.0 if kind in BUILT_ON else CLOSE)


def test_applied_faces_that_go_change_no_normal(caplog):
    """Blender shows others then: of what is left on the new border; that is not what a modeller deletes faces for."""
    case = open_case(still(SENTINEL.read_bytes()))
    block = case.surface()
    before = {v.tobytes() for v in case.before.surfaces[0].vertices[0]}
    add(block, "MASK")
    activate(block)
    bpy.ops.object.modifier_apply(modifier="more")
    assert {v.tobytes() for v in case.after().surfaces[0].vertices[0]} < before
    assert "corners whose faces changed keep the source's normals, more than 5 degrees from those shown" in caplog.text


def test_points_that_cut_edges_in_two_have_the_normals_that_they_show(caplog):
    """Each has the number of an end of its edge, as if that had moved, and a normal between theirs."""
    block = open_case(still(SENTINEL.read_bytes())).surface()
    in_edit_mode(block, bpy.ops.mesh.subdivide)
    came = meshes.get_attribute(block.data, meshes.SHOWN_NORMAL, "FLOAT_VECTOR", "CORNER")
    assert came is not None
    off = np.einsum("ij,ij->i", meshes.unit(came), meshes.corner_normals(block.data)) < np.cos(np.radians(5))
    assert 0 < off.sum() < 400, "where two normals part by much"
    compare(block, [CONTEXT.scene.frame_current], close=5.0)
    assert "corners whose faces changed keep" not in caplog.text


def test_a_bent_base_of_an_animated_model_is_as_shown_and_no_other_frame_changes():
    case = open_case(SENTINEL.read_bytes())
    block = case.surface()
    points = meshes.positions(block.data)
    bent = points + np.sin(points[:, [2, 0, 1]] * 0.3).astype(np.float32)
    block.data.shape_keys.key_blocks[0].data.foreach_set("co", bent.ravel())
    block.data.attributes["position"].data.foreach_set("vector", bent.ravel())
    block.data.update()
    compare(block, list(range(20)), [0])
    before, after = case.before.surfaces[0].vertices, case.after().surfaces[0].vertices
    np.testing.assert_array_equal(before[1:], after[1:])


def test_all_modifiers_of_meshes_are_tried():
    names = {item.identifier for item in bpy.types.Modifier.bl_rna.properties["type"].enum_items}
    assert set(MODIFIERS) <= names
    assert {n for n in names - set(MODIFIERS) - OTHERS if not n.startswith(("GREASE_PENCIL", "LINEART"))} == set()


def test_modifiers_without_an_effect_change_nothing():
    case = open_case(SENTINEL.read_bytes())
    block = case.surface()
    block.modifiers.new("a", "SUBSURF").levels = 0
    block.modifiers.new("b", "DECIMATE").ratio = 1.0
    block.modifiers.new("c", "ARMATURE")
    block.modifiers.new("d", "DISPLACE").strength = 0.0
    assert case.changed() == set()


def dressed(kind: str) -> tuple[Any, Any, Any]:
    """Return a mesh that wears 'own', and the node of a kind in the modifier that dresses it."""
    block = helper("worn", "MESH")
    block.data.materials.append(bpy.data.materials.new("own"))
    tree, node = geometry_nodes(kind, "Geometry")
    block.modifiers.new("dress", "NODES").node_group = tree
    return block, tree, node


def dress_faces(tree: Any, node: Any, operation: str, number: int) -> None:
    """Let a node dress the faces alone whose index is so to a number."""
    index, compare = tree.nodes.new("GeometryNodeInputIndex"), tree.nodes.new("FunctionNodeCompare")
    compare.data_type, compare.operation = "INT", operation
    value, other = (each for each in compare.inputs if each.enabled)
    other.default_value = number
    tree.links.new(index.outputs[0], value)
    tree.links.new(compare.outputs[0], node.inputs["Selection"])


def shaders_of(block: Any, format_name: str = "md2") -> list[str]:
    """Return what the one surface of a file of a format would wear."""
    settings = GatherSettings(holds=holds_of(by_name(format_name)))
    (surface,) = gather([block], None, ExportScene(CONTEXT.scene, CONTEXT.view_layer, settings)).surfaces
    return surface.shaders


@pytest.mark.parametrize(("name", "shaders"), [("md2", ["new", "own"]), ("md3", ["new"])])
def test_what_a_modifier_dresses_all_faces_in_is_worn_first(name, shaders):
    block, _, node = dressed("GeometryNodeSetMaterial")
    node.inputs["Material"].default_value = bpy.data.materials.new("new")
    assert shaders_of(block, name) == shaders


def test_materials_that_change_as_frames_go_by_are_said(caplog):
    block, tree, node = dressed("GeometryNodeSetMaterialIndex")
    block.data.materials.append(bpy.data.materials.new("other"))
    tree.links.new(tree.nodes.new("GeometryNodeInputSceneTime").outputs["Frame"], node.inputs["Material Index"])
    CONTEXT.scene.frame_start, CONTEXT.scene.frame_end = 0, 3
    settings = GatherSettings(frames="SCENE")
    gather([block], None, ExportScene(CONTEXT.scene, CONTEXT.view_layer, settings))
    assert "its materials change, and a file has them once, for all frames (first other at frame 1)" in caplog.text


def test_a_modifier_that_dresses_some_faces_leaves_what_is_worn_first():
    block, tree, node = dressed("GeometryNodeSetMaterial")
    node.inputs["Material"].default_value = bpy.data.materials.new("new")
    dress_faces(tree, node, "EQUAL", 0)
    assert shaders_of(block) == ["own", "new"]


def test_what_most_faces_wear_is_first_where_a_modifier_dresses_all_of_the_first():
    block, tree, node = dressed("GeometryNodeSetMaterial")
    block.data.materials.append(bpy.data.materials.new("other"))
    block.data.polygons.foreach_set("material_index", [0, 0, 1, 1, 1, 1])
    node.inputs["Material"].default_value = bpy.data.materials.new("new")
    dress_faces(tree, node, "LESS_THAN", 2)
    assert shaders_of(block) == ["other", "own", "new"]


def test_a_skin_that_is_shown_stays_where_it_is_though_a_modifier_dresses_some_faces():
    """A model's skins have their numbers, whichever is looked at."""
    block, tree, node = dressed("GeometryNodeSetMaterial")
    block.data.materials.append(bpy.data.materials.new("pain"))
    block.data.polygons.foreach_set("material_index", [1] * 6)
    node.inputs["Material"].default_value = bpy.data.materials.new("new")
    dress_faces(tree, node, "EQUAL", 0)
    assert shaders_of(block) == ["own", "pain", "new"]


def test_what_modifiers_round_is_no_change_of_texture_coordinates(caplog):
    """A bevel behind a rig that turns makes its own anew in each pose, other ones in the seventh digit."""
    block = helper("box", "MESH")
    block.data.uv_layers.new()
    rig = bent_rig(block)
    block.vertex_groups.clear()
    block.vertex_groups.new(name="left").add(range(len(block.data.vertices)), 1.0, "REPLACE")
    block.modifiers.new("rig", "ARMATURE").object = rig
    bevel = block.modifiers.new("bevel", "BEVEL")
    bevel.segments, bevel.width = 2, 2.0
    pose = rig.pose.bones["left"]
    pose.rotation_mode = "XYZ"
    for frame in (0, 10):
        pose.rotation_euler = (0.1 * frame, 0.07 * frame, 0.0)
        pose.keyframe_insert("rotation_euler", frame=frame)
    CONTEXT.scene.frame_start, CONTEXT.scene.frame_end = 0, 10
    gather([block], None, ExportScene(CONTEXT.scene, CONTEXT.view_layer, GatherSettings(frames="SCENE")))
    assert "texture coordinates change" not in caplog.text
