"""Characters: what they need, and what a game would miss or refuse; without Blender."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..formats import SKELETAL, VERTEX, by_name, by_suffix
from ..game.character.files import BODY, COMMANDS, IN_STEP, CharacterFiles, MotionFile
from ..game.store import GameFile
from ..model.clips import Clip
from ..model.limits.games import ERROR, WARNING
from ..model.skeletal import mismatch
from ..model.wording import listed, plural
from ..reporting import ModelError
from .load import load, load_animation

CHARACTER = "character"
Notes = Mapping[str, Mapping[str, str]]  # on animations, by their names: values by keys


def facts(character: CharacterFiles) -> dict[str, Any]:
    """Return what `info` shows of a character, as plain values."""
    return {
        "format": CHARACTER,
        "name": character.name,
        "game": character.game,
        "entries": dict(character.entries),
        "skin": character.skin_name,
        "body": _place(character.body),
        "worn": _place(character.skin),
        "motions": [
            {
                "file": motion.file.place,
                "animations": len(motion.rows) + len(motion.names),
                "names": [*motion.names, *(row.name for row in motion.rows)],
            }
            for motion in character.motions
        ],
        "pieces": [
            {
                "kind": piece.kind,
                "on": piece.on,
                "tag": piece.tag,
                "file": piece.file.place,
                "worn": _place(piece.skin),
                "animations": sum(len(motion.names) for motion in piece.motions),
            }
            for piece in character.pieces
        ],
        "skins": list(character.skins),
        "choices": {name: piece.file.place for name, piece in character.choices.items()},
        "instead": _place(None if character.instead is None else character.instead.body),
        "missing": list(character.missing),
    }


def _place(file: GameFile | None) -> str | None:
    return None if file is None else file.place


def problems(character: CharacterFiles, game: str) -> list[tuple[str, str]]:
    """Return what is missing, and what a game would refuse or not find: severity and text."""
    found = [(WARNING, sentence) for sentence in character.missing]
    found += [(ERROR if game == character.game else WARNING, sentence) for sentence in character.refused]
    if character.body is not None:
        found += _faults(
            character.body, BODY, character.tags.get(BODY, ()), [motion.file for motion in character.motions[:1]]
        )
        found += _faults_of_motions(character.body, character.motions, character.notes, character.joints)
    for piece in character.pieces:
        found += _faults(piece.file, piece.kind, character.tags.get(piece.kind, ()))
        found += _faults_of_motions(piece.file, piece.motions, piece.notes, {})
    found += _faults_of_frames(character)
    return list(dict.fromkeys(found))


def _faults(
    file: GameFile, what: str, wanted: tuple[str, ...], bones: Sequence[GameFile] = ()
) -> list[tuple[str, str]]:
    """Return what is broken in a model, and which tags it lacks that the game's own code asks for."""
    try:
        model = load(file, bones).model
    except ModelError as error:
        return [(ERROR, f"'{file.name}': {error}")]
    there = {tag.name.lower() for tag in getattr(model, "tags", ())}
    lacking = [tag for tag in wanted if tag not in there]
    return (
        [(WARNING, f"the {what} '{file.name}' lacks tags that the game asks for: {listed(lacking)}")] if lacking else []
    )


def _faults_of_motions(
    body: GameFile, motions: Sequence[MotionFile], notes: Notes, joints: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Return what games refuse of animations that a declaration names, and of joints that it asks for."""
    row = by_suffix(body)
    named = [motion for motion in motions if motion.names]
    if row is None or row.family is not SKELETAL or not (named or joints):
        return []
    try:
        skeleton = load(body).model.skeleton
    except ModelError:
        return []  # it was said
    there = {name.lower() for name in skeleton.names}
    found = [
        (ERROR, f"the body '{body.name}' has no joint '{joint}', which {word} asks for: the game stops there")
        for joint, word in joints.items()
        if joint.lower() not in there
    ]
    lengths: dict[str, tuple[int, float]] = {}
    for motion in named:
        try:
            animation = load_animation(motion.file, row)
        except ModelError as error:
            found.append((ERROR, str(error)))
            continue
        why = mismatch(skeleton, animation)
        if why:
            found.append((ERROR, f"'{motion.file.name}' does not fit '{body.name}': {why}"))
        lengths |= dict.fromkeys(motion.names, (animation.num_frames, animation.frame_rate))
    return found + _faults_of_lengths(notes, lengths)


def _faults_of_lengths(notes: Notes, lengths: dict[str, tuple[int, float]]) -> list[tuple[str, str]]:
    """Return which animations are longer or shorter than those in step with them, or end before what is to happen."""
    found = []
    for name, length in lengths.items():
        first = lengths.get(name.partition(IN_STEP)[0], length)
        if first != length:
            text = f"the files of the animation '{name.partition(IN_STEP)[0]}' have different lengths"
            found.append((ERROR, f"{text}: the game refuses the model"))
        frames = [int(line.split()[0]) for line in notes.get(name, {}).get(COMMANDS, "").splitlines()]
        beyond = [str(frame) for frame in frames if not 0 < frame <= length[0]]
        if beyond:
            text = f"the animation '{name}' has {length[0]} frames, and commands at {listed(beyond)}"
            found.append((ERROR, f"{text}: the game refuses the model"))
    return found


def _faults_of_frames(character: CharacterFiles) -> list[tuple[str, str]]:
    """Return what of a model of frames, whose game has its animations compiled in, has fewer frames than these."""
    rows = [row for motion in character.motions for row in motion.rows if motion.file == character.body]
    wanted = max((row.last + 1 for row in rows if isinstance(row, Clip)), default=0)
    body = None if character.body is None else by_suffix(character.body)
    if not wanted or body is None or body.family is not VERTEX or character.body is None:
        return []
    files = [character.body, *(piece.file for piece in character.choices.values())]
    found = []
    for file in files:
        try:
            count = load(file).model.num_frames
        except ModelError as error:
            found += [] if file == character.body else [(ERROR, f"'{file.name}': {error}")]
            continue
        if count < wanted:
            text = f"'{file.name}' has {plural(count, 'frame')}, of which the game plays {wanted}"
            found.append((WARNING, f"{text}: it shows the first in place of the others"))
    if character.instead is not None:
        motion = character.instead.motions[0].file
        count, name = _num_frames(motion), motion.name
        if count and count < wanted:
            found.append((WARNING, f"'{name}' has {plural(count, 'frame')}, of which the game plays {wanted}"))
    return found


def _num_frames(file: GameFile) -> int:
    """Return how many frames a file of frames has; 0 of one that can't be read."""
    try:
        return int(load_animation(file, by_name("md5mesh")).num_frames)
    except ModelError:
        return 0
