"""Saving a character says what of it, as Blender shows it, goes into no file."""

import contextlib
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import pytest

from tests.samples import load, put
from tests.ui.character.games import GAMES, opened, roots, saved, show
from tests.ui.scene import activate, add_cube, bpy, import_model

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]


@pytest.fixture
def said(tmp_path, capfd):
    """Return what saves the character of an object, and returns what it says."""

    def save(block: Any) -> str:
        activate(block)
        capfd.readouterr()
        saved(tmp_path / "out")
        return str(capfd.readouterr().out)

    return save


def brought(game: str, folder: Any) -> Any:
    """Import a game's sample; returns the body's armature."""
    return opened(GAMES[game].put(folder / "game"), game)


def mesh_on(root: Any) -> Any:
    """Return the mesh that hangs on a root."""
    return next(block for block in root.children if block.type == "MESH")


def bent(rig: Any) -> Any:
    """Return a mesh that an armature bends."""
    return next(block for block in rig.children if block.type == "MESH")


@pytest.mark.parametrize("end", [0.0, 1.0])
def test_a_key_of_ones_own_that_plays_on_a_piece(tmp_path, said, end):
    rig = brought("et", tmp_path)
    bpy.context.scene.frame_end = bpy.context.scene.frame_start + 10
    pack = mesh_on(roots()["md3_back"])
    pack.shape_key_add(name="Basis")
    key = pack.shape_key_add(name="swollen", from_mix=False)
    key.points[0].co.z += 5.0
    for frame, value in ((bpy.context.scene.frame_start, 0.0), (bpy.context.scene.frame_end, end)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    assert ("moves where the game hangs it" in said(rig)) == (end > 0)


def test_a_mesh_that_was_taken_off_its_piece(tmp_path, said):
    rig = brought("et", tmp_path)
    pack = mesh_on(roots()["md3_back"])
    pack.parent, pack.parent_type, pack.parent_vertices = bent(rig), "VERTEX", (0, 1, 2)
    text = f"left out, no part of the character takes them, hang them on the root of one: '{pack.name}'"
    assert text in said(rig)


def test_meshes_of_copies_are_no_strays(tmp_path, said):
    rig = brought("et", tmp_path)
    for block in bpy.context.scene.objects:
        block.select_set(True)
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.object.duplicate() == {"FINISHED"}
    text = said(rig)
    assert "copies of 'body' are left out" in text and "no part of the character takes them" not in text


def test_what_hangs_where_nothing_may_is_named_once(tmp_path, said):
    rig = brought("et", tmp_path)
    tag = next(block for block in rig.children if block.name == "tag_torso")
    club = add_cube("club")
    add_cube("nail").parent = club
    for collection in rig.users_collection:
        collection.objects.link(club)
    club.parent = tag
    text = said(rig)
    assert "no game hangs a model there" in text and "no part of the character takes them" not in text


def test_modifiers_that_animations_without_an_action_put_off(tmp_path, said):
    """The game plays what has no action in Blender yet."""
    rig = brought("et", tmp_path)
    bent(rig).modifiers.new("twist", "SIMPLE_DEFORM").angle = 1.0
    before = [action.name for action in bpy.data.actions]
    plays = rig.animation_data.action
    rig.animation_data.action = None  # nor does the scene
    for bone in rig.pose.bones:
        bone.matrix_basis.identity()
    assert "'twist') work on the pose" in said(rig)
    assert [action.name for action in bpy.data.actions] == before and rig.animation_data.action is None
    rig.animation_data.action = plays
    assert "'twist') work on the pose" in said(rig)
    assert rig.animation_data.action == plays


LED = "lets them go along"


def lead(rig: Any) -> None:
    """Let something lead a bone, whatever action plays."""
    target = bpy.data.objects.new("lead", None)
    bpy.context.scene.collection.objects.link(target)
    target.location = 50.0, 0.0, 0.0
    rig.pose.bones[-1].constraints.new("COPY_LOCATION").target = target


@pytest.mark.parametrize("game", ["et", "xreal", "doom3"])
def test_what_leads_bones_where_animations_have_no_action(tmp_path, said, game):
    rig = brought(game, tmp_path)
    rig.pose.bones[-1].location.x += 3.0  # a pose leads nothing
    assert LED not in said(rig)
    lead(rig)
    text = said(rig)
    assert f"more than actions moves '{rig.name}'" in text and LED in text
    assert bpy.ops.object.idtech_animation_make() == {"FINISHED"}
    assert LED not in said(rig)


def test_what_leads_bones_in_some_poses_alone(tmp_path, said):
    rig = brought("xreal", tmp_path)
    limit = rig.pose.bones[1].constraints.new("LIMIT_ROTATION")
    limit.owner_space, limit.use_limit_x, limit.min_x, limit.max_x = "LOCAL", True, -0.1, 0.1
    assert LED in said(rig)
    limit.min_x, limit.max_x = -3.0, 3.0
    assert LED not in said(rig)


@pytest.mark.parametrize("game", ["et", "xreal", "doom3", "rtcw"])
def test_a_mesh_that_came_with_another_model(tmp_path, said, game):
    """Bound to bones it is a part of the body, hung on one it is named."""
    rig = brought(game, tmp_path)
    (hat,) = (b for b in import_model(put(tmp_path / "hat.md3", "minimal")).objects if b.type == "MESH")
    hat.parent, hat.parent_type, hat.parent_bone = rig, "BONE", rig.data.bones[2].name
    assert f"give them weights and an Armature modifier: '{hat.name}'" in said(rig)
    hat.parent_type = "OBJECT"
    hat.vertex_groups.new(name=rig.data.bones[2].name).add([0, 1, 2], 1.0, "REPLACE")
    hat.modifiers.new("rig", "ARMATURE").object = rig
    text = said(rig)
    assert hat.name not in text.replace(f"'{hat.name}' has normals", "")
    models = [path for path in (tmp_path / "out").rglob("*") if path.suffix in (".mdm", ".mds", ".md5mesh")]
    assert hat.name in [mesh.name for path in models for mesh in load(path.read_bytes()).meshes]


def test_what_leads_bones_where_one_hangs_on_a_later_one(tmp_path, said):
    rig = brought("xreal", tmp_path)
    activate(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    bones["upper_front_left"].parent = bones["foot_back_right"]
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.pose.bones["foot_back_right"].rotation_mode = "XYZ"
    assert LED not in said(rig)
    lead(rig)
    assert LED in said(rig)


@pytest.mark.parametrize("game", ["et", "xreal", "doom3"])
def test_bones_that_are_scaled_by_hand(tmp_path, said, game):
    """Blender shows that in whatever plays; animations without an action know nothing of it."""
    rig = brought(game, tmp_path)
    bone = rig.pose.bones[3]
    bone.scale = 0.5, 0.5, 0.5
    text = f"bones are scaled without a key: '{bone.name}': "
    assert text in said(rig)
    activate(rig)
    bpy.ops.object.idtech_animation_make()
    assert text not in said(rig)


WORLD = "constraints or drivers work in the world"


def test_constraints_in_the_world_of_what_stands_elsewhere_in_it(tmp_path, said):
    """A trooper of Return to Castle Wolfenstein is 1.25 times as large in the game, and so is its root."""
    rig = brought("rtcw", tmp_path)
    target = bpy.data.objects.new("target", None)
    bpy.context.scene.collection.objects.link(target)
    target.location = 10.0, 20.0, 30.0
    bone = rig.pose.bones["Bip01 L Leg"]
    look = bone.constraints.new("IK")
    for each in (target, rig.parent):
        look.target = each
        assert WORLD not in said(rig)  # it goes along
    rig.pose.bones["tag_back"].constraints.new("MAINTAIN_VOLUME")
    assert WORLD not in said(rig)
    look.target, bone.rotation_mode = None, "XYZ"
    curve = bone.driver_add("rotation_euler", 0)
    variable = curve.driver.variables.new()
    variable.name, variable.type, curve.driver.expression = "height", "TRANSFORMS", "height * 0.1"
    variable.targets[0].id, variable.targets[0].bone_target = rig, rig.data.bones[0].name
    variable.targets[0].transform_type = "LOC_Z"
    assert WORLD in said(rig)


def test_constraints_in_the_world_of_what_was_moved(tmp_path, said):
    """What they do there they do where the character is written."""
    rig = brought("xreal", tmp_path)
    limit = rig.pose.bones[2].constraints.new("LIMIT_LOCATION")
    limit.use_max_x, limit.max_x = True, -30.0
    said(rig)
    wanted = written_frames(tmp_path / "out")
    assert WORLD not in said(rig)
    (rig.parent or rig).location.x = 90.0
    limit.max_x = 60.0
    assert WORLD not in said(rig)
    for got, before in zip(written_frames(tmp_path / "out"), wanted, strict=True):
        np.testing.assert_allclose(got, before, atol=0.05)
    limit.mute = True
    said(rig)
    assert any(
        np.abs(got - before).max() > 1.0 for got, before in zip(written_frames(tmp_path / "out"), wanted, strict=True)
    )


def written_frames(folder: Path) -> list[Any]:
    """Return where the body's bones are in its animations, (F, J, 3) each, by the parent."""
    return [load(path.read_bytes(), "md5anim").positions for path in sorted(folder.rglob("*.md5anim"))]


def test_a_tag_that_a_constraint_makes_flat(tmp_path, said):
    rig = brought("rtcw", tmp_path)
    limit = rig.pose.bones["tag_back"].constraints.new("LIMIT_SCALE")
    assert "scale" not in said(rig)
    limit.use_max_z = True  # to 0
    assert "uneven scale of bones is lost: in frame 0 that of 'tag_back'" in said(rig)


@pytest.mark.parametrize("game", ["et", "xreal", "doom3", "rtcw"])
def test_where_the_armature_stands(tmp_path, said, game):
    rig = brought(game, tmp_path)
    assert "which no file says" not in said(rig)
    (rig.parent or rig).location.x = 30.0  # beside another one
    assert "which no file says" not in said(rig)
    rig.scale = 1.5, 1.5, 1.5
    text = said(rig)
    if rig.parent is None:
        assert f"'{rig.name}' is scaled as an object, which no file says" in text
    else:
        assert f"'{rig.name}' is moved, turned or scaled on its root, which no file says" in text
        rig.scale, rig.location = (1.0, 1.0, 1.0), (0.0, 0.0, 4.0)
        assert "on its root, which no file says" in said(rig)


@pytest.mark.parametrize("how", ["moved", "turned", "scaled"])
def test_a_piece_that_is_elsewhere_or_larger_than_the_game_has_it(tmp_path, said, how):
    rig = brought("doom3", tmp_path)
    text = "the root of 'head' stands off where the game hangs it"
    assert text not in said(rig)
    root = roots()["head"]
    if how == "moved":
        root.location.z += 0.1
    elif how == "turned":
        root.rotation_mode, root.rotation_euler = "XYZ", (0.0, 0.0, 0.3)
    else:
        root.scale = 1.1, 1.1, 1.1
    assert text in said(rig)


@pytest.mark.parametrize("frame", [0, 3])
def test_a_piece_that_is_hidden_stands_where_it_hangs(tmp_path, said, frame):
    rig = brought("et", tmp_path)
    (home,) = roots()["md3_back"].users_collection
    layers = [bpy.context.view_layer.layer_collection]
    for layer in layers:  # which grows
        layers += layer.children
    next(layer for layer in layers if layer.collection == home).exclude = True
    bpy.context.view_layer.update()
    show("salute")
    bpy.context.scene.frame_set(frame)
    assert "stands off where the game hangs it" not in said(rig)
    roots()["md3_back"].location.z += 3.0
    assert "stands off where the game hangs it" in said(rig)


def test_a_piece_that_was_hung_on_something_else(tmp_path, said):
    """It stands on that as it stood on the bone, and still names the bone."""
    rig = brought("doom3", tmp_path)
    root = roots()["head"]
    other = bpy.data.objects.new("other", None)
    bpy.context.scene.collection.objects.link(other)
    root.parent = other
    assert "the root of 'head' stands off where the game hangs it" in said(rig)


def test_a_piece_with_bones_that_moves_by_itself(tmp_path, said):
    rig = brought("doom3", tmp_path)
    bpy.context.scene.frame_end = bpy.context.scene.frame_start + 10
    head = next(block for block in roots()["head"].children if block.type == "ARMATURE")
    head.driver_add("location", 2).driver.expression = "frame"
    assert "'head' moves where the game hangs it, and its file stands still" in said(rig)


def test_a_bone_that_is_larger_in_all_animations(tmp_path, said):
    rig = brought("et", tmp_path)
    rig.pose.bones["Bip01 R Hand"].scale = 2.0, 2.0, 2.0
    assert "is lost, joints have none: in frame 0 of the file that of 'Bip01 R Hand'" in said(rig)


@pytest.mark.parametrize(
    ("game", "written", "lost"),
    [
        ("et", {"toy_1.md3", "pack_1.md3", "helmet_1.md3"}, ""),
        ("rtcw", {"face_1.md3", "pouch_1.mdc", "pack_1.md3", "helmet_1.md3"}, ""),
        ("xreal", set(), "body.md5mesh: MD5MESH files hold no levels of detail"),
        ("quake2", set(), "tris.md2: MD2 files hold no levels of detail"),
    ],
)
def test_levels_of_detail_of_parts_go_beside_them(tmp_path, capfd, game, written, lost):
    brought(game, tmp_path)
    lead = bpy.context.view_layer.objects.active
    packs = [mesh_on(root) for kind, root in roots().items() if kind == "md3_back"]
    for block in [block for block in bpy.data.objects if block.type == "MESH"]:
        activate(block)
        with contextlib.suppress(RuntimeError):  # some formats keep them in the model's own file
            bpy.ops.object.idtech_make_levels(percentages="50")
    activate(lead)
    capfd.readouterr()
    found = saved(tmp_path / "out")
    text = capfd.readouterr().out
    assert {PurePath(path).name for path in found if "_1." in path} == written
    assert (lost or "hold no levels") in text if lost else "hold no levels" not in text
    assert "no part of the character takes them" not in text
    if not written:
        return
    data = {PurePath(path).name: content for path, content in found.items()}
    assert data["pack_1.md3"] != data["pack.md3"]
    packs[0].data.vertices[0].co.z += 1.0
    activate(lead)
    capfd.readouterr()
    saved(tmp_path / "again")
    assert "'pack.md3' was edited and 'pack_1.md3' was not" in capfd.readouterr().out


def test_levels_of_detail_that_lie_in_the_game(tmp_path, said):
    rig = brought("et", tmp_path)
    (place,) = (tmp_path / "game").rglob("pack.md3")
    place.with_name("pack_1.md3").write_bytes(place.read_bytes())
    assert "from afar" not in said(rig)
    mesh_on(roots()["md3_back"]).data.vertices[0].co.z += 1.0
    assert "'pack.md3' was edited and 'pack_1.md3' was not: games show that one from afar" in said(rig)


def test_bones_of_a_piece_that_a_constraint_leads(tmp_path, said):
    rig = brought("doom3", tmp_path)
    text = "'head' has a pose that no action keeps, and its file no motion: written at rest"
    assert text not in said(rig)
    lead(next(block for block in roots()["head"].children if block.type == "ARMATURE"))
    assert text in said(rig)


@pytest.mark.parametrize("game", ["et", "xreal"])
def test_an_armature_on_what_moves(tmp_path, said, game):
    rig = brought(game, tmp_path)
    cart = bpy.data.objects.new("cart", None)
    bpy.context.scene.collection.objects.link(cart)
    rig.parent = cart
    assert "hangs on" not in said(rig)
    cart.keyframe_insert("location", frame=1)
    assert f"'{rig.name}' hangs on 'cart', whose motion goes into its animations" in said(rig)
