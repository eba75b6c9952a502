"""Other programs' formats: everything is read back, frame by frame, and compared with the scene that was saved."""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_idtech_models.blender.compat import action_parts, curves_for, playing_curves
from io_idtech_models.blender.curves import add_curve
from io_idtech_models.blender.exchange import scene_files as exchange
from io_idtech_models.blender.vertex.shape_keys import add_absolute
from tests.blender.case import show_image
from tests.blender.skeletal.rigged import apart as clouds_apart
from tests.blender.skeletal.rigged import in_world
from tests.ui.scene import bpy, png

pytestmark = pytest.mark.usefixtures("empty_scene")
FRAMES, SIDE, FPS = 5, 4, 15
SURFACES = ("body", "head")


@pytest.fixture
def model(tmp_path):
    """Two surfaces with images, animated by absolute keys, and tags; all in one action where Blender has slots."""
    random = np.random.default_rng(1)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 0, FRAMES - 1, FPS
    shared = bpy.data.actions.new("model")
    grid = np.stack(np.meshgrid(np.arange(SIDE), np.arange(SIDE), [0.0], indexing="ij"), -1).reshape(-1, 3) * 8
    for number, name in enumerate(SURFACES):
        frames = (grid + np.array((0, 0, 30 * number)) + random.normal(0, 1, (FRAMES, SIDE * SIDE, 3))).astype(
            np.float32
        )
        obj = make_surface(name, frames, bpy.data.images.load(str(png(tmp_path / f"{name}.png"))))
        keys = obj.data.shape_keys
        curves = curves_for(action_for(shared, keys), keys, name)
        add_curve(curves, "eval_time", 0, np.arange(FRAMES), np.arange(FRAMES))
    make_tag("tag_head", action_for(shared, None), random.normal(0, 9, (FRAMES, 3)), turn=0.3)
    # So far out and so slow that exporters take it for still if they are let.
    slow = np.array([100, 0, 0]) + 0.002 * np.arange(FRAMES)[:, None] ** 2
    make_tag("tag_slow", action_for(shared, None), slow, turn=0.0)
    scene.frame_set(0)
    return scene


def action_for(shared: Any, owner: Any) -> Any:
    return shared if hasattr(shared, "slots") else bpy.data.actions.new("key" if owner else "tag")


def make_surface(name: str, frames: Any, image: Any = None) -> Any:
    """A smooth square grid with a key per frame (F, V, 3)."""
    number = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    corners = [number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]]
    quads = np.stack([corner.ravel() for corner in corners], -1)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(frames[0].tolist(), [], quads.tolist(), shade_flat=False)
    uvs = np.stack([number // SIDE, number % SIDE], -1).reshape(-1, 2) / (SIDE - 1)
    layer = mesh.uv_layers.new(name="UVMap", do_init=False)
    layer.uv.foreach_set("vector", uvs[quads.ravel()].astype(np.float32).ravel())
    if image:
        mesh.materials.append(bpy.data.materials.new(name))
        show_image(mesh.materials[0], image)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    add_absolute(obj, [f"frame {frame}" for frame in range(len(frames))], np.ascontiguousarray(frames, np.float32))
    return obj


def make_tag(name: str, action: Any, locations: Any, turn: float) -> None:
    """An empty with keyed locations (F, 3) that turns by the same angle in every frame."""
    tag = bpy.data.objects.new(name, None)
    tag.empty_display_type, tag.rotation_mode = "ARROWS", "QUATERNION"
    bpy.context.scene.collection.objects.link(tag)
    curves = curves_for(action, tag, name)
    angles = np.arange(FRAMES) * turn / 2
    quaternions = np.stack([np.cos(angles), 0 * angles, 0 * angles, np.sin(angles)])
    for path, values in (("location", locations.T), ("rotation_quaternion", quaternions)):
        for index, row in enumerate(values):
            add_curve(curves, path, index, np.arange(FRAMES), row)


def shift_animation(frames: int) -> None:
    scene = bpy.context.scene
    scene.frame_end += frames
    scene.frame_start += frames
    for curve in (curve for action in bpy.data.actions for _, _, curves in action_parts(action) for curve in curves):
        for point in curve.keyframe_points:
            point.co[0] += frames
        curve.update()


def evaluated(obj: Any) -> Any:
    """World positions (V, 3) of a mesh in the scene's frame, or the 4x4 world matrix of anything else."""
    if obj.type == "MESH":
        return in_world(obj)
    return np.array(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world, dtype=np.float64)


def played() -> dict[str, list[Any]]:
    """What every object shows at each frame of the scene's range."""
    scene = bpy.context.scene
    result: dict[str, list[Any]] = {obj.name: [] for obj in scene.objects}
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        for name, shown in result.items():
            shown.append(evaluated(scene.objects[name]))
    return result


def apart(left: Any, right: Any) -> float:
    """How far two matrices, or two sets of points in any order and with repeats, are apart."""
    return float(np.abs(left - right).max()) if left.shape == (4, 4) else clouds_apart(left, right)


def assert_same_play(wanted: dict[str, list[Any]], got: dict[str, list[Any]], tolerance: float = 5e-5) -> None:
    assert sorted(got) == sorted(wanted)
    for name, frames in wanted.items():
        assert len(got[name]) == len(frames), name
        for number, (left, right) in enumerate(zip(frames, got[name], strict=True)):
            assert apart(left, right) < tolerance, f"{name}, frame {number}"


def read_glb(path: Path) -> tuple[dict[str, Any], Any]:
    """The document and a function that gives an accessor's floats (count, components)."""
    data = path.read_bytes()
    length = struct.unpack_from("<I", data, 12)[0]
    document = json.loads(data[20 : 20 + length])
    buffer = data[20 + length + 8 :]

    def floats(number: int) -> Any:
        accessor = document["accessors"][number]
        assert accessor["componentType"] == 5126
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]]
        view = document["bufferViews"][accessor["bufferView"]]
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        return np.frombuffer(buffer, "<f4", accessor["count"] * width, start).reshape(-1, width)

    return document, floats


def test_glb_holds_one_sample_for_each_frame_in_one_animation_and_the_keys_and_images(model, tmp_path):
    played_tag = played()["tag_head"]
    exchange.save_scene(tmp_path / "model.glb")
    document, floats = read_glb(tmp_path / "model.glb")
    assert len(document["animations"]) == 1
    found = {}
    for channel in document["animations"][0]["channels"]:
        sampler = document["animations"][0]["samplers"][channel["sampler"]]
        times = floats(sampler["input"])[:, 0]
        assert np.allclose(times, np.arange(FRAMES) / FPS, atol=1e-6)
        target = channel["target"]
        found[document["nodes"][target["node"]]["name"], target["path"]] = floats(sampler["output"]).reshape(FRAMES, -1)
    for name in SURFACES:
        assert np.array_equal(found[name, "weights"], np.eye(FRAMES, dtype=np.float32)[:, 1:])
    x, y, z = np.array([matrix[:3, 3] for matrix in played_tag]).T
    assert np.allclose(found["tag_head", "translation"], np.stack([x, z, -y], axis=1), atol=1e-5)
    assert {path for name, path in found if name == "tag_slow"} >= {"translation", "rotation"}
    assert sorted(mesh["name"] for mesh in document["meshes"]) == sorted(SURFACES)
    for mesh in document["meshes"]:
        (primitive,) = mesh["primitives"]
        assert len(primitive["targets"]) == FRAMES - 1
        keys = bpy.data.meshes[mesh["name"]].shape_keys.key_blocks
        stored = np.array([[point.co for point in key.points] for key in keys])[..., [0, 2, 1]] * [1, 1, -1]
        base = floats(primitive["attributes"]["POSITION"])
        assert apart(base, stored[0]) < 1e-5
        for target, key in zip(primitive["targets"], stored[1:], strict=True):
            assert apart(base + floats(target["POSITION"]), key) < 1e-5
    assert [("bufferView" in image, image["mimeType"]) for image in document["images"]] == [(True, "image/png")] * 2


@pytest.mark.parametrize("suffix", [".glb", ".gltf", ".fbx", ".blend"])
@pytest.mark.parametrize("start", [0, 10])
def test_what_is_opened_plays_what_was_saved(model, tmp_path, suffix, start):
    shift_animation(start)
    wanted = played()
    path = tmp_path / "out" / f"model{suffix}"
    path.parent.mkdir()
    exchange.save_scene(path)
    exchange.open_scene(path)
    scene = bpy.context.scene
    first = 0 if suffix in {".glb", ".gltf"} else start
    assert (scene.frame_start, scene.frame_end) == (first, first + FRAMES - 1)
    assert scene.render.fps / scene.render.fps_base == pytest.approx(FPS)
    assert_same_play(wanted, played())
    images = [image for image in bpy.data.images if image.type == "IMAGE"]
    assert [(tuple(image.size), image.has_data) for image in images] == [((4, 4), True)] * 2
    if suffix in {".glb", ".fbx"}:
        assert all(image.packed_file for image in images)


def test_gltf_keeps_its_textures_away_from_the_originals(model, tmp_path):
    exchange.save_scene(tmp_path / "model.gltf")
    made = sorted(file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*.*"))
    textures = ["model_textures/body.png", "model_textures/head.png"]
    assert made == ["body.png", "head.png", "model.bin", "model.gltf", *textures]


def test_obj_holds_the_current_frame_and_finds_its_images(model, tmp_path):
    wanted = played()
    model.frame_set(2)
    (tmp_path / "out").mkdir()
    exchange.save_scene(tmp_path / "out" / "model.obj")
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["model.mtl", "model.obj"]
    assert "map_Kd ../body.png" in (tmp_path / "out" / "model.mtl").read_text(encoding="utf-8")
    exchange.open_scene(tmp_path / "out" / "model.obj")
    assert_same_play({name: wanted[name][2:3] for name in SURFACES}, played())
    found = {Path(bpy.path.abspath(image.filepath)).resolve().name for image in bpy.data.images}
    assert found == {"body.png", "head.png"}


@pytest.mark.parametrize("suffix", exchange.WRITABLE)
def test_saving_leaves_the_scene_as_it_was(model, tmp_path, suffix):
    model.frame_set(3)
    model.render.fps_base = 1.25

    def state() -> Any:
        names = [sorted(block.name for block in blocks) for blocks in (bpy.data.meshes, bpy.data.actions)]
        keys = [model.objects[name].data.shape_keys for name in SURFACES]
        return names, [key.use_relative for key in keys], model.frame_current, model.render.fps_base, bpy.data.filepath

    before = state()
    exchange.save_scene(tmp_path / f"model{suffix}")
    assert state() == before
    shown = played()
    exchange.save_scene(tmp_path / f"model{suffix}")
    assert_same_play(shown, played(), tolerance=1e-9)


def test_relative_keys_show_the_same_between_keys_and_after_the_last():
    random = np.random.default_rng(2)
    obj = make_surface("body", random.normal(0, 9, (FRAMES, SIDE * SIDE, 3)))
    copy = bpy.data.objects.new("copy", obj.data)
    bpy.context.scene.collection.objects.link(copy)
    times = np.array([0, 2.25, 2.5, 4, 9, 3, 3, -3], dtype=np.float32)  # never at key 1
    keys = obj.data.shape_keys
    add_curve(curves_for(bpy.data.actions.new("x"), keys, "x"), "eval_time", 0, np.arange(len(times)) + 5, times)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 5, 4 + len(times)
    for key in keys.key_blocks:
        key.value = 0.7
    wanted = played()
    exchange.make_keys_relative(obj, copy)
    assert keys.use_relative
    assert not {curve.data_path for curve in playing_curves(keys)} & {"eval_time"}
    assert len(list(playing_curves(keys))) == FRAMES - 2
    assert_same_play(wanted, played(), tolerance=1e-5)


def test_glb_ends_with_the_scene_and_its_seconds_follow_the_frame_rate_base(model, tmp_path):
    model.frame_end, model.render.fps, model.render.fps_base = 2, 30, 1.5  # 20 frames per second
    exchange.save_scene(tmp_path / "model.glb")
    document, floats = read_glb(tmp_path / "model.glb")
    for sampler in document["animations"][0]["samplers"]:
        np.testing.assert_allclose(floats(sampler["input"])[:, 0], np.arange(3) / 20, atol=1e-6)


def test_a_still_model_is_one_frame(model, tmp_path):
    for keys in bpy.data.shape_keys:
        keys.animation_data_clear()
    for name in ("tag_head", "tag_slow"):
        bpy.data.objects[name].animation_data_clear()
    model.frame_end = 0
    for suffix in (".glb", ".fbx", ".obj"):
        exchange.save_scene(tmp_path / f"model{suffix}")
    for suffix in (".glb", ".fbx", ".obj"):
        exchange.open_scene(tmp_path / f"model{suffix}")
        assert (bpy.context.scene.frame_start, bpy.context.scene.frame_end) == (0, 0)


def test_scripts_in_a_blend_are_not_run(tmp_path):
    text = bpy.data.texts.new("startup.py")
    text.write("import bpy; bpy.app.driver_namespace['was_run'] = True")
    text.use_module = True
    exchange.save_scene(tmp_path / "model.blend")
    bpy.app.driver_namespace.pop("was_run", None)
    exchange.open_scene(tmp_path / "model.blend")
    assert "startup.py" in bpy.data.texts
    assert "was_run" not in bpy.app.driver_namespace


def test_a_blend_keeps_the_way_to_its_images(model, tmp_path):
    for number in (1, 2):
        (tmp_path / "a" / str(number)).mkdir(parents=True)
    exchange.save_scene(tmp_path / "a" / "model.blend")
    exchange.open_scene(tmp_path / "a" / "model.blend")
    bpy.data.images[0].filepath = "//../body.png"
    exchange.save_scene(tmp_path / "a" / "2" / "model.blend")
    exchange.open_scene(tmp_path / "a" / "2" / "model.blend")
    path = Path(bpy.path.abspath(bpy.data.images[0].filepath))
    assert path.resolve() == (tmp_path / "body.png").resolve()


def test_the_add_ons_are_enabled_when_needed(model, tmp_path):
    import addon_utils

    for addon in ("io_scene_gltf2", "io_scene_fbx"):
        addon_utils.disable(addon)
    for suffix in (".glb", ".fbx"):
        exchange.save_scene(tmp_path / f"model{suffix}")
        exchange.open_scene(tmp_path / f"model{suffix}")
    with pytest.raises(RuntimeError, match="no_such_addon cannot be enabled"):
        exchange.enable("no_such_addon")


def test_nothing_is_printed(model, tmp_path, capfd):
    for suffix in exchange.WRITABLE:
        exchange.save_scene(tmp_path / f"model{suffix}")
    for suffix in exchange.READABLE:
        exchange.open_scene(tmp_path / f"model{suffix}")
    sys.stdout.write("heard\n")
    assert capfd.readouterr() == ("heard\n", "")


def assert_one_sentence(path: Path) -> None:
    """Assert that a file is refused so."""
    with pytest.raises(exchange.ExchangeError) as caught:
        exchange.open_scene(path)
    what = caught.value.what
    assert str(caught.value) == f"{path}: {what}"
    assert not any(words in what for words in ("\n", "Traceback", str(path)))


@pytest.mark.parametrize("suffix", exchange.READABLE)
@pytest.mark.parametrize("content", [b"", bytes(range(256)) * 4])
def test_a_file_of_another_kind_is_one_sentence(tmp_path, suffix, content, capfd):
    path = tmp_path / f"broken{suffix}"
    path.write_bytes(content)
    assert_one_sentence(path)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("suffix", [".blend", ".glb", ".gltf", ".fbx"])
def test_half_a_file_is_one_sentence(model, tmp_path, suffix):
    path = tmp_path / f"half{suffix}"
    exchange.save_scene(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert_one_sentence(path)


@pytest.mark.parametrize(
    ("name", "what"),
    [("missing.glb", "no such file"), ("model.xyz", r"cannot read this kind of file; known are \.blend")],
)
def test_what_cannot_be_opened_is_said(tmp_path, name, what):
    with pytest.raises(exchange.ExchangeError, match=what):
        exchange.open_scene(tmp_path / name)


def test_what_cannot_be_saved_is_said(model, tmp_path):
    (tmp_path / "folder.fbx").mkdir()
    refused = {"model.xyz": "cannot write this kind of file", "missing/a.glb": "no such folder"}
    for name, what in (refused | {"folder.fbx": "directory"}).items():
        with pytest.raises(exchange.ExchangeError, match=what):
            exchange.save_scene(tmp_path / name)
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []


@pytest.mark.parametrize("suffix", exchange.WRITABLE)
def test_a_failed_save_harms_nothing(model, tmp_path, suffix, monkeypatch):
    def write_some_and_fail(_operator: Any, filepath: str, **_options: Any) -> None:
        Path(filepath).write_bytes(b"half")
        raise RuntimeError("Error: Python: Traceback (most recent call last):\n  File x, line 1\nValueError: no room\n")

    def there() -> Any:
        return sorted(tmp_path.rglob("*")), sorted(mesh.name for mesh in bpy.data.meshes)

    path = tmp_path / f"model{suffix}"
    path.write_bytes(b"old")
    before = there()
    monkeypatch.setattr(exchange, "run", write_some_and_fail)
    with pytest.raises(exchange.ExchangeError, match=r"ValueError: no room$"):
        exchange.save_scene(path)
    assert path.read_bytes() == b"old"
    assert there() == before
