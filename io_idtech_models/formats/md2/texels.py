"""Texture coordinates in whole texels of a skin, with an index of their own: MD2's.

A texel (s, t) counts from the top left. It is shown at its middle, (s + 0.5) / width and 1 - (t + 0.5) / height, as
id's qdata writes the coordinates of OpenGL commands (`BuildGlCmds`). A skin without a size counts as one of 1 x 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...reporting import LimitError
from ..common.quake import Size, decode_texels, exact_texels, skin_size

MAX_ENTRIES = 65536
LOW, HIGH = -32768, 32767
EDGE = 0.25  # of a texel: what is no farther outside of the skin lies on its edge; an outer texel is shown at 0.5


def encode_st(uvs: NDArray[np.float32], size: Size) -> tuple[NDArray[np.int16], NDArray[np.bool_]]:
    """Return the texels (..., 2) closest to texture coordinates, and which lie in reach of texel numbers, (...,).

    Inverse of `decode_texels`. On the skin's edge it is the skin's own texel there: DarkPlaces takes the first for an
    outer one ("invalid skin coordinate"). Out of reach it is the farthest, and of what is no number the first.
    """
    wide, exact = skin_size(size), exact_texels(uvs, size)
    at_edge = (exact > -EDGE) & (exact < wide + EDGE)
    texels = np.rint(exact - 0.5)
    texels = np.where(at_edge, np.clip(texels, 0, wide - 1), texels)
    near = np.asarray(((texels >= LOW) & (texels <= HIGH)).all(axis=-1))
    return np.clip(np.nan_to_num(texels), LOW, HIGH).astype(np.int16), near


class TexelTable:
    """The texture coordinates of a source, and how the present ones fit into them.

    `st` (U, 2) and `size` are the source's; `used` (U,) tells which of its entries its triangles use.
    """

    def __init__(self, st: NDArray[np.int16], size: Size, used: NDArray[np.bool_]) -> None:
        self.st, self.size, self.used = st, size, used

    def settle(
        self, uvs: NDArray[np.float32], hints: NDArray[Any], size: Size, name: str
    ) -> tuple[NDArray[np.int16], NDArray[np.uint16]]:
        """Return texels (U, 2) and an index for each of `uvs` (n, 2), whose entry in the source is `hints` (n,), or -1.

        An entry stays while it still decodes to the coordinate, and changes in place where all its corners moved to
        one texel. Others share the entry of an equal texel, or get new ones at the end. Entries that lost their last
        corner go; those that never had one stay.

        Raises:
            LimitError: a coordinate far outside the skin, or too many different ones.
        """
        wanted, near = encode_st(uvs, size)
        count = len(self.st)
        if count == 0 and not len(uvs):
            return self.st, np.zeros(0, np.uint16)
        same = self._unchanged(uvs, wanted, near, hints, size)
        if not (near | same).all():
            u, v = uvs[~(near | same)][0].tolist()
            raise LimitError(f"'{name}' has the texture coordinate ({u:g}, {v:g}): MD2 holds texels {LOW} to {HIGH}")
        index = np.where(same, hints, -1).astype(np.int64)
        st = self.st.copy()
        self._move_entries(st, index, wanted, hints, same)
        st = _share(st, index, wanted, self._alive(index))
        if (index >= len(st)).any():  # indices that no entry has, as some files do: nothing may be renumbered
            return st, _checked(index, name)
        gone = np.zeros(len(st), np.bool_)
        gone[:count] = ~self._alive(index)
        place = np.cumsum(~gone) - 1
        return st[~gone], _checked(place[index], name)

    def _unchanged(
        self,
        uvs: NDArray[np.float32],
        wanted: NDArray[np.int16],
        near: NDArray[np.bool_],
        hints: NDArray[Any],
        size: Size,
    ) -> NDArray[np.bool_]:
        """Tell which corners (n,) show the texel that they had, (0, 0) where they had none."""
        if size != self.size:
            return np.zeros(len(uvs), np.bool_)
        beyond = hints >= len(self.st)
        own = np.where(beyond | (hints < 0), 0, hints)
        st = self.st[own] if len(self.st) else np.zeros((len(uvs), 2), np.int16)
        shown = (decode_texels(st, size) == uvs).all(axis=1) | (near & (st == wanted).all(axis=1))
        return np.where(beyond, (uvs == 0.0).all(axis=1), shown) & (hints >= 0)

    def _move_entries(
        self,
        st: NDArray[np.int16],
        index: NDArray[np.int64],
        wanted: NDArray[np.int16],
        hints: NDArray[Any],
        same: NDArray[np.bool_],
    ) -> None:
        """Change entries in place, in `st` and `index`, that lost all their corners to one texel."""
        count = len(st)
        moved = np.flatnonzero(~same & (hints >= 0) & (hints < count))
        if not len(moved):
            return
        packed = _packed(wanted[moved])
        low = np.full(count, np.iinfo(np.int64).max)
        high = np.full(count, np.iinfo(np.int64).min)
        np.minimum.at(low, hints[moved], packed)
        np.maximum.at(high, hints[moved], packed)
        keeps = same & (hints < count)
        held = np.bincount(hints[keeps], minlength=count) > 0
        free = (low == high) & ~held
        chosen = moved[free[hints[moved]]]
        st[hints[chosen]] = wanted[chosen]
        index[chosen] = hints[chosen]

    def _alive(self, index: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which entries of the source (U,) corners use now, or never did."""
        count = len(self.st)
        now = np.bincount(index[(index >= 0) & (index < count)], minlength=count) > 0
        alive: NDArray[np.bool_] = now | ~self.used
        return alive


def _packed(texels: NDArray[np.int16]) -> NDArray[np.int64]:
    """Return one number (n,) for each texel (n, 2)."""
    packed: NDArray[np.int64] = texels[:, 0].astype(np.int64) * 65536 + texels[:, 1]
    return packed


def _share(
    st: NDArray[np.int16], index: NDArray[np.int64], wanted: NDArray[np.int16], alive: NDArray[np.bool_]
) -> NDArray[np.int16]:
    """Give corners without an entry, in `index`, that of an equal texel or a new one; return the entries.

    Entries that are not `alive` are taken where no other is equal: the corners came from there, by another way.
    """
    rest = np.flatnonzero(index < 0)
    if not len(rest):
        return st
    offered = np.argsort(~alive, kind="stable")
    packed = np.concatenate((_packed(st[offered]), _packed(wanted[rest])))
    _, first, group = np.unique(packed, return_index=True, return_inverse=True)
    first = first[group.reshape(-1)][len(offered) :]  # the first equal texel, of an entry where there is one
    new = np.unique(first[first >= len(offered)])
    names = np.concatenate((offered, np.zeros(len(rest), np.int64)))
    names[new] = len(st) + np.arange(len(new))
    index[rest] = names[first]
    return np.concatenate((st, wanted[rest[new - len(offered)]]))


def _checked(index: NDArray[np.int64], name: str) -> NDArray[np.uint16]:
    if index.size and int(index.max()) >= MAX_ENTRIES:
        raise LimitError(f"'{name}' has {int(index.max()) + 1} texture coordinates, MD2 holds {MAX_ENTRIES}")
    return index.astype(np.uint16)
