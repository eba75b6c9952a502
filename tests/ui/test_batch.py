"""Many files that come one by one: what the window's events make of them."""

from types import SimpleNamespace
from typing import Any

import pytest

from io_idtech_models.ui.import_ import batch
from io_idtech_models.ui.reports import listening
from tests.samples import put
from tests.ui.scene import bpy

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
    call, options = bpy.ops.import_scene.idtech_md3, {"scale": 2.0}
    calls = [(call, str(tmp_path / name), options) for name in NAMES]
    monkeypatch.setattr(batch, "QUICK", 0.0)
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


def test_quick_ones_come_several_at_once(window, monkeypatch):
    monkeypatch.setattr(batch, "QUICK", 60.0)
    with listening() as (done, failed):
        assert window.run("TIMER", "TIMER", "TIMER")[-1] == batch.FINISHED
    assert window.shown[:3] == [(0, 5), 1, 3]
    assert (len(done), len(failed)) == (4, 1)


def test_formats_and_options_stay_apart(tmp_path, monkeypatch):
    first, second = {"scale": 1.0}, {"scale": 2.0}
    md3, md2 = bpy.ops.import_scene.idtech_md3, bpy.ops.import_scene.idtech_md2
    put(tmp_path / "a.md3"), put(tmp_path / "b.md2")
    calls = [(md3, str(tmp_path / "a.md3"), first), (md2, str(tmp_path / "b.md2"), first)]
    calls += [(md2, str(tmp_path / "b.md2"), second)]
    waiting = batch.Batch(calls, False, at_once=9)
    monkeypatch.setattr(batch, "QUICK", 60.0)
    counts = []
    while not waiting.is_over:
        waiting.bring_next(bpy.context)
        counts.append(waiting.brought)
    assert counts == [1, 2, 3]


@pytest.mark.parametrize(("interactive", "count", "many"), [(True, 4, False), (False, 4, False), (True, 3, False)])
def test_without_a_window_they_come_at_once(interactive, count, many):
    assert batch.is_worth_it(SimpleNamespace(interactive=interactive), count) == many
