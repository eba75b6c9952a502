"""How a model was exported last, kept with it: the next export begins with the same.

A text on the model's collection, its armature, or its object, and so a copy's, too: by format the options that were
other than usual. What it says is checked like a file, for a .blend can come from a stranger.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any

import bpy

from ...blender.linked import is_linked
from ...blender.properties import EXPORT, show
from ...blender.provenance import FILE, original, unit_of
from ...model.limits.games import NO_GAME, game_for, game_of_player
from .subject import Subject

# What is no option of the model: where it is written, and which objects were meant.
NO_OPTIONS = frozenset(("filepath", "what", "collection", "check_existing", "filter_glob"))
SKINS = frozenset(("skin", "new_skin"))  # what is worn when it is written becomes a skin of that name
TARGET, LAST = "file", "format"
HOLDER = "of"  # what the model was called when it was written there: a copy that Blender made says the same
# Why a model can't be exported again.
NONE_ACTIVE = "No object is active"
IN_ARCHIVE = "The model's file lies in an archive, which stays as it is: use File > Export > id Tech"
NO_FILE = "The model came from no file and was written to none: use File > Export > id Tech first"
PLAYER, CHARACTER = "player", "character"  # in place of a format: of a whole player, or character


def holder_of(chosen: Any) -> Any | None:
    """Return what remembers the exports of a choice of objects: see `subject.Subject.holder`."""
    if chosen.collection is not None:
        return chosen.collection
    rigs = [block for block in chosen.blocks if block.type == "ARMATURE"]
    return next(iter([*rigs, *chosen.blocks]), None)


def kept_of(holder: Any) -> dict[str, Any]:
    """Return all that a model remembers: options by format, and where it was written last if not where it came from."""
    text = None if holder is None else holder.get(EXPORT)
    if not isinstance(text, str):
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def target_of(holder: Any) -> str:
    """Return where a model, or what it is a copy of, was written to last, if not where it came from; else ""."""
    found = kept_of(holder).get(TARGET)
    return found if isinstance(found, str) else ""


def last_target(holder: Any, there: bool = False) -> str:
    """Return where a model was written to last, if not where it came from; else "".

    What is to be `there` is the folder that it lies in. A copy of what came from no file was written nowhere yet.
    """
    kept, target = kept_of(holder), target_of(holder)
    if not target or (there and not Path(target).parent.is_dir()):
        return ""
    if isinstance(kept.get(HOLDER), str) and holder.name != kept[HOLDER]:
        claimants = [block for block in bpy.data.objects if kept_of(block).get(TARGET) == target]
        return target if original(claimants, lambda block: kept_of(block).get(HOLDER)) == holder else ""
    return target


def options_of(holder: Any, name: str) -> dict[str, Any] | None:
    """Return the options that a model was exported with last in a format; None if it was not.

    If it was not, and came at another size than its file's, that is the one to begin with.
    """
    found = kept_of(holder).get(name)
    if isinstance(found, dict):
        return found
    scale = 1.0 if holder is None else unit_of(holder)
    return None if scale == 1.0 else {"scale": scale}


def game_of(holder: Any, name: str) -> str:
    """Return the game that a model was exported for last in a format, or that was chosen for it; "" for none."""
    game = (options_of(holder, name) or {}).get("game", "")
    return game if isinstance(game, str) else ""


@lru_cache(maxsize=64)
def _game_of_folder(name: str, place: str) -> str:
    return game_for(name, PurePath(place).parts[:-1])


def game_shown(subject: Subject) -> str:
    """Return the game that a model is for: that of its last export, or which was chosen, else its folder's."""
    row = subject.row
    if subject.player is not None:
        game = game_of(subject.player.holder, PLAYER)
        return game if row is not None and game in row.games else game_of_player(PurePath(subject.player.place).parts)
    if row is None:
        return NO_GAME
    game = game_of(subject.holder, row.name)
    return game if game in row.games else _game_of_folder(row.name, subject.place)


def remember(holder: Any, name: str, options: dict[str, Any], target: str = "") -> None:
    """Note on a model how it was exported in a format, and where, if not into the file that it came from."""
    if holder is None or is_linked(holder):
        return
    kept = kept_of(holder) | {name: options, LAST: name}
    if target:
        kept |= {TARGET: target} if FILE in holder else {TARGET: target, HOLDER: holder.name}
    if target == holder.get(FILE):
        kept.pop(TARGET, None)
    show(holder, EXPORT, json.dumps(kept))


def forget_skins(holders: Iterable[Any]) -> None:
    """Let models that wear something else by now be exported again without the skins that what they wore was."""
    for holder in holders:
        kept = kept_of(holder)
        known = {name: options for name, options in kept.items() if isinstance(options, dict)}
        fewer = {name: {o: options[o] for o in options.keys() - SKINS} for name, options in known.items()}
        if fewer != known and not is_linked(holder):
            show(holder, EXPORT, json.dumps(kept | fewer))


def choose_game(subject: Subject, game: str) -> None:
    """Note on a model, or the whole player that it is part of, for which game it is exported."""
    if subject.player is not None:
        holder, name = subject.player.holder, PLAYER
    else:
        holder, name = subject.holder, "" if subject.row is None else subject.row.name
    remember(holder, name, (options_of(holder, name) or {}) | {"game": game})


def _shown(operator: Any) -> Iterable[str]:
    for prop in operator.properties.bl_rna.properties:
        if not prop.is_hidden and prop.identifier not in NO_OPTIONS and prop.identifier != "rna_type":
            yield prop.identifier


def unusual(operator: Any) -> dict[str, Any]:
    """Return the options of an operator that are other than usual, and the game in any case."""
    found = {}
    for name in _shown(operator):
        value, prop = getattr(operator, name), operator.properties.bl_rna.properties[name]
        if name == "game" or value != prop.default:
            found[name] = value
    return found


def begin(operator: Any, holder: Any, name: str) -> None:
    """Let an operator that a user has called begin as the model's last export, but for what the call says.

    Blender offers what the last call had, which may have been another model's: one that came from a file begins with
    its own, or as is usual.
    """
    kept = options_of(holder, name)
    if holder is None or (kept is None and not isinstance(holder.get(FILE), str)):
        return
    for option in _shown(operator):
        if operator.properties.is_property_set(option):
            continue  # what was said with the call; what Blender remembers does not count as set
        operator.properties.property_unset(option)
        if kept is not None and option in kept:
            take(operator, option, kept[option])


def take(operator: Any, option: str, value: Any) -> None:
    """Set an option, unless there is no such value any more."""
    try:
        setattr(operator, option, value)
    except (TypeError, ValueError, OverflowError):
        operator.properties.property_unset(option)


def lack_of(subject: Subject | None) -> str:
    """Return why a model can't be exported again, or "": what is quickly told, for buttons."""
    from ...blender.roots import root_of  # with all that moves things, for which starting Blender need not wait

    if subject is None:
        return NONE_ACTIVE
    # A part of a player or a character: where that belongs takes longer to tell.
    if subject.character is not None or root_of(subject.active) is not None:
        return ""
    if subject.archive and not last_target(subject.holder):
        return IN_ARCHIVE
    if not subject.place and not last_target(subject.holder):
        return NO_FILE
    return ""
