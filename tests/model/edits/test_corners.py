"""From a mesh's corners back to a file's vertices and triangles."""

from typing import Any

import numpy as np
import pytest

from io_idtech_models.model.edits.corners import (
    Corners,
    Vertices,
    group_corners,
    match_triangles,
    restored_numbers,
    source_cuts,
    with_degenerate,
)

UP, SIDE = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)


def corners(*rows, own=()):
    """Return corners of rows (point, source number, uv, normal)."""
    columns: Any = zip(*rows, strict=True) if rows else [()] * 4
    points, numbers, uvs, normals = map(np.array, columns, (np.int64, np.int64, np.float32, np.float32))
    chosen = np.zeros(len(rows), np.bool_)
    chosen[list(own)] = True
    return Corners(points, numbers, uvs.reshape(-1, 2), normals.reshape(-1, 3), chosen)


def nobody(points, numbers, corners):
    raise AssertionError("asked about source vertices that nobody else claims")


def group(*rows, own=(), claims=nobody):
    return group_corners(corners(*rows, own=own), claims)


def test_corners_of_a_source_vertex_are_one_whatever_they_show():
    result = group((0, 4, (0, 0), UP), (0, 4, (0, 0), SIDE), (1, 7, (0, 0), UP))
    assert result.of_corner.tolist() == [0, 0, 1]
    assert (result.points.tolist(), result.numbers.tolist()) == ([0, 1], [4, 7])
    assert (result.corners.tolist(), result.winners.tolist()) == ([0, 2], [True, True])


def test_the_candidate_that_fits_best_wins():
    asked: list[tuple[int, int, int]] = []

    def claims(points, numbers, first):
        asked.extend(zip(points.tolist(), numbers.tolist(), first.tolist(), strict=True))
        return (points == 8).astype(float)

    result = group((5, 0, (0, 0), UP), (8, 0, (0, 0), UP), (6, 4, (0, 0), UP), claims=claims)
    assert sorted(asked) == [(5, 0, 0), (8, 0, 1)], "only the rivals are asked about"
    assert result.points.tolist() == [8, 6, 5]
    assert result.winners.tolist() == [True, True, False]


def test_nearly_equal_is_equal():
    tilted = (np.sin(np.radians(0.2)), 0.0, np.cos(np.radians(0.2)))
    result = group((0, -1, (0.3, 0.7), UP), (0, -1, (0.3 + 1e-7, 0.7), tilted))
    assert result.of_corner.tolist() == [0, 0]
    tilted = (np.sin(np.radians(0.3)), 0.0, np.cos(np.radians(0.3)))
    assert group((0, -1, (0.3, 0.7), UP), (0, -1, (0.3, 0.7), tilted)).of_corner.tolist() == [0, 1]
    assert group((0, -1, (0.3, 0.7), UP), (0, -1, (0.30001, 0.7), UP)).of_corner.tolist() == [0, 1]
    assert group((0, -1, (0.0, 0), UP), (0, -1, (4.5e-7, 0), UP)).of_corner.tolist() == [0, 0]
    assert group((0, -1, (0.0, 0), UP), (0, -1, (5e-7, 0), UP)).of_corner.tolist() == [0, 1]


def test_corners_are_one_where_they_show_one_normal_in_all_frames():
    made = corners(*[(0, -1, (0, 0), UP)] * 3)
    made.normals = np.array([(UP, UP), (UP, SIDE), (UP, UP)], np.float32)
    assert group_corners(made, nobody).of_corner.tolist() == [0, 1, 0]


def test_normals_and_coordinates_that_are_no_numbers():
    nan = float("nan")
    result = group((0, -1, (nan, 0), (nan, 0, 0)), (0, -1, (float("inf"), 0), (nan, 0, 0)), (1, 2, (0, 0), UP))
    assert len(result.points) == 3


def test_no_corners():
    result = group()
    assert not any(map(len, (result.of_corner, result.points, result.numbers, result.corners, result.winners)))


# -- triangles


def vertices(numbers):
    numbers = np.array(numbers, np.int64)
    return Vertices(numbers, numbers, numbers, numbers, numbers >= 0)


def match(triangles, numbers, source, faces=None):
    faces = [-1] * len(triangles) if faces is None else faces
    asked = np.array(triangles, np.int64).reshape(-1, 3), np.array(faces, np.int64)
    result = match_triangles(*asked, vertices(numbers), np.array(source, np.int32).reshape(-1, 3))
    return result.vertices.tolist(), result.numbers.tolist()


def test_triangles_without_an_area_come_back_in_their_place_where_their_vertices_are():
    source = np.array([(0, 0, 1), (0, 1, 2), (1, 1, 1), (3, 3, 0)], np.int32)
    here = vertices([1, 0, 2, -1, 4])  # vertex 3 is gone, 4 is of another part
    found = match_triangles(np.array([(1, 0, 2), (2, 0, 3)]), np.array([-1, -1]), here, source)
    whole = with_degenerate(found, here, source, np.array([0, 2, 3]))
    assert whole.vertices.tolist() == [[1, 1, 0], [1, 0, 2], [0, 0, 0], [2, 0, 3]]
    assert whole.numbers.tolist() == [0, 1, 2, -1]
    assert whole.corners.tolist() == [[-1] * 3, [0, 1, 2], [-1] * 3, [3, 4, 5]]
    assert with_degenerate(found, here, source, np.array([3])).vertices.tolist() == found.vertices.tolist()


@pytest.mark.parametrize("face", [7, -1, 1, 2**40])
def test_a_face_that_lies_is_not_believed(face):
    assert match([(0, 1, 2)], range(6), [(0, 1, 2), (3, 4, 5)], faces=[face])[1] == [0]


def test_triangles_of_new_faces_are_matched_by_their_vertices_from_the_first_on():
    source = [(2, 3, 4), (0, 1, 2), (1, 0, 5)]
    assert match([(5, 1, 0), (1, 2, 0)], range(6), source) == ([[0, 1, 2], [1, 0, 5]], [1, 2])


def test_of_two_triangles_that_say_they_were_one_the_first_is_that():
    assert match([(0, 1, 2), (0, 1, 2)], range(3), [(0, 1, 2)], faces=[0, 0])[1] == [0, -1]


def test_a_further_vertex_from_the_same_source_stands_for_it():
    assert match([(1, 3, 0)], [0, 1, 2, 2], [(0, 1, 2)]) == ([[0, 1, 3]], [0])


@pytest.mark.parametrize(("triangles", "source"), [([], [(0, 1, 2)]), ([(0, 1, 2)], []), ([], [])])
def test_no_triangles(triangles, source):
    found = match(triangles, range(3), source)
    assert found == ([list(t) for t in triangles], [-1] * len(triangles))


def test_cuts_of_the_source():
    source = np.array([(0, 1, 2), (5, 3, 4)], np.int32)
    asked = np.array([(2, 1, 0), (1, 2, 0), (0, 1, 3), (3, 4, 5), (-1, 1, 2), (0, 0, 1)], np.int64)
    assert source_cuts(asked, source).tolist() == [True, True, False, True, False, False]
    assert source_cuts(asked, source[:0]).tolist() == [False] * 6
    assert source_cuts(asked[:0], source).tolist() == []
    random = np.random.default_rng(3)
    for most in ((9, 30), (30, 9), (9, 9)):
        some, others = (random.integers(0, number, (300, 3)) for number in most)
        known = {tuple(sorted(triple)) for triple in others.tolist()}
        assert source_cuts(some, others).tolist() == [tuple(sorted(triple)) in known for triple in some.tolist()]


# -- triangles that lost a corner to a quad across a seam


def restore(numbers, places, source, faces=None, named=None):
    shown = np.array(numbers, np.int64).reshape(-1, 3), np.array(places, np.int64)
    alone = np.arange(len(shown[0])) if faces is None else np.array(faces)
    told = nearest(*shown, source) if named is None else named
    found = restored_numbers(*shown, np.array(source, np.int32).reshape(-1, 3), alone, np.array(told, np.int64))
    return tuple(each.tolist() for each in found)


def nearest(numbers, places, source):
    """Return the triangle of the source that has most places of each, as quads say it that two became."""
    found = []
    for corners in numbers.tolist():
        own = {places[corner] for corner in corners if corner >= 0}
        shared = [len(own & {places[corner] for corner in each}) for each in source]
        found.append(int(np.argmax(shared)) if shared else -1)
    return found


# Two triangles share the edge from place 1 to place 2; each has vertices of its own there.
SEAM_PLACES = [0, 1, 2, 1, 2, 3]
SEAM = [(0, 1, 2), (3, 5, 4)]


RESTORED = {  # the triangles that are there, which of their corners begin those of the source, which changed
    "whole ones are left alone": (SEAM, [[0, 1, 2], [3, 4, 5]], [False, False]),
    "one has its neighbour's vertices": ([(0, 1, 2), (1, 5, 2)], [[0, 1, 2], [3, 4, 5]], [False, True]),
    "it starts where the source's does": ([(0, 1, 2), (5, 2, 1)], [[0, 1, 2], [5, 3, 4]], [False, True]),
}


@pytest.mark.parametrize(("shown", "corners", "changed"), RESTORED.values(), ids=RESTORED)
def test_a_triangle_gets_its_own_vertices_back(shown, corners, changed):
    assert restore(shown, SEAM_PLACES, SEAM) == ([[0, 1, 2], [3, 5, 4]], corners, changed)


HOLES = {  # filled anew, by corners that have vertices of what is beside
    "no corner is of what was there": ([(0, 1, 2), (1, 6, 2)], [0, 0]),
    "its face is new": ([(0, 1, 2), (1, 5, 2)], [0, -1]),
    "its face is of elsewhere": ([(0, 1, 2), (1, 5, 2)], [0, 2]),
    "two are of elsewhere": ([(0, 1, 5), (0, 5, 2)], [2, 1]),
    "two are new": ([(0, 1, 5), (0, 5, 2)], [-1, -1]),
}


@pytest.mark.parametrize(("shown", "named"), HOLES.values(), ids=HOLES)
def test_what_fills_a_hole_keeps_what_it_shows(shown, named):
    source = [*SEAM, (6, 7, 8)]
    places = [*SEAM_PLACES, 3, 9, 10]
    assert restore(shown, places, source, named=named)[2] == [False, False]


def test_a_whole_triangle_is_not_another_that_is_missing_at_its_places():
    for whole in ((0, 1, 2), (3, 4, 5)):
        assert restore([whole], [0, 1, 2, 0, 1, 2], [(0, 1, 2), (3, 4, 5)])[2] == [False]


def test_two_triangles_that_fill_the_gap_of_two_are_those():
    # The quad 0, 1, 5, 2 was cut along its other diagonal, and vertices 3 and 4 are lost.
    restored, corners, changed = restore([(0, 1, 5), (0, 5, 2)], SEAM_PLACES, SEAM)
    assert sorted(restored) == [[0, 1, 2], [3, 5, 4]]
    assert changed == [True, True]
    flat = np.array([0, 1, 5, 0, 5, 2])
    for triangle, chosen in zip(restored, corners, strict=True):
        assert [SEAM_PLACES[v] for v in triangle] == [SEAM_PLACES[v] for v in flat[chosen]], (
            "from a corner at its place"
        )


@pytest.mark.parametrize(("faces", "fills"), [((0, 1, 2, 3), True), ((0, 0, 1, 2), True), ((0, 1, 0, 1), False)])
def test_halves_of_two_quads_fill_no_gap(faces, fills):
    """Between two faces there is an edge that is seen."""
    shown = [(0, 1, 5), (0, 5, 2), (6, 7, 8), (6, 8, 9)]
    assert restore(shown, [*SEAM_PLACES, 6, 7, 8, 9], SEAM, faces)[2] == [fills, fills, False, False]


def test_each_gap_is_filled_and_each_lone_triangle_restored():
    """Of five quads two were cut along their other diagonal, one lost corners of its first half, one is gone."""
    seams = np.array(SEAM) + 6 * np.arange(5)[:, None, None]
    places = np.concatenate([np.array(SEAM_PLACES) + 4 * nth for nth in range(5)])
    for order in ((0, 1, 2, 3, 4), (3, 2, 1, 0, 4), (1, 3, 4, 2, 0)):
        whole, lone = (seams[nth].tolist() for nth in (order[0], order[3]))
        ends = [(6 * nth, 6 * nth + 1, 6 * nth + 5, 6 * nth + 2) for nth in order[1:3]]
        cut = [half for a, b, c, d in ends for half in ((a, b, c), (a, c, d))]
        shown = [*whole, *cut, (lone[0][0], lone[1][0], lone[1][2]), lone[1]]
        restored, corners, changed = restore(shown, places, seams.reshape(-1, 3))
        assert sorted(map(sorted, restored)) == sorted(map(sorted, seams[list(order[:4])].reshape(-1, 3).tolist()))
        assert changed == [False] * 2 + [True] * 5 + [False]
        assert (places[np.ravel(shown)[np.array(corners)]] == places[np.array(restored)]).all()


def test_another_diagonal_without_a_lost_vertex_is_the_modellers():
    source = [(0, 1, 2), (1, 3, 2)]
    assert restore([(0, 1, 3), (0, 3, 2)], [0, 1, 2, 3], source)[2] == [False, False]


def test_new_and_flipped_triangles_are_left_alone():
    assert restore([(0, 1, -1), (2, 1, 0)], SEAM_PLACES, SEAM)[2] == [False, False]


@pytest.mark.parametrize(("numbers", "source"), [([], SEAM), (SEAM, []), ([], [])])
def test_nothing_to_restore(numbers, source):
    assert restore(numbers, SEAM_PLACES, source)[0] == [list(t) for t in numbers]


def test_of_three_in_a_row_two_are_a_gap():
    """And are so once: each triangle of the source comes back one time at most."""
    source = [(0, 1, 2), (3, 5, 4), (6, 7, 8)]  # at 0 1 2, 1 3 2 and 3 4 2, with vertices of their own
    places = [0, 1, 2, 1, 2, 3, 3, 4, 2]
    shown = [(0, 1, 5), (0, 5, 2), (1, 5, 7), (1, 7, 2)]
    restored, _, changed = restore(shown, places, source)
    assert changed in ([True, True, False, False], [False, False, True, True])
    assert len({tuple(triangle) for triangle in restored}) == 4


SHOWN = np.eye(3)


def plainly_grouped(made):
    """Return what `group_corners` does where all claims are equal, corner by corner: vertices' corners and numbers."""
    rows = list(zip(made.points.tolist(), made.numbers.tolist(), made.uvs[:, 0].tolist(), strict=True))
    home: dict[int, int] = {}
    for point, number, _ in rows:
        home.setdefault(number, point)
    named = [number if number >= 0 and home[number] == point else -1 for point, number, _ in rows]
    shown = [tuple(normal) for normal in made.normals.tolist()]
    seen = [normal if n < 0 or own else () for normal, n, own in zip(shown, named, made.own.tolist(), strict=True)]
    groups: dict[Any, list[int]] = {}
    for corner, ((point, _, uv), number, normal) in enumerate(zip(rows, named, seen, strict=True)):
        groups.setdefault((point, uv, number, normal), []).append(corner)
    old = {key: group for key, group in groups.items() if key[2] >= 0}
    for key, group in groups.items():
        if key[2] < 0:
            same = (o for o in sorted(old, key=lambda k: old[k][0]) if o[:2] == key[:2])
            partner = next((o for o in same if shown[old[o][0]] == key[3]), None)
            old.setdefault(key if partner is None else partner, []).extend(group)
    best: dict[int, Any] = {}
    for key in sorted(old, key=lambda k: (k[3] != (), groups[k][0])):
        best.setdefault(key[2], key)
    first = {key: (key[2] < 0 or best[key[2]] != key, groups[key][0]) for key in old}
    order = sorted(old, key=lambda k: (first[k][0], first[k][1] if first[k][0] else k[2]))
    return [sorted(old[key]) for key in order], [key[2] for key in order]


@pytest.mark.parametrize("largest", [1.0, 3000.0, 1e12, 1e30])
@pytest.mark.parametrize("seed", range(15))
def test_any_corners_are_grouped_by_the_rules(seed, largest):
    """Also where columns of numbers that large make none of 64 bits together."""
    random = np.random.default_rng(int(largest) % 97 + seed)
    count, most = random.integers(1, 24), random.integers(1, 5)
    points, numbers, steps = (random.integers(low, high, count) for low, high in ((0, 4), (-1, most), (-1, 2)))
    uvs = steps.astype(np.float32) * np.float32(largest)
    made = corners(*zip(points, numbers, np.column_stack((uvs, uvs)), SHOWN[random.integers(0, 3, count)], strict=True))
    made.own = random.random(count) < random.choice([0.0, 0.3])
    found = group_corners(made, lambda points, numbers, corners: np.zeros(len(points)))
    groups = [np.flatnonzero(found.of_corner == vertex).tolist() for vertex in range(len(found.points))]
    assert (groups, found.numbers.tolist()) == plainly_grouped(made)


@pytest.mark.parametrize("seed", range(60))
def test_any_triangles_are_matched_as_far_as_there_are_such(seed):
    """Each with one of the source's that has its vertices, the one that its face names first; as many as can be."""
    random = np.random.default_rng(seed)
    most, count = random.integers(2, 6), int(random.integers(1, 12))
    source = random.integers(0, most, (random.integers(1, 12), 3)).astype(np.int32)
    triangles = random.integers(random.integers(0, 2), most + 1, (count, 3))  # with vertices that are new, or without
    faces = random.integers(-1, len(source) + 1, count)
    if seed % 3 == 0:  # some of the source's, as they were
        faces = np.unique(faces.clip(0, len(source) - 1))
        triangles, count = source[faces] + 1, len(faces)
    found = match_triangles(triangles, faces, vertices(range(-1, most)), source)
    given_, corners_of = triangles - 1, found.corners
    np.testing.assert_array_equal(found.vertices, triangles.ravel()[corners_of])
    which = corners_of[:, 0] // 3
    assert sorted(which.tolist()) == list(range(count))
    for triangle, corner in zip(which.tolist(), corners_of.tolist(), strict=True):
        assert corner in [np.roll(3 * triangle + np.arange(3), -turn).tolist() for turn in range(3)]
    old = found.numbers >= 0
    assert (old == (np.arange(count) < old.sum())).all() and (np.diff(found.numbers[old]) > 0).all()
    assert (np.diff(which[~old]) > 0).all(), "new ones follow in their order"
    sets, theirs = ([tuple(sorted(row)) for row in rows.tolist()] for rows in (given_, source))
    assert old.sum() == sum(min(sets.count(one), theirs.count(one)) for one in set(theirs))
    named: dict[int, int] = {}
    for triangle, face in enumerate(faces.tolist()):
        if 0 <= face < len(source) and theirs[face] == sets[triangle]:
            named.setdefault(face, triangle)
    for triangle, number, now in zip(which.tolist(), found.numbers.tolist(), found.vertices - 1, strict=True):
        if number >= 0:
            assert sets[triangle] == theirs[number]
            assert named.get(number, triangle) == triangle
            turns = [np.roll(given_[triangle], -turn).tolist() for turn in range(3)]
            wanted = source[number].tolist()
            assert now[0] == wanted[0] and (wanted not in turns or now.tolist() == wanted)
