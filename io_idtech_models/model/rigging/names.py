"""Names of bones: what they are where there is no doubt, and the side they are on; else a number.

Letters in shapes: B bones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ..vertex import Tag
from .fit import Skin
from .sides import Sides

Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]

LEG = ("thigh", "shin", "foot", "toes")
ARM = ("upper_arm", "forearm", "hand", "fingers")
FLOOR, LIMB = 0.12, 0.25  # of the height: how near the floor a leg ends; of the size: how long limbs are at least
UP, TOP = 0.6, 0.2  # how steep a spine is, as a cosine; of the height below the top: where a head ends


def part_of(tags: Sequence[Tag]) -> str:
    """Return which part of a Quake III player has these tags; "" where they are no player's."""
    names = {tag.name.lower() for tag in tags}
    if "tag_weapon" in names:
        return "torso"
    return "legs" if "tag_torso" in names else "head" if "tag_head" in names else ""


def name_bones(skin: Skin, parents: Indices, heads: Doubles, tails: Doubles, sides: Sides, part: str) -> list[str]:
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
