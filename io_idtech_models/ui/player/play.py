"""Play Animation: what a player of the scene does, legs and torso apart.

What does the work is imported when it is first needed: everyone who starts Blender waits for this module.
"""

from typing import Any

from bpy.props import BoolProperty, EnumProperty

from ...blender.compat import Context
from ...reporting import ModelError
from ..animations import shown
from ..bases import CANCELLED, FINISHED, Operator, may
from ..translations import say

ALL = "ALL"
PARTS = "lower", "upper"
Item = tuple[str, str, str]
# Blender keeps no copy of the strings of an enum that is made when asked for: they must outlive the menu that shows it.
_kept: dict[str, list[Item]] = {}


def _items(part: str) -> Any:
    def items(_operator: Any, context: Context | None) -> list[Item]:
        from ...blender.player.parts import find_player
        from ...tasks.player.play import offered

        found = [(ALL, "All Frames", "The frames of the file, one by one: the way to edit them")]
        player = None if context is None else find_player(context.view_layer.objects.active)
        if player is not None:
            found += [(name, name, f"Play {name}") for name in offered(player, part)]
        _kept[part] = found
        return found

    return items


class OBJECT_OT_idtech_play(Operator):  # type: ignore[misc]
    """Let the active player's legs and torso play animations of its table."""

    bl_idname = "object.idtech_play"
    bl_label = "Play Animation"
    bl_description = "Let the active player's legs and torso play animations of its table, each its own, as in the game"
    bl_options = {"REGISTER", "UNDO"}

    legs: EnumProperty(name="Legs", description="What the legs do", items=_items("lower"))
    torso: EnumProperty(name="Torso", description="What the torso and the head do", items=_items("upper"))
    fit_range: BoolProperty(
        name="Fit Frame Range", description="Let the scene play from the first frame to the last", default=True
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Offer it on objects of a player."""
        from ...blender.roots import player_root

        root = player_root(context.view_layer.objects.active)
        return may(cls, "" if root is not None else say("No player is active"))

    def invoke(self, context: Context, event: Any) -> Any:
        """Ask what to play, beginning with what plays."""
        from ...blender.player.parts import find_player
        from ...tasks.player.play import played

        player = find_player(context.view_layer.objects.active)
        if player is not None:
            self.legs, self.torso = (played(player, part) or ALL for part in PARTS)
        return context.window_manager.invoke_props_dialog(self)

    def execute(self, context: Context) -> set[str]:
        """Play."""
        from ...blender.player.parts import find_player
        from ...blender.roots import root_of
        from ...tasks.player.play import play

        player = find_player(context.view_layer.objects.active)
        if player is None:
            self.report({"ERROR"}, "no player is active")
            return CANCELLED
        legs, torso = ("" if name == ALL else name for name in (self.legs, self.torso))
        try:
            lead = root_of(context.view_layer.objects.active)
            play(player, legs, torso, context.scene, self.fit_range, lead)
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        shown.refresh(context)  # Blender tells of no change where the scene stays in its frame
        return FINISHED


CLASSES = (OBJECT_OT_idtech_play,)
