"""Skeletons from frames: parts, joints, weights and poses of things whose skeleton is known, and what is refused."""

import json
import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

from io_idtech_models.model.joint_scales import posed
from io_idtech_models.model.rigging.products import product
from io_idtech_models.model.rigging.rig import RigSettings, explained
from io_idtech_models.model.rigging.skeletal import to_skeletal
from io_idtech_models.model.rigging.solve import make_rig
from io_idtech_models.model.vertex import Surface, Tag, VertexModel
from io_idtech_models.reporting import LimitError
from tests.samples import PROJECT

RING = np.array([[0, 1, 1], [0, -1, 1], [0, -1, -1], [0, 1, -1]], float)


def turn(angle, axis):
    c, s = np.cos(angle), np.sin(angle)
    i, k = (axis + 1) % 3, (axis + 2) % 3
    found = np.eye(3)
    found[i, i], found[i, k], found[k, i], found[k, k] = c, -s, s, c
    return found


def tube(*ends, rings=8):
    """Return the places (n, 3) and triangles of a tube through places, closed nowhere."""
    way = np.concatenate([np.linspace(a, b, rings, endpoint=False) for a, b in pairwise(ends)])
    way = np.concatenate([way, [ends[-1]]])
    along = np.asarray(ends[-1], float) - ends[0]
    across = np.eye(3)[np.abs(along).argmin()]
    second = np.cross(along, across) / np.linalg.norm(along)
    points = np.concatenate([RING[:, 1:2] * across + RING[:, 2:] * second + place for place in way])
    cells = np.arange(len(points) - 4)
    beside = cells - cells % 4 + (cells + 1) % 4
    halves = [np.stack([cells, beside, cells + 4], 1), np.stack([beside, beside + 4, cells + 4], 1)]
    return points, np.concatenate(halves).astype(np.int32)


def bar(frames=24):
    """Return a bar that bends about (5, 0, 0), and goes along as a whole: (F, P, 3) and triangles."""
    points, triangles = tube((0, 0, 0), (10, 0, 0), rings=20)
    found = np.empty((frames, len(points), 3), np.float32)
    for frame in range(frames):
        own = points.copy()
        bent = own[:, 0] > 5
        own[bent] = (own[bent] - [5, 0, 0]) @ turn(0.8 * np.sin(frame / 3), 1).T + [5, 0, 0]
        found[frame] = own @ turn(frame / 9, 2).T + [0, 0, frame / 4]
    return found, triangles


def walker(frames=30):
    """Return a body with two legs of two bones each, mirror images in frame 0, and where their joints are at rest."""
    legs = [tube((0, y, 20), (0, y, 10), (0, y, 0)) for y in (4, -4)]
    parts = [tube((0, 0, 20), (0, 0, 40)), *legs]
    starts = np.cumsum([0, *(len(points) for points, _ in parts)])
    triangles = np.concatenate([t + start for (_, t), start in zip(parts, starts, strict=False)])
    found = np.empty((frames, starts[-1], 3), np.float32)
    for frame in range(frames):
        swing = 0.6 * np.sin(frame / 2)
        for nth, (points, _) in enumerate(parts):
            own = points.copy()
            if nth:
                side = 1 if nth == 1 else -1
                hip, knee = np.array([0, 4.0 * side, 20]), np.array([0, 4.0 * side, 10])
                low = own[:, 2] < 10
                own[low] = (own[low] - knee) @ turn(abs(swing), 1).T + knee
                own = (own - hip) @ turn(side * swing, 1).T + hip
            found[frame, starts[nth] : starts[nth + 1]] = own
    return found, triangles.astype(np.int32)


def test_a_bar_that_bends_has_two_bones_and_its_joint():
    positions, triangles = bar()
    rig = make_rig(positions, triangles, [], RigSettings())
    assert (rig.num_bones, rig.parents.tolist(), rig.names[0]) == (2, [-1, 0], "root")
    blend = np.concatenate([turn(rig.rest_frame / 9, 2), [[0], [0], [rig.rest_frame / 4]]], axis=1)
    assert np.allclose(rig.heads[1], blend[:, :3] @ [5, 0, 0] + blend[:, 3], atol=0.05)
    assert np.abs(rig.shown() - positions).max() < 1e-4
    assert np.allclose(rig.weights.sum(axis=1), 1)
    assert ((rig.weights > 0).sum(axis=1) <= 3).all()


@pytest.mark.parametrize("settings", [RigSettings(), RigSettings(turn_only=True), RigSettings(bones=1)])
def test_what_bones_do_not_say_is_kept_at_rest(settings):
    positions, triangles = walker()
    positions[:, ::7] += np.random.default_rng(3).normal(0, 0.2, positions[:, ::7].shape).astype(np.float32)
    rig = make_rig(positions, triangles, [], settings)
    kept = rig.at_rest(positions)
    for frame in range(len(positions)):
        blend = rig.blends(frame)[rig.of_vertex]
        shown = (blend[:, :, :3] @ kept[frame][:, :, None])[:, :, 0] + blend[:, :, 3]
        assert np.abs(shown - positions[frame]).max() < 1e-4
    assert settings.bones in {0, rig.num_bones}


def test_legs_are_chains_on_two_sides():
    positions, triangles = walker()
    rig = make_rig(positions, triangles, [], RigSettings(rest=0))
    assert rig.num_bones == 5
    assert sorted(rig.names) == ["pelvis", "shin.L", "shin.R", "thigh.L", "thigh.R"]
    head = {name: rig.heads[bone] for bone, name in enumerate(rig.names)}
    for part, height in (("thigh", 20), ("shin", 10)):
        assert np.allclose(head[f"{part}.L"] * [1, -1, 1], head[f"{part}.R"], atol=1e-9), "truly mirror images"
        assert np.allclose(head[f"{part}.L"][[0, 2]], [0, height], atol=0.6)  # along a hinge it may lie anywhere
    parent = {name: rig.names[rig.parents[bone]] for bone, name in enumerate(rig.names) if rig.parents[bone] >= 0}
    assert parent == {"thigh.L": "pelvis", "thigh.R": "pelvis", "shin.L": "thigh.L", "shin.R": "thigh.R"}


def test_joints_that_turn_alone_keep_together():
    positions, triangles = walker()
    rig = make_rig(positions, triangles, [], RigSettings(turn_only=True))
    for bone, parent in enumerate(rig.parents.tolist()):
        if parent >= 0:
            own, other = (rig.poses[:, b, :, :3] @ rig.heads[bone] + rig.poses[:, b, :, 3] for b in (bone, parent))
            assert np.abs(own - other).max() < 1e-6


def test_a_tag_is_a_bone_that_moves_as_it_does():
    positions, triangles = walker()
    rig = make_rig(positions, triangles, [], RigSettings())
    shin = rig.names.index("shin.L")
    place = rig.poses[:, shin, :, :3] @ [0, 4, 2] + rig.poses[:, shin, :, 3]
    axes = np.swapaxes(rig.poses[:, shin, :, :3] * 1.5, 1, 2)
    tagged = make_rig(positions, triangles, [Tag("tag_foot", place.astype("f4"), axes.astype("f4"))], RigSettings())
    bone = int(tagged.tag_bones[0])
    assert (tagged.names[bone], tagged.names[tagged.parents[bone]]) == ("tag_foot", "shin.L")
    assert not tagged.weights[:, bone].any()
    at = tagged.poses[:, bone, :, :3] @ tagged.heads[bone] + tagged.poses[:, bone, :, 3]
    assert np.abs(at - place).max() < 1e-4


def test_a_tag_of_a_model_with_bones_stands_as_in_its_frames():
    """Turned as it is there, whatever its bone points at."""
    positions, triangles = walker()
    rig = make_rig(positions, triangles, [], RigSettings())
    shin = rig.names.index("shin.L")
    places = rig.poses[:, shin, :, :3] @ [0, 4, 2] + rig.poses[:, shin, :, 3]
    axes = np.swapaxes(rig.poses[:, shin, :, :3] @ turn(0.7, 0), 1, 2)
    surface = Surface("s", positions, triangles, np.zeros((positions.shape[1], 2), "f4"), [])
    tag = Tag("tag_foot", places.astype("f4"), axes.astype("f4"))
    model, (motion,), _ = to_skeletal(
        VertexModel("w", [f"walk{frame}" for frame in range(len(positions))], [surface], [tag]), RigSettings()
    )
    (found,) = model.tags
    at, turned = posed(motion)
    assert (found.name, model.skeleton.names[found.joint]) == ("tag_foot", "tag_foot")
    np.testing.assert_allclose(at[:, found.joint] + turned[:, found.joint] @ found.origin, places, atol=1e-3)
    np.testing.assert_allclose(found.axes @ np.swapaxes(turned[:, found.joint], 1, 2), axes, atol=1e-3)


def test_torn_frames_have_no_say():
    positions, triangles = walker()
    rng = np.random.default_rng(1)
    positions = np.concatenate([positions, (positions[:4] + rng.normal(0, 60, positions[:4].shape)).astype("f4")])
    rig = make_rig(positions, triangles, [], RigSettings())
    assert np.flatnonzero(rig.torn).tolist() == [30, 31, 32, 33]
    assert rig.num_bones == 5
    report = explained(rig, positions)
    assert (report.torn, report.worst_frame < 30, report.rms < 0.05) == (4, True, True)
    assert report.sentence().endswith("4 frames in which it comes apart left out")


def still(count):
    positions, triangles = bar()
    return np.repeat(positions[:1], count, axis=0), triangles


NO_FACES = np.zeros((0, 3), np.int32)


@pytest.mark.parametrize(
    ("positions", "triangles", "bones"),
    [
        (*still(9), 1),
        (np.zeros((6, 40, 3), np.float32), np.arange(39).reshape(13, 3), 1),
        (bar()[0][:, :1], NO_FACES, 1),
        (bar()[0][:, :3], np.array([[0, 1, 2]]), 1),
        (bar()[0][[0, 8]], bar()[1], 2),
        (bar()[0] * np.float32(1e15), bar()[1], 2),
        (np.concatenate([bar()[0]] * 3, axis=1), np.concatenate([bar()[1] + nth * 84 for nth in range(3)]), 2),
    ],
    ids=["no motion", "one place", "one point", "one triangle", "two frames", "far out", "duplicates"],
)
def test_odd_models_have_few_bones(positions, triangles, bones):
    rig = make_rig(positions, triangles.astype(np.int32), [], RigSettings())
    assert rig.num_bones == bones
    assert np.isfinite(rig.at_rest(positions)).all()
    assert (np.linalg.norm(rig.tails - rig.heads, axis=1) > 0).all()


REFUSED = {
    "there is one frame only: nothing moves, so there is nothing to make bones of": (lambda p: p[:1], RigSettings()),
    "there is no vertex to hang on a bone": (lambda p: p[:, :0], RigSettings()),
    "some vertices lie nowhere (not a number) or too far out: mend these frames first": (
        lambda p: np.where(np.arange(p.size).reshape(p.shape) == 77, np.nan, p), RigSettings()),
    "there is no frame 99 to rest in, only 0 to 23": (lambda p: p, RigSettings(rest=99)),
}  # fmt: skip


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_is_refused(sentence):
    (positions, triangles), (change, settings) = bar(), REFUSED[sentence]
    with pytest.raises(LimitError) as caught:
        make_rig(change(positions), triangles[:0] if sentence.startswith("there is no v") else triangles, [], settings)
    assert str(caught.value) == sentence


def test_it_can_be_ended():
    def enough(done):
        told.append(done)
        if done > 0.3:
            raise KeyboardInterrupt

    told: list[float] = []
    positions, triangles = walker()
    with pytest.raises(KeyboardInterrupt):
        make_rig(positions, triangles, [], RigSettings(), enough)
    assert told == sorted(told)


def test_products_in_pieces_are_products():
    rng = np.random.default_rng(2)
    for m, k, n in ((7, 3, 5), (900, 300, 40), (3, 900, 900), (0, 3, 4)):
        a, b = rng.normal(size=(m, k)), rng.normal(size=(k, n))
        assert np.allclose(product(a, b), a @ b)


ASKED = """
import json, sys
sys.path.insert(0, ".")
from tests.model.rigging.test_make_rig import walker
from io_idtech_models.model.rigging.solve import RigSettings, make_rig
rig = make_rig(*walker(), [], RigSettings())
print(json.dumps([rig.names, rig.parents.tolist(), rig.rest_frame, (rig.weights > 0).sum(0).tolist()]))
"""


def test_the_same_bones_on_every_processor():
    found = []
    for kind in ("Prescott", "Haswell", ""):
        environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        environ |= {"OPENBLAS_CORETYPE": kind}
        command = [sys.executable, "-c", ASKED]
        done = subprocess.run(command, cwd=PROJECT, env=environ, check=True, capture_output=True, text=True)
        found.append(json.loads(done.stdout.splitlines()[-1]))
    assert found[0] == found[1] == found[2]
