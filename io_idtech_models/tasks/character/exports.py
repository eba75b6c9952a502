"""Whole characters out of the scene: models, skins, files of frames and texts; what was not edited as it was."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import bpy

from ...blender.compat import Block, Context
from ...blender.playback import at_begin
from ...blender.player.parts import find_player
from ...blender.scene import objects_in
from ...blender.unkeyed import left_alone, say_unkeyed
from ...blender.window import object_mode, selected
from ...game.character.files import BODY
from ...model.limits.games import NO_GAME
from ...reporting import LimitError, Summary, collected_warnings, listed
from .besides import take_along
from .models import ModelsSaved
from .record import CharacterFound, find
from .saved import SavedCharacter
from .texts import save_texts


@dataclass(frozen=True)
class CharacterSave:
    """What of a character is written; the export operator declares the same options."""

    game: str = NO_GAME
    edited_only: bool = False


def chosen_character(context: Context, collection_name: str = "") -> CharacterFound:
    """Return the character of the active object, of what is selected, or the scene's only one.

    Raises:
        LimitError: there is none, or there are several.
    """
    active = context.view_layer.objects.active
    every = [found for found in (find(each, active) for each in bpy.data.collections) if found is not None]
    if collection_name:
        own = [found for found in every if found.collection.name == collection_name]
    else:
        shown = [found for found in every if found.rig.name in context.scene.objects]
        own = _holding(every, [active]) or _holding(every, selected(context)) or shown
    if len(own) == 1:
        return own[0]
    if not own:
        raise LimitError("there is no character: import one first (File > Import > id Tech > Character)")
    called = listed([found.collection.name for found in own])
    raise LimitError(f"there are {len(own)} characters, make an object of one active: {called}")


def is_player(context: Context) -> bool:
    """Tell whether the active object is part of a player of Quake III, and of no character."""
    active = context.view_layer.objects.active
    every = [found for found in map(find, bpy.data.collections) if found is not None]
    return active is not None and not _holding(every, [active]) and find_player(active) is not None


def _holding(every: Iterable[CharacterFound], blocks: Iterable[Block | None]) -> list[CharacterFound]:
    listed_ = [block for block in blocks if block is not None]
    return [found for found in every if not set(listed_).isdisjoint(objects_in(found.collection))]


def save_character(
    character: CharacterFound, options: CharacterSave, context: Context
) -> tuple[SavedCharacter, Summary]:
    """Return the files of a character, as the scene shows it; what has not been edited as it was.

    Raises:
        ModelError: a file can't be written.
    """
    saved = SavedCharacter(character.name, character.record, options.game)
    with collected_warnings() as warnings, left_alone(context), object_mode(context):
        rigs = [block for block in objects_in(character.collection) if block.type == "ARMATURE"]
        say_unkeyed(rigs, context.scene)
        models = ModelsSaved(character, saved, context)
        with at_begin(rigs, context.scene):
            models.body()
            for kind in character.record.models:
                if kind != BODY:
                    models.piece(kind)
            models.attached()
            models.strays()
        save_texts(character, saved, models.motions, models.skins)
        take_along(saved)
    if options.edited_only:
        saved.keep_edited()
        if not (saved.files or saved.declarations):
            raise LimitError(f"nothing of '{saved.name}' was edited: there is no file to write")
    return saved, Summary(saved.facts, list(dict.fromkeys(warnings)))
