"""The examples: what their script writes is what lies beside it, and it is what the README promises."""

import struct
import subprocess
import sys
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from examples import lantern, newt, pictures, stilt
from io_idtech_models.formats import VERTEX, by_name, by_suffix, identify
from io_idtech_models.formats.md2 import file as md2
from io_idtech_models.formats.md2 import strips as _glcmds
from io_idtech_models.formats.mdl import file as mdl
from io_idtech_models.game.folders import Disk
from io_idtech_models.game.pictures import pcx
from io_idtech_models.game.search import SearchPath
from io_idtech_models.model.clips import Clip
from io_idtech_models.model.skeletal import mismatch, skin
from io_idtech_models.model.transforms import chain
from tests.samples import PROJECT, SENTINEL, dump, load

EXAMPLES = PROJECT / "examples"
STILT = EXAMPLES / "stilt" / "players" / "stilt" / "tris.md2"
SKINS = ("rust", "moss", "frost")
NEWT = EXAMPLES / "newt" / "models" / "md5" / "newt" / "newt.md5mesh"
MOVES = ("idle", "walk")


@pytest.fixture(scope="module")
def model():
    return load(SENTINEL.read_bytes(), "")


@pytest.fixture(scope="module")
def walker():
    return load(STILT.read_bytes(), "")


def test_the_script_writes_the_files_that_are_here_from_anywhere(tmp_path):
    command = [sys.executable, str(EXAMPLES / "make.py"), str(tmp_path)]
    subprocess.run(command, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    made, here = (
        {p.relative_to(top).as_posix(): p.read_bytes() for p in top.rglob("*") if p.is_file()}
        for top in (tmp_path, EXAMPLES)
    )
    here = {name: data for name, data in here.items() if not name.endswith((".py", ".pyc"))}
    assert made.keys() == here.keys()
    assert not [name for name in made if made[name] != here[name]], "run examples/make.py again"


# -- what holds for all of them


def example_files():
    """Return the bytes of all files of the examples, those in the pack too, by their names."""
    found = {path.relative_to(EXAMPLES).as_posix(): path.read_bytes() for path in EXAMPLES.rglob("*.*")}
    with zipfile.ZipFile(EXAMPLES / lantern.PACK) as pack:
        return found | {name: pack.read(name) for name in pack.namelist()}


FILES = dict(sorted(example_files().items()))
MODELS = [name for name in FILES if by_suffix(Path(name)) is not None]
VERTEX_MODELS = [name for name in MODELS if identify(FILES[name], Path(name)).family is VERTEX]
WARNED = {"bloom/bloom.iqm": {"darkplaces", "redeclipse"}}  # which have less of what it shows


def loaded(name):
    row = identify(FILES[name], Path(name))
    return row, row.unpack(row.read(FILES[name]), "x")


@pytest.mark.parametrize("name", MODELS)
def test_it_comes_back_byte_for_byte(name):
    row, asset = loaded(name)
    assert row.dump(asset.content, None, asset.animations) == FILES[name]


@pytest.mark.parametrize("name", MODELS)
def test_games_accept_it(name):
    row, asset = loaded(name)
    games = [game for game in row.games if game != "quake3map"]  # where nothing moves
    said = {game for game in games if row.check(asset.content, game)}
    said |= {game for game in games for motion in asset.animations if row.check_motion(motion, game)}
    assert said == WARNED.get(name, set())


@pytest.mark.parametrize("name", VERTEX_MODELS)
def test_every_vertex_is_used_and_normals_look_out_of_their_faces(name):
    for surface in loaded(name)[1].content.surfaces:
        assert np.unique(surface.triangles).tolist() == list(range(surface.num_vertices))
        for points, normals in list(zip(surface.positions, surface.normals, strict=True))[::7]:
            a, b, c = points[surface.triangles].transpose(1, 0, 2)
            out = np.einsum("ti,tci->t", np.cross(b - a, c - a), normals[surface.triangles])
            assert (out > 0).mean() > 0.97, "but for some where a limb is bent"


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".tga")])
def test_a_tga_is_not_packed_and_has_an_alpha_where_it_has_room_for_one(name):
    data = FILES[name]
    width, height, bits, kind = struct.unpack_from("<HHBB", data, 12)
    assert (data[2], kind, len(data)) == (2, bits - 24, 18 + width * height * bits // 8)
    assert width.bit_count() == height.bit_count() == 1, "what every game takes"
    if bits == 32:
        alpha = np.frombuffer(data, np.uint8, offset=18)[3::4]
        assert alpha.min() < 128 <= alpha.max()


def test_a_png_has_its_chunks_and_checksums():
    png, chunks, place = FILES["sentinel/glow.png"], {}, 8
    while place < len(png):
        (size,) = struct.unpack_from(">I", png, place)
        kind, data = png[place + 4 : place + 8], png[place + 8 : place + 8 + size]
        assert struct.unpack_from(">I", png, place + 8 + size) == (zlib.crc32(kind + data),)
        chunks[kind] = data
        place += 12 + size
    assert list(chunks) == [b"IHDR", b"PLTE", b"IDAT", b"IEND"]
    assert struct.unpack(">IIBBBBB", chunks[b"IHDR"]) == (128, 128, 8, 3, 0, 0, 0)
    assert len(zlib.decompress(chunks[b"IDAT"])) == 128 * 129


# -- the Sentinel, an MD3


def test_it_is_small_and_whole(model):
    assert len(SENTINEL.read_bytes()) < 100_000
    assert model.name == "models/sentinel/sentinel.md3"
    assert model.frame_names == [f"hover{i:02d}" for i in range(1, 21)]
    assert [(s.name, s.shaders) for s in model.surfaces] == [
        ("hull", ["models/sentinel/hull.tga"]), ("glow", ["models/sentinel/glow.png"]),
    ]  # fmt: skip
    assert [t.name for t in model.tags] == ["tag_weapon", "tag_eye", "tag_jet"]


def test_it_loops(model):
    for surface in model.surfaces:
        steps = np.abs(np.diff(surface.positions, axis=0, append=surface.positions[:1])).max(axis=(1, 2))
        assert steps[-1] <= steps.max() * 1.05, "no jump from the last frame to the first"
        assert steps.min() > 0, "no frame stands still"
    for tag in model.tags:
        steps = np.abs(np.diff(tag.origins, axis=0, append=tag.origins[:1])).max(axis=1)
        assert steps[-1] <= steps.max() * 1.05
        np.testing.assert_allclose(tag.axes @ np.swapaxes(tag.axes, 1, 2), [np.eye(3)] * 20, atol=1e-4)


# -- the Stilt, an MD2


def test_the_stilt_is_small_and_whole(walker):
    assert len(STILT.read_bytes()) < 100_000
    (surface,) = walker.surfaces
    assert surface.shaders == ["players/stilt/rust.pcx", "players/stilt/moss.pcx"]
    assert walker.texture_size == (256, 128)
    lengths = (("stand", 10), ("run", 6), ("attack", 4), ("pain1", 4), ("pain2", 4), ("death1", 6))
    first, wanted = 0, []
    for name, count in lengths:
        wanted.append(Clip(name, first, count))
        first += count
    assert walker.animations == wanted
    assert walker.frame_names[8:12] == ["stand09", "stand10", "run1", "run2"]
    assert walker.frame_names[20:25] == ["pain101", "pain102", "pain103", "pain104", "pain201"]


def test_the_stilts_texels_and_commands_are_what_quake_ii_draws():
    file = md2.read(STILT.read_bytes())
    assert file.header["ofs_end"] == len(STILT.read_bytes())
    assert ((file.st >= 0) & (file.st < (256, 128))).all(), "no texel lies outside the skin"
    commands = _glcmds.decode(file.glcmds, file.vertices.shape[1])
    drawn = commands.vertices[commands.triangles()]
    assert len(drawn) == len(file.triangles)
    turned = ({tuple(np.roll(t, -t.argmin())) for t in rows} for rows in (drawn, file.triangles["xyz"].astype(int)))
    assert next(turned) == next(turned)
    assert len(commands.vertices) < 1.5 * len(drawn)


def test_the_stilt_stands_on_the_ground_and_faces_forward(walker):
    positions = walker.surfaces[0].positions
    np.testing.assert_allclose(positions[..., 2].min(axis=1), -24, atol=0.05)
    assert 28 < positions[0, :, 2].max() < 40
    rest = positions[0]
    assert rest[:, 0].max() > 18, "the cannon points along +X"
    assert rest[rest[:, 0] > 15][:, 1].max() < -5, "and is at the right"


def test_the_stilt_runs_in_a_loop(walker):
    run = walker.surfaces[0].positions[10:16]
    steps = np.abs(np.diff(run, axis=0, append=run[:1])).max(axis=(1, 2))
    assert steps.max() < 1.5 * steps.min()


def test_the_stilts_skins_are_found_as_games_find_them(walker):
    search = SearchPath(Disk().file(STILT))
    found = [search.find_image(name) for name in walker.surfaces[0].shaders]
    assert [file and file.path for file in found] == [STILT.with_name("rust.pcx"), STILT.with_name("moss.pcx")]
    assert [path.stem for path in search.other_skins()] == sorted(SKINS)


@pytest.mark.parametrize("name", SKINS)
@pytest.mark.parametrize(("ending", "size"), [(".pcx", (128, 256)), ("_i.pcx", (32, 32))])
def test_the_stilts_pictures_are_what_their_names_say(name, ending, size):
    data = STILT.with_name(name + ending).read_bytes()
    assert struct.unpack_from("<4B4H", data) == (10, 5, 1, 8, 0, 0, size[1] - 1, size[0] - 1)
    assert struct.unpack_from("<xBH", data, 64) == (1, size[1])
    assert data[-769] == 0x0C
    picture = stilt.skin_picture() if size == (128, 256) else stilt.icon_picture()
    palette = pictures.to_bytes(stilt.palette(name))
    assert np.array_equal(pcx.decode(data, name), palette[picture])


def test_pcx_runs():
    line = [7] * 64 + [0xC0, 5, 5, 255, 255, 1]
    data = pictures.pcx(np.array([line, line], np.uint8), np.zeros((256, 3)))
    packed = bytes((0xFF, 7, 7, 0xC1, 0xC0, 0xC2, 5, 0xC2, 255, 1))
    assert data[128:-769] == packed * 2, "no run goes on in the next line"
    assert np.array_equal(np.repeat(np.array([line, line]), 3).reshape(2, -1, 3) * 0, pcx.decode(data, "black"))


# -- the Newt, an MD5


@pytest.fixture(scope="module")
def creature():
    return by_name("md5mesh").load(NEWT.read_bytes(), "newt")


@pytest.fixture(scope="module", params=MOVES)
def motion(request):
    return by_name("md5anim").load(NEWT.with_name(f"{request.param}.md5anim").read_bytes(), request.param)


def shown(creature, motion):
    """Return where the skin is in every frame, (F, V, 3)."""
    (mesh,) = creature.meshes
    positions, rotations = chain(motion.parents, motion.positions, motion.rotations)
    return np.array([skin(mesh.weights, *pose) for pose in zip(positions, rotations, strict=True)])


def test_the_newt_is_small_and_whole(creature):
    assert len(NEWT.read_bytes()) < 300_000
    assert creature.skeleton.names[0] == "origin"
    assert len(creature.skeleton.names) == 21
    assert [(m.name, m.shader) for m in creature.meshes] == [("skin", "models/md5/newt/newt")]
    found: Any = SearchPath(Disk().file(NEWT)).find_image("models/md5/newt/newt")
    assert found.path == NEWT.with_suffix(".tga")


def test_the_newts_motions_are_its_own(creature, motion):
    assert mismatch(creature.skeleton, motion) == ""
    assert motion.frame_rate == 24


def test_the_newts_skin_follows_two_joints_where_they_meet(creature):
    weights = creature.meshes[0].weights
    assert weights.counts.max() == 2
    assert 0.3 < (weights.counts == 2).mean() < 0.6
    vertices, entries = weights.entries()
    np.testing.assert_allclose(np.bincount(vertices, weights.factors[entries]), 1, atol=1e-6)


def test_weights_of_the_newt_agree_where_it_is_bound(creature):
    weights, skeleton = creature.meshes[0].weights, creature.skeleton
    whole = skin(weights, skeleton.positions, skeleton.rotations)
    alone = replace(weights, factors=np.ones_like(weights.factors))
    doubled = skin(alone, skeleton.positions, skeleton.rotations)
    assert np.abs(doubled - whole * weights.counts[:, None]).max() < 4e-4


def test_triangles_of_the_newt_have_their_front_outside(creature, motion):
    triangles = creature.meshes[0].triangles
    for points in shown(creature, motion)[::7]:
        a, b, c = (points[triangles[:, i]] for i in range(3))
        assert np.einsum("ti,ti->t", a, np.cross(b, c)).sum() / 6 > 2000, "its volume, in cubic units"


def test_bounds_of_the_newt_are_what_its_skin_reaches(creature, motion):
    points = shown(creature, motion)
    np.testing.assert_allclose(motion.bounds[:, 0], points.min(axis=1), atol=1.1e-4)
    np.testing.assert_allclose(motion.bounds[:, 1], points.max(axis=1), atol=1.1e-4)


def test_the_newt_moves_in_a_loop_on_the_ground(creature, motion):
    points = shown(creature, motion)
    assert np.array_equal(motion.positions[0], motion.positions[-1])
    assert np.array_equal(motion.rotations[0], motion.rotations[-1])
    steps = np.abs(np.diff(points, axis=0)).max(axis=(1, 2))
    assert steps[-1] < 1.05 * steps.max()
    assert steps.min() > 0
    np.testing.assert_allclose(points[..., 2].min(axis=1), 0, atol=0.25)
    if motion.name == "walk":  # a foot on the ground goes back as fast as the newt goes ahead
        foot = motion.joint_names.index("foot_front_left")
        places = chain(motion.parents, motion.positions, motion.rotations)[0][:14, foot]
        np.testing.assert_allclose(np.diff(places[:, 0]), -2 * newt.STEP / 0.6 / 24, atol=0.02)
        assert np.ptp(places[:, 1:], axis=0).max() < 0.1


# -- the Brazier, an MDL


def test_the_brazier_burns_by_itself():
    data = (EXAMPLES / "brazier" / "progs" / "brazier.mdl").read_bytes()
    assert len(data) < 40_000
    file, found = mdl.read(data), load(data, "brazier")
    assert (file.frames.counts.tolist(), file.skins.counts.tolist()) == ([6], [2, 1])
    assert file.frames.times.tolist() == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    assert file.vertices[..., :3].max(axis=(0, 1)).tolist() == [255, 255, 255], "the grid is as small as can be"
    positions = found.surfaces[0].positions
    steps = np.abs(np.diff(positions, axis=0, append=positions[:1])).max(axis=(1, 2))
    assert steps[-1] <= steps.max() * 1.05, "no jump from the last frame to the first"


# -- the Pennant, an MDC, and the Trooper as an MDS


def test_the_pennant_is_compressed_and_small():
    data = (EXAMPLES / "pennant/models/mapobjects/pennant/pennant.mdc").read_bytes()
    file = by_name("mdc").read(data)
    cloth, pole = file.surfaces
    assert len(data) < 40_000
    assert 1 < len(cloth.bases) < 24, "some frames are base frames"
    assert pole.base_frames.tolist() == cloth.base_frames.tolist()
    model = load(data, "")
    model.source = None
    shown = load(dump(model, "mdc"), "")
    for one, other in zip(model.surfaces, shown.surfaces, strict=True):
        assert np.abs(one.positions - other.positions).max() < 0.0251
    tags = load((EXAMPLES / "pennant/models/mapobjects/pennant/pennant.tag").read_bytes(), "").tags
    assert [tag.name for tag in tags] == ["tag_top"]
    np.testing.assert_allclose(tags[0].axes[0], model.tags[0].axes[0], atol=2e-4)


def test_the_trooper_is_the_same_in_one_file():
    folder = EXAMPLES / "trooper/models/players/toys/trooper"
    row = by_name("mds")
    one = row.unpack(row.read((folder / "body.mds").read_bytes()), "body")
    (both,), other = one.animations, by_name("mdx").load((folder / "body.mdx").read_bytes(), "body")
    count = len(other.joint_names)
    assert both.joint_names[:count] == other.joint_names
    np.testing.assert_array_equal(both.rotations[:, :count], other.rotations)
    longest = np.linalg.norm(both.positions[:, 1:count], axis=2).max()
    step = 2 * np.pi / 4095 / np.sqrt(2)  # of the table in which one game looks directions up, at most, to either side
    np.testing.assert_allclose(both.positions[:, :count], other.positions, atol=longest * step)
    parts = by_name("mdm").load((folder / "body.mdm").read_bytes(), "body")
    places, turns = chain(both.parents, both.positions, both.rotations)
    for mesh, wanted in zip(one.model.meshes, parts.meshes, strict=True):
        shown, expected = (skin(each.weights, places[30], turns[30]) for each in (mesh, wanted))
        np.testing.assert_allclose(shown, expected, atol=1e-6)
