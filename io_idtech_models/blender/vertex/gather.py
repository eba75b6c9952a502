"""Blender objects to a vertex-animated model: the way back of `build`, from any objects at all."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from itertools import pairwise, takewhile
from typing import Any

import bpy

from ...model.clips import Clip
from ...model.pictures import Skin
from ...model.vertex import ModelSource, Traits, VertexModel
from ...reporting import LimitError, collected_warnings, listed
from .. import names
from ..compat import Block, playing_curves
from ..properties import GAME, TIMES, numbers
from ..roots import is_carried
from ..scene import ExportScene, say_stretched, upward
from ..shading.images import texture_size
from ..shading.skins import lacks_picture, read_skin
from ..space import Space, space_of
from ..takes import make_take
from ..unkeyed import say_unkeyed
from .clips import model_actions, model_ids
from .frame_plan import FramePlan, GatherSettings
from .gather_surfaces import SplitMesh, mesh_subjects, read_meshes, split_meshes, to_surfaces
from .gather_tags import find_tags, gather_tags, tag_subjects
from .planning import plan_frames
from .sampling import sampled, stepping
from .shape_keys import KeyFinder, frame_blocks
from .shown_keys import keys_at
from .source import find

log = logging.getLogger(__name__)


class NoFacesError(LimitError):
    """Nothing that is shown of some meshes has faces, and there is no tag."""


def gather(
    blocks: list[Block], collection: bpy.types.Collection | None, export: ExportScene[GatherSettings]
) -> VertexModel:
    """Return the model that objects show, with its source's facts if the .blend knows them.

    Raises:
        LimitError: nothing to export, keys that disagree, or a mesh whose topology changes.
    """
    export.update(blocks)
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
    _say_what_stays(space, wanted if settings.frames == "KEYS" else [])  # the scene's frames show all as it stands
    if plan.is_timed_by_keys and len(plan.times) > 1:
        say_stretched(export.scene)
    if not plan.present:
        say_unkeyed([*mesh_blocks, *(tag.block for tag in tag_sources)], export.scene)
    with stepping(export, plan, mesh_blocks) as stage:
        read = read_meshes(mesh_blocks, stage, known)
        seen = sampled(stage, {**mesh_subjects(read, settings), **tag_subjects(tag_sources, stage)})
        meshes = split_meshes(read, seen, stage)
    surfaces = to_surfaces(meshes, plan, export, known)
    if not surfaces and not tag_sources and not bare:
        raise NoFacesError("nothing to export: no mesh has faces, and there is no tag")
    found = gather_tags(tag_sources, plan, seen, known, settings)
    name = collection.name if collection is not None else mesh_blocks[0].name if mesh_blocks else "model"
    source = None if known is None else known.source
    model = VertexModel(name, plan.names, surfaces, found, source, plan.sources, texture_size=_texture_size(meshes))
    model.traits = find_traits(collection, blocks)
    with nullcontext() if settings.holds.groups else collected_warnings():
        model.groups = find_groups(plan, mesh_blocks, collection)
    if settings.holds.pictures:
        shapes = [(each.mesh.shape, each.parts) for each in meshes]
        worn = [shape.materials[slot] for shape, parts in shapes for part in parts for slot in part.slots]
        model.skins, model.palette = find_skins(worn), palette_of(source)
    return model


def _say_what_stays(space: Space, blocks: Iterable[Block]) -> None:
    """Name what lies with a model and hangs on nothing, and which of its `blocks` hang on a vertex, if its root moves.

    These do not go along as they are shown.
    """
    root = space.root
    if root is None:
        return
    unturned = [block for block in blocks if _is_unturned(block, root)]
    moved = any(not curve.data_path.startswith("[") for curve in playing_curves(root))  # not the frame that it shows
    if not (space.strangers or unturned) or not (moved or is_carried(root) or root.constraints):
        return
    if space.strangers:
        text = "'%s' moves, and what hangs on nothing is written where it stands against that now, parent it to it: %s"
        log.warning(text, root.name, listed([block.name for block in space.strangers]))
    if unturned:
        text = (
            "'%s' moves, and what hangs on one vertex does not turn with it, but is written as if it did, parent it to "
            "the object, or to three vertices: %s"
        )
        log.warning(text, root.name, listed([block.name for block in unturned]))


def _is_unturned(block: Block, root: Block) -> bool:
    """Tell whether an object, or what it hangs on, hangs on one vertex: Blender gives it a place by that, and no turn.

    That of what stands on the way to the root counts.
    """
    return any(above.parent_type == "VERTEX" for above in takewhile(lambda above: above != root, upward(block)))


def _texture_size(meshes: list[SplitMesh]) -> tuple[int, int] | None:
    """Return the size of the first picture that a material shows, width and height in pixels."""
    for each in meshes:
        for material in each.mesh.shape.materials:
            size = None if material is None else texture_size(material)
            if size is not None:
                return size
    return None


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
        if not times and action.get(TIMES):
            log.warning("'%s' has no times that can be read, and is no group of frames: %s", action.name, TIMES)
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
    """Return the skins that materials show, each once: of several that one name means those with other pictures."""
    found: list[Skin] = []
    worn = [material for material in dict.fromkeys(materials) if material is not None]
    for material in worn:
        skin = read_skin(material, names.file_name_of(material))
        alike = [known for known in found if known.name == skin.name]
        if not any(known.shows_the_same(skin) for known in alike):
            found.append(replace(skin, source_index=-1) if alike else skin)
    bare = [material.name for material in worn if lacks_picture(material)]
    if bare:
        log.warning("import found no pictures of these, and one colour is written, give them some: %s", listed(bare))
    return found


def find_traits(collection: bpy.types.Collection | None, blocks: Iterable[Block] = ()) -> Traits:
    """Return the numbers of a model's header that its collection shows; of new `blocks` one in which they lie."""
    homes: Iterable[Any] = (home for block in blocks for home in block.users_collection)
    told = (home for home in homes if any(name.startswith(GAME) for name in [*home.keys()]))
    found: Traits = {}
    holder: Any = next(told, None) if collection is None else collection
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
