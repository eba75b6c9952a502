"""What a context says of mode and selection, also where it has no window: in timers, handlers, and without a screen.

`context.selected_objects` and its like are the screen's to say; without one Blender's operators that change modes don't
find the active object either. The view layer knows all of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy

from .compat import Block, Context
from .scene import bending


def mode_of(context: Context) -> str:
    """Return the mode of the active object: OBJECT, EDIT, POSE and so on; OBJECT without one."""
    active = context.view_layer.objects.active
    return "OBJECT" if active is None else str(active.mode)


def selected(context: Context) -> list[Block]:
    """Return the objects of the view layer that are selected.

    To ask whether one is lets Blender bring the layer up to date, as after a collection was excluded: 4.2 crashes where
    that happens while it lists the objects.
    """
    layer = context.view_layer
    return [block for block in list(layer.objects) if block.select_get(view_layer=layer)]


def set_mode(context: Context, mode: str) -> None:
    """Bring the active object into a mode."""
    wanted: Any = mode  # the stubs list them all
    with _with_a_window(context):
        bpy.ops.object.mode_set(mode=wanted)


@contextmanager
def _with_a_window(context: Context) -> Iterator[None]:
    """Let operators see a window that shows the context's view layer, where the context has none itself."""
    layer = context.view_layer
    windows = [] if context.window is not None else list(context.window_manager.windows)
    window = next((window for window in windows if window.view_layer == layer), None)
    if window is None:
        yield
        return
    with context.temp_override(window=window):
        yield


@contextmanager
def object_mode(context: Context) -> Iterator[None]:
    """Let all objects leave edit mode (and its like) meanwhile: what is edited reaches the data only then.

    Another object than the active one may be in such a mode, too: it stays in it while one makes others active.
    """
    objects = context.view_layer.objects
    active, modes = objects.active, {block: str(block.mode) for block in objects if block.mode != "OBJECT"}
    _bring(context, dict.fromkeys(modes, "OBJECT"), active)
    try:
        yield
    finally:
        _bring(context, modes, active)


def _bring(context: Context, modes: dict[Block, str], active: Block | None) -> None:
    """Bring objects into modes, the active one first, and no others: selected ones of its kind would go along."""
    objects = context.view_layer.objects
    waiting = [block for block in sorted(modes, key=lambda block: block != active) if block.mode != modes[block]]
    chosen = selected(context) if waiting else []
    try:
        for block in chosen:
            block.select_set(False, view_layer=context.view_layer)
        for block in waiting:
            objects.active = block
            set_mode(context, modes[block])
    finally:
        for block in chosen:
            block.select_set(True, view_layer=context.view_layer)
    if modes:
        objects.active = active


def active_rig(context: Context) -> Any:
    """Return the armature that is active, or that deforms the active mesh; else the only one that is selected."""
    active = context.view_layer.objects.active
    if active is not None and active.type == "ARMATURE":
        return active
    if active is not None:
        rigs = bending(active)
        if rigs:
            return rigs[0]
    rigs = [block for block in selected(context) if block.type == "ARMATURE"]
    return rigs[0] if len(rigs) == 1 else None
