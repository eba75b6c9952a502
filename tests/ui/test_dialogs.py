"""Dialogs show the options that do something to a format's models, and no others."""

from typing import Any

import pytest

from io_idtech_models.formats import VERTEX, rows_of
from tests.ui.panel.drawing import asked
from tests.ui.scene import bpy

ROWS = rows_of(VERTEX)


def shown(way: str, row: Any) -> set[str]:
    """Return the options that a format's dialog shows."""
    return asked(getattr(bpy.types, f"{way.upper()}_SCENE_OT_idtech_{row.name}"))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_an_import_asks_what_concerns_the_format(row):
    options = shown("import", row)
    assert {"scale", "side_by_side"} <= options
    assert ("frame_rate" in options) == ("fit_range" in options) == (row.name not in {"ase", "lwo"})
    assert ("skin" in options) == ("plain_materials" in options) == (row.name != "tag")
    assert ("weld" in options) == (row.name not in {"tag", "md2", "mdl"})
    assert ("relative_keys" in options) == (row.name not in {"tag", "ase", "lwo"})


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_tags_alone_have_no_normals(row):
    assert ("normals" in shown("export", row)) == (row.name != "tag")
