"""Models that skeletons move to files: what operators, collection exporters and the command line share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from ...assets.export_request import ExportRequest
from ...blender.compat import Context
from ...blender.curves import is_still
from ...blender.hanging import in_space
from ...blender.playback import at_begin
from ...blender.rig_settling import settle_near
from ...blender.skeletal.gather import find_rig, gather
from ...blender.skeletal.rig_scene import RigScene, SkeletalGatherSettings, rig_scene
from ...blender.skeletal.selfcheck import Motion, differences, lone_pose
from ...blender.skeletal.tags import left_joints
from ...blender.skeletal.torso import remember_weights
from ...blender.unkeyed import left_alone, say_unkeyed
from ...blender.window import object_mode
from ...formats import Format
from ...model.edits.matched import skeleton_with_origin
from ...model.edits.short_names import short_skeleton
from ...model.facts import describe_skeletal
from ...model.limits.games import GAMES, refused
from ...model.skeletal import SkeletalModel
from ...reporting import Summary, collected_warnings, listed, plural
from ..import_ import aninc as animation_tables
from . import levels as rig_levels
from . import runs as run_tables
from .advice import advice, of_bare_bones, of_bones_beside, of_lost_slots, of_stripped
from .left_out import instances_left_out, left_out, taken_along, unselected_tags
from .material_files import material_files
from .motion import AnimationExport, ExportedFiles, finished, motion_files, moved_by, of_format, played
from .motion_sources import (
    NoActionError,
    RowsAloneError,
    Source,
    actions_of,
    automatic,
    kept_beside,
    shown_by,
    sources_of,
)
from .selection import Choice
from .skin_files import of_unlisted, skin_files
from .targets import folder_notes, in_game_folder, write_into_folders


@dataclass(frozen=True)
class ModelExport:
    """What of a skeletal model to write besides; the export operators declare the same options."""

    add_origin: bool = False
    write_animation: bool = False  # the file with its bones, too, beside: what the armature plays, or its rest
    write_animations: bool = False  # each in a file of its own, under its name
    actions: str | tuple[str, ...] = ""  # which of them: names, or a text of them with commas between; "": all
    motions: str = "ALL"  # of a format whose files hold motions, too: AUTO, ACTIVE, CHOSEN, ALL, NLA, SCENE or REST


@dataclass(frozen=True, eq=False)
class Gathered:
    """A model as a file's bytes, and what there is to say of it."""

    data: bytes
    model: SkeletalModel
    notes: list[str]  # beside what is logged


def export_skeletal(
    asked: ExportRequest,
    row: Format,
    chosen: Choice,
    context: Context,
    settings: SkeletalGatherSettings,
    more: ModelExport = ModelExport(),
) -> Summary:
    """Write an armature and its meshes to a file.

    Raises:
        ModelError: the model can't be written, or the game would refuse it; the files are as they were.
    """
    moves = (row.has_motions and more.motions != "REST") or more.write_animation or more.write_animations
    with collected_warnings() as warnings:
        settle_near(chosen.blocks)
    own_space = in_space(settings.space, chosen.whole, context.view_layer)
    with left_alone(context), object_mode(context):
        with collected_warnings() as record_warnings:
            export = rig_scene(context.scene, context.view_layer, settings, find_rig(list(chosen.blocks)))
            if moves:
                say_unkeyed([export.rig], context.scene)
        with at_begin([export.rig], context.scene), own_space as notes:
            summary = _export_model(asked, row, chosen, context, export, more)
    summary.warnings = [*record_warnings, *summary.warnings, *warnings, *notes]
    return summary


def _export_model(
    asked: ExportRequest,
    row: Format,
    chosen: Choice,
    context: Context,
    export: RigScene,
    more: ModelExport,
) -> Summary:
    game, target = asked.game, in_game_folder(asked.target, asked.game)
    here = replace(asked, target=target)
    blocks = whole_model(chosen.blocks, context)
    beside = _beside(here, row, export, context, more, blocks)
    with collected_warnings() as warnings, object_mode(context), rig_levels.shown(export.rig, row, context) as levels:
        export = of_format(export, row)
        gathered = model = gather([*blocks, *levels], export)
        warnings += [
            *of_lost_slots(blocks),
            *of_bare_bones(model),
            *of_stripped(model, row),
            *(left_joints(blocks, export.rig, model) if row.skeletal.tags_are_joints else []),
        ]
        sources = _own_sources(row, export, more) if row.has_motions else []
        animations = [source.gather() for source in sources]
        table = run_tables.table_beside(target, row, export, sources, animations)
        animations = [finished(each, model, AnimationExport(add_origin=more.add_origin)) for each in animations]
        if more.add_origin:
            model = skeleton_with_origin(model)
        if asked.shorten:
            shorter, animations, notes = short_skeleton(model, animations, row, game)
            model = shorter or model
            warnings.extend(notes)
        problems = [*row.check(model, game), *(p for a in animations for p in row.check_motion(a, game))]
        warnings.extend([*row.lost(model), *refused(problems)])
        data = row.dump(model, asked.options, animations)
        motion = played(sources, animations, row, data, model) if row.has_motions else []
        warnings[:0] = _off(export, row, gathered, motion)  # what matters most
        if row.has_motions and not motion and more.motions != "REST":
            warnings.extend(lone_pose(export, gathered))
        texts = dict([*skin_files(here, blocks), *material_files(here, blocks)])
        write_into_folders({target: data, **beside.data, **texts, **table.data})
        beside.remember()
        remember_weights(export.rig, export.settings)
    warnings = [*warnings, *_of_scene(export, row, chosen, blocks, context)]
    apart = (
        of_bones_beside(model, "its animations, exported anew,", not row.skeletal.companions)
        if row.skeletal.animation and not beside.data
        else []
    )
    warnings += [*_apart(export, row, gathered, beside), *_without_lone(here, row, beside)]
    warnings += [*of_unlisted(here, row, blocks), *beside.said(odd=True)]
    moved = f", {plural(len(animations), 'animation')}" if row.has_motions else ""
    notes = [*beside.said(odd=False), *table.notes, *folder_notes(target, asked.target), *taken_along(chosen)]
    return Summary(describe_skeletal(model) + moved, warnings, notes + row.runs(animations), apart)


def _of_scene(export: RigScene, row: Format, chosen: Choice, blocks: list[Any], context: Context) -> list[str]:
    """Return what there is to say of objects that are exported, and of those that are left out, in sentences."""
    tags = unselected_tags(chosen, bones=False) if row.tags or row.skeletal.tags_are_joints else []
    left = [*left_out(chosen, blocks), *instances_left_out(context, chosen), *rig_levels.lost(export.rig, row), *tags]
    return [*advice(blocks, row, export.settings.scale, export.settings.keep_suffixes), *left]


def _own_sources(row: Format, export: RigScene, more: ModelExport) -> list[Source]:
    """Return the motions that go into a model's own file; what moves it else, or its rest, where it has no action."""
    try:
        return sources_of(export, row, more.motions, more.actions)
    except NoActionError:
        moves = automatic(export) == "SCENE"
        return [] if row.motion.apart and not moves else sources_of(export, row, "SCENE" if moves else "REST", "")


def _others(export: RigScene, row: Format, at_rest: bool) -> list[str]:
    """Name, in a sentence, the animations that are not written beside a model: the one that plays is, or else rest."""
    animation, known = export.rig.animation_data, animation_tables.known_actions(export.rig)
    playing = None if animation is None else animation.action
    playing = playing if playing is None else animation_tables.whole_of(playing, known) or playing
    with collected_warnings(), suppress(NoActionError):
        try:
            others = [action.name for action in actions_of(export.rig, row) if action != playing]
        except RowsAloneError as error:
            return [str(error)] if at_rest else []
        how = f"Export {row.name.upper()}: Chosen Actions writes several"
        if playing is not None and others:
            return [f"'{playing.name}' plays, and is written, other animations are not ({how}): {listed(others)}"]
        if at_rest and others:
            return [f"no animation plays, and bones are written at rest, animations are not ({how}): {listed(others)}"]
    return []


def _apart(export: RigScene, row: Format, model: SkeletalModel, beside: ExportedFiles) -> list[str]:
    """Name, in a sentence, animations that are files of their own in this format, where a model came of another."""
    other = row.skeletal.animation
    if other is None or beside.data or model.source is None or model.source.format == row.name:
        return []
    with collected_warnings(), suppress(NoActionError):
        names = [action.name for action in actions_of(export.rig, other)]
        how = "Bones and Action" if row.skeletal.companions else "Animations"
        text = f"animations are files of their own, tick {how}, or Export {other.name.upper()}"
        return [f"{text}, to write them: {listed(names)}"]
    return []


def _beside(
    asked: ExportRequest, row: Format, export: RigScene, context: Context, more: ModelExport, blocks: Sequence[Any]
) -> ExportedFiles:
    """Return what comes of the bones, or of all animations, that are to lie beside a model; raises ModelError."""
    other = row.skeletal.animation
    if more.write_animations and other is not None:
        wanted = AnimationExport("CHOSEN" if more.actions else "ALL", more.actions, add_origin=more.add_origin)
        beside = ExportRequest(asked.target.with_suffix(other.suffixes[0]), asked.game)
        return motion_files(beside, other, export, context, wanted, blocks)
    if not more.write_animation:
        return ExportedFiles()
    other = row.skeletal.companions[0]
    with collected_warnings() as notes:
        shown = automatic(export)
        wanted = AnimationExport("FILE" if shown == "ACTIVE" else shown, add_origin=more.add_origin)
    notes += _others(export, other, shown == "REST")
    beside = ExportRequest(asked.target.with_suffix(other.suffixes[0]), asked.game)
    exported = motion_files(beside, other, export, context, wanted, blocks)
    exported.warn(notes)
    return exported


def _without_lone(asked: ExportRequest, row: Format, beside: ExportedFiles) -> list[str]:
    """Say, in a sentence, that a game shows one animation with a model, and that it is not among those written."""
    game, other = GAMES[asked.game], row.skeletal.animation
    name = asked.target.with_suffix(other.suffixes[0]).name if other is not None else ""
    if not game.lone_animation or not beside.data or name.lower() in {path.name.lower() for path in beside.data}:
        return []
    text = f"{game.label} shows '{name}' with it and no other animation, and no action is called so"
    return [f"{text} (rename one, or write that file with Export > Doom 3 Animation)"]


def model_file(
    asked: ExportRequest,
    row: Format,
    export: RigScene,
    blocks: list[Any],
    others: Callable[[], Sequence[Motion]] = tuple,
) -> Gathered:
    """Return an armature and its meshes as a file's bytes, which are not written; call it in object mode.

    With all motions, where a file of the format holds them, too. `others` gives what else it plays, to be looked at.
    Raises ModelError.
    """
    export = of_format(export, row)
    model = gather(blocks, export)
    sources = _own_sources(row, export, ModelExport()) if row.has_motions else []
    shown = [source.gather() for source in sources]
    run_tables.follow(export, row, run_tables.whole_of(row, sources), sources, shown)
    animations = [finished(each, model, AnimationExport()) for each in shown]
    problems = [*row.check(model, asked.game), *(p for a in animations for p in row.check_motion(a, asked.game))]
    notes = [*of_bare_bones(model), *of_stripped(model, row), *row.lost(model), *refused(problems)]
    data = row.dump(model, asked.options, animations)
    motion = played(sources, animations, row, data, model) if row.has_motions else []
    return Gathered(data, model, [*_off(export, row, model, motion, others), *notes])


def _off(
    export: RigScene,
    row: Format,
    model: SkeletalModel,
    motion: list[Motion],
    others: Callable[[], Sequence[Motion]] = tuple,
) -> list[str]:
    """Return what of a model is not written as it is shown: while `motion` plays, or what poses it else."""
    if motion:
        return differences(export, model, motion, others=others)

    def more() -> list[Motion]:
        beside = [] if is_still(export.rig) else kept_beside(export, row)  # else these are shown already
        return [*beside, *others()]

    return differences(export, model, shown_by(export, row), others=more)


def whole_model(blocks: Iterable[Any], context: Context) -> list[Any]:
    """Return objects with the armature that deforms them; an armature alone with what hangs together with it."""
    found = rig_levels.nearest(blocks)
    rig = find_rig(found)
    if not any(block.type == "MESH" for block in found):
        near = [block for block in moved_by(rig, context) if block not in found]
        found += [block for block in near if block.visible_get(view_layer=context.view_layer)]
    return found if rig in found else [rig, *found]
