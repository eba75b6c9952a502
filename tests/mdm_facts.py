"""Every field of an MDM or MDX that means something, by a readable path."""

from __future__ import annotations

from typing import Any

import numpy as np

from io_idtech_models.formats.mdm import file as mdm
from io_idtech_models.formats.mdx import file as mdx

Facts = dict[str, bytes]
OFFSETS = ("num_", "ofs_", "version")


def facts(data: bytes) -> Facts:
    """Return the fields of a file by path: "surfaces[0].verts[3].weights"; offsets and counts are left out."""
    return _mdm(mdm.read(data)) if data.startswith(mdm.IDENT) else _mdx(mdx.read(data))


def differences(before: bytes, after: bytes) -> set[str]:
    """Return the paths at which two files differ."""
    old, new = facts(before), facts(after)
    return {path for path in old.keys() | new.keys() if old.get(path) != new.get(path)}


def _record(prefix: str, record: Any, dtype: np.dtype[Any]) -> Facts:
    array = np.array([record], dtype)
    return {prefix + name: array[name].tobytes() for name in dtype.names or () if not name.startswith(OFFSETS)}


def _rows(path: str, array: Any) -> Facts:
    return {f"{path}[{i}]": row.tobytes() for i, row in enumerate(array)}


def _mdm(file: mdm.Mdm) -> Facts:
    found = _record("", file.header, mdm.HEADER)
    for s, surface in enumerate(file.surfaces):
        at = f"surfaces[{s}]."
        found |= _record(at, surface.header, mdm.SURFACE)
        counts = surface.vertices["num_weights"]
        ends = np.cumsum(counts)
        for v, vertex in enumerate(surface.vertices):
            found[f"{at}verts[{v}].normal"] = vertex["normal"].tobytes()
            found[f"{at}verts[{v}].st"] = vertex["st"].tobytes()
            found[f"{at}verts[{v}].weights"] = surface.weights[ends[v] - counts[v] : ends[v]].tobytes()
        found |= _rows(f"{at}triangles", surface.triangles) | _rows(f"{at}collapse", surface.collapse)
        found[f"{at}refs"] = surface.bone_refs.tobytes()
    for t, tag in enumerate(file.tags):
        found |= _record(f"tags[{t}].", tag.header, mdm.TAG) | {f"tags[{t}].refs": tag.bone_refs.tobytes()}
    return found


def _mdx(file: mdx.Mdx) -> Facts:
    found = _record("", file.header, mdx.HEADER)
    for b, bone in enumerate(file.bones):
        found |= _record(f"bones[{b}].", bone, mdx.BONE)
    for f, frame in enumerate(file.frames):
        found |= _record(f"frames[{f}].", frame["info"], mdx.FRAME_INFO)
        found |= _rows(f"frames[{f}].angles", frame["bones"]["angles"])
        found |= _rows(f"frames[{f}].ofs", frame["bones"]["ofs_angles"])
    return found
