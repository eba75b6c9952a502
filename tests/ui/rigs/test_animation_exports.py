"""Exporting animations of an imported model: which actions, under which names, at which size and rate."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from io_idtech_models.blender.compat import action_parts, playing_curves
from io_idtech_models.model.bake import bake
from tests import samples_md5
from tests.facts import differences
from tests.samples import SENTINEL, put
from tests.ui.rigs.arms import (
    ANIM,
    FILES,
    MESH,
    export_anim,
    export_mesh,
    exported,
    import_anim,
    import_mesh,
    key,
    model_of,
    motion_of,
    motions_in,
    rig,
    scene,
)
from tests.ui.scene import activate, add_cube, add_tag, bpy, error_of, import_model

pytestmark = pytest.mark.usefixtures("empty_scene")


# -- exporting animations


@pytest.mark.parametrize("suffix", ["md5mesh", "md5anim"])
def test_an_armature_whose_record_is_damaged_is_named_once(arm, capfd, suffix):
    """Also where its animation alone is written, which needs the model for bounds."""
    rig().data["idtech_skeleton"] = b"damaged"
    exported(arm / f"c.{suffix}")
    assert "".join(capfd.readouterr()).count(f"the source of armature '{rig().name}' is ignored") == 1


def test_all_actions_go_into_the_folder(arm, capfd):
    found = motions_in(arm, what="ALL")
    *each, last = capfd.readouterr().out.strip().splitlines()
    assert last == "Info: 2 files: 'nod.md5anim', 'wave.md5anim'", "which has room in the status bar"
    assert each[-1].startswith("wave.md5anim: ")
    assert [*found] == ["nod", "wave"]
    assert not any(differences(FILES[f"{name}.md5anim"], data) for name, data in found.items())


@pytest.mark.parametrize(("then", "blend"), [("", "REPLACE"), ("nod", "REPLACE"), ("wave", "ADD"), ("nod", "ADD")])
def test_an_action_that_was_pushed_down_leaves_files_of_others_alone(arm, then, blend, capfd):
    """Export Again writes what the scene shows into the file of the action that plays, where that is not it alone."""
    activate(rig())
    bpy.ops.object.idtech_animation_play(name="wave")
    action, rig().animation_data.action = rig().animation_data.action, None
    rig().animation_data.nla_tracks.new().strips.new("wave", 0, action)  # which is not muted
    if then:
        bpy.ops.object.idtech_animation_play(name=then)
    rig().animation_data.action_blend_type = blend
    assert bpy.ops.object.idtech_export_again() == {"FINISHED"}
    changed = {n for n in ("nod", "wave") if differences(FILES[f"{n}.md5anim"], (arm / f"{n}.md5anim").read_bytes())}
    assert changed == ({then} if blend == "ADD" else set())
    assert ("the scene's range is written" in capfd.readouterr().out) == (blend == "ADD")


@pytest.mark.parametrize("how", ["", "influence", "extrapolation", "channel", "solo", "muted"])
def test_strips_below_an_action_that_moves_all_that_they_do_have_no_say(arm, how, capfd):
    activate(rig())
    bpy.ops.object.idtech_animation_play(name="nod")
    animation = rig().animation_data
    track = animation.nla_tracks.new()
    track.strips.new("wave", 0, bpy.data.actions["wave"])
    curves = playing_curves(rig())
    if how == "influence":
        animation.action_influence = 0.5
    elif how == "extrapolation":
        animation.action_extrapolation = "NOTHING"
    elif how == "channel":
        curves[0].keyframe_points.clear()
    elif how == "solo":
        track.is_solo = True
    elif how == "muted":
        curves[0].mute = True
    exported(arm / "shown.md5anim")
    assert ("NLA strips play" in capfd.readouterr().out) == bool(how)


def test_a_model_is_written_with_its_animations(arm):
    """All that are asked for, or none."""
    out = arm / "out"
    out.mkdir()
    said = error_of(export_mesh, filepath=str(out / "arm.md5mesh"), write_animations=True, actions="nod, none")
    assert "none" in said and not list(out.iterdir())
    for options, motions in (
        ({}, []),  # the model alone, as ever
        ({"write_animations": True, "actions": "nod"}, ["nod.md5anim"]),
        ({"write_animations": True}, ["nod.md5anim", "wave.md5anim"]),
    ):
        assert export_mesh(filepath=str(out / "arm.md5mesh"), **options) == {"FINISHED"}
        assert sorted(p.name for p in out.iterdir()) == ["arm.md5mesh", *motions]
    for path in out.glob("*.md5anim"):
        assert differences(FILES[path.name], path.read_bytes()) == set()


def test_formats_of_other_kinds_have_no_such_tick():
    for name in ("mdm", "mds", "iqm", "mdr"):
        assert "write_animations" not in getattr(bpy.ops.export_scene, f"idtech_{name}").get_rna_type().properties


def loose_action(name: str, *bones: str, keep: bool = True) -> Any:
    """Return an action that turns bones of the armature, which it neither plays nor keeps any more."""
    animation = rig().animation_data
    played = animation.action, getattr(animation, "action_slot", None)
    animation.action = None
    for bone in bones:
        key(bone, 0, (0, 0, 0))
        key(bone, 2, (0.5, 0, 0))
    found = animation.action
    found.name, found.use_fake_user = name, keep
    animation.action = played[0]
    if played[1] is not None:
        animation.action_slot = played[1]
    return found


def test_all_actions_are_all_that_fit(arm, capfd):
    """Also one that is neither playing nor in the NLA: a fake user keeps it."""
    activate(rig())
    loose_action("jump", "hand", "upper arm")
    bpy.data.objects["arm"].keyframe_insert("location", frame=0)
    scene().collection.objects.link(bpy.data.objects.new("stranger", bpy.data.armatures.new("stranger")))
    strangers = loose_action("strange", "hand")
    for curve in action_parts(strangers)[0][2]:
        curve.data_path = curve.data_path.replace("hand", "paw")
    bpy.data.actions.new("nothing").use_fake_user = True
    assert [*motions_in(arm, what="ALL")] == ["jump", "nod", "wave"]
    said = capfd.readouterr().out
    assert "of 'arm' are left out, rename what their curves move ('paw'): 'strange'" in said
    assert said.count("left out") == 1
    activate(rig())
    assert loose_action("hop", "hand", keep=False).users == 0
    assert [*motions_in(arm, what="ALL")] == ["jump", "nod", "wave"]
    said = "actions that nothing uses are left out, give them a fake user to keep them: 'hop'"
    assert said in capfd.readouterr().out
    rig().animation_data_clear()
    assert "jump" in motions_in(arm, what="ALL"), "an armature that has loose actions alone"


def test_what_another_armature_plays_or_keeps_is_its_own(arm):
    import_mesh(filepath=str(arm / "arm.md5mesh"))
    assert len(bpy.data.actions) == 4
    text = error_of(export_mesh, filepath=str(arm / "b.md5mesh"), what="SCENE")
    assert "one by one (select one with its meshes, Export: Selection): there are 2" in text
    assert differences(FILES["arm.md5mesh"], exported(arm / "b.md5mesh")) == set(), "AUTO is the active model"
    for block in [block for block in bpy.data.objects if block.type == "ARMATURE"]:
        activate(block)
        assert [*motions_in(arm, what="ALL")] == ["nod", "wave"]
        assert len({strip.action for track in block.animation_data.nla_tracks for strip in track.strips}) == 2


def test_actions_that_a_deleted_model_left_behind_are_left_out_and_said(arm, capfd):
    """Import gives them a fake user, and so they stay."""
    first = [*bpy.data.objects]
    import_mesh(filepath=str(arm / "arm.md5mesh"))
    kept = next(block for block in bpy.data.objects if block.type == "ARMATURE" and block not in first)
    bpy.data.batch_remove(first)
    bpy.context.view_layer.update()
    activate(kept)
    loose, _ = (action for action in bpy.data.actions if action.use_fake_user and action.users == 1)
    assert [*motions_in(arm, what="ALL")] == ["nod", "wave"]
    said = capfd.readouterr().out
    assert f"are left out, keep them in NLA tracks of '{kept.name}' to write them: '{loose.name}', '" in said
    loose.name = "dance"
    kept.animation_data.nla_tracks.new().strips.new("dance", 0, loose)
    assert [*motions_in(arm, what="ALL")] == ["dance", "nod", "wave"]


def test_chosen_actions(arm):
    assert [*motions_in(arm, what="CHOSEN", actions=" wave ,")] == ["wave"]
    path = str(arm / "any.md5anim")
    said = error_of(export_anim, filepath=path, what="CHOSEN", actions="wave, walk, run")
    assert "no action is called 'walk', 'run'" in said
    assert "no action is named" in error_of(export_anim, filepath=path, what="CHOSEN")


def test_files_have_names_of_their_own_that_file_systems_take(arm):
    for name, wanted in (("a/b:c", "a_b_c"), ("..", "animation"), ("tab\there", "tab_here")):
        action = bpy.data.actions["wave"].copy()
        action.name = name
        assert [*motions_in(arm, what="CHOSEN", actions=action.name.strip())] == [wanted]
    activate(rig())
    import_anim(filepath=str(arm / "wave.md5anim"))
    bpy.data.actions["nod"].name = "WAVE"
    found = motions_in(arm, what="CHOSEN", actions="WAVE, wave, wave.001")
    assert [*found] == ["WAVE", "wave.001", "wave.002"]


def test_nothing_to_export(folder):
    import_mesh(filepath=str(folder / "arm.md5mesh"), animations=False)
    for what, sentence in (
        ("ACTIVE", "'arm' plays no action"),
        ("ALL", "'arm' has no action"),
        ("NLA", "'arm' has no NLA strip that plays"),
    ):
        assert sentence in error_of(export_anim, filepath=str(folder / "b.md5anim"), what=what)
    scene().frame_start, scene().frame_end = 0, 0
    assert motion_of(folder / "b.md5anim", what="SCENE").num_frames == 1
    bpy.data.objects.remove(rig())
    assert "no armature is active" in error_of(export_anim, filepath=str(folder / "c.md5anim"))
    assert "no armature among the objects; select it with its meshes" in error_of(
        export_mesh, filepath=str(folder / "c.md5mesh"), what="SCENE"
    )
    import_model(SENTINEL)
    assert "no armature among the objects; Object > id Tech > Make Rig from Frames makes one" in error_of(
        export_mesh, filepath=str(folder / "c.md5mesh"), what="SCENE"
    )


def test_a_model_that_is_shown_as_an_instance(folder):
    """Whose armature is none of the scene's."""
    import_mesh(filepath=str(folder / "arm.md5mesh"))
    home = rig().users_collection[0]
    shown = bpy.data.objects.new("shown", None)
    shown.instance_type, shown.instance_collection = "COLLECTION", home
    scene().collection.objects.link(shown)
    activate(shown)
    scene().collection.children.unlink(home)
    said = error_of(export_mesh, filepath=str(folder / "c.md5mesh"))
    assert "collections are shown as instances (link them into the scene, or Object > Apply > Make" in said
    assert said.rstrip().endswith("leaves out animations): 'shown'")


@pytest.mark.parametrize("way", ["scaled", "applied", "parent"])
def test_files_that_belong_together_are_of_one_size(arm, way, capfd):
    """A scaled armature is written as Blender shows it; who writes one file of several is told of the others."""
    exported(arm / "same.md5mesh")
    exported(arm / "same.md5anim")
    assert "as far apart" not in capfd.readouterr().out
    scaled = rig()
    if way == "parent":
        scaled = rig().parent = add_tag("carrier", "PLAIN_AXES")
    scaled.scale = (2.0, 2.0, 2.0)
    if way == "applied":
        bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
    bpy.context.view_layer.update()
    said = "bones lie 2 times as far apart as in the file they came from: games need "
    bind = model_of(arm / "large.md5mesh").skeleton.bind.positions[1:2]
    assert said + "its animations, exported anew, of that size" in capfd.readouterr().out
    moving = motion_of(arm / "large.md5anim").positions[0, 1:2]
    assert said + "the model, exported anew, of that size" in capfd.readouterr().out
    np.testing.assert_allclose(np.linalg.norm(bind, axis=-1), np.linalg.norm(moving, axis=-1), rtol=1e-3)


BONES: dict[str, tuple[Callable[[Any], None], str]] = {
    "added": (lambda bones: setattr(bones.new("extra"), "tail", (0.0, 0.0, 5.0)), "added 'extra'"),
    "deleted": (lambda bones: bones.remove(bones["hand"]), "gone 'hand'"),
    "elsewhere": (lambda bones: setattr(bones["hand"], "parent", bones["origin"]), "under another parent 'hand'"),
    "renamed": (lambda bones: setattr(bones["hand"], "name", "paw"), "renamed 'hand'"),
}


def test_a_bone_that_was_made_anew_is_the_same_joint(arm, capfd):
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig().data.edit_bones
    old = bones["hand"]
    new = bones.new("new")
    new.matrix, new.tail, new.parent = old.matrix, old.tail, old.parent
    bones.remove(old)
    new.name = "hand"
    bpy.ops.object.mode_set(mode="OBJECT")
    exported(arm / "model.md5mesh")
    assert "joints are others" not in capfd.readouterr().out


@pytest.mark.parametrize("edit", BONES)
def test_files_that_belong_together_have_the_same_joints(arm, edit, capfd):
    change, wanted = BONES[edit]
    bpy.ops.object.mode_set(mode="EDIT")
    change(rig().data.edit_bones)
    bpy.ops.object.mode_set(mode="OBJECT")
    said = "joints are others than in the file they came from, games need "
    exported(arm / "model.md5mesh", orphan_bone="origin")
    assert f"{said}its animations, exported anew, with the same: {wanted}" in capfd.readouterr().out
    exported(arm / "motion.md5anim")
    assert f"{said}the model, exported anew, with the same: {wanted}" in capfd.readouterr().out
    exported(arm / "all.md5mesh", orphan_bone="origin", write_animations=True)
    assert said not in capfd.readouterr().out
    exported(arm / "model.md5mesh", orphan_bone="origin")
    capfd.readouterr()
    assert bpy.ops.object.idtech_export_again() == {"FINISHED"}
    assert said not in capfd.readouterr().out, "it writes all of them"
    rig().animation_data.action = rig().animation_data.action.copy()
    del rig().animation_data.action["idtech_file"]
    assert bpy.ops.object.idtech_export_again() == {"FINISHED"}
    assert f"{said}its animations, exported anew, with the same: {wanted}" in capfd.readouterr().out, "but for one"


@pytest.mark.parametrize("scale", [1.0, 0.0254, 2.0])
def test_an_animation_of_another_size_than_its_model_is_named(arm, scale, capfd):
    """Once when it comes, with the scale that fits, and whenever it is written."""
    assert import_anim(filepath=str(arm / "nod.md5anim"), scale=scale) == {"FINISHED"}
    said = f"has bones {scale:.4g} times as far apart as 'arm' at rest: import it at Scale 1"
    assert (said in capfd.readouterr().out) == (scale != 1.0)
    exported(arm / "again.md5anim")
    said = f"has bones {scale:.4g} times as far apart as they are at rest (was it imported at another Scale?)"
    assert (said in capfd.readouterr().out) == (scale != 1.0)


@pytest.mark.parametrize(("kind", "said"), [("iqm", "was imported with Scale 0.5"), ("mdx", "times as far apart")])
def test_animations_alone_of_another_size_than_their_files_are_said(folder, kind, said, capfd):
    assert import_mesh(filepath=str(folder / "arm.md5mesh"), scale=0.5) == {"FINISHED"}
    activate(rig())
    for scale in (1.0, 0.5):
        capfd.readouterr()
        write = getattr(bpy.ops.export_anim, f"idtech_{kind}")
        assert write(filepath=str(folder / f"b.{kind}"), scale=scale) == {"FINISHED"}
        assert (said in capfd.readouterr().out) == (scale == 1.0)


def test_what_is_said_of_a_model_stands_before_its_animations_and_of_their_folder_once(arm, capfd):
    assert import_anim(filepath=str(arm / "nod.md5anim"), scale=2.0) == {"FINISHED"}
    capfd.readouterr()
    export_mesh(filepath=str(arm / "large.md5mesh"), game="quake2remaster", write_animations=True)
    said = capfd.readouterr().out
    places = [
        said.index(text) for text in ("shows 'large.md5anim' with it", "nod.001.md5anim: ", "2 times as far apart")
    ]
    assert places == sorted(places)
    assert said.count("written into the folder 'md5'") == 1


def test_options_of_an_export(arm, capfd):
    looped = motion_of(arm / "b.md5anim", loop=True)
    assert looped.num_frames == 3
    for kind in ("positions", "rotations", "bounds"):
        np.testing.assert_array_equal(getattr(looped, kind)[2], getattr(looped, kind)[0])
    found = motion_of(arm / "b.md5anim", recompute_bounds=True)
    wanted = bake(MESH.load(FILES["arm.md5mesh"], "x"), [ANIM.load(FILES["nod.md5anim"], "x")]).surfaces[0].positions
    np.testing.assert_allclose(found.bounds, np.stack((wanted.min(axis=1), wanted.max(axis=1)), axis=1), atol=1e-4)
    scene().render.fps, scene().render.fps_base = 30, 1.001
    assert motion_of(arm / "b.md5anim").frame_rate == 24, "the action's"
    assert motion_of(arm / "b.md5anim", frame_rate=12).frame_rate == 12
    del bpy.data.actions["nod"]["idtech_frame_rate"]
    capfd.readouterr()
    assert motion_of(arm / "b.md5anim").frame_rate == 30, "the scene's"
    assert "29.97 frames per second, MD5 only whole numbers: written as 30" in capfd.readouterr().out


def hung_on_a_bone() -> None:
    hat = add_cube("hat")
    hat.parent, hat.parent_type, hat.parent_bone = rig(), "BONE", rig().data.bones[-1].name


def bent_by_the_armature() -> None:
    hat = add_cube("hat")
    hat.modifiers.new("Armature", "ARMATURE").object = rig()
    hat.vertex_groups.new(name=rig().data.bones[-1].name).add(range(8), 1.0, "REPLACE")


@pytest.mark.parametrize("hang", [hung_on_a_bone, bent_by_the_armature])
def test_bounds_of_an_animation_hold_what_was_added_to_its_model(arm, hang):
    before = motion_of(arm / "a.md5anim").bounds
    hang()
    activate(rig())
    np.testing.assert_array_equal(motion_of(arm / "b.md5anim").bounds, before)  # which have room for it
    bpy.data.objects["hat"].scale = (400.0, 1.0, 1.0)
    bpy.context.view_layer.update()
    after = motion_of(arm / "b.md5anim").bounds
    assert (np.ptp(after, axis=1).max(axis=1) > 390.0).all()
    assert (after[:, 0] <= before[:, 0]).all() and (after[:, 1] >= before[:, 1]).all()


def test_bounds_of_animations_hold_the_model_that_is_written_beside_them(arm):
    """Also a mesh that nothing but its vertex groups joins to the armature."""
    before = motion_of(arm / "nod.md5anim").bounds
    hat = add_cube("hat")
    hat.vertex_groups.new(name=rig().data.bones[-1].name).add(range(8), 1.0, "REPLACE")
    hat.scale = (400.0, 1.0, 1.0)
    assert export_mesh(filepath=str(arm / "out/a.md5mesh"), what="VISIBLE", write_animations=True) == {"FINISHED"}
    after = ANIM.load((arm / "out/nod.md5anim").read_bytes(), "x").bounds
    assert (np.ptp(after, axis=1).max(axis=1) > 390.0).all()
    assert (np.ptp(before, axis=1) < 200.0).all()


def test_a_file_without_a_frame_rate_keeps_it(folder):
    spec = samples_md5.wave_spec()
    spec.frame_rate = 0
    put(folder / "still.md5anim", spec.pack())
    import_mesh(filepath=str(folder / "arm.md5mesh"), animations=False)
    import_anim(filepath=str(folder / "still.md5anim"))
    assert differences(spec.pack(), exported(folder / "b.md5anim")) == set()


def test_a_failed_export_leaves_all_old_files(arm):
    """The second of three can't be written: none is."""
    joints = bpy.data.actions["nod"].copy()
    joints.name = "broken"
    joints.use_frame_range = True
    joints.frame_start, joints.frame_end = 0.25, 0.5
    out = arm / "out"
    for name in ("nod", "broken", "wave"):
        put(out / f"{name}.md5anim", b"old")
    text = error_of(export_anim, filepath=str(out / "x.md5anim"), what="CHOSEN", actions="nod, broken, wave")
    assert "'broken' has no whole frame" in text
    assert {p.read_bytes() for p in out.iterdir()} == {b"old"}


def test_what_is_no_number_is_not_written(arm):
    mesh = next(block for block in bpy.data.objects if block.type == "MESH").data
    mesh.vertices[0].co.x = float("nan")
    out = arm / "out.md5mesh"
    assert "has places that are no numbers, or beyond all" in error_of(export_mesh, filepath=str(out), what="SCENE")
    assert not out.exists()
