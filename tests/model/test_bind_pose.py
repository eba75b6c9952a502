"""The pose in which the weights of meshes agree best."""

from dataclasses import replace

import numpy as np
import pytest

from io_idtech_models.formats import by_name
from io_idtech_models.model import bind_pose as binding
from io_idtech_models.model.skeletal import Pose, SkeletalModel, Skeleton, SkinnedMesh, Weights, skin
from io_idtech_models.model.transforms import chain, conjugate, multiply, rotate, unchain
from tests.samples import corpus, corpus_params

RNG = np.random.default_rng(11)
PARENTS = np.array([-1, 0, 1, 2, 1, 4, -1], np.int32)


def unit(quaternions):
    return quaternions / np.linalg.norm(quaternions, axis=-1, keepdims=True)


def made_pose():
    """Return a pose of seven joints, two of them roots."""
    ways = RNG.uniform(-10, 10, (7, 3))
    turns = unit(RNG.normal(size=(7, 4)))
    return Pose(*(a for a in chain(PARENTS, ways, turns)))


def mesh_in(pose, counts, spread=6.0):
    """Return a mesh whose weights agree in a pose: so many weights on random joints for each vertex."""
    counts = np.asarray(counts)
    owners = np.repeat(np.arange(len(counts)), counts)
    joints = np.concatenate([RNG.choice(7, n, replace=False) for n in counts] or [[]]).astype(np.int64)
    factors = RNG.uniform(0.1, 1.0, len(joints))
    factors /= np.bincount(owners, factors, len(counts))[owners] if len(joints) else 1
    points = RNG.uniform(-spread, spread, (len(counts), 3))[owners]
    offsets = rotate(conjugate(pose.rotations[joints]), points - pose.positions[joints])
    table = Weights(np.cumsum(counts) - counts, counts, joints, factors.astype(np.float32), offsets.astype(np.float32))
    return SkinnedMesh("m", "", np.zeros((len(counts), 2), np.float32), np.zeros((0, 3), np.int32), table)


def model_of(*meshes):
    own = Skeleton([f"j{i}" for i in range(7)], PARENTS, np.zeros((7, 3)), np.tile([1.0, 0, 0, 0], (7, 1)))
    return SkeletalModel("x", own, list(meshes))


def shaken(pose, turn=0.3, way=2.0):
    """Return a pose nearby, in which the roots are the same."""
    ways, turns = unchain(PARENTS, pose.positions[None], pose.rotations[None])
    inner = np.flatnonzero(PARENTS >= 0)
    ways, turns = ways[0].copy(), turns[0].copy()
    noise = np.ones((len(inner), 4)) * [1, 0, 0, 0]
    noise[:, 1:] = RNG.uniform(-turn, turn, (len(inner), 3)) / 2
    turns[inner] = multiply(turns[inner], unit(noise))
    ways[inner] += RNG.uniform(-way, way, (len(inner), 3))
    return Pose(*chain(PARENTS, ways, turns))


def agreement(meshes, pose):
    """Return how far the weights of vertices put them apart, (n,)."""
    found = []
    for mesh in meshes:
        owners, entries = mesh.weights.entries()
        joints = mesh.weights.joints[entries]
        places = rotate(pose.rotations[joints], mesh.weights.offsets[entries]) + pose.positions[joints]
        means = skin(mesh.weights, pose.positions, pose.rotations)
        found.append(np.linalg.norm(places - means[owners], axis=1))
    return np.concatenate(found)


def relative(pose):
    above = np.maximum(PARENTS, 0)
    return rotate(conjugate(pose.rotations[above]), pose.positions - pose.positions[above])


def test_a_pose_in_which_all_agree_is_found():
    pose = made_pose()
    model = model_of(mesh_in(pose, [2, 3, 5] * 30), mesh_in(pose, [1] * 9))
    start = shaken(pose)
    assert agreement(model.meshes, start).max() > 1
    found = binding.fitted(model, start, relative(pose)).skeleton.bind
    # the weak pulls to the start's turns leave a little
    np.testing.assert_allclose(found.positions, pose.positions, atol=0.02)
    assert np.abs(np.abs((found.rotations * pose.rotations).sum(axis=1)) - 1).max() < 1e-5
    assert agreement(model.meshes, found).max() < 0.01
    np.testing.assert_allclose(np.linalg.norm(found.rotations, axis=1), 1, atol=1e-12)


def mesh_between(pose, count, spread=2.0):
    """Return a mesh whose weights agree in a pose: so many vertices between each joint and its parent, on both."""
    joints = np.array([[joint, above] for joint, above in enumerate(PARENTS) if above >= 0 for _ in range(count)])
    points = pose.positions[joints].mean(axis=1) + RNG.uniform(-spread, spread, (len(joints), 3))
    offsets = rotate(conjugate(pose.rotations[joints]), points[:, None] - pose.positions[joints]).reshape(-1, 3)
    counts = np.full(len(joints), 2)
    halves = np.full(joints.size, 0.5, np.float32)
    table = Weights(np.cumsum(counts) - counts, counts, joints.ravel(), halves, offsets.astype(np.float32))
    return SkinnedMesh("m", "", np.zeros((len(counts), 2), np.float32), np.zeros((0, 3), np.int32), table)


@pytest.mark.parametrize("begins_anew", [True, False])
def test_it_is_found_from_a_pose_that_is_turned_far_from_it(begins_anew, monkeypatch):
    """As in animations that were brought from a skeleton with other axes: steps alone lead to a torn mesh at times."""
    monkeypatch.setattr(binding, "TORN", binding.TORN if begins_anew else 1e9)
    monkeypatch.setattr("tests.model.test_bind_pose.RNG", np.random.default_rng(5))
    apart = []
    for _ in range(40):
        pose = made_pose()
        model = model_of(mesh_between(pose, 3))
        found = binding.fitted(model, shaken(pose, turn=30.0, way=1.0), relative(pose)).skeleton.bind
        apart.append(agreement(model.meshes, found).max())
    assert (max(apart) < 0.05) == begins_anew
    assert np.median(apart) < 0.005, "the weak pulls to where one begins leave little"


def test_joints_without_parents_hang_on_whom_they_share_most_with():
    """A file that names none (MDR) is bound as well: all but the first joint of what hangs together may move."""
    pose = made_pose()
    model = model_of(mesh_in(pose, [2, 3, 5] * 30))
    bare = replace(model, skeleton=replace(model.skeleton, parents=np.full(7, -1, np.int32)))
    start = shaken(pose)
    found = binding.fitted(bare, start, start.positions).skeleton.bind
    assert agreement(model.meshes, found).max() < 0.05 < agreement(model.meshes, start).max()
    np.testing.assert_array_equal(found.positions[0], start.positions[0])


def test_implied_parents():
    def mesh(*joints):
        counts = np.full(len(joints), 2)
        factors = np.tile(np.array([0.5, 0.5], np.float32), len(joints))
        nowhere = np.zeros((2 * len(joints), 3), np.float32)
        table = Weights(2 * np.arange(len(joints)), counts, np.ravel(joints), factors, nowhere)
        return SkinnedMesh("m", "", np.zeros((len(joints), 2), np.float32), np.zeros((0, 3), np.int32), table)

    shared = mesh((0, 2), (0, 2), (2, 1), (2, 1), (0, 1), (3, 4))
    assert binding.implied_parents([shared], 6).tolist() == [-1, 2, 0, -1, 3, -1]


def test_roots_stay_bit_for_bit():
    pose = made_pose()
    start = shaken(pose)
    found = binding.fitted(model_of(mesh_in(pose, [3] * 40)), start).skeleton.bind
    roots = PARENTS < 0
    np.testing.assert_array_equal(found.positions[roots], start.positions[roots])
    np.testing.assert_array_equal(found.rotations[roots], start.rotations[roots])


@pytest.mark.parametrize("counts", [[], [0, 0], [1] * 20])
def test_where_nothing_is_shared_joints_go_to_their_mean_places(counts):
    """The turns are the start's, the places those on average."""
    start = made_pose()
    places = relative(start)
    moved = places.copy()
    moved[3] += [1, 2, 3]
    model = model_of(mesh_in(start, counts)) if counts else model_of()
    same = binding.fitted(model, start, places).skeleton.bind
    np.testing.assert_allclose(same.positions, start.positions, atol=1e-6)
    found = binding.fitted(model, start, moved).skeleton.bind
    np.testing.assert_allclose(relative(found)[PARENTS >= 0], moved[PARENTS >= 0], atol=1e-5)
    assert np.abs((found.rotations * start.rotations).sum(axis=1)).min() > 1 - 1e-9


def test_a_hinge_is_not_left_to_chance():
    """Two vertices on one line hold a joint but for its turn about that: it stays as in the start."""
    start = Pose(np.array([[0.0, 0, 0], [10, 0, 0]]), np.tile([1.0, 0, 0, 0], (2, 1)))
    offsets = np.array([[10, 0, 0], [0, 0, 0], [14, 0, 0], [4, 0, 0.01]], np.float32)
    table = Weights(np.array([0, 2]), np.array([2, 2]), np.array([0, 1, 0, 1]), np.full(4, 0.5, np.float32), offsets)
    mesh = SkinnedMesh("m", "", np.zeros((2, 2), np.float32), np.zeros((0, 3), np.int32), table)
    found = binding.fit([mesh], np.array([-1, 0]), start, start.positions)
    assert 2 * np.arccos(min(1.0, abs(found.rotations[1, 0]))) < 0.01
    np.testing.assert_allclose(found.positions, start.positions, atol=0.01)


def test_a_root_alone_stays():
    pose = Pose(np.array([[1.0, 2.0, 3.0]]), np.array([[1.0, 0.0, 0.0, 0.0]]))
    found = binding.fit([], np.array([-1]), pose, pose.positions)
    assert (found.positions == pose.positions).all() and (found.rotations == pose.rotations).all()


def test_odd_weights_do_no_harm():
    """One joint alone, a weight of 0 and two below: none of them pulls."""
    pose = made_pose()
    mesh = mesh_in(pose, [3] * 60)
    table = mesh.weights
    table.joints[:3], table.offsets[:3] = 2, [[50, 0, 0], [0, 50, 0], [0, 0, 50]]
    table.factors[4], table.offsets[4] = 0.0, 99.0
    table.factors[6:8], table.offsets[6:8] = -0.5, [[-99, 0, 0], [0, 99, 0]]
    found = binding.fitted(model_of(mesh), shaken(pose, 0.1, 0.5), relative(pose)).skeleton.bind
    assert agreement([mesh_in(pose, [3] * 40)], found).max() < 0.01


def test_too_many_joints_stay_as_they_are(monkeypatch):
    start = made_pose()
    model = model_of(mesh_in(start, [2] * 9))
    monkeypatch.setattr(binding, "MOST_JOINTS", 6)
    assert binding.fitted(model, start) is model
    monkeypatch.setattr(binding, "MOST_JOINTS", 7)
    assert binding.fitted(model, start).skeleton.bound is not None


def test_a_source_is_bound_alike():
    from tests import samples_mdm

    model = by_name("mdm").load(samples_mdm.figure(), "x", {"mdx": samples_mdm.walk()})
    pose = Pose(model.skeleton.positions + 1, model.skeleton.rotations)
    found = binding.bound_in(model, pose)
    assert found.source is not None
    assert found.skeleton.bind is pose is found.source.skeleton.bind
    assert model.skeleton.bind is not pose, "the other is as it was"
    np.testing.assert_array_equal(found.skeleton.positions, model.skeleton.positions)


def test_mean_places():
    frames = np.arange(130 * 2 * 3, dtype=np.float64).reshape(130, 2, 3)
    np.testing.assert_allclose(binding.mean_places(frames[:3]), frames[:3].mean(axis=0))
    np.testing.assert_allclose(binding.mean_places(frames), frames[::2].mean(axis=0))


# -- real models

MDXS = {file.path.stem: file for file in corpus(".mdx")}
STEP = 8  # of the frames that are looked at


@pytest.mark.parametrize("name", MDXS or ["none"])
@pytest.mark.parametrize("file", corpus_params(".mdm"))
def test_real_models_fit(file, name):
    """The demands: rms, worst, and edges between bones that are longer at rest than in any frame."""
    animations = {n: by_name("mdx").load(f.data, n) for n, f in MDXS.items()}
    model = by_name("mdm").load(file.data, "x", {"mdx": MDXS[name].data})
    bound = binding.fitted(model, model.skeleton.bind, binding.mean_places(animations[name].positions))
    poses = [chain(a.parents, a.positions[::STEP], a.rotations[::STEP]) for a in animations.values()]
    off, shared, torn, edges = [], [], 0, 0
    for mesh in bound.meshes:
        bind = bound.skeleton.bind
        rest = skin(mesh.weights, bind.positions, bind.rotations)
        blender = shown_by_blender(mesh.weights, rest, bind)
        pairs = crossing(mesh)
        longest = np.zeros(len(pairs))
        for places, turns in poses:
            for pose in zip(places, turns, strict=True):
                engine = skin(mesh.weights, *pose)
                away = np.linalg.norm(skin(blender, *pose) - engine, axis=1)
                off.append(away)
                shared.append(away[mesh.weights.counts > 1])
                longest = np.maximum(longest, lengths(engine, pairs))
        torn, edges = torn + int((lengths(rest, pairs) > longest + 1).sum()), edges + len(pairs)
    rms = [float(np.sqrt((np.concatenate(each) ** 2).mean())) for each in (off, shared)]
    assert rms[0] <= 0.005
    assert rms[1] <= 0.02
    assert np.concatenate(shared).max() <= 0.15
    assert torn <= 0.01 * edges


def shown_by_blender(table, rest, bind):
    """Return weights that say what Blender computes: the mesh at rest, factors whose sum is 1."""
    owners, entries = table.entries()
    joints, factors = table.joints[entries], table.factors[entries].astype(np.float64)
    offsets = rotate(conjugate(bind.rotations[joints]), rest[owners] - bind.positions[joints])
    sums = np.bincount(owners, factors, len(rest))[owners]
    starts = np.cumsum(table.counts) - table.counts
    return replace(table, starts=starts, joints=joints, factors=factors / sums, offsets=offsets)


def crossing(mesh):
    """Return the edges (n, 2) between vertices of different joints, or of several."""
    t = mesh.triangles
    edges = np.unique(np.sort(np.concatenate((t[:, :2], t[:, 1:], t[:, ::2])), axis=1), axis=0)
    first, several = mesh.weights.first_joints(), mesh.weights.counts > 1
    return edges[(first[edges[:, 0]] != first[edges[:, 1]]) | several[edges].any(axis=1)]


def lengths(points, edges):
    return np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
