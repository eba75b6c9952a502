"""Files that hold more than Blender can bear are refused, and leave nothing behind."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

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


def vertex_model(names: Sequence[str], surfaces: Sequence[Surface], tags: Sequence[Tag] = ()) -> VertexModel:
    return VertexModel("many", list(names), list(surfaces), list(tags))


def bones(count: int, reach: float = 0.0) -> SkeletalModel:
    """Return a model of a chain of joints alone, whose first is so far away."""
    upright, places = np.tile(np.array((1.0, 0, 0, 0)), (count, 1)), np.zeros((count, 3))
    places[0, 1] = reach
    names, parents = [f"j{i}" for i in range(count)], np.arange(-1, count - 1, dtype=np.int32)
    return SkeletalModel("many", Skeleton(names, parents, places, upright), [])


def far_animation(scale: float) -> Animation:
    """Return two joints that go far from the second frame on."""
    places = np.zeros((2, 2, 3))
    places[1, 1, 0] = scale
    turns = np.tile(np.array((1.0, 0, 0, 0)), (2, 2, 1))
    return Animation("far", ["a", "b"], np.array([-1, 0], np.int32), places, turns, 24.0, np.zeros((2, 2, 3)))


def put(path: Path, model: Any) -> Path:
    path.write_bytes(by_name(path.suffix[1:]).dump(model))
    return path


def run(path: Path) -> Any:
    """Return the operator that imports a file."""
    space = bpy.ops.import_anim if path.suffix in {".md5anim", ".mdx"} else bpy.ops.import_scene
    return getattr(space, f"idtech_{path.suffix[1:]}")


def refused(path: Path) -> str:
    """Import a file, which fails and leaves nothing; returns what is said."""
    before = counts()
    said = error_of(run(path), filepath=str(path))
    assert counts() == before
    return said


# What has 4 of them where 3 are borne, but for vertices: 12 where 11 are.
MANY: dict[str, tuple[str, Any]] = {
    "surfaces": ("a.md3", vertex_model([""], [surface(f"s{i}") for i in range(4)])),
    "materials": ("a.md3", vertex_model([""], [surface(f"s{i}", shader=f"shader{i}") for i in range(4)])),
    "tags": ("a.md3", vertex_model([""], [], [tag(f"tag_{i}") for i in range(4)])),
    "frames": ("a.md3", vertex_model([""] * 4, [surface("s", 4)])),
    bearable.VERTICES: ("a.md3", vertex_model([""] * 4, [surface("s", 4)])),
    "joints": ("a.md5mesh", bones(4)),
    bearable.JOINTS: ("a.md5anim", far_animation(1.0)),
    f"{bearable.JOINTS}, MDX": ("a.mdx", far_animation(1.0)),
}


@pytest.mark.parametrize("kind", MANY)
def test_a_file_with_too_many(tmp_path, monkeypatch, kind):
    (name, model), kind = MANY[kind], kind.removesuffix(", MDX")
    most = 11 if kind == bearable.VERTICES else 3
    monkeypatch.setitem(bearable.MOST, kind, most)
    wanted = f"has {most + 1} {kind}, Blender becomes unusable with more than {most}"
    assert wanted in refused(put(tmp_path / name, model))


@pytest.mark.parametrize("suffix", [".md5anim", ".mdx"])
@pytest.mark.parametrize("onto", [False, True])
def test_an_animation_beyond_reach(tmp_path, suffix, onto):
    near = put(tmp_path / f"near{suffix}", far_animation(bearable.REACH / 10))
    far = put(tmp_path / f"far{suffix}", far_animation(bearable.REACH * 10))
    if onto:
        assert run(near)(filepath=str(near)) == {"FINISHED"}
    assert "Blender's armatures work up to 1e+15" in refused(far)
    if not onto:
        assert run(near)(filepath=str(near)) == {"FINISHED"}


def test_a_model_beyond_reach(tmp_path):
    path = put(tmp_path / "far.md5mesh", bones(1, bearable.REACH * 10))
    assert "joints reach 1e+16 units" in refused(path)
    assert run(path)(filepath=str(path), scale=0.01) == {"FINISHED"}, "Blender's units count"


@pytest.mark.parametrize("kind", ["pictures", bearable.PIXELS])
def test_an_mdl_with_pictures(tmp_path, monkeypatch, kind):
    path = tmp_path / "many.mdl"
    path.write_bytes(SAMPLES["mdl"]["torch"])
    model = load(Disk().file(path), wanted=VERTEX).model
    pictures = [picture for skin in model.skins for picture in skin.pictures]
    count = len(pictures) if kind == "pictures" else sum(picture.size for picture in pictures)
    monkeypatch.setitem(bearable.MOST, kind, count - 1)
    assert f"the model has {count} {kind}" in refused(path)
    monkeypatch.setitem(bearable.MOST, kind, count)
    assert run(path)(filepath=str(path)) == {"FINISHED"}
