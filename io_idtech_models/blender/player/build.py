"""A player's parts, models in the scene already, to a player: put together, animated by name, known as one."""

from __future__ import annotations

import base64
import binascii
import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import bpy

from ...model.clips import Clip
from ..compat import Block, play
from ..mesh.levels import LEVEL, LEVEL_OF
from ..playback import keep
from ..provenance import PLAYER
from ..vertex.build import Built
from .assembly import BEFORE, HEAD, LOWER, ON_TAGS, UPPER, PartBuilt, hang, make_root
from .rows import WHOLE_ROW, make_row, make_whole

PARTS = (LOWER, UPPER, HEAD)
FILES = "idtech_files"  # on a player's collection: its text files, by name
GUN, BARREL, FLASH = "weapon", "barrel", "flash"
WEAPON_TAGS = {GUN: (UPPER, "tag_weapon"), BARREL: (GUN, "tag_barrel"), FLASH: (GUN, "tag_flash")}


@dataclass(eq=False)
class PlayerBuilt:
    """A player in the scene."""

    collection: bpy.types.Collection
    parts: dict[str, PartBuilt]
    rows: dict[str, bpy.types.Action] = field(default_factory=dict)
    levels: list[PartBuilt] = field(default_factory=list)
    loose: list[str] = field(default_factory=list)  # parts that found no tag to hang on, in words

    @property
    def root(self) -> Block:
        """Return the root that all others hang on."""
        return next(iter(self.parts.values())).root

    @property
    def num_frames(self) -> int:
        """Return how many frames its longest part has."""
        return max(part.built.num_frames for part in self.parts.values())


def put_together(collection: bpy.types.Collection, models: dict[str, Built]) -> PlayerBuilt:
    """Hang models, by the parts that they are, on one another's tags; the first carries the others."""
    player = uuid.uuid4().hex
    collection[PLAYER] = player
    built = PlayerBuilt(collection, {kind: make_root(model, kind) for kind, model in models.items()})
    for part in built.parts.values():
        part.root[PLAYER] = player
    for kind, above in BEFORE.items():
        _hang(built, kind, above, ON_TAGS[kind])
    for kind, (above, tag) in WEAPON_TAGS.items():
        _hang(built, kind, above, tag)
    return built


def _hang(player: PlayerBuilt, kind: str, above: str, tag: str) -> None:
    """Hang a part on a tag of another, or where that is missing on the player's root."""
    part = player.parts.get(kind)
    if part is None or part.root == player.root:
        return
    holder = player.parts.get(above)
    empty = None if holder is None else holder.tags.get(tag)
    if empty is None:
        part.root.parent = player.root
        player.loose.append(f"no {tag} to hang the {kind} on: it stands at the player's origin")
    else:
        hang(part.root, empty, player.root)


def add_level(player: PlayerBuilt, kind: str, model: Built) -> None:
    """Bring a level of detail of a part along; whoever links the player to a scene excludes it there."""
    base = player.parts[kind]
    level = make_root(model, kind, base.root)
    model.collection[LEVEL], model.collection[LEVEL_OF] = level.root[LEVEL], base.built.collection
    player.levels.append(level)


def animate(player: PlayerBuilt, rows: Sequence[Clip], rate: float) -> None:
    """Make the action of each row, at the scene's frames per second; parts play the one that shows all frames."""
    identity = str(player.root[PLAYER])
    for kind, part in player.parts.items():
        if part.built.num_frames > 1:
            make_whole(part.root, part.built.num_frames, identity)
            if kind not in (LOWER, UPPER):
                part.root.animation_data.action.name = f"{WHOLE_ROW} ({kind})"
    for row in rows:
        moved = [player.parts[kind] for kind in row.parts if kind in player.parts]
        if moved:
            count = max(part.built.num_frames for part in moved)
            player.rows[row.name] = make_row(
                row, identity, rate / row.frame_rate if row.frame_rate > 0 else rate, count
            )
    for kind, part in player.parts.items():
        own = [player.rows[row.name] for row in rows if kind in row.parts and row.name in player.rows]
        if part.root.animation_data is not None:
            for action in own:
                keep(part.root, action)


def play_row(root: Block, action: bpy.types.Action | None) -> None:
    """Let a part play a row; None: stand in the frame that it shows."""
    if action is None:
        if root.animation_data is not None:  # a part of one frame has none
            root.animation_data.action = None
        return
    if root.animation_data is None:
        root.animation_data_create()
    play(root, action)


def store_files(collection: bpy.types.Collection, files: dict[str, bytes]) -> None:
    """Keep text files with a player, as they are."""
    collection[FILES] = json.dumps({name: base64.b64encode(data).decode("ascii") for name, data in files.items()})


def stored_files(collection: Any) -> dict[str, bytes]:
    """Return the text files that are kept with a player; what is damaged is none, and where there is no collection."""
    try:
        found = json.loads(collection.get(FILES, "{}"))
        return {str(name): base64.b64decode(data, validate=True) for name, data in found.items()}
    except (ValueError, TypeError, AttributeError, binascii.Error):
        return {}
