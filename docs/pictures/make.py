"""Make the guide's pictures of the window, with a Blender that has one and the extension enabled.

blender --python docs/pictures/make.py -- [FOLDER] [NAME...] [--grab PROGRAM ARGUMENTS]

writes all pictures, or those that are named, into FOLDER (default: beside this script), with the project's examples as
models. Where Blender's own screenshots stay black (some virtual screens) `--grab` names a program that writes a
picture of the screen into the file whose name is put behind its arguments: `--grab import -window root`.

A picture is a line of `PICTURES`. What pops up is found by comparing the window before and after; all is written with a
palette, so that pictures stay small.
"""

from __future__ import annotations

import struct
import subprocess
import sys
import tempfile
import traceback
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import radians
from pathlib import Path
from typing import Any

import bpy as blender
import numpy as np
from mathutils import Euler
from numpy.typing import NDArray

bpy: Any = blender
HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parent.parent / "examples"
SENTINEL = EXAMPLES / "sentinel/sentinel.md3"
STILT = EXAMPLES / "stilt/players/stilt/tris.md2"
TOCK = EXAMPLES / "tock/baseq3/models/players/tock/animation.cfg"
SOLDIER = EXAMPLES / "trooper/characters/toys/allied/trooper.char"
NEWT = EXAMPLES / "newt/def/newt.def"
LANTERN = EXAMPLES / "lantern/baseq3/lantern.pk3"
CATEGORY = "id Tech"
MARGIN = 6  # around what popped up, in pixels
LEAST, GAP = 60, 12  # pixels that differ in a row or column of what popped up, and rows between that don't
Image = NDArray[np.uint8]  # (height, width, 3), from the top
Steps = Iterator[float]  # a script that waits so many seconds while Blender draws
Box = tuple[int, int, int, int]  # left, top, right, bottom


@dataclass(frozen=True)
class Picture:
    """What is shown, and which part of the window is kept: what popped up, or a region of an area."""

    name: str
    prepare: Callable[[], None]
    show: Callable[[], None] | None = None
    area: str = "VIEW_3D"
    region: str = "WINDOW"  # kept, where nothing pops up; AREA: all of them
    wait: float = 2.0


# -- what is in the scene


def empty() -> None:
    """Begin with nothing."""
    bpy.ops.wm.read_homefile(app_template="")
    for block in list(bpy.data.objects):
        bpy.data.objects.remove(block)


def sentinel() -> None:
    """Show the Sentinel in frame 12."""
    empty()
    bpy.ops.import_scene.idtech_md3(filepath=str(SENTINEL))
    bpy.context.scene.frame_set(12)
    look()


def stilt() -> None:
    """Show the Stilt."""
    empty()
    bpy.ops.import_scene.idtech_md2(filepath=str(STILT))
    look()


def rigged(degrees: float, frame: int, model: Callable[[], None] | None = None) -> Callable[[], None]:
    """Return what shows a model's rig, the Stilt's, in a frame, seen from so many degrees to the right of its front."""

    def prepare() -> None:
        (model or stilt)()
        bpy.ops.object.idtech_make_rig("EXEC_DEFAULT")
        at = place("VIEW_3D", "WINDOW")
        space = at["area"].spaces.active
        space.overlay.show_overlays = True
        for name in ("floor", "axis_x", "axis_y", "cursor", "text", "outline_selected"):
            setattr(space.overlay, f"show_{name}", False)
        bpy.context.scene.frame_set(frame)
        space.region_3d.view_rotation = Euler((radians(85), 0, radians(90 + degrees))).to_quaternion()
        space.region_3d.view_perspective = "ORTHO"
        with bpy.context.temp_override(**at):
            bpy.ops.view3d.view_all()
            bpy.ops.object.mode_set(mode="POSE")
            bpy.ops.pose.select_all(action="DESELECT")

    return prepare


def tock() -> None:
    """Show Tock, running."""
    empty()
    bpy.ops.import_scene.idtech_player(filepath=str(TOCK))
    bpy.ops.object.idtech_play(legs="LEGS_RUN", torso="TORSO_ATTACK")
    bpy.context.scene.frame_set(3)
    look()


def character(file: Path, frame: int, play: Callable[[], object]) -> Callable[[], None]:
    """Return what shows a whole character in a frame of what `play` lets its armature play."""

    def prepare() -> None:
        empty()
        bpy.ops.import_scene.idtech_character(filepath=str(file))
        rig = next(block for block in bpy.data.objects if block.type == "ARMATURE")
        bpy.context.view_layer.objects.active = rig
        play()
        bpy.context.scene.frame_set(frame)
        rig.hide_set(True)
        look()
        bpy.context.view_layer.objects.active = rig

    return prepare


def salute() -> None:
    """Let legs walk, and a torso salute."""
    bpy.ops.object.idtech_preview_torso(legs="walk", torso="salute")


def walk() -> None:
    """Let a monster walk."""
    bpy.ops.object.idtech_animation_play(name="walk")


def quake2() -> None:
    """Show a player of Quake II that was made of the tutorial's mannequin, while it salutes."""
    empty()
    sys.path.insert(0, str(EXAMPLES.parent))
    from examples import strut

    with bpy.context.temp_override(**place("VIEW_3D", "WINDOW")):
        strut.build()
    with tempfile.TemporaryDirectory() as folder:
        player = Path(folder) / "players/strut"
        bpy.ops.object.idtech_make_quake2_player(filepath=str(player), open_result=False)
        empty()
        bpy.ops.import_scene.idtech_character(filepath=str(player / "tris.md2"))
    bpy.context.view_layer.objects.active = next(block for block in bpy.data.objects if block.type == "MESH")
    bpy.ops.object.idtech_animation_play(name="run")
    bpy.context.scene.frame_set(2)
    look()


def posed(model: Callable[[], None]) -> Callable[[], None]:
    """Return what shows a model with its rig beside the panel, the textures on."""

    def prepare() -> None:
        rigged(60, 3, model)()
        at = place("VIEW_3D", "WINDOW")
        at["area"].spaces.active.region_3d.view_rotation = Euler((radians(78), 0, radians(130))).to_quaternion()
        with bpy.context.temp_override(**at):
            bpy.ops.view3d.view_all()

    return prepare


def lantern() -> None:
    """Show the Lantern with its shaders."""
    empty()
    bpy.ops.import_scene.idtech_archive(filepath=str(LANTERN), models="**")
    look()
    place("VIEW_3D", "WINDOW")["area"].spaces.active.shading.type = "MATERIAL"


def look() -> None:
    """Turn the view to what there is, in its textures."""
    at = place("VIEW_3D", "WINDOW")
    space = at["area"].spaces.active
    space.shading.color_type = "TEXTURE"
    space.overlay.show_overlays = space.show_gizmo = False
    with bpy.context.temp_override(**at):
        bpy.ops.view3d.view_all()


# -- what pops up


def menu(name: str) -> Callable[[], None]:
    """Return what opens a menu in the middle of the window."""

    def show() -> None:
        at = place("VIEW_3D", "WINDOW")
        at["window"].cursor_warp(at["window"].width // 3, at["window"].height // 2)
        with bpy.context.temp_override(**at):
            bpy.ops.wm.call_menu(name=name)

    return show


def dialog(operator: str, **options: Any) -> Callable[[], None]:
    """Return what starts an operator as its menu entry does."""

    def show() -> None:
        bpy.context.preferences.view.filebrowser_display_type = "SCREEN"
        group, _, name = operator.partition(".")
        at = place("VIEW_3D", "WINDOW")
        at["window"].cursor_warp(at["window"].width // 3, at["window"].height // 2)
        with bpy.context.temp_override(**at):
            getattr(getattr(bpy.ops, group), name)("INVOKE_DEFAULT", **options)

    return show


def sidebar(*opened: str) -> Callable[[], None]:
    """Return what opens our tab of the 3D view's sidebar, some of its parts unfolded."""

    def show() -> None:
        registration: Any = next(
            m for name, m in sys.modules.items() if name.endswith("_idtech_models.ui.registration")
        )
        folded = [cls for cls in registration._classes if getattr(cls, "bl_category", "") == CATEGORY]
        for cls in folded[::-1]:
            bpy.utils.unregister_class(cls)
        for cls in folded:  # all anew, in their order: Blender keeps to itself which are folded
            if hasattr(cls, "bl_parent_id"):
                cls.bl_options = set() if cls.bl_label in opened else {"DEFAULT_CLOSED"}
            bpy.utils.register_class(cls)
        place("VIEW_3D", "UI")["region"].active_panel_category = CATEGORY

    return show


PICTURES = (
    Picture("menu-import", empty, menu("TOPBAR_MT_idtech_import"), region=""),
    Picture("menu-export", sentinel, menu("TOPBAR_MT_idtech_export"), region=""),
    Picture("frames", sentinel, menu("MESH_MT_shape_key_context_menu"), region=""),
    Picture("play", tock, dialog("object.idtech_play"), region=""),
    Picture("options-import", empty, dialog("import_scene.idtech_md3"), "FILE_BROWSER", "TOOL_PROPS"),
    Picture("options-export", sentinel, dialog("export_scene.idtech_md3"), "FILE_BROWSER", "TOOL_PROPS"),
    Picture("sidebar", sentinel, sidebar(), region="UI"),
    Picture("sidebar-model", sentinel, sidebar("Model"), region="UI"),
    Picture("sidebar-animations", stilt, sidebar("Animations"), region="UI"),
    Picture("sidebar-player", tock, sidebar("Part"), region="UI"),
    Picture("sidebar-tags", sentinel, sidebar("Tags"), region="UI"),
    Picture("sidebar-surfaces", sentinel, sidebar("Surfaces"), region="UI"),
    Picture("player", tock),
    Picture("character", character(SOLDIER, 9, salute), sidebar("Animations"), region="AREA", wait=6.0),
    Picture("doom3-character", character(NEWT, 7, walk), sidebar("Animations"), region="AREA", wait=6.0),
    Picture("quake2-player", quake2, sidebar("Animations"), region="AREA", wait=6.0),
    Picture("materials", lantern, wait=90.0),
    Picture("rig-front", rigged(0, 0)),
    Picture("rig-side", rigged(90, 0)),
    Picture("rig-running", rigged(50, 12)),
    Picture("rig-player", rigged(35, 3, tock)),
    Picture("panel", posed(tock), sidebar("Animations"), region="AREA", wait=6.0),  # panels slide into place
)


def place(area_type: str, region_type: str) -> dict[str, Any]:
    """Return a region of the first area of a type, as an override of the context."""
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == area_type)
    return {"window": window, "area": area, "region": next(r for r in area.regions if r.type == region_type)}


# -- from the screen to a file


def grab(command: list[str]) -> Image:
    """Return what the window shows."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "shot.png"
        if command:
            subprocess.run([*command, str(path)], check=True)
        else:
            with bpy.context.temp_override(window=bpy.context.window_manager.windows[0]):
                bpy.ops.screen.screenshot(filepath=str(path), check_existing=False)
        image = bpy.data.images.load(str(path))
        width, height = image.size
        values = np.empty(width * height * 4, np.float32)
        image.pixels.foreach_get(values)
        bpy.data.images.remove(image)
    found: Image = (values.reshape(height, width, 4)[::-1, :, :3] * 255).round().astype(np.uint8)
    return found


def changed(before: Image, after: Image) -> Box:
    """Return the part of a window that is not as it was: what is broad and high, no hint in a status bar."""
    differs = (before != after).any(2)
    top, bottom = run_of(differs.sum(1))
    left, right = run_of(differs[top:bottom].sum(0))
    return max(left - MARGIN, 0), max(top - MARGIN, 0), right + MARGIN, bottom + MARGIN


def run_of(counts: NDArray[np.int64]) -> tuple[int, int]:
    """Return where the longest run of rows or columns with many changes begins and ends."""
    many = np.flatnonzero(counts > LEAST)
    if not len(many):
        raise RuntimeError("nothing popped up")
    runs = np.split(many, np.flatnonzero(np.diff(many) > GAP) + 1)
    longest = max(runs, key=len)
    return int(longest[0]), int(longest[-1]) + 1


def trimmed(image: Image) -> Image:
    """Return an image without the rows at its bottom in which nothing is drawn."""
    drawn = np.flatnonzero(np.ptp(image[:, MARGIN:-MARGIN].astype(int), axis=1).max(1) > 12)
    return image[: drawn[-1] + 2 * MARGIN] if len(drawn) else image


def box_of(picture: Picture, height: int) -> Box:
    """Return where a region is in the window; of a view of models its middle."""
    if picture.region == "AREA":
        area = place(picture.area, "WINDOW")["area"]
        return area.x, height - area.y - area.height, area.x + area.width, height - area.y
    region = place(picture.area, picture.region)["region"]
    left, right, bottom, top = region.x, region.x + region.width, region.y, region.y + region.height
    if picture.region == "WINDOW":
        wide, high = (right - left) // 4, (top - bottom) // 20
        left, right, bottom, top = left + wide, right - wide, bottom + high, top - high
    return left, height - top, right, height - bottom


def small_png(image: Image) -> bytes:
    """Return an image as a PNG in its 256 most frequent colours; what is of another has the nearest."""
    codes = (image >> 3).astype(np.int32) @ np.array([1024, 32, 1])
    _, numbers, counts = np.unique(codes, return_inverse=True, return_counts=True)
    sums = np.stack([np.bincount(numbers.ravel(), image[..., i].ravel()) for i in range(3)], axis=1)
    shades = sums / counts[:, None]
    colours = shades[np.sort(np.argsort(-counts, kind="stable")[:256])]
    nearest = ((shades[:, None] - colours) ** 2).sum(2).argmin(1)
    numbers = nearest[numbers]
    colours = np.concatenate([colours, np.zeros((256 - len(colours), 3))]).round()
    height, width = image.shape[:2]
    indices = numbers.reshape(height, width).astype(np.uint8)
    raw = b"".join(b"\0" + row.tobytes() for row in indices)
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", colours.astype(np.uint8).tobytes()),
        (b"IDAT", zlib.compress(raw, 9)),
        (b"IEND", b""),
    )
    chunks = [struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in parts]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def take(picture: Picture, folder: Path, command: list[str]) -> Steps:
    """Show something, and write its picture."""
    picture.prepare()
    yield 0.5
    space = place("VIEW_3D", "WINDOW")["area"].spaces.active
    space.show_region_toolbar = space.show_region_tool_header = False
    space.show_region_ui = picture.region in ("UI", "AREA")
    yield picture.wait
    before = grab(command)
    if picture.show is not None:
        picture.show()
        yield picture.wait
    after = grab(command)
    left, top, right, bottom = box_of(picture, len(after)) if picture.region else changed(before, after)
    path = folder / f"{picture.name}.png"
    path.write_bytes(small_png(trimmed(after[top:bottom, left:right])))
    print(f"{path}: {path.stat().st_size} bytes", flush=True)


def steps(arguments: list[str]) -> Steps:
    """Take all pictures that are asked for, each in a Blender as it starts."""
    cut = arguments.index("--grab") if "--grab" in arguments else len(arguments)
    own, command = arguments[:cut], arguments[cut + 1 :]
    folder = Path(own[0]).resolve() if own else HERE
    folder.mkdir(parents=True, exist_ok=True)
    view = bpy.context.preferences.view
    view.show_splash = view.show_tooltips = False
    view.smooth_view = 0
    yield 2.0
    for picture in PICTURES:
        if picture.name in own[1:] or not own[1:]:
            yield from take(picture, folder, command)


def drive(todo: Steps) -> float | None:
    """Go a step further; at the end, or if something goes wrong, end Blender."""
    try:
        return next(todo)
    except StopIteration:
        bpy.ops.wm.quit_blender()
    except Exception:  # noqa: BLE001 - whatever it is, Blender must not wait for ever
        traceback.print_exc()
        sys.stderr.flush()
        bpy.ops.wm.quit_blender()
    return None


if __name__ == "__main__":
    given = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []
    todo = steps(given)
    bpy.app.timers.register(lambda: drive(todo), first_interval=1.0, persistent=True)
