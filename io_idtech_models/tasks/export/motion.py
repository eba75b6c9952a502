"""An armature's motions to files: what operators, collection exporters and the command line share."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import formats
from ...assets.export_request import ExportRequest
from ...assets.scale_files import scale_files
from ...assets.storage import file_names
from ...blender.compat import Context
from ...blender.hanging import in_space
from ...blender.linked import is_linked
from ...blender.playback import at_begin
from ...blender.provenance import FILE, give_file, owns_file, unit_of
from ...blender.rig_settling import settle_near
from ...blender.scene import bending
from ...blender.skeletal.gather import find_rig, gather
from ...blender.skeletal.rig_scene import Holds, RigScene, SkeletalGatherSettings, rig_scene
from ...blender.skeletal.selfcheck import Motion, differences
from ...blender.unkeyed import left_alone, say_unkeyed
from ...blender.window import object_mode
from ...formats import Format
from ...game.aninc import Row
from ...game.store import plain_path
from ...model.bounds import set_bounds
from ...model.edits.matched import animation_with_origin, skeleton_with_origin
from ...model.joint_scales import warn_of_lost_scales, without_rest_scale
from ...model.limits.games import GAMES, NO_GAME, refused
from ...model.skeletal import Animation, SkeletalModel, looped, size_of
from ...model.transforms import multiply
from ...reporting import Summary, collected_warnings, listed, plural
from ..import_ import aninc as animation_tables
from . import levels as rig_levels
from .advice import of_bones_beside, of_unit
from .motion_sources import Source, sources_of
from .near import KINDS, together
from .selection import Choice
from .tables import Table, warn_of_kept, warn_of_rows, warn_of_rows_beyond, whole_file, with_rows
from .targets import folder_notes, in_game_folder, write_into_folders

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class AnimationExport:
    """What of an armature's motion to write, and how; the export operators declare the same options."""

    what: str = "AUTO"  # AUTO, ACTIVE, FILE, CHOSEN, ALL, NLA, SCENE or REST
    actions: str | tuple[str, ...] = ""  # names of chosen ones, or a text of them with commas between
    loop: bool = False
    recompute_bounds: bool = False
    add_origin: bool = False
    frame_rate: float = 0.0  # 0: the action's, else the scene's
    # What only who calls this knows:
    with_model: bool = False  # which is written as well, into a file of its own
    also: tuple[Any, ...] = ()  # actions that are the armature's as well, though it plays others at this moment


@dataclass
class ExportedFiles:
    """What comes of an export: the bytes of each file, and what there is to say of those that are reported."""

    data: dict[Path, bytes] = field(default_factory=dict)
    summaries: dict[Path, Summary] = field(default_factory=dict)
    homes: dict[Any, Path] = field(default_factory=dict)  # of actions that are a file each
    added: dict[Any, Any] = field(
        default_factory=dict
    )  # actions that are rows now, and that of all frames of their file

    def said(self, odd: bool) -> list[str]:
        """Return what there is to say of the files of which there is something odd, or of the others."""
        return [f"{file.name}: {summary}" for file, summary in self.summaries.items() if summary.is_odd == odd]

    def remember(self) -> None:
        """Note on actions without a file of their own what they are of by now, for Export Again: once it is written."""
        for action in {**self.homes, **self.added}:
            if is_linked(action) or animation_tables.is_part(action):
                continue
            if isinstance(action.get(FILE), str) and owns_file(action):
                continue
            if action in self.homes:
                give_file(action, str(self.homes[action]))
            else:
                animation_tables.make_part(action, self.added[action])

    def warn(self, warnings: Iterable[str]) -> None:
        """Say something more of the last file."""
        list(self.summaries.values())[-1].warnings.extend(warnings)


def export_animations(
    asked: ExportRequest,
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
        settle_near([export.rig])
    own_space = in_space(settings.space, [export.rig], context.view_layer)
    with left_alone(context), object_mode(context):
        with collected_warnings() as unkeyed:
            if wanted.what != "REST":
                say_unkeyed([export.rig], context.scene)
        with at_begin([export.rig], context.scene), own_space as notes:
            exported = motion_files(asked, row, export, context, wanted)
    exported.warn([*unkeyed, *record_warnings, *notes])
    write_into_folders(exported.data)
    exported.remember()
    return list(exported.summaries.items())


def motion_files(
    asked: ExportRequest,
    row: Format,
    export: RigScene,
    context: Context,
    wanted: AnimationExport,
    written: Sequence[Any] | None = None,
) -> ExportedFiles:
    """Return what comes of an armature's animations; see `export_animations`.

    `written` are the objects of the model that they lie beside, None if it is not written. Bounds hold these, too.
    """
    with object_mode(context):
        export = of_format(export, row)
        with collected_warnings() as warnings:
            sources = sources_of(export, row, wanted.what, wanted.actions)
            if wanted.what != "REST" and row.motion.joins_clips:
                warn_of_kept(export.rig)
        model = _bounded(export, context, written or ())
        if written is None and not (row.has_model or wanted.with_model):
            warnings.extend(of_bones_beside(model, "the model, exported anew,", named=not row.motion.joins_clips))
        if written is None and row.has_model:
            warnings.extend(of_unit({export.rig.name: unit_of(export.rig)}, export.settings.scale))
        motion = _MotionExport(asked, row, export, model, sources, wanted)
        if row.has_model:
            exported = motion.in_one_file()
        elif row.motion.joins_clips and wanted.what in {"CHOSEN", "NLA"}:
            exported = motion.joined()
        else:
            exported = motion.one_file_each(several=wanted.what not in {"AUTO", "ACTIVE", "FILE", "REST", "SCENE"})
        exported.warn(warnings)
        return exported


def _bounded(export: RigScene, context: Context, written: Sequence[Any]) -> SkeletalModel:
    """Return the model of an armature whose meshes matter for bounds alone: all that show its bones' motion."""
    meshes = dict.fromkeys(b for b in (*moved_by(export.rig, context), *written) if b.type == "MESH")
    with collected_warnings():
        orphans = _orphans_bone(export.rig, export.settings)
        return gather([export.rig, *meshes], export.asking(orphan_bone=orphans, normals="NONE"), measured=False)


@dataclass(frozen=True, eq=False)
class _MotionExport:
    """Motions of an armature on their way into files; each way of writing them raises LimitError."""

    asked: ExportRequest
    row: Format
    export: RigScene
    model: SkeletalModel
    sources: Sequence[Source]
    wanted: AnimationExport

    def in_one_file(self) -> ExportedFiles:
        """Return all in a file of a format whose files hold models, too: without the meshes."""
        path, row = self.asked.target, self.row
        with collected_warnings() as warnings:
            animations = [finished(source.gather(), self.model, self.wanted) for source in self.sources]
            problems = [p for each in animations for p in row.check_motion(each, self.asked.game)]
            warnings.extend(refused(problems))
            bare = SkeletalModel(path.stem, self.model.skeleton, [])
            bare = skeleton_with_origin(bare) if self.wanted.add_origin else bare
            data = row.dump(bare, self.asked.options, animations)
            warnings.extend(self._shown_otherwise(animations, self.sources, data, [None] * len(animations)))
        facts = f"{plural(len(animations), 'animation')}, {plural(len(animations[0].joint_names), 'joint')}"
        return ExportedFiles({path: data}, {path: Summary(facts, warnings)})

    def one_file_each(self, several: bool) -> ExportedFiles:
        """Return each in a file of its own; `several` go into the folder under their names."""
        path, row, game = self.asked.target, self.row, self.asked.game
        exported = ExportedFiles()
        for name, source in zip(file_names([source.name for source in self.sources]), self.sources, strict=True):
            target = in_game_folder(path.with_name(name + row.suffixes[0]) if several else path, game)
            with collected_warnings() as warnings:
                animation, table = self._finished(source, target)
                warnings.extend(refused(row.check(animation, game)))
                exported.data[target] = row.dump(animation)
                warnings.extend(self._shown_otherwise([animation], [source], exported.data[target], [table]))
                exported.data.update(scale_files(animation, row, target, game))
                beside = self._table_beside(target, source, animation, table) if row.motion.joins_clips else {}
                exported.data.update(beside)
            facts = f"{plural(animation.num_frames, 'frame')}, {plural(len(animation.joint_names), 'joint')}"
            facts += f" of '{source.name}'" if row.motion.joins_clips or name != source.name else ""
            facts += "".join(f", and '{file.name}'" for file in beside)
            exported.summaries[target] = Summary(facts, warnings, folder_notes(target, path))
            if source.action is not None:
                exported.homes[source.action] = target
        return exported

    def _table_beside(
        self, target: Path, source: Source, animation: Animation, table: Table | None
    ) -> dict[Path, bytes]:
        """Return the table to write beside a file, if it is to say something else; warn of rows beyond the frames.

        Where the file did not come from it says something else than nothing.
        """
        if table is not None:
            place, text = target.with_suffix(animation_tables.SUFFIX), animation_tables.table_text(table.rows)
            if place.is_file() and place.read_bytes() == text:
                return {}
            table.say_gone(target.name)
            is_home = source.action is not None and plain_path(str(source.action.get(FILE, ""))) == plain_path(target)
            # Where a table lies that says otherwise an edit was taken back.
            return {place: text} if table.is_edited or place.is_file() or not is_home else {}
        warn_of_rows_beyond(target, self.row, animation.num_frames)
        if self.wanted.what in {"AUTO", "SCENE"} and self.sources[0].action is None:
            warn_of_rows(self.export.rig)
        return {}

    def joined(self) -> ExportedFiles:
        """Return all one after another in one file, and beside it the table that says which frames are which.

        The action of all frames of a file brings the rows of its own table.
        """
        path, row, game = self.asked.target, self.row, self.asked.game
        with collected_warnings() as warnings:
            animations, tables, own, first = [], list[Table | None](), list[Row](), 0
            runs: list[list[Row]] = []
            sources = self._apart()
            for source in sources:
                animation, table = self._finished(source, path)
                animations.append(animation)
                tables.append(table)
                if table is None:
                    own.append(animation_tables.row_of(source.action, animation, first, game, source.name))
                    runs.append(own[-1:])
                else:
                    table.say_gone(path.name)
                    runs.append([replace(each, first=each.first + first) for each in table.rows])
                first += animation.num_frames
                warn_of_lost_scales(animation)
            warnings.extend(refused([problem for each in animations for problem in row.check(each, game)]))
            data = row.dump_joined(animations)
            warnings.extend(self._shown_otherwise(animations, sources, data, tables))
        animation_tables.drop_repeated_comments(own)
        table_file = path.with_suffix(animation_tables.SUFFIX)
        called = listed([source.name for source in sources])
        how = f" of {called}" if len(sources) == 1 else f": {called} one after another"
        facts = f"{plural(first, 'frame')}{how}, and '{table_file.name}'"
        return ExportedFiles(
            {path: data, table_file: animation_tables.joined_text(runs)},
            {path: Summary(facts, warnings)},
            added=self._added(sources, tables),
        )

    def _added(self, sources: Sequence[Source], tables: Sequence[Table | None]) -> dict[Any, Any]:
        """Return which actions are rows from now on of the file of all frames that they were written into."""
        wholes = [source.action for source, table in zip(sources, tables, strict=True) if table is not None]
        if self.wanted.what != "CHOSEN" or len(wholes) != 1 or Path(str(wholes[0].get(FILE))) != self.asked.target:
            return {}
        return {source.action: wholes[0] for source in sources if source.action != wholes[0]}

    def _apart(self) -> list[Source]:
        """Return the sources without rows of files of which all frames are among them."""
        if self.wanted.what == "NLA":
            return list(self.sources)
        wholes = [source.action for source in self.sources if animation_tables.table_of(source.action)]
        return [source for source in self.sources if animation_tables.whole_of(source.action, wholes) is None]

    def _finished(self, source: Source, target: Path) -> tuple[Animation, Table | None]:
        """Return a motion as it is to be written, and what a table is to say that takes its frames apart."""
        gathered, table = source.gather(), None
        if self.row.motion.joins_clips and source.action is not None and self.wanted.what != "NLA":
            whole = whole_file(self.export.rig, source.action, target, self.wanted.also)
            if whole is not None:
                gathered, table = with_rows(self.export, self.model, self.row, self.asked.game, whole, gathered)
        if table is not None and self.wanted.frame_rate > 0:
            table = table.at_rate(self.wanted.frame_rate)
        return finished(gathered, self.model, self.wanted), table

    def _shown_otherwise(
        self, animations: list[Animation], sources: Sequence[Source], data: bytes, tables: Sequence[Table | None]
    ) -> list[str]:
        """Return what the scene shows otherwise than a file's bytes have it, in sentences."""
        motions = played(sources, animations, self.row, data, self.model)
        edited = {source.name: table for source, table in zip(sources, tables, strict=True) if table is not None}
        apart = [edited[m.name].motions(self.export.rig, m) if m.name in edited else [m] for m in motions]
        return differences(self.export, self.model, chain.from_iterable(apart), meshes=False)


def of_format(export: RigScene, row: Format) -> RigScene:
    """Return what an export looks at where only what a format has is asked for."""
    normals = export.settings.normals if row.skeletal.normals else "NONE"
    named = row.skins == formats.SKIN_FILES
    most, held = export.settings.most_weights, getattr(GAMES[NO_GAME].formats[row.name], "vertex_weights", None) or 0
    holds = Holds(
        row.skeletal.colors,
        row.skeletal.unmoved_vertices,
        worn_by_name=named,
        stretches=row.skeletal.stretches,
        one_length=row.skeletal.one_length or row.motion.one_length,
        weights=held,
        format=row.name,
    )
    return export.asking(normals=normals, holds=holds, most_weights=min(most or held, held) if held else most)


def moved_by(rig: Any, context: Context) -> list[Any]:
    """Return the meshes that an armature deforms and what hangs on it, but for levels that are drawn from afar."""
    bent = [b for b in rig_levels.nearest(context.scene.objects) if b.type == "MESH" and rig in bending(b)]
    hung = [block for block in together(context, [rig]) if block.type in KINDS]
    return list(dict.fromkeys([*bent, *hung]))


def _orphans_bone(rig: Any, settings: SkeletalGatherSettings) -> str:
    """Return a bone for vertices without weights, whose place matters for bounds alone: the one asked for, or any."""
    present = [bone.name for bone in rig.data.bones if bone.use_deform or not settings.deform_only]
    return settings.orphan_bone if settings.orphan_bone in present else next(iter(present), "")


def finished(animation: Animation, model: SkeletalModel, wanted: AnimationExport) -> Animation:
    """Return an animation that was gathered as it is to be written, with bounds of its model."""
    if wanted.frame_rate > 0:
        animation.frame_rate = wanted.frame_rate
    animation.keep_bounds = not wanted.recompute_bounds
    set_bounds(animation, model)
    rest = model.skeleton
    size = size_of(animation, rest.positions - rest.positions[rest.parents])
    if size != 1.0:
        text = "'%s' has bones %.4g times as far apart as they are at rest (was it imported at another Scale?)"
        log.warning(text, animation.name, size)
    if wanted.loop:
        animation = looped(animation)
    return animation_with_origin(animation) if wanted.add_origin else animation


def played(
    sources: Sequence[Source], animations: list[Animation], row: Format, data: bytes, model: SkeletalModel
) -> list[Motion]:
    """Return motions as a file with a model has them, and how the scene shows each: to be compared.

    Text holds numbers as they are, and takes as long to read as to write.
    """
    written, bones = animations, model.skeleton.names
    if not row.is_text and not all(Motion("", nullcontext, a.positions, a).is_proven for a in animations):
        found = row.unpack(row.read(data), "").animations
        # A file without joints holds their scale at rest in its poses.
        found = [without_rest_scale(a, model.skeleton) if len(a.parents) == len(bones) else a for a in found]
        by_name = {each.name: each for each in found}
        same = len(by_name) == len(found) and {each.name for each in animations} == by_name.keys()
        if same:  # though in another order
            found = [by_name[each.name] for each in animations]
        if len(found) == len(animations):
            turns = row.turns(model, animations)
            written = [_as_coded(*pair, turns) for pair in zip(animations, found, strict=True)]
    pairs = zip(sources, written, strict=True)
    return [Motion(s.name, s.play, a.times, a) for s, a in pairs if a.times is not None]


def _as_coded(animation: Animation, found: Animation, turns: NDArray[Any] | None) -> Animation:
    """Return an animation with the poses that its file has, and what these hang on there: MDR keeps no parents.

    Joints without parents may be turned there: see `Format.turns`.
    """
    own = np.arange(len(animation.joint_names))
    more = len(found.joint_names) - len(own)
    if found.num_frames != animation.num_frames or more < 0:
        return animation
    if more and found.joint_names[: len(own)] != animation.joint_names:
        return animation  # else joints of tags lie behind the others
    parents, positions, rotations = found.parents[own], found.positions[:, own], found.rotations[:, own]
    rotations = rotations if turns is None else multiply(rotations, turns)
    scales = None if found.scales is None else found.scales.of_joints(own)
    return replace(animation, parents=parents, positions=positions, rotations=rotations, scales=scales)
