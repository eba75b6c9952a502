"""The parts of a player in the scene, found again: by the roots that hang on its own, wherever they lie."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import bpy

from ..compat import Block
from ..mesh.levels import levels_of
from ..provenance import MODEL_ID, PART, PLAYER, collection_of, collections_of
from ..roots import LEVEL, is_root, own_constraints, player_root, root_of
from ..scene import objects_in
from .rows import own_id

BEARERS = frozenset(("lower", "nonseg"))  # parts on which the others hang


@dataclass(eq=False)
class PlayerFound:
    """A player in the scene: its roots."""

    identity: str
    root: Block  # which all others hang on, or hung until a tag was deleted
    collection: Any | None  # that an import or a modeller made for it
    parts: dict[str, Block] = field(default_factory=dict)  # roots by kind
    levels: dict[tuple[str, int], Any] = field(default_factory=dict)  # collections, by kind and number
    foreign: dict[tuple[str, int], Any] = field(default_factory=dict)  # those of a player that this one is a copy of

    @property
    def holder(self) -> Block:
        """Return what remembers how it was exported."""
        return self.root if self.collection is None else self.collection

    def kept(self, key: str) -> str:
        """Return what an import, or a modeller, noted of it by the name of a property; "" where nothing is."""
        found = None if self.collection is None else self.collection.get(key)
        return found if isinstance(found, str) else ""


def find_player(block: Block | None) -> PlayerFound | None:
    """Return the player that an object belongs to; None if it hangs on none."""
    top = player_root(block)
    return None if top is None else _found(_bearer_of(top))


def players_among(blocks: Iterable[Block]) -> list[PlayerFound]:
    """Return the players that objects belong to, each once."""
    tops = dict.fromkeys(_bearer_of(top) for top in map(player_root, blocks) if top is not None)
    return [_found(top) for top in tops]


def _bearer_of(top: Block) -> Block:
    """Return the root that bears a player: that on which all hangs, or hung until its tag was deleted."""
    if top[PART] in BEARERS:
        return top
    bearers = [each for each in _tops(top, home_of(top)) if each[PART] in BEARERS]
    return bearers[0] if len(bearers) == 1 else top


def _tops(top: Block, home: Any | None) -> list[Block]:
    """Return the roots in a player's collection that are its, and hang on nothing: but one, where no tag is gone."""
    inside = [] if home is None else objects_in(home)
    own = [each for each in inside if is_root(each) and each.get(PLAYER) == top[PLAYER] and LEVEL not in each]
    return [each for each in own if player_root(each) == each]


def home_of(top: Block) -> Any | None:
    """Return the collection that a player's root lies in, among those that an import or a modeller made for it."""
    owners = [c for c in bpy.data.collections if c.get(PLAYER) == top[PLAYER]]
    return next((c for c in owners if top in objects_in(c)), next(iter(owners), None))


def _found(top: Block) -> PlayerFound:
    identity = str(top[PLAYER])
    player = PlayerFound(identity, top, home_of(top))
    others = [each for each in _tops(top, player.collection) if each != top]
    torn = [] if top[PART] not in BEARERS or any(each[PART] in BEARERS for each in others) else others
    for block in (block for each in (top, *torn) for block in (each, *each.children_recursive)):
        if not is_root(block) or block.get(PLAYER) != identity:
            continue
        if LEVEL not in block:
            player.parts.setdefault(str(block[PART]), block)
    for kind, root in player.parts.items():
        home = collection_of(root) or next(iter(collections_of({root.get(MODEL_ID)})), None)
        for number, level in ({} if home is None else levels_of(home)).items():
            (player.levels if _hangs(level, root) else player.foreign)[kind, number] = level
    return player


def _hangs(level: Any, root: Block) -> bool:
    """Tell whether a level of detail hangs on a part's root, and not on that of a copy with other meshes."""
    above = [block.parent for block in objects_in(level) if is_root(block) and block.parent is not None]
    return not above or any(each == root or _meshes(each) & _meshes(root) for each in above)


def _meshes(root: Block) -> set[Any]:
    return {block.data for block in root.children if block.type == "MESH"}


def is_copied(player: PlayerFound) -> bool:
    """Tell whether a player is there once more with meshes of its own: Blender's copies share its rows."""
    every: list[Any] = [block for block in bpy.data.objects if block.library is None]
    rows = own_id(player.parts.values())
    copies = [b for b in every if is_root(b) and LEVEL not in b and b.get(PLAYER) == player.identity]
    copies = [copy for copy in copies if own_id([copy]) == rows]
    parts = [(copy, player.parts.get(str(copy[PART]))) for copy in copies]
    return any(part not in (None, copy) and not _meshes(copy) & _meshes(part) for copy, part in parts)


def is_plain(block: Block) -> bool:
    """Tell whether an object's own data say all that it shows: then Blender need not evaluate it.

    What hangs on no part has to be evaluated, for where it is in the world: that is lost with a saved file.
    """
    return not block.modifiers and own_constraints(block) and root_of(block) is not None


@contextmanager
def all_shown(view_layer: bpy.types.ViewLayer, blocks: Iterable[Block]) -> Iterator[None]:
    """Show hidden objects meanwhile, if Blender has to evaluate one of them: what is hidden it does not know."""
    hidden = [block for block in blocks if not block.visible_get(view_layer=view_layer)]
    if all(is_plain(block) for block in hidden):
        yield
        return
    undo: list[tuple[Any, str, Any]] = []
    collections = {collection for block in hidden for collection in block.users_collection}
    layers = [view_layer.layer_collection]
    while layers:
        layer = layers.pop()
        layers += layer.children
        if collections & {layer.collection, *layer.collection.children_recursive}:
            undo += [(layer, "exclude", layer.exclude), (layer, "hide_viewport", layer.hide_viewport)]
            undo.append((layer.collection, "hide_viewport", layer.collection.hide_viewport))
    undo += [(block, "hide_viewport", block.hide_viewport) for block in hidden]
    away: list[Block] = []
    try:
        for holder, name, value in undo:
            if value:
                setattr(holder, name, False)
        present = set(view_layer.objects)
        away += [block for block in hidden if block in present and block.hide_get(view_layer=view_layer)]
        for block in away:
            block.hide_set(False, view_layer=view_layer)
        view_layer.update()
        yield
    finally:
        for block in away:
            block.hide_set(True, view_layer=view_layer)
        for holder, name, value in reversed(undo):
            if value:
                setattr(holder, name, value)
        view_layer.update()  # 4.2 crashes where someone goes through its objects before
