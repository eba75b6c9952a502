"""Try in Game: what of the scene goes into the game, and what comes back."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from io_idtech_models.game.pictures import tga
from io_idtech_models.tasks import trial
from io_idtech_models.tasks.import_ import games
from io_idtech_models.ui import trial as operators
from tests.blender.case import show_image
from tests.packs import put_files, put_pack
from tests.samples import PROJECT, sample
from tests.trials import is_gone, player, toy
from tests.ui.scene import activate, add_cube, bpy, counts, error_of, import_model, png

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
TOY = "models/players/toy"
ROOM = {"maps/idtech-room.bsp", "textures/idtech/room.tga"}


@pytest.fixture
def game(empty_scene, tmp_path, monkeypatch):
    """A game of the preferences, which a small program stands for."""
    (tmp_path / "temp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temp"))
    addon: Any = bpy.context.preferences.addons.new()
    addon.module = games.PACKAGE
    found = toy(tmp_path)
    entry = addon.preferences.games.add()
    entry.name, entry.folder = "Toy", str(found.folder)
    entry.executable, entry.arguments = found.executable, found.arguments
    yield found
    trial.forget()
    bpy.context.preferences.addons.remove(bpy.context.preferences.addons[games.PACKAGE])
    assert list((tmp_path / "temp").iterdir()) == []


def own() -> Any:
    return bpy.context.preferences.addons[games.PACKAGE].preferences


def try_it(**options: Any) -> Any:
    return bpy.ops.idtech.try_in_game(**options)


def bring(folder: Path, *parts: str) -> list[Any]:
    """Import parts of a player, the last of which is active then."""
    return [import_model(folder / TOY / f"{part}.md3") for part in parts]


@pytest.fixture
def work(tmp_path):
    """A folder with a player in it."""
    put_files(tmp_path / "work", player())
    return tmp_path / "work"


def meshes(collection: Any) -> list[Any]:
    return [block for block in collection.objects if block.type == "MESH"]


def move(collection: Any) -> None:
    """Edit a model."""
    mesh = meshes(collection)[0].data
    for key in mesh.shape_keys.key_blocks if mesh.shape_keys else ():
        key.data[0].co.x += 5.0
    mesh.vertices[0].co.x += 5.0


def expected() -> dict[str, bytes]:
    return {path: data for path, data in player().items() if not path.endswith(".blend")}


def changed(game: Any) -> set[str]:
    """Return which files of the player are others in the game that was tried."""
    return {path.removeprefix(f"{TOY}/") for path, data in expected().items() if game.packed[path] != data}


# -- what goes into the game


def test_a_player_that_was_not_edited_is_what_it_was(game, work):
    bring(work, "upper", "head")
    assert try_it() == {"FINISHED"}
    assert game.packed.keys() == expected().keys() | ROOM and not changed(game)
    assert 'set model "toy/default"' in game.told["scripts"]["autoexec.cfg"]


def test_a_whole_player_is_what_a_save_would_write(game, work):
    assert bpy.ops.import_scene.idtech_player(filepath=str(work / TOY / "head.md3")) == {"FINISHED"}
    assert try_it() == {"FINISHED"}
    assert game.packed.keys() == expected().keys() | ROOM and not changed(game)
    head = bpy.data.collections["head"]
    meshes(head)[0].name += ".001"
    assert try_it() == {"FINISHED"}
    assert not changed(game), "Blender's numbers are no names"
    move(head)
    assert try_it() == {"FINISHED"}
    assert changed(game) == {"head.md3"}


def test_a_player_holds_the_weapon_of_the_scene(game, work, capfd):
    gun = "models/weapons2/railgun/railgun"
    put_files(work, {f"{gun}.md3": sample("animated"), f"{gun}_flash.md3": b"flash", "models/weapons2/a/a.md3": b""})
    options: Any = {"filepath": str(work / TOY / "head.md3"), "weapon": "railgun"}
    assert bpy.ops.import_scene.idtech_player(**options) == {"FINISHED"}
    held = next(c for c in bpy.data.collections if c.name.startswith("railgun") and meshes(c))
    assert try_it() == {"FINISHED"}
    assert game.packed[f"{gun}.md3"] == sample("animated")
    assert game.packed[f"{gun}_flash.md3"] == b"flash"
    assert "weapon 7" in game.told["scripts"]["idtech-try.cfg"]
    move(held)
    activate(meshes(held)[0])
    assert try_it() == {"FINISHED"}
    assert game.packed[f"{gun}.md3"] != sample("animated")
    assert 'set model "toy/default"' in game.told["scripts"]["autoexec.cfg"]
    held["idtech_file"] = str(work / "models/weapons2/spork/spork.md3")
    for block in meshes(held):
        block.data.pop("idtech_file", None)
    capfd.readouterr()
    assert try_it() == {"FINISHED"}
    assert "'spork.md3': the game does not know it as a weapon" in capfd.readouterr().out
    assert "weapon " not in game.told["scripts"]["idtech-try.cfg"]


@pytest.mark.parametrize("packed", [False, True])
def test_edited_parts_are_the_scenes_and_the_others_the_files(game, work, packed):
    if packed:
        put_pack(game.folder / "pak0.pk3", player())
    head, upper = bring(game.folder / "pak0.pk3" if packed else work, "head", "upper")
    for part, files in ((head, {"head.md3"}), (upper, {"head.md3", "upper.md3"})):
        move(part)
        assert try_it() == {"FINISHED"}
        assert changed(game) == files
    if not packed:
        for path in (work / TOY).iterdir():
            path.unlink()
        assert "shows no player 'toy' without 'lower.md3'" in error_of(try_it)


def test_what_a_new_surface_wears_is_in_the_skin(game, work):
    (head,) = bring(work, "head")
    hat = add_cube("hat")
    hat.data.materials.append(bpy.data.materials.new("models/players/toy/hat.tga"))
    head.objects.link(hat)
    bpy.context.scene.collection.objects.unlink(hat)
    activate(meshes(head)[0])
    assert try_it() == {"FINISHED"}
    lines = game.packed[f"{TOY}/head_default.skin"].splitlines()
    assert lines[0] == b"tri,models/players/toy/band.tga"
    assert b"hat,models/players/toy/hat.tga" in lines
    assert game.packed[f"{TOY}/upper_default.skin"] == player()[f"{TOY}/upper_default.skin"]


def test_another_skin_is_that_files(game, work):
    put_files(work, player("red"))
    bring(work, "head")
    assert try_it(skin="red") == {"FINISHED"}
    assert 'set model "toy/red"' in game.told["scripts"]["autoexec.cfg"]
    assert game.packed[f"{TOY}/head_red.skin"] == player("red")[f"{TOY}/head_red.skin"]
    assert "'lower_blue.skin'" in error_of(try_it, skin="blue")


def test_which_of_several_parts_is_shown(game, work, capfd):
    """None that is hidden; of two the active one."""
    upper, _head = bring(work, "upper", "head")
    move(upper)
    for block in upper.objects:
        block.hide_set(True)
    try_it()
    assert "'upper' is hidden: the game shows its file" in capfd.readouterr().out
    assert not changed(game)
    move(*bring(work, "head"))
    try_it()
    assert "'head' came from 'head.md3' too: it is left out" in capfd.readouterr().out
    assert changed(game) == {"head.md3"}


def test_another_player_in_the_scene_is_another(game, work, tmp_path, capfd):
    put_files(tmp_path / "other", player())
    move(*bring(tmp_path / "other", "upper"))
    bring(work, "head")
    try_it()
    assert "left out" not in capfd.readouterr().out
    assert not changed(game)


def test_a_level_of_detail_is_one(game, work):
    (level,) = bring(work, "head_2")
    move(level)
    try_it()
    assert changed(game) == {"head_2.md3"}
    assert f"{TOY}/head_2_default.skin" not in game.packed


@pytest.mark.parametrize("packed", [False, True], ids=["unsaved", "packed"])
@pytest.mark.parametrize("whole", [False, True], ids=["a part", "the player"])
def test_a_painted_picture_is_shown(game, work, whole, packed):
    """And one that was made here, of a material without a path."""
    png(work / TOY / "band.png")
    if whole:
        bpy.ops.import_scene.idtech_player(filepath=str(work / TOY / "head.md3"))
    else:
        bring(work, "head")
    head = bpy.data.collections["head"]
    (image,) = (each for each in bpy.data.images if each.name.startswith("band"))
    try_it()
    assert f"{TOY}/band.tga" not in game.packed
    image.pixels[:] = [0.25, 0.5, 0.75, 1.0] * (len(image.pixels) // 4)
    if packed:
        image.pack()
    hat = add_cube("hat")
    hat.data.materials.append(bpy.data.materials.new("felt"))
    head.objects.link(hat)
    bpy.context.scene.collection.objects.unlink(hat)
    hat.parent = meshes(head)[0].parent
    activate(meshes(head)[0])
    try_it()
    assert tga.decode(game.packed[f"{TOY}/band.tga"])[0, 0, :3].tolist() == [64, 128, 191]
    assert f"{TOY}/felt.tga" in game.packed
    assert f"hat,{TOY}/felt.tga".encode() in game.packed[f"{TOY}/head_default.skin"]


def test_pictures_of_several_parts_have_names_of_their_own_or_are_named(game, work, capfd):
    """Of names that no game can ask for there is nothing to send."""
    for part, called in zip(bring(work, "upper", "head"), ("hat", "hat.001"), strict=True):
        (block,) = meshes(part)
        material = block.material_slots[0].material = bpy.data.materials.new(called)
        show_image(material, bpy.data.images.new(f"own {called}", 4, 4))
        odd = add_cube("odd")
        odd.data.materials.append(bpy.data.materials.new("../../away"))
        part.objects.link(odd)
        bpy.context.scene.collection.objects.unlink(odd)
        activate(block)
    assert try_it() == {"FINISHED"}
    out = capfd.readouterr().out
    assert "one picture of a name is written, give materials other names that show others: 'own hat" in out
    assert "pictures that no game can find by these names, rename the materials: '../../away.tga'" in out
    assert [name for name in game.packed if "away" in name] == []


THING = "models/a/thing.md3"


@pytest.mark.parametrize("scale", [1.0, 0.125])
def test_any_other_model(game, tmp_path, scale):
    put_files(tmp_path / "work", {THING: sample("animated"), "models/animated/body.png": b"picture"})
    collection = import_model(tmp_path / "work" / THING, scale=scale)
    assert try_it() == {"FINISHED"}, "at the size at which it came"
    assert set(game.packed) == {THING, "models/animated/body.png"} | ROOM
    assert game.packed[THING] == sample("animated")
    move(collection)
    try_it(scale=scale)
    assert game.packed[THING] != sample("animated")
    assert f"testmodel {THING}" in game.told["scripts"]["idtech-try.cfg"]


def test_a_model_that_came_from_no_file(game, tmp_path):
    block = add_cube("My Hat")
    block.data.materials.append(bpy.data.materials.new("models/try/felt"))
    assert try_it() == {"FINISHED"}
    assert set(game.packed) == {"models/try/idtech-try.md3", "models/try/felt.tga"} | ROOM, "in its colour"
    assert b"models/try/felt" in game.packed["models/try/idtech-try.md3"]
    (tmp_path / "hats").mkdir()
    png(tmp_path / "hats" / "felt.png")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "hats" / "hat.blend"))
    assert try_it() == {"FINISHED"}
    assert set(game.packed) == {"models/try/idtech-try.md3", "models/try/felt.png"} | ROOM


def test_the_blend_is_as_it_was(game, work):
    (head,) = bring(work, "head")
    block = meshes(head)[0]
    activate(block)
    bpy.context.scene.frame_set(0)
    bpy.ops.object.mode_set(mode="EDIT")
    before = counts()
    assert try_it() == {"FINISHED"}
    assert counts() == before
    assert (block.mode, bpy.context.view_layer.objects.active) == ("EDIT", block)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert not changed(game)


# -- how it is started


def test_options_become_the_games(game, work, tmp_path):
    bring(work, "head")
    own().games[0].map = "dm1"
    try_it(angle=90.0, distance=64.0, shot=str(tmp_path / "a.tga"))
    assert game.told["arguments"][-2:] == ["+devmap", "dm1"]
    script = game.told["scripts"]["idtech-try.cfg"].splitlines()
    assert {"set cg_thirdPersonAngle 90", "set cg_thirdPersonRange 64"} <= set(script)
    assert (tmp_path / "a.tga").read_bytes().endswith(b"abc"), "the picture that it took"
    try_it(map="dm2", game="Toy")
    assert game.told["arguments"][-1] == "dm2"


def test_which_games_there_are(game):
    other = own().games.add()
    other.name, other.folder = "Other", str(game.folder)
    assert trial.names() == ["Toy"]
    other.executable = game.executable
    assert trial.names() == ["Toy", "Other"]
    own().games[0].enabled = False
    assert trial.names() == ["Other"]
    assert [item[0] for item in operators._games(None, None)] == ["Other"]


def test_what_the_game_says_comes_back(game, work, capfd, monkeypatch):
    """And it is ended after its time limit."""
    bring(work, "head")
    monkeypatch.setenv("TRIAL_LOG", f"R_LoadMD3: {TOY}/head.md3 has no frames\nWARNING: sound/a.wav is odd")
    assert try_it() == {"FINISHED"}
    said = capfd.readouterr().out
    assert f"Warning: toy/default in 'Toy': 0 seconds; R_LoadMD3: {TOY}/head.md3 has no frames" in said
    assert "a.wav" not in said
    monkeypatch.setenv("TRIAL_STAYS", "1")
    try_it(time_limit=1)
    assert "the game was ended after 1 seconds, the time limit" in capfd.readouterr().out
    assert is_gone(game.told["pid"])


# -- what can't be tried


def test_where_it_is_offered(game):
    offered: Any = bpy.ops.idtech.try_in_game.poll
    assert not offered() and trial.lack(bpy.context) == "No object is active"
    add_cube()
    assert offered()
    own().games[0].executable = "/no/such/program"
    assert "there is no program '/no/such/program'" in error_of(try_it)
    own().games[0].executable = ""
    assert not offered() and "No game of the preferences has an executable" in trial.lack(bpy.context)


def test_models_that_no_game_shows(game, tmp_path):
    put_files(tmp_path, {"players/a/tris.md2": sample("animated", "md2")})
    import_model(tmp_path / "players/a/tris.md2")
    assert "'players/a/tris.md2': only .md3 can be tried" in error_of(try_it)
    import_model(PROJECT / "examples/newt/models/md5/newt/newt.md5mesh")
    assert "'models/md5/newt/newt.md5mesh': only .md3 can be tried" in error_of(try_it)
    assert not game.notes.exists()


# -- in a window: the game runs on its own


@pytest.fixture
def window(monkeypatch):
    """As where Blender has a window; what is asked of its manager is noted."""
    monkeypatch.setattr(trial, "background", lambda: False)
    started: list[str] = []
    monkeypatch.setattr(operators, "bpy", SimpleNamespace(ops=SimpleNamespace(idtech=SimpleNamespace(
        watch_game=started.append
    )), types=bpy.types))  # fmt: skip
    return started


def watcher() -> Any:
    """Return what stands for the operator that waits, and for its context."""
    said: list[tuple[set[str], str]] = []
    status: list[str | None] = []
    manager = SimpleNamespace(
        event_timer_add=lambda seconds, window: "timer",
        event_timer_remove=lambda timer: None,
        modal_handler_add=lambda operator: None,
    )
    workspace = SimpleNamespace(status_text_set=status.append)
    context = SimpleNamespace(window_manager=manager, window=None, workspace=workspace)
    own: Any = SimpleNamespace(report=lambda kind, text: said.append((kind, text)), said=said, status=status)
    own._timer, own._unwatch = None, lambda context: operators.IDTECH_OT_watch_game._unwatch(own, context)
    return own, context


@pytest.fixture
def started(game, work, window, monkeypatch, request):
    """Return a game that was begun in a window, and stays unless a test wants another."""
    if getattr(request, "param", True):
        monkeypatch.setenv("TRIAL_STAYS", "1")
    bring(work, "head")
    assert try_it() == {"FINISHED"}
    assert window == ["INVOKE_DEFAULT"]
    running = trial.current()
    assert running is not None
    return running


def event(kind: str) -> Any:
    return SimpleNamespace(type=kind, value="PRESS")


def modal(*given: Any) -> set[str]:
    return operators.IDTECH_OT_watch_game.modal(*given)


def test_blender_goes_on_until_the_game_ends(started):
    own, context = watcher()
    assert operators.IDTECH_OT_watch_game.invoke(own, context, None) == {"RUNNING_MODAL"}
    assert "Esc" in own.status[0]
    for kind in ("TIMER", "MOUSEMOVE", "A"):
        assert modal(own, context, event(kind)) == {"PASS_THROUGH"}
    assert "is being tried: end that game first" in error_of(try_it)
    assert modal(own, context, event("ESC")) == {"FINISHED"}
    assert own.status[-1] is None
    assert "the game was ended" in own.said[0][1]
    assert trial.current() is None and started.is_over()


@pytest.mark.parametrize("started", [False], indirect=True, ids=["that ends"])
def test_a_game_that_ends_by_itself(started):
    own, context = watcher()
    while not started.is_over():
        pass
    assert modal(own, context, event("TIMER")) == {"FINISHED"}
    assert own.said == [({"INFO"}, "toy/default in 'Toy': 0 seconds")]


def test_another_blend_ends_the_game(started):
    own, context = watcher()
    operators.IDTECH_OT_watch_game.cancel(own, context)
    assert own.status == [None]
    assert started.is_over()
    assert modal(own, context, event("TIMER")) == {"CANCELLED"}


def test_the_extension_goes_and_the_game_with_it(started):
    operators.unwatch()
    assert trial.current() is None and started.is_over()
