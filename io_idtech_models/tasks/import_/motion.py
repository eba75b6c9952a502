"""Files of motions onto armatures: what operators, drop handlers and the command line share."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import bpy

from ...assets.load import load
from ...blender.budgets import refuse_farther
from ...blender.compat import Context, play
from ...blender.playback import changing_over, drop_solo
from ...blender.provenance import FILE
from ...blender.scene import undone_on_failure
from ...blender.shading.materials import Materials
from ...blender.skeletal import armature, runs
from ...blender.skeletal.build import SkeletalSettings, add_animations, build
from ...blender.window import object_mode
from ...formats import MOTION, Format
from ...game.player import animation_cfg
from ...game.store import GameFile
from ...model.clips import Clip
from ...model.edits.matched import by_name, by_number
from ...model.joint_scales import skeleton_of
from ...model.skeletal import Animation, SkeletalModel
from ...reporting import LimitError, ModelError, Summary, collected_warnings, plural
from . import aninc as animation_tables

log = logging.getLogger(__name__)

# Animations, each with the row of a table that made it of a file's frames; of one that is all of a file the table.
Motions = list[tuple[Animation, animation_tables.Named | str]]
Rows = Mapping[GameFile, Sequence[animation_tables.Named]]  # that take files of frames apart


def with_parts(
    motions: list[tuple[Animation, GameFile]], row: Format, table: GameFile | None = None, rows: Rows | None = None
) -> Motions:
    """Return animations, each followed by those that a table makes of its frames: the one beside it, or the given.

    `rows` are those of files for which the game itself says them.
    """
    found: Motions = []
    for animation, file in motions:
        given: Sequence[animation_tables.Named] | None = None if rows is None else rows.get(file)
        text = ""
        if given is None and row.motion.joins_clips:
            text, given = animation_tables.table_in(table or animation_tables.table_beside(file))
        found.append((animation, text))
        if given is not None and row.motion.joins_clips:
            found += animation_tables.taken_apart(animation, row, given)
    return found


def show_rows(actions: list[Any], animations: Motions) -> None:
    """Give actions what the rows say that they came from, and those of all frames what their tables say."""
    made = list(zip(actions, (row for _, row in animations), strict=True))
    begins = [place for place, (_, row) in enumerate(made) if isinstance(row, str)]
    for begin, end in pairwise([*begins, len(made)]):
        (whole, text), *parts = made[begin:end]
        for action, row in parts:
            if not isinstance(row, str):
                animation_tables.show_row(action, row)
        if isinstance(text, str) and text:
            animation_tables.note_table(whole, [action for action, _ in parts], text)


def table_beside(file: GameFile, row: Format) -> Rows:
    """Return which of a file's own frames are which animation, by the table beside it; a warning says what is wrong."""
    table = file.folder.find_first((), [row.motion.table]) if row.motion.table else None
    try:
        return {} if table is None else {file: animation_cfg.read(table.read()).clips}
    except ModelError as error:
        log.warning("'%s': %s", "" if table is None else table.name, error)
        return {}


def note_runs(actions: list[Any], animations: Motions, files: list[GameFile], rows: Rows | None) -> int:
    """Note on actions which runs of their frames a table names, where these have no actions of their own.

    Returns how many; a warning names those that go beyond the frames.
    """
    count = 0
    whole = [(action, each) for action, (each, row) in zip(actions, animations, strict=True) if isinstance(row, str)]
    for (action, animation), file in zip(whole, files, strict=True):
        named = [] if rows is None else [row for row in rows.get(file, ()) if isinstance(row, Clip)]
        found = animation_tables.runs_of(file.name, animation.num_frames, named)
        clips = [clip for _, clip in found if isinstance(clip, Clip) and clip.first >= 0]
        if clips:
            runs.note(action, clips, animation.num_frames)
            count += len(clips)
    return count


def note_files(actions: list[Any], animations: Motions, files: list[GameFile], model: GameFile | None) -> None:
    """Note on each action that is all of a file, and not the model's, which one that is."""
    whole = [action for action, (_, row) in zip(actions, animations, strict=True) if isinstance(row, str)]
    alone = {file.place: files.count(file) == 1 for file in files}
    for action, file in zip(whole, files, strict=True):
        if file != model and alone[file.place]:
            action[FILE] = file.place


@dataclass(frozen=True)
class Matching:
    """How animations find their bones, and their frames; the import operators declare the same options."""

    table: GameFile | None = None  # that takes them apart, where it is not the one beside
    numbered: bool = False  # joints and bones are matched by their numbers, not by their names


def import_animation(
    files: list[GameFile],
    rig: Any,
    settings: SkeletalSettings,
    context: Context,
    into: bpy.types.Collection,
    how: Matching = Matching(),
) -> tuple[Any, list[Any], Summary, list[str]]:
    """Bring animations onto an armature, or one made for them; returns it, the actions, and what failed.

    An armature whose bones have no names yet takes them from the first. What can't be read or does not fit is returned;
    the others are there.
    """
    failed: list[str] = []
    made: list[Any] = []
    owners = [] if rig is None else [rig]
    with collected_warnings() as warnings, object_mode(context), changing_over(owners):
        for file in files:
            try:
                with undone_on_failure():
                    rig, actions = _import_file(file, rig, settings, context, into, how)
                made += actions
                settings = replace(settings, fit_range=False, frame_rate=False)  # the scene fits the first
            except ModelError as error:
                failed.append(f"{file.name}: {error}")
        if made:
            drop_solo(rig)
            play(rig, made[0])
    facts = f"{plural(len(made), 'animation')} on '{rig.name}'" if made else "nothing imported"
    return rig, made, Summary(facts, warnings), failed


def _import_file(
    file: GameFile,
    rig: Any,
    settings: SkeletalSettings,
    context: Context,
    into: bpy.types.Collection,
    how: Matching,
) -> tuple[Any, list[Any]]:
    """Bring the animations of one file onto an armature, or one made for them; returns it and the actions."""
    from ...blender.skeletal import late_bones  # which imports of models do without

    loaded = load(file, wanted=MOTION)
    if not loaded.animations:
        raise LimitError("there is no animation in it")
    for animation in loaded.animations:
        refuse_farther("joints", animation.positions * settings.scale)
    first = loaded.animations[0]
    if rig is None:
        skeleton = skeleton_of(first) if loaded.model is None else loaded.model.skeleton
        alone = loaded.model is not None and not loaded.model.meshes
        model = SkeletalModel(file.stem, skeleton, [], loaded.model.source if alone else None)
        rig = build(model, [], settings, Materials(), context.scene, into).armature
    elif late_bones.is_unnamed(rig):
        late_bones.name_bones(rig, first, context.scene)
        log.warning("'%s' has the bones of '%s' now", rig.name, file.name)
    joints = [armature.joint_name(bone) for bone in armature.file_order(rig.data.bones)]
    known = [by_number(a) if how.numbered else by_name(a, joints) for a in loaded.animations]
    animations = with_parts([(animation, file) for animation in known], loaded.row, how.table)
    actions = add_animations(rig, [a for a, _ in animations], settings, context.scene)
    show_rows(actions, animations)
    note_files(actions, animations, [file] * len(known), None)
    return rig, actions
