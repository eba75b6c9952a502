"""MD2 files: what their fields mean, and what an edit changes; what all formats have in common is in test_formats."""

import struct
from typing import Any

import numpy as np
import pytest

from io_idtech_models.formats.common.normals import decode_direction
from io_idtech_models.formats.md2 import file as md2
from io_idtech_models.model.vertex import Surface, VertexModel
from io_idtech_models.reporting import FormatError, LimitError
from tests.facts import differences
from tests.formats.md2.edited import edit, opened, packed
from tests.samples import corpus_params, dump, load, sample_params, write_read
from tests.samples_md2 import FrameSpec, Md2Spec

# -- what the fields mean


def test_every_field_of_the_smallest_model():
    file = md2.read(packed("minimal"))
    counts = ["frame_size", "num_skins", "num_xyz", "num_st", "num_tris"]
    assert [file.header[n] for n in ("ident", "version", "skin_width", "skin_height")] == [b"IDP2", 8, 48, 36]
    assert [file.header[n] for n in counts] == [52, 1, 3, 3, 1]
    more = ["num_glcmds", "num_frames", "ofs_skins", "ofs_st", "ofs_tris", "ofs_frames", "ofs_glcmds", "ofs_end"]
    assert [file.header[n] for n in more] == [11, 1, 68, 132, 144, 156, 208, 252]
    assert file.skins.tolist() == [b"models/minimal/skin.pcx"]
    assert file.st.tolist() == [[3, 29], [41, 13], [22, 8]]
    assert file.triangles["xyz"].tolist() == [[2, 0, 1]]
    assert file.triangles["st"].tolist() == [[1, 2, 0]]
    assert file.frames["name"].tolist() == [b"stand01"]
    assert file.frames["scale"].tolist() == [[0.5, 0.125, 0.0625]]
    assert file.frames["translate"].tolist() == [[-3.5, 11.25, 97.75]]
    assert file.vertices.tolist() == [[[7, 131, 250, 5], [17, 90, 33, 77], [201, 64, 120, 161]]]
    assert file.glcmds[0] == 3
    assert (file.padding.shape, len(file.glcmds)) == ((1, 0), 11)


def test_model_of_the_smallest_file():
    model = load(packed("minimal"), "thing")
    assert (model.name, model.frame_names, model.num_frames, model.tags) == ("thing", ["stand01"], 1, [])
    assert model.texture_size == (48, 36)
    (surface,) = model.surfaces
    assert (surface.name, surface.shaders) == ("thing", ["models/minimal/skin.pcx"])
    assert surface.positions[0].tolist() == [
        [7 * 0.5 - 3.5, 131 / 8 + 11.25, 250 / 16 + 97.75],
        [17 * 0.5 - 3.5, 90 / 8 + 11.25, 33 / 16 + 97.75],
        [201 * 0.5 - 3.5, 64 / 8 + 11.25, 120 / 16 + 97.75],
    ]
    assert surface.triangles.tolist() == [[1, 0, 2]], "counter-clockwise"
    wanted = [[3.5 / 48, 1 - 29.5 / 36], [22.5 / 48, 1 - 8.5 / 36], [41.5 / 48, 1 - 13.5 / 36]]
    np.testing.assert_allclose(surface.uvs, [wanted], atol=1e-7, err_msg="the texel's middle, from the bottom")
    assert surface.normals[0].tolist() == decode_direction(np.array([5, 77, 161], np.uint8)).tolist()
    assert surface.normals[0, 0].tolist() == [0, 0, 1]
    assert surface.source_vertices.tolist() == [0, 1, 2]
    assert surface.source_triangles.tolist() == [0]


def test_texture_coordinates_belong_to_corners():
    surface = opened("seams").surfaces[0]
    assert (surface.num_vertices, surface.uvs.shape) == (8, (12, 3, 2))
    (left, top), (width, height) = (0, 15), (60, 32)
    np.testing.assert_allclose(surface.uvs[0, 2], ((left + 0.5) / width, 1 - (top + 0.5) / height), atol=1e-7)
    corners = zip(surface.triangles.ravel().tolist(), surface.uvs.reshape(-1, 2).tolist(), strict=True)
    assert len({(v, *uv) for v, uv in corners}) == 24, "each corner of a cube shows three texels"


def test_normals_beyond_the_table_point_up():
    assert opened("odd_numbers").surfaces[0].normals[0].tolist() == [[0, 0, 1]] * 6


def test_indices_beyond_the_texture_coordinates_show_the_origin(caplog):
    surface = opened("beyond").surfaces[0]
    assert caplog.messages == ["the file lacks texture coordinates of 2 triangles"]
    assert surface.uvs[2, 1].tolist() == [0, 0]
    assert surface.uvs[3].tolist() == [[0, 0]] * 3
    assert surface.uvs[2, 0].tolist() != [0, 0]


def test_a_skin_without_a_size_counts_as_one_texel():
    model = opened("no_size")
    assert model.texture_size == (0, 0)
    assert model.surfaces[0].uvs[0, 2].tolist() == [31.5, 1 - 2.5]


# -- broken files


@pytest.mark.parametrize("file", corpus_params(".md2", valid=False))
def test_what_is_wrong_with_real_files(file):
    with pytest.raises(FormatError) as caught:
        md2.read(file.data)
    sentences = {
        "invalid.md2": "not an MD2 file at byte 0: expected IDP2, found 'xV4\\x12'",
        "malformed_zero_numvertices.md2": "triangle 0 at byte 68: expected indices below 0, found [0, 0, 0]",
    }
    assert str(caught.value) == sentences[file.path.name]


def test_lumps_that_share_their_bytes_do_not_decode_to_a_huge_model():
    data = bytearray(Md2Spec([FrameSpec(b"many", [(1, 2, 3, 4)] * 65536)], [], []).pack())
    size = len(data)
    for count, offset, width in ((20, 44, 64), (28, 48, 4), (32, 52, 12), (36, 60, 4)):  # all begin at 0
        struct.pack_into("<i", data, count, size // width)
        struct.pack_into("<i", data, offset, 0)
    with pytest.raises(FormatError, match=f"lumps overlap: expected {size} bytes in all, found"):
        md2.read(bytes(data))


# -- limits


def refused(model, **options) -> str:
    with pytest.raises(LimitError) as caught:
        dump(model, "md2", **options)
    return str(caught.value)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_position_that_is_no_number_names_object_vertex_and_frame(value):
    model = opened("animated")
    model.surfaces[0].positions[2, 3, 1] = value
    assert refused(model) == "'sample' has a vertex (3) in frame 2 whose place is no number"


def test_any_place_fits():
    model = opened("animated")
    model.surfaces[0].positions[2, 3, 1] = 1e6
    assert write_read(model).surfaces[0].positions[2, 3, 1] == pytest.approx(1e6)


@pytest.mark.parametrize("uv", [(600.0, 0.5), (0.5, -1100.0), (np.nan, 0.5), (np.inf, 0.5)])
def test_a_texture_coordinate_out_of_reach(uv):
    model = opened("animated")
    model.surfaces[0].uvs[2, 1] = uv
    u, v = (f"{x:g}" for x in uv)
    assert refused(model) == f"'sample' has the texture coordinate ({u}, {v}): MD2 holds texels -32768 to 32767"


def test_texture_coordinates_at_the_ends_of_their_range():
    model = opened("animated")
    model.surfaces[0].uvs[2, :2] = ((32767.5 / 64, 1 + 32767.5 / 32), (-32767.5 / 64, 1 - 32767.5 / 32))
    file = md2.read(dump(model))
    assert file.st[file.triangles["st"][2][[2, 1]]].tolist() == [[32767, -32768], [-32768, 32767]]


def plain(vertices, triangles=(), frames=1, **others) -> Any:
    """Return a model of one surface that comes from no file."""
    triangles = np.array(triangles, np.int32).reshape(-1, 3)
    vertices = np.array(vertices, np.float32).reshape(1, -1, 3)
    uvs = others.pop("uvs", np.zeros((len(triangles), 3, 2), np.float32))
    surface = Surface("thing", np.repeat(vertices, frames, axis=0), triangles, uvs, ["skin"], **others)
    return VertexModel("thing", [f"f{i}" for i in range(frames)], [surface], [])


def test_more_vertices_than_indices():
    assert refused(plain(np.zeros((65537, 3)))) == "'thing' has 65537 vertices, MD2 holds 65536"
    again = load(dump(plain(np.zeros((65536, 3)), [(0, 1, 65535)]), "md2"))
    assert again.surfaces[0].triangles.tolist() == [[0, 1, 65535]]


def test_more_texture_coordinates_than_indices():
    count = 21846  # triangles; three texels each are 65538
    texels = np.stack(np.divmod(np.arange(3 * count), 300), axis=1).reshape(count, 3, 2)
    uvs = ((texels + 0.5) / 300 * (1, -1) + (0, 1)).astype(np.float32)
    model = plain(np.eye(3), np.tile((0, 1, 2), (count, 1)), uvs=uvs)
    model.texture_size = (300, 300)
    assert refused(model) == "'thing' has 65538 texture coordinates, MD2 holds 65536"


# -- F2: an edit changes what it touches and nothing else


@pytest.mark.parametrize("name", ["animated", "unused", "mirrored", "flat", "odd_numbers"])
def test_a_move_below_half_a_step_changes_nothing(name):
    def change(model):
        model.surfaces[0].positions[...] += np.abs(model.source.surfaces[0].scale)[:, None] * np.float32(0.49)

    assert edit(name, change) == set()


def test_renaming_a_skin_keeps_the_others():
    assert edit("animated", lambda m: m.surfaces[0].shaders.__setitem__(1, "models/new")) == {"skins[1]"}
    assert edit("many_skins", lambda m: m.surfaces[0].shaders.__setitem__(35, "models/new")) == {"skins[35]"}


def test_skins_in_another_order_take_their_bytes_along():
    model = opened("odd_names")
    model.surfaces[0].shaders.reverse()
    data = dump(model)
    assert differences(packed("odd_names"), data) == {f"skins[{i}]" for i in (0, 1, 3, 4)}
    assert md2.read(data).skins.tobytes() == md2.read(packed("odd_names")).skins[::-1].tobytes()


def test_adding_and_removing_skins():
    assert edit("no_skins", lambda m: m.surfaces[0].shaders.append("models/first")) == {"skins[0]"}
    assert edit("animated", lambda m: m.surfaces[0].shaders.clear()) == {"skins[0]", "skins[1]"}
    assert edit("short_header", lambda m: m.surfaces[0].shaders.append("models/second")) == {"skins[1]"}
    assert edit("short_header", lambda m: m.surfaces[0].shaders.clear()) == {"skins[0]"}


# -- options


@pytest.mark.parametrize("data", sample_params(format_name="md2"))
def test_one_box_for_all_frames(data):
    model = load(data)
    shown = model.surfaces[0].positions.copy()
    file = md2.read(dump(model, same_box=True))
    for field in ("scale", "translate") if shown.size else ():
        assert (file.frames[field] == file.frames[field][0]).all()
    if shown.size and np.abs(shown).max() < 1e6:
        step = (shown.max(axis=(0, 1)) - shown.min(axis=(0, 1))) / 255
        off = np.abs(md2_positions(file) - shown)
        assert (off <= step * 0.501 + 1e-5).all()
        still = (shown == shown[0]).all(axis=(0, 2))
        assert (file.vertices[:, still, :3] == file.vertices[:1, still, :3]).all()


def md2_positions(file):
    """Return positions as renderers compute them, in float64."""
    scale, translate = (file.frames[n].astype(np.float64)[:, None] for n in ("scale", "translate"))
    return file.vertices[..., :3] * scale + translate


def test_one_box_keeps_normals_names_and_all_else():
    once = dump(opened("animated"), same_box=True)
    changed = {path.split(".", 1)[-1].split("[")[0] for path in differences(packed("animated"), once)}
    assert changed == {"scale", "translate", "xyz"}
    assert dump(load(once), same_box=True) == once, "once more changes nothing"
