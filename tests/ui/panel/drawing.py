"""What a panel draws, without a window: a layout that notes what it is asked for."""

from __future__ import annotations

from types import SimpleNamespace
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
