"""Named animations: stretches of a model's frames, and the frame names that say which is which.

Games of the Quake II family name frames after their animation and number them within it: "stand01" to "stand40" is
`stand`, "pain101" to "pain104" is `pain1`. The rules here were found by reading the names of real files; see `group`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

SEPARATORS = "_.- \t"
MOST_DIGITS = 9  # of a number at a name's end; what stands before is part of the name
SHORTEST_MISSPELT = 4  # letters of a name that may be a misspelling of another
NUMBER = re.compile(rf"[0-9]{{1,{MOST_DIGITS}}}\Z")
# MD2 and MD3 have 16 bytes for a frame's name, and games read up to a NUL.
FRAME_NAME_BYTES = 15
DEFAULT_TIME = 0.1  # seconds of a frame


@dataclass(frozen=True)
class Clip:
    """A named run of frames, of a model's, of a file's or of the scene's, and how it plays.

    Tables of animations (`game.aninc`, `game.player.animation_cfg`) keep what their files say; this is what they mean.
    """

    name: str
    first: int
    count: int  # of frames; negative: they play from the last to the first
    frame_rate: float = 0.0  # per second; 0: that of what it is a part of
    loop: int = 0  # how many of the last frames repeat; 0: it stops at the last
    # Of frames that a game plays by itself, as if they were one: when each ends, in seconds; else none.
    times: tuple[float, ...] = ()
    parts: tuple[str, ...] = ()  # which models of a player play it; else none

    @property
    def length(self) -> int:
        """Return how many frames play: of none the first is shown."""
        return max(abs(self.count), 1)

    @property
    def last(self) -> int:
        """Return the last of the frames, whichever plays last."""
        return self.first + self.length - 1

    @property
    def frames(self) -> range:
        """Return their numbers, as they play."""
        played = range(self.first, self.last + 1)
        return played[::-1] if self.count < 0 else played


class _Reading(NamedTuple):
    """A frame's name taken apart: the animation's name, and the digits of the number, if there is one."""

    base: str
    digits: str
    key: str  # the base as it is compared: its case does not count
    apart: bool  # a separator parts them

    @property
    def number(self) -> int:
        """Return the number; -1 without one, which comes before any."""
        return int(self.digits) if self.digits else -1

    @property
    def sure(self) -> bool:
        """Tell whether it shows that a number of three and more digits is one."""
        return len(self.digits) > 2 and (self.apart or self.digits[0] == "0")


@dataclass
class _Run:
    """Frames that belong together under one reading of the first one's name."""

    readings: list[_Reading]
    sure: bool  # three digits can't be two behind a name that ends in a digit

    def takes(self, options: list[_Reading]) -> bool:
        """Add the next frame if one of its readings goes on with the run."""
        last = self.readings[-1]
        known = (last.key, self.readings[0].key)
        found = next((r for r in options if r.key in known and self._goes_on(r)), None)
        if found is None and last.digits:
            following = [r for r in options if r.number == last.number + 1]
            found = next((r for r in following if any(_is_misspelt(r, key) for key in known)), None)
        if found is None:
            return False
        crossed = len(found.digits) > 2 and found.number % 100 == 0 and found.number == last.number + 1
        self.sure = self.sure or crossed or found.sure
        self.readings.append(found)
        return True

    def _goes_on(self, reading: _Reading) -> bool:
        """Tell whether a number follows the last one: the same, the next, or a larger one that is no other name's."""
        last, number = self.readings[-1].number, reading.number
        if number <= last + 1 or len(reading.digits) <= 2:
            return number >= last
        return self.sure or reading.sure


def fitted_times(times: Sequence[float], count: int) -> tuple[float, ...]:
    """Return when so many frames end that are played by themselves: the first of `times`, or more of the last's length.

    Frames of which nothing is known last a tenth of a second, as id's tools have it.
    """
    found = [float(time) for time in times[:count]]
    last = found[-1] - found[-2] if len(found) > 1 else found[0] if found else DEFAULT_TIME
    while len(found) < count:
        found.append((found[-1] if found else 0.0) + (last if last > 0 else DEFAULT_TIME))
    return tuple(found)


def group(frame_names: list[str]) -> list[Clip]:
    """Return the animations that frames' names tell of, in order; every frame belongs to exactly one.

    An animation is a run of frames whose names are equal but for the number at their end, which stays or rises (a fall
    begins another animation, of the same name). Separators before the number and the case of letters don't count.

    - Of three or more digits the last two may be the number, behind a name that ends in a digit ("pain101"), or more
      of them ("stand100"): whichever makes the longer run. Of equal ones two digits win, unless the digits begin with a
      zero ("frame000"). A gap between such numbers ("pain104", "pain201") parts two names, unless a zero in front, a
      separator or a step over a hundred (99, 100) has shown that there are more than two digits.
    - Names without a number come before any number.
    - A misspelling in the middle does not part a run: the number is the next one, the name has at least four letters,
      and one of them is missing, added, another, or swapped with its neighbour. The animation has the spelling of most
      frames.
    """
    readings = [_readings(name) for name in frame_names]
    found, first = [], 0
    while first < len(readings):
        run = _longest(readings, first)
        found.append(Clip(_spelling(run), first, len(run.readings)))
        first += len(run.readings)
    return found


def _readings(name: str) -> list[_Reading]:
    """Return the ways to read a frame's name, the preferred one first: the one that wins if runs are equally long."""
    name = name.rstrip()
    match = NUMBER.search(name)
    digits = match.group() if match else ""
    head = name[: len(name) - len(digits)]
    lengths, apart = [len(digits)], head.endswith(tuple(SEPARATORS))
    if len(digits) > 2 and not apart:
        lengths = [*range(2, len(digits) + 1)]
        if digits.startswith("0"):
            lengths = [len(digits), *lengths[:-1]]
    parts = [(name[: len(name) - n], name[len(name) - n :]) for n in lengths]
    bases = [(head.rstrip(SEPARATORS) or head, number) for head, number in parts]
    return [_Reading(base, number, base.casefold(), apart) for base, number in bases]


def _longest(readings: list[list[_Reading]], first: int) -> _Run:
    """Return the longest run that begins at a frame; others end before it does, so that all in all time is linear."""
    runs = []
    for reading in readings[first]:
        run = _Run([reading], reading.sure)
        end = first + 1
        while end < len(readings) and run.takes(readings[end]):
            end += 1
        runs.append(run)
    return max(runs, key=lambda run: len(run.readings))


def _spelling(run: _Run) -> str:
    """Return the name that most frames of a run have; the first of several."""
    return Counter(reading.base for reading in run.readings).most_common(1)[0][0]


def _is_misspelt(reading: _Reading, b: str) -> bool:
    """Tell whether one edit makes a name of the other: a character more or less, or a letter another, or two swapped.

    Another digit is another name. A missing one is not, as real files have "pain301", "pain302", "pain03"; unless it
    may have gone to the number.
    """
    a = reading.key
    if min(len(a), len(b)) < SHORTEST_MISSPELT or abs(len(a) - len(b)) > 1:
        return False
    start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    a, b = a[start:], b[start:]
    by_digit = a[:1].isdigit() or b[:1].isdigit()
    if a[1:] == b or a == b[1:]:
        return not by_digit or len(reading.digits) <= 2
    replaced, swapped = a[1:] == b[1:], a[1::-1] == b[:2] and a[2:] == b[2:]
    return (replaced or swapped) and not by_digit


def numbered(name: str, count: int, size: int = FRAME_NAME_BYTES) -> list[str]:
    """Return the names of an animation's frames as games expect them: "stand01", "stand02"; at most `size` bytes each.

    Numbers have two digits from 01 on, more where there are more frames: as many as need be ("stand99", "stand100"), or
    all three behind a name that ends in a digit ("pain1001"). A name is cut at a whole character of UTF-8 so that it
    fits with its number.

    `group` gives the animation back, but for a name that was cut, or that ends in a separator. Where a name's own
    digits would be taken for the number's ("door0" + "01") a separator comes between.
    """
    plain, *others = (_numbered(name, count, size, separator) for separator in ("", "_"))
    for base, listed in (plain, *others):
        if group(listed) == [Clip(base, 0, count)]:
            return listed
    return plain[1]


def _numbered(name: str, count: int, size: int, separator: str) -> tuple[str, list[str]]:
    """Return a name, cut to what leaves room for separator and number, and the frames' names made of it."""
    widest = max(len(str(count)), 2)
    encoded = name.encode("utf-8", errors="replace")[: max(size - widest - len(separator), 0)]
    base = encoded.decode("utf-8", errors="ignore")
    width = widest if base[-1:].isdigit() and not separator else 2
    return base, [f"{base}{separator}{i:0{width}d}" for i in range(1, count + 1)]
