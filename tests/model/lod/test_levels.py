"""Levels of detail of vertex-animated models: fewer triangles, and all else as it was."""

from typing import Any

import numpy as np
import pytest

from io_idtech_models.model.lod import levels
from io_idtech_models.model.lod.decimate import Mesh, Texture
from io_idtech_models.model.lod.levels import share_left, shares_of
from io_idtech_models.model.lod.poses import ASKEW, find_places
from io_idtech_models.model.vertex import Surface, Tag, VertexModel
from io_idtech_models.reporting import LimitError
from tests.model.lod.test_collapse import cylinder, grid, sphere
from tests.samples import CorpusFile, corpus_params, dump, load, sample

make_level: Any = levels.make_level
make_levels: Any = levels.make_levels


def surface_of(positions, uvs, triangles, name="skin", **own: Any):
    frames = np.asarray(positions, np.float32).reshape(-1, *np.shape(positions)[-2:])
    triangles = np.asarray(triangles, np.int32)
    return Surface(name, frames, triangles, np.asarray(uvs, np.float32), ["shader"], **own)


def model_of(*surfaces, **own: Any):
    count = len(surfaces[0].positions)
    tag = Tag("tag_head", np.arange(3.0 * count, dtype=np.float32).reshape(-1, 3), np.tile(np.eye(3), (count, 1, 1)))
    return VertexModel("thing", [f"f{i}" for i in range(count)], list(surfaces), [tag], **own)


def bent(surface, count=6):
    """Return a surface's positions in frames in which it bends more and more."""
    positions = np.asarray(surface[0], np.float32)
    frames = [positions + np.outer(positions[:, 2] ** 2, (0.02 * f, 0.0, 0.0)) for f in range(count)]
    return np.stack(frames).astype(np.float32), surface[1], surface[2]


def halves(surface):
    """Return two surfaces of one, cut where its triangles' middles change sides, with vertices of their own."""
    positions, uvs, triangles = surface
    right = positions.reshape(-1, *positions.shape[-2:])[0][triangles].mean(axis=1)[:, 0] > 0
    found = []
    for nth, own in enumerate((triangles[right], triangles[~right])):
        used, places = np.unique(own, return_inverse=True)
        found.append(surface_of(positions[..., used, :], uvs[used], places.reshape(-1, 3), f"half{nth}"))
    return found


def with_a_small_surface(surface):
    """Return two surfaces of one, of which one has two triangles, in the midst of the other's."""
    positions, uvs, triangles = surface
    return [
        surface_of(positions, uvs, triangles[[*range(200), *range(202, len(triangles))]]),
        surface_of(positions, uvs, triangles[200:202]),
    ]


def with_crumbs(surface):
    """Return a surface with ten small triangles beside it, of which each is alone."""
    positions, uvs, triangles = surface
    at = len(positions)
    near = np.linspace((2, 0, 0), (3, 0, 0), 10)[:, None] + 1e-3 * np.array([(0, 0, 0), (1, 0, 0), (0, 2, 0)])
    corners = np.arange(at, at + 30).reshape(10, 3)
    more = np.concatenate((uvs, np.zeros((30, 2))))
    return surface_of(np.concatenate((positions, near.reshape(-1, 3))), more, np.concatenate((triangles, corners)))


def rims(model):
    """Return how many edges one triangle alone has, of places that are one in all frames: holes and borders."""
    points = np.concatenate([s.positions for s in model.surfaces], axis=1).astype(np.float64)
    bases = np.cumsum([0] + [s.num_vertices for s in model.surfaces])
    triangles = np.concatenate([s.triangles + b for s, b in zip(model.surfaces, bases, strict=False)])
    corners = find_places(points)[1][triangles]
    corners = corners[(corners != np.roll(corners, 1, axis=1)).all(axis=1)]
    edges = np.sort(np.stack((corners, np.roll(corners, -1, axis=1)), axis=2).reshape(-1, 2), axis=1)
    counts = np.unique(edges, axis=0, return_counts=True)[1] if len(edges) else np.zeros(0)
    return int((counts == 1).sum())


def rows(surface):
    """Return what each vertex of a surface is, as bytes: its way through all frames, and its texture coordinate."""
    ways = surface.positions.transpose(1, 0, 2).reshape(surface.num_vertices, -1)
    return {way.tobytes() + uv.tobytes() for way, uv in zip(ways, surface.uvs, strict=True)}


# -- what stays


def test_a_level_has_the_triangles_asked_for_and_all_else_of_the_model():
    model = model_of(surface_of(*bent(cylinder(24, 20))))
    half, quarter = make_levels(model, [0.5, 0.25])
    assert share_left(half, model) == pytest.approx(0.5, abs=0.01)
    assert share_left(quarter, model) == pytest.approx(0.25, abs=0.01)
    for level in (half, quarter):
        (own,) = level.surfaces
        assert level.frame_names == model.frame_names
        assert level.tags is model.tags
        assert (own.name, own.shaders) == ("skin", ["shader"])
        assert rows(own) <= rows(model.surfaces[0]), "each vertex has its own way through all frames"
        assert own.triangles.dtype == np.int32
        assert np.array_equal(np.unique(own.triangles), np.arange(own.num_vertices)), "and none is idle"
    assert share_left(model, model) == 1.0


def test_levels_made_at_once_are_those_made_one_by_one():
    model = model_of(surface_of(*bent(sphere(16, 12))))
    for level, share in zip(make_levels(model, [0.6, 0.3]), (0.6, 0.3), strict=True):
        alone = make_level(model, share).surfaces[0]
        assert np.array_equal(level.surfaces[0].triangles, alone.triangles)
        assert np.array_equal(level.surfaces[0].positions, alone.positions)


EXACT = {
    "two that meet": lambda: halves(bent(sphere(20, 16))),
    "a small one within": lambda: with_a_small_surface(sphere(20, 16)),
    "crumbs beside it": lambda: [with_crumbs(sphere(20, 16))],
}


@pytest.mark.parametrize("case", EXACT)
def test_no_more_triangles_go_than_need_be_and_of_each_surface_something_stays(case, as_before):
    """A step takes two; a place that could not go at first goes later, when its surroundings have changed."""
    model = model_of(*EXACT[case]())
    for surface in model.surfaces:  # whose sines are not the same on every processor
        surface.positions, surface.uvs = surface.positions.round(3), surface.uvs.round(3)
    total, shares = sum(len(surface.triangles) for surface in model.surfaces), (0.5, 0.25, 0.1, 0.05, 0.02)
    for level, share in zip(make_levels(model, shares), shares, strict=True):
        left = [len(surface.triangles) for surface in level.surfaces]
        assert round(share * total) - 2 < sum(left) <= round(share * total)
        assert all(left)
        as_before(b"".join(surface.triangles.astype("<i4").tobytes() for surface in level.surfaces))


def test_of_a_model_with_too_many_frames_some_are_looked_at():
    """Frames evenly spread: a bump that shows in one of the others alone is lost."""
    flat, uvs, triangles = grid(3)
    count = 1 << 17
    found = []
    for frame in (8, 9):  # of 131,072 frames with nine vertices eight of nine are looked at
        positions = np.tile(flat.astype(np.float32), (count, 1, 1))
        positions[frame, 4, 2] = 1
        model = VertexModel("thing", ["f"] * count, [surface_of(positions, uvs, triangles)], [])
        (level,) = make_level(model, 0.7).surfaces
        found.append(bool((level.positions[frame, :, 2] == 1).any()))
    assert found == [False, True]


def test_normals_and_source_numbers_go_along():
    model = load(sample("animated"))
    before = {i: s.normals.copy() for i, s in enumerate(model.surfaces)}
    level = make_level(model, 0.6)
    assert share_left(level, model) < 1
    for i, (own, old) in enumerate(zip(level.surfaces, model.surfaces, strict=True)):
        first = int(model.source.first_vertices[i])
        kept = own.source_vertices - first
        assert np.array_equal(own.normals, before[i][:, kept])
        assert np.array_equal(own.positions, old.positions[:, kept])
        assert own.source_index == i
        known = own.source_triangles >= 0
        whole = model.source.triangles[own.source_triangles[known]]
        assert np.array_equal(own.source_vertices[own.triangles[known]], whole)


@pytest.mark.parametrize("file", corpus_params(".md3")[::3])
def test_of_real_models_vertices_keep_their_codes_and_seams_stay_closed(file: CorpusFile):
    model = load(file.data)
    if not sum(len(s.triangles) for s in model.surfaces):
        return
    for level in make_levels(model, [0.5, 0.25]):
        assert rims(level) <= rims(model)
        again = load(dump(level))
        assert [s.name for s in again.surfaces] == [s.name for s in model.surfaces]
        for own, written, whole in zip(level.surfaces, again.source.surfaces, model.source.surfaces, strict=True):
            kept = own.source_vertices - int(model.source.first_vertices[own.source_index])
            assert np.array_equal(written.codes, whole.codes[: len(written.codes), kept])


# -- seams


def test_surfaces_that_meet_stay_together():
    model = model_of(*halves(bent(sphere(20, 16))))
    assert rims(model) == 0
    for level in make_levels(model, [0.5, 0.25, 0.12]):
        assert share_left(level, model) < 0.6
        assert rims(level) == 0


def test_surfaces_that_meet_in_one_frame_only_are_two():
    ball = np.asarray(sphere(16, 12)[0], np.float32)
    still, moved = (surface_of(np.stack((ball, ball + shift)), *sphere(16, 12)[1:]) for shift in (0, 5))
    apart = make_level(model_of(still, moved), 0.4)
    alone = make_level(model_of(still), 0.4)
    assert len(apart.surfaces[0].triangles) == pytest.approx(len(alone.surfaces[0].triangles), abs=14)


def test_what_is_near_in_one_frame_is_at_one_place_only_if_it_is_so_in_all():
    aside = np.cross(ASKEW, (0.0, 0.0, 1.0))  # sorted along the direction these two look near in all frames
    points = np.array([[(0, 0, 0), (1e-7, 0, 0), (9, 9, 9)], [(0, 0, 0), aside, (9, 9, 9)]])
    assert find_places(points)[1].tolist() == [0, 1, 2]
    assert find_places(points[:1])[1].tolist() == [0, 0, 1]
    within = np.array([[(0, 0, 0), 0.9 * np.array(ASKEW), (9, 9, 9)]] * 6)
    assert find_places(within, 1.0)[1].tolist() == [0, 0, 1]


def test_vertices_that_are_fixed_stay():
    model = model_of(*halves(bent(sphere(20, 16))))
    fixed = [np.abs(s.positions[0, :, 2]) < 0.15 for s in model.surfaces]
    assert sum(int(f.sum()) for f in fixed) > 10
    level = make_level(model, 0.25, fixed)
    for own, old, held in zip(level.surfaces, model.surfaces, fixed, strict=True):
        wanted = {old.positions[:, v].tobytes() for v in np.flatnonzero(held)}
        assert wanted <= {own.positions[:, v].tobytes() for v in range(own.num_vertices)}
    free = make_level(model, 0.25)
    assert sum(int((np.abs(s.positions[0, :, 2]) < 0.15).sum()) for s in free.surfaces) < sum(f.sum() for f in fixed)


def test_models_that_meet_where_vertices_are_fixed_stay_together():
    """A head and its torso: files of their own, whose levels are made one without the other."""
    upper, lower = halves(bent(sphere(20, 16)))
    places = [{way.tobytes() for way in part.positions.transpose(1, 0, 2)} for part in (upper, lower)]
    levels_of = []
    for part in (upper, lower):
        held = np.array([way.tobytes() in places[0] & places[1] for way in part.positions.transpose(1, 0, 2)])
        assert held.sum() > 10
        levels_of.append(make_level(model_of(part), 0.3, [held]).surfaces[0])
    assert rims(model_of(upper, lower)) == 0
    assert rims(model_of(*levels_of)) == 0
    loose = [make_level(model_of(part), 0.3).surfaces[0] for part in (upper, lower)]
    assert rims(model_of(*loose)) > 0


def test_seams_whose_sides_were_rounded_by_themselves_stay_closed():
    model = load(dump(model_of(*halves((40 * sphere(20, 16)[0], *sphere(20, 16)[1:]))), "md3"))
    first = model.surfaces[0]
    first.positions = first.positions + np.float32(1 / 64)
    assert rims(model) > 0
    level = make_level(model, 0.3)
    for own, shift in zip(level.surfaces, (1 / 64, 0), strict=True):
        own.positions = own.positions - np.float32(shift)
    assert rims(level) == 0


def test_a_picture_that_is_mirrored_keeps_the_line_along_which_it_is():
    positions, _, triangles = grid(13)
    uvs = np.stack((2 * np.abs(positions[:, 0] - 0.5), positions[:, 1]), axis=1)
    for frames in (1, 3):
        points = np.stack([positions * (1 + 0.1 * frame) for frame in range(frames)])
        level = make_level(model_of(surface_of(points, uvs, triangles)), 0.1).surfaces[0]
        assert len(level.triangles) < 40
        across = level.positions[0, :, 0][level.triangles]
        assert not ((across.min(axis=1) < 0.49) & (across.max(axis=1) > 0.51)).any()


def test_where_the_texture_slips():
    positions, _, triangles = grid(3)  # its middle is vertex 4
    even = Texture(positions, positions[:, :2], triangles)
    assert even.slip(4, 5) == pytest.approx(0.0, abs=1e-12)
    bent_uvs = positions[:, :2].copy()
    bent_uvs[5] += (0.25, 0.0)  # a quarter of the picture off
    off = Texture(positions, bent_uvs, triangles)
    assert off.slip(3, 5) > 0.04
    alone, beside = off.slip(4, 7), off.slip(3, 7)
    weights = [off.quadrics[vertex][30] for vertex in (4, 3)]
    off.add(4, 3)
    assert off.slip(4, 7) == pytest.approx((alone * weights[0] + beside * weights[1]) / sum(weights))


@pytest.mark.parametrize("uvs", [np.zeros((169, 2)), np.full((169, 2), 1e30), np.full((169, 2), np.nan)])
def test_textures_that_say_nothing_do_no_harm(uvs):
    positions, _, triangles = grid(13)
    model = model_of(surface_of(positions, uvs, triangles))
    assert share_left(make_level(model, 0.1), model) == pytest.approx(0.1, abs=0.01)


# -- all frames count


def test_what_moves_in_one_frame_alone_is_kept():
    positions, uvs, triangles = grid(13)
    flat, bumpy = positions.astype(np.float32), positions.astype(np.float32).copy()
    bump = (np.abs(positions[:, :2] - 0.75) < 0.2).all(axis=1)
    bumpy[bump, 2] = np.random.default_rng(5).normal(0, 0.2, int(bump.sum()))
    moving = make_level(model_of(surface_of(np.stack((flat, flat, bumpy)), uvs, triangles)), 0.4).surfaces[0]
    still = make_level(model_of(surface_of(flat[None], uvs, triangles)), 0.4).surfaces[0]

    def inside(surface):
        return int((np.abs(surface.positions[0, :, :2] - 0.75) < 0.2).all(axis=1).sum())

    assert inside(moving) >= 0.8 * bump.sum() > 1.5 * inside(still)


def test_no_triangle_turns_over_in_any_frame():
    positions, uvs, triangles = grid(13)
    shaken = np.tile(positions, (12, 1, 1))
    shaken[..., :2] += np.random.default_rng(1).uniform(-0.02, 0.02, (12, len(positions), 2))

    def upright(points, corners):
        a, b, c = (points[corners[:, k], :2].astype(np.float64) for k in range(3))
        return (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]

    assert all((upright(frame, triangles) > 0).all() for frame in shaken)
    own = make_level(model_of(surface_of(np.concatenate((positions[None], shaken)), uvs, triangles)), 0.3).surfaces[0]
    assert len(own.triangles) < 0.32 * len(triangles)
    for frame in own.positions:
        assert (upright(frame, own.triangles) > 0).all()


def test_many_frames_are_judged_by_some_evenly_spread(monkeypatch):
    model = model_of(surface_of(*bent(sphere(16, 12), 40)))
    monkeypatch.setattr(levels, "MOST_PLACES", model.surfaces[0].num_vertices * 8)
    seen: list[int] = []

    def noted(points, *others):
        seen.append(len(points))
        return Mesh(points, *others)

    monkeypatch.setattr(levels, "Mesh", noted)
    level = make_level(model, 0.5)
    assert seen == [8]
    assert len(level.surfaces[0].positions) == 40


# -- what can't go


def test_no_surface_vanishes():
    corners = np.array([(0, 0, 0), (0.01, 0, 0), (0, 0.01, 0), (0.01, 0.01, 0)]) + 3
    tiny = surface_of(corners, np.eye(4)[:, :2], [(0, 1, 2), (2, 1, 3)])
    model = model_of(surface_of(*sphere(20, 16)), tiny)
    level = make_level(model, 0.02)
    large, small = (len(s.triangles) for s in level.surfaces)
    assert large >= 1 and small == 1
    assert share_left(level, model) < 0.1


def test_surfaces_without_triangles_stay_as_they_are():
    empty = surface_of(np.ones((3, 3)), np.ones((3, 2)), np.zeros((0, 3)))
    thin = surface_of(np.ones((3, 3)), np.ones((3, 2)), [(0, 1, 1)])
    level = make_level(model_of(surface_of(*sphere(12, 9)), empty, thin), 0.5)
    assert level.surfaces[1].num_vertices == 3
    assert level.surfaces[2].triangles.tolist() == [[0, 1, 1]]


def test_where_no_more_can_go_without_a_tear_it_ends():
    # Each triangle with vertices of its own, and a texture that tells them apart.
    positions, _, triangles = sphere(10, 8)
    apart = np.arange(triangles.size).reshape(-1, 3)
    uvs = np.random.default_rng(3).normal(size=(triangles.size, 2))
    model = model_of(surface_of(positions[triangles.ravel()], uvs, apart))
    assert share_left(make_level(model, 0.25), model) > 0.8


def test_flat_shades_can_go_and_corners_take_the_normal_most_like_theirs():
    positions, _, triangles = grid(9)
    high = positions.copy()
    high[:, 2] = np.abs(positions[:, 0] - 0.5)  # a gutter: two planes
    apart = np.arange(triangles.size).reshape(-1, 3)
    places = high[triangles.ravel()]
    a, b, c = (high[triangles[:, k]] for k in range(3))
    faces = np.cross(b - a, c - a)
    normals = np.repeat(faces / np.linalg.norm(faces, axis=1)[:, None], 3, axis=0).astype(np.float32)
    surface = surface_of(places, places[:, :2], apart, stored_normals=normals[None])
    model = model_of(surface)
    level = make_level(model, 0.1).surfaces[0]
    assert share_left(model_of(level), model) == pytest.approx(0.1, abs=0.02)
    a, b, c = (level.positions[0][level.triangles[:, k]] for k in range(3))
    now = np.cross(b - a, c - a)
    now /= np.linalg.norm(now, axis=1)[:, None]
    shades = level.normals[0][level.triangles]
    assert np.abs(np.einsum("tk,tck->tc", now, shades) - 1).max() < 1e-5, "each plane is shaded as it was"
    assert rows(level) <= rows(surface)


def test_texture_coordinates_of_corners():
    model = load(dump(model_of(surface_of(*bent(cylinder(24, 12)))), "md2"))
    assert model.surfaces[0].uvs.ndim == 3
    level = make_level(model, 0.5)
    assert share_left(level, model) == pytest.approx(0.5, abs=0.02)
    again = load(dump(level, "md2"))
    assert again.num_frames == 6
    assert rims(again) <= rims(model)


# -- percentages


@pytest.mark.parametrize(
    ("text", "found"), [("50, 25", [0.5, 0.25]), ("60", [0.6]), ("75% 50% 12.5%", [0.75, 0.5, 0.125])]
)
def test_percentages(text, found):
    assert shares_of(text) == found


@pytest.mark.parametrize("text", ["", "25, 50", "50, 50", "100", "0", "-5", "half", "nan", "50; 25", "120, 50"])
def test_percentages_that_are_none(text):
    with pytest.raises(LimitError, match="percentages that fall"):
        shares_of(text)


def test_the_growth_is_not_quadratic():
    """Steps look at a handful of triangles, however many there are."""
    counts = []
    for size in (12, 24):
        positions, uvs, triangles = grid(size, lambda x, y: np.sin(6 * x) * np.cos(5 * y))
        model = model_of(surface_of(positions, uvs, triangles))
        mesh: Any = levels._Whole(model.surfaces, model, None).mesh
        asked: list[int] = []
        costs = mesh.poses.costs

        def counted(*arguments, costs=costs, asked=asked):
            asked.append(1)
            return costs(*arguments)

        mesh.poses.costs = counted
        mesh.start()
        mesh.shrink(len(triangles) // 4)
        counts.append(len(asked) / len(triangles))
    assert counts[1] < 1.5 * counts[0]
