"""What the last check of a model found, which no file keeps: it lies on the window manager.

No member of the groups has a callback: Blender 4.2 crashes at exit on those.
"""

from collections.abc import Iterable
from typing import Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, IntProperty, PointerProperty, StringProperty

from ...blender.compat import Context
from ...tasks.export.subject import Subject

Group: Any = bpy.types.PropertyGroup  # the stubs want other members than Blender does
CHECKED = "idtech_checked"
MOST = 500  # findings that are kept


class IdtechFinding(Group):  # type: ignore[misc]
    """What a game refuses, or shows otherwise than meant. Its `name` is the object's, "" for none."""

    text: StringProperty(name="Finding", description="What is wrong, and where")
    severe: BoolProperty(name="Error", description="The game refuses the model for it")


class IdtechCount(Group):  # type: ignore[misc]
    """How much the file will hold of a kind, which is its `name`."""

    count: IntProperty(name="Count", description="How many the file will hold")


class IdtechChecked(Group):  # type: ignore[misc]
    """What a check found."""

    model: StringProperty(name="Model", description="Which model was checked")
    target: StringProperty(name="Game", description="The format and the game that it was checked for")
    shown: StringProperty(name="As Shown", description="What Blender held when it was checked")
    findings: CollectionProperty(type=IdtechFinding)
    counts: CollectionProperty(type=IdtechCount)
    index: IntProperty(name="A click selects what it is about")


def key_of(subject: Subject) -> str:
    """Return what tells one model from another in this session; objects that no import made are one."""
    holder = subject.home or subject.rig if subject.player is None else subject.player.holder
    return "" if holder is None else f"{holder.session_uid} {holder.name}"


def state_of(subject: Subject, shown: dict[str, int]) -> str:
    """Return what tells at no cost that the file would have other counts: `shown` ones, and which modifiers work."""
    modifiers = [(each.type, each.show_viewport) for block in subject.meshes for each in block.modifiers]
    return f"{shown} {modifiers}"


def checked(context: Context) -> Any:
    """Return what the last check found, of whichever model."""
    return getattr(context.window_manager, CHECKED)


def keep(context: Context, subject: Subject, shown: str, target: str, counts: dict[str, int]) -> Any:
    """Forget what was found before, and note how much a model has; findings are added to what is returned."""
    found = checked(context)
    found.model, found.target, found.shown, found.index = key_of(subject), target, shown, 0
    found.findings.clear()
    found.counts.clear()
    for kind, count in counts.items():
        entry = found.counts.add()
        entry.name, entry.count = kind, min(count, 2**31 - 1)
    return found


def add(found: Any, findings: Iterable[tuple[str, str, bool]]) -> None:
    """Add findings: the object's name, the sentence, and whether it is an error."""
    for name, text, severe in list(findings)[:MOST]:
        entry = found.findings.add()
        entry.name, entry.text, entry.severe = name, text, severe


CLASSES = (IdtechFinding, IdtechCount, IdtechChecked)


def attach() -> None:
    """Give the window manager its place for it, when the classes are registered."""
    declare: Any = PointerProperty  # the stubs say that it returns nothing
    setattr(bpy.types.WindowManager, CHECKED, declare(type=IdtechChecked, options={"HIDDEN", "SKIP_SAVE"}))


def detach() -> None:
    """Undo `attach`, before the classes go."""
    delattr(bpy.types.WindowManager, CHECKED)
