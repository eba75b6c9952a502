"""Meshes of a source: where vertices are, whatever a format stores, and how they are numbered."""

from copy import copy

import numpy as np
import pytest

from io_idtech_models.formats import by_name
from io_idtech_models.formats.common.normals import latlong_table
from io_idtech_models.model import records
from io_idtech_models.model.edits.normals import plain_normals, smooth_normals
from io_idtech_models.model.records import RecordError
from io_idtech_models.model.records import vertex as record
from io_idtech_models.model.source import DELTA_NORMAL, DeltaSource, MeshSet, RestSource
from io_idtech_models.model.vertex import BaseNormals, SharedPoints
from tests.samples import dump, load, sample
from tests.samples_mdc import directions

EVERY = slice(None)
ARRAYS = ("bases", "deltas", "base_frames", "delta_frames", "scale", "delta_scale", "triangles", "uvs")


def formula(source, frame, vertex):
    """Return a vertex's position and normal as the engine makes them, number by number (`LerpCMeshVertexes`)."""
    base, delta = source.bases[source.base_frames[frame], vertex], source.delta_frames[frame]
    position = [np.float32(n) * np.float32(1 / 64) for n in base[:3].tolist()]
    if delta < 0:
        return position, latlong_table()[int(base[3]) & 0xFFFF]
    steps = source.deltas[delta, vertex].tolist()
    moved = [p + (np.float32(n) - np.float32(127)) * np.float32(0.05) for p, n in zip(position, steps, strict=False)]
    return moved, np.array(directions(), np.float32)[steps[3]]


def rope():
    return load(sample("animated", "mdc"))


def same(one, other):
    """Assert that two sources have the same codes."""
    assert (type(one), one.name, one.shaders, one.middle) == (type(other), other.name, other.shaders, other.middle)
    for name in ARRAYS:
        a, b = getattr(one, name), getattr(other, name)
        assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes()), name
    assert {n: a.tobytes() for n, a in one.facts.items()} == {n: a.tobytes() for n, a in other.facts.items()}


# -- deltas


def test_positions_and_normals_are_what_the_formula_says():
    model = rope()
    for surface, source in zip(model.surfaces, model.source.surfaces, strict=True):
        for frame in range(5):
            for vertex in range(source.num_vertices):
                position, normal = formula(source, frame, vertex)
                assert surface.positions[frame, vertex].tolist() == position
                assert surface.normals[frame, vertex].tolist() == normal.tolist()


@pytest.mark.parametrize("frames", [slice(None), slice(1, 3), np.array([4, 0, 4]), np.zeros(0, np.int64)])
@pytest.mark.parametrize("vertices", [slice(None), slice(0, 2), np.array([3, 0])])
def test_some_frames_and_vertices_are_those_of_all(frames, vertices):
    for source in rope().source.surfaces:
        np.testing.assert_array_equal(
            source.decoded_positions(frames, vertices), source.decoded_positions()[frames][:, vertices]
        )
        np.testing.assert_array_equal(source.normal_codes(frames, vertices), source.normal_codes()[frames][:, vertices])


def test_codes_of_normals_say_whose_they_are():
    source = rope().source.surfaces[0]
    assert ((source.normal_codes() >= DELTA_NORMAL).all(axis=1) == (source.delta_frames >= 0)).all()
    assert source.normal_codes()[3].tolist() == source.bases[1, :, 3].view(np.uint16).tolist()


def test_vertices_share_a_place_where_they_do_so_in_all_frames():
    places = rope().source.surfaces[0].places()
    assert places[0] == places[1]
    assert len(set(places.tolist())) == 5, "the third and fourth meet in base frames alone"


def test_a_step_is_the_largest():
    assert rope().source.surfaces[0].step == pytest.approx(0.05)


def test_what_moved_is_coded_anew_and_nothing_else():
    model = rope()
    model.surfaces[0].positions[:, 5] += (0.0, 0.0, 0.5)
    model.surfaces[0].normals = None  # as Blender gives it
    before, after = (load(data).source.surfaces for data in (sample("animated", "mdc"), dump(model)))
    moved = [(after[0].bases != before[0].bases), (after[0].deltas != before[0].deltas)]
    assert [np.argwhere(part[..., :3].any(axis=2))[:, 1].tolist() for part in moved] == [[5, 5], []]
    assert after[0].bases[:, 5, 2].tolist() == (before[0].bases[:, 5, 2] + 32).tolist()
    assert set(np.argwhere(np.concatenate(moved)[..., 3])[:, 1].tolist()) <= {3, 4, 5}, "its triangle's"
    same(after[1], before[1])


def test_normals_of_deltas_are_turned_along():
    model = rope()
    surface = model.surfaces[0]
    turn = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]], np.float32)
    wanted = surface.normals @ turn.T
    surface.positions, surface.normals = surface.positions @ turn.T, None
    shown = plain_normals(model, surface, by_name("mdc").coding).normals
    assert ((shown * wanted).sum(axis=2) > np.cos(np.radians(13))).all(), "as near as 256 normals are"


# -- their records


def test_a_record_knows_the_points_that_were_shown():
    source = rope().source.surfaces[0]
    source.points = np.array([0, 0, 1, 2, 3, 4], np.int32)
    found = record.surface_source(record.surface_record(source, {}))[0]
    assert isinstance(found, DeltaSource)
    assert found.points is not None
    assert found.points.tolist() == [0, 0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a.pop("deltas"),
        lambda a: a.pop("middle"),
        lambda a: a.update(bases=a["bases"].astype(np.float32)),
        lambda a: a.update(bases=a["bases"].astype(np.int32)),
        lambda a: a.update(bases=a["bases"][:1]),
        lambda a: a.update(bases=a["bases"][:, 1:]),
        lambda a: a.update(deltas=a["deltas"][:, 1:]),
        lambda a: a.update(deltas=a["deltas"][..., :3]),
        lambda a: a.update(deltas=a["deltas"][1:]),
        lambda a: a.update(base_frames=a["base_frames"] - 1),
        lambda a: a.update(base_frames=a["base_frames"][1:]),
        lambda a: a.update(base_frames=a["base_frames"].astype(np.uint16)),
        lambda a: a.update(delta_frames=a["delta_frames"] - 1),
        lambda a: a.update(scale=np.ones((2, 3), np.float32)),
        lambda a: a.update(delta_scale=np.ones((1, 2), np.float32)),
        lambda a: a.update(middle=np.array([-1], np.int32)),
        lambda a: a.update(middle=np.array([1 << 16], np.int32)),
        lambda a: a.update({n: np.resize(a[n], 64 * 5 + 1) for n in ("base_frames", "delta_frames")}),
    ],
)
def test_arrays_of_deltas_that_contradict_one_another_are_refused(change):
    data = record.surface_record(rope().source.surfaces[0], {})
    arrays = dict(records.unpack(data))
    record.surface_source(records.pack(arrays))
    change(arrays)
    with pytest.raises(RecordError):
        record.surface_source(records.pack(arrays))


def test_codes_that_claim_to_be_another_formats_are_dropped(caplog):
    model = load(sample("animated"))
    model.source.format = "md2"  # whose table of normals is shorter
    for surface in model.surfaces:
        surface.normals = None
    assert len(load(dump(model, "md3")).surfaces) == 2
    assert "the facts of the source of 'sample' are damaged: written without them" in caplog.messages


def test_a_copy_of_a_surface_whose_codes_of_normals_mean_nothing_is_smooth(caplog):
    model = load(sample("animated"))
    model.source.format = "md2"  # whose table of normals is shorter
    surface = model.surfaces[0]
    surface.normals = None
    copied = copy(surface)
    copied.positions = surface.positions + np.float32(500.0)
    model.surfaces, model.tags = [surface, copied], []
    (found,) = load(dump(model, "md2")).surfaces
    smooth = smooth_normals(found.positions, found.triangles)
    assert len(found.triangles) == 2 * len(surface.triangles)
    assert np.einsum("fvk,fvk->fv", found.normals, smooth).min() > 0.96, "as near as one of 162 directions is"
    assert "the facts of the source of 'sample' are damaged: written without them" in caplog.messages


@pytest.mark.parametrize(("claimed", "other"), [("md3", "md2"), ("md2", "md3"), ("md3", "md3"), ("md2", "md2")])
def test_deltas_that_claim_to_be_another_formats_are_dropped(claimed, other, caplog):
    model = rope()
    model.source.format = claimed
    for surface in model.surfaces:
        surface.normals = None  # as Blender gives it
    found = load(dump(model, other))
    assert len(found.surfaces) == (2 if other == "md3" else 1)
    assert "the facts of the source of 'sample' are damaged: written without them" in caplog.messages


def test_a_damaged_record_is_refused_or_can_be_used():
    data, random, refused = record.surface_record(rope().source.surfaces[0], {}), np.random.default_rng(3), 0
    for _ in range(1000):
        broken = np.frombuffer(data, np.uint8).copy()
        places = random.integers(0, len(data), random.integers(1, 4))
        broken[places] = random.integers(0, 256, len(places))
        try:
            source, _ = record.surface_source(broken.tobytes())
        except RecordError:
            refused += 1
            continue
        with np.errstate(all="ignore"):  # numbers may be any
            frames = source.decoded_positions()
        assert frames.shape == (source.num_frames, source.num_vertices, 3)
        assert source.normal_codes().shape == frames.shape[:2]
        assert len(source.places()) == source.num_vertices
    assert 100 < refused < 900


# -- meshes at rest


def test_a_mesh_at_rest_has_one_frame():
    places = np.array([[0, 0, 0], [1, 0, 0], [1, 0, 0]], np.float32)
    mesh = RestSource("leg", np.array([[0, 1, 2]], np.int32), np.zeros((3, 2), np.float32), places)
    assert (mesh.num_frames, mesh.num_vertices, mesh.step) == (1, 3, 0.0)
    assert mesh.decoded_positions(slice(0, 1), np.array([2, 0])).tolist() == [[[1, 0, 0], [0, 0, 0]]]
    assert mesh.places().tolist() == [0, 1, 1]
    found = mesh.decoded_positions()
    found += 1
    assert mesh.rest.tolist() == places.tolist(), "nobody else's"
    both = MeshSet([mesh, mesh])
    assert both.places.tolist() == [0, 1, 1, 3, 4, 4]
    assert both.triangles.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_all_surfaces_are_numbered_one_after_another():
    """What Blender is shown of a model, and what its records say of a part."""
    found = load(sample("animated")).source
    first, second = found.surfaces
    assert found.place(1).tolist() == [1, first.num_vertices, len(first.triangles)]
    assert found.shown_points.tolist() == list(range(first.num_vertices + second.num_vertices))
    second.points = np.zeros(second.num_vertices, np.int64)
    again = load(sample("animated")).source
    again.surfaces[1].points = second.points
    assert again.shown_points.tolist() == [*range(first.num_vertices), *[first.num_vertices] * second.num_vertices]
    assert (first.vertex_uvs == first.uvs).all()
    assert found.corner_uvs.tolist() == [*first.uvs[first.triangles].tolist(), *second.uvs[second.triangles].tolist()]
    of_corners = load(sample("seams", "md2")).source.surfaces[0]
    assert of_corners.vertex_uvs is None
    assert (of_corners.corner_uvs == of_corners.uvs).all()


def test_vertices_of_codes_share_a_place():
    (cube,) = load(sample("seamed_cube")).source.surfaces
    labels, places = cube.places(), cube.decoded_positions()
    assert len(set(labels.tolist())) == 8
    assert ((labels[:, None] == labels) == (places[:, :, None] == places[:, None]).all(axis=(0, 3))).all()


def test_points_that_vertices_share():
    points = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
    shared, plain = SharedPoints(points, np.array([1, 0, 1])), SharedPoints(points, np.arange(2))
    assert shared(EVERY, EVERY).tolist() == points[:, [1, 0, 1]].tolist()
    assert shared(slice(1, 2), np.array([2, 1])).tolist() == points[1:, [1, 0]].tolist()
    assert plain(EVERY, EVERY) is points
    assert plain(slice(0, 1), EVERY).tolist() == points[:1].tolist()
    assert SharedPoints(points, np.array([1, 0]))(EVERY, EVERY).tolist() == points[:, ::-1].tolist()
    base = BaseNormals(1, np.eye(3, dtype=np.float32))
    assert (base.of(np.array([2, 0])).frame, base.of(np.array([2, 0])).normals.tolist()) == (1, [[0, 0, 1], [1, 0, 0]])
