"""An export leaves the .blend as it was: all that Blender tells of it is as before."""

import contextlib
from typing import Any

import pytest

from tests.samples import PROJECT, format_of, put, sample_params
from tests.ui.character.games import GAMES, opened
from tests.ui.character.games import saved as saved_character
from tests.ui.player.players import brought, game, saved
from tests.ui.scene import activate, bpy, import_model, operator
from tests.ui.untouched import changed, state

pytestmark = pytest.mark.usefixtures("empty_scene")


def plain() -> None:
    pass


def modified() -> None:
    """Let more than bones, keys and curves move all meshes."""
    center = bpy.data.objects.new("centre", None)
    bpy.context.scene.collection.objects.link(center)
    for frame in (0, 3):
        center.location.x = 2.0 * frame
        center.keyframe_insert("location", frame=frame)
    for block in [block for block in bpy.data.objects if block.type == "MESH"]:
        cast = block.modifiers.new("Cast", "CAST")
        cast.factor, cast.object, cast.use_radius_as_size = 0.2, center, True


def led() -> None:
    """Let a constraint lead all that is animated, and stand elsewhere."""
    target = bpy.data.objects.new("leader", None)
    bpy.context.scene.collection.objects.link(target)
    target.location = 3.0, 2.0, 1.0
    for block in [block for block in bpy.data.objects if block.parent is None and block != target]:
        block.constraints.new("COPY_LOCATION").target = target
    bpy.context.scene.frame_set(1, subframe=0.25)


def unkeyed() -> None:
    """Move what has keys without a key."""
    for block in bpy.data.objects:
        block.location.x += 0.25
        for bone in [] if block.pose is None else block.pose.bones:
            bone.rotation_quaternion.x += 0.25


def turned() -> None:
    """Turn all that stands or hangs somewhere by angles that are not those which a matrix is taken for."""
    for block in bpy.data.objects:
        if block.type == "ARMATURE" or block.parent is None:
            block.rotation_mode = "XYZ"
            block.rotation_euler = 0.97, 2.18, -2.83


WAYS = {way.__name__: way for way in (plain, modified, led, turned, unkeyed)}
RICH = 3  # of a format: its largest samples, which have the most that an export could touch


def files():
    """Return parameters: every sample as it is imported, and rich ones in every way."""
    every = sample_params(family=None)
    sizes: dict[str, list[int]] = {}
    for data in every:
        sizes.setdefault(format_of(data.values[0]).name, []).append(len(data.values[0]))
    least = {name: sorted(found)[-RICH:][0] for name, found in sizes.items()}
    rich = [data for data in every if len(data.values[0]) >= least[format_of(data.values[0]).name]]
    found = {"plain": every}
    return [pytest.param(data.values[0], way, id=f"{data.id}-{way}") for way in WAYS for data in found.get(way, rich)]


def assert_untouched(act: Any) -> None:
    """Assert that what is done, or fails, changes nothing."""
    bpy.context.view_layer.update()
    before = state()
    with contextlib.suppress(RuntimeError):  # it is refused
        act()
    bpy.context.view_layer.update()
    assert changed(before, state()) == []


@pytest.mark.parametrize(("data", "way"), files())
def test_an_export_of_any_file(tmp_path, data, way):
    row = format_of(data)
    source, target = (tmp_path / f"{name}{row.suffixes[0]}" for name in ("a", "b"))
    operator("import", source)(filepath=str(put(source, data)))
    WAYS[way]()
    assert_untouched(lambda: operator("export", target)(filepath=str(target)))


@pytest.mark.parametrize("way", WAYS)
def test_a_player(tmp_path, way):
    player = brought(game(tmp_path))
    WAYS[way]()
    activate(player.root)
    assert_untouched(lambda: saved(tmp_path))


@pytest.mark.once
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", GAMES)
def test_a_character(tmp_path, name, way):
    rig = opened(GAMES[name].put(tmp_path / "game"), name)
    WAYS[way]()
    activate(rig)
    assert_untouched(lambda: saved_character(tmp_path / "out"))


NEWT, SENTINEL = (
    PROJECT / "examples" / path for path in ("newt/models/md5/newt/newt.md5mesh", "sentinel/sentinel.md3")
)


@pytest.mark.parametrize("data", sample_params("animated", "arm", "wave", "figure", "walk", "walker", family=None))
def test_an_import_beside_others(tmp_path, data):
    """What is there already stays as it is, also a pose that has no key; the scene's range and selection are others."""
    for path in (NEWT, SENTINEL):
        import_model(path)
    bpy.context.scene.frame_set(2)
    bpy.data.objects["newt"].pose.bones["head"].rotation_quaternion.x += 0.5
    bpy.context.view_layer.update()
    before, row = state(), format_of(data)
    there = {path for path in before if "[" in path and not path.startswith("scenes")}
    bpy.context.view_layer.objects.active = None
    import_model(put(tmp_path / f"a{row.suffixes[0]}", data))
    bpy.context.view_layer.update()
    after = state()
    assert changed({path: before[path] for path in there}, {path: after.get(path) for path in there}) == []


def test_what_is_seen():
    """See that a difference is noticed: a key, a pose, a modifier, a selection, a custom property."""
    bpy.ops.mesh.primitive_cube_add()
    cube = bpy.context.object
    for edit in (
        lambda: setattr(cube.location, "x", 1.0),
        lambda: cube.shape_key_add(name="a"),
        lambda: cube.modifiers.new("a", "CAST"),
        lambda: cube.select_set(False),
        lambda: cube.__setitem__("a", 1),
        lambda: setattr(cube.data.vertices[0].co, "x", 3.0),
        lambda: bpy.data.actions.new("a"),
        lambda: bpy.context.scene.frame_set(7),
    ):
        before = state()
        edit()
        assert changed(before, state())
