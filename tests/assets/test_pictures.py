"""Conversions between formats that hold pictures and those that name them; palettes of games."""

import numpy as np
import pytest

from io_idtech_models.assets.convert import convert
from io_idtech_models.assets.export_request import ExportRequest
from io_idtech_models.assets.load import load
from io_idtech_models.formats import by_name
from io_idtech_models.formats.mdl import file as mdl
from io_idtech_models.game.folders import Disk
from io_idtech_models.game.pictures import tga
from io_idtech_models.game.pictures.tga import encode
from io_idtech_models.model.pictures import quake_palette
from tests.samples import put, sample


def test_pictures_are_written_beside_and_named(tmp_path):
    source = put(tmp_path / "id1/progs/crate.mdl", sample("groups", "mdl"))
    said = convert(Disk().file(source), ExportRequest(source.with_suffix(".md3")))
    assert "with 4 pictures beside it" in said
    model = by_name("md3").load(source.with_suffix(".md3").read_bytes(), "")
    assert model.surfaces[0].shaders == ["progs/crate_0_0", "progs/crate_1", "progs/crate_2_0"]
    pictures = mdl.read(sample("groups", "mdl")).pictures
    for name, numbers in zip(("crate_0_0", "crate_0_1", "crate_1", "crate_2_0"), pictures, strict=True):
        assert (tga.decode((source.parent / f"{name}.tga").read_bytes()) == quake_palette()[numbers]).all()
    other = tmp_path / "out.md3"
    convert(Disk().file(source), ExportRequest(other))
    assert by_name("md3").load(other.read_bytes(), "").surfaces[0].shaders[1] == "crate_1"


def test_there_and_back_are_the_same_pictures(tmp_path):
    source = put(tmp_path / "id1/progs/crate.mdl", sample("animated", "mdl"))
    convert(Disk().file(source), ExportRequest(source.with_suffix(".md3")))
    convert(Disk().file(source.with_suffix(".md3")), ExportRequest(tmp_path / "again.mdl"))
    before, after = (mdl.read(data) for data in (source.read_bytes(), (tmp_path / "again.mdl").read_bytes()))
    assert (quake_palette()[before.pictures] == quake_palette()[after.pictures]).all()


def test_pictures_of_shaders_are_taken(tmp_path):
    colors = np.random.default_rng(4).integers(0, 256, (8, 16, 3)).astype(np.uint8)
    put(tmp_path / "models/animated/body.tga", encode(colors[::-1]))
    source = put(tmp_path / "models/animated/tris.md2", sample("animated", "md2"))
    said = convert(Disk().file(source), ExportRequest(tmp_path / "out.mdl"))
    file = mdl.read((tmp_path / "out.mdl").read_bytes())
    off = ((colors[:, :, None].astype(int) - quake_palette()[:255].astype(int)) ** 2).sum(axis=3)
    assert file.pictures[0].tolist() == off.argmin(axis=2).tolist()
    assert "no picture that can be read: 'models/animated/other.tga'" in said


def test_a_games_own_palette_wins(tmp_path):
    grey = np.repeat(np.arange(256, dtype=np.uint8)[:, None], 3, axis=1)
    put(tmp_path / "mod/gfx/palette.lmp", grey.tobytes())
    source = put(tmp_path / "mod/progs/crate.mdl", sample("animated", "mdl"))
    loaded = load(Disk().file(source))
    assert (loaded.model.palette == grey).all()
    convert(Disk().file(source), ExportRequest(source.with_suffix(".md3")))
    picture = tga.decode((source.parent / "crate_0.tga").read_bytes())
    assert (picture[..., 0] == mdl.read(source.read_bytes()).pictures[0]).all()
    convert(Disk().file(source), ExportRequest(tmp_path / "same.mdl"))
    assert (tmp_path / "same.mdl").read_bytes() == source.read_bytes()


@pytest.mark.parametrize("data", [quake_palette().tobytes(), b"short"])
def test_quakes_palette_is_no_other(tmp_path, data):
    put(tmp_path / "mod/gfx/palette.lmp", data)
    assert load(Disk().file(put(tmp_path / "mod/progs/x.mdl", sample("animated", "mdl")))).model.palette is None


def test_content_counts_where_the_suffix_stays(tmp_path):
    source = put(tmp_path / "laser.mdl", sample("animated", "md3"))
    convert(Disk().file(source), ExportRequest(tmp_path / "out.mdl"))
    assert (tmp_path / "out.mdl").read_bytes() == source.read_bytes()
