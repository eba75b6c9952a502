"""What holds for every format in Blender: a file that is imported and exported by its operators comes back."""

import re
from pathlib import Path
from typing import Any

import pytest

from io_idtech_models.formats import ROWS, VERTEX, identify
from io_idtech_models.reporting import FormatError
from tests.facts import differences
from tests.samples import CORPUS, format_of, sample_params
from tests.ui.scene import bpy, reopen

pytestmark = pytest.mark.usefixtures("empty_scene")


def operator(way: str, row: Any) -> Any:
    space = "scene" if row.has_model else "anim"
    return getattr(getattr(bpy.ops, f"{way}_{space}"), f"idtech_{row.name}")


def nothing(folder: Path) -> None:
    pass


def enter_edit_mode(folder: Path) -> None:
    """Enter edit mode of each mesh and armature, and leave it."""
    view = bpy.context.view_layer
    active = view.objects.active
    for block in [block for block in view.objects if block.type in ("MESH", "ARMATURE")]:
        view.objects.active = block
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.object.mode_set(mode="OBJECT")
    view.objects.active = active


# What is done to an import, its options, and those of the export.
WAYS: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {
    "as it is": (nothing, {}, {}),
    "reopened": (reopen, {}, {}),
    "edit mode": (enter_edit_mode, {}, {}),
    "small": (nothing, {"scale": 0.0254}, {"scale": 0.0254}),
    "large": (enter_edit_mode, {"scale": 40.0}, {"scale": 40.0}),
    "apart": (reopen, {"weld": False}, {}),
    "relative": (nothing, {"relative_keys": True}, {}),
}


CASES = [
    pytest.param(*sample.values, way, id=f"{sample.id}-{way}")
    for sample in sample_params(family=None)
    for way in WAYS
    if way != "large" or not str(sample.id).endswith("numbers")  # which are as large as numbers can be
]


@pytest.mark.parametrize(("data", "way"), CASES)
def test_a_file_comes_back(tmp_path, data, way):
    row, (do, options, export) = format_of(data), WAYS[way]
    source, target = (tmp_path / f"{name}{row.suffixes[0]}" for name in ("a", "b"))
    source.write_bytes(data)
    if not options.keys() <= set(operator("import", row).get_rna_type().properties.keys()):
        return  # it has no such option
    assert operator("import", row)(filepath=str(source), **options) == {"FINISHED"}
    do(tmp_path)
    assert operator("export", row)(filepath=str(target), **export) == {"FINISHED"}
    assert differences(data, target.read_bytes()) == set()
    assert row.is_text or target.read_bytes() == data


BY_SUFFIX = {suffix: row for row in ROWS for suffix in row.suffixes}
REAL = [path for path in sorted(CORPUS.rglob("*")) if path.suffix.lower() in BY_SUFFIX]


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
