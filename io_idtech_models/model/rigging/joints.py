"""Where bones meet, which hangs on which, and poses that turn about these joints alone.

Letters in shapes: F frames, P points, B bones, E edges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .fit import (
    PointSkin,
    best_poses,
    best_turns,
    homogeneous,
    moments_of,
    pair_products,
    shared_moments,
    without_others,
)
from .products import product

Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]

# How strongly a joint stays where bones meet, against what one frame says of it, as long as it lies farther than NEAR.
HOLD = 0.002
HOLDS, NEAR = (HOLD, 0.01, 0.05, 0.25), 0.06
AWAY, STRANGERS, FAR = 0.15, 0.3, 0.02  # what it costs that a joint lies away, that bones don't meet, and lie apart
UNLIKE = 0.15  # how much more a joint may cost than its partner's on the same bone
MEETING = 4  # edges that a point counts for that two bones move
# Of the size: a joint that opens wider holds nothing, between pieces, and between bones that share points.
TORN_OFF, TORN_APART = 0.05, 0.2
MOST_FRAMES = 0.8  # of them: in the others a joint may do as it likes


@dataclass(eq=False)
class Joints:
    """All pairs of bones: where they meet at rest, and what a joint of both would cost."""

    meetings: Doubles  # (B, B, 3) where they meet
    met: NDArray[np.bool_]  # (B, B) whether they do: if not, that is half way
    costs: Doubles  # (B, B)

    @property
    def off(self) -> Doubles:
        """Return what joints cost though bones meet, (B, B): how wide they open, and where they are."""
        return np.asarray(self.costs - np.where(self.met, 0, STRANGERS))


def find_joints(skin: PointSkin, edges: Indices) -> Joints:
    """Return the joints of all pairs of bones: the point that both carry alike, held to where they meet."""
    frames, bones = skin.poses.shape[:2]
    meets, touch = _meetings(skin, edges)
    products = pair_products(skin.poses)
    own = products[np.arange(bones), np.arange(bones)]
    apart = own[:, None] + own[None] - products - np.swapaxes(products, 2, 3)  # of the difference of both transforms
    system = apart[..., :3, :3] + HOLD * frames * np.eye(3)
    places = np.linalg.solve(system, (HOLD * frames * meets - apart[..., :3, 3])[..., None])[..., 0]
    points = homogeneous(places)
    gaps = np.sqrt(np.maximum(np.einsum("jka,jkab,jkb->jk", points, apart, points), 0) / frames)
    middles = middles_of(skin)
    away = np.linalg.norm(places - meets, axis=2)
    between = np.linalg.norm(middles[:, None] - middles[None], axis=2)
    costs = gaps + AWAY * away + FAR * between + np.where(touch, 0, STRANGERS)
    return Joints(meets, touch, costs)


def settled_joint(one: Doubles, other: Doubles, meeting: Doubles) -> tuple[Doubles, float]:
    """Return the joint (3,) of two bones' transforms (F, 3, 4), which meet near a place, and how wide it opens.

    Frames in which it opens widest have no say: there something came off, or jumped. A hinge leaves open where along
    its axis the joint is, so that it is held the stronger the farther it would go.
    """
    apart = one - other
    opened = np.linalg.norm((apart @ np.append(meeting, 1.0)[:, None])[..., 0], axis=1)
    kept = apart[opened <= np.quantile(opened, MOST_FRAMES)]
    turns, ways = kept[..., :3].reshape(-1, 3), kept[..., 3].reshape(-1)
    found = meeting
    for hold in HOLDS:
        system = turns.T @ turns + hold * len(kept) * np.eye(3)
        found = np.linalg.solve(system, hold * len(kept) * meeting - turns.T @ ways)
        if np.linalg.norm(found - meeting) < NEAR:
            break
    return found, float(np.sqrt(((turns @ found + ways) ** 2).sum() / len(kept)))


def middles_of(skin: PointSkin) -> Doubles:
    """Return the middle of what hangs on each bone at rest, (B, 3)."""
    middles: Doubles = (skin.weights.T @ skin.rest) / np.maximum(skin.weights.sum(axis=0), 1e-9)[:, None]
    return middles


def _meetings(skin: PointSkin, edges: Indices) -> tuple[Doubles, NDArray[np.bool_]]:
    """Return where each pair of bones meets (B, B, 3), and whether it does: along edges, and at points of both."""
    bones, weights = skin.num_bones, skin.weights
    strongest = weights.argmax(axis=1)
    touch, sums = np.zeros((bones, bones)), np.zeros((bones, bones, 3))
    ends = strongest[edges]
    cross = ends[:, 0] != ends[:, 1]
    middle = skin.rest[edges[cross]].mean(axis=1)
    for one, other in ((0, 1), (1, 0)):
        np.add.at(touch, (ends[cross, one], ends[cross, other]), 1)
        np.add.at(sums, (ends[cross, one], ends[cross, other]), middle)
    flat = (weights[:, :, None] * homogeneous(skin.rest)[:, None, :]).reshape(len(weights), -1)
    both = product(weights.T, flat).reshape(bones, bones, 4) * MEETING * (1 - np.eye(bones))[..., None]
    touch += both[..., 3]
    sums += both[..., :3]
    middles = middles_of(skin)
    met = touch > 0.2
    halfway = (middles[:, None] + middles[None]) / 2
    return np.where(met[..., None], sums / np.maximum(touch, 1e-9)[..., None], halfway), met


def spanning_tree(costs: Doubles) -> list[list[int]]:
    """Return the neighbours of each bone in the cheapest tree of all (Prim 1957)."""
    bones = len(costs)
    neighbours: list[list[int]] = [[] for _ in range(bones)]
    inside = np.zeros(bones, np.bool_)
    inside[0] = True
    best, link = costs[0].copy(), np.zeros(bones, np.int64)
    for _ in range(bones - 1):
        bone = int(np.where(inside, np.inf, best).argmin())
        inside[bone] = True
        neighbours[bone].append(int(link[bone]))
        neighbours[int(link[bone])].append(bone)
        better = costs[bone] < best
        best[better], link[better] = costs[bone][better], bone
    return neighbours


def mirrored_tree(costs: Doubles, partners: Indices, first: int) -> list[list[int]]:
    """Return the neighbours of each bone in the cheapest tree in which partners hang on partners, or in the middle.

    `partners` (B,) is itself of a bone in the middle, and -1 of one that has none. What one of a pair costs is the mean
    of both; but where both would hang on a bone without a partner, and only one of them easily, each finds its place.
    """
    bones = len(costs)
    others = np.where(partners < 0, np.arange(bones), partners)
    neighbours: list[list[int]] = [[] for _ in range(bones)]
    inside = np.zeros(bones, np.bool_)
    best, link = np.full(bones, np.inf), np.zeros(bones, np.int64)

    def join(bone: int, other: int) -> None:
        neighbours[bone].append(other)
        neighbours[other].append(bone)
        take(bone)

    def take(bone: int) -> None:
        inside[bone] = True
        own = (costs[bone] + costs[others[bone], others]) / 2
        own = np.where(others == np.arange(bones), costs[bone], own)
        better = own < best
        best[better], link[better] = own[better], bone

    take(first)
    if others[first] != first:
        join(int(others[first]), first)
    while not inside.all():
        bone = int(np.where(inside, np.inf, best).argmin())
        partner, parent = int(others[bone]), int(link[bone])
        if others[parent] == parent and abs(costs[parent, partner] - costs[parent, bone]) > UNLIKE:
            for each in (bone, partner):
                others[each] = each
                found = np.where(inside, costs[each], np.inf)
                link[each], best[each] = int(found.argmin()), found.min()
            continue
        join(bone, parent)
        if partner != bone:
            join(partner, int(others[parent]))
    return neighbours


def ways_along(joints: Joints, middles: Doubles, first: int) -> Doubles:
    """Return how far the middle of each bone (B, 3) is from that of one along the body, (B,): through joints.

    Of all ways the shortest (Bellman 1958), where a joint that doesn't hold is as long as what it costs.
    """
    inward = np.linalg.norm(joints.meetings - middles[:, None], axis=2)
    steps = inward + inward.T + joints.costs
    ways: Doubles = steps[first].copy()
    ways[first] = 0
    while True:
        found: Doubles = np.minimum(ways, (ways[:, None] + steps).min(axis=0))
        if np.array_equal(found, ways):
            return found
        ways = found


def hung_from(root: int, neighbours: list[list[int]]) -> tuple[Indices, list[int]]:
    """Return the parents (B,) of a tree's bones with this root, and the bones with parents first."""
    parents = np.full(len(neighbours), -1)
    order = [root]
    for bone in order:
        below = [other for other in neighbours[bone] if other != parents[bone]]
        parents[below] = bone
        order += below
    return parents, order


def upward(parents: Indices, bone: int) -> Iterator[int]:
    """Yield a bone and those that it hangs on, up to the root."""
    while bone >= 0:
        yield bone
        bone = int(parents[bone])


def meeting(parents: Indices, one: int, other: int) -> int:
    """Return the first bone that both hang on, or are."""
    above = set(upward(parents, one))
    return next(bone for bone in upward(parents, other) if bone in above)


def loads_of(parents: Indices, order: Sequence[int], own: Doubles) -> Doubles:
    """Return what hangs on each bone with all below it, (B,)."""
    total = own.copy()
    for bone in reversed(order):
        if parents[bone] >= 0:
            total[parents[bone]] += total[bone]
    return total


def turning_poses(skin: PointSkin, places: Doubles, parents: Indices, heads: Doubles, passes: int = 4) -> Doubles:
    """Return transforms that turn about their joints only, but for bones without a parent (-1), which move freely.

    Parents come before their children. Each bone in turn: from its points, and from where its children's joints ought
    to be, these with the mass of all that hangs on them.
    """
    order, free, out = range(skin.num_bones), skin.poses, skin.poses.copy()
    shared = shared_moments(skin.weights, homogeneous(skin.rest))
    moments, mass = moments_of(places, skin.rest, skin.weights), skin.weights.sum(axis=0)
    below = loads_of(parents, order, mass)
    children = [[other for other in order if parents[other] == bone] for bone in range(skin.num_bones)]
    joint = homogeneous(heads)
    for _ in range(passes):
        for bone in order:
            left = without_others(moments, shared, out, bone)
            for child in children[bone]:
                wanted = homogeneous((free[:, child] @ joint[child][:, None])[..., 0])
                left += 0.5 * below[child] * wanted[:, :, None] * joint[child][None, None, :]
            if parents[bone] < 0:
                out[:, bone] = best_poses(left)
                continue
            head = heads[bone]
            at = (out[:, parents[bone]] @ joint[bone][:, None])[..., 0]
            count = left[:, 3, 3][:, None, None]
            about = left[:, :3, :3] - at[:, :, None] * left[:, 3, None, :3] - left[:, :3, 3, None] * head
            about = about + count * at[:, :, None] * head + 1e-3 * max(mass[bone], 1) * free[:, bone, :, :3]
            turns = best_turns(about)
            out[:, bone] = np.concatenate([turns, (at - turns @ head)[..., None]], axis=-1)
        for bone in order:  # a parent that has moved since takes its children along
            if parents[bone] >= 0:
                at = (out[:, parents[bone]] @ joint[bone][:, None])[..., 0]
                out[:, bone, :, 3] = at - out[:, bone, :, :3] @ heads[bone]
    return out
