"""Vertex-animated models with edits of every kind at once, mixed with what stays: see also `test_edited`."""

import copy
import re

import numpy as np
import pytest

from io_idtech_models.model.vertex import Tag
from io_idtech_models.reporting import LimitError
from tests.facts import differences
from tests.samples import dump, load, sample

FILES = [
    ("md3", "animated"), ("md3", "odd_layout"), ("md3", "seamed_cube"), ("md3", "split_later"),
    ("mdc", "animated"), ("mdc", "own_tables"), ("mdc", "unshown_base"), ("mdc", "odd_layout"),
    ("md2", "animated"), ("md2", "seams"), ("md2", "odd_layout"), ("mdl", "animated"), ("mdl", "groups"),
    ("mdl", "seams"),
]  # fmt: skip
SEEDS = range(6)
PATH = re.compile(
    r"(?:surfaces\[(\d+)\]\.)?frames\[(\d+)\]\."
    r"(xyz|normal|bounds|mins|maxs|radius|local_origin|scale|translate)(?:\[(\d+)\])?"
)


def some(rng, *shape):
    """Return which of so many are edited: none, some or all."""
    return rng.random(shape) < rng.choice([0.0, 0.3, 1.0], p=[0.25, 0.6, 0.15])


def steps_of(model):
    """Return the size of a code's step in the source, (1 or F, 1, 3)."""
    return np.abs(np.asarray(model.source.surfaces[0].scale))[:, None]


def moved_in_place(model, rng):
    """Move some vertices in some frames by whole steps in the frame's box; returns which, (F, V), of surfaces."""
    found = []
    for surface in model.surfaces:
        at = some(rng, model.num_frames)[:, None] & some(rng, surface.num_vertices)
        codes = surface.positions / steps_of(model)
        low, high = codes.min(axis=1, keepdims=True, initial=1e9), codes.max(axis=1, keepdims=True, initial=-1e9)
        away = np.clip(codes + rng.choice([3, 99]) * rng.uniform(-1, 1, codes.shape), low, high) - codes
        away = np.where(at[..., None], np.rint(away), 0) * steps_of(model)
        surface.positions += away.astype(np.float32)
        found.append((away != 0).any(axis=2))
    return found


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("name", "called"), FILES)
def test_moved_vertices_change_their_codes_and_what_follows_from_them(name, called, seed, as_before):
    """Normals turn in frames in which something near moved, and bounds follow; a box stays while some vertex does."""
    data, rng = sample(called, name), np.random.default_rng(seed)
    model = load(data)
    moved = moved_in_place(model, rng)
    written = dump(model)
    as_before(written)
    near = 0.026 if name == "mdc" else 0.51 * steps_of(load(written))  # half a step of what is stored for a frame
    for one, other in zip(model.surfaces, load(written).surfaces, strict=True):
        assert (np.abs(other.positions - one.positions) <= near).all()
    for path in differences(data, written):
        found = PATH.fullmatch(path)
        assert found or path in {"scale", "scale_origin"} or path.startswith("groups.head"), path  # of several frames
        if found is None:
            assert path.startswith("groups.head") or all(found.all() for found in moved), path
            continue
        nth, frame = int(found[1] or 0), int(found[2])
        if found[3] == "xyz":
            assert moved[nth][frame, int(found[4])], path
        elif found[3] in {"scale", "translate"}:
            assert moved[nth][frame].all(), path
        else:
            assert (moved[nth] if found[3] == "normal" else np.hstack(moved))[frame].any(), path


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("name", "called"), FILES)
def test_any_edit_of_a_surface_is_what_is_read_again(name, called, seed, as_before, caplog):
    """Triangles and vertices gone or in another order, painted anew, frames gone, doubled or in another order."""
    data, rng = sample(called, name), np.random.default_rng(seed)
    model = load(data)
    moved_in_place(model, rng)
    order = np.arange(model.num_frames)
    if seed % 2:
        order = rng.integers(0, model.num_frames, rng.integers(1, model.num_frames + 3))
    model.frame_names, model.frame_sources = [model.frame_names[f] for f in order], order.astype(np.int32)
    model.frame_sources[some(rng, len(order))] = -1
    for tag in model.tags:
        tag.origins, tag.axes = tag.origins[order], tag.axes[order]
        tag.origins[some(rng, len(order))] += 1.0
    if model.tags and rng.random() < 0.5:
        first = model.tags[0]
        model.tags.append(Tag("tag_new", first.origins + 2, first.axes[:, [1, 2, 0]].copy()))
    for surface in model.surfaces:
        edit_surface(surface, order, rng)
    if len(model.surfaces) > 1 and rng.random() < 0.3:
        model.surfaces.pop(int(rng.integers(len(model.surfaces))))
    written = dump(model)
    as_before(written)
    as_before(caplog.messages)
    for other in sorted({"md2", "md3", "mdl"} - {name}):
        as_before(dumped(model, other))
    again = load(written)
    assert dump(again) == written
    assert again.frame_names == model.frame_names
    assert [s.name for s in again.surfaces] == [s.name for s in model.surfaces]
    if name != "mdl":  # whose skins are pictures within
        assert [s.shaders for s in again.surfaces] == [s.shaders for s in model.surfaces]
    near = 0.026 if name == "mdc" else 0.51 * steps_of(again)[:, None]
    for one, other in zip(model.surfaces, again.surfaces, strict=True):
        places = (surface.positions[:, surface.triangles] for surface in (one, other))
        assert (np.abs(np.subtract(*places)) <= near).all()
        texels = np.array(again.texture_size or (0, 0))
        near_uv = 0.51 / np.maximum(texels, 1) if name in {"md2", "mdl"} else 1e-6
        assert (np.abs(one.corner_uvs - other.corner_uvs) <= near_uv + 1e-6).all()
    for one, other in zip(model.tags, again.tags, strict=True):
        np.testing.assert_allclose(other.origins, one.origins, atol=0.01)
        np.testing.assert_allclose(other.axes, one.axes, atol=2e-3)


@pytest.mark.parametrize("edit", ["normal", "face"])
@pytest.mark.parametrize("name", ["md3", "mdc", "md2", "mdl"])
def test_one_normal_that_is_edited_or_one_face_that_is_turned_over_is_written(name, edit):
    """Though nothing else differs from the file."""
    model = load(sample("animated", name))
    surface = model.surfaces[0]
    users = np.bincount(surface.triangles.ravel(), minlength=surface.num_vertices)
    face = int(np.flatnonzero((users[surface.triangles] == 1).any(axis=1))[-1])
    alone = int(surface.triangles[face][users[surface.triangles[face]] == 1][0])
    wanted = surface.normals.copy()
    wanted[:, alone] *= -1.0
    if edit == "normal":
        surface.own_normals, surface.normals = np.arange(surface.num_vertices) == alone, wanted.copy()
    else:
        for array in (surface.triangles, surface.uvs)[: surface.uvs.ndim - 1]:  # texture coordinates of corners, too
            array[face] = array[face][::-1].copy()
        wanted[:, np.setdiff1d(surface.triangles[face], alone)] = np.nan  # of several faces
    found = load(dump(model)).surfaces[0].normals
    near = (found * wanted).sum(axis=2) > 0.98
    assert (near | np.isnan(wanted).any(axis=2)).all()


def dumped(model, name):
    """Return a model's bytes in another format, or why it can't be."""
    try:
        return dump(copy.deepcopy(model), name)
    except LimitError as error:
        return str(error).encode()


def edit_surface(surface, order, rng):
    """Give a surface other frames (n,), and maybe some of its vertices and triangles in another order, painted anew."""
    surface.positions, surface.shaders = surface.positions[order], [shader + "x" for shader in surface.shaders]
    surface.normals = surface.normals[order] if rng.random() < 0.5 else None
    if rng.random() < 0.5:
        return
    kept = np.flatnonzero(rng.random(len(surface.triangles)) < rng.choice([1.0, 0.7]))
    used = np.unique(surface.triangles[kept]) if rng.random() < 0.5 else np.arange(surface.num_vertices)
    used = rng.permutation(used) if rng.random() < 0.5 else used
    place = np.full(surface.num_vertices, -1)
    place[used] = np.arange(len(used))
    of_corners = surface.uvs.ndim == 3
    surface.uvs = (surface.uvs[kept] if of_corners else surface.uvs[used]).copy()
    surface.uvs[some(rng, len(surface.uvs))] *= np.float32(0.75)
    surface.positions = surface.positions[:, used]
    surface.positions[some(rng, len(order)), :2] += np.float32(1 / 16)  # so that frames that were one are not all alike
    surface.normals = None if surface.normals is None else surface.normals[:, used]
    surface.triangles = place[surface.triangles[kept]].astype(np.int32)
    surface.source_vertices, surface.source_triangles = surface.source_vertices[used], surface.source_triangles[kept]
    surface.source_vertices[some(rng, len(used))] = -1
