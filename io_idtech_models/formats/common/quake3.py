"""What MD3 and its kin, MDC and `.tag`, write alike: frames, tags, and a surface's shaders and texture coordinates.

The records are `md3Frame_t`, `md3Tag_t` and `md3Shader_t` of id's `qfiles.h`; those of RtCW's MDC repeat them.
A frame's bounds, local origin and radius are q3data's (`P3DExport`): extents, 0, distance of the farthest corner.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.edits.conform import split_surface
from ...model.edits.normals import filled_frames
from ...model.source import Facts, SurfaceSource
from ...model.vertex import ModelSource, Surface, Tag, VertexModel
from ...reporting import LimitError
from .records import (
    Wanted,
    all_fit,
    cut_name,
    decode_name,
    encode_name,
    finite,
    flipped,
    layout_fits,
    layout_of,
    records_of,
    sound,
)

log = logging.getLogger(__name__)

NAME_SIZE = 64
FRAME_NAME_SIZE = 16
SCALE = 1.0 / 64.0  # MD3_XYZ_SCALE

FRAME = np.dtype([
    ("mins", "<f4", 3), ("maxs", "<f4", 3), ("local_origin", "<f4", 3), ("radius", "<f4"), ("name", "S16"),
])  # fmt: skip
SHADER = np.dtype([("name", "S64"), ("index", "<i4")])
TAG = np.dtype([("name", "S64"), ("origin", "<f4", 3), ("axis", "<f4", (3, 3))])


def vertex_each(model: VertexModel) -> VertexModel:
    """Return a model with a vertex for each texture coordinate at a point: itself if it is one."""
    if all(surface.uvs.ndim == 2 for surface in model.surfaces):
        return model
    return replace(model, surfaces=[split_surface(surface) for surface in model.surfaces])


def model_fits(source: ModelSource, wanted: Wanted, tag: np.dtype[Any], ends: int) -> bool:
    """Tell whether a source's facts but for its surfaces' are what a codec writes: a .blend can come from a stranger.

    They have what is `wanted`, a `tag` for each and frame, and the layout, with so many `ends`. A part that came alone
    has no layout, and parts of several models have facts of their tags, or none at all.
    """
    facts = source.facts
    tags: Wanted = {"tags": (tag, (source.num_frames, len(source.tag_names)))} if source.tag_names else {}
    if facts.keys() <= {"tags"}:
        return not facts or all_fit(facts, tags)
    wanted = wanted | tags
    if not any(name.startswith("layout_") for name in facts):
        return all_fit(facts, wanted)
    return all_fit(facts, wanted | {"layout_ends": ("i8", (ends,))}) and layout_fits(facts)


class KnownSource(NamedTuple):
    """What is known of the file that a model came from."""

    of_surfaces: ModelSource | None  # its surfaces' facts
    of_tags: ModelSource | None  # the same, if it has facts of tags
    of_model: ModelSource | None  # the same, if it has facts of the whole model, too
    is_complete: bool  # the model has all surfaces that the file had

    @property
    def of_all(self) -> ModelSource | None:
        """Return the source where the model has all that its file had."""
        return self.of_model if self.is_complete else None


def known_source(
    model: VertexModel, format_name: str, fits: Callable[[ModelSource], bool], header: np.dtype[Any]
) -> KnownSource:
    """Return what is known of the file that a model came from.

    A model may have come as a part of another, or as parts of several: what is made anew then is said.
    """
    source = sound(model.source_of(format_name), fits, model.name)
    # A lone surface of a model knows its own facts, but it may not know the model's.
    whole = source if source is not None and "header" in source.facts else None
    tags = source if source is not None and "tags" in source.facts else None
    complete = (
        whole is not None
        and "layout_ends" in whole.facts
        and len(whole.surfaces) >= int(records_of(whole.facts, "header", header)["num_surfaces"])
    )
    if source is not None and whole is None:
        text = "'%s' is made of parts that don't tell of their model: its name in the file and bounds are made anew"
        log.warning(text, model.name)
    elif source is not None and not complete:
        log.warning("'%s' is a part of its model: bounds are made anew", model.name)
    return KnownSource(source, tags, whole, complete)


def unique(indices: list[int]) -> list[int]:
    """Return the indices with -1 for those that came before: a copy of a surface has no place in the layout."""
    first = {index: i for i, index in reversed(list(enumerate(indices)))}
    return [index if first[index] == i else -1 for i, index in enumerate(indices)]


def encode_header(model: VertexModel, known: KnownSource, kind: np.dtype[Any]) -> tuple[Any, Facts]:
    """Return a file's header, of a `kind`, and its layout: the source's, this where the model is complete."""
    if known.of_model is not None:
        facts = known.of_model.facts
        return records_of(facts, "header", kind), layout_of(facts) if known.is_complete else Facts()
    header = np.zeros((), kind)
    header["name"] = encode_name(model.name, NAME_SIZE, "model")
    return header, Facts()


def surface_header(
    surface: Surface, source: ModelSource | None, kind: np.dtype[Any], ident: bytes | int
) -> tuple[SurfaceSource | None, Any]:
    """Return the source's surface that one is, if it is one, and the header, of a `kind`: the source's, but named."""
    own = source.surfaces[surface.source_index] if source is not None and surface.source_index >= 0 else None
    header = np.zeros((), kind)
    header["ident"] = ident
    if own is not None:
        header = records_of(own.facts, "header", kind)
    header["name"] = encode_name(surface.name, NAME_SIZE, "surface", bytes(header["name"]))
    return own, header


def settle_st(surface: Surface, source: ModelSource | None) -> NDArray[np.float32]:
    """Return st (V, 2): the source's while it decodes to the surface's, for 1 - (1 - t) is not always t."""
    hint = flipped(surface.uvs)
    if source is not None and surface.source_vertices is not None:
        for part, places, indices in source.vertex_parts(surface.source_vertices):
            hint[places] = part.facts["st"][indices]
    same = finite(flipped(hint)) == surface.uvs
    return np.where(same.all(axis=1)[:, None], hint, flipped(surface.uvs))


def encode_shaders(surface: Surface, own: SurfaceSource | None) -> NDArray[Any]:
    """Return the shader entries: a slot's source entry with its index and padding; its name where it is another."""
    shaders = np.zeros(len(surface.shaders), SHADER)
    entries = np.zeros(0, SHADER) if own is None else records_of(own.facts, "shaders", SHADER)
    names = [decode_name(n) for n in entries["name"].tolist()]
    first = {name: i for i, name in reversed(list(enumerate(names)))}
    for i, name in enumerate(surface.shaders):
        own_place = i if i < len(names) else -1
        place = own_place if names[i : i + 1] == [name] else first.get(name, own_place)
        if place >= 0:
            shaders[i] = entries[place]
        shaders[i]["name"] = encode_name(name, NAME_SIZE, "shader", bytes(shaders[i]["name"]))
    return shaders


def encode_frames(
    model: VertexModel, source: ModelSource | None, fresh: NDArray[np.bool_], extents: NDArray[np.float32]
) -> NDArray[Any]:
    """Return the frames, FRAME (F,): the source's, but for those that are `fresh` (F,), whose `extents` are (n, 2, 3).

    A frame's name is the source's with what stands behind it, where it is the same.
    """
    frames = np.zeros(model.num_frames, FRAME)
    hints = [b""] * model.num_frames
    if source is not None:
        written = records_of(source.facts, "frames", FRAME)
        origins, own = filled_frames(model), model.frames_from() >= 0
        frames[~fresh] = written[origins[~fresh]]
        hints = [bytes(written["name"][i]) if known else b"" for i, known in zip(origins, own, strict=True)]
    frames["mins"][fresh], frames["maxs"][fresh] = extents[:, 0], extents[:, 1]
    frames["radius"][fresh] = steady.lengths(np.abs(extents).max(axis=1))
    frames["local_origin"][fresh] = 0.0
    frames["name"] = [cut_name(n, FRAME_NAME_SIZE, h) for n, h in zip(model.frame_names, hints, strict=True)]
    return frames


def encode_places(positions: NDArray[np.float32], name: str, label: str) -> NDArray[np.float32]:
    """Return positions (F, n, 3) in 1/64 units, whole numbers that an int16 holds.

    Raises:
        LimitError: some are beyond; `label` is the format's name.
    """
    with np.errstate(over="ignore"):
        codes = positions * np.float32(1.0 / SCALE)
    np.rint(codes, out=codes)
    # A NaN makes both comparisons false, and is refused with the rest, as is an infinity.
    if codes.size and not (codes.min() >= -32768.0 and codes.max() <= 32767.0):
        bad = ~((codes >= -32768.0) & (codes <= 32767.0))
        frame, vertex, axis = np.argwhere(bad)[0].tolist()
        value = float(positions[frame, vertex, axis])
        raise LimitError(
            f"'{name}' has a vertex at {'XYZ'[axis]} = {value:g} in frame {frame}: {label} holds -512 to 511.98 units"
        )
    return codes


def encode_tags(model: VertexModel, source: ModelSource | None) -> NDArray[Any]:
    """Return the tags, TAG (F, N): what the source, if it has facts of tags, has where it says the same."""
    tags = np.zeros((model.num_frames, len(model.tags)), TAG)
    written: NDArray[Any] = np.zeros((0, 0), TAG)
    if source is not None and source.tag_names:
        written = records_of(source.facts, "tags", TAG)
    for i, tag in enumerate(model.tags):
        known = source if tag.source_index >= 0 else None
        hint = b"" if known is None else bytes(written[0, tag.source_index]["name"])
        tags["name"][:, i] = encode_name(tag.name, NAME_SIZE, "tag", hint)
        tags["origin"][:, i] = tag.origins
        tags["axis"][:, i] = tag.axes
        if known is not None:
            _hint_tag(tags[:, i], tag, written, model, known)
    return tags


def _hint_tag(rows: NDArray[Any], tag: Tag, written: NDArray[Any], model: VertexModel, source: ModelSource) -> None:
    """Write into a tag's rows (F,) what the source has where it says the same: raw names, and floats' bits."""
    own = written[filled_frames(model), tag.source_index]
    if tag.name == source.tag_names[tag.source_index]:
        rows["name"] = own["name"]
    for field in ("origin", "axis"):
        same = (finite(own[field]) == rows[field]).reshape(len(rows), -1).all(axis=1)
        rows[field][same] = own[field][same]
