"""MD2 structs to a model and back; the file itself is `file`.

A model has one surface, whose texture coordinates belong to corners and whose shaders are the skins. Frame names that
number the frames of an animation ("run1" to "run6") give the model its animations.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.clips import group
from ...model.edits.normals import filled_frames
from ...model.source import CodedSource, Facts
from ...model.vertex import ModelSource, Surface, VertexModel
from ...reporting import LimitError, plural
from ..common import quake
from ..common.normals import decode_direction
from ..common.quake import (
    DEFAULT_SIZE,
    Boxing,
    Size,
    as_one,
    decode_texels,
    lone_source,
    matching_corners,
    settle_positions,
    shown_box,
    size_of,
    warn_if_damaged,
)
from ..common.records import (
    Wanted,
    all_fit,
    as_bytes,
    cut_name,
    decode_name,
    encode_name,
    layout_fits,
    layout_of,
    records_of,
)
from .file import FRAME, FRAME_NAME_SIZE, HEADER, IDENT, MAX_INDEX, SKIN, SKIN_SIZE, TRIANGLE, VERSION, Md2
from .strips import CommandHint, settle_commands
from .texels import TexelTable

log = logging.getLogger(__name__)

FORMAT = "md2"
CODING = quake.CODING


@dataclass(frozen=True)
class Md2Options:
    """What only MD2 asks of an export."""

    skin_width: int = 0  # 0: the source's, else the picture's
    skin_height: int = 0
    same_box: bool = False
    remake_commands: bool = False


def to_model(md2: Md2, name: str = "") -> VertexModel:
    """Return the model of a file, its source included; inverse of `from_model`."""
    frame_names = [decode_name(n) for n in md2.frames["name"].tolist()]
    count = len(frame_names)
    own = _surface_source(md2, name)
    source = ModelSource(
        [own], FORMAT, frame_names, [], np.zeros((count, 0, 3), np.float32), np.zeros((count, 0, 3, 3), np.float32)
    )
    model = source.shown(name, decode_direction)
    model.animations, model.texture_size = group(frame_names), size_of(md2.header)
    return model


def _surface_source(md2: Md2, name: str) -> CodedSource:
    """Return all facts of a file: a lone mesh of a model is the whole of it."""
    st_index = md2.triangles["st"][:, ::-1]
    beyond = int((st_index >= len(md2.st)).any(axis=1).sum())
    if beyond:
        log.warning("the file lacks texture coordinates of %s", plural(beyond, "triangle"))
    facts: Facts = {
        "header": as_bytes(md2.header),
        "skins": as_bytes(md2.skins),
        "st": md2.st,
        "st_index": np.ascontiguousarray(st_index),
        "frames": as_bytes(md2.frames),
        "padding": md2.padding,
        "glcmds": md2.glcmds,
    }
    return CodedSource(
        name,
        np.ascontiguousarray(md2.triangles["xyz"][:, ::-1], np.int32),
        _shown_uvs(md2.st, st_index, size_of(md2.header)),
        [decode_name(n) for n in md2.skins.tolist()],
        md2.vertices,
        shown_box(md2.frames["scale"]),
        shown_box(md2.frames["translate"]),
        facts=facts | md2.layout,
    )


def _shown_uvs(st: NDArray[np.int16], st_index: NDArray[np.uint16], size: Size) -> NDArray[np.float32]:
    """Return the texture coordinates of corners, (T, 3, 2): (0, 0) where an index is beyond the table."""
    table = np.zeros((len(st) + 1, 2), np.float32)
    table[:-1] = decode_texels(st, size)
    shown: NDArray[np.float32] = table[np.minimum(st_index, len(st))]
    return shown


def conform(model: VertexModel, options: Mapping[str, Any]) -> VertexModel:
    """Return a model as MD2 can hold it: one surface, a vertex per point, no tags, skin size known.

    Raises:
        LimitError: there is no surface.
    """
    return replace(as_one(model, "MD2"), texture_size=_skin_size(model, Md2Options(**options)))


def _skin_size(model: VertexModel, options: Md2Options) -> Size:
    """Return width and height of the skin: as asked for, else the source's, else the picture's, else a default."""
    source = lone_source(model, FORMAT, _fits)
    known = model.texture_size or (DEFAULT_SIZE, DEFAULT_SIZE)
    if source is not None:
        known = size_of(records_of(source.facts, "header", HEADER))
    return options.skin_width or known[0], options.skin_height or known[1]


def _fits(own: CodedSource) -> bool:
    """Tell whether the facts are what `to_model` writes: a .blend can come from a stranger."""
    count, triangles = len(own.codes), len(own.triangles)
    wanted: Wanted = {
        "header": (HEADER, ()), "skins": (SKIN, (len(own.shaders),)), "st": ("i2", (-1, 2)),
        "st_index": ("u2", (triangles, 3)), "frames": (FRAME, (count,)), "padding": ("u1", (count, -1)),
        "glcmds": ("i4", (-1,)), "layout_ends": ("i8", (2,)),
    }  # fmt: skip
    per_frame = len(own.scale) == len(own.offset) == count and own.uvs.ndim == 3
    if own.codes.dtype != np.uint8 or not per_frame or not all_fit(own.facts, wanted) or not layout_fits(own.facts):
        return False
    if own.facts["layout_ends"][1] not in (HEADER.itemsize - 4, HEADER.itemsize):
        return False
    size = size_of(records_of(own.facts, "header", HEADER))
    frames = records_of(own.facts, "frames", FRAME)
    scale, offset = (shown_box(frames[name]) for name in ("scale", "translate"))
    same = np.array_equal(own.scale, scale) and np.array_equal(own.offset, offset)
    return same and np.array_equal(own.uvs, _shown_uvs(own.facts["st"], own.facts["st_index"], size))


def from_model(model: VertexModel, options: Mapping[str, Any]) -> Md2:
    """Return the structs of a model that `conform` gave; inverse of `to_model`.

    Raises:
        LimitError: what the format can't hold; the sentence names the object and the value.
    """
    surface, own, asked = model.surfaces[0], lone_source(model, FORMAT, _fits), Md2Options(**options)
    warn_if_damaged(model, FORMAT, own)
    if surface.num_vertices > MAX_INDEX + 1:
        raise LimitError(f"'{surface.name}' has {surface.num_vertices} vertices, MD2 holds {MAX_INDEX + 1}")
    size = model.texture_size or (DEFAULT_SIZE, DEFAULT_SIZE)
    frames, vertices = _encode_frames(model, own, asked)
    st, st_index = _encode_texels(model, surface, own, size)
    triangles = np.zeros(len(surface.triangles), TRIANGLE)
    triangles["xyz"], triangles["st"] = surface.triangles[:, ::-1], st_index[:, ::-1]
    header = np.zeros((), HEADER)
    if own is not None:
        header = records_of(own.facts, "header", HEADER)
    header["ident"], header["version"] = IDENT, VERSION
    header["skin_width"], header["skin_height"] = size
    padding: NDArray[np.uint8] = np.zeros((len(frames), 0), np.uint8)
    if own is not None:
        padding = own.facts["padding"][filled_frames(model)]
    md2 = Md2(
        header, _encode_skins(surface, own), st, triangles, frames, vertices, np.zeros(0, np.int32), padding,
        {} if own is None else layout_of(own.facts),
    )  # fmt: skip
    md2.glcmds = settle_commands(md2, size, _commands_hint(model, surface, own, asked))
    return md2


def _encode_skins(surface: Surface, own: CodedSource | None) -> NDArray[Any]:
    """Return the skin names: a slot's own field of the source, else that of another slot of the same name."""
    skins = np.zeros(len(surface.shaders), SKIN)
    fields = [] if own is None else [bytes(row) for row in own.facts["skins"]]
    names = [decode_name(f) for f in fields]
    first = dict(zip(reversed(names), reversed(fields), strict=True))
    for i, name in enumerate(surface.shaders):
        same = fields[i] if names[i : i + 1] == [name] else first.get(name, b"")
        skins[i] = encode_name(name, SKIN_SIZE, "skin", same)
    return skins


def _encode_texels(
    model: VertexModel, surface: Surface, own: CodedSource | None, size: Size
) -> tuple[NDArray[np.int16], NDArray[np.uint16]]:
    """Return texels (U, 2) and the triangles' indices of them, (T, 3)."""
    hints = np.full((len(surface.triangles), 3), -1, np.int64)
    table = TexelTable(np.zeros((0, 2), np.int16), size, np.zeros(0, np.bool_))
    if own is not None:
        st, index = own.facts["st"], own.facts["st_index"]
        used = np.bincount(index[index < len(st)], minlength=len(st)) > 0
        table = TexelTable(st, size_of(records_of(own.facts, "header", HEADER)), used)
        if model.source is not None:
            _hint_corners(hints, surface, own, model.source)
    found, indices = table.settle(surface.uvs.reshape(-1, 2), hints.ravel(), size, surface.name)
    return found, indices.reshape(-1, 3)


def _hint_corners(hints: NDArray[np.int64], surface: Surface, own: CodedSource, source: ModelSource) -> None:
    """Note in `hints` (T, 3) the source's texture coordinates of triangles' corners: of those at the same vertices.

    Flipped and mirrored triangles have their corners in another order than the source.
    """
    triangles, vertices = surface.source_triangles, surface.source_vertices
    if triangles is None or vertices is None:
        return
    numbers = triangles.astype(np.int64) - source.first_triangles[surface.source_index]
    known = (numbers >= 0) & (numbers < len(own.triangles))
    numbers = numbers[known]
    mine = vertices.astype(np.int64)[surface.triangles[known]] - source.first_vertices[surface.source_index]
    corners, _ = matching_corners(mine, own.triangles[numbers])
    hints[known] = np.take_along_axis(own.facts["st_index"][numbers], corners, axis=1)


def _encode_frames(
    model: VertexModel, own: CodedSource | None, options: Md2Options
) -> tuple[NDArray[Any], NDArray[np.uint8]]:
    """Return the frames (F,) and their vertices (F, V, 4)."""
    boxing = Boxing(shared=options.same_box, refit=options.same_box)
    boxes, codes, kept = settle_positions(model, own, boxing)
    frames = np.zeros(model.num_frames, FRAME)
    hints = [b""] * model.num_frames
    if own is not None:
        written, origins, known = records_of(own.facts, "frames", FRAME), filled_frames(model), model.frames_from() >= 0
        frames[kept] = written[origins[kept]]
        hints = [bytes(written["name"][i]) if k else b"" for i, k in zip(origins, known, strict=True)]
    frames["scale"][~kept], frames["translate"][~kept] = boxes.scale[~kept], boxes.offset[~kept]
    frames["name"] = [cut_name(n, FRAME_NAME_SIZE, h) for n, h in zip(model.frame_names, hints, strict=True)]
    return frames, codes


def _commands_hint(
    model: VertexModel, surface: Surface, own: CodedSource | None, options: Md2Options
) -> CommandHint | None:
    """Return what the source's OpenGL commands say to a surface."""
    if own is None or model.source is None or surface.source_vertices is None:
        return None
    numbers = model.source.own_vertices(surface)
    facts = own.facts
    triangles = np.zeros(len(own.triangles), TRIANGLE)
    triangles["xyz"], triangles["st"] = own.triangles[:, ::-1], facts["st_index"][:, ::-1]
    size = size_of(records_of(facts, "header", HEADER))
    return CommandHint(facts["glcmds"], facts["st"], triangles, size, numbers, options.remake_commands)
