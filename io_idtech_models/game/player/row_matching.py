"""Which of a character's actions plays which row of a player's table: by names, as people call them, or as was chosen.

An action goes to the rows that its name says best: `Armature|Run` is LEGS_RUN, `RunBack` is LEGS_BACK, `Idle` is both
LEGS_IDLE and TORSO_STAND. A row that no name says gets the nearest that there is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ...reporting import LimitError
from .animation_cfg import FASTEST, LEAST, NAMES

ROWS = NAMES[:LEAST]
# What actions are called that rows are made of; of several phrases the first that there is.
PHRASES = {
    "BOTH_DEATH1": "death 1, death a, death, die 1, die, dying, killed",
    "BOTH_DEATH2": "death 2, death b, die 2, dying 2",
    "BOTH_DEATH3": "death 3, death c, die 3, dying 3",
    "TORSO_GESTURE": "gesture, taunt, wave, waving, salute, greet, cheer",
    "TORSO_ATTACK": "attack 1, attack, shoot, shooting, fire, firing, gunplay",
    "TORSO_ATTACK2": "attack 2, melee, punch, punching, slash, stab, swing",
    "TORSO_DROP": "drop, drop weapon, holster, unequip, sheathe, weapon down",
    "TORSO_RAISE": "raise, raise weapon, draw, draw weapon, equip, unsheathe, weapon up",
    "TORSO_STAND": "stand, idle, standing, idle 1, stand 1, aim, breathing",
    "TORSO_STAND2": "stand 2, idle 2, melee idle, melee stand",
    "LEGS_WALKCR": "walk cr, crouch walk, crouched walk, crouching walk, crawl, crawling, sneak, sneaking, "
    "crouch forward, crouching forward, cr walk, crwalk",
    "LEGS_WALK": "walk, walking, walk forward, march, forward, forwards",
    "LEGS_RUN": "run, running, run forward, jog, jogging, sprint, forward, forwards",
    "LEGS_BACK": "back, run back, run backward, run backwards, walk back, walk backward, walk backwards, "
    "walking backward, walking backwards, running backward, running backwards, backward, backwards, backpedal",
    "LEGS_SWIM": "swim, swimming, swim forward",
    "LEGS_JUMP": "jump, jumping, jump start, jump up, leap, jump forward",
    "LEGS_LAND": "land, landing, jump end, jump land, jump down",
    "LEGS_JUMPB": "jump b, jump back, jump backward, jump backwards",
    "LEGS_LANDB": "land b, land back, land backward, land backwards",
    "LEGS_IDLE": "idle, stand, standing, idle 1, stand 1, breathing",
    "LEGS_IDLECR": "idle cr, crouch idle, crouch, crouching, crouched, squat, duck, cr stand, crstnd",
    "LEGS_TURN": "turn, turning, turn left, turn right",
}
# What a row without an action plays: another row's, backwards (-) or its first frame alone (.).
NEAREST = {
    "BOTH_DEATH1": "BOTH_DEATH2 BOTH_DEATH3 .LEGS_IDLECR .LEGS_IDLE", "BOTH_DEATH2": "BOTH_DEATH1",
    "BOTH_DEATH3": "BOTH_DEATH2 BOTH_DEATH1",
    "TORSO_GESTURE": ".TORSO_STAND", "TORSO_ATTACK": "TORSO_ATTACK2 .TORSO_STAND", "TORSO_ATTACK2": "TORSO_ATTACK",
    "TORSO_DROP": "-TORSO_RAISE .TORSO_STAND", "TORSO_RAISE": "-TORSO_DROP .TORSO_STAND",
    "TORSO_STAND": "TORSO_STAND2 LEGS_IDLE", "TORSO_STAND2": "TORSO_STAND",
    "LEGS_WALKCR": "LEGS_WALK", "LEGS_WALK": "LEGS_RUN LEGS_IDLE", "LEGS_RUN": "LEGS_WALK LEGS_IDLE",
    "LEGS_BACK": "-LEGS_RUN -LEGS_WALK LEGS_IDLE", "LEGS_SWIM": "LEGS_WALK", "LEGS_JUMP": ".LEGS_IDLE",
    "LEGS_LAND": ".LEGS_IDLE", "LEGS_JUMPB": "LEGS_JUMP", "LEGS_LANDB": "LEGS_LAND",
    "LEGS_IDLE": "TORSO_STAND .LEGS_WALK .LEGS_RUN", "LEGS_IDLECR": ".LEGS_WALKCR LEGS_IDLE",
    "LEGS_TURN": "LEGS_IDLE",
}  # fmt: skip
KINDS = frozenset(("both", "legs", "torso"))
IGNORED = frozenset(("armature", "rig", "anim", "animation", "action", "mixamo", "com", "loop", "cycle", "in", "place"))
ALONE = frozenset(("forward", "forwards"))  # phrases that say a row only where nothing else is said
VOCABULARY = IGNORED | frozenset(" ".join(PHRASES.values()).replace(",", "").split())
SHORTEST = 3  # letters of a word that is found in another, as `run` in `runcycle`
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
SUFFIX = re.compile(r"\.\d{3,}\Z")  # which Blender puts behind a name that was taken
CHOICE = re.compile(r"\s*(\w+)\s*=\s*(.*?)\s*(?:@\s*([0-9.]+)\s*)?\Z", re.DOTALL)
MOST_LEFT = 2  # words of an action's name that say nothing of a row


@dataclass(frozen=True)
class Match:
    """What a row plays."""

    row: str
    action: str  # "": the character as it stands in the scene
    backwards: bool = False
    still: bool = False  # only the first frame
    fps: float = 0.0  # 0: as all others
    instead: str = ""  # the row whose action it is, in the words of a message; "" where it is its own

    @property
    def kind(self) -> str:
        """Return BOTH, LEGS or TORSO."""
        return self.row.partition("_")[0]


@dataclass(frozen=True)
class Rows:
    """The rows of a game that are made of actions: what these are called, and what is nearest where there is none."""

    phrases: Mapping[str, str]
    nearest: Mapping[str, str]
    rest: str  # the row of a character that stands

    def named(self, name: str) -> str | None:
        """Return a row by its name, whatever its case; None if there is none of that."""
        return next((row for row in self.phrases if row.lower() == name.lower()), None)


QUAKE3 = Rows(PHRASES, NEAREST, "LEGS_IDLE")


def chosen_rows(text: str, actions: Sequence[str], rows: Rows = QUAKE3) -> dict[str, Match]:
    """Return what rows were chosen to play: "LEGS_RUN=Run, BOTH_DEATH1=Fall @ 20" (frames per second behind).

    Raises:
        LimitError: it says something else, or there is no such row or action.
    """
    found = {}
    for each in re.split(r"[,;\n]", text):
        if not each.strip():
            continue
        match = CHOICE.match(each)
        if match is None:
            example = f"{list(rows.phrases)[-1]}=Run" if rows is not QUAKE3 else "LEGS_RUN=Run"
            raise LimitError(f"'{each.strip()}' does not say which action a row plays, as {example} does")
        row, fps = rows.named(match[1]), _rate(match[3])
        if row is None:
            raise LimitError(f"'{match[1]}' is no row that is made of an action: they are {', '.join(rows.phrases)}")
        action = next((name for name in actions if name.lower() == match[2].lower()), None)
        if action is None:
            raise LimitError(
                f"no action of the character is called '{match[2]}': it has {', '.join(actions) or 'none'}"
            )
        found[row] = Match(row, action, fps=fps)
    return found


def _rate(text: str | None) -> float:
    try:
        fps = 0.0 if text is None else float(text)
    except ValueError:
        fps = -1.0
    if not (fps == 0.0 if text is None else 0.0 < fps <= FASTEST):
        raise LimitError(f"'{text}' is no number of frames per second")
    return fps


def match_rows(actions: Sequence[str], chosen: Mapping[str, Match], rows: Rows = QUAKE3) -> dict[str, Match]:
    """Return what each row plays that is made of an action, in the rows' order: `chosen`, by name, or the nearest."""
    named = _by_name(actions, rows.phrases)
    found = dict(chosen) | {row: Match(row, name) for row, name in named.items() if row not in chosen}
    resting = Match(rows.rest, actions[0] if actions else "", still=True)
    while missing := [row for row in rows.phrases if row not in found]:
        filled = {row: match for row in missing if (match := _nearest(rows.nearest[row], row, found)) is not None}
        # With no row at all to go by the character stands still in its first action.
        found |= filled or {rows.rest: replace(resting, instead="the first action's first frame")}
    return {row: found[row] for row in rows.phrases}


def _nearest(nearest: str, row: str, found: Mapping[str, Match]) -> Match | None:
    for each in nearest.split():
        other = found.get(each.lstrip("-."))
        if other is None:
            continue
        backwards = other.backwards != each.startswith("-")
        still = other.still or each.startswith(".")
        how = " backwards" if each.startswith("-") else "'s first frame" if each.startswith(".") else ""
        return replace(other, row=row, backwards=backwards and not still, still=still, instead=other.row + how)
    return None


def words_of(name: str) -> list[str]:
    """Return the words of an action's name that say something, in small letters."""
    plain = SUFFIX.sub("", name.rpartition("|")[2] or name)
    return [part for word in map(str.lower, WORD.findall(plain)) for part in _parts(word) if part not in IGNORED]


def _parts(word: str) -> tuple[str, ...]:
    """Return the two words that one is made of, if both are known: `run` and `cycle` of `runcycle`."""
    cuts = range(SHORTEST, len(word) - SHORTEST + 1) if word not in VOCABULARY else ()
    found = ((word[:cut], word[cut:]) for cut in cuts)
    return next((pair for pair in found if VOCABULARY.issuperset(pair)), (word,))


def _by_name(actions: Iterable[str], phrases: Mapping[str, str]) -> dict[str, str]:
    """Return the action of each row that one is called after."""
    ranks: dict[str, dict[str, tuple[int, int]]] = {}
    for name in actions:
        fitting = {row: rank for row, text in phrases.items() if (rank := _rank(name, row, text)) is not None}
        best = min((rank[0] for rank in fitting.values()), default=0)
        for row, rank in fitting.items():
            if rank[0] == best:
                ranks.setdefault(row, {})[name] = rank
    return {row: min(found, key=lambda name: (found[name], name)) for row, found in ranks.items()}


def _rank(name: str, row: str, phrases: str) -> tuple[int, int] | None:
    """Return how badly an action's name says a row: words left over, and which of the row's phrases; None if not."""
    words = words_of(name)
    if "_".join(words) == "_".join(words_of(row)):
        return -1, 0
    kinds = KINDS & set(words) if "_" in row else set()
    if kinds and row.partition("_")[0].lower() not in kinds:
        return None
    left = [word for word in words if word not in kinds]
    for place, phrase in enumerate(phrases.split(", ")):
        wanted = phrase.split()
        most = 0 if phrase in ALONE else MOST_LEFT
        if set(wanted) <= set(left) and len(left) - len(wanted) <= most:
            return len(left) - len(wanted), place
    return None
