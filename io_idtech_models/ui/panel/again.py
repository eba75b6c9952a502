"""Export Again: a model goes back to the file that it came from."""

from __future__ import annotations

from typing import Any

import bpy

from ...blender.compat import Context
from ...reporting import ModelError, listed
from ...tasks.export.last_export import lack_of
from ...tasks.export.subject import subject_of
from ..bases import CANCELLED, FINISHED, Operator, keep_noted, may
from ..export.overwriting import TITLE, agreed
from ..reports import listening, report_done, report_failed
from ..translations import say


class OBJECT_OT_idtech_export_again(Operator):  # type: ignore[misc]
    """Write a model where it came from, as it was exported last."""

    bl_idname = "object.idtech_export_again"
    bl_label = "Export Again"
    bl_description = (
        "Write the active object's model into the file that it came from, in its format, with the game and options of "
        "the last export; of a player all its files, of a rig also animations that came from files of their own"
    )
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Offer it where a model came from a file, or was written to one."""
        lack = lack_of(subject_of(context))
        return may(cls, say(lack) if lack else "")

    def invoke(self, context: Context, event: Any) -> Any:
        """Ask before a file is written over for the first time in this session."""
        from ...tasks.panel.again import files_of, plan_of

        try:
            files = files_of(plan_of(context))
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        waiting = [file for file in files if str(file) not in agreed and file.exists()]
        if not waiting:
            return self.execute(context)
        return context.window_manager.invoke_confirm(
            self,
            event,
            title=TITLE,
            message=listed([str(waiting[0]), *(file.name for file in waiting[1:])], quoted=False),
            confirm_text="Export",
            icon="WARNING",
        )

    def execute(self, context: Context) -> set[str]:
        """Write; what hinders it is reported, and leaves the files as they were."""
        from ...tasks.panel.again import export_motions, files_of, keep_options, plan_of

        try:
            plan = plan_of(context)
            operator = getattr(bpy.ops.export_scene, f"idtech_{plan.name}")
            with listening() as (done, failed):
                operator("EXEC_DEFAULT", filepath=str(plan.target), **_taken(operator, plan.taken))
            keep_options(plan)
            motions, notes = export_motions(plan, context, agreed)
            for _, summary in done[-1:]:
                summary.warnings.extend(notes)
                if motions and not notes:
                    summary.beside.clear()  # they are all written anew
            done += motions
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        except RuntimeError as error:
            report_failed(self, error)
            return CANCELLED
        agreed.update(map(str, files_of(plan)))
        keep_noted(self)
        report_done(self, done, failed)
        return FINISHED


KINDS: dict[str, Any] = {"ENUM": str, "STRING": str, "INT": int, "FLOAT": (int, float), "BOOLEAN": bool}


def _taken(operator: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return those of some options that an operator has, and can have."""
    known, found = operator.get_rna_type().properties, {}
    for name, value in options.items():
        prop = known.get(name)
        if prop is None or prop.is_hidden or not isinstance(value, KINDS.get(prop.type, ())):
            continue
        if prop.type != "ENUM" or value in prop.enum_items:
            found[name] = value
    return found


CLASSES = (OBJECT_OT_idtech_export_again,)
