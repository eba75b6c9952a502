"""A root for a model: see `blender.hanging`."""

from __future__ import annotations

from ..blender.compat import Context
from ..blender.window import mode_of
from ..reporting import ModelError
from .bases import CANCELLED, FINISHED, Operator, may
from .export.proposals import proposed_stem
from .import_.showing import select
from .translations import say


class OBJECT_OT_idtech_make_root(Operator):  # type: ignore[misc]
    """Hang a model on an empty of its own."""

    bl_idname = "object.idtech_make_root"
    bl_label = "Make Root"
    bl_description = "Hang this model on an empty: exports write it as that sees it, wherever it stands or is carried"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Offer it where an object is active."""
        lack = "" if mode_of(context) == "OBJECT" else say("Only in object mode")
        return may(cls, lack if context.view_layer.objects.active is not None else say("No object is active"))

    def execute(self, context: Context) -> set[str]:
        """Make it, and select it; what hinders it is reported."""
        from ..blender.hanging import make_root
        from ..blender.scene import objects_in
        from ..tasks.export.selection import choose

        active = context.view_layer.objects.active
        try:
            chosen = choose(context, "AUTO")
            chosen.keep_apart(context)
            home = chosen.collection
            if home is None or active not in objects_in(home):
                home = active.users_collection[0]
            root = make_root(f"{proposed_stem(chosen)} root", chosen.whole, home)
        except ModelError as error:
            self.report({"ERROR"}, str(error))
            return CANCELLED
        select(context, [root])
        self.report({"INFO"}, f"'{root.name}' carries the model now; exports write it as that sees it")
        return FINISHED


CLASSES = (OBJECT_OT_idtech_make_root,)
