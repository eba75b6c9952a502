"""Blender objects to a vertex-animated model: the way back of `build`, from any objects at all."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...model.edits.normals import filled, smooth_normals, without_backs
from ...model.vertex import Surface, Tag, VertexModel
from ...model.wording import listed
from ...reporting import LimitError
from .. import names
from ..budgets import refuse_to_write
from ..claims import Claims
from ..compat import Block
from ..empties import PREFIX, decompose, shown_axes
from ..losses import warn_of_layers
from ..mesh import attributes
from ..mesh.parts import Part, shaders_of, split, surface_name
from ..mesh.read import Origin, Shape, read_shape, warn_of_loose
from ..mesh.surface_names import Wanted, settle_and_say
from ..provenance import Place
from ..roots import is_tag, own_drivers, space_of
from ..scene import ExportScene
from ..shading.images import texture_size
from . import effects, sampling, tags
from .frame_plan import GatherSettings, plan_frames
from .groups import find_groups, find_skins, find_traits, palette_of
from .sampling import Plan, Samples, Subject
from .selfcheck import WrittenSurface
from .source import StoredSource, find
from .stage import Stage, stepping
from .surface import looks_of, to_surface

log = logging.getLogger(__name__)

MESH_TYPES = frozenset(("MESH",))


@dataclass(eq=False)
class MeshJob:
    """An object on its way to one or more surfaces."""

    block: Block
    place: Place | None
    direct: bool
    shape: Shape | None = None
    parts: list[Part] = field(default_factory=list)
    samples: Samples | None = None
    changed: bool = False  # by its modifiers

    @property
    def turns_normals(self) -> bool:
        """Tell whether Blender turns custom normals along with keys or an armature."""
        others = any(modifier.type != "ARMATURE" for modifier in self.block.modifiers if modifier.show_viewport)
        return bool(self.block.data.has_custom_normals and not (self.changed and others))

    def wants_normals(self, settings: GatherSettings) -> bool:
        """Tell whether some vertex takes the normal that Blender shows."""
        return settings.normals == "SHOWN" or (
            settings.normals == "SOURCE" and any(part.needs_normals for part in self.parts)
        )


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
    mesh_blocks = [block for block in blocks if block.type in MESH_TYPES]
    tag_sources = find_tags(blocks)
    known = find(collection, [block.data for block in mesh_blocks], [tag.block for tag in tag_sources if not tag.bone])
    bare = known is not None and known.is_bare  # then nothing is what it is
    if not mesh_blocks and not tag_sources and not bare:
        raise LimitError("nothing to export: no visible mesh and no tag among the objects")
    meant = [] if settings.space == "WORLD" else [*mesh_blocks, *(tag.block for tag in tag_sources)]
    space = space_of(meant, collection, export.evaluated)
    plan, sources = plan_frames(mesh_blocks, tag_sources, collection, known, export, space)
    plan.space = space
    jobs = [_job(block, plan, known, settings) for block in _in_order(mesh_blocks, known)]
    with stepping(export, plan, mesh_blocks) as stage:
        _read_shapes(jobs, stage, known)
        _settle_jobs(jobs, stage, sources)
        stepped = _sample_tags(tag_sources, stage)
    surfaces = _surfaces(jobs, plan, export)
    if not surfaces and not tag_sources and not bare:
        raise LimitError("nothing to export: no mesh has faces, and there is no tag")
    found = _tags(tag_sources, plan, stepped, known, sources, settings)
    name = collection.name if collection is not None else mesh_blocks[0].name if mesh_blocks else "model"
    source = None if known is None else known.source
    model = VertexModel(name, plan.names, surfaces, found, source, sources, texture_size=_texture_size(jobs))
    model.traits, model.groups = find_traits(collection), find_groups(plan, mesh_blocks, collection)
    if settings.pictures:
        model.skins, model.palette = find_skins(_materials(jobs)), palette_of(source)
    return model


def _materials(jobs: list[MeshJob]) -> list[Any]:
    """Return the materials of all surfaces, in order."""
    shapes = [(job.shape, job.parts) for job in jobs if job.shape is not None]
    return [shape.materials[slot] for shape, parts in shapes for part in parts for slot in part.slots]


def _texture_size(jobs: list[MeshJob]) -> tuple[int, int] | None:
    """Return the size of the first picture that a material shows, width and height in pixels."""
    for job in jobs:
        for material in job.shape.materials if job.shape is not None else ():
            size = None if material is None else texture_size(material)
            if size is not None:
                return size
    return None


def _in_order(blocks: list[Block], known: StoredSource | None) -> list[Block]:
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


def _job(block: Block, plan: Plan, known: StoredSource | None, settings: GatherSettings) -> MeshJob:
    place = None if known is None else known.places.get(block.data)
    return MeshJob(block, place, settings.direct and sampling.is_direct(block, plan))


def _read_shapes(jobs: list[MeshJob], stage: Stage, known: StoredSource | None) -> None:
    """Read the jobs' topology, and what of it is the source's, of their own meshes or of what modifiers make of them.

    An object that its modifiers change in some frame is written with the normals that it shows.
    """
    source, plan = None if known is None else known.source, stage.plan
    settings = stage.export.settings
    for job in jobs:  # before the scene shows another frame
        if job.direct:
            job.samples = sampling.read_direct(job.block, plan)
    changed = effects.changed_by_modifiers([job.block for job in jobs if not job.direct], stage)
    for job in jobs:
        mesh = job.block.data
        # Import's base showed the first frame, and its normals are stored.
        origin = Origin(source, job.place, 0, len(plan.times) == 1)
        if job.direct:
            job.shape = read_shape(job.block, mesh, mesh, origin, settings.normals)
            continue
        stage.show(0)
        shown = stage.export.evaluated(job.block).data
        own = mesh if attributes.topology(shown) == attributes.topology(mesh) else None
        job.changed = job.block in changed
        normals = "SHOWN" if job.changed else settings.normals
        job.shape = read_shape(job.block, shown, own, origin, normals)


def _split(job: MeshJob, sources: NDArray[np.int32], settings: GatherSettings) -> None:
    """Split a job into parts by what its samples say."""
    assert job.shape is not None and job.samples is not None and job.samples.positions is not None
    job.parts = split(job.shape, looks_of(job.samples, sources, job.shape), settings.uv_splits_vertices)
    if job.place is None and not len(job.shape.corners):
        log.warning("'%s' has no faces: left out", job.block.name)
        job.parts = []


def _settle_jobs(jobs: list[MeshJob], stage: Stage, sources: NDArray[np.int32]) -> None:
    """Sample and split jobs: by stepping what can't be read directly, or needs normals that only Blender knows."""
    plan, settings = stage.plan, stage.export.settings
    for job in jobs:
        if job.direct:
            _split(job, sources, settings)
            other = len(plan.times) > 1 or sampling.shown_keys(job.block, plan)[0] > 0  # frames than the base
            if other and job.wants_normals(settings) and job.samples is not None:
                assert job.samples.positions is not None
                found = sampling.read_direct_normals(job.block, job.samples.positions, len(plan.times))
                job.samples.normals = found
                _split(job, sources, settings)
    stepped = [job for job in jobs if not job.direct]
    _sample(stepped, stage)
    for job in stepped:
        _split(job, sources, settings)
    # Who of several claimed a vertex in vain, and shows a new one, is known only now.
    late = [j for j in stepped if j.wants_normals(settings) and j.samples is not None and j.samples.normals is None]
    _sample(late, stage)


def _sample(jobs: list[MeshJob], stage: Stage) -> None:
    """Sample jobs in all frames, with normals where some vertex takes those that are shown."""
    subjects = []
    for job in jobs:
        assert job.shape is not None
        normals = job.wants_normals(stage.export.settings) or job.shape.shows_normals
        subjects.append(Subject(job.block, job.shape.topology, normals))
    for job, found in zip(jobs, sampling.step(stage, subjects), strict=True):
        job.samples = found


def _sample_tags(tag_sources: list[TagSource], stage: Stage) -> list[Samples | None]:
    """Sample the tags that can't be read from curves, None for those that can."""
    moved = [tag for tag in tag_sources if not _reads_curves(tag, stage.plan, stage.export.settings)]
    samples = iter(sampling.step(stage, [Subject(tag.block, bone=tag.bone) for tag in moved]))
    return [next(samples) if tag in moved else None for tag in tag_sources]


def _reads_curves(tag: TagSource, plan: Plan, settings: GatherSettings) -> bool:
    """Tell whether a tag's own curves say where it is in all frames."""
    plain = settings.direct and not tag.bone and tags.is_plain(tag.block, plan.space) and _only_curves(tag.block)
    return plain and not any(plan.moves(tag.block))


def _only_curves(block: Block) -> bool:
    animation = block.animation_data
    return animation is None or (own_drivers(block) and not len(animation.nla_tracks))


def _surfaces(jobs: list[MeshJob], plan: Plan, export: ExportScene[GatherSettings]) -> list[Surface]:
    settings = export.settings
    if settings.uv_splits_vertices:  # else they become one
        refuse_to_write(sum(len(job.parts) for job in jobs))
    surfaces: list[Surface] = []
    export.written.clear()
    claims, copies, called = Claims(), dict[str, str](), iter(_names(jobs, settings))
    for job in jobs:
        assert job.shape is not None and job.samples is not None
        for nth, part in enumerate(job.parts):
            name = next(called)
            surface = to_surface(name, part, job.shape, job.samples, len(plan.times), 1.0 / settings.scale)
            surface.shaders = shaders_of(part, job.shape, settings.keep_suffixes)
            if nth == 0 and job.place is not None:
                surface.source_index = job.place.surface
            _settle_shown(job, surface, settings)
            if claims.repeats(surface.source_index, surface.source_triangles):
                copies[job.block.name] = name
            surfaces.append(surface)
            if job.direct:
                export.written.append(WrittenSurface(job.block, surface, part.vertices.points, plan))
        if job.parts:
            _warn_of_points(job)
            warn_of_layers(job.block)
    _warn_of_copies(copies)
    return surfaces


def _names(jobs: list[MeshJob], settings: GatherSettings) -> list[str]:
    """Return what to call all surfaces, in order."""
    wanted = []
    for job in jobs:
        assert job.shape is not None
        for nth, part in enumerate(job.parts):
            name = surface_name(job.block, part, job.shape, nth, settings.keep_suffixes)
            wanted.append(Wanted(job.block, nth, name))
    return settle_and_say(wanted) if settings.worn_by_name else [each.name for each in wanted]


def _warn_of_copies(copies: dict[str, str]) -> None:
    """Name the objects that are copies of imported surfaces, with what each is called in the file."""
    if len(copies) > 1:
        log.warning("%s are copies of surfaces: written as further ones", listed(list(copies)))
    for copy, name in copies.items() if len(copies) == 1 else ():
        log.warning("'%s' is a copy of a surface: written as a further one called '%s'", copy, name)


def _settle_shown(job: MeshJob, surface: Surface, settings: GatherSettings) -> None:
    """Take smooth normals instead of those that Blender shows: if that is wanted, or where those can't be right.

    Blender turns custom normals along with the faces that they were set on, and loses their way in poses far off. What
    other modifiers than an armature's make is how it is meant.
    """
    surface.as_shown = settings.normals == "SHOWN"
    if settings.normals == "SMOOTH":
        surface.normals = smooth_normals(surface.positions, surface.triangles)
        surface.own_normals = np.ones(surface.num_vertices, np.bool_)
    elif settings.normals == "SOURCE" and surface.normals is not None and job.turns_normals:
        numbers, own = surface.source_vertices, surface.own_normals
        if surface.normals.strides[0] and numbers is not None and own is not None:  # else one for all frames
            triangles, which = surface.triangles, own | (numbers < 0)
            surface.normals, count = without_backs(surface.normals, surface.positions, triangles, which)
            if count:
                said = "vertices show normals that point into the mesh in some frames: smoothed there"
                log.warning("'%s': %d %s", job.block.name, count, said)


def _warn_of_points(job: MeshJob) -> None:
    """Name vertices that are left out, and those that look forgotten at the origin."""
    assert job.shape is not None and job.samples is not None and job.samples.positions is not None
    topology, positions = job.shape.topology, job.samples.positions
    warn_of_loose(job.block, job.shape)
    new = np.zeros(topology.num_points, np.bool_)
    new[topology.corner_points[job.shape.numbers < 0]] = True
    if len(positions) < 2 or not new.any():
        return
    at_origin = (positions == 0.0).all(axis=2)
    forgotten = new & at_origin.any(axis=0) & ~at_origin.all(axis=0) & (at_origin.sum(axis=0) >= len(positions) // 2)
    if forgotten.any():
        frames = np.flatnonzero(at_origin[:, forgotten].any(axis=1))
        log.warning(
            "'%s': %d vertices lie at the origin in %d frames (first: %d); 'Hold Still in Other Frames' mends that",
            job.block.name, int(forgotten.sum()), len(frames), int(frames[0]),
        )  # fmt: skip


def find_tags(blocks: list[Block]) -> list[TagSource]:
    """Return the tags among objects: empties called tag_*, drawn as arrows or on a bone, and bones called tag_*."""
    found = []
    for block in blocks:
        if is_tag(block):
            found.append(TagSource(block))
        elif block.type == "ARMATURE":
            found += [TagSource(block, b.name) for b in block.data.bones if b.name.lower().startswith(PREFIX)]
    return found


def _tags(
    tag_sources: list[TagSource],
    plan: Plan,
    samples: list[Samples | None],
    known: StoredSource | None,
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
    claims = Claims()
    for i in order:
        tag, entry = result[i]
        if not claims.take(tag.source_index):
            tag.source_index = -1
        hinted: NDArray[np.bool_] = np.zeros(len(plan.times), np.bool_)
        if tag.source_index >= 0 and known is not None:
            hinted = _hint(tag, known, sources, 1.0 if samples[i] is None else max(1.0, plan.space.reach))
        if samples[i] is None:
            for frame in np.flatnonzero(~hinted).tolist():
                tag.axes[frame] = tags.exact_axes(entry.block, plan.own_times()[frame])
        tag.axes[~hinted] += 0.0  # -0 and 0 are one, whichever way the numbers came
    return [result[i][0] for i in sorted(order, key=lambda i: result[i][0].source_index < 0)]


def _tag_rank(tag: Tag, entry: TagSource, nth: int) -> tuple[Any, ...]:
    return tag.source_index < 0, tag.source_index, entry.block.name != entry.block.get(names.GIVEN), nth


def _hint(tag: Tag, known: StoredSource, sources: NDArray[np.int32], reach: float) -> NDArray[np.bool_]:
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
