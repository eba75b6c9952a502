"""The Pennant, a flag on its pole in the wind: an MDC of two surfaces, a tag and twenty-four frames, and its .tag.

Coordinates are rounded far more coarsely than floating-point noise, so that every machine writes the same bytes.
"""

from __future__ import annotations

import math

import numpy as np

from examples.built import surface_of, tag_of
from examples.pictures import Array, png
from examples.shapes import Part, Rect, grid, joined, lathe, shift, turn
from io_idtech_models import formats
from io_idtech_models.formats.vertex_files import dump_for
from io_idtech_models.model.vertex import VertexModel

NUM_FRAMES = 24
SIZE = 64  # of the picture, in pixels
MODEL = "models/mapobjects/pennant"
CLOTH: Rect = (0, 0, 64, 48)
WOOD: Rect = (0, 48, 64, 64)
ROWS, COLUMNS = 6, 14
HEIGHT, LENGTH, TOP = 22.0, 44.0, 92.0  # of the cloth, and how high it hangs


def pole() -> Part:
    """Return the pole, with a knob."""
    shaft = lathe([(1.6, 0.0), (1.2, TOP)], WOOD, 8, 2)
    knob = lathe([(1.2, TOP), (2.6, TOP + 2.0), (1.6, TOP + 4.4), (0.2, TOP + 5.2)], WOOD, 8, 1)
    return joined([shaft, knob])


def cloth(time: float) -> Part:
    """Return the flag at a time of its period, 0 to 1: what is farther from the pole swings farther."""
    across, down = np.meshgrid(np.linspace(0, 1, COLUMNS), np.linspace(0, 1, ROWS))
    phase = 2 * math.pi * (1.5 * across - time) + 0.8 * down
    swing = 11.0 * across * np.sin(phase)
    sag = 3.0 * across**2 + 1.2 * across * np.cos(phase)
    points = np.stack((1.4 + LENGTH * across, swing, TOP - 2.0 - HEIGHT * down - sag), axis=-1)
    one, two = np.gradient(points, axis=1), np.gradient(points, axis=0)
    normals = np.cross(one, two)
    normals /= np.sqrt((normals**2).sum(axis=2))[..., None]
    front, back = grid(points, normals, CLOTH), grid(points[:, ::-1], -normals[:, ::-1], CLOTH)
    return joined([front, back])


def picture() -> bytes:
    """Return the picture: stripes, and wood."""
    y, x = np.mgrid[0:SIZE, 0:SIZE]
    found = np.where(y < 48, (x // 8 + y // 12) % 2, 2)
    found = np.where((y >= 48) & ((y + x // 16) % 4 == 0), 3, found).astype(np.uint8)
    palette = np.array(((0.71, 0.12, 0.10), (0.93, 0.87, 0.74), (0.45, 0.29, 0.15), (0.36, 0.22, 0.11)))
    return png(found, palette)


def model() -> VertexModel:
    """Return the model."""
    times = [frame / NUM_FRAMES for frame in range(NUM_FRAMES)]
    shader = f"{MODEL}/pennant.png"
    flag = surface_of("cloth", [cloth(time) for time in times], SIZE, shader)
    staff = surface_of("pole", [pole()] * NUM_FRAMES, SIZE, shader)
    places: list[Array] = [shift(0, 0, TOP + 5.2) @ turn(z=8.0 * math.sin(2 * math.pi * time)) for time in times]
    names = [f"wind{frame + 1:02d}" for frame in range(NUM_FRAMES)]
    return VertexModel(f"{MODEL}/pennant.mdc", names, [flag, staff], [tag_of("tag_top", places)])


def files() -> dict[str, bytes]:
    """Return the example's files by their paths."""
    written = dump_for(formats.by_name("mdc"), model(), "et", {"write_tags": True})
    found = {f"pennant/{MODEL}/pennant.mdc": written.data, f"pennant/{MODEL}/pennant.png": picture()}
    return found | {f"pennant/{MODEL}/pennant{suffix}": data for suffix, data in written.beside.items()}
