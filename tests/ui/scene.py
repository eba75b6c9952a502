"""What the tests of operators share: files to import, scenes to export, and what became of either."""

from __future__ import annotations

import hashlib
import platform
import re
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy as blender
import numpy as np
import pytest

from io_idtech_models.blender.mesh.levels import LEVEL_OF
from io_idtech_models.blender.scene import KINDS
from io_idtech_models.formats import by_suffix
from tests.samples import format_of, load, put

# The stubs take every pointer for optional, each object's data for a union, and know nothing of our own operators.
bpy: Any = blender
run_import: Any = bpy.ops.import_scene.idtech_md3
run_export: Any = bpy.ops.export_scene.idtech_md3


def operator(way: str, path: Path) -> Any:
    """Return the operator that imports or exports a file of this suffix."""
    row = by_suffix(path)
    assert row is not None
    return getattr(getattr(bpy.ops, f"{way}_{'scene' if row.has_model else 'anim'}"), f"idtech_{row.name}")


def import_model(path: Path, **options: Any) -> Any:
    """Import a file; returns its collection."""
    before = set(bpy.data.collections)
    assert operator("import", path)(filepath=str(path), **options) == {"FINISHED"}
    (made,) = (each for each in set(bpy.data.collections) - before if LEVEL_OF not in each)
    return made


def import_frames(path: Path, **options: Any) -> Any:
    """Import a model; returns its first mesh with frames, which is active then."""
    made = import_model(path, **options)
    found = next(block for block in made.objects if block.type == "MESH" and block.data.shape_keys is not None)
    activate(found)
    return found


def export_bytes(path: Path, **options: Any) -> bytes:
    """Export; returns the file."""
    assert operator("export", path)(filepath=str(path), **options) == {"FINISHED"}
    return path.read_bytes()


def opened(path: Path, data: bytes) -> dict[str, Any]:
    """Write and import a file; returns the scene's meshes by the names of their objects."""
    import_model(put(path, data))
    return {block.name: block for block in bpy.data.objects if block.type == "MESH"}


import_md3, export_md3 = import_model, export_bytes


def export_model(path: Path, **options: Any) -> Any:
    """Export; returns the model in the file."""
    return load(export_bytes(path, **options), "")


def export_structs(path: Path, **options: Any) -> Any:
    """Export; returns the structs of the file."""
    data = export_bytes(path, **options)
    return format_of(data).read(data)


def reopen(folder: Path) -> None:
    """Save the scene as a .blend, and open that."""
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "reopened.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(folder / "reopened.blend"))


def stored(folder: Path) -> str:
    """Save the scene as a .blend, and begin a new one; returns the file's path."""
    path = str(folder / "stored.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return path


def error_of(call: Any, **options: Any) -> str:
    """Return the one error that a call of an operator raises."""
    try:
        call(**options)
    except RuntimeError as error:
        text = str(error)
        assert "Traceback" not in text
        return text.removeprefix("Error: ").strip()
    raise AssertionError("no error")


def outcome(call: Callable[..., Any], folder: Path, capfd: Any, **options: Any) -> list[str]:
    """Return what a call of an operator said, and the files that came of it in a folder, each with a digest.

    Pictures that are rendered, which differ from one Blender to another, have none.
    """
    folder.mkdir(exist_ok=True)
    capfd.readouterr()
    try:
        call(**options)
    except RuntimeError as error:
        return [str(error).strip().replace(str(folder), "")]
    said = [line.strip() for line in capfd.readouterr().out.replace(str(folder), "").splitlines()]
    found = [line for line in said if re.match(r"Info|Warning|Error", line)]
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name, data = path.relative_to(folder).as_posix(), path.read_bytes()
        found.append(name if path.name.startswith("icon_") else f"{name} {_digest(data)}")
        if zipfile.is_zipfile(path):  # whose bytes are its packer's
            with zipfile.ZipFile(path) as pack:
                rows = [each if "icon_" in each else f"{each} {_digest(pack.read(each))}" for each in pack.namelist()]
            found[-1:] = [f"{name}: {row}" for row in rows]
    return found


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:8]


def places() -> list[str]:
    """Return where the scene's objects are, and which of them are hidden."""
    bpy.context.view_layer.update()
    found = []
    for block in sorted(bpy.context.scene.objects, key=lambda block: block.name):
        place = " ".join(f"{x + 0.0:.2f}" for x in block.matrix_world.translation)
        found.append(f"{block.name} at {place}{' hidden' if block.hide_viewport or block.hide_get() else ''}")
    return found


# What Blender itself computes, of poses and modifiers, may differ in a last bit from one of its builds to another.
KEPT_HERE = pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"), reason="kept of Blender's own arithmetic elsewhere"
)


def counts() -> dict[str, int]:
    """Return how many data-blocks of each kind there are."""
    return {kind: len(getattr(bpy.data, kind)) for kind in (*KINDS, "scenes", "libraries", "node_groups")}


def counts_after_undo() -> dict[str, int]:
    """Return `counts` without libraries: Blender's undo may bring back those of a file that was open before."""
    return {kind: count for kind, count in counts().items() if kind != "libraries"}


def settings(scene: Any) -> tuple[Any, ...]:
    """Return what an import may change of a scene."""
    render = scene.render
    return scene.frame_start, scene.frame_end, scene.frame_current, render.fps, render.fps_base


def activate(*blocks: Any) -> None:
    """Select objects and nothing else; the first becomes active."""
    for block in bpy.context.view_layer.objects:
        block.select_set(block in blocks)
    bpy.context.view_layer.objects.active = blocks[0]


def add_mesh(name: str, points: Any, faces: Any, uvs: bool = True) -> Any:
    """Return a new mesh object in the scene, active and selected alone."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([tuple(map(float, p)) for p in points], [], [tuple(f) for f in faces])
    if uvs:
        layer = mesh.uv_layers.new(name="UVMap")
        layer.uv.foreach_set("vector", np.linspace(0, 1, 2 * len(mesh.loops), dtype=np.float32))
    mesh.update()
    block = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(block)
    bpy.context.view_layer.update()
    activate(block)
    return block


CUBE_POINTS = [(x, y, z) for x in (-8, 8) for y in (-8, 8) for z in (-8, 8)]
CUBE_FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def add_cube(name: str = "cube", **options: Any) -> Any:
    """Return a cube of quads with edges of 16 units, faces outward."""
    return add_mesh(name, CUBE_POINTS, CUBE_FACES, **options)


def add_object(name: str, data: Any = None) -> Any:
    """Return a new object in the scene."""
    block = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(block)
    bpy.context.view_layer.update()
    return block


def add_tag(name: str, display: str = "ARROWS") -> Any:
    """Return a new empty in the scene."""
    block = add_object(name)
    block.empty_display_type = display
    return block


def first(kind: str, blocks: Any = None) -> Any:
    """Return the first object of a type, among all or these."""
    return next(block for block in (bpy.data.objects if blocks is None else blocks) if block.type == kind)


def copy_of(block: Any) -> Any:
    """Return a copy of an object, with data of its own, in the same collection."""
    copy = block.copy()
    copy.data = block.data.copy()
    block.users_collection[0].objects.link(copy)
    return copy


@contextmanager
def editing(rig: Any) -> Iterator[Any]:
    """Let the bones of an armature be edited, which is active from now on."""
    activate(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    yield rig.data.edit_bones
    bpy.ops.object.mode_set(mode="OBJECT")


def volume(surface: Any, frame: int = 0) -> float:
    """Return the signed volume inside a surface: positive if its triangles are counter-clockwise seen from outside."""
    a, b, c = surface.positions[frame][surface.triangles].astype(np.float64).transpose(1, 0, 2)
    return float(np.einsum("ti,ti->t", a, np.cross(b, c)).sum() / 6)


def outward(surface: Any, frame: int = 0) -> bool:
    """Tell whether all normals point away from the middle of a surface."""
    places = surface.positions[frame].astype(np.float64)
    middle = (places.min(axis=0) + places.max(axis=0)) / 2
    return bool((np.einsum("vi,vi->v", places - middle, surface.normals[frame]) > 0).all())


def png(path: Path, rgb: tuple[int, int, int] = (10, 200, 30)) -> Path:
    """Write a picture of 4 x 4 pixels of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 4, 4, 8, 2, 0, 0, 0)
    rows = (b"\0" + bytes(rgb) * 4) * 4
    parts = (chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b""))
    return put(path, b"\x89PNG\r\n\x1a\n" + b"".join(parts))


def tga(path: Path, rgb: tuple[int, int, int] = (10, 200, 30)) -> Path:
    """Write a picture of 4 x 4 pixels of one colour."""
    return put(path, struct.pack("<BBB5xHHHHBB", 0, 0, 2, 0, 0, 4, 4, 24, 0) + bytes(rgb[::-1]) * 16)


def picture_of(material: Any) -> str:
    """Return the path of the picture that a material shows, or ""."""
    nodes = material.node_tree.nodes if material.node_tree is not None else ()
    return next((node.image.filepath for node in nodes if node.type == "TEX_IMAGE" and node.image is not None), "")
