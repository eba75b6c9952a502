"""New animations of a model of Doom 3: their files, and a declaration of a model that inherits the old one.

Nothing is written into a file of declarations that is somebody else's: it goes into a new one, or into one that
declares that very model, of which every other line stays.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...assets.export_request import ExportRequest
from ...assets.player import write_player
from ...blender import names
from ...blender.compat import Context
from ...blender.hanging import in_space
from ...blender.playback import at_begin
from ...blender.properties import ANIM_FLAGS, FRAME_COMMANDS
from ...blender.provenance import noted_declared as noted
from ...blender.skeletal.gather import find_rig
from ...blender.skeletal.rig_scene import SkeletalGatherSettings, rig_scene
from ...blender.unkeyed import say_unkeyed
from ...formats import by_name
from ...game.character.doom3 import FOLDER, SUFFIX
from ...game.character.doom3.declarations import MODEL
from ...game.character.doom3.edits import has_model, with_anims
from ...game.character.doom3.library import declarations_of
from ...game.character.files import COMMANDS, FLAGS, IN_STEP
from ...reporting import LimitError, ModelError, Summary, collected_warnings, listed, plural
from ..export.motion import AnimationExport, motion_files
from ..export.selection import choose
from ..import_.games import user_disk

log = logging.getLogger(__name__)

HOME = "models/md5"  # where animations go of a model that came from nowhere
FRAME = re.compile(r"\Aframe\s+", re.IGNORECASE)  # of a command as a declaration has it, where its number is enough


@dataclass(frozen=True)
class DeclareOptions:
    """What is declared; the export operator declares the same options."""

    model: str = ""  # the new model's name; "": as the file
    inherits: str = ""  # "": the model that it was imported as
    actions: str = ""  # names; "": all that the old model has not


def declare(target: Path, options: DeclareOptions, context: Context, scale: float = 1.0) -> Summary:
    """Write animations of the active armature, and the declaration of a model that has them.

    Raises:
        ModelError: there is nothing to write, a name can't be one, or the file is somebody else's; all files are as
            they were.
    """
    if target.parent.name.lower() != FOLDER or target.suffix.lower() != SUFFIX:
        raise LimitError(f"the game looks for declarations in its folder '{FOLDER}', in files called *{SUFFIX}")
    root = target.parent.parent
    with collected_warnings() as warnings:
        rig = find_rig(list(choose(context, "AUTO").blocks))
        old, mesh, known = noted(rig)
        model, inherits = options.model or target.stem, options.inherits or old
        chosen = _chosen(rig, options.actions, known, context)
        data = _old_text(target, model)
        _warn_of_another(target, model)
        folder = mesh.rpartition("/")[0] or f"{HOME}/{model}"
        files: dict[str, bytes] = {}
        anims: dict[str, list[str]] = {}
        blocks: dict[str, list[str]] = {}
        for action in chosen:
            name = names.file_name_of(action)
            place = f"{folder}/{name}.md5anim"
            files[place] = _written(root / place, action, rig, context, scale)
            anims[name] = [place]
            blocks[name] = block_of(action)
            say_beyond(action, name, by_name("md5anim").load(files[place], name).num_frames)
        new = with_anims(data, model, anims, inherits, blocks)
        files[f"{FOLDER}/{target.name}"] = new
        write_player(root, "", files)
        if not inherits and not data:
            log.warning("'%s' inherits no model, and has no mesh: write 'mesh PATH' before its animations", model)
    facts = f"model {model}: {plural(len(anims), 'animation')} in {folder}"
    return Summary(facts, list(dict.fromkeys(warnings)))


def _chosen(rig: Any, text: str, known: list[str], context: Context) -> list[Any]:
    """Return the actions to declare: those of the names, else those of the armature that are not declared yet."""
    from ..animations.find import of_rig

    wanted = [name.strip() for name in text.split(",") if name.strip()]
    animations = of_rig(rig)
    _, failed = animations.make([row for row in animations.rows() if row.name in wanted], context.scene)
    if failed:
        raise LimitError("; ".join(failed))
    own = {str(row.action.name): row.action for row in animations.rows() if row.action is not None}
    called = {names.file_name_of(action): action for action in own.values()} | own
    lost = [name for name in wanted if name not in called]
    if lost:
        raise LimitError(f"'{rig.name}' has no animation {listed(lost)}: {listed(list(own))}")
    if wanted:
        return [called[name] for name in wanted]
    found = [action for action in own.values() if names.file_name_of(action).partition(IN_STEP)[0] not in known]
    if not found:
        raise LimitError(f"'{rig.name}' has no animation that is not declared already: name those to declare anew")
    return found


def _old_text(target: Path, model: str) -> bytes:
    """Return what a file of declarations holds; raises LimitError for one that is somebody else's."""
    file = user_disk().file(target)
    if not file.is_file():
        return b""
    data = file.read()
    if not has_model(data, model):
        raise LimitError(f"'{target.name}' is there and declares no model '{model}': choose another file, or its model")
    return data


def _warn_of_another(target: Path, model: str) -> None:
    """Say so where another file of the game declares a model of that name, which may count."""
    game = user_disk().folder(target.parent.parent)
    found = declarations_of(game, game.elsewhere).find(model, MODEL)
    if found is not None and found.file.lower() != f"{FOLDER}/{target.name}".lower():
        log.warning("'%s' declares a model '%s', too, and is read before: that counts", found.file, model)


def _written(target: Path, action: Any, rig: Any, context: Context, scale: float) -> bytes:
    """Return an action's file; raises ModelError."""
    row = by_name("md5anim")
    settings = SkeletalGatherSettings(scale=scale)
    export = rig_scene(context.scene, context.view_layer, settings, rig)
    asked = ExportRequest(target, "doom3", {})
    say_unkeyed([rig], context.scene)
    with at_begin([rig], context.scene), in_space(settings.space, [rig], context.view_layer):
        exported = motion_files(asked, row, export, context, AnimationExport("CHOSEN", (action.name,)))
    data = [each for path, each in exported.data.items() if path.suffix.lower() == row.suffixes[0]]
    for summary in exported.summaries.values():
        for text in summary.warnings:
            log.warning("%s: %s", target.name, text)
    if len(data) != 1:
        raise ModelError(f"'{action.name}' comes to {len(data)} files, not one")
    return data[0]


def notes_of(action: Any) -> dict[str, list[str]]:
    """Return what the game does with an action, FLAGS and COMMANDS, as far as it has these properties."""
    found = {}
    if ANIM_FLAGS in action:
        found[FLAGS] = [each.strip() for each in str(action[ANIM_FLAGS]).split(",") if each.strip()]
    if FRAME_COMMANDS in action:
        lines = [each.strip() for each in str(action[FRAME_COMMANDS]).splitlines() if each.strip()]
        found[COMMANDS] = [FRAME.sub("", each) for each in lines]
    return found


def block_of(action: Any) -> list[str]:
    """Return the lines of what the game does with an action, as its properties say."""
    said = notes_of(action)
    return [*said.get(FLAGS, ()), *(f"frame {each}" for each in said.get(COMMANDS, ()))]


def say_beyond(action: Any, name: str, count: int) -> None:
    """Name the frames of an action's commands at which its animation of so many frames is over, or not at_begin."""
    frames = [each.split()[0] for each in notes_of(action).get(COMMANDS, ())]
    beyond = [each for each in frames if not (each.isdecimal() and 0 < int(each) <= count)]
    if beyond:
        text = "'%s' has %s and commands at %s, for which the game refuses the model: edit its %s"
        log.warning(text, name, plural(count, "frame"), listed(beyond), FRAME_COMMANDS)
