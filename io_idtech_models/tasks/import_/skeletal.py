"""Files of models that skeletons move into the scene: what operators, drop handlers and the command line share."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import bpy

from ...assets.load import Loaded, animations_beside, load, load_animation, load_outline
from ...blender.compat import Context
from ...blender.provenance import note_file
from ...blender.skeletal.build import Posed, SkeletalSettings, build
from ...blender.window import object_mode
from ...formats import SKELETAL, Format
from ...game.dress import SkinDecl
from ...game.search import DIFFUSE_ENDINGS
from ...game.store import GameFile
from ...model import bind_pose
from ...model.facts import describe_skeletal
from ...model.skeletal import Animation, Outline, Pose, SkeletalModel, mismatch
from ...model.transforms import chain
from ...reporting import ModelError, Summary, collected_warnings, plural
from .dressing import AS_USUAL, Dressing, lacking, materials_for, note_skin, rate_of
from .kept_frames import Kept, Motions, first_row, keep_frames, make_each, make_rows
from .motion import Rows, note_files, note_runs, show_rows, table_beside, with_parts

log = logging.getLogger(__name__)

AS_FILE, FIT, FRAME = "FILE", "FIT", "FRAME"
Motion = TypeVar("Motion", bound=Animation | Outline)


@dataclass(frozen=True)
class ImportSettings:
    """What of a skeletal model to import, and in which pose; the import operators declare the same options."""

    animations: bool = True  # those beside it, whose joints match
    chosen: tuple[GameFile, ...] = ()  # these alone, without looking beside it
    animation: GameFile | None = None  # the file that has the skeleton, where that is another
    rows: Rows | None = None  # that take files of frames apart, where the game says so; else tables beside them do
    kept: Kept | None = None  # files of frames are kept as they are, and actions made when they are asked for
    names: Mapping[GameFile, Sequence[str]] | None = None  # what files of frames are called, where the game says so
    decl: SkinDecl | tuple[str, ...] | None = None  # what it wears, where who asks knows it; or mesh after mesh
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
        outlines = _outlines(loaded, wanted)
        motions = [] if outlines is not None else _called(_motions(file, loaded, wanted), wanted.names or {})
        if not loaded.animations:
            loaded.animations = [motion for motion, _ in motions]
        model = bound(loaded, wanted)
        animations = [] if wanted.kept is not None else with_parts(motions, _moved_by(loaded.row), rows=wanted.rows)
        rate = rate_of(context.scene)
        materials, dress = materials_for(
            file, loaded.row, wanted.dressing, rate, DIFFUSE_ENDINGS, _worn(model, wanted.decl)
        )
        posed = build(model, [a for a, _ in animations], settings, materials, context.scene, into)
        show_rows(posed.actions, animations)
        count = len(animations)
        if wanted.kept is not None:
            count = _keep(posed, motions if outlines is None else outlines, loaded.row, wanted, settings, context.scene)
        else:
            others = [other for _, other in motions]
            rows = table_beside(file, _moved_by(loaded.row)) if wanted.rows is None else wanted.rows
            count += note_runs(posed.actions, animations, others, rows)
            note_files(posed.actions, animations, others, file)
        note_file(posed.collection, [posed.armature, *posed.meshes, *posed.tags], file.place, settings.scale)
        note_skin(posed.collection, dress)
        warnings.extend(lacking(materials, dress))
    facts = describe_skeletal(model)
    if loaded.bones is not None:
        facts += f", bones of '{_shown(loaded.bones, file)}'"
    if wanted.animations or wanted.chosen:
        facts += f", {plural(count, 'animation')}"
    return posed, Summary(facts, warnings)


def _keep(
    posed: Posed,
    motions: Motions,
    row: Format,
    wanted: ImportSettings,
    settings: SkeletalSettings,
    scene: bpy.types.Scene,
) -> int:
    """Let the armature keep the files of its motions, and play the row to be shown; returns how many rows there are."""
    kept, rig = wanted.kept, posed.armature
    assert kept is not None

    def frames_of(nth: int) -> Animation:
        motion, file = motions[nth]
        return motion if isinstance(motion, Animation) else load_animation(file, row)

    files = keep_frames(rig, motions, _moved_by(row), wanted.rows or {}, settings.scale, kept)
    first = first_row(files, frames_of, kept.first)
    try:
        posed.actions = [] if first is None else list(make_rows(rig, [first], scene, settings).values())
    except ModelError as error:
        log.warning("%s", error)
    if kept.make_all:
        every = ((nth, place) for nth, file in enumerate(files) for place in range(len(file.rows)))
        made, failed = make_each(rig, [key for key in every if key != first], scene)
        posed.actions += made.values()
        for text in failed:
            log.warning("%s", text)
    return sum(len(file.rows) for file in files)


def _outlines(loaded: Loaded, wanted: ImportSettings) -> Motions | None:
    """Return what files of frames say that are to be kept, each an animation, of which one is read; None of others."""
    if wanted.kept is None or wanted.kept.names is None:
        return None
    return _fitting(loaded, wanted.chosen, load_outline)


def _motions(file: GameFile, loaded: Loaded, wanted: ImportSettings) -> list[tuple[Animation, GameFile]]:
    """Return the animations of a model, and those chosen, else those beside it; warnings name what can't be read."""
    kind = loaded.row.skeletal
    if not (wanted.animations or wanted.chosen):
        return []
    found = [(animation, loaded.bones or file) for animation in loaded.animations]
    if kind.animation is None or (kind.companions and loaded.bones is None):  # bones without names, which none fits
        return found
    if wanted.chosen or wanted.rows is not None:  # the game says which there are
        return found + _fitting(loaded, wanted.chosen, load_animation)
    return found + animations_beside(file, kind.animation, loaded.model, loaded.bones)


def _worn(model: SkeletalModel, decl: SkinDecl | tuple[str, ...] | None) -> SkinDecl | None:
    """Return what a model wears; of shaders in the order of its meshes a warning says where they are too few."""
    if decl is None or isinstance(decl, SkinDecl):
        return decl
    if len(decl) < len(model.meshes):
        text = "the skin has %s for %d meshes: games show the others as missing, here they wear the model's own"
        log.warning(text, plural(len(decl), "line"), len(model.meshes))
    pairs = [(mesh.shader, worn) for mesh, worn in zip(model.meshes, decl, strict=False)]
    return SkinDecl("", (), tuple(pairs)) if len(decl) >= len(model.meshes) else None


def _called(
    motions: list[tuple[Animation, GameFile]], names: Mapping[GameFile, Sequence[str]]
) -> list[tuple[Animation, GameFile]]:
    """Return animations under the names that their game has for them, one for each name."""
    return [
        (replace(animation, name=name), file)
        for animation, file in motions
        for name in names.get(file, [animation.name])
    ]


def _fitting(
    loaded: Loaded, files: tuple[GameFile, ...], read: Callable[[GameFile, Format], Motion]
) -> list[tuple[Motion, GameFile]]:
    """Return what is read of the files of animations that fit a model; warnings say why others don't."""
    found = []
    for file in files:
        try:
            animation = read(file, loaded.row)
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
