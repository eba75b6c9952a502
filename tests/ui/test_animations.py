"""The list of a model's animations: what it has of them, and what becomes of files when it is changed."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from io_idtech_models.blender.compat import fill_slot, new_curves, playing_curves
from io_idtech_models.blender.curves import add_curve
from io_idtech_models.blender.playback import keep
from io_idtech_models.blender.vertex.frame_plan import GatherSettings
from io_idtech_models.blender.vertex.shown_keys import shown_key
from io_idtech_models.formats import by_name
from io_idtech_models.formats.md2 import file as md2
from io_idtech_models.formats.md3 import file as md3
from io_idtech_models.model.clips import group
from io_idtech_models.tasks.animations.find import animations_of, need_animations
from io_idtech_models.ui.animations import shown, ticks
from tests import samples_md5, samples_mdm
from tests.packs import put_pack
from tests.samples import PROJECT, SENTINEL, load, put, sample
from tests.samples_player import player_files
from tests.ui.player.players import brought, game, saved
from tests.ui.scene import activate, add_cube, bpy, error_of, export_bytes, import_frames, import_model, reopen

pytestmark = pytest.mark.usefixtures("empty_scene")
TABLE = "stand 0 2 2 15 0 100 0\nrun 2 3 0 21 127 50 0\nlate 5 1 0 10 0 0 1\n"
add, remove, play, move, duplicate, rename = (
    getattr(bpy.ops.object, f"idtech_animation_{name}")
    for name in ("add", "remove", "play", "move", "duplicate", "rename")
)


def rows() -> list[Any]:
    return need_animations(bpy.context).rows()


def names() -> list[str]:
    return [row.label for row in rows()]


def playing() -> str:
    return str(need_animations(bpy.context).playing()[0].name)


def span() -> tuple[int, int]:
    return bpy.context.scene.frame_start, bpy.context.scene.frame_end


@pytest.fixture(params=[False, True], ids=["absolute", "relative"])
def monster(request, tmp_path):
    """Return the bytes of an MD2 with animations, which is in the scene."""
    import_frames(put(tmp_path / "a.md2"), relative_keys=request.param)
    return tmp_path


def frames_of(data: bytes) -> list[tuple[str, bytes]]:
    """Return the frames of an MD2: which animation each is of, and where its vertices are."""
    file = md2.read(data)
    called = [name.partition(b"\0")[0].decode() for name in file.frames["name"].tolist()]
    belongs = [clip.name for clip in group(called) for _ in clip.frames]
    return [(name, frame.tobytes()) for name, frame in zip(belongs, file.vertices, strict=True)]


def motion_bytes(path: Any) -> bytes:
    assert bpy.ops.export_anim.idtech_md5anim(filepath=str(path)) == {"FINISHED"}
    return bytes(path.read_bytes())


def import_arm(folder: Any, *motions: str) -> Any:
    """Import an armature with its animations, which is active then; returns that."""
    files = {"wave": samples_md5.wave(), "nod": samples_md5.wave_spec(2).pack()}
    for name in motions or ("wave",):
        put(folder / f"{name}.md5anim", files[name])
    made = import_model(put(folder / "arm.md5mesh", samples_md5.arm()))
    rig = next(block for block in made.objects if block.type == "ARMATURE")
    activate(rig)
    return rig


def written(folder: Any, **options: Any) -> list[tuple[str, bytes]]:
    return frames_of(export_bytes(folder / "b.md2", **options))


def test_a_models_animations_are_listed_and_played(monster):
    (whole, _, end), *found = [(row.label, row.first, row.last) for row in rows()]
    clips = group([name.partition(b"\0")[0].decode() for name in md2.read(sample("animated", "md2")).frames["name"]])
    assert whole == "All Frames"
    assert found == [(clip.name, clip.first, clip.first + clip.count - 1) for clip in clips]
    bpy.context.scene.frame_set(end)
    first, _, last = found[0]
    assert play(name=first) == {"FINISHED"}
    assert (playing(), span()) == (first, (0, last))
    assert bpy.context.scene.frame_current == 0, "the frame was outside"
    assert export_bytes(monster / "b.md2") == sample("animated", "md2"), "which changes nothing"
    assert play(name="All Frames") == {"FINISHED"}
    assert span() == (0, end)
    assert "there is no animation 'gone'" in error_of(play, name="gone")
    assert play(name=found[1][0]) == {"FINISHED"}
    bpy.context.scene.frame_set(1)
    assert play(name="All Frames") == {"FINISHED"}
    assert bpy.context.scene.frame_current == found[1][1] + 1, "what was seen there is at hand to be edited"


def seen() -> Any:
    """Return the points of the first mesh in the scene's second frame."""
    bpy.context.scene.frame_set(1)
    mesh = next(block for block in bpy.context.scene.objects if block.type == "MESH")
    data = mesh.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    return np.array([vertex.co for vertex in data.vertices])


def test_a_copy_of_an_action_is_ones_own(monster, tmp_path):
    """As *New Action* makes one of that which plays: nothing but a track keeps it."""
    first, second = names()[1:3]
    assert play(name=first) == {"FINISHED"}
    owner = need_animations(bpy.context).lead  # type: ignore[attr-defined]
    mine = owner.animation_data.action.copy()
    mine.name, owner.animation_data.action = "mine", mine
    assert play(name=second) == {"FINISHED"}
    reopen(tmp_path)
    assert "mine" in names()
    assert play(name="mine") == {"FINISHED"}
    assert playing() == "mine"


@pytest.mark.parametrize("moved_by", ["keys", "bones"])
def test_a_track_that_plays_alone_hides_no_animation(tmp_path, moved_by):
    if moved_by == "bones":
        owner = import_arm(tmp_path, "wave", "nod")
    else:
        import_frames(put(tmp_path / "a.md2"))
        owner = need_animations(bpy.context).lead  # type: ignore[attr-defined]
    first, second = names()[-2:]
    assert play(name=second) == {"FINISHED"}
    wanted = seen()
    assert play(name=first) == {"FINISHED"}
    for point in (point for curve in playing_curves(owner) for point in curve.keyframe_points):
        point.co.y += 0.4
    track = owner.animation_data.nla_tracks.new()
    strip = track.strips.new("alone", 0, owner.animation_data.action)
    fill_slot(strip, owner.animation_data.action)
    track.is_solo = True
    assert np.abs(seen() - wanted).max() > 0.01
    assert play(name=second) == {"FINISHED"}
    assert seen() == pytest.approx(wanted)
    assert not track.is_solo


@pytest.mark.parametrize("click", [play, remove, duplicate, add], ids=["play", "remove", "duplicate", "add"])
@pytest.mark.parametrize("moved_by", ["keys", "bones"])
def test_in_the_tweak_mode_of_the_nla_editor_the_list_leaves_all_as_it_is(tmp_path, moved_by, click):
    if moved_by == "bones":
        owner = import_arm(tmp_path, "wave", "nod")
    else:
        import_frames(put(tmp_path / "a.md2"))
        owner = need_animations(bpy.context).lead  # type: ignore[attr-defined]
    first, second = names()[-2:]
    assert play(name=first) == {"FINISHED"}
    track = owner.animation_data.nla_tracks.new()
    strip = track.strips.new("strip", 0, owner.animation_data.action)
    fill_slot(strip, owner.animation_data.action)
    track.select = strip.select = True
    owner.animation_data.nla_tracks.active = track
    owner.animation_data.use_tweak_mode = True
    if not owner.animation_data.use_tweak_mode:
        pytest.skip("a script can't enter it here")
    before = [*bpy.data.actions]
    for name in (first, second):
        assert "is in the tweak mode of the NLA editor: leave it first" in error_of(click, name=name)
    assert names()[-2:] == [first, second]
    assert [*bpy.data.actions] == before
    assert [len(track.strips) for track in owner.animation_data.nla_tracks][-1] == 1


def test_animations_move_with_their_frames(monster):
    before = frames_of(sample("animated", "md2"))
    _, first, second, *_ = names()
    assert move(name=second, direction="UP") == {"FINISHED"}
    assert names()[1:3] == [second, first]
    own, other = ([pair for pair in before if pair[0] == name] for name in (second, first))
    assert written(monster) == [*own, *other, *before[len(own) + len(other) :]]
    assert written(monster, frames="ACTIONS") == written(monster)
    assert "is the first animation already" in error_of(move, name=second, direction="UP")
    assert move(name=second, direction="DOWN") == {"FINISHED"}
    assert export_bytes(monster / "c.md2") == sample("animated", "md2")


def test_with_the_last_frame_of_what_plays_all_frames_play_again(monster):
    whole, first, *rest = names()
    assert play(name=first) == {"FINISHED"}
    while span()[1] > 0:
        assert bpy.ops.object.idtech_delete_frame() == {"FINISHED"}
    left = len(rows()[0].frames)
    assert bpy.ops.object.idtech_delete_frame() == {"FINISHED"}
    assert names() == [whole, *rest]
    assert need_animations(bpy.context).playing() == [rows()[0].action]
    assert span() == (0, left - 2)
    assert len(written(monster)) == left - 1


def test_a_copy_has_frames_of_its_own_and_goes_with_them(monster):
    before = frames_of(sample("animated", "md2"))
    first = names()[1]
    own = [data for name, data in before if name == first]
    assert duplicate(name=first, copy="other") == {"FINISHED"}
    assert (names()[1:3], playing()) == ([first, "other"], "other")
    after = written(monster)
    rest = [name for name, _ in before[len(own) :]]
    assert [name for name, _ in after] == [*[first] * len(own), *["other"] * len(own), *rest]
    assert [pair for pair in after if pair[0] != "other"] == before
    keys = need_animations(bpy.context).lead.key_blocks  # type: ignore[attr-defined]
    points = np.array([[tuple(point.co) for point in key.points] for key in keys])[-len(before) - len(own) :]
    assert np.array_equal(points[: len(own)], points[len(own) : 2 * len(own)])
    for name, left in (("other", before), (first, before[len(own) :])):
        assert remove(name=name) == {"FINISHED"}
        assert written(monster) == left


def test_a_name_is_its_frames_and_its_markers_too(monster):
    before = frames_of(sample("animated", "md2"))
    first = names()[1]
    assert rename(name=first, to="dance") == {"FINISHED"}
    assert names()[1] == "dance"
    assert "dance" in marker_frames()
    for mode in ("AUTO", "ACTIONS"):
        assert written(monster, frames=mode) == [("dance" if n == first else n, data) for n, data in before]
    assert play(name=names()[2]) == {"FINISHED"}
    assert written(monster)[0][0] == "dance", "whatever plays"


def test_an_animation_of_frames_that_have_one_takes_none_away(monster, capfd):
    count = len(written(monster))
    assert add(name="part", first=1, last=2) == {"FINISHED"}
    assert "'part' shows frames of " in capfd.readouterr().out
    row = need_animations(bpy.context).find("part")
    assert (row.first, row.last, playing()) == (1, 2, "part")
    assert "share frames" in error_of(move, name=names()[1], direction="DOWN")
    assert remove(name="part") == {"FINISHED"}
    assert len(written(monster)) == count
    assert "there are no frames 0 to 99" in error_of(add, name="far", first=0, last=99)


def test_what_was_chosen_by_markers_is_offered(monster):
    """Those of the import nobody has chosen: else it is the scene's range."""
    scene = bpy.context.scene
    assert len(scene.timeline_markers) > 1

    def added(name: str) -> tuple[int, int]:
        assert add(name=name) == {"FINISHED"}
        row = need_animations(bpy.context).find(name)
        return row.first, row.last

    assert added("all") == (scene.frame_start, scene.frame_end)
    for frame in (2, 1):
        scene.timeline_markers.new("x", frame=frame).select = True
    assert added("by markers") == (1, 2)


def tooltip(name: str, what: str) -> str:
    kind = getattr(bpy.types, f"OBJECT_OT_idtech_animation_{what}")
    return str(kind.description(bpy.context, SimpleNamespace(name=name)))


def test_a_button_that_can_not_be_pressed_says_why(monster, tmp_path):
    shown.refresh(bpy.context)
    whole, first = rows()[:2]
    assert tooltip(first.key, "remove").endswith("no other animation shows")
    assert tooltip(whole.key, "remove").endswith("Click an animation in the list first")
    import_arm(tmp_path)
    shown.refresh(bpy.context)
    assert tooltip(rows()[0].key, "duplicate").endswith("of its own")
    assert tooltip(rows()[0].key, "move").endswith("each is a file of its own, they have no order")


def marker_frames() -> dict[str, int]:
    return {marker.name: marker.frame for marker in bpy.context.scene.timeline_markers}


def test_a_name_that_another_animation_has_is_said(monster, capfd):
    first, second = [row.name for row in need_animations(bpy.context).rows() if not row.whole]
    said = f"'{second}' is the name of several animations: games find the first"
    capfd.readouterr()
    assert bpy.ops.object.idtech_animation_duplicate(name=first, copy=second.upper()) == {"FINISHED"}
    assert said in capfd.readouterr().out
    assert bpy.ops.object.idtech_animation_duplicate(name=first, copy="third") == {"FINISHED"}
    assert "of several" not in capfd.readouterr().out, "which was said before"
    assert bpy.ops.object.idtech_animation_rename(name="third", to=second) == {"FINISHED"}
    assert said in capfd.readouterr().out


def test_markers_name_what_plays(monster):
    home = marker_frames()
    other = rows()[2]
    assert home[other.name] == other.first > 0
    bpy.context.scene.timeline_markers.new("mine", frame=3)
    assert play(name=other.name) == {"FINISHED"}
    moved = marker_frames()
    assert span()[0] == moved[other.name] == 0, "the header shows the marker before the present frame"
    assert moved == {name: frame - other.first for name, frame in home.items()} | {"mine": 3}
    first = rows()[1]
    assert play(name=first.name) == {"FINISHED"}
    assert marker_frames() == home | {"mine": 3}
    assert play(name=other.name) == {"FINISHED"}
    assert rename(name=other.name, to="dance") == {"FINISHED"}
    assert marker_frames()["dance"] == 0
    assert duplicate(name="dance", copy="copy") == {"FINISHED"}
    copy = need_animations(bpy.context).find("copy")
    assert marker_frames()["copy"] == 0
    assert marker_frames()["dance"] == need_animations(bpy.context).find("dance").first - copy.first
    bpy.context.scene.frame_set(0)
    assert bpy.ops.object.idtech_insert_frame() == {"FINISHED"}
    assert play(name="All Frames") == {"FINISHED"}
    at = marker_frames()
    at.pop("mine")
    assert at == {row.name: row.first for row in rows() if not row.whole}


def test_every_scene_that_shows_the_model_has_its_markers_and_range(monster):
    first, home, active = bpy.context.scene, marker_frames(), bpy.context.object
    bpy.ops.scene.new(type="LINK_COPY")
    second = bpy.context.scene
    activate(active)
    ranges = []

    def agree() -> None:
        told = [{m.name: m.frame for m in scene.timeline_markers} for scene in (first, second)]
        assert told[0] == told[1]
        ranges.append([(scene.frame_start, scene.frame_end) for scene in (first, second)])

    agree()
    assert bpy.ops.object.idtech_insert_frame() == {"FINISHED"}
    agree()
    assert marker_frames() != home
    assert rename(name=rows()[2].name, to="dance") == {"FINISHED"}
    assert duplicate(name="dance", copy="copy") == {"FINISHED"}
    agree()
    assert {"dance", "copy"} < set(marker_frames())
    assert remove(name="dance") == {"FINISHED"}
    agree()
    assert ranges[:2] == [[(0, 4)] * 2, [(0, 5)] * 2]
    assert ranges[2] == [(0, 7), (0, 1)], "a copy plays, and who looks at the other scene goes on to see all"
    assert ranges[3][0] == (0, 5)


def test_scenes_that_show_the_model_otherwise_keep_their_markers_and_range(monster):
    """Another plays there, in a range of its own."""
    active, first = bpy.context.object, bpy.context.scene
    second = bpy.data.scenes.new("shot")
    second.collection.children.link(active.users_collection[0])
    second.frame_start, second.frame_end = 1, 20
    second.timeline_markers.new("cut", frame=3)
    first.frame_set(0)
    assert bpy.ops.object.idtech_insert_frame() == {"FINISHED"}
    assert duplicate(name=rows()[2].name, copy="copy") == {"FINISHED"}
    assert ("copy" in first.timeline_markers, len(second.timeline_markers)) == (True, 1)
    assert (second.frame_start, second.frame_end, second.timeline_markers[0].frame) == (1, 20, 3)


@pytest.fixture
def figure(tmp_path):
    """Return a folder with an armature's frames and their table, which are in the scene."""
    put(tmp_path / "walk.mdx", samples_mdm.walk())
    (tmp_path / "walk.aninc").write_text(TABLE, encoding="utf-8")
    assert bpy.ops.import_anim.idtech_mdx(filepath=str(tmp_path / "walk.mdx")) == {"FINISHED"}
    return tmp_path


def test_rows_of_a_table(figure):
    assert [(r.label, r.first, r.last, r.frame_rate, r.loop) for r in rows()[1:]] == [
        ("stand", 0, 1, 15, 2), ("run", 0, 2, 21, 0), ("late", 0, 0, 10, 0),
    ]  # fmt: skip
    assert play(name="run") == {"FINISHED"}
    assert (playing(), span()) == ("run", (0, 2))
    assert move(direction="UP") == {"FINISHED"}
    assert rename(to="haste") == {"FINISHED"}
    assert duplicate(copy="haste2") == {"FINISHED"}
    assert add(name="piece", first=1, last=2) == {"FINISHED"}
    assert names() == ["walk", "haste", "haste2", "stand", "late", "piece"]
    wanted = names()[1:]
    target = figure / "out.mdx"
    bpy.ops.export_anim.idtech_mdx(filepath=str(target), what="CHOSEN", actions=",".join(wanted))
    lines = target.with_suffix(".aninc").read_text(encoding="utf-8").splitlines()
    assert [line.split()[:3] for line in lines] == [
        ["haste", "0", "3"], ["haste2", "3", "3"], ["stand", "6", "2"], ["late", "8", "1"], ["piece", "9", "2"],
    ]  # fmt: skip
    assert remove(name="piece") == {"FINISHED"}
    assert names()[-1] == "late"
    assert "piece" not in bpy.data.actions


def test_animations_that_are_files_have_no_order(tmp_path):
    import_arm(tmp_path, "wave", "nod")
    assert names() == ["nod", "wave"]
    activate(next(block for block in bpy.data.objects if block.type == "MESH"))
    assert play(name="wave") == {"FINISHED"}, "by a mesh that the armature moves, too"
    assert "they have no order" in error_of(move, direction="UP")
    before = motion_bytes(tmp_path / "b.md5anim")
    assert duplicate() == {"FINISHED"}
    assert motion_bytes(tmp_path / "c.md5anim") == before, "the copy knows the file, too"
    assert names() == ["nod", "wave", "wave_copy"]


@pytest.fixture
def armed(tmp_path):
    """Return an armature that plays an action of five frames, which is in the scene."""
    return import_arm(tmp_path)


def shown_poses(rig: Any) -> Any:
    """Return where bones are in the frames of the scene 0 to 4, whatever they were left at."""
    for bone in rig.pose.bones:
        bone.matrix_basis.identity()
    found = []
    for frame in range(5):
        bpy.context.scene.frame_set(frame)
        found.append([tuple(value for row in bone.matrix for value in row) for bone in rig.pose.bones])
    return np.array(found)


def mute(curve: Any) -> None:
    curve.mute = "hand" in curve.data_path


def shake(curve: Any) -> None:
    if "location" in curve.data_path:
        noise = curve.modifiers.new("NOISE")
        noise.strength, noise.phase = 8.0, 0.3


@pytest.mark.parametrize("change", [mute, shake])
def test_what_is_added_moves_as_what_it_was_made_of(armed, change):
    plain = shown_poses(armed)
    for curve in playing_curves(armed):
        change(curve)
    wanted = shown_poses(armed)
    assert np.abs(wanted - plain).max() > 0.1
    assert add(name="cut", first=0, last=4) == {"FINISHED"}
    assert playing() == "cut"
    assert np.abs(shown_poses(armed) - wanted).max() < 1e-4


def test_what_an_animation_leaves_alone_rests_while_it_plays(armed):
    """It was as the last one left it, which is not what is written."""
    for name, bone in (("raise", "hand"), ("lean", "upper arm")):
        action = bpy.data.actions.new(name)
        keep(armed, action)
        curves = new_curves(action, "OBJECT", name)
        add_curve(
            curves, f'pose.bones["{bone}"].location', 1, np.array([0, 4], np.float32), np.array([1, 5], np.float32)
        )
    play(name="raise")
    bpy.context.scene.frame_set(4)
    assert armed.pose.bones["hand"].location.y == 5
    armed.pose.bones["origin"].location.y = 7  # which nothing moves
    play(name="lean")
    bpy.context.scene.frame_set(4)
    assert [armed.pose.bones[name].location.y for name in ("hand", "upper arm", "origin")] == [0, 5, 7]


@pytest.mark.parametrize("fake_user", [False, True])
def test_an_action_of_ones_own_stays_in_the_list(armed, fake_user):
    """It had no user any more, and was gone with the next saving."""
    before = names()
    action = bpy.data.actions.new("dance")
    action.use_fake_user = fake_user
    armed.animation_data.action = action
    armed.pose.bones["hand"].keyframe_insert("location", frame=0)
    armed.pose.bones["hand"].keyframe_insert("location", frame=4)
    play(name=before[0])
    assert names() == [*before, "dance"] and playing() == before[0]
    assert action.users > action.use_fake_user
    play(name="dance")
    assert playing() == "dance"
    play(name=before[0])
    assert len(armed.animation_data.nla_tracks) == len(before) + 1, "and is kept once"


def test_an_action_that_nothing_plays_has_to_be_chosen_once(armed):
    other = bpy.data.actions["wave"].copy()
    other.name, other.use_fake_user = "hop", True
    assert "there is no animation 'hop', choose the action once in the Action Editor" in error_of(play, name="hop")
    assert error_of(play, name="gone").endswith("there is no animation 'gone'")
    armed.animation_data.action = other
    assert play(name="hop") == {"FINISHED"}


@pytest.mark.parametrize("path", ["", "location"])
def test_an_action_without_motion_of_bones_is_no_animation(armed, path):
    before = names()
    action = bpy.data.actions.new("nothing")
    armed.animation_data.action = action
    if path:
        armed.keyframe_insert(path, frame=0)
    play(name=before[0])
    assert names() == before and action.users == 0


def test_an_action_of_ones_own_over_frames_stays_in_the_list(monster):
    keys = bpy.context.object.data.shape_keys
    before = names()
    action = bpy.data.actions.new("dance")
    keys.animation_data.action = action
    keys.key_blocks[2].keyframe_insert("value", frame=0)
    play(name=before[0])
    assert action.users == 1 and "dance" in names()
    assert bpy.ops.object.idtech_animation_play(name="dance") == {"FINISHED"}
    assert keys.animation_data.action == action


def test_an_action_that_is_copied_along_with_a_mesh_is_no_animation_before_it_is_edited(monster):
    """Blender's Duplicate copies the action that plays."""
    found = names()
    assert play(name=found[1]) == {"FINISHED"}
    mesh, listed = bpy.context.view_layer.objects.active, written(monster, frames="ACTIONS")
    activate(mesh)
    assert bpy.ops.object.duplicate() == {"FINISHED"}
    copy = bpy.context.view_layer.objects.active
    assert copy != mesh
    assert copy.data.shape_keys.animation_data.action != mesh.data.shape_keys.animation_data.action
    activate(mesh)
    assert names() == found
    assert [name for name, _ in written(monster, frames="ACTIONS")] == [name for name, _ in listed]
    bpy.data.objects.remove(mesh)
    bpy.context.view_layer.update()
    activate(copy)
    assert names() == found
    assert playing() == copy.data.shape_keys.animation_data.action.name
    shown_row = need_animations(bpy.context).playing_row(rows())
    assert shown_row is not None and shown_row.label == found[1]
    playing_curves(copy.data.shape_keys)[0].keyframe_points[0].co[1] += 0.25
    assert len(names()) == len(found) + 1


def test_a_row_of_a_player_lets_an_action_of_ones_own_stay(tmp_path):
    root = brought(game(tmp_path) / "upper.md3").parts["upper"]
    action = bpy.data.actions.new("turning")
    root.animation_data.action = action
    root.keyframe_insert("location", frame=0)
    play(name=names()[1])
    assert root.animation_data.action != action and action.users == 1


def test_an_action_that_another_armature_has_stays_with_it(armed, capfd):
    other = armed.copy()
    other.data = armed.data.copy()
    bpy.context.scene.collection.objects.link(other)
    action = armed.animation_data.action
    assert remove(name=action.name) == {"FINISHED"}
    assert "'wave' stays with other objects, which play or keep it" in capfd.readouterr().out
    assert other.animation_data.action == action
    assert [s.action for track in other.animation_data.nla_tracks for s in track.strips] == [action]
    assert armed.animation_data.action is None
    assert names() == []
    activate(other)
    assert names() == ["wave"]
    assert remove(name="wave") == {"FINISHED"}
    assert len(bpy.data.actions) == 0


def test_an_action_of_another_blend_stays_as_it_is(armed, tmp_path):
    path = str(tmp_path / "lib.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    armed.animation_data_clear()
    bpy.data.actions.remove(bpy.data.actions["wave"])
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.actions = ["wave"]
    armed.animation_data_create().action = wanted.actions[0]
    for way, options in ((rename, {"to": "dance"}), (remove, {})):
        assert "it is linked from another .blend; make it local" in error_of(way, name="wave", **options)
    assert duplicate(name="wave", copy="dance") == {"FINISHED"}
    assert bpy.data.actions["dance"].library is None
    assert remove(name="dance") == {"FINISHED"}


def test_a_players_list_is_its_table(tmp_path):
    player = brought(game(tmp_path) / "upper.md3")
    assert names()[:2] == ["All Frames", "BOTH_DEATH1"]
    for row, wanted in (
        ("LEGS_RUN", None), ("TORSO_GESTURE", ["LEGS_RUN", "TORSO_GESTURE"]), ("BOTH_DEATH1", ["BOTH_DEATH1"] * 2),
    ):  # fmt: skip
        assert play(name=row) == {"FINISHED"}
        played = [player.parts[part].animation_data.action.name for part in ("lower", "upper")]
        assert played == wanted or wanted is None
    for refused in (remove, move, duplicate):
        assert "rows of a player's table have the names" in error_of(refused)
    assert "begins with LEGS_" in error_of(add, name="hum", first=0, last=0)
    assert "the table has all animations" in error_of(add, first=0, last=0)


def test_a_player_gets_an_animation_that_its_table_lacks(tmp_path):
    table = player_files()["animation.cfg"].partition(b"35 2 0 15 // TORSO_GETFLAG")[0]
    brought(game(tmp_path, animation_cfg=table))
    before = len(bpy.data.actions)
    assert "is no animation of such a table" in error_of(add, name="TORSO_HUM", first=0, last=0)
    assert "there are no frames" in error_of(add, name="TORSO_GETFLAG", first=0, last=99)
    assert len(bpy.data.actions) == before
    assert add(first=6, last=9) == {"FINISHED"}, "the first that the table lacks"
    assert "TORSO_GETFLAG" in [action.name for action in need_animations(bpy.context).playing()]
    assert add(name="torso_patrol", first=7, last=7) == {"FINISHED"}
    assert "there is a row TORSO_PATROL already" in error_of(add, name="TORSO_PATROL", first=0, last=0)
    added = saved(tmp_path)["animation.cfg"].removeprefix(table)
    assert [line.split()[:4] for line in added.decode().splitlines()] == [
        ["6", "4", "0", "15"],
        ["6", "3", "0", "18"],  # TORSO_GUARDBASE, which games take for TORSO_GESTURE
        ["7", "1", "0", "15"],
    ]
    assert remove(name="TORSO_PATROL") == {"FINISHED"}
    assert "TORSO_PATROL" not in names()


def test_the_list_that_is_shown(monster):
    holder = bpy.context.window_manager.idtech_animations
    shown.refresh(bpy.context)
    assert [item.name for item in holder.rows] == names()
    assert holder.index == 0
    holder.index = 2
    shown._on_index()  # which the message bus calls when Blender is idle
    assert playing() == holder.rows[2].name
    holder.rows[2].name = "typed"
    shown._on_name()
    assert (names()[2], playing()) == ("typed", "typed")
    last = [item.last for item in holder.rows]
    assert bpy.ops.object.idtech_insert_frame() == {"FINISHED"}
    assert [item.last for item in holder.rows] != last, "frames that were inserted show in it at once"
    activate(bpy.data.objects.new("nothing", None) and bpy.context.object)
    bpy.data.actions.new("another")
    assert shown.is_old(bpy.context), "what draws the list sees that"


def test_what_blenders_own_buttons_let_play_shows_in_the_list(armed):
    """So that a click on the row that was played plays it again."""
    holder = bpy.context.window_manager.idtech_animations
    played = armed.animation_data.action
    shown.refresh(bpy.context)
    assert holder.index >= 0
    assert not shown.is_old(bpy.context)
    armed.animation_data.action = None
    assert shown.is_old(bpy.context)
    shown.refresh(bpy.context)
    assert holder.index == -1
    holder.index = next(nth for nth, item in enumerate(holder.rows) if item.action == played.name)
    shown._on_index()
    assert armed.animation_data.action == played


def test_actions_that_are_called_alike_show_their_numbers(armed):
    """As a copy that Blender's own New Action makes."""
    armed.animation_data.action = armed.animation_data.action.copy()
    shown.refresh(bpy.context)
    listed = [item.name for item in bpy.context.window_manager.idtech_animations.rows]
    assert len(listed) == len(set(listed)) and armed.animation_data.action.name in listed
    armed.animation_data.action.name = "other"
    shown.refresh(bpy.context)
    assert "other" in [item.name for item in bpy.context.window_manager.idtech_animations.rows]
    assert not any("." in item.name for item in bpy.context.window_manager.idtech_animations.rows)


def test_windows_of_other_scenes_have_lists_of_their_own(monster):
    first, more = bpy.context.scene, [bpy.data.scenes.new(name) for name in "bcd"]
    shows = [SimpleNamespace(scene=each, view_layer=each.view_layers[0]) for each in (first, *more, first)]
    windows = SimpleNamespace(windows=shows)
    lists = [shown.holder_of(SimpleNamespace(**vars(each), window_manager=windows)) for each in shows]
    assert lists == [*shown.HOLDERS, shown.HOLDERS[-1], shown.HOLDERS[0]]


@pytest.mark.parametrize("what", ["duplicate", "move", "remove"])
def test_what_shows_is_what_is_edited_whatever_was_done(monster, what):
    """In the window: a copy that was moved showed its own frames, and Tab began to edit another animation's."""
    play(name=rows()[1].name)
    bpy.context.scene.frame_set(1)
    done = {"duplicate": lambda: duplicate(copy="duck"), "move": lambda: move(direction="DOWN"), "remove": remove}
    assert done[what]() == {"FINISHED"}
    block = bpy.context.view_layer.objects.active
    assert block.active_shape_key_index == shown_key(block.data.shape_keys)
    scene = bpy.context.scene
    scene.frame_set(min(scene.frame_end, 1))
    assert block.active_shape_key_index == shown_key(block.data.shape_keys)


def test_animations_are_made_of_frames_without_any(tmp_path):
    """They move with their tags."""
    assert animations_of(bpy.context) is None
    add_cube()
    assert animations_of(bpy.context) is None
    assert "no model that can be animated is active" in error_of(play, name="x")
    import_frames(put(tmp_path / "a.md3"))
    count = rows()[0].last + 1
    assert add(name="head", first=0, last=0) == {"FINISHED"}
    assert add(name="tail", first=1, last=count - 1) == {"FINISHED"}
    assert play(name="All Frames") == {"FINISHED"}
    assert move(name="tail", direction="UP") == {"FINISHED"}
    before, after = md3.read(sample("animated")), md3.read(export_bytes(tmp_path / "b.md3"))
    order = [*range(1, count), 0]
    assert np.array_equal(after.tags["origin"], before.tags["origin"][order])
    for old, new in zip(before.surfaces, after.surfaces, strict=True):
        assert np.array_equal(new.vertices["xyz"], old.vertices["xyz"][order])


def test_frames_that_are_named_alike_are_an_animation_without_an_action(tmp_path):
    import_frames(put(tmp_path / "a.md3", named_md3()))
    assert [(row.label, row.first, row.last) for row in rows()] == [
        ("All Frames", 0, 2), ("idle", 0, 1), ("fire", 2, 2),
    ]  # fmt: skip
    assert play(name="fire") == {"FINISHED"}
    assert (span(), bpy.context.scene.frame_current) == ((2, 2), 2)
    shown.refresh(bpy.context)
    assert bpy.context.window_manager.idtech_animations.index == 2
    assert export_bytes(tmp_path / "b.md3") == named_md3()
    assert move(direction="UP") == {"FINISHED"}
    assert rename(name="idle", to="rest") == {"FINISHED"}
    assert duplicate(name="rest", copy="nap") == {"FINISHED"}
    assert remove(name="fire") == {"FINISHED"}
    after, before = md3.read(export_bytes(tmp_path / "c.md3")), md3.read(named_md3())
    assert [name.partition(b"\0")[0] for name in after.frames["name"].tolist()] == [
        b"rest01", b"rest02", b"nap01", b"nap02",
    ]  # fmt: skip
    assert np.array_equal(after.tags["origin"], before.tags["origin"][[0, 1, 0, 1]])
    assert add(name="doze", first=3, last=3) == {"FINISHED"}
    assert names() == ["All Frames", "rest", "nap", "doze"]


def test_a_lone_part_shows_the_rows_of_the_table_beside(tmp_path):
    for name in ("lower.md3", "animation.cfg"):
        put(tmp_path / name, player_files()[name])
    import_frames(tmp_path / "lower.md3")
    rows_of_legs(tmp_path)


def test_a_lone_part_out_of_an_archive_shows_the_rows_of_the_table_beside(tmp_path):
    folder = "models/players/a"
    pack = put_pack(tmp_path / "baseq3/a.pk3", {f"{folder}/{name}": data for name, data in player_files().items()})
    import_frames(pack / folder / "lower.md3")
    rows_of_legs(tmp_path)


def rows_of_legs(tmp_path):
    found = {row.name: row for row in rows()}
    assert "LEGS_RUN" in found and "TORSO_GESTURE" not in found
    assert play(name="LEGS_RUN") == {"FINISHED"}
    assert span() == (found["LEGS_RUN"].first, found["LEGS_RUN"].last)
    for refused in (remove, move, duplicate):
        assert "import the whole player to edit them" in error_of(refused)
    assert export_bytes(tmp_path / "out.md3") == player_files()["lower.md3"]


def named_md3() -> bytes:
    """Return an MD3 of three frames, with a tag, whose names tell of two animations."""
    file = md3.read(sample("animated"))
    file.frames = file.frames.copy()
    file.frames["name"] = [b"idle1", b"idle2", b"fire1"]
    return md3.write(file)


class Dialog(ticks.TickedAnimations):
    """What an export's dialog keeps."""

    def __init__(self, actions: str = "") -> None:
        self.actions, self.ticked, self.all_named = actions, "", False
        self.ticks: Any = Rows()


class Rows(list[Any]):
    def add(self) -> Any:
        self.append(SimpleNamespace(name="", action="", use=True))
        return self[-1]


def test_all_that_is_ticked_of_a_model_needs_no_names(tmp_path):
    """Its next export writes an animation that comes later, too."""
    rig, dialog, named = import_arm(tmp_path, "wave", "nod"), Dialog(), Dialog()
    dialog.fill_ticks_of(rig, all_named=False)
    assert ([item.name for item in dialog.ticks], dialog.asked_actions()) == (["nod", "wave"], "")
    dialog.ticks[0].use = False
    assert dialog.asked_actions() == ("wave",)
    named.fill_ticks_of(rig)
    assert named.asked_actions() == ("nod", "wave"), "of animations alone, where none named is none"


def test_ticks_and_names_are_in_step(monster):
    own = names()[1:]
    dialog = Dialog()
    dialog.fill_ticks(bpy.context)
    assert [item.name for item in dialog.ticks] == own
    assert dialog.asked_actions() == "", "all of the model's own"
    dialog.ticks[0].use = False
    assert dialog.asked_actions() == tuple(own[1:])
    assert dialog.actions == ", ".join(own[1:]), "for presets, and the next time"
    dialog.actions = own[0]  # by a preset
    assert dialog.asked_actions() == (own[0],)
    assert [item.use for item in dialog.ticks] == [True, *[False] * (len(own) - 1)]
    dialog.ticks[0].use = False
    with pytest.raises(Exception, match="no animation is ticked"):
        dialog.asked_actions()
    for remembered, wanted in ((own[1], (own[1],)), ("another model's", "")):
        again = Dialog(remembered)
        again.fill_ticks(bpy.context)
        assert again.asked_actions() == wanted
    assert rename(name=own[0], to="a, b") == {"FINISHED"}
    comma = Dialog()
    comma.fill_ticks(bpy.context)
    for item in comma.ticks:
        item.use = item.name == "a, b"
    assert comma.asked_actions() == ("a, b",), "a name with a comma is one"
    assert GatherSettings(actions=("a, b",)).actions == ("a, b",)
    bare = Dialog("typed")
    activate(add_cube())
    bare.fill_ticks(bpy.context)
    assert bare.asked_actions() == "typed", "without a list names are typed"


def test_a_collections_exporter_of_animations(tmp_path):
    import_arm(tmp_path)
    before = motion_bytes(tmp_path / "b.md5anim")
    collection = bpy.data.collections["arm"]
    view = bpy.context.view_layer
    view.active_layer_collection = view.layer_collection.children[collection.name]
    assert bpy.ops.collection.exporter_add(name="IO_FH_idtech_md5anim_animations") == {"FINISHED"}
    collection.exporters[0].export_properties.filepath = str(tmp_path / "c.md5anim")
    view.objects.active = None
    assert bpy.ops.collection.exporter_export(index=0) == {"FINISHED"}
    assert (tmp_path / "c.md5anim").read_bytes() == before
    other = bpy.data.objects.new("other", bpy.data.armatures.new("other"))
    collection.objects.link(other)
    export: Any = bpy.ops.export_anim.idtech_md5anim
    said = error_of(export, filepath=str(tmp_path / "d.md5anim"), collection="arm")
    assert "collection 'arm' has to hold one armature" in said


@pytest.mark.parametrize("name", ["md5anim", "mdx", "iqm"])
def test_animations_have_an_exporter(name):
    handler = bpy.types.FileHandler.bl_rna_get_subclass_py(f"IO_FH_idtech_{name}_animations")
    assert handler.bl_export_operator == f"export_anim.idtech_{name}"
    assert not hasattr(handler, "bl_import_operator"), "the models' takes what is dropped"


def test_a_list_that_was_wanted_as_a_file_was_opened_is_made_all_the_same(monster):
    """Blender ends all timers with each file that it opens."""
    for _ in range(2):
        shown._State.made_of.clear()
        shown.listing(bpy.context)
        assert bpy.app.timers.is_registered(shown._soon)
        bpy.app.timers.unregister(shown._soon)
    shown._soon()
    assert not shown.is_old(bpy.context)


def test_all_frames_of_a_model_with_tags_are_no_animation(tmp_path):
    """What its list tells by names of frames: the file stays as it is."""
    path = PROJECT / "examples/sentinel/sentinel.md3"
    import_model(path)
    activate(next(block for block in bpy.data.objects if block.type == "MESH"))
    assert "these are all frames of the model" in error_of(add, name="fresh")
    assert export_bytes(tmp_path / "a.md3") == path.read_bytes()


@pytest.mark.parametrize("plays", [False, True])
def test_one_animation_of_all_frames_is_not_all_frames(tmp_path, plays):
    """Which plays the same, and is changed by what is done to the list; the animation is not."""
    model = load(sample("animated", "md2"))
    count = model.num_frames
    model.frame_names = [f"wave{frame:02}" for frame in range(1, count + 1)]
    import_model(put(tmp_path / "a.md2", by_name("md2").dump(model, {})))
    assert names() == ["All Frames", "wave"]
    play(name="wave" if plays else "All Frames")
    duplicate(name="wave", copy="cp")
    assert names() == ["All Frames", "wave", "cp"]
    assert [name for name, _ in frames_of(export_bytes(tmp_path / "b.md2", frames="ACTIONS"))] == ["wave"] * count + [
        "cp"
    ] * count
    play(name="wave")
    assert span() == (0, count - 1)
    remove(name="cp")
    rename(name="wave", to="wink")
    assert [name for name, _ in frames_of(export_bytes(tmp_path / "c.md2"))] == ["wink"] * count
    play(name="All Frames")
    assert bpy.data.actions[playing()].get("idtech_whole")


@pytest.mark.parametrize(
    ("asked", "called"), [("weapon_reloads", "weapon_reload"), ("walk_", "walk"), ("nods", "nods")]
)
def test_what_names_of_frames_can_not_say_is_called_shorter(tmp_path, capfd, asked, called):
    import_model(put(tmp_path / "a.md3", SENTINEL.read_bytes()))
    add(name="nod", first=2, last=4)
    duplicate(name="nod", copy=asked)
    said = f"names of frames can't say '{asked}': it is called '{called}'"
    assert (said in capfd.readouterr().out) is (asked != called)
    assert called in names()
    assert len(bpy.context.object.data.shape_keys.key_blocks) == 23
