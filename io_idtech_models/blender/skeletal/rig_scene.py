"""What the export of an armature looks at: made once, so that what the .blend knows of its file is unpacked once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.skeletal import SkeletalSource, Skeleton, SkinnedMesh, Weights
from ...model.source import Meshes
from ...model.transforms import inverse
from ..compat import Block
from ..joints import from_children
from ..mesh.attributes import Topology
from ..mesh.held_once import HeldOnce
from ..scene import ExportScene, bone_under, positioned, upward
from .bones import BonesAtRest, BonesInMotion, gather_bones, list_bones
from .source import StoredRig, find
from .torso import WeightLimits

Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class WeightSettings(WeightLimits):
    """How vertex groups become weights; the export operators declare the same options."""

    normals: str = "NONE"  # the format has none; SOURCE where possible, or as SHOWN


@dataclass(frozen=True)
class Holds:
    """What a format has that others have not, as its row says: no option."""

    colors: bool = False  # of vertices
    bare_vertices: bool = False  # vertices that no joint moves stay where they are
    worn_by_name: bool = False  # games look up by a mesh's name what it wears, so that each has its own
    stretches: bool = False  # joints are scaled along their axes, with what hangs on them
    one_length: bool = False  # joints lie as far from their parents in all frames
    weights: int = 0  # of a vertex at most; 0: any number
    format: str = ""  # what it is called; "": that of the source


@dataclass(frozen=True)
class SkeletalGatherSettings(WeightSettings):
    """How a scene becomes a skeletal model; the export operators declare the same options."""

    scale: float = 1.0
    deform_only: bool = True
    keep_suffixes: bool = False
    space: str = "AUTO"  # see `blender.hanging`
    holds: Holds = Holds()


@dataclass(eq=False)
class Loss:
    """Vertices (V,) of an object that lose some of their weights: all that they have there, and what is written."""

    name: str
    full: Weights
    written: Weights


@dataclass(eq=False)
class ExportRig:
    """The skeleton that meshes are exported with."""

    block: Block
    skeleton: Skeleton  # in the file's units
    joints: dict[str, int]  # by bone name
    source: SkeletalSource | None
    rest: Meshes | None  # the source's meshes where import put them
    import_scale: float
    uneven: bool = False  # the armature's scale, which joints can't have
    losses: list[Loss] = field(default_factory=list)  # filled by who gathers meshes
    _at_rest: dict[Block, Doubles] = field(default_factory=dict)  # see `look_at_rest`

    def carrier(self, block: Block) -> int:
        """Return the joint whose bone, or one below that is no joint, carries an object as a whole; -1 if none does."""
        bone = self._bone_under(block)
        while bone is not None and bone.name not in self.joints:
            bone = bone.parent
        return -1 if bone is None else self.joints[bone.name]

    def place_of(self, block: Block) -> Doubles:
        """Return where an object is in the world, (4, 4): what a bone carries while the bones are at rest."""
        if block in self._at_rest:
            return self._at_rest[block]
        bone = self._bone_under(block)
        if bone is None:
            return np.array(block.matrix_world, np.float64)
        at = np.array(self.block.matrix_world, np.float64), np.array(bone.matrix_local, np.float64)
        own = [
            (np.array(each.matrix_parent_inverse), np.array(each.matrix_basis)) for each in reversed(self._chain(block))
        ]
        return steady.products(*at, inverse(from_children(bone)), *(steady.products(*pair) for pair in own))

    def look_at_rest(self, blocks: list[Block], view_layer: bpy.types.ViewLayer) -> None:
        """Ask Blender where objects are while the bones are at rest: those that bones carry, and constraints move."""
        held = [block for block in blocks if self._is_held(block) and self._bone_under(block) is not None]
        if held:
            with positioned(self.block, "REST"):
                view_layer.update()
                self._at_rest |= {block: np.array(block.matrix_world, np.float64) for block in held}
            view_layer.update()

    def _is_held(self, block: Block) -> bool:
        return any(not hold.mute for each in self._chain(block) for hold in each.constraints)

    def _chain(self, block: Block) -> list[Block]:
        """Return an object and what it hangs on, up to what hangs on the armature."""
        return list(takewhile(lambda each: each != self.block, upward(block)))

    def _bone_under(self, block: Block) -> Block | None:
        """Return the bone that carries an object as a whole; None where none does, or bones bend it."""
        if any(m.type == "ARMATURE" and m.object is not None and m.show_viewport for m in block.modifiers):
            return None
        return self.block.data.bones.get(bone_under(block, self.block))


@dataclass(eq=False)
class WrittenMesh:
    """A mesh that was gathered, and where it came from: what an export compares with what is shown."""

    block: Block
    mesh: SkinnedMesh
    points: NDArray[np.integer]  # (V,) of the object's mesh at rest
    topology: Topology  # of that
    positions: NDArray[np.float32]  # (P, 3) of its points
    groups: tuple[NDArray[Any], NDArray[Any], NDArray[np.float32]]  # point, joint and weight (n,) in Blender
    material: Block | None = None
    of_source: NDArray[np.bool_] | None = None  # (V,) whose weights are its source's, a copy's and a part's, too
    held: HeldOnce | None = None  # where modifiers may change it
    normals: tuple[int, float] = (0, 0.0)  # that are not those shown at rest: of how many vertices, and degrees
    said: float = 0.0  # units that it is off by what a sentence says already
    keeping: str = ""  # what keeps weights that it loses, as a sentence says already: of the pose or action that plays


@dataclass(frozen=True, eq=False)
class RigScene(ExportScene[SkeletalGatherSettings]):
    """A scene, and the armature in it that is exported; see `rig_scene`."""

    rig: Block
    stored: StoredRig | None  # what the armature knows of its file
    # Both shared with those who ask with other settings: bones, and where armature and meshes stood when they were
    # gathered, (4, 4) in the world; once other frames were shown, what was set without a key is forgotten.
    _listed: dict[bool, BonesAtRest] = field(default_factory=dict)
    homes: dict[Block, Doubles] = field(default_factory=dict)

    @property
    def listed(self) -> BonesAtRest:
        """Return the bones to export as they are at rest, read once; raises LimitError if there is none."""
        only = self.settings.deform_only
        if only not in self._listed:
            self._listed[only] = list_bones(self.rig, self.stored, only)
        return self._listed[only]

    @cached_property
    def bones(self) -> BonesInMotion:
        """Return the bones to export; raises LimitError if there is none."""
        return gather_bones(self.listed, self.stored)

    def place(self) -> Doubles:
        """Return where the armature stands in the world, (4, 4): as it did when that was asked for first.

        After other frames Blender has forgotten where it stood, or says so with the next update alone.
        """
        return self.homes.setdefault(self.rig, np.array(self.rig.matrix_world, np.float64))

    def asking(self, **settings: Any) -> RigScene:
        """Return the same with some other settings."""
        return replace(self, settings=replace(self.settings, **settings))


def rig_scene(
    scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, settings: SkeletalGatherSettings, rig: Block
) -> RigScene:
    """Return what the export of an armature looks at; a damaged record is named here, and nowhere else."""
    return RigScene(scene, view_layer, settings, rig, find(rig))
