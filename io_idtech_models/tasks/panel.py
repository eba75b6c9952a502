"""What the panel "id Tech" shows of a player, and what its buttons do.

Add Tag makes empties that every export of a model takes for its own. Export Again knows which files a model is written
into, by which operator, with which options; and its animations.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from ..assets.export_request import ExportRequest
from ..blender import names
from ..blender.compat import Block, Context, play_action, played_action
from ..blender.empties import DISPLAY
from ..blender.player.parts import PlayerFound, find_player
from ..blender.player.rows import ROW
from ..blender.provenance import FILE, PART
from ..blender.roots import root_of
from ..blender.skeletal.rig_scene import SkeletalGatherSettings
from ..blender.skeletal.tags import stand_on_bone
from ..blender.skeletal.torso import remembered_weights
from ..formats import ROWS, SKELETAL, Format
from ..game.player.animation_cfg import LOWER, UPPER, WHOLE
from ..model import steady
from ..model.limits.games import game_of_player
from ..reporting import LimitError, Summary, listed
from .character.record import character_game, character_target
from .export.last_export import CHARACTER, PLAYER, TARGET, game_shown, kept_of, options_of
from .export.motion import AnimationExport, export_animations
from .export.motion_sources import NoActionError, actions_of, slot_of
from .export.selection import Choice
from .export.subject import Subject, WholePlayer, archive_of, row_of, subject_of
from .player.files import proposed_target

CURSOR, OBJECT, BONE = "CURSOR", "OBJECT", "BONE"
SHARE = 24.0  # a tag is drawn as long as this part of the model

# What games hang on tags, by CG_Player and CG_AddPlayerWeapon of Quake III, Wolfenstein and Enemy Territory.
OFFERED = (
    ("tag_torso", "On the legs: where the torso sits"),
    ("tag_head", "On the torso: where the head sits"),
    ("tag_weapon", "On the torso, or on the hand of a weapon: where the weapon sits"),
    ("tag_flag", "On the torso: where a captured flag sits (Team Arena, OpenArena)"),
    ("tag_flash", "On a weapon: where the flash of the muzzle sits"),
    ("tag_barrel", "On a weapon: where the part sits that spins"),
    ("tag_ammo", "On a weapon of Wolfenstein: its magazine"),
    ("tag_mouth", "On a head of Wolfenstein and Enemy Territory: where hats sit"),
    ("tag_weapon2", "On a body of Enemy Territory: the weapon in the other hand"),
    ("tag_back", "On a body of Enemy Territory: what is worn on the back"),
    ("tag_bright", "On a body of Enemy Territory: the belt's right side"),
    ("tag_bleft", "On a body of Enemy Territory: the belt's left side"),
    ("tag_ubelt", "On a body of Enemy Territory: the belt"),
    ("tag_footleft", "On a body of Enemy Territory: the left foot, by which the speed of walking is measured"),
    ("tag_footright", "On a body of Enemy Territory: the right foot"),
)
PLAYING = {LOWER: "Legs", UPPER: "Torso", WHOLE: "Plays"}  # what plays animations of its own, and what to call it


def add_tag(context: Context, name: str, place: str) -> Block:
    """Add a tag to the model of the active object: at the 3D cursor, on the object, or on its armature's active bone.

    Of a rig the tag hangs on a bone, wherever it stands: games move it with that.

    Raises:
        LimitError: there is nothing that it could hang on.
    """
    subject = subject_of(context)
    if subject is None:
        raise LimitError("no object is active: make one of the model's active, so that the tag becomes part of it")
    if subject.holder.library is not None:
        raise LimitError(f"'{subject.holder.name}' belongs to another .blend: no tag can be added to it there")
    bone = _bone_for(subject, place)
    block: Block = bpy.data.objects.new(names.fit(name), None)
    block.empty_display_type, block.empty_display_size = DISPLAY, _size(subject)
    block.rotation_mode = "QUATERNION"
    homes = [subject.home] if subject.home is not None else list((subject.rig or subject.active).users_collection)
    (homes[0] if homes else context.scene.collection).objects.link(block)
    if bone is not None:
        block.parent, block.parent_type, block.parent_bone = subject.rig, "BONE", bone.name
        if place == BONE:
            stand_on_bone(block, bone)
            return block
        _stand(block, _tail_of(subject.rig, bone), context, place, subject)
        return block
    above = subject.active if place == OBJECT else root_of(subject.active)
    block.parent = above
    _stand(block, Matrix() if above is None else above.matrix_world, context, place, subject)
    return block


def is_twin(subject: Subject | None, block: Block) -> bool:
    """Tell whether a model has another tag that files call the same."""
    own = names.file_name_of(block)
    others = (
        () if subject is None else (b for b in subject.blocks if b.type == "EMPTY" and b != block and PART not in b)
    )
    return any(names.file_name_of(other) == own for other in others)


def _bone_for(subject: Subject, place: str) -> Any:
    """Return the bone that a tag has to hang on; None for a model that no armature moves."""
    rig = subject.rig
    skeletal = subject.row is not None and subject.row.family is SKELETAL
    if place != BONE and not skeletal and (rig is None or rig != subject.active):
        return None
    if rig is None:
        raise LimitError(f"'{subject.active.name}' has no armature whose bone the tag could hang on")
    hung = subject.active.parent_bone if subject.active.parent == rig else ""
    bone = rig.data.bones.active or rig.data.bones.get(hung)
    if bone is None:
        raise LimitError(f"no bone of '{rig.name}' is active: click the one that the tag moves with in Pose Mode first")
    return bone


def _tail_of(rig: Block, bone: Any) -> Matrix:
    """Return the space in the world of what hangs on a bone: its tail's, as it is posed."""
    tail = Matrix.Translation((0.0, bone.length, 0.0))
    matrices = (rig.matrix_world, rig.pose.bones[bone.name].matrix, tail)
    return Matrix(steady.products(*(np.array(matrix, np.float64) for matrix in matrices)).tolist())


def _stand(block: Block, space: Matrix, context: Context, place: str, subject: Subject) -> None:
    """Put an empty where it belongs in the world, whatever it hangs on."""
    wanted = Matrix.Translation(context.scene.cursor.location)
    if place != CURSOR:
        at, turn, _ = subject.active.matrix_world.decompose()
        wanted = Matrix.LocRotScale(at, turn, None)
    basis = steady.products(np.array(space.inverted_safe(), np.float64), np.array(wanted, np.float64))
    block.matrix_basis = Matrix(basis.tolist())


def _size(subject: Subject) -> float:
    """Return how long to draw a tag: as the model's others, else by its size."""
    others = [b.empty_display_size for b in subject.blocks if b.type == "EMPTY" and b.empty_display_type == DISPLAY]
    largest = max((float(max(block.dimensions)) for block in subject.meshes), default=0.0)
    return others[0] if others else max(1.0, largest / SHARE)


def playing(player: WholePlayer) -> list[tuple[str, str]]:
    """Return what legs and torso play, each a label and an animation's name; "" for all frames of the file."""
    parts = player.parts
    return [(label, _played(parts[kind])) for kind, label in PLAYING.items() if kind in parts]


def _played(root: Block) -> str:
    action = None if root.animation_data is None else root.animation_data.action
    if action is None:
        return ""
    row = action.get(ROW)
    return row if isinstance(row, str) else str(action.name)


@dataclass(eq=False)
class Plan:
    """What is written."""

    name: str  # of the export operator: idtech_NAME
    target: Path
    options: dict[str, Any] = field(default_factory=dict)
    rig: Any = None  # whose animations are written, too
    row: Format | None = None


def plan_of(context: Context) -> Plan:
    """Return what writes the model of the active object into the file that it came from.

    Raises:
        LimitError: it came from none, or from an archive.
    """
    subject = subject_of(context)
    if subject is None:
        raise LimitError("no object is active")
    player = None if subject.player is None else find_player(subject.active)
    if player is not None:
        return _of_player(player)
    if subject.character is not None:
        return _of_character(subject.character.home)
    kept = kept_of(subject.holder)
    place = subject.place
    if not place or archive_of(place):
        place = _said(kept) or place
    row = row_of(place, subject.home)
    if not place or row is None:
        raise LimitError(f"'{subject.active.name}' came from no file: write one first (File > Export > id Tech)")
    archive = archive_of(place)
    if archive:
        raise _stays(place, archive, "into the game's folder, in the same folders as in the archive")
    options = {"game": game_shown(subject)} | (options_of(subject.holder, row.name) or {})
    return Plan(row.name, Path(place), options, subject.rig if row.skeletal.animation else None, row)


def _of_player(player: PlayerFound) -> Plan:
    """Return what writes a player: into its folder, or where it was written to last if it came from an archive."""
    holder = player.collection if player.collection is not None else player.root
    found, last = holder.get(FILE), _said(kept_of(holder))
    place = found if isinstance(found, str) and Path(found).is_dir() else last
    if not place and isinstance(found, str):
        raise _stays(found, "", f"into '{proposed_target(player)}'")
    if not place:
        raise LimitError("the player came from no folder: write it first (File > Export > id Tech > Quake III Player)")
    return Plan(PLAYER, Path(place), {"game": game_of_player(Path(place).parts)} | (options_of(holder, PLAYER) or {}))


def _of_character(home: Any) -> Plan:
    """Return what writes a character: into its game's folder, or where it was written last if that is a pack."""
    place, last = str(home.get(FILE, "")), _said(kept_of(home))
    target = character_target(home)
    if last and archive_of(place):
        target = Path(last)
    elif not place or target is None or archive_of(place):
        where = "" if target is None else f" into '{target}'"
        raise LimitError(f"the character lies in an archive, which stays as it is: export it{where} first")
    return Plan(CHARACTER, target, {"game": character_game(home)} | (options_of(home, CHARACTER) or {}))


def _said(kept: dict[str, Any]) -> str:
    """Return where a model was written to last, or ""."""
    target = kept.get(TARGET, "")
    return target if isinstance(target, str) else ""


def _stays(place: str, archive: str, where: str) -> LimitError:
    """Return what says that an archive is not written into, and where to export instead."""
    which = f"the archive '{Path(archive).name}'" if archive else "an archive"
    return LimitError(f"'{Path(place).name}' lies in {which}, which stays as it is: export it {where}")


def export_motions(plan: Plan, context: Context) -> tuple[list[tuple[str, Summary]], list[str]]:
    """Write each animation of a rig that came from a file of its own into that file; raises ModelError.

    Returns what came of each file, and what there is to say of others.
    """
    rig, row = plan.rig, plan.row
    if rig is None or row is None:
        return [], []
    try:
        actions = [action for action in actions_of(rig, row) if isinstance(action.get(FILE), str)]
    except NoActionError:
        return [], []
    done, left = [], []
    for action in actions:
        place = str(action[FILE])
        motion_row = next((r for r in ROWS if not r.has_model and place.lower().endswith(r.suffixes)), None)
        if motion_row is None or archive_of(place) or not os.access(Path(place).parent, os.W_OK):
            left.append(names.file_name_of(action))
        else:
            done.append((Path(place).name, _export_motion(plan, action, Path(place), motion_row, context)))
    if left:
        text = f"animations whose files can't be written stay as they were, export them elsewhere: {listed(left)}"
        return done, [text]
    return done, []


def _export_motion(plan: Plan, action: Any, target: Path, row: Format, context: Context) -> Summary:
    """Write one action while the armature plays it, as the model is written."""
    rig, options = plan.rig, plan.options
    weights = vars(remembered_weights(rig))
    settings = SkeletalGatherSettings(
        **{n: options[n] for n in ("scale", "deform_only", "keep_suffixes") if n in options}, **weights
    )
    wanted = AnimationExport(add_origin=options.get("add_origin", False))
    game = options.get("game", "format")
    asked = ExportRequest(target, game if game in row.games else "format", {o.name: o.default for o in row.options})
    before = played_action(rig)
    try:
        play_action(rig, action, slot_of(rig, action))
        done = export_animations(asked, row, Choice([rig]), context, settings, wanted)
    finally:
        play_action(rig, *before)
    return done[0][1]
