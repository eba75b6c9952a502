"""Import Character: as large as the game shows it, and there, while its files are as they were."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_idtech_models.blender.provenance import PART
from io_idtech_models.blender.skeletal.hung import joint_at_rest
from io_idtech_models.tasks.character.exports import chosen_character
from tests import samples_character, samples_doom3, samples_wolf, samples_xreal
from tests.samples_doom3 import EXAMPLE, NEWT, TEXT
from tests.ui.character.test_wolf import place
from tests.ui.scene import bpy, put

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
run: Any = bpy.ops.import_scene.idtech_character
write: Any = bpy.ops.export_scene.idtech_character


@dataclass(frozen=True)
class Game:
    """A game's sample, and how the game shows it: its size, what stays where it is, how far it is moved."""

    put: Callable[..., Path]
    files: Callable[[], dict[str, bytes]]
    name: str
    scale: float
    still: tuple[float, float, float] | None
    moved: tuple[float, float, float]


GAMES = {
    "doom3": Game(samples_doom3.put_character, samples_doom3.files, "monster_newt", 1.0, None, (0, 0, -2)),
    "xreal": Game(samples_xreal.put_player, samples_xreal.files, "", 0.83, None, (0, 0, 0)),
    "rtcw": Game(samples_wolf.put_character, samples_wolf.files, "", 1.25, (0, 0, -24), (0, 0, 0)),
}


def read(game: str, folder: Path, **options: Any) -> Any:
    """Import a sample; returns the body's armature."""
    path = GAMES[game].put(folder, **options.pop("files", {}))
    assert run(filepath=str(path), character=GAMES[game].name, **options) == {"FINISHED"}
    rig = chosen_character(bpy.context).rig
    bpy.context.view_layer.objects.active = rig
    return rig


def points(rig: Any) -> Any:
    """Return where the points of the body, and of all that hangs on it, are in the world, by object."""
    bpy.context.view_layer.update()
    graph = bpy.context.evaluated_depsgraph_get()
    found = {}
    for block in sorted(bpy.data.objects, key=lambda block: block.name):
        if block.type == "MESH":
            shown = block.evaluated_get(graph)
            own = np.array([vertex.co for vertex in shown.data.vertices])
            matrix = np.array(shown.matrix_world)
            found[block.name] = own @ matrix[:3, :3].T + matrix[:3, 3]
    return found


@pytest.mark.parametrize("scale", [1.0, 0.5])
@pytest.mark.parametrize("game", GAMES)
def test_all_of_it_is_where_the_game_shows_it(tmp_path, game, scale, capfd):
    rig = read(game, tmp_path, as_shown=False, scale=scale)
    assert rig.parent is None
    assert "which the game shows " in capfd.readouterr().out
    first = next(bone for bone in rig.data.bones if bone.parent is None)
    how = GAMES[game]
    still = joint_at_rest(first)[:3, 3] if how.still is None else np.array(how.still) * scale
    plain = points(rig)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    rig = read(game, tmp_path, scale=scale)
    assert ", as the game shows it" in capfd.readouterr().out
    assert rig.parent[PART] == f"{chosen_character(bpy.context).name} root"
    shown = points(rig)
    assert shown.keys() == plain.keys() and len(shown) >= (1 if game == "xreal" else 3)
    for name, before in plain.items():
        wanted = still + how.scale * (before - still) + np.array(how.moved) * scale
        assert np.abs(shown[name] - wanted).max() < 1e-4, name


def test_xreal_keeps_the_first_joint_where_it_is(tmp_path):
    mesh = (EXAMPLE / "newt.md5mesh").read_bytes()
    start = mesh.index(b"(", mesh.index(b'"origin"'))
    mesh = mesh[:start] + b"( 0 0 10 )" + mesh[mesh.index(b")", start) + 1 :]
    rig = read("xreal", tmp_path, files={"body_md5mesh": mesh})
    rig.data.pose_position = "REST"
    first = next(bone for bone in rig.data.bones if bone.parent is None)
    assert np.abs((place(rig) @ joint_at_rest(first))[:3, 3] - [0, 0, 10]).max() < 1e-4
    assert np.abs(np.array(rig.parent.location) - [0, 0, 1.7]).max() < 1e-5


def test_what_the_game_shows_as_the_files_are_has_no_root(tmp_path, capfd):
    assert run(filepath=str(samples_character.put_character(tmp_path))) == {"FINISHED"}
    assert chosen_character(bpy.context).root is None
    assert "as the game shows it" not in capfd.readouterr().out
    text = samples_xreal.CFG.replace("0.83 0.83 0.83", "0.8 0.8 0.9")
    assert read("xreal", tmp_path / "x", files={"character_cfg": text.encode()}).parent is None
    assert "unevenly, here it has the size of its files" in capfd.readouterr().out


@pytest.mark.parametrize("game", ["doom3", "xreal"])
def test_motions_are_as_they_were(tmp_path, game):
    rig = read(game, tmp_path)
    assert bpy.ops.export_anim.idtech_md5anim(filepath=str(tmp_path / "x.md5anim")) == {"FINISHED"}
    assert (tmp_path / "x.md5anim").read_bytes() == (EXAMPLE / "idle.md5anim").read_bytes()
    rig.location.x = 1  # against its root: an edit, as ever
    assert bpy.ops.export_anim.idtech_md5anim(filepath=str(tmp_path / "x.md5anim")) == {"FINISHED"}
    assert (tmp_path / "x.md5anim").read_bytes() != (EXAMPLE / "idle.md5anim").read_bytes()


@pytest.mark.parametrize("game", GAMES)
def test_an_edit_gives_the_same_file_however_it_is_shown(tmp_path, game):
    found = []
    for as_shown in (True, False):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        folder = tmp_path / f"{as_shown}"
        rig = read(game, folder / "game", as_shown=as_shown)
        mesh = next(block for block in bpy.data.objects if block.type == "MESH" and block.parent == rig)
        mesh.data.vertices[0].co.z += 3.0
        bpy.ops.wm.save_as_mainfile(filepath=str(folder / "x.blend"))
        bpy.ops.wm.open_mainfile(filepath=str(folder / "x.blend"))
        bpy.context.view_layer.objects.active = chosen_character(bpy.context).rig
        assert write(filepath=str(folder / "out"), edited_only=True) == {"FINISHED"}
        out = folder / "out"
        found.append({p.relative_to(out).as_posix(): p.read_bytes() for p in out.rglob("*") if p.is_file()})
    assert found[0] == found[1] and len(found[0]) == 1


def test_a_weapon_in_hand_has_its_own_size(tmp_path):
    body = samples_wolf.body().replace(b"tag_bright", b"tag_weapon")
    put(tmp_path / "models/weapons2/gun/gun.md3")
    read("rtcw", tmp_path, weapon="gun", files={"body_mds": body})
    sizes = {str(b[PART]): np.linalg.norm(place(b)[:3, 0]) for b in bpy.data.objects if PART in b}
    assert {kind: round(float(size), 4) for kind, size in sizes.items()} == {
        "boss root": 1.25, "head": 1.25, "md3_back": 1.25, "md3_hat": 1.25, "md3_beltr": 1.25, "weapon": 1.0,
    }  # fmt: skip


def test_a_head_is_moved_by_its_own_model(tmp_path):
    text = TEXT.replace(f"{{ mesh {NEWT}/head.md5mesh }}", f"{{ mesh {NEWT}/head.md5mesh offset ( 1 2 3 ) }}")
    read("doom3", tmp_path, as_shown=False)
    before = place(next(block for block in bpy.data.objects if block.get(PART) == "head"))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    read("doom3", tmp_path / "moved", as_shown=False, files={"newt_def": text.encode()})
    after = place(next(block for block in bpy.data.objects if block.get(PART) == "head"))
    assert np.abs(after[:3, 3] - before[:3, 3] - before[:3, :3] @ [1, 2, 3]).max() < 1e-4


def test_a_preview_of_legs_and_torso_is_as_large(tmp_path):
    rig = read("rtcw", tmp_path)
    name = rig.animation_data.action.name
    before = [bone.head.copy() for bone in rig.pose.bones]
    assert bpy.ops.object.idtech_preview_torso(legs=name, torso=name) == {"FINISHED"}
    assert np.abs(np.array([bone.head for bone in rig.pose.bones]) - np.array(before)).max() < 0.05


@pytest.mark.parametrize("game", [*GAMES, "et"])
def test_side_by_side_it_stays_together(tmp_path, game):
    """What hangs on its joints and tags is no model beside it."""
    paths, placed = [], []
    put_it = samples_character.put_character if game == "et" else GAMES[game].put
    name = "" if game == "et" else GAMES[game].name
    for side_by_side in (False, True):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        paths.append(put_it(tmp_path / f"{side_by_side}"))
        assert run(filepath=str(paths[-1]), character=name, side_by_side=side_by_side) == {"FINISHED"}
        placed.append(points(None))
    for key, before in placed[0].items():
        assert np.abs(placed[1][key] - before).max() < 1e-4, key


def test_a_soldier_on_a_root_of_ones_own_is_saved(tmp_path):
    """As two that stand side by side are."""
    path = samples_character.put_character(tmp_path / "game")
    assert run(filepath=str(path)) == {"FINISHED"}
    character = chosen_character(bpy.context)
    bpy.context.view_layer.objects.active = character.rig
    assert bpy.ops.object.idtech_make_root() == {"FINISHED"}
    character.rig.parent.location.x = 40
    tag = next(block for block in bpy.data.objects if block.name == "tag_weapon")
    cube = bpy.data.objects.new("club", bpy.data.meshes.new("club"))
    cube.data.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    cube.parent = tag
    bpy.context.scene.collection.objects.link(cube)
    out = tmp_path / "out"
    assert write(filepath=str(out)) == {"FINISHED"}
    before = samples_character.files()
    found = {p.relative_to(out).as_posix(): p.read_bytes() for p in out.rglob("*") if p.is_file()}
    changed = sorted(name for name, data in found.items() if data != before.get(name))
    assert [name.rpartition("/")[2] for name in changed] == ["club.md3", "body_field.skin"]
