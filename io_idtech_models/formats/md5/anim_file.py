"""md5anim: one animation of an md5mesh' joints.

A text like md5mesh (dhewm3, `idMD5Anim::LoadAnim`):

    MD5Version 10
    commandline "..."
    numFrames F
    numJoints J
    frameRate N
    numAnimatedComponents C
    hierarchy {
        "name" parent flags start
    }
    bounds {
        ( x y z ) ( x y z )        one line per frame: low and high corner
    }
    baseframe {
        ( x y z ) ( qx qy qz )     one line per joint, relative to its parent
    }
    frame n {
        C numbers
    }

- A joint's six channels are Tx Ty Tz Qx Qy Qz. `flags` has a bit for each that frames give, the lowest for Tx; they
  follow one another in a frame's numbers from `start` on. Channels without a flag stay as in the base frame.
- Frames come in order. Real files have more or fewer bounds than frames: the numbers are kept as they are.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...model.skeletal import Outline
from ...reporting import FormatError
from ..common.text import Reader, encode_text, format_rows
from .common import IDENT, VERSION, read_heading
from .mesh_file import MAX_JOINTS, joint_place, read_joints

log = logging.getLogger(__name__)

CHANNELS = 6
BOUNDS = b"bounds"  # the word behind the joints
MAX_FRAMES = 1 << 20
MOST_POSES = 1 << 18  # of joints in frames: a joint that stands still takes no bytes, but some 200 when it is read


@dataclass(eq=False)
class Md5Anim:
    """A file as arrays."""

    command_line: str | None
    frame_rate: int
    names: list[str]
    parents: NDArray[np.int32]  # (J,)
    flags: NDArray[np.int32]  # (J,)
    starts: NDArray[np.int32]  # (J,)
    bounds: NDArray[np.float64]  # (n, 2, 3), n = F in sound files
    base: NDArray[np.float64]  # (J, 6)
    components: NDArray[np.float64]  # (F, C)

    def channels(self) -> NDArray[np.float64]:
        """Return the six channels of every joint in every frame, (F, J, 6)."""
        channels = np.repeat(self.base[None], len(self.components), axis=0)
        joints, which, places = self.stored()
        channels[:, joints, which] = self.components[:, places]
        return channels

    def stored(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return joint, channel and place among a frame's components (n,) of all channels that frames give."""
        bits = stored_channels(self.flags)
        places = self.starts[:, None] + np.cumsum(bits, axis=1) - bits
        joints, which = np.nonzero(bits)
        return joints, which, places[joints, which].astype(np.int64)


def stored_channels(flags: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return which channels frames give, (J, 6): 1 where a bit of a joint's flags (J,) says so, else 0."""
    return (flags[:, None] >> np.arange(CHANNELS, dtype=np.int32)) & 1


@dataclass(frozen=True, eq=False)
class _Head:
    """What stands before the bounds."""

    command_line: str | None
    num_frames: int
    frame_rate: int
    num_components: int
    names: list[str]
    parents: NDArray[np.int32]  # (J,)
    flags: NDArray[np.int32]  # (J,)
    starts: NDArray[np.int32]  # (J,)


def read(data: bytes) -> Md5Anim:
    """Read a file.

    Raises:
        FormatError: the file is no md5anim, is cut off, or its counts or indices contradict it; with the line.
    """
    reader = Reader(data)
    head = _read_head(reader, len(data))
    reader.expect(BOUNDS)
    bounds = reader.block(CHANNELS).reshape(-1, 2, 3)
    if len(bounds) != head.num_frames:
        log.warning("%d bounds for %d frames", len(bounds), head.num_frames)
    reader.expect(b"baseframe")
    place = reader.place
    base = reader.block(CHANNELS)
    if len(base) != len(head.names):
        reader.fail("the base frame", f"{len(head.names)} joints", len(base), place)
    frames = _read_frames(reader, head.num_frames, head.num_components)
    return Md5Anim(
        head.command_line, head.frame_rate, head.names, head.parents, head.flags, head.starts, bounds, base, frames
    )


def outline(data: bytes) -> Outline:
    """Return what a file says before its frames, which are most of it.

    Raises:
        FormatError: the file is no md5anim, or is cut off before these, or its counts contradict it; with the line.
    """
    end = data.find(b"\n" + BOUNDS)
    try:
        head = _read_head(Reader(data if end < 0 else data[:end]), len(data))
    except FormatError:  # the word may stand in a comment; and what is wrong, the whole file says
        head = _read_head(Reader(data), len(data))
    return Outline(head.names, head.parents, head.num_frames, float(head.frame_rate))


def _read_head(reader: Reader, size: int) -> _Head:
    """Read all up to the bounds of a file of so many bytes; raises FormatError."""
    command_line = read_heading(reader)
    num_frames, num_joints = reader.count(b"numFrames"), reader.count(b"numJoints")
    frame_rate, num_components = reader.count(b"frameRate"), reader.count(b"numAnimatedComponents")
    if not 1 <= num_frames <= MAX_FRAMES:
        reader.fail("number of frames", f"1 to {MAX_FRAMES}", num_frames)
    if num_joints > MAX_JOINTS:
        reader.fail("too many joints", f"{MAX_JOINTS} at most", num_joints)
    most = MOST_POSES + size // 4
    if num_frames * num_joints > most:
        found = f"{num_frames} frames of {num_joints} joints"
        reader.fail("too many poses for a file of this size", f"{most} at most", found)
    reader.expect(b"hierarchy")
    place = reader.place
    names, parents, numbers = read_joints(reader, num_joints, 2)
    flags, starts = (np.clip(numbers[:, i], -(2**31), 2**31 - 1).astype(np.int32) for i in range(2))
    _check_channels(reader, names, flags, starts, num_components, place)
    return _Head(command_line, num_frames, frame_rate, num_components, names, parents, flags, starts)


def _check_channels(
    reader: Reader, names: list[str], flags: NDArray[np.int32], starts: NDArray[np.int32], count: int, place: int
) -> None:
    """Refuse joints whose channels are not among a frame's components."""
    bits = stored_channels(flags).sum(axis=1)
    bad = np.flatnonzero(
        (flags < 0) | (flags >= 1 << CHANNELS) | ((bits > 0) & ((starts < 0) | (starts + bits > count)))
    )
    if len(bad):
        joint = int(bad[0])
        found = f"flags {flags[joint]}, start {starts[joint]}"
        own = joint_place(reader, place, joint, 2)
        reader.fail(f"channels of joint '{names[joint]}'", f"flags below 64, within {count} components", found, own)


def _read_frames(reader: Reader, num_frames: int, num_components: int) -> NDArray[np.float64]:
    rows = []
    for frame in range(num_frames):
        reader.expect(b"frame")
        index = reader.integer("a frame's number")
        if index != frame:
            reader.fail("frames out of order", frame, index)
        place = reader.place
        numbers = reader.block(1)
        if len(numbers) != num_components:
            reader.fail(f"frame {frame}", f"{num_components} components", len(numbers), place)
        rows.append(numbers[:, 0])
    return np.stack(rows)


def write(anim: Md5Anim) -> bytes:
    """Return the file of an animation; inverse of `read`."""
    lines = [b"%s %d\n" % (IDENT, VERSION)]
    if anim.command_line is not None:
        lines.append(b'commandline "%s"\n' % encode_text(anim.command_line))
    lines.append(b"\nnumFrames %d\nnumJoints %d\n" % (len(anim.components), len(anim.names)))
    lines.append(b"frameRate %d\nnumAnimatedComponents %d\n" % (anim.frame_rate, anim.components.shape[1]))
    lines.append(b"\nhierarchy {\n")
    rows = zip(anim.names, anim.parents.tolist(), anim.flags.tolist(), anim.starts.tolist(), strict=True)
    for name, parent, flags, start in rows:
        above = b"\t// " + encode_text(anim.names[parent]) if parent >= 0 else b""
        lines.append(b'\t"%s"\t%d %d %d%s\n' % (encode_text(name), parent, flags, start, above))
    pair = "\t( %s %s %s ) ( %s %s %s )\n"
    lines += [b"}\n\nbounds {\n", format_rows(pair, anim.bounds.reshape(-1, CHANNELS))]
    lines += [b"}\n\nbaseframe {\n", format_rows(pair, anim.base), b"}\n"]
    for index, frame in enumerate(anim.components):
        lines += [b"\nframe %d {\n" % index, _frame_rows(frame), b"}\n"]
    return b"".join(lines)


def _frame_rows(frame: NDArray[np.float64]) -> bytes:
    """Return a frame's numbers, six to a line."""
    whole = len(frame) // CHANNELS * CHANNELS
    rows = format_rows("\t%s %s %s %s %s %s\n", frame[:whole].reshape(-1, CHANNELS))
    rest = frame[whole:]
    return rows + (format_rows("\t" + " ".join(["%s"] * len(rest)) + "\n", rest[None]) if len(rest) else b"")
