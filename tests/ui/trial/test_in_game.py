"""Proof by picture: a player that was not edited looks in a real game as it does there, and an edit is seen.

It needs Quake III Arena, OpenArena or their like: see "Tests and benchmarks" in CONTRIBUTING.md.
"""

import os
import shutil
import struct
import subprocess
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from examples import strut
from io_idtech_models.assets.belongings import Belongings
from io_idtech_models.assets.trial import Outcome, Program, Settings, run
from io_idtech_models.blender.compat import playing_curves
from io_idtech_models.game.folders import Disk, Game
from io_idtech_models.game.listing import members
from io_idtech_models.game.player.animation_cfg import read
from io_idtech_models.game.trial.script import View
from io_idtech_models.game.trial.subject import Player
from io_idtech_models.tasks import trial
from tests.ui.scene import activate, add_cube, bpy, import_model

GAME = "IDTECH_TRY_GAME"  # the program and the game's folder, with what parts paths in PATH between
EXECUTABLE, _, FOLDER = os.environ.get(GAME, "").partition(os.pathsep)
SARGE = "sarge"  # whom both games have
NAMES = os.environ.get("IDTECH_TRY_PLAYERS", SARGE).split(",")  # or all that the game has
VIEW = View(picture=True, size=(400, 300))
PARTS = ("lower", "upper", "head")
pytestmark = [
    pytest.mark.usefixtures("empty_scene", "screen"),
    pytest.mark.skipif(not FOLDER, reason=f"no game: set {GAME}"),
]


@pytest.fixture(scope="module")
def screen():
    """Let there be a screen, which nobody need see."""
    if os.environ.get("DISPLAY") or os.name == "nt":
        yield
        return
    if shutil.which("Xvfb") is None:
        pytest.skip("no screen, and no Xvfb to make one")
    reader, writer = os.pipe()
    words = ["Xvfb", "-displayfd", str(writer), "-screen", "0", "800x800x24", "-nolisten", "tcp"]
    server = subprocess.Popen(words, pass_fds=[writer], stderr=subprocess.DEVNULL)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        os.environ["DISPLAY"] = f":{pipe.readline().strip()}"
    yield
    del os.environ["DISPLAY"]
    server.terminate()
    server.wait()


@pytest.fixture
def program():
    return Program(Game("game", (FOLDER,)), EXECUTABLE)


def of_the_game(path: str) -> Any:
    """Return a file of the game."""
    disk = Disk([Game("game", (FOLDER,))])
    folder, _, name = path.rpartition("/")
    found = disk.game(disk.games[0]).find_first(folder.split("/"), [name])
    assert found is not None, f"this game has no {path}"
    return found


def home(name: str) -> str:
    return f"models/players/{name}"


def players() -> list[str]:
    """Return the players to show."""
    if NAMES != ["all"] or not FOLDER:
        return NAMES
    disk = Disk([Game("game", (FOLDER,))])
    found = members(disk.game(disk.games[0]), "models/players/*/lower.md3")
    return sorted({path.split("/")[2].lower() for path, _ in found})


def still(name: str) -> dict[str, bytes]:
    """Return a player's animations with one frame each: when a picture is taken does not matter then."""
    rows = []
    for line in of_the_game(f"{home(name)}/animation.cfg").read().decode("latin-1").splitlines():
        words = line.split()
        rows.append(f"{words[0]} 1 0 {words[3]}" if len(words) > 3 and words[0].isdecimal() else line)
    return {f"{home(name)}/animation.cfg": "\n".join(rows).encode("latin-1")}


def show(program: Program, found: Belongings, files: Mapping[str, bytes] | None = None) -> Outcome:
    """Show a player with files that count above its own, which are the scene's, or others."""
    assert isinstance(found.subject, Player)
    files = {**(found.files if files is None else files), **still(found.subject.name)}
    return run(files, found.subject, program, Settings(VIEW, time_limit=120), found.about)


def pixels(outcome: Outcome) -> Any:
    """Return a picture, the highest row first."""
    data = outcome.picture
    assert data is not None, outcome.complaints
    width, height = struct.unpack_from("<2H", data, 12)
    return np.frombuffer(data, np.uint8, width * height * 3, 18 + data[0]).reshape(height, width, 3)[::-1]


def bring(name: str = SARGE) -> dict[str, Any]:
    return {part: import_model(Path(of_the_game(f"{home(name)}/{part}.md3").place)) for part in PARTS}


def gather(program: Program) -> Belongings:
    return trial.gather(bpy.context, program, trial.Wish())


def wear_a_hat(collection: Any, shader: str = "") -> None:
    """Put a tall box on a head: of a material that it has, or a new one."""
    head = next(block for block in collection.objects if block.type == "MESH")
    top = max(vertex.co.z for vertex in head.data.vertices)
    hat = add_cube("hat")
    for vertex in hat.data.vertices:
        vertex.co = (*(np.sign(vertex.co.xy) * 3.0), top + (12.0 if vertex.co.z > 0 else -2.0))
    material = bpy.data.materials.new(shader) if shader else head.data.materials[0]
    hat.data.materials.append(material)
    collection.objects.link(hat)
    bpy.context.scene.collection.objects.unlink(hat)
    activate(head)


@pytest.mark.parametrize("name", players())
def test_what_was_not_edited_is_the_same_picture(program, name):
    bring(name)
    found = gather(program)
    original, shown = show(program, found, {}), show(program, found)
    assert shown.complaints == original.complaints, "what the game says of its own"
    assert name != SARGE or shown.complaints == []
    assert np.ptp(pixels(original)) > 100, "it shows something"
    # Loading may take a frame more or less, which is seen where a shader moves: such a player has another chance.
    wanted = pixels(shown)
    again = (pixels(show(program, found, {})) for _ in range(3 if name != SARGE else 0))
    assert any(np.array_equal(picture, wanted) for picture in chain([pixels(original)], again))


@pytest.mark.parametrize("name", players())
def test_a_whole_player_is_the_same_picture(program, name):
    operators: Any = bpy.ops.import_scene
    place = of_the_game(f"{home(name)}/lower.md3").place
    assert operators.idtech_player(filepath=place, legs="LEGS_RUN", torso="TORSO_ATTACK") == {"FINISHED"}
    bpy.context.scene.frame_set(4)
    found = gather(program)
    original, shown = show(program, found, {}), show(program, found)
    assert shown.complaints == original.complaints, "what the game says of its own"
    wanted = pixels(shown)
    again = (pixels(show(program, found, {})) for _ in range(3 if name != SARGE else 0))
    assert any(np.array_equal(picture, wanted) for picture in chain([pixels(original)], again))


def test_an_edit_is_seen(program):
    parts = bring()
    before = pixels(show(program, gather(program)))
    wear_a_hat(parts["head"])
    outcome = show(program, gather(program))
    assert outcome.complaints == []
    differs = (pixels(outcome) != before).any(axis=2)
    rows, columns = np.nonzero(differs)
    assert differs.sum() > 200
    assert rows.max() < VIEW.size[1] / 2, "above, where the head is"
    assert abs(columns.mean() - VIEW.size[0] / 2) < 40


def test_a_torso_that_its_tag_raises_is_seen(program):
    parts = bring()
    before = pixels(show(program, gather(program)))
    (tag,) = (block for block in parts["lower"].objects if block.type == "EMPTY")
    for curve in playing_curves(tag):
        if (curve.data_path, curve.array_index) == ("location", 2):
            for key in curve.keyframe_points:
                key.co.y += 12.0
    outcome = show(program, gather(program))
    assert outcome.complaints == []
    differs = (pixels(outcome) != before).any(axis=2)
    assert differs.sum() > 1000
    legs = slice(round(VIEW.size[1] * 0.8), None)
    assert not differs[legs].any(), "they stand where they stood"


def test_what_the_game_lacks_is_said(program):
    parts = bring()
    wear_a_hat(parts["head"], f"{home(SARGE)}/no_such_hat")
    outcome = show(program, gather(program))
    assert any(f"{home(SARGE)}/no_such_hat" in line for line in outcome.complaints)


def test_a_model_that_the_game_refuses_is_said(program):
    bring()
    found = gather(program)
    broken = bytearray(found.files[f"{home(SARGE)}/head.md3"])
    broken[4] = 14  # its version
    found.files[f"{home(SARGE)}/head.md3"] = bytes(broken)
    complaints = show(program, found).complaints
    assert any(f"R_LoadMD3: {home(SARGE)}/head.md3 has wrong version" in line for line in complaints)


def test_a_player_made_of_a_rig_stands_and_walks(program, tmp_path):
    strut.build()
    pictures: list[Any] = []
    for rows in ("LEGS_IDLE=Idle", "LEGS_IDLE=Walk"):  # for a player that nobody moves stands
        folder = tmp_path / str(len(pictures)) / home("strut")
        made = bpy.ops.object.idtech_make_player(filepath=str(folder), rows=rows, open_result=False)
        assert made == {"FINISHED"}
        files = {f"{home('strut')}/{path.name}": path.read_bytes() for path in folder.iterdir()}
        table = read(files[f"{home('strut')}/animation.cfg"])
        for row in table.rows:
            table = table.edited(row, count=1, loop=0)  # when a picture is taken does not matter then
        files[f"{home('strut')}/animation.cfg"] = table.write()
        outcome = run(files, Player("strut"), program, Settings(VIEW, time_limit=120))
        assert outcome.complaints == []
        pictures.append(pixels(outcome).astype(int))
    for picture in pictures:
        red, _, blue = np.moveaxis(picture, 2, 0)  # the room is grey, the mannequin orange and blue
        assert (red - blue > 40).sum() > 1000
        assert (blue - red > 20).sum() > 2000
    lower = (pictures[0] != pictures[1]).any(axis=2)[VIEW.size[1] * 2 // 3 :]
    assert lower.sum() > 500


def test_the_operator_itself(program, tmp_path, capfd):
    from io_idtech_models.tasks.import_ import games

    addon: Any = bpy.context.preferences.addons.new()
    addon.module = games.PACKAGE
    try:
        entry = addon.preferences.games.add()
        entry.folder, entry.executable = FOLDER, EXECUTABLE
        bring()
        assert bpy.ops.idtech.try_in_game(shot=str(tmp_path / "a.tga"), time_limit=120) == {"FINISHED"}
    finally:
        bpy.context.preferences.addons.remove(bpy.context.preferences.addons[games.PACKAGE])
    assert "Info: sarge/default in" in capfd.readouterr().out
    assert (tmp_path / "a.tga").stat().st_size == 18 + 1280 * 720 * 3
