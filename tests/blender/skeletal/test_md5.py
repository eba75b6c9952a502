"""MD5 models in Blender: what an import makes, and that all of it comes back."""

import math
from dataclasses import replace
from typing import Any

import bpy as blender
import numpy as np
import pytest
from numpy.typing import NDArray

from io_idtech_models.blender.compat import HAS_SLOTS
from io_idtech_models.blender.joints import TURN
from io_idtech_models.blender.provenance import JOINT, SKELETON
from io_idtech_models.blender.skeletal import armature
from io_idtech_models.blender.skeletal import build as skeletal
from io_idtech_models.blender.skeletal.source import MOTION, SKINNED
from io_idtech_models.model.skeletal import skin
from io_idtech_models.model.transforms import chain, rotate, to_matrices
from io_idtech_models.reporting import FormatError, LimitError
from tests import samples_md5
from tests.blender.case import CONTEXT, activate, append, in_edit_mode, reopen_blend, vertices_of
from tests.blender.skeletal.rigged import ANIM, MESH, Rigged, bring, curves_of, open_rig, shown
from tests.samples import CorpusFile, corpus
from tests.ui.scene import counts

bpy: Any = blender  # the stubs make each object's data a union
pytestmark = pytest.mark.usefixtures("empty_scene")

SAMPLE_MESHES = [pytest.param(make(), id=make.__name__) for make in samples_md5.MESHES]
SAMPLE_ANIMS = [pytest.param(make(), id=make.__name__) for make in samples_md5.ANIMS]
WAVES = {"wave": samples_md5.wave(), "pose": samples_md5.one_frame(), "gaps": samples_md5.gaps_between_channels()}


def is_readable(file: CorpusFile) -> bool:
    try:
        MESH.load(file.data, "x")
    except FormatError:
        return False
    return True


REAL = [pytest.param(f, id=f.path.name) for f in corpus(".md5mesh") if is_readable(f)]
if not REAL:
    REAL = [pytest.param(None, id="corpus", marks=pytest.mark.skip("the corpus of real files is not here"))]
BOTH = pytest.mark.parametrize("weld", [True, False], ids=["welded", "apart"])


def animations_of(file: Any) -> dict[str, CorpusFile]:
    return {f.path.stem: f for f in corpus(".md5anim") if f.entry.get("mesh") == file.entry["path"]}


def open_real(file: CorpusFile, **settings) -> Rigged:
    motions = {name: f.data for name, f in animations_of(file).items()}
    return open_rig(file.data, motions, file.path.stem, **settings)


def open_arm(**settings) -> Rigged:
    return open_rig(samples_md5.arm(), WAVES, "arm", **settings)


def open_anim(data: bytes, **settings) -> Rigged:
    """Import an animation with the sample that it fits."""
    own = samples_md5.several_roots() if b'"prop"' in data else samples_md5.arm()
    return open_rig(own, {"x": data}, "arm", **settings)


# -- what is imported comes back


@BOTH
@pytest.mark.parametrize("file", REAL)
def test_real_files_come_back_from_a_saved_blend(file, weld):
    case = open_real(file, weld=weld)
    reopen_blend()
    assert case.all_changed() == {}


@pytest.mark.parametrize("frame", [0, 3])
@pytest.mark.parametrize("mode", ["POSE", "OBJECT"])
def test_a_posed_armature_exports_its_rest(frame, mode):
    case = open_arm()
    case.play("wave", frame)
    activate(case.rig)
    bpy.ops.object.mode_set(mode=mode)
    assert case.all_changed() == {}
    case.rig.data.pose_position = "REST"
    assert case.all_changed() == {}, "also where the rest is shown"
    assert case.rig.data.pose_position == "REST"
    bpy.ops.object.mode_set(mode="OBJECT")


@pytest.mark.parametrize("kind", ["collections", "objects"])
def test_what_is_appended_brings_its_motions(tmp_path, kind):
    case = open_arm()
    append(tmp_path, kind, [case.collection_name] if kind == "collections" else [*case.mesh_names, case.rig_name])
    if kind == "objects":
        made = bpy.data.collections.new(case.collection_name)
        for block in bpy.data.objects:
            made.objects.link(block)
    CONTEXT.scene.collection.children.link(case.collection)
    assert set(case.action_names.values()) <= set(bpy.data.actions.keys()), "actions come along"
    assert case.all_changed() == {}


def test_a_second_import_has_motions_of_its_own():
    first, second = open_arm(), open_arm()
    assert not set(first.action_names.values()) & set(second.action_names.values())
    assert first.all_changed() == second.all_changed() == {}
    assert first.gather_motion("wave").name == second.gather_motion("wave").name == "wave"


@pytest.mark.parametrize("scale", [1.0, 2.0, 0.0254, 40.0])
@pytest.mark.parametrize("data", SAMPLE_ANIMS)
def test_animations_come_back_at_any_scale(data, scale):
    case = open_anim(data, scale=scale)
    assert case.all_changed(scale=scale) == {}
    in_edit_mode(case.rig)
    reopen_blend()
    assert case.all_changed(scale=scale) == {}


def test_another_scale_makes_another_size():
    case = open_arm(scale=2.0)
    before, after = case.before(), case.after(scale=1.0)
    np.testing.assert_allclose(after.positions, 2 * before.positions, atol=1e-5)
    np.testing.assert_allclose(after.orientations, before.orientations, atol=1e-6)
    np.testing.assert_allclose(after.parts[0].offsets[:4], 2 * before.parts[0].offsets[:4], atol=1e-5)
    motion_before, motion_after = case.motion_before("wave").channels(), case.motion_after("wave").channels()
    np.testing.assert_allclose(motion_after[..., :3], 2 * motion_before[..., :3], atol=1e-5)
    np.testing.assert_allclose(motion_after[..., 3:], motion_before[..., 3:], atol=1e-6)


# -- the scene shows what games show


def disagreement(model) -> list[NDArray[Any]]:
    """Return for each mesh how far apart a vertex's weights put it at the file's joints, (V,)."""
    skeleton, found = model.skeleton, []
    for mesh in model.meshes:
        table = mesh.weights
        vertices, entries = table.entries()
        joints = table.joints[entries]
        places = rotate(skeleton.rotations[joints], table.offsets[entries]) + skeleton.positions[joints]
        means = skin(table, skeleton.positions, skeleton.rotations)
        far = np.zeros(mesh.num_vertices)
        moving = table.factors[entries] != 0
        np.maximum.at(far, vertices[moving], np.linalg.norm(places - means[vertices], axis=1)[moving])
        found.append(far)
    return found


def vertex_points(block, count: int) -> NDArray[Any]:
    """Return the point that stands for each of the file's vertices, (V,); -1 where there is none."""
    points = np.full(count, -1)
    of_corner, vertices = vertices_of(block)
    points[vertices] = of_corner
    return points


WITH_EXPECTED = [p for p in REAL if p.values[0] is not None and animations_of(p.values[0])] or REAL


@pytest.mark.parametrize("file", WITH_EXPECTED)
def test_the_scene_shows_what_the_engine_computes(file):
    case = open_real(file, weld=True)
    model = MESH.load(file.data, "x")
    agree = [far < 1e-4 for far in disagreement(model)]
    first = np.cumsum([0] + [mesh.num_vertices for mesh in model.meshes])
    points = [vertex_points(case.mesh(i), first[-1])[first[i] : first[i + 1]] for i in range(len(model.meshes))]
    total = count = 0.0
    for name, motion_file in animations_of(file).items():
        for key, wanted in motion_file.expected().items():
            frame, kind = key.split(".")[:2]
            if kind == "joint_positions":
                continue
            index = int(kind.removeprefix("mesh"))
            case.play(name, int(frame.removeprefix("frame")))
            here = points[index] >= 0
            off = np.linalg.norm(shown(case.mesh(index))[points[index][here]] - wanted[here], axis=1)
            assert off[agree[index][here]].max(initial=0.0) <= 1e-3
            total, count = total + (off**2).sum(), count + len(off)
    assert count
    assert np.sqrt(total / count) <= 0.01


@BOTH
@pytest.mark.parametrize("make", [samples_md5.arm, samples_md5.several_meshes, samples_md5.degenerate])
def test_the_scene_shows_what_the_weights_say(make, weld):
    case = open_rig(make(), {"wave": samples_md5.wave()}, weld=weld)
    if make is samples_md5.arm:
        assert len(case.mesh().data.vertices) == (12 if weld else 13), "its seam is welded"
    model, animation = MESH.load(make(), "x"), ANIM.load(samples_md5.wave(), "x")
    places, turns = chain(animation.parents, animation.positions, animation.rotations)
    points = vertex_points(case.mesh(), 13)
    for frame in range(5):
        case.play("wave", frame)
        wanted = skin(model.meshes[0].weights, places[frame], turns[frame])
        np.testing.assert_allclose(shown(case.mesh())[points], wanted, atol=2e-5)


def test_what_a_mesh_looks_like():
    case = open_rig(samples_md5.several_meshes(), name="hero")
    rig, first, second, third = case.rig, *(case.mesh(i) for i in range(3))
    assert (case.collection.name, rig.name) == ("hero", "hero")
    assert (first.name, third.name) == ("arm", "nothing")
    for block in (first, second, third):
        assert block.parent == rig
        assert [(m.type, m.object) for m in block.modifiers] == [("ARMATURE", rig)]
        assert not block.modifiers[0].use_deform_preserve_volume
    assert [slot.material.name for slot in first.material_slots] == ["models/md5/arm"]
    assert {g.name for g in first.vertex_groups} == {"origin", "upper arm", "hand"}
    assert [len(b.data.polygons) for b in (first, second, third)] == [18, 18, 0]
    layer = first.data.uv_layers[0].uv
    for corner, vertex in enumerate(vertices_of(first)[1].tolist()):
        s, t, *_ = samples_md5.box().verts[vertex]
        assert tuple(layer[corner].vector) == pytest.approx((s, 1 - t))


# -- bones


@pytest.mark.parametrize("data", SAMPLE_MESHES)
@pytest.mark.parametrize("scale", [1.0, 0.0254, 40.0])
def test_bones_are_joints(data, scale):
    case = open_rig(data, scale=scale)
    skeleton = MESH.load(data, "x").skeleton
    bones = armature.file_order(case.rig.data.bones)
    assert len(bones) == skeleton.num_joints, "none is lost"
    names = [bone.name for bone in bones]
    assert [None if b.parent is None else names.index(b.parent.name) for b in bones] == [
        None if p < 0 else p for p in skeleton.parents.tolist()
    ]
    assert not any(bone.use_connect for bone in bones)
    assert all(bone.use_deform for bone in bones)
    wanted = armature.joint_matrices(skeleton.positions, skeleton.rotations, scale)
    rest = armature.rest_matrices(case.rig.data)
    found = np.array([rest[name] for name in names]).reshape(-1, 4, 4) @ np.linalg.inv(TURN)
    size = max(1.0, np.abs(wanted[:, :3, 3]).max(initial=0.0))
    np.testing.assert_allclose(found[:, :3, 3], wanted[:, :3, 3], rtol=0, atol=1e-6 * size)
    np.testing.assert_allclose(found[:, :3, :3], wanted[:, :3, :3], rtol=0, atol=3e-4)
    heads = np.array([bone.head_local for bone in bones]).reshape(-1, 3)
    ahead = np.array([bone.tail_local for bone in bones]).reshape(-1, 3) - heads
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    np.testing.assert_allclose(ahead, wanted[:, :3, 0], atol=3e-4)  # a bone is drawn along its joint's X axis


def test_axes_are_exact_to_single_precision():
    """But for those within a thousandth of -Y, which Blender itself turns less exactly."""
    case = open_rig(samples_md5.many_axes())
    skeleton = MESH.load(samples_md5.many_axes(), "x").skeleton
    rest = armature.rest_matrices(case.rig.data)
    bones = armature.file_order(case.rig.data.bones)
    found = (np.array([rest[b.name] for b in bones]) @ np.linalg.inv(TURN))[:, :3, :3]
    off = np.abs(found - to_matrices(skeleton.rotations)).max(axis=(1, 2))
    assert off[:31].max() < 2e-5
    assert off.max() < 3e-4


def test_names_of_bones():
    case = open_rig(samples_md5.odd_names())
    bones = [bone.name for bone in armature.file_order(case.rig.data.bones)]
    wanted = samples_md5.ODD_NAMES
    assert len(set(bones)) == len(wanted)
    assert bones[:5] == ["bone", "a", "a.002", "a.001", "Bone"], "what is taken keeps its name"
    assert all(len(name.encode()) <= 63 for name in bones)
    assert bones[5].startswith("b" * 58)
    assert bones[7].startswith("größe 日本 größe")
    for bone, name in zip(bones, wanted, strict=True):
        assert case.gather().skeleton.names[bones.index(bone)] == name


def test_bones_reach_their_children():
    case = open_rig(samples_md5.arm())
    lengths = {bone.name: bone.length for bone in case.rig.data.bones}
    assert lengths["upper arm"] == pytest.approx(16.0)
    assert lengths["hand"] == pytest.approx(8.0), "half its parent's where there is no child"


# -- actions


def test_every_file_is_an_action_and_the_first_one_plays():
    case = open_arm()
    assert list(case.action_names.values()) == list(WAVES)
    for name, data in WAVES.items():
        action, wanted = case.action(name), ANIM.load(data, name)
        assert action.use_fake_user
        assert action.use_frame_range
        assert tuple(action.frame_range) == (0, wanted.num_frames - 1)
        assert action["idtech_frame_rate"] == 24
        assert len(curves_of(action)) == 7 * 3
    tracks = case.rig.animation_data.nla_tracks
    assert [track.name for track in tracks] == list(WAVES)
    assert all(track.mute for track in tracks)
    assert [strip.action.name for track in tracks for strip in track.strips] == list(WAVES)
    assert case.rig.animation_data.action == case.action("wave")
    if HAS_SLOTS:
        assert case.rig.animation_data.action_slot == case.action("wave").slots[0]
    scene = CONTEXT.scene
    assert (scene.frame_start, scene.frame_end, scene.render.fps, scene.render.fps_base) == (0, 4, 24, 1.0)
    hand = case.rig.pose.bones["hand"]
    moved = []
    for frame in range(5):
        scene.frame_set(frame)
        moved.append(tuple(hand.head))
    assert len(set(moved)) == 5


def test_the_scene_stays_as_it_is_if_asked():
    scene = CONTEXT.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 7, 99, 30
    open_arm(fit_range=False, frame_rate=False)
    assert (scene.frame_start, scene.frame_end, scene.render.fps) == (7, 99, 30)


@pytest.mark.parametrize(("rate", "shown"), [(24.0, 24.0), (12.5, 12.5), (23.976, 23.976), (1e12, 3276700000.0)])
def test_the_scene_plays_at_the_rate_of_the_first(rate, shown):
    motion = replace(ANIM.load(samples_md5.wave(), "wave"), frame_rate=rate)
    bring(samples_md5.arm(), {"wave": b""}, MESH.load(samples_md5.arm(), "arm"), [motion], {})
    render = CONTEXT.scene.render
    assert render.fps / render.fps_base == pytest.approx(shown, rel=1e-5)
    assert (render.fps_base == 1.0) == (rate == 24.0)


def test_quaternions_go_the_short_way():
    """A whole turn: in the file w never is positive, so that its x, y, z jump on the way."""
    spec = samples_md5.wave_spec(25)
    for frame, row in enumerate(spec.frames):
        half = frame * math.pi / 24
        row[2:] = [0.0, 0.0, math.sin(half) * (-1 if math.cos(half) > 0 else 1)]
    case = open_rig(samples_md5.arm(), {"turn": spec.pack()})
    curves = [c for c in curves_of(case.action("turn")) if c.data_path.endswith("rotation_quaternion")]
    table = np.array([[k.co[1] for k in c.keyframe_points] for c in curves]).reshape(3, 4, 25)
    assert ((table[..., 1:] * table[..., :-1]).sum(axis=1) > 0.9).all()
    assert table[1, 0].min() < -0.9 < 0.9 < table[1, 0].max(), "all around"
    assert case.all_changed() == {}


def test_the_frame_rate_is_the_actions_own_and_can_be_edited():
    case = open_rig(samples_md5.arm(), {"slow": samples_md5.wave()})
    case.action("slow")["idtech_frame_rate"] = 12.0
    CONTEXT.scene.render.fps = 60
    assert case.moved("slow") == {"frame_rate"}
    assert case.motion_after("slow").frame_rate == 12


def test_animations_can_come_later():
    case = open_rig(samples_md5.arm())
    found = skeletal.add_animations(
        case.rig, [ANIM.load(WAVES["wave"], "wave")], skeletal.SkeletalSettings(), CONTEXT.scene
    )
    case.motions, case.action_names = {"wave": WAVES["wave"]}, {"wave": found[0].name}
    in_edit_mode(case.rig)
    assert case.all_changed() == {}


# -- what does not fit, and records of strangers


def test_an_animation_that_does_not_fit_leaves_nothing():
    before = counts()
    with pytest.raises(LimitError, match="'walk' does not fit 'model': the animation has 5 joints, the model 3"):
        open_rig(samples_md5.arm(), {"wave": samples_md5.wave(), "walk": samples_md5.roots_wave()})
    assert counts() == before
    assert CONTEXT.mode == "OBJECT"
    assert not CONTEXT.scene.collection.objects


@pytest.mark.parametrize("step", ["_make_mesh", "_remember", "add_animations", "_check", "_set_scene", "_add_bones"])
def test_a_failure_while_building_leaves_nothing(step, monkeypatch):
    """The last is one in edit mode."""

    def fail(*_arguments):
        raise RuntimeError("stopped")

    before = counts()
    monkeypatch.setattr(armature if step == "_add_bones" else skeletal, step, fail)
    with pytest.raises(RuntimeError, match="stopped"):
        open_arm()
    assert counts() == before
    assert CONTEXT.mode == "OBJECT"
    assert CONTEXT.view_layer.objects.active is None


DAMAGE = [b"", b"IDTR", b"IDTR\x01\x00\xff\xff", b"nonsense" * 9, 7, "text"]


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_record_is_dropped_with_a_warning(damage, caplog):
    case = open_arm()
    case.rig.data[SKELETON] = damage
    for block in bpy.data.meshes:
        block[SKINNED] = damage
    for action in bpy.data.actions:
        action[MOTION] = damage
    caplog.clear()
    model, found = case.gather(), case.gather_motion("wave")
    assert ("is ignored" in caplog.text) is isinstance(damage, bytes)
    assert model.source is None
    assert found.source is None
    written = MESH.load(MESH.dump(model), "x")
    assert written.skeleton.names == ["origin", "upper arm", "hand"]
    before = MESH.load(case.data, "x")
    np.testing.assert_allclose(written.skeleton.positions, before.skeleton.positions, atol=1e-5)
    poses = ANIM.load(ANIM.dump(found), "x")
    np.testing.assert_allclose(poses.positions, ANIM.load(case.motions["wave"], "x").positions, atol=1e-4)


def test_a_record_of_another_armature_is_no_hint():
    """Numbers on bones and elements that no longer fit the record are dropped."""
    case = open_arm()
    other = open_rig(samples_md5.several_roots(), name="other")
    case.rig.data[SKELETON] = other.rig.data[SKELETON]
    case.mesh().data["idtech_surface"] = 99
    for bone in case.rig.data.bones:
        bone[JOINT] = 5000
    written = MESH.load(case.dump(), "x")
    assert written.skeleton.names == ["origin", "upper arm", "hand"]
    assert len(written.meshes[0].triangles) == 18


def test_the_helper_sees_a_difference():
    case = open_arm()
    case.mesh().data.vertices[0].co.x += 1.0
    curves_of(case.action("wave"), "hand")[0].keyframe_points[2].co[1] += 1.0
    assert set(case.all_changed()) == {"", "wave"}
