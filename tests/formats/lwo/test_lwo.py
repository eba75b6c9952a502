"""What is special about LWO: chunks that stay but for what an edit touched, and what engines make of them."""

import struct

import numpy as np
import pytest

from io_idtech_models.formats import by_name
from io_idtech_models.formats.lwo.file import read
from io_idtech_models.formats.lwo.normals import Faces, corner_normals, triangles_of
from io_idtech_models.formats.lwo.numbers import SHORT_END, CutError, packed_polygons, packed_rows, polygons_at, rows_at
from io_idtech_models.formats.lwo.parts import parts_of, shader_of
from io_idtech_models.reporting import FormatError, collected_warnings
from tests.samples import load, sample
from tests.samples_lwo import (
    CORNERS,
    FACES,
    UVS,
    LayerSpec,
    chunk,
    form,
    old_object,
    pyramid,
    several,
    smooth,
    surf,
    tags,
)

ROW = by_name("lwo")


def said_of(function, *arguments, **options):
    """Return what a function returns, and what it warned of."""
    with collected_warnings() as said:
        found = function(*arguments, **options)
    return found, said


def anew(surface):
    """Have no file know a surface."""
    surface.source_index, surface.source_vertices, surface.source_triangles = -1, None, None


def dropped(surface, count=1):
    """Take the last triangles from a surface."""
    surface.triangles, surface.source_triangles = surface.triangles[:-count], surface.source_triangles[:-count]
    surface.further_uvs = {name: uvs[:-count] for name, uvs in surface.further_uvs.items()}


def chunks(data):
    """Return what each chunk holds, in order."""
    found = read(data)
    return [(each.ident, data[each.data : each.end]) for each in found.chunks]


def changed(before, after):
    """Return the chunks that differ between files of the same ones."""
    old, new = chunks(before), chunks(after)
    assert [ident for ident, _ in old] == [ident for ident, _ in new]
    return [ident for (ident, one), (_, other) in zip(old, new, strict=True) if one != other]


def corners(surface, name):
    """Return values of the corners of triangles."""
    values = getattr(surface, name)
    values = values[0] if values.ndim == 3 and name != "uvs" else values
    return values[surface.triangles]


def assert_same(surfaces, others, *names):
    """Assert that surfaces have the same values at their corners, in order."""
    for one, other in zip(surfaces, others, strict=True):
        for name in names:
            assert np.array_equal(corners(one, name), corners(other, name)), name


def test_triangles_are_counter_clockwise_and_z_is_up():
    surface = load(pyramid()).surfaces[0]
    a, b, c = corners(surface, "positions").transpose(1, 0, 2)
    middle = surface.positions[0].mean(axis=0)
    assert (np.einsum("ij,ij->i", np.cross(b - a, c - a), a + b + c - 3 * middle) > 0).all()
    assert surface.positions[0, :, 2].max() == np.float32(9.125)


def test_texture_coordinates_are_the_last_rows_that_name_a_corner():
    surface = load(smooth()).surfaces[0]
    tip = np.flatnonzero(surface.positions[0, :, 2] == 9.125)
    assert {tuple(uv) for uv in surface.uvs[tip].tolist()} == {UVS[4]}
    faces = corners(load(pyramid()).surfaces[0], "uvs").tolist()
    assert [[2, 3] in face for face in faces] == [n == 4 for n in range(6)]


# -- normals


def test_a_smoothing_angle_makes_edges_hard_or_soft():
    # 0.7 radians: less than between any two sides.
    flat = load(pyramid()).surfaces[0]
    normals = corners(flat, "normals")
    assert (np.ptp(normals, axis=1) < 1e-6).all()
    assert flat.num_vertices == 4 + 4 * 3
    # Half a turn, but the base is a group of its own.
    soft = load(smooth()).surfaces[0]
    tip = soft.normals[0][soft.positions[0, :, 2] == 9.125]
    sides = np.array([corners(flat, "normals")[face, 0] for face in range(2, 6)])
    assert len(tip) == 1
    assert np.allclose(tip[0], sides.sum(axis=0) / np.linalg.norm(sides.sum(axis=0)), atol=1e-5)
    assert (soft.normals[0][:, 2] == -1).sum() == 4


def normals_by_loops(points, faces):
    """Return the normals as the engines' own loops make them."""
    flat, starts = [], np.cumsum(faces.counts) - faces.counts
    for start, count in zip(starts, faces.counts, strict=True):
        a, b, c = (points[faces.corners[start + i]] for i in (0, 1, count - 1))
        normal = np.cross(b - a, c - a)
        flat.append(normal / max(np.linalg.norm(normal), 1e-30))
    found = []
    for polygon, (start, count) in enumerate(zip(starts, faces.counts, strict=True)):
        for corner in range(start, start + count):
            total = flat[polygon].copy()
            for other in range(len(flat)):
                at = faces.corners[starts[other] : starts[other] + faces.counts[other]]
                if faces.angles[polygon] <= 0 or other == polygon or faces.groups[other] != faces.groups[polygon]:
                    continue
                angle = np.arccos(np.clip(flat[polygon] @ flat[other], -1, 1))
                if faces.corners[corner] in at and angle <= faces.angles[polygon] + 1e-7:
                    total += flat[other]
            found.append(total / max(np.linalg.norm(total), 1e-30))
    return np.array(found)


@pytest.mark.parametrize("angle", [0.0, 0.3, 1.2, 3.14159])
def test_normals_are_those_of_the_engines_loops(angle):
    random = np.random.default_rng(3)
    points = random.normal(size=(40, 3)).astype(np.float32)
    polygons = [random.choice(40, size, replace=False) for size in random.integers(3, 6, 25)]
    counts = np.array([len(polygon) for polygon in polygons])
    angles = np.where(random.random(25) < 0.7, angle, 0.5)
    faces = Faces(counts, np.concatenate(polygons), angles, random.integers(0, 2, 25))
    assert np.allclose(corner_normals(points, faces), normals_by_loops(points.astype(float), faces), atol=1e-6)


def test_sides_of_a_leaf_that_share_points_keep_theirs():
    layer = LayerSpec(CORNERS[:3], [(0, 1, 2), (0, 2, 1)], [0, 0])
    model = load(form(tags("leaf"), layer.pack(), surf("leaf", 3.1415925)))
    for _ in range(2):  # as it is read, and when it is made anew
        (leaf,) = model.surfaces
        assert sorted(corners(leaf, "normals")[:, 0, 2].tolist()) == [-1, 1]
        anew(leaf)
        model.source = None
        model = load(ROW.dump(model))


def test_very_many_polygons_at_a_point_take_no_square_of_time():
    count = 40 * 256  # as many as are summed in one go, and more
    turn = np.arange(count + 1) / count * 6
    points = np.concatenate((np.zeros((1, 3)), np.stack((np.cos(turn), turn * 0, np.sin(turn)), axis=1)))
    polygons = np.stack((np.zeros(count, int), np.arange(count) + 1, np.arange(count) + 2), axis=1)
    faces = Faces(np.full(count, 3), polygons.ravel(), np.full(count, 1.0), np.zeros(count, int))
    assert np.allclose(np.abs(corner_normals(points.astype(np.float32), faces)), (0, 1, 0))


# -- polygons of more corners


def test_polygons_of_more_corners_are_cut_and_said_and_kept():
    (model, said) = said_of(load, several())
    assert said == [
        "games read the first layer alone: kept, but not shown: 'far'",
        "kept, but not shown: 3 polygons that are curves, bones, or of fewer than three corners",
    ]
    names = [(s.name, s.shaders, len(s.triangles)) for s in model.surfaces]
    assert names == [
        ("left part", ["textures/wood"], 2 + 2), ("left part", ["textures/b\xe9e"], 2), ("right", ["textures/wood"], 2),
        ("right", ["textures/iron"], 2), ("textures/wood", ["textures/wood"], 3),
    ]  # fmt: skip
    assert [part.tag for part in parts_of(read(several()))] == [2, 2, 3, 3, -1]
    assert ROW.problems(model) == ["has 4 polygons of more than three corners, which games leave out"]


def test_layers_without_a_name_are_called_by_their_number():
    layers = [LayerSpec(CORNERS, FACES, [0] * 6).pack(number) for number in range(3)]
    said = said_of(load, form(tags("a"), *layers, surf("a")))[1]
    assert said == ["games read the first layer alone: kept, but not shown: 'layer 2', 'layer 3'"]


def area(points, triangles):
    a, b, c = points[triangles].transpose(1, 0, 2)
    return 0.5 * np.cross(b - a, c - a)


@pytest.mark.parametrize(
    "outline",
    [
        [(0, 0), (0, 8), (8, 8), (3, 5)],
        [(3, 5), (0, 0), (0, 8), (8, 8)],
        [(0, 0), (0, 8), *((x, y) for x in range(1, 7) for y in ((2, 8), (8, 2))[x % 2]), (8, 8), (8, 0)],
        [(0, 0), (4, 1), (8, 0), (7, 4), (8, 8), (4, 7), (0, 8), (1, 4)],
        [(0, 0), (8, 0), (8, 8), (4, 4), (0, 8)],  # a corner on the side of what would be an ear
    ],
)
def test_a_polygon_with_dents_is_cut_inside_its_outline(outline):
    for way, size in ((1, 1.0), (-1, 1.0), (1, 2**-6)):
        points = size * np.array([(x, 0, y) for x, y in outline][::way], np.float32)
        faces = Faces(np.array([len(points)]), np.arange(len(points)), np.zeros(1), np.zeros(1, int))
        triangles, owners = triangles_of(points, faces, np.zeros(1, np.int64))
        areas = area(points.astype(float), triangles)[:, 1]
        x, y = size * np.array(outline, float).T
        whole = abs(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2
        assert len(triangles) == len(points) - 2 and not owners.any()
        assert (areas > 0).all() or (areas < 0).all()
        assert abs(areas.sum()) == pytest.approx(whole)


def test_triangulate_writes_triangles_and_leaves_the_others():
    model = load(several())
    text, _ = said_of(ROW.dump, model, {"triangulate": True})
    layer = read(text).layers[0]
    assert set(layer.counts[: len(read(several()).layers[0].lists[0].heads)].tolist()) == {1, 2, 3}
    again, _ = said_of(load, text)
    assert ROW.problems(again) == []
    key = lambda surface: (surface.name, surface.shaders)  # noqa: E731
    for old, new in zip(sorted(model.surfaces, key=key), sorted(again.surfaces, key=key), strict=True):
        assert np.array_equal(
            np.sort(corners(old, "positions").reshape(-1, 9), axis=0),
            np.sort(corners(new, "positions").reshape(-1, 9), axis=0),
        )
    # The last POLS, of a curve, and the second layer are the same.
    old, new = (text[text.index(b"POLS\0\0\0\x0cCURV") : text.rindex(b"SURF\0\0\0")] for text in (several(), text))
    assert new == old


# -- edits


def test_a_moved_point_changes_its_floats_and_the_box():
    model = load(pyramid())
    positions = model.surfaces[0].positions.copy()
    positions[0, positions[0, :, 2] == 9.125, 2] += 2
    model.surfaces[0].positions = positions
    text = ROW.dump(model)
    assert changed(pyramid(), text) == [b"PNTS", b"BBOX"]
    assert sum(one != other for one, other in zip(text, pyramid(), strict=True)) <= 8
    assert load(text).surfaces[0].positions[0, :, 2].max() == np.float32(11.125)
    assert struct.unpack(">6f", dict(chunks(text))[b"BBOX"])[4] == 11.125


def test_what_a_box_has_behind_its_corners_stays():
    behind = [(ident, data + b"more" if ident == b"BBOX" else data) for ident, data in chunks(pyramid())]
    model = load(form(*(chunk(*each) for each in behind)))
    model.surfaces[0].positions = model.surfaces[0].positions + 1
    assert dict(chunks(ROW.dump(model)))[b"BBOX"][24:] == b"more"


@pytest.mark.parametrize(
    ("was", "becomes", "chunk"),
    [((2, 3), (4, 5), b"VMAD"), ((0.5, 0.5), (0.25, 0.75), b"VMAP")],
    ids=["corner", "point"],
)
def test_a_moved_coordinate_changes_its_row(was, becomes, chunk):
    model = load(pyramid())
    uvs = model.surfaces[0].uvs
    uvs[(uvs == was).all(axis=1)] = becomes
    assert changed(pyramid(), ROW.dump(model)) == [chunk]


def test_a_new_material_renames_the_surface_that_nobody_else_wears():
    model = load(pyramid())
    model.surfaces[0].shaders = ["textures/new"]
    text = ROW.dump(model)
    surfs = [data for ident, data in chunks(text) if ident == b"SURF"]
    assert len(surfs) == 1 and surfs[0].startswith(b"textures/new\0\0\0\0COLR")
    assert b"XYZ \0\3odd" in surfs[0]
    again = load(text)
    assert (again.surfaces[0].name, again.surfaces[0].shaders) == ("textures/stone", ["textures/new"])
    assert_same(again.surfaces, load(pyramid()).surfaces, "normals")


def test_a_name_is_a_part():
    model = load(pyramid())
    model.surfaces[0].name = "roof"
    text = ROW.dump(model)
    assert [ident for ident, _ in chunks(text) if ident == b"PTAG"] == [b"PTAG"] * 2
    again = load(text)
    assert (again.surfaces[0].name, again.surfaces[0].shaders) == ("roof", ["textures/stone"])
    assert ROW.dump(again) == text
    model = load(several())
    model.surfaces[2].name = "wing"
    again = load(ROW.dump(model))
    assert [s.name for s in again.surfaces] == ["left part", "left part", "wing", "right", "textures/wood"]


def test_faces_that_go_leave_all_other_rows():
    model = load(smooth())
    dropped(model.surfaces[0])
    text, said = said_of(ROW.dump, model)
    assert said == ["LWO holds no normals: games make others than are shown of 'textures/smooth' (up to 34 degrees)"]
    old, new = read(smooth()).layers[0], read(text).layers[0]
    assert new.num_polygons == old.num_polygons - 1
    # Colours and the other set of texture coordinates come along, of points and corners.
    assert [(m.kind, m.name, len(m.points)) for m in new.maps if m.polygons is None] == [
        (b"TXUV", b"Light", 5), (b"RGBA", b"Colour", 2), (b"TXUV", b"UV", 5),
    ]  # fmt: skip
    (corner,) = [m for m in new.maps if m.polygons is not None]
    at = new.points[corner.points[0]].tolist()
    assert (corner.kind, at) == (b"RGBA", list(CORNERS[1]))
    assert corner.polygons is not None
    start = 3 * int(corner.polygons[0])
    assert at in new.points[new.corners[start : start + 3]].tolist()
    assert np.array_equal(new.tags_of(b"SMGP", 0), old.tags_of(b"SMGP", 0)[:-1])
    assert_same(load(text).surfaces, model.surfaces, "positions", "uvs")


def test_a_surface_that_goes_takes_its_points_and_its_name():
    model = load(several())
    kept = model.surfaces = [model.surfaces[i] for i in (0, 2, 3, 4)]
    text, said = said_of(ROW.dump, model)
    assert said == ["LWO holds no normals: games make others than are shown of 'left part' (up to 36 degrees)"], (
        "it was smooth across"
    )
    assert b"b\xe9e\0" in dict(chunks(text)[::-1])[b"TAGS"] or b"b\xe9e" in text
    names = [data.split(b"\0")[0] for ident, data in chunks(text) if ident == b"SURF"]
    assert names == [b"textures/iron", b"textures/wood", b"textures/wood"]
    old, new = read(several()).layers[0], read(text).layers[0]
    assert new.num_polygons == old.num_polygons - 2
    assert len(new.points) == len(old.points)  # all are others', too
    assert_same(kept, load(text).surfaces, "positions")
    model = load(several())
    del model.surfaces[2:]
    new = read(ROW.dump(model)).layers[0]
    assert len(new.points) == len(CORNERS) + 3  # those of lines, and the one that nobody had, stay


@pytest.mark.parametrize(("make", "shape"), [(smooth, pyramid), (pyramid, smooth)], ids=["hard", "soft"])
def test_edges_made_by_hand_are_those_of_the_file(make, shape):
    """Hard ones get points of their own, soft ones raise the angle."""
    model, wanted = load(make()), load(shape()).surfaces[0]
    surface = model.surfaces[0]
    for name in ("normals", "triangles", "uvs", "positions"):
        setattr(surface, name, getattr(wanted, name))
    surface.colors, surface.source_vertices = None, np.full(wanted.num_vertices, -1, np.int32)
    surface.own_normals = np.ones(wanted.num_vertices, np.bool_)
    text, said = said_of(ROW.dump, model)
    (again,) = load(text).surfaces
    assert said == []
    assert read(text).surfs[0].smooth == pytest.approx(3.14159)
    assert np.abs(corners(again, "normals") - corners(wanted, "normals")).max() < 1e-4
    assert_same([again], [wanted], "uvs")


# -- colours


def test_colors_are_those_of_the_last_row_else_the_surfaces():
    surface = load(smooth()).surfaces[0]
    places = surface.positions[0]
    tip = surface.colors[places[:, 2] == 9.125]
    assert {tuple(color) for color in tip.tolist()} == {(0, 0, 1, 0.5)}
    first = surface.colors[(places == np.array((-8, -6.5, 1.25), np.float32)).all(axis=1)]
    assert {tuple(color) for color in first.tolist()} == {(1, 0.5, 0.25, 1)}
    second = surface.colors[(places == np.array((8, -6.25, 1.25), np.float32)).all(axis=1)]
    assert {tuple(color) for color in second.tolist()} == {(0.125, 0.5, 0.75, 1), (0.75, 0.5, 0.25, 1)}
    assert load(pyramid()).surfaces[0].colors is None


def test_a_painted_vertex_changes_its_row():
    model = load(smooth())
    surface = model.surfaces[0]
    surface.colors[surface.positions[0, :, 2] == 9.125] = (1, 1, 0, 1)
    text = ROW.dump(model)
    assert changed(smooth(), text) == [b"VMAP"]
    tip = load(text).surfaces[0]
    assert tip.colors[tip.positions[0, :, 2] == 9.125].tolist() == [[1, 1, 0, 1]]
    # Nearer than Blender can tell is the same.
    model = load(smooth())
    model.surfaces[0].colors = np.rint(model.surfaces[0].colors * 255).astype(np.float32) / np.float32(255)
    assert ROW.dump(model) == smooth()


def test_a_vertex_without_a_row_gets_one():
    model = load(pyramid())
    model.surfaces[0].colors = np.full((model.surfaces[0].num_vertices, 4), 0.2, np.float32)
    text = ROW.dump(model)
    (paint,) = [each for each in read(text).layers[0].maps if each.kind == b"RGBA"]
    assert (paint.name, paint.width, len(paint.points)) == (b"Color", 4, len(read(text).layers[0].points))
    (again,) = load(text).surfaces
    assert np.array_equal(again.colors, np.full_like(again.colors, 0.2))
    assert_same([again], model.surfaces, "uvs")


def test_points_that_nobody_has_stay_and_what_only_went_was_drops():
    layer = LayerSpec([(9, 9, 9), *CORNERS], [tuple(p + 1 for p in face) for face in FACES], [0] * 6)
    model = load(form(tags("a"), layer.pack(), surf("a")))
    assert (model.surfaces[0].positions[0] == (9, 9, 9)).all(axis=1).sum() == 0
    assert_same(
        model.surfaces, load(form(tags("a"), LayerSpec(CORNERS, FACES, [0] * 6).pack(), surf("a"))).surfaces, "normals"
    )
    dropped(model.surfaces[0], 4)
    points = read(ROW.dump(model)).layers[0].points.tolist()
    assert points[0] == [9, 9, 9] and list(CORNERS[4]) not in points and len(points) == 5


# -- LWOB


def test_an_old_object_is_smooth_by_a_flag():
    model = load(old_object())
    assert [s.shaders for s in model.surfaces] == [["first"], ["second one"]]
    assert [len(s.triangles) for s in model.surfaces] == [3, 3]
    assert (np.ptp(corners(model.surfaces[1], "normals"), axis=1) < 1e-6).all()
    assert (np.ptp(corners(model.surfaces[0], "normals"), axis=1) > 1e-2).any()


def test_points_of_an_old_object_move_in_place():
    model = load(old_object())
    for surface in model.surfaces:
        positions = surface.positions.copy()
        positions[0, positions[0, :, 2] == 9.125, 2] = 20
        surface.positions = positions
    text, said = said_of(ROW.dump, model)
    assert changed(old_object(), text) == [b"PNTS"]
    (sentence,) = said  # nobody said that normals are to turn along
    assert sentence.startswith("LWO holds no normals: games make others than are shown of 'first' (up to ")


def test_what_another_material_smooths_otherwise_is_said():
    """Though its polygons stay; and of what nobody touched, which shares points with them."""
    model = load(old_object())
    model.surfaces[1].shaders = ["first"]
    sentence = said_of(ROW.dump, model)[1][-1]
    assert sentence.startswith("LWO holds no normals: games make others than are shown of 'first' (up to ")


def test_an_old_object_that_is_edited_becomes_a_new_one():
    model = load(old_object())
    model.surfaces[0].uvs[:] = 0.25
    text, said = said_of(ROW.dump, model)
    assert said[0] == "'sample' is written anew as LWO2: LWOB has no place for what was edited"
    found = read(text)
    assert found.kind == b"LWO2"
    assert [s.name for s in found.surfs] == [b"first", b"second one"]
    assert np.allclose([s.color for s in found.surfs], [(200 / 255, 100 / 255, 50 / 255), (0.78431,) * 3])
    assert_same(model.surfaces, load(text).surfaces, "positions", "uvs")


# -- numbers


def test_indices_have_two_bytes_or_four():
    values = np.array([[0, 5], [SHORT_END - 1, SHORT_END], [70_000, 1], [(1 << 24) - 1, 2]])
    raw = packed_rows(values, np.arange(4)[:, None])
    assert len(raw) == 2 * 2 + 4 + 2 + 4 + 4 + 2 + 4 + 4 + 2 + 4 + 4
    found, places = rows_at(raw, 0, len(raw), 2, 1)
    assert np.array_equal(found, values)
    assert [struct.unpack_from(">f", raw, place)[0] for place in places] == [0, 1, 2, 3]
    for size in range(1, len(raw)):
        if size not in {8, 18, 28}:
            with pytest.raises(CutError):
                rows_at(raw, 0, size, 2, 1)


def test_polygons_of_any_size_come_back():
    random = np.random.default_rng(1)
    counts = random.choice((0, 1, 3, 3, 3, 4, 8, 9, 30, 1023), 200)
    heads = counts | np.where(np.arange(200) % 7, 0, 0xFC00)  # flags
    corners_of = random.choice((5, SHORT_END - 1, SHORT_END, 1 << 20), int(counts.sum()))
    raw = packed_polygons(heads, counts, corners_of)
    found = polygons_at(b"xxx" + raw, 3, 3 + len(raw))
    assert [each.tolist() for each in found] == [heads.tolist(), counts.tolist(), corners_of.tolist()]
    for size in (len(raw) - 1, len(raw) - 2, len(raw) // 2 | 1):
        with pytest.raises(CutError):
            polygons_at(raw, 0, size)


def test_more_than_65535_points():
    count = 70_000
    points = np.stack((np.arange(count), np.arange(count) % 7, np.arange(count) % 5), axis=1).tolist()
    polygons = [(i, i + 1, i + 2) for i in range(0, count - 2, 3)]
    uvs: dict[int, tuple[float, ...]] = {i: (i / count, 0.5) for i in range(count)}
    layer = LayerSpec(points, polygons, [0] * len(polygons), {"UV": uvs}, {"UV": {(69_998, len(polygons) - 1): (9, 9)}})
    data = form(tags("large"), layer.pack(), surf("large"))
    model = load(data)
    assert ROW.dump(model) == data
    assert model.surfaces[0].num_vertices == 3 * len(polygons)
    assert [9, 9] in model.surfaces[0].uvs.tolist()
    model.source = None
    assert_same(load(ROW.dump(model)).surfaces, model.surfaces, "positions", "uvs")


@pytest.mark.parametrize(
    ("name", "shader"),
    [(b"textures\\a.tga", "textures/a"), (b"a.b/c", "a.b/c"), (b"a.b.c", "a.b"), (b"\xc3\xa9", "\xe9"), (b"", "")],
)
def test_names_end_before_their_last_dot(name, shader):
    assert shader_of(name) == shader


# -- broken files


def cut(data, size):
    """Return a file whose FORM says that it is as long as it is, without its end."""
    return data[:4] + struct.pack(">I", size - 8) + data[8:size]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (cut(pyramid(), 60), "'LAYR' runs past the end of the file at byte 40: expected 60 bytes at most, found 66"),
        (cut(pyramid(), 45), "the file ends too early at byte 40: expected a chunk, found 5 bytes"),
        (form(chunk(b"PNTS", bytes(11))), "'PNTS' ends within a row at byte 20"),
        (form(chunk(b"TAGS", b"abcd")), "'TAGS' ends within a row at byte 20"),
        (form(chunk(b"PTAG", b"SU")), "'PTAG' ends within a row at byte 20"),
        (form(chunk(b"POLS", b"FA")), "'POLS' ends within a row at byte 20"),
        (form(chunk(b"LAYR", bytes(16))), "'LAYR' ends within a row at byte 20"),
        (form(chunk(b"BBOX", bytes(20))), "'BBOX' ends within a row at byte 20"),
        (form(chunk(b"VMAP", b"TXUV\0\2")), "'VMAP' ends within a row at byte 20"),
        (form(chunk(b"PNTS", bytes(12)), chunk(b"PNTS", bytes(12))), "a second PNTS in a layer, which games mix up"),
        (form(chunk(b"POLS", b"\0\3\0\0"), kind=b"LWOB"), "'POLS' ends within a row at byte 20"),
    ],
)
def test_what_is_wrong_is_said_with_its_byte(data, text):
    with pytest.raises(FormatError) as caught:
        ROW.load(data, "x")
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_without_names_is_shown_and_said():
    layer = LayerSpec(CORNERS, FACES, [0] * 6)
    data = form(layer.pack())
    model, said = said_of(load, data)
    assert said == ["the file names no surface: games crash"]
    assert (model.surfaces[0].name, model.surfaces[0].shaders) == ("", [])
    assert ROW.dump(model) == data
    model.surfaces[0].shaders = ["textures/new"]
    named = ROW.dump(model)
    assert named[12:16] == b"TAGS" and b"SURF" in named, "names come before what is called so"
    assert load(named).surfaces[0].shaders == ["textures/new"]


def test_what_has_no_material_is_called_as_its_object():
    model, said = said_of(ROW.dump, ROW.shape(load(sample("no_shaders"))))
    names = [surface.name for surface in load(sample("no_shaders")).surfaces]
    assert any(
        text.startswith("LWO has no surface without a material: they are called as their objects") for text in said
    )
    assert [surface.shaders for surface in load(model).surfaces] == [[name] for name in names]


# -- a .blend from a stranger


@pytest.mark.parametrize(
    "fact",
    [
        np.zeros(3, np.float32),
        np.zeros(30, np.uint8),
        np.frombuffer(pyramid().replace(struct.pack(">f", 8.5), struct.pack(">f", 7.5)), np.uint8),
    ],
    ids=["no bytes", "no file", "a file that says something else"],
)
def test_facts_of_a_stranger_are_no_file(fact):
    model = load(pyramid())
    model.source.facts["layout_file"] = fact
    text, said = said_of(ROW.dump, model)
    assert said[0] == "the facts of the source of 'sample' are damaged: written without them"
    assert_same(load(text).surfaces, model.surfaces, "positions")


def test_names_with_quotes_and_line_ends_come_back():
    model = load(pyramid())
    model.surfaces[0].name, model.surfaces[0].shaders = 'a "b"\nc', ['textures/"x"']
    for source in (model.source, None):  # in the file, and in a new one
        model.source = source
        (again, *_) = load(ROW.dump(model)).surfaces
        assert (again.name, again.shaders) == ('a "b"\nc', ['textures/"x"'])


def test_a_part_of_a_model_is_written_anew():
    model = load(pyramid())
    model.source.facts.clear()
    text, said = said_of(ROW.dump, model)
    assert said[0] == "'sample' is a part of its model: the file is made anew"
    assert_same(load(text).surfaces, model.surfaces, "uvs")


@pytest.mark.parametrize("new", [slice(None), slice(0, 1), slice(3, None)])
def test_new_faces_keep_the_colours_of_corners(new):
    """Which the file has by polygon, and so for the old ones alone."""
    model = load(smooth())
    (surface,) = model.surfaces

    def corners(each):
        flat = each.triangles.ravel()
        return {
            (*place, *(255 * color).round())
            for place, color in zip(each.positions[0, flat], each.colors[flat], strict=True)
        }

    before = corners(surface)
    assert len(before) > len({row[:3] for row in before}), "some point has several"
    surface.source_triangles[new] = -1
    (found,) = load(ROW.dump(model)).surfaces
    assert corners(found) == before
