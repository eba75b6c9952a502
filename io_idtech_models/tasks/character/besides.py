"""What belongs to a character and stands nowhere in the scene goes along as it is; pictures as they were painted on.

Blender itself can't write all kinds of these.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from pathlib import Path, PurePath

import bpy
import numpy as np

from ...blender.compat import Block
from ...blender.shading.pixels import is_changed, origin_of, pixels_of
from ...game.pictures import pcx
from ...model.pictures import Matching, match
from ...reporting import FormatError, ModelError, listed, plural
from ..import_.games import user_disk
from .saved import SavedCharacter

log = logging.getLogger(__name__)
CLEAR = 255  # of the palette: icons, which are shown on the screen, are seen through there


def take_along(saved: SavedCharacter) -> None:
    """Take along what belongs to a character and is not written yet."""
    disk, lost, record = user_disk(), [], saved.record
    images, told = _painted(record.besides), []
    for path, place in record.besides.items():
        if path in saved.files:
            continue
        try:
            source = disk.file(Path(place)).read()
        except ModelError:
            lost.append(path)
            continue
        data = _painted_file(images[path], path, source) if path in images else source
        told += [path] if data is None else []
        saved.put(path, data or source, data is None or data == source)
    if told:
        log.warning("painted on, and written as the file has it, save the picture first: %s", listed(told))
    if lost:
        log.warning("left out, they are not where they were any more: %s", listed(lost))


def _painted(besides: Mapping[str, str]) -> dict[str, Block]:
    """Return the images that show something else than the files that they came from; by the paths in the game."""
    every = {origin_of(image): image for image in bpy.data.images if is_changed(image)}
    every.pop("", None)
    found = {path: every.get(os.path.abspath(place)) for path, place in besides.items()}  # noqa: PTH100 - as `origin_of`
    return {path: image for path, image in found.items() if image is not None}


def _painted_file(image: Block, path: str, source: bytes) -> bytes | None:
    """Return the file of a picture as an image shows it, in the colours that its `source` has; None of other kinds.

    A colour that the picture has not becomes the nearest that it has: said.
    """
    if PurePath(path).suffix.lower() != ".pcx":
        return None
    shown = pixels_of(image)
    try:
        known = pcx.numbers_of(source)
    except FormatError:
        return None
    if shown is None or known is None:
        return None
    numbers, palette = known
    colours = np.ascontiguousarray(shown[::-1, :, :3])
    made = match(colours, Matching(palette, avoided=(CLEAR,)), numbers)
    if made.shape == numbers.shape and (made == numbers).all():
        return source
    others = int((palette[made] != colours).any(axis=2).sum())
    if others:
        text = "'%s' has 256 colours, and the nearest of these where others were painted: in %s"
        log.warning(text, path, plural(others, "pixel"))
    return pcx.encode(made, palette)
