"""Skeletal models and animations: what weights move, bounds, loops, and which animation fits which model."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_idtech_models.formats import by_name
from io_idtech_models.model.bounds import grown, nowhere, set_bounds, still_hold
from io_idtech_models.model.skeletal import (
    Animation,
    JointTag,
    Scales,
    SkeletalModel,
    Skeleton,
    SkinnedMesh,
    Traits,
    Weights,
    changed_frames,
    looped,
    mismatch,
    size_of,
    skin,
)
from io_idtech_models.model.transforms import chain
from tests import samples_md5

HALF = np.sqrt(0.5)
UPRIGHT, LEFT = [1.0, 0, 0, 0], [HALF, 0, 0, HALF]  # LEFT turns X to Y


def table(starts, counts, joints, factors, offsets):
    return Weights(
        np.array(starts, np.int32), np.array(counts, np.int32), np.array(joints, np.int32),
        np.array(factors, np.float32), np.array(offsets, np.float32).reshape(-1, 3),
    )  # fmt: skip


def arm():
    return by_name("md5mesh").load(samples_md5.arm(), "arm")


def wave(frames=5):
    return by_name("md5anim").load(samples_md5.wave_spec(frames).pack(), "wave")


# -- weights


def test_a_vertex_is_the_sum_of_its_weights():
    weights = table([0, 1, 0, 2], [1, 1, 2, 0], [0, 1], [0.25, 0.75], [(4, 0, 0), (8, 0, 4)])
    places = np.array([[0.0, 0, 100], [0, 16, 0]])
    found = skin(weights, places, np.array([UPRIGHT, LEFT]))
    first, second = np.array([1.0, 0, 25]), np.array([0.0, 18, 3])
    np.testing.assert_allclose(found, [first, second, first + second, [0, 0, 0]], atol=1e-6)


def test_factors_are_taken_as_they_are():
    weights = table([0], [3], [0, 0, 0], [0.5, 0.75, -0.25], [(8, 0, 0), (8, 0, 0), (4, 0, 0)])
    np.testing.assert_allclose(skin(weights, np.zeros((1, 3)), np.array([UPRIGHT])), [[9, 0, 0]])


def test_no_vertices():
    weights = table([], [], [], [], [])
    assert skin(weights, np.zeros((2, 3)), np.array([UPRIGHT] * 2)).shape == (0, 3)
    assert [e.tolist() for e in weights.entries()] == [[], []]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=8))
def test_entries_are_the_ranges_one_after_another(ranges):
    weights = table([a for a, _ in ranges], [n for _, n in ranges], range(8), np.ones(8), np.zeros((8, 3)))
    vertices, entries = weights.entries()
    wanted = [(v, w) for v, (a, n) in enumerate(ranges) for w in range(a, a + n)]
    assert list(zip(vertices.tolist(), entries.tolist(), strict=True)) == wanted


def test_some_vertices_of_a_table():
    weights = table([0, 2, 1], [1, 2, 1], range(4), np.ones(4), np.zeros((4, 3)))
    chosen = weights.of(np.array([2, 1]))
    assert [e.tolist() for e in chosen.entries()] == [[0, 1, 1], [1, 2, 3]]


# -- bounds


def test_bounds_are_those_of_the_deformed_meshes():
    model, animation = arm(), wave()
    animation.source = animation.source_frames = None  # all frames changed
    set_bounds(animation, model)
    for frame in range(5):
        places, turns = chain(animation.parents, animation.positions[frame], animation.rotations[frame])
        points = skin(model.meshes[0].weights, places, turns)
        np.testing.assert_allclose(animation.bounds[frame], [points.min(axis=0), points.max(axis=0)])
    assert len(np.unique(animation.bounds[:, 1, 0])) == 5, "they differ from frame to frame"


def test_bounds_hold_all_meshes_but_empty_ones():
    model, animation = by_name("md5mesh").load(samples_md5.several_meshes(), "x"), wave(1)
    animation.source = None
    set_bounds(animation, model)
    alone = replace(animation, bounds=np.zeros((1, 2, 3)))
    set_bounds(alone, replace(model, meshes=model.meshes[:1]))
    np.testing.assert_array_equal(alone.bounds, animation.bounds)
    model.meshes[1].weights.offsets[:] += 1000.0
    set_bounds(animation, model)
    assert (animation.bounds[0, 1] > alone.bounds[0, 1] + 500).all()


@pytest.mark.parametrize("meshes", [[], "nothing"])
def test_bounds_without_a_vertex_are_those_of_the_joints(meshes):
    model, animation = arm(), wave()
    model.meshes = [] if not meshes else by_name("md5mesh").load(samples_md5.several_meshes(), "x").meshes[2:]
    animation.source = None
    set_bounds(animation, model)
    places, _ = chain(animation.parents, animation.positions, animation.rotations)
    np.testing.assert_allclose(animation.bounds, np.stack((places.min(axis=1), places.max(axis=1)), axis=1))


def test_bounds_of_frames_that_are_the_sources_stay():
    model, animation = arm(), wave()
    before = animation.bounds.copy()
    set_bounds(animation, model)
    np.testing.assert_array_equal(animation.bounds, before)
    animation.source_frames[3, 1, 0] = -1
    set_bounds(animation, model)
    assert (animation.bounds != before).any(axis=(1, 2)).tolist() == [False, False, False, True, False]
    animation.keep_bounds = False
    set_bounds(animation, model)
    assert (animation.bounds != before).any(axis=(1, 2)).all()


def test_bounds_have_to_hold_what_was_edited():
    model, animation = arm(), wave()
    before, (mesh,) = animation.bounds.copy(), model.meshes
    mesh.weights.offsets[mesh.weights.starts[3]] += np.float32(200.0)
    mesh.kept[3] = False
    set_bounds(animation, model)
    np.testing.assert_array_equal(animation.bounds, before)
    alone, wanted = replace(model, meshes=[replace(mesh, weights=mesh.weights.of(np.array([3])))]), wave()
    wanted.source = None
    set_bounds(wanted, alone)
    np.testing.assert_array_equal(animation.edited, wanted.bounds)
    np.testing.assert_array_equal(animation.of_frames(np.array([2])).edited, animation.edited[2:3])


def test_bounds_of_frames_that_are_scaled_have_to_hold_what_was_edited():
    """Of their scale nobody knows whether it is the source's: what all of it reaches is told, too."""
    model, animation = arm(), wave()
    before, (mesh,) = animation.bounds.copy(), model.meshes
    mesh.kept[3] = False
    values = np.ones(animation.positions.shape[:2])
    values[2] = 2.0
    animation.scales = Scales(values, np.zeros(values.shape[1], np.bool_))
    set_bounds(animation, model)
    assert (animation.bounds != before).any(axis=(1, 2)).tolist() == [False, False, True, False, False]
    assert np.isfinite(animation.edited).all()


@pytest.mark.parametrize("size", [0.25, 4.0])
def test_bounds_hold_what_games_show_that_scale_no_joints(size):
    """And what those do that scale them, which may be larger, or smaller."""
    found = []
    for scale in (1.0, size):
        animation = wave()
        animation.source = animation.source_frames = None
        values = np.full(animation.positions.shape[:2], scale)
        animation.scales = Scales(values, np.ones(values.shape[1], np.bool_))
        set_bounds(animation, arm())
        found.append(animation.bounds)
    plain, scaled = found
    assert (scaled[:, 0] <= plain[:, 0]).all() and (scaled[:, 1] >= plain[:, 1]).all()
    assert (scaled != plain).any()


def test_bounds_have_to_hold_a_mesh_that_is_new():
    model, animation = arm(), wave()
    (mesh,) = model.meshes
    model.meshes.append(replace(mesh, source_index=-1))
    set_bounds(animation, model)
    alone = replace(wave(), source_frames=None)
    set_bounds(alone, arm())
    np.testing.assert_array_equal(animation.edited, alone.bounds)


def test_which_bounds_hold_what_was_edited_and_how_others_grow():
    animation, every = wave(), np.arange(5)
    stored = np.tile([[-1.0, -2.0, -3.0], [1.0, 2.0, 3.0]], (5, 1, 1))
    assert still_hold(animation, every, stored).all()
    np.testing.assert_array_equal(grown(animation, every, stored[:, ::-1]), stored)
    animation.edited = stored * 0.5
    animation.edited[1, 1, 2], animation.edited[2, 0, 0] = 7.0, -1.0 - 1e-6
    animation.edited[3] = nowhere(1)
    for corners in (stored, stored[:, ::-1]):  # whichever end is first
        assert still_hold(animation, every, corners).tolist() == [True, False, True, True, True]
        wanted = stored.copy()
        wanted[1, 1, 2] = 7.0
        np.testing.assert_allclose(grown(animation, every, corners), wanted, atol=1e-5)


def test_which_frames_changed():
    animation = wave()
    assert changed_frames(animation).tolist() == [False] * 5
    animation.source_frames[1] = 3  # another one of the source's, all of it
    assert changed_frames(animation).tolist() == [False] * 5
    animation.source_frames[2, 1, 1] = 3  # a mixture
    animation.source_frames[4, 0, 0] = -1
    assert changed_frames(animation).tolist() == [False, False, True, False, True]
    animation.source_joints[0] = -1  # a joint that is new moves no old one
    assert changed_frames(animation).tolist() == [False, False, True, False, False]
    for field in ("source", "source_frames", "source_joints"):
        assert changed_frames(replace(animation, **{field: None})).all()


# -- loops


def test_a_loop_ends_with_its_first_frame():
    animation = wave(3)
    found = looped(animation)
    assert (found.num_frames, animation.num_frames) == (4, 3)
    for field in ("positions", "rotations", "bounds", "source_frames"):
        rows = getattr(found, field)
        np.testing.assert_array_equal(rows[:3], getattr(animation, field))
        np.testing.assert_array_equal(rows[3], rows[0])
    animation.source_frames = None
    assert looped(animation).source_frames is None


@pytest.mark.parametrize("joints", [2, 3])
def test_an_animation_is_of_another_size_where_several_joints_say_so(joints):
    """One alone may stay elsewhere on purpose, as the child of two bones that slides."""
    parents = np.arange(-1, joints - 1)
    ways = np.array([[0.0, 0.0, 0.0], *[[0.0, 0.0, 4.0]] * (joints - 1)])
    places = np.tile(ways * 1.5, (5, 1, 1))
    turns = np.tile([1.0, 0, 0, 0], (5, joints, 1))
    animation = Animation(
        "slide", [f"{joint}" for joint in range(joints)], parents, places, turns, 24.0, np.zeros((5, 2, 3))
    )
    assert size_of(animation, ways) == (1.0 if joints == 2 else 1.5)
    animation.positions[:] = 0.0
    assert size_of(animation, ways) == 1.0, "no way is larger or smaller, there is none"
    animation.positions[:, 0] = (30.0, 0.0, 0.0)
    assert size_of(animation, ways * 1e-6) == 1.0, "of ways that are rounding alone"


# -- which animation fits


def test_an_animation_of_the_same_joints_fits():
    assert mismatch(arm().skeleton, wave()) == ""


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda a: a.joint_names.append("more"), "the animation has 4 joints, the model 3"),
        (lambda a: a.joint_names.pop(), "the animation has 2 joints, the model 3"),
        (lambda a: a.joint_names.__setitem__(1, "leg"), "joint 1 is 'leg' in the animation, 'upper arm' in the model"),
        (lambda a: a.joint_names.reverse(), "joint 0 is 'hand' in the animation, 'origin' in the model"),
        (
            lambda a: a.parents.__setitem__(2, 0),
            "the parent of 'hand' is 'origin' in the animation, 'upper arm' in the model",
        ),
        (
            lambda a: a.parents.__setitem__(1, -1),
            "the parent of 'upper arm' is none in the animation, 'origin' in the model",
        ),
    ],
)
def test_what_does_not_fit_is_named(change, sentence):
    animation = wave()
    change(animation)
    assert mismatch(arm().skeleton, animation) == sentence


def test_parents_of_the_same_name_are_told_apart():
    """Two joints may have one name: their numbers count too."""
    parents = np.array([-1, 0, 0, 1], np.int32)
    skeleton = Skeleton(["r", "a", "a", "c"], parents, np.zeros((4, 3)), np.array([UPRIGHT] * 4))
    nothing = np.zeros((1, 4, 3)), np.tile(UPRIGHT, (1, 4, 1)), 24.0, np.zeros((1, 2, 3))
    animation = Animation("x", list(skeleton.names), parents.copy(), *nothing)
    assert mismatch(skeleton, animation) == ""
    animation.parents[3] = 2
    sentence = "the parent of 'c' is joint 2 'a' in the animation, joint 1 'a' in the model"
    assert mismatch(skeleton, animation) == sentence


def test_facts_of_another_format_are_none():
    model = arm()
    assert model.source_of("md5mesh") is model.source
    assert model.source_of("mdm") is None
    assert SkeletalModel("x", model.skeleton, []).source_of("md5mesh") is None
    mesh = SkinnedMesh("m", "s", np.zeros((2, 2), np.float32), np.zeros((0, 3), np.int32), table([], [], [], [], []))
    assert mesh.num_vertices == 2


# -- traits


def test_traits_of_some_joints():
    traits = Traits(np.array([0.25, 0.5, 1.0], np.float32), np.array([1, 0, 1], np.int32), 0)
    found = traits.of(np.array([2, -1, 0]))
    assert (found.torso_weights.tolist(), found.flags.tolist(), found.torso_parent) == ([1.0, 0.0, 0.25], [1, 0, 1], 2)
    assert traits.of(np.array([1, 2])).torso_parent == -1, "it is gone"


def test_a_tag_is_one_with_a_joint_of_its_name_also_where_that_has_a_number():
    """Parts of one player have tags of one name, at one place: games find the first."""
    skeleton = replace(arm().skeleton, names=["tag_torso", "tag_torso.001", "tag_head.001"])
    upright = np.zeros(3, np.float32), np.eye(3, dtype=np.float32)
    assert JointTag("tag_torso", 0, *upright).is_joint_of(skeleton)
    assert JointTag("tag_torso", 1, *upright).is_joint_of(skeleton)
    assert not JointTag("tag_torso", 1, np.ones(3, np.float32), upright[1]).is_joint_of(skeleton)
    assert not JointTag("tag_head", 2, *upright).is_joint_of(skeleton), "no other is called so"
