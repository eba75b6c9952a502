"""Armatures to files: what operators, collection exporters and the command line share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ... import formats
from ...assets.asked import Asked
from ...assets.beside import scale_files, warn_of_lost_scales
from ...assets.storage import write_files
from ...blender.compat import Context
from ...blender.skeletal.gather_rig import find_rig, gather
from ...blender.skeletal.rig_scene import Holds, RigScene, SkeletalGatherSettings, rig_scene
from ...blender.skeletal.selfcheck import Motion, differences, lone_pose
from ...blender.skeletal.torso import remember_weights
from ...blender.space.hanging import in_space
from ...blender.window import object_mode
from ...formats import Format
from ...model.bounds import set_bounds
from ...model.edits.matched import animation_with_origin, skeleton_with_origin
from ...model.edits.short_names import short_skeleton
from ...model.limits.games import GAMES, refused
from ...model.skeletal import Animation, SkeletalModel, looped
from ...model.wording import describe_skeletal, listed, plural
from ...reporting import LimitError, Summary, collected_warnings, reason
from ..import_ import aninc as animation_tables
from . import levels as rig_levels
from . import motions
from .advice import advice, of_size
from .selection import Choice, left_out, taken_along, unselected_tags
from .skin_files import skin_files


@dataclass(frozen=True)
class ModelExport:
    """What of a skeletal model to write besides; the export operators declare the same options."""

    add_origin: bool = False
    write_animation: bool = False  # the file with its bones, too, beside: what the armature plays, or its rest
    motions: str = "ALL"  # of a format whose files hold motions, too: AUTO, ACTIVE, ALL, NLA, SCENE or REST


@dataclass(frozen=True)
class AnimationExport:
    """What of an armature's motion to write, and how; the export operators declare the same options."""

    what: str = "AUTO"  # AUTO, ACTIVE, CHOSEN, ALL, NLA, SCENE or REST
    actions: str | tuple[str, ...] = ""  # names of chosen ones, or a text of them with commas between
    loop: bool = False
    recompute_bounds: bool = False
    add_origin: bool = False
    frame_rate: float = 0.0  # 0: the action's, else the scene's


Finish = Callable[[motions.Source], Animation]
Compare = Callable[[list[Animation], list[motions.Source], bytes], list[str]]  # with what is shown, in sentences
Made = tuple[
    list[tuple[Path, Summary]], list[tuple[Path, bytes]]
]  # what there is to report of each file, and the files


def export_skeletal(
    asked: Asked,
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
    own_space = in_space(settings.space, chosen.whole, context.view_layer)
    with object_mode(context), own_space as note:
        summary = _export_model(asked, row, chosen, context, settings, more)
    summary.warnings += [note] if note else []
    return summary


def _export_model(
    asked: Asked, row: Format, chosen: Choice, context: Context, settings: SkeletalGatherSettings, more: ModelExport
) -> Summary:
    path, game = asked.target, asked.game
    with collected_warnings() as record_warnings:
        export = rig_scene(context.scene, context.view_layer, settings, find_rig(list(chosen.blocks)))
    done, files = _bones_of(asked, row, export, context) if more.write_animation else ([], [])
    blocks = whole_model(chosen.blocks, context)
    with collected_warnings() as warnings, object_mode(context), rig_levels.shown(export.rig, row, context) as levels:
        export = of_format(export, row)
        gathered = model = gather([*blocks, *levels], export)
        sources = _own_sources(row, export, more) if row.has_motions else []
        animations = _own_motions(sources, model, more)
        if more.add_origin:
            model = skeleton_with_origin(model)
        if asked.shorten:
            shorter, animations, notes = short_skeleton(model, animations, row, game)
            model = shorter or model
            warnings.extend(notes)
        warnings.extend(row.lost(model))
        warnings.extend(refused([*row.check(model, game), *(p for a in animations for p in row.check_motion(a, game))]))
        target = in_game_folder(path, game)
        skins = skin_files(replace(asked, target=target), blocks)
        data = row.dump(model, asked.options, animations)
        played = _played(sources, animations, row, data) if row.has_motions else []
        warnings[:0] = differences(export, gathered, played or motions.shown_by(export, row))  # what matters most
        if row.has_motions and not played and more.motions != "REST":
            warnings.extend(lone_pose(export, gathered))
        _write([(target, data), *files, *skins])
        remember_weights(export.rig, settings)
    warnings = [*record_warnings, *warnings, *advice(blocks, row, settings.scale), *_not_written(chosen, export, row)]
    if row.skeletal.animation and not more.write_animation:
        warnings += of_size(model.skeleton, model.source, "its animations, exported anew,")
    warnings += [f"{file.name}: {summary}" for file, summary in done if summary.warnings]
    moved = f", {plural(len(animations), 'animation')}" if row.has_motions else ""
    beside = [f"{file.name}: {summary}" for file, summary in done if not summary.warnings]
    notes = [*beside, *_folder_notes(target, path), *taken_along(chosen)]
    return Summary(describe_skeletal(model) + moved, warnings, notes)


def of_format(export: RigScene, row: Format) -> RigScene:
    """Return what an export looks at where only what a format has is asked for."""
    kind, named = row.skeletal, row.skins == formats.SKIN_FILES
    normals = export.settings.normals if kind.normals else "NONE"
    holds = Holds(kind.colors, kind.unmoved_vertices, worn_by_name=named, stretches=kind.stretches)
    return export.asking(normals=normals, holds=holds)


def _not_written(chosen: Choice, export: RigScene, row: Format) -> list[str]:
    """Return what is there and not written, in sentences."""
    tags = unselected_tags(chosen, bones=False) if row.tags else []
    return [*left_out(chosen), *rig_levels.lost(export.rig, row), *tags]


def _own_sources(row: Format, export: RigScene, more: ModelExport) -> list[motions.Source]:
    """Return the motions that go into a model's own file; what moves it else, or its rest, where it has no action."""
    try:
        return motions.sources(export, row, more.motions, "")
    except motions.NoActionError:
        moves = motions.automatic(export) == "SCENE"
        return [] if row.motion.apart and not moves else motions.sources(export, row, "SCENE" if moves else "REST", "")


def _own_motions(sources: list[motions.Source], model: SkeletalModel, more: ModelExport) -> list[Animation]:
    wanted = AnimationExport(add_origin=more.add_origin)
    return [_finished(source.gather(), model, wanted) for source in sources]


def _played(sources: list[motions.Source], animations: list[Animation], row: Format, data: bytes) -> list[Motion]:
    """Return motions as a file has them, and how the scene shows each: to be compared.

    Text holds numbers as they are, and takes as long to read as to write.
    """
    written = animations
    if not row.is_text and not all(Motion("", nullcontext, a.positions, a).is_proven for a in animations):
        found = row.unpack(row.read(data), "").animations
        if len(found) == len(animations):
            written = [_as_coded(*pair) for pair in zip(animations, found, strict=True)]
    pairs = zip(sources, written, strict=True)
    return [Motion(s.name, s.play, a.times, a) for s, a in pairs if a.times is not None]


def _as_coded(animation: Animation, found: Animation) -> Animation:
    """Return an animation with the poses that its file has."""
    if found.positions.shape != animation.positions.shape:
        return animation
    return replace(animation, positions=found.positions, rotations=found.rotations, scales=found.scales)


def _bones_of(asked: Asked, row: Format, export: RigScene, context: Context) -> Made:
    """Return what comes of the bones of a model; raises ModelError."""
    other = row.skeletal.companions[0]
    with collected_warnings() as notes:
        wanted = AnimationExport(what=motions.automatic(export))
    beside = Asked(asked.target.with_suffix(other.suffixes[0]), asked.game)
    done, files = _made(beside, other, export, context, wanted)
    done[-1][1].warnings.extend(notes)
    return done, files


def _write(files: list[tuple[Path, bytes]]) -> None:
    """Write files, all or none, into folders that a game may want; raises ModelError."""
    for folder in {target.parent: None for target, _ in files}:
        _make_folder(folder)
    write_files(files)


def in_game_folder(path: Path, game: str) -> Path:
    """Return where a game wants a file: for some in a folder of its own."""
    folder = GAMES[game].folder
    if not folder or path.parent.name.lower() == folder:
        return path
    return path.parent / folder / path.name


def _folder_notes(target: Path, path: Path) -> list[str]:
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


def whole_model(blocks: Iterable[Any], context: Context) -> list[Any]:
    """Return objects with the armature that deforms them; an armature alone with what is visible of its model."""
    found = rig_levels.nearest(blocks)
    rig = find_rig(found)
    if not any(block.type == "MESH" for block in found):
        tags = [b for b in context.scene.objects if b.type == "EMPTY" and b.parent == rig and b.parent_type == "BONE"]
        model = [*_meshes_of(rig, context), *(tag for tag in tags if tag not in found)]
        found += [block for block in model if block.visible_get(view_layer=context.view_layer)]
    return found if rig in found else [rig, *found]


def export_animations(
    asked: Asked,
    row: Format,
    chosen: Choice,
    context: Context,
    settings: SkeletalGatherSettings,
    wanted: AnimationExport,
) -> list[tuple[Path, Summary]]:
    """Write an armature's animations: one to a file, several into its folder under their names.

    Chosen ones of a format that joins all go to the file, and what each is of it into a table beside.

    Raises:
        ModelError: nothing to write, or one can't be written; files that were there are as they were.
    """
    with collected_warnings() as record_warnings:
        export = rig_scene(context.scene, context.view_layer, settings, find_rig(list(chosen.blocks)))
    own_space = in_space(settings.space, [export.rig], context.view_layer)
    with object_mode(context), own_space as note:
        done, files = _made(asked, row, export, context, wanted, alone=True)
    done[-1][1].warnings.extend([*record_warnings, *([note] if note else [])])
    _write(files)
    return done


def _made(
    asked: Asked, row: Format, export: RigScene, context: Context, wanted: AnimationExport, alone: bool = False
) -> Made:
    """Return what comes of an armature's animations, `alone` if its model is not written; see `export_animations`."""
    with object_mode(context):
        export = of_format(export, row)
        with collected_warnings() as source_warnings:
            sources = motions.sources(export, row, wanted.what, wanted.actions)
        with collected_warnings():  # here the meshes matter for bounds alone
            blocks = [export.rig, *_meshes_of(export.rig, context)]
            orphans = _orphans_bone(export.rig, export.settings)
            model = gather(blocks, export.asking(orphan_bone=orphans, normals="NONE"), measured=False)
        if alone and not row.has_model:
            source_warnings.extend(of_size(model.skeleton, model.source, "the model, exported anew,"))

        def finish(source: motions.Source) -> Animation:
            return _finished(source.gather(), model, wanted)

        def compare(animations: list[Animation], whose: list[motions.Source], data: bytes) -> list[str]:
            return differences(export, model, _played(whose, animations, row, data), meshes=False)

        if row.has_model:
            animations = [finish(source) for source in sources]
            done, files = _in_one(asked, row, animations, model)
            done[0][1].warnings.extend(compare(animations, sources, files[0][1]))
        elif row.motion.joins_clips and wanted.what in {"CHOSEN", "NLA"}:
            done, files = _joined(asked, row, sources, finish, compare)
        else:
            several = wanted.what not in {"AUTO", "ACTIVE", "REST", "SCENE"}
            done, files = _one_each(asked, row, sources, several, finish, compare)
        done[-1][1].warnings.extend(source_warnings)
        return done, files


def _in_one(asked: Asked, row: Format, animations: list[Animation], model: SkeletalModel) -> Made:
    """Return what comes of animations in one file of a format whose files hold models, too: without the meshes."""
    path, game = asked.target, asked.game
    with collected_warnings() as warnings:
        warnings.extend(refused([p for each in animations for p in row.check_motion(each, game)]))
        data = row.dump(SkeletalModel(path.stem, model.skeleton, []), asked.options, animations)
    facts = f"{plural(len(animations), 'animation')}, {plural(len(animations[0].joint_names), 'joint')}"
    return [(path, Summary(facts, warnings))], [(path, data)]


def _one_each(
    asked: Asked, row: Format, sources: list[motions.Source], several: bool, finish: Finish, compare: Compare
) -> Made:
    """Return what comes of each animation in a file of its own; `several` go into the folder under their names."""
    path, game = asked.target, asked.game
    done, files = [], []
    for name, source in zip(_file_names([source.name for source in sources]), sources, strict=True):
        with collected_warnings() as warnings:
            animation = finish(source)
            warnings.extend(refused(row.check(animation, game)))
            data = row.dump(animation)
            warnings.extend(compare([animation], [source], data))
            target = in_game_folder(path.with_name(name + row.suffixes[0]) if several else path, game)
            files.append((target, data))
            files += scale_files(animation, row, target, game)
        facts = f"{plural(animation.num_frames, 'frame')}, {plural(len(animation.joint_names), 'joint')}"
        facts += f" of '{source.name}'" if row.motion.joins_clips else ""
        done.append((target, Summary(facts, warnings, _folder_notes(target, path))))
    return done, files


def _joined(asked: Asked, row: Format, sources: list[motions.Source], finish: Finish, compare: Compare) -> Made:
    """Return what comes of several animations in one file: the summary, and the files with the table of them."""
    path, game = asked.target, asked.game
    with collected_warnings() as warnings:
        animations, rows, first = [], [], 0
        for source in sources:
            animation = finish(source)
            animations.append(animation)
            rows.append(animation_tables.row_of(source.action, animation, first, game))
            first += animation.num_frames
            warn_of_lost_scales(animation)
        warnings.extend(refused([problem for each in animations for problem in row.check(each, game)]))
        data = row.dump_joined(animations)
        warnings.extend(compare(animations, sources, data))
    table = path.with_suffix(animation_tables.SUFFIX)
    facts = f"{plural(first, 'frame')}: {listed([s.name for s in sources])} one after another, and '{table.name}'"
    return [(path, Summary(facts, warnings))], [(path, data), (table, animation_tables.table_text(rows))]


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
    found = [b for b in rig_levels.nearest(context.scene.objects) if b.type == "MESH"]
    return [b for b in found if any(m.type == "ARMATURE" and m.object == rig for m in b.modifiers)]


def _orphans_bone(rig: Any, settings: SkeletalGatherSettings) -> str:
    """Return a bone for vertices without weights, whose place matters for bounds alone: the one asked for, or any."""
    present = [bone.name for bone in rig.data.bones if bone.use_deform or not settings.deform_only]
    return settings.orphan_bone if settings.orphan_bone in present else next(iter(present), "")
