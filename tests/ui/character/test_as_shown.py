"""Import Character: as large as the game shows it, and there, while its files are as they were."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_idtech_models.blender.provenance import PART
from io_idtech_models.blender.skeletal.hung import joint_at_rest
from io_idtech_models.tasks.character.exports import chosen_character
from tests import samples_wolf, samples_xreal
from tests.packs import put_files
from tests.samples import put
from tests.samples_doom3 import EXAMPLE, NEWT, TEXT
from tests.ui.character.games import GAMES, changed, fresh, opened, place, roots, saved, tag
from tests.ui.scene import activate, add_cube, bpy, reopen

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]


@dataclass(frozen=True)
class Shown:
    """How a game shows its sample: its size, what stays where it is, how far it is moved."""

    scale: float
    still: tuple[float, float, float] | None
    moved: tuple[float, float, float]


SHOWN = {
    "doom3": Shown(1.0, None, (0, 0, -2)),
    "xreal": Shown(0.83, None, (0, 0, 0)),
    "rtcw": Shown(1.25, (0, 0, -24), (0, 0, 0)),
}


def brought(game: str, folder: Path, **options: Any) -> Any:
    """Import a sample into a new scene; returns the body's armature, which is active."""
    fresh()
    return opened(GAMES[game].put(folder, **options.pop("files", {})), game, **options)


def points() -> Any:
    """Return where the points of all meshes are in the world, by object."""
    found = {}
    for block in (block for block in bpy.data.objects if block.type == "MESH"):
        matrix = place(block)
        shown = block.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found[block.name] = np.array([vertex.co for vertex in shown.data.vertices]) @ matrix[:3, :3].T + matrix[:3, 3]
    return found


@pytest.mark.parametrize("scale", [1.0, 0.5])
@pytest.mark.parametrize("game", SHOWN)
def test_all_of_it_is_where_the_game_shows_it(tmp_path, game, scale, capfd):
    rig = brought(game, tmp_path, as_shown=False, scale=scale)
    assert rig.parent is None
    assert "which the game shows " in capfd.readouterr().out
    first = next(bone for bone in rig.data.bones if bone.parent is None)
    how = SHOWN[game]
    still = joint_at_rest(first)[:3, 3] if how.still is None else np.array(how.still) * scale
    plain = points()
    rig = brought(game, tmp_path, scale=scale)
    assert ", as the game shows it" in capfd.readouterr().out
    assert rig.parent[PART] == f"{chosen_character(bpy.context).name} root"
    shown = points()
    assert shown.keys() == plain.keys() and len(shown) >= (1 if game == "xreal" else 3)
    for name, before in plain.items():
        wanted = still + how.scale * (before - still) + np.array(how.moved) * scale
        assert np.abs(shown[name] - wanted).max() < 1e-4, name


def test_xreal_keeps_the_first_joint_where_it_is(tmp_path):
    mesh = (EXAMPLE / "newt.md5mesh").read_bytes()
    start = mesh.index(b"(", mesh.index(b'"origin"'))
    mesh = mesh[:start] + b"( 0 0 10 )" + mesh[mesh.index(b")", start) + 1 :]
    rig = brought("xreal", tmp_path, files={"body_md5mesh": mesh})
    rig.data.pose_position = "REST"
    first = next(bone for bone in rig.data.bones if bone.parent is None)
    assert np.abs((place(rig) @ joint_at_rest(first))[:3, 3] - [0, 0, 10]).max() < 1e-4
    assert np.abs(np.array(rig.parent.location) - [0, 0, 1.7]).max() < 1e-5


def test_what_the_game_shows_as_the_files_are_has_no_root(tmp_path, capfd):
    brought("et", tmp_path)
    assert chosen_character(bpy.context).root is None
    assert "as the game shows it" not in capfd.readouterr().out
    text = samples_xreal.CFG.replace("0.83 0.83 0.83", "0.8 0.8 0.9")
    assert brought("xreal", tmp_path / "x", files={"character_cfg": text.encode()}).parent is None
    assert "unevenly, here it has the size of its files" in capfd.readouterr().out


@pytest.mark.parametrize("game", ["doom3", "xreal"])
def test_motions_are_as_they_were(tmp_path, game):
    rig = brought(game, tmp_path)
    for x in (0, 1):  # against its root: an edit, as ever
        rig.location.x = x
        assert bpy.ops.export_anim.idtech_md5anim(filepath=str(tmp_path / "x.md5anim")) == {"FINISHED"}
        assert ((tmp_path / "x.md5anim").read_bytes() == (EXAMPLE / "idle.md5anim").read_bytes()) == (x == 0)


@pytest.mark.parametrize("game", SHOWN)
def test_an_edit_gives_the_same_file_however_it_is_shown(tmp_path, game):
    found = []
    for as_shown in (True, False):
        folder = tmp_path / f"{as_shown}"
        rig = brought(game, folder / "game", as_shown=as_shown)
        next(block for block in rig.children if block.type == "MESH").data.vertices[0].co.z += 3.0
        reopen(folder)
        bpy.context.view_layer.objects.active = chosen_character(bpy.context).rig
        found.append(saved(folder / "out", edited_only=True))
    edited = [name for name in found[0] if not name.endswith("anim")]  # whose bounds may grow with the body
    assert found[0] == found[1] and len(edited) == 1


def test_a_weapon_in_hand_has_its_own_size(tmp_path):
    body = samples_wolf.body().replace(b"tag_bright", b"tag_weapon")
    put(tmp_path / "models/weapons2/gun/gun.md3")
    rig = brought("rtcw", tmp_path, weapon="gun", files={"body_mds": body})
    sizes = {kind: float(np.linalg.norm(place(root)[:3, 0])) for kind, root in roots().items()}
    assert sizes == pytest.approx(dict.fromkeys(("head", "md3_back", "md3_hat", "md3_beltr"), 1.25) | {"weapon": 1.0})
    assert np.linalg.norm(place(rig.parent)[:3, 0]) == pytest.approx(1.25)


def test_a_head_is_moved_by_its_own_model(tmp_path):
    text = TEXT.replace(f"{{ mesh {NEWT}/head.md5mesh }}", f"{{ mesh {NEWT}/head.md5mesh offset ( 1 2 3 ) }}")
    brought("doom3", tmp_path, as_shown=False)
    before = place(roots()["head"])
    brought("doom3", tmp_path / "moved", as_shown=False, files={"newt_def": text.encode()})
    after = place(roots()["head"])
    assert np.abs(after[:3, 3] - before[:3, 3] - before[:3, :3] @ [1, 2, 3]).max() < 1e-4


def test_a_preview_of_legs_and_torso_is_as_large(tmp_path):
    rig = brought("rtcw", tmp_path)
    name = rig.animation_data.action.name
    before = [bone.head.copy() for bone in rig.pose.bones]
    assert bpy.ops.object.idtech_preview_torso(legs=name, torso=name) == {"FINISHED"}
    assert np.abs(np.array([bone.head for bone in rig.pose.bones]) - np.array(before)).max() < 0.05


@pytest.mark.parametrize("game", [*SHOWN, "et"])
def test_side_by_side_it_stays_together(tmp_path, game):
    """What hangs on its joints and tags is no model beside it."""
    placed = []
    for side_by_side in (False, True):
        brought(game, tmp_path / f"{side_by_side}", side_by_side=side_by_side)
        placed.append(points())
    for key, before in placed[0].items():
        assert np.abs(placed[1][key] - before).max() < 1e-4, key


def test_a_soldier_on_a_root_of_ones_own_is_saved(tmp_path):
    """As two that stand side by side are."""
    rig = brought("et", tmp_path / "game")
    assert bpy.ops.object.idtech_make_root() == {"FINISHED"}
    rig.parent.location.x = 40
    add_cube("club").parent = tag("tag_weapon")
    activate(rig)
    found = changed(saved(tmp_path / "out"))
    assert [name.rpartition("/")[2] for name in found] == ["club.md3", "body_field.skin"]


@pytest.mark.parametrize("hung", [True, False])
def test_a_mesh_that_bones_bend_is_written_where_it_is_shown(tmp_path, hung):
    """Whether it hangs on the armature, which is larger in the game, or lies in the world with a modifier alone."""
    rig = brought("rtcw", tmp_path)
    block = add_cube("own")
    block.location = 10.0, 20.0, 30.0
    block.vertex_groups.new(name=rig.data.bones[0].name).add(range(8), 1.0, "REPLACE")
    block.modifiers.new("bones", "ARMATURE").object = rig
    rig.users_collection[0].objects.link(block)
    if hung:
        block.parent, block.matrix_parent_inverse = rig, rig.matrix_world.inverted()
    shown = points()["own"]
    activate(rig)
    put_files(tmp_path, saved(tmp_path / "saved"))
    place = GAMES["rtcw"].put(tmp_path / "names").relative_to(tmp_path / "names")
    fresh()
    opened(tmp_path / place, "rtcw")
    again = points()["own"]
    assert again.min(axis=0) == pytest.approx(shown.min(axis=0), abs=0.05)
    assert again.max(axis=0) == pytest.approx(shown.max(axis=0), abs=0.05)


@pytest.mark.parametrize("where", ["world", "root"])
@pytest.mark.parametrize("game", [*SHOWN, "et"])
def test_what_modifiers_look_at_stays_where_it_is_against_the_mesh(tmp_path, game, where):
    """While a model is written it is taken off what it stands on, and so out of the place that the target is in."""
    rig = brought(game, tmp_path / "game")
    stands = rig.parent or rig
    stands.location.x += 30.0
    bpy.context.view_layer.update()
    target = bpy.data.objects.new("target", None)
    bpy.context.scene.collection.objects.link(target)
    target.location = place(stands)[:3, 3] + [2.0, 0.0, 0.0]
    target.rotation_euler.z = 0.3
    if where == "root":
        target.parent = bpy.data.objects.new("holder", None)
        bpy.context.scene.collection.objects.link(target.parent)
    mesh = next(block for block in rig.children if block.type == "MESH")
    hook = mesh.modifiers.new("pull", "HOOK")
    hook.object, hook.strength = target, 0.5
    group = mesh.vertex_groups.new(name="pulled")
    group.add(range(len(mesh.data.vertices)), 1.0, "REPLACE")
    hook.vertex_group = group.name
    mesh.modifiers.move(1, 0)
    rig.data.pose_position = "REST"
    bpy.context.view_layer.update()
    shown = against(stands, points()[mesh.name])
    activate(rig)
    found = saved(tmp_path / "out")
    assert np.abs(place(target)[:3, 3] - place(stands)[:3, 3] - [2.0, 0.0, 0.0]).max() < 1e-5
    put_files(tmp_path / "game", found)
    at = GAMES[game].put(tmp_path / "names").relative_to(tmp_path / "names")
    fresh()
    rig = opened(tmp_path / "game" / at, game)
    rig.data.pose_position = "REST"
    mesh = next(block for block in rig.children if block.type == "MESH")
    again = against(rig.parent or rig, points()[mesh.name])
    assert again.min(axis=0) == pytest.approx(shown.min(axis=0), abs=0.1)
    assert again.max(axis=0) == pytest.approx(shown.max(axis=0), abs=0.1)


def against(block: Any, shown: Any) -> Any:
    """Return points of the world as they are in an object's space."""
    home = np.linalg.inv(place(block))
    return shown @ home[:3, :3].T + home[:3, 3]
