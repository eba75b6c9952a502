"""What a model's file says besides its surfaces and tags: groups of frames, skins, and numbers of its header.

A group of frames is an action that says when each of its frames ends.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import bpy

from ...model.clips import Clip
from ...model.pictures import Skin
from ...model.vertex import ModelSource, Traits
from ...reporting import LimitError
from .. import names
from ..compat import Block
from ..playback import make_take
from ..properties import GAME, TIMES, numbers
from ..shading.skins import read_skin
from .clips import model_actions, model_ids
from .sampling import Plan, keys_at
from .shape_keys import KeyFinder, frame_blocks

log = logging.getLogger(__name__)


def find_groups(plan: Plan, blocks: list[Block], collection: bpy.types.Collection | None) -> list[Clip] | None:
    """Return the groups among the frames that are planned; None where no action of the model says what they are."""
    keyed = [b.data.shape_keys for b in blocks if b.data.shape_keys is not None and frame_blocks(b.data.shape_keys)]
    taken = [take.action for take in plan.takes if take is not None]
    actions = list(dict.fromkeys([*model_actions(model_ids(blocks, collection)), *taken]))
    if not actions or not keyed:
        return None
    finder, found = KeyFinder(keyed[0]), list[Clip]()
    for action in actions:
        times = numbers(action, TIMES)
        if times:
            name = names.file_name_of(action)
            runs = _taken(plan, action) if action in taken else _shown(plan, action, finder, keyed)
            found += [Clip(name, run.start, len(run), times=times) for run in runs]
    return found


def _taken(plan: Plan, action: Block) -> Iterator[range]:
    """Yield the frames for which an action is played."""
    own = [place for place, take in enumerate(plan.takes) if take is not None and take.action == action]
    if own:
        yield range(own[0], own[-1] + 1)


def _shown(plan: Plan, action: Block, finder: KeyFinder, keyed: list[Block]) -> Iterator[range]:
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
    """Return the skins that materials show, each once."""
    found: dict[str, Skin] = {}
    for material in dict.fromkeys(materials):
        if material is not None:
            name = names.file_name_of(material)
            found.setdefault(name, read_skin(material, name))
    return list(found.values())


def find_traits(collection: bpy.types.Collection | None) -> Traits:
    """Return the numbers of a model's header that its collection shows."""
    found: Traits = {}
    holder: Any = collection
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
