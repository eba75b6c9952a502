"""Skeletal models: each step of an MD5 or MDX next to the floor, the same bpy calls made bare from ready arrays.

The text (reading and writing files) is measured by itself: no call of Blender's stands beside it.
"""

from __future__ import annotations

import cProfile
import io
import pstats
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import bmesh
import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from benchmarks.floor import add_curve, curves
from benchmarks.steps import Clock, Times, empty_scene
from io_idtech_models.blender.compat import action_parts
from io_idtech_models.blender.leaders import cast
from io_idtech_models.blender.shading.materials import Materials
from io_idtech_models.blender.skeletal import build as skeletal
from io_idtech_models.blender.skeletal import gather as skeletal_gather
from io_idtech_models.blender.skeletal import gather_motion as motion
from io_idtech_models.blender.skeletal.rig_scene import SkeletalGatherSettings, rig_scene
from io_idtech_models.formats import Format, by_name, by_suffix
from io_idtech_models.model.bounds import set_bounds
from io_idtech_models.model.joint_scales import skeleton_of
from io_idtech_models.model.skeletal import Animation, SkeletalModel, Skeleton, SkinnedMesh, Weights
from io_idtech_models.model.transforms import chain, conjugate, rotate
from io_idtech_models.tasks.export.motion import of_format

Array = NDArray[Any]
Block = Any  # a data-block of Blender; the stubs take each of its pointers for optional
JOINTS, FRAMES, PER_VERTEX = 60, 100, 3
RIBBONS, ROWS, COLUMNS = 10, 5, 100  # 5,000 vertices, 7,920 triangles
MANY = 30  # animations at once
BONES, LONGEST = 53, 4887  # of Enemy Territory's body.mdx
LONG = 2100  # frames of an animation whose text is 10 MB
STEPS = ("to_model", "build", "gather", "from_model")
IMPORT, EXPORT = STEPS[:2], STEPS[2:]
TARGETS = {"import / floor of import": 2.0, "export / floor of export": 3.0}
SPEED = 30.0  # MB/s of text read
KINDS = {  # of attributes: where their values lie, how many of them, and as what
    "INT": ("value", 1, np.int32), "FLOAT_VECTOR": ("vector", 3, np.float32), "BYTE_COLOR": ("color", 4, np.float32),
    "FLOAT_COLOR": ("color", 4, np.float32),
}  # fmt: skip


@dataclass(frozen=True)
class Files:
    """A model (or none: bones alone) and its animations, as bytes."""

    name: str
    mesh: bytes
    animations: list[bytes]
    joints: int = JOINTS
    frames: int = FRAMES
    formats: tuple[str, str] = ("md5mesh", "md5anim")


def known() -> list[Files]:
    """Return the models that every run measures."""
    many = [slither(FRAMES, i) for i in range(MANY)]
    return [
        Files("serpent.md5mesh, 1 animation", serpent(), many[:1]),
        Files(f"serpent.md5mesh, {MANY} animations", serpent(), many),
        Files("march.mdx", b"", [march()], BONES, LONGEST, ("mdm", "mdx")),
    ]


def from_files(paths: Sequence[Path]) -> list[Files]:
    """Return skeletal models among files, each with the motions that are named behind it.

    Raises:
        OSError, ModelError: a file can't be read.
        ValueError: a file is neither, or has no model before it.
    """
    found: list[Files] = []
    for path in paths:
        row = by_suffix(path)
        if row is None or row.skeletal.companions:
            raise ValueError(f"{path.name}: not a model whose bones lie in its own file, nor a motion")
        data = path.read_bytes() if row.skeletal.motions else _settled(row.name, path.read_bytes())
        if row.has_model:
            asset = row.unpack(row.read(data), path.stem)
            joints, frames = asset.model.skeleton.num_joints, sum(a.num_frames for a in asset.animations)
            found.append(Files(path.name, data, [], joints, frames, (row.name, (row.skeletal.animation or row).name)))
        elif not found or found[-1].formats[1] != row.name:
            raise ValueError(f"{path.name}: name the model that it moves before it")
        else:
            found[-1].animations.append(data)
            frames = found[-1].frames + row.load(data, path.stem).num_frames
            found[-1] = replace(found[-1], frames=frames)
    return found


def _parents() -> Array:
    """Return parents (J,): a spine of twenty joints, with ribs."""
    joints = np.arange(JOINTS)
    return np.where(joints < 20, joints - 1, joints - 20).astype(np.int32)


def _poses(frames: int, phase: int) -> tuple[Array, Array]:
    """Return positions (F, J, 3) and rotations (F, J, 4), relative to the parent: all channels vary."""
    times = 2 * np.pi * (np.arange(frames)[:, None] / FRAMES + np.arange(JOINTS) / 17 + phase / MANY)
    halves = 0.3 * np.stack((np.sin(times), np.cos(times), np.sin(2 * times)), axis=-1) + 0.05
    rotations = np.concatenate((-np.sqrt(1 - (halves * halves).sum(axis=-1))[..., None], halves), axis=-1)
    positions = np.stack((6 + np.sin(times), np.cos(times), np.sin(times)), axis=-1)
    return positions, rotations


def serpent() -> bytes:
    """Return an md5mesh of 60 joints, 5,000 vertices of three weights each, 7,920 triangles: ribbons along a spine."""
    parents = _parents()
    positions, rotations = (p[0] for p in chain(parents, *_poses(1, 0)))
    ribbon, row, column = (a.ravel() for a in np.mgrid[0:RIBBONS, 0:ROWS, 0:COLUMNS])
    places = np.stack((column + 0.1 * ribbon, 4.0 * ribbon, 2.0 * row + 0.01 * column), axis=1)
    count = len(places)
    joints = ((column * 20 // COLUMNS)[:, None] + np.array((0, 20, 40))).ravel()
    owners = np.repeat(np.arange(count), PER_VERTEX)
    offsets = rotate(conjugate(rotations[joints]), places[owners] - positions[joints])
    factors = np.tile((0.5, 0.3, 0.2), count)
    weights = Weights(np.arange(count) * PER_VERTEX, np.full(count, PER_VERTEX), joints.astype(np.int32),
                      factors.astype(np.float32), offsets.astype(np.float32))  # fmt: skip
    ids = np.arange(count).reshape(RIBBONS, ROWS, COLUMNS)
    a, b, c, d = ids[:, :-1, :-1], ids[:, :-1, 1:], ids[:, 1:, 1:], ids[:, 1:, :-1]
    triangles = np.stack((a, b, c, a, c, d), axis=-1).reshape(-1, 3).astype(np.int32)
    uvs = np.stack((column / COLUMNS, (row + ROWS * ribbon) / (ROWS * RIBBONS)), axis=1).astype(np.float32)
    names = [f"joint{i}" for i in range(JOINTS)]
    mesh = SkinnedMesh("skin", "models/md5/serpent", uvs, triangles, weights)
    model = SkeletalModel("serpent", Skeleton(names, parents, positions, rotations), [mesh])
    return _settled("md5mesh", by_name("md5mesh").dump(model))


def slither(frames: int, phase: int = 0) -> bytes:
    """Return an md5anim for the serpent in which every channel varies."""
    names = [f"joint{i}" for i in range(JOINTS)]
    bounds = np.tile(np.array(((-200.0,) * 3, (200.0,) * 3)), (frames, 1, 1))
    animation = Animation(f"move{phase}", names, _parents(), *_poses(frames, phase), 24.0, bounds)
    return _settled("md5anim", by_name("md5anim").dump(animation))


def march() -> bytes:
    """Return an MDX of the size of Enemy Territory's own, in which every bone turns."""
    parents = _parents()[:BONES]
    positions, rotations = (values[:, :BONES] for values in _poses(LONGEST, 0))
    positions = np.broadcast_to(positions[:1], positions.shape).copy()  # the way to the parent has one length
    positions[:, 0, 0] += np.arange(LONGEST) * 0.01
    bounds = np.tile(np.array(((-200.0,) * 3, (200.0,) * 3)), (LONGEST, 1, 1))
    names = [f"joint{i}" for i in range(BONES)]
    return _settled("mdx", by_name("mdx").dump(Animation("march", names, parents, positions, rotations, 15.0, bounds)))


def _settled(name: str, data: bytes) -> bytes:
    """Return a file as it is written again."""
    row = by_name(name)
    return bytes(row.dump(row.load(data, "")))


# -- the package


def run_steps(files: Files, clock: Clock) -> tuple[Any, Any, list[Any]]:
    """Take a model and its animations through every step once; all files must come out as they went in."""
    mesh_row, row = map(by_name, files.formats)
    if mesh_row.has_motions:
        return run_whole(files, mesh_row, clock)
    scene, layer = empty_scene()
    with clock.of("read"):
        structs = mesh_row.read(files.mesh) if files.mesh else None
        moves = [row.read(data) for data in files.animations]
    with clock.of("to_model"):
        animations = [row.to_model(move, f"move{i}") for i, move in enumerate(moves)]
        if structs is None:
            model = SkeletalModel("bones", skeleton_of(animations[0]), [])
        else:
            model = mesh_row.to_model(structs, "serpent")
    with clock.of("build"):
        posed = skeletal.build(model, animations, skeletal.SkeletalSettings(), Materials(), scene, scene.collection)
    layer.update()
    with clock.of("gather"):
        export = rig_scene(scene, layer, SkeletalGatherSettings(), posed.armature)
        gathered, found = skeletal_gather.gather([posed.armature, *posed.meshes], export), []
        for action in posed.actions:
            found.append(motion.gather_action(export, cast(posed.armature, action)))
            set_bounds(found[-1], gathered)
    with clock.of("from_model"):
        structs = mesh_row.from_model(gathered) if files.mesh else None
        moves = [row.from_model(animation) for animation in found]
    with clock.of("write"):
        written = [mesh_row.write(structs) if files.mesh else b"", *(row.write(move) for move in moves)]
    if written != [files.mesh, *files.animations]:
        raise SystemExit(f"{files.name}: a file that came out is not the one that went in")
    return posed, model, animations


def run_whole(files: Files, row: Format, clock: Clock) -> tuple[Any, Any, list[Any]]:
    """Take a file that holds a model and its animations through every step once; see `run_steps`."""
    scene, layer = empty_scene()
    with clock.of("read"):
        structs = row.read(files.mesh)
    with clock.of("to_model"):
        asset = row.unpack(structs, "serpent")
    with clock.of("build"):
        settings = skeletal.SkeletalSettings()
        posed = skeletal.build(asset.model, asset.animations, settings, Materials(), scene, scene.collection)
    layer.update()
    with clock.of("gather"):
        export = of_format(rig_scene(scene, layer, SkeletalGatherSettings(normals="SOURCE"), posed.armature), row)
        gathered = skeletal_gather.gather([posed.armature, *posed.meshes, *posed.tags], export, "serpent")
        found = []
        for action in posed.actions:
            found.append(motion.gather_action(export, cast(posed.armature, action)))
            set_bounds(found[-1], gathered)
    with clock.of("from_model"):
        structs = row.from_model(gathered, {}, found)
    with clock.of("write"):
        written = row.write(structs)
    if written != files.mesh:
        raise SystemExit(f"{files.name}: a file that came out is not the one that went in")
    return posed, asset.model, asset.animations


# -- the floor


@dataclass(eq=False)
class Ready:
    """The arrays of an import; B bones, P points, W weights, F frames."""

    bones: list[tuple[str, int, float, Matrix]]  # name, parent's number, length, matrix
    meshes: list[ReadyMesh]
    actions: list[tuple[list[tuple[str, int, Array]], dict[str, Any]]]  # curves (2 F,), properties
    properties: list[dict[str, Any]]  # of the armature, and of its bones together


@dataclass(eq=False)
class ReadyMesh:
    """The arrays of a mesh."""

    points: Array  # (3 P,) float32
    corner_points: Array  # (3 T,) int32
    uvs: Array  # (6 T,) float32
    numbers: dict[str, tuple[str, str, Array]]  # attribute: its kind, its domain and values
    normals: Array | None  # (C, 3) float32, where the format has some
    groups: list[str]
    weights: list[tuple[int, int, float]]  # point, group, weight
    properties: dict[str, Any]


def look(posed: Any) -> Ready:
    """Return the arrays of what an import made."""
    rig = posed.armature
    order = {bone.name: i for i, bone in enumerate(rig.data.bones)}
    found = [
        (b.name, -1 if b.parent is None else order[b.parent.name], b.length, b.matrix_local.copy())
        for b in rig.data.bones
    ]
    return Ready(
        found,
        [_look_at_mesh(block) for block in posed.meshes],
        [([(c.data_path, c.array_index, _get(c.keyframe_points, "co", 2, np.float32)) for c in parts[0][2]],
          _properties(action)) for action in posed.actions if (parts := action_parts(action))],
        [_properties(rig.data), _properties(rig.data.bones[0])],
    )  # fmt: skip


def _look_at_mesh(block: Block) -> ReadyMesh:
    mesh = block.data
    numbers = {}
    for name, attribute in mesh.attributes.items():
        if name.startswith("idtech") or attribute.data_type.endswith("_COLOR"):
            kind = attribute.data_type
            numbers[name] = kind, attribute.domain, _get(attribute.data, *KINDS[kind])
    return ReadyMesh(
        _get(mesh.attributes["position"].data, "vector", 3, np.float32),
        _get(mesh.attributes[".corner_vert"].data, "value", 1, np.int32),
        _get(mesh.uv_layers[0].uv, "vector", 2, np.float32),
        numbers,
        _get(mesh.corner_normals, "vector", 3, np.float32).reshape(-1, 3) if mesh.has_custom_normals else None,
        [group.name for group in block.vertex_groups],
        [(v.index, g.group, g.weight) for v in mesh.vertices for g in v.groups],
        _properties(mesh),
    )


def _get(data: Any, name: str, width: int, dtype: Any) -> Array:
    values = np.empty(width * len(data), dtype)
    data.foreach_get(name, values)
    return values


def _properties(block: Block) -> dict[str, Any]:
    return {n: v for n, v in block.items() if n.startswith("idtech") and isinstance(v, int | float | str | bytes)}


def make(ready: Ready) -> tuple[Block, list[Block]]:
    """Make everything that an import makes; returns the armature, and the meshes."""
    scene: Block = bpy.context.scene
    layer: Block = bpy.context.view_layer
    collection = bpy.data.collections.new("serpent")
    scene.collection.children.link(collection)
    rig: Block = bpy.data.objects.new("serpent", bpy.data.armatures.new("serpent"))
    collection.objects.link(rig)
    layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    made: list[Any] = []
    for name, parent, length, matrix in ready.bones:
        bone = rig.data.edit_bones.new(name)
        bone.length = length
        bone.matrix = matrix
        if parent >= 0:
            bone.parent = made[parent]
        made.append(bone)
    bpy.ops.object.mode_set(mode="OBJECT")
    blocks = []
    for mesh in ready.meshes:
        block = _make_mesh(mesh)
        collection.objects.link(block)
        block.parent = rig
        block.modifiers.new("Armature", "ARMATURE").object = rig
        _store(block.data, mesh.properties)
        blocks.append(block)
    for bone in rig.data.bones:
        _store(bone, ready.properties[1])
    _store(rig.data, ready.properties[0])
    _make_actions(ready, rig)
    return rig, blocks


def _make_actions(ready: Ready, rig: Block) -> None:
    made = []
    for stored, properties in ready.actions:
        action = bpy.data.actions.new("move")
        found = curves(action, rig, rig.name)
        for path, index, points in stored:
            add_curve(found, path, index, points)
        _store(action, properties)
        made.append(action)
    for action in made:
        track = rig.animation_data.nla_tracks.new()
        track.strips.new(action.name, 0, action)
        track.mute = True


def _make_mesh(ready: ReadyMesh) -> Block:
    mesh: Block = bpy.data.meshes.new("skin")
    mesh.vertices.add(len(ready.points) // 3)
    mesh.attributes["position"].data.foreach_set("vector", ready.points)
    mesh.loops.add(len(ready.corner_points))
    mesh.polygons.add(len(ready.corner_points) // 3)
    mesh.attributes[".corner_vert"].data.foreach_set("value", ready.corner_points)
    mesh.polygons.foreach_set("loop_start", np.arange(0, len(ready.corner_points), 3, dtype=np.int32))
    mesh.uv_layers.new(name="UVMap", do_init=False).uv.foreach_set("vector", ready.uvs)
    for name, (kind, domain, values) in ready.numbers.items():
        mesh.attributes.new(name, kind, domain).data.foreach_set(KINDS[kind][0], values)
    mesh.update(calc_edges=True)
    if ready.normals is not None:
        mesh.normals_split_custom_set(ready.normals)
    block: Block = bpy.data.objects.new("skin", mesh)
    for name in ready.groups:
        block.vertex_groups.new(name=name)
    edited = bmesh.new()
    edited.from_mesh(mesh)
    deform: Any = edited.verts.layers.deform.verify()
    edited.verts.ensure_lookup_table()
    verts: Any = edited.verts
    for point, group, weight in ready.weights:
        verts[point][deform][group] = weight
    edited.to_mesh(mesh)
    edited.free()
    return block


def _store(block: Block, properties: dict[str, Any]) -> None:
    for name, value in properties.items():
        block[name] = value


def read(rig: Block, blocks: list[Block]) -> None:
    """Read the arrays that an export needs, bare."""
    _get(rig.data.bones, "matrix_local", 16, np.float32)
    for block in blocks:
        _read_mesh(block.data)
    for action in bpy.data.actions:
        for curve in action_parts(action)[0][2]:
            _get(curve.keyframe_points, "co", 2, np.float32)


def _read_mesh(mesh: Block) -> None:
    for name, width, dtype in ((".corner_vert", 1, np.int32), ("position", 3, np.float32)):
        _get(mesh.attributes[name].data, "value" if width == 1 else "vector", width, dtype)
    _get(mesh.uv_layers[0].uv, "vector", 2, np.float32)
    for attribute in mesh.attributes:
        if attribute.data_type in KINDS and attribute.name.startswith("idtech"):
            _get(attribute.data, *KINDS[attribute.data_type])
    if mesh.has_custom_normals:
        _get(mesh.corner_normals, "vector", 3, np.float32)
    edited = bmesh.new()
    edited.from_mesh(mesh)
    deform: Any = edited.verts.layers.deform.active
    for vert in edited.verts:
        vert[deform].items()
    edited.free()


# -- what is measured


def measure(files: Files, repeat: int) -> dict[str, Times]:
    """Return how long everything takes, package and floor in turns."""
    posed, _, _ = run_steps(files, Clock())
    ready = look(posed)
    clock = Clock()
    for _ in range(repeat):
        run_steps(files, clock)
        empty_scene()
        with clock.of("floor of import"):
            made = make(ready)
        with clock.of("floor of export"):
            read(*made)
    return clock.times


def ratios(times: dict[str, Times]) -> dict[str, float]:
    """Return what the targets speak of, from the best times."""
    sums = [sum(times[step].best for step in steps) for steps in (IMPORT, EXPORT)]
    floors = [times[f"floor of {way}"].best for way in ("import", "export")]
    return {name: a / b for name, a, b in zip(TARGETS, sums, floors, strict=True)}


def measure_text(repeat: int) -> tuple[int, dict[str, Times]]:
    """Return the size of a long animation's text, and how long reading and writing it takes."""
    data = slither(LONG)
    row, clock = by_name("md5anim"), Clock()
    for _ in range(repeat):
        with clock.of("read"):
            structs = row.read(data)
        with clock.of("write"):
            row.write(structs)
    return len(data), clock.times


def profile(files: Files, steps: Sequence[str], repeat: int, lines: int) -> str:
    """Return the functions in which steps spend their time."""
    run_steps(files, Clock())
    profiler = cProfile.Profile()
    clock = Clock(profiler, tuple(steps))
    for _ in range(repeat):
        run_steps(files, clock)
    text = io.StringIO()
    pstats.Stats(profiler, stream=text).strip_dirs().sort_stats("tottime").print_stats(lines)
    return text.getvalue()
