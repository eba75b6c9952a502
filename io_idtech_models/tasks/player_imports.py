"""Whole players of Quake III's kin into the scene: parts on one another's tags, dressed, animations by name."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import bpy

from ..blender import names
from ..blender.player.build import (
    BARREL,
    FLASH,
    GUN,
    PlayerBuilt,
    add_level,
    animate,
    play_row,
    put_together,
    store_files,
)
from ..blender.player.rows import NamedRow
from ..blender.provenance import FILE
from ..blender.rollback import undone_on_failure
from ..blender.vertex.build import BuildSettings, Built
from ..game.player.animation_cfg import AnimationTable, Row, read
from ..game.player.files import PlayerFiles
from ..game.store import GameFile
from ..model.wording import plural
from ..reporting import LimitError, ModelError, collected_warnings
from .dressing import SKIN, Dressing, rate_of
from .vertex import Summary, import_file

if TYPE_CHECKING:
    from ..game.player.weapons import Weapon

log = logging.getLogger(__name__)

DIGESTS = "idtech_digests"  # on a player's collection: what its models' files had, by name
TABLE = "idtech_table"  # on a player's collection: the name of its table of animations, one of its files


@dataclass(frozen=True)
class PlayerOptions:
    """What to bring along; the import operator declares the same options."""

    levels: bool = True  # of detail, hidden
    legs: str = ""  # the rows to show at first; "": all frames, one by one
    torso: str = ""


def import_player(
    files: PlayerFiles,
    settings: BuildSettings,
    dressing: Dressing,
    options: PlayerOptions,
    scene: bpy.types.Scene,
    into: bpy.types.Collection,
    weapon: Weapon | None = None,
) -> tuple[PlayerBuilt, Summary]:
    """Bring a player into the scene: what there is of it, and a warning for what is missing.

    Raises:
        ModelError: none of its parts can be read; the .blend is as it was.
    """
    with collected_warnings() as warnings, undone_on_failure():
        warnings.extend(files.missing)
        collection = bpy.data.collections.new(names.fit(files.name))
        names.remember(collection, files.name)
        collection[FILE] = files.folder.place
        skin = dressing.skin.lower() or next(iter(files.skins), "")
        dressed = replace(dressing, skin=skin)
        still = replace(settings, fit_range=False)
        models = _models(files, weapon, still, dressed, scene, collection)
        player = put_together(collection, models)
        warnings.extend(player.loose)
        collection[SKIN] = skin
        if options.levels:
            _bring_levels(player, files, still, dressed, scene)
        table = _table(files)
        animate(player, [] if table is None else named_rows(table), rate_of(scene, settings.frame_rate))
        _keep_files(player, files)
        _show(player, settings, options, scene)
        into.children.link(collection)
    return player, Summary(_facts(player, skin), list(dict.fromkeys(warnings)))


def _models(
    files: PlayerFiles,
    weapon: Weapon | None,
    settings: BuildSettings,
    dressing: Dressing,
    scene: bpy.types.Scene,
    into: bpy.types.Collection,
) -> dict[str, Built]:
    """Return the models of all parts that can be read, and of a weapon; raises ModelError if there is none."""
    wanted = [(kind, part.model(dressing.skin)) for kind, part in files.parts.items()]
    own = len(wanted)
    if weapon is not None:
        pieces = ((GUN, weapon.base), (BARREL, weapon.barrel), (FLASH, weapon.flash))
        wanted += [(kind, file) for kind, file in pieces if file is not None]
    models: dict[str, Built] = {}
    failed = []
    for nth, (kind, file) in enumerate(wanted):
        try:
            worn = dressing if nth < own else replace(dressing, skin="")
            models[kind] = _import(file, settings, scene, into, worn)
        except ModelError as error:
            failed.append(f"{file.name}: {error}")
    if not models.keys() & files.parts.keys():
        raise LimitError("; ".join(failed) or f"'{files.name}' has no model of a player")
    for text in failed:
        log.warning("%s: this part is missing", text)
    return models


def _import(
    file: GameFile,
    settings: BuildSettings,
    scene: bpy.types.Scene,
    into: bpy.types.Collection,
    dressing: Dressing,
) -> Built:
    """Return a part's model in the scene; its warnings name the file."""
    built, summary = import_file(file, settings, scene, into, dressing)
    for text in summary.warnings:
        log.warning("%s: %s", file.name, text)
    return built


def _bring_levels(
    player: PlayerBuilt, files: PlayerFiles, settings: BuildSettings, dressing: Dressing, scene: bpy.types.Scene
) -> None:
    """Bring levels of detail along; what can't be read is named."""
    for kind, part in files.parts.items():
        for _, file in sorted(part.levels.items()) if kind in player.parts else ():
            try:
                add_level(player, kind, _import(file, settings, scene, player.collection, dressing))
            except ModelError as error:
                log.warning("%s: %s: this level of detail is missing", file.name, error)


def _table(files: PlayerFiles) -> AnimationTable | None:
    """Return a player's table of animations; None where it has none, or what can't be read, which is named."""
    if files.table is None:
        return None
    try:
        table = read(files.table.read())
    except ModelError as error:
        log.warning("%s: %s: no animation has a name", files.table.name, error)
        return None
    lacking = table.lacking()
    if lacking:
        log.warning("%s: %s", files.table.name, lacking)
    return table


def named_rows(table: AnimationTable) -> list[NamedRow]:
    """Return the rows of a table that have a name, the first of several of one, in the frames of the parts they move."""
    return [named_row(table, row) for row in table.by_name.values()]


def named_row(table: AnimationTable, row: Row) -> NamedRow:
    """Return a row of a table as its parts play it."""
    parts = tuple(sorted(row.parts))
    first = row.first - (table.skip(row, parts[0]) if len(parts) == 1 else 0)
    return NamedRow(row.name, parts, first, row.count, row.repeats, row.rate)


def _keep_files(player: PlayerBuilt, files: PlayerFiles) -> None:
    """Keep a player's texts in the .blend, from which a save writes what was not edited."""
    kept = [file for part in files.parts.values() for file in part.skins.values()]
    if files.table is not None:
        kept.append(files.table)
        player.collection[TABLE] = files.table.name
    texts = {}
    for file in kept:
        try:
            texts[file.name] = file.read()
        except ModelError as error:
            log.warning("%s: %s", file.name, error)
    store_files(player.collection, texts)
    levelled = [part for kind, part in files.parts.items() if part.levels and kind in player.parts]
    models = [file for part in levelled for file in (part.base, *part.levels.values())]
    player.collection[DIGESTS] = {file.name: digest(file.read()) for file in models if file.is_file()}


def digest(data: bytes) -> str:
    """Return what tells a file's content from another's."""
    return hashlib.sha256(data).hexdigest()


def _show(player: PlayerBuilt, settings: BuildSettings, options: PlayerOptions, scene: bpy.types.Scene) -> None:
    """Let the scene show a player from its first frame to its last, or the rows that are wanted."""
    if settings.fit_range and player.num_frames > 1:
        scene.frame_start, scene.frame_end = 0, player.num_frames - 1
    for kind, name in (("lower", options.legs), ("upper", options.torso)):
        action = player.rows.get(name.upper()) if name else None
        if name and action is None:
            log.warning("'%s' has no animation %s", player.collection.name, name)
        if action is not None and kind in player.parts:
            play_row(player.parts[kind].root, action)


def _facts(player: PlayerBuilt, skin: str) -> str:
    """Return what was imported, in words."""
    facts = [plural(len(player.parts), "part"), plural(player.num_frames, "frame")]
    facts.append(plural(len(player.rows), "animation"))
    if player.levels:
        facts.append(plural(len(player.levels), "level") + " of detail")
    return ", ".join([*facts, *([f"skin {skin}"] if skin else [])])
