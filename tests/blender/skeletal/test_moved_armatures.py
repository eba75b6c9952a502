"""A skeletal model that is moved, turned, scaled or mirrored as a whole keeps every weight of every vertex.

Files say of each weight where its vertex lies in the space of a joint. These places disagree a little, some weights are
small, and some vertices have more than an export would give a new one: nothing of that is touched by who moves the
whole, and games show the vertices just there where they were, moved.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import bpy as blender
import numpy as np
import pytest
from mathutils import Matrix
from numpy.typing import NDArray

from io_idtech_models.formats import by_name
from io_idtech_models.model.skeletal import Animation, SkeletalModel, skin
from io_idtech_models.model.transforms import chain, rotate, to_matrices
from tests import samples_md5, samples_mdm
from tests.blender.case import CONTEXT, activate, in_edit_mode
from tests.blender.skeletal.mdm_case import MDM, MOTIONS, open_figure
from tests.blender.skeletal.rigged import MESH, Rigged, apart, in_world, open_rig
from tests.samples import CORPUS, PROJECT, corpus

bpy: Any = blender  # the stubs make each object's data a union
pytestmark = pytest.mark.usefixtures("empty_scene")
CLOSE = 2e-3  # units: bones that Blender keeps in single precision
XSARGE = CORPUS / "xreal" / "base" / "models" / "players" / "xsarge"
TURNED = Matrix.Translation((30, -40, 50)) @ Matrix.Rotation(1.0, 4, (1.0, 2.0, -0.5))


@dataclass
class Subject:
    """A model in the scene, and what its files show without an edit."""

    case: Any
    motion: str

    def model(self, data: bytes) -> SkeletalModel:
        extra = {"mdx": self.case.motions[self.motion]} if self.case.row is MDM else {}
        found: SkeletalModel = self.case.row.load(data, "x", extra)
        return found

    @property
    def before(self) -> SkeletalModel:
        return self.model(self.case.data)

    def after(self, **settings: Any) -> SkeletalModel:
        return self.model(self.case.dump(**settings))

    def motion_before(self) -> Animation:
        found: Animation = self.case.motion_row.load(self.case.motions[self.motion], "x")
        return found


def real_figure() -> Rigged:
    files = {f.path.stem: f.data for f in (*corpus(".mdm"), *corpus(".mdx"))}
    return open_figure(files["naked"], {"akimbo": files["akimbo"]})


def trooper() -> Rigged:
    folder = PROJECT / "examples" / "trooper"
    model, bones = (next(folder.rglob(f"*{suffix}")).read_bytes() for suffix in (".mdm", ".mdx"))
    return open_figure(model, {"walk": bones})


MODELS = {
    "figure": lambda: Subject(open_figure(bind=0), "walk"),
    "figure-fit": lambda: Subject(open_figure(), "walk"),
    "trooper": lambda: Subject(trooper(), "walk"),
    "arm": lambda: Subject(open_rig(samples_md5.arm(), {"wave": samples_md5.wave()}), "wave"),
    "naked": lambda: Subject(real_figure(), "akimbo"),
    "xsarge": lambda: Subject(
        open_rig((XSARGE / "body.md5mesh").read_bytes(), {"crouch": (XSARGE / "crouch.md5anim").read_bytes()}), "crouch"
    ),
}
REAL = {"naked", "xsarge"}


@pytest.fixture(params=MODELS)
def subject(request) -> Subject:
    if request.param in REAL and not CORPUS.is_dir():
        pytest.skip("the corpus of real files is not here")
    return MODELS[request.param]()


def blocks(case: Rigged, *kinds: str) -> list[Any]:
    return [block for block in case.collection.all_objects if block.type in kinds]


def move_rig(case: Rigged, matrix: Matrix) -> None:
    case.rig.matrix_world = matrix
    CONTEXT.view_layer.update()


def move_each(case: Rigged, matrix: Matrix) -> None:
    """Objects that hang on no armature, each moved by itself."""
    for block in blocks(case, "MESH"):
        block.parent = None
    for block in blocks(case, "MESH", "ARMATURE"):
        block.matrix_world = matrix
    CONTEXT.view_layer.update()


def move_root(case: Rigged, matrix: Matrix) -> None:
    """A chain of parents above the armature."""
    upper, lower = bpy.data.objects.new("upper", None), bpy.data.objects.new("lower", None)
    for block in (upper, lower):
        CONTEXT.scene.collection.objects.link(block)
    lower.parent, case.rig.parent = upper, lower
    lower.matrix_basis = Matrix.Translation((1, 2, 3))
    upper.matrix_basis = matrix @ Matrix.Translation((-1, -2, -3))
    CONTEXT.view_layer.update()


def apply_all(case: Rigged, matrix: Matrix) -> None:
    move_rig(case, matrix)
    chosen = blocks(case, "MESH", "ARMATURE")
    activate(*reversed(chosen))
    bpy.ops.object.transform_apply(location=True, rotation=True, scale=True)
    assert all(np.allclose(np.array(b.matrix_world), np.eye(4)) for b in chosen)


def edit_all(case: Rigged, matrix: Matrix) -> None:
    """All bones in edit mode, and all vertices of the meshes in theirs."""

    def bones() -> None:
        for bone in case.rig.data.edit_bones:
            upright = matrix.to_3x3() @ bone.z_axis
            bone.head, bone.tail = matrix @ bone.head, matrix @ bone.tail
            bone.align_roll(upright)

    in_edit_mode(case.rig, bones)
    for block in blocks(case, "MESH"):
        in_edit_mode(block)
        block.data.transform(matrix)
    CONTEXT.view_layer.update()


def weights_of(model: SkeletalModel) -> list[tuple[Any, ...]]:
    """Return counts, joints and factors of each mesh' vertices, in the file's order."""
    found = []
    for mesh in model.meshes:
        owners, entries = mesh.weights.entries()
        found.append((owners.tolist(), mesh.weights.joints[entries].tolist(), mesh.weights.factors[entries].tolist()))
    return found


def offsets_of(model: SkeletalModel) -> NDArray[Any]:
    return np.concatenate([m.weights.offsets[m.weights.entries()[1]] for m in model.meshes]).astype(np.float64)


def in_game(model: SkeletalModel, animation: Animation, frame: int) -> NDArray[Any]:
    """Return where the game shows all vertices in a frame, (V, 3)."""
    places, turns = chain(animation.parents, animation.positions[frame], animation.rotations[frame])
    return np.concatenate([skin(mesh.weights, places, turns) for mesh in model.meshes])


def carried(points: NDArray[Any], matrix: Any) -> NDArray[Any]:
    m = np.array(matrix, np.float64)
    return np.asarray(points @ m[:3, :3].T + m[:3, 3])


def assert_moved(subject: Subject, matrix: Any, **settings: Any) -> None:
    """Every weight is the file's, and in every frame vertices are where they were, moved."""
    after = subject.after(**settings)
    assert weights_of(after) == weights_of(subject.before)
    was, now = subject.motion_before(), subject.case.gather_motion(subject.motion, **settings)
    size = max(1.0, float(np.linalg.norm(np.array(matrix)[:3, 0])))
    for frame in range(0, was.num_frames, max(1, was.num_frames // 4)):
        wanted = carried(in_game(subject.before, was, frame), matrix)
        assert np.abs(in_game(after, now, frame) - wanted).max() < CLOSE * size
        origins, axes = tags_of(subject.before, was, frame)
        found, turned = tags_of(after, now, frame)
        assert np.abs(found - carried(origins, matrix)).max(initial=0.0) < CLOSE * size
        there = axes @ np.array(matrix)[:3, :3].T / np.linalg.norm(np.array(matrix)[:3, 0])
        assert np.abs(turned - there).max(initial=0.0) < CLOSE


def tags_of(model: SkeletalModel, animation: Animation, frame: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return where the game has tags in a frame: origins (N, 3), and axes (N, 3, 3) as rows."""
    places, turns = chain(animation.parents, animation.positions[frame], animation.rotations[frame])
    origins = [rotate(turns[tag.joint], tag.origin) + places[tag.joint] for tag in model.tags]
    axes = [tag.axes @ to_matrices(turns[tag.joint]).T for tag in model.tags]
    return np.array(origins).reshape(-1, 3), np.array(axes).reshape(-1, 3, 3)


RIGID = {"rig": move_rig, "each": move_each, "root": move_root, "apply": apply_all, "edit": edit_all}


@pytest.mark.parametrize("way", RIGID)
def test_moved_and_turned(subject, way, caplog):
    caplog.clear()
    RIGID[way](subject.case, TURNED)
    assert_moved(subject, TURNED)
    assert "weights" not in caplog.text
    after = subject.after()
    if way in {"rig", "each"}:
        assert np.array_equal(offsets_of(after), offsets_of(subject.before)), "a move changes no place in a joint"
        for a, b in zip(after.meshes, subject.before.meshes, strict=True):
            assert b.normals is None or np.array_equal(a.normals, b.normals)


@pytest.mark.parametrize("size", [0.25, -2.0])
@pytest.mark.parametrize("way", ["rig", "each", "root"])
def test_scaled_and_mirrored(subject, way, size, caplog):
    caplog.clear()
    matrix = TURNED @ Matrix.Diagonal((size, abs(size), abs(size), 1))
    RIGID[way](subject.case, matrix)
    assert_moved(subject, matrix)
    assert "weights" not in caplog.text
    flip = np.array([1, 1, np.sign(size)])
    np.testing.assert_allclose(offsets_of(subject.after()), offsets_of(subject.before) * abs(size) * flip, atol=1e-3)


@pytest.mark.parametrize("way", ["apply", "edit"])
def test_a_scale_that_is_applied(subject, way):
    """Actions know nothing of it: what they say of places stays, in Blender as in the files."""
    RIGID[way](subject.case, TURNED @ Matrix.Scale(2.0, 4))
    after = subject.after()
    assert weights_of(after) == weights_of(subject.before)
    np.testing.assert_allclose(offsets_of(after), 2 * offsets_of(subject.before), atol=2e-3)


def test_written_larger_than_it_was_read(subject):
    assert_moved(subject, Matrix.Scale(2.0, 4), scale=0.5)
    np.testing.assert_allclose(offsets_of(subject.after(scale=0.5)), 2 * offsets_of(subject.before), atol=1e-3)


def roll_bones(case: Rigged, matrix: Matrix) -> None:
    """Roll all bones: what their joints' turned spaces say of places lies in the scene where it lay."""

    def roll() -> None:
        for bone in case.rig.data.edit_bones:
            bone.roll += 0.7

    in_edit_mode(case.rig, roll)


def scale_meshes(case: Rigged, matrix: Matrix) -> None:
    """Scale meshes alone."""
    for block in blocks(case, "MESH"):
        block.scale = matrix.to_scale()
    CONTEXT.view_layer.update()


@pytest.mark.parametrize(
    ("edit", "scale"),
    [(roll_bones, (1.0, 1.0, 1.0)), (scale_meshes, (1.5, 1.0, 0.5)), (apply_all, (1.0, 0.5, 2.0))],
    ids=["bones are rolled", "meshes are scaled alone", "an uneven scale is applied"],
)
def test_at_rest_vertices_are_where_they_were_scaled(subject, edit, scale):
    matrix = Matrix.Diagonal((*scale, 1.0))
    before = at_rest(subject.before, subject.case.gather().source)
    edit(subject.case, matrix)
    after = subject.after()
    assert weights_of(after) == weights_of(subject.before)
    np.testing.assert_allclose(at_rest(after, subject.case.gather()), carried(before, matrix), atol=CLOSE)


def at_rest(model: SkeletalModel, bones: Any) -> NDArray[Any]:
    """Return where all vertices of a model are where another's bones are at rest, (V, 3)."""
    bind = bones.skeleton.bind
    return np.concatenate([skin(mesh.weights, bind.positions, bind.rotations) for mesh in model.meshes])


@pytest.mark.parametrize("scale", [0.02, 40.0])
def test_imported_at_another_scale(scale, caplog):
    for case, motion in (
        (open_figure(scale=scale), "walk"),
        (open_rig(samples_md5.arm(), {"wave": samples_md5.wave()}, scale=scale), "wave"),
    ):
        caplog.clear()
        move_rig(case, Matrix.Scale(scale, 4) @ TURNED @ Matrix.Scale(1 / scale, 4))
        assert_moved(Subject(case, motion), TURNED, scale=scale)
        assert "weights" not in caplog.text


def test_an_armature_that_is_scaled_unevenly_keeps_weights_and_is_said(subject, caplog):
    caplog.clear()
    move_rig(subject.case, Matrix.Diagonal((1, 1, 2, 1)))
    after = subject.after()
    assert "scaled unevenly" in caplog.text
    assert weights_of(after) == weights_of(subject.before)


def test_a_vertex_that_is_edited_on_a_moved_armature_is_the_only_one(subject):
    """Its neighbours' weights are the file's."""
    move_rig(subject.case, TURNED)
    subject.case.mesh().data.vertices[3].co.x += 1.0
    CONTEXT.view_layer.update()
    found = subject.case.gather()
    assert found.meshes[0].kept is not None
    assert 0 < (~found.meshes[0].kept).sum() <= 8
    assert all(mesh.kept is not None and mesh.kept.all() for mesh in found.meshes[1:])


@pytest.mark.parametrize("way", ["apply", "edit"])
def test_a_vertex_that_is_edited_after_a_scale_takes_its_weights_along(subject, way):
    """And stands where it was put: at most as far off as before the edit."""
    RIGID[way](subject.case, TURNED @ Matrix.Scale(2.0, 4))
    before = subject.case.gather()
    for point in (3, 5):
        subject.case.mesh().data.vertices[point].co.x += 1.0
    CONTEXT.view_layer.update()
    found = subject.case.gather()
    assert all((mesh.kept | mesh.carried).all() for mesh in found.meshes)
    one, other = before.skeleton.bind, found.skeleton.bind
    ways = [
        skin(new.weights, other.positions, other.rotations)[: old.num_vertices]
        - skin(old.weights, one.positions, one.rotations)
        for old, new in zip(before.meshes, found.meshes, strict=True)
    ]
    axis = np.array(subject.case.mesh().matrix_world.to_3x3())[:, 0]
    moved = np.abs(ways[0]).max(axis=1) > 1e-3
    assert 0 < moved.sum() <= 16
    assert ways[0][moved] == pytest.approx(np.tile(axis, (int(moved.sum()), 1)), abs=2e-3)
    assert all(np.abs(way).max() < 1e-3 for way in [ways[0][~moved], *ways[1:]])


def test_moved_there_and_back(subject):
    move_rig(subject.case, TURNED)
    subject.case.dump()
    move_rig(subject.case, Matrix.Identity(4))
    assert subject.case.changed() == set()


def test_small_weights_of_a_real_view_model():
    if not CORPUS.is_dir():
        pytest.skip("the corpus of real files is not here")
    data = next(f.data for f in corpus(".md5mesh") if f.path.stem == "tyrant_view")
    case = open_rig(data)
    for matrix in (TURNED, Matrix.Scale(2.0, 4)):
        move_rig(case, matrix)
        assert weights_of(MESH.load(case.dump(), "x")) == weights_of(MESH.load(data, "x"))


def test_weights_that_vertices_share_stay_shared():
    case = open_rig(samples_md5.odd_weights())
    for matrix in (TURNED, Matrix.Scale(2.0, 4)):
        move_rig(case, matrix)
        before, after = case.before().parts[0], case.after().parts[0]
        for name in ("starts", "counts", "joints", "biases"):
            np.testing.assert_array_equal(getattr(after, name), getattr(before, name))


def test_a_figure_of_odd_weights():
    case = open_figure(samples_mdm.odd_weights(), MOTIONS)
    move_rig(case, TURNED)
    before, after = (MDM.load(d, "x", {"mdx": MOTIONS["walk"]}) for d in (case.data, case.dump()))
    assert weights_of(after) == weights_of(before)


# -- what is said where vertices are off


def off_said(text: str, words: str) -> tuple[float, str]:
    """Return the units in the one sentence with some words, and where that is."""
    (line,) = {line for line in text.splitlines() if words in line}
    number, where = re.findall(r"up to ([\d.e+-]+) units off (in .+?);", line)[0]
    return float(number), where


def test_vertices_that_lose_weights_are_looked_at_in_actions_that_do_not_play(caplog):
    row = by_name("md5anim")
    calm = row.dump(row.load(samples_md5.wave(), "calm").of_frames(np.zeros(2, np.int64)))
    case = open_rig(samples_md5.arm(), {"calm": calm, "wave": samples_md5.wave()})
    weigh(case, range(12))
    found = {}
    for playing in ("calm", "wave"):
        case.play(playing)
        caplog.clear()
        case.gather(most_weights=1)
        found[playing] = off_said(caplog.text, "lose weights")
    assert found["calm"] == found["wave"]
    assert found["calm"][1] == "in 'wave'"


def farthest_off(case: Rigged, model: SkeletalModel, animation: Animation) -> float:
    """Return how far the game shows vertices of a model from where Blender shows them, in all frames."""
    worst = 0.0
    for frame in range(animation.num_frames):
        CONTEXT.scene.frame_set(frame)
        shown = [in_world(block) for block in blocks(case, "MESH")]
        worst = max(worst, apart(np.concatenate(shown), in_game(model, animation, frame)))
    return worst


def weigh(case: Rigged, points: Any) -> None:
    """Give points a weight on every bone."""
    groups = case.mesh().vertex_groups
    for bone in case.rig.data.bones:
        (groups.get(bone.name) or groups.new(name=bone.name)).add(points, 0.3, "REPLACE")


def test_how_far_vertices_are_off_that_lose_weights(caplog):
    case = open_rig(samples_md5.arm(), {"wave": samples_md5.wave()})
    case.play("wave")
    weigh(case, range(12))
    caplog.clear()
    model = case.gather(most_weights=1)
    off, where = off_said(caplog.text, "lose weights, more than 1")
    assert where == "in 'wave'"
    assert "raise Most Weights to keep" in caplog.text
    assert off == pytest.approx(farthest_off(case, model, case.gather_motion("wave")), rel=0.02)
    assert off > 0.5
    case.rig.animation_data.action = None
    case.rig.pose.bones[-1].rotation_quaternion = (0.7, 0.7, 0, 0)
    CONTEXT.view_layer.update()
    caplog.clear()
    case.gather(most_weights=1)
    assert off_said(caplog.text, "lose weights")[1] == "in the pose shown"
    caplog.clear()
    case.gather(most_weights=0, least_weight=0.0)
    assert "weights" not in caplog.text


def test_one_vertex_that_loses_weights(caplog):
    case = open_rig(samples_md5.arm())
    weigh(case, [3])
    case.gather(most_weights=1)
    assert f"'{case.mesh().name}': 1 vertex loses weights" in caplog.text


def test_how_far_an_uneven_scale_bends_meshes(caplog):
    case = open_rig(samples_md5.arm(), {"wave": samples_md5.wave()})
    case.play("wave")
    move_rig(case, TURNED @ Matrix.Diagonal((1, 1, 3, 1)))
    caplog.clear()
    model = case.gather()
    off, where = off_said(caplog.text, "scaled unevenly")
    assert where == "in 'wave'"
    assert off == pytest.approx(farthest_off(case, model, case.gather_motion("wave")), rel=0.05)
    assert off > 0.5


@pytest.mark.parametrize("size", [2.0, -1.0])
def test_levels_of_detail_stay(size, caplog):
    case = trooper()
    move_rig(case, Matrix.Diagonal((size, abs(size), abs(size), 1)))
    caplog.clear()
    for before, after in zip(case.before().surfaces, case.after().surfaces, strict=True):
        np.testing.assert_array_equal(after.collapse, before.collapse)
        assert after.header["min_lod"] == before.header["min_lod"]
    assert not caplog.text


def test_a_figure_that_is_written_as_md5_keeps_its_weights():
    """An untouched vertex has the weights of its file, whatever format it goes to."""
    case = open_figure(bind=0)
    source = MDM.load(case.data, "x", {"mdx": MOTIONS["walk"]})
    for matrix in (Matrix.Identity(4), TURNED):
        move_rig(case, matrix)
        model = MESH.load(MESH.dump(case.gather()), "x")
        for mesh, wanted in zip(model.meshes, source.meshes, strict=True):
            assert mesh.weights.counts.tolist() == wanted.weights.counts.tolist()
