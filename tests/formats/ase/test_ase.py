"""What is special about ASE: its text, which stays but for what an edit touched, and what engines make of it."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from io_idtech_models.formats import by_name
from io_idtech_models.formats.ase.file import Material, read
from io_idtech_models.formats.ase.materials import placed, plain, shader_of, unplaced
from io_idtech_models.formats.common.static import decode_normals, encode_normals
from io_idtech_models.reporting import FormatError
from tests import samples_ase
from tests.samples import load
from tests.samples_ase import CORNERS, FACES, MaterialSpec, MeshSpec, colored, pack, pyramid, several

ROW = by_name("ase")


def changed_lines(before, after):
    """Return the lines that differ between texts of as many lines."""
    old, new = before.splitlines(), after.splitlines()
    assert len(old) == len(new)
    return [b.strip() for a, b in zip(old, new, strict=True) if a != b]


def test_a_moved_point_changes_its_row_and_the_normals_of_its_faces():
    model = load(pyramid())
    surface = model.surfaces[0]
    positions = surface.positions.copy()
    positions[0, (positions[0] == CORNERS[4]).all(axis=1), 2] += 2
    surface.positions = positions
    changed = changed_lines(pyramid(), ROW.dump(model))
    assert [line for line in changed if line.startswith(b"*MESH_VERTEX ")] == [
        b"*MESH_VERTEX    4\t0.0000\t0.5\t11.1250"
    ]
    assert {line.split()[0] for line in changed} == {b"*MESH_VERTEX", b"*MESH_FACENORMAL", b"*MESH_VERTEXNORMAL"}
    faces = [int(line.split()[1]) for line in changed if line.startswith(b"*MESH_FACENORMAL")]
    assert faces == [2, 3, 4, 5]
    assert np.array_equal(load(ROW.dump(model)).surfaces[0].positions, positions)


def test_of_what_is_no_ase_file_a_few_letters_are_shown():
    with pytest.raises(FormatError, match=r"found 'x+'$") as caught:
        read(b"x" * 5000)
    assert len(str(caught.value)) < 200


def test_a_moved_coordinate_changes_one_number():
    model = load(samples_ase.moved_texture())
    surface = model.surfaces[0]
    before = surface.uvs.copy()
    material = read(samples_ase.moved_texture()).materials[1]
    corner = placed(material, np.array(samples_ase.TVERTS)[5:6, :2])[0]
    shown = placed(material, np.array([[2.5, 3.0]]))[0]
    which = (surface.uvs == corner).all(axis=1)
    surface.uvs[which] = shown
    assert which.sum() == 1
    text = ROW.dump(model)
    (line,) = changed_lines(samples_ase.moved_texture(), text)
    assert [round(float(word), 5) for word in line.split()[2:]] == [2.5, 3.0, 0.0]
    assert np.abs(load(text).surfaces[0].uvs - np.where(which[:, None], shown, before)).max() < 1e-6


def test_names_and_materials_change_their_words():
    model = load(pyramid())
    model.surfaces[0].name, model.surfaces[0].shaders = "other one", ["textures/new"]
    text = ROW.dump(model)
    assert text.count(b'*NODE_NAME "other one"') == 2
    assert b"*MATERIAL_COUNT 2" in text and b'*BITMAP "//base/textures/new"' in text and b"*MATERIAL_REF 1" in text
    assert b'*BITMAP "\\\\base\\textures\\stone.tga"' in text
    again = load(text)
    assert (again.surfaces[0].name, again.surfaces[0].shaders) == ("other one", ["textures/new"])


def test_an_object_without_a_material_gets_one():
    data = pack([MaterialSpec()], [MeshSpec("a", CORNERS, FACES, ref=None)]).replace(b'"a"', b"a!")
    model = load(data)
    model.surfaces[0].shaders = ["textures/new"]
    text = ROW.dump(model)
    assert text.endswith(data.splitlines(keepends=True)[-2] + b"\t*MATERIAL_REF 1\n}\n")
    assert [(s.name, s.shaders) for s in load(text).surfaces] == [("a!", ["textures/new"])]


def test_faces_that_go_write_the_mesh_anew_and_nothing_else():
    model = load(pyramid())
    surface = model.surfaces[0]
    surface.triangles, surface.source_triangles = surface.triangles[1:], surface.source_triangles[1:]
    text = ROW.dump(model)
    head, tail = pyramid().split(b"\t*MESH {")[0], pyramid().split(b"\t*PROP_")[1]
    assert text.startswith(head) and text.endswith(tail)
    again = load(text).surfaces[0]
    assert len(again.triangles) == 5
    for name in ("positions", "normals"):
        old, new = getattr(surface, name)[0][surface.triangles], getattr(again, name)[0][again.triangles]
        assert np.abs(old - new).max() < 1e-6


def test_an_object_that_goes_takes_its_block_along():
    model = load(several())
    assert [s.name for s in model.surfaces] == ["many", "many_1", "bare", "", "none", "bare"]
    assert [s.shaders for s in model.surfaces[:4]] == [
        ["textures/iron"], ["textures/wood"], ["textures/plain"], ["textures/wood"],
    ]  # fmt: skip
    del model.surfaces[2]
    text = ROW.dump(model)
    start = several().index(b'*GEOMOBJECT {\n\t*NODE_NAME "bare"')
    assert text == several()[:start] + several()[several().index(b"*LIGHTOBJECT") :]


def test_a_part_that_goes_makes_objects_of_the_others():
    model = load(several())
    del model.surfaces[0]
    text = ROW.dump(model)
    again = load(text)
    assert [s.name for s in again.surfaces] == ["bare", "", "none", "bare", "many_1"]
    assert again.surfaces[-1].shaders == ["textures/wood"]
    assert len(again.surfaces[-1].triangles) == 3


def test_an_added_surface_is_an_object_behind_all():
    model, other = load(pyramid()), load(several())
    added = other.surfaces[3]
    added.source_index, added.source_vertices, added.source_triangles = -1, None, None
    model.surfaces.append(added)
    text = ROW.dump(model)
    start = pyramid().index(b"*GEOMOBJECT")
    assert pyramid()[start:] in text
    assert load(text).surfaces[1].shaders == ["textures/wood"]


def test_colors_are_those_that_faces_name():
    data = colored()
    surface = load(data).surfaces[0]
    assert ROW.dump(load(data)) == data
    tip = surface.colors[(surface.positions[0] == CORNERS[4]).all(axis=1)]
    assert {tuple(color) for color in tip.tolist()} == {(1, 0, 0, 1)}
    assert {tuple(color) for color in surface.colors[surface.triangles[0]].tolist()} == {(0, 0, 1, 1)}
    assert load(pyramid()).surfaces[0].colors is None


def test_a_painted_colour_changes_its_row(caplog):
    model = load(colored())
    surface = model.surfaces[0]
    surface.colors = np.rint(surface.colors * 255).astype(np.float32) / np.float32(255)
    assert ROW.dump(model) == colored()  # nearer than Blender can tell is the same
    surface.colors[(surface.positions[0] == CORNERS[4]).all(axis=1)] = (1, 1, 0, 0.5)
    assert changed_lines(colored(), ROW.dump(model)) == [b"*MESH_VERTCOL 1\t1.0000\t1.0000\t0.0000"]
    assert caplog.messages == ["ASE holds no opacity of colours of vertices: left out of 'pyramid'"]


def test_colors_come_along_where_a_mesh_is_written_anew():
    model = load(colored())
    surface = model.surfaces[0]
    surface.triangles, surface.source_triangles = surface.triangles[1:], surface.source_triangles[1:]
    surface.colors = np.rint(surface.colors * 255).astype(np.float32) / np.float32(255)
    again = load(ROW.dump(model)).surfaces[0]
    assert np.abs(again.colors[again.triangles] - load(colored()).surfaces[0].colors[surface.triangles]).max() < 1e-6
    model = load(pyramid())
    model.surfaces[0].colors = np.full((model.surfaces[0].num_vertices, 4), (0.2, 0.4, 0.6, 1.0), np.float32)
    again = load(ROW.dump(model)).surfaces[0]
    assert np.abs(again.colors - np.array((0.2, 0.4, 0.6, 1.0))).max() < 1e-6


def test_colors_that_are_lost_are_said(caplog):
    model = load(several())
    surface = model.surfaces[3]
    surface.triangles, surface.source_triangles = surface.triangles[1:], surface.source_triangles[1:]
    surface.colors = None
    ROW.dump(model)
    assert caplog.messages == ["'' is written anew, without its colors of vertices"]


def test_a_mesh_without_normals_is_smooth():
    surface = load(several()).surfaces[2]
    places = surface.positions[0]
    tip = surface.normals[0][(places == CORNERS[4]).all(axis=1)]
    assert len(tip) == 1 and tip[0, 2] > 0.9
    assert np.abs(np.linalg.norm(surface.normals[0], axis=1) - 1).max() < 1e-5


def test_normals_are_turned_by_their_node_in_both_directions():
    model = load(samples_ase.moved_texture())
    code = model.source.surfaces[0].codes[0, :, 3]
    first = decode_normals(code)[model.surfaces[0].triangles[0, 0]]
    rows = np.array([[0, 2, 0], [-2, 0, 0], [0, 0, 0.5]], float)
    wanted = np.array(samples_ase.SIDES[0]) @ rows
    assert np.abs(first - wanted / np.linalg.norm(wanted)).max() < 1e-5


@pytest.mark.parametrize(
    ("name", "bitmap", "shown"),
    [
        ("a", "\\\\base\\textures\\x\\y.tga", "textures/x/y"),
        ("a", "//base/models/x.y/z", "models/x.y/z"),
        ("a", "C:\\Doom 3\\Base\\textures\\x.TGA", "textures/x"),
        ("a", "/games/q3/Textures/x.jpg", "Textures/x"),
        ("a", "plain.png", "plain"),
        ("a", "//base/mods/textures/x.tga", "mods/textures/x"),
        ("textures\\of\\q3map", "", "textures/of/q3map"),
    ],
)
def test_materials_are_named_as_games_look_for_them(name, bitmap, shown):
    assert shader_of(Material(name, bitmap)) == shown


def test_texture_coordinates_are_placed_as_doom_3_does():
    material = Material(u_offset=0.5, v_offset=-0.25, u_tiling=2.0, v_tiling=-1.5, angle=0.7)
    tverts = np.array([[0.25, 0.75], [3.0, -2.0]])
    u, v = tverts[:, 0] * 2 - 0.5, (1 - tverts[:, 1]) * -1.5 - 0.25
    s, t = u * np.cos(0.7) + v * np.sin(0.7), v * np.cos(0.7) - u * np.sin(0.7)
    shown = placed(material, tverts)
    assert np.abs(shown - np.stack((s, 1 - t), axis=1)).max() < 1e-6
    assert np.abs(unplaced(material, shown) - tverts).max() < 1e-6
    material.u_tiling = 0.0
    assert unplaced(material, shown) is None


def test_a_material_that_places_nothing_leaves_coordinates_where_they_are():
    bare = re.sub(rb"\t*\*UVW_\w+ [^\n]*\n", b"", samples_ase.moved_texture())
    (surface,), tverts = load(bare).surfaces, np.array(samples_ase.TVERTS)[:, :2]
    assert {tuple(uv) for uv in surface.uvs.reshape(-1, 2)} <= {tuple(uv) for uv in tverts.astype(np.float32)}


def test_a_second_shader_of_a_part_changes_nothing():
    model = load(several())
    for surface in model.surfaces:
        surface.shaders = [*surface.shaders, "textures/further"]
    assert ROW.dump(model) == several()


def test_normals_keep_their_codes():
    codes = encode_normals(np.random.default_rng(5).normal(size=(1000, 3)))
    assert np.array_equal(encode_normals(decode_normals(codes)), codes)
    near = decode_normals(codes) * np.float32(3)
    assert np.array_equal(encode_normals(near, codes), codes)
    assert decode_normals(encode_normals(np.zeros((1, 3)))).tolist() == [[0, 0, 1]]


# -- broken files


def swapped(old, new, data=None):
    data = pyramid() if data is None else data
    assert old in data
    return data.replace(old, new, 1)


def test_faces_that_end_at_the_word_for_a_part_say_none():
    data = several()
    cut = data[: data.index(b"*MESH_MTLID") + len(b"*MESH_MTLID")] + b"\n}\n}\n}\n"
    (mesh,) = [each.mesh for each in read(re.sub(rb"NUMFACES \d+", b"NUMFACES 1", cut, count=1)).objects]
    assert mesh is not None and mesh.part_ids.tolist() == [0]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (pack([], [MeshSpec("a", CORNERS, [(0, 1, 7)])]), "a face names a vertex that the mesh lacks"),
        (swapped(b"CFACE 4 0 0 0", b"CFACE 4 0 1 0", several()), "a face names a colour that the mesh lacks"),
        (swapped(b"8.0000\t-6.25", b"8." + b"0" * 47 + b"\t-6.25"), "line 30: expected rows '*MESH_VERTEX'"),
        (swapped(b"*MESH_TVERT 0", b"*MESH_TVERTEX 0"), "line 45: expected '*MESH_TVERT', found '*MESH_TVERTEX'"),
        (swapped(b" B:    3 C:    2 AB: 1 BC: 0 CA: 1\t *MESH_SMOOTHING 1,3\t *MESH_MTLID 0", b" B:    3"),
         "damaged '*MESH_FACE' at line 37: expected three vertices"),
        (swapped(b"\t\t\t*MESH_TFACE 5\t3\t0\t4\n", b"", swapped(b"NUMTVFACES 6", b"NUMTVFACES 5")),
         "*MESH_NUMTVFACES is not *MESH_NUMFACES at line"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(data, text):
    with pytest.raises(FormatError) as caught:
        ROW.load(data, "x")
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_material_that_is_missing_is_said(caplog):
    data = pack([MaterialSpec()], [MeshSpec("a", CORNERS, FACES, ref=3)])
    model = load(data)
    assert caplog.messages == ["'a' names material 3, of 1: games refuse it or crash"]
    assert model.surfaces[0].shaders == []
    assert ROW.dump(model) == data


def test_an_object_without_its_transform_is_said(caplog):
    data = pyramid()
    load(data)
    assert caplog.messages == []
    start, end = data.index(b"\t*NODE_TM"), data.index(b"\t*MESH {")
    model = load(data[:start] + data[end:])
    assert caplog.messages == ["'pyramid' has no *NODE_TM before its *MESH: Doom 3 lights it wrongly"]
    assert ROW.dump(model) == data[:start] + data[end:]
    load(data[:start] + data[end:].replace(b"\t*PROP_CASTSHADOW", data[start:end] + b"\t*PROP_CASTSHADOW", 1))
    assert len(caplog.messages) == 2, "late is as bad"


def test_more_than_65535_points():
    count = 70_000
    points = np.stack((np.arange(count), np.arange(count) % 7, np.arange(count) % 5), axis=1).tolist()
    faces = [(i, i + 1, i + 2) for i in range(0, count - 2, 3)]
    model = load(pack([MaterialSpec()], [MeshSpec("large", points, faces)]))
    assert model.surfaces[0].num_vertices == 3 * len(faces)
    model.source = None
    assert load(ROW.dump(model)).surfaces[0].num_vertices == 3 * len(faces)


# -- a .blend from a stranger


@pytest.mark.parametrize("fact", ["head", "layout_between", "layout_lengths"])
def test_facts_of_a_stranger_are_no_text(fact, caplog):
    model = load(pyramid())
    model.source.facts[fact] = np.zeros(3, np.float32)
    again = load(ROW.dump(model))
    assert len(again.surfaces[0].triangles) == 6
    assert caplog.messages or fact != "head"


def test_a_text_that_says_something_else_is_not_used(caplog):
    model = load(pyramid())
    facts = model.source.surfaces[0].facts
    facts["block"] = np.frombuffer(facts["block"].tobytes().replace(b"-6.25", b"-7.25"), np.uint8)
    text = ROW.dump(model)
    assert caplog.messages == ["the facts of the source of 'sample' are damaged: written without them"]
    assert np.array_equal(load(text).surfaces[0].positions, model.surfaces[0].positions)


def test_a_layout_that_is_missing_leaves_head_and_objects():
    model = load(several())
    for name in ("layout_between", "layout_lengths"):
        del model.source.facts[name]
    again = load(ROW.dump(model))
    assert [s.name for s in again.surfaces] == [s.name for s in model.surfaces]


def test_what_nobody_knows_is_kept_whatever_its_bytes():
    data = swapped(b"*MESH_NUMFACES", b"*MESH_NUM\xb3")
    assert ROW.dump(load(data)) == data


def test_a_comment_is_a_line_whatever_is_in_it():
    before = pyramid()
    head, end, rest = before.partition(b"\n")
    data = head + end + b"*COMMENT a { *GEOMOBJECT\n" + rest
    assert [s.num_vertices for s in load(data).surfaces] == [s.num_vertices for s in load(before).surfaces]
    assert ROW.dump(load(data)) == data


def test_names_have_no_nul():
    data = swapped(b'*NODE_NAME "pyramid"', b'*NODE_NAME "pyr\0amid"')
    data = swapped(b"stone.tga", b"st\0one.tga", data)
    model = load(swapped(b'\t\t*NODE_NAME "pyramid"', b"", data))
    assert (model.surfaces[0].name, model.surfaces[0].shaders) == ("pyramid", ["textures/stone"])


def test_longest_numbers_and_blocks_that_nobody_knows():
    """A number of 48 characters is read; braces that follow no keyword, and an object's animation, are passed over."""
    data = swapped(b"8.0000\t-6.25", b"8." + b"0" * 46 + b"\t-6.25")
    data = swapped(b"*GEOMOBJECT", b"{\n\t*A { *B 1 }\n}\n*GEOMOBJECT", data)
    data = swapped(b"\t*MESH {", b'\t*TM_ANIMATION {\n\t\t*NODE_NAME "x"\n\t}\n\t*MESH {', data)
    assert load(data).surfaces[0].positions.tolist() == load(pyramid()).surfaces[0].positions.tolist()


def test_a_material_that_moves_its_texture_in_any_way_is_not_plain():
    assert plain(Material())
    for field in ("u_offset", "v_offset", "u_tiling", "v_tiling", "angle"):
        moved: dict[str, Any] = {field: 0.5}
        assert not plain(replace(Material(), **moved)), field


def test_a_file_without_a_list_of_materials_gets_one_before_its_first_object():
    data = several()
    start, end = data.index(b"*MATERIAL_LIST"), data.index(b"*GEOMOBJECT")
    data = re.sub(rb"\t\*MATERIAL_REF \d+\n", b"", data[:start] + data[end:])
    model = load(data)
    for surface in model.surfaces:
        surface.shaders = ["textures/new"]
    written = ROW.dump(model)
    assert written.count(b"*MATERIAL_LIST") == 1
    assert written.index(b"*MATERIAL_LIST") < written.index(b"*GEOMOBJECT")
    assert {surface.shaders[0] for surface in load(written).surfaces} == {"textures/new"}
