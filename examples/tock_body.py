"""Of what Tock is made: tin, clockwork and a key, fine (0) or coarse (1), in any pose of `tock_moves`."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from examples.pictures import Array
from examples.shapes import ALONG_X, Part, Point, Rect, beam, grid, joined, lathe, moved, quad, shift, turn
from examples.tock_moves import Legs, Torso

WIDTH, HEIGHT = 128, 64  # of the picture
# Its parts: a pixel within, so that no neighbour shines through where pictures are smoothed.
SHELL, FACE = (1, 31, 63, 1), (65, 31, 127, 1)  # from below upward, as shapes are turned
TRIM, LIMB, BOOT = (1, 33, 31, 39), (1, 41, 31, 63), (33, 33, 63, 63)
EYE, KEY, BALL, HAND = (65, 33, 79, 63), (81, 33, 95, 63), (97, 33, 111, 63), (113, 33, 127, 63)
ROUND, LIMBS = (9, 6), (6, 3)  # sides of the body and of limbs, by level of detail
GROUND, STAND = -24.0, -9.9  # where the feet stand, and the hips
THIGH, SHIN, ANKLE = 6.4, 6.2, 2.2
ARM, FOREARM = 6.0, 6.2
WAIST, NECK = 3.0, 14.6  # of the torso above the hips, and of the head above the torso
BEHIND = turn(z=180.0)  # what is drawn in a picture's middle is seen in front


def box(near: Sequence[Point], far: Sequence[Point], rect: Rect) -> Part:
    """Return a tapered bar with its ends."""
    ends = [quad(list(near), rect), quad(list(far), rect)]
    centre = np.array((*near, *far), np.float64).mean(axis=0)
    for end in ends:
        if ((end.points.mean(axis=0) - centre) * end.normals[0]).sum() < 0:
            end.normals = -end.normals
            end.triangles = end.triangles[:, ::-1]
    return joined([beam(near, far, [rect] * 4), *ends])


def tube(points: Sequence[Array], radii: Sequence[float], side: Array, rect: Rect, sides: int) -> Part:
    """Return a round limb through points, which bends across `side`."""
    along = [unit(points[min(i + 1, len(points) - 1)] - points[max(i - 1, 0)]) for i in range(len(points))]
    rings, normals = [], []
    for point, radius, way in zip(points, radii, along, strict=True):
        front = unit(np.cross(way, side))
        across = np.cross(front, way)
        angles = [2 * math.pi * (nth + 0.5) / sides for nth in range(sides + 1)]
        out = [math.cos(angle) * across + math.sin(angle) * front for angle in angles]
        rings.append([point + radius * each for each in out])
        normals.append(out)
    return grid(np.array(rings), np.array(normals), rect)


def unit(vector: Array) -> Array:
    """Return a vector of length 1."""
    found: Array = vector / math.sqrt(float((vector * vector).sum()))
    return found


def bent(root: Array, tip: Array, lengths: tuple[float, float], pole: Array) -> tuple[Array, Array]:
    """Return where the elbow of a limb is that reaches for `tip` and bends towards `pole`, and how far it gets."""
    first, second = lengths
    way = tip - root
    far = min(math.sqrt(float((way * way).sum())), 0.995 * (first + second))
    way = unit(way)
    along = (first * first - second * second + far * far) / (2 * far)
    aside = unit(pole - way * float((pole * way).sum()))
    return root + along * way + math.sqrt(max(first * first - along * along, 0.0)) * aside, root + far * way


# -- legs


def leg(pose: Legs, nth: int) -> tuple[list[Array], float]:
    """Return hip, knee and ankle of the left (0) or right leg, seen from the hips, and how the foot is turned."""
    thigh, knee = pose.thighs[nth], pose.knees[nth]
    points = [np.array((0.0, 4.2 - 8.4 * nth, -1.0))]
    for length, angle in ((THIGH, -thigh), (SHIN, knee - thigh)):
        lean = math.radians(angle)
        points.append(points[-1] + length * np.array((-math.sin(lean), 0.0, -math.cos(lean))))
    loose = 0.45 if pose.lift is not None else 0.3
    return points, loose * (knee - thigh)


def boot(ankle: Array, angle: float, side: float, detail: int = 0) -> Part:
    """Return a boot, toes ahead and a little outward."""
    if detail:
        ends = [np.array(point) for point in ((-2.7, 0.0, -0.3), (5.5, 0.0, -1.1))]
        part = tube(ends, (2.6, 2.1), np.array((0.0, 1.0, 0.0)), BOOT, 4)
        return moved(part, shift(*ankle) @ turn(y=angle, z=6 * side))
    heel = [(-2.6, 1.8, 1.6), (-2.6, -1.8, 1.6), (-2.8, -2.0, -ANKLE), (-2.8, 2.0, -ANKLE)]
    toe = [(5.2, 2.0, 0.0), (5.2, -2.0, 0.0), (5.8, -2.2, -ANKLE), (5.8, 2.2, -ANKLE)]
    return moved(box(heel, toe, BOOT), shift(*ankle) @ turn(y=angle, z=6 * side))


def hips(pose: Legs) -> Array:
    """Return where the hips are, (4, 4): as high as the feet allow, and turned over where it falls."""
    lowest = min(
        float(boot(points[2], angle, 1 - 2 * nth).points[:, 2].min())
        for nth in range(2)
        for points, angle in [leg(pose, nth)]
    )
    height = GROUND - lowest if pose.lift is None else STAND + pose.lift
    upright: Array = shift(0, 0, height) @ turn(z=pose.yaw)
    if not pose.fall:
        return upright
    pivot = -3.0 if pose.fall > 0 else 5.0
    up = abs(math.sin(math.radians(pose.fall))) * (7.0 if pose.fall > 0 else 4.0)
    fallen: Array = shift(pivot, 0, GROUND + up) @ turn(y=-pose.fall) @ shift(-pivot, 0, -GROUND) @ upright
    return fallen


def lower(pose: Legs, detail: int) -> Part:
    """Return hips and legs."""
    sides, side = LIMBS[detail], np.array((0.0, 1.0, 0.0))
    profile = [(2.5, -3.0), (5.6, -0.6), (5.0, 2.6)] if not detail else [(4.2, -2.5), (5.2, 2.6)]
    parts = [moved(lathe(profile, LIMB, ROUND[detail]), BEHIND)]
    for nth in range(2):
        points, angle = leg(pose, nth)
        parts.append(tube(points, (2.9, 2.2, 1.9), side, LIMB, sides))
        parts.append(boot(points[2], angle, 1 - 2 * nth, detail))
    return moved(joined(parts), hips(pose))


def torso_tag(pose: Legs) -> Array:
    """Return where the torso stands on the hips."""
    x, y, z = pose.waist
    return hips(pose) @ shift(0, 0, WAIST - 1.0) @ turn(x, y, z)


# -- torso


def chest(pose: Torso) -> Array:
    """Return how the torso is turned."""
    return turn(*pose.chest)


def arm(pose: Torso, nth: int) -> list[Array]:
    """Return shoulder, elbow and hand of the left (0) or right arm."""
    side = 1 - 2 * nth
    placed = chest(pose) @ np.array((0.0, 6.2 * side, 10.8, 1.0))[:, None]
    root = placed[:3, 0]
    elbow, hand = bent(root, np.array((pose.left, pose.right)[nth]), (ARM, FOREARM), np.array((-0.6, 0.8 * side, -1.0)))
    return [root, elbow, hand]


def upper(pose: Torso, detail: int) -> Part:
    """Return the barrel of the body with its key, and the arms."""
    sides = ROUND[detail]
    shell = [(4.4, 0.0), (6.4, 3.0), (7.0, 7.0), (5.8, 11.5), (2.6, 14.2)]
    parts = [lathe(shell if detail == 0 else [shell[0], shell[2], shell[4]], SHELL, sides)]
    if not detail:
        parts += [lathe([(2.2, 13.6), (2.0, 15.6)], TRIM, LIMBS[detail])]
    body = [moved(joined(parts), BEHIND), moved(winder(detail), shift(-6.2, 0, 7) @ turn(x=pose.key))]
    whole = [moved(joined(body), chest(pose))]
    for nth in range(2):
        points = arm(pose, nth)
        bend = np.cross(points[1] - points[0], points[2] - points[1])
        whole.append(tube(points, (2.2, 1.6, 1.5), unit(bend), LIMB, LIMBS[detail]))
        fist = [(0.0, -2.2), (2.2, 0.0), (0.0, 2.2)]
        whole.append(moved(lathe(fist, HAND, LIMBS[detail]), shift(*points[2])))
    return joined(whole)


def winder(detail: int) -> Part:
    """Return the key in its back, whose stem is along X."""
    stem = [(0.0, 0.5, 0.5), (0.0, -0.5, 0.5), (0.0, -0.5, -0.5), (0.0, 0.5, -0.5)]
    far = [(-3.0, y, z) for _, y, z in stem]
    blade = [(-2.6, 0.0, 4.2), (-2.6, 0.0, -4.2), (-6.2, 0.0, -4.2), (-6.2, 0.0, 4.2)]
    sides = [quad(blade, KEY), quad(blade[::-1], KEY)]
    return joined(sides if detail else [beam(stem, far, [KEY] * 4), *sides])


def upper_tags(pose: Torso) -> dict[str, Array]:
    """Return the tags of the torso: on the model of the legs, of the head, the weapon, and the flag."""
    head = chest(pose) @ shift(0, 0, NECK) @ turn(*pose.head)
    weapon = shift(*arm(pose, 1)[2]) @ turn(*pose.weapon) @ shift(1.0, 0.0, 1.2)
    flag = chest(pose) @ shift(-7.0, 0.0, 9.0)
    return {"tag_torso": np.eye(4), "tag_head": head, "tag_weapon": weapon, "tag_flag": flag}


# -- head


def head(detail: int) -> Part:
    """Return the head, which does not move by itself."""
    sides = (12, 6)[detail]
    skull = [(3.0, 0.4), (6.8, 2.2), (7.9, 6.2), (7.2, 10.2), (4.4, 13.2), (0.0, 14.4)]
    parts = [moved(lathe(skull if not detail else skull[::2] + skull[-1:], FACE, sides), BEHIND)]
    for side in (1, -1):
        place = shift(6.0, 3.1 * side, 7.6) @ turn(z=16.0 * side) @ ALONG_X
        rim = lathe([(2.6, 0.0), (2.5, 1.9)], TRIM, (9, 5)[detail])
        glass = lathe([(2.5, 1.9), (0.0, 2.3)], EYE, (9, 5)[detail])
        parts.append(moved(joined([rim, glass] if not detail else [glass]), place))
        if not detail:
            bolt = lathe([(1.9, 0.0), (1.6, 1.6), (0.0, 2.0)], TRIM, 6)
            parts.append(moved(bolt, shift(-0.4, 7.0 * side, 6.2) @ turn(x=-90.0 * side)))
    mast = [[(x, y, z) for x, y in ((0.4, 0.4), (-0.4, 0.4), (-0.4, -0.4), (0.4, -0.4))] for z in (14.0, 18.0)]
    ball = lathe([(0.0, -1.7), (1.7, 0.0), (0.0, 1.7)], BALL, (7, 4)[detail])
    return joined([*parts, beam(mast[0], mast[1], [TRIM] * 4), moved(ball, shift(0, 0, 19.2))])
