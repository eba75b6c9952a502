"""What panels and dialogs draw, without a window: a layout that notes what it is asked for."""

from __future__ import annotations

from inspect import isfunction
from types import MethodType, SimpleNamespace
from typing import Any

from io_idtech_models.ui import registration
from tests.ui.scene import bpy


class Layout:
    """Notes all that is drawn, its own parts' with it: (what, the words or names)."""

    def __init__(self, drawn: list[tuple[str, str]] | None = None, width: int = 400):
        self.drawn: list[tuple[str, str]] = [] if drawn is None else drawn
        self.width = width

    def __getattr__(self, name: str) -> Any:
        if name in {"row", "column", "split", "box", "column_flow", "grid_flow"}:
            return lambda *_, **__: Layout(self.drawn, self.width)
        if name == "panel":
            return lambda *_: (Layout(self.drawn, self.width), Layout(self.drawn, self.width))
        return lambda *args, **options: self._note(name, args, options)

    def _note(self, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        words = options.get("text") or next((str(arg) for arg in reversed(args) if isinstance(arg, str)), "")
        self.drawn.append((name, words))
        if name == "template_list":
            self._draw_list(*args[:1], *args[2:6])
        return SimpleNamespace()

    def _draw_list(self, name: str, data: Any, items: str, active: Any, _place: str) -> None:
        """Draw the items that a list shows, as far as it says so itself."""
        (kind,) = (cls for cls in registration._classes if cls.__name__ == name)
        asked = Dialog(kind, {"filter_name": "", "use_filter_sort_alpha": False, "bitflag_filter_item": 1 << 30})
        context = Window(self.width)
        shown = asked.filter_items(context, data, items)[0] if hasattr(kind, "filter_items") else []
        for nth, item in enumerate(getattr(data, items)):
            if not shown or shown[nth]:
                asked.draw_item(context, Layout(self.drawn, self.width), data, item, 0, active)


def drawn(panel: Any) -> list[tuple[str, str]]:
    """Return what a panel shows in the present context."""
    layout = Layout()
    panel.draw(SimpleNamespace(layout=layout), bpy.context)
    return layout.drawn


def texts(panel: Any) -> list[str]:
    """Return the words that a panel shows."""
    return [words for _, words in drawn(panel)]


def shows(panel: Any) -> bool:
    """Tell whether a panel shows at all."""
    return bool(panel.poll(bpy.context))


class Window:
    """The present context as if it were a window's: the region in which things are drawn is wide, or narrow."""

    def __init__(self, width: int):
        self.region = SimpleNamespace(width=width)

    def __getattr__(self, name: str) -> Any:
        return getattr(bpy.context, name)


class Dialog:
    """Stands for an operator that Blender has called, whose options have no values."""

    def __init__(self, operator: Any, values: dict[str, Any], width: int = 400):
        self.operator, self.layout = operator, Layout(width=width)
        names = {name for base in operator.__mro__ for name in vars(base).get("__annotations__", {})}
        vars(self).update({name: None for name in names if not hasattr(operator, name)} | values)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.operator, name)
        return MethodType(found, self) if isfunction(found) else found


def asked(operator: Any, **values: Any) -> set[str]:
    """Return the options that an operator's dialog shows in the present context."""
    dialog = Dialog(operator, values)
    dialog.draw(bpy.context)
    return {name for what, name in dialog.layout.drawn if what == "prop"}


def draw_all(width: int = 400) -> None:
    """Draw every panel, menu and entry of the extension that shows in the present context, and ask each operator."""
    context = Window(width)
    for kind in registration._classes:
        cls: Any = kind
        may = cls.poll(context) if hasattr(cls, "poll") else True
        if issubclass(cls, bpy.types.Panel | bpy.types.Menu) and may:
            for draw in (getattr(cls, name, None) for name in ("draw_header", "draw")):
                if draw is not None:
                    draw(Dialog(cls, {}, width), context)
    for _, draw in registration._menus():
        draw(SimpleNamespace(layout=Layout()), context)
