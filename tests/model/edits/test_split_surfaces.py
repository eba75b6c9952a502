"""Surfaces cut into pieces that a game takes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_idtech_models.formats import by_name
from io_idtech_models.formats.vertex_files import dump_for
from io_idtech_models.model.edits import split_surfaces as splitting
from io_idtech_models.model.edits.conform import with_vertices
from io_idtech_models.model.edits.split_surfaces import cut, further_names
from io_idtech_models.model.limits.checks import engine_surface_name
from io_idtech_models.model.limits.games import VertexLimits
from io_idtech_models.model.vertex import Surface, VertexModel
from io_idtech_models.reporting import LimitError
from tests.model.lod.test_collapse import grid, sphere
from tests.samples import CorpusFile, corpus_params, dump, load

MD3 = by_name("md3")
SPLIT = {"split_surfaces": True}


def surface_of(size, name="sheet", frames=3, source=grid):
    positions, uvs, triangles = source(size, lambda x, y: np.sin(6 * x) * np.cos(5 * y))
    waves = [positions * 40 + np.outer(np.sin(9 * positions[:, 0] + f), (0, 0, 3)) for f in range(frames)]
    moving = np.stack(waves).astype(np.float32)
    return Surface(name, moving, triangles.astype(np.int32), uvs.astype(np.float32), ["skin"])


def model_of(*surfaces):
    return VertexModel("thing", [f"f{i}" for i in range(len(surfaces[0].positions))], list(surfaces), [])


def written(model, game="quake3", **options: Any) -> Any:
    found = dump_for(MD3, model, game, SPLIT | options)
    return found, load(found.data)


def drawn(model):
    """Return what a game draws: of each triangle, from a corner that is its least, positions and normals as codes."""
    rows = []
    for surface, own in zip(model.surfaces, model.source.surfaces, strict=True):
        corners = np.concatenate(
            (own.codes[:, surface.triangles].transpose(1, 2, 0, 3).reshape(len(surface.triangles), 3, -1),
             surface.uvs[surface.triangles].view(np.int32)), axis=2
        )  # fmt: skip
        for triangle in corners:
            turns = [np.roll(triangle, k, axis=0).tobytes() for k in range(3)]
            rows.append(min(turns))
    return sorted(rows)


# -- cut


def check_cut(triangles, count, parts, most):
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(triangles))), "each triangle once"
    for part in parts:
        assert len(np.unique(triangles[part])) <= most[0]
        assert len(part) <= most[1]
        assert (np.diff(part) > 0).all(), "in their order"
    assert (np.diff([part[0] for part in parts]) > 0).all(), "as are the pieces"


def test_a_sheet_is_cut_across_with_few_vertices_twice():
    positions, _, triangles = grid(40)
    positions[:, 0] *= 3
    parts = cut(triangles, positions, 999, 1999)
    assert len(parts) == 2
    check_cut(triangles, len(positions), parts, (999, 1999))
    assert sum(len(np.unique(triangles[part])) for part in parts) == 1640, "the 40 of one row"
    left, right = (positions[np.unique(triangles[part]), 0] for part in parts)
    assert left.max() <= right.min() or right.max() <= left.min()


def test_vertices_along_further_cuts_are_reckoned_with():
    positions, _, triangles = grid(64)
    assert len(cut(triangles, positions, 999, 1999)) == 5, "else a sixth would take what is left over"


def test_what_hangs_together_nowhere_is_cut_there():
    positions, _, triangles = grid(28)
    twice = np.concatenate((positions, positions + np.array((1.0, 0.0, 0.0))))  # they meet, with vertices of their own
    both = np.concatenate((triangles, triangles + len(positions)))
    parts = cut(both, twice, 999, 1999)
    assert sum(len(np.unique(both[part])) for part in parts) == len(twice)


@pytest.mark.parametrize("most", [(3, 1), (10, 5), (64, 1000), (1000, 7), (99999, 99999), (None, None), (50, None)])
def test_no_piece_is_too_large(most):
    positions, _, triangles = sphere(16, 12)
    sizes = (most[0] or 10**6, most[1] or 10**6)
    parts = cut(triangles, positions, *most)
    check_cut(triangles, len(positions), parts, sizes)
    least = max(-(-len(np.unique(triangles)) // sizes[0]), -(-len(triangles) // sizes[1]))
    assert least <= len(parts) <= 2 * least or sizes[0] < 12
    assert min(len(part) for part in parts) > 9 or sizes[0] < 12 or sizes[1] < 12, "and none a sliver"


@given(st.integers(0, 2**32 - 1), st.integers(3, 40), st.integers(1, 90), st.integers(3, 9), st.integers(1, 9))
def test_whatever_the_triangles(seed, total, count, vertices, faces):
    rng = np.random.default_rng(seed)
    triangles = rng.integers(0, total, (count, 3))
    check_cut(triangles, total, cut(triangles, rng.integers(0, 3, (total, 3)), vertices, faces), (vertices, faces))


@pytest.mark.parametrize("most", [(200, 390), (130, 999), (70, 120), (40, 999), (999, 33)])
def test_cuts_are_where_they_were(most, as_before):
    """Which triangles come together is seen in a file: names of pieces stand in skins."""
    positions, _, triangles = sphere(24, 18)
    parts = cut(triangles, np.round(positions * (900, 700, 500)), *most)
    as_before(np.concatenate([np.append(part, -1) for part in parts]).astype("<i4").tobytes())


def test_work_grows_with_the_triangles(monkeypatch):
    found = []
    best = splitting._best_cut
    for size in (60, 120):
        seen: list[int] = []

        def counted(part, most, seen=seen):
            seen.append(len(part.triangles))
            return best(part, most)

        monkeypatch.setattr(splitting, "_best_cut", counted)
        positions, _, triangles = grid(size)
        parts = cut(triangles, positions, 300, 500)
        found.append(sum(seen) / len(triangles))
        assert len(parts) < 1.6 * len(triangles) / 500
    assert found[1] < found[0] + 5, "each triangle is looked at once more where there are four times as many, or twice"


# -- names


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("skin", ["skin2", "skin3"]),
        ("arm_l", ["arm_l2", "arm_l3"]),  # a game calls the first 'arm'
        ("leg_", ["leg2", "leg3"]),  # not leg_2, which were 'leg'
        ("part2", ["part2-2", "part2-3"]),
        ("", ["2", "3"]),
        ("x" * 63, ["x" * 62 + "2", "x" * 62 + "3"]),
        ("é" * 31, ["é" * 31 + "2", "é" * 31 + "3"]),
    ],
)
def test_names_of_pieces(name, found):
    assert list(further_names(name, 2, {engine_surface_name(name)}, 63)) == found


def test_names_of_pieces_are_nobody_elses():
    taken = {engine_surface_name(name) for name in ("skin", "SKIN2", "skin3_x")}
    assert list(further_names("skin", 2, taken, 63)) == ["skin4", "skin5"]
    assert list(further_names("skin", 1, taken, 63)) == ["skin6"]


# -- files


@pytest.mark.parametrize("first", [True, False])
def test_what_a_game_draws_is_the_same(first):
    surfaces = [surface_of(40), surface_of(9, "small")]
    whole = dump(model_of(*(surfaces if first else surfaces[::-1])), "md3")
    found, again = written(load(whole))
    assert [s.name for s in again.surfaces] == (["sheet", "sheet2", "small"] if first else ["small", "sheet", "sheet2"])
    assert all(s.num_vertices <= 999 and len(s.triangles) <= 1999 for s in again.surfaces)
    assert all(s.shaders == ["skin"] for s in again.surfaces)
    assert found.pieces == {"sheet": ["sheet", "sheet2"]}
    assert found.notes == ["'sheet' is cut, skin files must list its pieces: 'sheet', 'sheet2'"]
    assert drawn(again) == drawn(load(whole))


def test_of_an_edited_model_too_normals_do_not_tell_where_the_cut_is():
    edited = []
    for _ in range(2):
        model = load(dump(model_of(surface_of(40)), "md3"))
        surface = model.surfaces[0]
        moved = surface.positions.copy()
        moved[..., 2] += 4 * np.sin(moved[..., 1])
        surface.positions = moved
        edited.append(model)
    _, again = written(edited[0])
    assert len(again.surfaces) == 2
    assert drawn(again) == drawn(load(MD3.dump(edited[1])))


def test_bounds_and_what_else_the_file_says_stay():
    whole = load(dump(model_of(surface_of(40), surface_of(5, "small")), "md3"))
    md3 = MD3.read(MD3.dump(whole))
    for part in (md3, *md3.surfaces):
        part.header = part.header.copy()
    md3.surfaces[0].header["flags"], md3.surfaces[1].header["flags"], md3.header["flags"] = 3, 77, 5
    md3.frames = md3.frames.copy()
    md3.frames["radius"] = 123.0
    found, _ = written(load(MD3.write(md3)))
    after = MD3.read(found.data)
    assert [int(s.header["flags"]) for s in after.surfaces] == [3, 3, 77]
    assert int(after.header["flags"]) == 5
    assert (after.frames["radius"] == 123.0).all()
    assert np.array_equal(after.frames["mins"], md3.frames["mins"])


def test_what_a_game_takes_is_not_touched():
    data = dump(model_of(surface_of(31), surface_of(9, "small")), "md3")
    found, _ = written(load(data))
    assert found.data == data
    assert found.pieces == {}


@pytest.mark.parametrize("file", corpus_params(".md3"))
def test_unedited_real_models_are_written_as_they_were(file: CorpusFile):
    plain = dump_for(MD3, load(file.data), "format", {}).data
    assert dump_for(MD3, load(file.data), "format", SPLIT).data == plain


def test_an_unedited_surface_is_not_cut_because_of_what_a_game_is_only_not_made_for():
    data = dump(model_of(surface_of(66, frames=1)), "md3")  # 4356 vertices of 4096, 8450 triangles of 8192
    found, _ = written(load(data), "format")
    assert found.data == data
    model = load(data)
    model.surfaces[0].positions = model.surfaces[0].positions + np.float32(1.0)
    assert len(written(model, "format")[1].surfaces) == 2, "but an edited one is"
    assert len(written(load(data), "quake3")[1].surfaces) > 4, "and so is one that would be refused"


@pytest.mark.parametrize(
    ("vertices", "triangles", "found"),
    [(81, 128, []), (80, None, [0]), (None, 127, [0]), (None, None, []), (16, 18, [0]), (15, 18, [0, 1])],
)
def test_what_is_too_large(vertices, triangles, found):
    model = model_of(surface_of(9), surface_of(4))
    assert splitting.too_large(model, VertexLimits(vertices, triangles, None)) == found


EDITS = {
    "positions": lambda surface: surface.positions + np.float32(1.0),
    "triangles": lambda surface: surface.triangles[:, [1, 2, 0]],
    "source_vertices": lambda surface: np.where(np.arange(81) == 3, -1, surface.source_vertices),
    "source_index": lambda surface: -1,
    "frame_sources": lambda model: np.array([0, -1, 2], np.int32),
    "source": lambda model: None,
}


@pytest.mark.parametrize("field", EDITS)
def test_what_is_too_large_only_if_it_was_edited(field):
    """What a game is not made for, but takes."""
    surfaces = [surface_of(4), surface_of(9)]
    surfaces[1].positions[1] = surfaces[1].positions[0]  # so that an inserted frame is as well where it was
    model = load(dump(model_of(*surfaces), "md3"))
    limits = VertexLimits(80, None, None, soft=frozenset({"vertices"}))
    assert splitting.too_large(model, limits) == []
    edited = model.surfaces[1] if hasattr(model.surfaces[1], field) else model
    setattr(edited, field, EDITS[field](edited))
    assert splitting.too_large(model, limits) == [1]


def test_without_the_option_the_error_names_it():
    model = model_of(surface_of(40))
    with pytest.raises(
        LimitError, match=r"'sheet' has 1600 vertices, .* takes 999; .*the option 'Split Surfaces' cuts"
    ):
        dump_for(MD3, model, "quake3")
    small = model_of(surface_of(9, "x" * 70))
    with pytest.raises(LimitError) as error:
        dump_for(MD3, small, "quake3")
    assert "Split Surfaces" not in str(error.value)


@pytest.mark.parametrize(("count", "most", "left"), [(2, 50, 2), (60, 50, None), (60, None, 60)])
def test_vertices_of_no_triangle_go_with_the_last_piece_as_far_as_they_fit(count, most, left):
    surface = surface_of(9)
    surface.positions = np.concatenate((surface.positions, surface.positions[:, :count] + 5), axis=1)
    surface.uvs = np.concatenate((surface.uvs, surface.uvs[:count]))
    model = load(dump(model_of(surface), "md3"))
    *pieces, last = splitting.split_surfaces(model, [0], VertexLimits(most, 70, None))[0].surfaces
    idle = [piece.num_vertices - len(np.unique(piece.triangles)) for piece in pieces]
    assert idle == [0] * len(pieces) and pieces
    used = len(np.unique(last.triangles))
    assert last.num_vertices == (50 if left is None else used + left)


@pytest.mark.parametrize(("further", "is_named"), [(8, False), (9, True)])
def test_surfaces_whose_vertices_stand_apart_are_named(further, is_named):
    """Seams make half as many again as there are places: more are worth a word."""
    flat = surface_of(4, "torn")
    twice = np.concatenate((np.arange(16), np.arange(further)))
    torn = with_vertices(flat, twice, flat.triangles, flat.uvs[twice])
    text = "the vertices of 'torn' stand in 16 places: shade it smooth, or unwrap it with fewer seams"
    assert splitting.apart([flat, torn]) == [text] * is_named
