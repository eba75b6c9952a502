"""Which objects an export means."""

import pytest

from io_idtech_models.blender.provenance import MODEL_ID
from io_idtech_models.reporting import LimitError
from io_idtech_models.tasks.export.selection import choose
from tests import facts, samples_md5, samples_mdm
from tests.samples import sample
from tests.ui.scene import (
    activate,
    add_cube,
    add_tag,
    bpy,
    error_of,
    export_bytes,
    export_md3,
    export_model,
    import_md3,
    import_model,
    put,
    run_export,
)

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]


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


def deselect():
    bpy.context.view_layer.objects.active = None
    for block in bpy.context.view_layer.objects:
        block.select_set(False)


def test_nothing_selected_means_the_imported_model(tmp_path, walker, capfd):
    """What else is there is named: Blender's own cube, for one."""
    add_cube("Cube")
    deselect()
    assert chosen("AUTO") == WALKER
    capfd.readouterr()
    assert export_bytes(tmp_path / "again.md3") == sample("animated")
    assert "Warning: again.md3" in (said := capfd.readouterr().out)
    assert said.rstrip().endswith(
        "the imported model alone is written (select what else belongs to it); left out: 'Cube'"
    )


def test_nothing_selected_and_no_model_means_all_that_is_visible(tmp_path, walker, capfd):
    """That is said with all names: of several models, or of things that were made here."""
    import_md3(put(tmp_path / "second.md3"))
    blocks = [*bpy.context.scene.objects, *(add_cube(f"box {nth}") for nth in range(8))]
    deselect()
    assert chosen("AUTO") == sorted(block.name for block in blocks)
    export_model(tmp_path / "all.md3")
    said = capfd.readouterr().out.splitlines()[-1]
    assert "all that is visible is written (select what is meant): " in said
    assert all(f"'{block.name}'" in said for block in blocks)


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


# -- copies of a model's objects, in a collection of their own


def copies(blocks, name="copy", into=None, linked=False):
    """Duplicate objects into a collection of their own, as Shift-D (Alt-D if `linked`) and M do; returns it."""
    made = into if into is not None else bpy.data.collections.new(name)
    if into is None:
        bpy.context.scene.collection.children.link(made)
    for block in list(blocks):
        copy = block.copy()
        if block.data is not None and not linked:
            copy.data = block.data.copy()
        made.objects.link(copy)
    bpy.context.view_layer.update()
    return made


@pytest.mark.parametrize("what", ["AUTO", "COLLECTION"])
@pytest.mark.parametrize("linked", [False, True])
def test_copies_in_their_own_collection_are_a_model(tmp_path, walker, what, linked):
    made = copies(walker.objects, linked=linked)
    for own in (made, walker):
        for block in own.objects:
            activate(block)
            found = choose(bpy.context, what)
            assert set(found.blocks) == set(own.objects)
            assert found.collection == walker, "that knows the file"
        assert export_md3(tmp_path / "b.md3", what=what) == sample("animated")


def test_originals_and_copies_both_selected(tmp_path, walker):
    made = copies(walker.objects)
    activate(made.objects[0], *made.objects, *walker.objects)
    assert set(choose(bpy.context, "AUTO").blocks) == set(made.objects)
    assert len(choose(bpy.context, "SELECTION").blocks) == 8
    assert export_md3(tmp_path / "b.md3") == sample("animated")


def test_what_was_added_to_copies_belongs_to_them(walker):
    made = copies(walker.objects)
    made.objects.link(add_cube("hat"))
    activate(made.objects[1])
    assert len(choose(bpy.context, "AUTO").blocks) == 5
    assert "hat" in chosen("AUTO")
    activate(walker.objects[0])
    assert chosen("AUTO") == WALKER


def test_what_was_deleted_from_copies_does_not_come_back(walker):
    made = copies(walker.objects)
    bpy.data.objects.remove(made.objects[1])
    activate(made.objects[0])
    assert set(choose(bpy.context, "AUTO").blocks) == set(made.objects)
    assert len(made.objects) == 3


def test_two_collections_of_copies_and_no_original(walker):
    one, other = copies(walker.objects, "one"), copies(walker.objects, "other")
    bpy.data.batch_remove([*walker.objects, walker])
    bpy.context.view_layer.update()
    for own in (one, other):
        activate(own.objects[0])
        assert set(choose(bpy.context, "AUTO").blocks) == set(own.objects)


def test_a_model_in_several_collections_and_a_copy_of_it(walker):
    """What lies apart, and is there once, is one model; the copy is another."""
    made = copies(walker.objects)
    apart = bpy.data.collections.new("apart")
    bpy.context.scene.collection.children.link(apart)
    flag = walker.objects["flag.002"]
    apart.objects.link(flag)
    walker.objects.unlink(flag)
    bpy.context.view_layer.update()
    activate(flag)
    assert chosen("AUTO") == WALKER
    activate(made.objects[0])
    assert set(choose(bpy.context, "AUTO").blocks) == set(made.objects)


def test_copies_below_the_models_collection(walker):
    inner = bpy.data.collections.new("inner")
    walker.children.link(inner)
    copies(walker.objects, into=inner)
    activate(inner.objects[0])
    assert set(choose(bpy.context, "AUTO").blocks) == set(inner.objects)


def test_copies_in_the_scenes_own_collection(walker):
    root = bpy.context.scene.collection
    copies(walker.objects, into=root)
    stranger = add_cube("stranger")
    assert stranger.name in root.objects
    activate(root.objects[0])
    found = choose(bpy.context, "AUTO")
    assert set(found.blocks) == set(root.objects) - {stranger}


def test_a_copy_that_hangs_on_a_parent(tmp_path, walker):
    made = copies(walker.objects)
    parent = add_tag("handle", display="PLAIN_AXES")
    for block in made.objects:
        block.parent = parent
    bpy.context.view_layer.update()
    activate(made.objects[2])
    assert set(choose(bpy.context, "AUTO").blocks) == set(made.objects)
    assert export_md3(tmp_path / "b.md3") == sample("animated")


def test_a_copy_beside_its_original_is_part_of_the_model(walker):
    copies([walker.objects["flag.002"]], into=walker)
    activate(walker.objects[0])
    assert len(choose(bpy.context, "AUTO").blocks) == 5


def test_an_instance_of_the_collection_is_none_of_it(tmp_path, walker, capfd):
    instance = bpy.data.objects.new("instance", None)
    instance.instance_type, instance.instance_collection = "COLLECTION", walker
    bpy.context.scene.collection.objects.link(instance)
    activate(walker.objects[0])
    assert chosen("AUTO") == WALKER
    activate(instance)
    assert "only meshes are written; left out: 'instance'" in error_of(run_export, filepath=str(tmp_path / "b.md3"))


def test_copies_of_a_model_with_bones(tmp_path):
    data = samples_md5.several_meshes()
    collection = import_model(put(tmp_path / "arm.md5mesh", data))
    for block in collection.objects:
        block.select_set(True)
    bpy.context.view_layer.objects.active = collection.objects[0]
    bpy.ops.object.duplicate()
    made = bpy.data.collections.new("copy")
    bpy.context.scene.collection.children.link(made)
    for block in list(bpy.context.selected_objects):
        made.objects.link(block)
        collection.objects.unlink(block)
    bpy.context.view_layer.update()
    for own in (made, collection):
        assert len(own.objects) == 4
        for block in own.objects:
            activate(block)
            assert set(choose(bpy.context, "AUTO").blocks) == set(own.objects)
        again = export_bytes(tmp_path / "again.md5mesh")
        assert facts.differences(data, again) == set()


def test_frames_of_copies_are_their_own(tmp_path):
    """Of what has no keys the collection lists the frames: the copies' get a list of their own."""
    hand = import_md3(put(tmp_path / "hand.md3", "tags_only"))
    made = copies(hand.objects)
    for block in made.objects:  # else they play one action
        block.animation_data.action = block.animation_data.action.copy()
    activate(made.objects[0])
    assert bpy.ops.object.idtech_insert_frame() == {"FINISHED"}
    copy = export_model(tmp_path / "copy.md3")
    assert (copy.num_frames, len(copy.tags)) == (4, 2)
    activate(hand.objects[0])
    assert export_md3(tmp_path / "hand.md3") == sample("tags_only")
    activate(*copies(hand.objects, into=bpy.context.scene.collection).objects[:1])
    text = error_of(bpy.ops.object.idtech_insert_frame)
    assert "copies of a model's objects: move them into a collection of their own first" in text


# -- tags that lie with what is selected, and are not

LEFT = "tags left out, they are not selected (Export: Model takes them): "


def said_of_tags(capfd, path, **options):
    """Export; returns what is said of tags that are left out."""
    capfd.readouterr()
    export_model(path, **options)
    text = capfd.readouterr().out
    return text.split(LEFT)[1].split(";")[0].strip() if LEFT in text else ""


@pytest.mark.parametrize("what", ["AUTO", "SELECTION"])
def test_tags_of_a_handmade_model_that_are_not_selected_are_said(tmp_path, capfd, what):
    path = tmp_path / "b.md3"
    add_tag("tag_weapon")
    add_tag("arrow")
    add_tag("lamp's place", display="PLAIN_AXES")
    box = add_cube("box")
    add_cube("another model's")
    activate(box)
    assert said_of_tags(capfd, path, what=what) == "'tag_weapon', 'arrow'"
    activate(box, bpy.data.objects["tag_weapon"])
    assert said_of_tags(capfd, path, what=what) == "'arrow'"
    assert len(export_model(path, what=what).tags) == 1
    assert said_of_tags(capfd, path, what="SCENE") == ""
    assert said_of_tags(capfd, tmp_path / "b.md2", what=what) == "", "MD2 has none anyhow"


TAKEN = "taken along, they hang together with what is selected (Export: Selection leaves them out): "


def taken(capfd, path, **options):
    """Export; returns what is said of what was taken."""
    capfd.readouterr()
    export_model(path, **options)
    text = capfd.readouterr().out
    return text.split(TAKEN)[1].split(";")[0].strip() if TAKEN in text else ""


def test_a_handmade_model_is_what_hangs_together(tmp_path, capfd):
    path = tmp_path / "b.md3"
    add_tag("tag_weapon")
    held = add_cube("held")
    held.parent = bpy.data.objects["tag_weapon"]  # which makes it a model of its own
    lid = add_cube("lid")
    ghost = add_cube("ghost")
    box = add_cube("box")
    lid.parent = ghost.parent = box
    ghost.hide_set(True)
    other = bpy.data.collections.new("other")
    bpy.context.scene.collection.children.link(other)
    other.objects.link(held)
    bpy.context.scene.collection.objects.unlink(held)
    activate(box)
    assert taken(capfd, path) == "'lid'"
    activate(box, lid)
    bpy.data.objects.remove(ghost)
    assert taken(capfd, path) == "'tag_weapon'"
    assert [len(export_model(path).surfaces), len(export_model(path).tags)] == [2, 1]
    assert taken(capfd, path, what="SELECTION") == ""
    assert not export_model(path, what="SELECTION").tags


def test_meshes_of_one_armature_hang_together(tmp_path, capfd):
    rig = bpy.data.objects.new("rig", bpy.data.armatures.new("rig"))
    bpy.context.scene.collection.objects.link(rig)
    for name in ("arm", "leg", "free"):
        block = add_cube(name)
        if name != "free":
            block.modifiers.new("rig", "ARMATURE").object = rig
    activate(bpy.data.objects["arm"])
    assert taken(capfd, tmp_path / "b.md3") == "'leg'"


def test_tags_elsewhere_are_not_missed_unless_they_hang_on_it(tmp_path, capfd, walker):
    other = bpy.data.collections.new("other")
    bpy.context.scene.collection.children.link(other)
    for name in ("tag_on_it", "tag_alone"):
        tag = add_tag(name)
        other.objects.link(tag)
        bpy.context.scene.collection.objects.unlink(tag)
    box = add_cube("box")
    bpy.data.objects["tag_on_it"].parent = box
    for tag in (walker.objects["tag_head"], walker.objects["tag_weapon"]):
        bpy.context.scene.collection.objects.link(tag)
    bpy.context.view_layer.update()
    activate(box)
    assert said_of_tags(capfd, tmp_path / "b.md3", what="SELECTION") == "'tag_on_it'"
    assert taken(capfd, tmp_path / "b.md3") == "'tag_on_it'"


def test_tags_of_an_imported_model_of_which_a_part_is_selected(tmp_path, capfd, walker):
    activate(walker.objects["h_body"])
    assert said_of_tags(capfd, tmp_path / "b.md3", what="SELECTION") == "'tag_weapon', 'tag_head'"
    assert said_of_tags(capfd, tmp_path / "b.md3") == "", "the whole model"


def test_tags_on_bones_of_the_armature_that_deforms_what_is_selected(tmp_path, capfd):
    data = samples_mdm.figure()
    put(tmp_path / "figure.mdx", samples_mdm.walk())
    collection = import_model(put(tmp_path / "figure.mdm", data))
    for block in collection.objects:  # as if they were made by hand
        for holder in (block, block.data):
            if holder is not None:
                holder.pop(MODEL_ID, None)
    collection.pop(MODEL_ID)
    mesh = next(block for block in collection.objects if block.type == "MESH")
    rig = next(block for block in collection.objects if block.type == "ARMATURE")
    tags = [block.name for block in collection.objects if block.type == "EMPTY"]
    activate(mesh)
    wanted = ", ".join(f"'{name}'" for name in tags)
    capfd.readouterr()
    assert any(bone.name == "tag_hand" for bone in rig.data.bones)
    export_bytes(tmp_path / "b.mdm")
    assert f"{LEFT}{wanted}; " in capfd.readouterr().out, "a bone is written as a bone"
    export_bytes(tmp_path / "b.md5mesh")
    assert LEFT not in capfd.readouterr().out, "MD5 has none anyhow"
    assert said_of_tags(capfd, tmp_path / "b.md3") == f"{wanted}, 'tag_hand'"


class TestBesideTheActiveModel:
    """What hangs together with an imported model and lies elsewhere is written where it is selected, else named."""

    @pytest.fixture
    def hat(self, walker):
        """Return a mesh that hangs on the model's, in the scene's own collection."""
        block = add_cube("hat")
        block.parent = walker.objects["h_body"]
        activate(walker.objects["h_body"])
        return block

    @pytest.mark.parametrize("selected", [True, False])
    def test_it_hangs_on_a_mesh(self, hat, selected):
        hat.select_set(selected)
        found = choose(bpy.context, "AUTO")
        assert sorted(b.name for b in found.blocks) == sorted([*WALKER, *(["hat"] if selected else [])])
        assert [b.name for b in found.beside] == ([] if selected else ["hat"])

    def test_what_is_left_out_is_said(self, hat, tmp_path, capfd):
        curve = bpy.data.objects.new("plume", bpy.data.curves.new("plume", "CURVE"))
        curve.parent = hat.parent
        bpy.context.scene.collection.objects.link(curve)
        stranger = add_cube("stranger")
        activate(hat.parent)
        stranger.select_set(True)
        assert bpy.ops.export_scene.idtech_md3(filepath=str(tmp_path / "a.md3")) == {"FINISHED"}
        said = capfd.readouterr().out
        assert "none of its own (select them, too, to write them): 'hat'" in said
        assert "are selected but no part of the active model (Export: Selection takes them): 'stranger'" in said
        assert "only meshes are written; left out: 'plume'" in said

    def test_bent_by_the_models_armature(self, tmp_path):
        path = tmp_path / "a.md5mesh"
        path.write_bytes(samples_md5.arm())
        bpy.ops.import_scene.idtech_md5mesh(filepath=str(path))
        rig = next(block for block in bpy.data.objects if block.type == "ARMATURE")
        block = add_cube("hat")
        block.vertex_groups.new(name=rig.data.bones[0].name).add(range(8), 1.0, "REPLACE")
        block.modifiers.new("rig", "ARMATURE").object = rig
        activate(rig)
        assert "hat" not in chosen("AUTO")
        block.select_set(True)
        assert "hat" in chosen("AUTO")
        block.modifiers.clear()
        block.parent, block.parent_type, block.parent_bone = rig, "BONE", rig.data.bones[0].name
        assert "hat" not in chosen("AUTO"), "without weights there is no place for it in the file"
        assert [each.name for each in choose(bpy.context, "AUTO").strange] == ["hat"]


def test_selected_shapes_are_said(tmp_path, capfd):
    cube, curve = add_cube("cube"), bpy.data.objects.new("wire", bpy.data.curves.new("wire", "CURVE"))
    bpy.context.scene.collection.objects.link(curve)
    curve.select_set(True)
    for what in ("AUTO", "SELECTION"):
        cube.select_set(True)
        assert bpy.ops.export_scene.idtech_md3(filepath=str(tmp_path / "a.md3"), what=what) == {"FINISHED"}
        assert "only meshes are written; left out: 'wire'" in capfd.readouterr().out
    cube.select_set(False)
    text = error_of(lambda: bpy.ops.export_scene.idtech_md3(filepath=str(tmp_path / "a.md3")))
    assert "nothing to export" in text and "only meshes are written; left out: 'wire'" in text


def test_instances_are_said(tmp_path, capfd):
    plate, stone = add_cube("plate"), add_cube("stone")
    stone.parent, plate.instance_type = plate, "VERTS"
    activate(plate, stone)
    assert bpy.ops.export_scene.idtech_md3(filepath=str(tmp_path / "a.md3")) == {"FINISHED"}
    assert "instances are left out, only meshes are written" in capfd.readouterr().out
    plate.instance_type = "NONE"
    assert bpy.ops.export_scene.idtech_md3(filepath=str(tmp_path / "a.md3")) == {"FINISHED"}
    assert "instances" not in capfd.readouterr().out


def test_a_mesh_stays_in_edit_mode_where_another_object_is_active(tmp_path):
    """What is edited is written, and it is edited further afterwards."""
    path = tmp_path / "a.md5mesh"
    path.write_bytes(samples_md5.arm())
    bpy.ops.import_scene.idtech_md5mesh(filepath=str(path))
    rig, mesh = (next(b for b in bpy.data.objects if b.type == kind) for kind in ("ARMATURE", "MESH"))
    beside = add_cube("beside")
    activate(mesh)
    bpy.ops.object.mode_set(mode="EDIT")
    beside.select_set(True)  # its mode is not changed with that of the other
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.export_scene.idtech_md5mesh(filepath=str(tmp_path / "b.md5mesh")) == {"FINISHED"}
    assert (mesh.mode, rig.mode, bpy.context.view_layer.objects.active) == ("EDIT", "OBJECT", rig)
    assert (beside.mode, beside.select_get(), mesh.select_get()) == ("OBJECT", True, True)
    assert facts.differences(path.read_bytes(), (tmp_path / "b.md5mesh").read_bytes()) == set()


def test_a_linked_model_gets_no_root(tmp_path):
    import_md3(put(tmp_path / "walker.md3"))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(tmp_path / "a.blend"), link=True) as (there, here):
        here.collections = there.collections
    bpy.context.scene.collection.children.link(bpy.data.collections[0])
    activate(next(block for block in bpy.context.scene.objects if block.type == "MESH"))
    assert "linked from another .blend; make it local" in error_of(bpy.ops.object.idtech_make_root)
