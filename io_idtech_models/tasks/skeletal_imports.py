"""Files to armatures and their actions: what operators, drop handlers and the command line share."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import bpy

from .. import formats
from ..assets import beside as joint_scales
from ..assets.load import Loaded, load
from ..assets.storage import read_file
from ..blender.budgets import refuse_farther
from ..blender.compat import Context, play
from ..blender.materials import Materials
from ..blender.provenance import note_file
from ..blender.rollback import undone_on_failure
from ..blender.skeletal import build as skeletal
from ..blender.skeletal.build import Posed, SkeletalSettings
from ..formats import AnimationFormat, SkeletalFormat
from ..game import aninc, skin
from ..game.search import DIFFUSE_ENDINGS, SearchPath
from ..model import bind_pose as binding
from ..model.skeletal import Animation, Pose, SkeletalModel, mismatch, skeleton_of
from ..model.transforms import chain
from ..model.wording import describe_skeletal, listed, plural
from ..reporting import ModelError, collected_warnings
from . import animation_tables as ranges
from .vertex import Summary, object_mode, read_picture

log = logging.getLogger(__name__)

AS_FILE, FIT, FRAME = "FILE", "FIT", "FRAME"


@dataclass(frozen=True)
class ImportSettings:
    """What of a skeletal model to import, and in which pose; the import operators declare the same options."""

    animations: bool = True  # those beside it, whose joints match
    animation: str = ""  # the file that has the skeleton, where that is another
    bind: str = AS_FILE  # the pose in which meshes are bound: FILE, FIT or FRAME
    bind_frame: int = 0


def read_animation(row: AnimationFormat, path: Path) -> Animation:
    """Return the animation in a file, called as the file is; raises ModelError."""
    return joint_scales.with_scales(row.load(read_file(path), path.stem), row, path)


def animations_beside(
    path: Path, row: AnimationFormat, model: SkeletalModel, besides: Path | None = None
) -> list[tuple[Animation, Path]]:
    """Return the animations in a model's folder whose joints are the model's, by name; what can't be read is said."""
    found = []
    for file in sorted(path.parent.iterdir(), key=lambda p: p.name.lower()):
        if file.suffix.lower() not in row.suffixes or not file.is_file() or file == besides:
            continue
        try:
            animation = read_animation(row, file)
        except ModelError as error:
            log.warning("%s: %s", file.name, error)
            continue
        if not mismatch(model.skeleton, animation):
            found.append((animation, file))
    return found


def bound(row: SkeletalFormat, loaded: Loaded, settings: ImportSettings) -> SkeletalModel:
    """Return a model in the pose in which Blender is to bind it: see `model.bind_pose`."""
    model: SkeletalModel = loaded.model
    animation = loaded.animation
    if settings.bind == FRAME and animation is not None:
        frame = min(max(settings.bind_frame, 0), animation.num_frames - 1)
        if frame != settings.bind_frame:
            log.warning("there is no frame %d to bind in: frame %d", settings.bind_frame, frame)
        return binding.bound_in(
            model, Pose(*chain(animation.parents, animation.positions[frame], animation.rotations[frame]))
        )
    if settings.bind == FIT and (animation is not None or not row.unbound):
        if model.skeleton.num_joints > binding.MOST_JOINTS:
            log.warning("more than %d joints: meshes are bound as in the file", binding.MOST_JOINTS)
        places = None if animation is None else binding.mean_places(animation.positions)
        return binding.fitted(model, model.skeleton.bind, places)
    return model


def import_skeletal(
    path: Path,
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
        loaded = load(path, [Path(bpy.path.abspath(wanted.animation))] if wanted.animation else [])
        row = loaded.row
        assert isinstance(row, SkeletalFormat)
        motions = _motions(path, row, loaded) if wanted.animations else []
        if loaded.animation is None and motions:
            loaded.animation = motions[0][0]
        model = bound(row, loaded, wanted)
        animations = _with_parts(motions, formats.by_name(row.animation))
        search = SearchPath(path)
        find = partial(search.find_image, endings=DIFFUSE_ENDINGS)
        materials = Materials(find, read_picture, worn=_worn(search) if row.skins else {})
        posed = skeletal.build(model, [a for a, _ in animations], settings, materials, context.scene, into)
        _show_rows(posed.actions, animations)
        note_file(posed.collection, [posed.armature, *posed.meshes, *posed.tags], str(path))
        if materials.missing:
            warnings.append(f"{plural(len(materials.missing), 'texture')} not found: {listed(materials.missing)}")
    facts = describe_skeletal(model)
    if loaded.path is not None:
        facts += f", bones of '{_shown(loaded.path, path)}'"
    if wanted.animations:
        facts += f", {plural(len(animations), 'animation')}"
    return posed, Summary(facts, warnings)


def _worn(search: SearchPath) -> dict[str, str]:
    """Return what the surfaces of a model wear by the skin beside it; a skin that can't be read is said."""
    file = search.skin_file()
    if file is None:
        return {}
    try:
        return skin.read(read_file(file).decode("utf-8", errors="replace"))
    except ModelError as error:
        log.warning("'%s': %s", file.name, error)
        return {}


def _motions(path: Path, row: SkeletalFormat, loaded: Loaded) -> list[tuple[Animation, Path]]:
    """Return the animation that lies with a model, and those beside it; what can't be read of these is said."""
    found: list[tuple[Animation, Path]] = []
    if loaded.animation is not None and loaded.path is not None:
        found.append((loaded.animation, loaded.path))
    if row.companions and loaded.path is None:  # bones without names, which none fits
        return found
    return found + animations_beside(path, formats.by_name(row.animation), loaded.model, loaded.path)


def _shown(file: Path, beside: Path) -> str:
    """Return a file's name, with its folder unless that is the model's own."""
    return file.name if file.parent == beside.parent else str(file)


Motions = list[tuple[Animation, aninc.Row | None]]


def _with_parts(motions: list[tuple[Animation, Path]], row: AnimationFormat, table: Path | None = None) -> Motions:
    """Return animations, each followed by those that a table makes of its frames: the one beside it, or the given."""
    found: Motions = []
    for animation, path in motions:
        found.append((animation, None))
        if row.joins:
            found += ranges.parts_of(animation, row, table or ranges.table_beside(path))
    return found


def _show_rows(actions: list[Any], animations: Motions) -> None:
    for action, (_, row) in zip(actions, animations, strict=True):
        if row is not None:
            ranges.show_row(action, row)


def import_animation(
    paths: list[Path],
    rig: Any,
    settings: SkeletalSettings,
    context: Context,
    into: bpy.types.Collection,
    table: str = "",
) -> tuple[Any, list[Any], Summary, list[str]]:
    """Bring animations onto an armature, or one made for them; returns it, the actions, and what failed.

    An armature whose bones have no names yet takes them from the first. Files that can't be read or don't fit are said;
    the others are there.
    """
    failed: list[str] = []
    made: list[Any] = []
    with collected_warnings() as warnings, object_mode(context):
        for path in paths:
            try:
                with undone_on_failure():
                    rig, actions = _bring(path, rig, settings, context, into, table)
                made += actions
                settings = replace(settings, fit_range=False, frame_rate=False)  # the scene fits the first
            except ModelError as error:
                failed.append(f"{path.name}: {error}")
        if made:
            play(rig, made[0])
    facts = f"{plural(len(made), 'animation')} on '{rig.name}'" if made else "nothing imported"
    return rig, made, Summary(facts, warnings), failed


def _bring(
    path: Path, rig: Any, settings: SkeletalSettings, context: Context, into: bpy.types.Collection, table: str
) -> tuple[Any, list[Any]]:
    """Bring the animations of one file onto an armature, or one made for them; returns it and the actions."""
    from ..blender.skeletal import late_bones as rebind  # which imports of models do without

    data = read_file(path)
    row = formats.identify(data, path)
    animation = joint_scales.with_scales(row.load(data, path.stem), row, path)
    refuse_farther("joints", animation.positions * settings.scale)
    if rig is None:
        model = SkeletalModel(path.stem, skeleton_of(animation), [])
        rig = skeletal.build(model, [], settings, Materials(lambda name: None), context.scene, into).armature
    elif rebind.is_unnamed(rig):
        rebind.name_bones(rig, animation, context.scene)
        log.warning("'%s' has the bones of '%s' now", rig.name, path.name)
    given = Path(bpy.path.abspath(table)) if table else None
    animations = _with_parts([(animation, path)], row, given)
    actions = skeletal.add_animations(rig, [a for a, _ in animations], settings, context.scene)
    _show_rows(actions, animations)
    return rig, actions
