"""A model in Blender, edited and written back, and what then differs from the file that it was."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bmesh
import bpy
import numpy as np
from numpy.typing import NDArray

from io_idtech_models import formats
from io_idtech_models.blender.mesh import attributes as meshes
from io_idtech_models.blender.provenance import first_number
from io_idtech_models.blender.scene import ExportScene
from io_idtech_models.blender.shading.materials import Materials
from io_idtech_models.blender.shading.nodes import show_look
from io_idtech_models.blender.vertex.build import BuildSettings, Built, build
from io_idtech_models.blender.vertex.frame_plan import GatherSettings, Holds
from io_idtech_models.blender.vertex.gather import gather
from io_idtech_models.model.surface_look import Layer, Look, Texture
from io_idtech_models.tasks.export.plain import holds_of
from tests import facts
from tests.samples import format_of

CONTEXT: Any = bpy.context  # the stubs think that scene and view layer may be missing


@dataclass
class Case:
    """A file in the scene: `before` is what it was, `after()` what an export would write now."""

    data: bytes
    built: Built

    @property
    def row(self) -> Any:
        return format_of(self.data)

    @property
    def before(self) -> Any:
        """Return the structs of the file."""
        return self.row.read(self.data)

    @property
    def collection(self):
        return bpy.data.collections[self.built.collection.name]

    def surface(self, index: int = 0):
        return self.built.surfaces[index]

    def gather(self, holds: Holds | None = None, **settings):
        """Return the model that the scene shows, as the file's format asks for it, unless it is said how."""
        asked = GatherSettings(holds=holds or holds_of(self.row), **settings)
        return gather(
            list(self.collection.all_objects), self.collection, ExportScene(CONTEXT.scene, CONTEXT.view_layer, asked)
        )

    def dump(self, options: dict[str, Any] | None = None, **settings) -> bytes:
        """Export; `options` are the format's own."""
        return bytes(self.row.dump(self.gather(**settings), options))

    def both(self, options: dict[str, Any] | None = None, **settings) -> bytes:
        """Export both ways, from curves and by stepping, which must agree."""
        direct, stepped = (self.dump(options, direct=direct, **settings) for direct in (True, False))
        assert direct == stepped
        return direct

    def after(self, options: dict[str, Any] | None = None, **settings) -> Any:
        """Return the structs that an export would write, both ways."""
        return self.row.read(self.both(options, **settings))

    def changed(self, options: dict[str, Any] | None = None, **settings) -> set[str]:
        """Return the paths at which the file would change; see `facts.differences`."""
        return facts.differences(self.data, self.both(options, **settings))

    def dump_as(self, format_name: str, options: dict[str, Any] | None = None, **settings) -> bytes:
        """Export as another format."""
        row = formats.by_name(format_name)
        return bytes(row.dump(self.gather(holds_of(row), **settings), options))


def open_case(data: bytes, name: str = "model", **settings) -> Case:
    """Import a file's bytes into the scene."""
    model = format_of(data).load(data, name)
    scene = CONTEXT.scene
    built = build(model, BuildSettings(**settings), Materials(), scene, scene.collection)
    CONTEXT.view_layer.update()
    return Case(data, built)


def reopen_blend() -> None:
    """Save the .blend and open it again."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "case.blend"))
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)


def reopen(case: Case) -> None:
    """Save the .blend and open it again, and find the model there."""
    name = case.built.collection.name
    shown = [block.name for block in case.built.surfaces]
    reopen_blend()
    case.built.collection = bpy.data.collections[name]
    case.built.surfaces = [bpy.data.objects[name] for name in shown]


def append(folder: Path, kind: str, names: list[str], link: bool = False) -> list[Any]:
    """Save, and bring data-blocks of the .blend into an empty one; returns them."""
    path = str(folder / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    libraries: Any = bpy.data.libraries
    with libraries.load(path, link=link) as (_, into):
        setattr(into, kind, names)
    return list(getattr(into, kind))


def edited(block: Any, change: Callable[[Any], Any]) -> None:
    """Change a mesh through bmesh."""
    mesh = bmesh.new()
    mesh.from_mesh(block.data)
    for part in (mesh.verts, mesh.edges, mesh.faces):
        part.ensure_lookup_table()
    change(mesh)
    mesh.to_mesh(block.data)
    mesh.free()


def show_image(material: Any, image: Any) -> None:
    """Let a new material show an image, as an import does."""
    show_look(material, Look((Layer(Texture(None)),)), lambda _: image)


def activate(*blocks: Any) -> None:
    """Select objects and nothing else; the first becomes active."""
    for block in CONTEXT.selected_objects:
        block.select_set(False)
    for block in blocks:
        block.select_set(True)
    CONTEXT.view_layer.objects.active = blocks[0]


def add_playing_key(block: Any, name: str, lift: float, values: dict[int, float]) -> None:
    """Give a mesh a relative key that lifts its first point and plays: its values by the scene's frames."""
    block.shape_key_add(name="Basis")
    key = block.shape_key_add(name=name)
    key.data[0].co.z += lift
    for frame, value in values.items():
        key.value = value
        key.keyframe_insert("value", frame=frame)


def in_edit_mode(blocks: Any, *steps: Any) -> None:
    """Take objects, one or several, into edit mode and out again; meanwhile run steps, on meshes that are selected."""
    chosen = blocks if isinstance(blocks, list) else [blocks]
    activate(*chosen)
    bpy.ops.object.mode_set(mode="EDIT")
    if chosen[0].type == "MESH":
        bpy.ops.mesh.select_all(action="SELECT")
    for step in steps:
        step()
    bpy.ops.object.mode_set(mode="OBJECT")


def select_faces(block: Any, chosen: Iterable[int]) -> None:
    """Select some faces of a mesh in edit mode, and nothing else."""
    bpy.ops.mesh.select_mode(type="FACE")
    bpy.ops.mesh.select_all(action="DESELECT")
    faces = list(bmesh.from_edit_mesh(block.data).faces)
    for index in chosen:
        faces[index].select_set(True)


def separated(block: Any, chosen: Iterable[int]) -> Any:
    """Separate faces of a mesh into an object of their own, which is returned."""

    def separate() -> None:
        select_faces(block, chosen)
        assert bpy.ops.mesh.separate(type="SELECTED") == {"FINISHED"}

    present = set(bpy.data.objects)
    in_edit_mode(block, separate)
    (made,) = set(bpy.data.objects) - present
    return made


def positions_at(block: Any, frame: int) -> NDArray[Any]:
    """Return the positions (P, 3) that the scene shows in a frame."""
    CONTEXT.scene.frame_set(frame)
    evaluated = block.evaluated_get(CONTEXT.evaluated_depsgraph_get())
    return meshes.positions(evaluated.data)


def vertices_of(block: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return for each corner its point, and its vertex among the file's, counted through all surfaces."""
    numbers = meshes.get_attribute(block.data, meshes.CORNER_SOURCE, "INT", "CORNER")
    assert numbers is not None
    return meshes.corner_points(block.data), numbers - 1 - first_number(block.data)


def angle(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Return degrees between vectors (n, 3)."""
    a, b = (v / np.linalg.norm(v, axis=-1, keepdims=True) for v in (a.astype(float), b.astype(float)))
    return np.asarray(np.degrees(2 * np.arcsin(np.clip(np.linalg.norm(a - b, axis=-1) / 2, 0, 1))))


def subdividing_nodes() -> Any:
    """Return geometry nodes that change the faces."""
    return geometry_nodes("GeometryNodeSubdivideMesh", "Mesh")[0]


def geometry_nodes(kind: str, geometry: str) -> tuple[Any, Any]:
    """Return geometry nodes of one node of a kind, which takes and gives a geometry, and that node."""
    tree: Any = bpy.data.node_groups.new(kind, "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    start, node, end = (tree.nodes.new(each) for each in ("NodeGroupInput", kind, "NodeGroupOutput"))
    tree.links.new(start.outputs[0], node.inputs[geometry])
    tree.links.new(node.outputs[0], end.inputs[0])
    return tree, node
