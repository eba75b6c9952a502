"""Damaged files made of sound ones: bytes, fields by the formats' own dtypes, and words of texts.

All chances come from the `Random` that is given: the same seed makes the same file.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from fuzz import texts
from fuzz.layouts import Dtype, Records, records
from io_idtech_models.formats import ROWS

# Texts that lie beside models.
BESIDE = ("md5scale", "aninc", "char", "anim", "cfg", "skin", "shader", "mtr", "def", "character")
TEXTS = (*(row.name for row in ROWS if row.is_text), *BESIDE)
PAIR = "mdm+mdx"  # an MDM and the MDX with its bones: the former's length as uint32, then both
MODELS = (*(row.name for row in ROWS), PAIR)
KINDS = (*MODELS, *BESIDE, "pcx", "pk3", "pak")
FLOATS = (
    0.0, -0.0, 1.0, -1.0, float("nan"), float("inf"), float("-inf"), 1e-45, -1e-39, 1.1754944e-38, 3.4028235e38, 1e38,
    -1e38, 1e36, 65536.0, 511.99, -512.0, 2147483648.0, 1e-7,
)  # fmt: skip
WHOLE = (
    0, 1, -1, 2, 3, 4, 127, 128, 255, 256, 4095, 4096, 32767, 32768, -32768, 65535, 65536, 2**20, 2**31 - 1, -(2**31),
)  # fmt: skip
NAMES = (
    b"", b"\0", b"\xff\xfe\x80", b"\xc3", b"%s%d%n", b'"', b"\r\n", b"../../x", b"C:\\con", b"\xed\xa0\x80", b"A" * 300,
    b"a\0b", b"\xf0\x9f\x98\x80" * 20, b"frame1", b"{}",
)  # fmt: skip
Mutation = Callable[[bytes, Random], bytes]


def mutated(kind: str, data: bytes, other: bytes, rng: Random, most: int) -> bytes:
    """Return a damaged file of at most so many bytes, with pieces of another one at times."""
    if kind == PAIR:
        return _mutated_pair(data, other, rng, most)
    for _ in range(rng.choice((1, 1, 1, 1, 2, 3) if kind in TEXTS else (1, 1, 1, 2, 2, 3, 5, 8))):
        if rng.random() < 0.1:
            data = spliced(data, other, rng)
        elif rng.random() < 0.3:
            data = rng.choice(RAW)(data, rng)
        elif kind in TEXTS:
            data = texts.mutated(data, rng)
        else:
            data = _structured(kind, data, rng)
        data = data[:most]
    return data


def split_pair(data: bytes) -> tuple[bytes, bytes]:
    """Return the MDM and the MDX of a pair; inverse of `join_pair`."""
    size = struct.unpack_from("<I", data)[0] if len(data) >= 4 else 0
    return data[4 : 4 + size], data[4 + size :]


def join_pair(mesh: bytes, bones: bytes) -> bytes:
    """Return an MDM and an MDX as one input."""
    return struct.pack("<I", len(mesh)) + mesh + bones


def _mutated_pair(data: bytes, other: bytes, rng: Random, most: int) -> bytes:
    mesh, bones = split_pair(data)
    other_mesh, other_bones = split_pair(other)
    if rng.random() < 0.1:
        return join_pair(*rng.choice(((mesh, other_bones), (other_mesh, bones))))[:most]
    if rng.random() < 0.6:
        mesh = mutated("mdm", mesh, other_mesh, rng, most)
    else:
        bones = mutated("mdx", bones, other_bones, rng, most)
    return join_pair(mesh, bones)[:most]


# -- bytes


def _flip(data: bytes, rng: Random) -> bytes:
    out = bytearray(data or b"\0")
    for _ in range(rng.choice((1, 1, 2, 4))):
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def _cut(data: bytes, rng: Random) -> bytes:
    start, end = _range(data, rng)
    return data[:start] + data[end:]


def _truncate(data: bytes, rng: Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _insert(data: bytes, rng: Random) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + rng.randbytes(rng.choice((1, 2, 4, 12, 64))) + data[place:]


def _copy(data: bytes, rng: Random) -> bytes:
    start, end = _range(data, rng)
    place = rng.randrange(len(data) + 1)
    part = data[start:end]
    return data[:place] + part + data[place + (len(part) if rng.random() < 0.5 else 0) :]


def _fill(data: bytes, rng: Random) -> bytes:
    start, end = _range(data, rng)
    return data[:start] + rng.choice((b"\0", b"\xff", b"\x7f", b"\x80")) * (end - start) + data[end:]


def _range(data: bytes, rng: Random) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.choice((1, 2, 4, 8, 16, 64, 256, 4096)))


RAW: tuple[Mutation, ...] = (_flip, _flip, _cut, _truncate, _insert, _copy, _fill)


def spliced(data: bytes, other: bytes, rng: Random) -> bytes:
    """Return the begin of a file with the end of another."""
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]


# -- fields


def _structured(kind: str, data: bytes, rng: Random) -> bytes:
    found = records(kind, data)
    if not found:
        return _flip(data, rng)
    heads = [part for part in found if part.count == 1]
    chosen = rng.choice(heads if heads and rng.random() < 0.4 else found)
    if chosen.count_at >= 0 and rng.random() < 0.2:
        return _moved(data, chosen, rng)
    start = chosen.offset + rng.randrange(min(chosen.count, 1 << 16)) * chosen.stride
    name, place, scalar = _field(chosen.dtype, start, rng)
    return _written(data, place, _value(name, scalar, _old(data, place, scalar), len(data), rng))


def _field(dtype: Dtype, place: int, rng: Random, name: str = "") -> tuple[str, int, Dtype]:
    """Return a scalar somewhere in a record: its name, place and dtype."""
    while dtype.names or dtype.subdtype:
        if dtype.subdtype:
            base, shape = dtype.subdtype
            place += rng.randrange(max(int(np.prod(shape)), 1)) * base.itemsize
            dtype = base
        else:
            assert dtype.names is not None and dtype.fields is not None
            name = rng.choice(dtype.names)
            dtype, offset = dtype.fields[name][:2]
            place += offset
    return name, place, dtype


def _old(data: bytes, place: int, scalar: Dtype) -> Any:
    raw = data[place : place + scalar.itemsize].ljust(scalar.itemsize, b"\0")
    return np.frombuffer(raw, scalar)[0]


def _value(name: str, scalar: Dtype, old: Any, size: int, rng: Random) -> bytes:
    """Return what a field may become: for counts, offsets and indices numbers at the edges."""
    if scalar.kind == "S":
        return rng.choice(NAMES)[: scalar.itemsize].ljust(scalar.itemsize, rng.choice((b"\0", b"\xff", b"x")))
    if scalar.kind == "f":
        value = rng.choice(FLOATS) if rng.random() < 0.8 else float(old) * rng.uniform(-4, 4)
        with np.errstate(all="ignore"):
            return np.array(value).astype(scalar).tobytes()
    edges = (int(old) + 1, int(old) - 1, -int(old), int(old) * 2, size, size - 1, rng.randrange(size + 1))
    number = rng.choice(edges if name.startswith("ofs_") or rng.random() < 0.5 else WHOLE)
    bits = 8 * scalar.itemsize
    return (number % (1 << bits)).to_bytes(scalar.itemsize, "little")


def _written(data: bytes, place: int, raw: bytes) -> bytes:
    return data[:place] + raw + data[place + len(raw) :] if 0 <= place <= len(data) else data


def _moved(data: bytes, part: Records, rng: Random) -> bytes:
    """Lay records anew at the file's end, more or fewer, repeated or of noise, and say so where the file says it."""
    own = data[part.offset : part.offset + part.count * part.stride][: 1 << 18]
    number = rng.choice((0, 1, part.count - 1, part.count + 1, part.count * 2, rng.randrange(1, 2000)))
    size = min(number * part.stride, 1 << 19)
    body = (own * (size // max(len(own), 1) + 1))[:size] if rng.random() < 0.8 else rng.randbytes(size)
    out = _written(data, part.count_at, struct.pack("<i", number))
    out = _written(out, part.offset_at, struct.pack("<i", min(len(out) - part.base, 2**31 - 1)))
    return out + body
