"""Names of bones: what they are where there is no doubt, and the side they are on; else they are numbers.

A limb's bones are called by where its joints are along it, against the proportions of a body: arms and legs of people,
near enough for beasts. Letters in shapes: B bones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from .sides import Sides

Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]

# Words for a limb's bones, and where along it these begin: a person's, measured from joint to joint.
Limb = tuple[tuple[str, float], ...]
Pair = tuple[list[int], list[int]]  # the bones of limbs on both sides
LEG: Limb = (("thigh", 0.0), ("shin", 0.41), ("foot", 0.8), ("toes", 0.94))
ARMS: list[Limb] = [
    (("upper_arm", 0.0), ("forearm", 0.42), ("hand", 0.78), ("fingers", 0.9)),
    (("shoulder", 0.0), ("upper_arm", 0.18), ("forearm", 0.5), ("hand", 0.8), ("fingers", 0.92)),
]
WHOLE = {"thigh": "leg", "upper_arm": "arm"}  # what a limb of one bone is called, by the word that it would begin with
# What it costs that two bones of a limb have one word, or none has a word, as ways of joints along the limb do.
AGAIN, SKIPPED = 0.3, 0.2
SCRAP = 0.06  # of what a bone carries: less does not go on with it
MOST = 8  # bones of a limb: of more nobody knows what they are
FLOOR = 0.12  # of the height: how near the floor a leg ends
LIMB = 0.25  # of the size: how long limbs are at least, from joint to joint
UP, TOP = 0.6, 0.2  # how steep a spine is, as a cosine; of the height below the top: where a head ends
UNKNOWN = "bone"


@dataclass(frozen=True, eq=False)
class Bones:
    """Bones at rest; parents come before their children."""

    parents: Indices  # (B,)
    heads: Doubles  # (B, 3)
    tails: Doubles  # (B, 3)
    loads: Doubles  # (B,) how much hangs on each, with all below it
    asides: Doubles  # (B,) how far to the left that is, in the mean
    loose: NDArray[np.bool_]  # (B,) it has come off what it hangs on
    sides: Sides
    cloth: bool  # all of it is as flat as a flag: nothing of it is a limb
    low: float  # where the body ends below
    high: float  # and above

    def children(self, bone: int) -> list[int]:
        """Return the bones that hang on one."""
        found: list[int] = np.flatnonzero(self.parents == bone).tolist()
        return found

    def depth(self, bone: int) -> int:
        """Return how many bones there are one behind another, from one on."""
        return 1 + max(map(self.depth, self.children(bone)), default=0)

    def chain(self, bone: int) -> list[int]:
        """Return a bone and those that go on with it: of several one that holds, and has most behind it."""
        chain = [bone]
        while True:
            fit = [
                (not self.loose[other], self.depth(other), float(self.loads[other]), other)
                for other in self.children(chain[-1])
                if self.loads[other] > SCRAP * self.loads[chain[-1]]
            ]
            if not fit:
                return chain
            chain.append(max(fit)[-1])

    def ways(self, chain: list[int]) -> Doubles:
        """Return how far along a chain its bones begin, and where the last one ends, (n + 1,)."""
        joints = np.concatenate([self.heads[chain], self.tails[chain[-1:]]])
        return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(joints, axis=0), axis=1))])

    @property
    def tall(self) -> float:
        """Return how tall the body is."""
        return max(self.high - self.low, 1e-9)


def name_bones(bones: Bones, part: str) -> list[str]:
    """Return the names of bones of a part of a Quake III player, or of a whole model (""), each once.

    There are one pair of legs, of beasts the hind ones, and one of arms, which are most like arms: wings are none.
    """
    words = [UNKNOWN] * len(bones.parents)
    limbs = [] if bones.cloth and not part else list(_limbs(bones))
    stand = [pair for pair in limbs if part != "torso" and _stands(bones, pair)]
    legs = min(stand, key=lambda pair: float(bones.sides.plane.forward(bones.heads[pair[0][0]])), default=None)
    if part == "legs" and legs is None:
        legs = _most_like(limbs, bones, [LEG])
    words[0] = "pelvis" if part == "legs" or (legs and bones.parents[legs[0][0]] == 0) else "root"
    if legs:
        _take(words, legs, bones, [LEG])
    if part == "torso" or (legs and not part):
        high = bones.low + (1 - 2 * LIMB) * bones.tall
        others = [pair for pair in limbs if part or (pair not in stand and bones.heads[pair[0][0], 2] > high)]
        arms = _most_like(others, bones, ARMS)
        if arms:
            _take(words, arms, bones, ARMS)
        _name_spine(words, bones, "neck" if part else "head")
    return _with_sides(words, bones)


def _limbs(bones: Bones) -> Iterator[Pair]:
    """Yield the chains on both sides that begin at one bone and reach far, each other's mirror images."""
    for bone, partner in enumerate(bones.sides.partners.tolist()):
        if partner > bone and bones.parents[bone] == bones.parents[partner]:
            pair = _chains(bones, *sorted((bone, partner), key=bones.depth))
            lengths = sorted(map(len, pair))
            if lengths[1] <= MOST and max(bones.ways(chain)[-1] for chain in pair) > LIMB:
                yield pair


def _chains(bones: Bones, one: int, other: int) -> Pair:
    """Return the bones of limbs that begin with partners, and go on with partners as long as the deeper one does."""
    whole, along = bones.chain(other), [one]
    for bone in whole[1:]:
        partner = int(bones.sides.partners[bone])
        if not bones.sides.paired(bone) or bones.parents[partner] != along[-1]:
            break
        along.append(partner)
    return whole, along[:-1] + bones.chain(along[-1])


def _stands(bones: Bones, pair: Pair) -> bool:
    """Tell whether limbs begin high, and one ends near the floor; neither has one bone where the other has more."""
    fewest, most = sorted(map(len, pair))
    begins = min(bones.heads[chain[0], 2] for chain in pair)
    ends = min(bones.tails[chain[-1], 2] for chain in pair)
    whole = most == 1 or fewest > 1
    return bool(whole and begins > bones.low + LIMB * bones.tall and ends < bones.low + FLOOR * bones.tall)


def _most_like(pairs: list[Pair], bones: Bones, limbs: list[Limb]) -> Pair | None:
    """Return the pair that is most like one of several limbs."""
    return min(pairs, key=lambda pair: _fits(pair, bones, limbs)[0][0], default=None)


def _take(words: list[str], pair: Pair, bones: Bones, limbs: list[Limb]) -> None:
    """Name the bones of limbs by what they are most like; partners as the side that is more like it has them."""
    fits = _fits(pair, bones, limbs)
    for _, found, chain in reversed(fits):
        for bone, word in zip(chain, found, strict=True):
            words[bone] = word
            partner = int(bones.sides.partners[bone])
            if chain is fits[0][2] and partner in fits[1][2]:
                words[partner] = word


def _fits(pair: Pair, bones: Bones, limbs: list[Limb]) -> list[tuple[float, list[str], list[int]]]:
    """Return how unlike both are to one of several limbs, the words for their bones, and these: the more like first."""
    return sorted((*_fitted(bones.ways(chain), limbs), chain) for chain in pair)


def _fitted(ways: Doubles, limbs: list[Limb]) -> tuple[float, list[str]]:
    """Return how unlike a limb is to one of several that it is most like, and the words for its bones."""
    begins = ways[:-1] / ways[-1]
    if len(begins) == 1:
        return 1.0, [WHOLE[limbs[0][0][0]]]
    return min(
        (_unlike(begins, limb, taken), [limb[word][0] for word in taken])
        for limb in limbs
        for taken in combinations_with_replacement(range(len(limb)), len(begins))
        if taken[0] == 0
    )


def _unlike(begins: Doubles, limb: Limb, taken: tuple[int, ...]) -> float:
    """Return how far bones that begin at such parts of a limb are from where those begin whose words they take."""
    off, before = 0.0, -1
    for begin, word in zip(begins.tolist(), taken, strict=True):
        off += AGAIN if word == before else abs(begin - limb[word][1]) + SKIPPED * (word - before - 1)
        before = word
    return off


def _name_spine(words: list[str], bones: Bones, end: str) -> None:
    """Name what goes up from the root in the middle: the spine, and what it ends with at the top."""
    chain, bone = list[int](), 0
    while True:
        middle = [
            other
            for other in bones.children(bone)
            if bones.sides.partners[other] == other and words[other] == UNKNOWN and _rises(bones, other)
        ]
        if not middle:
            break
        bone = max(middle, key=lambda other: float(bones.loads[other]))
        chain.append(bone)
    if not chain:
        return
    holds = any(not bones.loose[other] for other in bones.children(chain[-1]))
    if bones.tails[chain[-1], 2] > bones.high - TOP * bones.tall and not holds:
        words[chain.pop()] = end
    for bone in chain:
        words[bone] = "spine"


def _rises(bones: Bones, bone: int) -> bool:
    way = bones.tails[bone] - bones.heads[bone]
    return bool(way[2] > UP * np.linalg.norm(way))


def _with_sides(words: list[str], bones: Bones) -> list[str]:
    """Return names of which each is there once: partners have the same but for their sides."""
    sides = _sides(bones)
    used: Counter[tuple[str, str]] = Counter()
    names = [""] * len(words)
    for bone, word in enumerate(words):
        if names[bone]:
            continue
        alike = [bone]
        partner = int(bones.sides.partners[bone])
        if bones.sides.paired(bone) and words[partner] == word and {sides[bone], sides[partner]} == {"L", "R"}:
            alike.append(partner)
        counted = {other: (word, "" if word == UNKNOWN else sides[other]) for other in alike}
        number = max(used[key] for key in counted.values()) + 1
        for other, key in counted.items():
            used[key] = number
            stem = word if number == 1 and word != UNKNOWN else f"{word}.{number:02}"
            names[other] = f"{stem}.{sides[other]}" if sides[other] else stem
    return names


def _sides(bones: Bones) -> list[str]:
    """Return the side that each bone is on, "L", "R" or "": that of the limb that it is of, for hands may cross."""
    found = _inherited(bones, set())
    partners = bones.sides.partners.tolist()
    pairs = {bone for bone in range(len(partners)) if bones.sides.paired(bone)}
    return _inherited(bones, {bone for bone in pairs if found[bone] == found[partners[bone]]})


def _inherited(bones: Bones, alone: set[int]) -> list[str]:
    """Return the sides of bones as those have them that they hang on, but for some which are told by where they lie."""
    found: list[str] = []
    for bone, parent in enumerate(bones.parents.tolist()):
        if parent >= 0 and found[parent] and bone not in alone:
            found.append(found[parent])
        elif bones.sides.paired(bone):
            found.append("L" if bones.asides[bone] > bones.asides[bones.sides.partners[bone]] else "R")
        else:
            found.append("")
    return found
