"""Which objects an export means."""

import pytest

from io_idtech_models.blender.source import MODEL_ID
from io_idtech_models.errors import LimitError
from io_idtech_models.ui.choice import choose
from tests.ui.scene import activate, add_cube, add_tag, bpy, import_md3, put

pytestmark = pytest.mark.usefixtures("empty_scene")


def chosen(what, collection=""):
    return sorted(block.name for block in choose(bpy.context, what, collection).blocks)


@pytest.fixture
def walker(tmp_path):
    """Return the collection of an imported model: body, flag and two tags."""
    return import_md3(put(tmp_path / "walker.md3"))


WALKER = ["flag.002", "h_body", "tag_head", "tag_weapon"]


def test_the_active_objects_model(walker):
    add_cube("other")
    assert chosen("AUTO") == ["other"], "the selection: the active object was not imported"
    activate(walker.objects["tag_head"])
    found = choose(bpy.context, "AUTO")
    assert sorted(b.name for b in found.blocks) == WALKER
    assert found.collection == walker


def test_what_was_added_to_a_model_belongs_to_it(walker):
    block = add_cube("hat")
    bpy.context.scene.collection.objects.unlink(block)
    walker.objects.link(block)
    bpy.context.view_layer.update()
    activate(block)
    assert chosen("AUTO") == sorted(["hat", *WALKER])


def test_what_left_a_models_collection_does_not_belong_to_it(walker):
    flag = walker.objects["flag.002"]
    bpy.context.scene.collection.objects.link(flag)
    walker.objects.unlink(flag)
    bpy.context.view_layer.update()
    activate(walker.objects["h_body"])
    assert chosen("AUTO") == ["h_body", "tag_head", "tag_weapon"]
    activate(flag)
    assert chosen("AUTO") == WALKER, "asked by what left, its whole model"


def test_two_models(walker, tmp_path):
    second = import_md3(tmp_path / "walker.md3")
    assert walker[MODEL_ID] != second[MODEL_ID]
    for collection in (walker, second):
        activate(collection.objects[0])
        found = choose(bpy.context, "AUTO")
        assert set(found.blocks) == set(collection.objects)
        assert found.collection == collection
    assert choose(bpy.context, "SCENE").collection == walker


def test_a_duplicated_collection_is_asked_for_itself(walker):
    copy = bpy.data.collections.new("z copy")
    bpy.context.scene.collection.children.link(copy)
    copy[MODEL_ID] = walker[MODEL_ID]
    for block in walker.objects:
        copy.objects.link(block.copy())
    bpy.context.view_layer.update()
    for what in ("AUTO", "SELECTION"):
        activate(*copy.objects)
        found = choose(bpy.context, what)
        assert found.collection == copy
        assert set(found.blocks) == set(copy.objects)


def test_selection_visible_scene(walker):
    add_cube("a")
    add_cube("b").hide_set(True)
    activate(bpy.data.objects["a"], walker.objects["tag_head"])
    assert chosen("SELECTION") == ["a", "tag_head"]
    assert chosen("VISIBLE") == sorted(["a", *WALKER])
    scene = choose(bpy.context, "SCENE")
    assert [b.name for b in scene.hidden] == ["b"]
    assert scene.collection == walker
    assert len(scene.whole) == 6
    assert choose(bpy.context, "VISIBLE").hidden == []


def test_nothing_selected_means_all_that_is_visible(walker):
    add_cube("a")
    bpy.context.view_layer.objects.active = None
    for block in bpy.context.view_layer.objects:
        block.select_set(False)
    assert chosen("AUTO") == sorted(["a", *WALKER])


def test_a_collection_by_name(walker):
    around = bpy.data.collections.new("around")
    bpy.context.scene.collection.children.link(around)
    around.children.link(walker)
    bpy.context.scene.collection.children.unlink(walker)
    activate(add_cube("a"))
    for name in ("walker", "around"):
        found = choose(bpy.context, "SELECTION", name)
        assert sorted(b.name for b in found.blocks) == WALKER
        assert found.collection == walker, "that speaks for the model"
    with pytest.raises(LimitError, match="there is no collection 'gone'"):
        choose(bpy.context, "AUTO", "gone")


def test_the_active_collection(walker):
    made = bpy.data.collections.new("made")
    bpy.context.scene.collection.children.link(made)
    block = add_cube("a")
    made.objects.link(block)
    view = bpy.context.view_layer
    view.active_layer_collection = view.layer_collection.children["made"]
    found = choose(bpy.context, "COLLECTION")
    assert ([b.name for b in found.blocks], found.collection) == (["a"], made)


def test_kinds(walker):
    collection = walker
    for name, data in (
        ("sun", bpy.data.lights.new("sun", "SUN")),
        ("eye", bpy.data.cameras.new("eye")),
        ("text", bpy.data.curves.new("text", "FONT")),
        ("rig", bpy.data.armatures.new("rig")),
    ):
        collection.objects.link(bpy.data.objects.new(name, data))
    add_tag("lonely")
    found = choose(bpy.context, "AUTO")
    assert sorted(b.name for b in found.blocks) == sorted(["rig", *WALKER])
    assert [b.name for b in found.shapes] == ["text"]


@pytest.mark.parametrize("stranger", [5, "nonsense", b"bytes", [1, 2], 1.5])
def test_an_id_from_a_stranger(walker, stranger):
    activate(walker.objects[0])
    walker[MODEL_ID] = stranger
    found = choose(bpy.context, "AUTO")
    assert sorted(b.name for b in found.blocks) == WALKER
