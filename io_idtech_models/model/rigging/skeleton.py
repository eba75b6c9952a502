"""Bones that an animator would keep, of parts that move as one: which hangs on which, along limbs, two sides alike.

All hang on the pelvis where there is one: where a player's part stands, where legs meet. Letters in shapes: F frames,
P points, B bones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..vertex import Tag
from .fit import PointSkin
from .joints import (
    TORN_APART,
    TORN_OFF,
    Joints,
    find_joints,
    hung_from,
    loads_of,
    meeting,
    middles_of,
    mirrored_tree,
    settled_joint,
    spanning_tree,
    upward,
    ways_along,
)
from .names import FLOOR, Bones, name_bones
from .points import MovingPoints
from .products import product
from .rig import RigSettings, rig_matrices
from .sides import Plane, Sides, along_limbs, find_sides, mirror_axis, plane_of
from .tag_bones import transforms_of, unlike_of

Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]

OWN = 0.4  # of a point's weight: with more it is a bone's own
CARRIED = 0.3  # the power of what a child carries by which that counts beside its direction
SHORTEST = 0.02  # of the size: a bone that would be shorter points along what hangs on it
BELLY = 0.52  # of the height: where a pelvis is
LEAST_ROOT, LEAST_STOOD = 0.015, 0.005  # of all points: what a root carries at least, and one that a tag tells of
STANDS_OFF = 0.05  # what it counts that a bone lies away from where a player's part stands, beside how else it moves
WRONGED = 0.05  # of the size: how much worse a joint of one of a pair may be for that: else it is no pair
FLAT = 0.11  # of how wide it is: thinner it is cloth
CLEARLY = 2.0  # times less unlike is another bone's motion: what has come off hangs there
STRAY = 0.02  # of all points: so many may hang below the feet, or stick up
MOST_ASIDE = 0.08  # of the size: where a pelvis is at most beside the middle


@dataclass(eq=False)
class Skeleton:
    """Bones with their skin; parents come before their children."""

    skin: PointSkin
    names: list[str]
    parents: Indices  # (B,)
    heads: Doubles  # (B, 3)
    tails: Doubles  # (B, 3)
    groups: list[str]
    loose: NDArray[np.bool_]  # (B,) it moves as it likes: it has come off, and hangs there for the sake of who poses it


def find_skeleton(
    skin: PointSkin, points: MovingPoints, tags: Sequence[Tag], settings: RigSettings, axis: int
) -> Skeleton:
    """Return the skeleton of parts that move as one, of a model that is its own mirror image across an axis, nearly."""
    calm = replace(skin, poses=skin.poses[points.whole])
    joints, part = find_joints(calm, points.edges), part_of(tags)
    pelvis = _stood_on(calm, points, tags, part)
    neighbours, sides = _tree_of(skin, joints, pelvis, axis, settings.symmetric)
    root = _root(neighbours, skin, sides) if pelvis is None else pelvis
    parents, order = hung_from(root, neighbours)
    heads, loose = _joined(calm, joints, parents, order)
    order = _hung_again(calm, parents, loose)
    place_of = np.argsort(order)
    parents = np.array([place_of[parents[bone]] if bone != root else -1 for bone in order])
    skin = PointSkin(skin.rest, skin.weights[:, order], skin.poses[:, order])
    heads, sides = heads[order], sides.of(order)
    mass = skin.weights.sum(axis=0)
    loads = loads_of(parents, range(len(order)), mass)
    asides = loads_of(parents, range(len(order)), mass * sides.plane.aside(middles_of(skin))) / np.maximum(loads, 1e-9)
    tails = _tails(skin, np.where(loose[order], -1, parents), heads, loads, sides)
    heads, tails = sides.evened(heads), sides.evened(tails)
    low, high = np.quantile(skin.rest[:, 2], (STRAY, 1 - STRAY)).tolist()
    bones = Bones(parents, heads, tails, loads, asides, loose[order], sides, _is_flat(skin.rest), low, high)
    names = name_bones(bones, "" if pelvis is None else part)
    return Skeleton(skin, names, parents, heads, tails, [part] * len(names), bones.loose)


def _is_flat(rest: Doubles) -> bool:
    """Tell whether points (P, 3) lie nearly in a plane, by how far they spread along principal axes (Pearson 1901)."""
    centred = rest - rest.mean(axis=0)
    thin, wide, _ = np.sqrt(np.maximum(np.linalg.eigvalsh(product(centred.T, centred)), 0))
    return bool(thin < FLAT * wide)


def axis_of(points: MovingPoints, tags: Sequence[Tag]) -> int:
    """Return the axis across which a model is its own mirror image, nearly: Y, as parts of players look along X."""
    return 1 if part_of(tags) else mirror_axis(points.places[points.whole])


def _tree_of(
    skin: PointSkin, joints: Joints, pelvis: int | None, axis: int, symmetric: bool
) -> tuple[list[list[int]], Sides]:
    """Return the neighbours of each bone, both sides alike if that is wanted, and the sides."""
    neighbours, middles = spanning_tree(joints.costs), middles_of(skin)
    middle = np.median(skin.rest, axis=0) if pelvis is None else middles[pelvis]
    plane = plane_of(skin.rest, axis, float(middle[axis]))
    trunk = _trunk(neighbours, skin, plane) if pelvis is None else pelvis
    ways = ways_along(joints, middles, trunk)
    sides = find_sides(skin, ways, plane, symmetric)
    parents, order = hung_from(trunk, neighbours)
    alone = np.arange(len(order)), parents
    while symmetric:
        neighbours = mirrored_tree(joints.costs, sides.partners, trunk)
        parents, order = hung_from(trunk, neighbours)
        wronged = joints.off[alone[0], parents] - joints.off[alone]
        wronged[[bone for bone in order if not sides.paired(bone) or bone == trunk]] = 0
        if wronged.max() < WRONGED:
            break
        sides = sides.without(int(wronged.argmax()))
    return neighbours, along_limbs(sides, skin, ways, parents, order)


def _stood_on(calm: PointSkin, points: MovingPoints, tags: Sequence[Tag], part: str) -> int | None:
    """Return the bone of a part of a Quake III player that all others hang on; None where its tags tell of none.

    Of legs it moves with the tag that the torso stands on, of a torso it is still where this stands on the legs: at
    its own origin. A model whose hand carries that tag is a whole body.
    """
    stands = {tag.name.lower(): tag for tag in tags}.get({"legs": "tag_torso", "head": "tag_head"}.get(part, ""))
    if stands is None and part != "torso":
        return None
    where = np.broadcast_to(np.eye(4), (len(points.places), 4, 4)) if stands is None else transforms_of(stands)
    where = where[points.whole].copy()
    where[:, :3, 3] = (where[:, :3, 3] - points.centre) / points.size
    unlike, seen = unlike_of(where, calm.poses, 1.0)
    middles = middles_of(calm)
    unlike = unlike + STANDS_OFF * ((seen - middles) ** 2).sum(axis=1)
    mass = calm.weights.sum(axis=0)
    found = int(np.where(mass >= LEAST_STOOD * mass.sum(), unlike, np.inf).argmin())
    aside = abs(float(middles[found, 1]) - np.median(calm.rest[:, 1]))
    return found if part == "torso" or aside < MOST_ASIDE else None


def _trunk(neighbours: list[list[int]], skin: PointSkin, plane: Plane) -> int:
    """Return the bone that is most of a body's trunk: in the middle of the tree, of its width and of its height."""
    mass, middles = skin.weights.sum(axis=0), middles_of(skin)
    whole, low = mass.sum(), skin.rest[:, 2].min()
    tall = max(float(np.ptp(skin.rest[:, 2])), 1e-9)
    aside = np.abs(plane.aside(middles))

    def oddness(root: int) -> float:
        parents, order = hung_from(root, neighbours)
        loads = loads_of(parents, order, mass)
        branch = max((float(loads[other]) for other in neighbours[root]), default=0.0) / whole
        return float(branch + 2 * aside[root] + abs((middles[root, 2] - low) / tall - BELLY))

    large = np.flatnonzero(mass >= LEAST_ROOT * whole)
    middle = np.flatnonzero((mass >= LEAST_STOOD * whole) & (aside < MOST_ASIDE))
    return min((middle if len(middle) else large).tolist(), key=oddness, default=int(mass.argmax()))


def _root(neighbours: list[list[int]], skin: PointSkin, sides: Sides) -> int:
    """Return the bone that all hang on: where the legs meet, of beasts the hind legs; without legs the trunk."""
    trunk = _trunk(neighbours, skin, sides.plane)
    low = float(np.quantile(skin.rest[:, 2], STRAY))
    floor = low + FLOOR * max(float(np.ptp(skin.rest[:, 2])), 1e-9)
    parents, _ = hung_from(trunk, neighbours)
    hindmost: dict[int, float] = {}
    for bone in range(skin.num_bones):
        own = skin.rest[skin.weights[:, bone] > OWN]
        if sides.paired(bone) and len(own) and own[:, 2].min() < floor:
            meets = meeting(parents, bone, int(sides.partners[bone]))
            if not sides.paired(meets):
                hindmost[meets] = min(hindmost.get(meets, np.inf), float(sides.plane.forward(own).mean()))
    return min(hindmost, key=lambda bone: hindmost[bone], default=trunk)


def _joined(calm: PointSkin, joints: Joints, parents: Indices, order: list[int]) -> tuple[Doubles, NDArray[np.bool_]]:
    """Return where bones begin (B, 3), and which (B,) have come off what they hang on.

    They begin at their joint, and in the middle of what they move where there is none.
    """
    heads = middles_of(calm)
    loose = np.ones(len(order), np.bool_)
    shares = (calm.weights > 0).astype(np.float64)
    shared = product(shares.T, shares) > 0
    for bone in order[1:]:
        above = int(parents[bone])
        place, gap = settled_joint(calm.poses[:, above], calm.poses[:, bone], joints.meetings[above, bone])
        loose[bone] = gap > (TORN_APART if shared[bone, above] else TORN_OFF)
        if not loose[bone] or (gap <= TORN_APART and joints.met[above, bone]):
            heads[bone] = place
    return heads, loose


def _hung_again(calm: PointSkin, parents: Indices, loose: NDArray[np.bool_]) -> list[int]:
    """Let what has come off hang on the bone that it follows best, and return all bones with parents first."""
    middles = middles_of(calm)
    for bone in np.flatnonzero(loose & (parents >= 0)).tolist():
        below = [other for other in range(len(parents)) if bone in upward(parents, other)]
        where = rig_matrices(calm.poses[:, bone])
        where[:, :3, 3] = (calm.poses[:, bone] @ np.append(middles[bone], 1.0)[:, None])[..., 0]
        unlike = unlike_of(where, calm.poses, 1.0)[0]
        unlike[below] = np.inf
        if unlike[parents[bone]] > CLEARLY * unlike.min():
            parents[bone] = int(unlike.argmin())
    return sorted(range(len(parents)), key=lambda bone: len(list(upward(parents, bone))))


def _tails(skin: PointSkin, parents: Indices, heads: Doubles, loads: Doubles, sides: Sides) -> Doubles:
    """Return where bones point to (B, 3): the joint of the child that goes on with them, or their own far end.

    What has come off goes on with none (a parent of -1). One in the middle points to neither side.
    """
    middles, tails = middles_of(skin), np.empty_like(heads)
    for bone in range(len(heads)):
        own = skin.rest[skin.weights[:, bone] > OWN]
        reach = own - heads[bone]
        far = heads[bone] + (
            reach[np.argsort(np.linalg.norm(reach, axis=1))[-max(1, len(reach) // 8) :]].mean(axis=0) if len(own) else 0
        )
        children = np.flatnonzero(parents == bone)
        if sides.in_middle(bone):
            children = children[[sides.in_middle(child) for child in children.tolist()]]
        way = middles[bone] - heads[bone]
        aim = far
        if len(children):
            towards = heads[children] - heads[bone]
            along = towards @ way / (np.linalg.norm(towards, axis=1) * np.linalg.norm(way) + 1e-9)
            main = (loads[children] if parents[bone] < 0 else (along + 1) * loads[children] ** CARRIED).argmax()
            if np.linalg.norm(towards[main]) > SHORTEST:
                aim = heads[children[main]]
        if sides.in_middle(bone):
            aim = sides.on_plane(aim)
        if np.linalg.norm(aim - heads[bone]) < SHORTEST:
            aim = heads[bone] + [0, 0, 1.5 * SHORTEST]
        tails[bone] = aim
    return tails


def part_of(tags: Sequence[Tag]) -> str:
    """Return which part of a Quake III player has these tags; "" where they are no player's."""
    names = {tag.name.lower() for tag in tags}
    if names >= {"tag_weapon", "tag_head"}:
        return "torso"
    return "legs" if "tag_torso" in names else "head" if "tag_head" in names else ""
