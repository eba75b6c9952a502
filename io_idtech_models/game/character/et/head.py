"""Animations of a soldier's head: the file that `hudheadanims` names, numbers alone.

Facts (CG_ParseHudHeadConfig of Enemy Territory and ET: Legacy; real files): a row is `first length fps loop`, the rate
before the loop, as in no other table. Sixteen are read, in the order of `NAMES`; real files have eighteen, and the game
refuses fewer. A rate of 0 plays as 1, and no more frames repeat than there are.
"""

from __future__ import annotations

from ....model.clips import Clip
from ....reporting import FormatError
from ...lexer import WORDS, clean, decode, number

NAMES = (
    *(f"HD_IDLE{nth}" for nth in range(1, 9)), *(f"HD_DAMAGED_IDLE{nth}" for nth in range(1, 4)), "HD_LEFT", "HD_RIGHT",
    "HD_ATTACK", "HD_ATTACK_END", "HD_PAIN",
)  # fmt: skip
NUMBERS = 4  # of a row
MOST_BYTES, LARGEST = 1 << 16, 1 << 20


def read(data: bytes) -> list[Clip]:
    """Return the animations of a head.

    Raises:
        FormatError: there are too few, or a number is out of range.
    """
    if len(data) > MOST_BYTES:
        raise FormatError("it is too long for a head's animations", "", f"{MOST_BYTES} bytes at most", len(data))
    words = [match[0] for match in WORDS.finditer(clean(decode(data)[0])) if match[0] != "\n"]
    found = []
    for nth, name in enumerate(NAMES):
        own = words[NUMBERS * nth : NUMBERS * (nth + 1)]
        if len(own) < NUMBERS:
            raise FormatError("a head's animations end early", f"row {nth + 1}", f"{len(NAMES)} rows", nth)
        first, length, fps, loop = map(number, own)
        if not (0 <= first < LARGEST and 0 <= length < LARGEST and 0 <= fps < LARGEST and abs(loop) < LARGEST):
            raise FormatError(f"a number of {name}", f"row {nth + 1}", f"0 to {LARGEST - 1}", " ".join(own))
        count = max(int(length), 1)
        found.append(Clip(name, int(first), count, fps or 1.0, min(max(int(loop), 0), count)))
    return found
