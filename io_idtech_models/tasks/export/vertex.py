"""Vertex-animated models to files: what operators, collection exporters and the command line share."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING
from zlib import crc32

import bpy

from ... import formats
from ...assets.export_request import name_clashes
from ...assets.levels import level_files, stale_levels
from ...assets.load import palette_of
from ...assets.storage import write_files
from ...blender.compat import Block, Context
from ...blender.curves import playing_strips
from ...blender.frame_rigs import GONE, kept_beside, played_beside, rigs_of, whole_of
from ...blender.provenance import CHECKSUM, CONTENT, FILE
from ...blender.scene import bending
from ...blender.unkeyed import left_alone
from ...blender.window import object_mode
from ...formats import Format
from ...model.facts import describe
from ...reporting import LimitError, Summary, collected_warnings, listed, plural
from .advice import (
    advice,
    of_actions,
    of_bereft,
    of_hidden_rigs,
    of_left_behind,
    of_lost_slots,
    of_pinned,
    of_rest,
    of_stripped,
    of_unmade,
)
from .left_out import instances_left_out, left_out, taken_along, unselected_tags
from .levels import files_of_scene, lost_levels, say_stale
from .material_files import material_files
from .plain import holds_of, shown_apart
from .skin_files import of_unlisted, skin_files

if TYPE_CHECKING:
    from ...assets.export_request import ExportRequest
    from ...blender.vertex.frame_plan import GatherSettings
    from ...formats.vertex_files import Written
    from .selection import Choice

log = logging.getLogger(__name__)


def export_file(
    asked: ExportRequest,
    row: Format,
    chosen: Choice,
    context: Context,
    settings: GatherSettings,
    scene_levels: bool = False,
) -> Summary:
    """Write objects to a file, and levels of detail: those that are asked for, or that the model has in the scene.

    Raises:
        ModelError: the model can't be written, or the game would refuse it; the file is as it was.
    """
    row = kept_format(row, chosen.collection)

    def made_of(choice: Choice) -> Written:
        return gathered(asked, row, choice, context, settings)

    with collected_warnings() as warnings, left_alone(context), object_mode(context):
        written = made_of(chosen)
        warnings.extend(written.notes)
        levels, notes = level_files(row, written.data, asked.target, asked.levels)
        warnings.extend(notes)
        if scene_levels and row.vertex.level_files:
            levels = files_of_scene(asked.target, chosen, written.model, context, made_of)
            if levels:
                say_stale(asked.target, chosen, context, settings.scale)
        if not row.vertex.level_files:
            warnings.extend(lost_levels(chosen, row))
        warnings.extend(stale_levels(row, written.data, asked.target, [target for target, _ in levels]))
        warnings.extend(name_clashes(asked.target, asked.game))
        skins = skin_files(asked, chosen.blocks, written.pieces)
        beside = [(asked.target.with_suffix(suffix), data) for suffix, data in written.beside.items()]
        texts = material_files(asked, chosen.blocks)
        write_files([(asked.target, written.data), *beside, *levels, *skins, *texts])
    warnings += [
        *advice(chosen.blocks, row, settings.scale, settings.keep_suffixes),
        *of_unlisted(asked, row, chosen.blocks, written.pieces),
        *left_out(chosen),
        *instances_left_out(context, chosen),
    ]
    warnings += of_actions(chosen.blocks) if settings.frames == "AUTO" else []
    if settings.frames == "ACTIONS":
        warnings += of_unmade(dict.fromkeys(rig for block in chosen.blocks for rig in bending(block)))
    warnings += unselected_tags(chosen, bones=True) if row.tags else []
    also = f", {plural(len(levels), 'level')} of detail" if levels else ""
    return Summary(describe(written.model) + also, warnings, taken_along(chosen))


def kept_format(row: Format, collection: bpy.types.Collection | None) -> Format:
    """Return the format in which a model is written where a file of one is asked for; see `formats.kept_format`."""
    content, place = (None, None) if collection is None else (collection.get(CONTENT), collection.get(FILE))
    found = next((each for each in formats.ROWS if each.name == content), None)
    if found is None or not isinstance(place, str):
        return row
    return formats.kept_format(found, PurePath(place), row)


def gathered(asked: ExportRequest, row: Format, chosen: Choice, context: Context, settings: GatherSettings) -> Written:
    """Return objects as a file's bytes, which are not written; call it in object mode; raises ModelError."""
    from ...blender.held_actions import release
    from ...blender.rig_settling import say_muted, settle_near
    from ...blender.scene import ExportScene
    from ...blender.vertex.gather import NoFacesError, gather  # as much again as an import needs
    from ...formats.vertex_files import dump_for
    from ..import_.games import user_disk

    settings = replace(settings, holds=holds_of(row))
    export = ExportScene(context.scene, context.view_layer, settings)
    release()  # of what was appended
    settle_near(chosen.blocks)
    say_muted(rigs_of(chosen.blocks))
    _say_played_beside(rigs_of(chosen.blocks), settings)
    odd = (of_lost_slots, of_rest, of_hidden_rigs, of_bereft, of_left_behind, of_pinned)
    for text in (text for say in odd for text in say(chosen.blocks)):
        log.warning("%s", text)
    with shown_apart(chosen, settings.space, context):
        try:
            model = gather(chosen.blocks, chosen.collection, export)
        except NoFacesError as error:
            raise LimitError("; ".join((str(error), *instances_left_out(context, chosen)))) from error
        for text in of_stripped(model, row):
            log.warning("%s", text)
        if row.vertex.holds_pictures and model.palette is None:
            model.palette = palette_of(user_disk().file(asked.target))
        written = dump_for(row, model, asked.game, asked.options, asked.shorten)
        if not _is_source(written.data, chosen.collection):
            from ...blender.vertex.selfcheck import differences

            written.notes[:0] = differences(export)  # what matters most
    return written


def _say_played_beside(rigs: list[Block], settings: GatherSettings) -> None:
    """Say what rigs that were made of frames play beside the actions that show these."""
    for rig in rigs if settings.frames in ("AUTO", "KEYS") else ():
        beside, whole = played_beside(rig), whole_of(rig)
        animation = rig.animation_data
        if not beside and (animation is None or animation.action is None) and not playing_strips(animation):
            beside = f"'{rig.name}' plays nothing"
        kept = kept_beside(rig)
        if kept:
            text = "no animations of its model that '%s' keeps are left out (Duplicate Animation makes such): %s"
            log.warning(text, rig.name, listed([action.name for action in kept]))
        if whole is None:
            log.warning(GONE + " (undo that)", rig.name)
        elif beside:
            log.warning(
                "%s: frames are posed as in '%s'; Frames: 'Scene Range' writes what is shown", beside, whole.name
            )


def _is_source(data: bytes, collection: bpy.types.Collection | None) -> bool:
    """Tell whether bytes are the file that a model came from: nothing was edited, and keys are all that shows."""
    return collection is not None and collection.get(CHECKSUM) == f"{crc32(data):08x}"
