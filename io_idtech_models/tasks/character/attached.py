"""What was hung on a character's tags, or taken off: models that its skins attach."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...blender import names
from ...blender.animated import moved_paths
from ...blender.compat import Block, Context
from ...blender.joints import from_children
from ...blender.player.assembly import hang
from ...blender.properties import numbers
from ...blender.provenance import FILE, MODEL_ID, PART, collections_of, model_of
from ...blender.roots import FRAME_PATH, follows, is_root, is_tag, root_of
from ...blender.scene import objects_in
from ...game.character.files import BODY
from ...model import steady
from ...model.transforms import inverse
from ...reporting import listed
from .record import CharacterFound

log = logging.getLogger(__name__)
Places = Mapping[str, tuple[str, str]]  # of kinds of models: on BODY or another piece, and on which tag
NO_NAME = re.compile(r"[^\w-]+")  # what a file's name is without
STANDS = "idtech_stands"  # on the root of a piece: the matrix of where import put it
HANGS = "idtech_hangs"  # and the name of what it hangs on
MOVED = 2e-3  # units, and of axes: what is off by less nobody moved
FOLDER = "acc"  # beside the body, where new models go, as games have theirs


@dataclass(frozen=True, eq=False)
class Added:
    """Objects that hang on a tag, and are a model that the game can attach there."""

    kind: str
    tag: Block
    blocks: tuple[Block, ...]

    @property
    def place(self) -> str:
        """Return the file that the model was imported from; "" for none."""
        found = next(
            (each for each in collections_of({_model_in(self.blocks)}) if FILE in each and PART not in each), None
        )
        return "" if found is None else str(found[FILE])


def gone(character: CharacterFound, places: Places) -> list[str]:
    """Return the kinds of pieces that a character came with on tags, and that are not in the scene any more."""
    return [kind for kind in character.record.models if kind in places and kind not in character.pieces]


def added(character: CharacterFound, places: Places, known: set[Block]) -> list[Added]:
    """Return what hangs on a character's tags, and is none of its pieces nor `known` already.

    What no game could attach is said, and known from then on.
    """
    found: list[Added] = []
    taken = {kind for kind in character.pieces if kind in places}
    for (on, name), tag in tags_of(character).items():
        for blocks in _models_on(tag, set(character.pieces.values())):
            if not known.isdisjoint(blocks):
                continue
            usual = sorted(kind for kind, place in places.items() if place == (on, name))
            free = [kind for kind in usual if kind not in taken]
            if free:
                taken.add(free[0])
                found.append(Added(free[0], tag, tuple(blocks)))
                continue
            why = f"the game hangs {listed(usual)} there, and that is taken" if usual else _elsewhere(name, places)
            log.warning("left out, on %s: %s: %s", name, listed([block.name for block in blocks]), why)
            known |= with_all_on(blocks)
    return found


def _elsewhere(name: str, places: Places) -> str:
    """Return why no game hangs a model on a tag of a piece, and on the tag of which other piece that has its name."""
    others = sorted({on for on, called in places.values() if called == name})
    return (
        f"the game hangs models on that of another piece: {listed(others)}" if others else "no game hangs a model there"
    )


def with_all_on(blocks: Iterable[Block]) -> set[Block]:
    """Return objects, and all that hangs on them."""
    return {each for block in blocks for each in (block, *block.children_recursive)}


def tags_of(character: CharacterFound) -> dict[tuple[str, str], Block]:
    """Return a character's tags, by the piece that has them and their names."""
    every = [b for b in objects_in(character.body) if is_tag(b) and root_of(b) in (None, character.root)]
    body = [tag for tag in every if not any(follows(tag, copy) for copy in character.copies)]
    found = {(BODY, names.file_name_of(tag).lower()): tag for tag in body}
    for kind, root in character.pieces.items():
        own = (block for block in root.children_recursive if is_tag(block) and root_of(block) == root)
        found |= {(kind, names.file_name_of(tag).lower()): tag for tag in own}
    return dict(sorted(found.items(), key=lambda pair: pair[0]))


def _models_on(tag: Block, known: set[Block]) -> Iterator[list[Block]]:
    """Yield the objects with faces right on a tag, model by model: those of a file together, and all others.

    A model's own tags are of it, wherever they hang.
    """
    models: dict[str, list[Block]] = {}
    hung = [child for child in tag.children if child not in known]
    bare = [child for child in hung if not any(b.type == "MESH" for b in (child, *child.children_recursive))]
    for child in (child for child in hung if child not in bare):
        models.setdefault(_model_in([child]), []).append(child)
    for child in (child for child in bare if is_tag(child) and model_of(child)):
        models.get(model_of(child), []).append(child)
    yield from models.values()


def _model_in(blocks: Iterable[Block]) -> str:
    """Return the id of the model that objects, or what hangs on them, were imported with; "" for none."""
    whole = (each for block in blocks for each in (block, *block.children_recursive))
    return next(filter(None, map(model_of, whole)), "")


def path_of(model: Added, character: CharacterFound, within: str = "") -> str:
    """Return what a model is called in the game: as it is there, `within` a folder, or a new name beside the body."""
    record = character.record
    root = str(character.collection.get(FILE, "")).replace("\\", "/").removesuffix(record.file)
    place = model.place.replace("\\", "/")
    if root and place.startswith(root + within):
        return place[len(root) :]
    stem = PurePath(place).stem or names.file_name_of(model.blocks[0])
    called = NO_NAME.sub("_", stem.lower()).strip("_") or "part"
    return (PurePath(record.models[BODY]).parent / FOLDER / f"{called}.md3").as_posix()


@contextmanager
def as_part(model: Added, rig: Block, context: Context) -> Iterator[Block]:
    """Let a model hang on its tag by a root meanwhile, as pieces do, in whose space it is written; yields the root.

    The root of another model, which a helmet of another character has, is none meanwhile.
    """
    root: Block = bpy.data.objects.new(model.kind, None)
    before = [
        (block, block.parent_type, block.parent_bone, block.matrix_parent_inverse.copy()) for block in model.blocks
    ]
    roots = {block: block.pop(PART) for block in model.blocks if is_root(block)}  # what it was elsewhere
    _home_of(model, context).objects.link(root)
    root[PART] = model.kind
    try:
        hang(root, model.tag, rig)
        for block in model.blocks:
            _hang_on(block, root)
        context.view_layer.update()
        yield root
    finally:
        for block, kind, bone, inverse_hung in before:
            _hang_on(block, model.tag)
            block.parent_type, block.parent_bone = kind, bone
            block.matrix_parent_inverse = inverse_hung  # which another bone's name takes away
        for block, part in roots.items():
            block[PART] = part
        bpy.data.objects.remove(root)
        context.view_layer.update()


def _home_of(model: Added, context: Context) -> Any:
    """Return the collection for a model's root: its own, and none that is another model's, which would go along."""
    home = model.blocks[0].users_collection[0]
    return home if home.get(MODEL_ID) in (None, _model_in(model.blocks)) else context.scene.collection


def note_place(root: Block) -> None:
    """Note on the root of a piece where import put it, against what it hangs on."""
    root[STANDS] = [value for row in root.matrix_basis for value in row]
    root[HANGS] = _holder_of(root)


def _holder_of(root: Block) -> str:
    """Return what a root hangs on: the name of a tag, or of a bone, which it may still name when it hangs on no rig."""
    if root.parent is None:
        return ""
    bones = () if root.parent.pose is None else root.parent.pose.bones
    return str(root.parent_bone if root.parent_bone in bones else names.file_name_of(root.parent))


def is_moved_off(root: Block, depsgraph: Any) -> bool:
    """Tell whether the root of a piece is shown elsewhere, or in another size, than import put it, or moves by itself.

    Not by which frame it shows, and what was imported before its place was noted has not moved.
    """
    noted = np.array(numbers(root, STANDS), np.float64)
    if HANGS in root and root[HANGS] != _holder_of(root):
        return True
    holder = _place_of_holder(root, depsgraph)
    if holder is None or noted.shape != (16,):
        return False
    hung = steady.products(holder, np.array(root.matrix_parent_inverse, np.float64))
    wanted = steady.products(hung, noted.reshape(4, 4))
    if root.visible_get(view_layer=depsgraph.view_layer_eval):
        there = np.array(root.evaluated_get(depsgraph).matrix_world, np.float64)
    else:  # and no more evaluated
        there = steady.products(hung, np.array(root.matrix_basis, np.float64))
    far = float(steady.lengths(wanted[:3, 3] - there[:3, 3]))
    axes = wanted[:3, :3].T, there[:3, :3].T
    turned = float(np.abs(np.subtract(*map(steady.directions, axes))).max())
    held = any(each.type == "LIMIT_SCALE" and not each.mute for each in root.constraints)  # as import puts it on tags
    grown = 0.0 if held else float(np.abs(np.divide(*map(steady.lengths, axes)) - 1.0).max())
    drivers = [] if root.animation_data is None else [curve.data_path for curve in root.animation_data.drivers]
    return max(far, turned, grown) > MOVED or bool({*moved_paths(root), *drivers} - {FRAME_PATH})


def _place_of_holder(root: Block, depsgraph: Any) -> NDArray[np.float64] | None:
    """Return the space that a root is a child in, (4, 4); None where it hangs on nothing, or on no bone any more."""
    if root.parent is None:
        return None
    holder = root.parent.evaluated_get(depsgraph)
    place = np.array(holder.matrix_world, np.float64)
    if root.parent_type != "BONE":
        return place
    bone = holder.pose.bones.get(root.parent_bone)
    if bone is None:
        return None
    return steady.products(place, np.array(bone.matrix, np.float64), inverse(from_children(bone.bone)))


def _hang_on(block: Block, holder: Block) -> None:
    """Hang an object on another one; where it stands there stays the same."""
    inverse = block.matrix_parent_inverse.copy()
    block.parent = holder
    block.matrix_parent_inverse = inverse
