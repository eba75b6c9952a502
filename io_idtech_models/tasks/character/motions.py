"""Files of frames that an armature keeps, with what was edited in actions of their rows: see `export.file_edits`."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from pathlib import PurePath
from typing import Any

import bpy
import numpy as np

from ...blender import names
from ...blender.compat import action_parts
from ...blender.leaders import alone, cast
from ...blender.properties import PREVIEW
from ...blender.selfcheck import some
from ...blender.skeletal import gather_motion, kept_frames
from ...blender.skeletal.kept_frames import KeptFile, KeptRow, Key
from ...blender.skeletal.made_keys import frames_as_made
from ...blender.skeletal.moved_rest import moved_rest
from ...blender.skeletal.rig_scene import RigScene
from ...blender.skeletal.selfcheck import Motion, differences
from ...blender.takes import used_actions
from ...formats import Format
from ...game.aninc import RowEdit
from ...model.bounds import has_edited_meshes
from ...model.clips import Clip
from ...model.edits.matched import onto
from ...model.limits.games import refused
from ...model.skeletal import Animation, SkeletalModel, Traits, mismatch
from ...reporting import LimitError, listed, plural
from ..export.file_edits import FileEdits, Part, is_source, other_bones
from ..export.motion import AnimationExport, finished, of_format, played
from ..export.motion_sources import sources_of, warn_of_unplayed
from ..import_.kept_frames import format_of, make_rows, read_rows

log = logging.getLogger(__name__)
SAME_SIZE = 1e-4  # a factor that no game shows


@dataclass(eq=False)
class MotionsSaved:
    """What becomes of the files, by their paths in the game, and of their rows."""

    files: dict[str, bytes] = field(default_factory=dict)  # all of them
    edited: list[str] = field(default_factory=list)  # the paths of those that were edited
    rows: list[RowEdit] = field(default_factory=list)


def save_motions(export: RigScene, model: SkeletalModel, game: str) -> MotionsSaved:
    """Return the files of frames that an armature keeps; `model` is its body, whose reach frames say.

    Raises:
        LimitError: frames are lost, or the body, or an action, is of other bones than they.
    """
    rig = export.rig
    warn_of_unplayed(rig)
    files = kept_frames.kept_files(rig)
    _demand_skeleton(model, files)
    actions = _actions(rig)
    made = kept_frames.made_of(files, actions)
    taken = set(made.values())
    new = [action for action in actions if action not in taken]
    saved, kept = MotionsSaved(), kept_frames.kept_data(rig)
    said = {} if model.skeleton.traits is None else {n: _traits_of(f, kept.of(n)) for n, f in enumerate(files)}
    traits = _edited_traits(model, said)
    others = kept_frames.unmade_of(files, actions).items()  # rows of what is shown whole go along with that
    unmade = [row for (nth, _), row in others if row.said is not None and (nth, 0) not in made]
    _warn_of_moved(rig, unmade)
    _warn_of_led(export, len(unmade))
    for number, file in enumerate(files):
        own = {place: action for (nth, place), action in made.items() if nth == number and place < len(file.rows)}
        added = [action for action in new if (kept_frames.origin_of(action) or (0, 0))[0] == number]
        data = kept.of(number)
        edits = _KeptEdits(export, model, file, data, game, traits.get(number))
        called = edits.called(own)
        for place, action in sorted(own.items()):
            if file.rows[place].said is None:
                edits.take_whole(action)
            else:
                edits.take(file.rows[place], action, called[place])
        for place, row in enumerate(file.rows):
            if place not in own:
                edits.take_along(row)
        for action in added:
            origin = kept_frames.origin_of(action)
            known = origin is not None and origin[1] < len(file.rows)
            edits.add(action, file.rows[origin[1]].clip.first if origin is not None and known else -1)
        edits.finish()
        written = edits.dump() if edits.changed else data
        if written != data:
            saved.edited.append(file.game_name)
        saved.files[file.game_name] = written
        saved.rows += edits.rows
    return saved


def _demand_skeleton(model: SkeletalModel, files: list[KeptFile]) -> None:
    """Refuse a body that has other bones than its frames, whether or not these were edited; name renamed ones."""
    if model.source is None or not files:
        return
    now, then = model.skeleton, model.source.skeleton
    if not np.array_equal(now.parents, then.parents):
        raise other_bones(model.name, files[0])
    renamed = [name for name, was in zip(now.names, then.names, strict=True) if name != was]
    if renamed:
        log.warning("bones were renamed, the character's frames keep the names that they had: %s", listed(renamed))


def _traits_of(file: KeptFile, data: bytes) -> tuple[list[str], Traits] | None:
    """Return the bones of a file of frames, and what it says of them; None where it says nothing."""
    if not file.num_frames:
        return None
    row = format_of(file)
    found = row.motion_in(row.read(data), "", Clip("", 0, 1, 1.0))  # of one frame: quick
    return None if found.traits is None else (found.joint_names, found.traits)


def _edited_traits(model: SkeletalModel, files: Mapping[int, tuple[list[str], Traits] | None]) -> dict[int, Traits]:
    """Return what files, by their numbers, are to say of bones that was edited; none where bones show one of them.

    Files of one skeleton may say something else each: what was edited is edited in all of them.
    """
    now = model.skeleton.traits
    found = {n: each[1] for n, each in files.items() if each is not None and each[0] == model.skeleton.names}
    if now is None or not found:
        return {}
    shown = min(found.values(), key=now.differences)
    return {n: each.with_edits(shown, now) for n, each in found.items()} if now.differences(shown) else {}


def _warn_of_moved(rig: Any, unmade: list[KeptRow]) -> None:
    """Name the bones that were moved at rest where rows without an action keep their frames."""
    rest = moved_rest(rig) if unmade else None
    if rest is not None:
        text = (
            "bones were moved at rest: %s: %s without an action keep their frames, Make All Animations (in the "
            "sidebar) lets them go along"
        )
        log.warning(text, listed(rest.names), plural(len(unmade), "animation"))


def _warn_of_led(export: RigScene, unmade: int) -> None:
    """Say so where more than actions moves bones, of which animations that have none know nothing."""
    if unmade and gather_motion.is_led(export):
        text = (
            "more than actions moves '%s' (constraints, drivers, what it hangs on), and %s without one keep their "
            "frames: Make All Animations (in the sidebar) lets them go along"
        )
        log.warning(text, export.rig.name, plural(unmade, "animation"))
    scaled = _scaled_by_hand(export.rig) if unmade else []
    if scaled:
        text = (
            "bones are scaled without a key: %s: %s without an action keep their frames, Make All Animations (in the "
            "sidebar) lets them go along"
        )
        log.warning(text, listed(scaled), plural(unmade, "animation"))


def _scaled_by_hand(rig: Any) -> list[str]:
    """Return the bones that are scaled whatever action plays, for none keys that."""
    keyed = {c.data_path for action in _actions(rig) for _, _, curves in action_parts(action) for c in curves}
    scaled = [bone for bone in rig.pose.bones if np.abs(np.array(bone.scale) - 1.0).max() > SAME_SIZE]
    return [bone.name for bone in scaled if bone.path_from_id("scale") not in keyed]


def _actions(rig: Any) -> list[Any]:
    return [action for action in used_actions(rig) if PREVIEW not in action]


@dataclass(eq=False)
class ActionFile:
    """What comes of an animation that is a file of its own."""

    name: str  # as a file calls it
    action: Any  # None of one that has none yet
    data: bytes
    is_source: bool  # it is what its file was
    animation: Animation | None = None  # what an action is
    is_wider: bool = False  # it is what its file was, but for bounds that have to hold a larger body
    is_as_made: bool = False  # nobody has changed a key of its action, whatever became of the bones

    @property
    def num_frames(self) -> int:
        """Return how many frames an action has; 0 without one."""
        return 0 if self.animation is None else self.animation.num_frames


def save_actions(export: RigScene, model: SkeletalModel, row: Format, game: str) -> list[ActionFile]:
    """Return the files of the actions that an armature keeps or plays; of Blender's copies the one that was imported.

    Raises:
        ModelError: one can't be written.
    """
    export, found = of_format(export, row), []
    warn_of_unplayed(export.rig)
    actions: dict[str, Any] = {}
    for action in sorted(_actions(export.rig), key=names.is_renamed):
        name = names.file_name_of(action)
        if actions.setdefault(name, action) != action:
            text = "'%s' is left out: '%s' is the animation of that name, rename the action"
            log.warning(text, action.name, actions[name].name)
    sources = sources_of(export, row, "CHOSEN", tuple(action.name for action in actions.values())) if actions else []
    for source in sources:
        animation = finished(source.gather(), model, AnimationExport())
        data = row.dump(animation)
        for text in [
            *refused(row.check(animation, game)),
            *differences(export, model, played([source], [animation], row, data, model), meshes=False),
        ]:
            log.warning("%s: %s", source.name, text)
        own = animation.source_of(row.name)
        before = None if own is None else row.dump(own.animation(source.name))
        may_grow = data != before and animation.edited is not None
        wider = may_grow and row.dump(replace(animation, edited=None)) == before
        as_made = data == before or _is_as_made(export.rig, source.action, animation)
        found.append(ActionFile(source.name, source.action, data, data == before, animation, wider, as_made))
    return found


def _is_as_made(rig: Any, action: Any, animation: Animation) -> bool:
    """Tell whether nobody has changed a key of an action, which is an `animation` on the bones by now."""
    return animation.times is not None and bool(frames_as_made(rig, action, animation.times).all())


def _has_outgrown(animation: Animation, row: Format, data: bytes) -> bool:
    """Tell whether edited meshes reach beyond the bounds that an animation had, as its file's bytes have to say."""
    return animation.edited is not None and row.dump(replace(animation, edited=None)) != data


def save_unmade(export: RigScene, model: SkeletalModel, row: Format, game: str) -> Iterator[ActionFile]:
    """Yield the animations that an armature keeps and that have no action, as they go onto its bones by now.

    Without an edit of the body they are as they were, and none is read. On bones that were moved at rest they show
    what they would as actions, which go along; of a body that reaches beyond their bounds these grow.

    Raises:
        ModelError: one can't be read, or written.
    """
    files, kept = kept_frames.kept_files(export.rig), kept_frames.kept_data(export.rig)
    unmade, rest = kept_frames.unmade_of(files, _actions(export.rig)), moved_rest(export.rig)
    _warn_of_led(export, sum(files[nth].is_animation for nth, _ in unmade))
    for nth, wanted in groupby(unmade, key=lambda key: key[0]):
        file, places = files[nth], [place for _, place in wanted]
        if not file.is_animation:
            continue
        data = kept.of(nth)
        stays = rest is None and not mismatch(model.skeleton, format_of(file).outline(data))
        if stays and not has_edited_meshes(model):
            yield from (ActionFile(file.rows[place].clip.name, None, data, is_source=True) for place in places)
            continue
        for given in read_rows(file, places, data):
            shown = given if rest is None else rest.written(given)
            animation = finished(onto(shown, model.skeleton), model, AnimationExport())
            text = row.dump(animation)
            if stays and not _has_outgrown(animation, row, text):
                yield ActionFile(given.name, None, data, is_source=True)
                continue
            for said in refused(row.check(animation, game)):
                log.warning("%s: %s", given.name, said)
            yield ActionFile(given.name, None, text, is_source=False, is_wider=stays)


def unmade_motions(rig: Any, scene: Any) -> list[Motion]:
    """Return a few of the animations that have no action, which they get while they play, for who looks at meshes."""
    if any(bone.rotation_mode != "QUATERNION" for bone in rig.pose.bones):
        return []  # an action would change that
    rows = kept_frames.unmade_of(kept_frames.kept_files(rig), _actions(rig)).items()
    motions = [
        Motion(row.clip.name, partial(_made, rig, key, scene), np.arange(row.clip.length))
        for key, row in rows
        if row.said is not None and row.clip.length > 0
    ]
    return some(motions)


@contextmanager
def _made(rig: Any, key: Key, scene: Any) -> Iterator[None]:
    """Let an armature play a row that has no action meanwhile; one that can't be made shows nothing."""
    with gather_motion.playing(rig, alone(rig, None, None)):
        tracks = rig.animation_data.nla_tracks
        before = set(tracks)
        try:
            made = make_rows(rig, [key], scene)
        except LimitError:
            made = {}
        try:
            with ExitStack() as stack:
                for action in made.values():
                    stack.enter_context(gather_motion.playing(rig, cast(rig, action)))
                yield
        finally:
            for action in made.values():
                bpy.data.actions.remove(action)
            for track in set(tracks) - before:
                tracks.remove(track)


class _KeptEdits(FileEdits):
    """A file of frames that an armature keeps, on its way out."""

    keeps_rest = True

    def __init__(
        self,
        export: RigScene,
        model: SkeletalModel,
        file: KeptFile,
        data: bytes,
        game: str,
        traits: Traits | None = None,
    ) -> None:
        self.format, self.data, self.traits = format_of(file), data, traits
        self.shown_whole: Animation | None = None
        super().__init__(of_format(export, self.format), model, file, self._read, game)

    def _read(self) -> Animation:
        return self.format.motion_in(self.format.read(self.data), PurePath(self.file.place).stem)

    @property
    def changed(self) -> bool:
        """Tell whether frames are others, or what the file says of bones."""
        return bool(self.parts) or self.traits is not None

    @property
    def edited_whole(self) -> Animation | None:
        """All frames, if an action shows them otherwise than the file had them."""
        return self.shown_whole

    def take_whole(self, action: Any) -> None:
        """Take what the action of all frames shows, before those of rows, which count before it."""
        animation = self.gather(action)
        if not is_source(animation, self.file.num_frames):
            self.demand_bones(animation)
            self.shown_whole, self.action = animation, action
            self.parts.insert(0, Part(0, animation, 0, action))
            if animation.num_frames < self.file.num_frames:
                text = "'%s' keeps its frames from %d on, which '%s' has no more: rows may show them"
                log.warning(text, self.name, animation.num_frames, action.name)
            self.end = max(self.end, animation.num_frames)

    def dump(self) -> bytes:
        """Return the bytes of the file; raises LimitError."""
        grown = self.merged()
        grown.traits = grown.traits if self.traits is None else self.traits
        for text in refused(self.format.check(grown, self.game)):
            log.warning("%s: %s", PurePath(self.file.place).name, text)
        return self.format.dump(grown)
