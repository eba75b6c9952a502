"""Many files that come one by one: what the window's events make of them."""

from types import SimpleNamespace
from typing import Any

import pytest

from io_idtech_models.ui.imports import batch
from io_idtech_models.ui.reports import listening
from tests.ui.scene import bpy, put

pytestmark = pytest.mark.usefixtures("empty_scene")
NAMES = ["a.md3", "b.md3", "broken.md3", "c.md3", "d.md3"]


class Window:
    """The operator, whose `self` is this, and the context that it runs in."""

    def __init__(self):
        self.said: list[Any] = []
        self.shown: list[Any] = []
        self.text: list[Any] = []
        manager = SimpleNamespace(
            windows=[],
            event_timer_add=lambda pause, window: "timer",
            event_timer_remove=lambda timer: self.shown.append("no timer"),
            progress_begin=lambda first, last: self.shown.append((first, last)),
            progress_update=self.shown.append,
            progress_end=lambda: self.shown.append("end"),
            modal_handler_add=lambda operator: None,
        )
        workspace = SimpleNamespace(status_text_set=self.text.append)
        real: Any = bpy.context
        self.context: Any = SimpleNamespace(
            window_manager=manager, workspace=workspace, window=None, scene=real.scene, view_layer=real.view_layer
        )
        self.end = lambda context: batch.IMPORT_SCENE_OT_idtech_batch.end(self, context)  # type: ignore[arg-type]

    def report(self, kind, text):
        self.said.append((kind, text))

    def run(self, *events):
        operator: Any = batch.IMPORT_SCENE_OT_idtech_batch
        assert operator.invoke(self, self.context, None) == batch.RUNNING
        return [operator.modal(self, self.context, SimpleNamespace(type=event)) for event in events]


@pytest.fixture
def window(tmp_path, monkeypatch):
    for name in NAMES:
        put(tmp_path / name, b"nonsense" if name == "broken.md3" else "animated")
    calls = [(bpy.ops.import_scene.idtech_md3, str(tmp_path / name), {"scale": 2.0}) for name in NAMES]
    monkeypatch.setattr(batch, "_waiting", [batch.Batch(calls, False)])
    return Window()


def test_a_file_for_each_event(window):
    with listening() as (done, failed):
        results = window.run("TIMER", "MOUSEMOVE", "TIMER", "TIMER", "TIMER", "TIMER")
    assert results == [batch.RUNNING] * 5 + [batch.FINISHED]
    assert [name for name, _ in done] == ["a.md3", "b.md3", "c.md3", "d.md3"]
    assert len(failed) == 1
    assert failed[0].startswith("broken.md3: ")
    assert window.shown == [(0, 5), 1, 2, 3, 4, "end", "no timer"]
    assert window.text[0].startswith("1 / 5  ")
    assert window.text[-1] is None
    assert len(bpy.data.collections) == 4
    blocks = [block for home in bpy.data.collections for block in home.objects]
    assert all(block.select_get() for block in blocks)


def test_esc_ends_it_after_the_file_at_hand(window):
    with listening() as (done, _):
        assert window.run("TIMER", "TIMER", "ESC")[-1] == batch.FINISHED
    assert [name for name, _ in done] == ["a.md3", "b.md3"]
    assert ({"WARNING"}, "ended by Esc: 3 files not imported") in window.said
    assert window.shown[-2:] == ["end", "no timer"]


def test_esc_before_the_first(window):
    assert window.run("ESC") == [batch.CANCELLED]
    assert not bpy.data.collections


@pytest.mark.parametrize(("interactive", "count", "many"), [(True, 4, False), (False, 4, False), (True, 3, False)])
def test_without_a_window_they_come_at_once(interactive, count, many):
    assert batch.is_worth_it(SimpleNamespace(interactive=interactive), count) == many
