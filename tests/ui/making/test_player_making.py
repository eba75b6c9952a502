"""Players made of rigged characters: what is cut fits, what is named is found, and the rest is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from examples import strut
from io_idtech_models import formats
from io_idtech_models.blender.player.build import play_row
from io_idtech_models.blender.player.parts import find_player
from io_idtech_models.game.folders import Disk
from io_idtech_models.game.player.animation_cfg import read
from io_idtech_models.game.player.files import player_of
from io_idtech_models.game.skin import read_skin
from io_idtech_models.tasks.player.home import home_of
from io_idtech_models.tasks.player.making import keeps_frames, proposed_bones
from tests.samples import PROJECT
from tests.ui.making.test_written import plain
from tests.ui.scene import activate, add_cube, add_object, bpy, counts, editing, error_of, import_model

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
make: Any = bpy.ops.object.idtech_make_player
STEP = 1 / 64  # of an MD3's positions
PARTS = ("lower", "upper", "head")


def made(folder: Path, **options: Any) -> dict[str, bytes]:
    """Make a player of the scene's character, without opening it; returns its files."""
    target = folder / "models/players/strut"
    assert make(**{"filepath": str(target), "open_result": False} | options) == {"FINISHED"}
    return {path.name: path.read_bytes() for path in sorted(target.iterdir())}


def models(files: dict[str, bytes]) -> dict[str, Any]:
    return {part: formats.by_name("md3").load(files[f"{part}.md3"], part) for part in PARTS}


def shown(block: Any) -> Any:
    """Return where the scene shows the points of a mesh, (P, 3)."""
    seen = block.evaluated_get(bpy.context.evaluated_depsgraph_get())
    points = np.empty((len(seen.data.vertices), 3), np.float32)
    seen.data.attributes["position"].data.foreach_get("vector", points.ravel())
    matrix = np.array(seen.matrix_world)
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def rig_at(action: str, time: float) -> Any:
    """Return where the mannequin's points are, (P, 3), in the game: what the scene shows, turned from -Y to +X."""
    armature = bpy.data.objects["Strut"]
    armature.animation_data.action = bpy.data.actions[action]
    for bone in armature.pose.bones:
        bone.matrix_basis.identity()
    bpy.context.scene.frame_set(int(time), subframe=time % 1)
    x, y, z = shown(bpy.data.objects["strut"]).T
    return np.stack((-y, x, z), axis=1)


def into_game() -> tuple[float, Any]:
    """Return the scale, and the way, that make the standing mannequin a player: 56 units high, feet at -24."""
    points = rig_at("Idle", 1)
    scale = 56 / np.ptp(points[:, 2])
    bone = np.array(bpy.data.objects["Strut"].pose.bones["spine"].head)
    return scale, np.array((scale * bone[1], -scale * bone[0], -24 - scale * points[:, 2].min()))


def distances(points: Any, others: Any) -> Any:
    """Return how far points (n, 3) are from others (m, 3), as (n, m)."""
    return np.sqrt(((points[:, None] - others[None]) ** 2).sum(axis=2))


def farthest(points: Any, others: Any) -> float:
    """Return how far the points (n, 3) are at most from the nearest of others."""
    return float(distances(points, others).min(axis=1).max())


def row_of(files: dict[str, bytes], name: str) -> Any:
    table = read(files["animation.cfg"])
    row = table.by_name[name]
    return next(each for part in row.parts for each in table.of_part(part) if each.name == name)


def on_bone(block: Any, bone: str = "hand.R", size: float | None = None) -> Any:
    """Hang an object on a bone of the mannequin."""
    block.parent, block.parent_type, block.parent_bone = bpy.data.objects["Strut"], "BONE", bone
    if size is not None:
        block.scale = (size, size, size)
    return block


def test_the_game_takes_it(tmp_path):
    """And it holds a weapon as it should when it fires."""
    strut.build()
    files = made(tmp_path)
    found = player_of(Disk().file(tmp_path / "models/players/strut/lower.md3"))
    assert found is not None
    assert (found.name, found.missing, list(found.skins)) == ("strut", [], ["default"])
    assert read(files["animation.cfg"]).lacking() == ""
    for part, model in models(files).items():
        assert formats.by_name("md3").check(model, "quake3") == []
        worn = read_skin(files[f"{part}_default.skin"]).shaders()
        assert worn == {surface.name: "models/players/strut/strut_stripes.tga" for surface in model.surfaces}
    assert {part: [tag.name for tag in model.tags] for part, model in models(files).items()} == {
        "lower": ["tag_torso"], "upper": ["tag_head", "tag_weapon"], "head": [],
    }  # fmt: skip
    assert files["icon_default.tga"][12:16] == bytes((64, 0, 64, 0))
    assert sum(len(s.triangles) for m in models(files).values() for s in m.surfaces) == 640
    (_, weapon), (waist,) = (models(files)[part].tags for part in ("upper", "lower"))
    shoot, torso = row_of(files, "TORSO_ATTACK"), waist.axes[row_of(files, "LEGS_IDLE").first]
    np.testing.assert_allclose(weapon.axes[shoot.first] @ torso, np.eye(3), atol=1e-5)  # it points ahead
    assert weapon.origins[shoot.first][0] > 10  # the hand is before the body, on the right
    assert weapon.origins[shoot.first][1] < -2


def test_nothing_in_the_scene_changes(tmp_path):
    """And again the same is made, beside the player and another character."""
    armature = strut.build()
    bpy.context.scene.frame_set(7)
    before = counts(), armature.animation_data.action, shown(bpy.data.objects["strut"])
    files = made(tmp_path / "a")
    assert (counts(), armature.animation_data.action, bpy.context.scene.frame_current) == (*before[:2], 7)
    np.testing.assert_array_equal(shown(bpy.data.objects["strut"]), before[2])
    made(tmp_path / "b", open_result=True)
    other = armature.copy()
    other.animation_data.action = bpy.data.actions["Run"].copy()
    bpy.data.actions["Run.001"].name = "Walk Back"
    bpy.context.scene.collection.objects.link(other)
    activate(armature)
    assert made(tmp_path / "c") == files


def test_the_player_shows_what_the_character_does(tmp_path):
    strut.build()
    files = made(tmp_path, open_result=True, close_seams=False)
    player: Any = find_player(bpy.context.view_layer.objects.active)
    roots, meshes = player.parts, {}
    for part in PARTS:
        meshes[part] = [block for block in roots[part].children if block.type == "MESH"]
    scale, way = into_game()

    def compare(parts: tuple[str, ...], frames: dict[str, int], action: str, time: float) -> None:
        wanted = rig_at(action, time) * scale + way
        for part, frame in frames.items():
            play_row(roots[part], None)
            roots[part]["frame"] = float(frame)
            roots[part].update_tag()
        bpy.context.view_layer.update()
        seen = np.concatenate([shown(block) for part in parts for block in meshes[part]])
        assert farthest(seen, wanted) < 3 * STEP
        if parts == PARTS:
            assert farthest(wanted, seen) < 3 * STEP

    death, run = row_of(files, "BOTH_DEATH1"), row_of(files, "LEGS_RUN")
    shoot, idle = row_of(files, "TORSO_ATTACK"), row_of(files, "LEGS_IDLE")
    stand = row_of(files, "TORSO_STAND")
    compare(PARTS, {"lower": idle.first, "upper": stand.first}, "Idle", 1)
    last = death.count - 1
    for frame in (0, 3, last):
        both = {"lower": death.first + frame, "upper": death.first + frame}
        compare(("lower", "upper"), both, "Death", 1 + 12 * frame / last)
    compare(("lower",), {"lower": run.first + 4, "upper": stand.first}, "Run", 1 + 16 * 4 / run.count)
    assert shoot.count == 6
    torso = models(files)["lower"].tags[0]
    moved = torso.origins[run.first + 4] - torso.origins[idle.first]
    assert np.abs(moved).max() > 0.1
    matrix = np.array(roots["upper"].evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)
    np.testing.assert_allclose(matrix[:3, 3], torso.origins[run.first + 4], atol=1e-3)


def assembled(found: dict[str, Any], part: str, frame: int, legs: int) -> tuple[Any, Any]:
    """Return positions and normals of a part in the world, by the engine's formula."""
    surface = found[part].surfaces[0]
    axes, origin = np.eye(3), np.zeros(3)
    if part == "upper":
        tag = found["lower"].tags[0]
        axes, origin = tag.axes[legs].astype(float), tag.origins[legs].astype(float)
    normals = surface.normals[frame] / np.linalg.norm(surface.normals[frame], axis=1)[:, None]
    return surface.positions[frame] @ axes + origin, normals @ axes


@pytest.mark.parametrize("close", [False, True])
def test_no_seam_shows(tmp_path, close):
    strut.build()
    files = made(tmp_path, close_seams=close)
    found, death = models(files), row_of(files, "BOTH_DEATH1")
    legs, torso = (assembled(found, part, 0, 0)[0] for part in ("lower", "upper"))
    pairs = np.argwhere(distances(legs, torso) < 2 * STEP)
    assert len(pairs) >= strut.SIDES
    bent = 0.0
    for frame in range(death.count):
        (legs, below), (torso, above) = (assembled(found, part, frame, frame) for part in ("lower", "upper"))
        gaps = np.sqrt(((legs[pairs[:, 0]] - torso[pairs[:, 1]]) ** 2).sum(axis=1))
        assert gaps.max() < 2 * STEP
        assert (below[pairs[:, 0]] * above[pairs[:, 1]]).sum(axis=1).min() > np.cos(np.radians(3.0))
        bent = max(bent, float(np.abs(found["lower"].tags[0].axes[frame] - np.eye(3)).max()))
    assert bent > 0.5


@pytest.mark.parametrize("split", [False, True])
def test_seams_stay_closed_whatever_the_parts_play(tmp_path, split):
    strut.build()
    if split:  # as where textures begin anew, and files have vertices apart
        activate(bpy.data.objects["strut"])
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.select_all(action="SELECT")
        bpy.ops.mesh.edge_split(type="EDGE")
        bpy.ops.object.mode_set(mode="OBJECT")
    found = models(made(tmp_path))
    for below, above in (("lower", "upper"), ("upper", "head")):
        (own, *_), (carried, *_), tag = found[below].surfaces, found[above].surfaces, found[below].tags[0]
        seen = np.einsum("fvi,fji->fvj", own.positions - tag.origins[:, None], tag.axes)  # as what it carries sees it
        pairs = np.argwhere(np.abs(seen[0][:, None] - carried.positions[0][None]).max(axis=2) < 2 * STEP)
        assert len(pairs) >= strut.SIDES
        assert np.abs(seen[:, None][:, :, pairs[:, 0]] - carried.positions[None][:, :, pairs[:, 1]]).max() < 2 * STEP


def test_a_character_of_gltf(tmp_path):
    strut.build()
    straight = made(tmp_path / "straight")
    bpy.ops.preferences.addon_enable(module="io_scene_gltf2")
    path = str(tmp_path / "strut.glb")
    bpy.ops.export_scene.gltf(filepath=path, export_animation_mode="ACTIONS", export_def_bones=True)
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=path)
    files = made(tmp_path / "gltf")
    one, other = (models(each)["lower"].surfaces[0].positions for each in (straight, files))
    for name in ("BOTH_DEATH1", "LEGS_RUN", "LEGS_IDLE", "LEGS_JUMP"):
        own, theirs = row_of(straight, name), row_of(files, name)
        assert abs(own.count - theirs.count) <= 1
        assert farthest(one[own.first], other[theirs.first]) < (0.1 if name == "BOTH_DEATH1" else 1.5)
        assert farthest(one[own.frames[-1]], other[theirs.frames[-1]]) < 1.5


def test_a_character_of_another_game(tmp_path):
    trooper = PROJECT / "examples/trooper/models/players/toys/trooper/body.mdm"
    collection = import_model(trooper)
    activate(next(block for block in collection.all_objects if block.type == "ARMATURE"))
    files = made(tmp_path)
    found = models(files)
    assert sum(len(s.triangles) for m in found.values() for s in m.surfaces) == 1232
    walk = row_of(files, "LEGS_WALK")
    assert walk.loop == walk.count > 3
    low, high = ((each(m.surfaces[0].positions[0][:, 2]) for m in found.values()) for each in (np.min, np.max))
    assert min(low) >= -24 - 4  # the legs' first frame is another one than that of standing
    assert max(high) < 32
    tag = found["upper"].tags[1]
    assert tag.origins[row_of(files, "TORSO_STAND").first][1] < 2  # held on the right


def test_levels_keep_the_seams(tmp_path):
    strut.build()
    files = made(tmp_path, levels="60, 30")
    base = models(files)
    assert "head_1.md3" in files
    legs, torso = (assembled(base, part, 0, 0)[0] for part in ("lower", "upper"))
    seam = legs[distances(legs, torso).min(axis=1) < 2 * STEP]
    for part in ("lower", "upper"):
        level = formats.by_name("md3").load(files[f"{part}_2.md3"], part)
        assert level.frame_names == base[part].frame_names
        assert len(level.surfaces[0].triangles) < 0.6 * len(base[part].surfaces[0].triangles)
        assert farthest(seam, assembled(base | {part: level}, part, 0, 0)[0]) < 2 * STEP


def test_old_levels_that_stay_are_named(tmp_path, capfd):
    strut.build()
    made(tmp_path, levels="50")
    (tmp_path / "models/players/strut/a note.md3").touch()
    assert "lie there" not in capfd.readouterr().out
    made(tmp_path)
    said = "games show them from afar: delete them, or make new ones: 'head_1.md3', 'lower_1.md3'"
    assert said in capfd.readouterr().out


def test_modifiers_and_moved_armatures(tmp_path, capfd):
    armature = strut.build()
    before = models(made(tmp_path / "a"))
    armature.scale, armature.location, armature.rotation_euler = (0.5, 0.5, 0.5), (3, 2, 1), (0, 0, np.pi / 2)
    moved = models(made(tmp_path / "b"))
    for part, model in before.items():
        assert np.abs(model.surfaces[0].positions - moved[part].surfaces[0].positions).max() <= 2 * STEP
        for tag, other in zip(model.tags, moved[part].tags, strict=True):
            np.testing.assert_allclose(tag.origins, other.origins, atol=1e-3)
            np.testing.assert_allclose(tag.axes, other.axes, atol=1e-4)
    body = bpy.data.objects["strut"]
    body.modifiers.new("Subdivision", "SUBSURF").levels = 2
    finer = models(made(tmp_path / "c", levels="50"))
    assert sum(len(s.triangles) for m in finer.values() for s in m.surfaces) > 6000
    assert max(s.num_vertices for m in finer.values() for s in m.surfaces) <= 999
    assert len(finer["lower"].surfaces) > 1
    assert "is cut" not in capfd.readouterr().out, "its skins list the pieces"


@pytest.mark.parametrize("keep", [False, True])
def test_materials_that_are_called_as_shaders(tmp_path, keep):
    strut.build()
    bpy.data.materials["Strut Stripes"].name = "models/players/x/Blue.tga"
    files = made(tmp_path, keep_shaders=keep)
    shader = "models/players/x/Blue.tga" if keep else "models/players/strut/blue.tga"
    assert set(read_skin(files["head_default.skin"]).shaders().values()) == {shader}
    assert ("blue.tga" in files) != keep


@pytest.mark.parametrize("alike", [False, True])
def test_materials_that_a_number_alone_tells_apart(tmp_path, alike):
    """Have a picture each, unless one is a copy of the other."""
    strut.build()
    worn = bpy.data.objects["strut"].data
    worn.materials.append(worn.materials[0].copy() if alike else bpy.data.materials.new("Strut Stripes"))
    assert worn.materials[1].name == "Strut Stripes.001"
    worn.polygons.foreach_set("material_index", np.arange(len(worn.polygons), dtype=np.int32) % 2)
    files = made(tmp_path)
    pictures = [name for name in files if name.endswith(".tga") and "icon" not in name]
    assert len(pictures) == len(set(read_skin(files["head_default.skin"]).shaders().values())) == (1 if alike else 2)


CALLED = "games call a player as its folder: '{}', not '{}'"
ELSEWHERE = "it is written into '{}': call that folder '{}' in the game, its files name pictures in '{}'"
PLACES: list[tuple[str, str, str, str]] = [  # where, the name, where its skins say that it is, and what is said
    ("models/players/my-player", "", "models/players/my-player", ""),
    ("my.player", "", "models/players/my.player", ""),
    ("Models/Players/Rex", "rex", "models/players/Rex", ""),
    ("models/players/abc", "Rex", "models/players/abc", CALLED.format("abc", "rex")),
    ("abc", "Rex", "models/players/rex", ELSEWHERE.format("abc", "rex", "models/players/rex")),
    ("my skin", "", "models/players/my_skin", ELSEWHERE.format("my skin", "my_skin", "models/players/my_skin")),
    ("a" * 25, "", f"models/players/{'a' * 24}", ELSEWHERE.format("a" * 25, "a" * 24, f"models/players/{'a' * 24}")),
    ("mod.pk3", "My Player", "models/players/my_player", ""),
    ("my-mod.pk3", "", "models/players/my_mod", ""),
    ("mod.pk3/models/players/my-player", "", "models/players/my-player", ""),
    ("mod.pk3/models/players/abc", "Rex", "models/players/abc", CALLED.format("abc", "rex")),
]


@pytest.mark.parametrize(("where", "name", "home", "said"), PLACES)
def test_skins_name_pictures_in_the_folder_that_is_written(tmp_path, caplog, where, name, home, said):
    """Games call a player as that; what can't be so is said."""
    assert home_of(tmp_path / where, name) == home
    assert [record.getMessage() for record in caplog.records] == [said] * bool(said)


def test_a_player_finds_its_pictures_wherever_it_is_written(tmp_path, capfd):
    """No path of one is too long, which games would cut, or not look for."""
    strut.build()
    bpy.data.materials["Strut Stripes"].name = "a coat that is longer than a name"
    for name, options in (("my-player", {"player": "Rex"}), ("strut" * 6, {})):
        folder = tmp_path / "models/players" / name
        assert make(filepath=str(folder), open_result=False, **options) == {"FINISHED"}
        worn = [read_skin((folder / f"{part}_default.skin").read_bytes()).shaders() for part in PARTS]
        (shader,) = {picture for each in worn for picture in each.values()}
        if options:
            assert (tmp_path / shader).is_file()
    (picture,) = (path.name for path in folder.glob("*.tga") if "icon" not in path.name)
    assert shader == f"models/players/{('strut' * 6)[:24]}/{picture}" and len(shader) == 63
    assert CALLED.format("my-player", "rex") in capfd.readouterr().out


def test_what_hangs_on_a_tag_on_a_bone_goes_with_the_bone(tmp_path, capfd):
    """As the head and the gear of Enemy Territory's characters do."""
    character = PROJECT / "examples/trooper/characters/toys/allied/trooper.char"
    assert bpy.ops.import_scene.idtech_character(filepath=str(character)) == {"FINISHED"}
    activate(next(b for b in bpy.data.objects if b.type == "ARMATURE"))
    found = {part: {surface.name for surface in model.surfaces} for part, model in models(made(tmp_path)).items()}
    assert found == {"lower": {"l_l_legs"}, "upper": {"u_u_body", "u_pack"}, "head": {"h_head", "h_helmet"}}
    assert "no bone moves" not in capfd.readouterr().out


def test_the_bones_that_the_dialog_proposes():
    strut.build()
    assert proposed_bones(bpy.context) == ("spine", "neck", "hand.R")
    for bone in bpy.data.objects["Strut"].data.bones:
        bone.name = "x"
    assert (proposed_bones(bpy.context), keeps_frames(bpy.context)) == (("", "", ""), False)
    bpy.data.batch_remove(list(bpy.data.objects))
    assert (proposed_bones(bpy.context), keeps_frames(bpy.context)) == (("", "", ""), False), "nobody to ask for bones"


def test_into_an_archive(tmp_path):
    strut.build()
    assert make(filepath=str(tmp_path / "my.pk3"), player="Tin Man!", levels="") == {"FINISHED"}
    player: Any = find_player(bpy.context.view_layer.objects.active)
    assert (set(player.parts), player.collection.name) == (set(PARTS), "tin_man")


def without_head() -> None:
    groups = bpy.data.objects["strut"].vertex_groups
    for name in ("neck", "head"):
        groups.remove(groups[name])


def without_mesh() -> None:
    bpy.data.objects.remove(bpy.data.objects["strut"])


@pytest.mark.parametrize(
    ("options", "edit", "said"),
    [
        ({"rows": "LEGS_RUN=Fly"}, None, "no action of the character is called 'Fly'"),
        ({"head": "nose"}, None, "there is no bone 'nose'"),
        ({"levels": "no"}, None, "levels of detail are percentages"),
        ({"fit": False, "scale": 900.0}, None, "MD3 holds"),
        ({"player": "!"}, None, "'!' is no name"),
        ({}, without_head, "no face belongs to the head: choose other bones"),
        ({}, without_mesh, "'Strut' moves no visible mesh"),
    ],
)
def test_what_hinders_it_leaves_no_file(tmp_path, options, edit, said):
    add_cube()
    assert not make.poll(), "without a character"
    activate(strut.build())
    if edit is not None:
        edit()
    target = tmp_path / "strut"
    assert said in error_of(make, filepath=str(target), **options)
    assert not target.exists()


def test_without_any_action_it_stands(tmp_path, capfd):
    strut.build().animation_data_clear()
    bpy.data.batch_remove(list(bpy.data.actions))
    files = made(tmp_path)
    assert read(files["animation.cfg"]).lacking() == ""
    assert models(files)["lower"].num_frames == 2
    assert "they are filled" in capfd.readouterr().out


def test_an_action_that_ends_as_it_begins_repeats_without_its_last_frame(tmp_path):
    """All curves have to, within a thousandth of what is large; of quaternions either sign says the same."""
    armature = strut.build()
    ends = {
        "LEGS_WALK": ("location", (0.1, 0, 0), (0.1004, 0, 0), True),
        "LEGS_RUN": ("location", (0.1, 0, 0), (0.104, 0, 0), False),
        "LEGS_WALKCR": ("location", (9.0, 0, 0), (9.004, 0, 0), True),
        "LEGS_IDLE": ("location", (0.1, 0, 0), (-0.1, 0, 0), False),
        "LEGS_SWIM": ("rotation_quaternion", (0.8, 0.6, 0, 0), (-0.8, -0.6, 0, 0), True),
        "LEGS_TURN": ("rotation_quaternion", (0.8, 0.6, 0, 0), (-0.8, 0.6, 0, 0), False),
    }
    for name, (channel, first, last, _) in ends.items():
        armature.animation_data.action = bpy.data.actions.new(name)
        for frame, value in ((1, first), (11, (0.5, 0.5, 0.5, 0.5)[: len(first)]), (21, last)):
            setattr(armature.pose.bones["upper_arm.L"], channel, value)
            armature.pose.bones["upper_arm.L"].keyframe_insert(channel, frame=frame)
            armature.pose.bones["head"].keyframe_insert("location", frame=frame)  # which stays
    files = made(tmp_path, fps=24.0)
    assert {name: row_of(files, name).count for name in ends} == {
        name: 20 if closed else 21 for name, (*_, closed) in ends.items()
    }


def test_a_character_that_is_turned_by_any_angle_looks_ahead(tmp_path):
    armature = strut.build()
    ahead = models(made(tmp_path / "a"))["head"].surfaces[0]
    armature.rotation_euler.z = np.radians(45)
    askew = models(made(tmp_path / "b"))["head"].surfaces[0]
    np.testing.assert_allclose(askew.positions, ahead.positions, atol=2 * STEP)


@pytest.mark.parametrize("operator", ["idtech_make_player", "idtech_make_quake2_player"])
def test_no_frame_that_shows_counts(tmp_path, operator):
    """Also where the armature itself goes along, in the action that plays alone."""
    armature = strut.build()
    armature.animation_data.action = run = bpy.data.actions["Run"]
    for frame, along in zip(run.frame_range, (0.0, 6.0), strict=True):
        armature.location.y = along
        armature.keyframe_insert("location", frame=frame)
    found = []
    for frame in run.frame_range:
        bpy.context.scene.frame_set(int(frame))
        target = tmp_path / f"{frame:.0f}/models/players/strut"
        assert getattr(bpy.ops.object, operator)(filepath=str(target), open_result=False) == {"FINISHED"}
        found.append({path.name: path.read_bytes() for path in target.rglob("*") if path.is_file()})
    assert found[0] == found[1]


@pytest.mark.parametrize("way", ["bone", "armature", "nothing"])
def test_what_goes_along_and_ends_as_it_begins_repeats_without_its_last_frame(tmp_path, way):
    """However far it went meanwhile: that is taken away."""
    armature = strut.build()
    strut.make_action(armature, "steps", 10, {"thigh.L.location": [(0, 0, 0), (0, 0, 0.2), (0, 0, 0)]})
    armature.animation_data.action = bpy.data.actions["steps"]
    mover = {"bone": armature.pose.bones["hips"], "armature": armature, "nothing": None}[way]
    first, last = bpy.data.actions["steps"].frame_range
    for frame, along in ((first, 0.0), (last, 6.0)) if mover else ():
        mover.location.z = along
        mover.keyframe_insert("location", frame=frame)
    files = made(tmp_path, rows="LEGS_RUN=steps", fps=24.0)
    assert row_of(files, "LEGS_RUN").count == last - first


def test_rows_of_one_action_all_stay_in_place(tmp_path, capfd):
    """At whatever speed they play it, forwards or backwards: first and last frames stand where it begins.

    What moves no further than 12 units sways.
    """
    armature = strut.build()
    for name, way in (("runcycle", 6.0), ("creep", 0.41), ("sway", 0.38)):  # a unit is 31 of the game's
        strut.make_action(armature, name, 10, {"hips.location": [(0, 0, 0), (0, 0, way / 2), (0, 0, way)]})
    rows = "LEGS_RUN=runcycle, LEGS_WALK=runcycle @ 20, LEGS_BACK=runcycle @ 9, LEGS_SWIM=creep, LEGS_TURN=sway"
    files = made(tmp_path, rows=rows, fps=24.0)
    said = capfd.readouterr().out
    assert "'creep' moves the character by 1" in said and "'sway' moves" not in said
    origins = models(files)["lower"].tags[0].origins
    played = [row_of(files, name) for name in ("LEGS_RUN", "LEGS_WALK", "LEGS_BACK")]
    places = [origins[frame][:2] for row in played for frame in (row.frames[0], row.frames[-1])]
    assert np.ptp(places, axis=0).max() < 1


def test_walks_stay_in_place(tmp_path, capfd):
    plain()
    ways = {}
    for in_place in (False, True):
        files = made(tmp_path, rows="LEGS_RUN=runcycle", in_place=in_place)
        row, tag = row_of(files, "LEGS_RUN"), models(files)["lower"].tags[0]
        ways[in_place] = tag.origins[row.first : row.first + row.count].astype(float)
    assert "it is kept in place" in capfd.readouterr().out
    before, after = ways[False], ways[True]
    assert abs(before[-1] - before[0]).max() > 12
    np.testing.assert_allclose(after[-1, :2], after[0, :2], atol=2 * STEP)
    np.testing.assert_allclose(after[:, 2], before[:, 2], atol=STEP)
    even = np.linspace(before[0], before[-1], len(before))[:, :2] - before[0, :2]
    np.testing.assert_allclose(after[:, :2], before[:, :2] - even, atol=2 * STEP)


def by_copied_places() -> None:
    hold = add_cube("rail").constraints.new("COPY_LOCATION")
    hold.target, hold.subtarget = bpy.data.objects["Strut"], "hand.R"


def by_surface_deform() -> None:
    add_cube("rail").modifiers.new("bound", "SURFACE_DEFORM").target = bpy.data.objects["strut"]


def by_another_armature() -> None:
    other = on_bone(add_object("other", bpy.data.armatures.new("other")))
    rail = add_cube("rail")
    rail.parent, rail.modifiers.new("bent", "ARMATURE").object = other, other


def by_bones_of_another_armature() -> None:
    other = add_object("other", bpy.data.armatures.new("other"))
    with editing(other) as bones:
        bones.new("hand").tail = 0, 0, 1
    hold = other.pose.bones["hand"].constraints.new("ARMATURE").targets.new()
    hold.target, hold.subtarget = bpy.data.objects["Strut"], "hand.R"
    add_cube("rail").parent = other


def as_a_text() -> None:
    on_bone(add_object("rail", bpy.data.curves.new("rail", "FONT")))


def as_an_instance() -> None:
    gun = bpy.data.collections.new("gun")
    gun.objects.link(bpy.data.objects.new("barrel", add_cube("shape").data))
    instance = on_bone(add_object("rail"))
    instance.instance_type, instance.instance_collection = "COLLECTION", gun


WAYS = [
    by_copied_places,
    by_surface_deform,
    by_another_armature,
    by_bones_of_another_armature,
    as_a_text,
    as_an_instance,
]


@pytest.mark.parametrize("kind", ["CHILD_OF", "COPY_TRANSFORMS", "ARMATURE"])
def test_what_goes_wholly_with_a_bone_by_a_constraint_goes_with_that(tmp_path, kind):
    strut.build()
    hold = add_cube("hat").constraints.new(kind)
    aim = hold.targets.new() if kind == "ARMATURE" else hold
    aim.target, aim.subtarget = bpy.data.objects["Strut"], "head"
    bpy.context.view_layer.update()
    activate(bpy.data.objects["Strut"])
    surfaces = {part: [surface.name for surface in model.surfaces] for part, model in models(made(tmp_path)).items()}
    assert surfaces["head"] == ["h_strut", "h_hat"] and sum(map(len, surfaces.values())) == 4


@pytest.mark.parametrize("way", WAYS)
def test_what_follows_the_character_and_is_none_of_its_meshes_is_named(tmp_path, capfd, way):
    """By whatever it follows; what stands there by itself, is hidden, or held by what is off, is not."""
    rig = strut.build()
    add_cube("crate")
    on_bone(add_object("light", bpy.data.lights.new("light", "POINT")))
    add_cube("loose").constraints.new("COPY_LOCATION").target = rig
    bpy.data.objects["loose"].constraints[0].mute = True
    way()
    activate(rig)
    capfd.readouterr()
    made(tmp_path)
    text = "left out, they follow 'Strut' and are no meshes on its bones: 'rail'; parent them"
    said = capfd.readouterr().out
    assert text in said, said
    bpy.data.objects["rail"].hide_set(True)
    made(tmp_path)
    assert "they follow" not in capfd.readouterr().out


def test_what_is_odd_of_many_meshes_is_said_once(tmp_path, capfd):
    armature = strut.build()
    for name in ("hat", "cap", "Cap"):
        on_bone(add_cube(name, uvs=False), "head", 0.1)
    strut.make_action(armature, "Fall", 10, {"hips.location": [(0, 0, 0), (0, 0, 3)]})
    bpy.data.objects["strut"].modifiers.new("smooth", "SUBSURF").levels = 3
    activate(armature)
    files = made(tmp_path, rows="BOTH_DEATH1=Fall")
    names = {surface.name for surface in models(files)["head"].surfaces}
    assert {"h_hat", "h_cap", "h_cap02"} <= names, "games know no capitals"
    said = capfd.readouterr().out
    assert "each of 'hat', 'cap', 'Cap' has no UV map: its texture coordinates are 0" in said
    assert said.count("has no UV map") == 1
    assert "triangles take long to make and to draw" in said
