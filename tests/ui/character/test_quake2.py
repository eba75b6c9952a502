"""Import Character: a player of Quake II, its gun in the same frame, animations by the frames that the game has."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_idtech_models.blender import names
from io_idtech_models.blender.compat import play
from io_idtech_models.formats import by_name
from io_idtech_models.game.character.quake2 import ANIMATIONS
from io_idtech_models.tasks.animations.find import need_animations
from tests.samples import put
from tests.samples_doom3 import EXAMPLE
from tests.samples_quake2 import PLAYER, model, put_player
from tests.ui.character import games
from tests.ui.character.games import fresh, read, roots
from tests.ui.scene import activate, add_cube, bpy, export_bytes, reopen

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]


def root() -> Any:
    return roots().get("weapon")


def gun() -> Any:
    return root().children[0]


def body() -> Any:
    return root().parent


def times() -> tuple[float, float]:
    bpy.context.view_layer.update()
    graph = bpy.context.evaluated_depsgraph_get()
    return tuple(b.data.shape_keys.evaluated_get(graph).eval_time for b in (body(), gun()))


def clips() -> dict[str, Any]:
    return {names.file_name_of(action): action for action in bpy.data.actions if action.frame_range[1] < 197}


def picture() -> str:
    nodes = body().material_slots[0].material.node_tree.nodes
    return "".join(Path(node.image.name).name for node in nodes if node.type == "TEX_IMAGE" and node.image)


def test_the_skin_that_is_said_is_the_one_that_shows(tmp_path, capfd):
    path = put_player(tmp_path)
    for options, name in (({}, "rust"), ({"skin": "moss"}, "moss"), ({"skin": "FROST"}, "frost")):
        fresh()
        read(path, **options)
        assert f"1 part, skin {name}\n" in capfd.readouterr().out
        assert picture() == f"{name}.pcx"
        assert names.file_name_of(body().material_slots[0].material) == f"{PLAYER}/rust.pcx"
    for name in ("rust", "moss"):  # which the file names
        path.with_name(f"{name}.pcx").unlink()
    fresh()
    read(path)
    assert "skin frost" in capfd.readouterr().out
    assert picture() == "frost.pcx"


@pytest.mark.parametrize("odd", [False, True])
def test_animations_are_the_games_whatever_frames_are_called(tmp_path, odd, capfd):
    read(put_player(tmp_path, odd=odd))
    assert "warning" not in capfd.readouterr().out.lower()
    assert sorted(clips()) == sorted(clip.name for clip in ANIMATIONS)
    markers = {marker.name: marker.frame for marker in bpy.context.scene.timeline_markers}
    assert markers == {clip.name: clip.first for clip in ANIMATIONS}
    assert bpy.context.scene.render.fps == 10
    assert bpy.data.collections["stilt"] is not None


def test_the_gun_shows_the_bodys_frame(tmp_path):
    """It goes where the body goes, and has the body's list; a saved scene plays and writes the same."""
    read(put_player(tmp_path, odd=True))
    in_step()
    activate(body())
    play(body().data.shape_keys, clips()["run"])
    bpy.context.scene.frame_set(2)
    assert times() == (42.0, 42.0)
    activate(gun())
    animations = need_animations(bpy.context)
    rows = animations.rows()
    assert [row.name for row in rows if not row.whole] == [clip.name for clip in ANIMATIONS]
    animations.play(next(row for row in rows if row.name == "jump"), bpy.context.scene)
    bpy.context.scene.frame_set(1)
    assert times() == (67.0, 67.0)
    body().location = (7.0, 8.0, 9.0)
    bpy.context.view_layer.update()
    assert tuple(gun().matrix_world.translation) == (7.0, 8.0, 9.0)
    reopen(tmp_path)
    bpy.context.scene.frame_set(2)
    assert times() == (68.0, 68.0)
    activate(gun())
    assert export_bytes(tmp_path / "out.md2") == model()


def shown(block: Any, frames: Any) -> np.ndarray[Any, Any]:
    """Return where a mesh's points are in frames of it, (F, P, 3)."""
    keys = block.data.shape_keys.key_blocks
    found = np.empty((len(keys), len(block.data.vertices), 3), np.float32)
    for key, points in zip(keys, found, strict=True):
        key.points.foreach_get("co", points.ravel())
    return found[list(frames)]


def in_step() -> None:
    bpy.context.scene.frame_set(57)
    assert times() == (57.0, 57.0)


def insert() -> list[int]:
    bpy.context.scene.frame_set(3)
    assert bpy.ops.object.idtech_insert_frame() == {"FINISHED"}
    return [0, 1, 2, 3, *range(3, 198)]


def delete() -> list[int]:
    bpy.context.scene.frame_set(3)
    assert bpy.ops.object.idtech_delete_frame() == {"FINISHED"}
    return [0, 1, 2, *range(4, 198)]


def move_animation() -> list[int]:
    animations = need_animations(bpy.context)
    animations.move(next(row for row in animations.rows() if row.name == "run"), 1)
    return [*range(40), *range(46, 54), *range(40, 46), *range(54, 198)]


def copy_animation() -> list[int]:
    animations = need_animations(bpy.context)
    animations.duplicate(next(row for row in animations.rows() if row.name == "run"), "trot")
    return [*range(46), *range(40, 46), *range(46, 198)]


@pytest.mark.parametrize("of", [body, gun])
@pytest.mark.parametrize("edit", [insert, delete, move_animation, copy_animation])
def test_frames_of_body_and_gun_are_edited_together(tmp_path, edit, of):
    read(put_player(tmp_path, odd=True))
    add_cube("a mesh that Blender lists first")
    activate(of())
    before = [shown(block, range(198)) for block in (body(), gun())]
    order = edit()
    for block, old in zip((body(), gun()), before, strict=True):
        assert np.array_equal(shown(block, range(len(order))), old[order])
    in_step()
    assert bpy.context.scene.frame_end == len(order) - 1


@pytest.mark.parametrize(
    ("edit", "order"),
    [
        (insert, [0, 1, 2, 3, *range(3, 43)]),
        (move_animation, [*range(40), *[0] * 8, 40, 41, 42]),  # where it has no frame a game shows its first
    ],
)
def test_a_gun_with_fewer_frames_stays_in_step(tmp_path, edit, order):
    read(put_player(tmp_path, weapon_md2=model(43)))
    activate(body())
    old = shown(gun(), range(43))
    edit()
    assert np.array_equal(shown(gun(), range(len(order))), old[order])
    assert len(gun().data.shape_keys.key_blocks) == len(order)
    in_step()


def test_a_gun_with_a_modifier_is_written_in_all_of_its_frames(tmp_path):
    """What is sampled shows each frame, whatever the body plays."""
    read(put_player(tmp_path))
    written = []
    for block in (gun(), body()):
        block.modifiers.new("Smooth", "SMOOTH").factor = 0.5
        activate(block)
        written.append(export_bytes(tmp_path / "out.md2"))
    assert written[0] == written[1], "the same model in the same frames"


def test_another_gun_or_none(tmp_path, capfd):
    path = put_player(tmp_path)
    read(path, weapon="W_Railgun")
    assert "w_railgun" in gun().name
    read(path, weapon="w_bfg")
    assert "there is no weapon 'w_bfg': 'weapon', 'w_railgun'" in capfd.readouterr().out
    fresh()
    read(path, weapon="none")
    assert root() is None


def test_fewer_frames_than_the_game_plays(tmp_path, capfd):
    read(put_player(tmp_path, frames=60))
    said = capfd.readouterr().out
    assert "tris.md2: 60 frames, of which the game plays 198" in said
    assert "weapon.md2 has 198 frames, the body 60" in said
    assert {"stand", "run", "attack"} <= set(clips())


def put_remaster(folder: Path) -> None:
    """Put a model of the remaster into a folder."""
    for name, own in (("tris.md5mesh", "newt.md5mesh"), ("tris.md5anim", "walk.md5anim")):
        put(folder / name, (EXAMPLE / own).read_bytes())


def test_the_remasters_model(tmp_path, capfd):
    """It is written into its own folder, beside the player's."""
    path = put_player(tmp_path)
    read(path, remaster=True)
    assert "there is no other body with bones" in capfd.readouterr().out
    fresh()
    folder = path.parent / "md5"
    put_remaster(folder)
    rig = games.opened(path, remaster=True, skin="moss")
    assert rig.animation_data.action is not None
    nodes = rig.children[0].material_slots[0].material.node_tree.nodes
    assert [Path(n.image.name).name for n in nodes if n.type == "TEX_IMAGE" and n.image] == ["moss.pcx"]
    assert [row.name for row in need_animations(bpy.context).rows() if not row.whole][:1] == ["stand"]
    before = {each.name: each.read_bytes() for each in folder.iterdir()}
    for place in folder.iterdir():
        place.unlink()
    for kind, name in (("scene", "md5mesh"), ("anim", "md5anim")):
        export = getattr(getattr(bpy.ops, f"export_{kind}"), f"idtech_{name}")
        assert export(filepath=str(path.parent / f"tris.{name}"), game="quake2remaster") == {"FINISHED"}
    assert {each.name: each.read_bytes() for each in folder.iterdir()} == before


@pytest.mark.parametrize("there", [b"", b'{"head": {"1": 2}}'])
@pytest.mark.parametrize("now", [1.0, 2.0, 3.0])
def test_how_large_bones_of_the_remasters_model_are_is_saved_with_nothing_else(tmp_path, capfd, there, now):
    path = put_player(tmp_path)
    put_remaster(path.parent / "md5")
    if there:
        put(path.parent / "md5/tris.md5scale", there)
    bone = games.opened(path, remaster=True).pose.bones["head"]
    for frame, size in ((0, 1.0), (1, now), (2, 1.0)):
        bone.scale = (size, size, size)
        bone.keyframe_insert("scale", frame=frame)
    capfd.readouterr()
    found = saved(tmp_path / "out")
    is_edited = now != (2.0 if there else 1.0)
    assert ("edited: 'tris.md5scale'" if is_edited else "edited: nothing") in capfd.readouterr().out
    assert found["tris.md5anim"] == (EXAMPLE / "walk.md5anim").read_bytes()
    said = json.loads(found.get("tris.md5scale", there or b"{}"))
    assert said == ({"head": {"1": now}} if now != 1.0 else {})
    assert not there or is_edited or found["tris.md5scale"] == there


def saved(folder: Path) -> dict[str, bytes]:
    return {name.rpartition("/")[2]: data for name, data in games.saved(folder).items()}


def in_the_file(data: bytes, frame: int) -> Any:
    (surface,) = by_name("md2").load(data, "").surfaces
    return surface.positions[frame].astype(np.float64)


def in_the_scene(block: Any, frame: int, space: Any = None) -> Any:
    own = block.matrix_world if space is None else space.matrix_world.inverted() @ block.matrix_world
    matrix = np.array(own)
    return shown(block, [frame])[0] @ matrix[:3, :3].T + matrix[:3, 3]


def farthest(file: Any, scene: Any) -> float:
    """Return how far a point of one is from the nearest of the other."""
    off = np.abs(file[:, None] - scene[None]).max(axis=2)
    return float(max(off.min(axis=0).max(), off.min(axis=1).max()))


@pytest.mark.parametrize("how", ["body", "root", "rooted"])
def test_the_gun_is_saved_where_it_is_shown(tmp_path, how):
    """The game knows no tag between them: what is moved of one against the other is in the files."""
    read(put_player(tmp_path))
    activate(body())
    space = None
    if how == "rooted":
        assert bpy.ops.object.idtech_make_root() == {"FINISHED"}
        space = body().parent
        space.location, space.rotation_euler = (50, 0, 0), (0, 0, 1)
        assert saved(tmp_path / "same")["weapon.md2"] == saved(tmp_path / "same")["tris.md2"] == model()
    moved = root() if how == "root" else body()
    moved.location, moved.rotation_euler, moved.scale = (1, 2, 4), (0, 0, 0.5), (1.2, 1.2, 1.2)
    bpy.context.view_layer.update()
    found = saved(tmp_path / "out")
    assert (found["tris.md2"] == model()) == (how == "root")
    for name, block in (("tris.md2", body()), ("weapon.md2", gun())):
        for frame in (0, 57):
            assert farthest(in_the_file(found[name], frame), in_the_scene(block, frame, space)) < 0.2
    assert tuple(gun().matrix_parent_inverse.translation) == (0, 0, 0)


@pytest.mark.parametrize("how", ["all", "mesh"])
def test_a_gun_that_is_deleted_is_saved_as_it_was(tmp_path, how, capfd):
    """Without weapon.md2 the game shows another player."""
    read(put_player(tmp_path / "game"))
    stays = body()
    bpy.data.batch_remove([gun()] if how == "mesh" else [gun(), root()])
    bpy.context.view_layer.update()
    activate(stays)
    assert saved(tmp_path / "out")["weapon.md2"] == model()
    assert "weapon is not in the scene: its file and what names it stay as they were" in capfd.readouterr().out


def test_a_mesh_that_hangs_on_the_body_goes_into_its_file_wherever_it_lies(tmp_path):
    read(put_player(tmp_path / "game"))
    add_cube("hat").parent = body()
    activate(body())
    found = saved(tmp_path / "out")
    (before,), (after,) = (by_name("md2").load(data, "").surfaces for data in (model(), found["tris.md2"]))
    assert len(after.triangles) == len(before.triangles) + 12
    assert found["weapon.md2"] == model()
