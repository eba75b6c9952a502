"""Which of a model's objects is chosen in the panel's lists: the active one. It lies on the window manager."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import IntProperty

from ...blender.compat import Context
from ...tasks.export.subject import subject_of

PART = "idtech_part"


def _active_part(_manager: Any) -> int:
    """Return which object of the active model's collection is the active one, for lists of these; -1 for none."""
    context: Context = bpy.context
    subject = subject_of(context)
    return -1 if subject is None or subject.home is None else int(subject.home.objects.find(subject.active.name))


def _choose_part(_manager: Any, index: int) -> None:
    """Select the object that was clicked in a list."""
    context: Context = bpy.context
    subject = subject_of(context)
    if subject is not None and subject.home is not None and 0 <= index < len(subject.home.objects):
        select: Any = bpy.ops.object
        if select.idtech_select_part.poll():
            select.idtech_select_part("EXEC_DEFAULT", True, name=subject.home.objects[index].name)


def attach() -> None:
    """Give the window manager its place for it."""
    number: Any = IntProperty
    parts = number(name="Part", description="The active object", get=_active_part, set=_choose_part, min=-1)
    setattr(bpy.types.WindowManager, PART, parts)


def detach() -> None:
    """Undo `attach`."""
    delattr(bpy.types.WindowManager, PART)
