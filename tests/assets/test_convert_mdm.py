"""MDM and MDX to other kinds of files and back, without Blender; what the command line says of them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from io_idtech_models.formats import SKELETAL, by_name, rows_of
from io_idtech_models.formats.mdm import file as mdm
from io_idtech_models.formats.mdx import file as mdx
from io_idtech_models.formats.mdx import model as mdx_model
from io_idtech_models.model.bake import bake
from io_idtech_models.model.skeletal import skin
from io_idtech_models.model.transforms import chain, rotate
from tests import samples_md5, samples_mdm
from tests.samples import corpus, load, sample

MDM, MESH = by_name("mdm"), by_name("md5mesh")
STEP = 1 / 64  # of MD3's positions
HALF_STEP = np.pi / 4095  # of the table in which Enemy Territory looks directions up


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in a folder with a figure and its animations."""
    monkeypatch.chdir(tmp_path)
    files = {
        "figure.mdm": samples_mdm.figure(), "walk.mdx": samples_mdm.walk(), "arm.md5mesh": samples_md5.arm(),
        "wave.md5anim": samples_md5.wave(), "nod.md5anim": samples_md5.wave_spec(2).pack(),
        "roots.mdx": samples_mdm.two_roots(),
    }  # fmt: skip
    for name, data in files.items():
        Path(name).write_bytes(data)
    return tmp_path


def model_of(name, bones):
    return MDM.load(Path(name).read_bytes(), "x", {"mdx": Path(bones).read_bytes()})


def poses(path):
    row = by_name(Path(path).suffix[1:])
    animation = row.load(Path(path).read_bytes(), "x")
    return chain(animation.parents, animation.positions, animation.rotations)


# -- to frames


def test_to_frames(folder, run):
    """Against plain arithmetic: positions and tags of the frames that were asked for."""
    status, out, err = run("convert", "figure.mdm", "--anim", "walk.mdx", "--frames", "1-4", "out.md3")
    assert (status, err) == (0, [])
    assert "2 surfaces, 3 tags, 4 frames" in out[0]
    found = load(Path("out.md3").read_bytes())
    spec, bones = samples_mdm.figure_spec(), samples_mdm.MdxSpec()
    for frame in range(4):
        pose = samples_mdm.pose_of(bones, frame + 1)
        for surface, own in zip(found.surfaces, spec.surfaces, strict=True):
            for place, (_, _, weights) in zip(surface.positions[frame], own.verts, strict=True):
                parts = [(w, samples_mdm.from_bone(pose, bone, offset)) for bone, w, offset in weights]
                wanted = [sum(w * p[k] for w, p in parts) for k in range(3)]
                np.testing.assert_allclose(place, wanted, atol=STEP / 2 + 1e-4)
        for tag, head in zip(found.tags, spec.tags, strict=True):
            origin = samples_mdm.from_bone(pose, head.bone, head.offset)
            np.testing.assert_allclose(tag.origins[frame], origin, atol=1e-4)
            rows = np.array(pose[head.bone][0])
            axes = np.array(head.axis).reshape(3, 3) @ rows.T
            np.testing.assert_allclose(tag.axes[frame], axes, atol=1e-5)
    assert [s.name for s in found.surfaces] == ["u_body", "l_legs"]
    np.testing.assert_array_equal(found.surfaces[0].triangles, [tri[::-1] for tri in spec.surfaces[0].tris])


def test_bones_are_found_beside(folder, run):
    (folder / "roots.mdx").unlink()
    status, out, err = run("convert", "figure.mdm", "out.md3")
    assert (status, err) == (0, [])
    assert "2 surfaces, 3 tags" in out[0]


@pytest.mark.skipif(not corpus(".mdm"), reason="the corpus of real files is not here")
def test_a_real_model_to_frames(folder, run, monkeypatch):
    """The corpus's values are of exact sines."""
    monkeypatch.setattr(mdx_model, "KIND", replace(mdx_model.KIND, coarse=False))
    naked, swim = (f for s, n in ((".mdm", "naked"), (".mdx", "swim")) for f in corpus(s) if f.path.stem == n)
    run("convert", str(naked.path), "--anim", str(swim.path), "--frames", "0-40", "out.md3")
    found, expected = load(Path("out.md3").read_bytes()), naked.expected()
    frames = {int(k.split(".")[1][5:]) for k in expected if k.startswith("swim.")} & set(range(41))
    assert frames
    for frame in frames:
        for index, surface in enumerate(found.surfaces):
            wanted = expected[f"swim.frame{frame}.surface{index}.positions"]
            np.testing.assert_allclose(surface.positions[frame], wanted, atol=STEP / 2 + 1e-3)
        for index, tag in enumerate(found.tags):
            np.testing.assert_allclose(tag.origins[frame], expected[f"swim.frame{frame}.tag{index}.origin"], atol=1e-3)


# -- to MD5 and back


def test_md5_to_mdm_and_back(folder, run):
    """One surface's places are the same in all frames, as closely as the game shows directions."""
    Path("nod.md5anim").unlink()
    spec = samples_md5.wave_spec()
    for values in spec.frames:
        values[0] = 16.0  # a bone of one length
    Path("wave.md5anim").write_bytes(spec.pack())
    status, out, err = run("convert", "arm.md5mesh", "--anim", "wave.md5anim", "arm.mdm")
    assert (status, err) == (0, [])
    assert "with 1 file of animations" in out[0]
    assert mdm.read(Path("arm.mdm").read_bytes()).surfaces[0].header["min_lod"] == 13
    assert run("convert", "arm.mdm", "--anim", "arm.mdx", "back.md5mesh")[::2] == (0, [])
    before, after = (MESH.load(Path(n).read_bytes(), "x") for n in ("arm.md5mesh", "back.md5mesh"))
    middle = model_of("arm.mdm", "arm.mdx")
    assert before.skeleton.names == middle.skeleton.names == after.skeleton.names
    for frame in range(5):
        wanted, *others = (
            skin(model.meshes[0].weights, places[frame], turns[frame])
            for model, (places, turns) in (
                (before, poses("wave.md5anim")), (middle, poses("arm.mdx")), (after, poses("arm.md5anim")),
            )
        )  # fmt: skip
        for found in others:
            np.testing.assert_allclose(found, wanted, atol=np.sqrt(2) * 16 * HALF_STEP)
    np.testing.assert_allclose(after.meshes[0].uvs, before.meshes[0].uvs, atol=1e-6)
    np.testing.assert_array_equal(after.meshes[0].triangles, before.meshes[0].triangles)


def test_several_animations_in_one_file(folder, run):
    command = ("convert", "arm.md5mesh", "--anim", "wave.md5anim", "--anim", "nod.md5anim", "arm.mdm")
    assert run(*command)[::2] == (0, [])
    assert len(mdx.read(Path("arm.mdx").read_bytes()).frames) == 7
    rows = [line.split()[:3] for line in Path("arm.aninc").read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row and row[0] != "//"]
    assert rows == [["wave", "0", "5"], ["nod", "5", "2"]]


def test_a_stretched_bone_is_said(folder, run):
    status, (line, *_), _ = run("convert", "arm.md5mesh", "--anim", "wave.md5anim", "arm.mdm")
    assert status == 0
    assert "moves bones against their parents" in line
    assert "'hand' by 2 units off" in line, "from the middle"


def test_mdm_to_md5_shows_the_same(folder, run):
    status, out, err = run("convert", "figure.mdm", "--anim", "walk.mdx", "figure.md5mesh")
    assert (status, err) == (0, [])
    assert "MD5MESH has no tags: left out" in out[0]
    before, after = model_of("figure.mdm", "walk.mdx"), MESH.load(Path("figure.md5mesh").read_bytes(), "x")
    one, other = poses("walk.mdx"), poses("walk.md5anim")
    for frame in range(6):
        for a, b in zip(before.meshes, after.meshes, strict=True):
            places = [skin(m.weights, p[frame], t[frame]) for m, (p, t) in ((a, one), (b, other))]
            np.testing.assert_allclose(places[0], places[1], atol=2e-3)


def test_mdm_to_md5_is_bound_where_its_weights_agree(folder, run):
    """MD5 says in which pose meshes are bound: here not in the animation's first frame, where weights disagree."""
    bones = samples_mdm.MdxSpec(frames=samples_mdm.moving_frames(4)[1:])
    Path("run.mdx").write_bytes(bones.pack())
    assert run("convert", "figure.mdm", "--anim", "run.mdx", "figure.md5mesh")[::2] == (0, [])
    found = MESH.load(Path("figure.md5mesh").read_bytes(), "x")
    first = poses("run.mdx")
    assert disagreement(found, first[0][0], first[1][0]) > 0.5
    assert disagreement(found, found.skeleton.positions, found.skeleton.rotations) < 0.1


def disagreement(model, places, turns):
    """Return how far the weights of a vertex at worst put it from where it is shown."""
    worst = 0.0
    for mesh in model.meshes:
        table = mesh.weights
        owners, entries = table.entries()
        joints = table.joints[entries]
        named = rotate(turns[joints], table.offsets[entries]) + places[joints]
        worst = max(worst, float(np.linalg.norm(named - skin(table, places, turns)[owners], axis=1).max()))
    return worst


# -- and its own


def test_mdm_to_mdm_is_the_same_file(folder, run):
    assert run("convert", "figure.mdm", "--anim", "walk.mdx", "copy.mdm")[::2] == (0, [])
    assert Path("copy.mdm").read_bytes() == samples_mdm.figure()
    assert Path("copy.mdx").read_bytes() == samples_mdm.walk()


def test_info_and_check(folder, run):
    status, out, _ = run("info", "figure.mdm")
    assert status == 0
    for said in ("Bip01 Spine", "tag_weapon", "u_body", "0.5"):
        assert any(said in line for line in out)
    assert run("check", "figure.mdm")[0] == 0
    spec = samples_mdm.figure_spec()
    spec.surfaces[0].refs = [0]
    Path("bad.mdm").write_bytes(spec.pack())
    status, out, err = run("check", "bad.mdm", "--game", "et")
    assert status != 0
    assert any("bone 1 moves vertices, but is no bone reference" in line for line in out + err)


@pytest.mark.parametrize("bones", ["broken.mdx", "few.mdx"])
def test_bones_that_do_not_do(folder, run, bones):
    few = samples_mdm.MdxSpec(bones=samples_mdm.BONES[:3], frames=samples_mdm.moving_frames(2, 3))
    Path("broken.mdx").write_bytes(samples_mdm.walk()[:300])
    Path("few.mdx").write_bytes(few.pack())
    status, out, (said, *_) = run("convert", "figure.mdm", "--anim", bones, "out.md3")
    assert (status != 0, out) == (True, [])
    assert bones in said
    assert not Path("out.md3").exists()


def test_normals_go_along(folder, run):
    run("convert", "figure.mdm", "--anim", "walk.mdx", "out.md3")
    found, model = load(Path("out.md3").read_bytes()), model_of("figure.mdm", "walk.mdx")
    _, turns = poses("walk.mdx")
    for surface, mesh in zip(found.surfaces, model.meshes, strict=True):
        wanted = rotate(turns[2][mesh.weights.first_joints()], mesh.normals)
        cosines = (surface.normals[2] * wanted).sum(axis=1) / np.linalg.norm(wanted, axis=1)
        cosines /= np.linalg.norm(surface.normals[2], axis=1)
        assert cosines.min() > np.cos(np.radians(2))


@pytest.mark.parametrize("bones", [True, False])
def test_a_file_is_read_once(folder, run, monkeypatch, bones):
    for path in folder.glob("*.mdx"):
        if path.name != "walk.mdx" or not bones:
            path.unlink()
    called: list[str] = []
    for module in (mdm, mdx):

        def read(data, module=module, read=module.read):
            called.append(module.__name__.split(".")[-2])
            return read(data)

        monkeypatch.setattr(module, "read", read)
    assert run("info", "figure.mdm")[0] == 0
    assert sorted(called) == (["mdm", "mdx"] if bones else ["mdm"])


def test_normals_beyond_all_become_numbers():
    """Found by fuzzing: turned by a bone they overflowed."""
    player = by_name("mds").load(sample("figure", "mds"), "x")
    player.meshes[0].normals[0] = 3e38
    with np.errstate(over="raise"):
        normals = bake(player, []).surfaces[0].normals
    assert normals is not None
    assert np.isfinite(normals).all()


@pytest.mark.parametrize("row", rows_of(SKELETAL), ids=lambda row: row.name)
def test_fewer_vertices_from_afar_are_said_to_be_lost_where_no_file_says_them(row):
    model = by_name("mdm").load(samples_mdm.figure(), "figure", {"mdx": samples_mdm.walk()})
    for mesh in model.meshes:
        mesh.min_lod = mesh.num_vertices
    sentence = f"{row.name.upper()} can't say which vertices go from afar: all are drawn"
    assert sentence not in row.lost(model), "all vertices are always drawn"
    model.meshes[0].min_lod -= 1
    assert (sentence in row.lost(model)) == (row.name not in {"mdm", "mds"})
