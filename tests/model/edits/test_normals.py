"""Which normals an edited surface has."""

from dataclasses import replace

import numpy as np
import pytest

from io_idtech_models.formats import by_name
from io_idtech_models.formats.common.normals import decode_latlong, encode_latlong
from io_idtech_models.model.edits.normals import (
    CodedView,
    NormalCoding,
    filled_frames,
    plain_normals,
    ring_rotations,
    settle_codes,
    smooth_normals,
    turned_over,
    view_codes,
    without_backs,
)
from io_idtech_models.model.source import CodedSource
from io_idtech_models.model.vertex import BaseNormals, ModelSource, Surface, VertexModel
from tests.samples import load, sample

CODING = NormalCoding(decode_latlong, encode_latlong, 1 << 16)


def rotation(seed=1):
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    return turn * np.sign(np.linalg.det(turn))


def degrees_between(a, b):
    a, b = (np.asarray(v, np.float64) / np.linalg.norm(v, axis=-1, keepdims=True) for v in (a, b))
    return np.degrees(2 * np.arcsin(np.linalg.norm(a - b, axis=-1) / 2))


def settled(model, surface, view="source"):
    surface = model.surfaces[surface]
    view = view_codes(model, surface, model.source) if view == "source" else view
    codes = np.zeros((*surface.positions.shape[:2], 4), np.int16)
    codes[..., :3] = np.rint(surface.positions * 64)
    return settle_codes(surface, codes, view, CODING).view(np.uint16)[..., 3]


def changed(model, surface=0):
    """Return the (frame, vertex) at which the normal codes differ from the source's."""
    return set(zip(*np.nonzero(settled(model, surface) != model.source.surfaces[surface].normals), strict=True))


# -- which frame of the source a frame starts from


@pytest.mark.parametrize(
    ("sources", "filled"),
    [
        ([0, 1, 2], [0, 1, 2]),
        ([2, -1, 0, -1, -1], [2, 2, 0, 0, 0]),
        ([-1, -1, 5, -1], [5, 5, 5, 5]),
        ([-1, 0, 5], [0, 0, 5]),
        ([-1, -1], [0, 0]),
        (None, [0, 0]),
    ],
)
def test_frames_without_a_source_start_from_the_one_before(sources, filled):
    count = len(filled)
    frames = None if sources is None else np.array(sources, np.int32)
    model = VertexModel("", [""] * count, [], [], None, frames)
    assert filled_frames(model).tolist() == filled


# -- how the surface sees its source


def test_an_unchanged_surface_sees_the_source_itself():
    model = load(sample("animated"))
    view = view_codes(model, model.surfaces[1], model.source)
    assert view is not None
    assert view.codes is model.source.surfaces[1].codes
    assert view.known.all()


def test_joined_surfaces_see_both_sources():
    model = load(sample("animated"))
    first, second = model.source.surfaces
    model.surfaces[0].source_vertices = np.array([9, -1, 0, 6], np.int32)
    model.frame_sources = np.array([2, -1, 0], np.int32)
    view = view_codes(model, model.surfaces[0], model.source)
    assert view is not None
    assert view.known.tolist() == [True, False, True, True]
    assert view.normals[0].tolist() == [second.normals[2, 3], 0, first.normals[2, 0], second.normals[2, 0]]
    assert view.normals[1].tolist() == view.normals[0].tolist(), "the inserted frame starts from the one before"
    assert view.positions[2, 2].tolist() == first.positions[0, 0].tolist()


@pytest.mark.parametrize("numbers", [None, [-1, -1], [10, 11]])
def test_a_new_surface_sees_nothing(numbers):
    model = load(sample("animated"))
    model.surfaces[0].source_vertices = None if numbers is None else np.array(numbers, np.int32)
    assert view_codes(model, model.surfaces[0], model.source) is None


@pytest.mark.parametrize("dtype", [np.uint8, np.int16])
def test_a_vertex_moved_where_any_bit_of_its_position_is_another(dtype):
    bits = 32 * np.dtype(dtype).itemsize
    whole = np.full((1, bits, 4), 77, dtype)
    edited = whole.copy()
    words = edited.view(f"<u{bits // 8}")[0, :, 0]
    words ^= np.left_shift(1, np.arange(bits, dtype=np.uint64), dtype=np.uint64).astype(words.dtype)
    view = CodedView(np.ones(bits, np.bool_), whole[..., 3], np.zeros((0, 3), np.int32), whole)
    assert view.moved(edited).tolist() == [[bit < bits * 3 // 4 for bit in range(bits)]]


# -- codes


UNTURNED = {
    **{f"nothing of {name}": (name, lambda surface: None) for name in ("seamed_cube", "duplicates", "odd_numbers")},
    "a shift": ("animated", lambda surface: surface.positions.__iadd__((1.0, 2.0, -3.0))),
    "another size": ("seamed_cube", lambda surface: surface.positions.__imul__(2)),
    "a vertex without faces": ("duplicates", lambda surface: surface.positions[0, 6].__iadd__(40)),
}


@pytest.mark.parametrize(("name", "edit"), UNTURNED.values(), ids=UNTURNED)
def test_what_turns_nothing_changes_nothing(name, edit):
    model = load(sample(name))
    edit(model.surfaces[0])
    assert changed(model) == set()


def test_a_move_changes_only_that_frame_and_the_faces_around():
    model = load(sample("animated"))
    model.surfaces[0].positions[1, 4, 2] += 30  # in one triangle, with 3 and 5
    assert changed(model) == {(1, 3), (1, 4), (1, 5)}


def test_a_moved_seam_turns_all_its_vertices():
    model = load(sample("seamed_cube"))
    surface = model.surfaces[0]
    corner = (surface.positions[0] == surface.positions[0, 0]).all(axis=1)
    assert corner.sum() == 3
    surface.positions[0, corner] += (1.5, -1.5, -2.0)
    found = changed(model)
    assert {frame for frame, _ in found} == {0}
    near = surface.triangles[corner[surface.triangles].any(axis=1)]
    assert {vertex for _, vertex in found} <= set(near.ravel().tolist())


def test_a_turned_surface_turns_its_normals():
    model, turn = load(sample("seamed_cube")), rotation()
    surface = model.surfaces[0]
    wanted = surface.normals[1] @ turn.T
    surface.positions[1] = surface.positions[1] @ turn.T
    codes = settled(model, 0)
    assert (codes[0] == model.source.surfaces[0].normals[0]).all()
    assert degrees_between(decode_latlong(codes[1]), wanted).max() < 1.2, "a code's error, and the positions'"


def test_fresh_vertices_show_their_own_normals_and_disturb_nobody():
    model = load(sample("animated"))
    surface = model.surfaces[0]
    surface.source_vertices = np.array([0, 1, 2, 3, 4, -1], np.int32)
    surface.normals[:, 5] = (0, 0, 1)
    codes = settled(model, 0)
    assert codes[:, 5].tolist() == [0, 0, 0]
    assert (codes[:, :5] == model.source.surfaces[0].normals[:, :5]).all()


@pytest.mark.parametrize("told", [True, False])
def test_normals_of_a_plane_follow_the_object_that_scales_it(told):
    """Of a plane the points alone don't say what became of directions across."""
    model = load(sample("minimal"))
    source, surface = model.source.surfaces[0], model.surfaces[0]
    tilted = np.array([(0.6, 0.3, 0.74), (-0.5, 0.6, 0.62), (0.2, -0.7, 0.68)])
    source.codes = source.codes.copy()
    source.normals[:] = encode_latlong(tilted)
    scale = np.array([1.0, 1.0, 4.0])
    surface.stored_positions = (surface.positions * scale).astype(np.float32)
    surface.placed = np.diag(scale)[None] if told else None
    found = decode_latlong(settled(model, 0)[0])
    wanted = decode_latlong(source.normals[0]) / scale
    off = [degrees_between(*pair) for pair in zip(found, wanted, strict=True)]
    assert (max(off) < 1.5) == told


def test_nobody_looks_for_turns_of_vertices_that_have_normals_of_their_own(monkeypatch):
    """A weapon that a modifier moves in 250 frames took twenty seconds for that."""
    model = load(sample("animated"), "x")
    surface = model.surfaces[0]
    surface.stored_positions = surface.positions @ rotation().astype(np.float32)
    surface.own_normals = np.ones(surface.num_vertices, np.bool_)
    surface.normals = np.broadcast_to(np.array((1, 0, 0), np.float32), surface.positions.shape)
    monkeypatch.setattr("io_idtech_models.model.edits.affine.maps_at", None)
    assert (settled(model, 0) == encode_latlong(np.array([(1.0, 0.0, 0.0)]))[0]).all()


@pytest.mark.parametrize("length", [1.0, 3.0])
@pytest.mark.parametrize(("degrees", "stays"), [(0.0, True), (0.45, True), (0.55, False)])
def test_an_edited_normal_that_shows_what_the_sources_does_keeps_its_code(degrees, stays, length):
    """A code beyond the pole, which stands for the same as another: no normal is given that."""
    model, code = load(sample("animated")), 37 << 8 | 200
    source, surface = model.source.surfaces[0], model.surfaces[0]
    source.codes = source.codes.copy()
    source.normals[:, 2] = code
    surface.own_normals = np.arange(6) == 2
    normal = decode_latlong(np.array([code], np.uint16))[0].astype(np.float64)
    normal /= np.linalg.norm(normal)
    across = np.cross(normal, (0.0, 0.0, 1.0))
    angle = np.radians(degrees)
    shown = np.cos(angle) * normal + np.sin(angle) * across / np.linalg.norm(across)
    surface.normals[:, 2] = length * shown
    assert (settled(model, 0)[:, 2] == code).tolist() == [stays] * 3


def test_without_a_source_everything_is_shown():
    model = load(sample("animated"))
    codes = settled(model, 0, view=None)
    np.testing.assert_array_equal(codes, encode_latlong(model.surfaces[0].normals.reshape(-1, 3)).reshape(3, 6))


def test_a_vertex_without_any_normal_gets_a_smooth_one():
    positions, uvs = np.array([[(0, 0, 0), (1, 0, 0), (0, 0, -1)]], np.float32), np.zeros((3, 2), np.float32)
    surface = Surface("bare", positions, np.array([[0, 1, 2]], np.int32), uvs, [])
    codes = settle_codes(surface, np.zeros((1, 3, 4), np.int16), None, CODING).view(np.uint16)[0, :, 3]
    assert codes.tolist() == encode_latlong(np.array([(0.0, 1.0, 0.0)] * 3)).tolist()


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize(("told", "bent", "off"), [(True, 0, 1.2), (True, 0.05, 5), (False, 0.05, 5)])
def test_a_mirrored_surface_mirrors_its_normals(axis, told, bent, off):
    """Bent a little as well or not: then nothing but where its points are says so, unless an object was mirrored."""
    model, flip = load(sample("seamed_cube")), np.ones(3)
    flip[axis] = -1
    surface = model.surfaces[0]
    wanted = surface.normals * flip
    places = np.unique(surface.positions[0], axis=0, return_inverse=True)[1].reshape(-1)
    bend = np.random.default_rng(axis).normal(size=(places.max() + 1, 3))[places]
    surface.positions = (surface.positions * flip + bent * bend).astype(np.float32)
    surface.triangles, surface.mirrored = surface.triangles[:, ::-1], told
    found = decode_latlong(settled(model, 0))
    assert degrees_between(found, wanted).max() < off


@pytest.mark.parametrize(("known", "over"), [([], True), ([0], False), ([0, 3], False)])
def test_a_mirrored_surface_of_new_faces_is_turned_over(known, over):
    """Where the source has some of them these say whether it is."""
    model = load(sample("seamed_cube"))
    surface = model.surfaces[0]
    surface.mirrored = True
    surface.source_triangles = np.where(np.isin(np.arange(len(surface.triangles)), known), surface.source_triangles, -1)
    view = view_codes(model, surface, model.source)
    assert view is not None
    assert turned_over(surface, view).tolist() == [over] * surface.num_vertices


# -- in a file of another format


def lone_triangle(place, size):
    """Return a model of one triangle at a place, so large, as its file has it, and its surface."""
    codes = np.array([[(0, 0, 0, 0x2010), (50, 0, 0, 0x2010), (0, 50, 0, 0x2010)]], np.int16)
    scale, offset, uvs = (np.full((1, 3), n, np.float32) for n in (size / 50, place, 0.0))
    part = CodedSource("s", np.array([(0, 1, 2)], np.int32), uvs[[0, 0, 0], :2], [], codes, scale, offset)
    source = ModelSource([part], "md3", ["f"], [], np.zeros((1, 0, 3), np.float32), np.zeros((1, 0, 3, 3), np.float32))
    numbers = np.arange(3, dtype=np.int32)
    surface = Surface(
        "s", part.decoded_positions(np.zeros(1, np.int64)), part.triangles, part.uvs, [], None, 0, numbers, numbers[:1]
    )
    return VertexModel("x", ["f"], [surface], [], source), surface


@pytest.mark.parametrize("place", [0.25, -1000.0])
@pytest.mark.parametrize(("by", "stays"), [(0.9e-5, True), (1.15e-5, False)])
def test_normals_stay_where_nothing_moved_but_for_rounding(place, by, stays):
    unit = max(abs(place), 1.0)
    model, surface = lone_triangle(place, 5e-5 * unit)
    surface.positions[0, 2, 2] += np.float32(by * unit)
    found = plain_normals(model, surface, CODING)
    assert found.source_vertices is None and found.normals is not None
    wanted = decode_latlong(np.array([0x2010], np.uint16))
    assert (degrees_between(found.normals[0], wanted) < 1e-3).tolist() == [stays] * 3


def test_normals_that_are_there_or_mean_nothing_are_no_codes(caplog):
    model, surface = lone_triangle(0.0, 1.0)
    assert plain_normals(model, surface, None).normals is None
    assert plain_normals(replace(model, source=None), surface, CODING).normals is None
    shown = np.full((1, 3, 3), 0.5, np.float32)
    assert plain_normals(model, replace(surface, stored_normals=shown), CODING).normals is shown
    assert plain_normals(model, surface, CODING._replace(size=0x2011)).normals is not None
    assert not caplog.messages
    assert plain_normals(model, surface, CODING._replace(size=0x2010)).normals is None
    assert caplog.messages == ["the facts of the source of 'x' are damaged: written without them"]


@pytest.mark.parametrize("edited", [False, True])
def test_vertices_that_became_one_have_the_mean_of_their_normals(edited):
    """A cube's corners of three vertices each: by what its corners say they were, or else by what it says."""
    model = load(sample("seamed_cube"))
    cube = model.surfaces[0]
    _, first, of = np.unique(cube.positions[0], axis=0, return_index=True, return_inverse=True)
    surface = replace(
        cube,
        stored_positions=cube.positions[:, first],
        stored_normals=None,
        uvs=cube.uvs[first],
        triangles=of.ravel()[cube.triangles].astype(np.int32),
        source_vertices=first.astype(np.int32),
        corner_sources=cube.triangles.copy(),
    )
    wanted = np.sign(surface.positions[0] - surface.positions[0].mean(axis=0))
    if edited:  # all but the vertices' own corners were made anew
        surface.corner_sources[~np.isin(surface.corner_sources, first)] = -1
        wanted = decode_latlong(model.source.surfaces[0].normals)[0, first]
    found = plain_normals(model, surface, CODING)
    assert (found.source_vertices, found.corner_sources) == (None, None)
    assert found.normals is not None
    assert degrees_between(found.normals[0], wanted).max() < 1.5, "codes are that coarse"


@pytest.mark.parametrize("name", ["md2", "mdl", "md3"])
def test_normals_turn_with_what_was_turned_and_are_not_rounded_to_the_codes_of_the_source(name):
    model = load(sample("animated" if name != "mdl" else "torch", name), name)
    coding, turn = by_name(name).coding, rotation()
    surface = replace(model.surfaces[0], stored_normals=None)
    before = plain_normals(model, surface, coding).normals
    surface.positions = (surface.positions @ turn.T).astype(np.float32)
    found = plain_normals(model, surface, coding).normals
    assert degrees_between(found, before @ turn.T).max() < 0.1


def test_normals_of_a_part_follow_that_alone():
    """Of two cubes in one surface the first was turned as a whole, the second torn."""
    model = load(sample("seamed_cube"))
    (part,), places = model.source.surfaces, model.surfaces[0].positions
    turned = places @ rotation().T
    torn = (
        places
        + np.random.default_rng(2).normal(size=(8, 3))[np.unique(places[0], axis=0, return_inverse=True)[1].ravel()]
    )

    def found(cubes):
        count = len(cubes)
        codes = np.tile(part.codes, (1, count, 1))
        codes[..., 0] += np.repeat(9000 * np.arange(count), 24).astype(np.int16)
        triangles = np.concatenate([part.triangles + 24 * nth for nth in range(count)])
        after = np.concatenate([cube + np.array((9000 / 64 * nth, 0, 0)) for nth, cube in enumerate(cubes)], axis=1)
        whole = Surface("", after.astype(np.float32), triangles, np.zeros((24 * count, 2), np.float32), [])
        view = CodedView(np.ones(24 * count, np.bool_), codes.view(np.uint16)[..., 3], triangles, codes)
        now = np.zeros_like(codes)
        now[..., :3] = np.rint(after * 64)
        return settle_codes(whole, now, view, CODING).view(np.uint16)[..., 3].tolist()

    both = np.array(found([turned, torn]))
    assert both[:, :24].tolist() == found([turned]) and both[:, 24:].tolist() == found([torn])


@pytest.mark.parametrize("mirrored", [False, True])
def test_normals_of_the_base_are_what_is_shown_there_where_no_map_says_otherwise(mirrored):
    """In other frames Blender shows some of its own making, as it does of what was mirrored."""
    model = load(sample("seamed_cube"))
    surface = model.surfaces[0]
    places = np.unique(surface.positions[0], axis=0, return_inverse=True)[1].reshape(-1)
    surface.positions += np.random.default_rng(2).normal(size=(8, 3)).astype(np.float32)[places] * 9
    shown = np.tile(np.array((0.6, 0.0, -0.8), np.float32), (24, 1))
    surface.base, surface.mirrored = BaseNormals(0, shown), mirrored
    off = degrees_between(decode_latlong(settled(model, 0)), shown)
    assert (off[0].max() < 1.1) != mirrored
    assert off[1].min() > 1.1


@pytest.mark.parametrize(("angle", "alone", "as_shown"), [(5, True, False), (40, True, True), (40, False, False)])
def test_of_the_only_frame_normals_that_no_map_comes_near_are_what_is_shown(angle, alone, as_shown):
    """Scaled, which a map says all of; of several frames Blender shows one, and the others have to fit it."""
    model = load(sample("seamed_cube"))
    surface = model.surfaces[0]
    if alone:
        model.frame_names, model.frame_sources = ["f"], np.zeros(1, np.int32)
        surface.positions, surface.normals = surface.positions[:1], None
    surface.positions = surface.positions * np.array((1.0, 1.0, 1.25), np.float32)
    mapped = decode_latlong(settled(model, 0))[0]
    across = np.cross(mapped, (0.36, 0.48, 0.8))
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    turn = np.radians(angle)
    shown = (np.cos(turn) * mapped + np.sin(turn) * across).astype(np.float32)
    surface.base = BaseNormals(0, shown)
    off = degrees_between(decode_latlong(settled(model, 0))[0], shown)
    assert (off.max() < 1.5) == as_shown and (off.min() > angle - 1.5) == (not as_shown)


# -- rotations


def cloud():
    points = np.random.default_rng(3).normal(size=(12, 3)) * 100
    return points, np.array([(0, 1, 2), (2, 1, 3), (3, 4, 5), (5, 6, 7), (7, 8, 0), (0, 3, 5)])


def test_the_best_rotation_of_a_turned_surface_is_its_turn():
    points, triangles = cloud()
    turn = rotation(4)
    found = ring_rotations(points, points @ turn.T, triangles, np.arange(9))
    np.testing.assert_allclose(found, np.broadcast_to(turn, (9, 3, 3)), atol=1e-9)


def test_rotations_are_proper_whatever_happened():
    points, triangles = cloud()
    after = np.random.default_rng(5).normal(size=points.shape)
    found = ring_rotations(points, after, triangles, np.arange(12))
    np.testing.assert_allclose(found @ np.swapaxes(found, 1, 2), np.broadcast_to(np.eye(3), found.shape), atol=1e-9)
    np.testing.assert_allclose(np.linalg.det(found), 1)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (np.array([(0, 0, 0)] * 3), np.array([(1, 1, 1)] * 3)),
        (np.array([(0, 0, 0), (64, 0, 0), (128, 0, 0)]), np.array([(0, 0, 0), (0, 64, 0), (0, 128, 0)])),
    ],
    ids=["at one place", "on a line"],
)
def test_rings_that_say_nothing_do_not_turn(before, after):
    """Nor do points of no ring."""
    loose = np.arange(9.0).reshape(3, 3) ** 2
    points = np.concatenate((before, loose)), np.concatenate((after, loose + 1))
    found = ring_rotations(*points, np.array([(0, 1, 2)]), np.arange(6))
    np.testing.assert_array_equal(found, np.broadcast_to(np.eye(3), found.shape))


@pytest.mark.parametrize("size", [1.0, 1e-3])
def test_it_is_kabschs_fit_of_edges_and_scaled_face_normals(size):
    points, triangles = cloud()
    after = (points + np.random.default_rng(6).normal(size=points.shape) * 20) * size
    points *= size
    pairs = []
    for triangle in triangles[(triangles == 3).any(axis=1)]:
        others = [v for v in triangle if v != 3]
        pairs += [(points[v] - points[3], after[v] - after[3]) for v in others]
        normals = [np.cross(p[triangle[1]] - p[triangle[0]], p[triangle[2]] - p[triangle[0]]) for p in (points, after)]
        pairs.append(tuple(n / np.sqrt(np.linalg.norm(n)) for n in normals))
    old, new = (np.array(side) for side in zip(*pairs, strict=True))
    left, _, right = np.linalg.svd(new.T @ old)  # the other way round than the package: R maximises tr(R old' new)
    wanted = left @ np.diag([1, 1, np.linalg.det(left @ right)]) @ right
    np.testing.assert_allclose(ring_rotations(points, after, triangles, np.array([3]))[0], wanted, atol=1e-9)


def test_one_flat_face_has_a_rotation():
    before = np.array([(0, 0, 0), (64, 0, 0), (0, 64, 0)])
    after = before[:, [2, 0, 1]]  # X to Y, Y to Z
    found = ring_rotations(before, after, np.array([(0, 1, 2)]), np.arange(3))
    np.testing.assert_allclose(found @ (0, 0, 1), np.broadcast_to((1, 0, 0), (3, 3)), atol=1e-9)


def test_faces_at_an_equal_position_belong_to_the_ring():
    model = load(sample("seamed_cube"))
    before = model.source.surfaces[0].positions[0]
    triangles = model.surfaces[0].triangles
    after = before.copy()
    after[(before == before[0]).all(axis=1)] += (200, -90, 30)
    found = ring_rotations(before, after, triangles, np.flatnonzero((before == before[0]).all(axis=1)))
    np.testing.assert_allclose(found, np.broadcast_to(found[0], found.shape), atol=1e-12)
    assert not np.allclose(found[0], np.eye(3))


# -- smooth normals


@pytest.mark.parametrize("size", [1.0, 1e-3])
def test_smooth_normals_of_a_cube_point_out_of_its_corners(size):
    surface = load(sample("seamed_cube")).surfaces[0]
    positions = np.sign(surface.positions)
    found = smooth_normals(positions * np.float32(size), surface.triangles)
    assert found.dtype == np.float32
    assert (np.einsum("fvi,fvi->fv", found, positions) > 1.6).all(), "1.73 along the diagonal"
    np.testing.assert_allclose(np.linalg.norm(found, axis=2), 1, atol=1e-6)
    for corner in np.unique(positions[0], axis=0):
        same = found[0][(positions[0] == corner).all(axis=1)]
        np.testing.assert_array_equal(same, np.broadcast_to(same[0], same.shape))


def test_normals_that_point_inwards_are_smoothed_but_those_that_were_meant():
    """Of two frames of a cube: two vertices turned inwards in the second, one in both, one that is not asked about."""
    surface = load(sample("seamed_cube")).surfaces[0]
    positions = np.repeat(surface.positions[:1], 2, axis=0)
    smooth = smooth_normals(positions, surface.triangles)
    shown, some = smooth.copy(), np.ones(surface.num_vertices, np.bool_)
    shown[1, [0, 4]] *= -1.0
    shown[:, 1] *= -1.0
    shown[1, 2] *= -1.0
    some[2] = False
    shown[1, 3] = np.cross(shown[1, 3], (0.0, 0.0, 1.0)) + 0.1 * shown[1, 3]  # not quite along the surface
    found, count = without_backs(shown, positions, surface.triangles, some)
    assert count == 2
    shown[1, [0, 4]] *= -1.0
    np.testing.assert_array_equal(found, shown)


def test_smooth_normals_of_nothing():
    assert smooth_normals(np.zeros((2, 0, 3), np.float32), np.zeros((0, 3), np.int32)).shape == (2, 0, 3)
    alone = smooth_normals(np.zeros((1, 2, 3), np.float32), np.array([[0, 1, 1]], np.int32))
    assert alone.tolist() == [[[0, 0, 1], [0, 0, 1]]]
