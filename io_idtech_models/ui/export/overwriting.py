"""Asking before an export replaces the file that a model came from: once for each file in a session.

Who exports from a window is asked; scripts, collections and "Export Again", which asks for itself, are not.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import bpy

from ...blender.compat import Context
from ...blender.provenance import FILE
from ..bases import Operator, options_of
from ..reports import listening, report_done, report_failed

FINISHED, CANCELLED = {"FINISHED"}, {"CANCELLED"}
TITLE = "Write over the file of the model?"
agreed: set[str] = set()  # files that the user has agreed to write over, in this session
_waiting: list[tuple[str, dict[str, Any], list[Path]]] = []  # the export that is asked for: operator, options, files


def asks_first(operator: Any, targets: Iterable[Path]) -> bool:
    """Ask before an export writes over what something here came from, and tell whether it has to wait for that."""
    found = [] if not operator.interactive else replaced(targets)
    if not found:
        return False
    _waiting[:] = [(operator.bl_idname, options_of(operator), found)]
    ask()
    return True


def targets_of(operator: Any) -> list[Path]:
    """Return which files an export writes, as far as the name that was given tells."""
    from ...tasks.export.targets import in_game_folder

    target = Path(bpy.path.abspath(operator.filepath))
    others = operator.row.skeletal.companions if getattr(operator, "write_animation", False) else ()
    found = [target, *(target.with_suffix(row.suffixes[0]) for row in others)]
    found += [in_game_folder(path, operator.game) for path in found]
    several = getattr(operator, "writes_several", None)  # of animations
    if several is not None and several():
        folders = {path.parent for path in found}
        beside = [path for path in map(Path, _files()) if path.parent in folders]
        suffixes = (operator.row.skeletal.animation or operator.row).suffixes
        found += [path for path in beside if path.name.lower().endswith(suffixes)]
    return list(dict.fromkeys(found))


def ask() -> None:
    """Show the question; a test puts another answer in its place."""
    operators: Any = bpy.ops.export_scene
    operators.idtech_write_over("INVOKE_DEFAULT")


def replaced(targets: Iterable[Path]) -> list[Path]:
    """Return which of some files, folders or archives something here came from, that nobody has agreed to."""
    came = [_place(file) for file in _files()]
    found = []
    for target in targets:
        place = _place(str(target))
        inside = any(file == place or file.startswith(place + os.sep) for file in came)
        if inside and str(target) not in agreed and target.exists():
            found.append(target)
    return found


def _files() -> Iterator[str]:
    """Yield the files that models, animations, and parts of them came from."""
    data = bpy.data
    kinds: tuple[Iterable[Any], ...] = (data.collections, data.meshes, data.armatures, data.actions, data.objects)
    for kind in kinds:
        yield from (block[FILE] for block in kind if isinstance(block.get(FILE), str))


def _place(path: str) -> str:
    return os.path.normcase(os.path.normpath(path))


class EXPORT_SCENE_OT_idtech_write_over(Operator):  # type: ignore[misc]
    """Ask whether an export may write over what the model came from, and then let it."""

    bl_idname = "export_scene.idtech_write_over"
    bl_label = "Export"
    bl_description = TITLE
    bl_options = {"INTERNAL"}

    def invoke(self, context: Context, event: Any) -> Any:
        """Ask."""
        if not _waiting:
            return CANCELLED
        message = "\n".join(map(str, _waiting[0][2]))
        return context.window_manager.invoke_confirm(
            self, event, title=TITLE, message=message, confirm_text="Export", icon="WARNING"
        )

    def execute(self, context: Context) -> set[str]:
        """Export; what hinders it is reported, and leaves the files as they were."""
        if not _waiting:
            return CANCELLED
        name, options, files = _waiting.pop()
        space, _, called = name.partition("_OT_") if "_OT_" in name else name.partition(".")
        operator = getattr(getattr(bpy.ops, space.lower()), called)
        try:
            with listening() as (done, failed):
                operator("EXEC_DEFAULT", **options)
        except RuntimeError as error:
            report_failed(self, error)
            return CANCELLED
        agreed.update(map(str, files))
        report_done(self, done, failed)
        return FINISHED


CLASSES = (EXPORT_SCENE_OT_idtech_write_over,)
