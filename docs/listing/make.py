"""Make the icon and pictures of the extension's listing, of the project's own examples. Needs Blender's module.

.venvs/bpy-5.2/bin/python docs/listing/make.py [FOLDER] [NAME...]

writes all, or those that are named, into FOLDER (default: beside this script). A picture is a function of `PICTURES`.
What a frame shows is frozen to plain meshes, so that several frames stand in one scene. The panel, which takes a
window, is `docs/pictures/make.py`'s.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from math import radians
from pathlib import Path
from typing import Any

import bpy as blender
import numpy as np
from mathutils import Matrix, Vector

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
EXAMPLES = PROJECT / "examples"
TOCK = EXAMPLES / "tock/baseq3/models/players/tock/animation.cfg"
STILT = EXAMPLES / "stilt/players/stilt/tris.md2"
NEWT = EXAMPLES / "newt/models/md5/newt/newt.md5mesh"
SENTINEL = EXAMPLES / "sentinel/sentinel.md3"
LANTERN = EXAMPLES / "lantern/baseq3/lantern.pk3/models/mapobjects/lantern/lantern.md3"
BRAZIER = EXAMPLES / "brazier/progs/brazier.mdl"
WIDE, ICON = (1600, 900), (256, 256)
SAMPLES = 32  # which the denoiser makes smooth
Colour = tuple[float, float, float]
Place = tuple[float, float, float]
Objects = list[Any]
bpy: Any = blender
WARM, COOL, WHITE = (1.0, 0.72, 0.46), (0.42, 0.62, 1.0), (1.0, 0.97, 0.92)
BONES = (1.0, 0.55, 0.08)


# -- what stands there


def imported(kind: str, path: Path, **options: Any) -> Objects:
    """Import a file; returns the objects that came of it."""
    before = set(bpy.data.objects)
    getattr(bpy.ops.import_scene, f"idtech_{kind}")(filepath=str(path), **options)
    return [block for block in bpy.data.objects if block not in before]


def frozen(blocks: Iterable[Any], place: Place = (0, 0, 0), turned: float = 0.0, size: float = 1.0) -> Objects:
    """Return plain meshes of what objects show in the present frame, put somewhere, turned by degrees about Z."""
    bpy.context.view_layer.update()
    graph = bpy.context.evaluated_depsgraph_get()
    move = Matrix.Translation(place) @ Matrix.Rotation(radians(turned), 4, "Z") @ Matrix.Scale(size, 4)
    found = []
    for block in blocks:
        if block.type == "MESH" and block.visible_get():
            shown = block.evaluated_get(graph)
            copy = bpy.data.objects.new(block.name, bpy.data.meshes.new_from_object(shown, depsgraph=graph))
            copy.matrix_world = move @ shown.matrix_world
            bpy.context.scene.collection.objects.link(copy)
            found.append(copy)
    return found


def bones_of(rig: Any, place: Place, turned: float) -> None:
    """Stand in for a rig's bones as they are posed: an octahedron each, which shines."""
    bpy.context.view_layer.update()
    move = Matrix.Translation(place) @ Matrix.Rotation(radians(turned), 4, "Z")
    ring = [(0.1, 0.12, 0), (0, 0.12, 0.1), (-0.1, 0.12, 0), (0, 0.12, -0.1)]
    faces = [(0, i, i % 4 + 1) for i in range(1, 5)] + [(5, i % 4 + 1, i) for i in range(1, 5)]
    mesh = bpy.data.meshes.new("bone")
    mesh.from_pydata([(0, 0, 0), *ring, (0, 1, 0)], [], faces)
    mesh.materials.append(shining("bones", BONES, 1.6))
    for bone in rig.pose.bones:
        block = bpy.data.objects.new("bone", mesh)
        block.matrix_world = move @ rig.matrix_world @ bone.matrix @ Matrix.Scale(bone.length, 4)
        bpy.context.scene.collection.objects.link(block)


def gone(blocks: Iterable[Any]) -> None:
    """Remove what was frozen."""
    for block in list(blocks):
        bpy.data.objects.remove(block)


# -- materials, light, camera


def shining(name: str, colour: Colour, strength: float) -> Any:
    """Return a material that gives light."""
    made, tree = _material(name)
    node = tree.nodes.new("ShaderNodeEmission")
    node.inputs["Color"].default_value, node.inputs["Strength"].default_value = (*colour, 1.0), strength
    tree.links.new(node.outputs[0], tree.nodes.new("ShaderNodeOutputMaterial").inputs["Surface"])
    return made


def glass(blocks: Iterable[Any], share: float) -> None:
    """Let objects be seen through, by a share of the light."""
    for block in blocks:
        for slot, material in enumerate(block.data.materials):
            made = material.copy()
            tree = made.node_tree
            output = next(node for node in tree.nodes if node.type == "OUTPUT_MATERIAL")
            mixed, clear = tree.nodes.new("ShaderNodeMixShader"), tree.nodes.new("ShaderNodeBsdfTransparent")
            mixed.inputs[0].default_value = share
            tree.links.new(output.inputs["Surface"].links[0].from_socket, mixed.inputs[1])
            tree.links.new(clear.outputs[0], mixed.inputs[2])
            tree.links.new(mixed.outputs[0], output.inputs["Surface"])
            block.data.materials[slot] = made


def _material(name: str) -> tuple[Any, Any]:
    made = bpy.data.materials.new(name)
    if made.node_tree is None:
        made.use_nodes = True
    made.node_tree.nodes.clear()
    return made, made.node_tree


def stage(colour: Colour, height: float = -24.0) -> None:
    """Lay a floor that rises to a wall far behind, without an edge, and a sky of nearly the same colour."""
    bend, steps = 160.0, 24
    angles = np.linspace(0, np.pi / 2, steps)
    profile = [
        (1200.0, 0.0),
        *zip(-420 - bend * np.sin(angles), bend * (1 - np.cos(angles)), strict=True),
        (-580, 1600),
    ]
    points = [(x, y, z + height) for y in (-2500.0, 2500.0) for x, z in profile]
    count = len(profile)
    mesh = bpy.data.meshes.new("stage")
    mesh.from_pydata(points, [], [(i, i + 1, count + i + 1, count + i) for i in range(count - 1)])
    mesh.shade_smooth()
    made, tree = _material("stage")
    node = tree.nodes.new("ShaderNodeBsdfPrincipled")
    node.inputs["Base Color"].default_value, node.inputs["Roughness"].default_value = (*colour, 1.0), 0.55
    tree.links.new(node.outputs[0], tree.nodes.new("ShaderNodeOutputMaterial").inputs["Surface"])
    mesh.materials.append(made)
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("stage", mesh))
    world = bpy.data.worlds.new("world")
    if world.node_tree is None:
        world.use_nodes = True
    background = next(node for node in world.node_tree.nodes if node.type == "BACKGROUND")
    background.inputs["Color"].default_value, background.inputs["Strength"].default_value = (*colour, 1.0), 0.8
    bpy.context.scene.world = world


def lamp(place: Place, at: Place, power: float, colour: Colour, size: float) -> None:
    """Hang a square lamp somewhere, which shines at a place; power in thousands of Watts, for units are small."""
    data = bpy.data.lights.new("lamp", "AREA")
    data.energy, data.color, data.size = power * 1000, colour, size
    _aimed(bpy.data.objects.new("lamp", data), place, at)


def three_lamps(at: Place, power: float = 1.0, key: Colour = WHITE, rim: Colour = COOL) -> None:
    """Light as portraits are: a large lamp before, a weak one beside, and one behind for the edges."""
    x, y, z = at
    lamp((x + 260, y - 200, z + 240), at, 620 * power, key, 130)
    lamp((x + 240, y + 280, z + 60), at, 170 * power, WARM, 220)
    lamp((x - 230, y + 150, z + 200), at, 700 * power, rim, 110)


def _aimed(block: Any, place: Place, at: Place) -> None:
    block.location = place
    block.rotation_euler = (Vector(at) - Vector(place)).to_track_quat("-Z", "Y").to_euler()
    bpy.context.scene.collection.objects.link(block)


def look(place: Place, at: Place, lens: float = 60.0) -> None:
    """Look from somewhere at a place, with a lens of so many millimetres."""
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.data.lens, camera.data.clip_end = lens, 5000.0
    _aimed(camera, place, at)
    bpy.context.scene.camera = camera


# -- the pictures


def player() -> None:
    """Tock, a whole player of Quake III: five of its animations, both skins."""
    rows = (
        ("default", "LEGS_WALK", "TORSO_STAND", 5, (-30.0, -62.0), 34.0),
        ("red", "LEGS_JUMP", "TORSO_ATTACK", 4, (-36.0, 62.0), -38.0),
        ("default", "LEGS_RUN", "TORSO_ATTACK", 3, (24.0, -22.0), 22.0),
        ("red", "LEGS_IDLE", "TORSO_GESTURE", 9, (12.0, 26.0), -20.0),
    )
    for skin, legs, torso, frame, (x, y), turned in rows:
        blocks = imported("player", TOCK, skin=skin, legs=legs, torso=torso, levels=False)
        bpy.context.scene.frame_set(frame)
        lift = 14.0 if legs == "LEGS_JUMP" else 0.0
        frozen(blocks, (x, y, lift), turned)
        gone(blocks)
    stage((0.16, 0.26, 0.42))
    three_lamps((0, 0, 10), 1.9)
    look((265, -24, 30), (0, 0, 5), 66)


def rig() -> None:
    """The Stilt, an MD2 without a skeleton, and the bones that were found in its frames."""
    blocks = imported("md2", STILT)
    bpy.context.view_layer.objects.active = next(block for block in blocks if block.type == "MESH")
    before = set(bpy.data.objects)
    bpy.ops.object.idtech_make_rig("EXEC_DEFAULT")
    (made,) = (block for block in set(bpy.data.objects) - before if block.type == "ARMATURE")
    for frame, place, turned, share in ((0, (0, -56, 0), 26, 0.0), (13, (0, 2, 0), 14, 0.5), (17, (0, 60, 0), -8, 0.5)):
        bpy.context.scene.frame_set(frame)
        shown = frozen(blocks, place, turned)
        if share:
            glass(shown, share)
            bones_of(made, place, turned)
    gone([*blocks, made])
    stage((0.09, 0.10, 0.13))
    three_lamps((0, 0, 10), 2.0)
    look((258, -30, 34), (0, 1, 2), 56)


def monster() -> None:
    """The Newt, an MD5 of 21 joints: three frames of its walk."""
    blocks = imported("md5mesh", NEWT)
    for frame, place, turned in ((3, (20, -44, 0), 30), (12, (-60, 20, 0), 6), (19, (34, 46, 0), -30)):
        bpy.context.scene.frame_set(frame)
        frozen(blocks, place, turned)
    gone(blocks)
    stage((0.05, 0.07, 0.06), 0.0)
    three_lamps((0, 0, 20), 2.2, WHITE, (0.6, 1.0, 0.75))
    look((250, -46, 74), (0, 2, 10), 58)


def lights() -> None:
    """Lanterns and braziers at night, their shaders and skins as their games show them."""
    for skin, place in (("default", (30, -24, 16)), ("frost", (34, 24, 16))):
        blocks = imported("md3", LANTERN, skin=skin)
        bpy.context.scene.frame_set(3)
        frozen(blocks, place, 14)
        gone(blocks)
        lamp((70, place[1], 30), place, 16.0, WARM if skin == "default" else COOL, 8)
    blocks = imported("mdl", BRAZIER)
    for frame, place in ((0, (-10, -62, -24)), (2, (-20, 64, -24)), (4, (-60, 0, -24))):
        bpy.context.scene.frame_set(frame)
        frozen(blocks, place, 20.0 * frame)
        lamp((place[0], place[1], 70), place, 34.0, (1.0, 0.45, 0.14), 16)
    gone(blocks)
    stage((0.025, 0.03, 0.05))
    lamp((260, -180, 260), (0, 0, 0), 420, COOL, 200)
    lamp((-230, 60, 200), (0, 0, 10), 260, COOL, 120)
    look((265, -10, 30), (0, 0, 4), 60)


def drone() -> None:
    """The Sentinel, a drone as an MD3 with tags, above Tock, who waves."""
    blocks = imported("md3", SENTINEL)
    bpy.context.scene.frame_set(12)
    frozen(blocks, (10, 30, 34), -16, 0.9)
    gone(blocks)
    blocks = imported("player", TOCK, legs="LEGS_IDLE", torso="TORSO_GESTURE", levels=False)
    bpy.context.scene.frame_set(9)
    frozen(blocks, (20, -34, 0), 18)
    gone(blocks)
    stage((0.30, 0.22, 0.15))
    three_lamps((0, 0, 24), 1.8, WHITE, WARM)
    look((245, -30, 26), (0, 0, 6), 58)


def icon() -> None:
    """Tock's head, from near."""
    blocks = imported("player", TOCK, legs="LEGS_IDLE", torso="TORSO_STAND", levels=False)
    bpy.context.scene.frame_set(0)
    frozen(blocks, (0, 0, 0), 24)
    gone(blocks)
    stage((1.0, 0.36, 0.05), -2000.0)
    three_lamps((0, 0, 20), 2.2, WHITE, WHITE)
    look((150, -16, 26), (0, 0, 17.5), 172)


PICTURES: dict[str, tuple[Callable[[], None], tuple[int, int]]] = {
    "icon": (icon, ICON),
    "player": (player, WIDE),
    "rig": (rig, WIDE),
    "monster": (monster, WIDE),
    "lights": (lights, WIDE),
    "drone": (drone, WIDE),
}


def render(size: tuple[int, int], target: Path) -> None:
    """Render the scene: an icon as PNG, the others as JPEG, which is a quarter of that."""
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising = SAMPLES, True
    scene.view_settings.view_transform = "AgX"
    scene.view_settings.look = "AgX - Medium High Contrast"
    scene.render.resolution_x, scene.render.resolution_y = size
    settings = scene.render.image_settings
    settings.file_format, settings.color_mode, settings.quality = "PNG" if size == ICON else "JPEG", "RGB", 88
    settings.compression = 100
    scene.render.filepath = str(target.with_suffix(".png" if size == ICON else ".jpg").resolve())
    bpy.ops.render.render(write_still=True)


def main(arguments: list[str]) -> None:
    """Make what is asked for."""
    sys.path.insert(0, str(PROJECT))
    import io_idtech_models

    folder = Path(arguments[0]) if arguments else HERE
    for name in arguments[1:] or PICTURES:
        prepare, size = PICTURES[name]
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        if not hasattr(bpy.types, "IMPORT_SCENE_OT_idtech_player"):
            io_idtech_models.register()
        prepare()
        render(size, folder / name)


if __name__ == "__main__":
    main(sys.argv[1:])
