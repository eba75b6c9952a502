"""Our player in a game, imported, and what an export writes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from io_idtech_models import formats
from io_idtech_models.blender.player.parts import find_player
from io_idtech_models.blender.player.rows import rows_of
from io_idtech_models.game.folders import Disk
from io_idtech_models.game.player.files import players_in
from tests.packs import Entry, zip_bytes
from tests.samples import CORPUS, put
from tests.samples_player import FOLDER, player_files, weapon_files
from tests.ui.scene import activate, bpy, png

import_player: Any = bpy.ops.import_scene.idtech_player

export_player: Any = bpy.ops.export_scene.idtech_player

GAME = CORPUS / "openarena/baseoa"


def game(folder: Path, packed: bool = False, **changed: bytes | None) -> Path:
    """Write our player's game; returns the player's folder. `changed`: bytes of some of its files, None: without."""
    given = player_files() | {".".join(name.rsplit("_", 1)): data for name, data in changed.items()}
    files = {f"{FOLDER}/{name}": data for name, data in given.items() if data is not None} | weapon_files()
    for skin in ("default", "red"):
        files[f"{FOLDER}/icon_{skin}.tga"] = png(folder / "picture.png").read_bytes()
    if packed:
        put(folder / "baseq3/pak0.pk3", zip_bytes([Entry(name, data) for name, data in files.items()]))
        return folder / "baseq3/pak0.pk3" / FOLDER
    for name, data in files.items():
        put(folder / "baseq3" / name, data)
    return folder / "baseq3" / FOLDER


def brought(path: Path, **options: Any) -> Any:
    """Import a player; returns it as it stands in the scene."""
    assert import_player(filepath=str(path), **options) == {"FINISHED"}
    player = find_player(bpy.context.view_layer.objects.active)
    assert player is not None
    return player


def saved(folder: Path, **options: Any) -> dict[str, bytes]:
    """Write the active player into a new folder; returns its files."""
    target = folder / "saved"
    assert export_player(filepath=str(target), **options) == {"FINISHED"}
    return {path.name: path.read_bytes() for path in target.iterdir() if not path.name.startswith("icon_")}


def unequal(folder: Path, before: dict[str, bytes] | None = None) -> list[str]:
    """Return which files a save does not write as they were: as our player's are, where no others are given."""
    before, after = originals() if before is None else before, saved(folder)
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def originals() -> dict[str, bytes]:
    return player_files()


def active_player() -> Any:
    return find_player(bpy.context.view_layer.objects.active)


def tag_of(root: Any, name: str) -> Any:
    return next(b for b in root.children if b.name.split(".")[0] == name and b.type == "EMPTY")


def mesh_of(player: Any, part: str) -> Any:
    return next(block for block in player.parts[part].children_recursive if block.type == "MESH")


def actions_of(player: Any) -> dict[str, Any]:
    """Return the actions of a player's table, by the names of their rows."""
    return rows_of(player.identity, list(player.parts.values()))


def insert_frame(block: Any, frame: int) -> None:
    """Insert a frame behind one that shows, where an object is active."""
    activate(block)
    bpy.context.scene.frame_set(frame)
    assert bpy.ops.object.idtech_insert_frame() == {"FINISHED"}


def model(data: bytes) -> Any:
    """Return an MD3's model."""
    row = formats.by_name("md3")
    return row.unpack(row.read(data), "model").model


PLAYERS = ["own"]
if GAME.is_dir():
    PLAYERS += sorted({files.name for pack in GAME.glob("*.pk3") for files in players_in(Disk().store(pack).around)})


def corpus_player(name: str) -> Any:
    found = {each.name: each for path in sorted(GAME.glob("*.pk3")) for each in players_in(Disk().store(path).around)}
    if name not in found:
        pytest.skip(f"no {name} in the packs")
    return found[name]
