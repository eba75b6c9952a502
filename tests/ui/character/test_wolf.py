"""Import Character of Return to Castle Wolfenstein: body, head and gear, and the rows of its table in the list."""

from typing import Any

import numpy as np
import pytest

from io_idtech_models.blender import names
from io_idtech_models.blender.compat import action_parts, playing_curves
from io_idtech_models.blender.skeletal import runs
from io_idtech_models.formats import by_name
from io_idtech_models.tasks.animations.find import animations_of
from tests.packs import put_files, put_pack
from tests.samples import CORPUS
from tests.samples_wolf import FOLDER, TABLE, body, files, put_character
from tests.ui.character.games import changed, fresh, opened, place, remove, rig, roots, run, saved, tag
from tests.ui.scene import activate, add_cube, bpy, error_of

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
play: Any = bpy.ops.object.idtech_animation_play
REAL = sorted(CORPUS.rglob("wolfanim.cfg"))


def listed():
    holder: Any = animations_of(bpy.context)
    return holder, holder.rows()


def labels():
    return [row.label for row in listed()[1]]


def test_parts_hang_on_the_tags_that_the_game_knows(tmp_path, capfd):
    opened(put_character(tmp_path))
    said = capfd.readouterr().out
    assert all("1 texture not found" in text for text in said.split("; ")[1:])
    assert "3 animations, 4 parts on tags, skin default, 1.25 times as large, as the game shows it" in said
    assert {kind: names.file_name_of(root.parent) for kind, root in roots().items()} == {
        "head": "tag_head", "md3_beltr": "tag_bright", "md3_back": "tag_back", "md3_hat": "tag_mouth",
    }  # fmt: skip
    bpy.context.scene.frame_set(3)
    assert np.abs(place(roots()["head"]) - place(roots()["head"].parent)).max() < 1e-4


def test_rows_are_runs_of_the_bodys_own_frames(tmp_path):
    opened(put_character(tmp_path))
    holder, rows = listed()
    assert [(row.label, row.first, row.count) for row in rows] == [
        ("All Frames", 0, 6), ("idle", 0, 4), ("walk_1", 2, 3),
    ]  # fmt: skip
    assert holder.playing_row(rows).whole
    assert play(name="walk_1") == {"FINISHED"}
    scene = bpy.context.scene
    assert (scene.frame_start, scene.frame_end) == (2, 4)
    holder, rows = listed()
    assert holder.playing_row(rows).name == "walk_1"
    assert play(name="All Frames") == {"FINISHED"}
    assert (scene.frame_start, scene.frame_end) == (0, 5)


def test_a_lone_body_has_the_rows_of_the_table_beside_it(tmp_path, capfd):
    """They are not edited apart."""
    path = put_character(tmp_path)
    lone: Any = bpy.ops.import_scene.idtech_mds
    lone(filepath=str(path.parent / "body.mds"))
    activate(rig())
    assert labels() == ["All Frames", "idle", "walk_1"]
    play(name="walk_1")
    for what, options in (("remove", {}), ("duplicate", {}), ("rename", {"to": "run"})):
        operator = getattr(bpy.ops.object, f"idtech_animation_{what}")
        assert "its frames are among All Frames: edit them there" in error_of(operator, name="walk_1", **options)
    path.write_bytes(b"VERSION 2")
    capfd.readouterr()
    lone(filepath=str(path.parent / "body.mds"))
    assert "'wolfanim.cfg': no animation in it" in capfd.readouterr().out


def add_row():
    assert bpy.ops.object.idtech_animation_add(name="jump", first=1, last=3) == {"FINISHED"}


def rename_row():
    assert bpy.ops.object.idtech_animation_rename(name="walk_1", to="stroll") == {"FINISHED"}


def remove_row():
    assert bpy.ops.object.idtech_animation_remove(name="idle") == {"FINISHED"}


def remove_all_rows():
    remove_row()
    rename_row()
    assert bpy.ops.object.idtech_animation_remove(name="stroll") == {"FINISHED"}


def add_and_rename():
    add_row()
    assert bpy.ops.object.idtech_animation_rename(name="jump", to="leap") == {"FINISHED"}


def add_and_remove():
    add_row()
    assert bpy.ops.object.idtech_animation_remove(name="jump") == {"FINISHED"}


CFG, BODY = f"{FOLDER}/wolfanim.cfg", f"{FOLDER}/body.mds"
WALK = "walk_1\t2\t3\t3\t20\t-1\n"


@pytest.mark.parametrize(
    ("edit", "old", "new"),
    [
        (add_row, WALK, WALK + "jump\t1\t3\t0\t20\t0\n"),
        (rename_row, "walk_1", "stroll"),
        (remove_row, "idle\t0\t4\t4\t15\t0\n", ""),
        (remove_all_rows, "idle\t0\t4\t4\t15\t0\n" + WALK, ""),
        (add_and_rename, WALK, WALK + "leap\t1\t3\t0\t20\t0\n"),
        (add_and_remove, "", ""),
    ],
)
def test_rows_of_a_character_are_saved_in_its_table(tmp_path, edit, old, new):
    opened(put_character(tmp_path / "game"))
    bpy.context.scene.render.fps = 20
    edit()
    found = saved(tmp_path / "out")
    assert changed(found, "rtcw") == ([CFG] if new != old else [])
    assert found[CFG].decode() == TABLE.replace(old, new)
    shown = labels()
    fresh()
    opened(tmp_path / "out" / CFG)
    assert labels() == shown


def test_all_frames_go_by_the_name_of_their_action_too(tmp_path):
    own = opened(put_character(tmp_path))
    for name in ("idle", "body", "All Frames"):
        assert play(name=name) == {"FINISHED"}
    assert own.animation_data.action.name == "body"


def test_rows_that_no_table_can_have(tmp_path):
    opened(put_character(tmp_path))
    add: Any = bpy.ops.object.idtech_animation_add
    assert "'big jump' can't stand in the game's table" in error_of(add, name="big jump", first=0, last=1)
    assert "'endanims' can't stand" in error_of(add, name="endanims", first=0, last=1)
    assert "has a row 'Walk_1' already" in error_of(add, name="Walk_1", first=0, last=1)
    assert "there are no frames 3 to 9: the action has 0 to 5" in error_of(add, name="x", first=3, last=9)
    assert len(listed()[1]) == 3


def test_frames_behind_all_others_become_a_row(tmp_path):
    """By their keys, though the action has the frame range that import gave it."""
    own = opened(put_character(tmp_path / "game"))
    for curve in playing_curves(own):
        curve.keyframe_points.insert(9, 0.5)
    add: Any = bpy.ops.object.idtech_animation_add
    assert add(name="jump", first=6, last=9) == {"FINISHED"}
    assert "there are no frames 6 to 10: the action has 0 to 9" in error_of(add, name="x", first=6, last=10)
    found = saved(tmp_path / "out")
    assert b"jump\t6\t4\t" in found[CFG]
    assert by_name("mds").read(found[BODY]).frames.shape == (10,)


def retime(own, frames):
    """Let an action show other ones of its frames, in place of all."""
    for curve in playing_curves(own):
        keyed = [key.co.y for key in curve.keyframe_points]
        curve.keyframe_points.clear()
        curve.keyframe_points.add(len(frames))
        curve.keyframe_points.foreach_set("co", [x for at, was in enumerate(frames) for x in (at, keyed[was])])


IDLE, ROWS = "idle\t0\t4\t4\t15\t0\n", "idle\t{}\t15\t0\nwalk_1\t{}\t20\t-1\n"
RETIMED = {
    "in front": ([0, 0, 0, 1, 2, 3, 4, 5], ("0\t6\t6", "4\t3\t3"), "'idle' 6, not 4"),
    "between": ([0, 1, 0, 0, 2, 3, 4, 5], ("0\t6\t6", "4\t3\t3"), "'idle' 6, not 4"),
    "behind": ([0, 1, 2, 3, 4, 5, 0, 1], ("0\t4\t4", "2\t3\t3"), ""),
    "deleted within": ([0, 1, 2, 4, 5], ("0\t3\t3", "2\t2\t2"), "'idle' 3, not 4, 'walk_1' 2, not 3"),
    "the end deleted": ([0, 1, 2, 3], ("0\t4\t4", "2\t2\t2"), "'walk_1' 2, not 3"),
    "a row deleted": ([0, 1, 5], ("0\t2\t2", "2\t1\t1"), "for all of theirs are gone from 'body': 'walk_1'"),
}


@pytest.mark.parametrize("edit", RETIMED)
def test_rows_go_along_with_their_frames(tmp_path, edit, capfd):
    """In the table, and in the list: as soon as someone looks there, and from an export on."""
    frames, (idle, walk), said = RETIMED[edit]
    own = opened(put_character(tmp_path / "game"))
    retime(own, frames)
    wanted = TABLE.replace(IDLE + WALK, ROWS.format(idle, walk))
    capfd.readouterr()
    assert saved(tmp_path / "out")[CFG].decode() == wanted
    assert said in capfd.readouterr().out
    shown = [(row.name, row.first, row.count) for row in listed()[1][1:]]
    assert [f"{first}\t{count}\t{count}" for _, first, count in shown] == [idle, walk]
    assert saved(tmp_path / "out")[CFG].decode() == wanted
    fresh()
    opened(put_character(tmp_path / "other"))
    retime(rig(), frames)
    play(name="walk_1")
    assert [(row.name, row.first, row.count) for row in listed()[1][1:]] == shown
    assert bpy.context.scene.frame_start == int(walk.split("\t")[0])


def test_rows_of_ones_own_go_along_and_edits_stay(tmp_path):
    """A row that was made among frames of one's own is where it was made."""
    own = opened(put_character(tmp_path / "game"))
    bpy.context.scene.render.fps = 20
    add_row()
    rename_row()
    retime(own, [0, 0, 0, 1, 2, 3, 4, 5])
    saved(tmp_path / "out")
    assert bpy.ops.object.idtech_animation_add(name="hop", first=1, last=2) == {"FINISHED"}
    retime(own, [0, 1, 2, 3, 4, 5, 6, 7, 7])
    found = saved(tmp_path / "out")[CFG].decode()
    rows = "idle\t0\t6\t6\t15\t0\nstroll\t4\t3\t3\t20\t-1\njump\t3\t3\t0\t20\t0\nhop\t1\t2\t0\t20\t0\n"
    assert found == TABLE.replace(IDLE + WALK, rows)


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_the_table_beside_a_lone_body_goes_along(tmp_path, capfd, scale):
    """Where it says what that says which the rows came from."""
    path, lone = put_character(tmp_path), bpy.ops.export_scene.idtech_mds
    bpy.ops.import_scene.idtech_mds(filepath=str(path.parent / "body.mds"))
    retime(rig(), [0, 0, 0, 1, 2, 3, 4, 5])
    wanted = TABLE.replace(IDLE + WALK, ROWS.format("0\t6\t6", "4\t3\t3"))

    def said(target):
        capfd.readouterr()
        assert lone(filepath=str(target), scale=scale) == {"FINISHED"}
        return capfd.readouterr().out

    why = "rows of wolfanim.cfg have other frames in 'body.mds' (no such table lies beside): 'idle', 'walk_1'"
    assert why in said(tmp_path / "body.mds")
    for _ in range(2):
        out = said(path.parent / "body.mds")
        assert path.read_text() == wanted
    assert "went along" not in out and "'idle' 6, not 4" in out
    path.write_text(TABLE.replace("walk_1\t2", "walk_1\t1"))
    assert "(the table beside says something else, and stays): 'idle', 'walk_1'" in said(path.parent / "body.mds")
    path.write_text(TABLE)
    assert "2 rows of 'wolfanim.cfg' went along with their frames" in said(path.parent / "body.mds")
    bpy.context.scene.frame_end = 2
    assert lone(filepath=str(path.parent / "body.mds"), motions="SCENE") == {"FINISHED"}
    assert "(the table beside is of all frames, and stays): 'idle', 'walk_1'" in capfd.readouterr().out
    assert path.read_text() == wanted


def test_all_frames_come_first_in_a_body(tmp_path):
    """Rows count from the file's begin, whatever the list's order."""
    own = opened(put_character(tmp_path / "game"))
    jig = own.animation_data.action.copy()
    jig.name = "jig"
    action_parts(jig)[0][2][0].keyframe_points[0].co.y += 1
    for key in ("idtech_runs", "idtech_runs_saved", "idtech_given", "idtech_name"):
        del jig[key]
    own.animation_data.nla_tracks.new().strips.new("jig", 0, jig)
    own.animation_data.nla_tracks[-1].mute = True
    assert bpy.ops.object.idtech_animation_move(name="jig", direction="UP") == {"FINISHED"}
    kept = by_name("mds").read(saved(tmp_path / "out")[BODY]).frames
    assert np.array_equal(kept[:6], by_name("mds").read(body()).frames)


def test_windows_line_ends_and_a_table_without_a_last_one(tmp_path):
    table = TABLE.partition("ENDANIMS")[0].rstrip().replace("\n", "\r\n").encode()
    opened(put_character(tmp_path / "game", wolfanim_cfg=table))
    bpy.context.scene.render.fps = 20
    add_row()
    assert saved(tmp_path / "out")[CFG] == table + b"\r\njump\t1\t3\t0\t20\t0"


def test_a_table_that_goes_beyond_the_frames(tmp_path, capfd):
    table = b"VERSION 2\nSTARTANIMS\nlong 3 9 0 15\nnone 20 2 0 15\nok 0 2 0 15\n"
    opened(put_character(tmp_path, wolfanim_cfg=table))
    assert "'body.mds' has 6 frames, which is fewer than its table says of 'long', 'none'" in capfd.readouterr().out
    assert labels() == ["All Frames", "long", "ok"]
    play(name="long")
    assert (bpy.context.scene.frame_start, bpy.context.scene.frame_end) == (3, 5)


def test_notes_of_a_stranger(tmp_path):
    action = opened(put_character(tmp_path)).animation_data.action
    numbers = '[["a", 0, 1, 1, 1e9], ["b", NaN, 1, 1, 1], ["c", 0, 99999999999, 1, 1]]'
    for text in ("{", "{}", "[1]", '[["a", 0, 1, 1, 1, 5]]', '[["", 0, 1, 1, 1, "a"]]', numbers, "0"):
        action["idtech_runs"] = text
        assert len(listed()[1]) == 1, text


def test_archives(tmp_path):
    other = {name.replace("/boss/", "/guard/"): data for name, data in files().items()}
    pack = put_pack(tmp_path / "main/pak0.pk3", files() | other)
    assert "several characters, say which: 'boss', 'guard'" in error_of(run, filepath=str(pack))
    opened(pack, character="guard/wolfanim.cfg")
    assert [names.file_name_of(c) for c in bpy.context.scene.collection.children] == ["guard"]
    opened(pack / CFG)


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.parent.name)
def test_real_characters(path, capfd):
    body = opened(path)
    assert "warning" not in capfd.readouterr().out.lower()
    assert len(listed()[1]) in (42, 4)
    assert roots()["head"].parent.parent == body


def raise_helmet():
    helmet = next(block for block in bpy.data.objects if names.file_name_of(block) == "helmet" and block.type == "MESH")
    helmet.data.vertices[0].co.z += 2.0


def pose():
    bpy.context.scene.frame_set(3)
    bone = rig().pose.bones[0]
    bone.location.z += 4.0
    bone.keyframe_insert("location")


@pytest.mark.parametrize(("edit", "file"), [(raise_helmet, f"{FOLDER}/acc/helmet.md3"), (pose, BODY)])
def test_an_edit_touches_its_file_alone(tmp_path, edit, file):
    opened(put_character(tmp_path / "game"))
    edit()
    assert changed(saved(tmp_path / "out"), "rtcw") == [file]


BODY_SKIN, HEAD_SKIN = f"{FOLDER}/body_default.skin", f"{FOLDER}/head_default.skin"


@pytest.mark.parametrize(
    ("kind", "skin", "line"),
    [
        ("md3_beltr", BODY_SKIN, b"md3_beltr,acc/pouch.md3\n"),
        ("md3_back", BODY_SKIN, b"md3_back,acc/sack\n"),
        ("md3_hat", HEAD_SKIN, b"md3_hat,acc/helmet.md3\n"),
    ],
)
def test_a_part_that_was_deleted_goes_from_the_skin_that_attaches_it(tmp_path, kind, skin, line, capfd):
    opened(put_character(tmp_path / "game"))
    remove(kind)
    found = saved(tmp_path / "out")
    assert changed(found, "rtcw") == [skin]
    assert found[skin] == files()[skin].replace(line, b"")
    assert "stay as they were" not in capfd.readouterr().out


def hang(block: Any, on: str) -> None:
    block.parent = tag(on)
    activate(rig())


@pytest.mark.parametrize(
    ("on", "skin", "behind", "line"),
    [
        ("tag_back", BODY_SKIN, b"md3_beltr,acc/pouch.md3\n", b"md3_back,acc/jar.md3\n"),
        ("tag_mouth", HEAD_SKIN, b"md3_part,face.md3\n", b"md3_hat,acc/jar.md3\n"),
    ],
)
def test_a_part_that_was_hung_on_a_tag_is_attached(tmp_path, on, skin, behind, line):
    opened(put_character(tmp_path / "game"))
    for kind in ("md3_back", "md3_hat"):
        remove(kind)
    hang(add_cube("Jar"), on)
    assert behind + line in saved(tmp_path / "out")[skin]
    fresh()
    opened(tmp_path / "out" / CFG)
    assert names.file_name_of(roots()[line.partition(b",")[0].decode()].parent) == on


def test_a_model_from_elsewhere_goes_into_the_characters_folder(tmp_path, capfd):
    """The game looks for what a skin attaches there alone; where there is none it is left out."""
    opened(put_character(tmp_path / "game"))
    remove("md3_back")
    put_files(tmp_path / "game", {"models/weapons2/gun.md3": files()[f"{FOLDER}/acc/helmet.md3"]})
    bpy.ops.import_scene.idtech_md3(filepath=str(tmp_path / "game/models/weapons2/gun.md3"))
    hang(bpy.context.view_layer.objects.active, "tag_back")
    found = saved(tmp_path / "out")
    assert b"md3_back,acc/gun.md3\n" in found[BODY_SKIN] and f"{FOLDER}/acc/gun.md3" in found
    fresh()
    opened(put_character(tmp_path / "bare", body_default_skin=None))
    hang(add_cube("Jar"), "tag_back")
    saved(tmp_path / "out")
    assert "left out, no skin could attach it: 'Jar'" in capfd.readouterr().out


def test_frames_of_what_was_deleted_are_not_the_bodys(tmp_path, capfd):
    """Blender's Duplicate Objects copies actions, before 5.0 with their fake users, and so they stay."""
    own = opened(put_character(tmp_path / "game"))
    copy = next(action for action in bpy.data.actions if runs.runs_of(action)).copy()
    copy.use_fake_user = True
    assert saved(tmp_path / "out")[BODY] == body()
    said = f"unchanged copies, are left out, keep them in NLA tracks of '{own.name}' to write them: '{copy.name}'"
    assert said in capfd.readouterr().out
    action_parts(copy)[0][2][0].keyframe_points[0].co.y += 1
    assert len(saved(tmp_path / "out")[BODY]) > len(body())
    bpy.data.batch_remove([copy, *bpy.data.objects])
    bpy.context.view_layer.update()
    opened(tmp_path / "game" / CFG)
    assert saved(tmp_path / "out")[BODY] == body()
    assert "actions that another model came with" in capfd.readouterr().out


def test_actions_that_are_no_rows_and_none_at_all_are_said(tmp_path, capfd):
    """The table knows frames of the body alone, by their numbers."""
    own = opened(put_character(tmp_path / "game"))
    played = own.animation_data.action
    copy = played.copy()
    copy.name = "jig"
    own.animation_data.action = copy
    saved(tmp_path / "out")
    capfd.readouterr()
    for key in list(copy.keys()):
        del copy[key]
    saved(tmp_path / "out")
    said = "'jig': frames behind all others in body.mds, and in no row of wolfanim.cfg: put their keys behind those of"
    assert said in capfd.readouterr().out
    bpy.data.batch_remove([copy, played])
    saved(tmp_path / "out")
    assert "has no action: all frames are gone from body.mds, and rows of wolfanim.cfg" in capfd.readouterr().out
