"""Files to armatures and their actions: what operators, drop handlers and the command line share."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Any

import bpy

from ...assets.load import Loaded, animations_beside, load, load_animation
from ...blender.budgets import refuse_farther
from ...blender.compat import Context, play
from ...blender.provenance import FILE, note_file
from ...blender.rollback import undone_on_failure
from ...blender.shading.materials import Materials
from ...blender.skeletal import armature
from ...blender.skeletal.build import Posed, SkeletalSettings, add_animations, build
from ...blender.window import object_mode
from ...formats import MOTION, SKELETAL, Format
from ...game import aninc
from ...game.search import DIFFUSE_ENDINGS
from ...game.store import GameFile
from ...model import bind_pose
from ...model.edits.matched import by_name, by_number
from ...model.joint_scales import skeleton_of
from ...model.skeletal import Animation, Pose, SkeletalModel, mismatch
from ...model.transforms import chain
from ...model.wording import describe_skeletal, plural
from ...reporting import LimitError, ModelError, Summary, collected_warnings
from . import aninc as animation_tables
from .dressing import AS_USUAL, Dressing, lacking, materials_for, note_skin, rate_of

log = logging.getLogger(__name__)

AS_FILE, FIT, FRAME = "FILE", "FIT", "FRAME"


@dataclass(frozen=True)
class ImportSettings:
    """What of a skeletal model to import, and in which pose; the import operators declare the same options."""

    animations: bool = True  # those beside it, whose joints match
    chosen: tuple[GameFile, ...] = ()  # these alone, without looking beside it
    animation: GameFile | None = None  # the file that has the skeleton, where that is another
    bind: str = AS_FILE  # the pose in which meshes are bound: FILE, FIT or FRAME
    bind_frame: int = 0
    dressing: Dressing = AS_USUAL


def bound(loaded: Loaded, settings: ImportSettings) -> SkeletalModel:
    """Return a model in the pose in which Blender is to bind it: see `model.bind_pose`."""
    model: SkeletalModel = loaded.model
    row, animation = loaded.row, loaded.animation
    if settings.bind == FRAME and animation is not None:
        frame = min(max(settings.bind_frame, 0), animation.num_frames - 1)
        if frame != settings.bind_frame:
            log.warning("there is no frame %d to bind in: frame %d", settings.bind_frame, frame)
        return bind_pose.bound_in(
            model, Pose(*chain(animation.parents, animation.positions[frame], animation.rotations[frame]))
        )
    if settings.bind == FIT and (animation is not None or not row.skeletal.bind_pose_missing):
        if model.skeleton.num_joints > bind_pose.MOST_JOINTS:
            log.warning("more than %d joints: meshes are bound as in the file", bind_pose.MOST_JOINTS)
        places = None if animation is None else bind_pose.mean_places(animation.positions)
        return bind_pose.fitted(model, model.skeleton.bind, places)
    return model


def import_skeletal(
    file: GameFile,
    settings: SkeletalSettings,
    wanted: ImportSettings,
    context: Context,
    into: bpy.types.Collection,
) -> tuple[Posed, Summary]:
    """Bring a model, and the animations beside it if asked for, into the scene.

    Raises:
        ModelError: the file can't be read; the .blend is as it was.
    """
    with collected_warnings() as warnings, object_mode(context):
        loaded = load(file, [wanted.animation] if wanted.animation is not None else [], SKELETAL)
        motions = _motions(file, loaded, wanted.chosen) if wanted.animations or wanted.chosen else []
        if not loaded.animations:
            loaded.animations = [motion for motion, _ in motions]
        model = bound(loaded, wanted)
        animations = _with_parts(motions, _moved_by(loaded.row))
        rate = rate_of(context.scene)
        materials, dress = materials_for(file, loaded.row, wanted.dressing, rate, DIFFUSE_ENDINGS)
        posed = build(model, [a for a, _ in animations], settings, materials, context.scene, into)
        _show_rows(posed.actions, animations)
        _note_files(posed.actions, animations, [other for _, other in motions], file)
        note_file(posed.collection, [posed.armature, *posed.meshes, *posed.tags], file.place)
        note_skin(posed.collection, dress)
        warnings.extend(lacking(materials, dress))
    facts = describe_skeletal(model)
    if loaded.bones is not None:
        facts += f", bones of '{_shown(loaded.bones, file)}'"
    if wanted.animations or wanted.chosen:
        facts += f", {plural(len(animations), 'animation')}"
    return posed, Summary(facts, warnings)


def _motions(file: GameFile, loaded: Loaded, chosen: tuple[GameFile, ...]) -> list[tuple[Animation, GameFile]]:
    """Return the animations of a model, and those chosen, else those beside it; warnings name what can't be read."""
    kind = loaded.row.skeletal
    found = [(animation, loaded.bones or file) for animation in loaded.animations]
    if kind.animation is None or (kind.companions and loaded.bones is None):  # bones without names, which none fits
        return found
    if chosen:
        return found + _chosen_motions(loaded, chosen)
    return found + animations_beside(file, kind.animation, loaded.model, loaded.bones)


def _chosen_motions(loaded: Loaded, files: tuple[GameFile, ...]) -> list[tuple[Animation, GameFile]]:
    """Return the animations in files that fit a model; warnings say why others don't."""
    found = []
    for file in files:
        try:
            animation = load_animation(file, loaded.row)
        except ModelError as error:
            log.warning("%s", error)
            continue
        why = mismatch(loaded.model.skeleton, animation)
        if why:
            log.warning("'%s' does not fit '%s': %s", file.name, loaded.model.name, why)
        else:
            found.append((animation, file))
    return found


def _moved_by(row: Format) -> Format:
    """Return the format whose files move the models of a format: itself where it has no other."""
    return row.skeletal.animation or row


def _shown(file: GameFile, beside: GameFile) -> str:
    """Return a file's name, with its folder unless that is the model's own."""
    return file.name if file.folder == beside.folder else file.place


Motions = list[tuple[Animation, aninc.Row | None]]


def _with_parts(motions: list[tuple[Animation, GameFile]], row: Format, table: GameFile | None = None) -> Motions:
    """Return animations, each followed by those that a table makes of its frames: the one beside it, or the given."""
    found: Motions = []
    for animation, file in motions:
        found.append((animation, None))
        if row.motion.joins_clips:
            found += animation_tables.parts_of(animation, row, table or animation_tables.table_beside(file))
    return found


def _show_rows(actions: list[Any], animations: Motions) -> None:
    for action, (_, row) in zip(actions, animations, strict=True):
        if row is not None:
            animation_tables.show_row(action, row)


def _note_files(actions: list[Any], animations: Motions, files: list[GameFile], model: GameFile | None) -> None:
    """Note on each action that is all of a file, and not the model's, which one that is."""
    whole = [action for action, (_, row) in zip(actions, animations, strict=True) if row is None]
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
    with collected_warnings() as warnings, object_mode(context):
        for file in files:
            try:
                with undone_on_failure():
                    rig, actions = _bring(file, rig, settings, context, into, how)
                made += actions
                settings = replace(settings, fit_range=False, frame_rate=False)  # the scene fits the first
            except ModelError as error:
                failed.append(f"{file.name}: {error}")
        if made:
            play(rig, made[0])
    facts = f"{plural(len(made), 'animation')} on '{rig.name}'" if made else "nothing imported"
    return rig, made, Summary(facts, warnings), failed


def _bring(
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
    animations = _with_parts([(animation, file) for animation in known], loaded.row, how.table)
    actions = add_animations(rig, [a for a, _ in animations], settings, context.scene)
    _show_rows(actions, animations)
    _note_files(actions, animations, [file] * len(known), None)
    return rig, actions
