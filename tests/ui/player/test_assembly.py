"""Players imported from files and archives: assembled as games do it, and playing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_idtech_models.blender.player.parts import find_player
from io_idtech_models.game.folders import Disk
from io_idtech_models.game.player.files import is_of_whole
from io_idtech_models.reporting import LimitError
from io_idtech_models.tasks.player.play import played
from io_idtech_models.ui.cli import main
from io_idtech_models.ui.player import choosing
from tests.packs import put_files, put_pack
from tests.samples import PROJECT, dump, load, put
from tests.samples_player import FOLDER, LOWER_FRAMES, NAME, UPPER_FRAMES, weapon_files
from tests.ui.player.players import (
    PLAYERS,
    actions_of,
    active_player,
    brought,
    corpus_player,
    game,
    import_player,
    insert_frame,
    model,
    originals,
    saved,
    tag_of,
    unequal,
)
from tests.ui.scene import activate, bpy, counts, error_of

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]

ON = {"upper": "tag_torso", "head": "tag_head", "weapon": "tag_weapon", "barrel": "tag_barrel", "flash": "tag_flash"}

ABOVE = {"upper": "lower", "head": "upper", "weapon": "upper", "barrel": "weapon", "flash": "weapon"}


def test_tags_stand_between_frames(tmp_path):
    player = brought(game(tmp_path))
    tag, origins = tag_of(player.parts["lower"], "tag_torso"), model(originals()["lower.md3"]).tags[0].origins
    player.parts["lower"].animation_data_clear()
    for frame in (0.0625, 0.5, 6.25, 36.75):
        player.parts["lower"]["frame"] = frame
        player.parts["lower"].update_tag()
        bpy.context.scene.frame_set(3)
        first = int(frame)
        wanted = origins[first] + (origins[first + 1] - origins[first]) * (frame - first)
        seen = tag.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation
        np.testing.assert_allclose(seen, wanted, atol=1e-4)


def placed(models: dict[str, Any], frames: dict[str, int], start: Any) -> dict[str, Any]:
    """Return axes and origins of parts as a game makes them: R_LerpTag, then CG_PositionRotatedEntityOnTag."""
    found = {"lower": start}
    for kind, above in ABOVE.items():
        if kind not in models:
            continue
        axes, origin = found[above]
        tag = next(t for t in models[above].tags if t.name == ON[kind])
        frame = min(frames.get(above, 0), len(tag.origins) - 1)
        unit = tag.axes[frame].astype(float)
        unit /= np.linalg.norm(unit, axis=1)[:, None]
        found[kind] = unit @ axes, origin + tag.origins[frame].astype(float) @ axes
    return found


def our_models() -> dict[str, Any]:
    """Return our player's models, by their parts."""
    return {kind: model(originals()[f"{kind}.md3"]) for kind in ("lower", "upper", "head")}


def check_places(player: Any, models: dict[str, Any], frames: dict[str, int], near: float = 1e-4) -> None:
    """Compare roots, and the corners of boxes around parts, with the formula."""
    start = np.array(player.root.matrix_world)
    size = float(np.linalg.norm(start[:3, 0]))
    expected = placed(models, frames, ((start[:3, :3] / size).T, np.zeros(3)))
    graph = bpy.context.evaluated_depsgraph_get()
    for kind, root in player.parts.items():
        world = np.array(root.evaluated_get(graph).matrix_world)
        (axes, origin), wanted = expected[kind], np.eye(4)
        wanted[:3, :3], wanted[:3, 3] = size * axes.T, size * origin
        wanted[:3, 3] += start[:3, 3]
        points = np.concatenate([s.some_positions(slice(0, 1))[0] for s in models[kind].surfaces])
        points = np.append(points, np.ones((len(points), 1)), axis=1)
        off = np.abs(points @ world.T - points @ wanted.T)[:, :3].max()
        assert off < near * max(1.0, size), (kind, frames, off)


def test_a_player_is_imported_from_any_of_its_files(tmp_path):
    folder = game(tmp_path)
    for name in ("head.md3", "lower_1.md3", "animation.cfg", "lower_red.skin", "icon_red.tga", ""):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        player = brought(folder / name)
        assert list(player.parts) == ["lower", "upper", "head"]
        assert list(player.levels) == [("lower", 1)]
        assert player.collection.name == NAME


def as_player(name: str) -> dict[str, bytes]:
    """Return our player's files as another's in a game."""
    return {f"models/players/{name}/{file}": data for file, data in originals().items()}


def test_players_of_an_archive_are_listed(tmp_path):
    """Those of an archive that is named, though the game has others beside them."""
    game(tmp_path, packed=True)
    pack = tmp_path / "baseq3/pak0.pk3"
    own = {f"{FOLDER}/head.md3": originals()["head.md3"]}  # in the game's eyes of that archive
    put_pack(tmp_path / "baseq3/pak1.pk3", as_player("brute") | own)
    (item,) = choosing.prepare(str(pack))
    assert item[1:3] == (NAME, "default, red")
    assert bpy.ops.import_scene.idtech_choose_player(source=str(pack), player=item[0]) == {"FINISHED"}
    assert set(active_player().parts) == {"lower", "upper", "head"}
    both = {"brute", NAME}
    assert {item[1] for item in choosing.prepare(str(pack.with_name("pak1.pk3")))} == both, "whose head it has"
    assert {item[1] for item in choosing.prepare(str(pack.parent))} == both
    choosing.forget()
    assert choosing.list_items(None, None) == []
    with pytest.raises(LimitError, match="preferences"):
        choosing.prepare("")


def test_the_only_player_of_an_archive_is_meant_whatever_lies_beside_it(tmp_path):
    game(tmp_path, packed=True)
    own = put_pack(tmp_path / "baseq3/z_brute.pk3", as_player("brute"))
    assert brought(own).collection.name == "brute"
    assert brought(own, player=NAME).collection.name == NAME, "which the game has, too"
    both = put_pack(own.with_name("z_two.pk3"), as_player("brute") | as_player("ogre"))
    assert "say which player: 'brute', 'ogre'" in error_of(import_player, filepath=str(both))


def test_parts_that_are_dropped_become_their_player(tmp_path):
    folder = game(tmp_path)
    operator: Any = bpy.ops.import_scene.idtech_md3
    files = [{"name": f"{part}.md3"} for part in ("lower", "upper", "head")]
    assert operator(directory=str(folder), files=files, whole_player=True) == {"FINISHED"}
    assert set(active_player().parts) == {"lower", "upper", "head"}
    assert list(active_player().levels) == [("lower", 1)]
    assert len(bpy.data.collections) == 5
    assert operator(directory=str(folder), files=files) == {"FINISHED"}  # a script's models stay as they are
    assert len(bpy.data.collections) == 8


PART_FILES = {  # what is dropped, and which files there are beside it
    "lower.md3": (("upper.md3", "head.md3"), True),
    "HEAD.MD3": (("lower.md3",), True),
    "lower_1.md3": (("lower.md3", "upper.md3", "head.md3"), True),
    "upper.md3": (("lower.md3",), False),  # no head
    "head.md3": ((), False),
    "hat.md3": (("lower.md3", "upper.md3", "head.md3"), False),
}


@pytest.mark.parametrize("name", PART_FILES)
def test_parts_of_players_that_have_a_body_and_a_head_are_told(tmp_path, name):
    others, wanted = PART_FILES[name]
    for each in (name, *others):
        put(tmp_path / "models/players/x" / each, originals()["head.md3"])
    assert is_of_whole(Disk().file(tmp_path / "models/players/x" / name)) is wanted
    assert not is_of_whole(Disk().file(tmp_path / "models/players/y" / name)), "which is not there"


def test_one_of_several_players_is_named(tmp_path):
    """In any case; a folder of one is that one's alone."""
    folder = game(tmp_path)
    put_files(tmp_path / "baseq3", as_player("brute"))
    place = folder.parents[2]
    for options, said in (
        ({"filepath": str(place)}, "say which player: 'brute', 'grunt'"),
        ({"filepath": str(place), "player": "x"}, "no player is called 'x': 'brute', 'grunt'"),
        ({"filepath": str(folder), "player": "brute"}, "no player lies there"),
        ({"filepath": str(tmp_path)}, "no player lies there"),
    ):
        assert said in error_of(import_player, **options)
    assert [brought(place, player=name).collection.name for name in ("BRUTE", "Grunt")] == ["brute", NAME]
    assert brought(folder, player="GRUNT").collection.name == f"{NAME}.001"


def test_a_player_is_imported_from_an_archive(tmp_path, capfd):
    folder = game(tmp_path, packed=True)
    for place, options in ((folder / "upper.md3", {}), (folder.parents[2], {"weapon": "none"})):
        assert set(brought(place, **options).parts) == {"lower", "upper", "head"}
    armed = brought(folder.parents[2], weapon="club")
    assert set(armed.parts) == {"lower", "upper", "head", "weapon", "barrel", "flash"}
    assert not saved(tmp_path).keys() & {"club.md3", "weapon.md3"}
    said = "no part of it, models of their own (Export: MD3): 'club', 'club_barrel', 'club_flash'"
    assert said in capfd.readouterr().out


def test_parts_stand_as_in_the_game(tmp_path):
    player = brought(game(tmp_path), weapon="club")
    weapons = {"weapon": "club", "barrel": "club_barrel", "flash": "club_flash"}
    models = our_models()
    models |= {k: model(weapon_files()[f"models/weapons2/club/{name}.md3"]) for k, name in weapons.items()}
    player.root.location, player.root.rotation_euler, player.root.scale = (5, -7, 3), (0.4, 0.2, 1.0), (2, 2, 2)
    for frame in range(LOWER_FRAMES):
        bpy.context.scene.frame_set(frame)
        check_places(player, models, {"lower": frame, "upper": min(frame, UPPER_FRAMES - 1)})
    for root in player.parts.values():
        root.animation_data_clear()
    for legs, torso in ((0, 36), (38, 0), (17, 20), (6, 6)):
        player.parts["lower"]["frame"], player.parts["upper"]["frame"] = float(legs), float(torso)
        for root in player.parts.values():
            root.update_tag()
        bpy.context.scene.frame_set(3)
        check_places(player, models, {"lower": legs, "upper": torso})


def test_legs_and_torso_play_apart(tmp_path):
    player = brought(game(tmp_path), legs="LEGS_RUN", torso="TORSO_ATTACK", frame_rate=24)
    for step in range(5):  # run at 24, attack at 15 frames per second
        bpy.context.scene.frame_set(step * 8)
        check_places(player, our_models(), {"lower": 14 + step * 8 % 6, "upper": 9 + min(step * 5, 5)})


@pytest.mark.parametrize("name", PLAYERS[1:])
def test_real_parts_stand_as_in_the_game(name):
    files = corpus_player(name)
    player = brought(Path(files.parts["lower"].base.place), plain_materials=True, levels=False)
    models = {kind: model(part.base.read()) for kind, part in files.parts.items()}
    count = {kind: len(each.frame_names) for kind, each in models.items()}
    for frame in range(max(count.values())):
        bpy.context.scene.frame_set(frame)
        check_places(player, models, {kind: min(frame, n - 1) for kind, n in count.items()})


@pytest.mark.parametrize(("part", "frame"), [("lower", 18), ("upper", 12), ("head", 18)])
def test_all_frames_begin_with_the_one_that_the_active_part_showed(own, part, frame):
    scene = bpy.context.scene
    scene.render.fps = 30
    for all_frames in (bpy.ops.object.idtech_play, lambda: bpy.ops.object.idtech_animation_play(name="All Frames")):
        bpy.ops.object.idtech_play(legs="LEGS_RUN", torso="TORSO_ATTACK")
        activate(own.parts[part].children[0])
        scene.frame_set(6 if part == "upper" else 5)
        all_frames()
        assert scene.frame_current == frame


def test_legs_without_a_mesh_have_their_frames(tmp_path):
    tags = load(originals()["lower.md3"])
    tags.surfaces = []
    brought(game(tmp_path, lower_md3=dump(tags)))
    for rows in ({"legs": "LEGS_RUN", "torso": "TORSO_ATTACK"}, {}):
        assert bpy.ops.object.idtech_play(**rows) == {"FINISHED"}
    assert bpy.context.scene.frame_end == LOWER_FRAMES - 1


@pytest.mark.parametrize(("value", "frame"), [(-3.0, 0), (7.4, 7), (99.0, LOWER_FRAMES - 1), (None, 0)])
def test_all_frames_begin_with_the_one_that_was_chosen_by_hand(own, value, frame):
    root = own.parts["lower"]
    root.animation_data_clear()
    assert played(own, "lower") == ""
    if value is None:
        del root["frame"]
    else:
        root["frame"] = value
    activate(root.children[0])
    bpy.context.scene.frame_set(3)
    assert bpy.ops.object.idtech_play() == {"FINISHED"}
    assert bpy.context.scene.frame_current == frame


def test_play_changes_what_is_played(own, tmp_path):
    play: Any = bpy.ops.object.idtech_play
    scene = bpy.context.scene
    scene.render.fps = 30

    def both() -> list[str]:
        return [played(own, part) for part in ("lower", "upper")]

    def frames() -> list[float]:
        return [float(own.parts[part]["frame"]) for part in ("lower", "upper")]

    assert play(legs="LEGS_RUN", torso="TORSO_ATTACK") == {"FINISHED"}
    assert both() == ["LEGS_RUN", "TORSO_ATTACK"]  # the dialog begins there
    assert (scene.frame_start, scene.frame_end) == (0, 10)  # 6 frames at 15 per second
    scene.frame_set(5)
    assert frames() == pytest.approx([18, 11.5], abs=1e-3)
    assert play(legs="BOTH_DEATH2", torso="ALL", fit_range=False) == {"FINISHED"}
    assert (scene.frame_current, scene.frame_start, scene.frame_end) == (5, 0, 10), "as before"
    scene.frame_set(0)
    assert (frames(), both()) == ([2, 2], ["BOTH_DEATH2", "BOTH_DEATH2"])
    assert play() == {"FINISHED"}
    assert (both(), scene.frame_end) == (["", ""], LOWER_FRAMES - 1)
    scene.frame_set(36)
    assert frames() == [36, 36]
    assert play(legs="LEGS_RUN", torso="TORSO_ATTACK") == {"FINISHED"}
    assert scene.frame_current == 0, "which has no frame 36"
    assert unequal(tmp_path) == []


@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
def test_convert_makes_one_scene_of_a_player(tmp_path, capsys, packed):
    folder, target = game(tmp_path, packed), tmp_path / "grunt.blend"
    assert main(["convert", str(folder), str(target), "--legs", "LEGS_RUN"]) == 0
    assert "3 parts, 39 frames, 31 animations" in capsys.readouterr().out
    bpy.ops.wm.open_mainfile(filepath=str(target))
    player = find_player(bpy.data.objects["head"])
    assert player is not None and list(player.parts) == ["lower", "upper", "head"]
    assert player.parts["lower"].animation_data.action.name == "LEGS_RUN"
    assert main(["convert", str(tmp_path / "baseq3"), str(target)]) != 0  # more than one model, and no player
    assert main(["convert", str(folder), str(tmp_path / "x.md3")]) == 0
    assert "the scene's range is written, frame 0 to 38" in capsys.readouterr().out


LACKING: dict[str, Any] = {
    "upper": ({"upper_md3": None}, ["lower", "head"], "no upper.md3"),
    "broken head": ({"head_md3": b"IDP3 and no more"}, ["lower", "upper"], "this part is missing"),
    "few rows": ({"animation_cfg": b"sex m\n0 2 0 10\n"}, ["lower", "upper", "head"], "it has 1 rows"),
    "no tag": ({"upper_md3": originals()["lower.md3"]}, ["lower", "head", "upper"], "no tag_head to hang the head on"),
    "half a skin": ({"head_red_skin": None}, ["lower", "upper", "head"], "games refuse the skin 'red'"),
}


def test_nothing_of_a_player_that_can_not_be_read_stays(tmp_path):
    folder = game(tmp_path, lower_md3=b"IDP3", upper_md3=b"IDP3", head_md3=b"IDP3")
    before = counts()
    assert "lower.md3" in error_of(import_player, filepath=str(folder / "lower.md3"))
    assert counts() == before


@pytest.mark.parametrize("case", LACKING)
def test_what_there_is_of_a_player_is_shown(tmp_path, capfd, case):
    changed, kinds, said = LACKING[case]
    folder = game(tmp_path, **changed)
    player = brought(folder / "lower.md3")
    assert list(player.parts) == kinds
    assert said in capfd.readouterr().out


def test_a_player_saved_by_an_older_blender(tmp_path):
    bpy.ops.wm.open_mainfile(filepath=str(PROJECT / "tests/players/grunt-4.2.blend"))  # our sample, playing two rows
    activate(bpy.data.objects["lower"])
    player = active_player()
    bpy.context.scene.frame_set(2)
    assert player.parts["lower"]["frame"] == 16.0
    assert unequal(tmp_path) == []
    assert bpy.ops.object.idtech_play(legs="LEGS_IDLE", torso="TORSO_STAND") == {"FINISHED"}
    bpy.context.scene.frame_set(0)
    check_places(player, our_models(), {"lower": 32, "upper": 30})
    assert bpy.ops.object.idtech_play() == {"FINISHED"}
    insert_frame(player.parts["lower"].children[0], 16)
    assert b"45 7 7 24 " in saved(tmp_path)["animation.cfg"]


NONSEGMENTED = b"nonsegmented\n" + b"".join(b"%d 1 0 10\n" % nth for nth in range(27))


def test_a_player_of_one_part(tmp_path, capfd):
    files = {"nonseg.md3": originals()["lower.md3"], "animation.cfg": NONSEGMENTED}
    folder = tmp_path / "base/models/players/level0"
    for name, data in files.items():
        put(folder / name, data)
    player = brought(folder / "nonseg.md3")
    assert list(player.parts) == ["nonseg"]
    assert played(player, "lower") == "", "it has no legs"
    assert len(actions_of(player)) == 27 and all(name.startswith("NSPA_") for name in actions_of(player))
    assert {n: d for n, d in saved(tmp_path).items() if not n.endswith(".skin")} == files
    assert "the player has no" not in capfd.readouterr().out


@pytest.mark.parametrize(
    ("options", "frames", "wanted"),
    [({}, 39, 38), ({"fit_range": False}, 39, 250), ({}, 2, 1), ({}, 1, 250)],
)
def test_the_scene_shows_all_frames_if_there_are_several(tmp_path, options, frames, wanted):
    thing = load(originals()["lower.md3"])
    thing.frame_names, thing.frame_sources = thing.frame_names[:frames], np.arange(frames, dtype=np.int32)
    for surface in thing.surfaces:
        surface.positions, surface.normals = surface.positions[:frames], None
    for tag in thing.tags:
        tag.origins, tag.axes = tag.origins[:frames], tag.axes[:frames]
    path = put(tmp_path / "models/players/x/nonseg.md3", dump(thing))
    put(path.parent / "animation.cfg", NONSEGMENTED)
    player = brought(path, **options)
    scene = bpy.context.scene
    assert (scene.frame_start, scene.frame_end) == (1 if wanted == 250 else 0, wanted)
    assert bpy.ops.object.idtech_play() == {"FINISHED"}
    assert (scene.frame_start, scene.frame_end) == (0, max(frames - 1, 1))
    shown = player.root.animation_data
    assert (shown is not None and shown.action is not None) == (frames > 1)
