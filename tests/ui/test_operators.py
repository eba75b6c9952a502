"""Importing by operator, and exporting what was imported: the same bytes come back, whatever happened in between."""

import os
from pathlib import Path

import numpy as np
import pytest

from io_idtech_models.blender.vertex import build as vertex
from io_idtech_models.formats.md3 import file as md3
from io_idtech_models.reporting import LimitError
from tests import samples_md3
from tests.samples import put, sample
from tests.samples_md3 import minimal
from tests.ui.scene import (
    activate,
    bpy,
    counts,
    error_of,
    export_bytes,
    export_md3,
    import_md3,
    import_model,
    picture_of,
    png,
    run_export,
    run_import,
    settings,
    tga,
)

pytestmark = pytest.mark.usefixtures("empty_scene")


def scene():
    return bpy.context.scene


# -- import


def test_what_an_import_makes(tmp_path):
    collection = import_md3(put(tmp_path / "Walker.md3"))
    assert collection.name == "Walker"
    assert [b.name for b in collection.objects] == ["h_body", "flag.002", "tag_weapon", "tag_head"]
    assert list(scene().collection.children) == [collection]
    assert settings(scene())[:2] == (0, 2)
    assert bpy.context.view_layer.objects.active == collection.objects[0]
    assert set(bpy.context.selected_objects) == set(collection.objects)


def import_files(folder, *names, **options):
    return run_import(directory=str(folder), files=[{"name": name} for name in names], **options)


def test_several_files_at_once(tmp_path):
    put(tmp_path / "a.md3", "minimal")
    put(tmp_path / "b.md3", "animated")
    put(tmp_path / "c.MD3", "seamed_cube")
    assert import_files(tmp_path, "a.md3", "b.md3", "c.MD3") == {"FINISHED"}
    assert [c.name for c in bpy.data.collections] == ["a", "b", "c"]
    assert scene().frame_end == 2, "the longest model fits"
    assert len(bpy.context.selected_objects) == sum(len(c.objects) for c in bpy.data.collections)


@pytest.mark.parametrize("name", ["a.md3", "a.md2", "null.md3"])
def test_what_has_one_frame_leaves_the_scenes_range(tmp_path, name):
    """A range of one frame would stop whatever else plays in the scene."""
    scene().frame_set(17)
    before = settings(scene())
    put(tmp_path / name, "minimal")
    if name == "null.md3":
        put(tmp_path / name, samples_md3.Md3Spec([samples_md3.FrameSpec(b"one")]).pack())
    import_model(tmp_path / name, frame_rate=0)
    assert settings(scene()) == before
    assert export_bytes(tmp_path / f"b-{name}") == (tmp_path / name).read_bytes()


def test_of_several_files_the_one_that_has_frames_fits(tmp_path):
    put(tmp_path / "a.md3", "minimal")
    put(tmp_path / "b.md3", "animated")
    for names in (("a.md3", "b.md3"), ("b.md3", "a.md3")):
        scene().frame_start, scene().frame_end = 1, 250
        import_files(tmp_path, *names, replace_range=True)
        assert settings(scene())[:2] == (0, 2)
    assert import_files(tmp_path, "a.md3", "a.md3") == {"FINISHED"}
    assert settings(scene())[:2] == (0, 2)


def test_an_empty_file_list_means_the_path(tmp_path):
    assert import_files(tmp_path, "", filepath=str(put(tmp_path / "a.md3"))) == {"FINISHED"}
    assert len(bpy.data.collections) == 1


def test_a_path_relative_to_the_blend(tmp_path):
    put(tmp_path / "sub/a.md3")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "x.blend"))
    assert run_import(filepath="//sub/a.md3") == {"FINISHED"}
    assert import_files("//sub", "a.md3") == {"FINISHED"}
    assert len(bpy.data.collections) == 2
    assert run_export(filepath="//sub/b.md3") == {"FINISHED"}
    assert (tmp_path / "sub/b.md3").read_bytes() == sample("animated")


def test_scale(tmp_path):
    collection = import_md3(put(tmp_path / "a.md3"), scale=0.5)
    body, tag = collection.objects[0], collection.objects[3]
    source = md3.read(sample("animated"))
    positions = np.array([v.co for v in body.data.shape_keys.key_blocks[2].points])
    assert np.allclose(np.ptp(positions, axis=0), np.ptp(source.surfaces[0].vertices["xyz"][2] / 128, axis=0))
    scene().frame_set(1)
    assert tuple(tag.matrix_world.translation) == pytest.approx(source.tags["origin"][1, 1] / 2)
    assert export_md3(tmp_path / "b.md3", scale=0.5) == sample("animated")


def test_weld(tmp_path):
    path = put(tmp_path / "crate.md3", "seamed_cube")
    assert len(import_md3(path).objects[0].data.vertices) == 8
    assert len(import_md3(path, weld=False).objects[0].data.vertices) == 24


def test_fit_range_and_what_plays_in_the_scene_keeps_its_frames(tmp_path):
    path = put(tmp_path / "a.md3")
    scene().frame_set(40)
    before = settings(scene())
    import_md3(path, fit_range=False)
    assert settings(scene()) == before
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene().frame_set(40)
    bpy.data.actions.new("kept").use_fake_user = True  # plays nothing
    import_md3(path)
    assert settings(scene())[:2] == (0, 2)
    scene().frame_start, scene().frame_end = 10, 212
    import_md3(path)
    assert settings(scene())[:2] == (0, 212)
    scene().frame_set(40)
    import_md3(path, replace_range=True)
    assert settings(scene())[:3] == (0, 2, 0)
    bpy.ops.scene.new(type="NEW")  # in which nothing plays
    import_md3(path)
    assert settings(scene())[:2] == (0, 2)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    import_md3(put(tmp_path / "b.md3"))
    scene().frame_start, scene().frame_end = 10, 212
    for block in list(bpy.data.objects):  # whose shape keys are still there, and play for nobody
        bpy.data.objects.remove(block)
    import_md3(path)
    assert settings(scene())[:2] == (0, 2)
    put(tmp_path / "longer.md5mesh", "arm")
    put(tmp_path / "longer.md5anim", "wave")
    import_model(tmp_path / "longer.md5mesh")
    assert settings(scene())[:2] == (0, 4)


def test_frame_rate(tmp_path):
    path = put(tmp_path / "a.md3")
    scene().render.fps, scene().render.fps_base = 30, 1.001
    import_md3(path)
    assert settings(scene())[3:] == (30, pytest.approx(1.001))
    import_md3(path, frame_rate=15)
    assert settings(scene())[3:] == (15, 1.0)


@pytest.mark.parametrize("options", [{"scale": 0.0}, {"frame_rate": -5}, {"frame_rate": 1000}])
def test_options_stay_in_their_range(tmp_path, options):
    run_import(filepath=str(put(tmp_path / "a.md3")), **options)
    assert np.isfinite([tuple(b.matrix_world.translation) for b in bpy.data.objects]).all()
    assert 1 <= scene().render.fps <= 240


@pytest.mark.parametrize("fit", [True, False])
def test_relative_keys_show_and_give_the_same(tmp_path, fit):
    collection = import_md3(put(tmp_path / "a.md3"), relative_keys=True, fit_range=fit)
    keys = collection.objects[0].data.shape_keys
    assert keys.use_relative
    assert [k.name for k in keys.key_blocks] == ["Basis", "wave00", "wave01", "wave02"]
    source = md3.read(sample("animated")).surfaces[0].vertices["xyz"] / 64
    for frame in range(3):
        scene().frame_set(frame)
        shown = collection.objects[0].evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        assert {tuple(v.co) for v in shown.vertices} == {tuple(v) for v in source[frame].tolist()}
    assert export_md3(tmp_path / "b.md3") == sample("animated")


# -- import that fails


BROKEN = {
    "empty": b"", "text": b"hello", "half": sample("animated")[:1000], "header": sample("animated")[:60],
    "version": sample("minimal")[:4] + b"\x07" + sample("minimal")[5:],
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_leaves_everything_as_it_was(tmp_path, name, capfd):
    def state():
        return counts(), settings(scene()), set(bpy.context.selected_objects)

    import_md3(put(tmp_path / "good.md3"))
    before = state()
    text = error_of(run_import, filepath=str(put(tmp_path / "bad.md3", BROKEN[name])), frame_rate=7)
    assert text.startswith("bad.md3: ")
    assert "\n" not in text
    assert state() == before
    assert "Traceback" not in "".join(capfd.readouterr())


@pytest.mark.parametrize("path", ["none.md3", "", "folder"])
def test_no_file(tmp_path, path):
    (tmp_path / "folder").mkdir()
    before = counts()
    text = error_of(run_import, filepath=str(tmp_path / path) if path else "")
    assert "no such file" in text or "folder" in text
    assert counts() == before


@pytest.mark.parametrize("step", ["_remember", "_animate", "_set_scene"])
def test_a_failure_while_building_leaves_nothing(tmp_path, step, monkeypatch):
    def fail(*_arguments, **_options):
        raise LimitError("Blender holds no more")

    png(tmp_path / "body.png")
    monkeypatch.setattr(vertex, step, fail)
    before, old = counts(), settings(scene())
    assert error_of(run_import, filepath=str(put(tmp_path / "a.md3")), frame_rate=7) == "a.md3: Blender holds no more"
    assert counts() == before
    assert settings(scene()) == old


def test_of_several_files_the_good_ones_arrive(tmp_path):
    put(tmp_path / "a.md3", "minimal")
    put(tmp_path / "bad.md3", sample("minimal")[:-3])
    put(tmp_path / "c.md3", "animated")
    with pytest.raises(RuntimeError) as raised:
        import_files(tmp_path, "a.md3", "bad.md3", "none.md3", "c.md3")
    assert [c.name for c in bpy.data.collections] == ["a", "c"]
    lines = str(raised.value).removeprefix("Error: ").strip().split("\n")
    assert [line.split(":")[0] for line in lines] == ["bad.md3", "none.md3", "a.md3", "c.md3"]
    assert scene().frame_end == 2


# -- where an import goes


def make_active(name):
    view = bpy.context.view_layer
    view.active_layer_collection = view.layer_collection.children[name]


def new_collection(name):
    made = bpy.data.collections.new(name)
    scene().collection.children.link(made)
    make_active(name)
    return made


def test_into_the_active_collection(tmp_path):
    made = new_collection("Mine")
    collection = import_md3(put(tmp_path / "a.md3"))
    assert list(made.children) == [collection]
    assert export_md3(tmp_path / "b.md3", collection=made.name) == sample("animated"), "which lies around the model's"


def test_into_the_scene_where_the_active_collection_is_linked(tmp_path):
    library = tmp_path / "library.blend"
    bpy.data.libraries.write(str(library), {new_collection("Theirs")})
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(library), link=True) as (_, into):
        into.collections = ["Theirs"]
    scene().collection.children.link(bpy.data.collections["Theirs"])
    make_active("Theirs")
    collection = import_md3(put(tmp_path / "a.md3"))
    assert collection in set(scene().collection.children)
    assert export_md3(tmp_path / "b.md3") == sample("animated")


def test_in_edit_mode(tmp_path):
    first = import_md3(put(tmp_path / "a.md3"))
    bpy.ops.object.mode_set(mode="EDIT")
    second = import_md3(put(tmp_path / "b.md3", "seamed_cube"))
    assert bpy.context.mode == "EDIT_MESH"
    assert bpy.context.view_layer.objects.active == first.objects[0]
    assert len(second.objects) == 1
    assert export_md3(tmp_path / "c.md3") == sample("animated"), "exporting in edit mode"
    assert bpy.context.mode == "EDIT_MESH"
    bpy.ops.object.mode_set(mode="OBJECT")


# -- textures


@pytest.fixture
def game(tmp_path):
    """Return a game folder with a model that has two shaders: models/animated/body.tga and models/animated/flag."""
    put(tmp_path / "base/models/animated/animated.md3")
    return tmp_path / "base"


def pictures(collection, game):
    found = [picture_of(b.material_slots[0].material) for b in collection.objects if b.type == "MESH"]
    return [Path(p).relative_to(game).as_posix() if p else "" for p in found]


def test_textures_of_the_game_folder_and_beside_the_model(game, capfd):
    tga(game / "models/animated/body.tga")
    png(game / "models/animated/FLAG.png")
    collection = import_md3(game / "models/animated/animated.md3")
    assert pictures(collection, game) == ["models/animated/body.tga", "models/animated/FLAG.png"]
    assert tuple(bpy.data.images["body.tga"].pixels[:3]) == pytest.approx((10 / 255, 200 / 255, 30 / 255))
    assert "not found" not in capfd.readouterr().out
    import_md3(game / "models/animated/animated.md3")
    assert len(bpy.data.images) == 2, "they are shared"


def test_missing_textures_are_one_line_and_a_picture_that_is_none_is_missing(game, capfd):
    collection = import_md3(game / "models/animated/animated.md3")
    assert [m.name for m in bpy.data.materials] == ["models/animated/body.tga", "models/animated/flag"]
    assert pictures(collection, game) == ["", ""]
    said = [line for line in capfd.readouterr().out.splitlines() if "not found" in line]
    assert len(said) == 1
    assert "2 textures not found: 'models/animated/body.tga', 'models/animated/flag'" in said[0]
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    put(game / "models/animated/body.tga", b"this is no picture")
    png(game / "models/animated/flag.png")
    collection = import_md3(game / "models/animated/animated.md3")
    assert pictures(collection, game) == ["", "models/animated/flag.png"]
    assert [image.name for image in bpy.data.images] == ["flag.png"]
    assert "1 texture not found: 'models/animated/body.tga'" in capfd.readouterr().out


def test_a_picture_outside_is_not_touched(tmp_path):
    canary = png(tmp_path / "canary.png")
    spec = minimal()
    names = (b"../../../canary.png", b"..\\..\\..\\canary", os.fsencode(canary)[:63], b"../canary.tga")
    spec.surfaces[0].shaders = [(name, 0) for name in names]
    import_md3(put(tmp_path / "base/models/x/a.md3", spec.pack()))
    assert not bpy.data.images


# -- exporting what was imported


@pytest.mark.parametrize("what", ["AUTO", "COLLECTION", "SELECTION", "VISIBLE", "SCENE"])
def test_every_choice_finds_the_model(tmp_path, what):
    import_md3(put(tmp_path / "a.md3"))
    assert export_md3(tmp_path / "b.md3", what=what) == sample("animated")


@pytest.mark.parametrize("where", ["another", "another, the model's is gone from the scene", "the scene's own"])
def test_objects_moved_to_another_collection(tmp_path, where):
    old = import_md3(put(tmp_path / "a.md3"))
    other = scene().collection if where == "the scene's own" else new_collection("Other")
    for block in list(old.objects):
        other.objects.link(block)
        old.objects.unlink(block)
    if "gone" in where:
        old.use_fake_user = True
        scene().collection.children.unlink(old)
    bpy.context.view_layer.update()
    activate(other.objects[0])
    for what in ("AUTO", "COLLECTION", "SCENE"):
        assert export_md3(tmp_path / "b.md3", what=what) == sample("animated")


def test_objects_that_are_hidden_are_named(tmp_path, capfd):
    collection = import_md3(put(tmp_path / "a.md3"))
    collection.objects["flag.002"].hide_set(True)
    collection.objects["tag_head"].hide_viewport = True
    data = export_md3(tmp_path / "b.md3")
    assert [bytes(s.header["name"]) for s in md3.read(data).surfaces] == [b"h_body\0garbage"]
    assert "2 hidden objects left out: 'flag.002', 'tag_head'" in capfd.readouterr().out
    export_md3(tmp_path / "b.md3", what="VISIBLE")
    assert "hidden" not in capfd.readouterr().out
    collection.hide_viewport = True
    bpy.context.view_layer.update()
    text = error_of(run_export, filepath=str(tmp_path / "b.md3"), what="COLLECTION", collection=collection.name)
    assert text.startswith("b.md3: nothing to export")
    assert "4 hidden objects left out" in text


# -- an export that fails


def test_any_operator_reads_any_format_by_its_first_bytes(tmp_path):
    put(tmp_path / "a.md3", sample("animated", "md2"))
    import_model(tmp_path / "a.md3")
    assert export_bytes(tmp_path / "b.md2") == sample("animated", "md2")


def test_a_failed_export_leaves_the_old_file(tmp_path):
    collection = import_md3(put(tmp_path / "a.md3"))
    collection.objects[0].data.shape_keys.key_blocks[1].points[2].co.z = 600.0
    put(tmp_path / "b.md3", b"old")
    text = error_of(run_export, filepath=str(tmp_path / "b.md3"))
    assert text == "b.md3: 'h_body' reaches 600 units from the origin in frame 1, MD3 holds 512"
    assert (tmp_path / "b.md3").read_bytes() == b"old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.md3", "b.md3"]


def test_where_nothing_can_be_written(tmp_path):
    import_md3(put(tmp_path / "a.md3"))
    (tmp_path / "folder.md3").mkdir()
    for name in ("none/b.md3", "folder.md3", "a.md3/b.md3"):
        assert "can't write" in error_of(run_export, filepath=str(tmp_path / name))
    assert "can't write" in error_of(run_export, filepath="")


def test_nothing_to_export(tmp_path):
    text = error_of(run_export, filepath=str(tmp_path / "b.md3"))
    assert text == "b.md3: nothing to export: no visible mesh and no tag among the objects"
    assert not list(tmp_path.iterdir())
    assert "there is no collection 'Gone'" in error_of(run_export, filepath=str(tmp_path / "b"), collection="Gone")


def test_the_scene_is_as_it_was_after_an_export(tmp_path):
    import_md3(put(tmp_path / "a.md3"))
    scene().frame_set(1, subframe=0.5)
    before, old = counts(), settings(scene())
    for frames in ("AUTO", "SCENE", "CURRENT"):
        export_md3(tmp_path / "b.md3", frames=frames)
    assert counts() == before
    assert settings(scene()) == old
    assert scene().frame_subframe == pytest.approx(0.5)


# -- collection exporters


@pytest.fixture
def exporter(tmp_path):
    """Return the exporter of an imported collection."""
    collection = import_md3(put(tmp_path / "a.md3"))
    make_active(collection.name)
    assert bpy.ops.collection.exporter_add(name="IO_FH_idtech_md3") == {"FINISHED"}
    return collection.exporters[0]


def test_all_exporters_write_their_own_collection(tmp_path, exporter):
    exporter.export_properties.filepath = str(tmp_path / "b.md3")
    bpy.context.view_layer.active_layer_collection = bpy.context.view_layer.layer_collection
    second = import_md3(put(tmp_path / "c.md3", "seamed_cube"))
    make_active(second.name)
    bpy.ops.collection.exporter_add(name="IO_FH_idtech_md3")
    second.exporters[0].export_properties.filepath = str(tmp_path / "d.md3")
    assert bpy.ops.wm.collection_export_all() == {"FINISHED"}
    assert (tmp_path / "b.md3").read_bytes() == sample("animated")
    assert (tmp_path / "d.md3").read_bytes() == sample("seamed_cube")


def test_an_exporter_survives_and_takes_a_path_beside_the_blend(tmp_path, exporter):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "x.blend"))
    exporter.export_properties.filepath = "//b.md3"
    exporter.export_properties.game = "quake3"
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "x.blend"))
    again = bpy.data.collections["a"].exporters[0]
    assert again.export_properties.game == "quake3"
    make_active("a")
    assert bpy.ops.collection.exporter_export(index=0) == {"FINISHED"}
    assert (tmp_path / "b.md3").read_bytes() == sample("animated")


@pytest.mark.parametrize(("format_name", "name", "rate"), [("md2", "minimal", 48), ("md2", "animated", 10)])
def test_only_what_has_several_frames_sets_the_rate_of_the_scene(tmp_path, format_name, name, rate):
    bpy.context.scene.render.fps = 48
    path = tmp_path / f"a.{format_name}"
    path.write_bytes(sample(name, format_name))
    import_model(path)
    assert bpy.context.scene.render.fps == rate


@pytest.mark.parametrize(("name", "rate"), [("one_frame", 48), ("wave", 24)])
def test_a_pose_sets_no_rate(tmp_path, name, rate):
    for suffix, made in (("md5mesh", "arm"), ("md5anim", name)):
        (tmp_path / f"a.{suffix}").write_bytes(sample(made, suffix))
    bpy.context.scene.render.fps = 48
    import_model(tmp_path / "a.md5mesh")
    assert bpy.context.scene.render.fps == rate
