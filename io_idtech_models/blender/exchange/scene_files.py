"""Other programs' formats, read and written by Blender's own importers and exporters.

The command-line converter goes through here for everything that is not an id Software format. Two tables say what is
possible: :data:`READABLE` and :data:`WRITABLE`, file suffix -> function. A new format is two functions and one row.

Time. glTF keeps scene frame ``f`` at ``(f - frame_start) / fps`` seconds, because viewers start at 0; FBX keeps it at
``f / fps``, because it also stores the scene's range. Both hold one sample for each frame of the scene's range and none
beyond. OBJ holds the current frame. Reading turns seconds back into frames, so that time 0 is frame 0, and fits the
scene's range to the animation.

Shape keys. Blender's exporters know relative shape keys only; absolute ones would arrive as an animation of constant
weights. See :func:`make_keys_relative`.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import re
import struct
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import addon_utils
import bpy
import numpy as np
from numpy.typing import NDArray

from ...reporting import ModelError, plural
from ..compat import curves_for
from ..curves import add_curve, value_path
from ..takes import used_actions

GLB_MAGIC = b"glTF"  # a 12-byte header, then the JSON chunk's length and type (glTF 2.0, section 4.4)
GLB_JSON_START = 20
FRAME_RATES = range(4, 241)  # what a baked animation may be believed to run at


class ExchangeError(ModelError):
    """One plain sentence: which file, and what kept Blender from reading or writing it."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(f"{path}: {what}")
        self.path = path
        self.what = what


def open_scene(path: Path) -> None:
    """Replace everything in memory by the content of a file, and fit the scene's frame range to its animation.

    The suffix chooses the importer (:data:`READABLE`). Scripts inside a .blend are not run.

    Raises:
        ExchangeError: unknown suffix, no such file, Blender cannot read it, or nothing is in it.
    """
    read = READABLE.get(path.suffix.lower())
    if read is None:
        raise ExchangeError(path, f"cannot read this kind of file; known are {', '.join(READABLE)}")
    if not path.is_file():
        raise ExchangeError(path, "no such file")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with one_sentence(path):
        read(path)


def save_scene(path: Path, each_action: bool = False) -> None:
    """Write the active scene; the suffix chooses the exporter (:data:`WRITABLE`).

    `each_action`: glTF and FBX get an animation for each action, over its own frames, and not one that plays the scene.
    The file appears only when it is complete: a failure leaves an older file of that name as it was. The scene is the
    same afterwards: absolute shape keys are made relative in copies that live during the export only.

    Raises:
        ExchangeError: unknown suffix, no such folder, no permission, or Blender's exporter failed.
    """
    write = WRITABLE.get(path.suffix.lower())
    if write is None:
        raise ExchangeError(path, f"cannot write this kind of file; known are {', '.join(WRITABLE)}")
    if not path.parent.is_dir():
        raise ExchangeError(path, "there is no such folder to write to")
    with one_sentence(path):
        write(path.absolute(), each_action)


def left_out(path: Path) -> list[str]:
    """Return what the file that the scene was saved in lacks, in sentences: OBJ has meshes of one frame alone."""
    if path.suffix.lower() != ".obj":
        return []
    scene, blocks = _scene(), list[Any](_scene().objects)
    kinds = {"EMPTY": ("empty", "empties"), "ARMATURE": ("armature", "armatures")}
    counts = {kind: sum(block.type == kind for block in blocks) for kind in kinds}
    lost = [plural(count, *kinds[kind]) for kind, count in counts.items() if count]
    owners = [owner for block in blocks for owner in (block, getattr(block.data, "shape_keys", None)) if owner]
    if scene.frame_end > scene.frame_start and any(used_actions(owner) for owner in owners):
        lost.append("all other frames")
    text = f"OBJ holds meshes as frame {scene.frame_current} shows them, left out: "
    return [text + ", ".join(lost)] if lost else []


def _read_blend(path: Path) -> None:
    run(bpy.ops.wm.open_mainfile, filepath=str(path), load_ui=False, use_scripts=False)


def _write_blend(path: Path, _each_action: bool) -> None:
    # In the target's own folder, not in one below it: Blender makes the paths of images relative to the file.
    with beside(path) as temporary:
        run(bpy.ops.wm.save_as_mainfile, filepath=str(temporary), copy=True, check_existing=False)


def _read_gltf(path: Path) -> None:
    enable("io_scene_gltf2")
    render = _scene().render
    render.fps = _gltf_frame_rate(path) or render.fps
    # Bone shapes would be one more mesh object in the scene, which the file does not hold.
    run(bpy.ops.import_scene.gltf, filepath=str(path), disable_bone_shape=True)
    _fit_frame_range()


def _write_glb(path: Path, each_action: bool) -> None:
    with beside(path) as temporary:
        _export_gltf(temporary, each_action, export_format="GLB")


def _write_gltf(path: Path, each_action: bool) -> None:
    # Textures go to a folder of their own: beside the file they could replace the very images that they came from.
    with _in_folder(path) as temporary:
        textures = f"{path.stem}_textures"
        _export_gltf(temporary, each_action, export_format="GLTF_SEPARATE", export_texture_dir=textures)


def _export_gltf(path: Path, each_action: bool, **options: Any) -> None:
    enable("io_scene_gltf2")
    render = _scene().render
    with _relative_copies() as undo:
        # The exporter takes fps * fps_base for the rate, which is fps / fps_base: give it the inverse.
        undo.callback(setattr, render, "fps_base", render.fps_base)
        render.fps_base = 1.0 / render.fps_base
        run(
            bpy.ops.export_scene.gltf,
            filepath=str(path),
            use_active_scene=True,
            export_animation_mode="ACTIONS" if each_action else "ACTIVE_ACTIONS",  # the latter makes one of all
            export_frame_range=not each_action,
            export_force_sampling=True,
            export_anim_slide_to_zero=True,
            # The optimiser takes everything that moves less than 0.0001 for still.
            export_optimize_animation_size=False,
            **options,
        )


def _read_fbx(path: Path) -> None:
    if "fbx_import" in dir(bpy.ops.wm):  # Blender 4.5 and later
        run(bpy.ops.wm.fbx_import, filepath=str(path), anim_offset=0.0)
    else:
        enable("io_scene_fbx")
        run(bpy.ops.import_scene.fbx, filepath=str(path), anim_offset=0.0)
    _fit_frame_range()


def _write_fbx(path: Path, each_action: bool) -> None:
    enable("io_scene_fbx")
    with beside(path) as temporary, _relative_copies():
        run(
            bpy.ops.export_scene.fbx,
            filepath=str(temporary),
            check_existing=False,
            object_types={"EMPTY", "ARMATURE", "MESH", "OTHER"},
            add_leaf_bones=False,
            bake_anim_use_nla_strips=False,
            bake_anim_use_all_actions=each_action,
            bake_anim_simplify_factor=0.0,
            path_mode="COPY",
            embed_textures=True,
        )


def _read_obj(path: Path) -> None:
    run(bpy.ops.wm.obj_import, filepath=str(path))
    _fit_frame_range()


def _write_obj(path: Path, _each_action: bool) -> None:
    with _in_folder(path) as temporary:
        run(bpy.ops.wm.obj_export, filepath=str(temporary), check_existing=False, path_mode="RELATIVE")
        materials = temporary.with_suffix(".mtl")
        if materials.exists():
            # The paths are relative to the temporary folder, which lies one level below the target's.
            text = materials.read_text(encoding="utf-8", errors="surrogateescape")
            text = re.sub(r"(?m)^((?:map_|bump|disp|decal|refl).*? )\.\.[/\\]", r"\1", text)
            materials.write_text(text, encoding="utf-8", errors="surrogateescape")


FORMATS: dict[str, tuple[Callable[[Path], None], Callable[[Path, bool], None]]] = {
    ".blend": (_read_blend, _write_blend),
    ".glb": (_read_gltf, _write_glb),
    ".gltf": (_read_gltf, _write_gltf),
    ".fbx": (_read_fbx, _write_fbx),
    ".obj": (_read_obj, _write_obj),
}
READABLE = {suffix: read for suffix, (read, _) in FORMATS.items()}
WRITABLE = {suffix: write for suffix, (_, write) in FORMATS.items()}


def make_keys_relative(*objects: Any) -> None:
    """Turn absolute shape keys into relative ones that show the same mesh at every frame of the scene's range.

    The first key becomes the base. Every other key gets a curve of its value, linear between whole frames: where the
    evaluation time lies between two keys both have a weight. The position may come from anything (a curve, a driver, an
    NLA strip): it is sampled by stepping through the scene, once for all objects. Keys must blend linearly, as Blender
    makes them. Objects without absolute keys are left alone; objects that share a mesh share the result.
    """
    keys = list(dict.fromkeys(obj.data.shape_keys for obj in objects if _has_absolute_keys(obj)))
    frames = np.arange(_scene().frame_start, _scene().frame_end + 1)
    for key, times in zip(keys, _sample_times(keys, frames), strict=True):
        _make_key_relative(key, frames, times)


def _scene() -> Any:
    return bpy.context.scene  # the stubs think that there may be none


def _has_absolute_keys(obj: Any) -> bool:
    key = getattr(obj.data, "shape_keys", None)
    return key is not None and not key.use_relative


def _sample_times(keys: list[Any], frames: NDArray[Any]) -> NDArray[np.float64]:
    """Evaluation time of each key block list at each frame: (keys, frames)."""
    scene = _scene()
    shown = scene.frame_current
    times = np.empty((len(keys), len(frames)))
    for column, frame in enumerate(frames.tolist() if keys else ()):
        scene.frame_set(frame)
        times[:, column] = [key.eval_time for key in keys]
    scene.frame_set(shown)
    return times


def _make_key_relative(key: Any, frames: NDArray[Any], times: NDArray[np.float64]) -> None:
    blocks = key.key_blocks
    positions = np.array([block.frame for block in blocks])
    at = np.interp(times, positions, np.arange(len(blocks)))  # 2.25: three quarters of key 2, a quarter of key 3
    key.animation_data_clear()
    key.use_relative = True
    curves = curves_for(bpy.data.actions.new(key.name), key, key.name)
    for number, block in enumerate(blocks):
        block.relative_key = blocks[0]
        block.mute = False
        block.slider_min, block.slider_max = 0.0, 1.0
        block.value = 0.0  # Blender 5.2 makes keys with 1
        weights = np.clip(1.0 - np.abs(at - number), 0.0, 1.0)
        if number and weights.any():
            # Of a run of zeros the ends are enough; all of them would make a million keyframes of 1000 frames.
            around = np.pad(weights > 0.0, 1)
            kept = around[:-2] | around[1:-1] | around[2:]
            add_curve(curves, value_path(block.name), 0, frames[kept], weights[kept])


@contextmanager
def _relative_copies() -> Iterator[ExitStack]:
    """Let objects with absolute keys use converted copies of their meshes; yields the stack of what will be undone."""
    objects: list[Any] = [obj for obj in _scene().objects if _has_absolute_keys(obj)]
    meshes = list(dict.fromkeys(obj.data for obj in objects))
    actions = set(bpy.data.actions)
    with ExitStack() as undo:
        copies = {mesh: _swapped_names(mesh, undo) for mesh in meshes}
        for obj in objects:
            undo.callback(setattr, obj, "data", obj.data)
            obj.data = copies[obj.data]
        # Registered last, so undone first: actions go before the copies that use them.
        undo.callback(lambda: bpy.data.batch_remove(set(bpy.data.actions) - actions))
        make_keys_relative(*objects)
        yield undo


def _swapped_names(mesh: bpy.types.Mesh, undo: ExitStack) -> bpy.types.Mesh:
    """A copy under the mesh's own name, because that name reaches the file; `undo` removes it and gives it back."""
    name, copy = mesh.name, mesh.copy()
    undo.callback(setattr, mesh, "name", name)
    undo.callback(bpy.data.meshes.remove, copy)
    mesh.name = f"{name[:40]}~"
    copy.name = name
    return copy


def _gltf_frame_rate(path: Path) -> int | None:
    """The rate at which an animation was sampled, or None: glTF has seconds only, and frames must not fall between."""
    try:
        data = path.read_bytes()
        if data.startswith(GLB_MAGIC):
            data = data[GLB_JSON_START:][: struct.unpack_from("<I", data, 12)[0]]
        document = json.loads(data)
        inputs = {s["input"] for animation in document.get("animations", []) for s in animation["samplers"]}
        accessors = [document["accessors"][number] for number in inputs]
        steps = [(a["max"][0] - a["min"][0]) / (a["count"] - 1) for a in accessors if a["count"] > 1]
        rate = 1.0 / min(step for step in steps if step > 0.0)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, struct.error):
        return None  # no animation, or a broken file: the importer will say what is wrong
    whole = round(rate) if math.isfinite(rate) else 0
    return whole if whole in FRAME_RATES and abs(rate - whole) < 1e-2 else None


def _fit_frame_range() -> None:
    """The scene's range becomes what the assigned actions span; without animation it is the one frame 0."""
    scene = _scene()
    if not scene.objects:
        raise RuntimeError("nothing in it that Blender can read")
    owners: Iterable[Any] = (*bpy.data.objects, *bpy.data.shape_keys)
    actions = {owner.animation_data.action for owner in owners if owner.animation_data} - {None}
    ends = np.array([tuple(action.frame_range) for action in actions] or [(0.0, 0.0)])
    # Seconds are single precision: 0.99999994 is frame 1.
    scene.frame_start = math.floor(ends[:, 0].min() + 1e-3)
    scene.frame_end = math.ceil(ends[:, 1].max() - 1e-3)
    scene.frame_set(scene.frame_start)


def run(operator: Any, **options: Any) -> None:
    """Call an operator without its chatter; RuntimeError if it does not finish."""
    with quiet():
        result = operator(**options)
    if result != {"FINISHED"}:
        raise RuntimeError("Blender gave up without saying why")


def enable(addon: str) -> None:
    """Switch on an add-on that comes with Blender, for this session only."""
    if not addon_utils.check(addon)[1]:
        addon_utils.enable(addon, default_set=False)
    if not addon_utils.check(addon)[1]:
        raise RuntimeError(f"Blender's add-on {addon} cannot be enabled")


@contextmanager
def one_sentence(path: Path) -> Iterator[None]:
    """Turn what Blender and the system raise into an ExchangeError about the file."""
    try:
        yield
    except OSError as error:
        raise ExchangeError(path, error.strerror or str(error)) from error
    except RuntimeError as error:
        raise ExchangeError(path, _last_sentence(str(error), path)) from error


def _last_sentence(report: str, path: Path) -> str:
    """What a Blender report means: the end of a traceback, without places, prefixes and the path, which we name."""
    noise = ("Traceback", 'File "', "Location:", "^", "~")
    lines = [line.strip() for line in report.splitlines()]
    meant = [line for line in lines if line and not line.startswith(noise)] or ["unknown error"]
    sentence = meant[-1].removeprefix("Error: ").removeprefix("Python: ")
    return re.sub(rf"( in file)? ?['\"]{re.escape(str(path))}['\"]", "", sentence)


@contextmanager
def beside(path: Path) -> Iterator[Path]:
    """A temporary name in the target's folder; the file replaces the target when the block ends without an error."""
    handle, name = tempfile.mkstemp(prefix=".", suffix=path.suffix, dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    temporary.unlink()  # mkstemp's mode 600 must not become the model's
    try:
        yield temporary
        if not temporary.exists():
            raise RuntimeError("Blender wrote nothing")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def _in_folder(path: Path) -> Iterator[Path]:
    """The target's name in a temporary folder below the target's; all files move out at the end, the main one last."""
    with tempfile.TemporaryDirectory(prefix=".", dir=path.parent) as folder:
        temporary = Path(folder, path.name)
        yield temporary
        if not temporary.exists():
            raise RuntimeError("Blender wrote nothing")
        made = [file for file in Path(folder).rglob("*") if file.is_file()]
        for file in sorted(made, key=lambda file: file == temporary):
            target = path.parent / file.relative_to(folder)
            target.parent.mkdir(exist_ok=True)
            file.replace(target)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep what Blender and its add-ons print, in Python and in compiled code, off standard output and error.

    The users of the command line do not want to read it.
    """
    _flush_compiled()
    try:
        saved = [os.dup(1), os.dup(2)]
    except OSError:  # no such descriptors, as in Blender's window on Windows: nothing to keep quiet
        yield
        return
    sink = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(sink, descriptor)
    os.close(sink)
    try:
        # In memory and never closed: the glTF add-on's loggers hold on to the stream that they find.
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            yield
    finally:
        _flush_compiled()
        for descriptor, copy in enumerate(saved, start=1):
            os.dup2(copy, descriptor)
            os.close(copy)


def _flush_compiled() -> None:
    """Write out what compiled code has printed so far."""
    if os.name == "posix":
        ctypes.CDLL(None).fflush(None)
