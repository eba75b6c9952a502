"""Models made at random, as files through Blender: what is imported and exported again is the same file.

`tests/formats/test_generated.py` asks more of them, without Blender. `IDTECH_GENERATED=500` tries that many of each.
"""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings

from io_idtech_models import formats
from io_idtech_models.reporting import LimitError
from tests.blender.test_hostile import attempt
from tests.strategies import animations, rest_pose, skeletal_models, vertex_models
from tests.ui.scene import bpy, counts, operator

same = settings(derandomize=True)
# What games refuse of a file is not written, even if the file is as it was.
REFUSED = "nothing to export|has no bone to export|vertices without weights, which games"
# Overflows of extreme numbers are no surprise here.
pytestmark = [pytest.mark.once, pytest.mark.filterwarnings("ignore::RuntimeWarning")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("generated")


def put(folder: Path, name: str, model: object) -> Path | None:
    """Write a model as a file of the format that the name says, None if that can't hold it."""
    path = folder / name
    try:
        path.write_bytes(formats.by_name(path.suffix[1:]).dump(model))
    except LimitError:
        return None
    return path


def there_and_back(path: Path, **options: str) -> None:
    """Import a file into an empty scene and export it again: the same bytes, or a sentence and nothing left."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    before = counts()
    if attempt(operator("import", path), filepath=str(path), **options):
        assert counts() == before
        return
    again = path.with_name(f"again{path.suffix}")
    said = attempt(operator("export", again), filepath=str(again))
    if said:
        assert re.search(REFUSED, said)
    else:
        assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", ["a.md3", "a.md2"])
def test_vertex_models(folder, name):
    @same
    @given(vertex_models())
    def check(model):
        path = put(folder, name, model)
        if path is not None:
            there_and_back(path)

    check()


@same
@given(skeletal_models())
def test_md5mesh(folder, model):
    path = put(folder, "a.md5mesh", model)
    assert path is not None
    there_and_back(path)


@same
@given(skeletal_models())
def test_mdm(folder, model):
    path, bones = put(folder, "a.mdm", model), put(folder, "a.mdx", rest_pose(model))
    if path is not None and bones is not None:
        there_and_back(path, animation=str(bones))


@pytest.mark.parametrize("name", ["a.md5anim", "a.mdx"])
def test_animations(folder, name):
    @same
    @given(animations())
    def check(animation):
        path = put(folder, name, animation)
        if path is not None:
            there_and_back(path)

    check()
