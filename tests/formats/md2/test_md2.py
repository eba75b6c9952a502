"""MD2 files: what their fields mean, and what an edit changes; what all formats have in common is in test_formats."""

import struct
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from io_idtech_models.formats.common.normals import decode_direction
from io_idtech_models.formats.md2 import file as md2
from io_idtech_models.formats.md2.strips import decode
from io_idtech_models.model.vertex import Surface, VertexModel
from io_idtech_models.reporting import FormatError, LimitError
from tests import samples_md2
from tests.facts import differences
from tests.samples import corpus_params, dump, load, sample, sample_params, write_read
from tests.samples_md2 import FrameSpec, Md2Spec
from tests.small_files import SAMPLES


def packed(name: str) -> bytes:
    return sample(name, "md2")


def opened(name: str) -> Any:
    return load(packed(name))


# -- what the fields mean


def test_every_field_of_the_smallest_model():
    file = md2.read(packed("minimal"))
    names = (
        "ident",
        "version",
        "skin_width",
        "skin_height",
        "frame_size",
        "num_skins",
        "num_xyz",
        "num_st",
        "num_tris",
    )
    assert [file.header[n] for n in names] == [b"IDP2", 8, 48, 36, 52, 1, 3, 3, 1]
    more = ("num_glcmds", "num_frames", "ofs_skins", "ofs_st", "ofs_tris", "ofs_frames", "ofs_glcmds", "ofs_end")
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


def test_normals_point_out_of_the_faces():
    surface = opened("seams").surfaces[0]
    a, b, c = (surface.positions[1][surface.triangles[:, i]] for i in range(3))
    faces = np.cross(b - a, c - a)
    assert np.einsum("ti,tci->tc", faces, surface.normals[1][surface.triangles]).min() > 0
    assert surface.positions[1].min(axis=0).tolist() == [-5.5, -6.25, -8.0]


def test_texture_coordinates_belong_to_corners():
    surface = opened("seams").surfaces[0]
    assert (surface.num_vertices, surface.uvs.shape) == (8, (12, 3, 2))
    (left, top), (width, height) = (0, 15), (60, 32)
    np.testing.assert_allclose(surface.uvs[0, 2], ((left + 0.5) / width, 1 - (top + 0.5) / height), atol=1e-7)
    kinds = {
        (v, *uv) for v, uv in zip(surface.triangles.ravel().tolist(), surface.uvs.reshape(-1, 2).tolist(), strict=True)
    }
    assert len(kinds) == 24, "each corner of a cube shows three texels"


def test_frame_names_make_animations():
    assert [(a.name, a.first, a.count) for a in opened("animated").animations] == [("stand", 0, 3), ("run", 3, 2)]


def test_names_end_at_the_first_nul_and_are_utf8_or_latin1():
    model = opened("odd_names")
    assert model.frame_names == ["0123456789abcdef", "", "läuft01", "", "Ã¼" * 7 + "xÃ"]
    skins = ["players/male/" + "y" * 51, "models/Körper_ß.pcx", "models/grün.tga", "", ""]
    assert model.surfaces[0].shaders == skins


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


@pytest.mark.parametrize("file", corpus_params(".md2"))
def test_real_files_decode_to_what_the_engine_computes(file):
    expected = file.expected()
    surface = load(file.data).surfaces[0]
    for key, array in expected.items():
        frame, kind = key.split(".")
        found = getattr(surface, kind)[int(frame.removeprefix("frame"))]
        np.testing.assert_array_equal(found, array, err_msg=key)


def test_a_new_model_has_our_own_layout():
    model = opened("odd_layout")
    model.source = None
    data = dump(model, "md2")
    header = md2.read(data).header
    offsets = [int(header[f"ofs_{name}"]) for name in ("skins", "st", "tris", "frames", "glcmds", "end")]
    assert offsets[0] == 68
    assert offsets == sorted(offsets)
    assert offsets[-1] == len(data)


# -- broken files

BROKEN = [  # (sample, offset, what stands there instead, the sentence)
    ("minimal", 0, b"IDP3", "not an MD2 file at byte 0: expected IDP2, found 'IDP3'"),
    ("minimal", 4, 7, "unsupported MD2 version at byte 4: expected 8, found 7"),
    ("minimal", 16, 51, "frames smaller than their vertices at byte 16: expected 52 bytes or more, found 51"),
    ("minimal", 16, -1, "frames smaller than their vertices at byte 16: expected 52 bytes or more, found -1"),
    ("minimal", 16, 2**31 - 1,
     "frames run past the end of the file at byte 156: expected 252 bytes at most, found 2147483803"),
    ("minimal", 20, -1, "negative number of skins: expected 0 or more, found -1"),
    ("minimal", 20, 3, "skins run past the end of the file at byte 68: expected 252 bytes at most, found 260"),
    ("minimal", 24, -1, "negative number of vertices at byte 24: expected 0 or more, found -1"),
    ("minimal", 24, 4, "frames smaller than their vertices at byte 16: expected 56 bytes or more, found 52"),
    ("minimal", 24, 2, "triangle 0 at byte 144: expected indices below 2, found [2, 0, 1]"),
    ("minimal", 28, -1, "negative number of texture coordinates: expected 0 or more, found -1"),
    ("minimal", 28, 100,
     "texture coordinates run past the end of the file at byte 132: expected 252 bytes at most, found 532"),
    ("minimal", 32, 10, "triangles run past the end of the file at byte 144: expected 252 bytes at most, found 264"),
    ("minimal", 32, -9, "negative number of triangles: expected 0 or more, found -9"),
    ("minimal", 36, 12,
     "OpenGL commands run past the end of the file at byte 208: expected 252 bytes at most, found 256"),
    ("minimal", 36, -1, "negative number of OpenGL commands: expected 0 or more, found -1"),
    ("minimal", 40, 0, "model without frames at byte 40: expected 1 or more, found 0"),
    ("minimal", 40, -1, "model without frames at byte 40: expected 1 or more, found -1"),
    ("minimal", 40, 2**31 - 1,
     "frames run past the end of the file at byte 156: expected 252 bytes at most, found 111669149800"),
    ("minimal", 44, -1, "skins run past the end of the file at byte -1: expected 252 bytes at most, found 63"),
    ("minimal", 48, 2**31 - 1,
     "texture coordinates run past the end of the file at byte 2147483647: expected 252 bytes at most, found "
     "2147483659"),
    ("minimal", 52, -(2**31),
     "triangles run past the end of the file at byte -2147483648: expected 252 bytes at most, found -2147483636"),
    ("minimal", 56, 201, "frames run past the end of the file at byte 201: expected 252 bytes at most, found 253"),
    ("minimal", 60, 209,
     "OpenGL commands run past the end of the file at byte 209: expected 252 bytes at most, found 253"),
    ("minimal", 144, b"\3\0\0\0", "triangle 0 at byte 144: expected indices below 3, found [3, 0, 1]"),
    ("animated", 236, b"\xff\xff\0\0", "triangle 1 at byte 232: expected indices below 6, found [2, 3, 65535]"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "offset", "value", "sentence"), BROKEN)
def test_a_broken_field_is_said_in_one_sentence(name, offset, value, sentence):
    data = bytearray(packed(name))
    data[offset : offset + 4] = value if isinstance(value, bytes) else struct.pack("<i", value)
    with pytest.raises(FormatError) as caught:
        md2.read(bytes(data))
    assert str(caught.value) == sentence


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


def test_a_skin_name_that_is_too_long():
    model = opened("animated")
    model.surfaces[0].shaders[1] = "models/" + "s" * 57
    assert refused(model) == f"skin name 'models/{'s' * 57}' has 64 bytes, the format holds 63"
    model.surfaces[0].shaders[1] = "models/" + "s" * 56
    assert write_read(model).surfaces[0].shaders[1] == "models/" + "s" * 56


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


def test_nothing_to_write():
    model = opened("animated")
    model.surfaces = []
    assert refused(model) == "nothing to export: MD2 holds one mesh, and there is none"


# -- F2: an edit changes what it touches and nothing else


def edit(name, change, **options):
    """Return the paths at which a sample's file differs after `change` of its model."""
    model = opened(name)
    change(model)
    return differences(packed(name), dump(model, **options))


def move(frame, vertex, *steps):
    """Return a change that moves a vertex by steps of its frame's box."""

    def change(model):
        model.surfaces[0].positions[frame, vertex] += model.source.surfaces[0].scale[frame] * np.array(
            steps, np.float32
        )

    return change


@pytest.mark.parametrize("name", ["animated", "odd_layout", "padded_frames", "unused", "mirrored", "damaged_commands"])
def test_moving_a_vertex_inside_the_box_changes_its_bytes_and_the_normals_around(name):
    model = opened(name)
    before = md2.read(packed(name))
    vertex = int(before.triangles["xyz"][3, 1])  # in the last triangle alone
    move(1, vertex, 90, 100, 150)(model)
    data = dump(model)
    near = {f"frames[1].normal[{v}]" for v in before.triangles["xyz"][3]}
    changed = differences(packed(name), data)
    assert changed & near, "the surroundings turned"
    assert changed <= near | {f"frames[1].xyz[{vertex}]"}
    moved = md2.read(data).vertices[1, vertex, :3].astype(int) - before.vertices[1, vertex, :3]
    assert moved.tolist() == [90, 100, 150]


@pytest.mark.parametrize("name", ["animated", "unused", "mirrored", "flat", "odd_numbers"])
def test_a_move_below_half_a_step_changes_nothing(name):
    def change(model):
        model.surfaces[0].positions[...] += np.abs(model.source.surfaces[0].scale)[:, None] * np.float32(0.49)

    assert edit(name, change) == set()


@pytest.mark.parametrize("name", ["animated", "unused", "mirrored", "padded_frames"])
def test_moving_a_vertex_outside_gives_that_frame_a_new_box_and_the_closest_bytes(name):
    model = opened(name)
    before = md2.read(packed(name))
    vertex = int(before.triangles["xyz"][3, 1])
    model.surfaces[0].positions[1, vertex] = (-200.0, 300.0, 120.0)
    data = dump(model)
    changed = differences(packed(name), data)
    near = {f"frames[1].normal[{v}]" for v in before.triangles["xyz"][3]}
    assert {"frames[1].scale", "frames[1].translate"} <= changed
    assert changed <= near | {f"frames[1].{n}" for n in ("scale", "translate")} | {
        f"frames[1].xyz[{v}]" for v in range(before.vertices.shape[1])
    }
    wanted, shown = model.surfaces[0].positions[1], load(data).surfaces[0].positions[1]
    size = wanted.max(axis=0) - wanted.min(axis=0)
    np.testing.assert_allclose(md2.read(data).frames["scale"][1], size / 255, rtol=1e-6)
    np.testing.assert_array_equal(md2.read(data).frames["translate"][1], wanted.min(axis=0))
    assert (np.abs(shown - wanted) <= size / 255 * 0.501).all()


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


# -- texture coordinates


def corner_entries(name):
    """Return the entry of each corner of the model, (T, 3)."""
    return md2.read(packed(name)).triangles["st"][:, ::-1]


def shift(entry, *texels, first_only=False):
    """Return a change that moves the corners of a texture coordinate (or one) by texels, to the right and down."""

    def change(model):
        facts_of = model.source.surfaces[0].facts
        corners = np.argwhere(facts_of["st_index"] == entry)
        width, height = model.texture_size
        for triangle, corner in corners[: 1 if first_only else None].tolist():
            model.surfaces[0].uvs[triangle, corner] += (texels[0] / width, -texels[1] / height)

    return change


@pytest.mark.parametrize("name", ["animated", "unused", "outside", "odd_layout", "fine_commands", "seams"])
def test_moving_a_texture_coordinate_changes_its_entry_and_the_commands(name):
    entry = int(corner_entries(name)[1, 1])
    changed = edit(name, shift(entry, 5, 3))
    assert changed == {f"st[{entry}]", "commands"}
    model = opened(name)
    shift(entry, 5, 3)(model)
    before, after = md2.read(packed(name)).st, md2.read(dump(model)).st
    assert (after[entry] - before[entry]).tolist() == [5, 3]


def test_a_move_below_half_a_texel_changes_nothing():
    assert edit("animated", lambda m: m.surfaces[0].uvs.__iadd__(np.float32(0.49 / 64))) == set()


def test_moving_one_corner_of_an_entry_makes_a_new_one():
    entry = 4  # of two corners
    assert (corner_entries("animated") == entry).sum() == 3
    changed = edit("animated", shift(entry, -7, 2, first_only=True))
    assert changed == {"st[6]", "triangles[0].st", "commands"}


def test_a_corner_that_moves_to_another_entrys_texel_shares_it():
    def change(model):
        model.surfaces[0].uvs[0, 0] = model.surfaces[0].uvs[3, 2]

    file = md2.read(packed("animated"))
    assert edit("animated", change) == {"triangles[0].st", "commands"}
    model = opened("animated")
    change(model)
    assert md2.read(dump(model)).triangles["st"][0, 2] == file.triangles["st"][3, 0]


def test_entries_that_nobody_ever_used_stay_and_those_that_lost_their_last_corner_go():
    model = opened("unused")
    surface = model.surfaces[0]
    surface.triangles, surface.uvs = surface.triangles[1:], surface.uvs[1:]
    surface.source_triangles = surface.source_triangles[1:]
    before, after = md2.read(packed("unused")), md2.read(dump(model))
    gone = set(before.triangles["st"][0].tolist()) - set(before.triangles["st"][1:].ravel().tolist())
    kept = [i for i in range(len(before.st)) if i not in gone]
    assert gone and {0, 2, 8} <= set(kept)
    assert after.st.tolist() == before.st[kept].tolist()
    assert after.st[after.triangles["st"]].tolist() == before.st[before.triangles["st"][1:]].tolist()


def test_removing_triangles_where_indices_reach_beyond_the_table_renumbers_nothing():
    model = opened("beyond")
    surface = model.surfaces[0]
    surface.triangles, surface.uvs = surface.triangles[1:], surface.uvs[1:]
    surface.source_triangles = surface.source_triangles[1:]
    before, after = md2.read(packed("beyond")), md2.read(dump(model))
    assert after.triangles.tobytes() == before.triangles[1:].tobytes()
    assert after.st.tobytes() == before.st.tobytes()


def test_a_new_skin_size_moves_texels_along():
    model = opened("animated")
    again = write_read(model, skin_width=256, skin_height=64)
    assert again.texture_size == (256, 64)
    off = np.abs(again.surfaces[0].uvs - model.surfaces[0].uvs) * (256, 64)
    assert off.max() <= 0.5001
    assert dump(opened("animated"), skin_width=64, skin_height=32) == packed("animated")


# -- vertices and triangles


def test_removing_a_triangle_moves_up_the_later_ones():
    model = opened("animated")
    surface = model.surfaces[0]
    keep = [0, 2, 3]
    surface.triangles, surface.uvs = surface.triangles[keep], surface.uvs[keep]
    surface.source_triangles = surface.source_triangles[keep]
    data = dump(model)
    assert differences(packed("animated"), data) == {
        *(f"triangles[{t}].{part}" for t in (1, 2, 3) for part in ("xyz", "st")), "commands",
    }  # fmt: skip
    before, after = md2.read(packed("animated")), md2.read(data)
    assert after.triangles.tobytes() == before.triangles[keep].tobytes()


def test_a_new_triangle_uses_the_entries_that_are_there():
    model = opened("animated")
    surface = model.surfaces[0]
    surface.triangles = np.concatenate((surface.triangles, [(1, 0, 4)])).astype(np.int32)
    uvs = [surface.uvs[0, 1], surface.uvs[0, 2], (0.25, 0.75)]
    surface.uvs = np.concatenate((surface.uvs, [uvs])).astype(np.float32)
    surface.source_triangles = np.append(surface.source_triangles, np.int32(-1))
    assert edit("animated", lambda m: m.surfaces.__setitem__(0, surface)) == {
        "triangles[4].xyz", "triangles[4].st", "st[6]", "commands",
    }  # fmt: skip


def test_a_new_vertex_has_the_closest_of_the_162_normals():
    def change(model):
        surface = model.surfaces[0]
        surface.source_vertices = surface.source_vertices.copy()
        surface.source_vertices[2] = -1
        surface.normals = surface.normals.copy()
        surface.normals[:, 2] = (0.1, 0.05, -2.0)

    changed = edit("animated", change)
    assert changed == {f"frames[{f}].normal[2]" for f in range(5)}
    model = opened("animated")
    change(model)
    code = int(md2.read(dump(model)).vertices[0, 2, 3])
    assert decode_direction(np.array([code], np.uint8))[0].tolist() == [0, 0, -1]


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
    changed = {
        path.split(".", 1)[-1].split("[")[0]
        for path in differences(packed("animated"), dump(opened("animated"), same_box=True))
    }
    assert changed == {"scale", "translate", "xyz"}
    again = dump(load(dump(opened("animated"), same_box=True)), same_box=True)
    assert again == dump(opened("animated"), same_box=True), "once more changes nothing"


# -- OpenGL commands


def drawn(file):
    """Return how often each triangle is drawn: its vertices and the texels there, from its least corner on."""
    commands = decode(file.glcmds, file.vertices.shape[1])
    size = (int(file.header["skin_width"]), int(file.header["skin_height"]))
    texels = [texel_of(uv, size) for uv in commands.coords.tolist()]
    corners = [(vertex, texel) for vertex, texel in zip(commands.vertices.tolist(), texels, strict=True)]
    return Counter(turned([corners[i] for i in row]) for row in commands.triangles().tolist())


def texel_of(uv, size):
    """Return the texel that coordinates lie in; those of its edge count to it."""
    return tuple(int(np.floor(c * n + 1e-3)) for c, n in zip(uv, size, strict=True))


def turned(corners):
    return min(tuple(corners[k:] + corners[:k]) for k in range(3))


def listed(file):
    """Return how often each triangle is in the file's own list, as `drawn` does."""
    texels = [tuple(t) for t in file.st.tolist()]
    rows = zip(file.triangles["xyz"].tolist(), file.triangles["st"].tolist(), strict=True)
    return Counter(turned([(v, texels[s]) for v, s in zip(xyz, st, strict=True)]) for xyz, st in rows)


PLAIN = [sample_params(name, format_name="md2")[0] for name in SAMPLES["md2"] if name not in {"beyond", "no_size"}]


@pytest.mark.parametrize("data", PLAIN)
def test_remade_commands_draw_the_triangles_of_the_list(data):
    again = dump(load(data), remake_commands=True)
    assert differences(data, again) <= {"commands"}
    file = md2.read(again)
    assert drawn(file) == listed(file)


@pytest.mark.parametrize(
    "name", ["minimal", "animated", "seams", "degenerate", "duplicates", "outside", "fine_commands"]
)
def test_commands_of_samples_are_sound(name):
    file = md2.read(packed(name))
    assert drawn(file) == listed(file)


def test_damaged_commands_are_kept_until_something_changes():
    data = packed("damaged_commands")
    assert md2.read(dump(opened("damaged_commands"))).glcmds.tobytes() == md2.read(data).glcmds.tobytes()
    model = opened("damaged_commands")
    model.surfaces[0].uvs[0, 0] += 0.25
    file = md2.read(dump(model))
    assert drawn(file) == listed(file)


@pytest.mark.parametrize("name", ["no_commands", "animated", "fine_commands", "damaged_commands"])
def test_moving_vertices_and_renaming_skins_keeps_the_commands(name):
    def change(model):
        move(1, 4, 3, 4, -9)(model)
        model.surfaces[0].shaders[0] = "models/other.pcx"
        model.frame_names[0] = "jump01"

    assert "commands" not in edit(name, change)


def coords(file):
    """Return the coordinates of the commands by vertex and texel: a set of pairs each."""
    commands = decode(file.glcmds, file.vertices.shape[1])
    return {(v, *uv) for v, uv in zip(commands.vertices.tolist(), commands.coords.tolist(), strict=True)}


def test_remade_commands_have_the_sources_own_coordinates():
    before = md2.read(packed("fine_commands"))
    after = md2.read(dump(opened("fine_commands"), remake_commands=True))
    assert coords(after) == coords(before), "at the texels' corners, one a quarter beside it"


@pytest.mark.parametrize(("name", "middle"), [("fine_commands", 0.0), ("animated", 0.5), ("no_commands", 0.5)])
def test_new_coordinates_name_texels_as_most_of_the_sources_do(name, middle):
    model = opened(name)
    shift(1, 5, -3)(model)
    file = md2.read(dump(model))
    (s, t), width, height = file.st[1].tolist(), 64, 32
    wanted = (np.float32((s + middle) / width), np.float32((t + middle) / height))
    assert {(2, *wanted)} == {row for row in coords(file) if row[0] == 2}


def test_another_skin_size_alone_changes_the_commands():
    spec = samples_md2.minimal()
    spec.st = [(0, 0), (3, 1), (1, 5)]
    data = spec.pack()
    again = dump(load(data), skin_width=49)
    assert differences(data, again) == {"skin_width", "commands"}, "small texels stay the same"
    assert {round(s * 49 - 0.5, 3) for _, s, _ in coords(md2.read(again))} == {0, 3, 1}


@pytest.mark.parametrize("name", ["no_size", "beyond"])
def test_commands_can_be_made_of_odd_texture_coordinates(name):
    file = md2.read(dump(opened(name), remake_commands=True))
    commands = decode(file.glcmds, 6)
    shown = Counter(turned(row) for row in commands.vertices[commands.triangles()].tolist())
    assert shown == Counter(turned(row) for row in file.triangles["xyz"].tolist())
    assert np.isfinite(commands.coords).all()


def drawn_exactly(file):
    """Return how often each triangle is drawn: its vertices and the coordinates there."""
    commands = decode(file.glcmds, file.vertices.shape[1])
    corners = [(v, tuple(uv)) for v, uv in zip(commands.vertices.tolist(), commands.coords.tolist(), strict=True)]
    return Counter(turned([corners[i] for i in row]) for row in commands.triangles().tolist())


@pytest.mark.parametrize("file", corpus_params(".md2"))
def test_remade_commands_of_real_files(file):
    data = file.data
    again = dump(load(data), remake_commands=True)
    assert differences(data, again) <= {"commands"}
    before, after = md2.read(data), md2.read(again)
    if not len(before.triangles):
        return  # models of nothing, whose commands may have no end
    assert coords(after) <= coords(before)
    old, new = drawn_exactly(before), drawn_exactly(after)
    # Two models have several pairs of coordinates for one vertex and texel: there another of them is drawn.
    gone, come = (sorted((a - b).elements()) for a, b in ((old, new), (new, old)))
    assert len(gone) <= 0.08 * len(before.triangles)
    size = np.array((before.header["skin_width"], before.header["skin_height"]))
    for one, other in zip(gone, come, strict=True):
        assert [v for v, _ in one] == [v for v, _ in other]
        assert (np.abs(np.subtract([uv for _, uv in one], [uv for _, uv in other])) * size).max() < 1


# -- generated files and models

byte, short, index = st.integers(0, 255), st.integers(-32768, 32767), st.integers(0, 65535)
any_int, any_float = st.integers(-(2**31), 2**31 - 1), st.floats(width=32)


names = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=15)


@st.composite
def models(draw):
    frames, count = draw(st.integers(1, 6)), draw(st.integers(0, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    size = draw(st.sampled_from([0.0, 1e-3, 1.0, 900.0]))
    positions = (rng.uniform(-1, 1, (frames, count, 3)) * size + rng.uniform(-9, 9, 3)).astype(np.float32)
    positions[:, :, draw(st.integers(0, 2))] *= draw(st.sampled_from([0.0, 1.0]))
    triangles = rng.integers(0, max(count, 1), (draw(st.integers(0, 30)) if count else 0, 3)).astype(np.int32)
    uvs = (rng.integers(-9, 40, (len(triangles), 3, 2)) / (32, 16)).astype(np.float32)
    normals = rng.normal(size=(frames, count, 3)).astype(np.float32)
    shaders = draw(st.lists(names, max_size=3))
    surface = Surface(draw(names), positions, triangles, uvs, shaders, normals)
    frame_names = [draw(names).encode()[:15].decode(errors="ignore") for _ in range(frames)]
    return VertexModel("thing", frame_names, [surface], [], texture_size=(32, 16))
