"""Which OpenGL commands a model is written with: its source's while they hold, else new ones; see `strips`.

New ones name a texel at its middle, as id's qdata does ((s + 0.5) / width), unless most of the source's name its corner
(s / width), as some tools do; and where the source has a pair of coordinates for a vertex and texel it is that pair,
for some tools write finer ones than texels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...reporting import FormatError
from .file import Md2
from .strips import Commands, decode, encode, make
from .texels import Size

NEAR = 1e-3  # of a texel
MOST_TEXELS = 64  # of one vertex that are compared
REACH = 2.0  # texels: how far a tool's finer coordinates may be from the texel that they were rounded to


@dataclass(eq=False)
class CommandHint:
    """What the source has, and which of its vertices the present ones were."""

    words: NDArray[np.int32]
    st: NDArray[np.int16]  # (U, 2)
    triangles: NDArray[Any]  # TRIANGLE (T,)
    size: Size
    numbers: NDArray[np.int64]  # (V,) source vertex or -1
    remake: bool  # make new commands also where the source's hold


def settle_commands(md2: Md2, size: Size, hint: CommandHint | None) -> NDArray[np.int32]:
    """Return the words of the commands for the triangles and texels of `md2`, whose skin has a `size`."""
    if hint is not None and not hint.remake and _holds(md2, size, hint):
        return hint.words
    corners = _corner_texels(md2.triangles, md2.st)
    ids = np.unique(_packed(corners), return_inverse=True)[1].reshape(-1, 3)
    counts, places = make(md2.triangles["xyz"], ids)
    vertices = md2.triangles["xyz"].reshape(-1)[places].astype(np.int32)
    texels = corners.reshape(-1, 2)[places]
    known = _Coordinates(hint, size)
    return encode(Commands(counts, vertices, known.of(vertices, texels, size)))


def _holds(md2: Md2, size: Size, hint: CommandHint) -> bool:
    return (
        size == hint.size
        and np.array_equal(md2.st, hint.st)
        and np.array_equal(md2.triangles["xyz"], hint.triangles["xyz"])
        and np.array_equal(md2.triangles["st"], hint.triangles["st"])
    )


def _corner_texels(triangles: NDArray[Any], st: NDArray[np.int16]) -> NDArray[np.int16]:
    """Return the texels of triangles' corners, (T, 3, 2); (0, 0) where a triangle names none of the table's."""
    table: NDArray[np.int16] = np.concatenate((st, np.zeros((1, 2), np.int16)))
    return np.asarray(table[np.minimum(triangles["st"], len(st))])


def _packed(texels: NDArray[Any]) -> NDArray[np.int64]:
    """Return one number, below 2**32, for each texel (..., 2)."""
    shifted = texels.astype(np.int64) + 32768
    packed: NDArray[np.int64] = shifted[..., 0] << 16 | shifted[..., 1]
    return packed


def _nearest(vertices: NDArray[np.int32], exact: NDArray[np.float64], hint: CommandHint) -> NDArray[np.int64]:
    """Return the key (n,) of the source's own vertex and texel that each coordinate, in texels (n, 2), means; or -1."""
    offered = hint.triangles["xyz"].astype(np.int64) << 32 | _packed(_corner_texels(hint.triangles, hint.st))
    offered = np.unique(offered)  # by vertex
    owner = offered >> 32
    texels = np.stack((offered >> 16 & 0xFFFF, offered & 0xFFFF), axis=1) - 32768
    start, end = (np.searchsorted(owner, vertices, side=side) for side in ("left", "right"))
    best, keys = np.full(len(vertices), REACH), np.full(len(vertices), -1, np.int64)
    for step in range(min(int((end - start).max(initial=0)), MOST_TEXELS)):
        left = np.flatnonzero(start + step < end)
        place = start[left] + step
        distance = np.abs(exact[left] - texels[place]).max(axis=1)
        nearer = distance < best[left]
        best[left[nearer]], keys[left[nearer]] = distance[nearer], offered[place[nearer]]
    return keys


class _Coordinates:
    """The coordinates that the source's commands have for its vertices and texels."""

    def __init__(self, hint: CommandHint | None, size: Size) -> None:
        self.keys: NDArray[np.int64] = np.zeros(0, np.int64)  # vertex and texel
        self.coords: NDArray[np.float32] = np.zeros((0, 2), np.float32)
        self.middle = 0.5  # of a texel, which coordinates name
        self.numbers: NDArray[np.int64] = np.zeros(0, np.int64)
        if hint is None or size != hint.size or min(size) < 1:
            return
        self.numbers = hint.numbers
        count = int(hint.triangles["xyz"].max(initial=0)) + 1
        try:
            old = decode(hint.words, count)
        except FormatError:
            return
        exact = old.coords.astype(np.float64) * size
        if not np.isfinite(exact).all() or not len(exact):
            return
        at_middle = np.abs(exact - 0.5 - np.rint(exact - 0.5)) < NEAR
        at_corner = np.abs(exact - np.rint(exact)) < NEAR
        self.middle = 0.0 if at_corner.all(axis=1).sum() > at_middle.all(axis=1).sum() else 0.5
        keys = _nearest(old.vertices, exact - self.middle, hint)
        real = keys >= 0
        self.keys, first = np.unique(keys[real], return_index=True)
        self.coords = old.coords[real][first]

    def of(self, vertices: NDArray[np.int32], texels: NDArray[np.int16], size: Size) -> NDArray[np.float32]:
        """Return coordinates (n, 2) for vertices (n,) and texels (n, 2)."""
        coords: NDArray[np.float32] = ((texels + self.middle) / np.maximum(np.array(size, np.float64), 1.0)).astype(
            np.float32
        )
        if len(self.keys):
            numbers = self.numbers[vertices]
            keys = np.where(numbers < 0, 0, numbers) << 32 | _packed(texels)
            place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
            known = (numbers >= 0) & (self.keys[place] == keys)
            coords[known] = self.coords[place[known]]
        return coords
