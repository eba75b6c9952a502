"""Objects that came without their collection: appended one by one, or pasted. They know their model together."""

import random

import numpy as np
import pytest

from io_idtech_models.blender.provenance import MODEL_ID, RECORD
from io_idtech_models.formats.md3 import file as md3
from io_idtech_models.model import records
from io_idtech_models.model.records import vertex as record
from io_idtech_models.tasks.export.selection import choose
from io_idtech_models.tasks.export.skin_files import model_file
from io_idtech_models.ui.export.proposals import proposed_stem
from tests import facts, samples_md5, samples_mdm
from tests.samples import format_of, put, sample, sample_params
from tests.ui.scene import activate, add_cube, bpy, export_bytes, export_md3, import_md3, import_model

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]


def new_scene():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def append(path, names, into=None):
    """Append objects, and what they need, without their collection; returns them."""
    with bpy.data.libraries.load(str(path), link=False) as (_, found):
        found.objects = list(names)
    for block in found.objects:
        (into or bpy.context.scene.collection).objects.link(block)
    bpy.context.view_layer.update()
    return found.objects


def objects_of(path, data=None):
    """Import a file, by default one of several surfaces and tags, and leave it for a new scene.

    Returns a .blend with it and its objects' names, in another order.
    """
    import_model(put(path, data or "animated"))
    names = [block.name for block in bpy.data.objects]
    random.Random(4).shuffle(names)
    blend = path.with_suffix(".blend")
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    new_scene()
    return blend, names


def written(path, **options):
    """Export; returns the file's structs, and those of the sample."""
    return md3.read(export_md3(path, **options)), md3.read(sample("animated"))


@pytest.mark.parametrize("data", sample_params())
def test_all_objects_appended(tmp_path, data):
    suffix = format_of(data).suffixes[0]
    blend, names = objects_of(tmp_path / f"a{suffix}", data)
    if not names:  # nothing to append
        return
    blocks = append(blend, names)
    assert not bpy.data.collections
    activate(blocks[0])
    assert export_bytes(tmp_path / f"b{suffix}") == data
    assert export_bytes(tmp_path / f"b{suffix}", what="SCENE") == data


def test_one_after_another_in_collections_of_their_own(tmp_path):
    """What comes together again is one model, wherever it lies."""
    blend, names = objects_of(tmp_path / "a.md3")
    for name in names:
        made = bpy.data.collections.new(f"of {name}")
        bpy.context.scene.collection.children.link(made)
        activate(append(blend, [name], made)[0])
    assert export_md3(tmp_path / "b.md3") == sample("animated")


def test_pasted(tmp_path):
    import_md3(put(tmp_path / "a.md3"))
    bpy.ops.object.select_all(action="SELECT")
    assert bpy.ops.view3d.copybuffer() == {"FINISHED"}
    new_scene()
    add_cube("stranger")
    assert bpy.ops.view3d.pastebuffer(autoselect=True) == {"FINISHED"}
    blocks = [block for block in bpy.context.selected_objects if block.name != "stranger"]
    assert len(blocks) == 4
    activate(blocks[-1])
    assert export_md3(tmp_path / "b.md3") == sample("animated")


def test_pasted_beside_the_original(tmp_path):
    """They are copies: where they lie apart from the original they are a model of their own."""
    walker = import_md3(put(tmp_path / "a.md3"))
    bpy.ops.object.select_all(action="SELECT")
    bpy.ops.view3d.copybuffer()
    made = bpy.data.collections.new("mine")
    bpy.context.scene.collection.children.link(made)
    view = bpy.context.view_layer
    view.active_layer_collection = view.layer_collection.children["mine"]
    bpy.ops.view3d.pastebuffer(autoselect=True)
    for own in (made, walker):
        assert len(own.objects) == 4
        activate(own.objects[0])
        assert export_md3(tmp_path / "b.md3") == sample("animated")


def test_what_else_is_selected_and_no_models_comes_along(tmp_path):
    blend, names = objects_of(tmp_path / "a.md3")
    import_md3(put(tmp_path / "c.md3", "minimal"))
    blocks = append(blend, names)
    hat, _ = add_cube("hat"), add_cube("stranger")
    activate(blocks[0], hat, *bpy.data.collections["c"].objects)
    found, _ = written(tmp_path / "b.md3")
    assert [bytes(s.header["name"])[:4] for s in found.surfaces] == [b"h_bo", b"flag", b"hat"]


def test_a_copy_of_an_appended_object_is_a_further_surface(tmp_path, capfd):
    append(*objects_of(tmp_path / "a.md3"))
    flag = bpy.data.objects["flag.002"]
    for linked in (False, True):
        copy = flag.copy()
        copy.data = flag.data if linked else flag.data.copy()
        bpy.context.scene.collection.objects.link(copy)
    bpy.context.view_layer.update()
    found, before = written(tmp_path / "b.md3", what="SCENE")
    copies = [b"flag.002-2", b"flag.002-3"]
    assert [s.header["name"] for s in found.surfaces] == [s.header["name"] for s in before.surfaces] + copies
    assert found.header["name"] == before.header["name"]
    assert "are copies of surfaces: written as further ones" in capfd.readouterr().out


def test_the_file_that_they_came_from(tmp_path):
    """Pictures beside it are offered as skins, and its name is the one that an export proposes."""
    for suffix, data in ((".md3", sample("minimal")), (".md5mesh", samples_md5.arm()), (".mdm", samples_mdm.figure())):
        new_scene()
        path = tmp_path / f"one{suffix}"
        append(*objects_of(path, data))
        for block in bpy.data.objects:
            activate(block)
            assert proposed_stem(choose(bpy.context, "AUTO")) == "one"
            assert block.type != "MESH" or model_file(block) == path


# -- a part


def test_a_part_of_a_model(tmp_path, capfd):
    """It keeps the name in the file; bounds are those of what is there, and that is said."""
    blend, _ = objects_of(tmp_path / "a.md3")
    activate(*append(blend, ["flag.002", "tag_head"]))
    found, before = written(tmp_path / "b.md3")
    for field in ("name", "flags", "num_skins"):
        assert found.header[field] == before.header[field], field
    assert found.frames["name"].tolist() == before.frames["name"].tolist()
    assert found.frames["mins"].tolist() != before.frames["mins"].tolist()
    (tag,), (_, wanted) = found.tags.T, before.tags.T
    assert tag.tobytes() == wanted.tobytes()
    assert "is a part of its model: bounds are made anew" in capfd.readouterr().out


def test_a_mesh_without_its_tags_keeps_bounds(tmp_path, capfd):
    blend, _ = objects_of(tmp_path / "a.md3")
    activate(append(blend, ["flag.002", "h_body"])[1])
    found, before = written(tmp_path / "b.md3")
    assert found.frames.tobytes() == before.frames.tobytes()
    assert found.tags.shape[1] == 0
    assert "made anew" not in capfd.readouterr().out


def test_an_edit_of_an_appended_model(tmp_path):
    append(*objects_of(tmp_path / "a.md3"))
    body = bpy.data.objects["h_body"]
    body.data.shape_keys.key_blocks[1].points[4].co.z += 30.0
    activate(body)
    found, before = written(tmp_path / "b.md3")
    assert [np.array_equal(a, b) for a, b in zip(found.frames, before.frames, strict=True)] == [True, False, True]
    assert found.header == before.header
    assert found.tags.tobytes() == before.tags.tobytes()


def test_parts_of_two_models(tmp_path, capfd):
    """They make a new model, in which each surface is what it was."""
    first, second = (objects_of(tmp_path / f"{name}.md3", sample(name))[0] for name in ("minimal", "no_shaders"))
    activate(*append(first, ["tri"]), *append(second, ["tri"]))
    found = md3.read(export_md3(tmp_path / "c.md3", what="SCENE"))
    wanted = [md3.read(sample(name)).surfaces[0] for name in ("minimal", "no_shaders")]
    for surface, before in zip(found.surfaces, wanted, strict=True):
        assert surface.vertices.tobytes() == before.vertices.tobytes()
    assert [surface.header["name"] for surface in found.surfaces] == [b"tri", b"tri2"]  # games know them by names
    assert "its name in the file and bounds are made anew" in capfd.readouterr().out


@pytest.mark.parametrize("kind", ["md3", "mdc"])
def test_a_model_with_tags_and_parts_of_another(tmp_path, capfd, kind):
    """The first's tags are what they were, too, and no facts are thrown away."""
    data = sample("animated", kind)
    blends = [objects_of(tmp_path / f"{name}.{kind}", data) for name in "ab"]
    blend, names = blends[1]
    activate(*append(*blends[0]), *append(blend, [name for name in names if not name.startswith("tag_")][:1]))
    written = export_bytes(tmp_path / f"c.{kind}", what="SCENE")
    row = format_of(data)
    assert row.read(written).tags.tobytes() == row.read(data).tags.tobytes()
    before, found = (row.load(each, "") for each in (data, written))
    assert len(found.surfaces) == len(before.surfaces) + 1
    for surface, own in zip(found.surfaces, before.surfaces, strict=False):
        assert np.array_equal(surface.positions, own.positions) and np.array_equal(surface.normals, own.normals)
    said = capfd.readouterr().out
    assert "damaged" not in said and "its name in the file and bounds are made anew" in said


# -- files of before, and of strangers


def stripped(data):
    """Return a mesh's record as versions wrote it that kept the model's facts on the collection alone."""
    arrays = records.unpack(data)
    return records.pack({name: array for name, array in arrays.items() if not name.startswith(record.WHOLE)})


def test_a_blend_of_before_opens_and_what_it_does_not_tell_is_said(tmp_path, capfd):
    collection = import_md3(put(tmp_path / "a.md3"))
    for block in collection.objects:
        if block.data is None:
            block.pop(RECORD, None)
        else:
            data = stripped(bytes(block.data[RECORD]))
            block.data.pop(RECORD)
            block.data[RECORD] = data
    names, blend = [block.name for block in collection.objects], str(tmp_path / "x.blend")
    bpy.ops.wm.save_as_mainfile(filepath=blend)
    bpy.ops.wm.open_mainfile(filepath=blend)
    assert export_md3(tmp_path / "b.md3") == sample("animated")
    assert "made anew" not in capfd.readouterr().out
    new_scene()
    append(blend, reversed(names))
    activate(bpy.data.objects["h_body"])
    found, before = written(tmp_path / "b.md3")
    assert [s.vertices.tobytes() for s in found.surfaces] == [s.vertices.tobytes() for s in before.surfaces]
    assert found.header["name"] != before.header["name"]
    assert "its name in the file and bounds are made anew" in capfd.readouterr().out


@pytest.mark.parametrize("stranger", [5, "nonsense", b"bytes", [1, 2]])
def test_ids_and_numbers_of_a_stranger(tmp_path, stranger):
    for block in append(*objects_of(tmp_path / "a.md3")):
        (block.data or block)[MODEL_ID] = stranger
    for block in bpy.data.objects:
        block["idtech_tag"] = stranger
    export_md3(tmp_path / "b.md3", what="SCENE")


def test_records_do_not_grow_with_the_square_of_a_model(tmp_path):
    """Each part knows the whole: what it knows has one size, whatever the number of parts."""
    sizes = []
    for count in (8, 64):
        spec = format_of(sample("minimal")).load(sample("minimal"), "many")
        spec.source = None
        spec.surfaces = spec.surfaces * count
        new_scene()
        import_md3(put(tmp_path / f"{count}.md3", format_of(sample("minimal")).dump(spec)))
        meshes = [block.data for block in bpy.data.objects if block.type == "MESH"]
        sizes.append(sum(len(mesh[RECORD]) for mesh in meshes) / count)
    assert sizes[1] < 1.2 * sizes[0]


# -- models with bones

BONED = {"arm.md5mesh": samples_md5.several_meshes(), "figure.mdm": samples_mdm.figure()}


@pytest.mark.parametrize("name", BONED)
def test_a_model_with_bones_appended(tmp_path, name):
    if name.endswith(".mdm"):
        put(tmp_path / "figure.mdx", samples_mdm.walk())
    for block in append(*objects_of(tmp_path / name, BONED[name])):
        activate(block)
        again = export_bytes(tmp_path / f"again-{name}")
        assert facts.differences(BONED[name], again) == set()
        assert again == BONED[name] or name.endswith(".md5mesh")
