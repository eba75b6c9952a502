"""The panel of a whole player: he is what it is about, his parts stand a level below."""

from typing import Any

import pytest

from io_idtech_models.tasks.export.subject import subject_of
from io_idtech_models.ui import rigging, skins
from io_idtech_models.ui.check import found
from io_idtech_models.ui.check import panel as findings
from io_idtech_models.ui.panel import header, main, model, surfaces, tags
from tests.samples import PROJECT, put
from tests.ui.panel.drawing import drawn, shows, texts
from tests.ui.player.players import brought, game, tag_of
from tests.ui.scene import activate, add_cube, add_object, bpy, error_of, import_model

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
TOCK = PROJECT / "examples/tock/baseq3/models/players/tock"
LEVELS = [
    (model.VIEW3D_PT_idtech_model, model.VIEW3D_PT_idtech_part_model),
    (skins.VIEW3D_PT_idtech_skins, skins.VIEW3D_PT_idtech_part_skins),
    (tags.VIEW3D_PT_idtech_tags, tags.VIEW3D_PT_idtech_part_tags),
    (surfaces.VIEW3D_PT_idtech_surfaces, surfaces.VIEW3D_PT_idtech_part_surfaces),
]


def part_named(kind: str) -> Any:
    """Return the root of a part of the active player."""
    subject: Any = subject_of(bpy.context)
    return subject.player.parts[kind]


def beside(*labels: str) -> list[str]:
    """Return what the panel shows behind some of its words."""
    shown = texts(main.VIEW3D_PT_idtech)
    return [shown[shown.index(label) + 1] for label in labels]


def test_the_player_heads_the_panel():
    brought(TOCK)
    activate(part_named("upper"))
    bpy.ops.object.idtech_play(legs="LEGS_RUN", torso="TORSO_ATTACK")
    assert texts(main.VIEW3D_PT_idtech)[0] == "tock"
    assert beside("Game", "Skin") == ["Quake III Arena", "default"]
    assert beside("Legs", "Torso") == ["LEGS_RUN", "TORSO_ATTACK"]
    assert ("operator", "object.idtech_play") in drawn(main.VIEW3D_PT_idtech)
    bpy.ops.object.idtech_play(legs="ALL", torso="ALL")
    assert beside("Legs") == ["All Frames"]


def test_parts_are_a_level_below(tmp_path):
    brought(TOCK)
    assert texts(main.VIEW3D_PT_idtech_part) == ["lower", "upper", "head"]
    for above, below in LEVELS:
        assert shows(below)
        assert not shows(above)
        assert below.bl_parent_id == main.PART_PANEL
    assert not shows(header.VIEW3D_PT_idtech_part_header), "an MD3 has no such numbers"
    import_model(put(tmp_path / "a.md3"))
    assert not shows(main.VIEW3D_PT_idtech_part)
    for above, below in LEVELS:
        assert shows(above)
        assert not shows(below)


def test_a_part_has_its_own_numbers_and_the_players_game():
    player = brought(TOCK)
    for kind in ("lower", "upper", "head"):
        activate(part_named(kind))
        shown = texts(model.VIEW3D_PT_idtech_part_model)
        assert f"tock/{kind}.md3" in shown
        assert "Game" not in shown
        assert any(text.endswith("/ 999") for text in shown), "vertices that Quake III takes"
        assert ("operator", "object.idtech_make_rig") in drawn(rigging.VIEW3D_PT_idtech_rig)
        assert shows(rigging.VIEW3D_PT_idtech_rig), "its frames lie in meshes that hang on what is active"
    assert bpy.ops.object.idtech_choose_game(game="ioquake3") == {"FINISHED"}
    assert "ioquake3" in player.collection["idtech_export"]
    activate(part_named("lower"))
    assert beside("Game") == ["ioquake3"]


def test_two_players_are_told_apart(tmp_path):
    first, second = brought(TOCK), brought(game(tmp_path))
    for player in (first, second, first):
        activate(player.root)
        subject: Any = subject_of(bpy.context)
        assert subject.player.home == player.collection
        assert list(subject.player.parts.values()) == [player.parts[k] for k in ("lower", "upper", "head")]
    first.collection.name = "other"
    assert texts(main.VIEW3D_PT_idtech)[0] == "other"


def test_what_hangs_on_a_tag_is_a_model_of_its_own(tmp_path):
    brought(TOCK)
    tag = tag_of(part_named("upper"), "tag_head")
    path = put(tmp_path / "hat.mdc")
    hat = import_model(path)
    for block in hat.objects:
        if block.parent is None:
            block.parent = tag
    activate(next(block for block in hat.objects if block.type == "MESH"))
    subject: Any = subject_of(bpy.context)
    assert subject.player is None
    assert texts(main.VIEW3D_PT_idtech)[0] == "hat"
    assert not shows(main.VIEW3D_PT_idtech_part)
    before = path.read_bytes()
    path.write_bytes(b"")
    assert bpy.ops.object.idtech_export_again() == {"FINISHED"}
    assert path.read_bytes() == before


def test_a_check_is_of_all_parts():
    brought(TOCK)
    head = next(block for block in part_named("head").children_recursive if block.type == "MESH")
    head.modifiers.new("", "SUBSURF").levels = 5
    activate(part_named("lower"))
    bpy.ops.object.idtech_check_game(target="md3:quake3")
    entries = found.checked(bpy.context).findings
    assert any(entry.text.startswith("head: ") and entry.severe for entry in entries)
    activate(part_named("upper"))
    assert shows(findings.VIEW3D_PT_idtech_findings), "of the whole player"


def test_a_check_is_of_levels_of_detail_too(capfd):
    """A level without a mesh hinders every export, which says what to do."""
    brought(TOCK)
    level = next(c for c in bpy.data.collections if c.name.startswith("head_1"))
    for block in list(level.objects):
        level.objects.unlink(block)
    activate(part_named("lower"))
    assert bpy.ops.object.idtech_check_game(target="md3:quake3") == {"FINISHED"}
    (entry,) = [each for each in found.checked(bpy.context).findings if each.severe]
    said = "nothing to export: no visible mesh and no tag among the objects"
    assert entry.text == f"head_1: {said}"
    way = f"head_1.md3: {said} (make levels of detail anew, or delete the collection '{level.name}')"
    assert way in error_of(bpy.ops.object.idtech_export_again)
    bpy.data.collections.remove(level)
    capfd.readouterr()
    assert bpy.ops.object.idtech_check_game(target="md3:quake3") == {"FINISHED"}
    assert "it will be taken" in capfd.readouterr().out


def test_a_check_of_a_model_is_of_its_levels(tmp_path):
    import_model(put(tmp_path / "a.md3"))
    assert bpy.ops.object.idtech_make_levels() == {"FINISHED"}
    level = next(c for c in bpy.data.collections if c.name.startswith("a_1"))
    for block in list(level.objects):
        level.objects.unlink(block)
    assert bpy.ops.object.idtech_check_game(target="md3:quake3") == {"FINISHED"}
    assert [each.text.partition(":")[0] for each in found.checked(bpy.context).findings if each.severe] == ["a_1"]


def test_without_a_model_it_offers_an_import():
    assert bpy.context.view_layer.objects.active is None
    shown = drawn(main.VIEW3D_PT_idtech)
    assert [kind for kind, _ in shown] == ["label", "menu"]
    assert not hasattr(main.VIEW3D_PT_idtech, "poll") or shows(main.VIEW3D_PT_idtech)
    children = [findings.VIEW3D_PT_idtech_findings, *[above for above, _ in LEVELS]]
    assert not any(map(shows, children))
    activate(add_object("camera", bpy.data.cameras.new("camera")))
    assert drawn(main.VIEW3D_PT_idtech) == shown
    assert not any(map(shows, children))
    activate(add_cube())
    assert ("operator", "object.idtech_export_again") in drawn(main.VIEW3D_PT_idtech)


def test_skins_are_for_formats_that_have_some(tmp_path):
    import_model(put(tmp_path / "a.md3"))
    assert texts(skins.VIEW3D_PT_idtech_skins) == ["Skin", "No Skin", "Write Skin..."], "no shader's path"
    import_model(put(tmp_path / "a.md2"))
    shown = texts(skins.VIEW3D_PT_idtech_skins)
    assert shown[0] == "Skin"
    assert shown[1] != "No Skin", "the slot that it shows"
    assert "Write Skin..." not in shown, "Quake II knows no skin files"
    import_model(put(tmp_path / "a.tag", "vehicle"))
    assert not shows(skins.VIEW3D_PT_idtech_skins)


@pytest.mark.parametrize(
    ("file", "offered"),
    [("trooper/characters/toys/allied/trooper.char", True), ("newt/def/newt.def", False)],
)
def test_legs_and_torso_are_offered_of_characters_whose_game_mixes_them(file, offered):
    bpy.ops.import_scene.idtech_character(filepath=str(PROJECT / "examples" / file))
    activate(next(block for block in bpy.data.objects if block.type == "ARMATURE"))
    assert ("object.idtech_preview_torso" in texts(main.VIEW3D_PT_idtech)) == offered
