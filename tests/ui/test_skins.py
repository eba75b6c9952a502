"""Show Skin: which slot a model wears, pictures of its folder as further skins, and what the file makes of both."""

import contextlib
import os
import shutil
import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from io_idtech_models.blender.shading import images
from io_idtech_models.blender.shading.materials import worn_by
from io_idtech_models.formats import by_name
from io_idtech_models.formats.md2 import file as md2
from io_idtech_models.model.vertex import Surface, VertexModel
from io_idtech_models.reporting import LimitError
from io_idtech_models.tasks.skins import show as show_skin
from io_idtech_models.ui import skins
from tests.blender.case import append
from tests.samples import PROJECT, put
from tests.samples_md3 import no_shaders
from tests.ui.panel.drawing import Layout
from tests.ui.player.players import brought, game
from tests.ui.scene import (
    activate,
    add_cube,
    add_tag,
    bpy,
    copy_of,
    error_of,
    export_bytes,
    export_md3,
    export_model,
    first,
    import_md3,
    import_model,
    png,
)

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]

show: Any = bpy.ops.object.idtech_show_skin
FOLDER = "players/mite"
STORED = (f"{FOLDER}/rust.pcx", f"{FOLDER}/moss.pcx")


def mite(*names: str) -> bytes:
    """Return an MD2: a tetrahedron in two frames, with these skins."""
    points = np.array([(0, 0, 8), (8, 0, 0), (-4, 7, 0), (-4, -7, 0)], np.float32)
    triangles = np.array([(0, 1, 2), (0, 2, 3), (0, 3, 1), (1, 3, 2)], np.int32)
    frames = np.stack((points, points * np.float32(1.5)))
    uvs = np.linspace(0.1, 0.9, 24, dtype=np.float32).reshape(4, 3, 2)
    normals = frames / np.linalg.norm(frames, axis=2, keepdims=True)
    surface = Surface("mite", frames, triangles, uvs, list(names), normals)
    data: bytes = by_name("md2").dump(VertexModel("mite", ["stand01", "stand02"], [surface], []))
    return data


def pcx(path: Path, rgb: tuple[int, int, int]) -> Path:
    """Write a PCX of 4 x 4 pixels of one colour."""
    header = struct.pack("<4B4H2H48sBBHH58x", 10, 5, 1, 8, 0, 0, 3, 3, 4, 4, b"", 0, 1, 4, 1)
    return put(path, header + bytes((0xC0 + 16, 1, 0x0C)) + bytes(3) + bytes(rgb) + bytes(254 * 3))


@pytest.fixture
def folder(tmp_path):
    """Return a player's folder: its model with two skins, their pictures, two others and what is no skin."""
    place = tmp_path / "game" / FOLDER
    put(place / "tris.md2", mite(*STORED))
    for number, name in enumerate(("rust.pcx", "moss.pcx", "rust_i.pcx", "frost.pcx", "weapon.pcx")):
        pcx(place / name, (10 * number, 20, 30))
    png(place / "sand.png")
    put(place / "weapon.md2", mite())
    put(place / "skins.txt", b"")
    return place


def load(path: Path) -> Any:
    """Import a model; returns its object."""
    (block,) = import_model(path).objects
    return block


def items() -> list[str]:
    return [name for name, _, _ in skins.list_items(None, bpy.context)]


def worn(block: Any) -> list[int]:
    return [face.material_index for face in block.data.polygons]


def stored(data: bytes) -> list[str]:
    return [name.decode() for name in md2.read(data).skins.tolist()]


def test_slots_and_pictures_that_are_no_skin_yet_are_offered(folder):
    load(folder / "tris.md2")
    assert skins.list_items(None, bpy.context) == [
        ("0", STORED[0], "Wear slot 0"),
        ("1", STORED[1], "Wear slot 1"),
        ("frost.pcx", "frost.pcx", "Add this picture as a further skin, and wear it"),
        ("sand.png", "sand.png", "Add this picture as a further skin, and wear it"),
    ]
    one, other = (skins.list_items(None, bpy.context) for _ in range(2))
    same = (a is b for rows in zip(one, other, strict=True) for a, b in zip(*rows, strict=True))
    assert all(same), "strings outlive the list"


def test_another_slot(folder, tmp_path):
    block = load(folder / "tris.md2")
    for slot in (1, 0):
        block.evaluated_get(bpy.context.evaluated_depsgraph_get())
        assert show(skin=str(slot)) == {"FINISHED"}
        assert worn(block) == worn(block.evaluated_get(bpy.context.evaluated_depsgraph_get())) == [slot] * 4
        assert block.active_material_index == slot
        assert export_bytes(tmp_path / "b.md2") == (folder / "tris.md2").read_bytes(), "the list is as it was"


@pytest.mark.parametrize("name", ["frost.pcx", "sand.png"])
def test_a_picture_becomes_a_further_skin(folder, tmp_path, name):
    block = load(folder / "tris.md2")
    assert show(skin=name) == {"FINISHED"}
    material = block.material_slots[2].material
    assert [slot.material.name for slot in block.material_slots] == [*STORED, f"{FOLDER}/{name}"]
    assert worn(block) == [2, 2, 2, 2]
    image: Any = images.image_of(material)
    assert (image.get(images.FILE) or image.filepath) == str(folder / name)
    assert name not in items()
    before, after = (folder / "tris.md2").read_bytes(), export_bytes(tmp_path / "b.md2")
    assert stored(after) == [*STORED, f"{FOLDER}/{name}"]
    one, other = md2.read(before), md2.read(after)
    for part in ("st", "triangles", "frames", "vertices", "glcmds"):
        assert np.array_equal(getattr(one, part), getattr(other, part)), part
    assert show(skin="0") == {"FINISHED"}
    assert stored(export_bytes(tmp_path / "c.md2")) == stored(after)


def test_the_name_is_the_files_own_where_blender_changes_it(folder, tmp_path):
    load(folder / "tris.md2")
    show(skin="frost.pcx")
    block = load(folder / "tris.md2")
    show(skin="frost.pcx")
    assert block.material_slots[2].material.name == f"{FOLDER}/frost.pcx.001"
    assert stored(export_bytes(tmp_path / "b.md2"))[2] == f"{FOLDER}/frost.pcx"


@pytest.mark.parametrize(("stored_ones", "place"), [((), ""), (STORED, f"{FOLDER}/")], ids=["none", "others"])
def test_without_a_game_folder_a_skin_has_a_bare_name_or_the_folder_of_others(tmp_path, stored_ones, place):
    put(tmp_path / "mite.md2", mite(*stored_ones))
    pcx(tmp_path / "a.pcx", (1, 2, 3))
    pcx(tmp_path / "b.pcx", (1, 2, 3))
    block = load(tmp_path / "mite.md2")
    assert items()[-2:] == ["a.pcx", "b.pcx"]
    show(skin="b.pcx")
    assert [slot.material.name for slot in block.material_slots] == [*stored_ones, f"{place}b.pcx"]
    assert stored(export_bytes(tmp_path / "out.md2")) == [*stored_ones, f"{place}b.pcx"]


def test_a_stand_in_is_no_skin_until_its_picture_is_chosen(tmp_path):
    put(tmp_path / FOLDER / "mite.md2", mite())
    pcx(tmp_path / FOLDER / "mite.pcx", (1, 2, 3))
    block = load(tmp_path / FOLDER / "mite.md2")
    assert items() == ["0", "mite.pcx"]
    show(skin="0")
    assert stored(export_bytes(tmp_path / "b.md2")) == []
    show(skin="mite.pcx")
    assert worn(block) == [1, 1, 1, 1]
    assert stored(export_bytes(tmp_path / "b.md2")) == [f"{FOLDER}/mite.pcx"]


def test_a_replacement_is_the_same_skin_and_an_icon_is_none(folder):
    for name in ("moss.png", "RUST.TGA", "icon_default.png"):
        png(folder / name)
    load(folder / "tris.md2")
    assert items() == ["0", "1", "frost.pcx", "sand.png"]


def test_a_picture_that_a_material_shows_or_names_is_taken(folder):
    block = load(folder / "tris.md2")
    show(skin="frost.pcx")
    block.material_slots[2].material.name = "winter"
    assert items() == ["0", "1", "2", "sand.png"]
    block = load(folder / "tris.md2")
    assert block.material_slots[1].material.name == STORED[1] + ".001"
    for slot in block.material_slots:
        slot.material.node_tree.nodes.clear()
    assert items() == ["0", "1", "frost.pcx", "sand.png"]


def test_empty_slots_and_slots_of_the_object(folder):
    block = load(folder / "tris.md2")
    block.data.materials.append(None)
    block.material_slots[1].link = "OBJECT"
    labels = [label for _, label, _ in skins.list_items(None, bpy.context)]
    assert labels[:3] == [STORED[0], "No material", "No material"]
    assert items()[3:] == ["frost.pcx", "moss.pcx", "sand.png"]
    assert show(skin="2") == {"FINISHED"}
    assert worn(block) == [2, 2, 2, 2]


def test_edit_mode(folder, tmp_path):
    block = load(folder / "tris.md2")
    bpy.ops.object.mode_set(mode="EDIT")
    assert show(skin="1") == {"FINISHED"}
    assert show(skin="frost.pcx") == {"FINISHED"}
    assert bpy.context.mode == "EDIT_MESH"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert worn(block) == [2, 2, 2, 2]
    assert stored(export_bytes(tmp_path / "b.md2"))[2:] == [f"{FOLDER}/frost.pcx"]


def test_undo(folder, tmp_path):
    name = load(folder / "tris.md2").name
    bpy.ops.ed.undo_push(message="import")
    show(skin="frost.pcx")
    bpy.ops.ed.undo_push(message="skin")
    bpy.ops.ed.undo()
    block = bpy.data.objects[name]
    assert worn(block) == [0, 0, 0, 0]
    assert items() == ["0", "1", "frost.pcx", "sand.png"]
    assert export_bytes(tmp_path / "b.md2") == (folder / "tris.md2").read_bytes()
    bpy.ops.ed.redo()
    assert worn(bpy.data.objects[name]) == [2, 2, 2, 2]


def test_a_model_is_found_wherever_its_object_lies_and_a_mesh_needs_none(folder):
    block = load(folder / "tris.md2")
    (home,) = block.users_collection
    home.objects.unlink(block)
    bpy.context.scene.collection.objects.link(block)
    activate(block)
    assert items()[2:] == ["frost.pcx", "sand.png"]
    block = add_cube()
    for name in ("one", "two"):
        block.data.materials.append(bpy.data.materials.new(name))
    assert items() == ["0", "1"]
    assert show(skin="1") == {"FINISHED"}
    assert worn(block) == [1] * 6
    (home,) = load(folder / "tris.md2").users_collection
    home.objects.link(block)
    activate(block)
    assert items() == ["0", "1", "frost.pcx", "moss.pcx", "rust.pcx", "sand.png"]


def test_every_format_has_skins(tmp_path):
    before = import_md3(put(tmp_path / "models" / "a.md3", "many_shaders")).objects[0]
    count = len(before.material_slots)
    png(tmp_path / "models" / "new.png")
    activate(before)
    assert items() == [*map(str, range(count)), "new.png"]
    show(skin="new.png")
    model = by_name("md3").load(export_md3(tmp_path / "b.md3"), "")
    assert model.surfaces[0].shaders[0] == "models/new.png", "what faces wear comes first there"
    assert len(model.surfaces[0].shaders) == count + 1


# -- what can't be done


def test_where_there_is_no_skin_to_choose(folder):
    assert "No model with a mesh is active" in error_of(show)
    activate(add_tag("tag_x"))
    assert "No model with a mesh is active" in error_of(show)
    add_cube()
    assert "'cube' has no material, and no file that it was imported from" in error_of(show)
    load(put(folder / "lone" / "tris.md2", mite()))
    assert f"has no material, and no picture lies in '{folder / 'lone'}'" in error_of(show)
    block = load(folder / "tris.md2")
    shutil.rmtree(folder)
    assert items() == ["0", "1"]
    block.data.materials.clear()
    assert "has no material, and no file that it was imported from" in error_of(show)


def test_what_is_not_offered(folder):
    load(folder / "tris.md2")
    for name in ("2", "none.pcx", "rust.pcx", "rust_i.pcx", "../secret.pcx", ""):
        with pytest.raises(TypeError, match="not found in"):
            show(skin=name)


def test_a_picture_that_goes_meanwhile(folder):
    block = load(folder / "tris.md2")
    (folder / "frost.pcx").unlink()
    with pytest.raises(LimitError, match=r"no picture 'frost\.pcx' lies beside the file of"):
        show_skin(block, "frost.pcx")
    with pytest.raises(LimitError, match="has no slot 7"):
        show_skin(block, "7")
    assert worn(block) == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("name", "said"),
    [("bad.pcx", "'bad.pcx' can't be shown: unknown PCX"), ("bad.png", "'bad.png' is no picture that Blender can")],
)
def test_a_picture_that_can_not_be_read(folder, tmp_path, name, said):
    block = load(folder / "tris.md2")
    put(folder / name, b"\n This is neither picture nor model, but long enough to have a header." * 3)
    before = len(bpy.data.materials), len(bpy.data.images)
    assert said in error_of(show, skin=name)
    assert (len(bpy.data.materials), len(bpy.data.images)) == before
    assert worn(block) == [0, 0, 0, 0]
    assert export_bytes(tmp_path / "b.md2") == (folder / "tris.md2").read_bytes()


def test_names_that_are_no_text_are_left_out(folder):
    with contextlib.suppress(OSError):  # not every system has such names
        shutil.copy(os.fsencode(folder / "frost.pcx"), os.fsencode(folder) + b"/fr\xe4st.pcx")
    pcx(folder / "grün.pcx", (1, 2, 3))
    block = load(folder / "tris.md2")
    assert items()[2:] == ["frost.pcx", "grün.pcx", "sand.png"]
    assert show(skin="grün.pcx") == {"FINISHED"}
    assert block.material_slots[2].material.name == f"{FOLDER}/grün.pcx"


def test_a_linked_mesh(folder, tmp_path):
    (block,) = append(tmp_path, "objects", [load(folder / "tris.md2").name], link=True)
    bpy.context.scene.collection.objects.link(block)
    activate(block)
    assert "belongs to another .blend" in error_of(show)


# -- menus


def test_the_menus_offer_it():
    layout = Layout()
    skins.draw_menu(SimpleNamespace(layout=layout), bpy.context)
    assert [name for what, name in layout.drawn if what != "separator"] == [
        "IDTECH_MT_skins", "object.idtech_write_skin",
    ]  # fmt: skip


@pytest.mark.parametrize("chosen", [True, False])
def test_a_choice_from_the_menu_is_not_asked_for_again(chosen):
    """The menu invokes the operator with what was chosen; without a choice it asks. Background knows no invoking."""
    called: list[str] = []

    def execute(_context: Any) -> set[str]:
        called.append("execute")
        return {"FINISHED"}

    given = SimpleNamespace(is_property_set=lambda name: chosen and name == "skin")
    operator = SimpleNamespace(properties=given, execute=execute)
    ask = SimpleNamespace(invoke_search_popup=lambda operator: called.append("ask"))
    invoke: Any = skins.OBJECT_OT_idtech_show_skin.invoke
    done = invoke(operator, SimpleNamespace(window_manager=ask), None)
    assert (called, done) == ((["execute"], {"FINISHED"}) if chosen else (["ask"], {"RUNNING_MODAL"}))


def test_a_menus_entry_applies_at_once(folder):
    load(folder / "tris.md2")
    shown, layout = [], SimpleNamespace(operator_context="INVOKE_DEFAULT")

    def entry(_name: str, text: str, **_: Any) -> Any:
        shown.append((text, layout.operator_context))
        return SimpleNamespace()

    layout.operator = entry
    draw: Any = skins.IDTECH_MT_skins.draw
    draw(SimpleNamespace(layout=layout), bpy.context)
    assert shown == [(name, "EXEC_DEFAULT") for name in (*STORED, "frost.pcx", "sand.png")]


def test_a_skin_is_the_whole_models(folder):
    """A slot, and a picture that becomes one, are shown by all surfaces that have it; a copy is another model."""
    block = load(folder / "tris.md2")
    second, copy = copy_of(block), copy_of(block)
    other = bpy.data.collections.new("copy")
    bpy.context.scene.collection.children.link(other)
    other["idtech_model"] = block.data["idtech_model"]
    other.objects.link(copy)
    block.users_collection[0].objects.unlink(copy)
    activate(block)
    assert show(skin="1") == {"FINISHED"}
    assert [worn(each)[0] for each in (block, second, copy)] == [1, 1, 0]
    assert show(skin="frost.pcx") == {"FINISHED"}
    assert [worn(each)[0] for each in (block, second, copy)] == [2, 2, 0]
    assert second.data.materials[2] == block.data.materials[2]


def test_a_players_skin_is_all_its_parts(tmp_path):
    folder = PROJECT / "examples/tock/baseq3/models/players/tock"
    bpy.ops.import_scene.idtech_player(filepath=str(folder / "upper.md3"))
    parts = [c for c in bpy.data.collections if c.name in {"head", "upper", "lower"} and c.get("idtech_model")]
    assert [c["idtech_skin"] for c in parts] == ["default"] * 3
    activate(first("MESH", parts[0].objects))
    assert show(skin="red.skin") == {"FINISHED"}
    assert [c["idtech_skin"] for c in parts] == ["red"] * 3


@pytest.mark.parametrize("kind", ["iqm", "md5mesh", "mdr", "mds", "mdm", "md3", "ase"])
def test_what_a_skin_file_says_is_a_shader_in_formats_that_have_no_such_file(tmp_path, kind):
    """In the model's own format the skin says it: there the file stays as it is."""
    body = PROJECT / "examples/trooper/models/players/toys/trooper/body.mdm"
    import_model(body)
    found = export_model(tmp_path / f"a.{kind}", **({"frames": "CURRENT"} if kind == "md3" else {}))
    shaders = {s.shader for s in found.meshes} if hasattr(found, "meshes") else {s.shaders[0] for s in found.surfaces}
    name = "models/players/toys/trooper/trooper" + ("" if kind == "ase" else ".tga")
    assert shaders == {"" if kind == "mdm" else name}


def test_a_skin_is_all_parts_also_where_a_mesh_of_ones_own_comes_first(tmp_path):
    player = brought(game(tmp_path))
    own = add_cube("a boot")
    own.parent = player.parts["lower"]
    own.data.materials.append(bpy.data.materials.new("models/boot"))
    surfaces = [b for root in player.parts.values() for b in root.children if b.type == "MESH" and b != own]
    for active in (next(b for b in surfaces if b.parent == player.parts["upper"]), own):
        activate(active)
        for skin in ("red", "default"):
            assert show(skin=f"{skin}.skin") == {"FINISHED"}
            worn = {block.name: worn_by(block.material_slots[0].material) for block in surfaces}
            assert all(("red" in shader) == (skin == "red") for shader in worn.values() if shader), worn


def test_write_skin_has_what_an_export_writes(tmp_path):
    put(tmp_path / "head_default.skin", b"h_eyes,models/eyes\n")
    made = import_model(PROJECT / "examples/sentinel/sentinel.md3")
    count = len([block for block in made.objects if block.type == "MESH"])
    hat = add_cube("h_hat")
    hat.data.materials.append(bpy.data.materials.new("models/hat"))
    for home in list(hat.users_collection):
        home.objects.unlink(hat)
    made.objects.link(hat)
    for active in (hat, bpy.data.objects["hull"]):
        activate(active)
        target = tmp_path / f"{active.name}.skin"
        assert bpy.ops.object.idtech_write_skin(filepath=str(target)) == {"FINISHED"}
        lines = target.read_text("latin-1").splitlines()
        assert "h_hat,models/hat" in lines and len(lines) >= count + 1


def test_a_slot_that_nobody_wears_is_no_shader_of_what_a_skin_dresses(tmp_path):
    """Of a model whose file names none, as most of Enemy Territory's."""
    data = no_shaders().pack()
    (surface,) = by_name("md3").load(data, "a").surfaces
    put(tmp_path / "a.md3", data)
    put(tmp_path / "a_default.skin", f"{surface.name},models/worn\n".encode())
    import_md3(tmp_path / "a.md3")
    block = first("MESH")
    assert worn_by(block.material_slots[0].material) == "models/worn"
    before = export_md3(tmp_path / "b.md3")
    block.data.materials.append(bpy.data.materials.new("models/unused"))
    assert export_md3(tmp_path / "b.md3") == before
