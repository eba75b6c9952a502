"""Which objects an export means."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from bpy_extras.io_utils import ExportHelper

from io_idtech_models.blender.compat import playing_curves
from io_idtech_models.blender.provenance import LISTS_TAGS, MODEL_ID, SKELETON
from io_idtech_models.formats import by_name
from io_idtech_models.reporting import LimitError
from io_idtech_models.tasks.export.selection import choose
from io_idtech_models.ui.export.motion import ExportSkeletalAnimation
from io_idtech_models.ui.export.skeletal import ExportSkeletalModel
from io_idtech_models.ui.export.vertex import ExportVertexModel
from tests import facts, samples_md5, samples_mdm
from tests.blender.case import separated
from tests.samples import PROJECT, SENTINEL, load, put, sample
from tests.ui.scene import (
    activate,
    add_cube,
    add_object,
    add_tag,
    bpy,
    copy_of,
    error_of,
    export_bytes,
    export_md3,
    export_model,
    import_md3,
    import_model,
    run_export,
    stored,
)

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]


BROWSERS = {"md5mesh": ExportSkeletalModel, "md5anim": ExportSkeletalAnimation}


def proposed(kind, monkeypatch, last=""):
    """Return the name of the file that the file browser of an export proposes, or why it does not."""
    found = proposed_file(kind, monkeypatch, last)
    return found.name if isinstance(found, Path) else found


def proposed_file(kind, monkeypatch, last=""):
    """Return the file that the file browser of an export proposes, or why it does not."""
    browser = browser_of(kind, monkeypatch, last)
    return "; ".join(browser.reported) or Path(browser.filepath)


def browser_of(kind, monkeypatch, last="", without=()):
    """Return an export whose file browser would be open, which needs a window; the call gives all but some options.

    `last` is what Blender remembers of the export before.
    """
    monkeypatch.setattr(ExportHelper, "invoke", lambda *_: {"RUNNING_MODAL"})
    own = {"is_property_set": lambda name: name not in ("filepath", *without), "items": dict}
    given: Any = SimpleNamespace(**own, bl_rna=SimpleNamespace(properties=[]))
    base: Any = BROWSERS.get(kind, ExportVertexModel)
    values = {"row": by_name(kind), "filename_ext": f".{kind}", "filepath": last, "properties": given, "reported": []}
    values |= {
        "scale": 7.0,
        "what": "AUTO",
        "collection": "",
        "fill_ticks": lambda *_: None,
        "fill_ticks_of": lambda *_, **__: None,
    }
    values["report"] = lambda self, _kinds, text: self.reported.append(text)
    browser: Any = type("Browser", (base,), values)()
    opened = browser.invoke(bpy.context, None)
    assert (opened == {"CANCELLED"}) == bool(browser.reported)
    return browser


def test_the_dialog_proposes_the_models_own_file(tmp_path, monkeypatch):
    """That it was written to last, if it was; never another model's, which Blender remembers."""
    first, other = (import_model(put(tmp_path / name)).all_objects for name in ("a.md3", "b.md3"))
    last = str(tmp_path / "sub/mine.md3")
    for blocks, name, wanted in (
        (first, last, "mine.md3"),
        (other, None, "b.md3"),
        (first, tmp_path / "a.md3", "a.md3"),
        (first, tmp_path / "other.mdc", "a.md3"),
    ):
        activate(next(block for block in blocks if block.type == "MESH"))
        if name is not None:
            Path(name).parent.mkdir(exist_ok=True)
            export_bytes(Path(name))
        assert proposed("md3", monkeypatch, last) == wanted
    assert proposed("mdc", monkeypatch, last) == "other.mdc"


def test_the_dialog_proposes_the_animations_own_file(tmp_path, monkeypatch):
    """Of the action that plays, in its folder; never that of the export before."""
    blocks = import_model(put(tmp_path / "arm.md5mesh", "arm")).all_objects
    activate(next(block for block in blocks if block.type == "ARMATURE"))
    assert proposed("md5anim", monkeypatch, "walk.md5anim") == "arm.md5anim"
    for folder in ("in", "out"):
        (tmp_path / folder).mkdir()
        put(tmp_path / folder / "wave.md5anim", samples_md5.wave())
        assert bpy.ops.import_anim.idtech_md5anim(filepath=str(tmp_path / folder / "wave.md5anim")) == {"FINISHED"}
        assert proposed_file("md5anim", monkeypatch, "walk.md5anim") == tmp_path / folder / "wave.md5anim"


def test_the_dialog_of_animations_begins_with_the_size_at_which_the_model_came(tmp_path, monkeypatch):
    """And scripts, which don't, are told."""
    for scale in (0.5, 1.0):
        blocks = import_model(put(tmp_path / "arm.md5mesh", "arm"), scale=scale).all_objects
        activate(next(block for block in blocks if block.type == "ARMATURE"))
        assert browser_of("md5anim", monkeypatch, without=("scale",)).scale == scale
        assert browser_of("md5anim", monkeypatch).scale == 7.0, "what the call says counts"


def chosen(what, collection=""):
    return sorted(block.name for block in choose(bpy.context, what, collection).blocks)


def meant(block, what="AUTO"):
    """Return the objects that an export means where an object is active."""
    activate(block)
    return set(choose(bpy.context, what).blocks)


def made_collection(name, *blocks):
    """Return a new collection of the scene with objects that leave the others where they were."""
    made = bpy.data.collections.new(name)
    bpy.context.scene.collection.children.link(made)
    for block in blocks:
        for home in block.users_collection:
            home.objects.unlink(block)
        made.objects.link(block)
    bpy.context.view_layer.update()
    return made


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


def test_what_was_added_to_a_model_belongs_to_it_and_what_left_does_not(walker):
    hat = add_cube("hat")
    bpy.context.scene.collection.objects.unlink(hat)
    walker.objects.link(hat)
    bpy.context.view_layer.update()
    activate(hat)
    assert chosen("AUTO") == sorted(["hat", *WALKER])
    flag = walker.objects["flag.002"]
    bpy.context.scene.collection.objects.link(flag)
    for block in (flag, hat):
        walker.objects.unlink(block)
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
    copy = copies(walker.objects, "z copy", linked=True)
    copy[MODEL_ID] = walker[MODEL_ID]
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
    assert "all that is visible is meant (select what to write): " in said
    assert all(f"'{block.name}'" in said for block in blocks)


def test_a_collection_by_name_and_the_active_one(walker):
    around = made_collection("around")
    around.children.link(walker)
    bpy.context.scene.collection.children.unlink(walker)
    activate(add_cube("a"))
    for name in ("walker", "around"):
        found = choose(bpy.context, "SELECTION", name)
        assert sorted(b.name for b in found.blocks) == WALKER
        assert found.collection == walker, "that speaks for the model"
    with pytest.raises(LimitError, match="there is no collection 'gone'"):
        choose(bpy.context, "AUTO", "gone")
    made = made_collection("made", bpy.data.objects["a"])
    view = bpy.context.view_layer
    view.active_layer_collection = view.layer_collection.children["made"]
    found = choose(bpy.context, "COLLECTION")
    assert ([b.name for b in found.blocks], found.collection) == (["a"], made)


def test_kinds(walker):
    for name, data in (
        ("sun", bpy.data.lights.new("sun", "SUN")),
        ("eye", bpy.data.cameras.new("eye")),
        ("text", bpy.data.curves.new("text", "FONT")),
        ("rig", bpy.data.armatures.new("rig")),
    ):
        walker.objects.link(bpy.data.objects.new(name, data))
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
    made = made_collection(name) if into is None else into
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


def test_what_was_added_to_copies_belongs_to_them_and_what_was_deleted_does_not_come_back(walker):
    made = copies(walker.objects)
    made.objects.link(add_cube("hat"))
    assert len(meant(made.objects[1])) == 5
    assert "hat" in chosen("AUTO")
    activate(walker.objects[0])
    assert chosen("AUTO") == WALKER
    bpy.data.batch_remove([made.objects["hat"], made.objects[1]])
    bpy.context.view_layer.update()
    assert meant(made.objects[0]) == set(made.objects) and len(made.objects) == 3


def test_two_collections_of_copies_and_no_original(walker):
    one, other = copies(walker.objects, "one"), copies(walker.objects, "other")
    bpy.data.batch_remove([*walker.objects, walker])
    bpy.context.view_layer.update()
    for own in (one, other):
        assert meant(own.objects[0]) == set(own.objects)


def test_a_model_in_several_collections_and_a_copy_of_it(walker):
    """What lies apart, and is there once, is one model; the copy is another."""
    made = copies(walker.objects)
    made_collection("apart", walker.objects["flag.002"])
    activate(bpy.data.objects["flag.002"])
    assert chosen("AUTO") == WALKER
    assert meant(made.objects[0]) == set(made.objects)


def test_copies_elsewhere_than_in_a_collection_of_their_own(walker):
    """Below the model's, among what else is in the scene's own, and beside an original, of whose model they are."""
    inner, root = bpy.data.collections.new("inner"), bpy.context.scene.collection
    walker.children.link(inner)
    copies(walker.objects, into=inner)
    assert meant(inner.objects[0]) == set(inner.objects)
    copies(walker.objects, into=root)
    stranger = add_cube("stranger")
    assert stranger.name in root.objects
    assert meant(root.objects[0]) == set(root.objects) - {stranger}
    bpy.data.batch_remove([*inner.objects, *root.objects])
    copies([walker.objects["flag.002"]], into=walker)
    assert len(meant(walker.objects[0])) == 5


def test_a_copy_that_hangs_on_a_parent(tmp_path, walker):
    made = copies(walker.objects)
    parent = add_tag("handle", display="PLAIN_AXES")
    for block in made.objects:
        block.parent = parent
    bpy.context.view_layer.update()
    assert meant(made.objects[2]) == set(made.objects)
    assert export_md3(tmp_path / "b.md3") == sample("animated")


def test_an_instance_of_the_collection_is_none_of_it(tmp_path, walker, capfd):
    instance = add_tag("instance", "PLAIN_AXES")
    instance.instance_type, instance.instance_collection = "COLLECTION", walker
    activate(walker.objects[0])
    assert chosen("AUTO") == WALKER
    activate(instance)
    assert "which leaves out animations); left out: 'instance'" in error_of(
        run_export, filepath=str(tmp_path / "b.md3")
    )


def test_copies_of_a_model_with_bones(tmp_path):
    data = samples_md5.several_meshes()
    collection = import_model(put(tmp_path / "arm.md5mesh", data))
    activate(*collection.objects)
    bpy.ops.object.duplicate()
    for own in (made_collection("copy", *bpy.context.selected_objects), collection):
        assert len(own.objects) == 4
        for block in own.objects:
            assert meant(block) == set(own.objects)
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

LEFT = "tags left out, they are not selected (select them, too): "
TAKEN = "taken along, they hang together with what is selected (Export: Selection leaves them out): "


def said(capfd, words, path, **options):
    """Export; returns what is said behind some words."""
    capfd.readouterr()
    export_model(path, **options)
    text = capfd.readouterr().out
    return text.split(words)[1].split(";")[0].strip() if words in text else ""


@pytest.mark.parametrize("what", ["AUTO", "SELECTION"])
def test_tags_of_a_handmade_model_that_are_not_selected_are_said(tmp_path, capfd, what):
    path = tmp_path / "b.md3"
    add_tag("tag_weapon")
    add_tag("arrow")
    add_tag("lamp's place", display="PLAIN_AXES")
    box = add_cube("box")
    add_cube("another model's")
    activate(box)
    assert said(capfd, LEFT, path, what=what) == "'tag_weapon', 'arrow'"
    activate(box, bpy.data.objects["tag_weapon"])
    assert said(capfd, LEFT, path, what=what) == "'arrow'"
    assert len(export_model(path, what=what).tags) == 1
    assert said(capfd, LEFT, path, what="SCENE") == ""
    assert said(capfd, LEFT, tmp_path / "b.md2", what=what) == "", "MD2 has none anyhow"


@pytest.mark.parametrize("rigged", [False, True])
def test_tags_whose_copies_are_selected_are_there(tmp_path, capfd, rigged):
    own = [*import_model(SENTINEL).objects]
    activate(next(block for block in own if block.type == "MESH"))
    if rigged:
        assert bpy.ops.object.idtech_make_rig() == {"FINISHED"}
    activate(*bpy.data.objects)
    bpy.ops.object.duplicate()
    assert said(capfd, LEFT, tmp_path / "b.md3", what="SELECTION") == ""
    bpy.data.objects["tag_eye.001"].select_set(False)
    assert said(capfd, LEFT, tmp_path / "b.md3", what="SELECTION").startswith("'tag_eye'")


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
    made_collection("other", held)
    activate(box)
    assert said(capfd, TAKEN, path) == "'lid'"
    activate(box, lid)
    bpy.data.objects.remove(ghost)
    assert said(capfd, TAKEN, path) == "'tag_weapon'"
    assert [len(export_model(path).surfaces), len(export_model(path).tags)] == [2, 1]
    assert said(capfd, TAKEN, path, what="SELECTION") == ""
    assert not export_model(path, what="SELECTION").tags
    rig = add_object("rig", bpy.data.armatures.new("rig"))
    for block in [add_cube(name) for name in ("arm", "leg", "free")][:2]:
        block.modifiers.new("rig", "ARMATURE").object = rig
    activate(bpy.data.objects["arm"])
    assert said(capfd, TAKEN, path) == "'leg'", "meshes of one armature hang together"


def test_tags_of_an_imported_model_of_which_a_part_is_selected(tmp_path, capfd, walker):
    activate(walker.objects["h_body"])
    assert said(capfd, LEFT, tmp_path / "b.md3", what="SELECTION") == "'tag_weapon', 'tag_head'"
    assert said(capfd, LEFT, tmp_path / "b.md3") == "", "the whole model"


def test_tags_elsewhere_are_not_missed_unless_they_hang_on_it(tmp_path, capfd, walker):
    made_collection("other", *(add_tag(name) for name in ("tag_on_it", "tag_alone")))
    box = add_cube("box")
    bpy.data.objects["tag_on_it"].parent = box
    for tag in (walker.objects["tag_head"], walker.objects["tag_weapon"]):
        bpy.context.scene.collection.objects.link(tag)
    bpy.context.view_layer.update()
    activate(box)
    assert said(capfd, LEFT, tmp_path / "b.md3", what="SELECTION") == "'tag_on_it'"
    assert said(capfd, TAKEN, tmp_path / "b.md3") == "'tag_on_it'"


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
    for told in (LISTS_TAGS, SKELETON):
        rig.data.pop(told)
    activate(mesh)
    wanted = ", ".join(f"'{name}'" for name in tags)
    capfd.readouterr()
    assert any(bone.name == "tag_hand" for bone in rig.data.bones)
    export_bytes(tmp_path / "b.mdm", what="SELECTION")
    assert f"{LEFT}{wanted}\n" in capfd.readouterr().out, "a bone is among what is selected"
    export_bytes(tmp_path / "b.md5mesh", what="SELECTION")
    assert LEFT not in capfd.readouterr().out, "MD5 has none anyhow"
    assert said(capfd, LEFT, tmp_path / "b.md3", what="SELECTION") == f"{wanted}, 'tag_hand'"
    assert said(capfd, TAKEN, tmp_path / "b.md3") == wanted
    assert {tag.name for tag in load((tmp_path / "b.md3").read_bytes()).tags} == {*tags, "tag_hand"}
    assert {tag.name for tag in load(export_bytes(tmp_path / "b.mdm")).tags} == {*tags, "tag_hand"}


def test_what_hangs_on_a_bone_goes_with_the_mesh_that_the_armature_bends(tmp_path, capfd):
    """And is named where it is hidden; not what hangs on the armature itself, which no bone moves."""
    bpy.ops.object.armature_add()
    rig = bpy.context.object
    body, hat, sign = add_cube("body"), add_cube("hat"), add_cube("sign")
    body.vertex_groups.new(name="Bone").add(range(8), 1.0, "REPLACE")
    body.modifiers.new("rig", "ARMATURE").object = rig
    hat.parent, hat.parent_type, hat.parent_bone = rig, "BONE", "Bone"
    sign.parent = rig
    for suffix in ("md3", "md5mesh"):
        activate(body)
        assert said(capfd, TAKEN, tmp_path / f"a.{suffix}") == "'hat'"
    bpy.ops.object.armature_add()
    rider = bpy.context.object
    rider.parent, rider.parent_type, rider.parent_bone = rig, "BONE", "Bone"
    other = add_cube("other")
    other.parent = rider
    other.modifiers.new("rig", "ARMATURE").object = rider
    shape = add_cube("shape")
    shape.parent, shape.parent_type, shape.parent_bone = rig, "BONE", "Bone"
    rig.pose.bones[0].custom_shape = shape
    pole, grip = add_object("pole", None), add_object("grip", None)
    for block in (pole, grip):
        block.parent, block.parent_type, block.parent_bone = rig, "BONE", "Bone"
    hold = rig.pose.bones[0].constraints.new("IK")
    hold.target, hold.pole_target = grip, pole
    activate(body)
    assert said(capfd, TAKEN, tmp_path / "a.md5mesh") == "'hat'", "neither another character nor a control"
    hat.hide_set(True)
    grip.hide_set(True)
    activate(body)
    assert said(capfd, "1 hidden object left out: ", tmp_path / "a.md5mesh") == "'hat'"
    for block in (other, rider):
        bpy.data.objects.remove(block)
    activate(rig)
    assert said(capfd, "1 hidden object left out: ", tmp_path / "a.iqm") == "'hat'"


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
        add_object("plume", bpy.data.curves.new("plume", "CURVE")).parent = hat.parent
        stranger = add_cube("stranger")
        activate(hat.parent)
        stranger.select_set(True)
        assert bpy.ops.export_scene.idtech_md3(filepath=str(tmp_path / "a.md3")) == {"FINISHED"}
        said = capfd.readouterr().out
        assert "none of its own (select them, too, to write them): 'hat'" in said
        assert "are selected but no part of the active model (Export: Selection takes them): 'stranger'" in said
        assert "which leaves out animations); left out: 'plume'" in said

    def test_bent_or_carried_by_the_models_armature(self, tmp_path):
        made = import_model(put(tmp_path / "a.md5mesh", samples_md5.arm()))
        rig = next(block for block in made.objects if block.type == "ARMATURE")
        block = add_cube("hat")
        block.vertex_groups.new(name=rig.data.bones[0].name).add(range(8), 1.0, "REPLACE")
        block.modifiers.new("rig", "ARMATURE").object = rig
        activate(rig)
        assert "hat" not in chosen("AUTO")
        block.select_set(True)
        assert "hat" in chosen("AUTO")
        block.modifiers.clear()
        block.parent, block.parent_type, block.parent_bone = rig, "BONE", rig.data.bones[0].name
        assert "hat" in chosen("AUTO"), "which the bone carries"
        block.parent_type = "OBJECT"
        assert "hat" not in chosen("AUTO"), "without weights there is no place for it in the file"
        for selected in (True, False):
            block.select_set(selected)
            found = choose(bpy.context, "AUTO")
            assert ([each.name for each in found.weightless], found.strange, found.beside) == (["hat"], [], [])


class TestMeshesOfAnotherFile:
    """A helmet that came with another model, and is bound to this one's bones."""

    def models(self, folder, kind, name):
        """Import a model, and another one with a mesh; returns the former's objects, and that mesh."""
        made = list(import_model(put(folder / f"a.{kind}", sample(name, kind))).objects)
        (hat,) = (block for block in import_model(put(folder / "hat.md3", "minimal")).objects if block.type == "MESH")
        hat.vertex_groups.new(name="hand").add([0, 1, 2], 1.0, "REPLACE")
        return made, hat

    def test_bent_by_an_imported_armature(self, tmp_path, capfd):
        made, hat = self.models(tmp_path, "md5mesh", "arm")
        rig = next(block for block in made if block.type == "ARMATURE")
        hat.modifiers.new("rig", "ARMATURE").object = rig
        activate(rig)
        assert len(export_model(tmp_path / "b.md5mesh").meshes) == 1
        assert f"none of its own (select them, too, to write them): '{hat.name}'" in capfd.readouterr().out
        for blocks in ((rig, hat), (hat, rig), (hat,)):
            activate(*blocks)
            assert [mesh.name for mesh in export_model(tmp_path / "b.md5mesh").meshes][1:] == [hat.name]
            assert "left out" not in capfd.readouterr().out
        activate(hat)
        assert [surface.name for surface in export_model(tmp_path / "b.md3").surfaces] == [hat.name], "its own file"

    @pytest.mark.parametrize(("kind", "stem"), [("md5mesh", "a"), ("md3", "hat")])
    def test_the_dialog_proposes_the_name_of_what_is_written(self, tmp_path, monkeypatch, kind, stem):
        made, hat = self.models(tmp_path, "md5mesh", "arm")
        hat.modifiers.new("rig", "ARMATURE").object = next(block for block in made if block.type == "ARMATURE")
        activate(hat)
        assert proposed(kind, monkeypatch) == f"{stem}.{kind}"

    def test_bent_by_a_rig_of_frames(self, tmp_path, capfd):
        made, hat = self.models(tmp_path, "md3", "animated")
        activate(next(block for block in made if block.type == "MESH"))
        bpy.ops.object.idtech_make_rig()
        rig = next(block for block in bpy.context.scene.objects if block.type == "ARMATURE")
        hat.modifiers.new("rig", "ARMATURE").object = rig
        activate(rig)
        assert len(export_model(tmp_path / "b.md3").surfaces) == 2
        assert f"none of its own (select them, too, to write them): '{hat.name}'" in capfd.readouterr().out
        hat.select_set(True)
        assert len(export_model(tmp_path / "b.md3").surfaces) == 3

    def test_bent_by_an_armature_of_ones_own_as_others_are(self, tmp_path):
        """One armature may move parts of several models, each of which has its file."""
        made, hat = self.models(tmp_path, "md3", "animated")
        rig = add_object("own", bpy.data.armatures.new("own"))
        meshes = [block for block in made if block.type == "MESH"]
        for block in (*meshes, hat):
            block.modifiers.new("rig", "ARMATURE").object = rig
        activate(meshes[0], *meshes, hat, rig)
        assert hat.name not in chosen("AUTO")

    def test_hung_on_a_bone_they_are_a_model_by_themselves(self, tmp_path, capfd):
        made, hat = self.models(tmp_path, "md5mesh", "arm")
        rig = next(block for block in made if block.type == "ARMATURE")
        hat.parent, hat.parent_type, hat.parent_bone = rig, "BONE", "hand"
        activate(rig, hat)
        assert len(export_model(tmp_path / "b.md5mesh").meshes) == 1
        assert f"no part of the active model (Export: Selection takes them): '{hat.name}'" in capfd.readouterr().out


@pytest.mark.parametrize("on", ["bone", "mesh", "tag"])
def test_what_follows_a_model_by_a_constraint_hangs_together_with_it(tmp_path, capfd, on):
    """But not what follows a tag, which is another model."""
    kind, data = ("md5mesh", samples_md5.arm()) if on == "bone" else ("md3", "animated")
    made = import_model(put(tmp_path / f"a.{kind}", data))
    lead = next(block for block in made.objects if block.type == {"bone": "ARMATURE", "tag": "EMPTY"}.get(on, "MESH"))
    meshes = sum(block.type == "MESH" for block in made.objects)
    hat = add_cube("hat")
    hold = hat.constraints.new("CHILD_OF")
    hold.target, hold.subtarget = lead, "hand" if on == "bone" else ""
    bpy.context.view_layer.update()
    activate(next(block for block in made.objects if block.type == "MESH"))
    capfd.readouterr()
    export_bytes(tmp_path / f"b.{kind}")
    said = "left out, they hang together with the model and are none of its own (select them, too, to write them): "
    assert (f"{said}'hat'" in capfd.readouterr().out) == (on != "tag")
    hat.select_set(True)
    found = export_model(tmp_path / f"b.{kind}")
    assert len(found.meshes if on == "bone" else found.surfaces) == meshes + (on != "tag")


def test_what_follows_a_bone_of_ones_own_is_taken_with_the_body_that_it_bends(tmp_path):
    bones = bpy.data.armatures.new("rig")
    rig = add_object("rig", bones)
    activate(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    bones.edit_bones.new("hand").tail = (0, 1, 0)
    bpy.ops.object.mode_set(mode="OBJECT")
    body, hat = add_cube("body"), add_cube("hat")
    body.modifiers.new("a", "ARMATURE").object = rig
    hold = hat.constraints.new("COPY_TRANSFORMS")
    hold.target, hold.subtarget = rig, "hand"
    bpy.context.view_layer.update()
    activate(body, body)
    assert "hat" in chosen("AUTO")
    hat.hide_render = True
    assert "hat" not in chosen("AUTO"), "as what hangs there"
    activate(hat, hat)
    assert "'hat' hangs on 'rig', select both" in error_of(
        bpy.ops.export_scene.idtech_md5mesh, filepath=str(tmp_path / "a.md5mesh")
    )


@pytest.mark.parametrize("way", ["in part", "bent"])
def test_what_follows_a_model_in_part_or_has_bones_of_its_own_is_left_alone(tmp_path, way):
    """A shadow below a body, a gun with an armature of its own that follows the hand."""
    made = import_model(put(tmp_path / "a.md5mesh", samples_md5.arm()))
    rig = next(block for block in made.objects if block.type == "ARMATURE")
    own, beside = add_cube("own"), add_cube("beside")
    own.vertex_groups.new(name="hand").add(range(8), 1.0, "REPLACE")
    own.modifiers.new("a", "ARMATURE").object = rig
    follower = beside
    if way == "bent":
        follower = add_object("grip", bpy.data.armatures.new("grip"))
        beside.parent, beside.modifiers.new("a", "ARMATURE").object = follower, follower
    hold = follower.constraints.new("COPY_LOCATION" if way == "in part" else "CHILD_OF")
    hold.target, hold.subtarget = rig, "hand"
    bpy.context.view_layer.update()
    activate(own, own, rig)
    assert "beside" not in chosen("AUTO") and "beside" not in chosen("SELECTION")
    beside.parent = rig
    activate(rig)
    found = choose(bpy.context, "AUTO")
    assert ("beside" in [block.name for block in found.weightless]) == (way == "in part"), "or bones of its own move it"


def test_selected_shapes_are_said(tmp_path, capfd):
    cube, curve = add_cube("cube"), add_object("wire", bpy.data.curves.new("wire", "CURVE"))
    activate(cube, curve)
    for what in ("AUTO", "SELECTION"):
        export_bytes(tmp_path / "a.md3", what=what)
        assert "which leaves out animations); left out: 'wire'" in capfd.readouterr().out
    cube.select_set(False)
    text = error_of(run_export, filepath=str(tmp_path / "a.md3"))
    assert "nothing to export" in text and "which leaves out animations); left out: 'wire'" in text


def test_instances_are_said(tmp_path, capfd):
    plate, stone = add_cube("plate"), add_cube("stone")
    stone.parent = plate
    activate(plate, stone)
    for kind in ("VERTS", "NONE"):
        plate.instance_type = kind
        export_bytes(tmp_path / "a.md3")
        assert ("instances are left out, only meshes are written" in capfd.readouterr().out) == (kind == "VERTS")


def test_a_mesh_stays_in_edit_mode_where_another_object_is_active(tmp_path):
    """What is edited is written, and it is edited further afterwards."""
    data = samples_md5.arm()
    rig, mesh = sorted(import_model(put(tmp_path / "a.md5mesh", data)).objects, key=lambda block: block.type)
    beside = add_cube("beside")
    activate(mesh)
    bpy.ops.object.mode_set(mode="EDIT")
    beside.select_set(True)  # its mode is not changed with that of the other
    bpy.context.view_layer.objects.active = rig
    written = export_bytes(tmp_path / "b.md5mesh")
    assert (mesh.mode, rig.mode, bpy.context.view_layer.objects.active) == ("EDIT", "OBJECT", rig)
    assert (beside.mode, beside.select_get(), mesh.select_get()) == ("OBJECT", True, True)
    assert facts.differences(data, written) == set()


def test_a_linked_model_gets_no_root(tmp_path):
    import_md3(put(tmp_path / "walker.md3"))
    path = stored(tmp_path)
    with bpy.data.libraries.load(path, link=True) as (there, here):
        here.collections = there.collections
    bpy.context.scene.collection.children.link(bpy.data.collections[0])
    activate(next(block for block in bpy.context.scene.objects if block.type == "MESH"))
    assert "linked from another .blend; make it local" in error_of(bpy.ops.object.idtech_make_root)


@pytest.mark.parametrize("kind", ["md3", "md5mesh"])
def test_the_dialog_does_not_open_where_nothing_can_be_meant(tmp_path, monkeypatch, kind):
    for name in "ab":
        assert not import_model(put(tmp_path / f"{name}.md3", sample("nothing"))).objects
    view = bpy.context.view_layer
    view.active_layer_collection = view.layer_collection
    assert proposed(kind, monkeypatch).startswith("there are 2 models without objects")


@pytest.mark.parametrize("selected", [False, True])
def test_what_was_moved_out_of_a_models_collection_is_written_where_it_is_selected_else_named(
    tmp_path, capfd, walker, selected
):
    meshes = [block for block in walker.objects if block.type == "MESH"]
    walker.objects.unlink(meshes[0])
    bpy.context.scene.collection.objects.link(meshes[0])
    bpy.context.view_layer.update()
    activate(meshes[1], *meshes[: int(selected)])
    capfd.readouterr()
    found = {surface.name for surface in load(export_bytes(tmp_path / "b.md3")).surfaces}
    assert (meshes[0].name in found) == selected
    assert ("parts of the model that lie in other collections" in capfd.readouterr().out) != selected


@pytest.mark.parametrize("selected", [False, True])
def test_a_mesh_of_a_rig_that_was_moved_out_is_written_or_named_once(tmp_path, capfd, selected):
    collection = import_model(PROJECT / "examples/trooper/models/players/toys/trooper/body.mdm")
    mesh = next(block for block in collection.objects if block.type == "MESH")
    rig = next(block for block in collection.objects if block.type == "ARMATURE")
    collection.objects.unlink(mesh)
    bpy.context.scene.collection.objects.link(mesh)
    bpy.context.view_layer.update()
    activate(rig, *[mesh][: int(selected)])
    capfd.readouterr()
    found = load(export_bytes(tmp_path / "b.mdm"))
    assert len(found.meshes) == 1 + selected
    assert capfd.readouterr().out.count(f"'{mesh.name}'") == 1 - selected


def cut_off(block: Any) -> Any:
    """Separate a mesh's first half of faces, into a collection of their own; returns the piece."""
    piece = separated(block, range(len(block.data.polygons) // 2))
    assert len(block.data.polygons)
    made_collection("pieces", piece)
    bpy.context.view_layer.update()
    return piece


@pytest.mark.parametrize("selected", [False, True])
@pytest.mark.parametrize("more", [False, True], ids=["", "with another surface"])
def test_a_piece_that_was_cut_off_is_none_of_what_it_was_cut_off(tmp_path, capfd, walker, selected, more):
    meshes = [block for block in walker.objects if block.type == "MESH"]
    moved = [cut_off(meshes[0]), *[meshes[1]][: int(more)]]
    for block in moved[1:]:
        walker.objects.unlink(block)
        bpy.data.collections["pieces"].objects.link(block)
    bpy.context.view_layer.update()
    activate(meshes[0], *(moved if selected else []))
    capfd.readouterr()
    found = load(export_bytes(tmp_path / "b.md3")).surfaces
    said = capfd.readouterr().out
    assert len(found) == (3 if selected else 2 - more)
    for block in moved:
        assert bool(re.search(f"lie in other collections.*'{block.name}'", said)) != selected


def test_levels_that_are_selected_go_along(tmp_path, capfd):
    import_model(PROJECT / "tests/blends/walker.mdr")
    alone = export_bytes(tmp_path / "a.mdr")
    for layer in bpy.context.view_layer.layer_collection.children:
        for inner in (layer, *layer.children):
            inner.exclude = False
    bpy.context.view_layer.update()
    meshes = [block for block in bpy.context.scene.objects if block.type == "MESH"]
    activate(next(block for block in meshes if "." not in block.name), *bpy.context.scene.objects)
    capfd.readouterr()
    assert export_bytes(tmp_path / "b.mdr") == alone
    said = capfd.readouterr().out
    assert "2 levels of detail" in said and "left out" not in said


@pytest.mark.parametrize("way", ["bent", "carried", "held", "neither"])
@pytest.mark.parametrize("asked", ["what", "collection"])
def test_what_bones_of_a_collection_move_elsewhere_is_named(tmp_path, capfd, way, asked):
    newt = import_model(PROJECT / "examples/newt/models/md5/newt/newt.md5mesh")
    rig = next(block for block in newt.objects if block.type == "ARMATURE")
    helmet = add_cube()
    made_collection("gear", helmet)
    if way == "bent":
        helmet.vertex_groups.new(name=rig.data.bones[0].name).add(range(8), 1.0, "REPLACE")
        helmet.modifiers.new("a", "ARMATURE").object = rig
    elif way == "carried":
        helmet.parent, helmet.parent_type, helmet.parent_bone = rig, "BONE", rig.data.bones[0].name
    elif way == "held":
        hold = helmet.constraints.new("COPY_TRANSFORMS")
        hold.target, hold.subtarget = rig, rig.data.bones[0].name
    bpy.context.view_layer.update()
    activate(rig)
    capfd.readouterr()
    export_bytes(tmp_path / "b.md5mesh", **{asked: newt.name if asked == "collection" else "COLLECTION"})
    said = f"they lie in other collections (move them to the model's): '{helmet.name}'"
    assert (said in capfd.readouterr().out) == (way != "neither")


@pytest.mark.parametrize("what", ["AUTO", "SELECTION"])
@pytest.mark.parametrize("target", ["b.md5mesh", "b.mds"])
def test_an_instance_that_is_selected_is_named_once(tmp_path, capfd, what, target):
    newt = import_model(PROJECT / "examples/newt/models/md5/newt/newt.md5mesh")
    shown = bpy.data.collections.new("gun")
    shown.objects.link(bpy.data.objects.new("barrel", bpy.data.meshes.new("barrel")))
    block = add_object("gun in hand")
    block.instance_type, block.instance_collection = "COLLECTION", shown
    activate(next(block for block in newt.objects if block.type == "ARMATURE"), block, *newt.objects)
    capfd.readouterr()
    export_bytes(tmp_path / target, what=what)
    said = capfd.readouterr().out
    assert "which leaves out animations); left out: 'gun in hand'" in said and said.count("'gun in hand'") == 1


@pytest.mark.parametrize("suffix", ["md5mesh", "iqm", "mds", "md3"])
@pytest.mark.parametrize("way", ["bent", "on a bone"])
def test_a_mesh_of_ones_own_on_a_models_bones_is_written_with_the_model(tmp_path, suffix, way):
    """Alone it would take the place of all others in the model's file."""
    made = import_model(put(tmp_path / "arm.md5mesh", samples_md5.arm()))
    rig = next(block for block in made.objects if block.type == "ARMATURE")
    body = next(block for block in made.objects if block.type == "MESH")
    bone = rig.data.bones[-1].name
    hat = add_cube("hat")
    if way == "bent":
        hat.vertex_groups.new(name=bone).add(range(len(hat.data.vertices)), 1.0, "REPLACE")
        hat.modifiers.new("Armature", "ARMATURE").object = rig
    else:
        hat.parent, hat.parent_type, hat.parent_bone = rig, "BONE", bone
    activate(hat)
    model = load(export_bytes(tmp_path / f"b.{suffix}", scale=1.0))
    called = [part.name for part in getattr(model, "meshes", None) or model.surfaces]
    assert len(called) == len([block for block in made.objects if block.type == "MESH"]) + 1
    body.hide_set(True)
    model = load(export_bytes(tmp_path / f"b.{suffix}", scale=1.0))
    assert len(getattr(model, "meshes", None) or model.surfaces) == len(called) - 1
    body.hide_set(False)
    activate(hat, rig)
    model = load(export_bytes(tmp_path / f"b.{suffix}", scale=1.0, what="SELECTION"))
    assert len(getattr(model, "meshes", None) or model.surfaces) == 1


def test_copies_with_an_armature_are_a_model_of_their_own(tmp_path, capfd):
    newt = import_model(PROJECT / "examples/newt/models/md5/newt/newt.md5mesh")
    made = copies(newt.objects)
    rig = next(block for block in made.objects if block.type == "ARMATURE")
    for block in made.objects:
        for modifier in block.modifiers:
            modifier.object = rig
    activate(next(block for block in newt.objects if block.type == "MESH"), *newt.objects, *made.objects)
    capfd.readouterr()
    export_bytes(tmp_path / "b.md5mesh")
    assert "no part of the active model (export them on their own)" in capfd.readouterr().out


def test_a_hidden_armature_of_ones_own_poses_its_mesh_all_the_same(tmp_path, capfd, walker):
    block = next(block for block in walker.objects if block.type == "MESH")
    rig = bpy.data.objects.new("own", bpy.data.armatures.new("own"))
    walker.objects.link(rig)
    block.modifiers.new("a", "ARMATURE").object = rig
    rig.hide_set(True)
    activate(block)
    capfd.readouterr()
    export_bytes(tmp_path / "b.md3")
    assert "hidden" not in capfd.readouterr().out


def test_a_piece_is_named_beside_a_copy_of_another_surface(tmp_path, capfd, walker):
    meshes = [block for block in walker.objects if block.type == "MESH"]
    piece = cut_off(meshes[0])
    copy = copy_of(meshes[1])
    for home in copy.users_collection:
        home.objects.unlink(copy)
    bpy.data.collections["pieces"].objects.link(copy)
    bpy.context.view_layer.update()
    activate(meshes[0])
    capfd.readouterr()
    assert len(load(export_bytes(tmp_path / "b.md3")).surfaces) == 2
    found = re.search("lie in other collections.*", capfd.readouterr().out)
    assert found is not None and f"'{piece.name}'" in found[0] and f"'{copy.name}'" not in found[0]


@pytest.mark.parametrize(
    ("keys", "said"), [({0: False, 2: True}, True), ({0: True, 2: True}, False), ({300: False, 310: True}, True)]
)
@pytest.mark.parametrize("muted", [False, True])
def test_what_is_hidden_in_some_frames_is_named(tmp_path, capfd, walker, keys, said, muted):
    block = next(block for block in walker.objects if block.type == "MESH")
    for frame, hidden in keys.items():
        block.hide_viewport = hidden
        block.keyframe_insert("hide_viewport", frame=frame)
    for curve in playing_curves(block):
        curve.mute = muted
    bpy.context.scene.frame_set(0)
    activate(walker.objects[1])
    capfd.readouterr()
    export_bytes(tmp_path / "b.md3")
    assert ("shown in some frames alone" in capfd.readouterr().out) == (said and not muted)


def test_what_is_hidden_in_some_frames_of_a_strip_or_in_no_scene_is_named(tmp_path, capfd, walker):
    block = next(block for block in walker.objects if block.type == "MESH")
    for frame, hidden in ((500, True), (510, False)):
        block.hide_viewport = hidden
        block.keyframe_insert("hide_viewport", frame=frame)
    block.animation_data.nla_tracks.new().strips.new("a", 0, block.animation_data.action)
    block.animation_data.action = None
    bpy.context.scene.frame_set(100)
    export_bytes(tmp_path / "b.md3")
    assert "shown in some frames alone" in capfd.readouterr().out
    bpy.context.scene.collection.children.unlink(walker)
    assert "nothing to export" in error_of(
        bpy.ops.export_scene.idtech_md3, filepath=str(tmp_path / "c.md3"), collection=walker.name
    )


@pytest.mark.parametrize(("expression", "said"), [("0", False), ("frame > 3", True)])
def test_a_driver_that_hides_now_and_then_is_named(tmp_path, capfd, walker, expression, said):
    block = next(block for block in walker.objects if block.type == "MESH")
    block.driver_add("hide_viewport").driver.expression = expression
    bpy.context.view_layer.update()
    activate(walker.objects[1])
    capfd.readouterr()
    export_bytes(tmp_path / "b.md3")
    assert ("shown in some frames alone" in capfd.readouterr().out) == said


@pytest.mark.parametrize("selected", [True, False])
def test_other_models_that_are_selected_beside_a_model_are_named(tmp_path, capfd, walker, selected):
    """Their meshes are; with what is not selected an export of the active model has nothing to do."""
    other = import_model(put(tmp_path / "other.md2", "minimal"))
    activate(walker.objects[0], *(other.objects if selected else ()))
    capfd.readouterr()
    assert export_md3(tmp_path / "b.md3") == sample("animated")
    said, names = capfd.readouterr().out, [block.name for block in other.objects if block.type == "MESH"]
    assert ("they are selected but no part of the active model" in said) == selected
    assert all((f"'{name}'" in said) == selected for name in names)


def test_copies_that_are_selected_beside_a_model_are_named(tmp_path, capfd, walker):
    made = copies(walker.objects)
    activate(walker.objects[0], *made.objects, *walker.objects)
    capfd.readouterr()
    assert export_md3(tmp_path / "b.md3") == sample("animated")
    said = capfd.readouterr().out
    assert "they are selected but no part of the active model" in said
    assert all(f"'{block.name}'" in said for block in made.objects if block.type == "MESH")


@pytest.mark.parametrize(
    ("path", "away"), [("tests/blends/walker.mdr", ""), ("examples/newt/models/md5/newt/newt.md5mesh", "ARMATURE")]
)
def test_levels_and_an_armature_elsewhere_are_not_left_out(tmp_path, capfd, path, away):
    collection = import_model(PROJECT / path)
    made_collection("rigs", *[each for each in collection.objects if each.type == away])
    mesh = next(block for block in collection.objects if block.type == "MESH")
    bpy.context.view_layer.update()
    activate(mesh)
    capfd.readouterr()
    assert export_bytes(tmp_path / f"b{Path(path).suffix}") == (PROJECT / path).read_bytes()
    assert "left out" not in capfd.readouterr().out
