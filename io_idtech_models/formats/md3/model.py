"""MD3 structs to a model and back; the file itself is `file`.

Every fact of a file that a `VertexModel` does not show (codes, raw names, flags, bounds, layout) travels in its
`ModelSource`, and is written again wherever it still says what the model says: see `model.vertex`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.edits.normals import NormalCoding, filled_frames, settle_codes, view_codes
from ...model.source import CodedSource, Facts, SurfaceSource
from ...model.vertex import ModelSource, Surface, VertexModel
from ..common.normals import decode_latlong, encode_latlong
from ..common.quake3 import (
    KnownSource,
    encode_frames,
    encode_header,
    encode_places,
    encode_shaders,
    encode_tags,
    known_source,
    model_fits,
    settle_st,
    surface_header,
    unique,
    vertex_each,
)
from ..common.records import (
    Wanted,
    all_fit,
    as_bytes,
    decode_name,
    finite,
    flipped,
)
from .file import (
    FRAME,
    HEADER,
    IDENT,
    SCALE,
    SHADER,
    SURFACE,
    TAG,
    VERSION,
    VERTEX,
    Md3,
    Md3Surface,
)

FORMAT = "md3"
CODING = NormalCoding(decode_latlong, encode_latlong, 1 << 16)
UNIT_SCALE = np.full((1, 3), SCALE, np.float32)
NO_OFFSET = np.zeros((1, 3), np.float32)


def to_model(md3: Md3, name: str = "") -> VertexModel:
    """Return the model of a file, its source included; inverse of `from_model`."""
    frame_names = [decode_name(n) for n in md3.frames["name"].tolist()]
    names = [decode_name(n) for n in md3.tags[0]["name"].tolist()]
    origins, axes = finite(md3.tags["origin"]), finite(md3.tags["axis"])
    known: list[SurfaceSource] = [_surface_source(surface, len(frame_names)) for surface in md3.surfaces]
    # Everything behind the counts and offsets of the header is derived; the rest is kept as written.
    facts = {"header": as_bytes(md3.header), "frames": as_bytes(md3.frames), "tags": as_bytes(md3.tags)} | md3.layout
    source = ModelSource(known, FORMAT, frame_names, names, origins, axes, facts)
    return source.shown(name or decode_name(md3.header["name"]), decode_latlong)


def _surface_source(surface: Md3Surface, num_frames: int) -> CodedSource:
    vertices = surface.vertices
    if len(vertices) < num_frames:
        vertices = vertices[np.minimum(np.arange(num_frames), len(vertices) - 1)]
    facts: Facts = {
        "header": as_bytes(surface.header),
        "shaders": as_bytes(surface.shaders),
        "st": surface.st,
        "num_stored": np.array([len(surface.vertices)], np.int32),
    }
    return CodedSource(
        decode_name(surface.header["name"]),
        np.ascontiguousarray(surface.triangles[:, ::-1]),
        finite(flipped(surface.st)),
        [decode_name(n) for n in surface.shaders["name"].tolist()],
        vertices.view("<i2").reshape(*vertices.shape, 4),
        UNIT_SCALE,
        NO_OFFSET,
        facts=facts,
    )


def conform(model: VertexModel, options: Mapping[str, Any]) -> VertexModel:
    """Return a model as MD3 can hold it: a vertex for each texture coordinate at a point."""
    return vertex_each(model)


def from_model(model: VertexModel, options: Mapping[str, Any]) -> Md3:
    """Return the structs of a model that `conform` gave; inverse of `to_model`. No option changes them.

    Raises:
        LimitError: a position or a name that the format can't hold; the sentence names the object and the value.
    """
    known = known_source(model, FORMAT, _fits, HEADER)
    surfaces = [_encode_surface(model, surface, known.of_surfaces) for surface in model.surfaces]
    frames = _encode_frames(model, surfaces, known)
    tags = encode_tags(model, known.of_tags)
    header, layout = encode_header(model, known, HEADER)
    header["ident"], header["version"] = IDENT, VERSION
    return Md3(header, frames, tags, surfaces, layout, unique([s.source_index for s in model.surfaces]))


def _fits(source: ModelSource) -> bool:
    """Tell whether the facts are what `to_model` writes: a .blend can come from a stranger."""
    wanted: Wanted = {"header": (HEADER, ()), "frames": (FRAME, (source.num_frames,))}
    return all(_surface_fits(s) for s in source.surfaces) and model_fits(source, wanted, TAG, 3)


def _surface_fits(surface: SurfaceSource) -> bool:
    if not isinstance(surface, CodedSource) or surface.codes.dtype != np.int16:
        return False
    wanted: Wanted = {
        "header": (SURFACE, ()), "shaders": (SHADER, (len(surface.shaders),)), "st": ("f4", (surface.num_vertices, 2)),
        "num_stored": ("i4", (1,)),
    }  # fmt: skip
    return all_fit(surface.facts, wanted)


def _encode_surface(model: VertexModel, surface: Surface, source: ModelSource | None) -> Md3Surface:
    view = None if source is None else view_codes(model, surface, source)
    codes = settle_codes(surface, surface.encoded(_encode_positions), view, CODING)
    vertices = np.ascontiguousarray(codes).view(VERTEX)[..., 0]
    own, header = surface_header(surface, source, SURFACE, IDENT)
    if own is None:
        header["num_frames"] = model.num_frames
    elif source is not None:
        if len(model.surfaces) == len(source.surfaces) and len(model.tags) == len(source.tag_names):
            vertices = _stored_frames(vertices, own)
        if not len(vertices) == model.num_frames == source.num_frames == own.facts["num_stored"][0]:
            header["num_frames"] = len(vertices)
    triangles = np.ascontiguousarray(surface.triangles[:, ::-1], np.int32)
    return Md3Surface(header, encode_shaders(surface, own), triangles, settle_st(surface, source), vertices)


def _stored_frames(vertices: NDArray[Any], own: SurfaceSource) -> NDArray[Any]:
    """Drop the frames that the source did not have for this surface, while they repeat the last one that it had.

    Only where nothing was added to the model: readers take the bytes that follow for the missing frames.
    """
    stored = int(own.facts["num_stored"][0])
    if not 1 <= stored < len(vertices) == own.num_frames:
        return vertices
    return vertices[:stored] if (vertices[stored:] == vertices[stored - 1]).all() else vertices


def _encode_positions(positions: NDArray[np.float32], name: str) -> NDArray[np.int16]:
    """Return positions (F, n, 3) in 1/64 units with an empty normal, (F, n, 4); raises LimitError."""
    codes = encode_places(positions, name, "MD3")
    vertices = np.zeros((*codes.shape[:2], 4), np.int16)
    for axis in range(3):  # numpy is slow along an axis of three
        vertices[..., axis] = codes[..., axis]
    return vertices


def _encode_frames(model: VertexModel, surfaces: list[Md3Surface], known: KnownSource) -> NDArray[Any]:
    """Return the frames: a source's bounds while the extents of its coded positions hold, else q3data's rule."""
    fresh: NDArray[np.bool_] = np.ones(model.num_frames, np.bool_)
    if known.of_all is not None:
        fresh = _moved_frames(surfaces, known.of_all, filled_frames(model))
    return encode_frames(
        model, known.of_model, fresh, _extents([s.vertices["xyz"] for s in surfaces], np.flatnonzero(fresh))
    )


def _moved_frames(surfaces: list[Md3Surface], source: ModelSource, origins: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which frames have other extents than the source's frames `origins` (F,), which they were."""
    parts = [s.vertices["xyz"] for s in surfaces]
    known = [s for s in source.surfaces if isinstance(s, CodedSource)]  # all: see `_surface_fits`
    same_shape = [p.shape[1] for p in parts] == [s.num_vertices for s in known]
    moved = np.ones(len(origins), np.bool_)
    if same_shape and all(len(p) == len(origins) for p in parts):
        moved[:] = False
        whole = np.array_equal(origins, np.arange(source.num_frames))
        for part, old in zip(parts, known, strict=True):
            if whole and np.shares_memory(part, old.codes):  # settled as the source's own
                continue
            before = old.positions if whole else old.positions[origins]
            moved |= (part != before).any(axis=(1, 2))
    suspects = np.flatnonzero(moved)
    before = _extents([s.positions for s in known], origins[suspects])
    moved[suspects] = (before != _extents(parts, suspects)).any(axis=(1, 2))
    return moved


def _extents(parts: list[NDArray[Any]], frames: NDArray[Any]) -> NDArray[np.float32]:
    """Return the smallest and largest position (n, 2, 3), in units, of the given frames; zeros without vertices.

    A part that has fewer frames (a surface of a file may) stands still after its last.
    """
    boxes = []
    for part in parts:
        if part.shape[1] and len(frames):
            # Axis by axis: numpy is ten times faster along contiguous memory.
            axes = np.ascontiguousarray(part[np.minimum(frames, len(part) - 1)].transpose(0, 2, 1))
            boxes.append((axes.min(axis=2), axes.max(axis=2)))
    if not boxes:
        return np.zeros((len(frames), 2, 3), np.float32)
    mins, maxs = (np.stack(side) for side in zip(*boxes, strict=True))
    return np.stack((mins.min(axis=0), maxs.max(axis=0)), axis=1).astype(np.float32) * np.float32(SCALE)
