"""Players written back: unedited files come back, an edit changes its files alone, and what games need is said."""

from __future__ import annotations

import re
import shutil
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest

from io_idtech_models.game.player.animation_cfg import read
from io_idtech_models.game.skin import read_skin
from io_idtech_models.tasks.export.last_export import options_of
from io_idtech_models.tasks.player.files import proposed_target
from io_idtech_models.ui.player.transfer import EXPORT_SCENE_OT_idtech_player
from tests.blender.skeletal.rigged import in_world
from tests.packs import Entry, zip_bytes
from tests.samples import PROJECT, put
from tests.samples_player import FOLDER, NAME, player_files
from tests.ui.player.players import (
    PLAYERS,
    actions_of,
    active_player,
    brought,
    corpus_player,
    export_player,
    game,
    mesh_of,
    model,
    originals,
    saved,
    tag_of,
    unequal,
)
from tests.ui.scene import (
    CUBE_FACES,
    CUBE_POINTS,
    activate,
    add_cube,
    add_mesh,
    add_object,
    add_tag,
    bpy,
    error_of,
    export_bytes,
    import_model,
    reopen,
    stored,
)

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]


@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
@pytest.mark.parametrize("state", ["as imported", "playing", "moved", "reopened", "frames"])
def test_unedited_files_come_back(tmp_path, packed, state):
    player = brought(game(tmp_path, packed) / "head.md3")
    if state == "playing":
        for part, row in (("lower", "LEGS_BACK"), ("upper", "TORSO_STAND")):
            player.parts[part].animation_data.action = actions_of(player)[row]
        bpy.context.scene.frame_set(11)
    elif state == "moved":
        player.root.location, player.root.rotation_euler = (100.5, -3000, 17), (1, 2, 3)
        bpy.context.view_layer.update()
    elif state == "reopened":
        reopen(tmp_path)
    elif state == "frames":
        for root in player.parts.values():
            root.animation_data_clear()
            root["frame"] = 7.5
    assert unequal(tmp_path) == []


@pytest.mark.parametrize("name", PLAYERS[1:])
def test_real_players_come_back(tmp_path, name):
    own = corpus_player(name)
    brought(Path(own.parts["upper"].base.place), legs="LEGS_RUN", torso="TORSO_STAND", plain_materials=True)
    bpy.context.scene.frame_set(5)
    reopen(tmp_path)
    files = [file for p in own.parts.values() for file in (p.base, *p.levels.values(), *p.skins.values())]
    assert unequal(tmp_path, {file.name: file.read() for file in (own.table, *files)}) == []


OTHER_HEAD = b"h_other,models/players/grunt/other.tga\n"

DRESSED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # what is imported, and which files are others or none
    "an unknown skin": ({"skin": "foo"}, {}),
    "none": ({"skin": "none"}, {}),
    "half a skin": ({"skin": "red"}, {"head_red_skin": None}),
    "a skin of another head": ({}, {"head_red_skin": OTHER_HEAD}),
    "a head for each skin": ({"skin": "red"}, {
        "head_md3": None,
        "head_default_md3": player_files()["head.md3"],
        "head_red_md3": player_files()["head.md3"].replace(b"h_head", b"h_hair"),
    }),
    "no skin": ({}, {name.replace(".", "_"): None for name in player_files() if name.endswith(".skin")}),
}  # fmt: skip


@pytest.mark.parametrize("case", DRESSED)
def test_unedited_skins_come_back(tmp_path, capfd, case):
    options, changed = DRESSED[case]
    folder = game(tmp_path, **changed)
    brought(folder, **options)
    if case == "an unknown skin":
        assert "there is no skin 'foo': 'default', 'red'; it wears 'default'" in capfd.readouterr().out
    there = {p.name: p.read_bytes() for p in folder.iterdir() if not p.name.startswith("icon_")}
    there.pop("head_default.md3", None)  # which a save has no part of
    assert unequal(tmp_path, there) == []


def hat_on(player: Any) -> Any:
    """Hang a new mesh on a player's head."""
    hat = add_cube("hat")
    hat.parent = player.parts["head"]
    return hat


def raised(mesh: Any) -> None:
    """Move a point of a mesh in all frames."""
    keys = mesh.data.shape_keys
    for points in [key.data for key in keys.key_blocks] if keys else [mesh.data.vertices]:
        points[0].co.z += 5.0
    mesh.data.update()


def test_skins_say_what_the_game_calls_a_surface(tmp_path, capfd):
    hat = hat_on(brought(game(tmp_path)))
    hat.name = "Hat_R"
    hat.data.materials.append(bpy.data.materials.new("felt"))
    lines = saved(tmp_path)["head_default.skin"].decode().splitlines()
    assert any(line.startswith("hat,") for line in lines)
    assert "'Hat_R' is called 'hat' in Quake III Arena: its skins do" in capfd.readouterr().out


def test_a_skin_that_is_shown_is_the_one_that_is_saved(tmp_path, capfd):
    player = brought(game(tmp_path))
    activate(player.parts["upper"].children[0])
    assert bpy.ops.object.idtech_show_skin(skin="red.skin") == {"FINISHED"}
    assert {str(home["idtech_skin"]) for home in bpy.data.collections if "idtech_skin" in home} == {
        "red"
    }  # levels', too
    assert unequal(tmp_path) == []
    mesh_of(player, "lower").data.materials[0] = bpy.data.materials.new("models/players/grunt/blood")
    hat = hat_on(player)
    saved(tmp_path)
    bare = "without a material a surface has no shader, give it one with the shader's name: 'hat'"
    assert bare in capfd.readouterr().out
    hat.data.materials.append(bpy.data.materials.new("models/players/grunt/hat"))
    changed = {"head.md3", "head_default.skin", "head_red.skin", "lower.md3", "lower_red.skin"}
    assert {*unequal(tmp_path)} == changed
    assert "'hat': not listed in 'head_default.skin', added there, dressed" in capfd.readouterr().out


@pytest.mark.parametrize("name", ["h_head", "h_other"])
def test_the_head_of_another_player_is_dressed_as_skins_say_by_its_name(tmp_path, capfd, name):
    player = brought(game(tmp_path))
    old = mesh_of(player, "head")
    folder = game(tmp_path / "other", head_md3=player_files()["head.md3"].replace(b"h_head", name[:6].encode()))
    new = mesh_of(brought(folder), "head")
    bpy.data.objects.remove(old)
    new.name = name
    new.data.materials[0] = bpy.data.materials.new("models/players/liz/face")
    new.parent = player.parts["head"]
    activate(player.root)
    files = saved(tmp_path)
    assert f"{name},models/players/liz/face".encode() in files["head_default.skin"]
    out = capfd.readouterr().out
    same = f"'{name}' came with another model, and 'head_red.skin' dress what it replaced"
    assert (same in out) == (name == "h_head")
    assert (f"'{name}': not listed in 'head_red.skin', added there, dressed" in out) == (name != "h_head")
    assert (files["head_red.skin"] == player_files()["head_red.skin"]) == (name == "h_head")


def lines_of(files: dict[str, bytes], part: str) -> dict[str, dict[str, str]]:
    """Return what the surfaces of a part wear by each of its skins in some files."""
    found = {name.partition("_")[2]: data for name, data in files.items() if name.startswith(f"{part}_")}
    return {name: read_skin(data).shaders() for name, data in found.items() if name.endswith(".skin")}


def renamed(block: Any) -> None:
    block.name = "new"


def cut_off(block: Any) -> Any:
    """Cut a face off a surface, and name it as one of its own; returns that."""
    activate(block)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    block.data.polygons[0].select = True
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_mode(type="FACE")
    assert bpy.ops.mesh.separate(type="SELECTED") == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    piece = next(each for each in bpy.context.selected_objects if each != block)
    piece.name = "new"
    return piece


def duplicated(block: Any) -> None:
    activate(block)
    bpy.ops.object.duplicate()
    bpy.context.object.name = "new"


def shared(block: Any) -> None:
    """Make another mesh that wears the same material."""
    new = add_cube("new")
    new.parent = block.parent
    new.data.materials.append(block.data.materials[0])


@pytest.mark.parametrize("worn", ["default", "red"])
@pytest.mark.parametrize(
    ("edit", "shows"), [*((e, s) for e in (renamed, cut_off, duplicated) for s in (False, True)), (shared, False)]
)
def test_what_came_of_a_surface_wears_what_that_wears_in_all_skins(tmp_path, capfd, edit, shows, worn):
    player = brought(game(tmp_path), skin=worn)
    block = mesh_of(player, "lower")
    edit(block)
    activate(next(each for each in bpy.context.view_layer.objects if each.name == "new"))
    if shows:
        assert bpy.ops.object.idtech_show_skin(skin="default.skin" if worn == "red" else "red.skin") == {"FINISHED"}
        assert "games show these grey" not in capfd.readouterr().out
    after, before = (lines_of(files, "lower") for files in (saved(tmp_path), player_files()))
    assert after.keys() == before.keys() >= {"default.skin", "red.skin"}
    for name, lines in before.items():
        assert after[name]["new"] == lines["l_legs"], name


def test_what_a_modeller_made_to_wear_something_else_wears_that_in_all_skins(tmp_path):
    block = mesh_of(brought(game(tmp_path)), "lower")
    renamed(block)
    block.data.materials[0] = bpy.data.materials.new("models/players/grunt/other")
    found = lines_of(saved(tmp_path), "lower")
    assert {lines["new"] for lines in found.values()} == {"models/players/grunt/other"}


def test_an_instance_of_a_collection_on_a_tag_is_named(tmp_path, capfd):
    player = brought(game(tmp_path))
    shown = bpy.data.objects.new("shown", None)
    bpy.context.collection.objects.link(shown)
    shown.instance_type, shown.instance_collection = "COLLECTION", bpy.data.collections.new("hats")
    shown.parent = tag_of(player.parts["upper"], "tag_head")
    activate(player.root)
    saved(tmp_path)
    assert "or are no meshes (parent meshes to a part's root): 'shown'" in capfd.readouterr().out


def test_a_part_without_a_mesh_is_named(tmp_path):
    player = brought(game(tmp_path))
    for block in player.parts["head"].children_recursive:
        bpy.data.objects.remove(block)
    activate(player.root)
    said = error_of(export_player, filepath=str(tmp_path / "out"))
    assert "head.md3: nothing to export" in said and "hang a mesh on its root" in said


def test_an_archive_keeps_all_else(tmp_path):
    brought(game(tmp_path, packed=True))
    pack = tmp_path / "baseq3/pak0.pk3"
    before = pack.read_bytes()
    assert export_player(filepath=str(pack)) == {"FINISHED"}
    assert pack.read_bytes() == before
    head = mesh_of(active_player(), "head")
    raised(head)
    assert export_player(filepath=str(pack)) == {"FINISHED"}
    with ZipFile(BytesIO(before)) as old, ZipFile(pack) as new:
        assert old.namelist() == new.namelist()
        assert [n for n in old.namelist() if old.read(n) != new.read(n)] == [f"{FOLDER}/head.md3"]
    assert export_player(filepath=str(tmp_path / "new.pk3")) == {"FINISHED"}
    with ZipFile(tmp_path / "new.pk3") as made:
        icons = ["icon_default.tga", "icon_red.tga"]
        assert sorted(made.namelist()) == sorted(f"{FOLDER}/{name}" for name in (*originals(), *icons))
        assert made.read(f"{FOLDER}/icon_red.tga") == (tmp_path / "picture.png").read_bytes()


def test_parts_export_alone_while_rows_play(tmp_path):
    player = brought(game(tmp_path), legs="LEGS_RUN", torso="TORSO_ATTACK")
    player.root.location = (10, 20, 30)
    bpy.context.scene.frame_set(9)
    for kind, root in player.parts.items():
        for block in (root, root.children[0]):
            activate(block)
            data = export_bytes(tmp_path / f"{kind}.md3")
            assert data == originals()[f"{kind}.md3"], (kind, block.name)


@pytest.mark.parametrize("playing", [False, True])
def test_a_tag_moved_in_a_frame_moves_there_alone(tmp_path, playing):
    player = brought(game(tmp_path))
    scene = bpy.context.scene
    tag = tag_of(player.parts["lower"], "tag_torso")
    scene.frame_set(12)
    tag.location.z += 4.0
    tag.keyframe_insert("location", frame=12)
    if playing:
        player.parts["lower"].animation_data.action = actions_of(player)["LEGS_WALK"]
        scene.frame_set(2)
    assert unequal(tmp_path) == ["lower.md3"]
    old, new = (model(files["lower.md3"]) for files in (originals(), saved(tmp_path)))
    moved = new.tags[0].origins - old.tags[0].origins
    assert np.flatnonzero(np.abs(moved).max(axis=1)).tolist() == [12]
    np.testing.assert_allclose(moved[12], (0, 0, 4), atol=1e-5)
    assert np.array_equal(old.tags[0].axes, new.tags[0].axes)
    assert all(np.array_equal(a.positions, b.positions) for a, b in zip(old.surfaces, new.surfaces, strict=True))


def test_a_modifier_on_the_head_is_seen_from_the_head(tmp_path):
    player = brought(game(tmp_path), legs="LEGS_RUN")
    player.root.location = (100, 0, 0)
    head = mesh_of(player, "head")
    modifier = head.modifiers.new("taller", "DISPLACE")
    modifier.direction, modifier.mid_level, modifier.strength = "Z", 0.0, 8.0
    assert unequal(tmp_path) == ["head.md3"]
    old, new = (model(files["head.md3"]).surfaces[0] for files in (originals(), saved(tmp_path)))
    moved = new.positions[0][:, None] - old.positions[0][None]
    assert (np.abs(moved - (0, 0, 8)).max(axis=2) < 0.02).any(axis=1).all()
    assert new.positions.shape[0] == 1


@pytest.mark.parametrize("way", ["object", "eye", "collection", "excluded"])
@pytest.mark.parametrize("bent", [False, True])
def test_what_is_hidden_of_a_player_is_written(tmp_path, way, bent):
    player = brought(game(tmp_path), legs="LEGS_RUN")
    legs = mesh_of(player, "lower")
    if bent:
        modifier = legs.modifiers.new("aside", "DISPLACE")
        modifier.direction, modifier.mid_level, modifier.strength = "X", 0.0, 8.0
    layers = bpy.context.view_layer.layer_collection.children[NAME].children
    if way == "object":
        legs.hide_viewport = True
    elif way == "eye":
        legs.hide_set(True)
    elif way == "collection":
        bpy.data.collections["lower"].hide_viewport = True
    else:
        layers["lower"].exclude = True
        bpy.context.view_layer.update()  # 4.2 crashes where someone selects before
    activate(player.parts["head"])
    after = saved(tmp_path)
    if not bent:
        assert after == originals()
    else:
        new, old = model(after["lower.md3"]).surfaces[0], model(originals()["lower.md3"]).surfaces[0]
        off = new.positions - old.positions[:, : new.num_vertices]
        np.testing.assert_allclose(off, np.broadcast_to((8, 0, 0), off.shape), atol=0.02)
    hidden = {"object": legs.hide_viewport, "collection": bpy.data.collections["lower"].hide_viewport}
    assert hidden.get(way, layers["lower"].exclude or not legs.visible_get()) is True


@pytest.mark.parametrize("part", ["upper", "head", NAME])
def test_what_is_excluded_stands_where_it_is_written(tmp_path, part, capfd):
    """Blender does not know where what it does not evaluate is by now."""
    player = brought(game(tmp_path), legs="LEGS_RUN", torso="TORSO_ATTACK")
    bpy.context.scene.frame_set(9)
    home = bpy.context.view_layer.layer_collection.children[NAME]
    (home if part == NAME else home.children[part]).exclude = True
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(2)
    if part != NAME:
        activate(player.parts["lower"])
    assert unequal(tmp_path) == []
    assert "off the tag" not in capfd.readouterr().out


@pytest.mark.parametrize("hides", ["nothing", "empties", "all"])
def test_a_part_that_stands_off_its_tag_is_named_also_where_the_empties_are_hidden(tmp_path, hides, capfd):
    player = brought(game(tmp_path))
    head = player.parts["head"]
    head.location.z += 3.0
    for block in [b for b in bpy.context.view_layer.objects if hides == "empties" and b.type == "EMPTY"]:
        block.hide_set(True)
    for block in [head, *head.children_recursive] if hides == "all" else []:
        block.hide_set(True)
    activate(player.parts["lower"])
    capfd.readouterr()
    saved(tmp_path)
    said = "the root of 'head' is up to 2.55 units off the tag"
    assert (said in capfd.readouterr().out) == (hides != "all")


HATS = {  # what carries it; which part gets it
    "tag_head": ("tag_head", "head"),
    "tag_torso": ("tag_torso", "upper"),
    "surface": ("h_head", "head"),
    "root": ("head", "head"),
    "tag_flag": ("tag_flag", ""),
}


@pytest.mark.parametrize(
    ("holder", "by"),
    [
        *((holder, "parent") for holder in HATS),
        *(("tag_head", by) for by in ("another's parent", "constraint", "armature")),
    ],
)
def test_what_hangs_on_a_player_is_the_players(tmp_path, capfd, holder, by):
    """A hat that lies where new objects do, in the scene's own collection."""
    name, part = HATS[holder]
    brought(game(tmp_path), legs="LEGS_RUN", torso="TORSO_ATTACK")
    bpy.context.scene.frame_set(4)
    carrier = bpy.data.objects[name] if holder != "root" else active_player().parts["head"]
    hat = add_mesh("hat", [(x, y, 20 + z) for x, y, z in CUBE_POINTS], CUBE_FACES)
    hat.data.materials.append(bpy.data.materials.new("models/players/grunt/hat"))
    if by == "parent":
        hat.parent = carrier
    elif by == "another's parent":
        hat.parent = add_tag("pivot", "PLAIN_AXES")
        hat.parent.parent = carrier
    elif by == "constraint":
        hat.constraints.new("COPY_TRANSFORMS").target = carrier
    else:
        rig = add_object("rig", bpy.data.armatures.new("rig"))
        rig.parent = carrier
        hat.modifiers.new("rig", "ARMATURE").object = rig
    bpy.context.view_layer.update()
    activate(bpy.data.objects["l_legs"])
    capfd.readouterr()
    after = saved(tmp_path)
    changed = [n for n in after if n.endswith(".md3") and after[n] != originals()[n]]
    assert changed == ([f"{part}.md3"] if part else [])
    if not part:
        assert "or are no meshes (parent meshes to a part's root): 'hat'" in capfd.readouterr().out
        return
    found = model(after[f"{part}.md3"])
    assert [s.name for s in found.surfaces][1:] == ["hat"]
    assert b"hat,models/players/grunt/hat" in after[f"{part}_default.skin"]
    if holder == "tag_head" and by != "armature":  # it has no bones: the hat stays in the world
        span = np.ptp(found.surfaces[1].positions[0], axis=0)
        np.testing.assert_allclose(span, [16 * 0.85] * 3, atol=0.05)


@pytest.mark.parametrize(("scale", "said"), [((2, 2, 2), "Scale 0.5 writes"), ((1, 1, 2), "clear its scale (Alt+S)")])
def test_a_player_that_is_scaled_as_an_object_is_said(tmp_path, capfd, scale, said):
    """Its files have its own size: with the export's option the one that it shows."""
    player = brought(game(tmp_path))
    player.root.scale = scale
    bpy.context.scene.frame_set(0)
    shown = {kind: np.ptp(in_world(mesh_of(player, kind)), axis=0) for kind in player.parts}
    assert unequal(tmp_path) == []
    assert f"the root of lower is scaled, files have the model's own size: {said}" in capfd.readouterr().out
    if scale == (2, 2, 2):
        after = saved(tmp_path, scale=0.5)
        written = np.ptp(model(after["lower.md3"]).surfaces[0].positions[0], axis=0)
        np.testing.assert_allclose(written, shown["lower"], atol=0.02)


@pytest.mark.parametrize("moves", [False, True])
def test_a_constraint_without_influence_takes_nothing_along(tmp_path, moves):
    """As one that a modder has switched off: nothing animates it, whatever else that does."""
    brought(game(tmp_path))
    hat = add_mesh("hat", CUBE_POINTS, CUBE_FACES)
    hold = hat.constraints.new("COPY_TRANSFORMS")
    hold.target, hold.influence = bpy.data.objects["tag_head"], 0.0
    if moves:
        hat.keyframe_insert("location", frame=1)
    bpy.context.view_layer.update()
    activate(bpy.data.objects["l_legs"])
    after = saved(tmp_path)
    assert [n for n in after if n.endswith(".md3") and after[n] != originals()[n]] == []


def test_a_linked_player_has_its_levels_of_detail(tmp_path):
    brought(game(tmp_path))
    source = stored(tmp_path)
    bpy.ops.wm.link(directory=f"{source}/Collection", filename=NAME, instance_collections=False)
    bpy.context.view_layer.objects.active = next(b for b in bpy.context.scene.objects if b.name == "l_legs")
    assert unequal(tmp_path) == []
    assert "linked from another .blend" in error_of(bpy.ops.object.idtech_make_levels, percentages="50")


def test_a_level_that_hangs_on_nothing_is_written_as_it_stands_after_reopening(tmp_path):
    """What lies in an excluded collection has no place in the world once its file was opened."""
    brought(game(tmp_path))
    level = next(c for c in bpy.data.collections if c.name.startswith("lower_1"))
    layer = bpy.context.view_layer.layer_collection.children[0].children[level.name]
    layer.exclude = False
    bpy.context.view_layer.update()
    for mesh in [block for block in level.objects if block.type == "MESH"]:
        place = mesh.matrix_world.copy()
        mesh.parent = None
        mesh.matrix_world = place
        mesh.location.x += 5.0
    bpy.context.view_layer.update()
    layer.exclude = True
    before = saved(tmp_path)
    assert before["lower_1.md3"] != originals()["lower_1.md3"]
    reopen(tmp_path)
    active_player()
    assert unequal(tmp_path, before) == []


@pytest.mark.parametrize("made", [False, True], ids=["that came", "that was made"])
def test_a_level_of_detail_of_before_an_edit_is_named(tmp_path, capfd, made):
    """Of a player that is saved, and of a part alone."""
    legs = mesh_of(brought(game(tmp_path)), "lower")
    activate(legs)
    if made:
        assert bpy.ops.object.idtech_make_levels(percentages="50") == {"FINISHED"}
    for edited in (False, True):
        if edited:
            raised(legs)
        for write in (saved, lambda folder: export_bytes(put(folder / "alone" / "lower.md3"))):
            write(tmp_path)
            said = capfd.readouterr().out
            assert ("'lower.md3' was edited and 'lower_1.md3' was not" in said) == edited
            if write is saved:
                assert "3 parts, 1 level of detail, 11 files" in said and "the player has no" not in said


def moved_uvs(block: Any) -> None:
    for corner in block.data.uv_layers[0].data:
        corner.uv.x += 0.25


@pytest.mark.parametrize("edit", [None, raised, moved_uvs, lambda block: block.data.flip_normals()])
@pytest.mark.parametrize("inserts", [False, True])
def test_frames_that_both_get_are_no_edit_of_a_level_of_detail(tmp_path, capfd, edit, inserts):
    legs = mesh_of(brought(game(tmp_path)), "lower")
    activate(legs)
    if edit is not None:
        edit(legs)
    bpy.context.scene.frame_set(3)
    if inserts:
        assert bpy.ops.object.idtech_insert_frame() == {"FINISHED"}
    saved(tmp_path)
    assert ("'lower.md3' was edited and 'lower_1.md3' was not" in capfd.readouterr().out) == (edit is not None)


def test_tags_that_games_look_for_and_that_are_gone_are_named(tmp_path, capfd):
    """None is that is hidden."""
    player = brought(game(tmp_path))
    check: Any = bpy.ops.object.idtech_check_game
    head, gun = (tag_of(player.parts["upper"], name) for name in ("tag_head", "tag_weapon"))
    gun.hide_set(True)
    assert check() == {"FINISHED"}
    saved(tmp_path)
    assert "lacks tags" not in capfd.readouterr().out
    head.name = "tag_hat"
    bpy.data.objects.remove(gun)
    wanted = (
        "'tag_hat' was 'tag_head' in its file, the name by which games hang models on it: rename it back",
        "the model lacks tags on which games hang models by their names, add empties called so: 'tag_weapon'",
    )
    saved(tmp_path)
    said = capfd.readouterr().out
    assert all(f"upper.md3: {text}" in said for text in wanted)
    assert check() == {"FINISHED"}
    said = capfd.readouterr().out
    assert all(f"upper: {text}" in said for text in wanted)
    assert bpy.context.selected_objects[0].name == "tag_hat"


@pytest.mark.parametrize(("part", "tag"), [("lower", "tag_torso"), ("upper", "tag_head")])
@pytest.mark.parametrize("active", ["lower", "upper", "head"])
def test_parts_whose_tag_was_deleted_are_the_players(tmp_path, capfd, part, tag, active):
    player = brought(game(tmp_path))
    meshes = {kind: mesh_of(player, kind) for kind in ("lower", "upper", "head")}
    bpy.data.objects.remove(tag_of(player.parts[part], tag))
    bpy.context.view_layer.update()
    activate(meshes[active])
    found = saved(tmp_path)
    said = capfd.readouterr().out
    assert f"{part}.md3: the model lacks tags on which games hang models by their names" in said
    assert "3 parts" in said and "the player has no" not in said
    assert {name for name in found if name.endswith(".md3")} == {n for n in player_files() if n.endswith(".md3")}


@pytest.mark.parametrize("onto", ["nothing", "another part", "a mesh", "the part", "another tag", "a tag beside"])
def test_a_part_that_was_torn_off_its_tag_and_moved_is_named(tmp_path, capfd, onto):
    player = brought(game(tmp_path))
    head = player.parts["head"]
    stands = head.matrix_world.copy()
    head.parent = {
        "nothing": None,
        "another part": player.parts["lower"],
        "a mesh": mesh_of(player, "upper"),
        "the part": player.parts["upper"],
        "a tag beside": tag_of(player.parts["upper"], "tag_weapon"),
        "another tag": tag_of(player.parts["lower"], "tag_torso"),
    }[onto]
    head.matrix_world = stands
    bpy.context.view_layer.update()
    activate(player.parts["lower"])
    head.location.z += 20.0
    bpy.context.view_layer.update()
    saved(tmp_path)
    assert re.search(
        r"the root of 'head' does not hang on 'tag_head' of 'upper', and is up to \d\d", capfd.readouterr().out
    )
    head.parent = tag_of(player.parts["upper"], "tag_head")
    head.matrix_parent_inverse.identity()
    head.matrix_basis.identity()
    bpy.context.view_layer.update()
    saved(tmp_path)
    said = capfd.readouterr().out
    assert "3 parts" in said and "units off" not in said, "the advice helps"


def test_a_player_in_a_scene_with_stretched_time_is_as_shown(tmp_path, capfd):
    player = brought(game(tmp_path))
    activate(player.parts["lower"])
    bpy.context.scene.render.frame_map_new = 200
    assert unequal(tmp_path) == []
    said = capfd.readouterr().out
    assert "Time Stretching" in said and "units off" not in said
    assert bpy.ops.object.idtech_check_game() == {"FINISHED"}
    said = capfd.readouterr().out
    assert "lower, upper: Time Stretching" in said and said.count("Time Stretching") == 1


def test_what_no_file_has_of_a_hidden_player_is_not_said_to_be_written(tmp_path, capfd):
    player = brought(game(tmp_path))
    activate(player.parts["lower"])
    for block in (player.parts["head"], bpy.data.objects["tag_flag"]):
        block.hide_set(True)
    saved(tmp_path)
    assert "written though they are hidden: 'tag_flag'" in capfd.readouterr().out


def test_a_player_of_no_parts_is_not_written(tmp_path):
    player = brought(game(tmp_path))
    for kind in ("lower", "upper", "head"):
        player.parts[kind]["idtech_part"] = "weapon"
    assert "has no parts any more" in error_of(bpy.ops.export_scene.idtech_player, filepath=str(tmp_path / "a.pk3"))
    assert not (tmp_path / "a.pk3").exists()


@pytest.mark.parametrize("way", ["eye", "excluded"])
def test_what_is_hidden_is_checked_and_written_with_the_player(tmp_path, capfd, way):
    player = brought(game(tmp_path))
    check: Any = bpy.ops.object.idtech_check_game
    head, hat = mesh_of(player, "head"), hat_on(player)
    hat.data.materials.append(bpy.data.materials.new("felt"))
    if way == "eye":
        head.hide_set(True), hat.hide_set(True)
    else:
        bpy.context.view_layer.layer_collection.children[NAME].children["head"].exclude = True
    activate(mesh_of(player, "lower"))
    assert check(target="md3:quake3") == {"FINISHED"}
    assert "nothing to export" not in capfd.readouterr().out
    assert len(model(saved(tmp_path)["head.md3"]).surfaces) == 2
    assert re.search("written though they are hidden: .*'h_head'", capfd.readouterr().out)


def test_a_part_of_ones_own_is_asked_for_the_tag_that_carries_the_next(tmp_path, capfd):
    player = brought(game(tmp_path), levels=False)
    legs = player.parts["lower"]
    home = legs.users_collection[0]
    for holder in (home, *home.objects, *(b.data for b in home.objects if b.data is not None)):
        for key in [key for key in holder.keys() if key in ("idtech_source", "idtech_model")]:  # noqa: SIM118
            del holder[key]
    saved(tmp_path)
    assert "lacks tags" not in capfd.readouterr().out
    tag_of(legs, "tag_torso").name = "tag_belt"
    saved(tmp_path / "other")
    said = capfd.readouterr().out
    assert "lower.md3: the model lacks tags" in said
    assert "called so: 'tag_torso'" in said


def test_a_level_of_detail_from_another_export_is_named(tmp_path, capfd):
    """If a game looks for it, and no level takes its place; also of a model that can't be read any more."""
    brought(game(tmp_path) / "head.md3")
    for name in ("lower_1.md3", "upper_3.md3", "head_4.md3"):
        put(tmp_path / "out" / name, b"old")
    assert export_player(filepath=str(tmp_path / "out")) == {"FINISHED"}
    said = re.findall(r"'(\w+\.md3)' lies there from before, and games show that from afar", capfd.readouterr().out)
    assert said == ["upper_3.md3"]
    bpy.data.collections.remove(bpy.data.collections["lower_1"])
    damaged = [Entry(f"{FOLDER}/lower_1.md3", b"old"), Entry(f"{FOLDER}/lower.md3", b"old", checksum=1)]
    put(tmp_path / "other/baseq3/pak0.pk3", zip_bytes(damaged))
    assert export_player(filepath=str(tmp_path / "other/baseq3/z.pk3")) == {"FINISHED"}
    assert "'lower_1.md3' lies in 'pak0.pk3' from before" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("way", "gone"),
    [
        ("folder", "deleted"),
        ("archive", "not imported"),
        ("new archive", "deleted"),
        ("elsewhere", "not imported"),
        ("another game's folder", "not imported"),
    ],
)
def test_a_level_of_detail_that_the_scene_lacks_is_named(tmp_path, capfd, way, gone):
    player = brought(game(tmp_path, packed=way != "folder"), levels=gone == "deleted")
    if gone == "deleted":
        bpy.data.collections.remove(bpy.data.collections["lower_1"])
    pack = tmp_path / "baseq3/pak0.pk3"
    target = {
        "folder": tmp_path / "baseq3" / FOLDER,
        "archive": pack,
        "new archive": tmp_path / "baseq3/z.pk3",
        "elsewhere": tmp_path / "far/off/my/z.pk3",
        "another game's folder": tmp_path / "far/off" / FOLDER,
    }[way]
    target.parent.mkdir(parents=True, exist_ok=True)
    assert export_player(filepath=str(target)) == {"FINISHED"}
    assert "from before" not in capfd.readouterr().out, "it is a level of what was written"
    legs = mesh_of(player, "lower")
    raised(legs)
    assert export_player(filepath=str(target)) == {"FINISHED"}
    where = "there" if way == "folder" else "in 'pak0.pk3'"
    assert f"'lower_1.md3' lies {where} from before, and games show that from afar" in capfd.readouterr().out
    activate(legs)
    assert bpy.ops.object.idtech_insert_frame() == {"FINISHED"}
    assert export_player(filepath=str(target)) == {"FINISHED"}
    assert f"lies {where} from before and has 39 frames, 'lower.md3' 40: games" in capfd.readouterr().out
    assert export_player(filepath=str(target), percentages="90") == {"FINISHED"}
    assert "from before" not in capfd.readouterr().out


def test_levels_of_detail_are_made_anew(tmp_path):
    tock = PROJECT / "examples/tock/baseq3/models/players/tock"
    brought(tock / "head.md3")
    after = saved(tmp_path, percentages="50, 25")
    parts = ("lower", "upper", "head")
    assert {name for name in after if name.endswith(".md3")} == {f"{p}{n}.md3" for p in parts for n in ("", "_1", "_2")}
    for part in parts:
        models_of_part = [model(after[f"{part}{n}.md3"]) for n in ("", "_1", "_2")]
        counts_of = [sum(len(s.triangles) for s in each.surfaces) for each in models_of_part]
        assert counts_of[0] > counts_of[1] > counts_of[2]
        assert len({each.num_frames for each in models_of_part}) == 1
        assert after[f"{part}.md3"] == (tock / f"{part}.md3").read_bytes()
    assert "percentages that fall" in error_of(export_player, filepath=str(tmp_path / "x"), percentages="25, 50")


def test_names_in_other_cases(tmp_path):
    folder = game(tmp_path)
    spelt = {"lower.md3": "Lower.MD3", "animation.cfg": "ANIMATION.CFG", "head_red.skin": "Head_Red.skin"}
    for old, new in spelt.items():
        (folder / old).rename(folder / "moving")
        (folder / "moving").rename(folder / new)
    player = brought(folder / "upper.md3")
    assert list(player.parts) == ["lower", "upper", "head"]
    assert unequal(tmp_path, {spelt.get(name, name): data for name, data in originals().items()}) == []
    assert proposed_target(player) == folder
    before = sorted(path.name for path in folder.iterdir())
    assert export_player(filepath=str(folder)) == {"FINISHED"}
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_patch_overrides_what_an_archive_has(tmp_path):
    folder = game(tmp_path, packed=True)
    head = originals()["upper.md3"]
    put(tmp_path / "baseq3/pak1.pk3", zip_bytes([Entry(f"{FOLDER}/head.md3", head)]))
    player = brought(folder / "lower.md3")
    assert unequal(tmp_path, originals() | {"head.md3": head}) == []
    assert proposed_target(player) == tmp_path / "baseq3/z_grunt.pk3"
    before = (tmp_path / "baseq3/pak0.pk3").read_bytes()
    assert export_player(filepath=str(tmp_path / "baseq3/pak2.pk3")) == {"FINISHED"}
    assert (tmp_path / "baseq3/pak0.pk3").read_bytes() == before


@pytest.mark.parametrize("by", ["append", "duplicate"])
def test_copies_are_written_as_their_own(tmp_path, by):
    player = brought(game(tmp_path), levels=True)
    if by == "append":
        source = stored(tmp_path)
        for _ in range(2):
            assert bpy.ops.wm.append(directory=f"{source}/Collection", filename=NAME) == {"FINISHED"}
    else:
        activate(player.root, *player.root.children_recursive)
        bpy.ops.object.duplicate()
    roots = [b for b in bpy.data.objects if b.get("idtech_part") == "lower" and b.parent is None]
    assert len(roots) == 2
    for nth, root in enumerate(roots):
        activate(root)
        root.location.x = 40.0 * nth
        assert bpy.ops.object.idtech_play(legs="LEGS_RUN", torso="TORSO_STAND") == {"FINISHED"}
        assert unequal(tmp_path) == []
    second = active_player()
    for _ in range(2):  # all frames of each, and none of the other's
        for root in roots:
            activate(root)
            assert bpy.ops.object.idtech_play() == {"FINISHED"}
        shown = [root.animation_data.action for root in roots]
        assert shown[0] != shown[1]
    raised(mesh_of(second, "head"))
    if by == "append":  # Blender's duplicates have the same actions
        actions_of(second)["LEGS_RUN"]["idtech_fps"] = 12.0
    assert unequal(tmp_path) == (["animation.cfg", "head.md3"] if by == "append" else ["head.md3"])
    activate(roots[0])
    assert unequal(tmp_path) == []


@pytest.mark.parametrize("way", ["keys cleared", "replaced", "removed"])
@pytest.mark.parametrize("rows", ["ALL", "TORSO_ATTACK"])
def test_tags_of_a_part_move_on_whatever_becomes_of_its_mesh(tmp_path, way, rows):
    """What hangs on them does in the game."""
    player = brought(game(tmp_path))
    assert bpy.ops.object.idtech_play(torso=rows) == {"FINISHED"}
    root = player.parts["upper"]
    (block,) = (each for each in root.children if each.type == "MESH")
    if way == "keys cleared":
        block.shape_key_clear()
    else:
        bpy.data.objects.remove(block)
    if way == "replaced":
        add_cube("u_box").parent = root
    bpy.context.view_layer.update()
    activate(player.root)
    before, after = (model(files["upper.md3"]) for files in (originals(), saved(tmp_path)))
    assert len(after.surfaces) == (way != "removed")
    assert (after.num_frames, after.frame_names) == (before.num_frames, before.frame_names)
    for old, new in zip(before.tags, after.tags, strict=True):
        assert np.abs(old.origins - new.origins).max() < 1e-3
    assert bpy.ops.object.idtech_play() == {"FINISHED"}
    activate(tag_of(root, "tag_weapon") if way == "removed" else root)
    bpy.context.scene.frame_set(3)
    assert bpy.ops.object.idtech_insert_frame() == {"FINISHED"}
    later = model(saved(tmp_path)["upper.md3"])
    assert later.num_frames == before.num_frames + 1
    for old, new in zip(before.tags, later.tags, strict=True):
        assert np.abs(np.insert(old.origins, 4, old.origins[3], axis=0) - new.origins).max() < 1e-3


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("edits", ["the copy", "the original"])
def test_frames_of_a_copy_change_its_own_rows_alone(tmp_path, linked, edits):
    """Unless both show the same meshes: then both have the frame."""
    player = brought(game(tmp_path), levels=True)
    before = {name: action.name for name, action in actions_of(player).items()}
    activate(player.root, *player.root.children_recursive)
    bpy.ops.object.duplicate(linked=linked)
    roots = [b for b in bpy.data.objects if b.get("idtech_part") == "lower" and b.parent is None]
    changed = roots[edits == "the copy"]
    (other,) = {*roots} - {changed}
    for root in roots:
        activate(root)
        assert bpy.ops.object.idtech_play() == {"FINISHED"}
    activate(changed)
    bpy.context.scene.frame_set(3)
    assert bpy.ops.object.idtech_insert_frame() == {"FINISHED"}
    assert {"animation.cfg", "lower.md3"} <= set(unequal(tmp_path))
    activate(other)
    left = unequal(tmp_path)
    assert ("lower.md3" in left) == linked
    assert linked or not [name for name in left if other == roots[0] or "_1" not in name], "levels are the original's"
    own = {name: action.name for name, action in actions_of(active_player()).items()}
    assert linked or own == before
    assert bpy.ops.object.idtech_play(legs="LEGS_RUN") == {"FINISHED"}
    activate(changed)
    assert bpy.ops.object.idtech_insert_frame() == {"FINISHED"}, "and once more: no further rows"
    assert len(actions_of(active_player())) == len(before)


@pytest.mark.parametrize("copied", [False, True], ids=["actions shared", "actions copied"])
def test_a_copy_of_a_copy_has_the_rows_of_that_one(tmp_path, monkeypatch, copied):
    """Also where Blender copies those that play along with it."""
    monkeypatch.setattr(bpy.context.preferences.edit, "use_duplicate_action", copied)
    root = brought(game(tmp_path)).root
    kept = {}
    for nth in range(1, 4):
        activate(root, *root.children_recursive)
        bpy.ops.object.duplicate()
        root = next(b for b in bpy.context.selected_objects if b.get("idtech_part") == "lower")
        activate(root)
        assert bpy.ops.object.idtech_play() == {"FINISHED"}
        bpy.context.scene.frame_set(3)
        assert bpy.ops.object.idtech_insert_frame() == {"FINISHED"}
        kept[root] = saved(tmp_path)
        assert model(kept[root]["lower.md3"]).num_frames == 39 + nth
        walk = next(row for row in read(kept[root]["animation.cfg"]).clips if row.name == "LEGS_WALK")
        assert walk.first == 10 + nth
    for root, files in kept.items():
        activate(root)
        assert unequal(tmp_path, files) == [], "what came later changed nothing of it"


def test_a_player_whose_collection_was_deleted_is_written_without_what_it_kept(tmp_path, capfd):
    player = brought(game(tmp_path))
    for part in player.collection.children:
        bpy.context.scene.collection.children.link(part)
    bpy.data.collections.remove(player.collection)
    for block in bpy.data.collections["head"].objects:
        bpy.context.scene.collection.objects.link(block)
    bpy.data.collections.remove(bpy.data.collections["head"])
    after = saved(tmp_path)
    wanted = {name: data for name, data in originals().items() if name.endswith(".md3")}
    assert {name: data for name, data in after.items() if not name.endswith(".skin")} == wanted
    assert "the player has no animation.cfg: games refuse it" in capfd.readouterr().out
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "player.blend"))
    assert proposed_target(active_player()) == tmp_path / "lower"


def test_a_player_whose_folder_is_gone_goes_into_an_archive_with_new_icons(tmp_path, capfd):
    name = "grunt" * 14  # which is longer than names in Blender are
    folder = game(tmp_path / "models").rename(tmp_path / "models/baseq3/models/players" / name)
    player = brought(folder)
    shutil.rmtree(folder)
    target = proposed_target(player)
    assert target == tmp_path / f"models/baseq3/z_{name}.pk3"
    assert export_player(filepath=str(target)) == {"FINISHED"}
    assert "show the head as it is worn now, of other skins, too: 'icon_red.tga'" in capfd.readouterr().out
    with ZipFile(target) as made:
        icons = {f"models/players/{name}/icon_{skin}.tga" for skin in ("default", "red")}
        assert icons < set(made.namelist())


def test_a_player_whose_folder_was_moved_keeps_what_lies_where_it_is_written(tmp_path, capfd):
    """Icons are not made anew there; into an archive they are, and what can't go along is said."""
    player = brought(game(tmp_path / "old"))
    (tmp_path / "old").rename(tmp_path / "new")
    activate(player.root)
    gone = "grunt' is not there any more: export it to where it lies now"
    assert gone in error_of(bpy.ops.object.idtech_export_again)
    folder = next((tmp_path / "new").rglob("lower.md3")).parent
    put(folder / "icon_red.tga", b"an icon")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert export_player(filepath=str(folder)) == {"FINISHED"}
    assert {name: data for name, data in before.items() if name.startswith("icon")} == {
        path.name: path.read_bytes() for path in folder.glob("icon*")
    }
    capfd.readouterr()
    assert export_player(filepath=str(tmp_path / "z.pk3")) == {"FINISHED"}
    assert "the player's folder is not there any more, and what lay beside its models" in capfd.readouterr().out
    assert not (tmp_path / "old").exists()


def test_what_is_no_part_of_a_player_is_named(tmp_path, capfd):
    player = brought(game(tmp_path))
    player.collection.objects.link(add_cube("stray"))
    player.collection.objects.link(add_tag("empty"))
    other = import_model(put(tmp_path / "other.md3", "minimal"))
    carried = next(block for block in other.objects if block.type == "MESH")
    carried.parent = tag_of(player.parts["lower"], "tag_torso")
    bpy.data.objects.remove(mesh_of(player, "head"))
    bpy.data.objects.remove(player.parts["head"])
    activate(player.root)
    saved(tmp_path)
    said = capfd.readouterr().out
    assert "left out, hangs on no part (parent it to a part's root): 'stray'" in said
    assert f"left out, other models that hang on the player: '{carried.name}'" in said
    assert "the player has no 'head': games refuse it" in said
    assert "'empty'" not in said and "left out, they hang" not in said


@pytest.mark.parametrize("whole", [False, True], ids=["its mesh", "its root"])
def test_another_players_head_on_a_tag_is_named(tmp_path, capfd, whole):
    """Also where the player's own is gone, and nothing is left to write."""
    player = brought(game(tmp_path))
    other = brought(game(tmp_path / "other"))
    head = other.parts["head"] if whole else mesh_of(other, "head")
    new = mesh_of(other, "head").name
    head.parent = tag_of(player.parts["upper"], "tag_head")
    activate(player.root)
    assert unequal(tmp_path) == []
    said = f"left out, other models that hang on the player: '{new}'"
    assert said in capfd.readouterr().out
    bpy.data.objects.remove(mesh_of(player, "head"))
    bpy.data.objects.remove(tag_of(player.parts["head"], "tag_head"))
    assert said in error_of(export_player, filepath=str(tmp_path / "saved"))


def test_levels_of_parts_that_lie_elsewhere_are_written(tmp_path):
    player = brought(game(tmp_path))
    flat = bpy.data.collections.new("flat")
    bpy.context.scene.collection.children.link(flat)
    for kind in ("lower", "upper", "head"):
        for block in list(bpy.data.collections[kind].objects):
            bpy.data.collections[kind].objects.unlink(block)
            flat.objects.link(block)
    activate(player.root)
    assert unequal(tmp_path) == []


def test_levels_of_a_weapon_that_is_held_are_not_the_players(tmp_path):
    player = brought(game(tmp_path), weapon="club")
    activate(mesh_of(player, "weapon"))
    assert bpy.ops.object.idtech_make_levels(percentages="50") == {"FINISHED"}
    activate(player.root)
    assert unequal(tmp_path) == []


@pytest.mark.parametrize("material", ["", "models/players/grunt/belt"])
def test_a_piece_that_was_cut_off_is_dressed_as_its_surface(tmp_path, material):
    player = brought(game(tmp_path))
    piece = cut_off(next(block for block in player.parts["upper"].children if block.type == "MESH"))
    piece.name = "u_piece"
    if material:
        piece.material_slots[0].material = bpy.data.materials.new(material)
    activate(player.root)
    lines = saved(tmp_path)["upper_red.skin"].decode().splitlines()
    found = dict(line.replace('"', "").split() for line in lines)
    assert found["u_piece"] == (material or found["u_torso"]) != "models/players/grunt/default.tga"


@pytest.mark.parametrize("part", ["head", "lower"])
def test_what_lies_in_a_parts_collection_and_hangs_on_nothing(tmp_path, capfd, part):
    """It stands still while a part that tags carry moves: its file has it ride along."""
    player = brought(game(tmp_path))
    player.parts[part].users_collection[0].objects.link(add_cube("hat"))
    activate(player.root)
    surfaces = model(saved(tmp_path)[f"{part}.md3"]).surfaces
    assert "hat" in [surface.name for surface in surfaces]
    text = "moves, and what hangs on nothing is written where it stands against that now, parent it to it: 'hat'"
    assert (text in capfd.readouterr().out) == (part == "head")


@pytest.mark.parametrize(("part", "kind"), [("head", "VERTEX"), ("head", "VERTEX_3"), ("lower", "VERTEX")])
def test_what_hangs_on_a_vertex_turns_with_three_alone(tmp_path, capfd, part, kind):
    player = brought(game(tmp_path))
    hat, face = add_cube("hat"), mesh_of(player, part)
    player.parts[part].users_collection[0].objects.link(hat)
    hat.parent, hat.parent_type, hat.parent_vertices = face, kind, (0, 1, 2)
    activate(player.root)
    assert "hat" in [surface.name for surface in model(saved(tmp_path)[f"{part}.md3"]).surfaces]
    text = "does not turn with it, but is written as if it did, parent it to the object, or to three vertices: 'hat'"
    assert (text in capfd.readouterr().out) == (part == "head" and kind == "VERTEX")


def test_a_player_that_is_shown_as_an_instance_is_made_real(tmp_path):
    home = brought(game(tmp_path)).collection
    bpy.context.scene.collection.children.unlink(home)
    shown = add_object("shown")
    shown.instance_type, shown.instance_collection = "COLLECTION", home
    activate(shown)
    text = error_of(export_player, filepath=str(tmp_path / "x"))
    assert "shown as an instance alone, link its collection into the scene" in text
    assert text.endswith("'shown'")


def test_which_player_is_saved(tmp_path):
    def unclear(**options: Any) -> str:
        bpy.context.view_layer.objects.active = None
        bpy.ops.object.select_all(action="DESELECT")
        return error_of(export_player, filepath=str(tmp_path / "x"), **options)

    assert "there is no player" in error_of(export_player, filepath=str(tmp_path / "x"))
    first = brought(game(tmp_path))
    assert "there is no player" in unclear(collection="x")
    assert unequal(tmp_path) == [], "the only one"
    second = brought(game(tmp_path))
    assert "there are 2 players" in unclear()
    bpy.data.objects.remove(second.parts["head"])
    second.root.select_set(True)
    shutil.rmtree(tmp_path / "saved")
    assert [name for name in unequal(tmp_path) if "skin" not in name] == ["head.md3"]
    assert export_player(filepath=str(tmp_path / "first"), collection=first.collection.name) == {"FINISHED"}
    assert (tmp_path / "first/head.md3").read_bytes() == originals()["head.md3"]


@pytest.mark.parametrize("data", [b"PK and no more", b"IDP3 is no archive"])
def test_a_broken_archive_stays_as_it_is(tmp_path, data):
    brought(game(tmp_path))
    target = put(tmp_path / "broken.pk3", data)
    assert "broken.pk3" in error_of(export_player, filepath=str(target))
    assert target.read_bytes() == data


def test_a_refused_save_leaves_every_file(tmp_path):
    player = brought(game(tmp_path))
    saved(tmp_path)
    before = {p.name: p.read_bytes() for p in (tmp_path / "saved").iterdir()}
    tag = tag_of(player.parts["upper"], "tag_head")
    mesh_of(player, "head").data.vertices[0].co.x = 1e6
    tag.location.x += 1
    assert error_of(export_player, filepath=str(tmp_path / "saved"))
    assert {p.name: p.read_bytes() for p in (tmp_path / "saved").iterdir()} == before


def proposed(operator: Any) -> Path:
    """Return what the file browser of an export of the active player, or character, proposes."""
    properties = SimpleNamespace(is_property_set=lambda name: name == "game", bl_rna=SimpleNamespace(properties=[]))
    browser: Any = SimpleNamespace(collection="", filepath="remembered", properties=properties, report=print)
    manager = SimpleNamespace(fileselect_add=lambda _: None)
    known = {name: getattr(bpy.context, name) for name in ("scene", "view_layer", "selected_objects")}
    assert operator.invoke(browser, SimpleNamespace(window_manager=manager, **known), None) == {"RUNNING_MODAL"}
    return Path(browser.filepath)


def test_a_script_that_names_no_game_writes_for_that_of_the_players_folder(tmp_path):
    folder = game(tmp_path)
    shutil.move(tmp_path / "baseq3", tmp_path / "baseoa")
    player = brought(tmp_path / "baseoa" / FOLDER)
    assert folder.name == player.collection.name
    for given, noted in ({}, "ioquake3"), ({"game": "quake3"}, "quake3"):
        assert bpy.ops.export_scene.idtech_player(filepath=str(tmp_path / "out"), **given) == {"FINISHED"}
        assert (options_of(player.holder, "player") or {}).get("game") == noted


def test_the_dialog_proposes_where_the_player_was_written_last(tmp_path):
    """While that folder is there; else where it came from."""
    folder = game(tmp_path / "own")
    brought(folder)
    assert proposed(EXPORT_SCENE_OT_idtech_player) == folder
    (tmp_path / "out").mkdir()
    target = tmp_path / "out/z_mine.pk3"
    assert bpy.ops.export_scene.idtech_player(filepath=str(target)) == {"FINISHED"}
    assert proposed(EXPORT_SCENE_OT_idtech_player) == target
    shutil.rmtree(tmp_path / "out")
    assert proposed(EXPORT_SCENE_OT_idtech_player) == folder
