"""What holds for every format in Blender: a file that is imported and exported by its operators comes back."""

from typing import Any

import pytest

from tests.facts import differences
from tests.samples import format_of, sample_params
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
