"""Bones that an animator would keep, of parts that move as one: which hangs on which, along limbs, two sides alike.

Letters in shapes: P points, B bones.

Left and right are bones that are each other's mirror image, and their joints are evened where they nearly are. Names
say what bones are where there is no doubt, and the side they are on; else they are numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..vertex import Tag
from .fit import PointSkin
from .joints import TORN_APART, TORN_OFF, find_joints, hung_from, loads_of, middles_of, settled_joint, spanning_tree
from .points import MovingPoints
from .products import product
from .rig import RigSettings
from .tag_bones import followed, transforms_of

Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]

ROOT_TAGS = ("tag_torso", "tag_head")  # of legs and torso, and of a head: see Quake III's players
SHORTEST = 0.02  # of the size: a bone that would be shorter points along what hangs on it
BELLY = 0.52  # of the height: where a pelvis is
LEAST_ROOT = 0.015  # of all points: what a root carries at least
LEG = ("thigh", "shin", "foot", "toes")
ARM = ("upper_arm", "forearm", "hand", "fingers")
FLOOR, LIMB = 0.12, 0.25  # of the height: how near the floor a leg ends; of the size: how long limbs are at least
UP, TOP = 0.6, 0.2  # how steep a spine is, as a cosine; of the height below the top: where a head ends
SOME = 150  # points that tell where the middle is
TRIED = np.linspace(-0.06, 0.06, 13)  # of the size, about the median: where the middle may be
ALIKE = 0.15  # of the size: how far a bone may be from its partner's mirror image
ASIDE = 0.02  # of the size: nearer the middle a bone has no side
EVEN = 0.03  # of the size: how far joints may be moved to be each other's mirror image
MIRROR = np.array([1.0, -1.0, 1.0])


@dataclass(eq=False)
class Skeleton:
    """Bones with their skin; parents come before their children."""

    skin: PointSkin
    names: list[str]
    parents: Indices  # (B,)
    heads: Doubles  # (B, 3)
    tails: Doubles  # (B, 3)
    groups: list[str]
    loose: NDArray[np.bool_]  # (B,) it moves as it likes, and hangs on the root for the sake of who moves that


def find_skeleton(skin: PointSkin, points: MovingPoints, tags: Sequence[Tag], settings: RigSettings) -> Skeleton:
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
    skin = PointSkin(skin.rest, skin.weights[:, order], skin.poses[:, order])
    heads, sides = heads[order], sides.of(order)
    tails = _tails(skin, parents, heads, loads_of(parents, range(len(order)), skin.weights.sum(axis=0)), sides)
    heads, tails = sides.evened(heads), sides.evened(tails)
    part = part_of(tags)
    names = name_bones(skin, parents, heads, tails, sides, part)
    return Skeleton(skin, names, parents, heads, tails, [part] * len(names), loose[order])


def _tagged_root(calm: PointSkin, points: MovingPoints, tags: Sequence[Tag]) -> int | None:
    """Return the bone that what a player's part stands on moves with; None where no tag tells of it."""
    for name in ROOT_TAGS:
        for tag in tags:
            if tag.name.lower() == name:
                transforms = transforms_of(tag)[points.whole]
                transforms[:, :3, 3] = (transforms[:, :3, 3] - points.centre) / points.size
                return followed(transforms, calm.poses, 1.0)
    return None


def _root(neighbours: list[list[int]], skin: PointSkin, sides: Sides) -> int:
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


def _tails(skin: PointSkin, parents: Indices, heads: Doubles, loads: Doubles, sides: Sides) -> Doubles:
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


def part_of(tags: Sequence[Tag]) -> str:
    """Return which part of a Quake III player has these tags; "" where they are no player's."""
    names = {tag.name.lower() for tag in tags}
    if "tag_weapon" in names:
        return "torso"
    return "legs" if "tag_torso" in names else "head" if "tag_head" in names else ""


def name_bones(skin: PointSkin, parents: Indices, heads: Doubles, tails: Doubles, sides: Sides, part: str) -> list[str]:
    """Return the names of bones of a part of a player, or of a whole model, each once."""
    words = ["bone"] * len(parents)
    words[0] = "pelvis" if part == "legs" else "root"
    children = [np.flatnonzero(parents == bone).tolist() for bone in range(len(parents))]
    low, high = float(skin.rest[:, 2].min()), float(skin.rest[:, 2].max())
    tall = max(high - low, 1e-9)
    limbs = list(_limbs(children, parents, heads, tails, sides))
    legs = [
        chain
        for chain in limbs
        if part == "legs"
        or (not part and heads[chain[0], 2] > low + LIMB * tall > low + FLOOR * tall > tails[chain[-1], 2])
    ]
    for chain in limbs:
        if chain in legs:
            _take(words, chain, LEG)
        elif (legs and not part and heads[chain[0], 2] > low + (1 - 2 * LIMB) * tall) or part == "torso":
            _take(words, chain, ARM)
    if part != "legs":
        _name_spine(words, children, sides, heads, tails, high - TOP * tall)
    return _with_sides(words, heads, sides)


def _limbs(
    children: list[list[int]], parents: Indices, heads: Doubles, tails: Doubles, sides: Sides
) -> Iterator[list[int]]:
    """Yield the chains that begin at one bone with a mirror image of them, and reach far."""
    for bone, partner in enumerate(sides.partners.tolist()):
        if partner not in (-1, bone) and parents[bone] == parents[partner] >= 0:
            chain = _chain(bone, children)
            if len(chain) > 1 and np.linalg.norm(tails[chain[-1]] - heads[bone]) > LIMB:
                yield chain


def _chain(bone: int, children: list[list[int]]) -> list[int]:
    """Return a bone and those that go on with it, as long as there is but one."""
    chain = [bone]
    while len(children[chain[-1]]) == 1:
        chain.append(children[chain[-1]][0])
    return chain


def _take(words: list[str], chain: list[int], called: tuple[str, ...]) -> None:
    """Name a limb's bones, if there are no more of them than names."""
    if len(chain) <= len(called):
        for bone, word in zip(chain, called, strict=False):
            words[bone] = word


def _name_spine(
    words: list[str], children: list[list[int]], sides: Sides, heads: Doubles, tails: Doubles, top: float
) -> None:
    """Name what goes up from the root in the middle: the spine, and the head that it ends with."""
    chain, bone = list[int](), 0
    while True:
        middle = [
            k for k in children[bone] if sides.partners[k] == k and words[k] == "bone" and _rises(heads, tails, k)
        ]
        if len(middle) != 1:
            break
        bone = middle[0]
        chain.append(bone)
    if not chain:
        return
    if tails[chain[-1], 2] > top and not children[chain[-1]]:
        words[chain.pop()] = "head"
    for bone in chain:
        words[bone] = "spine"


def _rises(heads: Doubles, tails: Doubles, bone: int) -> bool:
    way = tails[bone] - heads[bone]
    return bool(way[2] > UP * np.linalg.norm(way))


def _with_sides(words: list[str], heads: Doubles, sides: Sides) -> list[str]:
    """Return names of which each is there once: partners have the same but for their sides."""
    used: Counter[str] = Counter()
    names = [""] * len(words)
    for bone, word in enumerate(words):
        partner = int(sides.partners[bone])
        if names[bone]:
            continue
        pair = partner not in (-1, bone)
        sure = word if not pair or words[partner] == word else "bone"
        used[sure] += 1
        stem = sure if used[sure] == 1 and sure != "bone" else f"{sure}.{used[sure]:02}"
        names[bone] = stem
        if pair:
            left = heads[bone, 1] > heads[partner, 1]  # models look along X, so that Y is their left
            names[bone], names[partner] = f"{stem}.{'L' if left else 'R'}", f"{stem}.{'R' if left else 'L'}"
    return names


@dataclass(eq=False)
class Sides:
    """The plane of symmetry, across Y, and each bone's partner."""

    plane: float
    partners: Indices  # (B,) the bone on the other side; itself in the middle; -1: none
    even: bool  # joints are made each other's mirror image

    @property
    def others(self) -> Indices:
        """Return each bone's partner, (B,): itself where it has none."""
        return np.where(self.partners < 0, np.arange(len(self.partners)), self.partners)

    def mirrored_pairs(self, values: Doubles) -> Doubles:
        """Return the values of all pairs of bones (B, B) as their partners have them."""
        return np.asarray(values[np.ix_(self.others, self.others)])

    def of(self, order: list[int]) -> Sides:
        """Return the same of bones in another order."""
        place = np.argsort(order)
        partners = self.partners[order]
        return Sides(self.plane, np.where(partners < 0, -1, place[partners]), self.even)

    def in_middle(self, bone: int) -> bool:
        """Tell whether a bone is its own mirror image, and is to be."""
        return self.even and bool(self.partners[bone] == bone)

    def on_plane(self, place: Doubles) -> Doubles:
        """Return a place (3,) brought onto the plane."""
        return np.asarray((place + _image(place, self.plane)) / 2)

    def evened(self, places: Doubles) -> Doubles:
        """Return places of bones (B, 3), those of partners each other's mirror image where they nearly were."""
        if not self.even:
            return places
        other = _image(places[self.others], self.plane)
        near = (np.linalg.norm(other - places, axis=1) < EVEN) & (self.partners >= 0)
        return np.where(near[:, None], (places + other) / 2, places)


def find_sides(skin: PointSkin, even: bool) -> Sides:
    """Return the sides of a skin at rest."""
    some = skin.rest[:: max(1, len(skin.rest) // SOME)]
    median = float(np.median(some[:, 1]))
    planes = median + TRIED
    off = [
        float(np.linalg.norm(_image(some, plane)[:, None] - some[None], axis=2).min(axis=1).mean()) for plane in planes
    ]
    plane = float(planes[int(np.argmin(off))])
    middles, mass = middles_of(skin), skin.weights.sum(axis=0)
    distances = np.linalg.norm(_image(middles, plane)[:, None] - middles[None], axis=2)
    sizes = np.abs(np.log(np.maximum(mass[:, None], 1e-9) / np.maximum(mass[None], 1e-9)))
    distances = distances + 0.03 * sizes
    partners = np.full(len(middles), -1)
    for bone in range(len(middles)):
        other = int(distances[bone].argmin())
        if int(distances[other].argmin()) == bone and distances[bone, other] < ALIKE:
            aside = abs(middles[bone, 1] - plane) > ASIDE
            partners[bone] = other if aside or other == bone else -1
    return Sides(plane, partners, even)


def _image(places: Doubles, plane: float) -> Doubles:
    """Return mirror images of places (..., 3) across Y."""
    return np.asarray(places * MIRROR + [0.0, 2 * plane, 0.0])
