"""Many files, one after another: the window lives meanwhile and shows how far it is, and Esc ends it.

Blender is busy while an operator runs. So the files of a window's import are brought by one that returns between them.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

import bpy

from ...blender.compat import Context
from ...blender.window import selected
from ...reporting import plural
from ..bases import Operator
from ..reports import listening, report_done
from .showing import ViewsBefore, select

FINISHED, CANCELLED, RUNNING = {"FINISHED"}, {"CANCELLED"}, {"RUNNING_MODAL"}
LEAST = 4  # files that are worth it
QUICK = 0.1  # seconds that a step may take, for the next to be twice as large
PAUSE = 0.001  # seconds, in which the window lives


@dataclass
class Batch:
    """Files to import, what has become of them, and what is to be said."""

    calls: Sequence[tuple[Any, str, Mapping[str, Any]]]  # an operator, a file, and the operator's options
    apart: bool
    done: list[tuple[str, Any]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    blocks: list[Any] = field(default_factory=list)
    brought: int = 0
    at_once: int = 1  # more while they are quick: what selects them looks at all objects each time

    def bring_next(self, context: Context) -> None:
        """Import the next file, or the next few of one format."""
        call, _, options = self.calls[self.brought]
        following = self.calls[self.brought : self.brought + self.at_once]
        places = [place for other, place, its in takewhile(lambda each: each[0] is call, following) if its is options]
        begun = time.monotonic()
        with listening() as (done, failed):
            if call(files=[{"name": place} for place in places], **options) == FINISHED:
                self.blocks += selected(context)
        self.done += done
        self.failed += failed
        self.brought += len(places)
        self.at_once = 2 * self.at_once if time.monotonic() - begun < QUICK else max(1, self.at_once // 2)

    @property
    def is_over(self) -> bool:
        """Tell whether no file is left."""
        return self.brought == len(self.calls)


_waiting: list[Batch] = []


def is_worth_it(operator: Any, count: int) -> bool:
    """Tell whether an operator was called in a window, for so many files that they should come one by one."""
    return count >= LEAST and bool(getattr(operator, "interactive", False)) and not bpy.app.background


def start(calls: Sequence[tuple[Any, str, Mapping[str, Any]]], apart: bool) -> set[str]:
    """Begin to import files, each by an operator with options; models stand side by side if `apart`."""
    _waiting[:] = [Batch(calls, apart)]
    operators: Any = bpy.ops.import_scene
    operators.idtech_batch("INVOKE_DEFAULT")
    return CANCELLED  # nothing has been done yet that could be undone


class IMPORT_SCENE_OT_idtech_batch(Operator):  # type: ignore[misc]
    """Imports files that wait, one after another."""

    bl_idname = "import_scene.idtech_batch"
    bl_label = "Import Models"
    bl_description = "Import files one after another"
    bl_options = {"INTERNAL", "UNDO"}

    def invoke(self, context: Context, event: Any) -> Any:
        """Begin with the files that wait."""
        if not _waiting:
            return CANCELLED
        from ...tasks.import_.games import sharing_disk

        self.batch = _waiting.pop()
        self.before = ViewsBefore(context)
        self.open = ExitStack()
        self.disk = sharing_disk()
        manager: Any = context.window_manager
        self.timer = manager.event_timer_add(PAUSE, window=context.window)
        self.open.callback(manager.event_timer_remove, self.timer)
        manager.progress_begin(0, len(self.batch.calls))
        self.open.callback(manager.progress_end)
        if context.workspace is not None:
            self.open.callback(context.workspace.status_text_set, None)
        manager.modal_handler_add(self)
        return RUNNING

    def modal(self, context: Context, event: Any) -> Any:
        """Import a file each time that the window is idle; end with Esc."""
        if event.type == "ESC":
            return self.end(context)
        if event.type != "TIMER":
            return RUNNING
        with self.disk():
            self.batch.bring_next(context)
        if self.batch.is_over:
            return self.end(context)
        count, name = self.batch.brought, self.batch.calls[self.batch.brought][1]
        context.window_manager.progress_update(count)
        if context.workspace is not None:
            context.workspace.status_text_set(f"{count} / {len(self.batch.calls)}  {name}  (Esc)")
        return RUNNING

    def cancel(self, context: Context) -> None:
        """Leave nothing running: the window is closed, or another .blend is opened."""
        self.open.close()

    def end(self, context: Context) -> set[str]:
        """Select and show what has come, and say what it is."""
        self.open.close()
        batch = self.batch
        select(context, batch.blocks)
        if batch.blocks:
            self.before.show(context, batch.apart)
        left = len(batch.calls) - batch.brought
        report_done(self, batch.done, batch.failed)
        if left:
            self.report({"WARNING"}, f"ended by Esc: {plural(left, 'file')} not imported")
        return FINISHED if batch.brought else CANCELLED


CLASSES = (IMPORT_SCENE_OT_idtech_batch,)
