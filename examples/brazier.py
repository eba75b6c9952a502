"""Brazier, the example for MDL: coals in a bowl on three legs, with a flame that burns by itself.

Its six poses are one group of frames, and its first skin is a group of two pictures whose coals breathe, which games
play without being told; the second skin is the brazier when it has gone out. Pictures are numbers of Quake's palette:
metal of the greys, and coals and flame of the colours that shine in the dark.
"""

from __future__ import annotations

import math

import numpy as np

from examples.built import surface_of
from examples.pictures import noise
from examples.shapes import Array, Part, beam, joined, lathe, moved, turn
from io_idtech_models import formats
from io_idtech_models.model.clips import Clip
from io_idtech_models.model.pictures import Skin
from io_idtech_models.model.vertex import VertexModel

POSES, STEP = 6, 0.1  # of the flame; seconds of each
SIZE = (96, 64)
METAL, COALS, FIRE = (1, 1, 63, 31), (1, 33, 47, 63), (65, 1, 95, 63)  # a texel less on each side: seen is its middle
BOWL = ((3.0, 20.0), (7.5, 22.0), (9.5, 26.0), (10.0, 29.0), (9.0, 29.0), (8.6, 27.0))
HEAP = ((8.6, 27.0), (6.5, 28.6), (3.5, 29.8), (0.6, 30.2))
FLAME = ((5.0, 28.5), (5.6, 32.0), (4.6, 36.0), (2.6, 40.0), (0.5, 44.0))


def stand() -> Part:
    """Return the bowl and its legs."""
    leg = [(-0.7, -0.7, 21.5), (0.7, -0.7, 21.5), (0.7, 0.7, 21.5), (-0.7, 0.7, 21.5)]
    foot = [(x * 0.8 + 8.0, y * 0.8, 0.0) for x, y, _ in leg]
    near = [(x + 3.5, y, z) for x, y, z in leg]
    legs = [moved(beam(near, foot, [METAL] * 4), turn(z=120.0 * i + 30.0)) for i in range(3)]
    return joined([lathe(BOWL, METAL, 10), *legs])


def flame(pose: int) -> Part:
    """Return the flame in one of its poses: rings that lean, swell and turn, and end where they began."""
    part = lathe(FLAME, FIRE, 7)
    phase = 2 * math.pi * pose / POSES
    height = (part.points[:, 2] - FLAME[0][1]) / (FLAME[-1][1] - FLAME[0][1])
    sway = np.array([[math.sin(phase - 2.5 * h), math.cos(phase - 2.5 * h) * 0.6] for h in height.tolist()])
    points = part.points.copy()
    points[:, :2] += 1.6 * height[:, None] * sway
    points[:, 2] += 2.2 * height * math.sin(phase + 1.0)
    return Part(points, part.normals, part.uvs, part.triangles)


def pose(number: int) -> Part:
    """Return the whole in one of its poses."""
    return joined([stand(), lathe(HEAP, COALS, 9), flame(number)])


# -- pictures: rows of Quake's palette are 16 colours, most of them from dark to light


def shades(row: int, values: Array, falls: bool = False) -> Array:
    """Return numbers of a row of the palette for values of 0 to 1; of those that `fall` the first is the lightest."""
    steps = np.clip(np.floor(values * 16), 0, 15).astype(np.int64)
    found: Array = 16 * row + (15 - steps if falls else steps)
    return found


def picture(glow: float) -> Array:
    """Return the numbers (height, width) of the skin whose coals glow so much; without, there is no fire."""
    width, height = SIZE
    grain, lumps = noise(11, 2, height, width), noise(12, 8, height, width)
    y = (np.arange(height)[:, None] + 0.5) / height + np.zeros((height, width))
    found = shades(0, 0.16 + 0.3 * grain + 0.12 * lumps)
    coals = np.where(lumps > 0.62 - 0.25 * glow, shades(14, 0.2 + 0.7 * glow * lumps), shades(0, 0.05 + 0.12 * grain))
    coals = coals if glow else shades(0, 0.06 + 0.2 * lumps * grain)
    fire = shades(14, np.clip(y * 1.1 + 0.2 * (lumps - 0.5), 0, 1)) if glow else shades(0, 0.05 + 0.1 * grain)
    for (left, top, right, bottom), values in ((COALS, coals), (FIRE, fire)):
        inside = slice(top - 1, bottom + 1), slice(left - 1, right + 1)
        found[inside] = values[inside]
    return found.astype(np.uint8)


def model() -> VertexModel:
    """Return the model."""
    surface = surface_of("brazier", [pose(number) for number in range(POSES)], SIZE, "brazier_0")
    surface.shaders = ["brazier_0", "brazier_1"]
    names = [f"burn{number + 1}" for number in range(POSES)]
    burning = Skin("brazier_0", [picture(0.55), picture(1.0)], (0.5, 1.0))
    times = tuple(round(STEP * (number + 1), 6) for number in range(POSES))
    return VertexModel(
        "brazier",
        names,
        [surface],
        [],
        skins=[burning, Skin("brazier_1", [picture(0.0)])],
        groups=[Clip("burn", 0, POSES, times=times)],
    )


def files() -> dict[str, bytes]:
    """Return the example's files by their paths."""
    return {"brazier/progs/brazier.mdl": formats.by_name("mdl").dump(model())}
