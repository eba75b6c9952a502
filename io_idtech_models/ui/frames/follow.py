"""The frame that is seen is the frame that is edited: the active shape key follows the scene, and the scene the key.

Nothing happens while an animation plays, or something renders, or an export looks at frames.
"""

from __future__ import annotations

from typing import Any

import bpy

from ...blender.compat import Context
from ...blender.scene import is_showing
from .. import preferences

_owner = object()  # of the message bus' subscription
_app: Any = bpy.app  # the stubs do not know what its functions return


def _is_wanted(context: Context) -> bool:
    """Tell whether the user wants it, and nothing else runs through frames."""
    own = preferences.own(context)
    if is_showing() or (own is not None and not own.follow_frame):
        return False
    screens = [window.screen for window in context.window_manager.windows]
    return not any(screen.is_animation_playing for screen in screens) and not _app.is_job_running("RENDER")


def _objects(context: Context) -> list[Any]:
    """Return the active object, and those with frames that lie in its collections: surfaces of one model."""
    active = context.view_layer.objects.active
    if active is None:
        return []
    root = context.scene.collection
    beside = [block for home in active.users_collection if home != root for block in home.objects]
    return list(dict.fromkeys([active, *beside]))


def _on_frame(scene: bpy.types.Scene, _depsgraph: Any = None) -> None:
    """Let keys follow the frame that the scene shows now."""
    context: Any = bpy.context
    if scene != context.scene or not _is_wanted(context):
        return
    from ...blender.vertex.shown_keys import follow

    follow(_objects(context))


def _on_key() -> None:
    """Show the key that was chosen in the list."""
    from ...blender.vertex.shown_keys import frame_that_shows, has_frames

    context: Any = bpy.context
    active = context.view_layer.objects.active
    if not has_frames(active) or not _is_wanted(context):
        return
    frame = frame_that_shows(active, context.scene)
    if frame is not None:
        context.scene.frame_set(frame)


def _listen(*_ignored: Any) -> None:
    """Be told when a key is chosen: Blender forgets who listens with every file."""
    bpy.msgbus.clear_by_owner(_owner)
    key: Any = (bpy.types.Object, "active_shape_key_index")
    bpy.msgbus.subscribe_rna(key=key, owner=_owner, args=(), notify=_on_key)


def watch() -> None:
    """Begin to follow."""
    persistent = _app.handlers.persistent  # it stays when another .blend is opened
    _app.handlers.frame_change_post.append(persistent(_on_frame))
    _app.handlers.load_post.append(persistent(_listen))
    _listen()


def unwatch() -> None:
    """End it."""
    bpy.msgbus.clear_by_owner(_owner)
    _app.handlers.load_post.remove(_listen)
    _app.handlers.frame_change_post.remove(_on_frame)
