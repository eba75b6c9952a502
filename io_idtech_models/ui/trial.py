"""Try in Game: the active model, as it is now, in its game; what that says of it comes back when the game ends.

What does the work is imported when it is first needed: everyone who starts Blender waits for this module.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty, FloatProperty, IntProperty, StringProperty

from ..blender.compat import PATH_OPTIONS, Context
from ..reporting import ModelError
from .bases import CANCELLED, FINISHED, Operator, may, propose_scale, scale_said
from .reports import report_done
from .translations import CONTEXT, say

if TYPE_CHECKING:
    from ..tasks.trial import Running, Wish

Item = tuple[str, str, str]  # identifier, label, description
LOOK = 0.5  # seconds between two looks at the game
RUNNING: set[str] = {"RUNNING_MODAL"}
PASSED: set[str] = {"PASS_THROUGH"}
# Blender keeps no copy of the strings of an enum that is made when asked for: they must outlive the menu that shows it.
_kept: dict[str, str] = {}


def _games(_operator: Any, _context: Context | None) -> list[Item]:
    from ..tasks.trial import names

    return [(name, name, "") for name in (_kept.setdefault(each, each) for each in names())]


class IDTECH_OT_try_in_game(Operator):  # type: ignore[misc]
    """Show the active model, as it is now, in its game."""

    bl_idname = "idtech.try_in_game"
    bl_label = "Try in Game"
    bl_description = "Show the active model, as it is now, in its game; nothing of the game's own files changes"
    bl_options: Any = set()  # neither undone nor adjusted: that would start the game again

    game: EnumProperty(name="Game", description="The game to start, of those with an executable", items=_games)
    map: StringProperty(
        name="Map", description="The map to start; empty: what the preferences say of the game, or a plain room"
    )
    skin: StringProperty(
        name="Skin",
        translation_context=CONTEXT,
        description="What a player wears; empty: what it wears here",
        options={"SKIP_SAVE"},
    )
    angle: FloatProperty(
        name="Angle",
        description="Where the camera is around a player, in degrees: 0 behind, as when it is played; 180 in front",
        default=180.0,
        soft_min=0.0,
        soft_max=360.0,
    )
    distance: FloatProperty(
        name="Distance",
        description="From the camera to a player, in units of the game",
        default=80.0,
        min=1.0,
        soft_max=400.0,
    )
    scale: FloatProperty(
        name="Scale", description="Size of a game unit in the scene", default=1.0, min=0.0001, max=10000.0, precision=4
    )
    time_limit: IntProperty(
        name="Time Limit", description="Seconds after which the game is ended; 0: none", default=0, min=0, soft_max=600
    )
    shot: StringProperty(
        name="Picture",
        description="A .tga to write: the game takes a picture of the model, and ends",
        subtype="FILE_PATH",
        options={"HIDDEN", "SKIP_SAVE"} | PATH_OPTIONS,
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Offer it where there is an object and a game."""
        from ..tasks.trial import lack

        found = lack(context)
        return may(cls, say(found) if found else "")

    def invoke(self, context: Context, event: Any) -> Any:
        """Ask how."""
        propose_scale(self, context)
        return context.window_manager.invoke_props_dialog(self, confirm_text="Start")

    def draw(self, context: Context) -> None:
        """Show the options."""
        self.layout.use_property_split = True
        for option in ("game", "map", "skin", "angle", "distance", "scale", "time_limit"):
            self.layout.prop(self, option)

    def execute(self, context: Context) -> set[str]:
        """Start the game; without a window wait for its end."""
        from ..tasks import trial

        try:
            running = trial.start(context, self._wish())
            if trial.background() or context.window is None:
                return self._wait(running)
            trial.watch(running)
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        operators: Any = bpy.ops
        operators.idtech.watch_game("INVOKE_DEFAULT")
        return FINISHED

    def _wish(self) -> "Wish":
        from ..assets.trial import Settings
        from ..game.trial.script import View
        from ..tasks.trial import Wish

        view = View(self.angle, self.distance, picture=bool(self.shot))
        settings = Settings(view, float(self.time_limit))
        return Wish(self.game, self.map.strip(), self.skin.strip(), scale_said(self), settings)

    def _wait(self, running: "Running") -> set[str]:
        from ..assets.storage import write_file

        outcome = running.wait()
        if self.shot and outcome.picture is not None:
            write_file(Path(bpy.path.abspath(self.shot)), outcome.picture)
        report_done(self, [("", running.summary(outcome))])
        return FINISHED


class IDTECH_OT_watch_game(Operator):  # type: ignore[misc]
    """Wait for the end of the game that was started, and say what it says; Esc ends it."""

    bl_idname = "idtech.watch_game"
    bl_label = "Watch Game"
    bl_description = "Wait for the end of the game that was started; Esc ends it"
    bl_options: Any = {"INTERNAL"}

    _timer: Any = None

    def invoke(self, context: Context, event: Any) -> set[str]:
        """Look at the game from time to time."""
        from ..tasks.trial import current

        running = current()
        if running is None:
            return CANCELLED
        manager: Any = context.window_manager
        self._timer = manager.event_timer_add(LOOK, window=context.window)
        manager.modal_handler_add(self)
        context.workspace.status_text_set(f"{running.label} is shown in the game. Esc: end it")
        return RUNNING

    def modal(self, context: Context, event: Any) -> set[str]:
        """End the game on Esc; say what came of one that has ended. All else goes on as ever."""
        from ..tasks.trial import current, take

        running = current()
        if running is not None and not running.is_over() and (event.type, event.value) != ("ESC", "PRESS"):
            return PASSED
        self._unwatch(context)
        if take() is None or running is None:
            return CANCELLED
        report_done(self, [("", running.finish())])
        return FINISHED

    def cancel(self, context: Context) -> None:
        """End the game where Blender ends, or opens another .blend."""
        from ..tasks.trial import forget

        self._unwatch(context)
        forget()

    def _unwatch(self, context: Context) -> None:
        if self._timer is not None:
            context.window_manager.event_timer_remove(self._timer)
            self._timer = None
        if context.workspace is not None:
            context.workspace.status_text_set(None)


CLASSES = (IDTECH_OT_try_in_game, IDTECH_OT_watch_game)


def unwatch() -> None:
    """End the game that runs, if one does: the extension goes."""
    import sys

    name = f"{__package__.rpartition('.')[0]}.tasks.trial"
    if name in sys.modules:
        sys.modules[name].forget()
