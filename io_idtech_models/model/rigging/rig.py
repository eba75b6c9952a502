"""What was found of a skeleton in frames: bones, weights and poses; and what of the frames these don't say.

Bones explain a frame to a part of a unit. The rest is kept: a vertex has in each frame the matrix that its bones blend
to, and what that matrix takes to the frame's own place is the vertex' place at rest in that frame. Shape keys hold
these places behind an armature, so that Blender shows every frame as the file has it.

Letters in shapes: F frames, V vertices of all surfaces one behind another, P points, B bones.

How it is looked for (`RigSettings`: operators and the command line declare the same options), and what its bones say of
the frames in figures and in words (`Report`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...reporting import plural
from .. import steady
from ..transforms import as_matrices
from .products import product

Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class RigSettings:
    """What a user may ask for."""

    bones: int = 0  # how many at most; 0: as many as it takes
    detail: float = 1.0  # how closely bones follow where their number isn't given: 2 twice as closely
    turn_only: bool = False  # bones turn about their joints alone; what that doesn't say is the keys'
    rest: int = -1  # the frame to begin the rest from; -1: the one found best
    symmetric: bool = True  # joints that nearly are the other side's mirror image are made so


@dataclass(eq=False)
class FrameRig:
    """A skeleton in all frames. Space and units are the model's; parents come before their children."""

    names: list[str]  # (B), each once
    parents: Indices  # (B,), -1 of a root
    heads: Doubles  # (B, 3) at rest: where bones turn
    tails: Doubles  # (B, 3) at rest: where they point to; never at the head
    rest: Doubles  # (P, 3) where points lie at rest
    # (P, B) at least 0, at most three of them more, their sum 1; in no frame do opposite turns leave a blend flat.
    weights: Doubles
    of_vertex: Indices  # (V,) which point a vertex lies at
    poses: Doubles  # (F, B, 3, 4) what takes a point at rest to where the bone has it in a frame
    rest_frame: int  # the frame that the rest was begun from
    torn: NDArray[np.bool_]  # (F,) frames in which the mesh has come apart: joints don't hold there
    tag_bones: Indices  # (N,) the bone that each of the model's tags became; they are no vertex'
    groups: list[str]  # (B) what a bone is part of, "" if nobody knows

    @property
    def num_bones(self) -> int:
        """Return B."""
        return len(self.names)

    def blends(self, frame: int) -> Doubles:
        """Return what takes each point from its rest to a frame, (P, 3, 4)."""
        return product(self.weights, self.poses[frame].reshape(self.num_bones, 12)).reshape(-1, 3, 4)

    def shown(self) -> Doubles:
        """Return where the bones alone have the vertices in all frames, (F, V, 3)."""
        found = np.empty((len(self.poses), len(self.of_vertex), 3))
        for frame in range(len(self.poses)):
            blend = self.blends(frame)
            points = (blend[:, :, :3] @ self.rest[:, :, None])[:, :, 0] + blend[:, :, 3]
            found[frame] = points[self.of_vertex]
        return found

    def at_rest(self, points: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the places (F, V, 3) at rest that the bones take to where vertices (F, V, 3) are."""
        found = np.empty(points.shape, np.float32)
        for frame, own in enumerate(points):
            blend = self.blends(frame)
            back = steady.inverses(blend[:, :, :3])[self.of_vertex]
            found[frame] = steady.applied(back, own - blend[self.of_vertex, :, 3])
        return found


def rig_matrices(poses: Doubles) -> Doubles:
    """Return poses (..., 3, 4) as matrices (..., 4, 4)."""
    return as_matrices(poses[..., :3], poses[..., 3])


@dataclass(frozen=True)
class Report:
    """How far bones alone are from the frames, in the model's units; torn frames don't count."""

    bones: int
    rms: float
    worst: float
    worst_frame: int
    torn: int  # frames left out of joints and rest

    def sentence(self, frame_names: Sequence[str] = ()) -> str:
        """Return it in words."""
        named = self.worst_frame < len(frame_names)
        frame = f"'{frame_names[self.worst_frame]}'" if named else f"frame {self.worst_frame}"
        said = f"{plural(self.bones, 'bone')}, {self.rms:.3g} units off (rms), {self.worst:.3g} at worst in {frame}"
        return said + (f"; {plural(self.torn, 'frame')} in which it comes apart left out" if self.torn else "")


def explained(rig: FrameRig, positions: NDArray[np.float32]) -> Report:
    """Return what bones say of vertices (F, V, 3)."""
    squares = ((rig.shown() - positions) ** 2).sum(axis=2)
    squares[rig.torn] = 0
    mean = squares.sum() / max(int((~rig.torn).sum()) * squares.shape[1], 1)
    frame = int(squares.max(axis=1, initial=0).argmax())
    worst = float(np.sqrt(squares[frame].max(initial=0)))
    return Report(rig.num_bones - len(rig.tag_bones), float(np.sqrt(mean)), worst, frame, int(rig.torn.sum()))
