"""A vertex-animated model to Blender objects (`build`); `gather` is the way back."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...model.arrays import equal_rows, places_of
from ...model.edits.weld import weld, weld_classes
from ...model.source import are_solid
from ...model.vertex import Surface, VertexModel
from .. import names
from ..budgets import PIXELS, VERTICES, refuse_more
from ..compat import HAS_SLOTS, Block, share_action
from ..mesh import attributes, normal_codes, uv_maps
from ..properties import GAME, describe
from ..provenance import MODEL_ID, TAG_INDEX, new_first_number
from ..scene import undone_on_failure
from ..shading.materials import Materials
from . import clips, shape_keys, source, tags

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class BuildSettings:
    """How a model is brought into the scene; the import operators declare the same options."""

    scale: float = 1.0
    weld: bool = True
    relative_keys: bool = False
    fit_range: bool = True
    frame_rate: int = 0  # 0 leaves the scene's


@dataclass
class Built:
    """What an import made."""

    collection: bpy.types.Collection
    num_frames: int
    surfaces: list[Block] = field(default_factory=list)
    tags: list[Block] = field(default_factory=list)


def build(
    model: VertexModel,
    settings: BuildSettings,
    materials: Materials,
    scene: bpy.types.Scene,
    into: bpy.types.Collection,
) -> Built:
    """Make a collection with an object per surface and an empty per tag, linked to `into` when all is done.

    Raises:
        LimitError: the model has more of something than Blender can bear.
    """
    _refuse_more(model)
    with undone_on_failure():
        materials.take_skins(model.skins, model.palette)
        built = Built(bpy.data.collections.new(names.fit(model.name)), model.num_frames)
        keys = names.unique(model.frame_names, "frame")
        first = new_first_number((s.triangles, s.uvs, s.some_positions(slice(0, 1))) for s in model.surfaces)
        built.surfaces = [_make_surface(s, model, first, keys, settings, materials) for s in model.surfaces]
        size = _tag_size(model) * settings.scale if model.tags else 1.0
        made = tags.make(model.tags, settings.scale, size)
        built.tags = [block for block, _ in made]
        for index, (tag, block) in enumerate(zip(model.tags, built.tags, strict=True)):
            names.remember(block, tag.name)
            block[TAG_INDEX] = index
        if model.num_frames > 1:
            _animate(model, built, keys, [channels for _, channels in made], settings)
        _remember(model, built, keys)
        if model.num_frames > 1:
            surfaces = [block.data.shape_keys for block in built.surfaces]
            clips.make_actions(surfaces, model.animations, built.collection.get(MODEL_ID, ""))
        for block in (*built.surfaces, *built.tags):
            built.collection.objects.link(block)
        into.children.link(built.collection)
        _set_scene(scene, model.num_frames, settings)
        if model.num_frames > 1 and settings.fit_range:
            clips.mark(scene, model.animations)
    return built


def _refuse_more(model: VertexModel) -> None:
    shaders = {shader for surface in model.surfaces for shader in surface.shaders}
    frames = model.num_frames if model.surfaces else 0
    refuse_more(surfaces=len(model.surfaces), tags=len(model.tags), materials=len(shaders), frames=frames)
    refuse_more(**{VERTICES: frames * sum(surface.num_vertices for surface in model.surfaces)})
    refuse_more(pictures=sum(len(skin.pictures) for skin in model.skins))
    refuse_more(**{PIXELS: sum(picture.size for skin in model.skins for picture in skin.pictures)})


def _make_surface(
    surface: Surface, model: VertexModel, first: int, keys: list[str], settings: BuildSettings, materials: Materials
) -> Block:
    """Make a surface's mesh and object: points welded, corners numbered; normals, materials and frames shown.

    A triangle that uses a vertex twice can't be seen, but crashes Blender 5.2 where there are custom normals: it stays
    in the source, and comes back with its vertices on export.
    """
    points, of_vertex = np.unique(_weld_classes(surface, model, settings), return_inverse=True)
    if model.source is not None and surface.source_index >= 0:
        model.source.surfaces[surface.source_index].points = of_vertex.reshape(-1).astype(np.int32)
    solid = np.flatnonzero(are_solid(surface.triangles))
    triangles = surface.triangles[solid]
    corner_points = of_vertex.reshape(-1)[triangles].astype(np.int32)
    uvs = surface.corner_uvs[solid].reshape(-1, 2)
    scale = np.array(settings.scale, np.float32)
    frames = surface.some_positions(slice(None), points)
    if settings.scale != 1.0:
        frames = np.asarray(frames * scale, np.float32)
    mesh = attributes.make(names.fit(surface.name), frames[0], corner_points, uvs)
    if surface.source_vertices is not None and surface.source_triangles is not None:
        numbers = surface.source_vertices, surface.source_triangles
        attributes.number(mesh, first, surface.triangles, numbers, points, solid)
    mesh.update(calc_edges=True)
    if surface.colors is not None:
        attributes.show_colors(mesh, surface.colors[points])
    normals = surface.some_normals(slice(0, 1))
    if normals is not None and triangles.size:
        shown = attributes.show_normals(mesh, corner_points.ravel(), normals[0][triangles.ravel()])
        attributes.set_attribute(mesh, attributes.SHOWN_NORMAL, "FLOAT_VECTOR", "CORNER", shown)
        normal_codes.note(mesh)
    uv_maps.show(mesh, surface, (3 * solid[:, None] + np.arange(3)).ravel())
    shown_materials = materials.of_surface(surface.name, surface.shaders)
    for material in shown_materials:
        if material is not None:
            mesh.materials.append(material)
    block = bpy.data.objects.new(names.fit(surface.name), mesh)
    names.remember(block, surface.name)
    if model.num_frames > 1:
        add = shape_keys.add_relative if settings.relative_keys else shape_keys.add_absolute
        add(block, keys, frames)
    return block


def _weld_classes(surface: Surface, model: VertexModel, settings: BuildSettings) -> NDArray[Any]:
    """Return for each vertex the one that it is welded with; by the source's places where there are any.

    Where texture coordinates belong to corners a vertex is a point already. A point has one colour.
    """
    if not settings.weld or surface.uvs.ndim == 3:
        return np.arange(surface.num_vertices)
    places = surface.positions.view(np.int32)
    if model.source is not None and surface.source_index >= 0:
        own = model.source.surfaces[surface.source_index]
        if (own.num_frames, own.num_vertices) == (model.num_frames, surface.num_vertices):
            return weld_classes(_of_one_color(own.places(), surface), surface.triangles)
    if surface.colors is None:
        return weld(places, surface.triangles)
    return weld_classes(_of_one_color(places_of(places), surface), surface.triangles)


def _of_one_color(places: NDArray[np.int64], surface: Surface) -> NDArray[np.int64]:
    """Return numbers (V,) that vertices of one place and colour share."""
    if surface.colors is None:
        return places
    colors = np.ascontiguousarray(surface.colors, np.float32).view(np.int32)
    return equal_rows(np.column_stack((places, colors)).astype(np.int64))


def _tag_size(model: VertexModel) -> float:
    """Return how large to draw tags: a twelfth of the model's first frame, and at least a unit."""
    bases = [s.some_positions(slice(0, 1))[0] for s in model.surfaces if s.num_vertices]
    spans = [float(np.ptp(base, axis=0).max()) for base in bases]
    return max(1.0, max(spans, default=24.0) / 12.0)


def _animate(
    model: VertexModel, built: Built, keys: list[str], channels: list[dict[str, Any]], settings: BuildSettings
) -> None:
    """Let one action play the whole model: surfaces share curves; tags have slots of it where there are slots."""
    action = None
    for block in built.surfaces:
        own = block.data.shape_keys
        if action is not None:
            share_action(own, built.surfaces[0].data.shape_keys)
            continue
        action = bpy.data.actions.new(names.fit(model.name))
        if settings.relative_keys:
            shape_keys.animate_relative(own, action, action.name, keys)
        else:
            shape_keys.animate_absolute(own, action, action.name, model.num_frames)
    for block, values in zip(built.tags, channels, strict=True):
        if action is None or not HAS_SLOTS:
            action = bpy.data.actions.new(names.fit(f"{model.name} {block.name}"))
            if built.surfaces:  # whose action it goes with: it is no animation of its own
                action[clips.WHOLE] = True
        tags.animate(block, action, values)


def _remember(model: VertexModel, built: Built, keys: list[str]) -> None:
    """Store the source's facts, and in plain properties what has no shape keys to show it."""
    if model.source is not None:
        source.attach(model.source, built.collection, [block.data for block in built.surfaces], built.tags, keys)
    if model.num_frames == 1 or not built.surfaces:
        source.set_frame_list(built.collection, model.frame_names, list(range(model.num_frames)))
    for name, value in model.traits.items():
        built.collection[GAME + name] = value
        describe(built.collection, GAME + name)


def _set_scene(scene: bpy.types.Scene, num_frames: int, settings: BuildSettings) -> None:
    if num_frames <= 1:  # which has no rate, and no range: what else plays in the scene goes on
        return
    if settings.frame_rate > 0:
        scene.render.fps, scene.render.fps_base = settings.frame_rate, 1.0
    if settings.fit_range:
        scene.frame_start, scene.frame_end = 0, num_frames - 1
        if not 0 <= scene.frame_current < num_frames:
            scene.frame_float = 0.0  # shown when the view layer is updated next: once is enough
