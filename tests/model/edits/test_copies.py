"""Copies inside one mesh: whose normals go along with the source's, and whose are as shown."""

from dataclasses import replace

import numpy as np
import pytest

from io_idtech_models.model.edits.copies import with_copied_normals
from io_idtech_models.model.edits.normals import smooth_normals
from tests.model.edits.test_normals import CODING, degrees_between
from tests.samples import SENTINEL, format_of

QUARTER = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
MIRROR = np.diag((1.0, -1.0, 1.0))
WAYS = {
    "in place": (np.eye(3), False),
    "turned": (QUARTER, False),
    "mirrored": (MIRROR, True),
    "mirrored, its faces not turned over": (MIRROR, False),
    "turned over": (np.eye(3), True),
    "twice as high": (np.diag((1.0, 1.0, 2.0)), False),
}
NEAR = 0.01  # degrees


@pytest.fixture
def model():
    return format_of(SENTINEL.read_bytes()).load(SENTINEL.read_bytes(), "sentinel")


def with_copy(surface, axes, shift, flipped):
    """Return a surface with a copy of its first vertices: shown as it should be in the base, anyhow in other frames."""
    count = int((surface.source_vertices >= 0).sum())
    faces = surface.triangles[(surface.triangles < count).all(axis=1)]
    assert surface.normals is not None
    normals = surface.normals[:, :count] @ np.linalg.inv(axes)
    normals /= np.linalg.norm(normals, axis=2, keepdims=True)
    normals *= (-1 if flipped else 1) * np.linalg.det(axes) / abs(np.linalg.det(axes))
    shown = np.random.default_rng(1).normal(size=normals.shape)
    shown[0] = normals[0]
    more = (faces[:, ::-1] if flipped else faces) + surface.num_vertices
    copies = np.full(surface.num_vertices, -1, np.int32) if surface.copies is None else surface.copies
    made = replace(
        surface,
        stored_positions=np.concatenate((surface.positions, surface.positions[:, :count] @ axes.T + shift), axis=1),
        stored_normals=np.concatenate((surface.normals, shown), axis=1).astype(np.float32),
        triangles=np.concatenate((surface.triangles, more)),
        uvs=np.concatenate((surface.uvs, surface.uvs[:count])),
        source_vertices=np.concatenate((surface.source_vertices, np.full(count, -1, np.int32))),
        source_triangles=np.concatenate((surface.source_triangles, np.full(len(faces), -1, np.int32))),
        copies=np.concatenate((copies, surface.source_vertices[:count])),
    )
    return made, normals


def found(model, surface, copy=0):
    """Return the normals of a copy in a model whose first surface is `surface`."""
    (after, *_) = with_copied_normals(replace(model, surfaces=[surface, *model.surfaces[1:]]), CODING).surfaces
    assert after.copies is None
    assert after.normals is not None
    own = int((surface.source_vertices >= 0).sum())
    assert np.array_equal(after.normals[:, :own], surface.normals[:, :own])
    return after.normals[:, (copy + 1) * own : (copy + 2) * own]


@pytest.mark.parametrize("way", WAYS)
def test_normals_of_a_copy_go_along(model, way):
    surface, wanted = with_copy(model.surfaces[0], WAYS[way][0], (0, 90, 0), WAYS[way][1])
    assert degrees_between(found(model, surface), wanted).max() < NEAR


def test_two_copies_go_each_their_own_way(model):
    surface, first = with_copy(model.surfaces[0], QUARTER, (0, 90, 0), False)
    surface, second = with_copy(surface, MIRROR, (0, -90, 0), True)
    for nth, wanted in enumerate((first, second)):
        assert degrees_between(found(model, surface, nth), wanted).max() < NEAR


@pytest.mark.parametrize("axes", [np.eye(3), MIRROR])
def test_what_the_base_shows_counts_where_it_may_have_been_chosen(model, axes):
    """Blender shows others, too, where a copy was mirrored, and where faces are missing."""
    surface, wanted = with_copy(model.surfaces[0], axes, (0, 90, 0), False)
    own = slice(-wanted.shape[1], None)
    surface.normals[0, own] = (0.6, 0.0, 0.8)
    assert degrees_between(found(model, surface), wanted).max() < NEAR
    surface.own_normals = np.zeros(surface.num_vertices, np.bool_)
    assert degrees_between(found(model, surface), wanted).max() < NEAR
    surface.own_normals[own] = True
    assert degrees_between(found(model, surface)[0], np.broadcast_to((0.6, 0.0, 0.8), wanted[0].shape)).max() < NEAR


@pytest.mark.parametrize(("axes", "as_shown"), [(np.eye(3), True), (QUARTER, True), (MIRROR, False)])
def test_in_the_only_frame_copies_are_as_shown_but_for_mirrored_ones(model, axes, as_shown):
    surface = model.surfaces[0]
    surface = replace(surface, stored_positions=surface.positions[:1].copy(), stored_normals=surface.normals[:1].copy())
    surface, wanted = with_copy(surface, axes, (0, 90, 0), False)
    surface.normals[0, -wanted.shape[1] :] = (0.6, 0.0, 0.8)  # where faces are missing
    model.frame_names, model.frame_sources = model.frame_names[:1], model.frame_sources[:1]
    shown = np.broadcast_to((0.6, 0.0, 0.8), wanted.shape)
    assert degrees_between(found(model, surface), shown if as_shown else wanted).max() < NEAR


@pytest.mark.parametrize(("degrees", "stays"), [(0.3, False), (1.0, True)])
def test_normals_that_were_touched_and_show_the_same_go_along(model, degrees, stays):
    surface, wanted = with_copy(model.surfaces[0], np.eye(3), (0, 90, 0), False)
    own = slice(-wanted.shape[1], None)
    across = np.cross(wanted[0], np.roll(wanted[0], 1, axis=1))
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    surface.normals[:, own] = np.cos(np.radians(degrees)) * wanted[0] + np.sin(np.radians(degrees)) * across
    surface.own_normals = np.ones(surface.num_vertices, np.bool_)
    apart = degrees_between(found(model, surface)[0], wanted[0])
    assert (apart > 0.9).all() if stays else apart.max() < NEAR


def test_a_copy_that_shows_its_back_in_some_frames_is_smooth_there(model, caplog):
    surface, wanted = with_copy(model.surfaces[0], np.eye(3), (0, 90, 0), False)
    own = slice(-wanted.shape[1], None)
    surface.own_normals = np.ones(surface.num_vertices, np.bool_)
    surface.normals[:, own] = smooth_normals(surface.positions, surface.triangles)[:, own]
    surface.normals[2, own] *= -1.0
    after = found(model, surface)
    assert (after[2] * surface.normals[2, own] < 0).any(axis=1).all()
    assert "point into the mesh in some frames as shown" in caplog.text


def test_a_copy_that_no_one_map_made_is_as_shown(model):
    surface, wanted = with_copy(model.surfaces[0], np.eye(3), (0, 90, 0), False)
    own = slice(-wanted.shape[1], None)
    surface.positions[:, own] += np.sin(surface.positions[:, own][..., [1, 2, 0]])
    surface.normals[:, own] = smooth_normals(surface.positions, surface.triangles)[:, own]
    assert np.array_equal(found(model, surface), surface.normals[:, own])


def test_without_copies_the_model_is_the_same(model):
    assert with_copied_normals(model, CODING) is model
    surface, _ = with_copy(model.surfaces[0], QUARTER, (0, 90, 0), False)
    bare = replace(model, surfaces=[surface], source=None)
    assert with_copied_normals(bare, CODING) is bare
