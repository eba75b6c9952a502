"""IQM without Blender: what games compute of real files, what broken ones say, and what an edit re-codes."""

import struct
from dataclasses import replace

import numpy as np
import pytest

from io_idtech_models.formats import by_name
from io_idtech_models.formats.iqm import file as iqm
from io_idtech_models.formats.iqm.channels import decode_frames
from io_idtech_models.formats.iqm.file import name_at
from io_idtech_models.formats.iqm.geometry import make_adjacency, make_tangents, rounded_weights
from io_idtech_models.model.bake import bake
from io_idtech_models.model.joint_scales import as_inherited, as_own, posed, stretches, without_rest_scale
from io_idtech_models.model.skeletal import mismatch
from io_idtech_models.model.transforms import multiply, rotate, to_matrices
from io_idtech_models.model.weights import blended_normals, normal_turns, skin_by
from io_idtech_models.reporting import FormatError, LimitError
from tests import samples_iqm
from tests.facts import differences
from tests.samples import CORPUS, corpus_params
from tests.small_files import SAMPLES

ROW = by_name("iqm")
FILES = SAMPLES["iqm"]


def unpack(data):
    """Return the model of a file and its animations; Any, so that tests need not ask whether sources are there."""
    asset = ROW.unpack(ROW.read(data), "x")
    return asset.model, asset.animations


def changed(data, model, animations):
    return differences(data, ROW.dump(model, None, animations))


# -- what is in a file


def test_what_the_arm_means():
    model, (wave, grow) = unpack(FILES["arm"])
    assert model.skeleton.names == ["base", "upper", "hand"]
    np.testing.assert_allclose(model.skeleton.positions, [[0, 0, 1], [8, 0, 1], [20, 1, 1]], atol=1e-6)
    np.testing.assert_array_equal(model.skeleton.scales[:, 0], [1, 2, 0.75])
    assert [(m.name, m.shader, m.num_vertices) for m in model.meshes] == [
        ("sleeve", "models/arm.png", 8), ("glove", "", 7)
    ]  # fmt: skip
    assert [(a.name, a.num_frames, a.frame_rate, a.loops) for a in (wave, grow)] == [
        ("wave", 3, 24, False), ("grow", 2, 0, True)
    ]  # fmt: skip
    np.testing.assert_allclose(model.meshes[0].colors[1], np.array([10, 254, 1, 235]) / 255, atol=1e-6)
    last = model.meshes[1].weights
    assert last.counts.tolist() == [2, 2, 2, 0, 2, 2, 2], "vertices of its own, then borrowed ones"
    np.testing.assert_array_equal(last.still[3], samples_iqm.PLACES[11])


@pytest.mark.parametrize("size", [1.0, 2.0])
def test_joints_of_one_size(size):
    spec = samples_iqm.animated()
    spec.joints = [(name, parent, (*row[:7], size, size, size)) for name, parent, row in spec.joints]
    scales = unpack(spec.pack())[0].skeleton.scales
    assert (scales is None) if size == 1 else (scales == size).all()


def test_poses_leave_the_scale_at_rest_out():
    model, (wave, _) = unpack(FILES["arm"])
    np.testing.assert_allclose(wave.scales.values[:, 1], 1, atol=1e-5)
    assert wave.scales.values[2, 2, 2] == pytest.approx((0.5 + (8192 + 180) / 32768) / 0.75)
    assert wave.positions[0, 2].tolist() == pytest.approx([12, 1, 0]), "its parent is twice as large"
    places, axes = posed(wave)
    np.testing.assert_allclose(skin_by(model.meshes[0].weights, places[0], axes[0])[:4], np.array(
        samples_iqm.PLACES[:4]), atol=1e-3)  # fmt: skip


def test_a_file_of_animations_alone():
    model, (wave,) = unpack(FILES["alone"])
    assert not model.meshes
    assert model.skeleton.names == ["joint000", "joint001", "joint002"]
    assert wave.holds_rest_scale
    other, (own, _) = unpack(FILES["arm"])
    assert not mismatch(other.skeleton, wave), "joints without names are known by number"
    bound = without_rest_scale(wave, other.skeleton)
    np.testing.assert_allclose(bound.positions[:3], own.positions, atol=1e-12)
    assert bound.scales is not None
    np.testing.assert_allclose(bound.scales.values[:3], own.scales.values, atol=1e-12)


def test_frames_that_no_animation_names_are_one():
    data = replace(samples_iqm.alone(), anims=[]).pack()
    _, (found,) = unpack(data)
    assert (found.name, found.num_frames, found.frame_rate, found.loops) == ("x", 5, 0.0, False)


def test_scales_of_one_kind_and_the_other():
    """Even ones survive both ways; an uneven one is lost as a joint's own, and said."""
    model, (wave, grow) = unpack(FILES["arm"])
    weights = model.meshes[0].weights
    for animation in (wave, grow):
        animation.scales.values[:] = animation.scales.values[..., :1]
        own, lost = as_own(animation)
        assert not lost
        for found in (own, as_inherited(own)):
            for a, b in zip(posed(animation), posed(found), strict=True):
                np.testing.assert_allclose(skin_by(weights, *(p[0] for p in posed(animation))),
                                           skin_by(weights, *(p[0] for p in posed(found))), atol=1e-9)  # fmt: skip
                np.testing.assert_allclose(a, b, atol=1e-9)
    wave.scales.values[1, 0] = (1, 2, 1)
    assert as_own(wave)[1]


@pytest.mark.parametrize("file", corpus_params(".iqm"))
def test_what_games_compute(file):
    """Within single precision of the size; a file of animations alone on the model that the manifest names."""
    model, animations = unpack(file.data)
    if "mesh" in file.entry:
        model = unpack((CORPUS / file.entry["mesh"]).read_bytes())[0]
    elif not model.meshes:
        model.skeleton.scales = None
    moving = [without_rest_scale(animation, model.skeleton) for animation in animations]
    rest = model.skeleton.bind
    poses = [posed(animation) for animation in moving] or [(rest.positions[None], to_matrices(rest.rotations)[None])]
    places, axes = (np.concatenate(parts) for parts in zip(*poses, strict=True))
    expected = file.expected()
    size = max(float(np.abs(values).max()) for name, values in expected.items() if "normals" not in name)
    for name, wanted in expected.items():
        frame, *mesh, kind = name.split(".")
        at = 0 if frame == "bind" else int(frame.removeprefix("frame"))
        if kind == "joint_matrices":
            own = (to_matrices(rest.rotations), rest.positions) if frame == "bind" else (axes[at], places[at])
            found = np.concatenate((own[0] @ stretches(model.skeleton), own[1][..., None]), axis=-1)
        else:
            part = model.meshes[int(mesh[0].removeprefix("mesh"))]
            found = skin_by(part.weights, places[at], axes[at])
            if kind == "normals":
                found = blended_normals(part.weights, part.normals, rest.rotations, axes[at : at + 1])[0]
        off = np.abs(found[: len(wanted)] - wanted).max(initial=0.0)
        assert off <= (2e-6 if kind == "normals" else 1e-6 * size if kind == "positions" else 5e-5 * size), name


# -- broken files


def test_a_joint_that_is_not_there():
    data = bytearray(FILES["arm"])
    places = [record["ofs_data"] for record in iqm.read(bytes(data)).arrays if record["type"] == iqm.BLENDINDEXES]
    data[int(places[0])] = 3
    with pytest.raises(FormatError, match="joint of vertex 0 of mesh 0: expected 0 to 2, found 3"):
        ROW.load(bytes(data), "x")


def test_meshes_that_share_without_end():
    spec = samples_iqm.animated()
    spec.meshes = [("arm", "arm.png", 0, 12, 0, 9)] * 5
    with pytest.raises(FormatError, match="share"):
        ROW.read(spec.pack())


# -- edits


def test_a_frame_within_its_channels_range_changes_its_codes_alone():
    model, (wave, grow) = unpack(FILES["arm"])
    wave.scales.values[1, 2] *= 1.01
    wave.source_frames[1, 2, 2] = -1
    assert changed(FILES["arm"], model, [wave, grow]) == {"frames[1]", "bounds[1]"}


def test_extensions_come_back_each_with_its_own_data():
    spec = samples_iqm.arm()
    spec.extensions = [("FTE_MESH", b"12345678"), ("hand", b"abcd"), ("wave", b"xy")]
    model, animations = unpack(spec.pack())
    assert ROW.dump(model, None, animations) == spec.pack()


@pytest.mark.parametrize("edited", [0, 1])
def test_bounds_of_animations_alone_stay_while_nothing_is_edited(edited):
    spec = samples_iqm.alone()
    spec.bounds = [(-1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 2.0, 2.0)] * 5
    model, (wave,) = unpack(spec.pack())
    wave.positions[:edited] += 1.0
    wave.source_frames[:edited] = -1
    found = ROW.dump(model, None, [wave])
    assert len(ROW.read(found).bounds) == (0 if edited else 5)


def test_a_channel_that_leaves_its_range_gets_a_new_one_alone():
    model, (wave, grow) = unpack(FILES["arm"])
    wave.positions[1, 0, 0] += 40
    wave.source_frames[1, 0, 0] = -1
    after = ROW.read(ROW.dump(model, None, [wave, grow]))
    before = ROW.read(FILES["arm"])
    numbers, were = decode_frames(after.poses, after.frames), decode_frames(before.poses, before.frames)
    assert numbers[1, 0, 0] - were[1, 0, 0] == pytest.approx(40, abs=1e-3)
    were[1, 0, 0] = numbers[1, 0, 0]
    assert np.abs(numbers - were).max() < 60 / 65535
    same = np.ones(after.frames.shape, np.bool_)
    same[:, 0] = False
    np.testing.assert_array_equal(after.frames[same], before.frames[same])


def test_a_joint_that_turned_at_rest_is_written_as_it_stands():
    model, animations = unpack(FILES["animated"])
    turned = model.skeleton.rotations[2] = multiply(
        model.skeleton.rotations[2], np.array([np.cos(0.2), 0, 0, np.sin(0.2)])
    )
    found = unpack(ROW.dump(model, None, animations))[0].skeleton.rotations
    np.testing.assert_allclose(to_matrices(found[2]), to_matrices(turned), atol=1e-6)


@pytest.mark.parametrize(("off", "stands"), [(0.005, True), (0.02, False)])
def test_what_rounding_moves_far_away_stands_still(off, stands):
    model, (wave,) = unpack(FILES["animated"])
    wave.positions[:, 0] += (5000, 0, 0)
    wave.positions[::2, 0, 2] += off
    mask = ROW.read(ROW.dump(model, None, [replace(wave, source=None)])).poses["mask"]
    assert (int(mask[0]) & 0b111) == (0b011 if stands else 0b111)


@pytest.mark.parametrize("what", ["joint", "pose"])
def test_what_no_reader_takes_is_not_written(what):
    model, animations = unpack(FILES["arm"])
    if what == "joint":
        model.skeleton.positions[1] = 3e9
    else:
        model, animations = replace(model, source=None), [replace(a, source=None) for a in animations]
        for animation in animations:
            animation.positions[:, 1] = 3e9
    with pytest.raises(LimitError, match=f"this can't be written as an IQM: places of {what}s"):
        ROW.dump(model, None, animations)


def test_a_long_animation_of_which_little_moves_is_read_again():
    """300 frames of 300 joints: what stands still takes no bytes, and joints beyond 256 have two in each vertex."""
    model, animations = unpack(FILES["arm"])
    names = [f"joint {nth}" for nth in range(300)]
    still = np.arange(900.0).reshape(300, 3) % 7
    frames = np.repeat(still[None], 300, axis=0)
    frames[:, 5, 0] = np.arange(300.0)
    turns = np.zeros((300, 300, 4))
    turns[..., 0] = 1.0
    parents = np.arange(-1, 299, dtype=np.int32)
    long = replace(
        animations[0], joint_names=names, parents=parents, positions=frames, rotations=turns, source=None, scales=None,
        bounds=np.zeros((300, 2, 3)), source_frames=None,
    )  # fmt: skip
    skeleton = replace(
        model.skeleton, names=names, parents=parents, positions=still.copy(), rotations=turns[0].copy(), scales=None
    )
    mesh = replace(model.meshes[0], source_index=-1, source_vertices=None, kept=None)
    mesh.weights.joints[:] = 299
    data = ROW.dump(replace(model, skeleton=skeleton, meshes=[mesh], source=None), None, [long])
    assert len(data) < 100_000
    bound, (again,) = unpack(data)
    np.testing.assert_allclose(again.positions[:, 5, 0], frames[:, 5, 0], atol=0.1)
    assert (bound.meshes[0].weights.joints == 299).all()
    assert ROW.read(data).arrays[4][["type", "format"]].tolist() == (iqm.BLENDINDEXES, 3)


def test_animations_keep_their_frames():
    """A new one comes behind all; one that grows moves those behind it, which is said."""
    data = FILES["arm"]
    model, (wave, grow) = unpack(data)
    new = replace(wave, name="new")
    after = ROW.read(ROW.dump(model, None, [new, grow, wave]))
    assert [name_at(after.text, name) for name in after.anims["name"].tolist()] == ["wave", "grow", "new"]
    assert after.anims[["first_frame", "num_frames"]].tolist() == [(0, 3), (4, 2), (7, 3)]
    np.testing.assert_array_equal(after.frames[:7], ROW.read(data).frames)
    longer = wave.of_frames(np.array([0, 1, 2, 2, 1]))
    after = ROW.read(ROW.dump(model, None, [longer, grow]))
    assert after.anims["first_frame"].tolist() == [0, 5]
    np.testing.assert_array_equal(after.frames, ROW.read(data).frames[[0, 1, 2, 2, 1, 4, 5]])


def test_colours_that_are_gone_leave_no_array_behind():
    model, animations = unpack(FILES["arm"])
    assert 6 in ROW.read(FILES["arm"]).arrays["type"].tolist()
    for mesh in model.meshes:
        mesh.colors = None
    assert 6 not in ROW.read(ROW.dump(model, None, animations)).arrays["type"].tolist()


@pytest.mark.parametrize("ends", [(1.0, 0.0), (0.0, 1.0)])
def test_a_colour_at_one_end_that_is_painted_goes_to_the_other(ends):
    model, animations = unpack(FILES["arm"])
    for value in ends:
        model.meshes[0].colors[:2] = value
        model, animations = unpack(ROW.dump(model, None, animations))
        assert (model.meshes[0].colors[:2] == value).all()


@pytest.mark.parametrize("opacity", [1.0, 0.5])
def test_colours_without_opacity_get_one_where_it_was_painted(opacity):
    (array,) = [a for a in ROW.read(FILES["static"]).arrays if a["type"] == 6]
    assert array["size"] == 3
    model, animations = unpack(FILES["static"])
    colors = model.meshes[0].colors
    colors[1] = 0.25, 0.5, 0.75, opacity
    data = ROW.dump(model, None, animations)
    (made,) = [a for a in ROW.read(data).arrays if a["type"] == 6]
    assert (made["format"], made["size"]) == (array["format"], 3 if opacity == 1.0 else 4)
    found = unpack(data)[0].meshes[0].colors
    np.testing.assert_allclose(found, colors, atol=0.5 / 255)


def test_a_model_of_nothing_but_its_arrays():
    """What a file has to have is made as all writers do; a second trip changes nothing."""
    model, animations = unpack(FILES["animated"])
    for mesh in model.meshes:
        mesh.source_index, mesh.source_vertices, mesh.kept = -1, None, None
    bare = replace(model, source=None)
    data = ROW.dump(bare, None, [replace(a, source=None) for a in animations])
    made = ROW.read(data)
    assert made.arrays[["type", "format", "size"]].tolist() == [
        (0, 7, 3), (1, 7, 2), (2, 7, 3), (3, 7, 4), (4, 1, 4), (5, 1, 4)
    ]  # fmt: skip
    assert all(record["ofs_data"] % 4 == 0 for record in made.arrays)
    again, moved = unpack(data)
    assert ROW.dump(again, None, moved) == data
    for one, other in zip(bake(model, animations).surfaces, bake(again, moved).surfaces, strict=True):
        np.testing.assert_allclose(one.positions, other.positions, atol=2e-2)


# -- what is made


def test_weights_add_up():
    found = rounded_weights(np.array([[0.334, 0.333, 0.333, 0], [0.5, 0.5, 0, 0], [0, 0, 0, 0], [0.25] * 4]), 255)
    assert found.sum(axis=1).tolist() == [255, 255, 0, 255]


@pytest.mark.parametrize("total", [7, 255, 65535])
def test_weights_are_off_by_little_and_below_none(total):
    found = np.sort(np.random.default_rng(total).dirichlet([0.3] * 4, 2000))[:, ::-1]
    rounded = rounded_weights(found, total)
    assert (rounded.sum(axis=1) == total).all() and rounded.min() >= 0
    assert np.abs(rounded - found * total).max() <= 1.5


@pytest.mark.parametrize("form", [6, 7, 8], ids=["half", "float", "double"])
def test_weights_that_are_no_whole_numbers_stay_as_fine(form):
    spec = samples_iqm.animated()
    spec.arrays[5] = (5, 0, form, [tuple(weight / 255 for weight in row) for row in spec.arrays[5][3]])
    model, animations = unpack(spec.pack())
    weights = model.meshes[0].weights
    weights.factors[weights.starts[5] : weights.starts[5] + 2] = 0.7, 0.3
    model.meshes[0].kept[5] = False
    found = unpack(ROW.dump(model, None, animations))[0].meshes[0].weights
    np.testing.assert_allclose(found.factors, weights.factors, atol=5e-4)


@pytest.mark.parametrize("total", [0.5, 3.0])
def test_weights_are_shares_of_what_they_add_up_to(total):
    spec = samples_iqm.animated()
    wanted = unpack(spec.pack())[0].meshes[0].weights.factors
    spec.arrays[5] = (5, 0, 7, [tuple(total * weight / 255 for weight in row) for row in spec.arrays[5][3]])
    model, animations = unpack(spec.pack())
    np.testing.assert_allclose(model.meshes[0].weights.factors, wanted, atol=1e-6)
    assert ROW.dump(model, None, animations) == spec.pack()


def test_neighbours_and_tangents_of_a_square():
    places = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], np.float32)
    triangles = np.array([(0, 1, 2), (0, 2, 3)])
    none = 0xFFFFFFFF
    assert make_adjacency(triangles, places).tolist() == [[none, none, 1], [0, none, none]]
    up = np.tile([0.0, 0, 1], (4, 1))
    for sign in (1, -1):  # texture coordinates of a mirrored half
        found = make_tangents(places, up, places[:, :2] * (sign, 1), triangles)
        np.testing.assert_allclose(found, np.tile([sign, 0, 0, -sign], (4, 1)), atol=1e-6)


WRITERS = [param for param in corpus_params(".iqm") if "guy.iqm" in str(param.id) or "pistol.iqm" in str(param.id)]


@pytest.mark.parametrize("file", WRITERS)
def test_tangents_are_those_of_writers(file):
    """Nearly: real ones come of other normals or places at some vertices."""
    data = ROW.read(file.data)
    arrays = dict(zip(data.arrays["type"].tolist(), data.data, strict=True))
    made = make_tangents(arrays[0], arrays[2], arrays[1], data.triangles.astype(np.int64))
    cosines = (made[:, :3] * arrays[3][:, :3]).sum(axis=1)
    assert np.median(cosines) > 0.99
    assert (made[:, 3] == arrays[3][:, 3]).mean() > 0.8


# -- what the fuzzer found


def odd_files():
    """Yield files that no writer makes and readers may meet, by name."""
    spec = samples_iqm.animated()
    spec.joints = []
    yield "meshes and poses without joints", spec
    spec = samples_iqm.animated()
    spec.poses, spec.frames, spec.bounds = [], [], [(0.0,) * 8] * 2
    spec.anims = [("wave", 0, 2, 24.0, 0)]
    yield "frames without poses", spec
    spec = samples_iqm.alone()
    spec.anims = [("wave", 0, 0, 24.0, 0), ("wave", 0, 5, 24.0, 0)]
    yield "an animation without frames before another", spec
    spec = samples_iqm.alone()
    spec.anims = []
    yield "frames without animations", spec
    spec = samples_iqm.arm()
    spec.arrays = [array for array in spec.arrays if array[0] not in (2, 4)]
    yield "neither normals nor indices", spec
    spec = samples_iqm.arm()
    spec.poses = [(min(parent, 0), mask | 1 << 12, offset, scale) for parent, mask, offset, scale in spec.poses]
    spec.joints = [(name, parent, (*row[:3], 0, 0, 0, 0, *row[7:])) for name, parent, row in spec.joints]
    yield "poses with other parents, bits that name no channel, joints without a turn", spec
    yield "arrays from the last to the first", replace(samples_iqm.arm(), backwards=True)


@pytest.mark.parametrize("spec", [pytest.param(spec, id=name) for name, spec in odd_files()])
def test_odd_files_come_back(spec):
    data = spec.pack()
    model, animations = unpack(data)
    assert ROW.dump(model, None, animations) == data
    assert not any(animation.loops for animation in animations if not spec.anims)


@pytest.mark.parametrize("edit", ["move the first frame", "turn in the first frame", "begin later", "add a mesh"])
def test_rest_stays_where_no_first_frame_says_it_any_more(edit):
    """Of a file without joints they stand at rest as in its first frame."""
    spec = dict(odd_files())["meshes and poses without joints"]
    model, (wave,) = unpack(spec.pack())
    if edit == "move the first frame":
        wave.positions[0, 0, 1] += 0.25
    elif edit == "turn in the first frame":
        wave.rotations[0, 0] = multiply(wave.rotations[0, 0], np.array([np.cos(0.1), 0, 0, np.sin(0.1)]))
    elif edit == "begin later":
        wave = wave.of_frames(np.array([2, 3]))
    else:
        meshes = model.meshes
        model, (wave,) = unpack(replace(spec, meshes=[], arrays=[], triangles=[], adjacency=[]).pack())
        model.meshes = [replace(mesh, source_index=-1) for mesh in meshes]
    assert len(ROW.read(ROW.dump(model, None, [wave])).joints) == 3
    found = unpack(ROW.dump(model, None, [wave]))[0].skeleton
    np.testing.assert_allclose(found.positions, model.skeleton.positions, atol=1e-5)
    np.testing.assert_allclose(to_matrices(found.rotations), to_matrices(model.skeleton.rotations), atol=1e-5)


def test_as_many_arrays_as_nobody_needs():
    spec = samples_iqm.static()
    spec.arrays = spec.arrays * 20
    with pytest.raises(FormatError, match="vertex arrays at byte 48: expected 64 at most, found 80"):
        ROW.read(spec.pack())


# -- facts from a stranger


@pytest.mark.parametrize(
    ("owner", "fact", "dtype", "field", "value"),
    [
        ("mesh", "mesh", iqm.MESH, "first_vertex", 1), ("mesh", "mesh", iqm.MESH, "num_triangles", 3),
        ("mesh", "vertices", "i8", None, 2), ("mesh", "triangles", "i8", None, 2), ("mesh", "va4", "u1", None, 3),
        ("model", "extensions", iqm.EXTENSION, "num_data", 9), ("model", "joints", iqm.JOINT, "scale", np.inf),
        ("model", "poses", iqm.POSE, "parent", 2), ("model", "poses", iqm.POSE, "offset", np.nan),
        ("model", "anims", iqm.ANIM, "num_frames", 8), ("model", "spare_frames", "i8", None, 1),
        ("motion", "poses", iqm.POSE, "scale", np.nan),
    ],
)  # fmt: skip
def test_facts_that_contradict_a_file_are_dropped_with_a_sentence(caplog, owner, fact, dtype, field, value):
    model, animations = unpack(FILES["arm"])
    facts = {"mesh": model.source.meshes[0], "model": model.source, "motion": animations[0].source}[owner].facts
    rows = np.array(facts[fact]).view(dtype)
    (rows if field is None else rows[field])[...] = value
    facts[fact] = rows.view(facts[fact].dtype).reshape(facts[fact].shape)
    again, motions = unpack(ROW.dump(model, None, animations))
    (said,) = [record.getMessage() for record in caplog.records if "damaged" in record.getMessage()]
    called = "wave" if owner == "motion" else "x"
    assert said == f"the facts of the source of '{called}' are damaged: written without them"
    assert [m.triangles.tolist() for m in again.meshes] == [m.triangles.tolist() for m in model.meshes]
    assert {m.name: m.num_frames for m in motions} == {m.name: m.num_frames for m in animations}


def test_facts_of_animations_alone_are_dropped_with_a_sentence(caplog):
    model, animations = unpack(FILES["alone"])
    facts = animations[0].source.facts
    facts["num_frames"] = facts["num_frames"] + 1
    model.source = None
    assert unpack(ROW.dump(model, None, animations))[1][0].num_frames == 5
    assert "the facts of the source of 'wave' are damaged" in caplog.text


def test_a_lump_that_is_not_there_is_not_promised():
    """Where there are triangles, an offset is all that says whether there are neighbours."""
    file = ROW.read(FILES["static"])
    file.layout["layout_empty"] = np.array([[5, 200]], np.int64)
    assert not len(ROW.read(iqm.write(file)).adjacency)


def test_codes_of_frames_that_no_animation_has_stay_where_they_say_nothing():
    file = ROW.read(FILES["arm"])
    which = np.argwhere(iqm.channels_of(file.poses))[0]
    poses = file.poses.copy()
    poses["scale"][tuple(which)] = 0.0
    data = iqm.write(replace(file, poses=poses, frames=file.frames + np.uint16(1)))
    model, animations = unpack(data)
    assert ROW.dump(model, None, animations) == data


def test_borrowed_vertices_stay_borrowed_when_a_triangle_goes():
    model, animations = unpack(FILES["static"])
    mesh = model.meshes[0]
    mesh.triangles, mesh.source_triangles = mesh.triangles[:-1], mesh.source_triangles[:-1]
    written = ROW.read(ROW.dump(model, None, animations)).meshes
    assert written[["first_vertex", "num_vertexes"]].tolist() == [(0, 6), (6, 5)]


@pytest.mark.parametrize(("lit", "last"), [(False, (12, 1)), (True, (12, 5))])
def test_two_meshes_borrow_the_same_vertices_of_a_third(lit, last):
    spec = samples_iqm.arm()
    spec.meshes.append(("sleeve", "", 8, 1, 3, 3))  # one in the glove's range, too, the rest as the glove of the sleeve
    model, animations = unpack(spec.pack())
    mesh = model.meshes[2]
    mesh.triangles, mesh.source_triangles = mesh.triangles[:-1], mesh.source_triangles[:-1]
    if lit:
        mesh.normals[:], mesh.kept_normals[:] = (0.0, 0.0, 1.0), False
    wanted = [corner_normals(own, model) for own in model.meshes]
    data = ROW.dump(model, None, animations)
    assert ROW.read(data).meshes[["first_vertex", "num_vertexes"]].tolist() == [(0, 8), (8, 4), last]
    again, _ = unpack(data)
    for own, normals, before in zip(again.meshes, wanted, model.meshes, strict=True):
        np.testing.assert_allclose(corner_normals(own, again), normals, atol=1e-6)
        np.testing.assert_array_equal(own.uvs[own.triangles], before.uvs[before.triangles])


@pytest.mark.parametrize("moved", [0, 1])
def test_bounds_hold_the_one_mesh_that_moved(moved):
    spec = samples_iqm.arm()
    spec.triangles, spec.adjacency = [*spec.triangles[:4], (8, 9, 10)], []
    spec.meshes = [("sleeve", "", 0, 8, 0, 4), ("glove", "", 8, 4, 4, 1)]
    model, animations = unpack(spec.pack())
    before = ROW.read(spec.pack()).bounds
    model.meshes[moved].weights.offsets[:] += np.float32(400.0)
    found = ROW.read(ROW.dump(model, None, animations)).bounds
    assert (found["max"] > before["max"] + 100.0).any(axis=1)[:3].all()


def test_lumps_that_share_their_bytes_are_refused_where_they_multiply_the_file():
    rows = [(0.0, 0.0, 0.0)] * 500
    data = bytearray(samples_iqm.IqmSpec(arrays=[(16, 0, samples_iqm.LETTERS.index("f"), rows)]).pack())
    (header,) = np.frombuffer(data, iqm.HEADER, 1)
    (place,) = struct.unpack_from("<I", data, int(header["ofs_vertexarrays"]) + 16)
    header["num_triangles"], header["ofs_triangles"], header["ofs_adjacency"] = 500, place, place
    assert len(iqm.read(bytes(data)).triangles) == 500
    header["num_comment"], header["ofs_comment"] = 6000, place
    header["num_text"], header["ofs_text"] = 6000, place
    with pytest.raises(FormatError, match="lumps overlap"):
        iqm.read(bytes(data))


@pytest.mark.parametrize("fewer", [False, True])
@pytest.mark.parametrize("changed", [0, 1])
def test_who_borrows_a_vertex_shows_its_own_normal_of_it(changed, fewer):
    model, animations = unpack(FILES["arm"])
    mesh = model.meshes[changed]
    mesh.normals[:], mesh.kept_normals[:] = (0.0, 0.0, 1.0), False
    if fewer:
        mesh.triangles, mesh.source_triangles = mesh.triangles[:-1], mesh.source_triangles[:-1]
    wanted = [corner_normals(own, model) for own in model.meshes]
    again, _ = unpack(ROW.dump(model, None, animations))
    for own, normals in zip(again.meshes, wanted, strict=True):
        np.testing.assert_allclose(corner_normals(own, again), normals, atol=1e-6)


def corner_normals(mesh, model):
    """Return the normals of a mesh's corners at rest, (T, 3, 3)."""
    turns = normal_turns(mesh.weights, model.skeleton.bind.rotations)
    return rotate(turns, mesh.normals)[mesh.triangles]
