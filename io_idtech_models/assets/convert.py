"""Files to models and files of other formats, whatever their family; without Blender."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .. import formats
from ..formats import MOTION, SKELETAL, VERTEX, Family, Format
from ..formats.common.static import skins_left_out
from ..formats.vertex_files import dump_for, further_left_out
from ..game import aninc
from ..game.store import GameFile
from ..model import bind_pose
from ..model.bake import bake, joints_called_tags
from ..model.bounds import set_bounds
from ..model.edits.matched import moved_by_root, named
from ..model.edits.normals import smoothed
from ..model.edits.short_names import short_animations, short_skeleton
from ..model.edits.split_surfaces import named_apart
from ..model.joint_scales import as_own, skeleton_of, warn_of_lost_scales, without_rest_scale
from ..model.limits.games import ERROR, Problem, refused
from ..model.skeletal import Animation, SkeletalModel, at_rest
from ..reporting import LimitError, collected_warnings, listed, plural
from .export_request import ExportRequest, name_clashes
from .levels import level_files, refuse_others
from .load import Loaded, load, load_animation
from .pictures import with_pictures, without_pictures
from .scale_files import scale_files
from .storage import Target, file_names, holds, write_files

if TYPE_CHECKING:
    from ..model.rigging.rig import RigSettings
    from ..model.vertex import VertexModel

ONLY = "only a skeletal model that becomes a vertex-animated one takes {what}"
ONLY_FRAMES = "only a model of frames that becomes a skeletal one is given a rig"
ONLY_SCALED = "without Blender only what becomes a model of frames takes another size, or other normals"
NAME_ROOM = 63  # bytes of a surface's name, where a format says nothing
COMPANIONS = [other for row in formats.ROWS for other in row.skeletal.companions]


@dataclass(frozen=True)
class Posing:
    """What poses a model that a skeleton moves, where it becomes one that is animated vertex by vertex; or way back."""

    animations: Sequence[GameFile] = ()  # in all their frames, one after another
    tags: Sequence[str] = ()  # joints that become tags
    frames: range | None = None  # the frames chosen of them
    rig: RigSettings | None = None  # how a skeleton is made for a model of frames; None: none is
    frame_rate: float = 0.0  # of frames, where neither they nor their format say one
    motions: Sequence[Animation] = ()  # in place of `animations`, of who has read them already
    scale: float = 1.0  # of what becomes a model of frames: so many times as large
    smooth: bool = False  # its normals are made anew


def problems(loaded: Loaded, game: str) -> list[Problem]:
    """Return what a game, a key of `limits.games.GAMES`, refuses or changes of what a file holds."""
    found = _problems(loaded.row, loaded.content, game)
    if loaded.row.has_model and loaded.row.has_motions:
        found += [problem for animation in loaded.animations for problem in loaded.row.check_motion(animation, game)]
    return found


def _problems(row: Format, thing: Any, game: str) -> list[Problem]:
    return [*row.check(thing, game), *(Problem(ERROR, "", text) for text in row.problems(thing))]


def convert(source: GameFile, asked: ExportRequest, posing: Posing = Posing()) -> str:
    """Convert a file; returns a line that says what came of it.

    A skeletal model becomes a vertex-animated one by `posing` it. Into another skeletal format its animations go along.

    Raises:
        ModelError: the file can't be read, or not become one of that kind, or the game would refuse it.
    """
    to = formats.by_suffix(asked.target)
    if to is None:
        raise LimitError(f"can't write '{asked.target.suffix}'")
    if asked.levels:
        refuse_others(to, asked.target.suffix)
    with collected_warnings() as warnings:
        loaded = load(source, [file for file in posing.animations if formats.by_suffix(file) in COMPANIONS][:1])
        to = formats.kept_format(loaded.row, source, to)
        found = write(loaded, to, asked, posing)
    return "; ".join([found.summary, *warnings, *found.notes])


@dataclass
class Converted:
    """What comes of a file: those to write, what they hold in a few words, and what there is to report."""

    files: list[tuple[Target, bytes]]
    summary: str
    notes: list[str]


def write(loaded: Loaded, to: Format, asked: ExportRequest, posing: Posing) -> Converted:
    """Write what was loaded in a format, and return what came of it; raises ModelError as `convert` does."""
    way = WAYS.get((loaded.row.family, to.family))
    animated = posing.animations or posing.motions
    posed = {"tags": posing.tags, "chosen frames": posing.frames, "animations": animated and to.family is not SKELETAL}
    given = [what for what, value in posed.items() if value]
    if given and way is not _baked:
        raise LimitError(ONLY.format(what=" and ".join(given)))
    if posing.rig is not None and way is not _rigged:
        raise LimitError(ONLY_FRAMES)
    if (posing.scale != 1.0 or posing.smooth) and to.family is not VERTEX:
        raise LimitError(ONLY_SCALED)
    if way is None:
        raise _never(loaded.row, to)
    loaded, notes = _named_apart(loaded, to)
    found = way(loaded, to, asked, posing)
    write_files(found.files)
    return replace(found, notes=notes + found.notes)


def _named_apart(loaded: Loaded, to: Format) -> tuple[Loaded, list[str]]:
    """Return what was loaded, with names that games look up what surfaces wear by, where they said nothing of that."""
    if not loaded.row.has_model or loaded.row.skins == to.skins or to.skins != formats.SKIN_FILES:
        return loaded, []
    model, called = named_apart(loaded.model, to.name_sizes.get("surface") or NAME_ROOM)
    parts: list[Any] = loaded.model.surfaces if loaded.row.family is VERTEX else loaded.model.meshes
    said = [f"'{parts[nth].name}' is now '{name}'" for nth, name in called.items()]
    text = "games look up what surfaces wear by names, so no two are called alike"
    return replace(loaded, model=model), [f"{text}: {listed(said, quoted=False)}"] if said else []


def _baked(loaded: Loaded, to: Format, asked: ExportRequest, posing: Posing) -> Converted:
    """Return what comes of a skeletal model as one that is animated vertex by vertex."""
    motions, notes = _motions(loaded, posing), list[str]()
    if asked.shorten:
        motions, notes = short_animations(motions, to.name_sizes.get("frame"))
    if any(mesh.level for mesh in loaded.model.meshes):
        notes += to.lost_levels()
    called = joints_called_tags(loaded.model) if to.tags and not loaded.row.tags else []
    tags = list(dict.fromkeys((*posing.tags, *called)))
    if not loaded.model.nearest().meshes and not loaded.model.tags and not tags:
        alone = ", it holds animations alone: name it with --anim where their model is converted"
        raise LimitError(f"it has no mesh{alone if motions else ''}")
    found = _vertex_file(loaded, bake(loaded.model.nearest(), motions, tags, posing.frames), to, asked, posing)
    return replace(found, notes=notes + found.notes)


def _vertex_file(loaded: Loaded, model: VertexModel, to: Format, asked: ExportRequest, posing: Posing) -> Converted:
    """Return what comes of a vertex-animated model, its pictures in the file or beside it as the format has them."""
    model = model if posing.scale == 1.0 else model.scaled(posing.scale)
    model = smoothed(model) if posing.smooth else model
    beside: list[tuple[Target, bytes]] = []
    if to.vertex.holds_pictures:
        model = model if loaded.file is None else with_pictures(model, loaded.file)
    elif model.skins and to.vertex.meshes:
        model, beside = without_pictures(model, asked.target, loaded.file)
    written = dump_for(to, model, asked.game, asked.options, asked.shorten)
    levels, notes = level_files(to, written.data, asked.target, asked.levels)
    notes += name_clashes(asked.target, asked.game)
    notes += [f"with {plural(len(beside), 'picture')} beside it"] if beside else []
    beside += [(asked.target.with_suffix(suffix), data) for suffix, data in written.beside.items()]
    files = [(asked.target, written.data), *levels, *beside]
    also = f", {plural(len(levels), 'level')} of detail" if levels else ""
    return Converted(files, to.family.describe(written.model) + also, written.notes + notes)


def _motion_files(loaded: Loaded, to: Format, asked: ExportRequest, posing: Posing) -> Converted:
    """Return what comes of a motion in another format, or in its own."""
    target, game = asked.target, asked.game
    motions, notes = loaded.animations, list[str]()
    if asked.shorten:
        _, motions, notes = short_skeleton(None, motions, to, game)
    (motion,) = motions
    notes += refused(_problems(to, motion, game))
    files = [(target, to.dump(motion)), *scale_files(motion, to, target, game)]
    return Converted(files, to.family.describe(motion), notes)


def _model_of_motion(loaded: Loaded, to: Format, asked: ExportRequest, posing: Posing) -> Converted:
    """Return what comes of a motion in a format whose files hold models, too: joints, and no mesh."""
    if not to.motion.apart:
        raise _never(loaded.row, to)
    first = loaded.animations[0]
    return _skeletal_files(replace(loaded, model=SkeletalModel(first.name, skeleton_of(first), [])), to, asked, posing)


def _motions_of_model(loaded: Loaded, to: Format, asked: ExportRequest, posing: Posing) -> Converted:
    """Return what comes of a model's own motions in a format of these alone: one, or several where it joins them."""
    if not loaded.row.has_motions or not loaded.animations:
        raise LimitError(f"{loaded.row.name.upper()} can't become {to.name.upper()}: its files hold no animations")
    motions, notes = _scaled_for(to, loaded.animations, loaded.model)
    if not motions or (len(motions) > 1 and not to.motion.joins_clips):
        found = f"it has {plural(len(motions), 'animation')}"
        raise LimitError(f"{found}, and {to.name.upper()} holds one: convert the model, with all of them beside it")
    for motion in motions:
        set_bounds(motion, loaded.model)
    if len(motions) == 1:
        done = _motion_files(replace(loaded, animations=motions), to, asked, posing)
    else:
        _, motions, shorter = short_skeleton(None, motions, to, asked.game) if asked.shorten else (None, motions, [])
        done = _files_beside(motions, to, asked)
        done.notes.extend(shorter)
    return replace(done, notes=notes + done.notes)


def _never(row: Format, to: Format) -> LimitError:
    way = "; --rig makes one of the frames" if to.has_model and row.vertex.meshes else ""
    reason = f": that takes a skeleton{way}" if row.family is VERTEX else ""
    return LimitError(f"{row.name.upper()} can't become {to.name.upper()}{reason}")


def _skeletal_files(loaded: Loaded, to: Format, asked: ExportRequest, posing: Posing) -> Converted:
    """Return what comes of a skeletal model and its animations in another format, or in its own."""
    model, row, game = loaded.model, loaded.row, asked.game
    motions = _motions(loaded, posing)
    if row is to and posing.animations and not (to.skeletal.companions or to.has_motions):
        raise LimitError(
            f"a model that stays {to.name.upper()} needs no animations, their files fit it: leave them out"
        )
    notes: list[str] = []
    if not to.skeletal.unmoved_vertices:
        model, unmoved = moved_by_root(model)
        root = next(iter(model.skeleton.names), "")
        notes = [f"'{root}' takes {plural(unmoved, 'vertex', 'vertices')} that no joint moves"] if unmoved else []
        loaded = replace(loaded, model=model)
    if row is not to:
        model, motions = _bound(loaded, to, motions)
        motions, lost = _scaled_for(to, motions, model)
        notes += lost
    if asked.shorten:
        model, motions, shorter = short_skeleton(model, motions, to, game)
        notes += shorter
    return _skeletal_result(model, motions, to, asked, notes)


def _rigged(loaded: Loaded, to: Format, asked: ExportRequest, posing: Posing) -> Converted:
    """Return what comes of a model of frames with a skeleton that is made for it."""
    if posing.rig is None:
        raise _never(loaded.row, to)
    from ..model.rigging.skeletal import to_skeletal

    model, motions, report = to_skeletal(loaded.model, posing.rig, loaded.row.vertex.frame_rate or posing.frame_rate)
    model.tags = model.tags if to.tags else []  # their bones are there, by their names
    notes = [f"a skeleton of {report.sentence(loaded.model.frame_names)}", *further_left_out(to.name, loaded.model)]
    notes += skins_left_out(to.name.upper(), loaded.model)
    if asked.shorten:
        skeletal, motions, shorter = short_skeleton(model, motions, to, asked.game)
        return _skeletal_result(skeletal or model, motions, to, asked, notes + shorter)
    return _skeletal_result(model, motions, to, asked, notes)


def _skeletal_result(
    model: SkeletalModel, motions: list[Animation], to: Format, asked: ExportRequest, notes: list[str]
) -> Converted:
    """Return the files of a skeletal model and its animations."""
    game = asked.game
    notes += refused(_problems(to, model, game))
    notes += to.lost(model)
    model = model if to.skeletal.levels else model.nearest()
    for animation in motions:
        set_bounds(animation, model)
    own, beside = (motions, []) if to.has_motions else ([], motions)
    notes += [note for animation in own for note in refused(to.check_motion(animation, game))]
    files = [(asked.target, to.dump(model, asked.options, own))]
    notes += to.runs(own)
    if beside and to.skeletal.animation is not None:
        found = _files_beside(beside, to.skeletal.animation, asked)
        files += found.files
        notes += [*found.notes, f"with {plural(len(found.files), 'file')} of animations"]
    summary = to.family.describe(model) + (f", {plural(len(own), 'animation')}" if to.has_motions else "")
    return Converted(files, summary, notes)


def _files_beside(motions: list[Animation], row: Format, asked: ExportRequest) -> Converted:
    """Return the files of a model's animations that lie beside it: one each, or one for all and a table of them."""
    target, game = asked.target, asked.game
    notes = [note for motion in motions for note in refused(_problems(row, motion, game))]
    frames = plural(sum(motion.num_frames for motion in motions), "frame")
    summary = f"{plural(len(motions), 'animation')}, {frames}"
    files: list[tuple[Target, bytes]] = []
    if row.motion.joins_clips:
        for motion in motions:
            warn_of_lost_scales(motion)
        files.append((target.with_suffix(row.suffixes[0]), row.dump_joined(motions)))
        if len(motions) > 1:
            files.append((target.with_suffix(".aninc"), _table(motions)))
        return Converted(files, summary, notes)
    for name, motion in zip(file_names([motion.name for motion in motions]), motions, strict=True):
        place = target.with_name(name + row.suffixes[0])
        files += [(place, row.dump(motion)), *scale_files(motion, row, place, game)]
    replaced = [place.name for place, data in files if _is_other(place, data)]
    notes += [f"what was there is written over: {listed(replaced)}"] if replaced else []
    return Converted(files, summary, notes)


def _is_other(place: Target, data: bytes) -> bool:
    """Tell whether a file is there, of other content."""
    try:
        return place.is_file() and not holds(place, data)
    except OSError:
        return False


def _bound(loaded: Loaded, to: Format, motions: list[Animation]) -> tuple[SkeletalModel, list[Animation]]:
    """Return a model in a pose that another format can bind it in, and animations, one at least if that asks for bones.

    Raises:
        LimitError: its bones lie in a file that is not there.
    """
    model = loaded.model
    if loaded.row.skeletal.bind_pose_missing:
        if loaded.animation is None:
            raise LimitError("its bones lie in another file, which was not found: name it with --anim")
        model = bind_pose.fitted(model, model.skeleton.bind, bind_pose.mean_places(loaded.animation.positions))
    needed = to.skeletal.companions or (to.has_motions and not to.motion.apart)
    return model, motions or ([at_rest(model.skeleton, model.name)] if needed else [])


def _scaled_for(to: Format, motions: list[Animation], model: SkeletalModel | None) -> tuple[list[Animation], list[str]]:
    """Return animations whose joints are scaled as a format has it, and what is lost of that."""
    found, notes = [], []
    for motion in motions:
        bound = named(motion if model is None else without_rest_scale(motion, model.skeleton))
        own, lost = (bound, False) if to.skeletal.stretches else as_own(bound)
        notes += [f"'{motion.name}': uneven scale of joints is lost"] if lost else []
        found.append(own)
    return found, notes


def _table(motions: list[Animation]) -> bytes:
    rows, first = [], 0
    for motion in motions:
        rows.append(aninc.Row(motion.name, first, motion.num_frames, fps=round(motion.frame_rate, 2)))
        first += motion.num_frames
    return aninc.write_rows(rows).encode("utf-8")


def _motions(loaded: Loaded, posing: Posing) -> list[Animation]:
    """Return the animations of a model: those named, or those of its own file; raises ModelError, which names a file.

    It is not the one that is converted.
    """
    if posing.motions:
        return list(posing.motions)
    if loaded.row.has_motions and not posing.animations:
        return loaded.animations
    first = loaded.animation
    return [
        first if first is not None and file == loaded.bones else load_animation(file, loaded.row)
        for file in posing.animations
    ]


Way = Callable[[Loaded, Format, ExportRequest, Posing], Converted]
WAYS: dict[tuple[Family, Family], Way] = {
    (VERTEX, VERTEX): lambda loaded, to, asked, posing: _vertex_file(loaded, loaded.model, to, asked, posing),
    (VERTEX, SKELETAL): _rigged,
    (SKELETAL, VERTEX): _baked,
    (SKELETAL, SKELETAL): _skeletal_files,
    (MOTION, MOTION): _motion_files,
    (MOTION, SKELETAL): _model_of_motion,
    (SKELETAL, MOTION): _motions_of_model,
}
