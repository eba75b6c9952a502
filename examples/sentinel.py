"""The Sentinel, a guard drone that hovers and looks around: an MD3 of two surfaces, three tags and twenty frames.

Coordinates are rounded far more coarsely than floating-point noise, so that every machine writes the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from examples import pictures
from examples.built import surface_of, tag_of
from examples.pictures import Array, png, tga, to_bytes
from examples.shapes import ALONG_X, Part, Point, Rect, beam, joined, lathe, moved, quad, shift, turn
from io_idtech_models import formats
from io_idtech_models.model.vertex import Surface, VertexModel

NUM_FRAMES = 20
SIZE = 128  # of both pictures, in pixels

FIN: Sequence[Point] = ((-5, 0.6, 5.2), (-5, -0.6, 5.2), (-8.4, -0.5, 5.2), (-8.4, 0.5, 5.2))  # its foot

# Where things are in the pictures. The first two span the width, so that they can repeat around a body.
PLATES, STRIPE = (0, 0, 128, 48), (0, 48, 128, 64)
METAL, GRILLE, MARKED = (0, 64, 64, 128), (64, 64, 128, 96), (64, 96, 128, 128)
LENS, BLADE, JET, HUB = (0, 0, 128, 64), (0, 64, 128, 96), (0, 96, 128, 128), (4, 66, 24, 94)


# -- the drone, a part for each joint


def body() -> Part:
    """Return the hull: a dome, a belt and a nozzle, with hard edges between."""
    sides = 12
    cover: Rect = (0, 4, 128, 44)
    return joined([
        lathe([(8.5, 5.6), (4.5, 7.6), (0.0, 8.2)], cover, sides, 2),
        lathe([(11.2, 2.2), (8.5, 5.6)], PLATES, sides, 2),
        lathe([(11.2, -1.4), (11.2, 2.2)], STRIPE, sides, 3),
        lathe([(6.8, -6.0), (11.2, -1.4)], PLATES, sides, 2),
        lathe([(5.6, -8.4), (6.8, -6.0)], GRILLE, sides, 3),
        beam(FIN, [(x * 0.14 - 9, y * 0.14, 15.5) for x, y, _ in FIN], [METAL] * 4),
    ])  # fmt: skip


def turret() -> Part:
    """Return the housing of the eye, along +X."""
    shapes: tuple[tuple[list[tuple[float, float]], Rect, int], ...] = (
        ([(4.9, -1.5), (4.6, 3.4)], METAL, 2),
        ([(4.6, 3.4), (3.5, 4.2)], GRILLE, 2),
        ([(3.5, 4.2), (3.2, 2.6)], METAL, 1),
    )
    return moved(joined([lathe(profile, rect, 8, repeat) for profile, rect, repeat in shapes]), ALONG_X)


def arm(side: int) -> Part:
    """Return the arm and duct at one side, +1 or -1 along Y, from its hinge at the hull."""
    near = [(3.2, 0, 1.4), (-3.2, 0, 1.4), (-3.2, 0, -1.2), (3.2, 0, -1.2)]
    far = [(1.6, 5.4 * side, 1.0), (-1.6, 5.4 * side, 1.0), (-1.6, 5.4 * side, -0.8), (1.6, 5.4 * side, -0.8)]
    duct = [
        lathe([(5.1, -1.8), (5.7, 1.3)], PLATES, 10, 1),
        lathe([(5.7, 1.3), (4.5, 1.7)], METAL, 10, 2),
        lathe([(4.5, 1.7), (5.1, -1.8)], GRILLE, 10, 2),
    ]
    return joined([beam(near, far, (METAL, MARKED, METAL, METAL)), moved(joined(duct), shift(0, 10.2 * side, 0))])


def lens() -> Part:
    """Return the eye, along +X in its housing."""
    return moved(lathe([(3.2, 2.7), (2.1, 3.7), (0.0, 4.1)], LENS, 8), ALONG_X)


def jet() -> Part:
    """Return the glow in the nozzle."""
    return lathe([(0.0, -7.2), (5.6, -8.4)], JET, 12, 2)


def rotor() -> Part:
    """Return three blades, seen from above and from below, and a hub."""
    top = quad([(0.6, 0.5, -0.1), (0.6, -0.7, 0.5), (4.1, -1.2, 0.3), (4.1, 0.9, -0.3)], BLADE)
    below = Part(top.points - (0, 0, 0.06), -top.normals, top.uvs, top.triangles[:, ::-1])
    blades = [moved(side, turn(z=120.0 * i)) for i in range(3) for side in (top, below)]
    return joined([*blades, lathe([(0.0, -1.0), (1.0, 0.0), (0.0, 1.1)], HUB, 4)])


# -- movement


def poses(frame: int) -> dict[str, Array]:
    """Return the transform of every joint in a frame."""
    sway = [math.sin(2 * math.pi * (frame / NUM_FRAMES + late)) for late in (0, 0.25, 0.4)]
    root = shift(0, 0, 1.5 * sway[0]) @ turn(x=2.5 * sway[1], y=3.0 * sway[2])
    look = 22.0 * sway[1] * (1.25 - 0.25 * sway[1] ** 2)
    result = {"body": root, "turret": root @ turn(z=look) @ shift(8.6, 0, 0.6)}
    for name, side in (("left", 1), ("right", -1)):
        hinge = root @ shift(0, 10.4 * side, 0.6) @ turn(x=5.0 * side * sway[2])
        result["arm_" + name] = hinge
        result["rotor_" + name] = hinge @ shift(0, 10.2 * side, 0) @ turn(z=18.0 * side * frame + 40)
    return result


SURFACES: tuple[tuple[str, str, tuple[tuple[str, Callable[[], Part]], ...]], ...] = (
    ("hull", "models/sentinel/hull.tga", (
        ("body", body), ("turret", turret), ("arm_left", lambda: arm(1)), ("arm_right", lambda: arm(-1)),
    )),
    ("glow", "models/sentinel/glow.png", (
        ("turret", lens), ("body", jet), ("rotor_left", rotor), ("rotor_right", rotor),
    )),
)  # fmt: skip
TAGS = (
    ("tag_weapon", "body", shift(2.5, 0, -8.4)),
    ("tag_eye", "turret", shift(4.2, 0, 0)),
    ("tag_jet", "body", shift(0, 0, -8.4) @ turn(y=90.0)),  # forward is where the flame goes: down
)


def build_surface(name: str, shader: str, pieces: Sequence[tuple[str, Callable[[], Part]]]) -> Surface:
    """Return a surface of the package's model, as it walks."""
    parts = [(joint, make()) for joint, make in pieces]
    frames = [joined([moved(p, pose[joint]) for joint, p in parts]) for pose in map(poses, range(NUM_FRAMES))]
    return surface_of(name, frames, SIZE, shader)


def model_bytes() -> bytes:
    """Return the MD3 file."""
    names = [f"hover{i + 1:02d}" for i in range(NUM_FRAMES)]
    surfaces = [build_surface(*row) for row in SURFACES]
    tags = [tag_of(name, [poses(i)[joint] @ place for i in range(NUM_FRAMES)]) for name, joint, place in TAGS]
    model = VertexModel("models/sentinel/sentinel.md3", names, surfaces, tags)
    data: bytes = formats.by_name("md3").dump(model)
    return data


# -- pictures


def noise(seed: int, cell: int) -> Array:
    """Return smooth noise (SIZE, SIZE) of 0 to 1 whose lumps are `cell` pixels wide."""
    return pictures.noise(seed, cell, SIZE, SIZE)


def grain() -> Array:
    """Return noise (SIZE, SIZE) of several sizes, about 0.5."""
    return 0.5 * noise(1, 16) + 0.3 * noise(2, 4) + 0.2 * noise(3, 1)


Y, X = np.mgrid[0:SIZE, 0:SIZE] + 0.5
WEAR = 0.55 * noise(4, 8) + 0.45 * noise(5, 2)


def panel(image: Array, rect: Rect, colour: Point, bevel: float = 1.5) -> None:
    """Paint a plate: lit upper edge, dark seam around, worn metal along the edges, a rivet in each corner."""
    left, top, right, bottom = rect
    inside = (left <= X) & (right > X) & (top <= Y) & (bottom > Y)
    edge = np.minimum(np.minimum(X - left, right - X), np.minimum(Y - top, bottom - Y))
    shade = 0.86 + 0.28 * (grain() - 0.5) + 0.14 * (bottom - Y) / (bottom - top)
    shade = shade + np.where((Y - top < 2 * bevel) & (edge > 1), 0.10, 0.0)
    shade = shade - np.where(bottom - Y < 2 * bevel, 0.12, 0.0)
    paint = shade[..., None] * np.array(colour)
    worn = (edge < 6) & (WEAR - 0.055 * edge > 0.46)
    paint = np.where(worn[..., None], np.array((0.52, 0.50, 0.47)) * (shade + 0.15)[..., None], paint)
    paint = np.where((edge < 1)[..., None], paint * 0.34, paint)
    for x in (left + 4, right - 4):
        for y in (top + 4, bottom - 4):
            paint = rivet(paint, x, y)
    image[inside] = paint[inside]


def rivet(image: Array, x: float, y: float) -> Array:
    """Return the image with a rivet: a dark ring, and light from the upper left."""
    away = np.sqrt((X - x) ** 2 + (Y - y) ** 2)
    light = 1 + 0.28 * (x - X + y - Y)
    image = np.where((away < 2.3)[..., None], image * 0.55, image)
    return np.where((away < 1.5)[..., None], np.clip(light, 0.5, 1.7)[..., None] * (0.62, 0.63, 0.65), image)


def hull_picture() -> Array:
    """Return the texture of the hull: plates, a warning belt, bare metal, a grille, a marked plate."""
    image = np.zeros((SIZE, SIZE, 3))
    pale, blue, orange, dark = (0.74, 0.77, 0.78), (0.34, 0.43, 0.50), (0.92, 0.46, 0.12), (0.30, 0.32, 0.35)
    for left, right, colour in ((0, 42, pale), (42, 64, blue), (64, 106, pale), (106, 128, blue)):
        panel(image, (left, 0, right, 48), colour)
    panel(image, (8, 14, 34, 34), (0.66, 0.69, 0.71), 1.0)
    panel(image, (72, 16, 98, 24), orange, 1.0)
    panel(image, STRIPE, dark)
    chevrons = ((X + Y) % 16 < 8) & (Y > 51) & (Y < 61)
    hazard = np.where(chevrons[..., None], np.array((0.95, 0.66, 0.10)), 0.13) * (0.75 + 0.4 * grain())[..., None]
    belt = (Y > 51) & (Y < 61) & (WEAR < 0.66)
    image[belt] = hazard[belt]
    panel(image, METAL, dark)
    panel(image, (6, 82, 58, 110), (0.36, 0.38, 0.41), 1.0)
    panel(image, GRILLE, (0.40, 0.42, 0.45))
    slots = (Y > 70) & (Y < 90) & (X > 64) & ((X - 64) % 8 > 3)
    image[slots] = image[slots] * np.where(Y < 73, 0.15, 0.32)[slots][:, None]
    panel(image, MARKED, pale)
    panel(image, (74, 104, 118, 112), orange, 1.0)
    bars = (Y > 114) & (Y < 122) & (X > 74) & (X < 118) & ((X - 74) % 6 < 3)
    image[bars] = image[bars] * 0.4
    return image


def glow_picture() -> Array:
    """Return the texture of what glows, as shades (SIZE, SIZE) of `glow_palette`: 0 to 0.4 metal, 0.4 to 1 light."""
    shades = np.zeros((SIZE, SIZE))
    depth = np.clip(Y / 64, 0, 1)
    rings = np.where(np.abs(depth - 0.42) < 0.05, -0.16, 0.0) + np.where(np.abs(depth - 0.16) < 0.06, -0.2, 0.0)
    spokes = np.where((X % 12.8 < 1.5) & (depth < 0.4), -0.14, 0.0)
    lens_ = 0.55 + 0.45 * depth * depth + rings + spokes + 0.06 * (grain() - 0.5)
    blade = 0.16 + 0.12 * (grain() - 0.5) + np.where(np.abs(Y - 80) > 13, 0.08, 0.0)
    blade = np.where((X > 104) & (X < 122), 0.72 + 0.25 * (1 - np.abs(X - 113) / 9), blade)
    jet_ = 0.45 + 0.55 * (128 - Y) / 32 + 0.15 * (noise(6, 8) - 0.5)
    for rect, values in ((LENS, lens_), (BLADE, blade), (JET, jet_)):
        rows = slice(int(rect[1]), int(rect[3]))
        shades[rows] = values[rows]
    return np.clip(shades, 0, 1)


def glow_palette() -> Array:
    """Return the 256 colours of the glowing texture, (256, 3): dark metal, then deep blue to cyan to white."""
    stops = ((0, (0.06, 0.07, 0.08)), (0.38, (0.46, 0.48, 0.5)), (0.42, (0.0, 0.10, 0.22)), (0.62, (0.0, 0.46, 0.66)),
             (0.84, (0.22, 0.93, 0.98)), (1.01, (0.95, 1.0, 1.0)))  # fmt: skip
    colours = []
    for i in range(256):
        (low, first), (high, last) = next(p for p in pairwise(stops) if i / 255 < p[1][0])
        part = (i / 255 - low) / (high - low)
        colours.append([a + (b - a) * part for a, b in zip(first, last, strict=True)])
    return np.array(colours)


def files() -> dict[str, bytes]:
    """Return the example's files by their paths."""
    return {
        "sentinel/sentinel.md3": model_bytes(),
        "sentinel/hull.tga": tga(hull_picture()),
        "sentinel/glow.png": png(to_bytes(glow_picture()), glow_palette()),
    }
