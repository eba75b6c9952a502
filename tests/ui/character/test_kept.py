"""Animations of characters of Doom 3 and XreaL, each a file: all are listed, kept as they are, made when played."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mathutils import Vector

from io_idtech_models.blender.compat import playing_curves
from io_idtech_models.blender.properties import ANIM_FLAGS, FRAME_COMMANDS
from io_idtech_models.blender.provenance import FILE
from io_idtech_models.blender.skeletal import kept_frames
from io_idtech_models.formats import by_name
from tests.samples_doom3 import EXAMPLE, NEWT, TEXT, put_character
from tests.samples_xreal import FOLDER, put_player
from tests.ui.character.games import (
    GAMES,
    actions,
    changed,
    edit_bones,
    fresh,
    keys_of,
    listed,
    opened,
    read,
    rig,
    saved,
    show,
)
from tests.ui.scene import activate, add_cube, bpy, error_of, reopen

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
ANIMATIONS = ["ik_pose", "idle", "walk1", "walk1, 2"]
make, play = bpy.ops.object.idtech_animation_make, bpy.ops.object.idtech_animation_play
WALK = f"{NEWT}/walk.md5anim"
SAMPLES = {name: (EXAMPLE / f"{name}.md5anim").read_bytes() for name in ("idle", "walk")}


def newt(folder: Path, files: dict[str, bytes] | None = None, **options: Any) -> Any:
    """Import the monster, whose armature is active then; returns that."""
    return opened(put_character(folder, **files or {}), "doom3", **options)


def cut(name: str) -> dict[str, bytes]:
    """Return a file of frames that is damaged behind its joints."""
    return {f"{name}_md5anim": SAMPLES[name].split(b"frame 5")[0]}


def motion(data: bytes) -> Any:
    return by_name("md5anim").load(data, "")


def test_what_is_made_when_played_is_what_all_at_once_would_be(tmp_path):
    newt(tmp_path, make_all=True)
    assert actions() == sorted(ANIMATIONS)
    every = {}
    for name in ANIMATIONS:
        action = show(name)
        every[name] = (
            keys_of(rig()),
            {key: action.get(key) for key in (ANIM_FLAGS, FRAME_COMMANDS, "idtech_frame_rate")},
        )
    fresh()
    newt(tmp_path / "again")
    assert actions() == ["idle"]
    for name in ANIMATIONS:
        action, (curves, said) = show(name), every[name]
        assert {key: action.get(key) for key in said} == said
        own = keys_of(rig())
        assert own.keys() == curves.keys() and all(np.array_equal(own[key], curves[key]) for key in own)
    assert listed() == ANIMATIONS


def two_that_idle() -> dict[str, bytes]:
    """Return files with two animations that are called so, of which one lies."""
    text = TEXT.replace("anim	idle", "anim	lying_idle").replace("anim	walk1", "anim	idle_up")
    flat = motion(SAMPLES["idle"])
    flat.source, flat.positions = None, flat.positions * 0.1
    return {"newt_def": text.encode(), "idle_md5anim": by_name("md5anim").dump(flat)}


@pytest.mark.parametrize(
    ("asked", "files", "first"),
    [("idle", {}, "idle"), ("Walk1, 2", {}, "walk1, 2"), ("", {}, "idle"), ("", two_that_idle(), "idle_up")],
)
def test_the_one_that_is_shown_first(tmp_path, asked, files, first, capfd):
    """Of several that idle the one that stands: a name says nothing of the pose, the file is looked at."""
    newt(tmp_path, files, animation=asked)
    assert actions() == [first] and rig().animation_data.action.name == first
    assert "warning" not in capfd.readouterr().out.lower()


def test_only_one_file_of_frames_is_read(tmp_path):
    """What is damaged behind its joints is said when it is played, and the others are made all the same."""
    newt(tmp_path, cut("walk"))
    assert listed() == ANIMATIONS
    said = error_of(play, name="walk1")
    assert "'walk.md5anim': " in said and "ends too early" in said
    assert make() == {"FINISHED"}
    assert actions() == ["idle", "ik_pose"]
    assert saved(tmp_path / "out")[WALK] == cut("walk")["walk_md5anim"]


@pytest.mark.parametrize(("name", "all_at_once", "made"), [("walk", True, ["idle", "ik_pose"]), ("idle", False, [])])
def test_what_an_import_can_not_read_is_said(tmp_path, capfd, name, all_at_once, made):
    newt(tmp_path, cut(name), make_all=all_at_once)
    assert f"'{name}.md5anim': " in capfd.readouterr().out
    assert (actions(), listed()) == (made, ANIMATIONS)
    assert f"'{name}.md5anim': " in (error_of(make) if all_at_once else error_of(play, name="idle"))


@pytest.mark.parametrize("played", [(), ("walk1",), ("walk1, 2", "ik_pose")])
def test_files_come_back_played_or_not(tmp_path, played):
    """Whatever became of those on the disk."""
    own = {name: SAMPLES[name] + b"// mine" for name in ("idle", "walk")}
    newt(tmp_path, {f"{name}_md5anim": data for name, data in own.items()})
    for name in played:
        show(name)
    for path in (tmp_path / NEWT).glob("*.md5anim"):
        path.unlink()
    found = saved(tmp_path / "out")
    assert {name: found[f"{NEWT}/{name}.md5anim"] for name in own} == own
    assert "nothing" in error_of(bpy.ops.export_scene.idtech_character, filepath=str(tmp_path / "x"), edited_only=True)


def test_a_blend_keeps_what_is_not_made(tmp_path):
    newt(tmp_path)
    reopen(tmp_path)
    assert listed() == ANIMATIONS
    assert show("walk1")[ANIM_FLAGS] == "random_cycle_start"
    assert FILE not in show("ik_pose"), "its file has another name, too"
    assert [file.game_name for file in kept_frames.kept_files(rig())] == [f"{NEWT}/idle.md5anim", WALK]


@pytest.mark.parametrize("name", ["md3", "../x"])
def test_a_strangers_file_of_no_motion_is_refused(tmp_path, name):
    newt(tmp_path)
    data = rig().data
    data[kept_frames.ROWS] = data[kept_frames.ROWS].replace('"format": "md5anim"', f'"format": "{name}"')
    said = f"is of no format with frames: '{name}'"
    assert said in error_of(play, name="walk1")
    assert said in error_of(bpy.ops.export_scene.idtech_character, filepath=str(tmp_path / "out"))


def test_another_name_or_a_copy_is_a_new_animation(tmp_path):
    """The game's own is asked for by its name, and stays."""
    newt(tmp_path)
    edit: Any = bpy.ops.object
    assert edit.idtech_animation_duplicate(name="walk1", copy="stroll") == {"FINISHED"}
    assert listed() == [*ANIMATIONS, "stroll"]
    assert "games ask for them by name" in error_of(edit.idtech_animation_remove, name="walk1")
    assert edit.idtech_animation_remove(name="stroll") == {"FINISHED"}
    assert listed() == ANIMATIONS
    assert edit.idtech_animation_rename(name="walk1", to="stroll") == {"FINISHED"}
    assert listed() == [*ANIMATIONS, "stroll"]
    show("idle").name = "rest"
    assert listed() == [*ANIMATIONS, "rest", "stroll"]
    assert show("idle").name == "idle"
    found = saved(tmp_path / "out")
    assert found[f"{NEWT}/stroll.md5anim"] == found[WALK] == SAMPLES["walk"]
    assert b"anim	stroll" in found["def/monster_newt.def"] and b"anim	walk1" in found["def/monster_newt.def"]


def test_a_bone_more_goes_into_all_files(tmp_path):
    """What is not made goes onto the bones as they are by now: the game takes animations of the mesh's joints alone."""
    newt(tmp_path)

    def add(bones: Any) -> None:
        tail = bones.new("feather")
        tail.parent, tail.head, tail.tail = bones["head"], (0, 0, 20), (0, 0, 24)

    edit_bones(add)
    found = {name: motion(data) for name, data in saved(tmp_path / "out").items() if name.endswith(".md5anim")}
    show("walk1")
    assert [c for c in playing_curves(rig()) if "feather" in c.data_path] == []
    again = motion(saved(tmp_path / "again")[WALK])
    for name in ("idle", "walk"):
        before, after = motion(SAMPLES[name]), found[f"{NEWT}/{name}.md5anim"]
        for each in (after, again) if name == "walk" else (after,):
            assert each.joint_names == [*before.joint_names, "feather"]
            assert np.array_equal(each.positions[:, :-1], before.positions)
            assert np.array_equal(each.rotations[:, :-1], before.rotations)
            assert np.ptp(each.positions[:, -1], axis=0).max() == 0
    assert np.abs(again.positions - found[WALK].positions).max() < 1e-4


def test_a_bone_less_and_another_name(tmp_path):
    newt(tmp_path)
    names = motion(SAMPLES["idle"]).joint_names
    leaf = next(bone.name for bone in reversed(rig().data.bones) if not bone.children and bone.name != "head")

    def change(bones: Any) -> None:
        bones.remove(bones[leaf])
        bones["head"].name = "skull"

    mesh = next(block for block in bpy.data.objects if block.type == "MESH" and block.parent == rig())
    mesh.vertex_groups["head"].add(range(len(mesh.data.vertices)), 1.0, "ADD")
    edit_bones(change)
    show("walk1")
    found = saved(tmp_path / "out")
    wanted = ["skull" if name == "head" else name for name in names if name != leaf]
    assert motion(found[f"{NEWT}/idle.md5anim"]).joint_names == wanted == motion(found[WALK]).joint_names


@pytest.mark.parametrize("made", ["before", "after"])
@pytest.mark.parametrize("how", ["bone", "applied"])
def test_what_is_not_made_goes_along_with_bones_that_are_moved_at_rest(tmp_path, how, made):
    """As actions do, which say how bones stand against their rest: also those that are made afterwards."""

    def move(bones: Any) -> None:
        bones["lower_front_right"].translate(Vector((0.0, 1.0, 2.0)))
        bones["lower_front_right"].roll += 0.3

    found = []
    for when in (made, "never"):
        fresh()
        newt(tmp_path / when)
        if when == "before":
            assert make() == {"FINISHED"}
        if how == "bone":
            edit_bones(move)
        else:
            activate(rig(), *(block for block in bpy.data.objects if block.type == "MESH" and block.parent == rig()))
            rig().location, rig().rotation_euler, rig().scale = (10, 20, 3), (0.1, 0.2, 0.3), (2, 2, 2)
            assert bpy.ops.object.transform_apply() == {"FINISHED"}
        if when == "after":
            assert make() == {"FINISHED"}
        found.append(
            {name: motion(data) for name, data in saved(tmp_path / f"{when} out").items() if "md5anim" in name}
        )
    before = motion(SAMPLES["walk"])
    assert np.abs(found[1][WALK].positions - before.positions).max() > 1
    assert found[0].keys() == found[1].keys()
    for name, own in found[0].items():
        for kind in ("positions", "rotations"):
            assert np.abs(getattr(own, kind) - getattr(found[1][name], kind)).max() < 1e-4, name


def test_a_bone_that_is_moved_edits_both_names_of_a_file(tmp_path, capfd):
    """One has an action, the other none, and numbers of either come by another way."""
    newt(tmp_path)

    def lift(bones: Any) -> None:
        for end in (bones["head"].head, bones["head"].tail):
            end.z += 1.0

    edit_bones(lift)
    capfd.readouterr()
    assert f"{NEWT}/idle.md5anim" in changed(saved(tmp_path / "out"), "doom3")
    assert "is the file of these" not in capfd.readouterr().out


@pytest.mark.parametrize("name", ["idle", "ik_pose"])
def test_of_two_names_of_a_file_that_counts_whose_keys_were_changed(tmp_path, name):
    """Where bones were moved as well, which both go along with."""
    newt(tmp_path)
    show("ik_pose")
    show(name)
    curve = next(c for c in playing_curves(rig()) if c.data_path.endswith("quaternion") and c.array_index == 1)
    curve.keyframe_points[2].co.y += 0.4
    edit_bones(lambda bones: setattr(bones["head"], "roll", bones["head"].roll + 0.5))
    found = motion(saved(tmp_path / "out")[f"{NEWT}/idle.md5anim"])
    before = motion((tmp_path / NEWT / "idle.md5anim").read_bytes())
    turned = np.abs(found.rotations - before.rotations).max(axis=2)
    joint = before.joint_names.index(curve.data_path.split('"')[1])
    assert turned[2, joint] > 0.05 > turned[1, joint]


def test_exports_of_what_is_not_made(tmp_path, capfd):
    """All actions are without it, which is said; a declaration has it."""
    newt(tmp_path)
    export, out = bpy.ops.export_anim.idtech_md5anim, tmp_path / "def/own.def"
    assert export(filepath=str(tmp_path / "out/x.md5anim"), what="ALL") == {"FINISHED"}
    said = "3 animations without an action yet left out, Make All Animations (in the sidebar) makes them"
    assert f"{said}: 'ik_pose', 'walk1', 'walk1, 2'" in capfd.readouterr().out
    assert bpy.ops.export_scene.idtech_declaration(filepath=str(out), actions="walk1") == {"FINISHED"}
    text = out.read_text()
    assert "anim walk1" in text and "frame 12 call splash" in text and "random_cycle_start" in text
    assert (tmp_path / NEWT / "walk1.md5anim").read_bytes() == SAMPLES["walk"]
    capfd.readouterr()
    make()
    assert export(filepath=str(tmp_path / "out/x.md5anim"), what="ALL") == {"FINISHED"}
    assert "without an action" not in capfd.readouterr().out


def test_scales_beside_a_file_are_there_at_once(tmp_path, capfd):
    """They are no part of it, and a file that is kept knows nothing of them; nor does the game."""
    path = put_player(tmp_path)
    (tmp_path / FOLDER / "walk.md5scale").write_bytes(b'{"head": {"0": 2.0}}')
    read(path, "xreal")
    assert actions() == ["idle", "walk"]
    assert not kept_frames.keeps_frames(rig())
    assert changed(saved(tmp_path / "out"), "xreal") == []
    assert (
        "'walk': scale of bones is lost, joints have none: in frame 0 of the file that of 'head'"
        in capfd.readouterr().out
    )


@pytest.mark.parametrize("game", ["doom3", "xreal"])
def test_a_bone_that_was_renamed_is_called_so_in_all_files(tmp_path, game):
    """Of animations that are made, too: they show what they did."""
    opened(GAMES[game].put(tmp_path), game)
    assert actions()
    rig().data.bones["head"].name = "skull"
    bpy.context.view_layer.update()
    found = saved(tmp_path / "out")
    found.pop(f"{NEWT}/head.md5mesh", None)  # another model
    assert not [path for path, data in found.items() if ".md5" in path and b'"head"' in data]


def test_files_in_step_that_are_not_as_long_as_one_another_are_said(tmp_path, capfd):
    """The game refuses a model whose animation has such."""
    newt(tmp_path)
    said = "the files of the animation 'walk1' have different lengths: the game refuses the model"
    show("walk1")
    saved(tmp_path / "out")
    assert said not in capfd.readouterr().out
    for curve in playing_curves(rig()):
        curve.keyframe_points.insert(40, 0.1)
    saved(tmp_path / "out")
    assert said in capfd.readouterr().out


@pytest.mark.parametrize("game", ["doom3", "xreal"])
def test_how_large_bones_are_is_said_to_be_lost_where_the_game_knows_no_such_thing(tmp_path, capfd, game):
    opened(GAMES[game].put(tmp_path), game)
    bone = rig().pose.bones["head"]
    bone.scale = (2.0, 2.0, 2.0)
    bone.keyframe_insert("scale", frame=0)
    assert not [path for path in saved(tmp_path / "out") if path.endswith(".md5scale")]
    assert "scale of bones is lost, joints have none: in frame 0 of the file that of 'head'" in capfd.readouterr().out


@pytest.mark.parametrize("own", [False, True])
def test_a_player_is_made_with_animations_that_have_no_action_yet(tmp_path, capfd, own):
    """An action that somebody made and called so is what plays, however."""
    opened(put_player(tmp_path), "xreal")
    if own:
        rig().animation_data.action.copy().name = "walk"
    out, options = tmp_path / "models/players/toy", {"torso": "chest", "head": "head", "open_result": False}
    assert bpy.ops.object.idtech_make_player(filepath=str(out), rows="LEGS_BACK=walk", **options) == {"FINISHED"}
    assert actions() == ["idle", "walk"]
    assert rig().animation_data.action.name == "idle"
    assert "actions that no row plays" not in capfd.readouterr().out


@pytest.mark.parametrize(
    ("called", "said"),
    [
        ("", "'{}.001' is left out: "),
        (
            "wiggle",
            "a fake user alone keeps are left out, keep them in NLA tracks of '{}' to write them: 'wiggle'",
        ),
    ],
)
@pytest.mark.parametrize("game", ["doom3", "xreal", "et"])
def test_a_copy_that_is_not_written_is_named(tmp_path, capfd, game, called, said):
    read(GAMES[game].put(tmp_path / "game"), game)
    source = show(GAMES[game].row)
    saved(tmp_path / "before")
    assert "left out" not in capfd.readouterr().out
    copy = source.copy()
    if called:
        copy.name, copy.use_fake_user = called, True
    else:
        rig().animation_data.action = copy
    saved(tmp_path / "out")
    assert said.format(rig().name if called else source.name) in capfd.readouterr().out


@pytest.mark.parametrize("game", ["doom3", "xreal", "et"])
def test_a_new_surface_without_a_material_is_named(tmp_path, capfd, game):
    read(GAMES[game].put(tmp_path / "game"), game)
    crest = add_cube("crest")
    crest.modifiers.new("Armature", "ARMATURE").object = rig()
    crest.vertex_groups.new(name=rig().data.bones[0].name).add(range(8), 1.0, "REPLACE")
    activate(rig())
    saved(tmp_path / "out")
    said = "without a material a surface has no shader, give it one with the shader's name: 'crest'"
    assert said in capfd.readouterr().out
