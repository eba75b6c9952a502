"""Would a game take this model? What it refuses is selected and listed, without writing a file."""

from __future__ import annotations

from typing import Any

from bpy.props import EnumProperty

from ... import formats
from ...blender.compat import Context
from ...blender.window import mode_of
from ...model.limits.games import ERROR, GAMES
from ...model.wording import plural
from ...reporting import ModelError, collected_warnings
from ...tasks.export.subject import subject_of
from ..bases import CANCELLED, FINISHED, Operator
from ..import_.showing import deselect
from ..reports import report_done
from .found import add, keep


def _targets() -> tuple[tuple[str, str, str], ...]:
    """Return the choices: each format that holds models, for each game that reads it."""
    found = []
    for row in formats.ROWS:
        if row.has_model:
            for game in row.games:
                form, label = row.name.upper(), GAMES[game].label
                found.append((f"{row.name}:{game}", f"{form}: {label}", f"What {label} takes of {form}"))
    return tuple(found)


class OBJECT_OT_idtech_check_game(Operator):  # type: ignore[misc]
    """Tell what a game would refuse of the model of the active object, or of the selection."""

    bl_idname = "object.idtech_check_game"
    bl_label = "Check for Game"
    bl_description = "Select what a game would refuse of this model or show otherwise than meant, and list it"
    bl_options = {"REGISTER", "UNDO"}

    target: EnumProperty(name="Game", description="The format and the game", items=_targets(), default="md3:quake3")

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Offer it where there are objects."""
        return mode_of(context) == "OBJECT" and bool(context.scene.objects)

    def invoke(self, context: Context, event: Any) -> Any:
        """Ask which game."""
        return context.window_manager.invoke_props_dialog(self)

    def execute(self, context: Context) -> set[str]:
        """Check, select and list."""
        from ...reporting import Summary
        from ...tasks.check import checked, offenders
        from ...tasks.export.selection import choose

        name, _, game = self.target.partition(":")
        row = formats.by_name(name)
        try:
            with collected_warnings() as warnings:
                chosen = choose(context, "AUTO")
                found, counts = checked(chosen, row, game, context)
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        blocks = offenders(chosen.blocks, found)
        self.keep(context, blocks, [*found, *warnings], counts)
        if blocks:
            deselect(context)
        for block in blocks:
            block.select_set(True)
            context.view_layer.objects.active = block
        severe = [p for p in found if p.severity == ERROR]
        texts = [str(problem) for problem in found] + warnings
        head = f"{plural(len(severe), 'error')}" if severe else "it will be taken"
        report_done(self, [("", Summary(head, texts))])  # no error: a script goes on
        return FINISHED

    def keep(self, context: Context, blocks: list[Any], findings: list[Any], counts: dict[str, int]) -> None:
        """Let the panel show what was found of the active object's model: problems of `blocks`, and sentences."""
        from ...tasks.check import offenders
        from ...tasks.export.subject import counts_shown

        subject = subject_of(context)
        if subject is None:
            return
        found = keep(context, subject, str(counts_shown(subject)), self.target, counts)
        for each in findings:
            named = offenders(blocks, [each]) if getattr(each, "subject", "") else []
            name = named[0].name if named else ""
            add(found, [(name, str(each), getattr(each, "severity", "") == ERROR)])
        if context.area is not None:
            context.area.tag_redraw()


CLASSES = (OBJECT_OT_idtech_check_game,)
