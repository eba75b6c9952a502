"""Where the records of a binary file lie, as far as a damaged file says: for mutations that know the structure.

The records are the codecs' own dtypes, so that a new field is mutated without a word here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuzz import packs
from io_idtech_models.formats.md2 import file as md2
from io_idtech_models.formats.md3 import file as md3
from io_idtech_models.formats.mdm import file as mdm
from io_idtech_models.formats.mdx import file as mdx
from io_idtech_models.game import pcx

MOST_PARTS = 64  # surfaces or tags that are followed
Dtype = np.dtype[Any]


@dataclass(frozen=True)
class Records:
    """Records of one kind, one after another; where the file says how many there are and where they begin."""

    offset: int
    dtype: Dtype
    count: int
    stride: int
    count_at: int = -1  # of an int32; -1: nowhere
    offset_at: int = -1
    base: int = 0  # from which the offset counts


@dataclass(frozen=True)
class Lump:
    """Records that a header points to: its fields, and how many records a counted thing has."""

    dtype: Dtype
    count: str
    offset: str
    each: str = ""  # a field of the file's header by which the count is multiplied


def _array(dtype: str, width: int) -> Dtype:
    return np.dtype((dtype, (width,)))


MD2_LUMPS = (
    Lump(md2.SKIN, "num_skins", "ofs_skins"),
    Lump(_array("<i2", 2), "num_st", "ofs_st"),
    Lump(md2.TRIANGLE, "num_tris", "ofs_tris"),
    Lump(md2.FRAME, "num_frames", "ofs_frames"),
    Lump(md2.GLCMD, "num_glcmds", "ofs_glcmds"),
)
MD3_LUMPS = (Lump(md3.FRAME, "num_frames", "ofs_frames"), Lump(md3.TAG, "num_tags", "ofs_tags", "num_frames"))
MD3_SURFACE_LUMPS = (
    Lump(md3.SHADER, "num_shaders", "ofs_shaders"),
    Lump(_array("<i4", 3), "num_triangles", "ofs_triangles"),
    Lump(_array("<f4", 2), "num_verts", "ofs_st"),
    Lump(md3.VERTEX, "num_verts", "ofs_xyznormal", "num_frames"),
)
MDM_SURFACE_LUMPS = (
    Lump(mdm.VERTEX, "num_verts", "ofs_verts"),
    Lump(mdm.WEIGHT, "num_verts", "ofs_verts"),
    Lump(_array("<i4", 3), "num_triangles", "ofs_triangles"),
    Lump(mdm.INDEX, "num_verts", "ofs_collapse"),
    Lump(mdm.INDEX, "num_bone_refs", "ofs_bone_refs"),
)
MDM_TAG_LUMPS = (Lump(mdm.INDEX, "num_bone_refs", "ofs_bone_refs"),)
MDX_LUMPS = (Lump(mdx.FRAME_INFO, "num_frames", "ofs_frames"), Lump(mdx.BONE, "num_bones", "ofs_bones"))


def records(kind: str, data: bytes) -> list[Records]:
    """Return the records of a file of a format that lie in the file, at least in part; empty for a cut header."""
    walk = {"md2": _md2, "md3": _md3, "mdm": _mdm, "mdx": _mdx, "pcx": _pcx}.get(kind)
    parts = _packs(kind, data) if walk is None else walk(data)
    return [found for found in parts if 0 <= found.offset < len(data) and found.count > 0]


def _head(data: bytes, dtype: Dtype, offset: int) -> Any:
    """Return the record at an offset, zeros where it does not lie in the file."""
    if 0 <= offset <= len(data) - dtype.itemsize:
        return np.frombuffer(data, dtype, 1, offset)[0]
    return np.zeros((), dtype)


def _place(dtype: Dtype, name: str) -> int:
    assert dtype.fields is not None
    return int(dtype.fields[name][1])


def _lumps(data: bytes, dtype: Dtype, start: int, lumps: tuple[Lump, ...], each: int = 1) -> Iterator[Records]:
    """Yield a header at `start` and the records that it points to."""
    head = _head(data, dtype, start)
    yield Records(start, dtype, 1, dtype.itemsize)
    for lump in lumps:
        offset = start + int(head[lump.offset])
        most = max(len(data) - offset, 0) // lump.dtype.itemsize
        count = int(head[lump.count]) * (each if lump.each else 1)
        count_at, offset_at = (start + _place(dtype, name) for name in (lump.count, lump.offset))
        yield Records(offset, lump.dtype, min(count, most), lump.dtype.itemsize, count_at, offset_at, start)


def _parts(data: bytes, dtype: Dtype, start: int, count: int, lumps: tuple[Lump, ...], each: int) -> Iterator[Records]:
    """Yield what surfaces or tags hold that follow one another at their `ofs_end`."""
    for _ in range(min(count, MOST_PARTS)):
        if not 0 <= start < len(data):
            return
        yield from _lumps(data, dtype, start, lumps, each)
        start += int(_head(data, dtype, start)["ofs_end"])


def _md2(data: bytes) -> Iterator[Records]:
    head = _head(data, md2.HEADER, 0)
    for found in _lumps(data, md2.HEADER, 0, MD2_LUMPS):
        if found.dtype is not md2.FRAME:
            yield found
            continue
        stride = max(int(head["frame_size"]), md2.FRAME.itemsize)
        yield Records(found.offset, md2.FRAME, found.count, stride, found.count_at, found.offset_at)
        vertices = found.offset + md2.FRAME.itemsize
        yield Records(vertices, _array("u1", 4), max(len(data) - vertices, 0) // 4, 4)


def _md3(data: bytes) -> Iterator[Records]:
    head = _head(data, md3.HEADER, 0)
    frames = max(int(head["num_frames"]), 1)
    yield from _lumps(data, md3.HEADER, 0, MD3_LUMPS, frames)
    count, start = int(head["num_surfaces"]), int(head["ofs_surfaces"])
    yield from _parts(data, md3.SURFACE, start, count, MD3_SURFACE_LUMPS, frames)


def _mdm(data: bytes) -> Iterator[Records]:
    head = _head(data, mdm.HEADER, 0)
    yield from _lumps(data, mdm.HEADER, 0, ())
    for dtype, name, lumps in ((mdm.SURFACE, "surfaces", MDM_SURFACE_LUMPS), (mdm.TAG, "tags", MDM_TAG_LUMPS)):
        yield from _parts(data, dtype, int(head[f"ofs_{name}"]), int(head[f"num_{name}"]), lumps, 1)


def _pcx(data: bytes) -> Iterator[Records]:
    yield from _lumps(data, pcx.HEADER, 0, ())


def _packs(kind: str, data: bytes) -> Iterator[Records]:
    for offset, dtype, count in packs.records(kind, data):
        most = max(len(data) - offset, 0) // dtype.itemsize
        yield Records(offset, dtype, min(count, most), dtype.itemsize)


def _mdx(data: bytes) -> Iterator[Records]:
    head = _head(data, mdx.HEADER, 0)
    for found in _lumps(data, mdx.HEADER, 0, MDX_LUMPS):
        if found.dtype is not mdx.FRAME_INFO:
            yield found
            continue
        bones = min(max(int(head["num_bones"]), 0), len(data))
        stride = mdx.FRAME_INFO.itemsize + bones * mdx.BONE_FRAME.itemsize
        yield Records(found.offset, mdx.FRAME_INFO, found.count, stride, found.count_at, found.offset_at)
        codes = found.offset + mdx.FRAME_INFO.itemsize
        yield Records(codes, mdx.BONE_FRAME, bones, mdx.BONE_FRAME.itemsize)
