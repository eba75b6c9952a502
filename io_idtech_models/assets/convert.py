"""Files to models and files of other formats, whatever their family; without Blender."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import formats
from ..formats import AnimationFormat, AnyFormat, Format, SkeletalFormat
from ..game import aninc
from ..game.store import GameFile
from ..model import bind_pose as binding
from ..model.bake import bake
from ..model.edits.short_names import short_animations, short_skeleton
from ..model.limits.games import ERROR, Problem, refused
from ..model.skeletal import Animation, SkeletalModel, at_rest, set_bounds
from ..model.wording import describe, describe_animation, describe_skeletal, plural
from ..reporting import LimitError, collected_warnings
from . import beside as joint_scales
from .asked import Asked
from .load import Loaded, load, load_animation
from .storage import Target, write_files

ONLY = "only a skeletal model that becomes a vertex-animated one takes animations and tags"
COMPANIONS = [formats.by_name(name) for row in formats.SKELETAL for name in row.companions]


def problems(row: AnyFormat, model: Any, game: str) -> list[Problem]:
    """Return what a game, a key of `limits.games.GAMES`, refuses or changes of a model of a format."""
    return [*row.check(model, game), *(Problem(ERROR, "", said) for said in row.problems(model))]


def described(row: AnyFormat, model: Any) -> str:
    """Return what a model holds, in words."""
    if isinstance(row, Format):
        return describe(model)
    return describe_skeletal(model) if isinstance(row, SkeletalFormat) else describe_animation(model)


def convert(
    source: GameFile,
    asked: Asked,
    animations: Sequence[GameFile] = (),
    tags: Sequence[str] = (),
    frames: range | None = None,
) -> str:
    """Convert a file; returns a line that says what came of it.

    A skeletal model becomes a vertex-animated one by posing it in all frames of `animations`, or the `frames` chosen of
    them; joints called in `tags` become tags. Into another skeletal format its animations go along.

    Raises:
        ModelError: the file can't be read, or not become one of that kind, or the game would refuse it.
    """
    target, shorten = asked.target, asked.shorten
    to = formats.by_suffix(target)
    if to is None:
        raise LimitError(f"can't write '{target.suffix}'")
    with collected_warnings() as warnings:
        loaded = load(source, [file for file in animations if formats.by_suffix(file) in COMPANIONS][:1])
        row = loaded.row
        motions = [_animation(loaded, file) for file in animations] if isinstance(row, SkeletalFormat) else []
        if isinstance(row, SkeletalFormat) and isinstance(to, Format):
            motions, said = short_animations(motions, to.rooms.get("frame")) if shorten else (motions, [])
            model = bake(loaded.model, motions, list(tags), frames)
            written = formats.dump_for(to, model, asked.game, asked.options, shorten)
            files, model, notes = [(target, written.data)], written.model, said + written.notes
        elif tags or frames is not None or (animations and not isinstance(to, SkeletalFormat)):
            raise LimitError(ONLY)
        else:
            files, model, notes = _same_family(loaded, to, asked, motions)
        write_files(files)
    return "; ".join([described(to, model), *warnings, *notes])


Files = list[tuple[Target, bytes]]


def _same_family(loaded: Loaded, to: AnyFormat, asked: Asked, motions: list[Animation]) -> tuple[Files, Any, list[str]]:
    """Return the files that come of a model or an animation in a format of its family, and what is to be said."""
    row, model, target, game = loaded.row, loaded.model, asked.target, asked.game
    if isinstance(row, Format) and isinstance(to, Format):
        written = formats.dump_for(to, model, game, asked.options, asked.shorten)
        return [(target, written.data)], written.model, written.notes
    if isinstance(row, AnimationFormat) and isinstance(to, AnimationFormat):
        _, (model,), notes = short_skeleton(None, [model], to, game) if asked.shorten else (None, [model], [])
        notes += refused(problems(to, model, game))
        return [(target, to.dump(model)), *joint_scales.files(model, to, target, game)], model, notes
    if isinstance(row, SkeletalFormat) and isinstance(to, SkeletalFormat):
        return _skeletal_files(loaded, to, asked, motions)
    reason = ": that takes a skeleton" if isinstance(row, Format) else ""
    raise LimitError(f"{row.name.upper()} can't become {to.name.upper()}{reason}")


def _skeletal_files(
    loaded: Loaded, to: SkeletalFormat, asked: Asked, motions: list[Animation]
) -> tuple[Files, SkeletalModel, list[str]]:
    """Return the files of a skeletal model and its animations in another format, or in its own."""
    model, row, target, game = loaded.model, loaded.row, asked.target, asked.game
    if row is to and motions and not to.companions:
        raise LimitError(ONLY)
    if row is not to:
        model, motions = _bound(loaded, to, motions)
    notes: list[str] = []
    if asked.shorten:
        model, motions, notes = short_skeleton(model, motions, to, game)
    notes += refused(problems(to, model, game))
    notes += to.lost(model)
    files = [(target, to.dump(model, asked.options))]
    other: AnimationFormat = formats.by_name(to.animation)
    for animation in motions:
        set_bounds(animation, model)
        notes += refused(problems(other, animation, game))
        if other.joins_clips:
            joint_scales.warn_of_lost(animation)
    if motions and other.joins_clips:
        files.append((target.with_suffix(other.suffixes[0]), other.dump_joined(motions)))
        if len(motions) > 1:
            files.append((target.with_suffix(".aninc"), _table(motions)))
    else:
        for motion in motions:
            place = target.with_name(motion.name + other.suffixes[0])
            files += [(place, other.dump(motion)), *joint_scales.files(motion, other, place, game)]
    return files, model, [*notes, f"with {plural(len(files) - 1, 'file')} of animations"] if motions else notes


def _bound(loaded: Loaded, to: SkeletalFormat, motions: list[Animation]) -> tuple[SkeletalModel, list[Animation]]:
    """Return a model in a pose that another format can bind it in, and animations, one at least if that asks for bones.

    Raises:
        LimitError: its bones lie in a file that is not there.
    """
    model, row = loaded.model, loaded.row
    if isinstance(row, SkeletalFormat) and row.bind_pose_missing:
        if loaded.animation is None:
            raise LimitError("its bones lie in another file, which was not found: name it with --anim")
        model = binding.fitted(model, model.skeleton.bind, binding.mean_places(loaded.animation.positions))
    return model, motions or ([at_rest(model.skeleton, model.name)] if to.companions else [])


def _table(motions: list[Animation]) -> bytes:
    rows, first = [], 0
    for motion in motions:
        rows.append(aninc.Row(motion.name, first, motion.num_frames, fps=round(motion.frame_rate, 2)))
        first += motion.num_frames
    return aninc.write_rows(rows).encode("utf-8")


def _animation(loaded: Loaded, file: GameFile) -> Animation:
    """Return the animation in a file; raises ModelError, which names the file: it is not the one that is converted."""
    assert isinstance(loaded.row, SkeletalFormat)
    if file == loaded.bones and loaded.animation is not None:
        return loaded.animation
    return load_animation(file, loaded.row)
