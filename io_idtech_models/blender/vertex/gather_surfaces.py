"""Mesh objects to the surfaces of a file, in three steps: read (`ReadMesh`), sampled, split (`SplitMesh`).

What is read stays the same in all frames: topology, and what of it is the source's. Sampled is what an object shows in
each (`sampling.Samples`). That decides how it is split: corners to vertices, faces to triangles, in the source's order.

An object whose modifiers change anything is written as it is shown, normals included: modifiers that move, cut or add
faces leave their meshes' custom normals to Blender, which turns and blends them in its own way, and some exist to
change normals alone. One whose modifiers do nothing (a decimation by nothing, a wave that has not come yet) is written
as without them.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.edits.normals import facing_out, smooth_normals
from ...model.vertex import BaseNormals, SharedPoints, Surface
from ...reporting import listed, plural
from .. import names
from ..budgets import refuse_to_write
from ..compat import Block
from ..frame_rigs import is_posed_alone
from ..mesh import attributes, uv_maps
from ..mesh.edited_normals import shows_the_same
from ..mesh.parts import Evidence, Part, split, turned_normals
from ..mesh.read import (
    HARD,
    Origin,
    Shape,
    hard_points,
    has_gone,
    read_shape,
    warn_of_cuts,
    warn_of_layers,
    warn_of_loose,
)
from ..mesh.surface_names import Wanted, settle_and_say, shaders_of, surface_name
from ..provenance import Claims, Place
from ..scene import ExportScene
from .frame_plan import FramePlan, GatherSettings
from .sampling import Samples, Stage, Subject, keyed_positions, read_direct, read_direct_normals, sampled
from .selfcheck import WrittenSurface
from .shape_keys import frame_blocks
from .source import StoredSource

log = logging.getLogger(__name__)

MOST_SEEN = 32  # frames whose normals decide whether corners make one vertex
AS_GOOD = 1e-5  # of a model's size: what an armature errs in single precision
PROBED = 5  # frames that are looked at for what modifiers change


@dataclass(frozen=True, eq=False)
class ReadMesh:
    """A mesh object with what stays the same in all frames."""

    block: Block
    place: Place | None  # in the source
    shape: Shape
    keyed: Samples | None  # what its keys alone say that it shows; None: the scene has to be stepped through
    changed: bool = False  # by its modifiers
    colors: NDArray[np.float32] | None = None  # (P, 4) of its points, of formats that hold some
    hard: NDArray[np.bool_] | None = None  # (P,) see `hard_points`, of formats with one normal a point

    @property
    def turns_normals(self) -> bool:
        """Tell whether Blender turns custom normals along with keys or an armature."""
        others = any(modifier.type != "ARMATURE" for modifier in self.block.modifiers if modifier.show_viewport)
        return bool(self.block.data.has_custom_normals and not (self.changed and others))


@dataclass(eq=False)
class SplitMesh:
    """A mesh object with what it shows in all frames, and in the parts that become surfaces by that."""

    mesh: ReadMesh
    samples: Samples
    parts: list[Part]


def read_meshes(blocks: list[Block], stage: Stage, known: StoredSource | None) -> list[ReadMesh]:
    """Read objects' own meshes, or what modifiers make of them in the first frame, in the source's order."""
    places = {} if known is None else known.places
    blocks = names.in_source_order(blocks, lambda block: places[block.data].surface if block.data in places else -1)
    source, plan, settings = None if known is None else known.source, stage.plan, stage.export.settings
    # Before the scene shows another frame:
    keyed = {block: read_direct(block, plan) for block in blocks if settings.direct and plan.is_direct(block)}
    changed = changed_by_modifiers([block for block in blocks if block not in keyed], stage)
    found = []
    for block in blocks:
        mesh = block.data
        place = None if known is None else known.places.get(mesh)
        # Import's base showed the first frame, and its normals are stored.
        origin = Origin(source, place, 0, len(plan.times) == 1)
        if block in keyed:
            shape = read_shape(block, mesh, mesh, origin, settings.normals)
            if settings.holds.further_uvs:
                shape.uv_maps = uv_maps.read(block, mesh)
            found.append(ReadMesh(block, place, shape, keyed[block], False, *_of_points(mesh, shape, settings)))
            continue
        stage.show(0)
        shown = stage.export.evaluated(block).data
        own = mesh if attributes.topology(shown) == attributes.topology(mesh) else None
        normals = "SHOWN" if block in changed else settings.normals
        shape = read_shape(block, shown, own, origin, normals)
        if settings.holds.further_uvs:
            shape.uv_maps = uv_maps.read(block, shown)
        found.append(ReadMesh(block, place, shape, None, block in changed, *_of_points(shown, shape, settings)))
    return found


def _of_points(
    mesh: Block, shape: Shape, settings: GatherSettings
) -> tuple[NDArray[np.float32] | None, NDArray[np.bool_] | None]:
    """Return what some formats ask of a mesh: its points' colours (P, 4), and which are hard (P,) if that is lost."""
    colors = attributes.point_colors(mesh) if settings.holds.colors else None
    return colors, None if settings.holds.uv_splits_vertices else hard_points(shape)


def changed_by_modifiers(blocks: list[Block], stage: Stage) -> set[Any]:
    """Return the mesh objects (of some that are stepped) whose modifiers show in one of the plan's frames.

    But for those that only an armature poses which was made of their frames: it moves points as keys do.
    """
    modified = [block for block in blocks if any(modifier.show_viewport for modifier in block.modifiers)]
    open_ = [block for block in modified if not is_posed_alone(block)]
    if not open_:
        return set()
    plain = {block: _plain_positions(block, stage.plan) for block in open_}
    count = len(stage.plan.times)
    changed = set()
    for frame in sorted(set(np.linspace(0, count - 1, min(count, PROBED)).astype(int).tolist())):
        stage.show(frame)
        for block in [b for b in open_ if b not in changed]:
            shown = stage.export.evaluated(block).data
            points = plain[block]
            if points is None or not shows_the_same(block.data, shown, points[min(frame, len(points) - 1)]):
                changed.add(block)
    return changed


def _plain_positions(block: Block, plan: FramePlan) -> NDArray[np.float32] | None:
    """Return where the mesh has its points in each frame without modifiers, (F or 1, P, 3); None if that is unknown."""
    keys = block.data.shape_keys
    if keys is not None and (not frame_blocks(keys) or min(plan.shown_keys(block)) < 0):
        return None
    return keyed_positions(block, plan)


def mesh_subjects(meshes: list[ReadMesh], settings: GatherSettings, normals: bool = False) -> dict[Any, Subject]:
    """Return what to sample of the meshes that their keys alone don't tell of.

    With `normals`; without these of those alone where it is clear by now that they are wanted.
    """
    shown = normals or settings.normals == "SHOWN"
    stepped = [mesh for mesh in meshes if mesh.keyed is None]
    return {m: Subject(m.block, m.shape.topology, shown or m.shape.shows_normals) for m in stepped}


def split_meshes(meshes: list[ReadMesh], seen: Mapping[Any, Samples], stage: Stage) -> list[SplitMesh]:
    """Split meshes by what they show in all frames: `seen` are samples of `mesh_subjects`."""
    plan, settings = stage.plan, stage.export.settings
    samples = [_settled(mesh, seen, plan) for mesh in meshes]
    found = [SplitMesh(mesh, own, _parts(mesh, own, stage)) for mesh, own in zip(meshes, samples, strict=True)]
    # Who of several claimed a vertex in vain, and shows a new one, is known only now.
    late = [each for each in found if each.samples.normals is None and _wants_normals(each, settings)]
    again = sampled(stage, mesh_subjects([each.mesh for each in late], settings, normals=True))
    for each in late:
        mesh, own = each.mesh, _settled(each.mesh, again, plan)
        if mesh.keyed is not None and (len(plan.times) > 1 or plan.shown_keys(mesh.block)[0] > 0):
            own.normals = read_direct_normals(mesh.block, own.positions, len(plan.times))  # other ones than the base's
        each.samples = own
        if own.normals is not None and mesh.shape.shows_normals:
            each.parts = _parts(mesh, own, stage)
    return found


def _wants_normals(each: SplitMesh, settings: GatherSettings) -> bool:
    """Tell whether some vertex takes the normal that Blender shows."""
    needs = settings.normals == "SOURCE" and any(part.needs_normals for part in each.parts)
    return needs or settings.normals == "SHOWN"


def _settled(mesh: ReadMesh, seen: Mapping[Any, Samples], plan: FramePlan) -> Samples:
    """Return what a mesh shows in all frames: by its keys, or as it was seen."""
    if mesh.keyed is not None:
        return mesh.keyed
    samples = seen[mesh]
    if is_posed_alone(mesh.block):
        _settle_points(samples, mesh.shape, plan.sources)
    return samples


def _settle_points(samples: Samples, shape: Shape, frames: NDArray[np.int32]) -> None:
    """Put points that an armature has as good as where the source has them just there: it computes them anew."""
    known = np.flatnonzero(frames >= 0)
    for part, places, indices in [] if shape.near is None else shape.near.source.vertex_parts(shape.numbers):
        points, firsts = np.unique(shape.topology.corner_points[places], return_index=True)
        there = part.decoded_positions(frames[known], indices[firsts])
        shown = samples.positions[known[:, None], points]
        size = max(1.0, float(np.abs(there).max(initial=0.0)))
        near = np.abs(shown - there).max(axis=2) <= AS_GOOD * size
        samples.positions[known[:, None], points] = np.where(near[..., None], there, shown)


def _parts(mesh: ReadMesh, samples: Samples, stage: Stage) -> list[Part]:
    """Split a mesh by what it shows; one without faces becomes none, unless it is a surface that never had any."""
    if has_gone(mesh.shape, mesh.place):
        log.warning("'%s' has no faces: left out", mesh.block.name)
        return []
    splits = stage.export.settings.holds.uv_splits_vertices
    return split(mesh.shape, evidence_of(samples, stage.plan.sources, mesh.shape), splits)


def to_surfaces(
    meshes: list[SplitMesh], plan: FramePlan, export: ExportScene[GatherSettings], known: StoredSource | None
) -> list[Surface]:
    """Return the surfaces of all meshes, in order; those that were read from keys are noted for the self check."""
    settings = export.settings
    if settings.holds.uv_splits_vertices:  # else they become one
        refuse_to_write(sum(len(each.parts) for each in meshes))
    surfaces: list[Surface] = []
    export.written.clear()
    same = known is None or settings.holds.format in ("", known.source.format)
    claims, copies, called = Claims(), dict[str, str](), iter(_names(meshes, settings))
    for each in meshes:
        mesh, samples = each.mesh, each.samples
        for nth, part in enumerate(each.parts):
            name = next(called)
            surface = to_surface(name, part, mesh.shape, samples, len(plan.times), 1.0 / settings.scale)
            _dress(mesh, part, surface, settings, same)
            if nth == 0 and mesh.place is not None:
                surface.source_index = mesh.place.surface
            _settle_normals(mesh, surface, settings)
            _warn_of_hard_edges(mesh, part, samples, settings)
            if claims.repeats(surface.source_index, surface.source_triangles):
                copies[mesh.block.name] = name
            surfaces.append(surface)
            if mesh.keyed is not None:
                export.written.append(WrittenSurface(mesh.block, surface, part.vertices.points, plan))
        if each.parts:
            warn_of_loose(mesh.block, mesh.shape)
            warn_of_cuts(mesh.block, mesh.shape, samples.positions)
            _warn_of_forgotten(mesh, samples)
            warn_of_layers(mesh.block, settings.holds.colors, settings.holds.further_uvs)
    if len(copies) > 1:
        log.warning("%s are copies of surfaces: written as further ones", listed(list(copies)))
    for copy, name in copies.items() if len(copies) == 1 else ():
        log.warning("'%s' is a copy of a surface: written as a further one called '%s'", copy, name)
    return surfaces


def _dress(mesh: ReadMesh, part: Part, surface: Surface, settings: GatherSettings, is_source: bool) -> None:
    """Give a surface its shaders, the colours of its points, and its further texture coordinates."""
    are_skins = not settings.holds.uv_splits_vertices
    surface.shaders = shaders_of(part, mesh.shape, settings.keep_suffixes, is_source, are_skins)
    surface.colors = None if mesh.colors is None else mesh.colors[part.vertices.points]
    if settings.holds.further_uvs:
        turn = slice(None, None, -1 if surface.mirrored else 1)
        surface.uv_name, surface.shown_uvs = mesh.shape.uv_maps.drawn, mesh.shape.uv_maps.shown
        surface.further_uvs = {name: corners[:, turn] for name, corners in part.further.items()}
        surface.shown_corners = part.corners[:, turn]


def _names(meshes: list[SplitMesh], settings: GatherSettings) -> list[str]:
    """Return what to call all surfaces, in order."""
    wanted = []
    for each in meshes:
        block = each.mesh.block
        for nth, part in enumerate(each.parts):
            wanted.append(Wanted(block, nth, surface_name(block, part, each.mesh.shape, nth, settings.keep_suffixes)))
    return settle_and_say(wanted) if settings.holds.worn_by_name else [each.name for each in wanted]


def _settle_normals(mesh: ReadMesh, surface: Surface, settings: GatherSettings) -> None:
    """Take smooth normals instead of those that Blender shows: if that is wanted, or where those can't be right.

    Blender turns custom normals along with the faces that they were set on, and loses their way in poses far off. What
    other modifiers than an armature's make is how it is meant.
    """
    surface.as_shown = settings.normals == "SHOWN"
    if settings.normals != "SOURCE" or mesh.changed:
        surface.copies = None
    if settings.normals == "SMOOTH":
        surface.normals = smooth_normals(surface.positions, surface.triangles)
        surface.own_normals = np.ones(surface.num_vertices, np.bool_)
    elif settings.normals == "SOURCE" and surface.normals is not None and mesh.turns_normals:
        numbers, own = surface.source_vertices, surface.own_normals
        if surface.normals.strides[0] and numbers is not None and own is not None:  # else one for all frames
            copied = np.zeros(len(own), np.bool_) if surface.copies is None else surface.copies >= 0
            which = (own | (numbers < 0)) & ~copied  # of copies it is settled later what is shown
            surface.normals = facing_out(surface, surface.normals, which)


def _warn_of_hard_edges(mesh: ReadMesh, part: Part, samples: Samples, settings: GatherSettings) -> None:
    """Say at how many vertices faces show normals of their own, of which a file that has one a point holds the mean."""
    if part.fans is None or mesh.hard is None or settings.normals == "SMOOTH":
        return
    found = mesh.hard[part.vertices.points]
    if part.needs_normals:
        shown = mesh.shape.normals if samples.normals is None else samples.normals[0]
        corners, vertices = part.fans
        means = part.normals(shown[None])[0]
        apart = shown[corners].any(axis=1) & (steady.dots(shown[corners], means[vertices]) < HARD)
        counted = part.own | (part.vertices.numbers < 0)
        found |= counted & (np.bincount(vertices, apart, len(means)) > 0)
    count = int(found.sum())
    if count:
        said = "hard edges will be smooth in the game at %s with one normal each: split them (Mesh > Split)"
        log.warning("'%s': " + said, mesh.block.name, plural(count, "vertex", "vertices"))


def _warn_of_forgotten(mesh: ReadMesh, samples: Samples) -> None:
    """Name new vertices that look forgotten at the origin in some frames, of a mesh that has keys to mend that in."""
    if mesh.block.data.shape_keys is None:
        return
    topology, positions = mesh.shape.topology, samples.positions
    new = np.zeros(topology.num_points, np.bool_)
    new[topology.corner_points[mesh.shape.numbers < 0]] = True
    if len(positions) < 2 or not new.any():
        return
    at_origin = (positions == 0.0).all(axis=2)
    forgotten = new & at_origin.any(axis=0) & ~at_origin.all(axis=0) & (at_origin.sum(axis=0) >= len(positions) // 2)
    if forgotten.any():
        frames = np.flatnonzero(at_origin[:, forgotten].any(axis=1))
        points, times = plural(int(forgotten.sum()), "vertex", "vertices"), plural(len(frames), "frame")
        said = "'%s': %s at the origin in %s (first: %d); 'Hold Still in Other Frames' mends that"
        log.warning(said, mesh.block.name, points, times, frames[0])


def evidence_of(samples: Samples, frames: NDArray[Any], shape: Shape) -> Evidence:
    """Return what samples of all frames say; of their normals some, evenly spread."""
    normals = shape.normals
    if samples.normals is not None and shape.shows_normals:
        count = len(samples.normals)
        some = np.unique(np.linspace(0, count - 1, min(count, MOST_SEEN)).astype(int))
        normals = np.ascontiguousarray(samples.normals[some].transpose(1, 0, 2))
    return Evidence(samples.positions, frames, normals)


def to_surface(name: str, part: Part, shape: Shape, samples: Samples, num_frames: int, scale: float) -> Surface:
    """Return the surface of a part, still without shaders: its positions and normals in the world, in every frame."""
    transforms = samples.matrices
    moved = _moved(samples.positions, transforms, scale)
    points = np.ascontiguousarray(np.broadcast_to(moved, (num_frames, *moved.shape[1:])))
    normals = None
    if part.needs_normals:
        shown = shape.normals[None] if samples.normals is None else samples.normals
        turned = turned_normals(part.normals(shown), transforms)
        normals = np.broadcast_to(turned, (num_frames, len(part.own), 3))
    turned_over = steady.determinants(transforms[:, :3, :3]) < 0
    mirrored = bool(turned_over[0])
    if mirrored != turned_over.all() or mirrored != turned_over.any():
        log.warning("'%s' is mirrored in some frames only: there its faces show their backs", name)
    triangles = part.triangles.vertices
    sources = None if part.sources is None else part.sources.astype(np.int32)
    uvs = part.uvs
    if mirrored:
        triangles, sources = triangles[:, ::-1], None if sources is None else sources[:, ::-1]
        uvs = uvs[:, ::-1] if uvs.ndim == 3 else uvs
    numbers = part.vertices.numbers.astype(np.int32)
    return Surface(
        name,
        SharedPoints(points, part.vertices.points),
        np.ascontiguousarray(triangles, np.int32),
        np.ascontiguousarray(uvs),
        [],
        normals,
        source_vertices=numbers,
        source_triangles=part.triangles.numbers,
        own_normals=part.own,
        mirrored=mirrored,
        copies=None if part.copies is None else part.copies.astype(np.int32),
        base=_base_normals(part, shape, samples),
        corner_sources=sources,
        placed=transforms[:, :3, :3],
    )


def _base_normals(part: Part, shape: Shape, samples: Samples) -> BaseNormals | None:
    """Return the normals of the frame in which an object that was edited stands as its own mesh, if there is one."""
    if shape.base is None:
        return None
    for frame, points in enumerate(samples.positions):
        if np.array_equal(points, shape.base.points):
            transforms = samples.matrices[frame if len(samples.matrices) > 1 else 0][None]
            return BaseNormals(frame, turned_normals(part.normals(shape.base.normals[None]), transforms)[0])
    return None


def _moved(local: NDArray[np.float32], transforms: NDArray[np.float64], scale: float) -> NDArray[np.float32]:
    """Return positions (F, V, 3) in the world; untouched bit for bit where nothing moves them."""
    if len(transforms) == 1 and scale == 1.0 and np.array_equal(transforms[0], np.eye(4)):
        return local
    stacked = transforms.copy()
    stacked[:, :3] *= scale
    if (stacked == np.eye(4)).all():
        return local
    return np.asarray(steady.applied(stacked[:, None, :3], local.astype(np.float64)), np.float32)
