"""The command line inside Blender: to and from other formats, one or many files, in one or more processes."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from io_idtech_models.assets.load import load as load_file
from io_idtech_models.blender.exchange import scene_files as exchange
from io_idtech_models.cli import main as plain_cli
from io_idtech_models.cli.batch import MODEL_SUFFIXES
from io_idtech_models.formats.md3 import file as md3
from io_idtech_models.game.folders import Disk
from io_idtech_models.tasks.export.motion_sources import plays_its_actions
from io_idtech_models.ui import cli
from tests import samples_md5
from tests.processes import HEARING
from tests.samples import PROJECT, SENTINEL, load, put, sample
from tests.ui.scene import add_cube, add_tag, bpy, error_of, import_md3, import_model, operator, outward, volume

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
KNOWN = ", ".join(MODEL_SUFFIXES)
OPTION = re.compile(r"--[a-z][a-z-]*[a-z]")
HALF_STEP = 1 / 128 + 1e-4  # positions are rounded to 1/64


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in a folder with the example, its textures beside it."""
    for path in SENTINEL.parent.iterdir():
        put(tmp_path / path.name, path.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(capfd):
    """Return what runs a command: (status, lines of standard output, lines of standard error)."""

    def call(*argv: object) -> tuple[int, list[str], list[str]]:
        capfd.readouterr()
        status = cli.main([str(a) for a in argv])
        out, err = capfd.readouterr()
        return status, out.splitlines(), err.splitlines()

    return call


def convert(run, *argv):
    status, out, err = run("convert", *argv)
    assert (status, err) == (0, []), err
    return out


def refused(run, *argv):
    """Run what fails; returns the one sentence that is said."""
    status, out, err = run(*argv)
    assert (status, out, len(err)) == (1, [], 1)
    return err[0]


def model(path):
    return load(Path(path).read_bytes(), "")


def read_md3(path):
    return md3.read(Path(path).read_bytes())


# -- info and check are those without Blender


def test_info_and_check(folder, run):
    status, out, err = run("info", "--json", "sentinel.md3")
    assert (status, err) == (0, [])
    assert json.loads("\n".join(out))[0]["frames"] == 20
    assert run("check", "sentinel.md3", "--game", "quake3") == (0, ["sentinel.md3: ok"], [])
    put("bad.md3", b"IDP3")
    assert run("check", "bad.md3")[0] == 1


# -- one file


@pytest.mark.parametrize("suffix", [".blend", ".glb", ".gltf", ".fbx", ".obj", ".png"])
def test_from_md3(folder, run, suffix):
    out = convert(run, "sentinel.md3", f"out{suffix}", "--size", "32x24")
    (line,) = out
    whole, _, left = line.partition("; OBJ holds meshes as frame 0 shows them, left out: ")
    assert whole == f"sentinel.md3 -> out{suffix}: 2 surfaces, 3 tags, 20 frames"
    assert left == ("3 empties, all other frames" if suffix == ".obj" else "")
    assert Path(f"out{suffix}").stat().st_size > 200
    assert not [p.name for p in folder.iterdir() if p.name.startswith(".")]


def compare(path, frames=20, start=0):
    """Assert that a model is the example: positions, texture coordinates, tags and shaders in every frame."""
    before, after = model("sentinel.md3"), model(path)
    assert after.num_frames == frames
    assert {s.name for s in after.surfaces} == {s.name for s in before.surfaces}
    found = {s.name: s for s in after.surfaces}
    for old in before.surfaces:
        new = found[old.name]
        assert new.shaders == old.shaders
        assert len(new.triangles) == len(old.triangles)
        for frame in range(frames):
            corners_old = old.positions[start + frame][old.triangles].reshape(-1, 9)
            corners_new = new.positions[frame][new.triangles].reshape(-1, 9)
            assert np.abs(corners_old - corners_new).max() <= HALF_STEP, f"frame {frame}"
        uvs_old, uvs_new = old.uvs[old.triangles], new.uvs[new.triangles]
        assert np.abs(uvs_old - uvs_new).max() < 1e-5
    tags = {tag.name: tag for tag in after.tags}
    for old in before.tags:
        if frames > 1:
            new = tags[old.name]
            assert np.abs(new.origins - old.origins).max() < 1e-3
            assert np.abs(new.axes - old.axes).max() < 2e-3
    assert len(after.tags) in {0, len(before.tags)}


def put_long(name):
    """Put a model whose shader and surface have names that are too long for other formats."""
    part = samples_md5.box()
    part.shader, part.name = SHADER, "x" * 70
    return put(name, samples_md5.MeshSpec(parts=[part]).pack())


@pytest.mark.parametrize("suffix", [".glb", ".gltf", ".fbx"])
@pytest.mark.parametrize("fps", [0, 12])
def test_animation_survives_the_way_there_and_back(folder, run, suffix, fps):
    options = ["--fps", fps] if fps else []
    convert(run, "sentinel.md3", f"out{suffix}", *options)
    convert(run, f"out{suffix}", "back.md3")
    compare("back.md3")
    assert bpy.context.scene.render.fps == (fps or 24)
    assert (bpy.context.scene.frame_start, bpy.context.scene.frame_end) == (0, 19)


def test_without_a_change_it_is_the_same_file(folder, run):
    """Also by way of a .blend."""
    assert convert(run, "sentinel.md3", "b.md3") == ["sentinel.md3 -> b.md3: 2 surfaces, 3 tags, 20 frames"]
    convert(run, "sentinel.md3", "out.blend")
    convert(run, "out.blend", "back.md3")
    assert Path("b.md3").read_bytes() == Path("back.md3").read_bytes() == SENTINEL.read_bytes()


@pytest.mark.parametrize("name", ["tags_only", "nothing", "minimal", "odd_layout", "many_shaders"])
@pytest.mark.parametrize("suffix", [".blend", ".glb", ".fbx"])
def test_odd_models_convert(folder, run, name, suffix):
    put("a.md3", name)
    convert(run, "a.md3", f"out{suffix}")
    if name == "nothing" and suffix != ".blend":
        said = refused(run, "convert", f"out{suffix}", "back.md3")
        assert said == f"out{suffix}: nothing in it that Blender can read"
        return
    convert(run, f"out{suffix}", "back.md3")
    before, after = model("a.md3"), model("back.md3")
    assert after.num_frames == before.num_frames
    assert len(after.tags) == len(before.tags)
    if suffix == ".blend":
        assert Path("back.md3").read_bytes() == sample(name)


@pytest.mark.parametrize("source", ["sentinel.md3", "sentinel.blend", "sentinel.glb"])
def test_a_skeleton_is_made_of_the_frames_of_files_and_scenes(folder, run, source):
    """By a way through Blender as by one without; one that moves bones of its own gets none."""
    if source != "sentinel.md3":
        convert(run, "sentinel.md3", source)
    (plain,) = convert(run, "sentinel.md3", "plain.iqm", "--rig")
    (line,) = convert(run, source, "b.iqm", "--rig")
    assert line.partition("a skeleton of")[2].split(",")[0] == plain.partition("a skeleton of")[2].split(",")[0] != ""
    (shorter,) = convert(run, source, "c.iqm", "--bones", "2", "--frames", "1-3", "--scale", "2")
    assert "a skeleton of 2 bones" in shorter
    made, short = (load_file(Disk().file(Path(name))).animations for name in ("b.iqm", "c.iqm"))
    assert [sum(clip.num_frames for clip in clips) for clips in (made, short)] == [20, 3]
    said = "only a model of frames that becomes a skeletal one is given a rig"
    assert said in refused(run, "convert", source, "b.md3", "--rig", "--scale", "2")
    assert said in refused(run, "convert", put("a.iqm"), "b.iqm", "--bones", "2", "--scale", "2")


def test_a_scene_without_bones_becomes_no_skeletal_model_by_itself(folder, run):
    convert(run, "sentinel.md3", "a.blend")
    assert refused(run, "convert", "a.blend", "b.iqm").endswith(
        "no armature among the objects; --rig makes one of the frames"
    )


@pytest.mark.parametrize("suffix", [".glb", ".gltf", ".fbx"])
def test_every_animation_of_a_rig_comes_along(folder, run, suffix):
    """Over its own frames, under its name as these files spell it; of a scene that is more than a rig, what plays."""
    Path("arm.md5mesh").write_bytes(samples_md5.arm())
    names = ["wave.md5anim", "nod.md5anim"]
    for count, name in enumerate(names, 5):
        Path(name).write_bytes(samples_md5.wave_spec(count).pack())
    for count, chosen in enumerate((names, names[:1])):
        convert(run, "arm.md5mesh", *(word for name in chosen for word in ("--anim", name)), f"{count}{suffix}")
        convert(run, f"{count}{suffix}", f"{count}.iqm")
        clips = load_file(Disk().file(Path(f"{count}.iqm"))).animations
        assert sorted(clip.num_frames for clip in clips) == [5, 6][: len(chosen)]
        assert all(any(name.partition(".")[0] in clip.name for clip in clips) for name in chosen)
    add_tag("tag_moved").keyframe_insert("location", frame=0)
    assert not plays_its_actions(bpy.context.scene)


def test_an_animation_alone_becomes_another_without_a_way_through_blender(folder, run):
    Path("wave.md5anim").write_bytes(samples_md5.wave())
    (line,) = convert(run, "wave.md5anim", "a.mdx")
    assert line.startswith("wave.md5anim -> a.mdx: 5 frames at ")
    (line,) = convert(run, "wave.md5anim", "a.iqm")
    assert line.startswith("wave.md5anim -> a.iqm: 0 meshes, 3 joints")
    for target in ("a.md3", "a.mds", "a.blend"):
        assert "an animation is no model: convert a model with" in refused(run, "convert", "wave.md5anim", target)
    said = refused(run, "convert", "wave.md5anim", "b.md5anim", "--scale", "2")
    assert said.endswith("an animation alone stays as it is: leave --scale, --frames and --normals out")


def test_a_scenes_motion_becomes_a_file(folder, run):
    """What its armature plays, or what the scene shows; and a model's, by a way through Blender."""
    Path("arm.md5mesh").write_bytes(samples_md5.arm())
    Path("wave.md5anim").write_bytes(samples_md5.wave())
    convert(run, "arm.md5mesh", "--anim", "wave.md5anim", "a.blend")
    assert convert(run, "a.blend", "b.md5anim") == ["a.blend -> b.md5anim: 5 frames, 3 joints"]
    ((old,), (new,)) = (load_file(Disk().file(Path(name))).animations for name in ("wave.md5anim", "b.md5anim"))
    np.testing.assert_allclose(new.positions, old.positions, atol=1e-5)
    (line,) = convert(run, "arm.md5mesh", "--anim", "wave.md5anim", "c.md5anim", "--scale", "2")
    assert line.startswith("arm.md5mesh -> c.md5anim: 5 frames")
    assert "plays no action" in refused(run, "convert", "arm.md5mesh", "c.md5anim", "--scale", "2")
    convert(run, "sentinel.md3", "frames.blend")
    assert "no armature among the objects" in refused(run, "convert", "frames.blend", "d.md5anim")


@pytest.mark.parametrize("target", ["b.md5mesh", "b.mdm"])
def test_animations_come_along_beside_a_model(folder, run, target):
    """Where its format has them in files of their own."""
    Path("arm.md5mesh").write_bytes(samples_md5.arm())
    Path("wave.md5anim").write_bytes(samples_md5.wave())
    convert(run, "arm.md5mesh", "--anim", "wave.md5anim", "a.blend")
    line = "\n".join(convert(run, "a.blend", target))
    name = "b.mdx" if target == "b.mdm" else "wave.md5anim"
    assert f"{name}: 5 frames" in line
    assert Path(name).exists()
    Path("plain.md5mesh").write_bytes(samples_md5.arm())
    convert(run, "plain.md5mesh", "plain.blend")
    assert convert(run, "plain.blend", "c.md5mesh"), "nor is it missed where there is none"


SHADER = "models/characters/male_npc/marine/very_long_name_of_a_material_for_a_helmet.tga"
SHORT = "male_npc/marine/very_long_name_of_a_material_for_a_helmet"


@pytest.mark.parametrize("target", ["b.md3", "b.mdm"])
@pytest.mark.parametrize("way", [(), ("--scale", "2")], ids=["plain", "through Blender"])
def test_long_names_are_shortened_and_said(folder, run, target, way):
    put_long("long.md5mesh")
    line = "\n".join(convert(run, "long.md5mesh", target, *way))
    assert f"names of shaders are shortened to 63 bytes: '{SHADER}' is now '{SHORT}'" in line
    assert f"names of surfaces are shortened to 63 bytes: '{'x' * 70}' is now '{'x' * 63}'" in line
    found = load_file(Disk().file(Path(target))).model
    parts = found.surfaces if target.endswith(".md3") else found.meshes
    assert parts[0].name == "x" * 63
    assert SHORT in (parts[0].shaders if target.endswith(".md3") else [parts[0].shader])
    Path(target).unlink()
    assert "bytes" in refused(run, "convert", "long.md5mesh", target, *way, "--long-names", "refuse")
    assert not Path(target).exists()


@pytest.mark.parametrize("target", ["b.md3", "b.mdm"])
def test_an_export_of_a_long_name_is_an_error(folder, target):
    """Who edits a name chooses another."""
    import_model(put_long(folder / "long.md5mesh"))
    assert "bytes" in error_of(operator("export", Path(target)), filepath=str(folder / target))


@pytest.mark.parametrize("suffix", [".glb", ".fbx"])
def test_an_md2_there_and_back(folder, run, suffix):
    put("a.md2", "seams")
    convert(run, "a.md2", f"out{suffix}")
    convert(run, f"out{suffix}", "back.md2", "--skin-width", "60", "--skin-height", "32")
    (before,), (after,) = model("a.md2").surfaces, model("back.md2").surfaces
    assert model("back.md2").num_frames == 2
    assert after.shaders == before.shaders
    places = [s.positions[:, s.triangles].reshape(2, 12, 9) for s in (before, after)]
    one, other = (sorted(p.transpose(1, 0, 2).round(0).tolist()) for p in places)
    assert one == other
    old, new = (np.unique(np.rint(s.uvs * (60, 32) - 0.5).reshape(-1, 2), axis=0) for s in (before, after))
    assert np.array_equal(old, new)


def test_an_md2_through_a_blend_and_with_options_of_blenders_way(folder, run):
    put("a.md2", "seams")
    convert(run, "a.md2", "b.blend")
    convert(run, "b.blend", "b.md2")
    assert Path("b.md2").read_bytes() == Path("a.md2").read_bytes()
    convert(run, "a.md2", "c.md2", "--scale", "2", "--frames", "1")
    frame = model("c.md2")
    assert frame.frame_names == ["large"]
    assert np.allclose(frame.surfaces[0].positions[0], 2 * model("a.md2").surfaces[0].positions[1], atol=0.05)


@pytest.mark.parametrize("option", [[], ["--normals", "source", "--scale", "1.0001"]], ids=["plain", "Blender"])
def test_md3_to_md2_with_and_without_blender(folder, run, option):
    (line,) = convert(run, "sentinel.md3", "b.md2", *option)
    assert line.startswith("sentinel.md3 -> b.md2: 1 surface, 20 frames; ")
    assert "MD2 holds no tags, left out: 'tag_weapon', 'tag_eye', 'tag_jet'" in line
    assert "2 surfaces become one" in line
    before, after = model("sentinel.md3"), model("b.md2")
    wanted = np.concatenate([s.positions[:, s.triangles] for s in before.surfaces], axis=1)
    step = np.abs(after.source.surfaces[0].scale)[:, None, None]
    shown = after.surfaces[0].positions[:, after.surfaces[0].triangles]
    assert (np.abs(shown - wanted) <= step / 2 + 0.01).all()


def test_any_scene_to_md3(folder, run):
    block = add_cube("box")
    block.scale = (1, -1, 1)
    block.location.x = 3
    block.keyframe_insert("location", frame=2)
    block.location.x = 8
    block.keyframe_insert("location", frame=5)
    add_tag("tag_top").location = (0, 0, 9)
    add_cube("ghost").hide_set(True)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 2, 5
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "scene.blend"))
    (line,) = convert(run, "scene.blend", "scene.md3")
    bare = "without a material a surface has no shader, give it one with the shader's name: 'box'"
    mirrored = "mirrored by a negative scale, written as shown with its faces turned, apply it (Object > Apply > Scale)"
    said = f"{bare}; {mirrored}: 'box'; 1 hidden object left out: 'ghost'"
    assert line == f"scene.blend -> scene.md3: 1 surface, 1 tag, 4 frames; {said}"
    (surface,) = model("scene.md3").surfaces
    assert volume(surface, 3) == pytest.approx(16**3, rel=1e-2)
    assert outward(surface, 3)
    assert surface.positions[3].max(axis=0).tolist() == [16, 8, 8]


# -- options


def test_frames(folder, run):
    def frames(which):
        convert(run, "sentinel.md3", "b.md3", "--frames", which)
        return model("b.md3").frame_names

    names = model("sentinel.md3").frame_names
    assert frames("auto") == frames("KEYS") == frames("scene") == names
    assert frames("7") == names[7:8]
    assert len(frames("current")) == 1
    assert frames("3-5") == names[3:6]
    for old, new in zip(read_md3("sentinel.md3").surfaces, read_md3("b.md3").surfaces, strict=True):
        assert np.array_equal(new.vertices["xyz"], old.vertices["xyz"][3:6]), "the source's numbers"


def test_scale(folder, run):
    convert(run, "sentinel.md3", "small.glb", "--scale", "0.025")
    convert(run, "small.glb", "back.md3", "--scale", "0.025")
    compare("back.md3")


@pytest.mark.parametrize("target", ["b.md3", "b.md2", "b.mdl", "b.mdc", "b.lwo"])
def test_a_model_that_becomes_another_is_resized(folder, run, target):
    convert(run, "sentinel.md3", f"as_is{target}")
    (line,) = convert(run, "sentinel.md3", target, "--scale", "2.5")
    assert "imported with Scale" not in line
    before, after = model(f"as_is{target}"), model(target)
    for old, new in zip(before.surfaces, after.surfaces, strict=True):
        step = 0.02 * np.ptp(old.positions)  # of an MDL's grid, the coarsest
        assert np.abs(new.positions - 2.5 * old.positions).max() < step
    for old, new in zip(before.tags, after.tags, strict=True):
        np.testing.assert_allclose(new.origins, 2.5 * old.origins, atol=0.03)  # both are rounded
        np.testing.assert_allclose(new.axes, old.axes, atol=1e-3)


def test_a_model_of_bones_is_resized_with_its_animations(folder, run):
    Path("arm.md5mesh").write_bytes(samples_md5.arm())
    Path("wave.md5anim").write_bytes(samples_md5.wave())
    found = {}
    for name, options in (("a.iqm", ()), ("b.iqm", ("--scale", "2.5"))):
        convert(run, "arm.md5mesh", "--anim", "wave.md5anim", name, *options)
        found[name] = load_file(Disk().file(Path(name)))
    before, after = found.values()
    old, new = (each.model.skeleton.bind.positions for each in (before, after))
    np.testing.assert_allclose(new, 2.5 * old, atol=1e-4)
    ((old,), (new,)) = (each.animations for each in (before, after))
    np.testing.assert_allclose(new.positions, 2.5 * old.positions, atol=1e-4)
    np.testing.assert_allclose(new.rotations, old.rotations, atol=1e-5)


def test_all_animations_become_frames_whatever_is_asked_for_besides(folder, run):
    put(folder / "arm.md5mesh", samples_md5.arm())
    animations = []
    for name, data in (("wave", samples_md5.wave()), ("nod", samples_md5.wave_spec(2).pack())):
        animations += ["--anim", put(folder / f"{name}.md5anim", data)]
    given = ("arm.md5mesh", "b.md3", *animations, "--tags", "hand")
    convert(run, *given)
    names, frames = model("b.md3").frame_names, model("b.md3").surfaces[0].positions
    for options in (("--scale", "2"), ("--normals", "smooth"), ("--frames", "1-6")):
        convert(run, *given, *options)
        found = model("b.md3")
        some = slice(1, 7) if "--frames" in options else slice(None)
        assert found.frame_names == names[some]
        size = 2.0 if "--scale" in options else 1.0
        np.testing.assert_allclose(found.surfaces[0].positions, size * frames[some], atol=4 * HALF_STEP)
        assert [tag.name for tag in found.tags] == ["tag_hand"]
    convert(run, *given[:-2], "--normals", "shown")
    assert model("b.md3").num_frames == len(names)
    assert "--tags goes with files alone, without --skin, --normals shown" in refused(
        run, "convert", *given, "--normals", "shown"
    )
    convert(run, "arm.md5mesh", *animations, "b.blend")
    convert(run, "b.blend", "c.md3", "--frames", "actions")
    assert model("c.md3").num_frames == len(names)


@pytest.mark.parametrize("frames", ["1-3", "scene"])
def test_frames_are_chosen_of_what_becomes_frames_alone(folder, run, frames):
    put(folder / "arm.md5mesh", samples_md5.arm())
    said = refused(run, "convert", "arm.md5mesh", "b.iqm", "--frames", frames)
    assert "only a skeletal model that becomes a vertex-animated one takes chosen frames" in said
    convert(run, "arm.md5mesh", "b.blend")
    assert "--tags goes with files alone" in refused(run, "convert", "b.blend", "b.md3", "--tags", "hand")


def test_all_animations_go_into_the_one_file_of_an_mdm(folder, run):
    put(folder / "arm.md5mesh", samples_md5.arm())
    animations = []
    for name, data in (("wave", samples_md5.wave()), ("nod", samples_md5.wave_spec(2).pack())):
        animations += ["--anim", put(folder / f"{name}.md5anim", data)]
    convert(run, "arm.md5mesh", *animations, "b.mdm", "--scale", "2")
    found = load_file(Disk().file(Path("b.mdx"))).animations
    assert [each.num_frames for each in found] == [5 + 2]
    assert Path("b.aninc").is_file()


@pytest.mark.parametrize("normals", ["source", "shown", "smooth"])
def test_normals(folder, run, normals):
    put("crate.md3", "seamed_cube")
    convert(run, "crate.md3", "b.md3", "--normals", normals)
    slant = np.abs(model("b.md3").surfaces[0].normals[0]).max(axis=1)
    assert (slant > 0.999).all() if normals != "smooth" else (slant < 0.9).all()
    assert (Path("b.md3").read_bytes() == sample("seamed_cube")) == (normals == "source")


def test_weld(folder, run):
    put("crate.md3", "seamed_cube")
    for options, count in (((), 8), (("--no-weld",), 24)):
        convert(run, "crate.md3", "b.blend", *options)
        exchange.open_scene(folder / "b.blend")
        assert len(bpy.data.meshes[0].vertices) == count


def test_fps_and_frame_and_size(folder, run):
    convert(run, "sentinel.md3", "b.blend", "--fps", "15")
    exchange.open_scene(folder / "b.blend")
    assert bpy.context.scene.render.fps == 15
    for name, frame in (("a.png", 0), ("b.png", 7), ("c.png", 0)):
        convert(run, "sentinel.md3", name, "--frame", frame, "--size", "40x30")
    first, other, again = (bpy.data.images.load(str(folder / name)) for name in ("a.png", "b.png", "c.png"))
    assert tuple(first.size) == (40, 30)
    assert first.pixels[:] == again.pixels[:] != other.pixels[:]
    for options, start in (((), 0), (("--frame", 7), 7)):  # an OBJ holds one
        convert(run, "sentinel.md3", "b.obj", *options)
        convert(run, "b.obj", "b.md3")
        compare("b.md3", frames=1, start=start)


def test_levels_of_what_blender_opens(folder, run):
    convert(run, "sentinel.md3", "a.obj")
    for arguments in (("a.obj", "b.md3"), ("sentinel.md3", "c.md3", "--scale", "2")):
        (line,) = convert(run, *arguments, "--levels", "60,30")
        assert "2 levels of detail" in line
        name = arguments[1][0]
        counts = [sum(len(s.triangles) for s in model(f"{name}{end}.md3").surfaces) for end in ("", "_1", "_2")]
        assert counts[0] > 1.5 * counts[1] > 2 * counts[2]
    said = refused(run, "convert", "sentinel.md3", "b.glb", "--levels", "50")
    assert said == "sentinel.md3: games read no levels of detail beside '.glb' files"
    assert not Path("b.glb").exists()


def test_the_game_refuses(folder, run):
    for i in range(6):
        add_cube("box").modifiers.new("many", "ARRAY").count = 10 * (i + 1)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "scene.blend"))
    said = refused(run, "convert", "scene.blend", "b.md3", "--game", "quake3")
    assert said.startswith("scene.blend: 'box5' has 1200 vertices, Quake III Arena takes 999")
    assert not Path("b.md3").exists()


@pytest.mark.parametrize(
    "options",
    [
        ["--size", "8x8"], ["--size", "big"], ["--size", "100"], ["--scale", "0"], ["--scale", "x"], ["--scale", "nan"],
        ["--fps", "0"], ["--fps", "-1"], ["--fps", "999"], ["--frames", "some"], ["--frames", "3-"], ["--frames", "-3"],
        ["--frame", "x"], ["--normals", "odd"], ["--jobs", "0"], ["--jobs", "-2"], ["--jobs", "x"], ["--game", "doom"],
    ],
)  # fmt: skip
def test_options_that_mean_nothing(folder, run, options):
    status, out, err = run("convert", "sentinel.md3", "b.glb", *options)
    assert (status, out) == (2, [])
    assert err[-1].startswith("idtech convert: error: argument --")
    assert not Path("b.glb").exists()


# -- errors


@pytest.mark.parametrize("suffix", [".md3", ".glb", ".gltf", ".fbx", ".obj", ".blend"])
def test_a_broken_input_is_one_sentence(folder, run, suffix):
    put(f"bad{suffix}", b"this is nothing of the kind" * 3)
    put("out.md3", b"old")
    said = refused(run, "convert", f"bad{suffix}", "out.md3")
    assert said.startswith(f"bad{suffix}: ")
    assert said.count(f"bad{suffix}") == 1
    assert Path("out.md3").read_bytes() == b"old"


@pytest.mark.parametrize("suffix", [".glb", ".fbx", ".obj", ".blend", ".png"])
def test_an_output_that_cannot_be_written_is_one_sentence(folder, run, suffix):
    put("file", b"")
    assert refused(run, "convert", "sentinel.md3", f"file/out{suffix}").startswith("sentinel.md3: can't write ")


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["sentinel.md3", "b.xyz"], f"can't write '.xyz', only {KNOWN}, .blend, .glb, .gltf, .fbx, .obj, .png"),
        (["sentinel.md3"], "say where to write"),
        (["sentinel.md3", "--to", "png", "--to", "mp4"], "can't write '.mp4'"),
    ],
)
def test_usage(folder, run, argv, words):
    status, out, err = run("convert", *argv)
    assert (status, out, len(err)) == (2, [], 1)
    assert words in err[0]


def test_a_missing_file_and_one_that_cannot_be_read(folder, run):
    assert refused(run, "convert", "none.glb", "b.md3") == "none.glb: no such file"
    said = refused(run, "convert", "hull.tga", "b.md3")
    assert said == f"hull.tga: can't read '.tga', only {KNOWN}, .blend, .glb, .gltf, .fbx, .obj"


# -- many files


def many(folder):
    put("in/a.md3")
    put("in/bad.md3", sample("animated")[:200])
    put("in/deep/c.md3", "seamed_cube")
    put("in/d.md3", "tags_only")


@pytest.mark.parametrize("jobs", [(), ("--jobs", "2")], ids=["one process", "several"])
def test_many_files(folder, run, jobs):
    many(folder)
    status, out, err = run("convert", "in", "--to", "glb", "out", *jobs)
    assert (status, len(err)) == (1, 1), err
    assert "in/bad.md3: frames run past the end" in err[0].replace("\\", "/")
    assert out[-1].startswith("3 converted, 1 failed, ")
    lines = sorted(line.partition("] ")[2].replace("\\", "/") for line in out[:-1])
    assert lines[0].startswith("in/a.md3 -> out/a.glb: 2 surfaces, 2 tags, 3 frames")
    assert sorted(p.relative_to("out").as_posix() for p in Path("out").rglob("*.*")) == ["a.glb", "d.glb", "deep/c.glb"]


def test_inputs_of_many_kinds(folder, run):
    for suffix in (".glb", ".obj", ".blend"):
        convert(run, "sentinel.md3", f"in/{suffix[1:]}{suffix}")
    for target, place in ((["out"], "out"), ([], "in")):
        out = convert(run, "in", *target, "--to", "md3")
        assert out[-1].startswith("3 converted, 0 failed")
        assert sorted(p.name for p in Path(place).glob("*.md3")) == ["blend.md3", "glb.md3", "obj.md3"]


def test_workers_that_die_fail_their_files_alone(folder, run, monkeypatch):
    many(folder)
    command = cli.CONVERTER.worker

    def deadly(passed):
        *words, code = command(passed)
        patch = f"""
import os, sys
sys.path.insert(0, {str(PROJECT)!r})
import io_idtech_models.ui.cli as patched
real = patched.convert
def convert(job, options):
    if job.source.name in ("a.md3", "d.md3"):
        os.write(2, b"oh no\\n")
        os._exit(7)
    return real(job, options)
object.__setattr__(patched.CONVERTER, "convert", convert)
"""
        return [*words, f"{patch}{code}"]

    monkeypatch.setattr(cli.CONVERTER, "worker", deadly)
    status, out, err = run("convert", "in", "out", "--to", "glb", "--jobs", "2")
    assert status == 1
    assert len(err) == 3
    said = sorted(line.partition("] ")[2].replace("\\", "/") for line in err)
    assert said[::2] == [f"in/{name}.md3: Blender ended on it: oh no" for name in "ad"]
    assert out[-1].startswith("1 converted, 3 failed"), "both workers are gone, another one did the rest"


# -- as a process


def process(*argv, **options):
    command = [sys.executable, "-m", "io_idtech_models.ui.cli", *map(str, argv)]
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, **options)


@pytest.mark.parametrize("suffix", [".glb", ".fbx"])  # written by add-ons, with which some Blenders end badly
def test_the_process_ends_well_and_says_how(folder, suffix):
    done = process("convert", "sentinel.md3", f"b{suffix}")
    said = f"sentinel.md3 -> b{suffix}: 2 surfaces, 3 tags, 20 frames\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, said, "")


def test_the_process_says_what_failed(folder):
    done = process("convert", "none.md3", "c.glb")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "none.md3: no such file\n")
    assert process("convert").returncode == 2


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_stops_a_batch(folder, jobs):
    for index in range(200):
        put(f"in/{index:03d}.md3")
    command = [sys.executable, "-m", "io_idtech_models.ui.cli", "convert", "in", "out", "--to", "obj", "--jobs", jobs]
    with subprocess.Popen(
        [*HEARING, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(PROJECT)}, start_new_session=True,
    ) as running:  # fmt: skip
        assert running.stdout is not None
        running.stdout.readline()
        os.killpg(running.pid, signal.SIGINT)
        _, said = running.communicate(timeout=120)
    assert running.returncode == 130
    assert said.splitlines()[-1].startswith("stopped: ")
    assert "Traceback" not in said
    assert 0 < len(list(Path("out").glob("*.obj"))) < 200


def test_other_collections_speak_too(folder, run):
    import_md3(folder / "sentinel.md3")
    around, root = bpy.data.collections.new("around"), bpy.context.scene.collection
    for child in list(root.children):
        around.children.link(child)
        root.children.unlink(child)
    root.children.link(around)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "x.blend"))
    convert(run, "x.blend", "b.md3")
    assert Path("b.md3").read_bytes() == SENTINEL.read_bytes()


def test_the_guide_lists_all_options_of_convert_and_which_need_blender(capsys):
    guide = (PROJECT / "docs/command-line.md").read_text(encoding="utf-8").partition("## Options of `convert`")[2]
    tables = guide.partition("\n## ")[0].split("| --- | --- |\n")[1:]
    cells = [[row.split(" | ")[0] for row in table.splitlines() if row.startswith("| `")] for table in tables]
    everywhere, with_blender = (set(OPTION.findall(" ".join(own))) for own in cells)
    takes = []
    for command in (plain_cli.main, cli.main):
        assert command(["convert", "-h"]) == 0
        takes.append(set(OPTION.findall(capsys.readouterr().out)) - {"--help", "--game-folder", "--engine"})
    assert everywhere == takes[0]
    assert with_blender == takes[1] - takes[0]


def test_a_skin_is_what_pictures_in_a_file_show(tmp_path, run):
    lower = PROJECT / "examples/tock/baseq3/models/players/tock/lower.md3"
    found = {}
    for skin in ("red", "default", "nosuch"):
        (line,) = convert(run, lower, tmp_path / f"{skin}.mdl", "--skin", skin)
        assert ("there is no skin 'nosuch' for 'lower'" in line) == (skin == "nosuch")
        found[skin] = load((tmp_path / f"{skin}.mdl").read_bytes()).skins[0].pictures[0]
    assert (found["red"] != found["default"]).any() and (found["nosuch"] == found["default"]).all()
    (line,) = convert(run, lower, tmp_path / "a.mdc", "--skin", "red")
    assert line.endswith("; --skin is left out: the file names its own shaders")


@pytest.mark.parametrize(
    ("option", "said"),
    [(("--frames", "3-20"), "there are no frames 3 to 20"), (("--frame", "20"), "there is no frame 20")],
)
def test_frames_that_a_model_has_not(folder, run, option, said):
    status, _, err = run("convert", "sentinel.md3", "a.md2" if option[0] == "--frames" else "a.obj", *option)
    assert (status, err) == (1, [f"sentinel.md3: {said}: the model has frames 0 to 19"])
    assert not [*folder.glob("a.*")]
