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
LEG: Limb = (("thigh", 0.0), ("shin", 0.41), ("foot", 0.8), ("toes", 0.94))
ARM: Limb = (("upper_arm", 0.0), ("forearm", 0.42), ("hand", 0.78), ("fingers", 0.9))
ARM_OF_TORSO: Limb = (("shoulder", 0.0), ("upper_arm", 0.18), ("forearm", 0.5), ("hand", 0.8), ("fingers", 0.92))
AGAIN = 0.25  # what it costs that two bones of a limb have one word, as ways of its joints along it do
MOST = 8  # bones of a limb that is named
FLOOR, LIMB = 0.12, 0.25  # of the height: how near the floor a leg ends; of the size: how long limbs are at least
UP, TOP = 0.6, 0.2  # how steep a spine is, as a cosine; of the height below the top: where a head ends
UNKNOWN = "bone"


@dataclass(frozen=True, eq=False)
class Bones:
    """Bones at rest; parents come before their children."""

    parents: Indices  # (B,)
    heads: Doubles  # (B, 3)
    tails: Doubles  # (B, 3)
    loads: Doubles  # (B,) how much hangs on each, with all below it
    sides: Sides
    low: float  # where the body ends below
    high: float  # and above

    def children(self, bone: int) -> list[int]:
        """Return the bones that hang on one."""
        return np.flatnonzero(self.parents == bone).tolist()

    def chain(self, bone: int) -> list[int]:
        """Return a bone and those that go on with it: where several do, the one that carries most."""
        chain = [bone]
        while below := self.children(chain[-1]):
            chain.append(max(below, key=lambda other: float(self.loads[other])))
        return chain

    @property
    def tall(self) -> float:
        """Return how tall the body is."""
        return max(self.high - self.low, 1e-9)


def name_bones(bones: Bones, part: str) -> list[str]:
    """Return the names of bones of a part of a Quake III player, or of a whole model (""), each once."""
    words = [UNKNOWN] * len(bones.parents)
    limbs = list(_limbs(bones))
    legs = [
        chain
        for chain in limbs
        if part == "legs"
        or (not part and bones.heads[chain[0], 2] > bones.low + LIMB * bones.tall and _stands(bones, chain))
    ]
    arms_from = bones.low + (1 - 2 * LIMB) * bones.tall
    for chain in limbs:
        if chain in legs:
            _take(words, chain, bones, [LEG])
        elif part == "torso" or (legs and not part and bones.heads[chain[0], 2] > arms_from):
            _take(words, chain, bones, [ARM, ARM_OF_TORSO])
    words[0] = "pelvis" if part == "legs" or any(bones.parents[chain[0]] == 0 for chain in legs) else "root"
    if part != "legs":
        _name_spine(words, bones)
    return _with_sides(words, bones)


def _limbs(bones: Bones) -> Iterator[list[int]]:
    """Yield the chains that begin at one bone with a mirror image of them, and reach far."""
    parents, partners = bones.parents, bones.sides.partners
    for bone in range(len(parents)):
        if bones.sides.paired(bone) and parents[bone] == parents[partners[bone]] >= 0:
            chain = bones.chain(bone)
            if len(chain) > 1 and np.linalg.norm(bones.tails[chain[-1]] - bones.heads[bone]) > LIMB:
                yield chain


def _stands(bones: Bones, chain: list[int]) -> bool:
    """Tell whether a limb ends near the floor."""
    return bool(bones.tails[chain[-1], 2] < bones.low + FLOOR * bones.tall)


def _take(words: list[str], chain: list[int], bones: Bones, limbs: list[Limb]) -> None:
    """Name a limb's bones by the kind of limb, and by where in it they begin, that is nearest."""
    if len(chain) > MOST:
        return
    joints = np.concatenate([bones.heads[chain], bones.tails[chain[-1:]]])
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(joints, axis=0), axis=1))])
    begins = way[:-1] / max(float(way[-1]), 1e-9)
    found = min(
        (
            (_unlike(begins, limb, taken), [limb[word][0] for word in taken])
            for limb in limbs
            for taken in combinations_with_replacement(range(len(limb)), len(chain))
            if taken[0] == 0
        ),
        key=lambda each: each[0],
    )
    for bone, word in zip(chain, found[1], strict=True):
        words[bone] = word


def _unlike(begins: Doubles, limb: Limb, taken: tuple[int, ...]) -> float:
    """Return how far bones that begin at such parts of a limb are from where those begin whose words they take."""
    off = 0.0
    for nth, (begin, word) in enumerate(zip(begins.tolist(), taken, strict=True)):
        off += AGAIN if nth and taken[nth - 1] == word else abs(begin - limb[word][1])
    return off


def _name_spine(words: list[str], bones: Bones) -> None:
    """Name what goes up from the root in the middle: the spine, and the head that it ends with."""
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
    if bones.tails[chain[-1], 2] > bones.high - TOP * bones.tall and not bones.children(chain[-1]):
        words[chain.pop()] = "head"
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
    found: list[str] = []
    for bone, parent in enumerate(bones.parents.tolist()):
        if parent >= 0 and found[parent]:
            found.append(found[parent])
        elif bones.sides.paired(bone):  # models look along X, so that Y is their left
            left = bones.heads[bone, 1] > bones.heads[bones.sides.partners[bone], 1]
            found.append("L" if left else "R")
        else:
            found.append("")
    return found
