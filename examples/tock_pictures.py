"""What Tock wears: painted tin in two colours, brass, and glass eyes; and its face as an icon."""

from __future__ import annotations

import numpy as np

from examples.pictures import Array, noise
from examples.tock_body import HEIGHT, WIDTH

Y, X = np.mgrid[0:HEIGHT, 0:WIDTH] + 0.5
CREAM, BRASS, DARK, RED = (
    np.array(c) for c in ((0.93, 0.88, 0.74), (0.83, 0.63, 0.27), (0.13, 0.13, 0.16), (0.86, 0.16, 0.1))
)
PAINTS = {"default": np.array((0.16, 0.47, 0.62)), "red": np.array((0.72, 0.15, 0.12))}
ICON = 32


def inside(x: float, y: float, half: float, high: float) -> Array:
    """Return which pixels lie in an ellipse."""
    found: Array = ((X - x) / half) * ((X - x) / half) + ((Y - y) / high) * ((Y - y) / high) < 1
    return found


def paint(image: Array, where: Array, colour: Array) -> None:
    """Paint some pixels, which keep how bright they are."""
    image[where] = colour


def picture(skin: str) -> Array:
    """Return what a skin wears, (height, width, 3); see the rectangles of `tock_body`."""
    paint_ = PAINTS[skin]
    image = np.zeros((HEIGHT, WIDTH, 3)) + DARK
    paint(image, (Y < 32) & (X < 128), paint_)
    _shell(image, paint_)
    _face(image, paint_)
    paint(image, (Y > 32) & (Y < 40) & (X < 32), BRASS)
    limb = (Y > 40) & (X < 32)
    paint(image, limb, CREAM * 0.62)
    paint(image, limb & (Y % 4 < 1.5), CREAM * 0.36)
    boots = (Y > 32) & (X > 32) & (X < 64)
    paint(image, boots, paint_ * 0.55)
    paint(image, boots & (Y > 54), DARK)
    eye = (Y > 32) & (X > 64) & (X < 80)
    paint(image, eye, np.array((0.98, 0.97, 0.9)))
    paint(image, eye & (Y > 44), np.array((0.10, 0.55, 0.42)))
    paint(image, eye & (Y > 50), DARK * 0.4)
    key = (Y > 32) & (X > 80) & (X < 96)
    paint(image, key, BRASS)
    paint(image, key & (inside(88, 41, 4.5, 5) | inside(88, 55, 4.5, 5)), DARK)
    ball = (Y > 32) & (X > 96) & (X < 112)
    paint(image, ball, RED)
    paint(image, ball & (Y < 43), RED * 0.6 + 0.3)
    paint(image, (Y > 32) & (X > 112), CREAM)
    wear = 0.86 + 0.2 * noise(81, 4, HEIGHT, WIDTH) + 0.1 * (noise(82, 16, HEIGHT, WIDTH) - 0.5)
    found: Array = np.clip(image * wear[..., None], 0, 1)
    return found


def _shell(image: Array, paint_: Array) -> None:
    """Paint the barrel: two bands, rivets, a seam, and a dial in front."""
    shell = (Y < 32) & (X < 64)
    paint(image, shell & ((Y < 4) | (Y > 28)), paint_ * 0.6)
    paint(image, shell & (((Y > 4) & (Y < 5.2)) | ((Y > 26.8) & (Y < 28))), BRASS)
    rivets = shell & (X % 8 > 3) & (X % 8 < 5) & (((Y > 1) & (Y < 3)) | ((Y > 29) & (Y < 31)))
    paint(image, rivets, CREAM)
    paint(image, shell & (Y > 14) & (Y < 16) & ((X < 16) | (X > 42)), BRASS)
    paint(image, shell & ((X < 1) | (X > 63)), paint_ * 0.35)
    paint(image, inside(29, 14, 8.4, 7.6), BRASS)
    paint(image, inside(29, 14, 7.0, 6.3), CREAM)
    paint(image, (np.abs(X - 29) < 0.6) & (Y > 9) & (Y < 14.5), DARK)
    paint(image, (np.abs(Y - 14.4) < 0.6) & (X > 28.5) & (X < 33), RED)
    for x, y in ((29, 8.8), (29, 19.2), (23.2, 14), (34.8, 14)):
        paint(image, inside(x, y, 0.9, 0.9), DARK)


def _face(image: Array, paint_: Array) -> None:
    """Paint the head: a cream face with a grille and cheeks, a rim, and a cap of paint."""
    face = (Y < 32) & (X > 64)
    paint(image, face & (Y > 13), CREAM)
    paint(image, face & (Y > 12) & (Y < 13.4), BRASS)
    paint(image, face & (X % 8 > 3) & (X % 8 < 4.6) & (Y > 9) & (Y < 11), CREAM)
    mouth = inside(93.2, 26.4, 6.2, 2.6)
    paint(image, mouth, DARK)
    paint(image, mouth & (X % 2.5 < 0.9), CREAM * 0.8)
    for x in (84.6, 101.8):
        paint(image, inside(x, 25, 2.2, 1.7), np.array((0.93, 0.55, 0.42)))
    paint(image, face & ((X < 65) | (X > 127)), paint_ * 0.4)


def icon(skin: str) -> Array:
    """Return the face of a skin, (ICON, ICON, 3), on what games show behind it: black."""
    y, x = np.mgrid[0:ICON, 0:ICON] + 0.5
    image = np.zeros((ICON, ICON, 3)) + 0.04

    def disc(cx: float, cy: float, half: float, high: float) -> Array:
        found: Array = ((x - cx) / half) * ((x - cx) / half) + ((y - cy) / high) * ((y - cy) / high) < 1
        return found

    skull = disc(16, 18.5, 12.5, 12)
    image[(np.abs(x - 16) < 0.8) & (y < 8)] = BRASS
    image[disc(16, 3.6, 2.4, 2.4)] = RED
    image[skull] = CREAM
    image[skull & (y < 14)] = PAINTS[skin]
    image[skull & (y > 13.4) & (y < 14.8)] = BRASS
    for cx in (11, 21):
        image[disc(cx, 17, 4.4, 4.4)] = BRASS
        image[disc(cx, 17, 3.4, 3.4)] = (0.98, 0.97, 0.9)
        image[disc(cx, 17.4, 2.0, 2.0)] = (0.10, 0.55, 0.42)
        image[disc(cx, 17.4, 1.1, 1.1)] = DARK
    mouth = disc(16, 25.4, 5.2, 2.2)
    image[mouth] = DARK
    image[mouth & (x % 2 < 0.9)] = CREAM
    shade = 1.05 - 0.012 * ((x - 12) * (x - 12) / 12 + (y - 13) * (y - 13) / 12)
    found: Array = np.clip(image * shade[..., None], 0, 1)
    return found
