"""What the user's guide tells to do is done: first steps, tutorials and recipes, block by block."""

from pathlib import Path

import numpy as np
import pytest

from io_idtech_models.formats.md3 import file as md3
from tests.recipes import blocks, follow, lay_out
from tests.ui.scene import bpy

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in a folder with the examples."""
    lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(path):
    return md3.read(Path(path).read_bytes())


def test_first_steps():
    follow("getting-started")
    (hull, glow), (new_hull, new_glow) = read(EXAMPLE).surfaces, read("mine.md3").surfaces
    assert (hull.vertices["xyz"] != new_hull.vertices["xyz"]).any((1, 2)).tolist() == [True] + [False] * 19
    assert np.ptp(new_hull.vertices["xyz"][0, :, 2]) == pytest.approx(
        1.5 * np.ptp(hull.vertices["xyz"][0, :, 2]), abs=2
    )
    assert np.abs(new_glow.vertices["xyz"] - 1.3 * glow.vertices["xyz"]).max() <= 0.51
    assert np.array_equal(read(EXAMPLE).tags, read("mine.md3").tags)


def reach(path):
    """Return how far a model's first frame reaches along the axes, in units."""
    frame = read(path).frames[0]
    return frame["maxs"] - frame["mins"]


def frames(path):
    return len(read(path).frames)


def made(*paths):
    return all(Path(path).stat().st_size > 20 for path in paths)


def pixels(path):
    return list(bpy.data.images.load(str(Path(path).resolve())).pixels)  # not the file, which tells its own name


def levels(path):
    return [sum(len(s.triangles) for s in read(f"{path}{level}.md3").surfaces) for level in ("", "_1", "_2")]


def shaders_of(path):
    return [(s.header["name"], s.shaders["name"].tolist()) for s in read(path).surfaces]


EXAMPLE = "examples/sentinel/sentinel.md3"
PARTS = "lower", "lower_1", "upper", "upper_1", "head", "head_1"
# What each recipe of the cookbook comes to, by the names that it leaves behind.
OUTCOMES = {
    "How scripts run": lambda names: np.allclose(reach("large.md3"), 2 * reach(EXAMPLE), atol=0.05),
    "When something goes wrong": lambda names: "broken.md3: " in names["message"],
    "Convert a folder": lambda names: made(*(f"out/players/tock/{part}.obj" for part in PARTS)),
    "Without Blender": lambda names: (
        (frames("stilt.md3"), frames("newt.md3")) == (34, 10)
        and levels("sentinel") == sorted(set(levels("sentinel")), reverse=True)
    ),
    "Models of an archive": lambda names: (
        frames("unpacked/mapobjects/lantern/lantern.md3") == 12 and "lantern" in bpy.data.collections
    ),
    "Change all models of a folder": lambda names: np.allclose(
        reach("turned/head_1.md3"), reach("examples/tock/baseq3/models/players/tock/head_1.md3")[[1, 0, 2]], atol=0.04
    ),
    "What is in a mod's models": lambda names: names["used"]["models/sentinel/hull.tga"] == 1,
    "Checks in a mod's CI": lambda names: True,  # its commands' exit status
    "A crate from nothing": lambda names: (
        np.allclose(reach("crate.md3"), 32)
        and shaders_of("crate.md3") == [(b"crate", [b"models/mapobjects/crate/oak"])]
    ),
    "glTF to MD5": lambda names: (
        made("monster.md5mesh")
        and b"numFrames 25\nnumJoints 21\nframeRate 24\n" in Path("monster_walk.md5anim").read_bytes()
    ),
    "A simulation as frames": lambda names: (
        frames("flag.md3") == 20 and np.ptp(read("flag.md3").frames["maxs"][:, 2]) > 1
    ),
    "Levels of detail": lambda names: levels("far") == sorted(set(levels("far")), reverse=True),
    "Tags": lambda names: (
        read("lamp.md3").tags["name"][0].tolist() == [b"tag_weapon", b"tag_eye", b"tag_jet", b"tag_lamp"]
    ),
    "Some of an MD2's animations": lambda names: {"run", "stand"} < set(names["names"]) and made("short.md2"),
    "All animations of an armature": lambda names: made("newt/idle.md5anim", "newt/walk.md5anim", "newt/newt.md5mesh"),
    "All skins as pictures": lambda names: pixels("pictures/skin0.png") != pixels("pictures/skin1.png"),
    "A player in a pack": lambda names: made("tock.pk3"),
    "Which games, which limits": lambda names: names["games"]["quake3"] == "Quake III Arena",
}


def test_every_recipe_has_an_outcome():
    assert list(OUTCOMES) == list(dict.fromkeys(block.title for block in blocks("cookbook")))


@pytest.mark.parametrize("title", OUTCOMES)
def test_recipe(title):
    assert OUTCOMES[title](follow("cookbook", title))


def keyed_cube(relative):
    """Return a cube with keys run1 to run3, as importers leave them: three frames, one key each, 4 units apart."""
    bpy.ops.mesh.primitive_cube_add(size=32)
    block = bpy.context.object
    block.data.materials.append(bpy.data.materials.new("models/cube.tga"))
    if relative:
        block.shape_key_add(name="Basis", from_mix=False)
    made = [block.shape_key_add(name=f"run{number}", from_mix=False) for number in (1, 2, 3)]
    keys = block.data.shape_keys
    keys.use_relative = relative
    for frame, key in enumerate(made):
        for point in key.data:
            point.co.z += 4 * frame
        for shown in range(3) if relative else ():
            key.value = float(shown == frame)
            key.keyframe_insert("value", frame=shown)
        if not relative:
            keys.eval_time = key.frame
            keys.keyframe_insert("eval_time", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 0, 2
    return block


@pytest.mark.parametrize("relative", [False, True])
def test_frames_of_another_add_on_keep_names_and_tags(relative):
    block = keyed_cube(relative)
    bpy.ops.object.empty_add(type="ARROWS")
    tag = bpy.context.object
    tag.name = "tag_x"
    for frame in range(3):
        tag.location = 0, 0, frame
        tag.keyframe_insert("location", frame=frame)
    bpy.context.view_layer.objects.active = block
    bpy.ops.export_scene.idtech_md3(filepath="cube.md3", what="SCENE")
    model = read("cube.md3")
    assert model.frames["name"].tolist() == [b"run1", b"run2", b"run3"]
    assert np.diff(model.surfaces[0].vertices["xyz"][:, 0, 2]).tolist() == [4 * 64, 4 * 64]
    assert model.tags["origin"][:, 0, 2].tolist() == [0, 1, 2]


def test_sharp_edges_are_kept_and_smooth_ones_cost_nothing():
    bpy.ops.mesh.primitive_cube_add(size=32)
    bpy.context.object.data.uv_layers.remove(bpy.context.object.data.uv_layers[0])
    bpy.ops.object.shade_smooth()
    bpy.ops.export_scene.idtech_md3(filepath="smooth.md3")
    for edge in bpy.context.object.data.edges:
        edge.use_edge_sharp = True
    bpy.ops.export_scene.idtech_md3(filepath="sharp.md3")
    assert [len(read(path).surfaces[0].st) for path in ("smooth.md3", "sharp.md3")] == [8, 24]


def test_transforms_need_not_be_applied():
    bpy.ops.import_scene.idtech_md5mesh(filepath="examples/newt/models/md5/newt/newt.md5mesh")
    rig = bpy.data.objects["newt"]
    rig.scale, rig.rotation_euler = (0.01, 0.01, 0.01), (0, 0, 2)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.export_scene.idtech_md5mesh(filepath="small/newt.md5mesh")
    bpy.ops.export_anim.idtech_md5anim(filepath="small/idle.md5anim")
    expected = shown_points(rig)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.import_scene.idtech_md5mesh(filepath="small/newt.md5mesh")
    assert np.allclose(shown_points(bpy.data.objects["newt"]), expected, atol=1e-5)


def shown_points(rig):
    """Return where the vertices of a rig's mesh are in frame 7."""
    bpy.context.scene.frame_set(7)
    block = next(child for child in rig.children if child.type == "MESH")
    shown = block.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return [shown.matrix_world @ vertex.co for vertex in shown.data.vertices]
