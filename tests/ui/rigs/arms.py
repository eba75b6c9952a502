"""The arm of the samples in a scene, and what is exported of it."""

from pathlib import Path
from typing import Any

import numpy as np
from mathutils import Euler

from io_idtech_models.formats import by_name
from io_idtech_models.model.skeletal import mismatch, skin
from io_idtech_models.model.transforms import chain
from tests import samples_md5
from tests.ui.scene import bpy

import_mesh, export_mesh = bpy.ops.import_scene.idtech_md5mesh, bpy.ops.export_scene.idtech_md5mesh

import_anim, export_anim = bpy.ops.import_anim.idtech_md5anim, bpy.ops.export_anim.idtech_md5anim

MESH, ANIM = by_name("md5mesh"), by_name("md5anim")

FILES = {
    "arm.md5mesh": samples_md5.arm(),
    "nod.md5anim": samples_md5.wave_spec(2).pack(),
    "wave.md5anim": samples_md5.wave(),
    "other.md5anim": samples_md5.roots_wave(),
}


def scene():
    return bpy.context.scene


def rig() -> Any:
    return next(b for b in bpy.data.objects if b.type == "ARMATURE")


def exported(path: Path, **options: Any) -> bytes:
    """Export; returns the file."""
    operator = export_mesh if path.suffix == ".md5mesh" else export_anim
    assert operator(filepath=str(path), **options) == {"FINISHED"}
    return path.read_bytes()


def model_of(path: Path, **options: Any) -> Any:
    return MESH.load(exported(path, **options), path.stem)


def motion_of(path: Path, **options: Any) -> Any:
    return ANIM.load(exported(path, **options), path.stem)


def key(bone: str, frame: int, angles: tuple[float, float, float]) -> None:
    pose = rig().pose.bones[bone]
    pose.rotation_euler = Euler(angles)
    pose.keyframe_insert("rotation_euler", frame=frame)


def wave_own() -> Any:
    """Let a bone of one's own turn; returns the action."""
    key("Bone.001", 0, (0, 0, 0))
    key("Bone.001", 4, (1.0, 0.2, -0.3))
    return rig().animation_data.action


def shown_points(frame: int) -> Any:
    """Return where the scene shows the points of all meshes, (P, 3)."""
    scene().frame_set(frame)
    graph = bpy.context.evaluated_depsgraph_get()
    found = []
    for block in scene().objects:
        if block.type == "MESH":
            seen = block.evaluated_get(graph)
            found += [tuple(seen.matrix_world @ v.co) for v in seen.data.vertices]
    return np.array(found)


def check_shown(model: Any, animation: Any, frames: range) -> None:
    """Assert that a model and an animation show in a game what the scene shows."""
    assert mismatch(model.skeleton, animation) == ""
    assert animation.num_frames == len(frames)
    places, turns = chain(animation.parents, animation.positions, animation.rotations)
    for index, frame in enumerate(frames):
        wanted = shown_points(frame)
        found = np.concatenate([skin(m.weights, places[index], turns[index]) for m in model.meshes])
        away = np.linalg.norm(found[:, None] - wanted[None], axis=-1)
        assert away.min(axis=0).max() < 1e-4
        assert away.min(axis=1).max() < 1e-4
