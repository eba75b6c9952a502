"""Export Character of Quake II, Doom 3 and XreaL: an edit touches its file alone, and what else is written or said."""

from typing import Any

import numpy as np
import pytest

from io_idtech_models.blender.playback import keep
from io_idtech_models.blender.properties import ANIM_FLAGS, FRAME_COMMANDS, FRAME_RATE
from io_idtech_models.blender.scene import bending
from io_idtech_models.formats.md5 import anim_file
from io_idtech_models.game.pictures import pcx
from tests import samples_doom3, samples_quake2
from tests.packs import put_files
from tests.samples import load, put
from tests.samples_doom3 import NEWT, TEXT, put_character
from tests.ui.character.games import (
    GAMES,
    changed,
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
    turn,
)
from tests.ui.scene import activate, bpy

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
REMASTER = {
    f"{samples_quake2.PLAYER}/md5/tris{suffix}": (samples_doom3.EXAMPLE / name).read_bytes()
    for suffix, name in ((".md5mesh", "newt.md5mesh"), (".md5anim", "walk.md5anim"))
}


def test_the_gun_of_a_player_is_written_alone(tmp_path, capfd):
    path = GAMES["quake2"].put(tmp_path / "game")
    read(path, "quake2", weapon="w_railgun")
    for key in roots()["weapon"].children[0].data.shape_keys.key_blocks:
        key.data[0].co.z += 2.0
    assert list(saved(tmp_path / "few", edited_only=True)) == ["players/stilt/w_railgun.md2"]
    path.with_name("weapon.md2").unlink()
    assert "players/stilt/weapon.md2" not in saved(tmp_path / "out")
    said = "left out, they are not where they were any more: 'players/stilt/weapon.md2'"
    assert said in capfd.readouterr().out


@pytest.mark.parametrize("way", ["excluded", "hidden"])
def test_a_gun_that_is_hidden_goes_where_the_body_goes(tmp_path, way):
    read(GAMES["quake2"].put(tmp_path / "game"), "quake2", weapon="w_railgun")
    body = bpy.context.view_layer.objects.active
    before = saved(tmp_path / "first")
    (home,) = roots()["weapon"].users_collection
    layers = [bpy.context.view_layer.layer_collection]
    for layer in layers:  # which grows
        layers += layer.children
    if way == "excluded":
        next(layer for layer in layers if layer.collection == home).exclude = True
    else:
        home.hide_viewport = True
    body.location.x += 20.0
    bpy.context.view_layer.update()
    activate(body)
    after = saved(tmp_path / "out")
    for name in ("players/stilt/tris.md2", "players/stilt/w_railgun.md2"):
        old, new = (load(found[name]).surfaces[0].positions[..., 0] for found in (before, after))
        assert np.abs(new - old - 20.0).max() < 0.5


def paint(name: str, colour: tuple[float, ...]) -> Any:
    """Paint on a picture's upper left corner."""
    image = next(image for image in bpy.data.images if image.name == name)
    width, height = image.size
    first = (height - 1) * width * 4
    image.pixels[first : first + 4] = [*colour, 1.0]
    image.update()
    return image


def test_a_skin_that_was_painted_on_is_saved(tmp_path, capfd):
    path = GAMES["quake2"].put(tmp_path / "game")
    read(path, "quake2", skin="moss")
    before = pcx.decode(path.with_name("moss.pcx").read_bytes())
    colour = before[40, 7]
    assert (colour != before[0, 0]).any()
    paint("moss.pcx", tuple(colour / 255.0)).pack()
    capfd.readouterr()
    found = saved(tmp_path / "out", edited_only=True)
    assert list(found) == ["players/stilt/moss.pcx"]
    assert "edited: 'moss.pcx'\n" in capfd.readouterr().out
    after = pcx.decode(found["players/stilt/moss.pcx"])
    assert (after[0, 0] == colour).all()
    assert (after.reshape(-1, 3)[1:] == before.reshape(-1, 3)[1:]).all()
    paint("moss.pcx", (1.0, 0.0, 1.0))
    after = pcx.decode(saved(tmp_path / "near")["players/stilt/moss.pcx"])
    assert (after.reshape(-1, 3)[1:] == before.reshape(-1, 3)[1:]).all()
    assert "'players/stilt/moss.pcx' has 256 colours, and the nearest of these" in capfd.readouterr().out
    paint("moss.pcx", tuple(before[0, 0] / 255.0))
    assert saved(tmp_path / "back")["players/stilt/moss.pcx"] == path.with_name("moss.pcx").read_bytes()


def test_a_skin_of_another_kind_that_was_painted_on_is_said(tmp_path, capfd):
    path = GAMES["quake2"].put(tmp_path / "game")
    picture = samples_doom3.files()[f"{NEWT}/newt.tga"]
    path.with_name("band.tga").write_bytes(picture)
    path.with_name("band_i.pcx").write_bytes(path.with_name("moss_i.pcx").read_bytes())
    read(path, "quake2", skin="band")
    paint("band.tga", (1.0, 0.0, 1.0))
    capfd.readouterr()
    assert saved(tmp_path / "out")["players/stilt/band.tga"] == picture
    assert "save the picture first: 'players/stilt/band.tga'" in capfd.readouterr().out


def test_the_remasters_body(tmp_path):
    path = GAMES["quake2"].put(tmp_path / "game")
    put_files(tmp_path / "game", REMASTER, {})
    read(path, "quake2", remaster=True)
    found = saved(tmp_path / "out")
    assert found == GAMES["quake2"].files() | REMASTER
    show("All Frames")
    turn("head")
    found = saved(tmp_path / "edited")
    differing = [name for name, data in found.items() if data != (GAMES["quake2"].files() | REMASTER)[name]]
    assert differing == ["players/stilt/md5/tris.md5anim"]


def new_action() -> None:
    action = bpy.data.actions["idle"].copy()
    action.name = "dance"
    action[FRAME_COMMANDS] = "3 sound_body snd_step"
    keep(rig(), action)


def turned(row: str) -> None:
    show(row)
    turn("head")


def raised_head() -> None:
    mesh_of(roots()["head"]).data.vertices[0].co.z += 3.0


def of_another_rate() -> None:
    show("walk")[FRAME_RATE] = 48.0


@pytest.mark.parametrize(
    ("game", "edit", "file"),
    [
        pytest.param("doom3", lambda: turned("walk1"), "walk.md5anim", id="turned in Doom 3"),
        pytest.param("doom3", raised_head, "head.md5mesh", id="a head on a joint"),
        pytest.param("xreal", lambda: turned("idle"), "idle.md5anim", id="turned in XreaL"),
        pytest.param("xreal", new_action, "dance.md5anim", id="new in XreaL, which lies beside the others"),
        pytest.param("xreal", of_another_rate, "walk.md5anim", id="of another rate"),
    ],
)
def test_what_is_edited_is_written_alone(tmp_path, game, edit, file):
    read(GAMES[game].put(tmp_path / "game"), game)
    edit()
    found = saved(tmp_path / "out", edited_only=True)
    assert [name.rpartition("/")[2] for name in found] == [file]
    assert game == "doom3" or (b"frameRate 48" in next(iter(found.values()))) == (file == "walk.md5anim")


@pytest.mark.parametrize(
    ("by", "files"), [(0.01, ["newt.md5mesh"]), (300.0, ["idle.md5anim", "newt.md5mesh", "walk.md5anim"])]
)
def test_animations_whose_bounds_hold_an_edited_body_no_more_go_along(tmp_path, by, files, capfd):
    read(put_character(tmp_path / "game"), "doom3")
    (body,) = (each for each in rig().children if any(m.type == "ARMATURE" for m in each.modifiers))
    min(body.data.vertices, key=lambda vertex: abs(vertex.co.z - 8.0)).co.z += by
    found = saved(tmp_path / "out", edited_only=True)
    assert sorted(name.rpartition("/")[2] for name in found) == files
    tops = [anim_file.read(data).bounds[:, 1, 2].min() for name, data in found.items() if name.endswith("anim")]
    assert all(top > by - 100.0 for top in tops)
    said = "the body reaches beyond the bounds of these animations, which grow with it: 'ik_pose', 'walk1', 'walk1, 2'"
    assert (said in capfd.readouterr().out) == (len(files) > 1)


@pytest.mark.parametrize("name", ["walk1", "walk1, 2"])
def test_of_animations_of_one_file_the_edited_one_is_written_though_bounds_of_the_other_grow(tmp_path, name):
    place = put_character(tmp_path / "game")
    read(place, "doom3")
    assert bpy.ops.object.idtech_animation_make(name="") == {"FINISHED"}
    (body,) = (each for each in rig().children if any(m.type == "ARMATURE" for m in each.modifiers))
    turned(name)
    wanted = anim_file.read(saved(tmp_path / "first")[f"{NEWT}/walk.md5anim"])
    min(body.data.vertices, key=lambda vertex: abs(vertex.co.z - 8.0)).co.z += 300.0
    found = anim_file.read(saved(tmp_path / "out")[f"{NEWT}/walk.md5anim"])
    assert np.array_equal(found.components, wanted.components)
    assert found.bounds[:, 1, 2].min() > 200.0


@pytest.mark.parametrize("mode", ["XYZ", "ZXY", "AXIS_ANGLE"])
@pytest.mark.parametrize("every", [False, True], ids=["one key", "all frames"])
def test_keys_in_other_turns_than_quaternions_stay_where_another_animation_is_made(tmp_path, mode, every):
    """Its bones turn by quaternions, as those of files do, and what was keyed goes along."""
    opened(put_character(tmp_path / "game"), "doom3")
    show("walk1")
    bone, scene = rig().pose.bones["head"], bpy.context.scene
    frames = range(scene.frame_start, scene.frame_end + 1)
    bone.rotation_mode = mode
    path = "rotation_axis_angle" if mode == "AXIS_ANGLE" else "rotation_euler"
    for frame in frames if every else frames[:1]:
        setattr(bone, path, (0.3 + frame / 40, 1.0, 0.2, 0.1) if mode == "AXIS_ANGLE" else (0.3, frame / 40, 0.1))
        bone.keyframe_insert(path, frame=frame)

    def posed() -> Any:
        found = []
        for frame in frames:
            scene.frame_set(frame)
            found.append(np.array(bone.matrix))
        return np.array(found)

    before = posed()
    show("ik_pose")  # which is made now
    assert bone.rotation_mode == "QUATERNION"
    show("walk1")
    assert np.abs(posed() - before).max() < 1e-4
    show("ik_pose")
    assert f"{NEWT}/walk.md5anim" in changed(saved(tmp_path / "out"), "doom3")


def test_another_material_is_a_line_of_the_skin(tmp_path):
    read(GAMES["xreal"].put(tmp_path / "game"), "xreal")
    mesh_of(rig()).material_slots[0].material = bpy.data.materials.new("models/players/newt/lava")
    found = saved(tmp_path / "out", edited_only=True)
    assert found["models/players/newt/body_default.skin"] == b"newt,models/players/newt/lava\n"


def test_a_new_animation_is_declared(tmp_path):
    read(put_character(tmp_path / "game"), "doom3")
    new_action()
    found = saved(tmp_path / "out")
    assert f"{NEWT}/dance.md5anim" in found
    block = "{\n\t\tframe 3 sound_body snd_step\n\t}"
    assert f"anim\tdance\t{NEWT}/dance.md5anim {block}" in declared(found)
    fresh()
    read(tmp_path / "out/def/monster_newt.def", "doom3")
    assert "dance" in listed()


def declared(found: dict[str, bytes]) -> str:
    return found["def/monster_newt.def"].decode()


def test_what_the_game_does_at_frames_is_declared(tmp_path):
    read(put_character(tmp_path / "game"), "doom3")
    before = declared(saved(tmp_path / "before"))
    action = show("walk1")
    assert action[FRAME_COMMANDS] == "1 sound_body snd_step\n12 call splash"
    assert declared(saved(tmp_path / "same")) == before
    action[FRAME_COMMANDS] = "1 sound_body snd_step\n3  footstep"
    found = saved(tmp_path / "out", edited_only=True)
    assert [*found] == ["def/monster_newt.def"]
    was, now = "\t\tframe 12\tcall\tsplash\n", "\t\tframe 3 footstep\n"
    assert was in before and declared(found) == before.replace(was, now)
    action[ANIM_FLAGS] = action[FRAME_COMMANDS] = ""
    assert f"walk1\t{NEWT}/walk.md5anim, {NEWT}/walk.md5anim\n}}" in declared(saved(tmp_path / "bare"))
    del action[ANIM_FLAGS], action[FRAME_COMMANDS]  # as in a .blend that knows nothing of them
    assert declared(saved(tmp_path / "unknown")) == before


def test_what_other_files_declare_is_not_said_to_be_written(tmp_path, capfd):
    """They stay as they are: nothing of the character's own declarations is written beside them."""
    read(put_character(tmp_path / "game"), "doom3")
    put(tmp_path / "out/def/other.def", declared(saved(tmp_path / "before")).encode())
    show("walk1")[FRAME_COMMANDS] = "3 footstep"
    capfd.readouterr()
    found = saved(tmp_path / "out")
    said = capfd.readouterr().out
    assert "def/monster_newt.def" not in found
    assert "edited: nothing" in said and "'def/other.def' has another model" in said


def test_what_the_game_does_in_an_inherited_animation_is_declared_anew(tmp_path):
    text = TEXT.replace('"newt_base"', '"newt_own"') + "model newt_own {\n\tinherit newt_base\n}\n"
    read(put_character(tmp_path / "game", newt_def=text.encode()), "doom3")
    show("walk1")[FRAME_COMMANDS] = "3 footstep"
    base, _, own = declared(saved(tmp_path / "out")).partition("model newt_own")
    block = "{\n\t\trandom_cycle_start\n\t\tframe 3 footstep\n\t}"
    assert f"\tanim walk1 {NEWT}/walk.md5anim, {NEWT}/walk.md5anim {block}" in own
    assert "model newt_base" in base


def test_what_the_game_does_in_a_heads_animation_is_declared(tmp_path):
    head = f"model newt_head {{ mesh {NEWT}/head.md5mesh anim nod {NEWT}/idle.md5anim }}"
    text = TEXT.replace(f"model newt_head {{ mesh {NEWT}/head.md5mesh }}", head)
    read(put_character(tmp_path / "game", newt_def=text.encode()), "doom3")
    rig_of_head = next(block for block in roots()["head"].children if block.type == "ARMATURE")
    show("nod", rig_of_head)[FRAME_COMMANDS] = "2 sound_voice snd_nod"
    text = declared(saved(tmp_path / "out"))
    assert f"anim nod {NEWT}/idle.md5anim {{\n\t\tframe 2 sound_voice snd_nod\n\t}}" in text


RED = f"skin newt/red {{ model {NEWT}/newt.md5mesh {NEWT}/newt newt/red }}\n"
RED_MATERIAL = f"newt/red {{ diffusemap {NEWT}/newt.tga rgb fade[ time ] }}\ntable fade {{ {{ 1, 0 }} }}\n"


def show_skin(name: str) -> None:
    bpy.context.view_layer.objects.active = next(each for each in rig().children if each.type == "MESH")
    assert bpy.ops.object.idtech_show_skin(skin=f"{name}.skin") == {"FINISHED"}


@pytest.mark.parametrize("character", ["monster_newt", "newt_base"])
def test_the_skin_that_is_worn_is_declared(tmp_path, character, capfd):
    skins, materials = (samples_doom3.files()[name] for name in ("skins/newt.skin", "materials/newt.mtr"))
    more = {"newt_skin": skins + RED.encode(), "newt_mtr": materials + RED_MATERIAL.encode()}
    read(put_character(tmp_path / "game", **more), "doom3", character=character)
    before = saved(tmp_path / "before")
    assert "edited: nothing" in capfd.readouterr().out
    show_skin("newt/red")
    found = saved(tmp_path / "out")
    assert sorted(name for name in found if found[name] != before.get(name)) == [
        f"def/{character}.def", f"materials/{character}.mtr", f"skins/{character}.skin",
    ]  # fmt: skip
    (line,) = {*found[f"def/{character}.def"].splitlines()} - {*before[f"def/{character}.def"].splitlines()}
    assert line.split() == ([b'"skin"', b'"newt/red"'] if character == "monster_newt" else [b"skin", b"newt/red"])
    assert all(found[name].startswith(before[name]) for name in found if name.startswith(("skins", "materials")))
    fresh()
    capfd.readouterr()
    read(tmp_path / f"out/def/{character}.def", "doom3", character=character)
    assert "skin newt/red" in capfd.readouterr().out
    assert "edited: nothing" in (saved(tmp_path / "again") and capfd.readouterr().out)


def test_a_material_that_the_skin_hides_is_said(tmp_path, capfd):
    skins = samples_doom3.files()["skins/newt.skin"].replace(f"{NEWT}/newt\t".encode(), b"*\t")
    read(put_character(tmp_path / "game", newt_skin=skins), "doom3")
    saved(tmp_path / "before")
    assert "not seen" not in capfd.readouterr().out
    mesh = next(each for each in rig().children if each.type == "MESH")
    mesh.material_slots[0].material = bpy.data.materials.new("models/mine")
    saved(tmp_path / "out")
    hidden = "'models/mine' is not seen in the game, where the skin 'newt/gold' shows 'newt/gold' in its place"
    assert hidden in capfd.readouterr().out


def test_a_skin_that_is_gone_is_said(tmp_path, capfd):
    skins = samples_doom3.files()["skins/newt.skin"]
    path = put_character(tmp_path / "game", newt_skin=skins + RED.encode())
    read(path, "doom3")
    show_skin("newt/red")
    path.unlink()
    assert b'"newt/red"' in saved(tmp_path / "out")["def/monster_newt.def"]
    assert "'newt/red' is worn, but what declares it is gone" in capfd.readouterr().out


def test_a_declaration_that_is_there_stays(tmp_path, capfd):
    read(put_character(tmp_path / "game"), "doom3")
    new_action()
    before = (tmp_path / "game/def/newt.def").read_bytes()
    capfd.readouterr()
    saved(tmp_path / "game")
    assert (tmp_path / "game/def/newt.def").read_bytes() == before
    assert sorted(path.name for path in (tmp_path / "game/def").iterdir()) == ["hat.def", "newt.def"]
    assert "'def/newt.def' has another model 'newt_base'" in capfd.readouterr().out


def test_a_strangers_file_stays(tmp_path):
    other = b"entityDef stranger { }\n"
    put_files(tmp_path / "out", {"def/monster_newt.def": other}, {})
    read(put_character(tmp_path / "game"), "doom3")
    found = saved(tmp_path / "out")
    assert found["def/monster_newt.def"] == other
    assert b"newt_base" in found["def/monster_newt_2.def"]
    assert saved(tmp_path / "out") == found, "again is the same"


def test_a_head_that_was_deleted_keeps_its_animations(tmp_path, capfd):
    """Which its armature kept: what names it goes along, and so do they."""
    text = TEXT.replace("head.md5mesh }", f"head.md5mesh\n\tanim idle {NEWT}/nod.md5anim }}")
    put_character(tmp_path / "base", newt_def=text.encode())
    put_files(tmp_path / "base", {f"{NEWT}/nod.md5anim": (samples_doom3.EXAMPLE / "idle.md5anim").read_bytes()})
    opened(tmp_path / "base" / samples_doom3.DEF, "doom3")
    before = saved(tmp_path / "before")
    assert f"{NEWT}/nod.md5anim" in before
    remove("head")
    after = saved(tmp_path / "after")
    assert {name: data for name, data in after.items() if name not in before or before[name] != data} == {}
    assert before.keys() == after.keys()
    assert "head is not in the scene" in capfd.readouterr().out


@pytest.mark.parametrize("whose", ["body", "head"])
def test_a_model_of_a_character_without_a_mesh_is_said(tmp_path, capfd, whose):
    put_character(tmp_path / "base")
    body = opened(tmp_path / "base" / samples_doom3.DEF, "doom3")
    head = roots()["head"].children_recursive
    for block in list(bpy.data.objects):
        if block.type == "MESH" and bending(block) and (block in head) == (whose == "head"):
            bpy.data.objects.remove(block)
    bpy.context.view_layer.update()
    activate(body)
    saved(tmp_path / "out")
    file = "newt" if whose == "body" else "head"
    assert f"{file}.md5mesh: no mesh moves with these bones, and games show nothing" in capfd.readouterr().out
