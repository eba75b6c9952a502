"""What the user's guide tells to do is done: first steps, tutorials, recipes and answers, block by block."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from io_idtech_models.formats.md2 import file as md2
from io_idtech_models.formats.md3 import file as md3
from io_idtech_models.formats.mdm import file as mdm
from tests.pages import blocks, lay_out
from tests.recipes import follow
from tests.ui.scene import bpy

EXAMPLE = "examples/sentinel/sentinel.md3"
TOCK = "models/players/tock"
STILT = "examples/stilt/players/stilt/tris.md2"
TROOPER = "examples/trooper/models/players/toys/trooper/body.mdm"
pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]


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
    old, new = (np.ptp(each.vertices["xyz"][0, :, 2]) for each in (hull, new_hull))
    assert new == pytest.approx(1.5 * old, abs=2)
    assert np.abs(new_glow.vertices["xyz"] - 1.3 * glow.vertices["xyz"]).max() <= 0.51
    assert np.array_equal(read(EXAMPLE).tags, read("mine.md3").tags)


def test_player_head():
    follow("tutorials/player-head")
    with zipfile.ZipFile("tock.pk3") as packed:
        game = Path("examples/tock/baseq3")
        changed = {name for name in packed.namelist() if packed.read(name) != (game / name).read_bytes()}
        head = md3.read(packed.read(f"{TOCK}/head.md3"))
    assert changed == {f"{TOCK}/head.md3", f"{TOCK}/head_1.md3"}
    old = read(f"examples/tock/baseq3/{TOCK}/head.md3")
    assert head.frames["maxs"][0, 2] - old.frames["maxs"][0, 2] == pytest.approx(4, abs=0.02)


def test_monster_animation():
    follow("tutorials/monster-animation")
    old, new = (md2.read(Path(path).read_bytes()).frames for path in (STILT, "tris.md2"))
    assert np.array_equal(new[:34], old)
    assert new["name"][34:].tolist() == [f"duck{number:02}".encode() for number in range(1, 11)]
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.import_scene.idtech_md2(filepath="tris.md2")
    assert bpy.data.actions["duck"].frame_range[:] == (0, 9)
    keys = bpy.context.object.data.shape_keys.key_blocks
    tops = np.array([max(point.co.z for point in key.data) for key in keys])
    assert (tops[34:] - tops[:10]).tolist() == pytest.approx([0, 0, -3, -6, -6, -6, -6, -3, 0, 0], abs=0.3)


def test_gun():
    follow("tutorials/gun")
    folder = Path("examples/tock/baseq3/models/weapons2/popgun")
    gun, hand = read(folder / "popgun.md3"), read(folder / "popgun_hand.md3")
    assert gun.tags["name"][0].tolist() == [b"tag_barrel", b"tag_flash"]
    assert (len(hand.surfaces), hand.tags.shape, hand.tags["origin"][10, 0].tolist()) == (0, (15, 1), [8, -4, -16])
    barrel, flash = bpy.data.objects["popgun_barrel"], bpy.data.objects["popgun_flash"]  # the roots
    assert (barrel.parent.name, flash.parent.name) == ("tag_barrel", "tag_flash")
    places = [bpy.data.objects[name].matrix_world.translation for name in ("tag_weapon", "popgun_flash")]
    assert (places[1] - places[0]).length == pytest.approx(np.hypot(20, 2.5), abs=0.1)


def test_doom3_monster():
    follow("tutorials/doom3-monster")
    folder = Path("base/models/md5/monsters/strut")
    made = {path.stem.removesuffix("_Strut"): path for path in folder.iterdir()}  # Blender 4.2's glTF adds that
    assert set(made) == {"strut", "Idle", "Walk", "Run", "Shoot", "Jump", "Death"}
    assert made["Run"].read_text(encoding="utf-8").count("frameRate 24") == 1
    text = (folder / "strut.md5mesh").read_text(encoding="utf-8")
    assert '"origin"\t-1 ' in text
    assert 'shader "models/monsters/strut/skin"' in text
    body = next(block for block in bpy.context.scene.objects if block.type == "MESH")
    points = np.array([vertex.co for vertex in body.data.vertices])
    assert np.ptp(points[:, 2]) == pytest.approx(74, abs=2)
    assert points[points[:, 2] < 3][:, 0].max() > 5 > -points[points[:, 2] < 3][:, 0].min()  # its toes are ahead


def test_et_helmet():
    follow("tutorials/et-helmet")
    old, new = (mdm.read(Path(path).read_bytes()) for path in (TROOPER, "body.mdm"))
    (body, legs), (new_body, new_legs) = old.surfaces, new.surfaces
    assert np.array_equal(legs.vertices, new_legs.vertices)
    assert np.array_equal(body.weights["weight"], new_body.weights["weight"])
    assert np.array_equal(body.collapse, new_body.collapse)
    assert all(np.array_equal(a.header, b.header) for a, b in zip(old.tags, new.tags, strict=True))
    moved = (body.weights["offset"] != new_body.weights["offset"]).any(1)
    assert 0 < moved.sum() < len(moved) / 4
    bpy.context.scene.frame_set(30)
    worn, tag = bpy.data.objects["helmet"], bpy.data.objects["tag_mouth"]
    assert np.allclose(worn.matrix_world, tag.matrix_world, atol=1e-5)
    assert (read("helmet.md3").frames["mins"][0, 2], read("helmet.md3").frames["maxs"][0, 2]) == (1, 6)
    assert Path("again.md3").read_bytes() == Path("helmet.md3").read_bytes()


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


def test_new_player():
    follow("tutorials/new-player")
    folder = Path("baseq3/models/players/strut")
    tock = Path("examples/tock/baseq3") / TOCK
    assert (folder / "animation.cfg").read_bytes() == (tock / "animation.cfg").read_bytes()
    for part in ("lower", "upper"):
        old, new = read(tock / f"{part}.md3"), read(folder / f"{part}.md3")
        assert new.frames["name"].tolist() == old.frames["name"].tolist()
    old, new = read(tock / "lower.md3"), read(folder / "lower.md3")
    assert np.allclose(new.tags["origin"], old.tags["origin"], atol=1e-3)
    ahead = [np.max([s.vertices["xyz"][..., 0].max(axis=1) for s in each.surfaces], axis=0) for each in (old, new)]
    assert np.corrcoef(*ahead)[0, 1] > 0.9, "it steps as far ahead, frame by frame"
