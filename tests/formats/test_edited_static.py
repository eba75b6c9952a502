"""Static models with edits of every kind at once: what is written means what the model did. See also `test_edited`."""

import numpy as np
import pytest

from io_idtech_models.formats import by_name
from tests.samples import dump, load, sample

FILES = [
    ("ase", "pyramid"), ("ase", "several"), ("ase", "moved_texture"), ("ase", "colored"), ("ase", "several_sets"),
    ("lwo", "pyramid"), ("lwo", "smooth"), ("lwo", "several"), ("lwo", "long_indices"), ("lwo", "several_sets"),
    ("lwo", "old_object"),
]  # fmt: skip
SEEDS = range(10)


def some(rng, *shape):
    """Return which of so many are edited: none, some or all."""
    return rng.random(shape) < rng.choice([0.0, 0.3, 1.0], p=[0.3, 0.5, 0.2])


def edit_surface(surface, rng):
    """Move, paint and bend some of a surface, change what it is called and wears, and maybe what it is made of."""
    places = surface.positions.reshape(-1, 3)
    points = np.unique(places, axis=0, return_inverse=True)[1].reshape(-1)
    if rng.random() < 0.2:
        points = np.arange(len(places))  # they part
    moved = some(rng, points.max() + 1)[points]
    way = rng.integers(-3, 4, (points.max() + 1, 3))[points] / 4
    surface.positions = surface.positions + np.where(moved[:, None], way, 0).astype(np.float32)
    surface.uvs = surface.uvs.copy()
    surface.uvs[some(rng, len(surface.uvs))] += np.float32(0.125)
    for name in list(surface.further_uvs):
        if rng.random() < 0.3:
            del surface.further_uvs[name]
        else:
            further = surface.further_uvs[name] = surface.further_uvs[name].copy()
            further[some(rng, len(further))] -= np.float32(0.25)
    if rng.random() < 0.3:
        surface.further_uvs["new"] = surface.corner_uvs * np.float32(0.5)
    if surface.colors is not None:
        surface.colors = surface.colors.copy()
        surface.colors[some(rng, surface.num_vertices)] *= np.float32(0.5)
    if rng.random() < 0.3:
        surface.own_normals, surface.normals = some(rng, surface.num_vertices), np.roll(surface.normals, 1, axis=2)
    elif rng.random() < 0.3:
        surface.normals = None
    if rng.random() < 0.3:
        surface.name, surface.shaders = surface.name + "x", ["textures/other"]
    if rng.random() < 0.5:
        make_anew(surface, rng)


def make_anew(surface, rng):
    """Drop or turn triangles, and put others or new vertices in place of some."""
    kept = np.flatnonzero(rng.random(len(surface.triangles)) < rng.choice([1.0, 0.7]))
    kept = kept if len(kept) else np.arange(len(surface.triangles))
    order = rng.permutation(kept) if rng.random() < 0.3 else kept
    surface.triangles, surface.source_triangles = surface.triangles[order], surface.source_triangles[order]
    surface.uvs = surface.uvs[order] if surface.uvs.ndim == 3 else surface.uvs
    surface.further_uvs = {name: array[order] for name, array in surface.further_uvs.items()}
    surface.shown_corners = None if surface.shown_corners is None else surface.shown_corners[order]
    surface.source_vertices = surface.source_vertices.copy()
    surface.source_vertices[some(rng, surface.num_vertices)] = -1
    if rng.random() < 0.3:
        surface.triangles = surface.triangles[:, [1, 2, 0]].copy()
        surface.uvs = surface.uvs[:, [1, 2, 0]] if surface.uvs.ndim == 3 else surface.uvs
        surface.further_uvs = {name: array[:, [1, 2, 0]] for name, array in surface.further_uvs.items()}
        surface.source_triangles = np.full_like(surface.source_triangles, -1)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("name", "called"), FILES)
def test_any_edit_of_a_static_model_is_what_is_read_again(name, called, seed, as_before, caplog):
    model, rng = load(sample(called, name)), np.random.default_rng(seed)
    for surface in model.surfaces:
        if len(surface.triangles) and rng.random() < 0.7:
            edit_surface(surface, rng)
    if len(model.surfaces) > 1 and rng.random() < 0.3:
        model.surfaces.pop(int(rng.integers(len(model.surfaces))))
    if rng.random() < 0.2:
        model.source = None
    data = dump(model, name)
    as_before(data)
    as_before(caplog.messages)
    again = by_name(name).load(data, "x")
    assert by_name(name).dump(again) == data
    before, after = (
        np.concatenate([s.positions[0][s.triangles].reshape(-1, 9) for s in each.surfaces]) for each in (model, again)
    )
    found, wanted = (
        rows[np.lexsort(np.round(rows, 2).T)] for rows in (np.sort(after, axis=1), np.sort(before, axis=1))
    )
    np.testing.assert_allclose(found, wanted, atol=2e-3)
