"""Which bones of a character move its head, its torso and its legs, by what rigs call them.

Names of Mixamo (`mixamorig:LeftUpLeg`), Rigify (`DEF-upper_arm.L`, whose `spine.004` and up are neck and head), 3ds Max
(`Bip01 R Hand`), Blender's own (`thigh.L`), and what people type: words count, in any case, wherever they stand. A bone
whose name says nothing goes with the bone that it hangs on; those above all others are the legs', as hips are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from ...reporting import LimitError

LEGS, TORSO, HEAD = "lower", "upper", "head"  # the parts, by their files' names
PARTS = (LEGS, TORSO, HEAD)
WORDS = {
    HEAD: (
        "head skull neck jaw face eye eyes eyelid eyebrow brow ear ears nose mouth lip lips tongue teeth chin cheek "
        "forehead hair beard hat helmet"
    ),
    TORSO: (
        "spine chest torso waist abdomen belly stomach rib ribs ribcage breast back shoulder clavicle collar "
        "arm upperarm lowerarm uparm forearm elbow hand wrist palm finger fingers thumb index middle ring pinky little "
        "weapon gun sword cape wing body trunk"
    ),
    LEGS: (
        "hip hips pelvis leg upperleg lowerleg upleg thigh knee shin calf ankle foot feet heel toe toes tail skirt root"
    ),
}
SUREST = {TORSO: ("spine", "waist", "abdomen", "torso", "chest"), HEAD: ("neck", "head")}
REGIONS = {word: region for region, words in WORDS.items() for word in words.split()}
RIGHT, LEFT = frozenset(("r", "right")), frozenset(("l", "left"))
HANDS = ("weapon", "gun", "hand", "wrist", "palm")  # what holds, the surest first
ARMS = ("forearm", "lowerarm", "arm")  # whose end holds where there is no hand
CONTROLS = frozenset(("ik", "fk", "target", "pole", "ctrl", "mch"))
NUMBERED_SPINE = re.compile(r"(.*?)spine(?:\.(\d{3}))?\Z", re.IGNORECASE)
NECK_OF_RIGIFY, HEAD_OF_RIGIFY = 4, 6  # spine.004 and spine.005 are the neck, spine.006 is the head
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
LEAST_INSIDE = 4  # letters of a word that is found inside of another


@dataclass(frozen=True)
class Bones:
    """The bones of a character: each with the one that it hangs on, "" if on none, and those that move vertices."""

    parents: Mapping[str, str]
    moving: frozenset[str] = frozenset()  # none: nobody knows, it may be all

    def above(self, name: str) -> list[str]:
        """Return a bone and those that it hangs on, the nearest first."""
        found = [name]
        while (name := self.parents.get(name, "")) and name not in found:
            found.append(name)
        return found

    @property
    def carriers(self) -> set[str]:
        """Return the bones that all those hang on, or are, which move vertices: but for what hangs on other tops."""
        chains = [self.above(name) for name in sorted(self.moving or self.parents)]
        tops = Counter(chain[-1] for chain in chains)
        return set.intersection(*(set(chain) for chain in chains if chain[-1] == max(tops, key=tops.__getitem__)))

    def named(self, wanted: str) -> str:
        """Return the bone of a name as it is spelt; raises LimitError if there is none."""
        found = next((name for name in self.parents if name.lower() == wanted.strip().lower()), "")
        if not found:
            raise LimitError(f"there is no bone '{wanted}'")
        return found


@dataclass(frozen=True)
class Parts:
    """Which part each bone moves, and the bones that carry the tags."""

    regions: Mapping[str, str]
    torso: str
    head: str
    hand: str  # "" if there is none


def words_of(name: str) -> list[str]:
    """Return the words of a bone's name, in small letters."""
    return [word.lower() for word in WORD.findall(name.rpartition(":")[2])]


def region_of(name: str) -> str:
    """Return the part that a bone's name alone speaks of; "" if of none."""
    words = words_of(name)
    found = [REGIONS[word] for word in words if word in REGIONS]
    if found:
        return LEGS if LEGS in found and TORSO in found and "leg" in words else found[-1]
    inside = [
        (len(known), known) for word in words for known in REGIONS if len(known) >= LEAST_INSIDE and known in word
    ]
    return REGIONS[max(inside)[1]] if inside else ""


def propose(bones: Bones, torso: str = "", head: str = "", hand: str = "") -> Parts:
    """Return which part each bone moves; `torso`, `head` and `hand` are the bones that were chosen, "" by their names.

    A chosen head takes all that hangs on it; a chosen torso all but legs, and what does not hang on it is the legs'.

    Raises:
        LimitError: there is no such bone, or no bone has a name that says torso or head.
    """
    own = _by_names(bones)
    by_name = {name: next((own[each] for each in bones.above(name) if own[each]), LEGS) for name in bones.parents}
    torso_bone, head_bone = _first(bones, by_name, TORSO), _first(bones, by_name, HEAD)
    chosen_torso, chosen_head = (bones.named(name) if name else "" for name in (torso, head))
    regions = dict(by_name)
    if chosen_torso not in ("", torso_bone):
        regions = {name: _with_torso(bones, own, name, region, chosen_torso) for name, region in regions.items()}
    if chosen_head not in ("", head_bone):
        regions = {
            name: HEAD if chosen_head in bones.above(name) else TORSO if region == HEAD else region
            for name, region in regions.items()
        }
    found = {TORSO: chosen_torso or torso_bone, HEAD: chosen_head or head_bone}
    for region, words in (("torso", "'spine', 'waist' or 'chest'"), ("head", "'neck' or 'head'")):
        if not found[TORSO if region == "torso" else HEAD]:
            text = f"no bone's name says {region}, as {words} do: choose the bone that the {region} begins with"
            raise LimitError(text)
    return Parts(regions, found[TORSO], found[HEAD], bones.named(hand) if hand else _hand(bones))


def _with_torso(bones: Bones, own: Mapping[str, str], name: str, region: str, torso: str) -> str:
    """Return the part of a bone where another bone than its name says was chosen for the torso."""
    above = bones.above(name)
    if torso not in above:
        return LEGS if region == TORSO else region
    below = above[: above.index(torso)]
    return TORSO if region == LEGS and not any(own[each] == LEGS for each in below) else region


def _by_names(bones: Bones) -> dict[str, str]:
    """Return what the bones' names say, as Rigify means its spine: it begins with the hips and ends with the head."""
    found = {name: region_of(name) for name in bones.parents}
    spines = {name: match for name in found if (match := NUMBERED_SPINE.match(name))}
    whole = {match[1] for match in spines.values() if match[2] and int(match[2]) == HEAD_OF_RIGIFY}
    for name, match in spines.items():
        if match[1] in whole:
            number = int(match[2] or 0)
            found[name] = LEGS if number == 0 else HEAD if number >= NECK_OF_RIGIFY else TORSO
    return found


def _first(bones: Bones, regions: Mapping[str, str], region: str) -> str:
    """Return the bone that a part begins with, of several the one with the surest name; "" if there is none."""
    every = {name: region for name, region in regions.items() if name in bones.moving} or regions
    wanted = SUREST[region]

    def begins(name: str) -> bool:
        before = next((each for each in bones.above(name)[1:] if each in every), "")
        return every[name] == region and every.get(before) != region

    starts = [name for name in every if begins(name)] or [name for name in regions if regions[name] == region]
    carried = {start: sum(start in bones.above(name) for name in bones.parents) for start in starts}

    def rank(name: str) -> tuple[int, int, str]:
        words = words_of(name)
        sure = next((place for place, word in enumerate(wanted) if word in words), len(wanted))
        return sure, -carried[name], name

    return min(starts, key=rank, default="")


def side_of(name: str) -> int:
    """Return 1 for a bone on the left, -1 for one on the right, 0 for any other."""
    words = set(words_of(name))
    return bool(words & LEFT) - bool(words & RIGHT)


def is_hand(name: str) -> bool:
    """Tell whether a bone's name says that it holds something."""
    return not set(HANDS).isdisjoint(words_of(name))


def _hand(bones: Bones) -> str:
    """Return the bone of the right hand, or of a weapon; else of that arm's end; "" if there is none."""
    for word in (*HANDS, *ARMS):
        every = [name for name in bones.parents if word in words_of(name)]
        found = [name for name in every if side_of(name) < 0] or (every if word in HANDS[:2] else [])
        found = [name for name in found if CONTROLS.isdisjoint(words_of(name))]
        if found:
            return min(found, key=lambda n: ("upper" in words_of(n), n not in bones.moving, len(words_of(n)), n))
    return ""
