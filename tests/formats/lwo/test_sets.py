"""Further sets of texture coordinates in an LWO: which there are, and which rows an edit of them changes."""

import numpy as np
import pytest

from io_idtech_models.formats import by_name
from io_idtech_models.formats.lwo.file import read
from io_idtech_models.formats.lwo.numbers import floats_at
from io_idtech_models.formats.lwo.parts import mapped
from io_idtech_models.formats.lwo.rewrite import matching
from io_idtech_models.reporting import collected_warnings
from tests import samples_lwo
from tests.formats.lwo import test_edits
from tests.samples import load
from tests.samples_lwo import CORNERS, FACES, UVS, LayerSpec, form, several_sets, smooth, surf, tags

ROW = by_name("lwo")


def maps_of(data):
    """Return the maps of texture coordinates: whether of corners, name, and rows, by what they are of."""
    found = []
    for each in read(data).layers[0].maps:
        if each.kind == b"TXUV":
            points = each.points.tolist()
            keys = points if each.polygons is None else zip(points, each.polygons.tolist(), strict=True)
            rows = dict(zip(keys, floats_at(data, each.places, 2).tolist(), strict=True))
            found.append((each.polygons is not None, each.name.decode(), rows))
    return found


def changed_rows(before, after):
    """Return the rows that differ, as (name, key): maps are in their order."""
    old, new = maps_of(before), maps_of(after)
    assert [each[:2] for each in old] == [each[:2] for each in new]
    pairs = [(a[1], a[2], b[2]) for a, b in zip(old, new, strict=True)]
    return {(name, key) for name, a, b in pairs for key in a.keys() | b.keys() if a.get(key) != b.get(key)}


def sets_of(model):
    return [(surface.name, surface.uv_name, list(surface.further_uvs)) for surface in model.surfaces]


def test_sets_that_say_something_else_than_the_drawn_one_are_further_ones():
    data = several_sets((0, 1, 4))
    model = load(data)
    stone = model.surfaces[0]
    assert sets_of(model) == [
        ("textures/stone", "UV", ["Light", "Detail"]), ("textures/wood", "UV", ["Light", "Detail"]),
    ]  # fmt: skip
    detail = stone.further_uvs["Detail"]
    bare = stone.positions[0][stone.triangles][..., 1] > 5.9  # points 2 and 3 have no row: shown as they are drawn
    assert bare.any() and np.array_equal(detail[bare], stone.corner_uvs[bare])
    assert np.array_equal(detail[~bare][:, 0] % 4, np.zeros((~bare).sum()))
    assert ROW.dump(model) == data
    # And such a corner gets a row as soon as it is edited.
    detail[bare] += 1
    (rows,) = [rows for of, name, rows in maps_of(ROW.dump(model)) if (of, name) == (True, "Detail")]
    assert rows.keys() == {(2, 0), (2, 1), (3, 1)}


def test_a_coordinate_that_moves_changes_its_row():
    model = load(several_sets())
    for surface in model.surfaces:
        tip = (surface.positions[0] == np.array(CORNERS[4])[[0, 2, 1]]).all(axis=1)[surface.triangles]
        surface.further_uvs["Light"][tip] = (9, 8)
    data = ROW.dump(model)
    assert changed_rows(several_sets(), data) == {("Light", 4)}
    assert len(data) == len(several_sets())


def test_corners_of_a_point_that_part_get_rows_and_the_drawn_ones_behind_them():
    model = load(several_sets())
    wood = model.surfaces[1]
    wood.further_uvs["Detail"][0, 1] = (9, 8)
    data = ROW.dump(model)
    again = load(data).surfaces[1]
    assert np.array_equal(again.further_uvs["Detail"], wood.further_uvs["Detail"])
    assert np.array_equal(again.corner_uvs, wood.corner_uvs)
    found = [each[:2] for each in maps_of(data) if each[0]]
    assert found.index((True, "Detail")) < found.index((True, "UV"))
    assert maps_of(data)[:4] == maps_of(several_sets())[:4]


def test_names_change_in_their_chunks_alone():
    model = load(several_sets())
    for surface in model.surfaces:
        surface.further_uvs = {name.replace("Light", "Lamp"): uvs for name, uvs in surface.further_uvs.items()}
    assert ROW.dump(model).replace(b"Lamp\0\0", b"Light\0") == several_sets()
    for surface in model.surfaces:
        surface.uv_name = "VU"
    data = ROW.dump(model)
    names = {"Light": "Lamp", "UV": "VU"}
    assert maps_of(data)[:3] == [(of, names.get(name, name), rows) for of, name, rows in maps_of(several_sets())][:3]


def test_a_name_that_one_surface_changes_is_no_other_surfaces():
    model = load(several_sets())
    stone, wood = model.surfaces
    wood.further_uvs["Lamp"] = wood.further_uvs.pop("Light")
    stone.source_vertices, stone.source_triangles, stone.source_index = None, None, -1
    again = load(ROW.dump(model))
    assert {surface.name: list(surface.further_uvs) for surface in again.surfaces} == {
        "textures/wood": ["Detail", "Lamp"], "textures/stone": ["Light", "Detail"],
    }  # fmt: skip


def test_the_drawn_set_is_the_one_that_says_what_is_drawn():
    """At some corners the row that games take may be a further set's, which says the same there."""
    layer = LayerSpec(CORNERS, FACES, [0] * 6, {"UV": UVS})
    layer.corners = {"Other": {(p, n): UVS[p] for n, face in enumerate(FACES) for p in face}}
    layer.corners["Other"][0, 0] = (7, 7)
    layer.corners["UV"] = {(0, 0): (0, 0)}
    model = load(form(tags("a"), layer.pack(), surf("a")))
    assert sets_of(model) == [("a", "UV", ["Other"])]


def test_a_set_that_says_half_of_what_is_drawn_is_not_the_drawn_one():
    """At one corner it is: there nobody else has a row."""
    every = {(p, n): UVS[p] for n, face in enumerate(FACES) for p in face}
    layer = LayerSpec(CORNERS, FACES, [0] * 6, {})
    layer.corners = {"Half": {corner: (u, v + 5.0) for corner, (u, v) in every.items()}, "Full": dict(every)}
    layer.corners["Half"][0, 0] = layer.corners["Full"].pop((0, 0))
    assert sets_of(load(form(tags("a"), layer.pack(), surf("a")))) == [("a", "Full", ["Half"])]


def test_sets_stand_in_another_order():
    model = load(several_sets())
    for surface in model.surfaces:
        surface.further_uvs = dict(reversed(surface.further_uvs.items()))
    data = ROW.dump(model)
    assert [name for of, name, _ in maps_of(data) if not of] == ["Detail", "Light", "UV", "Own"]
    assert sorted(maps_of(data), key=str) == sorted(maps_of(several_sets()), key=str)


def test_a_set_that_is_deleted_takes_its_rows_along():
    model = load(several_sets())
    for surface in model.surfaces:
        del surface.further_uvs["Light"]
    data = ROW.dump(model)
    assert maps_of(data) == [each for each in maps_of(several_sets()) if each[1] != "Light"]
    assert sets_of(load(data))[0] == ("textures/stone", "UV", ["Detail"])
    model = load(several_sets())
    del model.surfaces[0].further_uvs["Light"]
    stone, wood = load(ROW.dump(model)).surfaces
    assert list(stone.further_uvs) == ["Detail"], "though the other has points of it"
    assert np.array_equal(wood.further_uvs["Light"], model.surfaces[1].further_uvs["Light"])


def test_another_set_is_drawn():
    model = load(smooth())
    (surface,) = model.surfaces
    assert sets_of(model) == [("textures/smooth", "UV", ["Light"])]
    drawn, light = surface.corner_uvs.copy(), surface.further_uvs["Light"].copy()
    uvs = surface.uvs.copy()
    uvs[surface.triangles] = light
    surface.uvs, surface.uv_name, surface.further_uvs = uvs, "Light", {"UV": drawn}
    data = ROW.dump(model)
    (again,) = load(data).surfaces
    assert sets_of(load(data)) == [("textures/smooth", "Light", ["UV"])]
    assert np.array_equal(again.corner_uvs, light) and np.array_equal(again.further_uvs["UV"], drawn)
    assert [each[:2] for each in maps_of(data)] == [(False, "UV"), (False, "Light")]
    assert sorted(maps_of(data), key=str) == sorted(maps_of(smooth()), key=str)


def test_new_files_have_further_maps_before_the_drawn_one():
    model = load(several_sets())
    model.source = None
    data = ROW.dump(model)
    assert [each[:2] for each in maps_of(data)][:3] == [(False, "Light"), (False, "Detail"), (False, "UV")]
    for old, new in zip(model.surfaces, load(data).surfaces, strict=True):
        assert np.array_equal(old.corner_uvs, new.corner_uvs)
        for name, uvs in old.further_uvs.items():
            assert np.array_equal(new.further_uvs.get(name, new.corner_uvs), uvs), name


def test_a_surface_that_is_written_anew_keeps_its_map_where_others_have_theirs():
    layer = LayerSpec([*CORNERS, (9, 9, 9), (10, 9, 9), (9, 10, 9)], [*FACES, (5, 6, 7)], [0] * 6 + [1], {"One": UVS})
    layer.uvs["Two"] = {5: (0, 0), 6: (1, 0), 7: (0, 1)}
    model = load(form(tags("a", "b"), layer.pack(), surf("a"), surf("b")))
    assert sets_of(model) == [("a", "One", []), ("b", "Two", [])]
    surface = model.surfaces[0]
    surface.triangles, surface.source_triangles = surface.triangles[1:], surface.source_triangles[1:]
    data = ROW.dump(model)
    assert sets_of(load(data)) == [("b", "Two", []), ("a", "One", [])]
    assert {name: set(rows) for _, name, rows in maps_of(data)}["Two"] == {0, 1, 2}


# -- edits of every kind at once


def lit(surface, rng):
    """Move some of the coordinates of a further set."""
    for name in list(surface.further_uvs)[: rng.integers(3)]:
        which = rng.random(surface.triangles.shape) < rng.choice((0.1, 0.5, 1.0))
        uvs = surface.further_uvs[name].copy()
        uvs[which] = rng.integers(0, 9, 2)
        surface.further_uvs[name] = uvs


def added(surface, rng):
    surface.further_uvs[f"new {rng.integers(2)}"] = surface.corner_uvs + np.float32(rng.integers(1, 4))


def lost(surface, rng):
    for name in list(surface.further_uvs)[: rng.integers(2)]:
        del surface.further_uvs[name]


def called(surface, rng):
    for name in list(surface.further_uvs)[: rng.integers(2)]:
        surface.further_uvs[f"called {rng.integers(2)}"] = surface.further_uvs.pop(name)
    if rng.random() < 0.3:
        surface.uv_name = "drawn"


def drawn(surface, rng):
    """Draw a further set: every corner becomes a vertex of its own."""
    for name in list(surface.further_uvs)[:1]:
        old, name_before = surface.corner_uvs, surface.uv_name or "Texture"
        test_edits.parted(surface, rng)
        surface.uvs = surface.further_uvs.pop(name).reshape(-1, 2).copy()
        surface.uv_name, surface.further_uvs[name_before] = name, old


EDITS = (lit, lit, added, lost, called, drawn, *test_edits.EDITS)


def edited(model, rng, alike):
    """Edit surfaces in the same way, as a modeller who does one thing to all of them, or each in its own."""
    seeds = [rng.integers(1 << 30)] * len(model.surfaces) if alike else rng.integers(1 << 30, size=len(model.surfaces))
    for surface, seed in zip(model.surfaces, seeds, strict=True):
        own = np.random.default_rng(seed)
        for _ in range(own.integers(0, 4)):
            EDITS[own.integers(len(EDITS))](surface, own)
    if len(model.surfaces) > 1 and rng.random() < 0.3:
        del model.surfaces[rng.integers(len(model.surfaces))]
    return model


@pytest.mark.parametrize("alike", [True, False])
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("make", samples_lwo.FILES[:-1], ids=lambda make: make.__name__)  # the last has no polygons
def test_what_was_edited_is_read_again(make, seed, alike, as_before):
    rng = np.random.default_rng([seed, alike])
    with collected_warnings() as said:
        model = edited(load(make()), rng, alike)
        options = {"triangulate": bool(rng.random() < 0.2)}
        data = ROW.dump(model, options)
        as_before(data)
        as_before(said)
        again = load(data)
        assert ROW.dump(again, options if seed % 2 else None) == data
    before, after = test_edits.faces_of(model), test_edits.faces_of(again)
    assert not before - after
    assert not [face for face in after - before if not face[1]], "but for further sets nothing is more than it was"
    further = {name for surface in model.surfaces for name in surface.further_uvs}
    assert {name for surface in again.surfaces for name in surface.further_uvs} <= further
    # Surfaces of one name and material can be one in the file.
    shown = {s.name for s in again.surfaces} - {s.shaders[0] for s in again.surfaces}
    assert shown <= {s.name for s in model.surfaces if len(s.triangles)}


def test_texture_coordinates_that_games_take_are_the_last():
    """Doom 3 goes through all maps of a point, then through all of a corner, and takes the last."""
    lwo = read(several_sets())
    rows = mapped(lwo, lwo.layers[0])
    assert [lwo.layers[0].maps[n].name for n in np.unique(rows.maps[rows.of_corners[rows.of_corners >= 0]])] == [
        b"UV", b"Own", b"UV", b"Own",
    ]  # fmt: skip


@pytest.mark.parametrize(("keys", "wanted"), [([], [3]), ([3], []), ([], []), ([5], [3])])
def test_rows_of_keys_that_are_not_there(keys, wanted):
    found = matching(np.array(keys, np.int64), np.array(wanted, np.int64))
    assert [each.tolist() for each in found] == [[], []]
