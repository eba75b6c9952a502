"""Characters into the scene: a body with its bones, dressed, and its head and gear on its tags.

A head's own frames move as a player's do: each row of its table is an action on the root of the head.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import bpy
import numpy as np
from numpy.typing import NDArray

from ...assets.load import load_animation
from ...blender import names
from ...blender.compat import Block, Context
from ...blender.hanging import make_root
from ...blender.playback import keep
from ...blender.player.assembly import PartBuilt, hang
from ...blender.player.assembly import make_root as make_part_root
from ...blender.player.build import play_row
from ...blender.player.rows import WHOLE_ROW, make_row, make_whole
from ...blender.properties import show
from ...blender.provenance import FILE, MODEL_ID
from ...blender.provenance import note_declared as note
from ...blender.scene import undone_on_failure
from ...blender.skeletal.armature import file_order, joint_matrices
from ...blender.skeletal.build import Posed, SkeletalSettings
from ...blender.skeletal.hung import bone_of, hang_on_joint, joint_at_rest, placed
from ...blender.skeletal.hung import make_root as make_rig_root
from ...blender.skeletal.runs import SAVED
from ...blender.vertex.build import BuildSettings, Built
from ...formats import SKELETAL, VERTEX, Format, by_name, by_suffix
from ...game.character.files import BODY, HEAD, CharacterFiles, MotionFile, Piece, Placing, Shown
from ...game.character.kinds import character_of, characters_in, kind_of, names_in, place_of, without_end
from ...game.character.weapons import weapon_of
from ...game.dress import NONE
from ...game.folders import Disk
from ...game.store import ARCHIVES, GameFile
from ...model.clips import Clip
from ...model.transforms import chain
from ...reporting import LimitError, ModelError, Summary, collected_warnings, listed, plural
from ..import_.dressing import Dressing, materials_for, rate_of
from ..import_.kept_frames import NOTES, Kept, Said
from ..import_.skeletal import AS_FILE, FIT, ImportSettings, import_skeletal
from ..import_.vertex import import_file
from ..player.files import players_at
from . import frames
from .attached import note_place
from .record import games_of, names_in_game, remember

log = logging.getLogger(__name__)


@dataclass(eq=False)
class CharacterBuilt:
    """A character in the scene: its body, and what hangs on that, by kind."""

    collection: bpy.types.Collection
    body: Posed | Built
    parts: dict[str, PartBuilt] = field(default_factory=dict)
    root: Block | None = None  # on which all of it hangs, where the game shows it otherwise than its files

    @property
    def objects(self) -> list[Block]:
        """Return all of its objects, the armature or the body first."""
        blocks = list(self.body.surfaces) if isinstance(self.body, Built) else [self.body.armature, *self.body.meshes]
        blocks += [*self.body.tags, *([] if self.root is None else [self.root])]
        for part in self.parts.values():
            blocks += [part.root, *part.built.surfaces, *part.built.tags]
        return blocks


@dataclass(frozen=True)
class CharacterOptions:
    """What of a character to bring along; the import operator declares the same options."""

    animations: bool = True  # all of its group; else bones alone
    make_all: bool = False  # actions of all rows at once; else each is made when it is first played
    animation: str = ""  # the one that is shown at first; "": one that stands
    weapon: str = ""  # to hold in hand: its name, or its path in the game; "": the character's own, "none": none
    scale: float = 1.0
    weld: bool = True
    fit_range: bool = True
    as_shown: bool = True  # as large as the game shows it, and there
    remaster: bool = False  # the body with bones that some engines show in the body's place


def character_at(path: Path, disk: Disk, wanted: str = "", skin: str = "") -> CharacterFiles:
    """Return the character that a path means: a file's; of an archive, or a file of several, the `wanted`.

    Raises:
        ModelError: there is none, there are several, or the file can't be read.
    """
    if not path.name.lower().endswith(ARCHIVES):
        return character_of(disk.file(path), skin, wanted)
    every = characters_in(disk.store(path))
    shown = {name or place_of(file): (file, name) for file in every for name in names_in(file)}
    key = without_end(wanted.lower())
    fitting = [found for name, found in shown.items() if not key or f"/{name.lower()}".endswith(f"/{key}")]
    if len(fitting) == 1:
        file, name = fitting[0]
        return character_of(file, skin, name)
    if not shown:
        raise LimitError("there is no character in it")
    lack = "there are several characters, say which" if fitting else f"no character '{wanted}'"
    raise LimitError(f"{lack}: {listed(list(shown))}")


def is_player(path: Path, disk: Disk, name: str) -> bool:
    """Tell whether a path means a player of Quake III, which has parts in place of a body: see `tasks.player`."""
    try:
        players_at(path, disk, name)
    except ModelError:
        return False
    return True


def import_character(
    files: CharacterFiles,
    options: CharacterOptions,
    dressing: Dressing,
    context: Context,
    into: bpy.types.Collection,
) -> tuple[CharacterBuilt, Summary]:
    """Bring a character into the scene: what there is of it, and a warning for what is missing.

    Raises:
        ModelError: its body is missing or can't be read, or there is no such weapon; the .blend is as it was.
    """
    if files.body is None:
        raise LimitError("; ".join(files.missing) or "it has no body")
    with collected_warnings() as warnings, undone_on_failure():
        warnings.extend(files.missing)
        files = _as_wanted(files, options)
        if files.body is None:
            raise LimitError("it has no body")
        collection = bpy.data.collections.new(names.fit(files.name))
        names.remember(collection, files.name)
        collection[FILE] = files.file.place
        importing = _Importing(files, options, dressing, context, collection)
        with _naming(files.body):
            body, said = importing.body(files.body)
        warnings.extend(said.warnings)
        character = CharacterBuilt(collection, body)
        for piece in files.pieces:
            try:
                character.parts[piece.kind] = importing.piece(piece, body)
            except ModelError as error:
                log.warning("%s: %s: %s is missing", piece.file.name, error, piece.kind)
        if isinstance(body, Posed):
            shown = files.shown if options.as_shown else Shown()
            _hang_all(character, body, files.pieces, options.scale, shown.scale)
            character.root = _show_as_the_game(body, files.name, shown, options.scale)
        head = character.parts.get(HEAD)
        if head is not None and options.animations:
            animate_head(head, files.head_rows, rate_of(context.scene))
        there = [piece for piece in files.pieces if piece.kind in character.parts]
        remember(collection, replace(files, pieces=there), options.scale)
        kind = kind_of(files.file)
        if isinstance(body, Posed) and kind is not None and kind.with_runs is not None:
            for action in body.actions:
                action[SAVED] = True
        into.children.link(collection)
    on = "" if isinstance(body, Built) else " on joints" if any(p.placing for p in files.pieces) else " on tags"
    parts = f", {plural(len(character.parts), 'part')}{on}" if files.pieces else ""
    shown_skin = frames.skin_of(body) if isinstance(body, Built) and not dressing.skin else ""
    facts = f"{said.facts}{parts}, skin {shown_skin or files.skin_name or NONE}"
    if not files.shown.as_files:
        text = ", {}, as the game shows it" if options.as_shown else ", which the game shows {}"
        facts += text.format(files.shown.facts)
    return character, Summary(facts, list(dict.fromkeys(warnings)))


@contextmanager
def _naming(file: GameFile) -> Iterator[None]:
    """Let errors say which of a character's files they are about."""
    try:
        yield
    except ModelError as error:
        raise ModelError(f"{file.name}: {error}") from error


def _as_wanted(files: CharacterFiles, options: CharacterOptions) -> CharacterFiles:
    """Return a character with the weapon that is wanted, and the body; raises LimitError for a weapon that is none."""
    pieces = list(files.pieces)
    if options.weapon and options.weapon.lower() != NONE and not files.choices:
        pieces.append(weapon_of(games_of(files), options.weapon))
    elif options.weapon and files.choices:
        known = {name.lower(): piece for name, piece in files.choices.items()}
        chosen = known.get(options.weapon.lower())
        if chosen is not None:
            pieces[-1] = chosen
        elif options.weapon.lower() == NONE:
            pieces.pop()
        else:
            log.warning("there is no weapon '%s': %s", options.weapon, listed(list(files.choices)))
    if not options.remaster:
        return replace(files, pieces=pieces)
    if files.instead is None:
        log.warning("there is no other body with bones: '%s' is shown", files.file.name)
        return replace(files, pieces=pieces)
    return files.instead


@dataclass(frozen=True, eq=False)
class _Importing:
    """A character on its way into the scene."""

    files: CharacterFiles
    options: CharacterOptions
    dressing: Dressing
    context: Context
    into: bpy.types.Collection

    def body(self, body: GameFile) -> tuple[Posed | Built, Summary]:
        """Return the body in the scene, in its skin, with the bones of the first file of frames that has them."""
        row = by_suffix(body) or by_name("md5mesh")
        if row.family is VERTEX:
            build = BuildSettings(self.options.scale, self.options.weld, fit_range=self.options.fit_range)
            return frames.import_body(self.files, body, build, self.dressing, self.context, self.into)
        settings = SkeletalSettings(self.options.scale, self.options.weld, self.options.fit_range)
        by_name_of_surface = self.files.skin is not None and not self.files.in_order
        worn = replace(self.dressing, skin=self.files.skin_name if by_name_of_surface else NONE)
        has_bones = not row.skeletal.companions
        known = [motion.file for motion in self.files.motions if motion.file != body]
        wanted = ImportSettings(
            self.options.animations,
            chosen=tuple(known if has_bones else known[1:]) if self.options.animations else (),
            animation=None if has_bones else next(iter(known), None),
            rows={motion.file: motion.rows for motion in self.files.motions},
            kept=self.kept(row, self.files.motions, self.files.notes, self.options.animation),
            names=_names(self.files.motions),
            decl=self.files.decl or self.files.in_order or None,
            bind=FIT if row.skeletal.bind_pose_missing else AS_FILE,
            dressing=worn,
        )
        try:
            posed, said = import_skeletal(body, settings, wanted, self.context, self.into)
        except ModelError as error:
            if wanted.animation is None:
                raise
            log.warning("%s: the body has other bones, or none", error)
            return import_skeletal(body, settings, ImportSettings(bind=FIT, dressing=worn), self.context, self.into)
        if any(self.files.declared):
            note(posed.armature, *self.files.declared, [name for motion in self.files.motions for name in motion.names])
        if wanted.kept is None:
            _show_notes(posed, self.files.notes)
        return posed, said

    def piece(self, piece: Piece, body: Posed | Built) -> PartBuilt:
        """Return a part's model in the scene, dressed, on a root of its own; its warnings name the file."""
        if isinstance(body, Built):
            build = BuildSettings(self.options.scale, self.options.weld)
            return frames.import_in_step(piece, build, self.dressing, self.context.scene, self.into, body)
        own = "" if piece.skin is None else piece.skin.stem
        worn = replace(self.dressing, skin=own.removeprefix(f"{piece.file.stem}_") or NONE)
        row, scene = by_suffix(piece.file) or by_name("md3"), self.context.scene
        if row.family is SKELETAL:
            wanted = ImportSettings(False, decl=piece.decl, dressing=worn)
            if self.options.animations and piece.motions:
                chosen = tuple(motion.file for motion in piece.motions)
                kept = self.kept(row, piece.motions, piece.notes)
                wanted = replace(wanted, animations=True, chosen=chosen, names=_names(piece.motions), kept=kept)
            quiet = SkeletalSettings(self.options.scale, self.options.weld, fit_range=False, frame_rate=False)
            posed, summary = import_skeletal(piece.file, quiet, wanted, self.context, self.into)
            if wanted.kept is None:
                _show_notes(posed, piece.notes)
            built = Built(posed.collection, 1, [posed.armature, *posed.meshes], posed.tags)
            tags = {names.file_name_of(tag).lower(): tag for tag in posed.tags}
            part = PartBuilt(piece.kind, make_rig_root(posed, piece.kind), built, tags)
        else:
            dress = materials_for(piece.file, row, worn, rate_of(scene), skin=piece.skin or piece.decl)
            settings = BuildSettings(scale=self.options.scale, weld=self.options.weld, fit_range=False)
            built, summary = import_file(piece.file, settings, scene, self.into, worn, dress)
            part = make_part_root(built, piece.kind)
        for text in summary.warnings:
            log.warning("%s: %s", piece.file.name, text)
        return part

    def kept(self, row: Format, motions: Sequence[MotionFile], said: Said, first: str = "") -> Kept | None:
        """Return how the files of a model's frames are kept with its armature; None where all are actions at once.

        Those are: what the model's own file has; with scales of joints beside it; with runs that have no actions.
        """
        own = [motion for motion in motions if by_suffix(motion.file) is not row]
        if not self.options.animations or not own:
            return None
        kept = Kept(names_in_game(self.files, [motion.file for motion in own]), first, self.options.make_all)
        if row.skeletal.companions:
            return kept
        apart = row.skeletal.animation
        scales = "" if apart is None else apart.motion.scales
        if any(motion.rows or not motion.names or _lies_beside(motion.file, scales) for motion in own):
            return None
        return replace(kept, names=_names(own), said=said)


def _names(motions: Iterable[MotionFile]) -> dict[GameFile, Sequence[str]]:
    """Return what files of frames are called that are animations."""
    return {motion.file: motion.names for motion in motions if motion.names}


def _lies_beside(file: GameFile, suffix: str) -> bool:
    return bool(suffix) and file.beside(file.stem + suffix).is_file()


def _show_notes(posed: Posed, notes: Mapping[str, Mapping[str, str]]) -> None:
    """Let actions show what their game says of them beside frames and rate."""
    for action in posed.actions:
        for key, text in notes.get(names.file_name_of(action), {}).items():
            show(action, NOTES[key], text)


def _show_as_the_game(body: Posed, name: str, shown: Shown, scale: float) -> Block | None:
    """Hang a body on a root that is as large as the game shows it, and stands there; None where its files say all.

    It is written as its root sees it, so that its files don't change. `scale` is the size of a game unit.
    """
    if shown.as_files:
        return None
    root = make_root(f"{name} root", [body.armature, *body.meshes, *body.tags], body.collection)
    first = next((bone for bone in file_order(body.armature.data.bones) if bone.parent is None), None)
    joint = np.zeros(3) if first is None else joint_at_rest(first)[:3, 3]
    still = joint if shown.still is None else np.array(shown.still) * scale
    root.location = (np.array(shown.moved) * scale + (1.0 - shown.scale) * still).tolist()
    root.scale = [shown.scale] * 3
    return root


def _hang_all(
    character: CharacterBuilt, posed: Posed, pieces: Iterable[Piece], scale: float, shown_scale: float
) -> None:
    """Hang parts on the tags of body and other parts, as games do; where one is missing, near it, and say so."""
    body = {names.file_name_of(tag).lower(): tag for tag in posed.tags}
    tags = {BODY: body} | {kind: part.tags for kind, part in character.parts.items()}
    rig = posed.armature
    for piece in pieces:
        part = character.parts.get(piece.kind)
        if part is None:
            continue
        if piece.placing is not None:
            _hang_on_joint(part, piece, piece.placing, rig, scale)
            continue
        tag = tags.get(piece.on, {}).get(piece.tag)
        size = 1.0 / shown_scale if piece.own_size else 1.0
        if tag is not None:
            hang(part.root, tag, rig, size)
            continue
        near = None if piece.on == BODY else body.get(piece.near)
        where = f"the body's {piece.near}" if near is not None else "the body's origin"
        log.warning("no %s of the %s to hang %s on: it stands at %s", piece.tag, piece.on, piece.kind, where)
        if near is not None:
            hang(part.root, near, rig, size)
        else:
            part.root.parent = rig
    for part in character.parts.values():
        note_place(part.root)


def _hang_on_joint(part: PartBuilt, piece: Piece, placing: Placing, rig: Block, scale: float) -> None:
    """Hang a part on a joint of the body; where that is missing at the body's origin, and say so."""
    bone = bone_of(rig, piece.tag)
    if bone is None:
        log.warning("no joint %s of the body to hang %s on: it stands at the body's origin", piece.tag, piece.kind)
        part.root.parent = rig
        return
    joint = joint_at_rest(bone)
    if placing.pose is not None:
        joint = _posed(placing.pose, piece.tag, scale, joint)
    origin, angles, moved = (np.array(each) for each in (placing.origin, placing.angles, placing.moved))
    hang_on_joint(part.root, rig, bone, joint, placed(joint, origin * scale, angles, placing.turned, moved * scale))


def _posed(file: GameFile, name: str, scale: float, rest: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return where a joint stands in the first frame of a file, (4, 4); as at rest where the file has no such joint."""
    try:
        motion = load_animation(file, by_name("md5mesh"))
    except ModelError:  # it was said when the body was imported
        return rest
    index = next((nth for nth, each in enumerate(motion.joint_names) if each.lower() == name.lower()), -1)
    if index < 0 or not motion.num_frames:
        return rest
    places, turns = chain(motion.parents, motion.positions[0], motion.rotations[0])
    found: NDArray[np.float64] = joint_matrices(places, turns, scale)[index]
    return found


def animate_head(head: PartBuilt, rows: Sequence[Clip], rate: float) -> None:
    """Make the actions of a head's rows, at the scene's frames per second, and let it play the first, as games do."""
    count, identity = head.built.num_frames, str(head.root.get(MODEL_ID, ""))
    if count < 2 or not identity or not rows:
        return
    every = make_whole(head.root, count, identity)
    every.name = f"{WHOLE_ROW} ({head.kind})"
    actions = [make_row(row, identity, rate / row.frame_rate, count) for row in rows]
    for action in actions:
        keep(head.root, action)
    play_row(head.root, actions[0])
