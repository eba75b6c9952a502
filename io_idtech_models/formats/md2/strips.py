"""MD2's OpenGL commands: the triangles once more, as strips and fans; Quake II's GL renderers draw nothing else.

The lump is a list of int32 words (`R_DrawAliasFrameLerp`, gl_mesh.c; `BuildGlCmds`, qdata's models.c). A run is a
count, +n for a strip or -n for a fan, and n vertices: float32 s, float32 t, int32 vertex index. The count 0 ends the
list. Runs mean what GL_TRIANGLE_STRIP and GL_TRIANGLE_FAN mean: strip v0 v1 v2 v3 v4 is (v0 v1 v2), (v2 v1 v3),
(v2 v3 v4), fan v0 v1 v2 v3 is (v0 v1 v2), (v0 v2 v3); wound as the file's triangles are, clockwise.

How runs are made. A triangle is a *face*; side 3 * face + k leads from its corner k to the next. Sides are partners if
they join the same corners in opposite directions. A run goes from face to face through *links*, pairs of partners. In
each face between the first and the last it takes a *turn*: it leaves by the side after the one by which it came in, or
by the side before. Equal turns are a fan, alternating turns a strip. n faces cost n + 2 vertices: the fewer runs the
better. Runs are grown greedily, then they trade faces at random, which leaves fewer and fewer of them.

A model is written with its source's commands while they hold, else with new ones. These name a texel at its middle, as
id's qdata does ((s + 0.5) / width), unless most of the source's name its corner (s / width), as some tools do; and
where the source has a pair of coordinates for a vertex and texel it is that pair, for some tools write finer ones than
texels.
"""

from __future__ import annotations

import heapq
import random
from dataclasses import dataclass
from itertools import chain, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...reporting import FormatError
from ..common.quake import Size
from .file import Md2

Link = tuple[int, int]  # a side out of a face, its partner into the next
NEXT, BEFORE = "1", "2"  # turns: how many sides further on in a face a run leaves
MIRRORED = str.maketrans(NEXT + BEFORE, BEFORE + NEXT)
TAKEN = -1
PARTNERS_EACH_WAY = 3  # where many faces share an edge: all with all would be quadratic
# A million units are a sixth of a second. Real models have 1.428 vertices per triangle with 0 units per face, 1.386
# with 1,600, 1.379 with 12,800.
WORK_PER_TRADE, WORK_PER_FACE, MOST_WORK = 32, 1600, 2_400_000
NEAR = 1e-3  # of a texel
MOST_TEXELS = 64  # of one vertex that are compared
REACH = 2.0  # texels: how far a tool's finer coordinates may be from the texel that they were rounded to


@dataclass(frozen=True, eq=False)
class Commands:
    """Strips and fans, as they stand in a file."""

    counts: NDArray[np.int32]  # (R,) vertices in each run, at least 1; negative: a fan
    vertices: NDArray[np.int32]  # (n,) vertex indices of all runs, one after another
    coords: NDArray[np.float32]  # (n, 2) s and t in fractions of the skin's size, from its top left

    def triangles(self) -> NDArray[np.int64]:
        """Return the triangles that are drawn, as places in `vertices` and `coords`, shape (T, 3)."""
        lengths = np.abs(self.counts.astype(np.int64))
        sizes = np.maximum(lengths - 2, 0)
        run = np.repeat(np.arange(len(sizes)), sizes)
        step = np.arange(len(run)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        is_strip = self.counts[run] > 0
        odd = step % 2 * is_strip
        places: NDArray[np.int64] = np.column_stack([np.where(is_strip, step + odd, 0), step + 1 - odd, step + 2])
        places += (np.cumsum(lengths) - lengths)[run, None]
        return places


def decode(words: NDArray[np.int32], num_xyz: int) -> Commands:
    """Return the commands in words (n,), of a model with `num_xyz` vertices.

    Raises:
        FormatError: a run goes past the end, no 0 ends the list, words follow it, or a vertex does not exist.
    """
    heads, place = [], 0
    while place < len(words) and words[place]:
        heads.append(place)
        place += 1 + 3 * abs(int(words[place]))
    if place > len(words):
        raise FormatError("OpenGL commands run past their end", f"word {heads[-1]}", f"{len(words)} words", place)
    if place + 1 != len(words):
        what = "words after the end of the OpenGL commands" if place < len(words) else "OpenGL commands have no end"
        raise FormatError(what, f"word {place}", f"{place + 1} words", len(words))
    body = np.delete(words[:place], heads).reshape(-1, 3)
    wrong = np.flatnonzero((body[:, 2] < 0) | (body[:, 2] >= num_xyz))
    if len(wrong):
        where = f"vertex {wrong[0]} of the OpenGL commands"
        raise FormatError("bad vertex index", where, f"0 to {num_xyz - 1}", body[wrong[0], 2])
    return Commands(words[np.array(heads, np.int64)], body[:, 2].copy(), body[:, :2].copy().view(np.float32))


def encode(commands: Commands) -> NDArray[np.int32]:
    """Return commands as words (n,), the 0 at their end included; inverse of `decode`."""
    heads = np.cumsum(np.append(0, 1 + 3 * np.abs(commands.counts.astype(np.int64))))
    words, is_head = np.zeros(heads[-1] + 1, np.int32), np.zeros(heads[-1] + 1, bool)
    words[heads[:-1]], is_head[heads] = commands.counts, True
    coords = np.ascontiguousarray(commands.coords, np.float32).view(np.int32)
    words[~is_head] = np.column_stack([coords, commands.vertices]).reshape(-1)
    return words


def make(triangles: NDArray[Any], st_ids: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return strips and fans that draw each triangle once: counts (R,) as in `Commands`, and corners (n,).

    `triangles` (T, 3) are vertex indices, `st_ids` (T, 3) numbers from 0, equal where texture coordinates have equal
    values. A corner is a place in either of them, flattened. Deterministic; 4,096 triangles take under half a second.
    """
    ids = st_ids.reshape(-1).astype(np.int64)
    partners = _partners((triangles.reshape(-1).astype(np.int64) * (ids.max(initial=0) + 1) + ids).tolist())
    outlines = [run.outline() for run in _traded(_grown(partners), partners)]
    counts, corners = [count for count, _ in outlines], chain.from_iterable(corners for _, corners in outlines)
    return np.array(counts, np.int32), np.array(list(corners), np.int64)


class _Run(NamedTuple):
    """Faces in the order in which they are drawn, or in the opposite one."""

    faces: list[int]
    links: list[Link]  # from each face to the next
    turns: str  # of each face but the first and the last

    def reversed(self) -> _Run:
        """Return the same faces, the last first."""
        return _Run(self.faces[::-1], [link[::-1] for link in self.links[::-1]], self.turns[::-1].translate(MIRRORED))

    def split(self, place: int) -> tuple[_Run, _Run]:
        """Return the faces before `place`, and those from there on."""
        head = _Run(self.faces[:place], self.links[: max(place - 1, 0)], self.turns[: max(place - 2, 0)])
        return head, _Run(self.faces[place:], self.links[place:], self.turns[place:])

    def joined(self, link: Link, other: _Run) -> _Run:
        """Return this run, and through `link` the other; it may be one that can't be drawn."""
        links = [*self.links[-1:], link, *other.links[:1]]
        turns = self.turns + "".join(map(_turn, links, links[1:])) + other.turns
        return _Run(self.faces + other.faces, [*self.links, link, *other.links], turns)

    def drawable(self) -> bool:
        """Tell whether this is a fan, or a strip that begins with a turn to the side before, from one end or the other.

        From the other end turns are opposite ones. So an odd number of them, alternating, has a right end in any case.
        """
        half, odd = divmod(len(self.turns), 2)
        strips = ((BEFORE + NEXT) * half + BEFORE * odd, (NEXT + BEFORE) * half + NEXT)
        return self.turns in (*strips, BEFORE * len(self.turns), NEXT * len(self.turns))

    def outline(self) -> tuple[int, list[int]]:
        """Return the count that a file has for this run, and its corners."""
        if self.turns.startswith(NEXT):
            return self.reversed().outline()
        is_fan = self.turns.startswith(BEFORE * 2)
        side_out = self.links[0][0] if self.links else 3 * self.faces[0] + 1
        # A strip leaves its first triangle (v0 v1 v2) between v1 and v2, a fan between v2 and v0.
        corners = [_further(side_out, k) for k in ((1, 2, 0) if is_fan else (2, 0, 1))]
        corners += [_further(side_in, 2) for _, side_in in self.links]
        return -len(corners) if is_fan else len(corners), corners


def _turn(link: Link, following: Link) -> str:
    """Return the turn in the face between two links; "0", which can't be drawn, is back the same way."""
    return str((following[0] - link[1]) % 3)


def _further(side: int, steps: int) -> int:
    """Return the side (or corner) that follows in the same face after so many steps."""
    return side - side % 3 + (side + steps) % 3


def _partners(corners: list[int]) -> list[list[int]]:
    """Return for each side the sides that can be linked to it, for the corners (3 T) of all faces."""
    sides: dict[tuple[int, int], list[int]] = {}
    for side, corner in enumerate(corners):
        sides.setdefault((corner, corners[_further(side, 1)]), []).append(side)
    partners: list[list[int]] = [[] for _ in corners]
    for (start, end), here in sides.items():
        there = sides.get((end, start), [])
        for i, side in enumerate(here):
            partners[side] = there[max(i - PARTNERS_EACH_WAY, 0) : i + PARTNERS_EACH_WAY + 1]
    return partners


def _grown(partners: list[list[int]]) -> list[_Run]:
    """Return runs that contain each face once: the longest from a face with the fewest free neighbours, and again."""
    free = [sum(map(len, partners[side : side + 3])) for side in range(0, len(partners), 3)]  # neighbours, or TAKEN
    heap, runs = [(number, face) for face, number in enumerate(free)], []
    heapq.heapify(heap)
    while heap:
        _, face = heapq.heappop(heap)
        if free[face] == TAKEN:
            continue
        shapes = product(range(3 * face, 3 * face + 3), (False, True))
        runs.append(max((_longest(*shape, partners, free) for shape in shapes), key=lambda run: len(run.faces)))
        for taken in runs[-1].faces:
            free[taken] = TAKEN
        for near in (side // 3 for taken in runs[-1].faces for side in chain(*partners[3 * taken : 3 * taken + 3])):
            if free[near] != TAKEN:
                free[near] -= 1
                heapq.heappush(heap, (free[near], near))
    return runs


def _longest(side: int, is_fan: bool, partners: list[list[int]], free: list[int]) -> _Run:
    """Return the longest strip or fan of free faces that comes into a face by `side` and leaves it by the next side."""
    seen = {side // 3}
    ahead = _walk(_further(side, 1), 1, is_fan, partners, free, seen)
    behind = _walk(side, 2, is_fan, partners, free, seen)
    links = [link[::-1] for link in reversed(behind)] + ahead
    faces = [side_out // 3 for side_out, _ in links] + [links[-1][1] // 3 if links else side // 3]
    run = _Run(faces, links, "".join(map(_turn, links, links[1:])))
    return run if run.drawable() else run.split(1)[1]


def _walk(side: int, turn: int, is_fan: bool, partners: list[list[int]], free: list[int], seen: set[int]) -> list[Link]:
    """Return links out of `side` and on to free faces not seen, after the turn that led to it; fills `seen`."""
    links: list[Link] = []
    while near := [other for other in partners[side] if free[other // 3] != TAKEN and other // 3 not in seen]:
        links.append((side, near[0]))
        seen.add(near[0] // 3)
        turn = turn if is_fan else 3 - turn
        side = _further(near[0], turn)
    return links


def _traded(runs: list[_Run], partners: list[list[int]]) -> list[_Run]:
    """Return fewer runs of the same faces, where that can be done; `runs` is used up.

    One end of a run takes the face next to it, with all that is behind that face in its run. Mostly as many runs are
    left, with other ends than before; where nothing was before that face, there is one less.
    """
    chance = random.Random(0).random
    owners = {face: i for i, run in enumerate(runs) for face in run.faces}
    work = min(len(owners) * WORK_PER_FACE, MOST_WORK)
    while work > 0 and len(runs) > 1:
        i, from_end = int(chance() * len(runs)), chance() < 0.5
        run = runs[i]
        side = 3 * run.faces[-1 if from_end else 0] + int(chance() * 3)
        near = partners[side]
        other = near[int(chance() * len(near))] if near else side
        j = owners[other // 3]
        work -= WORK_PER_TRADE + len(run.faces) + len(runs[j].faces)
        pair = _trade(run if from_end else run.reversed(), (side, other), runs[j]) if i != j else None
        if not pair:
            continue
        runs[i], left = pair
        last = left if left.faces else runs.pop()
        if j < len(runs):
            runs[j] = last
        for k in (i, j):
            owners.update(dict.fromkeys(runs[k].faces if k < len(runs) else (), k))
    return runs


def _trade(run: _Run, link: Link, other: _Run) -> tuple[_Run, _Run] | None:
    """Return `run` with what is behind `link` in the other, and what is left of that; None if they can't be drawn."""
    for source in (other, other.reversed()):
        left, rest = source.split(source.faces.index(link[1] // 3))
        longer = run.joined(link, rest)
        if longer.drawable() and left.drawable():
            return longer, left
    return None


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
