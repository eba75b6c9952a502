"""One root for several: a new joint, or the one that is called `origin`."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from io_idtech_models.formats import by_name
from io_idtech_models.model.edits.matched import (
    animation_with_origin,
    by_number,
    moved_by_root,
    named,
    skeleton_with_origin,
)
from io_idtech_models.model.edits.matched import by_name as in_order
from io_idtech_models.model.joint_scales import posed
from io_idtech_models.model.skeletal import (
    Animation,
    JointTag,
    Pose,
    Scales,
    SkeletalModel,
    Skeleton,
    SkinnedMesh,
    Traits,
    mismatch,
    skin,
)
from io_idtech_models.model.transforms import chain, rotate, same_turns
from io_idtech_models.model.weights import Weights, normal_turns
from tests import samples_md5


def load(name: str, data: bytes) -> Any:
    return by_name(name).load(data, "x")


def test_one_root_needs_no_origin():
    model, animation = load("md5mesh", samples_md5.arm()), load("md5anim", samples_md5.wave())
    assert skeleton_with_origin(model) is model
    assert animation_with_origin(animation) is animation


def renamed(data: bytes, name: str = "base") -> bytes:
    """Return a file without a joint `origin`."""
    return data.replace(b'"origin"', f'"{name}"'.encode())


def test_roots_hang_on_a_new_origin():
    model = load("md5mesh", renamed(samples_md5.several_roots()))
    hung: Any = skeleton_with_origin(model)
    assert hung.skeleton.names == ["origin", *model.skeleton.names]
    assert hung.skeleton.parents.tolist() == [-1, 0, 1, 2, 0, 4]
    assert hung.skeleton.sources.tolist() == [-1, 0, 1, 2, 3, 4]
    assert hung.skeleton.kept.tolist() == [False, *[True] * 5]
    np.testing.assert_array_equal(hung.skeleton.positions[1:], model.skeleton.positions)
    same_places(model, hung)
    assert model.skeleton.num_joints == 5, "the model itself is as it was"
    assert model.meshes[0].weights.joints.max() == 2


def test_meshes_stay_bound_where_they_were():
    model = load("md5mesh", renamed(samples_md5.several_roots()))
    bound = Pose(model.skeleton.positions + 7.0, model.skeleton.rotations)
    hung: Any = skeleton_with_origin(replace(model, skeleton=replace(model.skeleton, bound=bound)))
    np.testing.assert_array_equal(hung.skeleton.bind.positions, [[0, 0, 0], *bound.positions])
    np.testing.assert_array_equal(hung.skeleton.bind.rotations, [[1, 0, 0, 0], *bound.rotations])


def same_places(model: Any, hung: Any) -> None:
    for before, after in zip(model.meshes, hung.meshes, strict=True):
        old = skin(before.weights, model.skeleton.positions, model.skeleton.rotations)
        new = skin(after.weights, hung.skeleton.positions, hung.skeleton.rotations)
        np.testing.assert_array_equal(old, new)


def test_roots_hang_on_the_one_that_is_called_origin():
    """No second joint of that name: games would find either."""
    model = load("md5mesh", samples_md5.several_roots())
    hung: Any = skeleton_with_origin(model)
    assert hung.skeleton.names == model.skeleton.names
    assert hung.skeleton.parents.tolist() == [-1, 0, 1, 0, 3]
    assert hung.skeleton.sources.tolist() == [0, 1, 2, 3, 4]
    assert hung.skeleton.kept.all()
    same_places(model, hung)


def two_roots(frames=3):
    """Return an animation of two joints without a parent, and one on the second."""
    rng = np.random.default_rng(2)
    turns = rng.normal(size=(frames, 3, 4))
    turns /= np.linalg.norm(turns, axis=-1, keepdims=True)
    return Animation(
        "two", ["a", "b", "c"], np.array([-1, -1, 1], np.int32), rng.normal(size=(frames, 3, 3)), turns, 24.0,
        np.zeros((frames, 2, 3)),
    )  # fmt: skip


def same_poses(before, after, joints, atol=1e-7):
    """Assert that each joint of an animation stands where its number in another says."""
    old, new = (chain(a.parents, a.positions, a.rotations) for a in (before, after))
    np.testing.assert_allclose(new[0][:, joints], old[0], atol=atol)
    assert same_turns(new[1][:, joints], old[1]).max() < atol


def test_an_animations_roots_hang_on_an_origin():
    animation = two_roots()
    hung = animation_with_origin(animation)
    assert hung.joint_names == ["origin", "a", "b", "c"]
    assert hung.parents.tolist() == [-1, 0, 0, 2]
    same_poses(animation, hung, [1, 2, 3])
    assert not hung.positions[:, 0].any()
    assert (hung.source_frames, hung.source_joints) == (None, None)


@pytest.mark.parametrize("name", ["origin", "Origin"])
def test_an_origin_behind_other_roots_comes_first(name):
    animation = two_roots()
    animation.joint_names[1] = name
    animation.source_frames = np.zeros((3, 3, 2), np.int32)
    animation.source_joints = np.array([5, 6, 7], np.int32)
    animation.lengths = np.array([9.0, 8.0, 7.0])
    hung: Any = animation_with_origin(animation)
    assert (hung.joint_names, hung.parents.tolist()) == ([name, "a", "c"], [-1, 0, 0])
    same_poses(animation, hung, [1, 0, 2])
    assert hung.source_joints.tolist() == [6, -1, 7]
    assert hung.source_frames[0].tolist() == [[0, 0], [-1, -1], [0, 0]], "its poses are another joint's now"
    assert hung.lengths.tolist() == [8.0, pytest.approx(np.linalg.norm(hung.positions[0, 1])), 7.0]
    assert mismatch(skeleton_with_origin(bare_model(animation)).skeleton, hung) == ""


@pytest.mark.parametrize("name", ["b", "origin"])
def test_inherited_scales_come_along(name):
    animation = two_roots()
    animation.joint_names[1] = name
    values = np.random.default_rng(3).uniform(0.5, 2.0, (3, 3, 3))
    values[:, 1] = values[:, 1, :1]  # what is uneven shears what it gets to carry, which no pose says
    animation.scales = Scales(values, np.zeros(3, np.bool_), inherited=True)
    hung = animation_with_origin(animation)
    order = [1, 2, 3] if name == "b" else [1, 0, 2]
    for before, after in zip(posed(animation), posed(hung), strict=True):
        np.testing.assert_allclose(after[:, order], before, atol=1e-12)


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (["a", "b", "origin"], "root"),
        (["a", "b", "ORIGIN"], "root"),
        (["root", "b", "origin"], "origin2"),
        (["root", "b", "c"], "origin"),
    ],
)
def test_a_new_joint_is_called_as_no_other_is(names, wanted):
    animation = two_roots()
    animation.joint_names[:] = names
    assert animation_with_origin(animation).joint_names == [wanted, *names]
    assert skeleton_with_origin(bare_model(animation)).skeleton.names == [wanted, *names]


def bare_model(animation: Animation) -> SkeletalModel:
    """Return a model without meshes, with a tag on each joint."""
    nothing = np.zeros((len(animation.parents), 0))
    skeleton = Skeleton(list(animation.joint_names), animation.parents, nothing[:, :0], nothing)
    skeleton.positions, skeleton.rotations = animation.positions[0], animation.rotations[0]
    zero, axes = np.zeros(3, np.float32), np.eye(3, dtype=np.float32)
    tags = [JointTag(name, joint, zero, axes) for joint, name in enumerate(animation.joint_names)]
    return SkeletalModel("bare", skeleton, [], tags=tags)


def test_tags_and_traits_stay_with_their_joints():
    animation = two_roots()
    animation.joint_names[1] = "origin"
    model = bare_model(animation)
    model.skeleton.traits = Traits(np.array([0.0, 0.5, 1.0], np.float32), np.array([1, 2, 3], np.int32), 2)
    hung: Any = skeleton_with_origin(model)
    assert [hung.skeleton.names[tag.joint] for tag in hung.tags] == [tag.name for tag in model.tags]
    assert hung.skeleton.traits.torso_weights.tolist() == [0.5, 0.0, 1.0]
    assert hung.skeleton.traits.torso_parent == 2


def test_an_origin_is_no_joint_of_the_source():
    animation = load("md5anim", renamed(samples_md5.roots_wave()))
    hung: Any = animation_with_origin(animation)
    assert hung.source_joints.tolist() == [-1, 0, 1, 2, 3, 4]
    assert (hung.source_frames[:, 0] == -1).all()
    np.testing.assert_array_equal(hung.source_frames[:, 1:], animation.source_frames)
    again = load("md5anim", by_name("md5anim").dump(hung))
    np.testing.assert_allclose(again.positions[:, 1:], animation.positions, atol=1e-6)
    model = skeleton_with_origin(load("md5mesh", renamed(samples_md5.several_roots())))
    assert mismatch(model.skeleton, again) == ""


def test_files_with_an_origin_among_their_roots_agree():
    model = skeleton_with_origin(load("md5mesh", samples_md5.several_roots()))
    animation = animation_with_origin(load("md5anim", samples_md5.roots_wave()))
    mesh = load("md5mesh", by_name("md5mesh").dump(model))
    motion = load("md5anim", by_name("md5anim").dump(animation))
    assert mismatch(mesh.skeleton, motion) == ""
    assert mesh.skeleton.names.count("origin") == 1
    same_poses(load("md5anim", samples_md5.roots_wave()), motion, range(5), 1e-5)


@pytest.mark.parametrize("name", ["b", "origin"])
def test_scaled_roots_stay_where_they_are(name):
    animation = two_roots()
    animation.joint_names[1] = name
    values = np.array([[2.0, 3.0, 1.0], [1.0, 0.5, 4.0], [0.25, 1.0, 1.0]])
    animation.scales = Scales(values, np.array([True, True, False]))
    hung: Any = animation_with_origin(animation)
    order = [1, 0, 2] if name == "origin" else [-1, 0, 1, 2]
    assert hung.scales.values.tolist() == [[row[j] if j >= 0 else 1 for j in order] for row in values.tolist()]
    old, new = (
        chain(a.parents, a.positions * a.scales.of_ways()[..., None], a.rotations)[0] for a in (animation, hung)
    )
    shown = [i for i, j in enumerate(order) if j >= 0]
    np.testing.assert_allclose(new[:, shown], old[:, [j for j in order if j >= 0]], atol=1e-12)


def test_joints_are_told_by_their_names():
    """In whose order they are, where these are just its own and parents still come first."""
    wave = load("md5anim", samples_md5.wave())
    names = wave.joint_names
    assert in_order(wave, names) is wave
    assert in_order(wave, [*names[:-1], "other"]) is wave
    assert in_order(wave, names[::-1]) is wave, "parents would come behind"
    roots = load("md5anim", samples_md5.roots_wave())
    order = [1, 0, *range(2, len(roots.joint_names))]
    if roots.parents[1] >= 0:
        order = sorted(range(len(roots.joint_names)), key=lambda joint: (roots.parents[joint] >= 0, joint))
    found = in_order(roots, [roots.joint_names[joint] for joint in order])
    assert found.joint_names == [roots.joint_names[joint] for joint in order] != roots.joint_names
    assert [order[parent] if parent >= 0 else -1 for parent in found.parents] == roots.parents[order].tolist()
    assert found.positions.tolist() == roots.positions[:, order].tolist()
    assert found.rotations.tolist() == roots.rotations[:, order].tolist()
    assert (found.source, found.source_frames, found.source_joints) == (None, None, None)
    twins = replace(wave, joint_names=["a", "a", "b"])
    assert in_order(twins, ["a", "b", "a"]) is twins


def test_joints_without_names_are_called_by_their_numbers():
    wave = load("md5anim", samples_md5.wave())
    assert by_number(wave).joint_names == [""] * 3
    assert named(wave) is wave
    assert named(replace(wave, joint_names=["a", "", "b"])).joint_names == ["a", "joint001", "b"]


# -- vertices that no joint moves


def turns_of(rng: Any, count: int) -> Any:
    turns = rng.normal(size=(count, 4))
    return turns / np.linalg.norm(turns, axis=1, keepdims=True)


def still_mesh(rng: Any, counts: list[int], normals: bool = True) -> SkinnedMesh:
    """Return a mesh whose vertices have so many weights each, those without some place, and normals or none."""
    total, size = sum(counts), len(counts)
    weights = Weights(
        np.cumsum(counts) - counts, np.array(counts), np.arange(total)[::-1] % 2, np.full(total, 0.5, np.float32),
        rng.normal(size=(total, 3)).astype(np.float32), rng.normal(size=(size, 3)).astype(np.float32),
    )  # fmt: skip
    mesh = SkinnedMesh("m", "s", np.zeros((size, 2), np.float32), np.zeros((0, 3), np.int32), weights)
    mesh.normals = rng.normal(size=(size, 3)).astype(np.float32) if normals else None
    return mesh


def shown(mesh: SkinnedMesh, skeleton: Skeleton) -> list[Any]:
    """Return where the vertices of a mesh are, and where their normals point."""
    bind = skeleton.bind
    found = [skin(mesh.weights, bind.positions, bind.rotations)]
    turns = normal_turns(mesh.weights, bind.rotations)
    return found if mesh.normals is None else [*found, rotate(turns, mesh.normals)]


@pytest.mark.parametrize("joints", [0, 2])
def test_vertices_that_no_joint_moves_hang_on_the_first_where_they_are(joints):
    rng = np.random.default_rng(4)
    names, parents = ["base", "arm"][:joints], np.array([-1, 0], np.int32)[:joints]
    skeleton = Skeleton(names, parents, rng.normal(size=(joints, 3)), turns_of(rng, joints))
    skeleton.bound = Pose(rng.normal(size=(joints, 3)), turns_of(rng, joints)) if joints else None
    full = [still_mesh(rng, [2, 1])] if joints else []
    some = [2, 0, 1, 0, 0] if joints else [0, 0, 0]
    model = SkeletalModel("x", skeleton, [*full, still_mesh(rng, some), still_mesh(rng, [0, 0], normals=False)])
    found, count = moved_by_root(model)
    assert count == some.count(0) + 2
    assert found.skeleton.names == (names or ["origin"])
    for before, after in zip(model.meshes, found.meshes, strict=True):
        assert (after.weights.counts >= 1).all() and (before is after) == (before in full)
        for old, new in zip(shown(before, skeleton), shown(after, found.skeleton), strict=True):
            np.testing.assert_allclose(new, old, atol=1e-6)
        bare = before.weights.counts == 0
        assert not after.weights.joints[after.weights.starts[bare]].any()


def test_where_joints_move_all_or_nothing_says_where_they_are_there_is_nothing_to_do():
    rng = np.random.default_rng(4)
    skeleton = Skeleton(["a", "b"], np.array([-1, 0], np.int32), np.zeros((2, 3)), turns_of(rng, 2))
    moved, lost = (SkeletalModel("x", skeleton, [still_mesh(rng, counts)]) for counts in ([1, 2], [0, 2]))
    lost.meshes[0].weights.still = None
    assert moved_by_root(moved) == (moved, 0)
    assert moved_by_root(lost) == (lost, 0)
    both = replace(lost, meshes=[still_mesh(rng, [0]), *lost.meshes])
    assert moved_by_root(both) == (both, 0)
