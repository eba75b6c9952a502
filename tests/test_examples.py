"""The example: what its script writes is what lies beside it, and it is what the README promises."""

import importlib.util
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest

from io_idtech_models.formats import md3
from tests.samples import PROJECT, SENTINEL, dump, load, write_read

FOLDER = SENTINEL.parent
NAMES = ("sentinel.md3", "hull.tga", "glow.png")


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("make", PROJECT / "examples" / "make.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["make"] = module  # dataclasses look there
    spec.loader.exec_module(module)
    yield module
    del sys.modules["make"]


@pytest.fixture(scope="module")
def model():
    return load(SENTINEL.read_bytes(), name="")


def test_the_script_writes_the_files_that_are_here(script):
    made = script.sentinel()
    assert tuple(made) == NAMES
    for name, data in made.items():
        assert data == (FOLDER / name).read_bytes(), f"run examples/make.py again: {name} differs"


def test_the_script_runs_from_anywhere(tmp_path):
    command = [sys.executable, str(PROJECT / "examples" / "make.py"), str(tmp_path)]
    subprocess.run(command, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    assert sorted(p.name for p in (tmp_path / "sentinel").iterdir()) == sorted(NAMES)
    assert (tmp_path / "sentinel" / "sentinel.md3").read_bytes() == SENTINEL.read_bytes()


def test_it_is_small_and_whole(model):
    assert len(SENTINEL.read_bytes()) < 100_000
    assert model.name == "models/sentinel/sentinel.md3"
    assert model.frame_names == [f"hover{i:02d}" for i in range(1, 21)]
    assert [(s.name, s.shaders) for s in model.surfaces] == [
        ("hull", ["models/sentinel/hull.tga"]), ("glow", ["models/sentinel/glow.png"]),
    ]  # fmt: skip
    assert [t.name for t in model.tags] == ["tag_weapon", "tag_eye", "tag_jet"]


def test_it_comes_back_byte_for_byte(model):
    assert dump(model) == SENTINEL.read_bytes()
    model = load(SENTINEL.read_bytes())
    model.source = None
    again = write_read(model)
    for one, other in zip(again.surfaces, model.surfaces, strict=True):
        assert one.positions.tobytes() == other.positions.tobytes()


def test_engines_accept_it():
    file = md3.read(SENTINEL.read_bytes())
    for surface in file.surfaces:
        assert surface.vertices.shape[1] < 1000
        assert len(surface.triangles) < 2000
        assert np.unique(surface.triangles).tolist() == list(range(surface.vertices.shape[1])), "every vertex is used"


def test_it_loops(model):
    for surface in model.surfaces:
        steps = np.abs(np.diff(surface.positions, axis=0, append=surface.positions[:1])).max(axis=(1, 2))
        assert steps[-1] <= steps.max() * 1.05, "no jump from the last frame to the first"
        assert steps.min() > 0, "no frame stands still"
    for tag in model.tags:
        steps = np.abs(np.diff(tag.origins, axis=0, append=tag.origins[:1])).max(axis=1)
        assert steps[-1] <= steps.max() * 1.05
        np.testing.assert_allclose(
            tag.axes @ np.swapaxes(tag.axes, 1, 2), np.broadcast_to(np.eye(3), (20, 3, 3)), atol=1e-4
        )


def test_normals_look_out_of_their_faces_and_some_edges_are_hard(model):
    for surface in model.surfaces:
        a, b, c = (surface.positions[7][surface.triangles[:, i]] for i in range(3))
        faces = np.cross(b - a, c - a)
        shown = surface.normals[7][surface.triangles]
        assert (np.einsum("ti,tci->tc", faces, shown) > 0).all()
    hull = model.surfaces[0]
    places = np.unique(hull.positions[0], axis=0, return_inverse=True)[1].reshape(-1)
    assert places.max() + 1 < 0.6 * len(places), "vertices are split at seams and hard edges"


def test_the_pictures_are_what_their_names_say():
    tga = (FOLDER / "hull.tga").read_bytes()
    assert tga[2] == 2, "true colour, not packed"
    assert struct.unpack_from("<HHB", tga, 12) == (128, 128, 24)
    assert len(tga) == 18 + 128 * 128 * 3
    png = (FOLDER / "glow.png").read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, place = {}, 8
    while place < len(png):
        (size,) = struct.unpack_from(">I", png, place)
        kind, data = png[place + 4 : place + 8], png[place + 8 : place + 8 + size]
        assert struct.unpack_from(">I", png, place + 8 + size) == (zlib.crc32(kind + data),)
        chunks[kind] = data
        place += 12 + size
    assert list(chunks) == [b"IHDR", b"PLTE", b"IDAT", b"IEND"]
    assert struct.unpack(">IIBBBBB", chunks[b"IHDR"]) == (128, 128, 8, 3, 0, 0, 0)
    assert len(zlib.decompress(chunks[b"IDAT"])) == 128 * 129
