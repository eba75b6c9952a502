"""The operators of MD5: importing models and animations, exporting those and any armature."""

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from mathutils import Euler, Matrix, Vector

from io_idtech_models.blender.compat import action_parts
from io_idtech_models.blender.skeletal.build import SkeletalSettings
from io_idtech_models.blender.skeletal.rig_scene import SkeletalGatherSettings
from io_idtech_models.formats import MOTION, ROWS, SKELETAL, by_name, rows_of
from io_idtech_models.formats.format import ENGINES
from io_idtech_models.model.bake import bake
from io_idtech_models.model.limits.games import GAMES
from io_idtech_models.model.skeletal import mismatch, skin
from io_idtech_models.model.transforms import chain, same_turns
from io_idtech_models.tasks.export.motion import AnimationExport
from io_idtech_models.ui import menus as files
from tests import samples_md5
from tests.facts import differences
from tests.samples import CORPUS, sample
from tests.ui.scene import (
    activate,
    add_cube,
    bpy,
    counts,
    counts_after_undo,
    error_of,
    picture_of,
    png,
    put,
    settings,
    tga,
)

pytestmark = pytest.mark.usefixtures("empty_scene")
import_mesh, export_mesh = bpy.ops.import_scene.idtech_md5mesh, bpy.ops.export_scene.idtech_md5mesh
import_anim, export_anim = bpy.ops.import_anim.idtech_md5anim, bpy.ops.export_anim.idtech_md5anim
MESH, ANIM = by_name("md5mesh"), by_name("md5anim")
XSARGE = CORPUS / "xreal/base/models/players/xsarge"
FILES = {
    "arm.md5mesh": samples_md5.arm(),
    "nod.md5anim": samples_md5.wave_spec(2).pack(),
    "wave.md5anim": samples_md5.wave(),
    "other.md5anim": samples_md5.roots_wave(),
}


def scene():
    return bpy.context.scene


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a model, two animations of it, and one of another model."""
    for name, data in FILES.items():
        put(tmp_path / name, data)
    return tmp_path


@pytest.fixture
def arm(folder):
    """Import the model with its animations; returns the folder."""
    assert import_mesh(filepath=str(folder / "arm.md5mesh")) == {"FINISHED"}
    return folder


def rig() -> Any:
    return next(b for b in bpy.data.objects if b.type == "ARMATURE")


def exported(path: Path, **options: Any) -> bytes:
    """Export; returns the file."""
    operator = export_mesh if path.suffix == ".md5mesh" else export_anim
    assert operator(filepath=str(path), **options) == {"FINISHED"}
    return path.read_bytes()


def model_of(path: Path, **options: Any) -> Any:
    return MESH.load(exported(path, **options), path.stem)


def motion_of(path: Path, **options: Any) -> Any:
    return ANIM.load(exported(path, **options), path.stem)


# -- import


def test_what_an_import_makes(arm):
    (collection,) = scene().collection.children
    assert collection.name == "arm"
    assert sorted(b.type for b in collection.objects) == ["ARMATURE", "MESH"]
    assert collection["idtech_file"] == str(arm / "arm.md5mesh")
    assert [a.name for a in bpy.data.actions] == ["nod", "wave"]
    assert bpy.context.view_layer.objects.active == rig()
    assert set(bpy.context.selected_objects) == set(collection.objects)
    assert rig().animation_data.action.name == "nod"
    assert settings(scene()) == (0, 1, 1, 24, 1.0)
    assert bpy.context.mode == "OBJECT"


def test_what_comes_along_is_said(folder, capfd):
    import_mesh(filepath=str(folder / "arm.md5mesh"))
    assert "arm.md5mesh: 1 mesh, 3 joints, 13 vertices, 2 animations" in capfd.readouterr().out


def test_broken_animations_are_said_and_others_passed_over(folder, capfd):
    put(folder / "cut.md5anim", samples_md5.wave()[:400])
    import_mesh(filepath=str(folder / "arm.md5mesh"))
    said = capfd.readouterr().out
    assert "cut.md5anim: " in said
    assert "other" not in said
    assert [a.name for a in bpy.data.actions] == ["nod", "wave"]


def test_without_animations(folder):
    import_mesh(filepath=str(folder / "arm.md5mesh"), animations=False)
    assert not bpy.data.actions
    assert rig().animation_data is None


def test_options_of_an_import(folder):
    before = settings(scene())
    import_mesh(filepath=str(folder / "arm.md5mesh"), fit_range=False, frame_rate=False, weld=False, scale=2.0)
    assert settings(scene()) == before
    assert len(bpy.data.meshes[0].vertices) == 13
    assert tuple(rig().data.bones["hand"].head_local) == pytest.approx((48, 2, 4))
    assert differences(FILES["arm.md5mesh"], exported(folder / "b.md5mesh", scale=2.0)) == set()
    assert differences(FILES["nod.md5anim"], exported(folder / "b.md5anim", scale=2.0)) == set()


def test_a_pose_leaves_the_scenes_range(tmp_path):
    put(tmp_path / "arm.md5mesh", samples_md5.arm())
    put(tmp_path / "pose.md5anim", samples_md5.one_frame())
    scene().frame_set(17)
    before = settings(scene())[:3]
    assert import_mesh(filepath=str(tmp_path / "arm.md5mesh")) == {"FINISHED"}
    assert settings(scene())[:3] == before
    assert import_anim(filepath=str(tmp_path / "pose.md5anim")) == {"FINISHED"}
    assert settings(scene())[:3] == before
    assert differences(samples_md5.one_frame(), exported(tmp_path / "b.md5anim")) == set()


def test_several_models_at_once(folder):
    put(folder / "b.md5mesh", samples_md5.several_roots())
    names = [{"name": name} for name in ("arm.md5mesh", "b.md5mesh")]
    assert import_mesh(directory=str(folder), files=names) == {"FINISHED"}
    assert [c.name for c in bpy.data.collections] == ["arm", "b"]
    assert [a.name for a in bpy.data.actions] == ["nod", "other", "wave"]


SHADER = "models/md5/arm"


@pytest.mark.parametrize("ending", ["", "_d", "_diffuse", "_local"])
@pytest.mark.parametrize(("suffix", "make"), [(".tga", tga), (".png", png)])
def test_pictures_are_those_of_the_game(tmp_path, ending, suffix, make):
    put(tmp_path / "base/models/md5/arm.md5mesh", FILES["arm.md5mesh"])
    make(tmp_path / f"base/{SHADER}{ending}{suffix}")
    import_mesh(filepath=str(tmp_path / "base/models/md5/arm.md5mesh"))
    assert picture_of(bpy.data.materials[SHADER]) == str(tmp_path / f"base/{SHADER}{ending}{suffix}")


def test_missing_pictures_are_said(folder, capfd):
    import_mesh(filepath=str(folder / "arm.md5mesh"))
    assert f"1 texture not found: '{SHADER}'" in capfd.readouterr().out


def test_animations_onto_the_active_armature(folder):
    import_mesh(filepath=str(folder / "arm.md5mesh"), animations=False)
    names = [{"name": name} for name in ("wave.md5anim", "nod.md5anim")]
    assert import_anim(directory=str(folder), files=names) == {"FINISHED"}
    assert [a.name for a in bpy.data.actions] == ["nod", "wave"]
    assert rig().animation_data.action.name == "wave", "the first plays"
    assert settings(scene()) == (0, 4, 1, 24, 1.0), "and the scene fits it"
    assert [t.name for t in rig().animation_data.nla_tracks] == ["wave", "nod"]
    for name in ("wave", "nod"):
        (folder / f"{name}.md5anim").unlink()
        assert export_anim(filepath=str(folder / "x.md5anim"), what="CHOSEN", actions=name) == {"FINISHED"}
        assert differences(FILES[f"{name}.md5anim"], (folder / f"{name}.md5anim").read_bytes()) == set()


def test_an_animation_onto_the_armature_of_the_active_mesh(folder):
    import_mesh(filepath=str(folder / "arm.md5mesh"), animations=False)
    activate(next(b for b in bpy.data.objects if b.type == "MESH"))
    import_anim(filepath=str(folder / "wave.md5anim"))
    assert len([b for b in bpy.data.objects if b.type == "ARMATURE"]) == 1
    assert rig().animation_data.action.name == "wave"


def test_an_animation_makes_an_armature_where_there_is_none(folder):
    names = [{"name": name} for name in ("wave.md5anim", "nod.md5anim", "other.md5anim")]
    text = error_of(import_anim, directory=str(folder), files=names)
    assert text.split("\n")[0] == (
        "other.md5anim: 'other' does not fit 'wave': the animation has 5 joints, the model 3"
    )
    assert [b.type for b in bpy.data.objects] == ["ARMATURE"]
    assert [b.name for b in rig().data.bones] == ["origin", "upper arm", "hand"]
    assert [a.name for a in bpy.data.actions] == ["nod", "wave"]
    assert differences(FILES["wave.md5anim"], exported(folder / "out.md5anim")) == set()


def test_an_animation_at_another_scale(folder):
    import_mesh(filepath=str(folder / "arm.md5mesh"), animations=False, scale=0.5)
    import_anim(filepath=str(folder / "wave.md5anim"), scale=0.5)
    scene().frame_set(3)
    animation = ANIM.load(FILES["wave.md5anim"], "x")
    places, _ = chain(animation.parents, animation.positions, animation.rotations)
    assert tuple(rig().pose.bones["hand"].head) == pytest.approx(places[3, 2] / 2, abs=1e-5)
    assert differences(FILES["wave.md5anim"], exported(folder / "out.md5anim", scale=0.5)) == set()


# -- imports that fail


@pytest.mark.parametrize("loaded", [False, True])
@pytest.mark.parametrize("data", [b"", b"MD5Version 10\n", FILES["arm.md5mesh"][:900], b"MD5Version 6\nnumbones 1"])
def test_a_broken_file_leaves_everything_as_it_was(folder, data, loaded):
    if loaded:
        import_mesh(filepath=str(folder / "arm.md5mesh"))
    put(folder / "bad.md5mesh", data)
    before, old, chosen = counts(), settings(scene()), set(bpy.context.selected_objects)
    text = error_of(import_mesh, filepath=str(folder / "bad.md5mesh"))
    assert text.startswith("bad.md5mesh: ")
    assert "\n" not in text
    assert (counts(), settings(scene()), set(bpy.context.selected_objects)) == (before, old, chosen)
    assert bpy.context.mode == "OBJECT"


@pytest.mark.parametrize("name", ["other.md5anim", "cut.md5anim", "none.md5anim"])
def test_an_animation_that_fails_leaves_everything_as_it_was(folder, name):
    put(folder / "cut.md5anim", samples_md5.wave()[:400])
    import_mesh(filepath=str(folder / "arm.md5mesh"), animations=False)
    before, old = counts(), settings(scene())
    assert name in error_of(import_anim, filepath=str(folder / name))
    assert (counts(), settings(scene())) == (before, old)
    assert rig().animation_data is None
    assert bpy.context.mode == "OBJECT"


@pytest.mark.parametrize(
    ("name", "content", "run"),
    [
        ("a.md5mesh", "MD3", bpy.ops.import_scene.idtech_md5mesh),
        ("a.md5anim", "MD3", bpy.ops.import_anim.idtech_md5anim),
        ("a.md3", "MD5MESH", bpy.ops.import_scene.idtech_md3),
    ],
)
def test_a_file_under_the_name_of_another_kind_is_one_sentence(tmp_path, name, content, run):
    (tmp_path / name).write_bytes(sample("minimal") if content == "MD3" else samples_md5.arm())
    before = counts()
    text = error_of(run, filepath=str(tmp_path / name))
    said = f"{name}: its content is {content}, whatever its name: rename it, and import it as that"
    assert text.splitlines()[0] == said
    assert counts() == before


def test_a_broken_animation_without_an_armature_makes_none(folder):
    put(folder / "cut.md5anim", samples_md5.wave()[:400])
    before = counts()
    error_of(import_anim, filepath=str(folder / "cut.md5anim"))
    assert counts() == before


# -- whatever mode and collection


@pytest.fixture
def others(folder):
    """Make an armature and a cube of one's own, which must stay as they are."""
    made = bpy.data.objects.new("mine", bpy.data.armatures.new("mine"))
    scene().collection.objects.link(made)
    activate(made)
    bpy.ops.object.mode_set(mode="EDIT")
    bone = made.data.edit_bones.new("bone")
    bone.head, bone.tail = (0, 0, 0), (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    cube = add_cube()
    activate(made, cube)
    return made, cube


@pytest.mark.parametrize("mode", ["OBJECT", "EDIT", "POSE"])
@pytest.mark.parametrize("which", [0, 1])
def test_an_import_in_any_mode(folder, others, mode, which):
    if which == 1 and mode == "POSE":
        pytest.skip("meshes have none")
    activate(others[which])
    bpy.ops.object.mode_set(mode=mode)
    assert import_mesh(filepath=str(folder / "arm.md5mesh")) == {"FINISHED"}
    bpy.context.view_layer.objects.active = others[which]
    assert others[which].mode == mode, "it is put back"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert [b.name for b in others[0].data.bones] == ["bone"]
    assert len(others[1].data.vertices) == 8
    activate(bpy.data.objects["arm"])
    assert differences(FILES["arm.md5mesh"], exported(folder / "b.md5mesh")) == set()


def test_an_export_in_edit_and_pose_mode(arm):
    for block, mode in ((rig(), "EDIT"), (rig(), "POSE"), (bpy.data.objects["arm.001"], "EDIT")):
        activate(block)
        bpy.ops.object.mode_set(mode=mode)
        assert differences(FILES["arm.md5mesh"], exported(arm / "b.md5mesh")) == set()
        assert differences(FILES["nod.md5anim"], exported(arm / "b.md5anim")) == set()
        assert block.mode == mode
        bpy.ops.object.mode_set(mode="OBJECT")


def test_an_edit_in_edit_mode_is_exported(arm):
    block = bpy.data.objects["arm.001"]
    activate(block)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.transform.translate(value=(0, 0, 3))
    assert {p.partition("[")[0] for p in differences(FILES["arm.md5mesh"], exported(arm / "b.md5mesh"))} == {"parts"}


def test_an_animation_in_pose_mode(folder):
    import_mesh(filepath=str(folder / "arm.md5mesh"), animations=False)
    bpy.ops.object.mode_set(mode="POSE")
    assert import_anim(filepath=str(folder / "wave.md5anim")) == {"FINISHED"}
    assert bpy.context.mode == "POSE"
    assert rig().animation_data.action.name == "wave"


def test_selected_armatures_stay_out_of_edit_mode(folder, others):
    """An armature with linked data could not even go there, and edit mode rounds bones."""
    activate(others[0])
    before = np.array(others[0].data.bones[0].matrix_local)
    from io_idtech_models.blender.skeletal import armature

    seen: list[str] = []
    original = armature._add_bones

    def spy(*arguments):
        seen.extend(b.name for b in bpy.data.objects if b.mode == "EDIT")
        return original(*arguments)

    armature._add_bones = spy
    try:
        import_mesh(filepath=str(folder / "arm.md5mesh"))
    finally:
        armature._add_bones = original
    assert seen == ["arm"]
    assert np.array_equal(before, np.array(others[0].data.bones[0].matrix_local))


def new_collection(name: str) -> Any:
    made = bpy.data.collections.new(name)
    scene().collection.children.link(made)
    layer = bpy.context.view_layer.layer_collection.children[name]
    bpy.context.view_layer.active_layer_collection = layer
    return layer


@pytest.mark.parametrize("state", ["exclude", "hide_viewport", "holdout"])
def test_where_the_active_collection_is_not_shown(folder, state):
    setattr(new_collection("Mine"), state, True)
    assert import_mesh(filepath=str(folder / "arm.md5mesh")) == {"FINISHED"}
    assert bpy.data.collections["arm"] in set(scene().collection.children_recursive)
    assert bpy.context.mode == "OBJECT"
    for layer in bpy.context.view_layer.layer_collection.children:
        setattr(layer, state, False)
    activate(rig())
    assert differences(FILES["arm.md5mesh"], exported(folder / "b.md5mesh")) == set()
    assert differences(FILES["nod.md5anim"], exported(folder / "b.md5anim")) == set()


def test_where_the_active_collection_is_hidden_for_good(folder):
    made = new_collection("Mine").collection
    made.hide_viewport = made.hide_select = True
    assert import_mesh(filepath=str(folder / "arm.md5mesh")) == {"FINISHED"}
    made.hide_viewport = False
    activate(rig())
    assert differences(FILES["arm.md5mesh"], exported(folder / "b.md5mesh")) == set()


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("what", ["ACTIVE", "SCENE"])
def test_a_hidden_armature_has_its_curves_or_says_so(arm, what, alone):
    """Blender does not move what nothing shows needs: better an error than one pose in all frames."""
    if alone:
        bpy.data.objects.remove(bpy.data.objects["arm.001"])
    rig().hide_viewport = True
    bpy.context.view_layer.objects.active = rig()
    if what == "SCENE" and alone:
        text = error_of(export_anim, filepath=str(arm / "b.md5anim"), what=what)
        assert "is hidden" in text
        assert not (arm / "b.md5anim").exists()
        return
    found, wanted = motion_of(arm / "b.md5anim", what=what), ANIM.load(FILES["nod.md5anim"], "x")
    np.testing.assert_allclose(found.positions, wanted.positions, atol=1e-4)
    assert same_turns(found.rotations, wanted.rotations).max() < 1e-5


# -- exporting animations


@pytest.mark.parametrize("what", ["model", "animation"])
def test_an_armature_whose_record_is_damaged_is_named_once(arm, capfd, what):
    """Also where its animation alone is written, which needs the model for bounds."""
    rig().data["idtech_skeleton"] = b"damaged"
    capfd.readouterr()
    path = arm.parent / ("c.md5mesh" if what == "model" else "c.md5anim")
    assert (export_mesh if what == "model" else export_anim)(filepath=str(path)) == {"FINISHED"}
    said = "".join(capfd.readouterr())
    assert said.count(f"the source of armature '{rig().name}' is ignored") == 1


def test_all_actions_go_into_the_folder(arm):
    out = arm / "out"
    out.mkdir()
    assert export_anim(filepath=str(out / "any.md5anim"), what="ALL") == {"FINISHED"}
    assert sorted(p.name for p in out.iterdir()) == ["nod.md5anim", "wave.md5anim"]
    for path in out.iterdir():
        assert differences(FILES[path.name], path.read_bytes()) == set()


def loose_action(name: str, *bones: str, keep: bool = True) -> Any:
    """Return an action that turns bones of the armature, which it neither plays nor keeps any more."""
    block = rig()
    played = block.animation_data.action, getattr(block.animation_data, "action_slot", None)
    block.animation_data.action = None
    for bone in bones:
        key(bone, 0, (0, 0, 0))
        key(bone, 2, (0.5, 0, 0))
    found = block.animation_data.action
    found.name, found.use_fake_user = name, keep
    block.animation_data.action = played[0]
    if played[1] is not None:
        block.animation_data.action_slot = played[1]
    return found


def all_actions(arm: Path, **options: Any) -> list[str]:
    """Export all actions of the active armature; returns the files' stems."""
    out = arm / f"out{len(list(arm.iterdir()))}"
    out.mkdir()
    assert export_anim(filepath=str(out / "any.md5anim"), what="ALL", **options) == {"FINISHED"}
    return sorted(path.stem for path in out.iterdir())


def test_all_actions_are_all_that_fit(arm, capfd):
    """Also one that is neither playing nor in the NLA: a fake user keeps it."""
    activate(rig())
    loose_action("jump", "hand", "upper arm")
    bpy.data.objects["arm"].keyframe_insert("location", frame=0)
    stranger = bpy.data.armatures.new("stranger")
    other = bpy.data.objects.new("stranger", stranger)
    scene().collection.objects.link(other)
    strangers = loose_action("strange", "hand")
    for curve in action_parts(strangers)[0][2]:
        curve.data_path = curve.data_path.replace("hand", "paw")
    bpy.data.actions.new("nothing").use_fake_user = True
    assert all_actions(arm) == ["jump", "nod", "wave"]
    assert "left out" not in capfd.readouterr().out


def test_what_another_armature_plays_or_keeps_is_its_own(arm):
    import_mesh(filepath=str(arm / "arm.md5mesh"))
    first, second = (b for b in bpy.data.objects if b.type == "ARMATURE")
    assert len(bpy.data.actions) == 4
    for block in (first, second):
        activate(block)
        kept = {strip.action.name for track in block.animation_data.nla_tracks for strip in track.strips}
        assert all_actions(arm) == sorted({"nod", "wave"})
        assert len(kept) == 2


def test_an_action_that_nothing_keeps_is_left_out_and_said(arm, capfd):
    activate(rig())
    assert loose_action("jump", "hand", keep=False).users == 0
    assert all_actions(arm) == ["nod", "wave"]
    said = "actions that nothing uses are left out, give them a fake user to keep them: 'jump'"
    assert said in capfd.readouterr().out


def test_an_armature_that_only_has_loose_actions(own):
    wave_own()
    action = rig().animation_data.action
    action.name, action.use_fake_user = "wave", True
    rig().animation_data_clear()
    assert all_actions(own) == ["wave"]


def test_chosen_actions(arm):
    out = arm / "out"
    out.mkdir()
    assert export_anim(filepath=str(out / "any.md5anim"), what="CHOSEN", actions=" wave ,") == {"FINISHED"}
    assert [p.name for p in out.iterdir()] == ["wave.md5anim"]
    text = error_of(export_anim, filepath=str(out / "any.md5anim"), what="CHOSEN", actions="wave, walk, run")
    assert "no action is called 'walk', 'run'" in text
    assert "no action is named" in error_of(export_anim, filepath=str(out / "any.md5anim"), what="CHOSEN")


def test_animations_of_one_name_get_files_of_their_own(arm):
    activate(rig())
    import_anim(filepath=str(arm / "wave.md5anim"))
    bpy.data.actions["nod"].name = "WAVE"
    bpy.data.actions.new("a/b:c")
    out = arm / "out"
    out.mkdir()
    export_anim(filepath=str(out / "any.md5anim"), what="CHOSEN", actions="WAVE, wave, wave.001")
    assert sorted(p.name for p in out.iterdir()) == ["WAVE.md5anim", "wave.001.md5anim", "wave.002.md5anim"]


def test_names_that_file_systems_refuse(arm):
    for name, wanted in (("a/b:c", "a_b_c"), ("..", "animation"), ("tab\there", "tab_here")):
        action = bpy.data.actions["wave"].copy()
        action.name = name
        out = arm / wanted
        out.mkdir()
        export_anim(filepath=str(out / "any.md5anim"), what="CHOSEN", actions=action.name.strip())
        assert [p.name for p in out.iterdir()] == [f"{wanted}.md5anim"]


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
    assert "no armature among the objects" in error_of(export_mesh, filepath=str(folder / "c.md5mesh"), what="SCENE")


def test_two_armatures_are_one_too_many(arm):
    import_mesh(filepath=str(arm / "arm.md5mesh"))
    text = error_of(export_mesh, filepath=str(arm / "b.md5mesh"), what="SCENE")
    assert "a skeletal model has one armature, export them one by one: there are 2" in text
    assert differences(FILES["arm.md5mesh"], exported(arm / "b.md5mesh")) == set(), "AUTO is the active model"


@pytest.mark.parametrize("way", ["scaled", "applied", "parent"])
def test_files_that_belong_together_are_of_one_size(arm, way, capfd):
    """A scaled armature is written as Blender shows it; who writes one file of several is told of the others."""
    rig = next(b for b in bpy.data.objects if b.type == "ARMATURE")
    export_mesh, export_anim = bpy.ops.export_scene.idtech_md5mesh, bpy.ops.export_anim.idtech_md5anim
    folder = Path(rig.data["idtech_file"]).parent
    assert export_mesh(filepath=str(folder / "same.md5mesh")) == {"FINISHED"}
    assert export_anim(filepath=str(folder / "same.md5anim")) == {"FINISHED"}
    assert "as far apart" not in capfd.readouterr().out
    carrier = bpy.data.objects.new("carrier", None)
    bpy.context.scene.collection.objects.link(carrier)
    if way == "parent":
        rig.parent = carrier
    (carrier if way == "parent" else rig).scale = (2.0, 2.0, 2.0)
    if way == "applied":
        bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
    bpy.context.view_layer.update()
    assert export_mesh(filepath=str(folder / "large.md5mesh")) == {"FINISHED"}
    said = "bones lie 2 times as far apart as in the file they came from: games need "
    assert said + "its animations, exported anew, of that size" in capfd.readouterr().out
    assert export_anim(filepath=str(folder / "large.md5anim")) == {"FINISHED"}
    assert said + "the model, exported anew, of that size" in capfd.readouterr().out
    mesh = by_name("md5mesh").load((folder / "large.md5mesh").read_bytes(), "")
    anim = by_name("md5anim").load((folder / "large.md5anim").read_bytes(), "")
    anim = anim[0] if isinstance(anim, list) else anim
    bind, moving = mesh.skeleton.bind.positions[1:2], anim.positions[0, 1:2]
    np.testing.assert_allclose(np.linalg.norm(bind, axis=-1), np.linalg.norm(moving, axis=-1), rtol=1e-3)


def test_a_loop_ends_as_it_begins(arm):
    found = motion_of(arm / "b.md5anim", loop=True)
    assert found.num_frames == 3
    np.testing.assert_array_equal(found.positions[2], found.positions[0])
    np.testing.assert_array_equal(found.rotations[2], found.rotations[0])
    np.testing.assert_array_equal(found.bounds[2], found.bounds[0])


def test_bounds_anew(arm):
    found = motion_of(arm / "b.md5anim", recompute_bounds=True)
    wanted = bake(MESH.load(FILES["arm.md5mesh"], "x"), [ANIM.load(FILES["nod.md5anim"], "x")]).surfaces[0].positions
    np.testing.assert_allclose(found.bounds, np.stack((wanted.min(axis=1), wanted.max(axis=1)), axis=1), atol=1e-4)


def test_the_frame_rate(arm, capfd):
    scene().render.fps, scene().render.fps_base = 30, 1.001
    assert motion_of(arm / "b.md5anim").frame_rate == 24, "the action's"
    assert motion_of(arm / "b.md5anim", frame_rate=12).frame_rate == 12
    del bpy.data.actions["nod"]["idtech_frame_rate"]
    capfd.readouterr()
    assert motion_of(arm / "b.md5anim").frame_rate == 30, "the scene's"
    assert "29.97 frames per second, MD5 only whole numbers: written as 30" in capfd.readouterr().out


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


# -- an armature of one's own


@pytest.fixture
def own(tmp_path):
    """Make an armature with a deforming mesh: connected bones, one that deforms nothing, euler angles."""
    data = bpy.data.armatures.new("rig")
    block = bpy.data.objects.new("rig", data)
    scene().collection.objects.link(block)
    activate(block)
    bpy.ops.object.mode_set(mode="EDIT")
    for name, head, tail, parent in (
        ("Bone", (0, 0, 0), (0, 0, 8), None),
        ("Bone.001", (0, 0, 8), (0, 4, 16), "Bone"),
        ("Bone.002", (0, 4, 16), (0, 4, 24), "Bone.001"),
        ("control", (20, 0, 0), (20, 0, 8), None),
    ):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        if parent:
            bone.parent, bone.use_connect = data.edit_bones[parent], True
    data.edit_bones["control"].use_deform = False
    bpy.ops.object.mode_set(mode="OBJECT")
    mesh = add_cube("box")
    for name, points in (("Bone", (0, 2, 4, 6)), ("Bone.001", (1, 3, 5)), ("Bone.002", (5, 7))):
        mesh.vertex_groups.new(name=name).add(points, 0.5, "REPLACE")
    mesh.modifiers.new("rig", "ARMATURE").object = block
    mesh.parent = block
    mesh.data.materials.append(bpy.data.materials.new("skin"))
    scene().frame_start, scene().frame_end, scene().render.fps = 0, 4, 20
    for bone in block.pose.bones:
        bone.rotation_mode = "XYZ"
    activate(block)
    return tmp_path


def key(bone: str, frame: int, angles: tuple[float, float, float]) -> None:
    pose = rig().pose.bones[bone]
    pose.rotation_euler = Euler(angles)
    pose.keyframe_insert("rotation_euler", frame=frame)


def wave_own() -> Any:
    """Let a bone of one's own turn; returns the action."""
    key("Bone.001", 0, (0, 0, 0))
    key("Bone.001", 4, (1.0, 0.2, -0.3))
    return rig().animation_data.action


def shown_points(frame: int) -> Any:
    """Return where the scene shows the points of all meshes, (P, 3)."""
    scene().frame_set(frame)
    graph = bpy.context.evaluated_depsgraph_get()
    found = []
    for block in scene().objects:
        if block.type == "MESH":
            seen = block.evaluated_get(graph)
            found += [tuple(seen.matrix_world @ v.co) for v in seen.data.vertices]
    return np.array(found)


def check_shown(model: Any, animation: Any, frames: range) -> None:
    """Assert that a model and an animation show in a game what the scene shows."""
    assert mismatch(model.skeleton, animation) == ""
    assert animation.num_frames == len(frames)
    places, turns = chain(animation.parents, animation.positions, animation.rotations)
    for index, frame in enumerate(frames):
        wanted = shown_points(frame)
        found = np.concatenate([skin(m.weights, places[index], turns[index]) for m in model.meshes])
        away = np.linalg.norm(found[:, None] - wanted[None], axis=-1)
        assert away.min(axis=0).max() < 1e-4
        assert away.min(axis=1).max() < 1e-4


def test_an_armature_of_ones_own(own):
    wave_own()
    model, animation = model_of(own / "own.md5mesh"), motion_of(own / "own.md5anim")
    assert model.skeleton.names == ["Bone", "Bone.001", "Bone.002"], "numbers tell bones apart"
    assert model.skeleton.parents.tolist() == [-1, 0, 1]
    assert (len(model.meshes), model.meshes[0].name, model.meshes[0].shader) == (1, "box", "skin")
    assert len(model.meshes[0].triangles) == 12
    assert animation.frame_rate == 20
    check_shown(model, animation, range(5))
    structs = by_name("md5anim").read((own / "own.md5anim").read_bytes())
    assert structs.flags.tolist() == [0, 56, 0], "only what varies is stored"
    np.testing.assert_array_equal(structs.base, structs.channels()[0])
    assert structs.command_line == ""


def many_weights() -> None:
    """Give a mesh weights that limits leave out: small ones, and more than one of each vertex; move their bones."""
    mesh = bpy.data.objects["box"]
    for name, weight in (("Bone", 0.5), ("Bone.001", 0.47), ("Bone.002", 0.03)):
        mesh.vertex_groups[name].add(range(8), weight, "REPLACE")
    wave_own()
    key("Bone.002", 0, (0, 0, 0))
    key("Bone.002", 4, (0.0, 2.0, 1.0))


def bounds_of(model: Any, animation: Any) -> Any:
    """Return the bounds of a model's meshes, as the files have it, in all frames."""
    poses = zip(*chain(animation.parents, animation.positions, animation.rotations), strict=True)
    found = [np.concatenate([skin(mesh.weights, *pose) for mesh in model.meshes]) for pose in poses]
    return np.array([(points.min(axis=0), points.max(axis=0)) for points in found])


LIMITS: list[dict[str, Any]] = [{}, {"most_weights": 1}, {"most_weights": 2}, {"most_weights": 0, "least_weight": 0.0}]


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("how", ["ACTIVE", "SCENE", "ALL"])
def test_bounds_are_those_of_the_model_as_it_was_exported(own, limits, how):
    """With what limits of weights is asked for once, with the model: the armature remembers."""
    many_weights()
    model = model_of(own / "own.md5mesh", **limits)
    name = f"{rig().animation_data.action.name}.md5anim" if how == "ALL" else "own.md5anim"
    assert export_anim(filepath=str(own / "own.md5anim"), what=how) == {"FINISHED"}
    animation = ANIM.load((own / name).read_bytes(), "x")
    np.testing.assert_allclose(animation.bounds, bounds_of(model, animation), atol=1e-4)
    others = [model_of(own / "x.md5mesh", **other) for other in LIMITS if other != limits]
    apart = [np.abs(animation.bounds - bounds_of(other, animation)).max() for other in others]
    assert max(apart) > 0.5, "else nothing is tested"


def test_limits_of_weights_for_bounds_can_be_given(own):
    many_weights()
    free: dict[str, Any] = {"most_weights": 0, "least_weight": 0.0}
    tight: dict[str, Any] = {"most_weights": 1, "least_weight": 0.05}
    models = [model_of(own / "own.md5mesh", **limits) for limits in (free, tight)]
    for limits, model in zip((free, tight), models, strict=True):
        animation = motion_of(own / "own.md5anim", **limits)
        np.testing.assert_allclose(animation.bounds, bounds_of(model, animation), atol=1e-4)


def test_limits_of_weights_are_remembered_in_the_blend(own):
    many_weights()
    assert not [name for name in rig().keys() if name.startswith("idtech")]  # noqa: SIM118
    model_of(own / "own.md5mesh")
    noted = [name for name in rig().keys() if name.startswith("idtech")]  # noqa: SIM118
    assert noted == ["idtech_export"], "what is usual needs no note"
    model = model_of(own / "own.md5mesh", most_weights=0, least_weight=0.0)
    bpy.ops.wm.save_as_mainfile(filepath=str(own / "x.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(own / "x.blend"))
    activate(rig())
    animation = motion_of(own / "own.md5anim")
    np.testing.assert_allclose(animation.bounds, bounds_of(model, animation), atol=1e-4)
    for stranger in ("x", [1, 2], 1e99, -5):
        rig()["idtech_most_weights"] = stranger
        motion_of(own / "own.md5anim")
    model = model_of(own / "own.md5mesh")
    animation = motion_of(own / "own.md5anim")
    np.testing.assert_allclose(animation.bounds, bounds_of(model, animation), atol=1e-4)


def test_vertices_without_weights_count_in_bounds_as_in_the_model(own):
    wave_own()
    mesh = bpy.data.objects["box"]
    for group in mesh.vertex_groups:
        group.remove([7, 5])
    for bone in ("Bone.002", "Bone"):
        model = model_of(own / "own.md5mesh", orphan_bone=bone)
        animation = motion_of(own / "own.md5anim")
        np.testing.assert_allclose(animation.bounds, bounds_of(model, animation), atol=1e-4)


def test_bounds_of_ones_own_are_exact(own):
    wave_own()
    bounds = motion_of(own / "own.md5anim").bounds
    for frame in range(5):
        points = shown_points(frame)
        np.testing.assert_allclose(bounds[frame], [points.min(axis=0), points.max(axis=0)], atol=1e-4)


def test_it_comes_back_as_it_was(own):
    wave_own()
    wanted = [shown_points(frame) for frame in range(5)]
    exported(own / "own.md5mesh")
    exported(own / "own.md5anim")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    import_mesh(filepath=str(own / "own.md5mesh"))
    for frame in range(5):
        away = np.linalg.norm(shown_points(frame)[:, None] - wanted[frame][None], axis=-1)
        assert max(away.min(axis=0).max(), away.min(axis=1).max()) < 1e-4


def test_modifiers_count(own):
    wave_own()
    mesh = bpy.data.objects["box"]
    mesh.modifiers.new("mirror", "MIRROR").use_axis = (False, True, False)
    mesh.modifiers.new("smooth", "SUBSURF").levels = 1
    mesh.modifiers.move(0, 2)  # the armature's last
    model = model_of(own / "own.md5mesh", least_weight=0.0, most_weights=0)
    assert len(model.meshes[0].triangles) > 48
    check_shown(model, motion_of(own / "own.md5anim"), range(5))
    assert mesh.modifiers["rig"].show_viewport


def test_shape_keys_count_as_they_stand(own):
    mesh = bpy.data.objects["box"]
    mesh.shape_key_add(name="Basis", from_mix=False)
    wide = mesh.shape_key_add(name="wide", from_mix=False)
    for point in wide.points:
        point.co.x *= 3
    wide.value = 0.5
    model = model_of(own / "own.md5mesh")
    places = skin(model.meshes[0].weights, model.skeleton.positions, model.skeleton.rotations)
    assert (places.min(axis=0)[0], places.max(axis=0)[0]) == pytest.approx((-16, 16), abs=1e-4)


def test_faces_of_many_corners(own):
    data = bpy.data.meshes.new("plate")
    data.from_pydata([(math.cos(a), math.sin(a), 0) for a in range(6)], [], [tuple(range(6))])
    data.uv_layers.new()
    plate = bpy.data.objects.new("plate", data)
    scene().collection.objects.link(plate)
    plate.vertex_groups.new(name="Bone").add(range(6), 1.0, "REPLACE")
    plate.modifiers.new("rig", "ARMATURE").object = rig()
    model = model_of(own / "own.md5mesh", what="SCENE")
    assert [len(m.triangles) for m in model.meshes] == [12, 4]


def test_several_materials_are_several_meshes(own):
    mesh = bpy.data.objects["box"]
    mesh.data.materials.append(bpy.data.materials.new("cloth"))
    for face in list(mesh.data.polygons)[:2]:
        face.material_index = 1
    model = model_of(own / "own.md5mesh")
    assert [(m.shader, len(m.triangles)) for m in model.meshes] == [("skin", 8), ("cloth", 4)]
    assert all(m.name for m in model.meshes)


def test_sharp_edges_are_said(own, capfd):
    mesh = bpy.data.objects["box"].data
    said = "'box': {} sharp edges will be smooth in the game, which merges by place"
    exported(own / "own.md5mesh")
    assert said.format(12) in capfd.readouterr().out, "its faces are flat"
    mesh.shade_smooth()
    exported(own / "own.md5mesh")
    assert "sharp" not in capfd.readouterr().out
    mesh.polygons[0].use_smooth = False
    exported(own / "own.md5mesh")
    assert said.format(4) in capfd.readouterr().out
    mesh.shade_smooth()
    for edge in list(mesh.edges)[:5]:
        edge.use_edge_sharp = True
    exported(own / "own.md5mesh")
    assert said.format(5) in capfd.readouterr().out


def test_vertices_without_weights(own):
    mesh = bpy.data.objects["box"]
    mesh.vertex_groups["Bone"].remove([0, 2])
    put(own / "own.md5mesh", b"old")
    text = error_of(export_mesh, filepath=str(own / "own.md5mesh"))
    assert "'box' has 2 vertices without weights on any bone that is exported: name a bone to bind them to" in text
    assert (own / "own.md5mesh").read_bytes() == b"old"
    text = error_of(export_mesh, filepath=str(own / "own.md5mesh"), orphan_bone="none")
    assert "no bone is called 'none'" in text
    found = model_of(own / "own.md5mesh", orphan_bone="Bone.002").meshes[0].weights
    assert (found.counts > 0).all()
    assert int((found.joints == 2).sum()) > 2
    mesh.vertex_groups["Bone"].remove([4])
    assert "3 vertices without weights" in error_of(export_mesh, filepath=str(own / "x.md5mesh"))
    mesh.vertex_groups["Bone"].add([4, 2, 0], 0.0, "REPLACE")
    assert "3 vertices without weights" in error_of(export_mesh, filepath=str(own / "x.md5mesh")), (
        "a weight of 0 is none"
    )


def test_which_weights_are_written(own):
    mesh = bpy.data.objects["box"]
    for name, weight in (("Bone", 0.6), ("Bone.001", 0.3), ("Bone.002", 0.04)):
        mesh.vertex_groups[name].add(range(8), weight, "REPLACE")

    def found(**options):
        table = model_of(own / "own.md5mesh", **options).meshes[0].weights
        assert len(set(table.counts.tolist())) == 1
        count = int(table.counts[0])
        return table.joints[:count].tolist(), table.factors[:count].tolist()

    assert found() == ([0, 1], pytest.approx([2 / 3, 1 / 3]))
    assert found(least_weight=0.0) == ([0, 1, 2], pytest.approx([0.6 / 0.94, 0.3 / 0.94, 0.04 / 0.94]))
    assert found(most_weights=1) == ([0], [1.0])
    assert found(most_weights=0, least_weight=0.0)[0] == [0, 1, 2]
    assert found(least_weight=1.0) == ([0], [1.0]), "the largest stays"


def test_bones_that_deform_nothing(own):
    wave_own()
    assert model_of(own / "own.md5mesh").skeleton.num_joints == 3
    text = error_of(export_anim, filepath=str(own / "own.md5anim"), deform_only=False, game="doom3")
    assert "has 2 joints without a parent, Doom 3 takes one: add an origin joint ('Add Origin Joint')" in text
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
    assert "'wave' has 2 joints without a parent, which Doom 3 refuses" in capfd.readouterr().out
    text = error_of(export_anim, filepath=str(tmp_path / "x.md5anim"), game="doom3")
    assert "'wave' has 2 joints without a parent, Doom 3 takes one: add an origin joint ('Add Origin Joint')" in text
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


def add_driver_and_constraint() -> None:
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


@pytest.mark.parametrize("what", ["ACTIVE", "SCENE"])
def test_constraints_and_drivers_count(own, what):
    add_driver_and_constraint()
    model, animation = model_of(own / "own.md5mesh"), motion_of(own / "own.md5anim", what=what)
    check_shown(model, animation, range(5))
    assert same_turns(animation.rotations[0, 1], animation.rotations[4, 1]) > 1.0
    assert same_turns(animation.rotations[0, 2], animation.rotations[4, 2]) == pytest.approx(0.4, abs=1e-4)


def test_parents_of_the_armature_count(own):
    wave_own()
    empty = bpy.data.objects.new("cart", None)
    scene().collection.objects.link(empty)
    rig().parent = empty
    for frame, x in ((0, 0.0), (4, 50.0)):
        empty.location.x = x
        empty.keyframe_insert("location", frame=frame)
    scene().frame_set(0)
    model = model_of(own / "own.md5mesh")
    for what in ("SCENE", "ACTIVE"):
        check_shown(model, motion_of(own / "own.md5anim", what=what), range(5))
        scene().frame_set(0)


def test_an_armature_that_moves_as_a_whole(own):
    action = wave_own()
    for frame, x in ((0, 0.0), (4, 50.0)):
        rig().location.x = x
        rig().keyframe_insert("location", frame=frame)
    assert rig().animation_data.action == action
    scene().frame_set(0)
    check_shown(model_of(own / "own.md5mesh"), motion_of(own / "own.md5anim"), range(5))


@pytest.mark.parametrize("size", [0.01, 2.5])
def test_an_armature_with_a_place_a_turn_and_a_size(own, size):
    wave_own()
    rig().matrix_world = Matrix.LocRotScale(Vector((5, -6, 7)), Euler((0.3, 0.2, 0.1)), Vector((size,) * 3))
    check_shown(model_of(own / "own.md5mesh"), motion_of(own / "own.md5anim"), range(5))
    check_shown(model_of(own / "own.md5mesh"), motion_of(own / "own.md5anim", what="SCENE"), range(5))


def test_nla_strips(own):
    action = wave_own()
    rig().animation_data.action = None
    tracks = rig().animation_data.nla_tracks
    for name, start in (("early", 10), ("late", 30)):
        track = tracks.new()
        strip = track.strips.new(name, start, action)
        strip.name = name
    third = tracks.new()
    third.strips.new("muted", 50, action).mute = True
    fourth = tracks.new()
    fourth.strips.new("off", 70, action)
    fourth.mute = True
    out = own / "out"
    out.mkdir()
    assert export_anim(filepath=str(out / "x.md5anim"), what="NLA") == {"FINISHED"}
    assert sorted(p.name for p in out.iterdir()) == ["early.md5anim", "late.md5anim"]
    assert [t.mute for t in tracks] == [False, False, False, True]
    model = model_of(own / "own.md5mesh")
    animation = ANIM.load((out / "late.md5anim").read_bytes(), "late")
    tracks[0].mute = True
    check_shown(model, animation, range(30, 35))


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


def test_bones_that_another_action_moves_rest(own):
    two_actions()
    out = own / "out"
    out.mkdir()
    export_anim(filepath=str(out / "x.md5anim"), what="CHOSEN", actions="first, second")
    first, second = (by_name("md5anim").read((out / f"{n}.md5anim").read_bytes()) for n in ("first", "second"))
    assert (first.flags.tolist(), second.flags.tolist()) == ([0, 56, 0], [0, 0, 56])
    rest = model_of(own / "own.md5mesh").skeleton
    from io_idtech_models.model.transforms import unchain

    wanted = unchain(rest.parents, rest.positions, rest.rotations)[1]
    for name, joint in (("first", 2), ("second", 1)):
        found = ANIM.load((out / f"{name}.md5anim").read_bytes(), name)
        assert same_turns(found.rotations[:, joint], wanted[joint]).max() < 1e-5


@pytest.mark.parametrize("what", ["CHOSEN", "NLA"])
def test_the_pose_stays_as_it_was(own, what):
    first, second = two_actions()
    rig().animation_data.nla_tracks.new().strips.new("strip", 20, first)
    scene().frame_set(3)
    before = [tuple(bone.rotation_euler) for bone in rig().pose.bones]
    out = own / "out"
    out.mkdir()
    export_anim(filepath=str(out / "x.md5anim"), what=what, actions="first")
    assert [tuple(bone.rotation_euler) for bone in rig().pose.bones] == before
    assert rig().animation_data.action == second
    assert rig().animation_data.use_nla


def test_a_strip_moves_what_it_moves_alone(own):
    first, second = two_actions()
    strip = rig().animation_data.nla_tracks.new().strips.new("strip", 20, first)
    scene().frame_set(4)
    exported_to = own / "out"
    exported_to.mkdir()
    export_anim(filepath=str(exported_to / "x.md5anim"), what="NLA")
    found = by_name("md5anim").read((exported_to / f"{strip.name}.md5anim").read_bytes())
    assert found.flags.tolist() == [0, 56, 0]
    assert rig().animation_data.action == second


def test_the_tweak_mode_of_the_nla_editor(own):
    first, _ = two_actions()
    animation = rig().animation_data
    track = animation.nla_tracks.new()
    strip = track.strips.new("strip", 20, first)
    track.select = strip.select = True
    animation.nla_tracks.active = track
    strip_active = [s for s in track.strips if s.active]
    animation.use_tweak_mode = True
    if not animation.use_tweak_mode:
        pytest.skip(f"a script can't enter it here ({len(strip_active)} active)")
    text = error_of(export_anim, filepath=str(own / "x.md5anim"), what="CHOSEN", actions="second")
    assert "is in the tweak mode of the NLA editor: leave it first" in text
    put(own / "in.md5anim", FILES["wave.md5anim"])
    text = error_of(import_anim, filepath=str(own / "in.md5anim"))
    assert "is in the tweak mode of the NLA editor: leave it first" in text


def test_a_scale_in_a_pose_is_said(own, capfd):
    wave_own()
    rig().pose.bones["Bone.002"].scale = (1.0, 2.0, 1.0)
    exported(own / "own.md5anim")
    assert "scale of bones is lost, joints have none: in frame 0 that of 'Bone.002'" in capfd.readouterr().out


def test_scene_range_of_an_armature_without_motion(own):
    scene().frame_start, scene().frame_end = 3, 5
    found = motion_of(own / "own.md5anim", what="SCENE")
    assert found.num_frames == 3
    assert by_name("md5anim").read((own / "own.md5anim").read_bytes()).components.shape == (3, 0)


def test_the_frame_of_the_scene_stays(own):
    wave_own()
    scene().frame_set(2, subframe=0.5)
    for what in ("ACTIVE", "SCENE"):
        exported(own / "own.md5anim", what=what)
        assert (scene().frame_current, scene().frame_subframe) == (2, 0.5)


def test_an_imported_animation_on_an_armature_of_ones_own(own, capfd):
    activate(rig())
    bpy.ops.object.mode_set(mode="EDIT")
    rig().data.edit_bones.remove(rig().data.edit_bones["control"])
    bpy.ops.object.mode_set(mode="OBJECT")
    wave_own()
    data = exported(own / "own.md5anim")
    capfd.readouterr()
    assert import_anim(filepath=str(own / "own.md5anim")) == {"FINISHED"}
    said = "these bones turn by quaternions now, actions of Euler angles no longer do: 'Bone', 'Bone.001', 'Bone.002'"
    assert said in capfd.readouterr().out
    assert differences(data, exported(own / "again.md5anim")) == set()


def test_connected_bones_that_can_not_move_are_said(own, capfd):
    wave_own()
    activate(rig())
    bpy.ops.object.mode_set(mode="EDIT")
    rig().data.edit_bones.remove(rig().data.edit_bones["control"])
    bpy.ops.object.mode_set(mode="OBJECT")
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


def test_files_without_joints(tmp_path):
    put(tmp_path / "none.md5mesh", samples_md5.MeshSpec(joints=[], parts=[]).pack())
    spec = samples_md5.AnimSpec(flags=(), starts=(), joints=[], frames=[[], []], bounds=[(0.0,) * 6] * 2)
    put(tmp_path / "none.md5anim", spec.pack())
    assert import_mesh(filepath=str(tmp_path / "none.md5mesh")) == {"FINISHED"}
    assert len(rig().data.bones) == 0
    assert [a.name for a in bpy.data.actions] == ["none"]
    for name in ("none.md5mesh", "none.md5anim"):
        assert differences((tmp_path / name).read_bytes(), exported(tmp_path / f"b{Path(name).suffix}")) == set()


# -- games


def long_name_rig(folder):
    joints = [*samples_md5.ARM, ("x" * 48, 2, (30.0, 1.0, 2.0), (0.0, 0.0, 0.0))]
    put(folder / "long.md5mesh", samples_md5.MeshSpec(joints=joints).pack())
    import_mesh(filepath=str(folder / "long.md5mesh"), animations=False)
    activate(rig())


def test_what_a_game_refuses_is_not_written(tmp_path):
    long_name_rig(tmp_path)
    put(tmp_path / "md5/b.md5mesh", b"old")
    text = error_of(export_mesh, filepath=str(tmp_path / "b.md5mesh"), game="quake2remaster")
    assert "a joint's name of 48 bytes, Quake II remaster takes 47" in text
    assert (tmp_path / "md5/b.md5mesh").read_bytes() == b"old"
    assert not (tmp_path / "b.md5mesh").exists()
    exported(tmp_path / "b.md5mesh", game="doom3")


def test_nothing_is_left_of_what_a_game_refuses(tmp_path):
    long_name_rig(tmp_path)
    import_anim_of = rig().animation_data_create()
    import_anim_of.action = bpy.data.actions.new("still")
    for operator, name in ((export_mesh, "b.md5mesh"), (export_anim, "b.md5anim")):
        assert "48 bytes" in error_of(operator, filepath=str(tmp_path / name), game="quake2remaster")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["long.md5mesh"], "not even a folder"


def test_too_many_frames_for_a_game(arm):
    bpy.data.actions["nod"].frame_end = 1024
    text = error_of(export_anim, filepath=str(arm / "b.md5anim"), game="quake2remaster")
    assert "'nod' has 1025 frames, Quake II remaster takes 1024" in text
    bpy.data.actions["nod"].frame_end = 1023
    assert export_anim(filepath=str(arm / "b.md5anim"), game="quake2remaster") == {"FINISHED"}


def test_the_remasters_folder(arm, capfd):
    for operator, name in ((export_mesh, "tris.md5mesh"), (export_anim, "tris.md5anim")):
        assert operator(filepath=str(arm / name), game="quake2remaster") == {"FINISHED"}
        assert not (arm / name).exists()
        assert (arm / "md5" / name).exists()
        assert f"{name}: " in (said := capfd.readouterr().out)
        assert "written into the folder 'md5', where the game looks for it" in said
    before = (arm / "md5/tris.md5mesh").read_bytes()
    export_mesh(filepath=str(arm / "md5/tris.md5mesh"), game="quake2remaster")
    assert (arm / "md5/tris.md5mesh").read_bytes() == before
    assert not (arm / "md5/md5").exists()


# -- other formats


def tag_rig(folder):
    joints = list(samples_md5.ARM)
    joints[2] = ("tag_hand", *joints[2][1:])
    spec = samples_md5.wave_spec()
    spec.joints = joints
    put(folder / "t.md5mesh", samples_md5.MeshSpec(joints=joints).pack())
    put(folder / "t_wave.md5anim", spec.pack())
    import_mesh(filepath=str(folder / "t.md5mesh"))
    model, animation = MESH.load((folder / "t.md5mesh").read_bytes(), "t"), ANIM.load(spec.pack(), "wave")
    return bake(model, [animation], ["tag_hand"])


@pytest.mark.parametrize("name", ["md3", "md2"])
def test_frames_of_an_armature(tmp_path, name):
    wanted = tag_rig(tmp_path)
    path = tmp_path / f"b.{name}"
    assert getattr(bpy.ops.export_scene, f"idtech_{name}")(filepath=str(path)) == {"FINISHED"}
    found = by_name(name).load(path.read_bytes(), "b")
    assert found.num_frames == wanted.num_frames == 5
    step = 1 / 64 if name == "md3" else np.ptp(wanted.surfaces[0].positions, axis=1).max() / 255
    for frame in range(5):
        away = np.linalg.norm(
            found.surfaces[0].positions[frame][:, None] - wanted.surfaces[0].positions[frame], axis=-1
        )
        assert max(away.min(axis=0).max(), away.min(axis=1).max()) <= step
    if name == "md3":
        (tag,), (joint,) = found.tags, wanted.tags
        assert tag.name == "tag_hand"
        np.testing.assert_allclose(tag.origins, joint.origins, atol=1e-4)
        # Like any bone's: it points along Y, which is the joint's X.
        axes = np.stack((-joint.axes[:, 1], joint.axes[:, 0], joint.axes[:, 2]), axis=1)
        np.testing.assert_allclose(tag.axes, axes, atol=1e-5)


# -- what Blender knows of the operators


def properties(operator: Any) -> Any:
    return operator.get_rna_type().properties


def defaults(settings_class: Any, *left_out: str) -> dict[str, Any]:
    return {n: f.default for n, f in settings_class.__dataclass_fields__.items() if n not in left_out}


@pytest.mark.parametrize(
    ("operator", "settings_class", "left_out"),
    [
        (import_mesh, SkeletalSettings, ()),
        (import_anim, SkeletalSettings, ("weld",)),
        (export_mesh, SkeletalGatherSettings, ("normals", "holds")),
        (export_anim, SkeletalGatherSettings, ("most_weights", "least_weight", "orphan_bone", "normals", "holds")),
        (export_anim, AnimationExport, ()),
    ],
)
def test_options_and_settings_are_in_step(operator, settings_class, left_out):
    wanted = defaults(settings_class, *left_out)
    assert {n: properties(operator)[n].default for n in wanted} == pytest.approx(wanted)
    assert all(properties(operator)[n].description for n in wanted)


@pytest.mark.parametrize("row", [*rows_of(SKELETAL), *rows_of(MOTION)], ids=lambda row: row.name)
def test_a_format_has_operators_and_a_handler(row):
    space = "scene" if row.has_model else "anim"
    for way in ("import", "export"):
        assert hasattr(bpy.types, f"{way.upper()}_{space.upper()}_OT_idtech_{row.name}")
    handler = bpy.types.FileHandler.bl_rna_get_subclass_py(f"IO_FH_idtech_{row.name}")
    owners = [model for model in rows_of(SKELETAL) if row in model.skeletal.dropped_with]
    if owners:  # dropped together with a model: the model's handler takes both
        assert handler is None
        return
    others = [suffix for other in row.skeletal.dropped_with for suffix in other.suffixes]
    assert handler.bl_file_extensions == ";".join([*row.suffixes, *others])
    assert handler.bl_import_operator == f"import_{space}.idtech_{row.name}"
    assert handler.bl_export_operator == (f"export_scene.idtech_{row.name}" if row.has_model else "")
    assert handler.poll_drop(bpy.context)


@pytest.mark.parametrize("row", [*rows_of(SKELETAL), *rows_of(MOTION)], ids=lambda row: row.name)
def test_games_are_those_of_the_format(row):
    operator = getattr(bpy.ops.export_scene if row.has_model else bpy.ops.export_anim, f"idtech_{row.name}")
    items = properties(operator)["game"].enum_items
    assert [(i.identifier, i.name) for i in items] == [(g, GAMES[g].choice or GAMES[g].label) for g in row.games]
    assert properties(operator)["game"].default == "format"


def test_what_is_dropped_with_a_model_moves_it(folder, capfd):
    names = [{"name": name} for name in ("other.md5anim", "arm.md5mesh", "nod.md5anim")]
    assert import_mesh(directory=str(folder), files=names) == {"FINISHED"}
    assert [action.name for action in bpy.data.actions] == ["nod"], "none of those that lie beside"
    out = capfd.readouterr().out
    assert "3 joints" in out
    assert "'other.md5anim' does not fit 'arm': the animation has 5 joints, the model 3" in out


def test_animations_that_are_dropped_alone_go_onto_the_armature(folder):
    assert import_mesh(filepath=str(folder / "arm.md5mesh"), animations=False) == {"FINISHED"}
    assert import_mesh(directory=str(folder), files=[{"name": "nod.md5anim"}]) == {"FINISHED"}
    assert [action.name for action in bpy.data.actions] == ["nod"]
    assert len(bpy.data.armatures) == 1


def test_menus_list_models_and_animations():
    assert list(files.entries("import", "Doom 3")) == [
        ("import_scene.idtech_md5mesh", "Doom 3 (.md5mesh)"),
        ("import_anim.idtech_md5anim", "Doom 3 Animation (.md5anim)"),
    ]
    found = {way: [name for e in ENGINES for name, _ in files.entries(way, e)] for way in ("import", "export")}
    assert "import_anim.idtech_mdr" in found["import"], "a format that holds both"
    assert "export_anim.idtech_mdr" not in found["export"]
    for way, names in found.items():
        assert {f"{way}_scene.idtech_{row.name}" for row in ROWS if row.has_model} <= set(names)


def test_the_menus_can_be_drawn():
    for menu in (files.TOPBAR_MT_idtech_import, files.TOPBAR_MT_idtech_export):
        drawn: list[str] = []
        layout = SimpleNamespace(
            label=lambda text, drawn=drawn: drawn.append(text),
            operator=lambda name, text="", drawn=drawn: drawn.append(name),
            separator=lambda: None,
        )
        draw: Any = menu.draw
        draw(SimpleNamespace(layout=layout), bpy.context)
        assert "Quake II" in drawn
        assert len(drawn) == len(set(drawn))


@pytest.mark.parametrize("operator", [import_mesh, export_mesh, import_anim, export_anim])
def test_texts_are_short_and_plain(operator):
    rna = operator.get_rna_type()
    assert rna.name
    assert rna.description
    for prop in (p for p in rna.properties if not getattr(p, "is_hidden", False)):
        assert len(prop.name) <= 30
        assert len(prop.description) <= 110, prop.description
        assert not prop.description.endswith("."), prop.description
        assert prop.name == "RNA" or prop.name[:1].isupper()


def test_the_collection_exporter(arm):
    view = bpy.context.view_layer
    view.active_layer_collection = view.layer_collection.children["arm"]
    bpy.ops.collection.exporter_add(name="IO_FH_idtech_md5mesh")
    exporter = bpy.data.collections["arm"].exporters[0]
    exporter.export_properties.filepath = str(arm / "out.md5mesh")
    assert bpy.ops.collection.exporter_export(index=0) == {"FINISHED"}
    assert differences(FILES["arm.md5mesh"], (arm / "out.md5mesh").read_bytes()) == set()
    bpy.ops.wm.save_as_mainfile(filepath=str(arm / "x.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(arm / "x.blend"))
    (arm / "out.md5mesh").unlink()
    assert bpy.ops.wm.collection_export_all() == {"FINISHED"}
    assert differences(FILES["arm.md5mesh"], (arm / "out.md5mesh").read_bytes()) == set()


@pytest.mark.parametrize("what", ["AUTO", "COLLECTION", "SELECTION", "VISIBLE", "SCENE"])
def test_which_objects(arm, what):
    activate(*bpy.data.collections["arm"].objects)
    assert differences(FILES["arm.md5mesh"], exported(arm / "b.md5mesh", what=what)) == set()


def test_the_mesh_alone_brings_its_armature(arm):
    activate(next(b for b in bpy.data.objects if b.type == "MESH"))
    assert differences(FILES["arm.md5mesh"], exported(arm / "b.md5mesh", what="SELECTION")) == set()


def test_undo_takes_an_import_back(folder):
    bpy.ops.ed.undo_push(message="before")
    before = counts_after_undo()
    import_mesh(filepath=str(folder / "arm.md5mesh"))
    bpy.ops.ed.undo_push(message="import")
    bpy.ops.ed.undo()
    assert counts_after_undo() == before
    bpy.ops.ed.redo()
    activate(rig())
    assert differences(FILES["arm.md5mesh"], exported(folder / "b.md5mesh")) == set()
    assert differences(FILES["nod.md5anim"], exported(folder / "b.md5anim")) == set()


@pytest.mark.skipif(not XSARGE.is_dir(), reason="the corpus of real files is not here")
def test_a_real_player_with_all_animations(tmp_path):
    assert import_mesh(filepath=str(XSARGE / "body.md5mesh")) == {"FINISHED"}
    names = sorted(p.name for p in XSARGE.glob("*.md5anim"))
    assert sorted(f"{a.name}.md5anim" for a in bpy.data.actions) == names
    assert differences((XSARGE / "body.md5mesh").read_bytes(), exported(tmp_path / "body.md5mesh")) == set()
    assert export_anim(filepath=str(tmp_path / "x.md5anim"), what="ALL") == {"FINISHED"}
    for name in names:
        assert differences((XSARGE / name).read_bytes(), (tmp_path / name).read_bytes()) == set()
