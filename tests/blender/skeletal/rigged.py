"""A skeletal model in Blender with its animations, edited and written back, and what then differs from the files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils.kdtree import KDTree
from numpy.typing import NDArray

from io_idtech_models.blender.compat import action_parts, play
from io_idtech_models.blender.leaders import alone
from io_idtech_models.blender.mesh import attributes as meshes
from io_idtech_models.blender.shading.materials import Materials
from io_idtech_models.blender.skeletal import build as skeletal
from io_idtech_models.blender.skeletal import gather_motion as motion
from io_idtech_models.blender.skeletal.gather import gather
from io_idtech_models.blender.skeletal.rig_scene import SkeletalGatherSettings, rig_scene
from io_idtech_models.formats import Format, by_name, identify
from io_idtech_models.model.bounds import set_bounds
from io_idtech_models.model.skeletal import Animation, SkeletalModel, skin
from io_idtech_models.model.transforms import chain
from tests import facts
from tests.blender.case import CONTEXT, vertices_of

MESH, ANIM = by_name("md5mesh"), by_name("md5anim")


@dataclass
class Rigged:
    """Files in the scene: `data` and `motions` are what they were, `dump` and `dump_motion` what an export writes."""

    data: bytes
    motions: dict[str, bytes]
    rig_name: str
    mesh_names: list[str]
    collection_name: str
    action_names: dict[str, str] = field(default_factory=dict)  # by the file's name

    @property
    def row(self) -> Format:
        """Return the format of the model."""
        return identify(self.data, Path())

    @property
    def motion_row(self) -> Format:
        """Return the format of its animations."""
        assert self.row.skeletal.animation is not None
        return self.row.skeletal.animation

    @property
    def rig(self) -> Any:
        return bpy.data.objects[self.rig_name]

    @property
    def collection(self) -> Any:
        return bpy.data.collections[self.collection_name]

    def mesh(self, index: int = 0) -> Any:
        return bpy.data.objects[self.mesh_names[index]]

    def tag(self, name: str) -> Any:
        return next(b for b in self.collection.all_objects if b.type == "EMPTY" and b.name == name)

    def action(self, name: str) -> Any:
        return bpy.data.actions[self.action_names[name]]

    def gather(self, **settings: Any) -> SkeletalModel:
        """Return the model that the collection shows."""
        CONTEXT.view_layer.update()
        blocks = list(self.collection.all_objects)
        asked = SkeletalGatherSettings(**({"normals": "SOURCE" if self.row.skeletal.normals else "NONE"} | settings))
        return gather(blocks, rig_scene(CONTEXT.scene, CONTEXT.view_layer, asked, self.rig))

    def dump(self, options: dict[str, Any] | None = None, **settings: Any) -> bytes:
        """Return the model's file that an export would write; `options` are the format's own."""
        return self.row.dump(self.gather(**settings), options)

    def changed(self, options: dict[str, Any] | None = None, **settings: Any) -> set[str]:
        """Return the paths at which the model's file would change."""
        return facts.differences(self.data, self.dump(options, **settings))

    def gather_motion(
        self, name: str, direct: bool = True, keep_bounds: bool = True, model: Any = None, **settings: Any
    ) -> Animation:
        """Return the animation that an action is, with its bounds: those of the model, which is gathered if need be."""
        export = rig_scene(CONTEXT.scene, CONTEXT.view_layer, SkeletalGatherSettings(**settings), self.rig)
        action = self.action(name)
        shown = self.gather(**settings) if model is None else model
        found = motion.gather_action(export, alone(self.rig, action, slot_of(action)), direct)
        found.keep_bounds = keep_bounds
        set_bounds(found, shown)
        return found

    def dump_motion(self, name: str, model: Any = None, **settings: Any) -> bytes:
        """Return the animation file that an export would write: from curves and by stepping, which must agree."""
        row, shown = self.motion_row, self.gather(**settings) if model is None else model
        ways = (self.gather_motion(name, direct=way, model=shown, **settings) for way in (True, False))
        direct, stepped = map(row.dump, ways)
        assert facts.differences(direct, stepped) == set()
        assert row.is_text or direct == stepped
        return direct

    def moved(self, name: str, **settings: Any) -> set[str]:
        """Return the paths at which an animation file would change."""
        return facts.differences(self.motions[name], self.dump_motion(name, **settings))

    def all_changed(self, **settings: Any) -> dict[str, set[str]]:
        """Return the paths at which each file would change; only of those that would. The mesh is called ""."""
        model = self.gather(**settings)
        found = {"": facts.differences(self.data, self.row.dump(model))}
        found |= {name: self.moved(name, model=model, **settings) for name in self.motions}
        return {name: paths for name, paths in found.items() if paths}

    def is_same(self, **settings: Any) -> bool:
        """Tell whether all files would come back byte for byte."""
        model = self.gather(**settings)
        motions = [self.dump_motion(name, model=model, **settings) == data for name, data in self.motions.items()]
        return self.row.dump(model) == self.data and all(motions)

    def before(self) -> Any:
        """Return the structs of the model's file."""
        return self.row.read(self.data)

    def after(self, options: dict[str, Any] | None = None, **settings: Any) -> Any:
        """Return the structs of the model's file that an export would write."""
        return self.row.read(self.dump(options, **settings))

    def motion_before(self, name: str) -> Any:
        """Return the structs of an animation file."""
        return self.motion_row.read(self.motions[name])

    def motion_after(self, name: str, **settings: Any) -> Any:
        """Return the structs of the animation file that an export would write."""
        return self.motion_row.read(self.dump_motion(name, **settings))

    def play(self, name: str, frame: int = 0) -> None:
        """Let the armature play an action, in a frame of the scene."""
        play(self.rig, self.action(name))
        CONTEXT.scene.frame_set(frame)


def open_rig(data: bytes, motions: dict[str, bytes] | None = None, name: str = "model", **settings: Any) -> Rigged:
    """Import a mesh file and animations of it, by name, into the scene."""
    files = motions or {}
    found = [ANIM.load(file, called) for called, file in files.items()]
    return bring(data, files, MESH.load(data, name), found, settings)


def bring(
    data: bytes, files: dict[str, bytes], model: SkeletalModel, found: list[Animation], settings: dict[str, Any]
) -> Rigged:
    """Bring a file's model and its animations into the scene."""
    scene, asked = CONTEXT.scene, skeletal.SkeletalSettings(**settings)
    posed = skeletal.build(model, found, asked, Materials(), scene, scene.collection)
    CONTEXT.view_layer.update()
    actions = {called: action.name for called, action in zip(files, posed.actions, strict=True)}
    names = [block.name for block in posed.meshes]
    return Rigged(data, files, posed.armature.name, names, posed.collection.name, actions)


def slot_of(action: Any) -> Any:
    """Return an action's first slot; None where there are none."""
    return action_parts(action)[0][0]


def curves_of(action: Any, bone: str = "") -> list[Any]:
    """Return an action's curves, of a bone or all."""
    found = [curve for _, _, curves in action_parts(action) for curve in curves]
    start = f'pose.bones["{bpy.utils.escape_identifier(bone)}"].' if bone else ""
    return [curve for curve in found if curve.data_path.startswith(start)]


def curve_of(case: Rigged, name: str, bone: str, kind: str, index: int) -> Any:
    """Return the curve of an action that moves a bone along an axis, or turns it."""
    return next(c for c in curves_of(case.action(name), bone) if c.data_path.endswith(kind) and c.array_index == index)


def shown(block: Any) -> NDArray[Any]:
    """Return where the scene shows an object's points, (P, 3)."""
    evaluated = block.evaluated_get(CONTEXT.evaluated_depsgraph_get())
    return meshes.positions(evaluated.data)


def cells(before: NDArray[Any], after: NDArray[Any]) -> set[tuple[int, ...]]:
    """Return the places at which two arrays of one shape differ, in single precision."""
    assert before.shape == after.shape
    found = np.argwhere(before.astype(np.float32) != after.astype(np.float32))
    return {tuple(place) for place in found.tolist()}


def vertices_at(case: Rigged, point: int) -> list[int]:
    """Return the file's vertices at a point of the first mesh."""
    points, vertices = vertices_of(case.mesh())
    return sorted(set(vertices[points == point].tolist()))


def drop_frame(action: Any, frame: int) -> None:
    """Delete a frame of an action as a user does: its keys, and the way to the next."""
    for curve in curves_of(action):
        points = curve.keyframe_points
        points.remove(next(p for p in points if p.co[0] == frame))
        for point in points:
            point.co[0] -= point.co[0] > frame
    action.frame_end -= 1


def insert_frame(action: Any, frame: int, like: int | None) -> None:
    """Insert a frame into an action: a copy of another, or (None) what lies between its neighbours."""
    for curve in curves_of(action):
        value = None if like is None else next(p.co[1] for p in curve.keyframe_points if p.co[0] == like)
        for point in curve.keyframe_points:
            point.co[0] += point.co[0] >= frame
        if value is not None:
            curve.keyframe_points.insert(frame, value).interpolation = "LINEAR"
        curve.update()
    action.frame_end += 1


def farthest(case: Rigged, name: str, **settings: Any) -> float:
    """Return how far what the exported files show lies from what the scene shows, in every frame of an action."""
    moved = case.dump_motion(name, **settings)
    model, animation = case.row.load(case.dump(**settings), "x", {"mdx": moved}), case.motion_row.load(moved, "x")
    places, turns = chain(animation.parents, animation.positions, animation.rotations)
    first = int(np.ceil(case.action(name).frame_range[0]))
    worst = 0.0
    for frame in range(animation.num_frames):
        case.play(name, first + frame)
        parts = [skin(mesh.weights, places[frame], turns[frame]) for mesh in model.meshes]
        wanted = [in_world(block) for block in case.collection.all_objects if block.type == "MESH"]
        worst = max(worst, apart(np.concatenate(parts), np.concatenate(wanted)))
    return worst


def in_world(block: Any) -> NDArray[Any]:
    """Return where the scene shows an object's points in the world, (P, 3)."""
    points = shown(block).astype(np.float64)
    matrix = np.array(block.evaluated_get(CONTEXT.evaluated_depsgraph_get()).matrix_world, np.float64)
    return np.asarray(points @ matrix[:3, :3].T + matrix[:3, 3])


def apart(a: NDArray[Any], b: NDArray[Any]) -> float:
    """Return how far the point of two clouds (n, 3) and (m, 3) that is farthest from the other cloud lies from it."""
    return max(_farthest_from(tree_of(a), b), _farthest_from(tree_of(b), a))


def tree_of(points: NDArray[Any]) -> KDTree:
    tree = KDTree(len(points))
    for index, point in enumerate(points.tolist()):
        tree.insert(point, index)
    tree.balance()
    return tree


def _farthest_from(tree: KDTree, points: NDArray[Any]) -> float:
    found = (tree.find(point)[2] for point in np.unique(points, axis=0).tolist())
    return max(0.0 if distance is None else float(distance) for distance in found)
