"""Small .tag files, packed field by field with `struct`: see `samples`."""

from __future__ import annotations

import struct
from collections.abc import Callable

from tests.samples_md3 import UPRIGHT, TagSpec


def pack(tags: list[TagSpec], ident: bytes = b"TAG3", end: int = 0, tail: bytes = b"") -> bytes:
    """Return a file; `end` is added to what it truly is."""
    body = b"".join(struct.pack("<64s12f", tag.name, *tag.origin, *tag.axis) for tag in tags)
    return struct.pack("<4s3i", ident, 1, len(tags), 16 + len(body) + len(tail) + end) + body + tail


def minimal() -> bytes:
    """Return a tag; no two numbers are equal."""
    axis = (0.0, 1.0, 0.25, -1.0, 0.0, 0.5, 0.75, 0.125, 2.0)
    return pack([TagSpec(b"tag_turret\0garbage", (5.5, 6.25, -7.125), axis)])


def vehicle() -> bytes:
    """Return three tags, two of one name, in a file that calls itself as the engine does."""
    turned = (0.6, 0.8, 0.0, -0.8, 0.6, 0.0, 0.0, 0.0, 1.0)
    tags = [TagSpec(b"tag_wback", (1, 2, 3), UPRIGHT), TagSpec(b"tag_wfront", (-4, 5, 6), turned)]
    return pack([*tags, TagSpec(b"tag_wback", (7, 8, 9.5), turned)], b"TAG1")


def not_numbers() -> bytes:
    """Return tags whose floats are no numbers, and a file that ends behind what its header says."""
    tag = TagSpec(b"tag_x", (float("nan"), -0.0, float("inf")), (float("nan"),) * 9)
    return pack([tag, TagSpec(b"", (0, 0, 0), (0.0,) * 9)], end=-3, tail=b"tail")


def nothing() -> bytes:
    """Return a file without tags."""
    return pack([])


FILES: tuple[Callable[[], bytes], ...] = (minimal, vehicle, not_numbers, nothing)
