"""Exporting an armature of one's own: which bones are joints, and what moves them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mathutils import Euler, Matrix, Vector

from io_idtech_models.blender.compat import HAS_SLOTS, action_parts, new_curves, slot_curves
from io_idtech_models.blender.curves import add_curve
from io_idtech_models.blender.leaders import slot_of
from io_idtech_models.blender.playback import playing_instead
from io_idtech_models.blender.skeletal import gather_motion
from io_idtech_models.formats import by_name
from io_idtech_models.model.transforms import chain, same_turns, unchain
from io_idtech_models.reporting import collected_warnings
from tests import samples_md5
from tests.facts import differences
from tests.samples import put
from tests.ui.rigs.arms import (
    ANIM,
    FILES,
    check_shown,
    export_anim,
    exported,
    import_anim,
    import_mesh,
    key,
    model_of,
    motion_of,
    motions_in,
    rig,
    scene,
    shown_points,
    wave_own,
)
from tests.ui.scene import activate, add_tag, bpy, editing, error_of

pytestmark = pytest.mark.usefixtures("empty_scene")


# -- an armature of one's own


def test_bones_that_deform_nothing(own):
    wave_own()
    assert model_of(own / "own.md5mesh").skeleton.num_joints == 3
    text = error_of(export_anim, filepath=str(own / "own.md5anim"), deform_only=False, game="doom3")
    assert (
        "has 2 joints without a parent, Doom 3 takes one: add an origin joint ('Add Origin Joint') to it and its mesh"
        in text
    )
    assert not (own / "own.md5anim").exists()
    model = model_of(own / "own.md5mesh", deform_only=False, add_origin=True)
    animation = motion_of(own / "own.md5anim", deform_only=False, add_origin=True)
    assert model.skeleton.names == ["origin", "Bone", "Bone.001", "Bone.002", "control"]
    check_shown(model, animation, range(5))


@pytest.mark.parametrize("game", ["format", "quake2remaster"])
def test_several_roots_come_back(tmp_path, capfd, game):
    """One root is Doom 3's rule alone."""
    files = {"props.md5mesh": samples_md5.several_roots(), "wave.md5anim": samples_md5.roots_wave()}
    for name, data in files.items():
        put(tmp_path / "md5" / name, data)
    assert import_mesh(filepath=str(tmp_path / "md5/props.md5mesh")) == {"FINISHED"}
    for name, data in files.items():
        assert differences(data, exported(tmp_path / "md5" / f"again-{name}", game=game)) == set()
    said = "'wave' has 2 joints without a parent, which Doom 3 refuses" in capfd.readouterr().out
    assert said == (game == "format")
    text = error_of(export_anim, filepath=str(tmp_path / "x.md5anim"), game="doom3")
    assert "'wave' has 2 joints without a parent, Doom 3 takes one: add an origin joint" in text
    assert not (tmp_path / "x.md5anim").exists()


def test_deform_bones_below_one_that_is_not(own):
    """They hang on the next one above that is written; what moves it moves them."""
    rig().data.bones["Bone.001"].use_deform = False
    mesh = bpy.data.objects["box"]
    mesh.vertex_groups["Bone"].add(range(8), 0.5, "REPLACE")
    wave_own()
    model, animation = model_of(own / "own.md5mesh"), motion_of(own / "own.md5anim")
    assert (model.skeleton.names, model.skeleton.parents.tolist()) == (["Bone", "Bone.002"], [-1, 0])
    places, _ = chain(animation.parents, animation.positions, animation.rotations)
    for frame in range(5):
        scene().frame_set(frame)
        bone = rig().pose.bones["Bone.002"]
        assert tuple(places[frame, 1]) == pytest.approx(tuple(bone.head), abs=1e-4)


def driven_and_constrained() -> None:
    """Let a bone copy what a control does, and drive another."""
    control = rig().pose.bones["control"]
    for frame, angle in ((0, 0.0), (4, 1.2)):
        control.rotation_euler = Euler((0, angle, 0))
        control.keyframe_insert("rotation_euler", frame=frame)
    copy = rig().pose.bones["Bone.001"].constraints.new("COPY_ROTATION")
    copy.target, copy.subtarget = rig(), "control"
    copy.owner_space = copy.target_space = "LOCAL"
    curve = rig().pose.bones["Bone.002"].driver_add("rotation_euler", 0)
    curve.driver.expression = "frame * 0.1"


def carried(block: Any = None) -> None:
    """Let an object that carries the armature move, or the armature itself."""
    wave_own()
    if block is None:
        block = rig().parent = add_tag("cart", "PLAIN_AXES")
    for frame, x in ((0, 0.0), (4, 50.0)):
        block.location.x = x
        block.keyframe_insert("location", frame=frame)


def as_a_whole() -> None:
    action = wave_own()
    carried(rig())
    assert rig().animation_data.action == action


def sized(size: float) -> None:
    wave_own()
    rig().matrix_world = Matrix.LocRotScale(Vector((5, -6, 7)), Euler((0.3, 0.2, 0.1)), Vector((size,) * 3))


def on_what_stands() -> None:
    """Let an armature hang on an object that stands somewhere, turned, and that on another one."""
    wave_own()
    cart, road = add_tag("cart", "PLAIN_AXES"), add_tag("road", "PLAIN_AXES")
    rig().parent, cart.parent = cart, road
    cart.location, road.rotation_euler = (5, -6, 7), (0.3, 0.2, 0.1)


def on_a_bone() -> None:
    """Let an armature hang on a bone of another one, which moves."""
    own = rig()
    data = bpy.data.armatures.new("arm")
    arm = bpy.data.objects.new("walker", data)
    scene().collection.objects.link(arm)
    with editing(arm):
        data.edit_bones.new("hand").tail = (0, 0, 2)
    activate(own)
    wave_own()
    own.parent, own.parent_type, own.parent_bone = arm, "BONE", "hand"
    for frame, x in ((0, 0.0), (4, 5.0)):
        arm.pose.bones["hand"].location.x = x
        arm.pose.bones["hand"].keyframe_insert("location", frame=frame)


ARRANGED = {
    "on what stands": on_what_stands,
    "on a bone": on_a_bone,
    "by drivers and constraints": driven_and_constrained,
    "by its parents": carried,
    "as a whole": as_a_whole,
    "where it lies, small": lambda: sized(0.01),
    "where it lies, large": lambda: sized(2.5),
}


@pytest.mark.parametrize("what", ["ACTIVE", "SCENE"])
@pytest.mark.parametrize("how", ARRANGED)
def test_an_armature_is_written_as_it_is_moved(own, how, what):
    ARRANGED[how]()
    scene().frame_set(0)
    animation = motion_of(own / "own.md5anim", what=what)
    check_shown(model_of(own / "own.md5mesh"), animation, range(5))
    if how == "by drivers and constraints":
        assert same_turns(animation.rotations[0, 1], animation.rotations[4, 1]) > 1.0
        assert same_turns(animation.rotations[0, 2], animation.rotations[4, 2]) == pytest.approx(0.4, abs=1e-4)


def test_what_stands_moves_no_armature(tmp_path, monkeypatch):
    """Its frames are read of curves, which takes a tenth of the time that it takes to show each."""
    files = {"arm.md5mesh": samples_md5.arm(), "wave.md5anim": samples_md5.wave()}
    for name, data in files.items():
        put(tmp_path / name, data)
    import_mesh(filepath=str(tmp_path / "arm.md5mesh"))
    road = rig().parent = add_tag("road", "PLAIN_AXES")
    road.location, road.rotation_euler = (5, -6, 7), (0.3, 0.2, 0.1)
    bpy.context.view_layer.update()
    stepped = Steps(monkeypatch)
    motion = motion_of(tmp_path / "own.md5anim")
    check_shown(model_of(tmp_path / "own.md5mesh"), motion, range(motion.num_frames))
    assert stepped.count == 0
    road.keyframe_insert("location", frame=1)
    motion_of(tmp_path / "own.md5anim")
    assert stepped.count == 1


@pytest.mark.parametrize("keyed", [True, False])
def test_connected_bones_stay_where_their_parents_end(own, monkeypatch, keyed):
    """Their location moves nothing, keyed or not; their curves say all, as those of others do."""
    without_control()
    bones = rig().pose.bones
    assert [bone.bone.use_connect for bone in bones] == [False, True, True]
    for bone in bones:
        bone.rotation_mode, bone.location = "QUATERNION", (1.0, 2.0, 3.0)
        for frame, turn in ((0, (0.0, 0.0, 0.0)), (4, (0.4, -0.3, 0.2))):
            bone.rotation_quaternion = Euler(turn).to_quaternion()
            bone.keyframe_insert("rotation_quaternion", frame=frame)
            if keyed:
                bone.keyframe_insert("location", frame=frame)
    steps = Steps(monkeypatch)
    check_shown(model_of(own / "own.md5mesh"), motion_of(own / "own.md5anim"), range(5))
    assert steps.count == 0


class Steps:
    """Counts how often frames are shown to see where bones are."""

    def __init__(self, monkeypatch: Any) -> None:
        self.count = 0
        step = gather_motion.step

        def counted(*args: Any) -> Any:
            self.count += 1
            return step(*args)

        monkeypatch.setattr(gather_motion, "step", counted)


@pytest.mark.parametrize("what", ["ACTIVE", "NLA"])
def test_time_stretching_is_the_scenes(own, what):
    """What plays alone was stretched where it was stepped through, and not where its curves were read."""
    action = wave_own()
    if what == "NLA":
        rig().animation_data.action = None
        rig().animation_data.nla_tracks.new().strips.new("wave", 0, action)
    plain = motions_in(own, what=what)
    render = scene().render
    render.frame_map_old, render.frame_map_new = 100, 200
    scene().frame_set(3)
    before = shown_points(3)
    with collected_warnings() as said:
        assert motions_in(own, what=what) == plain
    assert any("Time Stretching (Output > Frame Rate) is left out" in text for text in said)
    assert (render.frame_map_old, render.frame_map_new, scene().frame_current) == (100, 200, 3)
    assert np.abs(shown_points() - before).max() < 1e-6
    scene().frame_start, scene().frame_end = 0, 8
    check_shown(model_of(own / "own.md5mesh"), motion_of(own / "own.md5anim", what="SCENE"), range(9))


def strips_of(action: Any) -> Any:
    """Let the armature play an action in two strips, of two tracks; returns the tracks."""
    rig().animation_data.action = None
    tracks = rig().animation_data.nla_tracks
    for name, start in (("early", 10), ("late", 30)):
        tracks.new().strips.new(name, start, action).name = name
    return tracks


def test_nla_strips(own):
    action = wave_own()
    tracks = strips_of(action)
    tracks.new().strips.new("muted", 50, action).mute = True
    fourth = tracks.new()
    fourth.strips.new("off", 70, action)
    fourth.mute = True
    found = motions_in(own, what="NLA")
    assert [*found] == ["early", "late"]
    assert [t.mute for t in tracks] == [False, False, False, True]
    model = model_of(own / "own.md5mesh")
    tracks[0].mute = True
    check_shown(model, ANIM.load(found["late"], "late"), range(30, 35))


def test_strips_have_their_actions_rate_where_its_frames_are_the_scenes(own):
    action = wave_own()
    action["idtech_frame_rate"] = 12.0
    pose = action.copy()
    pose.name = "pose"
    for _, _, curves in action_parts(pose):
        for curve in curves:
            while len(curve.keyframe_points) > 1:
                curve.keyframe_points.remove(curve.keyframe_points[-1])
    tracks = strips_of(action)
    tracks[1].strips[0].scale = 2.0
    tracks.new().strips.new("pose", 80, pose)
    drawn = tracks.new().strips.new("drawn", 90, pose)
    drawn.name, drawn.action_frame_end = "drawn", drawn.action_frame_start + 6
    noisy = pose.copy()
    for _, _, curves in action_parts(noisy):
        curves[0].modifiers.new("NOISE")
    tracks.new().strips.new("noisy", 110, noisy).name = "noisy"
    if HAS_SLOTS:  # of somebody else, which lasts longer
        other = new_curves(pose, "OBJECT", "other")
        add_curve(other, "location", 0, np.array([0.0, 9.0]), np.array([0.0, 1.0]))
    found = {name: ANIM.load(data, name) for name, data in motions_in(own, what="NLA").items()}
    rate = scene().render.fps / scene().render.fps_base
    assert rate != 12
    shown = {name: (each.num_frames, each.frame_rate) for name, each in found.items()}
    assert shown == {"early": (5, 12), "late": (9, rate), "pose": (1, 12), "drawn": (7, 12), "noisy": (2, 12)}


@pytest.mark.parametrize("muted", [False, True])
def test_the_strips_of_a_solo_track(own, muted):
    tracks = strips_of(wave_own())
    tracks[1].is_solo, tracks[1].mute = True, muted
    with collected_warnings() as said:
        found = motions_in(own, what="NLA")
    assert [*found] == ["late"]
    assert any(f"the track '{tracks[1].name}' is solo, strips of others are left out" in text for text in said)
    assert [(t.is_solo, t.mute) for t in tracks] == [(False, False), (True, muted)]
    animation = ANIM.load(found["late"], "late")
    check_shown(model_of(own / "own.md5mesh"), animation, range(30, 35))
    assert same_turns(animation.rotations[0], animation.rotations[-1]).max() > 1e-2, "the motion, not a held pose"


@pytest.mark.skipif(not HAS_SLOTS, reason="actions had no slots")
@pytest.mark.parametrize("name", ["Legacy Slot", "mine"])
def test_the_slot_that_another_armature_plays_is_not_the_one_played_last(own, name):
    """All slots of a .blend of 4.2 are called so: the name says nothing of who played them."""
    block, other = rig(), rig().copy()
    bpy.context.scene.collection.objects.link(other)
    merged = bpy.data.actions.new("merged")
    slots = [merged.slots.new("OBJECT", called) for called in (name, f"{name}.001")]
    for slot in slots:
        add_curve(slot_curves(merged, slot), f'pose.bones["{block.pose.bones[0].name}"].location', 0, *np.eye(2))
    other.animation_data_create()
    other.animation_data.action, other.animation_data.action_slot = merged, slots[0]
    block.animation_data_create()
    block.animation_data.last_slot_identifier = slots[0].identifier
    assert slot_of(block, merged) == slots[name == "Legacy Slot"]
    assert slot_of(other, merged) == slots[0]


def two_actions() -> tuple[Any, Any]:
    """Make an action that turns one bone, and one that turns another and is played."""
    first = wave_own()
    rig().animation_data.action = None
    for bone in rig().pose.bones:
        bone.rotation_euler = Euler((0, 0, 0))
    key("Bone.002", 0, (0.5, 0, 0))
    key("Bone.002", 4, (0, 0.5, 0))
    second = rig().animation_data.action
    first.name, second.name = "first", "second"
    scene().frame_set(4)
    return first, second


def without_control() -> None:
    """Delete the bone that deforms nothing."""
    with editing(rig()) as bones:
        bones.remove(bones["control"])


def test_bones_that_another_action_moves_rest(own):
    two_actions()
    found = motions_in(own, what="CHOSEN", actions="first, second")
    rest = model_of(own / "own.md5mesh").skeleton
    wanted = unchain(rest.parents, rest.positions, rest.rotations)[1]
    for name, flags, joint in (("first", [0, 56, 0], 2), ("second", [0, 0, 56], 1)):
        assert by_name("md5anim").read(found[name]).flags.tolist() == flags
        turns = ANIM.load(found[name], name).rotations[:, joint]
        assert same_turns(turns, wanted[joint]).max() < 1e-5


def test_half_way_to_its_negative_a_quaternion_turns_as_blender_has_it(own):
    bone = rig().pose.bones["Bone.001"]
    bone.rotation_mode = "QUATERNION"
    for frame, sign in ((0, 1), (4, -1)):
        bone.rotation_quaternion = [sign * each for each in (0.8, 0.6, 0.0, 0.0)]
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    scene().frame_set(2)
    assert tuple(bone.rotation_quaternion) == (0, 0, 0, 0)
    animation = motion_of(own / "own.md5anim")
    check_shown(model_of(own / "own.md5mesh"), animation, range(5))


@pytest.mark.parametrize("is_bones", [True, False])
@pytest.mark.parametrize(
    ("begin", "default", "shown", "end"),
    [(0.0, 0.5, 0.5, 1.0), ([1.0, 2.0], None, [0.0, 0.0], [3.0, 4.0]), ([1, 2], [3, 4], [3, 4], [5, 6])],
    ids=["one", "several", "several with defaults"],
)
def test_a_switch_that_another_action_keys_has_its_default(own, is_bones, begin, default, shown, end):
    """As rigs have them, between two kinds of control: a custom property that a driver reads."""
    holder = rig().pose.bones["control"] if is_bones else rig()
    holder["switch"] = begin
    if default is not None:
        holder.id_properties_ui("switch").update(default=default)
    first, second = two_actions()
    holder["switch"] = end
    holder.keyframe_insert('["switch"]', frame=0)
    assert rig().animation_data.action == second

    def present():
        return holder["switch"].to_list() if isinstance(begin, list) else holder["switch"]

    with playing_instead(rig(), first, slot_of(rig(), first)):
        assert present() == shown
    assert present() == end


@pytest.mark.parametrize("what", ["CHOSEN", "NLA"])
def test_the_pose_stays_as_it_was(own, what):
    """And a strip moves what it moves alone."""
    first, second = two_actions()
    strip = rig().animation_data.nla_tracks.new().strips.new("strip", 20, first)
    scene().frame_set(3)
    before = [tuple(bone.rotation_euler) for bone in rig().pose.bones]
    found = motions_in(own, what=what, actions="first")
    assert [tuple(bone.rotation_euler) for bone in rig().pose.bones] == before
    assert rig().animation_data.action == second
    assert rig().animation_data.use_nla
    assert by_name("md5anim").read(found[strip.name if what == "NLA" else "first"]).flags.tolist() == [0, 56, 0]


def test_the_tweak_mode_of_the_nla_editor(own):
    first, _ = two_actions()
    animation = rig().animation_data
    track = animation.nla_tracks.new()
    strip = track.strips.new("strip", 20, first)
    track.select = strip.select = True
    animation.nla_tracks.active = track
    animation.use_tweak_mode = True
    if not animation.use_tweak_mode:
        pytest.skip(f"a script can't enter it here ({sum(strip.active for strip in track.strips)} active)")
    put(own / "in.md5anim", FILES["wave.md5anim"])
    for text in (
        error_of(export_anim, filepath=str(own / "x.md5anim"), what="CHOSEN", actions="second"),
        error_of(import_anim, filepath=str(own / "in.md5anim")),
    ):
        assert "is in the tweak mode of the NLA editor: leave it first" in text
    strip.scale = 2.0  # what is tweaked plays at the strip's time
    scene().frame_start, scene().frame_end = 20, round(strip.frame_end)
    assert motion_of(own / "own.md5anim", what="AUTO").num_frames == scene().frame_end - 19


def test_the_scenes_frames_are_written_and_stay(own):
    scene().frame_start, scene().frame_end = 3, 5
    assert motion_of(own / "own.md5anim", what="SCENE").num_frames == 3, "without any motion"
    assert by_name("md5anim").read((own / "own.md5anim").read_bytes()).components.shape == (3, 0)
    wave_own()
    scene().frame_set(2, subframe=0.5)
    for what in ("ACTIVE", "SCENE"):
        exported(own / "own.md5anim", what=what)
        assert (scene().frame_current, scene().frame_subframe) == (2, 0.5)


def test_an_imported_animation_on_an_armature_of_ones_own(own, capfd):
    without_control()
    wave_own()
    data = exported(own / "own.md5anim")
    capfd.readouterr()
    assert import_anim(filepath=str(own / "own.md5anim")) == {"FINISHED"}
    said = "as in files, and so do their keys, one in each frame: 'Bone', 'Bone.001', 'Bone.002'"
    assert said in capfd.readouterr().out
    assert differences(data, exported(own / "again.md5anim")) == set()


def with_a_cycle(action: Any) -> None:
    next(c for _, _, curves in action_parts(action) for c in curves if "euler" in c.data_path).modifiers.new("CYCLES")


def with_samples(action: Any) -> None:
    next(c for _, _, curves in action_parts(action) for c in curves if "euler" in c.data_path).convert_to_samples(0, 5)


def of_another(action: Any) -> None:
    other = bpy.data.objects.new("other", bpy.data.armatures.new("other"))
    other.animation_data_create().action = action


def as_a_constraints(action: Any) -> None:
    bpy.context.object.pose.bones[0].constraints.new("ACTION").action = action


@pytest.mark.parametrize("change", [with_a_cycle, with_samples, of_another, as_a_constraints])
def test_keys_in_angles_that_quaternions_would_not_show_stay_and_are_named(own, capfd, change):
    without_control()
    wave_own()
    exported(own / "own.md5anim")
    action = bpy.context.object.animation_data.action
    change(action)
    before = sorted(curve.data_path for _, _, curves in action_parts(action) for curve in curves)
    capfd.readouterr()
    assert import_anim(filepath=str(own / "own.md5anim")) == {"FINISHED"}
    assert f"once you set their Rotation Mode back: '{action.name}'" in capfd.readouterr().out
    assert sorted(curve.data_path for _, _, curves in action_parts(action) for curve in curves) == before


def test_keys_in_angles_of_what_nothing_plays_go_along(own, capfd):
    without_control()
    wave_own()
    exported(own / "own.md5anim")
    rig = bpy.context.object
    loose = rig.animation_data.action.copy()
    loose.use_fake_user = True
    bones = [bone.name for bone in rig.pose.bones]
    rig.animation_data.action = loose
    scene().frame_set(4)
    wanted = {name: np.array(rig.pose.bones[name].matrix) for name in bones}
    rig.animation_data_clear()
    assert import_anim(filepath=str(own / "own.md5anim")) == {"FINISHED"}
    assert "Rotation Mode back" not in capfd.readouterr().out
    rig.animation_data.action = loose
    if hasattr(loose, "slots"):
        rig.animation_data.action_slot = loose.slots[0]
    scene().frame_set(4)
    assert all(np.abs(np.array(rig.pose.bones[name].matrix) - wanted[name]).max() < 1e-4 for name in bones)


def test_connected_bones_that_can_not_move_are_said(own, capfd):
    without_control()
    wave_own()
    animation = motion_of(own / "own.md5anim")
    animation.source = None
    animation.positions[2, 1] += 3.0
    put(own / "moved.md5anim", ANIM.dump(animation))
    capfd.readouterr()
    import_anim(filepath=str(own / "own.md5anim"))
    assert "connected" not in capfd.readouterr().out
    import_anim(filepath=str(own / "moved.md5anim"))
    assert "'moved' moves joints whose bones are connected and stay: 'Bone.001'" in capfd.readouterr().out


def test_the_slot_that_the_armature_plays(own):
    action = wave_own()
    if not hasattr(action, "slots"):
        pytest.skip("this Blender's actions have none")
    first = motion_of(own / "a.md5anim")
    other = action.slots.new("OBJECT", "other")
    rig().animation_data.action_slot = other
    key("Bone.002", 0, (0, 0, 0))
    key("Bone.002", 4, (0, 0, 1.0))
    second = motion_of(own / "b.md5anim")
    assert same_turns(first.rotations[4, 2], first.rotations[0, 2]) < 1e-6
    assert same_turns(second.rotations[4, 2], second.rotations[0, 2]) == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("what", ["AUTO", "CHOSEN"])
def test_slots_that_the_armature_does_not_play(own, what):
    """Blender gives an armature none of them where they are called after others: nothing moves, which was not said."""
    action = wave_own()
    if not hasattr(action, "slots"):
        pytest.skip("this Blender's actions have none")
    animation, options = rig().animation_data, {"what": what, "actions": action.name if what == "CHOSEN" else ""}
    with collected_warnings() as said:
        export_anim(filepath=str(own / "a.md5anim"), **options)
    assert not any("slot" in text for text in said)
    action.slots[0].name_display = "Enemy"
    rig().animation_data_clear()
    rig().animation_data_create()
    animation = rig().animation_data
    if what == "AUTO":
        animation.action = action
        animation.action_slot = None
    with collected_warnings() as said:
        export_anim(filepath=str(own / "a.md5anim"), **options)
    alone = "'rig' plays no slot of 'rigAction', so that nothing moves: 'Enemy' is written, choose the slot in the "
    assert [text for text in said if "slot" in text] == ([f"{alone}Action Editor"] if what == "AUTO" else [])
    other = action.slots.new("OBJECT", "Boss")
    curves = slot_curves(action, other)
    curves.new('pose.bones["Bone.002"].location', index=0).keyframe_points.insert(4, 1.0)
    with collected_warnings() as said:
        export_anim(filepath=str(own / "a.md5anim"), **options)
    (text,) = [text for text in said if "slot" in text]
    assert text.startswith("'rig' plays no slot of" if what == "AUTO" else "'rig' plays none of the slots of")
    assert text.endswith("'Enemy' is written, not 'Boss', choose the slot in the Action Editor")


def test_slots_that_nothing_plays_are_said_to_be_left_out(own):
    action = wave_own()
    if not hasattr(action, "slots"):
        pytest.skip("this Blender's actions have none")
    other = action.slots.new("OBJECT", "Boss")
    curves = slot_curves(action, other)
    curves.new('pose.bones["Bone.002"].location', index=0).keyframe_points.insert(4, 1.0)

    def said(what: str) -> list[str]:
        with collected_warnings() as found:
            export_anim(filepath=str(own / "a.md5anim"), what=what, actions=action.name)
        return [text for text in found if "slot" in text]

    text = (
        "of 'rigAction' the slot 'rig' is written, which 'rig' plays, others that move its bones are left out: 'Boss'"
    )
    hint = " (in the Action Editor, Action > Move Slots to new Action makes animations of them)"
    assert said("ALL") == said("CHOSEN") == [text + hint]
    assert said("ACTIVE") == [], "what plays is what is asked for"
    boss = rig().copy()
    bpy.context.collection.objects.link(boss)
    boss.animation_data.action_slot = other
    assert said("ALL") == [], "it is the other's"


def test_files_without_joints(tmp_path):
    put(tmp_path / "none.md5mesh", samples_md5.MeshSpec(joints=[], parts=[]).pack())
    spec = samples_md5.AnimSpec(flags=(), starts=(), joints=[], frames=[[], []], bounds=[(0.0,) * 6] * 2)
    put(tmp_path / "none.md5anim", spec.pack())
    assert import_mesh(filepath=str(tmp_path / "none.md5mesh")) == {"FINISHED"}
    assert len(rig().data.bones) == 0
    assert [a.name for a in bpy.data.actions] == ["none"]
    for name in ("none.md5mesh", "none.md5anim"):
        assert differences((tmp_path / name).read_bytes(), exported(tmp_path / f"b{Path(name).suffix}")) == set()
