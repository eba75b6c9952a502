"""A player's parts as its game takes them: with fewer triangles, and surfaces cut, if that is asked for."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

from ... import formats
from ...assets.export_request import ExportRequest
from ...assets.levels import NEAR
from ...blender.compat import Context
from ...blender.provenance import CHECKSUM
from ...blender.vertex.frame_plan import GatherSettings
from ...formats.vertex_files import MUST_LIST, Written, dump_for
from ...model.vertex import VertexModel
from ...reporting import LimitError
from ..export.selection import Choice
from ..export.vertex import gathered

log = logging.getLogger(__name__)

ANY = "format"  # no game: the format's own limits
Parts = dict[tuple[str, int], tuple[str, Written]]  # by part and level of detail: the file's name, and what is in it


def part_for(asked: ExportRequest, chosen: Choice, context: Context, settings: GatherSettings) -> Written:
    """Return a part as its game takes it; one that is as it came stays, with a warning if the game refuses it.

    Raises:
        LimitError: the game would refuse it.
    """
    row = formats.by_name("md3")
    try:
        return gathered(asked, row, chosen, context, settings)
    except LimitError as error:
        whole = (
            gathered(ExportRequest(asked.target, ANY), row, chosen, context, settings) if asked.game != ANY else None
        )
        came = None if chosen.collection is None else chosen.collection.get(CHECKSUM)
        if whole is None or f"{crc32(whole.data):08x}" != came:
            raise
        log.warning("%s is written as it came, though its game refuses it: %s", asked.target.name, error)
        return whole


def within(parts: Parts, most: int, game: str, options: Mapping[str, Any]) -> Parts:
    """Return parts that have so many triangles together, each the same share of its own, and its levels of detail.

    Raises:
        LimitError: the game would refuse one nevertheless.
    """
    row = formats.by_name("md3")
    total = triangles_of(parts)
    found: Parts = {}
    for key, (name, written) in parts.items():
        model = row.load(written.data, Path(name).stem)
        if total > most and _count(model):
            model = _with_share(model, most / total, name)
        found[key] = name, dump_for(row, model, game, options)
        for note in notes_of(found[key][1], reduced=False):
            log.warning("%s: %s", name, note)
    return found


def triangles_of(parts: Parts) -> int:
    """Return how many triangles a player has, without its levels of detail."""
    return sum(_count(written.model) for (_, level), (_, written) in parts.items() if not level)


def notes_of(written: Written, reduced: bool) -> list[str]:
    """Return what there is to say of a part with its skins; what its game says of it not before it is reduced."""
    row = formats.by_name("md3")
    gone = {str(problem) for problem in row.check(written.model, ANY)} if reduced else set()
    return [note.replace(MUST_LIST, "its skins list the pieces") for note in written.notes if note not in gone]


def _with_share(model: VertexModel, share: float, name: str) -> VertexModel:
    from ...model.lod.levels import make_level, share_left

    found = make_level(model, share)
    left = share_left(found, model)
    if left > NEAR * share:
        text = "%s has %.0f %% of its triangles, not %.0f: no more can go without a tear"
        log.warning(text, name, 100 * left, 100 * share)
    return found


def _count(model: VertexModel) -> int:
    return sum(len(surface.triangles) for surface in model.surfaces)
