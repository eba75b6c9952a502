"""Switching the extension on and off, and what it adds to Blender."""

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from io_idtech_models.blender.vertex.build import BuildSettings
from io_idtech_models.blender.vertex.frame_plan import GatherSettings
from io_idtech_models.formats import ROWS, SKELETAL, VERTEX, rows_of
from io_idtech_models.model.limits.games import GAMES
from io_idtech_models.ui import frames, preferences, registration
from io_idtech_models.ui.operators import operators_of
from tests.samples import PROJECT, sample
from tests.ui.scene import bpy

pytestmark = pytest.mark.usefixtures("empty_scene")


def menu_functions() -> int:
    names = (
        "TOPBAR_MT_file_import", "TOPBAR_MT_file_export", "MESH_MT_shape_key_context_menu", "MATERIAL_MT_context_menu",
    )  # fmt: skip
    menus = [getattr(bpy.types, name) for name in names]
    drawn = [function for menu in menus for function in getattr(menu.draw, "_draw_funcs", ())]
    return sum(function.__module__.startswith("io_idtech_models") for function in drawn)


def registered(kind: str, name: str) -> bool:
    return hasattr(bpy.types, f"{kind}_OT_{name}")


every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)


@every_row
def test_a_format_has_operators_and_a_handler(row):
    space = "scene" if row.has_model else "anim"
    assert registered(f"IMPORT_{space.upper()}", f"idtech_{row.name}")
    assert registered(f"EXPORT_{space.upper()}", f"idtech_{row.name}")
    handler = bpy.types.FileHandler.bl_rna_get_subclass_py(f"IO_FH_idtech_{row.name}")
    if any(row in model.skeletal.dropped_with for model in rows_of(SKELETAL)):
        assert handler is None, "dropped together with a model: the model's handler takes both"
        return
    others = [suffix for other in row.skeletal.dropped_with for suffix in other.suffixes]
    assert handler.bl_file_extensions == ";".join([*row.suffixes, *others])
    assert handler.bl_import_operator == f"import_{space}.idtech_{row.name}"
    assert handler.bl_export_operator == (f"export_scene.idtech_{row.name}" if row.has_model else "")
    assert handler.poll_drop(bpy.context)


def test_off_and_on_again_twice(extension):
    assert menu_functions() == 4
    for _ in range(2):
        extension.unregister()
        assert menu_functions() == 0
        assert not registered("IMPORT_SCENE", "idtech_md3")
        assert not registered("OBJECT", "idtech_insert_frame")
        assert not registered("IMPORT_SCENE", "idtech_archive")
        assert not bpy.types.FileHandler.bl_rna_get_subclass_py("IO_FH_idtech_md3")
        assert not bpy.types.FileHandler.bl_rna_get_subclass_py("IO_FH_idtech_archive")
        assert not bpy.types.AddonPreferences.bl_rna_get_subclass_py("IdtechPreferences")
        assert not registration._classes
        assert not registration._commands
        extension.register()
        assert menu_functions() == 4
        assert bpy.types.AddonPreferences.bl_rna_get_subclass_py("IdtechPreferences")
        assert registered("EXPORT_SCENE", "idtech_md3")


def test_a_process_with_the_extension_ends_well():
    code = "import bpy, io_idtech_models as e; e.register(); e.unregister(); e.register(); e.unregister(); print('end')"
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()[-1:]) == (0, ["end"]), done.stderr


def test_the_command_runs_the_command_line(tmp_path, capsys):
    assert registration._run_command(["check", str(tmp_path / "none.md3")]) == 1
    assert "can't read the file" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("kind", "settings", "left_out"),
    [("import", BuildSettings, set()), ("export", GatherSettings, {"direct", "holds"})],
)
@pytest.mark.parametrize("row", rows_of(VERTEX), ids=lambda row: row.name)
def test_options_and_settings_are_in_step(kind, settings, left_out, row):
    operator = getattr(bpy.ops, f"{kind}_scene")
    properties = getattr(operator, f"idtech_{row.name}").get_rna_type().properties
    wanted = {name: value.default for name, value in settings.__dataclass_fields__.items() if name not in left_out}
    if kind == "import":
        wanted["frame_rate"] = row.vertex.frame_rate
        assert ("weld" in properties.keys()) is row.vertex.uv_splits_vertices  # noqa: SIM118 - Blender's collection has no `in`
        if not row.vertex.uv_splits_vertices:
            del wanted["weld"]
    shown = {name: properties[name].default for name in wanted}
    assert shown == pytest.approx(wanted)
    assert all(properties[name].description for name in wanted)


@every_row
def test_the_games_of_the_options_are_those_of_the_table(row):
    space = bpy.ops.export_scene if row.has_model else bpy.ops.export_anim
    game = getattr(space, f"idtech_{row.name}").get_rna_type().properties["game"]
    labels = {name: GAMES[name].choice or GAMES[name].label for name in row.games}
    assert {item.identifier: item.name for item in game.enum_items} == labels
    assert [item.identifier for item in game.enum_items] == list(row.games)
    assert game.default == "format"


@pytest.mark.parametrize("row", rows_of(VERTEX), ids=lambda row: row.name)
def test_a_formats_own_options_are_those_of_the_table(row):
    properties = getattr(bpy.ops.export_scene, f"idtech_{row.name}").get_rna_type().properties
    for option in row.options:
        shown = properties[option.name]
        assert (shown.name, shown.description, shown.default) == (option.label, option.description, option.default)
        assert isinstance(option.default, bool) or (shown.hard_min, shown.hard_max) == (0, option.most)
    others = {option.name for other in rows_of(VERTEX) if other is not row for option in other.options}
    assert not (others - {option.name for option in row.options}) & set(properties.keys())


def test_texts_are_short_and_plain():
    spaces = [(way, "scene" if row.has_model else "anim", row) for row in ROWS for way in ("import", "export")]
    found = [getattr(getattr(bpy.ops, f"{way}_{space}"), f"idtech_{row.name}") for way, space, row in spaces]
    found += [getattr(bpy.ops.object, cls.bl_idname.partition(".")[2]) for cls in frames.CLASSES]
    found += [getattr(bpy.ops.import_scene, f"idtech_{name}") for name in ("archive", "game", "choose_models")]
    found += [getattr(bpy.ops.preferences, f"idtech_game_{name}") for name in ("add", "remove", "move")]
    found += [bpy.ops.idtech.try_in_game, bpy.ops.idtech.watch_game, bpy.ops.object.idtech_show_skin]
    kinds = [operator.get_rna_type() for operator in found]
    assert all(rna.description for rna in kinds)
    for rna in (*kinds, preferences.IDTECH_PG_game.bl_rna):
        assert rna.name
        for prop in (rna, *(p for p in rna.properties if not getattr(p, "is_hidden", False))):
            assert len(prop.name) <= 30
            assert len(prop.description) <= 110, prop.description
            assert not prop.description.endswith("."), prop.description
            assert prop.name == "RNA" or prop.name[:1].isupper()


def test_files_dropped_where_models_show():
    class Area:
        type = "VIEW_3D"
        spaces = SimpleNamespace(active=SimpleNamespace(display_mode="VIEW_LAYER"))

    class Context:
        area = Area()

    handler = bpy.types.FileHandler.bl_rna_get_subclass_py("IO_FH_idtech_md3")
    assert handler.poll_drop(bpy.context), "a script has no area"
    assert handler.poll_drop(Context)
    Area.type = "OUTLINER"
    assert handler.poll_drop(Context)
    Area.spaces.active.display_mode = "LIBRARIES"
    assert not handler.poll_drop(Context)
    Area.type = "TEXT_EDITOR"
    assert not handler.poll_drop(Context)


def test_operators_keep_presets_and_undo():
    made: Any = operators_of(rows_of(VERTEX)[0])[:2]
    assert [cls.bl_options for cls in made] == [{"REGISTER", "UNDO", "PRESET"}, {"REGISTER", "PRESET"}]
    for name in ("directory", "files", "filter_glob"):
        assert bpy.ops.import_scene.idtech_md3.get_rna_type().properties[name].is_hidden


# What a next model may be asked for in the same words: skins and rows have the same names, and shares are no names.
SAID_AGAIN = {"percentages", "levels", "skin", "legs", "torso", "actions", "orphan_bone"}
PLAIN = {"filepath", "directory", "filter_glob", "rna_type"}


def test_no_operator_remembers_the_names_of_another_model():
    """Blender fills in what was typed last, also where a button in the sidebar asks for nothing.

    What presets are to keep is forgotten as the dialog begins.
    """
    found = []
    for space in ("object", "wm", "import_scene", "export_scene", "import_anim", "export_anim"):
        for name in dir(getattr(bpy.ops, space)):
            kind = getattr(getattr(bpy.ops, space), name).get_rna_type()
            own = [each for each in kind.properties if each.type == "STRING" and each.identifier not in PLAIN]
            named = [each.identifier for each in own if not each.is_skip_save] if name.startswith("idtech_") else []
            kept = getattr(getattr(bpy.types, f"{space.upper()}_OT_{name}", None), "of_one", ())
            named = [each for each in named if each not in kept]
            found += [f"{space}.{name}.{each}" for each in named if each not in SAID_AGAIN]
    assert found == []
    made = bpy.ops.object.idtech_make_rig.get_rna_type().properties
    assert made["bones"].is_skip_save and made["rest"].is_skip_save, "how many a model has, and in which frame"


@pytest.mark.parametrize("room", ["import_scene", "import_anim", "export_scene", "export_anim", "object"])
def test_presets_that_someone_saves_name_no_file(room):
    """In the panel of the last operator, where a preset can be chosen, they would import that file in its place."""
    from bl_operators.presets import AddPresetOperator

    kinds = (f"{room.upper()}_OT_{name}" for name in dir(getattr(bpy.ops, room)) if name.startswith("idtech_"))
    keeping = [kind for kind in kinds if "PRESET" in getattr(bpy.types, kind).bl_options]
    assert keeping
    for kind in keeping:
        kept = AddPresetOperator.preset_values.fget(SimpleNamespace(operator=kind))
        assert kept and not {"op.filepath", "op.directory", "op.files"} & set(kept), kind
        assert "op.game" in kept or "game" not in getattr(bpy.types, kind).bl_rna.properties, kind


def test_an_import_loads_nothing_that_exports_need(tmp_path):
    data = sample("animated", "md3")
    (tmp_path / "model.md3").write_bytes(data)
    code = (
        "import sys, bpy; before = set(sys.modules); import io_idtech_models as e; e.register(); "
        f"bpy.ops.import_scene.idtech_md3(filepath={str(tmp_path / 'model.md3')!r}); "
        "print('loaded', *sys.modules.keys() - before); e.unregister()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    line = next(line for line in done.stdout.splitlines() if line.startswith("loaded "))
    loaded = {name.removeprefix("io_idtech_models.") for name in line.split()}
    assert "blender.vertex.build" in loaded
    exports = {
        *(f"blender.vertex.{name}" for name in ("gather", "gather_surfaces", "sampling", "frame_plan", "shown_keys")),
        "model.edits.corners",
        "tempfile",
    }
    others = {"assets.scale_files", "game.pictures.pcx", "game.shaders.script", "tasks.export.selection"}
    assert not loaded & (exports | others)
