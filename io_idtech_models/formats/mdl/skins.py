"""The pictures of an MDL: numbers of a palette, one or a group of them for each skin."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.clips import fitted_times
from ...model.pictures import (
    FULL_BRIGHT,
    SHIRT,
    TRANSPARENT,
    TROUSERS,
    Matching,
    Picture,
    Skin,
    is_opaque,
    match,
    quake_palette,
    resized,
)
from ...model.source import CodedSource
from ...model.vertex import VertexModel
from ...reporting import LimitError
from .groups import GROUP, parts_fit, settle_times
from .header import MdlOptions
from .parts import Parts

log = logging.getLogger(__name__)

Size = tuple[int, int]  # width and height
Facts = dict[str, NDArray[Any]]
PLAYER = "player"  # how models begin whose colours a game replaces
HOLES = 0x4000  # a flag: the last colour is transparent (MF_HOLEY: Hexen II's, QuakeSpasm's, Ironwail's and others')
MOST_TEXELS, MOST_SIDE = 1 << 24, 1 << 15  # of a picture that is made
PLAIN = 4  # the number of a skin of which nothing is known: a dark grey


def skin_facts(skins: Parts, pictures: NDArray[np.uint8]) -> Facts:
    """Return what a file says of its skins, as facts; see `stored_skins`."""
    return {
        "skin_kinds": skins.kinds, "skin_counts": skins.counts, "skin_times": skins.times, "skin_pictures": pictures,
    }  # fmt: skip


def stored_skins(facts: Facts) -> Parts:
    """Return the skins that facts tell of; inverse of `skin_facts`."""
    pictures, kinds = facts["skin_pictures"], facts["skin_kinds"]
    count = int(facts["skin_counts"].sum(dtype=np.int64)) if pictures.size == 0 else len(pictures)
    payloads = pictures.reshape(count, -1) if pictures.size else np.zeros((count, 0), np.uint8)
    heads = np.zeros((int((kinds != 0).sum()), 0), np.uint8)
    return Parts(kinds, facts["skin_counts"], heads, facts["skin_times"], payloads)


def skins_fit(facts: Facts, size: Size) -> bool:
    """Tell whether a .blend's skins are such as a file may have, of pictures of a size."""
    pictures = facts["skin_pictures"]
    if pictures.size and pictures.shape[1:] != (size[1], size[0]):
        return False
    if not pictures.size and size[0] * size[1] and len(facts["skin_kinds"]):
        return False
    return parts_fit(stored_skins(facts), len(stored_skins(facts).payloads), 0)


def shown_skins(skins: Parts, pictures: NDArray[np.uint8], names: list[str]) -> list[Skin]:
    """Return the skins of a file under names; none where their pictures have no size."""
    ends = zip(skins.firsts.tolist(), skins.firsts[1:].tolist(), strict=False)
    return [
        Skin(name, list(pictures[first:end]), tuple(skins.times_of(index).tolist()), index)
        for index, (name, (first, end)) in enumerate(zip(names, ends, strict=True))
    ]


def settle_skins(model: VertexModel, own: CodedSource | None, size: Size, flags: int, options: MdlOptions) -> Parts:
    """Return the skins of a model, with pictures of a size."""
    stored = None if own is None else stored_skins(own.facts)
    if stored is not None and not all(size):
        return stored
    if not model.skins and stored is not None:
        sized = _stored_pictures(own)
        if not len(sized) or sized.shape[1:] == (size[1], size[0]):
            return stored
        shrunk = np.stack([resized(each, *size).ravel() for each in sized])
        return Parts(stored.kinds, stored.counts, stored.heads, stored.times, shrunk)
    how = _matching(model, own, options)
    kinds, counts, times, payloads = list[int](), list[int](), list[NDArray[np.float32]](), list[Any]()
    for skin in model.skins or [Skin("", [])]:
        hint = _Hint(own, stored, skin.source_index)
        pictures = skin.pictures or list(hint.pictures) or [np.full((1, 1), PLAIN, np.uint8)]
        kinds.append(hint.kind(bool(skin.times)))
        counts.append(len(pictures) if skin.times else 1)
        if skin.times:
            times.append(settle_times(fitted_times(skin.times, len(pictures)), hint.times))
        for nth, picture in enumerate(pictures[: counts[-1]]):
            sized = _sized(picture, size, skin.name)
            payloads.append(_numbers(sized, how, hint.picture(nth), flags))
    grouped = sum(kind != 0 for kind in kinds)
    return Parts(
        np.array(kinds, np.int32),
        np.array(counts, np.int32),
        np.zeros((grouped, 0), np.uint8),
        np.concatenate([np.zeros(0, np.float32), *times]),
        np.stack([each.ravel() for each in payloads]),
    )


def _sized(picture: Picture, size: Size, name: str) -> Picture:
    """Return a picture in the size that all have; one pixel is a colour.

    Raises:
        LimitError: that is larger than anything that shows it.
    """
    height, width = picture.shape[:2]
    if size[0] * size[1] > MOST_TEXELS or max(size) > MOST_SIDE:
        raise LimitError(f"the skin '{name}' would have {size[0]} x {size[1]} texels, beyond all reason")
    if (width, height) not in {size, (1, 1)}:
        log.warning("the picture of '%s', %d x %d, is written as %d x %d", name, width, height, *size)
    return resized(picture, *size)


class _Hint:
    """What the source says of one of its skins."""

    def __init__(self, own: CodedSource | None, stored: Parts | None, index: int) -> None:
        known = stored is not None and 0 <= index < len(stored.kinds)
        self.stored, self.index = (stored if known else None), index
        self.pictures = _stored_pictures(None)
        self.times: NDArray[np.float32] = np.zeros(0, np.float32)
        if stored is not None and known:
            first, end = stored.firsts[index : index + 2].tolist()
            self.times = stored.times_of(index)
            self.pictures = _stored_pictures(own)[first:end]

    def kind(self, grouped: bool) -> int:
        """Return the kind of a skin that is a group or not: the source's if that is one, too."""
        if not grouped:
            return 0
        return GROUP if self.stored is None else int(self.stored.kinds[self.index]) or GROUP

    def picture(self, nth: int) -> NDArray[np.uint8] | None:
        """Return one of its pictures, or None."""
        return self.pictures[nth] if nth < len(self.pictures) else None


def _stored_pictures(own: CodedSource | None) -> NDArray[np.uint8]:
    return np.zeros((0, 0, 0), np.uint8) if own is None else own.facts["skin_pictures"]


def _matching(model: VertexModel, own: CodedSource | None, options: MdlOptions) -> Matching:
    """Return how a model's colours become numbers."""
    avoided = {TRANSPARENT} | (set(FULL_BRIGHT) if options.avoid_full_brights else set())
    name = model.name if own is None else own.name
    kept = name.lower().startswith(PLAYER) and not options.player_colors
    replaced = {*SHIRT, *TROUSERS} if kept else set()
    palette = quake_palette() if model.palette is None else model.palette
    return Matching(palette, options.dither, frozenset(avoided), frozenset(replaced))


def _numbers(picture: Picture, how: Matching, hint: NDArray[np.uint8] | None, flags: int) -> NDArray[np.uint8]:
    """Return a picture as numbers."""
    if picture.ndim == 2:
        return picture
    numbers = match(picture[..., :3], how, hint)
    if flags & HOLES:
        numbers[~is_opaque(picture)] = TRANSPARENT
    return numbers
