"""md5scale: how large joints are in the frames of the .md5anim beside it (Quake II remaster).

JSON (Q2PRO, `MD5_LoadScales`, `MD5_BuildFrameSkeleton`, `calc_skel_vert`):

    {
        "joint": { "scale_positions": true, "0": 1.5, "7": 0 },
        ...
    }

- A frame's number gives the joint's scale in it; in all others it is 1.
- The scale is the joint's own: what hangs on it does not grow. `scale_positions` scales its way from its parent, too.
- Of joints that share a name the first is meant. Q2PRO refuses files of more than 4096 tokens: each joint has two, and
  two more for each entry.
"""

from __future__ import annotations

import json
import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.arrays import LARGEST
from ...model.skeletal import Scales
from ...reporting import FormatError
from ..common.text import decode_text

log = logging.getLogger(__name__)

SUFFIX = ".md5scale"
POSITIONS = "scale_positions"
MOST_TOKENS = 4096
MOST_DIGITS = 9  # of a frame's number


def read(data: bytes, names: list[str], num_frames: int) -> Scales:
    """Read a file for an animation's joints (J names) and frames; a warning names what these lack, which is left out.

    Raises:
        FormatError: the file is no JSON, or does not say what it should.
    """
    try:
        tree = json.loads(decode_text(data.removeprefix(b"\xef\xbb\xbf")), parse_int=float)
    except json.JSONDecodeError as error:
        raise FormatError("no JSON", f"line {error.lineno}", found=error.msg) from error
    except (RecursionError, ValueError) as error:
        raise FormatError("unreadable JSON", found=str(error)[:80]) from error
    place = {name: joint for joint, name in reversed(list(enumerate(names)))}
    scales = Scales(np.ones((num_frames, len(names))), np.zeros(len(names), np.bool_))
    if not isinstance(tree, dict):
        raise FormatError("the file", expected="an object with joints", found=_shown(tree))
    strange = [name for name in tree if name not in place]
    if strange:
        log.warning("scale of joints that the animation does not have: %s", ", ".join(strange[:5]))
    for name, entries in tree.items():
        if not isinstance(entries, dict):
            raise FormatError(f"scale of joint '{name[:40]}'", expected="an object", found=_shown(entries))
        for key, value in entries.items():
            _take(scales, name, place.get(name, -1), key, value)
    return scales


def _take(scales: Scales, name: str, joint: int, key: str, value: Any) -> None:
    """Bring one entry of a joint into the arrays."""
    where = f"scale of joint '{name[:40]}'"
    if key == POSITIONS:
        if not isinstance(value, bool):
            raise FormatError(f"{where}, {POSITIONS}", expected="true or false", found=_shown(value))
        if joint >= 0:
            scales.ways[joint] = value
        return
    if not (key.isascii() and key.isdigit() and len(key) <= MOST_DIGITS):
        raise FormatError(where, expected="a frame's number", found=repr(key[:40]))
    if not isinstance(value, float) or not abs(value) <= LARGEST:
        raise FormatError(f"{where} in frame {int(key)}", expected="a finite number", found=_shown(value))
    if int(key) >= len(scales.values):
        log.warning("%s in frame %d, which the animation does not have", where, int(key))
    elif joint >= 0:
        scales.values[int(key), joint] = value


def _shown(value: Any) -> str:
    return json.dumps(value)[:40]


def write(scales: Scales, names: list[str]) -> bytes:
    """Return the file of an animation's scales for its joints (J names); inverse of `read`, in single precision."""
    values = scales.values.astype(np.float32)
    tree: dict[str, dict[str, bool | float]] = {}
    for joint, name in enumerate(names):
        frames = np.flatnonzero(values[:, joint] != 1)
        marked: dict[str, bool | float] = {POSITIONS: True} if scales.ways[joint] else {}
        own = marked | {str(frame): _number(values[frame, joint]) for frame in frames.tolist()}
        if own and name in tree:
            log.warning("joint '%s' is not the first of its name: its scale is lost", name)
        elif own:
            tree[name] = own
    tokens = 1 + sum(2 + 2 * len(own) for own in tree.values())
    if tokens > MOST_TOKENS:
        log.warning(
            "the scale of joints takes %d tokens, Q2PRO reads %d: scale fewer joints or frames", tokens, MOST_TOKENS
        )
    lines = [f"\t{json.dumps(name, ensure_ascii=False)}: {json.dumps(own)}" for name, own in tree.items()]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _number(value: NDArray[Any]) -> float:
    """Return a number of single precision as the shortest that reads as the same."""
    return float(np.format_float_positional(np.float32(value), unique=True))
