"""Rigs of parts that hang on one another's tags, as one skeleton: a tag is a bone, and what hangs there hangs on that.

Games drop a tag's scale for what hangs on it, and each part plays frames of its own. So a part that hangs has a bone to
begin with, which stands as the tag does but for the scale; its own bones move against that as they did by themselves.

Letters in shapes: F frames of the longest part, f of one, B bones, N tags.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .. import steady
from ..transforms import inverse
from .rig import Doubles, FrameRig, Indices, rig_matrices
from .tag_bones import followed, free_name

LENGTH = 0.12  # of a part's size: of the bone that a part begins with
FIRST, OTHERS = "root", "bone"  # what the solver calls bones of which it knows no more


@dataclass(frozen=True, eq=False)
class PartRig:
    """A part of a model, with its rig in its own space."""

    name: str
    rig: FrameRig | None  # None: it has one frame, and is moved as a whole
    tags: Doubles  # (f, N, 4, 4) where it has tags, without scale
    scales: Doubles  # (f, N, 3) of these
    above: tuple[int, int] | None = None  # the part before, and which of that one's tags, that it hangs on
    beside: bool = False  # it is another model, which goes along with the bone of those before that it follows best

    @property
    def tag_rests(self) -> Doubles:
        """Return where tags are at rest, (N, 4, 4)."""
        return np.asarray(self.tags[0 if self.rig is None else self.rig.rest_frame])


@dataclass(frozen=True, eq=False)
class JoinedPart:
    """Where a part is in a joined rig."""

    part: PartRig
    root: int  # the bone that it begins with; -1: none but its rig's
    bones: Indices  # its rig's bones
    rest: Doubles  # (4, 4) where its space is at rest in that of the first part
    stands: Doubles  # (F, 4, 4) where it is

    @property
    def with_root(self) -> Indices:
        """Return its rig's bones, and the one that it begins with, if there is one."""
        return self.bones if self.root < 0 else np.append(self.bones, self.root)

    def own(self, poses: Doubles, stands: Doubles) -> FrameRig:
        """Return the part's rig in its own space, where the joined one has poses (F, B, 3, 4).

        `stands` (F, 4, 4) is where the part's space is then.
        """
        rig = self.part.rig
        assert rig is not None
        found = poses[: len(rig.poses), self.bones]
        if self.root >= 0:
            back = inverse(stands[: len(rig.poses)])
            found = steady.products(back[:, None], rig_matrices(found), self.rest)[..., :3, :]
        return replace(rig, poses=np.ascontiguousarray(found))


@dataclass(frozen=True, eq=False)
class JoinedRig:
    """One skeleton of several parts, in the space of the first."""

    rig: FrameRig  # its tags' bones are those of all parts, one behind another; a part that ends before others stays
    parts: list[JoinedPart]
    tags: Doubles  # (F, N, 4, 4) where all tags that have bones are
    scales: Doubles  # (F, N, 3) of these

    @property
    def tag_rests(self) -> Doubles:
        """Return where tags that have bones are at rest, (N, 4, 4)."""
        return np.concatenate(
            [steady.products(each.rest, each.part.tag_rests) for each in self.parts if each.part.rig is not None]
        )

    @property
    def roots(self) -> list[int]:
        """Return the bones that parts begin with, which stand as their parents do."""
        return [part.root for part in self.parts if part.root >= 0]


def join(parts: Sequence[PartRig]) -> JoinedRig:
    """Return the skeleton of parts, each of which comes behind the one that it hangs on."""
    count = max(len(part.tags) for part in parts)
    joining = _Joining(count)
    for part in parts:
        joining.add(part)
    return joining.joined()


class _Joining:
    """Parts that are put together, one after another."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.found: list[JoinedPart] = []
        self.names: list[str] = []
        self.groups: list[str] = []
        self.parents: list[int] = []
        self.tag_bones: list[int] = []
        self.heads: list[Doubles] = []
        self.tails: list[Doubles] = []
        self.poses: list[Doubles] = []  # (F, B, 3, 4)
        self.tags: list[Doubles] = []  # (F, N, 4, 4)
        self.scales: list[Doubles] = []  # (F, N, 3)

    def add(self, part: PartRig) -> None:
        """Put a part behind the others."""
        stand, rest, parent = self._stand(part)
        root = -1
        if part.above is not None or part.rig is None:
            root = self._begin(part, stand, rest, parent)
        bones = np.arange(len(self.names), len(self.names) + (0 if part.rig is None else part.rig.num_bones))
        self.found.append(JoinedPart(part, root, bones, rest, stand))
        if part.rig is not None:
            self._add_bones(part, part.rig, stand, rest, root)

    def _stand(self, part: PartRig) -> tuple[Doubles, Doubles, int]:
        """Return where a part's space is in all frames and at rest, and the bone that it hangs on."""
        if part.above is None:
            return np.broadcast_to(np.eye(4), (self.count, 4, 4)), np.eye(4), -1
        other, tag = part.above
        above = self.found[other]
        stand = steady.products(above.stands, self._held(above.part.tags)[:, tag])
        rest = steady.products(above.rest, above.part.tag_rests[tag])
        if above.part.rig is None:
            return stand, rest, above.root
        return stand, rest, int(above.bones[above.part.rig.tag_bones[tag]])

    def _held(self, frames: Doubles) -> Doubles:
        """Return what a part shows in all frames: behind its own the last."""
        return np.asarray(frames[np.minimum(np.arange(self.count), len(frames) - 1)])

    def _begin(self, part: PartRig, stand: Doubles, rest: Doubles, parent: int) -> int:
        """Add the bone that a part begins with: it points up from where the part hangs."""
        points = np.zeros((1, 3)) if part.rig is None else part.rig.rest
        size = float(np.linalg.norm(np.ptp(points, axis=0))) or 50.0
        self.names.append(free_name(part.name, self.names))
        self.groups.append(part.name)
        self.parents.append(parent)
        self.heads.append(rest[None, :3, 3])
        self.tails.append(rest[None, :3, 3] + rest[None, :3, 2] * size * LENGTH)
        self.poses.append(steady.products(stand, inverse(rest))[:, None, :3])
        return len(self.names) - 1

    def _add_bones(self, part: PartRig, rig: FrameRig, stand: Doubles, rest: Doubles, root: int) -> None:
        first = len(self.names)
        if part.beside:
            root = self._followed(rig)
        for bone, name in enumerate(rig.names):
            self.names.append(free_name(name if root < 0 else _named(name, part.name), self.names))
            self.groups.append((rig.groups[bone] if root < 0 else "") or part.name)
        self.parents += [root if parent < 0 else first + parent for parent in rig.parents.tolist()]
        self.heads.append(steady.applied(rest[:3, :3], rig.heads) + rest[:3, 3])
        self.tails.append(steady.applied(rest[:3, :3], rig.tails) + rest[:3, 3])
        poses = self._held(rig.poses)
        if part.above is not None:
            poses = steady.products(stand[:, None], rig_matrices(poses), inverse(rest))[..., :3, :]
        self.poses.append(poses)
        self.tag_bones += [first + bone for bone in rig.tag_bones.tolist()]
        self.tags.append(steady.products(stand[:, None], self._held(part.tags)))
        self.scales.append(self._held(part.scales))

    def _followed(self, rig: FrameRig) -> int:
        """Return which bone that there is already another model's first one follows best."""
        whole = np.flatnonzero(~rig.torn)
        size = float(np.linalg.norm(np.ptp(rig.rest, axis=0))) or 1.0
        return followed(rig_matrices(rig.poses[whole, 0]), np.concatenate(self.poses, axis=1)[whole], size)

    def joined(self) -> JoinedRig:
        """Return what was put together. Points and weights are the parts' own: the skeleton has those of none."""
        rigs = [part.part.rig for part in self.found if part.part.rig is not None]
        torn = np.zeros(self.count, np.bool_)
        for own in rigs:
            torn[: len(own.torn)] |= own.torn
        rest = [
            steady.applied(each.rest[:3, :3], each.part.rig.rest) + each.rest[:3, 3]
            for each in self.found
            if each.part.rig is not None
        ]
        rig = FrameRig(
            names=self.names,
            parents=np.array(self.parents),
            heads=np.concatenate(self.heads),
            tails=np.concatenate(self.tails),
            rest=np.concatenate(rest),
            weights=np.zeros((0, len(self.names))),
            of_vertex=np.zeros(0, np.int64),
            poses=np.concatenate(self.poses, axis=1),
            rest_frame=rigs[0].rest_frame,
            torn=torn,
            tag_bones=np.array(self.tag_bones, np.int64),
            groups=self.groups,
        )
        return JoinedRig(rig, self.found, np.concatenate(self.tags, axis=1), np.concatenate(self.scales, axis=1))


def _named(name: str, part: str) -> str:
    """Return the name of a part's bone in the whole, where "bone" says nothing."""
    word, _, number = name.partition(".")
    return f"{part}.{number or '00'}" if word in (FIRST, OTHERS) else name
