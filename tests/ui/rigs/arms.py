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


def motions_in(folder: Path, **options: Any) -> dict[str, bytes]:
    """Export animations into a new folder below; returns the files by their stems."""
    out = folder / f"out{len(list(folder.iterdir()))}"
    assert export_anim(filepath=str(out / "any.md5anim"), **options) == {"FINISHED"}
    return {path.stem: path.read_bytes() for path in sorted(out.iterdir())}


def key(bone: str, frame: int, angles: tuple[float, float, float]) -> None:
    pose = rig().pose.bones[bone]
    pose.rotation_euler = Euler(angles)
    pose.keyframe_insert("rotation_euler", frame=frame)


def wave_own() -> Any:
    """Let a bone of one's own turn; returns the action."""
    key("Bone.001", 0, (0, 0, 0))
    key("Bone.001", 4, (1.0, 0.2, -0.3))
    return rig().animation_data.action


def shown_points(frame: int | None = None) -> Any:
    """Return where the scene shows the points of all meshes, (P, 3): in a frame, or as it is now."""
    if frame is not None:
        scene().frame_set(frame)
    graph = bpy.context.evaluated_depsgraph_get()
    shown = [block.evaluated_get(graph) for block in scene().objects if block.type == "MESH"]
    return np.array([tuple(seen.matrix_world @ v.co) for seen in shown for v in seen.data.vertices])


def farthest(points: Any, others: Any) -> float:
    """Return how far a point of one, (n, 3), is at most from the nearest of the other."""
    away = np.linalg.norm(points[:, None] - others[None], axis=-1)
    return float(max(away.min(axis=0).max(), away.min(axis=1).max()))


def check_shown(model: Any, animation: Any, frames: range) -> None:
    """Assert that a model and an animation show in a game what the scene shows."""
    assert mismatch(model.skeleton, animation) == ""
    assert animation.num_frames == len(frames)
    poses = zip(*chain(animation.parents, animation.positions, animation.rotations), strict=True)
    for frame, pose in zip(frames, poses, strict=True):
        found = np.concatenate([skin(mesh.weights, *pose) for mesh in model.meshes])
        assert farthest(found, shown_points(frame)) < 3e-4  # Blender's rounding, down some parents
