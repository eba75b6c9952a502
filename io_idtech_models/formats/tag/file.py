""".tag: the tags of a vehicle alone, which the server of Enemy Territory reads in the place of the model.

A header, then the tags right behind it; everything is little-endian. The records are `tagHeader_t` of the game's
`qfiles.h` and `md3Tag_t`, field by field: see `common.quake3`.

Facts (ET: Legacy's `SV_LoadTag`):

- The version alone is looked at. The engine's constant for the ident says TAG1, all real files say TAG3.
- There is one frame: the first of the model's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..common import chunks, quake3
from ..common.chunks import Arrays, File, Lump
from ..common.records import Array

IDENT = b"TAG3"
VERSION = 1
TAG = quake3.TAG
HEADER = np.dtype([("ident", "S4"), ("version", "<i4"), ("num_tags", "<i4"), ("ofs_end", "<i4")])


@dataclass(eq=False)
class TagFile:
    """A file as structs; `layout` says what lies behind its tags."""

    header: Any  # HEADER
    tags: Array  # TAG (N,)
    layout: Arrays = field(default_factory=dict)


TAGS = Lump("tags", TAG, ("num_tags",), offset=HEADER.itemsize)
TAG_FILE = File(TagFile, HEADER, (TAGS,), "TAG", IDENT, VERSION, any_ident=True)


def read(data: bytes) -> TagFile:
    """Read a file.

    Raises:
        FormatError: the file has another version, or is cut off.
    """
    return chunks.read(TAG_FILE, data)


def write(tags: TagFile) -> bytes:
    """Return the file of tags; inverse of `read`."""
    return chunks.write(TAG_FILE, tags)
