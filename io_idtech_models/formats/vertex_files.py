"""Vertex-animated models to files for a game: names made to fit, surfaces cut, and what is lost on the way, said."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..model.limits.games import GAMES, VertexLimits, refused
from ..model.vertex import VertexModel
from ..reporting import LimitError, listed
from . import ROWS, by_name
from .codecs import Options
from .format import SPLIT, WRITE_TAGS, Format

log = logging.getLogger(__name__)

FITS = 1 << 16  # bytes of any name
MUST_LIST = "skin files must list its pieces"


@dataclass(frozen=True)
class Written:
    """A model on its way into a file: the bytes, the model as the format holds it, and what a game shows otherwise."""

    data: bytes
    model: VertexModel
    notes: list[str]
    pieces: Mapping[str, list[str]] = field(default_factory=dict)  # of surfaces that were cut, by their names
    beside: Mapping[str, bytes] = field(default_factory=dict)  # files that lie beside it, by their suffixes


def dump_for(
    row: Format, model: VertexModel, game: str, options: Options | None = None, shorten: bool = False
) -> Written:
    """Return a model's file for a game, a key of `games.GAMES`; `shorten`: names that are too long, else refused.

    Raises:
        LimitError: the format can't hold the model, or nothing of it, or the game would refuse it.
    """
    names = {option.name for option in row.options}
    options = {name: value for name, value in (options or {}).items() if name in names}
    shaped = row.shape(model, options)
    if (model.surfaces or model.tags) and not (shaped.surfaces or shaped.tags):
        what = "tags" if model.surfaces else "meshes"
        raise LimitError(f"nothing to export: {row.name.upper()} holds {what} alone, and there are none")
    notes: list[str] = []
    if shorten:
        from ..model.edits.short_names import short_vertex

        shaped, notes = short_vertex(shaped, row, game)
    elif any(len(name.encode()) > row.name_sizes.get("frame", FITS) for name in shaped.frame_names):
        from ..model.edits.short_names import short_frame_names

        shaped, notes = short_frame_names(shaped, row)  # few games look at them: they refuse no model
    shaped, pieces = _split(row, shaped, game, options)
    notes += _left_out(row, model)
    notes += [f"'{name}' is cut, {MUST_LIST}: {listed(every)}" for name, every in pieces.items()]
    try:
        notes += refused(row.check(shaped, game))
    except LimitError as error:
        raise LimitError(f"{error}{_remedy(row, shaped, game)}") from error
    return Written(row.dump(shaped, options), shaped, notes, pieces, _tag_file(shaped, options))


def _tag_file(model: VertexModel, options: Options) -> Mapping[str, bytes]:
    """Return the file of a model's tags alone, by its suffix, if that is asked for and there are some."""
    row = by_name("tag")
    if not options.get(WRITE_TAGS):
        return {}
    if not model.tags:
        log.warning("'%s' has no tags: no %s is written", model.name, row.suffixes[0])
        return {}
    return {row.suffixes[0]: row.dump(model.tags_alone())}


def further_left_out(format_name: str, model: VertexModel) -> list[str]:
    """Return that a format holds one set of texture coordinates, where a model has more, in a sentence."""
    names = dict.fromkeys(name for surface in model.surfaces for name in surface.further_uvs)
    return (
        [f"{format_name.upper()} holds one set of texture coordinates: left out: {listed(list(names))}"]
        if names
        else []
    )


def _left_out(row: Format, model: VertexModel) -> list[str]:
    """Return what another format says of a model that this one has no place for, in sentences."""
    known = {name for other in ROWS for name in other.vertex.traits} - set(row.vertex.traits)
    said = ((name.replace("_", " "), value) for name, value in model.traits.items() if name in known and value)
    lost = [f"{name} {value:g}" for name, value in said if not isinstance(value, tuple)]
    found = [f"{row.name.upper()} has no place for {', '.join(lost)}: left out"] if lost else []
    groups = model.animations if model.groups is None else model.groups
    found += further_left_out(row.name, model) if not row.vertex.further_uvs else []
    if not row.vertex.groups and any(clip.times for clip in groups):
        found.append(f"{row.name.upper()} has no groups of frames: they become frames like others")
    return found


def _split(row: Format, model: VertexModel, game: str, options: Options) -> tuple[VertexModel, Mapping[str, list[str]]]:
    """Return a model that has the shape of a format with pieces in the places of what a game takes no surface of.

    What is to be cut is coded first, so that both sides have the same normals.
    """
    limits = GAMES[game].formats.get(row.name)
    if not options.get(SPLIT) or not isinstance(limits, VertexLimits):
        return model, {}
    from ..model.edits.split_surfaces import split_surfaces, too_large  # which most files do without

    which = too_large(model, limits)
    if not which:
        return model, {}
    coded: VertexModel = row.load(row.dump(model, options), model.name)
    return split_surfaces(coded, which, limits, row.name_sizes.get("surface"))


def _remedy(row: Format, model: VertexModel, game: str) -> str:
    """Return what a modder can do about surfaces that a game takes none of that size of, or ""."""
    from ..model.edits.split_surfaces import apart, too_large

    limits = GAMES[game].formats.get(row.name)
    large = too_large(model, limits) if isinstance(limits, VertexLimits) else []
    remedies = [f"; {text}" for text in apart([model.surfaces[index] for index in large])]
    remedies += [
        f"; the option '{option.label}' cuts what is too large" for option in row.options if option.name == SPLIT
    ]
    return "".join(remedies) if large else ""
