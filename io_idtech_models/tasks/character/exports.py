"""Whole characters out of the scene: body, parts, skins, files of frames and texts; what was not edited as it was."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any
from zlib import crc32

import bpy
import numpy as np
from mathutils import Matrix

from ... import formats
from ...assets.export_request import ExportRequest
from ...assets.player import write_into_game
from ...blender import names
from ...blender.compat import Block, Context
from ...blender.hanging import AT_HOME, in_space
from ...blender.playback import used_actions
from ...blender.player.parts import all_shown, find_player
from ...blender.properties import FRAME_COMMANDS
from ...blender.provenance import FILE, SKIN, model_of
from ...blender.roots import follows, hangs_on, is_root
from ...blender.scene import ExportScene
from ...blender.skeletal import runs
from ...blender.skeletal.kept_frames import kept_data, kept_files
from ...blender.skeletal.rig_scene import RigScene, SkeletalGatherSettings, rig_scene
from ...blender.space import space_of
from ...blender.vertex.frame_plan import GatherSettings
from ...blender.vertex.movement import is_moving, may_move
from ...blender.vertex.shown_keys import has_frames
from ...blender.window import object_mode
from ...formats import SKELETAL, VERTEX, Format
from ...game.character.files import BODY, HEAD
from ...game.character.kinds import Kind, character_of, kind_named
from ...game.skin import SUFFIX as SKIN_SUFFIX
from ...model import steady
from ...model.limits.games import NO_GAME
from ...model.limits.tags import gone_tags
from ...model.skeletal import SkeletalModel
from ...model.transforms import inverse
from ...reporting import LimitError, ModelError, Summary, collected_warnings, listed, plural
from ..export.advice import is_posed, of_materials
from ..export.motion_sources import NoActionError, actions_of
from ..export.selection import Choice, bending, beside_body, choose, left_out, part_of
from ..export.skeletal import model_file, whole_model
from ..export.skin_files import skin_of, skin_worn
from ..export.vertex import gathered, kept_format
from ..import_.games import user_disk
from .attached import added, as_part, gone, is_moved_off, path_of
from .declare import block_of, frames_beyond, notes_of
from .motions import ActionFile, MotionsSaved, save_actions, save_motions, save_unmade
from .painted import painted, painted_file
from .record import CharacterFound, find, is_of_frames, worn_in
from .skin_lines import in_order, say_of_others

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class CharacterSave:
    """What of a character is written; the export operator declares the same options."""

    game: str = NO_GAME
    edited_only: bool = False


@dataclass(eq=False)
class SavedCharacter:
    """The files of a character, by their paths in its game."""

    name: str
    files: dict[str, bytes] = field(default_factory=dict)
    edited: list[str] = field(default_factory=list)  # which of them are others than they were
    kind: Kind | None = None
    declarations: dict[str, bytes] = field(default_factory=dict)  # what of this the target lacks goes there, too


def chosen_character(context: Context, collection_name: str = "") -> CharacterFound:
    """Return the character of the active object, of what is selected, or the scene's only one.

    Raises:
        LimitError: there is none, or there are several.
    """
    active = context.view_layer.objects.active
    every = [found for found in (find(each, active) for each in bpy.data.collections) if found is not None]
    if collection_name:
        own = [found for found in every if found.collection.name == collection_name]
    else:
        chosen = [b for b in context.scene.objects if b.select_get(view_layer=context.view_layer)]
        shown = [found for found in every if found.rig.name in context.scene.objects]
        own = _holding(every, [active]) or _holding(every, chosen) or shown
    if len(own) == 1:
        return own[0]
    if not own:
        raise LimitError("there is no character: import one first (File > Import > id Tech > Character)")
    called = listed([found.collection.name for found in own])
    raise LimitError(f"there are {len(own)} characters, make an object of one active: {called}")


def is_player(context: Context) -> bool:
    """Tell whether the active object is part of a player of Quake III, and of no character."""
    active = context.view_layer.objects.active
    every = [found for found in map(find, bpy.data.collections) if found is not None]
    return active is not None and not _holding(every, [active]) and find_player(active) is not None


def _holding(every: Iterable[CharacterFound], blocks: Iterable[Block | None]) -> list[CharacterFound]:
    listed_ = [block for block in blocks if block is not None]
    return [found for found in every if any(found.collection.all_objects.get(b.name) == b for b in listed_)]


def save_character(
    character: CharacterFound, options: CharacterSave, context: Context
) -> tuple[SavedCharacter, Summary]:
    """Return the files of a character, as the scene shows it; what has not been edited as it was.

    Raises:
        ModelError: a file can't be written.
    """
    with collected_warnings() as warnings, object_mode(context):
        saving = _Saving(character, options, context)
        saving.body()
        for kind in character.record.models:
            if kind != BODY:
                saving.piece(kind)
        saving.attached()
        saving.strays()
        saving.texts()
        saving.besides()
        saved = saving.saved
    if options.edited_only:
        saved.files = {path: data for path, data in saved.files.items() if path in saved.edited}
        saved.declarations = {path: data for path, data in saved.declarations.items() if path in saved.edited}
        if not (saved.files or saved.declarations):
            raise LimitError(f"nothing of '{saved.name}' was edited: there is no file to write")
    edited = listed([PurePath(path).name for path in saved.edited], 20) if saved.edited else "nothing"
    facts = f"{plural(len(saved.files) + len(saved.declarations), 'file')}, edited: {edited}"
    return saved, Summary(facts, list(dict.fromkeys(warnings)))


class _Saving:
    """A character on its way into files."""

    def __init__(self, character: CharacterFound, options: CharacterSave, context: Context) -> None:
        self.character, self.record, self.context = character, character.record, context
        self.game = options.game
        self.saved = SavedCharacter(character.name, kind=kind_named(self.record.file))
        self.motions = MotionsSaved()
        self.bent: RigScene | None = None  # what was gathered last
        self.taken: set[Any] = set()  # what is written
        self.other_skin = ""  # that is declared, and worn by now
        self.body_skin = ""  # the path of the one that is worn
        self.played: dict[str, list[ActionFile]] = {}  # of files that there were, by BODY and kinds of pieces
        self.new_actions: dict[str, ActionFile] = {}  # that no file was yet, by their paths

    def game_for(self, row: Format) -> str:
        """Return the game whose limits a format's files keep: none where it does not read such."""
        return self.game if self.game in row.games else NO_GAME

    def put(self, path: str, data: bytes, is_source: bool) -> None:
        """Write a file, and note whether it was edited."""
        if not path or (is_source and path in self.saved.edited):  # of two of a file the one that was edited counts
            return
        self.saved.files[path] = data
        if not is_source and path not in self.saved.edited:
            self.saved.edited.append(path)

    def model(self, kind: str, data: bytes) -> None:
        """Write a model."""
        path, known = self.record.models[kind], self.record.sums.get(kind)
        row, is_source = formats.by_suffix(PurePath(path)), known == f"{crc32(data):08x}"
        if row is not None and row.is_text and not is_source:
            source = self._source(path, known)
            is_source = source is not None and row.dump(row.load(source, PurePath(path).stem)) == data
            data = source if is_source and source is not None else data
        self.put(path, data, is_source)

    def _source(self, path: str, checksum: str | None) -> bytes | None:
        """Return the bytes that a file had: texts can say the same in other letters; None where it is another now."""
        try:
            data = user_disk().file(Path(self.record.besides[path])).read()
        except (ModelError, KeyError):
            return None
        return data if f"{crc32(data):08x}" == checksum else None

    def body(self) -> None:
        """Write the body, its skin, and the files of frames."""
        path = self.record.models.get(BODY, "")
        row = formats.by_suffix(PurePath(path or str(self.character.body.get(FILE, ""))))
        if row is None:
            raise LimitError(f"'{path}' is no model of a format that can be written")
        rig, home = self.character.rig, self.character.body
        beside = beside_body(self.context, rig, self.character.root, [*home.all_objects])
        if row.family is VERTEX:
            chosen = choose(self.context, "COLLECTION", home.name)
            self._model_of_frames(BODY, replace(chosen, blocks=[*chosen.blocks, *beside]))
            return
        copies = self.character.copies
        if copies:
            text = "copies of '%s' are left out, make one active to save that in its place: %s"
            log.warning(text, rig.name, listed([copy.name for copy in copies]))
        theirs = {b for b in home.all_objects if b in copies or any(follows(b, copy) for copy in copies)}
        own = [b for b in home.all_objects if b.type in ("MESH", "EMPTY", "ARMATURE") and b not in theirs]
        bent = [block for block in beside if rig in bending(block)]
        mine = [*(block for block in own if not is_root(block) and not _is_foreign(block, rig)), *bent]
        with _at_origin(rig, self.character.root, self.context.view_layer):
            blocks = self._model_of_bones(BODY, row, mine, rig)
        self._skin(BODY, home, [block for block in blocks if block.type == "MESH"], {})

    def _model_of_bones(self, kind: str, row: Format, mine: list[Block], rig: Block) -> list[Block]:
        """Write a model with bones, and its files of frames, in its armature's own space; returns its objects."""
        path, settings = self.record.models[kind], SkeletalGatherSettings(scale=self.record.scale, normals="SOURCE")
        layer = self.context.view_layer
        export = rig_scene(self.context.scene, layer, settings, rig)
        with all_shown(layer, mine), in_space(settings.space, mine, layer) as note:
            blocks = whole_model(mine, self.context)
            written = model_file(ExportRequest(Path(PurePath(path).name), self.game_for(row)), row, export, blocks)
            self.bent = export
            self._motions(kind, export, row, written.model)
        self._say(path, [*written.notes, *map(str, gone_tags(written.model)), *([note] if note else [])])
        self.model(kind, written.data)
        self.taken |= set(blocks)
        return blocks

    def _motions(self, kind: str, export: RigScene, row: Format, model: SkeletalModel) -> None:
        """Write the files of frames that the armature keeps, or those that its actions are."""
        apart, files = row.skeletal.animation, kept_files(export.rig)
        if apart is None or any(not file.is_animation for file in files):
            self.motions = save_motions(export, model, self.game_for(formats.by_name("mdx")))
            self.saved.files |= {path: data for path, data in self.motions.files.items() if path}
            self.saved.edited += [path for path in self.motions.edited if path]
            return
        game = self.game_for(apart)
        known = kept_data(export.rig)
        kept = {file.game_name: known.of(nth) for nth, file in enumerate(files) if file.game_name}
        if self.record.motions.get(kind):
            made = save_actions(export, model, apart, game)
            self._own_files(kind, [*save_unmade(export, model, apart, game), *made], apart.suffixes[0], kept)
        for path, data in kept.items():
            self.saved.files.setdefault(path, data)

    def _own_files(self, kind: str, found: Iterable[ActionFile], suffix: str, kept: Mapping[str, bytes]) -> None:
        """Write the files that animations are, each where it came from; of new ones beside the first of the others.

        What the armature has `kept` of them, by their paths, is as they were.
        """
        place_of = {name: path for path, called in self.record.motions[kind].items() for name in called}
        folder = PurePath(next(iter(self.record.motions[kind]))).parent
        single = kind != BODY or self.saved.kind is None or not self.saved.kind.takes_actions
        new: dict[str, ActionFile] = {}
        every = list(found)
        own = [(place_of[each.name], each) for each in every if each.name in place_of]
        self._say_of_shared(own)
        self.played[kind] = [each for _, each in own if each.action is not None]
        for each in every:
            path = place_of.get(each.name)
            if path is None and single:
                log.warning("'%s' is no animation that the %s has in the game: left out", each.action.name, kind)
                continue
            if path is None:
                path = (folder / f"{each.name}{suffix}").as_posix()
                new[path] = each
            known = self.record.sums.get(path)
            is_source = each.is_source and path not in new
            before = kept.get(path) or self._source(path, known) if is_source else None
            self.put(path, before or each.data, is_source)
            for other, data in each.beside.items():
                beside = PurePath(path).with_suffix(other).as_posix()
                if not is_source or beside not in self.record.besides:
                    self.put(beside, data, is_source)
        self.new_actions |= new

    def _say_of_shared(self, own: Iterable[tuple[str, ActionFile]]) -> None:
        """Name the animations that play a file of frames which another one has changed."""
        by_path: dict[str, list[ActionFile]] = {}
        for path, each in own:
            by_path.setdefault(path, []).append(each)
        for path, files in by_path.items():
            edited = [file for file in files if not file.is_source]
            others = [file.name for file in files if edited and file.data != edited[-1].data]
            if others:
                text = (
                    "'%s' is written as '%s' shows it, and is the file of these, too, which play that from now on (a "
                    "copy under a new name has a file of its own): %s"
                )
                log.warning(text, PurePath(path).name, edited[-1].name, listed(others))

    def piece(self, kind: str) -> None:
        """Write what hangs on a tag or on a joint, and what it wears."""
        path = self.record.models[kind]
        root = self.character.pieces.get(kind)
        if root is None:
            if self.saved.kind is None or kind not in self.saved.kind.places:
                log.warning("%s is not in the scene: its file and what names it stay as they were", kind)
            return
        if is_moved_off(root, self.context.view_layer.depsgraph):
            text = "the root of '%s' stands off where the game hangs it, which no file says: move its objects instead"
            log.warning(text, names.file_name_of(root))
        chosen = part_of(self.context, root)
        self._say_moving(root, chosen.whole)
        self.taken.add(root)
        row = formats.by_suffix(PurePath(path))
        rig = next((block for block in chosen.whole if block.type == "ARMATURE"), None)
        if row is not None and row.family is SKELETAL and rig is not None:
            self._model_of_bones(kind, row, chosen.whole, rig)
        elif is_of_frames(self.record):  # it stands where the body stands, and goes where that goes
            with _seen_by(self.character.root, root, self.context.view_layer):
                self._model_of_frames(kind, chosen)
        else:
            self._model_of_frames(kind, chosen)

    def _say_moving(self, root: Block, blocks: list[Block]) -> None:
        """Say that a piece moves by itself whose file holds no motion: one of a single frame, or of bones."""
        called = names.file_name_of(root)
        posed = [rig for rig in blocks if rig.type == "ARMATURE" and is_posed(rig) and not used_actions(rig)]
        if posed:
            log.warning("'%s' has a pose that no action keeps, and its file no motion: written at rest", called)
            return
        if any(map(has_frames, blocks)) or not any(may_move(block, blocks) for block in blocks):
            return
        view_layer = self.context.view_layer
        export = ExportScene(self.context.scene, view_layer, None)
        if is_moving(blocks, export, space_of(blocks, None, export.evaluated)):
            text = "'%s' moves where the game hangs it, and its file stands still: written as it is in frame %d"
            log.warning(text, called, self.context.scene.frame_current)

    def attached(self) -> None:
        """Let skins attach what hangs on tags now, and write what is new there."""
        kind = self.saved.kind
        if kind is None or kind.with_parts is None:
            return
        skins = {BODY: self.body_skin, HEAD: self.record.skins.get(HEAD, "") if kind.head_attaches else self.body_skin}
        folder = PurePath(self.record.models[BODY]).parent.as_posix()
        new: dict[str, str] = {}
        for model in added(self.character, kind.places, self.taken):
            if skins[kind.places[model.kind][0]] not in self.saved.files:
                log.warning("left out, no skin could attach it: %s", listed([block.name for block in model.blocks]))
                continue
            new[model.kind] = place = path_of(model, self.character, f"{folder}/" if kind.head_attaches else "")
            with as_part(model, self.character.rig, self.context) as root:
                self._model_of_frames(model.kind, part_of(self.context, root), place)
        lost = gone(self.character, kind.places)
        for path in dict.fromkeys(skins.values()):
            own = [each for each in (*lost, *new) if skins[kind.places[each][0]] == path]
            if own and path in self.saved.files:
                parts = {each: new[each] for each in own if each in new}
                data = kind.with_parts(self.saved.files[path], [each for each in own if each in lost], parts, folder)
                self.put(path, data, data == self.saved.files[path])

    def _model_of_frames(self, kind: str, chosen: Choice, path: str = "") -> None:
        """Write a model of frames, and what it wears; `path` is that of a new one."""
        is_new, path = bool(path), path or self.record.models[kind]
        whole = replace(chosen, blocks=chosen.whole, hidden=[])
        row = kept_format(formats.by_suffix(PurePath(path)) or formats.by_name("md3"), chosen.collection)
        settings = GatherSettings(frames="KEYS", scale=self.record.scale)
        with all_shown(self.context.view_layer, whole.blocks):
            asked = ExportRequest(Path(PurePath(path).name), self.game_for(row))
            written = gathered(asked, row, whole, self.context, settings)
        self._say(path, [*written.notes, *map(str, gone_tags(written.model)), *left_out(whole)])
        self.taken |= set(whole.blocks)
        if is_new:
            self.put(path, written.data, is_source=False)
            return
        self.model(kind, written.data)
        self._skin(kind, chosen.collection, [b for b in whole.blocks if b.type == "MESH"], written.pieces)

    def _say(self, path: str, texts: Iterable[str]) -> None:
        for text in texts:
            log.warning("%s: %s", PurePath(path).name, text)

    def _skin(self, kind: str, home: Any, meshes: list[Block], pieces: Any) -> None:
        """Write the skin of a part, as its surfaces wear it."""
        path = self.record.skins.get(kind, "")
        old = self.record.texts.get(path)
        name = self.record.models.get(kind, "")
        model, row = PurePath(name).stem, formats.by_suffix(PurePath(name))
        self._say(name, [] if row is None else of_materials(meshes, row))
        known = PurePath(path).stem.removeprefix(f"{model}_")
        worn = known if home is None else str(home.get(SKIN, known))
        if kind == BODY and self.saved.kind is not None and self.saved.kind.skin_in_order and old is not None:
            data = in_order(self.bent, old)
            self.put(path, data, data == old)
            say_of_others(self.bent, self.record, path)
        elif kind == BODY and self.saved.kind is not None and self.saved.kind.with_worn is not None:
            worn = self.record.skin if home is None else str(home.get(SKIN, self.record.skin))
            self.other_skin = worn if worn != self.record.skin else ""
        elif path and worn and worn != known and kind == BODY:
            self._other_skin(path, worn, meshes, pieces)
        elif old is not None:
            data = skin_of(meshes, old, pieces)[0]
            self.put(path, data, data == old)
            self.body_skin = path if kind == BODY else self.body_skin

    def _other_skin(self, path: str, worn: str, meshes: list[Block], pieces: Any) -> None:
        """Let a character wear another skin: its file names that, and the skin that it wore stays."""
        kind, record = self.saved.kind, self.record
        found = skin_worn(meshes[0]) if meshes else None
        other = str(PurePath(path).with_name(f"{PurePath(record.models[BODY]).stem}_{worn}{SKIN_SUFFIX}"))
        other = other.replace(os.sep, "/")
        old = None if found is None else found.read()
        data = skin_of(meshes, old, pieces)[0]
        self.put(other, data, data == old)
        self.body_skin = other
        if kind is None or kind.with_skin is None:
            log.warning("'%s' is worn: who plays the character chooses it in the game", worn)
            return
        if record.file in record.texts:
            self.put(record.file, kind.with_skin(record.texts[record.file], worn), is_source=False)

    def strays(self) -> None:
        """Name what lies in the character's collection, or hangs on it, and goes into none of its files."""
        unknown = [kind for kind in self.character.pieces if kind not in self.record.models]
        if unknown:
            log.warning("no part of the character's own files, left out: %s", listed(unknown))
        known = {self.character.pieces[kind] for kind in unknown}
        own = [b for b in self.character.collection.all_objects if b.type == "MESH" and b not in self.taken]
        loose = [b.name for b in own if not model_of(b) and not any(hangs_on(b, root) for root in known)]
        if loose:
            log.warning("left out, they hang on no part of the character: %s", listed(loose))
        beside = beside_body(self.context, self.character.rig, self.character.root, self.taken)
        stiff = [block.name for block in beside if block.name not in loose]
        if stiff:
            text = "left out, no bone moves their points, give them weights and an Armature modifier: %s"
            log.warning(text, listed(stiff))

    def texts(self) -> None:
        """Write the texts, with what rows of tables say by now."""
        record, kind = self.record, self.saved.kind
        for path, data in record.texts.items():
            if path in record.declarations:
                self.saved.declarations[path] = data
            else:
                self.saved.files.setdefault(path, data)
        if self.new_actions and kind is not None and kind.with_animations is not None:
            anims = {each.name: [path] for path, each in self.new_actions.items()}
            blocks = {each.name: block_of(each.action) for each in self.new_actions.values()}
            own = kind.with_animations(self.saved.declarations, record.declared[0], anims, blocks)
            self.saved.declarations |= own
            self.saved.edited += own
        self._declare_notes()
        self._declare_skin()
        if kind is not None and kind.with_runs is not None:
            self._say_runs()
            for action in filter(runs.is_edited, used_actions(self.character.rig)):
                changed = [(run.told, run) for run in runs.runs_of(action) if run.name != run.told]
                self.put(record.file, kind.with_runs(record.texts[record.file], changed, runs.gone_of(action)), False)
        if not self.motions.rows:
            return
        if kind is None or kind.with_rows is None:
            raise LimitError("rows of this game's tables can't be written: let them have their names and frames")
        for path, data in kind.with_rows(record.texts, record.group, self.motions.rows).items():
            self.put(path, data, data == record.texts[path])

    def _declare_notes(self) -> None:
        """Let declarations say what the game does with animations by now."""
        kind, record = self.saved.kind, self.record
        if kind is None or kind.with_notes is None:
            return
        for piece, played in self.played.items():
            model = record.declared[0] if piece == BODY else record.models[piece]
            notes = {each.name: notes_of(each.action) for each in played}
            own = kind.with_notes(self.saved.declarations, model, notes) if model else {}
            self.saved.declarations |= own
            self.saved.edited += [path for path in own if path not in self.saved.edited]
            for each in played:
                beyond = frames_beyond(each.action, each.count) if own or not each.is_source else []
                if beyond:
                    text = "'%s' has %s and commands at %s, for which the game refuses the model: edit its %s"
                    log.warning(text, each.name, plural(each.count, "frame"), listed(beyond), FRAME_COMMANDS)

    def _declare_skin(self) -> None:
        """Let the declaration name the skin that is worn by now, which goes along with its materials."""
        kind, record, place = self.saved.kind, self.record, str(self.character.collection.get(FILE, ""))
        if not self.other_skin or kind is None or kind.with_worn is None:
            return
        more: dict[str, bytes] = {}
        try:
            files = character_of(user_disk().file(Path(place)), self.other_skin, record.name)
            more = kind.declared(files, worn_in(self.character.collection, files)) if kind.declared is not None else {}
        except ModelError:
            log.warning("'%s' is worn, but what declares it is gone: it does not go along", self.other_skin)
        own = kind.with_worn(self.saved.declarations, more, record.name, self.other_skin)
        self.saved.declarations |= own
        self.saved.edited += [path for path in own if path not in self.saved.edited]

    def _say_runs(self) -> None:
        """Say what of a table's rows is not in the body's frames, and what of these is in no row."""
        table, path = PurePath(self.record.file).name, PurePath(self.record.models[BODY])
        row = formats.by_suffix(path)
        if row is None or not row.has_motions:
            return
        try:
            actions = actions_of(self.character.rig, row)
        except NoActionError:
            text = "%s has no action: all frames are gone from %s, and rows of %s show none; undo it, or import anew"
            log.warning(text, self.character.rig.name, path.name, table)
            return
        apart = [action.name for action in actions if not runs.is_saved(action)]
        if apart:
            text = "%s: frames behind all others in %s, and in no row of %s: put their keys behind those of All Frames"
            log.warning(text, listed(apart), path.name, table)

    def besides(self) -> None:
        """Take along what belongs to the character and stands nowhere in the scene, as it is."""
        disk, lost = user_disk(), []
        images, told = painted(self.record.besides), []
        for path, place in self.record.besides.items():
            if path in self.saved.files:
                continue
            try:
                source = disk.file(Path(place)).read()
            except ModelError:
                lost.append(path)
                continue
            data = painted_file(images[path], path, source) if path in images else source
            told += [path] if data is None else []
            self.put(path, data or source, data is None or data == source)
        if told:
            log.warning("painted on, and written as the file has it, save the picture first: %s", listed(told))
        if lost:
            log.warning("left out, they are not where they were any more: %s", listed(lost))


@contextmanager
def _at_origin(rig: Block, root: Block | None, view_layer: Any) -> Iterator[None]:
    """Let an armature stand at the world's origin meanwhile, or at that of its root, wherever its character stands."""
    before, hung = rig.matrix_basis.copy(), rig.matrix_parent_inverse.copy()
    if root is not None and rig.parent == root:
        rig.matrix_parent_inverse = Matrix()
        rig.matrix_basis = Matrix()
    elif not np.array_equal(np.array(rig.matrix_world), np.eye(4)):
        rig.matrix_world = Matrix()
    else:
        yield
        return
    try:
        view_layer.update()
        yield
    finally:
        rig.matrix_parent_inverse = hung
        rig.matrix_basis = before
        view_layer.update()


@contextmanager
def _seen_by(space: Block | None, root: Block, view_layer: Any) -> Iterator[None]:
    """Let what hangs on a root stand in that one's own space as it stands in another root's, or the world's."""
    view_layer.update()
    own = np.array(root.matrix_world)
    way = own if space is None else steady.products(inverse(np.array(space.matrix_world)), own)
    if np.abs(way - np.eye(4)).max() <= AT_HOME:
        yield
        return
    before = [(block, block.matrix_parent_inverse.copy()) for block in root.children]
    try:
        for block, hung in before:
            block.matrix_parent_inverse = Matrix(steady.products(way, np.array(hung)).tolist())
        view_layer.update()
        yield
    finally:
        for block, hung in before:
            block.matrix_parent_inverse = hung
        view_layer.update()


def _is_foreign(block: Block, rig: Block) -> bool:
    """Tell whether an object in a body's collection hangs on a tag of its own: a model by itself."""
    above = None if block == rig else block.parent
    while above is not None and above != rig:
        if above.type == "EMPTY":
            return True
        above = above.parent
    return False


def write(saved: SavedCharacter, target: Path) -> list[str]:
    """Write a character's files below a game's folder, or into an archive, all or none; what else is there stays.

    Of declarations those go along that are not there in other files already; returns what is odd about these.

    Raises:
        ModelError: a file can't be written; all are as they were.
    """
    odd: list[str] = []
    if saved.kind is not None and saved.kind.settled is not None and saved.declarations:
        lacking, odd = saved.kind.settled(user_disk().store(target), saved.declarations)
        saved.files |= lacking
    write_into_game(target, saved.files)
    return odd
