"""Bloom, a flower as an IQM: a stem of four joints whose head is scaled at rest, and opens in one of two animations.

What the format has beside other skeletal ones: animated scale, colours of vertices, several animations in one file, one
of which loops.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from examples.pictures import png
from io_idtech_models.formats import by_name
from io_idtech_models.model.skeletal import Animation, Scales, SkeletalModel, Skeleton, SkinnedMesh
from io_idtech_models.model.weights import Weights

SIDES = 10
JOINTS = {"root": 0.0, "stem": 8.0, "neck": 16.0, "head": 24.0}  # their heights
HEAD_SCALE = 1.25  # of the head at rest
# Rings from the ground up: height, radius, share of the picture, red, green, blue.
RINGS = [
    (0.0, 2.0, 0.0, 0.25, 0.4, 0.15), (4.0, 1.2, 0.1, 0.3, 0.55, 0.2), (8.0, 1.0, 0.2, 0.3, 0.6, 0.2),
    (12.0, 0.9, 0.3, 0.35, 0.65, 0.2), (16.0, 0.8, 0.4, 0.35, 0.7, 0.25), (20.0, 0.8, 0.5, 0.4, 0.7, 0.25),
    (24.0, 1.0, 0.6, 0.5, 0.7, 0.3), (26.0, 4.0, 0.75, 0.9, 0.45, 0.5), (29.0, 6.0, 0.9, 1.0, 0.6, 0.65),
    (31.0, 4.5, 1.0, 1.0, 0.8, 0.8),
]  # fmt: skip
RATE, FRAMES = 12.0, 25


def files() -> dict[str, bytes]:
    """Return the model and its picture."""
    data = by_name("iqm").dump(model(), None, [sway(), open_up()])
    return {"bloom/bloom.iqm": data, "bloom/bloom.png": png(*picture())}


def picture() -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Return a picture of light and dark stripes, (32, 32), and its palette: the colours of vertices tint it."""
    stripes = np.where(np.arange(32) % 8 < 4, 235, 205).astype(np.uint8)
    return np.tile(stripes, (32, 1)), np.repeat(np.arange(256.0)[:, None] / 255, 3, axis=1)


def skeleton() -> Skeleton:
    """Return four joints above one another, upright; X points along each."""
    count = len(JOINTS)
    places = np.array([(0.0, 0.0, height) for height in JOINTS.values()])
    up = np.tile((math.sqrt(0.5), 0.0, -math.sqrt(0.5), 0.0), (count, 1))
    scales = np.ones((count, 3))
    scales[-1] = HEAD_SCALE
    return Skeleton(list(JOINTS), np.arange(-1, count - 1, dtype=np.int32), places, up, scales=scales)


def model() -> SkeletalModel:
    """Return the flower."""
    points, uvs, colors, triangles = [], [], [], []
    for row, (height, radius, share, *color) in enumerate(RINGS):
        for side in range(SIDES + 1):  # the last is the first again, with another texture coordinate
            turn = 2 * math.pi * (side % SIDES) / SIDES
            points.append((round(radius * math.cos(turn), 4), round(radius * math.sin(turn), 4), height))
            uvs.append((side / SIDES, share))
            colors.append((*color, 1.0))
            if row and side:
                here = row * (SIDES + 1) + side
                below = here - SIDES - 1
                triangles += [(below - 1, below, here), (below - 1, here, here - 1)]
    rest = skeleton()
    mesh = SkinnedMesh(
        "bloom", "bloom.png", np.array(uvs, np.float32), np.array(triangles, np.int32), weights(np.array(points), rest)
    )
    mesh.colors, mesh.blended = np.array(colors, np.float32), True
    return SkeletalModel("bloom", rest, [mesh])


def weights(points: NDArray[np.float64], rest: Skeleton) -> Weights:
    """Return weights on the joints below and above each point; the head is stiff."""
    heights = list(JOINTS.values())
    counts, joints, factors, offsets = [], [], [], []
    for point in points.tolist():
        below = max(joint for joint, height in enumerate(heights) if height <= point[2])
        share = (
            0.0 if below + 1 == len(heights) else (point[2] - heights[below]) / (heights[below + 1] - heights[below])
        )
        used = [(below, 1.0 - share), (below + 1, share)]
        used = [(joint, factor) for joint, factor in used if factor > 0]
        counts.append(len(used))
        for joint, factor in used:
            x, y, z = np.array(point) - rest.positions[joint]
            joints.append(joint)
            factors.append(factor)
            offsets.append((z, y, -x))  # X up, Y as it was, Z back
    ends = np.cumsum(counts)
    return Weights(
        (ends - counts).astype(np.int32), np.array(counts, np.int32), np.array(joints, np.int32),
        np.array(factors, np.float32), np.array(offsets, np.float32),
    )  # fmt: skip


def still(name: str) -> Animation:
    """Return an animation in which nothing moves yet."""
    count = len(JOINTS)
    places, turns = np.zeros((FRAMES, count, 3)), np.zeros((FRAMES, count, 4))
    places[:, 1:, 0], turns[..., 0] = 8.0, 1.0
    turns[:, 0] = skeleton().rotations[0]
    found = Animation(name, list(JOINTS), skeleton().parents, places, turns, RATE, np.zeros((FRAMES, 2, 3)))
    found.scales = Scales(np.ones((FRAMES, count, 3)), np.zeros(count, np.bool_), True)
    return found


def sway() -> Animation:
    """Return the stem in the wind, over and over."""
    found = still("sway")
    for frame in range(FRAMES):
        for joint in range(1, len(JOINTS)):
            half = round(0.06 * math.sin(2 * math.pi * frame / (FRAMES - 1) - 0.6 * joint), 4)
            found.rotations[frame, joint] = (math.sqrt(1 - half * half), 0.0, half, 0.0)
    found.loops = True
    return found


def open_up() -> Animation:
    """Return the flower as it grows: the head from a bud, the stem from half its length."""
    found = still("bloom")
    assert found.scales is not None
    for frame in range(FRAMES):
        grown = round(frame / (FRAMES - 1), 4)
        found.scales.values[frame, 1] = (0.5 + 0.5 * grown, 1.0, 1.0)
        found.scales.values[frame, 3] = (1.0, 0.25 + 0.75 * grown, 0.25 + 0.75 * grown)
    return found
