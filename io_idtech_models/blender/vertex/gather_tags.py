"""Empties and bones to tags: the way back of `tags`, from curves or from what the scene shows in each frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.edits.normals import filled
from ...model.vertex import Tag
from .. import names
from ..compat import Block
from ..empties import decompose, shown_axes
from ..joints import TURN_BACK, are_joints
from ..provenance import Claims
from ..roots import is_tag, own_drivers, tag_bones
from ..scene import is_stretched
from . import tags
from .frame_plan import FramePlan, GatherSettings
from .sampling import Floats, Samples, Stage, Subject, sampled
from .source import StoredSource


@dataclass(frozen=True, eq=False)
class TagSource:
    """An empty, or a bone of an armature, that is a tag."""

    block: Block
    bone: str = ""


def find_tags(blocks: list[Block]) -> list[TagSource]:
    """Return the tags among objects: empties called tag_*, drawn as arrows or on a bone, and bones called tag_*.

    A bone that is called as one of the empties is one tag with it, and so is one that was made for an empty.
    """
    empties = [block for block in blocks if is_tag(block)]
    found = []
    for block in blocks:
        if block in empties:
            found.append(TagSource(block))
        elif block.type == "ARMATURE":
            found += [TagSource(block, bone) for bone in tag_bones(block, empties)]
    return found


def read_tags(tag_sources: list[TagSource], stage: Stage) -> list[tuple[Floats, Floats]]:
    """Return how tags stand in the frames of a stage's plan: origins (F, 3) and axes (F, 3, 3) as rows, of each."""
    seen = sampled(stage, tag_subjects(tag_sources, stage))
    return [_transforms(tag, stage.plan, seen.get(tag)) for tag in tag_sources]


def tag_subjects(tag_sources: list[TagSource], stage: Stage) -> dict[Any, Subject]:
    """Return what to sample of the tags that can't be read from curves."""
    moved = [tag for tag in tag_sources if not _reads_curves(tag, stage.plan, stage.export.settings)]
    return {tag: Subject(tag.block, bone=tag.bone) for tag in moved}


def _reads_curves(tag: TagSource, plan: FramePlan, settings: GatherSettings) -> bool:
    """Tell whether a tag's own curves say where it is in all frames."""
    if not settings.direct or tag.bone or not tags.is_plain(tag.block, plan.space) or any(plan.moves(tag.block)):
        return False
    animation = tag.block.animation_data
    if animation is not None and not plan.is_timed_by_keys and is_stretched():
        return False
    return animation is None or (own_drivers(tag.block) and not len(animation.nla_tracks))


def gather_tags(
    tag_sources: list[TagSource],
    plan: FramePlan,
    samples: Mapping[Any, Samples],
    known: StoredSource | None,
    settings: GatherSettings,
) -> list[Tag]:
    """Return the tags in the source's order, new ones behind, with the source's numbers where import put them.

    `samples` are those of `tag_subjects`.
    """
    found = []
    for entry in tag_sources:
        seen = samples.get(entry)
        origins, axes = _transforms(entry, plan, seen)
        name = entry.bone or names.file_name_of(entry.block, settings.keep_suffixes)
        tag = Tag(name, origins / np.float32(settings.scale), axes)
        tag.source_index = -1 if entry.bone or known is None else known.tag_index(entry.block)
        found.append((tag, entry.block, seen))

    def rank(each: tuple[Tag, Block, Samples | None]) -> tuple[bool, int, bool]:
        tag, block, _ = each
        return tag.source_index < 0, tag.source_index, names.is_renamed(block)

    claims = Claims()
    found.sort(key=rank)
    for tag, block, seen in found:
        if not claims.take(tag.source_index):
            tag.source_index = -1
        _settle(tag, block, seen, plan, known, settings.scale)
    return sorted((tag for tag, _, _ in found), key=lambda tag: tag.source_index < 0)


def _settle(
    tag: Tag, block: Block, seen: Samples | None, plan: FramePlan, known: StoredSource | None, scale: float
) -> None:
    """Give a tag its source's numbers where import put it, and exact axes elsewhere if curves say them."""
    hinted: NDArray[np.bool_] = np.zeros(len(plan.times), np.bool_)
    if tag.source_index >= 0 and known is not None:
        hinted = settle_tag(tag, known, plan.sources, 0.0 if seen is None else reach_of(block, plan) / scale)
    if seen is None:
        for frame in np.flatnonzero(~hinted).tolist():
            tag.axes[frame] = tags.exact_axes(block, plan.own_times()[frame])
    tag.axes[~hinted] += 0.0  # -0 and 0 are one, whichever way the numbers came


def reach_of(block: Block, plan: FramePlan) -> float:
    """Return how large the numbers are that Blender makes a stepped tag's place of: of each bone above it as many.

    In units of the scene.
    """
    reach, bone = plan.space.reach, None
    if block.parent_type == "BONE" and block.parent is not None:
        bone = block.parent.data.bones.get(block.parent_bone)
    while bone is not None:
        reach, bone = reach + max(abs(c) for c in (*bone.head_local, *bone.tail_local)), bone.parent
    return reach


def _transforms(tag: TagSource, plan: FramePlan, samples: Samples | None) -> tuple[Floats, Floats]:
    """Return a tag's origins (F, 3) and axes (F, 3, 3) as rows: from curves, or from `samples` if it was stepped."""
    if samples is None:
        return tags.read_curves(tag.block, plan.own_times())
    is_joint = tag.bone and are_joints(tag.block.data)
    stacked = steady.products(samples.matrices, TURN_BACK) if is_joint else samples.matrices
    axes = np.swapaxes(stacked[:, :3, :3], 1, 2).astype(np.float32)
    return stacked[:, :3, 3].astype(np.float32), axes


def settle_tag(tag: Tag, known: StoredSource, sources: NDArray[np.int32], reach: float) -> NDArray[np.bool_]:
    """Give a tag its source's origin and axes in each frame in which it stands as import put it.

    Blender's places are as exact as floats of the size `reach`, in game units as the tag's.

    A new frame is compared with the source frame before it, which it was copied from if it is equal.
    Returns in which frames the axes are the source's, (F,).
    """
    source, frames = known.source, filled(sources)
    origins, axes = source.tag_origins[frames, tag.source_index], source.tag_axes[frames, tag.source_index]
    near = np.abs(tag.origins - origins) <= tags.SAME_ORIGIN * np.maximum(max(1.0, reach), np.abs(origins))
    kept = near.all(axis=1)
    tag.origins[kept] = origins[kept]
    shown = shown_axes(*decompose(axes))
    size = np.maximum(1.0, np.abs(shown).max(axis=(1, 2)))
    hinted: NDArray[np.bool_] = np.abs(tag.axes - shown).max(axis=(1, 2)) <= tags.SAME_AXES * size
    tag.axes[hinted] = axes[hinted]
    return hinted
