"""Animations of a player by name: rows that are edited, and frames that are inserted and deleted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from io_idtech_models.blender.player import rows
from io_idtech_models.game.player.animation_cfg import read
from io_idtech_models.tasks.player.play import num_frames
from tests.samples import PROJECT, put
from tests.samples_player import LOWER_FRAMES, NAME, UPPER_FRAMES, player_files
from tests.ui.player.players import (
    actions_of,
    active_player,
    brought,
    game,
    insert_frame,
    mesh_of,
    model,
    originals,
    saved,
    tag_of,
    unequal,
)
from tests.ui.scene import activate, add_cube, bpy, error_of, import_frames, stored

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
frame_curve: Callable[[Any], Any] = rows.frame_curve


def test_rows_show_their_frames_at_their_own_speed(own):
    scene = bpy.context.scene
    scene.render.fps = 30
    table = read(player_files()["animation.cfg"])
    actions = actions_of(own)
    assert set(actions) == {row.name for row in table.rows}
    for part in ("lower", "upper"):
        for row in table.of_part(part):
            curve, step = frame_curve(actions[row.name]), 24 / row.rate
            shown = [curve.evaluate(nth * step + 1e-3) for nth in range(len(row.frames))]
            np.testing.assert_allclose(shown, row.frames, atol=2e-3)
            again = curve.evaluate((len(row.frames) + 0.001) * step)
            wanted = row.frames[len(row.frames) - row.repeats] if row.repeats > 1 else row.frames[-1]
            assert abs(again - wanted) < 5e-3, row


ROW_EDITS = {
    "fps": (lambda a: a.__setitem__("idtech_fps", 30.0), (b"45 6 6 24 ", b"45 6 6 30 ")),
    "loop": (lambda a: a.__setitem__("idtech_loop", 0), (b"45 6 6 24 ", b"45 6 0 24 ")),
    "cycle": (lambda a: setattr(a, "use_cyclic", False), (b"45 6 6 24 ", b"45 6 0 24 ")),
    "repeats": (lambda a: frame_curve(a).modifiers.remove(frame_curve(a).modifiers[0]), (b"45 6 6 24 ", b"45 6 0 24 ")),
    "muted": (lambda a: setattr(frame_curve(a).modifiers[0], "mute", True), (b"45 6 6 24 ", b"45 6 0 24 ")),
    "range": (lambda a: setattr(a, "frame_end", 4), (b"45 6 6 24 ", b"45 4 4 24 ")),
    "start": (lambda a: setattr(a, "frame_start", 2), (b"45 6 6 24 ", b"47 4 4 24 ")),
    "keys": (lambda a: shift(a, 0, 2), (b"45 6 6 24 ", b"47 6 6 24 ")),
    "later": (lambda a: shift(a, 4, 0), (b"45 6 6 24 ", b"41 10 6 24 ")),  # what comes before goes on from there
    "slope": (lambda a: stretch(a, 2), (b"45 6 6 24 ", b"45 6 6 12 ")),
}


def shift(action: Any, frames: float, values: float) -> None:
    for key in frame_curve(action).keyframe_points:
        key.co = key.co.x + frames, key.co.y + values


def stretch(action: Any, factor: float) -> None:
    for key in frame_curve(action).keyframe_points:
        key.co.x *= factor


@pytest.mark.parametrize("edit", ROW_EDITS)
def test_an_edited_row_changes_its_numbers_alone(tmp_path, edit):
    player = brought(game(tmp_path), frame_rate=24)
    change, (old, new) = ROW_EDITS[edit]
    change(actions_of(player)["LEGS_RUN"])
    after = saved(tmp_path)
    wanted = originals() | {"animation.cfg": originals()["animation.cfg"].replace(old, new)}
    assert after["animation.cfg"] == wanted["animation.cfg"]
    assert after == wanted


def test_a_row_whose_number_was_changed_plays_as_fast_when_it_is_played(tmp_path):
    player = brought(game(tmp_path), frame_rate=30)
    action = actions_of(player)["LEGS_RUN"]
    assert bpy.ops.object.idtech_play(legs="LEGS_RUN") == {"FINISHED"}
    before = action.frame_end
    action["idtech_fps"] = 2 * action["idtech_fps"]
    assert bpy.ops.object.idtech_play(legs="LEGS_RUN") == {"FINISHED"}
    assert action.frame_end == before / 2
    found = saved(tmp_path)["animation.cfg"]
    assert bpy.ops.object.idtech_play(legs="LEGS_WALK") == {"FINISHED"}
    action["idtech_fps"] = action["idtech_fps"] / 2
    assert bpy.ops.object.idtech_play(legs="LEGS_RUN") == {"FINISHED"}
    assert action.frame_end == before
    assert saved(tmp_path)["animation.cfg"] == originals()["animation.cfg"] != found


@pytest.mark.parametrize("by_hand", [False, True], ids=["keys", "range"])
def test_an_edited_row_plays_as_the_game_does(tmp_path, by_hand):
    """At each rate of the scene, and to its end."""
    player, scene = brought(game(tmp_path), frame_rate=24), bpy.context.scene
    action = actions_of(player)["TORSO_GESTURE"]
    stretch(action, 2)
    if by_hand:
        action.frame_end = frame_curve(action).range()[1]
    table = saved(tmp_path)["animation.cfg"]
    assert table != originals()["animation.cfg"]
    before = float(frame_curve(action).range()[1])
    for rate, fps in ((24, 24), (48, 48), (30, 30), (24, 24)):
        scene.render.fps = fps
        assert bpy.ops.object.idtech_play(legs="LEGS_IDLE", torso="TORSO_GESTURE") == {"FINISHED"}
        assert frame_curve(action).range()[1] == pytest.approx(before * rate / 24, abs=0.01)
        assert action.frame_end == pytest.approx(before * rate / 24, abs=0.01)
        assert scene.frame_end >= int(before * rate / 24)
        assert saved(tmp_path)["animation.cfg"] == table


@pytest.mark.parametrize(
    ("change", "row"),
    [({"loop": 99}, b"45 6 6 24 "), ({"loop": -3}, b"45 6 0 24 "), ({"fps": -5.0}, b"45 6 6 0 ")],
)
def test_numbers_that_no_game_plays_are_said(tmp_path, capfd, change, row):
    """And written as Blender plays them."""
    player = brought(game(tmp_path), frame_rate=24)
    action = actions_of(player)["LEGS_RUN"]
    for name, value in change.items():
        action[f"idtech_{name}"] = value
    capfd.readouterr()
    assert saved(tmp_path)["animation.cfg"] == originals()["animation.cfg"].replace(b"45 6 6 24 ", row)
    assert "'LEGS_RUN' can't repeat" in capfd.readouterr().out


def test_a_row_that_is_made_to_repeat_does_so(tmp_path):
    player = brought(game(tmp_path), frame_rate=24)
    frame_curve(actions_of(player)["LEGS_JUMP"]).modifiers.new("CYCLES")
    wanted = originals()["animation.cfg"].replace(b"59 2 0 15", b"59 2 2 15")
    assert saved(tmp_path)["animation.cfg"] == wanted


@pytest.mark.parametrize("change", [{"mode_after": "MIRROR"}, {"cycles_after": 2}])
def test_a_row_that_repeats_as_no_table_says_is_named(tmp_path, capfd, change):
    player = brought(game(tmp_path), frame_rate=24)
    cycles = frame_curve(actions_of(player)["LEGS_RUN"]).modifiers[0]
    for name, value in change.items():
        setattr(cycles, name, value)
    assert saved(tmp_path)["animation.cfg"] == originals()["animation.cfg"]
    assert "'LEGS_RUN' repeats otherwise than a table can say" in capfd.readouterr().out


KEYS = {  # of LEGS_RUN, 14 to 19 in the part: whether a table can say them
    "eased": ([(0, 14), (5, 19)], "BEZIER", True),
    "stepped": ([(0, 14), (1, 15), (2, 16), (3, 14)], "CONSTANT", True),
    "held": ([(0, 14), (2, 16), (8, 16), (11, 19), (12, 14)], "LINEAR", False),
    "stepped and held": ([(0, 14), (2, 16), (4, 18)], "CONSTANT", False),
    "there and back": ([(0, 14), (3, 17), (6, 14)], "LINEAR", False),
    "slower at the end": ([(0, 14), (2, 18), (6, 19)], "LINEAR", False),
}


@pytest.mark.parametrize("keys", KEYS)
def test_what_a_table_does_not_say_of_a_row_is_said(tmp_path, capfd, keys):
    player = brought(game(tmp_path), frame_rate=24)
    curve = frame_curve(actions_of(player)["LEGS_RUN"])
    points, interpolation, even = KEYS[keys]
    curve.keyframe_points.clear()
    for place in points:
        curve.keyframe_points.insert(*place).interpolation = interpolation
    capfd.readouterr()
    saved(tmp_path)
    assert ("'LEGS_RUN' shows frames unevenly" in capfd.readouterr().out) != even


@pytest.mark.parametrize("interpolation", ["LINEAR", "BEZIER", "CONSTANT"])
def test_keys_that_are_eased_or_stepped_by_hand_are_uneven(tmp_path, capfd, interpolation):
    player = brought(game(tmp_path))
    curve = frame_curve(actions_of(player)["TORSO_GESTURE"])
    assert len(curve.keyframe_points) == 2
    first, last = curve.keyframe_points
    for point in (first, last):
        point.interpolation = interpolation
        point.handle_left_type = point.handle_right_type = "FREE"
    first.handle_right = last.handle_left = (last.co.x, first.co.y)
    capfd.readouterr()
    assert saved(tmp_path)["animation.cfg"] == player_files()["animation.cfg"]
    assert ("'TORSO_GESTURE' shows frames unevenly" in capfd.readouterr().out) == (interpolation != "LINEAR")


@pytest.mark.parametrize("plays", ["no", "plays", "is kept in a track", "unedited"])
def test_a_copy_of_a_row_that_plays_is_named(tmp_path, capfd, plays):
    """Or that did, and is kept since another row was clicked."""
    player = brought(game(tmp_path))
    action = actions_of(player)["LEGS_RUN"].copy()
    for point in frame_curve(action).keyframe_points if plays != "unedited" else ():
        point.co.x *= 2
    if plays != "no":
        player.parts["lower"].animation_data.action = action
    if plays not in {"no", "plays"}:
        assert bpy.ops.object.idtech_play(legs="LEGS_IDLE") == {"FINISHED"}
    capfd.readouterr()
    assert saved(tmp_path)["animation.cfg"] == player_files()["animation.cfg"]
    said, out = f"'LEGS_RUN.001' {plays}, but 'LEGS_RUN' is the row (delete or rename that one)", capfd.readouterr().out
    assert said in out if plays not in {"no", "unedited"} else "is the row" not in out


@pytest.mark.parametrize("edit", ["fps", "cyclic"])
def test_a_copy_of_a_row_with_other_numbers_is_kept(tmp_path, edit):
    player = brought(game(tmp_path))
    action = actions_of(player)["LEGS_RUN"].copy()
    player.parts["lower"].animation_data.action = action
    if edit == "fps":
        action["idtech_fps"] = 40.0
    else:
        action.use_cyclic = not action.use_cyclic
    assert bpy.ops.object.idtech_play(legs="LEGS_IDLE") == {"FINISHED"}
    assert action.users


def test_a_row_that_repeats_and_is_cut_short_by_its_range_is_even(tmp_path, capfd):
    player = brought(game(tmp_path), frame_rate=24)
    action = actions_of(player)["LEGS_RUN"]
    action.frame_end = (action.frame_end - action.frame_start) / 2
    found = saved(tmp_path)
    assert "shows frames unevenly" not in capfd.readouterr().out
    assert found["animation.cfg"] != player_files()["animation.cfg"]


FRAME_EDITS = {  # part, scene's frame: rows before and after, and which models get one more frame
    "legs": ("lower", 16, [(b"45 6 6 24 ", b"45 7 7 24 "), (b"51 -4", b"52 -4"), (b"67 3 3", b"68 3 3")], ["lower"]),
    "torso": ("upper", 10, [(b"9  6  0", b"9  7  0"), (b"15 6 0 15 // TORSO", b"16 6 0 15 // TORSO")], ["upper"]),
    "both": (
        "lower", 1, [(b"0\t2\t0", b"0\t3\t0"), (b"1\t1\t0", b"2\t1\t0"), (b"\n6\t3", b"\n7\t3")], ["lower", "upper"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FRAME_EDITS)
def test_frames_inserted_move_what_follows(tmp_path, case):
    part, frame, rows, parts = FRAME_EDITS[case]
    player = brought(game(tmp_path), levels=True)
    insert_frame(player.parts[part].children[0], frame)
    assert bpy.context.scene.frame_current == frame + 1, "the new frame is shown"
    after = saved(tmp_path)
    bpy.context.scene.frame_set(99)
    last = {kind: UPPER_FRAMES if kind == "upper" else LOWER_FRAMES for kind in parts}
    assert {kind: player.parts[kind]["frame"] for kind in parts} == last, "all frames are shown, the new one with them"
    for old, new in rows:
        assert old not in after["animation.cfg"] or case == "both", old
        assert new in after["animation.cfg"], (new, after["animation.cfg"].decode())
    for kind in ("lower", "upper", "lower_1"):
        old_model, new_model = model(originals()[f"{kind}.md3"]), model(after[f"{kind}.md3"])
        more = kind.partition("_")[0] in parts
        order = list(range(len(old_model.frame_names)))
        if more:
            order.insert(frame + 1, frame)
        assert new_model.num_frames == len(order)
        for old, new in zip(old_model.surfaces, new_model.surfaces, strict=True):
            assert np.array_equal(old.positions[order], new.positions), kind
        for old, new in zip(old_model.tags, new_model.tags, strict=True):
            np.testing.assert_allclose(old.origins[order], new.origins, atol=1e-5)
    if case == "both":
        assert b"\n37 4 4" not in after["animation.cfg"]
    bpy.context.scene.frame_set(frame + 1)
    assert bpy.ops.object.idtech_delete_frame() == {"FINISHED"}
    assert bpy.context.scene.frame_current == frame + 1, "the one behind it is shown"
    assert unequal(tmp_path) == []


@pytest.mark.parametrize("rate", [24, 60])
def test_rows_that_frames_only_shift_keep_all_other_numbers(tmp_path, rate):
    """One frame, none, no rate, loops of a part, of one frame and of more than there are, backwards."""
    odd = [b"35 1 0 5", b"36 0 0 0", b"34 1 3 7.50", b"30 4 4 12.5", b"33 -1 1 05"]
    names = [b"TORSO_GETFLAG", b"TORSO_GUARDBASE", b"TORSO_PATROL", b"TORSO_FOLLOWME", b"TORSO_AFFIRMATIVE"]
    table = player_files()["animation.cfg"]
    for row, name in zip(odd, names, strict=True):
        table = table.replace(b"35 2 0 15 // " + name, row + b" // " + name)
    player = brought(game(tmp_path, animation_cfg=table), frame_rate=rate)
    insert_frame(player.parts["upper"].children[0], 8)  # the last of TORSO_GESTURE
    before, after = (table.splitlines(), saved(tmp_path)["animation.cfg"].splitlines())
    assert len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        words, now = old.split(), new.split()
        if b"TORSO_" not in old or b"TORSO_GESTURE" in old:
            assert now == ([b"6", b"4", *words[2:]] if b"TORSO_GESTURE" in old else words)
        else:
            assert now == [str(int(words[0]) + 1).encode(), *words[1:]], old
    bpy.context.scene.frame_set(8)
    assert bpy.ops.object.idtech_delete_frame() == {"FINISHED"}
    assert saved(tmp_path)["animation.cfg"] == table


@pytest.mark.parametrize("edit", ["insert", "delete"])
def test_levels_that_are_away_are_no_other_than_shown(tmp_path, capfd, edit):
    player = brought(PROJECT / "examples/tock/baseq3/models/players/tock/lower.md3")
    activate(mesh_of(player, "lower"))
    bpy.context.scene.frame_set(20)
    assert getattr(bpy.ops.object, f"idtech_{edit}_frame")() == {"FINISHED"}
    after = saved(tmp_path)
    assert "off what Blender shows" not in capfd.readouterr().out
    counts = [model(after[name]).num_frames for name in ("lower.md3", "lower_1.md3")]
    assert counts == [57 if edit == "insert" else 55] * 2


@pytest.mark.parametrize("part", ["lower", "upper"])
def test_a_frame_before_legs_and_torso_begin_goes_into_both(tmp_path, part):
    """Frame 5 is no row's."""
    table = player_files()["animation.cfg"].replace(b"4\t2\t0", b"4\t1\t0").replace(b"5\t1\t0", b"4\t1\t0")
    player = brought(game(tmp_path, animation_cfg=table))
    insert_frame(player.parts[part].children[0], 5)
    after = saved(tmp_path)
    counts = [model(after[f"{each}.md3"]).num_frames for each in ("lower", "upper")]
    assert counts == [LOWER_FRAMES + 1, UPPER_FRAMES + 1]
    assert b"\n7\t3\t0" in after["animation.cfg"] and b"\n38 4 4" in after["animation.cfg"]


def test_behind_the_last_frame_that_is_deleted_the_one_before_it_shows(tmp_path):
    """The only frame of a part is not deleted."""
    player = brought(game(tmp_path))
    activate(player.parts["head"].children[0])
    assert "only frame can't be deleted" in error_of(bpy.ops.object.idtech_delete_frame)
    assert unequal(tmp_path) == []
    activate(player.parts["upper"].children[0])
    bpy.context.scene.frame_set(UPPER_FRAMES - 1)
    assert bpy.ops.object.idtech_delete_frame() == {"FINISHED"}
    assert bpy.context.scene.frame_current == UPPER_FRAMES - 2
    assert model(saved(tmp_path)["upper.md3"]).num_frames == UPPER_FRAMES - 1


def test_a_model_that_hangs_on_a_player_has_its_own_frames(own, tmp_path):
    mesh = import_frames(put(tmp_path / "a.md3"))
    for block in mesh.users_collection[0].objects:
        block.parent = tag_of(own.parts["upper"], "tag_weapon")
    insert_frame(mesh, 0)
    assert len(mesh.data.shape_keys.key_blocks) == 4
    activate(own.root)
    assert unequal(tmp_path) == []


def test_a_part_has_the_frames_of_its_surfaces_and_not_of_keys_of_ones_own(tmp_path):
    player = brought(game(tmp_path))
    root = player.parts["upper"]
    count = num_frames(root)
    own = add_cube("a mask")  # which comes first
    own.parent = root
    for name in ("Basis", "open"):
        own.shape_key_add(name=name)
    assert next(block for block in root.children if block.type == "MESH") == own
    assert num_frames(root) == count > 2
    activate(root)
    assert bpy.ops.object.idtech_play(legs="ALL", torso="ALL") == {"FINISHED"}
    bpy.context.scene.frame_set(count - 1)
    assert root["frame"] == count - 1
    assert bpy.ops.object.idtech_delete_frame() == {"FINISHED"}
    assert num_frames(root) == count - 1


def test_legs_and_torso_begin_at_the_same_number(tmp_path):
    """A frame that legs begin with alone is not deleted, and no table that is keyed otherwise is saved."""
    said = "games let both begin at the same number"
    table = player_files()["animation.cfg"].replace(b"37 4 4 20", b"37 1 0 20")
    player = brought(game(tmp_path, animation_cfg=table))
    activate(player.parts["lower"].children[0])
    bpy.context.scene.frame_set(6)
    assert said in error_of(bpy.ops.object.idtech_delete_frame)
    assert unequal(tmp_path, originals() | {"animation.cfg": table}) == []
    shift(actions_of(player)["LEGS_WALKCR"], 0, 1)
    assert said in error_of(bpy.ops.export_scene.idtech_player, filepath=str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_frames_of_a_player_that_is_an_override_are_not_changed(tmp_path):
    brought(game(tmp_path))
    source = stored(tmp_path)
    bpy.ops.wm.link(directory=f"{source}/Collection", filename=NAME, instance_collections=False)
    (linked,) = (c for c in bpy.data.collections if c.name == NAME)
    linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    activate(next(b for b in bpy.data.objects if b.override_library is not None and b.name == "l_legs"))
    for edit in (bpy.ops.object.idtech_insert_frame, bpy.ops.object.idtech_delete_frame):
        assert "linked from another .blend" in error_of(edit)
    assert unequal(tmp_path) == []


def test_inserted_frames_leave_what_was_edited_of_a_row(tmp_path):
    player = brought(game(tmp_path), frame_rate=24)
    actions = actions_of(player)
    stretch(actions["LEGS_RUN"], 2)
    actions["LEGS_WALK"]["idtech_fps"] = 40.0
    actions["LEGS_TURN"].use_cyclic = False
    actions["LEGS_IDLE"].frame_end += 24 / 7
    shift(actions["LEGS_LAND"], 0, -1)
    before = saved(tmp_path)["animation.cfg"]
    activate(player.parts["lower"].children[0])
    for frame, edit in ((8, bpy.ops.object.idtech_insert_frame), (8, bpy.ops.object.idtech_delete_frame)):
        bpy.context.scene.frame_set(frame)
        assert edit() == {"FINISHED"}
    assert saved(tmp_path)["animation.cfg"] == before
    for row in (b"45 6 6 12 ", b"41 4 4 40 ", b"67 3 0 15 ", b"63 3 3 7 ", b"60 1 0 15 // LEGS_LAND"):
        assert row in before, before.decode()


def test_a_new_action_takes_the_row_of_its_name(tmp_path):
    player = brought(game(tmp_path), frame_rate=24)
    old = actions_of(player)["TORSO_ATTACK"]
    old.name = "old attack"
    root = player.parts["upper"]
    root.animation_data.action = None
    for frame, value in ((1, 30), (13, 33)):
        root["frame"] = float(value)
        root.keyframe_insert('["frame"]', frame=frame)
    made = root.animation_data.action
    made.name = "TORSO_ATTACK"
    for key in frame_curve(made).keyframe_points:
        key.interpolation = "LINEAR"
    after = saved(tmp_path)["animation.cfg"]
    assert after == originals()["animation.cfg"].replace(b"9  6  0  15 ", b"30  4  0  6 ")


@pytest.mark.parametrize("name", ["TORSO_NEGATIVE", "TORSO_FLY"])
def test_a_new_action_that_stands_still_is_a_row_of_one_frame(tmp_path, capfd, name):
    """If games know such a row: else it is named."""
    lines = player_files()["animation.cfg"].splitlines(keepends=True)
    player = brought(game(tmp_path, animation_cfg=b"".join(lines[:-1])))
    root = player.parts["upper"]
    root.animation_data.action = None
    root["frame"] = 20.0
    root.keyframe_insert('["frame"]', frame=1)
    root.animation_data.action.name = name
    after = saved(tmp_path)["animation.cfg"].splitlines()
    if name == "TORSO_FLY":
        assert "actions left out of the table: TORSO_FLY (" in capfd.readouterr().out
        assert after == [line.rstrip() for line in lines[:-1]]
    else:
        assert after[-1].split()[:4] == [b"20", b"1", b"0", b"15"]
        activate(root.children[0])
        bpy.context.scene.frame_set(8)
        bpy.ops.object.idtech_play()
        assert bpy.ops.object.idtech_insert_frame() == {"FINISHED"}
        assert saved(tmp_path)["animation.cfg"].splitlines()[-1].split()[:4] == [b"21", b"1", b"0", b"15"]


# In the order of games, which is no alphabet: also rows that no game does without.
ADDED = {
    "TORSO_GETFLAG": (26, ["TORSO_GUARDBASE", "TORSO_PATROL", "TORSO_FOLLOWME"]),
    "LEGS_LANDB": (21, ["LEGS_LANDB", "LEGS_IDLE", "LEGS_IDLECR", "LEGS_TURN"]),
}


@pytest.mark.parametrize("gone", ADDED)
def test_actions_become_rows_that_were_missing(tmp_path, gone):
    lines = player_files()["animation.cfg"].splitlines(keepends=True)
    short = b"".join(lines[: next(nth for nth, line in enumerate(lines) if gone.encode() in line)])
    player = brought(game(tmp_path, animation_cfg=short), frame_rate=24)
    gesture = actions_of(player)["TORSO_GESTURE"]
    behind, added = ADDED[gone]
    for name in added:
        action = gesture.copy()
        for key in ("idtech_player", "idtech_row", "idtech_row_source", "idtech_given", "idtech_name"):
            del action[key]
        action.name = name
    after = read(saved(tmp_path)["animation.cfg"])
    assert [row.name for row in after.rows[behind:]] == added
    for name in added:
        row = after.by_name[name]
        first = row.first - after.skip(row, "lower" if "LEGS" in name else "upper")
        assert (first, row.count, row.loop, row.fps) == (6, 3, 0, 18)


def test_rows_beyond_the_frames_are_named(tmp_path, capfd):
    table = player_files()["animation.cfg"].replace(b"34 1 1 15", b"36 9 0 15")
    player = brought(game(tmp_path, animation_cfg=table))
    said = "rows go beyond the 37 frames of upper, games show frame 0: 'TORSO_STAND2'"
    assert said in capfd.readouterr().out
    curve = frame_curve(actions_of(player)["TORSO_STAND2"])
    assert [curve.evaluate(nth * 24 / 15 + 0.01) for nth in range(3)] == [36, 0, 0]
    assert saved(tmp_path)["animation.cfg"] == table
    assert said in capfd.readouterr().out


TABLES = {
    "lone CR": player_files()["animation.cfg"].replace(b"\r\n", b"\r"),
    "UTF-16": player_files()["animation.cfg"].decode().encode("utf-16"),
    "empty": b"",
}


@pytest.mark.parametrize("case", TABLES)
def test_a_table_that_cannot_be_read_is_kept_as_it_is(tmp_path, capfd, case):
    brought(game(tmp_path, animation_cfg=TABLES[case]))
    capfd.readouterr()
    assert unequal(tmp_path, originals() | {"animation.cfg": TABLES[case]}) == []
    assert "animation.cfg can't be read and is written as it was" in capfd.readouterr().out
    activate(active_player().parts["lower"].children[0])
    assert bpy.ops.object.idtech_insert_frame() == {"FINISHED"}
    assert "no animation.cfg that could be read" in error_of(bpy.ops.object.idtech_animation_add, name="LEGS_TURN")


NAMED = b"sex m\nLEGS_RUN 31 6 6 20\nTORSO_STAND 30 4 4 15 // stands\nBOTH_DEATH1 0 2 0 10\n"


def test_rows_with_names(tmp_path):
    player = brought(game(tmp_path, animation_cfg=NAMED), frame_rate=24)
    assert set(actions_of(player)) == {"LEGS_RUN", "TORSO_STAND", "BOTH_DEATH1"}
    assert unequal(tmp_path, originals() | {"animation.cfg": NAMED}) == []
    actions_of(player)["TORSO_STAND"]["idtech_fps"] = 7.5
    assert saved(tmp_path)["animation.cfg"] == NAMED.replace(b"30 4 4 15", b"30 4 4 7.5")
