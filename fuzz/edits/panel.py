"""What the sidebar and the menus of this extension do to a model, by name: done among the edits of `operations`.

An operator that can't be offered, or that refuses with a sentence, does nothing; one that ends in a traceback is a
finding whatever the export does then.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import bpy as blender

from io_idtech_models.tasks.animations.find import animations_of

bpy: Any = blender


class BrokenError(Exception):
    """An operator of this extension ended in an error of Python's."""


def call(operator: Any, **options: Any) -> None:
    """Run an operator as a click does.

    Raises:
        RuntimeError: it refused.
        BrokenError: it broke.
    """
    try:
        operator(**options)
    except RuntimeError as error:
        if "Traceback" in str(error):
            raise BrokenError(f"{operator.idname_py()}: {error}") from error
        raise


def activate_one(rng: Random) -> Any:
    """Make some object the active one, selected alone or with all others."""
    blocks = list(bpy.context.view_layer.objects)
    block = blocks[rng.randrange(len(blocks))] if blocks else None
    if block is None:
        raise LookupError("nothing to click")
    every = rng.random() < 0.5
    for other in blocks:
        other.select_set(every or other == block)
    bpy.context.view_layer.objects.active = block
    return block


def animation_of(rng: Random) -> str:
    """Return the key of some animation of the active object's model."""
    found = animations_of(bpy.context)
    rows = [] if found is None else found.rows()
    return str(rows[rng.randrange(len(rows))].key) if rows else ""


def show_some_frame(rng: Random) -> None:
    """Show a frame of the scene, as a click on the timeline does."""
    scene = bpy.context.scene
    scene.frame_set(rng.randint(scene.frame_start, max(scene.frame_start, scene.frame_end)))


def _of_frames(called: str, /, **options: Callable[[Random], Any]) -> Callable[[Random], None]:
    """Return what runs an operator on some object in some frame, with options made of random numbers."""

    def operation(rng: Random) -> None:
        activate_one(rng)
        show_some_frame(rng)
        call(getattr(bpy.ops.object, f"idtech_{called}"), **{key: make(rng) for key, make in options.items()})

    return operation


def _of_animations(what: str, /, **options: Callable[[Random], Any]) -> Callable[[Random], None]:
    """Return what runs an operator on some animation of some model."""
    return _of_frames(f"animation_{what}", name=animation_of, **options)


def new_name(rng: Random) -> str:
    """Return a name, perhaps one that others have, or none."""
    return rng.choice(("run", "run.001", "", "tag_weapon", "a name that is longer than any file of frames can hold"))


def whether(rng: Random) -> bool:
    """Return one of both."""
    return rng.random() < 0.5


def frame_of(rng: Random) -> int:
    """Return a frame's number, perhaps one that is not there."""
    return rng.randint(-2, 14)


PANEL: dict[str, Callable[[Random], None]] = {
    "insert_frame": _of_frames("insert_frame"),
    "delete_frame": _of_frames("delete_frame"),
    "hold_still": _of_frames("hold_still", selected_only=whether),
    "apply_change": _of_frames(
        "apply_change",
        selected_only=whether,
        all_surfaces=whether,
        frames=lambda rng: rng.choice(("ANIMATION", "ALL", "RANGE")),
        falloff=lambda rng: rng.choice(("CONSTANT", "LINEAR", "SMOOTH")),
        first=frame_of,
        last=frame_of,
    ),
    "add_tag": _of_frames("add_tag", name=new_name, place=lambda rng: rng.choice(("CURSOR", "OBJECT", "BONE"))),
    "make_levels": _of_frames("make_levels", percentages=lambda rng: rng.choice(("50", "60 30", "80 50 20"))),
    "make_root": _of_frames("make_root"),
    "make_rig": _of_frames(
        "make_rig",
        bones=lambda rng: rng.choice((0, 3, 8)),
        joints=lambda rng: rng.choice(("KEEP", "TURN")),
        symmetric=whether,
    ),
    "remove_rig": _of_frames("remove_rig"),
    "hang_on_rig": _of_frames("hang_on_rig"),
    "animation_play": _of_animations("play"),
    "animation_make": _of_animations("make"),
    "animation_add": _of_frames("animation_add", name=new_name, first=frame_of, last=frame_of),
    "animation_remove": _of_animations("remove"),
    "animation_duplicate": _of_animations("duplicate", copy=new_name),
    "animation_move": _of_animations("move", direction=lambda rng: rng.choice(("UP", "DOWN"))),
    "animation_rename": _of_animations("rename", to=new_name),
}
