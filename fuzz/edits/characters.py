"""Characters of games among the models that are edited: does one that is saved and imported again show what it did?

Its files are laid over those of its game, where what was not written still is, and all is imported as at first. Each
animation's first, middle and last frame is shown before and after: corners of all visible meshes, relative to the root.
"""

from __future__ import annotations

import contextlib
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy as blender
import numpy as np

from fuzz.edits import looks
from fuzz.edits.judge import LEAST, PART, Verdict, apart, world_of
from io_idtech_models.blender.compat import playing_curves
from io_idtech_models.blender.provenance import PART as KIND
from io_idtech_models.blender.skeletal.gather_motion import CHANNELS
from io_idtech_models.tasks.animations.find import of_rig
from tests.ui.character.games import GAMES, opened, read, rig, write
from tests.ui.scene import activate

bpy: Any = blender
NAME = "character"  # in the place of a format's
WITHOUT_NORMALS = ("doom3", "xreal")  # whose bodies are MD5
MOST = 4  # animations that are looked at
Shown = dict[tuple[str, int], list[looks.Corners]]  # by animations, and how long they are


def names(_corpus: Path) -> list[str]:
    """Return the games of which a character is edited; that of Quake II has no armature."""
    return [name for name in GAMES if name != "quake2"]


def bring(game: str, folder: Path) -> None:
    """Write a game's sample and import its character; raises RuntimeError if it can't be read."""
    opened(GAMES[game].put(folder / "game"), game)


def choose() -> bool:
    """Let the character of the scene be the one that is meant; tell whether there is one."""
    block = rig()
    if block is not None:
        activate(block)
    return block is not None


def save(folder: Path) -> None:
    """Write the character that is meant; raises RuntimeError if that refuses."""
    write(filepath=str(folder))


def save_again(_saved: Path, folder: Path) -> None:
    """Write the character that `judge` imported, as it was saved; raises RuntimeError if that refuses."""
    choose()
    save(folder)


def shown() -> Shown:
    """Return what the character's animations show: the corners of each one's first, middle and last frame."""
    found: Shown = {}
    scene = bpy.context.scene
    rig().data.pose_position = "POSE"  # actions are written as they play
    # An animation that is called as the model shows all of its file's, edited by their own actions or not.
    for row in [row for row in of_rig(rig()).rows() if not row.whole and row.name != rig().name][:MOST]:
        bpy.context.view_layer.objects.active = rig()
        with contextlib.suppress(RuntimeError):
            bpy.ops.object.idtech_animation_play(name=row.name)
            key = row.name, scene.frame_end - scene.frame_start
            found[key] = []
            for frame in (scene.frame_start, (scene.frame_start + scene.frame_end) // 2, scene.frame_end):
                scene.frame_set(frame)
                found[key].append(_corners())
    return found


def has_its_own_place(block: Any) -> bool:
    """Tell whether an object stands where someone put it: nothing plays on where it is."""
    return not any(curve.data_path in CHANNELS for curve in playing_curves(block)) and not block.constraints


def _corners() -> looks.Corners:
    graph = bpy.context.evaluated_depsgraph_get()
    body = top = rig()
    while top.parent is not None and KIND in top.parent:
        top = top.parent
    bent = [b for b in bpy.context.scene.objects if any(m.type == "ARMATURE" and m.object == body for m in b.modifiers)]
    whole = dict.fromkeys([*top.children_recursive, *bent])
    meshes = [block for block in whole if block.type == "MESH" and block.visible_get()]
    # Without a root a character stands where its armature does, while that stands still.
    stands = np.eye(4)
    if KIND in top:
        stands = world_of(top, graph)
    elif has_its_own_place(top):
        stands = np.array(top.matrix_parent_inverse @ top.matrix_basis)
    home = np.linalg.inv(stands)
    places = {block: home @ world_of(block, graph) for block in meshes}
    return looks.shown(meshes, lambda block, _: places[block])


def slack_of(shown: looks.Corners, allowed: float, game: str) -> looks.Slack:
    """Return how far what is shown of a character may be off; the files of some games hold no normals."""
    slack = looks.slack_of(shown, allowed)
    return replace(slack, degrees=None) if game in WITHOUT_NORMALS else slack


def judge(game: str, folder: Path, saved: Path, _seed: int) -> tuple[Verdict, str]:
    """Import what was saved, over its game, and return what is off most, and in which animation."""
    before = shown()
    shutil.copytree(saved, folder / "game", dirs_exist_ok=True)
    place = GAMES[game].put(folder / "again")  # its name there
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    read(folder / "game" / place.relative_to(folder / "again"), game)
    after = shown()
    worst, where, look = Verdict(), "", looks.Off()
    for name in before.keys() & after.keys():
        sizes = [float(np.ptp(each.places, axis=0).max()) for each in before[name] if len(each.places)]
        allowed = max(LEAST, PART * max(sizes, default=0.0))
        for nth, (one, two) in enumerate(zip(before[name], after[name], strict=True)):
            far = apart(one.places, two.places)
            if far - allowed > worst.far - worst.allowed:
                worst, where = Verdict(far, nth, allowed), f"'{name[0]}'"
            if far <= allowed and not look.any:
                look = looks.unlike(two, one, slack_of(one, allowed, game))
    worst.looks = look
    return worst, where
