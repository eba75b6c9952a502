"""Files of frames that an armature keeps as they came, and their rows: an action is made of one when it is asked for.

A character has thousands of frames in a handful of files, and tables that take these apart. Actions of all are many
times as large as the files, and take longer to make than all else. So the armature's data hold the files' bytes, and
beside them, small enough to be read whenever a panel is drawn, what each row says. Where a table takes a file apart its
first row is all of it. Of other games each file is an animation, and its rows, one or more, are the names that this has
there. An action that was made of a row names it (`ROW_OF`); if it is deleted the row is the file's again.

What is damaged is dropped with a warning: a .blend can come from a stranger.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...model import records
from ...model.clips import Clip
from ...reporting import LimitError
from .. import names
from ..compat import Block
from ..properties import write_bytes

log = logging.getLogger(__name__)

ROWS, FRAMES = "idtech_rows", "idtech_frames"  # on an armature's data
ROW_OF = "idtech_row_of"  # on an action: numbers of its file and of its row, with a stroke between
COPY = " copy"  # behind these: it is no such row, but began as a copy of one
MOST = 1 << 24  # frames
Key = tuple[int, int]  # numbers of a file, and of a row of it


@dataclass(frozen=True, eq=False)
class KeptRow:
    """A run of a file's frames with a name."""

    clip: Clip
    # What else its table says, as plain values; None of the row that is all frames of several. Of an animation that is
    # a file a dictionary: what the game says of it.
    said: Any = None

    @property
    def is_file(self) -> bool:
        """Tell whether it is an animation that is all of its file, under a name that the game has for it."""
        return isinstance(self.said, dict)

    @property
    def is_whole(self) -> bool:
        """Tell whether it is all frames of its file."""
        return self.said is None or self.is_file


@dataclass(frozen=True, eq=False)
class KeptFile:
    """A file of frames."""

    place: str  # that it came from
    game_name: str  # its path in the game, as the game names it
    format: str
    rows: tuple[KeptRow, ...]  # the first is all frames

    @property
    def num_frames(self) -> int:
        """Return F."""
        return self.rows[0].clip.length

    @property
    def is_animation(self) -> bool:
        """Tell whether it is one animation, and no table takes it apart."""
        return self.rows[0].is_file


def keep(rig: Block, files: Sequence[tuple[KeptFile, bytes]], scale: float) -> None:
    """Let an armature keep files, with their bytes; `scale` is the size of a unit of theirs."""
    listed = [
        {
            "place": file.place,
            "name": file.game_name,
            "format": file.format,
            "rows": [[*_numbers(row.clip), row.said] for row in file.rows],
        }
        for file, _ in files
    ]
    holder = rig.data
    holder[ROWS] = json.dumps({"scale": scale, "files": listed})
    packed = records.pack({str(nth): np.frombuffer(data, np.uint8) for nth, (_, data) in enumerate(files)})
    write_bytes(holder, FRAMES, packed)


def _numbers(clip: Clip) -> list[Any]:
    return [clip.name, clip.first, clip.count, clip.frame_rate, clip.loop]


def keeps_frames(rig: Block) -> bool:
    """Tell whether an armature keeps files of frames."""
    return isinstance(rig.data.get(ROWS), str)


def kept_files(rig: Block) -> list[KeptFile]:
    """Return the files that an armature keeps; none if it keeps none, or what it knows of them is damaged."""
    return _listed(rig)[0]


def scale_of(rig: Block) -> float:
    """Return the size of a unit of the files that an armature keeps."""
    return _listed(rig)[1]


def _listed(rig: Block) -> tuple[list[KeptFile], float]:
    text = rig.data.get(ROWS)
    if not isinstance(text, str):
        return [], 1.0
    try:
        found = json.loads(text)
        scale = float(found["scale"])
        if not 1e-6 <= scale <= 1e6:
            raise ValueError("scale")
        return [_file(each) for each in found["files"]], scale
    except (ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
        log.warning("the frames that '%s' keeps are ignored: damaged (%s)", rig.name, error)
        return [], 1.0


def _file(found: dict[str, Any]) -> KeptFile:
    rows = tuple(KeptRow(_clip(*numbers), said) for *numbers, said in found["rows"])
    if not rows or rows[0].clip.first != 0:
        raise ValueError("rows")
    return KeptFile(str(found["place"]), str(found["name"]), str(found["format"]), rows)


def _clip(name: Any, first: Any, count: Any, frame_rate: Any, loop: Any) -> Clip:
    clip = Clip(str(name), int(first), int(count), float(frame_rate), int(loop))
    if not (0 <= clip.first < MOST and abs(clip.count) < MOST and 0 <= clip.frame_rate < MOST and clip.loop >= 0):
        raise ValueError(f"row '{clip.name}'")
    return clip


@dataclass(frozen=True, eq=False)
class KeptData:
    """The bytes of the files that an armature keeps, which Blender hands out all at once."""

    name: str  # of the armature
    record: bytes

    @cached_property
    def _arrays(self) -> records.Arrays:
        return records.unpack(self.record)

    def of(self, number: int) -> bytes:
        """Return those of a file; raises LimitError where they are lost, or damaged."""
        try:
            return records.checked(self._arrays, str(number), "u", -1).tobytes()
        except records.RecordError as error:
            raise LimitError(f"the frames that '{self.name}' keeps can't be read: {error}") from error


def kept_data(rig: Block) -> KeptData:
    """Return the bytes of the files that an armature keeps."""
    found = rig.data.get(FRAMES)
    return KeptData(str(rig.name), found if isinstance(found, bytes) else b"")


def row_of(action: Any) -> Key | None:
    """Return which row an action was made of, or None."""
    return None if COPY in str(action.get(ROW_OF, "")) else origin_of(action)


def origin_of(action: Any) -> Key | None:
    """Return which row an action was made of, or is a copy of; None if it is new."""
    found = action.get(ROW_OF)
    parts = found.removesuffix(COPY).split("/") if isinstance(found, str) else []
    return (int(parts[0]), int(parts[1])) if len(parts) == 2 and all(part.isdecimal() for part in parts) else None


def note_row(action: Any, key: Key, is_copy: bool = False) -> None:
    """Note on an action which row it was made of, or that it is a copy of one, and so a new row."""
    action[ROW_OF] = f"{key[0]}/{key[1]}{COPY if is_copy else ''}"


def stands_for(files: Sequence[KeptFile], action: Any) -> Key | None:
    """Return which row an action shows, or None.

    A row of a table may have another name by now. An animation that is a file is asked for by its name: what is called
    otherwise is a new one.
    """
    key = row_of(action)
    if key is None or key[0] >= len(files) or key[1] >= len(files[key[0]].rows):
        return None
    row = files[key[0]].rows[key[1]]
    return None if row.is_file and names.file_name_of(action) != row.clip.name else key


def made_of(files: Sequence[KeptFile], actions: Sequence[Any]) -> dict[Key, Any]:
    """Return the action of each row that has one: of several, as Blender's own copies, that which import named."""
    found: dict[Key, Any] = {}
    for action in sorted(actions, key=names.is_renamed):
        key = stands_for(files, action)
        if key is not None:
            found.setdefault(key, action)
    return found


def unmade_of(files: Sequence[KeptFile], actions: Sequence[Any]) -> dict[Key, KeptRow]:
    """Return the rows that have no action yet, in their order."""
    made = made_of(files, actions)
    every = (((nth, place), row) for nth, file in enumerate(files) for place, row in enumerate(file.rows))
    return {key: row for key, row in every if key not in made}
