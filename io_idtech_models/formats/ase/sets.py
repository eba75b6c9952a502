"""Further sets of texture coordinates: those of a mesh beside the set that games draw, which is the last one (`file`).

A set has a number, its channel, and is called by that as 3ds Max's FBX files call it: `UVChannel_2`. Coordinates of
further sets are shown as they stand: a material's offset, tiling and angle are those of the set that is drawn.

What is written anew has its further sets before the drawn one, so that both engines draw that.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .file import BASE_CHANNEL, SET_KEYWORDS, Mesh, UvSet
from .text import Edits, set_texts

log = logging.getLogger(__name__)

NAME = re.compile(r"UVChannel_([1-9][0-9]{0,8})")
MOST_SAID = 8
Floats = NDArray[np.float32]


@dataclass(eq=False)
class Sets:
    """The sets of a mesh as they are to be written: T triangles."""

    drawn: int = BASE_CHANNEL  # its channel
    further: dict[int, Floats] = field(default_factory=dict)  # by channel, (T, 3, 2) of corners, in their order


def set_names(mesh: Mesh) -> list[str]:
    """Return what the sets of a mesh are called: the drawn one first, "" without one, then the further ones."""
    return ["" if each is None else f"UVChannel_{each.channel}" for each in (mesh.drawn, *mesh.further)]


def further_corners(mesh: Mesh, faces: NDArray[np.int64]) -> dict[str, Floats]:
    """Return the further texture coordinates of some faces' corners (T, 3, 2), by their names."""
    names = set_names(mesh)[1:]
    return {
        name: each.tverts.values[:, :2].astype(np.float32)[each.tfaces[faces]]
        for name, each in zip(names, mesh.further, strict=True)
        if each.tfaces is not None
    }


def numbered(drawn: str, further: Mapping[str, Floats], mesh: Mesh | None, known: Mapping[str, Floats]) -> Sets:
    """Return sets by their channels: the file's own, those that their names say, and else the lowest that are free.

    `known` are the further ones of the file at the same triangles: a set that is called otherwise keeps its channel.
    """
    channels: dict[str, int] = {}
    old_drawn = BASE_CHANNEL if mesh is None or mesh.drawn is None else mesh.drawn.channel
    if mesh is not None:
        for name, each in zip(set_names(mesh), [mesh.drawn, *mesh.further], strict=True):
            if each is not None:
                channels[name] = each.channel
    drawn = drawn or next(iter(channels), "")
    wanted = [*further, drawn]
    found = {name: channels[name] for name in wanted if name in channels}
    for name in wanted:
        match = NAME.fullmatch(name)
        if name not in found and match is not None and int(match[1]) not in found.values():
            found[name] = int(match[1])
    for name, values in further.items():
        before = [old for old, was in known.items() if old not in further and np.array_equal(was, values)]
        if name not in found and before and channels.get(before[0], 0) not in {0, *found.values()}:
            found[name] = channels[before[0]]
    for name in [drawn, *further]:
        if name not in found:
            free = [old_drawn] if name == drawn else []
            found[name] = next(n for n in (*free, *range(1, len(wanted) + len(found) + 2)) if n not in found.values())
    return Sets(found[drawn], {found[name]: values for name, values in further.items()})


def say_numbers(surface: str, drawn: str, sets: Sets, names: Iterable[str]) -> None:
    """Say which channels sets have whose names (of the further ones) say none."""
    called = zip((drawn, *names), (sets.drawn, *sets.further), strict=True)
    lost = [f"'{name}' is UVChannel_{number}" for name, number in called if name and NAME.fullmatch(name) is None]
    if lost and sets.further:
        log.warning("'%s': ASE has numbers for names of UV maps: %s", surface, ", ".join(lost[:MOST_SAID]))


def can_patch(mesh: Mesh, sets: Sets) -> bool:
    """Tell whether the sets of a mesh need not be written anew: its own is drawn, and they stand in their order."""
    old = [each.channel for each in mesh.further]
    if mesh.drawn is None or sets.drawn != mesh.drawn.channel:
        return not sets.further and not old
    stay = [channel for channel in sets.further if channel in old]
    return list(sets.further)[: len(stay)] == [channel for channel in old if channel in sets.further]


def patch_sets(edits: Edits, mesh: Mesh, sets: Sets) -> None:
    """Write what changed of the further sets of all faces of a mesh, and no more; of one that `can_patch` allows."""
    if mesh.drawn is None:
        return
    old = {each.channel: each for each in mesh.further}
    new = [channel for channel in sets.further if channel not in old]
    gone = [each for channel, each in old.items() if channel not in sets.further]
    _renumber(edits, gone, new, sets)
    for each in gone:
        for start, end in each.pieces.values() if each.span is None else [each.span]:
            edits.drop(*edits.lines_of(start, end))
    for channel in sets.further:
        if channel in old:
            _patch(edits, old[channel], sets.further[channel])
    pieces = mesh.drawn.pieces.values() if mesh.drawn.span is None else [mesh.drawn.span]
    place = edits.line_start(min(start for start, _ in pieces))
    for channel in new:
        edits.put(place, place, b"".join(set_texts(channel, sets.further[channel])))


def _renumber(edits: Edits, gone: list[UvSet], new: list[int], sets: Sets) -> None:
    """Give sets of the file other numbers where they say what new ones do; these are none of either any more."""
    for channel in list(new):
        for each in gone:
            if each.channel_span is not None and _says(each, sets.further[channel]):
                edits.put(*each.channel_span, b"%d" % channel)
                gone.remove(each)
                new.remove(channel)
                break


def _says(each: UvSet, corners: Floats) -> bool:
    assert each.tfaces is not None
    return np.array_equal(each.tverts.values[:, :2].astype(np.float32)[each.tfaces], corners)


def _patch(edits: Edits, each: UvSet, corners: Floats) -> None:
    """Write the numbers of a set that changed; where corners of one row part its lists are written anew."""
    assert each.tfaces is not None
    rows, values = each.tfaces.ravel(), corners.reshape(-1, 2)
    shown = each.tverts.values[:, :2].astype(np.float32)
    if np.array_equal(shown[rows], values):
        return
    now = shown.copy()
    now[rows] = values
    if np.array_equal(now[rows], values):
        other = now != shown
        edits.numbers(each.tverts.spans[:, :2][other], now[other].astype(np.float64))
        return
    _, *texts, _ = set_texts(each.channel, corners)
    for keyword, text in zip(SET_KEYWORDS, texts, strict=True):
        edits.put(*each.pieces[keyword], text.strip())


def in_mesh(parts: Sequence[tuple[NDArray[np.int64], Sets]], count: int) -> Sets | None:
    """Return the sets of all faces of a mesh, of its parts' (faces (n,), sets); None where these have others."""
    first = parts[0][1]
    if any((sets.drawn, *sets.further) != (first.drawn, *first.further) for _, sets in parts):
        return None
    found = Sets(first.drawn, {number: np.zeros((count, 3, 2), np.float32) for number in first.further})
    for faces, sets in parts:
        for number, values in sets.further.items():
            found.further[number][faces] = values
    return found
