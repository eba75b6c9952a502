"""Bones that an animator would keep, of parts that move as one: which hangs on which, along limbs, two sides alike.

Letters in shapes: P points, B bones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..vertex import Tag
from .fit import Skin
from .joints import TORN_APART, TORN_OFF, find_joints, hung_from, loads_of, middles_of, settled_joint, spanning_tree
from .names import name_bones, part_of
from .points import MovingPoints
from .products import product
from .settings import RigSettings
from .sides import Sides, find_sides
from .tag_bones import followed, transforms_of

Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]

ROOT_TAGS = ("tag_torso", "tag_head")  # of legs and torso, and of a head: see Quake III's players
SHORTEST = 0.02  # of the size: a bone that would be shorter points along what hangs on it
BELLY = 0.52  # of the height: where a pelvis is
LEAST_ROOT = 0.015  # of all points: what a root carries at least


@dataclass(eq=False)
class Skeleton:
    """Bones with their skin; parents come before their children."""

    skin: Skin
    names: list[str]
    parents: Indices  # (B,)
    heads: Doubles  # (B, 3)
    tails: Doubles  # (B, 3)
    groups: list[str]
    loose: NDArray[np.bool_]  # (B,) it moves as it likes, and hangs on the root for the sake of who moves that


def find_skeleton(skin: Skin, points: MovingPoints, tags: Sequence[Tag], settings: RigSettings) -> Skeleton:
    """Return the skeleton of parts that move as one."""
    calm = replace(skin, poses=skin.poses[points.whole])
    joints = find_joints(calm, points.edges)
    sides = find_sides(skin, settings.symmetric)
    costs = joints.costs
    if settings.symmetric:
        costs = (costs + sides.mirrored_pairs(costs)) / 2
    neighbours = spanning_tree(costs)
    root = _tagged_root(calm, points, tags)
    parents, order = hung_from(_root(neighbours, skin, sides) if root is None else root, neighbours)
    heads = middles_of(skin)
    loose = np.zeros(len(order), np.bool_)
    loose[order[0]] = True
    shares = (skin.weights > 0).astype(np.float64)
    shared = product(shares.T, shares) > 0
    for bone in order[1:]:
        own, parent = calm.poses[:, bone], calm.poses[:, parents[bone]]
        place, gap = settled_joint(parent, own, joints.meetings[parents[bone], bone])
        if gap > (TORN_APART if shared[bone, parents[bone]] else TORN_OFF):
            parents[bone], loose[bone] = order[0], True
        else:
            heads[bone] = place
    place_of = np.argsort(order)  # the order of the tree is one of what has come off it, too
    parents = np.array([place_of[parents[bone]] if bone != order[0] else -1 for bone in order])
    skin = Skin(skin.rest, skin.weights[:, order], skin.poses[:, order])
    heads, sides = heads[order], sides.of(order)
    tails = _tails(skin, parents, heads, loads_of(parents, range(len(order)), skin.weights.sum(axis=0)), sides)
    heads, tails = sides.evened(heads), sides.evened(tails)
    part = part_of(tags)
    names = name_bones(skin, parents, heads, tails, sides, part)
    return Skeleton(skin, names, parents, heads, tails, [part] * len(names), loose[order])


def _tagged_root(calm: Skin, points: MovingPoints, tags: Sequence[Tag]) -> int | None:
    """Return the bone that what a player's part stands on moves with; None where no tag tells of it."""
    for name in ROOT_TAGS:
        for tag in tags:
            if tag.name.lower() == name:
                transforms = transforms_of(tag)[points.whole]
                transforms[:, :3, 3] = (transforms[:, :3, 3] - points.centre) / points.size
                return followed(transforms, calm.poses, 1.0)
    return None


def _root(neighbours: list[list[int]], skin: Skin, sides: Sides) -> int:
    """Return the bone that all hang on: in the middle of the tree, of the body's width and of its height."""
    mass, middles = skin.weights.sum(axis=0), middles_of(skin)
    whole, low = mass.sum(), skin.rest[:, 2].min()
    tall = max(float(np.ptp(skin.rest[:, 2])), 1e-9)

    def oddness(root: int) -> float:
        parents, order = hung_from(root, neighbours)
        loads = loads_of(parents, order, mass)
        branch = max((float(loads[other]) for other in neighbours[root]), default=0.0) / whole
        aside = abs(float(middles[root, 1]) - sides.plane)
        return float(branch + 2 * aside + abs((middles[root, 2] - low) / tall - BELLY))

    large = [bone for bone in range(len(mass)) if mass[bone] >= LEAST_ROOT * whole]
    return min(large, key=oddness, default=int(mass.argmax()))


def _tails(skin: Skin, parents: Indices, heads: Doubles, loads: Doubles, sides: Sides) -> Doubles:
    """Return where bones point to (B, 3): the joint of the child that goes on with them, or their own far end.

    One in the middle points to neither side.
    """
    middles, tails = middles_of(skin), np.empty_like(heads)
    for bone in range(len(heads)):
        own = skin.rest[skin.weights[:, bone] > 0.4]
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
            main = (loads[children] if parents[bone] < 0 else (along + 1) * loads[children] ** 0.3).argmax()
            if np.linalg.norm(towards[main]) > SHORTEST:
                aim = heads[children[main]]
        if sides.in_middle(bone):
            aim = sides.on_plane(aim)
        if np.linalg.norm(aim - heads[bone]) < SHORTEST:
            aim = heads[bone] + [0, 0, 1.5 * SHORTEST]
        tails[bone] = aim
    return tails
