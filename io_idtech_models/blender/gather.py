"""Blender objects to a vertex-animated model: the way back of `vertex.build`, from any objects at all."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..errors import LimitError
from ..model.normals import filled, smooth_normals
from ..model.vertex import Surface, Tag, VertexModel
from . import mesh as meshes
from . import names, sampling, tags
from .compat import Block
from .materials import texture_size
from .plan import GatherSettings, plan_frames
from .sampling import Plan, Samples, Subject
from .shapes import Origin, Shape, read_shape, say_loose
from .source import Known, Place, find
from .stage import Stage, stepping
from .surfaces import Part, shaders_of, split, surface_name, to_surface
from .unheld import say_layers

log = logging.getLogger(__name__)

MESH_TYPES = frozenset(("MESH",))


@dataclass(eq=False)
class Draft:
    """An object on its way to one or more surfaces."""

    block: Block
    place: Place | None
    direct: bool
    shape: Shape | None = None
    parts: list[Part] = field(default_factory=list)
    samples: Samples | None = None
    first: NDArray[np.float32] | None = None  # positions (F, P, 3) of a mesh that could have been read directly


@dataclass(frozen=True, eq=False)
class TagSource:
    """An empty, or a bone of an armature, that is a tag."""

    block: Block
    bone: str = ""


def gather(
    blocks: list[Block],
    collection: bpy.types.Collection | None,
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    settings: GatherSettings,
) -> VertexModel:
    """Return the model that objects show, with its source's facts if the .blend knows them.

    Raises:
        LimitError: nothing to export, keys that disagree, or a mesh whose topology changes.
    """
    for block in blocks:
        block.update_from_editmode()
    view_layer.update()
    mesh_blocks = [block for block in blocks if block.type in MESH_TYPES]
    tag_sources = find_tags(blocks)
    known = find(collection, [block.data for block in mesh_blocks], [tag.block for tag in tag_sources if not tag.bone])
    bare = known is not None and known.is_bare  # then nothing is what it is
    if not mesh_blocks and not tag_sources and not bare:
        raise LimitError("nothing to export: no visible mesh and no tag among the objects")
    plan, sources = plan_frames(mesh_blocks, tag_sources, collection, known, scene, view_layer, settings)
    drafts = [_draft(block, plan, known, settings) for block in _in_order(mesh_blocks, known)]
    with stepping(scene, plan, mesh_blocks) as stage:
        _read_shapes(drafts, stage, sources, known, view_layer, settings)
        stepped = _step(drafts, tag_sources, stage, view_layer, settings)
    surfaces = _surfaces(drafts, plan, settings)
    if not surfaces and not tag_sources and not bare:
        raise LimitError("nothing to export: no mesh has faces, and there is no tag")
    found = _tags(tag_sources, plan, stepped, known, sources, settings)
    name = collection.name if collection is not None else mesh_blocks[0].name if mesh_blocks else "model"
    source = None if known is None else known.source
    return VertexModel(name, plan.names, surfaces, found, source, sources, texture_size=_texture_size(drafts))


def _texture_size(drafts: list[Draft]) -> tuple[int, int] | None:
    """Return the size of the first picture that a material shows, width and height in pixels."""
    for draft in drafts:
        for material in draft.shape.materials if draft.shape is not None else ():
            size = None if material is None else texture_size(material)
            if size is not None:
                return size
    return None


def _in_order(blocks: list[Block], known: Known | None) -> list[Block]:
    """Return objects in the source's order of surfaces; copies (those that Blender renamed) and new ones follow."""
    places = {} if known is None else known.places
    originals: dict[int, Block] = {}
    for block in sorted(blocks, key=lambda block: block.name != block.get(names.GIVEN)):
        place = places.get(block.data)
        if place is not None and place.surface >= 0:
            originals.setdefault(place.surface, block)
    ordered = [originals[index] for index in sorted(originals)]
    taken = set(ordered)
    return ordered + [block for block in blocks if block not in taken]


def _draft(block: Block, plan: Plan, known: Known | None, settings: GatherSettings) -> Draft:
    place = None if known is None else known.places.get(block.data)
    return Draft(block, place, settings.direct and sampling.is_direct(block, plan))


def _read_shapes(
    drafts: list[Draft],
    stage: Stage,
    sources: NDArray[np.int32],
    known: Known | None,
    view_layer: bpy.types.ViewLayer,
    settings: GatherSettings,
) -> None:
    """Read the drafts' topology, and split each into parts by what its first look at positions says."""
    plan = stage.plan
    for draft in drafts:  # before the scene shows another frame
        if draft.direct:
            draft.samples = sampling.read_direct(draft.block, plan)
        elif sampling.is_direct(draft.block, plan):  # all frames decide, as where it is read directly
            draft.first = sampling.read_direct(draft.block, plan).positions
    for draft in drafts:
        _shape(draft, stage, sources, known, view_layer, settings)


def _shape(
    draft: Draft,
    stage: Stage,
    sources: NDArray[np.int32],
    known: Known | None,
    view_layer: bpy.types.ViewLayer,
    settings: GatherSettings,
) -> None:
    source, plan, mesh = None if known is None else known.source, stage.plan, draft.block.data
    origin = Origin(source, draft.place, 0)  # import's base showed the first frame, and its normals are stored
    if draft.samples is not None:
        first = draft.samples.positions
        draft.shape = read_shape(draft.block, mesh, mesh, origin, settings.normals)
    else:
        stage.show(0)
        shown = draft.block.evaluated_get(view_layer.depsgraph).data
        own = mesh if meshes.topology(shown) == meshes.topology(mesh) else None
        draft.shape = read_shape(draft.block, shown, own, origin, settings.normals)
        first = meshes.positions(shown)[None] if own is None or draft.first is None else draft.first
    assert first is not None
    draft.parts = split(draft.shape, first, sources, settings.splits)
    if draft.place is None and not len(draft.shape.corners):
        log.warning("'%s' has no faces: left out", draft.block.name)
        draft.parts = []
    wanted = settings.normals == "SOURCE" and any(part.needs_normals for part in draft.parts)
    other = len(plan.times) > 1 or sampling.shown_keys(draft.block, plan)[0] > 0  # frames than the base
    draft.direct = draft.direct and not ((wanted or settings.normals == "SHOWN") and other)


def _step(
    drafts: list[Draft],
    tag_sources: list[TagSource],
    stage: Stage,
    view_layer: bpy.types.ViewLayer,
    settings: GatherSettings,
) -> list[Samples | None]:
    """Sample what can't be read from curves; meshes' samples go to their drafts, those of tags, in order, come back."""
    stepped = [draft for draft in drafts if not draft.direct and draft.shape is not None]
    subjects = []
    for draft in stepped:
        assert draft.shape is not None
        normals = settings.normals == "SHOWN" or any(part.needs_normals for part in draft.parts)
        subjects.append(Subject(draft.block, draft.shape.topology, normals))
    moved = [tag for tag in tag_sources if not _reads_curves(tag, stage.plan, settings)]
    samples = sampling.step(stage, view_layer, subjects + [Subject(tag.block, bone=tag.bone) for tag in moved])
    for draft, found in zip(stepped, samples, strict=False):
        draft.samples = found
    of_tag = dict(zip((id(tag) for tag in moved), samples[len(stepped) :], strict=True))
    return [of_tag.get(id(tag)) for tag in tag_sources]


def _reads_curves(tag: TagSource, plan: Plan, settings: GatherSettings) -> bool:
    """Tell whether a tag's own curves say where it is in all frames."""
    plain = settings.direct and not tag.bone and tags.is_plain(tag.block) and _only_curves(tag.block)
    return plain and not any(plan.moves(tag.block))


def _only_curves(block: Block) -> bool:
    animation = block.animation_data
    return animation is None or not (len(animation.drivers) or len(animation.nla_tracks))


def _surfaces(drafts: list[Draft], plan: Plan, settings: GatherSettings) -> list[Surface]:
    surfaces: list[Surface] = []
    claimed: set[int] = set()
    for draft in drafts:
        assert draft.shape is not None and draft.samples is not None
        for nth, part in enumerate(draft.parts):
            name = surface_name(draft.block, part, draft.shape, nth, settings.keep_suffixes)
            shaders = shaders_of(part, draft.shape, settings.keep_suffixes)
            scale = 1.0 / settings.scale
            surface = to_surface(name, part, draft.shape, draft.samples, len(plan.times), shaders, scale)
            if nth == 0 and draft.place is not None:
                surface.source_index = draft.place.surface
            if settings.normals == "SMOOTH":
                surface.normals = smooth_normals(surface.positions, surface.triangles)
                surface.own_normals = np.ones(surface.num_vertices, np.bool_)
            if surface.source_index >= 0 and surface.source_index in claimed:
                log.warning("'%s' is a copy of a surface: written as a further one called '%s'", draft.block.name, name)
            claimed.add(surface.source_index)
            surfaces.append(surface)
        if draft.parts:
            _say_points(draft)
            say_layers(draft.block)
    return surfaces


def _say_points(draft: Draft) -> None:
    """Name vertices that are left out, and those that look forgotten at the origin."""
    assert draft.shape is not None and draft.samples is not None and draft.samples.positions is not None
    topology, positions = draft.shape.topology, draft.samples.positions
    say_loose(draft.block, draft.shape)
    new = np.zeros(topology.num_points, np.bool_)
    new[topology.corner_points[draft.shape.numbers < 0]] = True
    if len(positions) < 2 or not new.any():
        return
    at_origin = (positions == 0.0).all(axis=2)
    forgotten = new & at_origin.any(axis=0) & ~at_origin.all(axis=0) & (at_origin.sum(axis=0) >= len(positions) // 2)
    if forgotten.any():
        frames = np.flatnonzero(at_origin[:, forgotten].any(axis=1))
        log.warning(
            "'%s': %d vertices lie at the origin in %d frames (first: %d); 'Hold Still in Other Frames' mends that",
            draft.block.name, int(forgotten.sum()), len(frames), int(frames[0]),
        )  # fmt: skip


def find_tags(blocks: list[Block]) -> list[TagSource]:
    """Return the tags among objects: empties called tag_*, drawn as arrows or on a bone, and bones called tag_*."""
    found = []
    for block in blocks:
        if block.type == "EMPTY" and _is_tag(block):
            found.append(TagSource(block))
        elif block.type == "ARMATURE":
            found += [TagSource(block, b.name) for b in block.data.bones if b.name.lower().startswith(tags.PREFIX)]
    return found


def _is_tag(block: Block) -> bool:
    named = str(block.name).lower().startswith(tags.PREFIX)
    return named or bool(block.empty_display_type == tags.DISPLAY or block.parent_type == "BONE")


def _tags(
    tag_sources: list[TagSource],
    plan: Plan,
    samples: list[Samples | None],
    known: Known | None,
    sources: NDArray[np.int32],
    settings: GatherSettings,
) -> list[Tag]:
    """Return the tags in the source's order, new ones behind, with the source's numbers where import put them."""
    result = []
    for entry, seen in zip(tag_sources, samples, strict=True):
        origins, axes = sampling.tag_transforms(entry.block, plan, seen)
        name = entry.bone or names.file_name_of(entry.block, settings.keep_suffixes)
        tag = Tag(name, origins / np.float32(settings.scale), axes)
        tag.source_index = -1 if entry.bone or known is None else known.tag_index(entry.block)
        result.append((tag, entry))
    order = sorted(range(len(result)), key=lambda i: _tag_rank(*result[i], i))
    claimed: set[int] = set()
    for i in order:
        tag, entry = result[i]
        if tag.source_index in claimed:
            tag.source_index = -1
        claimed.add(tag.source_index)
        hinted: NDArray[np.bool_] = np.zeros(len(plan.times), np.bool_)
        if tag.source_index >= 0 and known is not None:
            hinted = _hint(tag, known, sources)
        if samples[i] is None:
            for frame in np.flatnonzero(~hinted).tolist():
                tag.axes[frame] = tags.exact_axes(entry.block, plan.own_times()[frame])
        tag.axes[~hinted] += 0.0  # -0 and 0 are one, whichever way the numbers came
    return [result[i][0] for i in sorted(order, key=lambda i: result[i][0].source_index < 0)]


def _tag_rank(tag: Tag, entry: TagSource, nth: int) -> tuple[Any, ...]:
    return tag.source_index < 0, tag.source_index, entry.block.name != entry.block.get(names.GIVEN), nth


def _hint(tag: Tag, known: Known, sources: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Give a tag its source's origin and axes in each frame in which it stands as import put it.

    A new frame is compared with the source frame before it, which it was copied from if it is equal.
    Returns in which frames the axes are the source's, (F,).
    """
    source, frames = known.source, filled(sources)
    origins, axes = source.tag_origins[frames, tag.source_index], source.tag_axes[frames, tag.source_index]
    near = np.abs(tag.origins - origins) <= tags.SAME_ORIGIN * np.maximum(1.0, np.abs(origins))
    kept = near.all(axis=1)
    tag.origins[kept] = origins[kept]
    shown = tags.shown_axes(*tags.decompose(axes))
    size = np.maximum(1.0, np.abs(shown).max(axis=(1, 2)))
    hinted: NDArray[np.bool_] = np.abs(tag.axes - shown).max(axis=(1, 2)) <= tags.SAME_AXES * size
    tag.axes[hinted] = axes[hinted]
    return hinted
