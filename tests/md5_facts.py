"""Every number of an md5mesh or md5anim by a readable path, as single precision: what must come back."""

from __future__ import annotations

from typing import Any

import numpy as np

from io_idtech_models.formats.md5 import anim_file as md5anim
from io_idtech_models.formats.md5 import mesh_file as md5mesh

Facts = dict[str, Any]


def facts(data: bytes) -> Facts:
    """Return the numbers and texts of a file by path: "parts[0].offsets[3]"."""
    return _of("", md5mesh.read(data) if b"numMeshes" in data else md5anim.read(data))


def differences(before: bytes, after: bytes) -> set[str]:
    """Return the paths at which two files differ."""
    old, new = facts(before), facts(after)
    return {path for path in old.keys() | new.keys() if old.get(path) != new.get(path)}


def _of(prefix: str, block: Any) -> Facts:
    found: Facts = {}
    for name, value in vars(block).items():
        if isinstance(value, np.ndarray):
            rows = value.astype(np.float32) if value.dtype.kind == "f" else value
            found |= {f"{prefix}{name}[{i}]": row.tobytes() for i, row in enumerate(rows)}
        elif isinstance(value, list):
            for i, item in enumerate(value):
                found |= {f"{prefix}{name}[{i}]": item} if isinstance(item, str) else _of(f"{prefix}{name}[{i}].", item)
        else:
            found[prefix + name] = value
    return found
