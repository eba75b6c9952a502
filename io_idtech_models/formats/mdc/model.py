"""MDC structs to a model and back; the file itself is `file`.

Every fact of a file that a `VertexModel` does not show (codes, raw names, flags, bounds, layout) travels in its
`ModelSource`, and is written again wherever it still says what the model says: see `model.vertex`. How frames are coded
is decided in `base_frames`, for all surfaces whose source has the same tables together: in real files all.

Tags are a place in 1/64 units, and axes as three angles. An angle's code is 360 / 32700 degrees (`R_LerpTag`), so that
several codes mean one. Pitch, yaw and roll are those of `AnglesToAxis`: see `transforms.axes_of_angles`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.edits.normals import filled_frames
from ...model.source import DeltaSource, Facts, SurfaceSource
from ...model.transforms import axes_of_angles
from ...model.vertex import ModelSource, Surface, Tag, VertexModel
from ...reporting import LimitError
from ..common.joint_tags import warn_of_bent
from ..common.quake3 import (
    SCALE,
    KnownSource,
    encode_frames,
    encode_header,
    encode_shaders,
    known_source,
    model_fits,
    settle_st,
    surface_header,
    unique,
    vertex_each,
)
from ..common.records import Wanted, all_fit, as_bytes, decode_name, encode_name, finite, flipped, records_of
from .file import (
    FRAME,
    HEADER,
    IDENT,
    NAME_SIZE,
    SHADER,
    SURFACE,
    SURFACE_IDENT,
    TAG,
    TAG_NAME,
    VERSION,
    Mdc,
    MdcSurface,
)
from .surfaces import CODING, Coded, code_surfaces, decode_normals, fits_source, source_of

__all__ = ["CODING", "conform", "from_model", "to_model"]

FORMAT = "mdc"
MOST_FRAMES = 1 << 15  # that the tables can number
# A tag's name and its codes in a frame: a .blend keeps a tag's facts by frames.
TAG_ROW = np.dtype([("name", TAG_NAME), ("codes", TAG)])
log = logging.getLogger(__name__)
Doubles = NDArray[np.float64]
CODE = 2 * np.pi / 32700.0  # radians
HALF_CODE = CODE / 2
UPRIGHT = 1e-7  # nearer to straight up or down an axis has no yaw


def to_model(mdc: Mdc, name: str = "") -> VertexModel:
    """Return the model of a file, its source included; inverse of `from_model`."""
    frame_names = [decode_name(n) for n in mdc.frames["name"].tolist()]
    names = [decode_name(n) for n in mdc.tag_names.tolist()]
    origins, axes = decode_origins(mdc.tags["xyz"]), decode_axes(mdc.tags["angles"])
    known: list[SurfaceSource] = [_surface_source(surface) for surface in mdc.surfaces]
    rows = np.zeros(mdc.tags.shape, TAG_ROW)
    rows["name"], rows["codes"] = mdc.tag_names, mdc.tags
    facts = {"header": as_bytes(mdc.header), "frames": as_bytes(mdc.frames), "tags": as_bytes(rows)} | mdc.layout
    source = ModelSource(known, FORMAT, frame_names, names, origins, axes, facts)
    return source.shown(name or decode_name(mdc.header["name"]), decode_normals)


def _surface_source(surface: MdcSurface) -> DeltaSource:
    facts: Facts = {"header": as_bytes(surface.header), "shaders": as_bytes(surface.shaders), "st": surface.st}
    return source_of(
        surface,
        decode_name(surface.header["name"]),
        finite(flipped(surface.st)),
        [decode_name(n) for n in surface.shaders["name"].tolist()],
        facts,
    )


def conform(model: VertexModel, options: Mapping[str, Any]) -> VertexModel:
    """Return a model as MDC can hold it: a vertex for each texture coordinate at a point."""
    return vertex_each(model)


def from_model(model: VertexModel, options: Mapping[str, Any]) -> Mdc:
    """Return the structs of a model that `conform` gave; inverse of `to_model`. No option changes them.

    Raises:
        LimitError: a position or a name that the format can't hold; the sentence names the object and the value.
    """
    if model.num_frames > MOST_FRAMES:
        raise LimitError(f"'{model.name}' has {model.num_frames} frames, MDC holds {MOST_FRAMES}")
    known = known_source(model, FORMAT, _fits, HEADER)
    coded = code_surfaces(model, known.of_surfaces)
    surfaces = [_encode_surface(*pair, known.of_surfaces) for pair in zip(model.surfaces, coded, strict=True)]
    frames = _encode_frames(model, coded, known)
    tag_names, tags = _encode_tags(model, known.of_tags)
    header, layout = encode_header(model, known, HEADER)
    header["ident"], header["version"] = IDENT, VERSION
    indices = unique([s.source_index for s in model.surfaces])
    return Mdc(header, frames, tag_names, tags, surfaces, layout, indices)


def _fits(source: ModelSource) -> bool:
    """Tell whether the facts are what `to_model` writes: a .blend can come from a stranger."""
    wanted: Wanted = {"header": (HEADER, ()), "frames": (FRAME, (source.num_frames,))}
    return all(_surface_fits(s) for s in source.surfaces) and model_fits(source, wanted, TAG_ROW, 3)


def _surface_fits(surface: SurfaceSource) -> bool:
    wanted: Wanted = {
        "header": (SURFACE, ()), "shaders": (SHADER, (len(surface.shaders),)), "st": ("f4", (surface.num_vertices, 2)),
    }  # fmt: skip
    return fits_source(surface) and all_fit(surface.facts, wanted)


def _encode_surface(surface: Surface, coded: Coded, source: ModelSource | None) -> MdcSurface:
    own, header = surface_header(surface, source, SURFACE, SURFACE_IDENT)
    triangles = np.ascontiguousarray(surface.triangles[:, ::-1], np.int32)
    shaders, st = encode_shaders(surface, own), settle_st(surface, source)
    return MdcSurface(header, triangles, shaders, st, *coded.arrays())


def _encode_frames(model: VertexModel, coded: list[Coded], known: KnownSource) -> NDArray[Any]:
    """Return the frames: a source's bounds while the extents of its coded positions hold, else q3data's rule."""
    fresh: NDArray[np.bool_] = np.ones(model.num_frames, np.bool_)
    source = known.of_all
    if source is not None:
        origins = filled_frames(model)
        fresh[:] = len(coded) != len(source.surfaces)
        fresh |= np.any([surface.changed for surface in coded] or [np.zeros(len(fresh), np.bool_)], axis=0)
        suspects = np.flatnonzero(fresh)
        before = [s.decoded_positions(origins[suspects]) for s in source.surfaces]
        after = [surface.decoded(suspects) for surface in coded]
        fresh[suspects] = (_extents(before, len(suspects)) != _extents(after, len(suspects))).any(axis=(1, 2))
    frames = np.flatnonzero(fresh)
    extents = _extents([surface.decoded(frames) for surface in coded], len(frames))
    return encode_frames(model, known.of_model, fresh, extents)


def _extents(parts: list[NDArray[np.float32]], count: int) -> NDArray[np.float32]:
    """Return the smallest and largest position (n, 2, 3) of parts (n, V, 3) each; zeros without vertices."""
    boxes = [np.stack((part.min(axis=1), part.max(axis=1)), axis=1) for part in parts if part.shape[1]]
    if not boxes:
        return np.zeros((count, 2, 3), np.float32)
    low, high = (np.stack([box[:, side] for box in boxes]) for side in (0, 1))
    return np.stack((low.min(axis=0), high.max(axis=0)), axis=1).astype(np.float32)


def _encode_tags(model: VertexModel, source: ModelSource | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the tags' names, TAG_NAME (N,), and the tags, TAG (F, N)."""
    names = np.zeros(len(model.tags), TAG_NAME)
    hints, known = np.zeros((model.num_frames, len(model.tags)), TAG), np.zeros(len(model.tags), np.bool_)
    written: NDArray[Any] = np.zeros((0, 0), TAG_ROW)
    if source is not None and source.tag_names:
        written = records_of(source.facts, "tags", TAG_ROW)[filled_frames(model)]
    for i, tag in enumerate(model.tags):
        hint = b""
        if source is not None and tag.source_index >= 0:
            own = written[:, tag.source_index]
            hints[:, i], known[i], hint = own["codes"], True, bytes(own["name"][0])
        names[i] = encode_name(tag.name, NAME_SIZE, "tag", hint)
    return names, encode_tags(model.tags, hints, known)


def decode_origins(codes: NDArray[Any]) -> NDArray[np.float32]:
    """Return the places (..., 3) of codes (..., 3)."""
    return codes.astype(np.float32) * np.float32(SCALE)


def decode_axes(codes: NDArray[Any]) -> NDArray[np.float32]:
    """Return the axes (..., 3, 3), as rows, of codes (..., 3): pitch, yaw and roll."""
    return axes_of_angles(codes * CODE).astype(np.float32)


def encode_axes(axes: NDArray[Any]) -> NDArray[np.int16]:
    """Return the nearest codes (n, 3) of rotations (n, 3, 3); inverse of `decode_axes`.

    Roll is what the coded yaw leaves of the turn: where the tag looks straight up only both together say how it stands.
    """
    forward, left, up = (np.asarray(axes[:, row], np.float64) for row in range(3))
    codes = np.empty((len(axes), 3), np.int64)
    level = np.sqrt(forward[:, 0] * forward[:, 0] + forward[:, 1] * forward[:, 1])
    codes[:, 0] = steady.whole_steps(-forward[:, 2], level, CODE)
    codes[:, 1] = np.where(level > UPRIGHT, steady.whole_steps(forward[:, 1], forward[:, 0], CODE), 0)
    cosine, sine = steady.cosines_and_sines(codes[:, 1] * CODE)
    # The level direction across the yaw, (-sine, cosine, 0): left says cos roll along it, up says -sin roll.
    across = [axis[:, 1] * cosine - axis[:, 0] * sine for axis in (left, up)]
    codes[:, 2] = steady.whole_steps(-across[1], across[0], CODE)
    return codes.astype(np.int16)


def encode_tags(tags: list[Tag], hints: NDArray[Any], known: NDArray[np.bool_]) -> NDArray[Any]:
    """Return tags' records, TAG (F, N): those of the `hints` (F, N) where they are `known` (N,) and say the same.

    Raises:
        LimitError: one lies beyond what the format holds.
    """
    found = np.zeros(hints.shape, TAG)
    if not tags:
        return found
    origins, axes = (np.stack(each, axis=1) for each in ([t.origins for t in tags], [t.axes for t in tags]))
    places = np.rint(origins.astype(np.float64) / SCALE)
    bad = ~((places >= -32768) & (places <= 32767))
    if bad.any():
        frame, tag, axis = np.argwhere(bad)[0].tolist()
        value = f"{'XYZ'[axis]} = {float(origins[frame, tag, axis]):g}"
        raise LimitError(f"'{tags[tag].name}' is a tag at {value} in frame {frame}: MDC holds -512 to 511.98 units")
    found["xyz"], found["angles"] = places, hints["angles"]
    off = np.abs(axes_of_angles(hints["angles"] * CODE) - axes).max(axis=(2, 3))
    fresh = ~((off < HALF_CODE) & known)
    if fresh.any():
        turned = _numbers(axes[fresh])
        warn_of_bent([tags[tag].name for tag in np.argwhere(fresh)[:, 1]], turned, "MDC")
        found["angles"][fresh] = encode_axes(steady.nearest_rotations(turned))
    return found


def _numbers(axes: NDArray[Any]) -> Doubles:
    """Return axes (n, 3, 3), upright where they are no numbers."""
    wrong = ~np.isfinite(axes).all(axis=(1, 2))
    found = axes.astype(np.float64)
    found[wrong] = np.eye(3)
    return found
