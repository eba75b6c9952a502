"""What holds for every format in Blender: a file that is imported and exported by its operators comes back."""

import re
from typing import Any

import pytest

from io_idtech_models.formats import ROWS, VERTEX, identify
from io_idtech_models.reporting import FormatError
from tests.facts import differences
from tests.samples import CORPUS, format_of, sample_params
from tests.ui.scene import bpy

pytestmark = pytest.mark.usefixtures("empty_scene")


def operator(way: str, row: Any) -> Any:
    space = "scene" if row.has_model else "anim"
    return getattr(getattr(bpy.ops, f"{way}_{space}"), f"idtech_{row.name}")


@pytest.mark.parametrize("data", sample_params(family=None))
def test_a_file_comes_back(tmp_path, data):
    row = format_of(data)
    source, target = (tmp_path / f"{name}{row.suffixes[0]}" for name in ("a", "b"))
    source.write_bytes(data)
    assert operator("import", row)(filepath=str(source)) == {"FINISHED"}
    assert operator("export", row)(filepath=str(target)) == {"FINISHED"}
    assert differences(data, target.read_bytes()) == set()
    assert row.is_text or target.read_bytes() == data


BY_SUFFIX = {suffix: row for row in ROWS for suffix in row.suffixes}
REAL = [path for path in sorted(CORPUS.rglob("*")) if path.suffix.lower() in BY_SUFFIX]


@pytest.mark.everywhere
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.relative_to(CORPUS).as_posix())
def test_a_real_file_comes_back_or_is_refused(tmp_path, path):
    bring, data = operator("import", BY_SUFFIX[path.suffix.lower()]), path.read_bytes()
    try:
        row = identify(data, path)  # what is called .mdl or .mdc can be an MD3
        row.read(data)
    except FormatError as error:
        with pytest.raises(RuntimeError, match=re.escape(f"{path.name}: {error}")):
            bring(filepath=str(path))
        return
    assert bring(filepath=str(path)) == {"FINISHED"}
    target = tmp_path / f"a{row.suffixes[0]}"
    assert operator("export", row)(filepath=str(target)) == {"FINISHED"}
    written = target.read_bytes()
    assert written == data or (row.family is not VERTEX and row.is_text and differences(data, written) == set())
