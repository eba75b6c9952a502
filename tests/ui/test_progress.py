"""What is seen of work that takes long."""

from types import SimpleNamespace
from typing import Any

import pytest

from io_idtech_models.reporting import advance
from io_idtech_models.ui import reports
from tests.ui.scene import add_cube, bpy, export_model

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture
def clock(monkeypatch):
    """Let time pass a quarter of a second whenever someone asks."""
    now = [0.0]

    def tick():
        now[0] += 0.25
        return now[0]

    monkeypatch.setattr(reports, "time", SimpleNamespace(monotonic=tick))


def moving_cube():
    block = add_cube()
    for frame, place in ((0, 0.0), (19, 9.0)):
        block.location.x = place
        block.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 0, 19


def test_without_a_window_the_console_shows_it(tmp_path, capfd, clock):
    moving_cube()
    export_model(tmp_path / "a.md3")
    said = [line for line in capfd.readouterr().out.splitlines() if line.endswith(" %")]
    assert said == [f"a.md3: {percent} %" for percent in (5, 45, 85)]


def test_what_is_done_at_once_shows_nothing(tmp_path, capfd):
    moving_cube()
    export_model(tmp_path / "a.md3")
    assert " %\n" not in capfd.readouterr().out


def test_in_a_window_the_mouse_shows_it(monkeypatch, clock):
    shown: list[Any] = []
    manager = SimpleNamespace(
        progress_begin=lambda first, last: shown.append((first, last)),
        progress_update=shown.append,
        progress_end=lambda: shown.append("end"),
    )
    monkeypatch.setattr(reports, "bpy", SimpleNamespace(app=SimpleNamespace(background=False)))
    with (
        pytest.raises(ValueError, match="stop"),
        reports.showing_progress(SimpleNamespace(window_manager=manager), "a"),
    ):
        for done in range(4):
            advance(done, 4)
        raise ValueError("stop")
    advance(3, 4)  # nobody watches any more
    assert shown == [(0, 100), 25, 50, 75, "end"]
