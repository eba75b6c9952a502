"""The floor: the same bpy calls as an import makes, bare, from arrays that are ready.

What an import would take if deciding what to make, and checking it, cost nothing. Nothing of `io_idtech_models.blender`
is used here. `look` takes the arrays from a scene into which the package has imported a model; `make` makes them again,
and what it makes is compared once with what it was taken from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from benchmarks import painted

Array = NDArray[Any]
Block = Any  # a data-block of Blender; the stubs take each of its pointers for optional
NUMBERS = (("idtech_corner", "CORNER"), ("idtech_point", "POINT"), ("idtech_face", "FACE"))
SHOWN, GIVEN = "idtech_normal", "idtech_given"
NEAR = float(np.cos(np.radians(0.5)))
LINEAR = 1


@dataclass(eq=False)
class Ready:
    """The arrays of one surface; C corners, P points, T triangles, F frames."""

    name: str
    mesh_name: str
    points: Array  # (3 P,) float32
    corner_points: Array  # (3 T,) int32
    starts: Array  # (T,) int32
    uvs: Array  # (6 T,) float32
    numbers: dict[str, tuple[str, Array]]  # attribute: its domain and int32 values
    given: Array | None  # float32 normals, (P, 3) or (C, 3)
    per_point: bool
    sharp: Array | None  # edges that must be sharp for the normals to hold
    shown: Array | None  # (3 C,) float32, what Blender showed of them, at length 1
    shows: Array  # (3 C,) float32, what Blender shows
    materials: list[str]
    frames: Array  # (F, 3 P) float32
    keys: list[str]
    properties: dict[str, Any]
    mesh_properties: dict[str, Any]


@dataclass(eq=False)
class ReadyTag:
    """An empty and its curves: path, index, keys (2 F,)."""

    name: str
    size: float
    channels: dict[str, list[float]]
    curves: list[tuple[str, int, Array]]
    properties: dict[str, Any]


@dataclass(eq=False)
class ReadyAction:
    """A named animation: keys (2 n,) of its curve of the evaluation time, and its last frame."""

    name: str
    slot: str
    curve: Array
    end: float
    properties: dict[str, Any]


@dataclass(eq=False)
class ReadyModel:
    """All that an import makes."""

    name: str
    surfaces: list[Ready]
    tags: list[ReadyTag]
    materials: dict[str, dict[str, Any]]
    properties: dict[str, Any]
    num_frames: int
    curve: Array  # (4,) the ends of the curve of the evaluation time
    whole: tuple[bool, dict[str, Any]] = (False, {})  # whether that has a fake user, and its properties
    actions: list[ReadyAction] = field(default_factory=list)
    markers: list[tuple[str, int]] = field(default_factory=list)
    pictures: list[painted.ReadyPicture] = field(default_factory=list)


@dataclass
class Parts:
    """How long each kind of call took, in seconds."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Add what happens within to a part."""
        start = perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - start


# -- taking the arrays


def look(built: Any, model: Any) -> ReadyModel:
    """Return the arrays of an import (`blender.vertex.Built`) of a model."""
    surfaces = [_look_surface(b, s) for b, s in zip(built.surfaces, model.surfaces, strict=True)]
    shown = list(dict.fromkeys(m for b in built.surfaces for m in b.data.materials))
    materials = {m.name: _properties(m) for m in shown}
    frames = built.num_frames
    ends = np.array([0, 0, frames - 1, frames - 1], np.float32)
    return ReadyModel(
        built.collection.name,
        surfaces,
        [_look_tag(block) for block in built.tags],
        materials,
        _properties(built.collection),
        frames,
        ends,
        *_look_actions(built.surfaces),
        pictures=painted.look(shown),
    )


def look_again(collection: Block, first: ReadyModel) -> ReadyModel:
    """Return the arrays of a collection that `make` made of `first`."""
    objects = collection.objects
    surfaces = [_look_mesh(objects[surface.name]) for surface in first.surfaces]
    for surface, known in zip(surfaces, first.surfaces, strict=True):
        surface.given, surface.per_point, surface.sharp = known.given, known.per_point, known.sharp
    materials = {m.name: _properties(m) for s in first.surfaces for m in objects[s.name].data.materials}
    tags = [_look_tag(objects[tag.name]) for tag in first.tags]
    blocks = [objects[surface.name] for surface in first.surfaces]
    return ReadyModel(
        collection.name,
        surfaces,
        tags,
        materials,
        _properties(collection),
        first.num_frames,
        first.curve,
        *_look_actions(blocks),
        pictures=painted.look(list(dict.fromkeys(m for block in blocks for m in block.data.materials))),
    )


def _look_actions(
    blocks: list[Block],
) -> tuple[tuple[bool, dict[str, Any]], list[ReadyAction], list[tuple[str, int]]]:
    """Return what the action of all frames has besides its curve, the named animations, and the scene's markers."""
    keys = blocks[0].data.shape_keys if blocks else None
    if keys is None or keys.animation_data is None:
        return (False, {}), [], []
    whole: Block = keys.animation_data.action
    named = [action for action in bpy.data.actions if GIVEN in action.keys()]  # noqa: SIM118 - the stubs know no other
    found = [_look_action(action) for action in named]
    scene: Block = bpy.context.scene
    markers = [(marker.name, marker.frame) for marker in scene.timeline_markers]
    return (whole.use_fake_user, _properties(whole)), found, markers


def _look_action(action: Block) -> ReadyAction:
    if not hasattr(action, "slots"):
        return ReadyAction(action.name, "", _keys(action.fcurves[0]), action.frame_end, _properties(action))
    (slot,) = action.slots
    (curve,) = action.layers[0].strips[0].channelbag(slot).fcurves
    return ReadyAction(action.name, slot.identifier[2:], _keys(curve), action.frame_end, _properties(action))


def _look_surface(block: Block, surface: Any) -> Ready:
    ready = _look_mesh(block)
    if ready.shown is not None:
        triangles = surface.triangles
        solid = (triangles != np.roll(triangles, 1, axis=1)).all(axis=1)  # the others are not shown
        _look_normals(ready, surface.normals[0][triangles[solid].ravel()])
    return ready


def _look_mesh(block: Block) -> Ready:
    mesh, keys = block.data, block.data.shape_keys
    blocks = list(keys.key_blocks) if keys is not None else []
    frames = np.empty((len(blocks), 3 * len(mesh.vertices)), np.float32)
    for key, row in zip(blocks, frames, strict=True):
        key.points.foreach_get("co", row)
    return Ready(
        block.name,
        mesh.name,
        _get(mesh.attributes["position"], "vector", 3, np.float32),
        _get(mesh.attributes[".corner_vert"], "value", 1, np.int32),
        np.arange(0, len(mesh.loops), 3, dtype=np.int32),
        _get(mesh.uv_layers[0], "vector", 2, np.float32, "uv"),
        {n: (d, _get(mesh.attributes[n], "value", 1, np.int32)) for n, d in NUMBERS if n in mesh.attributes},
        None,
        False,
        None,
        _get(mesh.attributes[SHOWN], "vector", 3, np.float32) if SHOWN in mesh.attributes else None,
        _corner_normals(mesh),
        [material.name for material in mesh.materials],
        frames,
        [key.name for key in blocks],
        _properties(block),
        _properties(mesh),
    )


def _lengths(vectors: Array) -> Array:
    """Return the lengths (n,) of vectors (n, 3), whose squares are added in their order, as an import does."""
    x, y, z = vectors.T.astype(np.float64)
    return np.asarray(np.sqrt(x * x + y * y + z * z))


def _look_normals(ready: Ready, normals: Array) -> None:
    """Find out which call shows the normals (C, 3), and which edges it needs sharp."""
    normals = (normals / _lengths(normals)[:, None]).astype(np.float32)
    points = np.zeros((len(ready.points) // 3, 3), np.float32)
    points[ready.corner_points] = normals
    ready.per_point = bool(np.array_equal(points[ready.corner_points], normals))
    points[~points.any(axis=1)] = (0.0, 0.0, 1.0)
    ready.given = points if ready.per_point else normals
    mesh = _make_mesh(ready)
    shown = _make_normals(mesh, ready).reshape(-1, 3)
    off = np.einsum("ci,ci->c", shown, normals) < NEAR * np.linalg.norm(shown, axis=1)
    if off.any():
        edges = _get(mesh.attributes[".corner_edge"], "value", 1, np.int32).reshape(-1, 3)
        own = mesh.attributes.get("sharp_edge")
        ready.sharp = np.zeros(len(mesh.edges), np.bool_) if own is None else _get(own, "value", 1, np.bool_)
        ready.sharp[edges[np.flatnonzero(off) // 3]] = True
        ready.given, ready.per_point = normals, False
    bpy.data.meshes.remove(mesh)


def _look_tag(block: Block) -> ReadyTag:
    paths = ("location", "rotation_quaternion", "scale")
    curves = [(c.data_path, c.array_index, _keys(c)) for c in _curves_of(block)]
    channels = {path: list(getattr(block, path)) for path in paths}
    return ReadyTag(block.name, block.empty_display_size, channels, curves, _properties(block))


def _get(attribute: Any, name: str, width: int, dtype: Any, data: str = "data") -> Array:
    values = np.empty(width * len(getattr(attribute, data)), dtype)
    getattr(attribute, data).foreach_get(name, values)
    return values


def _keys(curve: Any) -> Array:
    values = np.empty(2 * len(curve.keyframe_points), np.float32)
    curve.keyframe_points.foreach_get("co", values)
    return values


def _curves_of(block: Block) -> list[Any]:
    animation = block.animation_data
    if animation is None:
        return []
    if not hasattr(animation.action, "slots"):
        return list(animation.action.fcurves)
    return list(animation.action.layers[0].strips[0].channelbag(animation.action_slot).fcurves)


def _properties(block: Block) -> dict[str, Any]:
    plain = {name: value for name, value in block.items() if name.startswith("idtech")}
    return {n: list(v) if not isinstance(v, int | float | str | bytes) else v for n, v in plain.items()}


# -- making them again


def make(ready: ReadyModel, scene: Block, into: Block) -> Parts:
    """Make everything that an import of the model makes, and tell how long each part took."""
    parts = Parts()
    with parts.of("properties, links"):
        collection = bpy.data.collections.new(ready.name)
        materials = {name: _make_material(name, stored) for name, stored in ready.materials.items()}
    with parts.of("pictures"):
        for picture in ready.pictures:
            painted.make(picture, materials[picture.material])
    blocks = [_make_surface(surface, materials, parts) for surface in ready.surfaces]
    with parts.of("tags"):
        empties = [_make_tag(tag) for tag in ready.tags]
    if ready.num_frames > 1:
        _animate(ready, blocks, empties, parts)
        with parts.of("animations"):
            _make_actions(ready, blocks, scene)
    with parts.of("properties, links"):
        _store(collection, ready.properties)
        for block in (*blocks, *empties):
            collection.objects.link(block)
        scene.frame_start, scene.frame_end = 0, ready.num_frames - 1
        into.children.link(collection)
    return parts


def _make_surface(ready: Ready, materials: dict[str, Block], parts: Parts) -> Block:
    with parts.of("mesh"):
        mesh = _make_mesh(ready)
    if ready.given is not None:
        with parts.of("normals"):
            _make_normals(mesh, ready)
            mesh.attributes.new(SHOWN, "FLOAT_VECTOR", "CORNER").data.foreach_set("vector", ready.shown)
    with parts.of("properties, links"):
        for name in ready.materials:
            mesh.materials.append(materials[name])
        block: Block = bpy.data.objects.new(ready.name, mesh)
        _store(block, ready.properties)
        _store(mesh, ready.mesh_properties)
    if ready.keys:
        with parts.of("keys"):
            _make_keys(block, ready)
    return block


def _make_mesh(ready: Ready) -> Block:
    mesh: Block = bpy.data.meshes.new(ready.mesh_name)
    mesh.vertices.add(len(ready.points) // 3)
    mesh.attributes["position"].data.foreach_set("vector", ready.points)
    mesh.loops.add(len(ready.corner_points))
    mesh.polygons.add(len(ready.starts))
    mesh.attributes[".corner_vert"].data.foreach_set("value", ready.corner_points)
    mesh.polygons.foreach_set("loop_start", ready.starts)
    mesh.uv_layers.new(name="UVMap", do_init=False).uv.foreach_set("vector", ready.uvs)
    for name, (domain, values) in ready.numbers.items():
        mesh.attributes.new(name, "INT", domain).data.foreach_set("value", values)
    mesh.update(calc_edges=True)
    return mesh


def _make_normals(mesh: Block, ready: Ready) -> Array:
    """Let the mesh show the normals, and return what it shows, (3 C,)."""
    if ready.sharp is not None:
        mesh.attributes.new("sharp_edge", "BOOLEAN", "EDGE").data.foreach_set("value", ready.sharp)
        mesh.update()
    call: Callable[[Array], None] = (
        mesh.normals_split_custom_set_from_vertices if ready.per_point else mesh.normals_split_custom_set
    )
    assert ready.given is not None
    call(ready.given)
    return _corner_normals(mesh)


def _corner_normals(mesh: Block) -> Array:
    shown = np.empty(3 * len(mesh.loops), np.float32)
    mesh.corner_normals.foreach_get("vector", shown)
    return shown


def _make_keys(block: Block, ready: Ready) -> None:
    block.shape_key_add(name=ready.keys[0], from_mix=False)
    keys = block.data.shape_keys
    keys.use_relative = False
    for frame, name in enumerate(ready.keys[1:], 1):
        keys.eval_time = frame
        block.shape_key_add(name=name, from_mix=False)
    keys.eval_time = 0.0
    keys.key_blocks.foreach_set("value", np.zeros(len(ready.keys), np.float32))  # Blender 5.2 makes keys with 1
    for key, row in zip(keys.key_blocks, ready.frames, strict=True):
        key.points.foreach_set("co", row)


def _make_material(name: str, properties: dict[str, Any]) -> Block:
    material = bpy.data.materials.new(name)
    _store(material, properties)
    return material


def _make_tag(ready: ReadyTag) -> Block:
    block: Block = bpy.data.objects.new(ready.name, None)
    block.empty_display_type = "ARROWS"
    block.empty_display_size = ready.size
    block.rotation_mode = "QUATERNION"
    for path, values in ready.channels.items():
        setattr(block, path, values)
    _store(block, ready.properties)
    return block


def _store(block: Block, properties: dict[str, Any]) -> None:
    for name, value in properties.items():
        block[name] = value


def _animate(ready: ReadyModel, blocks: list[Block], empties: list[Block], parts: Parts) -> None:
    action: Block = bpy.data.actions.new(ready.name)
    with parts.of("curve"):
        lead = None
        for block in blocks:
            keys = block.data.shape_keys
            if lead is None:
                add_curve(curves(action, keys, ready.name), "eval_time", 0, ready.curve)
                lead = keys
                continue
            keys.animation_data_create().action = action
            if hasattr(action, "slots"):
                keys.animation_data.action_slot = lead.animation_data.action_slot
    with parts.of("tags"):
        for tag, block in zip(ready.tags, empties, strict=True):
            own = action if hasattr(action, "slots") else bpy.data.actions.new(tag.name)
            into = curves(own, block, tag.name)
            for path, index, points in tag.curves:
                add_curve(into, path, index, points)


def _make_actions(ready: ReadyModel, blocks: list[Block], scene: Block) -> None:
    """Make the named animations, which nothing plays yet, and a marker for each."""
    if blocks:
        whole = blocks[0].data.shape_keys.animation_data.action
        whole.use_fake_user = ready.whole[0]
        _store(whole, ready.whole[1])
    for wanted in ready.actions:
        action: Block = bpy.data.actions.new(wanted.name)
        if hasattr(action, "slots"):
            strip = action.layers.new("Layer").strips.new(type="KEYFRAME")
            curves = strip.channelbag(action.slots.new("KEY", wanted.slot), ensure=True).fcurves
        else:
            action.id_root = "KEY"
            curves = action.fcurves
        add_curve(curves, "eval_time", 0, wanted.curve)
        action.use_fake_user = action.use_frame_range = True
        action.frame_start, action.frame_end = 0, wanted.end
        _store(action, wanted.properties)
    for name, frame in ready.markers:
        scene.timeline_markers.new(name, frame=frame)


def curves(action: Block, owner: Block, name: str) -> Any:
    """Return the list of curves of an action that its owner plays now, in a slot of that name."""
    animation = owner.animation_data_create()
    animation.action = action
    if not hasattr(action, "slots"):
        return action.fcurves
    slot = animation.action_slot = action.slots.new(owner.id_type, name)
    layer = action.layers[0] if action.layers else action.layers.new("Layer")
    strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
    return strip.channelbag(slot, ensure=True).fcurves


def add_curve(into: Any, path: str, index: int, points: Array) -> None:
    """Add a curve with linear keys (2 F,) to a list of curves."""
    keys = into.new(path, index=index).keyframe_points
    keys.add(len(points) // 2)
    keys.foreach_set("co", points)
    keys.foreach_set("interpolation", np.full(len(points) // 2, LINEAR, np.int32))


# -- reading them back


def read(collection: Block) -> None:
    """Read the arrays that an export needs, bare: the floor of an export, for information."""
    for block in collection.objects:
        for curve in _curves_of(block):
            _keys(curve)
        if block.type != "MESH":
            continue
        mesh, keys = block.data, block.data.shape_keys
        for key in () if keys is None else keys.key_blocks:
            key.points.foreach_get("co", np.empty(3 * len(mesh.vertices), np.float32))
        mesh.polygons.foreach_get("loop_start", np.empty(len(mesh.polygons), np.int32))
        _corner_normals(mesh)
        _get(mesh.attributes[".corner_vert"], "value", 1, np.int32)
        _get(mesh.uv_layers[0], "vector", 2, np.float32, "uv")
        for name, _ in NUMBERS:
            _get(mesh.attributes[name], "value", 1, np.int32)
        painted.look(list(mesh.materials))


def differences(first: ReadyModel, second: ReadyModel) -> list[str]:
    """Return what differs between two models that were looked at."""
    found = []
    for kind in ("surfaces", "tags", "actions"):
        for a, b in zip(getattr(first, kind), getattr(second, kind), strict=True):
            found += [f"{a.name}: {name}" for name in vars(a) if not _same(getattr(a, name), getattr(b, name))]
    found += painted.differences(first.pictures, second.pictures)
    plain = ("name", "materials", "properties", "num_frames", "whole", "markers")
    return found + [name for name in plain if getattr(first, name) != getattr(second, name)]


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return a is not None and b is not None and np.array_equal(a, b)
    if isinstance(a, dict):
        return list(a) == list(b) and all(_same(a[name], b[name]) for name in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)
