"""Export Character of Enemy Territory: an edit touches its file alone, and goes where the game reads it."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_idtech_models.blender.compat import playing_curves
from io_idtech_models.blender.provenance import PART
from io_idtech_models.formats import by_name
from io_idtech_models.game import aninc
from tests.packs import put_pack
from tests.samples import SENTINEL, load
from tests.samples_character import CHAR, GROUP, TABLE, TOYS, files, put_character
from tests.ui.character.games import (
    changed,
    edit_bones,
    fresh,
    listed,
    mesh_of,
    opened,
    read,
    remove,
    rig,
    roots,
    saved,
    show,
    tag,
    turn,
    write,
)
from tests.ui.scene import activate, add_cube, bpy, editing, error_of, import_model

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
rename: Any = bpy.ops.object.idtech_animation_rename
HEAD = "Bip01 Head"
MDX, EXTRA, BODY = "animations/toys/body.mdx", "animations/toys/extra.mdx", f"{TOYS}/body.mdm"
HELMET, BODY_SKIN = f"{TOYS}/acc/helmet.md3", f"{TOYS}/body_field.skin"


def trooper(tmp_path: Path, **options: Any) -> Any:
    """Import the soldier, whose armature is active then; returns that."""
    return opened(put_character(tmp_path / "game"), **options)


def frames_of(data: bytes) -> Any:
    return by_name("mdx").read(data).frames


def rows_of(table: bytes) -> dict[str, Any]:
    return {row.name: row for row in aninc.read_rows(table.decode())}


def turned(row: str) -> None:
    """Turn the head in an animation."""
    show(row)
    turn(HEAD)


def raised(mesh: Any) -> None:
    """Move a point of a mesh."""
    keys = mesh.data.shape_keys
    (keys.key_blocks[0].data if keys else mesh.data.vertices)[0].co.z += 2


EDITS: dict[str, tuple[Callable[[], None], str]] = {
    "a row": (lambda: turned("walk"), MDX),
    "the only row of a file": (lambda: turned("crawl"), EXTRA),
    "all frames of a file as one": (lambda: turned("extra"), EXTRA),
    "a part": (lambda: raised(mesh_of(roots()["md3_hat"])), HELMET),
    "the body": (lambda: raised(next(b for b in rig().children if b.type == "MESH")), BODY),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_touches_its_file_alone(tmp_path, edit, capfd):
    trooper(tmp_path)
    change, file = EDITS[edit]
    change()
    assert changed(saved(tmp_path / "out")) == [file]
    assert f"edited: '{file.rpartition('/')[2]}'" in capfd.readouterr().out
    assert list(saved(tmp_path / "few", edited_only=True)) == [file]


def test_an_edited_row_lands_in_its_file(tmp_path):
    trooper(tmp_path)
    turned("walk")
    data = saved(tmp_path / "out")[MDX]
    old, new = frames_of(files()[MDX]), frames_of(data)
    assert len(old) == len(new)
    row = rows_of(files()[TABLE])["walk"]
    inside = slice(row.first, row.first + row.length)
    assert (np.delete(old, inside) == np.delete(new, inside)).all()
    bones = [bone["name"].decode() for bone in by_name("mdx").read(data).bones]
    differing = (old["bones"]["angles"][inside] != new["bones"]["angles"][inside]).any(axis=(0, 2))
    assert [bones[bone] for bone in np.flatnonzero(differing)] == [HEAD]


def test_tags_that_the_game_looks_for_and_that_are_gone_are_named(tmp_path, capfd):
    trooper(tmp_path)
    tag("tag_weapon").name = "tag_gun"
    bpy.data.objects.remove(tag("tag_mouth"))
    found = saved(tmp_path / "out")
    said = capfd.readouterr().out
    gun = "'tag_gun' was 'tag_weapon' in its file, the name by which games hang models on it: rename it back"
    assert f"body.mdm: {gun}" in said
    assert "toy.md3: the model lacks tags on which games hang models by their names" in said
    assert BODY in changed(found)
    assert bpy.ops.object.idtech_check_game(target="mdm:et") == {"FINISHED"}
    assert gun in capfd.readouterr().out


def test_frames_that_others_share_stay_theirs(tmp_path, capfd):
    table = files()[TABLE] + b"\t\tbow\t\t50 10 0 15 0 0 0\n"
    opened(put_character(tmp_path / "game", body_aninc=table))
    turned("bow")
    found = saved(tmp_path / "out")
    old, new = frames_of(files()[MDX]), frames_of(found[MDX])
    assert changed(found) == [TABLE, MDX]
    assert (new[: len(old)] == old).all() and len(new) == len(old) + 10
    assert found[TABLE] == table.replace(b"bow\t\t50 10", b"bow\t\t%d 10" % len(old))
    assert "'bow' shares frames of 'body.mdx' with 'walk'" in capfd.readouterr().out


@pytest.mark.parametrize("posed", [False, True])
def test_rows_that_nobody_edited_stay_where_they_are_on_bones_that_were_moved(tmp_path, capfd, posed):
    """Also rows that share frames; and a pose in the action of all frames is not lost to them."""
    table = files()[TABLE] + b"\t\tbow\t\t50 10 0 15 0 0 0\n"
    block = opened(put_character(tmp_path / "game", body_aninc=table), make_all=True)
    with editing(block) as bones:
        bones["Bip01 L Hand"].roll += 0.5
    show("body")
    if posed:
        turn(HEAD)
    found = saved(tmp_path / "out")
    old, new = by_name("mdx").read(files()[MDX]), by_name("mdx").read(found[MDX])
    assert len(old.frames) == len(new.frames) and found[TABLE] == table
    differing = (old.frames["bones"]["angles"] != new.frames["bones"]["angles"]).any(axis=2)
    head = [bone["name"].decode() for bone in old.bones].index(HEAD)
    assert differing[:, head].all() == differing[:, head].any() == posed
    assert "shares frames" not in capfd.readouterr().out


@pytest.mark.parametrize("make_all", [False, True])
@pytest.mark.parametrize(
    ("order", "rows"),
    [
        ([*range(45), 44, 44, 44, *range(45, 84)], {"walk": (40, 27), "salute": (67, 20)}),
        ([*range(10), *range(15, 84)], {"stand": (0, 35), "walk": (35, 24), "salute": (59, 20)}),
        ([*range(40), *range(64, 84)], {"walk": (84, 24), "salute": (40, 20)}),
        (list(range(70)), {}),
    ],
    ids=["inserted", "deleted", "a row deleted", "cut off"],
)
def test_rows_go_along_with_frames_whether_or_not_they_have_an_action(tmp_path, capfd, make_all, order, rows):
    """What they show is theirs still: frames behind those that all frames have by now stay in the file."""
    opened(put_character(tmp_path / "game"), make_all=make_all)
    action = show("body")
    for curve in playing_curves(rig()):
        keyed = [key.co.y for key in curve.keyframe_points]
        curve.keyframe_points.clear()
        curve.keyframe_points.add(len(order))
        curve.keyframe_points.foreach_set("co", [x for at, was in enumerate(order) for x in (at, keyed[was])])
        curve.update()
    action.frame_end = len(order) - 1
    capfd.readouterr()
    found, was = saved(tmp_path / "out"), rows_of(files()[TABLE])
    now = rows_of(found[TABLE])
    assert {name: (row.first, row.length) for name, row in now.items() if row != was[name]} == rows
    assert (MDX in changed(found)) == ("edited: 'body.mdx'" in capfd.readouterr().out) == bool(rows)
    old, new = frames_of(files()[MDX]), frames_of(found[MDX])
    for name, row in now.items():
        count = row.length or 1
        if count == (was[name].length or 1):
            begin = was[name].first
            frames = (each["bones"][at : at + count] for each, at in ((new, row.first), (old, begin)))
            assert len({part.tobytes() for part in frames}) == 1, name


def test_what_goes_along_with_all_frames_is_not_said_to_stay(tmp_path, capfd):
    """Rows without an action show what the action of all frames does, bones that were rolled as all others."""
    block = opened(put_character(tmp_path / "game"))
    show("body")
    with editing(block) as bones:
        bones["Bip01 L Hand"].roll += 0.5
    capfd.readouterr()
    assert changed(saved(tmp_path / "out")) == [MDX, BODY]
    said = capfd.readouterr().out
    assert "without an action keep" not in said or "1 animation without" in said, "but those of another file"


def test_a_row_that_repeats_frames_beyond_the_end_is_as_it_came(tmp_path):
    table = files()[TABLE] + b"\t\tbeyond\t70\t30\t30\t20\t0\t150\t0\n"
    opened(put_character(tmp_path / "game", body_aninc=table))
    show("beyond")
    assert saved(tmp_path / "out")[TABLE] == table


def test_a_copy_that_nobody_edited_is_of_the_frames_that_moved(tmp_path):
    opened(put_character(tmp_path / "game"))
    assert bpy.ops.object.idtech_animation_duplicate(name="walk", copy="stroll") == {"FINISHED"}
    action = show("body")
    for curve in playing_curves(rig()):
        keyed = [key.co.y for key in curve.keyframe_points][5:]
        curve.keyframe_points.clear()
        curve.keyframe_points.add(len(keyed))
        curve.keyframe_points.foreach_set("co", [x for at, value in enumerate(keyed) for x in (at, value)])
        curve.update()
    action.frame_end = len(keyed) - 1
    found = saved(tmp_path / "out")
    rows = rows_of(found[TABLE])
    assert (rows["stroll"].first, rows["stroll"].length) == (rows["walk"].first, rows["walk"].length) == (35, 24)
    assert len(frames_of(found[MDX])) == 84


def test_a_longer_row_goes_behind_all(tmp_path):
    block = trooper(tmp_path)
    action = show("salute")
    for curve in playing_curves(block):
        curve.keyframe_points.insert(action.frame_end + 3, 0.1)
    found = saved(tmp_path / "out")
    assert changed(found) == [TABLE, MDX]
    rows, was = rows_of(found[TABLE]), rows_of(files()[TABLE])
    count, length = len(frames_of(files()[MDX])), was["salute"].length + 3
    assert (rows["salute"].first, rows["salute"].length) == (count, length)
    assert rows | {"salute": None} == was | {"salute": None}
    assert len(frames_of(found[MDX])) == count + length


def test_what_bones_say_of_themselves_goes_into_all_files_of_frames(tmp_path):
    bones = trooper(tmp_path).data.bones
    bones[HEAD]["idtech_torso_weight"], bones["Bip01 Pelvis"]["idtech_bone_flags"] = 0.25, 1
    found = saved(tmp_path / "out")
    assert changed(found) == sorted([MDX, EXTRA])
    for path in (MDX, EXTRA):
        before, after = (by_name("mdx").read(data) for data in (files()[path], found[path]))
        assert (after.frames == before.frames).all()
        own = {name.decode(): each for name, each in zip(after.bones["name"], after.bones, strict=True)}
        assert (own[HEAD]["torso_weight"], own["Bip01 Pelvis"]["flags"]) == (0.25, 1)


def test_files_of_frames_may_say_something_else_each_of_bones(tmp_path):
    row = by_name("mdx")
    other = row.read(files()[EXTRA])
    other = replace(other, bones=other.bones.copy())
    other.bones["torso_weight"][0] = 0.75
    bones = opened(put_character(tmp_path / "game", extra_mdx=row.write(other))).data.bones
    found = saved(tmp_path / "out")
    assert found[MDX] == files()[MDX] and found[EXTRA] == row.write(other)
    bones[HEAD]["idtech_torso_weight"] = 0.25
    weights = {
        path: row.read(data).bones["torso_weight"] for path, data in saved(tmp_path / "out").items() if ".mdx" in path
    }
    assert weights[EXTRA][0] == 0.75 != weights[MDX][0]
    assert all((own == 0.25).sum() == 1 for own in weights.values())


def test_frames_that_the_whole_has_no_more_stay_for_the_rows_that_show_them(tmp_path):
    trooper(tmp_path)
    action = show("body")
    action.frame_end = 50
    turn(HEAD)
    before, after = (frames_of(data[MDX]) for data in (files(), saved(tmp_path / "out")))
    assert len(after) == len(before) > 60
    assert (after[51:] == before[51:]).all() and (after[:51] != before[:51]).any()


@pytest.mark.parametrize(
    ("loop", "count", "repeats"), [(24, 12, 12), (24, 32, 32), (10, 12, 10), (10, 6, 6), (0, 12, 0), (30, 24, 30)]
)
def test_a_row_that_repeats_as_a_whole_does_so_when_it_has_other_frames(tmp_path, loop, count, repeats):
    """And none repeats more frames than it has, unless it did before."""
    table = files()[TABLE].decode().replace("walk\t40\t24\t24", f"walk\t40\t24\t{loop}")
    assert f"24\t{loop}\t" in table
    opened(put_character(tmp_path / "game", body_aninc=table.encode()))
    action = show("walk")
    action.frame_end = count - 1
    turn(HEAD)
    row = rows_of(saved(tmp_path / "out").get(TABLE, table.encode()))["walk"]
    assert (row.length, row.loop) == (count, repeats)


def test_a_renamed_and_retimed_row_changes_its_line(tmp_path):
    trooper(tmp_path)
    assert rename(name="crawl", to="creep") == {"FINISHED"}
    show("creep")["idtech_move_speed"] = 33
    show("walk")["idtech_frame_rate"] = 25.0
    found = saved(tmp_path / "out")
    assert changed(found) == [GROUP, TABLE]
    assert found[GROUP] == files()[GROUP].replace(b"crawl\t3 5 5 12 20 100 0", b"creep\t3 5 5 12 33 100 0")
    before, after = files()[TABLE].splitlines(), found[TABLE].splitlines()
    assert [line.split()[0] for line, other in zip(after, before, strict=True) if line != other] == [b"walk"]
    fresh()
    read(tmp_path / "out" / CHAR)
    assert "creep" in listed()


def test_a_copy_of_a_row_is_of_the_same_frames(tmp_path):
    trooper(tmp_path)
    assert bpy.ops.object.idtech_animation_duplicate(name="salute", copy="wave") == {"FINISHED"}
    found = saved(tmp_path / "out")
    assert changed(found) == [TABLE]
    rows = rows_of(found[TABLE])
    assert (rows["wave"].first, rows["wave"].length) == (rows["salute"].first, rows["salute"].length)


def test_a_row_of_frames_of_another_file_goes_into_that(tmp_path):
    trooper(tmp_path)
    play = bpy.ops.object.idtech_animation_play
    assert play(name="extra") == {"FINISHED"}
    assert bpy.ops.object.idtech_animation_add(name="piece", first=1, last=2) == {"FINISHED"}
    found = saved(tmp_path / "out")
    texts = [name for name in changed(found) if "piece" in found[name].decode("latin1")]
    assert EXTRA not in changed(found) and MDX not in changed(found) and len(texts) == 1
    assert re.search(r"piece\s+1\s+2\s", found[texts[0]].decode("latin1"))


def test_a_new_row(tmp_path):
    trooper(tmp_path)
    assert bpy.ops.object.idtech_animation_duplicate(name="salute", copy="wave") == {"FINISHED"}
    turned("salute")  # its frames are not the copy's any more
    found = saved(tmp_path / "out")
    assert changed(found) == [TABLE, MDX]
    rows, frames, count = rows_of(found[TABLE]), frames_of(found[MDX]), len(frames_of(files()[MDX]))
    salute = rows["salute"]
    before = frames_of(files()[MDX])[salute.first : salute.first + salute.length]
    assert (rows["wave"].first, rows["wave"].length) == (count, salute.length)
    assert (frames[count:] == before).all()


def test_a_row_that_takes_anothers_name_keeps_its_own(tmp_path, capfd):
    trooper(tmp_path)
    rename(name="walk", to="Stand")
    rename(name="salute", to="walk")
    assert not changed(saved(tmp_path / "out"))
    said = capfd.readouterr().out
    assert "'walk' keeps its name in the table, 'body.mdx' has a row 'Stand' already: rename the action" in said
    assert "'salute' keeps its name in the table, 'body.mdx' has a row 'walk' already" in said


def test_rows_may_change_names(tmp_path, capfd):
    trooper(tmp_path)
    for old, new in (("walk", "x"), ("stand", "walk"), ("x", "stand")):
        rename(name=old, to=new)
    bpy.ops.object.idtech_animation_duplicate(name="salute", copy="stand")
    found = saved(tmp_path / "out")
    was, now = files()[TABLE].splitlines(), found[TABLE].splitlines()
    swapped = {b"walk": b"stand", b"stand": b"walk"}
    wanted = [[swapped.get(word, word) for word in line.split()] for line in was]
    assert [line.split() for line in now] == wanted
    said = capfd.readouterr().out
    assert "keeps its name" not in said and "has a row of that name already" in said


def test_another_material_changes_its_skin(tmp_path):
    trooper(tmp_path)
    mesh_of(roots()["md3_hat"]).data.materials[0] = bpy.data.materials.new("models/mine")
    found = saved(tmp_path / "out")
    assert changed(found) == [HELMET, f"{TOYS}/acc/helmet_field.skin"]  # a surface names its shader, too
    assert found[f"{TOYS}/acc/helmet_field.skin"] == b"helmet,models/mine"


def test_a_skin_that_is_asked_for_lies_beside_the_one_that_the_file_names(tmp_path):
    """With what that one attaches: else the character would be without both."""
    path = put_character(tmp_path / "game")
    (tmp_path / "game" / TOYS / "body_bare.skin").write_bytes(b"u_body,x\nl_legs,y\n")
    read(path, skin="bare")
    found = saved(tmp_path / "out")
    assert changed(found) == [f"{TOYS}/body_bare.skin"]
    assert found[BODY_SKIN] == files()[BODY_SKIN] and HELMET in found
    fresh()
    read(tmp_path / "out" / CHAR)
    assert "md3_hat" in roots()


def test_another_skin_is_named_by_its_file(tmp_path, capfd):
    bare = b"u_body,x\nl_legs,y\n"
    path = put_character(tmp_path / "game")
    (tmp_path / "game" / TOYS / "body_bare.skin").write_bytes(bare)
    bpy.context.view_layer.objects.active = next(b for b in read(path).children if b.type == "MESH")
    assert bpy.ops.object.idtech_show_skin(skin="bare.skin") == {"FINISHED"}
    found = saved(tmp_path / "out")
    assert changed(found) == [CHAR, f"{TOYS}/body_bare.skin"]
    assert found[CHAR] == files()[CHAR].replace(b'"field"', b'"bare"')
    assert found[f"{TOYS}/body_bare.skin"] == bare
    assert "give it lines for them, or delete them: 'md3_back', 'md3_hat'" in capfd.readouterr().out
    remove("md3_hat")
    remove("md3_back")
    saved(tmp_path / "again")
    assert "give it lines for them" not in capfd.readouterr().out


@pytest.mark.parametrize("root_stays", [False, True])
def test_a_part_that_was_deleted_is_attached_no_more(tmp_path, root_stays):
    """Its root may stay: nobody sees it."""
    trooper(tmp_path)
    if root_stays:
        bpy.data.batch_remove(list(roots()["md3_hat"].children))
    else:
        remove("md3_hat")
    found = saved(tmp_path / "out")
    assert changed(found) == [BODY_SKIN] and HELMET not in found
    assert found[BODY_SKIN] == files()[BODY_SKIN].replace(b'md3_hat,\t"%s"\n' % HELMET.encode(), b"")


def test_a_head_that_was_deleted_is_said(tmp_path, capfd):
    trooper(tmp_path)
    remove("head")
    assert not [name for name in changed(saved(tmp_path / "out")) if not name.endswith("body_field.skin")]
    assert "head is not in the scene: its file and what names it" in capfd.readouterr().out


def cube_on(name: str, on: str) -> Any:
    """Add a cube that hangs on a tag, 50 units along its first axis."""
    block = add_cube(name, uvs=False)
    block.parent, block.location.x = tag(on), 50
    activate(rig())
    return block


def test_a_part_that_was_added_is_attached(tmp_path, capfd):
    """It is written in the tag's space, whatever the soldier does, and comes back with him."""
    trooper(tmp_path)
    rig().location.z = 50
    block = cube_on("Big Gun", "tag_weapon")
    found = saved(tmp_path / "out")
    gun, line = f"{TOYS}/acc/big_gun.md3", b'md3_hat,\t"%s"\n' % HELMET.encode()
    assert changed(found) == [gun, BODY_SKIN]
    assert found[BODY_SKIN] == files()[BODY_SKIN].replace(line, line + f'md3_weapon,\t"{gun}"\n'.encode())
    points = by_name("md3").load(found[gun], "x").surfaces[0].positions[0]
    assert (points.min(axis=0).tolist(), points.max(axis=0).tolist()) == ([42, -8, -8], [58, 8, 8])
    assert block.parent == tag("tag_weapon") and tuple(block.location) == (50, 0, 0)
    assert "left out" not in capfd.readouterr().out
    assert changed(saved(tmp_path / "out")) == [gun, BODY_SKIN], "again is the same"
    fresh()
    read(tmp_path / "out" / CHAR)
    assert "md3_weapon" in roots()


def test_a_model_of_its_own_beside_another(tmp_path):
    """What is no other model's goes along with the part on its tag; a model of its own is one more of the game's."""
    trooper(tmp_path)
    cube_on("feather", "tag_mouth")
    bpy.ops.import_scene.idtech_md3(filepath=str(tmp_path / "game" / TOYS / "acc/pack.md3"))
    other = bpy.context.view_layer.objects.active
    other.parent = tag("tag_mouth")
    bpy.context.view_layer.objects.active = rig()
    found = saved(tmp_path / "out")
    assert changed(found) == [HELMET, BODY_SKIN]
    assert f'md3_hat2,\t"{TOYS}/acc/pack.md3"'.encode() in found[BODY_SKIN]


@pytest.mark.parametrize("way", ["on a root of its own", "with its tags"])
def test_a_model_that_hangs_on_a_tag_as_it_came(tmp_path, way):
    """Its tags go along, and a root that it stands on is none while it is written."""
    trooper(tmp_path)
    made = import_model(SENTINEL)
    hull = bpy.data.objects["hull"]
    activate(hull)
    tops = [*made.objects]
    if way == "on a root of its own":
        assert bpy.ops.object.idtech_make_root() == {"FINISHED"}
        tops = [hull.parent]
        hull.parent.location = 1, 2, 3
    for block in tops:
        block.parent = tag("tag_weapon")
    bpy.context.view_layer.update()
    activate(rig())
    found = saved(tmp_path / "out")
    gun = f"{TOYS}/acc/sentinel.md3"
    assert changed(found) == [gun, BODY_SKIN]
    model = by_name("md3").load(found[gun], "x")
    assert [each.name for each in model.tags] == [each.name for each in load(SENTINEL.read_bytes()).tags]
    moved = model.surfaces[0].positions - load(SENTINEL.read_bytes()).surfaces[0].positions
    assert np.abs(moved - ((1, 2, 3) if len(tops) == 1 else 0)).max() < 0.02
    assert hull.parent == tag("tag_weapon") or PART in hull.parent


def test_what_hangs_on_a_tag_where_it_stood_stays_there(tmp_path):
    """As Ctrl+P leaves it; two exports are the same."""
    trooper(tmp_path)
    block = cube_on("pole", "tag_weapon")
    bpy.context.view_layer.update()
    block.matrix_parent_inverse = tag("tag_weapon").matrix_world.inverted()
    bpy.context.view_layer.update()
    place, hung = block.matrix_world.copy(), block.matrix_parent_inverse.copy()
    first_time = saved(tmp_path / "first")
    bpy.context.view_layer.update()
    assert block.matrix_parent_inverse == hung
    assert np.abs(np.array(block.matrix_world) - np.array(place)).max() < 1e-5
    assert saved(tmp_path / "second") == first_time


@pytest.mark.parametrize("home", ["its own", "the body's"])
def test_models_of_one_name_have_files_of_their_own(tmp_path, home):
    """A piece that is there keeps its, and what lies in the body's collection is written without the body."""
    trooper(tmp_path)
    remove("md3_back")
    made = [cube_on(name, on) for name, on in (("Helmet", "tag_weapon"), ("helmet!", "tag_back"))]
    made[1].data.vertices[0].co.z -= 3.0
    for block in made if home != "its own" else ():
        for collection in list(block.users_collection):
            collection.objects.unlink(block)
        rig().users_collection[0].objects.link(block)
    found = saved(tmp_path / "out")
    own = [f"{TOYS}/acc/helmet_{number}.md3" for number in (2, 3)]
    assert changed(found) == [*own, BODY_SKIN]
    assert all(len(by_name("md3").load(found[name], "x").surfaces) == 1 for name in own)
    assert found[own[0]] != found[own[1]]


def test_a_constraint_on_the_armature_is_no_edit(tmp_path):
    body = trooper(tmp_path)
    target = bpy.data.objects.new("target", None)
    bpy.context.scene.collection.objects.link(target)
    target.location = 5, 6, 7
    hold = body.constraints.new("COPY_LOCATION")
    hold.target = target
    bpy.context.view_layer.update()
    assert changed(saved(tmp_path / "out")) == []
    assert not hold.mute


def test_the_helmet_of_another_character(tmp_path):
    path = put_character(tmp_path / "game")
    body = opened(path)
    mine = roots()["md3_hat"]
    read(path)
    theirs = next(b for b in bpy.data.objects if b != mine and b.get(PART) == "md3_hat")
    on = mine.parent
    bpy.data.batch_remove([mine, *mine.children_recursive])
    theirs.parent = on
    mesh = next(block for block in theirs.children_recursive if block.type == "MESH")
    mesh.data.vertices[0].co.z += 4.0
    bpy.context.view_layer.update()
    activate(body)
    found = saved(tmp_path / "out")
    assert HELMET in found and changed(found) == [HELMET]


def test_on_a_tag_where_no_game_hangs_a_model(tmp_path, capfd):
    trooper(tmp_path)
    cube_on("sword", "tag_torso")
    assert not changed(saved(tmp_path / "out"))
    assert "left out, on tag_torso: 'sword': no game hangs a model there" in capfd.readouterr().out
    cube_on("second", "tag_back")
    remove("md3_back")
    found = saved(tmp_path / "out")
    assert f'md3_back,\t"{TOYS}/acc/second.md3"'.encode() in found[BODY_SKIN]


def hang_head_on_pelvis(bones: Any) -> None:
    bones["Bip01 Head"].parent = bones["Bip01 Pelvis"]


def add_tail(bones: Any) -> None:
    bone = bones.new("tail")
    bone.tail, bone.parent = (0, 0, 5), bones["Bip01 Head"]


@pytest.mark.parametrize("played", [True, False])
@pytest.mark.parametrize("edit", [hang_head_on_pelvis, add_tail])
def test_other_bones_are_refused(tmp_path, edit, played):
    trooper(tmp_path)
    show("walk")
    if not played:
        bpy.data.batch_remove(list(bpy.data.actions))
    edit_bones(edit)
    assert "has other bones than 'body.mdx'" in error_of(write, filepath=str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("played", [False, True])
def test_renamed_bones_are_named(tmp_path, capfd, played):
    block = trooper(tmp_path)
    if played:
        show("walk")
    block.data.bones["Bip01 Head"].name = "Skull"
    assert changed(saved(tmp_path / "out")) == []
    assert "the character's frames keep the names that they had: 'Skull'" in capfd.readouterr().out


def roll_head(bones: Any) -> None:
    bones["Bip01 Head"].roll += 0.5


def test_bones_that_are_moved_at_rest_are_named_where_rows_have_no_action(tmp_path, capfd):
    """Their frames stay, and the mesh goes along with the bones: it is said how they go along, too."""
    trooper(tmp_path)
    edit_bones(roll_head)
    saved(tmp_path / "out")
    said = "'Bip01 Head': 3 animations without an action keep their frames, Make All Animations"
    assert f"bones were moved at rest: {said}" in capfd.readouterr().out
    assert bpy.ops.object.idtech_animation_make() == {"FINISHED"}
    late = saved(tmp_path / "out")
    assert "moved at rest" not in capfd.readouterr().out
    fresh()
    trooper(tmp_path, make_all=True)
    edit_bones(roll_head)
    early = saved(tmp_path / "out")
    turns = [by_name("mdx").load(data, "").rotations for data in (early[MDX], late[MDX], files()[MDX])]
    assert turns[0].shape == turns[1].shape
    assert np.abs(turns[0] - turns[1]).max() < 1e-3 < np.abs(turns[0][:40] - turns[2][:40]).max()


def test_which_character(tmp_path):
    assert "there is no character" in error_of(write, filepath=str(tmp_path / "out"))
    body = next(each for each in trooper(tmp_path).children if each.type == "MESH")
    read(put_character(tmp_path / "other"))
    bpy.context.view_layer.objects.active = None
    for block in bpy.context.scene.objects:
        block.select_set(False)
    assert "there are 2 characters" in error_of(write, filepath=str(tmp_path / "out"))
    bpy.context.view_layer.objects.active = mesh_of(roots()["head"])
    assert not changed(saved(tmp_path / "out"))
    bpy.context.view_layer.objects.active = body
    body.vertex_groups.clear()
    text = error_of(write, filepath=str(tmp_path / "out"))
    assert "weight them (Weights > Assign Automatic), or name a bone where there is the option" in text


def test_again(tmp_path):
    """From an archive first into one of its own, and then where it was written."""
    again = bpy.ops.object.idtech_export_again
    block = trooper(tmp_path)
    turned("walk")
    written = set()
    for active in (mesh_of(roots()["head"]), block):
        activate(active)
        assert again() == {"FINISHED"}
        written.add((tmp_path / "game" / MDX).read_bytes())
    assert len(written) == 1 and files()[MDX] not in written
    fresh()
    opened(put_pack(tmp_path / "etmain/pak0.pk3", files()))
    assert "z_trooper.pk3' first" in error_of(again)
    out = tmp_path / "etmain/z_other.pk3"
    assert write(filepath=str(out), edited_only=False) == {"FINISHED"}
    out.unlink()
    assert again() == {"FINISHED"} and out.is_file()


@pytest.mark.parametrize("parent", [False, True])
def test_a_mesh_that_bones_bend_goes_into_the_body_wherever_it_lies(tmp_path, parent, capfd):
    block = trooper(tmp_path)
    cube = add_cube("belt buckle")
    cube.parent = block if parent else None
    cube.modifiers.new("Armature", "ARMATURE").object = block
    cube.vertex_groups.new(name="Bip01 Head").add(range(8), 1.0, "ADD")
    bpy.context.view_layer.objects.active = block
    found = saved(tmp_path / "out")
    assert BODY in changed(found)
    meshes = by_name("mdm").load(found[BODY], "").meshes
    assert "belt buckle" in [mesh.name for mesh in meshes]
    assert "left out" not in capfd.readouterr().out


def test_a_mesh_on_a_bone_that_nothing_bends_is_said(tmp_path, capfd):
    block = trooper(tmp_path)
    cube = add_cube("lamp")
    cube.parent, cube.parent_type, cube.parent_bone = block, "BONE", "Bip01 Head"
    bpy.context.view_layer.objects.active = block
    assert not changed(saved(tmp_path / "out"))
    said = "left out, no bone moves their points, give them weights and an Armature modifier: 'lamp'"
    assert said in capfd.readouterr().out
    cube.hide_set(True)
    saved(tmp_path / "out")
    assert "left out" not in capfd.readouterr().out


def test_a_mesh_on_a_bone_in_the_bodys_collection_is_a_part_of_it(tmp_path, capfd):
    block = trooper(tmp_path)
    cube = add_cube("lamp")
    cube.parent, cube.parent_type, cube.parent_bone = block, "BONE", "Bip01 Head"
    bpy.context.scene.collection.objects.unlink(cube)
    block.users_collection[0].objects.link(cube)
    bpy.context.view_layer.objects.active = block
    found = saved(tmp_path / "out")
    assert "lamp" in [mesh.name for mesh in by_name("mdm").load(found[BODY], "").meshes]
    said = capfd.readouterr().out
    assert "left out" not in said
    assert "off what Blender shows" not in said


def test_what_of_the_body_goes_to_a_part_wears_there_what_it_wore(tmp_path):
    """By the body's skin, which lists it no more; the part has none."""
    trooper(tmp_path)
    pack, body = bpy.data.objects["pack"], bpy.data.objects["u_body"]
    activate(pack, body)
    with bpy.context.temp_override(active_object=pack, selected_editable_objects=[pack, body]):
        bpy.ops.object.join()
    (data,) = [data for name, data in saved(tmp_path / "out").items() if name.endswith("pack.md3")]
    shaders = [shader for each in by_name("md3").load(data, "").surfaces for shader in each.shaders]
    assert "models/players/toys/trooper/trooper.tga" in shaders
    assert "" not in shaders


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
    source = trooper(tmp_path)
    copy = duplicated(source)
    meant, other = (copy, source) if of == "copy" else (source, copy)
    mesh = next(block for block in meant.children if block.type == "MESH")
    bpy.context.view_layer.objects.active = mesh
    assert not changed(saved(tmp_path / "out"))
    said = f"copies of '{meant.name}' are left out, make one active to save that in its place: '{other.name}'"
    assert said in capfd.readouterr().out
    mesh.data.vertices[3].co.z += 2
    tag = next(block for block in meant.children if block.name.startswith("tag_weapon"))
    add_cube("club").parent = tag
    bpy.context.view_layer.objects.active = mesh
    new = f"{TOYS}/acc/club.md3"
    assert changed(saved(tmp_path / "out")) == sorted([new, BODY, BODY_SKIN])
    bpy.context.view_layer.objects.active = other
    assert not changed(saved(tmp_path / "other"))


def test_a_character_whose_game_was_moved_is_not_written_where_it_was(tmp_path):
    trooper(tmp_path)
    (tmp_path / "game").rename(tmp_path / "moved")
    assert "' is not there any more: export it to where it lies now" in error_of(bpy.ops.object.idtech_export_again)
    assert not (tmp_path / "game").exists()
    assert bpy.ops.export_scene.idtech_character(filepath=str(tmp_path / "moved")) == {"FINISHED"}
    assert bpy.ops.object.idtech_export_again() == {"FINISHED"}, "there it is from now on"


def test_a_hat_on_a_tag_of_the_body_is_told_whose_tag_it_is(tmp_path, capfd):
    """In the game a head has that tag."""
    trooper(tmp_path)
    cube_on("hat", "tag_torso")
    bpy.data.objects["hat"].parent.name = "tag_mouth.001"
    assert HELMET not in changed(saved(tmp_path / "out"))
    said = capfd.readouterr().out
    assert "left out, on tag_mouth: 'hat': the game hangs models on that of another piece: 'head'" in said, said
