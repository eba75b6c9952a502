"""Edits of every kind at once: what is written is what is read again, and what nobody touched keeps its rows."""

import itertools
from collections import Counter

import numpy as np
import pytest

from io_idtech_models.formats import by_name
from io_idtech_models.formats.lwo.file import read
from tests import samples_lwo
from tests.samples import load

ROW = by_name("lwo")
BASE = np.array([0.75, 0.5, 0.25, 1.0], np.float32)  # of the surface, in the sample that has colours


def faces_of(model, further=True):
    """Return what triangles say, as games see them: material, set, places, coordinates, colours; as often as they do.

    The drawn set is called "" and is not said again by a further one that is the same.
    """
    found: Counter[tuple[str, str, str]] = Counter()
    for surface in model.surfaces:
        colors = np.tile(BASE, (surface.num_vertices, 1)) if surface.colors is None else surface.colors
        shown = np.concatenate((surface.positions[0], np.rint(colors * 255)), axis=1)[surface.triangles]
        sets = {name: uvs for name, uvs in surface.further_uvs.items() if (uvs != surface.corner_uvs).any() and further}
        for name, uvs in {**sets, "": surface.corner_uvs}.items():
            for face in np.concatenate((shown, uvs), axis=2).tolist():
                turned = min(face[first:] + face[:first] for first in range(3))
                found[surface.shaders[0], name, str(turned)] += 1
    return found


def moved(surface, rng):
    """Move some points, all vertices at one place or single ones."""
    positions = surface.positions.copy()
    places = np.unique(positions[0], axis=0, return_inverse=True)[1].reshape(-1)
    which = places == rng.integers(places.max() + 1) if rng.random() < 0.7 else rng.random(len(places)) < 0.3
    positions[0, which] += np.round(rng.normal(size=3), 2).astype(np.float32)
    surface.positions = positions


def shifted(surface, rng):
    which = rng.random(len(surface.uvs)) < rng.choice((0.2, 1.0))
    surface.uvs = np.where(which[:, None], np.float32(rng.normal()), surface.uvs).astype(np.float32)


def dropped(surface, rng):
    kept = rng.random(len(surface.triangles)) < 0.7
    surface.triangles = surface.triangles[kept]
    surface.source_triangles = None if surface.source_triangles is None else surface.source_triangles[kept]
    surface.further_uvs = {name: uvs[kept] for name, uvs in surface.further_uvs.items()}


def turned_over(surface, rng):
    surface.triangles = np.ascontiguousarray(surface.triangles[:, ::-1])
    surface.further_uvs = {name: uvs[:, ::-1].copy() for name, uvs in surface.further_uvs.items()}


def parted(surface, rng):
    """Give every corner a vertex of its own."""
    flat = surface.triangles.ravel()
    surface.positions, surface.normals = surface.positions[:, flat], surface.normals[:, flat]
    surface.uvs = surface.uvs[flat]
    surface.source_vertices = None if surface.source_vertices is None else surface.source_vertices[flat]
    surface.colors = None if surface.colors is None else surface.colors[flat]
    surface.triangles = np.arange(len(flat), dtype=np.int32).reshape(-1, 3)


def painted(surface, rng):
    """Paint some vertices of a surface that has colours."""
    if surface.colors is not None:
        which = rng.random(len(surface.colors)) < rng.choice((0.2, 1.0))
        surface.colors = np.where(which[:, None], np.float32(rng.integers(0, 256, 4) / 255), surface.colors)


def renamed(surface, rng):
    surface.name = f"name {rng.integers(3)}"


def dressed(surface, rng):
    surface.shaders = [f"textures/m{rng.integers(3)}"]


def forgotten(surface, rng):
    """Be what no file had."""
    surface.normals = surface.normals
    surface.source_index, surface.source_vertices, surface.source_triangles = -1, None, None


EDITS = (moved, moved, shifted, dropped, turned_over, parted, painted, painted, renamed, dressed, forgotten)


def edited(model, rng):
    for surface in model.surfaces:
        for _ in range(rng.integers(0, 3)):
            EDITS[rng.integers(len(EDITS))](surface, rng)
    if len(model.surfaces) > 1 and rng.random() < 0.3:
        del model.surfaces[rng.integers(len(model.surfaces))]
    return model


@pytest.mark.parametrize("make", [samples_lwo.several, samples_lwo.several_sets], ids=lambda make: make.__name__)
def test_polygons_that_a_point_folds_keep_their_triangles(make):
    """Games cut a polygon of four corners and more where its points are now, which may be elsewhere."""
    for number, point in itertools.product(range(len(load(make()).surfaces)), range(12)):
        model = load(make())
        surface = model.surfaces[number]
        places = np.unique(surface.positions[0], axis=0, return_inverse=True)[1].reshape(-1)
        surface.positions = surface.positions.copy()
        surface.positions[0, places == point] += (-20, 10, 14)
        assert faces_of(load(ROW.dump(model)), False) == faces_of(model, False), (number, point)


def test_new_surfaces_of_one_name_and_material_stay_apart():
    model = load(samples_lwo.pyramid())
    for _ in range(3):
        (new,) = load(samples_lwo.pyramid()).surfaces
        forgotten(new, None)
        new.name, new.shaders = "textures/new", ["textures/new"]
        model.surfaces.append(new)
    found = [(each.name, each.shaders, len(each.triangles)) for each in load(ROW.dump(model)).surfaces]
    assert found[1:] == [("textures/new", ["textures/new"], 6)] * 3


@pytest.mark.parametrize("data", [samples_lwo.form(), samples_lwo.nothing()], ids=["no chunk", "no polygon"])
def test_what_a_file_of_nothing_gets_is_in_order(data):
    """Names come before what is called so, points before polygons."""
    model, (new,) = load(data), load(samples_lwo.pyramid()).surfaces
    forgotten(new, None)
    model.surfaces.append(new)
    chunks = [each.ident for each in read(ROW.dump(model)).chunks if each.ident != b"LAYR"]
    assert chunks == [b"TAGS", b"PNTS", b"BBOX", b"VMAP", b"POLS", b"PTAG", b"SURF"]


@pytest.mark.parametrize("seed", range(20))
def test_other_layers_and_chunks_stay(seed):
    rng = np.random.default_rng(seed)
    data = ROW.dump(edited(load(samples_lwo.several()), rng))
    old, new = read(samples_lwo.several()), read(data)
    assert np.array_equal(old.layers[1].points, new.layers[1].points)
    assert np.array_equal(old.layers[1].corners, new.layers[1].corners)
    assert [each.name for each in new.layers] == [b"", b"far"]
    (curve,) = [each for each in new.layers[0].lists if each.kind == b"CURV"]
    assert [old.layers[0].points[i].tolist() for i in (0, 1, 2)] == new.layers[0].points[curve.corners].tolist() or len(
        curve.corners
    ) == 3
    data = ROW.dump(edited(load(samples_lwo.pyramid()), rng))
    assert b"XYZW\0\0\0\3odd" in data and b"CLIP" in data and data.endswith(b"behind the form")
