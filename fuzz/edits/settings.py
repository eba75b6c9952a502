"""Whatever of Blender's settings a user may change: any property of anything that a model is made of, by its RNA."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import bpy as blender

from io_idtech_models.blender.compat import action_parts

bpy: Any = blender
Operation = Callable[[Random], object]
FARTHEST = 8.0  # that numbers go beyond what they are, where Blender sets no nearer limit
MOST = 40  # of a kind that are looked at: bones, keys, points of curves
# What asks for more than a scene: files, simulations, other libraries; and what Blender itself ends by.
LEFT_ALONE = frozenset((
    "frame_map_new", "frame_map_old", "filepath", "use_nodes", "asset_data", "library", "override_library",
    "use_fake_user", "use_extra_user", "is_runtime_data", "tag", "frame_subframe", "active_section", "sculpt_levels",
    "render_levels", "octree_depth", "levels", "subdivision_levels", "total_levels", "count", "resolution",
    "resolution_u", "resolution_v", "repeat",
))  # fmt: skip


def _parts_of(block: Any) -> Iterator[tuple[str, list[Any]]]:
    """Yield what an object is made of, by kind."""
    yield "object", [block]
    yield "display", [block.display]
    yield "modifier", list(block.modifiers)
    yield "constraint", list(block.constraints)
    yield "group", list(block.vertex_groups)
    yield "slot", list(block.material_slots)
    yield "material", [slot.material for slot in block.material_slots if slot.material is not None]
    if block.data is not None:
        yield "data", [block.data]
    if block.type == "MESH":
        keys = block.data.shape_keys
        yield "keys", [] if keys is None else [keys]
        yield "key", [] if keys is None else list(keys.key_blocks)
        yield "map", list(block.data.uv_layers)
    if block.pose is not None:
        yield "bone", list(block.data.bones)
        yield "posed bone", list(block.pose.bones)
        yield "constraint of a bone", [each for bone in block.pose.bones for each in bone.constraints]


def _motion_of(owner: Any) -> Iterator[tuple[str, list[Any]]]:
    """Yield what moves a data-block, by kind."""
    data = owner.animation_data
    if data is None:
        return
    strips = [strip for track in data.nla_tracks for strip in track.strips]
    actions = list(
        dict.fromkeys(each for each in (data.action, *(strip.action for strip in strips)) if each is not None)
    )
    curves = [curve for action in actions for _, _, every in action_parts(action) for curve in every]
    yield "animation", [data]
    yield "track", list(data.nla_tracks)
    yield "strip", strips
    yield "action", actions
    yield "curve", curves
    yield "point", [point for curve in curves[:MOST] for point in curve.keyframe_points]
    yield "driver", list(data.drivers)


def things() -> dict[str, list[Any]]:
    """Return all that has settings in the scene, by kind."""
    found: dict[str, list[Any]] = {}
    scene = bpy.context.scene
    rows = [("scene", [scene]), ("render", [scene.render]), ("collection", list(scene.collection.children_recursive))]
    rows.append(("units", [scene.unit_settings]))
    rows.append(("layer", list(bpy.context.view_layer.layer_collection.children)))
    owners: list[Any] = []
    for block in scene.objects:
        rows += _parts_of(block)
        owners += [block, block.data, getattr(block.data, "shape_keys", None)]
    for owner in dict.fromkeys(each for each in owners if each is not None):
        rows += _motion_of(owner)
    for kind, each in rows:
        found.setdefault(kind, []).extend(each)
    return {kind: every for kind, every in found.items() if every}


def _other(rng: Random, thing: Any, setting: Any) -> Any:
    """Return another value that a setting may have."""
    now, kind = getattr(thing, setting.identifier), setting.type
    if kind == "ENUM":
        every = [item.identifier for item in setting.enum_items]
        return set(rng.sample(every, rng.randint(0, len(every)))) if setting.is_enum_flag else rng.choice(every)
    if kind == "POINTER":
        same = [
            each for each in bpy.data.user_map() if isinstance(each, getattr(bpy.types, setting.fixed_type.identifier))
        ]
        return rng.choice([None, *sorted(same, key=lambda each: each.name_full)[:MOST]])
    if kind == "STRING":
        return rng.choice(("", "renamed", *_names()))
    if setting.array_length:
        values = list(now)
        place = rng.randrange(len(values))
        values[place] = _number(rng, setting, values[place])
        return values
    return _number(rng, setting, now)


def _names() -> list[str]:
    """Return some names that something in the scene has."""
    return sorted({each.name for kind in ("object", "bone", "group", "map") for each in things().get(kind, [])[:MOST]})


def _number(rng: Random, setting: Any, now: Any) -> Any:
    """Return another number, or the other of two."""
    if setting.type == "BOOLEAN":
        return not now
    low, high = max(setting.soft_min, now - FARTHEST), min(setting.soft_max, now + FARTHEST)
    return rng.uniform(low, high) if setting.type == "FLOAT" else rng.randint(int(low), max(int(low), int(high)))


def settings_of(thing: Any) -> list[Any]:
    """Return the settings of something that may be changed."""
    every = [each for each in thing.bl_rna.properties if not each.is_readonly and each.type != "COLLECTION"]
    return [
        each for each in every if each.identifier not in LEFT_ALONE and not each.identifier.startswith(("show_", "id"))
    ]


def set_something(rng: Random) -> None:
    """Change one setting of one thing of a kind that there is."""
    every = things()
    kind = rng.choice(sorted(every))
    _set_one(rng, rng.choice(every[kind][:MOST]))


def _set_one(rng: Random, thing: Any) -> None:
    setting = rng.choice(settings_of(thing))
    setattr(thing, setting.identifier, _other(rng, thing, setting))


def set_of(*kinds: str) -> Operation:
    """Return an operation that changes a setting of one of some kinds."""

    def operation(rng: Random) -> None:
        every = [each for kind in kinds for each in things().get(kind, [])[:MOST]]
        if not every:
            raise LookupError("nothing of these kinds")
        _set_one(rng, rng.choice(every))

    return operation


SETTINGS: dict[str, Operation] = {
    "set_something": set_something,
    "set_of_bones": set_of("bone", "posed bone", "constraint of a bone"),
    "set_of_rigs": set_of("object", "data", "modifier", "constraint"),
    "set_of_motion": set_of("animation", "track", "strip", "action", "curve", "point"),
}
