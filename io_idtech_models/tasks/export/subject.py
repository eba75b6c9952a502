"""Which model the active object belongs to, found so quickly that a panel may ask whenever it is drawn."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath
from typing import Any

import bpy

from ...blender.compat import Block, Context
from ...blender.provenance import CHARACTER, CONTENT, FILE, MODEL_ID, PART, PLAYER
from ...blender.scene import bending, objects_in, upward
from ...blender.vertex.shape_keys import frame_blocks
from ...formats import ROWS, SKELETAL, Format
from ...game.store import split_at_archive

_BY_NAME = {row.name: row for row in ROWS}
_BY_SUFFIX = {suffix: row for row in ROWS if row.has_model for suffix in row.suffixes}
KINDS = frozenset(("MESH", "ARMATURE", "EMPTY"))  # of objects that are, or may become, part of a model


class _LastHome:
    """The collection of the object that was asked for last: Blender looks through all collections to say that."""

    def __init__(self) -> None:
        self.block, self.num_collections = -1, -1  # by their numbers, in this session and in all
        self.name: str | None = None

    def find(self, block: Block, holds: Callable[[Any], bool], search: Callable[[], Any | None]) -> Any | None:
        """Return the collection of an object: the one found last while it `holds` it, else what `search` finds."""
        every = bpy.data.collections
        if self.block == block.session_uid and self.num_collections == len(every) and self.name is not None:
            found = every.get(self.name)
            if found is not None and holds(found):
                return found
        home = search()  # also where there was none: the object may have been moved into one
        self.block, self.num_collections = block.session_uid, len(every)
        self.name = None if home is None else home.name
        return home


_homes, _player_homes, _character_homes = _LastHome(), _LastHome(), _LastHome()


@dataclass(eq=False)
class WholePlayer:
    """A whole player in the scene, which a model is a part of."""

    root: Block  # which all of it hangs on
    home: Any | None  # the collection that an import or a modeller made for it

    @property
    def holder(self) -> Any:
        """Return what remembers how the player was exported."""
        return self.home or self.root

    @property
    def place(self) -> str:
        """Return the folder that it came from, "" for none."""
        found = self.holder.get(FILE)
        return found if isinstance(found, str) else ""

    @property
    def parts(self) -> dict[str, Block]:
        """Return the roots of its parts by their kinds, legs first."""
        from ...blender.roots import LEVEL, is_root

        blocks = self.root.children_recursive if self.home is None else objects_in(self.home)
        identity = self.root[PLAYER]
        own = [b for b in blocks if is_root(b) and LEVEL not in b and b.get(PLAYER) == identity]
        roots = {str(block[PART]): block for block in dict.fromkeys((self.root, *own))}
        return dict(sorted(roots.items(), key=lambda each: (ORDER.get(each[0], len(ORDER)), each[0])))


@dataclass(eq=False)
class WholeCharacter:
    """A whole character in the scene, which a model is a part of: a body with bones, and what hangs on its tags."""

    home: Any  # the collection that an import made for it

    @property
    def holder(self) -> Any:
        """Return what remembers how the character was exported."""
        return self.home

    @property
    def place(self) -> str:
        """Return the file that names it, "" for none."""
        found = self.home.get(FILE)
        return found if isinstance(found, str) else ""


ORDER = {kind: nth for nth, kind in enumerate(("lower", "upper", "head"))}  # in which players stand on their feet


@dataclass(eq=False)
class Subject:
    """A model in the scene."""

    active: Block
    home: Any | None  # the collection that an import made for it
    rig: Block | None
    place: str  # the file that it came from, "" for none
    row: Format | None  # of that file; None where no format is known
    player: WholePlayer | None = None  # that it is a part of
    character: WholeCharacter | None = None  # likewise

    @property
    def whole(self) -> WholePlayer | WholeCharacter | None:
        """Return what the model is a part of."""
        return self.player or self.character

    @property
    def holder(self) -> Any:
        """Return what remembers how the model was exported: its collection, its armature, or the object."""
        return self.home or self.rig or self.active

    @property
    def blocks(self) -> Iterable[Block]:
        """Return the model's objects, as far as they lie in its collection."""
        return self.home.objects if self.home is not None else [b for b in (self.rig, self.active) if b is not None]

    @property
    def meshes(self) -> list[Block]:
        """Return its surfaces."""
        return list(dict.fromkeys(block for block in self.blocks if block.type == "MESH"))

    @property
    def archive(self) -> str:
        """Return the archive that its file lies in, or "": as it was when that was first asked."""
        return _archive_once(self.place)


def archive_of(place: str) -> str:
    """Return the archive that a file lies in, or ""."""
    found = split_at_archive(PurePath(place), os.path.isfile) if place else None
    return found[0] if found is not None else ""


_archive_once = lru_cache(maxsize=64)(archive_of)


def subject_of(context: Context) -> Subject | None:
    """Return the model of the active object; None without one."""
    active = context.view_layer.objects.active
    if active is None:
        return None
    home, rig = home_of(active), rig_of(active)
    data = active.data if active.data is not None else active
    holders = [holder for holder in (home, data, None if rig is None else rig.data) if holder is not None]
    place = next((found for found in (holder.get(FILE) for holder in holders) if isinstance(found, str)), "")
    player = player_of(active)
    row = row_of(place, home) or (None if player is None else _BY_NAME["md3"])  # which all players are made of
    return Subject(active, home, rig, place, row, player, None if player is not None else character_of(active))


def subject_shown(context: Context) -> Subject | None:
    """Return the model of the active object for panels; None where that is a camera, a light or their like."""
    active = context.view_layer.objects.active
    return subject_of(context) if active is not None and active.type in KINDS else None


def player_of(block: Block) -> WholePlayer | None:
    """Return the whole player that an object is part of; None if it is none's, or a model that hangs on one's tag."""
    if not any(PART in above for above in upward(block)):
        return None
    # With all that moves things, for which starting Blender need not wait:
    from ...blender.player.parts import home_of as player_home_of
    from ...blender.roots import player_root, root_of

    root = player_root(block)
    if root is None or root_of(block, by_weights=False) is None:
        return None
    home = _player_homes.find(root, lambda found: found.get(PLAYER) == root[PLAYER], lambda: player_home_of(root))
    return WholePlayer(root, home)


def character_of(block: Block) -> WholeCharacter | None:
    """Return the whole character whose collection an object lies in, or None."""
    every: Any = bpy.data.collections
    own = (c for c in every if CHARACTER in c and block in objects_in(c))
    home = _character_homes.find(block, lambda found: CHARACTER in found, lambda: next(own, None))
    return None if home is None else WholeCharacter(home)


def row_of(place: str, home: Any | None) -> Format | None:
    """Return the format of a model's file: what its content is, else what its name says."""
    content = None if home is None else home.get(CONTENT)
    own = _BY_NAME.get(content) if isinstance(content, str) else None
    return own or _BY_SUFFIX.get("." + place.lower().rpartition(".")[2])


def rig_of(block: Block) -> Block | None:
    """Return the armature that an object is, that deforms it, or on whose bone it hangs."""
    if block.type == "ARMATURE":
        return block
    found = next(iter(bending(block)), block.parent)
    return found if found is not None and found.type == "ARMATURE" else None


def home_of(block: Block) -> Any | None:
    """Return the collection that an import made for an object, if it lies in one."""

    def holds(found: Any) -> bool:
        return MODEL_ID in found and found.objects.get(block.name) == block

    return _homes.find(block, holds, lambda: next((c for c in block.users_collection if MODEL_ID in c), None))


def counts_shown(subject: Subject) -> dict[str, int]:
    """Return what Blender holds, by the kinds that games have limits of; of surfaces' parts the largest surface's.

    Vertices are points: a file has more where seams split them. A face of n corners is n - 2 triangles.
    """
    from ...blender.roots import is_tag  # everyone who starts Blender waits for this module

    meshes = subject.meshes
    tags = sum(map(is_tag, subject.blocks))
    skeletal = subject.rig is not None and (subject.row is None or subject.row.family is SKELETAL)
    found = {"joints": len(subject.rig.data.bones)} if skeletal and subject.rig is not None else {}
    if not skeletal:
        keys = [block.data.shape_keys for block in meshes[:1]]
        found["frames"] = max((len(frame_blocks(key)) for key in keys if key is not None), default=1)
    found["meshes" if skeletal else "surfaces"] = len(meshes)
    found["tags"] = tags
    found["vertices"] = max((len(block.data.vertices) for block in meshes), default=0)
    triangles = (len(block.data.loops) - 2 * len(block.data.polygons) for block in meshes)
    found["triangles"] = max(triangles, default=0)
    return found
