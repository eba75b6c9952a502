"""Models that hold nothing: no surface and no tag, no mesh, no joint. Games have such files, and they come back."""

import pytest

from io_idtech_models.formats.md3 import file as md3
from tests import samples_md5
from tests.facts import differences
from tests.samples import put, sample
from tests.ui.scene import (
    activate,
    add_cube,
    add_mesh,
    bpy,
    editing,
    error_of,
    export_bytes,
    export_md3,
    import_md3,
    import_model,
    operator,
    run_export,
    run_import,
)

pytestmark = pytest.mark.usefixtures("empty_scene")
NULL = sample("nothing")


@pytest.fixture
def null(tmp_path):
    """Return the collection of a model of nothing."""
    return import_md3(put(tmp_path / "null.md3", NULL))


def moved_into(collection, block):
    """Take an object from the scene's own collection into another."""
    bpy.context.scene.collection.objects.unlink(block)
    collection.objects.link(block)
    bpy.context.view_layer.update()
    return block


def make_active(collection):
    """Make a collection the active one, as a click in the outliner does."""
    view = bpy.context.view_layer
    view.active_layer_collection = view.layer_collection.children[collection.name]


# -- what an export means where there is no object


@pytest.mark.parametrize("what", ["AUTO", "COLLECTION", "SELECTION", "VISIBLE", "SCENE"])
def test_it_comes_back(tmp_path, null, what):
    assert not null.all_objects
    if what == "SELECTION":  # nothing is
        assert "nothing to export" in error_of(run_export, filepath=str(tmp_path / "b.md3"), what=what)
    else:
        assert export_md3(tmp_path / "b.md3", what=what) == NULL


def test_the_collection_exporter(tmp_path, null, capfd):
    walker = import_md3(put(tmp_path / "walker.md3"))
    assert list(bpy.context.scene.collection.children) == [null, walker], "what comes next is no part of it"
    assert export_md3(tmp_path / "b.md3", collection=null.name) == NULL
    moved_into(null, add_mesh("dust", [(0, 0, 0), (1, 1, 1)], []))
    assert export_md3(tmp_path / "b.md3", collection=null.name) == NULL
    assert "'dust' has no faces: left out" in capfd.readouterr().out


@pytest.mark.parametrize("at_once", [False, True])
def test_it_comes_back_beside_others(tmp_path, at_once):
    """It is what was imported last, and nothing else is active or selected."""
    add_cube()
    for name, data in (("null.md3", NULL), ("walker.md3", "animated")):
        put(tmp_path / name, data)
    if at_once:
        assert run_import(directory=str(tmp_path), files=[{"name": "null.md3"}, {"name": "walker.md3"}]) == {"FINISHED"}
        other = bpy.data.collections["walker"]
    else:
        other, _ = import_md3(tmp_path / "walker.md3"), import_md3(tmp_path / "null.md3")
        assert export_md3(tmp_path / "b.md3") == NULL
        activate(other.objects[0])
    assert export_md3(tmp_path / "b.md3") == sample("animated"), "asked by an object, its model"
    assert export_md3(tmp_path / "b.md3", what="COLLECTION") == sample("animated")
    assert export_md3(tmp_path / "b.md3", collection="null") == NULL
    path = tmp_path / "b.md2"
    text = error_of(operator("export", path), filepath=str(path), collection="null")
    assert "nothing to export: MD2 holds one mesh" in text


def test_one_of_two(tmp_path, null):
    put(tmp_path / "other.md3", b"".join((NULL[:8], b"o", NULL[9:])))
    other = import_md3(tmp_path / "other.md3")
    assert export_md3(tmp_path / "b.md3") == (tmp_path / "other.md3").read_bytes(), "what was imported last"
    make_active(null)
    assert export_md3(tmp_path / "b.md3") == NULL
    view = bpy.context.view_layer
    view.active_layer_collection = view.layer_collection
    text = error_of(run_export, filepath=str(tmp_path / "b.md3"))
    assert "2 models without objects, make the collection of one active: 'null', 'other'" in text
    assert other.name == "other"


# -- what is edited


def test_what_is_added_is_there(tmp_path, null):
    make_active(null)
    activate(moved_into(null, add_cube("box")))
    found = md3.read(export_md3(tmp_path / "b.md3"))
    assert [bytes(s.header["name"]) for s in found.surfaces] == [b"box"]
    assert bytes(found.header["name"]).startswith(b"models/null.md3")
    assert len(found.frames) == 2


def test_a_collection_that_was_emptied_speaks_for_nothing(tmp_path, null):
    """Nor is a model that had something written as nothing."""
    walker = import_md3(put(tmp_path / "walker.md3"))
    bpy.data.batch_remove(list(walker.objects))
    bpy.context.view_layer.update()
    text = error_of(run_export, filepath=str(tmp_path / "b.md3"), collection="walker")
    assert "nothing to export: no visible mesh and no tag among the objects" in text
    make_active(walker)
    assert export_md3(tmp_path / "b.md3") == NULL
    bpy.data.collections.remove(null)
    assert "nothing to export: no visible mesh" in error_of(run_export, filepath=str(tmp_path / "b.md3"))
    box = add_cube("box")
    bpy.context.view_layer.objects.active = None
    box.select_set(False)
    found = md3.read(export_md3(tmp_path / "b.md3"))
    assert [bytes(s.header["name"]) for s in found.surfaces] == [b"box"], "all that is visible"


# -- of the other formats


def test_a_mesh_without_joints_comes_back(tmp_path):
    data = samples_md5.MeshSpec(joints=[], parts=[samples_md5.PartSpec()]).pack()
    import_model(put(tmp_path / "a.md5mesh", data))
    assert differences(data, export_bytes(tmp_path / "b.md5mesh")) == set()


def test_an_armature_that_lost_its_bones_is_an_error(tmp_path):
    import_model(put(tmp_path / "arm.md5mesh", samples_md5.no_meshes()))
    with editing(next(block for block in bpy.data.objects if block.type == "ARMATURE")) as bones:
        for bone in list(bones):
            bones.remove(bone)
    path = tmp_path / "b.md5mesh"
    assert "has no bone to export" in error_of(operator("export", path), filepath=str(path))
