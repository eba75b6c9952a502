"""Files that hold more than Blender can bear are refused, and leave nothing behind."""

import numpy as np
import pytest

from io_idtech_models.assets.load import load
from io_idtech_models.blender import budgets as bearable
from io_idtech_models.formats import VERTEX, by_name
from io_idtech_models.game.folders import Disk
from io_idtech_models.model.skeletal import Animation, SkeletalModel, Skeleton
from io_idtech_models.model.vertex import Surface, Tag, VertexModel
from io_idtech_models.reporting import LimitError
from tests.small_files import SAMPLES
from tests.ui.scene import bpy, counts, error_of

pytestmark = pytest.mark.usefixtures("empty_scene")


def surface(name: str, frames: int = 1, shader: str = "s") -> Surface:
    points = np.zeros((frames, 3, 3), np.float32)
    points[:, 1, 0] = points[:, 2, 1] = 1
    normals = np.broadcast_to(np.array((0, 0, 1), np.float32), points.shape).copy()
    uvs = np.zeros((3, 2), np.float32)
    return Surface(name, points, np.array([[0, 1, 2]], np.int32), uvs, [shader], normals)


def tag(name: str) -> Tag:
    return Tag(name, np.zeros((1, 3), np.float32), np.eye(3, dtype=np.float32)[None])


@pytest.mark.parametrize("kind", bearable.MOST)
def test_the_most_and_one_more(kind):
    bearable.refuse_more(**{kind: bearable.MOST[kind]})
    with pytest.raises(LimitError, match=f"{bearable.MOST[kind] + 1} {kind}"):
        bearable.refuse_more(**{kind: bearable.MOST[kind] + 1})


@pytest.mark.parametrize("kind", ["surfaces", "tags", "materials", "frames"])
def test_an_md3(tmp_path, monkeypatch, kind):
    monkeypatch.setitem(bearable.MOST, kind, 3)
    surfaces = [surface(f"s{i}", shader=f"shader{i}") for i in range(4)] if kind in {"surfaces", "materials"} else []
    tags = [tag(f"tag_{i}") for i in range(4)] if kind == "tags" else []
    names = [""]
    if kind == "frames":
        surfaces, names = [surface("s", 4)], [""] * 4
    path = tmp_path / "many.md3"
    path.write_bytes(by_name("md3").dump(VertexModel("many", names, surfaces, tags)))
    before = counts()
    said = error_of(bpy.ops.import_scene.idtech_md3, filepath=str(path))
    assert f"the model has 4 {kind}, Blender becomes unusable with more than 3" in said
    assert counts() == before


def test_an_md3_with_too_many_vertices_in_all_frames(tmp_path, monkeypatch):
    monkeypatch.setitem(bearable.MOST, bearable.VERTICES, 11)
    path = tmp_path / "many.md3"
    path.write_bytes(by_name("md3").dump(VertexModel("many", [""] * 4, [surface("s", 4)], [])))
    before = counts()
    said = error_of(bpy.ops.import_scene.idtech_md3, filepath=str(path))
    assert "has 12 vertices in all frames, Blender becomes unusable with more than 11" in said
    assert counts() == before


@pytest.mark.parametrize("name", ["a.md5anim", "a.mdx"])
def test_an_animation_with_too_many_joints_in_all_frames(tmp_path, monkeypatch, name):
    monkeypatch.setitem(bearable.MOST, bearable.JOINTS, 3)
    path = tmp_path / name
    row = by_name(path.suffix[1:])
    path.write_bytes(row.dump(far_animation(1.0)))
    before = counts()
    said = error_of(getattr(bpy.ops.import_anim, f"idtech_{row.name}"), filepath=str(path))
    assert "has 4 joints in all frames, Blender becomes unusable with more than 3" in said
    assert counts() == before


def test_an_md5(tmp_path, monkeypatch):
    monkeypatch.setitem(bearable.MOST, "joints", 3)
    upright = np.tile(np.array((1.0, 0, 0, 0)), (4, 1))
    bones = Skeleton([f"j{i}" for i in range(4)], np.arange(-1, 3, dtype=np.int32), np.zeros((4, 3)), upright)
    path = tmp_path / "many.md5mesh"
    path.write_bytes(by_name("md5mesh").dump(SkeletalModel("many", bones, [])))
    before = counts()
    said = error_of(bpy.ops.import_scene.idtech_md5mesh, filepath=str(path))
    assert "the model has 4 joints, Blender becomes unusable with more than 3" in said
    assert counts() == before


FAR = bearable.REACH * 10


def far_animation(scale: float) -> Animation:
    """Return two joints that go far from the second frame on."""
    places = np.zeros((2, 2, 3))
    places[1, 1, 0] = scale
    turns = np.tile(np.array((1.0, 0, 0, 0)), (2, 2, 1))
    return Animation("far", ["a", "b"], np.array([-1, 0], np.int32), places, turns, 24.0, np.zeros((2, 2, 3)))


@pytest.mark.parametrize("name", ["far.md5anim", "far.mdx"])
@pytest.mark.parametrize("onto", [False, True])
def test_an_animation_beyond_reach(tmp_path, name, onto):
    row = by_name((tmp_path / name).suffix[1:])
    run = getattr(bpy.ops.import_anim, f"idtech_{row.name}")
    near = tmp_path / f"near{row.suffixes[0]}"
    near.write_bytes(row.dump(far_animation(bearable.REACH / 10)))
    (tmp_path / name).write_bytes(row.dump(far_animation(FAR)))
    if onto:
        assert run(filepath=str(near)) == {"FINISHED"}
    before = counts()
    said = error_of(run, filepath=str(tmp_path / name))
    assert "Blender's armatures work up to 1e+15" in said
    assert counts() == before
    if not onto:
        assert run(filepath=str(near)) == {"FINISHED"}


def test_a_model_beyond_reach(tmp_path):
    upright = np.array([(1.0, 0, 0, 0)])
    bones = Skeleton(["a"], np.array([-1], np.int32), np.array([(0.0, FAR, 0.0)]), upright)
    path = tmp_path / "far.md5mesh"
    path.write_bytes(by_name("md5mesh").dump(SkeletalModel("far", bones, [])))
    before = counts()
    assert "joints reach 1e+16 units" in error_of(bpy.ops.import_scene.idtech_md5mesh, filepath=str(path))
    assert counts() == before
    assert bpy.ops.import_scene.idtech_md5mesh(filepath=str(path), scale=0.01) == {"FINISHED"}, "Blender's units count"


@pytest.mark.parametrize("kind", ["pictures", bearable.PIXELS])
def test_an_mdl_with_pictures(tmp_path, monkeypatch, kind):
    path = tmp_path / "many.mdl"
    path.write_bytes(SAMPLES["mdl"]["torch"])
    model = load(Disk().file(path), wanted=VERTEX).model
    pictures = [picture for skin in model.skins for picture in skin.pictures]
    count = len(pictures) if kind == "pictures" else sum(picture.size for picture in pictures)
    monkeypatch.setitem(bearable.MOST, kind, count - 1)
    before = counts()
    assert f"the model has {count} {kind}" in error_of(bpy.ops.import_scene.idtech_mdl, filepath=str(path))
    assert counts() == before
    monkeypatch.setitem(bearable.MOST, kind, count)
    assert bpy.ops.import_scene.idtech_mdl(filepath=str(path)) == {"FINISHED"}
