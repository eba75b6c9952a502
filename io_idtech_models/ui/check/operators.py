"""Would a game take this model? What it refuses is selected and listed, without writing a file."""

from collections.abc import Sequence
from typing import Any

from bpy.props import EnumProperty

from ... import formats
from ...blender.compat import Context
from ...blender.window import mode_of
from ...model.limits.games import ERROR, GAMES, NO_GAME, Problem
from ...reporting import ModelError, listed, plural
from ...tasks.export.subject import subject_of
from ..bases import CANCELLED, FINISHED, Operator, may
from ..import_.showing import deselect
from ..reports import report_done
from ..translations import say
from .found import add, keep, state_of

Finding = tuple[str, str, bool]  # an object's name, "" for none; a sentence; is it an error


def _targets() -> tuple[tuple[str, str, str], ...]:
    """Return the choices: each format that holds models, for each game that reads it."""
    found = []
    for row in formats.ROWS:
        if row.has_model:
            for game in row.games:
                form, label = row.name.upper(), GAMES[game].label
                named = f"{form}: {label}", f"What {label} takes of {form}"
                if game == NO_GAME:
                    named = f"{form}: format maximum", "What the format itself holds"
                found.append((f"{row.name}:{game}", *named))
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
        lack = "" if mode_of(context) == "OBJECT" else say("Only in object mode")
        return may(cls, lack if context.scene.objects else say("The scene has no objects"))

    def invoke(self, context: Context, event: Any) -> Any:
        """Ask which game, beginning with the model's own."""
        from ...tasks.export.last_export import game_shown

        subject = subject_of(context)
        if subject is not None and subject.row is not None and subject.row.has_model:
            self.target = f"{subject.row.name}:{game_shown(subject)}"
        return context.window_manager.invoke_props_dialog(self)

    def execute(self, context: Context) -> set[str]:
        """Check, select and list; of a player all parts."""
        from ...reporting import Summary
        from ...tasks.check import check_all

        name, _, game = self.target.partition(":")
        try:
            results = check_all(context, formats.by_name(name), game)
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        blocks = [block for result in results for block in result.offenders]
        findings = [_finding(result, problem) for result in results for problem in result.problems]
        lacks = [": ".join(filter(None, (result.name, result.lack))) for result in results if result.lack]
        findings += [("", text, True) for text in lacks]
        findings += [("", text, False) for text in _by_part({result.name: result.said for result in results})]
        self.keep(context, findings, {result.name: result.counts for result in results})
        blocks = [block for block in blocks if block.visible_get()]
        if blocks:
            deselect(context)
        for block in blocks:
            block.select_set(True)
            context.view_layer.objects.active = block
        severe = sum(severe for _, _, severe in findings)
        taken = "the format holds it" if game == NO_GAME else "it will be taken"
        head = plural(severe, "error") if severe else taken
        report_done(self, [("", Summary(head, [text for _, text, _ in findings]))])  # no error: a script goes on
        return FINISHED

    def keep(self, context: Context, findings: list[Finding], counted: dict[str, dict[str, int]]) -> None:
        """Let the panel show what was found of the active object's model, and what was counted of each part."""
        from ...blender.provenance import PART
        from ...blender.roots import root_of
        from ...tasks.export.subject import counts_shown

        subject = subject_of(context)
        if subject is None:
            return
        root = None if subject.player is None else root_of(subject.active)
        counts = counted.get("" if root is None else str(root[PART]), {})
        add(keep(context, subject, state_of(subject, counts_shown(subject)), self.target, counts), findings)
        if context.area is not None:
            context.area.tag_redraw()


def _by_part(said: dict[str, Sequence[str]]) -> list[str]:
    """Return what was said of parts, each sentence once, behind the names of those of which it was."""
    parts: dict[str, list[str]] = {}
    for part, texts in said.items():
        for text in dict.fromkeys(texts):
            parts.setdefault(text, []).append(part)
    return [f"{listed(names, quoted=False)}: {text}" if any(names) else text for text, names in parts.items()]


def _finding(result: Any, problem: Problem) -> Finding:
    """Return a problem that a check has as result as a finding: the object's name, the text, is it an error."""
    named = result.offenders_of([problem])
    text = f"{result.name}: {problem}" if result.name else str(problem)
    return named[0].name if named else "", text, problem.severity == ERROR


CLASSES = (OBJECT_OT_idtech_check_game,)
