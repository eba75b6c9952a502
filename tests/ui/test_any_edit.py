"""Whatever a modeller does to a mesh, an export ends with a file or a sentence, never with a traceback.

Every modifier that Blender can add to a mesh, and every operator on meshes that needs no mouse, is tried on models of
several formats, and every format has its share of them.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from io_idtech_models import formats
from tests.blender.case import subdividing_nodes
from tests.samples import put, sample
from tests.ui.scene import activate, add_cube, add_object, bpy, import_model, operator

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]

# Of each format a sample with as much as it can hold; what lies beside, so that surfaces without a shader wear one.
MODELS = {
    "md2": "animated", "md3": "no_shaders", "mdl": "animated", "mdc": "no_shaders", "ase": "several",
    "lwo": "several",
    "md5mesh": "several_meshes",
    "mdm": "figure", "mds": "figure", "iqm": "arm", "mdr": "packed_walker",
}  # fmt: skip
SLOW = frozenset(("FLUID", "OCEAN"))  # seconds each; a liquid's mesh exists only once it was baked
SHARES = 4  # of the edits each format has one, the next format the next: each edit is tried with two or three
Edit = Callable[[list[Any]], object]


# -- modifiers


def kinds_of_modifiers() -> list[str]:
    """Return the types of modifiers that a mesh takes."""
    block = add_cube("probe")
    found = []
    for kind in [item.identifier for item in bpy.types.Modifier.bl_rna.properties["type"].enum_items]:
        with contextlib.suppress(RuntimeError, TypeError):
            if kind not in SLOW and block.modifiers.new(kind, kind) is not None:
                found.append(kind)
    bpy.data.objects.remove(block)
    return found


def helper_of(kind: str) -> Any:
    """Return an object that a modifier of this type can look at."""
    data: Any = None
    if kind in {"CURVE", "LATTICE", "ARMATURE"}:
        data = getattr(bpy.data, f"{kind.lower()}s").new("helper", *(["CURVE"] if kind == "CURVE" else []))
    elif kind not in {"HOOK", "CAST", "WARP", "UV_WARP"}:
        return add_cube("helper")
    block = bpy.data.objects.new("helper", data)
    bpy.context.scene.collection.objects.link(block)
    return block


def fill(modifier: Any, block: Any) -> None:
    """Give a new modifier what it looks at, so that it does something."""
    for name in ("object", "target", "object_to", "auxiliary_target", "mirror_object"):
        found = modifier.bl_rna.properties.get(name)
        if found is not None and found.type == "POINTER" and not found.is_readonly:
            with contextlib.suppress(TypeError):
                setattr(modifier, name, helper_of(modifier.type))
    if "vertex_group" in modifier.bl_rna.properties and not block.vertex_groups:
        block.vertex_groups.new(name="half").add([0, 1], 1.0, "REPLACE")
    if "vertex_group" in modifier.bl_rna.properties and modifier.type in {"MASK", "HOOK", "LAPLACIANDEFORM"}:
        modifier.vertex_group = block.vertex_groups[0].name
    values = {
        "NODES": {"node_group": subdividing_nodes()}, "DECIMATE": {"ratio": 0.5}, "SMOOTH": {"iterations": 3},
        "EDGE_SPLIT": {"split_angle": 0.0}, "WELD": {"merge_threshold": 5.0}, "DISPLACE": {"strength": 3.0},
        "SUBSURF": {"levels": 1}, "REMESH": {"mode": "BLOCKS", "octree_depth": 2}, "SCREW": {"steps": 3},
        "BUILD": {"frame_start": 1, "frame_duration": 3}, "NORMAL_EDIT": {"mode": "RADIAL"},
    }.get(modifier.type, {})  # fmt: skip
    for name, value in values.items():
        setattr(modifier, name, value)


def with_modifier(kind: str) -> Edit:
    """Return what gives a model's first mesh a modifier, behind those that it has, as Blender does."""

    def edit(blocks: list[Any]) -> None:
        fill(blocks[0].modifiers.new(kind, kind), blocks[0])
        activate(*blocks)

    return edit


# -- operators

ALL, SOME = "all", "some"  # of the faces are selected
EDIT_MODE: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("subdivide", SOME, {}), ("unsubdivide", ALL, {}), ("delete", SOME, {"type": "VERT"}),
    ("delete", ALL, {"type": "VERT"}), ("delete", SOME, {"type": "EDGE"}), ("delete", SOME, {"type": "FACE"}),
    ("delete", ALL, {"type": "FACE"}), ("delete", ALL, {"type": "ONLY_FACE"}), ("delete", SOME, {"type": "EDGE_FACE"}),
    ("dissolve_verts", SOME, {}), ("dissolve_edges", SOME, {}), ("dissolve_faces", ALL, {}),
    ("dissolve_limited", ALL, {}), ("dissolve_degenerate", ALL, {"threshold": 3.0}), ("edge_collapse", SOME, {}),
    ("delete_loose", ALL, {}), ("decimate", ALL, {"ratio": 0.5}), ("remove_doubles", ALL, {}),
    ("remove_doubles", ALL, {"threshold": 8.0}), ("merge", SOME, {"type": "CENTER"}),
    ("merge", SOME, {"type": "COLLAPSE"}),
    ("extrude_region_move", SOME, {"TRANSFORM_OT_translate": {"value": (1, 2, 3)}}), ("extrude_faces_indiv", ALL, {}),
    ("extrude_edges_indiv", SOME, {}), ("extrude_verts_indiv", SOME, {}), ("duplicate", SOME, {}),
    ("split", SOME, {}), ("edge_split", SOME, {}), ("edge_split", ALL, {"type": "VERT"}),
    ("face_split_by_edges", ALL, {}), ("rip_move", SOME, {}), ("bevel", SOME, {"offset": 1.0, "affect": "EDGES"}),
    ("bevel", ALL, {"offset": 1.0, "affect": "VERTICES"}), ("inset", SOME, {"thickness": 0.5}), ("poke", ALL, {}),
    ("tris_convert_to_quads", ALL, {}), ("quads_convert_to_tris", ALL, {}), ("beautify_fill", ALL, {}),
    ("edge_rotate", SOME, {}), ("flip_normals", SOME, {}), ("flip_normals", ALL, {}),
    ("normals_make_consistent", ALL, {"inside": True}), ("solidify", SOME, {"thickness": 1.0}), ("wireframe", ALL, {}),
    ("symmetrize", ALL, {}), ("symmetry_snap", ALL, {}),
    ("bisect", ALL, {"plane_co": (0, 0, 9), "plane_no": (0, 0, 1)}),
    ("bisect", ALL, {"plane_co": (9, 0, 9), "plane_no": (1, 0, 0), "clear_outer": True, "use_fill": True}),
    ("spin", SOME, {"steps": 3, "axis": (0, 0, 1)}), ("screw", SOME, {"steps": 3}), ("convex_hull", ALL, {}),
    ("fill_holes", ALL, {"sides": 0}), ("edge_face_add", ALL, {}), ("fill", ALL, {}), ("fill_grid", ALL, {}),
    ("bridge_edge_loops", ALL, {}), ("intersect", SOME, {}), ("vert_connect", SOME, {}),
    ("vert_connect_concave", ALL, {}), ("vert_connect_nonplanar", ALL, {}), ("vertices_smooth", ALL, {}),
    ("vertices_smooth_laplacian", ALL, {}), ("face_make_planar", ALL, {}), ("offset_edge_loops", SOME, {}),
    ("sort_elements", ALL, {"type": "REVERSE", "elements": {"VERT", "EDGE", "FACE"}}), ("hide", SOME, {}),
    ("mark_sharp", SOME, {}), ("mark_seam", SOME, {}), ("faces_shade_flat", ALL, {}), ("faces_shade_smooth", ALL, {}),
    ("set_sharpness_by_angle", ALL, {}), ("set_normals_from_faces", SOME, {}), ("average_normals", ALL, {}),
    ("merge_normals", ALL, {}), ("split_normals", ALL, {}), ("smooth_normals", ALL, {}),
    ("normals_tools", ALL, {"mode": "RESET"}), ("point_normals", ALL, {"target_location": (0, 0, 9)}),
    ("uvs_rotate", ALL, {}), ("uvs_reverse", ALL, {}), ("flip_quad_tessellation", ALL, {}),
    ("separate", SOME, {"type": "SELECTED"}), ("separate", ALL, {"type": "LOOSE"}),
    ("separate", ALL, {"type": "MATERIAL"}), ("separate", ALL, {"type": "SELECTED"}),
    ("primitive_circle_add", SOME, {"fill_type": "NGON"}),
)  # fmt: skip


def in_edit_mode(name: str, part: str, options: dict[str, Any]) -> Edit:
    """Return what calls an operator of edit mode on a model's first mesh, with all of it selected or a part."""

    def edit(blocks: list[Any]) -> None:
        activate(blocks[0])
        faces = blocks[0].data.polygons
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.select_all(action="SELECT" if part == ALL else "DESELECT")
        bpy.ops.object.mode_set(mode="OBJECT")
        if part == SOME:
            for face in list(faces)[: (len(faces) + 1) // 2]:
                face.select = True
                for point in face.vertices:
                    blocks[0].data.vertices[point].select = True
        bpy.ops.object.mode_set(mode="EDIT")
        with contextlib.suppress(RuntimeError):  # there is nothing that it could do
            getattr(bpy.ops.mesh, name)(**options)
        bpy.ops.object.mode_set(mode="OBJECT")

    return edit


def in_object_mode(call: Callable[[list[Any]], object]) -> Edit:
    """Return what calls something with all of a model's meshes selected."""

    def edit(blocks: list[Any]) -> None:
        activate(*blocks)
        with contextlib.suppress(RuntimeError, AttributeError):
            call(blocks)

    return edit


def clear(name: str) -> Callable[[list[Any]], None]:
    """Return what takes all of a kind away from meshes: materials, modifiers, attributes."""

    def call(blocks: list[Any]) -> None:
        for block in blocks:
            holder = getattr(block, name, None) or getattr(block.data, name)
            for each in [e for e in holder if not getattr(e, "is_required", False)]:
                with contextlib.suppress(RuntimeError):
                    holder.remove(each)

    return call


def join(*blocks: Any) -> None:
    activate(*blocks)
    bpy.ops.object.join()


def apply_all(blocks: list[Any]) -> None:
    for block in blocks:
        if block.data.shape_keys is not None:
            block.shape_key_clear()
        bpy.context.view_layer.objects.active = block
        for modifier in list(block.modifiers):
            bpy.ops.object.modifier_apply(modifier=modifier.name)


def mirrored(blocks: list[Any]) -> None:
    for block in blocks:
        block.scale = (-1.0, 2.0, 0.0)


def remesh(blocks: list[Any]) -> None:
    blocks[0].data.remesh_voxel_size = 4.0
    bpy.ops.object.voxel_remesh()


OBJECT_MODE: dict[str, Callable[[list[Any]], object]] = {
    "join": lambda _: bpy.ops.object.join(),
    "join with a new mesh": lambda blocks: join(*blocks, add_cube("new")),
    "join into a new mesh": lambda blocks: join(add_cube("new"), *blocks),
    "shade flat": lambda _: bpy.ops.object.shade_flat(),
    "shade smooth": lambda _: bpy.ops.object.shade_smooth(),
    "shade smooth by angle": lambda _: bpy.ops.object.shade_smooth_by_angle(angle=0.5),
    "no custom normals": lambda _: bpy.ops.mesh.customdata_custom_splitnormals_clear(),
    "new custom normals": lambda _: bpy.ops.mesh.customdata_custom_splitnormals_add(),
    "duplicate": lambda _: bpy.ops.object.duplicate(),
    "linked duplicate": lambda _: bpy.ops.object.duplicate(linked=True),
    "convert": lambda _: bpy.ops.object.convert(target="MESH"),
    "apply transforms": lambda _: bpy.ops.object.transform_apply(),
    "origin": lambda _: bpy.ops.object.origin_set(type="ORIGIN_GEOMETRY"),
    "scaled": mirrored,
    "remesh": remesh,
    "quadriflow": lambda _: bpy.ops.object.quadriflow_remesh(target_faces=20),
    "apply modifiers": apply_all,
    "parent cleared": lambda _: bpy.ops.object.parent_clear(type="CLEAR"),
    "no materials": lambda blocks: [block.data.materials.clear() for block in blocks],
    "empty slots": lambda blocks: [bpy.ops.object.material_slot_add() for _ in blocks],
    "no UVs": clear("uv_layers"),
    "no groups": clear("vertex_groups"),
    "no modifiers": clear("modifiers"),
    "no attributes": clear("attributes"),
    "no shape keys": lambda blocks: [block.shape_key_clear() for block in blocks],
    "normalize weights": lambda _: bpy.ops.object.vertex_group_normalize_all(),
    "limit weights": lambda _: bpy.ops.object.vertex_group_limit_total(limit=1),
    "clean weights": lambda _: bpy.ops.object.vertex_group_clean(group_select_mode="ALL", limit=0.6),
}


def called(name: str, part: str, options: dict[str, Any]) -> str:
    """Return what an operator of edit mode is called here, the same in every process: sets have no order."""
    return f"{name} {part} {json.dumps(options, default=sorted)}"


def all_edits() -> dict[str, Edit]:
    """Return all that is tried, by what it is called."""
    found = {kind: with_modifier(kind) for kind in kinds_of_modifiers()}
    for name, part, options in EDIT_MODE:
        found[called(name, part, options)] = in_edit_mode(name, part, options)
    found |= {name: in_object_mode(call) for name, call in OBJECT_MODE.items()}
    return found


def surfaces_in(source: Path) -> list[str]:
    names = [block.name for block in import_model(source).all_objects if block.type == "MESH"]
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return names


def keep_scene(source: Path, scene: Path) -> None:
    """Import a file and save what it becomes; what cloths and waves show of many frames is not asked here."""
    import_model(source)
    bpy.context.scene.frame_end = 3
    bpy.ops.wm.save_as_mainfile(filepath=str(scene))


def outcome(scene: Path, target: Path, edit: Edit) -> str:
    """Return what is wrong with an export after an edit, or ""."""
    bpy.ops.wm.open_mainfile(filepath=str(scene))
    edit([block for block in bpy.context.scene.objects if block.type == "MESH"])
    target.unlink(missing_ok=True)
    try:
        operator("export", target)(filepath=str(target))
    except RuntimeError as error:
        return str(error) if "Traceback" in str(error) else ""
    return "" if target.is_file() else "neither a file nor a sentence"


@pytest.mark.parametrize("name", MODELS)
def test_an_export_ends_with_a_file_or_a_sentence(tmp_path, name):
    ending = formats.by_name(name).suffixes[0]
    source, scene = put(tmp_path / f"model{ending}", MODELS[name]), tmp_path / "model.blend"
    lines = [f"{surface},models/worn{nth}\n" for nth, surface in enumerate(surfaces_in(source))]
    (tmp_path / "model_default.skin").write_text("".join(lines))
    keep_scene(source, scene)
    mine = list(all_edits().items())[list(MODELS).index(name) % SHARES :: SHARES]
    wrong = {called: outcome(scene, tmp_path / f"out{ending}", edit) for called, edit in mine}
    assert {called: what for called, what in wrong.items() if what} == {}


@pytest.mark.parametrize("name", ["md3", "ase"])
def test_keys_without_a_single_block(tmp_path, name):
    """Joining leaves them before 5.2 where the joined mesh that had a key had no points."""
    empty = add_object("empty", bpy.data.meshes.new("empty"))
    empty.shape_key_add(name="added")
    target = tmp_path / f"a{formats.by_name(name).suffixes[0]}"
    join(add_cube("new"), add_cube("more"), empty)
    operator("export", target)(filepath=str(target))
    assert target.is_file()


@pytest.mark.parametrize("name", ["lwo", "ase"])
def test_what_a_script_takes_from_under_modifiers(tmp_path, name):
    """Blender is not told of it, and goes on showing what modifiers made of it before."""
    suffix = formats.by_name(name).suffixes[0]
    import_model(put(tmp_path / f"a{suffix}", sample("several_sets", name)))
    blocks = [block for block in bpy.context.scene.objects if block.type == "MESH"]
    for block in blocks:
        block.modifiers.new("m", "LATTICE")
    bpy.context.view_layer.update()
    for block in blocks:
        for layer in list(block.data.uv_layers)[1:]:
            block.data.uv_layers.remove(block.data.uv_layers[layer.name])
    target = tmp_path / f"b{suffix}"
    operator("export", target)(filepath=str(target))
    again = formats.by_name(name).load(target.read_bytes(), "")
    assert not any(surface.further_uvs for surface in again.surfaces)
