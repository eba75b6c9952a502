"""From frames to a rig: `make_rig`.

It rests in the frame that looks most like a rest: a body that stands upright, limbs apart, nearly its own mirror image.

Letters in shapes: F frames.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...reporting import LimitError
from ..vertex import Tag
from .fit import (
    PointSkin,
    best_poses,
    best_turns,
    fit_poses,
    fit_rest,
    fit_weights,
    moments_of,
    without_empty_bones,
    without_flat_blends,
)
from .joints import turning_poses
from .parts import LEAST_POINTS, exchanged, merged, rigid_parts
from .points import MovingPoints, differing_frames, moving_points
from .rig import FrameRig, RigSettings
from .sides import Plane
from .skeleton import Skeleton, axis_of, find_skeleton
from .tag_bones import with_tags

Doubles = NDArray[np.float64]
Progress = Callable[[float], None]

MOST_BONES = 40
SEARCHED = 36  # frames that parts are looked for in
ROUNDS, LAST_ROUNDS = 3, 4  # of weights, poses and rest, in some frames and in all
EXCHANGES = 8
SURE, UNSURE = (
    0.5,
    0.2,
)  # of a point's weight: what has more tells of a pose that is not known, others so much of theirs
BONE_COST = 1.1  # the power of their number by which bones cost: a tenth more are worth a tenth less error
NEARLY = 1.1  # of the least cost: among such the rest that looks best is taken
GRID_ROUNDING = np.sqrt(1 / 4)  # of three axes, each rounded to a step: rms, 1/12 a step each
SOME = 60  # points that tell of a pose
TALL = 0.75  # of the tallest: less lies or crouches
CONES = (90, 60, 35)  # degrees off the mean of what is left, by which those that lie are left out one after another
LOPSIDED = (1, 3)  # how much more a mirror image counts than limbs apart: both are tried


def make_rig(
    positions: NDArray[np.float32],
    triangles: NDArray[np.int32],
    tags: Sequence[Tag],
    settings: RigSettings,
    advance: Progress = lambda done: None,
) -> FrameRig:
    """Return the rig of vertices (F, V, 3) that triangles (T, 3) join, and of the tags beside them.

    `advance` is told how much is done, from 0 to 1, and may raise to end it.

    Raises:
        LimitError: there is no motion to make anything of, or no vertex, or not enough frames.
    """
    if len(positions) < 2:
        raise LimitError("there is one frame only: nothing moves, so there is nothing to make bones of")
    points = moving_points(positions, triangles)
    if not 0 <= settings.rest < len(positions) and settings.rest != -1:
        raise LimitError(f"there is no frame {settings.rest} to rest in, only 0 to {len(positions) - 1}")
    axis = axis_of(points, tags)
    skin, first = find_skin(points, settings, axis, advance)
    skeleton = find_skeleton(skin, points, tags, settings, axis)
    skin = skeleton.skin
    if settings.turn_only:
        hung = np.where(skeleton.loose, -1, skeleton.parents)
        skin.poses = turning_poses(skin, points.places, hung, skeleton.heads)
    skeleton.skin = without_flat_blends(skin, points.places)
    advance(1.0)
    return with_tags(_in_units(skeleton, points, first), tags)


def find_skin(points: MovingPoints, settings: RigSettings, axis: int, advance: Progress) -> tuple[PointSkin, int]:
    """Return bones, weights and poses that explain points in all frames, and the frame that the rest was begun from.

    Models are their own mirror images, nearly, across an axis.
    """
    tried = [settings.rest] if settings.rest >= 0 else rest_frames(points, axis)
    whole, edges = points.places[points.whole], points.edges
    searched = whole[differing_frames(whole, SEARCHED)]
    found: list[tuple[float, PointSkin, int]] = []
    for turn, frame in enumerate(tried):
        skin = _in_parts(points, searched, points.places[frame].copy(), settings)
        found.append((skin.rms(searched) * skin.num_bones**0.5, skin, frame))  # to be merged
        advance(0.4 * (turn + 1) / len(tried))
    least = min(cost for cost, _, _ in found)
    skin, first = next((skin, frame) for cost, skin, frame in found if cost <= NEARLY * least)
    skin = merged(skin, searched, edges, settings.bones, BONE_COST / settings.detail, lambda: advance(0.5))
    skin = exchanged(skin, searched, edges, EXCHANGES, lambda: advance(0.65))
    skin.poses = _posed(skin, whole, 3)
    for turn in range(LAST_ROUNDS):
        skin.weights = fit_weights(skin, whole, edges)
        skin.rest = fit_rest(skin, whole)
        skin.poses = fit_poses(skin, whole, passes=2 if turn == LAST_ROUNDS - 1 else 1)
        advance(0.7 + 0.25 * (turn + 1) / LAST_ROUNDS)
    if points.torn.any():
        poses = np.empty((len(points.places), *skin.poses.shape[1:]))
        poses[points.whole], poses[points.torn] = skin.poses, _posed(skin, points.places[points.torn], 5)
        skin.poses = poses
    return skin, first


def _posed(skin: PointSkin, places: Doubles, passes: int) -> Doubles:
    """Return the transforms (f, B, 3, 4) of bones in frames (f, P, 3) in which none is known."""
    sure = np.where(skin.weights > SURE, skin.weights, skin.weights * UNSURE)
    return fit_poses(replace(skin, poses=best_poses(moments_of(places, skin.rest, sure))), places, passes)


def _in_parts(points: MovingPoints, few: Doubles, rest: Doubles, settings: RigSettings) -> PointSkin:
    """Return many bones, for all parts that a few frames (f, P, 3) show to move apart, begun from a rest (P, 3)."""
    tolerance = max(1.5 * points.step * GRID_ROUNDING, 0.001) / settings.detail
    part = rigid_parts(few, rest, points.edges, tolerance, max(MOST_BONES, settings.bones))
    weights = np.eye(int(part.max()) + 1)[part]
    skin = PointSkin(rest, weights, best_poses(moments_of(few, rest, weights)))
    for _ in range(ROUNDS):
        skin.weights = fit_weights(skin, few, points.edges)
        skin = without_empty_bones(skin, LEAST_POINTS / 2)
        skin.poses = fit_poses(skin, few)
        skin.rest = fit_rest(skin, few)
    return skin


def _in_units(skeleton: Skeleton, points: MovingPoints, first: int) -> FrameRig:
    """Return a rig in the model's own units and place."""
    skin, size, centre = skeleton.skin, points.size, points.centre
    poses = skin.poses.copy()
    turned = poses[..., :3] @ centre
    poses[..., 3] = poses[..., 3] * size + centre - turned
    return FrameRig(
        names=skeleton.names,
        parents=skeleton.parents,
        heads=skeleton.heads * size + centre,
        tails=skeleton.tails * size + centre,
        rest=skin.rest * size + centre,
        weights=skin.weights,
        of_vertex=points.of_vertex,
        poses=poses,
        rest_frame=first,
        torn=points.torn,
        tag_bones=np.zeros(0, np.int64),
        groups=skeleton.groups,
    )


def rest_frames(points: MovingPoints, axis: int) -> list[int]:
    """Return the frames that may be good to rest in, the upright first and the best, nearly mirror images first."""
    places = points.places[:, :: max(1, points.places.shape[1] // SOME)]
    centred = places - places.mean(axis=1, keepdims=True)
    whole = ~points.torn
    first = int(points.whole[0])
    turns = best_turns(np.einsum("fpa,pb->fab", centred, centred[first]))
    upright = _upright(turns, np.ptp(places[:, :, 2], axis=1), whole)
    spread = np.linalg.norm(centred, axis=2).mean(axis=1)
    lopsided = np.array([Plane(axis, 0.0).off(own) for own in centred])
    best = [int(np.argmax(np.where(upright, spread - factor * lopsided, -np.inf))) for factor in LOPSIDED]
    return sorted({int(np.flatnonzero(upright)[0]), *best}, key=lambda frame: float(lopsided[frame]))


def _upright(turns: NDArray[np.float64], tall: NDArray[np.float64], whole: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell which frames (F,) stand as most do: upright is their mean turn, found again without those that lie."""
    upright = whole & (tall >= TALL * np.quantile(tall[whole], 0.9))
    for degrees in CONES:
        mean = best_turns(turns[upright].sum(axis=0))
        near = (np.einsum("fab,ab->f", turns, mean) - 1) / 2 > np.cos(np.radians(degrees))
        if (upright & near).any():
            upright = upright & near
    return upright
