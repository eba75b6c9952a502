"""What a game refuses or changes of a skeletal model or an animation, by the table in `limits`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..wording import NO_TEXT, listed, plural
from .games import ERROR, GAMES, NO_SCALES, WARNING, Problem, SkeletalLimits, not_read, over, too_long, unwritable

if TYPE_CHECKING:
    from ..skeletal import Animation, SkeletalModel, SkinnedMesh


# Of a joint's scale: more than rounding; what Daemon takes for a difference between axes (R_LoadIQModel).
SCALED, UNEVEN = 1e-3, 1.0


def check(model: SkeletalModel, game_name: str, format_name: str, text: bool) -> list[Problem]:
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
    found += _unwritable(model)
    found += _scaled(game, limits, model)
    if text:
        found += _in_text("shader", [mesh.shader for mesh in model.meshes])
    found += [p for tag in model.tags for p in too_long(game, limits, tag.name, tag.name, "is a tag's name")]
    return [*found, *_joint_names(game, limits, model.skeleton.names, text)]


def check_animation(animation: Animation, game_name: str, format_name: str, text: bool) -> list[Problem]:
    """Return what a game refuses of an animation, or shows otherwise than meant; see `check`."""
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
        refused = f"{game} takes one: add an origin joint ('Add Origin Joint')"
        said = refused if limits.several_roots == ERROR else f"which {GAMES['doom3'].label} refuses"
        found.append(Problem(limits.several_roots, animation.name, f"has {roots} joints without a parent, {said}"))
    return [*found, *_joint_names(game, limits, animation.joint_names, text)]


def _unwritable(model: SkeletalModel) -> Iterator[Problem]:
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
        text = f"has {many} with more than {limits.vertex_weights} weights, which {game} may leave out"
        yield Problem(WARNING, called, text)
    if (counts == 0).any():
        bare = plural(int((counts == 0).sum()), "vertex", "vertices")
        what = "games refuse" if limits.bare_vertices == ERROR else "games refuse or leave at the origin"
        yield Problem(limits.bare_vertices, called, f"has {bare} without weights, which {what}")


def _joint_names(game: str, limits: SkeletalLimits, names: list[str], text: bool) -> Iterator[Problem]:
    seen: set[str] = set()
    yield from _in_text("joint", names) if text else ()
    for name in names:
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
