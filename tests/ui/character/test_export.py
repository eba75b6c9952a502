"""Export Character of Enemy Territory: an edit touches its file alone, and goes where the game reads it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_idtech_models.blender import names
from io_idtech_models.blender.compat import playing_curves
from io_idtech_models.blender.curves import curve_points
from io_idtech_models.formats import by_name
from io_idtech_models.game import aninc
from tests.packs import put_pack
from tests.samples_character import CHAR, GROUP, TABLE, TOYS, files, put_character
from tests.ui.character.test_import import read, rig, roots
from tests.ui.scene import add_cube as scene_cube
from tests.ui.scene import bpy, error_of

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
write: Any = bpy.ops.export_scene.idtech_character
play: Any = bpy.ops.object.idtech_animation_play
MDX, EXTRA, HELMET = "animations/toys/body.mdx", "animations/toys/extra.mdx", f"{TOYS}/acc/helmet.md3"


def opened(tmp_path: Path, **options: Any) -> Any:
    read(put_character(tmp_path / "game"), **options)
    bpy.context.view_layer.objects.active = rig()
    return rig()


def saved(tmp_path: Path, **options: Any) -> dict[str, bytes]:
    """Export into a new folder, and return the files that came of it."""
    folder = tmp_path / "out"
    assert write(filepath=str(folder), **options) == {"FINISHED"}
    every = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in every}


def changed(found: dict[str, bytes]) -> list[str]:
    before = files()
    return sorted(name for name, data in found.items() if data != before.get(name))


def move_bone(bone: str = "Bip01 Head", by: float = 0.3) -> None:
    """Turn a bone in all frames of the action that plays, by changing its keys."""
    path = f'pose.bones["{bone}"].rotation_quaternion'
    for curve in playing_curves(rig()):
        if curve.data_path == path and curve.array_index == 1:
            times, values = curve_points(curve)
            points = np.stack((times, values + by), axis=1).astype(np.float32)
            curve.keyframe_points.foreach_set("co", points.ravel())
            curve.update()


def frames_of(data: bytes) -> Any:
    return by_name("mdx").read(data).frames


def test_an_edited_row_lands_in_its_file(tmp_path, capfd):
    opened(tmp_path)
    play(name="walk")
    move_bone()
    found = saved(tmp_path)
    assert changed(found) == [MDX]
    old, new = frames_of(files()[MDX]), frames_of(found[MDX])
    assert len(old) == len(new)
    row = next(row for row in aninc.read_rows(files()[TABLE].decode()) if row.name == "walk")
    others = [frame for frame in range(len(old)) if not row.first <= frame < row.first + row.length]
    assert (old[others] == new[others]).all()
    inside = slice(row.first, row.first + row.length)
    bones = [bone["name"].decode() for bone in by_name("mdx").read(files()[MDX]).bones]
    differing = (old["bones"]["angles"][inside] != new["bones"]["angles"][inside]).any(axis=(0, 2))
    assert [bones[bone] for bone in np.flatnonzero(differing)] == ["Bip01 Head"]
    assert "edited: 'body.mdx'" in capfd.readouterr().out


def test_edited_files_only(tmp_path):
    opened(tmp_path)
    assert "nothing of 'trooper' was edited" in error_of(write, filepath=str(tmp_path / "out"), edited_only=True)
    play(name="crawl")
    move_bone()
    assert list(saved(tmp_path, edited_only=True)) == [EXTRA]


def test_tags_that_the_game_looks_for_and_that_are_gone_are_named(tmp_path, capfd):
    opened(tmp_path)
    tag("tag_weapon").name = "tag_gun"
    bpy.data.objects.remove(tag("tag_mouth"))
    found = saved(tmp_path)
    said = capfd.readouterr().out
    gun = "'tag_gun' was 'tag_weapon' in its file, the name by which games hang models on it: rename it back"
    assert f"body.mdm: {gun}" in said
    assert "toy.md3: the model lacks tags on which games hang models by their names" in said
    assert f"{TOYS}/body.mdm" in changed(found)
    assert bpy.ops.object.idtech_check_game(target="mdm:et") == {"FINISHED"}
    assert gun in capfd.readouterr().out


def test_frames_that_others_share_stay_theirs(tmp_path, capfd):
    table = files()[TABLE] + b"\t\tbow\t\t50 10 0 15 0 0 0\n"
    read(put_character(tmp_path / "game", body_aninc=table))
    bpy.context.view_layer.objects.active = rig()
    play(name="bow")
    move_bone()
    found = saved(tmp_path)
    count = len(frames_of(files()[MDX]))
    assert sorted(n for n, d in found.items() if d != files().get(n)) == [TABLE, MDX]
    assert (frames_of(found[MDX])[:count] == frames_of(files()[MDX])).all()
    assert len(frames_of(found[MDX])) == count + 10
    assert found[TABLE] == table.replace(b"bow\t\t50 10", b"bow\t\t%d 10" % count)
    assert "'bow' shares frames of 'body.mdx' with 'walk'" in capfd.readouterr().out


def test_a_longer_row_goes_behind_all(tmp_path):
    block = opened(tmp_path)
    play(name="salute")
    action = block.animation_data.action
    for curve in playing_curves(block):
        curve.keyframe_points.insert(action.frame_end + 3, 0.1)
    found = saved(tmp_path)
    assert changed(found) == [TABLE, MDX]
    rows = {row.name: row for row in aninc.read_rows(found[TABLE].decode())}
    was = {row.name: row for row in aninc.read_rows(files()[TABLE].decode())}
    count = len(frames_of(files()[MDX]))
    assert (rows["salute"].first, rows["salute"].length) == (count, was["salute"].length + 3)
    assert {name: row for name, row in rows.items() if name != "salute"} == {
        name: row for name, row in was.items() if name != "salute"
    }
    assert len(frames_of(found[MDX])) == count + was["salute"].length + 3


def test_a_renamed_and_retimed_row_changes_its_line(tmp_path):
    block = opened(tmp_path)
    assert bpy.ops.object.idtech_animation_rename(name="crawl", to="creep") == {"FINISHED"}
    play(name="creep")
    block.animation_data.action["idtech_move_speed"] = 33
    play(name="walk")
    block.animation_data.action["idtech_frame_rate"] = 25.0
    found = saved(tmp_path)
    assert changed(found) == [GROUP, TABLE]
    assert found[GROUP] == files()[GROUP].replace(b"crawl\t3 5 5 12 20 100 0", b"creep\t3 5 5 12 33 100 0")
    before, after = files()[TABLE].splitlines(), found[TABLE].splitlines()
    assert [line.split()[0] for line, other in zip(after, before, strict=True) if line != other] == [b"walk"]
    read(tmp_path / "out" / CHAR)  # and it is what it was
    names = [action.name for action in bpy.data.actions]
    assert "creep" in names


def test_a_new_row(tmp_path):
    opened(tmp_path)
    assert bpy.ops.object.idtech_animation_duplicate(name="salute", copy="wave") == {"FINISHED"}
    found = saved(tmp_path)
    assert changed(found) == [TABLE, MDX]
    rows = {row.name: row for row in aninc.read_rows(found[TABLE].decode())}
    count, salute = len(frames_of(files()[MDX])), rows["salute"]
    assert (rows["wave"].first, rows["wave"].length) == (count, salute.length)
    frames = frames_of(found[MDX])
    assert (frames[count:] == frames[salute.first : salute.first + salute.length]).all()


def test_a_new_row_needs_a_name_of_its_own(tmp_path, capfd):
    block = opened(tmp_path)
    block.animation_data.action = bpy.data.actions["stand"].copy()
    assert not changed(saved(tmp_path))
    assert "'stand.001' is left out: 'body.mdx' has a row of that name" in capfd.readouterr().out


def test_a_row_that_takes_anothers_name_keeps_its_own(tmp_path, capfd):
    opened(tmp_path)
    rename: Any = bpy.ops.object.idtech_animation_rename
    rename(name="walk", to="Stand")
    rename(name="salute", to="walk")
    assert not changed(saved(tmp_path))
    said = capfd.readouterr().out
    assert "'walk' keeps its name in the table, 'body.mdx' has a row 'Stand' already: rename the action" in said
    assert "'salute' keeps its name in the table, 'body.mdx' has a row 'walk' already" in said


def test_rows_may_change_names(tmp_path, capfd):
    opened(tmp_path)
    rename: Any = bpy.ops.object.idtech_animation_rename
    for old, new in (("walk", "x"), ("stand", "walk"), ("x", "stand")):
        rename(name=old, to=new)
    bpy.ops.object.idtech_animation_duplicate(name="salute", copy="stand")
    found = saved(tmp_path)
    was, now = files()[TABLE].splitlines(), found[TABLE].splitlines()
    swapped = {b"walk": b"stand", b"stand": b"walk"}
    wanted = [[swapped.get(word, word) for word in line.split()] for line in was]
    assert [line.split() for line in now] == wanted
    said = capfd.readouterr().out
    assert "keeps its name" not in said and "has a row of that name already" in said


def test_points_without_weights_are_said_with_what_can_be_done(tmp_path):
    block = next(each for each in opened(tmp_path).children if each.type == "MESH")
    block.vertex_groups.clear()
    text = error_of(write, filepath=str(tmp_path / "out"))
    assert "weight them (Weights > Assign Automatic), or name a bone where there is the option" in text


def test_all_frames_edited_as_one(tmp_path):
    opened(tmp_path)
    play(name="extra")
    move_bone()
    found = saved(tmp_path)
    assert changed(found) == [EXTRA]
    assert (frames_of(found[EXTRA])["bones"]["angles"] != frames_of(files()[EXTRA])["bones"]["angles"]).any()


def test_an_edited_part_is_written_alone(tmp_path):
    opened(tmp_path)
    helmet = next(b for b in roots()["md3_hat"].children if b.type == "MESH")
    helmet.data.vertices[0].co.z += 1
    if helmet.data.shape_keys is not None:
        helmet.data.shape_keys.key_blocks[0].data[0].co.z += 1
    assert changed(saved(tmp_path)) == [HELMET]


def test_an_edited_body_is_written_alone(tmp_path):
    block = opened(tmp_path)
    mesh = next(b for b in block.children if b.type == "MESH").data
    mesh.vertices[0].co.x += 2
    assert changed(saved(tmp_path)) == [f"{TOYS}/body.mdm"]


def test_another_material_changes_its_skin(tmp_path):
    opened(tmp_path)
    helmet = next(b for b in roots()["md3_hat"].children if b.type == "MESH")
    made = bpy.data.materials.new("models/mine")
    helmet.data.materials[0] = made
    found = saved(tmp_path)
    assert changed(found) == [HELMET, f"{TOYS}/acc/helmet_field.skin"]  # a surface names its shader, too
    assert found[f"{TOYS}/acc/helmet_field.skin"] == b"helmet,models/mine"


def test_another_skin_is_named_by_its_file(tmp_path):
    path = put_character(tmp_path / "game")
    bare = b"u_body,x\nl_legs,y\n"
    (tmp_path / "game" / TOYS / "body_bare.skin").write_bytes(bare)
    read(path)
    block = next(b for b in rig().children if b.type == "MESH")
    bpy.context.view_layer.objects.active = block
    assert bpy.ops.object.idtech_show_skin(skin="bare.skin") == {"FINISHED"}
    found = saved(tmp_path)
    assert changed(found) == [CHAR, f"{TOYS}/body_bare.skin"]
    assert found[CHAR] == files()[CHAR].replace(b'"field"', b'"bare"')
    assert found[f"{TOYS}/body_bare.skin"] == bare


def remove(kind: str) -> None:
    root = roots()[kind]
    bpy.data.batch_remove([root, *root.children_recursive])


def test_a_part_that_was_deleted_is_attached_no_more(tmp_path):
    opened(tmp_path)
    remove("md3_hat")
    found = saved(tmp_path)
    skin = f"{TOYS}/body_field.skin"
    assert changed(found) == [skin] and HELMET not in found
    assert found[skin] == files()[skin].replace(b'md3_hat,\t"%s"\n' % HELMET.encode(), b"")


def test_a_head_that_was_deleted_is_said(tmp_path, capfd):
    opened(tmp_path)
    remove("head")
    assert not [name for name in changed(saved(tmp_path)) if not name.endswith("body_field.skin")]
    assert "head is not in the scene: its file and what names it" in capfd.readouterr().out


def tag(name: str) -> Any:
    return next(b for b in bpy.data.objects if b.type == "EMPTY" and names.file_name_of(b).lower() == name)


def add_cube(name: str, on: str) -> Any:
    """Add a cube of 2 units that hangs on a tag, 5 units along its first axis."""
    mesh = bpy.data.meshes.new(name)
    corners = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    mesh.from_pydata(corners, [], [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
    block = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(block)
    block.parent, block.location.x = tag(on), 5
    return block


def test_a_part_that_was_added_is_attached(tmp_path, capfd):
    """It is written in the tag's space, whatever the soldier does, and comes back with him."""
    opened(tmp_path)
    rig().location.z = 50
    block = add_cube("Big Gun", "tag_weapon")
    found = saved(tmp_path)
    skin, gun = f"{TOYS}/body_field.skin", f"{TOYS}/acc/big_gun.md3"
    assert changed(found) == [gun, skin]
    line = b'md3_hat,\t"%s"\n' % HELMET.encode()
    assert found[skin] == files()[skin].replace(line, line + f'md3_weapon,\t"{gun}"\n'.encode())
    points = by_name("md3").load(found[gun], "x").surfaces[0].positions[0]
    assert (points.min(axis=0).tolist(), points.max(axis=0).tolist()) == ([4, -1, -1], [6, 1, 1])
    assert block.parent == tag("tag_weapon") and tuple(block.location) == (5, 0, 0)
    assert "left out" not in capfd.readouterr().out
    assert changed(saved(tmp_path)) == [gun, skin], "again is the same"
    bpy.ops.wm.read_factory_settings(use_empty=True)
    read(tmp_path / "out" / CHAR)
    assert "md3_weapon" in roots()


def test_a_model_of_its_own_beside_another(tmp_path):
    """What is no other model's goes along with the part on its tag; a model of its own is one more of the game's."""
    opened(tmp_path)
    add_cube("feather", "tag_mouth")
    bpy.ops.import_scene.idtech_md3(filepath=str(tmp_path / "game" / TOYS / "acc/pack.md3"))
    other = bpy.context.view_layer.objects.active
    other.parent = tag("tag_mouth")
    bpy.context.view_layer.objects.active = rig()
    found = saved(tmp_path)
    assert changed(found) == [HELMET, f"{TOYS}/body_field.skin"]
    assert f'md3_hat2,\t"{TOYS}/acc/pack.md3"'.encode() in found[f"{TOYS}/body_field.skin"]


def test_on_a_tag_where_no_game_hangs_a_model(tmp_path, capfd):
    opened(tmp_path)
    add_cube("sword", "tag_torso")
    assert not changed(saved(tmp_path))
    assert "left out, on tag_torso: 'sword': no game hangs a model there" in capfd.readouterr().out
    add_cube("second", "tag_back")
    remove("md3_back")
    found = saved(tmp_path)
    assert f'md3_back,\t"{TOYS}/acc/second.md3"'.encode() in found[f"{TOYS}/body_field.skin"]


def test_other_bones_are_refused(tmp_path):
    block = opened(tmp_path)
    play(name="walk")
    bpy.ops.object.mode_set(mode="EDIT")
    bone = block.data.edit_bones.new("tail")
    bone.tail, bone.parent = (0, 0, 5), block.data.edit_bones["Bip01 Head"]
    bpy.ops.object.mode_set(mode="OBJECT")
    assert "has other bones than 'body.mdx'" in error_of(write, filepath=str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_other_bones_are_refused_also_where_nothing_is_played(tmp_path):
    block = opened(tmp_path)
    for action in list(bpy.data.actions):
        bpy.data.actions.remove(action)
    bpy.ops.object.mode_set(mode="EDIT")
    block.data.edit_bones["Bip01 Head"].parent = block.data.edit_bones["Bip01 Pelvis"]
    bpy.ops.object.mode_set(mode="OBJECT")
    assert "has other bones than 'body.mdx'" in error_of(write, filepath=str(tmp_path / "out"))


@pytest.mark.parametrize("played", [False, True])
def test_renamed_bones_are_named(tmp_path, capfd, played):
    block = opened(tmp_path)
    if played:
        play(name="walk")
    block.data.bones["Bip01 Head"].name = "Skull"
    assert changed(saved(tmp_path)) == []
    assert "the character's frames keep the names that they had: 'Skull'" in capfd.readouterr().out


def test_bones_that_are_moved_at_rest_are_named_where_rows_have_no_action(tmp_path, capfd):
    """Their frames stay, and the mesh goes along with the bones: it is said how they go along, too."""
    block = opened(tmp_path)
    bpy.ops.object.mode_set(mode="EDIT")
    block.data.edit_bones["Bip01 Head"].roll += 0.5
    bpy.ops.object.mode_set(mode="OBJECT")
    saved(tmp_path)
    said = (
        "bones were moved at rest: 'Bip01 Head': 3 animations without an action keep their frames, Make All Animations"
    )
    assert said in capfd.readouterr().out
    assert bpy.ops.object.idtech_animation_make() == {"FINISHED"}
    late = saved(tmp_path)
    assert "moved at rest" not in capfd.readouterr().out
    bpy.ops.wm.read_factory_settings(use_empty=True)
    read(put_character(tmp_path / "game"), make_all=True)
    bpy.context.view_layer.objects.active = block = rig()
    bpy.ops.object.mode_set(mode="EDIT")
    block.data.edit_bones["Bip01 Head"].roll += 0.5
    bpy.ops.object.mode_set(mode="OBJECT")
    early = saved(tmp_path)
    turns = [by_name("mdx").load(data, "").rotations for data in (early[MDX], late[MDX], files()[MDX])]
    assert turns[0].shape == turns[1].shape
    assert np.abs(turns[0] - turns[1]).max() < 1e-3 < np.abs(turns[0][:40] - turns[2][:40]).max()


def test_which_character(tmp_path):
    assert "there is no character" in error_of(write, filepath=str(tmp_path / "out"))
    opened(tmp_path)
    read(put_character(tmp_path / "other"))
    bpy.context.view_layer.objects.active = None
    for block in bpy.context.scene.objects:
        block.select_set(False)
    assert "there are 2 characters" in error_of(write, filepath=str(tmp_path / "out"))
    bpy.context.view_layer.objects.active = next(b for b in roots()["head"].children if b.type == "MESH")
    assert not changed(saved(tmp_path))


def test_again(tmp_path):
    block = opened(tmp_path)
    play(name="walk")
    move_bone()
    bpy.context.view_layer.objects.active = next(b for b in roots()["head"].children if b.type == "MESH")
    assert bpy.ops.object.idtech_export_again() == {"FINISHED"}
    written = (tmp_path / "game" / MDX).read_bytes()
    assert written != files()[MDX]
    bpy.context.view_layer.objects.active = block
    assert bpy.ops.object.idtech_export_again() == {"FINISHED"}
    assert (tmp_path / "game" / MDX).read_bytes() == written


def test_again_from_an_archive(tmp_path):
    read(put_pack(tmp_path / "etmain/pak0.pk3", files()))
    bpy.context.view_layer.objects.active = rig()
    again = bpy.ops.object.idtech_export_again
    assert "z_trooper.pk3' first" in error_of(again)
    out = tmp_path / "etmain/z_other.pk3"
    assert write(filepath=str(out), edited_only=False) == {"FINISHED"}
    out.unlink()
    assert again() == {"FINISHED"} and out.is_file()


def test_a_part_whose_meshes_are_deleted_is_deleted(tmp_path):
    """Its root may stay: nobody sees it."""
    opened(tmp_path)
    for block in list(roots()["md3_back"].children):
        bpy.data.objects.remove(block)
    found = saved(tmp_path)
    assert changed(found) == [f"{TOYS}/body_field.skin"]
    assert b"md3_back" not in found[f"{TOYS}/body_field.skin"]


@pytest.mark.parametrize("parent", [False, True])
def test_a_mesh_that_bones_bend_goes_into_the_body_wherever_it_lies(tmp_path, parent, capfd):
    block = opened(tmp_path)
    cube = scene_cube("belt buckle")
    cube.parent = block if parent else None
    cube.modifiers.new("Armature", "ARMATURE").object = block
    cube.vertex_groups.new(name="Bip01 Head").add(range(8), 1.0, "ADD")
    bpy.context.view_layer.objects.active = block
    found = saved(tmp_path)
    assert f"{TOYS}/body.mdm" in changed(found)
    meshes = by_name("mdm").load(found[f"{TOYS}/body.mdm"], "").meshes
    assert "belt buckle" in [mesh.name for mesh in meshes]
    assert "left out" not in capfd.readouterr().out


def test_a_mesh_on_a_bone_that_nothing_bends_is_said(tmp_path, capfd):
    block = opened(tmp_path)
    cube = scene_cube("lamp")
    cube.parent, cube.parent_type, cube.parent_bone = block, "BONE", "Bip01 Head"
    bpy.context.view_layer.objects.active = block
    assert not changed(saved(tmp_path))
    said = "left out, no bone moves their points, give them weights and an Armature modifier: 'lamp'"
    assert said in capfd.readouterr().out
    cube.hide_set(True)
    saved(tmp_path)
    assert "left out" not in capfd.readouterr().out


def duplicated(block: Any) -> Any:
    """Duplicate all objects, as Shift D does; returns the copy of the armature."""
    for each in bpy.context.scene.objects:
        each.select_set(True)
    bpy.context.view_layer.objects.active = block
    assert bpy.ops.object.duplicate() == {"FINISHED"}
    copy = bpy.context.view_layer.objects.active
    assert copy != block and copy.type == "ARMATURE"
    return copy


@pytest.mark.parametrize("of", ["copy", "source"])
def test_of_a_character_and_its_copy_the_active_objects_is_saved(tmp_path, of, capfd):
    """Both lie in the same collections: Blender links copies where the objects are."""
    source = opened(tmp_path)
    copy = duplicated(source)
    meant, other = (copy, source) if of == "copy" else (source, copy)
    mesh = next(block for block in meant.children if block.type == "MESH")
    bpy.context.view_layer.objects.active = mesh
    assert not changed(saved(tmp_path))
    said = f"copies of '{meant.name}' are left out, make one active to save that in its place: '{other.name}'"
    assert said in capfd.readouterr().out
    mesh.data.vertices[3].co.z += 2
    tag = next(block for block in meant.children if block.name.startswith("tag_weapon"))
    scene_cube("club").parent = tag
    bpy.context.view_layer.objects.active = mesh
    new = f"{TOYS}/acc/club.md3"
    assert changed(saved(tmp_path)) == sorted([new, f"{TOYS}/body.mdm", f"{TOYS}/body_field.skin"])
    bpy.context.view_layer.objects.active = other
    assert not changed(saved(tmp_path / "other"))
