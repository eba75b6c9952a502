"""The operators of MDM and MDX: where bones are found, tables of animations, several in one file, the torso."""

import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_idtech_models.blender import properties
from io_idtech_models.formats import by_name
from io_idtech_models.formats.mdx import file as mdx
from io_idtech_models.formats.mdx.model import mixed
from io_idtech_models.model.transforms import chain, to_matrices
from io_idtech_models.tasks.export.last_export import options_of
from io_idtech_models.tasks.export.subject import subject_of
from io_idtech_models.tasks.import_.aninc import TABLE_OF
from tests import samples_mdm
from tests.blender.skeletal.rigged import curves_of
from tests.facts import differences
from tests.samples import corpus, put
from tests.ui.scene import activate, bpy, counts, editing, error_of, first

pytestmark = pytest.mark.usefixtures("empty_scene")
MDX = by_name("mdx")
FIGURE, WALK = samples_mdm.figure(), samples_mdm.walk()
RUN = samples_mdm.MdxSpec(frames=samples_mdm.moving_frames(4, seed=9)[1:]).pack()
TABLE = """// the figure's

stand 0 2 2 15 0 100 0
run 2 3 0 21 127 50 0 // quickly
"late one" 5 1 0 10 0 0 1 4
"""
import_mdm, export_mdm = bpy.ops.import_scene.idtech_mdm, bpy.ops.export_scene.idtech_mdm
import_mdx, export_mdx = bpy.ops.import_anim.idtech_mdx, bpy.ops.export_anim.idtech_mdx


rig = partial(first, "ARMATURE")


def joints() -> list[str]:
    return [bone.name for bone in rig().data.bones]


def export_bytes(path: Path, operator: Any = export_mdm, **options: Any) -> bytes:
    assert operator(filepath=str(path), **options) == {"FINISHED"}
    return path.read_bytes()


def read(path: Path, **options: Any) -> None:
    assert import_mdm(filepath=str(path), **options) == {"FINISHED"}


# -- where the bones are


FEW = samples_mdm.MdxSpec(bones=samples_mdm.BONES[:3], frames=samples_mdm.moving_frames(2, 3)).pack()
# Where a model lies, which files of bones there are, whose bones it gets, and the actions that come.
PLACES: dict[str, tuple[str, dict[str, bytes], str, list[str]]] = {
    "in the same folder, and others that fit": (
        "m/figure.mdm",
        {"m/a.mdx": WALK, "m/b.mdx": RUN, "m/other.mdx": samples_mdm.two_roots()},
        "a.mdx",
        ["a", "b"],
    ),
    "where the game has them": (
        "etmain/models/players/figure/figure.mdm",
        {"etmain/animations/human/base/body.mdx": WALK},
        "human/base/body.mdx",
        ["body"],
    ),
    "not those that are too few": ("m/figure.mdm", {"m/a.mdx": FEW, "m/b.mdx": WALK}, "b.mdx", ["b"]),
}


@pytest.mark.parametrize("case", PLACES)
def test_bones_are_found(tmp_path, capfd, case):
    model, files, bones, actions = PLACES[case]
    for name, data in {model: FIGURE, **files}.items():
        put(tmp_path / name, data)
    read(tmp_path / model)
    assert "Bip01 Spine" in joints()
    assert re.search(rf"bones of '[^']*{bones}'", capfd.readouterr().out), "it says which"
    assert sorted(bpy.data.actions.keys()) == actions
    assert export_bytes(tmp_path / "out.mdx", export_mdx) == WALK


def test_bones_that_are_given(tmp_path, capfd):
    put(tmp_path / "m/figure.mdm", FIGURE)
    put(tmp_path / "elsewhere/walk.mdx", WALK)
    read(tmp_path / "m/figure.mdm", animation=str(tmp_path / "elsewhere/walk.mdx"))
    assert "Bip01 Spine" in joints()
    assert f"bones of '{tmp_path / 'elsewhere/walk.mdx'}'" in capfd.readouterr().out
    assert list(bpy.data.actions.keys()) == ["walk"]
    assert export_bytes(tmp_path / "out.mdm") == FIGURE


def test_without_bones_until_they_come(tmp_path, capfd):
    put(tmp_path / "etmain/models/m/figure.mdm", FIGURE)
    put(tmp_path / "x/walk.mdx", WALK)
    put(tmp_path / "x/run.mdx", RUN)
    read(tmp_path / "etmain/models/m/figure.mdm")
    said = capfd.readouterr().out
    assert said.count("no .mdx with its bones in") == 1
    assert str(tmp_path / "etmain/models/m") in said
    assert "animations/human/base" in said
    assert sorted(joints()) == [f"bone_{i:03d}" for i in range(8)]
    assert export_bytes(tmp_path / "out.mdm") == FIGURE
    assert import_mdx(directory=str(tmp_path / "x"), files=[{"name": "walk.mdx"}, {"name": "run.mdx"}]) == {"FINISHED"}
    assert "Bip01 Spine" in joints()
    assert {bone.parent.name for bone in rig().data.bones if bone.parent} == {
        "Bip01", "Bip01 Spine", "Bip01 Head", "Bip01 L Leg",
    }  # fmt: skip
    assert export_bytes(tmp_path / "out.mdm") == FIGURE
    assert export_bytes(tmp_path / "out.mdx", export_mdx) == WALK


@pytest.mark.parametrize("dropped", [["walk.mdx", "figure.mdm"], ["walk.mdx"]], ids=["with its model", "without one"])
def test_dropped_together(tmp_path, dropped):
    for name, data in {"figure.mdm": FIGURE, "run.mdx": RUN, "walk.mdx": WALK}.items():
        put(tmp_path / name, data)
    assert import_mdm(directory=str(tmp_path), files=[{"name": name} for name in dropped]) == {"FINISHED"}
    assert "Bip01 Spine" in joints()
    assert rig().animation_data.action.name == "walk"
    assert export_bytes(tmp_path / "out.mdx", export_mdx) == WALK


def test_a_broken_model_or_broken_bones_leave_nothing(tmp_path):
    put(tmp_path / "figure.mdm", FIGURE)
    put(tmp_path / "bad.mdm", FIGURE[:3000])
    put(tmp_path / "bad.mdx", WALK[:900])
    before = counts()
    assert "bad.mdm: " in error_of(import_mdm, filepath=str(tmp_path / "bad.mdm"))
    said = error_of(import_mdm, filepath=str(tmp_path / "figure.mdm"), animation=str(tmp_path / "bad.mdx"))
    assert "'bad.mdx': " in said
    for call in (import_mdx, import_mdm):  # dropped without a model
        assert error_of(call, filepath=str(tmp_path / "bad.mdx")).startswith("bad.mdx: ")
    assert counts() == before


@pytest.fixture
def figure(tmp_path):
    """Return a model beside its animation, which are not imported yet."""
    put(tmp_path / "walk.mdx", WALK)
    return put(tmp_path / "figure.mdm", FIGURE)


def test_an_animation_of_other_bones(figure, tmp_path):
    read(figure)
    activate(rig())
    said = error_of(import_mdx, filepath=str(put(tmp_path / "x/roots.mdx", samples_mdm.two_roots())))
    assert "'other' in the animation, 'fuß' in the model" in said


@pytest.mark.parametrize("bind", [{"bind": "FIT"}, {"bind": "FRAME", "bind_frame": 3}])
def test_in_which_pose_meshes_are_bound(figure, tmp_path, bind):
    read(figure, **bind)
    if bind["bind"] == "FRAME":
        rows, place = samples_mdm.pose_of(samples_mdm.MdxSpec(), 3)[2]
        matrix = np.array(rig().data.bones["Bip01 Head"].matrix_local)
        np.testing.assert_allclose(matrix[:3, 3], place, atol=1e-4)
        np.testing.assert_allclose(matrix[:3, 1], np.array(rows)[:, 0], atol=1e-4)
    assert export_bytes(tmp_path / "out.mdm", write_animation=True) == FIGURE
    assert (tmp_path / "out.mdx").read_bytes() == WALK


def test_bones_that_lie_beside_have_the_origin_joint_too(figure, tmp_path):
    read(figure)
    activate(rig())
    bpy.ops.object.mode_set(mode="EDIT")
    rig().data.edit_bones["Bip01 Head"].parent = None
    bpy.ops.object.mode_set(mode="OBJECT")
    assert export_mdm(filepath=str(tmp_path / "o.mdm"), write_animation=True, add_origin=True) == {"FINISHED"}
    model = by_name("mdm").load((tmp_path / "o.mdm").read_bytes(), "", {"mdx": (tmp_path / "o.mdx").read_bytes()})
    assert model.skeleton.names[0] == "origin" and sorted(model.skeleton.names[1:]) == sorted(joints())


@pytest.mark.parametrize("keep", [False, True])
def test_suffixes_of_tags_are_kept_where_they_are_asked_for(figure, tmp_path, keep):
    read(figure)
    tag = next(block for block in bpy.context.scene.objects if block.type == "EMPTY" and block.parent_type == "BONE")
    copy = tag.copy()
    tag.users_collection[0].objects.link(copy)
    bpy.context.view_layer.update()
    data = export_bytes(tmp_path / "o.mdm", keep_suffixes=keep)
    found = [each.name for each in by_name("mdm").load(data, "", {"mdx": WALK}).tags]
    assert found.count(tag.name) == (1 if keep else 2) and (copy.name in found) == keep


# -- tables


@pytest.fixture
def table(figure, tmp_path):
    """Import a figure whose animation has a table; returns the folder."""
    (tmp_path / "walk.aninc").write_text(TABLE, encoding="utf-8")
    read(figure)
    return tmp_path


def test_a_table_makes_actions(table):
    actions = bpy.data.actions
    assert sorted(actions.keys()) == ["late one", "run", "stand", "walk"]
    assert rig().animation_data.action.name == "walk"
    assert [actions[n].frame_range[1] + 1 for n in ("walk", "stand", "run", "late one")] == [6, 2, 3, 1]
    assert (actions["run"][properties.MOVE_SPEED], actions["run"][properties.TRANSITION]) == (127, 50)
    assert (actions["stand"][properties.LOOP], actions["stand"].use_cyclic) == (2, True)
    assert (actions["late one"][properties.REVERSED], actions["late one"][properties.PRIORITY]) == (True, 4)
    assert export_bytes(table / "out.mdx", export_mdx) == WALK, "the whole file, by default"


def test_parts_join_to_the_file_and_its_table(table, capfd):
    data = export_bytes(table / "out.mdx", export_mdx, what="CHOSEN", actions="stand, run, late one")
    assert data == WALK
    assert (table / "out.aninc").read_text(encoding="utf-8") == TABLE
    said = capfd.readouterr().out
    assert "6 frames: 'stand', 'run', 'late one' one after another, and 'out.aninc'" in said
    export_bytes(table / "out.mdx", export_mdx)
    assert "6 frames, 8 joints of 'walk'" in capfd.readouterr().out, "which of both it was"


def test_parts_in_another_order(table):
    data = export_bytes(table / "out.mdx", export_mdx, what="CHOSEN", actions="run,stand")
    before, after = mdx.read(WALK), mdx.read(data)
    assert after.frames.tobytes() == before.frames[[2, 3, 4, 0, 1]].tobytes()
    rows = [r.split() for r in (table / "out.aninc").read_text(encoding="utf-8").splitlines()]
    rows = [r[:8] for r in rows if r and r[0] != "//"]
    assert rows == [["run", "0", "3", "0", "21", "127", "50", "0"], ["stand", "3", "2", "2", "15", "0", "100", "0"]]


def test_a_copy_of_a_row_does_not_repeat_the_comments_before_it(table):
    copy = bpy.data.actions["stand"].copy()
    copy.name, copy.use_fake_user = "wait", True
    export_bytes(table / "out.mdx", export_mdx, what="CHOSEN", actions="stand,wait,run,late one")
    wanted = TABLE.replace("run 2", "wait 2 2 2 15 0 100 0\nrun 4").replace('one" 5', 'one" 7')
    assert (table / "out.aninc").read_text(encoding="utf-8") == wanted


@pytest.mark.parametrize("copied", [True, False])
def test_comments_of_a_row_that_was_renamed_stand_at_it_alone(table, copied):
    copy = bpy.data.actions["stand"].copy()
    copy.use_fake_user = True
    copy.name = "wait" if copied else "stand"
    bpy.data.actions["stand"].name = "idle"
    export_bytes(table / "out.mdx", export_mdx, what="CHOSEN", actions=f"idle,run,late one,{copy.name}")
    assert (table / "out.aninc").read_text(encoding="utf-8").count("the figure's") == 1


def test_an_edited_part_changes_its_frames_alone(table):
    action = bpy.data.actions["run"]
    action[properties.MOVE_SPEED] = 200
    turns = [curve for curve in curves_of(action, "fuß") if curve.data_path.endswith("quaternion")]
    curve = next(curve for curve in turns if curve.array_index == 1)
    curve.keyframe_points[1].co[1] += 0.1
    data = export_bytes(table / "out.mdx", export_mdx, what="CHOSEN", actions="stand,run,late one")
    changed = differences(WALK, data)
    assert changed == {f"frames[3].{n}" for n in ("angles[7]", "bounds", "local_origin", "radius")}
    assert (table / "out.aninc").read_text(encoding="utf-8") == TABLE.replace("127", "200")


def test_all_actions_without_parts_and_previews(table):
    put(table / "run2.mdx", RUN)
    activate(rig())
    assert import_mdx(filepath=str(table / "run2.mdx")) == {"FINISHED"}
    (table / "out").mkdir(exist_ok=True)
    assert export_mdx(filepath=str(table / "out/x.mdx"), what="ALL") == {"FINISHED"}
    assert sorted(p.name for p in (table / "out").iterdir()) == ["run2.mdx", "walk.aninc", "walk.mdx"]
    assert (table / "out/run2.mdx").read_bytes() == RUN
    assert (table / "out/walk.aninc").read_text(encoding="utf-8") == TABLE


def test_a_table_goes_along_where_its_file_did_not_come_from(table, capfd):
    (table / "walk.aninc").unlink()
    assert export_bytes(table / "walk.mdx", export_mdx) == WALK
    assert not (table / "walk.aninc").exists()
    assert "aninc" not in capfd.readouterr().out
    assert export_bytes(table / "other.mdx", export_mdx) == WALK
    assert (table / "other.aninc").read_text(encoding="utf-8") == TABLE
    assert "6 frames, 8 joints of 'walk', and 'other.aninc'" in capfd.readouterr().out


def turn(name: str, key: int, by: float = 0.1) -> None:
    """Turn a bone in one frame of an action."""
    turns = [c for c in curves_of(bpy.data.actions[name], "fuß") if c.data_path.endswith("quaternion")]
    next(curve for curve in turns if curve.array_index == 1).keyframe_points[key].co[1] += by


def rows_beside(path: Path) -> list[list[str]]:
    lines = [line.split("//")[0].split() for line in path.with_suffix(".aninc").read_text("utf-8").splitlines()]
    return [line for line in lines if line]


OF_FRAME = ("angles[7]", "bounds", "local_origin", "radius")


@pytest.mark.parametrize("what", ["AUTO", "ALL", "CHOSEN", "again", "beside"])
def test_rows_that_were_edited_go_into_the_file_of_all_frames(table, capfd, what):
    turn("run", 1)
    bpy.data.actions["run"][properties.MOVE_SPEED] = 200
    activate(rig())
    bpy.ops.object.idtech_animation_rename(name="stand", to="wait")
    bpy.ops.object.idtech_animation_remove(name="late one")
    bpy.ops.object.idtech_animation_duplicate(name="run", copy="sprint")
    if what == "again":
        assert bpy.ops.object.idtech_export_again() == {"FINISHED"}
    elif what == "beside":
        bpy.ops.object.idtech_animation_play(name="run")  # a row of the file that is written
        assert export_mdm(filepath=str(table / "walk.mdm"), write_animation=True) == {"FINISHED"}
    else:
        bpy.ops.object.idtech_animation_play(name="walk")
        assert export_mdx(filepath=str(table / "walk.mdx"), what=what, actions="walk,sprint") == {"FINISHED"}
    data = (table / "walk.mdx").read_bytes()
    before, after = mdx.read(WALK), mdx.read(data)
    same = [number for number in range(6) if before.frames[number].tobytes() == after.frames[number].tobytes()]
    assert same == [0, 1, 2, 4, 5] and len(after.frames) == 9
    assert after.frames[6:].tobytes() == after.frames[2:5].tobytes(), "the copy's, behind all others"
    text = TABLE.replace("stand", "wait").replace("127", "200").replace('"late one" 5 1 0 10 0 0 1 4\n', "")
    written = (table / "walk.aninc").read_text(encoding="utf-8")
    assert written.startswith(text) and written[len(text) :].split() == [
        "sprint",
        "6",
        "3",
        "0",
        "21",
        "200",
        "50",
        "0",
    ]
    said = capfd.readouterr().out
    assert "'walk.mdx' whose actions were deleted go from its table: 'late one'" in said
    assert "9 frames" in said and "and 'walk.aninc'" in said
    assert "other animations are not" not in said and "came from no file" not in said


def test_an_edit_of_a_table_can_be_taken_back(table):
    activate(rig())
    for name, to in (("stand", "wait"), ("wait", "stand")):
        bpy.ops.object.idtech_animation_rename(name=name, to=to)
        bpy.data.actions["run"][properties.MOVE_SPEED] = 200 if to == "wait" else 127
        assert bpy.ops.object.idtech_export_again() == {"FINISHED"}
        assert ((table / "walk.aninc").read_text(encoding="utf-8") == TABLE) == (to == "stand")
    bpy.ops.object.idtech_animation_duplicate(name="run", copy="more")
    assert bpy.ops.object.idtech_export_again() == {"FINISHED"}
    bpy.ops.object.idtech_animation_remove(name="more")
    assert bpy.ops.object.idtech_export_again() == {"FINISHED"}
    assert (table / "walk.aninc").read_text(encoding="utf-8") == TABLE


def test_the_old_name_of_a_row_is_free(table):
    activate(rig())
    bpy.ops.object.idtech_animation_rename(name="stand", to="wait")
    bpy.ops.object.idtech_animation_duplicate(name="run", copy="stand")
    export_bytes(table / "walk.mdx", export_mdx, what="ALL")
    rows = {row[0]: row[1:3] for row in rows_beside(table / "walk.mdx")}
    assert rows["wait"] == ["0", "2"] and rows["stand"] == rows["run"] == ["2", "3"]


@pytest.mark.parametrize("way", ["copy", "rename", "add"])
def test_the_name_of_a_row_that_was_deleted_is_free(table, way):
    activate(rig())
    bpy.ops.object.idtech_animation_remove(name="stand")
    if way == "copy":
        bpy.ops.object.idtech_animation_duplicate(name="run", copy="stand")
    elif way == "rename":
        bpy.ops.object.idtech_animation_rename(name="run", to="stand")
    else:
        bpy.ops.object.idtech_animation_play(name="walk")
        bpy.ops.object.idtech_animation_add(name="stand", first=0, last=2)
    export_bytes(table / "walk.mdx", export_mdx, what="ALL")
    rows = {row[0]: row[1:3] for row in rows_beside(table / "walk.mdx")}
    assert rows["stand"] == (["0", "3"] if way == "add" else ["2", "3"])
    assert set(rows) == {"stand", '"late', *(() if way == "rename" else ("run",))}


def test_frames_of_a_row_that_was_deleted_are_nobodys(tmp_path, figure, capfd):
    (tmp_path / "walk.aninc").write_text(TABLE.replace("run 2 3", "run 1 3"), encoding="utf-8")
    read(figure)
    activate(rig())
    bpy.ops.object.idtech_animation_remove(name="stand")
    turn("run", 1)
    changed = differences(WALK, export_bytes(tmp_path / "walk.mdx", export_mdx, what="ALL"))
    assert changed == {f"frames[2].{n}" for n in OF_FRAME}


def test_a_table_of_which_all_rows_were_deleted_stays(table, capfd):
    activate(rig())
    for name in ("stand", "run", "late one"):
        bpy.ops.object.idtech_animation_remove(name=name)
    assert export_bytes(table / "walk.mdx", export_mdx, what="ALL") == WALK
    assert (table / "walk.aninc").read_text(encoding="utf-8") == TABLE
    assert "no row of the table of 'walk.mdx' has an action any more: it stays" in capfd.readouterr().out


@pytest.mark.parametrize("way", ["again", "ALL"])
@pytest.mark.parametrize("gone", [["run"], ["stand", "run", "late one"], ["walk", "stand", "run", "late one"]])
def test_rows_without_a_track_are_rows_while_they_are_kept(table, capfd, way, gone):
    activate(rig())
    rig().animation_data.action = bpy.data.actions["run"]
    tracks = rig().animation_data.nla_tracks
    for track in [track for track in tracks if track.name in gone]:
        tracks.remove(track)
    turn("run", 1)
    if way == "again":
        assert bpy.ops.object.idtech_export_again() == {"FINISHED"}
    else:
        export_bytes(table / "walk.mdx", export_mdx, what=way)
    changed = differences(WALK, (table / "walk.mdx").read_bytes())
    assert changed == {f"frames[3].{n}" for n in OF_FRAME}
    assert (table / "walk.aninc").read_text(encoding="utf-8") == TABLE
    said = capfd.readouterr().out
    assert "deleted" not in said and "any more" not in said


def test_a_row_that_only_plays_is_written(table):
    activate(rig())
    bpy.ops.object.idtech_animation_play(name="run")
    own = bpy.data.actions["run"].copy()  # as the button New Action does
    own.name = "wait"
    rig().animation_data.action = own
    turn("wait", 1)
    assert bpy.ops.object.idtech_export_again() == {"FINISHED"}
    assert {row[0]: row[1:3] for row in rows_beside(table / "walk.mdx")}["wait"] == ["6", "3"]
    assert rig().animation_data.action == own and own.users == 1


def own_action(name: str) -> Any:
    """Let the armature play a new action, of three frames."""
    activate(rig())
    rig().animation_data.action = action = bpy.data.actions.new(name)
    for each in rig().pose.bones:
        each.matrix_basis.identity()
    bone = rig().pose.bones["fuß"]
    for frame in (0, 2):
        bone.rotation_quaternion = (1.0, 0.1 * frame, 0.0, 0.0)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    return action


@pytest.mark.parametrize("to", ["walk.mdx", "other.mdx"])
def test_what_chosen_actions_made_a_row_is_one_for_export_again(table, to, capfd):
    own_action("mine")
    data = export_bytes(table / to, export_mdx, what="CHOSEN", actions="walk,mine")
    row = [row[:4] for row in rows_beside(table / to) if row[0] == "mine"]
    assert row == [["mine", "6", "3", "0"]]
    assert bpy.ops.object.idtech_export_again() == {"FINISHED"}
    said = "animations that came from no file of this model are not written" in capfd.readouterr().out
    is_row = to == "walk.mdx"
    one, other = (MDX.load(each, "walk") for each in (data, (table / "walk.mdx").read_bytes()))
    assert np.array_equal(one.rotations, other.rotations) == is_row == (not said)
    assert (row[0] in [row[:4] for row in rows_beside(table / "walk.mdx")]) == is_row


def test_an_action_that_was_exported_is_a_file_for_export_again(table, capfd):
    own_action("mine")
    data = export_bytes(table / "my.mdx", export_mdx, what="ACTIVE")
    (table / "my.mdx").write_bytes(b"")
    assert bpy.ops.object.idtech_export_again() == {"FINISHED"}
    assert (table / "my.mdx").read_bytes() == data
    assert "came from no file" not in capfd.readouterr().out


def test_bones_beside_that_are_an_animations_own_are_written_as_that(table, capfd):
    """With Bones and Action remembered, and an action of the user's own playing."""
    own_action("mine")
    export_bytes(table / "figure.mdm", write_animation=True)
    assert "'mine' plays, and is written" in capfd.readouterr().out
    (table / "walk.mdx").write_bytes(WALK)
    bpy.data.actions["walk"]["idtech_file"] = str(table / "figure.mdx")
    assert bpy.ops.object.idtech_export_again() == {"FINISHED"}
    said = capfd.readouterr().out
    assert "plays, and is written" not in said and (table / "figure.mdx").read_bytes() == WALK
    subject: Any = subject_of(bpy.context)
    kept: Any = options_of(subject.holder, "mdm")
    assert kept["write_animation"] is True, "and stays so"


def test_export_again_leaves_the_scene_as_it_is(table):
    action = own_action("mine")
    bpy.context.view_layer.update()
    before = [tuple(map(tuple, bone.matrix_basis)) for bone in rig().pose.bones]
    assert bpy.ops.object.idtech_export_again() == {"FINISHED"}
    bpy.context.view_layer.update()
    assert [tuple(map(tuple, bone.matrix_basis)) for bone in rig().pose.bones] == before
    assert rig().animation_data.action == action and (table / "walk.mdx").read_bytes() == WALK


def test_sentences_name_the_file_that_is_written(table, capfd):
    activate(rig())
    bpy.ops.object.idtech_animation_rename(name="walk", to="way")
    bpy.ops.object.idtech_animation_remove(name="run")
    assert bpy.ops.object.idtech_export_again() == {"FINISHED"}
    assert "rows of 'walk.mdx' whose actions were deleted go from its table: 'run'" in capfd.readouterr().out
    assert bpy.ops.object.idtech_export_again() == {"FINISHED"}
    assert "deleted" not in capfd.readouterr().out, "they are gone by now"


def test_a_copy_of_all_frames_is_a_file_without_a_table(table, capfd):
    activate(rig())
    bpy.ops.object.idtech_animation_duplicate(name="walk", copy="guns")
    assert bpy.ops.object.idtech_export_again() == {"FINISHED"}
    assert sorted(path.name for path in table.glob("guns*")) == ["guns.mdx"]
    assert "any more" not in capfd.readouterr().out


def test_rows_of_an_armature_beside_are_its_own(table):
    activate(rig())
    bpy.ops.object.select_all(action="DESELECT")
    other = rig().copy()
    bpy.context.scene.collection.objects.link(other)
    own = bpy.data.actions["run"].copy()
    other.animation_data.nla_tracks["run"].strips[0].action = own
    export_bytes(table / "walk.mdx", export_mdx, what="ALL")
    assert (table / "walk.aninc").read_text(encoding="utf-8") == TABLE


def test_rows_without_the_action_of_all_frames_are_named(table, capfd):
    activate(rig())
    bpy.ops.object.idtech_animation_remove(name="walk")
    said = "rows of a table are left, and no action of all frames of their file (export those that you want as Chosen"
    assert said in error_of(export_mdx, filepath=str(table / "x.mdx"), what="ALL")
    capfd.readouterr()
    assert bpy.ops.object.idtech_export_again() == {"FINISHED"}
    assert said in capfd.readouterr().out and (table / "walk.mdx").read_bytes() == WALK


def test_rows_of_one_of_several_files_without_its_action_of_all_frames_are_named(table, capfd):
    put(table / "run2.mdx", RUN)
    (table / "run2.aninc").write_text("leap 0 2 0 15 0 0 0\n", encoding="utf-8")
    activate(rig())
    assert import_mdx(filepath=str(table / "run2.mdx")) == {"FINISHED"}
    bpy.ops.object.idtech_animation_remove(name="walk")
    capfd.readouterr()
    assert bpy.ops.object.idtech_export_again() == {"FINISHED"}
    said = "rows of a table are left, and no action of all frames of their file (export those that you want as Chosen"
    assert f"{said} Actions): 'stand', 'run', 'late one'" in capfd.readouterr().out
    export_bytes(table / "run2.mdx", export_mdx, what="ALL")
    assert said in capfd.readouterr().out


def test_a_row_beyond_the_end_stays_there(tmp_path, figure):
    (tmp_path / "walk.aninc").write_text(TABLE.replace("5 1 0 10", "5 9 0 10"), encoding="utf-8")
    read(figure)
    activate(rig())
    bpy.ops.object.idtech_animation_duplicate(name="run", copy="sprint")
    turn("sprint", 1)
    export_bytes(tmp_path / "walk.mdx", export_mdx, what="ALL")
    rows = {row[0]: row[1:4] for row in rows_beside(tmp_path / "walk.mdx")}
    assert rows["sprint"][:2] == ["6", "3"] and rows['"late'][1:] == ["5", "1"]


def test_a_rate_that_is_asked_for_is_that_of_all_rows(table):
    export_bytes(table / "walk.mdx", export_mdx, what="ALL", frame_rate=30.0)
    assert [row[-4] for row in rows_beside(table / "walk.mdx")][:2] == ["30", "30"]


def test_rows_that_the_scenes_range_leaves_out_are_said(table, capfd):
    strip = rig().animation_data.nla_tracks.new().strips.new("layer", 0, bpy.data.actions["run"])
    strip.blend_type = "COMBINE"
    rig().animation_data.action_blend_type = "COMBINE"
    activate(rig())
    said = "the scene's range is written as it shows, and no rows of a table"
    export_bytes(table / "x.mdx", export_mdx)
    assert f"{said} (All Actions writes the files that have them): 'walk'" in capfd.readouterr().out
    export_bytes(table / "x.mdx", export_mdx, what="ALL")
    assert said not in capfd.readouterr().out


def test_a_table_that_says_the_same_is_not_written(table):
    (table / "walk.aninc").unlink()
    for options in ({}, {"what": "ALL"}):
        assert export_bytes(table / "walk.mdx", export_mdx, **options) == WALK
        assert not (table / "walk.aninc").exists()


def test_rows_of_a_model_whose_bones_moved_at_rest_are_as_all_frames_show_them(table):
    activate(rig())
    bpy.ops.object.mode_set(mode="EDIT")
    rig().data.edit_bones["fuß"].roll += 0.5
    bpy.ops.object.mode_set(mode="OBJECT")
    data = export_bytes(table / "walk.mdx", export_mdx)
    assert len(mdx.read(data).frames) == 6 and data != WALK
    assert (table / "walk.aninc").read_text(encoding="utf-8") == TABLE
    turn("run", 1)
    changed = differences(data, export_bytes(table / "walk.mdx", export_mdx))
    assert changed == {f"frames[3].{n}" for n in OF_FRAME}


def test_an_edit_of_all_frames_stays_where_no_row_was_edited(table):
    turn("walk", 0)
    turn("run", 1)
    changed = differences(WALK, export_bytes(table / "walk.mdx", export_mdx))
    assert changed == {f"frames[{f}].{n}" for f in (0, 3) for n in OF_FRAME}


def roll() -> None:
    with editing(rig()) as bones:
        bones["fuß"].roll = 0.5


def add_bone() -> None:
    with editing(rig()) as bones:
        made = bones.new("extra")
        made.head, made.tail, made.parent = (0, 0, 9), (0, 4, 9), bones["fuß"]


def delete_bone() -> None:
    with editing(rig()) as bones:
        bones.remove(bones["tag_hand"])
        bones["fuß"].roll = 0.5


def limit() -> None:
    follow = rig().pose.bones["fuß"].constraints.new("LIMIT_ROTATION")
    follow.use_limit_x, follow.max_x, follow.owner_space = True, 0.05, "LOCAL"


# What changes how bones stand in all frames, whatever plays; and options of an export that do.
MOVED: dict[str, tuple[Any, dict[str, Any]]] = {
    "another scale": (lambda: None, {"scale": 0.5}),
    "a rolled bone": (roll, {}),
    "a bone more": (add_bone, {}),
    "a bone less, and one rolled": (delete_bone, {}),
    "Euler angles": (lambda: setattr(rig().pose.bones[0], "rotation_mode", "XYZ"), {}),
    "a constraint": (limit, {}),
    "the armature": (lambda: setattr(rig(), "rotation_euler", (0.1, 0.2, 0.3)), {}),
    "no inherited rotation": (lambda: setattr(rig().data.bones["fuß"], "use_inherit_rotation", False), {}),
}


@pytest.mark.parametrize("case", MOVED)
def test_an_edit_of_all_frames_stays_where_bones_stand_otherwise_in_all(tmp_path, figure, capfd, case):
    """Rows that nobody edited are written as without them; of one that was edited, the frames that were."""
    change, options = MOVED[case]

    def written(table: bool, edited: str = "") -> bytes:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        (tmp_path / "walk.aninc").write_text(TABLE if table else "", encoding="utf-8")
        read(figure)
        change()
        turn("walk", 3, 0.3)
        if edited:
            turn(edited, 2, 0.3)  # frame 4 of the file
        target = tmp_path / "out" / f"{table}{edited}.mdx"
        target.parent.mkdir(exist_ok=True)
        activate(rig())
        return export_bytes(target, export_mdx, **options)

    alone = written(table=False)
    assert differences(alone, written(table=True)) == set()
    changed = differences(alone, written(table=True, edited="run"))
    # A new bone's length, which a file has once, is the mean of all frames.
    assert changed and all(name.startswith(("frames[4].", "bones[8].parent_dist")) for name in changed)
    assert re.search("rows are written as all frames of 'Truerun.mdx' show them.*: 'run'", capfd.readouterr().out)


def retime(name: str, frames: list[int]) -> None:
    """Let an action show some of its frames, one after another."""
    action = bpy.data.actions[name]
    for curve in curves_of(action):
        values = [curve.evaluate(float(frame)) for frame in frames]
        while len(curve.keyframe_points) > len(values):
            curve.keyframe_points.remove(curve.keyframe_points[-1])
        while len(curve.keyframe_points) < len(values):
            curve.keyframe_points.insert(float(len(curve.keyframe_points)), 0.0)
        for nth, value in enumerate(values):
            curve.keyframe_points[nth].co = (float(nth), value)
        curve.update()
    action.frame_end = len(frames) - 1


@pytest.mark.parametrize("rolled", [False, True])
@pytest.mark.parametrize("shifted", [False, True])
def test_a_row_shows_the_frames_of_its_range(table, shifted, rolled):
    """Which someone set by hand, or that keys were moved to: not those of its file's numbers."""
    if rolled:
        roll()
    activate(rig())
    before, run = MDX.load(export_bytes(table / "walk.mdx", export_mdx), "x"), bpy.data.actions["run"]
    values = {(c.data_path, c.array_index): c.evaluate(5.0) for c in curves_of(bpy.data.actions["walk"])}
    for curve in curves_of(run):
        curve.keyframe_points.insert(3.0, values[curve.data_path, curve.array_index])  # frame 5 of the file
        for key in curve.keyframe_points if shifted else ():
            key.co.x += 5.0
        curve.update()
    run.use_frame_range = True
    run.frame_start, run.frame_end = (5, 7) if shifted else (1, 3)
    after = MDX.load(export_bytes(table / "walk.mdx", export_mdx), "x")
    own, old = (chain(each.parents, each.positions, each.rotations)[0] for each in (after, before))
    np.testing.assert_allclose(own[2:5], old[[2, 3, 4] if shifted else [3, 4, 5]], atol=0.02)


@pytest.mark.parametrize("case", MOVED)
def test_rows_go_along_with_frames_that_move_where_bones_stand_otherwise(table, case):
    change, options = MOVED[case]
    change()
    retime("walk", [0, 1, 0, 1, 2, 3, 4, 5])
    activate(rig())
    assert len(mdx.read(export_bytes(table / "walk.mdx", export_mdx, **options)).frames) == 8
    assert [row[-8:-5] for row in rows_beside(table / "walk.mdx")][1] == ["run", "4", "3"]


@pytest.mark.parametrize("edited", [False, True])
def test_rows_go_along_with_frames_that_move(table, edited):
    retime("walk", [0, 1, 0, 1, 2, 3, 4, 5])
    if edited:
        turn("run", 1)
        turn("walk", 4)  # of the row, in the action of all frames
    after, before = mdx.read(export_bytes(table / "walk.mdx", export_mdx)).frames, mdx.read(WALK).frames
    wanted = before["bones"][[0, 1, 0, 1, 2, 3, 4, 5]]
    same = [number for number in range(8) if after["bones"][number].tobytes() == wanted[number].tobytes()]
    assert same == ([0, 1, 2, 3, 6, 7] if edited else list(range(8)))
    rows = {row[0]: row[1:4] for row in rows_beside(table / "walk.mdx")}
    assert rows["run"][:2] == ["4", "3"] and rows['"late'][1:] == ["7", "1"]


def test_rows_of_frames_that_are_gone_go_behind_all_others(table, capfd):
    retime("walk", [0, 1])
    after, before = mdx.read(export_bytes(table / "walk.mdx", export_mdx)).frames, mdx.read(WALK).frames
    assert after["bones"].tobytes() == before["bones"][[0, 1, 2, 3, 4, 5]].tobytes()
    rows = {row[0]: row[1:4] for row in rows_beside(table / "walk.mdx")}
    assert rows["stand"][:2] == ["0", "2"] and rows["run"][:2] == ["2", "3"] and rows['"late'][1:] == ["5", "1"]
    said = capfd.readouterr().out
    assert "all frames of 'walk.mdx' are without those that 'run' shows: its own are behind all others now" in said


# How the action of all six frames is edited, which frames of the file are those of 'run' (2, 3, 4) then.
TIMED = {
    "held": ([0, 1, 2, 2, 4, 5], [2, 2, 4]),
    "swapped": ([0, 1, 3, 2, 4, 5], [3, 2, 4]),
    "longer": ([0, 1, 2, 3, 3, 4, 5], [2, 3, 3, 4]),
    "shorter": ([0, 1, 2, 4, 5], [2, 4]),
    "later": ([0, 0, 0, 1, 2, 2, 4, 5], [2, 2, 4]),
    "cut off": ([0, 1, 2], [2]),
    "elsewhere": ([2, 3, 4, 0, 1, 5], [2, 3, 4]),
}


@pytest.mark.parametrize("edited", [False, True])
@pytest.mark.parametrize("how", TIMED)
def test_what_is_timed_otherwise_in_all_frames_is_so_in_rows(table, how, edited, capfd):
    frames, wanted = TIMED[how]
    retime("walk", frames)
    if edited:
        turn("run", 1)
    after, before = mdx.read(export_bytes(table / "walk.mdx", export_mdx)).frames, mdx.read(WALK).frames
    first, count = ({row[0]: row[1:3] for row in rows_beside(table / "walk.mdx")})["run"]
    found = after["bones"][int(first) : int(first) + int(count)]
    said = capfd.readouterr().out
    if not edited:
        assert found.tobytes() == before["bones"][wanted].tobytes()
        other = f"'run' has {len(wanted)} frame" in said and "these are written (not the 3 that it had)" in said
        assert other == (len(wanted) != 3)
        return
    left = [wanted[0], wanted[2]] if len(wanted) == 3 else [2, 4]  # of what the row's action shows as it was
    assert found[[0, 2]].tobytes() == before["bones"][left].tobytes()
    assert found[1].tobytes() not in {each.tobytes() for each in before["bones"]}
    behind = "'run' was edited, and has another number of frames in all of 'walk.mdx': its own are behind all" in said
    assert behind == (len(wanted) != 3) == (int(first) >= len(frames))


def test_a_pose_that_a_file_has_twice_stands_for_itself(tmp_path, capfd):
    frames = list(samples_mdm.moving_frames(6, seed=5))
    (tmp_path / "walk.aninc").write_text("run 2 3 0 15 0 0 0\n", encoding="utf-8")
    put(tmp_path / "walk.mdx", samples_mdm.MdxSpec(frames=[*frames[:5], frames[2]]).pack())
    read(put(tmp_path / "figure.mdm", FIGURE))
    retime("walk", [0, 0, 0, 0, 1, 2, 3, 4, 5])
    turn("run", 1)
    export_bytes(tmp_path / "walk.mdx", export_mdx)
    assert rows_beside(tmp_path / "walk.mdx")[0][:3] == ["run", "5", "3"]
    assert "behind all others" not in capfd.readouterr().out


def test_poses_that_a_file_has_twice_do_not_cut_a_row_off(tmp_path, capfd):
    first, *more = samples_mdm.moving_frames(6, seed=5)
    frames = [first, more[0], more[1], first, more[0], more[1], *more[2:]]
    (tmp_path / "walk.aninc").write_text("run 4 3 0 15 0 0 0\n", encoding="utf-8")
    put(tmp_path / "walk.mdx", samples_mdm.MdxSpec(frames=frames).pack())
    read(put(tmp_path / "figure.mdm", FIGURE))
    retime("walk", [0, 1, 0, 1, *range(2, len(frames))])
    export_bytes(tmp_path / "walk.mdx", export_mdx)
    assert rows_beside(tmp_path / "walk.mdx")[0][:3] == ["run", "6", "3"]
    assert "these are written" not in capfd.readouterr().out


def test_frames_that_rows_share_go_behind_all_others(tmp_path, figure, capfd):
    (tmp_path / "walk.aninc").write_text(TABLE.replace("run 2 3", "run 1 3"), encoding="utf-8")
    read(figure)
    turn("run", 1)
    after = mdx.read(export_bytes(tmp_path / "walk.mdx", export_mdx)).frames
    before = mdx.read(WALK).frames
    assert "'run' shares frames of 'walk.mdx' with 'stand'" in capfd.readouterr().out
    assert after[:6].tobytes() == before.tobytes() and after[[6, 8]].tobytes() == before[[1, 3]].tobytes()
    assert rows_beside(tmp_path / "walk.mdx")[1] == ["run", "6", "3", "0", "21", "127", "50", "0"]


def test_a_row_that_got_longer_and_one_that_was_added(table):
    activate(rig())
    action = bpy.data.actions["run"]
    for curve in curves_of(action):
        curve.keyframe_points.insert(3.0, curve.evaluate(0.0))
    action.frame_end = 3
    bpy.ops.object.idtech_animation_play(name="walk")
    bpy.ops.object.idtech_animation_add(name="part", first=1, last=2)
    after = mdx.read(export_bytes(table / "walk.mdx", export_mdx, what="ALL")).frames
    before = mdx.read(WALK).frames
    assert after["bones"].tobytes() == before["bones"][[0, 1, 2, 3, 4, 5, 2, 3, 4, 2]].tobytes()
    rows = {row[0]: row[1:3] for row in rows_beside(table / "walk.mdx")}
    assert rows["run"] == ["6", "4"] and rows["part"] == ["1", "2"], "frames that there are already"


def test_all_frames_and_another_action_are_chosen(table):
    activate(rig())
    bpy.data.actions["run"].copy().name = "dance"
    bpy.data.actions["dance"].pop(TABLE_OF)  # no row of the file: one of the modder's own
    data = export_bytes(table / "walk.mdx", export_mdx, what="CHOSEN", actions="dance,walk,run")
    after, before = mdx.read(data).frames, mdx.read(WALK).frames
    assert after.tobytes() == before[[2, 3, 4, 0, 1, 2, 3, 4, 5]].tobytes()
    rows = [row[:3] if row[0] != '"late' else row[1:4] for row in rows_beside(table / "walk.mdx")]
    assert rows == [["dance", "0", "3"], ["stand", "3", "2"], ["run", "5", "3"], ['one"', "8", "1"]]


@pytest.mark.parametrize("chosen", ["walk,dance", "dance,walk", "stand,run,late one,dance,more", "late one,stand"])
def test_each_row_has_a_line_where_the_last_of_the_table_has_no_end(tmp_path, figure, chosen):
    (tmp_path / "walk.aninc").write_text(TABLE.rstrip().replace("\n", "\n\t\t"), encoding="utf-8")
    read(figure)
    for name, of in (("dance", "run"), ("more", "late one")):
        bpy.data.actions[of].copy().name = name
    bpy.data.actions["dance"].pop(TABLE_OF)
    export_bytes(tmp_path / "walk.mdx", export_mdx, what="CHOSEN", actions=chosen)
    count = 4 if "walk" in chosen else len(chosen.split(","))
    lines = (tmp_path / "walk.aninc").read_text(encoding="utf-8").splitlines()
    assert sum(bool(line.strip()) and not line.startswith("//") for line in lines) == count
    assert len(rows_beside(tmp_path / "walk.mdx")) == count


def test_a_row_alone_over_the_file_of_all_frames_is_said(table, capfd):
    activate(rig())
    bpy.ops.object.idtech_animation_play(name="run")
    export_bytes(table / "walk.mdx", export_mdx)
    said = "'walk.aninc' stays, and has rows of frames that are no longer there"
    how = "to write the file whole, export the action of all its frames, or all rows as Chosen Actions"
    assert f"{said} ({how}): 'run', 'late one'" in capfd.readouterr().out
    export_bytes(table / "run.mdx", export_mdx)
    assert said not in capfd.readouterr().out


def test_a_table_that_is_given_reaches_too_far_or_is_broken(tmp_path, capfd):
    put(tmp_path / "walk.mdx", WALK)
    (tmp_path / "t.aninc").write_text("all 0 99 0 15 0 0 0\ngone 50 5 0 15 0 0 0\n", encoding="utf-8")
    assert import_mdx(filepath=str(tmp_path / "walk.mdx"), table=str(tmp_path / "t.aninc")) == {"FINISHED"}
    assert sorted(bpy.data.actions.keys()) == ["all", "walk"]
    assert bpy.data.actions["all"].frame_range[1] == 5
    said = "'walk' has 6 frames, which is fewer than its table says of 'all', 'gone'"
    assert said in capfd.readouterr().out
    bpy.data.actions["all"][properties.MOVE_SPEED] = 7
    export_bytes(tmp_path / "out.mdx", export_mdx)
    assert (tmp_path / "out.aninc").read_text(encoding="utf-8") == "all 0 99 0 15 7 0 0\ngone 50 5 0 15 0 0 0\n"
    assert said not in capfd.readouterr().out
    (tmp_path / "t.aninc").write_text("all 0 x", encoding="utf-8")
    activate(rig())
    assert import_mdx(filepath=str(tmp_path / "walk.mdx"), table=str(tmp_path / "t.aninc")) == {"FINISHED"}
    assert len(bpy.data.actions) == 3, "the file itself is there"


# -- legs and torso


def preview(**options: Any) -> Any:
    activate(rig())
    assert bpy.ops.object.idtech_preview_torso(**options) == {"FINISHED"}
    return rig().animation_data.action


@pytest.mark.parametrize("scale", [1.0, 0.1])
def test_the_preview_shows_what_the_game_mixes(figure, tmp_path, scale):
    put(tmp_path / "run.mdx", RUN)
    read(figure, scale=scale)
    action = preview(legs="walk", torso="run", pitch=10.0, yaw=40.0)
    wanted = mixed(MDX.load(WALK, "walk"), MDX.load(RUN, "run"), "", (10.0, 40.0))
    assert action.frame_range[1] == wanted.num_frames - 1 == 5
    places, turns = chain(wanted.parents, wanted.positions, wanted.rotations)
    for frame in range(6):
        bpy.context.scene.frame_set(frame)
        for joint, name in enumerate(wanted.joint_names):
            matrix = np.array(rig().pose.bones[name].matrix)
            np.testing.assert_allclose(matrix[:3, 3], scale * places[frame, joint], atol=1e-3 * scale)
            np.testing.assert_allclose(matrix[:3, 1], to_matrices(turns[frame, joint])[:, 0], atol=1e-4)
    legs = MDX.load(WALK, "walk")
    plain = chain(legs.parents, legs.positions, legs.rotations)[1]
    same = np.abs((plain[3] * turns[3]).sum(axis=1)) > 1 - 1e-6
    assert same.tolist() == [True, False, False, True, True, True, False, True], "the torso does not play the legs'"


def test_a_preview_is_never_exported(table):
    action = preview(legs="walk", torso="walk")
    assert action[properties.PREVIEW]
    path = str(table / "out.mdx")
    said = "shows how the game mixes others"
    for options in ({}, {"what": "CHOSEN", "actions": action.name}):
        assert said in error_of(export_mdx, filepath=path, **options)
    assert said in error_of(export_mdm, filepath=str(table / "o.mdm"), write_animation=True)
    assert not (table / "out.mdx").exists()
    assert export_mdx(filepath=path, what="ALL") == {"FINISHED"}
    assert [p.name for p in table.glob("*.mdx")] == ["walk.mdx"]


def test_what_can_not_be_previewed(table):
    activate(rig())
    call = bpy.ops.object.idtech_preview_torso
    assert "no action is called 'nothing'" in error_of(call, legs="walk", torso="nothing")
    for bone in rig().data.bones:
        bone[properties.TORSO_WEIGHT] = 0.0
    assert "no bone has a torso weight above 0" in error_of(call, legs="walk", torso="walk")
    assert properties.PREVIEW not in rig().animation_data.action


# -- what games refuse


def test_too_many_vertices_are_refused_and_the_old_file_stays(tmp_path):
    spec = samples_mdm.figure_spec()
    part = spec.surfaces[0]
    part.verts = [(n, (i / 1025, 0.5), w) for i in range(1025) for n, _, w in (part.verts[i % 42],)]
    part.collapse = [0] * 1025
    part.tris = [(i, i + 1, i + 2) for i in range(1023)]
    put(tmp_path / "big.mdm", spec.pack())
    put(tmp_path / "walk.mdx", WALK)
    read(tmp_path / "big.mdm")
    out = put(tmp_path / "out.mdm", b"old")
    said = error_of(export_mdm, filepath=str(out), game="et")
    assert "has 1025 vertices, Wolfenstein: Enemy Territory takes 1024" in said
    assert out.read_bytes() == b"old"
    assert export_bytes(out, game="etlegacy") == spec.pack()


@pytest.mark.skipif(not corpus(".mdm"), reason="the corpus of real files is not here")
def test_a_real_game_folder(tmp_path):
    """The model in its folder, two animations with the games' own tables beside them."""
    files = {f.path.name: f for s in (".mdm", ".mdx", ".aninc") for f in corpus(s) if "eastfront" not in str(f.path)}
    put(tmp_path / "models/naked.mdm", files["naked.mdm"].data)
    for name in ("akimbo.mdx", "akimbo.aninc", "swim.mdx", "swim.aninc"):
        put(tmp_path / "animations/human/base" / name, files[name].data)
    base = tmp_path / "animations/human/base"
    read(tmp_path / "models/naked.mdm", animation=str(base / "akimbo.mdx"))
    assert rig().animation_data.action.name == "akimbo"
    assert len(bpy.data.actions) > 2
    activate(rig())
    assert import_mdx(filepath=str(base / "swim.mdx")) == {"FINISHED"}
    out = put(tmp_path / "out.mdm", b"")
    assert export_bytes(out, game="et") == files["naked.mdm"].data
    assert export_bytes(tmp_path / "out.mdx", export_mdx, game="et") == files["swim.mdx"].data


def test_a_model_and_its_bones_are_written_together_or_not_at_all(table):
    (table / "o.mdm").write_bytes(b"old")
    (table / "o.mdx").mkdir()
    said = error_of(export_mdm, filepath=str(table / "o.mdm"), write_animation=True)
    assert "o.mdx': it is a folder" in said
    assert (table / "o.mdm").read_bytes() == b"old"
    assert not [path for path in table.iterdir() if path.name.startswith(".idtech-")]
    (table / "o.mdx").rmdir()
    assert export_mdm(filepath=str(table / "o.mdm"), write_animation=True) == {"FINISHED"}
    assert (table / "o.mdx").read_bytes().startswith(b"MDXW")
