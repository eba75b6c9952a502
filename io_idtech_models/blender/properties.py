"""Facts of files that a modder may edit: visible custom properties, each with a sentence that says what it is."""

from __future__ import annotations

from typing import Any

from .compat import Block

# On bones: how a player's torso moves against the legs (Enemy Territory).
TORSO_WEIGHT, TORSO_PARENT, FLAGS = "idtech_torso_weight", "idtech_torso_parent", "idtech_bone_flags"
# On bones: what their scale moves (Quake II remaster).
SCALE_POSITIONS = "idtech_scale_positions"
# On bones: how large the joint is at rest, which a bone can't be (IQM).
REST_SCALE = "idtech_rest_scale"
# On mesh objects and on armature objects: how games draw a model from afar.
MIN_LOD, LOD_SCALE, LOD_BIAS = "idtech_min_lod", "idtech_lod_scale", "idtech_lod_bias"
# On armature objects: with which weights the model was exported last, which its animations' bounds go by.
MOST_WEIGHTS, LEAST_WEIGHT, ORPHAN_BONE = "idtech_most_weights", "idtech_least_weight", "idtech_orphan_bone"
# On actions: how Enemy Territory plays them, which its tables of animations say.
FPS = "idtech_fps"  # on a player's animations
FRAME_RATE = "idtech_frame_rate"  # on armatures' animations
LOOP, MOVE_SPEED, TRANSITION = "idtech_loop", "idtech_move_speed", "idtech_transition"
REVERSED, PRIORITY = "idtech_reversed", "idtech_priority"
# On actions: what Doom 3 does with them, which its declarations of models say.
ANIM_FLAGS, FRAME_COMMANDS = "idtech_anim_flags", "idtech_frame_commands"
TIMES = "idtech_times"  # on actions, and on materials: frames and pictures that a game plays by itself
GAME = "idtech_game_"  # on collections, before a number of the file's header, by its name there
EXPORT = "idtech_export"  # on what stands for a model: how it was exported last, see `tasks.sidebar.last_export`
SCALE = "idtech_scale"  # on collections of models: how large a game unit was when they were imported, if not 1
PREVIEW = "idtech_preview"  # on actions that are made to look at, and never exported
SAID = {
    GAME
    + "flags": "1 rocket, 2 grenade, 4 gib, 8 turns, 16 green, 32 zombie, 64 orange, 128 purple: trails and the like",
    GAME + "sync_type": "0: groups of frames play in step on all monsters; 1: each begins when it likes",
    GAME + "eye_position": "Where the model's eyes are; games read it and make nothing of it",
    GAME + "bounding_radius": "How far the model reaches; follows the vertices unless you say otherwise",
    GAME + "size": "Mean area of the triangles, by which WinQuake chooses how to draw; follows them likewise",
    REST_SCALE: "How large the file's joint is at rest along its axes, X the bone's length; Blender shows none of it",
    SCALE_POSITIONS: "The bone's scale in an animation scales its way from its parent, too (Quake II remaster)",
    TIMES: "Seconds after which each frame, or picture, ends: the game plays them by itself, again and again",
    EXPORT: "Options of the last export, with which the next one begins",
    SCALE: "Size of a game unit when the model was imported, with which exports begin",
    PREVIEW: "Shows how the game mixes other actions; never exported",
    FPS: "Frames per second in the game",
    FRAME_RATE: "Frames per second in the file",
    LOOP: "How many frames at the end repeat; 0: the animation stops there",
    MOVE_SPEED: "Units per second that the player runs; below 0: measured from the feet",
    TRANSITION: "Milliseconds in which the animation before it fades",
    REVERSED: "The game plays the frames backwards",
    PRIORITY: "ET: Legacy's priority of the animation",
    ANIM_FLAGS: "How Doom 3 plays the animation, as its declaration says",
    FRAME_COMMANDS: "What Doom 3 does at a frame, counted from 1 on: a line each, as the declaration says",
    TORSO_WEIGHT: "0: plays the legs' frame, 1: the torso's, between: both",
    TORSO_PARENT: "The player's aim turns the torso about this bone",
    FLAGS: "Bone flags of the file; 1: a tag, whose axes turn with the torso",
    MIN_LOD: "The fewest vertices that the game draws of this surface from afar",
    LOD_SCALE: "Scale of the distance at which the game draws fewer vertices",
    LOD_BIAS: "Offset of the share of vertices that the game draws",
    MOST_WEIGHTS: "Weights of a vertex when the model was exported last, 0: all; bounds of animations go by it",
    LEAST_WEIGHT: "The least weight when the model was exported last; bounds of animations go by it",
    ORPHAN_BONE: "The bone of vertices without weights when the model was exported last; bounds go by it",
}
RANGES: dict[str, dict[str, Any]] = {
    TORSO_WEIGHT: {"min": 0.0, "max": 1.0},
    MIN_LOD: {"min": 0},
    FPS: {"min": 0.0},
    FRAME_RATE: {"min": 0.0},
    LOOP: {"min": 0},
    TRANSITION: {"min": 0},
    MOST_WEIGHTS: {"min": 0},
    LEAST_WEIGHT: {"min": 0.0, "max": 1.0},
}


def show(block: Block, name: str, value: float | int | bool | str | list[float]) -> None:
    """Give a data-block one of the properties above."""
    block[name] = value
    block.id_properties_ui(name).update(description=SAID[name], **RANGES.get(name, {}))


def describe(block: Block, name: str) -> None:
    """Say of a property that a data-block has what it is, if that is known."""
    if name in SAID:
        block.id_properties_ui(name).update(description=SAID[name])


def write_bytes(block: Block, name: str, data: bytes) -> None:
    """Keep bytes with a data-block: written over others they would end at their first 0 (4.2 to 5.2)."""
    block.pop(name, None)
    block[name] = data


def numbers(block: Block, name: str) -> tuple[float, ...]:
    """Return the numbers of a property, one, several, or a text of them; none if it is missing, or of another kind."""
    value = block.get(name)
    if isinstance(value, str):
        try:
            return tuple(map(float, value.replace(",", " ").split()))
        except ValueError:
            return ()
    if isinstance(value, int | float):
        return (float(value),)
    listed = value.to_list() if hasattr(value, "to_list") else []
    return tuple(float(each) for each in listed) if all(isinstance(each, int | float) for each in listed) else ()


def number(block: Block, name: str, default: float) -> float:
    """Return what a property says; the default if it is missing or no finite number."""
    value = block.get(name)
    if not isinstance(value, int | float) or not abs(value) < 3e38:
        return default
    return float(value)


def vector(block: Block, name: str, default: list[float]) -> list[float]:
    """Return what a property of several numbers says; the default if it is missing or holds others."""
    try:
        found = [float(value) for value in block[name]]
    except (KeyError, TypeError, ValueError):
        return default
    return found if len(found) == len(default) and all(abs(value) < 3e38 for value in found) else default
