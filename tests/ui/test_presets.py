"""Presets that come with the extension: Blender lists them, and what they set is there to be set."""

import ast
from pathlib import Path
from typing import Any

import pytest

from io_idtech_models.model.limits.games import GAMES
from tests.samples import PROJECT
from tests.ui.scene import bpy

FOLDER = PROJECT / "io_idtech_models/presets/operator"
FILES = sorted(FOLDER.rglob("*.py"))


def options_of(path: Path) -> dict[str, Any]:
    """Return what a preset sets."""
    lines = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.Assign)]
    targets = [(node.targets[0], node.value) for node in lines]
    return {t.attr: ast.literal_eval(value) for t, value in targets if isinstance(t, ast.Attribute)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_what_a_preset_sets_is_there(path):
    space, _, name = path.parent.name.partition(".")
    operator = getattr(getattr(bpy.ops, space), name).get_rna_type()
    options = options_of(path)
    assert len(options) > 1, "a dropdown sets as much"
    for option, value in options.items():
        prop = operator.properties[option]
        assert not prop.is_hidden
        if prop.type == "ENUM":
            assert value in prop.enum_items
        else:
            assert type(value) is type(prop.default)
    assert "PRESET" in getattr(bpy.types, f"{space.upper()}_OT_{name}").bl_options


def test_blender_lists_them(extension):
    def listed() -> set[Path]:
        return {Path(file) for op in FOLDER.iterdir() for place in bpy.utils.preset_paths(f"operator/{op.name}")
                for file in Path(place).glob("*.py")}  # fmt: skip

    assert set(FILES) <= listed()
    extension.unregister()
    assert not set(FILES) & listed()
    extension.register()


def test_names_are_those_of_the_games():
    assert {options_of(path)["game"] for path in FILES} <= set(GAMES)
