"""Which objects an export means."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...blender import names
from ...blender.compat import Context
from ...blender.frame_rigs import is_frame_rig
from ...blender.mesh import attributes
from ...blender.mesh.levels import is_level
from ...blender.mesh.levels import number_of as level_number
from ...blender.provenance import (
    MODEL_ID,
    PLAYER,
    RECORD,
    SURFACE_INDEX,
    TAG_INDEX,
    collection_of,
    collections_of,
    model_of,
)
from ...blender.roots import (
    LEVEL,
    follows,
    goes_with,
    is_root,
    is_tag,
    owner_of,
    player_root,
    poses_parts,
    root_of,
)  # fmt: skip
from ...blender.scene import FACED, SHAPES, bending, bone_under, objects_in, upward
from ...blender.vertex.gather_tags import TagSource, find_tags
from ...blender.vertex.source import adopt, find, frame_list
from ...reporting import LimitError, listed
from .near import KINDS, followers, hangs_short_of_tags, is_led, together, together_or_hidden


@dataclass
class Choice:
    """Objects to export, the collection that speaks for their model, and what is left out: hidden, or no mesh."""

    blocks: list[bpy.types.Object]
    collection: bpy.types.Collection | None = None
    hidden: list[bpy.types.Object] = field(default_factory=list)
    shapes: list[bpy.types.Object] = field(default_factory=list)
    tags: list[TagSource] = field(default_factory=list)  # that lie with what is selected, and are not
    taken: list[bpy.types.Object] = field(default_factory=list)  # that are not selected, but hang together with it
    others: list[bpy.types.Object] = field(default_factory=list)  # that are visible, and not the only model's
    beside: list[bpy.types.Object] = field(default_factory=list)  # that hang together with the active model, unselected
    partly: list[bpy.types.Object] = field(default_factory=list)  # that constraints let follow it, and other things
    weightless: list[bpy.types.Object] = field(default_factory=list)  # that do so too, and which its bones don't move
    away: list[bpy.types.Object] = field(default_factory=list)  # parts of the model that lie in other collections
    led: list[bpy.types.Object] = field(default_factory=list)  # that its bones bend or carry, and lie there
    strange: list[bpy.types.Object] = field(default_factory=list)  # that are selected, and no part of it
    parts: list[bpy.types.Object] = field(default_factory=list)  # of the same player, which the active armature poses
    guessed: bool = False  # nothing was active or selected, and no model imported: all that is visible is meant

    @property
    def whole(self) -> list[bpy.types.Object]:
        """Return all objects of the model, hidden or not."""
        return [*self.blocks, *self.hidden]

    def with_hidden(self) -> Choice:
        """Return the same with what is hidden, which a whole player is written with."""
        return replace(self, blocks=self.whole, hidden=[])

    def keep_apart(self, context: Context, need_home: bool = False) -> None:
        """Let copies in a collection of their own have a model's list of frames for themselves, before it changes.

        Raises:
            LimitError: they lie in the scene's own collection, which can't have it, and there is such a list, or they
                `need_home` for something else; or they lie inside the model's collection, and are written with it.
        """
        speaker = self.collection
        others = [] if speaker is None else objects_in(speaker)
        if speaker is None or not others or not self.whole:
            return
        if not set(self.whole).isdisjoint(others):
            is_home = any(speaker in block.users_collection for block in self.whole)
            rest = [block for block in others if block not in self.whole]
            if not is_home and any(model_of(block) == speaker.get(MODEL_ID) for block in rest if model_of(block)):
                where = f"inside '{speaker.name}', which is written with them: move them out of it"
                raise LimitError(f"these are copies of a model's objects {where}, into a collection of their own")
            return
        own = next((c for c in self.whole[0].users_collection if c != context.scene.collection), None)
        if own is not None:
            adopt(own, speaker)
            self.collection = own
        elif need_home or frame_list(speaker) is not None:
            raise LimitError("these are copies of a model's objects: move them into a collection of their own first")


def choose(context: Context, what: str, collection_name: str = "") -> Choice:
    """Return the objects that `what` means: AUTO, COLLECTION, SELECTION, VISIBLE or SCENE.

    AUTO is the model of the active object if that was imported, with what hangs together with it and is selected, too;
    else the selection with what hangs together with it, else the only imported model, else all that is visible.
    A collection's name, which Blender's collection exporters give, beats all. Where there is nothing to choose from
    a model is meant that never had an object: that of the active collection, or the only one.

    Raises:
        LimitError: there is no collection of that name, or there are several models without objects.
    """
    if collection_name:
        return _with_led(context, _in_collection(context, _named(collection_name)))
    active, asked = context.view_layer.objects.active, what
    if what == "AUTO":
        model = _model(context, active) or _moved_model(context, active) or _bending_model(context, active)
        if model is not None:
            model.parts = _other_parts(context, active) if poses_parts(active) else []
            return _with_chosen(context, model)
        what = "SELECTION" if any(_chosen(context, block) for block in context.scene.objects) else "VISIBLE"
        if what == "VISIBLE" and _is_bare(context.collection):
            return Choice([], context.collection)
        only = _only_model(context) if what == "VISIBLE" else None
        if only is not None:
            return only
    if what == "COLLECTION":
        return _with_led(context, _model(context, active) or _in_collection(context, context.collection))
    return _of_scene(context, what, asked == "AUTO")


def _of_scene(context: Context, what: str, meant: bool) -> Choice:
    """Return what is selected (SELECTION), or visible, or all of the scene.

    `meant`: nobody asked for that, the model is; of what is selected that is all that hangs together with it.
    """
    blocks = [block for block in context.scene.objects if what != "SELECTION" or _chosen(context, block)]
    alone = not meant or what != "SELECTION"
    taken = [] if alone else together(context, blocks)
    with_tags = [] if alone else _with_tags(context, [*blocks, *taken])
    choice = _visible(context, [*blocks, *taken, *with_tags], None)
    choice.taken = [block for block in taken if block.type in KINDS]
    if what == "VISIBLE":
        choice.hidden = []
        choice.guessed = meant and len(choice.blocks) > 1
    if meant:
        near = (block for block in together_or_hidden(context, choice.blocks) if block.type in KINDS)
        choice.hidden += [block for block in near if not block.visible_get(view_layer=context.view_layer)]
    choice.collection = _speaker(choice.blocks)
    if what != "SELECTION" and not choice.whole:
        choice.collection = _only_bare(context)
    if what == "SELECTION":
        choice.tags = _tags_beside(context, choice.blocks)
    return choice


def choose_with_bones(context: Context, what: str, collection_name: str = "") -> Choice:
    """Return what `choose` does of models with bones: of an imported armature, where it bends the active mesh.

    That mesh may have come from another file, as a helmet for this model; alone it would be written without the rest.
    """
    active = context.view_layer.objects.active
    if what == "AUTO" and not collection_name and active is not None and model_of(active):
        rigs = [rig for rig in bending(active) if model_of(rig) not in {"", model_of(active)} and not is_frame_rig(rig)]
        model = _model(context, rigs[0]) if len(rigs) == 1 else None
        if model is not None:
            return _with_chosen(context, model)
    return choose(context, what, collection_name)


def _with_chosen(context: Context, model: Choice) -> Choice:
    """Return an imported model with what hangs together with it and is selected, too; the rest of either is noted.

    Of a model with bones only what they bend or carry goes along.
    """
    model.blocks += [block for block in model.away if _chosen(context, block)]
    model.away = [block for block in model.away if not _chosen(context, block)]
    near = [block for block in together(context, model.whole) if block not in model.away]
    rigs = {block for block in model.whole if block.type == "ARMATURE" and not is_frame_rig(block)}
    wanted = [b for b in near if _chosen(context, b) and (not rigs or is_led(b, rigs))]
    if not any(block.type == "MESH" for block in model.whole):  # of its own: what its armature poses instead is meant
        wanted += [
            block for block in near if block not in wanted and any(rig in model.blocks for rig in bending(block))
        ]
    model.blocks += [block for block in wanted if block.type in KINDS]
    model.shapes += [block for block in near if block.type in SHAPES and block not in model.shapes]
    rest = [block for block in near if block.type in KINDS and block not in wanted]
    model.weightless = [b for b in rest if rigs and b.type == "MESH" and not (bending(b) or is_led(b, rigs))]
    model.beside = [b for b in rest if b not in model.weightless and not _chosen(context, b)]
    movers = {rig for block in model.blocks for rig in bending(block)}  # which poses, whether it is the model's or not
    carriers = {above for block in model.whole for above in upward(block.parent)}  # whose motion is the model's
    known, own = {*model.whole, *model.shapes, *model.weightless, *movers, *carriers}, set(model.whole)
    ids = {"", None if model.collection is None else model.collection.get(MODEL_ID)}
    strange = [
        block
        for block in context.scene.objects
        if _chosen(context, block) and block not in known and root_of(block) is None
        if not any(map(is_level, block.users_collection))
        if model_of(block) in ids or (block.type in KINDS and hangs_short_of_tags(block, own))
    ]
    model.strange = [block for block in strange if block.instance_type != "COLLECTION"]
    model.shapes += [block for block in strange if block.instance_type == "COLLECTION"]
    _note_others(context, model)
    model.partly = [
        b for b in followers(context, own | movers) if b not in known and b not in near and not _chosen(context, b)
    ]
    model.blocks += _with_tags(context, model.blocks)
    return model


def _note_others(context: Context, model: Choice) -> None:
    """Note the meshes of other models that are selected, too: parts of the same player, and what else there is."""
    known = {*model.whole, *model.weightless, *model.strange, *model.parts}
    players = {player_root(block) for block in model.blocks} - {None}
    for block in context.scene.objects:
        others = block.type == "MESH" and block not in known and _chosen(context, block) and model_of(block)
        if others and not any(map(is_level, block.users_collection)):
            (model.parts if player_root(block) in players else model.strange).append(block)


def _with_led(context: Context, choice: Choice) -> Choice:
    """Return the choice of a collection, with the meshes elsewhere that its armatures bend or carry."""
    rigs = {block for block in choice.whole if block.type == "ARMATURE" and not is_frame_rig(block)}
    known = {*choice.whole, *choice.away}
    for block in together(context, choice.whole) if rigs else ():
        led = block.type == "MESH" and is_led(block, rigs)
        if led and block not in known and not any(map(is_level, block.users_collection)):
            choice.led.append(block)
    return choice


def _with_tags(context: Context, blocks: list[bpy.types.Object]) -> list[bpy.types.Object]:
    """Return the visible armatures that bend meshes, are not among these, and have bones that are tags."""
    rigs = dict.fromkeys(rig for block in blocks for rig in bending(block) if rig not in blocks)
    shown = [rig for rig in rigs if rig.visible_get(view_layer=context.view_layer) and not poses_parts(rig)]
    return [rig for rig in shown if find_tags([rig])]


def _only_model(context: Context) -> Choice | None:
    """Return the only imported model of which something is visible, and what else is; None if there are several."""
    blocks = [b for b in context.scene.objects if b.type in KINDS and b.visible_get(view_layer=context.view_layer)]
    found = {model_of(block): block for block in blocks if model_of(block)}
    choice = _model(context, next(iter(found.values()))) if len(found) == 1 else None
    if choice is not None:
        choice.others = [block for block in blocks if block not in choice.blocks and not is_root(block)]
    return choice


def _tags_beside(context: Context, blocks: list[bpy.types.Object]) -> list[TagSource]:
    """Return the visible tags that are not among objects, but lie in a collection with their meshes.

    Or that hang on one of them, and bones that are tags, of an armature that deforms one. Where a copy of a tag is
    among the objects it is there.
    """
    meshes = [block for block in blocks if block.type == "MESH"]
    ids = {model_of(block) for block in meshes} | {""}
    homes = {collection for block in meshes for collection in block.users_collection}
    rigs = [rig for rig in {rig for block in meshes for rig in bending(block)} if rig not in blocks]
    holders = {*meshes, *rigs}
    empties = [block for block in context.scene.objects if block.type == "EMPTY" and block not in blocks]
    near = [b for b in empties if b.parent in holders or not homes.isdisjoint(b.users_collection)]
    shown = [b for b in near if b.visible_get(view_layer=context.view_layer) and model_of(b) in ids]
    there = {_tag_name(tag) for tag in find_tags(blocks)}
    return [tag for tag in find_tags([*shown, *rigs]) if _tag_name(tag) not in there]


def _tag_name(tag: TagSource) -> str:
    return tag.bone or names.file_name_of(tag.block)


def _is_bare(collection: bpy.types.Collection | None) -> bool:
    """Tell whether a collection holds no object, and an imported model that never had one."""
    if collection is None or collection.get(RECORD) is None or objects_in(collection):
        return False
    known = find(collection, [])
    return known is not None and known.is_bare


def _only_bare(context: Context) -> bpy.types.Collection | None:
    """Return the collection of the scene's one model without objects, or None; raises LimitError if there are more."""
    active: bpy.types.Collection | None = context.collection
    if _is_bare(active):
        return active
    found = [collection for collection in context.scene.collection.children_recursive if _is_bare(collection)]
    if len(found) > 1:
        called = listed([collection.name for collection in found])
        raise LimitError(f"there are {len(found)} models without objects, make the collection of one active: {called}")
    return found[0] if found else None


def _named(name: str) -> bpy.types.Collection:
    found = bpy.data.collections.get(name)
    if found is None:
        raise LimitError(f"there is no collection '{name}'")
    return found


def _in_collection(context: Context, collection: bpy.types.Collection) -> Choice:
    """Return what lies in a collection; one that holds a model's objects, or its collection, speaks for that model."""
    blocks = objects_in(collection)
    choice = _visible(context, blocks, collection if collection.get(MODEL_ID) else _speaker(blocks) or collection)
    model_id = collection.get(MODEL_ID)
    if isinstance(model_id, str):
        rigs = {rig for block in choice.whole for rig in bending(block)}  # which count wherever they lie
        further = (b for b in _further(context, [collection], model_id, blocks) if b not in rigs and is_written(b))
        choice.away = [block for block in further if not any(map(is_level, block.users_collection))]
    return choice


def _model(context: Context, active: bpy.types.Object | None) -> Choice | None:
    """Return the model of an object that was imported: its collection, or what lies elsewhere; None for others.

    Elsewhere lies what was moved out of the import's collection, what was copied, or what came without it. The model
    is what lies in the collection of the object. Parts that are nowhere there come from others.
    """
    root = root_of(active)
    if root is not None:
        return part_of(context, root)
    home = collection_of(active)
    if home is not None:
        return _in_collection(context, home)
    model_id = "" if active is None else model_of(active)
    if active is None or not model_id:
        return None
    speaker = _speaker([active])
    own = list(active.users_collection)
    blocks = dict.fromkeys(_contents(context, own, model_id, speaker))
    return _visible(context, blocks | dict.fromkeys(_further(context, own, model_id, blocks)), speaker)


def _further(
    context: Context, here: list[bpy.types.Collection], model_id: str, known: Collection[bpy.types.Object]
) -> Iterator[bpy.types.Object]:
    """Yield the objects of a model that lie elsewhere than in its collections, but no copies of those that are known.

    They come from the import's own collection first. Of one that has some of them once more, a copy, come pieces alone
    that were cut off what is known.
    """
    parts: dict[tuple[str, int], list[bpy.types.Object]] = {}
    for block in known:
        if model_of(block) == model_id:
            parts.setdefault(_part(block), []).append(block)
    own = set(known)
    for others in _elsewhere(context, here, model_id):
        further = [block for block in others if block not in own]
        copies = {block for block in further if _repeats(block, parts.get(_part(block), []))}
        further = [block for block in further if not copies or (block not in copies and _part(block) in parts)]
        yield from further
        for block in further:
            parts.setdefault(_part(block), []).append(block)


def _moved_model(context: Context, active: bpy.types.Object | None) -> Choice | None:
    """Return the imported model that an armature of one's own moves, if that is the active object; else None."""
    if active is None or active.type != "ARMATURE" or model_of(active):
        return None
    moved = [
        block
        for block in context.scene.objects
        if block.type == "MESH" and block.visible_get(view_layer=context.view_layer) and active in bending(block)
    ]
    models = {model_of(block) for block in moved}
    return _model(context, moved[0]) if len(models) == 1 and models != {""} else None


def _bending_model(context: Context, active: bpy.types.Object | None) -> Choice | None:
    """Return the imported model whose armature alone bends or carries a mesh of one's own, which is active; else None.

    Without the rest of it the mesh would be written into the model's file, in place of all others.
    """
    if active is None or active.type != "MESH" or model_of(active):
        return None
    armatures = (block for block in context.scene.objects if block.type == "ARMATURE")
    rigs = bending(active) or [rig for rig in armatures if bone_under(active, rig)]
    found = [rig for rig in rigs if model_of(rig) and not is_frame_rig(rig) and not poses_parts(rig)]
    return _model(context, found[0]) if len(found) == len(rigs) == 1 else None


def part_of(context: Context, root: bpy.types.Object) -> Choice:
    """Return the part of a player that hangs on a root, what goes along with it, and what lies beside that alone.

    What goes along (`owner_of`) are meshes and their like that are no other model's, wherever they lie.
    """
    holder = collection_of(root) or _speaker([root])
    whole = (player_root(root) or root).children_recursive  # an armature of the player's may carry tags of all parts
    blocks = [block for block in whole if root_of(block) == root]
    blocks += [block for block in _loose(context.scene.objects) if owner_of(block) == root]
    if holder is not None and collection_of(root) == holder:
        others = objects_in(holder)
        if [block for block in others if is_root(block)] == [root]:
            blocks += [block for block in others if root_of(block) is None and owner_of(block) is None]
    return _visible(context, blocks, holder)


def _other_parts(context: Context, rig: bpy.types.Object | None) -> list[bpy.types.Object]:
    """Return the visible meshes of a player on other roots than an armature that poses all of its parts."""
    meshes = (block for block in context.scene.objects if block.type == "MESH" and root_of(block) != root_of(rig))
    found = [block for block in meshes if player_root(block) == player_root(rig) and not level_number(block)]
    return [block for block in found if block.visible_get(view_layer=context.view_layer)]


def _loose(blocks: Iterable[bpy.types.Object]) -> Iterator[bpy.types.Object]:
    """Yield the objects that hang on no root, are no model's that was imported, and may have faces or move some."""
    for block in blocks:
        if block.type != "EMPTY" and not model_of(block) and root_of(block) is None:
            yield block


def beside_body(
    context: Context, lead: bpy.types.Object, root: bpy.types.Object | None, known: Iterable[bpy.types.Object]
) -> list[bpy.types.Object]:
    """Return the visible objects with faces that go with a body, which `lead` moves, and are none of the `known` ones.

    `root` is what the body hangs on, None for nothing. They lie in any collection, and may have come with another file
    where the armature bends them or they hang on it.
    """
    own = set(known)
    faces = (b for b in context.scene.objects if b.type in FACED and b not in own and root_of(b) in (None, root))
    near = (b for b in faces if not model_of(b) or lead in bending(b) or hangs_short_of_tags(b, {lead}))
    found = [block for block in near if owner_of(block) == root and goes_with(block, lead)]
    return [block for block in found if block.visible_get(view_layer=context.view_layer)]


def beside_parts(context: Context, player: bpy.types.Object, taken: set[bpy.types.Object]) -> list[bpy.types.Object]:
    """Return the objects with faces, or instances, that hang on a player's root, are no part's, and not `taken`."""
    faces = (b for b in context.scene.objects if b.type in FACED or b.instance_type == "COLLECTION")
    others = (b for b in faces if b not in taken and _is_strange(root_of(b), player))
    return [block for block in others if follows(block, player)]


def _is_strange(root: bpy.types.Object | None, player: bpy.types.Object) -> bool:
    """Tell whether a root is none of a player's parts, nor of a level's."""
    return root is None or (root.get(LEVEL) is None and root.get(PLAYER) != player.get(PLAYER))


def _contents(
    context: Context, here: list[bpy.types.Collection], model_id: str, speaker: bpy.types.Collection | None
) -> list[bpy.types.Object]:
    """Return what belongs to a model in collections that no import made.

    All that was put with it, but of the scene's own, where anything lies, the model's objects alone. A model that came
    without its collection may lie with anything, too; what is selected with it and is no other model's is meant.
    """
    root = context.scene.collection
    if speaker is None:
        blocks = [block for collection in here for block in objects_in(collection)]
        return [b for b in blocks if model_of(b) == model_id or (_chosen(context, b) and not model_of(b))]
    inner = [block for collection in here if collection != root for block in objects_in(collection)]
    return inner + [block for block in root.objects if root in here and model_of(block) == model_id]


def _elsewhere(context: Context, here: list[bpy.types.Collection], model_id: str) -> list[list[bpy.types.Object]]:
    """Return a model's objects in each of the scene's other collections: first those that an import made."""
    found: dict[bpy.types.Collection, list[bpy.types.Object]] = {}
    for block in context.scene.objects:
        if model_of(block) == model_id:
            for collection in block.users_collection:
                found.setdefault(collection, []).append(block)
    others = sorted((c for c in found if c not in here), key=lambda c: c.get(MODEL_ID) != model_id)
    return [found[collection] for collection in others]


def _part(block: bpy.types.Object) -> tuple[str, int]:
    """Return which part of its model an object is: copies are the same one."""
    number = block.get(TAG_INDEX) if block.data is None else block.data.get(SURFACE_INDEX)
    return block.type, number if isinstance(number, int) else -1


def _repeats(block: bpy.types.Object, others: list[bpy.types.Object]) -> bool:
    """Tell whether an object is one of others, of the same part, once more: what was cut off has faces of its own."""
    faces = _source_faces(block)
    return any(not len(faces) or bool(np.isin(faces, _source_faces(other)).any()) for other in others)


def _source_faces(block: bpy.types.Object) -> NDArray[Any]:
    """Return which of the file's faces a mesh has, (n,), as it notes them; none of an object without."""
    mesh = block.data if block.type == "MESH" else None
    found = None if mesh is None else attributes.get_attribute(mesh, attributes.FACE_SOURCE, "INT", "FACE")
    return np.zeros(0, np.int32) if found is None else found[found > 0]


def _chosen(context: Context, block: bpy.types.Object) -> bool:
    return bool(block.select_get(view_layer=context.view_layer)) and block.type in KINDS | SHAPES


def _speaker(blocks: Iterable[bpy.types.Object]) -> bpy.types.Collection | None:
    """Return the collection that an import made for the first of the objects that have one, wherever they lie now."""
    for block in blocks:
        found = collections_of({model_of(block)})
        if found:
            home = collection_of(block)
            return home if home in found else found[0]
    return None


def _visible(context: Context, blocks: Iterable[bpy.types.Object], collection: bpy.types.Collection | None) -> Choice:
    """Split off what is hidden (Blender does not evaluate it) and what is no mesh."""
    choice = Choice([], collection)
    for block in blocks:
        shown = block.visible_get(view_layer=context.view_layer)
        if not shown and level_number(block):  # of a rigged model, which is written with it all the same
            continue
        if block.type in KINDS:
            (choice.blocks if shown else choice.hidden).append(block)
        if shown and (block.type in SHAPES or block.instance_type == "COLLECTION"):
            choice.shapes.append(block)
    return choice


def is_written(block: bpy.types.Object) -> bool:
    """Tell whether an object of a model would be in its file, were it shown.

    An armature poses its meshes all the same, and of empties the tags alone are written.
    """
    return is_tag(block) if block.type == "EMPTY" else block.type != "ARMATURE"
