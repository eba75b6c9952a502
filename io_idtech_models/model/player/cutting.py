"""A character's frames taken apart into a player's three models, each in its own space.

The whole character is sampled, positions and normals of all frames; what is cut are the arrays. So both sides of a seam
have one place and one normal in each frame, until they are rounded. Triangles stay whole.

Letters in shapes: F frames, V vertices of a surface, T its triangles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .. import steady
from ..edits.conform import with_vertices
from ..lod.poses import find_places
from ..transforms import as_matrices
from ..vertex import Surface, Tag

Doubles = NDArray[np.float64]
Turn = tuple[float, float]  # the cosine and the sine of its angle
QUARTERS: tuple[Turn, ...] = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))
UNEVEN = 0.25  # radians, nearly: bones of left and right stand askew by less
LOOKED_AT = 4  # frames in which vertices at one place are to be at one
HEIGHT, GROUND = 56.0, -24.0  # of a player: its box is -24 to 32 (bg_public.h and g_client.c: playerMins, playerMaxs)


def regions_of_faces(
    weights: Doubles, corner_points: NDArray[np.int64], face_of_corner: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the region of each face: with the largest sum of its vertices' weights (P, regions), of equals the first.

    `corner_points` and `face_of_corner` (C,) say which point each corner has, and of which face it is.
    """
    count = int(face_of_corner.max(initial=-1)) + 1
    sums = np.stack(
        [np.bincount(face_of_corner, weights[corner_points, n], count) for n in range(weights.shape[1])], axis=1
    )
    return np.asarray(np.argmax(steady.rounded(sums), axis=1), np.int64)


def chosen_triangles(surface: Surface, chosen: NDArray[np.bool_]) -> Surface | None:
    """Return a surface of some of its triangles (T,) and the vertices that these have; None if they are none."""
    if not chosen.any():
        return None
    triangles = surface.triangles[chosen]
    kept, places = np.unique(triangles, return_inverse=True)
    found = with_vertices(surface, kept, places.reshape(-1, 3).astype(np.int32), surface.uvs[kept])
    found.source_vertices = found.source_triangles = None
    return found


def in_frames(surface: Surface, transforms: Doubles, frames: Sequence[int]) -> Surface:
    """Return a surface in some of its frames, as transforms (len(frames), 4, 4), which turn, move and scale, put it."""
    rows = np.asarray(frames)
    moved = steady.applied(transforms[:, None, :3], surface.positions[rows].astype(np.float64))
    found = with_vertices(surface, np.arange(surface.num_vertices), surface.triangles, surface.uvs)
    found.positions = moved.astype(np.float32)
    if surface.normals is not None:
        turns = rotations(transforms)
        found.normals = steady.applied(turns[:, None], surface.normals[rows].astype(np.float64)).astype(np.float32)
    return found


def used_by(surfaces: Sequence[Surface], regions: Sequence[NDArray[np.int64]], parts: int) -> list[NDArray[np.bool_]]:
    """Return triangles of which parts meet where a vertex is, (V, parts) of each surface; `regions` (T,) are theirs.

    Vertices of all surfaces count that are at one place: where textures or materials change there are several.
    """
    frames = len(surfaces[0].positions)
    looked = np.unique(np.linspace(0, frames - 1, min(frames, LOOKED_AT)).astype(np.int64))
    points = np.concatenate([surface.positions[looked] for surface in surfaces], axis=1).astype(np.float64)
    places = find_places(points)[1]
    starts = np.cumsum([0, *(surface.num_vertices for surface in surfaces)])
    used: NDArray[np.bool_] = np.zeros((int(places.max(initial=-1)) + 1, parts), np.bool_)
    for surface, own, first in zip(surfaces, regions, starts, strict=False):
        used[places[surface.triangles + first], own[:, None]] = True
    return [used[places[first:last]] for first, last in pairwise(starts)]


def follow(surface: Surface, chosen: NDArray[np.bool_], joint: Joint, frame: int) -> None:
    """Let some vertices (V,) of a surface stay with a joint in all frames, as they are in one of them.

    Edges of a cut that do so fit whatever frames the two models show, for both see the joint at its tag.
    """
    if not chosen.any():
        return
    moves = steady.products(joint.matrices, inverse(joint.matrices[frame]))
    at = surface.positions[frame][chosen].astype(np.float64)
    surface.positions[:, chosen] = steady.applied(moves[:, None, :3], at[None])
    if surface.normals is not None:
        turned = surface.normals[frame][chosen].astype(np.float64)
        surface.normals[:, chosen] = steady.applied(moves[:, None, :3, :3], turned[None])


def rotations(matrices: Doubles) -> Doubles:
    """Return the turns (..., 3, 3) of matrices (..., 4, 4), without their scale and shear: forward stays, then left."""
    x, y = matrices[..., :3, 0], matrices[..., :3, 1]
    x = x / steady.lengths(x)[..., None]
    y = y - x * steady.dots(x, y)[..., None]
    y = y / steady.lengths(y)[..., None]
    return np.stack((x, y, steady.crossed(x, y)), axis=-1)


def inverse(matrices: Doubles) -> Doubles:
    """Return the inverses of matrices (..., 4, 4) that turn and move."""
    back = np.swapaxes(matrices[..., :3, :3], -1, -2)
    return as_matrices(back, -steady.applied(back, matrices[..., :3, 3]))


@dataclass(frozen=True, eq=False)
class Joint:
    """A bone that carries a tag, in the game's space: where it is in each frame, and how far turned since its rest."""

    matrices: Doubles  # (F, 4, 4) turn and place

    def beside(self, other: Joint) -> Doubles:
        """Return where it is as another joint sees it, (F, 4, 4)."""
        return steady.products(inverse(other.matrices), self.matrices)


def joint(poses: Doubles, rest: Doubles, at: float = 0.0) -> Joint:
    """Return the joint of a bone's poses (F, 4, 4), which is not turned at `rest` (4, 4).

    `at` is how far along the bone, its Y, the joint lies, in the poses' units.
    """
    turns = steady.products(rotations(poses), np.swapaxes(rotations(rest), -1, -2))
    return Joint(as_matrices(turns, poses[:, :3, 3] + at * poses[:, :3, 1]))


def aimed(held: Doubles, aim: int, torso: Doubles) -> Doubles:
    """Return where a weapon is as the torso sees it, (F, 4, 4), of where the hand that holds it is, (F, 4, 4).

    In the frame `aim` it points ahead, while the legs show a torso that stands at `torso` (4, 4), as in the game.
    """
    turns = steady.products(held[:, :3, :3], np.swapaxes(held[aim, :3, :3], 0, 1), np.swapaxes(torso[:3, :3], 0, 1))
    return as_matrices(turns, held[:, :3, 3])


def tag(name: str, matrices: Doubles) -> Tag:
    """Return a tag that stands where matrices (F, 4, 4) say."""
    axes = np.swapaxes(matrices[:, :3, :3], 1, 2)
    return Tag(name, matrices[:, :3, 3].astype(np.float32), np.ascontiguousarray(axes, np.float32) + np.float32(0.0))


def facing(sideways: Doubles) -> Turn:
    """Return the turn about Z that brings a character to face +X.

    `sideways` (3,) is the way from its right to its left: to +Y where it faces +X. What stands nearly along an axis
    does so, for bones are not quite even. One whose bones have no sides faces -Y, as characters do in Blender.
    """
    level = np.array((sideways[1], sideways[0]), np.float64)
    length = float(steady.lengths(level[None])[0])
    if length < 1e-6:
        return QUARTERS[1]
    turn = level / length
    off = steady.lengths(turn - np.array(QUARTERS))
    nearest = int(off.argmin())
    return QUARTERS[nearest] if off[nearest] < UNEVEN else (float(turn[0]), float(turn[1]))


def into_game(turn: Turn, scale: float, shift: Doubles) -> Doubles:
    """Return the matrix (4, 4) that turns about Z, scales, and moves by `shift` (3,)."""
    cosine, sine = turn
    found = np.eye(4)
    found[:2, :2] = ((cosine, -sine), (sine, cosine))
    found[:3, :3] *= scale
    found[:3, 3] = shift
    return found


def fitted(turn: Turn, points: Doubles, middle: Doubles) -> Doubles:
    """Return the matrix (4, 4) that makes a character as high as a player, its feet on the ground.

    `points` (n, 3) are where it is when it stands, `middle` (3,) what is to stand at the player's own place.
    """
    low, high = float(points[:, 2].min()), float(points[:, 2].max())
    scale = HEIGHT / (high - low) if high > low else 1.0
    turned = steady.applied(into_game(turn, scale, np.zeros(3))[None, :3, :3], middle[None])[0]
    return into_game(turn, scale, np.array((-turned[0], -turned[1], GROUND - scale * low)))
