"""Export Again: which files a model is written into, by which operator, with which options; and its animations."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import Any

import bpy

from ...assets.export_request import ExportRequest
from ...assets.storage import file_names
from ...blender import names
from ...blender.compat import Context
from ...blender.leaders import cast, leaders, other_models, slot_of
from ...blender.playback import playing_instead
from ...blender.player.parts import PlayerFound, find_player
from ...blender.provenance import FILE, FILE_OF, give_file, model_of, owns_file
from ...blender.scene import bending
from ...blender.skeletal.rig_scene import SkeletalGatherSettings
from ...blender.skeletal.source import MADE_FOR
from ...blender.skeletal.torso import remembered_weights
from ...blender.takes import used_actions, warn_of_others
from ...formats import ROWS, Format
from ...game.player.files import player_in
from ...model.limits.games import NO_GAME, game_of_player
from ...reporting import LimitError, Summary, collected_warnings, listed
from ..character.record import character_game, character_target
from ..export.last_export import CHARACTER, PLAYER, game_shown, last_target, options_of, remember
from ..export.motion import AnimationExport, export_animations
from ..export.motion_sources import NoActionError, RowsAloneError, actions_of
from ..export.selection import Choice
from ..export.subject import Subject, archive_of, row_of, subject_of
from ..import_.games import user_disk
from ..player.files import proposed_target

BONES = "write_animation"  # the option of formats whose bones are in a file of their own


@dataclass(eq=False)
class Plan:
    """What Export Again writes."""

    name: str  # of the export operator: idtech_NAME
    target: Path
    options: dict[str, Any] = field(default_factory=dict)
    rig: Any = None  # whose animations are written, too
    row: Format | None = None
    holder: Any = None  # what remembers the options
    own_bones: bool = False  # the file of bones beside is an animation's own, which is written whatever plays

    @property
    def taken(self) -> dict[str, Any]:
        """Return the options that the export operator gets."""
        return self.options | ({BONES: False} if self.own_bones else {})


def plan_of(context: Context) -> Plan:
    """Return what writes the model of the active object into the file that it came from.

    Raises:
        LimitError: it came from none, from an archive, or from a folder that is not there any more.
    """
    subject = subject_of(context)
    if subject is None:
        raise LimitError("no object is active")
    player = None if subject.player is None else find_player(subject.active)
    if player is not None:
        return _of_player(player)
    if subject.character is not None:
        return _of_character(subject.character.home)
    place = subject.place
    if not place or archive_of(place):
        place = last_target(subject.holder) or place
    elif not Path(place).parent.is_dir():  # nor the archive, where it came from one
        place = last_target(subject.holder, there=True) or place
    row = row_of(place, subject.home)
    if not place or row is None:
        raise LimitError(f"'{subject.active.name}' came from no file: write one first (File > Export > id Tech)")
    archive = archive_of(place)
    if archive:
        raise _archive_error(place, archive, "into the game's folder, in the same folders as in the archive")
    if not Path(place).parent.is_dir():
        raise _gone_error(Path(place).parent)
    options = {"game": game_shown(subject)} | (options_of(subject.holder, row.name) or {})
    rig = _led(subject) if row.skeletal.animation else None
    plan = Plan(row.name, Path(place), options, rig, row, subject.holder)
    if options.get(BONES) and row.skeletal.companions and rig is not None:
        bones = plan.target.with_suffix(row.skeletal.companions[0].suffixes[0])
        plan.own_bones = any(Path(str(action.get(FILE))) == bones for action in used_actions(rig))
    return plan


def _led(subject: Subject) -> Any:
    """Return the armature of a model: of controls, which lie in its collection, too, the one that follows them."""
    bent = dict.fromkeys(rig for mesh in subject.meshes for rig in bending(mesh))
    led = [rig for rig in bent if subject.rig in leaders(rig)]
    return led[0] if len(led) == 1 and subject.rig not in bent else subject.rig


def keep_options(plan: Plan) -> None:
    """Remember the options that a model has, where it was not written with all of them."""
    if plan.own_bones:
        remember(plan.holder, plan.name, plan.options)


def _of_player(player: PlayerFound) -> Plan:
    """Return what writes a player: into its folder, or where it was written to last if that is an archive, or gone."""
    holder = player.holder
    found = str(holder.get(FILE, ""))
    place = found if found and Path(found).is_dir() else last_target(holder, there=True)
    if not place and found and player_in(user_disk().store(Path(found))) is not None:  # in archives of its game
        raise _archive_error(found, "", f"into '{proposed_target(player)}'")
    gone = found or last_target(holder)
    if not place and gone:
        raise _gone_error(Path(gone))
    if not place:
        raise LimitError("the player came from no folder: write it first (File > Export > id Tech > Quake III Player)")
    return Plan(PLAYER, Path(place), {"game": game_of_player(Path(place).parts)} | (options_of(holder, PLAYER) or {}))


def _of_character(home: Any) -> Plan:
    """Return what writes a character: into its game's folder; if that is a pack, or gone, where it was written last."""
    place, last = str(home.get(FILE, "")), last_target(home, there=True)
    target = character_target(home)
    is_gone = target is not None and not archive_of(place) and not target.is_dir()
    if last and (is_gone or archive_of(place)):
        target = Path(last)
    elif not place or target is None or archive_of(place):
        where = "" if target is None else f" into '{target}'"
        raise LimitError(f"the character lies in an archive, which stays as it is: export it{where} first")
    elif is_gone:
        raise _gone_error(target)
    return Plan(CHARACTER, target, {"game": character_game(home)} | (options_of(home, CHARACTER) or {}))


def _gone_error(place: Path) -> LimitError:
    """Return what says that a folder is not there any more, which a .blend knows by its whole path."""
    return LimitError(f"'{place}' is not there any more: export it to where it lies now (File > Export > id Tech)")


def _archive_error(place: str, archive: str, where: str) -> LimitError:
    """Return what says that an archive is not written into, and where to export instead."""
    which = f"the archive '{Path(archive).name}'" if archive else "an archive"
    return LimitError(f"'{Path(place).name}' lies in {which}, which stays as it is: export it {where}")


def files_of(plan: Plan) -> list[Path]:
    """Return the files that are written over: the model's, and those that animations came from."""
    actions: list[Any] = []
    if plan.rig is not None and plan.row is not None:
        with collected_warnings(), suppress(NoActionError):  # what there is to say is said with the export
            actions = _with_files(actions_of(plan.rig, plan.row.skeletal.animation or plan.row), plan.rig)
    places = [str(action[FILE]) for action in actions]
    return [plan.target, *(Path(place) for place in dict.fromkeys(places) if not archive_of(place))]


def export_motions(plan: Plan, context: Context, agreed: set[str]) -> tuple[list[tuple[str, Summary]], list[str]]:
    """Write each animation of a rig, whose model was written, that came from a file of its own into that file.

    A copy goes into a new file beside it, which is its own from then on. `agreed` are the files that this session may
    write over, and gets those that are new. Returns what came of each file, and what there is to say of others; raises
    ModelError.
    """
    rig, row = plan.rig, plan.row
    if rig is None or row is None:
        return [], []
    try:
        with collected_warnings() as said:
            every = actions_of(rig, row.skeletal.animation or row)
            actions = _with_files(every, rig)
            warn_of_others(rig, [cast(rig, action) for action in actions])
    except NoActionError as error:
        return [], [str(error)] if isinstance(error, RowsAloneError) else []
    written = plan.taken.get(BONES) or plan.options.get("write_animations")  # along with the model
    new = [] if written else [names.file_name_of(action) for action in every if action not in actions]
    text = "animations that came from no file of this model are not written, export them (File > Export)"
    said += [f"{text}: {listed(new)}"] if new else []
    done, left = [], []
    for action, target in _targets(actions, agreed):
        place = str(target)
        motion_row = next((r for r in ROWS if not r.has_model and place.lower().endswith(r.suffixes)), None)
        if motion_row is None or archive_of(place) or not os.access(target.parent, os.W_OK):
            left.append(names.file_name_of(action))
            continue
        done.append((target.name, _export_motion(plan, action, target, motion_row, context)))
        if place != action[FILE]:
            agreed.add(place)
            give_file(action, place)
    if left:
        text = f"animations whose files can't be written stay as they were, export them elsewhere: {listed(left)}"
        return done, [text, *said]
    return done, said


def _with_files(actions: list[Any], rig: Any) -> list[Any]:
    """Return those of an armature's actions that files hold, and that are of no other model that this one follows."""
    others = {action for each in other_models(rig) for action in used_actions(each)}
    held = [action for action in actions if isinstance(action.get(FILE), str) and action not in others]
    return [action for action in held if FILE_OF in action or action.get(MADE_FOR) in (None, model_of(rig))]


def _targets(actions: list[Any], agreed: set[str]) -> list[tuple[Any, Path]]:
    """Return into which file each action goes: no two into one, for copies say what their original says.

    Copies may be those of another armature's action that was exported, too. A copy's file has its name, with a number
    where that is a file already.
    """
    every: Any = bpy.data.actions
    claimants = dict.fromkeys([*actions, *(action for action in every if FILE_OF in action)])
    places = {action: Path(str(action[FILE])) for action in actions}
    targets = {action: place for action, place in places.items() if owns_file(action, claimants)}
    copies = [(action, place) for action, place in places.items() if action not in targets]
    taken = {str(place).casefold() for place in targets.values()}
    for action, place in copies:
        (name,) = file_names([names.file_name_of(action)])
        proposed = (
            place.with_name(each + place.suffix) for each in chain([name], (f"{name}.{i:03}" for i in count(1)))
        )
        target = next(
            each
            for each in proposed
            if str(each).casefold() not in taken and (str(each) in agreed or not each.exists())
        )
        targets[action] = target
        taken.add(str(target).casefold())
    return [(action, targets[action]) for action in actions]


def _export_motion(plan: Plan, action: Any, target: Path, row: Format, context: Context) -> Summary:
    """Write one action while the armature plays it, as the model is written."""
    rig, options = plan.rig, plan.options
    weights = vars(remembered_weights(rig))
    settings = SkeletalGatherSettings(
        **{n: options[n] for n in ("scale", "deform_only", "keep_suffixes") if n in options}, **weights
    )
    played = None if rig.animation_data is None else rig.animation_data.action
    also = () if played is None else (played,)
    # What the scene shows with the action that plays is that one's; others are written as each plays alone.
    what = "AUTO" if played == action else "ACTIVE"
    wanted = AnimationExport(what, add_origin=options.get("add_origin", False), with_model=True, also=also)
    game = options.get("game", NO_GAME)
    asked = ExportRequest(target, game if game in row.games else NO_GAME, {o.name: o.default for o in row.options})
    with playing_instead(rig, action, slot_of(rig, action)):
        done = export_animations(asked, row, Choice([rig]), context, settings, wanted)
    return done[0][1]
