"""Levels of detail: made of a scene's models, made anew, and written with them; and surfaces cut at export."""

from typing import Any

import numpy as np
import pytest

from io_idtech_models.assets.levels import dump_levels
from io_idtech_models.blender.mesh.levels import LEVEL_OF, MADE, levels_of
from io_idtech_models.blender.vertex.build import build
from io_idtech_models.formats import by_name
from io_idtech_models.game.skin import read_skin
from io_idtech_models.reporting import LimitError
from io_idtech_models.tasks.skins import skins_of
from tests.blender.case import reopen_blend
from tests.model.edits import test_split_surfaces as sheets
from tests.model.lod.test_collapse import sphere
from tests.model.lod.test_levels import bent, model_of, surface_of
from tests.samples import PROJECT, dump, load, put, sample
from tests.ui.scene import activate, add_mesh, add_tag, bpy, counts, error_of, export_bytes, import_model, run_export

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
MD3 = by_name("md3")
make_levels: Any = bpy.ops.object.idtech_make_levels


def ball(frames=4, name="skin"):
    positions, uvs, triangles = bent(sphere(20, 16), frames)
    return dump(model_of(surface_of(positions, uvs, triangles, name)), "md3")


def tube(name):
    positions, uvs, triangles = bent(sphere(12, 9))
    return surface_of(positions, uvs, triangles, name)


def layer_of(name):
    return bpy.context.view_layer.layer_collection.children[name]


@pytest.fixture
def head(tmp_path):
    return import_model(put(tmp_path / "in" / "head.md3", ball()))


# -- made in the scene


def test_levels_are_what_an_import_of_their_files_would_be(head, tmp_path):
    """But for materials, which are the model's own; the scene's range, what is active and what is selected stay."""
    active, selected = bpy.context.view_layer.objects.active, list(bpy.context.selected_objects)
    materials, bpy.context.scene.frame_end = list(bpy.data.materials), 77
    assert make_levels() == {"FINISHED"}
    assert bpy.context.scene.frame_end == 77
    assert (bpy.context.view_layer.objects.active, list(bpy.context.selected_objects)) == (active, selected)
    assert list(bpy.data.materials) == materials
    wanted, _ = dump_levels(MD3, ball(), "head", (0.5, 0.25))
    for number, data in enumerate(wanted, 1):
        level = bpy.data.collections[f"head_{number}"]
        layer = layer_of(level.name)
        assert layer.exclude, "not shown, not rendered"
        assert [b.type for b in level.objects] == ["MESH", "EMPTY"]
        assert len(level.objects[0].data.shape_keys.key_blocks) == 4
        assert level.objects[0].material_slots[0].material == head.objects[0].material_slots[0].material
        layer.exclude = False
        activate(*level.objects)
        assert export_bytes(tmp_path / "x.md3", levels="NONE") == data
        layer.exclude = True
    activate(active)
    assert export_bytes(tmp_path / "y.md3", levels="NONE") == ball()


def test_materials_by_a_skin(tmp_path):
    """Surfaces of one shader that wear two, and one without a shader."""
    three = [tube(name) for name in ("front", "back", "bare")]
    three[2].shaders = []
    path = put(tmp_path / "head.md3", dump(model_of(*three), "md3"))
    (tmp_path / "head_default.skin").write_text("front,red\nback,blue\nbare,green\n", encoding="utf-8")
    base = import_model(path)
    make_levels()

    def worn(collection):
        return {block.data.name.split(".")[0]: block.material_slots[0].material for block in collection.objects[:3]}

    assert len(set(worn(base).values())) == 3
    assert worn(bpy.data.collections["head_1"]) == worn(base)
    level = bpy.data.collections["head_1"].objects[0]
    assert skins_of(level) == ["default"], "and skins of the model's file can be chosen"


def test_what_is_hidden_is_left_out_and_named(tmp_path, capfd):
    two = [tube(name) for name in ("front", "back")]
    base = import_model(put(tmp_path / "head.md3", dump(model_of(*two), "md3")))
    base.objects["back"].hide_viewport = True
    make_levels()
    assert "1 hidden object left out: 'back'" in capfd.readouterr().out
    assert [b.type for b in bpy.data.collections["head_1"].objects] == ["MESH", "EMPTY"]


def test_made_anew_they_replace_those_that_were(head):
    make_levels()
    first = counts()
    triangles = len(bpy.data.collections["head_1"].objects[0].data.polygons)
    head.objects[0].data.shape_keys.key_blocks[0].points[0].co.z += 1
    make_levels(percentages="30, 10")
    assert counts() == first
    assert len(bpy.data.collections["head_1"].objects[0].data.polygons) < triangles
    make_levels(percentages="40")
    assert sorted(levels_of(head)) == [1]
    assert "head_2" not in bpy.data.collections
    assert len(bpy.data.actions) < first["actions"]


def test_in_edit_mode_and_one_undo_takes_them_away(head):
    before = sorted(c.name for c in bpy.data.collections)
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.object.mode_set(mode="EDIT")
    assert make_levels() == {"FINISHED"}
    assert bpy.context.object.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.ed.undo_push(message="made")
    bpy.ops.ed.undo()
    assert sorted(c.name for c in bpy.data.collections) == before


@pytest.mark.parametrize("name", ["many_skins", "minimal"])
def test_in_edit_mode_of_one_of_few_objects(tmp_path, name):
    """Blender 4.2 ended where what is selected was asked for while it listed the objects."""
    activate(import_model(put(tmp_path / "a.md2", sample(name, "md2"))).objects[0])
    bpy.ops.object.mode_set(mode="EDIT")
    assert bpy.ops.object.idtech_make_levels(percentages="50") == {"FINISHED"}
    assert bpy.context.object.mode == "EDIT"


def test_a_mesh_that_was_never_imported():
    points, _, triangles = sphere(20, 16)
    block = add_mesh("gourd", points * 20, triangles.tolist(), uvs=False)
    bpy.data.materials.new("textures/gourd")
    block.data.materials.append(bpy.data.materials["textures/gourd"])
    assert make_levels() == {"FINISHED"}
    found: Any = levels_of(block)
    assert [c.name for c in found.values()] == ["gourd_1", "gourd_2"]
    assert found[1].objects[0].material_slots[0].material.name == "textures/gourd"
    assert len(found[1].objects[0].data.polygons) == pytest.approx(len(triangles) / 2, abs=20)


def test_in_another_scale(tmp_path):
    import_model(put(tmp_path / "head.md3", ball()), scale=0.025)
    make_levels(scale=0.025)
    wanted, _ = dump_levels(MD3, ball(), "head", (0.5, 0.25))
    assert export_bytes(put(tmp_path / "out" / "x.md3"), scale=0.025) == ball()
    assert [(tmp_path / "out" / f"x_{n}.md3").read_bytes() for n in (1, 2)] == wanted


def test_of_a_collection_each_model_has_its_own(tmp_path):
    player = bpy.data.collections.new("player")
    bpy.context.scene.collection.children.link(player)
    for name in ("head", "upper"):
        bpy.context.view_layer.active_layer_collection = layer_of("player")
        import_model(put(tmp_path / f"{name}.md3", ball(name=name)))
    bpy.context.view_layer.active_layer_collection = layer_of("player")
    for _ in range(2):  # and levels are no models of their own
        assert make_levels(what="COLLECTION") == {"FINISHED"}
        assert sorted(c.name for c in player.children) == ["head", "head_1", "head_2", "upper", "upper_1", "upper_2"]
    assert make_levels(collection="head", percentages="50") == {"FINISHED"}
    assert sorted(levels_of(player.children["head"])) == [1]


# -- what hinders


def test_a_level_has_no_levels_nor_has_a_model_whose_format_keeps_them_in_its_file(head):
    make_levels()
    layer_of("head_1").exclude = False
    activate(bpy.data.collections["head_1"].objects[0])
    assert error_of(make_levels) == "'head_1' is a level of detail itself: choose the model that it was made of"
    activate(head.objects[0])
    head.objects[0]["idtech_min_lod"] = 9
    assert "keeps levels of detail in the model's own file" in error_of(make_levels)


@pytest.mark.parametrize("value", ["head", 7, b"x", {"a": 1}])
def test_marks_that_mean_nothing(head, tmp_path, value):
    head[LEVEL_OF] = value
    head["idtech_level"] = value
    assert make_levels() == {"FINISHED"}
    bpy.data.collections["head_1"]["idtech_level"] = value
    assert sorted(levels_of(head)) in ([2], [2, 7])
    assert "level of detail" in error_of(run_export, filepath=str(tmp_path / "a.md3"))


@pytest.mark.parametrize("text", ["25, 50", "none", ""])
def test_percentages_that_are_none(head, text):
    before = counts()
    assert "percentages that fall" in error_of(make_levels, percentages=text)
    assert counts() == before


def test_what_fails_leaves_the_old_ones(head, monkeypatch):
    make_levels()
    before, names = counts(), sorted(c.name for c in bpy.data.collections)
    made = []

    def second_fails(*arguments):
        made.append(1)
        if len(made) > 1:
            raise LimitError("no more")
        return build(*arguments)

    monkeypatch.setattr("io_idtech_models.tasks.levels.build", second_fails)
    assert error_of(make_levels) == "head: no more"
    assert counts() == before
    assert sorted(c.name for c in bpy.data.collections) == names
    assert sorted(levels_of(head)) == [1, 2]


def test_a_name_that_is_taken_is_said(tmp_path, capfd):
    """Here that of an MD2's level."""
    bpy.data.collections.new("arm_1")
    import_model(put(tmp_path / "arm.md2", dump(load(ball()), "md2")))
    assert make_levels() == {"FINISHED"}
    assert "a collection is called 'arm_1' already: this level is 'arm_1.001'" in capfd.readouterr().out
    assert len(bpy.data.collections["arm_1.001"].objects[0].data.shape_keys.key_blocks) == 4


# -- written


def test_export_writes_those_of_the_scene(head, tmp_path):
    make_levels()
    mesh = bpy.data.collections["head_2"].objects[0].data
    mesh.shape_keys.key_blocks[1].points[0].co.z += 2.0
    out = tmp_path / "out" / "hat.md3"
    assert export_bytes(put(out)) == ball()
    wanted, _ = dump_levels(MD3, ball(), "hat", (0.5, 0.25))
    assert (tmp_path / "out/hat_1.md3").read_bytes() == wanted[0]
    edited = load((tmp_path / "out/hat_2.md3").read_bytes())
    plain = load(wanted[1])
    changed = (edited.surfaces[0].positions != plain.surfaces[0].positions).any(axis=(1, 2))
    assert changed.tolist() == [False, True, False, False], "as they are, edits and all"
    assert layer_of("head_1").exclude and layer_of("head_2").exclude


def test_levels_that_are_written_are_not_old_ones(head, tmp_path, capfd):
    make_levels()
    out = tmp_path / "hat.md3"
    for name in ("hat_1.md3", "hat_2.md3", "hat_3.md3"):
        put(tmp_path / name)
    export_bytes(out)
    said = capfd.readouterr().out
    assert "hat_1.md3' lies" not in said
    assert "'hat_3.md3' lies beside it from before" in said


@pytest.mark.parametrize("what", ["AUTO", "SELECTION"])
def test_what_lies_elsewhere_takes_no_levels_from_a_model(head, tmp_path, what):
    """A mesh that is added lies in the scene's own collection."""
    hat = add_mesh("hat", [(0, 0, 20), (9, 0, 20), (0, 9, 20)], [(0, 1, 2)])
    hat.parent = head.objects["skin"]
    activate(head.objects["skin"], hat)
    assert make_levels(percentages="50") == {"FINISHED"}
    activate(head.objects["skin"], hat)
    out = put(tmp_path / "out" / "head.md3")
    export_bytes(out, what=what)
    assert sorted(path.name for path in out.parent.iterdir()) == ["head.md3", "head_1.md3"]


@pytest.mark.parametrize(
    ("suffix", "said"),
    [
        (
            "mdr",
            "levels of detail that the armature does not move are left out (they are of frames, as MD3's): 'skin.001'",
        ),
        ("iqm", "IQM files hold no levels of detail: what is drawn from afar is left out"),
    ],
)
def test_levels_of_a_rigged_model_are_of_frames_and_named_where_they_are_left_out(tmp_path, capfd, suffix, said):
    import_model(PROJECT / "examples/newt/models/md5/newt/newt.md5mesh")
    activate(next(block for block in bpy.data.objects if block.type == "MESH"))
    assert make_levels(percentages="50") == {"FINISHED"}
    capfd.readouterr()
    export_bytes(tmp_path / f"a.{suffix}")
    assert said in capfd.readouterr().out


@pytest.mark.parametrize("way", ["hidden", "moved"])
def test_what_a_level_lacks_is_named(tmp_path, capfd, way):
    three = [tube(name) for name in ("front", "back")]
    import_model(put(tmp_path / "in" / "head.md3", dump(model_of(*three), "md3")))
    assert make_levels(percentages="50") == {"FINISHED"}
    layer_of("head_1").exclude = False
    bpy.context.view_layer.update()
    block = bpy.data.objects["front.001"]
    if way == "hidden":
        block.hide_set(True)
    else:
        bpy.data.collections["head_1"].objects.unlink(block)
        bpy.context.scene.collection.objects.link(block)
    activate(bpy.data.objects["front"])
    capfd.readouterr()
    export_bytes(tmp_path / "head.md3")
    assert [each.name for each in load((tmp_path / "head_1.md3").read_bytes()).surfaces] == ["back"]
    left = "1 hidden object left out" if way == "hidden" else "left out, parts of the model that lie in other coll"
    assert f"head_1: {left}" in capfd.readouterr().out


def test_of_several_models_in_one_file_none_has_levels(head, tmp_path):
    make_levels()
    import_model(put(tmp_path / "in" / "hat.md3", ball(name="hat")))
    out = tmp_path / "out" / "both.md3"
    export_bytes(put(out), what="VISIBLE")
    assert [path.name for path in out.parent.iterdir()] == ["both.md3"]
    export_bytes(out, what="VISIBLE", levels="MAKE")
    assert len(list(out.parent.iterdir())) == 3


def test_export_makes_them(head, tmp_path):
    out = put(tmp_path / "out" / "hat.md3")
    export_bytes(out, levels="MAKE", percentages="60")
    assert {path.name for path in out.parent.iterdir()} == {"hat.md3", "hat_1.md3"}
    assert (tmp_path / "out/hat_1.md3").read_bytes() == dump_levels(MD3, ball(), "hat", (0.6,))[0][0]
    assert "percentages" in error_of(run_export, filepath=str(out), levels="MAKE", percentages="x")


UNFIT = {
    "other frames": (
        lambda level: bpy.ops.object.idtech_insert_frame(),
        "'head_1' has 4 frames, the model 5: make levels of detail anew",
    ),
    "a step is missing": (
        lambda _: bpy.data.collections.remove(bpy.data.collections["head_1"]),
        "1 is missing: games take none behind it; make them anew",
    ),
    "it shows nothing": (
        lambda level: bpy.data.batch_remove(list(level.objects)),
        "'head_1' (make levels of detail anew, or delete it): "
        "nothing to export: no visible mesh and no tag among the objects",
    ),
}


@pytest.mark.parametrize("case", UNFIT)
def test_levels_that_do_not_fit_the_model_are_refused(head, tmp_path, case):
    make_levels()
    activate(head.objects[0])
    change, said = UNFIT[case]
    change(bpy.data.collections["head_1"])
    out = tmp_path / "hat.md3"
    assert error_of(run_export, filepath=str(out)) == f"hat.md3: level of detail {said}"
    assert not out.exists()
    assert layer_of("head_2").exclude
    export_bytes(out, levels="NONE")


@pytest.mark.parametrize("way", ["turned", "renamed"])
def test_a_level_whose_frames_are_in_another_order_is_named(head, tmp_path, capfd, way):
    """Not where they have other names alone."""
    make_levels(percentages="50")
    mesh: Any = next(block.data for block in levels_of(head)[1].objects if block.type == "MESH")
    keys = mesh.shape_keys.key_blocks
    wanted = [key.name for key in keys][::-1] if way == "turned" else [f"other{n}" for n in range(len(keys))]
    for key in keys:
        key.name = f"-{key.name}"
    for key, name in zip(keys, wanted, strict=True):
        key.name = name
    activate(head.objects[0])
    capfd.readouterr()
    export_bytes(tmp_path / "head.md3")
    said = f"'head_1' shows '{wanted[0]}' where the model shows '{wanted[-1]}', in frame 0: make levels of detail anew"
    assert (said in capfd.readouterr().out) == (way == "turned")


def test_a_copy_of_a_level_takes_no_levels_place(head, tmp_path, capfd):
    make_levels(percentages="50")
    level = levels_of(head)[1]
    copy = level.copy()
    bpy.context.scene.collection.children.link(copy)
    assert levels_of(head) == {1: level}
    export_bytes(tmp_path / "head.md3")
    assert f"another one has the number of are not written, delete one of them: '{copy.name}'" in capfd.readouterr().out


@pytest.mark.parametrize("what", ["joined", "joined away", "deleted"])
def test_levels_of_ones_own_model_whose_first_object_goes(tmp_path, capfd, what):
    """One of its objects has them, whichever is joined with which; where that is deleted they are named."""
    points, _, triangles = sphere(8, 6)
    body, arm = (add_mesh(name, points, triangles.tolist(), uvs=False) for name in ("body", "arm"))
    activate(body, arm)
    assert make_levels(percentages="50") == {"FINISHED"}
    (holder,) = (block for block in (body, arm) if levels_of(block))
    other = arm if holder == body else body
    if what == "deleted":
        bpy.data.objects.remove(holder)
        bpy.context.view_layer.update()
        activate(other)
    else:
        activate(*((holder, other) if what == "joined" else (other, holder)))
        bpy.ops.object.join()
    capfd.readouterr()
    export_bytes(tmp_path / "own.md3")
    assert (tmp_path / "own_1.md3").exists() == (what == "joined")
    said = "whose model was deleted or joined are not written, make them anew: " in capfd.readouterr().out
    assert said == (what != "joined")


def test_old_levels_beside_an_edited_model_are_named(head, tmp_path, capfd):
    out = put(tmp_path / "head.md3", ball())
    put(tmp_path / "head_1.md3")
    capfd.readouterr()
    export_bytes(out)
    assert "from before" not in capfd.readouterr().out, "the model is as it was"
    head.objects[0].data.shape_keys.key_blocks[0].points[0].co.z += 9
    export_bytes(out)
    text = "'head_1.md3' lies beside it from before, and games show that from afar: make levels of detail anew"
    assert text in capfd.readouterr().out


STALE = "'hat.md3' was edited and 'hat_{}.md3' was not: games show that one from afar"


def said_of(path, capfd, **options):
    """Return of which levels an export says that they are not what the model is by now."""
    capfd.readouterr()
    export_bytes(put(path / "out" / "hat.md3"), **options)
    out = capfd.readouterr().out
    return [number for number in (1, 2) if STALE.format(number) in out]


def moved(head):
    for key in head.objects[0].data.shape_keys.key_blocks:
        key.points[0].co.z += 9


def renamed(head):
    head.objects[0].name = "face"


def dressed(head):
    head.objects[0].material_slots[0].material = bpy.data.materials.new("models/other")


def laid_out(head):
    head.objects[0].data.uv_layers[0].uv[0].vector = (0.5, 3.0)


def scaled(head):
    head.objects[0].scale = (2, 2, 2)


@pytest.mark.parametrize("edit", [moved, renamed, dressed, laid_out, scaled])
def test_levels_that_were_made_before_an_edit_are_named(head, tmp_path, capfd, edit):
    make_levels()
    edit(head)
    assert said_of(tmp_path, capfd) == [1, 2]
    edit(bpy.data.collections["head_2"])
    assert said_of(tmp_path, capfd) == [1], "the other was edited, too"
    assert make_levels() == {"FINISHED"}
    assert said_of(tmp_path, capfd) == []


@pytest.mark.parametrize(
    "options",
    [{}, {"normals": "SHOWN"}, {"scale": 0.5}, {"frames": "CURRENT"}, {"game": "et"}, {"what": "SCENE"}],
    ids=str,
)
def test_levels_of_a_model_that_is_as_it_was_are_not_named(head, tmp_path, capfd, options):
    """However it is exported, and whatever it is called."""
    make_levels()
    head.name = "helmet"
    head.objects[0].material_slots[0].material.name = "models/other"  # which they wear, too
    assert said_of(tmp_path, capfd, **options) == []
    moved(head)
    assert said_of(tmp_path, capfd, **options) == [1, 2]


@pytest.mark.parametrize("scale", [0.1, 40.0])
def test_they_are_of_the_size_at_which_the_model_came(tmp_path, capfd, scale):
    """Unless the call says another; what is written with it has the model's own size then."""
    files = {}
    for size in (1.0, scale):
        bpy.ops.wm.read_homefile(use_empty=True)
        import_model(put(tmp_path / "in/head.md3", ball()), scale=size)
        make_levels()
        out = tmp_path / f"out{size}"
        out.mkdir()
        export_bytes(out / "head.md3", scale=size)
        files[size] = {file.name: file.read_bytes() for file in out.iterdir()}
    assert files[1.0] == files[scale]
    assert len(files[scale]) == 3


def test_they_are_kept_in_a_blend_and_tell_what_they_were_made_of(head, tmp_path, capfd):
    make_levels(scale=0.5)
    reopen_blend()
    assert bpy.data.collections["head_1"].get(LEVEL_OF) == bpy.data.collections["head"]
    assert layer_of("head_1").exclude
    activate(bpy.data.collections["head"].objects[0])
    assert said_of(tmp_path, capfd, scale=0.5) == []
    assert (tmp_path / "out/hat_2.md3").is_file()
    moved(bpy.data.collections["head"])
    assert said_of(tmp_path, capfd, scale=0.5) == [1, 2]
    for number, value in enumerate(("nonsense", "1 2 nan"), 1):
        bpy.data.collections[f"head_{number}"][MADE] = value
    assert said_of(tmp_path, capfd) == [], "of what is damaged nothing is known"


def test_levels_of_ones_own_model_that_was_edited_are_named(tmp_path, capfd):
    points, _, triangles = sphere(8, 6)
    gourd = add_mesh("gourd", points * 20, triangles.tolist(), uvs=False)
    gourd.modifiers.new("Mirror", "MIRROR").use_mirror_merge = False
    make_levels()
    assert said_of(tmp_path, capfd) == []
    gourd.data.vertices[3].co.z += 5
    assert said_of(tmp_path, capfd) == [1, 2]


def test_what_is_compared_says_nothing_of_how_it_is_written(head, tmp_path, capfd):
    for block in head.objects:
        block.parent = add_tag("tag_head")
    make_levels()
    assert "is written in its own space" in capfd.readouterr().out
    assert said_of(tmp_path, capfd, space="WORLD") == []
    export_bytes(tmp_path / "out" / "hat.md3", space="WORLD")
    assert "is written in its own space" not in capfd.readouterr().out


# -- surfaces that are cut


def sheet():
    return dump(sheets.model_of(sheets.surface_of(40), sheets.surface_of(9, "small")), "md3")


def test_what_is_too_large_is_cut_where_that_is_wanted(tmp_path, capfd):
    import_model(put(tmp_path / "in" / "big.md3", sheet()))
    out = tmp_path / "big.md3"
    refused = error_of(run_export, filepath=str(out), game="quake3")
    assert refused.endswith("the option 'Split Surfaces' cuts what is too large")
    found = load(export_bytes(out, game="quake3", split_surfaces=True))
    assert [s.name for s in found.surfaces] == ["sheet", "sheet2", "small"]
    assert sheets.drawn(found) == sheets.drawn(load(sheet()))
    assert "'sheet' is cut, skin files must list its pieces: 'sheet', 'sheet2'" in capfd.readouterr().out


def test_of_an_edited_model_both_sides_have_the_same_normals(tmp_path):
    collection = import_model(put(tmp_path / "in" / "big.md3", sheet()))
    mesh = next(b for b in collection.objects if b.name == "sheet").data
    for key in mesh.shape_keys.key_blocks:
        points = np.empty(3 * len(key.points), np.float32)
        key.points.foreach_get("co", points)
        points[2::3] += 3 * np.sin(points[1::3])
        key.points.foreach_set("co", points)
    whole = load(export_bytes(tmp_path / "whole.md3", game="etlegacy"))
    cut = load(export_bytes(tmp_path / "cut.md3", game="quake3", split_surfaces=True))
    assert len(cut.surfaces) == 3
    assert sheets.drawn(cut) == sheets.drawn(whole)


def test_skins_list_the_pieces(tmp_path):
    import_model(put(tmp_path / "in" / "big.md3", sheet()))
    out = tmp_path / "big.md3"
    (tmp_path / "big_red.skin").write_text("// mine\nsheet,old\ntag_x,\n", encoding="utf-8")
    export_bytes(out, game="quake3", split_surfaces=True, skin="red")
    text = (tmp_path / "big_red.skin").read_text(encoding="utf-8")
    assert text == "// mine\nsheet,skin\nsheet2,skin\nsmall,skin\ntag_x,\n"
    assert read_skin(text.encode()).shaders() == dict.fromkeys(("sheet", "sheet2", "small"), "skin")
