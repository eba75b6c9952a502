"""MDR without Blender: what the engine's formula says, and what is special about writing."""

from dataclasses import replace

import numpy as np
import pytest

from io_idtech_models.formats import by_name
from io_idtech_models.formats.mdr import file as mdr
from io_idtech_models.formats.mdr.model import from_model, to_animations, to_model
from io_idtech_models.model.bake import bake
from io_idtech_models.model.bounds import set_bounds
from io_idtech_models.model.skeletal import Scales, at_rest, skin
from io_idtech_models.model.transforms import chain, conjugate, multiply, rotate, to_matrices
from tests import samples_md5, samples_mdr
from tests.samples import load, sample

MDR = by_name("mdr")
SAMPLES = [make.__name__ for make in samples_mdr.MODELS]


def matrices(file, frame):
    """Return the matrices of bones in a frame, (B, 3, 4), as MC_UnCompress has them."""
    codes = file.frames["bones"][frame].astype(np.float64)
    if not mdr.are_packed(file.frames):
        return codes
    codes -= 32768
    return np.concatenate(((codes[:, 3:] / 32766).reshape(-1, 3, 3), codes[:, :3, None] / 64), axis=2)


def engine(file, surface, frame):
    """Return positions and normals of a surface's vertices, (V, 3), in a frame: RB_MDRSurfaceAnim."""
    bones, entry, found = matrices(file, frame), 0, []
    for vertex in surface.vertices:
        own = surface.weights[entry : entry + vertex["num_weights"]]
        entry += len(own)
        place = sum(w["weight"] * (bones[w["bone"]] @ [*w["offset"], 1.0]) for w in own)
        found.append((place, sum(w["weight"] * (bones[w["bone"], :, :3] @ vertex["normal"]) for w in own)))
    return tuple(np.array(part) for part in zip(*found, strict=True))


@pytest.mark.parametrize("name", SAMPLES)
def test_poses_are_the_engines(name):
    file = mdr.read(sample(name, "mdr"))
    model, (motion,) = to_model(file), to_animations(file)
    scales = np.ones(motion.positions.shape[:2]) if motion.scales is None else motion.scales.values
    for frame in range(motion.num_frames):
        shown = to_matrices(motion.rotations[frame]) * scales[frame, :, None, None]
        np.testing.assert_allclose(shown, matrices(file, frame)[..., :3], atol=4e-5)
        surfaces = [surface for lod in file.lods for surface in lod.surfaces]
        for mesh, surface in zip(model.meshes, surfaces, strict=True):
            wanted = engine(file, surface, frame)[0]
            found = skin(mesh.weights, motion.positions[frame], motion.rotations[frame], scales[frame])
            np.testing.assert_allclose(found, wanted, atol=2e-3)


@pytest.mark.parametrize("name", SAMPLES[:2])
def test_normals_are_the_engines_in_the_first_frame(name):
    file = mdr.read(sample(name, "mdr"))
    model = to_model(file)
    for mesh, surface in zip(model.meshes, [s for lod in file.lods for s in lod.surfaces], strict=True):
        wanted = engine(file, surface, 0)[1]
        wanted /= np.linalg.norm(wanted, axis=1)[:, None]
        assert mesh.normals is not None
        np.testing.assert_allclose(
            rotate(model.skeleton.rotations[mesh.weights.first_joints()], mesh.normals), wanted, 0, 1e-5
        )
        assert (np.linalg.norm(surface.vertices["normal"] - mesh.normals, axis=1) > 1e-2).any(), "two bones mix"


@pytest.mark.parametrize("name", SAMPLES)
def test_baked_normals_are_the_engines_in_every_frame(name):
    """Of all bones together, which all turn what the file has."""
    file = mdr.read(sample(name, "mdr"))
    baked = bake(to_model(file, name).nearest(), to_animations(file, name))
    for frame in range(baked.num_frames):
        for surface, made in zip(file.lods[0].surfaces, baked.surfaces, strict=True):
            wanted = engine(file, surface, frame)[1]
            lengths = np.linalg.norm(wanted, axis=1)
            firm = lengths > 1e-3
            assert made.normals is not None
            np.testing.assert_allclose(made.normals[frame][firm], wanted[firm] / lengths[firm][:, None], 0, 1e-4)


def test_new_normals_are_those_that_the_engine_turns_into_them():
    file = mdr.read(sample("walker", "mdr"))
    model = replace(to_model(file), source=None)
    again = from_model(model)
    for mesh, surface, own in zip(
        model.meshes, [s for lod in again.lods for s in lod.surfaces], [s for lod in file.lods for s in lod.surfaces],
        strict=True,
    ):  # fmt: skip
        found, wanted = engine(again, surface, 0)[1], engine(file, own, 0)[1]
        found, wanted = (normals / np.linalg.norm(normals, axis=1)[:, None] for normals in (found, wanted))
        np.testing.assert_allclose(found, wanted, atol=1e-5)
        assert mesh.num_vertices


def test_normals_of_a_new_model_turn_as_far_as_its_bones():
    """Also where the axes of these point in opposite ways: one normal could suit them at rest, and in no other pose."""
    model = by_name("md5mesh").load(samples_md5.arm(), "arm")
    motion = by_name("md5anim").load(samples_md5.wave_spec(5).pack(), "wave")
    over = np.zeros((model.skeleton.num_joints, 4))
    over[::2, 0], over[1::2, 3] = 1.0, 1.0  # every other joint's axes are turned by half
    skeleton, above = model.skeleton, np.where((motion.parents < 0)[:, None], over[0], over[motion.parents])
    model.skeleton = replace(skeleton, rotations=multiply(skeleton.rotations, over), bound=None)
    motion = replace(
        motion,
        positions=rotate(conjugate(above), motion.positions),
        rotations=multiply(conjugate(above), multiply(motion.rotations, over)),
        source=None,
    )
    set_bounds(motion, model)
    rng = np.random.default_rng(1)
    for mesh in model.meshes:
        weights = mesh.weights
        weights.offsets = rotate(conjugate(over)[weights.joints], weights.offsets).astype(np.float32)
        normals = rng.normal(size=(mesh.num_vertices, 3))
        mesh.normals = (normals / np.linalg.norm(normals, axis=1)[:, None]).astype(np.float32)
    model.source = None
    file = mdr.read(MDR.dump(model, None, [motion]))
    bind = model.skeleton.bind.rotations
    places, turns = chain(motion.parents, motion.positions, motion.rotations)
    for mesh, surface in zip(model.meshes, file.lods[0].surfaces, strict=True):
        shown = rotate(bind[mesh.weights.first_joints()], mesh.normals)
        owners, entries = mesh.weights.entries()
        joints, factors = mesh.weights.joints[entries], mesh.weights.factors[entries, None]
        assert (np.bincount(owners) > 1).any(), "some hang on several joints"
        for frame in range(motion.num_frames):
            moved = rotate(multiply(turns[frame], conjugate(bind))[joints], shown[owners]) * factors
            wanted = np.stack([np.bincount(owners, axis) for axis in moved.T], axis=1)
            there, found = engine(file, surface, frame)
            np.testing.assert_allclose(there, skin(mesh.weights, places[frame], turns[frame]), atol=1e-3)
            np.testing.assert_allclose(found, wanted, atol=1e-4)


def test_a_vertex_that_no_bone_moves_keeps_its_normal():
    """Whatever bone's turn it is given on the way, be there no second one."""
    frames = samples_mdr.moving(2, 1)
    tube = samples_mdr.ring(frames[0], 4, b"tube", b"skin")
    tube.verts.append(((0.0, 0.6, 0.8), (0.0, 0.0), []))
    tube.tris = [(0, 1, len(tube.verts) - 1)]
    model = load(samples_mdr.MdrSpec(frames=frames, lods=[[tube]]).pack())
    model.source = None
    (surface,) = mdr.read(MDR.dump(model)).lods[0].surfaces
    np.testing.assert_allclose(surface.vertices["normal"][-1], (0.0, 0.6, 0.8), atol=1e-6)


def test_matrices_with_a_shear_are_said(caplog):
    file = mdr.read(sample("walker", "mdr"))
    file.frames = file.frames.copy()
    to_animations(file, "x")
    assert "shear" not in caplog.text
    file.frames["bones"][0, 1, 0, 1] += 0.3
    to_animations(file, "x")
    (text,) = [text for text in caplog.messages if "shear" in text]
    assert text.endswith(f": '{to_model(file).skeleton.names[1]}'")


def test_levels_of_detail_and_what_has_none():
    data = sample("walker", "mdr")
    model = to_model(mdr.read(data))
    assert [mesh.level for mesh in model.meshes] == [0, 0, 1, 1, 2, 2]
    assert MDR.lost(model) == []
    assert any("drawn from afar is left out" in text for text in by_name("md5mesh").lost(model))
    assert len(load(by_name("md5mesh").dump(model.nearest()), "").meshes) == 2
    model.meshes = [mesh for mesh in model.meshes if mesh.level != 1]
    file = mdr.read(MDR.dump(model))
    assert [len(lod.surfaces[0].vertices) for lod in file.lods] == [
        len(m.uvs) for m in model.meshes if m.name == "tube"
    ]
    model.meshes = [mesh for mesh in model.meshes if mesh.level == 2]
    assert len(mdr.read(MDR.dump(model)).lods) == 1, "games know no gaps"
    for mesh in model.meshes:
        mesh.source_index = -1
    assert [len(lod.surfaces) for lod in mdr.read(MDR.dump(replace(model, source=None))).lods] == [0, 2]


def test_a_tag_off_its_bone_gets_a_bone_of_its_own():
    asset = MDR.unpack(mdr.read(sample("walker", "mdr")), "x")
    tag = asset.model.tags[0]
    tag.origin, tag.kept = np.array([1, 2, 3], np.float32), False
    tag.axes = np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]], np.float32)
    file = mdr.read(MDR.dump(asset.model, None, asset.animations))
    before = mdr.read(sample("walker", "mdr"))
    assert file.frames["bones"].shape[1] == before.frames["bones"].shape[1] + 1
    np.testing.assert_array_equal(file.frames["bones"][:, :-1], before.frames["bones"])
    assert file.tags["bone"].tolist() == [4, 1]
    assert bytes(file.tags["name"][0]).startswith(b"tag_head")
    for frame in range(5):
        on = matrices(before, frame)[3]
        wanted = on[:, :3] @ np.column_stack((tag.axes.T, tag.origin))
        wanted[:, 3] += on[:, 3]
        np.testing.assert_allclose(matrices(file, frame)[4], wanted, atol=1e-5)


def test_what_is_packed_stays_so_while_it_fits(caplog):
    asset = MDR.unpack(mdr.read(sample("packed_walker", "mdr")), "x")
    (motion,) = asset.animations
    motion.positions[2, 1, 0] += 3.0
    assert motion.source_frames is not None
    motion.source_frames[2, 1, 0] = -1
    file, before = mdr.read(MDR.dump(asset.model, None, [motion])), mdr.read(sample("packed_walker", "mdr"))
    moved = np.argwhere(file.frames["bones"] != before.frames["bones"]).tolist()
    assert moved == [[2, 1, 0]]
    assert file.frames["bones"][2, 1, 0] == before.frames["bones"][2, 1, 0] + 192
    motion.positions[2, 1, 0] += 600.0
    file = mdr.read(MDR.dump(asset.model, None, [motion]))
    assert not mdr.are_packed(file.frames)
    assert "packed frames hold 511.98" in caplog.text
    np.testing.assert_allclose(matrices(file, 1), matrices(before, 1), atol=3e-5)


def test_a_bone_that_goes_along_with_others_gets_codes_of_its_own():
    """What it is relative to its parent is the source's; where that takes it is not, along one axis."""
    asset = MDR.unpack(mdr.read(sample("walker", "mdr")), "x")
    (motion,), before = asset.animations, mdr.read(sample("walker", "mdr"))
    motion.positions[1, 2, 1] += 5.0
    found = mdr.read(MDR.dump(asset.model, None, [motion]))
    wanted = matrices(before, 1)
    wanted[2, 1, 3] += 5.0
    np.testing.assert_allclose(matrices(found, 1), wanted, atol=1e-5)


def test_bones_that_are_far_away_keep_their_codes_within_single_precision():
    frames: list[list[samples_mdr.Matrix]] = [
        [((*x[:3], x[3] + 20000.0), y, z) for x, y, z in frame] for frame in samples_mdr.moving(3)
    ]
    data = samples_mdr.MdrSpec(frames=frames, lods=[[]], tags=[(0, b"tag_root")]).pack()
    asset = MDR.unpack(mdr.read(data), "x")
    (motion,) = asset.animations
    motion.positions += 0.01
    assert MDR.dump(asset.model, None, [motion]) == data
    motion.positions[1, 2] += 0.02
    moved = mdr.read(MDR.dump(asset.model, None, [motion])).frames["bones"] != mdr.read(data).frames["bones"]
    assert np.unique(np.argwhere(moved)[:, :2], axis=0).tolist() == [[1, 2]]


@pytest.mark.parametrize("name", ["walker", "packed_walker"])
def test_bounds_of_frames_in_which_bones_were_scaled_are_made_anew(name):
    model = load(sample(name, "mdr"), "x")
    file = mdr.read(sample(name, "mdr"))
    (motion,) = to_animations(file, "x")
    values = np.ones(motion.positions.shape[:2])
    values[1] = 3.0
    motion.scales = Scales(values, np.zeros(values.shape[1], np.bool_))
    set_bounds(motion, model)
    written = mdr.read(MDR.dump(model, None, [motion])).frames["info"]
    before = file.frames["info"]
    stays = [0, *range(2, len(before))]
    assert written[stays].tobytes() == before[stays].tobytes()
    np.testing.assert_allclose(written["bounds"][1], motion.bounds[1], rtol=1e-6)
    assert written["radius"][1] == pytest.approx(np.linalg.norm(np.ptp(motion.bounds[1], axis=0)) / 2)


def test_the_option_packs():
    asset = MDR.unpack(mdr.read(sample("walker", "mdr")), "x")
    file, before = (mdr.read(MDR.dump(asset.model, {"pack_frames": on}, asset.animations)) for on in (True, False))
    assert mdr.are_packed(file.frames)
    for frame in range(5):
        np.testing.assert_allclose(matrices(file, frame), matrices(before, frame), atol=1 / 128)


def test_motions_follow_one_another():
    asset = MDR.unpack(mdr.read(sample("walker", "mdr")), "x")
    (motion,) = asset.animations
    parts = [motion.of_frames(np.arange(3, 5)), replace(motion.of_frames(np.arange(2)), name="stand", source=None)]
    file, before = mdr.read(MDR.dump(asset.model, None, parts)), mdr.read(sample("walker", "mdr"))
    np.testing.assert_allclose(file.frames["bones"], before.frames["bones"][[3, 4, 0, 1]], atol=1e-5)
    assert [bytes(name) for name in file.frames["info"]["name"][2:]] == [b"stand0", b"stand1"]


def test_names_that_no_skin_finds_are_a_problem():
    model = to_model(mdr.read(sample("walker", "mdr")))
    assert MDR.problems(model) == []
    assert model.source is not None
    model.source.meshes[0].name = "Tube"
    assert MDR.problems(model) == ["skins name surfaces in lower case and do not find 'Tube'"]


def test_games_take_128_bones(caplog):
    model = to_model(mdr.read(sample("handles", "mdr")))
    count = model.skeleton.num_joints
    for _ in range(128 - count + 1):
        model.tags.append(replace(model.tags[0], origin=np.array([1, 0, 0], np.float32)))
    from_model(model, None, [at_rest(model.skeleton, "x")])
    assert "129 bones" in caplog.text
