"""What games take of skeletal models and animations: each limit at its number, and one beyond."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from io_idtech_models.formats import MOTION, SKELETAL, by_name, rows_of
from io_idtech_models.model.limits.games import ERROR, GAMES, WARNING
from io_idtech_models.model.skeletal import Animation, SkeletalModel, Skeleton, SkinnedMesh, Weights

REMASTER = "quake2remaster"
MESH, ANIM = by_name("md5mesh"), by_name("md5anim")


def skeleton(count: int = 1, names: list[str] | None = None) -> Skeleton:
    parents = np.arange(-1, count - 1, dtype=np.int32)
    upright = np.tile([1.0, 0, 0, 0], (count, 1))
    return Skeleton(names or [f"j{i}" for i in range(count)], parents, np.zeros((count, 3)), upright)


def mesh(vertices: int = 3, triangles: int = 1, weights: int = 3, name: str = "m", shader: str = "s") -> SkinnedMesh:
    counts = np.ones(vertices, np.int32)
    offsets = np.zeros((weights, 3), np.float32)
    table = Weights(counts * 0, counts, np.zeros(weights, np.int32), np.ones(weights, np.float32), offsets)
    return SkinnedMesh(name, shader, np.zeros((vertices, 2), np.float32), np.zeros((triangles, 3), np.int32), table)


def model(bones: Skeleton | None = None, meshes: list[SkinnedMesh] | None = None) -> SkeletalModel:
    return SkeletalModel("x", bones or skeleton(), [mesh()] if meshes is None else meshes)


def animation(frames: int = 1, bones: Skeleton | None = None) -> Animation:
    bones = bones or skeleton()
    turns = np.tile(bones.rotations, (frames, 1, 1))
    places = np.zeros((frames, bones.num_joints, 3))
    return Animation("walk", bones.names, bones.parents, places, turns, 24.0, np.zeros((frames, 2, 3)))


def said(problems: list[Any]) -> list[tuple[str, str]]:
    return [(p.severity, str(p)) for p in problems]


MODELS = {
    "joints": (lambda n: model(skeleton(n)), "has {} joints, "),
    "meshes": (lambda n: model(meshes=[mesh(name=f"m{i}") for i in range(n)]), "has {} meshes, "),
    "weights": (lambda n: model(meshes=[mesh(weights=n)]), "'m' has {} weights, "),
    "vertices": (lambda n: model(meshes=[mesh(n)]), "'m' has {} vertices, "),
    "triangles": (lambda n: model(meshes=[mesh(triangles=n)]), "'m' has {} triangles, "),
    "name_bytes": (lambda n: model(skeleton(2, ["root", "b" * n])), "is a joint's name of {} bytes, "),
}
ANIMS = {
    "frames": (animation, "'walk' has {} frames, "),
    "joints": (lambda n: animation(2, skeleton(n)), "'walk' has {} joints, "),
    "name_bytes": (lambda n: animation(1, skeleton(2, ["root", "b" * n])), "is a joint's name of {} bytes, "),
}
MAKERS = {row.name: ANIMS for row in rows_of(MOTION)} | {row.name: MODELS for row in rows_of(SKELETAL)}
EVERY = [(game, name, kind) for name, makers in MAKERS.items() for game in by_name(name).games for kind in makers]


@pytest.mark.parametrize(("game", "name", "kind"), EVERY)
def test_at_the_limit_and_beyond(game, name, kind):
    most = getattr(GAMES[game].formats[name], kind)
    make, sentence = MAKERS[name][kind]
    if most is None:  # there is none, whatever another game takes
        most = getattr(GAMES[REMASTER].formats["md5mesh"], kind)
        assert said(by_name(name).check(make(most + 1), game)) == []
        return
    assert said(by_name(name).check(make(most), game)) == []
    ((severity, text),) = said(by_name(name).check(make(most + 1), game))
    told, takes = (WARNING, "is made for") if (name, kind) == ("mds", "meshes") else (ERROR, "takes")
    assert severity == told
    assert f"{sentence.format(most + 1)}{GAMES[game].label} {takes} {most}" in text


def test_names_are_measured_in_bytes():
    assert said(MESH.check(model(skeleton(1, ["ü" * 23 + "x"])), REMASTER)) == []
    assert "of 48 bytes" in said(MESH.check(model(skeleton(1, ["ü" * 24])), REMASTER))[0][1]


@pytest.mark.parametrize("game", MESH.games)
def test_vertices_without_weights_are_refused(game):
    bare = mesh(5)
    bare.weights.counts = np.array([1, 0, 2, 0, 0], np.int32)
    ((severity, text),) = said(MESH.check(model(meshes=[mesh(), bare]), game))
    limits: Any = GAMES[game].formats["md5mesh"]
    assert severity == limits.bare_vertices
    more = " or leave at the origin" if severity == WARNING else ""
    assert text == f"'m' has 3 vertices without weights, which games refuse{more}"


@pytest.mark.parametrize("game", MESH.games)
def test_one_root_is_doom_3s_rule(game):
    bones = skeleton(3)
    bones.parents = np.array([-1, 0, -1], np.int32)
    assert said(MESH.check(model(bones), game)) == [], "a model may have several"
    if game == REMASTER:  # its loader asks for no such thing, and nobody takes its players to Doom 3
        assert said(ANIM.check(animation(1, bones), game)) == []
        return
    ((severity, text),) = said(ANIM.check(animation(1, bones), game))
    if game == "doom3":
        assert severity == ERROR
        assert text.endswith("Doom 3 takes one: add an origin joint ('Add Origin Joint') to it and its mesh")
    else:
        assert severity == WARNING
        assert text == "'walk' has 2 joints without a parent, which Doom 3 refuses"


def test_an_mdx_may_have_several_roots():
    bones = skeleton(3)
    bones.parents = np.array([-1, 0, -1], np.int32)
    for game in by_name("mdx").games:
        assert said(by_name("mdx").check(animation(1, bones), game)) == []


@pytest.mark.parametrize("game", MESH.games)
def test_a_name_of_several_joints_is_said(game):
    bones = skeleton(4, ["a", "b", "a", "a"])
    for found in (MESH.check(model(bones), game), ANIM.check(animation(1, bones), game)):
        assert all(text == "'a' is the name of several joints: games find the first" for _, text in said(found))


@pytest.mark.parametrize("name", ['a"b', "a\nb", "a\0b"])
def test_a_name_that_no_file_can_hold_is_said(name):
    ((severity, text),) = said(MESH.check(model(skeleton(1, [name])), "format"))
    assert severity == WARNING
    assert "is a joint's name with a quote, line end or NUL, which no text holds: written without" in text


def test_a_mesh_without_a_name_is_called_by_its_shader():
    found = said(MESH.check(model(meshes=[replace(mesh(6145, name=""), shader="models/arm")]), REMASTER))
    assert found[0][1].startswith("'models/arm' has 6145 vertices")


@pytest.mark.parametrize(
    ("game", "scale", "problem"),
    [
        ("redeclipse", [1, 1, 1], None),
        ("redeclipse", [1, 1, 1.5], (WARNING, "the model has scaled joints, which Red Eclipse does not scale: 'j1'")),
        ("unvanquished", [2, 2, 2.5], None),
        ("unvanquished", [1, 1, 2], (ERROR, "'j1' is scaled unevenly or below 0, which Unvanquished refuses")),
        ("unvanquished", [-1, -1, -1], (ERROR, "'j1' is scaled unevenly or below 0, which Unvanquished refuses")),
    ],
)
def test_joints_that_are_scaled(game, scale, problem):
    bones = replace(skeleton(2), scales=np.array([[1, 1, 1], scale], float))
    assert said(by_name("iqm").check(model(bones), game)) == ([problem] if problem else [])


@pytest.mark.parametrize("value", [float("nan"), float("-inf"), 1e39])
def test_what_is_no_number_is_refused(value):
    whole, moving = model(meshes=[mesh(), mesh(name="b")]), animation(3, skeleton(2))
    whole.skeleton.positions[0, 1] = value
    whole.meshes[1].uvs[2, 0] = np.float32(value) if abs(value) < 1e38 else np.inf
    moving.positions[2, 1, 0] = value
    assert said(MESH.check(whole, "doom3")) == [
        (ERROR, "the model has places of joints that are no numbers, or beyond all"),
        (ERROR, "'b' has texture coordinates that are no numbers, or beyond all"),
    ]
    assert said(ANIM.check(moving, "doom3")) == [(ERROR, "'walk' has places that are no numbers, or beyond all")]
