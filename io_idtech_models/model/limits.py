"""What games take: one table, one checker.

Every number names its source. An `error` is what the game refuses to load or crashes on, so an export refuses it before
anything is written; a `warning` is what it shows otherwise than meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import LimitError
from .words import joined

if TYPE_CHECKING:
    from .vertex import Surface, VertexModel


ERROR, WARNING = "error", "warning"


@dataclass(frozen=True)
class Limits:
    """What one game takes of one format; None where it has no limit of its own."""

    vertices: int | None  # of a surface
    triangles: int | None  # of a surface
    frames: int | None
    tags: int | None = None
    surfaces: int | None = None
    shaders: int | None = None  # of a surface; MD2's skins
    reach: float | None = None  # coordinates span -reach to almost +reach
    skin_height: int | None = None
    name_bytes: int = 63  # MAX_QPATH - 1
    shader_word: str = "shaders"
    strips_names: bool = False  # R_LoadMD3 lower-cases surface names and cuts a final "_x"
    needs_triangles: bool = False  # a model without is refused
    # What the loader does not check but its tables or tools have as a maximum is a warning, else an error.
    soft: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Game:
    """A game, and its limits for each format that it reads."""

    label: str
    formats: dict[str, Limits]


def _md3(vertices: int | None, triangles: int | None, **others: Any) -> dict[str, Limits]:
    """Return MD3's limits: MD3_MAX_FRAMES, _TAGS, _SURFACES, _SHADERS (qfiles.h), int16 / 64; others are the game's."""
    same: dict[str, Any] = {
        "frames": 1024,
        "tags": 16,
        "surfaces": 32,
        "shaders": 256,
        "reach": 512.0,
        "soft": UNCHECKED,
    }
    return {"md3": Limits(vertices, triangles, **(same | others))}


def _md2(vertices: int | None, triangles: int | None, frames: int | None, **others: Any) -> dict[str, Limits]:
    """Return MD2's limits: MAX_MD2SKINS (qfiles.h); others are the game's."""
    same: dict[str, Any] = {"shaders": 32, "shader_word": "skins"}
    return {"md2": Limits(vertices, triangles, frames, **(same | others))}


UNCHECKED = frozenset(("frames", "tags", "surfaces", "shaders"))
GAMES: dict[str, Game] = {
    # Mod_LoadMD2 (Yamagi Quake II) refuses more than MAX_VERTS 2048, none at all, and skins higher than 480 texels
    # (MAX_LBM_HEIGHT); MAX_TRIANGLES 4096 and MAX_FRAMES 512 are id's own (qfiles.h).
    "quake2": Game("Quake II", _md2(2048, 4096, 512, skin_height=480, needs_triangles=True)),
    # MOD_ValidateMD2 (Q2PRO, models.c): MD2_MAX_VERTS 2048, TESS_MAX_INDICES / 3 = 6144 triangles, 1024 frames.
    "q2pro": Game("Q2PRO", _md2(2048, 6144, 1024, needs_triangles=True)),
    # SHADER_MAX_VERTEXES 1000 and SHADER_MAX_INDEXES 6000 are refused, not reached: R_LoadMD3, tr_model.c (ioquake3).
    "quake3": Game("Quake III Arena", _md3(999, 1999, strips_names=True)),
    # Quake III's numbers in the multiplayer engine; the single-player one has 4000 vertices (iortcw, tr_local.h).
    "rtcw": Game("Return to Castle Wolfenstein", _md3(999, 1999, strips_names=True)),
    # SHADER_MAX_VERTEXES 1025, SHADER_MAX_INDEXES 6150 of Enemy Territory 2.60 (tr_local.h).
    "et": Game("Wolfenstein: Enemy Territory", _md3(1024, 2049, strips_names=True)),
    # ET: Legacy refuses more than 10000 vertices and 20000 triangles (tr_model.c).
    "etlegacy": Game("ET: Legacy", _md3(10000, 20000, strips_names=True)),
    # GZDoom reads any number of surfaces and does not strip names (models_md3.cpp); it has 32 places for their skins
    # (MD3_MAX_SURFACES, model.h). Of MD2's skins it looks at the first (models_md2.cpp).
    "gzdoom": Game("GZDoom", _md3(None, None, frames=None, tags=None) | _md2(None, None, None, shaders=None)),
    # The formats' own maxima: MD3_MAX_VERTS and MD3_MAX_TRIANGLES, MAX_VERTS, MAX_TRIANGLES and MAX_FRAMES of MD2
    # (qfiles.h of either game); the loaders of most games ignore them.
    "format": Game(
        "format maximum",
        _md3(4096, 8192, soft=UNCHECKED | {"vertices", "triangles"})
        | _md2(2048, 4096, 512, soft=UNCHECKED | {"vertices", "triangles"}),
    ),
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


def refused(problems: list[Problem]) -> list[str]:
    """Return what problems say that is no reason to refuse a model; raises LimitError for the others."""
    errors = [str(problem) for problem in problems if problem.severity == ERROR]
    if errors:
        raise LimitError(joined(errors))
    return [str(problem) for problem in problems]


def check(model: VertexModel, game_name: str, format_name: str) -> list[Problem]:
    """Return what a game (a key of GAMES) refuses or changes of a model that has the shape of a format."""
    game = GAMES[game_name]
    limits = game.formats.get(format_name)
    if limits is None:
        return [Problem(ERROR, "", f"is {format_name.upper()}, which {game.label} does not read")]
    rules = Rules(game.label, format_name.upper(), limits)
    return [*_counts(model, rules), *_reach(model, rules), *_skin(model, rules), *_names(model, rules)]


@dataclass(frozen=True)
class Rules:
    """The limits that count, and what game and format are called."""

    game: str
    format: str
    limits: Limits


def _over(rules: Rules, kind: str, subject: str, count: int) -> Iterator[Problem]:
    limit = getattr(rules.limits, kind)
    if limit is not None and count > limit:
        severity = WARNING if kind in rules.limits.soft else ERROR
        verb = "takes" if severity == ERROR else "is made for"
        word = rules.limits.shader_word if kind == "shaders" else kind
        yield Problem(severity, subject, f"has {count} {word}, {rules.game} {verb} {limit}")


def _counts(model: VertexModel, rules: Rules) -> Iterator[Problem]:
    yield from _over(rules, "frames", "", model.num_frames)
    yield from _over(rules, "tags", "", len(model.tags))
    yield from _over(rules, "surfaces", "", len(model.surfaces))
    for name, surface in _called(model):
        yield from _over(rules, "vertices", name, surface.num_vertices)
        yield from _over(rules, "triangles", name, len(surface.triangles))
        yield from _over(rules, "shaders", name, len(surface.shaders))
        if rules.limits.needs_triangles and not len(surface.triangles):
            yield Problem(ERROR, name, f"has no triangles, which {rules.game} refuses")


def _skin(model: VertexModel, rules: Rules) -> Iterator[Problem]:
    if rules.limits.skin_height is not None and model.texture_size is not None:
        height = model.texture_size[1]
        if height > rules.limits.skin_height:
            yield Problem(ERROR, "", f"has a skin {height} texels high, {rules.game} takes {rules.limits.skin_height}")


def _called(model: VertexModel) -> Iterator[tuple[str, Surface]]:
    """Yield the surfaces with what to call them: some have no name."""
    for index, surface in enumerate(model.surfaces):
        yield surface.name or f"surface {index}", surface


def _reach(model: VertexModel, rules: Rules) -> Iterator[Problem]:
    limit = rules.limits.reach
    if limit is None:
        return
    for name, surface in _called(model):
        if not surface.points.size:
            continue
        low, high = float(surface.points.min()), float(surface.points.max())
        if not (low >= -limit - 1 / 128 and high < limit - 1 / 128):
            farthest = np.abs(surface.points).max(axis=(1, 2))
            frame = int(np.argmax(farthest))
            far = f"{farthest[frame]:g} units from the origin"
            where = "a place that is no number" if np.isnan(farthest[frame]) else far
            yield Problem(ERROR, name, f"reaches {where} in frame {frame}, {rules.format} holds {limit:g}")


def _names(model: VertexModel, rules: Rules) -> Iterator[Problem]:
    """Yield names that do not fit. A name that the source has fits as it is: its bytes are written again."""
    source = model.source
    surfaces = set() if source is None else {s.name for s in source.surfaces}
    tags = set() if source is None else set(source.tag_names)
    shaders = set() if source is None else {name for s in source.surfaces for name in s.shaders}
    for called, surface in _called(model):
        if rules.limits.surfaces is not None:  # else the name is not in the file
            yield from _long(surface.name, surface.name, "is a surface's name", surfaces, rules)
        for shader in surface.shaders:
            word = rules.limits.shader_word.removesuffix("s")
            yield from _long(shader, called, f"has the {word} '{shader}', a name", shaders, rules)
    for tag in model.tags:
        yield from _long(tag.name, tag.name, "is a tag's name", tags, rules)
    if rules.limits.strips_names:
        yield from _collisions(model, rules)


def _long(name: str, subject: str, what: str, known: set[str], rules: Rules) -> Iterator[Problem]:
    size, most = len(name.encode("utf-8", errors="replace")), rules.limits.name_bytes
    if size > most and name not in known:
        yield Problem(ERROR, subject, f"{what} of {size} bytes, {rules.game} takes {most}")


def engine_surface_name(name: str) -> str:
    """Return a surface's name as R_LoadMD3 keeps it: lower case, without a final "_" and one character (both ASCII)."""
    raw = name.encode("utf-8", errors="replace").lower()
    return (raw[:-2] if len(raw) > 2 and raw[-2:-1] == b"_" else raw).decode("utf-8", errors="replace")


def _collisions(model: VertexModel, rules: Rules) -> Iterator[Problem]:
    """Yield names that skin files would have to spell otherwise, and those that the game can't tell apart."""
    seen: dict[str, str] = {}
    for surface in model.surfaces:
        if not surface.name:
            continue
        kept = engine_surface_name(surface.name)
        if len(kept) != len(surface.name):
            yield Problem(WARNING, surface.name, f"is called '{kept}' in {rules.game}: skin files must say so")
        if kept in seen:
            yield Problem(WARNING, surface.name, f"and '{seen[kept]}' have one name in {rules.game}: '{kept}'")
        seen.setdefault(kept, surface.name)
