"""MD3s in Blender: see `case`."""

from __future__ import annotations

from typing import Any

import numpy as np

from io_idtech_models.formats.md3 import file as md3
from tests.blender.case import CONTEXT, Case, angle, open_case, reopen

__all__ = ("CONTEXT", "Case", "angle", "differences", "open_case", "reopen")


def fields(record: np.dtype[Any]) -> tuple[str, ...]:
    """Return the names of a record's fields."""
    return record.names or ()


def differences(a: md3.Md3, b: md3.Md3) -> set[str]:
    """Return the names of the parts in which two files differ, offsets apart."""
    found = {f"header.{n}" for n in fields(md3.HEADER) if not n.startswith("ofs_") and a.header[n] != b.header[n]}
    found |= {f"frames.{n}" for n in fields(md3.FRAME) if not np.array_equal(a.frames[n], b.frames[n])}
    found |= {f"tags.{n}" for n in fields(md3.TAG) if not np.array_equal(a.tags[n], b.tags[n])}
    for i, (s, t) in enumerate(zip(a.surfaces, b.surfaces, strict=False)):
        names = [n for n in fields(md3.SURFACE) if not n.startswith("ofs_")]
        found |= {f"surface{i}.{n}" for n in names if s.header[n] != t.header[n]}
        for part in ("shaders", "triangles", "st", "vertices"):
            if not np.array_equal(getattr(s, part), getattr(t, part)):
                found.add(f"surface{i}.{part}")
    return found
