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


def mode_of(context: Context) -> str:
    """Return the mode of the active object: OBJECT, EDIT, POSE and so on; OBJECT without one."""
    active = context.view_layer.objects.active
    return "OBJECT" if active is None else str(active.mode)


def selected(context: Context) -> list[Block]:
    """Return the objects of the view layer that are selected."""
    layer = context.view_layer
    return [block for block in layer.objects if block.select_get(view_layer=layer)]


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
    """Leave edit mode (and its like) meanwhile: what is edited reaches the data only then."""
    mode = mode_of(context)
    if mode != "OBJECT":
        set_mode(context, "OBJECT")
    try:
        yield
    finally:
        if mode != "OBJECT":
            set_mode(context, mode)


def active_rig(context: Context) -> Any:
    """Return the armature that is active, or that deforms the active mesh; else the only one that is selected."""
    active = context.view_layer.objects.active
    if active is not None and active.type == "ARMATURE":
        return active
    if active is not None:
        rigs = [m.object for m in active.modifiers if m.type == "ARMATURE" and m.object is not None]
        if rigs:
            return rigs[0]
    rigs = [block for block in selected(context) if block.type == "ARMATURE"]
    return rigs[0] if len(rigs) == 1 else None
