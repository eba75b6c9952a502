"""Vertices that are each followed by their weights, so that they have no common size: MDM's, and its kin's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...reporting import FormatError
from .chunks import Lump, Place
from .records import Array, place_of

WORD = np.dtype("<i4")  # all that there is consists of
WEIGHT = np.dtype([("bone", "<i4"), ("weight", "<f4"), ("offset", "<f4", 3)])  # mdmWeight_t and its kin (qfiles.h)


@dataclass(frozen=True)
class WeightedVertices(Lump):
    """A lump of vertices, whose weights become an array of their own, `weights`, vertex after vertex.

    A vertex says in its field `num_weights` how many `WEIGHT`s it has.
    """

    dtype: np.dtype[Any]  # of a vertex
    most_bones: int = field(kw_only=True)  # a weight's bone beyond this is damage

    @property
    def _sizes(self) -> tuple[int, int, int]:
        """Return the words of a vertex and of a weight, and which of a vertex's is the number of its weights."""
        vertex, weight = self.dtype.itemsize // WORD.itemsize, WEIGHT.itemsize // WORD.itemsize
        return vertex, weight, place_of(self.dtype, "num_weights") // WORD.itemsize

    def taken(self, place: Place, offset: int) -> dict[str, Array]:
        """Return the vertices (V,) and their weights (W,), vertex after vertex; raises FormatError."""
        found = super().taken(place, offset)  # so many fit at least, without any weight
        count = len(found[self.name])
        if not count:
            return found | {"weights": np.zeros(0, WEIGHT)}
        vertex, weight, at = self._sizes
        words = np.frombuffer(place.data, WORD, (len(place.data) - offset) // WORD.itemsize, offset)
        starts = self._starts(words, count)
        ends = starts + vertex
        sizes = words[np.minimum(starts + at, len(words) - 1)].astype(np.int64)
        # A start beyond the file follows from an earlier vertex: the first that does not fit is the one to name.
        bad = np.flatnonzero((ends > len(words)) | (sizes < 0) | (ends + np.maximum(sizes, 0) * weight > len(words)))
        if len(bad):
            byte = f"byte {offset + int(starts[bad[0]] + at) * WORD.itemsize}"
            wrong = "end of file" if ends[bad[0]] > len(words) else int(sizes[bad[0]])
            text = f"number of weights of vertex {bad[0]}{place.of}"
            raise FormatError(text, byte, "as many as the file holds", wrong)
        vertices = np.ascontiguousarray(words[starts[:, None] + np.arange(vertex)]).view(self.dtype)[:, 0]
        first = np.repeat(ends - (np.cumsum(sizes) - sizes) * weight, sizes) + np.arange(int(sizes.sum())) * weight
        weights = np.ascontiguousarray(words[first[:, None] + np.arange(weight)]).view(WEIGHT).reshape(-1)
        self._check(vertices, weights, offset + first * WORD.itemsize, place.of)
        return {self.name: vertices, "weights": weights}

    def _check(self, vertices: Array, weights: Array, offsets: NDArray[np.int64], of: str) -> None:
        """Refuse weights on bones that can't be, and such as are no numbers; raises FormatError."""
        wrong = (weights["bone"] < 0) | (weights["bone"] >= self.most_bones)
        bad = np.flatnonzero(wrong | ~np.isfinite(weights["weight"]) | ~np.isfinite(weights["offset"]).all(axis=1))
        if len(bad):
            weight, row = int(bad[0]), weights[bad[0]]
            vertex = int(np.searchsorted(np.cumsum(vertices["num_weights"]), weight, side="right"))
            expected = f"bones 0 to {self.most_bones - 1}" if wrong[weight] else "numbers"
            found = int(row["bone"]) if wrong[weight] else [float(row["weight"]), *row["offset"].tolist()]
            raise FormatError(f"weight of vertex {vertex}{of}", f"byte {offsets[weight]}", expected, found)

    def _starts(self, words: Array, count: int) -> NDArray[np.int64]:
        """Return where vertices start among 32-bit words, (V,), of which each says how long it is.

        What leads out of the file starts at its end. Only as many words are looked at as it takes: a file of many small
        surfaces must not be looked through once for each.
        """
        window = 8 * WEIGHT.itemsize * count
        while True:
            starts = self._walk(words[:window], count)
            if window >= len(words) or starts[-1] < window:
                return starts
            window *= 4

    def _walk(self, words: Array, count: int) -> NDArray[np.int64]:
        """Return `_starts` among few words, by doubling: `jump` leads from a vertex 1, 2, 4 ... vertices on."""
        (vertex, weight, at), end = self._sizes, len(words)
        jump: NDArray[np.int64] = np.full(end + 1, end, np.int64)
        sizes = words[at:].astype(np.int64)
        fits = (sizes >= 0) & (sizes <= end)
        places = np.arange(len(sizes)) + vertex + np.where(fits, sizes, 0) * weight
        jump[: len(sizes)] = np.where(fits & (places <= end), places, end)
        starts: NDArray[np.int64] = np.zeros(1, np.int64)
        while len(starts) < count:
            starts = np.concatenate((starts, jump[starts]))
            jump = jump[jump]
        return starts[:count]

    def packed(self, struct: Any) -> NDArray[np.uint8]:
        """Return vertices, each followed by its weights."""
        vertices, weights = getattr(struct, self.name), struct.weights
        vertex, weight, _ = self._sizes
        sizes = vertices["num_weights"].astype(np.int64)
        before = np.cumsum(sizes) - sizes
        words = np.empty(len(sizes) * vertex + len(weights) * weight, WORD)
        starts = np.arange(len(sizes)) * vertex + before * weight
        words[starts[:, None] + np.arange(vertex)] = np.ascontiguousarray(vertices).view(WORD).reshape(-1, vertex)
        first = np.repeat(starts + vertex - before * weight, sizes) + np.arange(len(weights)) * weight
        words[first[:, None] + np.arange(weight)] = np.ascontiguousarray(weights).view(WORD).reshape(-1, weight)
        return words.view(np.uint8)
