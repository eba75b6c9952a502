"""What games take of skeletal models and their animations: one table, one checker. See `limits`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .limits import ERROR, WARNING, Problem

if TYPE_CHECKING:
    from .skeletal import Animation, SkeletalModel, Weights


@dataclass(frozen=True)
class SkeletalLimits:
    """The limits of one game; None where it has none of its own."""

    label: str
    joints: int | None = None
    meshes: int | None = None
    weights: int | None = None  # of a mesh
    vertices: int | None = None  # of a mesh
    triangles: int | None = None  # of a mesh
    frames: int | None = None
    name_bytes: int | None = None  # of a joint's name
    vertex_weights: int | None = None  # of a vertex, beyond which the game leaves them out
    unique_names: bool = False  # of joints
    scales: bool = False  # it reads how large joints are from a file beside an animation
    folder: str = ""  # in which the game looks for the files, below that of the model they replace


GAMES: dict[str, SkeletalLimits] = {
    # dhewm3 has no counts of its own (idRenderModelMD5, idMD5Anim); it refuses vertices without weights.
    "doom3": SkeletalLimits("Doom 3"),
    # Q2PRO's MOD_LoadMD5: MD5_MAX_JOINTS 256, _MESHES 32, _WEIGHTS 8192, TESS_MAX_VERTICES 6144, _FRAMES 1024,
    # MD5_MAX_JOINTNAME 48 with its NUL. DIR/md5/NAME.md5mesh and .md5anim replace DIR/NAME.md2.
    "quake2remaster": SkeletalLimits(
        "Quake II remaster", 256, 32, 8192, 6144, 6144, 1024, 47, scales=True, folder="md5"
    ),
    # MDX_MAX_BONES 128 (qfiles.h); SHADER_MAX_VERTEXES 1025 and SHADER_MAX_INDEXES 6150 of Enemy Territory 2.60, which
    # are not reached (tr_local.h).
    "et": SkeletalLimits("Wolfenstein: Enemy Territory", 128, None, None, 1024, 2049, name_bytes=63, unique_names=True),
    # R_LoadMDM of ET: Legacy refuses more than 10000 vertices and 20000 triangles; its second renderer keeps four
    # weights of a vertex.
    "etlegacy": SkeletalLimits(
        "ET: Legacy", 128, None, None, 10000, 20000, name_bytes=63, vertex_weights=4, unique_names=True
    ),
    "format": SkeletalLimits("format maximum"),
}


def check(model: SkeletalModel, game_name: str, text: bool = True) -> list[Problem]:
    """Return what a game (a key of GAMES) refuses of a model, or shows otherwise than meant.

    `text`: the format is text, which can't hold some characters.
    """
    game = GAMES[game_name]
    found = [*_over(game, "joints", "", model.skeleton.num_joints), *_over(game, "meshes", "", len(model.meshes))]
    for mesh in model.meshes:
        called = mesh.name or mesh.shader
        found += _over(game, "vertices", called, mesh.num_vertices)
        found += _over(game, "triangles", called, len(mesh.triangles))
        found += _over(game, "weights", called, len(mesh.weights.joints))
        found += _many_weights(game, called, mesh.weights)
        bare = int((mesh.weights.counts == 0).sum())
        if bare:
            found.append(Problem(ERROR, called, f"has {bare} vertices without weights, which games refuse"))
    found += [p for tag in model.tags for p in _long_name(game, tag.name, "tag")]
    return [*found, *_joint_names(game, model.skeleton.names, text)]


def _many_weights(game: SkeletalLimits, called: str, weights: Weights) -> Iterator[Problem]:
    if game.vertex_weights is not None and (weights.counts > game.vertex_weights).any():
        count = int((weights.counts > game.vertex_weights).sum())
        text = f"has {count} vertices with more than {game.vertex_weights} weights, which {game.label} may leave out"
        yield Problem(WARNING, called, text)


def check_animation(animation: Animation, game_name: str, text: bool = True, one_root: bool = True) -> list[Problem]:
    """Return what a game refuses of an animation, or shows otherwise than meant; see `check`.

    `one_root`: the format's animations have one joint without a parent.
    """
    game = GAMES[game_name]
    found = [
        *_over(game, "frames", animation.name, animation.num_frames),
        *_over(game, "joints", animation.name, len(animation.joint_names)),
    ]
    roots = int((animation.parents < 0).sum())
    if roots > 1 and one_root:
        said = f"has {roots} joints without a parent, an animation takes one: add an 'origin' joint"
        found.append(Problem(ERROR, animation.name, said))
    return [*found, *_joint_names(game, animation.joint_names, text)]


def _over(game: SkeletalLimits, kind: str, subject: str, count: int) -> Iterator[Problem]:
    limit = getattr(game, kind)
    if limit is not None and count > limit:
        yield Problem(ERROR, subject, f"has {count} {kind}, {game.label} takes {limit}")


def _long_name(game: SkeletalLimits, name: str, kind: str) -> Iterator[Problem]:
    size = len(name.encode("utf-8", errors="replace"))
    if game.name_bytes is not None and size > game.name_bytes:
        yield Problem(ERROR, name, f"is a {kind}'s name of {size} bytes, {game.label} takes {game.name_bytes}")


def _joint_names(game: SkeletalLimits, names: list[str], text: bool) -> Iterator[Problem]:
    seen: set[str] = set()
    for name in names:
        yield from _long_name(game, name, "joint")
        if text and any(c in name for c in '"\r\n'):
            yield Problem(WARNING, name, "has a quote or a line end, which no file can hold: written without")
        if name in seen:
            severity = ERROR if game.unique_names else WARNING
            yield Problem(severity, name, "is the name of several joints: games find the first")
        seen.add(name)
