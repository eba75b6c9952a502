"""Models to edit, and what their files have of bones, weights and channels."""

from dataclasses import dataclass
from typing import Any

import bpy as blender

from tests import samples_md5
from tests.blender.skeletal.rigged import Rigged, cells
from tests.samples import CORPUS

bpy: Any = blender  # the stubs make each object's data a union

XSARGE = CORPUS / "xreal/base/models/players/xsarge"

WAVES = {"wave": samples_md5.wave(), "gaps": samples_md5.gaps_between_channels()}


@dataclass
class Subject(Rigged):
    """A model to edit: a bone with a child and weights, its child, and two animations."""

    bone: str = "upper arm"
    child: str = "hand"
    close: float = 1e-4  # how closely exported files show what the scene shows

    @property
    def first(self) -> str:
        return next(iter(self.motions))

    @property
    def second(self) -> str:
        return list(self.motions)[1]

    @property
    def joint(self) -> int:
        return int(self.before().names.index(self.bone))


def subject(case: Rigged, **more: Any) -> Subject:
    return Subject(**vars(case), **more)


def channel_cells(case: Subject, name: str) -> set[tuple[int, ...]]:
    """Return (frame, joint, channel) of all channels of an animation that would change."""
    return cells(case.motion_before(name).channels(), case.motion_after(name).channels())


def tables(part: Any) -> list[Any]:
    return [(j, b, *o) for j, b, o in zip(part.joints.tolist(), part.biases, part.offsets.tolist(), strict=True)]


def weights_of(part: Any, vertex: int) -> list[Any]:
    """Return the weights of a vertex as the file has them."""
    start, count = int(part.starts[vertex]), int(part.counts[vertex])
    return tables(part)[start : start + count]
