"""A player of Quake II: the example's stilt in as many frames as the game plays, and guns that show the same."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from io_idtech_models import formats
from io_idtech_models.game.character.quake2 import LENGTHS, NUM_FRAMES
from io_idtech_models.model.vertex import Surface, VertexModel
from tests.packs import put_files

EXAMPLE = Path(__file__).resolve().parent.parent / "examples/stilt/players/stilt"
PLAYER = "players/stilt"


@cache
def model(frames: int = NUM_FRAMES, odd: bool = False) -> bytes:
    """Return the stilt in so many frames, its own again and again; `odd`: with names that say nothing."""
    row = formats.by_name("md2")
    own = row.load((EXAMPLE / "tris.md2").read_bytes(), "stilt")
    order = np.arange(frames) % own.num_frames
    names = [f"{name}{nth + 1:02d}" for name, count in LENGTHS.items() for nth in range(count)]
    (surface,) = own.surfaces
    moved = Surface(
        surface.name, surface.positions[order], surface.triangles, surface.uvs, surface.shaders, surface.normals[order]
    )
    listed = [f"f{nth}" for nth in range(frames)] if odd else (names * 2)[:frames]
    return row.dump(VertexModel("stilt", listed, [moved], [], texture_size=own.texture_size))


def files(frames: int = NUM_FRAMES, odd: bool = False) -> dict[str, bytes]:
    """Return the player's files by their names in the game."""
    pictures = {path.name: path.read_bytes() for path in EXAMPLE.glob("*.pcx")}
    found = {"tris.md2": model(frames, odd), "weapon.md2": model(), "w_railgun.md2": model(odd=True), **pictures}
    return {f"{PLAYER}/{name}": data for name, data in found.items()}


def put_player(folder: Path, frames: int = NUM_FRAMES, odd: bool = False, **changed: bytes | None) -> Path:
    """Write a player's files below a game's folder; `changed` by the file's name: other bytes, None for no file."""
    put_files(folder, files(frames, odd), changed)
    return folder / PLAYER / "tris.md2"
