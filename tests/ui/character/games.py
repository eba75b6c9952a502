"""A character of each game, as files; and what tests of characters do with any of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from io_idtech_models.blender.provenance import PART
from tests import samples_character, samples_doom3, samples_quake2, samples_wolf, samples_xreal
from tests.samples_character import TOYS
from tests.samples_doom3 import NEWT
from tests.ui.scene import bpy

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


def read(path: Path, game: str, **options: Any) -> None:
    """Import a game's sample from its file, or from an archive."""
    given = {"character": GAMES[game].name} | options
    assert bpy.ops.import_scene.idtech_character(filepath=str(path), **given) == {"FINISHED"}


def saved(folder: Path, **options: Any) -> dict[str, bytes]:
    """Export into a folder, and return the files that came of it."""
    assert write(filepath=str(folder), **options) == {"FINISHED"}
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def changed(found: dict[str, bytes], game: str) -> list[str]:
    """Return which files are others than the game's."""
    before = GAMES[game].files()
    return sorted(name for name, data in found.items() if data != before.get(name))


def rig() -> Any:
    """Return the body's armature."""
    every = [block for block in bpy.data.objects if block.type == "ARMATURE"]
    return next(block for block in every if block.parent is None or block.parent.get(PART) not in ("head", "weapon"))


def show(name: str) -> Any:
    """Let the character play an animation, whose action is made if it has none; returns that."""
    bpy.context.view_layer.objects.active = rig()
    assert bpy.ops.object.idtech_animation_play(name=name) == {"FINISHED"}
    return rig().animation_data.action
