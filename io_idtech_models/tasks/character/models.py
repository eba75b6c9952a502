"""The models of a character out of the scene: its body, and what hangs on it, each in its own space."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain, count, takewhile
from pathlib import Path, PurePath
from typing import Any

import numpy as np
from mathutils import Matrix

from ... import formats
from ...assets.export_request import ExportRequest
from ...assets.levels import level_targets
from ...blender import names
from ...blender.along import AT_HOME, along_with, going_along, way_of
from ...blender.compat import Block, Context
from ...blender.hanging import in_space
from ...blender.mesh.levels import levels_of
from ...blender.player.parts import all_shown
from ...blender.provenance import FILE, MODEL_ID, collections_of, model_of
from ...blender.roots import follows, hangs_on, is_carried, is_root, is_tag, root_of
from ...blender.scene import FACED, ExportScene, bending, held_by, objects_in, upward
from ...blender.skeletal.gather_motion import CHANNELS
from ...blender.skeletal.rig_scene import RigScene, SkeletalGatherSettings, rig_scene
from ...blender.skeletal.selfcheck import lone_pose
from ...blender.space import space_of, standing
from ...blender.takes import used_actions
from ...blender.vertex.frame_plan import GatherSettings
from ...blender.vertex.movement import is_moving, may_move
from ...formats import SKELETAL, VERTEX, Format
from ...formats.vertex_files import Written
from ...game.character.files import BODY, HEAD
from ...game.skin import read_skin
from ...model import steady
from ...model.limits.games import MOST_LEVELS
from ...model.limits.tags import gone_tags
from ...model.transforms import inverse
from ...model.vertex import VertexModel
from ...reporting import LimitError, listed
from ..export import levels
from ..export.advice import of_materials
from ..export.left_out import left_out
from ..export.selection import Choice, beside_body, choose, part_of
from ..export.skeletal import model_file, whole_model
from ..export.vertex import gathered, kept_format
from ..import_.games import user_disk
from .attached import MOVED, added, as_part, gone, is_moved_off, path_of, tags_of, with_all_on
from .motion_files import MotionFiles
from .motions import unmade_motions
from .record import CharacterFound, is_of_frames
from .saved import SavedCharacter
from .skins import SkinsSaved

log = logging.getLogger(__name__)
HEAD_FRAMES = (
    "the game plays the head's frames by the numbers in its table (hudheadanims), which is not written, and frames "
    "have others now: change that, too"
)


class ModelsSaved:
    """The models of a character on their way into files, with their skins and motions."""

    def __init__(self, character: CharacterFound, saved: SavedCharacter, context: Context) -> None:
        self.character, self.record, self.context = character, character.record, context
        self.saved = saved
        self.skins = SkinsSaved(saved)
        self.motions = MotionFiles(saved)
        self.known: set[Any] = set()  # objects that are written, or of which a message says that they are not

    def body(self) -> None:
        """Write the body, its skin, and the files of frames.

        Raises:
            ModelError: a file can't be written.
        """
        path = self.record.models.get(BODY, "")
        row = formats.by_suffix(PurePath(path or str(self.character.body.get(FILE, ""))))
        if row is None:
            raise LimitError(f"'{path}' is no model of a format that can be written")
        rig, home = self.character.rig, self.character.body
        beside = beside_body(self.context, rig, self.character.root, objects_in(home))
        if row.family is VERTEX:
            chosen = choose(self.context, "COLLECTION", home.name)
            self._of_frames(BODY, replace(chosen, blocks=[*chosen.blocks, *beside]))
            return
        copies = self.character.copies
        if copies:
            text = "copies of '%s' are left out, make one active to save that in its place: %s"
            log.warning(text, rig.name, listed([copy.name for copy in copies]))
        carriers = {*copies, *map(root_of, copies)} - {None, self.character.root}
        theirs = {b for b in objects_in(self.character.collection) if any(b == c or follows(b, c) for c in carriers)}
        self.known |= theirs
        own = [b for b in objects_in(home) if b.type in ("MESH", "EMPTY", "ARMATURE") and b not in theirs]
        bent = [block for block in beside if rig in bending(block)]
        mine = [*(block for block in own if not is_root(block) and not _is_foreign(block, rig)), *bent]
        _say_of_place(rig, self.character.root)
        with _at_origin(rig, self.character.root, self.context.view_layer):
            export, blocks = self._of_bones(BODY, row, mine, rig)
        meshes = [block for block in blocks if block.type == "MESH"]
        self._say(path, of_materials(meshes, row))
        self.skins.save(BODY, home, meshes, {}, export)

    def _of_bones(self, kind: str, row: Format, mine: list[Block], rig: Block) -> tuple[RigScene, list[Block]]:
        """Write a model with bones, and its files of frames, in its armature's own space; returns its objects, too."""
        path, settings = self.record.models[kind], SkeletalGatherSettings(scale=self.record.scale, normals="SOURCE")
        layer = self.context.view_layer
        export = rig_scene(self.context.scene, layer, settings, rig)
        with all_shown(layer, mine), in_space(settings.space, mine, layer) as notes:
            blocks = whole_model(mine, self.context)
            asked = ExportRequest(Path(PurePath(path).name), self.saved.game_for(row))
            written = model_file(asked, row, export, blocks, partial(unmade_motions, rig, self.context.scene))
            self.motions.save(kind, export, row, written.model)
            is_posed = not used_actions(rig) and bool(lone_pose(export, written.model))
        if is_posed:
            text = "'%s' has a pose that no action keeps, and its file no motion: written at rest"
            log.warning(text, PurePath(path).stem)
        self._say(path, [*written.notes, *map(str, gone_tags(written.model)), *notes])
        afar = {block for holder in (rig, *rig.users_collection) for block in _of_levels(holder)}
        self._say(path, row.lost_levels() if afar else [])
        self.saved.put_model(kind, written.data)
        self.known |= {*blocks, *afar}
        return export, blocks

    def piece(self, kind: str) -> None:
        """Write what hangs on a tag or on a joint, and what it wears.

        Raises:
            ModelError: a file can't be written.
        """
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
        self.known.add(root)
        row = formats.by_suffix(PurePath(path))
        rig = next((block for block in chosen.whole if block.type == "ARMATURE"), None)
        if row is not None and row.family is SKELETAL and rig is not None:
            self._of_bones(kind, row, chosen.whole, rig)
            self._say_moving(root, chosen.whole, has_motion=kind in self.record.motions)
        elif is_of_frames(self.record):  # it stands where the body stands, and goes where that goes
            with _seen_by(self.character.root, root, self.context.view_layer):
                self._with_frames(root, kind, chosen)
        else:
            self._with_frames(root, kind, chosen)

    def _with_frames(self, root: Block, kind: str, chosen: Choice, path: str = "") -> str:
        """Write a model of frames that hangs on a root; one of a single frame that moves there by itself is said.

        Returns the path of its file.
        """
        frames, place = self._of_frames(kind, chosen, path)
        self._say_moving(root, chosen.whole, has_motion=frames > 1)
        return place

    def _say_moving(self, root: Block, blocks: list[Block], has_motion: bool) -> None:
        """Say that a piece moves by itself whose file holds no motion, or stands elsewhere than on its root."""
        export = ExportScene(self.context.scene, self.context.view_layer, None)
        space = space_of(blocks, None, export.evaluated)
        called, now = names.file_name_of(root), self.context.scene.frame_current
        if space.strangers:
            text = "no more on the root of '%s', written as they stand against that in frame %d, hang them on it: %s"
            log.warning(text, called, now, listed([str(block.name) for block in space.strangers]))
            return
        may = not has_motion and any(may_move(block, blocks) for block in blocks)
        if may and is_moving(blocks, export, space):
            text = "'%s' moves where the game hangs it, and its file stands still: written as it is in frame %d"
            log.warning(text, called, now)

    def attached(self) -> None:
        """Let skins attach what hangs on tags now, and write what is new there.

        Raises:
            ModelError: a file can't be written.
        """
        kind = self.saved.kind
        if kind is None or kind.with_parts is None:
            return
        skins = self.skins.attaching()
        folder = PurePath(self.record.models[BODY]).parent.as_posix()
        new: dict[str, str] = {}
        for model in added(self.character, kind.places, self.known):
            if skins[kind.places[model.kind][0]] not in self.saved.files:
                log.warning("left out, no skin could attach it: %s", listed([block.name for block in model.blocks]))
                self.known |= with_all_on(model.blocks)
                continue
            place = path_of(model, self.character, f"{folder}/" if kind.head_attaches else "")
            with as_part(model, self.character.rig, self.context) as root:
                chosen = part_of(self.context, root)
                ids = {model_of(block) for block in chosen.whole}
                if chosen.collection is not None and chosen.collection.get(MODEL_ID) not in ids:  # it lies with another
                    chosen.collection = next(iter(collections_of(ids)), None)
                new[model.kind] = self._with_frames(root, model.kind, chosen, place)
        self._say_bare(skins, new)
        lost = gone(self.character, kind.places)
        for path in dict.fromkeys(skins.values()):
            own = [each for each in (*lost, *new) if skins[kind.places[each][0]] == path]
            if own and path in self.saved.files:
                parts = {each: new[each] for each in own if each in new}
                data = kind.with_parts(self.saved.files[path], [each for each in own if each in lost], parts, folder)
                self.saved.put(path, data, data == self.saved.files[path])

    def _say_bare(self, skins: Mapping[str, str], new: Mapping[str, str]) -> None:
        """Name what hangs on tags by the skin that was worn before, and the one that is worn now does not attach."""
        kind, files = self.saved.kind, self.saved.files
        places = {} if kind is None else kind.places
        own = {key: skins[places[key][0]] for key in self.character.pieces if key in places and key not in new}
        others = {key: path for key, path in own.items() if path in files and path not in self.record.skins.values()}
        bare = [key for key, path in others.items() if key not in read_skin(files[path]).attached()]
        if bare:
            text = "the skin '%s' attaches none of these, which are shown: give it lines for them, or delete them: %s"
            log.warning(text, PurePath(others[bare[0]]).name, listed(sorted(bare)))

    def _of_frames(self, kind: str, chosen: Choice, path: str = "") -> tuple[int, str]:
        """Write a model of frames, and what it wears; `path` is that of a new one, if that is free or the same.

        Returns how many frames it has, and its path.
        """
        is_new, path = bool(path), path or self.record.models[kind]
        whole = chosen.with_hidden()
        row = kept_format(formats.by_suffix(PurePath(path)) or formats.by_name("md3"), chosen.collection)
        settings = GatherSettings(frames="KEYS", scale=self.record.scale)

        def made_of(choice: Choice) -> Written:
            asked = ExportRequest(Path(PurePath(path).name), self.saved.game_for(row))
            return gathered(asked, row, choice, self.context, settings)

        with all_shown(self.context.view_layer, whole.blocks):
            written = made_of(whole)
            path = self._free(path, written.data) if is_new else path
            self._levels(path, row, whole, written.model, made_of)
        self._say(path, [*written.notes, *map(str, gone_tags(written.model)), *left_out(whole)])
        if kind == HEAD and any(b"hudheadanims" in text for text in self.record.texts.values()):
            self._say(path, [HEAD_FRAMES] if _has_moved_frames(written.model) else [])
        self.known |= set(whole.blocks)
        if is_new:
            self.saved.put(path, written.data, is_source=False)
        else:
            self.saved.put_model(kind, written.data)
            meshes = [block for block in whole.blocks if block.type == "MESH"]
            self._say(path, of_materials(meshes, row))
            self.skins.save(kind, chosen.collection, meshes, written.pieces)
            self._say_stale(path, row, "" if chosen.collection is None else str(chosen.collection.get(FILE, "")))
        return written.model.num_frames, path

    def _free(self, path: str, data: bytes) -> str:
        """Return the path of a new file: another one, with a number, where a file that differs has it already."""
        place = PurePath(path)
        others = (place.with_name(f"{place.stem}_{number}{place.suffix}").as_posix() for number in count(2))
        return next(each for each in chain([path], others) if self.saved.files.get(each, data) == data)

    def _levels(
        self, path: str, row: Format, whole: Choice, model: VertexModel, made_of: Callable[[Choice], Written]
    ) -> None:
        """Write the levels of detail that a model of frames has in the scene, beside it."""
        own = _of_levels(levels.holder_of(whole))
        if own and not row.vertex.level_files:
            self._say(path, row.lost_levels())
            self.known |= own
        elif own:
            files = levels.files_of_scene(Path(path), whole, model, self.context, made_of)
            for target, data in files:
                self.saved.put(target.as_posix(), data, is_source=False)
            self.known |= own if files else set()
            levels.say_stale(Path(path), whole, self.context, self.record.scale)

    def _say_stale(self, path: str, row: Format, place: str) -> None:
        """Name the levels of detail in the game of a model that was edited, and that are in no scene."""
        if not place or not row.vertex.level_files or path not in self.saved.edited:
            return
        for target in level_targets(Path(place), range(1, MOST_LEVELS + 1)):
            own = PurePath(path).with_name(target.name).as_posix()
            if own not in self.saved.files and user_disk().file(target).is_file():
                log.warning(levels.STALE, PurePath(path).name, target.name)

    def _say(self, path: str, texts: Iterable[str]) -> None:
        for text in texts:
            log.warning("%s: %s", PurePath(path).name, text)

    def strays(self) -> None:
        """Name what lies in the character's collection, or hangs on it, and goes into none of its files."""
        unknown = [kind for kind in self.character.pieces if kind not in self.record.models]
        if unknown:
            log.warning("no part of the character's own files, left out: %s", listed(unknown))
        roots = {self.character.pieces[kind] for kind in unknown}
        own = [b for b in objects_in(self.character.collection) if b.type == "MESH" and b not in self.known]
        loose = [b.name for b in own if not any(hangs_on(b, root) for root in roots)]
        if loose:
            log.warning(
                "left out, no part of the character takes them, hang them on the root of one: %s", listed(loose)
            )
        beside = beside_body(self.context, self.character.rig, self.character.root, self.known)
        stiff = [block.name for block in beside if block.name not in loose]
        if stiff:
            text = "left out, no bone moves their points, give them weights and an Armature modifier: %s"
            log.warning(text, listed(stiff))
        tags = set(tags_of(self.character).values())
        faces = (b for b in self.context.scene.objects if b.type in FACED and b not in self.known)
        led = (
            b for b in faces if any(held_by(each)[0] in tags for each in takewhile(lambda e: not is_tag(e), upward(b)))
        )
        held = [block.name for block in led if block.visible_get(view_layer=self.context.view_layer)]
        if held:
            text = "left out, constraints let them follow tags, games show what is parented to some (Ctrl+P): %s"
            log.warning(text, listed(held))
        alone = [block.name for block in self.context.scene.objects if self._stands_alone(block)]
        if alone:
            text = "left out, models on roots of their own, hang these on a tag that the game knows: %s"
            log.warning(text, listed(alone))

    def _stands_alone(self, block: Block) -> bool:
        """Tell whether an object is the root of another model, which hangs on the body and on none of its tags."""
        if not is_root(block) or block in {*self.character.pieces.values(), *self.known}:
            return False
        if not any(below.type == "MESH" and below not in self.known for below in block.children_recursive):
            return False
        return any(above in self.known for above in takewhile(lambda above: not is_tag(above), upward(block.parent)))


def _of_levels(holder: Any) -> set[Any]:
    """Return the objects of the levels of detail that a model has in the scene."""
    return {block for collection in levels_of(holder).values() for block in objects_in(collection)}


def _say_of_place(rig: Block, root: Block | None) -> None:
    """Say so where an armature is moved on its root, or scaled: that is where a character stands, and in no file."""
    placed = steady.products(np.array(rig.matrix_parent_inverse), np.array(rig.matrix_basis))
    if root is not None and rig.parent == root:
        if np.abs(placed - np.eye(4)).max() > MOVED:
            text = "'%s' is moved, turned or scaled on its root, which no file says: edit its bones, or move '%s'"
            log.warning(text, rig.name, root.name)
        return
    if is_carried(rig):
        text = "'%s' hangs on '%s', whose motion goes into its animations: hang it on its root, or on what stands still"
        log.warning(text, rig.name, rig.parent.name)
    elif np.abs(steady.lengths(placed[:3, :3].T) - 1.0).max() > MOVED:
        text = "'%s' is scaled as an object, which no file says: scale its bones and meshes in edit mode instead"
        log.warning(text, rig.name)


@contextmanager
def _at_origin(rig: Block, root: Block | None, view_layer: Any) -> Iterator[None]:
    """Let an armature stand at the world's origin meanwhile, or at that of its root, wherever its character stands."""
    hung, before = rig.matrix_parent_inverse.copy(), {name: tuple(getattr(rig, name)) for name in CHANNELS}
    stood, on_root = np.array(rig.matrix_world), root is not None and rig.parent == root
    is_there = rig.matrix_basis == hung == Matrix() if on_root else np.array_equal(stood, np.eye(4))
    held = [hold for hold in rig.constraints if not hold.mute]
    if is_there and not held:
        yield
        return
    along = along_with({rig, *rig.children_recursive}, rig.parent, view_layer)
    try:
        for hold in held:
            hold.mute = True
        if on_root:
            rig.matrix_parent_inverse = Matrix()
            rig.matrix_basis = Matrix()
        else:
            rig.matrix_world = Matrix()
        view_layer.update()
        with going_along(along, way_of(rig, stood), view_layer) as said:
            for sentence in said:
                log.warning("%s", sentence)
            yield
    finally:
        for hold in held:
            hold.mute = False
        rig.matrix_parent_inverse = hung
        for name, values in before.items():  # as a matrix they would come back as other angles
            setattr(rig, name, values)
        along.set_numbers_back()
        view_layer.update()


@contextmanager
def _seen_by(space: Block | None, root: Block, view_layer: Any) -> Iterator[None]:
    """Let what hangs on a root stand in that one's own space as it stands in another root's, or the world's."""
    view_layer.update()
    own = standing(root, view_layer)
    way = own if space is None else steady.products(inverse(standing(space, view_layer)), own)
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
    hung = [] if block == rig else takewhile(lambda above: above != rig, upward(block.parent))
    return any(above.type == "EMPTY" for above in hung)


def _has_moved_frames(model: VertexModel) -> bool:
    """Tell whether frames of a model's file were inserted, deleted or moved, but for new ones behind all others."""
    count = 0 if model.source is None else model.source.num_frames
    return count > 1 and not np.array_equal(model.frames_from()[:count], np.arange(count))
