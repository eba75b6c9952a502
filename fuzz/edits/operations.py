"""What a modeller does to what is in the scene, by name: each a function of random numbers, which may do nothing.

Operators of edit and object mode, and modifiers, are those of `tests.ui.test_any_edit`; here is what else changes what
plays: keys and actions, NLA strips, constraints, drivers, parents, materials, weights, bones, files.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import bpy as blender
import numpy as np
from mathutils import Vector

from fuzz.edits.bones import BONES, rigs
from fuzz.edits.panel import PANEL
from fuzz.edits.players import play_rows
from fuzz.edits.settings import SETTINGS
from io_idtech_models.blender.compat import new_curves, play, playing_curves
from io_idtech_models.blender.held_actions import release
from io_idtech_models.blender.roots import is_root
from tests.samples import sample
from tests.ui import test_any_edit as tables
from tests.ui.scene import activate, add_cube, operator

bpy: Any = blender
Operation = Callable[[Random], object]
FIRST = "fuzz_first"  # on the objects of the model that is edited, among others that come later
UV_NAMES = ("UVMap", "UVChannel_1", "UVChannel_2", "UVChannel_7", "Light", "UV", "x.001")


def meshes() -> list[Any]:
    """Return the mesh objects of the scene."""
    return [block for block in bpy.context.scene.objects if block.type == "MESH"]


def one(rng: Random, things: list[Any]) -> Any:
    """Return one of several things; raises LookupError where there is none."""
    if not things:
        raise LookupError("nothing to do it to")
    return things[rng.randrange(len(things))]


def way(rng: Random, size: float = 8.0) -> Vector:
    """Return a way of some units."""
    return Vector([rng.uniform(-size, size) for _ in range(3)])


# -- meshes


def move_vertices(rng: Random) -> None:
    """Move some vertices of the base, or of the key that shows."""
    data = one(rng, meshes()).data
    if data.vertices:
        by = way(rng)
        for nth in rng.sample(range(len(data.vertices)), min(3, len(data.vertices))):
            data.vertices[nth].co += by
        data.update()


def change_uvs(rng: Random) -> None:
    """Move some texture coordinates of a UV map."""
    data = one(rng, meshes()).data
    uvs = one(rng, list(data.uv_layers)).uv
    for nth in rng.sample(range(len(uvs)), min(4, len(uvs))):
        uvs[nth].vector.x += rng.random()
    data.update()


def add_uv_map(rng: Random) -> None:
    """Add a UV map: a copy of the one that is active, of which some is moved."""
    data = one(rng, meshes()).data
    layer = data.uv_layers.new(name=rng.choice(UV_NAMES))
    for nth in range(rng.randrange(4), len(layer.uv), rng.choice((1, 3, 7))):
        layer.uv[nth].vector.y += rng.random()
    data.update()


def paint(rng: Random) -> None:
    """Paint vertices: in the colours that are active, or in new ones, of points or of corners."""
    data = one(rng, meshes()).data
    layers = data.color_attributes
    if not len(layers) or rng.random() < 0.3:
        kind, domain = rng.choice(("BYTE_COLOR", "FLOAT_COLOR")), rng.choice(("POINT", "CORNER"))
        layers.active_color = layers.new("painted", kind, domain)
        if rng.random() < 0.8:
            layers.render_color_index = len(layers) - 1
    every = layers[max(layers.active_color_index, 0)].data
    for nth in rng.sample(range(len(every)), min(6, len(every))):
        every[nth].color = [rng.random() for _ in range(4)]
    data.update()


def lose_uv_map(rng: Random) -> None:
    """Remove a UV map."""
    data = one(rng, meshes()).data
    data.uv_layers.remove(one(rng, list(data.uv_layers)))
    data.update()


def rename_uv_map(rng: Random) -> None:
    """Give a UV map another name."""
    data = one(rng, meshes()).data
    one(rng, list(data.uv_layers)).name = rng.choice(UV_NAMES)
    data.update()


def render_uv_map(rng: Random) -> None:
    """Let games draw another UV map."""
    data = one(rng, meshes()).data
    one(rng, list(data.uv_layers)).active_render = True
    data.update()


def change_weights(rng: Random) -> None:
    """Give some vertices another weight of a group."""
    block = one(rng, meshes())
    group = one(rng, list(block.vertex_groups))
    group.add(range(min(4, len(block.data.vertices))), rng.random(), rng.choice(("REPLACE", "ADD")))


def lose_group(rng: Random) -> None:
    """Remove a vertex group."""
    block = one(rng, meshes())
    block.vertex_groups.remove(one(rng, list(block.vertex_groups)))


def add_material(rng: Random) -> None:
    """Let a mesh's first faces wear another material."""
    data = one(rng, meshes()).data
    data.materials.append(bpy.data.materials.new(rng.choice(("models/a/skin", "models/b/skin", "x"))))
    for face in list(data.polygons)[: len(data.polygons) // 2]:
        face.material_index = len(data.materials) - 1


def rename(rng: Random) -> None:
    """Give an object another name."""
    one(rng, list(bpy.context.scene.objects)).name = rng.choice(("head", "tag_new", "a" * 60, "x.001"))


def custom_normals(rng: Random) -> None:
    """Turn a mesh's normals by hand."""
    data = one(rng, meshes()).data
    normals = np.tile(np.array(way(rng, 1.0).normalized(), np.float32), (len(data.loops), 1))
    if len(normals):
        data.normals_split_custom_set(normals)


def new_cube(rng: Random) -> None:
    """Add a mesh of one's own, perhaps on the armature, perhaps on another object."""
    cube = add_cube("own")
    cube.location = way(rng, 20.0)
    for rig in rigs()[: rng.randrange(2)]:
        cube.modifiers.new("Armature", "ARMATURE").object = rig
        if rig.data.bones:
            group = cube.vertex_groups.new(name=one(rng, list(rig.data.bones)).name)
            group.add(range(len(cube.data.vertices)), 1.0, "REPLACE")


def borrow(rng: Random) -> None:
    """Take another model's mesh: bind it to a bone by weights, hang it on one, or on a mesh, or put it beside that."""
    block = one(rng, [block for block in meshes() + rigs() if FIRST in block])
    bone = "" if block.type == "MESH" else one(rng, list(block.data.bones)).name
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "other.md3"
        place.write_bytes(sample(rng.choice(("minimal", "animated")), "md3"))
        operator("import", place)(filepath=str(place))
    other = next(each for each in bpy.context.selected_objects if each.type == "MESH")
    other.location = way(rng, 20.0)
    for material in other.data.materials:
        material.name = material.name.partition(".")[0]  # some formats name no file of a picture
    if block.type == "MESH":
        other.parent = block if rng.random() < 0.5 else None
        block.users_collection[0].objects.link(other)
        return
    other.parent = block
    if rng.random() < 0.3:
        other.parent_type, other.parent_bone = "BONE", bone
        return
    other.vertex_groups.new(name=bone).add(range(len(other.data.vertices)), 1.0, "REPLACE")
    other.modifiers.new("Armature", "ARMATURE").object = block


# -- keys


def keyed() -> list[Any]:
    """Return the shape keys of all meshes."""
    return [block.data.shape_keys for block in meshes() if block.data.shape_keys is not None]


def move_key(rng: Random) -> None:
    """Move a vertex in one key."""
    key = one(rng, list(one(rng, keyed()).key_blocks))
    if len(key.points):
        key.points[rng.randrange(len(key.points))].co += way(rng)


def add_key(rng: Random) -> None:
    """Add a key, as the panel does, perhaps the first."""
    block = one(rng, meshes())
    if block.data.shape_keys is None and rng.random() < 0.5:
        block.shape_key_add(name="Basis")
    key = block.shape_key_add(name="added", from_mix=rng.random() < 0.5)
    if len(key.points):
        key.points[0].co += way(rng)
    if block.data.shape_keys.use_relative and rng.random() < 0.5:
        for frame, value in ((0, 0.0), (1, 1.0), (2, 0.3)):
            key.value = value
            key.keyframe_insert("value", frame=frame)


def delete_key(rng: Random) -> None:
    """Delete the last key by hand; without another one the scene goes on to show what is between its neighbours."""
    block = one(rng, [block for block in meshes() if block.data.shape_keys is not None])
    block.shape_key_remove(block.data.shape_keys.key_blocks[-1])


def relative_keys(rng: Random) -> None:
    """Make keys relative, or absolute, with values."""
    for keys in keyed():
        keys.use_relative = not keys.use_relative
        for key in list(keys.key_blocks)[1:3]:
            key.value = rng.random()


def pin_key(rng: Random) -> None:
    """Show one key alone."""
    block = one(rng, [block for block in meshes() if block.data.shape_keys is not None])
    block.show_only_shape_key = True
    block.active_shape_key_index = rng.randrange(len(block.data.shape_keys.key_blocks))


def mask_key(rng: Random) -> None:
    """Mute a key, weaken it by a group, let it overdo, or show it beside another than the first."""
    keys = one(rng, keyed())
    key = one(rng, list(keys.key_blocks))
    what = rng.randrange(4)
    if what == 0:
        key.mute = True
    elif what == 1:
        block = next(block for block in meshes() if block.data.shape_keys == keys)
        key.vertex_group = block.vertex_groups.new(name="mask").name
        block.vertex_groups["mask"].add(list(range(len(key.points) // 2)), 0.5, "REPLACE")
    elif what == 2:
        key.slider_max, key.value = 3.0, 2.0
    else:
        key.relative_key = one(rng, list(keys.key_blocks))


def drive_key(rng: Random) -> None:
    """Drive what a model's keys show by the scene's frame."""
    keys = one(rng, keyed())
    owner, path = (one(rng, list(keys.key_blocks)), "value") if keys.use_relative else (keys, "eval_time")
    owner.driver_add(path).driver.expression = rng.choice(("frame", "frame * 0.5", "1 / (frame + 1)", "0.5"))


# -- what plays


def players() -> list[Any]:
    """Return the data-blocks that play an action."""
    owners = [*bpy.context.scene.objects, *keyed()]
    return [owner for owner in owners if owner.animation_data is not None and owner.animation_data.action is not None]


def change_curves(rng: Random) -> None:
    """Change some keys of a curve."""
    curve = one(rng, playing_curves(one(rng, players())))
    for point in list(curve.keyframe_points)[:3]:
        point.co.y += rng.uniform(-0.5, 0.5)
    curve.update()


def thin_keys(rng: Random) -> None:
    """Delete most keys of all that an owner plays; a curve may be left with one, or with none."""
    for curve in playing_curves(one(rng, players())):
        for point in [point for point in curve.keyframe_points if rng.random() < 0.7][::-1]:
            curve.keyframe_points.remove(point)
        curve.update()


def bend_curves(rng: Random) -> None:
    """Let curves go another way between their keys, and behind these."""
    curves = playing_curves(one(rng, players()))
    ways = [each.identifier for each in bpy.types.Keyframe.bl_rna.properties["interpolation"].enum_items]
    way, beyond = rng.choice(ways), rng.choice(("CONSTANT", "LINEAR"))
    for curve in curves if rng.random() < 0.5 else [one(rng, curves)]:
        curve.extrapolation = beyond
        for point in curve.keyframe_points:
            point.interpolation = way
        curve.update()


def modify_curve(rng: Random) -> None:
    """Mute a curve, or give it a modifier."""
    curve = one(rng, playing_curves(one(rng, players())))
    kinds = [each.identifier for each in bpy.types.FModifier.bl_rna.properties["type"].enum_items]
    kind = rng.choice(["MUTE", *sorted({*kinds} - {"NULL"})])
    if kind == "MUTE":
        curve.mute = True
    else:
        curve.modifiers.new(kind)
    curve.update()


def retime(rng: Random) -> None:
    """Slow down, reverse or move all that an owner plays."""
    stretch, by = rng.choice((2.0, 0.5, -1.0, 1.0)), rng.choice((0.0, 3.0))
    for curve in playing_curves(one(rng, players())):
        ends = curve.range()
        for point in curve.keyframe_points:
            point.co.x = (point.co.x if stretch > 0 else ends[0] + ends[1] + point.co.x) * stretch + by
        curve.keyframe_points.sort()
        curve.update()


def push_down(rng: Random) -> None:
    """Put an action into an NLA strip, perhaps slowed, perhaps with another action on top."""
    animation = one(rng, players()).animation_data
    slot = getattr(animation, "action_slot", None)
    strip = animation.nla_tracks.new().strips.new("strip", rng.randrange(3), animation.action)
    if slot is not None:
        strip.action_slot = slot
    strip.scale = rng.choice((1.0, 2.0, 0.5))
    strip.blend_type = rng.choice(("REPLACE", "COMBINE"))
    if rng.random() < 0.7:
        animation.action = None


def change_strip(rng: Random) -> None:
    """Change how an NLA strip, or its track, plays."""
    owners = [*bpy.context.scene.objects, *keyed()]
    tracks = [track for owner in owners if owner.animation_data for track in owner.animation_data.nla_tracks]
    track = one(rng, [track for track in tracks if len(track.strips)])
    strip = track.strips[0]
    name, value = rng.choice((
        ("frame_start_ui", 4.0), ("scale", 3.0), ("repeat", 2.0), ("use_reverse", True),
        ("extrapolation", "NOTHING"), ("extrapolation", "HOLD_FORWARD"), ("action_frame_start", 1.0), ("mute", True),
        ("use_animated_influence", True), ("blend_in", 2.0), ("is_solo", True), ("track mute", True),
    ))  # fmt: skip
    owner = track if name in {"is_solo", "track mute"} else strip
    setattr(owner, name.removeprefix("track "), value)
    if name == "use_animated_influence":
        strip.influence = 0.5


def move_object(rng: Random) -> None:
    """Move, turn or scale an object."""
    block = one(rng, list(bpy.context.scene.objects))
    what = rng.randrange(4)
    if what == 0:
        block.location = way(rng, 20.0)
    elif what == 1:
        block.rotation_euler = way(rng, 3.0)
        block.rotation_mode = "XYZ"
    elif what == 2:
        block.scale = [rng.choice((0.5, 1.0, 2.0))] * 3
    else:
        block.scale = (1.0, rng.choice((-1.0, 2.0)), 1.0)


def animate_object(rng: Random) -> None:
    """Let an object move by curves of its own."""
    block = one(rng, list(bpy.context.scene.objects))
    for frame in (0, 2, 5):
        block.location = way(rng, 10.0)
        block.keyframe_insert("location", frame=frame)


def let_fall(rng: Random) -> None:
    """Let an object fall, or be in the way of those that do."""
    block = one(rng, meshes())
    with bpy.context.temp_override(object=block, active_object=block, selected_objects=[block]):
        bpy.ops.rigidbody.object_add(type=rng.choice(("ACTIVE", "ACTIVE", "PASSIVE")))


def put_elsewhere(rng: Random) -> None:
    """Gather models under roots, as the panel does, and put these elsewhere, at rest or moving."""
    with contextlib.suppress(RuntimeError):  # they have one
        PANEL["make_root"](rng)
    roots = [block for block in bpy.context.scene.objects if is_root(block)]
    root = one(rng, roots)
    root.rotation_mode = "XYZ"
    root.location, root.rotation_euler = way(rng, 40.0), way(rng, rng.choice((0.0, 2.0)))
    if rng.random() < 0.3:
        for frame in (0, 4):
            root.keyframe_insert("location", frame=frame)
            root.location.z += 20.0


def leader(rng: Random) -> Any:
    """Return an empty that moves, which others follow."""
    block = bpy.data.objects.new("leader", None)
    bpy.context.scene.collection.objects.link(block)
    for frame in (0, 3):
        block.location = way(rng, 10.0)
        block.keyframe_insert("location", frame=frame)
    return block


def constrain(rng: Random) -> None:
    """Let an object, or a bone, follow another by a constraint."""
    block = one(rng, list(bpy.context.scene.objects))
    bones = list(block.pose.bones) if block.pose is not None else []
    owner = one(rng, bones) if bones and rng.random() < 0.8 else block
    made = owner.constraints.new(rng.choice(("COPY_LOCATION", "CHILD_OF", "TRACK_TO", "COPY_ROTATION")))
    made.target = leader(rng)


def drive(rng: Random) -> None:
    """Drive something by the scene's frame."""
    block = one(rng, list(bpy.context.scene.objects))
    driver = block.driver_add("location", rng.randrange(3)).driver
    driver.expression = rng.choice(("frame", "frame * 0.5", "sin(frame)"))


def parent(rng: Random) -> None:
    """Hang an object on another one that moves."""
    one(rng, list(bpy.context.scene.objects)).parent = leader(rng)


def parent_to_part(rng: Random) -> None:
    """Hang an object on a vertex, three of them, or a bone of another one; what leads others could end in a circle."""
    users = bpy.data.user_map(subset=list(bpy.context.scene.objects), value_types={"OBJECT"})
    block = one(rng, [b for b in bpy.context.scene.objects if not users[b]])
    other = one(rng, [b for b in (*meshes(), *rigs()) if block not in (b, b.parent)])
    block.parent = other
    if other.type == "ARMATURE":
        block.parent_type, block.parent_bone = "BONE", one(rng, list(other.data.bones)).name
        return
    block.parent_type = rng.choice(("VERTEX", "VERTEX_3"))
    block.parent_vertices = (0, 1, 2)


def linked_copy(rng: Random) -> None:
    """Copy an object whose mesh both have then."""
    block = one(rng, meshes())
    copy = block.copy()
    copy.location += way(rng, 20.0)
    for collection in block.users_collection:
        collection.objects.link(copy)


def change_speed(rng: Random) -> None:
    """Change the scene's step, or its frames per second; no Time Stretching, which exports leave out."""
    scene = bpy.context.scene
    if rng.random() < 0.5:
        scene.frame_step = 2
    else:
        scene.render.fps = rng.choice((10, 60))


def deltas(rng: Random) -> None:
    """Move an object by its delta transforms, or by its origin."""
    block = one(rng, list(bpy.context.scene.objects))
    block.delta_location = way(rng, 10.0)
    block.delta_scale = [rng.choice((0.5, 1.0, 2.0))] * 3
    if block.parent is not None:
        block.matrix_parent_inverse.translation = way(rng, 5.0)


def stay_in_edit_mode(rng: Random) -> None:
    """Leave an object in edit mode, with a vertex moved there."""
    block = one(rng, meshes())
    activate(block)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.transform.translate(value=way(rng))


def change_range(rng: Random) -> None:
    """Set the scene's frames."""
    scene = bpy.context.scene
    scene.frame_start = rng.randrange(3)
    scene.frame_end = scene.frame_start + rng.randrange(1, 9)
    scene.frame_set(rng.randrange(6))


def new_action(rng: Random) -> None:
    """Give an armature another action, of a bone."""
    rig = one(rng, rigs())
    bone = one(rng, list(rig.pose.bones))
    action = bpy.data.actions.new("new")
    curve = new_curves(action, "OBJECT", rig.name).new(f'pose.bones["{bone.name}"].location', index=rng.randrange(3))
    for frame in (0, 4):
        curve.keyframe_points.insert(frame, rng.uniform(-5, 5))
    play(rig, action)


def no_action(rng: Random) -> None:
    """Let an owner play nothing; no armature, whose actions are written though none plays."""
    one(rng, [owner for owner in players() if getattr(owner, "pose", None) is None]).animation_data.action = None


# -- bones


def pose(rng: Random) -> None:
    """Pose a bone by hand."""
    bone = one(rng, list(one(rng, rigs()).pose.bones))
    bone.location = way(rng, 3.0)
    if rng.random() < 0.3:
        bone.scale = [rng.choice((0.5, 2.0))] * 3


def armature_options(rng: Random) -> None:
    """Change how an armature modifier works."""
    modifiers = [m for block in meshes() for m in block.modifiers if m.type == "ARMATURE"]
    modifier = one(rng, modifiers)
    what = rng.randrange(4)
    if what == 0:
        modifier.use_deform_preserve_volume = True
    elif what == 1:
        modifier.show_viewport = False
    elif what == 2:
        copy = modifier.id_data.modifiers.new("again", "ARMATURE")
        copy.object = modifier.object
    else:
        modifier.use_vertex_groups = False


def rest_position(_rng: Random) -> None:
    """Show armatures at rest."""
    for rig in rigs():
        rig.data.pose_position = "REST"


# -- objects and files


def hide(rng: Random) -> None:
    """Hide an object."""
    one(rng, list(bpy.context.scene.objects)).hide_set(True)


def delete(rng: Random) -> None:
    """Delete an object."""
    bpy.data.objects.remove(one(rng, list(bpy.context.scene.objects)))


def save_and_open(_rng: Random) -> None:
    """Save the .blend and open it again."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "a.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(place))
        bpy.ops.wm.open_mainfile(filepath=str(place))


def append(rng: Random) -> None:
    """Save, and append the first collection to another .blend, or link its objects."""
    names = [each.name for each in bpy.context.scene.collection.children]
    called = one(rng, names)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "a.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(place))
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        with bpy.data.libraries.load(str(place), link=False) as (_, into):
            into.collections = [called]
        bpy.context.scene.collection.children.link(bpy.data.collections[called])
    release()  # as the next click does, or the export itself


def undo(_rng: Random) -> None:
    """Do a step and undo it."""
    if bpy.app.background and not bpy.context.preferences.edit.use_global_undo:
        return
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.object.select_all(action="INVERT")
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()


def undo_click(rng: Random) -> None:
    """Click something of the panel, and undo that."""
    bpy.ops.ed.undo_push(message="before")
    with contextlib.suppress(LookupError, RuntimeError):
        PANEL[rng.choice(sorted(PANEL))](rng)
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()


# What these show depends on how the scene was played, and so is another thing each time.
UNCOUNTED = frozenset(("FLUID", "DYNAMIC_PAINT", "PARTICLE_SYSTEM", "EXPLODE"))  # in each frame they have other points
OWN: dict[str, Operation] = {
    function.__name__: function
    for function in (
        move_vertices, change_uvs, paint, add_uv_map, lose_uv_map, rename_uv_map, render_uv_map,
        change_weights, lose_group, add_material, rename, custom_normals, new_cube, borrow,
        move_key, add_key, delete_key, relative_keys, pin_key, mask_key, drive_key,
        change_curves, thin_keys, bend_curves, modify_curve, retime, push_down, change_strip, move_object,
        animate_object, let_fall, constrain, drive, parent,
        parent_to_part, linked_copy, change_speed, deltas, stay_in_edit_mode, change_range,
        new_action, no_action, pose, armature_options, rest_position, hide, delete, save_and_open, append,
        undo, undo_click, play_rows, put_elsewhere,
    )
}  # fmt: skip


def _on_one(edit: Callable[[list[Any]], object]) -> Operation:
    """Return an operation that does what the tables do to a model's first mesh, to any one."""

    def operation(rng: Random) -> None:
        found = meshes()
        first = one(rng, found)
        edit([first, *(block for block in found if block != first)])

    return operation


def _modifier(kind: str) -> Operation:
    """Return an operation that adds a modifier, behind the others or before them."""

    def operation(rng: Random) -> None:
        block = one(rng, meshes())
        tables.fill(block.modifiers.new(kind, kind), block)
        if rng.random() < 0.5:
            block.modifiers.move(len(block.modifiers) - 1, 0)

    return operation


def operations() -> dict[str, Operation]:
    """Return all operations, by name."""
    found = OWN | BONES | SETTINGS | PANEL
    found |= {f"modifier {kind}": _modifier(kind) for kind in tables.kinds_of_modifiers() if kind not in UNCOUNTED}
    for name, part, options in tables.EDIT_MODE:
        found[tables.called(name, part, options)] = _on_one(tables.in_edit_mode(name, part, options))
    found |= {name: _on_one(tables.in_object_mode(call)) for name, call in tables.OBJECT_MODE.items()}
    return found


def do(operation: Operation, seed: int) -> bool:
    """Do an operation; tells whether it could be done. What Blender refuses is no edit."""
    with contextlib.suppress(LookupError, RuntimeError, ReferenceError, TypeError, AttributeError, ValueError):
        operation(Random(seed))
        bpy.context.view_layer.update()
        return True
    with contextlib.suppress(RuntimeError):
        bpy.ops.object.mode_set(mode="OBJECT")
    return False
