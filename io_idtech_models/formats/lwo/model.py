"""LWO to a model of one frame and back; the file itself is `file`.

Of an edited model the bytes of its file stay but for what the edit touched: floats of points and texture coordinates,
tags of polygons, names of surfaces. The polygons of a surface whose faces changed, or whose vertices parted, are
written anew, as triangles; all else stays (`rewrite`). An LWOB has no place for more than points that moved: what is
edited otherwise becomes an LWO2.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...model.source import CodedSource, Facts
from ...model.vertex import ModelSource, VertexModel
from ...reporting import FormatError, listed, plural
from ..common.records import Wanted, all_fit, warn_damaged
from ..common.static import CODING, Scale, decode_normals, one_frame, own_source, say_strangers, settle, show_further
from .file import LARGEST, LWOB, Lwo, read
from .numbers import shown_name
from .parts import NONE, STEP, STEPS, Part, are_shown, parts_of, shader_of
from .rewrite import SKELETON
from .settled import Known, claim, judge, large_polygons, only_moved, settle_sets, unclaimed
from .writing import best

log = logging.getLogger(__name__)

FORMAT = "lwo"
TRIANGULATE = "triangulate"
OF_PART: Wanted = {"of_part": ("i8", (1,))}
FILE: Wanted = {"layout_file": ("u1", (-1,))}
SCALE = Scale("LWO", STEPS, LARGEST)

__all__ = ["CODING", "conform", "from_model", "problems", "to_model"]


def to_model(lwo: Lwo, name: str = "") -> VertexModel:
    """Return the model of a file, its source included; inverse of `from_model`."""
    _warn(lwo)
    parts = parts_of(lwo)
    known: list[Any] = [
        CodedSource(
            part.name, part.triangles, part.uvs, [part.shader] if part.shader else [], part.codes,
            np.full((1, 3), STEP, np.float32), np.zeros((1, 3), np.float32),
            facts={"of_part": np.array([number], np.int64)},
        )
        for number, part in enumerate(parts)
    ]  # fmt: skip
    facts: Facts = {"layout_file": np.frombuffer(lwo.data, np.uint8)}
    source = ModelSource(
        known, FORMAT, [""], [], np.zeros((1, 0, 3), np.float32), np.zeros((1, 0, 3, 3), np.float32), facts
    )
    model = source.shown(name, decode_normals)
    for surface, part in zip(model.surfaces, parts, strict=True):
        surface.colors = None if part.colors is None else part.colors.copy()
        show_further(surface, part.uv_name, part.further)
    return model


def _warn(lwo: Lwo) -> None:
    """Say what of a file is not shown."""
    layer, others = lwo.layers[0], lwo.layers[1:]
    if others:
        names = listed([shown_name(each.name) or f"layer {number}" for number, each in enumerate(others, 2)])
        log.warning("games read the first layer alone: kept, but not shown: %s", names)
    hidden = int((~are_shown(layer)).sum())
    if hidden:
        text = "kept, but not shown: %s that are curves, bones, or of fewer than three corners"
        log.warning(text, plural(hidden, "polygon"))
    if layer.num_polygons and not lwo.tags:
        log.warning("the file names no surface: games crash")


def problems(model: VertexModel) -> list[str]:
    """Return what in a file that was read games leave out."""
    source = model.source_of(FORMAT)
    known = None if source is None else _known(source, model.name)
    if known is None:
        return []
    large = large_polygons(known.lwo)
    count = int(large.sum())
    return [f"has {plural(count, 'polygon')} of more than three corners, which games leave out"] if count else []


def conform(model: VertexModel, options: Mapping[str, Any]) -> VertexModel:
    """Return a model as LWO can hold it: a frame, no tags, one material for a surface; itself if it is so."""
    return one_frame(model, "LWO")


def _known(source: ModelSource | None, name: str) -> Known | None:
    """Return what a source tells of its file; None where it does not, or where it is damaged, which is said."""
    if source is None:
        return None
    if "layout_file" not in source.facts:
        log.warning("'%s' is a part of its model: the file is made anew", name)
        return None
    fits = all(isinstance(s, CodedSource) and all_fit(s.facts, OF_PART) for s in source.surfaces)
    try:
        lwo = read(source.facts["layout_file"].tobytes()) if fits and all_fit(source.facts, FILE) else None
    except FormatError:
        lwo = None
    parts = [] if lwo is None else parts_of(lwo)
    own = {i: surface for i, surface in enumerate(source.surfaces) if i not in source.strangers}
    owners = {} if lwo is None else {index: int(surface.facts["of_part"][0]) for index, surface in own.items()}
    sound = all(0 <= part < len(parts) and _same(source.surfaces[i], parts[part]) for i, part in owners.items())
    if lwo is None or not sound or len(set(owners.values())) < len(owners):
        warn_damaged(name)
        return None
    return Known(lwo, parts, owners)


def _same(surface: Any, part: Part) -> bool:
    """Tell whether a source's surface is what its file says: a .blend can come from a stranger."""
    pairs = ((surface.triangles, part.triangles), (surface.codes, part.codes), (surface.uvs, part.uvs))
    scaled = bool((surface.scale == STEP).all()) and not surface.offset.any()
    return scaled and all(np.array_equal(one, other) for one, other in pairs)


def from_model(model: VertexModel, options: Mapping[str, Any]) -> Lwo:
    """Return the file of a model that `conform` gave; inverse of `to_model`.

    Options: "triangulate" writes polygons of more than three corners as triangles.

    Raises:
        LimitError: a position or texture coordinate that is no number, or beyond all; the sentence names the surface.
    """
    source = own_source(model, FORMAT)
    known = _known(source, model.name)
    bare = [surface.name for surface in model.surfaces if surface.source_index < 0 and not any(surface.shaders[:1])]
    if bare:
        log.warning("LWO has no surface without a material: they are called as their objects: %s", listed(bare))
    settled = [unclaimed(surface, settle(model, surface, source, SCALE)) for surface in model.surfaces]
    if known is None or source is None:
        nothing = Known(read(SKELETON), [], {})
        settle_sets(settled, None, nothing, SCALE)
        return best(nothing, settled)
    say_strangers(model, source)
    claim(settled, source, known)
    settle_sets(settled, source, known, SCALE)
    judge(settled, source, known, bool(options.get(TRIANGULATE)))
    if known.lwo.kind == LWOB and not only_moved(settled, known):
        log.warning("'%s' is written anew as LWO2: LWOB has no place for what was edited", model.name)
        looks = {shader_of(surf.name): surf for surf in reversed(known.lwo.surfs)}
        for each in settled:
            each.anew, each.part, each.origins = True, None, np.full(len(each.codes), NONE)
            each.owners = np.full(len(each.owners), NONE)
        return best(Known(read(SKELETON), [], {}), settled, looks)
    return best(known, settled)
