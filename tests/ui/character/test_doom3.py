"""Import Character: a monster of Doom 3, its head and what is attached on joints, animations under their names."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_idtech_models.blender import names
from io_idtech_models.blender.compat import playing_curves
from io_idtech_models.blender.playback import keep
from io_idtech_models.blender.properties import ANIM_FLAGS, FRAME_COMMANDS
from io_idtech_models.blender.provenance import SKIN, WORN
from io_idtech_models.blender.skeletal.hung import joint_at_rest
from io_idtech_models.tasks.character.exports import chosen_character
from tests.packs import put_pack
from tests.samples_doom3 import DEF, EXAMPLE, HAT, NEWT, TEXT, files, put_character
from tests.ui.character import games
from tests.ui.character.games import actions, fresh, listed, opened, place, rig, roots, run, saved, show
from tests.ui.scene import bpy, error_of, reopen

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
read = partial(games.read, game="doom3")
JOINTS = {"head": "head", "def_attach": "chest"}  # that pieces hang on


def joint(name: str) -> Any:
    """Return where a joint of the body is now."""
    bpy.context.view_layer.update()
    shown = rig().evaluated_get(bpy.context.evaluated_depsgraph_get())
    bone = shown.pose.bones[name]
    turn = np.linalg.inv(np.array(bone.bone.matrix_local)) @ joint_at_rest(bone.bone)
    return np.array(shown.matrix_world) @ np.array(bone.matrix) @ turn


def test_a_body_with_all_that_it_has(tmp_path, capfd):
    read(put_character(tmp_path))
    assert "warning" not in capfd.readouterr().out.lower()
    hung = {kind: (root.parent, root.parent_type, root.parent_bone) for kind, root in roots().items()}
    assert hung == {kind: (rig(), "BONE", name) for kind, name in JOINTS.items()}
    assert listed() == ["ik_pose", "idle", "walk1", "walk1, 2"]
    assert actions() == ["idle"]
    walk = show("walk1")
    assert walk[ANIM_FLAGS] == "random_cycle_start"
    assert walk[FRAME_COMMANDS] == "1 sound_body snd_step\n12 call splash"
    assert ANIM_FLAGS not in bpy.data.actions["idle"]
    body = next(c for c in bpy.data.collections if c.get(SKIN))
    assert body[SKIN] == "newt/gold"
    worn = {names.file_name_of(m): m.get(WORN) for m in bpy.data.materials if m.get(WORN)}
    assert worn == {f"{NEWT}/newt": "newt/gold"}


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_pieces_stand_where_the_game_puts_them(tmp_path, scale):
    """They are put on in the first frame of ik_pose, which is idle's: the head along the body's axes."""
    read(put_character(tmp_path), scale=scale)
    show("ik_pose")
    bpy.context.scene.frame_set(0)
    head, hat = place(roots()["head"]), place(roots()["def_attach"])
    assert np.abs(head[:3, :3] - np.eye(3)).max() < 1e-5
    assert np.abs(head[:3, 3] - joint("head")[:3, 3]).max() < 1e-4
    chest = joint("chest")
    assert np.abs(hat[:3, 3] - chest[:3, 3] - np.array([1, 2, 3]) * scale).max() < 1e-4
    yaw = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    assert np.abs(hat[:3, :3] - chest[:3, :3] @ yaw).max() < 1e-5


def test_pieces_go_along_with_their_joints(tmp_path):
    """Also where the armature was moved, and in a .blend that is opened again."""

    def against_joints() -> Any:
        return np.array([np.linalg.inv(joint(name)) @ place(roots()[kind]) for kind, name in JOINTS.items()])

    read(put_character(tmp_path))
    show("ik_pose")
    bpy.context.scene.frame_set(0)
    before = against_joints()
    show("walk1")
    for frame in (3, 20, 11):
        bpy.context.scene.frame_set(frame)
        assert np.abs(against_joints() - before).max() < 1e-4
    here = {kind: place(root) for kind, root in roots().items()}
    reopen(tmp_path)
    for kind, root in roots().items():
        np.testing.assert_array_equal(place(root), here[kind])
    rig().location = (100.0, 0.0, 0.0)
    assert np.abs(place(roots()["head"])[:3, 3] - here["head"][:3, 3] - np.array([100.0, 0, 0])).max() < 1e-4


def test_from_a_mesh_and_without_animations(tmp_path):
    put_character(tmp_path)
    read(tmp_path / NEWT / "newt.md5mesh", character="", animations=False)
    assert listed() == []
    assert set(roots()) == {"head"}


def test_an_archive_with_several(tmp_path):
    pack = put_pack(tmp_path / "base/pak000.pk4", files())
    assert "say which: 'monster_newt_base', 'monster_newt', 'newt_head'" in error_of(run, filepath=str(pack))


def test_a_joint_that_is_not_there(tmp_path, capfd):
    read(put_character(tmp_path, hat_def=HAT.replace("Chest", "wing").encode()))
    assert "no joint wing of the body to hang def_attach on: it stands at the body's origin" in capfd.readouterr().out
    assert roots()["def_attach"].parent == rig()


def test_a_pose_without_the_joint_puts_pieces_on_as_the_body_is_bound(tmp_path):
    text = TEXT.replace("ik_pose", "other").encode()
    read(put_character(tmp_path, newt_def=text))
    rig().data.pose_position = "REST"
    assert np.abs(place(roots()["head"])[:3, 3] - joint("head")[:3, 3]).max() < 1e-4


def test_files_that_can_not_be_read(tmp_path, capfd):
    read(put_character(tmp_path, walk_md5anim=b"MD5Version 10\n", head_md5mesh=b"x", hat_ase=b"y"))
    said = capfd.readouterr().out
    assert "head is missing" in said and "def_attach is missing" in said
    assert (listed(), roots()) == (["ik_pose", "idle"], {})
    fresh()
    path = put_character(tmp_path, newt_md5mesh=b"x")
    assert "newt.def" in error_of(run, filepath=str(path), character="monster_newt"), "the body"
    assert len(bpy.data.objects) == 0


ARMED = TEXT.replace(
    "model newt_head { mesh",
    f"model newt_head {{ anim blink {NEWT}/walk.md5anim {{ frame 3 call wink }} anim idle {NEWT}/blink.md5anim mesh",
).replace("anim blink", "mesh models/md5/newt/head.md5mesh anim blink", 1)
WEAPONS = """
entityDef weapon_hat { "model_world" "models/toys/hat.ase" "joint_attach" "chest" }
entityDef weapon_toy { "model_world" "newt_head" "joint_attach" "head" }
entityDef weapon_none { "model_view" "x" }
"""


def put_armed(folder: Path, **changed: bytes | None) -> Path:
    text = ARMED.replace(
        '"health"', '"def_weapon0" "weapon_none" "def_weapon1" "weapon_hat" "def_weapon2" "weapon_toy" "health"'
    )
    blink = (EXAMPLE / "idle.md5anim").read_bytes()
    path = put_character(folder, newt_def=(text + WEAPONS).encode(), **changed)
    (folder / NEWT / "blink.md5anim").write_bytes(blink)
    return path


def heads_rig() -> Any:
    return next(b for b in bpy.data.objects if b.type == "ARMATURE" and b.parent == roots()["head"])


def test_a_head_plays_its_own_animations(tmp_path, capfd):
    read(put_armed(tmp_path))
    assert "warning" not in capfd.readouterr().out.lower()
    head = heads_rig()
    assert names.file_name_of(head.animation_data.action) == "idle"
    assert listed(head) == ["idle", "blink"]
    assert FRAME_COMMANDS not in head.animation_data.action
    body = rig().animation_data.action
    blink = show("blink", head)
    assert blink[FRAME_COMMANDS] == "3 call wink"
    assert rig().animation_data.action == body != blink


def test_a_heads_animations_are_saved(tmp_path, capfd):
    opened(put_armed(tmp_path / "game"), "doom3")
    assert "was edited: there is no file" in error_of(games.write, filepath=str(tmp_path / "out"), edited_only=True)
    head = heads_rig()
    for action in (head.animation_data.action.copy(), head.animation_data.action):
        head.animation_data.action = action
        for curve in playing_curves(head):
            for point in curve.keyframe_points if curve.data_path.endswith("location") else ():
                point.co.y += 1
    added = next(action for action in bpy.data.actions if action.name.endswith(".002"))
    added.name = "nod"
    keep(head, added)
    capfd.readouterr()
    assert [Path(name).name for name in saved(tmp_path / "out", edited_only=True)] == ["blink.md5anim"]
    assert "'nod' is no animation that the head has in the game: left out" in capfd.readouterr().out


@pytest.mark.parametrize(("weapon", "name", "bone"), [("", "hat", "chest"), ("Weapon_Toy", "head", "head")])
def test_a_weapon_stands_as_its_joint_does(tmp_path, weapon, name, bone):
    read(put_armed(tmp_path), weapon=weapon)
    assert name in roots()["weapon"].name
    for frame in (0, 7):
        bpy.context.scene.frame_set(frame)
        assert np.allclose(place(roots()["weapon"]), joint(bone), atol=1e-4)


def test_no_weapon_or_another_one(tmp_path, capfd):
    read(put_armed(tmp_path), weapon="none")
    assert "weapon" not in roots()
    path = tmp_path / DEF
    read(path, weapon="bfg")
    assert "there is no weapon 'bfg': 'weapon_hat', 'weapon_toy'" in capfd.readouterr().out
    path.write_bytes(path.read_bytes().replace(b'"health"', b'"current_weapon" "2" "health"'))
    fresh()
    read(path)
    assert "head" in roots()["weapon"].name, "which is held at first"


def test_a_body_without_a_mesh_is_saved(tmp_path):
    """Its armature hangs on a root, and is the body's all the same."""
    body = opened(put_character(tmp_path / "game"), "doom3")
    assert body == chosen_character(bpy.context).rig and body.parent is not None
    bpy.data.batch_remove([block for block in body.children if block.type == "MESH"])
    assert b"numMeshes 0" in saved(tmp_path / "out")[f"{NEWT}/newt.md5mesh"]
