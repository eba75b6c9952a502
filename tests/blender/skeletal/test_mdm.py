"""MDM and MDX in Blender: what an import makes, and that all of it comes back."""

from dataclasses import replace
from typing import Any

import bpy as blender
import numpy as np
import pytest

from io_idtech_models.blender import properties
from io_idtech_models.blender.mesh import attributes as meshes
from io_idtech_models.blender.provenance import SKELETON
from io_idtech_models.blender.skeletal import late_bones as rebind
from io_idtech_models.blender.skeletal.armature import file_order
from io_idtech_models.blender.skeletal.source import MOTION, SKINNED
from io_idtech_models.formats.mdm import model as mdm_model
from io_idtech_models.formats.mdx import model as mdx_model
from io_idtech_models.model.transforms import to_matrices
from tests import samples_mdm
from tests.blender.case import CONTEXT, activate, in_edit_mode, reopen_blend, vertices_of
from tests.blender.skeletal.mdm_case import (
    MDX,
    MOTIONS,
    engine,
    off_the_engine,
    off_the_tags,
    open_figure,
    pose,
    restart,
)
from tests.blender.skeletal.rigged import Rigged
from tests.samples import corpus, corpus_params, put
from tests.ui.scene import error_of

bpy: Any = blender  # the stubs make each object's data a union
pytestmark = pytest.mark.usefixtures("empty_scene")

MESHES = [pytest.param(make(), id=make.__name__) for make in samples_mdm.MESHES]
ANIMS = [pytest.param(make(), id=make.__name__) for make in samples_mdm.ANIMS]
BOTH = pytest.mark.parametrize("weld", [True, False], ids=["welded", "apart"])
REAL_MDX = {file.path.stem: file.data for file in corpus(".mdx")}


# -- what is imported comes back


@BOTH
@pytest.mark.parametrize("data", MESHES)
def test_models_come_back(data, weld):
    """Also from edit mode, saved and opened again."""
    case = open_figure(data, weld=weld)
    assert case.is_same()
    for block in (case.rig, *map(case.mesh, range(len(case.mesh_names)))):
        in_edit_mode(block)
    reopen_blend()
    assert case.is_same()


@pytest.mark.parametrize("data", ANIMS)
def test_animations_come_back_both_ways(data):
    assert open_figure(motions={"x": data}).is_same()


@pytest.mark.parametrize("file", corpus_params(".mdm"))
def test_real_files_come_back(file):
    case = open_figure(file.data, REAL_MDX)
    assert case.is_same()
    reopen_blend()
    assert case.dump() == file.data
    assert all(MDX.dump(case.gather_motion(name)) == data for name, data in REAL_MDX.items())
    case = open_figure(file.data, {"akimbo": REAL_MDX["akimbo"]}, weld=False)
    reopen_blend()
    assert case.dump() == file.data, "also with seams apart"


@pytest.mark.parametrize("data", MESHES[:-1])
def test_models_come_back_without_bones(data):
    case = open_figure(data, bare=True)
    assert case.dump() == data
    in_edit_mode(case.rig)
    reopen_blend()
    assert case.dump() == data


@pytest.mark.parametrize("scale", [0.1, 39.37])
def test_what_was_scaled_comes_back(scale):
    for data in (samples_mdm.figure(), samples_mdm.odd_weights()):
        case = open_figure(data, scale=scale)
        assert case.all_changed(scale=scale) == {}
        for frame in (0, 3):
            case.play("walk", frame)
            assert off_the_tags(case, "walk", frame, scale) < 1e-3 * scale
        restart()


@pytest.mark.parametrize("file", corpus_params(".mdm")[:1])
def test_real_files_that_were_scaled_come_back(file):
    case = open_figure(file.data, {"akimbo": REAL_MDX["akimbo"]}, scale=0.1)
    in_edit_mode(case.rig)
    assert case.is_same(scale=0.1)


def test_another_scale_makes_another_size():
    case = open_figure(scale=0.1)
    before, after = (file.surfaces[0].weights["offset"][:3] for file in (case.before(), case.after(scale=0.05)))
    np.testing.assert_allclose(after, 2 * before, atol=1e-4)
    one, other = case.motion_before("walk"), case.motion_after("walk", scale=0.05)
    lengths, found = (np.abs(file.bones["parent_dist"][1:]) for file in (one, other))
    np.testing.assert_allclose(found, 2 * lengths, rtol=1e-3, atol=1e-6)
    offsets, found = (file.frames["info"]["parent_offset"] for file in (one, other))
    np.testing.assert_allclose(found, 2 * offsets, atol=1e-4)
    np.testing.assert_array_equal(other.frames["bones"]["angles"][..., :3], one.frames["bones"]["angles"][..., :3])


# -- what it looks like


def test_what_an_import_makes():
    case = open_figure()
    body, legs = case.mesh(0), case.mesh(1)
    assert (body.name, legs.name) == ("u_body", "l_legs")
    for block in (body, legs):
        assert block.parent == case.rig
        assert [(m.type, m.object) for m in block.modifiers] == [("ARMATURE", case.rig)]
    assert {g.name for g in body.vertex_groups} == {"Bip01", "hip", "Bip01 Spine", "Bip01 Head", "tag_hand"}
    assert [s.material.name for s in body.material_slots] == ["models/figure/body"]
    assert len(body.data.vertices) == 36, "the seam is welded"
    layer = body.data.uv_layers[0].uv
    spec = samples_mdm.figure_spec().surfaces[0]
    for corner, vertex in enumerate(vertices_of(body)[1].tolist()):
        s, t = spec.verts[vertex][1]
        assert tuple(layer[corner].vector) == pytest.approx((s, 1 - t), abs=1e-6)
    for name, bone in {"tag_head": "Bip01 Head", "tag_weapon": "tag_hand"}.items():
        block = case.tag(name)
        assert (block.parent, block.parent_type, block.parent_bone) == (case.rig, "BONE", bone), name
    assert case.rig.data.bones["Bip01 Head"].parent.name == "Bip01 Spine"
    assert not any(bone.use_connect for bone in case.rig.data.bones)


def test_facts_are_properties_with_tooltips():
    case = open_figure(samples_mdm.odd_facts())
    bones = case.rig.data.bones
    found = [bone[properties.TORSO_WEIGHT] for bone in file_order(bones)]
    assert found == [bone.torso_weight for bone in samples_mdm.BONES]
    assert [b.name for b in bones if properties.TORSO_PARENT in b] == ["Bip01 Spine"]
    assert [(b.name, b[properties.FLAGS]) for b in bones if properties.FLAGS in b] == [("tag_hand", 1)]
    assert (case.rig[properties.LOD_SCALE], case.rig[properties.LOD_BIAS]) == (0.75, -0.125)
    assert [case.mesh(i)[properties.MIN_LOD] for i in range(2)] == [21, 10_000]
    for block, name in (
        (bones[1], properties.TORSO_WEIGHT), (bones[1], properties.TORSO_PARENT), (bones["tag_hand"], properties.FLAGS),
        (case.rig, properties.LOD_SCALE), (case.rig, properties.LOD_BIAS), (case.mesh(), properties.MIN_LOD),
    ):  # fmt: skip
        assert len(block.id_properties_ui(name).as_dict()["description"]) > 10


def test_normals_are_the_files():
    case = open_figure(bind=0)
    spec = samples_mdm.figure_spec().surfaces[0]
    places = samples_mdm.pose_of(samples_mdm.MdxSpec(), 0)
    for corner, vertex in enumerate(vertices_of(case.mesh())[1].tolist()):
        normal, _, weights = spec.verts[vertex]
        rows = places[weights[0][0]][0]
        wanted = [sum(rows[i][k] * normal[k] for k in range(3)) for i in range(3)]
        np.testing.assert_allclose(case.mesh().data.corner_normals[corner].vector, wanted, atol=2e-3)


@BOTH
@pytest.mark.parametrize("bind", [0, 3])
def test_the_scene_shows_what_the_engine_computes(bind, weld):
    """Bound in a frame in which the weights agree exactly; in another one weight is still as good as the engine."""
    case = open_figure(bind=bind, weld=weld)
    counts = [s.vertices["num_weights"] for s in case.before().surfaces]
    for frame in range(6):
        case.play("walk", frame)
        off = off_the_engine(case, engine(case, "walk", frame))
        base = 0
        for index, away in enumerate(off):
            one = counts[index][vertices_of(case.mesh(index))[1] - base] == 1
            base += len(counts[index])
            assert away[one | (bind == 0)].max() < 1e-3
        assert off_the_tags(case, "walk", frame) < 1e-3


def test_the_best_fit_agrees():
    case = open_figure()
    for frame in (0, 5):
        case.play("walk", frame)
        assert np.concatenate(off_the_engine(case, engine(case, "walk", frame))).max() < 0.1


@pytest.mark.parametrize("file", corpus_params(".mdm")[:1])
def test_a_real_scene_shows_what_the_formula_says(file, monkeypatch):
    """The corpus's values are of exact sines."""
    monkeypatch.setattr(mdx_model, "KIND", replace(mdx_model.KIND, coarse=False))
    monkeypatch.setattr(mdm_model, "MOTION", mdx_model.KIND)
    case, expected = open_figure(file.data, REAL_MDX), file.expected()
    counts = [s.vertices["num_weights"] for s in case.before().surfaces]
    off, shared = [], []
    for key in [k for k in expected if k.endswith(".surface0.positions")]:
        name, frame = key.split(".")[0], int(key.split(".")[1][5:])
        case.play(name, frame)
        base, wanted = 0, [expected[key.replace("surface0", f"surface{i}")] for i in range(4)]
        for index, away in enumerate(off_the_engine(case, wanted)):
            several = counts[index][vertices_of(case.mesh(index))[1] - base] > 1
            base += len(counts[index])
            off.append(away[~several])
            shared.append(away[several])
        for number, tag in enumerate(case.before().tags):
            block = case.tag(bytes(tag.header["name"]).decode())
            matrix = np.array(block.evaluated_get(CONTEXT.evaluated_depsgraph_get()).matrix_world)
            at = key.replace("surface0.positions", f"tag{number}")
            np.testing.assert_allclose(matrix[:3, 3], expected[at + ".origin"], atol=1e-3)
            np.testing.assert_allclose(matrix[:3, :3].T, expected[at + ".axis"], atol=1e-3)
    assert np.concatenate(off).max() < 1e-3
    assert np.concatenate(shared).max() < 0.15
    assert np.sqrt((np.concatenate(shared) ** 2).mean()) < 0.02


def test_bones_lie_along_their_joints():
    case = open_figure()
    places, turns = pose(case, "walk", 2)
    case.play("walk", 2)
    for joint, bone in enumerate(file_order(case.rig.data.bones)):
        matrix = np.array(case.rig.pose.bones[bone.name].matrix)
        np.testing.assert_allclose(matrix[:3, 3], places[joint], atol=1e-3)
        np.testing.assert_allclose(matrix[:3, 1], to_matrices(turns[joint])[:, 0], atol=1e-3)


# -- without bones, which come later


def name_bones(case: Rigged) -> None:
    rebind.name_bones(case.rig, MDX.load(MOTIONS["walk"], "walk"), CONTEXT.scene)
    CONTEXT.view_layer.update()


@pytest.mark.parametrize("data", MESHES)
def test_bones_that_are_named_later(data):
    case = open_figure(data, bare=True)
    assert rebind.is_unnamed(case.rig)
    name_bones(case)
    assert not rebind.is_unnamed(case.rig)
    reopen_blend()
    assert case.dump() == data


@pytest.mark.parametrize("scale", [1.0, 0.1])
def test_bones_that_are_named_later_are_as_if_they_had_been_there(scale):
    at_once, later = open_figure(scale=scale), open_figure(bare=True, scale=scale)
    assert later.rig.data.bones[1].name == "bone_001"
    assert {g.name for g in later.mesh(1).vertex_groups} == {"bone_000", "bone_003", "bone_004", "bone_007"}
    name_bones(later)
    one, other = ([b.name for b in case.rig.data.bones] for case in (at_once, later))
    assert one == other
    for a, b in zip(at_once.rig.data.bones, later.rig.data.bones, strict=True):
        np.testing.assert_allclose(np.array(a.matrix_local), np.array(b.matrix_local), atol=1e-4)
        assert (a.parent and a.parent.name) == (b.parent and b.parent.name)
        assert a[properties.TORSO_WEIGHT] == b[properties.TORSO_WEIGHT]
    for index in range(2):
        places = [meshes.positions(c.mesh(index).data) for c in (at_once, later)]
        np.testing.assert_allclose(places[0], places[1], atol=1e-4)
        normals = [np.array([n.vector for n in c.mesh(index).data.corner_normals]) for c in (at_once, later)]
        np.testing.assert_allclose(normals[0], normals[1], atol=5e-3)
        groups = [{g.name for g in case.mesh(index).vertex_groups} for case in (at_once, later)]
        assert groups[0] == groups[1]


def test_bones_of_another_model_name_nothing(tmp_path):
    case = open_figure(bare=True)
    few = samples_mdm.MdxSpec(bones=samples_mdm.BONES[:3], frames=samples_mdm.moving_frames(2, 3))
    activate(case.rig)
    said = error_of(bpy.ops.import_anim.idtech_mdx, filepath=str(put(tmp_path / "few.mdx", few.pack())))
    assert "'few' has 3 bones, the meshes of 'figure' use 8" in said
    assert rebind.is_unnamed(case.rig)
    assert not bpy.data.actions
    assert case.dump() == case.data


def test_what_was_edited_before_bones_were_named_moves_along():
    case = open_figure(bare=True)
    point = vertices_of(case.mesh())[0][vertices_of(case.mesh())[1] == 23][0]
    case.mesh().data.vertices[point].co.x += 2.0
    name_bones(case)
    assert case.changed() == {"surfaces[0].verts[23].weights"} | {
        p for p in case.changed() if p.endswith(".normal") and p.startswith("surfaces[0].verts[")
    }


# -- records


def test_records_of_a_stranger_do_no_harm():
    case = open_figure()
    wanted = case.gather()
    case.rig.data[SKELETON] = b"rubbish"
    case.mesh()[SKINNED] = b"rubbish"
    case.action("walk")[MOTION] = b"rubbish"
    model = case.gather()
    assert model.source is None
    assert model.meshes[0].num_vertices == wanted.meshes[0].num_vertices
    assert case.motion_after("walk").frames["bones"]["angles"].shape == (6, 8, 4)
