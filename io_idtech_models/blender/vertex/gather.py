"""Blender objects to a vertex-animated model: the way back of `build`, from any objects at all."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...model.clips import Clip
from ...model.edits.normals import filled
from ...model.pictures import Skin
from ...model.vertex import ModelSource, Tag, Traits, VertexModel
from ...reporting import LimitError
from .. import names
from ..compat import Block
from ..empties import PREFIX, decompose, shown_axes
from ..frame_rigs import is_frame_rig
from ..playback import make_take
from ..properties import GAME, TIMES, numbers
from ..provenance import Claims
from ..roots import is_tag, own_drivers, space_of
from ..scene import ExportScene
from ..shading.images import texture_size
from ..shading.skins import read_skin
from . import tags
from .clips import model_actions, model_ids
from .frame_plan import FramePlan, GatherSettings, plan_frames
from .gather_surfaces import SplitMesh, read_meshes, split_meshes, to_surfaces
from .sampling import Floats, Samples, Stage, Subject, step, stepping
from .shape_keys import KeyFinder, frame_blocks
from .shown_keys import keys_at
from .source import StoredSource, find

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class TagSource:
    """An empty, or a bone of an armature, that is a tag."""

    block: Block
    bone: str = ""


def gather(
    blocks: list[Block], collection: bpy.types.Collection | None, export: ExportScene[GatherSettings]
) -> VertexModel:
    """Return the model that objects show, with its source's facts if the .blend knows them.

    Raises:
        LimitError: nothing to export, keys that disagree, or a mesh whose topology changes.
    """
    for block in blocks:
        block.update_from_editmode()
    export.view_layer.update()
    settings = export.settings
    mesh_blocks = [block for block in blocks if block.type == "MESH"]
    tag_sources = find_tags(blocks)
    known = find(collection, [block.data for block in mesh_blocks], [tag.block for tag in tag_sources if not tag.bone])
    bare = known is not None and known.is_bare  # then nothing is what it is
    if not mesh_blocks and not tag_sources and not bare:
        raise LimitError("nothing to export: no visible mesh and no tag among the objects")
    wanted = [] if settings.space == "WORLD" else [*mesh_blocks, *(tag.block for tag in tag_sources)]
    space = space_of(wanted, collection, export.evaluated)
    plan = plan_frames(mesh_blocks, tag_sources, collection, known, export, space)
    plan.space = space
    with stepping(export, plan, mesh_blocks) as stage:
        meshes = split_meshes(read_meshes(mesh_blocks, stage, known), stage)
        stepped = _sample_tags(tag_sources, stage)
    surfaces = to_surfaces(meshes, plan, export)
    if not surfaces and not tag_sources and not bare:
        raise LimitError("nothing to export: no mesh has faces, and there is no tag")
    found = _tags(tag_sources, plan, stepped, known, settings)
    name = collection.name if collection is not None else mesh_blocks[0].name if mesh_blocks else "model"
    source = None if known is None else known.source
    model = VertexModel(name, plan.names, surfaces, found, source, plan.sources, texture_size=_texture_size(meshes))
    model.traits, model.groups = find_traits(collection), find_groups(plan, mesh_blocks, collection)
    if settings.pictures:
        shapes = [(each.mesh.shape, each.parts) for each in meshes]
        worn = [shape.materials[slot] for shape, parts in shapes for part in parts for slot in part.slots]
        model.skins, model.palette = find_skins(worn), palette_of(source)
    return model


def _texture_size(meshes: list[SplitMesh]) -> tuple[int, int] | None:
    """Return the size of the first picture that a material shows, width and height in pixels."""
    for each in meshes:
        for material in each.mesh.shape.materials:
            size = None if material is None else texture_size(material)
            if size is not None:
                return size
    return None


def read_tags(tag_sources: list[TagSource], stage: Stage) -> list[tuple[Floats, Floats]]:
    """Return how tags stand in the frames of a stage's plan: origins (F, 3) and axes (F, 3, 3) as rows, of each."""
    stepped = _sample_tags(tag_sources, stage)
    return [_tag_transforms(tag.block, stage.plan, own) for tag, own in zip(tag_sources, stepped, strict=True)]


def _sample_tags(tag_sources: list[TagSource], stage: Stage) -> list[Samples | None]:
    """Sample the tags that can't be read from curves, None for those that can."""
    moved = [tag for tag in tag_sources if not _reads_curves(tag, stage.plan, stage.export.settings)]
    samples = iter(step(stage, [Subject(tag.block, bone=tag.bone) for tag in moved]))
    return [next(samples) if tag in moved else None for tag in tag_sources]


def _reads_curves(tag: TagSource, plan: FramePlan, settings: GatherSettings) -> bool:
    """Tell whether a tag's own curves say where it is in all frames."""
    if not settings.direct or tag.bone or not tags.is_plain(tag.block, plan.space) or any(plan.moves(tag.block)):
        return False
    animation = tag.block.animation_data
    return animation is None or (own_drivers(tag.block) and not len(animation.nla_tracks))


def find_tags(blocks: list[Block]) -> list[TagSource]:
    """Return the tags among objects: empties called tag_*, drawn as arrows or on a bone, and bones called tag_*.

    A bone that carries an empty of its name is one tag with it, and so is one that was made for an empty.
    """
    empties = [block for block in blocks if is_tag(block)]
    rigs = [block for block in blocks if is_frame_rig(block)]  # which carry tags of other parts, too
    shown = {(b.parent, b.parent_bone) for b in empties if b.parent_bone == b.name}
    shown |= {(rig, child.parent_bone) for rig in rigs for child in rig.children}
    found = []
    for block in blocks:
        if block in empties:
            found.append(TagSource(block))
        elif block.type == "ARMATURE":
            bones = [bone.name for bone in block.data.bones if bone.name.lower().startswith(PREFIX)]
            found += [TagSource(block, bone) for bone in bones if (block, bone) not in shown]
    return found


def _tags(
    tag_sources: list[TagSource],
    plan: FramePlan,
    samples: list[Samples | None],
    known: StoredSource | None,
    settings: GatherSettings,
) -> list[Tag]:
    """Return the tags in the source's order, new ones behind, with the source's numbers where import put them."""
    result = []
    for entry, seen in zip(tag_sources, samples, strict=True):
        origins, axes = _tag_transforms(entry.block, plan, seen)
        name = entry.bone or names.file_name_of(entry.block, settings.keep_suffixes)
        tag = Tag(name, origins / np.float32(settings.scale), axes)
        tag.source_index = -1 if entry.bone or known is None else known.tag_index(entry.block)
        result.append((tag, entry))

    def rank(nth: int) -> tuple[Any, ...]:
        tag, entry = result[nth]
        return tag.source_index < 0, tag.source_index, entry.block.name != entry.block.get(names.GIVEN), nth

    order = sorted(range(len(result)), key=rank)
    claims = Claims()
    for i in order:
        tag, entry = result[i]
        if not claims.take(tag.source_index):
            tag.source_index = -1
        hinted: NDArray[np.bool_] = np.zeros(len(plan.times), np.bool_)
        if tag.source_index >= 0 and known is not None:
            hinted = settle_tag(tag, known, plan.sources, 1.0 if samples[i] is None else reach_of(entry.block, plan))
        if samples[i] is None:
            for frame in np.flatnonzero(~hinted).tolist():
                tag.axes[frame] = tags.exact_axes(entry.block, plan.own_times()[frame])
        tag.axes[~hinted] += 0.0  # -0 and 0 are one, whichever way the numbers came
    return [result[i][0] for i in sorted(order, key=lambda i: result[i][0].source_index < 0)]


def reach_of(block: Block, plan: FramePlan) -> float:
    """Return how large the numbers are that Blender makes a stepped tag's place of: of each bone above it as many."""
    reach, bone = max(1.0, plan.space.reach), None
    if block.parent_type == "BONE" and block.parent is not None:
        bone = block.parent.data.bones.get(block.parent_bone)
    while bone is not None:
        reach, bone = reach + max(abs(c) for c in (*bone.head_local, *bone.tail_local)), bone.parent
    return reach


def _tag_transforms(block: Block, plan: FramePlan, samples: Samples | None) -> tuple[Floats, Floats]:
    """Return a tag's origins (F, 3) and axes (F, 3, 3) as rows: from curves, or from `samples` if it was stepped."""
    if samples is None:
        return tags.read_curves(block, plan.own_times())
    stacked = samples.matrices
    axes = np.swapaxes(stacked[:, :3, :3], 1, 2).astype(np.float32)
    return stacked[:, :3, 3].astype(np.float32), axes


def settle_tag(tag: Tag, known: StoredSource, sources: NDArray[np.int32], reach: float) -> NDArray[np.bool_]:
    """Give a tag its source's origin and axes in each frame in which it stands as import put it.

    Blender's places are as exact as floats of the size `reach`.

    A new frame is compared with the source frame before it, which it was copied from if it is equal.
    Returns in which frames the axes are the source's, (F,).
    """
    source, frames = known.source, filled(sources)
    origins, axes = source.tag_origins[frames, tag.source_index], source.tag_axes[frames, tag.source_index]
    near = np.abs(tag.origins - origins) <= tags.SAME_ORIGIN * np.maximum(reach, np.abs(origins))
    kept = near.all(axis=1)
    tag.origins[kept] = origins[kept]
    shown = shown_axes(*decompose(axes))
    size = np.maximum(1.0, np.abs(shown).max(axis=(1, 2)))
    hinted: NDArray[np.bool_] = np.abs(tag.axes - shown).max(axis=(1, 2)) <= tags.SAME_AXES * size
    tag.axes[hinted] = axes[hinted]
    return hinted


def find_groups(plan: FramePlan, blocks: list[Block], collection: bpy.types.Collection | None) -> list[Clip] | None:
    """Return the groups among the frames that are planned; None where no action of the model says what they are."""
    keyed = [b.data.shape_keys for b in blocks if b.data.shape_keys is not None and frame_blocks(b.data.shape_keys)]
    taken = [take.action for take in plan.takes if take is not None]
    actions = list(dict.fromkeys([*model_actions(model_ids(blocks, collection)), *taken]))
    if not actions or not keyed:
        return None
    finder, found = KeyFinder(keyed[0]), list[Clip]()
    for action in actions:
        times = numbers(action, TIMES)
        if times:
            name = names.file_name_of(action)
            runs = _taken(plan, action) if action in taken else _shown(plan, action, finder, keyed)
            found += [Clip(name, run.start, len(run), times=times) for run in runs]
    return found


def _taken(plan: FramePlan, action: Block) -> Iterator[range]:
    """Yield the frames for which an action is played."""
    own = [place for place, take in enumerate(plan.takes) if take is not None and take.action == action]
    if own:
        yield range(own[0], own[-1] + 1)


def _shown(plan: FramePlan, action: Block, finder: KeyFinder, keyed: list[Block]) -> Iterator[range]:
    """Yield the frames that show just the keys that an action does, in its order."""
    try:
        take = make_take(action.name, action, keyed)
    except LimitError:
        return
    keys = keys_at(finder, take.times, take)
    if not keys or keys[0] < 0 or any(after != before + 1 for before, after in pairwise(keys)):
        log.warning("'%s' plays no run of the model's frames: it is written as no group", action.name)
        return
    place = 0
    while place + len(keys) <= len(plan.keys):
        if plan.keys[place : place + len(keys)] == keys:
            yield range(place, place + len(keys))
            place += len(keys)
        else:
            place += 1


def find_skins(materials: Iterable[Any]) -> list[Skin]:
    """Return the skins that materials show, each once."""
    found: dict[str, Skin] = {}
    for material in dict.fromkeys(materials):
        if material is not None:
            name = names.file_name_of(material)
            found.setdefault(name, read_skin(material, name))
    return list(found.values())


def find_traits(collection: bpy.types.Collection | None) -> Traits:
    """Return the numbers of a model's header that its collection shows."""
    found: Traits = {}
    holder: Any = collection
    for name in [] if holder is None else list(holder.keys()):
        if name.startswith(GAME):
            value, several = holder[name], numbers(holder, name)
            if several:
                found[name.removeprefix(GAME)] = value if isinstance(value, int | float) else several
            else:
                log.warning("'%s' is no number: left as it was", name)
    return found


def palette_of(source: ModelSource | None) -> Any:
    """Return the palette that a model's pictures were read with, (256, 3), if it is one of its own."""
    found = None if source is None else source.facts.get("palette")
    return found if found is not None and found.shape == (256, 3) and found.dtype == "u1" else None
