"""What games and Blender know of the operators of skeletal models, and rigs written in frames."""

import numpy as np
import pytest

from io_idtech_models.blender.skeletal.build import SkeletalSettings
from io_idtech_models.blender.skeletal.rig_scene import SkeletalGatherSettings
from io_idtech_models.formats import ROWS, by_name
from io_idtech_models.formats.format import ENGINES
from io_idtech_models.model.bake import bake
from io_idtech_models.tasks.export.motion import AnimationExport
from io_idtech_models.ui import menus as files
from tests import samples_md5
from tests.facts import differences
from tests.samples import CORPUS, put
from tests.ui.rigs.arms import (
    ANIM,
    FILES,
    MESH,
    export_anim,
    export_mesh,
    exported,
    farthest,
    import_anim,
    import_mesh,
    rig,
)
from tests.ui.scene import activate, bpy, error_of, reopen

pytestmark = pytest.mark.usefixtures("empty_scene")

XSARGE = CORPUS / "xreal/base/models/players/xsarge"


# -- games


def test_what_a_game_refuses_is_not_written(arm):
    action = bpy.data.actions["nod"]
    action.frame_end = 1024
    text = error_of(export_anim, filepath=str(arm / "b.md5anim"), game="quake2remaster")
    assert "'nod' has 1025 frames, Quake II remaster takes 1024" in text
    action.frame_end = 1023
    assert export_anim(filepath=str(arm / "b.md5anim"), game="quake2remaster") == {"FINISHED"}
    rig().data.bones["hand"].name = "x" * 48
    put(arm / "md5/b.md5mesh", b"old")
    text = error_of(export_mesh, filepath=str(arm / "b.md5mesh"), game="quake2remaster")
    assert "a joint's name of 48 bytes, Quake II remaster takes 47" in text
    assert (arm / "md5/b.md5mesh").read_bytes() == b"old"
    assert not (arm / "b.md5mesh").exists()
    exported(arm / "b.md5mesh", game="doom3")


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
    export_mesh(filepath=str(arm / "new/tris.md5mesh"), game="quake2remaster")  # made with it, as a folder is else
    assert (arm / "new/md5/tris.md5mesh").read_bytes() == before
    assert "no such file or directory" in error_of(export_mesh, filepath=str(arm / "no/new/a.md5mesh"))
    assert "no such" in error_of(export_mesh, filepath=str(arm / "no/new/a.md5mesh"), game="quake2remaster")


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
        assert farthest(found.surfaces[0].positions[frame], wanted.surfaces[0].positions[frame]) <= step
    if name == "md3":
        (tag,), (joint,) = found.tags, wanted.tags
        assert tag.name == "tag_hand"
        np.testing.assert_allclose(tag.origins, joint.origins, atol=1e-4)
        np.testing.assert_allclose(tag.axes, joint.axes, atol=1e-5)


# -- what Blender knows of the operators


@pytest.mark.parametrize(
    ("operator", "settings_class", "left_out"),
    [
        (import_mesh, SkeletalSettings, ()),
        (import_anim, SkeletalSettings, ("weld",)),
        (export_mesh, SkeletalGatherSettings, ("normals", "holds")),
        (export_anim, SkeletalGatherSettings, ("most_weights", "least_weight", "orphan_bone", "normals", "holds")),
        (export_anim, AnimationExport, ("with_model", "also")),
    ],
)
def test_options_and_settings_are_in_step(operator, settings_class, left_out):
    options = operator.get_rna_type().properties
    wanted = {n: f.default for n, f in settings_class.__dataclass_fields__.items() if n not in left_out}
    assert {n: options[n].default for n in wanted} == pytest.approx(wanted)
    assert all(options[n].description for n in wanted)


def test_what_is_dropped_with_a_model_moves_it(folder, capfd):
    names = [{"name": name} for name in ("other.md5anim", "arm.md5mesh", "nod.md5anim")]
    assert import_mesh(directory=str(folder), files=names) == {"FINISHED"}
    assert [action.name for action in bpy.data.actions] == ["nod"], "none of those that lie beside"
    out = capfd.readouterr().out
    assert "3 joints" in out
    assert "'other.md5anim' does not fit 'arm': the animation has 5 joints, the model 3" in out
    assert import_mesh(directory=str(folder), files=[{"name": "wave.md5anim"}]) == {"FINISHED"}
    assert [action.name for action in bpy.data.actions] == ["nod", "wave"], "alone they go onto the armature"
    assert len(bpy.data.armatures) == 1


def test_menus_list_models_and_animations():
    assert list(files.entries("import", "Doom 3")) == [
        ("import_scene.idtech_md5mesh", "Doom 3 (.md5mesh)"),
        ("import_scene.idtech_ase", "Static Model (.ase)"),
        ("import_scene.idtech_lwo", "Static Model (.lwo)"),
        ("import_anim.idtech_md5anim", "Doom 3 Animation (.md5anim)"),
    ]
    found = {way: [name for e in ENGINES for name, _ in files.entries(way, e)] for way in ("import", "export")}
    assert "import_anim.idtech_mdr" in found["import"], "a format that holds both"
    assert "export_anim.idtech_mdr" not in found["export"]
    for way, names in found.items():
        assert {f"{way}_scene.idtech_{row.name}" for row in ROWS if row.has_model} <= set(names)


def test_the_collection_exporter(arm):
    view = bpy.context.view_layer
    view.active_layer_collection = view.layer_collection.children["arm"]
    bpy.ops.collection.exporter_add(name="IO_FH_idtech_md5mesh")
    exporter = bpy.data.collections["arm"].exporters[0]
    exporter.export_properties.filepath = str(arm / "out.md5mesh")
    assert bpy.ops.collection.exporter_export(index=0) == {"FINISHED"}
    assert differences(FILES["arm.md5mesh"], (arm / "out.md5mesh").read_bytes()) == set()
    reopen(arm)
    (arm / "out.md5mesh").unlink()
    assert bpy.ops.wm.collection_export_all() == {"FINISHED"}
    assert differences(FILES["arm.md5mesh"], (arm / "out.md5mesh").read_bytes()) == set()
    activate(next(b for b in bpy.data.objects if b.type == "MESH"))
    found = exported(arm / "b.md5mesh", what="SELECTION")
    assert differences(FILES["arm.md5mesh"], found) == set(), "the mesh alone brings its armature"


@pytest.mark.skipif(not XSARGE.is_dir(), reason="the corpus of real files is not here")
def test_a_real_player_with_all_animations(tmp_path):
    assert import_mesh(filepath=str(XSARGE / "body.md5mesh")) == {"FINISHED"}
    names = sorted(p.name for p in XSARGE.glob("*.md5anim"))
    assert sorted(f"{a.name}.md5anim" for a in bpy.data.actions) == names
    assert differences((XSARGE / "body.md5mesh").read_bytes(), exported(tmp_path / "body.md5mesh")) == set()
    assert export_anim(filepath=str(tmp_path / "x.md5anim"), what="ALL") == {"FINISHED"}
    for name in names:
        assert differences((XSARGE / name).read_bytes(), (tmp_path / name).read_bytes()) == set()
