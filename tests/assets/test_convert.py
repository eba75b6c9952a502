"""Files to files of other kinds without Blender: skeletal models to frames, what can't become what, what files hold."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_idtech_models.assets import convert as conversion
from io_idtech_models.assets.convert import Posing, problems
from io_idtech_models.assets.export_request import ExportRequest
from io_idtech_models.assets.load import load as load_file
from io_idtech_models.assets.load import load_animation
from io_idtech_models.cli.info import facts as shown_facts
from io_idtech_models.cli.info import table
from io_idtech_models.formats import by_name
from io_idtech_models.formats.md5 import scale_file as md5scale
from io_idtech_models.game.folders import Disk
from io_idtech_models.model.bake import bake
from io_idtech_models.model.edits.normals import smooth_normals
from io_idtech_models.model.limits.games import GAMES
from io_idtech_models.model.rigging.rig import RigSettings
from io_idtech_models.model.transforms import chain, to_matrices
from io_idtech_models.reporting import FormatError, LimitError, ModelError
from tests import facts, samples_iqm, samples_md5, samples_mdm
from tests.packs import put_files
from tests.samples import CORPUS, PROJECT, corpus, sample

STEP = 1 / 64  # of MD3's positions


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a model, its animations, one of another model's, and files of other kinds."""
    files = {
        "arm.md5mesh": samples_md5.arm(), "wave.md5anim": samples_md5.wave(),
        "nod.md5anim": samples_md5.wave_spec(2).pack(), "other.md5anim": samples_md5.roots_wave(),
        "broken.md5anim": samples_md5.wave()[:700], "several.md5mesh": samples_md5.several_meshes(),
        "a.md3": sample("animated"), "a.md2": sample("animated", "md2"),
    }  # fmt: skip
    put_files(tmp_path, files)
    return tmp_path


def load(path):
    found = load_file(Disk().file(path))
    return found.row, found.content


def convert(source, target, game, options, animations=(), *chosen, shorten=True, **more):
    disk = Disk()
    posing = Posing([disk.file(path) for path in animations], *chosen, **more)
    return conversion.convert(disk.file(source), ExportRequest(target, game, options, shorten), posing)


def converted(folder, source, target, animations=(), game="format", tags=(), **options):
    """Convert files of a folder; returns the line, and what the target holds now."""
    paths = [folder / name for name in animations]
    line = convert(folder / source, folder / target, game, options, paths, tags)
    return line, load(folder / target)[1]


def baked(folder, source="arm.md5mesh", animations=(), tags=()):
    found = [by_name("md5anim").load((folder / n).read_bytes(), Path(n).stem) for n in animations]
    return bake(by_name("md5mesh").load((folder / source).read_bytes(), "arm"), found, list(tags))


# -- to frames


@pytest.mark.parametrize("middle", ["iqm", "md5mesh", "mdr", "mds"])
def test_tags_of_frames_are_joints_and_tags_again(tmp_path, middle):
    """Where games know tags by their joints' names, too."""
    upper = PROJECT / "examples/tock/baseq3/models/players/tock/upper.md3"
    line = convert(upper, tmp_path / f"a.{middle}", "format", {}, rig=RigSettings())
    assert " 12 joints" in line, "no tag has a bone besides the one that it is"
    beside = sorted(tmp_path.glob("*.md5anim"), key=lambda path: names_of(upper).index(path.stem))
    convert(tmp_path / f"a.{middle}", tmp_path / "b.md3", "format", {}, beside)
    before, after = load(upper)[1], load(tmp_path / "b.md3")[1]
    assert [tag.name for tag in after.tags] == [tag.name for tag in before.tags]
    for old, new in zip(before.tags, after.tags, strict=True):
        np.testing.assert_allclose(new.origins, old.origins, atol=2 * STEP)
        np.testing.assert_allclose(new.axes, old.axes, atol=2e-3)


def names_of(path):
    return list(dict.fromkeys(name.rpartition("_")[0] for name in load(path)[1].frame_names))


def test_skins_that_a_model_of_bones_has_no_place_for_are_said(tmp_path):
    stilt = PROJECT / "examples/stilt/players/stilt/tris.md2"
    line = convert(stilt, tmp_path / "a.iqm", "format", {}, rig=RigSettings(bones=4))
    assert "IQM holds one material of a surface: others are left out of 'stilt'" in line


SCALE = b'{"upper arm": {"scale_positions": true, "1": 2.0}, "hand": {"1": 0.5, "4": 1.25}}'


def test_joints_that_are_scaled_are_so_in_frames(folder):
    (folder / "wave.md5scale").write_bytes(SCALE)
    _, found = converted(folder, "arm.md5mesh", "arm.md3", ["wave.md5anim"])
    plain = baked(folder, animations=["wave.md5anim"])
    model = by_name("md5mesh").load((folder / "arm.md5mesh").read_bytes(), "arm")
    moves = by_name("md5anim").load((folder / "wave.md5anim").read_bytes(), "wave")
    sizes = {"upper arm": 2.0, "hand": 0.5}
    ways = moves.positions[1].copy()
    ways[moves.joint_names.index("upper arm")] *= 2.0
    places, turns = chain(moves.parents, ways, moves.rotations[1])
    axes, (mesh,) = to_matrices(turns), model.meshes
    for vertex in range(mesh.num_vertices):
        start, count = mesh.weights.starts[vertex], mesh.weights.counts[vertex]
        wanted = np.zeros(3)
        for entry in range(start, start + count):
            joint = mesh.weights.joints[entry]
            size = sizes.get(moves.joint_names[joint], 1.0)
            away = size * axes[joint] @ mesh.weights.offsets[entry].astype(np.float64)
            wanted += mesh.weights.factors[entry] * (places[joint] + away)
        assert np.abs(found.surfaces[0].positions[1, vertex] - wanted).max() <= STEP / 2 + 1e-4
    still = np.abs(found.surfaces[0].positions - plain.surfaces[0].positions).max(axis=(1, 2)) <= STEP / 2 + 1e-4
    assert still.tolist() == [True, False, True, True, False]


def test_scale_of_joints_goes_along_or_is_said_to_be_lost(folder):
    (folder / "wave.md5scale").write_bytes(SCALE)
    line, _ = converted(folder, "wave.md5anim", "x.mdx")
    assert "'wave': scale of bones is lost, joints have none: in frame 1 of the file that of 'upper arm'" in line
    line, _ = converted(folder, "wave.md5anim", "y.md5anim", game="quake2remaster")
    assert "lost" not in line
    read = [md5scale.read((folder / f"{n}.md5scale").read_bytes(), ["upper arm", "hand"], 5) for n in ("wave", "y")]
    assert np.array_equal(read[0].values, read[1].values)
    assert np.array_equal(read[0].ways, read[1].ways)


def test_a_model_in_motion_becomes_an_md3(folder):
    line, found = converted(folder, "arm.md5mesh", "arm.md3", ["wave.md5anim", "nod.md5anim"])
    assert line.startswith("1 surface, 7 frames")
    wanted = baked(folder, animations=["wave.md5anim", "nod.md5anim"])
    assert found.frame_names == wanted.frame_names
    (surface,), (other,) = found.surfaces, wanted.surfaces
    assert np.abs(surface.positions - other.positions).max() <= STEP / 2 + 1e-5
    np.testing.assert_array_equal(surface.triangles, other.triangles)
    np.testing.assert_allclose(surface.uvs, other.uvs, atol=1e-6)
    assert (surface.name, surface.shaders) == ("arm", ["models/md5/arm"])
    lengths = np.linalg.norm(surface.normals, axis=-1)
    cosines = np.einsum("fvi,fvi->fv", surface.normals, other.normals) / lengths
    assert cosines.min() > np.cos(np.radians(1.01)), "a step of MD3's normals"


def test_a_model_in_motion_becomes_an_md2(folder):
    line, found = converted(folder, "arm.md5mesh", "arm.md2", ["wave.md5anim", "nod.md5anim"])
    assert "7 frames" in line
    wanted = baked(folder, animations=["wave.md5anim", "nod.md5anim"])
    assert [(a.name, a.count) for a in found.animations] == [("wave", 5), ("nod", 2)]
    corners = found.surfaces[0].positions[:, found.surfaces[0].triangles]
    shown = wanted.surfaces[0].positions[:, wanted.surfaces[0].triangles]
    steps = np.ptp(wanted.surfaces[0].positions, axis=1).max() / 255
    assert np.abs(corners - shown).max() <= steps / 2 + 1e-4


def test_without_an_animation_it_is_the_bind_pose(folder):
    _, found = converted(folder, "arm.md5mesh", "arm.md3")
    assert found.num_frames == 1
    assert np.abs(found.surfaces[0].positions - baked(folder).surfaces[0].positions).max() <= STEP / 2 + 1e-5


def test_joints_become_tags(folder):
    _, found = converted(folder, "arm.md5mesh", "arm.md3", ["wave.md5anim"], tags=["hand", "upper arm"])
    wanted = baked(folder, animations=["wave.md5anim"], tags=["hand", "upper arm"])
    assert [tag.name for tag in found.tags] == ["tag_hand", "tag_upper arm"]
    for tag, other in zip(found.tags, wanted.tags, strict=True):
        np.testing.assert_allclose(tag.origins, other.origins, atol=1e-5)
        np.testing.assert_allclose(tag.axes, other.axes, atol=1e-6)


def test_files_with_nothing_in_them_are_refused(folder):
    """Of what holds no tags, or tags alone, and no pictures lie beside one of the latter."""
    put_files(folder, {"painted.mdl": sample("animated", "mdl"), "alone.tag": sample("vehicle", "tag")})
    refused = {"painted.tag": "TAG holds tags alone", "alone.ase": "ASE holds meshes alone"}
    refused |= {"alone.lwo": "LWO holds meshes alone", "alone.md5mesh": "that takes a skeleton$"}
    for target, why in refused.items():
        source = next(folder.glob(f"{target.partition('.')[0]}.*"))
        with pytest.raises(LimitError, match=why):
            convert(source, folder / target, "format", {})
    assert sorted(path.name for path in folder.glob("*.t*")) == ["alone.tag"]


def test_md2_has_no_tags_and_says_so(folder):
    line, found = converted(folder, "arm.md5mesh", "arm.md2", tags=["hand"])
    assert not found.tags
    assert "tag" in line.partition(",")[2]


def test_several_meshes(folder):
    _, found = converted(folder, "several.md5mesh", "several.md3", ["wave.md5anim"])
    assert [s.num_vertices for s in found.surfaces if s.num_vertices] == [13, 13]
    _, found = converted(folder, "several.md5mesh", "several.md2", ["wave.md5anim"])
    assert len(found.surfaces[0].triangles) == 36


def test_options_of_the_target(folder):
    _, found = converted(folder, "arm.md5mesh", "arm.md2", skin_width=64, skin_height=32)
    assert found.texture_size == (64, 32)


@pytest.mark.parametrize("suffix", [".md2", ".md3"])
@pytest.mark.parametrize("name", ["blaster_view.md5mesh", "tyrant_view.md5mesh"])
def test_real_models_become_frames(tmp_path, name, suffix):
    meshes = [file for file in corpus(".md5mesh") if file.path.name == name]
    if not meshes:
        pytest.skip("the corpus of real files is not here")
    own = [file for file in corpus(".md5anim") if file.entry.get("mesh") == meshes[0].entry["path"]]
    target = tmp_path / f"x{suffix}"
    try:
        convert(meshes[0].path, target, "format", {}, [file.path for file in own])
    except LimitError as error:
        assert name.startswith("tyrant") or suffix == ".md2", str(error)
        assert not target.exists()
        return
    found = load(target)[1]
    assert found.num_frames == sum(file.entry["frames"] for file in own)


# -- to the same kind


def test_a_model_of_nothing_stays_the_same(tmp_path):
    (tmp_path / "null.md3").write_bytes(sample("nothing"))
    assert convert(tmp_path / "null.md3", tmp_path / "b.md3", "quake3", {}) == "2 frames"
    assert (tmp_path / "b.md3").read_bytes() == sample("nothing")


def test_what_is_lost_is_said_whether_names_are_shortened_or_not(tmp_path):
    (tmp_path / "a.iqm").write_bytes(samples_iqm.arm().pack())
    source, to = tmp_path / "a.iqm", tmp_path / "b.md5mesh"
    short, whole = (convert(source, to, "format", {}, shorten=each) for each in (True, False))
    assert short == whole
    assert "'base' takes 1 vertex that no joint moves; 'wave': uneven scale of joints is lost" in short


def test_doom_3_takes_one_root(tmp_path):
    (tmp_path / "a.md5anim").write_bytes(samples_md5.roots_wave())
    with pytest.raises(LimitError, match="has 2 joints without a parent, Doom 3 takes one: add an origin joint"):
        convert(tmp_path / "a.md5anim", tmp_path / "b.md5anim", "doom3", {})
    assert not (tmp_path / "b.md5anim").exists()
    said = convert(tmp_path / "a.md5anim", tmp_path / "b.md5anim", "format", {})
    assert "has 2 joints without a parent, which Doom 3 refuses" in said
    assert facts.differences(samples_md5.roots_wave(), (tmp_path / "b.md5anim").read_bytes()) == set()


# -- what can't be


@pytest.mark.parametrize(
    ("source", "target", "sentence"),
    [
        ("a.md3", "b.md5mesh", "MD3 can't become MD5MESH: that takes a skeleton; --rig makes one of the frames"),
        ("a.md2", "b.md5mesh", "MD2 can't become MD5MESH: that takes a skeleton; --rig makes one of the frames"),
        ("a.md3", "b.md5anim", "MD3 can't become MD5ANIM: that takes a skeleton"),
        ("wave.md5anim", "b.md3", "MD5ANIM can't become MD3"),
        ("wave.md5anim", "b.md2", "MD5ANIM can't become MD2"),
        ("wave.md5anim", "b.md5mesh", "MD5ANIM can't become MD5MESH"),
        ("arm.md5mesh", "b.md5anim", "MD5MESH can't become MD5ANIM: its files hold no animations"),
        ("arm.md5mesh", "b.xyz", "can't write '.xyz'"),
    ],
)
def test_what_can_not_become_what(folder, source, target, sentence):
    with pytest.raises(LimitError) as caught:
        convert(folder / source, folder / target, "format", {})
    assert str(caught.value) == sentence
    assert not (folder / target).exists()


@pytest.mark.parametrize(
    ("animation", "sentence"),
    [
        ("other.md5anim", "'other' does not fit 'arm': the animation has 5 joints, the model 3"),
        ("arm.md5mesh", "'arm.md5mesh' is no animation for MD5MESH"),
        ("a.md3", "'a.md3' is no animation for MD5MESH"),
        ("broken.md5anim", "'broken.md5anim': the file ends too early at line"),
        ("none.md5anim", "'none.md5anim': can't read the file: no such file or directory"),
    ],
)
def test_animations_that_do_not_fit(folder, animation, sentence):
    (folder / "b.md3").write_bytes(b"old")
    with pytest.raises(ModelError, match=sentence):
        convert(folder / "arm.md5mesh", folder / "b.md3", "format", {}, [folder / "wave.md5anim", folder / animation])
    assert (folder / "b.md3").read_bytes() == b"old"


def test_a_tag_that_is_no_joint(folder):
    with pytest.raises(LimitError, match="no joint is called 'head'"):
        convert(folder / "arm.md5mesh", folder / "b.md3", "format", {}, [], ["hand", "head"])
    assert not (folder / "b.md3").exists()


@pytest.mark.parametrize(("source", "target"), [("arm.md5mesh", "b.md5mesh"), ("a.md3", "b.md3"), ("a.md3", "b.md2")])
@pytest.mark.parametrize("what", ["animations", "tags"])
def test_animations_and_tags_are_for_skeletal_models_that_become_frames(folder, source, target, what):
    given = {"animations": [folder / "wave.md5anim"]} if what == "animations" else {"tags": ["hand"]}
    said = f"only a skeletal model that becomes a vertex-animated one takes {what}$"
    if (source, what) == ("arm.md5mesh", "animations"):
        said = "a model that stays MD5MESH needs no animations, their files fit it: leave them out"
    with pytest.raises(LimitError, match=said):
        convert(folder / source, folder / target, "format", {}, **given)
    assert not (folder / target).exists()


# -- games


def test_what_a_game_refuses_is_not_written(tmp_path):
    joints = [*samples_md5.ARM, ("x" * 48, 2, (30.0, 1.0, 2.0), (0.0, 0.0, 0.0))]
    (tmp_path / "a.md5mesh").write_bytes(samples_md5.MeshSpec(joints=joints).pack())
    (tmp_path / "b.md5mesh").write_bytes(b"old")
    with pytest.raises(LimitError, match="a joint's name of 48 bytes, Quake II remaster takes 47"):
        convert(tmp_path / "a.md5mesh", tmp_path / "b.md5mesh", "quake2remaster", {}, shorten=False)
    assert (tmp_path / "b.md5mesh").read_bytes() == b"old"
    convert(tmp_path / "a.md5mesh", tmp_path / "b.md5mesh", "doom3", {})
    assert (tmp_path / "b.md5mesh").read_bytes() != b"old"


@pytest.mark.parametrize("game", GAMES)
def test_a_game_reads_some_formats(folder, game):
    for name in ("arm.md5mesh", "wave.md5anim", "a.md3", "a.md2"):
        loaded = load_file(Disk().file(folder / name))
        found = [str(p) for p in problems(loaded, game)]
        assert any("does not read" in text for text in found) is (game not in loaded.row.games)


# -- names that are too long

SHADER = "models/characters/male_npc/marine/very_long_name_of_a_material_for_a_helmet.tga"
LONG_JOINT = "Bip01 " + "x" * 60
LONG_MESH = "models/monsters/imp/a_mesh_called_by_its_path_and_more_than_sixty_three_bytes"
LONG_WALK = "walk_forward_with_a_long_name"


@pytest.fixture
def long_names(tmp_path):
    """Return a folder with a model and animations of long names: mesh, shader, joint, animation, and its file."""
    part = samples_md5.box()
    part.shader, part.name = SHADER, LONG_MESH
    joints = [*samples_md5.ARM[:2], (LONG_JOINT, *samples_md5.ARM[2][1:])]
    other = samples_md5.box()
    other.shader, other.name = SHADER.replace("characters", "people"), LONG_MESH.replace("imp", "elf")
    spec = samples_md5.MeshSpec(joints=joints, parts=[part, other])
    (tmp_path / f"{'m' * 70}.md5mesh").write_bytes(spec.pack())
    for end, frames in (("a", 5), ("b", 2)):
        motion = samples_md5.wave_spec(frames)
        motion.joints = joints
        (tmp_path / f"{LONG_WALK}_{end}.md5anim").write_bytes(motion.pack())
    return tmp_path


def long_convert(folder, target, *tags, **options):
    animations = [folder / f"{LONG_WALK}_{end}.md5anim" for end in "ab"]
    (source,) = folder.glob("*.md5mesh")
    line = convert(source, folder / target, options.pop("game", "format"), {}, animations, tags, **options)
    return line, load(folder / target)[1]


def test_long_names_to_md3(long_names):
    line, found = long_convert(long_names, "b.md3", LONG_JOINT, game="quake3")
    helmet = "male_npc/marine/very_long_name_of_a_material_for_a_helmet"
    assert [s.shaders for s in found.surfaces] == [[helmet], [f"{helmet}~b"]]
    first, second = (surface.name for surface in found.surfaces)
    assert first == LONG_MESH.removeprefix("models/monsters/")
    assert second == first.replace("imp", "elf")
    assert [tag.name for tag in found.tags] == [f"tag_{LONG_JOINT}"[:63]]
    assert len(set(found.frame_names)) == 7
    for old in (SHADER, LONG_MESH, f"tag_{LONG_JOINT}", f"{LONG_WALK}_a", f"{LONG_WALK}_b", "m" * 70):
        assert f"'{old}' is now '" in line
    for kind in ("shaders", "surfaces", "tags", "models"):
        assert f"names of {kind} are shortened to 63 bytes: " in line
    with pytest.raises(LimitError, match="a name of 79 bytes, Quake III Arena takes 63"):
        long_convert(long_names, "c.md3", game="quake3", shorten=False)
    assert not (long_names / "c.md3").exists()


def test_long_names_to_md2(long_names):
    line, found = long_convert(long_names, "b.md2", game="quake2")
    helmet = "male_npc/marine/very_long_name_of_a_material_for_a_helmet"
    assert found.surfaces[0].shaders == [f"{helmet}.tga", f"{helmet}~b.tga"]
    assert [a.count for a in found.animations] == [5, 2]
    assert "names of skins are shortened to 63 bytes: " in line
    with pytest.raises(LimitError, match="a name of 79 bytes"):
        long_convert(long_names, "c.md2", game="quake2", shorten=False)


def test_long_names_to_mdm_and_its_bones(long_names):
    line, found = long_convert(long_names, "b.mdm", game="et")
    assert all(len(mesh.name) <= 63 and len(mesh.shader) <= 63 for mesh in found.meshes)
    assert len({mesh.name for mesh in found.meshes}) == len({mesh.shader for mesh in found.meshes}) == 2
    motion = load(long_names / "b.mdx")[1]
    assert motion.joint_names == found.skeleton.names
    assert motion.joint_names[2] == LONG_JOINT[:63]
    assert f"names of joints are shortened to 63 bytes: '{LONG_JOINT}' is now '{LONG_JOINT[:63]}'" in line
    for game in ("et", "format"):
        with pytest.raises(LimitError, match="bytes"):
            long_convert(long_names, "c.mdm", game=game, shorten=False)


def test_long_names_for_the_quake_2_remaster(long_names):
    """Model and animation are converted apart from each other: their joints still agree."""
    (source,) = long_names.glob("*.md5mesh")
    line = convert(source, long_names / "b.md5mesh", "quake2remaster", {})
    assert f"names of joints are shortened to 47 bytes: '{LONG_JOINT}' is now '{LONG_JOINT[:47]}'" in line
    convert(long_names / f"{LONG_WALK}_a.md5anim", long_names / "b.md5anim", "quake2remaster", {})
    model, motion = load(long_names / "b.md5mesh")[1], load(long_names / "b.md5anim")[1]
    assert model.skeleton.names == motion.joint_names == ["origin", "upper arm", LONG_JOINT[:47]]
    assert model.meshes[0].shader == SHADER, "which has no limit"


@pytest.mark.parametrize("target", ["b.md3", "b.mdm", "b.mdx"])
def test_a_files_name_of_many_bytes(tmp_path, target):
    """Headers name the model; a character may have several bytes."""
    source = tmp_path / f"{'ü' * 40}.{'mdx' if target == 'b.mdx' else 'md5mesh'}"
    source.write_bytes(samples_mdm.walk() if target == "b.mdx" else samples_md5.arm())
    line = convert(source, tmp_path / target, "format", {})
    assert ("names of models are shortened" in line) is (target == "b.md3"), "the others' are no name that games read"
    load(tmp_path / target)


def test_odd_names_of_an_md3_to_md2(tmp_path):
    """A frame's fills its field, and MD2's, which is as large, ends with a NUL."""
    (tmp_path / "a.md3").write_bytes(sample("odd_names"))
    line = convert(tmp_path / "a.md3", tmp_path / "b.md2", "format", {})
    assert "names of frames are shortened to 15 bytes: '0123456789abcdef' is now '0123456789abcde'" in line
    assert load(tmp_path / "b.md2")[1].frame_names == ["", "0123456789abcde", "läuft"]
    assert convert(tmp_path / "a.md3", tmp_path / "b.md3", "format", {}).count("shortened") == 0
    assert (tmp_path / "b.md3").read_bytes() == sample("odd_names")


# -- words, and the command line


def test_what_info_shows_of_a_model(folder):
    found = shown_facts(load_file(Disk().file(folder / "several.md5mesh")))
    lines = table(Path("x.md5mesh"), found)
    assert [" ".join(line.split()) for line in lines[:5]] == [
        "x.md5mesh: MD5MESH, 3 joints",
        "mesh vertices triangles weights shader",
        "arm 13 18 16 models/md5/arm",
        "mesh1 13 18 16 -",
        "nothing 0 0 0 none",
    ]
    assert lines[5:] == ["  origin", "    upper arm", "      hand"]
    json.dumps(found)


def test_what_info_shows_of_an_animation(folder):
    found = shown_facts(load_file(Disk().file(folder / "other.md5anim")))
    lines = table(Path("x.md5anim"), found)
    assert lines[0] == "x.md5anim: MD5ANIM, 5 joints, 4 frames at 24 per second"
    assert lines[1:] == ["  origin", "    upper arm", "      hand", "  prop", "    tip"]
    json.dumps(found)


def test_what_info_shows_of_next_to_nothing(tmp_path):
    (tmp_path / "a.md5mesh").write_bytes(samples_md5.MeshSpec(joints=[], parts=[]).pack())
    found = shown_facts(load_file(Disk().file(tmp_path / "a.md5mesh")))
    assert table(Path("a"), found) == ["a: MD5MESH, 0 joints"]


def test_the_command_line_passes_animations_and_tags_on(folder, monkeypatch, run):
    monkeypatch.chdir(folder)
    motions = ("--anim", "wave.md5anim", "--anim", "nod.md5anim")
    status, out, _ = run("convert", "arm.md5mesh", *motions, "c.md3", "--tags", "hand, origin")
    assert status == 0
    assert out[0].startswith("arm.md5mesh -> c.md3: 1 surface, 2 tags, 7 frames")
    assert [tag.name for tag in load(folder / "c.md3")[1].tags] == ["tag_hand", "tag_origin"]
    status, _, err = run("convert", "arm.md5mesh", "--anim", "other.md5anim", "d.md3")
    assert (status, "does not fit" in err[0]) == (1, True)


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real files is not here")
def test_real_broken_files_are_one_sentence(tmp_path):
    for file in (*corpus(".md5mesh", valid=False), *corpus(".md5anim", valid=False)):
        target = tmp_path / f"x{file.path.suffix}"
        try:
            convert(file.path, target, "format", {})
        except FormatError as error:
            assert "\n" not in str(error)


# -- of another size, with other normals


@pytest.mark.parametrize("target", ["b.md3", "b.md2", "b.mdc", "b.mdl"])
def test_frames_become_larger_with_their_tags_and_keep_normals(folder, target):
    convert(folder / "a.md3", folder / target, "format", {})
    before = load(folder / target)[1]
    convert(folder / "a.md3", folder / target, "format", {}, scale=2.5)
    after = load(folder / target)[1]
    for old, new in zip(before.surfaces, after.surfaces, strict=True):
        np.testing.assert_allclose(new.positions, old.positions * 2.5, atol=0.2)
        assert (np.einsum("fvi,fvi->fv", new.normals, old.normals) > 0.98).all()
    for old, new in zip(before.tags, after.tags, strict=True):
        np.testing.assert_allclose(new.origins, old.origins * 2.5, atol=0.1)
        np.testing.assert_allclose(new.axes, old.axes, atol=1e-3)


def test_bones_that_become_frames_become_larger_with_all_animations_and_tags(folder):
    animations = [folder / "wave.md5anim", folder / "nod.md5anim"]
    for name, more in (("b.md3", {}), ("c.md3", {"scale": 0.5})):
        convert(folder / "arm.md5mesh", folder / name, "format", {}, animations, ["hand"], **more)
    before, after = (load(folder / name)[1] for name in ("b.md3", "c.md3"))
    assert after.frame_names == before.frame_names
    assert [tag.name for tag in after.tags] == ["tag_hand"]
    np.testing.assert_allclose(after.surfaces[0].positions, before.surfaces[0].positions * 0.5, atol=2 * STEP)
    np.testing.assert_allclose(after.tags[0].origins, before.tags[0].origins * 0.5, atol=2 * STEP)


def test_normals_are_smooth_where_that_is_asked_for(folder):
    for name, more in (("b.md3", {}), ("c.md3", {"smooth": True})):
        convert(folder / "a.md3", folder / name, "format", {}, **more)
    as_read, smooth = (load(folder / name)[1].surfaces for name in ("b.md3", "c.md3"))
    for old, new in zip(as_read, smooth, strict=True):
        wanted = smooth_normals(new.positions, new.triangles)
        assert (np.einsum("fvi,fvi->fv", new.normals, wanted) > 0.999).all()
        assert np.array_equal(old.positions, new.positions)
    assert any(not np.array_equal(old.normals, new.normals) for old, new in zip(as_read, smooth, strict=True))


@pytest.mark.parametrize("more", [{"scale": 2.0}, {"smooth": True}])
def test_bones_that_stay_bones_are_left_to_blender(folder, more):
    with pytest.raises(LimitError, match="without Blender only what becomes a model of frames takes another size"):
        convert(folder / "arm.md5mesh", folder / "b.iqm", "format", {}, **more)


@pytest.mark.parametrize(("source", "target"), [("figure.mdm", "b.mds"), ("b.mds", "c.mdm")])
def test_normals_turn_with_the_bone_that_turned_them(tmp_path, source, target):
    """The first weight's, which need not be the heaviest."""
    (tmp_path / "figure.mdm").write_bytes(samples_mdm.figure())
    (tmp_path / "walk.mdx").write_bytes(samples_mdm.walk())
    bones = [tmp_path / "walk.mdx"]
    convert(tmp_path / "figure.mdm", tmp_path / "b.mds", "format", {}, bones)
    convert(tmp_path / source, tmp_path / target, "format", {}, bones if source == "figure.mdm" else ())
    disk = Disk()
    shown: list[Any] = []
    for name, beside in ((source, bones), (target, [tmp_path / "c.mdx"])):
        found: Any = load_file(disk.file(tmp_path / name), [disk.file(path) for path in beside])
        motions = found.animations or [load_animation(found.bones, found.row)]
        shown.append(bake(found.model.nearest(), motions))
    for one, other in zip(shown[0].surfaces, shown[1].surfaces, strict=True):
        np.testing.assert_allclose(other.normals, one.normals, atol=2e-3)
