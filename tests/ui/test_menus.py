"""The menus: one entry of ours in each of Blender's, and all that is done with models below it."""

from types import SimpleNamespace
from typing import Any

import pytest

from io_idtech_models.formats.format import ENGINES
from io_idtech_models.ui import menus, registration
from tests.samples import put
from tests.ui.panel.drawing import drawn
from tests.ui.scene import bpy, import_model

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_the_object_menu_has_one_entry_of_ours():
    own = [draw for menu, draw in registration._menus() if menu == bpy.types.VIEW3D_MT_object]
    assert own == [menus.draw_object]
    assert bpy.types.VIEW3D_MT_object.draw._draw_funcs.count(menus.draw_object) == 1


def test_what_is_done_with_models_is_in_groups(tmp_path):
    import_model(put(tmp_path / "a.md3"))
    groups: list[list[str]] = [[]]
    for kind, name in drawn(menus.VIEW3D_MT_idtech):
        if kind == "separator":
            groups.append([])
        else:
            groups[-1].append(name.rpartition("idtech_")[2])
    assert groups == [
        ["export_again", "check_game", "idtech.try_in_game"],
        ["IDTECH_MT_skins", "write_skin"],
        ["play"],
        ["add_tag", "make_root", "make_levels"],
        ["make_rig", "hang_on_rig", "remove_rig"],
        ["Make Quake III Player", "Make Quake II Player"],
    ]


@pytest.mark.parametrize("way", ["import", "export"])
def test_models_first_and_what_is_none_below(way):
    above = getattr(menus, f"TOPBAR_MT_idtech_{way}")
    shown = [(kind, name) for kind, name in drawn(above) if kind != "separator"]
    apart = [name for kind, name in drawn(getattr(menus, f"TOPBAR_MT_idtech_{way}_apart")) if kind == "operator"]
    assert ("menu", f"TOPBAR_MT_idtech_{way}_apart") in shown
    assert len(shown) < 24, "it has room on small screens"
    assert {"Doom 3 Animation (.md5anim)", "Wolfenstein Tags (.tag)"} <= set(apart)
    every = {label for engine in ENGINES for _, label in menus.entries(way, engine)}
    assert every == set(apart) | ({name for kind, name in shown if kind == "operator"} & every)
    assert not set(apart) & {name for _, name in shown}


def test_what_can_not_be_done_says_why():
    silent = []
    every: list[Any] = registration._classes
    for cls in every:
        if issubclass(cls, bpy.types.Operator) and hasattr(cls, "poll"):
            said: list[str] = []
            asked = SimpleNamespace(poll_message_set=said.append)
            if not cls.poll.__func__(asked, bpy.context) and not all(said or [""]):
                silent.append(cls.bl_idname)
    assert not silent


def test_buttons_of_file_dialogs_have_room_for_their_words():
    every: list[Any] = registration._classes
    dialogs = [cls for cls in every if "filepath" in getattr(cls, "__annotations__", ()) or hasattr(cls, "row")]
    labels = {cls.bl_label for cls in dialogs if issubclass(cls, bpy.types.Operator)}
    assert len(labels) > 20
    assert not {label for label in labels if len(label) > 20}
