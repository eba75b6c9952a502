"""Whole players: assembled as games do it, animated by name, edited, and written back."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest

from io_idtech_models import formats
from io_idtech_models.blender.player.parts import find_player
from io_idtech_models.blender.player.rows import frame_curve as found_curve
from io_idtech_models.blender.player.rows import rows_of
from io_idtech_models.game.folders import Disk
from io_idtech_models.game.player.animation_cfg import read
from io_idtech_models.game.player.files import players_in
from io_idtech_models.reporting import LimitError
from io_idtech_models.tasks.player.files import proposed_target
from io_idtech_models.tasks.player.play import played
from io_idtech_models.ui.cli import main
from io_idtech_models.ui.player import choosing
from tests.packs import Entry, zip_bytes
from tests.samples import CORPUS, PROJECT
from tests.samples_player import FOLDER, LOWER_FRAMES, NAME, UPPER_FRAMES, player_files, weapon_files
from tests.ui.scene import CUBE_FACES, CUBE_POINTS, activate, add_mesh, bpy, counts, error_of, export_bytes, png, put

pytestmark = pytest.mark.usefixtures("empty_scene")
import_player: Any = bpy.ops.import_scene.idtech_player
export_player: Any = bpy.ops.export_scene.idtech_player
GAME = CORPUS / "openarena/baseoa"
ON = {"upper": "tag_torso", "head": "tag_head", "weapon": "tag_weapon", "barrel": "tag_barrel", "flash": "tag_flash"}
ABOVE = {"upper": "lower", "head": "upper", "weapon": "upper", "barrel": "weapon", "flash": "weapon"}


def game(folder: Path, packed: bool = False, **changed: bytes | None) -> Path:
    """Write our player's game; returns the player's folder. `changed`: other bytes of some files, None: without."""
    given = {name: changed.get(name.replace(".", "_"), data) for name, data in player_files().items()}
    files = {f"{FOLDER}/{name}": data for name, data in given.items() if data is not None} | weapon_files()
    for skin in ("default", "red"):
        files[f"{FOLDER}/icon_{skin}.tga"] = png(folder / "picture.png").read_bytes()
    if packed:
        put(folder / "baseq3/pak0.pk3", zip_bytes([Entry(name, data) for name, data in files.items()]))
        return folder / "baseq3/pak0.pk3" / FOLDER
    for name, data in files.items():
        put(folder / "baseq3" / name, data)
    return folder / "baseq3" / FOLDER


def brought(path: Path, **options: Any) -> Any:
    """Import a player; returns it as it stands in the scene."""
    assert import_player(filepath=str(path), **options) == {"FINISHED"}
    player = find_player(bpy.context.view_layer.objects.active)
    assert player is not None
    return player


def saved(folder: Path, **options: Any) -> dict[str, bytes]:
    """Write the active player into a new folder; returns its files."""
    target = folder / "saved"
    assert export_player(filepath=str(target), **options) == {"FINISHED"}
    return {path.name: path.read_bytes() for path in target.iterdir() if not path.name.startswith("icon_")}


def unequal(folder: Path, before: dict[str, bytes]) -> list[str]:
    """Return which files a save does not write as they were."""
    after = saved(folder)
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def originals() -> dict[str, bytes]:
    return player_files()


def frame_curve(action: Any) -> Any:
    return found_curve(action)


def active_player() -> Any:
    return find_player(bpy.context.view_layer.objects.active)


def tag_of(root: Any, name: str) -> Any:
    return next(b for b in root.children if b.name.split(".")[0] == name and b.type == "EMPTY")


def model(data: bytes) -> Any:
    """Return an MD3's model."""
    row = formats.by_name("md3")
    return row.unpack(row.read(data), "model").model


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


def matrix(axes: Any, origin: Any) -> Any:
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = axes.T, origin
    return result


def shown_at(player: Any) -> dict[str, Any]:
    graph = bpy.context.evaluated_depsgraph_get()
    return {kind: np.array(root.evaluated_get(graph).matrix_world) for kind, root in player.parts.items()}


def check_places(player: Any, models: dict[str, Any], frames: dict[str, int], near: float = 1e-4) -> None:
    """Compare roots, and the corners of boxes around parts, with the formula."""
    start = np.array(player.root.matrix_world)
    size = float(np.linalg.norm(start[:3, 0]))
    expected = placed(models, frames, ((start[:3, :3] / size).T, np.zeros(3)))
    for kind, world in shown_at(player).items():
        wanted = matrix(*expected[kind])
        wanted[:3] *= size
        wanted[:3, 3] += start[:3, 3]
        points = np.concatenate([s.some_positions(slice(0, 1))[0] for s in models[kind].surfaces])
        points = np.append(points, np.ones((len(points), 1)), axis=1)
        off = np.abs(points @ world.T - points @ wanted.T)[:, :3].max()
        assert off < near * max(1.0, size), (kind, frames, off)


PLAYERS = ["own"]
if GAME.is_dir():
    PLAYERS += sorted({files.name for pack in GAME.glob("*.pk3") for files in players_in(Disk().store(pack).around)})


def corpus_player(name: str) -> Any:
    found = {each.name: each for path in sorted(GAME.glob("*.pk3")) for each in players_in(Disk().store(path).around)}
    if name not in found:
        pytest.skip(f"no {name} in the packs")
    return found[name]


def models_of(files: Any) -> dict[str, Any]:
    return {kind: model(part.base.read()) for kind, part in files.parts.items()}


@pytest.fixture
def own(tmp_path):
    return brought(game(tmp_path) / "upper.md3")


def test_a_player_is_imported_from_any_of_its_files(tmp_path):
    folder = game(tmp_path)
    for name in ("head.md3", "lower_1.md3", "animation.cfg", "lower_red.skin", "icon_red.tga", ""):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        player = brought(folder / name)
        assert list(player.parts) == ["lower", "upper", "head"]
        assert list(player.levels) == [("lower", 1)]
        assert player.collection.name == NAME


def test_players_of_an_archive_are_listed(tmp_path):
    game(tmp_path, packed=True)
    pack = tmp_path / "baseq3/pak0.pk3"
    (item,) = choosing.prepare(str(pack))
    assert item[1:3] == (NAME, "default, red")
    assert bpy.ops.import_scene.idtech_choose_player(source=str(pack), player=item[0]) == {"FINISHED"}
    assert set(active_player().parts) == {"lower", "upper", "head"}
    choosing.forget()
    assert choosing.list_items(None, None) == []
    with pytest.raises(LimitError, match="preferences"):
        choosing.prepare("")


def test_parts_that_are_dropped_become_their_player(tmp_path):
    folder = game(tmp_path)
    operator: Any = bpy.ops.import_scene.idtech_md3
    files = [{"name": f"{part}.md3"} for part in ("lower", "upper", "head")]
    assert operator(directory=str(folder), files=files, whole_player=True) == {"FINISHED"}
    assert set(active_player().parts) == {"lower", "upper", "head"}
    assert len(bpy.data.collections) == 5
    assert operator(directory=str(folder), files=files) == {"FINISHED"}  # a script's models stay as they are
    assert len(bpy.data.collections) == 8


def test_a_player_is_imported_from_an_archive(tmp_path):
    folder = game(tmp_path, packed=True)
    assert set(brought(folder / "upper.md3").parts) == {"lower", "upper", "head"}
    assert set(brought(folder.parents[2], weapon="club").parts) == {
        "lower",
        "upper",
        "head",
        "weapon",
        "barrel",
        "flash",
    }


def test_parts_stand_as_in_the_game(tmp_path):
    folder = game(tmp_path)
    player = brought(folder, weapon="club")
    models = {kind: model((folder / f"{kind}.md3").read_bytes()) for kind in ("lower", "upper", "head")}
    weapons = {"weapon": "club", "barrel": "club_barrel", "flash": "club_flash"}
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


@pytest.mark.parametrize("name", PLAYERS[1:])
def test_real_parts_stand_as_in_the_game(name):
    files = corpus_player(name)
    player = brought(Path(files.parts["lower"].base.place), plain_materials=True, levels=False)
    models = models_of(files)
    count = {kind: len(each.frame_names) for kind, each in models.items()}
    for frame in range(max(count.values())):
        bpy.context.scene.frame_set(frame)
        check_places(player, models, {kind: min(frame, n - 1) for kind, n in count.items()})


def test_rows_show_their_frames_at_their_own_speed(own):
    scene = bpy.context.scene
    scene.render.fps = 30
    table = read(player_files()["animation.cfg"])
    actions = rows_of(own.identity, list(own.parts.values()))
    assert set(actions) == {row.name for row in table.rows}
    for part in ("lower", "upper"):
        for row in table.of_part(part):
            curve, step = frame_curve(actions[row.name]), 24 / row.rate
            shown = [curve.evaluate(nth * step + 1e-3) for nth in range(len(row.frames))]
            np.testing.assert_allclose(shown, row.frames, atol=2e-3)
            again = curve.evaluate((len(row.frames) + 0.001) * step)
            wanted = row.frames[len(row.frames) - row.repeats] if row.repeats > 1 else row.frames[-1]
            assert abs(again - wanted) < 5e-3, row


def test_legs_and_torso_play_apart(tmp_path):
    folder = game(tmp_path)
    player = brought(folder, legs="LEGS_RUN", torso="TORSO_ATTACK", frame_rate=24)
    models = {kind: model((folder / f"{kind}.md3").read_bytes()) for kind in ("lower", "upper", "head")}
    for step in range(5):  # run at 24, attack at 15 frames per second
        bpy.context.scene.frame_set(step * 8)
        check_places(player, models, {"lower": 14 + step * 8 % 6, "upper": 9 + min(step * 5, 5)})


def test_play_changes_what_is_played(own, tmp_path):
    play: Any = bpy.ops.object.idtech_play
    scene = bpy.context.scene
    scene.render.fps = 30
    assert play(legs="LEGS_RUN", torso="TORSO_ATTACK") == {"FINISHED"}
    assert [played(own, part) for part in ("lower", "upper")] == ["LEGS_RUN", "TORSO_ATTACK"]  # the dialog begins there
    assert (scene.frame_start, scene.frame_end) == (0, 10)  # 6 frames at 15 per second
    scene.frame_set(5)
    assert abs(own.parts["lower"]["frame"] - 18) < 1e-3
    assert abs(own.parts["upper"]["frame"] - 11.5) < 1e-3
    assert play(legs="BOTH_DEATH2", torso="ALL") == {"FINISHED"}
    scene.frame_set(0)
    assert (own.parts["lower"]["frame"], own.parts["upper"]["frame"]) == (2, 2)
    assert [played(own, part) for part in ("lower", "upper")] == ["BOTH_DEATH2", "BOTH_DEATH2"]
    assert play() == {"FINISHED"}
    assert [played(own, part) for part in ("lower", "upper")] == ["", ""]
    assert scene.frame_end == LOWER_FRAMES - 1
    scene.frame_set(36)
    assert (own.parts["lower"]["frame"], own.parts["upper"]["frame"]) == (36, 36)
    assert unequal(tmp_path, originals()) == []


@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
@pytest.mark.parametrize("state", ["as imported", "playing", "moved", "reopened", "frames"])
def test_unedited_files_come_back(tmp_path, packed, state):
    player = brought(game(tmp_path, packed) / "head.md3")
    if state == "playing":
        actions = rows_of(player.identity, list(player.parts.values()))
        player.parts["lower"].animation_data.action = actions["LEGS_BACK"]
        player.parts["upper"].animation_data.action = actions["TORSO_STAND"]
        bpy.context.scene.frame_set(11)
    elif state == "moved":
        player.root.location, player.root.rotation_euler = (100.5, -3000, 17), (1, 2, 3)
        bpy.context.view_layer.update()
    elif state == "reopened":
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "player.blend"))
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "player.blend"))
    elif state == "frames":
        for root in player.parts.values():
            root.animation_data_clear()
            root["frame"] = 7.5
    assert unequal(tmp_path, originals()) == []


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
    assert main(["convert", str(folder), str(tmp_path / "x.md3")]) != 0 or packed


@pytest.mark.parametrize("name", PLAYERS[1:])
def test_real_players_come_back(tmp_path, name):
    files = corpus_player(name)
    brought(Path(files.parts["upper"].base.place), legs="LEGS_RUN", torso="TORSO_STAND", plain_materials=True)
    bpy.context.scene.frame_set(5)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "player.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "player.blend"))
    after = saved(tmp_path)
    before = {
        file.name: file.read()
        for part in files.parts.values()
        for file in (part.base, *part.levels.values(), *part.skins.values())
    }
    before[files.table.name] = files.table.read()
    assert sorted(after) == sorted(before)
    assert [n for n in before if before[n] != after[n]] == []


OTHER_HEAD = b"h_other,models/players/grunt/other.tga\n"
DRESSED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # what is imported, and which files are others or none
    "an unknown skin": ({"skin": "foo"}, {}),
    "none": ({"skin": "none"}, {}),
    "half a skin": ({"skin": "red"}, {"head_red.skin": None}),
    "a skin of another head": ({}, {"head_red.skin": OTHER_HEAD}),
    "a head for each skin": (
        {"skin": "red"},
        {
            "head.md3": None,
            "head_default.md3": player_files()["head.md3"],
            "head_red.md3": player_files()["head.md3"].replace(b"h_head", b"h_hair"),
        },
    ),
    "no skin": ({}, {n: None for n in player_files() if n.endswith(".skin")}),
}


@pytest.mark.parametrize("case", DRESSED)
def test_unedited_skins_come_back(tmp_path, capfd, case):
    options, changed = DRESSED[case]
    folder = game(tmp_path)
    for name, data in changed.items():
        if data is None:
            (folder / name).unlink()
        else:
            put(folder / name, data)
    brought(folder, **options)
    if case == "an unknown skin":
        assert "there is no skin 'foo': 'default', 'red'; it wears 'default'" in capfd.readouterr().out
    there = {p.name: p.read_bytes() for p in folder.iterdir() if not p.name.startswith("icon_")}
    other_heads = {"head_default.md3"} if case == "a head for each skin" else set()  # which a save has no part of
    assert unequal(tmp_path, {n: d for n, d in there.items() if n not in other_heads}) == []


def test_a_skin_that_is_shown_is_the_one_that_is_saved(tmp_path):
    player = brought(game(tmp_path))
    activate(player.parts["upper"].children[0])
    assert bpy.ops.object.idtech_show_skin(skin="red.skin") == {"FINISHED"}
    assert unequal(tmp_path, originals()) == []
    legs = next(b for b in player.parts["lower"].children if b.type == "MESH")
    legs.data.materials[0] = bpy.data.materials.new("models/players/grunt/blood")
    hat = add_mesh("hat", CUBE_POINTS, CUBE_FACES)
    hat.parent = player.parts["head"]
    hat.data.materials.append(bpy.data.materials.new("models/players/grunt/hat"))
    changed = {"head.md3", "head_default.skin", "head_red.skin", "lower.md3", "lower_red.skin"}
    assert set(unequal(tmp_path, originals())) == changed


def test_an_archive_keeps_all_else(tmp_path):
    brought(game(tmp_path, packed=True))
    pack = tmp_path / "baseq3/pak0.pk3"
    before = pack.read_bytes()
    assert export_player(filepath=str(pack)) == {"FINISHED"}
    assert pack.read_bytes() == before
    head = next(b for b in active_player().parts["head"].children if b.type == "MESH")
    head.data.vertices[0].co.z += 2.0
    head.data.update()
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
        actions = rows_of(player.identity, list(player.parts.values()))
        player.parts["lower"].animation_data.action = actions["LEGS_WALK"]
        scene.frame_set(2)
    after = saved(tmp_path)
    assert [n for n in after if after[n] != originals()[n]] == ["lower.md3"]
    old, new = model(originals()["lower.md3"]), model(after["lower.md3"])
    moved = new.tags[0].origins - old.tags[0].origins
    assert np.flatnonzero(np.abs(moved).max(axis=1)).tolist() == [12]
    np.testing.assert_allclose(moved[12], (0, 0, 4), atol=1e-5)
    assert np.array_equal(old.tags[0].axes, new.tags[0].axes)
    assert all(np.array_equal(a.positions, b.positions) for a, b in zip(old.surfaces, new.surfaces, strict=True))


def test_a_modifier_on_the_head_is_seen_from_the_head(tmp_path):
    player = brought(game(tmp_path), legs="LEGS_RUN")
    player.root.location = (100, 0, 0)
    head = next(b for b in player.parts["head"].children if b.type == "MESH")
    modifier = head.modifiers.new("taller", "DISPLACE")
    modifier.direction, modifier.mid_level, modifier.strength = "Z", 0.0, 8.0
    after = saved(tmp_path)
    assert [n for n in after if after[n] != originals()[n]] == ["head.md3"]
    old, new = model(originals()["head.md3"]).surfaces[0], model(after["head.md3"]).surfaces[0]
    moved = new.positions[0][:, None] - old.positions[0][None]
    assert (np.abs(moved - (0, 0, 8)).max(axis=2) < 0.02).any(axis=1).all()
    assert new.positions.shape[0] == 1


@pytest.mark.parametrize("way", ["object", "eye", "collection", "excluded"])
@pytest.mark.parametrize("bent", [False, True])
def test_what_is_hidden_of_a_player_is_written(tmp_path, way, bent):
    player = brought(game(tmp_path), legs="LEGS_RUN")
    legs = next(b for b in player.parts["lower"].children if b.type == "MESH")
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


HATS = {  # what carries it; which part gets it
    "tag_head": ("tag_head", "head"),
    "tag_torso": ("tag_torso", "upper"),
    "surface": ("h_head", "head"),
    "root": ("head", "head"),
    "tag_flag": ("tag_flag", ""),
}


@pytest.mark.parametrize("by", ["parent", "another's parent", "constraint", "armature"])
@pytest.mark.parametrize("holder", HATS)
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
        hat.parent = bpy.data.objects.new("pivot", None)
        bpy.context.scene.collection.objects.link(hat.parent)
        hat.parent.parent = carrier
    elif by == "constraint":
        hat.constraints.new("COPY_TRANSFORMS").target = carrier
    else:
        rig = bpy.data.objects.new("rig", bpy.data.armatures.new("rig"))
        bpy.context.scene.collection.objects.link(rig)
        rig.parent = carrier
        hat.modifiers.new("rig", "ARMATURE").object = rig
    bpy.context.view_layer.update()
    activate(bpy.data.objects["l_legs"])
    capfd.readouterr()
    after = saved(tmp_path)
    changed = [n for n in after if n.endswith(".md3") and after[n] != originals()[n]]
    assert changed == ([f"{part}.md3"] if part else [])
    if not part:
        assert "left out, they hang on a tag that carries no part, or are no meshes: 'hat'" in capfd.readouterr().out
        return
    found = model(after[f"{part}.md3"])
    assert [s.name for s in found.surfaces][1:] == ["hat"]
    assert b"hat,models/players/grunt/hat" in after[f"{part}_default.skin"]
    if holder == "tag_head" and by != "armature":  # it has no bones: the hat stays in the world
        span = np.ptp(found.surfaces[1].positions[0], axis=0)
        np.testing.assert_allclose(span, [16 * 0.85] * 3, atol=0.05)


def test_a_modifier_on_the_legs_leaves_their_frames(tmp_path):
    player = brought(game(tmp_path), legs="LEGS_RUN", torso="TORSO_STAND")
    player.root.rotation_euler = (0, 0, 1)
    legs = next(b for b in player.parts["lower"].children if b.type == "MESH")
    modifier = legs.modifiers.new("aside", "DISPLACE")
    modifier.direction, modifier.mid_level, modifier.strength = "X", 0.0, 8.0
    bpy.context.scene.frame_set(4)
    new, old = model(saved(tmp_path)["lower.md3"]), model(originals()["lower.md3"])
    assert new.frame_names == old.frame_names
    assert np.array_equal(new.tags[0].origins, old.tags[0].origins)
    off = new.surfaces[0].positions - old.surfaces[0].positions[:, : new.surfaces[0].num_vertices]
    np.testing.assert_allclose(off, np.broadcast_to((8, 0, 0), off.shape), atol=0.02)


ROW_EDITS = {
    "fps": (lambda a: a.__setitem__("idtech_fps", 30.0), (b"45 6 6 24 ", b"45 6 6 30 ")),
    "loop": (lambda a: a.__setitem__("idtech_loop", 0), (b"45 6 6 24 ", b"45 6 0 24 ")),
    "cycle": (lambda a: setattr(a, "use_cyclic", False), (b"45 6 6 24 ", b"45 6 0 24 ")),
    "range": (lambda a: setattr(a, "frame_end", 4), (b"45 6 6 24 ", b"45 4 4 24 ")),
    "start": (lambda a: setattr(a, "frame_start", 2), (b"45 6 6 24 ", b"47 4 4 24 ")),
    "keys": (lambda a: shift(a, 0, 2), (b"45 6 6 24 ", b"47 6 6 24 ")),
    "slope": (lambda a: stretch(a, 2), (b"45 6 6 24 ", b"45 6 6 12 ")),
}


def shift(action: Any, frames: float, values: float) -> None:
    for key in frame_curve(action).keyframe_points:
        key.co = key.co.x + frames, key.co.y + values


def stretch(action: Any, factor: float) -> None:
    for key in frame_curve(action).keyframe_points:
        key.co.x *= factor


@pytest.mark.parametrize("edit", ROW_EDITS)
def test_an_edited_row_changes_its_numbers_alone(tmp_path, edit):
    player = brought(game(tmp_path), frame_rate=24)
    change, (old, new) = ROW_EDITS[edit]
    change(rows_of(player.identity, list(player.parts.values()))["LEGS_RUN"])
    after = saved(tmp_path)
    wanted = originals() | {"animation.cfg": originals()["animation.cfg"].replace(old, new)}
    assert after["animation.cfg"] == wanted["animation.cfg"]
    assert after == wanted


FRAME_EDITS = {  # part, scene's frame: rows before and after, and which models get one more frame
    "legs": ("lower", 16, [(b"45 6 6 24 ", b"45 7 7 24 "), (b"51 -4", b"52 -4"), (b"67 3 3", b"68 3 3")], ["lower"]),
    "torso": ("upper", 10, [(b"9  6  0", b"9  7  0"), (b"15 6 0 15 // TORSO", b"16 6 0 15 // TORSO")], ["upper"]),
    "both": (
        "lower",
        1,
        [(b"0\t2\t0", b"0\t3\t0"), (b"1\t1\t0", b"2\t1\t0"), (b"\n6\t3", b"\n7\t3")],
        ["lower", "upper"],
    ),
}


@pytest.mark.parametrize("case", FRAME_EDITS)
@pytest.mark.parametrize("way", ["insert", "insert and delete"])
def test_frames_inserted_move_what_follows(tmp_path, case, way):
    part, frame, rows, parts = FRAME_EDITS[case]
    player = brought(game(tmp_path), levels=True)
    activate(player.parts[part].children[0])
    bpy.context.scene.frame_set(frame)
    assert bpy.ops.object.idtech_insert_frame() == {"FINISHED"}
    if way != "insert":
        assert bpy.ops.object.idtech_delete_frame() == {"FINISHED"}
        assert unequal(tmp_path, originals()) == []
        return
    after = saved(tmp_path)
    for old, new in rows:
        assert old not in after["animation.cfg"] or case == "both", old
        assert new in after["animation.cfg"], (new, after["animation.cfg"].decode())
    for kind in ("lower", "upper", "lower_1"):
        old_model, new_model = model(originals()[f"{kind}.md3"]), model(after[f"{kind}.md3"])
        more = kind.partition("_")[0] in parts
        order = list(range(len(old_model.frame_names)))
        if more:
            order.insert(frame + 1, frame)
        assert new_model.num_frames == len(order)
        for old, new in zip(old_model.surfaces, new_model.surfaces, strict=True):
            assert np.array_equal(old.positions[order], new.positions), kind
        for old, new in zip(old_model.tags, new_model.tags, strict=True):
            np.testing.assert_allclose(old.origins[order], new.origins, atol=1e-5)
    if case == "both":
        assert b"\n37 4 4" not in after["animation.cfg"]


@pytest.mark.parametrize("rate", [24, 60])
def test_rows_that_frames_only_shift_keep_all_other_numbers(tmp_path, rate):
    """One frame, none, no rate, loops of a part, of one frame and of more than there are, backwards."""
    odd = [b"35 1 0 5", b"36 0 0 0", b"34 1 3 7.50", b"30 4 4 12.5", b"33 -1 1 05"]
    names = [b"TORSO_GETFLAG", b"TORSO_GUARDBASE", b"TORSO_PATROL", b"TORSO_FOLLOWME", b"TORSO_AFFIRMATIVE"]
    table = player_files()["animation.cfg"]
    for row, name in zip(odd, names, strict=True):
        table = table.replace(b"35 2 0 15 // " + name, row + b" // " + name)
    player = brought(game(tmp_path, animation_cfg=table), frame_rate=rate)
    scene = bpy.context.scene
    activate(player.parts["upper"].children[0])
    scene.frame_set(8)  # the last of TORSO_GESTURE
    assert bpy.ops.object.idtech_insert_frame() == {"FINISHED"}
    before, after = (table.splitlines(), saved(tmp_path)["animation.cfg"].splitlines())
    assert len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        words, now = old.split(), new.split()
        if b"TORSO_" not in old or b"TORSO_GESTURE" in old:
            assert now == ([b"6", b"4", *words[2:]] if b"TORSO_GESTURE" in old else words)
        else:
            assert now == [str(int(words[0]) + 1).encode(), *words[1:]], old
    scene.frame_set(8)
    assert bpy.ops.object.idtech_delete_frame() == {"FINISHED"}
    assert saved(tmp_path)["animation.cfg"] == table


@pytest.mark.parametrize("part", ["lower", "upper"])
def test_a_frame_before_legs_and_torso_begin_goes_into_both(tmp_path, part):
    """Frame 5 is no row's."""
    table = player_files()["animation.cfg"].replace(b"4\t2\t0", b"4\t1\t0").replace(b"5\t1\t0", b"4\t1\t0")
    player = brought(game(tmp_path, animation_cfg=table))
    activate(player.parts[part].children[0])
    bpy.context.scene.frame_set(5)
    assert bpy.ops.object.idtech_insert_frame() == {"FINISHED"}
    after = saved(tmp_path)
    assert [model(after[f"{each}.md3"]).num_frames for each in ("lower", "upper")] == [
        LOWER_FRAMES + 1,
        UPPER_FRAMES + 1,
    ]
    assert b"\n7\t3\t0" in after["animation.cfg"] and b"\n38 4 4" in after["animation.cfg"]


def test_a_frame_that_legs_begin_with_alone_is_not_deleted(tmp_path):
    table = player_files()["animation.cfg"].replace(b"37 4 4 20", b"37 1 0 20")
    player = brought(game(tmp_path, animation_cfg=table))
    activate(player.parts["lower"].children[0])
    bpy.context.scene.frame_set(6)
    assert "games let both begin at the same number" in error_of(bpy.ops.object.idtech_delete_frame)
    assert unequal(tmp_path, originals() | {"animation.cfg": table}) == []


def test_a_linked_player_has_its_levels_of_detail(tmp_path):
    brought(game(tmp_path))
    source = str(tmp_path / "player.blend")
    bpy.ops.wm.save_as_mainfile(filepath=source)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.wm.link(directory=f"{source}/Collection", filename=NAME, instance_collections=False)
    bpy.context.view_layer.objects.active = next(b for b in bpy.context.scene.objects if b.name == "l_legs")
    assert unequal(tmp_path, originals()) == []
    assert "linked from another .blend" in error_of(bpy.ops.object.idtech_make_levels, percentages="50")


def test_frames_of_a_player_that_is_an_override_are_not_changed(tmp_path):
    brought(game(tmp_path))
    source = str(tmp_path / "player.blend")
    bpy.ops.wm.save_as_mainfile(filepath=source)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.wm.link(directory=f"{source}/Collection", filename=NAME, instance_collections=False)
    (linked,) = (c for c in bpy.data.collections if c.name == NAME)
    linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    activate(next(b for b in bpy.data.objects if b.override_library is not None and b.name == "l_legs"))
    for edit in (bpy.ops.object.idtech_insert_frame, bpy.ops.object.idtech_delete_frame):
        assert "linked from another .blend" in error_of(edit)
    assert unequal(tmp_path, originals()) == []


def test_inserted_frames_leave_what_was_edited_of_a_row(tmp_path):
    player = brought(game(tmp_path), frame_rate=24)
    rows = rows_of(player.identity, list(player.parts.values()))
    stretch(rows["LEGS_RUN"], 2)
    rows["LEGS_WALK"]["idtech_fps"] = 40.0
    rows["LEGS_TURN"].use_cyclic = False
    rows["LEGS_IDLE"].frame_end += 24 / 7
    shift(rows["LEGS_LAND"], 0, -1)
    before = saved(tmp_path)["animation.cfg"]
    activate(player.parts["lower"].children[0])
    for frame, edit in ((8, bpy.ops.object.idtech_insert_frame), (8, bpy.ops.object.idtech_delete_frame)):
        bpy.context.scene.frame_set(frame)
        assert edit() == {"FINISHED"}
    assert saved(tmp_path)["animation.cfg"] == before
    for row in (b"45 6 6 12 ", b"41 4 4 40 ", b"67 3 0 15 ", b"63 3 3 7 ", b"60 1 0 15 // LEGS_LAND"):
        assert row in before, before.decode()


def test_a_new_action_takes_the_row_of_its_name(tmp_path):
    player = brought(game(tmp_path), frame_rate=24)
    old = rows_of(player.identity, list(player.parts.values()))["TORSO_ATTACK"]
    old.name = "old attack"
    root = player.parts["upper"]
    root.animation_data.action = None
    for frame, value in ((1, 30), (13, 33)):
        root["frame"] = float(value)
        root.keyframe_insert('["frame"]', frame=frame)
    made = root.animation_data.action
    made.name = "TORSO_ATTACK"
    for key in frame_curve(made).keyframe_points:
        key.interpolation = "LINEAR"
    after = saved(tmp_path)["animation.cfg"]
    assert after == originals()["animation.cfg"].replace(b"9  6  0  15 ", b"30  4  0  6 ")


def test_an_action_becomes_a_row_that_was_missing(tmp_path):
    short = player_files()["animation.cfg"].partition(b"35 2 0 15 // TORSO_GETFLAG")[0]
    player = brought(game(tmp_path, animation_cfg=short), frame_rate=24)
    action = rows_of(player.identity, list(player.parts.values()))["TORSO_GESTURE"].copy()
    for name in ("idtech_player", "idtech_row", "idtech_row_source", "idtech_given", "idtech_name"):
        del action[name]
    action.name = "TORSO_GUARDBASE"
    after = read(saved(tmp_path)["animation.cfg"])
    assert len(after.rows) == 27
    row = after.by_name["TORSO_GUARDBASE"]
    assert (row.first, row.count, row.loop, row.fps) == (6, 3, 0, 18)


def test_rows_beyond_the_frames_are_named(tmp_path, capfd):
    table = player_files()["animation.cfg"].replace(b"34 1 1 15", b"36 9 0 15")
    player = brought(game(tmp_path, animation_cfg=table))
    said = "rows go beyond the 37 frames of upper, games show frame 0: 'TORSO_STAND2'"
    assert said in capfd.readouterr().out
    curve = frame_curve(rows_of(player.identity, list(player.parts.values()))["TORSO_STAND2"])
    assert [curve.evaluate(nth * 24 / 15 + 0.01) for nth in range(3)] == [36, 0, 0]
    assert saved(tmp_path)["animation.cfg"] == table
    assert said in capfd.readouterr().out


def test_copies_are_written_as_their_own(tmp_path):
    player = brought(game(tmp_path))
    activate(*[player.root, *player.root.children_recursive])
    bpy.ops.object.duplicate()
    copy = active_player()
    assert copy.root != player.root
    copy.root.location = (50, 0, 0)
    head = next(b for b in copy.parts["head"].children if b.type == "MESH")
    head.data.vertices[0].co.z = 99.0
    head.data.update()
    activate(head)
    after = saved(tmp_path)
    assert [n for n in after if after[n] != originals()[n]] == ["head.md3"]
    activate(player.root)
    target = tmp_path / "first"
    assert export_player(filepath=str(target)) == {"FINISHED"}
    assert {p.name: p.read_bytes() for p in target.iterdir() if p.suffix != ".tga"} == originals()


def test_an_old_level_of_detail_is_named(tmp_path, capfd):
    player = brought(game(tmp_path))
    legs = next(b for b in player.parts["lower"].children if b.type == "MESH")
    for key in legs.data.shape_keys.key_blocks:
        key.data[0].co.z += 5.0
    saved(tmp_path)
    assert "'lower.md3' was edited and 'lower_1.md3' was not" in capfd.readouterr().out


@pytest.mark.parametrize("way", ["folder", "archive", "new archive", "elsewhere"])
@pytest.mark.parametrize("gone", ["not imported", "deleted"])
def test_a_level_of_detail_that_the_scene_lacks_is_named(tmp_path, capfd, way, gone):
    player = brought(game(tmp_path, packed=way != "folder"), levels=gone == "deleted")
    if gone == "deleted":
        bpy.data.collections.remove(bpy.data.collections["lower_1"])
    pack = tmp_path / "baseq3/pak0.pk3"
    target = {
        "folder": tmp_path / "baseq3" / FOLDER,
        "archive": pack,
        "new archive": tmp_path / "baseq3/z.pk3",
        "elsewhere": tmp_path / "my/z.pk3",
    }[way]
    target.parent.mkdir(exist_ok=True)
    assert export_player(filepath=str(target)) == {"FINISHED"}
    capfd.readouterr()
    legs = next(b for b in player.parts["lower"].children if b.type == "MESH")
    for key in legs.data.shape_keys.key_blocks:
        key.data[0].co.z += 5.0
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


LACKING: dict[str, Any] = {
    "head": ({"head_md3": None}, ["lower", "upper"], "no head.md3"),
    "cfg": ({"animation_cfg": None}, ["lower", "upper", "head"], "no animation.cfg"),
    "upper": ({"upper_md3": None}, ["lower", "head"], "no upper.md3"),
    "broken head": ({"head_md3": b"IDP3 and no more"}, ["lower", "upper"], "this part is missing"),
    "few rows": ({"animation_cfg": b"sex m\n0 2 0 10\n"}, ["lower", "upper", "head"], "it has 1 rows"),
    "half a skin": ({"head_red_skin": None}, ["lower", "upper", "head"], "games refuse the skin 'red'"),
}


@pytest.mark.parametrize("case", LACKING)
def test_what_there_is_of_a_player_is_shown(tmp_path, capfd, case):
    changed, kinds, said = LACKING[case]
    folder = game(tmp_path, **changed)
    player = brought(folder / "lower.md3")
    assert list(player.parts) == kinds
    assert said in capfd.readouterr().out


TABLES = {
    "lone CR": player_files()["animation.cfg"].replace(b"\r\n", b"\r"),
    "UTF-16": player_files()["animation.cfg"].decode().encode("utf-16"),
    "empty": b"",
}


@pytest.mark.parametrize("case", TABLES)
def test_a_table_that_cannot_be_read_is_kept_as_it_is(tmp_path, capfd, case):
    brought(game(tmp_path, animation_cfg=TABLES[case]))
    capfd.readouterr()
    assert unequal(tmp_path, originals() | {"animation.cfg": TABLES[case]}) == []
    assert "animation.cfg can't be read and is written as it was" in capfd.readouterr().out
    activate(active_player().parts["lower"].children[0])
    assert bpy.ops.object.idtech_insert_frame() == {"FINISHED"}
    assert "no animation.cfg that could be read" in error_of(bpy.ops.object.idtech_animation_add, name="LEGS_TURN")


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


@pytest.mark.parametrize("data", [b"PK and no more", b"IDP3 is no archive"])
def test_a_broken_archive_stays_as_it_is(tmp_path, data):
    brought(game(tmp_path))
    target = put(tmp_path / "broken.pk3", data)
    assert "broken.pk3" in error_of(export_player, filepath=str(target))
    assert target.read_bytes() == data


def test_a_player_saved_by_an_older_blender(tmp_path):
    bpy.ops.wm.open_mainfile(filepath=str(PROJECT / "tests/players/grunt-4.2.blend"))  # our sample, playing two rows
    activate(bpy.data.objects["lower"])
    player = active_player()
    models = {kind: model(originals()[f"{kind}.md3"]) for kind in ("lower", "upper", "head")}
    bpy.context.scene.frame_set(2)
    shown = {kind: float(player.parts[kind]["frame"]) for kind in ("lower", "upper")}
    assert shown["lower"] == 16.0
    assert unequal(tmp_path, originals()) == []
    assert bpy.ops.object.idtech_play(legs="LEGS_IDLE", torso="TORSO_STAND") == {"FINISHED"}
    bpy.context.scene.frame_set(0)
    check_places(player, models, {"lower": 32, "upper": 30})
    assert bpy.ops.object.idtech_play() == {"FINISHED"}
    bpy.context.scene.frame_set(16)
    activate(player.parts["lower"].children[0])
    assert bpy.ops.object.idtech_insert_frame() == {"FINISHED"}
    assert b"45 7 7 24 " in saved(tmp_path)["animation.cfg"]


def test_an_appended_player_is_one(tmp_path):
    brought(game(tmp_path), levels=True)
    source = str(tmp_path / "player.blend")
    bpy.ops.wm.save_as_mainfile(filepath=source)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    for _ in range(2):
        assert bpy.ops.wm.append(directory=f"{source}/Collection", filename=NAME) == {"FINISHED"}
    roots = [b for b in bpy.data.objects if b.get("idtech_part") == "lower" and b.parent is None]
    assert len(roots) == 2
    for nth, root in enumerate(roots):
        activate(root)
        root.location.x = 40.0 * nth
        assert bpy.ops.object.idtech_play(legs="LEGS_RUN", torso="TORSO_STAND") == {"FINISHED"}
        assert unequal(tmp_path, originals()) == []
    second = active_player()
    rows_of(second.identity, list(second.parts.values()))["LEGS_RUN"]["idtech_fps"] = 12.0
    assert unequal(tmp_path, originals()) == ["animation.cfg"]
    activate(roots[0])
    assert unequal(tmp_path, originals()) == []


NONSEGMENTED = b"nonsegmented\n" + b"".join(b"%d 1 0 10\n" % nth for nth in range(27))
NAMED = b"sex m\nLEGS_RUN 31 6 6 20\nTORSO_STAND 30 4 4 15 // stands\nBOTH_DEATH1 0 2 0 10\n"


def test_a_player_of_one_part(tmp_path):
    files = {"nonseg.md3": originals()["lower.md3"], "animation.cfg": NONSEGMENTED}
    folder = tmp_path / "base/models/players/level0"
    for name, data in files.items():
        put(folder / name, data)
    player = brought(folder / "nonseg.md3")
    assert list(player.parts) == ["nonseg"]
    rows = rows_of(player.identity, list(player.parts.values()))
    assert len(rows) == 27 and all(name.startswith("NSPA_") for name in rows)
    assert {n: d for n, d in saved(tmp_path).items() if not n.endswith(".skin")} == files


def test_rows_with_names(tmp_path):
    player = brought(game(tmp_path, animation_cfg=NAMED), frame_rate=24)
    actions = rows_of(player.identity, list(player.parts.values()))
    assert set(actions) == {"LEGS_RUN", "TORSO_STAND", "BOTH_DEATH1"}
    assert unequal(tmp_path, originals() | {"animation.cfg": NAMED}) == []
    actions["TORSO_STAND"]["idtech_fps"] = 7.5
    assert saved(tmp_path)["animation.cfg"] == NAMED.replace(b"30 4 4 15", b"30 4 4 7.5")


def test_nothing_of_a_player_that_can_not_be_read_stays(tmp_path):
    folder = game(tmp_path, lower_md3=b"IDP3", upper_md3=b"IDP3", head_md3=b"IDP3")
    before = counts()
    assert "lower.md3" in error_of(import_player, filepath=str(folder / "lower.md3"))
    assert counts() == before


def test_no_player_no_save(tmp_path):
    assert "there is no player" in error_of(export_player, filepath=str(tmp_path / "x"))
    brought(game(tmp_path))
    brought(game(tmp_path))
    bpy.context.view_layer.objects.active = None
    bpy.ops.object.select_all(action="DESELECT")
    assert "there are 2 players" in error_of(export_player, filepath=str(tmp_path / "x"))


def test_a_refused_save_leaves_every_file(tmp_path):
    player = brought(game(tmp_path))
    saved(tmp_path)
    before = {p.name: p.read_bytes() for p in (tmp_path / "saved").iterdir()}
    tag = tag_of(player.parts["upper"], "tag_head")
    for block in player.parts["head"].children:
        if block.type == "MESH":
            block.data.vertices[0].co.x = 1e6
            block.data.update()
    tag.location.x += 1
    assert error_of(export_player, filepath=str(tmp_path / "saved"))
    assert {p.name: p.read_bytes() for p in (tmp_path / "saved").iterdir()} == before
