"""What a game refuses or changes of a vertex-animated model, by the table in `limits`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .games import ERROR, GAMES, WARNING, Problem, VertexLimits, not_read, over, too_long, unwritable

if TYPE_CHECKING:
    from ..vertex import Surface, VertexModel


@dataclass(frozen=True)
class Rules:
    """The limits that count, and what game and format are called."""

    game: str
    format: str
    limits: VertexLimits


def check(model: VertexModel, game_name: str, format_name: str) -> list[Problem]:
    """Return what a game (a key of GAMES) refuses or changes of a model that has the shape of a format."""
    limits = GAMES[game_name].formats.get(format_name)
    if not isinstance(limits, VertexLimits):
        return not_read(game_name, format_name)
    rules = Rules(GAMES[game_name].label, format_name.upper(), limits)
    found = [*_counts(model, rules), *_unwritable(model)]
    return [*found, *_reach(model, rules), *_skin(model, rules), *_names(model, rules)]


def _counts(model: VertexModel, rules: Rules) -> Iterator[Problem]:
    counts = [("frames", "", model.num_frames), ("tags", "", len(model.tags)), ("surfaces", "", len(model.surfaces))]
    for name, surface in _called(model):
        counts += [("vertices", name, surface.num_vertices), ("triangles", name, len(surface.triangles))]
        counts.append(("shaders", name, len(surface.shaders)))
    for kind, name, count in counts:
        yield from over(rules.game, rules.limits, kind, name, count)
    for name, surface in _called(model):
        if rules.limits.needs_triangles and not len(surface.triangles):
            yield Problem(ERROR, name, f"has no triangles, which {rules.game} refuses")


def _unwritable(model: VertexModel) -> Iterator[Problem]:
    """Yield numbers that are none; those of places are `_reach`'s."""
    for name, surface in _called(model):
        yield from unwritable(name, texture_coordinates=surface.uvs)
    for tag in model.tags:
        yield from unwritable(tag.name, places=tag.origins, axes=tag.axes)


def _skin(model: VertexModel, rules: Rules) -> Iterator[Problem]:
    limits = rules.limits
    if model.texture_size is None:
        return
    width, height = model.texture_size
    if limits.skin_height is not None and height > limits.skin_height:
        soft = "skin_height" in limits.soft
        verb = "is made for" if soft else "takes"
        text = f"has a skin {height} texels high, {rules.game} {verb} {limits.skin_height}"
        yield Problem(WARNING if soft else ERROR, "", text)
    if limits.skin_multiple is not None and width % limits.skin_multiple:
        text = f"has a skin {width} texels wide, {rules.game} takes multiples of {limits.skin_multiple}"
        yield Problem(ERROR, "", text)


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
    if name not in known:
        yield from too_long(rules.game, rules.limits, name, subject, what)


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
