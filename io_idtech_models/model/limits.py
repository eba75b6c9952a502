"""What games take: one table, one checker.

Every number names its source. An `error` is what the game refuses to load or crashes on, so an export refuses it before
anything is written; a `warning` is what it shows otherwise than meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .vertex import VertexModel

ERROR, WARNING = "error", "warning"


@dataclass(frozen=True)
class Game:
    """The limits of one game for models of the MD3 family; None where it has none of its own."""

    label: str
    vertices: int | None  # of a surface
    triangles: int | None  # of a surface
    frames: int | None = 1024  # MD3_MAX_FRAMES, qfiles.h
    tags: int | None = 16  # MD3_MAX_TAGS, qfiles.h
    surfaces: int | None = 32  # MD3_MAX_SURFACES, qfiles.h
    shaders: int | None = 256  # MD3_MAX_SHADERS, of a surface, qfiles.h
    reach: float = 512.0  # int16 / 64: -512 to 511.98 units
    name_bytes: int = 63  # MAX_QPATH - 1
    frame_name_bytes: int = 15  # md3Frame_t.name[16]
    strips_names: bool = True  # R_LoadMD3 lower-cases surface names and cuts a final "_x"
    # What the loader does not check but its tables or tools have as a maximum is a warning, else an error.
    soft: frozenset[str] = frozenset()


UNCHECKED = frozenset(("frames", "tags", "surfaces", "shaders"))
GAMES: dict[str, Game] = {
    # SHADER_MAX_VERTEXES 1000 and SHADER_MAX_INDEXES 6000 are refused, not reached: R_LoadMD3, tr_model.c (ioquake3).
    "quake3": Game("Quake III Arena", 999, 1999, soft=UNCHECKED),
    # SHADER_MAX_VERTEXES 4000 of the single-player engine; the multiplayer one has Quake III's 1000 (iortcw, tr_local.h).
    "rtcw": Game("Return to Castle Wolfenstein", 999, 1999, soft=UNCHECKED),
    # SHADER_MAX_VERTEXES 1025, SHADER_MAX_INDEXES 6150 of Enemy Territory 2.60 (tr_local.h).
    "et": Game("Wolfenstein: Enemy Territory", 1024, 2049, soft=UNCHECKED),
    # ET: Legacy refuses more than 10000 vertices and 20000 triangles (tr_model.c).
    "etlegacy": Game("ET: Legacy", 10000, 20000, soft=UNCHECKED),
    # GZDoom reads surfaces by number and does not strip names (models_md3.cpp); it takes the first 32 surfaces.
    "gzdoom": Game("GZDoom", None, None, frames=None, tags=None, strips_names=False),
    # The format's own maxima: MD3_MAX_VERTS and MD3_MAX_TRIANGLES, qfiles.h; the loaders of most games ignore them.
    "format": Game("format maximum", 4096, 8192, strips_names=False, soft=UNCHECKED | {"vertices", "triangles"}),
}


@dataclass(frozen=True)
class Problem:
    """What a game refuses, or shows otherwise than meant."""

    severity: str  # ERROR or WARNING
    subject: str  # name of the surface or tag; "" for the model
    text: str

    def __str__(self) -> str:
        """One sentence, naming its subject."""
        return f"'{self.subject}' {self.text}" if self.subject else f"the model {self.text}"


def check(model: VertexModel, game_name: str) -> list[Problem]:
    """Return what a game (a key of GAMES) refuses or changes of a model."""
    game = GAMES[game_name]
    return [*_counts(model, game), *_reach(model, game), *_names(model, game)]


def _over(game: Game, kind: str, subject: str, count: int) -> Iterator[Problem]:
    limit = getattr(game, kind)
    if limit is not None and count > limit:
        severity = WARNING if kind in game.soft else ERROR
        yield Problem(severity, subject, f"has {count} {kind}, {game.label} takes {limit}")


def _counts(model: VertexModel, game: Game) -> Iterator[Problem]:
    yield from _over(game, "frames", "", model.num_frames)
    yield from _over(game, "tags", "", len(model.tags))
    yield from _over(game, "surfaces", "", len(model.surfaces))
    for surface in model.surfaces:
        yield from _over(game, "vertices", surface.name, surface.positions.shape[1])
        yield from _over(game, "triangles", surface.name, len(surface.triangles))
        yield from _over(game, "shaders", surface.name, len(surface.shaders))


def _reach(model: VertexModel, game: Game) -> Iterator[Problem]:
    limit = game.reach
    for surface in model.surfaces:
        if not surface.positions.size:
            continue
        low, high = float(surface.positions.min()), float(surface.positions.max())
        if not (low >= -limit - 1 / 128 and high < limit - 1 / 128):
            farthest = np.abs(surface.positions).max(axis=(1, 2))
            frame = int(np.argmax(farthest))
            text = f"reaches {farthest[frame]:g} units from the origin in frame {frame}, MD3 holds {limit:g}"
            yield Problem(ERROR, surface.name, text)


def _names(model: VertexModel, game: Game) -> Iterator[Problem]:
    for kind, listed, size in (
        ("surface", [s.name for s in model.surfaces], game.name_bytes),
        ("tag", [t.name for t in model.tags], game.name_bytes),
        ("frame", model.frame_names, game.frame_name_bytes),
    ):
        for name in listed:
            if len(name.encode("utf-8", errors="replace")) > size:
                text = f"is a {kind} name of {len(name.encode('utf-8', errors='replace'))} bytes, the file holds {size}"
                yield Problem(WARNING if kind == "frame" else ERROR, name, text)
    for surface in model.surfaces:
        for shader in surface.shaders:
            if len(shader.encode("utf-8", errors="replace")) > game.name_bytes:
                text = f"has a shader name of more than {game.name_bytes} bytes: '{shader}'"
                yield Problem(ERROR, surface.name, text)
    if game.strips_names:
        yield from _collisions(model, game)


def engine_surface_name(name: str) -> str:
    """Return a surface's name as R_LoadMD3 keeps it: lower case, without a final "_" and one character."""
    name = name.lower()
    return name[:-2] if len(name) > 2 and name[-2] == "_" else name


def _collisions(model: VertexModel, game: Game) -> Iterator[Problem]:
    """Yield names that skin files would have to spell otherwise, and those that the game can't tell apart."""
    seen: dict[str, str] = {}
    for surface in model.surfaces:
        kept = engine_surface_name(surface.name)
        if kept != surface.name.lower():
            yield Problem(WARNING, surface.name, f"is called '{kept}' in {game.label}: skin files must say so")
        if kept in seen:
            yield Problem(WARNING, surface.name, f"and '{seen[kept]}' have one name in {game.label}: '{kept}'")
        seen.setdefault(kept, surface.name)
