"""Characters: what they need, and what a game would miss or refuse; without Blender."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..formats import SKELETAL, VERTEX, by_name, by_suffix
from ..game.character.files import BODY, COMMANDS, HEAD, IN_STEP, Asked, CharacterFiles, MotionFile, Piece
from ..game.character.kinds import home_of
from ..game.dress import Dress, SkinDecl
from ..game.lexer import fold
from ..game.search import DIFFUSE_ENDINGS, SearchPath
from ..game.shaders.resolve import MISSING, NOTHING, resolve
from ..game.skin import read_skin
from ..game.store import GameFile, path_in
from ..model.clips import Clip
from ..model.limits.games import ERROR, WARNING
from ..model.skeletal import mismatch
from ..reporting import ModelError, listed, plural
from .load import Loaded, load, load_animation
from .surface_looks import Looks

CHARACTER = "character"
UNSEEN = ("nodraw", "none", "null")  # as what is not to be drawn is called
Notes = Mapping[str, Mapping[str, str]]  # on animations, by their names: values by keys


def facts(character: CharacterFiles) -> dict[str, Any]:
    """Return what `info` shows of a character, as plain values."""
    return {
        "format": CHARACTER,
        "name": character.name,
        "game": character.game,
        "game_folder": _folder_of(character),
        "entries": dict(character.entries),
        "skin": character.skin_name,
        "shown": character.shown.facts,
        "body": _place(character.body),
        "worn": _place(character.skin),
        "motions": [
            {
                "file": motion.file.place,
                "animations": len(motion.rows) + len(motion.names),
                "names": [*motion.names, *(row.name for row in motion.rows)],
                "is_animation": bool(motion.names) and not motion.rows,
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
                "animations": _num_animations(character, piece),
            }
            for piece in character.pieces
        ],
        "skins": list(character.skins),
        "choices": {name: piece.file.place for name, piece in character.choices.items()},
        "instead": _place(None if character.instead is None else character.instead.body),
        "missing": [*character.missing, *character.unshown],
        "refused": list(character.refused),
    }


def _num_animations(character: CharacterFiles, piece: Piece) -> int:
    """Return how many animations a piece has: of a head's own frames those of its table."""
    return sum(len(motion.names) for motion in piece.motions) or (len(character.head_rows) if piece.kind == HEAD else 0)


def _folder_of(character: CharacterFiles) -> str:
    """Return the folder of a character's game, "" for none, as its files' places begin."""
    home, file = home_of(character.file), character.body or character.file
    path = "" if home is None else path_in([home], file)
    place = file.place.replace("\\", "/")
    return place[: -len(path)] if path and place.lower().endswith(path.lower()) else ""


def _place(file: GameFile | None) -> str | None:
    return None if file is None else file.place


def problems(character: CharacterFiles, game: str) -> list[tuple[str, str]]:
    """Return what is missing, and what a game would refuse or not find: severity and text."""
    found = [(WARNING, sentence) for sentence in (*character.missing, *character.unshown)]
    found += [(ERROR if game == character.game else WARNING, sentence) for sentence in character.refused]
    if character.body is not None:
        bones = [motion.file for motion in character.motions[:1]]
        dress = _dress(character.skin_name, character.skin, character.decl)
        found += _faults(character, character.body, BODY, dress, bones)
        found += _faults_of_motions(character.body, character.motions, character.notes, character.joints)
    for piece in character.pieces:
        dress = _dress(piece.kind, piece.skin, piece.decl)
        found += _faults(character, piece.file, piece.kind, dress)
        found += _faults_of_motions(piece.file, piece.motions, piece.notes, {})
    found += _faults_of_frames(character)
    return list(dict.fromkeys(found))


def _dress(name: str, file: GameFile | None, decl: SkinDecl | None) -> Dress | None:
    """Return what a model wears; None where it wears its own, or what can't be read, which was said."""
    if decl is not None:
        return Dress(decl.name, decl=decl)
    try:
        return None if file is None else Dress(name, file, read_skin(file.read()))
    except ModelError:
        return None


def _faults(
    character: CharacterFiles, file: GameFile, what: str, dress: Dress | None, bones: Sequence[GameFile] = ()
) -> list[tuple[str, str]]:
    """Return what is broken in a model, which tags it lacks that the game's own code asks for, and what it wears."""
    try:
        loaded = load(file, bones)
    except ModelError as error:
        return [(ERROR, f"'{file.name}': {error}")]
    there = {tag.name.lower() for tag in getattr(loaded.model, "tags", ())}
    lacking = [tag for tag in character.tags.get(what, ()) if tag not in there]
    found = [f"the {what} '{file.name}' lacks tags that the game asks for: {listed(lacking)}"] if lacking else []
    in_order = character.in_order if file == character.body else ()
    return [(WARNING, text) for text in found + _faults_of_wear(loaded, what, dress, in_order)]


def _faults_of_wear(loaded: Loaded, what: str, dress: Dress | None, in_order: Sequence[str]) -> list[str]:
    """Return which surfaces of a model a skin leaves out, and which textures are not there, in sentences."""
    assert loaded.file is not None
    surfaces = _surfaces(loaded)
    called = f"the {what} '{loaded.file.name}'"
    found = []
    if in_order:
        if len(in_order) < len(surfaces):
            lines = f"its skin has {plural(len(in_order), 'line')} for {len(surfaces)} meshes"
            found.append(f"{called}: {lines}, the game shows the others as missing")
        worn = {name: True for _, name in zip(surfaces, in_order, strict=False)}
    else:
        dressed = [(name, None if dress is None else dress.worn(name, shader), shader) for name, shader in surfaces]
        left = [name for name, wears, _ in dressed if dress is not None and wears is None]
        if left:
            found.append(f"{called}: its skin has nothing for {listed(left)}, which the game shows as missing")
        by_file = dress is not None and dress.decl is None  # whose shaders hide surfaces where there is nothing
        worn = {wears or shader: by_file for _, wears, shader in dressed if wears or dress is None}
    looks = Looks(SearchPath(loaded.file), ("",) if loaded.row.family is VERTEX else DIFFUSE_ENDINGS)
    shaders = [resolve(name, looks.library, looks.find_image, worn=is_worn) for name, is_worn in worn.items() if name]
    lost = [each for shader in shaders for each in ((shader.name,) if shader.kind == MISSING else shader.absent)]
    unseen = [shader.name for shader in shaders if shader.shows == NOTHING]
    lost = [name for name in dict.fromkeys(lost) if name not in unseen]
    unseen = [name for name in unseen if not fold(name).endswith(UNSEEN)]
    if lost:
        found.append(f"{called}: {plural(len(lost), 'texture')} not found: {listed(lost)}")
    if unseen:
        text = "its skin names what is no shader and no picture, the game does not draw it"
        found.append(f"{called}: {text}: {listed(unseen)}")
    return found


def _surfaces(loaded: Loaded) -> list[tuple[str, str]]:
    """Return the surfaces of a model, by their names, with the shader that its file has for each; "" for none."""
    if loaded.row.family is VERTEX:
        return [(surface.name, next(iter(surface.shaders), "")) for surface in loaded.model.surfaces]
    return [(mesh.name, mesh.shader) for mesh in loaded.model.meshes]


def _faults_of_motions(
    body: GameFile, motions: Sequence[MotionFile], notes: Notes, joints: Mapping[str, Asked]
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
        (
            ERROR if asked.stops else WARNING,
            f"the body '{body.name}' has no joint '{joint}', which {asked.why} asks for: {asked.without}",
        )
        for joint, asked in joints.items()
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
