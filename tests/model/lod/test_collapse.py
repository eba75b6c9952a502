"""Maps of collapses: checked, simulated, and made from a surface."""

import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_idtech_models.model.lod.collapse import drawn, identity, problems, simplify
from io_idtech_models.model.lod.decimate import ASKEW
from tests.samples import CorpusFile, corpus_params

# -- surfaces


def numbered(rows, columns):
    return np.arange(rows * columns).reshape(rows, columns)


def cells(numbers):
    """Return the triangles between rows and columns of vertices."""
    a, b, c, d = (numbers[i : len(numbers) - 1 + i, j : numbers.shape[1] - 1 + j].ravel() for i, j in CORNERS)
    return np.concatenate((np.stack((a, b, c), axis=1), np.stack((a, c, d), axis=1)))


CORNERS = ((0, 0), (1, 0), (1, 1), (0, 1))


def grid(size, height=lambda x, y: 0 * x):
    x, y = np.meshgrid(np.linspace(0, 1, size), np.linspace(0, 1, size), indexing="ij")
    positions = np.stack((x, y, height(x, y)), axis=-1).reshape(-1, 3)
    return positions, positions[:, :2], cells(numbered(size, size))


def cylinder(around, rings, height=8.0):
    """Return an open tube of radius 1 about Z, with a seam of the texture: its first and last column coincide."""
    u, v = np.meshgrid(np.arange(around + 1) / around, np.linspace(0, 1, rings), indexing="ij")
    angle = 2 * np.pi * (u % 1.0)
    positions = np.stack((np.cos(angle), np.sin(angle), height * v), axis=-1).reshape(-1, 3)
    return positions, np.stack((u, v), axis=-1).reshape(-1, 2), cells(numbered(around + 1, rings))


def sphere(around, rings):
    """Return a sphere with a seam, and with poles of as many vertices as there are columns."""
    u, v = np.meshgrid(np.arange(around + 1) / around, np.linspace(0, 1, rings), indexing="ij")
    angle, down = 2 * np.pi * (u % 1.0), np.pi * v
    flat = np.where((v == 0) | (v == 1), 0.0, np.sin(down))
    positions = np.stack((flat * np.cos(angle), flat * np.sin(angle), np.cos(down)), axis=-1).reshape(-1, 3)
    return positions, np.stack((u, v), axis=-1).reshape(-1, 2), cells(numbered(around + 1, rings))


def cube():
    """Return a cube of 24 vertices: each side has its own."""
    positions: list[Any] = []
    triangles: list[Any] = []
    for axis in range(3):
        for side in (0.0, 1.0):
            square = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], float)
            if not side:
                square = square[::-1]
            triangles += [np.array([(0, 1, 2), (0, 2, 3)]) + 4 * len(positions)]
            positions.append(np.roll(np.column_stack((np.full(4, side), square)), axis, axis=1))
    uvs = np.tile([(0, 0), (1, 0), (1, 1), (0, 1)], (6, 1)).astype(float)
    return np.concatenate(positions), uvs, np.concatenate(triangles)


def check(order, triangles):
    """Assert that an order holds at every level, and return the triangles in its numbers."""
    total = len(order.order)
    assert sorted(order.order.tolist()) == list(range(total))
    assert order.order.dtype == order.collapse.dtype == np.int32
    assert problems(order.collapse, total, 1) == []
    assert problems(order.collapse, total, order.min_lod) == []
    assert min(total, 1) <= order.min_lod <= total
    assert len(order.errors) == total
    assert not (order.errors < 0).any()
    numbers = np.empty(total, np.int64)
    numbers[order.order] = np.arange(total)
    new = numbers[np.asarray(triangles, np.int64).reshape(-1, 3)]
    for count in range(1, total):
        found = drawn(new, order.collapse, count)
        assert np.array_equal(found, engine(new, order.collapse, count))
        assert found.max(initial=0) < count
    return new


def engine(triangles, collapse, count):
    """Return what a game draws, in the way of `RB_MDM_SurfaceAnim`: one pass upwards, and one over the triangles."""
    table = list(range(count))
    for j in range(count, len(collapse)):
        table.append(table[collapse[j]])
    rows = [[table[corner] for corner in triangle] for triangle in triangles.tolist()]
    return np.array([row for row in rows if len(set(row)) == 3], np.int32).reshape(-1, 3)


def made(surface, **options):
    """Return an order, its triangles and positions in new numbers."""
    positions, uvs, triangles = surface
    order = simplify(positions, uvs, None, triangles, **options)
    return order, check(order, triangles), positions[order.order]


def areas(positions, triangles):
    a, b, c = (positions[triangles[:, k]] for k in range(3))
    return np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2


def tears(order):
    """Return how many vertices are left when the next to go tears the surface."""
    return int(np.flatnonzero(np.isinf(order.errors))[-1]) + 1


def rims(positions, triangles):
    """Return the edges that one triangle has, as pairs of places."""
    places = np.unique(positions + 0.0, axis=0, return_inverse=True)[1].reshape(-1)[triangles]
    edges = np.sort(np.stack((places, np.roll(places, -1, axis=1)), axis=2).reshape(-1, 2), axis=1)
    found, counts = np.unique(edges, axis=0, return_counts=True)
    return found[counts == 1]


# -- problems


WRONG = "vertex {} collapses to {}, not to one before it"
VANISHING = "min_lod is {}: from afar no vertex would be left to draw (1 or more)"
PROBLEMS = {  # entries, how many vertices, min_lod, what is said
    "it goes down": ([0, 0, 1, 0], 4, 1, []),
    "the first is never looked up": ([7, 0, 1, 0], 4, 1, []),
    "nothing": ([], 0, 0, []),
    "some are looked up": ([9, 9, -9, 9, 9, 9, 9, 0, 0, 0], 10, 8, [WRONG.format(3, 9) + ", and 3 more"]),
    "the dead are drawn with 3 of 10": ([9, 9, -9, 0, 0, 0, 0, 0, 0, 0], 10, 8, []),
    "those below are never looked up": ([9, 9, 0, 0, 0, 0, 0, 0, 0, 0], 10, 2, []),
    **{f"the last goes to {n}": ([0, 0, 1, n], 4, 2, [WRONG.format(3, n)]) for n in (3, 4, -1, 99)},
    "all are counted": (range(6), 6, 1, [WRONG.format(1, 1) + ", and 4 more"]),
    "another length": ([0, 0, 0], 4, 1, ["the collapse map has 3 entries for 4 vertices"]),
    **{f"min_lod {n}": ([0, 0, 1], 3, n, [VANISHING.format(n)]) for n in (0, -3)},
}


@pytest.mark.parametrize(("entries", "total", "min_lod", "said"), PROBLEMS.values(), ids=PROBLEMS)
def test_what_is_wrong_with_a_map(entries, total, min_lod, said):
    assert problems(np.array(entries, int), total, min_lod) == said


# -- drawn


def test_corners_are_looked_up_until_they_are_drawn():
    triangles = np.array([(0, 1, 2), (2, 3, 4), (1, 2, 4), (0, 3, 1)])
    collapse = np.array([0, 0, 0, 2, 3])
    assert drawn(triangles, collapse, 3).tolist() == [[0, 1, 2], [0, 2, 1]]
    assert drawn(triangles, collapse, 4).tolist() == [[0, 1, 2], [1, 2, 3], [0, 3, 1]]


def test_in_full_all_are_drawn_as_they_are():
    triangles = np.array([(0, 1, 2), (1, 1, 2)])
    assert drawn(triangles, np.zeros(3, int), 3).tolist() == triangles.tolist()
    assert drawn(triangles, np.zeros(3, int), 99).tolist() == triangles.tolist()
    assert drawn(triangles, np.zeros(3, int), 2).tolist() == []


def test_a_map_that_leads_nowhere():
    triangles = np.array([(0, 1, 2)])
    for collapse in ([0, 0, 3, 2], [0, 0, 9, 2], [0, 0, -1, 2]):
        with pytest.raises(ValueError, match="collapse map"):
            drawn(triangles, np.array(collapse), 2)
    with pytest.raises(ValueError, match="0 are drawn"):
        drawn(triangles, np.zeros(4, int), 0)


@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_drawn_equals_the_game(total, seed):
    rng = np.random.default_rng(seed)
    collapse = np.array([rng.integers(0, max(j, 1)) for j in range(total)])
    triangles = rng.integers(0, total, (30, 3))
    for count in range(1, total):
        assert np.array_equal(drawn(triangles, collapse, count), engine(triangles, collapse, count))


# -- identity


@pytest.mark.parametrize("count", [0, 1, 2, 5, 700])
def test_a_map_for_any_order(count):
    rng = np.random.default_rng(count)
    for found in (identity(count), identity(count, rng.normal(size=(count, 3))), identity(count, np.zeros((count, 3)))):
        assert found.dtype == np.int32
        assert problems(found, count, 1 if count else 0) == []
        assert found.min(initial=0) == 0


def test_with_positions_each_goes_to_the_nearest_before_it():
    rng = np.random.default_rng(4)
    points = rng.normal(size=(600, 3))
    found = identity(600, points)
    for j in range(1, 600):
        assert found[j] == np.linalg.norm(points[:j] - points[j], axis=1).argmin()


# -- simplify: always right

RNG = np.random.default_rng(0)
SURFACES = {
    "nothing": (np.zeros((0, 3)), np.zeros((0, 2)), np.zeros((0, 3), int)),
    "one vertex": (np.zeros((1, 3)), np.zeros((1, 2)), np.zeros((0, 3), int)),
    "vertices only": (np.zeros((5, 3)), np.zeros((5, 2)), np.zeros((0, 3), int)),
    "one triangle": (np.eye(3), np.eye(3)[:, :2], np.array([(0, 1, 2)])),
    "one seen from both sides": (np.eye(3), np.eye(3)[:, :2], np.array([(0, 1, 2), (2, 1, 0)])),
    "degenerate triangles": (np.eye(4)[:, :3], np.eye(4)[:, :2], np.array([(0, 0, 1), (2, 2, 2), (0, 1, 2)])),
    "all at one place": (np.ones((6, 3)), np.zeros((6, 2)), np.array([(0, 1, 2), (3, 4, 5)])),
    "on a line": (np.outer(np.arange(6), (1, 2, 3)), np.zeros((6, 2)), np.array([(0, 1, 2), (2, 3, 4), (5, 1, 4)])),
    "tetrahedron": (np.eye(4)[:, :3], np.zeros((4, 2)), np.array([(0, 1, 2), (0, 2, 3), (0, 3, 1), (1, 3, 2)])),
    "three on an edge": (RNG.normal(size=(5, 3)), np.zeros((5, 2)), np.array([(0, 1, 2), (0, 1, 3), (1, 0, 4)])),
    "two that touch": (RNG.normal(size=(5, 3)), np.zeros((5, 2)), np.array([(0, 1, 2), (0, 3, 4)])),
    "flat grid": grid(7),
    "wave": grid(8, lambda x, y: np.sin(6 * x) * np.cos(5 * y)),
    "cylinder": cylinder(10, 6),
    "sphere": sphere(9, 7),
    "cube": cube(),
}  # fmt: skip


@pytest.mark.parametrize("name", SURFACES)
def test_every_level_is_one_that_a_game_can_draw(name):
    made(SURFACES[name])


@given(st.integers(0, 2**32 - 1), st.integers(1, 24), st.integers(0, 40), st.integers(1, 5))
def test_whatever_the_surface_every_level_is_right(seed, total, count, coarse):
    # Coarse coordinates: vertices coincide, triangles degenerate, repeat and share edges.
    rng = np.random.default_rng(seed)
    positions = rng.integers(0, coarse, (total, 3)).astype(float)
    triangles = rng.integers(0, total, (count, 3))
    order = simplify(positions, rng.integers(0, 3, (total, 2)), rng.normal(size=(total, 3)), triangles)
    check(order, triangles)


def test_numbers_that_are_none_do_no_harm():
    positions, uvs, triangles = (array.copy() for array in grid(5))
    positions[3], positions[9], uvs[4] = np.nan, np.inf, np.nan
    order = simplify(positions, uvs, np.full((25, 3), np.nan), triangles)
    check(order, triangles)
    assert order.errors[np.isfinite(order.errors)].max() < 2


def test_a_triangle_of_no_vertices():
    with pytest.raises(ValueError, match="0 to 3 of 3"):
        simplify(np.eye(3), np.eye(3)[:, :2], None, np.array([(0, 1, 3)]))


def test_the_same_surface_gives_the_same_order():
    surface = sphere(12, 9)
    first, again = made(surface)[0], made(tuple(array.copy() for array in surface))[0]
    for name in ("order", "collapse", "errors"):
        assert np.array_equal(getattr(first, name), getattr(again, name))


@pytest.mark.parametrize("scale", [2.0**-12, 2.0**12])
def test_size_does_not_matter(scale):
    positions, uvs, triangles = grid(8, lambda x, y: np.sin(6 * x) * np.cos(5 * y + 1))
    plain = simplify(positions, uvs, None, triangles)
    other = simplify(positions * scale, uvs, None, triangles)
    assert other.order.tolist() == plain.order.tolist()
    assert other.min_lod == plain.min_lod
    np.testing.assert_allclose(other.errors, plain.errors * scale, rtol=1e-6)


def test_where_it_stands_does_not_matter():
    positions, uvs, triangles = grid(8, lambda x, y: np.sin(6 * x) * np.cos(5 * y + 1))
    levels = [simplify(positions + shift, uvs, None, triangles).min_lod for shift in (0, 100, -1000)]
    assert np.ptp(levels) <= 2, "equal but for rounding"


def test_vertices_that_no_triangle_uses_go_first():
    positions, _, triangles = grid(4)
    positions = np.concatenate((np.full((3, 3), 9.0), positions, positions[:2]))
    order = simplify(positions, np.zeros((len(positions), 2)), None, triangles + 3)
    new = check(order, triangles + 3)
    assert set(order.order[-5:].tolist()) == {0, 1, 2, 19, 20}
    assert len(drawn(new, order.collapse, len(positions) - 5)) == len(triangles)
    assert not order.errors[-5:].any()


@pytest.mark.parametrize("by_normals", [False, True])
def test_of_several_vertices_at_a_place_the_most_alike_is_the_target(by_normals):
    positions = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 0), (-1, 0, 0), (0, -1, 0), (0, 0, 0)], float)
    traits = np.zeros((7, 3))
    traits[0, 0], traits[3, 0], traits[6, 0] = 0.0, 1.0, 0.9
    uvs, normals = (np.zeros((7, 2)), traits) if by_normals else (traits[:, :2], None)
    order = simplify(positions, uvs, normals, np.array([(0, 1, 2), (3, 4, 5)]))
    assert order.order[6] == 6
    assert order.order[order.collapse[6]] == 3


# -- simplify: good


def test_a_flat_grid_loses_its_inside_first_and_nothing_else():
    order, triangles, positions = made(grid(9))
    inside = ((positions[:, :2] > 0) & (positions[:, :2] < 1)).all(axis=1)
    assert inside[-40:].all(), "40 of the 49 within"
    assert order.min_lod <= 8
    assert order.errors[order.min_lod :].max() < 1e-6
    for count in range(order.min_lod, 81):
        left = drawn(triangles, order.collapse, count)
        assert areas(positions, left).sum() == pytest.approx(1.0), "no hole, no overlap, the border whole"
        normals = np.cross(positions[left[:, 1]] - positions[left[:, 0]], positions[left[:, 2]] - positions[left[:, 0]])
        assert (normals[:, 2] > 0).all(), "none turned over"


def test_a_border_that_is_not_straight_holds():
    positions, uvs, triangles = grid(9)
    positions[positions[:, 0] == 1, 0] += np.tile((0, 0.3), 5)[:9]
    order, new, moved = made((positions, uvs, triangles))
    for count in range(order.min_lod, 81):
        assert areas(moved, drawn(new, order.collapse, count)).sum() == pytest.approx(areas(positions, triangles).sum())
    assert 11 <= order.min_lod <= 20, "the 9 teeth and 2 corners at least"


def test_a_cylinder_keeps_its_silhouette():
    order, triangles, positions = made(cylinder(24, 12))
    assert order.min_lod <= 80, "most of the 300 lie on straight lines"
    for count in range(order.min_lod, 300, 7):
        left = drawn(triangles, order.collapse, count)
        used = positions[np.unique(left)]
        assert np.ptp(used[:, 2]) == pytest.approx(8.0)
        middles = positions[left].mean(axis=1)
        assert np.linalg.norm(middles[:, :2], axis=1).min() > 0.85
    half = drawn(triangles, order.collapse, 150)
    assert areas(positions, half).sum() == pytest.approx(areas(positions, triangles).sum(), rel=0.01)


@pytest.mark.parametrize("surface", [sphere(16, 12), cylinder(16, 9), cube()], ids=["sphere", "cylinder", "cube"])
def test_seams_stay_closed(surface):
    order, triangles, positions = made(surface)
    whole = len(rims(positions, triangles))
    level = tears(order)
    assert order.min_lod >= level
    places = np.unique(positions + 0.0, axis=0, return_inverse=True)[1].reshape(-1)
    for count in range(level, len(positions)):
        if places[count] != places[count - 1]:  # between vertices of one place a seam is open for a step
            found = len(rims(positions, drawn(triangles, order.collapse, count)))
            assert found <= whole, f"holes with {count} vertices"


def test_along_a_seam_each_side_keeps_its_texture():
    positions, uvs, triangles = sphere(16, 12)
    order, _, _ = made((positions, uvs, triangles))
    level = tears(order)
    u, v = uvs[order.order].T
    moved = np.abs(u - u[order.collapse])[level:]
    assert moved.max() < 0.5, "none crosses from the left edge of the texture to the right"
    seam = (np.isin(u, (0.0, 1.0)) & ~np.isin(v[order.collapse], (0.0, 1.0)))[level:]
    assert seam.sum() > 9, "not counting those that go to a pole, where all columns end"
    assert np.isin(u[order.collapse], (0.0, 1.0))[level:][seam].all(), "those of a seam stay on it"


def test_the_vertices_of_a_place_go_together():
    _, _, positions = made(cylinder(16, 9))
    for row in np.unique(positions + 0.0, axis=0):
        numbers = np.flatnonzero((positions == row).all(axis=1))
        assert np.ptp(numbers) == len(numbers) - 1


def test_zero_has_no_sign():
    positions, uvs, triangles = cylinder(8, 5)
    positions[:5][positions[:5] == 0] = -0.0
    assert (np.signbit(positions[:5]) & (positions[:5] == 0)).any()
    plain = simplify(cylinder(8, 5)[0], uvs, None, triangles)
    assert simplify(positions, uvs, None, triangles).order.tolist() == plain.order.tolist()


def test_vertices_a_hair_apart_are_at_one_place():
    positions, uvs, triangles = cylinder(16, 9)
    noise = np.random.default_rng(2).normal(0, 1e-6, positions.shape)
    plain, shaken = (simplify(p, uvs, None, triangles) for p in (positions, positions + noise))
    assert tears(shaken) == pytest.approx(tears(plain), abs=3)
    places = np.unique(positions + 0.0, axis=0, return_inverse=True)[1].reshape(-1)[shaken.order]
    for place in range(places.max() + 1):
        numbers = np.flatnonzero(places == place)
        assert np.ptp(numbers) == len(numbers) - 1


def test_vertices_further_apart_are_at_two():
    # Two sheets, a thousandth of their size apart, would fold if they were one.
    positions, uvs, triangles = grid(6)
    twice = np.concatenate((positions, positions + np.array((0, 0, 1e-3))))
    sheets = np.concatenate((triangles, triangles + 36))
    order, new, moved = made((twice, np.concatenate((uvs, uvs)), sheets))
    assert areas(moved, drawn(new, order.collapse, order.min_lod)).sum() == pytest.approx(2.0)
    assert order.min_lod <= 16


def test_a_plane_across_the_direction_of_sorting():
    positions, uvs, triangles = grid(9)
    normal = np.array(ASKEW) / np.linalg.norm(ASKEW)
    across = np.linalg.svd(normal[None])[2][1:]
    order, new, moved = made((positions[:, :2] @ across, uvs, triangles))
    assert order.min_lod <= 8
    assert areas(moved, drawn(new, order.collapse, order.min_lod)).sum() == pytest.approx(1.0)


def test_many_vertices_at_one_place():
    rng = np.random.default_rng(6)
    positions = np.concatenate((rng.normal(0, 1e-9, (300, 3)), np.ones((1, 3))))
    check(simplify(positions, np.zeros((301, 2)), None, rng.integers(0, 301, (90, 3))), np.zeros((0, 3), int))


def test_each_vertex_stays_in_its_part_of_the_texture():
    # Two halves of a tube with vertices of their own, and texture coordinates that say nothing.
    positions, _, triangles = cylinder(16, 12)
    half = triangles.mean(axis=1) > positions.shape[0] / 2
    triangles = np.where(half[:, None], triangles + len(positions), triangles)
    positions = np.concatenate((positions, positions))
    uvs = np.random.default_rng(3).normal(size=(len(positions), 2))
    order, _, _ = made((positions, uvs, triangles))
    used = np.isin(order.order, triangles)
    part = order.order >= len(positions) // 2
    level = tears(order)
    same = part == part[order.collapse]
    assert level < 60
    assert same[level:][used[level:]].all()


def cut_along(line, corners):
    """Return a grid with other vertices at a line for the triangles at `corners`, and which triangles these are."""
    positions, uvs, triangles = grid(9)
    twins = np.arange(81)
    twins[line] = 81 + np.arange(len(line))
    right = np.isin(triangles, corners).sum(axis=1) > 0
    surface = np.concatenate((positions, positions[line])), np.concatenate((uvs, uvs[line] + 7))
    return (*surface, np.where(right[:, None], twins[triangles], triangles)), right


def test_a_seam_across_a_plane_keeps_its_way():
    line = numbered(9, 9)[4]
    (positions, uvs, triangles), right = cut_along(line, numbered(9, 9)[5:])
    step = np.tile((0, 0.08), 5)[:9]
    positions[line, 0] += step
    positions[81:, 0] += step
    order, new, moved = made((positions, uvs, triangles))
    whole = areas(positions, triangles[right]).sum()
    assert order.min_lod <= 40
    places = np.unique(moved, axis=0, return_inverse=True)[1].reshape(-1)
    for count in range(order.min_lod, 90):
        if places[count] != places[count - 1]:
            left = drawn(new[right], order.collapse, count)
            assert areas(moved, left).sum() == pytest.approx(whole), f"{count} vertices"


def test_where_a_seam_ends_it_does_not_close():
    # A slit in the texture from the middle of a grid to its border.
    slit = numbered(9, 9)[4, 5:]
    order, _, _ = made(cut_along(slit, numbered(9, 9)[5:])[0])
    tip = order.order.tolist().index(40)
    goes_to = order.order[order.collapse[tip]]
    assert np.isinf(order.errors[tip]) or goes_to not in {*slit.tolist(), 81, 82, 83, 84}


def test_a_strip_is_not_pinched():
    # So narrow that across is cheaper than along.
    u, v = np.meshgrid(np.linspace(0, 3, 40), (0.0, 0.001), indexing="ij")
    positions = np.stack((u, v, 0 * u), axis=-1).reshape(-1, 3)
    order, new, moved = made((positions, positions[:, :2], cells(numbered(40, 2))))
    assert tears(order) < 20
    for count in range(tears(order), 80):
        ends = np.bincount(rims(moved, drawn(new, order.collapse, count)).ravel())
        assert set(ends.tolist()) <= {0, 2}, "a border that passes no point twice"


def test_where_parts_touch_in_a_point_it_stays():
    positions, _, triangles = grid(6)
    positions = np.concatenate((positions, positions[1:] * (-1, -1, 1)))
    triangles = np.concatenate((triangles, np.where(triangles, triangles + 35, 0)))
    order, _, _ = made((positions, positions[:, :2], triangles))
    assert order.order.tolist().index(0) <= 4, "as long as both parts are there"
    assert order.min_lod <= 20


def test_a_cloth_seen_from_both_sides_is_one_cloth():
    positions, uvs, triangles = grid(7)
    triangles = np.concatenate((triangles, triangles[:, ::-1] + 49))
    order, new, moved = made((np.concatenate((positions, positions)), np.concatenate((uvs, uvs)), triangles))
    assert order.min_lod <= 16
    assert areas(moved, drawn(new, order.collapse, order.min_lod)).sum() == pytest.approx(2.0)


def test_triangles_without_area_hold_nothing_up():
    # Two rows of a grid on one line, one of them between the vertices of the other.
    positions, uvs, triangles = grid(9)
    upper, lower = numbered(9, 9)[4], numbered(9, 9)[5]
    positions[lower, 0] = positions[upper, 0]
    positions[lower[1:-1], 1] += 1 / 16
    positions[lower[[0, -1]], 0] += 1 / 16
    order, new, moved = made((positions, uvs, triangles))
    assert order.min_lod <= 12
    assert areas(moved, drawn(new, order.collapse, order.min_lod)).sum() == pytest.approx(1.0, abs=0.02)


def test_a_tetrahedron_can_only_be_torn():
    order, _, _ = made(SURFACES["tetrahedron"])
    assert np.isinf(order.errors).all()
    assert order.min_lod == 4


@given(st.integers(0, 2**32 - 1), st.integers(3, 9), st.integers(4, 14), st.floats(0.01, 0.6))
def test_what_is_closed_stays_closed(seed, around, rings, rough):
    rng = np.random.default_rng(seed)
    positions, _, triangles = sphere(around, rings)
    places, inverse = np.unique(np.round(positions, 9) + 0.0, axis=0, return_inverse=True)
    triangles = inverse.reshape(-1)[triangles]
    triangles = triangles[[len(set(row)) == 3 for row in triangles.tolist()]]
    places = (places + rng.normal(0, rough / around, places.shape)) * (0.2, 0.2, 3)
    order, new, _ = made((places, np.zeros((len(places), 2)), triangles))
    for count in range(tears(order), len(places)):
        left = drawn(new, order.collapse, count)
        edges = np.sort(np.stack((left, np.roll(left, -1, axis=1)), axis=2).reshape(-1, 2), axis=1)
        assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all(), f"{count} vertices"
        assert len(np.unique(np.sort(left, axis=1), axis=0)) == len(left)


def test_detail_goes_before_shape():
    bump = grid(21, lambda x, y: 0.002 * np.sin(40 * x) * np.sin(40 * y) + (np.abs(x - 0.5) < 0.01) * 0.3)
    order, triangles, positions = made(bump)
    ridge = positions[:, 2] > 0.2
    assert ridge.sum() == 21
    assert ridge[: order.min_lod].sum() >= 2
    left = drawn(triangles, order.collapse, 60)
    assert np.ptp(positions[np.unique(left)][:, 2]) > 0.29


def test_a_larger_tolerance_leaves_fewer():
    surface = grid(15, lambda x, y: 0.1 * np.sin(6 * x) * np.cos(5 * y))
    levels = [made(surface, tolerance=t)[0].min_lod for t in (0.0, 0.002, 0.02, 0.2, 10.0)]
    assert levels == sorted(levels, reverse=True)
    assert len(set(levels)) > 3
    orders = [simplify(surface[0], surface[1], None, surface[2], t).order.tolist() for t in (0.0, 10.0)]
    assert orders[0] == orders[1]


# -- real files


def surfaces(file: CorpusFile):
    """Yield min_lod, positions in a frame, texture coordinates, triangles and map of each surface of an MDM."""
    data, expected = file.data, file.expected()
    count, place = struct.unpack_from("<2i", data, 80)
    for number in range(count):
        min_lod, _, vertices, ofs_vertices, many, ofs_triangles, ofs_map = struct.unpack_from("<7i", data, place + 136)
        collapse = np.frombuffer(data, "<i4", vertices, place + ofs_map)
        triangles = np.frombuffer(data, "<i4", 3 * many, place + ofs_triangles).reshape(-1, 3)
        uvs, spot = [], place + ofs_vertices
        for _ in range(vertices):
            u, v, weights = struct.unpack_from("<2fi", data, spot + 12)
            uvs.append((u, v))
            spot += 24 + 20 * weights
        yield min_lod, expected[f"swim.frame0.surface{number}.positions"], np.array(uvs), triangles, collapse
        place += struct.unpack_from("<i", data, place + 172)[0]


@pytest.mark.parametrize("file", corpus_params(".mdm"))
def test_real_maps_have_no_problems(file):
    for min_lod, positions, _, triangles, collapse in surfaces(file):
        assert problems(collapse, len(positions), min_lod) == []
        for count in range(1, len(positions)):
            assert np.array_equal(drawn(triangles, collapse, count), engine(triangles, collapse, count))


@pytest.mark.parametrize("file", corpus_params(".mdm"))
def test_real_surfaces_keep_their_area_better_than_in_the_file(file):
    for min_lod, positions, uvs, triangles, collapse in surfaces(file):
        order = simplify(positions, uvs, None, triangles)
        new = check(order, triangles)
        total, whole = len(positions), areas(positions, triangles).sum()
        assert total // 3 < order.min_lod < total
        theirs = areas(positions, drawn(triangles, collapse, min_lod)).sum() / whole
        ours = areas(positions[order.order], drawn(new, order.collapse, min_lod)).sum() / whole
        assert abs(ours - 1) < max(abs(theirs - 1), 0.03)
