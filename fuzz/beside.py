"""What lies beside models and around them: scales of joints, tables, skins, scripts, pictures, archives."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from fuzz import characters, packs, scripts
from fuzz.guard import BrokenError, Budget
from io_idtech_models.formats.md5 import scale_file as md5scale
from io_idtech_models.game import aninc
from io_idtech_models.game.pictures import pcx
from io_idtech_models.reporting import ModelError, collected_warnings

NAMES, FRAMES = ["origin", "hips", "arm"], 6
SCALE = b'{\n\t"hips": {"scale_positions": true, "0": 1.5, "3": 0.25},\n\t"arm": {"2": 2}\n}\n'
TABLE = (
    b"// name first length loop fps speed transition reversed\n"
    b"\"stand\"\t0 20 20 15 0 0 0\nrun 20\t9 9 21.5 180 100 1 /* back */\n"
)  # fmt: skip


def picture() -> bytes:
    """Return a small picture of runs with a palette."""
    header = np.zeros((), pcx.HEADER)
    header["manufacturer"], header["version"], header["encoding"], header["bits_per_pixel"] = 10, 5, 1, 8
    header["xmax"], header["ymax"], header["color_planes"], header["bytes_per_line"] = 7, 3, 1, 8
    lines = bytes((0xC5, 7, 0xC2, 0xC1, 3)) * 4
    return header.tobytes() + lines + bytes((12,)) + bytes(range(256)) * 3


def _scales(data: bytes) -> None:
    scales = md5scale.read(data, NAMES, FRAMES)
    if not np.isfinite(scales.values).all():
        raise BrokenError("scales are no numbers")
    again = md5scale.read(md5scale.write(scales, NAMES), NAMES, FRAMES)
    single = scales.values.astype(np.float32)
    if not (np.array_equal(again.values.astype(np.float32), single) and np.array_equal(again.ways, scales.ways)):
        raise BrokenError("scales came back otherwise")


def _table(data: bytes) -> None:
    text = data.decode("utf-8", errors="surrogateescape")
    rows = aninc.read_rows(text)
    if len(aninc.effective(rows)) > len(rows):
        raise BrokenError("more rows count than there are")
    if rows and aninc.write_rows(rows) != text:
        raise BrokenError("a table came back otherwise")


def _picture(data: bytes) -> None:
    pixels = pcx.decode(data)
    if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] not in (3, 4) or not pixels.size:
        raise BrokenError("a picture without pixels")


KINDS: dict[str, tuple[Callable[[bytes], None], tuple[bytes, ...]]] = {
    "md5scale": (_scales, (SCALE, b"{}")),
    "aninc": (_table, (TABLE,)),
    "char": (characters.check_definition, (characters.DEFINITION,)),
    "anim": (characters.check_group, characters.GROUPS),
    "cfg": (scripts.check_animations, scripts.ANIMATIONS),
    "skin": (scripts.check_skin, scripts.SKINS),
    "shader": (scripts.check_shaders, (scripts.SHADERS,)),
    "mtr": (scripts.check_materials, (scripts.MATERIALS,)),
    "def": (scripts.check_declarations, scripts.DECLARATIONS),
    "character": (scripts.check_settings, scripts.SETTINGS),
    "pcx": (_picture, (picture(),)),
    **{kind: (packs.check, packs.samples(kind)) for kind in packs.KINDS},
}


def check(kind: str, data: bytes, budget: Budget) -> bool:
    """Read an input; returns whether that could be done.

    Raises:
        BrokenError: a promise is broken; and any other exception that is not the input's fault.
    """
    read: Any = KINDS[kind][0]
    with collected_warnings(), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            with budget.spent("reading", len(data) * (packs.MEMORY if kind in packs.KINDS else 1)):
                read(data)
        except ModelError:
            return False
    return True
