"""Models of any size, in one dimension each: what `growth` measures with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from io_idtech_models.formats import by_name
from io_idtech_models.model.clips import numbered
from io_idtech_models.model.skeletal import Animation, JointTag, SkeletalModel, Skeleton, SkinnedMesh, Weights
from io_idtech_models.model.transforms import chain, conjugate, rotate
from io_idtech_models.model.vertex import Surface, Tag, VertexModel

Array = NDArray[Any]
UNIT = 64.0  # of MD3's positions


@dataclass(frozen=True)
class Size:
    """How large a vertex-animated model is; a surface has `rows` x `columns` quads."""

    surfaces: int = 1
    frames: int = 1
    rows: int = 4
    columns: int = 4
    tags: int = 0
    shaders: int = 1  # of all surfaces together, in turns
    animations: int = 1  # into which the frames are divided, by their names


def grid(rows: int, columns: int) -> tuple[Array, Array]:
    """Return the places (V, 2) of a grid's vertices, from 0 to 1, and its triangles (T, 3)."""
    row, column = (a.ravel() for a in np.mgrid[0 : rows + 1, 0 : columns + 1])
    ids = np.arange(len(row)).reshape(rows + 1, columns + 1)
    a, b, c, d = ids[:-1, :-1], ids[:-1, 1:], ids[1:, 1:], ids[1:, :-1]
    triangles = np.stack((a, b, c, a, c, d), axis=-1).reshape(-1, 3).astype(np.int32)
    return np.stack((row / rows, column / columns), axis=1), triangles


def vertex_model(size: Size) -> VertexModel:
    """Return a model of rippling sheets, one above the other, with tags that rise."""
    places, triangles = grid(size.rows, size.columns)
    time = np.arange(size.frames)[:, None] * 0.1
    waves = np.sin(6 * places[:, 0] + 4 * places[:, 1] + time)  # (F, V)
    surfaces = []
    for index in range(size.surfaces):
        flat = np.broadcast_to(100 * places - 50, (size.frames, *places.shape))
        height = (index % 1000) * 0.5 - 250 + 8 * waves
        positions = np.rint(np.concatenate((flat, height[..., None]), axis=-1) * UNIT) / UNIT
        normals = np.broadcast_to(np.array([0, 0, 1], np.float32), positions.shape)
        shader = f"models/bench/sheet{index % size.shaders}"
        uvs = places.astype(np.float32)
        surfaces.append(
            Surface(f"sheet{index}", positions.astype(np.float32), triangles, uvs, [shader], normals.copy())
        )
    tags = [Tag(f"tag_{i}", *_rising(size.frames, i)) for i in range(size.tags)]
    return VertexModel("sheets", frame_names(size), surfaces, tags)


def _rising(frames: int, index: int) -> tuple[Array, Array]:
    origins = np.zeros((frames, 3), np.float32)
    origins[:, 0], origins[:, 2] = index % 100, np.arange(frames) * 0.25
    return origins, np.tile(np.eye(3, dtype=np.float32), (frames, 1, 1))


def frame_names(size: Size) -> list[str]:
    """Return the names of frames, numbered within each animation: `maa001` and so on."""
    parts = np.array_split(np.arange(size.frames), size.animations)
    called = (f"m{chr(97 + nth // 26)}{chr(97 + nth % 26)}" for nth in range(size.animations))
    return [name for each, part in zip(called, parts, strict=True) for name in numbered(each, len(part))]


def vertex_file(name: str, size: Size) -> bytes:
    """Return a vertex-animated model as a file of a format."""
    data: bytes = by_name(name).dump(vertex_model(size))
    return data


def skeleton(joints: int) -> Skeleton:
    """Return a spine of eight joints, from which the others hang in chains of eight."""
    numbers = np.arange(joints)
    above = np.where(numbers % 8 == 0, numbers // 8 - 1, numbers - 1)
    parents = np.where(numbers < 8, numbers - 1, np.minimum(above, numbers - 1)).astype(np.int32)
    positions, rotations = (p[0] for p in chain(parents, *poses(joints, 1)))
    return Skeleton([f"joint{i}" for i in range(joints)], parents, positions, rotations)


def poses(joints: int, frames: int, phase: int = 0) -> tuple[Array, Array]:
    """Return positions (F, J, 3) and rotations (F, J, 4), relative to the parent: all channels vary."""
    times = np.arange(frames)[:, None] * 0.06 + np.arange(joints) / 17 + phase
    halves = 0.2 * np.stack((np.sin(times), np.cos(times), np.sin(2 * times)), axis=-1) + 0.05
    rotations = np.concatenate((-np.sqrt(1 - (halves * halves).sum(axis=-1))[..., None], halves), axis=-1)
    return np.stack((2 + np.sin(times), np.cos(times), np.sin(times)), axis=-1), rotations


def animation(joints: int, frames: int, phase: int = 0) -> Animation:
    """Return a motion of `skeleton`'s joints."""
    own = skeleton(joints)
    bounds = np.tile(np.array(((-200.0,) * 3, (200.0,) * 3)), (frames, 1, 1))
    return Animation(f"move{phase}", own.names, own.parents, *poses(joints, frames, phase), 24.0, bounds)


def march(joints: int, frames: int) -> Animation:
    """Return the same as Enemy Territory holds it: the way to the parent has one length."""
    made = animation(joints, frames)
    made.positions = np.broadcast_to(made.positions[:1], made.positions.shape).copy()
    made.positions[:, 0, 0] += np.arange(frames) * 0.01
    return made


def skeletal_model(joints: int, meshes: int, rows: int, columns: int, tags: int = 0) -> SkeletalModel:
    """Return sheets whose vertices hang on two joints each."""
    bones = skeleton(joints)
    places, triangles = grid(rows, columns)
    count = len(places)
    owners = np.repeat(np.arange(count), 2)
    found = []
    for index in range(meshes):
        points = np.concatenate((20 * places - 10, np.full((count, 1), 0.1 * (index % 200))), axis=1)
        moved = np.stack(((np.arange(count) + index) % joints, (np.arange(count) + index + 1) % joints), axis=1).ravel()
        offsets = rotate(conjugate(bones.rotations[moved]), points[owners] - bones.positions[moved])
        weights = Weights(np.arange(count) * 2, np.full(count, 2), moved.astype(np.int32),
                          np.tile((0.75, 0.25), count).astype(np.float32), offsets.astype(np.float32))  # fmt: skip
        normals = np.broadcast_to(np.array([0, 0, 1], np.float32), (count, 3)).copy()
        found.append(
            SkinnedMesh(
                f"sheet{index}", "models/bench/sheet", places.astype(np.float32), triangles, weights, normals=normals
            )
        )
    origin, axes = np.ones(3, np.float32), np.eye(3, dtype=np.float32)
    held = [JointTag(f"tag_{i}", i % joints, origin, axes) for i in range(tags)]
    return SkeletalModel("sheets", bones, found, tags=held)
