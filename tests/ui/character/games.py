"""A character of each game, as files; and what tests of characters do with any of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from io_idtech_models.blender import names
from io_idtech_models.blender.compat import playing_curves
from io_idtech_models.blender.curves import curve_points
from io_idtech_models.blender.provenance import PART
from io_idtech_models.tasks.animations.find import of_rig
from tests import samples_character, samples_doom3, samples_quake2, samples_wolf, samples_xreal
from tests.samples_character import TOYS
from tests.samples_doom3 import NEWT
from tests.ui.scene import bpy, editing

run: Any = bpy.ops.import_scene.idtech_character
write: Any = bpy.ops.export_scene.idtech_character


@dataclass(frozen=True)
class Game:
    """A game's sample: how to put it, its files, which of them a save leaves where they are, its archives, a row."""

    put: Callable[..., Path]
    files: Callable[[], dict[str, bytes]]
    others: frozenset[str]
    pack: str
    row: str
    name: str = ""  # where a file declares several
    own: frozenset[str] = frozenset()  # what a save writes that the game has not


PICTURE = frozenset((f"{TOYS}/trooper.tga",))
GAMES = {
    "et": Game(samples_character.put_character, samples_character.files, PICTURE, ".pk3", "salute"),
    "rtcw": Game(samples_wolf.put_character, samples_wolf.files, PICTURE, ".pk3", "walk_1"),
    "quake2": Game(samples_quake2.put_player, samples_quake2.files, frozenset(), ".pak", "run"),
    "xreal": Game(
        samples_xreal.put_player, samples_xreal.files,
        frozenset(("materials/newt.mtr", f"{samples_xreal.FOLDER}/picture.tga")), ".pk3", "walk",
    ),
    "doom3": Game(
        samples_doom3.put_character, samples_doom3.files,
        frozenset((
            "def/newt.def", "def/hat.def", "skins/newt.skin", "materials/newt.mtr", "textures/stone.tga",
            f"{NEWT}/newt.tga",
        )),
        ".pk4", "walk1", "monster_newt",
        frozenset(("def/monster_newt.def", "skins/monster_newt.skin", "materials/monster_newt.mtr")),
    ),
}  # fmt: skip


def read(path: Path | str, game: str = "", **options: Any) -> Any:
    """Import a game's sample from its file, or from an archive; returns the body's armature, if it has one."""
    given = {"character": GAMES[game].name} | options if game else options
    assert run(filepath=str(path), **given) == {"FINISHED"}
    return rig()


def opened(path: Path | str, game: str = "", **options: Any) -> Any:
    """Import a game's sample, and make the body's armature active; returns that."""
    found = read(path, game, **options)
    bpy.context.view_layer.objects.active = found
    return found


def fresh() -> None:
    """Begin a new scene."""
    bpy.ops.wm.read_factory_settings(use_empty=True)


def saved(folder: Path, **options: Any) -> dict[str, bytes]:
    """Export into a folder, and return the files that came of it."""
    assert write(filepath=str(folder), **options) == {"FINISHED"}
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def changed(found: dict[str, bytes], game: str = "et") -> list[str]:
    """Return which files are others than the game's."""
    before = GAMES[game].files()
    return sorted(name for name, data in found.items() if data != before.get(name))


def rig() -> Any:
    """Return the body's armature, which may hang on a root of the character."""
    every = [block for block in bpy.data.objects if block.type == "ARMATURE"]
    pieces = ("head", "weapon", "def_attach")
    return next((b for b in every if b.parent is None or b.parent.get(PART) not in pieces), None)


def roots() -> dict[str, Any]:
    """Return the roots of all that hangs on the body, by what they are."""
    return {block[PART]: block for block in bpy.data.objects if PART in block and not block[PART].endswith(" root")}


def remove(kind: str) -> None:
    """Delete a part with all that hangs on it."""
    root = roots()[kind]
    bpy.data.batch_remove([root, *root.children_recursive])


def tag(name: str) -> Any:
    return next(b for b in bpy.data.objects if b.type == "EMPTY" and names.file_name_of(b).lower() == name)


def mesh_of(block: Any) -> Any:
    return next(each for each in block.children_recursive if each.type == "MESH")


def place(block: Any) -> Any:
    """Return where an object is shown, as a matrix."""
    bpy.context.view_layer.update()
    return np.array(block.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)


def listed(block: Any = None) -> list[str]:
    """Return the names of an armature's animations, the body's own where no other is meant."""
    return [row.name for row in of_rig(block or rig()).rows()]


def actions() -> list[str]:
    return sorted(action.name for action in bpy.data.actions)


def keys_of(block: Any) -> dict[tuple[str, int], Any]:
    """Return the points of the curves that an object plays."""
    return {(c.data_path, c.array_index): np.stack(curve_points(c)) for c in playing_curves(block)}


def turn(bone: str, by: float = 0.3) -> None:
    """Turn a bone of the body in all frames of the action that plays, by changing its keys."""
    for curve in playing_curves(rig()):
        if (curve.data_path, curve.array_index) == (f'pose.bones["{bone}"].rotation_quaternion', 1):
            for key in curve.keyframe_points:
                key.co.y += by
            curve.update()


def edit_bones(change: Callable[[Any], None]) -> None:
    """Change the body's bones in edit mode."""
    with editing(rig()) as bones:
        change(bones)


def show(name: str, block: Any = None) -> Any:
    """Let an armature play an animation, whose action is made if it has none; returns that."""
    bpy.context.view_layer.objects.active = block or rig()
    assert bpy.ops.object.idtech_animation_play(name=name) == {"FINISHED"}
    return (block or rig()).animation_data.action
