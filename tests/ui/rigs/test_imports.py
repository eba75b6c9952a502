"""Importing MD5 models and animations, whatever is active and in whatever mode."""

import numpy as np
import pytest

from io_idtech_models.blender.skeletal import armature
from io_idtech_models.model.transforms import same_turns
from tests import samples_md5
from tests.facts import differences
from tests.samples import put, sample
from tests.ui.rigs.arms import ANIM, FILES, export_anim, exported, import_anim, import_mesh, motion_of, rig, scene
from tests.ui.scene import activate, bpy, counts, error_of, picture_of, png, settings, tga

pytestmark = pytest.mark.usefixtures("empty_scene")


# -- import


def test_what_an_import_makes(folder, capfd):
    """Broken animations are said, others' passed over."""
    put(folder / "cut.md5anim", samples_md5.wave()[:400])
    assert import_mesh(filepath=str(folder / "arm.md5mesh")) == {"FINISHED"}
    said = capfd.readouterr().out
    assert "arm.md5mesh: 1 mesh, 3 joints, 13 vertices, 2 animations" in said
    assert "cut.md5anim: " in said and "other" not in said
    assert f"1 texture not found: '{SHADER}'" in said
    (collection,) = scene().collection.children
    assert collection.name == "arm"
    assert sorted(b.type for b in collection.objects) == ["ARMATURE", "MESH"]
    assert collection["idtech_file"] == str(folder / "arm.md5mesh")
    assert [a.name for a in bpy.data.actions] == ["nod", "wave"]
    assert bpy.context.view_layer.objects.active == rig()
    assert set(bpy.context.selected_objects) == set(collection.objects)
    assert rig().animation_data.action.name == "nod"
    assert settings(scene()) == (0, 1, 1, 24, 1.0)
    assert bpy.context.mode == "OBJECT"


SHADER = "models/md5/arm"


def test_options_of_an_import(folder):
    before, options = settings(scene()), {"fit_range": False, "frame_rate": False, "weld": False, "scale": 2.0}
    import_mesh(filepath=str(folder / "arm.md5mesh"), **options)
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


@pytest.mark.parametrize("ending", ["", "_d", "_diffuse", "_local"])
@pytest.mark.parametrize(("suffix", "make"), [(".tga", tga), (".png", png)])
def test_pictures_are_those_of_the_game(tmp_path, ending, suffix, make):
    put(tmp_path / "base/models/md5/arm.md5mesh", FILES["arm.md5mesh"])
    make(tmp_path / f"base/{SHADER}{ending}{suffix}")
    import_mesh(filepath=str(tmp_path / "base/models/md5/arm.md5mesh"))
    assert picture_of(bpy.data.materials[SHADER]) == str(tmp_path / f"base/{SHADER}{ending}{suffix}")


def test_animations_onto_the_active_armature(folder):
    import_mesh(filepath=str(folder / "arm.md5mesh"), animations=False)
    assert (len(bpy.data.actions), rig().animation_data) == (0, None)
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


def test_an_animation_makes_an_armature_where_there_is_none(folder):
    names = [{"name": name} for name in ("wave.md5anim", "nod.md5anim", "other.md5anim")]
    text = error_of(import_anim, directory=str(folder), files=names)
    refused = "other.md5anim: 'other' does not fit 'wave': the animation has 5 joints, the model 3; imported by itself"
    assert text.split("\n")[0].startswith(refused)
    assert [b.type for b in bpy.data.objects] == ["ARMATURE"]
    assert [b.name for b in rig().data.bones] == ["origin", "upper arm", "hand"]
    assert [a.name for a in bpy.data.actions] == ["nod", "wave"]
    assert differences(FILES["wave.md5anim"], exported(folder / "out.md5anim")) == set()


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


# -- whatever mode and collection


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
    mesh = bpy.data.objects["arm.001"]
    for block, mode in ((rig(), "EDIT"), (rig(), "POSE"), (mesh, "EDIT")):
        bpy.ops.object.mode_set(mode="OBJECT")
        activate(block)
        bpy.ops.object.mode_set(mode=mode)
        assert differences(FILES["arm.md5mesh"], exported(arm / "b.md5mesh")) == set()
        assert differences(FILES["nod.md5anim"], exported(arm / "b.md5anim")) == set()
        assert block.mode == mode
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.transform.translate(value=(0, 0, 3))
    found = differences(FILES["arm.md5mesh"], exported(arm / "b.md5mesh"))
    assert {path.partition("[")[0] for path in found} == {"parts"}, "what is edited there is written"


@pytest.mark.parametrize("mode", ["OBJECT", "POSE"])
def test_an_animation_onto_the_armature(folder, mode):
    """Of the mesh that is active, or in pose mode."""
    import_mesh(filepath=str(folder / "arm.md5mesh"), animations=False)
    if mode == "POSE":
        bpy.ops.object.mode_set(mode=mode)
    else:
        activate(bpy.data.objects["arm.001"])
    assert import_anim(filepath=str(folder / "wave.md5anim")) == {"FINISHED"}
    assert (bpy.context.mode, len(bpy.data.armatures)) == (mode, 1)
    assert rig().animation_data.action.name == "wave"


def test_selected_armatures_stay_out_of_edit_mode(folder, others, monkeypatch):
    """An armature with linked data could not even go there, and edit mode rounds bones."""
    activate(others[0])
    before = np.array(others[0].data.bones[0].matrix_local)
    seen: list[str] = []
    original = armature._add_bones

    def spy(*arguments):
        seen.extend(b.name for b in bpy.data.objects if b.mode == "EDIT")
        return original(*arguments)

    monkeypatch.setattr(armature, "_add_bones", spy)
    import_mesh(filepath=str(folder / "arm.md5mesh"))
    assert seen == ["arm"]
    assert np.array_equal(before, np.array(others[0].data.bones[0].matrix_local))


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
