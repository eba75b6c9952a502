"""Baking: a skeletal model in motion as frames. Each frame is what `skin` says, and tags are joints."""

from typing import Any

import numpy as np
import pytest

from io_idtech_models.formats import by_name
from io_idtech_models.model.bake import bake
from io_idtech_models.model.edits.normals import smooth_normals
from io_idtech_models.model.skeletal import Scales, skin
from io_idtech_models.model.transforms import chain, rotate
from io_idtech_models.model.weights import Weights, blended_normals
from io_idtech_models.reporting import LimitError
from tests import samples_md5
from tests.samples import CORPUS, corpus_params


def arm() -> Any:
    return by_name("md5mesh").load(samples_md5.arm(), "arm")


def wave(frames: int = 5, name: str = "wave") -> Any:
    return by_name("md5anim").load(samples_md5.wave_spec(frames).pack(), name)


def posed(animation, frame):
    return chain(animation.parents, animation.positions[frame], animation.rotations[frame])


def test_every_frame_is_what_the_weights_say():
    model, animation = arm(), wave()
    baked = bake(model, [animation])
    assert baked.num_frames == 5
    for frame in range(5):
        wanted = skin(model.meshes[0].weights, *posed(animation, frame))
        np.testing.assert_array_equal(baked.surfaces[0].positions[frame], wanted.astype(np.float32))


@pytest.mark.parametrize("file", corpus_params(".md5anim"))
def test_real_frames_are_the_engines(file):
    expected = file.expected()
    if not expected:
        pytest.skip("nobody computed its vertices")
    model = by_name("md5mesh").load((CORPUS / file.entry["mesh"]).read_bytes(), "x")
    baked = bake(model, [by_name("md5anim").load(file.data, "x")])
    assert baked.num_frames == file.entry["frames"]
    for key, wanted in expected.items():
        frame, kind = key.removeprefix("frame").split(".")[:2]
        if kind != "joint_positions":
            surface = baked.surfaces[int(kind.removeprefix("mesh"))]
            np.testing.assert_allclose(surface.positions[int(frame)], wanted, rtol=0, atol=2e-4)


def test_what_does_not_move_stays_as_it_is():
    model = arm()
    baked = bake(model, [wave()])
    (mesh,), (surface,) = model.meshes, baked.surfaces
    assert (surface.name, surface.shaders, baked.name) == (mesh.name, [mesh.shader], "arm")
    np.testing.assert_array_equal(surface.triangles, mesh.triangles)
    np.testing.assert_array_equal(surface.uvs, mesh.uvs)
    surface.triangles[0] = 0
    surface.uvs[0] = 9
    assert mesh.triangles[0].any()
    assert (mesh.uvs[0] != 9).all()


def test_normals_are_smooth_over_seams_and_unit():
    surface: Any = bake(arm(), [wave()]).surfaces[0]
    np.testing.assert_allclose(np.linalg.norm(surface.normals, axis=-1), 1.0, atol=1e-5)
    np.testing.assert_array_equal(surface.normals, smooth_normals(surface.positions, surface.triangles))
    np.testing.assert_array_equal(surface.normals[:, 12], surface.normals[:, 11])  # one place, two vertices


def test_faces_still_show_their_outsides():
    surface = bake(arm(), [wave()]).surfaces[0]
    for frame in range(5):
        a, b, c = (surface.positions[frame][surface.triangles[:, i]].astype(float) for i in range(3))
        middle = surface.positions[frame][:12].mean(axis=0)
        assert (np.einsum("ti,ti->t", np.cross(b - a, c - a), (a + b + c) / 3 - middle) > 0).mean() > 0.9


@pytest.mark.parametrize(
    "file", [f for f in corpus_params(".md5mesh") if "body" in str(f.id) or "SimpleCube" in str(f.id)]
)
def test_real_models_are_not_turned_inside_out(file):
    (surface, *_) = bake(by_name("md5mesh").load(file.data, "x"), []).surfaces
    a, b, c = (surface.positions[0][surface.triangles[:, i]].astype(float) for i in range(3))
    assert np.einsum("ti,ti->t", a - surface.positions[0].mean(axis=0), np.cross(b, c)).sum() > 0


def test_without_an_animation_it_stands_in_its_bind_pose():
    model = arm()
    baked = bake(model, [])
    assert (baked.frame_names, baked.animations) == (["bind"], [])
    wanted = skin(model.meshes[0].weights, model.skeleton.positions, model.skeleton.rotations)
    np.testing.assert_array_equal(baked.surfaces[0].positions, wanted[None].astype(np.float32))


def test_animations_follow_one_another():
    model = arm()
    baked = bake(model, [wave(5, "wave"), wave(2, "nod")])
    assert [(a.name, a.first, a.count) for a in baked.animations] == [("wave", 0, 5), ("nod", 5, 2)]
    assert [name.rstrip("0123456789") for name in baked.frame_names] == ["wave"] * 5 + ["nod"] * 2
    assert len(set(baked.frame_names)) == 7
    np.testing.assert_array_equal(baked.surfaces[0].positions[5:], baked.surfaces[0].positions[:2])


@pytest.mark.parametrize("data", [samples_md5.several_meshes(), samples_md5.odd_weights(), samples_md5.degenerate()])
def test_every_mesh_becomes_a_surface(data):
    model = by_name("md5mesh").load(data, "x")
    baked = bake(model, [wave()])
    assert [s.name for s in baked.surfaces] == [m.name for m in model.meshes]
    assert [s.positions.shape for s in baked.surfaces] == [(5, m.num_vertices, 3) for m in model.meshes]


# -- frames


def test_some_frames():
    whole = bake(arm(), [wave(4), wave(3, "nod")], ["hand"])
    some = bake(arm(), [wave(4), wave(3, "nod")], ["hand"], range(2, 6))
    assert some.frame_names == whole.frame_names[2:6]
    np.testing.assert_array_equal(some.surfaces[0].positions, whole.surfaces[0].positions[2:6])
    np.testing.assert_array_equal(some.tags[0].origins, whole.tags[0].origins[2:6])


@pytest.mark.parametrize(
    ("frames", "sentence"),
    [
        (range(3, 6), "frames 3 to 5: it has 0 to 4"),
        (range(-1, 2), "frames -1 to 1: it has"),
        (range(2, 2), "frames 2 to 1"),
    ],
)
def test_frames_that_are_not_there(frames, sentence):
    with pytest.raises(LimitError, match=sentence):
        bake(arm(), [wave()], frames=frames)


# -- tags


@pytest.mark.parametrize("size", [0.5, 1.0, 2.0])
def test_tags_are_joints(size):
    """They turn and move with these; how large their joints are does not change them."""
    model, animation = arm(), wave()
    animation.scales = Scales(np.full((5, len(animation.parents)), size), np.zeros(len(animation.parents), np.bool_))
    baked = bake(model, [animation], ["hand", "origin"])
    assert [tag.name for tag in baked.tags] == ["tag_hand", "tag_origin"]
    hand = baked.tags[0]
    for frame in range(5):
        places, turns = posed(animation, frame)
        np.testing.assert_allclose(hand.origins[frame], places[2], atol=1e-5)
        for row, axis in enumerate(np.eye(3)):  # forward, left, up
            np.testing.assert_allclose(hand.axes[frame, row], rotate(turns[2], axis), atol=1e-6)
    assert not np.allclose(hand.axes[0], hand.axes[0].T), "rows and columns differ"


def test_a_tag_of_the_bind_pose():
    (tag,) = bake(arm(), [], ["hand"]).tags
    np.testing.assert_allclose(tag.origins, [[24, 1, 2]])
    np.testing.assert_allclose(tag.axes[0], [[0, 1, 0], [-1, 0, 0], [0, 0, 1]], atol=1e-6)


@pytest.mark.parametrize(("joint", "tag"), [("tag_weapon", "tag_weapon"), ("TAG_x", "TAG_x"), ("tags", "tag_tags")])
def test_what_is_a_tag_keeps_its_name(joint, tag):
    model = arm()
    model.skeleton.names[2] = joint
    assert bake(model, [], [joint]).tags[0].name == tag


def test_a_tag_that_is_no_joint():
    with pytest.raises(LimitError, match="no joint is called 'head'; there are 'origin', 'upper arm', 'hand'"):
        bake(arm(), [], ["head"])


def test_an_animation_of_another_skeleton():
    other = by_name("md5anim").load(samples_md5.roots_wave(), "walk")
    with pytest.raises(LimitError, match="'walk' does not fit 'arm': the animation has 5 joints, the model 3"):
        bake(arm(), [wave(), other])


def test_normals_stay_outside_where_joints_mirror():
    weights = Weights(
        np.array([0]), np.array([1]), np.array([0]), np.array([1.0], np.float32), np.zeros((1, 3), np.float32)
    )
    axes = np.array([np.eye(3), np.diag((-2.0, 1.0, 1.0)), np.diag((-1.0, -1.0, 3.0))])[:, None]
    found = blended_normals(weights, np.array([[0.6, 0.0, 0.8]]), np.array([[1.0, 0, 0, 0]]), axes)
    wanted = np.array([(0.6, 0, 0.8), (-0.3, 0, 0.8), (-0.6, 0, 0.8 / 3)])
    np.testing.assert_allclose(found[:, 0], wanted / np.linalg.norm(wanted, axis=1)[:, None], atol=1e-7)
