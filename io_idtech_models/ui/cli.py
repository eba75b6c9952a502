"""The command line inside Blender: what `cli` does, and conversions that need Blender.

Runs as `blender -c idtech ...` in an installed Blender, and as `python -m io_idtech_models.ui.cli ...` where `bpy` is a
Python package.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path

import bpy

from .. import formats
from ..assets.convert import ONLY, ONLY_FRAMES
from ..assets.export_request import ExportRequest
from ..assets.levels import refuse_others
from ..blender.compat import Block, Context
from ..blender.exchange import picture, scene_files
from ..blender.provenance import forget_units
from ..blender.skeletal.build import SkeletalSettings
from ..blender.skeletal.rig_scene import SkeletalGatherSettings
from ..blender.vertex.build import BuildSettings
from ..blender.vertex.frame_plan import GatherSettings
from ..cli import batch
from ..cli import main as cli
from ..cli.batch import FAILED, MODEL_SUFFIXES, Converter
from ..cli.workers import Job
from ..formats import MOTION, SKELETAL, VERTEX, Format
from ..reporting import ModelError, Summary, joined, plural
from ..tasks.export.motion import AnimationExport, export_animations
from ..tasks.export.motion_sources import NoActionError, actions_of, plays_its_actions
from ..tasks.export.selection import choose
from ..tasks.export.skeletal import ModelExport, export_skeletal
from ..tasks.export.vertex import export_file
from ..tasks.import_.dressing import Dressing
from ..tasks.import_.motion import import_animation
from ..tasks.import_.skeletal import AS_FILE, FIT, ImportSettings, import_skeletal
from ..tasks.import_.vertex import import_file
from ..tasks.rigging import export_rigged
from .import_.operators import file_of

PICTURE = ".png"
WHOLE = frozenset(("AUTO", "KEYS", "ACTIONS"))  # which frames are all that a file has
LAYERED = (PICTURE, ".blend")  # what can show more than one picture of a material
ENTRY = f"{__package__}.cli"  # a worker runs this module again


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `convert` that only Blender can serve."""
    add = parser.add_argument
    add("--frame", type=int, metavar="N", help="the frame of a picture or an .obj (a model's first, else the current)")
    add("--size", type=_size, default=(960, 720), metavar="WxH", help="a picture's, in pixels (960x720)")
    add(
        "--scale",
        type=cli.scale_of,
        default=1.0,
        metavar="X",
        help="length of a game unit in the scene or other model (1)",
    )
    add("--fps", type=_rate, default=0, metavar="N", help="frames per second of a model that does not say (24)")
    add("--no-weld", action="store_true", help="keep vertices apart that lie together in every frame")
    add("--skin", default="", metavar="NAME", help="what a model wears (its default skin), none: its own shaders")
    add("--legs", default="", metavar="ROW", help="what a player's legs do, LEGS_RUN for one (all frames, one by one)")
    add("--torso", default="", metavar="ROW", help="the same of the torso, TORSO_ATTACK for one")
    frames = (
        "a model's frames: auto (its keys, else the scene's if something moves; of a file of bones its animations), "
        "keys, actions, scene, current, FIRST-LAST"
    )
    add("--frames", type=_frames, default=("AUTO", 0, 0), metavar="WHICH", help=frames)
    add("--normals", choices=("source", "shown", "smooth"), default="source", help="where a model's normals come from")


def _rate(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 240:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 1 to 240")
    return int(text)


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.lower().partition("x")
    if not (width.isdecimal() and height.isdecimal() and 16 <= int(width) <= 16384 and 16 <= int(height) <= 16384):
        raise argparse.ArgumentTypeError(f"'{text}' is not WIDTHxHEIGHT, 16 to 16384 pixels each")
    return int(width), int(height)


def _frames(text: str) -> tuple[str, int, int]:
    if text.upper() in {"AUTO", "KEYS", "ACTIONS", "SCENE", "CURRENT"}:
        return text.upper(), 0, 0
    first, dash, last = text.partition("-")
    if not (first.isdecimal() and (last.isdecimal() if dash else not last)):
        raise argparse.ArgumentTypeError(f"'{text}' is not auto, keys, actions, scene, current or FIRST-LAST")
    return "RANGE", int(first), int(last or first)


def convert(job: Job, options: argparse.Namespace) -> str:
    """Convert one file; returns its summary. Raises ModelError."""
    # Blender knows only the folder that it was started in.
    whole = Job(job.source.absolute(), job.target.absolute())
    try:
        return _convert(whole, options)
    except scene_files.ExchangeError as error:  # who reports names the source
        text = error.what if error.path == whole.source else f"can't write '{job.target}': {error.what}"
        raise ModelError(text) from error


def _convert(job: Job, options: argparse.Namespace) -> str:
    source, row = formats.by_suffix(job.source), formats.by_suffix(job.target)
    if options.levels:
        refuse_others(row, job.target.suffix)
    if source is not None and source.family is MOTION and _changes_model(options):
        raise ModelError("an animation alone stays as it is: leave --scale, --frames and --normals out")
    wears = options.skin.lower() not in {"", "none"}
    shows_skin = wears and row is not None and row.vertex.holds_pictures
    if row is not None and source is not None and not (_needs_scene(options, source, row) or shows_skin):
        mode, *bounds = options.frames
        line = cli.convert_plain(job, options, (bounds[0], bounds[1]) if mode == "RANGE" else None)
        return f"{line}; --skin is left out: the file names its own shaders" if wears else line
    is_of_frames = source is None or source.family is VERTEX
    if cli.rig_of(options) is not None and not (is_of_frames and row is not None and row.family is SKELETAL):
        raise ModelError(ONLY_FRAMES)
    if options.tags:
        raise ModelError("--tags goes with files alone, without --skin, --normals shown, and --frames of a scene")
    if row is not None and row.family is SKELETAL and cli.rig_of(options) is None and options.frames[0] not in WHOLE:
        raise ModelError(ONLY.format(what="chosen frames"))
    context: Context = bpy.context
    opened = _open(job, options, context)
    if source is not None:
        _refuse_beyond(options, context.scene)
    if options.frame is not None:
        context.scene.frame_set(options.frame)
    save = partial(_save, row) if row is not None else _save_scene
    return save(job, options, context, opened).whole


def _save(row: Format, job: Job, options: argparse.Namespace, context: Context, opened: Summary) -> Summary:
    """Write the scene as a model."""
    source = formats.by_suffix(job.source)
    if source is not None:  # a model of a model's size: what reading scaled stays so
        options = argparse.Namespace(**vars(options) | {"scale": 1.0})
        forget_units()
        if source.family is SKELETAL and options.frames[0] == "AUTO" and plays_its_actions(context.scene):
            options.frames = ("ACTIONS", 0, 0)
    own = cli.own_options(row, options)
    asked = ExportRequest(job.target, options.game, own, cli.shortens(options), levels=options.levels)
    summary = SAVE[row.family](asked, row, options, context, source)
    if row.vertex.holds_pictures:  # what was not found is not written, either
        summary.warnings[:0] = opened.warnings
    return summary


def _save_scene(job: Job, options: argparse.Namespace, context: Context, opened: Summary) -> Summary:
    """Write a picture, or a file of another program's."""
    if job.target.suffix.lower() == PICTURE:
        picture.render_still(job.target, context.scene.frame_current, options.size)
    else:
        scene_files.save_scene(job.target, each_action=plays_its_actions(context.scene))
        opened.warnings.extend(scene_files.left_out(job.target))
    return opened


def _refuse_beyond(options: argparse.Namespace, scene: bpy.types.Scene) -> None:
    """Refuse frames that a model, which has brought the scene's range, does not have; raises ModelError."""
    (which, first, last), count = options.frames, scene.frame_end + 1
    has = (
        f"the model has frames 0 to {count - 1}" if len(options.anim) < 2 else f"the first animation has {count} frames"
    )
    if which == "RANGE" and last >= count:
        raise ModelError(f"there are no frames {first} to {last}: {has}")
    if options.frame is not None and not 0 <= options.frame < count:
        raise ModelError(f"there is no frame {options.frame}: {has}")


def _changes_model(options: argparse.Namespace) -> bool:
    """Tell whether an option asks for another model than the file's."""
    return options.scale != 1.0 or options.frames[0] not in WHOLE or options.normals != "source"


def _needs_scene(options: argparse.Namespace, source: Format, row: Format) -> bool:
    """Tell whether an option asks for what only the way through Blender does.

    What becomes a model of frames is made larger without, its normals smooth, and its frames are chosen of animations.
    """
    if row.family is not VERTEX or options.normals == "shown":
        return _changes_model(options)
    mode = options.frames[0]
    return mode not in WHOLE and not (mode == "RANGE" and source.family is SKELETAL)


def _open(job: Job, options: argparse.Namespace, context: Context) -> Summary:
    """Bring a job's source, and nothing else, into memory, dressed as its target can show it."""
    path = job.source
    dressing = Dressing(options.skin, plain_materials=job.target.suffix.lower() not in LAYERED)
    if batch.is_player(path, CONVERTER):
        _empty_scene(context)
        return _open_player(path, dressing, options, context)
    if path.suffix.lower() not in MODEL_SUFFIXES:
        scene_files.open_scene(path)
        return Summary(plural(len(context.scene.objects), "object"))
    _empty_scene(context)
    row = formats.by_suffix(path)
    assert row is not None, "what has a model's suffix has a row"
    return OPEN[row.family](path, dressing, options, context)


def _empty_scene(context: Context) -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    context.scene.frame_start, context.scene.frame_end = 0, 0  # what has several frames brings its range
    context.scene.frame_set(0)


def _open_player(path: Path, dressing: Dressing, options: argparse.Namespace, context: Context) -> Summary:
    """Bring a whole player into the scene, which shows all its frames, or the animations that are named."""
    from ..tasks.player.files import players_at
    from ..tasks.player.imports import PlayerImport, PlayerOptions

    settings = BuildSettings(scale=options.scale, weld=not options.no_weld, frame_rate=options.fps)
    wanted = PlayerOptions(levels=False, legs=options.legs, torso=options.torso)
    files = players_at(path, cli.disk_of(options))
    return PlayerImport(files, settings, dressing, wanted, context.scene).run(context.scene.collection)[1]


def _open_vertex(path: Path, dressing: Dressing, options: argparse.Namespace, context: Context) -> Summary:
    settings = BuildSettings(scale=options.scale, weld=not options.no_weld, frame_rate=options.fps)
    file = cli.disk_of(options).file(path)
    return import_file(file, settings, context.scene, context.scene.collection, dressing)[1]


def _open_skeletal(path: Path, dressing: Dressing, options: argparse.Namespace, context: Context) -> Summary:
    """Bring a skeletal model and the animations that are named into the scene."""
    settings = SkeletalSettings(scale=options.scale, weld=not options.no_weld)
    disk, row = cli.disk_of(options), formats.by_suffix(path)
    assert row is not None, "see `_open`"
    named = file_of(disk, options.anim[0] if options.anim and row.skeletal.companions else "")
    bind = FIT if row.skeletal.bind_pose_missing else AS_FILE
    wanted = ImportSettings(animations=row.has_motions, animation=named, bind=bind, dressing=dressing)
    posed, summary = import_skeletal(disk.file(path), settings, wanted, context, context.scene.collection)
    if options.anim:
        files = [disk.file(Path(name)) for name in options.anim]
        failed = import_animation(files, posed.armature, settings, context, context.scene.collection)[3]
        if failed:
            raise ModelError(joined(failed))
    return summary


def _save_vertex(
    asked: ExportRequest, row: Format, options: argparse.Namespace, context: Context, _source: Format | None
) -> Summary:
    return export_file(asked, row, choose(context, "SCENE"), context, gather_settings(options))


def _save_skeletal(
    asked: ExportRequest, row: Format, options: argparse.Namespace, context: Context, source: Format | None
) -> Summary:
    chosen, settings, rig = choose(context, "SCENE"), _skeletal_settings(options), cli.rig_of(options)
    if rig is not None:
        return export_rigged(asked, row, chosen, context, gather_settings(options), rig)
    if not any(block.type == "ARMATURE" for block in chosen.blocks):
        raise ModelError("nothing to export: no armature among the objects; --rig makes one of the frames")
    if row.skeletal.companions:
        several = () if source is row else _several(chosen.blocks, row)  # else its one file, which tables tell of
        with_bones = ModelExport(write_animation=not several, write_animations=bool(several), actions=several)
        return export_skeletal(asked, row, chosen, context, settings, with_bones)
    try:
        return export_skeletal(asked, row, chosen, context, settings, ModelExport(write_animations=True))
    except NoActionError:
        return export_skeletal(asked, row, chosen, context, settings)


def _several(blocks: Iterable[Block], row: Format) -> tuple[str, ...]:
    """Return the names of an armature's animations, if it has more than one: they go into one file, with a table."""
    with suppress(NoActionError):
        names = [action.name for rig in blocks if rig.type == "ARMATURE" for action in actions_of(rig, row)]
        return tuple(names) if len(names) > 1 else ()
    return ()


def _save_motion(
    asked: ExportRequest, row: Format, options: argparse.Namespace, context: Context, _source: Format | None
) -> Summary:
    """Write what the armature plays, or what the scene shows of it."""
    chosen, settings = choose(context, "SCENE"), _skeletal_settings(options)
    ((_, summary),) = export_animations(asked, row, chosen, context, settings, AnimationExport())
    return summary


OPEN = {VERTEX: _open_vertex, SKELETAL: _open_skeletal}
SAVE = {VERTEX: _save_vertex, SKELETAL: _save_skeletal, MOTION: _save_motion}


def _skeletal_settings(options: argparse.Namespace) -> SkeletalGatherSettings:
    """Return how an armature becomes a model; what is smooth in the scene is what shows there."""
    normals = "SOURCE" if options.normals == "source" else "SHOWN"
    return SkeletalGatherSettings(scale=options.scale, normals=normals)


def gather_settings(options: argparse.Namespace) -> GatherSettings:
    """Return how a scene becomes a model."""
    mode, first, last = options.frames
    return GatherSettings(
        frames=mode, frame_start=first, frame_end=last, scale=options.scale, normals=options.normals.upper()
    )


def _worker(passed: str) -> list[str]:
    """Return the command that starts a worker: this Python with `bpy`, or the Blender that runs."""
    code = f"importlib.import_module({ENTRY!r}).work({passed!r})"
    # A worker that can't start must end at once: Blender's own clean-up may hang.
    code = f"try: {code}\nexcept BaseException: traceback.print_exc(); sys.stderr.flush(); os._exit(1)"
    code = f"import importlib, os, sys, traceback\n{code}"
    if not ENTRY.startswith("bl_ext."):  # Blender finds its extensions; anything else is where this file is
        code = f"import sys; sys.path.insert(0, {str(Path(__file__).resolve().parents[2])!r})\n{code}"
    if not bpy.app.binary_path:
        return [sys.executable, "-P", "-c", code]  # no module of the user's folder comes before Python's own
    return [bpy.app.binary_path, "--background", "--python-exit-code", "1", "--python-expr", code]


def work(passed: str) -> None:
    """Be a worker process of `convert --jobs`."""
    _leave(lambda: batch.serve(passed, CONVERTER))


def _leave(run: Callable[[], int]) -> None:
    """End the process with a status, without Blender's clean-up: 4.2 crashes and 4.5 hangs in it if an add-on is on."""
    status = FAILED
    try:
        status = run()
    except Exception:  # noqa: BLE001 - a bug: shown as Python would
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


CONVERTER = Converter(
    readable=(*MODEL_SUFFIXES, *scene_files.READABLE),
    writable=(*MODEL_SUFFIXES, *scene_files.WRITABLE, PICTURE),
    convert=convert,
    worker=_worker,
    program="Blender",
    players=True,
    add_options=add_options,
)


def main(argv: list[str]) -> int:
    """Run a command; returns the exit status."""
    return cli.main(argv, CONVERTER)


if __name__ == "__main__":
    _leave(lambda: main(sys.argv[1:]))
