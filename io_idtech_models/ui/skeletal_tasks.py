"""Files to armatures and armatures to files: what operators, drop handlers and the command line share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from .. import formats
from ..blender import motion, names, skeletal
from ..blender.compat import Context, action_parts, play, slot_claim
from ..blender.materials import Materials
from ..blender.skeletal import Posed, SkeletalSettings
from ..blender.skeletal_gather import SkeletalGatherSettings, find_rig, gather
from ..blender.source import FILE
from ..errors import LimitError, ModelError, collected_warnings
from ..formats import AnimationFormat, SkeletalFormat
from ..game import pcx
from ..game.files import DIFFUSE_ENDINGS, SearchPath, model_name
from ..model import limits, skeletal_limits
from ..model.skeletal import (
    Animation,
    SkeletalModel,
    Skeleton,
    animation_with_origin,
    looped,
    mismatch,
    set_bounds,
    skeleton_with_origin,
)
from ..model.transforms import chain
from ..model.words import describe_skeletal, joined, listed, plural
from ..storage import read_file, reason, write_file
from .choice import Choice
from .tasks import Summary, left_out, object_mode


@dataclass(frozen=True)
class AnimationExport:
    """What of an armature's motion to write, and how; the export operators declare the same options."""

    what: str = "ACTIVE"  # ACTIVE, CHOSEN, ALL, NLA or SCENE
    actions: str = ""  # names of chosen ones, with commas between
    loop: bool = False
    recompute_bounds: bool = False
    add_origin: bool = False
    frame_rate: float = 0.0  # 0: the action's, else the scene's


def read_animation(row: AnimationFormat, path: Path) -> Animation:
    """Return the animation in a file, called as the file is; raises ModelError."""
    return row.load(read_file(path), path.stem)


def animations_beside(path: Path, row: AnimationFormat, model: SkeletalModel) -> tuple[list[Animation], list[str]]:
    """Return the animations in a model's folder whose joints are the model's, by name, and what is said of others."""
    found, said = [], []
    for file in sorted(path.parent.iterdir(), key=lambda p: p.name.lower()):
        if file.suffix.lower() not in row.suffixes or not file.is_file():
            continue
        try:
            animation = read_animation(row, file)
        except ModelError as error:
            said.append(f"{file.name}: {error}")
            continue
        if not mismatch(model.skeleton, animation):
            found.append(animation)
    return found, said


def import_skeletal(
    path: Path, settings: SkeletalSettings, with_animations: bool, context: Context, into: bpy.types.Collection
) -> tuple[Posed, Summary]:
    """Bring a model, and the animations beside it if asked for, into the scene.

    Raises:
        ModelError: the file can't be read; the .blend is as it was.
    """
    with collected_warnings() as warnings, object_mode(context):
        data = read_file(path)
        row: SkeletalFormat = formats.identify(data, path)
        model = row.load(data, model_name(path))
        animations: list[Animation] = []
        if with_animations:
            animations, said = animations_beside(path, formats.by_name(row.animation), model)
            warnings.extend(said)
        search = SearchPath(path)
        materials = Materials(lambda name: search.find_image(name, DIFFUSE_ENDINGS), pcx.read)
        posed = skeletal.build(model, animations, settings, materials, context.scene, into)
        posed.collection[FILE] = str(path)
        if materials.missing:
            warnings.append(f"{plural(len(materials.missing), 'texture')} not found: {listed(materials.missing)}")
    facts = describe_skeletal(model)
    if with_animations:
        facts += f", {plural(len(animations), 'animation')}"
    return posed, Summary(facts, warnings)


def import_animation(
    paths: list[Path], rig: Any, settings: SkeletalSettings, context: Context, into: bpy.types.Collection
) -> tuple[Any, list[Any], Summary, list[str]]:
    """Bring animations onto an armature, or one made for them; returns it, the actions, and what failed.

    Files that can't be read or don't fit are said; the others are there.
    """
    failed: list[str] = []
    made: list[Any] = []
    with collected_warnings() as warnings, object_mode(context):
        for path in paths:
            try:
                data = read_file(path)
                animation = formats.identify(data, path).load(data, path.stem)
                if rig is None:
                    model = SkeletalModel(path.stem, _rest_of(animation), [])
                    posed = skeletal.build(model, [], settings, Materials(lambda name: None), context.scene, into)
                    rig = posed.armature
                made += skeletal.add_animations(rig, [animation], settings, context.scene)
                settings = replace(settings, fit_range=False, frame_rate=False)  # the scene fits the first
            except ModelError as error:
                failed.append(f"{path.name}: {error}")
        if made:
            play(rig, made[0])
    facts = f"{plural(len(made), 'animation')} on '{rig.name}'" if made else "nothing imported"
    return rig, made, Summary(facts, warnings), failed


def _rest_of(animation: Animation) -> Skeleton:
    """Return the skeleton of an animation in its first frame."""
    positions, rotations = chain(animation.parents, animation.positions[0], animation.rotations[0])
    return Skeleton(list(animation.joint_names), animation.parents, positions, rotations)


def export_skeletal(
    path: Path,
    row: SkeletalFormat,
    chosen: Choice,
    context: Context,
    settings: SkeletalGatherSettings,
    game: str,
    add_origin: bool = False,
) -> Summary:
    """Write an armature and its meshes to a file.

    Raises:
        ModelError: the model can't be written, or the game would refuse it; the file is as it was.
    """
    with collected_warnings() as warnings, object_mode(context):
        model = gather(_whole_model(chosen.blocks, context), context.view_layer, settings)
        if add_origin:
            model = skeleton_with_origin(model)
        warnings.extend(_refused(skeletal_limits.check(model, game)))
        target = in_game_folder(path, game)
        warnings.extend(_said_of_folder(target, path))
        data = row.dump(model)
        _make_folder(target.parent)
        write_file(target, data)
    warnings += left_out(chosen)
    return Summary(describe_skeletal(model), warnings)


def in_game_folder(path: Path, game: str) -> Path:
    """Return where a game wants a file: for some in a folder of its own."""
    folder = skeletal_limits.GAMES[game].folder
    if not folder or path.parent.name.lower() == folder:
        return path
    return path.parent / folder / path.name


def _said_of_folder(target: Path, path: Path) -> list[str]:
    if target.parent == path.parent:
        return []
    return [f"written into the folder '{target.parent.name}', where the game looks for it"]


def _make_folder(path: Path) -> None:
    """Make the folder that a game wants, in one that is there; raises LimitError."""
    try:
        if path.parent.is_dir():
            path.mkdir(exist_ok=True)
    except OSError as error:
        raise LimitError(f"can't make the folder '{path}': {reason(error)}") from error


def _whole_model(blocks: Iterable[Any], context: Context) -> list[Any]:
    """Return objects with the armature that deforms them; an armature alone with the visible meshes that it deforms."""
    found = list(blocks)
    rig = find_rig(found)
    if not any(block.type == "MESH" for block in found):
        found += [block for block in _meshes_of(rig, context) if block.visible_get(view_layer=context.view_layer)]
    return found if rig in found else [rig, *found]


def _refused(problems: list[limits.Problem]) -> list[str]:
    """Return the warnings among problems; raises LimitError for the others."""
    errors = [str(problem) for problem in problems if problem.severity == limits.ERROR]
    if errors:
        raise LimitError(joined(errors))
    return [str(problem) for problem in problems]


def export_animations(
    path: Path,
    row: AnimationFormat,
    chosen: Choice,
    context: Context,
    settings: SkeletalGatherSettings,
    wanted: AnimationExport,
    game: str,
) -> list[tuple[Path, Summary]]:
    """Write an armature's animations: one to `path`, several into its folder under their names.

    Raises:
        ModelError: nothing to write, or one can't be written; files that were there are as they were.
    """
    rig = find_rig(list(chosen.blocks))
    with object_mode(context):
        sources = _sources(rig, wanted, context)
        several = wanted.what not in {"ACTIVE", "SCENE"}
        with collected_warnings():  # here the meshes matter for bounds alone
            blocks, unbound = [rig, *_meshes_of(rig, context)], replace(settings, orphan_bone=_any_bone(rig, settings))
            model = gather(blocks, context.view_layer, unbound)
        done, files = [], []
        called = _file_names([name for name, _ in sources])
        for name, (_, gather_one) in zip(called, sources, strict=True):
            with collected_warnings() as warnings:
                animation = _finished(gather_one(settings), model, wanted)
                warnings.extend(_refused(skeletal_limits.check_animation(animation, game)))
                target = path.with_name(name + row.suffixes[0]) if several else path
                target = in_game_folder(target, game)
                warnings.extend(_said_of_folder(target, path))
                files.append((target, row.dump(animation)))
            facts = f"{plural(animation.num_frames, 'frame')}, {plural(len(animation.joint_names), 'joint')}"
            done.append((target, Summary(facts, warnings)))
        for target, data in files:  # all are made before the first is written
            _make_folder(target.parent)
            write_file(target, data)
    return done


def _finished(animation: Animation, model: SkeletalModel, wanted: AnimationExport) -> Animation:
    if wanted.frame_rate > 0:
        animation.frame_rate = wanted.frame_rate
    animation.keep_bounds = not wanted.recompute_bounds
    set_bounds(animation, model)
    if wanted.loop:
        animation = looped(animation)
    return animation_with_origin(animation) if wanted.add_origin else animation


def _file_names(names_of: list[str]) -> list[str]:
    """Return files' names for animations: without what file systems refuse, each once, whatever its case."""
    found: dict[str, str] = {}
    for name in names_of:
        plain = "".join("_" if c in '<>:"/\\|?*' or ord(c) < 32 else c for c in name).strip(" .") or "animation"
        free, number = plain, 0
        while free.casefold() in found:
            number += 1
            free = f"{plain}.{number:03d}"
        found[free.casefold()] = free
    return list(found.values())


def _meshes_of(rig: Any, context: Context) -> list[Any]:
    found = [b for b in context.scene.objects if b.type == "MESH"]
    return [b for b in found if any(m.type == "ARMATURE" and m.object == rig for m in b.modifiers)]


def _any_bone(rig: Any, settings: SkeletalGatherSettings) -> str:
    """Return a bone for vertices without weights, whose place matters for bounds alone."""
    return next((bone.name for bone in rig.data.bones if bone.use_deform or not settings.deform_only), "")


def _sources(rig: Any, wanted: AnimationExport, context: Context) -> list[tuple[str, Any]]:
    """Return what to write: names, and functions that gather each; raises LimitError."""
    scene, layer = context.scene, context.view_layer
    if wanted.what == "SCENE":
        rate = scene.render.fps / scene.render.fps_base
        frames = np.arange(scene.frame_start, scene.frame_end + 1)
        if not len(frames):
            raise LimitError("the scene's range is empty")
        stretch = motion.Stretch(rig.name, frames, rate)
        return [(rig.name, lambda s: motion.gather_scene(rig, stretch, scene, layer, s))]
    if wanted.what == "NLA":
        return _strip_sources(rig, scene, layer)
    found = _actions(rig, wanted)
    sources = []
    for action in found:
        slot = _slot_of(rig, action)
        name = names.file_name_of(action)
        sources.append((name, lambda s, a=action, t=slot: motion.gather_action(rig, a, t, scene, layer, s)))
    return sources


def _slot_of(rig: Any, action: Any) -> Any:
    """Return the slot of an action that an armature plays, or would play; None where there are none."""
    slots = [slot for slot, kind, _ in action_parts(action) if kind in {"", "OBJECT"}]
    return max(slots, key=lambda slot: slot_claim(rig, action, slot), default=None)


def _actions(rig: Any, wanted: AnimationExport) -> list[Any]:
    animation = rig.animation_data
    if wanted.what == "ACTIVE":
        if animation is None or animation.action is None:
            raise LimitError(f"'{rig.name}' plays no action")
        return [animation.action]
    if wanted.what == "CHOSEN":
        asked = [name.strip() for name in wanted.actions.split(",") if name.strip()]
        missing = [name for name in asked if name not in bpy.data.actions]
        if missing or not asked:
            raise LimitError(f"no action is called {listed(missing)}" if missing else "no action is named")
        return [bpy.data.actions[name] for name in asked]
    kept = (
        [] if animation is None else [s.action for t in animation.nla_tracks for s in t.strips if s.action is not None]
    )
    if animation is not None and animation.action is not None:
        kept.append(animation.action)
    if not kept:
        raise LimitError(f"'{rig.name}' has no action")
    return list(dict.fromkeys(kept))


def _strip_sources(rig: Any, scene: Any, layer: Any) -> list[tuple[str, Any]]:
    animation = rig.animation_data
    tracks = [] if animation is None else [track for track in animation.nla_tracks if not track.mute]
    strips = [(track, strip) for track in tracks for strip in track.strips if not strip.mute]
    if not strips:
        raise LimitError(f"'{rig.name}' has no NLA strip that plays")
    rate = scene.render.fps / scene.render.fps_base
    sources = []
    for track, strip in strips:
        frames = np.arange(int(np.ceil(strip.frame_start)), int(np.floor(strip.frame_end)) + 1)
        stretch = motion.Stretch(strip.name, frames, rate)

        def gather_one(settings: SkeletalGatherSettings, t: Any = track, s: motion.Stretch = stretch) -> Animation:
            with motion.playing_track(rig, t):
                return motion.gather_scene(rig, s, scene, layer, settings)

        sources.append((strip.name, gather_one))
    return sources
