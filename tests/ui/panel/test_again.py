"""Export Again, and options with which the next export begins."""

import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from io_idtech_models.blender.provenance import FILE
from io_idtech_models.library import load_animations
from io_idtech_models.reporting import LimitError
from io_idtech_models.tasks.export.last_export import begin, options_of
from io_idtech_models.tasks.panel.again import plan_of
from io_idtech_models.ui.bases import keep_noted
from io_idtech_models.ui.export import operators
from io_idtech_models.ui.panel import again as panel
from io_idtech_models.ui.player import transfer
from tests import samples_md5
from tests.facts import differences
from tests.packs import put_pack
from tests.samples import PROJECT, SENTINEL, put, sample
from tests.ui.player.players import brought, game, saved
from tests.ui.scene import activate, add_cube, add_tag, bpy, error_of, export_bytes, import_model

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
again: Any = bpy.ops.object.idtech_export_again


def with_wave(folder: Any) -> Any:
    """Import a model with one animation, which lie in a folder then; returns its armature, which is active."""
    put(folder / "wave.md5anim", samples_md5.wave())
    made = import_model(put(folder / "arm.md5mesh", samples_md5.arm()))
    rig = next(block for block in made.objects if block.type == "ARMATURE")
    activate(rig)
    return rig


def test_it_goes_where_it_came_from(tmp_path):
    """As it was exported last."""
    path = put(tmp_path / "a.md3")
    import_model(path)
    path.write_bytes(b"")
    assert again() == {"FINISHED"}
    assert path.read_bytes() == sample("animated")
    other = export_bytes(tmp_path / "other.md3", scale=2.0, game="quake3", skin="red")
    assert again() == {"FINISHED"}
    assert path.read_bytes() == other != sample("animated")
    assert (tmp_path / "a_red.skin").is_file()


@pytest.mark.parametrize("by", ["user", "script"])
def test_undo_of_the_next_edit_takes_no_export_back(tmp_path, monkeypatch, by):
    """How and where a model was written is noted on it; scripts push their steps themselves."""
    home = import_model(put(tmp_path / "a.md3")).name
    bpy.ops.ed.undo_push(message="import")
    called: list[Any] = []
    monkeypatch.setattr(panel, "keep_noted", called.append)
    assert again() == {"FINISHED"}
    assert len(called) == 1
    keep_noted(SimpleNamespace(bl_label="Export Again", options=SimpleNamespace(is_invoke=by == "user")))
    bpy.data.collections[home].objects[0].location.z = 2
    bpy.ops.ed.undo_push(message="move")
    bpy.ops.ed.undo()
    assert bpy.data.collections[home].objects[0].location.z == 0
    assert (options_of(bpy.data.collections[home], "md3") is not None) == (by == "user")


@pytest.mark.parametrize(
    ("module", "write"),
    [
        (operators, lambda folder: export_bytes(folder / "b.md3")),
        (transfer, saved),
    ],
)
def test_exports_let_undo_come_back_to_them(tmp_path, monkeypatch, module, write):
    called: list[Any] = []
    monkeypatch.setattr(module, "keep_noted", called.append)
    activate(brought(game(tmp_path)).root)
    write(tmp_path)
    assert len(called) == 1


def test_where_the_file_was_is_gone(tmp_path):
    """As after somebody has moved the game's folder, which a .blend knows by its whole path."""
    import_model(put(tmp_path / "old/a.md3"))
    (tmp_path / "old").rename(tmp_path / "new")
    said = f"'{tmp_path / 'old'}' is not there any more: export it to where it lies now (File > Export > id Tech)"
    assert said in error_of(again)


@pytest.mark.parametrize("place", ["old/a.md3", "pak0.pk3/models/a.md3"])
def test_where_the_file_was_is_gone_it_goes_where_it_was_written_last(tmp_path, place):
    source = tmp_path / place
    if ".pk3" in place:
        put_pack(source.parents[1], {"models/a.md3": sample("animated")})
        bpy.ops.import_scene.idtech_md3(filepath=str(source))
    else:
        import_model(put(source))
    (tmp_path / "mod").mkdir()
    export_bytes(tmp_path / "mod/a.md3")
    (tmp_path / place.partition("/")[0]).rename(tmp_path / "gone")
    (tmp_path / "mod/a.md3").unlink()
    assert again() == {"FINISHED"}
    assert (tmp_path / "mod/a.md3").is_file()
    shutil.rmtree(tmp_path / "mod")
    assert "is not there any more" in error_of(again)


@pytest.mark.parametrize("written", [False, True])
def test_where_a_player_was_and_where_it_was_written_are_gone(tmp_path, written):
    """It is not written into folders that are made for it, and lies in no archive."""
    player = brought(game(tmp_path / "old"))
    folder = Path(str(player.holder[FILE]))
    activate(player.root)
    if written:
        assert bpy.ops.export_scene.idtech_player(filepath=str(put_folder(tmp_path / "work") / "grunt")) == {"FINISHED"}
        (tmp_path / "work").rename(tmp_path / "done")
    (tmp_path / "old").rename(tmp_path / "new")
    assert f"'{folder}' is not there any more: export it to where it lies now" in error_of(again)
    assert not (tmp_path / "work").exists() and not (tmp_path / "old").exists()


def put_folder(path):
    path.mkdir()
    return path


def test_it_asks_once_for_each_file_that_it_writes_over(tmp_path, monkeypatch):
    monkeypatch.setattr(panel, "agreed", asked_of := set[str]())
    rig = with_wave(tmp_path)
    shown: list[str] = []
    invoke: Any = panel.OBJECT_OT_idtech_export_again.invoke
    manager = SimpleNamespace(invoke_confirm=lambda *_, message, **__: shown.append(message))
    context = SimpleNamespace(window_manager=manager, view_layer=bpy.context.view_layer, scene=bpy.context.scene)
    own = SimpleNamespace(execute=lambda _: {"FINISHED"}, report=lambda *_: None)

    def ask() -> list[str]:
        shown.clear()
        invoke(own, context, None)
        return shown

    assert ask() == [f"{tmp_path / 'arm.md5mesh'}, wave.md5anim"]
    assert again() == {"FINISHED"}
    assert asked_of == {str(tmp_path / name) for name in ("arm.md5mesh", "wave.md5anim")} and ask() == []
    put(tmp_path / "nod.md5anim", samples_md5.wave())
    activate(rig)
    assert bpy.ops.import_anim.idtech_md5anim(filepath=str(tmp_path / "nod.md5anim")) == {"FINISHED"}
    assert ask() == [str(tmp_path / "nod.md5anim")]
    rig.animation_data.action.use_fake_user = True
    for track in list(rig.animation_data.nla_tracks):
        rig.animation_data.nla_tracks.remove(track)
    rig.animation_data.action = None  # what a fake user alone keeps is written, too
    assert ask() == [str(tmp_path / "nod.md5anim")]


class Properties(dict[str, Any]):
    """Stands for an operator's: what was set, and what Blender remembers."""

    def __init__(self, given: set[str]):
        super().__init__()
        self.given, self.bl_rna = given, bpy.ops.export_scene.idtech_md3.get_rna_type()

    def is_property_set(self, name: str) -> bool:
        return name in self.given


def operator_with(given: dict[str, Any], remembered: dict[str, Any]) -> Any:
    """Return what stands for an operator that a user has called."""
    properties = Properties(set(given))
    usual = {prop.identifier: getattr(prop, "default", None) for prop in properties.bl_rna.properties}
    operator = SimpleNamespace(properties=properties, **(usual | remembered | given))
    properties.property_unset = lambda name: setattr(operator, name, usual[name])  # type: ignore[attr-defined]
    return operator


def test_the_next_export_begins_so(tmp_path):
    first, second = (import_model(put(tmp_path / name)) for name in ("a.md3", "b.md3"))
    activate(first.objects[0])
    export_bytes(tmp_path / "c.md3", scale=2.0, game="quake3")
    assert (options_of(first, "md3"), options_of(second, "md3")) == ({"scale": 2.0, "game": "quake3"}, None)
    operator = operator_with({}, {"scale": 7.0, "normals": "SMOOTH"})
    begin(operator, first, "md3")
    assert (operator.scale, operator.game, operator.normals) == (2.0, "quake3", "SOURCE")
    begin(operator, second, "md3")
    assert (operator.scale, operator.game) == (1.0, "format"), "another model begins as usual"
    operator = operator_with({"scale": 3.0}, {})
    begin(operator, first, "md3")
    assert (operator.scale, operator.game) == (3.0, "quake3"), "what the call says counts"
    operator = operator_with({"game": "format"}, {})
    begin(operator, first, "md3")
    assert (operator.scale, operator.game) == (2.0, "format"), "and nothing but that"
    operator = operator_with({}, {"scale": 7.0})
    begin(operator, add_cube(), "md3")
    assert operator.scale == 7.0, "what came from no file begins as Blender has it"


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"md3": 5}', '{"md3": {"scale": "big", "game": "chess", "x": 1}}', "[" * 99999]
)
def test_what_a_stranger_wrote_does_no_harm(tmp_path, text):
    path = put(tmp_path / "a.md3")
    before = path.read_bytes()
    import_model(path)["idtech_export"] = text
    assert again() == {"FINISHED"}
    assert path.read_bytes() == before


def test_what_lies_in_an_archive_stays_there(tmp_path):
    archive = put_pack(tmp_path / "pak0.pk3", {"models/a.md3": sample("animated")})
    before = archive.read_bytes()
    bpy.ops.import_scene.idtech_md3(filepath=str(archive / "models/a.md3"))
    assert "archive" in error_of(again), "the button is grey"
    with pytest.raises(
        LimitError, match=r"'a.md3' lies in the archive 'pak0.pk3', .*: export it into the game's folder"
    ):
        plan_of(bpy.context)
    export_bytes(tmp_path / "loose.md3")
    (tmp_path / "loose.md3").unlink()
    assert again() == {"FINISHED"}
    assert (tmp_path / "loose.md3").is_file(), "there it belongs from now on"
    assert archive.read_bytes() == before


def test_a_player_of_an_archive_stays_there(tmp_path):
    folder = PROJECT / "examples/tock/baseq3/models/players/tock"
    files = {f"models/players/tock/{file.name}": file.read_bytes() for file in folder.iterdir()}
    archive = put_pack(tmp_path / "pak0.pk3", files)
    assert bpy.ops.import_scene.idtech_player(filepath=str(archive), player="tock") == {"FINISHED"}
    with pytest.raises(LimitError, match=r"'tock' lies in an archive, .*: export it into '.*z_tock\.pk3'"):
        plan_of(bpy.context)
    assert "lies in an archive" in error_of(again)
    target = tmp_path / "z_tock.pk3"
    assert bpy.ops.export_scene.idtech_player(filepath=str(target)) == {"FINISHED"}
    written = target.read_bytes()
    target.unlink()
    assert again() == {"FINISHED"}
    assert target.read_bytes() == written, "there it belongs from now on"


def test_what_came_from_no_file_goes_where_it_was_written(tmp_path):
    add_cube()
    assert "came from no file" in error_of(again)
    first = export_bytes(tmp_path / "cube.md3", scale=2.0)
    (tmp_path / "cube.md3").write_bytes(b"")
    assert again() == {"FINISHED"}
    assert (tmp_path / "cube.md3").read_bytes() == first


@pytest.mark.parametrize(("example", "suffixes"), [("newt", (".md5mesh", ".md5anim")), ("trooper", (".mdm", ".mdx"))])
def test_a_rig_with_its_animations(tmp_path, example, suffixes):
    every = (PROJECT / "examples" / example).rglob("*")
    own = (f for f in every if f.suffix in suffixes and f.stem != "soldier")  # another body on the same bones
    files = sorted(own, key=lambda file: suffixes.index(file.suffix))
    assert len(files) > 1
    before = {file.name: file.read_bytes() for file in files}
    for name, data in before.items():
        put(tmp_path / name, data)
    import_model(tmp_path / files[0].name)
    for file in files:
        (tmp_path / file.name).write_bytes(b"")
    rig = next(block for block in bpy.context.scene.objects if block.type == "ARMATURE")
    played = rig.animation_data.action
    assert again() == {"FINISHED"}
    assert {name: (tmp_path / name).read_bytes() for name in before} == before
    assert rig.animation_data.action == played


def test_the_memory_is_one_short_text(tmp_path):
    collection = import_model(put(tmp_path / "a.md3"))
    export_bytes(tmp_path / "c.md3")
    remembered = json.loads(collection["idtech_export"])
    assert remembered == {"md3": {"game": "format"}, "format": "md3", "file": str(tmp_path / "c.md3")}


@pytest.mark.parametrize("scale", [0.5, 3.0])
def test_a_model_goes_back_as_large_as_it_came(tmp_path, scale):
    put(tmp_path / "wave.md5anim", samples_md5.wave())
    for name, data in (("a.md3", SENTINEL.read_bytes()), ("arm.md5mesh", samples_md5.arm())):
        before = put(tmp_path / name, data).read_bytes()
        made = import_model(tmp_path / name, scale=scale)
        activate(bpy.context.scene.objects[-1])
        operator = operator_with({}, {})
        begin(operator, made, "mds")
        assert operator.scale == scale, "in other formats, too"
        for where in ("its own", "its own", "another", "none of its own"):
            if where != "its own":
                for block in list(made.objects):
                    bpy.context.scene.collection.objects.link(block)
                    made.objects.unlink(block)
            if where == "none of its own":
                made = bpy.data.collections.remove(made)
            activate(*(block for block in bpy.context.scene.objects if block.type != "EMPTY"))
            (tmp_path / name).write_bytes(b"")
            assert again() == {"FINISHED"}
            assert differences(before, (tmp_path / name).read_bytes()) == set()
        bpy.ops.wm.read_homefile(use_empty=True)


def test_a_whole_player(tmp_path):
    folder = tmp_path / "models/players/tock"
    shutil.copytree(PROJECT / "examples/tock/baseq3/models/players/tock", folder)
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert bpy.ops.import_scene.idtech_player(filepath=str(folder / "upper.md3")) == {"FINISHED"}
    bpy.context.view_layer.objects.active = next(b for b in bpy.context.scene.objects if b.type == "MESH")
    for name in ("upper.md3", "head_1.md3"):
        (folder / name).unlink()
    assert again() == {"FINISHED"}
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_a_model_goes_back_with_the_animations_of_its_last_export(tmp_path):
    with_wave(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    export_bytes(put(tmp_path / "out/arm.md5mesh", b""), write_animations=True)
    assert again() == {"FINISHED"}
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert after.keys() == before.keys()
    for name, data in before.items():
        assert after[name] != data, "a text is laid out anew: it was written"
        assert differences(data, after[name]) == set()


@pytest.mark.parametrize(
    ("called", "file"),
    [("", "wave.001.md5anim"), ("run", "run.md5anim"), ("arm", "arm.md5anim"), ("old", "old.001.md5anim")],
)
def test_a_copy_of_an_animation_gets_a_file_of_its_own(tmp_path, called, file):
    put(tmp_path / "old.md5anim", b"another model's")
    rig = with_wave(tmp_path)
    source = bpy.data.actions["wave"]
    copy = source.copy()
    copy.name = called or copy.name
    rig.animation_data.action = copy
    rig.pose.bones["hand"].rotation_quaternion = (0.6, 0.8, 0, 0)
    rig.pose.bones["hand"].keyframe_insert("rotation_quaternion", frame=9)
    for _ in range(2):
        assert again() == {"FINISHED"}
        (wave,), (run,) = load_animations(tmp_path / "wave.md5anim"), load_animations(tmp_path / file)
        assert (wave.num_frames, run.num_frames) == (5, 10)
        assert (tmp_path / "old.md5anim").read_bytes() == b"another model's"
        assert len(list(tmp_path.iterdir())) == 4
        copy["idtech_file"] = source["idtech_file"]  # as undo has it
        del copy["idtech_file_of"]


def test_what_the_armature_follows_is_said_to_play_in_all(tmp_path, capfd):
    rig = with_wave(tmp_path)
    aim = add_tag("aim")
    for frame, place in ((0, 0), (4, 9)):
        aim.location.x = place
        aim.keyframe_insert("location", frame=frame)
    hold = rig.pose.bones["hand"].constraints.new("DAMPED_TRACK")
    hold.target = aim
    rig.animation_data.action = None
    assert again() == {"FINISHED"}
    said = "'aim', which 'arm' follows, plays 'aimAction' whatever is written: so it does in 'wave'"
    assert said in capfd.readouterr().out.replace("aimAction.001", "aimAction")


def test_a_copy_of_an_animation_that_came_from_no_file(tmp_path):
    """It was exported, and keeps its file; the copy that plays goes into one of its own."""
    rig = with_wave(tmp_path)
    own = own_animation(rig, "go")
    bpy.ops.export_anim.idtech_md5anim(filepath=str(tmp_path / "go.md5anim"))
    before = (tmp_path / "go.md5anim").read_bytes()
    own.use_fake_user = True
    copy = own.copy()
    copy.name, rig.animation_data.action = "a_run", copy
    rig.pose.bones["hand"].rotation_quaternion = (0.6, 0.8, 0, 0)
    rig.pose.bones["hand"].keyframe_insert("rotation_quaternion", frame=9)
    for _ in range(2):
        assert again() == {"FINISHED"}
        assert (tmp_path / "go.md5anim").read_bytes() == before
        (run,) = load_animations(tmp_path / "a_run.md5anim")
        assert run.num_frames == 10
        assert sorted(file.stem for file in tmp_path.iterdir()) == ["a_run", "arm", "go", "wave"]


def test_a_copy_of_what_came_from_no_file_was_written_nowhere(tmp_path):
    add_cube()
    cube = bpy.context.object
    before = export_bytes(tmp_path / "cube.md3")
    bpy.ops.object.duplicate()
    bpy.context.object.location.x = 3
    assert "came from no file" in error_of(again)
    assert (tmp_path / "cube.md3").read_bytes() == before
    moved = export_bytes(tmp_path / "other.md3")
    assert again() == {"FINISHED"}
    assert (tmp_path / "other.md3").read_bytes() == moved
    bpy.data.objects.remove(cube)
    bpy.context.view_layer.update()
    bpy.context.object.name = "Cube"  # in its place, and where it was written itself
    assert again() == {"FINISHED"}
    assert (tmp_path / "cube.md3").read_bytes() == before


def test_what_came_from_no_file_and_was_renamed_goes_where_it_was_written(tmp_path):
    add_cube()
    first = export_bytes(tmp_path / "cube.md3")
    bpy.context.object.name = "Box"
    (tmp_path / "cube.md3").write_bytes(b"")
    assert again() == {"FINISHED"}
    assert len((tmp_path / "cube.md3").read_bytes()) == len(first)


def test_an_animation_that_was_renamed_alone_goes_back(tmp_path):
    with_wave(tmp_path)
    bpy.data.actions["wave"].name = "run"
    (tmp_path / "wave.md5anim").write_bytes(b"")
    assert again() == {"FINISHED"}
    assert {path.name for path in tmp_path.iterdir()} == {"arm.md5mesh", "wave.md5anim"}
    assert differences((tmp_path / "wave.md5anim").read_bytes(), samples_md5.wave()) == set()


@pytest.mark.parametrize("late", [False, True])
def test_a_copy_of_what_was_renamed_was_written_nowhere(tmp_path, late):
    """Whatever the original is called by now."""
    add_cube()
    cube = bpy.context.object
    before = export_bytes(tmp_path / "cube.md3")
    cube.name = cube.name if late else "Box"
    bpy.ops.object.duplicate()
    cube.name = "Box"
    bpy.context.object.location.x = 3
    assert "came from no file" in error_of(again)
    assert (tmp_path / "cube.md3").read_bytes() == before
    activate(cube)
    assert again() == {"FINISHED"}, "and the original goes where it went"


def test_a_copy_of_a_rig_and_its_action_leaves_the_originals_file(tmp_path, monkeypatch):
    rig = with_wave(tmp_path)
    forget(rig, *rig.children)
    own = own_animation(rig, "go")
    activate(rig, *rig.children)
    export_bytes(tmp_path / "arm.md5mesh", what="SELECTION")
    bpy.ops.export_anim.idtech_md5anim(filepath=str(tmp_path / "go.md5anim"))
    before = (tmp_path / "go.md5anim").read_bytes()
    monkeypatch.setattr(bpy.context.preferences.edit, "use_duplicate_action", True)
    activate(rig, *rig.children)
    bpy.ops.object.duplicate()
    copy = bpy.context.object
    assert copy.animation_data.action not in (own, None)
    copy.pose.bones["hand"].rotation_quaternion = (0.6, 0.8, 0, 0)
    copy.pose.bones["hand"].keyframe_insert("rotation_quaternion", frame=9)
    assert "came from no file" in error_of(again)
    activate(copy, *copy.children)
    export_bytes(tmp_path / "other.md5mesh", what="SELECTION")
    assert again() == {"FINISHED"}
    assert (tmp_path / "go.md5anim").read_bytes() == before
    (found,) = load_animations(tmp_path / f"{copy.animation_data.action.name}.md5anim")
    assert found.num_frames == 10


def forget(*blocks):
    """Let objects be one's own, which came from no file, and lie in no model's collection."""
    for block in blocks:
        for home in list(block.users_collection):
            home.objects.unlink(block)
        bpy.context.scene.collection.objects.link(block)
        for holder in (block, block.data):
            for name in filter(re.compile("idtech").match, list(holder.keys())):
                del holder[name]


def own_animation(rig, name):
    """Let an armature play an action that came from no file."""
    own = rig.animation_data.action.copy()
    for noted in ("idtech_file", "idtech_given", "idtech_name"):
        del own[noted]
    own.name, rig.animation_data.action = name, own
    return own


def test_an_action_that_was_renamed_keeps_its_file_and_its_copy_has_another(tmp_path):
    rig = with_wave(tmp_path)
    source = bpy.data.actions["wave"]
    copy, source.use_fake_user = source.copy(), True
    for track in list(rig.animation_data.nla_tracks):
        rig.animation_data.nla_tracks.remove(track)
    source.name, rig.animation_data.action = "stroll", copy
    assert copy.name == "wave.001"
    rig.pose.bones["hand"].keyframe_insert("rotation_quaternion", frame=9)
    assert again() == {"FINISHED"}
    frames = {file.stem: load_animations(file)[0].num_frames for file in tmp_path.glob("*.md5anim")}
    assert frames == {"wave": 5, "wave.001": 10}


def test_what_was_made_of_a_copy_goes_where_it_was_exported_to(tmp_path):
    rig = with_wave(tmp_path)
    copy = bpy.data.actions["wave"].copy()
    copy.name, rig.animation_data.action = "run", copy
    bpy.ops.export_anim.idtech_md5anim(filepath=str(tmp_path / "run.md5anim"))
    rig.pose.bones["hand"].keyframe_insert("rotation_quaternion", frame=9)
    assert again() == {"FINISHED"}
    frames = {file.stem: load_animations(file)[0].num_frames for file in tmp_path.glob("*.md5anim")}
    assert frames == {"wave": 5, "run": 10}


def add_controls(rig):
    """Add an armature that an imported one's hand follows, in its collection, and let it play an action."""
    controls = bpy.data.objects.new("controls", rig.data.copy())
    for name in list(controls.data.keys()):
        del controls.data[name]
    rig.users_collection[0].objects.link(controls)
    activate(controls)
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in [bone for bone in controls.data.edit_bones if bone.name != "hand"]:
        controls.data.edit_bones.remove(bone)
    bpy.ops.object.mode_set(mode="OBJECT")
    hold = rig.pose.bones["hand"].constraints.new("COPY_ROTATION")
    hold.target, hold.subtarget = controls, "hand"
    controls.animation_data_create().action = bpy.data.actions.new("shake")
    for frame, turned in ((0, (1, 0, 0, 0)), (8, (0.6, 0.8, 0, 0))):
        controls.pose.bones["hand"].rotation_quaternion = turned
        controls.pose.bones["hand"].keyframe_insert("rotation_quaternion", frame=frame)
    return controls


def test_while_controls_are_active_it_is_the_rig_that_is_written(tmp_path):
    """Who poses has these active."""
    rig = with_wave(tmp_path)
    controls = add_controls(rig)
    activate(rig)
    rig.animation_data.action = None
    options = {"filepath": str(tmp_path / "shake.md5anim"), "what": "CHOSEN", "actions": "shake"}
    assert bpy.ops.export_anim.idtech_md5anim(**options) == {"FINISHED"}
    activate(controls)
    (tmp_path / "wave.md5anim").write_bytes(b"")
    assert again() == {"FINISHED"}
    for name in ("wave", "shake"):
        (found,) = load_animations(tmp_path / f"{name}.md5anim")
        assert len(found.joint_names) == len(rig.data.bones) > 1


def test_animations_of_another_model_that_this_one_follows_stay_that_ones(tmp_path, capfd):
    """A rider moves with the horse; what it plays itself lies in muted tracks."""
    other = with_wave(put(tmp_path / "horse/x", b"").parent)
    rig = with_wave(put(tmp_path / "rider/x", b"").parent)
    hold = rig.pose.bones["hand"].constraints.new("COPY_LOCATION")
    hold.target, hold.subtarget = other, "hand"
    rig.animation_data.action = None
    before = (tmp_path / "horse/wave.md5anim").read_bytes()
    assert again() == {"FINISHED"}
    assert (tmp_path / "horse/wave.md5anim").read_bytes() == before
    for track in list(rig.animation_data.nla_tracks):
        rig.animation_data.nla_tracks.remove(track)
    bpy.data.actions.remove(next(a for a in bpy.data.actions if a.get("idtech_made_for") == rig.data["idtech_model"]))
    capfd.readouterr()
    assert again() == {"FINISHED"}, "and where it keeps none it shows that one's, which is another file"
    assert (tmp_path / "horse/wave.md5anim").read_bytes() == before
    said = "animations that came from no file of this model are not written, export them (File > Export): 'wave'"
    assert said in capfd.readouterr().out
