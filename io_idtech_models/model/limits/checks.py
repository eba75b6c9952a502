"""What a game refuses or changes of a model or an animation, by the table in `games`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...reporting import NO_TEXT, listed, plural
from .games import (
    ERROR,
    GAMES,
    NO_GAME,
    NO_SCALES,
    WARNING,
    Problem,
    SkeletalLimits,
    VertexLimits,
    not_read,
    over,
    too_long,
    unwritable,
)

if TYPE_CHECKING:
    from ..skeletal import Animation, SkeletalModel, SkinnedMesh
    from ..vertex import Surface, VertexModel

# Of a joint's scale: more than rounding; what Daemon takes for a difference between axes (R_LoadIQModel).
SCALED, UNEVEN = 1e-3, 1.0
MUST_SAY_SO = "skin files must say so"


@dataclass(frozen=True)
class Rules:
    """The limits that count, and what game and format are called."""

    game: str
    format: str
    limits: VertexLimits
    text: bool


def check_vertex(model: VertexModel, game_name: str, format_name: str, text: bool = False) -> list[Problem]:
    """Return what a game (a key of GAMES) refuses or changes of a model that has the shape of a format.

    `text`: the format is text, which can't hold some characters.
    """
    limits = GAMES[game_name].formats.get(format_name)
    if not isinstance(limits, VertexLimits):
        return not_read(game_name, format_name)
    rules = Rules(GAMES[game_name].label, format_name.upper(), limits, text)
    found = [*_counts(model, rules), *_unwritable_surfaces(model)]
    return [*found, *_reach(model, rules), *_skin(model, rules), *_times(model, rules), *_names(model, rules)]


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


def _unwritable_surfaces(model: VertexModel) -> Iterator[Problem]:
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
    yield from over(rules.game, limits, "skin_height", "", height, f"a skin {height} texels high")
    if limits.skin_multiple is not None and width % limits.skin_multiple:
        text = f"has a skin {width} texels wide, {rules.game} takes multiples of {limits.skin_multiple}"
        yield Problem(ERROR, "", text)


def _times(model: VertexModel, rules: Rules) -> Iterator[Problem]:
    """Yield what is odd about when frames and skins end that a game plays by itself."""
    level = rules.limits.no_time
    groups = [(each.name, each.times) for each in (model.animations if model.groups is None else model.groups)]
    for name, times in [*groups, *((skin.name, skin.times) for skin in model.skins)] if level else ():
        steps = np.diff((0.0, *times))
        if any(time <= 0 for time in times):
            text = "refuses" if level == ERROR else "does not play as it is meant"
            yield Problem(level, name, f"has times (idtech_times) of 0 or less, which {rules.game} {text}")
        elif not (steps > 0).all():
            yield Problem(WARNING, name, "has times (idtech_times) that do not rise: some of it never shows")


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
    if rules.text:
        yield from _in_text("surface", [surface.name for surface in model.surfaces])
        yield from _in_text("shader", [shader for surface in model.surfaces for shader in surface.shaders])
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
            yield Problem(WARNING, surface.name, f"is called '{kept}' in {rules.game}: {MUST_SAY_SO}")
        if kept in seen:
            yield Problem(WARNING, surface.name, f"and '{seen[kept]}' have one name in {rules.game}: '{kept}'")
        seen.setdefault(kept, surface.name)


def check_skeletal(model: SkeletalModel, game_name: str, format_name: str, text: bool) -> list[Problem]:
    """Return what a game (a key of GAMES) refuses of a model of a format, or shows otherwise than meant.

    `text`: the format is text, which can't hold some characters.
    """
    limits, game = GAMES[game_name].formats.get(format_name), GAMES[game_name].label
    if not isinstance(limits, SkeletalLimits):
        return not_read(game_name, format_name)
    counts = [("joints", "", model.skeleton.num_joints), ("meshes", "", len(model.meshes))]
    for mesh in model.meshes:
        called = mesh.name or mesh.shader
        counts += [("vertices", called, mesh.num_vertices), ("triangles", called, len(mesh.triangles))]
        counts.append(("weights", called, len(mesh.weights.joints)))
    found = [p for kind, name, count in counts for p in over(game, limits, kind, name, count)]
    found += [p for mesh in model.meshes for p in _weights(game, limits, mesh)]
    found += _unwritable_meshes(model)
    found += _scaled(game, limits, model)
    if text:
        found += _in_text("shader", [mesh.shader for mesh in model.meshes])
    found += [p for tag in model.tags for p in too_long(game, limits, tag.name, tag.name, "is a tag's name")]
    return [*found, *_joint_names(game, limits, model.skeleton.names, text)]


def check_animation(animation: Animation, game_name: str, format_name: str, text: bool) -> list[Problem]:
    """Return what a game refuses of an animation, or shows otherwise than meant; see `check_skeletal`."""
    limits, game = GAMES[game_name].formats.get(format_name), GAMES[game_name].label
    if not isinstance(limits, SkeletalLimits):
        return not_read(game_name, format_name)
    counts = [("frames", animation.num_frames), ("joints", len(animation.joint_names))]
    found = [p for kind, count in counts for p in over(game, limits, kind, animation.name, count)]
    scales = None if animation.scales is None else animation.scales.values
    poses = {"places": animation.positions, "turns": animation.rotations, "bounds": animation.bounds}
    found += unwritable(animation.name, **poses, scales_of_joints=scales)
    roots = int((animation.parents < 0).sum())
    if roots > 1 and limits.several_roots:
        refused = f"{game} takes one: add an origin joint ('Add Origin Joint') to it and its mesh"
        said = refused if limits.several_roots == ERROR else f"which {GAMES['doom3'].label} refuses"
        found.append(Problem(limits.several_roots, animation.name, f"has {roots} joints without a parent, {said}"))
    return [*found, *_joint_names(game, limits, animation.joint_names, text)]


def _unwritable_meshes(model: SkeletalModel) -> Iterator[Problem]:
    """Yield numbers that are none."""
    yield from unwritable("", places_of_joints=model.skeleton.positions, turns_of_joints=model.skeleton.rotations)
    for mesh in model.meshes:
        weights = {"weights": mesh.weights.factors, "places": mesh.weights.offsets}
        yield from unwritable(mesh.name or mesh.shader, texture_coordinates=mesh.uvs, normals=mesh.normals, **weights)
    for tag in model.tags:
        yield from unwritable(tag.name, places=tag.origin, axes=tag.axes)


def _scaled(game: str, limits: SkeletalLimits, model: SkeletalModel) -> Iterator[Problem]:
    """Yield joints that are scaled at rest otherwise than the game can show."""
    scales, names = model.skeleton.scales, model.skeleton.names
    if scales is None or not limits.scales:
        return
    if limits.scales == NO_SCALES:
        scaled = [names[joint] for joint in np.flatnonzero((np.abs(scales - 1.0) > SCALED).any(axis=1)).tolist()]
        if scaled:
            yield Problem(WARNING, "", f"has scaled joints, which {game} does not scale: {listed(scaled)}")
        return
    uneven = (scales <= 0).any(axis=1) | (scales.max(axis=1) - scales.min(axis=1) >= UNEVEN)
    for joint in np.flatnonzero(uneven).tolist():
        yield Problem(ERROR, names[joint], f"is scaled unevenly or below 0, which {game} refuses")


def _weights(game: str, limits: SkeletalLimits, mesh: SkinnedMesh) -> Iterator[Problem]:
    """Yield vertices with more weights than the game takes, and those without any."""
    called, counts = mesh.name or mesh.shader, mesh.weights.counts
    if limits.vertex_weights is not None and (counts > limits.vertex_weights).any():
        many = plural(int((counts > limits.vertex_weights).sum()), "vertex", "vertices")
        surely = game == GAMES[NO_GAME].label  # what a file can't hold is not there
        lost = f"the smallest of which {game} leaves out" if surely else f"which {game} may leave out"
        text = f"has {many} with more than {limits.vertex_weights} weights, {lost}"
        yield Problem(WARNING, called, text)
    if (counts == 0).any():
        bare = plural(int((counts == 0).sum()), "vertex", "vertices")
        what = "games refuse" if limits.bare_vertices == ERROR else "games refuse or leave at the origin"
        yield Problem(limits.bare_vertices, called, f"has {bare} without weights, which {what}")


def _joint_names(game: str, limits: SkeletalLimits, names: list[str], text: bool) -> Iterator[Problem]:
    seen: set[str] = set()
    yield from _in_text("joint", names) if text else ()
    nameless = names.count("")
    if nameless > 1:
        yield Problem(WARNING, "", f"has {nameless} joints without names, which no game finds by these")
    for name in filter(None, names):
        yield from too_long(game, limits, name, name, "is a joint's name")
        if name in seen:
            severity = ERROR if limits.unique_names else WARNING
            yield Problem(severity, name, "is the name of several joints: games find the first")
        seen.add(name)


def _in_text(what: str, names: list[str]) -> Iterator[Problem]:
    """Yield names that a text can't hold."""
    for name in dict.fromkeys(names):
        if any(c in name for c in NO_TEXT):
            text = f"is a {what}'s name with a quote, line end or NUL, which no text holds: written without"
            yield Problem(WARNING, name, text)
