"""The cases of `growth`: what users wait for, as operators do it, in each dimension in which files and scenes grow."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import bmesh
import bpy
import numpy as np

from benchmarks import floor, grown
from benchmarks.grown import Size
from benchmarks.growth import Case, Prepared, Work
from benchmarks.steps import empty_scene
from io_idtech_models.blender.vertex.build import Built
from io_idtech_models.formats import by_name

Block = Any  # a data-block of Blender; the stubs take each of its pointers for optional


def _put(path: Path, make: Callable[[], Any]) -> Path:
    """Write what `make` returns as a file of the format that its suffix says, if it is not there; return the path."""
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(by_name(path.suffix[1:]).dump(make()))
    return path


def _run(way: str, path: Path, **options: Any) -> None:
    space = "anim" if path.suffix in {".md5anim", ".mdx"} else "scene"
    operator = getattr(getattr(bpy.ops, f"{way}_{space}"), f"idtech_{path.suffix[1:]}")
    if operator(filepath=str(path), **options) != {"FINISHED"}:
        raise SystemExit(f"{way} of {path.name} failed")


def _both(path: Path, out: Path, **options: Any) -> Work:
    """Import a file, and export what that made."""
    return {"import": partial(_run, "import", path), "export": partial(_run, "export", out, **options)}


def _vertex_file(folder: Path, name: str, size: Size) -> Path:
    values = "-".join(map(str, vars(size).values()))
    return _put(folder / f"sheets-{values}.{name}", partial(grown.vertex_model, size))


def _vertex(folder: Path, name: str, size: Size, **options: Any) -> Work:
    return _both(_vertex_file(folder, name, size), folder / f"out.{name}", **options)


def _bare(path: Path, count: int = 1, every: int = 1) -> Prepared:
    """Make bare what `count` imports of a file made of which the first is there; see to it after `every` so many."""

    def look() -> floor.ReadyModel:
        model = by_name(path.suffix[1:]).load(path.read_bytes(), path.stem)
        collections: Any = bpy.data.collections
        first = next(c for c in collections if "idtech_file" in c)
        surfaces, tags = ([b for b in first.objects if (b.data is None) == empty] for empty in (False, True))
        surfaces.sort(key=lambda block: block.data["idtech_surface"])
        ready = floor.look(Built(first, model.num_frames, surfaces, tags), model)
        empty_scene()
        return ready

    def make(ready: floor.ReadyModel) -> None:
        scene: Any = bpy.context.scene
        for index in range(1, count + 1):
            floor.make(ready, scene, scene.collection)
            if index % every == 0:
                scene.view_layers[0].update()

    return Prepared(look, make)


def vertex(name: str, dimension: str, count: int, folder: Path, **fixed: int) -> Work:
    """Import a vertex-animated model with `count` of something, and export it again, beside the bare calls."""
    size = Size(**{**fixed, dimension: count})
    return _vertex(folder, name, size) | {"bare calls": _bare(_vertex_file(folder, name, size))}


def shaded(count: int, folder: Path) -> Work:
    """Import surfaces of which each has a shader of its own, and export them again."""
    size = Size(surfaces=count, rows=1, columns=1, shaders=count)
    return _vertex(folder, "md3", size) | {"bare calls": _bare(_vertex_file(folder, "md3", size))}


def named(count: int, folder: Path) -> Work:
    """Import a model of `count` animations, and export these."""
    size = Size(frames=4 * count, animations=count)
    return _vertex(folder, "md2", size, frames="ACTIONS") | {"bare calls": _bare(_vertex_file(folder, "md2", size))}


def relative(count: int, folder: Path) -> Work:
    """Import frames as relative keys, and export them again, beside the bare calls that make the keys."""
    path = _vertex_file(folder, "md3", Size(frames=count))
    work = _both(path, folder / "out.md3")
    return work | {"import": partial(_run, "import", path, relative_keys=True), "bare keys": partial(_bare_keys, count)}


def _bare_keys(count: int) -> None:
    (block,) = _new_meshes(1, 4, 4)
    for frame in range(count):
        block.shape_key_add(name=f"frame{frame}", from_mix=False)


def _new_meshes(count: int, rows: int, columns: int) -> list[Block]:
    """Make objects by hand: sheets of triangles with texture coordinates, each with a mesh of its own."""
    places, triangles = grown.grid(rows, columns)
    found = []
    scene: Any = bpy.context.scene
    for index in range(count):
        mesh: Block = bpy.data.meshes.new(f"sheet{index}")
        points = np.concatenate((100 * places - 50, np.full((len(places), 1), index % 200)), axis=1)
        mesh.vertices.add(len(points))
        mesh.attributes["position"].data.foreach_set("vector", points.astype(np.float32).ravel())
        mesh.loops.add(triangles.size)
        mesh.polygons.add(len(triangles))
        mesh.attributes[".corner_vert"].data.foreach_set("value", triangles.ravel())
        mesh.polygons.foreach_set("loop_start", np.arange(0, triangles.size, 3, dtype=np.int32))
        layer = mesh.uv_layers.new(name="UVMap", do_init=False)
        layer.uv.foreach_set("vector", places[triangles.ravel()].astype(np.float32).ravel())
        mesh.update(calc_edges=True)
        block: Block = bpy.data.objects.new(f"sheet{index}", mesh)
        scene.collection.objects.link(block)
        found.append(block)
    scene.view_layers[0].update()
    return found


def handmade(count: int, folder: Path) -> Work:
    """Export objects that no import made."""
    _new_meshes(count, 4, 4)
    return {"export": partial(_run, "export", folder / "out.md3", what="SCENE")}


def triangles(count: int, folder: Path) -> Work:
    """Export one object of many triangles that no import made."""
    _new_meshes(1, count // 1000, 500)
    return {"export": partial(_run, "export", folder / "out.md3", what="SCENE")}


def split(count: int, folder: Path) -> Work:
    """Export one object of many triangles in pieces that a game takes."""
    _new_meshes(1, count // 1000, 500)
    options = {"what": "SCENE", "game": "quake3", "split_surfaces": True}
    return {"export": partial(_run, "export", folder / "out.md3", **options)}


def levels(count: int, folder: Path) -> Work:
    """Export a model of ten frames with two levels of detail, which are made then."""
    path = _vertex_file(folder, "md3", Size(rows=count, columns=50, frames=10))
    _run("import", path)
    return {"export": partial(_run, "export", folder / "out.md3", levels="MAKE")}


def stepped(count: int, folder: Path) -> Work:
    """Export 20 frames of objects that move, beside the bare loop that reads the same arrays."""
    blocks = _new_meshes(count, 4, 4)
    scene: Any = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 20
    for block in blocks:
        for frame, place in ((1, 0.0), (20, 10.0)):
            block.location.x = place
            block.keyframe_insert("location", frame=frame)
    export = partial(_run, "export", folder / "out.md3", what="SCENE")
    return {
        "bare loop": partial(_bare_loop, blocks),
        "export": partial(export, frames="SCENE"),
        "of one frame": partial(export, frames="CURRENT"),
    }


def _bare_loop(blocks: list[Block]) -> None:
    """Read transforms, positions and normals of objects in all frames of the scene."""
    scene: Any = bpy.context.scene
    layer: Any = bpy.context.view_layer
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        for block in blocks:
            shown = block.evaluated_get(layer.depsgraph)
            np.array(shown.matrix_world)
            for data in (shown.data.attributes["position"].data, shown.data.corner_normals):
                data.foreach_get("vector", np.empty(3 * len(data), np.float32))


def edited(dimension: str, edit: Callable[[Block], None], count: int, folder: Path, **fixed: int) -> Work:
    """Export a model after an edit of each of its meshes."""
    work = _vertex(folder, "md3", Size(**{**fixed, dimension: count}))
    _run("import", _vertex_file(folder, "md3", Size(**{**fixed, dimension: count})))
    for block in list(bpy.data.objects):
        edit(block)
    return {"export": work["export"]}


def _move(block: Block) -> None:
    """Move a vertex."""
    block.data.vertices[0].co.z += 1.0
    block.data.update()


def _join_faces(block: Block) -> None:
    """Make larger faces of triangles, four of each; in rows of 100 triangles no two of these share an edge."""
    made = bmesh.new()
    made.from_mesh(block.data)
    bmesh.ops.dissolve_faces(made, faces=[face for face in made.faces if face.index % 8 < 4], use_verts=False)
    made.to_mesh(block.data)
    made.free()


def others(count: int, folder: Path) -> Work:
    """Import and export a small model among many objects that are not its own, beside the update that this takes."""
    _new_meshes(count, 1, 1)
    return _vertex(folder, "md3", Size(surfaces=4, frames=10)) | {"bare update": _bare_update}


def _bare_update() -> None:
    """Link an object, and let the scene know."""
    scene: Any = bpy.context.scene
    scene.collection.objects.link(bpy.data.objects.new("one", None))
    scene.view_layers[0].update()


def together(count: int, folder: Path) -> Work:
    """Import a small model so many times in one call, beside the bare calls that make the same."""
    path = _vertex_file(folder, "md3", Size(surfaces=2, frames=2, tags=1))
    files = [{"name": path.name}] * count
    run: Any = bpy.ops.import_scene
    work: Work = {"import": lambda: run.idtech_md3(directory=str(folder), files=files)}
    return work | {"bare calls": _bare(path, count, count)}


def one_by_one(count: int, folder: Path) -> Work:
    """Import a small model so many times, each in a call of its own, beside the bare calls that make the same."""
    path = _vertex_file(folder, "md3", Size(surfaces=2, frames=2, tags=1))

    def every() -> None:
        for _ in range(count):
            _run("import", path)

    return {"import": every, "bare calls": _bare(path, count)}


def skinned(name: str, dimension: str, count: int, folder: Path) -> Work:
    """Import a skeletal model with `count` of something, and export it again."""
    sizes = {"joints": 40, "meshes": 1, "rows": 4, "tags": 0} | {dimension: count}
    place = folder / f"{name}-{dimension}-{count}"
    path = _put(place / f"model.{name}", partial(grown.skeletal_model, columns=24, **sizes))
    if name == "mdm":
        _put(place / "model.mdx", partial(grown.march, sizes["joints"], 10))
    bare: Work = {"bare bones": partial(_bare_bones, count)} if dimension == "joints" else {}
    return _both(path, folder / f"out.{name}") | bare


def _bare_bones(count: int) -> None:
    """Add an armature, and bones to it."""
    scene: Any = bpy.context.scene
    rig: Block = bpy.data.objects.new("rig", bpy.data.armatures.new("rig"))
    scene.collection.objects.link(rig)
    scene.view_layers[0].objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for index in range(count):
        rig.data.edit_bones.new(f"joint{index}").length = 1.0
    bpy.ops.object.mode_set(mode="OBJECT")


def moved(name: str, count: int, folder: Path, joints: int = 0, frames: int = 0) -> Work:
    """Import an animation of `count` joints or frames, and export it again."""
    joints, frames = joints or count, frames or count
    make = partial(grown.march if name == "mdx" else grown.animation, joints, frames)
    work = _both(_put(folder / f"move-{joints}-{frames}.{name}", make), folder / f"out.{name}")
    return work | {"bare curves": partial(_bare_curves, 7 * joints, frames)}


def _bare_curves(count: int, frames: int) -> None:
    """Add curves to an action."""
    into = floor.curves(bpy.data.actions.new("move"), bpy.data.objects.new("rig", None), "rig")
    points = np.zeros(2 * frames, np.float32)
    for index in range(count):
        floor.add_curve(into, f'pose.bones["joint{index // 7}"].location', index % 7, points)


def motions(count: int, folder: Path) -> Work:
    """Import a model with so many animations beside it, and export them all."""
    place = folder / f"motions-{count}"
    path = _put(place / "model.md5mesh", partial(grown.skeletal_model, 30, 1, 4, 4))
    for index in range(count):
        _put(place / f"move{index}.md5anim", partial(grown.animation, 30, 30, index))
    (place / "out").mkdir(exist_ok=True)
    export = partial(_run, "export", place / "out" / "out.md5anim", what="ALL")
    return {"import": partial(_run, "import", path), "export": export}


SMALL, SOME, MANY, LONG = (32, 64, 125, 250), (125, 250, 500, 1000), (250, 500, 1000, 2000), (1000, 2000, 4000, 8000)
FEW, ROWS, BONES = (100, 200, 400, 800), (400, 800, 1600, 3200), (32, 64, 128, 256)
CASES = (
    Case("MD3: surfaces", MANY, partial(vertex, "md3", "surfaces")),
    Case("MD3: surfaces with a shader each", MANY, shaded),
    Case("MD3: surfaces of 20 frames", SOME, partial(vertex, "md3", "surfaces", frames=20)),
    Case("MD3: surfaces, each edited", SOME, partial(edited, "surfaces", _move)),
    Case("MD3: rows of 1,000 triangles", (50, 100, 200, 400), partial(vertex, "md3", "rows", columns=500)),
    Case("MD3: rows of faces of many corners", FEW, partial(edited, "rows", _join_faces, columns=50)),
    Case("MD3: new objects", MANY, handmade),
    Case("MD3: triangles of a new object", (25_000, 50_000, 100_000, 200_000), triangles),
    Case("MD3: triangles of a new object, in pieces", (25_000, 50_000, 100_000, 200_000), split),
    Case("MD3: rows of 100 triangles, with levels of detail", (25, 50, 100, 200), levels),
    Case("MD3: frames", LONG, partial(vertex, "md3", "frames")),
    Case("MD3: frames as relative keys", MANY, relative),
    Case("MD3: tags in 20 frames", MANY, partial(vertex, "md3", "tags", frames=20)),
    Case("MD3: moving objects, 20 frames", SOME, stepped),
    Case("MD3: objects of others in the scene", LONG, others),
    Case("MD3: files in one call", FEW, together),
    Case("MD3: files, call by call", SMALL, one_by_one),
    Case("MD2: frames", LONG, partial(vertex, "md2", "frames")),
    Case("MD2: rows of 100 triangles", (150, 300, 600, 1200), partial(vertex, "md2", "rows", columns=50)),
    Case("MD2: animations", FEW, named),
    Case("md5mesh: joints", (500, 1000, 2000, 4000), partial(skinned, "md5mesh", "joints")),
    Case("md5mesh: meshes", SOME, partial(skinned, "md5mesh", "meshes")),
    Case("md5mesh: rows of 25 vertices", ROWS, partial(skinned, "md5mesh", "rows")),
    Case("md5anim: frames of 500 joints", MANY, partial(moved, "md5anim", joints=500)),
    Case("md5anim: joints in 500 frames", MANY, partial(moved, "md5anim", frames=500)),
    Case("md5anim: animations of a model", (50, 100, 200, 400), motions),
    Case("MDM: surfaces", SOME, partial(skinned, "mdm", "meshes")),
    Case("MDM: rows of 25 vertices", ROWS, partial(skinned, "mdm", "rows")),
    Case("MDM: tags", MANY, partial(skinned, "mdm", "tags")),
    Case("MDX: frames of 50 joints", (2000, 4000, 8000, 16000), partial(moved, "mdx", joints=50)),
    Case("MDX: joints in 1,000 frames", BONES, partial(moved, "mdx", frames=1000)),
)
