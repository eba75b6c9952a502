"""Pictures that lie in a model's own file: Quake's palette, skins, colours to numbers of a palette, and other sizes.

The numbers of the palette are those of `gfx/palette.lmp`, 768 bytes of red, green and blue, as LibreQuake has it
(`lq1/gfx/palette.lmp`, under the BSD licence of three clauses), row by row of 16 colours: 256, of which 244 differ.
0 is black. The last two rows are as bright in the dark as in the light. A player's colours take the places of rows 1
(shirt) and 6 (trousers). The last colour is transparent in models of which a flag says so that some engines know.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Palette = NDArray[np.uint8]  # (256, 3)
SIZE = 768  # bytes
FULL_BRIGHT = range(224, 256)
SHIRT, TROUSERS = range(16, 32), range(96, 112)
TRANSPARENT = 255

_ROWS = (
    "0000000f0f0f1f1f1f2f2f2f3f3f3f4b4b4b5b5b5b6b6b6b7b7b7b8b8b8b9b9b9babababbbbbbbcbcbcbdbdbdbebebeb"
    "0f0b07170f0b1f170b271b0f2f2313372b173f2f174b371b533b1b5b431f634b1f6b531f73571f7b5f238367238f6f23"
    "0b0b0f13131b1b1b272727332f2f3f37374b3f3f574747674f4f735b5b7f63638b6b6b977373a37b7baf8383bb8b8bcb"
    "0000000707000b0b001313001b1b002323002b2b072f2f073737073f3f074747074b4b0b53530b5b5b0b63630b6b6b0f"
    "0700000f00001700001f00002700002f00003700003f00004700004f00005700005f00006700006f00007700007f0000"
    "1313001b1b002323002f2b00372f004337004b3b075743075f47076b4b0b77530f8357138b5b13975f1ba3631faf6723"
    "2313072f170b3b1f0f4b2313572b17632f1f7337237f3b2b8f43339f4f33af632fbf772fcf8f2bdfab27efcb1ffff31b"
    "0b07001b13002b230f372b1347331b533723633f2b6f47337f533f8b5f479b6b53a77b5fb7876bc3937bd3a38be3b397"
    "ab8ba39f7f979373878b677b7f5b6f7753636b4b575f3f4b5737434b2f3743272f371f232b171b231313170b0b0f0707"
    "bb739faf6b8fa35f839757778b4f6b7f4b5f7343536b3b4b5f333f532b3747232b3b1f232f171b231313170b0b0f0707"
    "dbc3bbcbb3a7bfa39baf978ba3877b977b6f876f5f7b63536b57475f4b3b533f33433327372b1f271f171b130f0f0b07"
    "6f837b677b6f5f7367576b5f4f6357475b4f3f5347374b3f2f43372b3b2f2333271f2b1f1723170f1b130b130b070b07"
    "fff31befdf17dbcb13cbb70fbba70fab970b9b83078b73077b63076b53005b47004b37003b2b002b1f001b0f000b0700"
    "0000ff0b0bef1313df1b1bcf2323bf2b2baf2f2f9f2f2f8f2f2f7f2f2f6f2f2f5f2b2b4f23233f1b1b2f13131f0b0b0f"
    "2b00003b00004b07005f07006f0f007f1707931f07a3270bb7330fc34b1bcf632bdb7f3be3974fe7ab5fefbf77f7d38b"
    "a77b3bb79b37c7c337e7e3577fbfffabe7ffd7ffff6700008b0000b30000d70000ff0000fff393fff7c7ffffff9f5b53"
)
OPAQUE = 128  # of 255: from there on an alpha is seen
Picture = NDArray[np.uint8]  # (H, W) numbers of a palette, or (H, W, 3 or 4) colours; the top row first
Numbers = NDArray[np.uint8]  # (H, W)
CHUNK = 1 << 12  # colours that are compared with a palette at once
SPREAD = 24  # of 256 levels, by which dithering lifts and lowers colours: about what lies between those of a palette
# Bayer's matrix: in which order the pixels of a tile become brighter.
TILE = np.array([
    [0, 32, 8, 40, 2, 34, 10, 42], [48, 16, 56, 24, 50, 18, 58, 26], [12, 44, 4, 36, 14, 46, 6, 38],
    [60, 28, 52, 20, 62, 30, 54, 22], [3, 35, 11, 43, 1, 33, 9, 41], [51, 19, 59, 27, 49, 17, 57, 25],
    [15, 47, 7, 39, 13, 45, 5, 37], [63, 31, 55, 23, 61, 29, 53, 21],
])  # fmt: skip


@cache
def quake_palette() -> Palette:
    """Return the palette, (256, 3)."""
    return np.frombuffer(bytes.fromhex(_ROWS), np.uint8).reshape(256, 3)


def read_palette(data: bytes) -> Palette | None:
    """Return the palette in a file `palette.lmp`; None if it is none."""
    return np.frombuffer(data[:SIZE], np.uint8).reshape(256, 3) if len(data) >= SIZE else None


@dataclass(eq=False)
class Skin:
    """A picture, or several that a game shows in turn.

    Its `name` is that of the shader that shows it: files have none. `times` are the ends of its pictures, in seconds
    from the first one's beginning; a lone picture has none.
    """

    name: str
    pictures: list[Picture]
    times: tuple[float, ...] = ()
    source_index: int = -1  # the source's skin that this one was

    @property
    def names(self) -> list[str]:
        """Return what its pictures are called: as the skin, or numbered from 0 where it may have several."""
        return [f"{self.name}_{i}" for i in range(len(self.pictures))] if self.times else [self.name]

    def shows_the_same(self, other: Skin) -> bool:
        """Tell whether another one has the same pictures, for as long."""
        alike = self.times == other.times and len(self.pictures) == len(other.pictures)
        return alike and all(map(np.array_equal, self.pictures, other.pictures))


def skin_names(model_name: str, count: int) -> list[str]:
    """Return what the skins of a model are called: as engines call the files that may take their places."""
    return [f"{model_name}_{i}" for i in range(count)]


def colors_of(picture: Picture, palette: Palette | None = None) -> NDArray[np.uint8]:
    """Return the colours (H, W, 3 or 4) of a picture; of numbers those of a palette, or else of Quake's."""
    return (quake_palette() if palette is None else palette)[picture] if picture.ndim == 2 else picture


def is_opaque(picture: Picture) -> NDArray[np.bool_]:
    """Tell which pixels (H, W) of a picture are seen."""
    if picture.ndim == 2:
        return np.asarray(picture != TRANSPARENT)
    return np.ones(picture.shape[:2], np.bool_) if picture.shape[2] == 3 else np.asarray(picture[..., 3] >= OPAQUE)


class Matching(NamedTuple):
    """How colours become numbers."""

    palette: Palette
    dither: bool = False
    avoided: Collection[int] = ()  # numbers that no pixel gets
    exact_only: Collection[int] = ()  # numbers that those pixels get alone which have just that colour


def match(colors: NDArray[np.uint8], how: Matching, hint: Numbers | None = None) -> Numbers:
    """Return the numbers (H, W) of colours (H, W, 3); `hint`, of the same size, is what they were.

    A number of the hint stays where it still shows the colour. A colour of the palette gets its number, the lowest of
    several, any other the nearest one by the sum of squares, or with dithering one of those nearby.
    """
    kept = np.zeros(colors.shape[:2], np.bool_)
    found: Numbers = np.zeros(colors.shape[:2], np.uint8)
    if hint is not None and hint.shape == kept.shape:
        kept = _packed(how.palette).take(hint) == _packed(colors)
        if kept.all():
            return hint.copy()
        found[kept] = hint[kept]
    places = np.nonzero(~kept)
    wanted = colors[places].astype(np.int64)
    if not len(wanted):
        return found
    numbers, exact = _nearest(wanted, how, set(how.avoided))
    others = ~exact
    if how.dither or how.exact_only:
        rows, columns = (each[others] for each in places)
        moved = wanted[others]
        if how.dither:
            shift = (2 * TILE[rows % 8, columns % 8] - 63) * SPREAD
            moved = np.clip(moved + np.floor_divide(shift + 64, 128)[:, None], 0, 255)
        numbers[others] = _nearest(moved, how, {*how.avoided, *how.exact_only})[0]
    found[places] = numbers
    return found


def _packed(colors: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """Return one number (...,) for each colour (..., 3)."""
    found = colors[..., 0].astype(np.uint32)
    for axis in (1, 2):
        found <<= np.uint32(8)
        found |= colors[..., axis]
    return found


def _nearest(colors: NDArray[np.int64], how: Matching, avoided: set[int]) -> tuple[Numbers, NDArray[np.bool_]]:
    """Return the nearest numbers (n,) of colours (n, 3), and which of these are just those colours."""
    allowed = np.array([n for n in range(len(how.palette)) if n not in avoided], np.int64)
    if not len(allowed):
        allowed = np.arange(len(how.palette))
    table = how.palette[allowed].astype(np.int64)
    packed = _packed(colors.astype(np.uint8)).astype(np.int64)
    values, index = np.unique(packed, return_inverse=True)
    best, off = np.zeros(len(values), np.int64), np.zeros(len(values), np.int64)
    for start in range(0, len(values), CHUNK):
        part = slice(start, start + CHUNK)
        distances = _distances(values[part], table)
        best[part] = distances.argmin(axis=1)
        off[part] = distances.min(axis=1)
    index = index.reshape(-1)
    return allowed[best][index].astype(np.uint8), np.asarray(off[index] == 0)


def _distances(packed: NDArray[np.int64], table: NDArray[np.int64]) -> NDArray[Any]:
    """Return the squared distances (n, m) of packed colours (n,) from those of a table (m, 3)."""
    total = np.zeros((len(packed), len(table)), np.int64)
    for axis, shift in enumerate((16, 8, 0)):
        total += (((packed >> shift) & 255)[:, None] - table[:, axis]) ** 2
    return total


def resized(picture: NDArray[Any], width: int, height: int) -> NDArray[np.uint8]:
    """Return a picture (H, W), of numbers that mean something, or (H, W, n), of levels, in another size.

    A texel of numbers is the one at its middle; one of levels is the mean of those that it covers, or the one that it
    lies in.
    """
    if picture.shape[:2] == (height, width):
        return picture
    old_height, old_width = picture.shape[:2]
    if picture.ndim == 2:
        rows = (2 * np.arange(height) + 1) * old_height // (2 * height)
        columns = (2 * np.arange(width) + 1) * old_width // (2 * width)
        return np.ascontiguousarray(picture[rows][:, columns])
    columns = np.arange(width + 1) * old_width // width
    rows = np.arange(height + 1) * old_height // height
    sums = np.zeros((old_height + 1, old_width + 1, picture.shape[2]), np.int64)
    sums[1:, 1:] = picture.astype(np.int64).cumsum(0).cumsum(1)
    top, bottom = rows[:-1], np.maximum(rows[1:], rows[:-1] + 1)
    left, right = columns[:-1], np.maximum(columns[1:], columns[:-1] + 1)
    total = sums[bottom][:, right] - sums[top][:, right] - sums[bottom][:, left] + sums[top][:, left]
    area = (bottom - top)[:, None, None] * (right - left)[None, :, None]
    return np.asarray((2 * total + area) // (2 * area), np.uint8)


def fitting(picture: NDArray[Any], largest: int) -> NDArray[np.uint8]:
    """Return a picture of which no side has more than so many texels."""
    height, width = picture.shape[:2]
    if max(height, width) <= largest:
        return picture
    scale = largest / max(height, width)
    return resized(picture, max(round(width * scale), 1), max(round(height * scale), 1))
