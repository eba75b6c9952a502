"""Models of both families as hypothesis makes them: odd in every way that a model made by hand can be odd.

Sizes and kinds are hypothesis' own choice, so that it can make them smaller; the numbers of an array come from a seed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from io_idtech_models.model.skeletal import Animation, JointTag, SkeletalModel, Skeleton, SkinnedMesh, Traits, Weights
from io_idtech_models.model.transforms import unchain
from io_idtech_models.model.vertex import Surface, Tag, VertexModel

# Any characters: also such as no file can hold, and halves of pairs.
names = st.text(st.characters(exclude_categories=()), max_size=12)
seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)
# How large coordinates are; mostly as in games.
sizes = st.sampled_from([64.0, 64.0, 64.0, 500.0, 0.0, 1e-40, 1e-7, 513.0, 32768.0, 1e9, 1e12, 1e30])
LARGEST = 3e38


def _numbers(rng: Any, size: float, *shape: int) -> Any:
    return (rng.uniform(-1, 1, shape) * min(size, LARGEST)).astype(np.float32)


def _directions(rng: Any, *shape: int) -> Any:
    """Return unit vectors, some of them axes."""
    found = rng.normal(size=(*shape, 3))
    found = found / np.maximum(np.linalg.norm(found, axis=-1, keepdims=True), 1e-9)
    axes = np.eye(3)[rng.integers(0, 3, shape)] * rng.choice([-1.0, 1.0], (*shape, 1))
    return np.where(rng.random((*shape, 1)) < 0.2, axes, found).astype(np.float32)


def _triangles(rng: Any, count: int, vertices: int) -> Any:
    """Return triangles, some without area, some there twice."""
    if not vertices:
        return np.zeros((0, 3), np.int32)
    found = rng.integers(0, vertices, (count, 3))
    again = rng.random(count) < 0.15
    found[again] = found[rng.integers(0, max(count, 1), int(again.sum()))]
    return found.astype(np.int32)


@st.composite
def surfaces(draw, frames: int, size: float):
    """Return an animated surface; some of its vertices lie at one place."""
    rng, count = draw(seeds), draw(st.integers(0, 12))
    positions = _numbers(rng, size, frames, count, 3)
    if count:
        positions[:, rng.random(count) < 0.2] = positions[:, :1]
    triangles = _triangles(rng, draw(st.integers(0, 12)), count)
    of_corners = draw(st.booleans())
    uvs = _numbers(
        rng, draw(st.sampled_from([1.0, 1.0, 4.0, 0.0, 1e4])), *((len(triangles), 3, 2) if of_corners else (count, 2))
    )
    normals = _directions(rng, frames, count) if draw(st.booleans()) else None
    shaders = draw(st.lists(names, max_size=3))
    return Surface(draw(names), positions, triangles, uvs, shaders, normals)


@st.composite
def vertex_models(draw):
    """Return a model of 1 to 40 frames, with any number of surfaces from none on, and up to 16 tags."""
    frames, size, rng = draw(st.sampled_from([1, 1, 2, 3, 10, 40])), draw(sizes), draw(seeds)
    parts = draw(st.lists(surfaces(frames, size), max_size=4))
    tags = []
    for name in draw(st.lists(names, max_size=16)):
        tags.append(Tag(name, _numbers(rng, size, frames, 3), _numbers(rng, 1.0, frames, 3, 3)))
    return VertexModel(draw(names), draw(st.lists(names, min_size=frames, max_size=frames)), parts, tags)


@st.composite
def parent_lists(draw):
    """Return the parents of joints: a chain, a bush, several roots, or anything."""
    count = draw(st.sampled_from([0, 1, 2, 5, 30, 120]))
    shape = draw(st.sampled_from(["chain", "bush", "roots", "any"]))
    rng = draw(seeds)
    before = np.arange(count) - 1
    parents = {
        "chain": before,
        "bush": np.where(before < 0, -1, 0),
        "roots": np.where(rng.random(count) < 0.3, -1, before),
        "any": np.array([int(rng.integers(-1, i)) if i else -1 for i in range(count)]),
    }[shape]
    return parents.astype(np.int32)


def _turns(rng: Any, *shape: int) -> Any:
    found = rng.normal(size=(*shape, 4))
    found = np.where(rng.random((*shape, 1)) < 0.2, np.array([1.0, 0.0, 0.0, 0.0]), found)
    return found / np.linalg.norm(found, axis=-1, keepdims=True)


@st.composite
def meshes(draw, joints: int, size: float):
    """Return a mesh whose vertices have up to eight weights of any size, some of them none."""
    rng, count = draw(seeds), draw(st.integers(0, 12))
    least = draw(st.sampled_from([1, 1, 1, 0]))
    counts = rng.integers(least, 9, count) if joints else np.zeros(count, np.int64)
    total = int(counts.sum())
    factors = rng.uniform(0, 1, total) ** 3 if draw(st.booleans()) else rng.uniform(-2, 5, total)
    offsets = _numbers(rng, size, total, 3)
    owners = rng.integers(0, max(joints, 1), total).astype(np.int32)
    table = Weights((np.cumsum(counts) - counts), counts, owners, factors.astype(np.float32), offsets)
    normals = _directions(rng, count) if draw(st.booleans()) else None
    triangles = _triangles(rng, draw(st.integers(0, 12)), count)
    return SkinnedMesh(draw(names), draw(names), _numbers(rng, 2.0, count, 2), triangles, table, normals=normals)


@st.composite
def skeletal_models(draw):
    """Return a skeleton and meshes."""
    parents, size, rng = draw(parent_lists()), draw(sizes), draw(seeds)
    count = len(parents)
    traits = Traits(rng.choice([0, 0.5, 1], count).astype(np.float32), rng.integers(0, 2, count).astype(np.int32), -1)
    skeleton = Skeleton(
        [f"{name}{i}" for i, name in enumerate(draw(st.lists(names, min_size=count, max_size=count)))],
        parents,
        _numbers(rng, size, count, 3).astype(np.float64),
        _turns(rng, count),
        traits=traits if draw(st.booleans()) else None,
    )
    parts = draw(st.lists(meshes(count, size), max_size=3))
    tags = []
    for name in draw(st.lists(names, max_size=4)) if count else ():
        joint = int(rng.integers(0, count))
        tags.append(JointTag(name, joint, _numbers(rng, size, 3), _numbers(rng, 1.0, 3, 3)))
    return SkeletalModel(draw(names), skeleton, parts, tags=tags)


@st.composite
def animations(draw):
    """Return 1 to 40 frames of any skeleton, whose bones change their length or don't."""
    parents, size, rng = draw(parent_lists()), draw(sizes), draw(seeds)
    frames, count = draw(st.sampled_from([1, 2, 3, 10, 40])), len(parents)
    positions = _numbers(rng, size, frames, count, 3).astype(np.float64)
    if draw(st.booleans()):
        positions[:] = positions[:1]
    called = [f"{name}{i}" for i, name in enumerate(draw(st.lists(names, min_size=count, max_size=count)))]
    rate = draw(st.sampled_from([24.0, 15.0, 29.97, 0.0, 1e6]))
    bounds = np.sort(_numbers(rng, size, frames, 2, 3).astype(np.float64), axis=1)
    return Animation(draw(names), called, parents, positions, _turns(rng, frames, count), rate, bounds)


def rest_pose(model: SkeletalModel) -> Animation:
    """Return an animation of one frame, where the joints lie in one length in all frames."""
    skeleton = model.skeleton
    positions, rotations = unchain(skeleton.parents, skeleton.positions[None], skeleton.rotations[None])
    bounds = np.zeros((1, 2, 3))
    return Animation(
        "rest", list(skeleton.names), skeleton.parents, positions, rotations, 15.0, bounds, traits=skeleton.traits
    )
