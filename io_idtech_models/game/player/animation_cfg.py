"""Tables of a player's animations: `animation.cfg` of Quake III and its kin.

Facts (CG_ParseAnimationFile, CG_RunLerpFrame and R_AddMD3Surfaces of Quake III, bg_public.h of it and of Tremulous; 38
real files):

- A row is four numbers: first frame, number of frames, how many of the last ones repeat, frames per second. Its place
  says which animation it is: `NAMES`, from BOTH_DEATH1 on. The last six may be missing, and are TORSO_GESTURE then.
- A negative number of frames plays them backwards; 0 frames per second are 1.
- Rows of legs count on behind those of the torso, whose frames they don't share: LEGS_WALKCR begins in `lower.md3`
  where TORSO_GESTURE does in `upper.md3`. BOTH rows are in both. Rows behind the legs' are the torso's, and stay.
- Words before the table are its head: `sex m`, `footsteps boot`, `headoffset x y z`, `fixedlegs`, `fixedtorso`.
- Elite Force, Turtle Arena and Spearmint have rows that begin with the animation's name, in any order; in Elite Force
  -1 of them repeat where none does, and 0 where all do. Tremulous has `nonsegmented` models, of one part and with rows
  of another meaning (`WHOLE_NAMES`); World of Padman has words in the head whose numbers id's own reader takes for
  rows. Return to Castle Wolfenstein's `wolfanim.cfg` has named rows between STARTANIMS and ENDANIMS.

So a file is read line by line: one that begins with a number is of rows, one with BOTH_, TORSO_ or LEGS_ and four
numbers is a named row, any other is of the head. Numbers that are too few for a row go on in the next line, as games
have it.

A file comes back byte for byte; an edit changes its numbers and nothing else. `animation_edits` adds rows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ...model.clips import Clip
from ...reporting import FormatError, LimitError
from ..lexer import REMARK, decode, fold, number

NAMES = (
    "BOTH_DEATH1", "BOTH_DEAD1", "BOTH_DEATH2", "BOTH_DEAD2", "BOTH_DEATH3", "BOTH_DEAD3",
    "TORSO_GESTURE", "TORSO_ATTACK", "TORSO_ATTACK2", "TORSO_DROP", "TORSO_RAISE", "TORSO_STAND", "TORSO_STAND2",
    "LEGS_WALKCR", "LEGS_WALK", "LEGS_RUN", "LEGS_BACK", "LEGS_SWIM", "LEGS_JUMP", "LEGS_LAND", "LEGS_JUMPB",
    "LEGS_LANDB", "LEGS_IDLE", "LEGS_IDLECR", "LEGS_TURN",
    "TORSO_GETFLAG", "TORSO_GUARDBASE", "TORSO_PATROL", "TORSO_FOLLOWME", "TORSO_AFFIRMATIVE", "TORSO_NEGATIVE",
)  # fmt: skip
WHOLE_NAMES = (
    "NSPA_STAND", "NSPA_GESTURE", "NSPA_WALK", "NSPA_RUN", "NSPA_RUNBACK", "NSPA_CHARGE", "NSPA_RUNLEFT",
    "NSPA_WALKLEFT", "NSPA_RUNRIGHT", "NSPA_WALKRIGHT", "NSPA_SWIM", "NSPA_JUMP", "NSPA_LAND", "NSPA_JUMPBACK",
    "NSPA_LANDBACK", "NSPA_TURN", "NSPA_ATTACK1", "NSPA_ATTACK2", "NSPA_ATTACK3", "NSPA_PAIN1", "NSPA_PAIN2",
    "NSPA_DEATH1", "NSPA_DEAD1", "NSPA_DEATH2", "NSPA_DEAD2", "NSPA_DEATH3", "NSPA_DEAD3",
)  # fmt: skip
LOWER, UPPER, WHOLE = "lower", "upper", "nonseg"  # parts, as their models are called
PARTS_OF = {"LEGS": frozenset((LOWER,)), "TORSO": frozenset((UPPER,)), "NSPA": frozenset((WHOLE,))}
LEAST = 25  # rows that Quake III asks for
LARGEST_FILE = 19_998  # bytes (CG_ParseAnimationFile: its buffer has 20,000, and must not be full)
NAMED = ("both_", "torso_", "legs_")
NONSEGMENTED, START, END = "nonsegmented", "startanims", "endanims"
MOST_ROWS = 1024
LIMIT = (1 << 16) - 1  # of a number: what lies beyond is in no model, they have 1,024 frames at most
FASTEST = 1000.0  # frames per second: a frame takes a whole number of milliseconds
WORD = re.compile(r"[^\x00-\x20]+")
NUMERIC = re.compile(r"[-+]?\.?[0-9]")
LINE_END = re.compile(r"\n|\r(?!\r*\n)")  # a lone CR is a blank to games as any other, and ends no comment
LEADING = re.compile(r"[-+]?[0-9]{1,9}")
Span = tuple[int, int]
Word = tuple[str, Span]
Wanted = tuple[int | None, int | None, int | None, float | None]  # numbers of a row; None: as it has it


@dataclass(frozen=True)
class Row:
    """An animation: which frames of the parts that play it, and how. Numbers are as the file has them."""

    name: str  # in capitals, of wolfanim.cfg in small letters; "" of one behind the last that has a name
    first: int
    count: int  # of frames; negative: they are played backwards
    loop: int  # how many of the last frames repeat; 0: it stops at the last; see `repeats`
    fps: float
    line: int = 0  # from 1; 0 of a row that is in no file
    nth: int = -1  # among the rows of its table
    spans: tuple[Span, ...] = ()  # where the four numbers stand in the text
    name_start: int = -1  # where its name stands; -1: its place says what it is
    counts_all: bool = False  # Elite Force's way to count what repeats

    @property
    def parts(self) -> frozenset[str]:
        """Return the parts of a player that play it: `lower`, `upper`, or `nonseg`, by their models' names."""
        return PARTS_OF.get(self.name.partition("_")[0].upper(), frozenset((LOWER, UPPER)))

    @property
    def length(self) -> int:
        """Return how many frames it has, one at least: a negative count plays them backwards."""
        return max(abs(self.count), 1)

    @property
    def frames(self) -> list[int]:
        """Return its frames in the order in which they play; a row of none has its first."""
        found = list(range(self.first, self.first + self.length))
        return found[::-1] if self.count < 0 else found

    @property
    def repeats(self) -> int:
        """Return how many of its last frames repeat, 0 if it stops; more than it has in some files."""
        if self.counts_all:
            return 0 if self.loop < 0 else self.loop or abs(self.count)
        return max(self.loop, 0)

    @property
    def rate(self) -> float:
        """Return the frames per second at which it plays."""
        return min(self.fps, FASTEST) if self.fps > 0 else 1.0

    def outside(self, num_frames: int) -> int:
        """Return how many of its frames a model of so many does not have; of a row of `AnimationTable.of_part`."""
        return self.length - max(min(self.first + self.length, num_frames) - max(self.first, 0), 0)


@dataclass(frozen=True)
class AnimationTable:
    """A file, as it is spelt; edits return another one."""

    text: str
    encoding: str
    rows: tuple[Row, ...]
    head: tuple[tuple[str, ...], ...]  # the words of each line that is no row
    counts_all: bool = False  # Elite Force's way to count what repeats, which edits keep

    def write(self) -> bytes:
        """Return the file."""
        return self.text.encode(self.encoding)

    def keyword(self, name: str) -> tuple[str, ...] | None:
        """Return the words behind one of the head, `("m",)` of `sex`; None if it is not there."""
        return next((words[1:] for words in self.head if fold(words[0]) == fold(name)), None)

    @cached_property
    def is_segmented(self) -> bool:
        """Tell whether it is of a player of several parts."""
        return self.keyword(NONSEGMENTED) is None

    @cached_property
    def is_named(self) -> bool:
        """Tell whether rows begin with their names."""
        return any(row.name_start >= 0 for row in self.rows)

    @cached_property
    def by_name(self) -> dict[str, Row]:
        """The rows by name; of several of a name the first."""
        found: dict[str, Row] = {}
        for row in self.rows:
            if row.name:
                found.setdefault(row.name, row)
        return found

    @cached_property
    def legs_skip(self) -> int:
        """By how much rows of legs begin later here than in the model of the legs."""
        legs, torso = self.by_name.get("LEGS_WALKCR"), self.by_name.get("TORSO_GESTURE")
        return legs.first - torso.first if legs is not None and torso is not None else 0

    def skip(self, row: Row, part: str) -> int:
        """Return by how much a row begins later here than in the model of a part."""
        return self.legs_skip if part == LOWER and row.name.startswith("LEGS_") else 0

    def clip(self, row: Row) -> Clip:
        """Return what a row means: frames of the model of the part that plays it, where it is one part's alone."""
        parts = tuple(sorted(row.parts))
        first = row.first - (self.skip(row, parts[0]) if len(parts) == 1 else 0)
        return Clip(row.name, first, row.count, row.rate, row.repeats, parts=parts)

    @property
    def clips(self) -> list[Clip]:
        """Return the rows that have a name, the first of several of one, as their parts play them."""
        return [self.clip(row) for row in self.by_name.values()]

    def of_part(self, part: str) -> list[Row]:
        """Return the rows with a name that a part (`lower`, `upper`, `nonseg`) plays, in its own model's frames.

        `edited` takes them, too; its `first` is the file's: that here and `skip`.
        """
        rows = (row for row in self.rows if row.name and part in row.parts)
        return [replace(row, first=row.first - self.skip(row, part)) for row in rows]

    def lacking(self) -> str:
        """Return what a game refuses in the table, in a sentence; "" if nothing."""
        if len(self.write()) > LARGEST_FILE:
            return f"it has {len(self.write())} bytes, games take up to {LARGEST_FILE}"
        if self.is_named:
            parts = {part for row in self.rows for part in row.parts}
            missing = [part for part in (LOWER, UPPER) if part not in parts]
            return f"it has no row for {missing[0]}" if missing else ""
        names = NAMES[:LEAST] if self.is_segmented else WHOLE_NAMES
        if len(self.rows) >= len(names):
            return ""
        return f"it has {len(self.rows)} rows, games ask for {len(names)}: the next is {names[len(self.rows)]}"

    def edited(
        self,
        row: Row | str,
        *,
        first: int | None = None,
        count: int | None = None,
        loop: int | None = None,
        fps: float | None = None,
    ) -> AnimationTable:
        """Return the file with other numbers in one of its rows; what is the same already stays as it is spelt.

        `first` is as the file counts, `loop` how many of the last frames repeat (`Row.repeats`).

        Raises:
            LimitError: there is no such row, or a number that no game reads.
        """
        return self.edited_rows([(row, (first, count, loop, fps))])

    def edited_rows(self, edits: Iterable[tuple[Row | str, Wanted]]) -> AnimationTable:
        """Return the file with other numbers in several of its rows, each once; see `edited`, whose order they have."""
        changes = [change for row, wanted in edits for change in _changes(self._own(row), wanted)]
        parts, place = [], 0
        for (start, end), spelt in sorted(changes):
            parts += [self.text[place:start], spelt]
            place = end
        return read_text("".join(parts) + self.text[place:], self.encoding, self.counts_all)

    def _own(self, row: Row | str) -> Row:
        """Return the row of this table that a row of an earlier one, or a name, means."""
        if isinstance(row, str):
            found = self.by_name.get(row)
        else:
            found = self.rows[row.nth] if 0 <= row.nth < len(self.rows) else None
        if found is None or (isinstance(row, Row) and found.name != row.name):
            raise LimitError(f"the table has no row {row if isinstance(row, str) else row.name}")
        return found


def _changes(row: Row, wanted: Wanted) -> Iterator[tuple[Span, str]]:
    """Yield where a row's text changes, and what stands there then."""
    length = row.count if wanted[1] is None else wanted[1]
    has = (row.first, row.count, row.repeats, row.fps)
    for nth, (was, now, span) in enumerate(zip(has, wanted, row.spans, strict=True)):
        if now is not None and now != was:
            yield span, spelt_number(_repeating(int(now), length) if nth == 2 and row.counts_all else now, row.name)


def _repeating(repeats: int, count: int) -> int:
    """Return how Elite Force counts what repeats."""
    if repeats == 0:
        return -1
    return 0 if repeats == abs(count) else repeats


def spelt_number(value: float, name: str) -> str:
    """Return a number as such files have it, with up to six decimals; raises LimitError for what no game reads."""
    if not (math.isfinite(value) and abs(value) <= LIMIT):
        raise LimitError(f"row {name}: {value} is no number that a game reads, they go up to {LIMIT}")
    return f"{value:.6f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def read(data: bytes) -> AnimationTable:
    """Return a file's table.

    Raises:
        FormatError: it has no row.
    """
    found = read_text(*decode(data))
    if not found.rows:
        raise FormatError("no animation in it", expected="rows of four numbers")
    return found


def read_text(text: str, encoding: str = "utf-8", counts_all: bool | None = None) -> AnimationTable:
    """Return a text's table, with any number of rows; `counts_all` as in Elite Force, None: if a named row has -1."""
    reader = _Reader()
    for line, words in _lines(text):
        reader.take(line, words)
        if len(reader.rows) >= MOST_ROWS:
            break
    if counts_all is None:
        counts_all = reader.state is None and any(row.loop < 0 for row in reader.rows if row.name_start >= 0)
    table = AnimationTable(text, encoding, (), tuple(reader.head), counts_all)
    places = iter(NAMES if table.is_segmented else WHOLE_NAMES)
    rows = [
        replace(row, nth=nth, counts_all=counts_all, name=row.name if row.name_start >= 0 else next(places, ""))
        for nth, row in enumerate(reader.rows)
    ]
    return replace(table, rows=tuple(rows))


def _lines(text: str) -> Iterator[tuple[int, list[Word]]]:
    """Yield the words of each line that has some, with the line's number and their places; comments are blanks."""
    plain, start = REMARK.sub(_blanked, text.partition("\0")[0]), 0
    for line, content in enumerate(LINE_END.split(plain), 1):
        words = [(match[0], (start + match.start(), start + match.end())) for match in WORD.finditer(content)]
        if words:
            words[0] = _without_mark(words[0])
            yield line, words
        start += len(content) + 1


def _blanked(match: re.Match[str]) -> str:
    """Return a comment as blanks, but for its line ends; what is quoted stays."""
    found = match[0]
    return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)


def _without_mark(word: Word) -> Word:
    """Return a word without the mark of UTF-8 that some editors begin a file with."""
    text, (start, end) = word
    return (text[1:], (start + 1, end)) if start == 0 and text[:1] == "\ufeff" and end > 1 else word


class _Reader:
    """Lines to rows and words of the head."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.head: list[tuple[str, ...]] = []
        self.state: str | None = None  # of wolfanim.cfg: START or END, whichever was read last
        self._open: list[Word] = []  # numbers of a row that is not whole

    def take(self, line: int, words: list[Word]) -> None:
        """Take a line's words, of which there is one or more."""
        found = [] if self.state == END else _numbers(words, inside=self.state == START)
        if found is None:
            self._open = []
        elif found and found[0] is words[0]:
            self._open += found
            while len(self._open) >= 4:
                self._add(line, self._open[:4])
                self._open = self._open[4:]
            return
        elif found:
            name = " ".join(word for word, _ in words[: words.index(found[0])])
            self._add(line, found, name.lower() if self.state else name.upper(), words[0][1][0])
            return
        self.head.append(tuple(word for word, _ in words))
        if fold(words[0][0]) in (START, END):
            self.state = fold(words[0][0])

    def _add(self, line: int, numbers: Sequence[Word], name: str = "", name_start: int = -1) -> None:
        first, count, loop = (_whole(word) for word, _ in numbers[:3])
        fps = min(max(number(numbers[3][0]), -LIMIT), LIMIT)
        spans = tuple(span for _, span in numbers)
        self.rows.append(Row(name, first, count, loop, fps, line, spans=spans, name_start=name_start))


def _numbers(words: list[Word], *, inside: bool) -> list[Word] | None:
    """Return the numbers of a line of rows, all of one that begins with them, else four; None for one of the head."""
    at = next((nth for nth, (word, _) in enumerate(words) if NUMERIC.match(word)), len(words))
    if at == 0 and not inside:
        end = next((nth for nth, (word, _) in enumerate(words) if not NUMERIC.match(word)), len(words))
        return words[:end]
    named = inside or (at == 1 and fold(words[0][0]).startswith(NAMED))
    numbers = words[at : at + 4] if named and at else []
    return numbers if len(numbers) == 4 and all(NUMERIC.match(word) for word, _ in numbers) else None


def _whole(word: str) -> int:
    """Return the whole number that a word begins with, as C's `atoi`; one that is too large is the largest there is."""
    match = LEADING.match(word)
    return min(max(int(match[0]), -LIMIT), LIMIT) if match is not None else 0
