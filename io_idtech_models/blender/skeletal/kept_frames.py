"""Files of frames that an armature keeps as they came, and their rows: an action is made of one when it is asked for.

A character has thousands of frames in a handful of files, and tables that take these apart. Actions of all are many
times as large as the files, and take longer to make than all else. So the armature's data hold the files' bytes, and
beside them, small enough to be read whenever a panel is drawn, what each row says. The first row of a file is all of
it. An action that was made of a row names it (`ROW_OF`); if it is deleted the row is the file's again.

What is damaged is dropped with a warning: a .blend can come from a stranger.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...model import records
from ...model.clips import Clip
from ...reporting import LimitError
from .. import names
from ..compat import Block

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
    said: Any = None  # what else its table says, as plain values; None of the row that is all frames


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
    holder.pop(FRAMES, None)  # bytes written over others would end at their first 0
    holder[ROWS] = json.dumps({"scale": scale, "files": listed})
    holder[FRAMES] = records.pack({str(nth): np.frombuffer(data, np.uint8) for nth, (_, data) in enumerate(files)})


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


def data_of(rig: Block, number: int) -> bytes:
    """Return the bytes of a file that an armature keeps.

    Raises:
        LimitError: they are lost, or damaged.
    """
    try:
        found = rig.data.get(FRAMES)
        arrays = records.unpack(found if isinstance(found, bytes) else b"")
        return records.checked(arrays, str(number), "u", -1).tobytes()
    except records.RecordError as error:
        raise LimitError(f"the frames that '{rig.name}' keeps can't be read: {error}") from error


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


def made_of(actions: Sequence[Any]) -> dict[Key, Any]:
    """Return the action of each row that has one: of several, as Blender's own copies, that which import named."""
    found: dict[Key, Any] = {}
    for action in sorted(actions, key=lambda action: action.name != action.get(names.GIVEN)):
        key = row_of(action)
        if key is not None:
            found.setdefault(key, action)
    return found
