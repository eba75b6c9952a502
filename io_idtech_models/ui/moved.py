"""What Blender calls when a .blend is saved, and opened: models' places go along with one that was moved."""

from __future__ import annotations

from typing import Any

import bpy

from ..blender.provenance import BLEND

_app: Any = bpy.app


def _on_save(place: str, *_ignored: Any) -> None:
    from ..tasks.moved import note_place

    note_place(place)


def _on_load(*_ignored: Any) -> None:
    scenes: Any = bpy.data.scenes
    if any(BLEND in scene for scene in scenes):
        from ..tasks.moved import follow

        follow()


def watch() -> None:
    """Begin to look after places."""
    _app.handlers.save_pre.append(_app.handlers.persistent(_on_save))
    _app.handlers.load_post.append(_app.handlers.persistent(_on_load))


def unwatch() -> None:
    """End it."""
    _app.handlers.save_pre.remove(_on_save)
    _app.handlers.load_post.remove(_on_load)
