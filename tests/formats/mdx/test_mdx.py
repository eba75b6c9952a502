"""MDX: angles, files, and models: what an animation holds, and what becomes of one that changed or was made anew."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from io_idtech_models.formats import by_name
from io_idtech_models.formats.common.wolf import frames as _mdx_frames
from io_idtech_models.formats.common.wolf import motion
from io_idtech_models.formats.common.wolf.bones import names_of
from io_idtech_models.formats.common.wolf.ways import (
    CODE,
    HALF_CODE,
    decode_directions,
    decode_rotations,
    encode_directions,
    encode_rotations,
)
from io_idtech_models.formats.mdx import file as mdx
from io_idtech_models.formats.mdx import model as mdx_model
from io_idtech_models.model.skeletal import at_rest
from io_idtech_models.model.transforms import chain, multiply, to_matrices, unchain
from io_idtech_models.reporting import LimitError
from tests import samples_mdm
from tests.facts import differences
from tests.samples import corpus, corpus_params

MDX, MDM = by_name("mdx"), by_name("mdm")
ANIMS = [pytest.param(make(), id=make.__name__) for make in samples_mdm.ANIMS]
HALF_STEP = np.pi / 4095  # of the game's table of sines
EXTREMES = [-32768, -32767, -24576, -16385, -16384, -16383, -1, 0, 1, 16383, 16384, 16385, 24576, 32767]
CODES = st.one_of(st.sampled_from(EXTREMES), st.integers(-32768, 32767))


def load(data):
    return MDX.load(data, "walk")


def poses_of(data):
    file = mdx.read(data)
    return motion.poses_of(file, mdx_model.KIND, motion.nothing_turned(len(file.bones)))


@pytest.fixture
def exact(monkeypatch):
    """Have MDX shown with exact sines and roots, as MDS are, and as the corpus's values were computed."""
    monkeypatch.setattr(mdx_model, "KIND", replace(mdx_model.KIND, coarse=False))


def fresh(animation):
    """Return an animation as if it had been made, not read."""
    return replace(animation, source=None, source_frames=None, source_joints=None, lengths=None)


# -- angles


def codes_of(count):
    return arrays.arrays(np.int16, st.tuples(st.integers(1, 9), st.just(count)), elements=CODES)


def bend(a, b):
    """Return the angles (n,) between rotations (n, 4)."""
    return 2 * np.arccos(np.clip(np.abs((a * b).sum(axis=-1)), 0, 1))


@given(codes_of(3))
def test_codes_are_the_engines_matrix(codes):
    matrices = to_matrices(decode_rotations(codes))
    for matrix, angles in zip(matrices, codes.tolist(), strict=True):
        rows = samples_mdm.directions(*(code * samples_mdm.TURN for code in angles))
        np.testing.assert_allclose(matrix, rows, atol=1e-12)


@given(codes_of(3))
def test_rotations_come_back_as_codes(codes):
    """Another spelling may come back, of the same rotation; beyond the pole the roll takes up what the yaw has not."""
    turns = decode_rotations(codes)
    again = encode_rotations(turns)
    assert (np.abs(again[:, 0].astype(int)) <= 16384).all(), "pitch between -90 and 90 degrees"
    assert (bend(turns, decode_rotations(again)) <= 1e-6).all()
    plain = np.abs(codes[:, 0].astype(int)) < 16380
    np.testing.assert_array_equal(again[plain], codes[plain])
    np.testing.assert_array_equal(encode_rotations(-turns), again, err_msg="the sign means nothing")


@given(codes_of(2))
def test_directions_come_back_as_codes(codes):
    ways = decode_directions(codes)
    np.testing.assert_allclose(np.linalg.norm(ways, axis=1), 1, atol=1e-12)
    for way, (pitch, yaw) in zip(ways, codes.tolist(), strict=True):
        forward = samples_mdm.directions(pitch * samples_mdm.TURN, yaw * samples_mdm.TURN, 0)[0]
        np.testing.assert_allclose(way, forward, atol=1e-12)
    again = encode_directions(ways * 77)
    np.testing.assert_allclose(decode_directions(again), ways, atol=1e-9)
    plain = np.abs(codes[:, 0].astype(int)) < 16380
    np.testing.assert_array_equal(again[plain], codes[plain])


@given(arrays.arrays(np.float64, (5, 4), elements=st.floats(-1, 1)))
def test_any_rotation_is_half_a_code_off_at_most(values):
    values[np.linalg.norm(values, axis=1) < 1e-3] = 1.0
    turns = values / np.linalg.norm(values, axis=1, keepdims=True)
    off = bend(turns, decode_rotations(encode_rotations(turns)))
    assert (off <= 3 * HALF_CODE + 1e-7).all()
    ways = values[:, :3] + np.array([0.0, 0.0, 2.0])
    near = ways / np.linalg.norm(ways, axis=1, keepdims=True)
    assert (np.linalg.norm(decode_directions(encode_directions(ways)) - near, axis=1) <= 1.5 * HALF_CODE).all()


def test_no_way_has_some_code():
    assert encode_directions(np.zeros((1, 3))).tolist() == [[0, 0]]
    assert pytest.approx(np.radians(360 / 65536)) == CODE


# -- files


def test_a_file_is_read_field_by_field():
    spec = samples_mdm.MdxSpec()
    file = mdx.read(spec.pack())
    assert bytes(file.header["name"]).startswith(spec.name)
    assert file.header["torso_parent"] == 1
    for bone, own in zip(file.bones, spec.bones, strict=True):
        assert bytes(bone["name"]) == own.name
        assert (bone["parent"], bone["torso_weight"]) == (own.parent, own.torso_weight)
        assert (bone["parent_dist"], bone["flags"]) == (own.parent_dist, own.flags)
    for frame, wanted in zip(file.frames, spec.frames, strict=True):
        info = frame["info"]
        assert info["local_origin"].tolist() == list(wanted.local_origin)
        assert info["parent_offset"].tolist() == list(wanted.parent_offset)
        assert info["radius"] == wanted.radius
        corners = [[o + s * wanted.radius for o in wanted.local_origin] for s in (1, -1)]
        assert info["bounds"].tolist() == corners
        codes = np.concatenate((frame["bones"]["angles"], frame["bones"]["ofs_angles"]), axis=1)
        assert [tuple(row) for row in codes.tolist()] == wanted.codes
    assert names_of(file)[7] == "fuß"


# -- what an animation holds


def test_poses_are_the_formulas():
    spec = samples_mdm.MdxSpec()
    animation = load(spec.pack())
    places, turns = chain(animation.parents, animation.positions, animation.rotations)
    for frame in range(len(spec.frames)):
        for bone, (rows, place) in enumerate(samples_mdm.pose_of(spec, frame)):
            np.testing.assert_allclose(to_matrices(turns[frame, bone]), rows, atol=1e-6)
            np.testing.assert_allclose(places[frame, bone], place, atol=1e-5)
    assert animation.frame_rate == motion.FRAME_RATE
    assert animation.traits.torso_weights.tolist() == [bone.torso_weight for bone in spec.bones]
    wanted = [abs(bone.parent_dist) for bone in spec.bones]
    wanted[1] *= samples_mdm.fast_unit((1.0, 0.0, 0.0))[0]  # the spine mixes legs and torso
    assert animation.lengths.tolist() == pytest.approx(wanted, rel=1e-6)
    np.testing.assert_array_equal(animation.bounds[1], [[2 - 61, 2 - 61, 20 - 61], [2 + 61, 2 + 61, 20 + 61]])


MDMS = {file.path.stem: file for file in corpus(".mdm")}


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize("file", corpus_params(".mdx"))
def test_real_poses_are_the_formulas(file):
    expected = MDMS["naked"].expected()
    places, turns = poses_of(file.data)
    frames = sorted({int(key.split(".")[1][5:]) for key in expected if key.startswith(file.path.stem + ".")})
    assert frames
    for frame in frames:
        at = f"{file.path.stem}.frame{frame}.bone_"
        np.testing.assert_allclose(to_matrices(turns[frame]), expected[at + "matrices"], atol=1e-5)
        np.testing.assert_allclose(places[frame], expected[at + "translations"], atol=1e-4)


@pytest.mark.parametrize("file", corpus_params(".mdx"))
def test_real_places_are_those_of_the_games_table(file):
    read = mdx.read(file.data)
    fields = (read.bones[name].tolist() for name in ("name", "parent", "torso_weight", "parent_dist", "flags"))
    spec = samples_mdm.MdxSpec(bones=[samples_mdm.Bone(*values) for values in zip(*fields, strict=True)], frames=[])
    for frame in read.frames[:4]:
        codes = np.concatenate((frame["bones"]["angles"], frame["bones"]["ofs_angles"]), axis=1).tolist()
        spec.frames.append(samples_mdm.Frame(codes, frame["info"]["parent_offset"].tolist(), (0.0, 0.0, 0.0), 1.0))
    places = poses_of(file.data)[0]
    for frame in range(4):
        wanted = [place for _, place in samples_mdm.pose_of(spec, frame)]
        np.testing.assert_allclose(places[frame], wanted, atol=1e-5)


# -- made anew


def same_poses(one, other, atol=1e-3):
    """Compare animations as poses in model space."""
    (a, b), (c, d) = (chain(x.parents, x.positions, x.rotations) for x in (one, other))
    np.testing.assert_allclose(a, c, atol=atol)
    assert bend(b, d).max() <= 4 * HALF_CODE


@pytest.mark.parametrize("data", ANIMS)
def test_an_animation_without_source_shows_the_same(data):
    before = load(data)
    found = MDX.dump(fresh(before))
    after = load(found)
    same_poses(before, after, 5e-3)
    assert (after.joint_names, after.parents.tolist()) == (before.joint_names, before.parents.tolist())
    assert [p for p in differences(data, found) if p.startswith("bones") and "parent_dist" not in p
            and not p.endswith("name")] == []  # fmt: skip
    assert (mdx.read(found).frames["bones"]["angles"][..., 3] == 0).all()


def test_bounds_are_cubes_their_upper_corner_first():
    animation = fresh(load(samples_mdm.walk()))
    animation.bounds[:] = [[-1, -2, -4], [3, 4, 8]]
    info = mdx.read(MDX.dump(animation)).frames["info"][3]
    radius = np.sqrt(4 + 9 + 36)
    assert info["local_origin"].tolist() == [1, 1, 2]
    assert info["radius"] == pytest.approx(radius)
    np.testing.assert_allclose(info["bounds"], [[1 + radius, 1 + radius, 2 + radius],
                                                [1 - radius, 1 - radius, 2 - radius]], rtol=1e-6)  # fmt: skip


@pytest.mark.parametrize("whole", [True, False], ids=["all the source's", "one frame changed"])
def test_cubes_grow_around_their_middle_by_what_edited_vertices_reach(whole):
    animation, before = load(samples_mdm.walk()), mdx.read(samples_mdm.walk()).frames["info"]
    if not whole:
        animation = turned(animation, 0, 1)
    middle = before["local_origin"].astype(np.float64)
    animation.edited = np.stack((middle - 0.01, middle + 0.01), axis=1)
    animation.edited[2, 1, 2] += 400.0
    found = mdx.read(MDX.dump(animation)).frames["info"]
    kept = [frame for frame in range(1, len(before)) if frame != 2]
    assert found[kept].tobytes() == before[kept].tobytes()
    assert found["local_origin"][2].tolist() == before["local_origin"][2].tolist()
    radius = np.linalg.norm((0.01, 0.01, 400.01))
    assert found["radius"][2] == pytest.approx(radius)
    np.testing.assert_allclose(found["bounds"][2], [middle[2] + radius, middle[2] - radius], rtol=1e-5)


def turned(animation, frame, bone, angle=0.2):
    """Return an animation with a bone turned in a frame, as a user does: its hint is gone."""
    made = replace(animation, rotations=animation.rotations.copy(), source_frames=animation.source_frames.copy())
    turn = np.array([np.cos(angle / 2), 0, np.sin(angle / 2), 0])
    made.rotations[frame, bone] = multiply(made.rotations[frame, bone], turn)
    made.source_frames[frame, bone, 1] = -1
    return made


def test_a_bone_that_turned_changes_what_hangs_on_it():
    """Angles are absolute: the codes of its descendants change, and of no other; and the bounds of that frame."""
    data = samples_mdm.walk()
    animation = turned(load(data), 2, 1)
    animation.bounds[2] = [[-9, -9, -9], [9, 9, 9]]
    below = {1: "angles", 2: "angles ofs", 6: "angles ofs"}
    wanted = {f"frames[2].{kind}[{bone}]" for bone, kinds in below.items() for kind in kinds.split()}
    wanted |= {f"frames[2].{name}" for name in ("bounds", "local_origin", "radius")}
    assert differences(data, MDX.dump(animation)) == wanted
    animation.source_frames[2, 1, 1] = 2  # the hint lies: the pose decides
    assert {p for p in differences(data, MDX.dump(animation)) if "[2]." in p and ("angles" in p or "ofs" in p)} == {
        p for p in wanted if "angles" in p or "ofs" in p
    }


def test_a_bone_that_stands_as_in_another_frame_has_its_codes():
    """As after a key was copied: one rotation has many spellings, and the file's is the one of that frame."""
    data = samples_mdm.near_the_pole()
    animation = load(data)
    places, turns = chain(animation.parents, animation.positions, animation.rotations)
    turns[0, 1] = turns[2, 1]
    animation.positions[:], animation.rotations[:] = unchain(animation.parents, places, turns)
    animation.source_frames[0, 1, 1] = 2
    before, after = mdx.read(data).frames["bones"]["angles"], mdx.read(MDX.dump(animation)).frames["bones"]["angles"]
    assert before[2, 1, 0] == 20000, "no fresh code"
    np.testing.assert_array_equal(after[0, 1], [*before[2, 1, :3], before[0, 1, 3]])
    assert differences(data, MDX.dump(animation)) - {
        f"frames[0].{n}" for n in ("bounds", "local_origin", "radius")
    } == {"frames[0].angles[1]"}


def test_a_hint_holds_while_the_pose_is_within_half_a_code():
    data = samples_mdm.walk()
    for angle, same in ((HALF_CODE * 0.9, True), (HALF_CODE * 3, False)):
        animation = turned(load(data), 2, 7, angle)
        animation.source_frames[2, 7, 1] = 2
        assert (differences(data, MDX.dump(animation)) == set()) is same


def test_the_root_moves():
    data = samples_mdm.walk()
    animation = load(data)
    animation.positions[3, 0] += [5, 0, 0]
    animation.source_frames[3, 0, 0] = -1
    changed = differences(data, MDX.dump(animation))
    assert "frames[3].parent_offset" in changed
    assert changed <= {f"frames[3].{n}" for n in ("parent_offset", "bounds", "local_origin", "radius")}


@pytest.mark.parametrize(
    ("place", "by", "moves"),
    [(0.0, 9e-5, False), (0.0, 2e-4, True), (0.0, 5.0, True), (4000.0, 3.9e-3, False), (4000.0, 4.1e-3, True)],
)
@pytest.mark.parametrize("turns", [False, True])
def test_the_root_stays_where_it_is_but_for_rounding(place, by, moves, turns):
    """A ten-thousandth of a unit or a millionth of the coordinate, whether something else was edited or not."""
    spec = samples_mdm.MdxSpec()
    for frame in spec.frames:
        frame.parent_offset = (0.0, place, 0.0)
    animation = load(spec.pack())
    animation = turned(animation, 1, 2) if turns else animation
    animation.positions[3, 0, 1] += by
    written = mdx.read(MDX.dump(animation)).frames["info"]["parent_offset"][3, 1]
    assert (written != np.float32(place)) == moves


@pytest.mark.parametrize("mixing", [0.0, 0.5])
def test_new_ways_of_bones_whose_lengths_are_negative(mixing):
    """The direction is that to the other side."""
    spec = samples_mdm.MdxSpec()
    spec.bones[3] = replace(spec.bones[3], torso_weight=mixing)
    animation = turned(load(spec.pack()), 2, 0, 0.5)
    found = MDX.dump(animation)
    assert mdx.read(found).bones["parent_dist"][3] == -11
    assert "frames[2].ofs[3]" in differences(spec.pack(), found)
    same_poses(animation, load(found), 11 * HALF_STEP)


# -- lengths


def lengths_of(animation):
    return mdx.read(MDX.dump(animation)).bones["parent_dist"].tolist()


def stretched(animation, bone, by, frame=2):
    positions = animation.positions.copy()
    way = positions[frame, bone]
    positions[frame, bone] = way * (1 + by / np.linalg.norm(way))
    return replace(animation, positions=positions)


WRITTEN = [bone.parent_dist for bone in samples_mdm.BONES]


@pytest.mark.usefixtures("exact")
def test_lengths_are_the_sources_then_those_at_rest_then_the_frames_own(caplog):
    animation = load(samples_mdm.walk())
    assert lengths_of(animation) == WRITTEN
    plain = [0.0, *(abs(x) for x in WRITTEN[1:])]
    made = fresh(animation)
    assert lengths_of(made) == pytest.approx(plain, abs=1e-5)
    made.lengths = np.array([0, 9.004, *plain[2:7], 11.0])  # one near enough, one too far
    assert lengths_of(made) == pytest.approx([*plain[:1], 9.004, *plain[2:]], abs=1e-5)
    assert caplog.text == ""
    # The frames' own within a hundredth of a unit; else the others' that lie among these.
    for rest, by, length in ((11.0, 0.0098, 11.0), (11.0, 0.5, 11.0), (11.4, 0.5, 11.4), (15.0, 0.0098, 11.0049),
                             (15.0, 0.5, 11.25)):  # fmt: skip
        made.lengths[4] = rest
        assert lengths_of(stretched(made, 4, by))[4] == pytest.approx(length, abs=1e-5)


@pytest.mark.parametrize("size", [1.0, 1 / 16])
def test_new_lengths_are_those_that_the_game_shows_best(size, caplog):
    """Among others the spine's, which mixes legs and torso; the other way round the table's ways are a little other."""
    spec = samples_mdm.MdxSpec()
    spec.bones = [replace(bone, parent_dist=bone.parent_dist * size) for bone in spec.bones]
    made = fresh(load(spec.pack()))
    plain = [0.0, *(abs(x) * size for x in WRITTEN[1:])]
    assert lengths_of(made) == pytest.approx(plain, rel=1e-3)
    others = [b for b in range(8) if b != 3]
    assert np.take(lengths_of(made), others).tolist() == pytest.approx(np.take(plain, others).tolist(), rel=4e-5)
    made.lengths = np.array([0, 9.004 * size, *plain[2:7], 11.0])
    assert lengths_of(made)[1] == pytest.approx(9.0 * size, rel=4e-5)
    assert caplog.text == ""


def test_a_bone_that_is_stretched_is_named(caplog):
    animation = stretched(stretched(load(samples_mdm.walk()), 4, 0.5), 7, -2.0)
    assert lengths_of(animation) == WRITTEN
    assert "'walk' moves bones against their parents" in caplog.text
    assert "'fuß' by 2, 'Bip01 R Leg' by 0.498 units off" in caplog.text, "the table makes it a little shorter"


@pytest.mark.parametrize(
    ("sines", "by", "said"),
    [("coarse", 0.02, ""), ("coarse", 0.05, "0.0475"), ("exact", 0.009, ""), ("exact", 0.0101, "0.0101")],
)
def test_how_far_a_bone_may_be_stretched(sines, by, said, caplog, request):
    if sines == "exact":
        request.getfixturevalue("exact")
    assert lengths_of(stretched(load(samples_mdm.walk()), 4, by)) == WRITTEN, "one frame does not change the others"
    assert f"'Bip01 R Leg' by {said}" in caplog.text if said else caplog.text == ""


def test_a_length_that_changed_in_all_frames_is_stored(caplog):
    animation = load(samples_mdm.walk())
    animation.positions[:, 3] *= 1.5
    animation.lengths = animation.lengths * [1, 1, 1, 1.5, 1, 1, 1, 1]
    found = lengths_of(animation)
    assert found[3] == pytest.approx(16.5, rel=1e-3), "to the other side"
    assert found[:3] + found[4:] == WRITTEN[:3] + WRITTEN[4:]
    assert caplog.text == ""
    after = load(MDX.dump(animation))
    same_poses(animation, after, 11 * HALF_STEP)


def test_a_second_root_can_not_move_apart(caplog):
    animation = load(samples_mdm.two_roots())
    assert MDX.dump(animation) == samples_mdm.two_roots()
    assert caplog.text == ""
    animation.positions[1, 7] += [0, 3, 4]
    animation.source_frames[1, 7, 0] = -1
    MDX.dump(animation)
    assert "'other' by 5 units off" in caplog.text


def test_lengths_at_rest_where_the_skeleton_has_no_motion():
    model = MDM.load(samples_mdm.figure(), "x", {"mdx": samples_mdm.walk()})
    found = mdx.read(MDX.dump(at_rest(model.skeleton, "rest")))
    assert found.bones["parent_dist"].tolist() == pytest.approx([0.0, *(abs(x) for x in WRITTEN[1:])], rel=1e-3)
    assert found.header["torso_parent"] == 1


# -- several in one file


def test_several_in_one_file():
    data, spec = samples_mdm.walk(), samples_mdm.MdxSpec()
    whole = load(data)
    first, second = (MDX.part(whole, f"p{i}", frames, 20.0) for i, frames in enumerate((range(3), range(2, 6))))
    assert (first.num_frames, second.num_frames, second.name, second.frame_rate) == (3, 4, "p1", 20.0)
    spec.frames = [spec.frames[i] for i in (2, 3, 4, 5, 0, 1, 2)]
    assert MDX.dump_joined([second, first]) == spec.pack()
    assert MDX.dump(second) == replace(spec, frames=spec.frames[:4]).pack()


@pytest.mark.parametrize("put_together", [MDX.dump_joined, lambda both: mdx_model.mixed(both[0], both[1], "x")])
def test_others_bones_are_not_joined_nor_mixed(put_together):
    """Those that have other names, and those that hang elsewhere."""
    walk = load(samples_mdm.walk())
    named, hung = replace(walk, joint_names=[*walk.joint_names[:-1], "x"]), replace(walk, parents=walk.parents.copy())
    hung.parents[7] = 2
    for other in (named, hung, load(samples_mdm.two_roots())):
        with pytest.raises(LimitError, match="'walk' has other bones than 'walk'"):
            put_together([walk, other])


def test_one_length_for_all_that_are_joined(caplog):
    one, other = load(samples_mdm.walk()), stretched(load(samples_mdm.walk()), 4, 0.5)
    other.name = "run"
    MDX.dump_joined([one, other])
    assert caplog.text.count("'run' moves bones") == 1
    assert "'walk'" not in caplog.text


# -- legs and torso; the formula has tests of its own


def test_what_ends_first_begins_again():
    """A bone of weight 0 plays the legs' animation, one of 1 the torso's, while nothing is aimed at."""
    walk = load(samples_mdm.walk())
    run = MDX.part(walk, "run", range(1, 4), 15.0)
    turns = {a.name: chain(a.parents, a.positions, a.rotations)[1] for a in (walk, run)}
    for legs, torso in ((walk, run), (run, walk)):
        found = mdx_model.mixed(legs, torso, "both")
        shown = chain(found.parents, found.positions, found.rotations)[1]
        assert (found.num_frames, found.name, found.source) == (6, "both", None)
        assert found.bounds.shape == (6, 2, 3)
        for bone, one in ((4, legs), (7, legs), (2, torso), (6, torso)):
            wanted = turns[one.name][np.arange(6) % one.num_frames, bone]
            assert bend(shown[:, bone], wanted).max() < 1e-6
        middle = [turns[one.name][np.arange(6) % one.num_frames, 1] for one in (legs, torso)]
        assert (bend(shown[:, 1], middle[0]) + bend(shown[:, 1], middle[1]) < 1.1 * bend(*middle) + 1e-3).all()


@pytest.mark.parametrize(("rate", "frames"), [(15.0, 6), (15 * 20.0, 80), (15 * 60.0, 240), (15 * 100.0, 240)])
def test_legs_that_are_faster_than_their_torso_go_on_until_it_has_ended(rate, frames):
    """But no longer than 60 frames for each of the torso's, of which there are 4."""
    walk = load(samples_mdm.walk())
    torso, walk.frame_rate = MDX.part(walk, "run", range(4), 15.0), rate
    assert mdx_model.mixed(walk, torso, "both").num_frames == frames


def test_what_can_not_be_mixed():
    walk = load(samples_mdm.walk())
    walk.traits.torso_weights[:] = 0
    with pytest.raises(LimitError, match="no bone has a torso weight above 0"):
        mdx_model.mixed(walk, walk, "x")


# -- facts and limits


@pytest.mark.parametrize(("torso", "written"), [(2, 2), (-1, -7), (0, 0)])
def test_the_torso_parent(torso, written):
    data = samples_mdm.odd_file()  # whose own is no bone
    animation = load(data)
    animation.traits = replace(animation.traits, torso_parent=torso)
    assert mdx.read(MDX.dump(animation)).header["torso_parent"] == written
    animation.traits = None
    assert mdx.read(MDX.dump(fresh(animation))).header["torso_parent"] == 0


def test_weights_flags_and_names_that_changed():
    data = samples_mdm.walk()
    animation = load(data)
    animation.traits.torso_weights[2] = 0.25
    animation.traits.flags[7] = 1
    animation.joint_names[5] = "pelvis"
    assert differences(data, MDX.dump(animation)) == {"bones[2].torso_weight", "bones[7].flags", "bones[5].name"}


@pytest.mark.parametrize("data", ANIMS)
@pytest.mark.parametrize("keep_bounds", [True, False])
def test_what_is_the_source_is_not_coded_again_and_would_be_the_same(data, keep_bounds, monkeypatch):
    animation = replace(load(data), keep_bounds=keep_bounds)
    assert _mdx_frames.Take(animation, mdx_model.KIND, motion.nothing_turned(len(animation.parents))).is_source()
    quick = MDX.dump(animation)
    monkeypatch.setattr(_mdx_frames.Take, "is_source", lambda _take: False)
    assert MDX.dump(animation) == quick
    assert (quick == data) or not keep_bounds
