"""A model of four animations in a scene, and what exports write of it."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from io_idtech_models.blender import compat
from io_idtech_models.blender.provenance import MODEL_ID
from io_idtech_models.blender.scene import ExportScene
from io_idtech_models.blender.vertex import clips as animations
from io_idtech_models.blender.vertex import shape_keys
from io_idtech_models.blender.vertex.frame_plan import GatherSettings
from io_idtech_models.blender.vertex.gather import gather
from io_idtech_models.formats.md3 import file as md3
from io_idtech_models.model.clips import group, numbered
from tests.blender.vertex.md3_case import CONTEXT, Case, open_case
from tests.samples import SENTINEL

PARTS = [("stand", 7), ("pain1", 4), ("pain2", 4), ("run", 5)]

NAMES = [*(name for part in PARTS[:3] for name in numbered(*part)), "run1", "run2", "run3", "run4", "run5"]

ACTIONS = [name for name, _ in PARTS]


def with_names(data: bytes, frame_names: list[str]) -> bytes:
    """Return an MD3 whose frames have other names."""
    file = md3.read(data)
    file.frames = file.frames.copy()
    file.frames["name"] = [name.encode() for name in frame_names]
    return md3.write(file)


def open_animated(frame_names: list[str] | None = None, **options: Any) -> Case:
    """Import a model of 20 frames, two surfaces or more, and tags, with an action and a marker for each animation."""
    case = open_case(with_names(SENTINEL.read_bytes(), frame_names or NAMES), **options)
    found = group(frame_names or NAMES)
    ids = {case.collection[MODEL_ID]}
    if not animations.model_actions(ids):
        animations.make_actions(keys_of(case), found, case.collection[MODEL_ID])
    animations.mark(CONTEXT.scene, found)
    return case


def keys_of(case: Case) -> list[Any]:
    return [block.data.shape_keys for block in case.collection.all_objects if block.type == "MESH"]


def action(name: str) -> Any:
    return bpy.data.actions[name]


def the_curve(name: str) -> Any:
    """Return the one curve of an action."""
    ((_, _, (curve,)),) = compat.action_parts(action(name))
    return curve


def frame_names(file: md3.Md3) -> list[str]:
    return [name.split(b"\0")[0].decode() for name in file.frames["name"].tolist()]


def surfaces_equal(file: md3.Md3, other: md3.Md3, frames: list[int]) -> bool:
    pairs = zip(file.surfaces, other.surfaces, strict=True)
    return all(np.array_equal(s.vertices, t.vertices[frames]) for s, t in pairs)


def state(block: Any) -> Any:
    """Return what an export may not change of an ID."""
    animation = block.animation_data
    bones = [(*b.rotation_euler, *b.location) for b in block.pose.bones] if getattr(block, "pose", None) else []
    place = tuple(getattr(block, "location", ())), getattr(block, "eval_time", 0), bones
    if animation is None:
        return None, place
    played = tuple(map(str, compat.played_action(block)))
    return played, animation.use_nla, [track.mute for track in animation.nla_tracks], place


def export(*blocks: Any, direct: bool = True, **options: Any) -> Any:
    settings = GatherSettings(**{"frames": "ACTIONS", "direct": direct, **options})
    return gather(list(blocks), None, ExportScene(CONTEXT.scene, CONTEXT.view_layer, settings))


def reorder(case: Case, order: list[int]) -> None:
    old = [key.name for key in shape_keys.frame_blocks(keys_of(case)[0])]
    new = [f"{n}x" if i and order[i - 1] == f else n for i, (f, n) in enumerate((f, old[f]) for f in order)]
    for block in case.collection.all_objects:
        if block.type == "MESH":
            shape_keys.rewrite(block, order, new)
    animations.rewrite(keys_of(case)[0], {case.collection[MODEL_ID]}, old, order, new)
    animations.move_markers(CONTEXT.scene, len(old), order)
