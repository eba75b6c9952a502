"""Which files of a character's game its animations go into: where each came from, and new ones beside those."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from pathlib import PurePath

from ...assets.scale_files import says_the_same, scale_data
from ...blender.skeletal.kept_frames import kept_data, kept_files
from ...blender.skeletal.rig_scene import RigScene
from ...formats import Format, by_name
from ...game.aninc import RowEdit
from ...game.character.files import BODY, IN_STEP
from ...model.joint_scales import warn_of_lost_scales
from ...model.skeletal import Animation, SkeletalModel
from ...reporting import listed
from ..export.file_edits import alike
from .motions import ActionFile, save_actions, save_motions, save_unmade
from .saved import SavedCharacter

log = logging.getLogger(__name__)
UNSEEN_PLACE, UNSEEN_TURN = 0.05, 2e-3  # units, radians


class MotionFiles:
    """The animations of a character on their way into files, and what texts of the game are to say of them."""

    def __init__(self, saved: SavedCharacter) -> None:
        self.saved = saved
        self.rows: list[RowEdit] = []  # of tables
        self.played: dict[str, list[ActionFile]] = {}  # of files that there were, by BODY and kinds of pieces
        self.new: dict[str, ActionFile] = {}  # that no file was yet, by their paths

    def save(self, kind: str, export: RigScene, row: Format, model: SkeletalModel) -> None:
        """Write the files of frames that an armature keeps, or those that its actions are.

        Raises:
            ModelError: one can't be written.
        """
        saved, apart, files = self.saved, row.skeletal.animation, kept_files(export.rig)
        if apart is None or any(not file.is_animation for file in files):
            motions = save_motions(export, model, saved.game_for(by_name("mdx")))
            self.rows = motions.rows
            saved.files |= {path: data for path, data in motions.files.items() if path}
            saved.edited += [path for path in motions.edited if path]
            return
        game = saved.game_for(apart)
        known = kept_data(export.rig)
        kept = {file.game_name: known.of(nth) for nth, file in enumerate(files) if file.game_name}
        if saved.record.motions.get(kind):
            made = save_actions(export, model, apart, game)
            made.sort(key=lambda each: not each.is_as_made)  # of two of a file the last counts
            self._put(kind, [*save_unmade(export, model, apart, game), *made], apart, kept)
        for path, data in kept.items():
            saved.files.setdefault(path, data)

    def _put(self, kind: str, every: list[ActionFile], row: Format, kept: Mapping[str, bytes]) -> None:
        """Write the files that animations are, each where it came from; of new ones beside the first of the others.

        What the armature has `kept` of them, by their paths, is as they were.
        """
        saved = self.saved
        motions = saved.record.motions[kind]
        place_of = {name: path for path, called in motions.items() for name in called}
        folder = PurePath(next(iter(motions))).parent
        single = kind != BODY or saved.kind is None or not saved.kind.takes_actions
        new: dict[str, ActionFile] = {}
        own = [(place_of[each.name], each) for each in every if each.name in place_of]
        _say_of_shared(own, row)
        wider = [each.name for each in every if each.is_wider]
        if wider:
            log.warning(
                "the %s reaches beyond the bounds of these animations, which grow with it: %s", kind, listed(wider)
            )
        self.played[kind] = [each for _, each in own if each.action is not None]
        for each in every:
            path = place_of.get(each.name)
            if path is None and single:
                log.warning("'%s' is no animation that the %s has in the game: left out", each.action.name, kind)
                continue
            if path is None:
                path = (folder / f"{each.name}{row.suffixes[0]}").as_posix()
                new[path] = each
            known = saved.record.sums.get(path)
            is_source = each.is_source and path not in new
            before = kept.get(path) or saved.source(path, known) if is_source else None
            saved.put(path, before or each.data, is_source, each.is_wider)
            if each.animation is not None:
                self._put_scales(PurePath(path).with_suffix(row.motion.scales).as_posix(), each.animation)
        _say_of_steps(every, row)
        self.new |= new

    def _put_scales(self, path: str, animation: Animation) -> None:
        """Write how large joints are in an animation, if the game reads that and its file says something else."""
        if self.saved.kind is None or not self.saved.kind.scales:
            warn_of_lost_scales(animation)
            return
        before = self.saved.beside(path)
        is_said = animation.scales is None if before is None else says_the_same(before, animation)
        if not is_said:
            self.saved.put(path, scale_data(animation), is_source=False)


def _say_of_steps(every: Iterable[ActionFile], row: Format) -> None:
    """Name the animations of which several files are in step, and by an edit of one not as long as one another."""
    in_step: dict[str, list[ActionFile]] = {}
    for each in every:
        in_step.setdefault(each.name.partition(IN_STEP)[0], []).append(each)
    for name, files in in_step.items():
        if len(files) > 1 and not all(each.is_source for each in files):
            outlines = [row.outline(each.data) for each in files]
            if len({(outline.num_frames, outline.frame_rate) for outline in outlines}) > 1:
                log.warning("the files of the animation '%s' have different lengths: the game refuses the model", name)


def _say_of_shared(own: Iterable[tuple[str, ActionFile]], row: Format) -> None:
    """Name the animations that play a file of frames which another one has changed."""
    by_path: dict[str, list[ActionFile]] = {}
    for path, each in own:
        by_path.setdefault(path, []).append(each)
    for path, files in by_path.items():
        edited = [file for file in files if not file.is_source and not file.is_wider]
        others = [file.name for file in files if edited and not _is_alike(file.data, edited[-1].data, row)]
        if others:
            text = (
                "'%s' is written as '%s' shows it, and is the file of these, too, which play that from now on (a "
                "copy under a new name has a file of its own): %s"
            )
            log.warning(text, PurePath(path).name, edited[-1].name, listed(others))


def _is_alike(one: bytes, other: bytes, row: Format) -> bool:
    """Tell whether two files show the same motion: an action and a row that has none come to it by other ways."""
    if one == other:
        return True
    a, b = (row.load(data, "") for data in (one, other))
    if a.positions.shape != b.positions.shape or a.frame_rate != b.frame_rate:
        return False
    return bool(alike(a, slice(None), b, slice(None), UNSEEN_PLACE, UNSEEN_TURN).all())
