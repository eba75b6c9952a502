"""What games take: one table, one checker.

Every number names its source. An `error` is what the game refuses to load or crashes on, so an export refuses it before
anything is written; a `warning` is what it shows otherwise than meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .vertex import Surface, VertexModel

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
    strips_names: bool = True  # R_LoadMD3 lower-cases surface names and cuts a final "_x"
    # What the loader does not check but its tables or tools have as a maximum is a warning, else an error.
    soft: frozenset[str] = frozenset()


UNCHECKED = frozenset(("frames", "tags", "surfaces", "shaders"))
GAMES: dict[str, Game] = {
    # SHADER_MAX_VERTEXES 1000 and SHADER_MAX_INDEXES 6000 are refused, not reached: R_LoadMD3, tr_model.c (ioquake3).
    "quake3": Game("Quake III Arena", 999, 1999, soft=UNCHECKED),
    # Quake III's numbers in the multiplayer engine; the single-player one has 4000 vertices (iortcw, tr_local.h).
    "rtcw": Game("Return to Castle Wolfenstein", 999, 1999, soft=UNCHECKED),
    # SHADER_MAX_VERTEXES 1025, SHADER_MAX_INDEXES 6150 of Enemy Territory 2.60 (tr_local.h).
    "et": Game("Wolfenstein: Enemy Territory", 1024, 2049, soft=UNCHECKED),
    # ET: Legacy refuses more than 10000 vertices and 20000 triangles (tr_model.c).
    "etlegacy": Game("ET: Legacy", 10000, 20000, soft=UNCHECKED),
    # GZDoom reads any number of surfaces and does not strip names (models_md3.cpp); it has 32 places for their skins
    # (MD3_MAX_SURFACES, model.h).
    "gzdoom": Game("GZDoom", None, None, frames=None, tags=None, strips_names=False, soft=UNCHECKED),
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
        verb = "takes" if severity == ERROR else "is made for"
        yield Problem(severity, subject, f"has {count} {kind}, {game.label} {verb} {limit}")


def _counts(model: VertexModel, game: Game) -> Iterator[Problem]:
    yield from _over(game, "frames", "", model.num_frames)
    yield from _over(game, "tags", "", len(model.tags))
    yield from _over(game, "surfaces", "", len(model.surfaces))
    for name, surface in _called(model):
        yield from _over(game, "vertices", name, surface.num_vertices)
        yield from _over(game, "triangles", name, len(surface.triangles))
        yield from _over(game, "shaders", name, len(surface.shaders))


def _called(model: VertexModel) -> Iterator[tuple[str, Surface]]:
    """Yield the surfaces with what to call them: some have no name."""
    for index, surface in enumerate(model.surfaces):
        yield surface.name or f"surface {index}", surface


def _reach(model: VertexModel, game: Game) -> Iterator[Problem]:
    limit = game.reach
    for name, surface in _called(model):
        if not surface.points.size:
            continue
        low, high = float(surface.points.min()), float(surface.points.max())
        if not (low >= -limit - 1 / 128 and high < limit - 1 / 128):
            farthest = np.abs(surface.points).max(axis=(1, 2))
            frame = int(np.argmax(farthest))
            far = f"{farthest[frame]:g} units from the origin"
            where = "a place that is no number" if np.isnan(farthest[frame]) else far
            yield Problem(ERROR, name, f"reaches {where} in frame {frame}, MD3 holds {limit:g}")


def _names(model: VertexModel, game: Game) -> Iterator[Problem]:
    """Yield names that do not fit. A name that the source has fits as it is: its bytes are written again."""
    source = model.source
    surfaces = set() if source is None else {s.name for s in source.surfaces}
    tags = set() if source is None else set(source.tag_names)
    shaders = set() if source is None else {name for s in source.surfaces for name in s.shaders}
    for called, surface in _called(model):
        yield from _long(surface.name, surface.name, "is a surface's name", surfaces, game)
        for shader in surface.shaders:
            yield from _long(shader, called, f"has the shader '{shader}', a name", shaders, game)
    for tag in model.tags:
        yield from _long(tag.name, tag.name, "is a tag's name", tags, game)
    if game.strips_names:
        yield from _collisions(model, game)


def _long(name: str, subject: str, what: str, known: set[str], game: Game) -> Iterator[Problem]:
    size = len(name.encode("utf-8", errors="replace"))
    if size > game.name_bytes and name not in known:
        yield Problem(ERROR, subject, f"{what} of {size} bytes, {game.label} takes {game.name_bytes}")


def engine_surface_name(name: str) -> str:
    """Return a surface's name as R_LoadMD3 keeps it: lower case, without a final "_" and one character (both ASCII)."""
    raw = name.encode("utf-8", errors="replace").lower()
    return (raw[:-2] if len(raw) > 2 and raw[-2:-1] == b"_" else raw).decode("utf-8", errors="replace")


def _collisions(model: VertexModel, game: Game) -> Iterator[Problem]:
    """Yield names that skin files would have to spell otherwise, and those that the game can't tell apart."""
    seen: dict[str, str] = {}
    for surface in model.surfaces:
        if not surface.name:
            continue
        kept = engine_surface_name(surface.name)
        if len(kept) != len(surface.name):
            yield Problem(WARNING, surface.name, f"is called '{kept}' in {game.label}: skin files must say so")
        if kept in seen:
            yield Problem(WARNING, surface.name, f"and '{seen[kept]}' have one name in {game.label}: '{kept}'")
        seen.setdefault(kept, surface.name)
