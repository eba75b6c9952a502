"""The tags of a `.tag` to a model of one frame and no surface, and back; the file itself is `file`."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...model.edits.normals import NormalCoding
from ...model.source import Facts
from ...model.vertex import ModelSource, VertexModel
from ...reporting import joined, plural
from ..common.normals import decode_latlong, encode_latlong
from ..common.quake3 import encode_tags, model_fits
from ..common.records import as_bytes, decode_name, finite, layout_of, records_of, sound
from .file import HEADER, IDENT, TAG, VERSION, TagFile

log = logging.getLogger(__name__)

FORMAT = "tag"
CODING = NormalCoding(decode_latlong, encode_latlong, 1 << 16)  # of no surface


def to_model(file: TagFile, name: str = "") -> VertexModel:
    """Return the model of a file, its source included; inverse of `from_model`."""
    tags = file.tags[None]
    names = [decode_name(n) for n in file.tags["name"].tolist()]
    origins, axes = finite(tags["origin"]), finite(tags["axis"])
    facts: Facts = {"header": as_bytes(file.header), "tags": as_bytes(tags)} | file.layout
    source = ModelSource([], FORMAT, [""], names, origins, axes, facts)
    return source.shown(name, decode_latlong)


def conform(model: VertexModel, options: Mapping[str, Any]) -> VertexModel:
    """Return a model of the tags alone, as they stand in the first frame: itself if it is one."""
    lost = [plural(len(model.surfaces), "surface")] if model.surfaces else []
    lost += [f"{plural(model.num_frames - 1, 'frame')} after the first"] if model.num_frames > 1 else []
    if not lost:
        return model
    log.warning("TAG holds tags alone, of one frame: left out: %s", joined(lost))
    return model.tags_alone()


def from_model(model: VertexModel, options: Mapping[str, Any]) -> TagFile:
    """Return the structs of a model that `conform` gave; inverse of `to_model`. No option changes them.

    Raises:
        LimitError: a name that the format can't hold.
    """
    source = sound(model.source_of(FORMAT), _fits, model.name)
    whole = source if source is not None and source.facts else None
    header, layout = np.zeros((), HEADER), Facts()
    header["ident"] = IDENT
    if whole is not None and "header" in whole.facts:
        header, layout = records_of(whole.facts, "header", HEADER), layout_of(whole.facts)
    header["version"] = VERSION
    return TagFile(header, encode_tags(model, whole)[0], layout)


def _fits(source: ModelSource) -> bool:
    """Tell whether the facts are what `to_model` writes: a .blend can come from a stranger."""
    alone = not source.surfaces and source.num_frames == 1
    return alone and model_fits(source, {"header": (HEADER, ())}, TAG, 1)
