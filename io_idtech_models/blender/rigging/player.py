"""A mesh that hangs on a player's rig, as it looks in that player's frames: what another player is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from ...model.player.regions import LEGS, TORSO, Parts
from .. import names
from ..compat import Block
from ..playback import playing_values, showing_all
from ..player.rig import Rig, Sampled, sample
from ..provenance import PART
from ..roots import FRAME, FRAME_PATH, bone_root, frame_root
from ..scene import ExportScene

TAGS = ((LEGS, "tag_torso"), (TORSO, "tag_head"), (TORSO, "tag_weapon"))  # what hangs on them: torso, head, weapon


def parts_of(rig: Rig) -> Parts:
    """Return which part of a player each bone is of, and the bones that are its tags, "" for those it lacks."""
    regions = {}
    for bone in rig.armature.pose.bones:
        root = bone_root(bone)
        regions[bone.name] = str(bone.bone.get(PART, "")) if root is None else str(root[PART])
    empties = [block for block in rig.armature.children if block.parent_type == "BONE"]
    tags = {(regions.get(b.parent_bone), names.file_name_of(b).lower()): b.parent_bone for b in empties}
    return Parts(regions, *(tags.get(tag, "") for tag in TAGS))


def sample_frames(
    rig: Rig, parts: Parts, roots: Mapping[str, Block], shots: Sequence[Mapping[str, int]], export: ExportScene[Any]
) -> Sampled:
    """Return what the rig makes of its meshes while parts show frames of their files: in each shot, by part.

    Raises:
        LimitError: a mesh has other points or faces in some frames, or no faces at all.
    """
    now = rig.now(0.0)
    with ExitStack() as stack:
        for kind, root in roots.items():
            if FRAME in frame_root(root):
                stack.enter_context(playing_values(root, FRAME_PATH, [shot.get(kind, 0) for shot in shots]))
        stack.enter_context(showing_all([rig.armature]))
        bones = [bone for bone in (parts.torso, parts.head, parts.hand) if bone]
        return sample(rig, parts, [(now, float(time)) for time in range(len(shots))], bones, export)
