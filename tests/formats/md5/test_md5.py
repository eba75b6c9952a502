"""md5mesh and md5anim: files, structs and models."""

from dataclasses import replace

import numpy as np
import pytest

from io_idtech_models.formats import by_name
from io_idtech_models.formats.md5 import anim_file as md5anim
from io_idtech_models.formats.md5 import mesh_file as md5mesh
from io_idtech_models.formats.md5.common import could_be_read
from io_idtech_models.model.skeletal import Weights, skin
from io_idtech_models.model.transforms import chain, to_matrices
from io_idtech_models.reporting import FormatError
from tests import samples_md5
from tests.facts import differences
from tests.samples import CORPUS, corpus_params

ANIMS = [pytest.param(make(), id=make.__name__) for make in samples_md5.ANIMS]
MESH, ANIM = by_name("md5mesh"), by_name("md5anim")


# -- structs


def test_a_mesh_is_read_field_by_field():
    mesh = md5mesh.read(samples_md5.arm())
    assert mesh.command_line == "mesh models/arm.mb -dest 'no quotes'"
    assert mesh.names == ["origin", "upper arm", "hand"]
    assert mesh.parents.tolist() == [-1, 0, 1]
    assert mesh.positions.tolist() == [[0, 0, 0], [8, 1, 2], [24, 1, 2]]
    assert mesh.orientations.tolist()[2] == [0, 0, -samples_md5.HALF]
    (part,) = mesh.parts
    spec = samples_md5.box()
    assert (part.name, part.shader) == ("arm", "models/md5/arm")
    assert part.st.tolist() == [list(v[:2]) for v in spec.verts]
    assert list(zip(part.starts.tolist(), part.counts.tolist(), strict=True)) == [v[2:] for v in spec.verts]
    assert part.triangles.tolist() == [list(t) for t in spec.tris]
    assert part.joints.tolist() == [w[0] for w in spec.weights]
    assert part.biases.tolist() == [w[1] for w in spec.weights]
    assert part.offsets.tolist() == [list(w[2:]) for w in spec.weights]


def test_an_animation_is_read_field_by_field():
    anim, spec = md5anim.read(samples_md5.wave()), samples_md5.wave_spec()
    said = anim.command_line, anim.frame_rate, anim.names
    assert said == ("anim models/wave.mb", 24, ["origin", "upper arm", "hand"])
    assert (tuple(anim.flags), tuple(anim.starts), anim.parents.tolist()) == (spec.flags, spec.starts, [-1, 0, 1])
    assert anim.bounds.reshape(-1, 6).tolist() == [list(b) for b in spec.bounds]
    assert anim.base.tolist() == [list(b) for b in spec.base]
    assert anim.components.tolist() == spec.frames
    channels = anim.channels()
    assert channels[3, 0].tolist() == [0.5, 0.25, 0.125, 0, 0, 0]
    assert channels[3, 1].tolist() == [8, 1, 2, 0.125, 0, spec.frames[3][4]]
    assert channels[3, 2].tolist() == [19, 0, 0, 0, 0, spec.frames[3][1]]


def said(outline):
    return outline.joint_names, outline.parents.tolist(), outline.num_frames, outline.frame_rate


@pytest.mark.parametrize("data", ANIMS)
def test_what_stands_before_the_frames_is_the_same_read_alone(data):
    assert said(ANIM.outline(data)) == said(ANIM.load(data, ""))


def test_frames_stay_unread_and_what_is_wrong_before_them_is_told():
    data = samples_md5.wave()
    cut = data[: data.index(b"baseframe")]
    assert said(md5anim.outline(cut)) == said(md5anim.outline(data))
    remark = data.replace(b"hierarchy {", b"// hierarchy {\n/*\nbounds {\n*/\nhierarchy {")
    assert said(md5anim.outline(remark)) == said(md5anim.outline(data))
    with pytest.raises(FormatError, match="line 4"):
        md5anim.outline(data.replace(b"numJoints 3", b"numJoints 2.5"))


@pytest.mark.parametrize("file", corpus_params(".md5anim"))
def test_poses_are_the_engines(file):
    expected = file.expected()
    if not expected:
        pytest.skip("nobody computed its vertices")
    anim = ANIM.load(file.data, "x")
    mesh = MESH.load((CORPUS / file.entry["mesh"]).read_bytes(), "x")
    places, turns = chain(anim.parents, anim.positions, anim.rotations)
    for key, wanted in expected.items():
        frame, kind = key.split(".")[:2]
        if kind != "joint_positions":
            at = int(frame.removeprefix("frame"))
            found = skin(mesh.meshes[int(kind.removeprefix("mesh"))].weights, places[at], turns[at])
            assert np.abs(found - wanted).max(initial=0) < 1e-4


# -- models


def test_a_model_has_places_and_faces_outward():
    model = MESH.load(samples_md5.arm(), "arm")
    mesh = model.meshes[0]
    places = skin(mesh.weights, model.skeleton.positions, model.skeleton.rotations)
    want = [(x, y, z) for x in (4, 16, 28) for y, z in ((-3, -1), (5, -1), (5, 5), (-3, 5))]
    assert places[:12] == pytest.approx(np.array(want), abs=1e-6)
    assert mesh.uvs[1].tolist() == pytest.approx([4 / 32, 1 - 4 / 16])
    assert mesh.triangles.tolist() == [list(tri[::-1]) for tri in samples_md5.box().tris]
    corners = places[mesh.triangles]
    outward = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (np.einsum("ti,ti->t", outward, corners.mean(axis=1) - places[:12].mean(axis=0)) > 0).all()


def test_weights_of_shared_ranges():
    starts, counts, joints = (np.array(a) for a in ([2, 0, 2], [1, 2, 1], [0, 1, 0]))
    table = Weights(starts, counts, joints, np.ones(3, np.float32), np.zeros((3, 3), np.float32))
    vertices, entries = table.entries()
    assert (vertices.tolist(), entries.tolist()) == ([0, 1, 1, 2], [2, 0, 1, 2])


# -- what is out there


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"\n", b"\r\n"),
        (b" ( ", b"\t(  "),
        (b"joints {", b"/* a\nb */ joints // c\n{"),
        (b"0.625", b"6.25e-1"),
        (b"numJoints", b"// numJoints 7\nnumJoints"),
    ],
)
def test_other_spellings_mean_the_same(old, new):
    data = samples_md5.arm()
    assert old in data
    assert differences(data, data.replace(old, new)) == set()


def test_trailing_text_is_left_alone():
    data = samples_md5.arm()
    assert differences(data, data + b"\nmesh rubbish {") == set()


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (b"MD5Version 10", b"MD5Version 6", "version 6"),
        (b"numJoints 3", b"numbones 3", "version 6, which calls itself 10"),
    ],
)
def test_files_of_the_alpha_are_told_apart(old, new, found):
    assert old in samples_md5.arm()
    with pytest.raises(FormatError, match=rf"MD5 version 6, of the Doom 3 alpha.* line.*, found {found}$"):
        md5mesh.read(samples_md5.arm().replace(old, new, 1))


def changed_line(data: bytes, old: bytes, new: bytes) -> tuple[bytes, int]:
    """Return a file with the last occurrence of a text replaced, and the line of that."""
    place = data.rindex(old)
    return data[:place] + new + data[place + len(old) :], data.count(b"\n", 0, place) + 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"tri 7 ", b"tri 7 0 "),
        (b"tri 7 ", b"tri "),
        (b"tri 17 ", b"tri 17 13 "),
        (b"weight 2 0", b"weight 2 3"),
        (b"weight 2 0", b"weight 2 0.5"),
        (b"weight 2 0", b"weight 2 nan"),
        (b"weight 2 0", b"weight 0"),
        (b"vert 4 ", b"vert 4 1 "),
        (b"vert 4 ", b"vert x "),
        (b") 4 2\n", b") 99 2\n"),
        (b") 4 2\n", b") 4 99\n"),
        (b") 15 1\n", b") 15 2\n"),
    ],
)
@pytest.mark.parametrize("before", [b"", b"// tri vert weight\n\n"])
def test_damaged_rows_are_named_by_their_line(old, new, before):
    data = samples_md5.several_meshes().replace(b"numverts", before + b"numverts")
    damaged, line = changed_line(data.replace(b"tri 17 0", b"tri 17 1"), old, new)
    with pytest.raises(FormatError, match=f"at line {line}:"):
        md5mesh.read(damaged)


@pytest.mark.parametrize(("old", "new"), [(b"\t1 33 0", b"\t1 33 4"), (b"\t0 56 2", b"\t0 56 3")])
def test_channels_out_of_range_are_named_by_their_line(old, new):
    damaged, line = changed_line(samples_md5.wave(), old, new)
    with pytest.raises(FormatError, match=f"at line {line}:"):
        md5anim.read(damaged)


@pytest.mark.parametrize(("size", "outcome"), [(1.00005, ""), (1.005, "warning"), (1.02, "error")])
def test_quaternions_that_are_too_long(size, outcome, caplog):
    joints = list(samples_md5.ARM)
    joints[1] = (*joints[1][:3], (0.0, size, 0.0))
    data = samples_md5.MeshSpec(joints=joints).pack()
    if outcome == "error":
        with pytest.raises(FormatError, match="the orientation of joint 'upper arm' is no rotation"):
            MESH.load(data, "x")
        return
    model = MESH.load(data, "x")
    assert np.linalg.norm(model.skeleton.rotations, axis=1) == pytest.approx(np.ones(3))
    assert bool(caplog.records) is (outcome == "warning")


def test_carried_vertices_stay_in_the_table():
    """Offsets of their own where the source's were; who shares a weight and has it otherwise gets one behind."""
    model = MESH.load(samples_md5.odd_weights(), "a")
    before = MESH.read(samples_md5.odd_weights()).parts[0]
    mesh = model.meshes[0]
    mesh.weights.offsets *= 2
    mesh.kept, mesh.carried = np.zeros(mesh.num_vertices, np.bool_), np.ones(mesh.num_vertices, np.bool_)
    after = MESH.from_model(model).parts[0]
    for name in ("starts", "counts", "joints", "biases"):
        np.testing.assert_array_equal(getattr(after, name), getattr(before, name))
    used = mesh.weights.entries()[1]
    np.testing.assert_allclose(after.offsets[used], 2 * before.offsets[used])
    assert mesh.source_vertices is not None
    mesh.kept[0], mesh.carried[0] = True, False  # shares its one weight with another
    sharing = MESH.from_model(model).parts[0]
    np.testing.assert_array_equal(sharing.offsets[before.starts[0]], before.offsets[before.starts[0]])
    assert sharing.starts[3] >= len(before.joints)
    assert sharing.counts[3] == before.counts[3]


@pytest.mark.parametrize(("off", "stays"), [(0.1, True), (0.4, False)])
def test_carried_vertices_share_a_weight_within_single_precision(off, stays):
    model = MESH.load(samples_md5.odd_weights(), "a")
    before, mesh = MESH.read(samples_md5.odd_weights()).parts[0], model.meshes[0]
    table, used = mesh.weights, mesh.weights.entries()[1]  # in the file some are several vertices'
    own = (np.cumsum(table.counts) - table.counts).astype(np.int32), table.counts
    mesh.weights = Weights(*own, table.joints[used], table.factors[used], table.offsets[used] + 20000)
    mesh.weights.offsets[0] += off
    mesh.kept, mesh.carried = np.zeros(mesh.num_vertices, np.bool_), np.ones(mesh.num_vertices, np.bool_)
    after = MESH.from_model(model).parts[0]
    assert after.starts[1:].tolist() == before.starts[1:].tolist()
    assert (after.starts[0] == before.starts[0]) == stays


def test_frames_that_have_no_bounds_in_the_file_have_their_own():
    spec = samples_md5.wave_spec()
    spec.bounds = spec.bounds[:-2]
    motion = ANIM.load(spec.pack(), "a")
    motion.positions[0, 0] += 1
    motion.source_frames[0, 0] = -1
    motion.bounds = np.arange(30.0).reshape(5, 2, 3)
    found = ANIM.read(ANIM.dump(motion)).bounds
    assert found[1:3].reshape(-1, 6).tolist() == [list(each) for each in spec.bounds[1:]]
    assert found[3:].tolist() == motion.bounds[3:].tolist()


def test_bounds_that_edited_meshes_outgrew_hold_them_too():
    motion = ANIM.load(samples_md5.wave(), "a")
    before = ANIM.read(samples_md5.wave()).bounds
    motion.edited = np.tile([[-10.0, -10.0, -10.0], [10.0, 10.0, 10.0]], (5, 1, 1))
    motion.edited[1, 0, 2] = -500.0
    found = ANIM.read(ANIM.dump(motion)).bounds
    assert found[1].tolist() == [[*before[1, 0, :2], -500.0], before[1, 1].tolist()]
    np.testing.assert_array_equal(np.delete(found, 1, axis=0), np.delete(before, 1, axis=0))


def test_components_of_joints_that_hardly_move_lie_one_behind_the_other():
    """Of one joint that turns about one axis, and one that moves along one."""
    motion = ANIM.load(samples_md5.wave(), "wave")
    angles = np.linspace(0.0, 1.0, motion.num_frames)
    motion.positions[:], motion.rotations[:] = motion.positions[:1], motion.rotations[:1]
    motion.rotations[:, 1] = np.stack((np.cos(angles), np.sin(angles), angles * 0, angles * 0), axis=-1)
    motion.positions[:, 2, 1] += angles
    data = ANIM.dump(replace(motion, source=None, source_frames=None, source_joints=None))
    file, again = ANIM.read(data), ANIM.load(data, "wave")
    assert (file.flags.tolist(), file.starts[1:].tolist()) == ([0, 8, 2], [0, 1])
    assert file.components.shape == (motion.num_frames, 2) and file.starts[0] in {0, 1}, "games ask for a number there"
    np.testing.assert_allclose(again.positions, motion.positions, atol=1e-6)
    np.testing.assert_allclose(to_matrices(again.rotations), to_matrices(motion.rotations), atol=1e-6)


def test_bounds_are_those_of_the_frame_that_most_joints_have():
    motion = ANIM.load(samples_md5.wave(), "wave")
    hints = motion.source_frames.copy()
    hints[0, :2], hints[0, 2] = 3, 4  # a pose made of two frames'
    after = ANIM.read(ANIM.dump(replace(motion, source_frames=hints)))
    wanted = ANIM.read(samples_md5.wave()).bounds[3]
    assert wanted[0, 0] == -93.0
    np.testing.assert_array_equal(after.bounds[0], wanted)


def test_orientations_that_are_hardly_too_long_can_be_read():
    """As exporters round them."""
    length = np.array([[1.0099, 0.0, 0.0]])
    assert could_be_read({"a": np.array([1e30])}, length)
    assert not could_be_read({"a": np.array([1e30])}, length + 0.0005)
    assert not could_be_read({"a": np.array([np.inf])}, length)
