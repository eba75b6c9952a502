"""What panels and dialogs draw, without a window: a layout that notes what it is asked for."""

from __future__ import annotations

from inspect import isfunction
from types import MethodType, SimpleNamespace
from typing import Any

from tests.ui.scene import bpy


class Layout:
    """Notes all that is drawn, its own parts' with it: (what, the words or names)."""

    def __init__(self, drawn: list[tuple[str, str]] | None = None):
        self.drawn: list[tuple[str, str]] = [] if drawn is None else drawn

    def __getattr__(self, name: str) -> Any:
        if name in {"row", "column", "split", "box", "column_flow", "grid_flow"}:
            return lambda *_, **__: Layout(self.drawn)
        if name == "panel":
            return lambda *_: (Layout(self.drawn), Layout(self.drawn))
        return lambda *args, **options: self._note(name, args, options)

    def _note(self, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        words = options.get("text") or next((str(arg) for arg in reversed(args) if isinstance(arg, str)), "")
        self.drawn.append((name, words))
        return SimpleNamespace()


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


class Dialog:
    """Stands for an operator that Blender has called, whose options have no values."""

    def __init__(self, operator: Any, values: dict[str, Any]):
        self.operator, self.layout = operator, Layout()
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
