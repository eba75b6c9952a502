"""How many frames an action is written with: where its keys are, unless someone set a range by hand."""

from __future__ import annotations

from typing import Any

import bpy as blender
import numpy as np
import pytest

from io_idtech_models.blender import compat, spans
from io_idtech_models.blender.compat import HAS_SLOTS, play, slot_curves
from io_idtech_models.blender.leaders import alone
from io_idtech_models.blender.skeletal import gather_motion as motion
from io_idtech_models.blender.skeletal.rig_scene import SkeletalGatherSettings, rig_scene
from io_idtech_models.model.clips import numbered
from tests import samples_md5
from tests.blender.case import CONTEXT
from tests.blender.skeletal.mdm_case import open_figure
from tests.blender.skeletal.rigged import Rigged, curves_of, open_rig
from tests.blender.vertex.clips.animated import NAMES, action, frame_names, open_animated
from tests.ui.scene import editing

bpy: Any = blender  # the stubs make each object's data a union
pytestmark = pytest.mark.usefixtures("empty_scene")


def still_at_the_end() -> bytes:
    """Return an animation whose last frames all show one pose."""
    spec = samples_md5.wave_spec(12)
    spec.frames = [*spec.frames[:7], *[spec.frames[7]] * 5]
    spec.bounds = [*spec.bounds[:7], *[spec.bounds[7]] * 5]
    return spec.pack()


@pytest.fixture(params=["md5anim", "mdx"])
def rigged(request) -> tuple[Rigged, str]:
    """Return an armature with an animation, and that one's name."""
    if request.param == "md5anim":
        return open_rig(samples_md5.arm(), {"wave": samples_md5.wave_spec(12).pack()}), "wave"
    return open_figure(bind=0), "walk"


def key(case: Rigged, name: str, frame: int) -> None:
    """Turn the first bone and key it, as a user does in the viewport."""
    play(case.rig, case.action(name))
    CONTEXT.scene.frame_set(frame)
    bone = case.rig.pose.bones[0]
    bone.rotation_quaternion.x += 0.125
    bone.keyframe_insert("rotation_quaternion", frame=frame)


def stretched(case: Rigged, name: str, factor: float = 2.0, shift: float = 0.0) -> None:
    for curve in curves_of(case.action(name)):
        for point in curve.keyframe_points:
            point.co[0] = point.co[0] * factor + shift
        curve.update()


def cut_behind(case: Rigged, name: str, frame: int) -> None:
    """Delete the keys behind a frame."""
    for curve in curves_of(case.action(name)):
        for point in reversed([p for p in curve.keyframe_points if p.co[0] > frame]):
            curve.keyframe_points.remove(point)
        curve.update()


def count(case: Rigged, name: str) -> int:
    """Return how many frames the file would have, both ways."""
    found = {case.gather_motion(name, direct=direct).num_frames for direct in (True, False)}
    assert len(found) == 1
    return found.pop()


def test_unedited_nothing_is_said(rigged, caplog):
    case, name = rigged
    assert case.moved(name) == set()
    assert "is written from frame" not in caplog.text


# What is done to keys of an action of so many frames, and from which frame to which it is written then.
EDITS: dict[str, tuple[Any, Any]] = {
    "a key behind the end": (lambda case, name, total: key(case, name, total + 19), lambda total: (0, total + 19)),
    "a key before the beginning": (lambda case, name, total: key(case, name, -3), lambda total: (-3, total - 1)),
    "all at twice their time": (lambda case, name, total: stretched(case, name), lambda total: (0, 2 * total - 2)),
    "those at the end deleted": (
        lambda case, name, total: cut_behind(case, name, total - 3),
        lambda total: (0, total - 3),
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_action_is_as_long_as_its_keys_and_that_is_said(rigged, caplog, edit):
    case, name = rigged
    before, (change, wanted) = count(case, name), EDITS[edit]
    change(case, name, before)
    first, last = wanted(before)
    assert count(case, name) == last - first + 1
    said = f"is written from frame {first} to {last}, where its keys are: import made it 0 to {before - 1}"
    assert said in caplog.text


@pytest.mark.parametrize("shift", [100.0, 1.0, -1.0])
def test_all_keys_moved_along(rigged, shift):
    """Also by so little that a frame beside them shows what the file's frame of its number did."""
    case, name = rigged
    stretched(case, name, 1.0, shift)
    assert case.moved(name) == set()


def test_frames_that_are_held_stay_though_keys_came_behind_the_end():
    """More keys than the file had are no keys that were moved."""
    spec = samples_md5.wave_spec(12)
    spec.frames = [*[spec.frames[3]] * 4, *spec.frames[4:]]
    spec.bounds = [*[spec.bounds[3]] * 4, *spec.bounds[4:]]
    case = open_rig(samples_md5.arm(), {"wave": spec.pack()})
    for curve in curves_of(case.action("wave")):
        for point in reversed([p for p in curve.keyframe_points if p.co[0] < 3]):
            curve.keyframe_points.remove(point)
        curve.update()
    assert count(case, "wave") == 12
    key(case, "wave", 15)
    assert count(case, "wave") == 16


def test_a_range_set_by_hand_is_obeyed(rigged, caplog):
    case, name = rigged
    key(case, name, 40)
    own = case.action(name)
    own.frame_start, own.frame_end = 2, 4
    assert count(case, name) == 3
    own.frame_start, own.frame_end = 0, 60
    assert count(case, name) == 61
    assert "is written from frame" not in caplog.text
    own.use_frame_range = False
    assert count(case, name) == 41


def test_an_action_of_an_older_file_has_no_note(rigged):
    case, name = rigged
    before = count(case, name)
    del case.action(name)[spans.IMPORTED]
    key(case, name, before + 4)
    assert count(case, name) == before + 5


@pytest.mark.parametrize("odd", ["text", [1.0], b"\0\1", 7])
def test_a_note_that_is_none(odd):
    case = open_rig(samples_md5.arm(), {"wave": samples_md5.wave_spec(12).pack()})
    case.action("wave").pop(spans.IMPORTED)
    case.action("wave")[spans.IMPORTED] = odd
    assert count(case, "wave") == 12


def test_frames_that_hold_still_at_the_end_stay():
    """Their keys say nothing: whoever cleans curves takes them away."""
    case = open_rig(samples_md5.arm(), {"wave": still_at_the_end()})
    cut_behind(case, "wave", 7)
    assert count(case, "wave") == 12
    assert case.moved("wave") == set()
    cut_behind(case, "wave", 6)
    assert count(case, "wave") == 7, "frame 6 is not what the file holds still at"


def test_they_stay_where_bones_show_otherwise_what_their_keys_say():
    """A bone that was rolled is in other poses than the file's: its keys are import's all the same."""
    case = open_rig(samples_md5.arm(), {"wave": still_at_the_end()})
    cut_behind(case, "wave", 7)
    with editing(case.rig) as bones:
        bones[1].roll += 0.5
    assert count(case, "wave") == 12
    cut_behind(case, "wave", 6)
    assert count(case, "wave") == 7


@pytest.mark.skipif(not HAS_SLOTS, reason="actions had no slots")
def test_another_slot_of_the_action_does_not_count():
    case = open_rig(samples_md5.arm())
    rig = case.rig
    made = bpy.data.actions.new("two")
    for name, last in (("other", 40), (rig.name, 10)):
        slot = made.slots.new("OBJECT", name)
        curve = slot_curves(made, slot).new(f'pose.bones["{rig.pose.bones[0].name}"].location', index=0)
        for frame in (0, last):
            curve.keyframe_points.insert(frame, frame / 10)
    rig.animation_data_create()
    rig.animation_data.action, rig.animation_data.action_slot = made, made.slots[f"OB{rig.name}"]
    export = rig_scene(CONTEXT.scene, CONTEXT.view_layer, SkeletalGatherSettings(), rig)
    found = motion.gather_action(export, alone(rig, made, rig.animation_data.action_slot))
    assert found.num_frames == 11


# -- actions of shape keys


def last_key(own: Any) -> Any:
    ((_, _, (curve,)),) = compat.action_parts(own)
    return curve.keyframe_points[-1]


def test_an_action_of_keys_made_longer_and_shorter(caplog):
    """Also one of an older file, which has no note."""
    case = open_animated()
    last_key(action("run")).co.x = 8
    assert frame_names(case.after(frames="ACTIONS", actions="run")) == numbered("run", 9)
    assert "'run' is written from frame 0 to 8, where its keys are: import made it 0 to 4" in caplog.text
    del action("run")[spans.IMPORTED]
    assert frame_names(case.after(frames="ACTIONS", actions="run")) == numbered("run", 9)
    case = open_animated()
    last_key(action("run.001")).co = (2, 17)
    assert frame_names(case.after(frames="ACTIONS", actions="run")) == NAMES[15:18]


def test_an_action_of_ones_own_has_no_note():
    case = open_animated()
    copy = action("run").copy()
    copy.name = "mine"
    del copy[spans.IMPORTED]
    copy.frame_end = 3
    after = case.after(frames="ACTIONS", actions="mine")
    assert len(after.frames) == 4
    assert np.array_equal(after.surfaces[0].vertices["xyz"], case.before.surfaces[0].vertices["xyz"][15:19])
