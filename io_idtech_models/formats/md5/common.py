"""What md5mesh and md5anim share: the heading, and quaternions without their w."""

from __future__ import annotations

import logging

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.arrays import LARGEST
from ...model.records import unpack_names
from ...model.skeletal import AnimationSource, SkeletalSource
from ...model.source import Facts
from ...reporting import FormatError
from ..common.text import Reader

log = logging.getLogger(__name__)

IDENT = b"MD5Version"
VERSION = 10
ALPHA_VERSION = 6
ALPHA_WORDS = (b"numbones ", b"numchannels ")  # some of its files call themselves 10
SILENT, TOLERATED = 1.0001, 1.01  # lengths of x, y, z: exporters' rounding; what games still show


def read_heading(reader: Reader) -> str | None:
    """Read version and command line; returns the latter, None where a file has none.

    Raises:
        FormatError: no MD5 file, or one of another version.
    """
    if reader.peek() != IDENT:
        raise FormatError("not an MD5 file", "line 1", IDENT.decode(), repr(reader.peek()[:20])[1:])
    reader.expect(IDENT)
    version = reader.integer("version")
    if version == ALPHA_VERSION or any(word in reader.text for word in ALPHA_WORDS):
        found = f"version {ALPHA_VERSION}" + (f", which calls itself {version}" if version != ALPHA_VERSION else "")
        reader.fail("MD5 version 6, of the Doom 3 alpha, which no game reads", f"version {VERSION}", found)
    if version != VERSION:
        reader.fail("unsupported MD5 version", VERSION, version)
    if reader.peek() != b"commandline":
        return None
    reader.expect(b"commandline")
    return reader.string("a command line")


def full_quaternions(xyz: NDArray[np.float64], names: list[str], what: str) -> NDArray[np.float64]:
    """Return quaternions (..., J, 4) as w, x, y, z of their x, y, z (..., J, 3), as dhewm3 does (`idCQuat::ToQuat`).

    w = -sqrt(|1 - x^2 - y^2 - z^2|): with column vectors the sign is minus. Where rounding made x, y, z longer than 1
    the quaternion is brought to length 1, so that it turns and does not stretch.

    Raises:
        FormatError: x, y, z so long that they are no rotation.
    """
    squares = (xyz * xyz).sum(axis=-1)
    lengths = np.sqrt(squares)
    if lengths.max(initial=0.0) > SILENT:
        worst = np.unravel_index(int(lengths.argmax()), lengths.shape)
        name, length = names[int(worst[-1])], float(lengths[worst])
        if length > TOLERATED:
            raise FormatError(f"the {what} of joint '{name}' is no rotation", expected="a length of 1", found=length)
        log.warning("the %s of joint '%s' is %.4f long instead of 1", what, name, length)
    w = -np.sqrt(np.abs(1.0 - squares))
    full = np.concatenate((w[..., None], xyz), axis=-1)
    return np.asarray(full / steady.lengths(full)[..., None])


def could_be_read(facts: Facts, xyz: NDArray[np.float64]) -> bool:
    """Tell whether `read` would take the numbers among facts, and their orientations x, y, z (..., 3).

    A .blend can come from a stranger: a file that is made of it must not be one that none can read.
    """
    numbers = all((np.abs(a) <= LARGEST).all() for a in facts.values() if a.dtype.kind == "f")
    return numbers and bool((steady.dots(xyz, xyz) <= TOLERATED**2).all())


def short_quaternions(q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return x, y, z (..., 3) of unit quaternions (..., 4) whose w becomes 0 or less; inverse of `full_quaternions`."""
    signed = np.where(q[..., :1] > 0, -q, q)
    return np.asarray(signed[..., 1:])


def command_line_of(source: SkeletalSource | AnimationSource | None) -> str | None:
    """Return what made a source's file, as that says; None: it said nothing; "": there is no source."""
    if source is None:
        return ""
    if "command_line" not in source.facts:
        return None
    return next(iter(unpack_names(source.facts["command_line"])), "")
